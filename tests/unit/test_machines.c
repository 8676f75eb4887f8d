/* SPDX-License-Identifier: MIT */
/* Event text on other machines: each text of tests/machines means what is written there, by hand, and the
 * text that is made of each of these events means it again. */
#include "test.h"
#include "machine.h"

#include "capture/event.h"

#include <dirent.h>

static struct perfev_error err;

#define EVENTS_MAX 64

/* A text, and what it is to mean. */
struct row {
	char text[MACHINE_LINE];
	char lines[EVENTS_MAX][MACHINE_LINE];
	size_t count;
	char mistake[MACHINE_LINE];
};

static struct row row;
static unsigned texts, events_seen, mistakes, wrong;

/* One more that is wrong: all of them are told, not the first alone. */
#define WRONG(...) (wrong++, print_error(__VA_ARGS__))

static void check_mistake(const struct machine *machine)
{
	struct perfev_events *events;
	unsigned long column;
	char *words;

	column = strtoul(row.mistake, &words, 10);
	if (perfev_events_parse_at(&events, row.text, &machine->opts, &err) != -EINVAL) {
		WRONG("'%s' is taken, or refused with another code: %s\n", row.text, err.text);
		return;
	}
	if (err.where != column || !strstr(err.text, words + 1))
		WRONG("'%s': column %llu, %s\n", row.text, (unsigned long long)err.where, err.text);
	if (perfev_events_parse_at(&events, row.text, &machine->opts, NULL) != -EINVAL)
		WRONG("'%s' without a place for the error\n", row.text);
	mistakes++;
}

/* The same event again: all but the name, which may be another one for the same. */
static void check_round_trip(const struct machine *machine, const struct perfev_events *events, size_t index)
{
	struct perfev_events *single, *again;
	char text[MACHINE_LINE], line[MACHINE_LINE], second[MACHINE_LINE];
	size_t n, m;

	assert_works(perfev_events_new(&single, &err));
	assert_works(perfev_events_add(single, perfev_events_at(events, index), -1, &err));
	perfev_event_attr(perfev_events_at(single, 0))->disabled = 1;
	if (event_format_at(text, sizeof(text), perfev_events_at(single, 0), &machine->opts, &err) < 0) {
		WRONG("'%s': %s\n", row.text, err.text);
		perfev_events_free(single);
		return;
	}
	assert_works(perfev_events_parse_at(&again, text, &machine->opts, &err));
	assert_int_equal(perfev_events_count(again), 1);
	event_line(line, sizeof(line), single, 0);
	event_line(second, sizeof(second), again, 0);
	n = strlen(perfev_event_name(perfev_events_at(single, 0)));
	m = strlen(perfev_event_name(perfev_events_at(again, 0)));
	if (strcmp(line + n, second + m))
		WRONG("'%s', written as '%s':\n%s, and not\n%s\n", row.text, text, second, line);
	perfev_events_free(again);
	perfev_events_free(single);
}

static void check_events(const struct machine *machine)
{
	struct perfev_events *events;
	char line[MACHINE_LINE];
	size_t i;

	if (perfev_events_parse_at(&events, row.text, &machine->opts, &err) < 0) {
		WRONG("'%s': %s\n", row.text, err.text);
		return;
	}
	for (i = 0; i < perfev_events_count(events); i++) {
		event_line(line, sizeof(line), events, i);
		if (i >= row.count || strcmp(line, row.lines[i]))
			WRONG("'%s', event %zu:\n%s, and not\n%s\n", row.text, i, line,
				 i < row.count ? row.lines[i] : "(none)");
		check_round_trip(machine, events, i);
		events_seen++;
	}
	if (i < row.count)
		WRONG("'%s': '%s' is missing\n", row.text, row.lines[i]);
	perfev_events_free(events);
}

static void check_row(const struct machine *machine)
{
	if (!row.text[0])
		return;
	texts++;
	if (row.mistake[0])
		check_mistake(machine);
	else
		check_events(machine);
	memset(&row, 0, sizeof(row));
}

static void check_machine(const char *name)
{
	char path[300], line[MACHINE_LINE];
	struct machine machine;
	FILE *file;

	snprintf(path, sizeof(path), "tests/machines/%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(machine_new(&machine, name));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] == '?') {
			check_row(&machine);
			strcpy(row.text, line + 2);
		} else if (line[0] == '=' && row.count < EVENTS_MAX) {
			strcpy(row.lines[row.count++], line + 2);
		} else if (line[0] == '!') {
			strcpy(row.mistake, line + 2);
		}
	}
	check_row(&machine);
	fclose(file);
	machine_free(&machine);
}

static void on(void **state)
{
	wrong = 0;
	check_machine(*state);
	assert_int_equal(wrong, 0);
}

static void test_there_are_many(void **state)
{
	(void)state;
	print_message("%u texts, %u events, %u mistakes\n", texts, events_seen, mistakes);
	assert_true(events_seen >= 150 && mistakes >= 50);
}

#define MACHINE(name) {"on " name, on, NULL, NULL, (char[]){name}}

static const struct CMUnitTest tests[] = {
	MACHINE("alderlake"), MACHINE("xeon"),	MACHINE("zen"), MACHINE("big-little"), MACHINE("mainframe"),
	MACHINE("riscv"),     MACHINE("power"), cmocka_unit_test(test_there_are_many),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
