/* SPDX-License-Identifier: MIT */
/*
 * The packets that a CPU would make of steps, as the manual describes them: only user code is traced, so that tracing stops
 * in front of each system call and begins again behind it.
 */
#ifndef TESTS_PT_STREAM_H
#define TESTS_PT_STREAM_H

#include "stepping.h"

#include <perfev/intel_pt.h>

#define RETURNS_MAX 64

struct pt_stream {
	unsigned char *data;
	size_t size, room;
	/* how */
	bool compress;	     /* returns to where their calls were: a bit, not an address */
	bool times;	     /* MTC beside TSC */
	bool cycles;	     /* and CYC in front of each MTC */
	size_t events_every; /* steps between packets that tell of other things; 0: none */
	size_t psb_every;    /* steps; 0: only at the beginning */
	size_t stop_every;   /* steps between interrupts; 0: none */
	/* state */
	uint64_t last_ip, bits;
	unsigned count;
	uint64_t returns[RETURNS_MAX];
	unsigned return_count;
	uint64_t now;	     /* cycles */
	uint64_t said;	     /* those that packets have told */
	size_t stops;	     /* interrupts and system calls */
	size_t psbs;
	uint64_t counted;    /* cycles that CYC told */
	unsigned events, ratio;
	bool in_tx;
};

#define STREAM_START 1000000
#define STREAM_CYCLES 10  /* of a step */
#define STREAM_RATIO 20	  /* cycles of the core for each of the bus */
#define STREAM_CTC 100	  /* TSC cycles for each tick of the crystal */
#define STREAM_MTC_PERIOD 3

static inline void stream_put(struct pt_stream *s, const struct perfev_pt_packet *packet)
{
	int n;

	if (s->size + 64 > s->room) {
		s->room = s->room ? s->room * 2 : 4096;
		s->data = realloc(s->data, s->room);
		assert_non_null(s->data);
	}
	n = perfev_pt_encode(s->data + s->size, s->room - s->size, packet, NULL);
	assert_true(n > 0);
	s->size += (size_t)n;
}

static inline void stream_simple(struct pt_stream *s, enum perfev_pt_type type)
{
	struct perfev_pt_packet packet = {.type = type};

	stream_put(s, &packet);
}

static inline void stream_bits(struct pt_stream *s)
{
	struct perfev_pt_packet packet = {.type = s->count > 6 ? PERFEV_PT_TNT_64 : PERFEV_PT_TNT_8};

	if (!s->count)
		return;
	packet.as.tnt.bits = s->bits;
	packet.as.tnt.count = (uint8_t)s->count;
	s->bits = s->count = 0;
	stream_put(s, &packet);
}

static inline void stream_bit(struct pt_stream *s, bool taken)
{
	s->bits = s->bits << 1 | taken;
	if (++s->count == (s->psbs % 2 ? 47 : 6)) /* of both kinds */
		stream_bits(s);
}

/* The shortest form, as CPUs choose it. */
static inline void stream_ip(struct pt_stream *s, enum perfev_pt_type type, uint64_t ip)
{
	struct perfev_pt_packet packet = {.type = type};

	if (!ip)
		packet.as.ip.ip_bytes = 0;
	else if (ip >> 16 == s->last_ip >> 16)
		packet.as.ip.ip_bytes = 1;
	else if (ip >> 32 == s->last_ip >> 32)
		packet.as.ip.ip_bytes = 2;
	else if (ip >> 48 == s->last_ip >> 48)
		packet.as.ip.ip_bytes = 4;
	else
		packet.as.ip.ip_bytes = 6;
	packet.as.ip.payload = packet.as.ip.ip_bytes == 1 ? ip & 0xffff
			       : packet.as.ip.ip_bytes == 2 ? ip & 0xffffffff
			       : packet.as.ip.ip_bytes == 4 ? ip & UINT64_C(0xffffffffffff)
							    : ip;
	stream_put(s, &packet);
	if (ip)
		s->last_ip = ip;
}

static inline void stream_tsc(struct pt_stream *s)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_TSC};

	packet.as.tsc.tsc = s->now;
	stream_put(s, &packet);
	s->said = s->now;
	if (!s->times)
		return;
	packet.type = PERFEV_PT_TMA;
	packet.as.tma.ctc = s->now / STREAM_CTC & 0xffff;
	packet.as.tma.fast_counter = s->now % STREAM_CTC;
	stream_put(s, &packet);
}

/* @ip: where the program is; 0: not traced now. */
static inline void stream_psb(struct pt_stream *s, uint64_t ip)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_MODE_EXEC};

	stream_bits(s);
	stream_simple(s, PERFEV_PT_PSB);
	s->last_ip = 0;
	s->return_count = 0;
	s->psbs++;
	stream_tsc(s);
	packet.as.exec.cs_l = 1;
	stream_put(s, &packet);
	packet.type = PERFEV_PT_CBR;
	memset(&packet.as, 0, sizeof(packet.as));
	s->ratio = s->ratio ? s->ratio : STREAM_RATIO;
	packet.as.cbr.ratio = s->ratio;
	stream_put(s, &packet);
	if (ip)
		stream_ip(s, PERFEV_PT_FUP, ip);
	stream_simple(s, PERFEV_PT_PSBEND);
}

/* The core is a fifth faster than the TSC, and not always. */
static inline void stream_cyc(struct pt_stream *s)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_CYC};
	uint64_t now = s->now + s->now / 5 + s->now % 977;

	packet.as.cyc.cycles = now > s->counted ? now - s->counted : 0;
	if (!s->counted)
		packet.as.cyc.cycles = 1;
	s->counted = now;
	stream_put(s, &packet);
}

static inline void stream_ratio(struct pt_stream *s)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_CBR};

	s->ratio = s->ratio == STREAM_RATIO ? STREAM_RATIO + 9 : STREAM_RATIO;
	packet.as.cbr.ratio = s->ratio;
	stream_put(s, &packet);
}

static inline void stream_transaction(struct pt_stream *s, uint64_t ip)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_MODE_TSX};

	s->in_tx = !s->in_tx;
	packet.as.tsx.in_tx = s->in_tx;
	stream_put(s, &packet);
	stream_ip(s, PERFEV_PT_FUP, ip);
}

static inline void stream_write(struct pt_stream *s, uint64_t ip, bool with_ip)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_PTW};

	packet.as.ptw.payload = with_ip ? ip * 0x10001 : s->events % 5 ? ip & UINT32_MAX : 0x64726f77; /* "word" */
	packet.as.ptw.bytes = with_ip ? 8 : 4;
	packet.as.ptw.ip = with_ip;
	stream_put(s, &packet);
	if (with_ip)
		stream_ip(s, PERFEV_PT_FUP, ip);
}

static inline void stream_idle(struct pt_stream *s, uint64_t ip)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_MWAIT};

	packet.as.mwait.hints = 0x21;
	packet.as.mwait.ext = 1;
	stream_put(s, &packet);
	memset(&packet.as, 0, sizeof(packet.as));
	packet.type = PERFEV_PT_PWRE;
	packet.as.pwre.state = 3;
	packet.as.pwre.sub_state = 1;
	stream_put(s, &packet);
	stream_ip(s, PERFEV_PT_FUP, ip);
}

static inline void stream_wake(struct pt_stream *s, uint64_t ip)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_PWRX};

	packet.as.pwrx.last = 3;
	packet.as.pwrx.deepest = 4;
	packet.as.pwrx.interrupt = 1;
	stream_put(s, &packet);
	memset(&packet.as, 0, sizeof(packet.as));
	packet.type = PERFEV_PT_EXSTOP;
	packet.as.exstop.ip = s->events % 3 == 0;
	stream_put(s, &packet);
	if (packet.as.exstop.ip)
		stream_ip(s, PERFEV_PT_FUP, ip);
}

/* Of the kinds of other things, the next one. */
static inline void stream_event(struct pt_stream *s, uint64_t ip)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_PWRE};

	stream_bits(s);
	switch (s->events++ % 7) {
	case 0:
	case 1:
		stream_transaction(s, ip);
		break;
	case 2:
	case 3:
		stream_write(s, ip, s->events % 2);
		break;
	case 4:
		stream_idle(s, ip);
		break;
	case 5:
		stream_wake(s, ip);
		break;
	default:
		stream_ratio(s);
		packet.as.pwre.hw = 1;
		packet.as.pwre.state = 2;
		stream_put(s, &packet);
		break;
	}
}

/* An MTC where the crystal's period ends. */
static inline void stream_time(struct pt_stream *s)
{
	const uint64_t period = (uint64_t)STREAM_CTC << STREAM_MTC_PERIOD;
	struct perfev_pt_packet packet = {.type = PERFEV_PT_MTC};

	if (!s->times || s->now / period == s->said / period)
		return;
	stream_bits(s);
	if (s->cycles)
		stream_cyc(s);
	packet.as.mtc.ctc = s->now / period & 0xff;
	stream_put(s, &packet);
	s->said = s->now;
}

/* Not traced for a while. */
static inline void stream_pause(struct pt_stream *s, uint64_t back)
{
	stream_ip(s, PERFEV_PT_TIP_PGD, 0);
	s->now += 100 * STREAM_CYCLES;
	stream_tsc(s);
	stream_ip(s, PERFEV_PT_TIP_PGE, back);
	s->stops++;
}

static inline void stream_return(struct pt_stream *s, uint64_t to)
{
	if (s->compress && s->return_count && s->returns[s->return_count - 1] == to) {
		s->return_count--;
		stream_bit(s, true);
		return;
	}
	if (s->return_count)
		s->return_count--;
	stream_bits(s);
	stream_ip(s, PERFEV_PT_TIP, to);
}

static inline void stream_step(struct pt_stream *s, const struct stepped *steps, size_t at)
{
	const struct step *step = &steps->steps[at];
	uint64_t to = step[1].ip;

	switch (step->type) {
	case PERFEV_FLOW_CONDITIONAL:
		stream_bit(s, is_taken(steps, at));
		break;
	case PERFEV_FLOW_RETURN:
		stream_return(s, to);
		break;
	case PERFEV_FLOW_CALL:
		assert_true(s->return_count < RETURNS_MAX);
		s->returns[s->return_count++] = step->after;
		if (!step->indirect)
			break;
		stream_bits(s);
		stream_ip(s, PERFEV_PT_TIP, to);
		break;
	case PERFEV_FLOW_JUMP:
		if (!step->indirect)
			break;
		stream_bits(s);
		stream_ip(s, PERFEV_PT_TIP, to);
		break;
	case PERFEV_FLOW_SYSCALL:
		stream_bits(s);
		stream_pause(s, to);
		break;
	default:
		break;
	}
}

/* All steps from @from to before @to, tracing on at the first. */
static inline void stream_steps(struct pt_stream *s, const struct stepped *steps, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++) {
		const struct step *step = &steps->steps[i];

		if (s->psb_every && i > from && i % s->psb_every == 0)
			stream_psb(s, step->ip);
		if (s->stop_every && i > from && i % s->stop_every == 0) {
			stream_bits(s);
			stream_ip(s, PERFEV_PT_FUP, step->ip);
			stream_pause(s, step->ip);
		}
		stream_time(s);
		if (s->events_every && i > from && i % s->events_every == 0)
			stream_event(s, step->ip);
		stream_step(s, steps, i);
		s->now += STREAM_CYCLES;
	}
	stream_bits(s);
}

static inline void stream_all(struct pt_stream *s, const struct stepped *steps)
{
	s->now = STREAM_START;
	stream_psb(s, 0);
	stream_ip(s, PERFEV_PT_TIP_PGE, steps->steps[0].ip);
	stream_steps(s, steps, 0, steps->count - 1);
	stream_ip(s, PERFEV_PT_FUP, steps->steps[steps->count - 1].ip);
	stream_ip(s, PERFEV_PT_TIP_PGD, 0);
}

/* The same steps once more. */
static inline void stream_again(struct pt_stream *s, const struct stepped *steps)
{
	s->now += 1000;
	stream_psb(s, 0);
	stream_ip(s, PERFEV_PT_TIP_PGE, steps->steps[0].ip);
	stream_steps(s, steps, 0, steps->count - 1);
	stream_ip(s, PERFEV_PT_FUP, steps->steps[steps->count - 1].ip);
	stream_ip(s, PERFEV_PT_TIP_PGD, 0);
}

static inline void stream_free(struct pt_stream *s)
{
	free(s->data);
	memset(s, 0, sizeof(*s));
}

#endif
