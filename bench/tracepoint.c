/* SPDX-License-Identifier: MIT */
/* Fields of tracepoints: a value against a copy of the same bytes, and a format against libtraceevent. */
#include "bench.h"

#include <perfev/tracepoint.h>

#include <string.h>

#ifdef HAVE_TRACEEVENT
#include <event-parse.h>
#endif

static const char text[] =
	"name: sched_switch\nID: 314\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] reason;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"prev_comm=%s prev_pid=%d\", REC->prev_comm, REC->prev_pid\n";

struct work {
	struct perfev_tracepoint *tracepoint;
	const struct perfev_field *number, *string, *dynamic;
	struct perfev_bytes raw;
	unsigned char data[80];
	uint64_t sum;
	char line[512];
};

static void read_number(void *work, int count)
{
	struct work *w = work;
	int64_t value = 0;

	while (count--) {
		perfev_field_int(w->number, w->raw, &value);
		w->sum += (uint64_t)value;
	}
}

static void copy_number(void *work, int count)
{
	struct work *w = work;
	volatile int32_t value;

	while (count--) {
		memcpy((void *)&value, w->data + 56, 4);
		w->sum += (uint64_t)value;
	}
}

static void read_string(void *work, int count)
{
	struct work *w = work;
	struct perfev_bytes string;

	while (count--)
		if (perfev_field_string(w->string, w->raw, &string))
			w->sum += string.size;
}

static void read_dynamic(void *work, int count)
{
	struct work *w = work;
	struct perfev_bytes string;

	while (count--)
		if (perfev_field_string(w->dynamic, w->raw, &string))
			w->sum += string.size;
}

static void copy_string(void *work, int count)
{
	struct work *w = work;

	while (count--) {
		memcpy(w->line, w->data + 40, 16);
		w->sum += strlen(w->line);
	}
}

static void find_field(void *work, int count)
{
	struct work *w = work;

	while (count--)
		w->sum += perfev_tracepoint_field(w->tracepoint, "next_pid")->offset;
}

static void format_line(void *work, int count)
{
	struct work *w = work;

	while (count--)
		w->sum += perfev_tracepoint_format(w->line, sizeof(w->line), w->tracepoint, w->raw);
}

static void print_line(void *work, int count)
{
	struct work *w = work;

	while (count--)
		w->sum += (uint64_t)snprintf(w->line, sizeof(w->line),
					     "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%ld next_comm=%s "
					     "next_pid=%d reason=%s",
					     "bash", 42, 120, 1L, "swapper/0", 7, "preempted");
}

static void parse(void *work, int count)
{
	struct perfev_bytes bytes = {text, sizeof(text) - 1};
	struct perfev_tracepoint *tracepoint;

	(void)work;
	while (count--)
		if (perfev_tracepoint_parse(&tracepoint, bytes, NULL, NULL) == 0)
			perfev_tracepoint_free(tracepoint);
}

#ifdef HAVE_TRACEEVENT
static void parse_theirs(void *work, int count)
{
	struct tep_handle *tep;

	(void)work;
	while (count--) {
		tep = tep_alloc();
		tep_parse_event(tep, text, sizeof(text) - 1, "sched");
		tep_free(tep);
	}
}
#endif

int main(void)
{
	static struct work w;
	struct perfev_bytes bytes = {text, sizeof(text) - 1};
	const uint32_t where = 10u << 16 | 64;

	if (perfev_tracepoint_parse(&w.tracepoint, bytes, NULL, NULL) < 0)
		return 1;
	w.number = perfev_tracepoint_field(w.tracepoint, "next_pid");
	w.string = perfev_tracepoint_field(w.tracepoint, "next_comm");
	w.dynamic = perfev_tracepoint_field(w.tracepoint, "reason");
	strcpy((char *)w.data + 8, "bash");
	strcpy((char *)w.data + 40, "swapper/0");
	memcpy(w.data + 60, &where, 4);
	strcpy((char *)w.data + 64, "preempted");
	w.data[56] = 7;
	w.raw.data = w.data;
	w.raw.size = sizeof(w.data);
	bench_pair("a field's number", "memcpy of it", read_number, copy_number, &w, 100000);
	bench_pair("a field's text", "memcpy and strlen", read_string, copy_string, &w, 100000);
	bench_pair("a dynamic field's text", "memcpy and strlen", read_dynamic, copy_string, &w, 100000);
	bench_row("a field by its name", find_field, &w, 100000);
	bench_pair("a sample as text", "snprintf of the same", format_line, print_line, &w, 2000);
#ifdef HAVE_TRACEEVENT
	bench_pair("a format, parsed", "libtraceevent", parse, parse_theirs, &w, 500);
#else
	bench_row("a format, parsed", parse, &w, 500);
#endif
	perfev_tracepoint_free(w.tracepoint);
	return w.sum == 0;
}
