/* SPDX-License-Identifier: MIT */
/*
 * Compressed recordings: payloads that end anywhere in a record, in both byte orders, cut to each length; the sizes that
 * perf 6.16 wrote wrongly; what cannot be inside; and payloads that become too much.
 */
#include "bytes.h"
#include "test.h"

#include "file/codec.h"

#include <perfev/reader.h>

#include <errno.h>
#include <stdlib.h>

#define ROOM	  (4u << 20)
#define BOMB_SIZE (80u << 20)

static struct perfev_error err;
static unsigned char *file, *plain, *packed;
static size_t file_size;
static bool big;
static struct codec *codec;

static int setup(void **state)
{
	(void)state;
	file = malloc(ROOM);
	plain = malloc(BOMB_SIZE);
	packed = malloc(ROOM);
	file_size = 0;
	big = host_is_big();
	return file && plain && packed ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	codec_close(codec);
	codec = NULL;
	free(file);
	free(plain);
	free(packed);
	return 0;
}

static void begin_codec(void)
{
	codec_close(codec);
	if (codec_open(&codec, 3, &err) == -EOPNOTSUPP)
		skip();
	assert_non_null(codec);
}

/* Of plain bytes the next payload; returns its size. */
static size_t pack(const unsigned char *from, size_t size)
{
	struct perfev_bytes in = {from, size};
	const char *cause;
	size_t used = 0, got;
	int r;

	do {
		r = codec_compress(codec, &in, true, packed + used, ROOM - used, &got, &cause);
		used += got;
	} while (r > 0);
	assert_int_equal(r, 0);
	return used;
}

static void put(const void *data, size_t size)
{
	assert_true(file_size + size <= ROOM);
	memcpy(file + file_size, data, size);
	file_size += size;
}

static void number(uint64_t value, unsigned width)
{
	unsigned char bytes[8];
	unsigned i;

	for (i = 0; i < width; i++)
		bytes[i] = (unsigned char)(value >> 8 * (big ? width - 1 - i : i));
	put(bytes, width);
}

static void header(uint32_t type, size_t size)
{
	number(type, 4);
	number(0, 2);
	number(size & 0xffff, 2);
}

static void begin_stream(void)
{
	file_size = 0;
	put(big ? "2ELIFREP" : "PERFILE2", 8);
	number(16, 8);
}

static void put_compressed(size_t size)
{
	header(PERFEV_RECORD_COMPRESSED, 8 + size);
	put(packed, size);
}

static void put_round(void)
{
	header(PERFEV_RECORD_FINISHED_ROUND, 8);
}

/* Records of the kernel, with bytes that do not get smaller; their sizes differ. Returns how many there are. */
static size_t make_plain(size_t size, size_t *ret)
{
	static uint64_t seed = 99;
	size_t at = 0, count = 0;

	while (at < size) {
		size_t n = 64 + random_below(&seed, 50) * 8, i;
		unsigned char *to = plain + at;

		for (i = 8; i < n; i++)
			to[i] = (unsigned char)next_random(&seed);
		memset(to, 0, 8);
		to[big ? 3 : 0] = PERF_RECORD_SAMPLE;
		to[big ? 7 : 6] = (unsigned char)n;
		to[big ? 6 : 7] = (unsigned char)(n >> 8);
		at += n;
		count++;
	}
	*ret = at;
	return count;
}

struct found {
	size_t samples, outer, rounds;
	int r;
};

static struct found look(const unsigned char *data, size_t size, bool partial)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = partial};
	struct perfev_bytes bytes = {data, size};
	struct perfev_reader *reader;
	struct perfev_record record;
	struct found found = {0, 0, 0, 0};

	assert_works(perfev_reader_open_memory(&reader, bytes, "it", &opts, &err));
	while ((found.r = perfev_reader_next(reader, &record, &err)) > 0) {
		bool inner = record.flags & PERFEV_RECORD_INNER;

		found.samples += record.type == PERF_RECORD_SAMPLE && inner;
		found.outer += !inner;
		found.rounds += record.type == PERFEV_RECORD_FINISHED_ROUND;
	}
	if (partial && perfev_reader_damage(reader))
		found.r = -EINVAL;
	perfev_reader_close(reader);
	return found;
}

/* Payloads of @step bytes each, wherever that is in a record. */
static void test_split(void **state)
{
	static const size_t steps[] = {1, 3, 100, 8191, 60000};
	size_t size, count, i, at;
	int order;

	(void)state;
	for (order = 0; order < 2; order++)
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			struct found found;

			big = order;
			count = make_plain(steps[i] == 1 ? 500 : 20 * steps[i] + 3000, &size);
			begin_codec();
			begin_stream();
			for (at = 0; at < size; at += steps[i]) {
				put_compressed(pack(plain + at, size - at < steps[i] ? size - at : steps[i]));
				if (at % 7 == 0)
					put_round();
			}
			put_round();
			found = look(file, file_size, false);
			assert_int_equal(found.r, 0);
			assert_int_equal(found.samples, count);
			assert_true(found.rounds > 0);
		}
}

/* Cut anywhere: no more than there was, and the last payload is told. */
static void test_cut(void **state)
{
	size_t size, count = make_plain(2000, &size), at, before = 0;

	(void)state;
	begin_codec();
	begin_stream();
	for (at = 0; at < size; at += 300)
		put_compressed(pack(plain + at, size - at < 300 ? size - at : 300));
	for (at = 16; at < file_size; at++) {
		struct found whole = look(file, at, false), part = look(file, at, true);

		assert_int_equal(whole.r, part.r);
		assert_int_equal(whole.samples, part.samples);
		assert_true(part.samples >= before && part.samples <= count);
		before = part.samples;
	}
}

/* COMPRESSED2, padded, and what follows. */
static void put_compressed2(size_t size, size_t said, bool pads)
{
	header(PERFEV_RECORD_COMPRESSED2, said);
	number(size, 8);
	put(packed, size);
	while (pads && file_size % 8)
		number(0, 1);
}

static void expect_both(size_t count)
{
	struct found found;

	put_round();
	found = look(file, file_size, false);
	assert_int_equal(found.r, 0);
	assert_int_equal(found.samples, count);
	assert_int_equal(found.rounds, 1);
	assert_int_equal(found.outer, 2);
}

static void test_compressed2(void **state)
{
	size_t size, count = make_plain(10000, &size), n;

	(void)state;
	begin_codec();
	begin_stream();
	n = pack(plain, size);
	put_compressed2(n, (16 + n + 7) / 8 * 8, true);
	expect_both(count);
}

/* 16 + data rounded up is 65536, which 16 bits have no room for: the size says 0, and there is no padding. */
static void test_size_of_zero(void **state)
{
	size_t size, count, n = 0, tries = 0;

	(void)state;
	do { /* until one comes out that long */
		count = make_plain(64800 + tries * 8 % 800, &size);
		begin_codec();
		n = pack(plain, size);
		assert_in_range(++tries, 0, 20000);
	} while (n < 65513 || n > 65519);
	begin_stream();
	put_compressed2(n, 0, false);
	expect_both(count);
}

/* More than 64 KiB: a first piece, and others behind headers of their own, with numbers in them that mean nothing. */
static void test_several_pieces(void **state)
{
	size_t size, count = make_plain(200000, &size), n, at, total, headers = 0;
	unsigned char *whole = malloc(ROOM);

	(void)state;
	assert_non_null(whole);
	begin_codec();
	n = pack(plain, size);
	assert_true(n > 3 * 65519);
	for (at = 65519; at < n; at += 65519)
		headers++;
	total = 16 + n + headers * 16;
	begin_stream();
	header(PERFEV_RECORD_COMPRESSED2, (total + 7) / 8 * 8);
	number(total - 16, 8);
	put(packed, 65519);
	for (at = 65519; at < n; at += 65519) {
		size_t piece = n - at < 65519 ? n - at : 65519;

		header(PERFEV_RECORD_COMPRESSED2, 16 + piece);
		number(0x5555555555555555, 8);
		put(packed + at, piece);
	}
	expect_both(count);
	free(whole);
}

/* Records that cannot be inside, and what is no stream. */
static void test_impossible(void **state)
{
	static const uint32_t types[] = {PERFEV_RECORD_COMPRESSED, PERFEV_RECORD_COMPRESSED2, PERFEV_RECORD_AUXTRACE,
					 PERFEV_RECORD_HEADER_TRACING_DATA};
	struct found found;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(plain, 0, 64);
		memcpy(plain, &types[i], 4);
		plain[big ? 7 : 6] = 64;
		begin_codec();
		begin_stream();
		put_compressed(pack(plain, 64));
		found = look(file, file_size, false);
		assert_int_equal(found.r, -EINVAL);
		assert_int_equal(err.where, 16);
		assert_says("a record in it that cannot be there");
	}
	begin_stream();
	memset(packed, 0x41, 100);
	put_compressed(100);
	found = look(file, file_size, false);
	assert_int_equal(found.r, -EINVAL);
	assert_says("cannot be expanded");
	memset(plain, 0, 64); /* a size of 0 */
	begin_codec();
	begin_stream();
	put_compressed(pack(plain, 64));
	found = look(file, file_size, false);
	assert_int_equal(found.r, -EINVAL);
	assert_says("an impossible size");
}

/* A last COMPRESSED2 record of less than its 16 bytes, whatever size it says, behind which there is no more memory. */
static void test_short_header(void **state)
{
	struct guard guard;
	size_t said, there;

	(void)state;
	assert_true(guard_open(&guard));
	for (there = 8; there < 16; there++) {
		for (said = 0; said <= 17; said++) {
			struct found found;

			begin_stream();
			header(PERFEV_RECORD_COMPRESSED2, said);
			number(0, (unsigned)(there - 8));
			found = look(guard_put(&guard, file, file_size), file_size, false);
			assert_int_equal(found.r, -EINVAL);
			assert_int_equal(err.where, 16);
			if (said >= 8) {
				char expected[64];

				snprintf(expected, sizeof(expected), "needs %d bytes and %zu remain", said > 16 ? 17 : 16,
					 there);
				assert_says(expected);
			}
			found = look(guard_put(&guard, file, file_size), file_size, true);
			assert_int_equal(found.outer, said < 8); /* what there is of its header */
		}
	}
	guard_close(&guard);
}

/* A few bytes that become 80 MiB of records. */
static void test_bomb(void **state)
{
	struct found found;
	size_t at;

	(void)state;
	memset(plain, 0, BOMB_SIZE);
	for (at = 0; at < BOMB_SIZE; at += 4096) {
		plain[at + (big ? 3 : 0)] = PERF_RECORD_SAMPLE;
		plain[at + (big ? 6 : 7)] = 0x10;
	}
	begin_codec();
	begin_stream();
	at = pack(plain, BOMB_SIZE);
	assert_true(at < 60000);
	put_compressed(at);
	found = look(file, file_size, true);
	assert_int_equal(found.r, -EINVAL);
	assert_in_range(found.samples, 1, (64u << 20) / 4096 + 64);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_split, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
	cmocka_unit_test_setup_teardown(test_compressed2, setup, teardown),
	cmocka_unit_test_setup_teardown(test_size_of_zero, setup, teardown),
	cmocka_unit_test_setup_teardown(test_several_pieces, setup, teardown),
	cmocka_unit_test_setup_teardown(test_impossible, setup, teardown),
	cmocka_unit_test_setup_teardown(test_short_header, setup, teardown),
	cmocka_unit_test_setup_teardown(test_bomb, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
