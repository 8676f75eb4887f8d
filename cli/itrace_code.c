/* SPDX-License-Identifier: MIT */
/*
 * The code that ran, for whoever follows a trace. Of a file that cannot be read gaps are told as often as perf script tells
 * them: it says so of the first walk through the file, and of the second if it had not tried to read it before, as it does for
 * each sample that it prints, and at the vdso of a process for the files that were mapped until then.
 */
#include "itrace_base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAPPED_MAX 4096

/* The file at a place that has no code; NULL: nothing is mapped there. */
static struct unread *unread_at(struct itrace *it, const struct perfev_place *place)
{
	struct perfev_frame frame;
	struct unread *unread;
	size_t i;

	if (perfev_symbols_find(it->replay->symbols, place, &frame, 1, NULL) <= 0 || !strcmp(frame.module, "[unknown]"))
		return NULL;
	for (i = 0; i < it->unread_count; i++)
		if (!strcmp(it->unread[i].module, frame.module))
			return &it->unread[i];
	unread = itrace_grow(it->unread, &it->unread_room, it->unread_count, sizeof(*unread));
	if (!unread)
		return NULL;
	it->unread = unread;
	memset(&unread[it->unread_count], 0, sizeof(*unread));
	unread[it->unread_count].module = frame.module;
	return &unread[it->unread_count++];
}

/* Gaps of one file are told as often as perf script tells them: twice, or once when a sample in it was printed before. */
static int code_is_missing(struct itrace *it, const struct perfev_place *place)
{
	struct unread *unread = unread_at(it, place);

	if (unread && unread->tried && unread->told)
		return -ENODATA;
	if (unread && unread->tried)
		unread->told = true;
	if (unread)
		unread->tried = true;
	return -ENOENT;
}

/* perf tried to read there. Return: whether it could. */
static bool try_place(struct itrace *it, uint64_t ip, int32_t pid)
{
	struct perfev_place place = {ip, pid, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};
	struct unread *unread;
	unsigned char byte;

	if (perfev_symbols_code(it->replay->symbols, &place, &byte, 1, NULL) > 0)
		return true;
	unread = unread_at(it, &place);
	if (unread)
		unread->tried = true;
	return false;
}

void itrace_printed(struct itrace *it, uint64_t ip, int32_t pid)
{
	if (ip)
		try_place(it, ip, pid);
}

/* At the vdso of a process perf looks at the files that it mapped before, for one that tells which kind of program it is. */
static int look_at_files(struct itrace *it, int32_t pid)
{
	size_t i, kept = 0;
	bool found = false;

	for (i = 0; i < it->mapped_count; i++) {
		if (it->mapped[i].pid != pid)
			it->mapped[kept++] = it->mapped[i];
		else if (!found)
			found = try_place(it, it->mapped[i].start, pid);
	}
	it->mapped_count = kept;
	return 0;
}

int itrace_mapping(struct itrace *it, uint32_t pid, uint64_t start, const char *name)
{
	struct mapped *mapped;

	if (!strcmp(name, "[vdso]"))
		return look_at_files(it, (int32_t)pid);
	if (name[0] != '/' || it->mapped_count == MAPPED_MAX)
		return 0;
	mapped = itrace_grow(it->mapped, &it->mapped_room, it->mapped_count, sizeof(*mapped));
	if (!mapped)
		return -ENOMEM;
	it->mapped = mapped;
	mapped[it->mapped_count].start = start;
	mapped[it->mapped_count++].pid = (int32_t)pid;
	return 0;
}

int itrace_code(void *context, const struct perfev_place *where, void *to, size_t size)
{
	struct stream *stream = context;
	struct perfev_place place = *where;
	int r;

	place.pid = stream->task.pid;
	if (!stream->itrace->replay->symbols || (stream->task.tid < 0 && place.cpumode == PERF_RECORD_MISC_USER))
		return -ENOENT;
	r = perfev_symbols_code(stream->itrace->replay->symbols, &place, to, size, NULL);
	return r > 0 ? r : code_is_missing(stream->itrace, &place);
}
