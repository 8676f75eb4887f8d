/* SPDX-License-Identifier: MIT */
/*
 * Lists of CPUs. Numbers may have gaps (offline CPUs, sparse machines): a CPU's number is never its
 * place in a list.
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

	for (cpu = first; cpu <= last; cpu++) {
		int32_t *more = array_grow(*cpus, room, *count, sizeof(**cpus));

		if (!more)
			return -ENOMEM;
		*cpus = more;
		more[(*count)++] = cpu;
	}
	return 0;
}

static int bad_list(const char *text, const char *at, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_SYNTAX, (uint64_t)(at - text) + 1,
			 "cannot read '%s' as a list of CPUs: a number is expected at column %zu; "
			 "write it like 0-3,8",
			 text, (size_t)(at - text) + 1);
}

int perfev_cpus_parse(int32_t **ret, size_t *count, const char *text, struct perfev_error *err)
{
	const char *at = text, *next;
	int32_t *cpus = NULL, first, last;
	size_t room = 0, n = 0;

	while (*at) {
		next = take_cpu(at, &first);
		if (!next)
			goto bad;
		last = first;
		if (*next == '-') {
			at = next + 1;
			next = take_cpu(at, &last);
			if (!next || last < first)
				goto bad;
		}
		if (add_range(&cpus, &room, &n, first, last) < 0) {
			free(cpus);
			return error_memory(err);
		}
		at = next;
		if (*at != ',')
			break;
		at++;
	}
	if (strspn(at, " \t\n") != strlen(at))
		goto bad;
	*ret = cpus;
	*count = n;
	return 0;
bad:
	free(cpus);
	return bad_list(text, at, err);
}

int perfev_cpus_online(int32_t **ret, size_t *count, struct perfev_error *err)
{
	char text[4096];
	ssize_t n = sys_read_text("/sys/devices/system/cpu/online", text, sizeof(text));

	if (n == 0)
		n = -ENODATA;
	if (n < 0)
		return error_errno(err, (int)n, "cannot list the CPUs: /sys/devices/system/cpu/online");
	return perfev_cpus_parse(ret, count, text, err);
}
