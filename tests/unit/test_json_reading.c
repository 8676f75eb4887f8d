/* SPDX-License-Identifier: MIT */
/* JSON of readings: with every status, every reason, and the extremes of numbers. */
#include "bytes.h"
#include "test.h"

static struct perfev_error err;
static uint64_t seed = 98;

static void check_reading(const struct perfev_reading *reading, const char *json)
{
	struct perfev_reading again;
	char text[512];
	int n = perfev_reading_to_json(text, sizeof(text), reading, &err);

	assert_int_equal(strlen(text), n);
	assert_int_equal(perfev_reading_to_json(NULL, 0, reading, &err), n);
	if (json)
		assert_string_equal(text, json);
	assert_works(perfev_reading_from_json(&again, text, &err));
	assert_true(again.count == reading->count && again.enabled_ns == reading->enabled_ns &&
		    again.running_ns == reading->running_ns && again.lost == reading->lost && again.id == reading->id &&
		    again.status == reading->status && again.why == reading->why);
}

static void test_readings(void **state)
{
	static const uint64_t edges[] = {0, 1, UINT64_C(9007199254740991), UINT64_C(9007199254740992), UINT64_MAX};
	struct perfev_reading reading = {.count = UINT64_MAX, .enabled_ns = 5, .id = 7};
	unsigned i, status, why;

	(void)state;
	check_reading(&reading, "{\"count\":\"18446744073709551615\",\"enabled_ns\":5,\"running_ns\":0,\"lost\":0,\"id\":7,"
				"\"status\":\"counted\",\"why\":\"none\"}");
	reading.status = PERFEV_NOT_COUNTED;
	reading.why = 1000000;
	check_reading(&reading, "{\"count\":\"18446744073709551615\",\"enabled_ns\":5,\"running_ns\":0,\"lost\":0,\"id\":7,"
				"\"status\":\"not-counted\",\"why\":1000000}");
	for (status = 0; status <= PERFEV_NOT_SUPPORTED + 1; status++)
		for (why = 0; why <= PERFEV_WHY_COUNT_; why++) {
			reading.status = (enum perfev_status)status;
			reading.why = why;
			check_reading(&reading, NULL);
		}
	for (i = 0; i < 3125; i++) {
		reading.count = edges[i % 5];
		reading.enabled_ns = edges[i / 5 % 5];
		reading.running_ns = edges[i / 25 % 5];
		reading.lost = edges[i / 125 % 5];
		reading.id = edges[i / 625];
		check_reading(&reading, NULL);
		reading.count = next_random(&seed);
		reading.enabled_ns = next_random(&seed);
		check_reading(&reading, NULL);
	}
}

static void test_reading_mistakes(void **state)
{
	struct perfev_reading reading = {.count = 4}, before = reading;

	(void)state;
	assert_works(perfev_reading_from_json(&reading, " { \"why\":29, \"status\":\"2\",\"id\":\"0x7\",\"lost\":0,\"running_ns\":1,"
		"\"enabled_ns\":\"2\",\"count\":3}", &err));
	assert_int_equal(reading.status, PERFEV_ERROR_STATE);
	assert_int_equal(reading.id, 7);
	reading = before;
	assert_fails(perfev_reading_from_json(&reading, "{\"count\":1}", &err), EINVAL);
	assert_says("'enabled_ns' is missing");
	assert_fails(perfev_reading_from_json(&reading, "{\"count\":1,\"enabled_ns\":5,\"running_ns\":0,\"lost\":0,\"id\":7,"
		"\"status\":\"fine\",\"why\":\"none\"}", &err), EINVAL);
	assert_says("no such word");
	assert_int_equal(err.where, 66);
	assert_memory_equal(&reading, &before, sizeof(reading));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_readings),
	cmocka_unit_test(test_reading_mistakes),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
