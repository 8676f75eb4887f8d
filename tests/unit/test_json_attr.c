/* SPDX-License-Identifier: MIT */
/* JSON of attrs and layouts, and the bytes of layouts: what is in comes out, and what is damaged is refused. */
#include "bytes.h"
#include "test.h"

#define ATTR_BYTES sizeof(struct perf_event_attr)

static struct perfev_error err;
static uint64_t seed = 99;

/* ---- attrs ----------------------------------------------------------------------------------------------------- */

static void check_attr(const struct perf_event_attr *attr, const char *json)
{
	struct perf_event_attr again;
	char text[4096];
	int n = perfev_attr_to_json(text, sizeof(text), attr, &err);

	assert_in_range(n, 1, sizeof(text) - 1);
	assert_int_equal(strlen(text), n);
	assert_int_equal(perfev_attr_to_json(NULL, 0, attr, &err), n);
	if (json)
		assert_string_equal(text, json);
	memset(&again, 0xa5, sizeof(again));
	if (perfev_attr_from_json(&again, sizeof(again), text, &err) < 0 || memcmp(&again, attr, sizeof(again)))
		fail_msg("%s\n%s", text, err.text);
}

static void test_attr_looks(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_RAW, .size = sizeof(attr)};

	(void)state;
	check_attr(&attr, "{\"type\":4,\"size\":144,\"config\":\"0x0\"}");
	attr.config = UINT64_MAX;
	attr.sample_period = UINT64_MAX;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT_STRUCT | UINT64_C(1) << 63;
	attr.read_format = PERF_FORMAT_LOST;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_COUNTERS;
	attr.disabled = 1;
	attr.precise_ip = 3;
	attr.defer_output = 1;
	attr.clockid = -3;
	attr.aux_pause = 1;
	attr.config4 = 1;
	check_attr(&attr, "{\"type\":4,\"size\":144,\"config\":\"0xffffffffffffffff\",\"sample_period\":\"18446744073709551615\","
			  "\"sample_type\":[\"PERF_SAMPLE_IP\",\"PERF_SAMPLE_WEIGHT_STRUCT\",\"0x8000000000000000\"],"
			  "\"read_format\":[\"PERF_FORMAT_LOST\"],\"disabled\":1,\"precise_ip\":3,\"defer_output\":1,"
			  "\"branch_sample_type\":[\"PERF_SAMPLE_BRANCH_ANY\",\"PERF_SAMPLE_BRANCH_COUNTERS\"],\"clockid\":-3,"
			  "\"aux_pause\":1,\"config4\":\"0x1\"}");
}

/* The bit that the compiler means by a name is the one that has this name. */
static void check_bit(const struct perf_event_attr *attr, const char *name)
{
	char text[256], part[64];

	snprintf(part, sizeof(part), ",\"%s\":1}", name);
	assert_in_range(perfev_attr_to_json(text, sizeof(text), attr, &err), 1, sizeof(text) - 1);
	if (!strstr(text, part))
		fail_msg("%s: %s", name, text);
	check_attr(attr, NULL);
}

#define BIT(name)                                                                       \
	do {                                                                            \
		struct perf_event_attr with = {.type = 1, .size = sizeof(with)};        \
		with.name = 1;                                                          \
		check_bit(&with, #name);                                                \
	} while (0)

static void test_attr_bits(void **state)
{
	(void)state;
	BIT(disabled); BIT(inherit); BIT(pinned); BIT(exclusive); BIT(exclude_user); BIT(exclude_kernel); BIT(exclude_hv);
	BIT(exclude_idle); BIT(mmap); BIT(comm); BIT(freq); BIT(inherit_stat); BIT(enable_on_exec); BIT(task);
	BIT(watermark); BIT(precise_ip); BIT(mmap_data); BIT(sample_id_all); BIT(exclude_host); BIT(exclude_guest);
	BIT(exclude_callchain_kernel); BIT(exclude_callchain_user); BIT(mmap2); BIT(comm_exec); BIT(use_clockid);
	BIT(context_switch); BIT(write_backward); BIT(namespaces); BIT(ksymbol); BIT(bpf_event); BIT(aux_output);
	BIT(cgroup); BIT(text_poke); BIT(build_id); BIT(inherit_thread); BIT(remove_on_exec); BIT(sigtrap);
	BIT(defer_callchain); BIT(defer_output); BIT(__reserved_1); BIT(aux_start_paused); BIT(aux_pause); BIT(aux_resume);
	BIT(__reserved_3); BIT(wakeup_events); BIT(bp_type); BIT(sample_stack_user); BIT(aux_watermark);
	BIT(sample_max_stack); BIT(__reserved_2); BIT(aux_sample_size); BIT(clockid); BIT(sample_period);
}

/* Every bit that the library knows has a name, and the next one has none. */
static void test_attr_masks(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	char text[4096];

	(void)state;
	attr.sample_type = PERF_SAMPLE_MAX - 1;
	attr.read_format = PERF_FORMAT_MAX - 1;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_MAX - 1;
	assert_in_range(perfev_attr_to_json(text, sizeof(text), &attr, &err), 1, sizeof(text) - 1);
	assert_null(strstr(text, ",\"0x"));
	check_attr(&attr, NULL);
	attr.sample_type |= PERF_SAMPLE_MAX;
	assert_in_range(perfev_attr_to_json(text, sizeof(text), &attr, &err), 1, sizeof(text) - 1);
	assert_non_null(strstr(text, ",\"0x2000000\"]"));
	check_attr(&attr, NULL);
}

/* Members of a union have the name that is meant. */
static void test_attr_unions(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr)}, other;

	(void)state;
	attr.freq = attr.watermark = 1;
	attr.sample_freq = 999;
	attr.wakeup_watermark = 7;
	attr.bp_type = 2;
	attr.bp_addr = 0x1000;
	attr.bp_len = 4;
	check_attr(&attr, "{\"type\":5,\"size\":144,\"config\":\"0x0\",\"sample_freq\":999,\"freq\":1,\"watermark\":1,"
			  "\"wakeup_watermark\":7,\"bp_type\":2,\"bp_addr\":\"0x1000\",\"bp_len\":\"0x4\"}");
	assert_works(perfev_attr_from_json(&other, sizeof(other), "{\"config2\":4,\"config1\":4096,\"bp_type\":\"2\","
		"\"wakeup_events\":7,\"watermark\":1,\"freq\":1,\"sample_period\":999,\"type\":5}", &err));
	assert_memory_equal(&attr, &other, sizeof(attr));
	assert_fails(perfev_attr_from_json(&other, sizeof(other), "{\"config1\":1,\"bp_addr\":1}", &err), EINVAL);
	assert_says("twice");
	assert_int_equal(err.where, 13);
}

/* Every byte of the struct is somewhere in the JSON: each bit alone, and all kinds of contents. */
static void test_attr_contents(void **state)
{
	struct perf_event_attr attr;
	unsigned char *bytes = (unsigned char *)&attr;
	size_t bit, i;
	int turn;

	(void)state;
	for (bit = 64; bit < ATTR_BYTES * 8; bit++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		bytes[bit / 8] = (unsigned char)(1u << bit % 8);
		check_attr(&attr, NULL);
	}
	for (turn = 0; turn < 5000; turn++) {
		for (i = 0; i < ATTR_BYTES; i++)
			bytes[i] = turn % 3 && next_random(&seed) % 3 ? 0 : (unsigned char)next_random(&seed);
		attr.size = sizeof(attr);
		check_attr(&attr, NULL);
	}
	memset(&attr, 0xff, sizeof(attr));
	attr.size = sizeof(attr);
	check_attr(&attr, NULL);
}

/* Attrs of other headers: shorter ones, and longer ones, whose words are kept. */
static void test_attr_sizes(void **state)
{
	union {
		struct perf_event_attr attr;
		unsigned char bytes[ATTR_BYTES + 24];
	} long_one, again;
	char text[8192];
	uint32_t size;

	(void)state;
	for (size = 64; size <= sizeof(long_one); size += 8) {
		memset(&long_one, 0x5a, sizeof(long_one));
		long_one.attr.size = size;
		memset(long_one.bytes + size, 0, sizeof(long_one) - size);
		assert_in_range(perfev_attr_to_json(text, sizeof(text), &long_one.attr, &err), 1, sizeof(text) - 1);
		assert_int_equal(strstr(text, "\"unknown\"") != NULL, size > ATTR_BYTES);
		assert_works(perfev_attr_from_json(&again.attr, sizeof(again), text, &err));
		assert_memory_equal(&again, &long_one, sizeof(again));
		if (size > ATTR_BYTES) {
			assert_fails(perfev_attr_from_json(&again.attr, ATTR_BYTES, text, &err), EINVAL);
			assert_says("no room");
		}
	}
	for (size = ATTR_BYTES; size <= sizeof(long_one); size++) { /* words that are cut */
		memset(&long_one, 0x5a, size);
		memset(long_one.bytes + size, 0, sizeof(long_one) - size);
		long_one.attr.size = size;
		assert_in_range(perfev_attr_to_json(text, sizeof(text), &long_one.attr, &err), 1, sizeof(text) - 1);
		assert_works(perfev_attr_from_json(&again.attr, sizeof(again), text, &err));
		assert_memory_equal(&again, &long_one, sizeof(again));
	}
	memset(&long_one, 0, sizeof(long_one));
	long_one.attr.config = 3;
	memset(long_one.bytes + 64, 0xff, 8); /* behind an attr without a size */
	assert_in_range(perfev_attr_to_json(text, sizeof(text), &long_one.attr, &err), 1, sizeof(text) - 1);
	assert_string_equal(text, "{\"type\":0,\"size\":64,\"config\":\"0x3\"}");
	long_one.attr.size = 63;
	assert_fails(perfev_attr_to_json(text, sizeof(text), &long_one.attr, &err), EINVAL);
	long_one.attr.size = 4097;
	assert_fails(perfev_attr_to_json(text, sizeof(text), &long_one.attr, &err), EINVAL);
	assert_fails(perfev_attr_from_json(&again.attr, 63, "{}", &err), EINVAL);
	assert_works(perfev_attr_from_json(&again.attr, sizeof(again), "{\"size\":4096}", &err));
	assert_int_equal(again.attr.size, sizeof(again));
	assert_works(perfev_attr_from_json(&again.attr, 64, "{\"config\":1}", &err));
	assert_int_equal(again.attr.size, 64);
	assert_works(perfev_attr_from_json(&again.attr, ATTR_BYTES, "{}", &err));
	assert_int_equal(again.attr.size, ATTR_BYTES);
}

static void test_attr_mistakes(void **state)
{
	static const struct {
		const char *json, *says;
		uint64_t where;
	} rows[] = {
		{"[]", "an object is missing", 0},
		{"{\"colour\":1}", "not known", 1},
		{"{\"sample_type\":[\"PERF_SAMPLE_COLOUR\"]}", "no such bit", 16},
		{"{\"sample_type\":[\"PERF_FORMAT_ID\"]}", "no such bit", 16},
		{"{\"sample_type\":[\"\"]}", "no such bit", 16},
		{"{\"sample_type\":\"PERF_SAMPLE_IP\"}", "a whole number is missing", 15},
		{"{\"disabled\":2}", "too large", 13},
		{"{\"disabled\":true}", "a whole number is missing", 12},
		{"{\"precise_ip\":4}", "too large", 15},
		{"{\"__reserved_1\":16777216}", "too large", 24},
		{"{\"clockid\":2147483648}", "too large", 21},
		{"{\"clockid\":-2147483649}", "too large", 22},
		{"{\"clockid\":-}", "a value is missing", 12},
		{"{\"sample_max_stack\":65536}", "too large", 20},
		{"{\"size\":63}", "from 64 to 4096", 0},
		{"{\"size\":4097}", "from 64 to 4096", 0},
		{"{\"size\":64,\"config2\":1}", "config2 lies behind", 0},
		{"{\"size\":64,\"type\":5,\"bp_len\":1}", "bp_len lies behind", 0},
		{"{\"size\":144,\"unknown\":[0,1]}", "behind the size", 26},
	};
	struct perf_event_attr attr;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(perfev_attr_from_json(&attr, sizeof(attr), rows[i].json, &err), -EINVAL);
		if (!strstr(err.text, rows[i].says) || err.where != rows[i].where)
			fail_msg("%s: %s (%d)", rows[i].json, err.text, (int)err.where);
		assert_int_equal(perfev_attr_from_json(&attr, sizeof(attr), rows[i].json, NULL), -EINVAL);
	}
	assert_works(perfev_attr_from_json(&attr, sizeof(attr), "{\"clockid\":-2147483648,\"sample_type\":\"0x3\"}", &err));
	assert_int_equal(attr.clockid, INT32_MIN);
	assert_int_equal(attr.sample_type, 3);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

static void random_attr(struct perf_event_attr *attr)
{
	size_t i;

	for (i = 0; i < sizeof(*attr); i++)
		((unsigned char *)attr)[i] = (unsigned char)next_random(&seed);
	attr->size = 64 + random_below(&seed, (sizeof(*attr) - 64) / 8 + 1) * 8;
	attr->sample_type &= PERF_SAMPLE_MAX - 1;
	attr->read_format &= PERF_FORMAT_MAX - 1;
}

static void check_layout(const struct perfev_layout *layout, unsigned flags)
{
	struct perfev_layout *again;
	unsigned char bytes[512];
	struct perfev_bytes saved = {bytes, 0};
	unsigned got = 77;
	char text[4096];
	int n = perfev_layout_save(bytes, sizeof(bytes), layout, flags, &err);

	assert_in_range(n, 88, sizeof(bytes));
	assert_int_equal(perfev_layout_save(NULL, 0, layout, flags, &err), n);
	saved.size = (size_t)n;
	assert_works(perfev_layout_load(&again, &got, saved, &err));
	assert_int_equal(got, flags);
	assert_memory_equal(perfev_layout_attr(again), perfev_layout_attr(layout), ATTR_BYTES);
	perfev_layout_free(again);

	n = perfev_layout_to_json(text, sizeof(text), layout, flags, &err);
	assert_in_range(n, 1, sizeof(text) - 1);
	assert_int_equal(perfev_layout_to_json(NULL, 0, layout, flags, &err), n);
	assert_works(perfev_layout_from_json(&again, &got, text, &err));
	assert_int_equal(got, flags);
	assert_memory_equal(perfev_layout_attr(again), perfev_layout_attr(layout), ATTR_BYTES);
	perfev_layout_free(again);
	assert_works(perfev_layout_from_json(&again, NULL, text, &err));
	perfev_layout_free(again);
}

static void test_layouts(void **state)
{
	struct perfev_layout *layout;
	struct perf_event_attr attr;
	int turn;

	(void)state;
	for (turn = 0; turn < 3000; turn++) {
		random_attr(&attr);
		assert_works(perfev_layout_new(&layout, &attr, &err));
		check_layout(layout, turn & 1 ? PERFEV_RECORD_SWAPPED : 0);
		perfev_layout_free(layout);
	}
}

/* What one layout makes of a record, the loaded one does too: here of a record of a big-endian machine. */
static void test_another_machine(void **state)
{
	static const unsigned char record[] = {0, 0, 0, 9, 0, 2, 0, 24, 0, 0, 0, 0, 0, 0x40, 0x11, 0x36,
					       0, 0, 0, 7, 0, 0, 0, 8};
	static const char json[] = "{\"byte_order\":\"big\",\"attr\":{\"sample_type\":[\"PERF_SAMPLE_IP\",\"PERF_SAMPLE_TID\"]}}";
	struct perfev_bytes bytes = {record, sizeof(record)};
	struct perfev_layout *layout;
	struct perfev_record view;
	unsigned flags;
	char text[256];

	(void)state;
	assert_works(perfev_layout_from_json(&layout, &flags, json, &err));
	assert_works(perfev_record_from_bytes(&view, bytes, flags, &err));
	assert_works(perfev_record_to_json(text, sizeof(text), &view, layout, &err));
	assert_string_equal(text, "{\"type\":\"SAMPLE\",\"misc\":2,\"ip\":\"0x401136\",\"pid\":7,\"tid\":8}");
	perfev_layout_free(layout);
}

/* The bytes are the same on every machine: written down once. */
static void test_saved_bytes(void **state)
{
	struct perf_event_attr attr = {.type = 0x01020304, .size = sizeof(attr), .config = 0x1122334455667788};
	unsigned char bytes[168], expected[168] = "perfevLY\1\0\0\0\2\0\0\0\x90\0\0\0\0\0\0\0\4\3\2\1\x90\0\0\0"
						  "\x88\x77\x66\x55\x44\x33\x22\x11";
	struct perfev_layout *layout;

	(void)state;
	attr.disabled = 1; /* the lowest bit, of byte 40 */
	attr.precise_ip = 2;
	attr.defer_output = 1;
	attr.aux_resume = 1;
	attr.sample_max_stack = 0x0102;
	expected[24 + 40] = 1;
	expected[24 + 42] = 1;
	expected[24 + 44] = 0x80;
	expected[24 + offsetof(struct perf_event_attr, aux_action)] = 4;
	expected[24 + offsetof(struct perf_event_attr, sample_max_stack)] = 2;
	expected[24 + offsetof(struct perf_event_attr, sample_max_stack) + 1] = 1;
	assert_works(perfev_layout_new(&layout, &attr, &err));
	assert_int_equal(perfev_layout_save(bytes, sizeof(bytes), layout, host_is_big() ? 0 : PERFEV_RECORD_SWAPPED, &err),
			 sizeof(bytes));
	assert_memory_equal(bytes, expected, sizeof(bytes));
	perfev_layout_free(layout);
}

static int load(const unsigned char *bytes, size_t size)
{
	unsigned char *exact = malloc(size ? size : 1);
	struct perfev_layout *layout;
	struct perfev_bytes view = {exact, size};
	unsigned flags;
	int r;

	assert_non_null(exact);
	memcpy(exact, bytes, size);
	r = perfev_layout_load(&layout, &flags, view, &err);
	if (r == 0)
		perfev_layout_free(layout);
	free(exact);
	return r;
}

static void test_damaged_bytes(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = PERF_SAMPLE_IP};
	unsigned char bytes[300] = {0}, copy[300];
	struct perfev_layout *layout;
	static const struct {
		size_t at;
		unsigned char value;
		int r;
		enum perfev_why why;
	} rows[] = {
		{0, 'q', -EINVAL, PERFEV_WHY_FORMAT},	    {8, 2, -ENOTSUP, PERFEV_WHY_UNSUPPORTED},
		{12, 0, -EINVAL, PERFEV_WHY_CORRUPT},	    {12, 3, -EINVAL, PERFEV_WHY_CORRUPT},
		{16, 56, -EINVAL, PERFEV_WHY_CORRUPT},	    {16, 145, -EINVAL, PERFEV_WHY_CORRUPT},
		{16, 152, -EINVAL, PERFEV_WHY_TRUNCATED},   {16, 136, -EINVAL, PERFEV_WHY_CORRUPT},
		{19, 1, -EINVAL, PERFEV_WHY_CORRUPT},	    {20, 1, -EINVAL, PERFEV_WHY_CORRUPT},
		{28, 63, -EINVAL, PERFEV_WHY_CORRUPT},	    {28, 145, -EINVAL, PERFEV_WHY_CORRUPT},
		{31, 1, -EINVAL, PERFEV_WHY_CORRUPT},	    {24 + 24 + 7, 0x80, -EINVAL, PERFEV_WHY_UNSUPPORTED},
	};
	size_t size, i;
	int turn;

	(void)state;
	assert_works(perfev_layout_new(&layout, &attr, &err));
	size = (size_t)perfev_layout_save(bytes, sizeof(bytes), layout, 0, &err);
	perfev_layout_free(layout);
	for (i = 0; i < sizeof(bytes); i++)
		assert_int_equal(load(bytes, i), i == size ? 0 : -EINVAL);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(copy, bytes, sizeof(copy));
		copy[rows[i].at] = rows[i].value;
		assert_int_equal(load(copy, size), rows[i].r);
		assert_int_equal(err.why, rows[i].why);
	}
	for (turn = 0; turn < 20000; turn++) {
		memcpy(copy, bytes, sizeof(copy));
		for (i = 0; i <= (size_t)turn % 4; i++)
			copy[next_random(&seed) % size] = (unsigned char)next_random(&seed);
		load(copy, turn % 5 ? size : random_below(&seed, sizeof(copy)));
	}
	memcpy(copy, bytes, sizeof(copy)); /* of a later library: longer, with something in what it added */
	copy[16] = 152;
	copy[28] = 152;
	copy[24 + 150] = 1;
	assert_int_equal(load(copy, size + 8), 0);
}

static void test_layout_mistakes(void **state)
{
	static const struct {
		const char *json, *says;
	} rows[] = {
		{"{}", "'byte_order' is missing"},
		{"{\"byte_order\":\"little\"}", "'attr' is missing"},
		{"{\"byte_order\":\"middle\",\"attr\":{}}", "little or big"},
		{"{\"byte_order\":\"big\",\"attr\":[]}", "an object is missing"},
		{"{\"byte_order\":\"big\",\"attr\":{},\"more\":1}", "not known"},
		{"{\"byte_order\":\"big\",\"attr\":{\"sample_type\":\"0x8000000000000000\"}}", "does not know"},
	};
	struct perfev_layout *layout;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_fails(perfev_layout_from_json(&layout, NULL, rows[i].json, &err), EINVAL);
		assert_says(rows[i].says);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_attr_looks),	cmocka_unit_test(test_attr_bits),	cmocka_unit_test(test_attr_masks),
	cmocka_unit_test(test_attr_unions),
	cmocka_unit_test(test_attr_contents),	cmocka_unit_test(test_attr_sizes),
	cmocka_unit_test(test_attr_mistakes),	cmocka_unit_test(test_layouts),
	cmocka_unit_test(test_another_machine), cmocka_unit_test(test_saved_bytes),
	cmocka_unit_test(test_damaged_bytes),	cmocka_unit_test(test_layout_mistakes),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
