/* SPDX-License-Identifier: MIT */
/*
 * The way out of an Intel PT trace, by libipt's instruction decoder: it gives each instruction that ran, and between them
 * events: tracing begins, stops, an interrupt, packets that were lost. Where a branch went is known when the next instruction
 * or event comes, so a branch waits until then.
 *
 * What can be wrong with a trace or the code, libipt tells; then the next PSB is gone to. It does not tell when code goes
 * round without ever needing a packet, which only wrong code does: that is what IDLE_MAX is for.
 */
#include "flow_pt.h"

#include "base/error.h"
#include "base/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY	 "libipt.so.2"
#define IDLE_MAX (1u << 17) /* instructions that are walked without a packet */

/* ---- the library -------------------------------------------------------------------------------------------------------- */

/* A function is no object: its address is copied. */
static bool find(const struct ipt *ipt, const char *name, void *to)
{
	void *address = dlsym(ipt->handle, name);

	memcpy(to, &address, sizeof(address));
	return address != NULL;
}

static bool load(struct ipt *ipt)
{
	ipt->handle = library_open(LIBRARY);
	return ipt->handle && find(ipt, "pt_cpu_errata", &ipt->cpu_errata) &&
	       find(ipt, "pt_insn_alloc_decoder", &ipt->alloc) && find(ipt, "pt_insn_free_decoder", &ipt->free) &&
	       find(ipt, "pt_insn_get_image", &ipt->image) && find(ipt, "pt_image_set_callback", &ipt->set_callback) &&
	       find(ipt, "pt_insn_sync_forward", &ipt->sync) && find(ipt, "pt_insn_get_offset", &ipt->offset) &&
	       find(ipt, "pt_insn_get_sync_offset", &ipt->sync_offset) && find(ipt, "pt_insn_time", &ipt->time) &&
	       find(ipt, "pt_insn_next", &ipt->next) && find(ipt, "pt_insn_event", &ipt->event);
}

static int pt_new(struct perfev_flow *flow, struct perfev_error *err)
{
	if (load(&flow->ipt))
		return 0;
	return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			 "cannot follow a trace of intel_pt: libipt is not installed (%s), or this program is linked "
			 "statically; install it (Debian: libipt2)",
			 LIBRARY);
}

static void pt_free(struct perfev_flow *flow)
{
	if (flow->decoder)
		flow->ipt.free(flow->decoder);
	if (flow->ipt.handle)
		dlclose(flow->ipt.handle);
}

static int read_code(uint8_t *to, size_t size, const void *space, uint64_t ip, void *context)
{
	const struct perfev_flow *flow = context;
	struct perfev_place place = {ip, flow->pid, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};
	int got = flow->opts.code(flow->opts.context, &place, to, size);

	(void)space;
	return got > 0 ? got : -IPT_ERROR_NO_CODE;
}

static int pt_begin(struct perfev_flow *flow, struct perfev_error *err)
{
	struct ipt_config config;

	if (flow->decoder)
		flow->ipt.free(flow->decoder);
	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	config.begin = (uint8_t *)(uintptr_t)flow->trace.data;
	config.end = config.begin + flow->trace.size;
	if (flow->opts.family) {
		config.cpu.vendor = IPT_INTEL;
		config.cpu.family = (uint16_t)flow->opts.family;
		config.cpu.model = (uint8_t)flow->opts.model;
		config.cpu.stepping = (uint8_t)flow->opts.stepping;
		/* of a CPU that it does not know it knows no errors */
		flow->ipt.cpu_errata(config.errata, &config.cpu);
	}
	config.tsc_ctc_d = flow->opts.tsc_ctc_d;
	config.tsc_ctc_n = flow->opts.tsc_ctc_n;
	config.mtc_period = (uint8_t)flow->opts.mtc_period;
	config.nominal_ratio = (uint8_t)flow->opts.nonturbo_ratio;
	flow->decoder = flow->ipt.alloc(&config);
	if (!flow->decoder || flow->ipt.set_callback(flow->ipt.image(flow->decoder), read_code, flow) < 0)
		return error_memory(err);
	flow->synced = flow->begun = flow->in_tx = flow->aborted = flow->ended = false;
	flow->status = 0;
	flow->idle = flow->sync_at = 0;
	return 0;
}

/* ---- gaps ---------------------------------------------------------------------------------------------------------------- */

static const struct {
	int error;
	enum perfev_flow_gap gap;
	const char *why;
} reasons[] = {
	{IPT_ERROR_OPCODE, PERFEV_FLOW_GAP_PACKETS, "no packet is like that: the trace is damaged"},
	{IPT_ERROR_PACKET, PERFEV_FLOW_GAP_PACKETS, "no packet is like that: the trace is damaged"},
	{IPT_ERROR_QUERY, PERFEV_FLOW_GAP_MISMATCH, "the packets do not fit the code"},
	{IPT_ERROR_STACK_EMPTY, PERFEV_FLOW_GAP_MISMATCH, "the packets do not fit the code"},
	{IPT_ERROR_COMPRESSED_RETURN, PERFEV_FLOW_GAP_MISMATCH, "the packets do not fit the code"},
	{IPT_ERROR_MEMORY, PERFEV_FLOW_GAP_MEMORY, "out of memory"},
	{IPT_ERROR_NO_CODE, PERFEV_FLOW_GAP_NO_CODE, "the code is not known"},
	{IPT_ERROR_INSTRUCTION, PERFEV_FLOW_GAP_MISMATCH, "there is no such instruction: it is other code"},
	/* all others */
	{0, PERFEV_FLOW_GAP_PACKETS, "packets are in an order that is not possible: the trace is damaged"},
};

static void put_gap(struct perfev_flow *flow, uint64_t from, uint64_t to, enum perfev_flow_gap gap, const char *why)
{
	struct perfev_flow_branch *branch = flow_put(flow, PERFEV_FLOW_NONE, from, to);

	branch->flags |= PERFEV_FLOW_GAP;
	branch->gap = gap;
	branch->why = why;
}

static void put_error(struct perfev_flow *flow, uint64_t from, int error)
{
	size_t i = 0;

	while (reasons[i].error && reasons[i].error != -error)
		i++;
	put_gap(flow, from, 0, reasons[i].gap, reasons[i].why);
}

static void end(struct perfev_flow *flow)
{
	flow->pending.is = false; /* where it went was not recorded any more */
	flow->ended = true;
}

static void lose_sync(struct perfev_flow *flow)
{
	flow->synced = flow->begun = flow->in_tx = flow->aborted = false;
	flow->idle = 0;
}

/* @ip: where it is, 0 when that is not known. */
static void fail(struct perfev_flow *flow, uint64_t ip, int error)
{
	if (error == -IPT_ERROR_END) {
		end(flow);
		return;
	}
	flow_settle(flow, ip, 0);
	put_error(flow, ip, error);
	lose_sync(flow);
}

/* ---- events --------------------------------------------------------------------------------------------------------------- */

static void note_time(struct perfev_flow *flow)
{
	uint32_t lost_mtc, lost_cyc;
	uint64_t tsc;

	if (flow->ipt.time(flow->decoder, &tsc, &lost_mtc, &lost_cyc) == 0 && tsc > flow->time)
		flow->time = tsc;
}

static void note_place(struct perfev_flow *flow)
{
	uint64_t place;

	if (flow->ipt.offset(flow->decoder, &place) < 0 || place == flow->place)
		return;
	flow->place = place;
	flow->idle = 0;
}

static void put_begin(struct perfev_flow *flow, uint64_t to)
{
	flow_put(flow, PERFEV_FLOW_NONE, 0, to)->flags |= PERFEV_FLOW_BEGINS;
	flow->begun = true;
}

/* By the branch that waits. */
static void take_disabled(struct perfev_flow *flow, const struct ipt_event *event)
{
	uint64_t to = event->ip_suppressed ? 0 : event->as.at.ip;

	if (flow->pending.is)
		flow_settle(flow, to, PERFEV_FLOW_ENDS);
	else
		flow_put(flow, PERFEV_FLOW_NONE, 0, to)->flags |= PERFEV_FLOW_ENDS;
}

static void take_async(struct perfev_flow *flow, const struct ipt_event *event, uint32_t type, uint32_t flags)
{
	uint64_t to = event->ip_suppressed ? 0 : event->as.at.to;

	flow_settle(flow, event->as.at.ip, 0);
	flow_put(flow, flow->aborted ? PERFEV_FLOW_ABORT : type, event->as.at.ip, to)->flags |= flags;
	flow->aborted = false;
}

static void take_overflow(struct perfev_flow *flow, const struct ipt_event *event)
{
	flow_settle(flow, 0, 0);
	flow->in_tx = flow->aborted = false;
	put_gap(flow, 0, event->ip_suppressed ? 0 : event->as.at.ip, PERFEV_FLOW_GAP_OVERFLOW,
		"packets were lost: the CPU made more than it could store");
}

static void take_tsx(struct perfev_flow *flow, const struct ipt_event *event)
{
	flow->in_tx = event->as.tsx.speculative;
	flow->aborted = event->as.tsx.aborted;
}

static void step_event(struct perfev_flow *flow)
{
	struct ipt_event event;

	memset(&event, 0, sizeof(event));
	flow->status = flow->ipt.event(flow->decoder, &event, sizeof(event));
	if (flow->status < 0) {
		fail(flow, 0, flow->status);
		return;
	}
	note_place(flow);
	if (event.has_tsc && event.tsc > flow->time)
		flow->time = event.tsc;
	switch (event.type) {
	case IPT_ENABLED:
		put_begin(flow, event.as.at.ip);
		break;
	case IPT_DISABLED:
		take_disabled(flow, &event);
		break;
	case IPT_ASYNC_DISABLED:
		take_async(flow, &event, PERFEV_FLOW_NONE, PERFEV_FLOW_ENDS);
		break;
	case IPT_ASYNC_BRANCH:
		take_async(flow, &event, PERFEV_FLOW_INTERRUPT, 0);
		break;
	case IPT_OVERFLOW:
		take_overflow(flow, &event);
		break;
	case IPT_TSX:
		take_tsx(flow, &event);
		break;
	default: /* no branch */
		break;
	}
}

/* ---- instructions ----------------------------------------------------------------------------------------------------------- */

/* The kinds of far transfers, by their opcodes. */
static uint32_t far_type(const struct ipt_insn *insn)
{
	size_t i = 0, left;

	while (i < insn->size && (insn->raw[i] >> 4 == 4 || insn->raw[i] == 0x66)) /* REX, operand size */
		i++;
	left = insn->size - i;
	if (insn->iclass == IPT_CLASS_FAR_JUMP)
		return PERFEV_FLOW_FAR_JUMP;
	if (insn->iclass == IPT_CLASS_FAR_CALL) {
		if (left >= 2 && insn->raw[i] == 0x0f && (insn->raw[i + 1] == 0x05 || insn->raw[i + 1] == 0x34))
			return PERFEV_FLOW_SYSCALL;
		return left && insn->raw[i] >= 0xcc && insn->raw[i] <= 0xce ? PERFEV_FLOW_TRAP : PERFEV_FLOW_CALL;
	}
	if (left >= 2 && insn->raw[i] == 0x0f && (insn->raw[i + 1] == 0x07 || insn->raw[i + 1] == 0x35))
		return PERFEV_FLOW_SYSRET;
	return left && insn->raw[i] == 0xcf ? PERFEV_FLOW_TRAP_RETURN : PERFEV_FLOW_RETURN;
}

static uint32_t type_of(const struct ipt_insn *insn)
{
	switch (insn->iclass) {
	case IPT_CLASS_CALL:
		return PERFEV_FLOW_CALL;
	case IPT_CLASS_RETURN:
		return PERFEV_FLOW_RETURN;
	case IPT_CLASS_JUMP:
		return PERFEV_FLOW_JUMP;
	case IPT_CLASS_CONDITIONAL:
		return PERFEV_FLOW_CONDITIONAL;
	case IPT_CLASS_FAR_CALL:
	case IPT_CLASS_FAR_RETURN:
	case IPT_CLASS_FAR_JUMP:
		return far_type(insn);
	default:
		return PERFEV_FLOW_NONE;
	}
}

static void step_instruction(struct perfev_flow *flow)
{
	struct ipt_insn insn;
	int r;

	memset(&insn, 0, sizeof(insn));
	r = flow->ipt.next(flow->decoder, &insn, sizeof(insn));
	flow->status = r;
	if (insn.iclass == IPT_CLASS_ERROR) {
		/* of one that cannot be read the place is known all the same */
		fail(flow, insn.ip, r < 0 ? r : -IPT_ERROR_INSTRUCTION);
		return;
	}
	flow_settle(flow, insn.ip, 0);
	note_place(flow);
	note_time(flow);
	if (!flow->begun) /* at a PSB it is only known where it is */
		put_begin(flow, insn.ip);
	flow->instructions++;
	flow->pending.type = type_of(&insn);
	flow->pending.is = flow->pending.type != PERFEV_FLOW_NONE;
	flow->pending.from = insn.ip;
	flow->pending.after = insn.ip + insn.size;
	if (r < 0) {
		fail(flow, 0, r);
	} else if (++flow->idle > IDLE_MAX) {
		flow->pending.is = false;
		put_gap(flow, insn.ip, 0, PERFEV_FLOW_GAP_LOOP, "the code goes round without end: it is other code");
		lose_sync(flow);
	}
}

/* To the next PSB; each time to a later one. */
static void step_sync(struct perfev_flow *flow)
{
	uint64_t at = 0;

	flow->status = flow->ipt.sync(flow->decoder);
	if (flow->status == -IPT_ERROR_END || flow->ipt.sync_offset(flow->decoder, &at) < 0 || at + 1 <= flow->sync_at) {
		end(flow);
		return;
	}
	flow->sync_at = at + 1;
	flow->place = at;
	if (flow->status < 0) {
		put_error(flow, 0, flow->status);
		return;
	}
	flow->synced = true;
	note_time(flow);
}

static void pt_step(struct perfev_flow *flow)
{
	if (!flow->synced)
		step_sync(flow);
	else if (flow->status & IPT_EVENT_PENDING)
		step_event(flow);
	else if (flow->status & IPT_END_OF_TRACE)
		end(flow);
	else
		step_instruction(flow);
}

const struct flow_kind flow_pt = {pt_new, pt_free, pt_begin, pt_step};
