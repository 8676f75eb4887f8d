/* SPDX-License-Identifier: MIT */
/* Events at a place, on this kernel: probes of our own functions and the C library's, breakpoints, tracepoints, each
 * counted to the last hit; and probes through tracefs, which leave nothing there. */
#include "live.h"
#include "../unit/machine.h"

#include <limits.h>
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define HITS 20

static struct perfev_error err;
/* As long as all CPUs can watch. */
#if LONG_MAX > 0x7fffffff
#define WATCHED "/8"
#else
#define WATCHED "/4"
#endif
static volatile long watched[2];

/* Of 32-bit ARM the kernel puts no probe into Thumb code; and a return probe goes back to a caller in Thumb code as if it were
 * ARM code (test_a_return_to_thumb_code). */
#ifdef __arm__
#define ARM_CODE __attribute__((target("arm")))
#else
#define ARM_CODE
#endif

/* Never inlined: it is called exactly as often as it says. */
ARM_CODE __attribute__((noinline, no_sanitize("address", "undefined"))) long live_probed(long n);
__attribute__((noinline, no_sanitize("address", "undefined"))) long live_probed(long n)
{
	__asm__ volatile("" : "+r"(n) : : "memory");
	return n + 1;
}

ARM_CODE PLAIN static void call_it(void)
{
	long i;

	for (i = 0; i < HITS; i++)
		live_probed(i);
}

#ifdef __arm__
__attribute__((target("thumb"))) PLAIN static void call_from_thumb(void)
{
	long i;

	for (i = 0; i < HITS; i++)
		live_probed(i);
}
#endif

PLAIN static void write_it(void)
{
	long i;

	for (i = 0; i < HITS; i++)
		watched[0] = i;
}

PLAIN static void read_it(void)
{
	long i, sum = 0;

	for (i = 0; i < HITS; i++)
		sum += watched[0];
	watched[1] = sum;
}

PLAIN static void write_and_read_it(void)
{
	write_it();
	read_it();
}

PLAIN static void ask_for_parent(void)
{
	long i;

	for (i = 0; i < HITS; i++)
		syscall(SYS_getppid);
}

static long (*volatile library_function)(void);

PLAIN static void call_library(void)
{
	long i;

	for (i = 0; i < HITS; i++)
		library_function();
}

/* What this user may not do is skipped; anything else has to work. */
static void skip_when_refused(int r)
{
	if (r < 0 && is_compat() && strstr(err.text, "probe"))
		SKIP("probes of programs of 32 bits, on a kernel of 64: %s", err.text);
	if (r == -EACCES || r == -EPERM || (r == -ENOENT && err.why == PERFEV_WHY_NO_KERNEL) ||
	    (r < 0 && err.why == PERFEV_WHY_SECCOMP) || (r < 0 && strstr(err.text, "not mounted")))
		SKIP("%s", err.text);
}

static struct perfev_event *parse(const char *text, const struct perfev_parse_opts *opts)
{
	struct perfev_events *events = NULL;
	struct perfev_event *event;
	int r = perfev_events_parse_at(&events, text, opts, &err);

	skip_when_refused(r);
	if (r < 0)
		fail_msg("'%s': %s", text, err.text);
	assert_int_equal(perfev_events_count(events), 1);
	assert_works(perfev_event_copy(&event, perfev_events_at(events, 0), &err));
	perfev_events_free(events);
	return event;
}

static uint64_t count(const char *text, const struct perfev_parse_opts *opts, void (*work)(void))
{
	struct perfev_event *event = parse(text, opts);
	struct perfev_counter *counter;
	struct perfev_reading reading;
	int r = perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err);

	perfev_event_free(event); /* the counter has its own */
	if (r < 0) {
		skip_when_refused(r);
		fail_msg("'%s': %s", text, err.text);
	}
	assert_works(perfev_counter_start(counter, &err));
	work();
	assert_works(perfev_counter_stop(counter, &err));
	work(); /* while it is stopped */
	assert_works(perfev_counter_read(counter, &reading, &err));
	perfev_counter_close(counter);
	return reading.count;
}

static void test_probes_of_our_own(void **state)
{
	(void)state;
	assert_int_equal(count("uprobe:/proc/self/exe:live_probed", NULL, call_it), HITS);
	assert_int_equal(count("uretprobe:/proc/self/exe:live_probed", NULL, call_it), HITS);
	assert_int_equal(count("uprobe:/proc/self/exe:live_probed:u", NULL, call_it), HITS);
	assert_int_equal(count("uprobe:/proc/self/exe:live_probed/name=mine/", NULL, call_it), HITS);
	assert_int_equal(count("uprobe:/proc/self/exe:live_probed", NULL, read_it), 0);
}

/* What uretprobes of 32-bit ARM kernels do to callers in Thumb code: Linux 6.1 resumes them in ARM state, where their code is
 * no code. A kernel that does not counts as it should. */
static void test_a_return_to_thumb_code(void **state)
{
#ifdef __arm__
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(count("uretprobe:/proc/self/exe:live_probed", NULL, call_it), HITS); /* or a skip */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(count("uretprobe:/proc/self/exe:live_probed", NULL, call_from_thumb) == HITS ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGILL);
	else
		assert_int_equal(WEXITSTATUS(status), 0);
	print_message("the program %s\n", WIFSIGNALED(status) ? "was killed" : "went on");
#else
	(void)state;
	SKIP("this is no 32-bit ARM, which has two kinds of code");
#endif
}

static int find_library(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so") && !strstr(info->dlpi_name, "/ld-musl"))
		return 0;
	snprintf(context, 256, "%s", info->dlpi_name);
	return 1;
}

static void test_probes_of_the_library(void **state)
{
	char path[256], text[300];

	(void)state;
	if (!dl_iterate_phdr(find_library, path))
		SKIP("the C library is part of this program");
	library_function = random;
	snprintf(text, sizeof(text), "uprobe:%s:random", path);
	assert_int_equal(count(text, NULL, call_library), HITS);
	snprintf(text, sizeof(text), "uretprobe:%s:random", path);
	assert_int_equal(count(text, NULL, call_library), HITS);
}

static uint64_t count_memory(const void *at, const char *more, void (*work)(void))
{
	char text[64];

	snprintf(text, sizeof(text), "mem:0x%llx%s", (unsigned long long)(uintptr_t)at, more);
	return count(text, NULL, work);
}

/* A machine may have no debug registers for us: virtual ones often have none. */
static void need_breakpoints(void)
{
	struct perfev_event *event;
	struct perfev_counter *counter;

	assert_works(perfev_event_breakpoint(&event, (uintptr_t)&watched[0], 4, HW_BREAKPOINT_W, &err));
	perfev_event_attr(event)->exclude_kernel = 1;
	if (perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err) < 0) {
		perfev_event_free(event);
		SKIP("%s", err.text);
	}
	perfev_counter_close(counter);
	perfev_event_free(event);
}

static void test_breakpoints(void **state)
{
	const void *code = (const void *)(uintptr_t)live_probed, *data = (const void *)(uintptr_t)&watched[0];

	(void)state;
	need_breakpoints();
	assert_int_equal(count_memory(data, WATCHED ":w:u", write_and_read_it), HITS);
	assert_int_equal(count_memory(data, WATCHED ":rw:u", write_and_read_it), 2 * HITS);
	assert_int_equal(count_memory(data, ":u", write_and_read_it), 2 * HITS); /* rw, 4 bytes */
	assert_int_equal(count_memory(data, "/1:w:u", write_it), HITS);
	assert_int_equal(count_memory(code, ":x:u", call_it), HITS);
	assert_int_equal(count_memory(code, ":x:u", write_it), 0);
}

/* x86 has no way to watch for reads alone; others have. */
static void test_reads_alone(void **state)
{
#if defined(__x86_64__) || defined(__i386__)
	char text[64];
	struct perfev_event *event;
	struct perfev_counter *counter;

	(void)state;
	need_breakpoints();
	snprintf(text, sizeof(text), "mem:0x%llx/4:r:u", (unsigned long long)(uintptr_t)&watched[0]);
	event = parse(text, NULL);
	assert_fails(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err), EINVAL);
	assert_says("cannot open mem:");
	assert_says("x86 cannot watch for reads alone, only for writes, or for both; use :rw");
	perfev_event_free(event);
#else
	(void)state;
	need_breakpoints();
	assert_int_equal(count_memory((const void *)(uintptr_t)&watched[0], WATCHED ":r:u", write_and_read_it), HITS);
#endif
}

static void test_a_tracepoint(void **state)
{
	(void)state;
	if (is_compat())
		SKIP("the kernel does not trace system calls of programs of 32 bits");
	assert_int_equal(count("syscalls:sys_enter_getppid", NULL, ask_for_parent), HITS);
	assert_int_equal(count("syscalls:sys_exit_getppid:k", NULL, ask_for_parent), HITS);
}

static void burn(void)
{
	burn_ms(2);
}

static void test_msr(void **state)
{
	struct perfev_pmus *pmus;
	bool there;

	(void)state;
	assert_works(perfev_pmus_read(&pmus, NULL, &err));
	there = perfev_pmus_find(pmus, "msr") != NULL;
	perfev_pmus_free(pmus);
	if (!there)
		SKIP("this machine has no PMU of that name");
	assert_true(count("msr/tsc/", NULL, burn) > 100000);
}

/* ---- through tracefs ------------------------------------------------------------------------------------------ */

/* Lines of uprobe_events that are ours, by our number. */
static int lines_left(void)
{
	char ours[32], line[512];
	FILE *file = fopen("/sys/kernel/tracing/uprobe_events", "re");
	int n = 0;

	if (!file)
		file = fopen("/sys/kernel/debug/tracing/uprobe_events", "re");
	if (!file)
		SKIP("uprobe_events cannot be read");
	snprintf(ours, sizeof(ours), ":perfev/p%d_", (int)getpid());
	while (fgets(line, sizeof(line), file))
		n += strstr(line, ours) != NULL;
	fclose(file);
	return n;
}

/* The same machine without the PMU of probes, as kernels before 4.17 are. */
static void test_probes_through_tracefs(void **state)
{
	static const char *const texts[] = {"uprobe:/proc/self/exe:live_probed", "uretprobe:/proc/self/exe:live_probed:u"};
	struct perfev_parse_opts opts;
	struct machine machine;
	size_t i;

	(void)state;
	lines_left();
	assert_true(machine_new(&machine, ""));
	opts = (struct perfev_parse_opts){sizeof(opts), machine.sysfs, NULL};
	for (i = 0; i < 2; i++) {
		assert_int_equal(count(texts[i], &opts, call_it), HITS);
		assert_int_equal(lines_left(), 0);
	}
	machine_free(&machine);
}

static void test_failures_leave_no_line(void **state)
{
	struct perfev_parse_opts opts;
	struct perfev_event *event;
	struct perfev_counter *counter;
	struct machine machine;

	(void)state;
	lines_left();
	assert_true(machine_new(&machine, ""));
	opts = (struct perfev_parse_opts){sizeof(opts), machine.sysfs, NULL};
	event = parse("uprobe:/proc/self/exe:live_probed", &opts);
	assert_int_equal(lines_left(), 1);
	assert_true(perfev_counter_open(&counter, event, perfev_on_task(0x7ffffff0), NULL, &err) < 0);
	perfev_event_free(event);
	assert_int_equal(lines_left(), 0);
	assert_true(perfev_event_parse(&event, "uprobe:/nonexistent:0x10,nothing", &err) < 0);
	assert_int_equal(lines_left(), 0);
	machine_free(&machine);
}

/* A place that is none is refused when it is opened, with the file's name. */
static void test_refused_places(void **state)
{
	struct perfev_event *event = parse("uprobe:/nonexistent/program:0x10", NULL);
	struct perfev_counter *counter;
	int r = perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err);

	(void)state;
	perfev_event_free(event);
	skip_when_refused(r);
	assert_int_equal(r, -ENOENT);
	assert_says("/nonexistent/program");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_probes_of_our_own),   cmocka_unit_test(test_a_return_to_thumb_code),
	cmocka_unit_test(test_probes_of_the_library),
	cmocka_unit_test(test_breakpoints),	    cmocka_unit_test(test_reads_alone),
	cmocka_unit_test(test_a_tracepoint),	    cmocka_unit_test(test_msr),
	cmocka_unit_test(test_probes_through_tracefs), cmocka_unit_test(test_failures_leave_no_line),
	cmocka_unit_test(test_refused_places),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
