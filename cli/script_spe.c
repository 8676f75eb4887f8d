/* SPDX-License-Identifier: MIT */
/*
 * What a record of Arm SPE is, for perf script: samples of events that perf makes up, one for each thing that happened, and where
 * the data was found, in the form of PERF_SAMPLE_DATA_SRC.
 */
#include "script_spe.h"

/* CPUs of which it is known what the numbers of a Data Source packet mean: Neoverse N1, N2, V1. */
static bool is_neoverse(uint64_t midr)
{
	uint64_t part = midr >> 4 & 0xfff;

	return (midr >> 24 & 0xff) == 0x41 && (midr >> 16 & 0xf) == 0xf && (part == 0xd0c || part == 0xd49 || part == 0xd40);
}

#define LEVEL(name)  ((uint64_t)(PERF_MEM_LVL_##name) << PERF_MEM_LVL_SHIFT)
#define NUMBER(name) ((uint64_t)(PERF_MEM_LVLNUM_##name) << PERF_MEM_LVLNUM_SHIFT)
#define SNOOP(name)  ((uint64_t)(PERF_MEM_SNOOP_##name) << PERF_MEM_SNOOP_SHIFT)
#define PEER	     ((uint64_t)2 << PERF_MEM_SNOOPX_SHIFT)
#define REMOTE	     ((uint64_t)PERF_MEM_REMOTE_REMOTE << PERF_MEM_REMOTE_SHIFT)

static uint64_t of_neoverse(const struct perfev_spe_record *record, bool store)
{
	if (store) /* not told */
		return LEVEL(NA) | NUMBER(NA) | SNOOP(NA);
	switch (record->source) {
	case 0x0:
		return LEVEL(L1) | LEVEL(HIT) | NUMBER(L1) | SNOOP(NONE);
	case 0x8:
		return LEVEL(L2) | LEVEL(HIT) | NUMBER(L2) | SNOOP(NONE);
	case 0x9: /* another core */
		return LEVEL(L2) | LEVEL(HIT) | NUMBER(L2) | PEER;
	case 0xa: /* this cluster, another one */
	case 0xc:
		return LEVEL(L3) | LEVEL(HIT) | NUMBER(L3) | PEER;
	case 0xb: /* the system's cache */
		return LEVEL(L3) | LEVEL(HIT) | NUMBER(L3) | SNOOP(HIT);
	case 0xd: /* another socket; a later perf says: a remote cache, one hop away */
		return LEVEL(NA) | NUMBER(NA) | REMOTE | PEER;
	case 0xe:
		return LEVEL(LOC_RAM) | LEVEL(HIT) | NUMBER(RAM) | SNOOP(NONE);
	default:
		return 0;
	}
}

static bool happened(const struct perfev_spe_record *record, enum perfev_spe_event event)
{
	return record->events >> event & 1;
}

static uint64_t of_events(const struct perfev_spe_record *record)
{
	uint64_t found = 0;

	if (happened(record, PERFEV_SPE_EVENT_LLC_ACCESS) || happened(record, PERFEV_SPE_EVENT_LLC_MISS))
		found = LEVEL(L3) | (happened(record, PERFEV_SPE_EVENT_LLC_MISS) ? LEVEL(MISS) : LEVEL(HIT));
	else if (happened(record, PERFEV_SPE_EVENT_L1D_ACCESS) || happened(record, PERFEV_SPE_EVENT_L1D_REFILL))
		found = LEVEL(L1) | (happened(record, PERFEV_SPE_EVENT_L1D_REFILL) ? LEVEL(MISS) : LEVEL(HIT));
	return happened(record, PERFEV_SPE_EVENT_REMOTE_ACCESS) ? found | REMOTE : found;
}

uint64_t spe_data_source(const struct perfev_spe_record *record, uint64_t midr)
{
	bool store = record->op & 1;
	uint64_t found;

	if (!(record->present & PERFEV_SPE_HAS_OPERATION) || record->op_class != PERFEV_SPE_LOAD_STORE)
		return 0;
	found = (uint64_t)(store ? PERF_MEM_OP_STORE : PERF_MEM_OP_LOAD) << PERF_MEM_OP_SHIFT;
	found |= is_neoverse(midr) ? of_neoverse(record, store) : of_events(record);
	if (happened(record, PERFEV_SPE_EVENT_TLB_ACCESS) || happened(record, PERFEV_SPE_EVENT_TLB_WALK))
		found |= (uint64_t)(PERF_MEM_TLB_WK |
				    (happened(record, PERFEV_SPE_EVENT_TLB_WALK) ? PERF_MEM_TLB_MISS : PERF_MEM_TLB_HIT))
			 << PERF_MEM_TLB_SHIFT;
	return found;
}

unsigned spe_events(const struct perfev_spe_record *record)
{
	static const struct {
		enum perfev_spe_event event;
		enum spe_sample sample;
	} rows[] = {
		{PERFEV_SPE_EVENT_L1D_REFILL, SPE_L1D_MISS},	    {PERFEV_SPE_EVENT_L1D_ACCESS, SPE_L1D_ACCESS},
		{PERFEV_SPE_EVENT_LLC_MISS, SPE_LLC_MISS},	    {PERFEV_SPE_EVENT_LLC_ACCESS, SPE_LLC_ACCESS},
		{PERFEV_SPE_EVENT_TLB_WALK, SPE_TLB_MISS},	    {PERFEV_SPE_EVENT_TLB_ACCESS, SPE_TLB_ACCESS},
		{PERFEV_SPE_EVENT_MISPREDICTED, SPE_BRANCH_MISS}, {PERFEV_SPE_EVENT_REMOTE_ACCESS, SPE_REMOTE_ACCESS},
	};
	unsigned found = 0;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (happened(record, rows[i].event))
			found |= 1u << rows[i].sample;
	return found;
}
