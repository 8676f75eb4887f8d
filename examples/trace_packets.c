/* SPDX-License-Identifier: MIT */
/* intel_pt.h, arm_spe.h, intel_bts.h, auxtrace.h: packets out of traces that come in pieces; on any host. */
#include <perfev/arm_spe.h>
#include <perfev/auxtrace.h>
#include <perfev/intel_bts.h>
#include <perfev/intel_pt.h>
#include <stdio.h>

static struct perfev_error err;

/* The second address is given as the part in which it differs, and cut between two pieces. */
static int intel_pt(void)
{
	static const unsigned char trace[] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
					      0x02, 0x82, 0x71, 0x36, 0x11, 0x40, 0x00, 0x00, 0x00, 0x2e, 0x2d, 0xf0, 0x10};
	const struct perfev_bytes pieces[] = {{trace, 25}, {trace + 25, sizeof(trace) - 25}};
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	char line[300];
	int i, r = 0;

	perfev_pt_begin(&decoder, 0);
	for (i = 0; i < 2; i++) {
		perfev_pt_feed(&decoder, pieces[i]);
		while ((r = perfev_pt_next(&decoder, &packet, &err)) > 0) {
			perfev_pt_format(line, sizeof(line), &packet);
			printf("%llu: %s\n", (unsigned long long)packet.offset, line);
		}
		if (r < 0) /* in a damaged trace: perfev_pt_sync() goes to the next PSB */
			return r;
	}
	return perfev_pt_end(&decoder, &err);
}

static int arm_spe(void)
{
	static const unsigned char trace[] = {0xb0, 0x36, 0x11, 0x40, 0, 0, 0, 0, 0x80, 0x49, 0x00, 0x98, 0x20, 0x00, 0x42, 0x16,
					      0x43, 0x0e, 0x01};
	const uint64_t midr = 0x413fd0c1; /* of a Neoverse N1; in recordings: perfev_spe_midr() */
	struct perfev_spe_decoder decoder;
	struct perfev_spe_record record;
	char operation[100];
	int r;

	perfev_spe_begin(&decoder, 0);
	perfev_spe_feed(&decoder, (struct perfev_bytes){trace, sizeof(trace)});
	while ((r = perfev_spe_next_record(&decoder, &record, &err)) > 0) {
		perfev_spe_operation_format(operation, sizeof(operation), record.op_class, record.op);
		printf("0x%llx: %s, %u cycles, from %s%s\n", (unsigned long long)record.pc.address, operation,
		       record.total_latency, perfev_spe_source_name(perfev_spe_family_of(midr), record.source),
		       record.events & 1 << PERFEV_SPE_EVENT_L1D_REFILL ? "" : ", no refill");
	}
	return r < 0 ? r : perfev_spe_end(&decoder, &err);
}

static void intel_bts(void)
{
	static const unsigned char trace[] = {0x36, 0x11, 0x40, 0, 0, 0, 0, 0, 0xf0, 0x10, 0x40, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0,
					      0,    0,	  0};
	struct perfev_bts_decoder decoder;
	struct perfev_bts_branch branch;

	perfev_bts_begin(&decoder, 0, 8);
	perfev_bts_feed(&decoder, (struct perfev_bytes){trace, sizeof(trace)});
	while (perfev_bts_next(&decoder, &branch) > 0)
		printf("from 0x%llx to 0x%llx\n", (unsigned long long)branch.from, (unsigned long long)branch.to);
}

int main(void)
{
	intel_bts();
	if (intel_pt() == 0 && arm_spe() == 0)
		return 0;
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
