/* SPDX-License-Identifier: MIT */
/*
 * The section TRACING_DATA of a recording: the formats of the tracepoints in it, without which nobody else can
 * read their samples. Its form is told in src/file/tracing.c, which reads it.
 */
#include "tracefs.h"

#include "base/buffer.h"
#include "base/error.h"
#include "kernel/sys.h"

#include <perfev/tracepoint.h>
#include <perfev/abi.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_MAX (64 << 20)

struct packer {
	struct buffer out;
	const char *tracefs;
	const uint64_t *ids; /* sorted */
	size_t id_count;
	char system[128];
	size_t systems_at, formats_at; /* where the numbers stand that grow */
	uint32_t systems, formats;
};

static int put_u32(struct packer *p, uint32_t value)
{
	return buffer_append(&p->out, &value, 4);
}

static int put_sized(struct packer *p, struct perfev_bytes text, size_t width)
{
	uint64_t wide = text.size;
	uint32_t narrow = (uint32_t)text.size;
	int r = buffer_append(&p->out, width == 8 ? (const void *)&wide : &narrow, width);

	return r < 0 ? r : buffer_append(&p->out, text.data, text.size);
}

/* A file that is not there is empty. */
static int put_file(struct packer *p, const char *file, size_t width)
{
	struct perfev_bytes text = {"", 0};
	int r = tracefs_text(p->tracefs, file, &text);
	bool owned = r == 0;

	if (r == -ENOMEM)
		return r;
	r = put_sized(p, text, width);
	if (owned)
		free((void *)(uintptr_t)text.data);
	return r;
}

static int put_named(struct packer *p, const char *name, const char *file)
{
	int r = buffer_append(&p->out, name, strlen(name) + 1);

	return r < 0 ? r : put_file(p, file, 8);
}

static int begin(struct packer *p)
{
	static const char magic[] = "\x17\x08\x44" "tracing0.6";
	unsigned char host[2] = {PERFEV_BIG_ENDIAN, sizeof(long)};
	int r = buffer_append(&p->out, magic, sizeof(magic)); /* its zero too */

	if (r == 0)
		r = buffer_append(&p->out, host, 2);
	if (r == 0)
		r = put_u32(p, (uint32_t)sys_page_size());
	if (r == 0)
		r = put_named(p, "header_page", "events/header_page");
	if (r == 0)
		r = put_named(p, "header_event", "events/header_event");
	if (r == 0)
		r = put_u32(p, 0); /* formats of the tracers' own events, which perf events are not */
	p->systems_at = p->out.size;
	return r < 0 ? r : put_u32(p, 0);
}

static int begin_system(struct packer *p, const char *system)
{
	int r;

	if (p->systems && !strcmp(p->system, system))
		return 0;
	if (strlen(system) >= sizeof(p->system))
		return -ENAMETOOLONG;
	strcpy(p->system, system);
	p->systems++;
	p->formats = 0;
	r = buffer_append(&p->out, system, strlen(system) + 1);
	p->formats_at = p->out.size;
	return r < 0 ? r : put_u32(p, 0);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* All tracepoints are walked, system by system. */
static int put_format(void *context, const char *system, const char *name)
{
	struct packer *p = context;
	struct perfev_bytes text;
	uint64_t id;
	int r;

	if (tracefs_id(p->tracefs, system, name, &id) < 0 ||
	    !bsearch(&id, p->ids, p->id_count, sizeof(id), compare))
		return 0;
	r = tracefs_format(p->tracefs, system, name, &text);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* its module has gone */
	r = begin_system(p, system);
	if (r == 0)
		r = put_sized(p, text, 8);
	free((void *)(uintptr_t)text.data);
	p->formats++;
	if (r == 0)
		memcpy(p->out.data + p->formats_at, &p->formats, 4);
	return r;
}

static int pack(struct packer *p)
{
	int r = begin(p);

	if (r == 0)
		r = tracefs_match(p->tracefs, "*", "*", put_format, p);
	if (r < 0)
		return r;
	memcpy(p->out.data + p->systems_at, &p->systems, 4);
	r = put_u32(p, 0); /* kallsyms, which nobody reads here any more */
	if (r == 0)
		r = put_file(p, "printk_formats", 4);
	return r < 0 ? r : put_file(p, "saved_cmdlines", 8);
}

int perfev_tracing_read(struct perfev_bytes *ret, const uint64_t *ids, size_t count, const char *tracefs,
			struct perfev_error *err)
{
	struct packer p = {.out = {.max = SECTION_MAX}, .tracefs = tracefs, .id_count = count};
	uint64_t *sorted = malloc((count + 1) * sizeof(*sorted));
	char root[512];
	int r = sorted ? 0 : -ENOMEM;

	if (r == 0 && !tracefs) {
		r = tracefs_find(root, sizeof(root));
		p.tracefs = root;
	}
	if (r == 0) {
		if (count)
			memcpy(sorted, ids, count * sizeof(*sorted));
		qsort(sorted, count, sizeof(*sorted), compare);
		p.ids = sorted;
		r = pack(&p);
	}
	free(sorted);
	if (r < 0) {
		buffer_free(&p.out);
		return r == -ENOMEM ? error_memory(err) : tracefs_refused(r, p.tracefs, "formats", err);
	}
	ret->data = p.out.data;
	ret->size = p.out.size;
	return 0;
}
