/* SPDX-License-Identifier: MIT */
/*
 * Samplers: events opened by plan, their rings mapped, their records handed out.
 *
 * Each ring belongs to the first descriptor of its CPU (or thread); the others are redirected into it.
 * The epoll set holds one descriptor of each ring. When that one hangs up because its task has ended,
 * the next one of the ring that lives takes its place; a ring whose last has hung up is over, after what
 * is in it was handed out: a hang-up comes with data unread.
 */
#include "sampler.h"
#include "explain.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/load.h"
#include "base/opts.h"
#include "decode/sample.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_RING (512 * 1024)

/* ---- opening --------------------------------------------------------------------------------------- */

static int refuse_tools(const struct perfev_event *const *events, size_t count, struct perfev_error *err)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (events[i]->tool)
			return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot sample %.100s: it is a time that perfev stat takes, and no "
					 "event; sample cpu-clock or task-clock",
					 events[i]->name);
	return 0;
}

static uint64_t round_ring(uint64_t bytes)
{
	uint64_t size = sys_page_size();

	if (bytes == 0)
		bytes = DEFAULT_RING;
	while (size < bytes && size < UINT64_C(1) << 62)
		size *= 2;
	return size;
}

static void unmap_rings(struct perfev_sampler *sampler)
{
	uint32_t i;

	for (i = 0; i < sampler->ring_count; i++)
		ring_unmap(&sampler->rings[i]);
}

static const char *row_name(const struct members *members, size_t row)
{
	return members->items[members->plan.rows[row].event].name;
}

static int explain_map(const struct perfev_sampler *sampler, size_t row, int code, uint64_t bytes,
		       struct perfev_error *err)
{
	const struct plan_row *plan = &sampler->members.plan.rows[row];
	const struct member *member = &sampler->members.items[plan->event];
	struct explain_open facts = {.event = member->name,
				     .attr = &member->attr,
				     .pid = plan->pid,
				     .cpu = plan->cpu,
				     .group_fd = -1,
				     .cgroup = sampler->members.plan.cgroup,
				     .ring_bytes = bytes};

	return explain_open(code, &facts, err);
}

/* Maps the ring of a row, or sends its records to the ring that another row has mapped. */
static int map_row(struct perfev_sampler *sampler, size_t row, uint64_t bytes, struct perfev_error *err)
{
	const struct members *m = &sampler->members;
	uint32_t number = m->plan.rows[row].ring;
	int owner = sampler->polled[number], r;

	if (owner < 0) {
		sampler->polled[number] = (int)row;
		r = ring_map(&sampler->rings[number], m->fds[row], bytes, number, sampler->backward);
		return r < 0 ? explain_map(sampler, row, r, bytes, err) : 0;
	}
	r = sys_ioctl(m->fds[row], PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)(long)m->fds[owner]);
	if (r >= 0)
		return 0;
	error_set(err, r, PERFEV_WHY_COMBINATION, ERROR_NOWHERE,
		  "cannot put %.64s into the ring of %.64s: the kernel refuses it (%s), as it does when "
		  "their clocks or write_backward differ; sample them apart",
		  row_name(m, row), row_name(m, (size_t)owner), strerror(-r));
	return -EINVAL; /* not for want of memory: no smaller ring helps */
}

static int map_rings(struct perfev_sampler *sampler, uint64_t bytes, struct perfev_error *err)
{
	const struct members *m = &sampler->members;
	size_t row;

	free(sampler->rings);
	free(sampler->polled);
	sampler->ring_count = m->plan.ring_count;
	sampler->ring_bytes = bytes;
	sampler->rings = calloc(sampler->ring_count + UINT64_C(1), sizeof(*sampler->rings));
	sampler->polled = calloc(sampler->ring_count + UINT64_C(1), sizeof(*sampler->polled));
	if (!sampler->rings || !sampler->polled) {
		sampler->ring_count = 0;
		return error_memory(err);
	}
	for (row = 0; row < sampler->ring_count; row++)
		sampler->polled[row] = -1;
	for (row = 0; row < m->plan.count; row++) {
		int r = m->fds[row] < 0 ? 0 : map_row(sampler, row, bytes, err);

		if (r < 0) {
			unmap_rings(sampler);
			return r;
		}
	}
	return 0;
}

/* All rings have one size. A size that the locked-memory budget refuses is halved, if that is allowed; the
 * events are opened again then, because they were told when to wake up. */
static int open_rings(struct perfev_sampler *sampler, const struct perfev_event *const *events,
		      struct perfev_target on, const struct perfev_sampler_opts *opts,
		      struct perfev_error *err)
{
	struct members_opts how = {opts->may_drop, opts->partial, true, opts->apart, false};
	uint64_t first = round_ring(opts->ring_bytes), bytes;
	int r = 0, told;

	for (bytes = first;; bytes /= 2) {
		told = sampler_attrs_mark(sampler, events, bytes, bytes == first ? err : NULL);
		if (told < 0)
			return bytes == first ? told : r; /* why it had to be that small */
		r = members_open(&sampler->members, on, &how, err);
		if (r < 0)
			return r;
		r = map_rings(sampler, bytes, err);
		if (r >= 0 || !(opts->may_drop & PERFEV_DROP_RING) || (r != -EPERM && r != -ENOMEM) ||
		    bytes <= sys_page_size())
			return r;
	}
}

static int make_layouts(struct perfev_sampler *sampler, struct perfev_error *err)
{
	size_t i;

	sampler->layouts = calloc(sampler->members.count, sizeof(*sampler->layouts));
	if (!sampler->layouts)
		return error_memory(err);
	for (i = 0; i < sampler->members.count; i++) {
		int r = perfev_layout_new(&sampler->layouts[i], &sampler->members.items[i].attr, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static void put_id(struct perfev_sampler *sampler, uint64_t id, uint32_t row)
{
	size_t at = (size_t)hash_u64(id) & sampler->id_mask;

	while (sampler->ids[at].id)
		at = (at + 1) & sampler->id_mask;
	sampler->ids[at].id = id;
	sampler->ids[at].row = row;
}

static int read_ids(struct perfev_sampler *sampler, struct perfev_error *err)
{
	const struct members *m = &sampler->members;
	size_t size = 16, row;

	while (size < m->plan.count * 2)
		size *= 2;
	sampler->ids = calloc(size, sizeof(*sampler->ids));
	sampler->row_ids = calloc(m->plan.count + 1, sizeof(*sampler->row_ids));
	if (!sampler->ids || !sampler->row_ids)
		return error_memory(err);
	sampler->id_mask = size - 1;
	for (row = 0; row < m->plan.count; row++) {
		uint64_t id = 0;
		int r;

		if (m->fds[row] < 0)
			continue;
		r = sys_ioctl(m->fds[row], PERF_EVENT_IOC_ID, (unsigned long)(uintptr_t)&id);
		if (r < 0)
			return error_errno(err, r, "cannot read the id of %s", row_name(m, row));
		sampler->row_ids[row] = id;
		if (id)
			put_id(sampler, id, (uint32_t)row);
	}
	return 0;
}

/* So that ids are listed in a time that grows with their number, and not with its square. */
static int list_rows(struct perfev_sampler *sampler, struct perfev_error *err)
{
	const struct members *m = &sampler->members;
	size_t event, row, n = 0;

	sampler->open_rows = calloc(m->plan.count + 1, sizeof(*sampler->open_rows));
	sampler->first_rows = calloc(m->count + 1, sizeof(*sampler->first_rows));
	if (!sampler->open_rows || !sampler->first_rows)
		return error_memory(err);
	for (event = 0; event < m->count; event++) {
		sampler->first_rows[event] = n;
		for (row = 0; row < m->plan.count; row++)
			if (m->plan.rows[row].event == event && m->fds[row] >= 0)
				sampler->open_rows[n++] = (uint32_t)row;
	}
	sampler->first_rows[event] = n;
	return 0;
}

static int start_polling(struct perfev_sampler *sampler, struct perfev_error *err)
{
	uint32_t i;

	sampler->epoll_fd = sys_epoll_create();
	if (sampler->epoll_fd < 0)
		return error_errno(err, sampler->epoll_fd, "cannot make an epoll set");
	for (i = 0; i < sampler->ring_count; i++) {
		int r;

		if (sampler->polled[i] < 0)
			continue;
		r = sys_epoll_add(sampler->epoll_fd, sampler->members.fds[sampler->polled[i]], i);
		if (r < 0)
			return error_errno(err, r, "cannot poll ring %u", i);
		sampler->live++;
	}
	return 0;
}

static int build(struct perfev_sampler *sampler, const struct perfev_event *const *events,
		 size_t count, struct perfev_target on, const struct perfev_sampler_opts *opts,
		 struct perfev_error *err)
{
	int r = refuse_tools(events, count, err);

	if (r == 0)
		r = members_init(&sampler->members, events, opts->leaders, count, err);
	if (r < 0)
		return r;
	sampler->backward = opts->overwrite;
	sampler->apart = opts->apart;
	r = sampler_attrs_prepare(sampler, err);
	if (r == 0)
		r = open_rings(sampler, events, on, opts, err);
	if (r == 0)
		r = make_layouts(sampler, err);
	if (r == 0)
		r = read_ids(sampler, err);
	if (r == 0)
		r = list_rows(sampler, err);
	if (r == 0)
		r = start_polling(sampler, err);
	return r;
}

int perfev_sampler_open(struct perfev_sampler **ret, const struct perfev_event *const *events,
			size_t count, struct perfev_target on,
			const struct perfev_sampler_opts *opts, struct perfev_error *err)
{
	struct perfev_sampler_opts full;
	struct perfev_sampler *sampler;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return error_memory(err);
	sampler->epoll_fd = -1;
	r = build(sampler, events, count, on, &full, err);
	if (r < 0) {
		perfev_sampler_close(sampler);
		return r;
	}
	*ret = sampler;
	return 0;
}

void perfev_sampler_close(struct perfev_sampler *sampler)
{
	size_t i;

	if (!sampler)
		return;
	if (sampler->rings)
		unmap_rings(sampler);
	for (i = 0; sampler->layouts && i < sampler->members.count; i++)
		perfev_layout_free(sampler->layouts[i]);
	sys_close(sampler->epoll_fd);
	members_close(&sampler->members);
	free(sampler->layouts);
	free(sampler->rings);
	free(sampler->polled);
	free(sampler->ids);
	free(sampler->row_ids);
	free(sampler->open_rows);
	free(sampler->first_rows);
	free(sampler);
}

/* A pinned event that did not fit hangs up like one whose task has ended, but starting it may bring it back. */
static void poll_again(struct perfev_sampler *sampler)
{
	const struct members *m = &sampler->members;
	size_t row;

	for (row = 0; row < m->plan.count; row++) {
		struct ring *ring = &sampler->rings[m->plan.rows[row].ring];

		if (!ring->given_up || m->fds[row] < 0 || sys_epoll_add(sampler->epoll_fd, m->fds[row], ring->number) < 0)
			continue;
		ring->given_up = false;
		sampler->polled[ring->number] = (int)row;
		sampler->live++;
	}
}

int perfev_sampler_start(struct perfev_sampler *sampler, struct perfev_error *err)
{
	int r = members_control(&sampler->members, PERF_EVENT_IOC_ENABLE, "start", err);

	poll_again(sampler);
	return r;
}

int perfev_sampler_stop(struct perfev_sampler *sampler, struct perfev_error *err)
{
	return members_control(&sampler->members, PERF_EVENT_IOC_DISABLE, "stop", err);
}

/* ---- waiting ------------------------------------------------------------------------------------------ */

static bool any_data(const struct perfev_sampler *sampler)
{
	uint32_t i;

	for (i = 0; i < sampler->ring_count; i++)
		if (ring_has_data(&sampler->rings[i]))
			return true;
	return false;
}

/* The descriptor of a ring has hung up: poll the next one, or give the ring up. */
static void poll_next_one(struct perfev_sampler *sampler, uint32_t number)
{
	const struct members *m = &sampler->members;
	size_t row = (size_t)sampler->polled[number];

	sys_epoll_remove(sampler->epoll_fd, m->fds[row]);
	for (row++; row < m->plan.count; row++) {
		if (m->plan.rows[row].ring != number || m->fds[row] < 0)
			continue;
		if (sys_epoll_add(sampler->epoll_fd, m->fds[row], number) == 0) {
			sampler->polled[number] = (int)row;
			return;
		}
	}
	sampler->rings[number].given_up = true;
	sampler->live--;
}

static int sleep_once(struct perfev_sampler *sampler, int timeout_ms, struct perfev_error *err)
{
	struct sys_ready ready[64];
	int n = sys_epoll_wait(sampler->epoll_fd, ready, 64, timeout_ms), i;

	if (n < 0)
		return error_errno(err, n, "cannot wait for records");
	for (i = 0; i < n; i++)
		if (ready[i].hang_up || ready[i].error)
			poll_next_one(sampler, (uint32_t)ready[i].number);
	return n;
}

int perfev_sampler_wait(struct perfev_sampler *sampler, int timeout_ms, struct perfev_error *err)
{
	int64_t end = timeout_ms > 0 ? sys_now_ms() + timeout_ms : 0;
	int left = timeout_ms;

	for (;;) {
		int n;

		if (any_data(sampler))
			return 1;
		if (sampler->live == 0)
			return 0;
		n = sleep_once(sampler, left, err);
		if (n < 0)
			return n;
		if (any_data(sampler))
			return 1;
		if (timeout_ms > 0)
			left = end > sys_now_ms() ? (int)(end - sys_now_ms()) : 0;
		if (timeout_ms >= 0 && (n == 0 || left == 0))
			return 0;
	}
}

bool perfev_sampler_ended(const struct perfev_sampler *sampler)
{
	return sampler->live == 0 && !any_data(sampler);
}

int perfev_sampler_fd(const struct perfev_sampler *sampler)
{
	return sampler->epoll_fd;
}

/* ---- pausing -------------------------------------------------------------------------------------------- */

static int pause_rings(struct perfev_sampler *sampler, unsigned long on, struct perfev_error *err)
{
	uint32_t i;

	for (i = 0; i < sampler->ring_count; i++) {
		int r;

		if (sampler->polled[i] < 0 || !sampler->rings[i].page)
			continue;
		r = sys_ioctl(sampler->members.fds[sampler->polled[i]], PERF_EVENT_IOC_PAUSE_OUTPUT, on);
		if (r < 0)
			return error_errno(err, r, "cannot %s ring %u", on ? "pause" : "resume", i);
	}
	sampler->paused = on;
	sampler->current = 0;
	sampler->in_ring = false;
	return 0;
}

int perfev_sampler_pause(struct perfev_sampler *sampler, struct perfev_error *err)
{
	return pause_rings(sampler, 1, err);
}

int perfev_sampler_resume(struct perfev_sampler *sampler, struct perfev_error *err)
{
	return pause_rings(sampler, 0, err);
}

/* ---- records -------------------------------------------------------------------------------------------- */

int perfev_sampler_next(struct perfev_sampler *sampler, struct perfev_record *ret,
			struct perfev_error *err)
{
	if (sampler->backward && !sampler->paused)
		return error_set(err, -EBUSY, PERFEV_WHY_BUSY, ERROR_NOWHERE,
				 "cannot read rings that are written over meanwhile; pause the sampler first");
	while (sampler->current < sampler->ring_count) {
		struct ring *ring = &sampler->rings[sampler->current];
		int r;

		if (!sampler->in_ring) {
			sampler->in_ring = ring_begin(ring);
			if (!sampler->in_ring) {
				sampler->current++;
				continue;
			}
		}
		r = ring_next(ring, ret);
		if (r > 0)
			return 1;
		sampler->in_ring = false;
		sampler->current++;
		if (r < 0)
			return error_set(err, r, PERFEV_WHY_CORRUPT, ring->tail,
					 "cannot read ring %u: it holds what is no record; what was in it is "
					 "lost, and reading goes on behind it",
					 ring->number);
	}
	sampler->current = 0;
	return 0;
}

void perfev_sampler_release(struct perfev_sampler *sampler)
{
	uint32_t i;

	for (i = 0; i < sampler->ring_count; i++)
		if (sampler->rings[i].page)
			ring_release(&sampler->rings[i]);
}

/* The id that says whose record it is: first in a sample, last in another. */
static uint64_t record_id(const struct perfev_record *record)
{
	const unsigned char *data = record->data;

	if (record->size < 16)
		return 0;
	return load_u64(record->type == PERF_RECORD_SAMPLE ? data + 8 : data + record->size - 8, false);
}

static int row_of(const struct perfev_sampler *sampler, uint64_t id)
{
	size_t at = (size_t)hash_u64(id) & sampler->id_mask;

	for (; id && sampler->ids[at].id; at = (at + 1) & sampler->id_mask)
		if (sampler->ids[at].id == id)
			return (int)sampler->ids[at].row;
	return -1;
}

int perfev_sampler_event(const struct perfev_sampler *sampler, const struct perfev_record *record)
{
	int row;

	if (sampler->members.count == 1)
		return 0;
	row = row_of(sampler, record_id(record));
	return row < 0 ? -1 : (int)sampler->members.plan.rows[row].event;
}

const struct perfev_layout *perfev_sampler_layout(const struct perfev_sampler *sampler,
						  const struct perfev_record *record)
{
	int event = perfev_sampler_event(sampler, record);

	return event < 0 ? NULL : sampler->layouts[event];
}

size_t perfev_sampler_ring_count(const struct perfev_sampler *sampler)
{
	return sampler->ring_count;
}

uint64_t perfev_sampler_ring_bytes(const struct perfev_sampler *sampler)
{
	return sampler->ring_bytes;
}
