/* SPDX-License-Identifier: MIT */
/*
 * perfev/regs.h - registers in samples: their numbers on every architecture, and their names
 *
 * attr.sample_regs_user and sample_regs_intr are masks of these numbers, and a sample's dump has
 * one word for each bit that is set, lowest first. The kernel has one header for each architecture;
 * here all are there at once, on any host, since a recording is often read on another machine.
 *
 * The numbers have the kernel's names. Beside <asm/perf_regs.h>, either may come first; what an old
 * one lacks is added. Only PERF_REG_EXTENDED_MASK is the host's own, as there: several
 * architectures give that name to different masks. Numbers in brackets are the first kernel that
 * has the item.
 */
#ifndef PERFEV_REGS_H
#define PERFEV_REGS_H

#include <perfev/abi.h>
#include <perfev/common.h>

/* ---- x86, 32 and 64 bit: not in the order of DWARF ------------------------------------------- */

#if defined(_ASM_X86_PERF_REGS_H) || defined(_UAPI_ASM_X86_PERF_REGS_H)
#define PERF_REG_X86_XMM0    32
#define PERF_REG_X86_XMM1    34
#define PERF_REG_X86_XMM2    36
#define PERF_REG_X86_XMM3    38
#define PERF_REG_X86_XMM4    40
#define PERF_REG_X86_XMM5    42
#define PERF_REG_X86_XMM6    44
#define PERF_REG_X86_XMM7    46
#define PERF_REG_X86_XMM8    48
#define PERF_REG_X86_XMM9    50
#define PERF_REG_X86_XMM10   52
#define PERF_REG_X86_XMM11   54
#define PERF_REG_X86_XMM12   56
#define PERF_REG_X86_XMM13   58
#define PERF_REG_X86_XMM14   60
#define PERF_REG_X86_XMM15   62
#define PERF_REG_X86_XMM_MAX 64
#else
#define _ASM_X86_PERF_REGS_H
enum perfev_reg_x86 {
	PERF_REG_X86_AX = 0, PERF_REG_X86_BX = 1, PERF_REG_X86_CX = 2, PERF_REG_X86_DX = 3,
	PERF_REG_X86_SI = 4, PERF_REG_X86_DI = 5, PERF_REG_X86_BP = 6, PERF_REG_X86_SP = 7,
	PERF_REG_X86_IP = 8, PERF_REG_X86_FLAGS = 9, PERF_REG_X86_CS = 10, PERF_REG_X86_SS = 11,
	PERF_REG_X86_DS = 12, PERF_REG_X86_ES = 13, PERF_REG_X86_FS = 14, PERF_REG_X86_GS = 15,
	PERF_REG_X86_R8 = 16, PERF_REG_X86_R9 = 17, PERF_REG_X86_R10 = 18, PERF_REG_X86_R11 = 19,
	PERF_REG_X86_R12 = 20, PERF_REG_X86_R13 = 21, PERF_REG_X86_R14 = 22,
	PERF_REG_X86_R15 = 23,
	PERF_REG_X86_32_MAX = 16,
	PERF_REG_X86_64_MAX = 24,
	/* [5.2] of two words each: the next number is the upper half */
	PERF_REG_X86_XMM0 = 32, PERF_REG_X86_XMM1 = 34, PERF_REG_X86_XMM2 = 36,
	PERF_REG_X86_XMM3 = 38, PERF_REG_X86_XMM4 = 40, PERF_REG_X86_XMM5 = 42,
	PERF_REG_X86_XMM6 = 44, PERF_REG_X86_XMM7 = 46, PERF_REG_X86_XMM8 = 48,
	PERF_REG_X86_XMM9 = 50, PERF_REG_X86_XMM10 = 52, PERF_REG_X86_XMM11 = 54,
	PERF_REG_X86_XMM12 = 56, PERF_REG_X86_XMM13 = 58, PERF_REG_X86_XMM14 = 60,
	PERF_REG_X86_XMM15 = 62,
	PERF_REG_X86_XMM_MAX = 64
};
#endif

#if (defined(__x86_64__) || defined(__i386__)) && !defined(PERF_REG_EXTENDED_MASK)
#define PERF_REG_EXTENDED_MASK UINT64_C(0xffffffff00000000)
#endif

/* ---- arm, 32 bit ----------------------------------------------------------------------------- */

#if !defined(_ASM_ARM_PERF_REGS_H) && !defined(_UAPI_ASM_ARM_PERF_REGS_H)
#define _ASM_ARM_PERF_REGS_H
enum perfev_reg_arm {
	PERF_REG_ARM_R0 = 0, PERF_REG_ARM_R1 = 1, PERF_REG_ARM_R2 = 2, PERF_REG_ARM_R3 = 3,
	PERF_REG_ARM_R4 = 4, PERF_REG_ARM_R5 = 5, PERF_REG_ARM_R6 = 6, PERF_REG_ARM_R7 = 7,
	PERF_REG_ARM_R8 = 8, PERF_REG_ARM_R9 = 9, PERF_REG_ARM_R10 = 10, PERF_REG_ARM_FP = 11,
	PERF_REG_ARM_IP = 12, PERF_REG_ARM_SP = 13, PERF_REG_ARM_LR = 14, PERF_REG_ARM_PC = 15,
	PERF_REG_ARM_MAX = 16
};
#endif

/* ---- arm64 ----------------------------------------------------------------------------------- */

/* A 32-bit task's dump has r0 to r12, sp, lr and pc at 0 to 15; lr, sp and pc again at 30 to 32. */

#if defined(_ASM_ARM64_PERF_REGS_H) || defined(_UAPI_ASM_ARM64_PERF_REGS_H)
#define PERF_REG_ARM64_VG           46
#define PERF_REG_ARM64_EXTENDED_MAX 47
#else
#define _ASM_ARM64_PERF_REGS_H
enum perfev_reg_arm64 {
	PERF_REG_ARM64_X0 = 0, PERF_REG_ARM64_X1 = 1, PERF_REG_ARM64_X2 = 2,
	PERF_REG_ARM64_X3 = 3, PERF_REG_ARM64_X4 = 4, PERF_REG_ARM64_X5 = 5,
	PERF_REG_ARM64_X6 = 6, PERF_REG_ARM64_X7 = 7, PERF_REG_ARM64_X8 = 8,
	PERF_REG_ARM64_X9 = 9, PERF_REG_ARM64_X10 = 10, PERF_REG_ARM64_X11 = 11,
	PERF_REG_ARM64_X12 = 12, PERF_REG_ARM64_X13 = 13, PERF_REG_ARM64_X14 = 14,
	PERF_REG_ARM64_X15 = 15, PERF_REG_ARM64_X16 = 16, PERF_REG_ARM64_X17 = 17,
	PERF_REG_ARM64_X18 = 18, PERF_REG_ARM64_X19 = 19, PERF_REG_ARM64_X20 = 20,
	PERF_REG_ARM64_X21 = 21, PERF_REG_ARM64_X22 = 22, PERF_REG_ARM64_X23 = 23,
	PERF_REG_ARM64_X24 = 24, PERF_REG_ARM64_X25 = 25, PERF_REG_ARM64_X26 = 26,
	PERF_REG_ARM64_X27 = 27, PERF_REG_ARM64_X28 = 28, PERF_REG_ARM64_X29 = 29,
	PERF_REG_ARM64_LR = 30, PERF_REG_ARM64_SP = 31, PERF_REG_ARM64_PC = 32,
	PERF_REG_ARM64_MAX = 33,
	PERF_REG_ARM64_VG = 46, /* [6.1] vector granule, with SVE only */
	PERF_REG_ARM64_EXTENDED_MAX = 47
};
#endif

#if defined(__aarch64__) && !defined(PERF_REG_EXTENDED_MASK)
#define PERF_REG_EXTENDED_MASK (UINT64_C(1) << PERF_REG_ARM64_VG)
#endif

/* ---- riscv ----------------------------------------------------------------------------------- */

#if !defined(_ASM_RISCV_PERF_REGS_H) && !defined(_UAPI_ASM_RISCV_PERF_REGS_H)
#define _ASM_RISCV_PERF_REGS_H
enum perfev_reg_riscv {
	PERF_REG_RISCV_PC = 0, PERF_REG_RISCV_RA = 1, PERF_REG_RISCV_SP = 2,
	PERF_REG_RISCV_GP = 3, PERF_REG_RISCV_TP = 4, PERF_REG_RISCV_T0 = 5,
	PERF_REG_RISCV_T1 = 6, PERF_REG_RISCV_T2 = 7, PERF_REG_RISCV_S0 = 8,
	PERF_REG_RISCV_S1 = 9, PERF_REG_RISCV_A0 = 10, PERF_REG_RISCV_A1 = 11,
	PERF_REG_RISCV_A2 = 12, PERF_REG_RISCV_A3 = 13, PERF_REG_RISCV_A4 = 14,
	PERF_REG_RISCV_A5 = 15, PERF_REG_RISCV_A6 = 16, PERF_REG_RISCV_A7 = 17,
	PERF_REG_RISCV_S2 = 18, PERF_REG_RISCV_S3 = 19, PERF_REG_RISCV_S4 = 20,
	PERF_REG_RISCV_S5 = 21, PERF_REG_RISCV_S6 = 22, PERF_REG_RISCV_S7 = 23,
	PERF_REG_RISCV_S8 = 24, PERF_REG_RISCV_S9 = 25, PERF_REG_RISCV_S10 = 26,
	PERF_REG_RISCV_S11 = 27, PERF_REG_RISCV_T3 = 28, PERF_REG_RISCV_T4 = 29,
	PERF_REG_RISCV_T5 = 30, PERF_REG_RISCV_T6 = 31, PERF_REG_RISCV_MAX = 32
};
#endif

/* ---- powerpc --------------------------------------------------------------------------------- */

#if defined(_ASM_POWERPC_PERF_REGS_H) || defined(_UAPI_ASM_POWERPC_PERF_REGS_H)
#define PERF_REG_POWERPC_MMCR0 45
#define PERF_REG_POWERPC_MMCR1 46
#define PERF_REG_POWERPC_MMCR2 47
#define PERF_REG_POWERPC_MMCR3 48
#define PERF_REG_POWERPC_SIER2 49
#define PERF_REG_POWERPC_SIER3 50
#define PERF_REG_POWERPC_PMC1  51
#define PERF_REG_POWERPC_PMC2  52
#define PERF_REG_POWERPC_PMC3  53
#define PERF_REG_POWERPC_PMC4  54
#define PERF_REG_POWERPC_PMC5  55
#define PERF_REG_POWERPC_PMC6  56
#define PERF_REG_POWERPC_SDAR  57
#define PERF_REG_POWERPC_SIAR  58
#define PERF_REG_EXTENDED_MAX  59
#else
#define _ASM_POWERPC_PERF_REGS_H
enum perfev_reg_powerpc {
	PERF_REG_POWERPC_R0 = 0, PERF_REG_POWERPC_R1 = 1, PERF_REG_POWERPC_R2 = 2,
	PERF_REG_POWERPC_R3 = 3, PERF_REG_POWERPC_R4 = 4, PERF_REG_POWERPC_R5 = 5,
	PERF_REG_POWERPC_R6 = 6, PERF_REG_POWERPC_R7 = 7, PERF_REG_POWERPC_R8 = 8,
	PERF_REG_POWERPC_R9 = 9, PERF_REG_POWERPC_R10 = 10, PERF_REG_POWERPC_R11 = 11,
	PERF_REG_POWERPC_R12 = 12, PERF_REG_POWERPC_R13 = 13, PERF_REG_POWERPC_R14 = 14,
	PERF_REG_POWERPC_R15 = 15, PERF_REG_POWERPC_R16 = 16, PERF_REG_POWERPC_R17 = 17,
	PERF_REG_POWERPC_R18 = 18, PERF_REG_POWERPC_R19 = 19, PERF_REG_POWERPC_R20 = 20,
	PERF_REG_POWERPC_R21 = 21, PERF_REG_POWERPC_R22 = 22, PERF_REG_POWERPC_R23 = 23,
	PERF_REG_POWERPC_R24 = 24, PERF_REG_POWERPC_R25 = 25, PERF_REG_POWERPC_R26 = 26,
	PERF_REG_POWERPC_R27 = 27, PERF_REG_POWERPC_R28 = 28, PERF_REG_POWERPC_R29 = 29,
	PERF_REG_POWERPC_R30 = 30, PERF_REG_POWERPC_R31 = 31, PERF_REG_POWERPC_NIP = 32,
	PERF_REG_POWERPC_MSR = 33, PERF_REG_POWERPC_ORIG_R3 = 34, PERF_REG_POWERPC_CTR = 35,
	PERF_REG_POWERPC_LINK = 36, PERF_REG_POWERPC_XER = 37, PERF_REG_POWERPC_CCR = 38,
	PERF_REG_POWERPC_SOFTE = 39, PERF_REG_POWERPC_TRAP = 40, PERF_REG_POWERPC_DAR = 41,
	PERF_REG_POWERPC_DSISR = 42, PERF_REG_POWERPC_SIER = 43, PERF_REG_POWERPC_MMCRA = 44,
	PERF_REG_POWERPC_MAX = 45,
	/* [5.9] of the PMU: in sample_regs_intr only, and not on each CPU */
	PERF_REG_POWERPC_MMCR0 = 45, PERF_REG_POWERPC_MMCR1 = 46, PERF_REG_POWERPC_MMCR2 = 47,
	PERF_REG_POWERPC_MMCR3 = 48, PERF_REG_POWERPC_SIER2 = 49, PERF_REG_POWERPC_SIER3 = 50,
	PERF_REG_POWERPC_PMC1 = 51, PERF_REG_POWERPC_PMC2 = 52, PERF_REG_POWERPC_PMC3 = 53,
	PERF_REG_POWERPC_PMC4 = 54, PERF_REG_POWERPC_PMC5 = 55, PERF_REG_POWERPC_PMC6 = 56,
	PERF_REG_POWERPC_SDAR = 57, PERF_REG_POWERPC_SIAR = 58,
	PERF_REG_EXTENDED_MAX = 59
};
#endif

#undef PERF_REG_PMU_MASK
#undef PERF_REG_PMU_MASK_300
#undef PERF_REG_PMU_MASK_31
#define PERF_REG_PMU_MASK     UINT64_C(0x00001fffffffffff) /* on each CPU */
#define PERF_REG_PMU_MASK_300 UINT64_C(0x07f8e00000000000) /* besides, with ISA 3.0 */
#define PERF_REG_PMU_MASK_31  UINT64_C(0x07ffe00000000000) /* besides, with ISA 3.1 */

/* ---- loongarch: R1 is ra, R3 sp, R22 fp ------------------------------------------------------ */

#if !defined(_ASM_LOONGARCH_PERF_REGS_H) && !defined(_UAPI_ASM_LOONGARCH_PERF_REGS_H)
#define _ASM_LOONGARCH_PERF_REGS_H
enum perfev_reg_loongarch {
	PERF_REG_LOONGARCH_PC = 0, PERF_REG_LOONGARCH_R1 = 1, PERF_REG_LOONGARCH_R2 = 2,
	PERF_REG_LOONGARCH_R3 = 3, PERF_REG_LOONGARCH_R4 = 4, PERF_REG_LOONGARCH_R5 = 5,
	PERF_REG_LOONGARCH_R6 = 6, PERF_REG_LOONGARCH_R7 = 7, PERF_REG_LOONGARCH_R8 = 8,
	PERF_REG_LOONGARCH_R9 = 9, PERF_REG_LOONGARCH_R10 = 10, PERF_REG_LOONGARCH_R11 = 11,
	PERF_REG_LOONGARCH_R12 = 12, PERF_REG_LOONGARCH_R13 = 13, PERF_REG_LOONGARCH_R14 = 14,
	PERF_REG_LOONGARCH_R15 = 15, PERF_REG_LOONGARCH_R16 = 16, PERF_REG_LOONGARCH_R17 = 17,
	PERF_REG_LOONGARCH_R18 = 18, PERF_REG_LOONGARCH_R19 = 19, PERF_REG_LOONGARCH_R20 = 20,
	PERF_REG_LOONGARCH_R21 = 21, PERF_REG_LOONGARCH_R22 = 22, PERF_REG_LOONGARCH_R23 = 23,
	PERF_REG_LOONGARCH_R24 = 24, PERF_REG_LOONGARCH_R25 = 25, PERF_REG_LOONGARCH_R26 = 26,
	PERF_REG_LOONGARCH_R27 = 27, PERF_REG_LOONGARCH_R28 = 28, PERF_REG_LOONGARCH_R29 = 29,
	PERF_REG_LOONGARCH_R30 = 30, PERF_REG_LOONGARCH_R31 = 31, PERF_REG_LOONGARCH_MAX = 32
};
#endif

/* ---- s390 ------------------------------------------------------------------------------------ */

#if !defined(_ASM_S390_PERF_REGS_H) && !defined(_UAPI_ASM_S390_PERF_REGS_H)
#define _ASM_S390_PERF_REGS_H
enum perfev_reg_s390 {
	PERF_REG_S390_R0 = 0, PERF_REG_S390_R1 = 1, PERF_REG_S390_R2 = 2, PERF_REG_S390_R3 = 3,
	PERF_REG_S390_R4 = 4, PERF_REG_S390_R5 = 5, PERF_REG_S390_R6 = 6, PERF_REG_S390_R7 = 7,
	PERF_REG_S390_R8 = 8, PERF_REG_S390_R9 = 9, PERF_REG_S390_R10 = 10,
	PERF_REG_S390_R11 = 11, PERF_REG_S390_R12 = 12, PERF_REG_S390_R13 = 13,
	PERF_REG_S390_R14 = 14, PERF_REG_S390_R15 = 15, PERF_REG_S390_FP0 = 16,
	PERF_REG_S390_FP1 = 17, PERF_REG_S390_FP2 = 18, PERF_REG_S390_FP3 = 19,
	PERF_REG_S390_FP4 = 20, PERF_REG_S390_FP5 = 21, PERF_REG_S390_FP6 = 22,
	PERF_REG_S390_FP7 = 23, PERF_REG_S390_FP8 = 24, PERF_REG_S390_FP9 = 25,
	PERF_REG_S390_FP10 = 26, PERF_REG_S390_FP11 = 27, PERF_REG_S390_FP12 = 28,
	PERF_REG_S390_FP13 = 29, PERF_REG_S390_FP14 = 30, PERF_REG_S390_FP15 = 31,
	PERF_REG_S390_MASK = 32, PERF_REG_S390_PC = 33, PERF_REG_S390_MAX = 34
};
#endif

/* ---- mips: R29 is sp, R31 ra ----------------------------------------------------------------- */

#if !defined(_ASM_MIPS_PERF_REGS_H) && !defined(_UAPI_ASM_MIPS_PERF_REGS_H)
#define _ASM_MIPS_PERF_REGS_H
enum perfev_reg_mips {
	PERF_REG_MIPS_PC = 0, PERF_REG_MIPS_R1 = 1, PERF_REG_MIPS_R2 = 2, PERF_REG_MIPS_R3 = 3,
	PERF_REG_MIPS_R4 = 4, PERF_REG_MIPS_R5 = 5, PERF_REG_MIPS_R6 = 6, PERF_REG_MIPS_R7 = 7,
	PERF_REG_MIPS_R8 = 8, PERF_REG_MIPS_R9 = 9, PERF_REG_MIPS_R10 = 10,
	PERF_REG_MIPS_R11 = 11, PERF_REG_MIPS_R12 = 12, PERF_REG_MIPS_R13 = 13,
	PERF_REG_MIPS_R14 = 14, PERF_REG_MIPS_R15 = 15, PERF_REG_MIPS_R16 = 16,
	PERF_REG_MIPS_R17 = 17, PERF_REG_MIPS_R18 = 18, PERF_REG_MIPS_R19 = 19,
	PERF_REG_MIPS_R20 = 20, PERF_REG_MIPS_R21 = 21, PERF_REG_MIPS_R22 = 22,
	PERF_REG_MIPS_R23 = 23, PERF_REG_MIPS_R24 = 24, PERF_REG_MIPS_R25 = 25,
	PERF_REG_MIPS_R26 = 26, PERF_REG_MIPS_R27 = 27, PERF_REG_MIPS_R28 = 28,
	PERF_REG_MIPS_R29 = 29, PERF_REG_MIPS_R30 = 30, PERF_REG_MIPS_R31 = 31,
	PERF_REG_MIPS_MAX = 32
};
#endif

/* ---- csky ------------------------------------------------------------------------------------ */

#if !defined(_ASM_CSKY_PERF_REGS_H) && !defined(_UAPI_ASM_CSKY_PERF_REGS_H)
#define _ASM_CSKY_PERF_REGS_H
enum perfev_reg_csky {
	PERF_REG_CSKY_TLS = 0, PERF_REG_CSKY_LR = 1, PERF_REG_CSKY_PC = 2, PERF_REG_CSKY_SR = 3,
	PERF_REG_CSKY_SP = 4, PERF_REG_CSKY_ORIG_A0 = 5, PERF_REG_CSKY_A0 = 6,
	PERF_REG_CSKY_A1 = 7, PERF_REG_CSKY_A2 = 8, PERF_REG_CSKY_A3 = 9,
	PERF_REG_CSKY_REGS0 = 10, PERF_REG_CSKY_REGS1 = 11, PERF_REG_CSKY_REGS2 = 12,
	PERF_REG_CSKY_REGS3 = 13, PERF_REG_CSKY_REGS4 = 14, PERF_REG_CSKY_REGS5 = 15,
	PERF_REG_CSKY_REGS6 = 16, PERF_REG_CSKY_REGS7 = 17, PERF_REG_CSKY_REGS8 = 18,
	PERF_REG_CSKY_REGS9 = 19,
	/* with the second ABI; with the first the list ends here */
	PERF_REG_CSKY_EXREGS0 = 20, PERF_REG_CSKY_EXREGS1 = 21, PERF_REG_CSKY_EXREGS2 = 22,
	PERF_REG_CSKY_EXREGS3 = 23, PERF_REG_CSKY_EXREGS4 = 24, PERF_REG_CSKY_EXREGS5 = 25,
	PERF_REG_CSKY_EXREGS6 = 26, PERF_REG_CSKY_EXREGS7 = 27, PERF_REG_CSKY_EXREGS8 = 28,
	PERF_REG_CSKY_EXREGS9 = 29, PERF_REG_CSKY_EXREGS10 = 30, PERF_REG_CSKY_EXREGS11 = 31,
	PERF_REG_CSKY_EXREGS12 = 32, PERF_REG_CSKY_EXREGS13 = 33, PERF_REG_CSKY_EXREGS14 = 34,
	PERF_REG_CSKY_HI = 35, PERF_REG_CSKY_LO = 36, PERF_REG_CSKY_DCSR = 37,
	PERF_REG_CSKY_MAX = 38
};
#endif

/* ---- parisc, in kernels after 6.12: R0 has the status word ----------------------------------- */

#if !defined(_ASM_PARISC_PERF_REGS_H) && !defined(_UAPI_ASM_PARISC_PERF_REGS_H)
#define _ASM_PARISC_PERF_REGS_H
enum perfev_reg_parisc {
	PERF_REG_PARISC_R0 = 0, PERF_REG_PARISC_R1 = 1, PERF_REG_PARISC_R2 = 2,
	PERF_REG_PARISC_R3 = 3, PERF_REG_PARISC_R4 = 4, PERF_REG_PARISC_R5 = 5,
	PERF_REG_PARISC_R6 = 6, PERF_REG_PARISC_R7 = 7, PERF_REG_PARISC_R8 = 8,
	PERF_REG_PARISC_R9 = 9, PERF_REG_PARISC_R10 = 10, PERF_REG_PARISC_R11 = 11,
	PERF_REG_PARISC_R12 = 12, PERF_REG_PARISC_R13 = 13, PERF_REG_PARISC_R14 = 14,
	PERF_REG_PARISC_R15 = 15, PERF_REG_PARISC_R16 = 16, PERF_REG_PARISC_R17 = 17,
	PERF_REG_PARISC_R18 = 18, PERF_REG_PARISC_R19 = 19, PERF_REG_PARISC_R20 = 20,
	PERF_REG_PARISC_R21 = 21, PERF_REG_PARISC_R22 = 22, PERF_REG_PARISC_R23 = 23,
	PERF_REG_PARISC_R24 = 24, PERF_REG_PARISC_R25 = 25, PERF_REG_PARISC_R26 = 26,
	PERF_REG_PARISC_R27 = 27, PERF_REG_PARISC_R28 = 28, PERF_REG_PARISC_R29 = 29,
	PERF_REG_PARISC_R30 = 30, PERF_REG_PARISC_R31 = 31, PERF_REG_PARISC_SR0 = 32,
	PERF_REG_PARISC_SR1 = 33, PERF_REG_PARISC_SR2 = 34, PERF_REG_PARISC_SR3 = 35,
	PERF_REG_PARISC_SR4 = 36, PERF_REG_PARISC_SR5 = 37, PERF_REG_PARISC_SR6 = 38,
	PERF_REG_PARISC_SR7 = 39, PERF_REG_PARISC_IAOQ0 = 40, PERF_REG_PARISC_IAOQ1 = 41,
	PERF_REG_PARISC_IASQ0 = 42, PERF_REG_PARISC_IASQ1 = 43, PERF_REG_PARISC_SAR = 44,
	PERF_REG_PARISC_IIR = 45, PERF_REG_PARISC_ISR = 46, PERF_REG_PARISC_IOR = 47,
	PERF_REG_PARISC_IPSW = 48, PERF_REG_PARISC_MAX = 49
};
#endif


/* ---- names and masks ------------------------------------------------------------------------- */

PERFEV_BEGIN

/* Architectures whose kernels sample registers. */
enum perfev_arch {
	PERFEV_ARCH_OTHER = 0, /* one without registers in samples, or not known */
	PERFEV_ARCH_X86,
	PERFEV_ARCH_ARM,
	PERFEV_ARCH_ARM64,
	PERFEV_ARCH_RISCV,
	PERFEV_ARCH_POWERPC,
	PERFEV_ARCH_LOONGARCH,
	PERFEV_ARCH_S390,
	PERFEV_ARCH_MIPS,
	PERFEV_ARCH_CSKY,
	PERFEV_ARCH_PARISC,
	PERFEV_ARCH_COUNT_
};

/*
 * perfev_arch_of() - the architecture that a machine's name means
 * @machine: as uname(2) says it and recordings store it: "x86_64", "i686", "aarch64", "ppc64le",
 * ...
 * @abi: set to PERF_SAMPLE_REGS_ABI_64 or _32, the word size of such a kernel; may be NULL.
 * Return: an architecture; PERFEV_ARCH_OTHER, and PERF_SAMPLE_REGS_ABI_NONE, when it is not known.
 * Since: 0.1
 */
PERFEV_API enum perfev_arch perfev_arch_of(const char *machine, unsigned *abi);

/*
 * perfev_arch_host() - the architecture that this library was built for
 * @abi: as above.
 * Since: 0.1
 */
PERFEV_API enum perfev_arch perfev_arch_host(unsigned *abi);

/*
 * perfev_arch_name() - "x86", "arm64", ...: the name of the architecture's folder in the kernel
 * Return: a string that lives for ever; "other" for values out of range.
 * Since: 0.1
 */
PERFEV_API const char *perfev_arch_name(enum perfev_arch arch);

/*
 * perfev_reg_name() - a register as perf prints it: "AX", "x29", "$29", ...
 * @abi: PERF_SAMPLE_REGS_ABI_32 or _64, the word before a dump. An architecture of one size has no
 * names for the other; on arm64 a 32-bit task has names of its own.
 * @index: the number of a bit. The upper halves of XMM registers are "XMM0h", ...
 * Return: a string that lives for ever, or NULL when there is no such register.
 * Since: 0.1
 */
PERFEV_API const char *perfev_reg_name(enum perfev_arch arch, unsigned abi, unsigned index);

/*
 * perfev_reg_index() - the number of a register, by its name
 * Takes what perfev_reg_name() gives, in upper or lower case, and the names that assemblers have:
 * "rax", "eip", "a0", "$sp", "%r15". "pc" and "sp" are known everywhere, "lr" and "fp" where there
 * is one.
 * Return: the number of its bit, or -ENOENT.
 * Since: 0.1
 */
PERFEV_API int perfev_reg_index(enum perfev_arch arch, unsigned abi, const char *name);

/*
 * perfev_reg_mask() - the registers that every kernel and CPU of an architecture gives
 * For attr.sample_regs_user and sample_regs_intr; there @abi is the kernel's: a 64-bit one takes
 * the mask of PERF_SAMPLE_REGS_ABI_64 whatever its tasks are. (csky with its first ABI: up to REGS9
 * only.)
 * Return: 0 when there are none.
 * Since: 0.1
 */
PERFEV_API uint64_t perfev_reg_mask(enum perfev_arch arch, unsigned abi);

/*
 * perfev_reg_mask_extended() - registers that only some CPUs and events give, beside the others
 * XMM on x86 and those of the PMU on powerpc, in sample_regs_intr only; VG on arm64 with SVE.
 * Elsewhere the kernel refuses them (-EINVAL or -EOPNOTSUPP).
 * Return: 0 when there are none.
 * Since: 0.1
 */
PERFEV_API uint64_t perfev_reg_mask_extended(enum perfev_arch arch, unsigned abi);

PERFEV_END

#endif
