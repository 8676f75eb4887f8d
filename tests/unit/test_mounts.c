/* SPDX-License-Identifier: MIT */
/* Where tracefs is mounted, and its tracepoints: their ids, and names that patterns match. */
#include "places.h"

#include "capture/tracefs.h"

/* ---- where tracefs is -------------------------------------------------------------------------------------- */

static void test_mounts(void **state)
{
	static const struct {
		const char *mounts, *where; /* NULL: nowhere */
	} rows[] = {
		{"none /sys/kernel/tracing tracefs rw,relatime 0 0\n", "/sys/kernel/tracing"},
		{"x /mnt/my\\040trace\\134s tracefs rw 0 0\n", "/mnt/my trace\\s"},
		{"proc /proc proc rw 0 0\nx /elsewhere tracefs rw,gid=5 0 0\n", "/elsewhere"},
		{"debugfs /sys/kernel/debug debugfs rw 0 0\n", "/sys/kernel/debug/tracing"},
		{"d /debug debugfs rw 0 0\nt /trace tracefs rw 0 0\n", "/trace"},
		{"t /trace tracefs rw 0 0\nd /debug debugfs rw 0 0\n", "/trace"},
		{"t /trace tracefs\n", "/trace"}, /* no options */
		{"t /tracefs ext4 rw 0 0\ntracefs /x tmpfs rw 0 0\n", NULL},
		{"tracefs\n\n \n  \nx y\ntracefs tracefs\n", NULL},
		{"t /odd\\04 tracefs rw 0 0\n", "/odd\\04"},
		{"", NULL},
	};
	char where[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r;

		machine();
		fake_file("/proc/self/mounts", rows[i].mounts);
		r = tracefs_find(where, sizeof(where));
		if (rows[i].where ? r < 0 || strcmp(where, rows[i].where) : r != -ENOENT)
			fail_msg("%s: %d, %s", rows[i].mounts, r, where);
	}
	/* one that does not fit is passed over */
	fake_file("/proc/self/mounts", "t /long/long/long/long/long/long/long/long/long/long/long/long/long/long tracefs rw 0 0\n"
				       "t /short tracefs rw 0 0\n");
	assert_int_equal(tracefs_find(where, sizeof(where)), 0);
	assert_string_equal(where, "/short");
	fake_remove("/proc/self/mounts");
	assert_int_equal(tracefs_find(where, sizeof(where)), -ENOENT);
	assert_int_equal(fake_left(), 0);
}

/* A tracepoint is found with each mount alone. */
static void test_tracepoints_of_any_mount(void **state)
{
	static const char *const mounts[][2] = {{"/sys/kernel/tracing", "t /sys/kernel/tracing tracefs rw 0 0\n"},
						{"/sys/kernel/debug/tracing", "d /sys/kernel/debug debugfs rw 0 0\n"},
						{"/opt/t", "t /opt/t tracefs rw 0 0\n"}};
	struct perfev_event *event, *made;
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		fake_reset();
		fake_file("/proc/self/mounts", mounts[i][1]);
		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", mounts[i][0]);
		fake_file(path, "77\n");
		event = parse("sched:sched_switch");
		assert_int_equal(perfev_event_attr(event)->type, PERF_TYPE_TRACEPOINT);
		assert_int_equal(perfev_event_attr(event)->config, 77);
		assert_works(perfev_event_tracepoint(&made, "sched", "sched_switch", &err));
		assert_memory_equal(perfev_event_attr(made), perfev_event_attr(event), 64);
		assert_string_equal(perfev_event_name(made), perfev_event_name(event));
		perfev_event_free(made);
		perfev_event_free(event);
	}
	fake_reset();
	assert_fails(perfev_event_parse(&event, "sched:sched_switch", &err), ENOENT);
	assert_says("tracefs is not mounted; run mount -t tracefs");
	assert_int_equal(err.where, 1);
	assert_fails(perfev_event_tracepoint(&event, "sched", "sched_switch", &err), ENOENT);
	assert_says("not mounted");
}

static void test_ids(void **state)
{
	static const char *const wrong[] = {"", "\n", "x", "-1", "12 13", "99999999999999999999999"};
	char name[2000];
	uint64_t id;
	size_t i;

	(void)state;
	machine();
	assert_int_equal(tracefs_id(TRACEFS, "sched", "sched_switch", &id), 0);
	assert_int_equal(id, 316);
	assert_int_equal(tracefs_id(TRACEFS, "sched", "none", &id), -ENOENT);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		fake_file(TRACEFS "/events/sched/sched_switch/id", wrong[i]);
		assert_int_equal(tracefs_id(TRACEFS, "sched", "sched_switch", &id), -EINVAL);
	}
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = 0;
	assert_int_equal(tracefs_id(TRACEFS, "sched", name, &id), -ENAMETOOLONG);
}

static char seen[512];

static int note(void *context, const char *system, const char *name)
{
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s:%s ", system, name);
	return context ? *(int *)context : 0;
}

static void test_matches(void **state)
{
	int stop = -ECANCELED;

	(void)state;
	machine();
	seen[0] = 0;
	assert_int_equal(tracefs_match(TRACEFS, "*", "*", note, NULL), 4); /* "enable" is none */
	assert_string_equal(seen, "sched:sched_switch sched:sched_wakeup sched:sched_waking syscalls:sys_enter_read ");
	seen[0] = 0;
	assert_int_equal(tracefs_match(TRACEFS, "sched", "*_wak*", note, NULL), 2);
	assert_string_equal(seen, "sched:sched_wakeup sched:sched_waking ");
	assert_int_equal(tracefs_match(TRACEFS, "[a-r]*", "*", note, NULL), 0);
	seen[0] = 0;
	assert_int_equal(tracefs_match(TRACEFS, "*", "*", note, &stop), -ECANCELED);
	assert_string_equal(seen, "sched:sched_switch ");
	assert_int_equal(tracefs_match("/nonexistent", "*", "*", note, NULL), -ENOENT);
	assert_int_equal(fake_left(), 0);
}

static void test_tracefs_of_root(void **state)
{
	struct perfev_event *event;

	(void)state;
	machine();
	fake_error(TRACEFS "/events/sched/sched_switch/id", -EACCES);
	assert_fails(perfev_event_parse(&event, "cs:u,sched:sched_switch", &err), EACCES);
	assert_int_equal(err.why, PERFEV_WHY_CAPABILITY);
	assert_int_equal(err.where, 6);
	assert_says("may not read " TRACEFS "; run as root");
	assert_fails(perfev_event_tracepoint(&event, "sched", "sched_switch", &err), EACCES);
	assert_fails(perfev_event_tracepoint(&event, "sched", "none", &err), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_UNKNOWN_EVENT);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_mounts),
	cmocka_unit_test(test_tracepoints_of_any_mount),
	cmocka_unit_test(test_ids),
	cmocka_unit_test(test_matches),
	cmocka_unit_test(test_tracefs_of_root),
};

int main(void)
{
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return r;
}
