/* SPDX-License-Identifier: MIT */
/* Memory that runs out: each allocation of each piece of work fails once. The work says -ENOMEM or does
 * without, nothing is left behind, and what it was done on can be used and freed. */
#include "feeding.h"
#include "machine.h"
#include "recording.h"

#include "capture/event.h"
#include "fake/kernel.h"

#include <perfev/perfev.h>

/* ---- the allocator ----------------------------------------------------------------------------------- */

static long fail_in = -1; /* allocations until one fails; -1: none does */
static bool has_failed;
static long live; /* not freed */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *at);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *at);

static bool fails(void)
{
	if (fail_in < 0 || fail_in-- > 0)
		return false;
	has_failed = true;
	return true;
}

static void *count(void *at)
{
	live += at != NULL;
	return at;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	return old ? __real_realloc(old, size) : count(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : count(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : count(__real_strdup(text));
}

void __wrap_free(void *at)
{
	live -= at != NULL;
	__real_free(at);
}

/* Does the work again and again, and lets one allocation more succeed each time, until all do. */
static void run_out(const char *name, int (*work)(void))
{
	long n;

	for (n = 0;; n++) {
		long before = live;
		int r;

		assert_in_range(n, 0, 5000);
		memset(&err, 0, sizeof(err));
		has_failed = false;
		fail_in = n;
		r = work();
		fail_in = -1;
		if (!has_failed && r != 0)
			fail_msg("%s: %d: %s", name, r, err.text);
		if (r != 0 && (r != -ENOMEM || err.code != r || err.why != PERFEV_WHY_MEMORY))
			fail_msg("%s, allocation %ld: %d, but the error has %d: %s", name, n, r,
				 err.code, err.text);
		if (live != before)
			fail_msg("%s, allocation %ld: %ld are left", name, n, live - before);
		if (!has_failed)
			break;
	}
	assert_true(n > 0);
}

/* ---- the work ---------------------------------------------------------------------------------------------- */

static int parse_events(void)
{
	struct perfev_events *events = NULL, *more = NULL;
	struct perfev_event *event = NULL;
	int r = perfev_events_parse(&events, "cycles:u,{cs,r1},faults,L1-dcache-loads", &err);

	if (r == 0)
		r = perfev_event_parse(&event, "cs", &err);
	if (r == 0)
		r = perfev_events_new(&more, &err);
	if (r == 0)
		r = perfev_events_add(more, event, -1, &err);
	if (r == 0)
		r = perfev_events_append(more, events, &err);
	perfev_events_free(events);
	perfev_events_free(more);
	perfev_event_free(event);
	return r;
}

/* ---- event text on another machine ------------------------------------------------------------------------- */

static const struct perfev_parse_opts there = {sizeof(there), "/there/sys", "/there/tracing"};
static const char *text_there;
static size_t count_there; /* of events that it means; 0: to be counted */

static bool put_there(void *context, const char *path, const char *text)
{
	char full[300];

	(void)context;
	snprintf(full, sizeof(full), "/there/%s", path);
	fake_file(full, text);
	return true;
}

static int parse_there(void)
{
	struct perfev_events *list = NULL;
	char text[1000];
	size_t i;
	int r = perfev_events_parse_at(&list, text_there, &there, &err);

	for (i = 0; r >= 0 && i < perfev_events_count(list); i++)
		r = event_format_at(text, sizeof(text), perfev_events_at(list, i), &there, &err);
	if (r >= 0 && !count_there)
		count_there = perfev_events_count(list);
	if (r >= 0) /* none is overlooked */
		assert_int_equal(perfev_events_count(list), count_there);
	perfev_events_free(list);
	assert_int_equal(fake_left(), 0);
	return r < 0 ? r : 0;
}

static int list_pmus(void)
{
	struct perfev_pmus *pmus = NULL;
	int r = perfev_pmus_read(&pmus, there.sysfs, &err);

	perfev_pmus_free(pmus);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int probe_lines;

static int take_probe(const char *path, const char *text)
{
	long in = fail_in; /* the kernel has memory of its own */
	char name[64], id[200];

	(void)path;
	if (sscanf(text + 1, ":perfev/%63s", name) != 1)
		return -EINVAL;
	snprintf(id, sizeof(id), "/there/tracing/events/perfev/%s/id", name);
	if (text[0] == '-') {
		fake_remove(id);
		probe_lines--;
		return 0;
	}
	fail_in = -1;
	fake_file(id, "5");
	fail_in = in;
	probe_lines++;
	return 0;
}

static int probe_there(void)
{
	struct perfev_events *list = NULL;
	int r = perfev_events_parse_at(&list, "kprobe:f:u,{uprobe:/x:1,cs}", &there, &err);

	perfev_events_free(list);
	assert_int_equal(probe_lines, 0);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int make_events(void)
{
	struct perfev_event *list[5] = {NULL};
	int r = perfev_event_hardware(&list[0], 0, &err), i;

	if (r == 0)
		r = perfev_event_breakpoint(&list[1], 16, 0, HW_BREAKPOINT_W, &err);
	if (r == 0)
		r = perfev_event_kprobe(&list[2], "f", 1, true, &err);
	if (r == 0)
		r = perfev_event_uprobe(&list[3], "/x", 1, 2, true, &err);
	if (r == 0)
		r = perfev_event_tracepoint(&list[4], "s", "t", &err);
	for (i = 0; i < 5; i++)
		perfev_event_free(list[i]);
	assert_int_equal(fake_left(), 0);
	return r;
}

static void test_event_text(void **state)
{
	static const char *const texts[][2] = {
		{"alderlake", "{cycles,instructions}:S,topdown-retiring"},
		{"alderlake", "cpu_core/mem-loads,ldlat=3,cpu=cpu_atom,cpu=1/P"},
		{"alderlake", "uprobe:/x:0x10(1)/name=n/,kretprobe:f+1"},
		{"zen", "energy-pkg,amd_umc/event=1/"},
		{"big-little", "cs_etm/@tmc_etr0/,arm_spe//"},
		{"power", "hv_24x7/PM_PB_CYC__PHYS_CHIP,chip=1/"},
		{"xeon", "sched:sched_*:k,mem:0x10:w/name='x y'/"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fake_reset();
		assert_true(machine_read(texts[i][0], put_there, NULL));
		text_there = texts[i][1];
		count_there = 0;
		assert_works(parse_there());
		run_out(text_there, parse_there);
	}
	run_out("PMUs", list_pmus);
	fake_reset();
	fake_file("/there/sys/bus/event_source/devices/software/type", "1");
	fake.on_append = take_probe;
	run_out("probes of tracefs", probe_there);
	fake_file("/sys/bus/event_source/devices/kprobe/type", "6");
	fake_file("/sys/bus/event_source/devices/kprobe/format/retprobe", "config:0");
	fake_file("/sys/bus/event_source/devices/uprobe/type", "7");
	fake_file("/sys/bus/event_source/devices/uprobe/format/retprobe", "config:0");
	fake_file("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", "config:32-63");
	fake_file("/proc/self/mounts", "t /t tracefs rw 0 0\n");
	fake_file("/t/events/s/t/id", "9");
	run_out("events without text", make_events);
	fake_reset();
}

static struct perfev_events *events;

static int open_set(void)
{
	struct perfev_set *set = NULL;
	int r = perfev_set_open(&set, events, perfev_on_process(7), NULL, &err);

	perfev_set_close(set);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int open_sampler(void)
{
	const struct perfev_event *list[2] = {perfev_events_at(events, 0), perfev_events_at(events, 1)};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 1 << 16};
	struct perfev_sampler *sampler = NULL;
	int r;

	perfev_event_attr(perfev_events_at(events, 0))->sample_period = 1;
	perfev_event_attr(perfev_events_at(events, 1))->sample_period = 1;
	r = perfev_sampler_open(&sampler, list, 2, perfev_on_all_cpus(), &opts, &err);

	perfev_sampler_close(sampler);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int open_counter(void)
{
	const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_counter *counter = NULL;
	int r = perfev_counter_open(&counter, perfev_events_at(events, 0), perfev_on_self(), &opts,
				    &err);

	perfev_counter_close(counter);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int measure_regions(void)
{
	struct perfev_regions_opts opts = {.size = sizeof(opts), .events = "cycles,cs,faults"};
	struct perfev_regions *regions = NULL, *more = NULL;
	double number;
	int r = perfev_regions_open(&regions, &opts, &err);

	if (r == 0)
		r = perfev_regions_open(&more, &opts, &err);
	if (r == 0)
		r = perfev_region_begin(regions, "a");
	if (r == 0) {
		r = perfev_region_begin(regions, "b");
		if (r == 0)
			perfev_region_end(regions);
		perfev_region_end(regions);
	}
	if (r == -ENOMEM && has_failed && more) { /* of a begin, which has no error to fill */
		err.code = r;
		err.why = PERFEV_WHY_MEMORY;
	}
	if (r == 0)
		r = perfev_regions_add(more, regions, &err);
	if (r == 0)
		r = perfev_region_metric(&number, more, 0, "1", &err);
	perfev_regions_close(regions);
	perfev_regions_close(more);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int open_group(void)
{
	const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1, .partial = 1};
	const struct perfev_event *list[3] = {perfev_events_at(events, 0), perfev_events_at(events, 1),
					      perfev_events_at(events, 2)};
	struct perfev_group *group = NULL;
	int r = perfev_group_open(&group, list, 3, perfev_on_self(), &opts, &err);

	if (r == 0) {
		r = perfev_group_add(group, list[0], &err);
		assert_int_equal(perfev_group_count(group), r < 0 ? 3 : 4);
		r = r < 0 ? r : 0;
	}
	perfev_group_close(group);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int list_programs(void)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	uint32_t ids[2];
	int r = perfev_event_parse(&event, "2:314", &err);

	fake.bpf_count = 20;
	if (r == 0)
		r = perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err);
	if (r == 0) {
		r = perfev_counter_bpf_ids(counter, ids, 2, &err);
		r = r == 20 ? 0 : r;
	}
	perfev_counter_close(counter);
	perfev_event_free(event);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int synthesize(void)
{
	struct perfev_synth *synth = NULL;
	struct perfev_record record;
	int r = perfev_synth_open(&synth, perfev_on_process(7), NULL, NULL, &err);

	if (r == 0)
		while ((r = perfev_synth_next(synth, &record, &err)) > 0)
			;
	perfev_synth_close(synth);
	assert_int_equal(fake_left(), 0);
	assert_int_equal(r < 0, has_failed); /* records that are missing are not passed over */
	return r;
}

static struct recording recording;

static int read_recording(void)
{
	struct perfev_bytes view = {recording.bytes.data, recording.bytes.size};
	struct perfev_reader *reader = NULL;
	struct perfev_record record;
	struct perfev_loss loss;
	int r = perfev_reader_open_memory(&reader, view, "it", NULL, &err);

	if (r == 0)
		while ((r = perfev_reader_next(reader, &record, &err)) > 0)
			;
	if (reader)
		perfev_reader_loss(reader, &loss);
	perfev_reader_close(reader);
	assert_int_equal(r < 0, has_failed);
	return r;
}

/* A partial reader forgives damage, not a lack of memory. */
static int read_partly(void)
{
	struct perfev_bytes view = {recording.bytes.data, recording.data_end - 10};
	struct perfev_reader_opts opts = {sizeof(opts), 1, 0};
	struct perfev_reader *reader = NULL;
	struct perfev_record record;
	int r = perfev_reader_open_memory(&reader, view, "it", &opts, &err);

	if (r == 0)
		while ((r = perfev_reader_next(reader, &record, &err)) > 0)
			;
	perfev_reader_close(reader);
	assert_int_equal(r < 0, has_failed);
	return r;
}

static const char *write_to;

static int write_recording(void)
{
	static const struct perfev_build_id id = {2, -1, 20, {1}, "/bin/x"};
	const struct made_event *event = &recording.events[0];
	struct perfev_writer *writer = NULL;
	int r = perfev_writer_open(&writer, write_to, NULL, &err);

	if (r == 0)
		r = perfev_writer_add_event(writer, "one", &event->attr, event->ids, 3, &err);
	if (r == 0)
		r = perfev_writer_put_string(writer, PERFEV_FEATURE_HOSTNAME, "host", &err);
	if (r == 0)
		r = perfev_writer_start(writer, &err);
	if (r == 0)
		r = perfev_writer_put_string(writer, PERFEV_FEATURE_ARCH, "arch", &err);
	if (r == 0)
		r = perfev_writer_put_build_ids(writer, &id, 1, &err);
	if (r == 0)
		r = perfev_writer_round(writer, &err);
	if (r == 0)
		r = perfev_writer_finish(writer, &err);
	perfev_writer_close(writer);
	return r;
}

static int order_records(void)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout = NULL;
	struct perfev_order *order = NULL;
	struct perfev_record record;
	uint64_t words[4] = {0, 0, 0, 0};
	int r, i;

	memset(&attr, 0, sizeof(attr));
	memset(&record, 0, sizeof(record));
	attr.sample_type = PERF_SAMPLE_TIME;
	record.data = words;
	record.type = PERF_RECORD_SAMPLE;
	record.size = 16;
	words[0] = PERF_RECORD_SAMPLE | UINT64_C(16) << 48;
	r = perfev_layout_new(&layout, &attr, &err);
	if (r == 0)
		r = perfev_order_new(&order, NULL, &err);
	for (i = 0; r == 0 && i < 300; i++) {
		words[1] = (uint64_t)(i * 7 % 50); /* 0: no time */
		r = perfev_order_push(order, &record, layout, &err);
		if (r == 0 && i % 100 == 99)
			r = perfev_order_round(order, &err);
	}
	if (order)
		perfev_order_end(order, NULL);
	while (order && perfev_order_next(order, &record) > 0)
		;
	perfev_order_free(order);
	perfev_layout_free(layout);
	return r;
}

/* Samples of ten threads that wait, and the user parts of some. */
static int join_chains(void)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout = NULL;
	struct perfev_deferred *deferred = NULL;
	const struct perfev_layout *of;
	struct perfev_record record, out;
	int r, i;

	memset(&attr, 0, sizeof(attr));
	memset(&record, 0, sizeof(record));
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	attr.sample_id_all = attr.defer_callchain = 1;
	r = perfev_layout_new(&layout, &attr, &err);
	if (r == 0)
		r = perfev_deferred_new(&deferred, NULL, &err);
	for (i = 0; r == 0 && i < 30; i++) {
		uint64_t sample[] = {0, (uint64_t)(i % 10), 2, PERF_CONTEXT_USER_DEFERRED, 7};
		uint64_t user[] = {0, 7, 1, 0x1000, (uint64_t)(i % 10)};
		bool is_user = i >= 20;
		struct perf_event_header header = {is_user ? PERF_RECORD_CALLCHAIN_DEFERRED : PERF_RECORD_SAMPLE, 0, 40};

		record.data = is_user ? user : sample;
		memcpy(is_user ? user : sample, &header, sizeof(header));
		record.type = header.type;
		record.size = header.size;
		r = perfev_deferred_feed(deferred, &record, layout, &err);
		while (r == 0 && perfev_deferred_next(deferred, &out, &of) > 0)
			;
	}
	perfev_deferred_free(deferred);
	perfev_layout_free(layout);
	return r;
}

static int discard(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

static int add_samples(struct perfev_profile *profile)
{
	struct perfev_profile_frame f = {"f", "/lib/m.so", 0, 0, 0};
	struct perfev_profile_stack stack = {NULL, 2, 1, 0, UINT32_MAX};
	uint32_t frames[2];
	int r = 0, i;

	stack.frames = frames;
	for (i = 0; r == 0 && i < 1200; i++) {
		f.address = (uint64_t)i;
		f.symbol = i % 2 ? "f" : NULL;
		r = perfev_profile_intern(profile, &frames[0], &f, &err);
		if (r == 0)
			r = perfev_profile_intern(profile, &frames[1], &f, &err);
		if (r == 0)
			r = perfev_profile_add(profile, &stack, &err);
	}
	return r;
}

static int make_profile(void)
{
	struct perfev_sink sink = {discard, NULL};
	struct perfev_profile *profile = NULL;
	struct perfev_function *table = NULL;
	struct perfev_profile_node *nodes = NULL;
	size_t n;
	int r = perfev_profile_new(&profile, &err);

	if (r == 0)
		r = perfev_profile_event(profile, "cycles", &err);
	if (r == 0)
		r = add_samples(profile);
	if (r == 0)
		r = perfev_profile_functions(profile, -1, &table, &n, &err);
	if (r == 0)
		r = perfev_profile_nodes(profile, &nodes, &n, &err);
	if (r == 0)
		r = perfev_profile_write_folded(profile, -1, &sink, &err);
	if (r == 0)
		r = perfev_profile_write_html(profile, NULL, &sink, &err);
	free(table);
	free(nodes);
	perfev_profile_free(profile);
	return r;
}

static char kallsyms[64];
static struct perfev_record records[80];
static unsigned char *record_bytes;
static size_t record_count;

static int look_up(struct perfev_symbols *s)
{
	static const struct {
		uint64_t ip;
		uint32_t mode;
	} places[] = {{0, USER}, {1, USER}, {0xffffffff81000010, KERNEL}, {0xffffffffc0000010, KERNEL},
		      {5, KERNEL}, {5, PERF_RECORD_MISC_HYPERVISOR}};
	struct perfev_place place;
	struct perfev_frame found;
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		place.ip = i ? places[i].ip : functions[0].address;
		place.cpumode = places[i].mode;
		place.pid = 7;
		r = perfev_symbols_find(s, &place, &found, 1, &err);
		if (r > 0 && i == 0)
			assert_string_equal(found.symbol, "work_one");
	}
	return r < 0 ? r : 0;
}

static int name_places(void)
{
	static const struct perfev_build_id id = {2, -1, 20, {1}, "/bin/x"};
	struct perfev_symbols_opts opts;
	struct perfev_symbols *s = NULL;
	size_t i;
	int r;

	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.kallsyms = kallsyms;
	r = perfev_symbols_new(&s, &opts, &err);
	if (r == 0)
		r = perfev_symbols_build_id(s, &id, &err);
	for (i = 0; r == 0 && i < record_count; i++)
		r = perfev_symbols_feed(s, &records[i], NULL, &err);
	if (r == 0)
		r = look_up(s);
	if (r == 0)
		assert_non_null(perfev_symbols_comm(s, 7, 8));
	if (s && r < 0) { /* and again, with memory, on what was left half done */
		struct perfev_error first = err;

		fail_in = -1;
		for (i = 0; i < record_count; i++)
			assert_works(perfev_symbols_feed(s, &records[i], NULL, &err));
		perfev_symbols_comm(s, 7, 8);
		for (i = 0; i < 3; i++) {
			struct perfev_place place = {0xffffffff81000010 + i * 0x1000, 7,
						     i == 2 ? USER : KERNEL};
			struct perfev_frame found;

			assert_int_equal(perfev_symbols_find(s, &place, &found, 1, &err), 1);
			place.ip = functions[0].address;
			assert_int_equal(perfev_symbols_find(s, &place, &found, 1, &err), 1);
		}
		err = first;
	}
	perfev_symbols_free(s);
	return r;
}

/* Tables are made for the first stack; for the next one nothing is allocated. */
static int unwind_stacks(void)
{
	static const uint64_t stack[8];
	uint64_t values[3] = {0x1000, 0x2000, functions[0].address}; /* bp, sp, ip */
	struct perfev_unwinder_opts opts = {.size = sizeof(opts), .arch = PERFEV_ARCH_X86};
	struct perfev_unwind_state state = {{PERF_SAMPLE_REGS_ABI_64, 7 << PERF_REG_X86_BP, {values, 3, false}},
					    {stack, sizeof(stack)}, 7};
	struct perfev_unwinder *unwinder = NULL;
	struct perfev_symbols *s = NULL;
	struct perfev_unwound unwound;
	size_t i;
	int r = perfev_symbols_new(&s, NULL, &err);

	for (i = 0; r == 0 && i < record_count; i++)
		r = perfev_symbols_feed(s, &records[i], NULL, &err);
	if (r == 0)
		r = perfev_unwinder_new(&unwinder, s, &opts, &err);
	if (r == 0)
		r = perfev_unwind(unwinder, &state, &unwound, &err);
	if (r == 0) {
		long saved = fail_in;
		bool failed = has_failed;

		fail_in = 0;
		has_failed = false;
		assert_works(perfev_unwind(unwinder, &state, &unwound, &err));
		assert_false(has_failed);
		assert_true(unwound.count >= 1);
		fail_in = saved;
		has_failed = failed;
	}
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(s);
	return r;
}

static int make_own_tables(void)
{
	struct perfev_own_tables *tables = NULL;
	int r = perfev_own_tables_new(&tables, &err);

	perfev_own_tables_free(tables);
	return r == -ENOTSUP ? 0 : r;
}

static int find_tracepoint(void)
{
	struct perfev_tracepoint *one = NULL, *other = NULL;
	struct perfev_printer *printer = NULL;
	struct perfev_bytes raw = {"12345678", 8};
	char text[64];
	int r = perfev_tracepoint_find(&one, "sched:sched_switch", NULL, &err);

	if (r == 0)
		r = perfev_tracepoint_find_id(&other, 314, NULL, &err);
	if (r == 0) {
		r = perfev_printer_new(&printer, one, NULL, &err);
		r = r == -EOPNOTSUPP ? 0 : r; /* libtraceevent is not there */
	}
	if (r == 0)
		perfev_tracepoint_format(text, sizeof(text), other, raw);
	perfev_printer_free(printer);
	perfev_tracepoint_free(one);
	perfev_tracepoint_free(other);
	assert_int_equal(fake_left(), 0);
	return r;
}

/* A recording with formats, made for the fuzzer. */
static struct perfev_bytes with_formats;

static int read_tracepoints(void)
{
	const struct perfev_tracepoint *tp;
	struct perfev_reader *reader = NULL;
	struct perfev_record record;
	struct perfev_bytes section;
	int r = perfev_reader_open_memory(&reader, with_formats, "it", NULL, &err);

	if (r == 0)
		while ((r = perfev_reader_next(reader, &record, &err)) > 0)
			;
	if (r == 0)
		r = perfev_reader_tracepoint(reader, 314, &tp, &err);
	/* what failed once can be asked again */
	if (r == -ENOMEM && reader && perfev_reader_feature(reader, PERFEV_FEATURE_TRACING_DATA, &section) &&
	    perfev_reader_event_count(reader))
		assert_int_equal(perfev_reader_tracepoint(reader, 314, &tp, &err), 0);
	perfev_reader_close(reader);
	return r;
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void a_kernel(void)
{
	fake_reset();
	fake_file("/sys/devices/system/cpu/online", "0-3\n");
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake_process(7, 1, "seven", "7 8 9");
	fake_file("/proc/7/maps", "1000-2000 r-xp 00000000 01:02 3 /bin/x\n");
	fake_file("/proc/kallsyms", "ffffffff81000000 T _text\nffffffff82000000 T _etext\n");
	fake_file("/proc/modules", "snd 40960 2 - Live 0xffffffffc0a00000\n");
}

static void test_capture(void **state)
{
	(void)state;
	run_out("events", parse_events);
	a_kernel();
	assert_works(perfev_events_parse(&events, "cycles,{cs,faults}", &err));
	run_out("counter", open_counter);
	run_out("regions", measure_regions);
	run_out("group", open_group);
	run_out("programs", list_programs);
	run_out("set", open_set);
	run_out("sampler", open_sampler);
	run_out("synthesis", synthesize);
	perfev_events_free(events);
	fake_reset();
}

/* Two samples and a type that is not known, in each of the rings. */
static void fill_rings(void)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 2, 24};
	uint64_t words[3] = {0, 0, 7};
	int i, k;

	for (i = 0; i < fake.event_count; i++)
		for (k = 0; k < 3; k++) {
			header.type = k < 2 ? PERF_RECORD_SAMPLE : 99;
			memcpy(words, &header, 8);
			words[1] = fake.events[i].id;
			if (fake.events[i].open && (fake.events[i].page || fake.events[i].output >= 0))
				assert_true(fake_write(&fake.events[i], words, 24));
		}
}

/* What is done again and again allocates nothing, as often as it is done: here each allocation would fail. */
static void test_nothing_is_allocated_meanwhile(void **state)
{
	const struct perfev_event *list[2];
	struct perfev_sampler *sampler = NULL;
	struct perfev_counter *counter = NULL;
	struct perfev_reading reading[3];
	struct perfev_record record;
	struct perfev_set *set = NULL;
	struct perfev_any any;
	int lap, n = 0;

	(void)state;
	a_kernel();
	assert_works(perfev_events_parse(&events, "cycles,{cs,faults}", &err));
	for (lap = 0; lap < 2; lap++) {
		list[lap] = perfev_events_at(events, (size_t)lap);
		perfev_event_attr(perfev_events_at(events, (size_t)lap))->sample_period = 1;
		perfev_event_attr(perfev_events_at(events, (size_t)lap))->sample_type = PERF_SAMPLE_IP;
	}
	assert_works(perfev_set_open(&set, events, perfev_on_process(7), NULL, &err));
	assert_works(perfev_counter_open(&counter, list[0], perfev_on_self(), NULL, &err));
	assert_works(perfev_sampler_open(&sampler, list, 2, perfev_on_all_cpus(), NULL, &err));
	has_failed = false;
	for (lap = 0; lap < 100; lap++) {
		fail_in = -1;
		fill_rings();
		fail_in = 0;
		assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 1);
		for (; perfev_sampler_next(sampler, &record, &err) > 0; n++)
			perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err);
		perfev_sampler_release(sampler);
		assert_works(perfev_counter_read(counter, reading, &err));
		assert_works(perfev_set_read(set, reading, 3, &err));
		fail_in = -1;
	}
	assert_false(has_failed);
	assert_true(n >= 600);
	perfev_sampler_close(sampler);
	perfev_set_close(set);
	perfev_counter_close(counter);
	perfev_events_free(events);
	fake_reset();
}

static void test_tracepoints(void **state)
{
	static unsigned char data[1 << 16];
	FILE *file = fopen("tests/fuzz/corpus/reader/stream_tracepoint", "rb");

	(void)state;
	fake_reset();
	fake_file("/proc/self/mounts", "tracefs /t tracefs rw 0 0\n");
	fake_file("/t/events/sched/sched_switch/id", "314\n");
	fake_file("/t/events/sched/sched_switch/format",
		  "name: sched_switch\nID: 314\nformat:\n\tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		  "print fmt: \"a=%d\", REC->a\n");
	run_out("tracepoint", find_tracepoint);
	fake_reset();
	if (!file)
		SKIP("this does not run in the root of the sources, where its recording is");
	with_formats.data = data;
	with_formats.size = fread(data, 1, sizeof(data), file);
	fclose(file);
	run_out("tracepoints of a recording", read_tracepoints);
}

static void test_files(void **state)
{
	static char path[] = "/tmp/perfev-test-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	recording_init(&recording, 3);
	recording_make(&recording, host_is_big());
	run_out("reader", read_recording);
	run_out("partial reader", read_partly);
	recording.stream = true;
	recording_make(&recording, !host_is_big());
	run_out("reader of a stream", read_recording);
	write_to = path;
	run_out("writer", write_recording);
	unlink(path);
}

static void test_decode_and_profile(void **state)
{
	(void)state;
	run_out("order", order_records);
	run_out("deferred chains", join_chains);
	run_out("profile", make_profile);
}

/* The records of the helper's mappings and some others, kept for many turns. */
static void keep_records(void)
{
	size_t i, used = 0;

	record_bytes = malloc(1 << 20);
	assert_non_null(record_bytes);
	for (i = 0; i < map_count + 3; i++) {
		struct perfev_bytes view = {record_bytes + used, 0};

		bytes.size = 0;
		begin_record(&bytes,
			     i < map_count        ? PERF_RECORD_MMAP2
			     : i == map_count     ? PERF_RECORD_COMM
			     : i == map_count + 1 ? PERF_RECORD_FORK
						  : PERF_RECORD_KSYMBOL,
			     USER);
		put_u32(&bytes, i == map_count + 1 ? 8 : 7);
		put_u32(&bytes, 7);
		if (i < map_count) {
			put_u64(&bytes, maps[i].start);
			put_u64(&bytes, maps[i].end - maps[i].start);
			put_u64(&bytes, maps[i].offset);
			put_bytes(&bytes, (const char[24]){0}, 24); /* no device, no inode */
			put_u32(&bytes, 5);
			put_u32(&bytes, 2);
			put_text(&bytes, maps[i].name, 8);
		} else {
			put_u64(&bytes, 7);
			put_u64(&bytes, 7);
			put_u64(&bytes, 0);
		}
		end_record(&bytes, 0);
		memcpy(record_bytes + used, bytes.data, bytes.size);
		view.size = bytes.size;
		assert_works(perfev_record_from_bytes(&records[record_count++], view, 0, &err));
		used += (bytes.size + 7) & ~(size_t)7;
	}
}

static void test_symbols(void **state)
{
	static const char text[] =
		"ffffffff81000000 T one\nffffffff81001000 T two\nffffffffc0000000 t x\t[mod]\n";
	int fd;

	(void)state;
	strcpy(kallsyms, "/tmp/perfev-test-XXXXXX");
	fd = mkstemp(kallsyms);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	bytes.big = host_is_big();
	run_helper("helpernopie");
	keep_records();
	run_out("symbols", name_places);
	run_out("stacks", unwind_stacks);
	run_out("own tables", make_own_tables);
	free(record_bytes);
	unlink(kallsyms);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_event_text),
	cmocka_unit_test(test_capture),
	cmocka_unit_test(test_nothing_is_allocated_meanwhile),
	cmocka_unit_test(test_tracepoints),
	cmocka_unit_test(test_files),
	cmocka_unit_test(test_decode_and_profile),
	cmocka_unit_test(test_symbols),
};

int main(void)
{
	(void)setup;
	(void)teardown;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
