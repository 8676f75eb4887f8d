/* SPDX-License-Identifier: MIT */
/*
 * The raw layer on a kernel that is written here: what goes over the border, for every request, and
 * how kernels that know less answer. tests/live/test_raw.c is the same on a real one.
 */
#include "test.h"

#include "kernel/sys.h"

/* ---- the kernel ------------------------------------------------------------------------------ */

static struct {
	uint32_t knows;		 /* bytes of the attr */
	int open_returns;	 /* when the size is right */
	unsigned request;	 /* the last ioctl */
	unsigned long argument;
	int fd;
	uint32_t programs;	 /* of BPF */
	uint32_t comes;		 /* that many more after each look */
	unsigned looks;
	uint64_t map_offset;
	size_t map_size, unmapped;
	bool writable, enabled;
} kernel;

static unsigned char memory[1 << 16];

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.knows = PERF_ATTR_SIZE_VER9;
	kernel.open_returns = 7;
	return 0;
}

int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			unsigned long flags)
{
	uint32_t size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0, i;

	(void)pid;
	(void)cpu;
	(void)group_fd;
	(void)flags;
	if (kernel.open_returns == -ENOSYS || kernel.open_returns == -EACCES)
		return kernel.open_returns;
	if (size < PERF_ATTR_SIZE_VER0 || size > 4096) {
		attr->size = kernel.knows;
		return -E2BIG;
	}
	for (i = kernel.knows; i < size; i++)
		if (((const unsigned char *)attr)[i]) {
			attr->size = kernel.knows;
			return -E2BIG;
		}
	return kernel.open_returns;
}

static int query(struct perf_event_query_bpf *query)
{
	uint32_t room = query->ids_len, there = kernel.programs, i;

	kernel.looks++;
	kernel.programs += kernel.comes;
	if (room > 64)
		return -E2BIG;
	query->prog_cnt = there;
	for (i = 0; i < room && i < there; i++)
		query->ids[i] = 1000 + i;
	return room < there ? -ENOSPC : 0;
}

int sys_ioctl(int fd, unsigned request, unsigned long argument)
{
	kernel.fd = fd;
	kernel.request = request;
	kernel.argument = argument;
	if (request == PERF_EVENT_IOC_QUERY_BPF)
		return query((struct perf_event_query_bpf *)(uintptr_t)argument);
	if (request == PERF_EVENT_IOC_ID)
		*(uint64_t *)(uintptr_t)argument = UINT64_C(0x123456789);
	return 0;
}

ssize_t sys_read(int fd, void *buffer, size_t size)
{
	(void)fd;
	memset(buffer, 1, size);
	return (ssize_t)size;
}

void sys_close(int fd)
{
	kernel.fd = fd;
}

int sys_mmap(void **ret, size_t size, bool writable, int fd, uint64_t offset)
{
	kernel.fd = fd;
	kernel.map_size = size;
	kernel.map_offset = offset;
	kernel.writable = writable;
	*ret = memory;
	return size > sizeof(memory) ? -ENOMEM : 0;
}

int sys_munmap(void *at, size_t size)
{
	kernel.unmapped = at == memory ? size : 0;
	return 0;
}

size_t sys_page_size(void)
{
	return 4096;
}

const bool sys_is_real = false;

int sys_task_events(bool enable)
{
	kernel.enabled = enable;
	return 0;
}

/* ---- attrs of many sizes --------------------------------------------------------------------- */

/* Every member beyond 64 bytes, where it is, and the first size that has it. */
static const struct {
	const char *name;
	size_t offset, size;
	uint32_t since;
} members[] = {
	{"config2", 64, 8, PERF_ATTR_SIZE_VER1},
	{"branch_sample_type", 72, 8, PERF_ATTR_SIZE_VER2},
	{"sample_regs_user", 80, 8, PERF_ATTR_SIZE_VER3},
	{"sample_stack_user", 88, 4, PERF_ATTR_SIZE_VER3},
	{"clockid", 92, 4, PERF_ATTR_SIZE_VER3},
	{"sample_regs_intr", 96, 8, PERF_ATTR_SIZE_VER4},
	{"aux_watermark", 104, 4, PERF_ATTR_SIZE_VER5},
	{"sample_max_stack", 108, 2, PERF_ATTR_SIZE_VER5},
	{"aux_sample_size", 112, 4, PERF_ATTR_SIZE_VER6},
	{"aux_action", 116, 4, PERF_ATTR_SIZE_VER6},
	{"sig_data", 120, 8, PERF_ATTR_SIZE_VER7},
	{"config3", 128, 8, PERF_ATTR_SIZE_VER8},
	{"config4", 136, 8, PERF_ATTR_SIZE_VER9},
};

static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Each kernel that there was, each member set alone, by its last byte: accepted, or named. */
static void test_the_ladder_of_sizes(void **state)
{
	size_t kernel_size, member;

	(void)state;
	for (kernel_size = 0; kernel_size < COUNT(sizes); kernel_size++)
		for (member = 0; member < COUNT(members); member++) {
			struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_SOFTWARE, 0);
			bool knows = members[member].since <= sizes[kernel_size];
			size_t last = members[member].offset + members[member].size - 1;
			int fd;

			kernel.knows = sizes[kernel_size];
			((unsigned char *)&attr)[last] = 1;
			fd = perfev_raw_open(&attr, 0, -1, -1, 0);
			assert_int_equal(fd, knows ? 7 : -E2BIG);
			assert_int_equal(attr.size, knows ? sizeof(attr) : kernel.knows);
			if (!knows)
				assert_string_equal(perfev_raw_unknown(&attr, sizeof(attr)),
						    members[member].name);
		}
}

/* A larger attr is fine while nothing new is set. */
static void test_a_new_attr_on_an_old_kernel(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_SOFTWARE, 0);

	(void)state;
	kernel.knows = PERF_ATTR_SIZE_VER0;
	assert_int_equal(perfev_raw_open(&attr, 0, -1, -1, 0), 7);
	assert_int_equal(attr.size, sizeof(attr));
}

static void test_the_length_of_a_breakpoint(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_BREAKPOINT, 0);

	(void)state;
	kernel.knows = PERF_ATTR_SIZE_VER0;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	assert_int_equal(perfev_raw_open(&attr, 0, -1, -1, 0), -E2BIG);
	assert_string_equal(perfev_raw_unknown(&attr, sizeof(attr)), "bp_len");
}

/* A caller with a header of the future: the bytes are its own, the name is not ours. */
static void test_a_member_of_the_future(void **state)
{
	union {
		struct perf_event_attr attr;
		unsigned char bytes[256];
	} future;

	(void)state;
	memset(&future, 0, sizeof(future));
	future.attr.size = 200;
	future.bytes[199] = 1;
	future.bytes[200] = 1; /* is not part of it */
	assert_int_equal(perfev_raw_open(&future.attr, 0, -1, -1, 0), -E2BIG);
	assert_string_equal(perfev_raw_unknown(&future.attr, 200),
			    "a member newer than this library");
	future.bytes[199] = 0;
	future.attr.size = 200;
	assert_int_equal(perfev_raw_open(&future.attr, 0, -1, -1, 0), 7);
}

static void test_a_size_that_cannot_be(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_SOFTWARE, 0);

	(void)state;
	attr.size = 63;
	assert_int_equal(perfev_raw_open(&attr, 0, -1, -1, 0), -E2BIG);
	assert_string_equal(perfev_raw_unknown(&attr, 63), "size");
}

/* The other meaning: no size was stored. */
static void test_a_group_that_is_too_big(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_SOFTWARE, 0);

	(void)state;
	attr.config4 = 1; /* is known, and not to blame */
	kernel.open_returns = -E2BIG;
	assert_int_equal(perfev_raw_open(&attr, 0, -1, 3, 0), -E2BIG);
	assert_null(perfev_raw_unknown(&attr, sizeof(attr)));
}

static void test_the_kernels_own_size(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(sizes); i++) {
		kernel.knows = sizes[i];
		assert_int_equal(perfev_raw_attr_size(), sizes[i]);
	}
	kernel.open_returns = -ENOSYS;
	assert_int_equal(perfev_raw_attr_size(), -ENOSYS);
	kernel.open_returns = -EACCES;
	assert_int_equal(perfev_raw_attr_size(), -EACCES);
}

/* Not -1, which is also -EPERM. */
static void test_errnos_come_through(void **state)
{
	static const int errnos[] = {EINVAL, ESRCH, ENOENT, EACCES, EMFILE, EBUSY};
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_SOFTWARE, 0);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(errnos); i++) {
		kernel.open_returns = -errnos[i];
		assert_fails(perfev_raw_open(&attr, 0, -1, -1, 0), errnos[i]);
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

static void asked(unsigned nr, unsigned long argument)
{
	assert_int_equal(kernel.request & 0xffff, 0x2400 | nr);
	assert_int_equal(kernel.fd, 5);
	assert_true(kernel.argument == argument);
}

static void test_numbers_by_value(void **state)
{
	(void)state;
	assert_int_equal(perfev_raw_enable(5, 0), 0);
	asked(0, 0);
	assert_int_equal(perfev_raw_enable(5, PERF_IOC_FLAG_GROUP), 0);
	asked(0, 1);
	assert_int_equal(perfev_raw_disable(5, PERF_IOC_FLAG_GROUP), 0);
	asked(1, 1);
	assert_int_equal(perfev_raw_refresh(5, 3), 0);
	asked(2, 3);
	assert_int_equal(perfev_raw_reset(5, 0), 0);
	asked(3, 0);
	assert_int_equal(perfev_raw_set_output(5, 9), 0);
	asked(5, 9);
	assert_int_equal(perfev_raw_set_output(5, -1), 0);
	asked(5, (unsigned long)-1L); /* of a long: an int would be a bad descriptor */
	assert_int_equal(perfev_raw_set_bpf(5, 8), 0);
	asked(8, 8);
	assert_int_equal(perfev_raw_pause_output(5, 1), 0);
	asked(9, 1);
}

static unsigned long address(const void *pointer)
{
	return (unsigned long)(uintptr_t)pointer;
}

static void test_addresses(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_BREAKPOINT, 0);
	uint64_t period = 5000, id = 0;

	(void)state;
	assert_int_equal(perfev_raw_period(5, &period), 0);
	asked(4, address(&period));
	assert_int_equal(kernel.request >> 16 & 0x1fff, 8); /* 64 bits, where long has 32 too */
	assert_int_equal(perfev_raw_set_filter(5, "common_pid != 0"), 0);
	assert_int_equal(kernel.request & 0xffff, 0x2406);
	assert_string_equal((const char *)(uintptr_t)kernel.argument, "common_pid != 0");
	assert_int_equal(perfev_raw_id(5, &id), 0);
	asked(7, address(&id));
	assert_true(id == UINT64_C(0x123456789));
	assert_int_equal(perfev_raw_modify_attributes(5, &attr), 0);
	asked(11, address(&attr));
}

/* ---- BPF programs ---------------------------------------------------------------------------- */

static void check_ids(uint32_t programs, unsigned looks)
{
	uint32_t *ids = (uint32_t *)memory, i;

	setup(NULL);
	kernel.programs = programs;
	assert_int_equal(perfev_raw_bpf_ids(&ids, 5), programs);
	assert_int_equal(kernel.looks, looks);
	assert_true((ids != NULL) == (programs > 0));
	for (i = 0; i < programs; i++)
		assert_int_equal(ids[i], 1000 + i);
	free(ids);
}

static void test_room_for_ids_grows(void **state)
{
	(void)state;
	check_ids(0, 1);
	check_ids(1, 1);
	check_ids(8, 1);
	check_ids(9, 2);
	check_ids(64, 4);
}

static void test_ids_that_come_meanwhile(void **state)
{
	uint32_t *ids = NULL;

	(void)state;
	kernel.programs = 7;
	kernel.comes = 7; /* 7, 14 in the room for 8; then 21, 28 would not fit into 16 */
	assert_int_equal(perfev_raw_bpf_ids(&ids, 5), 7);
	free(ids);
	kernel.programs = 9;
	kernel.comes = 8;
	assert_int_equal(perfev_raw_bpf_ids(&ids, 5), 25);
	free(ids);
	kernel.programs = 65;
	kernel.comes = 0;
	assert_int_equal(perfev_raw_bpf_ids(&ids, 5), -ENOSPC);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void test_mappings(void **state)
{
	struct perf_event_mmap_page *page = NULL;
	void *aux = NULL;

	(void)state;
	memset(memory, 0, sizeof(memory));
	assert_int_equal(perfev_raw_mmap(&page, 5, 8192, true), 0);
	assert_int_equal(kernel.map_size, 4096 + 8192);
	assert_int_equal(kernel.map_offset, 0);
	assert_true(kernel.writable);
	assert_ptr_equal(page, memory);
	assert_fails(perfev_raw_mmap_aux(&aux, 5, page, 4096, false), EINVAL); /* no ring there */
	page->data_offset = 4096;
	page->data_size = 8192;
	assert_int_equal(perfev_raw_mmap_aux(&aux, 5, page, 4096, false), 0);
	assert_int_equal(page->aux_offset, 4096 + 8192);
	assert_int_equal(page->aux_size, 4096);
	assert_int_equal(kernel.map_offset, 4096 + 8192);
	assert_int_equal(kernel.map_size, 4096);
	assert_false(kernel.writable);
	assert_int_equal(perfev_raw_munmap_aux(aux, 4096), 0);
	assert_int_equal(kernel.unmapped, 4096);
	assert_int_equal(perfev_raw_munmap(page, 8192), 0);
	assert_int_equal(kernel.unmapped, 4096 + 8192);
	kernel.unmapped = 1;
	assert_int_equal(perfev_raw_munmap(NULL, 8192), 0);
	assert_int_equal(perfev_raw_munmap_aux(NULL, 8192), 0);
	assert_int_equal(kernel.unmapped, 1);
	assert_fails(perfev_raw_mmap(&page, 5, SIZE_MAX, true), EINVAL);
	assert_fails(perfev_raw_mmap(&page, 5, sizeof(memory), true), ENOMEM);
}

static void test_the_rest(void **state)
{
	uint32_t words[2];

	(void)state;
	assert_int_equal(perfev_raw_read(5, words, sizeof(words)), 8);
	assert_int_equal(words[1], 0x01010101);
	perfev_raw_close(6);
	assert_int_equal(kernel.fd, 6);
	assert_int_equal(perfev_raw_task_enable(), 0);
	assert_true(kernel.enabled);
	assert_int_equal(perfev_raw_task_disable(), 0);
	assert_false(kernel.enabled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_ladder_of_sizes, setup),
		cmocka_unit_test_setup(test_a_new_attr_on_an_old_kernel, setup),
		cmocka_unit_test_setup(test_the_length_of_a_breakpoint, setup),
		cmocka_unit_test_setup(test_a_member_of_the_future, setup),
		cmocka_unit_test_setup(test_a_size_that_cannot_be, setup),
		cmocka_unit_test_setup(test_a_group_that_is_too_big, setup),
		cmocka_unit_test_setup(test_the_kernels_own_size, setup),
		cmocka_unit_test_setup(test_errnos_come_through, setup),
		cmocka_unit_test_setup(test_numbers_by_value, setup),
		cmocka_unit_test_setup(test_addresses, setup),
		cmocka_unit_test_setup(test_room_for_ids_grows, setup),
		cmocka_unit_test_setup(test_ids_that_come_meanwhile, setup),
		cmocka_unit_test_setup(test_mappings, setup),
		cmocka_unit_test_setup(test_the_rest, setup),
	};

	return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
