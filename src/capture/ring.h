/* SPDX-License-Identifier: MIT */
/* One ring: the memory that a kernel's events write records into. */
#ifndef CAPTURE_RING_H
#define CAPTURE_RING_H

#include <perfev/record.h>

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const unsigned char *data;
	uint64_t size;	/* of the data, a power of two */
	uint64_t head;	/* up to here the current pass goes */
	uint64_t tail;	/* up to here records were handed out */
	uint64_t given; /* up to here the kernel has them back */
	unsigned char *bounce; /* 64 KiB: the record that straddles the end */
	size_t mapped;	       /* bytes */
	int pid;	       /* that has mapped it */
	uint32_t number;
	uint64_t lost_said;    /* summed over LOST records */
	uint64_t lost_samples; /* over LOST_SAMPLES records */
	bool given_up;	       /* all its descriptors had hung up: nobody is woken for it */
	bool backward;	       /* the kernel writes over what is old, from the end to the beginning */
};

/* ring_map() - map the ring of an event
 * @bytes: of data, a power of two of at least a page. Return: 0, or a negative errno of mmap(2). */
int ring_map(struct ring *ring, int fd, uint64_t bytes, uint32_t number, bool backward);
/* ring_attach() - the same of a control page that is there already: for tests. */
int ring_attach(struct ring *ring, struct perf_event_mmap_page *page, const void *data,
		uint64_t bytes, uint32_t number);
void ring_unmap(struct ring *ring);
/* ring_is_here() - a child made by fork(2) has none of its parent's rings, and perhaps something else in their place */
bool ring_is_here(const struct ring *ring);

/* ring_begin() - a pass: what is there now. Returns whether there is anything. A backward ring must be
 * paused until the pass has ended: the newest record comes first, and what was written over in part ends it. */
bool ring_begin(struct ring *ring);
bool ring_has_data(const struct ring *ring);
/* ring_filled() - bytes that were written and are not given back */
uint64_t ring_filled(const struct ring *ring);
/* ring_next() - 1 a record, which lives until ring_release(); 0 the end of the pass; -EBADMSG. */
int ring_next(struct ring *ring, struct perfev_record *ret);
void ring_release(struct ring *ring);

#endif
