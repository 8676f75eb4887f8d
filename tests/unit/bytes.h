/* SPDX-License-Identifier: MIT */
/* Bytes for tests: an encoder of either byte order that shares nothing with the library, numbers that
 * look random and are the same in every run, and memory whose end cannot be read over. */
#ifndef TESTS_BYTES_H
#define TESTS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#define BYTES_MAX 65536

struct bytes {
	unsigned char data[BYTES_MAX];
	size_t size;
	bool big; /* the order of the bytes, whatever the host's is */
};

static inline void put_number(struct bytes *to, uint64_t value, unsigned width)
{
	unsigned i;

	for (i = 0; i < width; i++)
		to->data[to->size + i] =
			(unsigned char)(value >> 8 * (to->big ? width - 1 - i : i));
	to->size += width;
}

static inline void put_u8(struct bytes *to, uint64_t value)
{
	put_number(to, value, 1);
}

static inline void put_u16(struct bytes *to, uint64_t value)
{
	put_number(to, value, 2);
}

static inline void put_u32(struct bytes *to, uint64_t value)
{
	put_number(to, value, 4);
}

static inline void put_u64(struct bytes *to, uint64_t value)
{
	put_number(to, value, 8);
}

static inline void put_bytes(struct bytes *to, const void *data, size_t size)
{
	if (size)
		memcpy(to->data + to->size, data, size);
	to->size += size;
}

/* A text with its end, and zeros up to a multiple of @step. */
static inline void put_text(struct bytes *to, const char *text, size_t step)
{
	size_t size = strlen(text) + 1, padded = (size + step - 1) / step * step;

	memset(to->data + to->size, 0, padded);
	memcpy(to->data + to->size, text, size);
	to->size += padded;
}

/* A number at a place that was written before. */
static inline void set_number(struct bytes *to, size_t at, uint64_t value, unsigned width)
{
	size_t size = to->size;

	to->size = at;
	put_number(to, value, width);
	to->size = size;
}

static inline size_t begin_record(struct bytes *to, uint32_t type, uint16_t misc)
{
	size_t at = to->size;

	put_u32(to, type);
	put_u16(to, misc);
	put_u16(to, 0);
	return at;
}

static inline void end_record(struct bytes *to, size_t at)
{
	set_number(to, at + 6, to->size - at, 2);
}

static inline bool host_is_big(void)
{
	const uint16_t one = 1;
	unsigned char first;

	memcpy(&first, &one, 1);
	return first == 0;
}

/* xorshift */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A number below @limit. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)((next_random(state) >> 16) % limit);
}

/* Memory that ends at a page that cannot be read: what is put at its end cannot be read over. */
struct guard {
	unsigned char *pages;
	size_t size;
};

#ifdef _WIN32
static inline bool guard_open(struct guard *guard)
{
	DWORD before;

	guard->size = BYTES_MAX + 65536; /* of pages of any size */
	guard->pages = VirtualAlloc(NULL, guard->size + 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
	return guard->pages && VirtualProtect(guard->pages + guard->size, 65536, PAGE_NOACCESS, &before);
}

static inline void guard_close(struct guard *guard)
{
	VirtualFree(guard->pages, 0, MEM_RELEASE);
}
#else
static inline bool guard_open(struct guard *guard)
{
	guard->size = BYTES_MAX + 65536; /* of pages of any size */
	guard->pages = (unsigned char *)mmap(NULL, guard->size + 65536, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return guard->pages != (unsigned char *)MAP_FAILED &&
	       mprotect(guard->pages + guard->size, 65536, PROT_NONE) == 0;
}

static inline void guard_close(struct guard *guard)
{
	munmap(guard->pages, guard->size + 65536);
}
#endif

/* The bytes again, directly before the wall. */
static inline const unsigned char *guard_put(const struct guard *guard, const void *data, size_t size)
{
	unsigned char *at = guard->pages + guard->size - size;

	if (size)
		memcpy(at, data, size);
	return at;
}

#endif
