/* SPDX-License-Identifier: MIT */
/*
 * Traces of Intel PT and BTS. The first byte chooses how the rest is cut into pieces, and whether what is no packet is passed
 * over byte by byte or up to the next PSB. However they are cut, the packets are the same, one by one or many at once; each
 * is inside of the trace, can be written, and is the same again then.
 */
#include "fuzz.h"

#include <perfev/intel_bts.h>
#include <perfev/intel_pt.h>

#include <errno.h>

#define PACKETS_MAX 70000
#define BATCH	    7

struct list {
	struct perfev_pt_packet *packets;
	size_t count;
	uint64_t errors, end;
	int complete;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void add(struct list *list, const struct perfev_pt_packet *packets, int n)
{
	check(list->count + (size_t)n <= PACKETS_MAX);
	memcpy(list->packets + list->count, packets, (size_t)n * sizeof(*packets));
	list->count += (size_t)n;
}

/* What is left of a piece; 0 when it is used up. */
static int rest_of_piece(struct perfev_pt_decoder *decoder, struct list *list, bool batches, bool sync)
{
	struct perfev_pt_packet packets[BATCH];
	struct perfev_error err;
	int r;

	memset(packets, 0, sizeof(packets));
	r = batches ? perfev_pt_read(decoder, packets, BATCH, &err) : perfev_pt_next(decoder, packets, &err);
	if (r > 0)
		add(list, packets, r);
	if (r >= 0)
		return r;
	check(r == -EINVAL && err.code == r && err.where == perfev_trace_offset(&decoder->input));
	list->errors = list->errors * 31 + err.where;
	if (!sync)
		perfev_pt_skip(decoder);
	return sync ? perfev_pt_sync(decoder) : 1;
}

/* @step 0: all at once. */
static void decode(struct list *list, const uint8_t *data, size_t size, size_t step, bool batches, bool sync)
{
	struct perfev_pt_decoder decoder;
	bool searching = false;
	size_t at = 0, n;

	perfev_pt_begin(&decoder, 4096);
	do {
		n = step && step < size - at ? step : size - at;
		perfev_pt_feed(&decoder, (struct perfev_bytes){data + at, n});
		at += n;
		while (true) {
			uint64_t errors = list->errors;

			if (searching && perfev_pt_sync(&decoder) == 0)
				break;
			searching = false;
			if (rest_of_piece(&decoder, list, batches, sync) == 0) {
				searching = sync && errors != list->errors;
				break;
			}
		}
	} while (at < size);
	list->complete = searching ? 0 : perfev_pt_end(&decoder, NULL);
	list->end = perfev_trace_offset(&decoder.input);
}

static void same(const struct list *a, const struct list *b)
{
	check(a->count == b->count && a->errors == b->errors && a->complete == b->complete && a->end == b->end);
	check(a->count == 0 || !memcmp(a->packets, b->packets, a->count * sizeof(*a->packets)));
}

/* The packet alone, behind what it needs to be understood. */
static void again(const struct perfev_pt_packet *packet)
{
	struct perfev_pt_packet copy;
	struct perfev_pt_decoder decoder;
	unsigned char bytes[32], second[32];
	char text[400];
	int n = perfev_pt_encode(bytes, sizeof(bytes), packet, NULL);

	check(n == (int)packet->size && perfev_pt_encode(NULL, 0, packet, NULL) == n);
	perfev_pt_begin(&decoder, packet->offset);
	if (packet->type == PERFEV_PT_BIP)
		decoder.item_bytes = packet->as.bip.item_bytes;
	perfev_pt_feed(&decoder, (struct perfev_bytes){bytes, (size_t)n});
	check(perfev_pt_next(&decoder, &copy, NULL) == 1 && copy.type == packet->type && copy.size == packet->size);
	check(perfev_pt_encode(second, sizeof(second), &copy, NULL) == n && !memcmp(bytes, second, (size_t)n));
	n = perfev_pt_format(text, sizeof(text), packet);
	check(n > 0 && n < (int)sizeof(text));
}

static void branches(const uint8_t *data, size_t size, unsigned word)
{
	struct perfev_bts_decoder decoder;
	struct perfev_bts_branch branch;
	uint64_t count = 0;
	char text[200];
	size_t at, n;

	perfev_bts_begin(&decoder, 0, word);
	for (at = 0; at < size; at += n) {
		n = size - at < 17 ? size - at : 17;
		perfev_bts_feed(&decoder, (struct perfev_bytes){data + at, n});
		while (perfev_bts_next(&decoder, &branch)) {
			check(branch.offset == count++ * 3 * word);
			check(perfev_bts_format(text, sizeof(text), &branch) < (int)sizeof(text));
		}
	}
	check(count == size / (3 * word) && (perfev_bts_end(&decoder, NULL) == 0) == (size % (3 * word) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perfev_pt_packet room[2][PACKETS_MAX];
	struct list whole = {room[0], 0, 0, 0, 0}, cut = {room[1], 0, 0, 0, 0};
	uint64_t next = 4096;
	bool sync;
	size_t i;

	if (size < 2 || size > 65536)
		return 0;
	sync = data[0] & 1;
	decode(&whole, data + 1, size - 1, 0, data[0] & 2, sync);
	decode(&cut, data + 1, size - 1, 1 + (data[0] >> 2), data[0] & 64, sync);
	same(&whole, &cut);
	for (i = 0; i < whole.count; i++) {
		check(whole.packets[i].offset >= next && whole.packets[i].size > 0);
		next = whole.packets[i].offset + whole.packets[i].size;
		again(&whole.packets[i]);
	}
	check(next <= 4096 + size - 1);
	branches(data + 1, size - 1, data[0] & 1 ? 4 : 8);
	return 0;
}
