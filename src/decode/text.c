/* SPDX-License-Identifier: MIT */
/*
 * Records as text, a line each, which src/decode/text_parse.c reads back:
 *
 *	COMM misc=0x2000 pid=300 tid=300 comm="bash" @ tid=300/300 time=12
 *
 * The type, the misc bits, the fields in the order of the record, and behind @ those of the trailer. Numbers
 * are decimal, or hexadecimal where they are addresses or bits; [a,b] are words, hex:00ff bytes, {a=1} what
 * has parts.
 */
#include "text.h"

#include "fields.h"
#include "layout.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool text_is_hex(const char *name)
{
	static const char *const names[] = {"addr",	"ip",	     "len",	"pgoff",    "misc",  "from",
					    "to",	"phys_addr", "data_src", "flags",   "prot",  "transaction",
					    "cookie",	"hw_id",     "weight",	"aux_offset"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Like snprintf(): counts what has no room. */
struct out {
	char *to;
	size_t size, at;
};

static void put_char(struct out *o, char c)
{
	if (o->at + 1 < o->size)
		o->to[o->at] = c;
	o->at++;
}

static void put(struct out *o, const char *format, ...) PERFEV_PRINTF(2, 3);

static void put(struct out *o, const char *format, ...)
{
	char text[128];
	va_list args;
	int n, i;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (i = 0; i < n; i++)
		put_char(o, text[i]);
}

static void put_number(struct out *o, const char *name, uint64_t value)
{
	put(o, text_is_hex(name) ? "%s=0x%" PRIx64 : "%s=%" PRIu64, name, value);
}

static void put_quoted(struct out *o, const char *text)
{
	put_char(o, '"');
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			put(o, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			put(o, "\\x%02x", c);
		else
			put_char(o, (char)c);
	}
	put_char(o, '"');
}

static void put_bytes(struct out *o, struct perfev_bytes bytes)
{
	const unsigned char *at = bytes.data;
	size_t i;

	put(o, "hex:");
	for (i = 0; i < bytes.size; i++)
		put(o, "%02x", at[i]);
}

static void put_words(struct out *o, struct perfev_u64s words)
{
	uint32_t i;

	put_char(o, '[');
	for (i = 0; i < words.count; i++)
		put(o, "%s0x%" PRIx64, i ? "," : "", perfev_u64s_at(words, i));
	put_char(o, ']');
}

/* ---- parts -------------------------------------------------------------------------------------------------- */

static void put_member(struct out *o, const struct perfev_value *value, uint64_t format)
{
	put(o, "{count=%" PRIu64, value->count);
	if (format & PERF_FORMAT_ID)
		put(o, ",id=%" PRIu64, value->id);
	if (format & PERF_FORMAT_LOST)
		put(o, ",lost=%" PRIu64, value->lost);
	put_char(o, '}');
}

static void put_values(struct out *o, const struct perfev_values *values)
{
	struct perfev_value one;
	uint32_t i;

	put_char(o, '{');
	if (values->present & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(o, "enabled=%" PRIu64 ",", values->enabled_ns);
	if (values->present & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(o, "running=%" PRIu64 ",", values->running_ns);
	put(o, "counts=[");
	for (i = 0; perfev_values_at(values, i, &one); i++) {
		put(o, "%s", i ? "," : "");
		put_member(o, &one, values->present);
	}
	put(o, "]}");
}

static void put_branches(struct out *o, const struct perfev_branches *branches)
{
	struct perfev_branch b;
	uint32_t i;

	put_char(o, '{');
	if (branches->hw_idx != UINT64_MAX)
		put(o, "hw_idx=%" PRIu64 ",", branches->hw_idx);
	put(o, "entries=[");
	for (i = 0; perfev_branches_at(branches, i, &b); i++) {
		put(o, "%s{from=0x%" PRIx64 ",to=0x%" PRIx64, i ? "," : "", b.from, b.to);
		put(o, ",mispredicted=%u,predicted=%u,in_tx=%u,abort=%u", b.mispredicted, b.predicted, b.in_tx, b.abort);
		put(o, ",cycles=%u,type=%u,spec=%u,new_type=%u,priv=%u}", b.cycles, b.type, b.spec, b.new_type, b.priv);
	}
	put_char(o, ']');
	if (branches->counters.count) {
		put(o, ",counters=");
		put_words(o, branches->counters);
	}
	put_char(o, '}');
}

static void put_registers(struct out *o, const struct perfev_registers *registers)
{
	put(o, "{abi=%" PRIu64 ",values=", registers->abi);
	put_words(o, registers->values);
	put_char(o, '}');
}

/* ---- samples --------------------------------------------------------------------------------------------------- */

static void put_step(struct out *o, const struct layout_step *step, const struct perfev_sample *sample)
{
	const unsigned char *from = (const unsigned char *)sample + step->to;
	const char *name = sample_fields[step->row].name;

	put_char(o, ' ');
	if (step->kind == FIELD_U64) {
		put_number(o, name, load_u64(from, false));
		return;
	}
	put(o, "%s=", name);
	switch (step->kind) {
	case FIELD_PAIR:
		put(o, "%" PRIu32 "/%" PRIu32, load_u32(from, false), load_u32(from + 4, false));
		break;
	case FIELD_CPU:
		put(o, "%" PRIu32, load_u32(from, false));
		break;
	case FIELD_READ:
		put_values(o, &sample->read);
		break;
	case FIELD_CHAIN:
		put_words(o, sample->callchain);
		break;
	case FIELD_RAW:
		put_bytes(o, sample->raw);
		break;
	case FIELD_BRANCHES:
		put_branches(o, &sample->branches);
		break;
	case FIELD_REGS_USER:
		put_registers(o, &sample->regs_user);
		break;
	case FIELD_REGS_INTR:
		put_registers(o, &sample->regs_intr);
		break;
	case FIELD_STACK:
		put(o, "{size=%" PRIu64 ",data=", sample->stack_user_size);
		put_bytes(o, sample->stack_user);
		put_char(o, '}');
		break;
	default:
		put_bytes(o, sample->aux);
		break;
	}
}

/* ---- the other records ---------------------------------------------------------------------------------------------- */

static void put_inode(struct out *o, const struct perfev_mmap *mmap)
{
	struct perfev_bytes id = {mmap->build_id, mmap->build_id_size};

	if (id.size) {
		put(o, " build_id=");
		put_bytes(o, id);
		return;
	}
	put(o, " maj=%" PRIu32 " min=%" PRIu32 " ino=%" PRIu64 " ino_generation=%" PRIu64, mmap->maj, mmap->min, mmap->ino,
	    mmap->ino_generation);
}

static void put_field(struct out *o, const struct record_field *field, const void *record)
{
	const unsigned char *from = (const unsigned char *)record + field->to;
	const struct perfev_text_poke *poke = record;
	struct perfev_bytes tag = {from, 8};

	if (field->kind == RECORD_NO_INODE)
		return;
	if (field->kind == RECORD_INODE) {
		put_inode(o, record);
		return;
	}
	put_char(o, ' ');
	if (field->kind == RECORD_U16) {
		put_number(o, field->name, load_u16(from, false));
	} else if (field->kind == RECORD_U32) {
		put_number(o, field->name, load_u32(from, false));
	} else if (field->kind == RECORD_U64) {
		put_number(o, field->name, load_u64(from, false));
	} else if (field->kind == RECORD_POKE) {
		put(o, "old=");
		put_bytes(o, poke->old_bytes);
		put(o, " new=");
		put_bytes(o, poke->new_bytes);
	} else {
		put(o, "%s=", field->name);
		if (field->kind == RECORD_TEXT)
			put_quoted(o, *(const char *const *)(const void *)from);
		else if (field->kind == RECORD_TAG)
			put_bytes(o, tag);
		else if (field->kind == RECORD_VALUES)
			put_values(o, (const struct perfev_values *)(const void *)from);
		else
			put_words(o, *(const struct perfev_u64s *)(const void *)from);
	}
}

static void put_trailer(struct out *o, const struct perfev_layout *layout, const struct perfev_id *id)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {{PERF_SAMPLE_TIME, "time"}, {PERF_SAMPLE_ID, "id"}, {PERF_SAMPLE_STREAM_ID, "stream_id"},
		     {PERF_SAMPLE_CPU, "cpu"},	 {PERF_SAMPLE_IDENTIFIER, "identifier"}};
	const uint64_t values[] = {id->time, id->id, id->stream_id, id->cpu, id->id};
	size_t i;

	if (!id->present || !layout)
		return;
	put(o, " @");
	if (id->present & PERF_SAMPLE_TID)
		put(o, " tid=%" PRIu32 "/%" PRIu32, id->pid, id->tid);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (id->present & names[i].bit)
			put(o, " %s=%" PRIu64, names[i].name, values[i]);
}

static void put_unknown(struct out *o, const struct perfev_record *record)
{
	struct perfev_bytes body = {(const unsigned char *)record->data + 8, record->size - 8};

	put(o, "%" PRIu32 " misc=0x%x body=", record->type, record->misc);
	put_bytes(o, body);
}

int perfev_record_format(char *ret, size_t size, const struct perfev_record *record,
			 const struct perfev_layout *layout, struct perfev_error *err)
{
	struct out o = {ret, size, 0};
	const struct record_field *rows;
	struct perfev_any any;
	size_t count, i;
	int r = 0;

	if (record->type == 0 || record->type >= PERF_RECORD_MAX) {
		put_unknown(&o, record);
	} else {
		r = perfev_any_decode(&any, record, layout, err);
		if (r < 0)
			return r;
		put(&o, "%s misc=0x%x", perfev_record_name(record->type), record->misc);
		for (i = 0; record->type == PERF_RECORD_SAMPLE && i < layout->step_count; i++)
			put_step(&o, &layout->steps[i], &any.as.sample);
		rows = record_fields(record->type, &count);
		for (i = 0; i < count; i++)
			put_field(&o, &rows[i], &any.as);
		if (record->type != PERF_RECORD_SAMPLE)
			put_trailer(&o, layout, &any.as.trailer);
	}
	if (size)
		ret[o.at < size ? o.at : size - 1] = 0;
	return o.at > INT32_MAX ? -E2BIG : (int)o.at;
}
