/* SPDX-License-Identifier: MIT */
/* Stacks by several threads: the same frames, names of threads and order as when each address is asked for at once; in
 * processes that map, fork and exec all the time; and what ends them. */
#include "feeding.h"

#include "symbols/symbols_base.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIDS	20
#define SAMPLES 6000
#define DEPTH	12

static struct perfev_layout *layout;
static FILE *out; /* a line for each sample, */
static char *text; /* in memory */
static size_t text_size;
static uint64_t taken;

/* ---- what was asked and what came ---------------------------------------------------------------------------------- */

static void begin_text(void)
{
	if (out)
		fclose(out);
	free(text);
	out = open_memstream(&text, &text_size);
	assert_non_null(out);
}

static void put_frame(const struct perfev_frame *frame)
{
	fprintf(out, " %s@%s:%llx:%x", frame->symbol ? frame->symbol : "-", strrchr(frame->module, '/') ? strrchr(frame->module, '/') : frame->module,
		 (unsigned long long)frame->address, frame->flags);
}

/* As it is now, one address after the other. */
static void ask_now(int32_t pid, const uint64_t *chain, uint32_t count, uint64_t cookie)
{
	struct perfev_place place = {0, pid, USER};
	struct perfev_frame frames[8], frame;
	uint32_t i;
	int n, k;

	fprintf(out, "%llu %s", (unsigned long long)cookie, perfev_symbols_comm(symbols, pid, pid));
	for (i = 0; i < count; i++) {
		if (chain[i] == PERF_CONTEXT_KERNEL || chain[i] == PERF_CONTEXT_USER) {
			place.cpumode = chain[i] == PERF_CONTEXT_KERNEL ? KERNEL : USER;
			continue;
		}
		place.ip = chain[i] - (i > 0 && chain[i - 1] < PERF_CONTEXT_MAX);
		n = perfev_symbols_find(symbols, &place, frames, 8, &err);
		assert_true(n >= 1);
		for (k = 0; k < n; k++) {
			assert_true(perfev_symbols_frame(symbols, frames[k].key, &frame));
			put_frame(&frame);
		}
	}
	fprintf(out, "\n");
}

static int take(void *context, const struct perfev_stack *stack, struct perfev_error *e)
{
	struct perfev_frame frame;
	uint32_t i;

	(void)context;
	(void)e;
	fprintf(out, "%llu %s", (unsigned long long)stack->cookie, stack->comm);
	for (i = 0; i < stack->count; i++) {
		if (!perfev_symbols_frame(symbols, stack->keys[i], &frame))
			return -EINVAL;
		put_frame(&frame);
	}
	fprintf(out, "\n");
	taken++;
	return stack->sample->ip && stack->layout == layout ? 0 : -EINVAL;
}

/* ---- records --------------------------------------------------------------------------------------------------------- */

static void push_sample(int32_t pid, const uint64_t *chain, uint32_t count, uint64_t cookie)
{
	bool kernel = count > 1 && chain[0] == PERF_CONTEXT_KERNEL;
	size_t at = begin_record(&bytes, PERF_RECORD_SAMPLE, kernel ? KERNEL : USER);
	struct perfev_record record;
	uint32_t i;

	put_u64(&bytes, chain[1]);
	put_u32(&bytes, (uint32_t)pid);
	put_u32(&bytes, (uint32_t)pid);
	put_u64(&bytes, count);
	for (i = 0; i < count; i++)
		put_u64(&bytes, chain[i]);
	end_record(&bytes, at);
	assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes.data + at, bytes.size - at}, 0, &err));
	if (stacks) {
		assert_works(perfev_stacks_push(stacks, &record, layout, cookie, &err));
	} else {
		assert_works(perfev_symbols_feed(symbols, &record, layout, &err));
		ask_now(pid, chain, count, cookie);
	}
	memset(bytes.data, 0x5a, bytes.size); /* nobody may look at it any more */
	bytes.size = 0;
}

/* Places in what the process has mapped, and beside it. */
static uint64_t some_place(uint64_t *seed, const uint64_t *bases, int32_t pid)
{
	size_t map = random_below(seed, (uint32_t)map_count);
	uint64_t span = maps[map].end - maps[map].start;

	return bases[pid] + maps[map].start + next_random(seed) % (span + span / 8);
}

static uint32_t make_chain(uint64_t *seed, const uint64_t *bases, int32_t pid, uint64_t *chain)
{
	uint32_t n = 0, depth;

	if (!random_below(seed, 4)) {
		chain[n++] = PERF_CONTEXT_KERNEL;
		for (depth = 1 + random_below(seed, 3); depth; depth--)
			chain[n++] = UINT64_C(0xffffffff81000000) + next_random(seed) % 0x4000;
	}
	chain[n++] = PERF_CONTEXT_USER;
	for (depth = 1 + random_below(seed, 5); depth; depth--)
		chain[n++] = some_place(seed, bases, pid);
	return n;
}

static void feed_maps_at(int32_t pid, uint64_t base)
{
	size_t i;

	for (i = 0; i < map_count; i++)
		feed_mmap2(pid, base + maps[i].start, base + maps[i].end, maps[i].offset, maps[i].name, NULL);
}

/* What happens to a process: it runs a program, at another address each time; maps a file over one; has a child. */
static void change_something(uint64_t *seed, uint64_t *bases, int32_t pid)
{
	char name[24];
	int32_t child;

	switch (random_below(seed, 5)) {
	case 0:
		snprintf(name, sizeof(name), "run%u", random_below(seed, 100));
		feed_comm(pid, pid, name, true);
		bases[pid] = (uint64_t)random_below(seed, 64) << 13;
		feed_maps_at(pid, bases[pid]);
		return;
	case 1:
		child = (int32_t)random_below(seed, PIDS);
		if (child != pid) {
			feed_fork(child, child, pid, 0);
			bases[child] = bases[pid];
		}
		return;
	case 2:
		feed_mmap2(pid, bases[pid] + maps[0].start, bases[pid] + maps[0].start + 4096, 0, "/nowhere/other", NULL);
		return;
	case 3:
		feed_ksymbol(UINT64_C(0xffffffff81000000) + random_below(seed, 0x4000), 256, "bpf_prog", (uint16_t)random_below(seed, 2));
		return;
	default:
		feed_comm(pid, pid, "named", false);
	}
}

/* The same each time. */
static void run_everything(void)
{
	uint64_t bases[PIDS] = {0}, chain[DEPTH], seed = 42, cookie;
	int32_t pid;
	uint32_t count;

	begin_text();
	taken = 0;
	for (pid = 0; pid < PIDS; pid++)
		feed_maps_at(pid, 0);
	for (cookie = 0; cookie < SAMPLES; cookie++) {
		pid = (int32_t)random_below(&seed, PIDS);
		if (!random_below(&seed, 8))
			change_something(&seed, bases, pid);
		count = make_chain(&seed, bases, pid, chain);
		push_sample(pid, chain, count, cookie);
	}
}

static void begin(uint32_t jobs)
{
	struct perfev_stacks_opts opts = {.size = sizeof(opts), .jobs = jobs, .take = take};

	assert_works(perfev_stacks_new(&stacks, symbols, &opts, &err));
}

static void end(void)
{
	perfev_stacks_free(stacks);
	stacks = NULL;
}

static void again(void)
{
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .foreign = 1};

	perfev_symbols_free(symbols);
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
}

/* ---- tests ------------------------------------------------------------------------------------------------------------ */

static void test_any_number_of_threads(void **state)
{
	static const uint32_t jobs[] = {0, 1, 2, 3, 8, PERFEV_JOBS_ALL};
	size_t wanted_size, i;
	char *wanted;

	(void)state;
	run_helper("helpernopie");
	again();
	run_everything();
	fflush(out);
	wanted_size = text_size;
	wanted = malloc(wanted_size);
	assert_non_null(wanted);
	memcpy(wanted, text, wanted_size);
	assert_true(wanted_size > 100000);
	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		again();
		begin(jobs[i]);
		run_everything();
		assert_works(perfev_stacks_wait(stacks, &err));
		assert_int_equal(taken, SAMPLES);
		fflush(out);
		assert_int_equal(text_size, wanted_size);
		assert_memory_equal(text, wanted, wanted_size);
		assert_works(perfev_stacks_wait(stacks, &err));
		assert_int_equal(taken, SAMPLES);
		end();
	}
	free(wanted);
}

static bool is_even(const void *context, const struct perfev_sample *sample)
{
	(void)context;
	return sample->pid % 2 == 0;
}

static int take_even(void *context, const struct perfev_stack *stack, struct perfev_error *e)
{
	(void)context;
	(void)e;
	taken++;
	return stack->sample->pid % 2 ? -EINVAL : 0;
}

static void test_wanted(void **state)
{
	struct perfev_stacks_opts opts = {.size = sizeof(opts), .jobs = 2, .wanted = is_even, .take = take_even};

	(void)state;
	run_helper("helpernopie");
	again();
	assert_works(perfev_stacks_new(&stacks, symbols, &opts, &err));
	run_everything();
	assert_works(perfev_stacks_wait(stacks, &err));
	assert_true(taken > SAMPLES / 3 && taken < SAMPLES * 2 / 3);
	end();
}

static int take_some(void *context, const struct perfev_stack *stack, struct perfev_error *e)
{
	(void)stack;
	if (++taken < *(const uint64_t *)context)
		return 0;
	memset(e, 0, sizeof(*e));
	e->code = -EPIPE;
	return -EPIPE;
}

/* Whoever takes them has enough: no more are given, and it is said. */
static void test_enough(void **state)
{
	uint64_t limit = 700, chain[] = {PERF_CONTEXT_USER, 5};
	struct perfev_stacks_opts opts = {.size = sizeof(opts), .jobs = 1, .take = take_some, .context = &limit};
	uint64_t i;

	(void)state;
	for (; opts.jobs <= 3; opts.jobs++) {
		again();
		taken = 0;
		assert_works(perfev_stacks_new(&stacks, symbols, &opts, &err));
		for (i = 0; i < 500; i++)
			push_sample(1, chain, 2, i);
		assert_works(perfev_stacks_wait(stacks, &err));
		for (i = 0; i < 300; i++) /* less than what makes it look */
			push_sample(1, chain, 2, i);
		assert_int_equal(perfev_stacks_wait(stacks, &err), -EPIPE);
		assert_int_equal(err.code, -EPIPE);
		assert_int_equal(taken, limit);
		assert_int_equal(perfev_stacks_wait(stacks, &err), -EPIPE);
		assert_int_equal(taken, limit);
		end();
	}
}

static int count_in_order(void *context, const struct perfev_stack *stack, struct perfev_error *e)
{
	(void)context;
	(void)e;
	return stack->cookie == taken++ ? 0 : -EINVAL;
}

/* However many wait when it is asked for, each is taken, once and in order: nobody sleeps where there is something to do. */
static void test_each_is_taken(void **state)
{
	struct perfev_stacks_opts opts = {.size = sizeof(opts), .take = count_in_order};
	uint64_t chain[] = {PERF_CONTEXT_USER, 5}, pushed, i;
	uint32_t round;

	(void)state;
	for (opts.jobs = 1; opts.jobs <= 8; opts.jobs++) {
		again();
		taken = pushed = 0;
		assert_works(perfev_stacks_new(&stacks, symbols, &opts, &err));
		for (round = 0; round < 60; round++) {
			for (i = 0; i < 256 * round + round % 3; i++)
				push_sample(1, chain, 2, pushed++);
			assert_works(perfev_stacks_wait(stacks, &err));
			assert_int_equal(taken, pushed);
		}
		end();
	}
}

/* A record that is cut: those before it are taken, and then it is an error. */
static void test_damaged(void **state)
{
	uint64_t chain[] = {PERF_CONTEXT_USER, 5};
	struct perfev_record record;
	uint32_t jobs;
	uint64_t i;
	size_t at;

	(void)state;
	for (jobs = 1; jobs <= 2; jobs++) {
		again();
		begin_text();
		taken = 0;
		begin(jobs);
		for (i = 0; i < 600; i++)
			push_sample(1, chain, 2, i);
		at = begin_record(&bytes, PERF_RECORD_SAMPLE, USER);
		put_u64(&bytes, 5);
		put_u64(&bytes, 0);
		put_u64(&bytes, 1000); /* addresses that are not there */
		end_record(&bytes, at);
		assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes.data, bytes.size}, 0, &err));
		assert_int_equal(perfev_stacks_push(stacks, &record, layout, 0, &err), 0); /* it is looked at later */
		bytes.size = 0;
		push_sample(1, chain, 2, i);
		assert_int_equal(perfev_stacks_wait(stacks, &err), -EINVAL);
		assert_int_equal(err.code, -EINVAL);
		assert_true(strlen(err.text) > 10);
		assert_int_equal(taken, 600);
		end();
	}
}

/* While a thread reads the kernel's symbols, here from a pipe where nothing comes yet, much more is pushed than goes on its way
 * otherwise; then all come, in order. */
static void test_symbols_that_take_long(void **state)
{
	uint64_t kernel[] = {PERF_CONTEXT_KERNEL, UINT64_C(0xffffffff81000010)}, user[] = {PERF_CONTEXT_USER, 5};
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .foreign = 1};
	char folder[] = "/tmp/perfev-test-XXXXXX", path[64];
	uint64_t i;
	FILE *pipe;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/kallsyms", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	opts.kallsyms = path;
	perfev_symbols_free(symbols);
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	begin_text();
	taken = 0;
	begin(2);
	alarm(60);
	for (i = 0; i < 1100; i++) /* the second batch starts the thread, which begins with the first one */
		push_sample(1, kernel, 2, i);
	while (!symbols->kernel_loading)
		sched_yield();
	for (; i < 30000; i++)
		push_sample(1, user, 2, i);
	assert_int_equal(taken, 0);
	pipe = fopen(path, "w");
	assert_non_null(pipe);
	fputs("ffffffff81000000 T slow_one\nffffffff81001000 T other\n", pipe);
	fclose(pipe);
	assert_works(perfev_stacks_wait(stacks, &err));
	alarm(0);
	assert_int_equal(taken, 30000);
	fflush(out);
	assert_non_null(strstr(text, "slow_one"));
	end();
	unlink(path);
	rmdir(folder);
}

static void test_refusals(void **state)
{
	struct perfev_stacks_opts opts = {.size = sizeof(opts), .jobs = 257, .take = take};

	(void)state;
	assert_int_equal(perfev_stacks_new(&stacks, symbols, &opts, &err), -EINVAL);
	opts.jobs = 1;
	opts.max_frames = 70000;
	assert_int_equal(perfev_stacks_new(&stacks, symbols, &opts, &err), -EINVAL);
	opts.max_frames = 0;
	opts.take = NULL;
	assert_int_equal(perfev_stacks_new(&stacks, symbols, &opts, &err), -EINVAL);
	assert_null(stacks);
	perfev_stacks_free(NULL);
	begin_text();
	begin(4); /* what was pushed is forgotten */
	push_sample(1, (uint64_t[]){PERF_CONTEXT_USER, 5}, 2, 0);
	end();
}

static int set_up(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN};

	(void)state;
	return perfev_layout_new(&layout, &attr, &err);
}

static int tear_down(void **state)
{
	(void)state;
	perfev_layout_free(layout);
	perfev_symbols_free(symbols);
	fclose(out);
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_number_of_threads),
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_enough),
		cmocka_unit_test(test_each_is_taken),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_symbols_that_take_long),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
