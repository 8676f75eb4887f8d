/* SPDX-License-Identifier: MIT */
/*
 * Traces of Arm SPE. The first byte chooses how the rest is cut into pieces. However they are cut, packets and records are the
 * same; each packet can be written, and is the same again then; a record is what its packets say.
 */
#include "fuzz.h"

#include <perfev/arm_spe.h>

#include <errno.h>

#define PACKETS_MAX 70000

static void check(bool holds)
{
	if (!holds)
		abort();
}

struct list {
	struct perfev_spe_packet *packets;
	size_t count;
	uint64_t errors;
	int complete;
};

static void packets_of(struct list *list, const uint8_t *data, size_t size, size_t step)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_packet packet;
	struct perfev_error err;
	size_t at = 0, n;
	int r;

	perfev_spe_begin(&decoder, 0x10000);
	do {
		n = step && step < size - at ? step : size - at;
		perfev_spe_feed(&decoder, (struct perfev_bytes){data + at, n});
		at += n;
		memset(&packet, 0, sizeof(packet));
		while ((r = perfev_spe_next(&decoder, &packet, &err)) != 0) {
			if (r > 0) {
				check(list->count < PACKETS_MAX);
				list->packets[list->count++] = packet;
			} else {
				check(r == -EINVAL && err.where == perfev_trace_offset(&decoder.input));
				list->errors = list->errors * 31 + err.where;
				perfev_spe_skip(&decoder);
			}
			memset(&packet, 0, sizeof(packet));
		}
	} while (at < size);
	list->complete = perfev_spe_end(&decoder, NULL);
}

static uint64_t records_of(const uint8_t *data, size_t size, size_t step, uint64_t *ends)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_record record;
	uint64_t sum = 0;
	size_t at = 0, n, i;
	int r;

	perfev_spe_begin(&decoder, 0x10000);
	do {
		n = step && step < size - at ? step : size - at;
		perfev_spe_feed(&decoder, (struct perfev_bytes){data + at, n});
		at += n;
		while ((r = perfev_spe_next_record(&decoder, &record, NULL)) != 0) {
			if (r < 0) {
				perfev_spe_skip(&decoder);
				continue;
			}
			(*ends)++;
			for (i = 0; i < sizeof(record); i++)
				sum = sum * 31 + ((const unsigned char *)&record)[i];
		}
	} while (at < size);
	return sum;
}

static void again(const struct perfev_spe_packet *packet)
{
	static unsigned char bytes[70000];
	struct perfev_spe_packet copy;
	struct perfev_spe_decoder decoder;
	char text[1400];
	int n = perfev_spe_encode(bytes, sizeof(bytes), packet, NULL);

	check(n == (int)packet->size && perfev_spe_encode(NULL, 0, packet, NULL) == n);
	memset(&copy, 0, sizeof(copy));
	perfev_spe_begin(&decoder, packet->offset);
	perfev_spe_feed(&decoder, (struct perfev_bytes){bytes, (size_t)n});
	check(perfev_spe_next(&decoder, &copy, NULL) == 1 && !memcmp(&copy, packet, sizeof(copy)));
	n = perfev_spe_format(text, sizeof(text), packet, (enum perfev_spe_family)(packet->offset % 5));
	check(n > 0 && n < (int)sizeof(text));
}

static void midr(const uint8_t *data, size_t size)
{
	struct perfev_auxtrace_info info = {PERFEV_AUXTRACE_ARM_SPE, 0, {data, (uint32_t)(size / 8), data[0] & 1}};
	uint64_t found;

	perfev_spe_midr(&found, &info, UINT32_MAX);
	perfev_spe_midr(&found, &info, data[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perfev_spe_packet room[2][PACKETS_MAX];
	struct list whole = {room[0], 0, 0, 0}, cut = {room[1], 0, 0, 0};
	uint64_t ends = 0, cut_ends = 0, next = 0x10000, closed = 0;
	size_t i;

	if (size < 2 || size > 65536)
		return 0;
	packets_of(&whole, data + 1, size - 1, 0);
	packets_of(&cut, data + 1, size - 1, 1 + data[0] % 64);
	check(whole.count == cut.count && whole.errors == cut.errors && whole.complete == cut.complete);
	check(whole.count == 0 || !memcmp(whole.packets, cut.packets, whole.count * sizeof(*whole.packets)));
	for (i = 0; i < whole.count; i++) {
		check(whole.packets[i].offset >= next && whole.packets[i].size > 0);
		next = whole.packets[i].offset + whole.packets[i].size;
		closed += whole.packets[i].type == PERFEV_SPE_END || whole.packets[i].type == PERFEV_SPE_TIMESTAMP;
		if (whole.packets[i].type != PERFEV_SPE_ALIGNMENT || i % 16 == 0)
			again(&whole.packets[i]);
	}
	check(records_of(data + 1, size - 1, 0, &ends) == records_of(data + 1, size - 1, 1 + data[0] % 64, &cut_ends));
	check(ends == closed && cut_ends == closed);
	midr(data + 1, size - 1);
	return 0;
}
