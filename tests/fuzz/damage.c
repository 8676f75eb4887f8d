/* SPDX-License-Identifier: MIT */
/*
 * Damaged programs: each is an answer or a clear error, soon, and in little memory.
 *
 *	damage COUNT FIRST MAPPED CHANGED	changes FIRST to FIRST + COUNT - 1 of a file, the same in every run
 *
 * What the file gives as it is is printed first. MAPPED is the program that a recording would name; CHANGED is it, or a file that belongs to it, and is overwritten each time,
 * by a file in which bits are other ones, which ends early, or whose lengths and places are 0, 1 or too large. A process of its own then
 * asks for symbols, inlined calls, lines and stacks, through the public library: it has a second, and 256 MiB of addresses (a build with
 * sanitizers, which takes more of both, ten, and 1 GiB of memory).
 */
#include <perfev/perfev.h>

#include "symbols/elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif

#ifdef SANITIZED
#define SECONDS 10
#define MIB	1024
#else
#define SECONDS 1
#define MIB	256
#endif

#define PID	   7
#define BASE	   UINT64_C(0x7e0000000000) /* of code that may be anywhere */
#define SP_AT	   UINT64_C(0x7ffd00001000)
#define STACK_SIZE 8192
#define PLACES_MAX 600
#define LEVELS_MAX 64

/* What the recording knows: of the file as it was. */
static struct {
	uint64_t start, size, offset;
} maps[16];
static size_t map_count;
static uint64_t places[PLACES_MAX];
static size_t place_count;
static uint32_t arch;
static uint64_t abi;

static uint8_t *data, *changed;
static size_t size, changed_size;
static uint64_t state = 88172645463325252;
static struct perfev_error err;
static size_t named, inlined, lines, callers; /* what was answered */

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 11;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void add_place(uint64_t address)
{
	if (place_count < PLACES_MAX)
		places[place_count++] = address;
}

static void read_machine(const struct elf *elf)
{
	static const struct {
		uint16_t machine;
		enum perfev_arch arch;
	} machines[] = {{3, PERFEV_ARCH_X86}, {62, PERFEV_ARCH_X86}, {183, PERFEV_ARCH_ARM64}, {243, PERFEV_ARCH_RISCV}};
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == elf->machine)
			arch = machines[i].arch;
	abi = elf->wide ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32;
}

static void read_segments(const struct elf *elf, uint64_t base)
{
	struct elf_segment segment;
	uint32_t i, k;

	for (i = 0; i < elf->segment_count && map_count < 16; i++) {
		if (!elf_segment(elf, i, &segment) || segment.type != ELF_LOAD)
			continue;
		maps[map_count].start = base + (segment.address & ~UINT64_C(4095));
		maps[map_count].offset = segment.offset & ~UINT64_C(4095);
		maps[map_count++].size = ((segment.address & 4095) + segment.file_size + 4095) & ~UINT64_C(4095);
		for (k = 0; segment.flags & 1 && k < 100; k++)
			add_place(base + segment.address + segment.file_size * k / 100);
	}
}

static void read_functions(const struct elf *elf, uint64_t base)
{
	struct elf_section table;
	struct elf_symbol symbol;
	uint64_t i;

	if (!elf_section_of_type(elf, ELF_SYMTAB, &table) && !elf_section_of_type(elf, ELF_DYNSYM, &table))
		return;
	for (i = 0; i < elf_symbol_count(elf, &table); i++) {
		if (!elf_symbol(elf, &table, i, &symbol) || symbol.type != 2 || !symbol.section || !symbol.size)
			continue;
		add_place(base + symbol.value);
		add_place(base + symbol.value + symbol.size / 2);
		add_place(base + symbol.value + symbol.size - 1);
	}
}

static int read_program(const char *path)
{
	struct elf elf;
	uint64_t base;

	if (elf_open(&elf, path) < 0)
		return -1;
	base = elf.type != 3 ? 0 : elf.wide ? BASE : 0x56000000;
	read_machine(&elf);
	read_segments(&elf, base);
	read_functions(&elf, base);
	elf_close(&elf);
	return map_count ? 0 : -1;
}

/* ---- changes ---------------------------------------------------------------------------------------------------- */

static uint64_t number(void)
{
	const uint64_t numbers[] = {0, 1, 7, 8, 0xff, 0xffff, 0x7fffffff, UINT32_MAX, UINT64_MAX, UINT64_MAX / 2, UINT64_MAX - 7,
				    size, size - 1, size + 1, size / 2, UINT64_C(1) << 32, 0xfffffff0};

	return numbers[next() % (sizeof(numbers) / sizeof(numbers[0]))];
}

/* Where a length or a place may be: in the headers of the file, of sections and of segments, at the start of a section, inside of it. */
static size_t place_of_number(const struct elf *elf)
{
	uint32_t sections = elf->section_count ? elf->section_count : 1, segments = elf->segment_count ? elf->segment_count : 1;
	struct elf_section section;
	size_t at = 0;

	switch (next() % 6) {
	case 0:
		at = 16 + next() % 48;
		break;
	case 1:
		at = (size_t)(elf->section_table + next() % sections * elf->section_size + next() % 64 / 4 * 4);
		break;
	case 2:
		at = (size_t)(elf->segment_table + next() % segments * elf->segment_size + next() % 56 / 4 * 4);
		break;
	default:
		if (elf_section(elf, (uint32_t)(next() % sections), &section) && section.size && section.type != ELF_NOBITS)
			at = (size_t)(section.offset + (next() % 2 ? next() % 32 : next() % section.size));
		else
			at = next();
	}
	return at % size;
}

static void change_one(const struct elf *elf)
{
	size_t width = (size_t)1 << next() % 4, at = place_of_number(elf);
	uint64_t value = number();

	switch (next() % 5) {
	case 0: /* cut */
		changed_size = next() % (next() % 4 ? size : 256) + 1;
		break;
	case 1:
		changed[next() % size] ^= (uint8_t)(1 << next() % 8);
		break;
	case 2:
		changed[at] ^= (uint8_t)(1 << next() % 8);
		break;
	default:
		if (at + width <= size)
			memcpy(changed + at, &value, width);
	}
}

static void change(uint64_t which)
{
	struct perfev_bytes bytes = {data, size};
	struct elf elf;
	uint64_t i;

	memset(&elf, 0, sizeof(elf));
	elf_open_memory(&elf, bytes);
	state = which * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252;
	next();
	memcpy(changed, data, size);
	changed_size = size;
	for (i = 0; i <= which % 3; i++)
		change_one(&elf);
}

/* ---- questions -------------------------------------------------------------------------------------------------- */

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, err.text);
	_exit(1);
}

static void feed(struct perfev_symbols *symbols, const char *path)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, size, offset;
		char name[4096];
	} mmap = {{PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, sizeof(mmap)}, PID, PID, 0, 0, 0, ""};
	struct perfev_bytes bytes = {&mmap, sizeof(mmap)};
	struct perfev_record record;
	size_t i;

	snprintf(mmap.name, sizeof(mmap.name), "%s", path);
	for (i = 0; i < map_count; i++) {
		mmap.start = maps[i].start;
		mmap.size = maps[i].size;
		mmap.offset = maps[i].offset;
		if (perfev_record_from_bytes(&record, bytes, 0, &err) < 0 || perfev_symbols_feed(symbols, &record, NULL, &err) < 0)
			fail("feed");
	}
}

/* A place has a name, or its module tells why not. */
static void ask(struct perfev_symbols *symbols, uint64_t ip)
{
	struct perfev_place place = {ip, PID, PERF_RECORD_MISC_USER};
	struct perfev_source sources[LEVELS_MAX];
	struct perfev_frame frames[LEVELS_MAX];
	struct perfev_module_info info;
	int n = perfev_symbols_find(symbols, &place, frames, LEVELS_MAX, &err), i;

	if (n < 1 || n > LEVELS_MAX)
		fail("find");
	for (i = 0; i < n; i++) {
		if (!perfev_symbols_module(symbols, frames[i].module_id, &info))
			fail("module");
		if (frames[i].symbol ? strlen(frames[i].symbol) > 1 << 20 : !info.why || !info.why[0])
			fail("a place without name or reason");
		named += frames[i].symbol != NULL;
		inlined += (frames[i].flags & PERFEV_FRAME_INLINED) != 0;
	}
	n = perfev_symbols_source(symbols, &place, sources, LEVELS_MAX, &err);
	for (i = 0; i < n; i++)
		if (sources[i].file && strlen(sources[i].file) > 8192)
			fail("source");
	if (n < 0)
		fail("source");
	lines += (size_t)n;
}

/* Which bits are the place, the stack pointer, and the return address, where a register has it. */
static const struct {
	enum perfev_arch arch;
	unsigned count, ip, sp, link;
} registers_of[] = {{PERFEV_ARCH_X86, 9, PERF_REG_X86_IP, PERF_REG_X86_SP, PERF_REG_X86_AX},
		    {PERFEV_ARCH_ARM64, 33, 32, 31, 30},
		    {PERFEV_ARCH_RISCV, 32, 0, 2, 1}};

/* A stack of return addresses, and addresses of itself. */
static void climb(struct perfev_unwinder *unwinder, uint64_t ip)
{
	static uint64_t words[STACK_SIZE / 8], registers[33];
	struct perfev_unwind_state s = {.pid = PID, .stack = {words, sizeof(words)}};
	struct perfev_unwound ret;
	size_t i, m = 0;

	while (m + 1 < sizeof(registers_of) / sizeof(registers_of[0]) && (uint32_t)registers_of[m].arch != arch)
		m++;
	for (i = 0; i < STACK_SIZE / 8; i++)
		words[i] = i % 5 ? places[next() % place_count] : SP_AT + next() % STACK_SIZE / 8 * 8;
	for (i = 0; i < 33; i++)
		registers[i] = SP_AT + 64 + 8 * i;
	registers[registers_of[m].link] = places[next() % place_count];
	registers[registers_of[m].ip] = ip;
	registers[registers_of[m].sp] = SP_AT;
	s.registers = (struct perfev_registers){abi, (UINT64_C(1) << registers_of[m].count) - 1,
						{registers, registers_of[m].count, false}};
	if (perfev_unwind(unwinder, &s, &ret, &err) < 0 || !perfev_unwound_end_name((enum perfev_unwound_end)ret.end))
		fail("unwind");
	callers += ret.count ? ret.count - 1 : 0;
}

static void ask_all(const char *path)
{
	struct perfev_unwinder_opts opts = {.size = sizeof(opts), .arch = arch};
	struct perfev_unwinder *unwinder;
	struct perfev_symbols *symbols;
	size_t i;

	if (perfev_symbols_new(&symbols, NULL, &err) < 0 || perfev_unwinder_new(&unwinder, symbols, &opts, &err) < 0)
		fail("new");
	feed(symbols, path);
	for (i = 0; i < place_count; i++)
		ask(symbols, places[i]);
	for (i = 0; i < place_count; i += 4)
		climb(unwinder, places[i]);
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(symbols);
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static void limit(void)
{
	struct itimerval time = {{0, 0}, {SECONDS, 0}};
#ifndef SANITIZED
	struct rlimit memory = {(rlim_t)MIB << 20, (rlim_t)MIB << 20};

	setrlimit(RLIMIT_AS, &memory);
#endif
	setitimer(ITIMER_PROF, &time, NULL);
}

static int write_changed(const char *path)
{
	FILE *file = fopen(path, "wb");
	int r = file && fwrite(changed, 1, changed_size, file) == changed_size ? 0 : -1;

	return file && fclose(file) == 0 ? r : -1;
}

static bool try_one(uint64_t which, const char *mapped, const char *path, struct rusage *used)
{
	pid_t child;
	int status;

	change(which);
	if (write_changed(path) < 0)
		return false;
	child = fork();
	if (child == 0) {
		limit();
		ask_all(mapped);
		_exit(0);
	}
	if (child < 0 || wait4(child, &status, 0, used) < 0)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && used->ru_maxrss <= MIB * 1024)
		return true;
	printf("FAIL %s: change %llu: %s %d, %ld KiB\n", path, (unsigned long long)which, WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), used->ru_maxrss);
	return false;
}

static int read_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || fseek(file, 0, SEEK_END) < 0)
		return -1;
	size = (size_t)ftell(file);
	rewind(file);
	data = malloc(size + 1);
	changed = malloc(size + 1);
	if (!data || !changed || !size || fread(data, 1, size, file) != size)
		return -1;
	return fclose(file);
}

int main(int argc, char **argv)
{
	uint64_t i, first, end, failed = 0;
	double seconds = 0, most = 0;
	long memory = 0;

	if (argc < 5 || read_file(argv[4]) < 0 || read_program(argv[3]) < 0)
		return 2;
	ask_all(argv[3]); /* as it is */
	printf("%zu names, %zu inlined, %zu lines, %zu callers; ", named, inlined, lines, callers);
	fflush(stdout);
	first = strtoull(argv[2], NULL, 10);
	end = first + strtoull(argv[1], NULL, 10);
	for (i = first; i < end; i++) {
		struct rusage used;

		memset(&used, 0, sizeof(used));
		failed += !try_one(i, argv[3], argv[4], &used);
		seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
		most = seconds > most ? seconds : most;
		memory = used.ru_maxrss > memory ? used.ru_maxrss : memory;
	}
	printf("%llu changes of %zu bytes, %llu failed; at most %.3f s, %ld MiB\n", (unsigned long long)(end - first), size,
	       (unsigned long long)failed, most, memory / 1024);
	changed_size = size;
	memcpy(changed, data, size);
	return failed || write_changed(argv[4]) < 0 ? 1 : 0;
}
