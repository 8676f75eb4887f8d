/* SPDX-License-Identifier: MIT */
/*
 * A read without the kernel, on a page that is made up, with the cycle counter in place of the event's: against
 * these two instructions alone. With the name of one of the two and a number it only does that as often, for
 * bench/instructions.
 */
#define counters_read counters_read_really
#include "kernel/arch/counters.h"
#undef counters_read

static inline uint64_t counters_read(uint32_t number)
{
	__asm__ volatile("" : : "c"(number)); /* where rdpmc would have it */
	return counters_cycles();
}

#include "capture/user_read.c"

#include "bench.h"

#include <string.h>

__attribute__((noinline)) static void bare_instructions(uint64_t *ret)
{
	ret[0] = counters_read(1);
	ret[1] = counters_cycles();
}

static void read_page_often(void *counter, int count)
{
	struct perfev_reading reading;

	while (count--)
		if (perfev_counter_read_fast(counter, &reading, NULL) != 1)
			abort();
}

static void read_bare(void *counter, int count)
{
	uint64_t words[2];

	(void)counter;
	while (count--)
		bare_instructions(words);
}

int main(int argc, char **argv)
{
	static struct counter_paged paged;
	struct perfev_counter *counter = &paged.counter;

	paged.page.cap_bit0_is_deprecated = paged.page.cap_user_rdpmc = paged.page.cap_user_time = paged.page.cap_user_time_zero = 1;
	paged.page.index = 2;
	paged.page.pmc_width = 48;
	paged.page.time_mult = 0x55555555;
	paged.page.time_shift = 32;
	paged.page.time_enabled = paged.page.time_running = 1000;
	counter->page = &paged.page;
	counter->thread = counter_thread();
	if (argc > 2 && !strcmp(argv[1], "perfev_counter_read_fast"))
		read_page_often(counter, atoi(argv[2]));
	else if (argc > 2)
		read_bare(counter, atoi(argv[2]));
	else
		bench_pair("perfev_counter_read_fast", "its two instructions", read_page_often, read_bare, counter,
			   20000);
	return 0;
}
