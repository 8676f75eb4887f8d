/* SPDX-License-Identifier: MIT */
/* The kernel for tests. Descriptors: events from 1000 on, files (files.c) from 100000 on, one epoll set. */
#include "kernel.h"
#include "files.h"

#include "base/plug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_FD  1000
#define EPOLL_FD  99999
#define COPY_FD	  200000 /* of descriptors that are nothing here: cgroups */
#define POLLS_MAX 4096

const bool sys_is_real = false;

/* Memory is the process's own, and none of it is known here. */
size_t plug_vdso32(unsigned char *to, size_t size)
{
	(void)to;
	(void)size;
	return 0;
}

bool plug_readable(const void *at)
{
	(void)at;
	return false;
}

struct fake fake;

static struct {
	int fd;
	uint64_t number;
} polls[POLLS_MAX];
static int poll_count;

/* ---- the script -------------------------------------------------------------------------------------- */

void fake_reset(void)
{
	int i;

	for (i = 0; i < fake.event_count; i++) {
		free(fake.events[i].page);
		if (fake.events[i].aux_mapped)
			free(fake.events[i].ring.aux);
	}
	files_forget();
	memset(&fake, 0, sizeof(fake));
	poll_count = 0;
	fake.uid = 1000;
	fake.pid = 500;
	fake.files_soft = 1024;
	fake.files_hard = 4096;
	fake.memlock_soft = fake.memlock_hard = 65536;
}

int fake_left(void)
{
	return fake.opened - fake.closed + fake.maps - fake.unmaps;
}

struct fake_event *fake_event_of(int fd)
{
	int index = fd - EVENT_FD;

	return index >= 0 && index < fake.event_count && fake.events[index].open ? fake.events + index : NULL;
}

static struct fake_event *ring_owner(struct fake_event *event)
{
	while (event && event->output >= 0)
		event = fake_event_of(event->output);
	return event && event->page ? event : NULL;
}

/* The words behind a record of this event; returns their number. */
static size_t make_trailer(const struct fake_event *event, uint64_t words[6])
{
	const uint64_t type = event->attr.sample_type;
	uint64_t now_ns = (uint64_t)fake.now_ms * 1000000;
	uint32_t halves[2] = {(uint32_t)fake.pid, (uint32_t)sys_tid()};
	size_t n = 0;

	if (!event->attr.sample_id_all)
		return 0;
	if (type & PERF_SAMPLE_TID)
		memcpy(&words[n++], halves, 8);
	if (type & PERF_SAMPLE_TIME)
		words[n++] = now_ns;
	if (type & PERF_SAMPLE_ID)
		words[n++] = event->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		words[n++] = event->id;
	halves[0] = event->cpu < 0 ? 0 : (uint32_t)event->cpu;
	halves[1] = 0;
	if (type & PERF_SAMPLE_CPU)
		memcpy(&words[n++], halves, 8);
	if (type & PERF_SAMPLE_IDENTIFIER)
		words[n++] = event->id;
	return n;
}

/* Who polls the ring's own event, or any that writes to it, is woken. */
static void pass_wake_up(struct fake_event *event, struct fake_event *owner)
{
	if (!owner->ring.woken)
		return;
	owner->ring.woken = false;
	event->ready = owner->ready = true;
}

bool fake_write(struct fake_event *event, const void *record, size_t size)
{
	struct fake_event *owner = ring_owner(event);
	uint64_t words[6];
	struct fake_writer by = {event->id, words, make_trailer(event, words)};
	bool written;

	if (!owner)
		abort();
	written = fake_ring_write(&owner->ring, &by, record, size);
	event->lost += !written;
	pass_wake_up(event, owner);
	return written;
}

static void write_throttle(struct fake_event *event, uint32_t type)
{
	uint64_t words[4 + 6] = {0, (uint64_t)fake.now_ms * 1000000, event->id, event->id};
	size_t count = 4 + make_trailer(event, words + 4);
	struct perf_event_header header = {type, 0, (uint16_t)(8 * count)};

	memcpy(words, &header, 8);
	fake_write(event, words, header.size);
}

bool fake_sample(struct fake_event *event, const void *record, size_t size)
{
	if (!event->enabled || event->throttled)
		return false;
	event->interrupts++;
	if (fake.samples_per_tick && event->interrupts >= fake.samples_per_tick) {
		event->throttled = true;
		write_throttle(event, PERF_RECORD_THROTTLE);
	}
	return fake_write(event, record, size);
}

void fake_tick(void)
{
	int i;

	for (i = 0; i < fake.event_count; i++) {
		struct fake_event *event = &fake.events[i];

		event->interrupts = 0;
		if (!event->open || !event->throttled)
			continue;
		event->throttled = false;
		write_throttle(event, PERF_RECORD_UNTHROTTLE);
	}
}

size_t fake_trace(struct fake_event *event, const void *bytes, size_t size, uint64_t flags)
{
	struct fake_event *owner = ring_owner(event);
	uint64_t words[6], said = owner ? owner->ring.dropped : 0;
	struct fake_writer by = {event->id, words, make_trailer(event, words)};
	size_t written;

	if (!owner || !owner->ring.aux)
		abort();
	if (!event->enabled)
		return 0;
	written = fake_ring_aux(&owner->ring, &by, bytes, size, flags);
	event->lost += owner->ring.dropped > said ? owner->ring.dropped - said : 0;
	if (written < size)
		event->enabled = false;
	pass_wake_up(event, owner);
	return written;
}

/* ---- events ------------------------------------------------------------------------------------------------ */

static int check_group(const struct fake_event *event)
{
	const struct fake_event *leader;

	if (event->group_fd == -1)
		return 0;
	leader = fake_event_of(event->group_fd);
	if (!leader)
		return -EBADF;
	return leader->group_fd != -1 || leader->pid != event->pid || leader->cpu != event->cpu ? -EINVAL : 0;
}

static int set_output(struct fake_event *event, int target_fd)
{
	struct fake_event *target = fake_event_of(target_fd);

	if (!target)
		return -EBADF;
	if (!ring_owner(target) || event->page || target == event || event->cpu != target->cpu ||
	    (event->cpu == -1 && event->pid != target->pid) ||
	    event->attr.use_clockid != target->attr.use_clockid)
		return -EINVAL;
	event->output = target_fd;
	return 0;
}

int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			unsigned long flags)
{
	struct fake_event *event = &fake.events[fake.event_count];
	int r;

	if (!attr)
		return fake.null_attr_result ? fake.null_attr_result : -EFAULT;
	if (fake.event_count == FAKE_EVENTS)
		abort();
	memset(event, 0, sizeof(*event));
	memcpy(&event->attr, attr, sizeof(*attr));
	event->pid = pid;
	event->cpu = cpu;
	event->group_fd = flags & PERF_FLAG_FD_NO_GROUP ? -1 : group_fd;
	event->flags = flags;
	event->output = -1;
	event->fd = EVENT_FD + fake.event_count;
	event->id = 7000 + (uint64_t)fake.event_count;
	event->enabled = !attr->disabled;
	r = fake.on_open ? fake.on_open(event, attr) : 0;
	if (r == 0)
		r = pid == -1 && cpu == -1 ? -EINVAL : check_group(event);
	if (r == 0 && flags & PERF_FLAG_FD_OUTPUT)
		r = set_output(event, group_fd);
	if (r == 0 && fake.open_files_max && fake.opened - fake.closed >= fake.open_files_max)
		r = -EMFILE;
	if (r < 0)
		return r;
	event->open = true;
	fake.event_count++;
	fake.opened++;
	return event->fd;
}

/* Of every member of the event's group: @request, which is one of the three that know the flag. */
static void tell_group(const struct fake_event *event, unsigned request)
{
	int leader = event->group_fd >= 0 ? event->group_fd : event->fd, i;

	for (i = 0; i < fake.event_count; i++) {
		struct fake_event *one = &fake.events[i];

		if (!one->open || (one->fd != leader && one->group_fd != leader))
			continue;
		if (request == PERF_EVENT_IOC_RESET)
			one->count = 0;
		else
			one->enabled = request == PERF_EVENT_IOC_ENABLE;
	}
}

static int set_period(struct fake_event *event, uint64_t period)
{
	event->periods++;
	if (!event->attr.sample_period || !period || period >> 63)
		return -EINVAL;
	event->attr.sample_period = period;
	return 0;
}

static int refresh(struct fake_event *event, int count)
{
	if (!event->attr.sample_period || event->attr.inherit)
		return -EINVAL;
	event->budget += count;
	event->enabled = true;
	return 0;
}

static int query_bpf(const struct fake_event *event, struct perf_event_query_bpf *query)
{
	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return -EINVAL;
	query->prog_cnt = fake.bpf_count;
	if (query->ids_len < fake.bpf_count)
		return -ENOSPC;
	memcpy(query->ids, fake.bpf_ids, fake.bpf_count * sizeof(*query->ids));
	return 0;
}

/* As the kernel has it: what differs beside the five members is refused, and the event then stands still. */
static int modify(struct fake_event *event, const struct perf_event_attr *attr)
{
	struct perf_event_attr old = event->attr;

	if (attr->type != PERF_TYPE_BREAKPOINT || event->attr.type != attr->type)
		return attr->type == event->attr.type ? -EOPNOTSUPP : -EINVAL;
	event->enabled = false;
	old.bp_addr = attr->bp_addr;
	old.bp_type = attr->bp_type;
	old.bp_len = attr->bp_len;
	old.sig_data = attr->sig_data;
	old.disabled = attr->disabled;
	if (memcmp(&old, attr, sizeof(old)) || attr->bp_len > 8)
		return -EINVAL;
	event->attr = old;
	event->enabled = !attr->disabled;
	return 0;
}

static int tell(struct fake_event *event, unsigned request, unsigned long argument)
{
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
	case PERF_EVENT_IOC_RESET:
		if (argument & PERF_IOC_FLAG_GROUP)
			tell_group(event, request);
		else if (request == PERF_EVENT_IOC_RESET)
			event->count = 0;
		else
			event->enabled = request == PERF_EVENT_IOC_ENABLE;
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		if ((long)argument == -1) {
			event->output = -1;
			return 0;
		}
		return set_output(event, (int)argument);
	case PERF_EVENT_IOC_ID:
		memcpy((void *)argument, &event->id, sizeof(event->id));
		return 0;
	case PERF_EVENT_IOC_SET_FILTER:
		return 0;
	case PERF_EVENT_IOC_REFRESH:
		return refresh(event, (int)argument);
	case PERF_EVENT_IOC_PERIOD:
		return set_period(event, *(uint64_t *)argument);
	case PERF_EVENT_IOC_SET_BPF:
		if ((int)argument < 0)
			return -EBADF;
		event->bpf_fd = (int)argument;
		return 0;
	case PERF_EVENT_IOC_QUERY_BPF:
		return query_bpf(event, (void *)argument);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		if (!event->page)
			return -EINVAL;
		event->ring.paused = argument;
		return 0;
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return modify(event, (void *)argument);
	default:
		return -ENOTTY;
	}
}

int sys_ioctl(int fd, unsigned request, unsigned long argument)
{
	struct fake_event *event = fake_event_of(fd);
	int r;

	if (!event)
		return -EBADF;
	event->told++;
	r = fake.on_ioctl ? fake.on_ioctl(event, request, argument) : 0;
	return r < 0 ? r : tell(event, request, argument);
}

int sys_dup(int fd)
{
	if (fd < 0)
		return -EBADF;
	fake.opened++;
	return COPY_FD + fd;
}

int sys_signal_on(int fd, int number, pid_t tid)
{
	struct fake_event *event = fake_event_of(fd);

	if (!event || number < 0 || number > 64)
		return event ? -EINVAL : -EBADF;
	if (tid > 100000)
		return -ESRCH;
	event->signal = number;
	event->signal_tid = tid;
	return 0;
}

int sys_task_events(bool enable)
{
	fake.all = enable ? 1 : -1;
	return fake.all_result;
}

static size_t put_count(uint64_t *words, const struct fake_event *event, uint64_t format)
{
	size_t n = 0;

	words[n++] = event->count;
	if (format & PERF_FORMAT_ID)
		words[n++] = event->id;
	if (format & PERF_FORMAT_LOST)
		words[n++] = event->lost;
	return n;
}

static ssize_t read_event(const struct fake_event *event, void *buffer, size_t size)
{
	uint64_t words[3 + 3 * 80], format = event->attr.read_format;
	const bool group = format & PERF_FORMAT_GROUP;
	const struct fake_event *leader = event->group_fd < 0 ? event : fake_event_of(event->group_fd);
	size_t n = 1;
	int i;

	if (event->read_result)
		return event->read_result == FAKE_EMPTY ? 0 : event->read_result;
	words[0] = group ? 0 : event->count;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = event->enabled_ns;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = event->running_ns;
	for (i = 0; group && i < fake.event_count; i++) {
		const struct fake_event *one = &fake.events[i];

		if (one->open && (one == leader || one->group_fd == leader->fd)) { /* any member tells all */
			n += put_count(words + n, one, format);
			words[0]++;
		}
	}
	if (!group && (format & PERF_FORMAT_ID))
		words[n++] = event->id;
	if (!group && (format & PERF_FORMAT_LOST))
		words[n++] = event->lost;
	if (size < n * 8)
		return -ENOSPC;
	memcpy(buffer, words, n * 8);
	return (ssize_t)(n * 8);
}

ssize_t sys_read(int fd, void *buffer, size_t size)
{
	const struct fake_event *event = fake_event_of(fd);

	if (event && fake.on_read)
		fake.on_read();
	return event ? read_event(event, buffer, size) : files_read(fd, buffer, size);
}

void sys_close(int fd)
{
	struct fake_event *event = fake_event_of(fd);

	errno = ETIME; /* a call may: what failed before it is not to be looked up afterwards */
	if (fd < 0)
		return;
	if (event)
		event->open = false;
	else if (fd == EPOLL_FD)
		poll_count = 0;
	else if (fd >= COPY_FD)
		;
	else if (!files_close(fd))
		abort(); /* a descriptor that is not open, or was closed twice */
	fake.closed++;
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

int sys_epoll_create(void)
{
	fake.opened++;
	return EPOLL_FD;
}

int sys_epoll_add(int epoll_fd, int fd, uint64_t number)
{
	if (epoll_fd != EPOLL_FD || !fake_event_of(fd) || poll_count == POLLS_MAX)
		return -EINVAL;
	polls[poll_count].fd = fd;
	polls[poll_count++].number = number;
	return 0;
}

void sys_epoll_remove(int epoll_fd, int fd)
{
	int i;

	(void)epoll_fd;
	for (i = 0; i < poll_count; i++)
		if (polls[i].fd == fd) {
			polls[i] = polls[--poll_count];
			return;
		}
	abort();
}

/* A wake-up is seen once; a hang-up always, and hides the wake-up. */
int sys_epoll_wait(int epoll_fd, struct sys_ready *ret, int max, int timeout_ms)
{
	int i, n = 0, r = fake.wait_result;

	(void)epoll_fd;
	fake.waits++;
	fake.wait_result = 0;
	memset(ret, 0xff, (size_t)max * sizeof(*ret)); /* what is not filled in is not read */
	if (r < 0)
		return r;
	if (fake.on_wait)
		fake.on_wait(timeout_ms);
	for (i = 0; i < poll_count && n < max; i++) {
		struct fake_event *event = fake_event_of(polls[i].fd);

		if (!event || (!event->ready && !event->hung_up && !fake.poll_answer))
			continue;
		ret[n].number = polls[i].number;
		ret[n].in = fake.poll_answer ? fake.poll_answer & 1 : event->ready && !event->hung_up;
		ret[n].hang_up = event->hung_up || fake.poll_answer & 2;
		ret[n++].error = fake.poll_answer & 4;
		event->ready = false;
	}
	if (!n && timeout_ms < 0)
		abort(); /* it would sleep for ever */
	if (!n)
		fake.now_ms += timeout_ms;
	return n;
}

int64_t sys_now_ms(void)
{
	return fake.now_ms;
}

/* ---- who, and how much ------------------------------------------------------------------------------------------ */

int sys_uid(void)
{
	return (int)fake.uid;
}

int sys_pid(void)
{
	return fake.pid;
}

int sys_tid(void)
{
	return fake.tid ? fake.tid : fake.pid;
}

int sys_limit(enum sys_limit which, uint64_t *soft, uint64_t *hard)
{
	*soft = which == SYS_LIMIT_FILES ? fake.files_soft : fake.memlock_soft;
	*hard = which == SYS_LIMIT_FILES ? fake.files_hard : fake.memlock_hard;
	return 0;
}

int sys_names(char *hostname, char *release, char *machine, size_t size)
{
	snprintf(hostname, size, "host");
	snprintf(release, size, "%s", fake.release ? fake.release : "6.1.0");
	return snprintf(machine, size, "machine") < 0;
}
