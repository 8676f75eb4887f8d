/* SPDX-License-Identifier: MIT */
/* What tests of symbols share: programs that say where their functions are, records of what they say is
 * mapped, and questions for addresses. */
#ifndef TESTS_FEEDING_H
#define TESTS_FEEDING_H

#include "bytes.h"
#include "left.h"
#include "test.h"

#include <perfev/reader.h>
#include <perfev/stacks.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define USER   PERF_RECORD_MISC_USER
#define KERNEL PERF_RECORD_MISC_KERNEL

static struct perfev_error err;
static struct perfev_symbols *symbols;
static struct perfev_stacks *stacks; /* records go into them, if they are there */
static struct bytes bytes;

/* What a helper printed. */
static struct {
	char name[32];
	uint64_t address;
} functions[16];
static size_t function_count;
static struct {
	uint64_t start, end, offset;
	char name[4096];
} maps[64];
static size_t map_count;

static inline const char *helper(const char *name)
{
	static char path[4300];
	ssize_t n = readlink("/proc/self/exe", path, 4096);

	assert_true(n > 0);
	path[n] = 0;
	strcpy(strrchr(path, '/') + 1, name);
	return path;
}

static inline void run_helper(const char *name)
{
	FILE *out = popen(helper(name), "r");
	char line[4200];

	assert_non_null(out);
	function_count = map_count = 0;
	while (fgets(line, sizeof(line), out)) {
		unsigned long long start, end, offset;
		char perms[8], word[32];
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, perms, &offset,
			   &at) >= 4) {
			maps[map_count].start = start;
			maps[map_count].end = end;
			maps[map_count].offset = offset;
			snprintf(maps[map_count].name, sizeof(maps[0].name), "%s",
				 at && line[at] ? line + at : "//anon");
			map_count += perms[2] == 'x';
		} else if (sscanf(line, "%31s %llx", word, &start) == 2) {
			strcpy(functions[function_count].name, word);
			functions[function_count++].address = start;
		}
	}
	assert_int_equal(pclose(out), 0);
	assert_true(function_count >= 6 && map_count >= 3);
}

/* ---- records ------------------------------------------------------------------------------------------- */

static inline void feed(size_t at)
{
	struct perfev_bytes view = {bytes.data + at, bytes.size - at};
	struct perfev_record record;

	end_record(&bytes, at);
	assert_works(perfev_record_from_bytes(&record, view, 0, &err));
	if (stacks)
		assert_works(perfev_stacks_push(stacks, &record, NULL, 0, &err));
	else
		assert_works(perfev_symbols_feed(symbols, &record, NULL, &err));
	bytes.size = 0;
}

static inline void feed_mmap2_of(uint16_t mode, int32_t pid, uint64_t start, uint64_t end, uint64_t offset, const char *name,
				 const uint8_t *id)
{
	size_t at = begin_record(&bytes, PERF_RECORD_MMAP2, (uint16_t)(mode | (id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0)));

	put_u32(&bytes, (uint32_t)pid);
	put_u32(&bytes, (uint32_t)pid);
	put_u64(&bytes, start);
	put_u64(&bytes, end - start);
	put_u64(&bytes, offset);
	put_u32(&bytes, id ? 20 : 0);
	if (id)
		put_bytes(&bytes, id, 20);
	else
		put_bytes(&bytes, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	put_u32(&bytes, 5);
	put_u32(&bytes, 2);
	put_text(&bytes, name, 8);
	feed(at);
}

static inline void feed_mmap2(int32_t pid, uint64_t start, uint64_t end, uint64_t offset,
			      const char *name, const uint8_t *id)
{
	feed_mmap2_of(USER, pid, start, end, offset, name, id);
}

/* The kernel or a module of it, whose build-id the mapping has. */
static inline void feed_kernel_mmap2(uint64_t start, uint64_t reference, const char *name, const uint8_t *id)
{
	feed_mmap2_of(KERNEL, -1, start, start + 0x1000000, reference, name, id);
}

/* A program that runs user code. */
static inline void feed_sample(int32_t pid)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = PERF_SAMPLE_TID};
	size_t at = begin_record(&bytes, PERF_RECORD_SAMPLE, USER);
	struct perfev_layout *layout;
	struct perfev_record record;

	put_u32(&bytes, (uint32_t)pid);
	put_u32(&bytes, (uint32_t)pid);
	end_record(&bytes, at);
	assert_works(perfev_layout_new(&layout, &attr, &err));
	assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes.data + at, bytes.size - at}, 0,
					      &err));
	assert_works(perfev_symbols_feed(symbols, &record, layout, &err));
	perfev_layout_free(layout);
	bytes.size = 0;
}

static inline void feed_maps(int32_t pid)
{
	size_t i;

	for (i = 0; i < map_count; i++)
		feed_mmap2(pid, maps[i].start, maps[i].end, maps[i].offset, maps[i].name, NULL);
}

static inline void feed_comm(int32_t pid, int32_t tid, const char *name, bool exec)
{
	size_t at = begin_record(&bytes, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	put_u32(&bytes, (uint32_t)pid);
	put_u32(&bytes, (uint32_t)tid);
	put_text(&bytes, name, 8);
	feed(at);
}

static inline void feed_fork(int32_t pid, int32_t tid, int32_t parent, uint16_t misc)
{
	size_t at = begin_record(&bytes, PERF_RECORD_FORK, misc);

	put_u32(&bytes, (uint32_t)pid);
	put_u32(&bytes, (uint32_t)parent);
	put_u32(&bytes, (uint32_t)tid);
	put_u32(&bytes, (uint32_t)parent);
	put_u64(&bytes, 1);
	feed(at);
}

static inline void feed_ksymbol(uint64_t addr, uint32_t size, const char *name, uint16_t flags)
{
	size_t at = begin_record(&bytes, PERF_RECORD_KSYMBOL, 0);

	put_u64(&bytes, addr);
	put_u32(&bytes, size);
	put_u16(&bytes, 1);
	put_u16(&bytes, flags);
	put_text(&bytes, name, 8);
	feed(at);
}

static inline void feed_kernel_map(uint64_t start, uint64_t reference, const char *name)
{
	size_t at = begin_record(&bytes, PERF_RECORD_MMAP, KERNEL);

	put_u32(&bytes, UINT32_MAX);
	put_u32(&bytes, 0);
	put_u64(&bytes, start);
	put_u64(&bytes, 0x1000000);
	put_u64(&bytes, reference);
	put_text(&bytes, name, 8);
	feed(at);
}

/* ---- questions --------------------------------------------------------------------------------------------- */

static inline struct perfev_frame find(int32_t pid, uint64_t ip, uint32_t mode)
{
	struct perfev_place place = {ip, pid, mode};
	struct perfev_frame frame, again, all[2];
	int count;

	memset(&frame, 0xa5, sizeof(frame));
	assert_int_equal(perfev_symbols_find(symbols, &place, &frame, 1, &err), 1);
	assert_int_equal(perfev_symbols_find(symbols, &place, &again, 1, &err), 1);
	assert_memory_equal(&frame, &again, sizeof(frame)); /* by the short way, the second time */
	count = perfev_symbols_find(symbols, &place, all, 2, &err);
	assert_in_range(count, 1, 2);
	assert_memory_equal(&frame, &all[count - 1], sizeof(frame)); /* and by the long one */
	assert_int_equal(!frame.symbol, !!(frame.flags & PERFEV_FRAME_UNRESOLVED));
	return frame;
}

static inline void expect(int32_t pid, uint64_t ip, const char *name, const char *module)
{
	struct perfev_frame frame = find(pid, ip, USER);

	if (!frame.symbol || strcmp(frame.symbol, name) || !strstr(frame.module, module))
		fail_msg("0x%llx is %s in %s, not %s in %s", (unsigned long long)ip,
			 frame.symbol ? frame.symbol : "nameless", frame.module, name, module);
}

static inline struct perfev_module_info expect_nameless(int32_t pid, uint64_t ip, const char *module)
{
	struct perfev_frame frame = find(pid, ip, USER);
	struct perfev_module_info info;

	assert_null(frame.symbol);
	assert_non_null(strstr(frame.module, module));
	assert_true(perfev_symbols_module(symbols, frame.module_id, &info));
	assert_string_equal(info.name, frame.module);
	return info;
}

static inline uint64_t address_of(const char *name)
{
	size_t i;

	for (i = 0; i < function_count; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].address;
	fail_msg("the helper has no %s", name);
	return 0;
}

/* The functions of the helper, at their first bytes and inside. */
static inline void expect_functions(int32_t pid, const char *program)
{
	expect(pid, address_of("work_one"), "work_one", program);
	expect(pid, address_of("work_one") + 3, "work_one", program);
	expect(pid, address_of("work_hidden"), "work_hidden", program);
	expect(pid, address_of("main") + 1, "main", program);
	expect(pid, address_of("lib_hidden"), "lib_hidden", "libhelper.so");
	expect(pid, address_of("lib_report") + 1, "lib_report", "libhelper.so");
	assert_int_equal(find(pid, address_of("work_one") + 3, USER).offset, 3);
}

/* Anew, with such symbols of a kernel, and other options. */
static inline void with_kallsyms_and(const char *text, struct perfev_symbols_opts opts)
{
	char path[] = "/tmp/perfev-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	perfev_symbols_free(symbols);
	opts.size = sizeof(opts);
	opts.kallsyms = path;
	opts.foreign = 1;
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	find(0, 1, KERNEL); /* reads it */
	unlink(path);
}

static inline void with_kallsyms(const char *text)
{
	struct perfev_symbols_opts opts;

	memset(&opts, 0, sizeof(opts));
	with_kallsyms_and(text, opts);
}

static inline int setup(void **state)
{
	(void)state;
	left_begin();
	bytes.size = 0;
	bytes.big = host_is_big();
	return perfev_symbols_new(&symbols, NULL, &err);
}

static inline int teardown(void **state)
{
	(void)state;
	perfev_symbols_free(symbols);
	left_check();
	return 0;
}

#endif
