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

static inline bool has(uint32_t shown, enum script_field field)
{
	return shown >> field & 1;
}

/* ---- places -------------------------------------------------------------------------------------------- */

static int find(struct script *script, const struct script_sample *s, uint64_t ip, uint32_t cpumode,
		struct perfev_frame *frame, struct perfev_error *err)
{
	struct perfev_place place = {ip, s->pid, cpumode};

	return perfev_symbols_find(script->replay.symbols, &place, frame, 1, err);
}

/* Room for all that is printed of a place. */
static char *place_room(struct script *script, const struct script_frame *f)
{
	return pen_room(script->pen, 256 + f->symbol.size + f->module.size);
}

/* Behind a name and its mark, as far as they are wanted. */
static inline char *put_offset(char *to, const struct script_frame *f, const struct perfev_frame *frame, bool wanted)
{
	return f->mark && wanted ? put_hex(to, frame->offset, 0) : to - f->mark;
}

/* " NAME+0xOFFSET (FILE)", as far as they are wanted by @shown. */
static inline char *put_place(char *to, uint32_t shown, const struct perfev_frame *frame, const struct script_frame *f)
{
	if (has(shown, FIELD_SYM))
		to = put_offset(put_name(to, &f->symbol), f, frame, has(shown, FIELD_SYMOFF));
	return has(shown, FIELD_DSO) || (frame->flags & PERFEV_FRAME_INLINED) ? put_name(to, &f->module) : to;
}

static void put_frame(struct script *script, const struct script_sample *s, const struct perfev_frame *frame)
{
	const struct script_frame *f = script_frame(script, frame);
	char *to = place_room(script, f);

	pen_end(script->pen, put_place(to, script->fields.shown[s->event->kind], frame, f));
}

/* Of a place that no file tells of: where it is, in what stands in brackets behind the symbol. */
static void put_no_source(struct script *script, const struct perfev_frame *frame, const struct script_frame *f)
{
	const char *name = f->module.text + 2, *end = f->module.text + f->module.size - 1, *at; /* " (NAME)" */
	struct perfev_module_info info = {.file = NULL};

	perfev_symbols_module(script->replay.symbols, frame->module_id, &info);
	if ((info.file && *name != '[') || (end - name == 9 && !memcmp(name, "[unknown]", 9)))
		return;
	for (at = name; *name != '[' && at < end; at++)
		if (*at == '/')
			name = at + 1;
	pen_text(script->pen, "\n  ");
	pen_bytes(script->pen, name, (size_t)(end - name));
	pen_print(script->pen, "[%" PRIx64 "]", frame->file_offset);
}

/* On a line of its own: the file without its folders, as perf has it. */
static int put_source(struct script *script, const struct perfev_place *place, const struct perfev_frame *frame,
		      const struct script_frame *f, struct perfev_error *err)
{
	struct perfev_source source;
	const char *base;
	int n;

	n = perfev_symbols_source(script->replay.symbols, place, &source, 1, err);
	if (n <= 0 || !source.file) {
		put_no_source(script, frame, f);
		return n < 0 ? n : 0;
	}
	base = strrchr(source.file, '/');
	pen_print(script->pen, "\n  %.4000s:%" PRIu32, base ? base + 1 : source.file, source.line);
	return 0;
}

static int put_source_line(struct script *script, const struct perfev_place *place, const struct perfev_frame *frame,
			   const struct script_frame *f, struct perfev_error *err)
{
	int r = put_source(script, place, frame, f, err);

	pen_char(script->pen, '\n');
	return r;
}

static inline int put_chain_line(struct script *script, const struct script_sample *s, const struct perfev_place *place,
				 const struct perfev_frame *frame, struct perfev_error *err)
{
	uint32_t shown = script->fields.shown[s->event->kind];
	const struct script_frame *f = script_frame(script, frame);
	char *to = place_room(script, f);

	*to++ = '\t';
	to = put_hex_column(to, place->cpumode == PERF_RECORD_MISC_USER ? frame->file_offset : place->ip);
	to = put_place(to, shown, frame, f);
	if (!has(shown, FIELD_SRCLINE))
		*to++ = '\n';
	pen_end(script->pen, to);
	return has(shown, FIELD_SRCLINE) ? put_source_line(script, place, frame, f, err) : 0;
}

/* A place of a stack that was unwound: as perf has it, first the calls that were inlined there. */
static int put_unwound(struct script *script, const struct script_sample *s, const struct perfev_place *place, struct perfev_error *err)
{
	struct perfev_frame frames[PLACE_FRAMES];
	int n = perfev_symbols_find(script->replay.symbols, place, frames, PLACE_FRAMES, err), i, r = n < 0 ? n : 0;

	for (i = 0; r >= 0 && i < n; i++) {
		frames[i].offset = frames[n - 1].offset; /* counted from where the function around it begins */
		r = put_chain_line(script, s, place, &frames[i], err);
	}
	return r;
}

static int put_chain(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	const struct perfev_u64s *chain = &s->sample->callchain;
	uint32_t depth = 0, count = script_known_marks(chain), i;
	struct perfev_place place = {0, s->pid, PERF_RECORD_MISC_USER};
	bool first = true, inlined;
	struct perfev_frame frame;
	int r;

	for (i = 0; i < count && depth < script->max_stack; i++) {
		place.ip = perfev_u64s_at(*chain, i);
		if (place.ip >= (uint64_t)PERF_CONTEXT_MAX) {
			place.cpumode = script_mode_of(place.ip);
			first = true;
			continue;
		}
		/* as perf does: of a chain that the kernel made, the return addresses; of one that was unwound, the calls */
		inlined = script->unwound && place.cpumode == PERF_RECORD_MISC_USER;
		if (inlined && !first)
			place.ip--;
		first = false;
		if (inlined)
			r = put_unwound(script, s, &place, err);
		else if ((r = perfev_symbols_find(script->replay.symbols, &place, &frame, 1, err)) >= 0)
			r = put_chain_line(script, s, &place, &frame, err);
		if (r < 0)
			return -1;
		depth++;
	}
	return 0;
}

static int put_ip(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	struct perfev_place place = {s->sample->ip, s->pid, s->cpumode};
	struct perfev_frame frame;

	if (s->sample->present & PERF_SAMPLE_CALLCHAIN) {
		pen_char(script->pen, '\n');
		return put_chain(script, s, err);
	}
	pen_char(script->pen, ' ');
	if (find(script, s, s->sample->ip, s->cpumode, &frame, err) < 0)
		return -1;
	pen_hex(script->pen, s->sample->ip, 16);
	put_frame(script, s, &frame);
	return is(script, s, FIELD_SRCLINE) ? put_source(script, &place, &frame, script_frame(script, &frame), err) : 0;
}

/* Where an end of a branch is, in the privilege that has something there. */
static int find_end(struct script *script, const struct script_sample *s, uint64_t ip, struct perfev_frame *frame,
		    struct perfev_error *err)
{
	uint32_t other = s->cpumode == PERF_RECORD_MISC_USER ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	const struct perfev_place here = {ip, s->pid, s->cpumode}, there = {ip, s->pid, other};
	uint64_t offset;
	bool is_there = !perfev_symbols_mapped(script->replay.symbols, &here, &offset) &&
			perfev_symbols_mapped(script->replay.symbols, &there, &offset);

	return find(script, s, ip, is_there ? other : s->cpumode, frame, err);
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
	if (find_end(script, s, addr, &frame, err) < 0)
		return -1;
	put_frame(script, s, &frame);
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

/* The same as an offset, as far as something is mapped there. */
static uint64_t offset_of_end(struct script *script, const struct script_sample *s, uint64_t ip)
{
	bool user = s->cpumode == PERF_RECORD_MISC_USER;
	const struct perfev_place first = {ip, (int32_t)s->pid, s->cpumode};
	const struct perfev_place second = {ip, (int32_t)s->pid, user ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};
	uint64_t offset;

	if (!perfev_symbols_mapped(script->replay.symbols, &first, &offset))
		perfev_symbols_mapped(script->replay.symbols, &second, &offset);
	return offset;
}

static int put_end(struct script *script, const struct script_sample *s, enum script_field form, uint64_t ip,
		   struct perfev_error *err)
{
	bool with_module = is(script, s, FIELD_DSO);
	const struct script_frame *f;
	struct perfev_frame frame;
	char *to;

	if (find_end(script, s, ip, &frame, err) < 0)
		return -1;
	f = script_frame(script, &frame);
	to = place_room(script, f);
	if (form == FIELD_BRSTACKSYM) {
		to = put_offset(put_bare_name(to, &f->symbol), f, &frame, true);
	} else {
		memcpy(to, "0x", 2);
		to = put_hex(to + 2, form == FIELD_BRSTACKOFF ? offset_of_end(script, s, ip) : ip, 0);
	}
	pen_end(script->pen, with_module ? put_bare_name(to, &f->module) : to);
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

static char *put_misc(char *to, const struct script_sample *s)
{
	static const struct {
		uint32_t mode;
		char letter;
	} letters[] = {{PERF_RECORD_MISC_KERNEL, 'K'},
		       {PERF_RECORD_MISC_USER, 'U'},
		       {PERF_RECORD_MISC_HYPERVISOR, 'H'},
		       {PERF_RECORD_MISC_GUEST_KERNEL, 'G'},
		       {PERF_RECORD_MISC_GUEST_USER, 'g'}};
	char *end = to + 6;
	size_t i;

	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if ((s->sample->misc & letters[i].mode) == letters[i].mode)
			*to++ = letters[i].letter;
	do
		*to++ = ' ';
	while (to < end);
	return to;
}

static char *put_signed(char *to, int32_t number, int width)
{
	return number >= 0 ? put_number(to, (uint64_t)number, width) : to + snprintf(to, 24, "%*d", width, number);
}

static char *put_task(char *to, uint32_t shown, const struct script_sample *s)
{
	bool pid = has(shown, FIELD_PID), tid = has(shown, FIELD_TID);

	if (pid || tid)
		to = put_signed(to, pid ? s->pid : s->tid, 5);
	if (pid && tid)
		to += snprintf(to, 24, "/%-5d", s->tid);
	if (pid || tid)
		*to++ = ' ';
	return to;
}

static char *put_comm(char *to, const struct script_sample *s, int width)
{
	int size = snprintf(to, 63, "%*.60s", width, s->comm), i;

	for (i = 0; i < size; i++)
		if ((unsigned char)to[i] < 0x20 || to[i] == 0x7f)
			to[i] = '?';
	to[size] = ' ';
	return to + size + 1;
}

static char *put_thread(char *to, struct script *script, const struct script_sample *s, uint32_t shown)
{
	int width = has(shown, FIELD_IP) && s->event->has_callchain ? 0 : 16;
	char text[sizeof(script->thread.text) + 96], *end = text;

	if (script->thread.comm != s->comm || script->thread.tid != s->tid || script->thread.pid != s->pid ||
	    script->thread.shown != shown || script->thread.width != width) {
		if (has(shown, FIELD_COMM))
			end = put_comm(end, s, width);
		end = put_task(end, shown, s);
		script->thread.comm = s->comm;
		script->thread.pid = s->pid;
		script->thread.tid = s->tid;
		script->thread.shown = shown;
		script->thread.width = width;
		script->thread.size = (size_t)(end - text);
		memcpy(script->thread.text, text, sizeof(script->thread.text));
	}
	memcpy(to, script->thread.text, sizeof(script->thread.text));
	return to + script->thread.size;
}

static char *put_cpu(char *to, const struct perfev_sample *sample)
{
	*to++ = '[';
	if (sample->present & PERF_SAMPLE_CPU) {
		to = put_zeros(to, sample->cpu, 3);
	} else {
		memcpy(to, "-01", 3); /* as %03d has it */
		to += 3;
	}
	*to++ = ']';
	*to++ = ' ';
	return to;
}

static char *put_time(char *to, struct script *script, uint64_t time)
{
	uint64_t second = time / 1000000000, rest = time % 1000000000;

	if (!script->time.size || script->time.second != second) {
		char text[96], *end = put_number(text, second, 5);

		*end++ = '.';
		script->time.second = second;
		script->time.size = (size_t)(end - text);
		memcpy(script->time.text, text, sizeof(script->time.text));
	}
	memcpy(to, script->time.text, sizeof(script->time.text));
	to += script->time.size;
	to = script->ns ? put_zeros(to, rest, 9) : put_six_digits(to, (uint32_t)(rest / 1000));
	*to++ = ':';
	*to++ = ' ';
	return to;
}

static char *put_period(char *to, struct script *script, uint64_t period)
{
	if (!script->period.size || script->period.number != period) {
		char text[96], *end = put_number(text, period, 10);

		*end++ = ' ';
		script->period.number = period;
		script->period.size = (size_t)(end - text);
		memcpy(script->period.text, text, sizeof(script->period.text));
	}
	memcpy(to, script->period.text, sizeof(script->period.text));
	return to + script->period.size;
}

/* Up to the name of the event. */
static void put_start(struct script *script, const struct script_sample *s)
{
	uint32_t shown = script->fields.shown[s->event->kind];
	char *to = pen_room(script->pen, 1024 + s->event->text.size + NAME_STEP);

	to = put_thread(to, script, s, shown);
	if (has(shown, FIELD_CPU))
		to = put_cpu(to, s->sample);
	if (has(shown, FIELD_MISC))
		to = put_misc(to, s);
	if (has(shown, FIELD_TIME))
		to = put_time(to, script, s->sample->present & PERF_SAMPLE_TIME ? s->sample->time : 0);
	if (has(shown, FIELD_PERIOD))
		to = put_period(to, script, s->period);
	pen_end(script->pen, has(shown, FIELD_EVENT) ? put_name(to, &s->event->text) : to);
	if (has(shown, FIELD_FLAGS))
		pen_print(script->pen, "  %-21s ", s->flags ? s->flags : "");
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
	for (; size / 1024 > 1 && units[unit + 1]; unit++) /* so that 1 GiB has 1024M */
		size /= 1024;
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

static int put_before_ip(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	const struct perfev_sample *sample = s->sample;

	if (is(script, s, FIELD_TRACE))
		put_trace(script, s);
	if (is(script, s, FIELD_SYNTH) && s->synth)
		pen_text(script->pen, s->synth);
	if (is(script, s, FIELD_ADDR) && put_addr(script, s, err) < 0)
		return -1;
	if (is(script, s, FIELD_DATA_SRC))
		script_memory(script, sample->present & PERF_SAMPLE_DATA_SRC ? sample->data_src : 0);
	put_weights(script, s);
	return 0;
}

static int put_behind_ip(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	const struct perfev_sample *sample = s->sample;

	if (is(script, s, FIELD_IREGS) && (sample->present & PERF_SAMPLE_REGS_INTR) && sample->regs_intr.abi)
		put_registers(script, &sample->regs_intr);
	if (is(script, s, FIELD_UREGS) && (sample->present & PERF_SAMPLE_REGS_USER) && sample->regs_user.abi)
		put_registers(script, &sample->regs_user);
	return put_all_branches(script, s, err);
}

#define BIT(field) (1u << FIELD_##field)
#define BEFORE_IP  (BIT(TRACE) | BIT(SYNTH) | BIT(ADDR) | BIT(DATA_SRC) | BIT(WEIGHT) | BIT(INS_LAT) | BIT(RETIRE_LAT))
#define BEHIND_IP  (BIT(IREGS) | BIT(UREGS) | BIT(BRSTACK) | BIT(BRSTACKSYM) | BIT(BRSTACKOFF))
#define AT_END	   (BIT(BPF_OUTPUT) | BIT(PHYS_ADDR) | BIT(DATA_PAGE_SIZE) | BIT(CODE_PAGE_SIZE))

/* Most samples have none of the fields that few events have. */
static int put_middle(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	uint32_t shown = script->fields.shown[s->event->kind];

	if ((shown & BEFORE_IP) && put_before_ip(script, s, err) < 0)
		return -1;
	if (has(shown, FIELD_IP) && put_ip(script, s, err) < 0)
		return -1;
	if ((shown & BEHIND_IP) && put_behind_ip(script, s, err) < 0)
		return -1;
	if (shown & AT_END)
		put_end_of_line(script, s);
	return 0;
}

int script_text(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	int r;

	if (!(script->fields.shown[s->event->kind] & ~BIT(FLAGS))) /* as with perf, flags alone are no line */
		return 0;
	put_start(script, s);
	r = s->event->is_branches ? put_branch_event(script, s, err) : put_middle(script, s, err);
	pen_char(script->pen, '\n');
	return r;
}
