/* SPDX-License-Identifier: MIT */
/*
 * Commands that read a whole recording allocate tens of megabytes, mostly in pieces that are too small for pages of their own. Each
 * first touch of a page of 4 KiB costs more than a microsecond in a virtual machine, a page of 2 MiB costs 40 times as much for
 * 512 times the memory. So the heap's first megabytes are reserved at once, in large pages, which become resident as they are
 * touched; and nothing of it is given back to be asked for again. A library must not do that; a command may.
 */
#include "cli.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#define PAGE  ((uintptr_t)2 << 20)
#define FIRST ((uintptr_t)16 << 10) /* what is touched before there are large pages stands in front of them */
#define ROOM  (64 << 20) /* beyond that it grows as ever */
#define APART (1 << 20)	 /* larger pieces have memory of their own */

void heap_in_large_pages(void)
{
#if defined(__GLIBC__) && defined(M_TOP_PAD) && defined(MADV_HUGEPAGE)
	uintptr_t end = (uintptr_t)sbrk(0), begin = (end + FIRST + PAGE - 1) & ~(PAGE - 1);
	void *volatile first; /* or the compiler leaves it out */

	if (sbrk((intptr_t)(begin - FIRST - end)) == (void *)-1)
		return;
	mallopt(M_MMAP_THRESHOLD, APART);
	mallopt(M_TRIM_THRESHOLD, 2 * ROOM);
	mallopt(M_ARENA_MAX, 1); /* also for threads, which allocate seldom */
	mallopt(M_TOP_PAD, ROOM);
	first = malloc(1); /* the heap begins, with that and ROOM */
	free(first);
	mallopt(M_TOP_PAD, (int)PAGE);
	madvise((void *)begin, ROOM - PAGE, MADV_HUGEPAGE); /* where it is no heap, or there are no such pages, nothing happens */
#endif
}
