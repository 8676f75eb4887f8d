/* SPDX-License-Identifier: MIT */
/*
 * A recording, in the order of time: reader, order, symbols. What looks at samples is told each of them when
 * the symbols know what was mapped then, and no later.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RELEASE_EVERY (UINT64_C(16) << 20) /* bytes of the recording */

const char *replay_feature(const struct replay *replay, unsigned feature)
{
	struct perfev_reader_info info;
	struct perfev_bytes bytes;

	perfev_reader_describe(replay->reader, &info);
	if (!perfev_reader_feature(replay->reader, feature, &bytes))
		return NULL;
	return perfev_feature_string(bytes, info.swapped);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static void feed_build_ids(const struct replay *replay)
{
	struct perfev_reader_info info;
	struct perfev_build_id entry;
	struct perfev_bytes bytes;
	size_t position = 0;

	perfev_reader_describe(replay->reader, &info);
	if (!perfev_reader_feature(replay->reader, PERFEV_FEATURE_BUILD_ID, &bytes))
		return;
	while (perfev_feature_build_id(&entry, bytes, info.swapped, &position, NULL) > 0)
		perfev_symbols_build_id(replay->symbols, &entry, NULL);
}

/* Whether the recording is from another kernel or machine than this one, or does not say where from. */
static bool is_foreign(const struct replay *replay, const struct perfev_system *here)
{
	const char *release = replay_feature(replay, PERFEV_FEATURE_OSRELEASE);
	const char *arch = replay_feature(replay, PERFEV_FEATURE_ARCH);

	return !release || strcmp(release, here->release) || (arch && strcmp(arch, here->arch));
}

int replay_open(struct replay *replay, const struct replay_opts *how, struct perfev_error *err)
{
	struct perfev_reader_opts partial = {.size = sizeof(partial), .partial = 1, .tracing_inside = 1};
	struct perfev_reader_opts first = {.size = sizeof(first), .partial = how->partial, .tracing_inside = 1};
	struct perfev_reader_info info;
	int r = perfev_reader_open(&replay->reader, how->path, &first, err);

	if (r < 0)
		return r;
	perfev_reader_describe(replay->reader, &info);
	if (info.cut) { /* the recorder was killed: what it wrote is read, and it is said */
		note("%s was not finished: its recorder was killed; all that it wrote is read", how->path);
		if (!how->partial) {
			perfev_reader_close(replay->reader);
			replay->reader = NULL;
			r = perfev_reader_open(&replay->reader, how->path, &partial, err);
		}
		if (r < 0)
			return r;
	}
	replay->how = *how;
	r = perfev_order_new(&replay->order, NULL, err);
	return r == 0 ? perfev_deferred_new(&replay->deferred, NULL, err) : r;
}

static int file_check(const char *option, const char *path, int mode)
{
	return path && access(path, mode) < 0 ? file_failed(option, path, errno) : -1;
}

int names_check(const char *symfs, const char *kallsyms, const char *vmlinux)
{
	int r = file_check("use --symfs", symfs, X_OK);

	if (r < 0)
		r = file_check("use --kallsyms", kallsyms, R_OK);
	return r < 0 ? file_check("use --vmlinux", vmlinux, R_OK) : r;
}

/* perf's cache of files by build-id. */
static const char *cache_of_user(char *to, size_t size)
{
	const char *home = getenv("HOME");

	if (!home || home[0] != '/')
		return NULL;
	snprintf(to, size, "%s/.debug", home);
	return access(to, X_OK) == 0 ? to : NULL;
}

/* Whether its processes may still be there: it is of this machine, and was written after it was started. */
static bool may_live(const struct replay *replay, const struct perfev_system *here)
{
	const char *name = replay_feature(replay, PERFEV_FEATURE_HOSTNAME);
	struct timespec now, up;
	struct stat st;

	return name && !strcmp(name, here->hostname) && stat(replay->how.path, &st) == 0 && S_ISREG(st.st_mode) &&
	       clock_gettime(CLOCK_REALTIME, &now) == 0 && clock_gettime(CLOCK_BOOTTIME, &up) == 0 &&
	       st.st_mtime > now.tv_sec - up.tv_sec;
}

/* The symbols of the kernel that perf record --kcore puts beside the recording, in a folder. */
static const char *kernel_beside(const struct replay *replay, char *to, size_t size)
{
	struct perfev_reader_info info;

	perfev_reader_describe(replay->reader, &info);
	snprintf(to, size, "%s/kcore_dir/kallsyms", replay->how.path);
	return info.folder && access(to, R_OK) == 0 ? to : NULL;
}

static uint32_t arch_of(const struct replay *replay)
{
	const char *machine = replay_feature(replay, PERFEV_FEATURE_ARCH);

	return machine ? (uint32_t)perfev_arch_of(machine, NULL) : 0;
}

/* "FILE", or "PID:FILE" where the process has another number than it thinks. */
static int add_jitdump(struct perfev_symbols *symbols, const char *text, struct perfev_error *err)
{
	size_t digits = strspn(text, "0123456789");
	bool numbered = digits && digits < 10 && text[digits] == ':';

	return perfev_symbols_jitdump(symbols, numbered ? text + digits + 1 : text, numbered ? atoi(text) : -1, err);
}

static int add_jitdumps(struct replay *replay, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < replay->how.jitdumps.count; i++)
		r = add_jitdump(replay->symbols, replay->how.jitdumps.items[i], err);
	return r;
}

/* What a stream says of its machine comes before the first mapping: only then symbols can be looked for. */
int replay_symbols(struct replay *replay, struct perfev_error *err)
{
	char beside[4096], cache[4096];
	struct perfev_system here;
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .symfs = replay->how.symfs,
					   .kallsyms = replay->how.kallsyms, .vmlinux = replay->how.vmlinux,
					   .release = replay_feature(replay, PERFEV_FEATURE_OSRELEASE),
					   .coarse = replay->how.coarse, .no_inline = replay->how.no_inline,
					   .cache = cache_of_user(cache, sizeof(cache)),
					   .debuginfod = replay->how.debuginfod};
	int r;

	perfev_system_read(&here);
	opts.foreign = is_foreign(replay, &here);
	if (!opts.symfs && !opts.foreign && may_live(replay, &here))
		opts.proc = "/proc";
	if (!opts.kallsyms)
		opts.kallsyms = kernel_beside(replay, beside, sizeof(beside));
	r = perfev_symbols_new(&replay->symbols, &opts, err);
	if (r < 0)
		return r;
	feed_build_ids(replay);
	replay_feed_recorded(replay);
	r = add_jitdumps(replay, err);
	if (r < 0 || !replay->stacks_opts)
		return r;
	replay->stacks_opts->arch = arch_of(replay);
	return perfev_stacks_new(&replay->stacks, replay->symbols, replay->stacks_opts, err);
}

static bool says_of_machine(uint32_t type)
{
	return type == PERFEV_RECORD_HEADER_ATTR || type == PERFEV_RECORD_HEADER_EVENT_TYPE ||
	       type == PERFEV_RECORD_HEADER_TRACING_DATA || type == PERFEV_RECORD_HEADER_FEATURE ||
	       type == PERFEV_RECORD_EVENT_UPDATE;
}

void replay_close(struct replay *replay)
{
	perfev_order_free(replay->order);
	perfev_deferred_free(replay->deferred);
	perfev_unwinder_free(replay->unwinder);
	perfev_stacks_free(replay->stacks);
	perfev_symbols_free(replay->symbols);
	perfev_reader_close(replay->reader);
	memset(replay, 0, sizeof(*replay));
}

int replay_unwind(struct replay *replay, struct perfev_sample *sample, const struct perfev_layout *layout,
		  struct perfev_error *err)
{
	const struct perf_event_attr *attr = perfev_layout_attr(layout);
	struct perfev_unwinder_opts opts = {.size = sizeof(opts)};
	int r;

	if (!(sample->present & PERF_SAMPLE_STACK_USER) && !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		return 0;
	if (!replay->unwinder) {
		opts.arch = arch_of(replay);
		r = perfev_unwinder_new(&replay->unwinder, replay->symbols, &opts, err);
		if (r < 0)
			return r;
	}
	return perfev_unwind_sample(replay->unwinder, sample, layout, &replay->unwound, err);
}

/* ---- running ------------------------------------------------------------------------------------------- */

/* Samples that waited for the user part of their call chain. */
static int take_joined(struct replay *replay, struct perfev_error *err)
{
	const struct perfev_layout *layout;
	struct perfev_record record;
	int r = 0;

	while (r == 0 && perfev_deferred_next(replay->deferred, &record, &layout) > 0)
		r = replay->sample(replay->context, &record, layout, err);
	return r;
}

static int take(struct replay *replay, const struct perfev_record *record, struct perfev_error *err)
{
	const struct perfev_layout *layout = perfev_reader_layout(replay->reader, record);
	int as_it_is, r = 0;

	if (replay->count && record->type >= PERFEV_RECORD_THREAD_MAP && record->type <= PERFEV_RECORD_EVENT_UPDATE)
		return replay->count(replay->context, record);
	if (!replay->symbols && says_of_machine(record->type))
		return 0;
	if (!replay->symbols)
		r = replay_symbols(replay, err);
	if (r == 0 && replay->before && record->type < PERFEV_RECORD_USER_FIRST)
		r = replay->before(replay->context, record, layout, err);
	as_it_is = r < 0 ? r : perfev_deferred_feed(replay->deferred, record, layout, err);
	if (as_it_is < 0)
		return as_it_is;
	if (record->type != PERF_RECORD_SAMPLE || !as_it_is) /* one that does not wait makes none ready */
		r = take_joined(replay, err);
	if (r < 0 || !as_it_is)
		return r;
	if (record->type == PERF_RECORD_SAMPLE) {
		if (!replay->stacks)
			perfev_symbols_feed(replay->symbols, record, layout, NULL);
		return replay->sample(replay->context, record, layout, err);
	}
	if (record->type == PERF_RECORD_MMAP && (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		replay->kernel_mapped = true;
	if (replay->stacks)
		return perfev_stacks_push(replay->stacks, record, layout, 0, err);
	return perfev_symbols_feed(replay->symbols, record, layout, err);
}

static int take_ready(struct replay *replay, struct perfev_error *err)
{
	struct perfev_record record;
	int r = 0;

	while (r == 0 && perfev_order_next(replay->order, &record) > 0)
		r = take(replay, &record, err);
	return r;
}

/* What is given back must not be wanted any more: threads that make stacks look at records after they were read. */
static int release(struct replay *replay, uint64_t position, struct perfev_error *err)
{
	int r = 0;

	if (replay->stacks && position - replay->released < RELEASE_EVERY)
		return 0;
	if (replay->stacks)
		r = perfev_stacks_wait(replay->stacks, err);
	perfev_reader_release(replay->reader);
	replay->released = position;
	return r;
}

static int take_all(struct replay *replay, struct progress *progress, struct perfev_error *err)
{
	struct perfev_reader *reader = replay->reader;
	struct perfev_reader_info info;
	struct perfev_record record;
	int r;

	while ((r = perfev_reader_next(reader, &record, err)) > 0) {
		r = perfev_order_push(replay->order, &record, perfev_reader_layout(reader, &record), err);
		if (r == 0)
			r = take_ready(replay, err);
		if (r < 0)
			break;
		if (record.type == PERFEV_RECORD_FINISHED_ROUND) {
			perfev_reader_describe(reader, &info);
			r = release(replay, info.position, err);
			if (r < 0)
				break;
			progress_at(progress, info.position, info.size);
		}
	}
	return r;
}

/* Said once, with what helps: not for each of them. */
static void say_cut_stacks(struct replay *replay)
{
	struct perfev_unwinder_info *info = &replay->unwinding;

	if (replay->stacks)
		perfev_stacks_describe(replay->stacks, info);
	else if (replay->unwinder)
		perfev_unwinder_describe(replay->unwinder, info);
	if (info->ends[PERFEV_UNWOUND_STACK])
		note("%" PRIu64 " of %" PRIu64 " stacks go on beyond the bytes that were recorded of them; record more with "
		     "--call-graph dwarf,BYTES (up to 65528)",
		     info->ends[PERFEV_UNWOUND_STACK], info->stacks);
}

int replay_run(struct replay *replay, struct perfev_error *err)
{
	struct progress progress;
	int r;

	progress_begin(&progress, "reading");
	r = take_all(replay, &progress, err);
	if (r == 0)
		r = perfev_order_end(replay->order, err);
	if (r == 0)
		r = take_ready(replay, err);
	if (r == 0 && !replay->symbols)
		r = replay_symbols(replay, err);
	perfev_deferred_end(replay->deferred);
	if (r == 0)
		r = take_joined(replay, err);
	if (r == 0 && replay->stacks)
		r = perfev_stacks_wait(replay->stacks, err);
	progress_end(&progress);
	if (r == 0)
		say_cut_stacks(replay);
	return r;
}
