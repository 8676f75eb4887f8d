/* SPDX-License-Identifier: MIT */
/*
 * Layouts saved and loaded, so that another process or machine decodes raw records.
 *
 * What decides a layout is its attr; what decides how its records are read is their byte order too, so that this is
 * saved with it. As bytes, all of it little-endian:
 *
 *	0	8	"perfevLY"
 *	8	4	version, 1
 *	12	4	byte order of the records: 1 little, 2 big
 *	16	4	bytes of the attr that follow, a multiple of 8 from 64 to 4096
 *	20	4	0
 *	24		the attr; of members made of bits, the first bit is the lowest
 *
 * A later library makes the attr longer; what is behind ours is passed over, as when a layout is made.
 */
#include "attr.h"
#include "attr_json.h"
#include "layout.h"

#include "base/error.h"
#include "base/load.h"

#include <perfev/json.h>

#include <errno.h>
#include <inttypes.h>

#define HEAD	   24
#define VERSION	   1
#define ATTR_BYTES sizeof(struct perf_event_attr)

enum { ORDER_LITTLE = 1, ORDER_BIG = 2 };

static const char magic[8] = {'p', 'e', 'r', 'f', 'e', 'v', 'L', 'Y'};

static uint32_t order_of(unsigned flags)
{
	bool swapped = flags & PERFEV_RECORD_SWAPPED;

	return swapped == PERFEV_BIG_ENDIAN ? ORDER_LITTLE : ORDER_BIG;
}

static unsigned flags_of(uint32_t order)
{
	return order == order_of(0) ? 0 : PERFEV_RECORD_SWAPPED;
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

static void store(unsigned char *at, uint64_t value, unsigned width)
{
	for (; width--; value >>= 8)
		*at++ = (unsigned char)value;
}

static uint64_t load(const unsigned char *at, unsigned width)
{
	uint64_t value = 0;

	while (width--)
		value = value << 8 | at[width];
	return value;
}

int perfev_layout_save(void *to, size_t size, const struct perfev_layout *layout, unsigned flags,
		       struct perfev_error *err)
{
	unsigned char all[HEAD + ATTR_BYTES] = {0};
	size_t i;

	(void)err;
	memcpy(all, magic, sizeof(magic));
	store(all + 8, VERSION, 4);
	store(all + 12, order_of(flags), 4);
	store(all + 16, ATTR_BYTES, 4);
	for (i = 0; i < attr_field_count; i++)
		store(all + HEAD + attr_fields[i].offset, attr_get(&layout->attr, &attr_fields[i]), attr_fields[i].width);
	if (size)
		memcpy(to, all, size < sizeof(all) ? size : sizeof(all));
	return sizeof(all);
}

static int refuse(struct perfev_error *err, enum perfev_why why, uint64_t where, const char *what, uint64_t value)
{
	return error_set(err, why == PERFEV_WHY_UNSUPPORTED ? -ENOTSUP : -EINVAL, why, where,
			 "cannot load a layout: %s %" PRIu64 "%s", what, value,
			 why == PERFEV_WHY_UNSUPPORTED ? "; update the library" : "; it was damaged, or is something else");
}

static int check(struct perfev_bytes bytes, struct perfev_error *err)
{
	const unsigned char *at = bytes.data;
	uint64_t order, attr_bytes, attr_size;

	if (bytes.size < HEAD + PERF_ATTR_SIZE_VER0)
		return refuse(err, PERFEV_WHY_TRUNCATED, bytes.size, "88 bytes are the least, and there are", bytes.size);
	if (memcmp(at, magic, sizeof(magic)) != 0)
		return refuse(err, PERFEV_WHY_FORMAT, 0, "it does not begin as one; its first byte is", at[0]);
	if (load(at + 8, 4) != VERSION)
		return refuse(err, PERFEV_WHY_UNSUPPORTED, 8, "it is of version", load(at + 8, 4));
	order = load(at + 12, 4);
	if (order != ORDER_LITTLE && order != ORDER_BIG)
		return refuse(err, PERFEV_WHY_CORRUPT, 12, "there is no byte order", order);
	attr_bytes = load(at + 16, 4);
	if (attr_bytes < PERF_ATTR_SIZE_VER0 || attr_bytes > ATTR_BYTES_MAX || attr_bytes % 8)
		return refuse(err, PERFEV_WHY_CORRUPT, 16, "no attr has a size of", attr_bytes);
	if (bytes.size != HEAD + attr_bytes)
		return refuse(err, bytes.size < HEAD + attr_bytes ? PERFEV_WHY_TRUNCATED : PERFEV_WHY_CORRUPT, bytes.size,
			      "for what is in it, its size is not", bytes.size);
	if (load(at + 20, 4))
		return refuse(err, PERFEV_WHY_CORRUPT, 20, "where 0 has to be is", load(at + 20, 4));
	attr_size = load(at + HEAD + 4, 4);
	if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > attr_bytes)
		return refuse(err, PERFEV_WHY_CORRUPT, HEAD + 4, "the attr says that its size is", attr_size);
	return 0;
}

int perfev_layout_load(struct perfev_layout **ret, unsigned *flags, struct perfev_bytes bytes,
		       struct perfev_error *err)
{
	const unsigned char *at = bytes.data;
	struct perf_event_attr attr;
	int r = check(bytes, err);
	size_t i;

	if (r < 0)
		return r;
	memset(&attr, 0, sizeof(attr));
	for (i = 0; i < attr_field_count; i++)
		if ((size_t)attr_fields[i].offset + attr_fields[i].width <= bytes.size - HEAD)
			attr_set(&attr, &attr_fields[i], load(at + HEAD + attr_fields[i].offset, attr_fields[i].width));
	if (attr.size > sizeof(attr))
		attr.size = sizeof(attr);
	if (flags)
		*flags = flags_of((uint32_t)load(at + 12, 4));
	return perfev_layout_new(ret, &attr, err);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

int perfev_layout_to_json(char *ret, size_t size, const struct perfev_layout *layout, unsigned flags,
			  struct perfev_error *err)
{
	struct out o = {.to = ret, .size = size, .json = true};

	(void)err;
	out_open(&o);
	out_name(&o, "byte_order");
	out_string(&o, order_of(flags) == ORDER_BIG ? "big" : "little");
	out_name(&o, "attr");
	attr_json_write(&o, &layout->attr);
	out_close(&o);
	return out_end(&o);
}

static uint32_t byte_order(struct input *in)
{
	if (json_is(in, "big"))
		return ORDER_BIG;
	if (!json_is(in, "little"))
		in_wrong(in, "the byte order is little or big");
	return ORDER_LITTLE;
}

int perfev_layout_from_json(struct perfev_layout **ret, unsigned *flags, const char *json, struct perfev_error *err)
{
	struct input in = {.text = json, .json = true, .what = "a layout", .err = err};
	uint32_t order = ORDER_LITTLE;
	struct perf_event_attr attr;
	struct scope s;

	memset(&attr, 0, sizeof(attr));
	json_check(&in);
	in_open(&in, &s);
	if (in_find(&in, &s, "byte_order"))
		order = byte_order(&in);
	if (in_find(&in, &s, "attr"))
		attr_json_read(&in, &attr, sizeof(attr));
	in_close(&in, &s);
	if (in.failed)
		return -EINVAL;
	if (flags)
		*flags = flags_of(order);
	return perfev_layout_new(ret, &attr, err);
}
