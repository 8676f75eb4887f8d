/* SPDX-License-Identifier: MIT */
/*
 * A probe of tracefs is a line written to kprobe_events or uprobe_events; then it is a tracepoint, with an
 * id in events/GROUP/NAME. Anybody can see it, and it stays until "-:GROUP/NAME" is written, which fails
 * while a descriptor of it is open. Its name has our process number, so that others do not take it.
 */
#include "dynamic_probe.h"

#include "base/number.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP	  "perfev"
#define NAMES_MAX 1000

struct dynamic_probe {
	atomic_uint users;
	char file[512];
	char name[64];
};

static int write_line(const struct dynamic_probe *probe, char kind, const char *place)
{
	char line[4608];
	int n = snprintf(line, sizeof(line), "%c:" GROUP "/%s%s%s\n", kind, probe->name, *place ? " " : "", place);

	if (n < 0 || (size_t)n >= sizeof(line))
		return -ENAMETOOLONG;
	return sys_append_text(probe->file, line);
}

static void id_path(char *ret, size_t size, const struct dynamic_probe *probe, const char *tracefs)
{
	snprintf(ret, size, "%.500s/events/" GROUP "/%s/id", tracefs, probe->name);
}

/* A name that nothing has: a second probe of the same name would be put to the first one. The address is
 * ours while the probe lives; what an ended process of our number left behind is passed over. */
static int find_name(struct dynamic_probe *probe, const char *tracefs)
{
	char path[640];
	unsigned number;

	for (number = 0; number < NAMES_MAX; number++) {
		snprintf(probe->name, sizeof(probe->name), "p%d_%llx_%u", sys_pid(),
			 (unsigned long long)(uintptr_t)probe, number);
		id_path(path, sizeof(path), probe, tracefs);
		if (!sys_can_read(path))
			return 0;
	}
	return -EEXIST;
}

static int read_id(const struct dynamic_probe *probe, const char *tracefs, uint64_t *id)
{
	char path[640], text[32];
	ssize_t n;

	id_path(path, sizeof(path), probe, tracefs);
	n = sys_read_text(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	return number_parse(text, (size_t)n, id) ? 0 : -EINVAL;
}

int dynamic_probe_make(struct dynamic_probe **ret, uint64_t *id, const char *tracefs, const char *file,
		       char kind, const char *place)
{
	struct dynamic_probe *probe = calloc(1, sizeof(*probe));
	int r = 0;

	if (!probe)
		return -ENOMEM;
	if ((size_t)snprintf(probe->file, sizeof(probe->file), "%s/%s", tracefs, file) >= sizeof(probe->file))
		r = -ENAMETOOLONG;
	if (r == 0)
		r = find_name(probe, tracefs);
	if (r == 0)
		r = write_line(probe, kind, place);
	if (r < 0) {
		free(probe);
		return r;
	}
	atomic_init(&probe->users, 1);
	r = read_id(probe, tracefs, id);
	if (r < 0) {
		dynamic_probe_release(probe);
		return r;
	}
	*ret = probe;
	return 0;
}

struct dynamic_probe *dynamic_probe_share(struct dynamic_probe *probe)
{
	if (probe)
		atomic_fetch_add(&probe->users, 1);
	return probe;
}

void dynamic_probe_release(struct dynamic_probe *probe)
{
	if (!probe || atomic_fetch_sub(&probe->users, 1) != 1)
		return;
	write_line(probe, '-', "");
	free(probe);
}
