/* SPDX-License-Identifier: MIT */
/* regs.h: what the words of a register dump are, on whatever machine it was recorded. */
#include <perfev/regs.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const char *machine = argc > 1 ? argv[1] : "aarch64"; /* as in a recording's header */
	unsigned abi, index;
	enum perfev_arch arch = perfev_arch_of(machine, &abi);
	uint64_t mask = perfev_reg_mask(arch, abi);

	printf("%s: sample_regs_user 0x%llx:", perfev_arch_name(arch), (unsigned long long)mask);
	for (index = 0; index < 64; index++)
		if (mask >> index & 1)
			printf(" %s", perfev_reg_name(arch, abi, index));
	printf("\nthe stack pointer is number %d\n", perfev_reg_index(arch, abi, "sp"));
	return arch == PERFEV_ARCH_OTHER;
}
