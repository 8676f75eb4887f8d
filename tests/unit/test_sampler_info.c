/* SPDX-License-Identifier: MIT */
/* What a sampler tells of its events: losses in groups, what was left out, periods that are not kept, signals. */
#include "sampling.h"

/* Every member of a group answers with the counts of all: each loss counts once, and is its own event's. */
static void test_loss_in_a_group(void **state)
{
	const size_t leaders[] = {0, 0, 2};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .leaders = leaders};
	struct perfev_loss loss;
	int i;

	(void)state;
	assert_works(open_with("{cycles,faults}:S,cs", perfev_on_task(9), PERF_SAMPLE_IP, &opts));
	for (i = 0; i < 3; i++) {
		assert_true(nth(i)->attr.read_format & PERF_FORMAT_LOST);
		nth(i)->lost = i == 0 ? 1000 : i == 1 ? 30 : 7;
	}
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_int_equal(loss.records, 1037);
	assert_int_equal(loss.counted, 1037);
	assert_true(loss.exact);
	assert_int_equal(perfev_sampler_id_lost(sampler, 0, 0), 1000);
	assert_int_equal(perfev_sampler_id_lost(sampler, 1, 0), 30);
	assert_int_equal(perfev_sampler_id_lost(sampler, 2, 0), 7);
	assert_int_equal(perfev_sampler_id_lost(sampler, 1, 1), 0);
}

static int before_6_12(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->inherit && attr->sample_type & PERF_SAMPLE_READ ? -EINVAL : 0;
}

static void test_what_is_left_out(void **state)
{
	const size_t leaders[] = {0, 0};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .leaders = leaders};
	struct perfev_sampler_event_info info;

	(void)state;
	assert_works(open_with("{cycles/inherit/,faults/inherit/}:S", perfev_on_task(9), PERF_SAMPLE_IP, &opts));
	assert_true(perfev_sampler_event_at(sampler, 0, &info));
	assert_int_equal(info.dropped, 0);
	assert_true(info.attr->inherit);
	perfev_sampler_close(sampler);
	sampler = NULL;
	fake.on_open = before_6_12;
	assert_works(open_with("{cycles/inherit/,faults/inherit/}:S", perfev_on_task(9), PERF_SAMPLE_IP, &opts));
	assert_true(perfev_sampler_event_at(sampler, 1, &info));
	assert_int_equal(info.dropped, PERFEV_DROP_INHERIT);
	assert_false(info.attr->inherit);
}

/* The kernel's rule, which is otherwise found by counting. */
static void test_periods_that_are_not_kept(void **state)
{
	static const struct {
		const char *text;
		uint64_t sample_type;
		bool every_hit;
	} rows[] = {
		{"faults", PERF_SAMPLE_PERIOD, true},
		{"faults", PERF_SAMPLE_IP, false},
		{"cpu-clock", PERF_SAMPLE_PERIOD, false},
		{"task-clock", PERF_SAMPLE_PERIOD, false},
		{"cycles", PERF_SAMPLE_PERIOD, false},
	};
	struct perfev_sampler_event_info info;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_works(open_with(rows[i].text, perfev_on_task(9), rows[i].sample_type, NULL));
		assert_true(perfev_sampler_event_at(sampler, 0, &info));
		assert_int_equal(!!info.every_hit, rows[i].every_hit);
		perfev_sampler_close(sampler);
		sampler = NULL;
	}
}

static void test_rings_by_themselves(void **state)
{
	struct perfev_ring_info info;
	int i;

	(void)state;
	assert_works(open_with("cycles,faults", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	for (i = 0; i < 3; i++)
		assert_true(write_sample(nth(2), 7)); /* of the second CPU, which has number 2 */
	nth(3)->lost = 5;
	assert_true(perfev_sampler_ring_at(sampler, 1, &info));
	assert_int_equal(info.cpu, 2);
	assert_int_equal(info.tid, -1);
	assert_int_equal(info.owner, 0);
	assert_int_equal(info.bytes, 512 * 1024);
	assert_int_equal(info.filled, 3 * 24);
	assert_int_equal(info.loss.records, 5);
	assert_true(perfev_sampler_ring_at(sampler, 0, &info));
	assert_int_equal(info.filled, 0);
	assert_int_equal(info.loss.records, 0);
	assert_false(perfev_sampler_ring_at(sampler, 4, &info));
}

static void test_another_period(void **state)
{
	int i;

	(void)state;
	assert_works(open_with("cycles,faults", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	assert_works(perfev_sampler_set_period(sampler, 1, UINT64_C(1) << 40, &err));
	for (i = 0; i < 8; i++)
		assert_true(nth(i)->attr.sample_period == (i % 2 ? UINT64_C(1) << 40 : 1000));
	assert_fails(perfev_sampler_set_period(sampler, 0, 0, &err), EINVAL);
	assert_says("must be above 0");
	assert_fails(perfev_sampler_set_period(sampler, 2, 5, &err), EINVAL);
	assert_says("none of that number");
}

/* What is only counted would be waited for in vain. */
static void test_what_never_writes(void **state)
{
	static const struct {
		const char *text;
		bool task, refused;
	} rows[] = {
		{"cpu-clock", false, true}, {"cycles", false, true},	 {"r1", false, true},
		{"cpu-clock", true, false}, {"dummy", false, false}, {"bpf-output", false, false},
		{"cgroup-switches", false, true},
	};
	struct perfev_event *event;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct perfev_event *list[1];
		int r;

		assert_works(perfev_event_parse(&event, rows[i].text, &err));
		perfev_event_attr(event)->task = rows[i].task;
		list[0] = event;
		r = perfev_sampler_open(&sampler, list, 1, perfev_on_task(9), NULL, &err);
		assert_int_equal(r, rows[i].refused ? -EINVAL : 0);
		if (rows[i].refused)
			assert_says("neither a period nor a frequency");
		perfev_event_free(event);
		perfev_sampler_close(sampler);
		sampler = NULL;
	}
}

/* A leader may count for the samples of another, unless S makes it the one that samples. */
static void test_a_leader_that_counts(void **state)
{
	static const char *const texts[] = {"{cycles,instructions}", "{cycles,instructions}:S"};
	struct perfev_events *events;
	size_t leaders[2] = {0, 0}, i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct perfev_sampler_opts opts = {.size = sizeof(opts), .leaders = leaders};
		const struct perfev_event *list[2];
		struct perf_event_attr *attr;

		assert_works(perfev_events_parse(&events, texts[i], &err));
		attr = perfev_event_attr(perfev_events_at(events, 1));
		attr->sample_period = 1000;
		attr->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
		attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		list[0] = perfev_events_at(events, 0);
		list[1] = perfev_events_at(events, 1);
		assert_int_equal(perfev_sampler_open(&sampler, list, 2, perfev_on_task(9), &opts, &err),
				 i ? -EINVAL : 0);
		if (i)
			assert_says("cannot sample cycles: its attr has neither a period nor a frequency");
		perfev_events_free(events);
		perfev_sampler_close(sampler);
		sampler = NULL;
	}
}

static void test_signals(void **state)
{
	int i;

	(void)state;
	fake.pid = 500;
	fake.tid = 501;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	assert_works(perfev_sampler_signal(sampler, 12, 0, &err));
	for (i = 0; i < 8; i++) {
		assert_int_equal(nth(i)->signal, 12);
		assert_int_equal(nth(i)->signal_tid, 501);
	}
	assert_works(perfev_sampler_signal(sampler, 0, 77, &err));
	assert_int_equal(nth(7)->signal, 0);
	assert_fails(perfev_sampler_signal(sampler, 65, 0, &err), EINVAL);
	assert_says("65 is no signal");
	assert_fails(perfev_sampler_signal(sampler, 12, 100001, &err), ESRCH);
	assert_says("there is no thread 100001");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_loss_in_a_group, setup, teardown),
	cmocka_unit_test_setup_teardown(test_what_is_left_out, setup, teardown),
	cmocka_unit_test_setup_teardown(test_periods_that_are_not_kept, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rings_by_themselves, setup, teardown),
	cmocka_unit_test_setup_teardown(test_another_period, setup, teardown),
	cmocka_unit_test_setup_teardown(test_what_never_writes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_a_leader_that_counts, setup, teardown),
	cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
