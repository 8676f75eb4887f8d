/* SPDX-License-Identifier: MIT */
/* Samples of this thread with its registers and stack, on each kernel: the stack is known, so that what is made of a sample can
 * be compared address by address. */
#include "live.h"

#include <perfev/unwind.h>

#include <signal.h>

#define DEPTH	    30
#define STACK_BYTES 16384

static struct perfev_error err;
static volatile unsigned long sink;
static uint64_t noted[DEPTH + 1];
static unsigned noted_count;

#define NOTE() (noted[noted_count++] = (uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

PLAIN static void spin(void)
{
	struct timespec start, now;

	NOTE();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do {
		unsigned long i;

		for (i = 0; i < 200000; i++)
			sink += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 100);
}

static void on_signal(int number)
{
	(void)number;
	burn_ms(100);
}

static bool raises;

PLAIN static int down(int depth)
{
	volatile char room[100];

	room[depth] = 1;
	NOTE();
	if (depth)
		sink += (unsigned long)down(depth - 1);
	else if (raises)
		raise(SIGUSR1);
	else
		spin();
	return room[depth];
}

static struct perfev_event *new_event(void)
{
	struct perfev_event *event = NULL;
	struct perf_event_attr *attr;
	struct utsname kernel;
	enum perfev_arch arch;
	unsigned abi;

	uname(&kernel);
	arch = perfev_arch_of(kernel.machine, &abi); /* the kernel's, not that of this program */
	assert_works(perfev_event_parse(&event, "cpu-clock:u", &err));
	attr = perfev_event_attr(event);
	attr->sample_period = 1000000;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = perfev_reg_mask(arch, abi);
	attr->sample_stack_user = STACK_BYTES;
	attr->exclude_callchain_user = 1;
	return event;
}

static struct perfev_symbols *symbols;
static struct perfev_unwinder *unwinder;

static void feed_mappings(void)
{
	struct perfev_synth *synth = NULL;
	struct perfev_record record;

	assert_works(perfev_symbols_new(&symbols, NULL, &err));
	assert_works(perfev_synth_open(&synth, perfev_on_self(), NULL, NULL, &err));
	while (perfev_synth_next(synth, &record, &err) > 0)
		assert_works(perfev_symbols_feed(symbols, &record, NULL, &err));
	perfev_synth_close(synth);
	assert_works(perfev_unwinder_new(&unwinder, symbols, NULL, &err));
}

/* Whether all noted addresses are in it, one behind the other: it was taken in spin(), or in what that calls. */
static bool is_whole(const struct perfev_unwound *u)
{
	uint32_t first, i;

	for (first = 0; first < u->count && u->frames[first].ip != noted[noted_count - 1]; first++)
		;
	if (u->count - first < noted_count)
		return false;
	for (i = 0; i < noted_count; i++)
		if (u->frames[first + i].ip != noted[noted_count - 1 - i] || u->frames[first + i].flags != PERFEV_UNWOUND_RETURN)
			return false;
	return true;
}

static bool has_signal(const struct perfev_unwound *u)
{
	uint32_t i;

	for (i = 0; i + 1 < u->count; i++)
		if (u->frames[i].flags & PERFEV_UNWOUND_SIGNAL)
			return !(u->frames[i].flags & PERFEV_UNWOUND_RETURN) && !(u->frames[i + 1].flags & PERFEV_UNWOUND_RETURN);
	return false;
}

static void look(const struct perfev_record *record, const struct perfev_layout *layout, unsigned *whole, unsigned *all)
{
	struct perfev_sample sample;
	struct perfev_unwound u;

	if (record->type != PERF_RECORD_SAMPLE)
		return;
	assert_works(perfev_sample_decode(&sample, record, layout, &err));
	assert_works(perfev_unwind_sample(unwinder, &sample, layout, &u, &err));
	*all += 1;
	*whole += is_whole(&u) && has_signal(&u) == raises;
	if (!is_whole(&u)) {
		uint32_t i;

		print_message("%u frames, %s:", u.count, perfev_unwound_end_name((enum perfev_unwound_end)u.end));
		for (i = 0; i < u.count && i < 8; i++)
			print_message(" %llx", (unsigned long long)u.frames[i].ip);
		print_message("\n");
	}
}

static void sample_stacks(void)
{
	struct perfev_event *event;
	struct perfev_sampler *sampler = NULL;
	struct perfev_record record;
	struct perfev_own_tables *tables = NULL;
	unsigned whole = 0, all = 0;
	int r;

	r = perfev_own_tables_new(&tables, &err);
	if (r == -ENOTSUP)
		SKIP("stacks are unwound on x86, arm64 and riscv64");
	perfev_own_tables_free(tables);
	feed_mappings();
	event = new_event();
	r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL, &err);
	if (r < 0)
		SKIP("%s", err.text);
	noted_count = 0;
	assert_works(perfev_sampler_start(sampler, &err));
	down(DEPTH - 1);
	assert_works(perfev_sampler_stop(sampler, &err));
	while (perfev_sampler_wait(sampler, 0, &err) > 0) {
		while (perfev_sampler_next(sampler, &record, &err) > 0)
			look(&record, perfev_sampler_layout(sampler, &record), &whole, &all);
		perfev_sampler_release(sampler);
	}
	perfev_sampler_close(sampler);
	perfev_event_free(event);
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(symbols);
	assert_true(all > 10);
	/* the first and the last may be from before and after */
	if (whole + 2 < all)
		fail_msg("%u of %u stacks are whole", whole, all);
}

static void test_samples(void **state)
{
	(void)state;
	raises = false;
	sample_stacks();
}

/* Through what the kernel put between the handler and the code that it interrupted. */
static void test_samples_in_a_handler(void **state)
{
	(void)state;
	raises = true;
	signal(SIGUSR1, on_signal);
	sample_stacks();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_samples),
	cmocka_unit_test(test_samples_in_a_handler),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
