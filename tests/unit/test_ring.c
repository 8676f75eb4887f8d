/* SPDX-License-Identifier: MIT */
/* The ring: what a kernel writes comes out whole, wherever it wraps and however far the positions ran. */
#include "ring_writer.h"

#include <errno.h>

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
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
