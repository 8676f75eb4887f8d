/* SPDX-License-Identifier: MIT */
/*
 * Call chains: addresses with marks among them, split into (context, address).
 *
 * A mark is a number of the last page of addresses, and says whose the addresses behind it are, up to the next.
 * Marks that are not known here begin a context that is not known either: their addresses are given, as such.
 */
#include "callchain.h"

static const struct mark {
	uint64_t value;
	uint32_t context;
} marks[] = {
	{PERF_CONTEXT_KERNEL, PERFEV_CONTEXT_KERNEL},
	{PERF_CONTEXT_USER, PERFEV_CONTEXT_USER},
	{PERF_CONTEXT_USER_DEFERRED, PERFEV_CONTEXT_USER_DEFERRED},
	{PERF_CONTEXT_HV, PERFEV_CONTEXT_HYPERVISOR},
	{PERF_CONTEXT_GUEST, PERFEV_CONTEXT_GUEST},
	{PERF_CONTEXT_GUEST_KERNEL, PERFEV_CONTEXT_GUEST_KERNEL},
	{PERF_CONTEXT_GUEST_USER, PERFEV_CONTEXT_GUEST_USER},
};

uint32_t callchain_context_of(uint64_t mark)
{
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (marks[i].value == mark)
			return marks[i].context;
	return PERFEV_CONTEXT_UNKNOWN;
}

const char *perfev_context_name(enum perfev_context context)
{
	static const char *const names[PERFEV_CONTEXT_COUNT_] = {
		NULL, "kernel", "user", "hypervisor", "guest", "guest kernel", "guest user", "user, deferred",
	};

	return (unsigned)context < PERFEV_CONTEXT_COUNT_ ? names[context] : NULL;
}

uint32_t perfev_context_cpumode(enum perfev_context context)
{
	static const uint8_t modes[PERFEV_CONTEXT_COUNT_] = {
		[PERFEV_CONTEXT_KERNEL] = PERF_RECORD_MISC_KERNEL,
		[PERFEV_CONTEXT_USER] = PERF_RECORD_MISC_USER,
		[PERFEV_CONTEXT_HYPERVISOR] = PERF_RECORD_MISC_HYPERVISOR,
		[PERFEV_CONTEXT_GUEST_KERNEL] = PERF_RECORD_MISC_GUEST_KERNEL,
		[PERFEV_CONTEXT_GUEST_USER] = PERF_RECORD_MISC_GUEST_USER,
		[PERFEV_CONTEXT_USER_DEFERRED] = PERF_RECORD_MISC_USER,
	};

	return (unsigned)context < PERFEV_CONTEXT_COUNT_ ? modes[context] : 0;
}

void perfev_callchain_begin(struct perfev_callchain *ret, struct perfev_u64s ips, uint16_t misc)
{
	static const uint8_t modes[8] = {PERFEV_CONTEXT_UNKNOWN,	  PERFEV_CONTEXT_KERNEL,
					 PERFEV_CONTEXT_USER,	  PERFEV_CONTEXT_HYPERVISOR,
					 PERFEV_CONTEXT_GUEST_KERNEL, PERFEV_CONTEXT_GUEST_USER};

	ret->ips = ips;
	ret->at = 0;
	ret->cookie = 0;
	ret->context = modes[misc & PERF_RECORD_MISC_CPUMODE_MASK];
	if (ips.count < 2 || perfev_u64s_at(ips, ips.count - 2) != PERF_CONTEXT_USER_DEFERRED)
		return;
	ret->cookie = perfev_u64s_at(ips, ips.count - 1);
	ret->ips.count = ips.count - 2;
}

int perfev_callchain_next(struct perfev_callchain *chain, struct perfev_callchain_entry *ret)
{
	return callchain_next(chain, ret);
}
