/* SPDX-License-Identifier: MIT */
/* Damaged recordings: cut to every length, with sizes, offsets and counts that lie, and with any byte
 * changed. A reader refuses with the place, or, when it may be partial, gives what is in front of it. */
#include "recording.h"
#include "test.h"

#include <errno.h>

static struct perfev_error err;
static struct guard guard;
static uint64_t seed = UINT64_C(0x5851f42d4c957f2d);

static int setup(void **state)
{
	*state = malloc(sizeof(struct recording));
	return *state && guard_open(&guard) ? 0 : -1;
}

static int teardown(void **state)
{
	guard_close(&guard);
	free(*state);
	return 0;
}

static int open_bytes(struct perfev_reader **ret, const void *data, size_t size, bool partial)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = partial};
	struct perfev_bytes bytes = {guard_put(&guard, data, size), size};

	memset(&err, 0, sizeof(err));
	*ret = NULL;
	return perfev_reader_open_memory(ret, bytes, "it", &opts, &err);
}

/* Everything that can be asked of a reader. Returns how many records there were, or a negative errno. */
static int walk(struct perfev_reader *reader)
{
	struct perfev_reader_event_info info;
	struct perfev_build_id id;
	struct perfev_record record;
	struct perfev_bytes section;
	struct perfev_loss loss;
	struct perfev_any any;
	int n = 0, r;
	unsigned i;

	while ((r = perfev_reader_next(reader, &record, &err)) > 0) {
		volatile const unsigned char *data = record.data;

		(void)data[0];
		(void)data[record.size - 1];
		if (record.tail.size) {
			data = record.tail.data;
			(void)data[record.tail.size - 1];
		}
		perfev_any_decode(&any, &record, perfev_reader_layout(reader, &record), NULL);
		perfev_reader_release(reader);
		n++;
	}
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++) {
		size_t position = 0;

		if (!perfev_reader_feature(reader, i, &section))
			continue;
		perfev_feature_string(section, true);
		while (perfev_feature_strings(section, false, &position))
			;
		position = 0;
		while (perfev_feature_build_id(&id, section, false, &position, NULL) > 0)
			;
	}
	for (i = 0; perfev_reader_event_at(reader, i, &info); i++)
		assert_in_range(info.attr->size, 64, sizeof(*info.attr));
	perfev_reader_loss(reader, &loss);
	return r < 0 ? r : n;
}

/* Records that are whole in the first @size bytes. */
static int whole_records(const struct recording *r, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < r->record_count; i++) {
		size_t end = i + 1 < r->record_count ? r->record_at[i + 1] : r->data_end;

		n += end <= size;
	}
	return (int)n;
}

/* ---- cut ------------------------------------------------------------------------------------------- */

static void check_cut_file(const struct recording *r, size_t size)
{
	struct perfev_reader *reader;
	int got = open_bytes(&reader, r->bytes.data, size, false);

	assert_int_equal(got, -EINVAL); /* a whole file has its sections behind the records */
	assert_null(reader);
	assert_true(err.why == PERFEV_WHY_FORMAT || err.why == PERFEV_WHY_TRUNCATED ||
		    err.why == PERFEV_WHY_CORRUPT);
	if (size >= r->data_at) {
		assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		assert_true(err.where >= size || size > r->data_end);
		if (size < r->data_end)
			assert_says("bytes of records");
		assert_says("--partial");
	}
	got = open_bytes(&reader, r->bytes.data, size, true);
	if (size < r->data_at) {
		assert_true(got == -EINVAL || walk(reader) == 0);
	} else {
		assert_int_equal(got, 0);
		assert_int_equal(walk(reader), whole_records(r, size));
		assert_non_null(perfev_reader_damage(reader));
		assert_int_equal(perfev_reader_event_count(reader), r->event_count);
	}
	perfev_reader_close(reader);
}

static void test_cut_files(void **state)
{
	struct recording *r = *state;
	size_t size;
	int big;

	for (big = 0; big < 2; big++) {
		recording_init(r, 2);
		recording_make(r, big);
		for (size = 0; size < r->bytes.size; size++)
			check_cut_file(r, size);
	}
}

/* The recorder was killed: the records go on to the end of the file, wherever that is. */
static void test_killed_recorders(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	size_t size, i;

	recording_init(r, 2);
	r->cut = true;
	recording_make(r, host_is_big());
	for (size = r->data_at; size <= r->bytes.size; size++) {
		bool border = size == r->data_at || size == r->data_end;

		for (i = 0; i < r->record_count; i++)
			border |= r->record_at[i] == size;
		assert_int_equal(open_bytes(&reader, r->bytes.data, size, false), 0);
		if (border) {
			assert_int_equal(walk(reader), whole_records(r, size));
		} else {
			assert_int_equal(walk(reader), -EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
			assert_int_equal(err.where, r->record_at[whole_records(r, size)]);
			memset(&err, 0, sizeof(err)); /* and again when it is asked again */
			assert_int_equal(walk(reader), -EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		}
		perfev_reader_close(reader);
		assert_int_equal(open_bytes(&reader, r->bytes.data, size, true), 0);
		assert_int_equal(walk(reader), whole_records(r, size));
		assert_int_equal(!!perfev_reader_damage(reader), !border);
		perfev_reader_close(reader);
	}
}

static void test_cut_streams(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	size_t size;

	recording_init(r, 2);
	r->stream = true;
	recording_make(r, !host_is_big());
	for (size = 16; size <= r->bytes.size; size++) {
		int got;

		assert_int_equal(open_bytes(&reader, r->bytes.data, size, false), 0);
		got = walk(reader);
		assert_true(got == -EINVAL || got == whole_records(r, size));
		if (got < 0)
			assert_int_equal(err.where, r->record_at[whole_records(r, size)]);
		perfev_reader_close(reader);
		assert_int_equal(open_bytes(&reader, r->bytes.data, size, true), 0);
		assert_int_equal(walk(reader), whole_records(r, size));
		perfev_reader_close(reader);
	}
}

/* ---- sizes that lie --------------------------------------------------------------------------------------- */

static void test_record_sizes(void **state)
{
	static const uint16_t sizes[] = {0, 1, 7};
	struct recording *r = *state;
	struct perfev_reader *reader;
	size_t i;

	recording_init(r, 2);
	recording_make(r, host_is_big());
	for (i = 0; i < 3; i++) {
		set_number(&r->bytes, r->record_at[3] + 6, sizes[i], 2);
		assert_int_equal(open_bytes(&reader, r->bytes.data, r->bytes.size, false), 0);
		assert_int_equal(walk(reader), -EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
		assert_int_equal(err.where, r->record_at[3]);
		assert_says("less than its header");
		perfev_reader_close(reader);
		assert_int_equal(open_bytes(&reader, r->bytes.data, r->bytes.size, true), 0);
		assert_int_equal(walk(reader), 4); /* the header is the last, and said to be broken */
		assert_int_equal(perfev_reader_damage(reader)->where, r->record_at[3]);
		perfev_reader_close(reader);
	}
	set_number(&r->bytes, r->record_at[3] + 6, 65528, 2); /* behind the records, though not the file */
	assert_int_equal(open_bytes(&reader, r->bytes.data, r->bytes.size, false), 0);
	assert_int_equal(walk(reader), -EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
	perfev_reader_close(reader);
}

/* What follows an AUXTRACE record is as long as it says, up to 2^64. */
static void test_tails(void **state)
{
	static const uint64_t sizes[] = {1000000,    UINT64_C(1) << 32, UINT64_C(1) << 63,
					 UINT64_MAX, UINT64_MAX - 47,   UINT64_MAX - 48};
	struct recording *r = *state;
	struct perfev_reader *reader;
	size_t i, at;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) * 2; i++) {
		recording_init(r, 1);
		r->stream = i & 1;
		recording_make(r, host_is_big());
		at = r->record_at[r->record_count - 2];
		set_number(&r->bytes, at + 8, sizes[i / 2], 8);
		assert_int_equal(open_bytes(&reader, r->bytes.data, r->bytes.size, false), 0);
		assert_int_equal(walk(reader), -EINVAL);
		assert_int_equal(err.where, at);
		assert_says("what follows the record");
		perfev_reader_close(reader);
	}
}

/* ---- headers that lie ------------------------------------------------------------------------------------------- */

/* A number of the header; the file is refused or read, and partial readers see no more than there is. */
static void check_header(struct recording *r, size_t at, uint64_t value)
{
	struct perfev_reader *reader;
	int got;

	recording_make(r, r->bytes.big);
	set_number(&r->bytes, at, value, 8);
	got = open_bytes(&reader, r->bytes.data, r->bytes.size, false);
	if (got == 0)
		walk(reader);
	else
		assert_int_equal(got, -EINVAL);
	perfev_reader_close(reader);
	if (open_bytes(&reader, r->bytes.data, r->bytes.size, true) == 0)
		walk(reader);
	perfev_reader_close(reader);
}

static void test_headers(void **state)
{
	static const uint64_t values[] = {0,
					  1,
					  8,
					  15,
					  16,
					  17,
					  63,
					  64,
					  71,
					  72,
					  79,
					  80,
					  96,
					  103,
					  104,
					  105,
					  128,
					  143,
					  144,
					  152,
					  160,
					  168,
					  1000,
					  2000,
					  4000,
					  0xffff,
					  0x7fffffff,
					  0xffffffff,
					  UINT64_C(1) << 32,
					  UINT64_C(1) << 62,
					  UINT64_C(1) << 63,
					  UINT64_MAX - 104,
					  UINT64_MAX - 15,
					  UINT64_MAX};
	struct recording *r = *state;
	size_t field, i;

	recording_init(r, 3);
	for (field = 0; field < 13; field++) /* up to the end of the bitmap */
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			check_header(r, field * 8, values[i]);
	recording_make(r, false);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		check_header(r, r->data_at - 16, values[i]); /* the ids of the last event */
		check_header(r, r->data_at - 8, values[i]);
		check_header(r, r->attrs_at, values[i]); /* type and size of the first attr */
	}
}

static void test_ids_outside(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;

	recording_init(r, 2);
	recording_make(r, host_is_big());
	set_number(&r->bytes, r->data_at - 16, r->bytes.size + 8, 8);
	assert_int_equal(open_bytes(&reader, r->bytes.data, r->bytes.size, false), -EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
	assert_says("the ids of its event 1 are outside");
	assert_int_equal(open_bytes(&reader, r->bytes.data, r->bytes.size, true), 0);
	assert_int_equal(walk(reader), (int)r->record_count);
	perfev_reader_close(reader);
}

/* Many events whose ids are the same large piece of the file: that is more ids than there can be. */
static void test_ids_that_are_shared(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	size_t i;

	recording_init(r, 5);
	recording_make(r, host_is_big());
	for (i = 0; i < 5; i++) {
		size_t at = r->attrs_at + (i + 1) * (sizeof(struct perf_event_attr) + 16) - 16;

		set_number(&r->bytes, at, 0, 8);
		set_number(&r->bytes, at + 8, r->bytes.size & ~(size_t)7, 8);
	}
	assert_int_equal(open_bytes(&reader, r->bytes.data, r->bytes.size, false), -EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
	assert_says("ids");
}

/* ---- EVENT_DESC -------------------------------------------------------------------------------------------------- */

static void check_names(struct recording *r, size_t at, uint64_t value)
{
	struct perfev_reader_event_info info;
	struct perfev_reader *reader;
	size_t i;

	recording_make(r, host_is_big());
	set_number(&r->bytes, at, value, 4);
	if (open_bytes(&reader, r->bytes.data, r->bytes.size, false) < 0)
		return;
	for (i = 0; perfev_reader_event_at(reader, i, &info); i++)
		assert_non_null(info.name);
	assert_in_range(i, 3, 40);
	walk(reader);
	perfev_reader_close(reader);
}

static void test_hostile_names(void **state)
{
	static const uint64_t values[] = {0,          1,          2,          4,         60,  63,
					  64,         65,         100,        144,       152, 1000,
					  0x7fffffff, 0xfffffff0, 0xfffffffc, 0xffffffff};
	struct recording *r = *state;
	size_t names, i, at;

	recording_init(r, 3);
	recording_make(r, host_is_big());
	/* the sections are HOSTNAME, ARCH, EVENT_DESC: the last 8 of the table is the size of that */
	names = r->data_end + 3 * 16 + 2 * 68;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (at = 0; at < 8 + 3 * 144; at += 4)
			check_names(r, names + at, values[i]);
	for (i = 0; i < 200; i++) { /* attrs that end just before the file does */
		check_names(r, names + 4, r->bytes.size - names - 8 - i);
		check_names(r, names + 8 + 144, r->bytes.size - names - 8 - 144 - 8 - i);
	}
}

/* ---- anything ------------------------------------------------------------------------------------------------------ */

static void test_any_byte(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	size_t at;
	int form, k;

	for (form = 0; form < 4; form++) {
		recording_init(r, 2);
		r->stream = form & 2;
		recording_make(r, form & 1);
		for (at = 0; at < r->bytes.size; at++)
			for (k = 0; k < 3; k++) {
				unsigned char old = r->bytes.data[at];

				r->bytes.data[at] =
					(unsigned char)(k == 0 ? 0xff
							: k == 1
								? old ^ 1 << at % 8
								: (int)(next_random(&seed) & 0xff));
				if (open_bytes(&reader, r->bytes.data, r->bytes.size, k & 1) == 0)
					walk(reader);
				perfev_reader_close(reader);
				r->bytes.data[at] = old;
			}
	}
}

/* Time that does not grow with the square of what is in a file: rings, ids and events of all numbers. */
static void test_many_of_everything(void **state)
{
	struct perfev_bytes bytes = {NULL, 0};
	struct bytes *part = calloc(1, sizeof(*part));
	struct perfev_reader *reader;
	struct perfev_loss loss;
	unsigned char *data;
	uint64_t i;

	(void)state;
	assert_non_null(part);
	data = malloc(100000 * 72 + 1000);
	assert_non_null(data);
	part->big = host_is_big();
	put_u64(part, 0x32454c4946524550);
	put_u64(part, 16);
	memcpy(data, part->data, part->size);
	bytes.size = part->size;
	for (i = 1; i <= 100000; i++) {
		part->size = 0;
		begin_record(part, PERFEV_RECORD_ID_INDEX, 0);
		put_u64(part, 1);
		put_u64(part, i);
		put_u64(part, i % 50000);
		put_u64(part, 0);
		put_u64(part, 0);
		end_record(part, 0);
		set_number(part, 6, 48, 2);
		begin_record(part, PERF_RECORD_LOST, 0);
		put_u64(part, i);
		put_u64(part, 1);
		set_number(part, 54, 24, 2);
		memcpy(data + bytes.size, part->data, part->size);
		bytes.size += part->size;
	}
	bytes.data = data;
	assert_works(perfev_reader_open_memory(&reader, bytes, "it", NULL, &err));
	assert_int_equal(walk(reader), 200000);
	perfev_reader_loss(reader, &loss);
	assert_int_equal(loss.said, 100000);
	perfev_reader_close(reader);
	free(data);
	free(part);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_cut_files, setup, teardown),
	cmocka_unit_test_setup_teardown(test_killed_recorders, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cut_streams, setup, teardown),
	cmocka_unit_test_setup_teardown(test_record_sizes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_tails, setup, teardown),
	cmocka_unit_test_setup_teardown(test_headers, setup, teardown),
	cmocka_unit_test_setup_teardown(test_ids_outside, setup, teardown),
	cmocka_unit_test_setup_teardown(test_ids_that_are_shared, setup, teardown),
	cmocka_unit_test_setup_teardown(test_hostile_names, setup, teardown),
	cmocka_unit_test_setup_teardown(test_any_byte, setup, teardown),
	cmocka_unit_test_setup_teardown(test_many_of_everything, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
