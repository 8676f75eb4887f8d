/* SPDX-License-Identifier: MIT */
/*
 * The stack of the calling thread, also from inside a signal handler.
 *
 * Tables are made before, of the call frame information that is in memory with the code. Then a walk needs nothing but its
 * own stack: no memory is allocated, no lock taken, no file read. What rules and registers say may be wrong, so each page is
 * read only after the kernel said that it can be.
 */
#include "unwind_module.h"
#include "unwind_step.h"

#include "base/error.h"
#include "base/plug.h"
#include "base/sorted.h"

#include <perfev/unwind.h>

#include <errno.h>
#include <link.h>
#include <stdlib.h>

#if (defined(__x86_64__) && !defined(__ILP32__)) || defined(__i386__) || defined(__aarch64__) || \
	(defined(__riscv) && __riscv_xlen == 64)
#define HERE_KNOWN true
#else
#define HERE_KNOWN false
#endif

#define SFRAME	    0x6474e554 /* PT_GNU_SFRAME */
#define CONTEXT_BYTES 456 /* all that is looked at */
#define MODULES_MAX 4096
#define PAGE	    4096u /* or a part of one */
#define PAGES_MAX   4096  /* looked at for one word */
#define ADDRESS_BITS 48
#define LINK_ARM64  30

struct code {
	uint64_t start, end;
	struct unwind_table *table; /* NULL: nothing is known */
};

struct perfev_own_tables {
	const struct unwind_machine *machine;
	struct code *codes; /* executable parts, sorted */
	size_t count, room;
	struct unwind_table **tables;
	size_t table_count, table_room;
};

/* ---- tables ------------------------------------------------------------------------------------------------------ */

struct work {
	struct perfev_own_tables *self;
	int error;
};

static int add_code(struct perfev_own_tables *self, uint64_t start, uint64_t end, struct unwind_table *table)
{
	struct code *codes = array_grow(self->codes, &self->room, self->count, sizeof(*codes));

	if (!codes)
		return -ENOMEM;
	self->codes = codes;
	codes[self->count++] = (struct code){start, end, table};
	return 0;
}

/* Programs that are linked statically have no index on some machines; then their file says where the section is. */
static uint64_t frames_by_file(const struct dl_phdr_info *info)
{
	const char *path = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	struct elf_section section;
	uint64_t address = 0;
	struct elf elf;

	if (elf_open(&elf, path) < 0)
		return 0;
	if (elf_section_named(&elf, ".eh_frame", &section) && section.address)
		address = info->dlpi_addr + section.address;
	elf_close(&elf);
	return address;
}

/* One more section, of what is in memory from its address on. */
static void take_loaded(const struct dl_phdr_info *info, struct cfi_source *source, enum cfi_kind kind, uint64_t address)
{
	struct cfi_section *section = &source->sections[source->section_count];
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || address < start || address - start >= p->p_filesz)
			continue;
		*section = (struct cfi_section){(const unsigned char *)(uintptr_t)address, p->p_filesz - (address - start),
						address, kind};
		source->section_count++;
		return;
	}
}

/* .eh_frame by the index of it that is in memory, or by the file. */
static void find_frames(const struct dl_phdr_info *info, const ElfW(Phdr) *index, struct cfi_source *source)
{
	uint64_t at = index ? info->dlpi_addr + index->p_vaddr : 0;
	struct cfi_section section;

	source->data_base = at;
	if (!index)
		section.address = frames_by_file(info);
	else if (!unwind_index_frames(&section, (const unsigned char *)(uintptr_t)at, index->p_memsz, at, source))
		return;
	take_loaded(info, source, CFI_EH_FRAME, section.address);
}

static int make_table(struct perfev_own_tables *self, const struct cfi_source *source, struct unwind_table **ret)
{
	struct unwind_table **tables, *table = malloc(sizeof(*table));
	int r;

	*ret = NULL;
	if (!table)
		return -ENOMEM;
	r = cfi_compile(table, source);
	if (r < 0) {
		free(table);
		return r == -ENOMEM ? r : 0;
	}
	tables = array_grow(self->tables, &self->table_room, self->table_count, sizeof(*tables));
	if (!tables) {
		unwind_table_free(table);
		free(table);
		return -ENOMEM;
	}
	self->tables = tables;
	tables[self->table_count++] = table;
	*ret = table;
	return 0;
}

static int take_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct work *w = context;
	struct cfi_source source = {.machine = w->self->machine->elf, .wide = w->self->machine->word == 8};
	const ElfW(Phdr) *index = NULL, *sframe = NULL;
	struct unwind_table *table = NULL;
	uint32_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_EH_FRAME)
			index = p;
		if (p->p_type == SFRAME)
			sframe = p;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || source.range_count == UNWIND_RANGES)
			continue;
		source.ranges[source.range_count].start = info->dlpi_addr + p->p_vaddr;
		source.ranges[source.range_count].end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
		source.range_count++;
	}
	find_frames(info, index, &source);
	if (sframe)
		take_loaded(info, &source, CFI_SFRAME, info->dlpi_addr + sframe->p_vaddr);
	if (source.section_count)
		w->error = make_table(w->self, &source, &table);
	for (i = 0; i < source.range_count && w->error == 0; i++)
		w->error = add_code(w->self, source.ranges[i].start, source.ranges[i].end, table);
	return w->error < 0 || w->self->table_count == MODULES_MAX;
}

static int by_start(const void *a_, const void *b_)
{
	const struct code *a = a_, *b = b_;

	return a->start < b->start ? -1 : a->start > b->start;
}

int perfev_own_tables_new(struct perfev_own_tables **ret, struct perfev_error *err)
{
	unsigned abi;
	enum perfev_arch arch = perfev_arch_host(&abi);
	struct work w = {calloc(1, sizeof(*w.self)), 0};

	if (!w.self)
		return error_memory(err);
	w.self->machine = unwind_machine(arch, abi);
	if (!w.self->machine || !HERE_KNOWN) {
		free(w.self);
		return error_set(err, -ENOTSUP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot unwind the own stack: not on this machine, only on x86, arm64 and riscv64");
	}
	dl_iterate_phdr(take_module, &w);
	if (w.error < 0) {
		perfev_own_tables_free(w.self);
		return error_memory(err);
	}
	if (w.self->count)
		qsort(w.self->codes, w.self->count, sizeof(*w.self->codes), by_start);
	*ret = w.self;
	return 0;
}

void perfev_own_tables_free(struct perfev_own_tables *self)
{
	size_t i;

	if (!self)
		return;
	for (i = 0; i < self->table_count; i++) {
		unwind_table_free(self->tables[i]);
		free(self->tables[i]);
	}
	free(self->tables);
	free(self->codes);
	free(self);
}

/* ---- registers ------------------------------------------------------------------------------------------------------ */

static inline void set(struct unwind_state *s, unsigned reg, uint64_t value)
{
	s->regs[reg] = value;
	s->known |= UINT64_C(1) << reg;
}

/* Those of a signal handler's third argument, which is a part of the frame that the kernel made: by the kernel's layout of it,
 * since each C library has other names. */
static bool take_context(const struct perfev_own_tables *self, struct unwind_state *s, const void *context)
{
	struct unwind_memory memory = {context, self->machine->signal_context, CONTEXT_BYTES, false, NULL};

	s->regs[self->machine->sp] = 0;
	return unwind_step_signal(s, self->machine, &memory) == UNWIND_CALLER;
}

/* Those that functions give back, here. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define TAKE_HERE(s)                                                                                              \
	do {                                                                                                      \
		uint64_t at_[8];                                                                                  \
		__asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%rsp, 16(%0)\n\t"               \
				 "movq %%r12, 24(%0)\n\tmovq %%r13, 32(%0)\n\tmovq %%r14, 40(%0)\n\t"             \
				 "movq %%r15, 48(%0)\n\tleaq 0(%%rip), %%rdx\n\tmovq %%rdx, 56(%0)"               \
				 :                                                                                \
				 : "a"(at_)                                                                       \
				 : "rdx", "memory");                                                              \
		set(s, 3, at_[0]);                                                                                \
		set(s, 6, at_[1]);                                                                                \
		set(s, 7, at_[2]);                                                                                \
		set(s, 12, at_[3]);                                                                               \
		set(s, 13, at_[4]);                                                                               \
		set(s, 14, at_[5]);                                                                               \
		set(s, 15, at_[6]);                                                                               \
		(s)->pc = at_[7];                                                                                 \
	} while (0)
#elif defined(__i386__)
#define TAKE_HERE(s)                                                                                              \
	do {                                                                                                      \
		uint32_t at_[6];                                                                                  \
		__asm__ volatile("movl %%ebx, 0(%0)\n\tmovl %%ebp, 4(%0)\n\tmovl %%esp, 8(%0)\n\t"                \
				 "movl %%esi, 12(%0)\n\tmovl %%edi, 16(%0)\n\t"                                   \
				 "call 1f\n1:\tpopl %%edx\n\tmovl %%edx, 20(%0)"                                  \
				 :                                                                                \
				 : "a"(at_)                                                                       \
				 : "edx", "memory");                                                              \
		set(s, 3, at_[0]);                                                                                \
		set(s, 5, at_[1]);                                                                                \
		set(s, 4, at_[2]);                                                                                \
		set(s, 6, at_[3]);                                                                                \
		set(s, 7, at_[4]);                                                                                \
		(s)->pc = at_[5];                                                                                 \
	} while (0)
#elif defined(__aarch64__)
#define TAKE_HERE(s)                                                                                              \
	do {                                                                                                      \
		uint64_t at_[14];                                                                                 \
		unsigned i_;                                                                                      \
		__asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, 16]\n\tstp x23, x24, [%0, 32]\n\t"     \
				 "stp x25, x26, [%0, 48]\n\tstp x27, x28, [%0, 64]\n\tstp x29, x30, [%0, 80]\n\t" \
				 "mov x9, sp\n\tadr x10, .\n\tstp x9, x10, [%0, 96]"                              \
				 :                                                                                \
				 : "r"(at_)                                                                       \
				 : "x9", "x10", "memory");                                                        \
		for (i_ = 0; i_ < 12; i_++)                                                                       \
			set(s, 19 + i_, at_[i_]);                                                                 \
		set(s, 31, at_[12]);                                                                              \
		(s)->pc = at_[13];                                                                                \
	} while (0)
#elif defined(__riscv) && __riscv_xlen == 64
#define TAKE_HERE(s)                                                                                              \
	do {                                                                                                      \
		uint64_t at_[15];                                                                                 \
		unsigned i_;                                                                                      \
		__asm__ volatile("sd s0, 0(%0)\n\tsd s1, 8(%0)\n\tsd s2, 16(%0)\n\tsd s3, 24(%0)\n\t"             \
				 "sd s4, 32(%0)\n\tsd s5, 40(%0)\n\tsd s6, 48(%0)\n\tsd s7, 56(%0)\n\t"           \
				 "sd s8, 64(%0)\n\tsd s9, 72(%0)\n\tsd s10, 80(%0)\n\tsd s11, 88(%0)\n\t"         \
				 "sd sp, 96(%0)\n\tsd ra, 104(%0)\n\tauipc t0, 0\n\tsd t0, 112(%0)"               \
				 :                                                                                \
				 : "r"(at_)                                                                       \
				 : "t0", "memory");                                                               \
		set(s, 0, 0);                                                                                     \
		set(s, 8, at_[0]);                                                                                \
		set(s, 9, at_[1]);                                                                                \
		for (i_ = 2; i_ < 12; i_++)                                                                       \
			set(s, 16 + i_, at_[i_]);                                                                 \
		set(s, 2, at_[12]);                                                                               \
		set(s, 1, at_[13]);                                                                               \
		(s)->pc = at_[14];                                                                                \
	} while (0)
#else
#define TAKE_HERE(s) ((s)->pc = 0)
#endif

/* ---- walking -------------------------------------------------------------------------------------------------------- */

static const struct code *find_code(const struct perfev_own_tables *self, uint64_t pc)
{
	size_t low = sorted_before(self->codes, self->count, end, pc);

	return low < self->count && self->codes[low].start <= pc ? &self->codes[low] : NULL;
}

/* Also where a return address was signed, above the bits that are the address. */
static const struct code *find_caller(const struct perfev_own_tables *self, struct unwind_state *state, bool exact)
{
	const struct code *code = find_code(self, state->pc - !exact);

	if (code || self->machine->link != LINK_ARM64)
		return code;
	state->pc &= (UINT64_C(1) << ADDRESS_BITS) - 1;
	return find_code(self, state->pc - !exact);
}

static bool is_signal(const struct unwind_machine *machine, const struct code *code, uint64_t pc)
{
	return code->end - pc >= UNWIND_SIGNAL_CODE &&
	       unwind_is_signal(machine, (const unsigned char *)(uintptr_t)pc, UNWIND_SIGNAL_CODE);
}

static bool readable(uint64_t address)
{
	return address == (uintptr_t)address && plug_readable((const void *)(uintptr_t)(address & ~UINT64_C(7)));
}

/* What can be read grows upwards by pages; another stack, as of signals, begins anew. */
static bool more_memory(struct unwind_memory *memory, uint64_t address)
{
	uint64_t end = memory->start + memory->size, last = address + 7;
	unsigned pages = 0;

	if (last < address)
		return false;
	if (address < memory->start || address >= end + (uint64_t)PAGES_MAX * PAGE) {
		memory->start = address & ~(uint64_t)(PAGE - 1);
		memory->size = 0;
		end = memory->start;
	}
	for (; end <= last; end += PAGE) {
		if (pages++ == PAGES_MAX || !readable(end))
			return false;
		memory->size = end + PAGE - memory->start;
	}
	memory->data = (const unsigned char *)(uintptr_t)memory->start;
	return true;
}

static uint32_t walk(const struct perfev_own_tables *self, struct unwind_state *state, struct perfev_unwound_frame *frames,
		     uint32_t max, uint32_t *end, bool skips)
{
	static const uint8_t ends[] = {
		[UNWIND_OUTERMOST] = PERFEV_UNWOUND_COMPLETE,
		[UNWIND_NO_RULE] = PERFEV_UNWOUND_NO_RULE,
		[UNWIND_NO_STACK] = PERFEV_UNWOUND_STACK,
		[UNWIND_BAD] = PERFEV_UNWOUND_BAD_RULE,
	};
	struct unwind_memory memory = {NULL, state->regs[self->machine->sp] & ~(uint64_t)(PAGE - 1), 0, false, more_memory};
	uint32_t count = 0, flags = 0;

	*end = PERFEV_UNWOUND_DEPTH;
	while (count < max) {
		bool exact = !(flags & PERFEV_UNWOUND_RETURN);
		const struct code *code = find_caller(self, state, exact);
		const struct unwind_rule *rule = code && code->table ? unwind_table_find(code->table, state->pc - !exact) : NULL;
		enum unwind_result result;
		bool signal;

		if (rule && unwind_is_poor_signal(rule) && is_signal(self->machine, code, state->pc))
			rule = NULL;
		signal = rule ? rule->flags & UNWIND_SIGNAL : code && is_signal(self->machine, code, state->pc);

		if (!code && (count || skips)) {
			*end = PERFEV_UNWOUND_NO_CODE;
			break;
		}
		if (!skips) {
			frames[count] = (struct perfev_unwound_frame){state->pc, flags, 0};
			if (signal)
				frames[count].flags = (flags & ~(uint32_t)PERFEV_UNWOUND_RETURN) | PERFEV_UNWOUND_SIGNAL;
			count++;
		}
		skips = false;
		flags = signal ? 0 : PERFEV_UNWOUND_RETURN;
		if (rule) {
			result = unwind_step(state, self->machine, &memory, code->table, rule, exact);
		} else if (signal) {
			result = unwind_step_signal(state, self->machine, &memory);
		} else {
			result = unwind_step_frame(state, self->machine, &memory);
			flags |= PERFEV_UNWOUND_GUESSED;
		}
		if (result != UNWIND_CALLER || !state->pc) {
			*end = result == UNWIND_CALLER ? PERFEV_UNWOUND_COMPLETE : ends[result];
			break;
		}
	}
	return count;
}

__attribute__((noinline)) uint32_t perfev_unwind_self(const struct perfev_own_tables *self, const void *ucontext,
						      struct perfev_unwound_frame *frames, uint32_t max, uint32_t *end)
{
	struct unwind_state state = {.known = 0};
	uint32_t why, count;

	if (!ucontext)
		TAKE_HERE(&state);
	else if (!take_context(self, &state, ucontext))
		return 0;
	count = walk(self, &state, frames, max, &why, !ucontext);
	if (end)
		*end = why;
	return count;
}
