/* SPDX-License-Identifier: MIT */
/*
 * Lists of CPUs. Numbers may have gaps (offline CPUs, sparse machines): a CPU's number is never its
 * place in a list. A list is sorted and names each CPU once, however it was written: a CPU that came
 * twice would be opened twice, and everything on it counted double.
 */
#include <perfev/probe.h>

#include "base/buffer.h"
#include "base/error.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPU_MAX (1 << 20)

static const char *take_cpu(const char *at, int32_t *ret)
{
	int32_t value = 0;

	if (*at < '0' || *at > '9')
		return NULL;
	for (; *at >= '0' && *at <= '9'; at++) {
		value = value * 10 + (*at - '0');
		if (value >= CPU_MAX)
			return NULL;
	}
	*ret = value;
	return at;
}

static int add_range(int32_t **cpus, size_t *room, size_t *count, int32_t first, int32_t last)
{
	int32_t cpu;

	if (last - first >= CPU_MAX - (int32_t)*count)
		return -E2BIG;
	for (cpu = first; cpu <= last; cpu++) {
		int32_t *more = array_grow(*cpus, room, *count, sizeof(**cpus));

		if (!more)
			return -ENOMEM;
		*cpus = more;
		more[(*count)++] = cpu;
	}
	return 0;
}

static int compare_cpus(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static size_t sort_cpus(int32_t *cpus, size_t count)
{
	size_t i, kept = 0;

	if (count)
		qsort(cpus, count, sizeof(*cpus), compare_cpus);
	for (i = 0; i < count; i++)
		if (!kept || cpus[i] != cpus[kept - 1])
			cpus[kept++] = cpus[i];
	return kept;
}

static int bad_list(const char *text, const char *at, const char *what, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_SYNTAX, (uint64_t)(at - text) + 1,
			 "cannot read '%.200s' as a list of CPUs: %s at column %zu; write it like 0-3,8",
			 text, what, (size_t)(at - text) + 1);
}

/* One number or range. Returns where it ends; NULL when it is none, and then *@at is the place. */
static const char *take_range(const char **at, int32_t *first, int32_t *last)
{
	const char *next = take_cpu(*at, first);

	*last = *first;
	if (!next || *next != '-')
		return next;
	*at = next + 1;
	next = take_cpu(*at, last);
	return next && *last >= *first ? next : NULL;
}

/* Why there is no range at @at; a first number was good when @at is the second. */
static const char *no_range(const char *at)
{
	int32_t ignored;

	if (*at < '0' || *at > '9')
		return "a number is expected";
	return take_cpu(at, &ignored) ? "the range ends before it begins" : "the number is too large";
}

int perfev_cpus_parse(int32_t **ret, size_t *count, const char *text, struct perfev_error *err)
{
	const char *at = text, *next, *what = "a number is expected";
	int32_t *cpus = NULL, first = 0, last;
	size_t room = 0, n = 0;
	bool more = !strchr(" \t\n", *at); /* an empty list is one */
	int r;

	for (; more; at = next + more) {
		next = take_range(&at, &first, &last);
		if (!next) {
			what = no_range(at);
			goto bad;
		}
		r = add_range(&cpus, &room, &n, first, last);
		if (r == -ENOMEM) {
			free(cpus);
			return error_memory(err);
		}
		if (r < 0) {
			what = "there are too many";
			goto bad;
		}
		more = *next == ',';
	}
	if (strspn(at, " \t\n") != strlen(at))
		goto bad;
	*ret = cpus;
	*count = sort_cpus(cpus, n);
	return 0;
bad:
	free(cpus);
	return bad_list(text, at, what, err);
}

int perfev_cpus_online(int32_t **ret, size_t *count, struct perfev_error *err)
{
	char text[4096];
	ssize_t n = sys_read_text("/sys/devices/system/cpu/online", text, sizeof(text));

	if (n == 0)
		n = -ENODATA;
	if (n == -ENOENT)
		return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
				 "cannot list the CPUs: there is no /sys/devices/system/cpu/online; run mount -t sysfs "
				 "sysfs /sys");
	if (n < 0)
		return error_errno(err, (int)n, "cannot list the CPUs: /sys/devices/system/cpu/online");
	return perfev_cpus_parse(ret, count, text, err);
}
