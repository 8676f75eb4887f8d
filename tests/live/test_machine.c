/* SPDX-License-Identifier: MIT */
/*
 * What can be shown only by changing the machine: levels of perf_event_paranoid that some distributions add, CPUs that
 * are taken offline, probes in the kernel. Run where that does no harm, as in a virtual machine made for it: as root,
 * with PERFEV_CHANGE_MACHINE set or --change-machine given. Elsewhere each is a skip.
 */
#include "live.h"

#include <perfev/set.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <time.h>

static struct perfev_error err;

static void may_change(void)
{
	if (geteuid() != 0 || !getenv("PERFEV_CHANGE_MACHINE"))
		SKIP("this machine may not be changed (root, and PERFEV_CHANGE_MACHINE)");
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text);
}

static bool read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static int open_one(const char *text, struct perfev_target on, uint64_t *count, void (*work)(void))
{
	struct perfev_event *event;
	struct perfev_counter *counter;
	struct perfev_reading reading;
	int r = perfev_event_parse(&event, text, &err);

	if (r < 0)
		return r;
	r = perfev_counter_open(&counter, event, on, NULL, &err);
	perfev_event_free(event);
	if (r < 0)
		return r;
	assert_works(perfev_counter_start(counter, &err));
	if (work)
		work();
	assert_works(perfev_counter_stop(counter, &err));
	assert_works(perfev_counter_read(counter, &reading, &err));
	if (count)
		*count = reading.count;
	perfev_counter_close(counter);
	return 0;
}

/* ---- levels ---------------------------------------------------------------------------------------------- */

#define LEVEL "/proc/sys/kernel/perf_event_paranoid"

/* In a child without rights: 0 it was opened, 1 refused as it has to be, 2 refused otherwise. */
static int as_nobody(const char *text, const char *says)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		int r;

		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(3);
		r = open_one(text, perfev_on_self(), NULL, NULL);
		if (r < 0 && !strstr(err.text, says))
			fprintf(stderr, "%s\n", err.text);
		_exit(r == 0 ? 0 : strstr(err.text, says) ? 1 : 2);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

static void test_level_3(void **state)
{
	char before[16];

	(void)state;
	may_change();
	assert_true(read_file(LEVEL, before, sizeof(before)));
	if (!write_file(LEVEL, "3"))
		SKIP("this kernel does not take level 3");
	if (as_nobody("page-faults:u", "") == 0) {
		write_file(LEVEL, before);
		SKIP("level 3 means no more than 2 to this kernel");
	}
	assert_int_equal(as_nobody("page-faults:u", "perf_event_paranoid is 3, which forbids perf events to everybody "
						   "but root (CAP_PERFMON does not lift this level); run as root, or "
						   "run sysctl kernel.perf_event_paranoid=2 for user code"), 1);
	assert_works(open_one("page-faults:u", perfev_on_self(), NULL, NULL)); /* as root */
	assert_true(write_file(LEVEL, "2")); /* as the sentence says */
	assert_int_equal(as_nobody("page-faults:u", ""), 0);
	assert_true(write_file(LEVEL, before));
}

/* ---- CPUs -------------------------------------------------------------------------------------------------- */

static void test_cpu_taken_offline(void **state)
{
	(void)state;
	may_change();
	assert_works(open_one("cpu-clock", perfev_on_cpu(0), NULL, NULL));
	if (open_one("cpu-clock", perfev_on_cpu(1), NULL, NULL) < 0)
		SKIP("this machine has one CPU");
	if (!write_file("/sys/devices/system/cpu/cpu1/online", "0"))
		SKIP("CPU 1 cannot be taken offline");
	assert_fails(open_one("cpu-clock", perfev_on_cpu(1), NULL, NULL), ENODEV);
	assert_int_equal(err.why, PERFEV_WHY_NO_CPU);
	assert_says("CPU 1 is not there, or offline (1 are online); take one that /sys/devices/system/cpu/online lists");
	assert_true(write_file("/sys/devices/system/cpu/cpu1/online", "1"));
	assert_works(open_one("cpu-clock", perfev_on_cpu(1), NULL, NULL));
}

static bool set_online(const char *text)
{
	return write_file("/sys/devices/system/cpu/cpu1/online", text);
}

static void wait_ms(unsigned ms)
{
	const struct timespec pause = {0, (long)ms * 1000000};

	nanosleep(&pause, NULL);
}

/* The counts and time of row @index, which is of CPU 1. */
static uint64_t time_there(const struct perfev_set *set, size_t index, uint64_t *count)
{
	struct perfev_reading reading;
	struct perfev_set_row row;

	assert_true(perfev_set_row_at(set, index, &row));
	assert_int_equal(row.cpu, 1);
	assert_works(perfev_set_row_read(set, index, &reading, &err));
	assert_int_equal(reading.status, PERFEV_COUNTED);
	*count = reading.count;
	return reading.enabled_ns;
}

/* What a CPU counted is kept while it is offline; back, it counts only in events that are opened anew. */
static void test_events_after_a_cpu_is_back(void **state)
{
	uint64_t before, then, after, count[3];
	struct perfev_events *events;
	struct perfev_set *set;
	size_t i;

	(void)state;
	may_change();
	assert_works(perfev_events_parse(&events, "{cpu-clock,context-switches},cpu-clock", &err));
	assert_works(perfev_set_open(&set, events, perfev_on_all_cpus(), NULL, &err));
	perfev_events_free(events);
	if (perfev_set_row_count(set) < 6)
		SKIP("this machine has one CPU");
	assert_works(perfev_set_start(set, &err));
	wait_ms(20);
	assert_int_equal(perfev_set_revive(set, &err), 0);
	if (!set_online("0"))
		SKIP("CPU 1 cannot be taken offline");
	before = time_there(set, 3, &count[0]);
	assert_true(before > 0);
	wait_ms(20);
	assert_int_equal(perfev_set_revive(set, &err), 0);
	assert_true(set_online("1"));
	wait_ms(20);
	then = time_there(set, 3, &count[1]);
	assert_int_equal(then, before); /* the kernel's rule that this is all about */
	assert_int_equal(count[1], count[0]);
	assert_int_equal(perfev_set_revive(set, &err), 3);
	wait_ms(50);
	after = time_there(set, 3, &count[2]);
	assert_true(after > then && count[2] > count[1]);
	assert_true(time_there(set, 4, &count[2]) > then); /* of its group */
	assert_true(time_there(set, 5, &count[2]) > then);
	assert_int_equal(perfev_set_revive(set, &err), 0);
	for (i = 0; i < 2; i++) { /* off and on between two looks */
		assert_true(set_online("0") && set_online("1"));
		wait_ms(20);
		assert_int_equal(perfev_set_revive(set, &err), 0); /* its time went on since the last look */
		wait_ms(20);
		assert_int_equal(perfev_set_revive(set, &err), 3);
		wait_ms(20);
		assert_int_equal(perfev_set_revive(set, &err), 0);
	}
	perfev_set_close(set);
}

/* ---- probes in the kernel ------------------------------------------------------------------------------------- */

static void ask_20_times(void)
{
	char text[64];
	int i;

	for (i = 0; i < 20; i++)
		if (!getcwd(text, sizeof(text)))
			abort();
}

static const char *function(void)
{
	static const char *const names[] = {"__x64_sys_getcwd", "__arm64_sys_getcwd", "__riscv_sys_getcwd",
					    "__s390x_sys_getcwd", "__se_sys_getcwd", "sys_getcwd"};
	static char line[512];
	size_t i;
	FILE *file = fopen("/proc/kallsyms", "re");

	while (file && fgets(line, sizeof(line), file))
		for (i = 0; i < 6; i++) {
			char *name = strrchr(line, ' ');

			if (name && !strncmp(name + 1, names[i], strlen(names[i])) &&
			    name[1 + strlen(names[i])] == '\n') {
				fclose(file);
				return names[i];
			}
		}
	if (file)
		fclose(file);
	return NULL;
}

static void probe(const char *kind, const char *place, uint64_t wanted)
{
	char text[128];
	uint64_t count = 0;

	snprintf(text, sizeof(text), "%s:%s", kind, place);
	if (open_one(text, perfev_on_self(), &count, ask_20_times) < 0) {
		if (strstr(err.text, "puts no probe there"))
			SKIP("%s", err.text);
		fail_msg("%s: %s", text, err.text);
	}
	assert_int_equal(count, wanted);
}

static void test_probes_in_the_kernel(void **state)
{
	char place[80], text[256] = "";

	(void)state;
	may_change();
	if (!perfev_probe(PERFEV_CAN_KPROBES, &err))
		SKIP("%s", err.text);
	if (is_compat())
		SKIP("the functions of the kernel are others for programs of 32 bits");
	if (!function())
		SKIP("getcwd is not in /proc/kallsyms");
	probe("kprobe", function(), 20);
	probe("kretprobe", function(), 20);
	snprintf(place, sizeof(place), "%s+0", function());
	probe("kprobe", place, 20);
	assert_true(open_one("kprobe:no_such_function_at_all", perfev_on_self(), NULL, NULL) < 0);
	assert_says("the kernel has no function of that name");
	/* nothing is left of them */
	if (read_file("/sys/kernel/tracing/kprobe_events", text, sizeof(text)))
		fail_msg("left behind: %s", text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_level_3),
	cmocka_unit_test(test_cpu_taken_offline),
	cmocka_unit_test(test_events_after_a_cpu_is_back),
	cmocka_unit_test(test_probes_in_the_kernel),
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--change-machine"))
		setenv("PERFEV_CHANGE_MACHINE", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
