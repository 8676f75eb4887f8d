/* SPDX-License-Identifier: MIT */
/*
 * Unwinds the stacks of a recording by libdw too, and compares: the same frames, innermost first.
 *
 *     stacks RECORDING [-v | -b]
 *
 * Prints how many stacks were the same, and how the others differed; -v prints these. -b: instead, how long a frame takes
 * when everything was met before: the stacks of each process since its last mapping, again and again. libdw gets what perfev has: registers,
 * the bytes of the stack, and the files that were mapped at the time. It ends a stack, like perfev, with the outermost
 * function; an address that is in no mapping, which perfev does not count as a frame, ends it too.
 */
#include <perfev/perfev.h>

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#define FRAMES_MAX 4096
#define LOADED_MAX 512

struct map {
	uint64_t start, end, offset;
	bool is_data;
	char *name;
};

struct process {
	int32_t pid;
	struct map *maps;
	size_t count, room;
	Dwfl *dwfl;
	uint64_t loaded[LOADED_MAX]; /* bases of modules that it has */
	size_t loaded_count;
	struct kept *kept; /* samples since the last change */
	size_t kept_count, kept_room;
	struct process *next;
};

/* A sample that outlives its record. */
struct kept {
	struct perfev_sample sample;
	uint64_t values[64];
};

struct frame {
	uint64_t pc;
	bool activation;
};

static struct process *processes;
static const struct perfev_sample *sample; /* of which the stack is walked */
static struct frame frames[FRAMES_MAX];
static size_t frame_count;
static const char *vdso_path;
static bool verbose, measures;
static uint64_t stacks, same, shorter, longer, different, explained, their_ns, our_ns, all_frames;

/* ---- address spaces ---------------------------------------------------------------------------------------------- */

static struct process *get_process(int32_t pid)
{
	struct process *p;

	for (p = processes; p; p = p->next)
		if (p->pid == pid)
			return p;
	p = calloc(1, sizeof(*p));
	p->pid = pid;
	p->next = processes;
	processes = p;
	return p;
}

static void forget(struct process *p)
{
	if (p->dwfl)
		dwfl_end(p->dwfl);
	p->dwfl = NULL;
	p->loaded_count = 0;
	while (p->kept_count)
		free((void *)(uintptr_t)p->kept[--p->kept_count].sample.stack_user.data);
}

static void add_map(struct process *p, struct map m)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->maps[i].start < m.end && m.start < p->maps[i].end) { /* the parts beside it stay */
			struct map old = p->maps[i];

			p->maps[i--] = p->maps[--p->count];
			if (old.start < m.start) {
				struct map left = old;

				left.end = m.start;
				add_map(p, left);
			}
			if (old.end > m.end) {
				struct map right = old;

				right.start = m.end;
				right.offset += m.end - old.start;
				add_map(p, right);
			}
		}
	if (p->count == p->room) {
		p->room = p->room ? p->room * 2 : 64;
		p->maps = realloc(p->maps, p->room * sizeof(*p->maps));
	}
	p->maps[p->count++] = m;
}

static const struct map *find_map(const struct process *p, uint64_t ip)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (ip >= p->maps[i].start && ip < p->maps[i].end)
			return p->maps[i].is_data ? NULL : &p->maps[i];
	return NULL;
}

/* Names stay: mappings that are replaced may have been handed out. */
static char *keep_name(const char *text)
{
	static struct kept {
		struct kept *next;
		char text[];
	} *all;
	struct kept *one = malloc(sizeof(*one) + strlen(text) + 1);

	if (!one)
		abort();
	strcpy(one->text, text);
	one->next = all;
	all = one;
	return one->text;
}

static void take_record(const struct perfev_record *record, const struct perfev_layout *layout)
{
	struct perfev_mmap mmap;
	struct perfev_comm comm;
	struct perfev_task task;

	if ((record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2) &&
	    (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER &&
	    perfev_mmap_decode(&mmap, record, layout, NULL) == 0) {
		struct process *p = get_process((int32_t)mmap.pid);

		add_map(p, (struct map){mmap.addr, mmap.addr + mmap.len, mmap.pgoff, (record->misc & PERF_RECORD_MISC_MMAP_DATA) != 0,
				      keep_name(mmap.filename)});
		forget(p);
	} else if (record->type == PERF_RECORD_COMM && (record->misc & PERF_RECORD_MISC_COMM_EXEC) &&
		   perfev_comm_decode(&comm, record, layout, NULL) == 0) {
		struct process *p = get_process((int32_t)comm.pid);

		p->count = 0;
		forget(p);
	} else if (record->type == PERF_RECORD_FORK && perfev_task_decode(&task, record, layout, NULL) == 0 &&
		   task.pid != task.ppid) {
		struct process *p = get_process((int32_t)task.pid), *parent = get_process((int32_t)task.ppid);
		size_t i;

		p->count = 0;
		forget(p);
		for (i = 0; i < parent->count; i++)
			add_map(p, parent->maps[i]);
	}
}

/* ---- libdw ---------------------------------------------------------------------------------------------------------- */

/* Where a file's addresses begin when a byte of it is mapped there. */
static bool base_of(const char *path, const struct map *m, uint64_t *base)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool found = false;
	size_t count = 0, i;

	if (elf && elf_getphdrnum(elf, &count) == 0)
		for (i = 0; i < count && !found; i++) {
			GElf_Phdr p;
			uint64_t page = 4095;

			if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
				continue;
			found = m->offset >= (p.p_offset & ~page) && m->offset < p.p_offset + p.p_filesz;
			*base = m->start - (m->offset - p.p_offset + p.p_vaddr);
		}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

static void load_module(struct process *p, uint64_t ip)
{
	const struct map *m = find_map(p, ip);
	const char *path;
	char inside[5000];
	uint64_t base;
	size_t i;

	if (!m || dwfl_addrmodule(p->dwfl, ip))
		return;
	path = strcmp(m->name, "[vdso]") ? m->name : vdso_path;
	snprintf(inside, sizeof(inside), "/proc/%d/root%s", (int)p->pid, path);
	if (path[0] == '/' && access(path, R_OK)) /* as a process that still lives sees it */
		path = inside;
	if (path[0] != '/' || !base_of(path, m, &base))
		return;
	for (i = 0; i < p->loaded_count; i++)
		if (p->loaded[i] == base)
			return;
	if (p->loaded_count == LOADED_MAX)
		return;
	p->loaded[p->loaded_count++] = base;
	dwfl_report_begin_add(p->dwfl);
	dwfl_report_elf(p->dwfl, path, path, -1, base, false);
	dwfl_report_end(p->dwfl, NULL, NULL);
}

static struct process *walked;

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return walked->pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	uint64_t sp, at;

	(void)dwfl, (void)arg;
	perfev_registers_get(&sample->regs_user, PERF_REG_X86_SP, &sp);
	at = address - sp;
	if (sample->stack_user.size < 8 || at > sample->stack_user.size - 8)
		return false;
	memcpy(ret, (const char *)sample->stack_user.data + at, 8);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	static const unsigned char numbers[17] = {PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX, PERF_REG_X86_BX,
						  PERF_REG_X86_SI, PERF_REG_X86_DI, PERF_REG_X86_BP, PERF_REG_X86_SP,
						  PERF_REG_X86_R8, PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
						  PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15,
						  PERF_REG_X86_IP};
	Dwarf_Word registers[17];
	unsigned i;

	(void)arg;
	for (i = 0; i < 17; i++) {
		uint64_t value = 0;

		perfev_registers_get(&sample->regs_user, numbers[i], &value);
		registers[i] = value;
	}
	return dwfl_thread_state_registers(thread, 0, 17, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

static int take_frame(Dwfl_Frame *state, void *arg)
{
	Dwarf_Addr pc;
	bool activation;

	(void)arg;
	if (!dwfl_frame_pc(state, &pc, NULL) || frame_count == FRAMES_MAX)
		return DWARF_CB_ABORT;
	/* to say whether it is an activation it goes one frame further: then the module has to be there */
	load_module(walked, pc - 1);
	load_module(walked, pc);
	if (!dwfl_frame_pc(state, &pc, &activation) || (frame_count && !find_map(walked, activation ? pc : pc - 1)))
		return DWARF_CB_ABORT;
	frames[frame_count].pc = pc;
	frames[frame_count++].activation = activation;
	return DWARF_CB_OK;
}

static void walk_by_libdw(struct process *p, uint64_t ip)
{
	walked = p;
	frame_count = 0;
	if (!p->dwfl) {
		p->dwfl = dwfl_begin(&callbacks);
		load_module(p, ip);
		/* some module has to say of which machine it is */
		if (!dwfl_attach_state(p->dwfl, NULL, p->pid, &thread_callbacks, p))
			forget(p);
	}
	load_module(p, ip);
	if (p->dwfl)
		dwfl_getthread_frames(p->dwfl, p->pid, take_frame, NULL);
}

/* ---- comparing -------------------------------------------------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void show(const struct process *p, const struct perfev_unwound *ours, const char *what)
{
	size_t i, most = ours->count > frame_count ? ours->count : frame_count;

	printf("%s: pid %d, time %llu, stack %zu, ends %s\n", what, p->pid, (unsigned long long)sample->time,
	       sample->stack_user.size, perfev_unwound_end_name((enum perfev_unwound_end)ours->end));
	for (i = 0; i < most; i++) {
		uint64_t ip = i < ours->count ? ours->frames[i].ip : frames[i].pc;
		const struct map *m = find_map(p, ip);

		printf("  %2zu %16llx %16llx %s %s+%llx\n", i,
		       i < ours->count ? (unsigned long long)ours->frames[i].ip : 0,
		       i < frame_count ? (unsigned long long)frames[i].pc : 0,
		       i < ours->count && ours->frames[i].flags & PERFEV_UNWOUND_GUESSED ? "guessed" : "",
		       m ? m->name : "?", m ? (unsigned long long)(ip - m->start + m->offset) : 0);
	}
}

static void compare(struct process *p, const struct perfev_unwound *ours)
{
	size_t i, least = ours->count < frame_count ? ours->count : frame_count;
	const char *what;

	stacks++;
	all_frames += ours->count;
	for (i = 0; i < least; i++)
		if (frames[i].pc != ours->frames[i].ip ||
		    frames[i].activation != !(ours->frames[i].flags & PERFEV_UNWOUND_RETURN))
			break;
	if (i + 1 == frame_count && ours->count > frame_count && frames[i].pc == ours->frames[i].ip &&
	    ours->frames[i].flags & PERFEV_UNWOUND_SIGNAL) {
		explained++; /* docs/unwinding.md: libdw ends where a signal handler of Go returns to */
		what = "explained";
	} else if (i < least) {
		different++;
		what = "different";
	} else if (ours->count == frame_count) {
		same++;
		return;
	} else if (ours->count < frame_count) {
		shorter++;
		what = "shorter";
	} else {
		longer++;
		what = "longer";
	}
	if (verbose)
		show(p, ours, what);
}

static void keep(struct process *p, const struct perfev_sample *s)
{
	unsigned char *copy = malloc(s->stack_user.size);
	struct kept *k;
	uint32_t i;

	if (p->kept_count == p->kept_room) {
		p->kept_room = p->kept_room ? p->kept_room * 2 : 64;
		p->kept = realloc(p->kept, p->kept_room * sizeof(*p->kept));
	}
	k = &p->kept[p->kept_count++];
	k->sample = *s;
	memcpy(copy, s->stack_user.data, s->stack_user.size);
	k->sample.stack_user.data = copy;
	for (i = 0; i < s->regs_user.values.count && i < 64; i++)
		k->values[i] = perfev_u64s_at(s->regs_user.values, i);
}

/* All kept stacks, once; ns, and how many frames. */
static uint64_t by_us(struct perfev_unwinder *unwinder, uint64_t *count)
{
	uint64_t begun = now();
	struct process *p;
	size_t i;

	for (p = processes; p; p = p->next)
		for (i = 0; i < p->kept_count; i++) {
			struct perfev_unwind_state state = {p->kept[i].sample.regs_user, p->kept[i].sample.stack_user, p->pid};
			struct perfev_unwound ours;

			state.registers.values.data = p->kept[i].values;
			if (perfev_unwind(unwinder, &state, &ours, NULL) == 0)
				*count += ours.count;
		}
	return now() - begun;
}

static uint64_t by_libdw(uint64_t *count)
{
	uint64_t begun = now(), ip;
	struct process *p;
	size_t i;

	for (p = processes; p; p = p->next)
		for (i = 0; i < p->kept_count; i++) {
			p->kept[i].sample.regs_user.values.data = p->kept[i].values;
			sample = &p->kept[i].sample;
			perfev_registers_get(&sample->regs_user, PERF_REG_X86_IP, &ip);
			walk_by_libdw(p, ip);
			*count += frame_count;
		}
	return now() - begun;
}

static void measure(struct perfev_unwinder *unwinder)
{
	double ours = 1e9, theirs = 1e9, cold = 0;
	uint64_t count = 0;
	int i;

	for (i = 0; i < 6; i++) {
		uint64_t frames_of_us = 0, frames_of_them = 0, ns = by_us(unwinder, &frames_of_us);

		if (i == 0)
			cold = (double)ns / 1e6;
		else if (frames_of_us && (double)ns / (double)frames_of_us < ours)
			ours = (double)ns / (double)frames_of_us;
		ns = by_libdw(&frames_of_them);
		if (i && frames_of_them && (double)ns / (double)frames_of_them < theirs)
			theirs = (double)ns / (double)frames_of_them;
		count = frames_of_us;
	}
	printf("%-34s %9.1f ns   %-22s %9.1f ns   ratio %.3f   (%llu frames; first time %.1f ms)\n", "unwind a frame, warm", ours,
	       "libdw", theirs, ours / theirs, (unsigned long long)count, cold);
}

static int take_sample(struct perfev_unwinder *unwinder, const struct perfev_record *record,
		       const struct perfev_layout *layout)
{
	struct perfev_unwind_state state;
	struct perfev_unwound ours;
	struct perfev_sample s;
	struct process *p;
	uint64_t ip, begun;

	if (perfev_sample_decode(&s, record, layout, NULL) < 0 || !(s.present & PERF_SAMPLE_STACK_USER) ||
	    s.regs_user.abi != PERF_SAMPLE_REGS_ABI_64 || !s.stack_user.size ||
	    !perfev_registers_get(&s.regs_user, PERF_REG_X86_IP, &ip))
		return 0;
	sample = &s;
	p = get_process((int32_t)s.pid);
	if (measures) {
		keep(p, &s);
		return 0;
	}
	state.registers = s.regs_user;
	state.stack = s.stack_user;
	state.pid = (int32_t)s.pid;
	begun = now();
	if (perfev_unwind(unwinder, &state, &ours, NULL) < 0)
		return -1;
	our_ns += now() - begun;
	begun = now();
	walk_by_libdw(p, ip);
	their_ns += now() - begun;
	compare(p, &ours);
	return 0;
}

/* The image of the vdso, as a file. */
static void save_vdso(void)
{
	static char path[] = "/tmp/perfev-vdso-XXXXXX";
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	int fd = mkstemp(path);
	const Elf64_Ehdr *header = (const void *)image;

	if (fd < 0 || !image)
		exit(2);
	if (write(fd, image, header->e_shoff + (size_t)header->e_shnum * header->e_shentsize) < 0)
		exit(2);
	close(fd);
	vdso_path = path;
}

static int run(const char *path)
{
	struct perfev_reader *reader = NULL;
	struct perfev_symbols *symbols = NULL;
	struct perfev_order *order = NULL;
	struct perfev_unwinder *unwinder = NULL;
	struct perfev_record record;
	struct perfev_error err;
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .proc = "/proc"};
	int r, ended = 0;

	if (perfev_reader_open(&reader, path, NULL, &err) < 0 || perfev_symbols_new(&symbols, &opts, &err) < 0 ||
	    perfev_order_new(&order, NULL, &err) < 0 || perfev_unwinder_new(&unwinder, symbols, NULL, &err) < 0)
		goto failed;
	while (!ended) {
		r = perfev_reader_next(reader, &record, &err);
		if (r < 0)
			goto failed;
		ended = r == 0;
		if ((ended ? perfev_order_end(order, &err)
			   : perfev_order_push(order, &record, perfev_reader_layout(reader, &record), &err)) < 0)
			goto failed;
		while (perfev_order_next(order, &record) > 0) {
			const struct perfev_layout *layout = perfev_reader_layout(reader, &record);

			if (perfev_symbols_feed(symbols, &record, layout, &err) < 0)
				goto failed;
			take_record(&record, layout);
			if (record.type == PERF_RECORD_SAMPLE && layout && take_sample(unwinder, &record, layout) < 0)
				goto failed;
		}
	}
	if (measures)
		measure(unwinder);
	else
		printf("stacks %llu same %llu longer %llu shorter %llu different %llu explained %llu frames %llu ns %llu theirs %llu\n",
		       (unsigned long long)stacks, (unsigned long long)same, (unsigned long long)longer,
		       (unsigned long long)shorter, (unsigned long long)different, (unsigned long long)explained,
		       (unsigned long long)all_frames,
		       (unsigned long long)our_ns, (unsigned long long)their_ns);
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(symbols);
	perfev_order_free(order);
	perfev_reader_close(reader);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}

int main(int argc, char **argv)
{
	int r;

	if (argc < 2)
		return 2;
	elf_version(EV_CURRENT);
	save_vdso();
	verbose = argc > 2 && !strcmp(argv[2], "-v");
	measures = argc > 2 && !strcmp(argv[2], "-b");
	r = run(argv[1]);
	unlink(vdso_path);
	return r;
}
