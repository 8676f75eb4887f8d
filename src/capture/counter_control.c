/* SPDX-License-Identifier: MIT */
/*
 * What an open counter can be told. The kernel answers with an errno that means one of several things; which
 * one is told by what the counter is.
 *
 * Two of the kernel's faults are met here. From 6.16 on the limit of a refresh also stops the event's PMU, and
 * for tracepoints, probes and breakpoints nothing starts it again but a change of the period, be it to the same.
 * And 6.16 and 6.17 hang when the limit of a clock is reached: that cannot be tried out, so that it is the only
 * thing that is decided by the kernel's name.
 */
#include "counter.h"
#include "explain.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <perfev/raw.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RATE_PATH "/proc/sys/kernel/perf_event_max_sample_rate"

static int tell(const struct perfev_counter *counter, unsigned request, uint64_t argument)
{
	return sys_ioctl(counter->fd, request, (unsigned long)argument);
}

static int tell_at(const struct perfev_counter *counter, unsigned request, const void *argument)
{
	return sys_ioctl(counter->fd, request, (unsigned long)(uintptr_t)argument);
}

/* The sentence for a refusal, when the cause is known; else that of the errno. */
static int refused(const struct perfev_counter *counter, int code, const char *verb, enum perfev_why why,
		   const char *cause, struct perfev_error *err)
{
	if (code == -ENODEV) {
		why = PERFEV_WHY_NO_PMU;
		cause = "its PMU was removed; close it";
	}
	if (!cause)
		return error_errno(err, code, "cannot %s %.100s", verb, counter->event->name);
	return error_set(err, code, why, ERROR_NOWHERE, "cannot %s %.100s: %s", verb, counter->event->name,
			 cause);
}

static int control(struct perfev_counter *counter, unsigned request, const char *verb,
		   struct perfev_error *err)
{
	int r = tell(counter, request, 0);

	return r < 0 ? refused(counter, r, verb, PERFEV_WHY_OTHER, NULL, err) : 0;
}

/* ---- on and off ------------------------------------------------------------------------------------------ */

/* Events that stay dead after the limit of a refresh. Probes are PMUs of their own. */
static bool may_be_dead(const struct perfev_counter *counter)
{
	const char *pmu = counter->event->pmu;

	return counter->refreshed && (counter->attr.type == PERF_TYPE_TRACEPOINT ||
				      counter->attr.type == PERF_TYPE_BREAKPOINT ||
				      (pmu && (!strcmp(pmu, "kprobe") || !strcmp(pmu, "uprobe"))));
}

static int wake(const struct perfev_counter *counter)
{
	uint64_t period = counter->attr.sample_period; /* or the frequency: the same place */

	return may_be_dead(counter) ? tell_at(counter, PERF_EVENT_IOC_PERIOD, &period) : 0;
}

int perfev_counter_start(struct perfev_counter *counter, struct perfev_error *err)
{
	int r = control(counter, PERF_EVENT_IOC_ENABLE, "start", err);

	if (r < 0)
		return r;
	counter->started = true;
	r = wake(counter);
	return r < 0 ? refused(counter, r, "start", PERFEV_WHY_OTHER, NULL, err) : 0;
}

int perfev_counter_stop(struct perfev_counter *counter, struct perfev_error *err)
{
	int r = control(counter, PERF_EVENT_IOC_DISABLE, "stop", err);

	if (r == 0)
		counter->started = false;
	return r;
}

int perfev_counter_reset(struct perfev_counter *counter, struct perfev_error *err)
{
	return control(counter, PERF_EVENT_IOC_RESET, "reset", err);
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* 6.16 or 6.17; not 6.160. */
static bool kernel_hangs(void)
{
	char host[65], release[65], machine[65];

	return sys_names(host, release, machine, sizeof(release)) == 0 &&
	       (!strncmp(release, "6.16", 4) || !strncmp(release, "6.17", 4)) &&
	       (release[4] < '0' || release[4] > '9');
}

static int refuse_refresh(const struct perfev_counter *counter, int overflows, struct perfev_error *err)
{
	if (overflows < 1)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot refresh %.100s for %d overflows: there must be one or more",
				 counter->event->name, overflows);
	if (is_clock(&counter->attr) && kernel_hangs())
		return refused(counter, -EOPNOTSUPP, "refresh", PERFEV_WHY_UNSUPPORTED,
			       "Linux 6.16 and 6.17 hang when a clock reaches its limit; take another event, "
			       "or another kernel",
			       err);
	return 0;
}

int perfev_counter_refresh(struct perfev_counter *counter, int overflows, struct perfev_error *err)
{
	int r = refuse_refresh(counter, overflows, err);

	if (r < 0)
		return r;
	r = tell(counter, PERF_EVENT_IOC_REFRESH, (uint64_t)overflows);
	if (r == -EINVAL && !counter->attr.sample_period)
		return refused(counter, r, "refresh", PERFEV_WHY_NOT_SAMPLING,
			       "it has no period, and so no overflows; open it with one (period=N)", err);
	if (r == -EINVAL)
		return refused(counter, r, "refresh", PERFEV_WHY_COMBINATION,
			       "the kernel refreshes no event that children inherit; open it without "
			       "attr.inherit",
			       err);
	if (r == 0) {
		r = wake(counter);
		counter->started = true;
		counter->refreshed = true;
	}
	return r < 0 ? refused(counter, r, "refresh", PERFEV_WHY_OTHER, NULL, err) : 0;
}

int perfev_counter_signal(struct perfev_counter *counter, int number, int32_t tid,
			  struct perfev_error *err)
{
	int r = sys_signal_on(counter->fd, number, tid ? tid : sys_tid());

	if (r == -EINVAL)
		return error_set(err, r, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot signal overflows of %.100s: %d is no signal", counter->event->name,
				 number);
	if (r == -ESRCH)
		return error_set(err, r, PERFEV_WHY_NO_TASK, ERROR_NOWHERE,
				 "cannot signal overflows of %.100s: there is no thread %d; look at its "
				 "number again",
				 counter->event->name, tid);
	return r < 0 ? refused(counter, r, "signal overflows of", PERFEV_WHY_OTHER, NULL, err) : 0;
}

int perfev_start_all(struct perfev_error *err)
{
	int r = sys_task_events(true);

	return r < 0 ? error_errno(err, r, "cannot start the events of this thread") : 0;
}

int perfev_stop_all(struct perfev_error *err)
{
	int r = sys_task_events(false);

	return r < 0 ? error_errno(err, r, "cannot stop the events of this thread") : 0;
}

/* ---- periods --------------------------------------------------------------------------------------------- */

static int refuse_period(const struct perfev_counter *counter, int code, uint64_t period,
			 struct perfev_error *err)
{
	unsigned long long value = period;
	char text[24] = "";

	if (!counter->attr.sample_period)
		return refused(counter, code, "set the period of", PERFEV_WHY_NOT_SAMPLING,
			       "it was opened for counting only; open it with a period (period=N)", err);
	if (period == 0 || period >> 63)
		return error_set(err, code, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot set the period of %.100s to %llu: it must be from 1 to 2^63 - 1",
				 counter->event->name, value);
	if (counter->attr.freq && sys_read_text(RATE_PATH, text, sizeof(text)) > 0 &&
	    period > strtoull(text, NULL, 10))
		return error_set(err, code, PERFEV_WHY_RATE, ERROR_NOWHERE,
				 "cannot set the frequency of %.100s to %llu Hz: "
				 "kernel.perf_event_max_sample_rate is %s; stay below it, or raise it",
				 counter->event->name, value, text);
	return error_set(err, code, PERFEV_WHY_RATE, ERROR_NOWHERE,
			 "cannot set the period of %.100s to %llu: its PMU does not take it; take a longer one",
			 counter->event->name, value);
}

int perfev_counter_set_period(struct perfev_counter *counter, uint64_t period,
			      struct perfev_error *err)
{
	int r = tell_at(counter, PERF_EVENT_IOC_PERIOD, &period);

	if (r == -EINVAL)
		return refuse_period(counter, r, period, err);
	if (r < 0)
		return refused(counter, r, "set the period of", PERFEV_WHY_OTHER, NULL, err);
	counter->attr.sample_period = period;
	return 0;
}

/* ---- filters and programs ---------------------------------------------------------------------------------- */

int perfev_counter_set_filter(struct perfev_counter *counter, const char *filter,
			      struct perfev_error *err)
{
	const struct explain_open facts = {.event = counter->event->name,
					   .pmu = counter->event->pmu,
					   .attr = &counter->attr,
					   .group_fd = -1};
	int r = tell_at(counter, PERF_EVENT_IOC_SET_FILTER, filter);

	if (r == -EEXIST)
		return refused(counter, r, "filter", PERFEV_WHY_BUSY,
			       "it has a filter, which the kernel does not replace; open it again", err);
	if (r == -ENODEV)
		return refused(counter, r, "filter", PERFEV_WHY_NO_PMU, NULL, err);
	return r < 0 ? explain_filter(r, &facts, filter, err) : 0;
}

int perfev_counter_attach_bpf(struct perfev_counter *counter, int prog_fd, struct perfev_error *err)
{
	static const struct {
		int code;
		enum perfev_why why;
		const char *cause;
	} rows[] = {
		{-EINVAL, PERFEV_WHY_COMBINATION,
		 "the program is of another type than the event takes; load a PERF_EVENT program for hardware "
		 "and software events, TRACEPOINT or KPROBE for these"},
		{-EBADF, PERFEV_WHY_ARGUMENT, "the descriptor is no BPF program; pass what bpf(2) returned"},
		{-EEXIST, PERFEV_WHY_BUSY, "it has a program, and only one may be; open it again"},
		{-E2BIG, PERFEV_WHY_BUSY, "the tracepoint has 64 programs, and takes no more; detach some"},
		{-EACCES, PERFEV_WHY_COMBINATION,
		 "the program reads beyond the fields of the tracepoint; look at its format in tracefs"},
		{-EPERM, PERFEV_WHY_CAPABILITY, "CAP_PERFMON is missing; run as root, or grant it"},
	};
	int r = tell(counter, PERF_EVENT_IOC_SET_BPF, (uint64_t)(int64_t)prog_fd);
	size_t i;

	for (i = 0; r < 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == r)
			return refused(counter, r, "attach a program to", rows[i].why, rows[i].cause, err);
	return r < 0 ? refused(counter, r, "attach a program to", PERFEV_WHY_OTHER, NULL, err) : 0;
}

int perfev_counter_bpf_ids(const struct perfev_counter *counter, uint32_t *ret, size_t room,
			   struct perfev_error *err)
{
	uint32_t *all = NULL;
	int r = perfev_raw_bpf_ids(&all, counter->fd);

	if (r == -ENOMEM)
		return error_memory(err);
	if (r == -EPERM)
		return refused(counter, r, "list the programs on", PERFEV_WHY_CAPABILITY,
			       "CAP_PERFMON is missing; run as root, or grant it", err);
	if (r == -EINVAL)
		return refused(counter, r, "list the programs on", PERFEV_WHY_COMBINATION,
			       "only tracepoints are asked for theirs", err);
	if (r < 0)
		return refused(counter, r, "list the programs on", PERFEV_WHY_OTHER, NULL, err);
	if (r > 0 && room > 0)
		memcpy(ret, all, (room < (size_t)r ? room : (size_t)r) * sizeof(*ret));
	free(all);
	return r;
}

/* ---- rings ------------------------------------------------------------------------------------------------- */

static int pause_output(struct perfev_counter *counter, unsigned pause, const char *verb,
			struct perfev_error *err)
{
	int r = tell(counter, PERF_EVENT_IOC_PAUSE_OUTPUT, pause);

	if (r == -EINVAL)
		return refused(counter, r, verb, PERFEV_WHY_ARGUMENT,
			       "it has no ring; map one, or use perfev_sampler_open()", err);
	return r < 0 ? refused(counter, r, verb, PERFEV_WHY_OTHER, NULL, err) : 0;
}

int perfev_counter_pause_output(struct perfev_counter *counter, struct perfev_error *err)
{
	return pause_output(counter, 1, "pause the output of", err);
}

int perfev_counter_resume_output(struct perfev_counter *counter, struct perfev_error *err)
{
	return pause_output(counter, 0, "resume the output of", err);
}

static const char *why_not_output(const struct perfev_counter *counter, const struct perfev_counter *to)
{
	const struct perf_event_attr *a = &counter->attr, *b = to ? &to->attr : NULL;

	if (!to)
		return NULL;
	if (counter == to)
		return "it is the same event";
	if (a->use_clockid != b->use_clockid || a->clockid != b->clockid)
		return "its times are of another clock than the other's; open both with the same";
	if (counter->on.cpu != to->on.cpu)
		return "it is bound to another CPU than the other; open both on the same";
	if (counter->on.cpu < 0 && counter->on.id != to->on.id)
		return "it counts another thread than the other, and both any CPU; open both on one CPU";
	return "the other has no ring, or this one has its own; map the one, and not the other";
}

int perfev_counter_set_output(struct perfev_counter *counter, const struct perfev_counter *to,
			      struct perfev_error *err)
{
	int r = perfev_raw_set_output(counter->fd, to ? to->fd : -1);

	if (r == -EBADF && !to)
		return refused(counter, r, "take back the output of", PERFEV_WHY_UNSUPPORTED,
			       "a 64-bit kernel does not understand the -1 of a 32-bit program; close it", err);
	if (r == -EINVAL)
		return refused(counter, r, "redirect the output of", PERFEV_WHY_COMBINATION,
			       why_not_output(counter, to), err);
	return r < 0 ? refused(counter, r, "redirect the output of", PERFEV_WHY_OTHER, NULL, err) : 0;
}

/* ---- breakpoints ------------------------------------------------------------------------------------------- */

/* The kernel stops the event before it looks at the new attr, and starts it again by what its attr says,
 * which an ioctl does not change: so the attr has to say what is. */
int perfev_counter_modify(struct perfev_counter *counter, const struct perfev_event *event,
			  struct perfev_error *err)
{
	struct perf_event_attr attr = counter->attr;
	int r;

	if (attr.type != PERF_TYPE_BREAKPOINT)
		return refused(counter, -EOPNOTSUPP, "modify", PERFEV_WHY_UNSUPPORTED,
			       "only breakpoints can be; open another event", err);
	if (event->attr.type != PERF_TYPE_BREAKPOINT)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot make %.100s of %.100s: that is no breakpoint", event->name,
				 counter->event->name);
	attr.bp_addr = event->attr.bp_addr;
	attr.bp_type = event->attr.bp_type;
	attr.bp_len = event->attr.bp_len;
	attr.sig_data = event->attr.sig_data;
	attr.disabled = !counter->started;
	r = tell_at(counter, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
	if (r == 0) {
		counter->attr = attr;
		return 0;
	}
	if (counter->started)
		tell(counter, PERF_EVENT_IOC_ENABLE, 0);
	if (r == -EINVAL || r == -EOPNOTSUPP)
		return refused(counter, r, "modify", PERFEV_WHY_ARGUMENT,
			       "the CPU has no breakpoint of that kind, length or alignment", err);
	if (r == -ENOSPC)
		return refused(counter, r, "modify", PERFEV_WHY_COUNTERS,
			       "no breakpoint register of that kind is left; close others", err);
	return refused(counter, r, "modify", PERFEV_WHY_OTHER, NULL, err);
}
