/* SPDX-License-Identifier: MIT */
/*
 * perfev/intel_pt.h - the packets of Intel Processor Trace
 *
 * The names of packets and their fields are those of the manual (Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 3, "Intel Processor Trace"). Packets are what the trace consists of: which way conditional branches went
 * (TNT), where indirect ones went (TIP), where something happened (FUP), and the time. To know which instructions were
 * executed one needs the program too; that is not done here.
 *
 * auxtrace.h says how decoders are used. A trace is understood from a PSB on, which comes every few KiB: a recording starts
 * with one; a piece out of the middle of a trace does not, and perfev_pt_sync() finds the first.
 */
#ifndef PERFEV_INTEL_PT_H
#define PERFEV_INTEL_PT_H

#include <perfev/auxtrace.h>

PERFEV_BEGIN

enum perfev_pt_type {
	PERFEV_PT_PAD,	     /* nothing */
	PERFEV_PT_TNT_8,     /* up to 6 conditional branches: taken, or not */
	PERFEV_PT_TNT_64,    /* up to 47 of them */
	PERFEV_PT_TIP,	     /* target of an indirect branch, an interrupt, ... */
	PERFEV_PT_TIP_PGE,   /* tracing goes on, there */
	PERFEV_PT_TIP_PGD,   /* tracing stops; where it went, if that may be told */
	PERFEV_PT_FUP,	     /* where something happened that the packets beside it tell */
	PERFEV_PT_PSB,	     /* a place to begin at */
	PERFEV_PT_PSBEND,    /* the packets that tell the state at a PSB are complete */
	PERFEV_PT_OVF,	     /* packets were lost */
	PERFEV_PT_TRACESTOP, /* tracing was stopped by an address filter */
	PERFEV_PT_TSC,	     /* time stamp counter */
	PERFEV_PT_MTC,	     /* 8 bits of the crystal clock */
	PERFEV_PT_TMA,	     /* what MTC and TSC have in common */
	PERFEV_PT_CYC,	     /* cycles since the last CYC */
	PERFEV_PT_CBR,	     /* ratio of core to bus clock */
	PERFEV_PT_MODE_EXEC, /* 16, 32 or 64 bit code */
	PERFEV_PT_MODE_TSX,  /* a transaction begins, ends, or was aborted */
	PERFEV_PT_PIP,	     /* CR3 was set */
	PERFEV_PT_VMCS,	     /* the VMCS pointer was set */
	PERFEV_PT_MNT,	     /* maintenance: meaning depends on the model */
	PERFEV_PT_PTW,	     /* the operand of a PTWRITE */
	PERFEV_PT_EXSTOP,    /* execution stopped: a C-state, a change of frequency */
	PERFEV_PT_MWAIT,     /* an MWAIT was executed */
	PERFEV_PT_PWRE,	     /* a C-state was entered */
	PERFEV_PT_PWRX,	     /* and left */
	PERFEV_PT_BBP,	     /* a block of items begins: a sample of PEBS */
	PERFEV_PT_BIP,	     /* an item of the block: in most of them, a register */
	PERFEV_PT_BEP,	     /* the block ends */
	PERFEV_PT_CFE,	     /* an event: interrupt, exception, VM entry and exit, ... */
	PERFEV_PT_EVD,	     /* data of the event that follows */
	PERFEV_PT_TRIG,	     /* a trigger fired */
	PERFEV_PT_COUNT_
};

/*
 * perfev_pt_name() - a packet's name, as the manual writes it: "TIP.PGE", "MODE.Exec"
 * Both kinds of TNT are "TNT".
 * Return: a string that lives for ever; NULL for values out of range.
 */
PERFEV_API const char *perfev_pt_name(enum perfev_pt_type type);

/* A packet. The member of as that is set follows from the type; packets without one have no fields. */
struct perfev_pt_packet {
	uint64_t offset; /* in the stream, of its first byte */
	uint32_t size;	 /* bytes */
	uint32_t type;	 /* enum perfev_pt_type */
	union {
		struct {
			uint64_t bits; /* 1 taken; bit 0 is the latest branch, bit count - 1 the earliest */
			uint64_t reserved;
			uint8_t count;
		} tnt;
		struct {		  /* TIP, TIP.PGE, TIP.PGD, FUP */
			uint64_t ip;	  /* the whole address, when known is set */
			uint64_t payload; /* the part that is in the packet */
			uint8_t ip_bytes; /* IPBytes: 0 there is none, 1 16 bits, 2 32, 3 48 sign-extended, 4 48, 6 all */
			uint8_t known;	  /* 0: no address in it, or the part before is not known yet */
		} ip;
		struct {
			uint64_t tsc;
		} tsc; /* 56 bits */
		struct {
			uint64_t ctc;
		} mtc;
		struct {
			uint64_t ctc, fast_counter;
		} tma;
		struct {
			uint64_t cycles;
		} cyc;
		struct {
			uint64_t ratio;
		} cbr;
		struct {
			uint8_t cs_l, cs_d, iflag; /* CS.L: 64 bit; else CS.D: 32, or 16; IF, where events are traced */
		} exec;
		struct {
			uint8_t in_tx, abort;
		} tsx;
		struct {
			uint64_t cr3;
			uint8_t non_root; /* NR: a guest */
		} pip;
		struct {
			uint64_t base;
		} vmcs;
		struct {
			uint64_t payload;
		} mnt;
		struct {
			uint64_t payload;
			uint8_t bytes; /* 4 or 8 */
			uint8_t ip;    /* a FUP with the address follows; so in other packets */
		} ptw;
		struct {
			uint8_t ip;
		} exstop;
		struct {
			uint32_t hints, ext; /* EAX and ECX of the MWAIT */
		} mwait;
		struct {
			uint8_t hw;		  /* by hardware, not by an instruction */
			uint8_t state, sub_state; /* resolved C-state of the thread */
		} pwre;
		struct {
			uint8_t last, deepest;			 /* C-states of the core */
			uint8_t interrupt, deadline, store, hw; /* why: one is set */
		} pwrx;
		struct {
			uint8_t type;	    /* 1 registers, 4 memory, 8 LBR, ...: see the manual */
			uint8_t item_bytes; /* 4 or 8 */
		} bbp;
		struct {
			uint64_t value;
			uint8_t id;
			uint8_t item_bytes;
		} bip;
		struct {
			uint8_t ip;
		} bep;
		struct {
			uint8_t type; /* see perfev_pt_event_name() */
			uint8_t ip, vector;
		} cfe;
		struct {
			uint64_t payload;
			uint8_t type; /* 0 CR2, 1 exit qualification, 2 exit reason */
		} evd;
		struct {
			uint8_t ip, mult;
			uint8_t triggers;   /* TRBV: a bit for each that fired */
			uint8_t icnt_valid; /* ICNTV */
			uint16_t icnt;
		} trig;
	} as;
};

/* perfev_pt_event_name() - the type of a CFE: "INTR", "IRET", ...; NULL for one that is not known */
PERFEV_API const char *perfev_pt_event_name(unsigned type);

/* Decodes the packets of one trace. Its members are the library's. */
struct perfev_pt_decoder {
	struct perfev_trace_input input;
	uint64_t last_ip;  /* addresses are given as the part in which they differ from the last one */
	uint64_t ip_known; /* the last one is known: 0, 1 */
	uint32_t item_bytes; /* inside a block: 4, 8; else 0 */
	uint32_t reserved;
};

/*
 * perfev_pt_begin() - a decoder in front of a trace, or of a piece out of the middle of one
 * @offset: of the first byte that will be fed; packets are numbered from it.
 * Since: 0.1
 */
PERFEV_API void perfev_pt_begin(struct perfev_pt_decoder *decoder, uint64_t offset);

/*
 * perfev_pt_feed() - the next piece of the trace
 * To be called when perfev_pt_next() or perfev_pt_sync() returned 0, and at the beginning; what was not used of the piece
 * before is lost otherwise.
 * @bytes: have to stay where they are until 0 is returned again.
 * Since: 0.1
 */
PERFEV_API void perfev_pt_feed(struct perfev_pt_decoder *decoder, struct perfev_bytes bytes);

/*
 * perfev_pt_next() - the next packet
 * Each PAD is one.
 * Return: 1 a packet; 0 the piece is used up; -EINVAL (why CORRUPT) no packet is like that: err->where is its offset, and
 * the decoder stays there.
 * Since: 0.1
 */
PERFEV_API int perfev_pt_next(struct perfev_pt_decoder *decoder, struct perfev_pt_packet *ret, struct perfev_error *err);

/*
 * perfev_pt_read() - the next packets, as many as there are, up to @room
 * The same as perfev_pt_next() for each, but faster.
 * Return: how many; 0 the piece is used up; -EINVAL as there, when it is the first one that is wrong.
 * Since: 0.1
 */
PERFEV_API int perfev_pt_read(struct perfev_pt_decoder *decoder, struct perfev_pt_packet *ret, int room,
			      struct perfev_error *err);

/*
 * perfev_pt_sync() - go to the next PSB
 * What is next is passed over too, if it is not a packet; a PSB that is next is found.
 * Return: 1 the next packet is a PSB; 0 there is none in the piece, and the search goes on, by calling it again, in the next
 * one.
 * Since: 0.1
 */
PERFEV_API int perfev_pt_sync(struct perfev_pt_decoder *decoder);

/*
 * perfev_pt_skip() - pass over one byte
 * For going on behind what is no packet with the next byte rather than with the next PSB.
 * Since: 0.1
 */
PERFEV_API void perfev_pt_skip(struct perfev_pt_decoder *decoder);

/*
 * perfev_pt_end() - nothing more will come
 * Return: 0; -EINVAL (why TRUNCATED) the last packet is not complete: err->where is its offset.
 * Since: 0.1
 */
PERFEV_API int perfev_pt_end(const struct perfev_pt_decoder *decoder, struct perfev_error *err);

/*
 * perfev_pt_encode() - the bytes of a packet
 * What perfev_pt_next() gave becomes the same again, but for bits that the manual reserves, which become 0. Addresses are
 * written as payload and ip_bytes say.
 * @to: gets at most @room bytes, all or nothing; may be NULL with room 0.
 * Return: the size; -EINVAL for fields that no packet can have: a TNT of no branch, ip_bytes of 5, ...
 * Since: 0.1
 */
PERFEV_API int perfev_pt_encode(void *to, size_t room, const struct perfev_pt_packet *packet, struct perfev_error *err);

/*
 * perfev_pt_format() - a packet as a line of text: TIP ip=0x401136 ip_bytes=2
 * Its name and then NAME=VALUE for each field; docs/packets.md has them all. The branches of a TNT are T and N, the earliest
 * first.
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text.
 * Since: 0.1
 */
PERFEV_API int perfev_pt_format(char *ret, size_t size, const struct perfev_pt_packet *packet);

PERFEV_END

#endif
