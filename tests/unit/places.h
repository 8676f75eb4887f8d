/* SPDX-License-Identifier: MIT */
/* A tracefs that takes probes and keeps what was written to it, and PMUs of probes, in the kernel of the tests. */
#ifndef TESTS_UNIT_PLACES_H
#define TESTS_UNIT_PLACES_H

#include "test.h"

#include "capture/event.h"
#include "fake/kernel.h"

#define TRACEFS "/sys/kernel/tracing"
#define DEVICES "/sys/bus/event_source/devices/"

static struct perfev_error err;

/* ---- a tracefs that takes probes ------------------------------------------------------------------------- */

static struct {
	char lines[16][4700]; /* as they were written */
	int count;	      /* of lines ever written */
	int there;	      /* probes that are there now */
	int refuse;	      /* the answer to the next probe; 0: taken */
	bool no_id;	      /* a probe is taken, and yet has no id */
	const char *root;
} control;

static inline void id_path(char *ret, size_t size, const char *name)
{
	snprintf(ret, size, "%s/events/perfev/%.80s/id", control.root, name);
}

static inline int take_line(const char *path, const char *text)
{
	char name[128], file[200];

	if (strncmp(path, control.root, strlen(control.root)) ||
	    (strcmp(path + strlen(control.root), "/kprobe_events") && strcmp(path + strlen(control.root), "/uprobe_events")))
		return -ENOENT;
	assert_in_range(control.count, 0, 15);
	snprintf(control.lines[control.count++], sizeof(control.lines[0]), "%s", text);
	assert_true(text[strlen(text) - 1] == '\n' && strchr(text, '\n') == text + strlen(text) - 1); /* one line */
	assert_int_equal(sscanf(text + 1, ":perfev/%127s", name), 1);
	id_path(file, sizeof(file), name);
	if (text[0] == '-') {
		assert_true(control.no_id || sys_can_read(file));
		fake_remove(file);
		control.there--;
		return 0;
	}
	if (control.refuse)
		return control.refuse;
	assert_false(sys_can_read(file)); /* a second one would be put to the first */
	if (!control.no_id)
		fake_file(file, control.count == 1 ? "901\n" : "902\n");
	control.there++;
	return 0;
}

static inline void machine(void)
{
	fake_reset();
	memset(&control, 0, sizeof(control));
	control.root = TRACEFS;
	fake.on_append = take_line;
	fake_file("/proc/self/mounts", "tracefs " TRACEFS " tracefs rw,relatime 0 0\n");
	fake_file("/sys/devices/system/cpu/online", "0-1\n");
	fake_file(DEVICES "software/type", "1\n");
	fake_file(TRACEFS "/kprobe_events", "");
	fake_file(TRACEFS "/uprobe_events", "");
	fake_file(TRACEFS "/events/enable", "0\n");
	fake_file(TRACEFS "/events/sched/enable", "0\n");
	fake_file(TRACEFS "/events/sched/sched_switch/id", "316\n");
	fake_file(TRACEFS "/events/sched/sched_wakeup/id", "319\n");
	fake_file(TRACEFS "/events/sched/sched_waking/id", "320\n");
	fake_file(TRACEFS "/events/syscalls/sys_enter_read/id", "700\n");
}

/* PMUs whose bits are not where they are today. */
static inline void probe_pmus(void)
{
	fake_file(DEVICES "kprobe/type", "40\n");
	fake_file(DEVICES "kprobe/format/retprobe", "config:5\n");
	fake_file(DEVICES "uprobe/type", "41\n");
	fake_file(DEVICES "uprobe/format/retprobe", "config:3\n");
	fake_file(DEVICES "uprobe/format/ref_ctr_offset", "config:8-39\n");
}

static inline struct perfev_event *parse(const char *text)
{
	struct perfev_event *event = NULL;

	if (perfev_event_parse(&event, text, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return event;
}

#endif
