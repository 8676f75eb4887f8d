/* SPDX-License-Identifier: MIT */
/*
 * Memory of megabytes that will be used from end to end. The first touch of each page costs a microsecond or more, as much as
 * filling it, so whole pages of 2 MiB are asked for, and only as many as fit: no more becomes resident than is used.
 */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* large_alloc() - as malloc(3), to be freed by free(3); realloc(3) also takes it */
static inline void *large_alloc(size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
	const size_t page = (size_t)2 << 20;
	void *at;

	if (size >= page && size <= SIZE_MAX - page) {
		at = aligned_alloc(page, (size + page - 1) & ~(page - 1));
		if (at)
			madvise(at, size & ~(page - 1), MADV_HUGEPAGE); /* where there are none, smaller ones do */
		return at;
	}
#endif
	return malloc(size);
}

/* large_zeroed() - the same, all zeros, for tables that are looked at here and there: they also need fewer translations */
static inline void *large_zeroed(size_t count, size_t item)
{
	void *at;

	if (count > SIZE_MAX / item || count * item < (size_t)2 << 20)
		return calloc(count, item);
	at = large_alloc(count * item);
	if (at)
		memset(at, 0, count * item);
	return at;
}

#endif
