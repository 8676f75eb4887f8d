/* SPDX-License-Identifier: MIT */
/* Event text on the machines of tests/machines, the first byte says on which: any text gives events, or an error
 * with its place. An event's name is a text that means it, and so is what it is written as. */
#include "fuzz.h"
#include "machine.h"

#include <perfev/event.h>

#include "capture/event.h"
#include "fake/kernel.h"

static const char *const machines[] = {"alderlake", "xeon", "zen", "big-little", "mainframe", "riscv", "power"};
#define MACHINES (sizeof(machines) / sizeof(machines[0]))

static struct perfev_parse_opts opts[MACHINES];
static char roots[MACHINES][2][64];

static bool put(void *context, const char *path, const char *text)
{
	char full[300];

	snprintf(full, sizeof(full), "/%s/%s", (const char *)context, path);
	fake_file(full, text);
	return true;
}

static void make_machines(void)
{
	size_t i;

	fake_reset();
	for (i = 0; i < MACHINES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s", machines[i]);
		if (!machine_read(name, put, name))
			abort();
		snprintf(roots[i][0], sizeof(roots[i][0]), "/%s/sys", name);
		snprintf(roots[i][1], sizeof(roots[i][1]), "/%s/tracing", name);
		opts[i] = (struct perfev_parse_opts){sizeof(opts[i]), roots[i][0], roots[i][1]};
	}
}

static bool same_attr(const struct perfev_event *a, const struct perfev_event *b)
{
	struct perf_event_attr x = a->attr, y = b->attr;

	/* a member of a group starts with its leader, and has its group's modifiers, which are no part of its name */
	if (a->probe) {
		if (!b->probe || strcmp(a->probe, b->probe))
			return false;
		x.config1 = y.config1 = 0;
	}
	return x.type == y.type && x.config == y.config && x.config1 == y.config1 && x.config2 == y.config2 &&
	       x.config3 == y.config3 && x.config4 == y.config4 && x.bp_type == y.bp_type &&
	       x.sample_period == y.sample_period && x.freq == y.freq && x.sample_type == y.sample_type;
}

static void check_text(const char *text, const struct perfev_event *event, const struct perfev_parse_opts *on)
{
	struct perfev_events *again;

	if (perfev_events_parse_at(&again, text, on, NULL) < 0)
		abort();
	if (perfev_events_count(again) != 1 || !same_attr(event, perfev_events_at(again, 0)))
		abort();
	perfev_events_free(again);
}

static void check_event(struct perfev_event *event, bool leads, const struct perfev_parse_opts *on)
{
	static char text[8192];
	struct perfev_error err;

	if (perfev_event_attr(event)->disabled != leads)
		abort();
	/* "cpu_core/instructions/" is the generic event, or the PMU's own of that name */
	if (!event->named && (!event->pmu || event->attr.type > PERF_TYPE_HW_CACHE || event->attr.type == PERF_TYPE_SOFTWARE))
		check_text(perfev_event_name(event), event, on);
	if (event_format_at(text, sizeof(text), event, on, &err) < 0)
		abort();
	check_text(text, event, on);
}

static void check_error(const struct perfev_error *err, const char *text)
{
	if (!err->code || !err->text[0] || err->where < 1 || err->where > strlen(text) + 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct perfev_parse_opts *on;
	struct perfev_events *events;
	struct perfev_error err;
	char *text;
	size_t i;

	if (!opts[0].size)
		make_machines();
	if (!size)
		return 0;
	on = &opts[data[0] % MACHINES];
	text = malloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (perfev_events_parse_at(&events, text, on, &err) < 0) {
		check_error(&err, text);
	} else {
		for (i = 0; i < perfev_events_count(events) && i < 3; i++) /* of thousands: enough */
			check_event(perfev_events_at(events, i), perfev_events_leader(events, i) == i, on);
		perfev_events_free(events);
	}
	if (fake_left())
		abort();
	free(text);
	return 0;
}
