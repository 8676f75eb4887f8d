/* SPDX-License-Identifier: MIT */
/*
 * The way that a program took, out of Intel PT, against what it really did: a program is stepped, its steps are written as
 * packets, and decoded: the same branches, of the same kinds, in the same order, from and to the same places, with the
 * names of the program's functions. There is no hardware that traces here; the packets are written as the manual says.
 */
#include "feeding.h"
#include "pt_recording.h"

static struct stepped steps;
static bool can_step;

static int code_of_file(void *context, const struct perfev_place *place, void *to, size_t size)
{
	(void)context;
	assert_int_equal(place->pid, steps.pid);
	return perfev_symbols_code(symbols, place, to, size, NULL);
}

static struct perfev_flow *open_flow(const struct pt_stream *stream)
{
	struct perfev_flow_opts opts = {.size = sizeof(opts), .code = code_of_file};
	struct perfev_flow *flow;

	if (stream->times) {
		opts.tsc_ctc_n = STREAM_CTC;
		opts.tsc_ctc_d = 1;
		opts.mtc_period = STREAM_MTC_PERIOD;
		opts.nonturbo_ratio = STREAM_RATIO;
	}
	assert_works(perfev_flow_new(&flow, &opts, &err));
	return flow;
}

static void need_all(void)
{
	struct perfev_flow_opts opts = {.size = sizeof(opts), .code = code_of_file};
	struct perfev_flow *flow;
	int r;

	if (!can_step)
		SKIP("programs can be stepped on x86-64 only, where ptrace(2) is allowed");
	r = perfev_flow_new(&flow, &opts, &err);
	if (r == -EOPNOTSUPP)
		SKIP("%s", err.text);
	assert_int_equal(r, 0);
	perfev_flow_free(flow);
}

/* ---- what was taken, and what is decoded ---------------------------------------------------------------------------- */

static size_t next_taken(size_t at)
{
	while (at < steps.count && !is_taken(&steps, at))
		at++;
	return at;
}

struct seen {
	size_t branches, begins, ends, gaps, types[PERFEV_FLOW_COUNT_], others[PERFEV_FLOW_COUNT_ - PERFEV_FLOW_PSB];
	uint64_t instructions, last_time;
};

/* The next branch of the trace is the next one that was taken, from @at on; returns where it was. */
static size_t expect_branch(const struct perfev_flow_branch *branch, size_t at)
{
	at = next_taken(at);
	if (at >= steps.count || branch->from != steps.steps[at].ip || branch->type != steps.steps[at].type ||
	    (branch->to != steps.steps[at + 1].ip && branch->type != PERFEV_FLOW_SYSCALL))
		fail_msg("step %zu of %zu: %s 0x%llx -> 0x%llx, but it was %s 0x%llx -> 0x%llx", at, steps.count,
			 perfev_flow_type_name(branch->type), (unsigned long long)branch->from, (unsigned long long)branch->to,
			 perfev_flow_type_name(steps.steps[at].type), (unsigned long long)steps.steps[at].ip,
			 (unsigned long long)steps.steps[at + 1].ip);
	assert_int_equal(branch->to == 0, branch->type == PERFEV_FLOW_SYSCALL);
	assert_int_equal((branch->flags & PERFEV_FLOW_ENDS) != 0, branch->type == PERFEV_FLOW_SYSCALL);
	return at;
}

/* All of a trace against the steps from @at on. */
static struct seen expect_steps(struct perfev_flow *flow, size_t at, size_t end)
{
	struct perfev_flow_branch branch;
	struct seen seen = {0};

	perfev_flow_task(flow, steps.pid, steps.pid, 3);
	while (perfev_flow_next(flow, &branch, &err) > 0) {
		assert_int_equal(branch.tid, steps.pid);
		if (branch.type >= PERFEV_FLOW_PSB) {
			seen.others[branch.type - PERFEV_FLOW_PSB]++;
			continue;
		}
		assert_true(branch.time >= seen.last_time);
		seen.last_time = branch.time;
		seen.instructions += branch.instructions;
		seen.types[branch.type]++;
		seen.begins += (branch.flags & PERFEV_FLOW_BEGINS) != 0;
		seen.ends += (branch.flags & PERFEV_FLOW_ENDS) != 0;
		seen.gaps += (branch.flags & PERFEV_FLOW_GAP) != 0;
		if (branch.flags & PERFEV_FLOW_GAP)
			print_message("gap at %llx: %s\n", (unsigned long long)branch.offset, branch.why);
		if (branch.type == PERFEV_FLOW_NONE)
			continue;
		at = expect_branch(&branch, at) + 1;
		seen.branches++;
	}
	assert_true(next_taken(at) >= end);
	return seen;
}

static struct seen decode_all(const struct pt_stream *stream, size_t piece_bytes)
{
	struct perfev_flow *flow = open_flow(stream);
	struct perfev_bytes pieces[4096];
	size_t count = 0, at, size;
	struct seen seen;

	for (at = 0; at < stream->size; at += size) {
		size = stream->size - at < piece_bytes ? stream->size - at : piece_bytes;
		assert_true(count < 4096);
		pieces[count++] = (struct perfev_bytes){stream->data + at, size};
	}
	assert_works(perfev_flow_begin(flow, pieces, count, &err));
	seen = expect_steps(flow, 0, steps.count);
	perfev_flow_free(flow);
	return seen;
}

static size_t taken(void)
{
	size_t i, count = 0;

	for (i = 0; i < steps.count; i++)
		count += is_taken(&steps, i);
	return count;
}

static size_t system_calls(void)
{
	size_t i, count = 0;

	for (i = 0; i < steps.count; i++)
		count += steps.steps[i].type == PERFEV_FLOW_SYSCALL;
	return count;
}

static void test_steps(void **state)
{
	static const struct {
		bool compress, times;
		size_t psb_every, stop_every, piece_bytes;
	} ways[] = {
		{false, false, 0, 0, SIZE_MAX}, {true, false, 0, 0, 1000},     {true, false, 300, 0, 77},
		{false, true, 500, 0, 501},	 {true, true, 123, 41, SIZE_MAX}, {false, false, 7, 5, 1001},
	};
	size_t i;

	(void)state;
	need_all();
	print_message("%zu steps, %zu branches, %zu system calls\n", steps.count, taken(), system_calls());
	assert_true(taken() > 1000 && system_calls() == 3);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct pt_stream stream = {.compress = ways[i].compress, .times = ways[i].times, .psb_every = ways[i].psb_every,
					   .stop_every = ways[i].stop_every};
		struct seen seen;

		stream_all(&stream, &steps);
		seen = decode_all(&stream, ways[i].piece_bytes);
		print_message("%zu bytes, %zu PSBs: %zu branches, %llu instructions, until %llu\n", stream.size, stream.psbs,
			      seen.branches, (unsigned long long)seen.instructions, (unsigned long long)seen.last_time);
		assert_int_equal(seen.branches, taken());
		assert_int_equal(seen.gaps, 0);
		assert_int_equal(seen.begins, 1 + stream.stops);
		assert_int_equal(seen.ends, 1 + stream.stops);
		assert_true(seen.last_time <= stream.now && seen.last_time >= (ways[i].times ? stream.now - 20000 : STREAM_START));
		stream_free(&stream);
	}
}

/* ---- names, and recordings --------------------------------------------------------------------------------------------- */

static const char *name_at(uint64_t ip)
{
	const char *name = find(steps.pid, ip, USER).symbol;

	return name ? name : "?";
}

/* What is called, as far as it is of the program: its functions are few, and what they call is in their text. */
static void test_names(void **state)
{
	/* work() tries each function three times, after pick(0) to pick(8), pick(0), ...; fib(9) is at the end */
	static const char *const first[] = {"work", "compare"};
	struct pt_stream stream = {.compress = true, .psb_every = 1000};
	struct perfev_flow_branch branch;
	size_t calls[6] = {0}, i, at = 0;
	static const char *const names[6] = {"leaf", "twice", "fib", "pick", "compare", "work"};
	struct perfev_flow *flow;
	struct perfev_bytes piece;

	(void)state;
	need_all();
	stream_all(&stream, &steps);
	flow = open_flow(&stream);
	piece = (struct perfev_bytes){stream.data, stream.size};
	assert_works(perfev_flow_begin(flow, &piece, 1, &err));
	perfev_flow_task(flow, steps.pid, steps.pid, 0);
	while (perfev_flow_next(flow, &branch, &err) > 0) {
		const char *name = branch.type == PERFEV_FLOW_CALL ? name_at(branch.to) : "";

		for (i = 0; i < 6; i++)
			if (!strcmp(name, names[i])) {
				calls[i]++;
				if (at < 2 && !strcmp(name, first[at]))
					at++;
			}
	}
	print_message("calls of leaf %zu, twice %zu, fib %zu, pick %zu, compare %zu, work %zu\n", calls[0], calls[1], calls[2],
		      calls[3], calls[4], calls[5]);
	/* pick: leaf 0, 3, 7 twice: (0 1 2 3 4 5 6 7 8 0 1 2); the functions in turn: 0 to 11, 3, 6, 9 to leaf, fib of 2 5 8 11 */
	assert_int_equal(calls[5], 1);
	assert_int_equal(calls[3], 12);
	assert_int_equal(calls[1], 2 + 1 + 4);		     /* case 1 twice, case 5, and four of 12 */
	assert_int_equal(calls[0], 2 + 1 + 2 + 4 + 2 * 7);   /* case 0 twice, 3, 7; four of 12; two of each twice() */
	assert_int_equal(calls[2], 9 + 3 + 15 + 67 + 287 + 109); /* fib(4), fib of 2, 5, 8, 11, 9: 2 fib(n+1) - 1 calls */
	assert_true(calls[4] > 100 && at == 2);
	perfev_flow_free(flow);
	stream_free(&stream);
}

/* From a file: what AUXTRACE_INFO says gives the times; the pieces of AUXTRACE records the trace. */
static void test_recording(void **state)
{
	char path[] = "/tmp/perfev-flow-XXXXXX";
	struct pt_stream stream = {.times = true, .psb_every = 1000};
	struct perfev_flow_opts opts;
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_auxtrace_info info;
	struct perfev_auxtrace trace;
	struct perfev_reader_event_info event;
	struct perfev_bytes pieces[64];
	struct perfev_flow *flow;
	struct seen seen;
	size_t count = 0;
	int fd = mkstemp(path);

	(void)state;
	need_all();
	assert_true(fd >= 0);
	close(fd);
	stream_all(&stream, &steps);
	pt_write(path, &steps, &stream, 1024);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0) {
		if (record.type == PERFEV_RECORD_AUXTRACE_INFO) {
			assert_works(perfev_auxtrace_info_decode(&info, &record, &err));
			assert_true(perfev_reader_event_at(reader, 0, &event));
			assert_works(perfev_flow_setup(&opts, &info, event.attr, "GenuineIntel,6,142,10", &err));
		} else if (record.type == PERFEV_RECORD_AUXTRACE) {
			assert_works(perfev_auxtrace_decode(&trace, &record, &err));
			pieces[count++] = trace.bytes;
		}
	}
	assert_true(count > 3 && count < 64);
	assert_int_equal(opts.mtc_period, STREAM_MTC_PERIOD);
	assert_int_equal(opts.tsc_ctc_n, STREAM_CTC);
	assert_int_equal(opts.nonturbo_ratio, STREAM_RATIO);
	assert_int_equal(opts.family * 10000 + opts.model * 10 + opts.stepping, 6 * 10000 + 142 * 10 + 10);
	opts.code = code_of_file;
	assert_works(perfev_flow_new(&flow, &opts, &err));
	assert_works(perfev_flow_begin(flow, pieces, count, &err));
	seen = expect_steps(flow, 0, steps.count);
	assert_int_equal(seen.branches, taken());
	assert_true(seen.last_time > PT_ZERO + STREAM_START && seen.last_time <= PT_ZERO + stream.now);
	perfev_flow_free(flow);
	perfev_reader_close(reader);
	unlink(path);
	stream_free(&stream);
}

static void test_setup(void **state)
{
	static const uint64_t words[1] = {8};
	struct perfev_auxtrace_info info = {.type = PERFEV_AUXTRACE_INTEL_PT, .numbers = {words, 1, false}};
	struct perfev_flow_opts opts;
	struct perfev_flow *flow;

	(void)state;
	assert_works(perfev_flow_setup(&opts, &info, NULL, "AuthenticAMD,25,1,1", &err));
	assert_int_equal(opts.clock.mult, 0);
	assert_int_equal(opts.family, 0);
	info.type = PERFEV_AUXTRACE_ARM_SPE;
	assert_fails(perfev_flow_setup(&opts, &info, NULL, NULL, &err), EOPNOTSUPP);
	assert_says("arm_spe");
	opts.type = PERFEV_AUXTRACE_INTEL_PT;
	assert_fails(perfev_flow_new(&flow, &opts, &err), EINVAL); /* no code */
	assert_says("opts.code");
	assert_string_equal(perfev_flow_type_name(PERFEV_FLOW_CALL), "call");
	assert_null(perfev_flow_type_name(PERFEV_FLOW_COUNT_));
	perfev_flow_free(NULL);
}

/* ---- what goes wrong ------------------------------------------------------------------------------------------------------ */

/* Branches that are decoded while the trace and the steps are looked at from the end: the last ones have to be there. */
static size_t count_at_end(struct perfev_flow *flow, size_t *gaps, const char *why)
{
	static struct perfev_flow_branch last[STEPS_MAX / 100];
	size_t count = 0, step = steps.count, same = 0;

	perfev_flow_task(flow, steps.pid, steps.pid, 0);
	*gaps = 0;
	while (count < STEPS_MAX / 100 && perfev_flow_next(flow, &last[count], &err) > 0) {
		if (last[count].flags & PERFEV_FLOW_GAP) {
			(*gaps)++;
			if (!strstr(last[count].why, why))
				fail_msg("at 0x%llx: %s", (unsigned long long)last[count].offset, last[count].why);
		}
		count += last[count].type != PERFEV_FLOW_NONE && last[count].type < PERFEV_FLOW_PSB;
	}
	while (count-- > 0) {
		while (step-- > 0 && !is_taken(&steps, step))
			;
		if (step == SIZE_MAX || last[count].from != steps.steps[step].ip)
			break;
		same++;
	}
	return same;
}

/* Damage in the middle: what is behind the next PSB is there again. */
static void test_damage(void **state)
{
	struct pt_stream stream = {.psb_every = 500};
	struct perfev_flow *flow;
	struct perfev_bytes piece;
	size_t gaps, same, at;

	(void)state;
	need_all();
	stream_all(&stream, &steps);
	flow = open_flow(&stream);
	at = stream.size / 2;
	memset(stream.data + at, 0x05, 3); /* no packet */
	piece = (struct perfev_bytes){stream.data, stream.size};
	assert_works(perfev_flow_begin(flow, &piece, 1, &err));
	same = count_at_end(flow, &gaps, "");
	print_message("%zu of %zu branches behind the damage\n", same, taken());
	assert_true(gaps >= 1 && same > taken() / 4);
	perfev_flow_free(flow);
	stream_free(&stream);
}

/* The CPU had no room for packets: the steps between are missing, and that is said. */
static void test_overflow(void **state)
{
	struct pt_stream stream = {.psb_every = 100000};
	struct perfev_flow *flow;
	struct perfev_bytes piece;
	size_t gaps, same;

	(void)state;
	need_all();
	stream.now = STREAM_START;
	stream_psb(&stream, 0);
	stream_ip(&stream, PERFEV_PT_TIP_PGE, steps.steps[0].ip);
	stream_steps(&stream, &steps, 0, 5000);
	stream_simple(&stream, PERFEV_PT_OVF);
	stream.now += 1000 * STREAM_CYCLES;
	stream.last_ip = 0; /* what was before it is not known to a decoder: the whole address */
	stream.return_count = 0;
	stream_ip(&stream, PERFEV_PT_FUP, steps.steps[6000].ip);
	stream_steps(&stream, &steps, 6000, steps.count - 1);
	stream_ip(&stream, PERFEV_PT_FUP, steps.steps[steps.count - 1].ip);
	stream_ip(&stream, PERFEV_PT_TIP_PGD, 0);
	flow = open_flow(&stream);
	piece = (struct perfev_bytes){stream.data, stream.size};
	assert_works(perfev_flow_begin(flow, &piece, 1, &err));
	same = count_at_end(flow, &gaps, "packets were lost");
	print_message("%zu of %zu branches behind the overflow\n", same, taken());
	assert_int_equal(gaps, 1);
	assert_true(same > taken() / 2 && same < taken());
	perfev_flow_free(flow);
	stream_free(&stream);
}

static int no_code(void *context, const struct perfev_place *place, void *to, size_t size)
{
	(void)context;
	(void)place;
	(void)to;
	(void)size;
	return -ENOENT;
}

/* Jumps to itself: no packet is ever needed. */
static int code_for_ever(void *context, const struct perfev_place *place, void *to, size_t size)
{
	(void)context;
	(void)place;
	if (size < 2)
		return 0;
	memcpy(to, "\xeb\xfe", 2);
	return 2;
}

static void test_other_code(void **state)
{
	static const struct {
		perfev_flow_code *code;
		const char *why;
	} ways[] = {{no_code, "the code is not known"}, {code_for_ever, "goes round without end"}};
	struct pt_stream stream = {.psb_every = 10000};
	struct perfev_bytes piece;
	size_t i;

	(void)state;
	need_all();
	stream_all(&stream, &steps);
	piece = (struct perfev_bytes){stream.data, stream.size};
	for (i = 0; i < 2; i++) {
		struct perfev_flow_opts opts = {.size = sizeof(opts), .code = ways[i].code};
		struct perfev_flow_branch branch;
		struct perfev_flow *flow;
		uint64_t gaps = 0;

		assert_works(perfev_flow_new(&flow, &opts, &err));
		assert_works(perfev_flow_begin(flow, &piece, 1, &err));
		while (perfev_flow_next(flow, &branch, &err) > 0) {
			if (!(branch.flags & PERFEV_FLOW_GAP))
				continue;
			assert_non_null(strstr(branch.why, ways[i].why));
			gaps++;
		}
		print_message("%llu gaps\n", (unsigned long long)gaps);
		assert_true(gaps >= stream.psbs && gaps < 5000);
		perfev_flow_free(flow);
	}
	stream_free(&stream);
}

/* Anything at all ends, and says nothing that is not. */
static void test_changed_traces(void **state)
{
	struct pt_stream stream = {.compress = true, .times = true, .psb_every = 200, .stop_every = 333};
	uint64_t random = UINT64_C(0x853c49e6748fea9b), branches = 0, gaps = 0;
	struct perfev_flow_branch branch;
	struct perfev_flow *flow;
	unsigned char *copy;
	int i, k;

	(void)state;
	need_all();
	stream_all(&stream, &steps);
	flow = open_flow(&stream);
	copy = malloc(stream.size);
	assert_non_null(copy);
	perfev_flow_task(flow, steps.pid, steps.pid, 0);
	for (i = 0; i < 60; i++) {
		struct perfev_bytes pieces[2];
		size_t cut = random_below(&random, (uint32_t)stream.size);

		memcpy(copy, stream.data, stream.size);
		for (k = 0; k < i; k++)
			copy[random_below(&random, (uint32_t)stream.size)] = (unsigned char)next_random(&random);
		pieces[0] = (struct perfev_bytes){copy, cut};
		pieces[1] = (struct perfev_bytes){copy + cut, random_below(&random, (uint32_t)(stream.size - cut + 1))};
		assert_works(perfev_flow_begin(flow, pieces, 2, &err));
		while (perfev_flow_next(flow, &branch, &err) > 0) {
			branches++;
			gaps += (branch.flags & PERFEV_FLOW_GAP) != 0;
			assert_int_equal((branch.flags & PERFEV_FLOW_GAP) != 0, branch.why != NULL);
		}
	}
	print_message("%llu branches, %llu gaps\n", (unsigned long long)branches, (unsigned long long)gaps);
	assert_true(branches > 10000 && gaps > 100);
	free(copy);
	perfev_flow_free(flow);
	stream_free(&stream);
}

/* A file for tests of the command: unit-flow --write FILE TRUTH, or --write-cpus, -samples, -times, -events, -long. */
static int write_recording(char **names, const char *how)
{
	struct pt_stream stream = {.compress = true, .psb_every = 1000, .stop_every = 3001};
	FILE *truth = fopen(names[1], "we");
	size_t i;

	if (!can_step || !truth)
		return 77;
	if (!strcmp(how, "--write-times"))
		stream = (struct pt_stream){.times = true, .cycles = true, .psb_every = 700, .stop_every = 501};
	else if (!strcmp(how, "--write-events"))
		stream = (struct pt_stream){.times = true, .psb_every = 990, .stop_every = 2001, .events_every = 37};
	stream_all(&stream, &steps);
	for (i = 0; i < 200 && !strcmp(how, "--write-long"); i++)
		stream_again(&stream, &steps);
	if (!strcmp(how, "--write-cpus"))
		pt_write_cpus(names[0], &steps);
	else if (!strcmp(how, "--write-samples"))
		pt_write_samples(names[0], &steps, &stream);
	else
		pt_write(names[0], &steps, &stream, 1024);
	for (i = 0; i < steps.count; i++)
		if (is_taken(&steps, i))
			fprintf(truth, "%s %llx %llx\n", perfev_flow_type_name(steps.steps[i].type),
				(unsigned long long)steps.steps[i].ip, (unsigned long long)steps.steps[i + 1].ip);
	stream_free(&stream);
	return fclose(truth) != 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_setup),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_other_code),
		cmocka_unit_test(test_changed_traces),
	};
	size_t i;

	if (perfev_symbols_new(&symbols, NULL, NULL) < 0)
		return 1;
	can_step = step_through(&steps, helper("branches"));
	for (i = 0; can_step && i < steps.map_count; i++)
		feed_mmap2(steps.pid, steps.maps[i].start, steps.maps[i].end, steps.maps[i].offset, steps.maps[i].name, NULL);
	if (argc == 4)
		i = (size_t)write_recording(argv + 2, argv[1]);
	else
		i = (size_t)cmocka_run_group_tests(tests, NULL, NULL);
	stepped_free(&steps);
	perfev_symbols_free(symbols);
	return (int)i;
}
