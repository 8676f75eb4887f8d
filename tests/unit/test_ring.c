/* SPDX-License-Identifier: MIT */
/* The ring: what a kernel writes comes out whole, wherever it wraps and however far the positions ran;
 * nothing that stands in a ring makes the reader loop, read elsewhere or overtake the writer. */
#include "bytes.h"
#include "test.h"

#include "capture/ring.h"
#include "fake/ring.h"

#include <errno.h>

/* A ring, who writes it, and who reads it. */
struct writer {
	struct perf_event_mmap_page *page;
	unsigned char *data, *memory;
	uint64_t size;
	struct fake_ring kernel;
	uint64_t records;
	uint64_t lost_said; /* in LOST records */
	uint64_t seed;
	struct ring ring;
};

static const struct fake_writer event = {77, NULL, 0};
static uint64_t number_of_record;

/* @shift: data may begin at any address. */
static void writer_open_at(struct writer *w, uint64_t size, uint64_t start, size_t shift)
{
	memset(w, 0, sizeof(*w));
	w->page = calloc(1, sizeof(*w->page));
	w->memory = malloc(size + shift); /* exact: a sanitizer sees what is behind it */
	assert_non_null(w->page);
	assert_non_null(w->memory);
	w->data = w->memory + shift;
	memset(w->data, 0xee, size);
	w->size = size;
	w->seed = 88172645463325252u;
	fake_ring_init(&w->kernel, w->page, w->data, size);
	fake_ring_start_at(&w->kernel, start);
	assert_int_equal(ring_attach(&w->ring, w->page, w->data, size, 5), 0);
}

static void writer_open(struct writer *w, uint64_t size, uint64_t start)
{
	writer_open_at(w, size, start, 0);
}

static void writer_close(struct writer *w)
{
	ring_unmap(&w->ring);
	free(w->page);
	free(w->memory);
}

/* Bytes at any place, as no kernel writes them. */
static void put(struct writer *w, uint64_t at, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;
	size_t i;

	for (i = 0; i < size; i++)
		w->data[(at + i) & (w->size - 1)] = from[i];
}

/* One record: its body counts up from its number. */
static const unsigned char *make_record(uint16_t size, uint64_t number)
{
	static unsigned char bytes[65536];
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 2, size};
	uint16_t i;

	memcpy(bytes, &header, sizeof(header));
	for (i = 8; i < size; i = (uint16_t)(i + 8)) {
		uint64_t word = number + i;

		memcpy(bytes + i, &word, 8);
	}
	return bytes;
}

static bool write_record(struct writer *w, uint16_t size)
{
	uint64_t dropped = w->kernel.dropped;

	if (!fake_ring_write(&w->kernel, &event, make_record(size, (number_of_record + 1) * 1000000), size))
		return false;
	number_of_record++;
	w->lost_said += dropped;
	w->records++;
	return true;
}

/* A record of write_record(): its number, or 0 for a LOST record. */
static uint64_t check_record(const struct perfev_record *record)
{
	const unsigned char *data = record->data;
	uint64_t word, number = 0;
	uint32_t i;

	assert_int_equal(record->source, 5);
	assert_int_equal(record->flags, 0);
	assert_null(record->tail.data);
	if (record->type == PERF_RECORD_LOST)
		return 0;
	assert_int_equal(record->type, PERF_RECORD_SAMPLE);
	assert_int_equal(record->misc, 2);
	for (i = 8; i < record->size; i += 8) {
		memcpy(&word, data + i, 8);
		assert_int_equal(word % 1000000, i);
		assert_true(!number || number == word / 1000000);
		number = word / 1000000;
	}
	return number;
}

/* ---- what a kernel does ---------------------------------------------------------------------------- */

/* A record of each size, beginning at each place of a small ring, at three heights of the positions. */
static void test_wrap_everywhere(void **state)
{
	static const uint64_t starts[] = {0, (UINT64_C(1) << 32) - 4096, UINT64_MAX - 4095};
	struct writer w;
	struct perfev_record record;
	uint16_t size;
	uint64_t at;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		for (size = 8; size <= 2048; size = (uint16_t)(size * 2 + (size == 8 ? 8 : 0)))
			for (at = 0; at < 4096; at += 8) {
				writer_open(&w, 4096, starts[i] + at);
				assert_false(ring_begin(&w.ring));
				write_record(&w, size);
				write_record(&w, 16);
				assert_true(ring_has_data(&w.ring));
				assert_true(ring_begin(&w.ring));
				assert_int_equal(ring_next(&w.ring, &record), 1);
				assert_int_equal(record.size, size);
				assert_true(record.offset == starts[i] + at);
				check_record(&record);
				assert_int_equal(ring_next(&w.ring, &record), 1);
				assert_int_equal(record.size, 16);
				assert_int_equal(check_record(&record), number_of_record);
				assert_int_equal(ring_next(&w.ring, &record), 0);
				assert_true(w.page->data_tail == starts[i] + at);
				ring_release(&w.ring);
				assert_true(w.page->data_tail == w.kernel.head);
				assert_false(ring_has_data(&w.ring));
				writer_close(&w);
			}
}

/* A record is cut by the end of the ring at each multiple of 8 in it, whatever address the data begin at. */
static void test_wrap_at_any_address(void **state)
{
	struct perfev_record record;
	struct writer w;
	uint16_t size, first;
	size_t shift;

	(void)state;
	for (shift = 0; shift < 8; shift++)
		for (size = 16; size <= 256; size = (uint16_t)(size + 8))
			for (first = 8; first < size; first = (uint16_t)(first + 8)) {
				writer_open_at(&w, 4096, 40960 - first, shift);
				assert_true(write_record(&w, size));
				assert_true(ring_begin(&w.ring));
				assert_int_equal(ring_next(&w.ring, &record), 1);
				assert_int_equal(record.size, size);
				assert_int_equal(check_record(&record), number_of_record);
				assert_int_equal(ring_next(&w.ring, &record), 0);
				writer_close(&w);
			}
}

/* Full to the last place: one byte less than there are, and the reader takes it all. */
static void test_full_ring(void **state)
{
	struct perfev_record record;
	struct writer w;
	int n = 0;

	(void)state;
	writer_open(&w, 4096, 1234 * 8);
	while (write_record(&w, 16))
		n++;
	assert_int_equal(n, 255);
	assert_true(write_record(&w, 16) == false && w.kernel.dropped == 2);
	assert_true(ring_begin(&w.ring));
	for (n = 0; ring_next(&w.ring, &record) > 0; n++)
		assert_true(check_record(&record) > 0);
	assert_int_equal(n, 255);
	assert_false(write_record(&w, 16)); /* what was handed out is still there */
	ring_release(&w.ring);
	assert_true(write_record(&w, 16));
	assert_true(ring_begin(&w.ring));
	assert_int_equal(ring_next(&w.ring, &record), 1);
	assert_int_equal(record.type, PERF_RECORD_LOST);
	assert_int_equal(ring_next(&w.ring, &record), 1);
	assert_true(w.ring.lost_said == 3);
	writer_close(&w);
}

/* A record as large as the ring never has room, and leaves no trace but the count. */
static void test_larger_than_the_ring(void **state)
{
	struct writer w;

	(void)state;
	writer_open(&w, 4096, 0);
	assert_false(write_record(&w, 4096));
	assert_false(write_record(&w, 65528));
	assert_false(ring_begin(&w.ring));
	assert_true(w.kernel.dropped == 2);
	writer_close(&w);
}

/* The largest record there is, straddling the end at every place. */
static void test_large_records(void **state)
{
	struct writer w;
	struct perfev_record record;
	uint64_t at;

	(void)state;
	for (at = 65536; at <= 131072; at += 4096 - 8) {
		writer_open(&w, 131072, at);
		write_record(&w, 65528);
		assert_true(ring_begin(&w.ring));
		assert_int_equal(ring_next(&w.ring, &record), 1);
		assert_int_equal(record.size, 65528);
		assert_int_equal(check_record(&record), number_of_record);
		writer_close(&w);
	}
}

/* A long run: records of all sizes, a reader that is slow at times, loss that adds up. */
static void run(uint64_t size, uint64_t start, uint64_t count)
{
	struct writer w;
	struct perfev_record record;
	uint64_t read = 0, lost = 0, i, last = 0;

	writer_open(&w, size, start);
	for (i = 0; i < count; i++) {
		uint32_t most = size / 32 < 8191 ? (uint32_t)(size / 32) : 8191;
		uint32_t words = 1 + random_below(&w.seed, most);

		write_record(&w, (uint16_t)(words * 8));
		if (random_below(&w.seed, 5) || !ring_begin(&w.ring))
			continue;
		while (ring_next(&w.ring, &record) > 0) {
			uint64_t number = check_record(&record);

			if (record.type == PERF_RECORD_LOST) {
				uint64_t said;

				memcpy(&said, (const unsigned char *)record.data + 16, 8);
				lost += said;
				continue;
			}
			if (record.size > 8) {
				assert_true(number > last);
				last = number;
			}
			read++;
		}
		if (random_below(&w.seed, 3))
			ring_release(&w.ring);
		assert_true(w.page->data_tail <= w.kernel.head || w.kernel.head < start);
	}
	while (ring_begin(&w.ring))
		while (ring_next(&w.ring, &record) > 0)
			read += record.type == PERF_RECORD_SAMPLE;
	assert_int_equal(read, w.records);
	assert_true(w.records + w.lost_said + w.kernel.dropped == count);
	assert_true(w.ring.lost_said == w.lost_said);
	assert_true(lost <= w.lost_said);
	assert_true(w.lost_said > 0);
	writer_close(&w);
}

static void test_long_runs(void **state)
{
	(void)state;
	run(4096, 0, 200000);
	run(4096, (UINT64_C(1) << 32) - 50000, 200000); /* over the end of 32 bits */
	run(65536, UINT64_MAX - 799999, 20000);		/* and of 64 */
	run(1 << 18, 123456, 20000);
}

/* All that was handed out since the last release stays, though one record straddles the end. */
static void test_views_stay(void **state)
{
	struct perfev_record records[64];
	struct writer w;
	uint64_t start, first;
	int count, i, pass;

	(void)state;
	for (start = 8; start <= 4096; start += 8) {
		writer_open(&w, 4096, start);
		count = 0;
		first = number_of_record + 1;
		for (pass = 0; pass < 3; pass++) { /* several passes, and no release between them */
			for (i = 0; i < 12; i++)
				write_record(&w, 104);
			assert_true(ring_begin(&w.ring));
			while (ring_next(&w.ring, &records[count]) > 0)
				count++;
		}
		assert_int_equal(count, 36);
		for (i = 0; i < count; i++)
			assert_int_equal(check_record(&records[i]), first + (uint64_t)i);
		ring_release(&w.ring);
		assert_true(w.page->data_tail == w.kernel.head);
		writer_close(&w);
	}
}

/* What comes during a pass is for the next one, so that a pass ends. */
static void test_passes_end(void **state)
{
	struct perfev_record record;
	struct writer w;
	int i;

	(void)state;
	writer_open(&w, 4096, 0);
	for (i = 0; i < 10; i++)
		write_record(&w, 16);
	assert_true(ring_begin(&w.ring));
	for (i = 0; i < 10; i++) {
		write_record(&w, 16);
		assert_int_equal(ring_next(&w.ring, &record), 1);
	}
	assert_int_equal(ring_next(&w.ring, &record), 0);
	assert_true(ring_has_data(&w.ring));
	assert_true(ring_begin(&w.ring));
	for (i = 0; i < 10; i++)
		assert_int_equal(ring_next(&w.ring, &record), 1);
	assert_int_equal(ring_next(&w.ring, &record), 0);
	writer_close(&w);
}

static void test_lost_samples(void **state)
{
	struct perf_event_header header = {PERF_RECORD_LOST_SAMPLES, 0, 16};
	struct perfev_record record;
	struct writer w;
	uint64_t lost = 9;

	(void)state;
	writer_open(&w, 4096, 4096 - 8); /* the count is behind the wrap */
	put(&w, w.kernel.head, &header, 8);
	put(&w, w.kernel.head + 8, &lost, 8);
	header.size = 8; /* too short for a count: nothing is read behind it */
	put(&w, w.kernel.head + 16, &header, 8);
	header.type = PERF_RECORD_LOST;
	header.size = 16;
	put(&w, w.kernel.head + 24, &header, 8);
	w.page->data_head = w.kernel.head + 40;
	assert_true(ring_begin(&w.ring));
	while (ring_next(&w.ring, &record) > 0)
		;
	assert_true(w.ring.lost_samples == 9);
	assert_true(w.ring.lost_said == 0);
	writer_close(&w);
}

/* ---- what no kernel does ------------------------------------------------------------------------------- */

/* After damage the rest up to the head is given up, and reading goes on with what comes then. */
static void expect_damage(struct writer *w, int good)
{
	struct perfev_record record;
	int i;

	assert_true(ring_begin(&w->ring));
	for (i = 0; i < 1000; i++) {
		int r = ring_next(&w->ring, &record);

		assert_int_not_equal(r, 0);
		if (r < 0) {
			assert_int_equal(r, -EBADMSG);
			break;
		}
	}
	assert_int_equal(i, good);
	assert_true(w->ring.tail == w->page->data_head);
	assert_int_equal(ring_next(&w->ring, &record), 0);
	ring_release(&w->ring);
	assert_true(w->page->data_tail == w->page->data_head);
}

static void test_hostile_sizes(void **state)
{
	static const uint16_t sizes[] = {0, 1, 4, 7, 9, 12, 15, 20, 48, 4096, 4104, 65528, 65535};
	struct perfev_record record;
	struct writer w;
	size_t i;
	int before;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (before = 0; before < 3; before++) {
			struct perf_event_header header = {PERF_RECORD_SAMPLE, 2, sizes[i]};
			int k;

			writer_open(&w, 4096, 4096 - 40);
			for (k = 0; k < before; k++)
				write_record(&w, 16);
			put(&w, w.kernel.head, &header, 8);
			w.kernel.head += 40;
			w.page->data_head = w.kernel.head;
			expect_damage(&w, before);
			write_record(&w, 24);
			assert_true(ring_begin(&w.ring));
			assert_int_equal(ring_next(&w.ring, &record), 1);
			assert_int_equal(check_record(&record), number_of_record);
			assert_int_equal(ring_next(&w.ring, &record), 0);
			writer_close(&w);
		}
}

/* Heads that are not a multiple of 8, more than a ring away, or behind the tail. */
static void test_hostile_heads(void **state)
{
	static const uint64_t heads[] = {1, 4, 7, 12, 4095, 4097, 4104, 8192, UINT64_C(1) << 32,
					 UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63};
	struct writer w;
	size_t i;
	uint64_t start;

	(void)state;
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		for (start = 0; start <= 4096; start += 2048 - 8) {
			struct perfev_record record;

			writer_open(&w, 4096, start);
			memset(w.data, 0, 4096);
			w.page->data_head = start + heads[i];
			expect_damage(&w, 0);
			/* from a tail that is odd now: nothing is read across the end */
			w.page->data_head += 4096 - (w.page->data_head & 4095) + 5;
			assert_true(ring_begin(&w.ring));
			while (ring_next(&w.ring, &record) > 0)
				;
			assert_true(w.ring.tail == w.page->data_head);
			ring_release(&w.ring);
			writer_close(&w);
		}
}

/* A head that ran on though nothing was given back would overwrite what was handed out. */
static void test_head_over_what_is_held(void **state)
{
	struct perfev_record held, record;
	struct writer w;
	uint64_t number;
	int i;

	(void)state;
	writer_open(&w, 4096, 4096 - 48);
	write_record(&w, 104);
	assert_true(ring_begin(&w.ring));
	assert_int_equal(ring_next(&w.ring, &held), 1); /* it straddles: it is in the bounce buffer */
	number = check_record(&held);
	for (i = 0; i < 39; i++) /* less than a ring further than what was handed out */
		fake_ring_force(&w.kernel, make_record(104, 1), 104);
	assert_true(ring_begin(&w.ring));
	assert_int_equal(ring_next(&w.ring, &record), -EBADMSG);
	assert_int_equal(check_record(&held), number);
	ring_release(&w.ring);
	assert_true(w.page->data_tail == w.kernel.head);
	writer_close(&w);
}

/* A head that goes back behind what was handed out, but not behind what was given back: no way round the ring. */
static void test_head_goes_back(void **state)
{
	struct perfev_record record;
	struct writer w;
	int i;

	(void)state;
	writer_open(&w, 4096, 800);
	for (i = 0; i < 10; i++)
		write_record(&w, 104);
	assert_true(ring_begin(&w.ring));
	while (ring_next(&w.ring, &record) > 0)
		;
	w.page->data_head -= 104;
	assert_true(ring_begin(&w.ring));
	assert_int_equal(ring_next(&w.ring, &record), -EBADMSG);
	assert_int_equal(ring_next(&w.ring, &record), 0);
	ring_release(&w.ring);
	assert_true(w.page->data_tail == w.page->data_head);
	writer_close(&w);
}

static void test_noise(void **state)
{
	struct perfev_record record;
	struct writer w;
	int i;

	(void)state;
	writer_open(&w, 4096, 0);
	for (i = 0; i < 20000; i++) {
		uint64_t at = random_below(&w.seed, 4096);
		int records = 0;

		w.data[at] = (unsigned char)next_random(&w.seed);
		if (i % 4 == 0)
			memset(w.data, 0, 8 * random_below(&w.seed, 512));
		w.page->data_head += random_below(&w.seed, 2) ? random_below(&w.seed, 512) * 8u
							      : random_below(&w.seed, 5000);
		ring_begin(&w.ring);
		while (ring_next(&w.ring, &record) > 0) {
			volatile const unsigned char *data = record.data;

			assert_in_range(++records, 1, 512);
			(void)data[0];
			(void)data[record.size - 1];
		}
		assert_true(w.ring.tail == w.page->data_head);
		ring_release(&w.ring);
	}
	writer_close(&w);
}

static void test_no_memory_mapped(void **state)
{
	struct ring ring;

	(void)state;
	memset(&ring, 0, sizeof(ring));
	assert_false(ring_begin(&ring));
	assert_false(ring_has_data(&ring));
	ring_unmap(&ring);
}

/* ---- rings that are written over --------------------------------------------------------------------------- */

/* After any number of records the newest come first, whole, as many as there are bytes for. */
static void test_backward(void **state)
{
	struct perfev_record record;
	struct writer w;
	uint16_t sizes[3000];
	size_t written, i;

	(void)state;
	writer_open(&w, 4096, 0);
	w.ring.backward = w.kernel.backward = true;
	number_of_record = 0;
	assert_false(ring_has_data(&w.ring));
	assert_false(ring_begin(&w.ring));
	for (written = 0; written < 3000; written++) {
		uint64_t bytes = 0, first = w.kernel.head;

		for (i = 0; i < written && (written < 300 || written % 97 == 0); i++) {
			if (!i) {
				assert_true(ring_begin(&w.ring));
				assert_true(w.ring.tail == first);
			}
			if (bytes + sizes[written - 1 - i] > 4096)
				break;
			assert_int_equal(ring_next(&w.ring, &record), 1);
			assert_int_equal(record.size, sizes[written - 1 - i]);
			assert_int_equal(check_record(&record), number_of_record - i);
			bytes += record.size;
		}
		if (i) {
			assert_int_equal(ring_next(&w.ring, &record), 0); /* what is left of an older one */
			assert_int_equal(ring_next(&w.ring, &record), 0);
			ring_release(&w.ring);
			assert_false(ring_has_data(&w.ring));
		}
		sizes[written] = (uint16_t)(16 + 8 * (next_random(&w.seed) % (written % 50 ? 20 : 400)));
		assert_true(write_record(&w, sizes[written]));
		assert_true(ring_has_data(&w.ring));
	}
	writer_close(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_wrap_everywhere),
	cmocka_unit_test(test_wrap_at_any_address),
	cmocka_unit_test(test_full_ring),
	cmocka_unit_test(test_larger_than_the_ring),
	cmocka_unit_test(test_backward),
	cmocka_unit_test(test_large_records),
	cmocka_unit_test(test_long_runs),
	cmocka_unit_test(test_views_stay),
	cmocka_unit_test(test_passes_end),
	cmocka_unit_test(test_lost_samples),
	cmocka_unit_test(test_hostile_sizes),
	cmocka_unit_test(test_hostile_heads),
	cmocka_unit_test(test_head_over_what_is_held),
	cmocka_unit_test(test_head_goes_back),
	cmocka_unit_test(test_noise),
	cmocka_unit_test(test_no_memory_mapped),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
