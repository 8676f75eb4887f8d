/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- trees ------------------------------------------------------------------------------------------- */

static bool make_folders(char *path)
{
	char *at;

	for (at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = 0;
		if (mkdir(path, 0755) < 0 && errno != EEXIST) {
			perror(path);
			return false;
		}
		*at = '/';
	}
	return true;
}

bool machine_file(const struct machine *machine, const char *path, const void *data, size_t size)
{
	char full[512];
	FILE *file;
	bool done;

	snprintf(full, sizeof(full), "%s/%s", machine->root, path);
	file = make_folders(full) ? fopen(full, "w") : NULL;
	if (!file)
		return false;
	done = fwrite(data, 1, size, file) == size;
	return fclose(file) == 0 && done;
}

#define DEVICES "sys/bus/event_source/devices"

struct reading {
	bool (*put)(void *context, const char *path, const char *text);
	void *context;
	char pmus[MACHINE_LINE]; /* that the last header named */
};

/* One file for each of those PMUs. */
static bool pmu_file(const struct reading *r, const char *name, const char *text)
{
	char names[MACHINE_LINE], path[400], number[32], *save = NULL, *pmu;
	int type = atoi(text);

	strcpy(names, r->pmus);
	for (pmu = strtok_r(names, " ", &save); pmu; pmu = strtok_r(NULL, " ", &save)) {
		snprintf(path, sizeof(path), DEVICES "/%.200s/%.150s", pmu, name);
		snprintf(number, sizeof(number), "%d", type++);
		if (!r->put(r->context, path, strcmp(name, "type") ? text : number))
			return false;
	}
	return true;
}

static bool take_line(struct reading *r, char *line)
{
	char *text = strchr(line, ' '), *end, path[300];

	if (line[0] == '[' && (end = strchr(line, ']'))) {
		*end = 0;
		strcpy(r->pmus, line + 1);
		return pmu_file(r, "type", end + 2);
	}
	if (!text)
		return false;
	*text++ = 0;
	if (strcmp(line, "tracepoint"))
		return pmu_file(r, line, text);
	end = strchr(text, ' ');
	*end = 0;
	*strchr(text, ':') = '/';
	snprintf(path, sizeof(path), "tracing/events/%.200s/id", text);
	return r->put(r->context, path, end + 1);
}

bool machine_read(const char *name, bool (*put)(void *context, const char *path, const char *text), void *context)
{
	struct reading r = {put, context, ""};
	char path[200], line[MACHINE_LINE];
	bool done = true;
	FILE *file;

	snprintf(path, sizeof(path), "tests/machines/%s", name);
	file = fopen(path, "r");
	if (!file) {
		perror(path);
		return false;
	}
	while (done && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] && !strchr("#?=!", line[0]))
			done = take_line(&r, line);
	}
	fclose(file);
	return done;
}

static bool put_file(void *context, const char *path, const char *text)
{
	char line[MACHINE_LINE + 2];
	int n = snprintf(line, sizeof(line), "%s\n", text);

	return machine_file(context, path, line, (size_t)n);
}

bool machine_new(struct machine *ret, const char *name)
{
	const char *folder = getenv("TMPDIR");

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->root, sizeof(ret->root), "%.40s/perfev-machine-XXXXXX", folder ? folder : "/tmp");
	if (!mkdtemp(ret->root)) {
		perror(ret->root);
		return false;
	}
	snprintf(ret->sysfs, sizeof(ret->sysfs), "%s/sys", ret->root);
	snprintf(ret->tracefs, sizeof(ret->tracefs), "%s/tracing", ret->root);
	ret->opts = (struct perfev_parse_opts){sizeof(ret->opts), ret->sysfs, ret->tracefs};
	if (machine_file(ret, DEVICES "/software/type", "1\n", 2) &&
	    machine_file(ret, "tracing/events/enable", "0\n", 2) && (!*name || machine_read(name, put_file, ret)))
		return true;
	machine_free(ret);
	return false;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

void machine_free(struct machine *machine)
{
	if (machine->root[0])
		nftw(machine->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	machine->root[0] = 0;
}

/* ---- events as text ------------------------------------------------------------------------------------ */

struct line {
	char *at;
	size_t left;
};

PERFEV_PRINTF(2, 3)
static void put(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(l->at, l->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= l->left)
		n = (int)l->left - 1;
	l->at += n;
	l->left -= (size_t)n;
}

static void put_number(struct line *l, const char *name, const char *format, uint64_t value)
{
	if (!value)
		return;
	put(l, " %s", name);
	put(l, format[0] == 'x' ? "=0x%" PRIx64 : "=%" PRIu64, value);
}

static void put_words(struct line *l, const struct perf_event_attr *a)
{
	put(l, " type=%u config=0x%" PRIx64, a->type, (uint64_t)a->config);
	if (a->type == PERF_TYPE_BREAKPOINT) {
		put(l, " bp_type=%u bp_addr=0x%" PRIx64 " bp_len=%" PRIu64, a->bp_type, (uint64_t)a->bp_addr,
		    (uint64_t)a->bp_len);
		return;
	}
	put_number(l, "config1", "x", a->config1);
	put_number(l, "config2", "x", a->config2);
	put_number(l, "config3", "x", a->config3);
	put_number(l, "config4", "x", a->config4);
}

/* Where config1 points into this program it is PTR. */
static void put_place(struct line *l, struct perf_event_attr *a, const char *probe)
{
	if (!probe) {
		put_words(l, a);
		return;
	}
	put(l, " type=%u config=0x%" PRIx64 " config1=PTR", a->type, (uint64_t)a->config);
	put_number(l, "config2", "x", a->config2);
}

static void put_excluded(struct line *l, const struct perf_event_attr *a)
{
	char letters[8] = "", *at = letters;

	if (a->exclude_user)
		*at++ = 'u';
	if (a->exclude_kernel)
		*at++ = 'k';
	if (a->exclude_hv)
		*at++ = 'h';
	if (a->exclude_guest)
		*at++ = 'G';
	if (a->exclude_host)
		*at++ = 'H';
	if (a->exclude_idle)
		*at++ = 'I';
	*at = 0;
	if (at > letters)
		put(l, " exclude=%s", letters);
}

static void put_settings(struct line *l, const struct perf_event_attr *a)
{
	put_number(l, "precise", "d", a->precise_ip);
	put_excluded(l, a);
	if (a->pinned)
		put(l, " pinned");
	if (a->exclusive)
		put(l, " exclusive");
	if (a->inherit)
		put(l, " inherit");
	put_number(l, "sample_type", "x", a->sample_type);
	put_number(l, "branches", "x", a->branch_sample_type);
	put_number(l, "max-stack", "d", a->sample_max_stack);
	put_number(l, "stack-size", "d", a->sample_stack_user);
	if (a->write_backward)
		put(l, " overwrite");
	if (a->aux_output)
		put(l, " aux-output");
	if (a->aux_pause)
		put(l, " aux-pause");
	if (a->aux_resume)
		put(l, " aux-resume");
	if (a->aux_start_paused)
		put(l, " aux-start-paused");
	put_number(l, "aux-sample-size", "d", a->aux_sample_size);
}

/* What put_words() and put_settings() do not show. */
static bool has_other(struct perf_event_attr a, bool leads)
{
	struct perf_event_attr none;

	if (a.disabled != leads || a.size != sizeof(a))
		return true;
	memset(&none, 0, sizeof(none));
	none.type = a.type;
	none.size = a.size;
	none.config = a.config;
	none.config1 = a.config1;
	none.config2 = a.config2;
	none.config3 = a.config3;
	none.config4 = a.config4;
	none.bp_type = a.bp_type;
	none.sample_period = a.sample_period;
	none.sample_type = a.sample_type;
	none.branch_sample_type = a.branch_sample_type;
	none.sample_max_stack = a.sample_max_stack;
	none.sample_stack_user = a.sample_stack_user;
	none.aux_sample_size = a.aux_sample_size;
	none.aux_output = a.aux_output;
	none.aux_pause = a.aux_pause;
	none.aux_resume = a.aux_resume;
	none.aux_start_paused = a.aux_start_paused;
	none.disabled = a.disabled;
	none.freq = a.freq;
	none.precise_ip = a.precise_ip;
	none.pinned = a.pinned;
	none.exclusive = a.exclusive;
	none.inherit = a.inherit;
	none.write_backward = a.write_backward;
	none.exclude_user = a.exclude_user;
	none.exclude_kernel = a.exclude_kernel;
	none.exclude_hv = a.exclude_hv;
	none.exclude_guest = a.exclude_guest;
	none.exclude_host = a.exclude_host;
	none.exclude_idle = a.exclude_idle;
	return memcmp(&a, &none, sizeof(a)) != 0;
}

static void put_cpus(struct line *l, const int32_t *cpus, size_t count)
{
	size_t i, last;

	for (i = 0; i < count; i = last + 1) {
		for (last = i; last + 1 < count && cpus[last + 1] == cpus[last] + 1; last++)
			;
		put(l, "%s%d", i ? "," : " cpus=", cpus[i]);
		if (last > i)
			put(l, "-%d", cpus[last]);
	}
}

static void put_flags(struct line *l, uint32_t flags)
{
	static const char *const words[] = {
		"period-said", "time",	 "no-time", "inherit-said", "max-precise", "sample-read", "weak",	 "bpf",
		"retire-latency", "own-group", "percore", "snapshot",	 "per-package", "system-wide", "cpus-said",
	};
	size_t i;

	for (i = 0; i < 32; i++)
		if (flags >> i & 1)
			put(l, " %s", i < sizeof(words) / sizeof(words[0]) ? words[i] : "other-flag");
}

void event_line(char *ret, size_t size, const struct perfev_events *events, size_t index)
{
	struct perfev_event *event = perfev_events_at(events, index);
	struct perf_event_attr *attr = perfev_event_attr(event);
	size_t leader = perfev_events_leader(events, index);
	struct line l = {ret, size};
	struct perfev_event_info info;
	const char *probe = NULL;

	perfev_event_describe(event, &info);
	if ((!strcmp(info.pmu, "kprobe") || !strcmp(info.pmu, "uprobe")) && attr->config1)
		probe = (const char *)(uintptr_t)attr->config1;
	put(&l, "%s", perfev_event_name(event));
	put_place(&l, attr, probe);
	if (leader != index)
		put(&l, " in=%zu", leader);
	put_number(&l, attr->freq ? "freq" : "period", "d", attr->sample_period);
	put_settings(&l, attr);
	put_cpus(&l, info.cpus, info.cpu_count);
	if (info.scale < 1 || info.scale > 1)
		put(&l, " scale=%.17g", info.scale);
	if (info.unit[0])
		put(&l, " unit=%s", info.unit);
	put_flags(&l, info.flags);
	put_number(&l, "tool", "d", info.tool);
	put_number(&l, "graph", "d", info.call_graph);
	put_number(&l, "nr", "d", info.max_events);
	if (probe)
		put(&l, " probe=%s", probe);
	if (has_other(*attr, leader == index))
		put(&l, " other");
}
