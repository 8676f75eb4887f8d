/* SPDX-License-Identifier: MIT */
/* Splitting a trace of Intel PT into packets, against libipt's packet decoder on the same bytes: those of a recording, when one
 * is given, and of a trace that is made with the shares that packets have in recordings of a program. */
#include "bench.h"

#include <perfev/intel_pt.h>
#include <perfev/reader.h>

#ifdef HAVE_LIBIPT
#include <intel-pt.h>
#endif

#include <string.h>

#define TRACE (4 << 20)
#define BATCH 64
#define LOOP  200

struct work {
	unsigned char *trace;
	size_t size;
	uint64_t sum, packets;
};

static uint64_t random_state = UINT64_C(88172645463325252);

static uint32_t below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

static size_t put(struct work *w, const struct perfev_pt_packet *packet)
{
	int n = perfev_pt_encode(w->trace + w->size, TRACE - w->size, packet, NULL);

	w->size += n > 0 ? (size_t)n : 0;
	return (size_t)n;
}

/* What stands at the beginning of each 4 KiB. */
static void put_psb(struct work *w)
{
	static const enum perfev_pt_type types[] = {PERFEV_PT_PSB, PERFEV_PT_TSC, PERFEV_PT_TMA,	PERFEV_PT_CBR,
						    PERFEV_PT_PIP, PERFEV_PT_MODE_EXEC, PERFEV_PT_PSBEND};
	struct perfev_pt_packet packet;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(&packet, 0, sizeof(packet));
		packet.type = types[i];
		put(w, &packet);
	}
}

/* Of 100 packets of a recording 67 are TNT, 18 PAD, 11 TIP, 3 MTC. Padding comes in rows, in front of what is aligned. */
static void random_packet(struct perfev_pt_packet *packet)
{
	uint32_t which = below(85);

	memset(packet, 0, sizeof(*packet));
	packet->type = which < 67 ? PERFEV_PT_TNT_8 : which < 71 ? PERFEV_PT_PAD : which < 82 ? PERFEV_PT_TIP : PERFEV_PT_MTC;
	if (packet->type == PERFEV_PT_TNT_8) {
		packet->as.tnt.count = (uint8_t)(below(4) ? 6 : 1 + below(6));
		packet->as.tnt.bits = below(1u << packet->as.tnt.count);
	} else if (packet->type == PERFEV_PT_TIP) {
		packet->as.ip.ip_bytes = below(3) ? 1 : below(2) ? 2 : 3;
		packet->as.ip.payload = below(65536);
	} else if (packet->type == PERFEV_PT_MTC) {
		packet->as.mtc.ctc = below(256);
	}
}

/* Programs go round in loops: each is a row of packets, written some times, with one now and then that is another one. */
static void make(struct work *w)
{
	struct perfev_pt_packet loop[LOOP], other;
	uint32_t length = 0, rounds = 0, i, row;
	size_t psb = 0;

	while (w->size + 16 * LOOP < TRACE) {
		if (w->size >= psb) {
			put_psb(w);
			psb = w->size + 4096;
		}
		if (rounds-- == 0) {
			rounds = 1 + below(40);
			length = 1 + below(LOOP);
			for (i = 0; i < length; i++)
				random_packet(&loop[i]);
		}
		for (i = 0; i < length; i++) {
			random_packet(&other);
			for (row = loop[i].type == PERFEV_PT_PAD ? 1 + i % 7 : 1; row; row--)
				put(w, below(50) ? &loop[i] : &other);
		}
	}
}

/* The traces of a recording, one behind the other. */
static void read_recording(struct work *w, const char *path)
{
	struct perfev_reader *reader;
	struct perfev_record record;

	if (perfev_reader_open(&reader, path, NULL, NULL) < 0)
		return;
	while (perfev_reader_next(reader, &record, NULL) > 0) {
		if (record.type != PERFEV_RECORD_AUXTRACE || record.tail.size > TRACE - w->size)
			continue;
		memcpy(w->trace + w->size, record.tail.data, record.tail.size);
		w->size += record.tail.size;
	}
	perfev_reader_close(reader);
}

/* The whole trace, @count times; in batches. */
static void in_batches(void *work, int count)
{
	struct work *w = work;
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packets[BATCH];
	int n, i;

	while (count-- > 0) {
		perfev_pt_begin(&decoder, 0);
		perfev_pt_feed(&decoder, (struct perfev_bytes){w->trace, w->size});
		while ((n = perfev_pt_read(&decoder, packets, BATCH, NULL)) > 0) {
			for (i = 0; i < n; i++)
				w->sum += packets[i].type;
			w->packets += (uint64_t)n;
		}
	}
}

static void one_by_one(void *work, int count)
{
	struct work *w = work;
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;

	while (count-- > 0) {
		perfev_pt_begin(&decoder, 0);
		perfev_pt_feed(&decoder, (struct perfev_bytes){w->trace, w->size});
		while (perfev_pt_next(&decoder, &packet, NULL) > 0)
			w->sum += packet.type;
	}
}

#ifdef HAVE_LIBIPT
static void libipt(void *work, int count)
{
	struct work *w = work;
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;

	pt_config_init(&config);
	config.begin = w->trace;
	config.end = w->trace + w->size;
	decoder = pt_pkt_alloc_decoder(&config);
	while (decoder && count-- > 0) {
		pt_pkt_sync_set(decoder, 0);
		while (pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0)
			w->sum += packet.type;
	}
	pt_pkt_free_decoder(decoder);
}
#endif

static void row(struct work *w, const char *name, void (*work)(void *, int))
{
	double ours[BENCH_PAIRS], theirs[BENCH_PAIRS], ratios[BENCH_PAIRS];
	int i;

	bench_once(work, w, 1);
	for (i = 0; i < BENCH_PAIRS; i++) {
		ours[i] = (double)w->size / bench_once(work, w, 1) * 1e3;
#ifdef HAVE_LIBIPT
		theirs[i] = (double)w->size / bench_once(libipt, w, 1) * 1e3;
#else
		theirs[i] = 0;
#endif
		ratios[i] = theirs[i] > 0 ? ours[i] / theirs[i] : 0;
	}
	printf("%-34s %9.0f MB/s   ", name, bench_median(ours, BENCH_PAIRS));
	if (theirs[0] > 0)
		printf("%-20s %9.0f MB/s   ratio %.2f\n", "libipt", bench_median(theirs, BENCH_PAIRS),
		       bench_median(ratios, BENCH_PAIRS));
	else
		printf("libipt is not there\n");
}

static void rows(struct work *w, const char *what)
{
	w->packets = 0;
	in_batches(w, 1);
	printf("%zu bytes of Intel PT, %.2f for a packet, %s\n", w->size, (double)w->size / (double)(w->packets ? w->packets : 1),
	       what);
	row(w, "packets, in batches", in_batches);
	row(w, "packets, one by one", one_by_one);
}

int main(int argc, char **argv)
{
	static struct work w;

	w.trace = malloc(TRACE);
	if (!w.trace)
		return 1;
	make(&w);
	rows(&w, "made");
	w.size = 0;
	if (argc > 1)
		read_recording(&w, argv[1]);
	if (w.size)
		rows(&w, "of a recording");
	free(w.trace);
	return w.sum == 0;
}
