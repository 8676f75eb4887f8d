/* SPDX-License-Identifier: MIT */
/* perfev fix: a recording whose recorder was killed, as one that every tool reads. */
#include "cli.h"

#include <string.h>
#include <sys/stat.h>

struct fix_options {
	const char *input, *output;
};

/* The new file would take the place of the old one while that is read. */
static bool is_same_file(const char *left, const char *right)
{
	struct stat a, b;

	return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void summarize(const struct fix_options *o, const struct perfev_copy_info *info,
		      const struct perfev_error *damage)
{
	char records[32], bytes[32];

	if (damage)
		note("what is behind the damage was left out (%s)", text_cause(damage->text));
	note("%s records, %s, %u sections made anew: %s", text_number(records, info->records), text_bytes(bytes, info->bytes),
	     info->rebuilt, strcmp(o->output, "-") ? o->output : "standard output");
}

/* A compressed record that is cut off may leave a part of a record in the one before: then what is in them is written. */
#define AGAIN 1000

static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* Whether the new file can be read to its end. */
static bool is_whole(const char *path)
{
	struct perfev_reader *reader;
	struct perfev_record record;
	int r = perfev_reader_open(&reader, path, NULL, NULL);

	if (r < 0)
		return false;
	while ((r = perfev_reader_next(reader, &record, NULL)) > 0)
		perfev_reader_release(reader);
	perfev_reader_close(reader);
	return r == 0;
}

/* Return: AGAIN, expanded; or an exit code. */
static int fix(const struct fix_options *o, bool expand)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_copy_opts how = {.size = sizeof(how), .keep = !expand, .expand = expand};
	struct perfev_reader_info what;
	struct perfev_copy_info info;
	struct perfev_reader *reader;
	struct perfev_error err;
	int r;

	if (perfev_reader_open(&reader, o->input, &opts, &err) < 0)
		return report_error(&err);
	if (perfev_reader_event_count(reader) == 0 && perfev_reader_damage(reader)) {
		r = report_error(perfev_reader_damage(reader));
		perfev_reader_close(reader);
		return r;
	}
	perfev_reader_describe(reader, &what);
	how.rebuild = what.cut || perfev_reader_damage(reader);
	r = perfev_copy(o->output, reader, &how, &info, &err);
	if (r < 0)
		r = report_error(&err);
	else if (perfev_reader_damage(reader) && info.compressed && is_there(o->input) && is_there(o->output) &&
		 !is_whole(o->output))
		r = AGAIN;
	else
		summarize(o, &info, perfev_reader_damage(reader));
	perfev_reader_close(reader);
	return r;
}

int cmd_fix(int argc, char **argv)
{
	struct fix_options o = {NULL, NULL};
	const struct option_row rows[] = {
		{'i', "input", "FILE", "the recording, if it is not the first argument", OPTION_TEXT, &o.input},
		{'o', "output", "OUT", "where to; an older file is kept as OUT.old", OPTION_TEXT, &o.output},
	};
	struct command_line line = {
		.command = "fix",
		.synopsis = "FILE -o OUT",
		.description = "Writes what is readable of a recording whose recorder was killed, or whose disk was "
			       "full,\nas a file that every tool reads: up to the last whole record, with events and "
			       "sections.",
		.options = rows,
		.option_count = sizeof(rows) / sizeof(rows[0]),
	};
	int r = parse_options(&line, argc, argv);

	if (r >= 0)
		return r;
	if (line.argc > (o.input ? 0 : 1))
		return usage_error("fix", "it takes one recording, and '%s' is one too many", line.argv[o.input ? 0 : 1]);
	if (!o.input && line.argc)
		o.input = line.argv[0];
	if (!o.input)
		return usage_error("fix", "which recording? perfev fix FILE -o OUT");
	if (!o.output)
		return usage_error("fix", "where to? -o OUT names the new file");
	if (is_same_file(o.input, o.output))
		return usage_error("fix", "-o %s is the recording itself; name another file", o.output);
	r = fix(&o, false);
	return r == AGAIN ? fix(&o, true) : r;
}
