/* SPDX-License-Identifier: MIT */
/* What a record of Arm SPE is, for perf script. */
#ifndef CLI_SCRIPT_SPE_H
#define CLI_SCRIPT_SPE_H

#include "cli.h"

/* The events that perf makes up, in the order of their samples. */
enum spe_sample {
	SPE_L1D_MISS,
	SPE_L1D_ACCESS,
	SPE_LLC_MISS,
	SPE_LLC_ACCESS,
	SPE_TLB_MISS,
	SPE_TLB_ACCESS,
	SPE_BRANCH_MISS,
	SPE_REMOTE_ACCESS,
	SPE_MEMORY, /* of each access to memory */
	SPE_COUNT
};

/* Those that a record has, but SPE_MEMORY: bits 1 << enum spe_sample. */
unsigned spe_events(const struct perfev_spe_record *record);
/* Where its data was found, as in PERF_SAMPLE_DATA_SRC; 0: it was no access to memory. @midr: the CPU. */
uint64_t spe_data_source(const struct perfev_spe_record *record, uint64_t midr);

#endif
