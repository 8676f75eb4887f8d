/* SPDX-License-Identifier: MIT */
/* The progress line: on a terminal, after half a second, ten times a second at most. */
#include "cli.h"

#include <time.h>
#include <unistd.h>

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_begin(struct progress *progress, const char *what)
{
	progress->what = what;
	progress->on = isatty(STDERR_FILENO);
	progress->shown = false;
	progress->started_ms = progress->last_ms = now_ms();
}

void progress_at(struct progress *progress, uint64_t done, uint64_t total)
{
	char size[32];
	int64_t now;

	if (!progress->on)
		return;
	now = now_ms();
	if (now - progress->started_ms < 500 || now - progress->last_ms < 100)
		return;
	progress->last_ms = now;
	progress->shown = true;
	if (total)
		fprintf(stderr, "\rperfev: %s %3d %% ", progress->what, (int)(done * 100 / total));
	else
		fprintf(stderr, "\rperfev: %s %s ", progress->what, text_bytes(size, done));
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
