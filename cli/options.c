/* SPDX-License-Identifier: MIT */
/*
 * Command lines: a table of options for each sub-command gives parsing, help and suggestions.
 *
 * "-F 999", "-F999", "--freq 999" and "--freq=999" are the same; flags of one letter may be joined. A
 * command to run begins at the first word that is no option, or behind "--".
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The words that a user gave come out in one line, without what would steer a terminal. */
PERFEV_PRINTF(2, 0)
static void say(const char *command, const char *format, va_list args)
{
	char text[4096];

	vsnprintf(text, sizeof(text), format, args);
	fprintf(stderr, "perfev%s%s: ", command ? " " : "", command ? command : "");
	text_name(stderr, text);
	fputc('\n', stderr);
}

int usage_error(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(command, format, args);
	va_end(args);
	fprintf(stderr, "Try 'perfev %s --help'.\n", command);
	return EXIT_USAGE;
}

int report_error(const struct perfev_error *err)
{
	fprintf(stderr, "perfev: %s\n", err->text);
	return EXIT_FAILED;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(NULL, format, args);
	va_end(args);
}

int out_of_memory(void)
{
	note("cannot go on: out of memory; end other programs, or measure less");
	return EXIT_FAILED;
}

int file_failed(const char *verb, const char *name, int error)
{
	note("cannot %s %s: %s; %s", verb, name, strerror(error),
	     error == ENOENT || error == ENOTDIR	? "look at the name again"
	     : error == EACCES || error == EPERM ? "run as its owner or as root, or take another place"
	     : error == EISDIR			? "name a file, this is a folder"
	     : error == ENOSPC || error == EDQUOT ? "make room, or take another place"
						  : "take another place");
	return EXIT_FAILED;
}

#define HELP_COLUMN 28 /* where the words about an option begin */
#define HELP_WIDTH  100

/* From HELP_COLUMN on, in lines that end before HELP_WIDTH. */
static void print_wrapped(const char *text)
{
	size_t column = HELP_COLUMN, size;

	for (; *text; text += size + (text[size] == ' ')) {
		size = strcspn(text, " ");
		if (column > HELP_COLUMN && column + 1 + size > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		printf("%s%.*s", column > HELP_COLUMN ? " " : "", (int)size, text);
		column += size + (column > HELP_COLUMN);
	}
	putchar('\n');
}

static void print_option(const struct option_row *row)
{
	char left[64], letter[8] = "    ";
	const char *name = row->name ? row->name : "";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c%s", row->letter, row->name ? ", " : "  ");
	snprintf(left, sizeof(left), "  %s%s%s%s%s%s", letter, row->name ? "--" : "", name,
		 row->kind == OPTION_MAYBE ? "[=" : row->argument ? " " : "", row->argument ? row->argument : "",
		 row->kind == OPTION_MAYBE ? "]" : "");
	if (strlen(left) > HELP_COLUMN - 2)
		printf("%s\n%*s", left, HELP_COLUMN, "");
	else
		printf("%-*s", HELP_COLUMN, left);
	print_wrapped(row->help);
}

static int print_help(const struct command_line *line)
{
	size_t i;

	printf("Usage: perfev %s %s\n\n%s\n\nOptions:\n", line->command, line->synopsis,
	       line->description);
	for (i = 0; i < line->option_count; i++)
		if (line->options[i].kind != OPTION_LATER &&
		    line->options[i].kind != OPTION_LATER_TEXT)
			print_option(&line->options[i]);
	printf("%-28s%s\n", "  -h, --help", "show this");
	return EXIT_DONE;
}

static int unknown_option(const struct command_line *line, const char *word)
{
	const char *names[64], *near;
	size_t i, n = 0;

	for (i = 0; i < line->option_count && n < 64; i++)
		if (line->options[i].name)
			names[n++] = line->options[i].name;
	near = !strncmp(word, "--", 2) ? perfev_nearest(word + 2, names, n) : NULL;
	if (near)
		return usage_error(line->command, "there is no option '%s'; did you mean --%s?", word, near);
	return usage_error(line->command, "there is no option '%s'", word);
}

static const struct option_row *find_name(const struct command_line *line, const char *name,
					  size_t size)
{
	size_t i;

	for (i = 0; i < line->option_count; i++)
		if (line->options[i].name && strlen(line->options[i].name) == size &&
		    !memcmp(line->options[i].name, name, size))
			return &line->options[i];
	return NULL;
}

static const struct option_row *find_letter(const struct command_line *line, char letter)
{
	size_t i;

	for (i = 0; i < line->option_count; i++)
		if (line->options[i].letter == letter)
			return &line->options[i];
	return NULL;
}

static int add_text(struct texts *texts, const char *text)
{
	const char **items = realloc(texts->items, (texts->count + 1) * sizeof(*items));

	if (!items)
		return -1;
	texts->items = items;
	items[texts->count++] = text;
	return 0;
}

/* It is for the events of the -e before it. */
static int set_filter(const struct command_line *line, struct texts *events, const char *word,
		      const char *value)
{
	const char **filters;

	if (!events->count)
		return usage_error(line->command, "%s stands behind the -e whose events it is for", word);
	filters = realloc(events->filters, events->count * sizeof(*filters));
	if (!filters)
		return out_of_memory();
	for (; events->filter_count < events->count; events->filter_count++)
		filters[events->filter_count] = NULL;
	events->filters = filters;
	filters[events->count - 1] = value;
	return -1;
}

static int set_value(const struct command_line *line, const struct option_row *row, const char *word,
		     const char *value)
{
	char *end;
	unsigned long long number;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)row->value = true;
		return -1;
	case OPTION_MAYBE:
		*(const char **)row->value = value ? value : "";
		return -1;
	case OPTION_TEXT:
		*(const char **)row->value = value;
		return -1;
	case OPTION_LIST:
		return add_text(row->value, value) < 0 ? out_of_memory() : -1;
	case OPTION_FILTER:
		return set_filter(line, row->value, word, value);
	case OPTION_COUNT:
		errno = 0;
		number = strtoull(value, &end, 10);
		if (errno || end == value || *end || value[0] == '-')
			return usage_error(line->command, "%s takes a number, and '%s' is none", word, value);
		if (!number) /* which is what an option that was not given has */
			return usage_error(line->command, "%s takes a number from 1 on", word);
		*(uint64_t *)row->value = number;
		return -1;
	default:
		fprintf(stderr, "perfev %s: %s is not built yet\n", line->command, word);
		return EXIT_USAGE;
	}
}

static bool takes_value(const struct option_row *row)
{
	return row->kind != OPTION_FLAG && row->kind != OPTION_LATER && row->kind != OPTION_MAYBE;
}

/* "--name", "--name=value", "--name value". Moves *@at over what it took. */
static int long_option(const struct command_line *line, int argc, char **argv, int *at)
{
	const char *word = argv[*at], *equals = strchr(word, '=');
	size_t size = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
	const struct option_row *row = find_name(line, word + 2, size);

	if (!row)
		return unknown_option(line, word);
	if (equals && !takes_value(row) && row->kind != OPTION_MAYBE)
		return usage_error(line->command, "--%s takes no argument", row->name);
	if (equals || !takes_value(row))
		return set_value(line, row, word, equals ? equals + 1 : NULL);
	if (*at + 1 >= argc)
		return usage_error(line->command, "--%s needs an argument: %s", row->name, row->argument);
	return set_value(line, row, word, argv[++*at]);
}

/* "-a", "-ag", "-F 999", "-F999". */
static int short_options(const struct command_line *line, int argc, char **argv, int *at)
{
	const char *word = argv[*at], *letter;
	int r;

	for (letter = word + 1; *letter; letter++) {
		const struct option_row *row = find_letter(line, *letter);
		char name[3] = {'-', *letter, 0};

		if (!row)
			return unknown_option(line, strlen(word) == 2 ? word : name);
		if (!takes_value(row)) {
			r = set_value(line, row, name, NULL);
			if (r >= 0)
				return r;
			continue;
		}
		if (letter[1])
			return set_value(line, row, name, letter + 1);
		if (*at + 1 >= argc)
			return usage_error(line->command, "%s needs an argument: %s", name, row->argument);
		return set_value(line, row, name, argv[++*at]);
	}
	return -1;
}

void texts_free(struct texts *texts)
{
	free(texts->items);
	free(texts->filters);
}

int parse_options(struct command_line *line, int argc, char **argv)
{
	int at, kept = 0, r = -1;

	line->argv = argv;
	for (at = 0; at < argc && r < 0; at++) {
		const char *word = argv[at];

		if (!strcmp(word, "--")) {
			line->has_dashes = true;
			at++;
			break;
		}
		if (!strcmp(word, "--help") || !strcmp(word, "-h"))
			return print_help(line);
		if (word[0] != '-' || !word[1]) {
			if (line->takes_command)
				break;
			argv[kept++] = argv[at];
			continue;
		}
		r = word[1] == '-' ? long_option(line, argc, argv, &at)
				   : short_options(line, argc, argv, &at);
	}
	for (; at < argc && r < 0; at++)
		argv[kept++] = argv[at];
	argv[kept] = NULL;
	line->argc = kept;
	return r;
}
