/* SPDX-License-Identifier: MIT */
/* Each field of a sample that this kernel can be made to write, and what is lost when there are too many, against what is
 * known otherwise. */
#include "watching.h"

#include <sys/prctl.h>

/* ---- too many samples ---------------------------------------------------------------------------------------------------- */

static int throttles;

static void look_at_throttle(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	assert_true(any->as.throttle.time > 0 && any->as.throttle.id > 0);
	throttles++;
}

/* Its count is nanoseconds: thousands of overflows at once. */
static void test_throttle(void **state)
{
	struct perfev_event *event = NULL;

	(void)state;
	if (!is_root() || perfev_event_parse(&event, "sched:sched_stat_runtime", &err) < 0)
		SKIP("%s", is_root() ? err.text : "only root may see the scheduler's tracepoints");
	perfev_event_attr(event)->sample_period = 1000;
	perfev_event_attr(event)->sample_type = ID_FIELDS | PERF_SAMPLE_ID;
	watch(event, perfev_on_self());
	burn_ms(30);
	sleep_ten_times();
	look_at(PERF_RECORD_THROTTLE, look_at_throttle);
	if (!throttles)
		SKIP("perf_event_max_sample_rate is so high that nothing was throttled");
}

/* ---- fields of samples ------------------------------------------------------------------------------------------------- */

static volatile unsigned long watched __attribute__((aligned(4096)));
static struct perfev_sample seen;
static unsigned char seen_stack[4096];
static uint64_t seen_chain[64], seen_sp, seen_ip;
static int samples;

static void look_at_sample(const struct perfev_any *any, uint16_t misc)
{
	uint32_t i;

	assert_true((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER);
	seen = any->as.sample;
	if (seen.present & PERF_SAMPLE_STACK_USER)
		memcpy(seen_stack, seen.stack_user.data, seen.stack_user.size);
	if (seen.present & PERF_SAMPLE_CALLCHAIN)
		for (i = 0; i < seen.callchain.count && i < 64; i++)
			seen_chain[i] = perfev_u64s_at(seen.callchain, i);
	if (seen.present & PERF_SAMPLE_REGS_USER) {
		unsigned abi;
		enum perfev_arch arch = perfev_arch_host(&abi);

		assert_int_equal(seen.regs_user.abi, abi);
		assert_true(perfev_registers_get(&seen.regs_user, (unsigned)perfev_reg_index(arch, abi, "sp"), &seen_sp));
		assert_true(perfev_registers_get(&seen.regs_user, (unsigned)perfev_reg_index(arch, abi, "pc"), &seen_ip));
	}
	samples++;
}

static uint64_t local_at;

/* A write that a breakpoint sees, by a function whose stack has a word that is known. */
PLAIN static void write_watched(void)
{
	volatile uint64_t local = UINT64_C(0x5ca1ab1e0ddba11);

	local_at = (uint64_t)(uintptr_t)&local;
	watched++;
	(void)local;
}

static struct perfev_event *breakpoint(uint64_t sample_type)
{
	char text[64];
	struct perfev_event *event = NULL;

	snprintf(text, sizeof(text), "mem:0x%llx/%zu:w:u", (unsigned long long)(uintptr_t)&watched, sizeof(watched));
	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_type = sample_type;
	perfev_event_attr(event)->sample_period = 1;
	return event;
}

static void watch_a_write(struct perfev_event *event)
{
	int r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL, &err);

	perfev_event_free(event);
	if (r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENOSPC || r == -EOPNOTSUPP || r == -ENODEV ||
	    (r == -EINVAL && strstr(err.text, "does not tell writes from reads")) ||
	    (r < 0 && err.why == PERFEV_WHY_OLD_KERNEL))
		SKIP("%s", err.text);
	assert_works(r);
	samples = 0;
	assert_works(perfev_sampler_start(sampler, &err));
	write_watched();
	look_at(PERF_RECORD_SAMPLE, look_at_sample);
	if (!samples)
		SKIP("this machine's breakpoints do not hit");
	assert_int_equal(samples, 1);
}

static void test_callchain(void **state)
{
	struct perfev_event *event = breakpoint(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;

	(void)state;
	perfev_event_attr(event)->exclude_callchain_kernel = 1;
	watch_a_write(event);
	assert_true(seen.callchain.count >= 3);
	perfev_callchain_begin(&chain, (struct perfev_u64s){seen_chain, seen.callchain.count < 64 ? seen.callchain.count : 64, false},
			       seen.misc);
	assert_int_equal(perfev_callchain_next(&chain, &entry), 1);
	assert_int_equal(entry.context, PERFEV_CONTEXT_USER);
	assert_true(entry.first && entry.ip == seen.ip);
	assert_int_equal(perfev_callchain_next(&chain, &entry), 1);
	assert_false(entry.first);
}

static void test_registers_and_stack(void **state)
{
	struct perfev_event *event = breakpoint(PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	struct perf_event_attr *attr = perfev_event_attr(event);
	unsigned abi;
	enum perfev_arch arch = perfev_arch_host(&abi);
	uint64_t word;

	(void)state;
#ifdef __arm__
	if (is_compat()) {
		perfev_event_free(event);
		SKIP("a 64-bit kernel has the registers of this program at other places");
	}
#endif
	attr->sample_regs_user = perfev_reg_mask(arch, abi) & (is_compat() ? 0x1ff : ~UINT64_C(0)); /* the kernel's are fewer */
	attr->sample_stack_user = sizeof(seen_stack);
	watch_a_write(event);
	assert_true(seen_ip == seen.ip);
	assert_true(seen.stack_user_size == sizeof(seen_stack) && seen.stack_user.size > 0);
	assert_true(local_at >= seen_sp - 128 && local_at < seen_sp + seen.stack_user.size); /* a red zone below */
	if (local_at >= seen_sp) {
		memcpy(&word, seen_stack + (local_at - seen_sp), 8);
		assert_true(word == UINT64_C(0x5ca1ab1e0ddba11));
	}
}

static void test_page_sizes(void **state)
{
	(void)state;
	watch_a_write(breakpoint(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE));
	assert_true(seen.addr == (uint64_t)(uintptr_t)&watched);
	assert_int_equal(seen.data_page_size, sysconf(_SC_PAGESIZE));
	assert_true(seen.code_page_size >= (uint64_t)sysconf(_SC_PAGESIZE));
	assert_true((seen.code_page_size & (seen.code_page_size - 1)) == 0);
}

/* Where the page is, as root reads it in /proc/self/pagemap; 0 when that is not shown. */
static uint64_t physical(uint64_t address)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, 8, (off_t)(address / page * 8)) != 8)
		entry = 0;
	close(fd);
	entry &= (UINT64_C(1) << 55) - 1;
	return entry ? entry * page + address % page : 0;
}

static void test_physical_address(void **state)
{
	uint64_t expected;

	(void)state;
	watched = 1;
	watch_a_write(breakpoint(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR));
	expected = physical((uint64_t)(uintptr_t)&watched);
	if (!expected)
		SKIP("this user does not see where pages are");
	assert_true(seen.phys_addr == expected);
}

/* The folder of the own cgroup, in the hierarchy of version 2. */
static bool find_own_cgroup(const char *root, char *path, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool found = false;
	char line[256];

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		found = !strncmp(line, "0::/", 4);
	}
	if (file)
		fclose(file);
	return found && snprintf(path, size, "%s%s", root, line + 3) > 0;
}

/* The cgroup of a sample is that of /proc/self/cgroup, whose folder has its number. */
static void test_cgroup_of_a_sample(void **state)
{
	const char *root = cgroup_root();
	char path[400];

	(void)state;
	watch_a_write(breakpoint(PERF_SAMPLE_IP | PERF_SAMPLE_CGROUP));
	assert_true(seen.cgroup > 0);
	if (!root || !strcmp(root, "/sys/fs/cgroup/perf_event") || !find_own_cgroup(root, path, sizeof(path)))
		SKIP("there is no cgroup file system of version 2 to compare with");
	assert_true(seen.cgroup == number_of_folder(path));
}

static char raw_text[256];

static void look_at_raw(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_sample *sample = &any->as.sample;
	size_t i;

	(void)misc;
	assert_true(sample->raw.size > 8 && sample->raw.size < sizeof(raw_text));
	for (i = 0; i < sample->raw.size; i++)
		if (!strncmp((const char *)sample->raw.data + i, "perfev raw", sample->raw.size - i < 10 ? 1 : 10))
			strcpy(raw_text, "found");
}

static void test_raw_of_a_tracepoint(void **state)
{
	struct perfev_event *event = NULL;
	char before[16];

	(void)state;
	if (perfev_event_parse(&event, "task:task_rename", &err) < 0)
		SKIP("%s", err.text);
	perfev_event_attr(event)->sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME;
	perfev_event_attr(event)->sample_period = 1;
	watch(event, perfev_on_self());
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "perfev raw");
	prctl(PR_SET_NAME, before);
	assert_int_equal(look_at(PERF_RECORD_SAMPLE, look_at_raw), 2);
	assert_string_equal(raw_text, "found");
}

static void look_at_group(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_values *values = &any->as.sample.read;
	struct perfev_value first, second;

	(void)misc;
	assert_int_equal(values->members, 2);
	assert_true(perfev_values_at(values, 0, &first) && perfev_values_at(values, 1, &second));
	assert_false(perfev_values_at(values, 2, &first));
	assert_int_equal(first.count, ++samples);
	assert_true(first.id && second.id && first.id != second.id);
	assert_true(second.count + 1 >= first.count && second.count <= first.count + 10); /* of the same faults */
}

static void test_counts_of_a_group(void **state)
{
	struct perfev_event *events[2] = {event_of("minor-faults:u"), event_of("page-faults:u")};
	static const size_t leaders[2] = {0, 0};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .leaders = leaders};
	struct perf_event_attr *attr = perfev_event_attr(events[0]);

	(void)state;
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_READ;
	attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
	perfev_event_attr(events[1])->read_format = attr->read_format;
	assert_works(perfev_sampler_open(&sampler, (const struct perfev_event *const *)events, 2, perfev_on_self(), &opts, &err));
	perfev_event_free(events[0]);
	perfev_event_free(events[1]);
	samples = 0;
	assert_works(perfev_sampler_start(sampler, &err));
	touch_pages(50);
	assert_in_range(look_at(PERF_RECORD_SAMPLE, look_at_group), 50, 60);
}

/* ---- loss ------------------------------------------------------------------------------------------------------------------ */

static uint64_t lost_told;

static void look_at_lost(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	lost_told += any->as.lost.lost;
}

/* What a full ring lost stands before the next record that has room. */
static void test_lost(void **state)
{
	struct perfev_event *event = event_of("minor-faults:u");
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 4096};
	struct perfev_record record;
	uint64_t faults, first = 0;

	(void)state;
	perfev_event_attr(event)->sample_period = 1;
	assert_works(perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), &opts, &err));
	perfev_event_free(event);
	assert_works(perfev_sampler_start(sampler, &err));
	faults = 1000 + perfev_sampler_ring_bytes(sampler) / 16; /* more than it can hold */
	touch_pages((size_t)faults);
	while (perfev_sampler_next(sampler, &record, &err) > 0)
		first += record.type == PERF_RECORD_SAMPLE;
	perfev_sampler_release(sampler);
	touch_pages(50);
	assert_int_equal(look_at(PERF_RECORD_LOST, look_at_lost), 1);
	assert_true(first > 0);
	assert_in_range(first + lost_told, faults, faults + 10);
}

/* Whether records that come while the output is paused are lost, is the kernel's to say: it counts them. */
static void test_paused(void **state)
{
	struct perfev_event *event = event_of("minor-faults:u");
	struct perfev_loss loss;

	(void)state;
	perfev_event_attr(event)->sample_period = 1;
	watch(event, perfev_on_self());
	touch_pages(10);
	if (perfev_sampler_pause(sampler, &err) < 0)
		SKIP("%s", err.text);
	touch_pages(1000);
	assert_works(perfev_sampler_resume(sampler, &err));
	touch_pages(10);
	assert_works(perfev_sampler_stop(sampler, &err));
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	lost_told = 0;
	assert_in_range(look_at(PERF_RECORD_LOST, look_at_lost), 0, 1);
	if (!loss.exact)
		SKIP("this kernel has no PERF_FORMAT_LOST");
	assert_in_range(lost_told, 1000, 1010);
	assert_in_range(loss.records, 1000, 1010);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_throttle),
	TEST(test_callchain),
	TEST(test_registers_and_stack),
	TEST(test_page_sizes),
	TEST(test_physical_address),
	TEST(test_cgroup_of_a_sample),
	TEST(test_raw_of_a_tracepoint),
	TEST(test_counts_of_a_group),
	TEST(test_lost),
	TEST(test_paused),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
