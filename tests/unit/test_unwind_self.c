/* SPDX-License-Identifier: MIT */
/* The own stack, and the same as a sample would have it: registers and bytes. What has to come out is known: return addresses
 * are noted on the way down. On x86-64 then at each single instruction of stubs, prologues, ends, the vdso and the C library. */
#include "test.h"

#include <alloca.h>
#include <signal.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define DEPTH_MAX 400
#define STACK_MAX (1 << 18)

static struct perfev_own_tables *self;
static struct perfev_symbols *symbols;
static struct perfev_unwinder *unwinder;

/* What was noted on the way down: the return address of each call, outermost first. */
static uint64_t noted[DEPTH_MAX];
static unsigned noted_count;

static struct perfev_unwound_frame frames[2 * DEPTH_MAX];
static uint32_t frame_count, frame_end;

static int setup(void **state)
{
	struct perfev_synth *synth = NULL;
	struct perfev_record record;
	struct perfev_error err;
	int r;

	(void)state;
	r = perfev_own_tables_new(&self, &err);
	if (r == -ENOTSUP)
		return 0;
	assert_works(r);
	assert_works(perfev_symbols_new(&symbols, NULL, &err));
	assert_works(perfev_synth_open(&synth, perfev_on_self(), NULL, NULL, &err));
	while (perfev_synth_next(synth, &record, &err) > 0)
		assert_works(perfev_symbols_feed(symbols, &record, NULL, &err));
	perfev_synth_close(synth);
	assert_works(perfev_unwinder_new(&unwinder, symbols, NULL, &err));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	perfev_own_tables_free(self);
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(symbols);
	return 0;
}

static void need_machine(void)
{
	if (!self)
		SKIP("the own stack is unwound on x86, arm64 and riscv64 only");
}

/* Under an emulator of the machine there may be no vdso, through which system calls go on i386. */
__attribute__((unused)) static bool has_vdso(void)
{
	return getauxval(AT_SYSINFO_EHDR) != 0;
}

/* ---- as a sample has it --------------------------------------------------------------------------------------------- */

static uint64_t values[64];

#if defined(__x86_64__) && !defined(__ILP32__)
static void take_registers(const ucontext_t *u)
{
	static const int numbers[24] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
					-1,	 -1,	  -1,	   -1,	    -1,	     -1,      -1,      REG_R8,	REG_R9,
					REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	int i;

	for (i = 0; i < 24; i++)
		values[i] = numbers[i] < 0 ? 0 : (uint64_t)u->uc_mcontext.gregs[numbers[i]];
}
#define SP PERF_REG_X86_SP
#elif defined(__i386__)
static void take_registers(const ucontext_t *u)
{
	static const int numbers[9] = {REG_EAX, REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP, REG_ESP, REG_EIP};
	int i;

	for (i = 0; i < 9; i++)
		values[i] = (uint32_t)u->uc_mcontext.gregs[numbers[i]];
}
#define SP PERF_REG_X86_SP
#elif defined(__aarch64__)
static void take_registers(const ucontext_t *u)
{
	int i;

	for (i = 0; i < 31; i++)
		values[i] = u->uc_mcontext.regs[i];
	values[31] = u->uc_mcontext.sp;
	values[32] = u->uc_mcontext.pc;
}
#define SP PERF_REG_ARM64_SP
#elif defined(__riscv)
static void take_registers(const ucontext_t *u)
{
	int i;

	for (i = 0; i < 32; i++)
		values[i] = u->uc_mcontext.__gregs[i];
}
#define SP PERF_REG_RISCV_SP
#else
static void take_registers(const ucontext_t *u)
{
	(void)u;
}
#define SP 0
#endif

static const char *stack_top; /* of what may be copied */
static unsigned char stack_copy[STACK_MAX];

/* Sanitizers would find places between variables in it. */
__attribute__((noinline, no_sanitize("address"))) static void copy_stack(const char *from, size_t size)
{
	volatile unsigned char *to = stack_copy;
	size_t i;

	for (i = 0; i < size; i++)
		to[i] = (unsigned char)from[i];
}

/* perfev_unwind() of a copy says the same. */
static void compare_with_copy(const ucontext_t *u)
{
	struct perfev_unwind_state state = {.pid = getpid()};
	struct perfev_unwound unwound;
	struct perfev_error err;
	const char *sp;
	unsigned abi;
	uint32_t i;

	perfev_arch_host(&abi);
	take_registers(u);
	state.registers.abi = abi;
	state.registers.mask = (UINT64_C(1) << 33) - 1;
	state.registers.values.data = values;
	state.registers.values.count = 33;
	sp = (const char *)(uintptr_t)values[SP];
	assert_true(sp < stack_top && stack_top - sp < STACK_MAX);
	copy_stack(sp, (size_t)(stack_top - sp));
	state.stack.data = stack_copy;
	state.stack.size = (size_t)(stack_top - sp);
	assert_works(perfev_unwind(unwinder, &state, &unwound, &err));
	assert_true(unwound.count <= frame_count);
	for (i = 0; i < unwound.count; i++) {
		assert_int_equal(unwound.frames[i].ip, frames[i].ip);
		assert_int_equal(unwound.frames[i].flags, frames[i].flags);
	}
	assert_true(unwound.count == frame_count ? unwound.end == frame_end : unwound.end == PERFEV_UNWOUND_STACK);
	/* cut anywhere it is a part of that */
	for (i = 0; i < 256 && i * 8 < state.stack.size; i++) {
		uint32_t whole = unwound.count, k;
		struct perfev_unwound cut;

		state.stack.size -= 8 * i;
		assert_works(perfev_unwind(unwinder, &state, &cut, &err));
		state.stack.size += 8 * i;
		assert_true(cut.count <= whole);
		for (k = 0; k < cut.count; k++)
			assert_int_equal(cut.frames[k].ip, frames[k].ip);
	}
}

/* ---- stacks that are known ------------------------------------------------------------------------------------------ */

#define NOTE() (noted[noted_count++] = (uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/* The frames from number @first on are the noted ones. */
static void expect_noted(uint32_t first)
{
	uint32_t i;

	assert_true(frame_count > first + noted_count);
	for (i = 0; i < noted_count; i++) {
		assert_int_equal(frames[first + i].ip, noted[noted_count - 1 - i]);
		assert_int_equal(frames[first + i].flags, PERFEV_UNWOUND_RETURN);
	}
}

static volatile int sink;

static void look(void)
{
	frame_count = perfev_unwind_self(self, NULL, frames, 2 * DEPTH_MAX, &frame_end);
	sink = 1;
}

__attribute__((noinline)) static int recurse(int depth, void (*leaf)(void))
{
	NOTE();
	if (depth)
		sink = recurse(depth - 1, leaf) + 1;
	else
		leaf();
	return sink;
}

__attribute__((noinline)) static int with_alloca(int depth, void (*leaf)(void))
{
	volatile char *room = alloca((size_t)depth * 17 + 1);

	NOTE();
	room[depth * 17] = 1;
	if (depth)
		sink = with_alloca(depth - 1, leaf) + room[depth * 17];
	else
		leaf();
	return sink;
}

/* Its stack is aligned to more than the machine's: the CFA is an expression on x86. */
__attribute__((noinline)) static int aligned(int depth, void (*leaf)(void))
{
	_Alignas(128) volatile char room[128];

	NOTE();
	room[depth] = 1;
	if (depth)
		sink = aligned(depth - 1, leaf) + room[depth];
	else
		leaf();
	return sink;
}

static int (*const kinds[])(int depth, void (*leaf)(void)) = {recurse, with_alloca, aligned};

static void test_recursion(void **state)
{
	int depth;
	size_t i;

	(void)state;
	need_machine();
	for (i = 0; i < 3; i++)
		for (depth = 1; depth <= (i == 2 ? 100 : 200); depth++) {
			noted_count = 0;
			kinds[i](depth, look);
			expect_noted(2); /* behind the look and its caller */
		}
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	frame_count = perfev_unwind_self(self, context, frames, 2 * DEPTH_MAX, &frame_end);
	compare_with_copy(context);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
	sink = 1;
}

static void catch_signal(void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | flags;
	sigaction(SIGUSR1, &action, NULL);
}

/* The frames up to the last one in @function's file part are libc's: how many is not known. */
static uint32_t find_frame(uint64_t ip)
{
	uint32_t i;

	for (i = 0; i < frame_count; i++)
		if (frames[i].ip == ip)
			return i;
	return UINT32_MAX / 2;
}

static void test_interrupted(void **state)
{
	int depth;
	size_t i;

	(void)state;
	need_machine();
#ifdef __i386__
	if (!has_vdso())
		SKIP("there is no vdso, through which system calls go on this machine");
#endif
	stack_top = __builtin_frame_address(0);
	catch_signal(on_signal, 0);
	for (i = 0; i < 3; i++)
		for (depth = 1; depth <= 100; depth += 7) {
			noted_count = 0;
			kinds[i](depth, raise_signal);
			assert_int_equal(frames[0].flags, 0);
			expect_noted(find_frame(noted[noted_count - 1]));
		}
}

static void from_handler(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	look();
}

/* From inside a handler, on the same stack and on another one: through what the kernel put between. */
static void test_through_a_handler(void **state)
{
	static char other[65536];
	stack_t alternate = {.ss_sp = other, .ss_size = sizeof(other)};
	uint32_t at, i, signals = 0;
	int on_other;

	(void)state;
	need_machine();
#ifndef __x86_64__
	if (!has_vdso())
		SKIP("there is no vdso, which is what handlers return to on this machine");
#endif
	sigaltstack(&alternate, NULL);
	for (on_other = 0; on_other < 2; on_other++) {
		catch_signal(from_handler, on_other ? SA_ONSTACK : 0);
		noted_count = 0;
		recurse(5, raise_signal);
		at = find_frame(noted[noted_count - 1]);
		expect_noted(at);
		for (i = 0; i < at; i++) {
			if (!(frames[i].flags & PERFEV_UNWOUND_SIGNAL))
				continue;
			signals++;
			assert_false(frames[i].flags & PERFEV_UNWOUND_RETURN);
			assert_false(frames[i + 1].flags & PERFEV_UNWOUND_RETURN);
		}
	}
	assert_int_equal(signals, 2);
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
}

static void test_limits(void **state)
{
	(void)state;
	need_machine();
	noted_count = 0;
	recurse(20, look);
	assert_int_equal(perfev_unwind_self(self, NULL, frames, 0, &frame_end), 0);
	assert_int_equal(frame_end, PERFEV_UNWOUND_DEPTH);
	assert_int_equal(perfev_unwind_self(self, NULL, frames, 2, NULL), 2);
}

/* ---- every instruction ------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__) && defined(__linux__) && !defined(__ILP32__)
static struct perfev_unwound_frame base[DEPTH_MAX];
static uint32_t base_count;
static uint64_t steps, wrong, wrong_at;

/* Whatever runs, those who called the function that began to step are there still. */
static void on_step(int number, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	uint32_t i;

	(void)number, (void)info;
	steps++;
	frame_count = perfev_unwind_self(self, context, frames, 2 * DEPTH_MAX, &frame_end);
	for (i = 1; i < base_count && i <= frame_count; i++)
		if (frames[frame_count - i].ip != base[base_count - i].ip)
			break;
	if (frame_end != PERFEV_UNWOUND_COMPLETE || i < base_count) {
		wrong++;
		wrong_at = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
	}
}

static void no_leaf(void)
{
	sink = 2;
}

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void many_things(void)
{
	static const char *volatile text = "1234 and more";
	int numbers[16], i;
	struct timespec t;
	char out[64];

	for (i = 0; i < 16; i++)
		numbers[i] = 16 - i;
	qsort(numbers, 16, sizeof(numbers[0]), ascending);
	clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(out, sizeof(out), "%s %d %f", text, numbers[3], (double)t.tv_nsec);
	sink = (int)strtol(text, NULL, 10) + (int)strlen(out);
	free(strdup(out));
	kinds[1](3, no_leaf);
	sink = kinds[2](3, no_leaf);
}

static void test_every_instruction(void **state)
{
	struct sigaction action;

	(void)state;
	need_machine();
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_step;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &action, NULL);
	noted_count = 0;
	base_count = perfev_unwind_self(self, NULL, base, DEPTH_MAX, NULL);
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	many_things();
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	if (wrong)
		fail_msg("%llu of %llu wrong, the last at 0x%llx", (unsigned long long)wrong, (unsigned long long)steps,
			 (unsigned long long)wrong_at);
	assert_true(steps > 2000);
}
#else
static void test_every_instruction(void **state)
{
	(void)state;
	SKIP("instructions are stepped through on x86-64 only");
}
#endif

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_recursion),
	cmocka_unit_test(test_interrupted),
	cmocka_unit_test(test_through_a_handler),
	cmocka_unit_test(test_limits),
	cmocka_unit_test(test_every_instruction),
};

int main(void)
{
	return cmocka_run_group_tests(tests, setup, teardown);
}
