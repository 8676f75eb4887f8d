/* SPDX-License-Identifier: MIT */
/*
 * The data source word of a sample: where a memory access found its data.
 *
 * The word grew: what the 14 bits of the level could not say got a number beside them (lvl_num, with remote and
 * hops), and drivers fill in both, or one of them. The number is taken where it speaks, the bits otherwise; hit
 * and miss are in the bits only. Each field has its own mark for "not available"; none of them is kept, so that
 * 0 is always what nobody said. The word is a number: shifts mean the same on both byte orders.
 */
#include <perfev/meaning.h>

#include <stdio.h>
#include <string.h>

#define COUNT(array)	     (sizeof(array) / sizeof((array)[0]))
#define BITS(word, at, width) ((unsigned)((word) >> (at) & ((1u << (width)) - 1)))
#define NEVER_USED	     (PERF_MEM_REGION_SHIFT + 5) /* from here on bits have no meaning yet */
#define LEVEL(name)	     (1u << PERFEV_MEM_##name)

static const char *const op_names[] = {NULL, "load", "store", "prefetch", "execute"};
static const char *const snoop_names[] = {NULL, "none", "hit", "miss", "hit modified"};
static const char *const snoopx_names[] = {"forwarded", "from peer"};
static const char *const tlb_names[] = {NULL, "hit", "miss", "L1", "L2", "walker", "fault handler"};
static const char *const blocked_names[] = {NULL, "data", "address"};
static const char *const hops_names[] = {NULL, "another core of the node", "another node of the socket",
					 "another socket of the board", "another board"};
static const char *const region_names[] = {
	NULL, "reserved", "local shared", "local not shared", "other I/O", "other shared",
	"other not shared", "MMIO", "memory 0", "memory 1", "memory 2", "memory 3",
	"memory 4", "memory 5", "memory 6", "memory 7",
};
static const char *const level_names[PERFEV_MEM_LEVEL_COUNT_] = {
	"L0", "L1", "L2", "L3", "L4", "LFB", "L2 MHB", "memory-side cache", "any cache", "RAM", "PMEM", "CXL", "I/O",
	"uncached",
};

/* By field: its names, by bit or by number. */
static const struct names {
	const char *const *names;
	uint8_t count;
	bool is_set;
} fields[] = {
	[PERFEV_MEM_FIELD_OP] = {op_names, COUNT(op_names), true},
	[PERFEV_MEM_FIELD_LEVEL] = {level_names, COUNT(level_names), false},
	[PERFEV_MEM_FIELD_HOPS] = {hops_names, COUNT(hops_names), false},
	[PERFEV_MEM_FIELD_SNOOP] = {snoop_names, COUNT(snoop_names), true},
	[PERFEV_MEM_FIELD_SNOOPX] = {snoopx_names, COUNT(snoopx_names), true},
	[PERFEV_MEM_FIELD_TLB] = {tlb_names, COUNT(tlb_names), true},
	[PERFEV_MEM_FIELD_BLOCKED] = {blocked_names, COUNT(blocked_names), true},
	[PERFEV_MEM_FIELD_REGION] = {region_names, COUNT(region_names), false},
};

/* The levels by number. 0 is of drivers that do not know the field, 15 says "not available". */
static const uint32_t numbered_levels[16] = {
	[PERF_MEM_LVLNUM_L1] = LEVEL(L1),
	[PERF_MEM_LVLNUM_L2] = LEVEL(L2),
	[PERF_MEM_LVLNUM_L3] = LEVEL(L3),
	[PERF_MEM_LVLNUM_L4] = LEVEL(L4),
	[PERF_MEM_LVLNUM_L2_MHB] = LEVEL(L2_MHB),
	[PERF_MEM_LVLNUM_MSC] = LEVEL(MSC),
	[PERF_MEM_LVLNUM_L0] = LEVEL(L0),
	[PERF_MEM_LVLNUM_UNC] = LEVEL(UNCACHED),
	[PERF_MEM_LVLNUM_CXL] = LEVEL(CXL),
	[PERF_MEM_LVLNUM_IO] = LEVEL(IO),
	[PERF_MEM_LVLNUM_ANY_CACHE] = LEVEL(ANY_CACHE),
	[PERF_MEM_LVLNUM_LFB] = LEVEL(LFB),
	[PERF_MEM_LVLNUM_RAM] = LEVEL(RAM),
	[PERF_MEM_LVLNUM_PMEM] = LEVEL(PMEM),
};

/* The levels by bit, and how far away the remote ones are. */
static const struct old_level {
	uint16_t bit;
	uint8_t hops;
	uint32_t level;
} old_levels[] = {
	{PERF_MEM_LVL_L1, 0, LEVEL(L1)},
	{PERF_MEM_LVL_LFB, 0, LEVEL(LFB)},
	{PERF_MEM_LVL_L2, 0, LEVEL(L2)},
	{PERF_MEM_LVL_L3, 0, LEVEL(L3)},
	{PERF_MEM_LVL_LOC_RAM, 0, LEVEL(RAM)},
	{PERF_MEM_LVL_REM_RAM1, 1, LEVEL(RAM)},
	{PERF_MEM_LVL_REM_RAM2, 2, LEVEL(RAM)},
	{PERF_MEM_LVL_REM_CCE1, 1, LEVEL(ANY_CACHE)},
	{PERF_MEM_LVL_REM_CCE2, 2, LEVEL(ANY_CACHE)},
	{PERF_MEM_LVL_IO, 0, LEVEL(IO)},
	{PERF_MEM_LVL_UNC, 0, LEVEL(UNCACHED)},
};

/* A set without its lowest bit, which says that there is none. */
static uint8_t said(unsigned bits)
{
	return (uint8_t)(bits & 1 ? 0 : bits);
}

static void decode_old_level(struct perfev_data_source *ret, unsigned bits)
{
	size_t i;

	for (i = 0; i < COUNT(old_levels); i++) {
		if (!(bits & old_levels[i].bit))
			continue;
		ret->levels |= old_levels[i].level;
		if (old_levels[i].hops > ret->old_hops)
			ret->old_hops = old_levels[i].hops;
	}
	if (ret->old_hops)
		ret->remote = 1;
}

static void decode_level(struct perfev_data_source *ret, uint64_t word)
{
	unsigned old = BITS(word, PERF_MEM_LVL_SHIFT, 14);

	ret->remote = (uint8_t)BITS(word, PERF_MEM_REMOTE_SHIFT, 1);
	ret->levels = numbered_levels[BITS(word, PERF_MEM_LVLNUM_SHIFT, 4)];
	if (old & PERF_MEM_LVL_NA)
		return;
	ret->hit = !!(old & PERF_MEM_LVL_HIT);
	ret->miss = !!(old & PERF_MEM_LVL_MISS);
	if (!ret->levels)
		decode_old_level(ret, old);
}

void perfev_data_source_decode(struct perfev_data_source *ret, uint64_t word)
{
	unsigned hops = BITS(word, PERF_MEM_HOPS_SHIFT, 3);

	memset(ret, 0, sizeof(*ret));
	ret->op = said(BITS(word, PERF_MEM_OP_SHIFT, 5));
	decode_level(ret, word);
	ret->hops = (uint8_t)hops;
	ret->snoop = said(BITS(word, PERF_MEM_SNOOP_SHIFT, 5));
	ret->snoopx = (uint8_t)BITS(word, PERF_MEM_SNOOPX_SHIFT, 2);
	ret->locked = said(BITS(word, PERF_MEM_LOCK_SHIFT, 2)) == PERF_MEM_LOCK_LOCKED;
	ret->tlb = said(BITS(word, PERF_MEM_TLB_SHIFT, 7));
	ret->blocked = said(BITS(word, PERF_MEM_BLK_SHIFT, 3));
	ret->region = (uint8_t)BITS(word, PERF_MEM_REGION_SHIFT, 5);
	ret->unknown = word >> NEVER_USED << NEVER_USED;
	if (hops >= COUNT(hops_names))
		ret->unknown |= (uint64_t)hops << PERF_MEM_HOPS_SHIFT;
	if (ret->region >= COUNT(region_names))
		ret->unknown |= (uint64_t)ret->region << PERF_MEM_REGION_SHIFT;
}

const char *perfev_mem_name(enum perfev_mem_field field, unsigned value)
{
	unsigned at = value;

	if ((unsigned)field >= COUNT(fields))
		return NULL;
	if (fields[field].is_set) {
		if (!value || (value & (value - 1)))
			return NULL;
		for (at = 0; value > 1; at++)
			value >>= 1;
	}
	return at < fields[field].count ? fields[field].names[at] : NULL;
}

/* ---- as text -------------------------------------------------------------------------------------------- */

struct text {
	char *to;
	size_t size, used;
};

static void put(struct text *text, const char *word)
{
	size_t length = strlen(word), left = text->used < text->size ? text->size - text->used : 0;

	if (left)
		snprintf(text->to + text->used, left, "%s", word);
	text->used += length;
}

/* Begins a part; the words of a part are separated by spaces, which their callers write. */
static void part(struct text *text)
{
	if (text->used)
		put(text, ", ");
}

/* The names of the values of a set, with bars between them; whether there was one. */
static bool put_set(struct text *text, enum perfev_mem_field field, unsigned set)
{
	bool any = false;
	unsigned i;

	for (i = 0; i < 32; i++) {
		bool is_bit = fields[field].is_set;
		const char *name = set >> i & 1 ? perfev_mem_name(field, is_bit ? 1u << i : i) : NULL;

		if (!name)
			continue;
		if (any)
			put(text, "|");
		put(text, name);
		any = true;
	}
	return any;
}

static void put_level(struct text *text, const struct perfev_data_source *source)
{
	if (!source->levels && !source->hit && !source->miss && !source->remote && !source->hops)
		return;
	part(text);
	if (source->remote)
		put(text, "remote ");
	if (!put_set(text, PERFEV_MEM_FIELD_LEVEL, source->levels))
		put(text, "level not said");
	if (source->hit)
		put(text, " hit");
	if (source->miss)
		put(text, " miss");
	if (source->hops && perfev_mem_name(PERFEV_MEM_FIELD_HOPS, source->hops)) {
		put(text, " in ");
		put(text, perfev_mem_name(PERFEV_MEM_FIELD_HOPS, source->hops));
	} else if (source->old_hops) {
		put(text, source->old_hops == 1 ? " at 1 hop" : " at 2 hops");
	}
}

static void put_snoop(struct text *text, const struct perfev_data_source *source)
{
	if (!source->snoop && !source->snoopx)
		return;
	part(text);
	put(text, "snoop ");
	if (put_set(text, PERFEV_MEM_FIELD_SNOOP, source->snoop) && source->snoopx)
		put(text, "|");
	put_set(text, PERFEV_MEM_FIELD_SNOOPX, source->snoopx);
}

static void put_tlb(struct text *text, unsigned tlb)
{
	const unsigned outcome = PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS;

	if (!tlb)
		return;
	part(text);
	put(text, "TLB ");
	if (put_set(text, PERFEV_MEM_FIELD_TLB, tlb & ~outcome) && (tlb & outcome))
		put(text, " ");
	put_set(text, PERFEV_MEM_FIELD_TLB, tlb & outcome);
}

int perfev_data_source_format(char *ret, size_t size, uint64_t word)
{
	struct text text = {ret, size, 0};
	struct perfev_data_source source;

	perfev_data_source_decode(&source, word);
	if (size)
		ret[0] = 0;
	put_set(&text, PERFEV_MEM_FIELD_OP, source.op);
	put_level(&text, &source);
	put_snoop(&text, &source);
	put_tlb(&text, source.tlb);
	if (source.locked) {
		part(&text);
		put(&text, "locked");
	}
	if (source.blocked) {
		part(&text);
		put(&text, "blocked by ");
		put_set(&text, PERFEV_MEM_FIELD_BLOCKED, source.blocked);
	}
	if (perfev_mem_name(PERFEV_MEM_FIELD_REGION, source.region)) {
		part(&text);
		put(&text, "region ");
		put(&text, perfev_mem_name(PERFEV_MEM_FIELD_REGION, source.region));
	}
	if (!text.used)
		put(&text, "not available");
	return (int)text.used;
}
