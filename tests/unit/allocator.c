/* SPDX-License-Identifier: MIT */
/*
 * What stands between the library and the allocator, where the linker puts it (--wrap): it counts what is not freed, and fails
 * when it is told to.
 */
#include "allocator.h"

#include <stddef.h>

long fail_in = -1;
bool has_failed;
long live;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *at);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *at);

static bool fails(void)
{
	if (fail_in < 0 || fail_in-- > 0)
		return false;
	has_failed = true;
	return true;
}

static void *count(void *at)
{
	live += at != NULL;
	return at;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	return old ? __real_realloc(old, size) : count(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : count(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : count(__real_strdup(text));
}

void __wrap_free(void *at)
{
	live -= at != NULL;
	__real_free(at);
}
