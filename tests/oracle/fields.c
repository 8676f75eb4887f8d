/* SPDX-License-Identifier: MIT */
/* All samples of tracepoints in a recording, a line each, as JSON: what tests/oracle/tracepoints compares with perf.
 *
 *	fields FILE
 */
#include <perfev/perfev.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 128
#define TEXT_MAX   65536

static struct perfev_error err;

struct event {
	struct perfev_tracepoint_info info;
	const struct perfev_tracepoint *tp;
	struct perfev_printer *printer; /* NULL: libtraceevent is not there */
};

static struct event events[EVENTS_MAX];

static void fail(void)
{
	fprintf(stderr, "%s\n", err.text);
	exit(1);
}

/* What stands behind the formats. */
static struct perfev_bytes printk_formats(const struct perfev_reader *reader)
{
	struct perfev_bytes none = {NULL, 0}, section;
	struct perfev_tracing_format format;
	struct perfev_tracing tracing;

	if (!perfev_reader_feature(reader, PERFEV_FEATURE_TRACING_DATA, &section) ||
	    perfev_feature_tracing(&tracing, section, &err) < 0)
		return none;
	while (perfev_feature_tracing_next(&tracing, &format, &err) > 0)
		;
	return tracing.printk_formats;
}

static struct event *event_of(struct perfev_reader *reader, int index)
{
	struct perfev_printer_opts opts = {.size = sizeof(opts), .printk_formats = {NULL, 0}};
	struct perfev_reader_event_info info;
	struct event *event = &events[index];

	if (event->tp)
		return event;
	if (!perfev_reader_event_at(reader, (size_t)index, &info) || info.attr->type != PERF_TYPE_TRACEPOINT)
		return NULL;
	if (perfev_reader_tracepoint(reader, info.attr->config, &event->tp, &err) < 0)
		fail();
	perfev_tracepoint_describe(event->tp, &event->info);
	opts.printk_formats = printk_formats(reader);
	if (perfev_printer_new(&event->printer, event->tp, &opts, &err) < 0 && err.code != -EOPNOTSUPP)
		fail();
	return event;
}

static void put_hex(const char *name, const void *data, size_t size)
{
	const unsigned char *at = data;
	size_t i;

	printf("\"%s\": \"", name);
	for (i = 0; i < size; i++)
		printf("%02x", at[i]);
	printf("\"");
}

static void put_field(const struct perfev_field *field, struct perfev_bytes raw)
{
	struct perfev_bytes bytes, string;
	size_t count = perfev_field_count(field, raw), i;
	int64_t value;

	printf("\"%s\": {\"kind\": %u, \"place\": %u, \"size\": %u, ", field->name, field->kind, field->place,
	       field->element_size);
	if (perfev_field_string(field, raw, &string)) {
		put_hex("string", string.data, string.size);
		printf(", ");
	}
	if (perfev_field_bytes(field, raw, &bytes)) {
		put_hex("bytes", bytes.data, bytes.size);
		printf(", ");
	}
	printf("\"numbers\": [");
	for (i = 0; i < count && perfev_field_int_at(field, raw, i, &value); i++) {
		printf("%s", i ? ", " : "");
		if (field->is_signed)
			printf("%" PRId64, value);
		else
			printf("%" PRIu64, (uint64_t)value);
	}
	printf("]}");
}

static void put_sample(const struct event *event, const struct perfev_sample *sample)
{
	static char text[TEXT_MAX];
	const struct perfev_field *field;
	size_t i;
	int n;

	printf("{\"event\": \"%s:%s\", \"time\": %" PRIu64 ", \"cpu\": %u, \"tid\": %d, ", event->info.system,
	       event->info.name, sample->time, sample->cpu, (int)sample->tid);
	n = (int)perfev_tracepoint_format(text, sizeof(text), event->tp, sample->raw);
	put_hex("plain", text, (size_t)n);
	if (event->printer) {
		n = perfev_printer_format(text, sizeof(text), event->printer, sample->raw, &err);
		if (n < 0)
			fail();
		printf(", ");
		put_hex("text", text, (size_t)n);
	}
	printf(", \"functions\": %s, \"fields\": {",
	       strstr(event->info.print_format, "%ps") || strstr(event->info.print_format, "%pS") ? "true" : "false");
	for (i = 0; (field = perfev_tracepoint_field_at(event->tp, i)) != NULL; i++) {
		printf("%s", i ? ", " : "");
		put_field(field, sample->raw);
	}
	printf("}}\n");
}

int main(int argc, char **argv)
{
	struct perfev_reader *reader = NULL;
	struct perfev_record record;
	struct perfev_sample sample;
	struct event *event;
	int index, r;

	if (argc != 2 || perfev_reader_open(&reader, argv[1], NULL, &err) < 0)
		fail();
	while ((r = perfev_reader_next(reader, &record, &err)) > 0) {
		index = record.type == PERF_RECORD_SAMPLE ? perfev_reader_event(reader, &record) : -1;
		event = index >= 0 && index < EVENTS_MAX ? event_of(reader, index) : NULL;
		if (event) {
			if (perfev_sample_decode(&sample, &record, perfev_reader_layout(reader, &record), &err) < 0)
				fail();
			put_sample(event, &sample);
		}
		perfev_reader_release(reader);
	}
	for (index = 0; index < EVENTS_MAX; index++)
		perfev_printer_free(events[index].printer);
	perfev_reader_close(reader);
	if (r < 0)
		fail();
	return 0;
}
