/* SPDX-License-Identifier: MIT */
/*
 * Records written for people and programs, which src/decode/text_parse.c reads back:
 *
 *	COMM misc=0x2000 pid=300 tid=300 comm="bash" @ tid=300/300 time=12
 *
 *	{"type":"COMM","misc":8192,"pid":300,"tid":300,"comm":"bash","sample_id":{"pid":300,"tid":300,"time":12}}
 *
 * The type, the misc bits, the fields in the order of the record, and behind @, or in sample_id, those of the trailer.
 */
#include "fields.h"
#include "layout.h"
#include "notation.h"

#include "base/load.h"

#include <perfev/json.h>

#include <inttypes.h>

/* ---- parts -------------------------------------------------------------------------------------------------- */

static void put_values(struct out *o, const struct perfev_values *values)
{
	struct perfev_value one;
	uint32_t i;

	out_open(o);
	if (values->present & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out_field(o, "enabled", values->enabled_ns, 8);
	if (values->present & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out_field(o, "running", values->running_ns, 8);
	out_name(o, "counts");
	out_list(o);
	for (i = 0; perfev_values_at(values, i, &one); i++) {
		out_item(o);
		out_open(o);
		out_field(o, "count", one.count, 8);
		if (values->present & PERF_FORMAT_ID)
			out_field(o, "id", one.id, 8);
		if (values->present & PERF_FORMAT_LOST)
			out_field(o, "lost", one.lost, 8);
		out_close(o);
	}
	out_list_end(o);
	out_close(o);
}

static void put_branch(struct out *o, const struct perfev_branch *b)
{
	out_open(o);
	out_field(o, "from", b->from, 8);
	out_field(o, "to", b->to, 8);
	out_field(o, "mispredicted", b->mispredicted, 1);
	out_field(o, "predicted", b->predicted, 1);
	out_field(o, "in_tx", b->in_tx, 1);
	out_field(o, "abort", b->abort, 1);
	out_field(o, "cycles", b->cycles, 2);
	out_field(o, "type", b->type, 1);
	out_field(o, "spec", b->spec, 1);
	out_field(o, "new_type", b->new_type, 1);
	out_field(o, "priv", b->priv, 1);
	out_close(o);
}

static void put_branches(struct out *o, const struct perfev_branches *branches)
{
	struct perfev_branch b;
	uint32_t i;

	out_open(o);
	if (branches->hw_idx != UINT64_MAX)
		out_field(o, "hw_idx", branches->hw_idx, 8);
	out_name(o, "entries");
	out_list(o);
	for (i = 0; perfev_branches_at(branches, i, &b); i++) {
		out_item(o);
		put_branch(o, &b);
	}
	out_list_end(o);
	if (branches->counters.count) {
		out_name(o, "counters");
		out_words(o, branches->counters);
	}
	out_close(o);
}

static void put_registers(struct out *o, const struct perfev_registers *registers)
{
	out_open(o);
	out_field(o, "abi", registers->abi, 8);
	out_name(o, "values");
	out_words(o, registers->values);
	out_close(o);
}

static void put_stack(struct out *o, const struct perfev_sample *sample)
{
	out_open(o);
	out_field(o, "size", sample->stack_user_size, 8);
	out_name(o, "data");
	out_bytes(o, sample->stack_user);
	out_close(o);
}

static void put_task(struct out *o, uint32_t pid, uint32_t tid)
{
	if (o->json) {
		out_field(o, "pid", pid, 4);
		out_field(o, "tid", tid, 4);
		return;
	}
	out_name(o, "tid");
	out_decimal(o, pid);
	out_char(o, '/');
	out_decimal(o, tid);
}

/* ---- samples --------------------------------------------------------------------------------------------------- */

static void put_long_step(struct out *o, const struct layout_step *step, const struct perfev_sample *sample)
{
	switch (step->kind) {
	case FIELD_READ:
		put_values(o, &sample->read);
		break;
	case FIELD_CHAIN:
		out_words(o, sample->callchain);
		break;
	case FIELD_RAW:
		out_bytes(o, sample->raw);
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
		put_stack(o, sample);
		break;
	default:
		out_bytes(o, sample->aux);
		break;
	}
}

static void put_step(struct out *o, const struct layout_step *step, const struct perfev_sample *sample)
{
	const unsigned char *from = (const unsigned char *)sample + step->to;
	const struct sample_field *row = &sample_fields[step->row];
	const char *name = o->json ? sample_json_name(row) : row->name;

	if (step->kind == FIELD_U64)
		out_field(o, name, load_u64(from, false), 8);
	else if (step->kind == FIELD_PAIR)
		put_task(o, load_u32(from, false), load_u32(from + 4, false));
	else if (step->kind == FIELD_CPU)
		out_field(o, name, load_u32(from, false), 4);
	if (step->kind <= FIELD_CPU)
		return;
	out_name(o, name);
	put_long_step(o, step, sample);
}

/* ---- the other records ---------------------------------------------------------------------------------------------- */

static void put_inode(struct out *o, const struct perfev_mmap *mmap)
{
	struct perfev_bytes id = {mmap->build_id, mmap->build_id_size};

	if (id.size) {
		out_name(o, "build_id");
		out_bytes(o, id);
		return;
	}
	out_field(o, "maj", mmap->maj, 4);
	out_field(o, "min", mmap->min, 4);
	out_field(o, "ino", mmap->ino, 8);
	out_field(o, "ino_generation", mmap->ino_generation, 8);
}

static void put_poke(struct out *o, const struct perfev_text_poke *poke)
{
	out_name(o, "old");
	out_bytes(o, poke->old_bytes);
	out_name(o, "new");
	out_bytes(o, poke->new_bytes);
}

static void put_field(struct out *o, const struct record_field *field, const void *record)
{
	const unsigned char *from = (const unsigned char *)record + field->to;
	const char *name = o->json ? record_json_name(field) : field->name;
	struct perfev_bytes tag = {from, 8};

	switch (field->kind) {
	case RECORD_NO_INODE:
		return;
	case RECORD_INODE:
		put_inode(o, record);
		return;
	case RECORD_POKE:
		put_poke(o, record);
		return;
	case RECORD_U16:
		out_field(o, name, load_u16(from, false), 2);
		return;
	case RECORD_U32:
		out_field(o, name, load_u32(from, false), 4);
		return;
	case RECORD_U64:
		out_field(o, name, load_u64(from, false), 8);
		return;
	default:
		break;
	}
	out_name(o, name);
	if (field->kind == RECORD_TEXT)
		out_string(o, *(const char *const *)(const void *)from);
	else if (field->kind == RECORD_TAG)
		out_bytes(o, tag);
	else if (field->kind == RECORD_VALUES)
		put_values(o, (const struct perfev_values *)(const void *)from);
	else
		out_words(o, *(const struct perfev_u64s *)(const void *)from);
}

static void put_trailer(struct out *o, const struct perfev_layout *layout, const struct perfev_id *id)
{
	static const struct {
		uint64_t bit;
		const char *name;
		unsigned width;
	} names[] = {{PERF_SAMPLE_TIME, "time", 8},
		     {PERF_SAMPLE_ID, "id", 8},
		     {PERF_SAMPLE_STREAM_ID, "stream_id", 8},
		     {PERF_SAMPLE_CPU, "cpu", 4},
		     {PERF_SAMPLE_IDENTIFIER, "identifier", 8}};
	const uint64_t values[] = {id->time, id->id, id->stream_id, id->cpu, id->id};
	size_t i;

	if (!id->present || !layout)
		return;
	if (o->json) {
		out_name(o, "sample_id");
		out_open(o);
	} else {
		out_put(o, " @");
	}
	if (id->present & PERF_SAMPLE_TID)
		put_task(o, id->pid, id->tid);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (id->present & names[i].bit)
			out_field(o, names[i].name, values[i], names[i].width);
	if (o->json)
		out_close(o);
}

/* The type and the misc bits; a type that has no fields is its number. */
static void put_head(struct out *o, const struct perfev_record *record, bool known)
{
	if (o->json) {
		out_open(o);
		out_name(o, "type");
	}
	if (known && o->json)
		out_string(o, perfev_record_name(record->type));
	else if (known)
		out_put(o, "%s", perfev_record_name(record->type));
	else
		out_put(o, "%" PRIu32, record->type);
	out_field(o, "misc", record->misc, 2);
}

static void put_fields(struct out *o, const struct perfev_any *any, const struct perfev_layout *layout)
{
	const struct record_field *rows;
	size_t count, i;

	for (i = 0; any->type == PERF_RECORD_SAMPLE && i < layout->step_count; i++)
		put_step(o, &layout->steps[i], &any->as.sample);
	rows = record_fields(any->type, &count);
	for (i = 0; i < count; i++)
		put_field(o, &rows[i], &any->as);
	if (any->type != PERF_RECORD_SAMPLE)
		put_trailer(o, layout, &any->as.trailer);
}

static int write_record(struct out *o, const struct perfev_record *record, const struct perfev_layout *layout,
			struct perfev_error *err)
{
	bool known = record->type != 0 && record->type < PERF_RECORD_MAX;
	struct perfev_bytes body = {(const unsigned char *)record->data + 8, record->size - 8};
	struct perfev_any any;
	int r = known ? perfev_any_decode(&any, record, layout, err) : 0;

	if (r < 0)
		return r;
	put_head(o, record, known);
	if (known) {
		put_fields(o, &any, layout);
	} else {
		out_name(o, "body");
		out_bytes(o, body);
	}
	if (o->json)
		out_close(o);
	return out_end(o);
}

int perfev_record_format(char *ret, size_t size, const struct perfev_record *record,
			 const struct perfev_layout *layout, struct perfev_error *err)
{
	struct out o = {.to = ret, .size = size};

	return write_record(&o, record, layout, err);
}

int perfev_record_to_json(char *ret, size_t size, const struct perfev_record *record,
			  const struct perfev_layout *layout, struct perfev_error *err)
{
	struct out o = {.to = ret, .size = size, .json = true};

	return write_record(&o, record, layout, err);
}
