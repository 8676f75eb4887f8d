/* SPDX-License-Identifier: MIT */
/*
 * The raw layer on this kernel: requests that change an open event, its attr, its filter, its programs of BPF. Whatever this
 * user or machine lacks is a skip that names it.
 */
#include "raw.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

/* ---- MODIFY_ATTRIBUTES ----------------------------------------------------------------------- */

static volatile int watched[2];

static struct perf_event_attr watch(volatile int *at)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_BREAKPOINT, 0);

	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_addr = (uint64_t)(uintptr_t)at;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

static int open_breakpoint(struct perf_event_attr attr)
{
	int fd = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -ENOENT || fd == -ENODEV || fd == -EOPNOTSUPP || fd == -ENOSPC || fd == -EACCES ||
	    (fd == -EINVAL && attr.bp_type == HW_BREAKPOINT_W)) /* older ARMs do not tell writes from reads */
		SKIP("no breakpoint can be set here (errno %d)", -fd);
	assert_true(fd >= 0);
	return fd;
}

PLAIN static void write_to(volatile int *at, int times)
{
	int i;

	for (i = 0; i < times; i++)
		*at = i;
}

static void test_moving_a_breakpoint(void **state)
{
	struct perf_event_attr attr = watch(&watched[0]);
	int fd = open_breakpoint(attr), other;

	(void)state;
	write_to(&watched[0], 100);
	write_to(&watched[1], 7);
	assert_int_equal(count_of(fd), 100);
	attr.bp_addr = (uint64_t)(uintptr_t)&watched[1];
	assert_int_equal(perfev_raw_modify_attributes(fd, &attr), 0);
	write_to(&watched[0], 100);
	write_to(&watched[1], 7);
	assert_int_equal(count_of(fd), 107);
	attr.type = PERF_TYPE_SOFTWARE;
	assert_fails(perfev_raw_modify_attributes(fd, &attr), EINVAL);
	attr = watch(&watched[1]);
	attr.exclude_user = 1; /* not one of those that may change */
	assert_fails(perfev_raw_modify_attributes(fd, &attr), EINVAL);
	assert_fails(perfev_raw_modify_attributes(fd, NULL), EFAULT);
	perfev_raw_close(fd);
	attr = faults(0);
	other = open_on_self(attr, -1);
	assert_fails(perfev_raw_modify_attributes(other, &attr), EOPNOTSUPP);
	perfev_raw_close(other);
}

PLAIN static void run_into_it(void)
{
	__asm__ volatile("" ::: "memory");
}

/* On x86 the length is that of a long of the kernel, whatever the program's is. */
static void test_the_length_of_a_breakpoint_on_code(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_BREAKPOINT, 0);
	struct utsname names;
	unsigned abi;
	int fd, i;

	(void)state;
	assert_int_equal(uname(&names), 0);
	if (perfev_arch_of(names.machine, &abi) != PERFEV_ARCH_X86)
		SKIP("its length is another one on each architecture; this one is not x86");
	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = (uint64_t)(uintptr_t)&run_into_it;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.bp_len = abi == PERF_SAMPLE_REGS_ABI_64 ? HW_BREAKPOINT_LEN_4 : HW_BREAKPOINT_LEN_8;
	assert_fails(perfev_raw_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.bp_len = abi == PERF_SAMPLE_REGS_ABI_64 ? HW_BREAKPOINT_LEN_8 : HW_BREAKPOINT_LEN_4;
	fd = open_breakpoint(attr);
	for (i = 0; i < 5; i++)
		run_into_it();
	assert_int_equal(count_of(fd), 5);
	perfev_raw_close(fd);
}

/* It is modified with a size of its own, which the kernel corrects like that of an open. */
static void test_modifying_with_a_new_member(void **state)
{
	struct perf_event_attr attr = watch(&watched[0]);
	int fd = open_breakpoint(attr), knows = perfev_raw_attr_size();

	(void)state;
	if (knows < 0 || knows >= PERF_ATTR_SIZE_VER9)
		SKIP("this kernel knows the whole attr: no member is refused");
	attr.config4 = 1;
	assert_fails(perfev_raw_modify_attributes(fd, &attr), E2BIG);
	assert_int_equal(attr.size, knows);
	assert_string_equal(perfev_raw_unknown(&attr, sizeof(attr)), "config4");
	perfev_raw_close(fd);
}

/* ---- SET_FILTER, SET_BPF, QUERY_BPF ---------------------------------------------------------- */

/* The id of a tracepoint, from tracefs; where that is not mounted, from a mount of this process. */
static uint64_t tracepoint(const char *name)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[256], text[32] = "";
	int fd = -1, mounted;
	size_t i;

	for (mounted = 0; mounted < 2 && fd < 0; mounted++) {
		if (mounted && (unshare(CLONE_NEWNS) < 0 ||
				mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
				mount("tracefs", places[0], "tracefs", 0, NULL) < 0))
			SKIP("tracefs is not mounted, and this user cannot mount it");
		for (i = 0; i < 2 && fd < 0; i++) {
			snprintf(path, sizeof(path), "%s/events/%s/id", places[i], name);
			fd = open(path, O_RDONLY | O_CLOEXEC);
		}
	}
	if (fd < 0)
		SKIP("tracepoint %s is not to be read here", name);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoull(text, NULL, 10);
}

/* Nothing happens at it while a test runs, but when the test lets it happen. */
static int open_tracepoint(void)
{
	struct perf_event_attr attr =
		perfev_raw_attr(PERF_TYPE_TRACEPOINT, tracepoint("sched/sched_process_exit"));
	int fd = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -EACCES || fd == -EPERM)
		SKIP("this user may not open a tracepoint");
	assert_true(fd >= 0);
	return fd;
}

static void test_filters(void **state)
{
	int fd = open_tracepoint(), other;

	(void)state;
	assert_fails(perfev_raw_set_filter(fd, "no_such_field == 1"), EINVAL);
	assert_fails(perfev_raw_set_filter(fd, "prio <"), EINVAL);
	assert_fails(perfev_raw_set_filter(fd, NULL), EFAULT);
	assert_int_equal(perfev_raw_set_filter(fd, "prio < 5"), 0);
	assert_fails(perfev_raw_set_filter(fd, "prio < 6"), EEXIST);
	perfev_raw_close(fd);
	other = open_on_self(faults(0), -1);
	assert_fails(perfev_raw_set_filter(other, "prio < 5"), EINVAL);
	perfev_raw_close(other);
}

/* A BPF program that returns a number, and does nothing else. */
static int bpf_program(enum bpf_prog_type type, int32_t result)
{
	struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = result},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insn_cnt = 2;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		SKIP("no BPF program can be loaded here (errno %d)", errno);
	return fd;
}

/* One that returns 0 keeps samples from the ring. */
static void test_bpf_on_a_counter(void **state)
{
	struct perf_event_mmap_page *page;
	int drops = bpf_program(BPF_PROG_TYPE_PERF_EVENT, 0);
	int wrong = bpf_program(BPF_PROG_TYPE_TRACEPOINT, 0);
	int fd = open_on_self(faults(1), -1);

	(void)state;
	assert_int_equal(perfev_raw_mmap(&page, fd, 8 * PAGE, true), 0);
	perfev_raw_enable(fd, 0);
	touch_pages(10);
	assert_in_range(drain(page).samples, 10, SOME);
	assert_fails(perfev_raw_set_bpf(fd, -1), EBADF);
	assert_fails(perfev_raw_set_bpf(fd, wrong), EINVAL);
	assert_int_equal(perfev_raw_set_bpf(fd, drops), 0);
	assert_fails(perfev_raw_set_bpf(fd, drops), EEXIST);
	drain(page);
	touch_pages(10);
	assert_int_equal(drain(page).samples, 0);
	perfev_raw_disable(fd, 0);
	assert_true(count_of(fd) >= 20); /* it counts all the same */
	perfev_raw_munmap(page, 8 * PAGE);
	perfev_raw_close(fd);
	close(drops);
	close(wrong);
}

#define PROGRAMS 10

static int query_programs(int fd)
{
	uint32_t *ids;

	return perfev_raw_bpf_ids(&ids, fd);
}

static void test_bpf_on_a_tracepoint(void **state)
{
	struct perf_event_query_bpf *query = calloc(1, sizeof(*query) + 65 * sizeof(uint32_t));
	int fds[PROGRAMS], programs[PROGRAMS], other;
	uint32_t *ids, i;

	(void)state;
	assert_non_null(query);
	for (i = 0; i < PROGRAMS; i++) {
		fds[i] = open_tracepoint();
		programs[i] = bpf_program(BPF_PROG_TYPE_TRACEPOINT, 1);
	}
	if (perfev_raw_bpf_ids(&ids, fds[0]) > 0) {
		free(ids);
		SKIP("others have programs on this tracepoint");
	}
	assert_null(ids);
	for (i = 0; i < PROGRAMS; i++)
		assert_int_equal(perfev_raw_set_bpf(fds[i], programs[i]), 0);
	assert_fails(perfev_raw_set_bpf(fds[0], programs[0]), EEXIST);
	query->ids_len = 4;
	assert_fails(perfev_raw_query_bpf(fds[0], query), ENOSPC);
	assert_int_equal(query->prog_cnt, PROGRAMS);
	query->ids_len = 65;
	assert_fails(perfev_raw_query_bpf(fds[0], query), E2BIG);
	assert_int_equal(perfev_raw_bpf_ids(&ids, fds[3]), PROGRAMS); /* those of the tracepoint */
	for (i = 1; i < PROGRAMS; i++)
		assert_true(ids[i] != 0 && ids[i] != ids[i - 1]);
	free(ids);
	assert_fails(perfev_raw_query_bpf(fds[0], NULL), EFAULT);
	assert_int_equal(as_nobody(query_programs, fds[0]), -EPERM);
	for (i = 0; i < PROGRAMS; i++) {
		perfev_raw_close(fds[i]);
		close(programs[i]);
	}
	other = open_on_self(faults(0), -1);
	query->ids_len = 1;
	assert_fails(perfev_raw_query_bpf(other, query), EINVAL);
	assert_fails(perfev_raw_bpf_ids(&ids, other), EINVAL);
	perfev_raw_close(other);
	free(query);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moving_a_breakpoint),
		cmocka_unit_test(test_the_length_of_a_breakpoint_on_code),
		cmocka_unit_test(test_modifying_with_a_new_member),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_bpf_on_a_counter),
		cmocka_unit_test(test_bpf_on_a_tracepoint),
	};

	alarm(60); /* a kernel that hangs ends the program, not the run */
	return cmocka_run_group_tests_name("raw_changes", tests, NULL, NULL);
}
