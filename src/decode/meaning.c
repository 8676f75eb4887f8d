/* SPDX-License-Identifier: MIT */
/* Names of what is in samples: branches, transactions, privilege; the parts of a weight. */
#include <perfev/meaning.h>

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- branches ------------------------------------------------------------------------------------------ */

static const char *const branch_types[] = {
	[PERF_BR_COND] = "conditional",
	[PERF_BR_UNCOND] = "unconditional",
	[PERF_BR_IND] = "indirect",
	[PERF_BR_CALL] = "call",
	[PERF_BR_IND_CALL] = "indirect call",
	[PERF_BR_RET] = "return",
	[PERF_BR_SYSCALL] = "system call",
	[PERF_BR_SYSRET] = "system call return",
	[PERF_BR_COND_CALL] = "conditional call",
	[PERF_BR_COND_RET] = "conditional return",
	[PERF_BR_ERET] = "exception return",
	[PERF_BR_IRQ] = "interrupt",
	[PERF_BR_SERROR] = "system error",
	[PERF_BR_NO_TX] = "not in a transaction",
};

static const char *const new_types[] = {
	[PERF_BR_NEW_FAULT_ALGN] = "alignment fault", [PERF_BR_NEW_FAULT_DATA] = "data fault",
	[PERF_BR_NEW_FAULT_INST] = "instruction fault", [PERF_BR_NEW_ARCH_1] = "architecture 1",
	[PERF_BR_NEW_ARCH_2] = "architecture 2",	     [PERF_BR_NEW_ARCH_3] = "architecture 3",
	[PERF_BR_NEW_ARCH_4] = "architecture 4",	     [PERF_BR_NEW_ARCH_5] = "architecture 5",
};

static const char *const arm64_types[] = {"fast interrupt", "debug halt", "debug exit", "debug instruction",
					  "debug data"};

const char *perfev_branch_type_name(const struct perfev_branch *branch, enum perfev_arch arch)
{
	if (branch->type != PERF_BR_EXTEND_ABI)
		return branch->type < COUNT(branch_types) ? branch_types[branch->type] : NULL;
	if (branch->new_type >= COUNT(new_types))
		return NULL;
	if (arch == PERFEV_ARCH_ARM64 && branch->new_type >= PERF_BR_NEW_ARCH_1)
		return arm64_types[branch->new_type - PERF_BR_NEW_ARCH_1];
	return new_types[branch->new_type];
}

const char *perfev_branch_speculation_name(const struct perfev_branch *branch)
{
	static const char *const names[] = {NULL, "speculative, wrong path", "not speculative, correct path",
					    "speculative, correct path"};

	return branch->spec < COUNT(names) ? names[branch->spec] : NULL;
}

const char *perfev_branch_privilege_name(const struct perfev_branch *branch)
{
	static const char *const names[] = {NULL, "user", "kernel", "hypervisor"};

	return branch->priv < COUNT(names) ? names[branch->priv] : NULL;
}

/* ---- transactions ------------------------------------------------------------------------------------------- */

static const char *const transaction_names[] = {"elision",  "transaction",    "synchronous",   "asynchronous", "retry",
						"conflict", "capacity write", "capacity read"};

const char *perfev_transaction_name(uint64_t bit)
{
	size_t i;

	for (i = 0; i < COUNT(transaction_names); i++)
		if (bit == UINT64_C(1) << i)
			return transaction_names[i];
	return NULL;
}

int perfev_transaction_format(char *ret, size_t size, uint64_t transaction)
{
	size_t i, used = 0;
	char code[32];

	if (size)
		ret[0] = 0;
	snprintf(code, sizeof(code), "abort code %lu", (unsigned long)perfev_transaction_abort_code(transaction));
	for (i = 0; i <= COUNT(transaction_names); i++) {
		bool is_code = i == COUNT(transaction_names);
		char *to = used < size ? ret + used : NULL;

		if (is_code ? !perfev_transaction_abort_code(transaction) : !(transaction >> i & 1))
			continue;
		used += (size_t)snprintf(to, to ? size - used : 0, "%s%s", used ? ", " : "",
					 is_code ? code : transaction_names[i]);
	}
	return (int)used;
}

/* ---- weights, privilege ------------------------------------------------------------------------------------- */

bool perfev_sample_weight(const struct perfev_sample *sample, struct perfev_weight *ret)
{
	bool parts = sample->present & PERF_SAMPLE_WEIGHT_STRUCT;

	if (!(sample->present & PERF_SAMPLE_WEIGHT_TYPE))
		return false;
	ret->whole = parts ? (uint32_t)sample->weight : sample->weight;
	ret->first = ret->whole > UINT32_MAX ? UINT32_MAX : (uint32_t)ret->whole;
	ret->second = (uint16_t)(parts ? sample->weight >> 32 : 0);
	ret->third = (uint16_t)(parts ? sample->weight >> 48 : 0);
	ret->has_parts = parts;
	return true;
}

const char *perfev_cpumode_name(uint16_t misc)
{
	static const char *const names[] = {NULL, "kernel", "user", "hypervisor", "guest kernel", "guest user"};
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode < COUNT(names) ? names[mode] : NULL;
}
