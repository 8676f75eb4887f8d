/* SPDX-License-Identifier: MIT */
/*
 * Call frame information: any bytes give a table, or none; any rule of it, on any stack, a caller or a reason.
 *
 * An ELF file is taken as one; other bytes are: the kind (machine, section), then the section. The stack is the input too.
 */
#include "fuzz.h"

#include "symbols/unwind_module.h"
#include "symbols/unwind_step.h"

#define CODE_AT	 0x401000
#define STEPS	 64
#define ROWS	 256

static const struct {
	enum perfev_arch arch;
	uint64_t abi;
} kinds[] = {{PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64},
	     {PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_32},
	     {PERFEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64},
	     {PERFEV_ARCH_RISCV, PERF_SAMPLE_REGS_ABI_64}};

static const struct unwind_machine *machine_of(uint16_t elf)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (unwind_machine(kinds[i].arch, kinds[i].abi)->elf == elf)
			return unwind_machine(kinds[i].arch, kinds[i].abi);
	return unwind_machine(kinds[0].arch, kinds[0].abi);
}

/* From a row on, by whatever rule is where it leads. */
static void climb(const struct unwind_table *table, const struct unwind_machine *machine, const uint8_t *data, size_t size,
		  uint64_t pc)
{
	struct unwind_memory memory = {data, UINT64_C(0x7ffc0000), size, table->swap, NULL};
	struct unwind_state state = {.pc = pc, .known = UINT64_C(0x1ffffffff)};
	uint64_t sp = memory.start;
	unsigned i;

	for (i = 0; i < UNWIND_REGISTERS; i++)
		state.regs[i] = memory.start + i * 8;
	state.regs[machine->sp] = memory.start;
	for (i = 0; i < STEPS; i++) {
		const struct unwind_rule *rule = unwind_table_find(table, state.pc);
		struct unwind_quick quick;
		struct unwind_state by_quick = state;
		bool can = rule && unwind_quick(&quick, machine, table, rule) &&
			   unwind_step_quick(&by_quick, machine, &memory, &quick, i == 0);
		enum unwind_result r = rule ? unwind_step(&state, machine, &memory, table, rule, i == 0)
					    : unwind_step_frame(&state, machine, &memory);

		if (machine->signal_size) {
			struct unwind_state interrupted = state;

			unwind_step_signal(&interrupted, machine, &memory);
		}
		if (can && (r != UNWIND_CALLER || by_quick.pc != state.pc || by_quick.known != state.known))
			abort(); /* two ways, one answer */
		if (r != UNWIND_CALLER)
			break;
		if (can && i && state.regs[machine->sp] <= sp)
			abort(); /* it went back */
		sp = state.regs[machine->sp];
		if (!unwind_table_find(table, state.pc))
			state.pc = pc + i;
	}
}

static void use(struct unwind_table *table, const uint8_t *data, size_t size)
{
	const struct unwind_machine *machine = machine_of(table->machine);
	size_t i, step = table->row_count / ROWS + 1;

	for (i = 0; i < table->row_count; i += step) {
		if (i && table->rows[i].start <= table->rows[i - 1].start)
			abort();
		climb(table, machine, data, size, table->base + table->rows[i].start);
	}
	unwind_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes bytes = {data, size};
	struct unwind_table table;
	struct elf elf;

	if (elf_open_memory(&elf, bytes) == 0) {
		if (unwind_elf_table(&table, &elf, NULL) == 0)
			use(&table, data, size);
		return 0;
	}
	if (size > 1) {
		const struct unwind_machine *machine = unwind_machine(kinds[data[0] & 3].arch, kinds[data[0] & 3].abi);
		struct cfi_source source = {.section_count = 1, .range_count = 1, .machine = machine->elf,
					    .wide = machine->word == 8, .swap = data[0] >> 2 & 1};

		source.sections[0] = (struct cfi_section){data + 1, size - 1, 0x500000, (enum cfi_kind)((data[0] >> 3 & 3) % 3)};
		source.ranges[0].start = CODE_AT;
		source.ranges[0].end = CODE_AT + 0x100000;
		if (cfi_compile(&table, &source) == 0)
			use(&table, data, size);
	}
	return 0;
}
