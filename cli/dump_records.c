/* SPDX-License-Identifier: MIT */
/* perfev dump without --stats: each record, decoded and raw, or what the header says. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM (1 << 20) /* a record has 64 KiB, and of nothing in it has a byte more than 12 characters */

/* ---- records ------------------------------------------------------------------------------------------------ */

static void put_raw(FILE *out, const struct perfev_record *record)
{
	const unsigned char *at = record->data;
	uint32_t i;

	for (i = 0; i < record->size; i++) {
		if (i % 32 == 0)
			fprintf(out, "%s        %04x:", i ? "\n" : "", i);
		fprintf(out, i % 8 == 0 ? "  %02x" : " %02x", at[i]);
	}
	fputc('\n', out);
}

/* What the kernel does not write is a number and bytes to the library; here it has its name. */
static void decode(const struct perfev_record *record, const struct perfev_layout *layout, char *text,
		   struct perfev_error *err)
{
	const char *name = perfev_record_name(record->type);
	int r;

	if (record->type >= PERF_RECORD_MAX && name) {
		snprintf(text, TEXT_ROOM, "%s misc=0x%x", name, record->misc);
		return;
	}
	r = perfev_record_format(text, TEXT_ROOM, record, layout, err);
	if (r < 0)
		snprintf(text, TEXT_ROOM, "%s misc=0x%x: %s", name ? name : "record", record->misc, err->text);
}

static void put_text(const struct perfev_record *record, const char *text)
{
	printf("0x%08" PRIx64 " %5" PRIu32 "  ", record->offset, record->size);
	text_name(stdout, text);
	fputc('\n', stdout);
	put_raw(stdout, record);
}

/* What perfev_record_to_json() makes of it; null of what the kernel did not write, and of what is damaged. */
static void put_object(const struct perfev_record *record, const struct perfev_layout *layout, char *text)
{
	int n = record->type == 0 || record->type >= PERF_RECORD_MAX
			? -1
			: perfev_record_to_json(text, TEXT_ROOM, record, layout, NULL);

	fputs(n >= 0 && n < TEXT_ROOM ? text : "null", stdout);
}

/* @text is the line of the record, and afterwards room. */
static void put_json(const struct perfev_record *record, const struct perfev_layout *layout, char *text, bool first,
		     struct trace *trace)
{
	const unsigned char *at = record->data;
	const char *name = perfev_record_name(record->type);
	uint32_t i;

	printf("%s\n{\"offset\":%" PRIu64 ",\"type\":%" PRIu32 ",\"name\":", first ? "" : ",", record->offset, record->type);
	if (name)
		json_string(stdout, name);
	else
		fputs("null", stdout);
	printf(",\"misc\":%u,\"size\":%" PRIu32 ",\"text\":", record->misc, record->size);
	json_string(stdout, text);
	fputs(",\"record\":", stdout);
	put_object(record, layout, text);
	fputs(",\"raw\":\"", stdout);
	for (i = 0; i < record->size; i++)
		printf("%02x", at[i]);
	fputc('"', stdout);
	trace_json(trace, record, layout);
	fputc('}', stdout);
}

int dump_records(struct perfev_reader *reader, bool json, uint64_t packets, struct perfev_error *err)
{
	char *text = malloc(TEXT_ROOM);
	struct trace *trace = trace_new(packets);
	struct perfev_record record;
	uint64_t n = 0;
	int r = 0;

	if (!text || !trace) {
		free(text);
		trace_free(trace);
		return -1;
	}
	if (json)
		fputs("{\"records\":[", stdout);
	while (!ferror(stdout) && (r = perfev_reader_next(reader, &record, err)) > 0) {
		struct perfev_error why;
		const struct perfev_layout *layout = perfev_reader_layout(reader, &record);

		decode(&record, layout, text, &why);
		if (json) {
			put_json(&record, layout, text, n == 0, trace);
		} else {
			put_text(&record, text);
			trace_text(trace, &record, layout);
		}
		if ((++n & 0xfff) == 0)
			perfev_reader_release(reader);
	}
	if (json)
		fputs("\n]}\n", stdout);
	trace_free(trace);
	free(text);
	return r;
}

/* ---- the header ---------------------------------------------------------------------------------------------- */

#define MEMBER(name)		    {#name, (uint64_t)attr->name, false}
#define ADDRESS(name)		    {#name, (uint64_t)attr->name, true}
#define COUNT_OF(rows)		    (sizeof(rows) / sizeof((rows)[0]))

static void put_attr(const struct perf_event_attr *attr)
{
	const struct {
		const char *name;
		uint64_t value;
		bool hex;
	} members[] = {
		MEMBER(type), MEMBER(size), ADDRESS(config), MEMBER(sample_period), ADDRESS(sample_type),
		ADDRESS(read_format), MEMBER(disabled), MEMBER(inherit), MEMBER(pinned), MEMBER(exclusive),
		MEMBER(exclude_user), MEMBER(exclude_kernel), MEMBER(exclude_hv), MEMBER(exclude_idle), MEMBER(mmap),
		MEMBER(comm), MEMBER(freq), MEMBER(inherit_stat), MEMBER(enable_on_exec), MEMBER(task),
		MEMBER(watermark), MEMBER(precise_ip), MEMBER(mmap_data), MEMBER(sample_id_all), MEMBER(exclude_host),
		MEMBER(exclude_guest), MEMBER(exclude_callchain_kernel), MEMBER(exclude_callchain_user), MEMBER(mmap2),
		MEMBER(comm_exec), MEMBER(use_clockid), MEMBER(context_switch), MEMBER(write_backward),
		MEMBER(namespaces), MEMBER(ksymbol), MEMBER(bpf_event), MEMBER(aux_output), MEMBER(cgroup),
		MEMBER(text_poke), MEMBER(build_id), MEMBER(inherit_thread), MEMBER(remove_on_exec), MEMBER(sigtrap),
		MEMBER(defer_callchain), MEMBER(defer_output), MEMBER(wakeup_events), MEMBER(bp_type), ADDRESS(config1),
		ADDRESS(config2), ADDRESS(branch_sample_type), ADDRESS(sample_regs_user), MEMBER(sample_stack_user),
		MEMBER(clockid), ADDRESS(sample_regs_intr), MEMBER(aux_watermark), MEMBER(sample_max_stack),
		MEMBER(aux_sample_size), ADDRESS(aux_action), ADDRESS(sig_data), ADDRESS(config3), ADDRESS(config4),
	};
	size_t i;

	for (i = 0; i < COUNT_OF(members); i++)
		if (members[i].value || i == 0)
			printf(members[i].hex ? " %s=0x%" PRIx64 : " %s=%" PRIu64, members[i].name, members[i].value);
	fputc('\n', stdout);
}

static void put_events(const struct perfev_reader *reader)
{
	struct perfev_reader_event_info info;
	size_t i, k;

	for (i = 0; perfev_reader_event_at(reader, i, &info); i++) {
		fputs("event ", stdout);
		text_name(stdout, info.name);
		fputc(':', stdout);
		put_attr(info.attr);
		fputs("  ids", stdout);
		for (k = 0; k < info.id_count; k++)
			printf(" %" PRIu64, info.ids[k]);
		fputc('\n', stdout);
	}
}

static void put_bytes(struct perfev_bytes section)
{
	const unsigned char *at = section.data;
	size_t i;

	printf("%zu bytes", section.size);
	for (i = 0; i < section.size && i < 64; i++)
		printf(i % 8 ? " %02x" : "  %02x", at[i]);
	fputs(section.size > 64 ? " ...\n" : "\n", stdout);
}

static void put_words(struct perfev_bytes section, bool swapped, size_t width)
{
	struct perfev_u64s words = {section.data, (uint32_t)(section.size / 8), swapped};
	const unsigned char *at = section.data;
	size_t i;

	for (i = 0; width == 8 && i < words.count; i++)
		printf("%s%" PRIu64, i ? " " : "", perfev_u64s_at(words, (uint32_t)i));
	for (i = 0; width == 4 && i + 4 <= section.size; i += 4) {
		uint32_t word;

		memcpy(&word, at + i, 4);
		if (swapped)
			word = word << 24 | (word & 0xff00) << 8 | (word >> 8 & 0xff00) | word >> 24;
		printf("%s%" PRIu32, i ? " " : "", word);
	}
	fputc('\n', stdout);
}

static void put_build_ids(struct perfev_bytes section, bool swapped)
{
	struct perfev_build_id id;
	size_t position = 0;
	unsigned i;

	while (perfev_feature_build_id(&id, section, swapped, &position, NULL) > 0) {
		fputs("\n  ", stdout);
		for (i = 0; i < id.size; i++)
			printf("%02x", id.id[i]);
		fputc(' ', stdout);
		text_name(stdout, id.filename);
	}
	fputc('\n', stdout);
}

static void put_formats(struct perfev_bytes section)
{
	struct perfev_tracing tracing;
	struct perfev_tracing_format format;
	size_t n = 0;

	if (perfev_feature_tracing(&tracing, section, NULL) < 0) {
		put_bytes(section);
		return;
	}
	while (perfev_feature_tracing_next(&tracing, &format, NULL) > 0) {
		const char *text = format.text.data;
		size_t length = format.text.size > 6 ? strcspn(text + 6, "\n") : 0;

		if (length > format.text.size - 6 || format.text.size < 6)
			length = 0;
		printf("%s%s:%.*s", n++ ? " " : "", format.system, (int)length, text + 6);
	}
	fputc('\n', stdout);
}

static void put_strings(struct perfev_bytes section, bool swapped)
{
	const char *text;
	size_t position = 0, n = 0;

	while ((text = perfev_feature_strings(section, swapped, &position)) != NULL) {
		fputs(n++ ? " " : "", stdout);
		text_name(stdout, text);
	}
	fputc('\n', stdout);
}

static void put_feature(unsigned feature, struct perfev_bytes section, bool swapped)
{
	const char *name = perfev_feature_name(feature), *text;

	if (name)
		printf("%s: ", name);
	else
		printf("feature %u: ", feature);
	switch (feature) {
	case PERFEV_FEATURE_HOSTNAME:
	case PERFEV_FEATURE_OSRELEASE:
	case PERFEV_FEATURE_VERSION:
	case PERFEV_FEATURE_ARCH:
	case PERFEV_FEATURE_CPUDESC:
	case PERFEV_FEATURE_CPUID:
		text = perfev_feature_string(section, swapped);
		text_name(stdout, text ? text : "");
		fputc('\n', stdout);
		break;
	case PERFEV_FEATURE_CMDLINE:
		put_strings(section, swapped);
		break;
	case PERFEV_FEATURE_NRCPUS:
		put_words(section, swapped, 4);
		break;
	case PERFEV_FEATURE_TOTAL_MEM:
	case PERFEV_FEATURE_SAMPLE_TIME:
	case PERFEV_FEATURE_CLOCKID:
		put_words(section, swapped, 8);
		break;
	case PERFEV_FEATURE_BUILD_ID:
		put_build_ids(section, swapped);
		break;
	case PERFEV_FEATURE_TRACING_DATA:
		put_formats(section);
		break;
	default:
		put_bytes(section);
		break;
	}
}

/* In a pipe the header is spread over records, which have to be read first. */
int dump_header(struct perfev_reader *reader, struct perfev_error *err)
{
	struct perfev_reader_info info;
	struct perfev_record record;
	struct perfev_bytes section;
	unsigned feature;
	int r = 0;

	perfev_reader_describe(reader, &info);
	if (info.pipe)
		while ((r = perfev_reader_next(reader, &record, err)) > 0)
			;
	printf("%s of version %" PRIu32 ", %s byte order%s\n", info.pipe ? "stream" : "file", info.version,
	       info.swapped ? "the other" : "this host's", info.cut ? ", whose recorder was not finished" : "");
	if (!info.pipe)
		printf("%" PRIu64 " bytes, records from 0x%" PRIx64 " on, %" PRIu64 " bytes\n", info.size, info.data_offset,
		       info.data_size);
	put_events(reader);
	for (feature = 1; feature < PERFEV_FEATURE_COUNT; feature++)
		if (perfev_reader_feature(reader, feature, &section))
			put_feature(feature, section, info.swapped);
	return r;
}
