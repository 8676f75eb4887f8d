/* SPDX-License-Identifier: MIT */
/*
 * Names of sampled registers. Each architecture is a row: its names by number, as perf prints them,
 * the masks of what its kernels give, and what else its registers are called. A row serves both
 * word sizes, but for arm64, whose 32-bit tasks have the registers of arm.
 */
#include <perfev/regs.h>

#include <errno.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const x86_names[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES",
	"FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", NULL, NULL, NULL, NULL,
	NULL, NULL, NULL, NULL, "XMM0", "XMM0h", "XMM1", "XMM1h", "XMM2", "XMM2h", "XMM3",
	"XMM3h", "XMM4", "XMM4h", "XMM5", "XMM5h", "XMM6", "XMM6h", "XMM7", "XMM7h", "XMM8",
	"XMM8h", "XMM9", "XMM9h", "XMM10", "XMM10h", "XMM11", "XMM11h", "XMM12", "XMM12h",
	"XMM13", "XMM13h", "XMM14", "XMM14h", "XMM15", "XMM15h",
};

static const char *const arm_names[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr",
	"pc",
};

static const char *const arm64_names[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	"x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
	"x27", "x28", "x29", "lr", "sp", "pc", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, NULL, NULL, NULL, "vg",
};

/* Beyond those of arm, what an unwinder for 64 bit looks for. */
static const char *const arm64_task_32_names[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr",
	"pc", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	"lr", "sp", "pc",
};

static const char *const riscv_names[] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
	"a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3",
	"t4", "t5", "t6",
};

static const char *const powerpc_names[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26",
	"r27", "r28", "r29", "r30", "r31", "nip", "msr", "orig_r3", "ctr", "link", "xer", "ccr",
	"softe", "trap", "dar", "dsisr", "sier", "mmcra", "mmcr0", "mmcr1", "mmcr2", "mmcr3",
	"sier2", "sier3", "pmc1", "pmc2", "pmc3", "pmc4", "pmc5", "pmc6", "sdar", "siar",
};

static const char *const loongarch_names[] = {
	"PC", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11",
	"%r12", "%r13", "%r14", "%r15", "%r16", "%r17", "%r18", "%r19", "%r20", "%r21", "%r22",
	"%r23", "%r24", "%r25", "%r26", "%r27", "%r28", "%r29", "%r30", "%r31",
};

static const char *const s390_names[] = {
	"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13",
	"R14", "R15", "FP0", "FP1", "FP2", "FP3", "FP4", "FP5", "FP6", "FP7", "FP8", "FP9",
	"FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
};

static const char *const mips_names[] = {
	"PC", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13",
	"$14", "$15", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26",
	"$27", "$28", "$29", "$30", "$31",
};

static const char *const csky_names[] = {
	"tls", "lr", "pc", "sr", "sp", "orig_a0", "a0", "a1", "a2", "a3", "regs0", "regs1",
	"regs2", "regs3", "regs4", "regs5", "regs6", "regs7", "regs8", "regs9", "exregs0",
	"exregs1", "exregs2", "exregs3", "exregs4", "exregs5", "exregs6", "exregs7", "exregs8",
	"exregs9", "exregs10", "exregs11", "exregs12", "exregs13", "exregs14", "hi", "lo", "dcsr",
};

static const char *const parisc_names[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26",
	"r27", "r28", "r29", "r30", "r31", "sr0", "sr1", "sr2", "sr3", "sr4", "sr5", "sr6", "sr7",
	"iaoq0", "iaoq1", "iasq0", "iasq1", "sar", "iir", "isr", "ior", "ipsw",
};

/* What else assemblers and tools call a register. With a last number, a prefix: a0 to a7. */
struct alias {
	const char *name;
	unsigned char index; /* of the register, or of the first with the prefix */
	unsigned char first, last;
};

#define ONE(name, reg)		       {name, PERF_REG_##reg, 0, 0}
#define FROM_TO(prefix, a, b, reg) {prefix, PERF_REG_##reg, a, b}

static const struct alias x86_aliases[] = {
	ONE("rax", X86_AX), ONE("eax", X86_AX), ONE("rbx", X86_BX), ONE("ebx", X86_BX),
	ONE("rcx", X86_CX), ONE("ecx", X86_CX), ONE("rdx", X86_DX), ONE("edx", X86_DX),
	ONE("rsi", X86_SI), ONE("esi", X86_SI), ONE("rdi", X86_DI), ONE("edi", X86_DI),
	ONE("rbp", X86_BP), ONE("ebp", X86_BP), ONE("rsp", X86_SP), ONE("esp", X86_SP),
	ONE("rip", X86_IP), ONE("eip", X86_IP), ONE("rflags", X86_FLAGS), ONE("eflags", X86_FLAGS),
	ONE("pc", X86_IP), ONE("fp", X86_BP),
};

static const struct alias arm_aliases[] = {
	FROM_TO("r", 0, 15, ARM_R0),
};

static const struct alias arm64_aliases[] = {
	FROM_TO("x", 0, 30, ARM64_X0), ONE("fp", ARM64_X29),
};

static const struct alias riscv_aliases[] = {
	FROM_TO("x", 1, 31, RISCV_RA), ONE("lr", RISCV_RA), ONE("fp", RISCV_S0),
};

static const struct alias powerpc_aliases[] = {
	ONE("sp", POWERPC_R1), ONE("pc", POWERPC_NIP), ONE("lr", POWERPC_LINK),
};

static const struct alias loongarch_aliases[] = {
	ONE("ra", LOONGARCH_R1), ONE("lr", LOONGARCH_R1), ONE("tp", LOONGARCH_R2),
	ONE("sp", LOONGARCH_R3), ONE("fp", LOONGARCH_R22), FROM_TO("a", 0, 7, LOONGARCH_R4),
	FROM_TO("t", 0, 8, LOONGARCH_R12), FROM_TO("s", 0, 8, LOONGARCH_R23),
};

static const struct alias s390_aliases[] = {
	FROM_TO("f", 0, 15, S390_FP0), ONE("sp", S390_R15), ONE("lr", S390_R14),
	ONE("fp", S390_R11),
};

static const struct alias mips_aliases[] = {
	FROM_TO("r", 1, 31, MIPS_R1), FROM_TO("a", 0, 3, MIPS_R4), FROM_TO("s", 0, 7, MIPS_R16),
	ONE("gp", MIPS_R28), ONE("sp", MIPS_R29), ONE("fp", MIPS_R30), ONE("ra", MIPS_R31),
	ONE("lr", MIPS_R31),
};

static const struct alias parisc_aliases[] = {
	ONE("sp", PARISC_R30), ONE("pc", PARISC_IAOQ0), ONE("rp", PARISC_R2), ONE("lr", PARISC_R2),
	ONE("fp", PARISC_R3),
};

struct machine {
	const char *name;
	const char *const *names;
	size_t name_count;
	const struct alias *aliases;
	size_t alias_count;
	bool has_32, has_64;
	uint64_t mask_32, mask_64, extended_32, extended_64;
};

#define BELOW(end) ((UINT64_C(1) << (end)) - 1)
#define BIT(bit)   (UINT64_C(1) << (bit))

#define X86_32	  BELOW(PERF_REG_X86_32_MAX)
/* without DS to GS */
#define X86_64	  (BELOW(PERF_REG_X86_64_MAX) & ~(UINT64_C(15) << PERF_REG_X86_DS))
#define X86_XMM	  (~BELOW(PERF_REG_X86_XMM0))
#define ARM64_ALL BELOW(PERF_REG_ARM64_MAX)
/* the kernel cannot read those that it uses itself */
#define MIPS_ALL (BELOW(PERF_REG_MIPS_MAX) & ~(BIT(PERF_REG_MIPS_R26) | BIT(PERF_REG_MIPS_R27)))

#define arm64_task_32_aliases arm_aliases
#define TABLES(arch) arch##_names, COUNT(arch##_names), arch##_aliases, COUNT(arch##_aliases)
#define SAME(mask)   mask, mask

static const struct machine machines[PERFEV_ARCH_COUNT_] = {
	[PERFEV_ARCH_X86] = {"x86", TABLES(x86), true, true, X86_32, X86_64, SAME(X86_XMM)},
	[PERFEV_ARCH_ARM] = {"arm", TABLES(arm), true, false, BELOW(PERF_REG_ARM_MAX), 0, 0, 0},
	[PERFEV_ARCH_ARM64] = {"arm64", TABLES(arm64), false, true, 0, ARM64_ALL, 0,
			       BIT(PERF_REG_ARM64_VG)},
	[PERFEV_ARCH_RISCV] = {"riscv", TABLES(riscv), true, true,
			       SAME(BELOW(PERF_REG_RISCV_MAX)), 0, 0},
	[PERFEV_ARCH_POWERPC] = {"powerpc", TABLES(powerpc), true, true, SAME(PERF_REG_PMU_MASK),
				 SAME(PERF_REG_PMU_MASK_31)},
	[PERFEV_ARCH_LOONGARCH] = {"loongarch", TABLES(loongarch), true, true,
				   SAME(BELOW(PERF_REG_LOONGARCH_MAX)), 0, 0},
	[PERFEV_ARCH_S390] = {"s390", TABLES(s390), true, true,
			      SAME(BELOW(PERF_REG_S390_MAX)), 0, 0},
	[PERFEV_ARCH_MIPS] = {"mips", TABLES(mips), true, true, SAME(MIPS_ALL), 0, 0},
	[PERFEV_ARCH_CSKY] = {"csky", csky_names, COUNT(csky_names), NULL, 0, true, false,
			      BELOW(PERF_REG_CSKY_MAX), 0, 0, 0},
	[PERFEV_ARCH_PARISC] = {"parisc", TABLES(parisc), true, true,
				SAME(BELOW(PERF_REG_PARISC_MAX)), 0, 0},
};

/* A 32-bit task on arm64: the registers of arm, and again where an unwinder for 64 bit looks. */
static const struct machine arm64_task_32 = {
	"arm64", TABLES(arm64_task_32), true, false,
	BELOW(PERF_REG_ARM_MAX) | UINT64_C(7) << PERF_REG_ARM64_LR, 0, 0, 0};

static const struct machine *machine_of(enum perfev_arch arch, unsigned abi)
{
	const struct machine *machine;

	if ((unsigned)arch >= PERFEV_ARCH_COUNT_ || arch == PERFEV_ARCH_OTHER)
		return NULL;
	machine = &machines[arch];
	if (arch == PERFEV_ARCH_ARM64 && abi == PERF_SAMPLE_REGS_ABI_32)
		machine = &arm64_task_32;
	if (abi == PERF_SAMPLE_REGS_ABI_64)
		return machine->has_64 ? machine : NULL;
	return abi == PERF_SAMPLE_REGS_ABI_32 && machine->has_32 ? machine : NULL;
}

const char *perfev_reg_name(enum perfev_arch arch, unsigned abi, unsigned index)
{
	const struct machine *machine = machine_of(arch, abi);

	return machine && index < machine->name_count ? machine->names[index] : NULL;
}

uint64_t perfev_reg_mask(enum perfev_arch arch, unsigned abi)
{
	const struct machine *machine = machine_of(arch, abi);

	if (!machine)
		return 0;
	return abi == PERF_SAMPLE_REGS_ABI_64 ? machine->mask_64 : machine->mask_32;
}

uint64_t perfev_reg_mask_extended(enum perfev_arch arch, unsigned abi)
{
	const struct machine *machine = machine_of(arch, abi);

	if (!machine)
		return 0;
	return abi == PERF_SAMPLE_REGS_ABI_64 ? machine->extended_64 : machine->extended_32;
}

/* ---- from names ------------------------------------------------------------------------------ */

/* Not tolower(): names are ASCII, whatever the locale says about an I. */
static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* How much of @name is @word, whatever the case; 0 when it does not begin with it. */
static size_t begins(const char *name, const char *word)
{
	size_t i;

	for (i = 0; word[i]; i++)
		if (lower(name[i]) != lower(word[i]))
			return 0;
	return i;
}

static bool same(const char *name, const char *word)
{
	size_t size = begins(name, word);

	return size && !name[size];
}

static const char *without_mark(const char *name)
{
	return *name == '%' || *name == '$' ? name + 1 : name;
}

/* One or two digits and the end, or -1. */
static int small_number(const char *text)
{
	int number = 0, digits = 0;

	if (text[0] == '0' && text[1])
		return -1;
	for (; *text >= '0' && *text <= '9' && digits < 2; text++, digits++)
		number = number * 10 + *text - '0';
	return digits && !*text ? number : -1;
}

static int index_by_alias(const struct machine *machine, const char *name)
{
	size_t i, size;

	for (i = 0; i < machine->alias_count; i++) {
		const struct alias *alias = &machine->aliases[i];
		int number;

		if (!alias->last) {
			if (same(name, alias->name))
				return alias->index;
			continue;
		}
		size = begins(name, alias->name);
		number = size ? small_number(name + size) : -1;
		if (number >= alias->first && number <= alias->last)
			return alias->index + number - alias->first;
	}
	return -ENOENT;
}

int perfev_reg_index(enum perfev_arch arch, unsigned abi, const char *name)
{
	const struct machine *machine = machine_of(arch, abi);
	size_t i;

	if (!machine)
		return -ENOENT;
	name = without_mark(name);
	for (i = 0; i < machine->name_count; i++)
		if (machine->names[i] && same(name, without_mark(machine->names[i])))
			return (int)i;
	return index_by_alias(machine, name);
}

/* ---- architectures --------------------------------------------------------------------------- */

const char *perfev_arch_name(enum perfev_arch arch)
{
	if ((unsigned)arch >= PERFEV_ARCH_COUNT_ || arch == PERFEV_ARCH_OTHER)
		return "other";
	return machines[arch].name;
}

#define IS_32 PERF_SAMPLE_REGS_ABI_32
#define IS_64 PERF_SAMPLE_REGS_ABI_64

/* A star stands for any rest; the first that fits is taken. */
static const struct {
	const char *machine;
	enum perfev_arch arch;
	unsigned abi;
} machine_names[] = {
	{"x86_64", PERFEV_ARCH_X86, IS_64},	    {"amd64", PERFEV_ARCH_X86, IS_64},
	{"x86", PERFEV_ARCH_X86, IS_64},	    {"i386", PERFEV_ARCH_X86, IS_32},
	{"i486", PERFEV_ARCH_X86, IS_32},	    {"i586", PERFEV_ARCH_X86, IS_32},
	{"i686", PERFEV_ARCH_X86, IS_32},	    {"aarch64*", PERFEV_ARCH_ARM64, IS_64},
	{"arm64*", PERFEV_ARCH_ARM64, IS_64},	    {"arm*", PERFEV_ARCH_ARM, IS_32},
	{"riscv32*", PERFEV_ARCH_RISCV, IS_32},	    {"riscv*", PERFEV_ARCH_RISCV, IS_64},
	{"ppc64*", PERFEV_ARCH_POWERPC, IS_64},	    {"powerpc64*", PERFEV_ARCH_POWERPC, IS_64},
	{"ppc*", PERFEV_ARCH_POWERPC, IS_32},	    {"powerpc*", PERFEV_ARCH_POWERPC, IS_32},
	{"loongarch32*", PERFEV_ARCH_LOONGARCH, IS_32}, {"loong*", PERFEV_ARCH_LOONGARCH, IS_64},
	{"s390x", PERFEV_ARCH_S390, IS_64},	    {"s390", PERFEV_ARCH_S390, IS_32},
	{"mips64*", PERFEV_ARCH_MIPS, IS_64},	    {"mips*", PERFEV_ARCH_MIPS, IS_32},
	{"csky*", PERFEV_ARCH_CSKY, IS_32},	    {"parisc64", PERFEV_ARCH_PARISC, IS_64},
	{"parisc", PERFEV_ARCH_PARISC, IS_32},	    {"hppa64", PERFEV_ARCH_PARISC, IS_64},
	{"hppa*", PERFEV_ARCH_PARISC, IS_32},
};

static bool fits(const char *machine, const char *pattern)
{
	size_t size = strlen(pattern);

	if (pattern[size - 1] == '*')
		return !strncmp(machine, pattern, size - 1);
	return !strcmp(machine, pattern);
}

enum perfev_arch perfev_arch_of(const char *machine, unsigned *abi)
{
	size_t i;

	for (i = 0; i < COUNT(machine_names); i++) {
		if (!fits(machine, machine_names[i].machine))
			continue;
		if (abi)
			*abi = machine_names[i].abi;
		return machine_names[i].arch;
	}
	if (abi)
		*abi = PERF_SAMPLE_REGS_ABI_NONE;
	return PERFEV_ARCH_OTHER;
}

#if defined(__x86_64__) || defined(_M_X64)
#define HOST "x86_64"
#elif defined(__i386__) || defined(_M_IX86)
#define HOST "i686"
#elif defined(__aarch64__) || defined(_M_ARM64)
#define HOST "aarch64"
#elif defined(__arm__)
#define HOST "arm"
#elif defined(__riscv) && __riscv_xlen == 32
#define HOST "riscv32"
#elif defined(__riscv)
#define HOST "riscv64"
#elif defined(__powerpc64__)
#define HOST "ppc64"
#elif defined(__powerpc__)
#define HOST "ppc"
#elif defined(__loongarch__) && __loongarch_grlen == 32
#define HOST "loongarch32"
#elif defined(__loongarch__)
#define HOST "loongarch64"
#elif defined(__s390x__)
#define HOST "s390x"
#elif defined(__s390__)
#define HOST "s390"
#elif defined(__mips64)
#define HOST "mips64"
#elif defined(__mips__)
#define HOST "mips"
#elif defined(__csky__)
#define HOST "csky"
#elif defined(__hppa64__)
#define HOST "parisc64"
#elif defined(__hppa__)
#define HOST "parisc"
#else
#define HOST "other"
#endif

enum perfev_arch perfev_arch_host(unsigned *abi)
{
	return perfev_arch_of(HOST, abi);
}
