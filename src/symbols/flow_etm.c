/* SPDX-License-Identifier: MIT */
/*
 * The way out of an Arm CoreSight trace (ETMv4), by OpenCSD: it splits the frames of a trace into those of their sources (a
 * source is a CPU, by the id that AUXTRACE_INFO gives it), and gives the ranges of instructions that ran, exceptions,
 * times. The last instruction of a range is a branch, and the next range is where it went.
 *
 * OpenCSD 1.3.3 does not survive packets that take back or confirm more than there is, or exceptions without their addresses,
 * as a damaged trace has them. So each frame goes to a second tree first, which only splits it into packets: a packet that cannot be is a gap, and OpenCSD begins anew behind it.
 *
 * OpenCSD calls back for each element. It is told to wait after one that gave a branch, so that the queue never holds more
 * than those of one element, and goes on when it is flushed.
 */
#include "flow_etm.h"
#include "flow_ocsd.h"

#include "base/error.h"
#include "base/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY	  "libopencsd_c_api.so.1"
#define SOURCES	  128
#define FRAME	  16
#define UNITS_MAX 4096
#define ETMV4	  UINT64_C(0x4040404040404040)

struct source {
	int32_t cpu;
	struct flow_pending pending;
	uint64_t time, instructions;
	bool on, kernel;
	uint32_t depth, open; /* of speculation: how deep it may be; branches that may still be taken back, at least */
	bool incomplete;      /* an exception, whose address comes next */
	bool damaged;	      /* a packet was not possible */
};

struct etm {
	struct ocsd ocsd;
	void *tree, *packets; /* the second one splits only */
	size_t at;	 /* of the trace: given to OpenCSD */
	bool waits, told_end;
	struct source sources[SOURCES];
};

/* ---- what a recording says --------------------------------------------------------------------------------------------- */

/* An ETM, of a CPU: words of AUXTRACE_INFO. */
struct unit {
	uint64_t magic, cpu, words[7]; /* TRCCONFIGR, TRCTRACEIDR, TRCIDR0, 1, 2, 8, TRCAUTHSTATUS */
};

enum { CONFIGR, TRACEIDR, IDR0, IDR1, IDR2, IDR8 };

/* The unit at word @at, and where the next one begins. From version 1 on their numbers of words are told. */
static bool next_unit(const struct perfev_u64s *words, uint32_t *at, struct unit *ret)
{
	bool counted = perfev_u64s_at(*words, 0) & UINT32_MAX;
	uint32_t head = counted ? 3 : 2, i;
	uint64_t count = 7;

	if (*at > words->count || words->count - *at < head)
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->magic = perfev_u64s_at(*words, *at);
	ret->cpu = perfev_u64s_at(*words, *at + 1);
	if (counted)
		count = perfev_u64s_at(*words, *at + 2);
	else if (ret->magic != ETMV4)
		count = 4;
	if (count > words->count - *at - head)
		return false;
	for (i = 0; i < count && i < 7; i++)
		ret->words[i] = perfev_u64s_at(*words, *at + head + i);
	*at += head + (uint32_t)count;
	return true;
}

/* A number of 7 bits a byte, the lowest first; the last byte has no bit 7. */
static uint32_t number_at(const uint8_t *bytes, uint32_t size, uint32_t *at)
{
	uint32_t value = 0, shift = 0;

	while (*at < size) {
		uint8_t byte = bytes[(*at)++];

		value |= shift < 32 ? (uint32_t)(byte & 0x7f) << shift : 0;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* How many branches may be taken back where tracing goes on: the third of the numbers whose presence bits tell. */
static uint32_t depth_told(const uint8_t *bytes, uint32_t size)
{
	uint32_t at = 1, has = number_at(bytes, size, &at), value = 0;
	unsigned bit;

	for (bit = 0; bit <= 2; bit++) {
		value = 0;
		if (has >> bit & 1)
			value = number_at(bytes, size, &at);
	}
	return value;
}

/* Whether a packet is possible behind those before it. */
static void check_packet(const void *context, int op, uint32_t index, const void *packet, uint32_t size, const uint8_t *bytes)
{
	struct source *source = (struct source *)(uintptr_t)context;
	int type;

	(void)index;
	if (op != OCSD_OPERATION_DATA || !packet)
		return;
	memcpy(&type, packet, sizeof(type));
	if (source->incomplete) {
		source->incomplete = type == OCSD_CONTEXT_PACKET;
		source->damaged |= type != OCSD_CONTEXT_PACKET && (type < OCSD_ADDRESSES || type > OCSD_LAST_ADDRESS);
	}
	if (type >= OCSD_COMMIT && type <= OCSD_LAST_CANCEL) {
		source->damaged |= !source->open;
		source->open = type == OCSD_COMMIT || !source->open ? source->open : source->open - 1;
	} else if (type == OCSD_EXCEPTION_PACKET || (type >= OCSD_ATOMS && type <= OCSD_LAST_ATOMS)) {
		source->open += source->open < source->depth;
		source->incomplete = type == OCSD_EXCEPTION_PACKET;
		/* two bits say what the address means; 0 that there is none */
		source->damaged |= source->incomplete && (size < 2 || !(bytes[1] & 0x41));
	} else if (type == OCSD_TRACE_INFO) {
		source->open = depth_told(bytes, size);
		source->damaged |= source->open > source->depth;
	}
}

static int add_unit(struct etm *etm, const struct unit *unit)
{
	struct ocsd_etmv4 config = {.configr = (uint32_t)unit->words[CONFIGR],
				    .traceidr = (uint32_t)unit->words[TRACEIDR] & (SOURCES - 1),
				    .idr0 = (uint32_t)unit->words[IDR0],
				    .idr1 = (uint32_t)unit->words[IDR1],
				    .idr2 = (uint32_t)unit->words[IDR2],
				    .idr8 = (uint32_t)unit->words[IDR8],
				    .architecture = OCSD_V8,
				    .profile = OCSD_CORTEX_A};
	unsigned char id = 0;

	struct source *source = &etm->sources[config.traceidr];
	ocsd_monitor *check = check_packet;
	void *callback;
	int r;

	source->cpu = unit->cpu < INT32_MAX ? (int32_t)unit->cpu : -1;
	source->depth = config.idr8;
	memcpy(&callback, &check, sizeof(callback));
	r = etm->ocsd.add_decoder(etm->packets, "ETMV4I", OCSD_PACKETS_ONLY, &config, &id);
	if (r == 0)
		r = etm->ocsd.attach(etm->packets, id, OCSD_PACKET_MONITOR, callback, source);
	return r == 0 ? etm->ocsd.add_decoder(etm->tree, "ETMV4I", OCSD_FULL_DECODER, &config, &id) : r;
}

/* Those that are no ETMv4 have no decoder here: their parts of the trace are passed over. */
static unsigned add_units(struct etm *etm, const struct perfev_u64s *words)
{
	struct unit unit;
	uint32_t at = 3;
	unsigned count = 0, i;

	for (i = 0; i < UNITS_MAX && words->count > 3 && next_unit(words, &at, &unit); i++)
		if (unit.magic == ETMV4 && add_unit(etm, &unit) == 0)
			count++;
	return count;
}

/* ---- the library ---------------------------------------------------------------------------------------------------------- */

static bool find(const struct ocsd *ocsd, const char *name, void *to)
{
	void *address = dlsym(ocsd->handle, name);

	memcpy(to, &address, sizeof(address));
	return address != NULL;
}

static bool load(struct ocsd *ocsd)
{
	ocsd->handle = library_open(LIBRARY);
	return ocsd->handle && find(ocsd, "ocsd_create_dcd_tree", &ocsd->create) &&
	       find(ocsd, "ocsd_destroy_dcd_tree", &ocsd->destroy) && find(ocsd, "ocsd_dt_process_data", &ocsd->process) &&
	       find(ocsd, "ocsd_dt_set_gen_elem_outfn", &ocsd->set_take) &&
	       find(ocsd, "ocsd_dt_create_decoder", &ocsd->add_decoder) &&
	       find(ocsd, "ocsd_dt_attach_packet_callback", &ocsd->attach) &&
	       find(ocsd, "ocsd_dt_add_callback_trcid_mem_acc", &ocsd->add_reader);
}

static int etm_new(struct perfev_flow *flow, struct perfev_error *err)
{
	struct etm *etm = calloc(1, sizeof(*etm));

	if (!etm)
		return error_memory(err);
	flow->state = etm;
	if (load(&etm->ocsd))
		return 0;
	return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			 "cannot follow a trace of cs_etm: OpenCSD is not installed (%s), or this program is linked "
			 "statically; install it (Debian: libopencsd1)",
			 LIBRARY);
}

static void destroy(struct etm *etm)
{
	if (etm->tree)
		etm->ocsd.destroy(etm->tree);
	if (etm->packets)
		etm->ocsd.destroy(etm->packets);
	etm->tree = etm->packets = NULL;
}

static void etm_free(struct perfev_flow *flow)
{
	struct etm *etm = flow->state;

	if (!etm)
		return;
	destroy(etm);
	/* the library stays loaded: what it has for all its decoders it never gives back */
	free(etm);
}

/* ---- elements ------------------------------------------------------------------------------------------------------------- */

static void wait_for(struct perfev_flow *flow, uint32_t type, uint64_t from)
{
	flow->pending.is = true;
	flow->pending.type = type;
	flow->pending.from = from;
	flow->pending.after = 0; /* that it was taken is told */
}

static uint32_t type_of(const struct ocsd_element *element)
{
	switch (element->subtype) {
	case OCSD_LINK:
		return PERFEV_FLOW_CALL;
	case OCSD_RETURN:
	case OCSD_IMPLIED_RETURN:
		return PERFEV_FLOW_RETURN;
	case OCSD_ERET:
		return PERFEV_FLOW_TRAP_RETURN;
	default:
		return element->conditional && element->instruction == OCSD_BRANCH ? PERFEV_FLOW_CONDITIONAL : PERFEV_FLOW_JUMP;
	}
}

static void take_range(struct perfev_flow *flow, struct source *source, const struct ocsd_element *element)
{
	flow_settle(flow, element->start, 0);
	if (!source->on)
		flow_put(flow, PERFEV_FLOW_NONE, 0, element->start)->flags |= PERFEV_FLOW_BEGINS;
	source->on = true;
	flow->instructions += element->number;
	if (element->executed && (element->instruction == OCSD_BRANCH || element->instruction == OCSD_INDIRECT))
		wait_for(flow, type_of(element), element->end - element->size);
}

/* Numbers 2 and 3 are calls of the kernel and traps; what else there is comes from outside. */
static void take_exception(struct perfev_flow *flow, const struct ocsd_element *element)
{
	uint64_t back = element->has_return ? element->end : 0;

	flow_settle(flow, back, 0);
	if (element->number == 2)
		wait_for(flow, PERFEV_FLOW_SYSCALL, back ? back - 4 : 0);
	else
		wait_for(flow, element->number == 3 ? PERFEV_FLOW_TRAP : PERFEV_FLOW_INTERRUPT, back);
}

/* Tracing stopped before, where the last branch went. */
static void take_on(struct perfev_flow *flow, struct source *source, const struct ocsd_element *element)
{
	flow_settle(flow, 0, PERFEV_FLOW_ENDS);
	if (element->number == OCSD_ON_OVERFLOW)
		flow_put_gap(flow, 0, 0, PERFEV_FLOW_GAP_OVERFLOW, "packets were lost: the CPU made more than it could store");
	source->on = false;
}

static void take_no_sync(struct perfev_flow *flow, struct source *source, const struct ocsd_element *element)
{
	flow->pending.is = false;
	source->on = false;
	if (element->number == OCSD_LOST_OVERFLOW)
		flow_put_gap(flow, 0, 0, PERFEV_FLOW_GAP_OVERFLOW, "packets were lost: the CPU made more than it could store");
	else if (element->number == OCSD_LOST_PACKET)
		flow_put_gap(flow, 0, 0, PERFEV_FLOW_GAP_PACKETS, "no packet is like that: the trace is damaged");
}

static void take_element(struct perfev_flow *flow, struct source *source, const struct ocsd_element *element)
{
	switch (element->type) {
	case OCSD_RANGE:
		take_range(flow, source, element);
		break;
	case OCSD_EXCEPTION:
		take_exception(flow, element);
		break;
	case OCSD_TRACE_ON:
		take_on(flow, source, element);
		break;
	case OCSD_NO_SYNC:
		take_no_sync(flow, source, element);
		break;
	case OCSD_NO_ACCESS:
		flow_settle(flow, element->start, 0);
		flow_put_gap(flow, element->start, 0, PERFEV_FLOW_GAP_NO_CODE, "the code is not known");
		source->on = false;
		break;
	case OCSD_TIMESTAMP:
		flow->time = element->timestamp > flow->time ? element->timestamp : flow->time;
		break;
	case OCSD_CONTEXT:
		source->kernel = element->context.has_level && element->context.level > 0;
		break;
	case OCSD_END_OF_TRACE:
		flow->pending.is = false;
		break;
	default: /* tells nothing of the way */
		break;
	}
}

/* What a decoder of one source is put in the place of the flow's own. */
static int take(const void *context, uint32_t index, uint8_t id, const struct ocsd_element *element)
{
	struct perfev_flow *flow = (struct perfev_flow *)(uintptr_t)context;
	struct etm *etm = flow->state;
	struct source *source = &etm->sources[id & (SOURCES - 1)];
	int32_t cpu = flow->cpu;

	(void)index;
	if (flow->tail - flow->head + 2 > FLOW_QUEUE)
		return OCSD_ANSWER_WAIT;
	flow->pending = source->pending;
	flow->time = source->time;
	flow->instructions = source->instructions;
	flow->cpu = source->cpu >= 0 ? source->cpu : cpu;
	take_element(flow, source, element);
	source->pending = flow->pending;
	source->time = flow->time;
	source->instructions = flow->instructions;
	flow->cpu = cpu;
	return flow->head == flow->tail ? OCSD_ANSWER_GO : OCSD_ANSWER_WAIT;
}

static uint32_t read_code(const void *context, uint64_t address, int space, uint8_t id, uint32_t size, uint8_t *to)
{
	struct perfev_flow *flow = (struct perfev_flow *)(uintptr_t)context;
	const struct source *source = &((const struct etm *)flow->state)->sources[id & (SOURCES - 1)];
	struct perfev_place place = {address, flow->pid, PERF_RECORD_MISC_USER};
	int got;

	(void)space;
	flow->time = source->time;
	if (source->kernel || address >> 63)
		place.cpumode = PERF_RECORD_MISC_KERNEL;
	got = flow->opts.code(flow->opts.context, &place, to, size);
	return got > 0 ? (uint32_t)got : 0;
}

/* ---- steps ----------------------------------------------------------------------------------------------------------------- */

/* The trees of a flow, which serve all its traces: OpenCSD 1.3.3 does not free all of one. */
static int make_trees(struct perfev_flow *flow, struct etm *etm, struct perfev_error *err)
{
	etm->tree = etm->ocsd.create(OCSD_FORMATTED, OCSD_FRAMES_ALIGNED);
	etm->packets = etm->ocsd.create(OCSD_FORMATTED, OCSD_FRAMES_ALIGNED);
	if (!etm->tree || !etm->packets)
		return error_memory(err);
	if (!add_units(etm, &flow->opts.units))
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot follow a trace of cs_etm: the recording names no ETMv4, which is the one that is known");
	if (etm->ocsd.set_take(etm->tree, take, flow) != 0 ||
	    etm->ocsd.add_reader(etm->tree, 0, UINT64_MAX, OCSD_ANY_SPACE, read_code, flow) != 0)
		return error_memory(err);
	return 0;
}

static void reset(struct etm *etm)
{
	size_t i;

	for (i = 0; i < SOURCES; i++) {
		struct source *source = &etm->sources[i];

		source->pending.is = source->on = source->damaged = source->incomplete = false;
		source->open = 0;
	}
	etm->ocsd.process(etm->tree, OCSD_OPERATION_RESET, 0, 0, NULL, NULL);
	etm->ocsd.process(etm->packets, OCSD_OPERATION_RESET, 0, 0, NULL, NULL);
	etm->waits = false;
}

static int etm_begin(struct perfev_flow *flow, struct perfev_error *err)
{
	struct etm *etm = flow->state;
	size_t i;
	int r;

	for (i = 0; i < SOURCES && !etm->tree; i++)
		etm->sources[i].cpu = -1;
	r = etm->tree ? 0 : make_trees(flow, etm, err);
	if (r < 0) {
		destroy(etm);
		return r;
	}
	reset(etm);
	for (i = 0; i < SOURCES; i++)
		etm->sources[i].time = etm->sources[i].instructions = 0;
	flow->head = flow->tail = 0; /* what a reset may tell is of the trace before */
	etm->at = 0;
	etm->told_end = false;
	flow->ended = false;
	return 0;
}

static bool waits(int answer)
{
	return answer >= OCSD_ANSWER_WAIT && answer < OCSD_ANSWER_FATAL;
}

/* What OpenCSD gives up is a gap; it begins anew behind it. */
static void give_up(struct perfev_flow *flow, struct etm *etm)
{
	flow_put_gap(flow, 0, 0, PERFEV_FLOW_GAP_PACKETS, "no packet is like that: the trace is damaged");
	reset(etm);
	etm->at = (etm->at / FRAME + 1) * FRAME;
}

/* A frame as packets: false when one of them cannot be. */
static bool check_frame(struct etm *etm, const uint8_t *frame)
{
	uint32_t used = 0;
	size_t i;

	if (etm->ocsd.process(etm->packets, OCSD_OPERATION_DATA, (uint32_t)etm->at, FRAME, frame, &used) >= OCSD_ANSWER_FATAL ||
	    used != FRAME)
		return false;
	for (i = 0; i < SOURCES; i++)
		if (etm->sources[i].damaged)
			return false;
	return true;
}

/* The next frame; of one in which OpenCSD was told to wait, the rest. */
static void step_data(struct perfev_flow *flow, struct etm *etm)
{
	const uint8_t *bytes = (const uint8_t *)flow->trace.data + etm->at;
	uint32_t used = 0, size = FRAME - (uint32_t)(etm->at % FRAME);
	int answer;

	if (size == FRAME && !check_frame(etm, bytes)) {
		give_up(flow, etm);
		return;
	}
	answer = etm->ocsd.process(etm->tree, OCSD_OPERATION_DATA, (uint32_t)etm->at, size, bytes, &used);
	etm->at += used < size ? used : size;
	flow->place = etm->at;
	etm->waits = waits(answer);
	if (answer >= OCSD_ANSWER_FATAL || (!used && !etm->waits))
		give_up(flow, etm);
}

/* Whether the trace ends in the middle of what only goes together. */
static bool is_incomplete(const struct etm *etm)
{
	size_t i;

	for (i = 0; i < SOURCES; i++)
		if (etm->sources[i].incomplete)
			return true;
	return false;
}

static void etm_step(struct perfev_flow *flow)
{
	struct etm *etm = flow->state;
	uint32_t used = 0;

	if (etm->waits) {
		int answer = etm->ocsd.process(etm->tree, OCSD_OPERATION_FLUSH, 0, 0, NULL, &used);

		etm->waits = waits(answer);
		if (answer >= OCSD_ANSWER_FATAL)
			give_up(flow, etm);
	} else if (etm->at < flow->trace.size / FRAME * FRAME) {
		step_data(flow, etm);
	} else if (!etm->told_end) {
		etm->told_end = true;
		if (is_incomplete(etm))
			reset(etm);
		else
			etm->waits = waits(etm->ocsd.process(etm->tree, OCSD_OPERATION_END, 0, 0, NULL, &used));
	} else {
		flow->ended = true;
	}
}

const struct flow_kind flow_etm = {etm_new, etm_free, etm_begin, etm_step, NULL};
