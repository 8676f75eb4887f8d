/* SPDX-License-Identifier: MIT */
/* The records of a recording that have trace data, or say of which PMU they are. They are perf's, not the kernel's. */
#include <perfev/auxtrace.h>

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <inttypes.h>

#define AUXTRACE_INFO 70
#define AUXTRACE      71

const char *perfev_auxtrace_type_name(uint32_t type)
{
	static const char *const names[] = {NULL,      "intel_pt",    "intel_bts", "cs_etm",
					    "arm_spe", "s390_cpumsf", "hisi_ptt",  "vpa_dtl"};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : NULL;
}

static int check(const struct perfev_record *record, uint32_t type, uint32_t size, struct perfev_error *err)
{
	if (record->type != type)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, record->offset,
				 "cannot decode a record of type %" PRIu32 " as one of type %" PRIu32, record->type, type);
	if (record->size < size)
		return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, record->offset,
				 "cannot decode %s record at 0x%" PRIx64 ": it has %" PRIu32 " bytes, and needs %" PRIu32,
				 type == AUXTRACE ? "an AUXTRACE" : "an AUXTRACE_INFO", record->offset, record->size, size);
	return 0;
}

int perfev_auxtrace_info_decode(struct perfev_auxtrace_info *ret, const struct perfev_record *record,
				struct perfev_error *err)
{
	const unsigned char *at = record->data;
	bool swap = record->flags & PERFEV_RECORD_SWAPPED;
	int r = check(record, AUXTRACE_INFO, 16, err);

	if (r < 0)
		return r;
	ret->type = load_u32(at + 8, swap);
	ret->reserved = load_u32(at + 12, swap);
	ret->numbers.data = at + 16;
	ret->numbers.count = (record->size - 16) / 8;
	ret->numbers.swapped = swap;
	return 0;
}

int perfev_auxtrace_decode(struct perfev_auxtrace *ret, const struct perfev_record *record, struct perfev_error *err)
{
	const unsigned char *at = record->data;
	bool swap = record->flags & PERFEV_RECORD_SWAPPED;
	int r = check(record, AUXTRACE, 48, err);

	if (r < 0)
		return r;
	ret->size = load_u64(at + 8, swap);
	ret->offset = load_u64(at + 16, swap);
	ret->reference = load_u64(at + 24, swap);
	ret->idx = load_u32(at + 32, swap);
	ret->tid = load_u32(at + 36, swap);
	ret->cpu = load_u32(at + 40, swap);
	ret->reserved = 0;
	ret->bytes = record->tail;
	return 0;
}
