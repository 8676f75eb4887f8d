/* SPDX-License-Identifier: MIT */
/* Records: any bytes, with any attr, decode or do not, and no view leaves them. The input is 56 bytes that
 * say what the attr is, then records. */
#include "fuzz.h"

#include <perfev/meaning.h>
#include <perfev/order.h>
#include <perfev/record.h>

#define HEAD 56

static uint64_t word(const uint8_t *data, unsigned index)
{
	uint64_t value;

	memcpy(&value, data + index * 8, 8);
	return value;
}

static struct perf_event_attr make_attr(const uint8_t *data)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_type = word(data, 0) & (word(data, 6) & 1 ? UINT64_MAX : PERF_SAMPLE_MAX - 1);
	attr.read_format = word(data, 1) & (word(data, 6) & 1 ? UINT64_MAX : PERF_FORMAT_MAX - 1);
	attr.branch_sample_type = word(data, 2);
	attr.sample_regs_user = word(data, 3);
	attr.sample_regs_intr = word(data, 4);
	attr.sample_id_all = word(data, 5) & 1;
	return attr;
}

static void inside(const struct perfev_record *record, const void *data, size_t size)
{
	const uint8_t *from = record->data, *at = data;

	if (size && (at < from || size > record->size || (size_t)(at - from) > record->size - size))
		abort();
	touch(data, size);
}

static void use_words(const struct perfev_record *record, struct perfev_u64s words)
{
	inside(record, words.data, (size_t)words.count * 8);
	if (words.count)
		perfev_u64s_at(words, words.count - 1);
}

/* No address is a mark, and there are no more of them than words. */
static void use_chain(const struct perfev_sample *s)
{
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;
	uint32_t n = 0;

	perfev_callchain_begin(&chain, s->callchain, s->misc);
	while (perfev_callchain_next(&chain, &entry) > 0)
		if (++n > s->callchain.count || entry.ip >= PERF_CONTEXT_MAX || entry.context >= PERFEV_CONTEXT_COUNT_)
			abort();
}

static void use_meanings(const struct perfev_sample *s)
{
	struct perfev_weight weight;
	char text[64];

	perfev_cpumode_name(s->misc);
	if ((s->present & PERF_SAMPLE_DATA_SRC) && perfev_data_source_format(text, sizeof(text), s->data_src) < (int)strlen(text))
		abort();
	if ((s->present & PERF_SAMPLE_TRANSACTION) &&
	    perfev_transaction_format(text, sizeof(text), s->transaction) < (int)strlen(text))
		abort();
	perfev_sample_weight(s, &weight);
}

static void use_sample(const struct perfev_record *record, const struct perfev_sample *s)
{
	struct perfev_branch branch;
	struct perfev_value value;
	uint64_t reg;
	uint32_t i;

	if (s->present & PERF_SAMPLE_READ)
		for (i = 0; perfev_values_at(&s->read, i, &value); i++)
			;
	if (s->present & PERF_SAMPLE_CALLCHAIN)
		use_words(record, s->callchain);
	if (s->present & PERF_SAMPLE_CALLCHAIN)
		use_chain(s);
	use_meanings(s);
	if (s->present & PERF_SAMPLE_RAW)
		inside(record, s->raw.data, s->raw.size);
	if (s->present & PERF_SAMPLE_BRANCH_STACK) {
		inside(record, s->branches.entries.data, s->branches.entries.size);
		use_words(record, s->branches.counters);
		for (i = 0; perfev_branches_at(&s->branches, i, &branch); i++) {
			perfev_branch_type_name(&branch, PERFEV_ARCH_ARM64);
			perfev_branch_speculation_name(&branch);
			perfev_branch_privilege_name(&branch);
		}
	}
	for (i = 0; i < 64; i++) {
		if (s->present & PERF_SAMPLE_REGS_USER)
			perfev_registers_get(&s->regs_user, i, &reg);
		if (s->present & PERF_SAMPLE_REGS_INTR)
			perfev_registers_get(&s->regs_intr, i, &reg);
	}
	if (s->present & PERF_SAMPLE_STACK_USER)
		inside(record, s->stack_user.data, s->stack_user.size);
	if (s->present & PERF_SAMPLE_AUX)
		inside(record, s->aux.data, s->aux.size);
}

static void use_text(const struct perfev_record *record, const char *text)
{
	inside(record, text, strlen(text) + 1);
}

static void use_any(const struct perfev_record *record, const struct perfev_any *any)
{
	switch (any->type) {
	case PERF_RECORD_SAMPLE:
		use_sample(record, &any->as.sample);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		use_text(record, any->as.mmap.filename);
		if (any->as.mmap.build_id_size > 20)
			abort();
		break;
	case PERF_RECORD_COMM:
		use_text(record, any->as.comm.comm);
		break;
	case PERF_RECORD_NAMESPACES:
		use_words(record, any->as.namespaces.links);
		break;
	case PERF_RECORD_KSYMBOL:
		use_text(record, any->as.ksymbol.name);
		break;
	case PERF_RECORD_CGROUP:
		use_text(record, any->as.cgroup.path);
		break;
	case PERF_RECORD_TEXT_POKE:
		inside(record, any->as.text_poke.old_bytes.data, any->as.text_poke.old_bytes.size);
		inside(record, any->as.text_poke.new_bytes.data, any->as.text_poke.new_bytes.size);
		break;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		use_words(record, any->as.callchain_deferred.ips);
		break;
	default:
		break;
	}
}

/* Ordered and out again: all records, with the same bytes. */
static void order_records(struct perfev_order *order, size_t pushed)
{
	struct perfev_record record;
	size_t n = 0;

	if (perfev_order_end(order, NULL) < 0)
		abort();
	for (; perfev_order_next(order, &record) > 0; n++)
		touch(record.data, record.size);
	if (n != pushed)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes rest = {data + HEAD, size - HEAD};
	struct perf_event_attr attr;
	struct perfev_layout *layout;
	struct perfev_order *order;
	struct perfev_record record;
	struct perfev_any any;
	struct perfev_id id;
	uint64_t time;
	size_t pushed = 0;
	unsigned flags;

	if (size < HEAD)
		return 0;
	attr = make_attr(data);
	flags = word(data, 5) & 2 ? PERFEV_RECORD_SWAPPED : 0;
	if (perfev_layout_new(&layout, &attr, NULL) < 0)
		return 0;
	if (perfev_order_new(&order, NULL, NULL) < 0)
		abort();
	while (perfev_record_from_bytes(&record, rest, flags, NULL) == 0) {
		if (perfev_any_decode(&any, &record, layout, NULL) == 0)
			use_any(&record, &any);
		if (perfev_any_decode(&any, &record, NULL, NULL) == 0)
			use_any(&record, &any);
		perfev_id_decode(&id, &record, layout, NULL);
		perfev_record_time(&record, layout, &time);
		if (record.type < 64) {
			pushed++;
			if (perfev_order_push(order, &record, layout, NULL) < 0)
				abort();
		}
		rest.data = (const uint8_t *)rest.data + record.size;
		rest.size -= record.size;
	}
	order_records(order, pushed);
	perfev_order_free(order);
	perfev_layout_free(layout);
	return 0;
}
