/* SPDX-License-Identifier: MIT */
/*
 * What the payloads of Arm SPE packets mean, and their text.
 *
 * Events and operations are tables of bits. The numbers of Data Source packets are the CPU maker's: those of three families
 * are known, by what Linux's perf tool knows of them.
 */
#include <perfev/arm_spe.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOW_56	     ((UINT64_C(1) << 56) - 1)

/* ---- names -------------------------------------------------------------------------------------------------------------- */

const char *perfev_spe_name(enum perfev_spe_type type)
{
	static const char *const names[PERFEV_SPE_COUNT_] = {"Padding", "End",	     "Timestamp", "Events",  "Data Source",
							     "Context", "Operation Type", "Address", "Counter", "Alignment"};

	return (unsigned)type < PERFEV_SPE_COUNT_ ? names[type] : NULL;
}

const char *perfev_spe_event_name(unsigned bit)
{
	static const char *const names[] = {
		"exception",	"retired",	"l1d-access",	 "l1d-refill",		"tlb-access",
		"tlb-walk",	"not-taken",	"mispredicted",	 "llc-access",		"llc-miss",
		"remote-access", "misaligned",	NULL,		 NULL,			NULL,
		NULL,		"transactional", "partial-predicate", "empty-predicate", "l2d-access",
		"l2d-miss",	"data-modified", "recently-fetched", "data-snooped",	"streaming-sve",
		"smcu",
	};

	return bit < COUNT(names) ? names[bit] : NULL;
}

struct source {
	uint16_t number;
	const char *name;
};

static const struct source neoverse[] = {{0x0, "l1d"},		{0x8, "l2"},	      {0x9, "peer-core"},
					 {0xa, "local-cluster"}, {0xb, "system-cache"}, {0xc, "peer-cluster"},
					 {0xd, "remote"},	{0xe, "dram"},	      {0, NULL}};
static const struct source ampereone[] = {{0x0, "local-chip-cache-or-device"}, {0x3, "system-cache"}, {0x5, "remote-chip-cache"},
					  {0x7, "dram"}, {0x8, "l1d"}, {0x9, "l2"}, {0, NULL}};
static const struct source hip[] = {{0, "peer-cpu"},	  {1, "peer-cpu-modified"},	{2, "l3"},
				    {3, "l3-modified"},	  {4, "peer-cluster"},		{5, "peer-cluster-modified"},
				    {6, "remote-socket"}, {7, "remote-socket-modified"}, {8, "local-memory"},
				    {9, "remote-memory"}, {13, "device"},		{16, "l2"},
				    {17, "l2-modified"},  {18, "l1d"},			{0, NULL}};

const char *perfev_spe_source_name(enum perfev_spe_family family, uint64_t source)
{
	static const struct source *const families[] = {NULL, neoverse, ampereone, hip};
	const struct source *row = (unsigned)family < COUNT(families) ? families[family] : NULL;

	for (; row && row->name; row++)
		if (row->number == source)
			return row->name;
	return NULL;
}

enum perfev_spe_family perfev_spe_family_of(uint64_t midr)
{
	static const struct {
		uint8_t implementer;
		uint16_t part;
		enum perfev_spe_family family;
	} cpus[] = {
		{0x41, 0xd0c, PERFEV_SPE_FAMILY_NEOVERSE}, /* Neoverse N1 */
		{0x41, 0xd49, PERFEV_SPE_FAMILY_NEOVERSE}, /* N2 */
		{0x41, 0xd40, PERFEV_SPE_FAMILY_NEOVERSE}, /* V1 */
		{0x41, 0xd4f, PERFEV_SPE_FAMILY_NEOVERSE}, /* V2 */
		{0x41, 0xd4c, PERFEV_SPE_FAMILY_NEOVERSE}, /* Cortex X1C */
		{0x41, 0xd4e, PERFEV_SPE_FAMILY_NEOVERSE}, /* X3 */
		{0x41, 0xd85, PERFEV_SPE_FAMILY_NEOVERSE}, /* X925 */
		{0x41, 0xd81, PERFEV_SPE_FAMILY_NEOVERSE}, /* A720 */
		{0x41, 0xd87, PERFEV_SPE_FAMILY_NEOVERSE}, /* A725 */
		{0xc0, 0xac4, PERFEV_SPE_FAMILY_AMPEREONE}, /* AmpereOne A */
		{0x48, 0xd06, PERFEV_SPE_FAMILY_HISILICON_HIP}, /* HIP12 */
	};
	size_t i;

	for (i = 0; i < COUNT(cpus); i++)
		if ((midr >> 24 & 0xff) == cpus[i].implementer && (midr >> 4 & 0xfff) == cpus[i].part)
			return cpus[i].family;
	return PERFEV_SPE_FAMILY_UNKNOWN;
}

/* The numbers of version 2: 2, words of the header, PMU, CPUs; then for each CPU a mark, its number, how many words follow,
 * and those, with MIDR first. */
bool perfev_spe_midr(uint64_t *ret, const struct perfev_auxtrace_info *info, uint32_t cpu)
{
	const struct perfev_u64s *words = &info->numbers;
	uint64_t at, follow, midr;
	bool found = false;

	if (info->type != PERFEV_AUXTRACE_ARM_SPE || words->count < 4 || perfev_u64s_at(*words, 0) != 2)
		return false;
	at = perfev_u64s_at(*words, 1);
	while (at < words->count && words->count - at >= 4 &&
	       perfev_u64s_at(*words, (uint32_t)at) == UINT64_C(0x1010101010101010)) {
		follow = perfev_u64s_at(*words, (uint32_t)at + 2);
		midr = perfev_u64s_at(*words, (uint32_t)at + 3);
		if (cpu != UINT32_MAX && perfev_u64s_at(*words, (uint32_t)at + 1) == cpu) {
			*ret = midr;
			return true;
		}
		if (cpu == UINT32_MAX && found && *ret != midr)
			return false;
		if (cpu == UINT32_MAX) {
			*ret = midr;
			found = true;
		}
		if (follow >= words->count - at)
			break;
		at += 3 + follow;
	}
	return found;
}

bool perfev_spe_place_of(struct perfev_spe_place *ret, const struct perfev_spe_packet *packet)
{
	const uint64_t sign = UINT64_C(1) << 55;
	struct perfev_spe_place place = {.address = packet->payload & LOW_56};
	unsigned top = (unsigned)(packet->payload >> 56);

	if (packet->type != PERFEV_SPE_ADDRESS || packet->index > PERFEV_SPE_PREVIOUS_BRANCH_TARGET)
		return false;
	if (packet->index != PERFEV_SPE_DATA_PHYSICAL)
		place.address = (place.address ^ sign) - sign;
	if (packet->index == PERFEV_SPE_DATA_VIRTUAL) {
		place.tag = (uint8_t)top;
	} else {
		place.ns = top >> 7 & 1;
		place.nse = top >> 4 & 1;
	}
	if (packet->index == PERFEV_SPE_DATA_PHYSICAL) {
		place.ch = top >> 6 & 1;
		place.pat = top & 15;
	} else if (packet->index != PERFEV_SPE_DATA_VIRTUAL) {
		place.el = top >> 5 & 3;
	}
	*ret = place;
	return true;
}

/* ---- text ------------------------------------------------------------------------------------------------------------------ */

struct text {
	char at[1200]; /* 64 events are the longest */
	size_t length;
};

static void put(struct text *text, const char *format, ...) PERFEV_PRINTF(2, 3);

static void put(struct text *text, const char *format, ...)
{
	size_t room = sizeof(text->at) - text->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->at + text->length, room, format, args);
	va_end(args);
	text->length += n > 0 && (size_t)n < room ? (size_t)n : 0;
	text->at[text->length] = 0;
}

static void put_flag(struct text *text, unsigned set, const char *name)
{
	if (set)
		put(text, ", %s", name);
}

static void put_load_store(struct text *text, unsigned op)
{
	static const struct {
		uint8_t value;
		const char *name;
	} registers[] = {{0x00, "general purpose"}, {0x04, "SIMD and FP"}, {0x10, "unspecified register"},
			 {0x14, "allocation tag"},  {0x20, "memory copy"}, {0x24, "memory set"},
			 {0x30, "system register"}};
	size_t i;

	put(text, op & 1 ? "store" : "load");
	if ((op & 0xe2) == 0x02) {
		put_flag(text, op & 4, "atomic");
		put_flag(text, op & 8, "exclusive");
		put_flag(text, op & 16, "acquire-release");
	} else if ((op & 0x0a) == 0x08) {
		put(text, ", SVE or SME, %u bits", 32u << (op >> 4 & 7));
		put_flag(text, op & 4, "predicated");
		put_flag(text, op & 0x80, "gather-scatter");
	} else if ((op & 0xf2) == 0x40) {
		put(text, ", guarded control stack");
		put_flag(text, op & 4, "common");
	} else {
		for (i = 0; i < COUNT(registers); i++)
			if (registers[i].value == (op & 0xfe))
				put(text, ", %s", registers[i].name);
	}
}

static void put_other(struct text *text, unsigned op)
{
	if ((op & 0x89) == 0x08) {
		put(text, "SVE, %u bits", 32u << (op >> 4 & 7));
		put_flag(text, op & 2, "FP");
		put_flag(text, op & 4, "predicated");
	} else if ((op & 0x89) == 0x88) {
		put(text, "SME, %u bits", 128u << ((op >> 4 & 7) << 1 | (op >> 2 & 1)));
		put_flag(text, op & 2, "FP");
	} else {
		put(text, "other");
		put_flag(text, (op & 0xf8) == 0 && op & 4, "SIMD");
		put_flag(text, (op & 0xf8) == 0 && op & 2, "FP");
		put_flag(text, op & 1, "conditional");
	}
}

static void put_branch(struct text *text, unsigned op)
{
	static const char *const kinds[] = {NULL, "call", "return", "neither call nor return"};

	put(text, "branch");
	put_flag(text, op & 1, "conditional");
	put_flag(text, op & 2, "indirect");
	put_flag(text, op & 4, "guarded control stack");
	if (kinds[op >> 3 & 3])
		put(text, ", %s", kinds[op >> 3 & 3]);
}

static void put_operation(struct text *text, unsigned spe_class, unsigned op)
{
	if (spe_class == PERFEV_SPE_LOAD_STORE)
		put_load_store(text, op);
	else if (spe_class == PERFEV_SPE_BRANCH)
		put_branch(text, op);
	else if (spe_class == PERFEV_SPE_OTHER)
		put_other(text, op);
	else
		put(text, "class %u", spe_class);
}

int perfev_spe_operation_format(char *ret, size_t size, unsigned spe_class, unsigned payload)
{
	struct text text = {.length = 0};

	put_operation(&text, spe_class, payload);
	return snprintf(ret, size, "%s", text.at);
}

static void put_events(struct text *text, uint64_t events)
{
	unsigned bit;

	put(text, " 0x%" PRIx64, events);
	for (bit = 0; bit < 64; bit++) {
		if (!(events >> bit & 1))
			continue;
		if (perfev_spe_event_name(bit))
			put(text, " %s", perfev_spe_event_name(bit));
		else
			put(text, " event-%u", bit);
	}
}

static void put_address(struct text *text, const struct perfev_spe_packet *packet)
{
	static const char *const names[] = {"pc", "branch_target", "data_virtual", "data_physical", "previous_branch_target"};
	struct perfev_spe_place place;

	if (!perfev_spe_place_of(&place, packet)) {
		put(text, " index=%u payload=0x%" PRIx64, packet->index, packet->payload);
		return;
	}
	put(text, " %s=0x%" PRIx64, names[packet->index], place.address);
	if (packet->index == PERFEV_SPE_DATA_VIRTUAL)
		put(text, " tag=0x%x", place.tag);
	else if (packet->index == PERFEV_SPE_DATA_PHYSICAL)
		put(text, " ns=%u nse=%u ch=%u pat=%u", place.ns, place.nse, place.ch, place.pat);
	else
		put(text, " el=%u ns=%u nse=%u", place.el, place.ns, place.nse);
}

static void put_indexed(struct text *text, const struct perfev_spe_packet *packet, const char *const *names, size_t count,
			const char *format)
{
	if (packet->index < count)
		put(text, " %s=", names[packet->index]);
	else
		put(text, " index=%u payload=", packet->index);
	put(text, format[0] == 'x' ? "0x%" PRIx64 : "%" PRIu64, packet->payload);
}

static void put_payload(struct text *text, const struct perfev_spe_packet *packet, enum perfev_spe_family family)
{
	static const char *const contexts[] = {"el1", "el2"};
	static const char *const counters[] = {"total_latency", "issue_latency", "translation_latency"};
	const char *name;

	switch (packet->type) {
	case PERFEV_SPE_TIMESTAMP:
		put(text, " 0x%" PRIx64, packet->payload);
		break;
	case PERFEV_SPE_EVENTS:
		put_events(text, packet->payload);
		break;
	case PERFEV_SPE_DATA_SOURCE:
		name = perfev_spe_source_name(family, packet->payload);
		put(text, name ? " 0x%" PRIx64 " %s" : " 0x%" PRIx64, packet->payload, name);
		break;
	case PERFEV_SPE_CONTEXT:
		put_indexed(text, packet, contexts, COUNT(contexts), "x");
		break;
	case PERFEV_SPE_OPERATION:
		put(text, " 0x%" PRIx64 " ", packet->payload);
		put_operation(text, packet->index, (unsigned)packet->payload);
		break;
	case PERFEV_SPE_ADDRESS:
		put_address(text, packet);
		break;
	case PERFEV_SPE_COUNTER:
		put_indexed(text, packet, counters, COUNT(counters), "d");
		break;
	case PERFEV_SPE_ALIGNMENT:
		put(text, " boundary=%u", 2u << packet->index % 16);
		break;
	default:
		break;
	}
}

int perfev_spe_format(char *ret, size_t size, const struct perfev_spe_packet *packet, enum perfev_spe_family family)
{
	struct text text = {.length = 0};

	if (packet->type >= PERFEV_SPE_COUNT_)
		return snprintf(ret, size, "packet %u", packet->type);
	put(&text, "%s", perfev_spe_name((enum perfev_spe_type)packet->type));
	put_payload(&text, packet, family);
	return snprintf(ret, size, "%s", text.at);
}
