/* SPDX-License-Identifier: MIT */
/* Samples: every field of every sample_type comes out as it went in, in both orders of bytes; what is not
 * there is left alone; and no length that a sample may be cut to is read over. */
#include "sample.h"
#include "test.h"

#include <errno.h>

static struct perfev_error err;
static struct guard guard;
static uint64_t seed = UINT64_C(0x123456789abcdef);

static int setup(void **state)
{
	(void)state;
	return guard_open(&guard) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

/* ---- whole samples --------------------------------------------------------------------------------- */

static const struct {
	uint64_t bits;
	size_t at, size;
} places[] = {
	{PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID, offsetof(struct perfev_sample, id), 8},
	{PERF_SAMPLE_IP, offsetof(struct perfev_sample, ip), 8},
	{PERF_SAMPLE_TID, offsetof(struct perfev_sample, pid), 8},
	{PERF_SAMPLE_TIME, offsetof(struct perfev_sample, time), 8},
	{PERF_SAMPLE_ADDR, offsetof(struct perfev_sample, addr), 8},
	{PERF_SAMPLE_STREAM_ID, offsetof(struct perfev_sample, stream_id), 8},
	{PERF_SAMPLE_CPU, offsetof(struct perfev_sample, cpu), 8},
	{PERF_SAMPLE_PERIOD, offsetof(struct perfev_sample, period), 8},
	{PERF_SAMPLE_READ, offsetof(struct perfev_sample, read), sizeof(struct perfev_values)},
	{PERF_SAMPLE_CALLCHAIN, offsetof(struct perfev_sample, callchain),
	 sizeof(struct perfev_u64s)},
	{PERF_SAMPLE_RAW, offsetof(struct perfev_sample, raw), sizeof(struct perfev_bytes)},
	{PERF_SAMPLE_BRANCH_STACK, offsetof(struct perfev_sample, branches),
	 sizeof(struct perfev_branches)},
	{PERF_SAMPLE_REGS_USER, offsetof(struct perfev_sample, regs_user),
	 sizeof(struct perfev_registers)},
	{PERF_SAMPLE_REGS_INTR, offsetof(struct perfev_sample, regs_intr),
	 sizeof(struct perfev_registers)},
	{PERF_SAMPLE_STACK_USER, offsetof(struct perfev_sample, stack_user),
	 sizeof(struct perfev_bytes) + sizeof(uint64_t)},
	{PERF_SAMPLE_WEIGHT_TYPE, offsetof(struct perfev_sample, weight), 8},
	{PERF_SAMPLE_DATA_SRC, offsetof(struct perfev_sample, data_src), 8},
	{PERF_SAMPLE_TRANSACTION, offsetof(struct perfev_sample, transaction), 8},
	{PERF_SAMPLE_PHYS_ADDR, offsetof(struct perfev_sample, phys_addr), 8},
	{PERF_SAMPLE_CGROUP, offsetof(struct perfev_sample, cgroup), 8},
	{PERF_SAMPLE_DATA_PAGE_SIZE, offsetof(struct perfev_sample, data_page_size), 8},
	{PERF_SAMPLE_CODE_PAGE_SIZE, offsetof(struct perfev_sample, code_page_size), 8},
	{PERF_SAMPLE_AUX, offsetof(struct perfev_sample, aux), sizeof(struct perfev_bytes)},
};

/* Fields whose bit is not set keep the pattern that was there. */
static void check_untouched(const struct perfev_sample *sample, uint64_t type)
{
	const unsigned char *bytes = (const unsigned char *)sample;
	size_t i, k;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (k = 0; !(type & places[i].bits) && k < places[i].size; k++)
			assert_int_equal(bytes[places[i].at + k], 0xa5);
}

/* The fields that identify a sample, without the rest. */
static void check_id(const struct made_sample *made, const struct perfev_record *record,
		     const struct perfev_layout *layout)
{
	const uint64_t type = made->attr.sample_type;
	const uint64_t bits = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	struct perfev_id id;
	uint64_t time;

	memset(&id, 0xa5, sizeof(id));
	assert_works(perfev_id_decode(&id, record, layout, &err));
	assert_true(id.present == (type & bits));
	assert_true(!(type & PERF_SAMPLE_TID) || (id.pid | (uint64_t)id.tid << 32) == made->words[1]);
	assert_true(id.time ==
		    (type & PERF_SAMPLE_TIME ? made->words[2] : UINT64_C(0xa5a5a5a5a5a5a5a5)));
	if (type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		assert_true(id.id == made->words[6]);
	assert_true(!(type & PERF_SAMPLE_STREAM_ID) || id.stream_id == made->words[9]);
	assert_true(!(type & PERF_SAMPLE_CPU) || id.cpu == (uint32_t)made->words[7]);
	assert_int_equal(perfev_record_time(record, layout, &time), !!(type & PERF_SAMPLE_TIME));
	assert_true(!(type & PERF_SAMPLE_TIME) || time == made->words[2]);
}

/* What was decoded becomes the same bytes again; where some have no meaning, one form of them. */
static void check_encode(struct made_sample *made, const struct perfev_any *any,
			 const struct perfev_layout *layout, bool big)
{
	const uint64_t loose = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_RAW | PERF_SAMPLE_AUX;
	static unsigned char first[8192], second[8192];
	unsigned flags = big == host_is_big() ? 0 : PERFEV_RECORD_SWAPPED;
	struct perfev_bytes bytes = {first, 0};
	struct perfev_record record;
	struct perfev_any again;
	int r = perfev_record_encode(first, sizeof(first), any, made->misc, layout, flags, &err);

	assert_in_range(r, 8, sizeof(first));
	assert_int_equal(r % 8, 0);
	if (!(made->attr.sample_type & loose)) {
		assert_int_equal(r, made->bytes.size);
		assert_memory_equal(first, made->bytes.data, (size_t)r);
	}
	bytes.size = (size_t)r;
	assert_works(perfev_record_from_bytes(&record, bytes, flags, &err));
	memset(&again, 0, sizeof(again));
	assert_works(perfev_any_decode(&again, &record, layout, &err));
	if (!(made->attr.sample_type & (PERF_SAMPLE_RAW | PERF_SAMPLE_AUX))) /* which may have been padded */
		made_check(made, &again.as.sample, made->attr.sample_type);
	assert_int_equal(perfev_record_encode(second, sizeof(second), &again, made->misc, layout, flags, &err), r);
	assert_memory_equal(first, second, (size_t)r);
	assert_int_equal(perfev_record_encode(NULL, 0, any, 0, layout, flags, &err), r); /* how large? */
}

/* As text or JSON and back it is the canonical form of the same bytes. */
static void check_text(const struct perfev_any *any, uint16_t misc, const struct perfev_layout *layout, bool big)
{
	static unsigned char first[8192], second[8192];
	static char text[65536];
	unsigned flags = big == host_is_big() ? 0 : PERFEV_RECORD_SWAPPED;
	struct perfev_bytes bytes = {first, 0};
	struct perfev_record record;
	int r = perfev_record_encode(first, sizeof(first), any, misc, layout, flags, &err), n;

	bytes.size = (size_t)r;
	assert_works(perfev_record_from_bytes(&record, bytes, flags, &err));
	n = perfev_record_format(text, sizeof(text), &record, layout, &err);
	assert_in_range(n, 1, sizeof(text) - 1);
	assert_int_equal(strlen(text), n);
	assert_int_equal(perfev_record_format(NULL, 0, &record, layout, &err), n);
	memset(second, 0xa5, sizeof(second));
	if (perfev_record_parse(second, sizeof(second), text, layout, flags, &err) != r)
		fail_msg("%s\n%s", text, err.text);
	if (memcmp(first, second, (size_t)r))
		fail_msg("%s", text);
	assert_int_equal(perfev_record_parse(NULL, 0, text, layout, flags, &err), r);
	n = perfev_record_to_json(text, sizeof(text), &record, layout, &err);
	assert_in_range(n, 1, sizeof(text) - 1);
	assert_int_equal(strlen(text), n);
	assert_int_equal(perfev_record_to_json(NULL, 0, &record, layout, &err), n);
	memset(second, 0xa5, sizeof(second));
	if (perfev_record_from_json(second, sizeof(second), text, layout, flags, &err) != r ||
	    memcmp(first, second, (size_t)r))
		fail_msg("%s\n%s", text, err.text);
	assert_int_equal(perfev_record_from_json(NULL, 0, text, layout, flags, &err), r);
}

static void check_whole(struct made_sample *made)
{
	struct perfev_layout *layout;
	int big;

	assert_works(perfev_layout_new(&layout, &made->attr, &err));
	assert_int_equal(memcmp(perfev_layout_attr(layout), &made->attr, sizeof(made->attr)), 0);
	for (big = 0; big < 2; big++) {
		struct perfev_record record;
		struct perfev_sample sample;
		struct perfev_any any;

		made_encode(made, big);
		record = made_record(made, guard_put(&guard, made->bytes.data, made->bytes.size),
				     made->bytes.size);
		memset(&sample, 0xa5, sizeof(sample));
		assert_works(perfev_sample_decode(&sample, &record, layout, &err));
		assert_true(sample.present == made->attr.sample_type);
		made_check(made, &sample, made->attr.sample_type);
		check_untouched(&sample, made->attr.sample_type);
		check_id(made, &record, layout);
		assert_works(perfev_any_decode(&any, &record, layout, &err));
		assert_int_equal(any.type, PERF_RECORD_SAMPLE);
		made_check(made, &any.as.sample, made->attr.sample_type);
		check_encode(made, &any, layout, big);
		any.as.sample.reserved = 0; /* the other half of CPU, which no text has */
		check_text(&any, made->misc, layout, big);
	}
	perfev_layout_free(layout);
}

static void check_type(uint64_t type)
{
	struct made_sample *made = calloc(1, sizeof(*made));
	int i;

	assert_non_null(made);
	for (i = 0; i < 8; i++) {
		made_attr(made, &seed);
		made->attr.sample_type = type;
		made_fill(made, &seed);
		check_whole(made);
	}
	free(made);
}

static void test_no_fields(void **state)
{
	(void)state;
	check_type(0);
}

static void test_single_fields(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 25; i++)
		check_type(sample_order[i]);
}

static void test_pairs(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < 25; i++)
		for (k = 0; k < i; k++)
			if ((sample_order[i] | sample_order[k]) != PERF_SAMPLE_WEIGHT_TYPE)
				check_type(sample_order[i] | sample_order[k]);
}

static void test_random_sets(void **state)
{
	struct made_sample *made = calloc(1, sizeof(*made));
	int i;

	(void)state;
	assert_non_null(made);
	for (i = 0; i < 10000; i++) {
		made_attr(made, &seed);
		made_fill(made, &seed);
		check_whole(made);
	}
	free(made);
}

/* ---- cut samples --------------------------------------------------------------------------------------- */

/* The fields up to the one that did not fit: bits from the start of the order, without a gap. */
static void check_prefix(uint64_t type, uint64_t present)
{
	bool over = false;
	size_t i;

	assert_true((present & ~type) == 0);
	for (i = 0; i < 25; i++) {
		if (!(type & sample_order[i]))
			continue;
		if (!(present & sample_order[i]))
			over = true;
		else
			assert_false(over);
	}
}

static void check_cut(const struct made_sample *made, const struct perfev_layout *layout, size_t size)
{
	unsigned char *exact = malloc(size);
	struct perfev_record record;
	struct perfev_sample sample;
	struct perfev_id id;
	uint64_t type = made->attr.sample_type, known, time;
	int r;

	assert_non_null(exact);
	memcpy(exact, made->bytes.data, size);
	record = made_record(made, guard_put(&guard, exact, size), size);
	memset(&sample, 0xa5, sizeof(sample));
	r = perfev_sample_decode(&sample, &record, layout, &err);
	assert_true(r == 0 || r == -EINVAL);
	/* where the end of a branch stack may be missing, a cut sample may look whole */
	known = sample.present & ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	if (r < 0) {
		assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		assert_true(sample.present != type);
	} else {
		assert_true(type & PERF_SAMPLE_BRANCH_STACK);
	}
	check_prefix(type, sample.present);
	if (!(sample.present & PERF_SAMPLE_BRANCH_STACK))
		made_check(made, &sample, known);
	record.data = exact; /* the same once more, for a sanitizer */
	assert_int_equal(perfev_sample_decode(&sample, &record, layout, NULL), r);
	perfev_id_decode(&id, &record, layout, NULL);
	perfev_record_time(&record, layout, &time);
	free(exact);
}

static void test_every_length(void **state)
{
	struct made_sample *made = calloc(1, sizeof(*made));
	struct perfev_layout *layout;
	size_t size;
	int i;

	(void)state;
	assert_non_null(made);
	for (i = 0; i < 200; i++) {
		made_attr(made, &seed);
		if (i < 50)
			made->attr.sample_type = sample_order[i / 2];
		if (i > 150) /* what is behind the branches tells how long they are */
			made->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		made_fill(made, &seed);
		assert_works(perfev_layout_new(&layout, &made->attr, &err));
		made_encode(made, i & 1);
		for (size = 0; size < made->bytes.size; size++)
			check_cut(made, layout, size);
		perfev_layout_free(layout);
	}
	free(made);
}

/* Any bytes at all: an answer, and never a byte beyond the end. */
static void test_noise(void **state)
{
	struct made_sample *made = calloc(1, sizeof(*made));
	struct perfev_layout *layout;
	struct perfev_sample sample;
	int i, k;

	(void)state;
	assert_non_null(made);
	for (i = 0; i < 500; i++) {
		made_attr(made, &seed);
		made_fill(made, &seed);
		made_encode(made, i & 1);
		assert_works(perfev_layout_new(&layout, &made->attr, &err));
		for (k = 0; k < 50; k++) {
			size_t at = 8 + next_random(&seed) % (made->bytes.size - 7);
			unsigned char old = made->bytes.data[at];
			struct perfev_record record;
			int r;

			made->bytes.data[at] = (unsigned char)next_random(&seed);
			record = made_record(made,
					     guard_put(&guard, made->bytes.data, made->bytes.size),
					     made->bytes.size);
			r = perfev_sample_decode(&sample, &record, layout, &err);
			assert_true(r == 0 || r == -EINVAL);
			check_prefix(made->attr.sample_type, sample.present);
			made->bytes.data[at] = old;
		}
		perfev_layout_free(layout);
	}
	free(made);
}

/* ---- counts that lie ---------------------------------------------------------------------------------------- */

/* A field whose first word says more than there is. */
static void check_lie(uint64_t bit, uint64_t lie, uint64_t read_format)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout;
	struct perfev_sample sample;
	struct perfev_record record;
	struct bytes *bytes = calloc(1, sizeof(*bytes));

	assert_non_null(bytes);
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_type = bit;
	attr.read_format = read_format;
	attr.sample_regs_user = attr.sample_regs_intr = UINT64_MAX;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX |
				  PERF_SAMPLE_BRANCH_COUNTERS;
	assert_works(perfev_layout_new(&layout, &attr, &err));
	bytes->big = host_is_big();
	begin_record(bytes, PERF_RECORD_SAMPLE, 0);
	put_number(bytes, lie, bit == PERF_SAMPLE_RAW ? 4 : 8);
	put_u64(bytes, 1);
	put_u64(bytes, 1);
	end_record(bytes, 0);
	memset(&record, 0, sizeof(record));
	record.data = guard_put(&guard, bytes->data, bytes->size);
	record.size = (uint32_t)bytes->size;
	record.type = PERF_RECORD_SAMPLE;
	assert_fails(perfev_sample_decode(&sample, &record, layout, &err), EINVAL);
	assert_true(sample.present == 0);
	perfev_layout_free(layout);
	free(bytes);
}

static void test_counts_that_lie(void **state)
{
	static const uint64_t lies[] = {4, 17, 0x10000, 0x20000000, UINT64_C(1) << 32,
					UINT64_C(0x1555555555555556), /* times 24 is 16 in 64 bits */
					UINT64_C(1) << 60, UINT64_C(1) << 61, UINT64_C(1) << 63,
					UINT64_MAX, UINT64_MAX - 7};
	static const uint64_t fields[] = {PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK,
					  PERF_SAMPLE_REGS_USER, PERF_SAMPLE_REGS_INTR,
					  PERF_SAMPLE_STACK_USER, PERF_SAMPLE_AUX, PERF_SAMPLE_READ};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		for (k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
			if (lies[i] > 16 || fields[k] == PERF_SAMPLE_CALLCHAIN)
				check_lie(fields[k], lies[i], PERF_FORMAT_GROUP);
		check_lie(PERF_SAMPLE_READ, lies[i], PERF_FORMAT_GROUP | PERF_FORMAT_ID);
		check_lie(PERF_SAMPLE_READ, lies[i],
			  PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST);
	}
	check_lie(PERF_SAMPLE_RAW, 17, 0);
	check_lie(PERF_SAMPLE_RAW, UINT32_MAX, 0);
	check_lie(PERF_SAMPLE_RAW, UINT32_MAX - 3, 0);
}

/* ---- layouts ------------------------------------------------------------------------------------------------ */

static void test_unknown_bits(void **state)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout = NULL;
	unsigned bit;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	for (bit = 25; bit < 64; bit++) {
		attr.sample_type = PERF_SAMPLE_IP | UINT64_C(1) << bit;
		assert_fails(perfev_layout_new(&layout, &attr, &err), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_UNSUPPORTED);
		assert_says("sample_type");
	}
	for (bit = 5; bit < 64; bit++) {
		attr.sample_type = PERF_SAMPLE_READ;
		attr.read_format = UINT64_C(1) << bit;
		assert_fails(perfev_layout_new(&layout, &attr, &err), EINVAL);
		assert_says("read_format");
		attr.sample_type = PERF_SAMPLE_IP; /* its samples have no counts in them */
		assert_works(perfev_layout_new(&layout, &attr, &err));
		perfev_layout_free(layout);
		layout = NULL;
	}
	assert_null(layout);
	perfev_layout_free(NULL);
}

/* An attr is read by its size: what lies behind it is not, and is zero in the copy. */
static void test_attr_sizes(void **state)
{
	uint32_t size;

	(void)state;
	for (size = 0; size <= 200; size += 8) {
		uint32_t bytes = size ? size : 64;
		struct perf_event_attr full, *attr;
		struct perfev_layout *layout;
		const unsigned char *got;

		if (size && size < 64)
			continue;
		memset(&full, 0, sizeof(full));
		full.size = size;
		full.sample_type = PERF_SAMPLE_IP;
		attr = (struct perf_event_attr *)(void *)guard_put(&guard, "", 0) - 1;
		attr = (struct perf_event_attr *)(void *)((unsigned char *)(attr + 1) - bytes);
		memset(attr, 0x11, bytes);
		memcpy(attr, &full, 40); /* up to and with read_format */
		assert_works(perfev_layout_new(&layout, attr, &err));
		got = (const unsigned char *)perfev_layout_attr(layout);
		bytes = bytes < sizeof(full) ? bytes : (uint32_t)sizeof(full);
		assert_int_equal(memcmp(got + 8, (unsigned char *)attr + 8, bytes - 8), 0);
		for (; bytes < sizeof(full); bytes++)
			assert_int_equal(got[bytes], 0);
		assert_in_range(perfev_layout_attr(layout)->size, 64, sizeof(full));
		perfev_layout_free(layout);
	}
}

static void test_wrong_arguments(void **state)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout;
	struct perfev_sample sample;
	struct perfev_record record;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	assert_works(perfev_layout_new(&layout, &attr, &err));
	memset(&record, 0, sizeof(record));
	record.type = PERF_RECORD_MMAP;
	assert_fails(perfev_sample_decode(&sample, &record, layout, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
	record.type = PERF_RECORD_SAMPLE;
	assert_fails(perfev_sample_decode(&sample, &record, NULL, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
	perfev_layout_free(layout);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_no_fields),
	cmocka_unit_test(test_single_fields),
	cmocka_unit_test(test_pairs),
	cmocka_unit_test(test_random_sets),
	cmocka_unit_test(test_every_length),
	cmocka_unit_test(test_noise),
	cmocka_unit_test(test_counts_that_lie),
	cmocka_unit_test(test_unknown_bits),
	cmocka_unit_test(test_attr_sizes),
	cmocka_unit_test(test_wrong_arguments),
};

int main(void)
{
	return cmocka_run_group_tests(tests, setup, teardown);
}
