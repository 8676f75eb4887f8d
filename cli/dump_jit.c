/* SPDX-License-Identifier: MIT */
/* perfev dump of what a JIT compiler wrote (jit-PID.dump). */
#include "cli.h"

#include <inttypes.h>
#include <string.h>

static const char *const names[] = {"LOAD", "MOVE", "DEBUG", "CLOSE", "UNWINDING"};
#define NAMES (sizeof(names) / sizeof(names[0]))

bool is_jitdump(const char *path)
{
	struct perfev_jitdump *dump;
	bool is = perfev_jitdump_open(&dump, path, NULL, NULL) == 0;

	if (is)
		perfev_jitdump_close(dump);
	return is;
}

static void put_hex(struct perfev_bytes bytes)
{
	const unsigned char *at = bytes.data;
	size_t i;

	for (i = 0; i < bytes.size; i++)
		printf("%02x", at[i]);
}

static void put_type(const struct perfev_jit_record *record)
{
	if (record->type < NAMES)
		printf("%s", names[record->type]);
	else
		printf("%" PRIu32, record->type);
}

static void put_lines(const struct perfev_jit_lines *lines)
{
	struct perfev_jit_line_position position = {0, 0, NULL};
	struct perfev_jit_line line;

	printf(" code_addr=0x%" PRIx64 "\n", lines->code_addr);
	while (perfev_jit_line_next(lines, &position, &line)) {
		printf("        0x%" PRIx64 " ", line.addr);
		text_name(stdout, line.file);
		printf(":%" PRIu32, line.line);
		printf(line.discriminator ? " discriminator %" PRIu32 "\n" : "\n", line.discriminator);
	}
}

static void put_text(const struct perfev_jit_record *record)
{
	const struct perfev_jit_code *code = &record->as.code;

	printf("0x%08" PRIx64 " %5" PRIu32 "  ", record->offset, record->size);
	put_type(record);
	printf(" time=%" PRIu64, record->timestamp);
	if (record->type == PERFEV_JIT_LOAD || record->type == PERFEV_JIT_MOVE)
		printf(" pid=%" PRIu32 " tid=%" PRIu32 " vma=0x%" PRIx64 " code_addr=0x%" PRIx64 " code_size=%" PRIu64
		       " index=%" PRIu64, code->pid, code->tid, code->vma, code->code_addr, code->code_size, code->index);
	if (record->type == PERFEV_JIT_MOVE)
		printf(" old_addr=0x%" PRIx64, code->old_addr);
	if (record->type == PERFEV_JIT_LOAD) {
		fputs(" name=\"", stdout);
		text_name(stdout, code->name);
		fputs("\" code=", stdout);
		put_hex(code->code);
	}
	if (record->type == PERFEV_JIT_UNWINDING)
		printf(" eh_frame_hdr_size=%" PRIu64 " mapped_size=%" PRIu64 " bytes=%zu",
		       record->as.unwinding.eh_frame_hdr_size, record->as.unwinding.mapped_size,
		       record->as.unwinding.data.size);
	if (record->type == PERFEV_JIT_DEBUG)
		put_lines(&record->as.lines);
	else
		fputc('\n', stdout);
}

static void put_json_lines(const struct perfev_jit_lines *lines)
{
	struct perfev_jit_line_position position = {0, 0, NULL};
	struct perfev_jit_line line;
	const char *comma = "";

	printf(",\"code_addr\":\"0x%" PRIx64 "\",\"lines\":[", lines->code_addr);
	while (perfev_jit_line_next(lines, &position, &line)) {
		printf("%s{\"addr\":\"0x%" PRIx64 "\",\"line\":%" PRIu32 ",\"discriminator\":%" PRIu32 ",\"file\":", comma,
		       line.addr, line.line, line.discriminator);
		json_string(stdout, line.file);
		fputc('}', stdout);
		comma = ",";
	}
	fputc(']', stdout);
}

static void put_json(const struct perfev_jit_record *record, bool first)
{
	const struct perfev_jit_code *code = &record->as.code;

	printf("%s\n{\"offset\":%" PRIu64 ",\"type\":\"", first ? "" : ",", record->offset);
	put_type(record);
	printf("\",\"size\":%" PRIu32 ",\"time\":%" PRIu64, record->size, record->timestamp);
	if (record->type == PERFEV_JIT_LOAD || record->type == PERFEV_JIT_MOVE)
		printf(",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"vma\":\"0x%" PRIx64 "\",\"code_addr\":\"0x%" PRIx64
		       "\",\"code_size\":%" PRIu64 ",\"index\":%" PRIu64, code->pid, code->tid, code->vma,
		       code->code_addr, code->code_size, code->index);
	if (record->type == PERFEV_JIT_MOVE)
		printf(",\"old_addr\":\"0x%" PRIx64 "\"", code->old_addr);
	if (record->type == PERFEV_JIT_LOAD) {
		fputs(",\"name\":", stdout);
		json_string(stdout, code->name);
		fputs(",\"code\":\"", stdout);
		put_hex(code->code);
		fputc('"', stdout);
	}
	if (record->type == PERFEV_JIT_DEBUG)
		put_json_lines(&record->as.lines);
	fputc('}', stdout);
}

static void put_header(const struct perfev_jitdump_info *info, bool json)
{
	printf(json ? "{\"version\":%" PRIu32 ",\"elf_machine\":%" PRIu32 ",\"pid\":%" PRIu32 ",\"time\":%" PRIu64
		      ",\"flags\":%" PRIu64 ",\"records\":["
		    : "JIT dump of version %" PRIu32 ", ELF machine %" PRIu32 ", pid %" PRIu32 ", time %" PRIu64
		      ", flags 0x%" PRIx64 "\n",
	       info->version, info->elf_machine, info->pid, info->timestamp, info->flags);
}

static void put_counts(const uint64_t *counts)
{
	static const unsigned sorted[] = {3, 2, 0, 1, 4}; /* by name */
	uint64_t total = counts[NAMES];
	size_t i;

	if (counts[NAMES])
		printf("0 %" PRIu64 "\n", counts[NAMES]);
	for (i = 0; i < NAMES; i++) {
		if (counts[sorted[i]])
			printf("%s %" PRIu64 "\n", names[sorted[i]], counts[sorted[i]]);
		total += counts[sorted[i]];
	}
	printf("TOTAL %" PRIu64 "\n", total);
}

int dump_jit(const char *path, bool stats, bool header, bool json, bool partial)
{
	struct perfev_jitdump_opts opts = {.size = sizeof(opts), .partial = partial};
	uint64_t counts[NAMES + 1] = {0}, n = 0;
	struct perfev_jitdump_info info;
	struct perfev_jit_record record;
	struct perfev_jitdump *dump;
	struct perfev_error err;
	int r = 0;

	if (perfev_jitdump_open(&dump, path, &opts, &err) < 0)
		return report_error(&err);
	perfev_jitdump_describe(dump, &info);
	if (!stats)
		put_header(&info, json);
	while (!header && !ferror(stdout) && (r = perfev_jitdump_next(dump, &record, &err)) > 0) {
		counts[record.type < NAMES ? record.type : NAMES]++;
		if (json)
			put_json(&record, n++ == 0);
		else if (!stats)
			put_text(&record);
	}
	if (json)
		fputs("\n]}\n", stdout);
	if (stats && r >= 0)
		put_counts(counts);
	if (r < 0)
		r = report_error(&err);
	else if (perfev_jitdump_damage(dump))
		r = report_error(perfev_jitdump_damage(dump));
	perfev_jitdump_close(dump);
	return r;
}
