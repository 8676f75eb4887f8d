/* SPDX-License-Identifier: MIT */
/* Records of BPF programs, and what programs write themselves, against what bpf(2) tells. */
#include "watching.h"

#include <sched.h>
#include <sys/syscall.h>

/* ---- BPF ------------------------------------------------------------------------------------------------------------ */

/* bpf(2), as much of it as these tests need; written down, since headers may be older than kernels. */
struct instruction {
	uint8_t code, registers; /* from << 4 | to */
	int16_t offset;
	int32_t value;
};

union bpf_arguments {
	struct {
		uint32_t type, count;
		uint64_t instructions, license;
		uint32_t log_level, log_size;
		uint64_t log;
		uint32_t kernel, flags;
		char name[16];
	} load;
	struct {
		uint32_t type, key_size, value_size, entries;
	} map;
	struct {
		uint32_t fd, padding;
		uint64_t key, value, flags;
	} set;
	struct {
		uint32_t fd, size;
		uint64_t info;
	} info;
	uint64_t room[16];
};

struct program_info {
	uint32_t type, id;
	uint8_t tag[8];
	uint32_t jited_size, rest[49];
};

enum { BPF_MAKE_MAP = 0, BPF_SET_ELEMENT = 2, BPF_LOAD_PROGRAM = 5, BPF_INFO = 15 };

static int call_bpf(int command, union bpf_arguments *arguments)
{
#ifdef __NR_bpf
	return (int)syscall(__NR_bpf, command, arguments, sizeof(*arguments));
#else
	(void)command;
	(void)arguments;
	errno = ENOSYS;
	return -1;
#endif
}

static int load_program(uint32_t type, const struct instruction *code, size_t count)
{
	union bpf_arguments a;

	memset(&a, 0, sizeof(a));
	a.load.type = type;
	a.load.count = (uint32_t)count;
	a.load.instructions = (uint64_t)(uintptr_t)code;
	a.load.license = (uint64_t)(uintptr_t)"Dual MIT/GPL";
	strcpy(a.load.name, "perfev_test");
	return call_bpf(BPF_LOAD_PROGRAM, &a);
}

static struct program_info program;
static int loads, unloads, symbols, unregistered;

static void look_at_bpf_event(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	if (any->as.bpf_event.id != program.id)
		return;
	assert_memory_equal(any->as.bpf_event.tag, program.tag, 8);
	loads += any->as.bpf_event.type == PERF_BPF_EVENT_PROG_LOAD;
	unloads += any->as.bpf_event.type == PERF_BPF_EVENT_PROG_UNLOAD;
}

static void look_at_ksymbol(const struct perfev_any *any, uint16_t misc)
{
	char name[64];
	int i, used = snprintf(name, sizeof(name), "bpf_prog_");

	(void)misc;
	for (i = 0; i < 8; i++)
		used += snprintf(name + used, sizeof(name) - (size_t)used, "%02x", program.tag[i]);
	if (strncmp(any->as.ksymbol.name, name, (size_t)used))
		return;
	assert_int_equal(any->as.ksymbol.ksym_type, PERF_RECORD_KSYMBOL_TYPE_BPF);
	assert_true(any->as.ksymbol.addr >> 63 && any->as.ksymbol.len >= program.jited_size);
	symbols++;
	unregistered += !!(any->as.ksymbol.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
}

/* A program that comes and goes while all CPUs are watched. */
static void watch_a_program(void)
{
	static const struct instruction code[] = {{0xb7, 0, 0, 0}, {0x95, 0, 0, 0}};
	struct perfev_event *event = event_of("dummy");
	union bpf_arguments a;
	int fd;

	perfev_event_attr(event)->ksymbol = perfev_event_attr(event)->bpf_event = 1;
	watch(event, perfev_on_all_cpus());
	fd = load_program(1, code, 2);
	if (fd < 0)
		SKIP("bpf(2): %s", strerror(errno));
	memset(&a, 0, sizeof(a));
	memset(&program, 0, sizeof(program));
	a.info.fd = (uint32_t)fd;
	a.info.size = sizeof(program);
	a.info.info = (uint64_t)(uintptr_t)&program;
	assert_int_equal(call_bpf(BPF_INFO, &a), 0);
	close(fd);
}

static void test_bpf_event(void **state)
{
	(void)state;
	watch_a_program();
	look_at(PERF_RECORD_BPF_EVENT, look_at_bpf_event);
	assert_int_equal(loads, 1);
	assert_int_equal(unloads, 1);
}

static void test_ksymbol(void **state)
{
	(void)state;
	watch_a_program();
	if (!program.jited_size)
		SKIP("this kernel interprets BPF: there is no code that could have a name");
	look_at(PERF_RECORD_KSYMBOL, look_at_ksymbol);
	assert_in_range(symbols, 1, 2); /* it goes later, when nobody can be in it */
	assert_true(unregistered < symbols);
}

static int outputs;

static void look_at_output(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_sample *sample = &any->as.sample;
	uint64_t word;

	(void)misc;
	assert_true(sample->raw.size >= 8 && (sample->raw.size + 4) % 8 == 0);
	memcpy(&word, sample->raw.data, 8);
	assert_true(word == 0x5eed);
	outputs++;
}

/* A program at each page fault, which writes a word into the ring of an event of the kind bpf-output. */
static int load_writer(int map)
{
	const struct instruction code[] = {
		{0x7a, 0x0a, -8, 0x5eed},	 /* *(u64 *)(r10 - 8) = 0x5eed */
		{0x18, 0x12, 0, map}, {0, 0, 0, 0}, /* r2 = the map */
		{0xb4, 0x03, 0, -1},		 /* r3 = this CPU */
		{0xbf, 0xa4, 0, 0},		 /* r4 = r10 */
		{0x07, 0x04, 0, -8},		 /* r4 += -8 */
		{0xb7, 0x05, 0, 8},		 /* r5 = 8 bytes */
		{0x85, 0, 0, 25},		 /* perf_event_output(ctx, map, cpu, data, size) */
		{0xb7, 0, 0, 0}, {0x95, 0, 0, 0},
	};

	return load_program(7, code, sizeof(code) / sizeof(code[0]));
}

/* The loop is written out: the events are opened one a CPU, as the map of the program wants them. */
static void test_bpf_output(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .sample_period = 1, .exclude_kernel = 1, .exclude_hv = 1};
	struct perf_event_attr output = {.size = sizeof(output), .type = PERF_TYPE_SOFTWARE,
					 .config = PERF_COUNT_SW_BPF_OUTPUT, .sample_period = 1, .wakeup_events = 1,
					 .sample_type = PERF_SAMPLE_RAW};
	struct perf_event_mmap_page *page = NULL;
	struct perfev_layout *layout;
	struct perfev_record record;
	struct perfev_any any;
	union bpf_arguments a;
	cpu_set_t before, one;
	uint32_t key;
	uint64_t at;
	int map, writer, ring, faults;

	(void)state;
	memset(&a, 0, sizeof(a));
	a.map.type = 4; /* an array of events */
	a.map.key_size = a.map.value_size = 4;
	a.map.entries = 1024;
	map = call_bpf(BPF_MAKE_MAP, &a);
	if (map < 0)
		SKIP("bpf(2): %s", strerror(errno));
	sched_getaffinity(0, sizeof(before), &before);
	for (key = 0; !CPU_ISSET(key, &before); key++)
		;
	CPU_ZERO(&one);
	CPU_SET(key, &one);
	sched_setaffinity(0, sizeof(one), &one);
	writer = load_writer(map);
	ring = perfev_raw_open(&output, -1, (int)key, -1, PERF_FLAG_FD_CLOEXEC);
	faults = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (writer < 0)
		SKIP("this user may load no program that writes: %s", strerror(errno));
	assert_true(ring >= 0 && faults >= 0);
	assert_int_equal(perfev_raw_mmap(&page, ring, 65536, true), 0);
	memset(&a, 0, sizeof(a));
	a.set.fd = (uint32_t)map;
	a.set.key = (uint64_t)(uintptr_t)&key;
	a.set.value = (uint64_t)(uintptr_t)&ring;
	assert_int_equal(call_bpf(BPF_SET_ELEMENT, &a), 0);
	assert_int_equal(perfev_raw_set_bpf(faults, writer), 0);
	touch_pages(100);
	perfev_raw_disable(faults, 0);
	sched_setaffinity(0, sizeof(before), &before);
	assert_works(perfev_layout_new(&layout, &output, &err));
	for (at = 0; at < page->data_head; at += record.size) {
		struct perfev_bytes bytes = {(unsigned char *)page + page->data_offset + at, (size_t)(page->data_head - at)};

		assert_works(perfev_record_from_bytes(&record, bytes, 0, &err));
		assert_works(perfev_any_decode(&any, &record, layout, &err));
		look_at_output(&any, record.misc);
	}
	assert_in_range(outputs, 100, 150);
	perfev_layout_free(layout);
	perfev_raw_munmap(page, 65536);
	close(faults);
	close(ring);
	close(writer);
	close(map);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_bpf_event),
	TEST(test_ksymbol),
	TEST(test_bpf_output),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
