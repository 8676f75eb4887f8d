/* SPDX-License-Identifier: MIT */
/* Samplers on this kernel: records of a child, losses, ends, and nothing left behind. */
#include "live.h"

#include <signal.h>

static struct perfev_error err;

static struct perfev_event *sampling_event(const char *text, uint64_t period)
{
	struct perfev_event *event = NULL;
	struct perf_event_attr *attr;

	assert_works(perfev_event_parse(&event, text, &err));
	attr = perfev_event_attr(event);
	attr->sample_period = period;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	return event;
}

static struct perfev_sampler *open_one(struct perfev_event *event, struct perfev_target on,
				       uint64_t ring_bytes)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = ring_bytes};
	struct perfev_sampler *sampler = NULL;

	assert_works(perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, on, &opts,
					 &err));
	return sampler;
}

/* Counts records by type until the sampler has nothing more; returns the samples. */
static size_t drain(struct perfev_sampler *sampler, size_t counts[PERF_RECORD_MAX])
{
	struct perfev_record record;
	struct perfev_any any;

	while (perfev_sampler_wait(sampler, 0, &err) > 0) {
		while (perfev_sampler_next(sampler, &record, &err) > 0) {
			assert_in_range(record.type, 1, PERF_RECORD_MAX - 1);
			assert_works(perfev_any_decode(&any, &record,
						       perfev_sampler_layout(sampler, &record), &err));
			counts[record.type]++;
		}
		perfev_sampler_release(sampler);
	}
	return counts[PERF_RECORD_SAMPLE];
}

static void test_each_fault_is_a_sample(void **state)
{
	struct perfev_event *event = sampling_event("minor-faults:u", 1);
	struct perfev_sampler *sampler = open_one(event, perfev_on_self(), 0);
	size_t counts[PERF_RECORD_MAX] = {0};

	(void)state;
	assert_works(perfev_sampler_start(sampler, &err));
	touch_pages(1000);
	assert_works(perfev_sampler_stop(sampler, &err));
	assert_int_equal(drain(sampler, counts), 1000);
	assert_int_equal(counts[PERF_RECORD_LOST], 0);
	perfev_sampler_close(sampler);
	perfev_event_free(event);
}

/* Written = read + lost, at eight sizes of the ring. */
static void test_what_is_lost_is_counted(void **state)
{
	uint64_t bytes;

	(void)state;
	for (bytes = 4096; bytes <= 524288; bytes *= 2) {
		struct perfev_event *event = sampling_event("minor-faults:u", 1);
		struct perfev_sampler *sampler = open_one(event, perfev_on_self(), bytes);
		size_t counts[PERF_RECORD_MAX] = {0};
		struct perfev_loss loss;

		assert_works(perfev_sampler_start(sampler, &err));
		touch_pages(20000);
		assert_works(perfev_sampler_stop(sampler, &err));
		assert_works(perfev_sampler_loss(sampler, &loss, &err));
		if (!loss.exact)
			SKIP("this kernel has no PERF_FORMAT_LOST");
		assert_true(loss.records > 0);
		assert_int_equal(drain(sampler, counts) + loss.records, 20000);
		perfev_sampler_close(sampler);
		perfev_event_free(event);
	}
}

static pid_t start_child(int go[2])
{
	char byte;
	pid_t child;

	assert_int_equal(pipe(go), 0);
	child = fork();
	if (child == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		execl("/bin/sh", "sh", "-c", "true & wait", (char *)NULL);
		_exit(127);
	}
	close(go[0]);
	return child;
}

/* From exec to the end of its own child: names, mappings, fork, exit; then the end of the sampler. */
static void test_a_child_from_exec_to_its_end(void **state)
{
	struct perfev_event *event = sampling_event("page-faults:u", 1);
	struct perf_event_attr *attr = perfev_event_attr(event);
	size_t counts[PERF_RECORD_MAX] = {0};
	struct perfev_sampler *sampler;
	int go[2], status, waits = 0;
	pid_t child = start_child(go);

	(void)state;
	attr->inherit = attr->enable_on_exec = 1;
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	sampler = open_one(event, perfev_on_task(child), 0);
	assert_int_equal(write(go[1], "g", 1), 1);
	close(go[1]);
	while (!perfev_sampler_ended(sampler) && waits++ < 1000) {
		assert_true(perfev_sampler_wait(sampler, 5000, &err) >= 0);
		drain(sampler, counts);
	}
	assert_true(perfev_sampler_ended(sampler));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(counts[PERF_RECORD_COMM] >= 1);
	assert_true(counts[PERF_RECORD_MMAP2] >= 1);
	assert_true(counts[PERF_RECORD_FORK] >= 1);
	assert_true(counts[PERF_RECORD_EXIT] >= 2);
	assert_true(counts[PERF_RECORD_SAMPLE] > 10);
	perfev_sampler_close(sampler);
	perfev_event_free(event);
}

static void test_events_that_share_a_ring_are_told_apart(void **state)
{
	struct perfev_event *events[2] = {sampling_event("minor-faults:u", 1), sampling_event("cpu-clock:u", 1000000)};
	struct perfev_sampler *sampler = NULL;
	struct perfev_record record;
	size_t counts[2] = {0, 0};

	(void)state;
	assert_works(perfev_sampler_open(&sampler, (const struct perfev_event *const *)events, 2, perfev_on_self(), NULL,
					 &err));
	assert_int_equal(perfev_sampler_ring_count(sampler), 1);
	assert_works(perfev_sampler_start(sampler, &err));
	touch_pages(100);
	burn_ms(50);
	assert_works(perfev_sampler_stop(sampler, &err));
	while (perfev_sampler_next(sampler, &record, &err) > 0)
		if (record.type == PERF_RECORD_SAMPLE) {
			int event = perfev_sampler_event(sampler, &record);

			assert_in_range(event, 0, 1);
			counts[event]++;
		}
	perfev_sampler_release(sampler);
	assert_in_range(counts[0], 100, 110);
	assert_true(counts[1] >= 10);
	perfev_sampler_close(sampler);
	perfev_event_free(events[0]);
	perfev_event_free(events[1]);
}

static void test_wait_times_out(void **state)
{
	struct perfev_event *event = sampling_event("dummy:u", 1);
	struct perfev_sampler *sampler = open_one(event, perfev_on_self(), 0);
	struct timespec start, end;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(perfev_sampler_wait(sampler, 30, &err), 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 >= 29);
	assert_false(perfev_sampler_ended(sampler));
	perfev_sampler_close(sampler);
	perfev_event_free(event);
}

static void test_all_cpus(void **state)
{
	struct perfev_event *event = sampling_event("cpu-clock", 1000000);
	struct perfev_sampler *sampler;
	size_t counts[PERF_RECORD_MAX] = {0}, count;
	int32_t *cpus;

	(void)state;
	need(PERFEV_CAN_COUNT_CPU);
	need(PERFEV_CAN_COUNT_KERNEL);
	assert_works(perfev_cpus_online(&cpus, &count, &err));
	free(cpus);
	sampler = open_one(event, perfev_on_all_cpus(), 0);
	assert_int_equal(perfev_sampler_ring_count(sampler), count);
	assert_works(perfev_sampler_start(sampler, &err));
	burn_ms(50);
	assert_works(perfev_sampler_stop(sampler, &err));
	assert_true(drain(sampler, counts) >= 20);
	perfev_sampler_close(sampler);
	perfev_event_free(event);
}

static void test_nothing_is_left_behind(void **state)
{
	size_t before = count_descriptors(), i;

	(void)state;
	for (i = 0; i < 50; i++) {
		struct perfev_event *event = sampling_event("dummy:u", 1);
		struct perfev_event *bad = sampling_event("1234567:1:u", 1);
		struct perfev_sampler *sampler = open_one(event, perfev_on_self(), 4096);

		perfev_sampler_close(sampler);
		assert_true(perfev_sampler_open(&sampler, (const struct perfev_event *const *)&bad, 1,
						perfev_on_self(), NULL, &err) < 0);
		perfev_event_free(event);
		perfev_event_free(bad);
	}
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(count_mappings("perf_event"), 0);
}

/* The last faults of many, as the kernel keeps them. */
static void test_the_last_of_what_happened(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 4096, .overwrite = 1};
	struct perfev_event *event = sampling_event("page-faults:u", 1);
	struct perfev_sampler *sampler = NULL;
	const struct perfev_event *list[1];
	struct perf_event_attr *attr = perfev_event_attr(event);
	struct perfev_record record;
	struct perfev_sample sample;
	uint64_t last = UINT64_MAX;
	int n = 0, bytes = 0;

	(void)state;
	attr->sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	list[0] = event;
	need(PERFEV_CAN_SAMPLE);
	assert_works(perfev_sampler_open(&sampler, list, 1, perfev_on_self(), &opts, &err));
	perfev_event_free(event);
	assert_works(perfev_sampler_start(sampler, &err));
	touch_pages(3000); /* more than a ring of 64 KiB holds */
	assert_works(perfev_sampler_stop(sampler, &err));
	assert_works(perfev_sampler_pause(sampler, &err));
	while (perfev_sampler_next(sampler, &record, &err) > 0) {
		bytes += (int)record.size;
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_works(perfev_sample_decode(&sample, &record, perfev_sampler_layout(sampler, &record), &err));
		assert_true(sample.time <= last);
		last = sample.time;
		n++;
	}
	assert_in_range(n, (int)perfev_sampler_ring_bytes(sampler) / 24 - 3, (int)perfev_sampler_ring_bytes(sampler) / 24);
	assert_in_range(bytes, (int)perfev_sampler_ring_bytes(sampler) - 48, (int)perfev_sampler_ring_bytes(sampler));
	perfev_sampler_close(sampler);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_last_of_what_happened),
	cmocka_unit_test(test_each_fault_is_a_sample),
	cmocka_unit_test(test_what_is_lost_is_counted),
	cmocka_unit_test(test_a_child_from_exec_to_its_end),
	cmocka_unit_test(test_events_that_share_a_ring_are_told_apart),
	cmocka_unit_test(test_wait_times_out),
	cmocka_unit_test(test_all_cpus),
	cmocka_unit_test(test_nothing_is_left_behind),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
