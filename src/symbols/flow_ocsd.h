/* SPDX-License-Identifier: MIT */
/*
 * What is used of OpenCSD's interface for C, declared here so that it need not be there to build: as
 * libopencsd_c_api.so.1 lays it out. tests/unit/test_flow_etm.c compares it with its headers.
 */
#ifndef SYMBOLS_FLOW_OCSD_H
#define SYMBOLS_FLOW_OCSD_H

#include <stdint.h>

/* How a tree of decoders gets its bytes. */
#define OCSD_FORMATTED	   0
#define OCSD_FRAMES_ALIGNED 0x04 /* frames of 16 bytes, and nothing between */
#define OCSD_PACKETS_ONLY  0x01
#define OCSD_FULL_DECODER  0x02
#define OCSD_PACKET_MONITOR 1
#define OCSD_ANY_SPACE	   0x1f

enum ocsd_op { OCSD_OPERATION_DATA, OCSD_OPERATION_END, OCSD_OPERATION_FLUSH, OCSD_OPERATION_RESET };

/* What is answered. From ERR on something is wrong; from FATAL on it does not go on. */
enum ocsd_answer {
	OCSD_ANSWER_GO,
	OCSD_ANSWER_WARN_GO,
	OCSD_ANSWER_ERR_GO,
	OCSD_ANSWER_WAIT,
	OCSD_ANSWER_WARN_WAIT,
	OCSD_ANSWER_ERR_WAIT,
	OCSD_ANSWER_FATAL
};

struct ocsd_etmv4 {
	uint32_t idr0, idr1, idr2, idr8, idr9_13[5], configr, traceidr;
	int architecture, profile;
};

#define OCSD_V8	      0x0800
#define OCSD_CORTEX_A 3

enum ocsd_element_type {
	OCSD_UNKNOWN,
	OCSD_NO_SYNC,
	OCSD_TRACE_ON,
	OCSD_END_OF_TRACE,
	OCSD_CONTEXT,
	OCSD_RANGE,
	OCSD_RANGE_NO_PATH,
	OCSD_NO_ACCESS,
	OCSD_NO_ADDRESS,
	OCSD_EXCEPTION,
	OCSD_EXCEPTION_RETURN,
	OCSD_TIMESTAMP
};

enum ocsd_instruction { OCSD_OTHER, OCSD_BRANCH, OCSD_INDIRECT };
enum ocsd_subtype { OCSD_PLAIN, OCSD_LINK, OCSD_RETURN, OCSD_ERET, OCSD_IMPLIED_RETURN };
enum ocsd_lost { OCSD_LOST_UNKNOWN, OCSD_LOST_INIT, OCSD_LOST_RESET, OCSD_LOST_OVERFLOW, OCSD_LOST_DISCARD, OCSD_LOST_PACKET };

#define OCSD_ON_OVERFLOW 1

struct ocsd_element {
	int type, isa;
	uint64_t start, end;
	struct {
		int security, level;
		uint32_t id, vmid;
		uint32_t bits64 : 1, has_id : 1, has_vmid : 1, has_level : 1;
	} context;
	uint64_t timestamp;
	uint32_t cycles;
	int instruction, subtype; /* of the last one */
	uint32_t executed : 1, size : 3, has_cycles : 1, frequency : 1, has_return : 1, marker : 1, extended : 1, has_time : 1,
		conditional : 1, return_is_target : 1;
	uint32_t number; /* of an exception; of instructions; why it is on, or lost */
	uint32_t more;
	const void *data;
};

typedef int ocsd_take(const void *context, uint32_t index, uint8_t id, const struct ocsd_element *element);
typedef uint32_t ocsd_read(const void *context, uint64_t address, int space, uint8_t id, uint32_t size, uint8_t *to);

/* Packets of ETMv4, by their first byte; a packet's first member is this type. */
enum ocsd_packet {
	OCSD_EXCEPTION_PACKET = 0x06,
	OCSD_COMMIT = 0x2d,
	OCSD_CANCEL = 0x2e,
	OCSD_LAST_CANCEL = 0x38,
	OCSD_TRACE_INFO = 0x01,
	OCSD_CONTEXT_PACKET = 0x80,
	OCSD_ADDRESSES = 0x82,
	OCSD_LAST_ADDRESS = 0x9e,
	OCSD_ATOMS = 0xc0,
	OCSD_LAST_ATOMS = 0xf8
};

typedef void ocsd_monitor(const void *context, int op, uint32_t index, const void *packet, uint32_t size, const uint8_t *bytes);

struct ocsd {
	void *handle;
	void *(*create)(int source, uint32_t flags);
	void (*destroy)(void *tree);
	int (*process)(void *tree, int op, uint32_t index, uint32_t size, const uint8_t *bytes, uint32_t *used);
	int (*set_take)(void *tree, ocsd_take *take, const void *context);
	int (*add_decoder)(void *tree, const char *name, int flags, const void *config, unsigned char *id);
	int (*attach)(void *tree, unsigned char id, int kind, void *callback, const void *context);
	int (*add_reader)(void *tree, uint64_t start, uint64_t end, int space, ocsd_read *read, const void *context);
};

#endif
