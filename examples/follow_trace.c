/* SPDX-License-Identifier: MIT */
/* The way that a program took, out of a trace of Intel PT that is made here: a call, its return, and a jump to what is not
 * traced. Recordings have the trace in AUXTRACE records, and the program in the files that MMAP2 records name. */
#include <perfev/flow.h>
#include <perfev/intel_pt.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define START UINT64_C(0x401000)

static const unsigned char program[] = {
	0xe8, 0x03, 0x00, 0x00, 0x00, /* 401000: call 401008 */
	0xff, 0xe0,		      /* 401005: jmp *%rax */
	0x90, 0xc3,		      /* 401007: nop; 401008: ret */
};

static int code(void *context, const struct perfev_place *place, void *to, size_t size)
{
	uint64_t at = place->ip - START;

	(void)context;
	if (at >= sizeof(program))
		return -1;
	if (size > sizeof(program) - at)
		size = sizeof(program) - at;
	memcpy(to, program + at, size);
	return (int)size;
}

static size_t put(unsigned char *to, enum perfev_pt_type type, uint64_t ip)
{
	struct perfev_pt_packet packet = {.type = type};
	int n;

	if (type == PERFEV_PT_MODE_EXEC) {
		packet.as.exec.cs_l = 1; /* 64 bits */
	} else if (ip) {
		packet.as.ip.payload = ip;
		packet.as.ip.ip_bytes = 3;
	}
	n = perfev_pt_encode(to, 64, &packet, NULL);
	return n > 0 ? (size_t)n : 0;
}

int main(void)
{
	struct perfev_flow_opts opts = {.size = sizeof(opts), .code = code};
	struct perfev_flow_branch branch;
	struct perfev_flow *flow;
	struct perfev_error err;
	unsigned char bytes[512];
	struct perfev_bytes trace = {bytes, 0};

	trace.size += put(bytes + trace.size, PERFEV_PT_PSB, 0);
	trace.size += put(bytes + trace.size, PERFEV_PT_MODE_EXEC, 0);
	trace.size += put(bytes + trace.size, PERFEV_PT_PSBEND, 0);
	trace.size += put(bytes + trace.size, PERFEV_PT_TIP_PGE, START);
	trace.size += put(bytes + trace.size, PERFEV_PT_TIP, START + 5); /* the return */
	trace.size += put(bytes + trace.size, PERFEV_PT_TIP_PGD, START + 0x1000); /* the jump */

	if (perfev_flow_new(&flow, &opts, &err) < 0 || perfev_flow_begin(flow, &trace, 1, &err) < 0) {
		puts(err.text);
		return 0;
	}
	perfev_flow_task(flow, 1, 1, 0);
	while (perfev_flow_next(flow, &branch, &err) > 0) {
		if (branch.type >= PERFEV_FLOW_PSB) /* no branch, but what else there is */
			continue;
		printf("%s 0x%" PRIx64 " to 0x%" PRIx64 "%s%s\n", perfev_flow_type_name(branch.type), branch.from, branch.to,
		       branch.flags & PERFEV_FLOW_BEGINS ? ", it begins" : "", branch.flags & PERFEV_FLOW_ENDS ? ", it ends" : "");
	}
	perfev_flow_free(flow);
	return 0;
}
