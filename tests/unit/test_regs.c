/* SPDX-License-Identifier: MIT */
/* Names of registers both ways, and the masks of what an architecture offers. */
#include "test.h"

#define IS_32 PERF_SAMPLE_REGS_ABI_32
#define IS_64 PERF_SAMPLE_REGS_ABI_64

static void assert_name(enum perfev_arch arch, unsigned abi, unsigned index, const char *name)
{
	const char *got = perfev_reg_name(arch, abi, index);

	if (!got || strcmp(got, name))
		fail_msg("register %u of %s is %s, not %s", index, perfev_arch_name(arch), got,
			 name);
}

/* Names of the first and last of each run, as perf prints them. */
static void test_names(void **state)
{
	(void)state;
	assert_name(PERFEV_ARCH_X86, IS_64, PERF_REG_X86_AX, "AX");
	assert_name(PERFEV_ARCH_X86, IS_64, PERF_REG_X86_BX, "BX"); /* unlike DWARF */
	assert_name(PERFEV_ARCH_X86, IS_64, PERF_REG_X86_SP, "SP");
	assert_name(PERFEV_ARCH_X86, IS_32, PERF_REG_X86_GS, "GS");
	assert_name(PERFEV_ARCH_X86, IS_64, PERF_REG_X86_R15, "R15");
	assert_name(PERFEV_ARCH_X86, IS_64, PERF_REG_X86_XMM0, "XMM0");
	assert_name(PERFEV_ARCH_X86, IS_64, PERF_REG_X86_XMM_MAX - 1, "XMM15h");
	assert_name(PERFEV_ARCH_ARM, IS_32, PERF_REG_ARM_R10, "r10");
	assert_name(PERFEV_ARCH_ARM, IS_32, PERF_REG_ARM_PC, "pc");
	assert_name(PERFEV_ARCH_ARM64, IS_64, PERF_REG_ARM64_X29, "x29");
	assert_name(PERFEV_ARCH_ARM64, IS_64, PERF_REG_ARM64_SP, "sp");
	assert_name(PERFEV_ARCH_ARM64, IS_64, PERF_REG_ARM64_VG, "vg");
	assert_name(PERFEV_ARCH_RISCV, IS_64, PERF_REG_RISCV_PC, "pc");
	assert_name(PERFEV_ARCH_RISCV, IS_64, PERF_REG_RISCV_S2, "s2");
	assert_name(PERFEV_ARCH_RISCV, IS_32, PERF_REG_RISCV_T6, "t6");
	assert_name(PERFEV_ARCH_POWERPC, IS_64, PERF_REG_POWERPC_R31, "r31");
	assert_name(PERFEV_ARCH_POWERPC, IS_64, PERF_REG_POWERPC_MMCRA, "mmcra");
	assert_name(PERFEV_ARCH_POWERPC, IS_64, PERF_REG_POWERPC_SIAR, "siar");
	assert_name(PERFEV_ARCH_LOONGARCH, IS_64, PERF_REG_LOONGARCH_R31, "%r31");
	assert_name(PERFEV_ARCH_S390, IS_64, PERF_REG_S390_FP0, "FP0");
	assert_name(PERFEV_ARCH_S390, IS_64, PERF_REG_S390_PC, "PC");
	assert_name(PERFEV_ARCH_MIPS, IS_64, PERF_REG_MIPS_R31, "$31");
	assert_name(PERFEV_ARCH_CSKY, IS_32, PERF_REG_CSKY_REGS9, "regs9");
	assert_name(PERFEV_ARCH_CSKY, IS_32, PERF_REG_CSKY_DCSR, "dcsr");
	assert_name(PERFEV_ARCH_PARISC, IS_64, PERF_REG_PARISC_SR0, "sr0");
	assert_name(PERFEV_ARCH_PARISC, IS_64, PERF_REG_PARISC_IPSW, "ipsw");
}

static void test_a_32_bit_task_on_arm64(void **state)
{
	(void)state;
	assert_name(PERFEV_ARCH_ARM64, IS_32, 0, "r0");
	assert_name(PERFEV_ARCH_ARM64, IS_32, PERF_REG_ARM_FP, "fp");
	assert_name(PERFEV_ARCH_ARM64, IS_32, PERF_REG_ARM_PC, "pc");
	assert_name(PERFEV_ARCH_ARM64, IS_32, PERF_REG_ARM64_LR, "lr");
	assert_name(PERFEV_ARCH_ARM64, IS_32, PERF_REG_ARM64_SP, "sp");
	assert_name(PERFEV_ARCH_ARM64, IS_32, PERF_REG_ARM64_PC, "pc");
	assert_null(perfev_reg_name(PERFEV_ARCH_ARM64, IS_32, 16));
	assert_null(perfev_reg_name(PERFEV_ARCH_ARM64, IS_32, PERF_REG_ARM64_VG));
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_ARM64, IS_32, "sp"), PERF_REG_ARM_SP);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_ARM64, IS_64, "sp"), PERF_REG_ARM64_SP);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_ARM64, IS_32, "r13"), PERF_REG_ARM_SP);
}

static void test_what_is_not_there(void **state)
{
	(void)state;
	assert_null(perfev_reg_name(PERFEV_ARCH_OTHER, IS_64, 0));
	assert_null(perfev_reg_name(PERFEV_ARCH_COUNT_, IS_64, 0));
	assert_null(perfev_reg_name((enum perfev_arch)-1, IS_64, 0));
	assert_null(perfev_reg_name(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_NONE, 0));
	assert_null(perfev_reg_name(PERFEV_ARCH_X86, 3, 0));
	assert_null(perfev_reg_name(PERFEV_ARCH_X86, IS_64, 24));
	assert_null(perfev_reg_name(PERFEV_ARCH_X86, IS_64, 64));
	assert_null(perfev_reg_name(PERFEV_ARCH_X86, IS_64, UINT32_MAX));
	assert_null(perfev_reg_name(PERFEV_ARCH_ARM, IS_64, 0));
	assert_null(perfev_reg_name(PERFEV_ARCH_CSKY, IS_64, 0));
	assert_int_equal(perfev_reg_mask(PERFEV_ARCH_OTHER, IS_64), 0);
	assert_int_equal(perfev_reg_mask(PERFEV_ARCH_ARM, IS_64), 0);
	assert_int_equal(perfev_reg_mask_extended(PERFEV_ARCH_OTHER, IS_64), 0);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_OTHER, IS_64, "sp"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_X86, IS_64, ""), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_X86, IS_64, "%"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_X86, IS_64, "spx"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_X86, IS_64, "r"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_X86, IS_64, "r16"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_RISCV, IS_64, "x0"), -ENOENT); /* always 0 */
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_RISCV, IS_64, "x32"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_RISCV, IS_64, "x01"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_RISCV, IS_64, "x111111111111"), -ENOENT);
	assert_int_equal(perfev_reg_index(PERFEV_ARCH_RISCV, IS_64, "x1 "), -ENOENT);
}

/* Each name leads back to its number, but for what arm64 says twice. */
static unsigned check_both_ways(enum perfev_arch arch, unsigned abi)
{
	unsigned index, there = 0;

	for (index = 0; index < 64; index++) {
		const char *name = perfev_reg_name(arch, abi, index);
		bool twice = arch == PERFEV_ARCH_ARM64 && abi == IS_32 && index >= 30;
		int got;

		if (!name)
			continue;
		there++;
		got = perfev_reg_index(arch, abi, name);
		if (twice ? got < 0 || got > 15 : got != (int)index)
			fail_msg("%s %u: %s is %d", perfev_arch_name(arch), index, name, got);
	}
	return there;
}

static void test_both_ways(void **state)
{
	unsigned arch, there = 0;

	(void)state;
	for (arch = PERFEV_ARCH_OTHER + 1; arch < PERFEV_ARCH_COUNT_; arch++) {
		there += check_both_ways((enum perfev_arch)arch, IS_32);
		there += check_both_ways((enum perfev_arch)arch, IS_64);
	}
	assert_true(there > 600);
}

/* What is in a mask has a name. */
static void test_masks_and_names_agree(void **state)
{
	unsigned arch, abi, index;

	(void)state;
	for (arch = PERFEV_ARCH_OTHER + 1; arch < PERFEV_ARCH_COUNT_; arch++)
		for (abi = IS_32; abi <= IS_64; abi++) {
			enum perfev_arch a = (enum perfev_arch)arch;
			uint64_t mask = perfev_reg_mask(a, abi);
			uint64_t more = perfev_reg_mask_extended(a, abi);

			assert_true((mask & more) == 0);
			for (index = 0; index < 64; index++)
				if ((mask | more) >> index & 1 && !perfev_reg_name(a, abi, index))
					fail_msg("%s %u has no name", perfev_arch_name(a), index);
		}
}

static void assert_masks(enum perfev_arch arch, unsigned abi, uint64_t mask, uint64_t extended)
{
	if (perfev_reg_mask(arch, abi) != mask || perfev_reg_mask_extended(arch, abi) != extended)
		fail_msg("masks of %s, ABI %u", perfev_arch_name(arch), abi);
}

static void test_masks(void **state)
{
	(void)state;
	assert_masks(PERFEV_ARCH_X86, IS_64, 0xff0fff, UINT64_C(0xffffffff00000000));
	assert_masks(PERFEV_ARCH_X86, IS_32, 0xffff, UINT64_C(0xffffffff00000000));
	assert_masks(PERFEV_ARCH_ARM, IS_32, 0xffff, 0);
	assert_masks(PERFEV_ARCH_ARM64, IS_64, UINT64_C(0x1ffffffff), UINT64_C(1) << 46);
	assert_masks(PERFEV_ARCH_ARM64, IS_32, UINT64_C(0x1c000ffff), 0);
	assert_masks(PERFEV_ARCH_RISCV, IS_64, 0xffffffff, 0);
	assert_masks(PERFEV_ARCH_POWERPC, IS_64, (UINT64_C(1) << 45) - 1, PERF_REG_PMU_MASK_31);
	assert_masks(PERFEV_ARCH_LOONGARCH, IS_64, 0xffffffff, 0);
	assert_masks(PERFEV_ARCH_S390, IS_64, UINT64_C(0x3ffffffff), 0);
	assert_masks(PERFEV_ARCH_MIPS, IS_32, 0xf3ffffff, 0);
	assert_masks(PERFEV_ARCH_CSKY, IS_32, UINT64_C(0x3fffffffff), 0);
	assert_masks(PERFEV_ARCH_PARISC, IS_64, UINT64_C(0x1ffffffffffff), 0);
}

/* The kernel's masks for powerpc, from the registers that they are made of. */
static void test_masks_of_powerpc(void **state)
{
	uint64_t isa_300 = 0, isa_31;
	unsigned i;

	(void)state;
	for (i = PERF_REG_POWERPC_MMCR0; i <= PERF_REG_POWERPC_MMCR2; i++)
		isa_300 |= UINT64_C(1) << i;
	for (i = PERF_REG_POWERPC_PMC1; i <= PERF_REG_POWERPC_SIAR; i++)
		isa_300 |= UINT64_C(1) << i;
	isa_31 = isa_300;
	for (i = PERF_REG_POWERPC_MMCR3; i <= PERF_REG_POWERPC_SIER3; i++)
		isa_31 |= UINT64_C(1) << i;
	assert_true(PERF_REG_PMU_MASK_300 == isa_300);
	assert_true(PERF_REG_PMU_MASK_31 == isa_31);
}

static void assert_index(enum perfev_arch arch, const char *name, int index)
{
	unsigned abi = arch == PERFEV_ARCH_ARM || arch == PERFEV_ARCH_CSKY ? IS_32 : IS_64;
	int got = perfev_reg_index(arch, abi, name);

	if (got != index)
		fail_msg("%s of %s is %d, not %d", name, perfev_arch_name(arch), got, index);
}

static void test_other_names(void **state)
{
	(void)state;
	assert_index(PERFEV_ARCH_X86, "rax", PERF_REG_X86_AX);
	assert_index(PERFEV_ARCH_X86, "%eip", PERF_REG_X86_IP);
	assert_index(PERFEV_ARCH_X86, "ax", PERF_REG_X86_AX);
	assert_index(PERFEV_ARCH_X86, "ES", PERF_REG_X86_ES); /* not "s" with a prefix */
	assert_index(PERFEV_ARCH_X86, "r8", PERF_REG_X86_R8);
	assert_index(PERFEV_ARCH_X86, "xmm15H", PERF_REG_X86_XMM15 + 1);
	assert_index(PERFEV_ARCH_ARM, "r15", PERF_REG_ARM_PC);
	assert_index(PERFEV_ARCH_ARM64, "fp", PERF_REG_ARM64_X29);
	assert_index(PERFEV_ARCH_ARM64, "x30", PERF_REG_ARM64_LR);
	assert_index(PERFEV_ARCH_RISCV, "x8", PERF_REG_RISCV_S0);
	assert_index(PERFEV_ARCH_RISCV, "x31", PERF_REG_RISCV_T6);
	assert_index(PERFEV_ARCH_RISCV, "s11", PERF_REG_RISCV_S11);
	assert_index(PERFEV_ARCH_POWERPC, "lr", PERF_REG_POWERPC_LINK);
	assert_index(PERFEV_ARCH_LOONGARCH, "a7", PERF_REG_LOONGARCH_R11);
	assert_index(PERFEV_ARCH_LOONGARCH, "$t8", PERF_REG_LOONGARCH_R20);
	assert_index(PERFEV_ARCH_LOONGARCH, "s8", PERF_REG_LOONGARCH_R31);
	assert_index(PERFEV_ARCH_LOONGARCH, "r22", PERF_REG_LOONGARCH_R22);
	assert_index(PERFEV_ARCH_S390, "%r15", PERF_REG_S390_R15);
	assert_index(PERFEV_ARCH_S390, "f3", PERF_REG_S390_FP3);
	assert_index(PERFEV_ARCH_MIPS, "r29", PERF_REG_MIPS_R29);
	assert_index(PERFEV_ARCH_MIPS, "$sp", PERF_REG_MIPS_R29);
	assert_index(PERFEV_ARCH_MIPS, "s0", PERF_REG_MIPS_R16);
	assert_index(PERFEV_ARCH_PARISC, "rp", PERF_REG_PARISC_R2);
}

/* What an unwinder asks for. */
static void test_pc_and_sp_everywhere(void **state)
{
	unsigned arch, abi;

	(void)state;
	for (arch = PERFEV_ARCH_OTHER + 1; arch < PERFEV_ARCH_COUNT_; arch++)
		for (abi = IS_32; abi <= IS_64; abi++) {
			enum perfev_arch a = (enum perfev_arch)arch;
			uint64_t mask = perfev_reg_mask(a, abi);
			int pc = perfev_reg_index(a, abi, "pc");
			int sp = perfev_reg_index(a, abi, "sp");

			if (!mask)
				continue;
			assert_true(pc >= 0 && sp >= 0 && pc != sp);
			assert_true(mask >> pc & mask >> sp & 1);
		}
}

static void assert_arch(const char *machine, enum perfev_arch arch, unsigned abi)
{
	unsigned got;

	if (perfev_arch_of(machine, &got) != arch || got != abi)
		fail_msg("%s is not %s, ABI %u", machine, perfev_arch_name(arch), abi);
	assert_int_equal(perfev_arch_of(machine, NULL), arch);
}

static void test_machines(void **state)
{
	unsigned abi;

	(void)state;
	assert_arch("x86_64", PERFEV_ARCH_X86, IS_64);
	assert_arch("i686", PERFEV_ARCH_X86, IS_32);
	assert_arch("aarch64", PERFEV_ARCH_ARM64, IS_64);
	assert_arch("aarch64_be", PERFEV_ARCH_ARM64, IS_64);
	assert_arch("arm64", PERFEV_ARCH_ARM64, IS_64);
	assert_arch("armv7l", PERFEV_ARCH_ARM, IS_32);
	assert_arch("armv8l", PERFEV_ARCH_ARM, IS_32);
	assert_arch("riscv64", PERFEV_ARCH_RISCV, IS_64);
	assert_arch("riscv32", PERFEV_ARCH_RISCV, IS_32);
	assert_arch("ppc64le", PERFEV_ARCH_POWERPC, IS_64);
	assert_arch("ppc", PERFEV_ARCH_POWERPC, IS_32);
	assert_arch("loongarch64", PERFEV_ARCH_LOONGARCH, IS_64);
	assert_arch("s390x", PERFEV_ARCH_S390, IS_64);
	assert_arch("s390", PERFEV_ARCH_S390, IS_32);
	assert_arch("mips64", PERFEV_ARCH_MIPS, IS_64);
	assert_arch("mips", PERFEV_ARCH_MIPS, IS_32);
	assert_arch("csky", PERFEV_ARCH_CSKY, IS_32);
	assert_arch("parisc64", PERFEV_ARCH_PARISC, IS_64);
	assert_arch("parisc", PERFEV_ARCH_PARISC, IS_32);
	assert_arch("sparc64", PERFEV_ARCH_OTHER, PERF_SAMPLE_REGS_ABI_NONE);
	assert_arch("x86_64x", PERFEV_ARCH_OTHER, PERF_SAMPLE_REGS_ABI_NONE);
	assert_arch("", PERFEV_ARCH_OTHER, PERF_SAMPLE_REGS_ABI_NONE);
	assert_string_equal(perfev_arch_name(PERFEV_ARCH_S390), "s390");
	assert_string_equal(perfev_arch_name(PERFEV_ARCH_OTHER), "other");
	assert_string_equal(perfev_arch_name((enum perfev_arch)99), "other");
	perfev_arch_host(&abi);
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		assert_int_equal(abi, sizeof(void *) == 8 ? IS_64 : IS_32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_32_bit_task_on_arm64),
		cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_masks_and_names_agree),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_masks_of_powerpc),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_pc_and_sp_everywhere),
		cmocka_unit_test(test_machines),
	};

	return cmocka_run_group_tests_name("regs", tests, NULL, NULL);
}
