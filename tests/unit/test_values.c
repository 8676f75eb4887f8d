/* SPDX-License-Identifier: MIT */
/* Counts as read(2) gives them: every read_format, both byte orders, every length; and what is made of readings. */
#include "test.h"

#include "base/load.h"

static struct perfev_error err;

#define FORMATS 32 /* five bits */
#define MEMBERS 3

/* The answer of a kernel: words, each with a number of its own that says what it is. */
static size_t make(uint64_t *words, uint64_t format, uint64_t members)
{
	size_t n = 0;
	uint64_t i;

	words[n++] = format & PERF_FORMAT_GROUP ? members : 1000;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = 51;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = 41;
	for (i = 0; i < (format & PERF_FORMAT_GROUP ? members : 1); i++) {
		if (format & PERF_FORMAT_GROUP)
			words[n++] = 1000 + i;
		if (format & PERF_FORMAT_ID)
			words[n++] = 2000 + i;
		if (format & PERF_FORMAT_LOST)
			words[n++] = 3000 + i;
	}
	return n;
}

static void check(const struct perfev_values *values, uint64_t format)
{
	const uint64_t none = UINT64_C(0xa5a5a5a5a5a5a5a5);
	uint32_t members = format & PERF_FORMAT_GROUP ? MEMBERS : 1, i;
	struct perfev_value value;

	assert_int_equal(values->present, format);
	assert_true(values->enabled_ns == (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 51 : none));
	assert_true(values->running_ns == (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 41 : none));
	assert_int_equal(values->count, 1000);
	assert_int_equal(values->members, members);
	for (i = 0; i < members; i++) {
		assert_true(perfev_values_at(values, i, &value));
		assert_int_equal(value.count, 1000 + i);
		assert_int_equal(value.id, format & PERF_FORMAT_ID ? 2000 + i : 0);
		assert_int_equal(value.lost, format & PERF_FORMAT_LOST ? 3000 + i : 0);
	}
	assert_false(perfev_values_at(values, members, &value));
}

static void test_every_format(void **state)
{
	uint64_t words[16], format;
	size_t n, i;
	int swapped;

	(void)state;
	for (format = 0; format < FORMATS; format++)
		for (swapped = 0; swapped < 2; swapped++) {
			struct perfev_bytes bytes = {words, 0};
			struct perfev_values values;

			n = make(words, format, MEMBERS);
			for (i = 0; swapped && i < n; i++)
				words[i] = swap_u64(words[i]);
			memset(&values, 0xa5, sizeof(values));
			bytes.size = n * 8 + 8; /* what follows is another's */
			assert_int_equal(perfev_values_decode(&values, bytes, format, swapped, &err), n * 8);
			check(&values, format);
			for (bytes.size = 0; bytes.size < n * 8; bytes.size++) {
				assert_fails(perfev_values_decode(&values, bytes, format, swapped, &err), EINVAL);
				assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
				assert_int_equal(err.where, bytes.size);
			}
		}
}

/* Numbers of members that there cannot be. */
static void test_lies(void **state)
{
	static const uint64_t lies[] = {MEMBERS + 1, 1 << 20, UINT64_C(1) << 61, UINT64_C(1) << 62, UINT64_MAX};
	uint64_t words[16], format;
	struct perfev_values values;
	size_t i, n;

	(void)state;
	for (format = 0; format < FORMATS; format++)
		for (i = 0; (format & PERF_FORMAT_GROUP) && i < sizeof(lies) / sizeof(lies[0]); i++) {
			struct perfev_bytes bytes = {words, 0};

			n = make(words, format, MEMBERS);
			bytes.size = n * 8;
			words[0] = lies[i];
			assert_fails(perfev_values_decode(&values, bytes, format, false, NULL), EINVAL);
		}
}

static void test_an_empty_group(void **state)
{
	uint64_t words[1] = {0};
	struct perfev_bytes bytes = {words, 8};
	struct perfev_values values;
	struct perfev_value value;

	(void)state;
	assert_int_equal(perfev_values_decode(&values, bytes, PERF_FORMAT_GROUP, false, &err), 8);
	assert_int_equal(values.members, 0);
	assert_false(perfev_values_at(&values, 0, &value));
}

/* Each bit is a word more: where, only a later library knows. */
static void test_bits_of_later_kernels(void **state)
{
	uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct perfev_bytes bytes = {words, sizeof(words)};
	struct perfev_values values;

	(void)state;
	assert_fails(perfev_values_decode(&values, bytes, PERF_FORMAT_MAX, false, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_UNSUPPORTED);
	assert_fails(perfev_values_decode(&values, bytes, UINT64_C(1) << 63, false, NULL), EINVAL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_every_format),
	cmocka_unit_test(test_lies),
	cmocka_unit_test(test_an_empty_group),
	cmocka_unit_test(test_bits_of_later_kernels),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
