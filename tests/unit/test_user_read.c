/* SPDX-License-Identifier: MIT */
/*
 * Reads without the kernel, on a page that this test writes and a CPU that it makes up: the protocol, one rule at
 * a time; and a thread that changes everything while another reads a million times.
 */
#include "instructions.h"

#include "capture/user_read.c"

#include "test.h"

#include "fake/kernel.h"

#include <perfev/clock.h>

#include <pthread.h>
#include <sched.h>

/* What the library without these instructions thinks, which tells the reasons. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#define READABLE_HERE 1
#else
#define READABLE_HERE 0
#endif

static struct perfev_error err;
static struct perfev_event *event;
static struct perfev_counter *counter;
static struct perf_event_mmap_page *page;

/* ---- the CPU --------------------------------------------------------------------------------------------- */

static uint64_t raw_counts[8]; /* of counters 0 to 7; every other number has the last */
static uint64_t cycles;
static uint32_t last_number;
static unsigned busy; /* each 1024th read takes its time, and lets others go on */

static uint64_t counters_read(uint32_t number)
{
	last_number = number;
	if (busy && ++busy % 1024 == 0)
		sched_yield();
	return raw_counts[number < 8 ? number : 7];
}

static uint64_t counters_cycles(void)
{
	return cycles;
}

/* ---- the page -------------------------------------------------------------------------------------------- */

static void open_as(const char *text, const struct perfev_counter_opts *opts)
{
	fake_reset();
	assert_works(perfev_event_parse(&event, text, &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), opts, &err));
	page = fake.events[0].page;
	fake.events[0].count = 42;
	fake.events[0].enabled_ns = fake.events[0].running_ns = 10;
}

static void done(void)
{
	perfev_counter_close(counter);
	perfev_event_free(event);
	assert_int_equal(fake_left(), 0);
}

/* An event on counter @index - 1, whose times were 1000 and 900 when the page was written, at cycle 0. */
static void open_page(uint32_t index, int64_t offset, uint16_t width)
{
	const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};

	open_as("cycles", &opts);
	assert_non_null(page);
	page->cap_bit0_is_deprecated = page->cap_user_rdpmc = page->cap_user_time = page->cap_user_time_zero = 1;
	page->index = index;
	page->offset = offset;
	page->pmc_width = width;
	page->time_enabled = 1000;
	page->time_running = 900;
	page->time_mult = 1;
	cycles = 0;
}

/* What is read, and whether without the kernel. */
static int read_one(struct perfev_reading *ret)
{
	int r;

	memset(ret, 0xa5, sizeof(*ret));
	r = perfev_counter_read_fast(counter, ret, &err);
	if (r < 0)
		fail_msg("%s", err.text);
	if (r == 0)
		assert_int_equal(ret->count, 42);
	return r;
}

static void assert_kernel(void)
{
	struct perfev_reading r;

	assert_int_equal(read_one(&r), 0);
}

static void assert_count(uint64_t wanted)
{
	struct perfev_reading r;

	assert_int_equal(read_one(&r), 1);
	if (r.count != wanted)
		fail_msg("0x%llx, and not 0x%llx", (unsigned long long)r.count, (unsigned long long)wanted);
}

static void test_values(void **state)
{
	static const struct {
		uint64_t raw;
		int64_t offset;
		uint16_t width;
		uint64_t wanted;
	} rows[] = {
		{5, 0, 48, 5},
		{5, 100, 48, 105},
		{5, -5, 48, 0},
		{0x7fffffffffff, 0, 48, 0x7fffffffffff},
		{0x800000000000, INT64_C(0x800000000000), 48, 0}, /* it starts at a negative number */
		{0x80000000000f, INT64_C(0x800000000000), 48, 15},
		{0xffffffffffff, 10, 48, 9},
		{0xabcd000000000005, 0, 48, 5}, /* what is above the width is nothing */
		{0xffffffff, 0, 32, UINT64_MAX},
		{0x7fffffff, 0, 32, 0x7fffffff},
		{0x80000000, INT64_C(0x80000000), 32, 0},
		{0xffffffffff, 3, 40, 2},
		{UINT64_MAX, 0, 64, UINT64_MAX},
		{1, INT64_MAX, 64, UINT64_C(1) << 63},
		{UINT64_C(1) << 63, INT64_MIN, 64, 0},
		{3, 0, 2, UINT64_MAX},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_page(3, rows[i].offset, rows[i].width);
		raw_counts[2] = rows[i].raw;
		assert_count(rows[i].wanted);
		assert_int_equal(last_number, 2);
		done();
	}
}

/* The number goes to the instruction as the kernel gives it, less one. */
static void test_numbers(void **state)
{
	static const uint32_t numbers[] = {0, 1, 31, 0x20000000, 0x40000000, 0x40000003, 0xfffffffe};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		open_page(numbers[i] + 1, 0, 48);
		raw_counts[0] = raw_counts[1] = raw_counts[7] = 77;
		assert_count(77);
		assert_int_equal(last_number, numbers[i]);
		done();
	}
}

static void test_when_the_kernel_is_asked(void **state)
{
	(void)state;
	open_page(1, 0, 48);
	raw_counts[0] = 7;
	assert_count(7);
	page->index = 0; /* it has no counter now */
	assert_kernel();
	page->index = 1;
	page->cap_user_rdpmc = 0;
	assert_kernel();
	page->cap_user_rdpmc = 1;
	page->cap_user_time = 0; /* the times would be old */
	assert_kernel();
	page->cap_user_time = 1;
	page->cap_bit0_is_deprecated = 0; /* before 3.12 */
	assert_kernel();
	page->cap_bit0_is_deprecated = 1;
	page->cap_user_time_zero = 0; /* of no importance: records have another clock */
	assert_count(7);
	page->cap_bit0 = 1;
	assert_count(7);
	page->cap_user_time_zero = 1;
	assert_count(7);
	page->capabilities |= CAP(6) | CAP(20); /* newer ones */
	assert_count(7);
	done();
	open_as("cycles", NULL); /* was not asked for */
	assert_null(page);
	assert_kernel();
	done();
}

static void *read_elsewhere(void *ret)
{
	*(int *)ret = perfev_counter_read_fast(counter, &(struct perfev_reading){0}, NULL);
	return NULL;
}

/* Another thread's CPU has other counters. */
static void test_other_threads(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	pthread_t thread;
	int r = -1;

	(void)state;
	open_page(1, 0, 48);
	raw_counts[0] = 7;
	assert_int_equal(pthread_create(&thread, NULL, read_elsewhere, &r), 0);
	pthread_join(thread, NULL);
	assert_int_equal(r, 0);
	assert_count(7);
	done();

	fake_reset(); /* this thread by its number, another, a CPU */
	fake.pid = 500;
	fake.tid = 501;
	assert_works(perfev_event_parse(&event, "cycles", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_task(501), &opts, &err));
	assert_non_null(counter->thread);
	perfev_counter_close(counter);
	assert_works(perfev_counter_open(&counter, event, perfev_on_task(500), &opts, &err));
	assert_null(counter->thread);
	perfev_counter_close(counter);
	assert_works(perfev_counter_open(&counter, event, perfev_on_cpu(0), &opts, &err));
	assert_null(counter->thread);
	assert_false(perfev_counter_can_read_fast(counter, &err));
	assert_says(READABLE_HERE ? "it counts another thread than the caller" : "lets no program read counters");
	done();
}

static void test_times(void **state)
{
	struct perfev_reading r;

	(void)state;
	open_page(1, 0, 48);
	page->time_mult = 3;
	page->time_shift = 1;
	page->time_offset = (uint64_t)-150;
	cycles = 201; /* 301 ns, of which 150 had passed */
	assert_int_equal(read_one(&r), 1);
	assert_int_equal(r.enabled_ns, 1151);
	assert_int_equal(r.running_ns, 1051);
	assert_int_equal(r.status, PERFEV_COUNTED);
	assert_int_equal(r.why, PERFEV_WHY_NONE);
	assert_int_equal(r.lost, 0);
	assert_int_equal(r.id, 0);
	page->time_running = 5000; /* never above the other */
	assert_int_equal(read_one(&r), 1);
	assert_int_equal(r.running_ns, 1151);
	page->time_running = 900;

	page->cap_user_time_short = 1; /* 40 bits of it, which went around */
	page->time_mask = (UINT64_C(1) << 40) - 1;
	page->time_cycles = (UINT64_C(5) << 40) - 10;
	page->time_mult = 2;
	page->time_shift = 0;
	page->time_offset = 0 - 2 * ((UINT64_C(5) << 40) - 10);
	cycles = UINT64_C(0xff) << 56 | 20;
	assert_int_equal(read_one(&r), 1);
	assert_int_equal(r.enabled_ns, 1060);
	assert_int_equal(r.running_ns, 960);
	done();
}

/* The real instructions' arithmetic, with a product that has more than 64 bits. */
static void test_scale(void **state)
{
	struct perfev_clock clock = {.mask = UINT64_MAX, .mult = 0xfffffff1u, .shift = 31};

	(void)state;
	assert_true(perfev_clock_time(&clock, UINT64_C(0x123456789abcdef)) ==
		    counters_scale(UINT64_C(0x123456789abcdef), clock.mult, 31));
	assert_true(perfev_clock_time(&clock, UINT64_C(1) << 31) == clock.mult);
	clock.shift = 0;
	assert_true(perfev_clock_time(&clock, 3) == UINT64_C(3) * clock.mult);
}

/* ---- why not --------------------------------------------------------------------------------------------- */

static void cannot(const char *why)
{
	assert_false(perfev_counter_can_read_fast(counter, &err));
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in: %s", why, err.text);
	assert_false(perfev_counter_can_read_fast(counter, NULL));
}

static int cannot_map(struct fake_event *e, size_t size)
{
	(void)e;
	(void)size;
	return -EPERM;
}

static void test_reasons(void **state)
{
	const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};

	(void)state;
	open_as("page-faults", &opts);
	cannot("it is counted by the kernel itself");
	done();
#if READABLE_HERE
	open_as("cycles", NULL);
	cannot("its page was not asked for; open it with perfev_counter_opts.user_read");
	done();
	open_as("cycles/inherit/", &opts);
	cannot("it is inherited, and only the kernel can add what children count");
	done();
	open_page(1, 0, 48);
	assert_true(perfev_counter_can_read_fast(counter, &err));
	page->index = 0;
	cannot("it has no counter now");
	page->cap_user_time = 0;
	cannot("is not its clock");
	page->cap_user_rdpmc = 0;
	cannot("no counter that programs may read");
	fake_file("/sys/bus/event_source/devices/cpu/rdpmc", "0\n");
	cannot("/sys/bus/event_source/devices/cpu/rdpmc is 0, which closes counters to programs; write 1 to it");
	fake_file("/proc/sys/kernel/perf_user_access", "1\n");
	cannot("no counter that programs may read");
	done();
	fake_reset();
	fake.on_map = cannot_map;
	assert_works(perfev_event_parse(&event, "cycles", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), &opts, &err));
	cannot("the memory that may be locked is used up");
	assert_int_equal(perfev_counter_read_fast(counter, &(struct perfev_reading){0}, &err), 0);
	done();
#endif
}

/* ---- the clock ------------------------------------------------------------------------------------------- */

static void test_clock(void **state)
{
	struct perfev_clock clock;
	uint64_t at, time;

	(void)state;
	open_page(1, 0, 48);
	page->cap_user_time_zero = 0;
	assert_fails(perfev_counter_clock(counter, &clock, &err), EOPNOTSUPP);
	assert_says("the kernel gives no conversion");
	page->cap_user_time_zero = 1;
	page->time_mult = 0x55555555; /* a counter of 3 GHz, nearly */
	page->time_shift = 32;
	page->time_zero = 1000000;
	assert_works(perfev_counter_clock(counter, &clock, &err));
	assert_int_equal(perfev_clock_time(&clock, 0), 1000000);
	assert_int_equal(perfev_clock_time(&clock, 3000), 1000999);
	for (at = 1; at < UINT64_C(1) << 60; at = at * 3 + 1) {
		time = perfev_clock_time(&clock, at);
		/* ns are longer than cycles: there and back it is the same ns, or the one before */
		if (time - perfev_clock_time(&clock, perfev_clock_cycles(&clock, time)) > 1)
			fail_msg("at %llu", (unsigned long long)at);
	}
	clock.mult = 40u << 24; /* one of 25 MHz: cycles are longer */
	clock.shift = 24;
	for (at = 1; at < UINT64_C(1) << 50; at = at * 3 + 1)
		assert_true(perfev_clock_cycles(&clock, perfev_clock_time(&clock, at)) == at);
	clock.mult = 0;
	assert_int_equal(perfev_clock_cycles(&clock, 5), 0);

	page->cap_user_time_short = 1;
	page->time_mask = 0xffffff;
	page->time_cycles = 0x5000010;
	page->time_mult = 1;
	page->time_shift = 0;
	assert_works(perfev_counter_clock(counter, &clock, &err));
	assert_int_equal(perfev_clock_time(&clock, 0x20), 1000000 + 0x5000020);
	assert_int_equal(perfev_clock_time(&clock, 0x08), 1000000 + 0x6000008);

	page->lock = 1; /* never done with writing: not for ever */
	assert_fails(perfev_counter_clock(counter, &clock, &err), EOPNOTSUPP);
	done();
	open_as("cycles", NULL);
	assert_fails(perfev_counter_clock(counter, &clock, &err), EOPNOTSUPP);
	assert_says("was not asked for");
	done();
}

static void test_clock_of_another_kind(void **state)
{
	const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_clock clock;

	(void)state;
	fake_reset();
	assert_works(perfev_event_parse(&event, "cycles", &err));
	perfev_event_attr(event)->use_clockid = 1;
	perfev_event_attr(event)->clockid = 1;
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), &opts, &err));
	fake.events[0].page->cap_bit0_is_deprecated = fake.events[0].page->cap_user_time_zero = 1;
	fake.events[0].page->time_mult = 1;
	assert_fails(perfev_counter_clock(counter, &clock, &err), EOPNOTSUPP);
	assert_says("of clock 1");
	done();
}

/* ---- a page that changes all the time ---------------------------------------------------------------------- */

#define READS 1000000

static atomic_bool ended;
static atomic_ulong states; /* written */

static uint64_t mixed(uint64_t n)
{
	n = (n ^ n >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return n ^ n >> 29;
}

/* State n of the page: enabled is 8 n, running up to 4 less, the count something that n says; which counter it
 * is on, and where the clock stands, changes each time. */
static void make_state(struct perf_event_mmap_page *p, uint64_t n)
{
	static const uint16_t widths[] = {64, 48, 40, 32};
	uint64_t dice = mixed(n);
	uint32_t index = (uint32_t)(dice % 8); /* 0: none */
	unsigned width = widths[dice >> 8 & 3], unreal = 64 - width;
	struct perfev_clock clock = {.mask = UINT64_MAX};
	bool narrow = dice >> 10 & 1;

	clock.mult = (uint32_t)(dice >> 16 | 1);
	clock.shift = dice >> 11 & 31;
	if (narrow) {
		clock.mask = (UINT64_C(1) << 40) - 1;
		clock.cycles = dice >> 4;
	}
	p->capabilities = 0;
	p->cap_bit0_is_deprecated = 1;
	p->cap_user_rdpmc = (dice >> 48 & 7) != 0;
	p->cap_user_time = (dice >> 51 & 7) != 0;
	p->cap_user_time_zero = dice >> 54 & 1;
	p->cap_user_time_short = narrow;
	p->index = index;
	p->pmc_width = (uint16_t)width;
	if (index)
		p->offset = (int64_t)(mixed(n + 1) -
				      (uint64_t)((int64_t)(raw_counts[index - 1] << unreal) >> unreal));
	p->time_mult = clock.mult;
	p->time_shift = (uint16_t)clock.shift;
	p->time_cycles = clock.cycles;
	p->time_mask = clock.mask;
	p->time_offset = dice;
	p->time_enabled = 8 * n - dice - perfev_clock_time(&clock, cycles);
	p->time_running = p->time_enabled - n % 5;
}

/* In another order than it is read. */
static void copy_state(const struct perf_event_mmap_page *from)
{
	volatile struct perf_event_mmap_page *p = page;

	p->time_running = from->time_running;
	p->offset = from->offset;
	p->time_mask = from->time_mask;
	p->index = from->index;
	p->time_shift = from->time_shift;
	p->time_enabled = from->time_enabled;
	p->pmc_width = from->pmc_width;
	p->time_offset = from->time_offset;
	p->capabilities = from->capabilities;
	p->time_cycles = from->time_cycles;
	p->time_mult = from->time_mult;
}

static void *write_states(void *unused)
{
	volatile struct perf_event_mmap_page *p = page;
	static struct perf_event_mmap_page next;
	uint64_t n = 1;
	volatile int i;

	(void)unused;
	while (!atomic_load(&ended)) {
		make_state(&next, ++n);
		p->lock++;
		atomic_thread_fence(memory_order_seq_cst);
		copy_state(&next);
		atomic_thread_fence(memory_order_seq_cst);
		p->lock++;
		atomic_store(&states, n);
		/* now and then long enough for the slowest reader */
		for (i = 0; i < (int)(n % 16 ? n % 100 : 10000); i++)
			;
	}
	return NULL;
}

static void check_state(const struct perfev_reading *r, uint64_t *before)
{
	uint64_t n = r->enabled_ns / 8;

	if (r->enabled_ns % 8 || n < *before || r->running_ns != r->enabled_ns - n % 5 ||
	    r->count != mixed(n + 1))
		fail_msg("state %llu: count 0x%llx, enabled %llu, running %llu", (unsigned long long)n,
			 (unsigned long long)r->count, (unsigned long long)r->enabled_ns,
			 (unsigned long long)r->running_ns);
	*before = n;
}

static void test_a_million_reads(void **state)
{
	uint64_t before = 0;
	unsigned long first;
	long ways[2] = {0, 0};
	struct perfev_reading r;
	pthread_t writer;
	int i;

	(void)state;
	open_page(1, 0, 48);
	for (i = 0; i < 8; i++)
		raw_counts[i] = mixed((uint64_t)i + 1);
	cycles = UINT64_C(0x3a94c5d6e7f8);
	busy = 1;
	atomic_store(&ended, false);
	assert_int_equal(pthread_create(&writer, NULL, write_states, NULL), 0);
	while ((first = atomic_load(&states)) < 100)
		sched_yield();
	while (ways[1] < READS) {
		int way = read_one(&r);

		ways[way]++;
		if (way)
			check_state(&r, &before);
	}
	atomic_store(&ended, true);
	pthread_join(writer, NULL);
	busy = 0;
	assert_true(ways[0] > READS / 100); /* both ways were taken, */
	assert_true(atomic_load(&states) > first + 1000);	      /* and there was much to be read wrong */
	done();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_values),
	cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_when_the_kernel_is_asked),
	cmocka_unit_test(test_other_threads),
	cmocka_unit_test(test_times),
	cmocka_unit_test(test_scale),
	cmocka_unit_test(test_reasons),
	cmocka_unit_test(test_clock),
	cmocka_unit_test(test_clock_of_another_kind),
	cmocka_unit_test(test_a_million_reads),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
