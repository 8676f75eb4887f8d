/* SPDX-License-Identifier: MIT */
/*
 * Dumps of JIT compilers. A header that says its own size, then records whose size is in front of them and decides:
 * what a record contains is compared with it. Nothing is aligned. The process that writes the file may be running, or
 * have died in the middle of a record.
 */
#include <perfev/jitdump.h>
#include <perfev/abi.h>

#include "source.h"

#include "base/error.h"
#include "base/load.h"
#include "base/opts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAGIC	    0x4a695444u
#define MAGIC_SWAP  0x4454694au
#define HEADER_SIZE 40
#define PREFIX_SIZE 16

struct perfev_jitdump {
	struct source source;
	struct perfev_jitdump_info info;
	struct perfev_error damage;
	uint64_t position;
	bool partial, ended;
	char *name;
};

/* The sentence is kept, for perfev_jitdump_damage() and for whoever asks again. */
static int damaged(struct perfev_jitdump *dump, enum perfev_why why, struct perfev_error *err, const char *format, ...)
{
	char cause[200];
	va_list args;

	va_start(args, format);
	vsnprintf(cause, sizeof(cause), format, args);
	va_end(args);
	error_set(&dump->damage, -EINVAL, why, dump->position, "cannot read %.150s: %s at offset %llu (0x%llx); have it "
		  "written again", dump->name, cause, (unsigned long long)dump->position,
		  (unsigned long long)dump->position);
	dump->ended = true;
	if (err)
		*err = dump->damage;
	return dump->partial ? 0 : -EINVAL;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static int read_header(struct perfev_jitdump *dump, struct perfev_error *err)
{
	const unsigned char *h = source_at(&dump->source, 0, HEADER_SIZE);
	uint32_t magic = h ? load_u32(h, false) : 0, size;
	bool swap = magic == MAGIC_SWAP;

	if (magic != MAGIC && magic != MAGIC_SWAP)
		return error_set(err, -EINVAL, PERFEV_WHY_FORMAT, 0,
				 "cannot read %.200s: it is no dump of a JIT compiler (it does not begin with JiTD); give a "
				 "jit-PID.dump", dump->name);
	size = load_u32(h + 8, swap);
	dump->info.swapped = swap;
	dump->info.version = load_u32(h + 4, swap);
	dump->info.elf_machine = load_u32(h + 12, swap);
	dump->info.pid = load_u32(h + 20, swap);
	dump->info.timestamp = load_u64(h + 24, swap);
	dump->info.flags = load_u64(h + 32, swap);
	dump->info.size = dump->source.size;
	if (size < HEADER_SIZE || size > dump->source.size)
		return damaged(dump, PERFEV_WHY_CORRUPT, err, "its header says a size of %u, which cannot be,", size);
	dump->position = size;
	return 0;
}

static int open_dump(struct perfev_jitdump **ret, struct perfev_jitdump *dump, struct perfev_error *err)
{
	int r = read_header(dump, err);

	if (r < 0) {
		perfev_jitdump_close(dump);
		return r;
	}
	*ret = dump;
	return 0;
}

static struct perfev_jitdump *new_dump(const char *name, const struct perfev_jitdump_opts *opts)
{
	struct perfev_jitdump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return NULL;
	dump->source.fd = -1;
	dump->partial = opts->partial;
	dump->name = malloc(strlen(name) + 1);
	if (!dump->name) {
		free(dump);
		return NULL;
	}
	memcpy(dump->name, name, strlen(name) + 1);
	return dump;
}

int perfev_jitdump_open(struct perfev_jitdump **ret, const char *path, const struct perfev_jitdump_opts *opts,
			struct perfev_error *err)
{
	struct perfev_jitdump_opts full;
	struct perfev_jitdump *dump;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	dump = new_dump(path, &full);
	if (!dump)
		return error_memory(err);
	r = source_open(&dump->source, path, full.copy ? SOURCE_COPY : SOURCE_FILE);
	if (r < 0) {
		error_errno(err, r, "cannot read %.200s", path);
		perfev_jitdump_close(dump);
		return r;
	}
	return open_dump(ret, dump, err);
}

int perfev_jitdump_open_memory(struct perfev_jitdump **ret, struct perfev_bytes bytes, const char *name,
			       const struct perfev_jitdump_opts *opts, struct perfev_error *err)
{
	struct perfev_jitdump_opts full;
	struct perfev_jitdump *dump;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	dump = new_dump(name, &full);
	if (!dump)
		return error_memory(err);
	source_open_memory(&dump->source, bytes);
	return open_dump(ret, dump, err);
}

void perfev_jitdump_close(struct perfev_jitdump *dump)
{
	if (!dump)
		return;
	source_close(&dump->source);
	free(dump->name);
	free(dump);
}

void perfev_jitdump_describe(const struct perfev_jitdump *dump, struct perfev_jitdump_info *ret)
{
	*ret = dump->info;
}

const struct perfev_error *perfev_jitdump_damage(const struct perfev_jitdump *dump)
{
	return dump->damage.code ? &dump->damage : NULL;
}

/* ---- records ------------------------------------------------------------------------------------------------------ */

static bool take_load(struct perfev_jit_code *ret, struct perfev_bytes body, bool swap)
{
	const unsigned char *at = body.data, *end;

	if (body.size < 41)
		return false;
	ret->pid = load_u32(at, swap);
	ret->tid = load_u32(at + 4, swap);
	ret->vma = load_u64(at + 8, swap);
	ret->code_addr = ret->old_addr = load_u64(at + 16, swap);
	ret->code_size = load_u64(at + 24, swap);
	ret->index = load_u64(at + 32, swap);
	ret->name = (const char *)at + 40;
	end = memchr(at + 40, 0, body.size - 40);
	if (!end)
		return false;
	ret->code.data = end + 1;
	ret->code.size = body.size - (size_t)(end + 1 - at);
	if (ret->code_size > ret->code.size)
		return false;
	ret->code.size = (size_t)ret->code_size; /* what follows is padding */
	return true;
}

static bool take_move(struct perfev_jit_code *ret, struct perfev_bytes body, bool swap)
{
	const unsigned char *at = body.data;

	memset(ret, 0, sizeof(*ret));
	if (body.size < 48)
		return false;
	ret->pid = load_u32(at, swap);
	ret->tid = load_u32(at + 4, swap);
	ret->vma = load_u64(at + 8, swap);
	ret->old_addr = load_u64(at + 16, swap);
	ret->code_addr = load_u64(at + 24, swap);
	ret->code_size = load_u64(at + 32, swap);
	ret->index = load_u64(at + 40, swap);
	return true;
}

bool perfev_jit_line_next(const struct perfev_jit_lines *lines, struct perfev_jit_line_position *position,
			  struct perfev_jit_line *ret)
{
	const unsigned char *at = (const unsigned char *)lines->entries.data + position->at;
	size_t left = lines->entries.size - position->at, size;
	const char *name;

	if (position->index >= lines->count || left < 17 || !memchr(at + 16, 0, left - 16))
		return false;
	name = (const char *)at + 16;
	size = strlen(name) + 1;
	if (!strcmp(name, "\xff") && position->file)
		name = position->file; /* as the one before */
	ret->addr = load_u64(at, lines->swapped);
	ret->line = load_u32(at + 8, lines->swapped);
	ret->discriminator = load_u32(at + 12, lines->swapped);
	ret->file = name;
	position->file = name;
	position->at += 16 + size;
	position->index++;
	return true;
}

static bool take_lines(struct perfev_jit_lines *ret, struct perfev_bytes body, bool swap)
{
	const unsigned char *at = body.data;

	if (body.size < 16)
		return false;
	ret->code_addr = load_u64(at, swap);
	ret->count = load_u64(at + 8, swap);
	ret->entries.data = at + 16;
	ret->entries.size = body.size - 16;
	ret->swapped = swap;
	return ret->count <= ret->entries.size / 17;
}

static bool take_unwinding(struct perfev_jit_unwinding *ret, struct perfev_bytes body, bool swap)
{
	const unsigned char *at = body.data;
	uint64_t size;

	if (body.size < 24)
		return false;
	size = load_u64(at, swap);
	ret->eh_frame_hdr_size = load_u64(at + 8, swap);
	ret->mapped_size = load_u64(at + 16, swap);
	ret->data.data = at + 24;
	ret->data.size = (size_t)size;
	return size <= body.size - 24 && ret->eh_frame_hdr_size <= size;
}

static bool take_body(const struct perfev_jitdump *dump, struct perfev_jit_record *ret)
{
	bool swap = dump->info.swapped;

	switch (ret->type) {
	case PERFEV_JIT_LOAD:
		return take_load(&ret->as.code, ret->body, swap);
	case PERFEV_JIT_MOVE:
		return take_move(&ret->as.code, ret->body, swap);
	case PERFEV_JIT_DEBUG:
		return take_lines(&ret->as.lines, ret->body, swap);
	case PERFEV_JIT_UNWINDING:
		return take_unwinding(&ret->as.unwinding, ret->body, swap);
	default:
		return true;
	}
}

static int repeat(const struct perfev_jitdump *dump, struct perfev_error *err)
{
	if (!dump->damage.code || dump->partial)
		return 0;
	if (err)
		*err = dump->damage;
	return dump->damage.code;
}

int perfev_jitdump_next(struct perfev_jitdump *dump, struct perfev_jit_record *ret, struct perfev_error *err)
{
	uint64_t left = dump->source.size - dump->position;
	const unsigned char *at;
	bool swap = dump->info.swapped;

	if (dump->ended)
		return repeat(dump, err);
	if (!left) {
		dump->ended = true;
		return 0;
	}
	if (source_shrank(&dump->source))
		return damaged(dump, PERFEV_WHY_TRUNCATED, err, "the file became shorter while it was read,");
	at = source_at(&dump->source, dump->position, PREFIX_SIZE);
	if (!at)
		return damaged(dump, PERFEV_WHY_TRUNCATED, err, "the header of the record needs %u bytes and %llu remain,",
			       PREFIX_SIZE, (unsigned long long)left);
	ret->type = load_u32(at, swap);
	ret->size = load_u32(at + 4, swap);
	ret->timestamp = load_u64(at + 8, swap);
	ret->offset = dump->position;
	if (ret->size < PREFIX_SIZE)
		return damaged(dump, PERFEV_WHY_CORRUPT, err, "the record says a size of %u, less than its header,", ret->size);
	if (ret->size > left)
		return damaged(dump, PERFEV_WHY_TRUNCATED, err, "the record needs %u bytes and %llu remain,", ret->size,
			       (unsigned long long)left);
	ret->body.data = at + PREFIX_SIZE;
	ret->body.size = ret->size - PREFIX_SIZE;
	if (!take_body(dump, ret))
		return damaged(dump, PERFEV_WHY_CORRUPT, err, "a field of the record of type %u does not fit its %u bytes,",
			       ret->type, ret->size);
	dump->position += ret->size;
	return 1;
}
