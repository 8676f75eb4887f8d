/* SPDX-License-Identifier: MIT */
/*
 * Ways out of any bytes: the first byte says how many quarters of KiB are code, which is found again and again at all
 * addresses; the rest is a trace of Intel PT. Whatever it is, the decoder comes to its end, and what it tells is possible.
 * Without libipt nothing is tried.
 */
#include "fuzz.h"

#include <perfev/flow.h>

#include <stdlib.h>
#include <string.h>

#define BRANCHES_MAX 20000

static int code(void *context, const struct perfev_place *place, void *to, size_t size)
{
	const struct perfev_bytes *bytes = context;
	size_t at;

	if (!bytes->size)
		return -1;
	at = (size_t)(place->ip % bytes->size);
	if (size > bytes->size - at)
		size = bytes->size - at;
	memcpy(to, (const unsigned char *)bytes->data + at, size);
	return (int)size;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void follow(struct perfev_flow *flow, const struct perfev_bytes *trace)
{
	struct perfev_flow_branch branch;
	uint64_t last = 0;
	int i, r = 1;

	check(perfev_flow_begin(flow, trace, 1, NULL) == 0);
	perfev_flow_task(flow, 7, 8, 0);
	for (i = 0; i < BRANCHES_MAX && (r = perfev_flow_next(flow, &branch, NULL)) > 0; i++) {
		check(branch.type < PERFEV_FLOW_COUNT_ && branch.tid == 8);
		check(!!(branch.flags & PERFEV_FLOW_GAP) == !!branch.why);
		check(branch.time >= last && branch.offset <= trace->size);
		last = branch.time;
	}
	check(r >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes bytes, trace;
	struct perfev_flow_opts opts = {.size = sizeof(opts), .code = code, .context = &bytes,
					.tsc_ctc_n = 100, .tsc_ctc_d = 1, .mtc_period = 3, .nonturbo_ratio = 20};
	struct perfev_flow *flow;

	if (size < 2)
		return 0;
	bytes.data = data + 1;
	bytes.size = (size_t)data[0] * 256 < size - 1 ? (size_t)data[0] * 256 : (size - 1) / 2;
	trace.data = data + 1 + bytes.size;
	trace.size = size - 1 - bytes.size;
	if (perfev_flow_new(&flow, &opts, NULL) < 0)
		return 0;
	follow(flow, &trace);
	follow(flow, &trace); /* the same decoder again */
	perfev_flow_free(flow);
	return 0;
}
