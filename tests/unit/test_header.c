/* SPDX-License-Identifier: MIT */
/* Headers of records: what is taken as one and what is not; and the names of record types. */
#include "bytes.h"
#include "test.h"

#include <perfev/reader.h>

#include <errno.h>

static struct perfev_error err;

static int look(struct perfev_record *ret, struct bytes *bytes, uint32_t type, uint16_t misc,
		uint16_t size, size_t there)
{
	unsigned flags = bytes->big == host_is_big() ? 0 : PERFEV_RECORD_SWAPPED;
	unsigned char *exact = malloc(there ? there : 1);
	struct perfev_bytes view = {exact, there};
	int r;

	assert_non_null(exact);
	memset(bytes->data, 0, 64);
	bytes->size = 0;
	put_u32(bytes, type);
	put_u16(bytes, misc);
	put_u16(bytes, size);
	memcpy(exact, bytes->data, there);
	memset(ret, 0xa5, sizeof(*ret));
	r = perfev_record_from_bytes(ret, view, flags, &err);
	if (r == 0) {
		assert_ptr_equal(ret->data, exact);
		assert_int_equal(ret->flags, flags);
		assert_int_equal(ret->source, 0);
		assert_null(ret->tail.data);
		assert_int_equal(ret->tail.size, 0);
		assert_true(ret->offset == 0);
	}
	free(exact);
	return r;
}

static void test_record_from_bytes(void **state)
{
	struct bytes *bytes = calloc(1, sizeof(*bytes));
	struct perfev_record record;
	uint16_t size;
	size_t there;

	(void)state;
	assert_non_null(bytes);
	for (bytes->big = false;; bytes->big = true) {
		for (there = 0; there < 8; there++) {
			assert_fails(look(&record, bytes, 1, 2, 8, there), EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		}
		for (size = 0; size < 8; size++) {
			assert_fails(look(&record, bytes, 1, 2, size, 32), EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
		}
		for (size = 8; size <= 32; size++) {
			assert_works(look(&record, bytes, 9, 0x4002, size, 32));
			assert_int_equal(record.type, 9);
			assert_int_equal(record.misc, 0x4002);
			assert_int_equal(record.size, size);
		}
		assert_fails(look(&record, bytes, 9, 2, 33, 32), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		assert_fails(look(&record, bytes, 9, 2, 65535, 32), EINVAL);
		if (bytes->big)
			break;
	}
	free(bytes);
}

/* simpleperf: the upper half of a size of 32 bits is where others have misc. */
static void test_wide_records(void **state)
{
	struct bytes *bytes = calloc(1, sizeof(*bytes));
	struct perfev_bytes view = {NULL, 0x20000};
	struct perfev_record record;

	(void)state;
	assert_non_null(bytes);
	for (bytes->big = false;; bytes->big = true) {
		assert_works(look(&record, bytes, 32769, 0, 16, 64));
		assert_int_equal(record.size, 16);
		assert_int_equal(record.misc, 0);
		assert_fails(look(&record, bytes, 32769, 1, 0, 64), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		assert_fails(look(&record, bytes, 32768, 0, 7, 64), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
		assert_fails(look(&record, bytes, UINT32_MAX, 0xffff, 0xffff, 64), EINVAL);
		assert_works(look(&record, bytes, 32767, 1, 16, 64)); /* the last that has misc */
		assert_int_equal(record.misc, 1);
		if (bytes->big)
			break;
	}
	bytes->big = host_is_big();
	bytes->size = 0;
	put_u32(bytes, 32770);
	put_u16(bytes, 1);
	put_u16(bytes, 0x1234);
	view.data = calloc(1, view.size);
	assert_non_null(view.data);
	memcpy((void *)(uintptr_t)view.data, bytes->data, 8);
	assert_works(perfev_record_from_bytes(&record, view, 0, &err));
	assert_int_equal(record.size, 0x11234);
	free((void *)(uintptr_t)view.data);
	free(bytes);
}

static void test_names(void **state)
{
	static const struct {
		uint32_t type;
		const char *name;
	} some[] = {
		{PERF_RECORD_MMAP, "MMAP"},
		{PERF_RECORD_SAMPLE, "SAMPLE"},
		{PERF_RECORD_CALLCHAIN_DEFERRED, "CALLCHAIN_DEFERRED"},
		{PERFEV_RECORD_HEADER_ATTR, "HEADER_ATTR"},
		{PERFEV_RECORD_HEADER_EVENT_TYPE, "HEADER_EVENT_TYPE"},
		{PERFEV_RECORD_FINISHED_ROUND, "FINISHED_ROUND"},
		{PERFEV_RECORD_AUXTRACE, "AUXTRACE"},
		{PERFEV_RECORD_HEADER_FEATURE, "HEADER_FEATURE"},
		{PERFEV_RECORD_COMPRESSED, "COMPRESSED"},
		{PERFEV_RECORD_COMPRESSED2, "COMPRESSED2"},
		{PERFEV_RECORD_BPF_METADATA, "BPF_METADATA"},
		{32769, "SIMPLEPERF_KERNEL_SYMBOL"},
		{32778, "SIMPLEPERF_DEBUG"},
	};
	uint32_t type;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		assert_string_equal(perfev_record_name(some[i].type), some[i].name);
	for (type = 1; type < PERF_RECORD_MAX; type++)
		assert_non_null(perfev_record_name(type));
	for (type = PERFEV_RECORD_USER_FIRST; type <= PERFEV_RECORD_BPF_METADATA; type++)
		assert_non_null(perfev_record_name(type));
	assert_null(perfev_record_name(0));
	for (type = PERF_RECORD_MAX; type < PERFEV_RECORD_USER_FIRST; type++)
		assert_null(perfev_record_name(type));
	for (type = PERFEV_RECORD_BPF_METADATA + 1; type < 100; type++)
		assert_null(perfev_record_name(type)); /* numbers in what the command prints */
	assert_null(perfev_record_name(32768));
	assert_null(perfev_record_name(32779));
	assert_null(perfev_record_name(UINT32_MAX));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_record_from_bytes),
	cmocka_unit_test(test_wide_records),
	cmocka_unit_test(test_names),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
