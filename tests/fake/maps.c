/* SPDX-License-Identifier: MIT */
/* Mappings of the kernel for tests: rings, AUX areas, pages of events, and memory. */
#include "kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The AUX area: what the reader wrote into the page says where and how large. */
static int map_aux(void **ret, struct fake_event *event, size_t size, bool writable, uint64_t offset)
{
	const struct perf_event_mmap_page *page = event->page;
	int r;

	if (!page || !event->ring.bytes || offset != page->aux_offset || size != page->aux_size ||
	    offset < page->data_offset + page->data_size || (offset & (FAKE_PAGE - 1)) || (size & (size - 1)) ||
	    event->aux_mapped)
		return -EINVAL;
	if (!fake.aux_type || event->attr.type != fake.aux_type)
		return -EOPNOTSUPP;
	r = fake.on_map ? fake.on_map(event, size) : 0;
	if (r < 0)
		return r;
	*ret = aligned_alloc(FAKE_PAGE, size);
	if (!*ret)
		return -ENOMEM;
	memset(*ret, 0, size);
	fake_ring_init_aux(&event->ring, *ret, size, event->attr.aux_watermark);
	event->ring.aux_overwrite = !writable;
	event->aux_mapped = size;
	fake.maps++;
	return 0;
}

/* Where wake-ups come is said by the event whose ring it is. */
static void set_marks(struct fake_event *event)
{
	struct fake_ring *ring = &event->ring;

	ring->backward = event->attr.write_backward;
	if (!event->attr.watermark)
		ring->wakeup_events = event->attr.wakeup_events;
	else if (event->attr.wakeup_watermark)
		ring->mark = event->attr.wakeup_watermark < ring->bytes ? event->attr.wakeup_watermark : ring->bytes;
}

/* @at: NULL where the kernel chooses. */
static int map_event(struct fake_event *event, void *at, size_t size, bool writable)
{
	size_t page_size = sys_page_size(), bytes = size - page_size;
	int r;

	if (!event || event->page || event->output >= 0 || size < page_size || bytes % page_size || (bytes & (bytes - 1)) ||
	    (event->attr.inherit && event->cpu == -1) || (bytes && writable == (bool)event->attr.write_backward))
		return -EINVAL;
	r = fake.on_map ? fake.on_map(event, size) : 0;
	if (r < 0)
		return r;
	event->page = at ? at : aligned_alloc(FAKE_PAGE, size);
	if (!event->page)
		return -ENOMEM;
	memset(event->page, 0, size);
	fake_ring_init(&event->ring, event->page, (unsigned char *)event->page + page_size, bytes);
	set_marks(event);
	event->mapped = size;
	event->page->data_offset = fake.no_data_offset ? 0 : page_size;
	event->page->data_size = fake.no_data_offset ? 0 : bytes;
	fake.maps++;
	return 0;
}

int sys_mmap(void **ret, size_t size, bool writable, int fd, uint64_t offset)
{
	struct fake_event *event = fake_event_of(fd);
	int r;

	if (event && offset)
		return map_aux(ret, event, size, writable, offset);
	r = map_event(event, NULL, size, writable);
	if (r == 0)
		*ret = event->page;
	return r;
}

int sys_pages(void **ret, size_t size)
{
	*ret = aligned_alloc(FAKE_PAGE, size);
	if (!*ret)
		return -ENOMEM;
	memset(*ret, 0, size);
	fake.maps++;
	return 0;
}

int sys_mmap_over(void *at, size_t size, int fd)
{
	return map_event(fake_event_of(fd), at, size, false);
}

/* Pages, and the events' that were put over them. */
static int unmap_pages(char *at, size_t size)
{
	int i;

	for (i = 0; i < fake.event_count; i++)
		if ((char *)fake.events[i].page >= at && (char *)fake.events[i].page < at + size) {
			fake.events[i].page = NULL;
			fake.unmaps++;
		}
	fake.unmaps++;
	free(at);
	return 0;
}

int sys_munmap(void *at, size_t size)
{
	int i;

	for (i = 0; i < fake.event_count; i++) {
		struct fake_event *event = &fake.events[i];
		bool is_aux = event->aux_mapped && event->ring.aux == at;

		if (event->page != at && !is_aux)
			continue;
		if ((is_aux ? event->aux_mapped : event->mapped) != size)
			abort();
		free(at);
		if (is_aux) {
			event->ring.aux = NULL;
			event->aux_mapped = 0;
		} else {
			event->page = event->ring.page = NULL;
		}
		fake.unmaps++;
		return 0;
	}
	return unmap_pages(at, size);
}

size_t sys_page_size(void)
{
	return fake.page_size ? fake.page_size : FAKE_PAGE;
}
