/* SPDX-License-Identifier: MIT */
/*
 * Records of simpleperf, Android's recorder. Their counts and sizes are believed as far as there are bytes, as those
 * of perf's are.
 */
#include "user_cursor.h"

/* A size of 32 bits, and as many bytes. */
static struct perfev_bytes take_sized(struct byte_cursor *c)
{
	struct perfev_bytes bytes = {NULL, cursor_u32(c)};

	bytes.data = c->at;
	if (bytes.size > cursor_left(c)) {
		c->bad = true;
		bytes.size = 0;
	}
	return bytes;
}

static void take_chain(struct byte_cursor *c, struct perfev_simpleperf_callchain *ret)
{
	uint64_t count;

	ret->pid = cursor_u32(c);
	ret->tid = cursor_u32(c);
	ret->type = cursor_u64(c);
	ret->time = cursor_u64(c);
	count = cursor_u64(c);
	if (count > cursor_left(c) / 16) {
		c->bad = true;
		return;
	}
	ret->ips = cursor_words(c, count);
	ret->sps = cursor_words(c, count);
}

static void take_event_ids(struct byte_cursor *c, struct perfev_simpleperf_event_id *ret)
{
	uint64_t count = cursor_u64(c);

	if (count > cursor_left(c) / 16)
		c->bad = true;
	else
		ret->words = cursor_words(c, count * 2);
}

/* Registers, stack and chain: earlier ones end before them, or before the chain. */
static void take_unwound(struct byte_cursor *c, struct perfev_simpleperf_unwinding *ret)
{
	uint64_t size;

	ret->abi = cursor_u64(c);
	ret->reg_mask = cursor_u64(c);
	ret->regs = cursor_words(c, (uint64_t)__builtin_popcountll(ret->reg_mask));
	size = cursor_u64(c);
	if (size) {
		const unsigned char *at = cursor_take(c, size);

		ret->stack = (struct perfev_bytes){at, at ? (size_t)size : 0};
		ret->dyn_size = cursor_u64(c);
	}
	if (!cursor_left(c))
		return;
	size = cursor_u64(c);
	if (size > cursor_left(c) / 16) {
		c->bad = true;
		return;
	}
	ret->ips = cursor_words(c, size);
	ret->sps = cursor_words(c, size);
}

static void take_unwinding(struct byte_cursor *c, struct perfev_simpleperf_unwinding *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->time = cursor_u64(c);
	ret->used_time = cursor_u64(c);
	ret->error_code = cursor_u64(c);
	ret->error_addr = cursor_u64(c);
	ret->stack_start = cursor_u64(c);
	ret->stack_end = cursor_u64(c);
	if (cursor_left(c))
		take_unwound(c, ret);
}

bool user_take_simpleperf(struct byte_cursor *c, struct perfev_user *ret, uint32_t type)
{
	switch (type) {
	case PERFEV_RECORD_SIMPLEPERF_KERNEL_SYMBOL:
	case PERFEV_RECORD_SIMPLEPERF_TRACING_DATA:
		ret->as.bytes = take_sized(c);
		break;
	case PERFEV_RECORD_SIMPLEPERF_DSO:
		ret->as.dso.type = cursor_u64(c);
		ret->as.dso.id = cursor_u64(c);
		ret->as.dso.min_vaddr = cursor_u64(c);
		ret->as.dso.name = cursor_text(c);
		break;
	case PERFEV_RECORD_SIMPLEPERF_SYMBOL:
		ret->as.symbol.addr = cursor_u64(c);
		ret->as.symbol.len = cursor_u64(c);
		ret->as.symbol.dso_id = cursor_u64(c);
		ret->as.symbol.name = cursor_text(c);
		break;
	case PERFEV_RECORD_SIMPLEPERF_SPLIT:
		ret->as.bytes = cursor_rest(c);
		break;
	case PERFEV_RECORD_SIMPLEPERF_SPLIT_END:
		break;
	case PERFEV_RECORD_SIMPLEPERF_EVENT_ID:
		take_event_ids(c, &ret->as.event_id);
		break;
	case PERFEV_RECORD_SIMPLEPERF_CALLCHAIN:
		take_chain(c, &ret->as.callchain);
		break;
	case PERFEV_RECORD_SIMPLEPERF_UNWINDING_RESULT:
		take_unwinding(c, &ret->as.unwinding);
		break;
	case PERFEV_RECORD_SIMPLEPERF_DEBUG:
		ret->as.debug.time = cursor_u64(c);
		ret->as.debug.text = cursor_text(c);
		break;
	default:
		return false;
	}
	return true;
}
