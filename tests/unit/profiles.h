/* SPDX-License-Identifier: MIT */
/* A profile of a test's own, and what is written of it. */
#ifndef TESTS_UNIT_PROFILES_H
#define TESTS_UNIT_PROFILES_H

#include "test.h"

static struct perfev_error err;
static struct perfev_profile *profile;

static inline int setup(void **state)
{
	(void)state;
	return perfev_profile_new(&profile, &err);
}

static inline int teardown(void **state)
{
	(void)state;
	perfev_profile_free(profile);
	return 0;
}

static inline uint32_t frame(const char *symbol, const char *module, uint64_t address, uint32_t kind)
{
	struct perfev_profile_frame f = {symbol, module, address, kind, 0};
	uint32_t number;

	assert_works(perfev_profile_intern(profile, &number, &f, &err));
	return number;
}

static inline void add(uint32_t event, uint32_t comm, uint64_t weight, size_t count, const uint32_t *frames)
{
	struct perfev_profile_stack stack = {frames, count, weight, event, comm};

	assert_works(perfev_profile_add(profile, &stack, &err));
}

/* ---- what is written ------------------------------------------------------------------------------------ */

struct text {
	char *data;
	size_t size, room;
	int result;
};

static inline int collect(void *context, const void *data, size_t size)
{
	struct text *text = context;

	if (text->result < 0)
		return text->result;
	if (text->size + size + 1 > text->room) {
		text->room = (text->size + size + 1) * 2;
		text->data = realloc(text->data, text->room);
		assert_non_null(text->data);
	}
	memcpy(text->data + text->size, data, size);
	text->size += size;
	text->data[text->size] = 0;
	return 0;
}

#endif
