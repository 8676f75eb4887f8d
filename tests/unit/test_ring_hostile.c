/* SPDX-License-Identifier: MIT */
/* Nothing that stands in a ring makes the reader loop, read elsewhere or overtake the writer. */
#include "ring_writer.h"

#include <errno.h>

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

static const struct CMUnitTest tests[] = {
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
