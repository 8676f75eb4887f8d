/* SPDX-License-Identifier: MIT */
/*
 * The files of a recorder: one, or with --switch-output one after the other. Each is a whole recording, with what ran
 * when it began; between two of them the rings go on, so that nothing is lost.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMPRESSION_LEVEL 1 /* what perf has too: the fastest that is worth it */

/* "SIZE" has a unit B, K, M or G; "TIME" s, m, h or d. */
static int parse_switch(struct recorder_files *files, const char *text)
{
	static const char units[] = "BKMGsmhd";
	static const uint64_t factors[] = {1, 1 << 10, 1 << 20, 1 << 30, 1000, 60000, 3600000, 86400000};
	char *end;
	unsigned long long number = strtoull(text, &end, 10);
	const char *unit = *end && end != text && text[0] >= '0' && text[0] <= '9' ? strchr(units, *end) : NULL;
	uint64_t value;

	if (!unit || end[1] || !number || number > UINT64_C(1) << 32)
		return usage_error("record", "--switch-output takes a size (100M; B, K, M, G) or a time (30s; s, m, h, d), "
					     "and '%s' is neither", text);
	value = number * factors[unit - units];
	if (unit - units < 4)
		files->switch_bytes = value;
	else
		files->switch_ms = (int64_t)value;
	return 0;
}

static int parse_sync(struct recorder_files *files, const char *text)
{
	static const char *const names[] = {"never", "end", "round"};
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			files->sync = i;
			return 0;
		}
	return usage_error("record", "--sync takes never, end or round, and '%s' is none", text);
}

int check_files(struct recorder_files *files, const char *output, const char *html, const char *when, const char *sync)
{
	int r = 0;

	if ((html || when) && output && !strcmp(output, "-"))
		return usage_error("record", "%s needs the recording in a file, not on standard output",
				   html ? "--html" : "--switch-output");
	if (html && !strcmp(html, "-"))
		return usage_error("record", "--html needs a file, as in --html page.html; perfev report --html - writes to standard output");
	if (html && when)
		return usage_error("record", "--html and --switch-output exclude each other");
	if (when)
		r = parse_switch(files, when);
	return r || !sync ? r : parse_sync(files, sync);
}

/* FILE.YYYYMMDDhhmmsscc, as perf names them; no two are the same. */
static void name_file(struct recorder_files *files)
{
	struct timespec now;
	struct tm day;
	char stamp[32];
	uint64_t centi;

	clock_gettime(CLOCK_REALTIME, &now);
	centi = (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_nsec / 10000000;
	if (centi <= files->last_stamp)
		centi = files->last_stamp + 1;
	files->last_stamp = centi;
	now.tv_sec = (time_t)(centi / 100);
	localtime_r(&now.tv_sec, &day);
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &day);
	snprintf(files->name, sizeof(files->name), "%s.%s%02u", files->path, stamp, (unsigned)(centi % 100));
}

static bool switches(const struct recorder_files *files)
{
	return files->switch_bytes || files->switch_ms;
}

static int open_next(struct recorder *r, struct perfev_error *err)
{
	struct recorder_files *files = &r->files;
	struct perfev_writer_opts opts = {.size = sizeof(opts), .keep = 1, .sync = files->sync,
					  .compress = files->compress ? COMPRESSION_LEVEL : 0};

	if (switches(files))
		name_file(files);
	else
		snprintf(files->name, sizeof(files->name), "%s", files->path);
	r->path = files->name;
	files->opened_ms = now_ms();
	return perfev_writer_open(&r->writer, r->path, &opts, err);
}

int recorder_open(struct recorder *r, struct perfev_error *err)
{
	int ret = open_next(r, err);

	return ret < 0 ? ret : recorder_begin(r, err);
}

int recorder_switch(struct recorder *r, struct perfev_error *err)
{
	struct recorder_files *files = &r->files;
	uint64_t bytes = perfev_writer_bytes(r->writer);
	char text[32];
	int ret;

	if (!switches(files))
		return 0;
	if (!(files->switch_bytes && bytes >= files->switch_bytes) &&
	    !(files->switch_ms && now_ms() - files->opened_ms >= files->switch_ms))
		return 0;
	ret = recorder_finish(r, err);
	if (ret < 0)
		return ret;
	files->bytes += perfev_writer_bytes(r->writer);
	files->count++;
	note("%s: %s", text_bytes(text, perfev_writer_bytes(r->writer)), r->path);
	perfev_writer_close(r->writer);
	r->writer = NULL;
	r->first_time = r->last_time = 0;
	ret = open_next(r, err);
	return ret < 0 ? ret : recorder_begin(r, err);
}

int recorder_wait_ms(const struct recorder *r)
{
	int64_t left = r->files.opened_ms + r->files.switch_ms - now_ms();

	if (!r->files.switch_ms)
		return -1;
	return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

uint64_t recorder_bytes(const struct recorder *r)
{
	return r->files.bytes + (r->writer ? perfev_writer_bytes(r->writer) : 0);
}
