/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints, parsed in front of a wall. */
#ifndef TESTS_UNIT_FORMATS_H
#define TESTS_UNIT_FORMATS_H

#include "bytes.h"
#include "test.h"

static struct perfev_error err;
static struct perfev_tracepoint *tp;
static struct guard guard;

static inline int setup(void **state)
{
	(void)state;
	tp = NULL;
	memset(&err, 0, sizeof(err));
	return guard_open(&guard) ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	perfev_tracepoint_free(tp);
	guard_close(&guard);
	return 0;
}

#define COMMON                                                                       \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"

/* The text ends at a wall. */
static inline int parse(const char *text, size_t size, bool swapped, uint32_t long_bytes)
{
	struct perfev_tracepoint_opts opts = {sizeof(opts), "sys", swapped, long_bytes};
	struct perfev_bytes view = {guard_put(&guard, text, size), size};

	perfev_tracepoint_free(tp);
	tp = NULL;
	return perfev_tracepoint_parse(&tp, view, &opts, &err);
}

static inline int parse_text(const char *text)
{
	return parse(text, strlen(text), false, 0);
}

/* A format with the common fields, these, and this to print. */
static inline const char *format_of(const char *fields, const char *print)
{
	static char text[70000];

	snprintf(text, sizeof(text), "name: it\nID: 77\nformat:\n" COMMON "\n%s\nprint fmt: %s\n", fields, print);
	return text;
}

static inline const struct perfev_field *field(const char *name)
{
	const struct perfev_field *found = perfev_tracepoint_field(tp, name);

	if (!found)
		fail_msg("there is no field %s", name);
	return found;
}

/* A format with fields of each kind. */
static inline const char *values_format(void)
{
	return format_of("\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"
			 "\tfield:s8 b;\toffset:9;\tsize:1;\tsigned:1;\n"
			 "\tfield:u16 c;\toffset:10;\tsize:2;\tsigned:0;\n"
			 "\tfield:s16 d;\toffset:12;\tsize:2;\tsigned:1;\n"
			 "\tfield:u32 e;\toffset:15;\tsize:4;\tsigned:0;\n" /* not aligned */
			 "\tfield:s32 f;\toffset:20;\tsize:4;\tsigned:1;\n"
			 "\tfield:u64 g;\toffset:24;\tsize:8;\tsigned:0;\n"
			 "\tfield:s64 h;\toffset:32;\tsize:8;\tsigned:1;\n"
			 "\tfield:char comm[8];\toffset:40;\tsize:8;\tsigned:0;\n"
			 "\tfield:__data_loc char[] name;\toffset:48;\tsize:4;\tsigned:0;\n"
			 "\tfield:__rel_loc char[] path;\toffset:52;\tsize:4;\tsigned:0;\n"
			 "\tfield:void * at;\toffset:56;\tsize:8;\tsigned:0;\n"
			 "\tfield:s16 list[3];\toffset:64;\tsize:6;\tsigned:1;\n"
			 "\tfield:struct s box;\toffset:70;\tsize:2;\tsigned:0;\n"
			 "\tfield:__data_loc cpumask_t cpus;\toffset:72;\tsize:4;\tsigned:0;\n"
			 "\tfield:__data_loc u32[] more;\toffset:76;\tsize:4;\tsigned:0;\n",
			 "\"\"");
}

#endif
