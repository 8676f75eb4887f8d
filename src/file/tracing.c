/* SPDX-License-Identifier: MIT */
/*
 * Tracing data: the formats of tracepoints, as trace-cmd and perf write them.
 *
 *	17 08 44 "tracing" version\0 u8 big-endian u8 sizeof(long) u32 page size
 *	"header_page\0" u64 size, text	"header_event\0" u64 size, text
 *	u32 n, n formats of ftrace	u32 n, n x { system\0 u32 n, n formats }
 *	u32 size, kallsyms	u32 size, printk_formats	u64 size, saved_cmdlines (from version 0.6)
 *
 * A format is a u64 size and a text. Nothing is aligned. Numbers are in the byte order that the section
 * names; counts are believed only as far as there are bytes, sizes compared with the bytes that remain.
 */
#include <perfev/feature.h>
#include <perfev/abi.h>

#include "base/error.h"
#include "base/load.h"

#include <errno.h>

#define MAGIC	   "\x17\x08\x44" "tracing"
#define MAGIC_SIZE 10

static const unsigned char *take(struct perfev_tracing *t, uint64_t size)
{
	const unsigned char *at = (const unsigned char *)t->section.data + t->position;

	if (size > t->section.size - t->position)
		return NULL;
	t->position += (size_t)size;
	return at;
}

static const char *take_text(struct perfev_tracing *t)
{
	const char *at = (const char *)t->section.data + t->position;
	const char *end = memchr(at, 0, t->section.size - t->position);

	return end ? (const char *)take(t, (uint64_t)(end - at) + 1) : NULL;
}

static bool take_u32(struct perfev_tracing *t, uint32_t *ret)
{
	const unsigned char *at = take(t, 4);

	if (at)
		*ret = load_u32(at, t->swapped);
	return at != NULL;
}

/* A size, of @width bytes, and as many bytes. */
static bool take_sized(struct perfev_tracing *t, unsigned width, struct perfev_bytes *ret)
{
	const unsigned char *at = take(t, width);
	uint64_t size;

	if (!at)
		return false;
	size = width == 4 ? load_u32(at, t->swapped) : load_u64(at, t->swapped);
	ret->data = take(t, size);
	ret->size = ret->data ? (size_t)size : 0;
	return ret->data != NULL;
}

static bool take_named(struct perfev_tracing *t, const char *name, struct perfev_bytes *ret)
{
	const unsigned char *at = take(t, strlen(name) + 1);

	return at && !memcmp(at, name, strlen(name) + 1) && take_sized(t, 8, ret);
}

static int damaged(struct perfev_tracing *t, const char *what, struct perfev_error *err)
{
	t->ended = true;
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, t->position,
			 "cannot read the formats of tracepoints: %s at byte %zu of %zu do not fit; record again",
			 what, t->position, t->section.size);
}

int perfev_feature_tracing(struct perfev_tracing *ret, struct perfev_bytes section, struct perfev_error *err)
{
	const unsigned char *at;

	memset(ret, 0, sizeof(*ret));
	ret->section = section;
	ret->system = "ftrace";
	at = section.size ? take(ret, MAGIC_SIZE) : NULL;
	if (!at || memcmp(at, MAGIC, MAGIC_SIZE)) {
		ret->ended = true;
		return error_set(err, -EINVAL, PERFEV_WHY_FORMAT, 0,
				 "cannot read the formats of tracepoints: the section does not begin as tracing "
				 "data do; record again");
	}
	ret->version = take_text(ret);
	at = ret->version ? take(ret, 2) : NULL;
	if (!at)
		return damaged(ret, "version and byte order", err);
	ret->swapped = (at[0] != 0) != PERFEV_BIG_ENDIAN;
	ret->long_bytes = at[1];
	if (!take_u32(ret, &ret->page_bytes) || !take_named(ret, "header_page", &ret->header_page) ||
	    !take_named(ret, "header_event", &ret->header_event) || !take_u32(ret, &ret->formats_left))
		return damaged(ret, "its headers", err);
	ret->systems_left = UINT32_MAX; /* their number comes behind the formats of ftrace */
	return 0;
}

/* The next system with formats; 0: there is none. */
static int next_system(struct perfev_tracing *t, struct perfev_error *err)
{
	if (t->systems_left == UINT32_MAX && !take_u32(t, &t->systems_left))
		return damaged(t, "the number of systems", err);
	while (t->systems_left && !t->formats_left) {
		t->systems_left--;
		t->system = take_text(t);
		if (!t->system || !take_u32(t, &t->formats_left))
			return damaged(t, "the name of a system, and the number of its formats", err);
	}
	return t->formats_left != 0;
}

static int take_end(struct perfev_tracing *t, struct perfev_error *err)
{
	t->ended = true;
	if (!take_sized(t, 4, &t->kallsyms) || !take_sized(t, 4, &t->printk_formats))
		return damaged(t, "the texts behind the formats", err);
	if (strcmp(t->version, "0.6") >= 0 && !take_sized(t, 8, &t->saved_cmdlines))
		return damaged(t, "the names of tasks", err);
	return 0;
}

int perfev_feature_tracing_next(struct perfev_tracing *tracing, struct perfev_tracing_format *ret,
				struct perfev_error *err)
{
	int r;

	if (tracing->ended)
		return 0;
	if (!tracing->formats_left) {
		r = next_system(tracing, err);
		if (r <= 0)
			return r < 0 ? r : take_end(tracing, err);
	}
	if (!take_sized(tracing, 8, &ret->text))
		return damaged(tracing, "a format", err);
	ret->system = tracing->system;
	tracing->formats_left--;
	return 1;
}
