/* SPDX-License-Identifier: MIT */
/*
 * The raw layer. Numbers and calls are those of the border to the kernel; here is what each request
 * takes: a number by value, as wide as the kernel reads it, or the address of something.
 */
#include <perfev/raw.h>

#include "decode/attr.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>

/* The most programs that the kernel lets a tracepoint have. */
#define BPF_IDS_MAX 64

int perfev_raw_open(struct perf_event_attr *attr, int pid, int cpu, int group_fd,
		    unsigned long flags)
{
	return sys_perf_event_open(attr, pid, cpu, group_fd, flags);
}

const char *perfev_raw_unknown(const struct perf_event_attr *attr, uint32_t size)
{
	const char *name;

	if (attr->size == size)
		return NULL;
	name = attr_set_beyond(attr, attr->size, size);
	return name ? name : "size";
}

/* A size that cannot be is refused with the one that can; before everything else is looked at. */
int perfev_raw_attr_size(void)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd;

	attr.size = 1;
	fd = sys_perf_event_open(&attr, 0, -1, -1, 0);
	if (fd == -E2BIG && attr.size != 1)
		return (int)attr.size;
	sys_close(fd);
	return fd < 0 && fd != -E2BIG ? fd : -EOPNOTSUPP;
}

int perfev_raw_read(int fd, void *buffer, size_t size)
{
	return (int)sys_read(fd, buffer, size < INT32_MAX ? size : INT32_MAX);
}

void perfev_raw_close(int fd)
{
	sys_close(fd);
}

/* ---- the ioctls ------------------------------------------------------------------------------ */

static unsigned long address(const void *pointer)
{
	return (unsigned long)(uintptr_t)pointer;
}

int perfev_raw_enable(int fd, unsigned flags)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_ENABLE, flags);
}

int perfev_raw_disable(int fd, unsigned flags)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_DISABLE, flags);
}

int perfev_raw_reset(int fd, unsigned flags)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_RESET, flags);
}

int perfev_raw_refresh(int fd, int count)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_REFRESH, (unsigned long)(long)count);
}

int perfev_raw_period(int fd, const uint64_t *period)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_PERIOD, address(period));
}

/* As wide as a long: the kernel compares with -1 before it makes an int of it. */
int perfev_raw_set_output(int fd, int output_fd)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)(long)output_fd);
}

int perfev_raw_set_filter(int fd, const char *filter)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, address(filter));
}

int perfev_raw_id(int fd, uint64_t *ret)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_ID, address(ret));
}

int perfev_raw_set_bpf(int fd, int prog_fd)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (unsigned long)(long)prog_fd);
}

int perfev_raw_pause_output(int fd, unsigned pause)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause);
}

int perfev_raw_query_bpf(int fd, struct perf_event_query_bpf *query)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, address(query));
}

int perfev_raw_modify_attributes(int fd, struct perf_event_attr *attr)
{
	return sys_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, address(attr));
}

static int copy_ids(uint32_t **ret, const struct perf_event_query_bpf *query)
{
	size_t bytes = query->prog_cnt * sizeof(uint32_t);

	*ret = NULL;
	if (!query->prog_cnt)
		return 0;
	*ret = malloc(bytes);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, query->ids, bytes);
	return (int)query->prog_cnt;
}

/* Programs come and go between two calls: the room grows until they fit. */
int perfev_raw_bpf_ids(uint32_t **ret, int fd)
{
	uint32_t room = 8;
	int r = -ENOSPC;

	while (r == -ENOSPC && room <= BPF_IDS_MAX) {
		struct perf_event_query_bpf *query;

		query = calloc(1, sizeof(*query) + room * sizeof(uint32_t));
		if (!query)
			return -ENOMEM;
		query->ids_len = room;
		r = perfev_raw_query_bpf(fd, query);
		if (r == 0)
			r = query->prog_cnt <= room ? copy_ids(ret, query) : -EPROTO;
		free(query);
		room *= 2;
	}
	return r;
}

/* ---- mappings -------------------------------------------------------------------------------- */

int perfev_raw_mmap(struct perf_event_mmap_page **ret, int fd, size_t data_bytes, bool writable)
{
	size_t page = sys_page_size();
	void *at;
	int r;

	if (data_bytes > SIZE_MAX - page)
		return -EINVAL;
	r = sys_mmap(&at, page + data_bytes, writable, fd, 0);
	if (r == 0)
		*ret = at;
	return r;
}

int perfev_raw_munmap(struct perf_event_mmap_page *page, size_t data_bytes)
{
	return page ? sys_munmap(page, sys_page_size() + data_bytes) : 0;
}

int perfev_raw_mmap_aux(void **ret, int fd, struct perf_event_mmap_page *page, size_t aux_bytes,
			bool writable)
{
	if (!page->data_size) /* without a ring, or older than 4.1 */
		return -EINVAL;
	page->aux_offset = page->data_offset + page->data_size;
	page->aux_size = aux_bytes;
	return sys_mmap(ret, aux_bytes, writable, fd, page->aux_offset);
}

int perfev_raw_munmap_aux(void *aux, size_t aux_bytes)
{
	return aux ? sys_munmap(aux, aux_bytes) : 0;
}

/* ---- all at once ----------------------------------------------------------------------------- */

int perfev_raw_task_enable(void)
{
	return sys_task_events(true);
}

int perfev_raw_task_disable(void)
{
	return sys_task_events(false);
}
