/* SPDX-License-Identifier: MIT */
/* Samples as recordings have them, on a file made by hand that is mapped where its addresses are not: call chains with all
 * their parts, stacks cut anywhere, signed return addresses, calls that do not return, the CPU's own call stack. */
#include "feeding.h"

#include <perfev/unwind.h>

#include <fcntl.h>

#define PID	  77
#define MAPPED_AT UINT64_C(0x7f0000000000)
#define LINKED_AT UINT64_C(0x400000) /* of offset 0 */
#define FRAMES_AT 0x200
#define CODE_AT	  0x1000
#define FILE_SIZE 0x2000
#define SP_AT	  UINT64_C(0x7ffd00001000)

static struct bytes file;
static char path[64];
static struct perfev_unwinder *unwinder;
static struct bytes words, stack;

/* ---- the file ------------------------------------------------------------------------------------------------- */

static void put_segment(uint32_t type, uint32_t flags, uint64_t offset, uint64_t size)
{
	put_u32(&file, type);
	put_u32(&file, flags);
	put_u64(&file, offset);
	put_u64(&file, LINKED_AT + offset);
	put_u64(&file, LINKED_AT + offset);
	put_u64(&file, size);
	put_u64(&file, size);
	put_u64(&file, 4096);
}

static size_t begin_entry(void)
{
	put_u32(&file, 0);
	return file.size;
}

static void end_entry(size_t start)
{
	uint32_t size;

	while (file.size % 4)
		put_u8(&file, 0);
	size = (uint32_t)(file.size - start);
	file.data[start - 4] = (unsigned char)size;
	file.data[start - 3] = (unsigned char)(size >> 8);
}

static void put_cie(const char *letters, const void *program, size_t size, uint8_t ra)
{
	size_t start = begin_entry();

	put_u32(&file, 0);
	put_u8(&file, 1);
	put_bytes(&file, letters, strlen(letters) + 1);
	put_u8(&file, 1);
	put_u8(&file, 0x78);
	put_u8(&file, ra);
	put_u8(&file, 1);
	put_u8(&file, 0x1b);
	put_bytes(&file, program, size);
	end_entry(start);
}

static void put_fde(size_t cie, uint32_t code, uint32_t size, const void *program, size_t program_size)
{
	size_t start = begin_entry();

	put_u32(&file, file.size - cie);
	put_u32(&file, CODE_AT + code - file.size);
	put_u32(&file, size);
	put_u8(&file, 0);
	put_bytes(&file, program, program_size);
	end_entry(start);
}

/* Sections are stripped: only the segments say where things are. */
static void begin_file(uint16_t machine)
{
	static const unsigned char ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	memset(&file, 0, sizeof(file));
	put_bytes(&file, ident, 16);
	put_u16(&file, 3);
	put_u16(&file, machine);
	put_u32(&file, 1);
	put_u64(&file, 0);
	put_u64(&file, 64);
	put_u64(&file, 0);
	put_u32(&file, 0);
	put_u16(&file, 64);
	put_u16(&file, 56);
	put_u16(&file, 3);
	put_u16(&file, 64);
	put_u32(&file, 0);
	put_segment(1, 4, 0, CODE_AT);
	put_segment(1, 5, CODE_AT, FILE_SIZE - CODE_AT);
	put_segment(0x6474e550, 4, 0x1f0, 12);
	file.size = 0x1f0;
	put_u8(&file, 1); /* the index: where the frames are, and nothing else */
	put_u8(&file, 0x1b);
	put_u8(&file, 0xff);
	put_u8(&file, 0xff);
	put_u32(&file, FRAMES_AT - 0x1f4);
	file.size = FRAMES_AT;
}

static void write_file(void)
{
	int fd;

	file.size = FILE_SIZE;
	snprintf(path, sizeof(path), "/tmp/perfev-unwind-%d", (int)getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.data, file.size), FILE_SIZE);
	close(fd);
}

/* What the kernel says of the code part of it. */
static void map_file(void)
{
	struct perfev_record record = {.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_USER};
	static struct bytes mmap;

	memset(&mmap, 0, sizeof(mmap));
	mmap.big = PERFEV_BIG_ENDIAN;
	put_u32(&mmap, PERF_RECORD_MMAP);
	put_u16(&mmap, PERF_RECORD_MISC_USER);
	put_u16(&mmap, 8 + 8 + 24 + 64);
	put_u32(&mmap, PID);
	put_u32(&mmap, PID);
	put_u64(&mmap, MAPPED_AT);
	put_u64(&mmap, FILE_SIZE - CODE_AT);
	put_u64(&mmap, CODE_AT);
	put_bytes(&mmap, path, 64);
	record.data = mmap.data;
	record.size = (uint32_t)mmap.size;
	assert_works(perfev_symbols_feed(symbols, &record, NULL, &err));
}

static void begin(enum perfev_arch arch)
{
	struct perfev_unwinder_opts opts = {.size = sizeof(opts), .arch = (uint32_t)arch};

	write_file();
	assert_works(perfev_symbols_new(&symbols, NULL, &err));
	map_file();
	assert_works(perfev_unwinder_new(&unwinder, symbols, &opts, &err));
	memset(&words, 0, sizeof(words));
	memset(&stack, 0, sizeof(stack));
	words.big = PERFEV_BIG_ENDIAN;
	stack.big = PERFEV_BIG_ENDIAN;
}

static void end(void)
{
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(symbols);
	unlink(path);
}

static struct perfev_registers registers_of(uint64_t mask)
{
	struct perfev_registers r = {PERF_SAMPLE_REGS_ABI_64, mask, {words.data, (uint32_t)(words.size / 8), false}};

	return r;
}

/* ---- x86-64 --------------------------------------------------------------------------------------------------------- */

/* Functions: one with a frame of 32 bytes; one that ends in a call that does not return, and behind it another; a signal's
 * end; the outermost. */
static void x86_file(void)
{
	static const unsigned char usual[] = {0x0c, 7, 8, 0x90, 1};
	static const unsigned char frame[] = {0x0e, 40, 0x86, 2}, small[] = {0x0e, 16}, other[] = {0x0e, 0x80, 0x01};
	static const unsigned char first[] = {0x07, 16};
	/* CFA, rsp and rip are in memory, at rsp + 8 and + 16 */
	static const unsigned char signal[] = {0x0f, 3, 0x77, 8, 0x06, 0x10, 16, 2, 0x77, 16, 0x10, 7, 2, 0x77, 8};
	size_t cie = FRAMES_AT, signals;

	begin_file(62);
	put_cie("zR", usual, sizeof(usual), 16);
	put_fde(cie, 0x000, 0x100, frame, sizeof(frame));
	put_fde(cie, 0x100, 0x005, small, sizeof(small));
	put_fde(cie, 0x105, 0x0fb, other, sizeof(other));
	put_fde(cie, 0x200, 0x0ff, first, sizeof(first));
	signals = file.size;
	put_cie("zRS", "", 0, 16);
	put_fde(signals, 0x2ff, 0x011, signal, sizeof(signal)); /* one byte more before it, as C libraries do */
	begin(PERFEV_ARCH_X86);
}

#define CODE(offset) (MAPPED_AT + (offset))

static void put_x86_stack(void)
{
	/* in the first function: 32 bytes, the return address */
	put_u64(&stack, 1);
	put_u64(&stack, 2);
	put_u64(&stack, 3);
	put_u64(&stack, 0x1234); /* rbp */
	put_u64(&stack, CODE(0x105)); /* of the call that is last in the second */
	put_u64(&stack, 4);
	put_u64(&stack, CODE(0x300)); /* the end of a signal handler */
	put_u64(&stack, 5);
	put_u64(&stack, SP_AT + 88); /* what was interrupted: its stack, its place: the first instruction */
	put_u64(&stack, CODE(0x100));
	put_u64(&stack, 6);
	put_u64(&stack, 7); /* SP_AT + 88 */
	put_u64(&stack, CODE(0x210));
}

static const struct perfev_unwound_frame x86_frames[] = {
	{CODE(0x10), 0, 0},
	{CODE(0x105), PERFEV_UNWOUND_RETURN, 0},
	{CODE(0x300), PERFEV_UNWOUND_SIGNAL, 0},
	{CODE(0x100), 0, 0},
	{CODE(0x210), PERFEV_UNWOUND_RETURN, 0},
};

#define X86_MASK (1u << PERF_REG_X86_BP | 1u << PERF_REG_X86_SP | 1u << PERF_REG_X86_IP)

static void put_x86_registers(uint64_t ip)
{
	words.size = 0;
	put_u64(&words, 0x5555);
	put_u64(&words, SP_AT);
	put_u64(&words, ip);
}

static void test_x86(void **state)
{
	struct perfev_unwind_state s = {.pid = PID};
	struct perfev_unwound u;
	size_t size;
	uint32_t i;

	(void)state;
	x86_file();
	put_x86_registers(CODE(0x10));
	put_x86_stack();
	s.registers = registers_of(X86_MASK);
	/* cut at each byte: what is left of it, and never more */
	for (size = stack.size; size + 1 > 0; size--) {
		s.stack.data = stack.data;
		s.stack.size = size;
		assert_works(perfev_unwind(unwinder, &s, &u, &err));
		assert_in_range(u.count, 1, 5);
		for (i = 0; i < u.count; i++) {
			assert_int_equal(u.frames[i].ip, x86_frames[i].ip);
			assert_int_equal(u.frames[i].flags, x86_frames[i].flags);
		}
		if (size == stack.size)
			assert_int_equal(u.count, 5);
		assert_int_equal(u.end, u.count == 5 ? PERFEV_UNWOUND_COMPLETE : PERFEV_UNWOUND_STACK);
	}
	/* other processes, and places that are nobody's */
	s.stack.size = stack.size;
	s.pid = PID + 1;
	assert_works(perfev_unwind(unwinder, &s, &u, &err));
	assert_int_equal(u.count, 1);
	assert_int_equal(u.end, PERFEV_UNWOUND_NO_CODE);
	s.pid = PID;
	put_x86_registers(CODE(0x400)); /* of no entry; rbp leads nowhere */
	assert_works(perfev_unwind(unwinder, &s, &u, &err));
	assert_int_equal(u.count, 1);
	assert_int_equal(u.end, PERFEV_UNWOUND_NO_RULE);
	s.registers.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_works(perfev_unwind(unwinder, &s, &u, &err));
	assert_int_equal(u.count, 0);
	assert_int_equal(u.end, PERFEV_UNWOUND_NOTHING);
	s.registers = registers_of(1u << PERF_REG_X86_IP);
	assert_works(perfev_unwind(unwinder, &s, &u, &err));
	assert_int_equal(u.end, PERFEV_UNWOUND_NOTHING);
	end();
}

static void expect_chain(const struct perfev_sample *sample, const uint64_t *wanted, uint32_t count)
{
	uint32_t i;

	assert_int_equal(sample->callchain.count, count);
	for (i = 0; i < count; i++)
		assert_int_equal(perfev_u64s_at(sample->callchain, i), wanted[i]);
}

static void test_chain_of_a_sample(void **state)
{
	static const uint64_t kernel[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020};
	static const uint64_t wanted[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020, PERF_CONTEXT_USER,
					  CODE(0x10), CODE(0x105), PERF_CONTEXT_USER, CODE(0x300), PERF_CONTEXT_USER,
					  CODE(0x100), CODE(0x210)};
	static const uint64_t whole[] = {PERF_CONTEXT_USER, CODE(0x10), CODE(0x99)};
	struct perfev_sample s = {.pid = PID, .misc = PERF_RECORD_MISC_KERNEL};
	struct perfev_callchain chain;
	struct perfev_callchain_entry entry;
	struct perfev_unwound u;
	uint32_t i;

	(void)state;
	x86_file();
	put_x86_registers(CODE(0x10));
	put_x86_stack();
	s.regs_user = registers_of(X86_MASK);
	s.stack_user.data = stack.data;
	s.stack_user.size = stack.size;
	s.present = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	s.callchain = (struct perfev_u64s){kernel, 3, false};
	assert_int_equal(perfev_unwind_sample(unwinder, &s, NULL, &u, &err), 0);
	s.present |= PERF_SAMPLE_STACK_USER;
	assert_int_equal(perfev_unwind_sample(unwinder, &s, NULL, &u, &err), 1);
	assert_int_equal(u.count, 5);
	expect_chain(&s, wanted, 11);
	/* what is first of its mark is a place, all others are return addresses */
	perfev_callchain_begin(&chain, s.callchain, s.misc);
	for (i = 0; perfev_callchain_next(&chain, &entry) > 0; i++)
		if (i >= 2)
			assert_int_equal(entry.first, !(x86_frames[i - 2].flags & PERFEV_UNWOUND_RETURN));
	assert_int_equal(i, 7);
	/* it has a user part now: it stays as it is */
	assert_int_equal(perfev_unwind_sample(unwinder, &s, NULL, NULL, &err), 0);
	s.callchain = (struct perfev_u64s){whole, 3, false};
	assert_int_equal(perfev_unwind_sample(unwinder, &s, NULL, NULL, &err), 0);
	expect_chain(&s, whole, 3);
	/* without a chain of the kernel's */
	s.present &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	assert_int_equal(perfev_unwind_sample(unwinder, &s, NULL, NULL, &err), 1);
	assert_true(s.present & PERF_SAMPLE_CALLCHAIN);
	expect_chain(&s, wanted + 3, 8);
	s.stack_user.size = 0;
	s.present &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	assert_int_equal(perfev_unwind_sample(unwinder, &s, NULL, NULL, &err), 0);
	end();
}

/* The CPU's stack of calls, newest first, each with where it was called from. */
static void test_calls_of_the_cpu(void **state)
{
	static const uint64_t recorded[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, CODE(0x1c), CODE(0x999)};
	static const uint64_t wanted[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, CODE(0x1c), CODE(0x121),
					  CODE(0x231)};
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct perfev_layout *layout = NULL;
	struct perfev_sample s = {.pid = PID, .misc = PERF_RECORD_MISC_KERNEL};

	(void)state;
	x86_file();
	put_u64(&words, CODE(0x120));
	put_u64(&words, CODE(0x10));
	put_u64(&words, 0);
	put_u64(&words, CODE(0x230));
	put_u64(&words, CODE(0x110));
	put_u64(&words, 0);
	attr.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER;
	assert_works(perfev_layout_new(&layout, &attr, &err));
	s.present = attr.sample_type;
	s.callchain = (struct perfev_u64s){recorded, 5, false};
	s.branches.entries.data = words.data;
	s.branches.entries.size = 48;
	s.branches.count = 2;
	assert_int_equal(perfev_unwind_sample(unwinder, &s, layout, NULL, &err), 0); /* any branches */
	perfev_layout_free(layout);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_CALL_STACK;
	assert_works(perfev_layout_new(&layout, &attr, &err));
	assert_int_equal(perfev_unwind_sample(unwinder, &s, layout, NULL, &err), 1);
	expect_chain(&s, wanted, 6);
	perfev_layout_free(layout);
	end();
}

/* ---- arm64 ---------------------------------------------------------------------------------------------------------- */

static void test_signed_return_addresses(void **state)
{
	static const unsigned char usual[] = {0x0c, 31, 0};
	static const unsigned char frame[] = {0x2d, 0x0e, 16, 0x9d, 2, 0x9e, 1}, first[] = {0x07, 30};
	struct perfev_unwind_state s = {.pid = PID};
	struct perfev_unwound u;
	unsigned i;

	(void)state;
	begin_file(183);
	put_cie("zR", usual, sizeof(usual), 30);
	put_fde(FRAMES_AT, 0x000, 0x100, frame, sizeof(frame));
	put_fde(FRAMES_AT, 0x100, 0x100, first, sizeof(first));
	begin(PERFEV_ARCH_ARM64);
	put_u64(&stack, 0x1111);
	put_u64(&stack, CODE(0x44) | UINT64_C(0x5f2a) << 48);
	put_u64(&stack, 0x2222);
	put_u64(&stack, CODE(0x104) | UINT64_C(0x007f) << 48);
	for (i = 0; i < 31; i++)
		put_u64(&words, 0);
	put_u64(&words, SP_AT);
	put_u64(&words, CODE(0x20));
	s.registers = registers_of((UINT64_C(1) << 33) - 1);
	s.stack.data = stack.data;
	s.stack.size = stack.size;
	assert_works(perfev_unwind(unwinder, &s, &u, &err));
	assert_int_equal(u.count, 3);
	assert_int_equal(u.frames[1].ip, CODE(0x44));
	assert_int_equal(u.frames[2].ip, CODE(0x104));
	assert_int_equal(u.end, PERFEV_UNWOUND_COMPLETE);
	end();
}

static void test_opts(void **state)
{
	struct perfev_unwinder_opts opts = {.size = sizeof(opts), .max_frames = 65537};
	struct perfev_unwinder_info info;
	struct perfev_unwind_state s = {.pid = PID};
	struct perfev_unwound u;
	unsigned i;

	(void)state;
	x86_file();
	perfev_unwinder_free(unwinder);
	assert_fails(perfev_unwinder_new(&unwinder, symbols, &opts, &err), EINVAL);
	assert_says("65537");
	opts.max_frames = 2;
	opts.arch = PERFEV_ARCH_X86;
	assert_works(perfev_unwinder_new(&unwinder, symbols, &opts, &err));
	put_x86_registers(CODE(0x10));
	put_x86_stack();
	s.registers = registers_of(X86_MASK);
	s.stack.data = stack.data;
	s.stack.size = stack.size;
	assert_works(perfev_unwind(unwinder, &s, &u, &err));
	assert_int_equal(u.count, 2);
	assert_int_equal(u.end, PERFEV_UNWOUND_DEPTH);
	perfev_unwinder_describe(unwinder, &info);
	assert_int_equal(info.stacks, 1);
	assert_int_equal(info.frames, 2);
	assert_int_equal(info.ends[PERFEV_UNWOUND_DEPTH], 1);
	assert_true(info.rows >= 5 && info.rules >= 5 && info.bytes);
	for (i = 0; i < PERFEV_UNWOUND_COUNT_; i++)
		assert_non_null(perfev_unwound_end_name((enum perfev_unwound_end)i));
	assert_null(perfev_unwound_end_name(PERFEV_UNWOUND_COUNT_));
	end();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_x86),
	cmocka_unit_test(test_chain_of_a_sample),
	cmocka_unit_test(test_calls_of_the_cpu),
	cmocka_unit_test(test_signed_return_addresses),
	cmocka_unit_test(test_opts),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
