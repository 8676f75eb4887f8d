/* SPDX-License-Identifier: MIT */
/* Feature sections: strings, lists and build-ids in both orders of bytes, cut to every length, with sizes
 * that lie; and what a recording says was lost. */
#include "bytes.h"
#include "test.h"

#include <perfev/reader.h>

#include <errno.h>

static struct perfev_error err;
static struct guard guard;
static struct bytes bytes;

static int setup(void **state)
{
	(void)state;
	memset(&bytes, 0, sizeof(bytes));
	return guard_open(&guard) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

static struct perfev_bytes section(size_t size)
{
	struct perfev_bytes view = {guard_put(&guard, bytes.data, size), size};

	return view;
}

static bool swapped(void)
{
	return bytes.big != host_is_big();
}

static void put_string(const char *text, uint32_t size)
{
	size_t from = bytes.size + 4;

	put_u32(&bytes, size);
	put_text(&bytes, text, size);
	assert_int_equal(bytes.size - from, size);
}

static void test_names(void **state)
{
	unsigned i, k;

	(void)state;
	assert_null(perfev_feature_name(0));
	assert_string_equal(perfev_feature_name(PERFEV_FEATURE_TRACING_DATA), "TRACING_DATA");
	assert_string_equal(perfev_feature_name(PERFEV_FEATURE_EVENT_DESC), "EVENT_DESC");
	assert_string_equal(perfev_feature_name(PERFEV_FEATURE_COMPRESSED), "COMPRESSED");
	assert_string_equal(perfev_feature_name(PERFEV_FEATURE_CLN_SIZE), "CLN_SIZE");
	for (i = 1; i <= PERFEV_FEATURE_CLN_SIZE; i++)
		for (k = 1; k < i; k++)
			assert_string_not_equal(perfev_feature_name(i), perfev_feature_name(k));
	assert_null(perfev_feature_name(PERFEV_FEATURE_CLN_SIZE + 1));
	assert_null(perfev_feature_name(UINT32_MAX));
}

static void test_strings(void **state)
{
	static const uint32_t lies[] = {0, 61, 65, 1000, 0x7fffffff, 0xfffffffc, UINT32_MAX};
	size_t size, i;

	(void)state;
	for (bytes.big = false;; bytes.big = true) {
		bytes.size = 0;
		put_string("a name", 64);
		assert_string_equal(perfev_feature_string(section(68), swapped()), "a name");
		assert_string_equal(perfev_feature_string(section(68 + 1), swapped()), "a name");
		for (size = 0; size < 68; size++)
			assert_null(perfev_feature_string(section(size), swapped()));
		for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			set_number(&bytes, 0, lies[i], 4);
			if (lies[i] == 61) /* less than there is, with the end in it */
				assert_non_null(perfev_feature_string(section(68), swapped()));
			else
				assert_null(perfev_feature_string(section(68), swapped()));
		}
		set_number(&bytes, 0, 6, 4); /* the end is not in it */
		assert_null(perfev_feature_string(section(68), swapped()));
		set_number(&bytes, 0, 7, 4);
		assert_string_equal(perfev_feature_string(section(11), swapped()), "a name");
		if (bytes.big)
			break;
	}
}

static void test_lists(void **state)
{
	static const char *const texts[] = {"/usr/bin/perf", "record", "", "-e"};
	size_t size, position, n;
	struct perfev_bytes none = {NULL, 0};
	const char *text;

	(void)state;
	bytes.big = !host_is_big();
	put_u32(&bytes, 4);
	for (n = 0; n < 4; n++)
		put_string(texts[n], 64);
	for (size = 0; size <= bytes.size; size++) {
		struct perfev_bytes view = section(size);

		position = 0;
		for (n = 0; (text = perfev_feature_strings(view, true, &position)); n++)
			assert_string_equal(text, texts[n]);
		assert_int_equal(n, size < 4 ? 0 : (size - 4) / 68);
	}
	position = 0;
	assert_null(perfev_feature_strings(none, false, &position));
	position = SIZE_MAX;
	assert_null(perfev_feature_strings(section(8), false, &position));
}

/* ---- build-ids ---------------------------------------------------------------------------------------- */

static void put_id(uint16_t misc, const unsigned char *id, uint8_t size, const char *name)
{
	size_t at = begin_record(&bytes, 0, misc);

	put_u32(&bytes, (uint32_t)-1);
	put_bytes(&bytes, id, 20);
	put_u8(&bytes, size);
	put_u8(&bytes, 0);
	put_u16(&bytes, 0);
	put_text(&bytes, name, 64);
	end_record(&bytes, at);
}

static void test_build_ids(void **state)
{
	static const struct {
		uint16_t misc;
		uint8_t size, wanted;
		unsigned char id[20];
	} rows[] = {
		{0x8002, 20, 20, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				  11, 12, 13, 14, 15, 16, 17, 18, 19, 20}},
		{0x8002, 8, 8, {1, 2, 3, 4, 5, 6, 7, 8}},
		{0x8002, 0, 0, {1}},
		{0x8002, 255, 20, {1}},
		{0x0002, 8, 20, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}},
		/* without a size, zeros at the end in words of 4 are none of the id's */
		{0x0001, 0, 16, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 0, 0}},
		{0x0001, 0, 8, {0, 0, 0, 0, 0, 0, 0, 8}},
		{0x0001, 0, 4, {0}},
	};
	struct perfev_build_id got;
	size_t position = 0, i, size;
	char name[16];

	(void)state;
	for (bytes.big = false;; bytes.big = true) {
		bytes.size = position = 0;
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			snprintf(name, sizeof(name), "file %zu", i);
			put_id(rows[i].misc, rows[i].id, rows[i].size, name);
		}
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			assert_int_equal(perfev_feature_build_id(&got, section(bytes.size),
								 swapped(), &position, &err),
					 1);
			snprintf(name, sizeof(name), "file %zu", i);
			assert_string_equal(got.filename, name);
			assert_int_equal(got.misc, rows[i].misc);
			assert_int_equal(got.pid, -1);
			assert_int_equal(got.size, rows[i].wanted);
			assert_memory_equal(got.id, rows[i].id, 20);
		}
		assert_int_equal(perfev_feature_build_id(&got, section(bytes.size), swapped(),
							 &position, &err),
				 0);
		for (size = 0; size < bytes.size; size++) {
			int r;

			for (position = 0, i = 0;; i++) {
				r = perfev_feature_build_id(&got, section(size), swapped(),
							    &position, &err);
				if (r <= 0)
					break;
			}
			assert_int_equal(i, size / 100);
			assert_true(size % 100 < 8 ? r == 0 : r == -EINVAL);
		}
		if (bytes.big)
			break;
	}
}

static void test_hostile_build_ids(void **state)
{
	static const uint16_t sizes[] = {0, 1, 7, 8, 35, 36, 101, 65535};
	static const unsigned char id[20] = {1};
	struct perfev_build_id got;
	size_t position, i;

	(void)state;
	put_id(0x8002, id, 20, "a name of more than sixteen letters");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_number(&bytes, 6, sizes[i], 2);
		position = 0;
		assert_fails(
			perfev_feature_build_id(&got, section(100), swapped(), &position, &err),
			EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
	}
	set_number(&bytes, 6, 50, 2); /* its name does not end in it */
	position = 0;
	assert_fails(perfev_feature_build_id(&got, section(100), swapped(), &position, &err), EINVAL);
	position = SIZE_MAX - 3;
	assert_int_equal(perfev_feature_build_id(&got, section(100), swapped(), &position, &err), 0);
}

/* ---- losses ---------------------------------------------------------------------------------------------- */

/* The event's trailer: TIME, CPU, IDENTIFIER. */
static void put_lost(uint32_t type, uint64_t lost, uint64_t time, uint32_t cpu, uint64_t id)
{
	size_t at = begin_record(&bytes, type, 0);

	if (type == PERF_RECORD_LOST)
		put_u64(&bytes, id);
	put_u64(&bytes, lost);
	put_u64(&bytes, time);
	put_u32(&bytes, cpu);
	put_u32(&bytes, 0);
	put_u64(&bytes, id);
	end_record(&bytes, at);
}

/* Of the record that was put last: 40 bytes. */
static void patch_misc(uint16_t misc)
{
	unsigned char *at = bytes.data + bytes.size - 40 + 4;

	at[0] = (unsigned char)(bytes.big ? misc >> 8 : misc);
	at[1] = (unsigned char)(bytes.big ? misc : misc >> 8);
}

static void begin_stream(void)
{
	size_t at;

	bytes.size = 0;
	put_u64(&bytes, 0x32454c4946524550);
	put_u64(&bytes, 16);
	at = begin_record(&bytes, PERFEV_RECORD_HEADER_ATTR, 0);
	put_u32(&bytes, 0);
	put_u32(&bytes, 64);
	put_u64(&bytes, 0);
	put_u64(&bytes, 0);
	put_u64(&bytes, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
	put_u64(&bytes, 0);
	put_u64(&bytes, bytes.big ? UINT64_C(1) << (63 - 18) : 1 << 18); /* sample_id_all */
	put_u64(&bytes, 0);
	put_u64(&bytes, 0);
	put_u64(&bytes, 50);
	put_u64(&bytes, 51);
	put_u64(&bytes, 52);
	end_record(&bytes, at);
}

static struct perfev_loss read_loss(void)
{
	struct perfev_bytes view = {bytes.data, bytes.size};
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_loss loss;

	assert_works(perfev_reader_open_memory(&reader, view, "it", NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0)
		;
	assert_null(perfev_reader_damage(reader));
	memset(&loss, 0xa5, sizeof(loss));
	perfev_reader_loss(reader, &loss);
	perfev_reader_close(reader);
	return loss;
}

static void test_losses(void **state)
{
	struct perfev_loss loss;
	size_t at;

	(void)state;
	for (bytes.big = false;; bytes.big = true) {
		begin_stream();
		loss = read_loss();
		assert_true(!loss.records && !loss.said && !loss.counted && !loss.samples &&
			    !loss.exact);
		put_lost(PERF_RECORD_LOST, 5, 100, 2, 50);
		put_lost(PERF_RECORD_LOST, 6, 101, 3, 50); /* of another CPU: another ring */
		put_lost(PERF_RECORD_LOST_SAMPLES, 9, 102, 3, 50); /* by the hardware */
		loss = read_loss();
		assert_int_equal(loss.records, 11);
		assert_int_equal(loss.samples, 9);
		assert_false(loss.exact);
		/* what a BPF program filtered is no loss */
		put_lost(PERF_RECORD_LOST_SAMPLES, 400, 0, 2, 50);
		patch_misc(PERFEV_MISC_LOST_BY_BPF);
		loss = read_loss();
		assert_int_equal(loss.filtered, 400);
		assert_int_equal(loss.records, 11);
		assert_false(loss.exact);
		/* counts, which recorders put at the end, without a time */
		put_lost(PERF_RECORD_LOST_SAMPLES, 8, 0, 2, 50);
		put_lost(PERF_RECORD_LOST_SAMPLES, 1, 0, 3, 51);
		loss = read_loss();
		assert_true(loss.exact);
		assert_int_equal(loss.said, 11);
		assert_int_equal(loss.counted, 9);
		assert_int_equal(loss.records, 8 + 6);
		assert_int_equal(loss.samples, 9);
		/* an index tells which ring an id is of */
		begin_stream();
		at = begin_record(&bytes, PERFEV_RECORD_ID_INDEX, 0);
		put_u64(&bytes, 99); /* more than there are */
		put_u64(&bytes, 50);
		put_u64(&bytes, 7);
		put_u64(&bytes, 0);
		put_u64(&bytes, 0);
		put_u64(&bytes, 51);
		put_u64(&bytes, 7);
		put_u64(&bytes, 0);
		put_u64(&bytes, 0);
		end_record(&bytes, at);
		put_lost(PERF_RECORD_LOST, 5, 100, 2, 50);
		put_lost(PERF_RECORD_LOST_SAMPLES, 3, 0, 4, 51);
		put_lost(PERF_RECORD_LOST_SAMPLES, 4, 0, 5, 50);
		loss = read_loss();
		assert_int_equal(loss.records, 7);
		if (bytes.big)
			break;
	}
}

/* An event without ids and CPUs in its records: nothing tells which ring a count is of, so that only the
 * sums are compared. */
static void test_losses_somewhere(void **state)
{
	struct perfev_loss loss;
	size_t at;
	int i;

	(void)state;
	bytes.big = host_is_big();
	begin_stream();
	set_number(&bytes, 16 + 8 + 24, PERF_SAMPLE_TIME, 8);
	for (i = 0; i < 4; i++) { /* two of each kind */
		at = begin_record(&bytes, i % 2 ? PERF_RECORD_LOST : PERF_RECORD_LOST_SAMPLES, 0);
		if (i % 2)
			put_u64(&bytes, 50);
		put_u64(&bytes, i < 2 ? 10 : 3);
		put_u64(&bytes, i % 2 ? 100 : 0); /* counts are put in without a time */
		end_record(&bytes, at);
	}
	loss = read_loss();
	assert_int_equal(loss.said, 13);
	assert_int_equal(loss.counted, 13);
	assert_int_equal(loss.records, 13);
	assert_true(loss.exact);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_names, setup, teardown),
	cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
	cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
	cmocka_unit_test_setup_teardown(test_build_ids, setup, teardown),
	cmocka_unit_test_setup_teardown(test_hostile_build_ids, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses_somewhere, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
