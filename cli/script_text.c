/* SPDX-License-Identifier: MIT */
/*
 * A sample as perf script prints it. Widths, separators and spaces at the end of lines are perf's (6.1): scripts
 * of other people read them.
 */
#include "script.h"

#include <inttypes.h>
#include <string.h>

static bool is(const struct script *script, const struct script_sample *s, enum script_field field)
{
	return shows(&script->fields, s->event->kind, field);
}

/* ---- places -------------------------------------------------------------------------------------------- */

static int find(struct script *script, const struct script_sample *s, uint64_t ip, uint32_t cpumode,
		struct perfev_frame *frame, struct perfev_error *err)
{
	struct perfev_place place = {ip, s->pid, cpumode};

	return perfev_symbols_find(script->replay.symbols, &place, frame, 1, err);
}

static void put_name(struct script *script, const struct perfev_frame *frame, bool with_offset)
{
	const struct script_name *name = script_name(script, frame);

	pen_bytes(script->pen, name->text, name->size);
	if (with_offset && frame->symbol) {
		pen_bytes(script->pen, "+0x", 3);
		pen_hex(script->pen, frame->offset, 0);
	}
}

static void put_module(struct script *script, const struct perfev_frame *frame)
{
	const struct script_name *module = script_module(script, frame);

	pen_bytes(script->pen, module->text, module->size);
}

/* " NAME+0xOFFSET (FILE)", as far as they are wanted. */
static void put_place(struct script *script, const struct script_sample *s, const struct perfev_frame *frame)
{
	if (is(script, s, FIELD_SYM)) {
		pen_char(script->pen, ' ');
		put_name(script, frame, is(script, s, FIELD_SYMOFF));
	}
	if (is(script, s, FIELD_DSO)) {
		pen_char(script->pen, ' ');
		put_module(script, frame);
	}
}

/* Whose an address of a chain is; 0: what follows cannot be known. */
static uint32_t mode_of(uint64_t context)
{
	switch (context) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
	case (uint64_t)PERF_CONTEXT_USER_DEFERRED:
		return PERF_RECORD_MISC_USER;
	default:
		return 0;
	}
}

/* perf does not print a part of a chain with a mark that it does not know. */
static uint32_t known_marks(const struct perfev_u64s *chain)
{
	uint32_t i;

	for (i = 0; i < chain->count; i++) {
		uint64_t ip = perfev_u64s_at(*chain, i);

		if (ip >= (uint64_t)PERF_CONTEXT_MAX && !mode_of(ip))
			return 0;
	}
	return chain->count;
}

static int put_chain(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	const struct perfev_u64s *chain = &s->sample->callchain;
	uint32_t mode = PERF_RECORD_MISC_USER, i, shown = 0, count = known_marks(chain);
	bool with_ip = is(script, s, FIELD_IP);
	struct perfev_frame frame;

	for (i = 0; i < count && shown < script->max_stack; i++) {
		uint64_t ip = perfev_u64s_at(*chain, i);
		bool kernel;

		if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
			mode = mode_of(ip);
			continue;
		}
		if (find(script, s, ip, mode, &frame, err) < 0)
			return -1;
		shown++;
		kernel = mode != PERF_RECORD_MISC_USER;
		pen_char(script->pen, '\t');
		if (with_ip)
			pen_hex(script->pen, kernel ? ip : frame.file_offset, 16);
		put_place(script, s, &frame);
		pen_char(script->pen, '\n');
	}
	return 0;
}

static int put_ip(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	struct perfev_frame frame;

	if (s->sample->present & PERF_SAMPLE_CALLCHAIN) {
		pen_char(script->pen, '\n');
		return put_chain(script, s, err);
	}
	pen_char(script->pen, ' ');
	if (find(script, s, s->sample->ip, s->cpumode, &frame, err) < 0)
		return -1;
	pen_hex(script->pen, s->sample->ip, 16);
	put_place(script, s, &frame);
	return 0;
}

/* Events whose address is code, or what code touched first: it has a name too. */
static bool addr_is_place(const struct script_event *event)
{
	uint64_t config = event->attr->config;

	return event->is_branches || (event->kind == KIND_SOFTWARE &&
				      (config == PERF_COUNT_SW_PAGE_FAULTS || config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
				       config == PERF_COUNT_SW_PAGE_FAULTS_MAJ));
}

static int put_addr(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	struct perfev_frame frame;
	uint64_t addr = s->sample->present & PERF_SAMPLE_ADDR ? s->sample->addr : 0;

	pen_hex(script->pen, addr, 16);
	if (!addr_is_place(s->event))
		return 0;
	if (find(script, s, addr, s->cpumode, &frame, err) < 0)
		return -1;
	put_place(script, s, &frame);
	return 0;
}

/* ---- branch stacks --------------------------------------------------------------------------------------- */

static const char *branch_type(unsigned type)
{
	static const char *const names[] = {"",	    "COND",	"UNCOND",     "IND",	   "CALL", "IND_CALL",
					    "RET",  "SYSCALL",	"SYSRET",     "COND_CALL", "COND_RET",
					    "ERET", "IRQ"};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "";
}

/* Where an end of a branch is, in the privilege that has something there. */
static int find_end(struct script *script, const struct script_sample *s, uint64_t ip, struct perfev_frame *frame,
		    struct perfev_error *err)
{
	int r = find(script, s, ip, s->cpumode, frame, err);

	if (r >= 0 && !strcmp(frame->module, "[unknown]"))
		r = find(script, s, ip, s->cpumode == PERF_RECORD_MISC_USER ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
			 frame, err);
	return r;
}

static int put_end(struct script *script, const struct script_sample *s, enum script_field form, uint64_t ip,
		   struct perfev_error *err)
{
	bool with_module = is(script, s, FIELD_DSO);
	struct perfev_frame frame;

	if (find_end(script, s, ip, &frame, err) < 0)
		return -1;
	if (form == FIELD_BRSTACKSYM) {
		put_name(script, &frame, true);
	} else {
		pen_bytes(script->pen, "0x", 2);
		pen_hex(script->pen, form == FIELD_BRSTACKOFF ? frame.file_offset : ip, 0);
	}
	if (with_module)
		put_module(script, &frame);
	return 0;
}

static int put_branches(struct script *script, const struct script_sample *s, enum script_field form,
			struct perfev_error *err)
{
	struct perfev_branch b;
	uint32_t i;

	if (!(s->sample->present & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	for (i = 0; perfev_branches_at(&s->sample->branches, i, &b); i++) {
		if (form != FIELD_BRSTACKSYM)
			pen_char(script->pen, ' ');
		if (put_end(script, s, form, b.from, err) < 0)
			return -1;
		pen_char(script->pen, '/');
		if (put_end(script, s, form, b.to, err) < 0)
			return -1;
		pen_print(script->pen, "/%c/%c/%c/%d/%s ", b.mispredicted ? 'M' : b.predicted ? 'P' : '-',
			  b.in_tx ? 'X' : '-', b.abort ? 'A' : '-', b.cycles, branch_type(b.type));
	}
	return 0;
}

/* ---- the rest of a line ------------------------------------------------------------------------------------ */

static void put_misc(struct script *script, const struct script_sample *s)
{
	static const struct {
		uint32_t mode;
		char letter;
	} letters[] = {{PERF_RECORD_MISC_KERNEL, 'K'},
		       {PERF_RECORD_MISC_USER, 'U'},
		       {PERF_RECORD_MISC_HYPERVISOR, 'H'},
		       {PERF_RECORD_MISC_GUEST_KERNEL, 'G'},
		       {PERF_RECORD_MISC_GUEST_USER, 'g'}};
	int width = 6;
	size_t i;

	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if ((s->sample->misc & letters[i].mode) == letters[i].mode) {
			pen_char(script->pen, letters[i].letter);
			width--;
		}
	pen_spaces(script->pen, width > 0 ? width : 1);
}

static void put_time(struct script *script, uint64_t time)
{
	uint64_t seconds = time / 1000000000, part = time % 1000000000;

	if (script->ns) {
		pen_number(script->pen, seconds, 5);
		pen_char(script->pen, '.');
		pen_zeros(script->pen, part, 9);
	} else {
		pen_number(script->pen, seconds, 5);
		pen_char(script->pen, '.');
		pen_zeros(script->pen, part / 1000, 6);
	}
	pen_bytes(script->pen, ": ", 2);
}

static void put_signed(struct pen *pen, int32_t number, int width)
{
	if (number >= 0)
		pen_number(pen, (uint64_t)number, width);
	else
		pen_print(pen, "%*d", width, number);
}

/* On the left, as in "812/813  ". */
static void put_left(struct pen *pen, int32_t number, int width)
{
	pen_print(pen, "%-*d", width, number);
}

static void put_task(struct script *script, const struct script_sample *s)
{
	bool pid = is(script, s, FIELD_PID), tid = is(script, s, FIELD_TID);
	struct pen *pen = script->pen;

	if (pid || tid)
		put_signed(pen, pid ? s->pid : s->tid, 5);
	if (pid && tid) {
		pen_char(pen, '/');
		put_left(pen, s->tid, 5);
	}
	if (pid || tid)
		pen_char(pen, ' ');
}

static void put_start(struct script *script, const struct script_sample *s)
{
	struct pen *pen = script->pen;

	if (is(script, s, FIELD_COMM)) {
		size_t size = strlen(s->comm);

		if (!(is(script, s, FIELD_IP) && s->event->has_callchain))
			pen_spaces(pen, 16 - (int)(size < 16 ? size : 16));
		pen_bytes(pen, s->comm, size);
		pen_char(pen, ' ');
	}
	put_task(script, s);
	if (is(script, s, FIELD_CPU)) {
		pen_char(pen, '[');
		if (s->sample->present & PERF_SAMPLE_CPU)
			pen_zeros(pen, s->sample->cpu, 3);
		else
			pen_bytes(pen, "-01", 3); /* as %03d has it */
		pen_bytes(pen, "] ", 2);
	}
	if (is(script, s, FIELD_MISC))
		put_misc(script, s);
	if (is(script, s, FIELD_TIME))
		put_time(script, s->sample->present & PERF_SAMPLE_TIME ? s->sample->time : 0);
	if (is(script, s, FIELD_PERIOD)) {
		pen_number(pen, s->period, 10);
		pen_char(pen, ' ');
	}
	if (is(script, s, FIELD_EVENT)) {
		size_t size = strlen(s->event->name);

		pen_spaces(pen, script->name_width - (int)(size < 4096 ? size : 4096));
		pen_bytes(pen, s->event->name, size);
		pen_bytes(pen, ": ", 2);
	}
}

static void put_registers(struct script *script, const struct perfev_registers *registers)
{
	unsigned size, bit;
	enum perfev_arch arch = script->arch ? perfev_arch_of(script->arch, &size) : perfev_arch_host(&size);
	uint32_t at = 0;

	pen_print(script->pen, " ABI:%" PRIu64 " ", registers->abi);
	for (bit = 0; bit < 64 && at < registers->values.count; bit++) {
		const char *name;

		if (!(registers->mask >> bit & 1))
			continue;
		name = perfev_reg_name(arch, size, bit);
		pen_print(script->pen, "%5s:0x%" PRIx64 " ", name ? name : "unknown",
			  perfev_u64s_at(registers->values, at++));
	}
}

static void put_page_size(struct script *script, uint64_t size)
{
	static const char units[] = "BKMGTPE";
	int unit = 0;

	if (!size) {
		pen_text(script->pen, " N/A");
		return;
	}
	while (size >= 1024 && !(size % 1024) && units[unit + 1]) {
		size /= 1024;
		unit++;
	}
	pen_print(script->pen, " %" PRIu64 "%c", size, units[unit]);
}

static void put_weights(struct script *script, const struct script_sample *s)
{
	struct perfev_weight weight = {0, 0, 0, 0, 0};

	perfev_sample_weight(s->sample, &weight);
	if (is(script, s, FIELD_WEIGHT))
		pen_number(script->pen, weight.has_parts ? weight.first : weight.whole, 16);
	if (is(script, s, FIELD_INS_LAT))
		pen_number(script->pen, weight.second, 16);
	if (is(script, s, FIELD_RETIRE_LAT))
		pen_number(script->pen, weight.third, 16);
}

/* Data that a BPF program wrote: 16 bytes a line. */
static void put_bpf_output(struct script *script, const struct script_sample *s)
{
	const unsigned char *at = s->sample->raw.data;
	size_t size = s->sample->present & PERF_SAMPLE_RAW ? s->sample->raw.size : 0, i, j;

	if (!size)
		return;
	pen_char(script->pen, '\n');
	for (i = 0; i < size; i += 16) {
		pen_print(script->pen, "%17s %04zx:", i ? "" : "BPF output:", i);
		for (j = i; j < i + 16; j++)
			pen_print(script->pen, j < size ? " %02x" : "   ", j < size ? at[j] : 0);
		pen_text(script->pen, "  ");
		for (j = i; j < i + 16; j++)
			pen_char(script->pen, j >= size ? ' ' : at[j] >= 0x20 && at[j] < 0x7f ? (char)at[j] : '.');
		pen_char(script->pen, '\n');
	}
}

static void put_trace(struct script *script, const struct script_sample *s)
{
	char text[8192];
	size_t n;

	if (!(s->sample->present & PERF_SAMPLE_RAW))
		return;
	n = script_trace(script, s->event, s->sample->raw, text, sizeof(text));
	pen_bytes(script->pen, text, n < sizeof(text) ? n : sizeof(text) - 1);
}

static int put_branch_event(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	int r = is(script, s, FIELD_IP) ? put_ip(script, s, err) : 0;

	if (r == 0 && (is(script, s, FIELD_ADDR) ||
		       ((s->sample->present & PERF_SAMPLE_ADDR) && !script->fields.user_set[s->event->kind]))) {
		pen_text(script->pen, " => ");
		r = put_addr(script, s, err);
	}
	return r;
}

static int put_all_branches(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	static const enum script_field forms[] = {FIELD_BRSTACK, FIELD_BRSTACKSYM, FIELD_BRSTACKOFF};
	size_t i;

	for (i = 0; i < 3; i++)
		if (is(script, s, forms[i]))
			return put_branches(script, s, forms[i], err);
	return 0;
}

static void put_end_of_line(struct script *script, const struct script_sample *s)
{
	const struct perfev_sample *sample = s->sample;

	if (is(script, s, FIELD_BPF_OUTPUT) && s->event->attr->config == PERF_COUNT_SW_BPF_OUTPUT)
		put_bpf_output(script, s);
	if (is(script, s, FIELD_PHYS_ADDR))
		pen_hex(script->pen, sample->present & PERF_SAMPLE_PHYS_ADDR ? sample->phys_addr : 0, 16);
	if (is(script, s, FIELD_DATA_PAGE_SIZE))
		put_page_size(script, sample->present & PERF_SAMPLE_DATA_PAGE_SIZE ? sample->data_page_size : 0);
	if (is(script, s, FIELD_CODE_PAGE_SIZE))
		put_page_size(script, sample->present & PERF_SAMPLE_CODE_PAGE_SIZE ? sample->code_page_size : 0);
}

static int put_middle(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	const struct perfev_sample *sample = s->sample;

	if (is(script, s, FIELD_TRACE))
		put_trace(script, s);
	if (is(script, s, FIELD_ADDR) && put_addr(script, s, err) < 0)
		return -1;
	if (is(script, s, FIELD_DATA_SRC))
		pen_print(script->pen, "%16" PRIx64 " ", sample->present & PERF_SAMPLE_DATA_SRC ? sample->data_src : 0);
	put_weights(script, s);
	if (is(script, s, FIELD_IP) && put_ip(script, s, err) < 0)
		return -1;
	if (is(script, s, FIELD_IREGS) && (sample->present & PERF_SAMPLE_REGS_INTR))
		put_registers(script, &sample->regs_intr);
	if (is(script, s, FIELD_UREGS) && (sample->present & PERF_SAMPLE_REGS_USER) && sample->regs_user.abi)
		put_registers(script, &sample->regs_user);
	return put_all_branches(script, s, err);
}

int script_text(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	int r;

	put_start(script, s);
	if (s->event->is_branches) {
		r = put_branch_event(script, s, err);
	} else {
		r = put_middle(script, s, err);
		put_end_of_line(script, s);
	}
	pen_char(script->pen, '\n');
	return r;
}
