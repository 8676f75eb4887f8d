/* SPDX-License-Identifier: MIT */
/*
 * Events without text: a function for each kind.
 *
 * Probes have PMUs since 4.17. Their type and the bit that says "at the return" are read from sysfs, never
 * assumed. Where the PMU is missing the probe is made in tracefs, and lives as long as an event that has it.
 */
#include "event_make.h"
#include "dynamic_probe.h"
#include "pmu.h"
#include "tracefs.h"

#include "base/error.h"
#include "base/number.h"
#include "decode/event_name.h"
#include "kernel/sys.h"

#include <perfev/regs.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DATA_BYTES 4

/* ---- probes ------------------------------------------------------------------------------------------------ */

struct probe_kind {
	const char *pmu;    /* in sysfs */
	const char *file;   /* in tracefs */
};

static const struct probe_kind kernel_kind = {"kprobe", "kprobe_events"};
static const struct probe_kind user_kind = {"uprobe", "uprobe_events"};

static bool read_pmu_file(char *ret, size_t size, const char *sysfs, const char *pmu, const char *file)
{
	char path[1024];

	if ((size_t)snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s", sysfs ? sysfs : "/sys", pmu,
			     file) >= sizeof(path))
		return false;
	return sys_read_text(path, ret, size) > 0;
}

/* A value into the bits that a format file names: 0; -ENOENT there is no such file, -ERANGE it has no room. */
static int put_format(struct perfev_event *event, const char *sysfs, const char *pmu, const char *format,
		      uint64_t value)
{
	struct pmu_bits bits;
	char file[64], text[64];
	uint64_t word;

	snprintf(file, sizeof(file), "format/%s", format);
	if (!read_pmu_file(text, sizeof(text), sysfs, pmu, file) || !pmu_bits(&bits, text) || bits.word)
		return -ENOENT;
	if (!pmu_scatter(&word, bits.mask, value))
		return -ERANGE;
	event->attr.config |= word;
	return 0;
}

/* A line of tracefs is split at blanks, ends where a comment begins, and must not become two lines. */
static bool fits_a_line(const char *place)
{
	for (; *place; place++)
		if ((unsigned char)*place <= ' ' || *place == '#' || *place == 0x7f)
			return false;
	return true;
}

static bool has_file(const char *tracefs, const char *file)
{
	char path[640];

	snprintf(path, sizeof(path), "%.500s/%s", tracefs, file);
	return sys_can_read(path);
}

static int by_tracefs(struct perfev_event *event, const struct probe_kind *kind, bool at_return,
		      const char *place, const char *given, struct perfev_error *err)
{
	const char *tracefs = given;
	char mounted[512];
	int r = 0;

	if (!fits_a_line(place))
		return error_set(err, -EINVAL, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot make a probe at %.150s: the kernel has no %s PMU, and tracefs takes no "
				 "place with a blank or # in it; give the file another name",
				 place, kind->pmu);
	if (!tracefs) {
		r = tracefs_find(mounted, sizeof(mounted));
		if (r < 0)
			return tracefs_refused(r, "", place, err);
		tracefs = mounted;
	}
	r = dynamic_probe_make(&event->dynamic, &event->attr.config, tracefs, kind->file, at_return ? 'r' : 'p',
			       place);
	event->attr.type = PERF_TYPE_TRACEPOINT;
	event->attr.config1 = 0; /* the place is in the tracepoint */
	event->attr.config2 = 0;
	if (r == -ENOMEM)
		return error_memory(err);
	if (r == -EACCES || r == -EPERM)
		return error_set(err, r, PERFEV_WHY_CAPABILITY, ERROR_NOWHERE,
				 "cannot make a probe at %.150s: the kernel has no %s PMU, and this user may not "
				 "write %s of tracefs; run as root",
				 place, kind->pmu, kind->file);
	if (r == -ENOENT && has_file(tracefs, kind->file))
		return error_set(err, r, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
				 "cannot make a probe at %.150s: the kernel finds no such %s; look at its name", place,
				 kind == &user_kind ? "file" : "function");
	if (r == -ENOENT)
		return error_set(err, r, PERFEV_WHY_NO_KERNEL, ERROR_NOWHERE,
				 "cannot make a probe at %.150s: the kernel has no %s PMU, and tracefs has no %s; "
				 "take a kernel with probes (CONFIG_%s_EVENTS)",
				 place, kind->pmu, kind->file, kind == &user_kind ? "UPROBE" : "KPROBE");
	return r < 0 ? error_errno(err, r, "cannot make a probe at %.150s in tracefs", place) : 0;
}

static int put_counter(struct perfev_event *event, uint64_t counter, const char *place, const char *sysfs,
		       struct perfev_error *err)
{
	int r = counter ? put_format(event, sysfs, user_kind.pmu, "ref_ctr_offset", counter) : 0;

	if (r == -ENOENT)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_OLD_KERNEL, ERROR_NOWHERE,
				 "cannot make a probe at %.150s: this kernel's uprobe PMU has no reference "
				 "counters; leave the counter out, or use Linux 4.20",
				 place);
	if (r == -ERANGE)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot make a probe at %.150s: its reference counter is at offset 0x%" PRIx64
				 ", and the kernel takes at most 0xffffffff",
				 place, counter);
	return 0;
}

/* The PMU's type and bits; through tracefs where there is none. */
static int complete_probe(struct perfev_event *event, const struct probe_kind *kind, bool at_return,
			  uint64_t counter, const char *place, const struct event_roots *roots,
			  struct perfev_error *err)
{
	uint64_t type;
	char text[32];

	if (!read_pmu_file(text, sizeof(text), roots->sysfs, kind->pmu, "type") ||
	    !number_parse(text, strlen(text), &type) || type > INT32_MAX)
		return by_tracefs(event, kind, at_return, place, roots->tracefs, err);
	event->attr.type = (uint32_t)type;
	if (!event_set_text(&event->pmu, kind->pmu, strlen(kind->pmu)))
		return error_memory(err);
	if (at_return && put_format(event, roots->sysfs, kind->pmu, "retprobe", 1) < 0)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_OLD_KERNEL, ERROR_NOWHERE,
				 "cannot make a probe at the return of %.150s: this kernel's %s PMU has no bit "
				 "retprobe; probe where it is called",
				 place, kind->pmu);
	return put_counter(event, counter, place, roots->sysfs, err);
}

/* @what: what config1 points to, or NULL. @cut: @place was too long, and is not whole. */
static int make_probe(struct perfev_event **ret, const struct probe_kind *kind, const char *what,
		      uint64_t offset, uint64_t counter, bool at_return, const char *place, bool cut,
		      const struct event_roots *roots, struct perfev_error *err)
{
	struct perfev_event *event;
	int r;

	if (cut)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot make a probe at %.150s...: the kernel takes no name of this length", place);
	event = event_blank();
	if (!event || (what && !event_set_probe(event, what, strlen(what)))) {
		r = error_memory(err);
	} else {
		event->attr.config2 = offset;
		r = complete_probe(event, kind, at_return, counter, place, roots, err);
	}
	if (r < 0) {
		perfev_event_free(event);
		return r;
	}
	*ret = event;
	return 0;
}

int event_make_kprobe(struct perfev_event **ret, const char *function, uint64_t offset, bool at_return,
		      const struct event_roots *roots, struct perfev_error *err)
{
	char place[600];
	int n;

	if (!function)
		n = snprintf(place, sizeof(place), "0x%" PRIx64, offset);
	else if (offset)
		n = snprintf(place, sizeof(place), "%s+%" PRIu64, function, offset);
	else
		n = snprintf(place, sizeof(place), "%s", function);
	return make_probe(ret, &kernel_kind, function, offset, 0, at_return, place,
			  n < 0 || (size_t)n >= sizeof(place), roots, err);
}

int event_make_uprobe(struct perfev_event **ret, const char *path, uint64_t offset, uint64_t counter,
		      bool at_return, const struct event_roots *roots, struct perfev_error *err)
{
	char place[4200];
	int n;

	if (counter)
		n = snprintf(place, sizeof(place), "%s:0x%" PRIx64 "(0x%" PRIx64 ")", path, offset, counter);
	else
		n = snprintf(place, sizeof(place), "%s:0x%" PRIx64, path, offset);
	return make_probe(ret, &user_kind, path, offset, counter, at_return, place,
			  n < 0 || (size_t)n >= sizeof(place), roots, err);
}

static const struct event_roots here;

static int name_it(struct perfev_event **ret, struct perfev_event *event, const char *name,
		   struct perfev_error *err)
{
	if (!event || !event_set_text(&event->name, name, strlen(name))) {
		perfev_event_free(event);
		return error_memory(err);
	}
	event->attr.disabled = 1;
	*ret = event;
	return 0;
}

int perfev_event_kprobe(struct perfev_event **ret, const char *function, uint64_t offset, bool at_return,
			struct perfev_error *err)
{
	struct perfev_event *event;
	char name[640];
	int r = event_make_kprobe(&event, function, offset, at_return, &here, err);

	if (r < 0)
		return r;
	if (function && !offset)
		snprintf(name, sizeof(name), "%s:%s", at_return ? "kretprobe" : "kprobe", function);
	else
		snprintf(name, sizeof(name), "%s:%s%s0x%" PRIx64, at_return ? "kretprobe" : "kprobe",
			 function ? function : "", function ? "+" : "", offset);
	return name_it(ret, event, name, err);
}

int perfev_event_uprobe(struct perfev_event **ret, const char *path, uint64_t offset, uint64_t counter,
			bool at_return, struct perfev_error *err)
{
	struct perfev_event *event;
	char name[4500];
	int n, r = event_make_uprobe(&event, path, offset, counter, at_return, &here, err);

	if (r < 0)
		return r;
	n = snprintf(name, sizeof(name), "%s:%.4200s:0x%" PRIx64, at_return ? "uretprobe" : "uprobe", path, offset);
	if (counter)
		snprintf(name + n, sizeof(name) - (size_t)n, "(0x%" PRIx64 ")", counter);
	return name_it(ret, event, name, err);
}

/* ---- breakpoints, tracepoints ---------------------------------------------------------------------------------- */

/* The length of a breakpoint on code: that of a long, but on arm64 that of an instruction. It is the kernel's long,
 * which may have 64 bits where a program has 32. */
static uint64_t code_bytes(void)
{
#if defined(__aarch64__)
	return 4;
#elif defined(__i386__)
	char host[65], release[65], machine[65];
	unsigned abi;

	if (sys_names(host, release, machine, sizeof(host)) == 0 && perfev_arch_of(machine, &abi) == PERFEV_ARCH_X86 &&
	    abi == PERF_SAMPLE_REGS_ABI_64)
		return 8;
	return 4;
#else
	return sizeof(long);
#endif
}

struct perfev_event *event_make_breakpoint(uint64_t address, uint64_t size, uint32_t type)
{
	struct perfev_event *event = event_blank();

	if (!event)
		return NULL;
	event->attr.type = PERF_TYPE_BREAKPOINT;
	event->attr.bp_type = type;
	event->attr.bp_addr = address;
	event->attr.bp_len = size ? size : type == HW_BREAKPOINT_X ? code_bytes() : DATA_BYTES;
	return event;
}

int perfev_event_breakpoint(struct perfev_event **ret, uint64_t address, uint64_t size, uint32_t type,
			    struct perfev_error *err)
{
	struct perfev_event *event = event_make_breakpoint(address, size, type);
	char name[80];
	int n = snprintf(name, sizeof(name), "mem:0x%" PRIx64, address);

	if (size)
		n += snprintf(name + n, sizeof(name) - (size_t)n, "/%" PRIu64, size);
	snprintf(name + n, sizeof(name) - (size_t)n, ":%s%s%s", type & HW_BREAKPOINT_R ? "r" : "",
		 type & HW_BREAKPOINT_W ? "w" : "", type & HW_BREAKPOINT_X ? "x" : "");
	return name_it(ret, event, name, err);
}

int perfev_event_tracepoint(struct perfev_event **ret, const char *system, const char *name,
			    struct perfev_error *err)
{
	struct perfev_event *event = event_blank();
	char tracefs[512], text[400];
	int r;

	if (!event)
		return error_memory(err);
	snprintf(text, sizeof(text), "%.128s:%.256s", system, name);
	r = tracefs_find(tracefs, sizeof(tracefs));
	if (r < 0) {
		perfev_event_free(event);
		return tracefs_refused(r, "", text, err);
	}
	event->attr.type = PERF_TYPE_TRACEPOINT;
	r = tracefs_id(tracefs, system, name, &event->attr.config);
	if (r == 0)
		return name_it(ret, event, text, err);
	perfev_event_free(event);
	if (r == -ENOENT)
		return tracefs_unknown(tracefs, system, name, err);
	return tracefs_refused(r, tracefs, text, err);
}

/* ---- generic ------------------------------------------------------------------------------------------------ */

static int generic(struct perfev_event **ret, uint32_t type, uint64_t config, struct perfev_error *err)
{
	struct perfev_event *event = event_blank();
	char name[64];

	if (!event)
		return error_memory(err);
	event->attr.type = type;
	event->attr.config = config;
	if (type == PERF_TYPE_RAW)
		snprintf(name, sizeof(name), "r%" PRIx64, config);
	else
		event_name_format(name, sizeof(name), &event->attr);
	return name_it(ret, event, name, err);
}

static int no_such(uint32_t id, const char *what, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, id,
			 "cannot make an event: there is no %s %u; take one of enum perf_%s", what, id,
			 !strcmp(what, "hardware event") ? "hw_id" : "sw_ids");
}

int perfev_event_hardware(struct perfev_event **ret, uint32_t id, struct perfev_error *err)
{
	if (id >= PERF_COUNT_HW_MAX)
		return no_such(id, "hardware event", err);
	return generic(ret, PERF_TYPE_HARDWARE, id, err);
}

int perfev_event_software(struct perfev_event **ret, uint32_t id, struct perfev_error *err)
{
	if (id >= PERF_COUNT_SW_MAX)
		return no_such(id, "software event", err);
	return generic(ret, PERF_TYPE_SOFTWARE, id, err);
}

int perfev_event_cache(struct perfev_event **ret, uint32_t cache, uint32_t op, uint32_t result,
		       struct perfev_error *err)
{
	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot make an event: there is no cache event %u, %u, %u; take "
				 "PERF_COUNT_HW_CACHE_...",
				 cache, op, result);
	return generic(ret, PERF_TYPE_HW_CACHE, cache | (uint64_t)op << 8 | (uint64_t)result << 16, err);
}

int perfev_event_raw(struct perfev_event **ret, uint64_t config, struct perfev_error *err)
{
	return generic(ret, PERF_TYPE_RAW, config, err);
}
