/* SPDX-License-Identifier: MIT */
/*
 * Names of generic events, as the perf tool has them.
 *
 * Cache events are a cache, then an operation and a result in any order, each with aliases, joined by
 * dashes: L1-dcache-load-misses. A missing operation is a load, a missing result an access. Not every
 * cache has every operation.
 */
#include "event_name.h"

#include <perfev/common.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct event_name names[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
	{"bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

#define READ	 (1 << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE	 (1 << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1 << PERF_COUNT_HW_CACHE_OP_PREFETCH)

static const struct {
	const char *aliases[6];
	uint8_t ops; /* those it has */
} caches[PERF_COUNT_HW_CACHE_MAX] = {
	[PERF_COUNT_HW_CACHE_L1D] = {{"L1-dcache", "l1-d", "l1d", "L1-data"},
				     READ | WRITE | PREFETCH},
	[PERF_COUNT_HW_CACHE_L1I] = {{"L1-icache", "l1-i", "l1i", "L1-instruction"},
				     READ | PREFETCH},
	[PERF_COUNT_HW_CACHE_LL] = {{"LLC", "L2"}, READ | WRITE | PREFETCH},
	[PERF_COUNT_HW_CACHE_DTLB] = {{"dTLB", "d-tlb", "Data-TLB"}, READ | WRITE | PREFETCH},
	[PERF_COUNT_HW_CACHE_ITLB] = {{"iTLB", "i-tlb", "Instruction-TLB"}, READ},
	[PERF_COUNT_HW_CACHE_BPU] = {{"branch", "branches", "bpu", "btb", "bpc"}, READ},
	[PERF_COUNT_HW_CACHE_NODE] = {{"node"}, READ | WRITE | PREFETCH},
};

static const char *const ops[PERF_COUNT_HW_CACHE_OP_MAX][6] = {
	{"load", "loads", "read"},
	{"store", "stores", "write"},
	{"prefetch", "prefetches", "speculative-read", "speculative-load"},
};

static const char *const results[PERF_COUNT_HW_CACHE_RESULT_MAX][6] = {
	{"refs", "Reference", "ops", "access"},
	{"misses", "miss"},
};

/* Case does not matter: ASCII letters only, whatever the locale. */
static bool same(const char *a, const char *b, size_t size)
{
	for (; size; size--, a++, b++) {
		char x = *a, y = *b;

		if (x >= 'A' && x <= 'Z')
			x = (char)(x - 'A' + 'a');
		if (y >= 'A' && y <= 'Z')
			y = (char)(y - 'A' + 'a');
		if (x != y)
			return false;
	}
	return true;
}

/* The longest alias that @text begins with and that ends at a dash or at the end; its length. */
static size_t match(const char *text, size_t size, const char *const *aliases, size_t count)
{
	size_t i, best = 0;

	for (i = 0; i < count && aliases[i]; i++) {
		size_t n = strlen(aliases[i]);

		if (n > best && n <= size && same(text, aliases[i], n) &&
		    (n == size || text[n] == '-'))
			best = n;
	}
	return best;
}

static bool cache_part(const char **text, size_t *size, const char *const (*table)[6], int rows,
		       int *ret)
{
	int row;

	if (*ret >= 0 || *size < 2 || **text != '-')
		return false;
	for (row = 0; row < rows; row++) {
		size_t n = match(*text + 1, *size - 1, table[row], 6);

		if (!n)
			continue;
		*ret = row;
		*text += n + 1;
		*size -= n + 1;
		return true;
	}
	return false;
}

static int cache_find(const char *text, size_t size, uint64_t *config)
{
	size_t best = 0;
	int cache = -1, op = -1, result = -1, i;

	for (i = 0; i < PERF_COUNT_HW_CACHE_MAX; i++) {
		size_t n = match(text, size, caches[i].aliases, 6);

		if (n > best) {
			best = n;
			cache = i;
		}
	}
	if (cache < 0)
		return -ENOENT;
	text += best;
	size -= best;
	while (size && (cache_part(&text, &size, ops, PERF_COUNT_HW_CACHE_OP_MAX, &op) ||
			cache_part(&text, &size, results, PERF_COUNT_HW_CACHE_RESULT_MAX, &result)))
		;
	if (size)
		return -ENOENT;
	if (op < 0)
		op = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!(caches[cache].ops >> op & 1))
		return -ENOENT;
	*config = (uint64_t)cache | (uint64_t)op << 8 | (uint64_t)result << 16;
	return 0;
}

static const char *nearest_name(const char *name, size_t size)
{
	static const char *const cache_names[] = {
		"L1-dcache-loads",	"L1-dcache-load-misses", "L1-dcache-stores",
		"L1-dcache-store-misses", "L1-icache-loads",	 "L1-icache-load-misses",
		"LLC-loads",		"LLC-load-misses",	 "LLC-stores",
		"LLC-store-misses",	"dTLB-loads",		 "dTLB-load-misses",
		"dTLB-stores",		"dTLB-store-misses",	 "iTLB-loads",
		"iTLB-load-misses",	"branch-loads",		 "branch-load-misses",
		"node-loads",		"node-load-misses",
	};
	enum { CACHES = sizeof(cache_names) / sizeof(cache_names[0]) };
	const char *all[NAME_COUNT + CACHES];
	char word[64];
	size_t i;

	if (size >= sizeof(word))
		return NULL;
	memcpy(word, name, size);
	word[size] = 0;
	for (i = 0; i < NAME_COUNT; i++)
		all[i] = names[i].name;
	for (i = 0; i < CACHES; i++)
		all[NAME_COUNT + i] = cache_names[i];
	return perfev_nearest(word, all, NAME_COUNT + CACHES);
}

int event_name_find(const char *name, size_t size, uint32_t *type, uint64_t *config,
		    const char **nearest)
{
	size_t i;

	*nearest = NULL;
	for (i = 0; i < NAME_COUNT; i++)
		if (strlen(names[i].name) == size && same(name, names[i].name, size)) {
			*type = names[i].type;
			*config = names[i].config;
			return 0;
		}
	if (cache_find(name, size, config) == 0) {
		*type = PERF_TYPE_HW_CACHE;
		return 0;
	}
	*nearest = nearest_name(name, size);
	return -ENOENT;
}

const struct event_name *event_names(size_t *count)
{
	*count = NAME_COUNT;
	return names;
}

static bool format_cache(char *ret, size_t size, uint64_t config)
{
	static const char *const op_names[] = {"load", "store", "prefetch"};
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX || !(caches[cache].ops >> op & 1))
		return false; /* no name that means it */
	if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		snprintf(ret, size, "%s-%s-misses", caches[cache].aliases[0], op_names[op]);
	else
		snprintf(ret, size, "%s-%s%s", caches[cache].aliases[0], op_names[op],
			 op == PERF_COUNT_HW_CACHE_OP_PREFETCH ? "es" : "s");
	return true;
}

void event_name_format(char *ret, size_t size, const struct perf_event_attr *attr)
{
	size_t i;

	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_SOFTWARE)
		for (i = 0; i < NAME_COUNT; i++)
			if (names[i].type == attr->type &&
			    names[i].config == (attr->config & PERF_HW_EVENT_MASK)) {
				snprintf(ret, size, "%s", names[i].name);
				return;
			}
	if (attr->type == PERF_TYPE_HW_CACHE && format_cache(ret, size, attr->config & PERF_HW_EVENT_MASK))
		return;
	if (attr->type == PERF_TYPE_BREAKPOINT)
		snprintf(ret, size, "mem:0x%llx:%s%s%s", (unsigned long long)attr->bp_addr,
			 attr->bp_type & HW_BREAKPOINT_R ? "r" : "", attr->bp_type & HW_BREAKPOINT_W ? "w" : "",
			 attr->bp_type & HW_BREAKPOINT_X ? "x" : "");
	else if (attr->type == PERF_TYPE_RAW)
		snprintf(ret, size, "raw 0x%llx", (unsigned long long)attr->config);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		snprintf(ret, size, "tracepoint %llu", (unsigned long long)attr->config);
	else
		snprintf(ret, size, "%u:0x%llx", attr->type, (unsigned long long)attr->config);
}

/* perf says who is counted when somebody is left out, and of guests also when they are not. */
void event_name_modifiers(char *ret, size_t size, const struct perf_event_attr *attr)
{
	bool levels = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	bool usual = attr->precise_ip || levels; /* then guests are usually left out */
	char text[16];
	size_t n = 0, i;

	if (levels && !attr->exclude_kernel)
		text[n++] = 'k';
	if (levels && !attr->exclude_user)
		text[n++] = 'u';
	if (levels && !attr->exclude_hv)
		text[n++] = 'h';
	for (i = 0; i < attr->precise_ip; i++)
		text[n++] = 'p';
	if (attr->exclude_host || attr->exclude_guest == usual) {
		if (!attr->exclude_host)
			text[n++] = 'H';
		if (!attr->exclude_guest)
			text[n++] = 'G';
	}
	text[n] = 0;
	snprintf(ret, size, n ? ":%s" : "%s", text);
}
