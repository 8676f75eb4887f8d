/* SPDX-License-Identifier: MIT */
/*
 * Reading a counter without the kernel.
 *
 * The event's page says which counter of the CPU it has now (index - 1), what to add to it (offset), and how
 * many of its bits are real (pmc_width); and how long the event had been enabled and running when the page
 * was written, with the factors that tell from the cycle counter how long ago that was. The kernel makes
 * `lock` odd while it writes, and changes it. As it writes on the CPU that runs the thread, the thread never
 * sees it writing; but it may be moved in the middle of a read, and then everything is read again.
 *
 * Everything is read between the two looks at `lock`, the capabilities too. Index 0 is an event without a
 * counter: its count is the kernel's to tell, as is everything where the times cannot be brought up to now.
 * A counter starts at a negative number, so that its top bit is a sign.
 */
#include "counter.h"
#include "reading.h"

#include "kernel/arch/counters.h"

#include <stdatomic.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define CAP(bit) (UINT64_C(1) << (63 - (bit)))
#else
#define CAP(bit) (UINT64_C(1) << (bit))
#endif
#define CAP_TRUE  CAP(1) /* before 3.12 bits 0 and 1 were something else, and not to be trusted */
#define CAP_RDPMC CAP(2)
#define CAP_TIME  CAP(3)
#define CAP_ZERO  CAP(4)
#define CAP_SHORT CAP(5)
#define CAPS	  (CAP_TRUE | CAP_RDPMC | CAP_TIME | CAP_SHORT)

/* For the CPU, and for compilers, which may move plain loads over a fence. */
#define COMPILER_BARRIER() __asm__ volatile("" : : : "memory")
#define BARRIER()                                           \
	do {                                                \
		COMPILER_BARRIER();                         \
		atomic_thread_fence(memory_order_acquire);  \
		COMPILER_BARRIER();                         \
	} while (0)

/* Read once, whatever the compiler thinks of it. */
static inline uint32_t once(const uint32_t *at)
{
	return *(const volatile uint32_t *)at;
}

static inline uint64_t cycles_now(const struct perf_event_mmap_page *page, bool narrow)
{
	uint64_t before;

	if (!narrow)
		return counters_cycles();
	before = page->time_cycles; /* of a counter of less than 64 bits */
	return before + ((counters_cycles() - before) & page->time_mask);
}

static inline uint64_t counter_value(const struct perf_event_mmap_page *page, uint32_t number)
{
	uint64_t raw = counters_read(number);
	unsigned unreal = (0u - page->pmc_width) & 63u; /* 64 - width, of which 64 is all */

	return (uint64_t)page->offset + (uint64_t)((int64_t)(raw << unreal) >> unreal);
}

/* As most kernels have them, of an event with the perf clock: to be compared in one go; or what is needed. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CAPS_USUAL (CAP_TRUE | CAP_RDPMC | CAP_TIME | CAP_ZERO)
#define CAPS_FIRST UINT64_C(0xff)
#else
#define CAPS_USUAL (CAP_TRUE | CAP_RDPMC | CAP_TIME)
#define CAPS_FIRST CAPS
#endif

/* Which pages a read takes. */
enum kind { USUAL, WIDE, NARROW };

static inline bool has_caps(uint64_t have, enum kind kind)
{
	if (kind == USUAL)
		return (have & CAPS_FIRST) == CAPS_USUAL;
	return (have & CAPS) == (CAP_TRUE | CAP_RDPMC | CAP_TIME | (kind == NARROW ? CAP_SHORT : 0));
}

/* False when the kernel has to be asked. */
static inline bool read_page(const struct perf_event_mmap_page *page, struct perfev_reading *ret, enum kind kind)
{
	uint64_t enabled, running;
	uint32_t number, before;

	do {
		COMPILER_BARRIER(); /* or what the loop ended with would be taken for what it begins with */
		before = page->lock & ~1u;
		BARRIER();
		if (!has_caps(page->capabilities, kind) ||
		    __builtin_sub_overflow(once(&page->index), 1u, &number))
			return false;
		ret->count = counter_value(page, number);
		running = page->time_offset +
			  counters_scale(cycles_now(page, kind == NARROW), page->time_mult, page->time_shift);
		enabled = page->time_enabled + running;
		running += page->time_running;
		ret->enabled_ns = enabled;
		ret->running_ns = running < enabled ? running : enabled;
		BARRIER();
	} while (__builtin_expect(page->lock != before, 0));
	return true;
}

static inline int finish(struct perfev_reading *ret)
{
	ret->lost = ret->id = 0;
	ret->status = PERFEV_COUNTED;
	ret->why = PERFEV_WHY_NONE;
	return 1;
}

/* Not the shortest way. */
__attribute__((noinline)) static int read_otherwise(const struct perfev_counter *counter,
						    struct perfev_reading *ret, struct perfev_error *err)
{
	const void *thread = counter_thread();
	bool bound = counter->bound_thread == thread;

	if (COUNTERS_READABLE && (bound || counter->thread == thread) &&
	    (read_page(counter->page, ret, WIDE) || read_page(counter->page, ret, NARROW))) {
		if (bound)
			reading_bind(ret);
		return finish(ret);
	}
	return perfev_counter_read(counter, ret, err);
}

/* A leaf that is called for its speed has no frame of its own; unwinding by tables finds its caller. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("omit-frame-pointer")))
#endif
int perfev_counter_read_fast(const struct perfev_counter *counter, struct perfev_reading *ret,
			     struct perfev_error *err)
{
	const struct counter_paged *paged = (const void *)counter;

	if (COUNTERS_READABLE && counter->thread == counter_thread() && read_page(&paged->page, ret, USUAL))
		return finish(ret);
	return read_otherwise(counter, ret, err);
}
