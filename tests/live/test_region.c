/* SPDX-License-Identifier: MIT */
/* Regions on this kernel: counts that are known, in threads that know nothing of each other. */
#include "live.h"

#include <perfev/region.h>

#include <pthread.h>

static struct perfev_error err;

static struct perfev_regions *open_them(const char *text)
{
	struct perfev_regions_opts opts = {.size = sizeof(opts), .events = text};
	struct perfev_regions *regions = NULL;

	need(PERFEV_CAN_OPEN);
	assert_works(perfev_regions_open(&regions, &opts, &err));
	return regions;
}

static uint64_t count(const struct perfev_regions *regions, const char *name, size_t event)
{
	struct perfev_region_value value;

	assert_true(perfev_region_value_at(regions, (size_t)perfev_region_find(regions, name), event, &value));
	assert_int_equal(value.status, PERFEV_COUNTED);
	return value.count;
}

/* Pages of one region are not those of the one around it, and both are exact. */
static void test_faults(void **state)
{
	struct perfev_regions *regions = open_them("minor-faults:u,task-clock:u");
	int i;

	(void)state;
	touch_pages(10); /* code that runs for the first time */
	for (i = 0; i < 3; i++) {
		perfev_region_begin(regions, "outer");
		touch_pages(1000);
		perfev_region_begin(regions, "inner");
		touch_pages(500);
		perfev_region_end_n(regions, 500);
		perfev_region_end(regions);
	}
	assert_in_range(count(regions, "inner", 0), 1500, 1503);
	assert_in_range(count(regions, "outer", 0), 4500, 4506);
	assert_true(count(regions, "outer", 1) > count(regions, "inner", 1));
	perfev_regions_close(regions);
}

/* An empty region costs nothing, on average of many: its price is known. */
static void test_nothing_costs_little(void **state)
{
	struct perfev_regions *regions = open_them("task-clock");
	struct perfev_region_value value;
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		perfev_region_begin(regions, "nothing");
		perfev_region_end(regions);
	}
	assert_true(perfev_region_value_at(regions, 0, 0, &value));
	assert_true(value.overhead >= 1000); /* some ns each */
	assert_true(value.count < 20 * value.overhead);
	perfev_regions_close(regions);
}

static struct perfev_regions *sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *pages)
{
	struct perfev_regions *regions = open_them("minor-faults:u");

	perfev_region_begin(regions, "touch");
	touch_pages(*(size_t *)pages);
	perfev_region_end(regions);
	pthread_mutex_lock(&lock);
	assert_works(perfev_regions_add(sum, regions, &err));
	pthread_mutex_unlock(&lock);
	perfev_regions_close(regions);
	return NULL;
}

static void test_threads(void **state)
{
	size_t pages[4] = {100, 200, 300, 400}, i;
	pthread_t threads[4];
	struct perfev_region_info info;

	(void)state;
	sum = open_them("minor-faults:u");
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread, &pages[i]), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_true(perfev_region_at(sum, 0, &info));
	assert_int_equal(info.entries, 4);
	assert_in_range(count(sum, "touch", 0), 1000, 1020);
	perfev_regions_close(sum);
}

static void test_nothing_is_left_behind(void **state)
{
	size_t descriptors = count_descriptors();
	struct perfev_regions *regions;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		regions = open_them("minor-faults:u,task-clock:u,context-switches:u");
		perfev_region_begin(regions, "a");
		perfev_regions_close(regions); /* though one has not ended */
	}
	assert_int_equal(count_descriptors(), descriptors);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_faults),
	cmocka_unit_test(test_nothing_costs_little),
	cmocka_unit_test(test_threads),
	cmocka_unit_test(test_nothing_is_left_behind),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
