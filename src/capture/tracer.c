/* SPDX-License-Identifier: MIT */
/*
 * Tracers: a sampler whose rings have AUX areas.
 *
 * The kernel's offsets into an area run freely, and are reduced here only where bytes are taken. Between what was given
 * back (aux_tail) and what was written (aux_head) lies what a record may announce; anything else is damage. When an
 * area is full the kernel says so in the record (TRUNCATED) and turns the event off: it is enabled again once there
 * is room. The record can be seen before the event is off, and what is on then cannot be enabled: so it is tried again until
 * bytes come, for as long as that can be. An area that is mapped read only is written over; then only aux_head says where the newest byte is, and some
 * PMUs keep it below the size, so that whether it went around is seen by what lies behind it.
 */
#include "explain.h"
#include "position.h"
#include "sampler.h"

#include "base/error.h"
#include "base/load.h"
#include "base/opts.h"
#include "kernel/sys.h"

#include <perfev/tracer.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_AUX (4 * 1024 * 1024)
#define RESTART_MS  200 /* ticks of the kernel, the slowest and some more */
#define RETRY_MS    5

/* The area beside one ring. */
struct area {
	struct perf_event_mmap_page *page;
	const unsigned char *data; /* NULL: the event that traces is not in this ring */
	int fd;
	uint64_t tail;	/* up to here bytes were handed out */
	uint64_t given; /* up to here the kernel has them back */
	bool begun;	/* tail means something */
	bool full;	/* its event has stopped */
	int64_t restarting; /* until when it is enabled again and again, in ms; 0: it goes on */
	int64_t enabled;    /* when it was last */
};

struct perfev_tracer {
	struct perfev_sampler *sampler;
	struct area *areas; /* one a ring */
	uint64_t aux_bytes, chunk_bytes;
	bool snapshot, started, stopped;
	struct perfev_trace_info info;
	struct perfev_record rest; /* the record whose chunks are not all handed out */
	uint64_t rest_at, rest_end;
	unsigned char made[128]; /* the record of a snapshot */
};

/* ---- opening --------------------------------------------------------------------------------------------- */

static void unmap_areas(struct perfev_tracer *tracer)
{
	uint32_t i;

	for (i = 0; tracer->areas && i < tracer->sampler->ring_count; i++)
		if (tracer->areas[i].data && ring_is_here(&tracer->sampler->rings[i]))
			sys_munmap((void *)(uintptr_t)tracer->areas[i].data, (size_t)tracer->aux_bytes);
	free(tracer->areas);
	tracer->areas = NULL;
}

static void close_sampler(struct perfev_tracer *tracer)
{
	if (!tracer->sampler)
		return;
	unmap_areas(tracer);
	perfev_sampler_close(tracer->sampler);
	tracer->sampler = NULL;
}

static int refuse_area(const struct perfev_tracer *tracer, size_t row, int code, struct perfev_error *err)
{
	const struct members *m = &tracer->sampler->members;
	const struct plan_row *plan = &m->plan.rows[row];
	const struct member *member = &m->items[plan->event];
	struct explain_open facts = {.event = member->name,
				     .attr = &member->attr,
				     .pid = plan->pid,
				     .cpu = plan->cpu,
				     .group_fd = -1,
				     .ring_bytes = tracer->aux_bytes};

	if (code == -EOPNOTSUPP)
		return error_set(err, code, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot trace %.100s: its PMU writes no trace, as it has no AUX area; perfev doctor "
				 "lists those that have",
				 member->name);
	if (code == -EINVAL)
		return error_set(err, code, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot trace %.100s: the kernel refuses an area of %llu KiB; ask for another power of two",
				 member->name, (unsigned long long)(tracer->aux_bytes / 1024));
	return explain_open(code, &facts, err);
}

static int map_area(struct perfev_tracer *tracer, size_t row, struct perfev_error *err)
{
	const struct members *m = &tracer->sampler->members;
	uint32_t number = m->plan.rows[row].ring;
	struct ring *ring = &tracer->sampler->rings[number];
	struct area *area = &tracer->areas[number];
	void *at;
	int r;

	ring->page->aux_offset = ring->mapped;
	ring->page->aux_size = tracer->aux_bytes;
	r = sys_mmap(&at, (size_t)tracer->aux_bytes, !tracer->snapshot, m->fds[row], ring->page->aux_offset);
	if (r < 0)
		return refuse_area(tracer, row, r, err);
	area->page = ring->page;
	area->data = at;
	area->fd = m->fds[row];
	area->tail = area->given = load_position(&ring->page->aux_tail);
	return 0;
}

/* The first event has the rings, as the others were sent to them. */
static int map_areas(struct perfev_tracer *tracer, struct perfev_error *err)
{
	const struct members *m = &tracer->sampler->members;
	size_t row;
	int r = 0;

	tracer->areas = calloc(tracer->sampler->ring_count + 1, sizeof(*tracer->areas));
	if (!tracer->areas)
		return error_memory(err);
	for (row = 0; r == 0 && row < m->plan.count; row++)
		if (m->plan.rows[row].event == 0 && m->fds[row] >= 0)
			r = map_area(tracer, row, err);
	return r;
}

static int open_sampler(struct perfev_tracer *tracer, const struct perfev_event *const *events, size_t count,
			struct perfev_target on, const struct perfev_tracer_opts *opts, struct perfev_error *err)
{
	struct perfev_sampler_opts how = {.size = sizeof(how),
					  .ring_bytes = opts->ring_bytes,
					  .may_drop = opts->may_drop,
					  .leaders = opts->leaders};
	const struct perfev_event **list = malloc(count * sizeof(*list));
	struct perfev_event *first = NULL;
	int r = list ? perfev_event_copy(&first, events[0], err) : error_memory(err);

	if (r == 0) {
		uint64_t mark = tracer->aux_bytes / 4;

		memcpy(list, events, count * sizeof(*list));
		list[0] = first;
		if (!first->attr.aux_watermark)
			first->attr.aux_watermark = mark > UINT32_MAX ? UINT32_MAX : (uint32_t)mark;
		first->attr.disabled = 1;
		r = perfev_sampler_open(&tracer->sampler, list, count, on, &how, err);
	}
	perfev_event_free(first);
	free(list);
	return r;
}

/* Opened again for each size, because the event was told when to wake up. */
static int open_areas(struct perfev_tracer *tracer, const struct perfev_event *const *events, size_t count,
		      struct perfev_target on, const struct perfev_tracer_opts *opts, struct perfev_error *err)
{
	for (;; tracer->aux_bytes /= 2) {
		int r = open_sampler(tracer, events, count, on, opts, err);

		if (r == 0)
			r = map_areas(tracer, err);
		if (r == 0)
			return 0;
		close_sampler(tracer);
		if (!(opts->may_drop & PERFEV_DROP_RING) || (r != -EPERM && r != -ENOMEM) ||
		    tracer->aux_bytes <= sys_page_size())
			return r;
	}
}

static uint64_t round_area(uint64_t bytes)
{
	uint64_t size = sys_page_size();

	if (!bytes)
		bytes = DEFAULT_AUX;
	while (size < bytes && size < UINT64_C(1) << 62)
		size *= 2;
	return size;
}

int perfev_tracer_open(struct perfev_tracer **ret, const struct perfev_event *const *events, size_t count,
		       struct perfev_target on, const struct perfev_tracer_opts *opts, struct perfev_error *err)
{
	struct perfev_tracer_opts full;
	struct perfev_tracer *tracer;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	if (!count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot trace an empty list of events; name at least one");
	tracer = calloc(1, sizeof(*tracer));
	if (!tracer)
		return error_memory(err);
	tracer->aux_bytes = round_area(full.aux_bytes);
	tracer->chunk_bytes = full.chunk_bytes;
	tracer->snapshot = full.snapshot;
	if (tracer->aux_bytes > SIZE_MAX / 4)
		r = error_set(err, -ENOMEM, PERFEV_WHY_MEMORY, ERROR_NOWHERE,
			      "cannot trace into %llu KiB: no program has so much memory; ask for less",
			      (unsigned long long)(tracer->aux_bytes / 1024));
	if (r == 0)
		r = open_areas(tracer, events, count, on, &full, err);
	if (r < 0) {
		free(tracer);
		return r;
	}
	*ret = tracer;
	return 0;
}

void perfev_tracer_close(struct perfev_tracer *tracer)
{
	if (!tracer)
		return;
	close_sampler(tracer);
	free(tracer);
}

/* ---- what is the sampler's --------------------------------------------------------------------------------- */

int perfev_tracer_start(struct perfev_tracer *tracer, struct perfev_error *err)
{
	int r = perfev_sampler_start(tracer->sampler, err);

	tracer->started = r == 0;
	tracer->stopped = false;
	return r;
}

int perfev_tracer_stop(struct perfev_tracer *tracer, struct perfev_error *err)
{
	tracer->started = false;
	tracer->stopped = true;
	return perfev_sampler_stop(tracer->sampler, err);
}

static void enable(struct area *area, int64_t now)
{
	sys_ioctl(area->fd, PERF_EVENT_IOC_ENABLE, 0);
	area->enabled = now;
}

/* Events that may have been turned off after they were turned on. Return: whether there are some. */
static bool restart_again(struct perfev_tracer *tracer)
{
	bool some = false;
	int64_t now;
	uint32_t i;

	for (i = 0; i < tracer->sampler->ring_count; i++) {
		struct area *area = &tracer->areas[i];

		if (!area->restarting)
			continue;
		now = sys_now_ms();
		if (tracer->stopped || now >= area->restarting || load_position(&area->page->aux_head) != area->tail) {
			area->restarting = 0;
			continue;
		}
		if (now - area->enabled >= RETRY_MS)
			enable(area, now);
		some = true;
	}
	return some;
}

int perfev_tracer_wait(struct perfev_tracer *tracer, int timeout_ms, struct perfev_error *err)
{
	int64_t end = timeout_ms > 0 ? sys_now_ms() + timeout_ms : 0, left = timeout_ms;
	int r = 0;

	if (tracer->rest.data)
		return 1;
	while (r == 0 && restart_again(tracer) && (timeout_ms < 0 || left > RETRY_MS)) {
		r = perfev_sampler_wait(tracer->sampler, RETRY_MS, err);
		if (r == 0 && perfev_sampler_ended(tracer->sampler))
			return 0;
		left = end - sys_now_ms();
	}
	if (timeout_ms > 0)
		timeout_ms = left > 0 ? (int)left : 0;
	return r ? r : perfev_sampler_wait(tracer->sampler, timeout_ms, err);
}

int perfev_tracer_fd(const struct perfev_tracer *tracer)
{
	return perfev_sampler_fd(tracer->sampler);
}

bool perfev_tracer_ended(const struct perfev_tracer *tracer)
{
	return !tracer->rest.data && perfev_sampler_ended(tracer->sampler);
}

const struct perfev_layout *perfev_tracer_layout(const struct perfev_tracer *tracer,
						 const struct perfev_record *record)
{
	return perfev_sampler_layout(tracer->sampler, record);
}

void perfev_tracer_describe(const struct perfev_tracer *tracer, struct perfev_trace_info *ret)
{
	*ret = tracer->info;
}

uint64_t perfev_tracer_aux_bytes(const struct perfev_tracer *tracer)
{
	return tracer->aux_bytes;
}

struct perfev_sampler *perfev_tracer_sampler(struct perfev_tracer *tracer)
{
	return tracer->sampler;
}

/* ---- records and their bytes -------------------------------------------------------------------------------- */

static void put_parts(const struct perfev_tracer *tracer, const struct area *area, uint64_t at, uint64_t size,
		      struct perfev_chunk *ret)
{
	uint64_t place = at & (tracer->aux_bytes - 1), behind = tracer->aux_bytes - place;
	uint64_t first = size < behind ? size : behind;

	ret->part[0].data = size ? area->data + place : NULL;
	ret->part[0].size = (size_t)first;
	ret->part[1].data = size > first ? area->data : NULL;
	ret->part[1].size = (size_t)(size - first);
}

/* The next piece of what a record announces. */
static int give_piece(struct perfev_tracer *tracer, struct perfev_chunk *ret)
{
	const struct area *area = &tracer->areas[tracer->rest.source];
	uint64_t size = tracer->rest_end - tracer->rest_at;

	if (tracer->chunk_bytes && size > tracer->chunk_bytes)
		size = tracer->chunk_bytes;
	ret->record = tracer->rest;
	put_parts(tracer, area, tracer->rest_at, size, ret);
	tracer->rest_at += size;
	if (tracer->rest_at == tracer->rest_end)
		tracer->rest.data = NULL;
	return 1;
}

static void note_flags(struct perfev_trace_info *info, struct area *area, uint64_t flags)
{
	info->records++;
	info->truncated += !!(flags & PERF_AUX_FLAG_TRUNCATED);
	info->partial += !!(flags & PERF_AUX_FLAG_PARTIAL);
	info->collisions += !!(flags & PERF_AUX_FLAG_COLLISION);
	area->full |= flags & PERF_AUX_FLAG_TRUNCATED;
}

static int refuse_announced(const struct perfev_record *record, uint64_t offset, uint64_t size, struct perfev_error *err)
{
	return error_set(err, -EBADMSG, PERFEV_WHY_CORRUPT, record->offset,
			 "cannot read a trace: its record announces %llu bytes at %llu, which are not there; they are "
			 "passed over",
			 (unsigned long long)size, (unsigned long long)offset);
}

static int announce(struct perfev_tracer *tracer, struct perfev_chunk *ret, struct perfev_error *err)
{
	struct area *area = &tracer->areas[ret->record.source];
	const unsigned char *at = (const unsigned char *)ret->record.data + 8;
	uint64_t offset, size;

	if (!area->data || ret->record.size < 32)
		return 1;
	offset = load_u64(at, false);
	size = load_u64(at + 8, false);
	note_flags(&tracer->info, area, load_u64(at + 16, false));
	if (tracer->snapshot || !size)
		return 1;
	if (size > tracer->aux_bytes || offset - area->tail > tracer->aux_bytes - size ||
	    offset + size - area->tail > load_position(&area->page->aux_head) - area->tail)
		return refuse_announced(&ret->record, offset, size, err);
	if (area->begun && offset != area->tail) {
		tracer->info.gaps++;
		tracer->info.gap_bytes += offset - area->tail;
	}
	area->begun = true;
	area->tail = offset + size;
	tracer->info.bytes += size;
	tracer->rest = ret->record;
	tracer->rest_at = offset;
	tracer->rest_end = offset + size;
	return give_piece(tracer, ret);
}

int perfev_tracer_next(struct perfev_tracer *tracer, struct perfev_chunk *ret, struct perfev_error *err)
{
	int r;

	if (tracer->rest.data)
		return give_piece(tracer, ret);
	memset(ret->part, 0, sizeof(ret->part));
	r = perfev_sampler_next(tracer->sampler, &ret->record, err);
	return r > 0 && ret->record.type == PERF_RECORD_AUX ? announce(tracer, ret, err) : r;
}

void perfev_tracer_release(struct perfev_tracer *tracer)
{
	uint32_t i;

	tracer->rest.data = NULL;
	perfev_sampler_release(tracer->sampler);
	for (i = 0; i < tracer->sampler->ring_count && !tracer->snapshot; i++) {
		struct area *area = &tracer->areas[i];

		if (!area->data)
			continue;
		if (area->given != area->tail)
			store_position(&area->page->aux_tail, area->tail);
		area->given = area->tail;
		if (area->full && !tracer->stopped) { /* an exec may have started it */
			int64_t now = sys_now_ms();

			enable(area, now);
			area->restarting = now + RESTART_MS;
		}
		area->full = false;
	}
}

/* ---- snapshots ------------------------------------------------------------------------------------------------ */

/* Whether bytes were written behind the head that is kept below the size: then the area went around. */
static bool went_around(const struct area *area, uint64_t head, uint64_t size)
{
	uint64_t i;

	for (i = head; i < size; i++)
		if (area->data[i])
			return true;
	return false;
}

int perfev_tracer_snapshot(struct perfev_tracer *tracer, uint32_t ring, struct perfev_chunk *ret,
			   struct perfev_error *err)
{
	struct perfev_any any = {.type = PERF_RECORD_AUX};
	struct perfev_bytes bytes = {tracer->made, 0};
	const struct area *area;
	uint64_t head, size;
	int r;

	if (!tracer->snapshot || tracer->started || ring >= tracer->sampler->ring_count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot take a snapshot of area %u: %s", ring,
				 !tracer->snapshot  ? "this tracer gives everything; set opts.snapshot"
				 : tracer->started ? "its tracer is running; stop it first"
						    : "there is none of that number");
	area = &tracer->areas[ring];
	head = area->data ? load_position(&area->page->aux_head) : 0;
	size = head < tracer->aux_bytes ? head : tracer->aux_bytes;
	if (head < tracer->aux_bytes && area->data && went_around(area, head, tracer->aux_bytes)) {
		size = tracer->aux_bytes;
		head += tracer->aux_bytes;
	}
	if (!size)
		return 0;
	any.as.aux.aux_offset = head - size;
	any.as.aux.aux_size = size;
	any.as.aux.flags = PERF_AUX_FLAG_OVERWRITE;
	r = perfev_record_encode(tracer->made, sizeof(tracer->made), &any, 0, NULL, 0, err);
	if (r < 0)
		return r;
	bytes.size = (size_t)r;
	r = perfev_record_from_bytes(&ret->record, bytes, 0, err);
	if (r < 0)
		return r;
	ret->record.source = ring;
	put_parts(tracer, area, head - size, size, ret);
	return 1;
}
