/* SPDX-License-Identifier: MIT */
/* Which samples of a recording are looked at: the options that report and script share. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

/* ---- the options ---------------------------------------------------------------------------------------- */

/* Numbers, separated by commas. */
static int check_numbers(const char *command, const char *option, const struct texts *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++) {
		const char *at = texts->items[i];
		size_t digits = strspn(at, "0123456789");

		while (digits && digits < 10 && at[digits] == ',') {
			at += digits + 1;
			digits = strspn(at, "0123456789");
		}
		if (!digits || digits > 9 || at[digits])
			return usage_error(command, "%s takes numbers, as in %s 812,813, and '%s' is none", option,
					   option, texts->items[i]);
	}
	return -1;
}

/* "12.5" in ns; moves on. False: it is no time. */
static bool take_time(const char **text, uint64_t *ret)
{
	uint64_t part = 0, unit = SECOND / 10;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*ret = strtoull(*text, &end, 10);
	if (errno || *ret > UINT64_MAX / SECOND - 1)
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++) {
			part += (uint64_t)(*end - '0') * unit;
			unit /= 10;
		}
	*ret = *ret * SECOND + part;
	*text = end;
	return true;
}

/* "A,B", "A," or ",B". */
static bool parse_time(struct filter *filter)
{
	const char *at = filter->time;

	filter->from = 0;
	filter->to = UINT64_MAX;
	if (*at != ',' && !take_time(&at, &filter->from))
		return false;
	if (*at++ != ',')
		return false;
	if (*at && !take_time(&at, &filter->to))
		return false;
	return *at == 0;
}

int filter_check(struct filter *filter, const char *command)
{
	struct perfev_error err;
	int r = check_numbers(command, "--pid", &filter->pids);

	if (r < 0)
		r = check_numbers(command, "--tid", &filter->tids);
	if (r >= 0)
		return r;
	filter->to = UINT64_MAX;
	filter->by_sample = filter->pids.count || filter->tids.count || filter->cpus || filter->time;
	if (filter->time && !parse_time(filter))
		return usage_error(command, "--time takes two times in seconds, as in --time 12.5,13, and '%s' is not that",
				   filter->time);
	if (filter->time && filter->from > filter->to)
		return usage_error(command, "--time %s ends before it begins", filter->time);
	if (filter->cpus && perfev_cpus_parse(&filter->cpu_list, &filter->cpu_count, filter->cpus, &err) < 0)
		return usage_error(command, "--cpu: %s", err.text);
	if (filter->cpus && !filter->cpu_count)
		return usage_error(command, "--cpu needs at least one CPU, as in --cpu 0-3,8");
	return -1;
}

void filter_free(struct filter *filter)
{
	free(filter->pids.items);
	free(filter->tids.items);
	free(filter->comms.items);
	free(filter->events.items);
	free(filter->cpu_list);
	memset(filter, 0, sizeof(*filter));
}

/* ---- samples --------------------------------------------------------------------------------------------- */

bool passes_text(const struct texts *wanted, const char *text)
{
	size_t i;

	for (i = 0; i < wanted->count; i++)
		if (!strcmp(wanted->items[i], text))
			return true;
	return wanted->count == 0;
}

/* "12" or "12,13". */
static bool passes_number(const struct texts *wanted, uint32_t number)
{
	size_t i;

	for (i = 0; i < wanted->count; i++) {
		const char *at = wanted->items[i];

		while (at) {
			if (strtoul(at, NULL, 10) == number)
				return true;
			at = strchr(at, ',');
			if (at)
				at++;
		}
	}
	return wanted->count == 0;
}

static bool passes_cpu(const struct filter *filter, const struct perfev_sample *sample)
{
	size_t i;

	if (!filter->cpus)
		return true;
	for (i = 0; i < filter->cpu_count && (sample->present & PERF_SAMPLE_CPU); i++)
		if ((uint32_t)filter->cpu_list[i] == sample->cpu)
			return true;
	return false;
}

bool filter_look_at(const struct filter *filter, const struct perfev_sample *sample)
{
	bool has_task = sample->present & PERF_SAMPLE_TID;

	if (!passes_number(&filter->pids, has_task ? sample->pid : 0) ||
	    !passes_number(&filter->tids, has_task ? sample->tid : 0) || !passes_cpu(filter, sample))
		return false;
	if (!filter->time)
		return true;
	return (sample->present & PERF_SAMPLE_TIME) && sample->time >= filter->from && sample->time <= filter->to;
}

/* An event that was asked for by a name which the recording does not have, nor @more: told, as nothing else would. */
void filter_look(const struct filter *filter, const struct perfev_reader *reader, const char *const *more)
{
	const struct texts *wanted = &filter->events;
	struct perfev_reader_event_info info;
	size_t i, e, m;

	for (i = 0; i < wanted->count; i++) {
		for (m = 0; more && more[m] && strcmp(more[m], wanted->items[i]); m++)
			;
		if (more && more[m])
			continue;
		for (e = 0; perfev_reader_event_at(reader, e, &info); e++)
			if (!strcmp(info.name, wanted->items[i]))
				break;
		if (e == perfev_reader_event_count(reader))
			note("no event of the recording is called %s; without --event all are shown",
			     wanted->items[i]);
	}
}
