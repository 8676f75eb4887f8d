/* SPDX-License-Identifier: MIT */
/*
 * Machines whose stacks are unwound: their registers by the numbers of DWARF and of perf, which of them functions give back,
 * and the frames that signals leave behind.
 */
#include "unwind_machine.h"

#define BIT(n) (UINT64_C(1) << (n))

/* The kernel's layout of a signal's frame: struct rt_sigframe, from the end of what precedes ucontext on. */
static const uint16_t x86_64_signal[16] = {
	/* rax */ 144, /* rdx */ 136, /* rcx */ 152, /* rbx */ 128, /* rsi */ 112, /* rdi */ 104, /* rbp */ 120, /* rsp */ 160,
	/* r8 */ 40,   48,	      56,	     64,	    72,		   80,		  88,		 96};

static const uint16_t i386_signal[16] = {/* eax */ 64, /* ecx */ 60, /* edx */ 56, /* ebx */ 52,
					 /* esp */ 48, /* ebp */ 44, /* esi */ 40, /* edi */ 36};

static const struct unwind_machine machines[] = {
	{/* x86-64 */
	 .elf = 62, .count = 16, .sp = 7, .fp = 6, .link = UNWIND_REGISTERS, .pc = PERF_REG_X86_IP, .word = 8,
	 .fp_link = 8, .fp_saved = 0, .fp_cfa = 16,
	 .kept = BIT(3) | BIT(6) | BIT(12) | BIT(13) | BIT(14) | BIT(15),
	 /* mov $15,%rax; syscall */
	 .signal_size = 9, .signal_code = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, .signal_pc = 168,
	 .signal_at = x86_64_signal, .signal_mask = 0xffff,
	 .numbers = {PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX, PERF_REG_X86_BX, PERF_REG_X86_SI, PERF_REG_X86_DI,
		     PERF_REG_X86_BP, PERF_REG_X86_SP, PERF_REG_X86_R8, PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
		     PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15}},
	{/* i386 */
	 .elf = 3, .count = 8, .sp = 4, .fp = 5, .link = UNWIND_REGISTERS, .pc = PERF_REG_X86_IP, .word = 4,
	 .fp_link = 4, .fp_saved = 0, .fp_cfa = 8, .kept = BIT(3) | BIT(5) | BIT(6) | BIT(7),
	 .signal_pc = 76, .signal_at = i386_signal, .signal_mask = 0xff, /* of ucontext: what is before it differs */
	 .numbers = {PERF_REG_X86_AX, PERF_REG_X86_CX, PERF_REG_X86_DX, PERF_REG_X86_BX, PERF_REG_X86_SP, PERF_REG_X86_BP,
		     PERF_REG_X86_SI, PERF_REG_X86_DI}},
	{/* arm64 */
	 .elf = 183, .count = 32, .sp = 31, .fp = 29, .link = 30, .pc = PERF_REG_ARM64_PC, .word = 8,
	 .fp_link = 8, .fp_saved = 0, .fp_cfa = 16, .kept = UINT64_C(0x3ff) << 19 | BIT(29),
	 /* mov x8,#139; svc #0 */
	 .signal_size = 8, .signal_code = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, .signal_context = 128, .signal_pc = 568,
	 .signal_regs = 312, .signal_mask = UINT32_MAX,
	 .numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
		     28, 29, PERF_REG_ARM64_LR, PERF_REG_ARM64_SP}},
	{/* riscv, 64 bit: perf has the pc in place of x0 */
	 .elf = 243, .count = 32, .sp = 2, .fp = 8, .link = 1, .pc = PERF_REG_RISCV_PC, .word = 8,
	 .fp_link = -8, .fp_saved = -16, .fp_cfa = 0, .kept = BIT(8) | BIT(9) | UINT64_C(0x3ff) << 18, .zero = BIT(0),
	 /* li a7,139; ecall */
	 .signal_size = 8, .signal_code = {0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00}, .signal_context = 128, .signal_pc = 304,
	 .signal_regs = 304, .signal_mask = UINT32_MAX - 1,
	 .numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
		     28, 29, 30, 31}},
};

const struct unwind_machine *unwind_machine(enum perfev_arch arch, uint64_t abi)
{
	if (abi != PERF_SAMPLE_REGS_ABI_32 && abi != PERF_SAMPLE_REGS_ABI_64)
		return NULL;
	if (arch == PERFEV_ARCH_X86)
		return &machines[abi == PERF_SAMPLE_REGS_ABI_32];
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return NULL;
	return arch == PERFEV_ARCH_ARM64 ? &machines[2] : arch == PERFEV_ARCH_RISCV ? &machines[3] : NULL;
}
