/* SPDX-License-Identifier: MIT */
/*
 * Sections, field by field. What a section consists of is a small program: steps that take a number, a text or bytes,
 * and lists, whose count is a number that was taken before. A step that finds too few bytes ends the walk, and each
 * round of a list takes at least one byte or is one of a bounded number, so that a count which lies costs nothing.
 */
#include <perfev/feature.h>

#include "base/error.h"
#include "base/load.h"
#include "feature_message.h"

#include <errno.h>

enum op {
	END,
	U32,
	U64,
	TEXT,	 /* u32 length, text, padding */
	ENDED,	 /* a text up to its 0 */
	BYTES,	 /* as many as a number says */
	BITMAP,	 /* u64 bits, words */
	REST,	 /* all that is left, if anything */
	LIST,	 /* as many rounds as a number says */
	ALL,	 /* rounds until nothing is left */
	CPUS,	 /* a round for each CPU */
	NEXT,	 /* the end of a round */
	MORE,	 /* nothing is left: the end */
	FROM,	 /* the next step, where a number is @value or more */
	ID,	 /* an entry with a build-id: three fields */
	ID_BYTES,
	ID_NAME,
	FILE_PATH, /* a file of simpleperf's, and what is said of it */
	FILE_KIND,
	FILE_ADDRESS,
	FILE_OFFSET,
	FILE_COUNT,
	FILE_SYMBOL, /* the next one of the file: three fields */
	FILE_SYMBOL_SIZE,
	FILE_SYMBOL_NAME
};

struct step {
	uint8_t op;
	uint8_t number; /* takes: where it is kept, + 1; uses: which */
	uint8_t value;
	const char *name; /* NULL: is not handed out */
};

#define KEEP(n) ((n) + 1)
#define USE(n)	((n) + 1)

static const struct step text[] = {{TEXT, 0, 0, "text"}, {END, 0, 0, NULL}};
static const struct step nothing[] = {{REST, 0, 0, "bytes"}, {END, 0, 0, NULL}};

static const struct step build_id[] = {
	{ALL, 0, 0, NULL}, {ID, 0, 0, "pid"}, {ID_BYTES, 0, 0, "build_id"}, {ID_NAME, 0, 0, "filename"},
	{NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step nrcpus[] = {{U32, 0, 0, "available"}, {U32, 0, 0, "online"}, {END, 0, 0, NULL}};
static const struct step total_mem[] = {{U64, 0, 0, "kb"}, {END, 0, 0, NULL}};
static const struct step cmdline[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {TEXT, 0, 0, "argument"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step event_desc[] = {
	{U32, KEEP(0), 0, NULL}, {U32, KEEP(1), 0, "attr_size"},
	{LIST, USE(0), 0, NULL},
	{BYTES, USE(1), 0, "attr"}, {U32, KEEP(2), 0, NULL}, {TEXT, 0, 0, "name"},
	{LIST, USE(2), 0, NULL}, {U64, 0, 0, "id"}, {NEXT, 0, 0, NULL},
	{NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step cpu_topology[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {TEXT, 0, 0, "cores"}, {NEXT, 0, 0, NULL},
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {TEXT, 0, 0, "threads"}, {NEXT, 0, 0, NULL},
	{MORE, 0, 0, NULL},
	{CPUS, 0, 0, NULL}, {U32, 0, 0, "core"}, {U32, 0, 0, "socket"}, {NEXT, 0, 0, NULL},
	{MORE, 0, 0, NULL},
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {TEXT, 0, 0, "dies"}, {NEXT, 0, 0, NULL},
	{CPUS, 0, 0, NULL}, {U32, 0, 0, "die"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step numa_topology[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U32, 0, 0, "node"}, {U64, 0, 0, "total_kb"},
	{U64, 0, 0, "free_kb"}, {TEXT, 0, 0, "cpus"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step pmu_mappings[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U32, 0, 0, "type"}, {TEXT, 0, 0, "name"},
	{NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step group_desc[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {TEXT, 0, 0, "name"}, {U32, 0, 0, "leader"},
	{U32, 0, 0, "members"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step auxtrace[] = {
	{U64, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U64, 0, 0, "offset"}, {U64, 0, 0, "size"},
	{NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step auxtrace_of_simpleperf[] = { /* has no count */
	{ALL, 0, 0, NULL}, {U64, 0, 0, "offset"}, {U64, 0, 0, "size"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step cache[] = {
	{U32, 0, 0, "version"}, {U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U32, 0, 0, "level"},
	{U32, 0, 0, "line_size"}, {U32, 0, 0, "sets"}, {U32, 0, 0, "ways"}, {TEXT, 0, 0, "type"},
	{TEXT, 0, 0, "size"}, {TEXT, 0, 0, "cpus"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step sample_time[] = {{U64, 0, 0, "first_ns"}, {U64, 0, 0, "last_ns"}, {END, 0, 0, NULL}};
static const struct step mem_topology[] = {
	{U64, 0, 0, "version"}, {U64, 0, 0, "block_size"}, {U64, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL},
	{U64, 0, 0, "node"}, {U64, 0, 0, "bits"}, {BITMAP, 0, 0, "blocks"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step clockid[] = {{U64, 0, 0, "resolution_ns"}, {END, 0, 0, NULL}};
static const struct step dir_format[] = {{U64, 0, 0, "version"}, {END, 0, 0, NULL}};
static const struct step bpf_prog_info[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U32, KEEP(1), 0, NULL}, {U32, KEEP(2), 0, NULL},
	{U64, 0, 0, "arrays"}, {BYTES, USE(1), 0, "info"}, {BYTES, USE(2), 0, "data"}, {NEXT, 0, 0, NULL},
	{END, 0, 0, NULL},
};
static const struct step bpf_btf[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U32, 0, 0, "id"}, {U32, KEEP(1), 0, NULL},
	{BYTES, USE(1), 0, "btf"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step compressed[] = {
	{U32, 0, 0, "version"}, {U32, 0, 0, "type"}, {U32, 0, 0, "level"}, {U32, 0, 0, "ratio"},
	{U32, 0, 0, "mmap_len"}, {END, 0, 0, NULL},
};
static const struct step cpu_pmu_caps[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {TEXT, 0, 0, "name"}, {TEXT, 0, 0, "value"},
	{NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step clock_data[] = {
	{U32, 0, 0, "version"}, {U32, 0, 0, "clockid"}, {U64, 0, 0, "wall_clock_ns"}, {U64, 0, 0, "clockid_ns"},
	{END, 0, 0, NULL},
};
static const struct step hybrid_topology[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {TEXT, 0, 0, "pmu"}, {TEXT, 0, 0, "cpus"},
	{NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step pmu_caps[] = {
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U32, KEEP(1), 0, NULL}, {LIST, USE(1), 0, NULL},
	{TEXT, 0, 0, "name"}, {TEXT, 0, 0, "value"}, {NEXT, 0, 0, NULL}, {TEXT, 0, 0, "pmu"}, {NEXT, 0, 0, NULL},
	{END, 0, 0, NULL},
};
static const struct step cpu_domain_info[] = {
	{U32, KEEP(1), 0, "schedstat_version"}, {U32, 0, 0, "max_domains"}, {ALL, 0, 0, NULL}, {U32, 0, 0, "cpu"},
	{U32, KEEP(0), 0, NULL}, {LIST, USE(0), 0, NULL}, {U32, 0, 0, "domain"}, {FROM, USE(1), 17, NULL},
	{TEXT, 0, 0, "name"}, {TEXT, 0, 0, "cpumask"}, {TEXT, 0, 0, "cpus"}, {NEXT, 0, 0, NULL}, {NEXT, 0, 0, NULL},
	{END, 0, 0, NULL},
};
static const struct step e_machine[] = {{U32, 0, 0, "machine"}, {U32, 0, 0, "flags"}, {END, 0, 0, NULL}};
static const struct step cln_size[] = {{U32, 0, 0, "bytes"}, {END, 0, 0, NULL}};
/* type: 0 the kernel, 1 a module of it, 2 ELF, 3 dex */
static const struct step simpleperf_file[] = {
	{ALL, 0, 0, NULL}, {FILE_PATH, 0, 0, "path"}, {FILE_KIND, 0, 0, "type"}, {FILE_ADDRESS, 0, 0, "min_vaddr"},
	{FILE_OFFSET, 0, 0, "offset_of_address"}, {FILE_COUNT, KEEP(0), 0, "symbols"}, {LIST, USE(0), 0, NULL},
	{FILE_SYMBOL, 0, 0, "address"}, {FILE_SYMBOL_SIZE, 0, 0, "size"}, {FILE_SYMBOL_NAME, 0, 0, "name"}, {NEXT, 0, 0, NULL},
	{NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};
static const struct step meta_info[] = {
	{ALL, 0, 0, NULL}, {ENDED, 0, 0, "key"}, {ENDED, 0, 0, "value"}, {NEXT, 0, 0, NULL}, {END, 0, 0, NULL},
};

static const struct step *const programs[] = {
	[PERFEV_FEATURE_BUILD_ID] = build_id,
	[PERFEV_FEATURE_HOSTNAME] = text,
	[PERFEV_FEATURE_OSRELEASE] = text,
	[PERFEV_FEATURE_VERSION] = text,
	[PERFEV_FEATURE_ARCH] = text,
	[PERFEV_FEATURE_NRCPUS] = nrcpus,
	[PERFEV_FEATURE_CPUDESC] = text,
	[PERFEV_FEATURE_CPUID] = text,
	[PERFEV_FEATURE_TOTAL_MEM] = total_mem,
	[PERFEV_FEATURE_CMDLINE] = cmdline,
	[PERFEV_FEATURE_EVENT_DESC] = event_desc,
	[PERFEV_FEATURE_CPU_TOPOLOGY] = cpu_topology,
	[PERFEV_FEATURE_NUMA_TOPOLOGY] = numa_topology,
	[PERFEV_FEATURE_PMU_MAPPINGS] = pmu_mappings,
	[PERFEV_FEATURE_GROUP_DESC] = group_desc,
	[PERFEV_FEATURE_AUXTRACE] = auxtrace,
	[PERFEV_FEATURE_CACHE] = cache,
	[PERFEV_FEATURE_SAMPLE_TIME] = sample_time,
	[PERFEV_FEATURE_MEM_TOPOLOGY] = mem_topology,
	[PERFEV_FEATURE_CLOCKID] = clockid,
	[PERFEV_FEATURE_DIR_FORMAT] = dir_format,
	[PERFEV_FEATURE_BPF_PROG_INFO] = bpf_prog_info,
	[PERFEV_FEATURE_BPF_BTF] = bpf_btf,
	[PERFEV_FEATURE_COMPRESSED] = compressed,
	[PERFEV_FEATURE_CPU_PMU_CAPS] = cpu_pmu_caps,
	[PERFEV_FEATURE_CLOCK_DATA] = clock_data,
	[PERFEV_FEATURE_HYBRID_TOPOLOGY] = hybrid_topology,
	[PERFEV_FEATURE_PMU_CAPS] = pmu_caps,
	[PERFEV_FEATURE_CPU_DOMAIN_INFO] = cpu_domain_info,
	[PERFEV_FEATURE_E_MACHINE] = e_machine,
	[PERFEV_FEATURE_CLN_SIZE] = cln_size,
	[PERFEV_FEATURE_SIMPLEPERF_FILE] = simpleperf_file,
	[PERFEV_FEATURE_SIMPLEPERF_META_INFO] = meta_info,
	[PERFEV_FEATURE_SIMPLEPERF_FILE2] = simpleperf_file,
};

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static const unsigned char *take(struct perfev_feature_walk *w, uint64_t size)
{
	const unsigned char *at = (const unsigned char *)w->section.data + w->position;

	if (size > w->limit - w->position)
		return NULL;
	w->position += (size_t)size;
	return at;
}

static bool take_number(struct perfev_feature_walk *w, unsigned width, uint64_t *ret)
{
	const unsigned char *at = take(w, width);

	if (at)
		*ret = width == 8 ? load_u64(at, w->swapped) : load_u32(at, w->swapped);
	return at != NULL;
}

static bool take_text(struct perfev_feature_walk *w, const char **ret)
{
	uint64_t size;

	if (!take_number(w, 4, &size))
		return false;
	*ret = (const char *)take(w, size);
	return *ret && size && memchr(*ret, 0, (size_t)size);
}

static bool take_ended(struct perfev_feature_walk *w, const char **ret)
{
	const char *at = (const char *)w->section.data + w->position;
	const char *end = w->limit > w->position ? memchr(at, 0, w->limit - w->position) : NULL;

	*ret = at;
	return end && take(w, (uint64_t)(end - at) + 1);
}

static bool take_bytes(struct perfev_feature_walk *w, uint64_t size, struct perfev_bytes *ret)
{
	ret->data = take(w, size);
	ret->size = (size_t)size;
	return ret->data != NULL;
}

static bool take_bitmap(struct perfev_feature_walk *w, uint64_t *bits, struct perfev_bytes *ret)
{
	if (!take_number(w, 8, bits) || *bits / 8 > w->limit - w->position)
		return false;
	return take_bytes(w, (*bits + 63) / 64 * 8, ret);
}

static bool take_build_id(struct perfev_feature_walk *w)
{
	struct perfev_build_id id;
	size_t position = w->position;

	if (perfev_feature_build_id(&id, w->section, w->swapped, &position, NULL) <= 0)
		return false;
	w->position = position;
	memcpy(w->build_id.id, id.id, sizeof(id.id));
	w->build_id.size = id.size;
	w->build_id.pid = id.pid;
	w->build_id.filename = id.filename;
	return true;
}

static bool take_file(struct perfev_feature_walk *w)
{
	struct perfev_recorded_file file;
	size_t position = w->position;

	if (perfev_feature_file(&file, w->section, w->feature, w->swapped, &position, NULL) <= 0)
		return false;
	w->position = position;
	feature_keep_text(w, file.path);
	w->file.kind = file.kind;
	w->file.min_address = file.min_address;
	w->file.offset = file.offset;
	w->file.count = file.symbol_count;
	w->file.symbols = file.symbols.data;
	w->file.size = file.symbols.size;
	w->file.packed = file.packed;
	w->file.at = 0;
	return true;
}

static bool take_file_symbol(struct perfev_feature_walk *w, uint64_t *address)
{
	struct perfev_recorded_file file = {.symbols = {w->file.symbols, w->file.size}, .packed = w->file.packed,
					    .swapped = w->swapped};
	struct perfev_recorded_symbol symbol;

	if (!perfev_recorded_file_next(&file, &w->file.at, &symbol))
		return false;
	*address = symbol.address;
	w->file.symbol_size = symbol.size;
	feature_keep_text(w, symbol.name);
	return true;
}

/* What was taken with the field before. */
static bool take_more_of_file(struct perfev_feature_walk *w, const struct step *step, struct perfev_feature_field *ret)
{
	switch (step->op) {
	case FILE_PATH:
		ret->text = w->file.text;
		return take_file(w);
	case FILE_KIND:
		ret->number = w->file.kind;
		return true;
	case FILE_ADDRESS:
		ret->number = w->file.min_address;
		return true;
	case FILE_OFFSET:
		ret->number = w->file.offset;
		return true;
	case FILE_COUNT:
		ret->number = w->numbers[step->number - 1] = w->file.count;
		return true;
	case FILE_SYMBOL:
		return take_file_symbol(w, &ret->number);
	case FILE_SYMBOL_SIZE:
		ret->number = w->file.symbol_size;
		return true;
	default:
		ret->text = w->file.text;
		return true;
	}
}

/* A field. Return: false when it does not fit. */
static bool take_field(struct perfev_feature_walk *w, const struct step *step, struct perfev_feature_field *ret)
{
	static const uint8_t kinds[] = {[U32] = PERFEV_FEATURE_NUMBER, [U64] = PERFEV_FEATURE_NUMBER,
					[TEXT] = PERFEV_FEATURE_TEXT, [ENDED] = PERFEV_FEATURE_TEXT,
					[BYTES] = PERFEV_FEATURE_BYTES, [BITMAP] = PERFEV_FEATURE_BYTES,
					[REST] = PERFEV_FEATURE_BYTES, [ID] = PERFEV_FEATURE_NUMBER,
					[ID_BYTES] = PERFEV_FEATURE_BYTES, [ID_NAME] = PERFEV_FEATURE_TEXT,
					[FILE_PATH] = PERFEV_FEATURE_TEXT, [FILE_SYMBOL_NAME] = PERFEV_FEATURE_TEXT};
	bool fits = true;

	ret->kind = (enum perfev_feature_kind)kinds[step->op];
	switch (step->op) {
	case U32:
	case U64:
		fits = take_number(w, step->op == U64 ? 8 : 4, &ret->number);
		if (fits && step->number)
			w->numbers[step->number - 1] = ret->number;
		break;
	case TEXT:
		fits = take_text(w, &ret->text);
		break;
	case ENDED:
		fits = take_ended(w, &ret->text);
		break;
	case BYTES:
		fits = take_bytes(w, w->numbers[step->number - 1], &ret->bytes);
		break;
	case BITMAP:
		fits = take_bitmap(w, &ret->number, &ret->bytes);
		break;
	case ID:
		fits = take_build_id(w);
		ret->number = (uint64_t)(int64_t)w->build_id.pid;
		break;
	case ID_BYTES:
		ret->bytes.data = w->build_id.id;
		ret->bytes.size = w->build_id.size;
		break;
	case ID_NAME:
		ret->text = w->build_id.filename;
		break;
	case REST:
		fits = take_bytes(w, w->limit - w->position, &ret->bytes);
		break;
	default:
		fits = take_more_of_file(w, step, ret);
		break;
	}
	return fits;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

#define UNTIL_THE_END UINT64_MAX

/* Behind the list that @step begins. */
static const struct step *skip_list(const struct step *step)
{
	unsigned depth = 0;

	do {
		depth += step->op == LIST || step->op == ALL || step->op == CPUS;
		depth -= step->op == NEXT;
		step++;
	} while (depth);
	return step;
}

static const struct step *begin_list(struct perfev_feature_walk *w, const struct step *step)
{
	uint64_t left = step->op == LIST ? w->numbers[step->number - 1] : step->op == CPUS ? w->cpus : UNTIL_THE_END;

	if (!left || (left == UNTIL_THE_END && w->position >= w->limit))
		return skip_list(step);
	w->lists[w->depth].begin = step + 1;
	w->lists[w->depth].left = left;
	w->lists[w->depth++].index = 0;
	w->fresh = true;
	return step + 1;
}

static const struct step *next_round(struct perfev_feature_walk *w, const struct step *step)
{
	unsigned top = w->depth - 1;

	if (w->lists[top].left == UNTIL_THE_END) {
		if (w->limit < w->section.size)
			w->position = w->limit; /* of a round that says its size */
		w->limit = w->section.size;
		if (w->position >= w->limit) {
			w->depth--;
			return step + 1;
		}
	} else if (--w->lists[top].left == 0) {
		w->depth--;
		return step + 1;
	}
	w->lists[top].index++;
	w->fresh = true;
	return w->lists[top].begin;
}

/* A step that is no field. Return: the next one; NULL when it does not fit. */
static const struct step *go(struct perfev_feature_walk *w, const struct step *step)
{
	switch (step->op) {
	case LIST:
	case ALL:
	case CPUS:
		return begin_list(w, step);
	case NEXT:
		return next_round(w, step);
	case MORE:
		w->ended = w->position >= w->limit || (!w->cpus && w->feature == PERFEV_FEATURE_CPU_TOPOLOGY);
		return step + 1;
	default:
		return w->numbers[step->number - 1] >= step->value ? step + 1 : step + 2;
	}
}

void perfev_feature_begin(struct perfev_feature_walk *ret, unsigned feature, struct perfev_bytes section, bool swapped,
			  uint32_t cpus)
{
	memset(ret, 0, sizeof(*ret));
	ret->section = section;
	if (!section.data)
		ret->section.data = ""; /* so that there is a place */
	ret->limit = section.size;
	ret->swapped = swapped;
	ret->cpus = cpus;
	ret->feature = feature;
	ret->step = feature < sizeof(programs) / sizeof(programs[0]) ? programs[feature] : NULL;
	if (!ret->step)
		ret->step = nothing;
	if (feature == PERFEV_FEATURE_AUXTRACE && section.size % 16 == 0)
		ret->step = auxtrace_of_simpleperf;
	ret->ended = ret->step == nothing && !section.size;
	if (feature_message_begin(ret))
		ret->step = NULL;
}

static int cut(struct perfev_feature_walk *w, const struct step *step, struct perfev_error *err)
{
	const char *name = perfev_feature_name(w->feature);

	w->ended = true;
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, w->position,
			 "cannot read section %s: its %s at byte %zu of %zu does not fit", name ? name : "?",
			 step->name ? step->name : "count", w->position, w->section.size);
}

static bool is_field(const struct step *step)
{
	return (step->op >= U32 && step->op <= REST) || step->op >= ID;
}

int perfev_feature_next(struct perfev_feature_walk *walk, struct perfev_feature_field *ret, struct perfev_error *err)
{
	if (!walk->step)
		return feature_message_next(walk, ret, err);
	while (!walk->ended) {
		const struct step *step = walk->step;

		if (step->op == END) {
			walk->ended = true;
		} else if (!is_field(step)) {
			walk->step = go(walk, step);
			if (!walk->step)
				return cut(walk, step, err);
		} else {
			memset(ret, 0, sizeof(*ret));
			if (!take_field(walk, step, ret))
				return cut(walk, step, err);
			walk->step = step + 1;
			if (!step->name)
				continue;
			ret->name = step->name;
			ret->depth = walk->depth;
			ret->index = walk->depth ? walk->lists[walk->depth - 1].index : 0;
			ret->first = walk->depth && walk->fresh;
			walk->fresh = false;
			return 1;
		}
	}
	return 0;
}
