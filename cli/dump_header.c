/* SPDX-License-Identifier: MIT */
/* perfev dump --header: the events of a recording, and its sections, field by field. */
#include "cli.h"

#include <inttypes.h>
#include <string.h>

#define BYTES_SHOWN 64

/* ---- events --------------------------------------------------------------------------------------------------- */

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

/* ---- sections ------------------------------------------------------------------------------------------------- */

static void put_bytes(struct perfev_bytes bytes)
{
	const unsigned char *at = bytes.data;
	size_t i;

	for (i = 0; i < bytes.size && i < BYTES_SHOWN; i++)
		printf("%02x", at[i]);
	if (bytes.size > BYTES_SHOWN)
		printf("... (%zu bytes)", bytes.size);
}

static void put_formats(struct perfev_bytes section)
{
	struct perfev_tracing tracing;
	struct perfev_tracing_format format;
	size_t n = 0;

	if (perfev_feature_tracing(&tracing, section, NULL) < 0) {
		put_bytes(section);
		fputc('\n', stdout);
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

/* Texts speak for themselves; other fields have their names. */
static void put_field(const struct perfev_feature_field *field)
{
	if (field->kind == PERFEV_FEATURE_TEXT) {
		text_name(stdout, field->text);
	} else if (field->kind == PERFEV_FEATURE_NUMBER) {
		bool is_signed = !strcmp(field->name, "pid");

		bool is_address = strstr(field->name, "address") || !strcmp(field->name, "min_vaddr");

		printf(is_signed ? "%s=%" PRId64 : is_address ? "%s=0x%" PRIx64 : "%s=%" PRIu64, field->name, field->number);
	} else {
		if (strcmp(field->name, "build_id"))
			printf("%s=", field->name);
		put_bytes(field->bytes);
	}
}

/* Lists have a line for each item, but for the words of a command. */
static void put_fields(unsigned feature, struct perfev_bytes section, bool swapped, uint32_t cpus)
{
	struct perfev_feature_walk walk;
	struct perfev_feature_field field;
	struct perfev_error err;
	bool first = true;
	int r;

	perfev_feature_begin(&walk, feature, section, swapped, cpus);
	while ((r = perfev_feature_next(&walk, &field, &err)) > 0) {
		if (field.first && feature != PERFEV_FEATURE_CMDLINE)
			printf("\n%*s", (int)field.depth * 2, "");
		else
			fputs(first ? "" : " ", stdout);
		put_field(&field);
		first = false;
	}
	if (r < 0)
		printf("%s(%s)", first ? "" : " ", err.text);
	fputc('\n', stdout);
}

static uint32_t available_cpus(const struct perfev_reader *reader, bool swapped)
{
	struct perfev_feature_walk walk;
	struct perfev_feature_field field;
	struct perfev_bytes section;

	if (!perfev_reader_feature(reader, PERFEV_FEATURE_NRCPUS, &section))
		return 0;
	perfev_feature_begin(&walk, PERFEV_FEATURE_NRCPUS, section, swapped, 0);
	return perfev_feature_next(&walk, &field, NULL) > 0 ? (uint32_t)field.number : 0;
}

/* What was mapped when simpleperf began: records of the first event. */
static void put_maps(const struct perfev_reader *reader, struct perfev_bytes rest, bool swapped)
{
	struct perfev_reader_event_info event = {.layout = NULL};
	struct perfev_record record;
	char text[8192];

	perfev_reader_event_at(reader, 0, &event);
	fputc('\n', stdout);
	while (event.layout && perfev_record_from_bytes(&record, rest, swapped ? PERFEV_RECORD_SWAPPED : 0, NULL) == 0) {
		fputs("  ", stdout);
		if (perfev_record_format(text, sizeof(text), &record, event.layout, NULL) >= 0)
			text_name(stdout, text);
		fputc('\n', stdout);
		rest.data = (const unsigned char *)rest.data + record.size;
		rest.size -= record.size;
	}
}

/* The first bytes of a file, and how many it has: what is behind the end of the section is not there. */
static void put_debug_file(const char *path, struct perfev_bytes all, uint64_t offset, uint64_t size)
{
	struct perfev_bytes file = {all.data, 0};

	printf("\n  ");
	text_name(stdout, path);
	printf(" offset=0x%" PRIx64 " size=%" PRIu64, offset, size);
	if (offset > all.size || size > all.size - offset) {
		printf(" (the section ends at 0x%zx)", all.size);
		return;
	}
	file.data = (const unsigned char *)all.data + offset;
	file.size = (size_t)size;
	fputs(size ? " bytes=" : "", stdout);
	put_bytes(file);
}

/* Files, one behind the other; the section before says which. */
static void put_debug_files(const struct perfev_reader *reader, struct perfev_bytes all, bool swapped)
{
	struct perfev_bytes list = {NULL, 0};
	struct perfev_feature_walk walk;
	struct perfev_feature_field field;
	char path[4096] = "";
	uint64_t offset = 0;

	perfev_reader_feature(reader, PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND, &list);
	perfev_feature_begin(&walk, PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND, list, swapped, 0);
	while (perfev_feature_next(&walk, &field, NULL) > 0) {
		if (field.kind == PERFEV_FEATURE_TEXT) {
			snprintf(path, sizeof(path), "%s", field.text);
			continue;
		}
		put_debug_file(path, all, offset, field.number);
		offset = offset + field.number < offset ? UINT64_MAX : offset + field.number;
	}
	if (!list.size)
		put_bytes(all);
	fputc('\n', stdout);
}

static void put_feature(const struct perfev_reader *reader, unsigned feature, struct perfev_bytes section, bool swapped)
{
	const char *name = perfev_feature_name(feature);

	if (name)
		printf("%s: ", name);
	else
		printf("feature %u: ", feature);
	if (!section.size && feature != PERFEV_FEATURE_BRANCH_STACK) /* of a stream the end of them, with the first number that perf has no name for */
		puts("(empty)");
	else if (feature == PERFEV_FEATURE_TRACING_DATA)
		put_formats(section);
	else if (feature == PERFEV_FEATURE_SIMPLEPERF_INIT_MAP)
		put_maps(reader, section, swapped);
	else if (feature == PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE)
		put_debug_files(reader, section, swapped);
	else
		put_fields(feature, section, swapped, available_cpus(reader, swapped));
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
			put_feature(reader, feature, section, info.swapped);
	return r;
}
