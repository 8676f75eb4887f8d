/* SPDX-License-Identifier: MIT */
/* Listing events: generic ones that the machine has, those that PMUs name, tracepoints. */
#include "event_scan.h"
#include "tracefs.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/opts.h"
#include "decode/event_name.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct lister {
	const char *glob;
	int (*each)(void *context, const struct perfev_listed_event *event);
	void *context;
	struct scan scan; /* for its list of PMUs, and its tracefs */
	bool elsewhere;	  /* another machine's tree: nothing can be tried */
	int count;
};

static int put(struct lister *l, const struct perfev_listed_event *event)
{
	int r;

	if (l->glob && !glob_match(l->glob, event->name) &&
	    !(event->alias && glob_match(l->glob, event->alias)))
		return 0;
	l->count++;
	r = l->each(l->context, event);
	return r < 0 ? r : 0;
}

/* ---- generic events ------------------------------------------------------------------------------------ */

static bool has_core_pmu(struct lister *l)
{
	struct perfev_pmus *pmus = scan_pmus(&l->scan);
	size_t i;

	for (i = 0; pmus && i < perfev_pmus_count(pmus); i++) {
		const struct perfev_pmu *pmu = pmus_get(pmus, i);

		if (pmu && (pmu->flags & PERFEV_PMU_CORE))
			return true;
	}
	return false;
}

static bool can_open(struct lister *l, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.type = type,
				       .size = sizeof(attr),
				       .config = config,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd;

	if (type == PERF_TYPE_SOFTWARE)
		return true;
	if (!has_core_pmu(l))
		return false;
	if (l->elsewhere)
		return true;
	fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd == -EACCES || fd == -EPERM || fd == -EMFILE;
	sys_close(fd);
	return true;
}

/* Names of one event stand beside each other in the table; the first is its name. */
static int list_names(struct lister *l, uint32_t type, const char *kind)
{
	size_t count, i;
	const struct event_name *names = event_names(&count);
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		struct perfev_listed_event event = {names[i].name, NULL, kind, "", "", "", 1};
		bool more = i + 1 < count && names[i + 1].type == type &&
			    names[i + 1].config == names[i].config;

		if (names[i].type != type)
			continue;
		if (more)
			event.alias = names[i + 1].name;
		if (can_open(l, type, names[i].config))
			r = put(l, &event);
		i += more;
	}
	return r;
}

static int list_caches(struct lister *l)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HW_CACHE};
	uint64_t cache, op, result, config;
	const char *nearest;
	uint32_t type;
	char name[64];
	int r = 0;

	for (cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
			for (result = 0; r == 0 && result < PERF_COUNT_HW_CACHE_RESULT_MAX; result++) {
				struct perfev_listed_event event = {name, NULL, "cache", "", "", "", 1};

				attr.config = cache | op << 8 | result << 16;
				event_name_format(name, sizeof(name), &attr);
				if (event_name_find(name, strlen(name), &type, &config, &nearest) == 0 &&
				    can_open(l, PERF_TYPE_HW_CACHE, attr.config))
					r = put(l, &event);
			}
	return r;
}

static int list_tools(struct lister *l)
{
	static const char *const tools[] = {"duration_time", "user_time", "system_time"};
	int r = 0, i;

	for (i = 0; r == 0 && i < 3; i++) {
		struct perfev_listed_event event = {tools[i], NULL, "tool", "", "", "ns", 1};

		r = put(l, &event);
	}
	return r;
}

/* ---- PMUs ------------------------------------------------------------------------------------------------ */

static int list_pmu(struct lister *l, const struct perfev_pmu *pmu)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < pmu->event_count; i++) {
		const struct perfev_pmu_event *from = &pmu->events[i];
		char name[512];
		struct perfev_listed_event event = {name, from->name,  "pmu", pmu->name,
						    from->terms, from->unit, from->scale};

		snprintf(name, sizeof(name), "%.250s/%.250s/", pmu->name, from->name);
		r = put(l, &event);
	}
	return r;
}

static int list_pmus(struct lister *l)
{
	struct perfev_pmus *pmus = scan_pmus(&l->scan);
	size_t i;
	int r = 0;

	for (i = 0; pmus && r == 0 && i < perfev_pmus_count(pmus); i++) {
		const struct perfev_pmu *pmu = pmus_get(pmus, i);

		if (pmu)
			r = list_pmu(l, pmu);
	}
	return r;
}

/* ---- tracepoints -------------------------------------------------------------------------------------------- */

static int list_tracepoint(void *context, const char *system, const char *name)
{
	char text[512];
	struct perfev_listed_event event = {text, NULL, "tracepoint", "", "", "", 1};

	snprintf(text, sizeof(text), "%.250s:%.250s", system, name);
	return put(context, &event);
}

static int list_tracepoints(struct lister *l)
{
	const char *root;
	int code = 0, r;

	root = scan_tracefs(&l->scan, "tracepoints", &code);
	if (!root)
		return code;
	r = tracefs_match(root, "*", "*", list_tracepoint, l);
	if (r < 0 && r != -ENOMEM)
		tracefs_refused(r, root, "tracepoints", l->scan.err);
	return r < 0 ? r : 0;
}

int perfev_events_list(const char *glob,
		       int (*each)(void *context, const struct perfev_listed_event *event),
		       void *context, const struct perfev_parse_opts *opts, struct perfev_error *err)
{
	struct perfev_parse_opts full;
	struct perfev_error unused;
	struct lister l = {.glob = glob, .each = each, .context = context};
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	l.scan.text = "";
	l.scan.err = err ? err : &unused;
	l.scan.sysfs = full.sysfs;
	l.scan.tracefs = full.tracefs;
	l.elsewhere = full.sysfs != NULL;
	r = list_names(&l, PERF_TYPE_HARDWARE, "hardware");
	if (r == 0)
		r = list_caches(&l);
	if (r == 0)
		r = list_names(&l, PERF_TYPE_SOFTWARE, "software");
	if (r == 0)
		r = list_tools(&l);
	if (r == 0)
		r = list_pmus(&l);
	if (r == 0 && (!l.elsewhere || full.tracefs))
		r = list_tracepoints(&l);
	perfev_pmus_free(l.scan.pmus);
	return r < 0 ? r : l.count;
}
