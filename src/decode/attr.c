/* SPDX-License-Identifier: MIT */
/*
 * The members of an attr by their place, for those that a kernel may not know: all after the first
 * 64 bytes, which every kernel has. An attr may be larger than ours, when its owner has a newer
 * header.
 */
#include "attr.h"

#include <stdbool.h>
#include <stddef.h>

#define SIZE(name)   sizeof(((struct perf_event_attr *)0)->name)
#define MEMBER(name) {#name, offsetof(struct perf_event_attr, name), SIZE(name)}

static const struct {
	const char *name;
	size_t offset, size;
} members[] = {
	MEMBER(config2),
	MEMBER(branch_sample_type),
	MEMBER(sample_regs_user),
	MEMBER(sample_stack_user),
	MEMBER(clockid),
	MEMBER(sample_regs_intr),
	MEMBER(aux_watermark),
	MEMBER(sample_max_stack),
	MEMBER(__reserved_2),
	MEMBER(aux_sample_size),
	MEMBER(aux_action),
	MEMBER(sig_data),
	MEMBER(config3),
	MEMBER(config4),
};

static bool any_set(const unsigned char *bytes, size_t from, size_t end)
{
	for (; from < end; from++)
		if (bytes[from])
			return true;
	return false;
}

const char *attr_set_beyond(const struct perf_event_attr *attr, uint32_t known, uint32_t size)
{
	const unsigned char *bytes = (const unsigned char *)attr;
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		size_t from = members[i].offset, end = from + members[i].size;

		if (end > size)
			end = size;
		if (!any_set(bytes, from < known ? known : from, end))
			continue;
		if (attr->type == PERF_TYPE_BREAKPOINT && i == 0)
			return "bp_len"; /* the same place */
		return members[i].name;
	}
	if (any_set(bytes, known > sizeof(*attr) ? known : sizeof(*attr), size))
		return "a member newer than this library";
	return NULL;
}
