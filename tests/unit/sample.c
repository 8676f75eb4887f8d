/* SPDX-License-Identifier: MIT */
/* Making samples, and comparing what was decoded with what was made. */
#include "sample.h"
#include "test.h"

const uint64_t sample_order[25] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR,
	PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD, PERF_SAMPLE_READ,
	PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW, PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_USER,
	PERF_SAMPLE_STACK_USER, PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_DATA_SRC,
	PERF_SAMPLE_TRANSACTION, PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, PERF_SAMPLE_AUX,
};

unsigned count_bits(uint64_t mask)
{
	unsigned n = 0, i;

	for (i = 0; i < 64; i++)
		n += (unsigned)(mask >> i & 1);
	return n;
}

static unsigned bit_number(uint64_t bit)
{
	unsigned n = 0;

	while (bit >> n != 1)
		n++;
	return n;
}

/* ---- making ---------------------------------------------------------------------------------------- */

static void fill_words(uint64_t *words, size_t count, uint64_t *seed)
{
	size_t i;

	for (i = 0; i < count; i++)
		words[i] = next_random(seed) | UINT64_C(1) << 62; /* never small enough for a count */
}

static void fill_branches(struct made_sample *made, uint64_t *seed)
{
	size_t i;

	made->branch_count = random_below(seed, BRANCH_MAX + 1);
	made->hw_idx = next_random(seed);
	made->no_hw_idx = !made->branch_count && random_below(seed, 2);
	made->no_counters = random_below(seed, 2);
	for (i = 0; i < made->branch_count; i++) {
		struct perfev_branch *b = &made->branch[i];
		uint64_t word = next_random(seed);

		b->from = next_random(seed);
		b->to = next_random(seed);
		b->counters = next_random(seed) | 1;
		b->mispredicted = (uint8_t)(word & 1);
		b->predicted = word >> 1 & 1;
		b->in_tx = word >> 2 & 1;
		b->abort = word >> 3 & 1;
		b->cycles = (uint16_t)(word >> 4);
		b->type = word >> 20 & 15;
		b->spec = word >> 24 & 3;
		b->new_type = word >> 26 & 15;
		b->priv = word >> 30 & 7;
	}
}

static void fill_data(unsigned char *data, size_t size, uint64_t *seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		data[i] = (unsigned char)(next_random(seed) | 0x40);
}

void made_fill(struct made_sample *made, uint64_t *seed)
{
	fill_words(made->words, 64, seed);
	fill_words(made->chain, CHAIN_MAX, seed);
	fill_words(made->value, MEMBERS_MAX + 1, seed);
	fill_words(made->id, MEMBERS_MAX + 1, seed);
	fill_words(made->lost, MEMBERS_MAX + 1, seed);
	fill_words(made->user_regs, 64, seed);
	fill_words(made->intr_regs, 64, seed);
	fill_data(made->raw, sizeof(made->raw), seed);
	fill_data(made->stack, sizeof(made->stack), seed);
	fill_data(made->aux, sizeof(made->aux), seed);
	fill_branches(made, seed);
	made->words[bit_number(PERF_SAMPLE_IDENTIFIER)] = made->words[bit_number(PERF_SAMPLE_ID)];
	made->enabled = next_random(seed);
	made->running = next_random(seed);
	made->members = made->attr.read_format & PERF_FORMAT_GROUP
				? random_below(seed, MEMBERS_MAX + 1)
				: 1;
	made->chain_size = random_below(seed, CHAIN_MAX + 1);
	made->raw_size = 4 + random_below(seed, 17);
	made->stack_size = random_below(seed, 9) * 8;
	made->dyn_size = random_below(seed, 80);
	made->aux_size = random_below(seed, 9) * 8;
	made->user_abi = random_below(seed, 3);
	made->intr_abi = random_below(seed, 3);
	made->misc = (uint16_t)next_random(seed);
}

void made_attr(struct made_sample *made, uint64_t *seed)
{
	struct perf_event_attr *attr = &made->attr;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->sample_type = next_random(seed) & (PERF_SAMPLE_MAX - 1);
	if (attr->sample_type & PERF_SAMPLE_WEIGHT)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
	attr->read_format = random_below(seed, PERF_FORMAT_MAX);
	attr->branch_sample_type = next_random(seed) & (PERF_SAMPLE_BRANCH_MAX - 1);
	attr->sample_regs_user = next_random(seed) & next_random(seed);
	attr->sample_regs_intr = next_random(seed) & next_random(seed) & next_random(seed);
	attr->sample_id_all = next_random(seed) & 1;
}

/* ---- bytes -------------------------------------------------------------------------------------------- */

static void encode_read(struct made_sample *made)
{
	uint64_t format = made->attr.read_format, i;
	struct bytes *to = &made->bytes;

	put_u64(to, format & PERF_FORMAT_GROUP ? made->members : made->value[0]);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(to, made->enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(to, made->running);
	for (i = 0; i < made->members; i++) {
		if (format & PERF_FORMAT_GROUP)
			put_u64(to, made->value[i]);
		if (format & PERF_FORMAT_ID)
			put_u64(to, made->id[i]);
		if (format & PERF_FORMAT_LOST)
			put_u64(to, made->lost[i]);
	}
}

/* The third word of a branch: fields from the lowest bit up, or from the highest down. */
static uint64_t branch_word(const struct perfev_branch *b, bool big)
{
	const struct {
		uint64_t value;
		unsigned width;
	} parts[] = {{b->mispredicted, 1}, {b->predicted, 1}, {b->in_tx, 1},
		     {b->abort, 1},        {b->cycles, 16},   {b->type, 4},
		     {b->spec, 2},         {b->new_type, 4},  {b->priv, 3}};
	unsigned at = 0, i;
	uint64_t word = 0;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		word |= parts[i].value << (big ? 64 - at - parts[i].width : at);
		at += parts[i].width;
	}
	return word;
}

static void encode_branches(struct made_sample *made)
{
	struct bytes *to = &made->bytes;
	uint64_t i;

	put_u64(to, made->branch_count);
	if ((made->attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) && !made->no_hw_idx)
		put_u64(to, made->hw_idx);
	for (i = 0; i < made->branch_count; i++) {
		put_u64(to, made->branch[i].from);
		put_u64(to, made->branch[i].to);
		put_u64(to, branch_word(&made->branch[i], to->big));
	}
	for (i = 0; i < made->branch_count; i++)
		if ((made->attr.branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS) && !made->no_counters)
			put_u64(to, made->branch[i].counters);
}

static void encode_registers(struct bytes *to, uint64_t abi, uint64_t mask, const uint64_t *values)
{
	unsigned i;

	put_u64(to, abi);
	for (i = 0; abi && i < 64; i++)
		if (mask >> i & 1)
			put_u64(to, values[i]);
}

static void encode_field(struct made_sample *made, uint64_t bit)
{
	struct bytes *to = &made->bytes;
	uint64_t word = made->words[bit_number(bit)], i;

	switch (bit) {
	case PERF_SAMPLE_TID:
	case PERF_SAMPLE_CPU:
		put_u32(to, word & UINT32_MAX);
		put_u32(to, word >> 32);
		break;
	case PERF_SAMPLE_READ:
		encode_read(made);
		break;
	case PERF_SAMPLE_CALLCHAIN:
		put_u64(to, made->chain_size);
		for (i = 0; i < made->chain_size; i++)
			put_u64(to, made->chain[i]);
		break;
	case PERF_SAMPLE_RAW:
		put_u32(to, made->raw_size);
		put_bytes(to, made->raw, made->raw_size);
		break;
	case PERF_SAMPLE_BRANCH_STACK:
		encode_branches(made);
		break;
	case PERF_SAMPLE_REGS_USER:
		encode_registers(to, made->user_abi, made->attr.sample_regs_user, made->user_regs);
		break;
	case PERF_SAMPLE_REGS_INTR:
		encode_registers(to, made->intr_abi, made->attr.sample_regs_intr, made->intr_regs);
		break;
	case PERF_SAMPLE_STACK_USER:
		put_u64(to, made->stack_size);
		put_bytes(to, made->stack, made->stack_size);
		if (made->stack_size)
			put_u64(to, made->dyn_size);
		break;
	case PERF_SAMPLE_AUX:
		put_u64(to, made->aux_size);
		put_bytes(to, made->aux, made->aux_size);
		break;
	default:
		put_u64(to, word);
	}
}

void made_encode(struct made_sample *made, bool big)
{
	size_t i;

	made->bytes.size = 0;
	made->bytes.big = big;
	begin_record(&made->bytes, PERF_RECORD_SAMPLE, made->misc);
	for (i = 0; i < 25; i++)
		if (made->attr.sample_type & sample_order[i])
			encode_field(made, sample_order[i]);
	end_record(&made->bytes, 0);
}

struct perfev_record made_record(const struct made_sample *made, const unsigned char *data, size_t size)
{
	struct perfev_record record;

	memset(&record, 0, sizeof(record));
	record.data = data;
	record.type = PERF_RECORD_SAMPLE;
	record.size = (uint32_t)size;
	record.misc = made->misc;
	record.flags = made->bytes.big == host_is_big() ? 0 : PERFEV_RECORD_SWAPPED;
	return record;
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

static void check_read(const struct made_sample *made, const struct perfev_values *read)
{
	uint64_t format = made->attr.read_format;
	struct perfev_value value;
	uint32_t i;

	assert_true(read->present == format);
	assert_int_equal(read->members, made->members);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		assert_true(read->enabled_ns == made->enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		assert_true(read->running_ns == made->running);
	for (i = 0; i < made->members; i++) {
		assert_true(perfev_values_at(read, i, &value));
		assert_true(value.count == made->value[i]);
		assert_true(value.id == (format & PERF_FORMAT_ID ? made->id[i] : 0));
		assert_true(value.lost == (format & PERF_FORMAT_LOST ? made->lost[i] : 0));
	}
	assert_false(perfev_values_at(read, i, &value));
	assert_false(perfev_values_at(read, UINT32_MAX, &value));
	if (made->members) {
		assert_true(read->count == made->value[0]);
		assert_true(!(format & PERF_FORMAT_ID) || read->id == made->id[0]);
		assert_true(!(format & PERF_FORMAT_LOST) || read->lost == made->lost[0]);
	}
}

static void check_branches(const struct made_sample *made, const struct perfev_branches *branches)
{
	uint64_t type = made->attr.branch_sample_type;
	bool counters = (type & PERF_SAMPLE_BRANCH_COUNTERS) && !made->no_counters;
	struct perfev_branch got;
	uint32_t i;

	assert_int_equal(branches->count, made->branch_count);
	assert_true(branches->hw_idx == ((type & PERF_SAMPLE_BRANCH_HW_INDEX) && !made->no_hw_idx
						 ? made->hw_idx
						 : UINT64_MAX));
	for (i = 0; i < made->branch_count; i++) {
		struct perfev_branch wanted = made->branch[i];

		if (!counters)
			wanted.counters = 0;
		memset(&got, 0, sizeof(got));
		assert_true(perfev_branches_at(branches, i, &got));
		assert_true(got.from == wanted.from && got.to == wanted.to);
		assert_true(got.counters == wanted.counters);
		assert_int_equal(got.cycles, wanted.cycles);
		assert_int_equal(got.mispredicted | got.predicted << 1 | got.in_tx << 2 |
					 got.abort << 3,
				 wanted.mispredicted | wanted.predicted << 1 | wanted.in_tx << 2 |
					 wanted.abort << 3);
		assert_int_equal(got.type, wanted.type);
		assert_int_equal(got.spec, wanted.spec);
		assert_int_equal(got.new_type, wanted.new_type);
		assert_int_equal(got.priv, wanted.priv);
	}
	assert_false(perfev_branches_at(branches, i, &got));
	assert_false(perfev_branches_at(branches, UINT32_MAX, &got));
}

static void check_registers(const struct perfev_registers *got, uint64_t abi, uint64_t mask,
			    const uint64_t *values)
{
	unsigned i;
	uint64_t value;

	assert_true(got->abi == abi && got->mask == mask);
	assert_int_equal(got->values.count, abi ? count_bits(mask) : 0);
	for (i = 0; i < 70; i++) {
		bool there = abi && i < 64 && (mask >> i & 1);

		assert_int_equal(perfev_registers_get(got, i, &value), there);
		assert_true(!there || value == values[i]);
	}
}

static void check_stack(const struct made_sample *made, const struct perfev_sample *s)
{
	uint64_t valid = made->dyn_size < made->stack_size ? made->dyn_size : made->stack_size;

	assert_true(s->stack_user_size == made->stack_size);
	assert_int_equal(s->stack_user.size, valid);
	assert_int_equal(memcmp(s->stack_user.data, made->stack, valid), 0);
}

static void check_words(const struct made_sample *made, const struct perfev_sample *s, uint64_t bits)
{
	const struct {
		uint64_t bit, value;
	} words[] = {
		{PERF_SAMPLE_IDENTIFIER, s->id},
		{PERF_SAMPLE_IP, s->ip},
		{PERF_SAMPLE_TIME, s->time},
		{PERF_SAMPLE_TID, s->pid | (uint64_t)s->tid << 32},
		{PERF_SAMPLE_ADDR, s->addr},
		{PERF_SAMPLE_ID, s->id},
		{PERF_SAMPLE_STREAM_ID, s->stream_id},
		{PERF_SAMPLE_CPU, s->cpu | (uint64_t)s->reserved << 32},
		{PERF_SAMPLE_PERIOD, s->period},
		{PERF_SAMPLE_WEIGHT, s->weight},
		{PERF_SAMPLE_WEIGHT_STRUCT, s->weight},
		{PERF_SAMPLE_DATA_SRC, s->data_src},
		{PERF_SAMPLE_TRANSACTION, s->transaction},
		{PERF_SAMPLE_PHYS_ADDR, s->phys_addr},
		{PERF_SAMPLE_CGROUP, s->cgroup},
		{PERF_SAMPLE_DATA_PAGE_SIZE, s->data_page_size},
		{PERF_SAMPLE_CODE_PAGE_SIZE, s->code_page_size},
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((bits & words[i].bit) && words[i].value != made->words[bit_number(words[i].bit)])
			fail_msg("bit %u of 0x%llx", bit_number(words[i].bit),
				 (unsigned long long)made->attr.sample_type);
}

void made_check(const struct made_sample *made, const struct perfev_sample *s, uint64_t bits)
{
	uint32_t i;

	check_words(made, s, bits);
	assert_int_equal(s->misc, made->misc);
	if (bits & PERF_SAMPLE_READ)
		check_read(made, &s->read);
	if (bits & PERF_SAMPLE_CALLCHAIN) {
		assert_int_equal(s->callchain.count, made->chain_size);
		for (i = 0; i < s->callchain.count; i++)
			assert_true(perfev_u64s_at(s->callchain, i) == made->chain[i]);
	}
	if (bits & PERF_SAMPLE_RAW) {
		assert_int_equal(s->raw.size, made->raw_size);
		assert_memory_equal(s->raw.data, made->raw, made->raw_size);
	}
	if (bits & PERF_SAMPLE_BRANCH_STACK)
		check_branches(made, &s->branches);
	if (bits & PERF_SAMPLE_REGS_USER)
		check_registers(&s->regs_user, made->user_abi, made->attr.sample_regs_user,
				made->user_regs);
	if (bits & PERF_SAMPLE_REGS_INTR)
		check_registers(&s->regs_intr, made->intr_abi, made->attr.sample_regs_intr,
				made->intr_regs);
	if (bits & PERF_SAMPLE_STACK_USER)
		check_stack(made, s);
	if (bits & PERF_SAMPLE_AUX) {
		assert_int_equal(s->aux.size, made->aux_size);
		assert_int_equal(memcmp(s->aux.data, made->aux, made->aux_size), 0);
	}
}
