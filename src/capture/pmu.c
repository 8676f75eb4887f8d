/* SPDX-License-Identifier: MIT */
/*
 * PMUs in sysfs.
 *
 *	DEVICES/PMU/type	  the number for attr.type
 *	DEVICES/PMU/format/TERM	  config1:0-7,32-35
 *	DEVICES/PMU/events/NAME	  term=value,...  beside it NAME.scale, NAME.unit, NAME.per-pkg, NAME.snapshot
 *	DEVICES/PMU/cpumask	  open on these CPUs only: it counts the whole system (or a package, a die)
 *	DEVICES/PMU/cpus	  the CPUs that have this core PMU
 *	DEVICES/PMU/caps/NAME
 *
 * Names of PMUs end in a number where there are several of a kind.
 */
#include "pmu.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/number.h"
#include "kernel/sys.h"

#include <perfev/probe.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES	 "bus/event_source/devices"
#define PATH_MAX_ 1024
#define PMUS_MAX  65536
#define FILE_MAX  4200  /* the kernel gives one page at most */
#define FILES_MAX 65536 /* in one folder of a PMU */

struct slot {
	char *name;
	struct perfev_pmu *pmu; /* in @arena */
	struct arena arena;
	int32_t *cpus;
	bool tried;
};

struct perfev_pmus {
	char *sysfs;
	struct slot *slots;
	size_t count, room;
	bool no_memory;
};

/* ---- the files of one PMU ------------------------------------------------------------------------------ */

struct files {
	const char *sysfs, *pmu;
	struct arena *arena;
};

PERFEV_PRINTF(4, 5)
static ssize_t read_file(const struct files *f, char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX_];
	va_list args;
	ssize_t got;
	int n = snprintf(path, sizeof(path), "%s/" DEVICES "/%s/", f->sysfs, f->pmu), more;

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	va_start(args, format);
	more = vsnprintf(path + n, sizeof(path) - (size_t)n, format, args);
	va_end(args);
	if (more < 0 || (size_t)(n + more) >= sizeof(path))
		return -ENAMETOOLONG;
	got = sys_read_text(path, text, size);
	/* what was cut may look like something else: "config:0-1" of "config:0-15" */
	if (got >= 0 && (size_t)got + 1 >= size)
		return -EFBIG;
	while (got > 0 && strchr(" \t\r\n", text[got - 1]))
		text[--got] = 0;
	return got;
}

static char *keep(const struct files *f, const char *text)
{
	return arena_text(f->arena, text, strlen(text));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a folder, sorted; NULL ends them. 0 when there is no such folder. */
static int list_folder(const struct files *f, const char *folder, char ***ret, size_t *count)
{
	char path[PATH_MAX_];
	struct sys_folder *dir;
	const char *name;
	size_t room = 0;
	int r;

	*ret = NULL;
	*count = 0;
	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", f->sysfs, f->pmu, folder);
	r = sys_folder_open(&dir, path);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	while ((r = sys_folder_next(dir, &name)) > 0 && *count < FILES_MAX) {
		char **more = array_grow(*ret, &room, *count, sizeof(*more));

		if (more) {
			*ret = more;
			more[*count] = keep(f, name);
		}
		if (!more || !more[(*count)++]) {
			r = -ENOMEM;
			break;
		}
	}
	sys_folder_close(dir);
	if (*count)
		qsort(*ret, *count, sizeof(**ret), compare_names);
	return r == -ENOMEM ? r : 0;
}

static int read_formats(const struct files *f, struct perfev_pmu *pmu)
{
	struct perfev_pmu_format *formats;
	char **names, text[256];
	size_t count, i;
	int r = list_folder(f, "format", &names, &count);

	formats = r == 0 ? arena_take(f->arena, (count + 1) * sizeof(*formats)) : NULL;
	for (i = 0; formats && i < count; i++) {
		struct perfev_pmu_format *format = &formats[pmu->format_count];

		if (read_file(f, text, sizeof(text), "format/%s", names[i]) <= 0)
			continue;
		format->name = names[i];
		format->text = keep(f, text);
		if (!format->text)
			formats = NULL;
		else
			pmu->format_count++;
	}
	free(names);
	pmu->formats = formats;
	return formats ? 0 : -ENOMEM;
}

static bool is_attribute(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".scale") || !strcmp(dot, ".unit") || !strcmp(dot, ".per-pkg") ||
		       !strcmp(dot, ".snapshot"));
}

static int read_event(const struct files *f, struct perfev_pmu_event *event, const char *name)
{
	char text[FILE_MAX];

	if (is_attribute(name) || read_file(f, text, sizeof(text), "events/%s", name) <= 0)
		return 0;
	event->name = name;
	event->terms = keep(f, text);
	event->scale = 1;
	if (read_file(f, text, sizeof(text), "events/%s.scale", name) <= 0 ||
	    !number_real(text, strlen(text), &event->scale))
		event->scale = 1;
	if (read_file(f, text, sizeof(text), "events/%s.unit", name) <= 0)
		text[0] = 0;
	event->unit = keep(f, text);
	event->per_package = read_file(f, text, sizeof(text), "events/%s.per-pkg", name) > 0 && text[0] == '1';
	event->snapshot = read_file(f, text, sizeof(text), "events/%s.snapshot", name) > 0 && text[0] == '1';
	return event->terms && event->unit ? 1 : -ENOMEM;
}

static int read_events(const struct files *f, struct perfev_pmu *pmu)
{
	struct perfev_pmu_event *events;
	char **names;
	size_t count, i;
	int r = list_folder(f, "events", &names, &count);

	events = r == 0 ? arena_take(f->arena, (count + 1) * sizeof(*events)) : NULL;
	r = events ? 0 : -ENOMEM;
	for (i = 0; r >= 0 && i < count; i++) {
		r = read_event(f, &events[pmu->event_count], names[i]);
		pmu->event_count += r > 0;
	}
	free(names);
	pmu->events = events;
	return r < 0 ? r : 0;
}

static int read_caps(const struct files *f, struct perfev_pmu *pmu)
{
	struct perfev_pmu_cap *caps;
	char **names, text[256];
	size_t count, i;
	int r = list_folder(f, "caps", &names, &count);

	caps = r == 0 ? arena_take(f->arena, (count + 1) * sizeof(*caps)) : NULL;
	for (i = 0; caps && i < count; i++) {
		struct perfev_pmu_cap *cap = &caps[pmu->cap_count];

		if (read_file(f, text, sizeof(text), "caps/%s", names[i]) < 0)
			continue;
		cap->name = names[i];
		cap->value = keep(f, text);
		if (!cap->value)
			caps = NULL;
		else
			pmu->cap_count++;
	}
	free(names);
	pmu->caps = caps;
	return caps ? 0 : -ENOMEM;
}

/* ---- one PMU ------------------------------------------------------------------------------------------- */

/* The CPU's own, whatever the architecture calls it. */
static bool is_core_name(const char *name)
{
	static const char *const names[] = {"cpu", "cpum_cf", NULL};
	static const char *const starts[] = {"cpu_", "armv6_", "armv7_", "armv8_", "armv9_", "apple_", NULL};
	size_t i;

	for (i = 0; names[i]; i++)
		if (!strcmp(name, names[i]))
			return true;
	for (i = 0; starts[i]; i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Tracers of CPUs that say in a cpumask which CPUs have them, and yet can follow a task. */
static bool follows_tasks(const char *name)
{
	return !strncmp(name, "arm_spe_", 8);
}

static int read_cpus(const struct files *f, struct slot *slot, struct perfev_pmu *pmu)
{
	char text[16384];
	bool mask = read_file(f, text, sizeof(text), "cpumask") >= 0;

	int r;

	if (mask && !follows_tasks(pmu->name))
		pmu->flags |= PERFEV_PMU_SYSTEM_WIDE;
	else if (mask)
		;
	else if (read_file(f, text, sizeof(text), "cpus") >= 0)
		pmu->flags |= PERFEV_PMU_CORE | PERFEV_PMU_PARTIAL;
	else
		text[0] = 0;
	if (!(pmu->flags & PERFEV_PMU_SYSTEM_WIDE) && is_core_name(pmu->name))
		pmu->flags |= PERFEV_PMU_CORE;
	if (!text[0])
		return 0;
	r = perfev_cpus_parse(&slot->cpus, &pmu->cpu_count, text, NULL);
	if (r == 0)
		pmu->cpus = slot->cpus;
	return r == -ENOMEM ? r : 0;
}

static bool read_type(const struct files *f, uint32_t *ret)
{
	uint64_t type;
	char text[64];

	if (read_file(f, text, sizeof(text), "type") <= 0 || !number_parse(text, strlen(text), &type) ||
	    type > INT32_MAX)
		return false;
	*ret = (uint32_t)type;
	return true;
}

static int read_pmu(const char *sysfs, struct slot *slot)
{
	struct files f = {sysfs, slot->name, &slot->arena};
	struct perfev_pmu *pmu = arena_take(&slot->arena, sizeof(*pmu));
	char text[256];
	int r;

	if (!pmu)
		return -ENOMEM;
	memset(pmu, 0, sizeof(*pmu));
	pmu->name = slot->name;
	if (!read_type(&f, &pmu->type))
		return -ENOENT;
	if (read_file(&f, text, sizeof(text), "identifier") <= 0)
		text[0] = 0;
	pmu->identifier = keep(&f, text);
	if (read_file(&f, text, sizeof(text), "nr_addr_filters") <= 0 ||
	    !number_parse(text, strlen(text), &pmu->addr_filters))
		pmu->addr_filters = 0;
	r = pmu->identifier ? read_cpus(&f, slot, pmu) : -ENOMEM;
	if (r == 0)
		r = read_formats(&f, pmu);
	if (r == 0)
		r = read_events(&f, pmu);
	if (r == 0)
		r = read_caps(&f, pmu);
	if (r == 0)
		slot->pmu = pmu;
	return r;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

/* Numbers in names count as numbers: uncore_cha_2 before uncore_cha_10. */
static int natural(const char *a, const char *b)
{
	while (*a && *b) {
		if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
			size_t n, m;

			while (*a == '0')
				a++;
			while (*b == '0')
				b++;
			n = strspn(a, "0123456789");
			m = strspn(b, "0123456789");
			if (n != m)
				return n < m ? -1 : 1;
			if (n && strncmp(a, b, n))
				return strncmp(a, b, n);
			a += n;
			b += m;
			continue;
		}
		if (*a != *b)
			return (unsigned char)*a - (unsigned char)*b;
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

static int compare_slots(const void *a_, const void *b_)
{
	const struct slot *a = a_, *b = b_;
	int order = natural(a->name, b->name);

	return order ? order : strcmp(a->name, b->name);
}

static int list_names(struct perfev_pmus *pmus, struct sys_folder *folder)
{
	const char *name;
	int r;

	while ((r = sys_folder_next(folder, &name)) > 0 && pmus->count < PMUS_MAX) {
		struct slot *slots = array_grow(pmus->slots, &pmus->room, pmus->count, sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		pmus->slots = slots;
		memset(&slots[pmus->count], 0, sizeof(*slots));
		slots[pmus->count].name = strdup(name);
		if (!slots[pmus->count].name)
			return -ENOMEM;
		pmus->count++;
	}
	return r < 0 ? r : 0;
}

int pmus_list(struct perfev_pmus **ret, const char *sysfs, struct perfev_error *err)
{
	struct perfev_pmus *pmus = calloc(1, sizeof(*pmus));
	struct sys_folder *folder = NULL;
	char path[PATH_MAX_];
	int r = -ENOMEM;

	if (pmus)
		pmus->sysfs = strdup(sysfs ? sysfs : "/sys");
	if (pmus && pmus->sysfs) {
		snprintf(path, sizeof(path), "%s/" DEVICES, pmus->sysfs);
		r = sys_folder_open(&folder, path);
	}
	if (r == 0) {
		r = list_names(pmus, folder);
		sys_folder_close(folder);
	}
	if (r < 0) {
		perfev_pmus_free(pmus);
		if (r == -ENOMEM)
			return error_memory(err);
		return error_errno(err, r, "cannot list the PMUs: %.300s", path);
	}
	if (pmus->count)
		qsort(pmus->slots, pmus->count, sizeof(*pmus->slots), compare_slots);
	*ret = pmus;
	return 0;
}

const char *pmus_name(const struct perfev_pmus *pmus, size_t index)
{
	return pmus->slots[index].name;
}

bool pmus_type(const struct perfev_pmus *pmus, size_t index, uint32_t *ret)
{
	const struct slot *slot = &pmus->slots[index];
	struct files f = {pmus->sysfs, slot->name, NULL};

	if (!slot->tried)
		return read_type(&f, ret);
	if (slot->pmu)
		*ret = slot->pmu->type;
	return slot->pmu != NULL;
}

const struct perfev_pmu *pmus_get(struct perfev_pmus *pmus, size_t index)
{
	struct slot *slot = &pmus->slots[index];

	if (!slot->tried && read_pmu(pmus->sysfs, slot) == -ENOMEM)
		pmus->no_memory = true;
	slot->tried = true;
	return slot->pmu;
}

bool pmus_no_memory(const struct perfev_pmus *pmus)
{
	return pmus->no_memory;
}

static void drop_slot(struct slot *slot)
{
	free(slot->name);
	free(slot->cpus);
	arena_free(&slot->arena);
}

int perfev_pmus_read(struct perfev_pmus **ret, const char *sysfs, struct perfev_error *err)
{
	struct perfev_pmus *pmus = NULL;
	size_t i, kept = 0;
	int r = pmus_list(&pmus, sysfs, err);

	if (r < 0)
		return r;
	for (i = 0; i < pmus->count; i++) {
		pmus->slots[i].tried = true;
		if (read_pmu(pmus->sysfs, &pmus->slots[i]) == -ENOMEM) {
			perfev_pmus_free(pmus);
			return error_memory(err);
		}
	}
	for (i = 0; i < pmus->count; i++) {
		if (pmus->slots[i].pmu)
			pmus->slots[kept++] = pmus->slots[i];
		else
			drop_slot(&pmus->slots[i]);
	}
	pmus->count = kept;
	*ret = pmus;
	return 0;
}

void perfev_pmus_free(struct perfev_pmus *pmus)
{
	size_t i;

	if (!pmus)
		return;
	for (i = 0; i < pmus->count; i++)
		drop_slot(&pmus->slots[i]);
	free(pmus->slots);
	free(pmus->sysfs);
	free(pmus);
}

size_t perfev_pmus_count(const struct perfev_pmus *pmus)
{
	return pmus->count;
}

const struct perfev_pmu *perfev_pmus_at(const struct perfev_pmus *pmus, size_t index)
{
	return index < pmus->count ? pmus->slots[index].pmu : NULL;
}

const struct perfev_pmu *perfev_pmus_find(const struct perfev_pmus *pmus, const char *name)
{
	size_t i;

	for (i = 0; i < pmus->count; i++)
		if (!strcmp(pmus->slots[i].name, name))
			return pmus->slots[i].pmu;
	return NULL;
}

/* ---- what one has ---------------------------------------------------------------------------------------- */

static bool is_name(const char *name, const char *text, size_t size)
{
	return strlen(name) == size && !memcmp(name, text, size);
}

const struct perfev_pmu_format *pmu_format(const struct perfev_pmu *pmu, const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < pmu->format_count; i++)
		if (is_name(pmu->formats[i].name, name, size))
			return &pmu->formats[i];
	return NULL;
}

/* Case does not matter: the kernel's names are all lower or all upper case. */
const struct perfev_pmu_event *pmu_event(const struct perfev_pmu *pmu, const char *name, size_t size)
{
	size_t i, c;

	for (i = 0; i < pmu->event_count; i++) {
		const char *own = pmu->events[i].name;

		for (c = 0; c < size && own[c]; c++) {
			char x = own[c], y = name[c];

			x = x >= 'A' && x <= 'Z' ? (char)(x + 32) : x;
			y = y >= 'A' && y <= 'Z' ? (char)(y + 32) : y;
			if (x != y)
				break;
		}
		if (c == size && !own[c])
			return &pmu->events[i];
	}
	return NULL;
}

bool pmu_sink(const char *sysfs, const struct perfev_pmu *pmu, const char *name, uint64_t *ret)
{
	struct files f = {sysfs ? sysfs : "/sys", pmu->name, NULL};
	char text[64];
	ssize_t n;

	if (!*name || strchr(name, '/'))
		return false;
	n = read_file(&f, text, sizeof(text), "sinks/%s", name);
	return n > 0 && number_parse(text, (size_t)n, ret);
}

const char *perfev_pmu_cap_value(const struct perfev_pmu *pmu, const char *name)
{
	size_t i;

	for (i = 0; i < pmu->cap_count; i++)
		if (!strcmp(pmu->caps[i].name, name))
			return pmu->caps[i].value;
	return NULL;
}

bool perfev_pmus_number(const struct perfev_pmus *pmus, const char *pmu, const char *file, uint64_t *ret)
{
	struct files f = {pmus->sysfs, pmu, NULL};
	char text[64];
	ssize_t n = read_file(&f, text, sizeof(text), "%s", file);

	return n > 0 && number_parse(text, (size_t)n, ret);
}
