/* SPDX-License-Identifier: MIT */
/* Painting ranges: the same as one address after the other, for few and many, near and far, nested and any ranges. */
#include "bytes.h"
#include "test.h"

#include "symbols/cells.h"

static uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

#define SPAN 600
#define MOST 400

/* The address of each place; they rise. */
static void make_places(uint64_t *places, int kind)
{
	uint64_t at = kind == 2 ? 1 : UINT64_C(0xffffffff81000000);
	int i;

	for (i = 0; i <= SPAN; i++) {
		places[i] = at;
		at += kind == 0 ? 1 : kind == 1 ? 1 + random_below(&seed, 1 << 16) : 1 + (uint64_t)random_below(&seed, 1u << 31) * (1 << 20);
	}
}

static void expect_painted(const struct range *ranges, size_t count, const uint64_t *places)
{
	struct range *pieces;
	uint32_t owner[SPAN + 1] = {0};
	size_t piece_count, at = 0, i;
	int k;

	for (i = 0; i < count; i++)
		for (k = 0; k < SPAN; k++)
			if (places[k] >= ranges[i].start && places[k] < ranges[i].end)
				owner[k] = ranges[i].owner;
	assert_int_equal(cells_paint(&pieces, &piece_count, ranges, count), 0);
	for (k = 0; k < SPAN; k++) {
		while (at < piece_count && pieces[at].end <= places[k])
			at++;
		assert_int_equal(at < piece_count && pieces[at].start <= places[k] ? pieces[at].owner : 0, owner[k]);
	}
	for (i = 0; i < piece_count; i++) {
		assert_true(pieces[i].start < pieces[i].end);
		assert_true(!i || pieces[i - 1].end < pieces[i].start ||
			    (pieces[i - 1].end == pieces[i].start && pieces[i - 1].owner != pieces[i].owner));
	}
	free(pieces);
}

static void test_painting(void **state)
{
	uint64_t places[SPAN + 1];
	struct range ranges[MOST];
	size_t count, i;
	int round;

	(void)state;
	for (round = 0; round < 300; round++) {
		make_places(places, round % 3);
		count = round < 100 ? (size_t)round % 16 : random_below(&seed, MOST);
		for (i = 0; i < count; i++) {
			uint32_t first = random_below(&seed, SPAN), length = random_below(&seed, round % 2 ? 20 : SPAN - first);

			if (i && random_below(&seed, 2)) { /* inside of the one before */
				first = (uint32_t)(ranges[i - 1].reserved + random_below(&seed, 8));
				length = random_below(&seed, 8);
			}
			first = first < SPAN ? first : SPAN - 1;
			ranges[i].start = places[first];
			ranges[i].end = places[first + length < SPAN ? first + length : SPAN];
			ranges[i].owner = 1 + random_below(&seed, 30);
			ranges[i].reserved = first;
		}
		expect_painted(ranges, count, places);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_painting),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
