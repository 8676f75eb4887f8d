/* SPDX-License-Identifier: MIT */
/* Event text: each name means what the kernel's interface says, and its attr has that name again;
 * modifiers, groups and numbers. */
#include "nowhere.h"

#include "decode/event_name.h"

#include <errno.h>

static struct perfev_error err;

static int parse_one(struct perfev_event **ret, const char *text)
{
	struct perfev_events *events;
	int r = parse_all(&events, text, &err);

	if (r < 0)
		return r;
	assert_int_equal(perfev_events_count(events), 1);
	assert_null(perfev_events_at(events, 1));
	r = perfev_event_copy(ret, perfev_events_at(events, 0), &err);
	perfev_events_free(events);
	return r;
}

static struct perf_event_attr parse(const char *text)
{
	struct perfev_event *event;
	struct perf_event_attr attr;

	if (parse_one(&event, text) < 0)
		fail_msg("'%s': %s", text, err.text);
	attr = *perfev_event_attr(event);
	assert_string_equal(perfev_event_name(event), text);
	perfev_event_free(event);
	return attr;
}

static void expect(const char *text, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = parse(text), plain;

	if (attr.type != type || attr.config != config)
		fail_msg("'%s': %u:0x%llx", text, attr.type, (unsigned long long)attr.config);
	memset(&plain, 0, sizeof(plain));
	plain.type = type;
	plain.config = config;
	plain.size = sizeof(plain);
	plain.disabled = 1;
	assert_memory_equal(&attr, &plain, sizeof(attr));
}

/* ---- names ----------------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	uint32_t type;
	uint64_t config;
} names[] = {
	{"cycles", 0, 0},
	{"cpu-cycles", 0, 0},
	{"instructions", 0, 1},
	{"cache-references", 0, 2},
	{"cache-misses", 0, 3},
	{"branches", 0, 4},
	{"branch-instructions", 0, 4},
	{"branch-misses", 0, 5},
	{"bus-cycles", 0, 6},
	{"stalled-cycles-frontend", 0, 7},
	{"idle-cycles-frontend", 0, 7},
	{"stalled-cycles-backend", 0, 8},
	{"idle-cycles-backend", 0, 8},
	{"ref-cycles", 0, 9},
	{"cpu-clock", 1, 0},
	{"task-clock", 1, 1},
	{"page-faults", 1, 2},
	{"faults", 1, 2},
	{"context-switches", 1, 3},
	{"cs", 1, 3},
	{"cpu-migrations", 1, 4},
	{"migrations", 1, 4},
	{"minor-faults", 1, 5},
	{"major-faults", 1, 6},
	{"alignment-faults", 1, 7},
	{"emulation-faults", 1, 8},
	{"dummy", 1, 9},
	{"bpf-output", 1, 10},
	{"cgroup-switches", 1, 11},
	{"CYCLES", 0, 0},
	{"Page-Faults", 1, 2},
};

static void test_names(void **state)
{
	size_t i, count;
	const struct event_name *all = event_names(&count);

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(names[i].text, names[i].type, names[i].config);
	assert_int_equal(count, sizeof(names) / sizeof(names[0]) - 2);
	for (i = 0; i < count; i++)
		expect(all[i].name, all[i].type, all[i].config);
}

static const char *const caches[7][6] = {
	{"L1-dcache", "l1-d", "l1d", "L1-data"}, {"L1-icache", "l1-i", "l1i", "L1-instruction"},
	{"LLC", "L2"}, {"dTLB", "d-tlb", "Data-TLB"}, {"iTLB", "i-tlb", "Instruction-TLB"},
	{"branch", "branches", "bpu", "btb", "bpc"}, {"node"},
};
static const char *const ops[3][5] = {{"load", "loads", "read"},
				      {"store", "stores", "write"},
				      {"prefetch", "prefetches", "speculative-read", "speculative-load"}};
static const char *const results[2][5] = {{"refs", "Reference", "ops", "access"}, {"misses", "miss"}};
static const unsigned cache_ops[7] = {7, 5, 7, 7, 1, 1, 7}; /* bits: load, store, prefetch */

/* One spelling, with operation and result in both orders. */
static void check_cache_name(const char *cache, const char *op, const char *result, bool there,
			     uint64_t config)
{
	struct perfev_event *event;
	char text[64];

	snprintf(text, sizeof(text), "%s-%s-%s", cache, op, result);
	if (!there) {
		assert_fails(parse_one(&event, text), EINVAL);
		return;
	}
	expect(text, 3, config);
	snprintf(text, sizeof(text), "%s-%s-%s", cache, result, op);
	expect(text, 3, config);
}

static void test_cache_names(void **state)
{
	unsigned c, o, r;
	int ca, oa, ra;

	(void)state;
	for (c = 0; c < 7; c++)
		for (o = 0; o < 3; o++)
			for (r = 0; r < 2; r++)
				for (ca = 0; caches[c][ca]; ca++)
					for (oa = 0; ops[o][oa]; oa++)
						for (ra = 0; results[r][ra]; ra++)
							check_cache_name(caches[c][ca], ops[o][oa], results[r][ra],
									 cache_ops[c] >> o & 1, c | o << 8 | r << 16);
}

static void test_short_cache_names(void **state)
{
	(void)state;
	expect("L1-dcache-loads", 3, 0);
	expect("L1-dcache-load-misses", 3, 0x10000);
	expect("L1-dcache-misses", 3, 0x10000);
	expect("L1-dcache-store-misses", 3, 0x10100);
	expect("l1-DCACHE-PREFETCH", 3, 0x200);
	expect("L1-icache-load-misses", 3, 0x10001);
	expect("LLC", 3, 2);
	expect("LLC-stores", 3, 0x102);
	expect("dTLB-load-misses", 3, 0x10003);
	expect("iTLB-loads", 3, 4);
	expect("branch-loads", 3, 5);
	expect("branch-load-misses", 3, 0x10005);
	expect("node-prefetch-misses", 3, 0x10206);
	expect("branch-misses", 0, 5); /* the hardware event goes before the cache's */
}

/* attr -> name -> the same attr, for all that has a name. */
static void test_names_of_attrs(void **state)
{
	struct perf_event_attr attr;
	uint32_t type, c, o, r;
	char name[64];

	(void)state;
	memset(&attr, 0, sizeof(attr));
	for (type = 0; type < 2; type++)
		for (c = 0; c < (type ? 12u : 10u); c++) {
			attr.type = type;
			attr.config = c;
			event_name_format(name, sizeof(name), &attr);
			expect(name, type, c);
			attr.config |= UINT64_C(9) << 32; /* of one PMU of several */
			event_name_format(name, sizeof(name), &attr);
			assert_int_equal(parse(name).config, c);
		}
	attr.type = 3;
	for (c = 0; c < 9; c++)
		for (o = 0; o < 4; o++)
			for (r = 0; r < 3; r++) {
				attr.config = c | o << 8 | r << 16;
				event_name_format(name, sizeof(name), &attr);
				expect(name, 3, attr.config);
			}
	attr.config = 0x1000000; /* no cache has bits there */
	event_name_format(name, sizeof(name), &attr);
	expect(name, 3, 0x1000000);
	attr.type = 77;
	attr.config = UINT64_MAX;
	event_name_format(name, sizeof(name), &attr);
	expect(name, 77, UINT64_MAX);
	attr.type = PERF_TYPE_RAW;
	attr.config = 0x1c2;
	event_name_format(name, sizeof(name), &attr);
	assert_string_equal(name, "raw 0x1c2");
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = 314;
	event_name_format(name, sizeof(name), &attr);
	assert_string_equal(name, "tracepoint 314");
	event_name_format(name, 5, &attr);
	assert_string_equal(name, "trac");
}

static void test_numbers(void **state)
{
	(void)state;
	expect("r1c2", 4, 0x1c2);
	expect("r0x1C2", 4, 0x1c2);
	expect("rffffffffffffffff", 4, UINT64_MAX);
	expect("r0", 4, 0);
	expect("4:0x1c2", 4, 0x1c2);
	expect("0:0", 0, 0);
	expect("1:2", 1, 2);
	expect("4294967295:18446744073709551615", UINT32_MAX, UINT64_MAX);
	expect("0x6:0xffffffffffffffff", 6, UINT64_MAX);
	expect("010:010", 10, 10); /* decimal: there is no octal */
}

/* ---- modifiers ------------------------------------------------------------------------------------------- */

static void test_modifiers(void **state)
{
	struct perf_event_attr a = parse("cycles:u");

	(void)state;
	assert_true(!a.exclude_user && a.exclude_kernel && a.exclude_hv);
	a = parse("cycles:k");
	assert_true(a.exclude_user && !a.exclude_kernel && a.exclude_hv);
	a = parse("cycles:h");
	assert_true(a.exclude_user && a.exclude_kernel && !a.exclude_hv);
	a = parse("cycles:uk");
	assert_true(!a.exclude_user && !a.exclude_kernel && a.exclude_hv);
	a = parse("cycles:ukh");
	assert_true(!a.exclude_user && !a.exclude_kernel && !a.exclude_hv);
	assert_true(!a.exclude_guest && !a.exclude_host && !a.exclude_idle && !a.precise_ip);
	a = parse("cycles:G");
	assert_true(a.exclude_host && !a.exclude_guest && !a.exclude_user);
	a = parse("cycles:H");
	assert_true(!a.exclude_host && a.exclude_guest);
	a = parse("cycles:GH");
	assert_true(!a.exclude_host && !a.exclude_guest);
	a = parse("cycles:I");
	assert_true(a.exclude_idle);
	assert_int_equal(parse("cycles:p").precise_ip, 1);
	assert_int_equal(parse("cycles:pp").precise_ip, 2);
	assert_int_equal(parse("cycles:pupp").precise_ip, 3);
	a = parse("cycles:De");
	assert_true(a.pinned && a.exclusive && a.disabled);
	a = parse("r1c2:upp");
	assert_true(a.type == PERF_TYPE_RAW && a.exclude_kernel && a.precise_ip == 2);
	a = parse("4:0x1c2:k");
	assert_true(a.type == 4 && a.config == 0x1c2 && a.exclude_user);
	a = parse("L1-dcache-load-misses:u");
	assert_true(a.type == 3 && a.config == 0x10000 && a.exclude_kernel);
}

/* ---- names of libpfm4 --------------------------------------------------------------------------------------------- */

static void test_pfm(void **state)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config;
		unsigned excluded; /* user 1, kernel 2, hypervisor 4 */
	} rows[] = {
		{"pfm:PERF_COUNT_HW_CPU_CYCLES", 0, 0, 0},   {"pfm:perf::PERF_COUNT_HW_INSTRUCTIONS:u", 0, 1, 6},
		{"pfm:perf::PAGE-FAULTS:k", 1, 2, 5},	     {"pfm:perf_raw::r1a8", 4, 0x1a8, 0},
		{"pfm:perf::L1-DCACHE-LOAD-MISSES", 3, 0x10000, 0},
	};
	struct perfev_events *events;
	size_t i;

	(void)state;
	if (parse_all(&events, "cs,pfm:perf::CYCLES", &err) == -EOPNOTSUPP) {
		assert_int_equal(err.where, 4);
		assert_says("libpfm4 is not installed");
		SKIP("libpfm4 is not installed");
	}
	perfev_events_free(events);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr a = parse(rows[i].text);

		if (a.type != rows[i].type || a.config != rows[i].config ||
		    (unsigned)(a.exclude_user | a.exclude_kernel << 1 | a.exclude_hv << 2) != rows[i].excluded || !a.disabled)
			fail_msg("'%s': %u:0x%llx", rows[i].text, a.type, (unsigned long long)a.config);
	}
	assert_works(parse_all(&events, "{pfm:perf::CYCLES,cs}:D,pfm:perf::FAULTS", &err));
	assert_int_equal(perfev_events_count(events), 3);
	assert_int_equal(perfev_events_leader(events, 1), 0);
	perfev_events_free(events);
	assert_fails(parse_all(&events, "cs,pfm:nothing", &err), EINVAL);
	assert_int_equal(err.where, 4);
	assert_says("libpfm4 does not take 'nothing': event not found");
	assert_fails(parse_all(&events, "pfm:", &err), EINVAL);
}

/* ---- lists and groups ---------------------------------------------------------------------------------------- */

static void test_lists(void **state)
{
	static const char *const wanted[] = {"cycles:u", "cs", "instructions", "r1:k", "3:0x10000:p"};
	struct perfev_events *events;
	size_t i;

	(void)state;
	assert_works(parse_all(&events, "cycles:u,cs,instructions,r1:k,3:0x10000:p", &err));
	assert_int_equal(perfev_events_count(events), 5);
	for (i = 0; i < 5; i++) {
		assert_string_equal(perfev_event_name(perfev_events_at(events, i)), wanted[i]);
		assert_int_equal(perfev_events_leader(events, i), i);
		assert_int_equal(perfev_event_attr(perfev_events_at(events, i))->disabled, 1);
	}
	perfev_events_free(events);
}

static void test_groups(void **state)
{
	static const size_t leaders[] = {0, 1, 1, 1, 4, 5, 5};
	struct perfev_events *events;
	size_t i;

	(void)state;
	assert_works(parse_all(&events, "cs,{cycles,instructions:k,4:7}:uDe,faults,{r1,r2}", &err));
	assert_int_equal(perfev_events_count(events), 7);
	for (i = 0; i < 7; i++) {
		const struct perf_event_attr *attr = perfev_event_attr(perfev_events_at(events, i));
		bool leads = leaders[i] == i, user = i == 1 || i == 3; /* :k of a member and :u are both */

		assert_int_equal(perfev_events_leader(events, i), leaders[i]);
		assert_int_equal(attr->disabled, leads); /* members start with their leader */
		assert_int_equal(attr->exclude_kernel, user);
		assert_int_equal(attr->pinned, i == 1);
		assert_int_equal(attr->exclusive, i == 1);
	}
	perfev_events_free(events);
	assert_works(parse_all(&events, "{cycles}", &err));
	assert_int_equal(perfev_events_count(events), 1);
	perfev_events_free(events);
}

/* Between words, as perf takes them. */
static void test_blanks(void **state)
{
	static const char *const texts[] = {
		"cs:u,{cycles,faults}:D", " cs:u , {cycles,faults} :D ", "\tcs :u,\n{ cycles , faults }: D\n",
		"cs: u,{cycles ,faults }:D",
	};
	static const char *const terms[] = {"cs/period=5,name=x/u", "cs/ period = 5 , name = x /u", "cs/period=5 ,\tname='x' / :u"};
	struct perfev_events *events;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (parse_all(&events, texts[i], &err) < 0)
			fail_msg("'%s': %s", texts[i], err.text);
		assert_int_equal(perfev_events_count(events), 3);
		assert_string_equal(perfev_event_name(perfev_events_at(events, 0)), "cs:u");
		assert_string_equal(perfev_event_name(perfev_events_at(events, 2)), "faults");
		assert_int_equal(perfev_events_leader(events, 2), 1);
		assert_int_equal(perfev_event_attr(perfev_events_at(events, 1))->pinned, 1);
		perfev_events_free(events);
	}
	for (i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		if (parse_all(&events, terms[i], &err) < 0)
			fail_msg("'%s': %s", terms[i], err.text);
		assert_string_equal(perfev_event_name(perfev_events_at(events, 0)), "x");
		assert_int_equal(perfev_event_attr(perfev_events_at(events, 0))->sample_period, 5);
		assert_int_equal(perfev_event_attr(perfev_events_at(events, 0))->exclude_kernel, 1);
		perfev_events_free(events);
	}
}

/* ---- events and lists as objects ------------------------------------------------------------------------------ */

static void test_event_new(void **state)
{
	struct {
		struct perf_event_attr attr;
		unsigned char more[56];
	} newer;
	struct perfev_event *event, *copy;
	char name[8] = "mine";

	(void)state;
	memset(&newer, 0, sizeof(newer));
	newer.attr.type = 7;
	newer.attr.config = 9;
	newer.attr.bp_len = 0x1234;
	newer.attr.size = 64; /* bp_len is behind it */
	assert_works(perfev_event_new(&event, name, &newer.attr, &err));
	name[0] = 'x';
	assert_string_equal(perfev_event_name(event), "mine");
	assert_int_equal(perfev_event_attr(event)->size, sizeof(struct perf_event_attr));
	assert_int_equal(perfev_event_attr(event)->type, 7);
	assert_int_equal(perfev_event_attr(event)->bp_len, 0);
	perfev_event_attr(event)->size = 1; /* is kept at the newest */
	assert_works(perfev_event_copy(&copy, event, &err));
	assert_int_equal(perfev_event_attr(copy)->config, 9);
	assert_int_equal(perfev_event_attr(event)->size, sizeof(struct perf_event_attr));
	perfev_event_free(copy);
	perfev_event_free(event);
	perfev_event_free(NULL);
	/* a caller with a newer header: taken when what is new is not used, else refused */
	newer.attr.size = sizeof(newer);
	assert_works(perfev_event_new(&event, name, &newer.attr, &err));
	assert_int_equal(perfev_event_attr(event)->bp_len, 0x1234);
	perfev_event_free(event);
	newer.more[55] = 1;
	assert_fails(perfev_event_new(&event, name, &newer.attr, &err), E2BIG);
	assert_int_equal(err.why, PERFEV_WHY_OPTIONS);
	/* what is no size is not believed */
	newer.attr.size = UINT32_MAX;
	assert_fails(perfev_event_new(&event, name, &newer.attr, &err), EINVAL);
	newer.attr.size = 63;
	assert_fails(perfev_event_new(&event, name, &newer.attr, &err), EINVAL);
}

static void test_events_lists(void **state)
{
	struct perfev_events *events, *more;
	struct perfev_event *event;
	size_t i;

	(void)state;
	assert_works(perfev_event_parse(&event, "cs", &err));
	assert_works(perfev_events_new(&events, &err));
	assert_int_equal(perfev_events_count(events), 0);
	assert_fails(perfev_events_add(events, event, 0, &err), EINVAL);
	assert_int_equal(perfev_events_add(events, event, -1, &err), 0);
	assert_int_equal(perfev_events_add(events, event, 0, &err), 1);
	assert_int_equal(perfev_events_add(events, event, -1, &err), 2);
	assert_fails(perfev_events_add(events, event, 0, &err), EINVAL); /* not the last group any more */
	assert_fails(perfev_events_add(events, event, 1, &err), EINVAL);
	assert_fails(perfev_events_add(events, event, 9, &err), EINVAL);
	assert_int_equal(perfev_events_count(events), 3);
	assert_works(parse_all(&more, "{cycles,r1},faults", &err));
	assert_works(perfev_events_append(events, more, &err));
	perfev_events_free(more);
	assert_int_equal(perfev_events_count(events), 6);
	assert_int_equal(perfev_events_leader(events, 4), 3);
	assert_string_equal(perfev_event_name(perfev_events_at(events, 5)), "faults");
	assert_works(perfev_events_append(events, events, &err)); /* twice all of it, and no more */
	assert_int_equal(perfev_events_count(events), 12);
	for (i = 0; i < 6; i++)
		assert_int_equal(perfev_events_leader(events, i + 6),
				 perfev_events_leader(events, i) + 6);
	perfev_events_free(events);
	perfev_events_free(NULL);
	perfev_event_free(event);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_cache_names),
	cmocka_unit_test(test_short_cache_names),
	cmocka_unit_test(test_names_of_attrs),
	cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_modifiers),
	cmocka_unit_test(test_pfm),
	cmocka_unit_test(test_lists),
	cmocka_unit_test(test_groups),
	cmocka_unit_test(test_blanks),
	cmocka_unit_test(test_event_new),
	cmocka_unit_test(test_events_lists),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
