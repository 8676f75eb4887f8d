/* SPDX-License-Identifier: MIT */
/* A recording that is written to a file of its own, by what tests of the writer have in common. */
#ifndef TESTS_UNIT_WRITING_H
#define TESTS_UNIT_WRITING_H

#include "left.h"
#include "recording.h"
#include "test.h"

#include <perfev/writer.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct perfev_error err;
static char path[64];

static inline int setup(void **state)
{
	int fd;

	*state = malloc(sizeof(struct recording));
	left_begin();
	snprintf(path, sizeof(path), "/tmp/perfev-test-XXXXXX");
	fd = mkstemp(path);
	close(fd);
	return *state && fd >= 0 ? 0 : -1;
}

static inline int teardown(void **state)
{
	unlink(path);
	left_check();
	free(*state);
	return 0;
}

static inline void add_events(struct perfev_writer *writer, const struct recording *r)
{
	size_t i;

	for (i = 0; i < r->event_count; i++)
		assert_works(perfev_writer_add_event(writer, r->events[i].name, &r->events[i].attr,
						     r->events[i].ids, r->events[i].id_count, &err));
}

/* The records of @r, of whose bytes they are views. */
static inline void append_records(struct perfev_writer *writer, const struct recording *r, size_t from)
{
	struct perfev_record record;
	size_t i;

	for (i = from; i < r->record_count; i++) {
		size_t end = i + 1 < r->record_count ? r->record_at[i + 1] : r->data_end;
		struct perfev_bytes bytes = {r->bytes.data + r->record_at[i], end - r->record_at[i]};

		assert_works(perfev_record_from_bytes(&record, bytes, 0, &err));
		record.tail.data = (const unsigned char *)record.data + record.size;
		record.tail.size = bytes.size - record.size;
		assert_works(perfev_writer_append(writer, &record, &err));
	}
}

#endif
