/* SPDX-License-Identifier: MIT */
/*
 * Where a memory access found its data, as perf script has it: one part for each field of the word, whose parts for "not
 * available" are told as well. It ends where perf's buffer does, and is as wide as the widest before it.
 */
#include "script.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define ROOM 100 /* of perf, the zero included */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BITS(word, field, width) ((unsigned)((word) >> PERF_MEM_##field##_SHIFT & ((1u << (width)) - 1)))

static const char *const levels[14] = {"N/A", NULL, NULL, "L1", "LFB/MAB", "L2", "L3", "Local RAM", "Remote RAM (1 hop)",
				       "Remote RAM (2 hops)", "Remote Cache (1 hop)", "Remote Cache (2 hops)", "I/O",
				       "Uncached"};
static const char *const numbers[16] = {NULL, "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "CXL", "I/O", "Any cache",
					"LFB/MAB", "RAM", "PMEM", "N/A"};
static const char *const hops[8] = {"", "core, same node ", "node, same socket ", "socket, same board ", "board "};
static const char *const snoops[7] = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};
static const char *const caches[7] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};

struct text {
	char to[ROOM];
	size_t size; /* what has no room is not counted */
};

PERFEV_PRINTF(2, 3) static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->to + t->size, ROOM - t->size, format, args);
	va_end(args);
	t->size += n < 0 ? 0 : (size_t)n < ROOM - t->size ? (size_t)n : ROOM - 1 - t->size;
}

/* The names of a set, those that have one. Return: how many. */
static unsigned put_set(struct text *t, unsigned set, const char *const *names, unsigned count)
{
	unsigned i, n = 0;

	for (i = 0; i < count; i++)
		if (set >> i & 1 && names[i])
			put(t, n++ ? " or %s" : "%s", names[i]);
	return n;
}

/* Hit and miss have bits beside each other, the second and third of both fields that have them. */
static void put_outcome(struct text *t, unsigned set)
{
	put(t, "%s%s", set & 2 ? " hit" : "", set & 4 ? " miss" : "");
}

static void put_level(struct text *t, uint64_t word)
{
	unsigned set = BITS(word, LVL, 14), number = BITS(word, LVLNUM, 4), n;
	bool is_remote = BITS(word, REMOTE, 1);
	const char *far = hops[BITS(word, HOPS, 3)];

	put(t, "|LVL %s%s", is_remote ? "Remote " : "", far ? far : "");
	n = far && *far ? 0 : put_set(t, set, levels, COUNT(levels)); /* older ones, which say no more then */
	if (number)
		put(t, n ? " or %s" : "%s", numbers[number]);
	if (!n && !number && !is_remote && !(far && *far))
		put(t, "N/A");
	put_outcome(t, set);
}

static void put_operation(struct text *t, unsigned set)
{
	put(t, "|OP %s", set & PERF_MEM_OP_NA	      ? "N/A"
			 : set & PERF_MEM_OP_LOAD   ? "LOAD"
			 : set & PERF_MEM_OP_STORE  ? "STORE"
			 : set & PERF_MEM_OP_PFETCH ? "PFETCH"
			 : set & PERF_MEM_OP_EXEC   ? "EXEC"
						    : "No");
}

static void put_blocked(struct text *t, unsigned set)
{
	if (!set || set & PERF_MEM_BLK_NA)
		put(t, "|BLK  N/A");
	else
		put(t, "|BLK %s%s", set & PERF_MEM_BLK_DATA ? " Data" : "", set & PERF_MEM_BLK_ADDR ? " Addr" : "");
}

void script_memory(struct script *script, uint64_t word)
{
	unsigned lock = BITS(word, LOCK, 2), tlb = BITS(word, TLB, 7);
	struct text t = {.size = 0};

	put(&t, "%16" PRIx64 " ", word);
	put_operation(&t, BITS(word, OP, 5));
	put_level(&t, word);
	put(&t, "|SNP ");
	if (!put_set(&t, BITS(word, SNOOP, 5) | BITS(word, SNOOPX, 2) << 5, snoops, COUNT(snoops)))
		put(&t, "N/A");
	put(&t, "|TLB ");
	if (!put_set(&t, tlb, caches, COUNT(caches)))
		put(&t, "N/A");
	put_outcome(&t, tlb);
	put(&t, "|LCK %s", lock & PERF_MEM_LOCK_NA ? "N/A" : lock & PERF_MEM_LOCK_LOCKED ? "Yes" : "No");
	put_blocked(&t, BITS(word, BLK, 3));
	pen_bytes(script->pen, t.to, t.size);
	if (script->memory_width < (int)t.size)
		script->memory_width = (int)t.size;
	pen_spaces(script->pen, script->memory_width - (int)t.size);
}
