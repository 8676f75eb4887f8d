/* SPDX-License-Identifier: MIT */
/*
 * Feature sections. Strings are a u32 length, then that many bytes with padding; nothing is aligned.
 * Every length is compared with the bytes that remain, and every text must have its terminator inside.
 */
#include <perfev/feature.h>
#include <perfev/abi.h>

#include "base/error.h"
#include "base/load.h"

#include <errno.h>

static const char *const names[] = {
	NULL,		   "TRACING_DATA",   "BUILD_ID",      "HOSTNAME",      "OSRELEASE",
	"VERSION",	   "ARCH",	     "NRCPUS",	      "CPUDESC",       "CPUID",
	"TOTAL_MEM",	   "CMDLINE",	     "EVENT_DESC",    "CPU_TOPOLOGY",  "NUMA_TOPOLOGY",
	"BRANCH_STACK",	   "PMU_MAPPINGS",   "GROUP_DESC",    "AUXTRACE",      "STAT",
	"CACHE",	   "SAMPLE_TIME",    "MEM_TOPOLOGY",  "CLOCKID",       "DIR_FORMAT",
	"BPF_PROG_INFO",   "BPF_BTF",	     "COMPRESSED",    "CPU_PMU_CAPS",  "CLOCK_DATA",
	"HYBRID_TOPOLOGY", "PMU_CAPS",	     "CPU_DOMAIN_INFO", "E_MACHINE",   "CLN_SIZE",
};

static const char *const simpleperf_names[] = {
	"SIMPLEPERF_FILE",  "SIMPLEPERF_META_INFO",	   "SIMPLEPERF_DEBUG_UNWIND", "SIMPLEPERF_DEBUG_UNWIND_FILE",
	"SIMPLEPERF_FILE2", "SIMPLEPERF_ETM_BRANCH_LIST", "SIMPLEPERF_INIT_MAP",
};

const char *perfev_feature_name(unsigned feature)
{
	const unsigned first = PERFEV_FEATURE_SIMPLEPERF_FILE;

	if (feature >= first && feature - first < sizeof(simpleperf_names) / sizeof(simpleperf_names[0]))
		return simpleperf_names[feature - first];
	return feature < sizeof(names) / sizeof(names[0]) ? names[feature] : NULL;
}

/* The string at @position, which moves behind it. */
static const char *take_string(struct perfev_bytes section, bool swapped, size_t *position)
{
	const unsigned char *data = section.data;
	uint32_t size;

	if (*position > section.size || section.size - *position < 4)
		return NULL;
	size = load_u32(data + *position, swapped);
	if (size == 0 || size > section.size - *position - 4 ||
	    !memchr(data + *position + 4, 0, size))
		return NULL;
	*position += 4 + (size_t)size;
	return (const char *)data + *position - size;
}

const char *perfev_feature_string(struct perfev_bytes section, bool swapped)
{
	size_t position = 0;

	return take_string(section, swapped, &position);
}

const char *perfev_feature_strings(struct perfev_bytes section, bool swapped, size_t *position)
{
	if (*position == 0)
		*position = 4; /* the number of strings, which the bytes must have anyway */
	return take_string(section, swapped, position);
}

/* A build-id entry: header, s32 pid, 20 bytes, u8 size, 3 reserved, filename. The size is there only
 * when misc says so; other writers padded shorter ids with zeros, in words of 4. */
static void take_id(struct perfev_build_id *ret, const unsigned char *at)
{
	memcpy(ret->id, at + 12, sizeof(ret->id));
	if (ret->misc & PERF_RECORD_MISC_EXT_RESERVED) {
		ret->size = at[32] <= 20 ? at[32] : 20;
		return;
	}
	ret->size = 20;
	while (ret->size > 4 && !load_u32(ret->id + ret->size - 4, false))
		ret->size = (uint8_t)(ret->size - 4);
}

int perfev_feature_build_id(struct perfev_build_id *ret, struct perfev_bytes section, bool swapped,
			    size_t *position, struct perfev_error *err)
{
	const unsigned char *at = section.data;
	size_t left;
	uint16_t size;

	if (*position >= section.size || section.size - *position < 8)
		return 0;
	at += *position;
	left = section.size - *position;
	size = load_u16(at + 6, swapped);
	if (size < 37 || size > left || !memchr(at + 36, 0, size - 36u))
		return error_set(err, -EINVAL, PERFEV_WHY_CORRUPT, *position,
				 "cannot read the build-ids: the entry at %zu does not fit the section",
				 *position);
	ret->misc = load_u16(at + 4, swapped);
	ret->pid = (int32_t)load_u32(at + 8, swapped);
	take_id(ret, at);
	ret->filename = (const char *)at + 36;
	*position += size;
	return 1;
}
