/* SPDX-License-Identifier: MIT */
/* Texts that mean no event: each mistake is named with its column. */
#include "nowhere.h"

#include <errno.h>

static struct perfev_error err;

static void test_mistakes(void **state)
{
	static const struct {
		const char *text;
		uint64_t column;
		enum perfev_why why;
		const char *says;
	} rows[] = {
		{"", 1, PERFEV_WHY_SYNTAX, "an event is missing"},
		{",", 1, PERFEV_WHY_SYNTAX, "missing before"},
		{"cycles,", 8, PERFEV_WHY_SYNTAX, "an event is missing"},
		{"cycles,,cs", 8, PERFEV_WHY_SYNTAX, "missing before"},
		{"cycels", 1, PERFEV_WHY_UNKNOWN_EVENT, "did you mean cycles?"},
		{"cs,instrctions:u", 4, PERFEV_WHY_UNKNOWN_EVENT, "did you mean instructions?"},
		{"L1-dcache-load-mises", 1, PERFEV_WHY_UNKNOWN_EVENT, "did you mean L1-dcache-load-misses?"},
		{"iTLB-stores", 1, PERFEV_WHY_UNKNOWN_EVENT, "did you mean dTLB-stores?"},
		{"zzzzzzzzzzz", 1, PERFEV_WHY_UNKNOWN_EVENT, "perfev list"},
		{"cycles:x", 8, PERFEV_WHY_SYNTAX, "unknown modifier"},
		{"cycles:ux", 9, PERFEV_WHY_SYNTAX, "unknown modifier"},
		{"cycles:", 8, PERFEV_WHY_SYNTAX, "a modifier is missing"},
		{"cycles:,cs", 8, PERFEV_WHY_SYNTAX, "a modifier is missing"},
		{"cycles:pppp", 11, PERFEV_WHY_SYNTAX, "more than three p"},
		{"cycles:u:k", 9, PERFEV_WHY_SYNTAX, "unknown modifier"},
		{"cycles u", 8, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{"cycles:u k", 10, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{" ", 2, PERFEV_WHY_SYNTAX, "an event is missing"},
		{"cs, ", 5, PERFEV_WHY_SYNTAX, "an event is missing"},
		{" ,cs", 2, PERFEV_WHY_SYNTAX, "missing before"},
		{"cs / period=1/", 4, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{"cs/period=1 2/", 13, PERFEV_WHY_SYNTAX, "slash"},
		{"cs/name=a b/", 11, PERFEV_WHY_SYNTAX, "slash"},
		{"{cs} {cs}", 6, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{"cpu/event=1/", 1, PERFEV_WHY_UNKNOWN_EVENT, "'cpu'"},
		{"cycles/", 8, PERFEV_WHY_SYNTAX, "a term is missing"},
		{"{}", 2, PERFEV_WHY_SYNTAX, "missing before"},
		{"{", 2, PERFEV_WHY_SYNTAX, "an event is missing"},
		{"cs,{cycles", 4, PERFEV_WHY_SYNTAX, "is not closed"},
		{"cs,{cycles,", 12, PERFEV_WHY_SYNTAX, "an event is missing"},
		{"{cycles,}", 9, PERFEV_WHY_SYNTAX, "missing before"},
		{"{{cycles}}", 2, PERFEV_WHY_SYNTAX, "missing before"},
		{"{cycles}}", 9, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{"{cycles}cs", 9, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{"{cycles}:", 10, PERFEV_WHY_SYNTAX, "a modifier is missing"},
		{"{cycles}:q", 10, PERFEV_WHY_SYNTAX, "unknown modifier"},
		{"{cycles}:u}", 11, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{"cycles}", 7, PERFEV_WHY_SYNTAX, "a comma, or the end"},
		{"r", 1, PERFEV_WHY_UNKNOWN_EVENT, "'r'"},
		{"r1ffffffffffffffff", 1, PERFEV_WHY_UNKNOWN_EVENT, "no event"},
		{"r0x", 1, PERFEV_WHY_UNKNOWN_EVENT, "no event"},
		{"rxyz", 1, PERFEV_WHY_UNKNOWN_EVENT, "no event"},
		{"4:", 1, PERFEV_WHY_UNKNOWN_EVENT, "'4'"},
		{"4", 1, PERFEV_WHY_UNKNOWN_EVENT, "'4'"},
		{"4294967296:1", 1, PERFEV_WHY_UNKNOWN_EVENT, "4294967296"},
		{"4:18446744073709551616", 3, PERFEV_WHY_SYNTAX, "64 bits"},
		{"cs\r", 1, PERFEV_WHY_UNKNOWN_EVENT, "'cs?'"},
		{"cs\nfaults", 4, PERFEV_WHY_SYNTAX, "a comma, or the end"},
	};
	struct perfev_events *events = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (parse_all(&events, rows[i].text, &err) != -EINVAL)
			fail_msg("'%s' is taken", rows[i].text);
		if (err.where != rows[i].column || err.why != rows[i].why ||
		    !strstr(err.text, rows[i].says))
			fail_msg("'%s': column %llu, %s, %s", rows[i].text,
				 (unsigned long long)err.where, perfev_why_name(err.why), err.text);
		assert_int_equal(err.code, -EINVAL);
		assert_fails(parse_all(&events, rows[i].text, NULL), EINVAL);
		assert_null(events);
	}
}

/* However long the text is, its error says what is wrong with it. */
static void test_long_texts(void **state)
{
	struct perfev_events *events;
	char *text = malloc(20000), column[32];
	size_t i, at = 0;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < 1000; i++)
		at += (size_t)sprintf(text + at, "cycles,");
	strcpy(text + at, "cycels");
	assert_fails(parse_all(&events, text, &err), EINVAL);
	assert_int_equal(err.where, at + 1);
	snprintf(column, sizeof(column), "column %zu", at + 1);
	assert_says(column);
	assert_says("did you mean cycles?");
	strcpy(text + at, "cycles:q");
	assert_fails(parse_all(&events, text, &err), EINVAL);
	assert_says("unknown modifier");
	memset(text, 'q', 19999);
	text[19999] = 0;
	assert_fails(parse_all(&events, text, &err), EINVAL);
	assert_says("no event is called");
	text[at - 1] = 0;
	for (i = 0; i < 1000; i++)
		memcpy(text + i * 7, "cycles,", 7);
	text[6999] = 0;
	assert_works(parse_all(&events, text, &err));
	assert_int_equal(perfev_events_count(events), 1000);
	perfev_events_free(events);
	free(text);
}

static void test_one_event(void **state)
{
	struct perfev_event *event = NULL;

	(void)state;
	assert_fails(perfev_event_parse(&event, "cycles,cs", &err), EINVAL);
	assert_says("it means 2");
	assert_fails(perfev_event_parse(&event, "nothing", &err), EINVAL);
	assert_null(event);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_mistakes),
	cmocka_unit_test(test_long_texts),
	cmocka_unit_test(test_one_event),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
