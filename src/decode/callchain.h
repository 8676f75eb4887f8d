/* SPDX-License-Identifier: MIT */
/* perfev_callchain_next() for those who call it millions of times. */
#ifndef DECODE_CALLCHAIN_H
#define DECODE_CALLCHAIN_H

#include <perfev/meaning.h>

uint32_t callchain_context_of(uint64_t mark);

static inline int callchain_next(struct perfev_callchain *chain, struct perfev_callchain_entry *ret)
{
	ret->first = chain->at == 0;
	while (chain->at < chain->ips.count) {
		uint64_t ip = perfev_u64s_at(chain->ips, chain->at++);

		if (ip < PERF_CONTEXT_MAX) {
			ret->ip = ip;
			ret->context = chain->context;
			return 1;
		}
		chain->context = callchain_context_of(ip);
		ret->first = 1;
	}
	return 0;
}

#endif
