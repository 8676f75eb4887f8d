/* SPDX-License-Identifier: MIT */
/* Call frame information made by hand, for the machines that are unwound, and a stack. */
#ifndef TESTS_UNIT_FRAMES_H
#define TESTS_UNIT_FRAMES_H

#include "rules.h"

#include "symbols/unwind_step.h"

static struct bytes frames, stack;

struct form {
	uint16_t machine;
	bool wide, big, eh;
	uint8_t ra, cfa_reg, cfa_offset;
	int8_t data_align;
};

static const struct form x86_64 = {62, true, false, true, 16, 7, 8, -8};
static const struct form i386 = {3, false, false, true, 8, 4, 4, -4};
static const struct form arm64 = {183, true, false, true, 30, 31, 0, -8};
static const struct form riscv = {243, true, false, true, 1, 2, 0, -8};

static inline size_t begin_entry(void)
{
	put_u32(&frames, 0);
	return frames.size;
}

static inline void end_entry(size_t start)
{
	struct bytes size = {.big = frames.big};

	while (frames.size % 4)
		put_u8(&frames, 0);
	put_u32(&size, frames.size - start);
	memcpy(frames.data + start - 4, size.data, 4);
}

/* A CIE of the form's machine: its CFA is where the stack pointer was before the call. */
static inline size_t put_cie(const struct form *f, const char *letters)
{
	size_t start = begin_entry(), offset = start - 4;

	put_u32(&frames, f->eh ? 0 : 0xffffffff);
	put_u8(&frames, 1);
	put_bytes(&frames, letters, strlen(letters) + 1);
	put_u8(&frames, 1);
	put_u8(&frames, f->data_align & 0x7f);
	put_u8(&frames, f->ra);
	if (letters[0] == 'z') {
		put_u8(&frames, 1);
		put_u8(&frames, 0x1b); /* sdata4, relative to itself */
	}
	put_u8(&frames, 0x0c);
	put_u8(&frames, f->cfa_reg);
	put_u8(&frames, f->cfa_offset);
	if (f->machine == 62 || f->machine == 3) {
		put_u8(&frames, 0x80 | f->ra);
		put_u8(&frames, 1);
	}
	end_entry(start);
	return offset;
}

static inline void put_fde(const struct form *f, size_t cie, uint64_t code, uint32_t size, const void *program, size_t program_size)
{
	size_t start = begin_entry();

	put_u32(&frames, f->eh ? frames.size - cie : cie);
	if (f->eh) {
		put_u32(&frames, code - (FRAME_AT + frames.size));
		put_u32(&frames, size);
		put_u8(&frames, 0);
	} else {
		put_number(&frames, code, f->wide ? 8 : 4);
		put_number(&frames, size, f->wide ? 8 : 4);
	}
	put_bytes(&frames, program, program_size);
	end_entry(start);
}

static inline void begin(const struct form *f)
{
	memset(&frames, 0, sizeof(frames));
	frames.big = f->big;
}

static inline struct cfi_source source_of(const struct form *f)
{
	struct cfi_source s = {.section_count = 1, .range_count = 1, .machine = f->machine, .wide = f->wide,
			       .swap = f->big != PERFEV_BIG_ENDIAN};

	s.sections[0] = (struct cfi_section){frames.data, frames.size, FRAME_AT, f->eh ? CFI_EH_FRAME : CFI_DEBUG_FRAME};
	s.ranges[0].start = CODE_AT;
	s.ranges[0].end = CODE_AT + 0x100000;
	return s;
}

static inline void compile(struct unwind_table *table, const struct form *f)
{
	struct cfi_source s = source_of(f);

	assert_int_equal(cfi_compile(table, &s), 0);
}

/* push %rbp; mov %rsp,%rbp; ...; leave; ret */
static const unsigned char with_frame[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x4a, 0x0c, 7, 8};

static inline struct unwind_memory memory_of(const struct unwind_machine *machine, struct unwind_state *s)
{
	struct unwind_memory m = {stack.data, STACK_AT, stack.size, stack.big != PERFEV_BIG_ENDIAN, NULL};

	s->regs[machine->sp] = STACK_AT;
	s->known |= UINT64_C(1) << machine->sp;
	return m;
}

#endif
