/* SPDX-License-Identifier: MIT */
/* Samplers: rings are mapped and shared as planned, waiting ends when it should, every record comes out
 * with its event, what is lost adds up, and nothing stays behind a failure. */
#include "bytes.h"
#include "test.h"

#include "fake/kernel.h"

#include <perfev/sampler.h>

#include <errno.h>

static struct perfev_error err;
static struct perfev_sampler *sampler;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_file("/sys/devices/system/cpu/online", "0,2-3,8\n");
	fake_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	fake_process(7, 1, "seven", "7 8 9");
	sampler = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	perfev_sampler_close(sampler);
	return fake_left();
}

static int open_with(const char *text, struct perfev_target on, uint64_t sample_type,
		     const struct perfev_sampler_opts *opts)
{
	struct perfev_events *events;
	const struct perfev_event *list[8];
	size_t i, count;
	int r;

	assert_works(perfev_events_parse(&events, text, &err));
	count = perfev_events_count(events);
	for (i = 0; i < count; i++) {
		perfev_event_attr(perfev_events_at(events, i))->sample_type = sample_type;
		perfev_event_attr(perfev_events_at(events, i))->sample_period = 1000;
		list[i] = perfev_events_at(events, i);
	}
	memset(&err, 0xff, sizeof(err));
	r = perfev_sampler_open(&sampler, list, count, on, opts, &err);
	perfev_events_free(events);
	if (r < 0)
		assert_null(sampler);
	return r;
}

/* The n-th event that is open now: 0 is the first. */
static struct fake_event *nth(int n)
{
	int i;

	for (i = 0; i < fake.event_count; i++)
		if (fake.events[i].open && n-- == 0)
			return &fake.events[i];
	fail_msg("there is no such event");
	return NULL;
}

/* A sample of IDENTIFIER and IP, or a LOST record with its trailer. */
static bool write_sample(struct fake_event *event, uint64_t ip)
{
	struct bytes bytes;

	bytes.size = 0;
	bytes.big = host_is_big();
	begin_record(&bytes, PERF_RECORD_SAMPLE, 2);
	put_u64(&bytes, event->id);
	put_u64(&bytes, ip);
	end_record(&bytes, 0);
	return fake_write(event, bytes.data, bytes.size);
}

static void write_lost(struct fake_event *event, uint64_t lost)
{
	struct bytes bytes;

	bytes.size = 0;
	bytes.big = host_is_big();
	begin_record(&bytes, PERF_RECORD_LOST, 0);
	put_u64(&bytes, event->id);
	put_u64(&bytes, lost);
	put_u64(&bytes, event->id);
	end_record(&bytes, 0);
	assert_true(fake_write(event, bytes.data, bytes.size));
}

static void expect_sample(uint64_t ip, uint32_t ring, int event)
{
	struct perfev_record record;
	struct perfev_sample sample;

	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 1);
	assert_int_equal(record.source, ring);
	assert_int_equal(perfev_sampler_event(sampler, &record), event);
	assert_works(perfev_sample_decode(&sample, &record, perfev_sampler_layout(sampler, &record), &err));
	assert_true(sample.ip == ip);
}

static void expect_end(void)
{
	struct perfev_record record;

	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 0);
}

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

static void test_ring_sizes(void **state)
{
	struct perfev_sampler_opts opts = {sizeof(opts), 0, 0, 0};
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
	struct perfev_sampler_opts opts = {sizeof(opts), 1 << 20, 0, 0};

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
	struct perfev_sampler_opts opts = {sizeof(opts), 1 << 20, 0, 0};

	(void)state;
	fake.on_map = refuse_large;
	map_most = SIZE_MAX;
	for (maps_left = 0; maps_left < 4;) {
		int left = maps_left;

		assert_fails(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts), EPERM);
		assert_int_equal(fake_left(), 0);
		maps_left = left + 1;
	}
	opts.may_drop = PERFEV_DROP_RING;
	maps_left = 2;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts));
	assert_int_equal(perfev_sampler_ring_bytes(sampler), 512 << 10);
	assert_int_equal(fake.maps - fake.unmaps, 4);
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
		assert_fails(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL), ENODEV);
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
	struct perfev_sampler_opts opts = {sizeof(opts), 0, 0, 1};
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

/* ---- records ------------------------------------------------------------------------------------------------- */

static void test_records(void **state)
{
	struct perfev_record record;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
	expect_end();
	write_sample(nth(6), 600);
	write_sample(nth(1), 101);
	write_sample(nth(0), 100);
	write_sample(nth(7), 601);
	write_lost(nth(7), 3);
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(101, 0, 1);
	expect_sample(100, 0, 0);
	write_sample(nth(1), 102); /* for the next pass */
	expect_sample(600, 3, 0);
	expect_sample(601, 3, 1);
	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 1);
	assert_int_equal(record.type, PERF_RECORD_LOST);
	assert_int_equal(perfev_sampler_event(sampler, &record), 1); /* by its trailer */
	expect_end();
	assert_true(nth(0)->page->data_tail == 0);
	perfev_sampler_release(sampler);
	assert_int_equal(nth(0)->page->data_tail, 48);
	assert_true(nth(6)->page->data_tail == nth(6)->page->data_head);
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 1);
	expect_sample(102, 0, 1);
	expect_end();
	expect_end();
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
}

static void test_unknown_ids(void **state)
{
	struct perfev_record record;
	uint64_t words[3] = {0, 0, 0};

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_self(), PERF_SAMPLE_IP, NULL));
	memset(&record, 0, sizeof(record));
	record.data = words;
	record.type = PERF_RECORD_SAMPLE;
	for (record.size = 0; record.size <= 24; record.size += 8) {
		assert_int_equal(perfev_sampler_event(sampler, &record), -1);
		assert_null(perfev_sampler_layout(sampler, &record));
	}
	words[1] = 123456;
	record.size = 24;
	assert_null(perfev_sampler_layout(sampler, &record));
	record.type = PERF_RECORD_COMM;
	words[2] = nth(1)->id;
	assert_int_equal(perfev_sampler_event(sampler, &record), 1);
}

/* One damaged ring is reported and passed over; the others are read. */
static void test_damaged_ring(void **state)
{
	struct perfev_record record;

	(void)state;
	assert_works(open_with("cycles", perfev_on_all_cpus(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	write_sample(nth(0), 1);
	write_sample(nth(1), 2);
	write_sample(nth(2), 3);
	nth(1)->data[6] = 4; /* the size of the record */
	expect_sample(1, 0, 0);
	assert_fails(perfev_sampler_next(sampler, &record, &err), EBADMSG);
	assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
	assert_says("ring 1");
	expect_sample(3, 2, 0);
	expect_end();
	perfev_sampler_release(sampler);
	write_sample(nth(1), 4);
	expect_sample(4, 1, 0);
	expect_end();
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

static void test_timeouts(void **state)
{
	(void)state;
	assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IP, NULL));
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
	assert_int_equal(fake.now_ms, 0);
	assert_int_equal(perfev_sampler_wait(sampler, 50, &err), 0);
	assert_int_equal(fake.now_ms, 50);
	fake.wait_result = -EINTR;
	assert_fails(perfev_sampler_wait(sampler, -1, &err), EINTR);
	assert_false(perfev_sampler_ended(sampler));
	write_sample(nth(0), 1);
	fake.waits = 0;
	assert_int_equal(perfev_sampler_wait(sampler, 1000, &err), 1); /* looks before it sleeps */
	assert_int_equal(fake.waits, 0);
}

static void write_on_third(int timeout_ms)
{
	(void)timeout_ms;
	if (fake.waits == 3)
		write_sample(nth(2), 9);
	else
		nth(0)->ready = true; /* woken for nothing */
	fake.now_ms += 10;
}

static void test_wake_ups_for_nothing(void **state)
{
	(void)state;
	assert_works(open_with("cycles", perfev_on_all_cpus(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	fake.on_wait = write_on_third;
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(9, 2, 0);
	expect_end();
	perfev_sampler_release(sampler);
	fake.waits = 10;
	assert_int_equal(perfev_sampler_wait(sampler, 100, &err), 0); /* not for ever */
	assert_in_range(fake.waits, 11, 25);
}

/* A ring is over when the last task that writes to it has ended, and after its records were read. */
static void test_tasks_end(void **state)
{
	int i, hung;

	(void)state;
	assert_works(open_with("cycles", perfev_on_process(7), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	/* rows are thread by thread: events 0-3 of thread 7, 4-7 of 8, 8-11 of 9 */
	for (hung = 0; hung < 8; hung++) {
		nth(hung)->hung_up = true;
		assert_int_equal(perfev_sampler_wait(sampler, 20, &err), 0);
		assert_false(perfev_sampler_ended(sampler));
	}
	write_sample(nth(9), 4); /* thread 9 lives: on the second CPU */
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(4, 1, 0);
	expect_end();
	perfev_sampler_release(sampler);
	write_sample(nth(10), 5);
	for (i = 8; i < 12; i++)
		nth(i)->hung_up = true; /* hides the wake-up */
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	assert_false(perfev_sampler_ended(sampler));
	expect_sample(5, 2, 0);
	expect_end();
	perfev_sampler_release(sampler);
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
	assert_true(perfev_sampler_ended(sampler));
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
}

/* In another order: the one that is polled lives longest, or ends first. */
static void test_tasks_end_backwards(void **state)
{
	int i;

	(void)state;
	assert_works(open_with("cycles", perfev_on_process(7), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	for (i = 11; i > 0; i--) {
		nth(i)->hung_up = true;
		assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
		assert_false(perfev_sampler_ended(sampler));
	}
	nth(0)->hung_up = true;
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
	assert_true(perfev_sampler_ended(sampler));
}

/* ---- losses --------------------------------------------------------------------------------------------------- */

static void test_losses(void **state)
{
	struct perfev_record record;
	struct perfev_loss loss;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	write_lost(nth(0), 5); /* ring 0: LOST says 5, the counts say 2 + 4 */
	nth(0)->lost = 2;
	nth(1)->lost = 4;
	write_lost(nth(3), 9); /* ring 1: LOST says 9 + 1, the counts 7 */
	write_lost(nth(2), 1);
	nth(2)->lost = 7;
	nth(4)->lost = 3; /* ring 2: no LOST record came any more */
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_int_equal(loss.said, 0); /* not read yet */
	assert_int_equal(loss.counted, 16);
	while (perfev_sampler_next(sampler, &record, &err) > 0)
		;
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_true(loss.exact);
	assert_int_equal(loss.said, 15);
	assert_int_equal(loss.counted, 16);
	assert_int_equal(loss.records, 6 + 10 + 3);
	assert_int_equal(loss.samples, 0);
	assert_int_equal(perfev_sampler_id_lost(sampler, 1, 0), 4);
	assert_int_equal(perfev_sampler_id_lost(sampler, 0, 2), 3);
	assert_int_equal(perfev_sampler_id_lost(sampler, 0, 9), 0);
	nth(4)->read_result = -EIO;
	assert_int_equal(perfev_sampler_id_lost(sampler, 0, 2), 0);
}

static int no_format_lost(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->read_format & PERF_FORMAT_LOST ? -EINVAL : 0;
}

static void test_losses_of_old_kernels(void **state)
{
	struct perfev_record record;
	struct perfev_loss loss;

	(void)state;
	fake.on_open = no_format_lost;
	assert_works(open_with("cycles,cs", perfev_on_self(), PERF_SAMPLE_IP, NULL));
	assert_true(nth(0)->attr.read_format == PERF_FORMAT_ID);
	write_lost(nth(0), 5);
	nth(0)->lost = 100;
	while (perfev_sampler_next(sampler, &record, &err) > 0)
		;
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_false(loss.exact);
	assert_int_equal(loss.records, 5);
	assert_int_equal(loss.counted, 0);
}

/* An event whose samples carry counts keeps its format, and does not count its losses: not exact then. */
static void test_losses_with_counts_in_samples(void **state)
{
	struct perfev_loss loss;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_self(), PERF_SAMPLE_IP | PERF_SAMPLE_READ, NULL));
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_false(loss.exact);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_rings_of_cpus, setup, teardown),
	cmocka_unit_test_setup_teardown(test_attrs_of_the_caller, setup, teardown),
	cmocka_unit_test_setup_teardown(test_ring_sizes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rings_that_do_not_fit, setup, teardown),
	cmocka_unit_test_setup_teardown(test_budget_ends, setup, teardown),
	cmocka_unit_test_setup_teardown(test_refused_ioctls, setup, teardown),
	cmocka_unit_test_setup_teardown(test_different_clocks, setup, teardown),
	cmocka_unit_test_setup_teardown(test_partial, setup, teardown),
	cmocka_unit_test_setup_teardown(test_records, setup, teardown),
	cmocka_unit_test_setup_teardown(test_unknown_ids, setup, teardown),
	cmocka_unit_test_setup_teardown(test_damaged_ring, setup, teardown),
	cmocka_unit_test_setup_teardown(test_timeouts, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wake_ups_for_nothing, setup, teardown),
	cmocka_unit_test_setup_teardown(test_tasks_end, setup, teardown),
	cmocka_unit_test_setup_teardown(test_tasks_end_backwards, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses_of_old_kernels, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses_with_counts_in_samples, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
