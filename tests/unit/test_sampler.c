/* SPDX-License-Identifier: MIT */
/* Opening samplers: rings are mapped and shared as planned, fit the budget or say why not, and nothing
 * stays behind a failure. */
#include "sampling.h"

/* ---- opening --------------------------------------------------------------------------------------- */

static void test_rings_of_cpus(void **state)
{
	struct perfev_sampler_event_info info;
	struct perfev_sampler_id id;
	int i;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	assert_int_equal(perfev_sampler_ring_count(sampler), 4);
	assert_int_equal(perfev_sampler_ring_bytes(sampler), 512 * 1024);
	for (i = 0; i < 8; i++) {
		const struct fake_event *e = nth(i);

		assert_int_equal(!!e->page, i % 2 == 0);
		assert_int_equal(e->output, i % 2 ? nth(i - 1)->fd : -1);
		assert_true(e->attr.sample_id_all && e->attr.watermark);
		assert_int_equal(e->attr.wakeup_watermark, 128 * 1024);
		assert_true(e->attr.sample_type == (PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER));
		assert_true(e->attr.read_format == (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	}
	assert_int_equal(perfev_sampler_event_count(sampler), 2);
	assert_true(perfev_sampler_event_at(sampler, 1, &info));
	assert_string_equal(info.name, "cs");
	assert_int_equal(info.id_count, 4);
	assert_null(info.error);
	assert_false(perfev_sampler_event_at(sampler, 2, &info));
	assert_true(perfev_sampler_id_at(sampler, 1, 2, &id));
	assert_true(id.id == nth(5)->id);
	assert_int_equal(id.ring, 2);
	assert_int_equal(id.cpu, 3);
	assert_int_equal(id.tid, -1);
	assert_false(perfev_sampler_id_at(sampler, 1, 4, &id));
	assert_false(perfev_sampler_id_at(sampler, 2, 0, &id));
	assert_works(perfev_sampler_start(sampler, &err));
	for (i = 0; i < 8; i++)
		assert_true(nth(i)->enabled);
}

/* One event: there is nothing to tell apart; and what a caller set is not changed. */
static void test_attrs_of_the_caller(void **state)
{
	struct perfev_event *event;
	const struct perfev_event *list[1];

	(void)state;
	assert_works(perfev_event_parse(&event, "cycles", &err));
	list[0] = event;
	perfev_event_attr(event)->sample_period = 1;
	perfev_event_attr(event)->wakeup_events = 7;
	perfev_event_attr(event)->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	perfev_event_attr(event)->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	assert_works(perfev_sampler_open(&sampler, list, 1, perfev_on_self(), NULL, &err));
	perfev_event_free(event);
	assert_int_equal(nth(0)->attr.wakeup_events, 7);
	assert_false(nth(0)->attr.watermark);
	assert_true(nth(0)->attr.sample_type == (PERF_SAMPLE_IP | PERF_SAMPLE_READ));
	assert_true(nth(0)->attr.read_format == PERF_FORMAT_TOTAL_TIME_ENABLED);
}

/* Members that were parsed one by one are off by themselves, and only leaders are started. */
static void test_members_of_a_group(void **state)
{
	static const size_t leaders[] = {0, 0, 2};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .leaders = leaders};
	int i;

	(void)state;
	assert_works(open_with("cycles,cs,faults", perfev_on_self(), PERF_SAMPLE_IP, &opts));
	assert_true(nth(0)->attr.disabled && !nth(1)->attr.disabled && nth(2)->attr.disabled);
	assert_int_equal(nth(1)->group_fd, nth(0)->fd);
	assert_works(perfev_sampler_start(sampler, &err));
	for (i = 0; i < 3; i++)
		assert_true(nth(i)->enabled);
}

static int no_address_space(struct fake_event *event, size_t size)
{
	(void)event;
	return size > SIZE_MAX / 8 ? -ENOMEM : 0;
}

static void test_ring_sizes(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts)};
	static const struct {
		uint64_t asked, got;
	} rows[] = {{1, 4096}, {4096, 4096}, {4097, 8192}, {100000, 131072}, {1 << 20, 1 << 20}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		opts.ring_bytes = rows[i].asked;
		assert_works(open_with("cs", perfev_on_self(), PERF_SAMPLE_IP, &opts));
		assert_int_equal(perfev_sampler_ring_bytes(sampler), rows[i].got);
		assert_int_equal(nth(0)->attr.wakeup_watermark, rows[i].got / 4);
		perfev_sampler_close(sampler);
		sampler = NULL;
	}
	fake.on_map = no_address_space;
	opts.ring_bytes = UINT64_MAX;
	assert_fails(open_with("cs", perfev_on_self(), PERF_SAMPLE_IP, &opts), ENOMEM);
}

/* Threads to come write into the rings too, so that these are bound to CPUs. */
static void test_process(void **state)
{
	int i;

	(void)state;
	assert_works(open_with("cycles", perfev_on_process(7), PERF_SAMPLE_IP, NULL));
	assert_int_equal(perfev_sampler_ring_count(sampler), 4);
	assert_int_equal(fake.maps, 4);
	for (i = 0; i < 12; i++)
		assert_true(nth(i)->attr.inherit && nth(i)->cpu >= 0);
}

/* ---- failures ----------------------------------------------------------------------------------------------- */

static size_t map_most;
static int maps_left;

static int refuse_large(struct fake_event *event, size_t size)
{
	(void)event;
	if (size > map_most || maps_left-- == 0)
		return -EPERM;
	return 0;
}

static void test_rings_that_do_not_fit(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 1 << 20};

	(void)state;
	fake.on_map = refuse_large;
	map_most = 4096 + (64 << 10);
	maps_left = 1000;
	assert_fails(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts), EPERM);
	assert_int_equal(err.why, PERFEV_WHY_LOCKED_MEMORY);
	assert_says("a ring of 1024 KiB does not fit: perf_event_mlock_kb is 516 KiB");
	assert_int_equal(fake_left(), 0);
	opts.may_drop = PERFEV_DROP_RING;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts));
	assert_int_equal(perfev_sampler_ring_bytes(sampler), 64 << 10);
	assert_int_equal(perfev_sampler_ring_count(sampler), 4);
	/* woken at a quarter of what there is, not of what was asked for: that would never be reached */
	assert_int_equal(nth(0)->attr.wakeup_watermark, 16 << 10);
	assert_int_equal(nth(0)->mapped, 4096 + (64 << 10));
	assert_int_equal(fake_left(), 8 + 4 + 1);
	perfev_sampler_close(sampler);
	sampler = NULL;
	map_most = 4096; /* not even one page */
	assert_fails(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts), EPERM);
	assert_says("a ring of 4 KiB");
	assert_int_equal(fake_left(), 0);
}

/* The budget ends in the middle of the rings. */
static void test_budget_ends(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 1 << 20};

	(void)state;
	fake.on_map = refuse_large;
	map_most = SIZE_MAX;
	for (maps_left = 0; maps_left < 4;) {
		int left = maps_left;

		assert_fails(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts),
			     EPERM);
		assert_int_equal(fake_left(), 0);
		maps_left = left + 1;
	}
	opts.may_drop = PERFEV_DROP_RING;
	maps_left = 2;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts));
	assert_int_equal(perfev_sampler_ring_bytes(sampler), 512 << 10);
	assert_int_equal(fake.maps - fake.unmaps, 4);
}

static int refuse_by_rule(struct fake_event *event, size_t size)
{
	(void)event;
	(void)size;
	return -EINVAL;
}

/* What no smaller ring would change is not tried with one. */
static void test_rings_that_are_refused(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 1 << 20, .may_drop = PERFEV_DROP_RING};

	(void)state;
	fake.on_map = refuse_by_rule;
	assert_fails(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IP, &opts), EINVAL);
	assert_int_equal(fake.event_count, 2); /* a probe, and the event */
}

/* Ids are those of descriptors that are open; a thread that ended has none. */
static int thread_8_ended(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)attr;
	return event->pid == 8 ? -ESRCH : 0;
}

static void test_ids_of_a_process(void **state)
{
	struct perfev_sampler_event_info info;
	struct perfev_sampler_id id;
	size_t i;

	(void)state;
	fake.on_open = thread_8_ended;
	assert_works(open_with("cycles", perfev_on_process(7), PERF_SAMPLE_IP, NULL));
	assert_true(perfev_sampler_event_at(sampler, 0, &info));
	assert_int_equal(info.id_count, 8);
	for (i = 0; i < 8; i++) {
		assert_true(perfev_sampler_id_at(sampler, 0, i, &id));
		assert_int_equal(id.tid, i < 4 ? 7 : 9);
		assert_true(id.id == nth((int)i)->id);
	}
	assert_false(perfev_sampler_id_at(sampler, 0, 8, &id));
}

static unsigned refused_request;
static int ioctls_left;

static int refuse_ioctl(struct fake_event *event, unsigned request, unsigned long argument)
{
	(void)event;
	(void)argument;
	return request == refused_request && ioctls_left-- == 0 ? -ENODEV : 0;
}

static void test_refused_ioctls(void **state)
{
	int i;

	(void)state;
	fake.on_ioctl = refuse_ioctl;
	refused_request = PERF_EVENT_IOC_ID;
	for (i = 0; i < 8; i++) {
		ioctls_left = i;
		assert_fails(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL),
			     ENODEV);
		assert_says("the id of");
		assert_int_equal(fake_left(), 0);
	}
	ioctls_left = 1000;
	assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IP, NULL));
	refused_request = PERF_EVENT_IOC_ENABLE;
	ioctls_left = 0;
	assert_fails(perfev_sampler_start(sampler, &err), ENODEV);
	assert_says("cannot start cycles");
}

/* Events of different clocks cannot share a ring: that is said, not something about memory. */
static void test_different_clocks(void **state)
{
	struct perfev_events *events;
	const struct perfev_event *list[2];

	(void)state;
	assert_works(perfev_events_parse(&events, "cs,faults", &err));
	list[0] = perfev_events_at(events, 0);
	list[1] = perfev_events_at(events, 1);
	perfev_event_attr(perfev_events_at(events, 0))->sample_period = 1;
	perfev_event_attr(perfev_events_at(events, 1))->sample_period = 1;
	perfev_event_attr(perfev_events_at(events, 1))->use_clockid = 1;
	assert_fails(perfev_sampler_open(&sampler, list, 2, perfev_on_cpu(2), NULL, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_COMBINATION);
	assert_says("cannot put faults into the ring of cs");
	assert_says("clock");
	assert_null(sampler);
	perfev_events_free(events);
}

static int refuse_hardware(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void test_partial(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_sampler_event_info info;

	(void)state;
	fake.on_open = refuse_hardware;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts));
	assert_true(perfev_sampler_event_at(sampler, 0, &info));
	assert_int_equal(info.error->why, PERFEV_WHY_NO_PMU);
	assert_int_equal(info.id_count, 0);
	assert_true(perfev_sampler_event_at(sampler, 1, &info));
	assert_null(info.error);
	write_sample(nth(3), 55);
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 1);
	expect_sample(55, 3, 1);
	perfev_sampler_close(sampler);
	sampler = NULL;
	assert_fails(open_with("cycles", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts), ENOENT);
	assert_fails(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL), ENOENT);
}

/* ---- other kinds of rings ----------------------------------------------------------------------------------- */

static void test_snapshots(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = FAKE_PAGE, .overwrite = 1};
	struct perfev_record record;
	struct perfev_loss loss;
	uint64_t ip;

	(void)state;
	assert_works(open_with("cycles,faults", perfev_on_cpu(2), PERF_SAMPLE_IP, &opts));
	assert_true(nth(0)->attr.write_backward && nth(1)->attr.write_backward);
	for (ip = 1; ip <= 1000; ip++) /* 24 bytes each: the ring has 170 of them */
		assert_true(write_sample(nth(ip & 1), ip));
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 1);
	assert_fails(perfev_sampler_next(sampler, &record, &err), EBUSY);
	assert_says("pause the sampler first");
	assert_works(perfev_sampler_pause(sampler, &err));
	assert_false(write_sample(nth(0), 5000)); /* not meanwhile */
	for (ip = 1000; ip > 1000 - FAKE_PAGE / 24; ip--)
		expect_sample(ip, 0, ip & 1);
	expect_end();
	perfev_sampler_release(sampler);
	expect_sample(1000, 0, 0); /* a snapshot can be read again */
	assert_works(perfev_sampler_resume(sampler, &err));
	assert_true(write_sample(nth(0), 6000));
	assert_works(perfev_sampler_pause(sampler, &err));
	for (ip = 0; ip < 2; ip++) { /* what the pause lost is in each snapshot, and lost once */
		expect_lost(1, 0);
		expect_sample(6000, 0, 0);
		expect_sample(1000, 0, 0);
		perfev_sampler_release(sampler);
		while (perfev_sampler_next(sampler, &record, &err) > 0)
			;
	}
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_true(loss.records == 1 && loss.counted == 1);
}

static void test_rings_apart(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = FAKE_PAGE, .apart = 1};

	(void)state;
	assert_works(open_with("cycles,faults", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts));
	assert_int_equal(perfev_sampler_ring_count(sampler), 8);
	assert_int_equal(fake.maps, 8);
	assert_true(write_sample(nth(3), 33)); /* faults on the second CPU */
	assert_true(write_sample(nth(2), 22));
	expect_sample(22, 2, 0);
	expect_sample(33, 3, 1);
	expect_end();
}

static void test_pause_of_any_ring(void **state)
{
	(void)state;
	assert_works(open_with("cycles,faults", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	assert_works(perfev_sampler_pause(sampler, &err));
	assert_false(write_sample(nth(2), 1));
	assert_works(perfev_sampler_resume(sampler, &err));
	assert_true(write_sample(nth(2), 2));
	expect_lost(1, 1);
	expect_sample(2, 1, 0);
	expect_end();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_snapshots, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rings_apart, setup, teardown),
	cmocka_unit_test_setup_teardown(test_pause_of_any_ring, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rings_of_cpus, setup, teardown),
	cmocka_unit_test_setup_teardown(test_attrs_of_the_caller, setup, teardown),
	cmocka_unit_test_setup_teardown(test_ring_sizes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_members_of_a_group, setup, teardown),
	cmocka_unit_test_setup_teardown(test_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rings_that_do_not_fit, setup, teardown),
	cmocka_unit_test_setup_teardown(test_budget_ends, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rings_that_are_refused, setup, teardown),
	cmocka_unit_test_setup_teardown(test_ids_of_a_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_refused_ioctls, setup, teardown),
	cmocka_unit_test_setup_teardown(test_different_clocks, setup, teardown),
	cmocka_unit_test_setup_teardown(test_partial, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
