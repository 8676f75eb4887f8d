/* SPDX-License-Identifier: MIT */
/*
 * The clock that the kernel's page tells, and why a counter cannot be read without the kernel.
 *
 * What the page says of time may change at any moment, so that it is read between two looks at `lock`. In the
 * page of another thread than the caller the kernel may be writing: then it is read again, but not for ever.
 */
#include "counter.h"

#include "base/error.h"
#include "kernel/arch/counters.h"
#include "kernel/sys.h"

#include <perfev/clock.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TRIES_MAX 1000

bool perfev_clock_load(struct perfev_clock *ret, const struct perf_event_mmap_page *page)
{
	const volatile struct perf_event_mmap_page *p = page;
	uint32_t before;
	bool known, narrow;
	int tries;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		before = p->lock & ~1u;
		atomic_thread_fence(memory_order_acquire);
		known = p->cap_bit0_is_deprecated && p->cap_user_time_zero && p->time_mult;
		narrow = p->cap_user_time_short;
		ret->zero = p->time_zero;
		ret->mult = p->time_mult;
		ret->shift = p->time_shift;
		ret->cycles = narrow ? p->time_cycles : 0;
		ret->mask = narrow ? p->time_mask : UINT64_MAX;
		atomic_thread_fence(memory_order_acquire);
		if (p->lock == before)
			return known;
	}
	return false;
}

bool perfev_cycles(uint64_t *ret)
{
	if (!COUNTERS_READABLE)
		return false;
	*ret = counters_cycles();
	return true;
}

static int no_page(const struct perfev_counter *counter, const char *verb, struct perfev_error *err)
{
	const char *name = counter->event->name;

	if (!counter->user_read)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot %s %.100s: its page was not asked for; open it with "
				 "perfev_counter_opts.user_read",
				 verb, name);
	if (counter->page_code == -EPERM)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_LOCKED_MEMORY, ERROR_NOWHERE,
				 "cannot %s %.100s: its page could not be mapped, as the memory that may be "
				 "locked is used up; raise kernel.perf_event_mlock_kb or ulimit -l",
				 verb, name);
	if (counter->attr.inherit)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_COMBINATION, ERROR_NOWHERE,
				 "cannot %s %.100s: it is inherited, and only the kernel can add what "
				 "children count; open it without attr.inherit",
				 verb, name);
	error_errno(err, counter->page_code, "cannot %s %.100s: its page could not be mapped", verb, name);
	return -EOPNOTSUPP;
}

int perfev_counter_clock(const struct perfev_counter *counter, struct perfev_clock *ret,
			 struct perfev_error *err)
{
	if (!counter->page)
		return no_page(counter, "tell the clock of", err);
	if (counter->attr.use_clockid)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_COMBINATION, ERROR_NOWHERE,
				 "cannot tell the clock of %.100s: its times are of clock %d and not of the "
				 "kernel's own; open it without attr.use_clockid",
				 counter->event->name, counter->attr.clockid);
	if (!perfev_clock_load(ret, counter->page))
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot tell the clock of %.100s: the kernel gives no conversion, as the cycle "
				 "counter of this machine is not its clock; set attr.use_clockid, and take "
				 "times from clock_gettime()",
				 counter->event->name);
	return 0;
}

/* The setting that closes counters to programs, and what it is set to; "" when it is not that. */
static const char *closed_by(char *value, size_t size)
{
	static const char *const paths[] = {"/proc/sys/kernel/perf_user_access",
					    "/sys/bus/event_source/devices/cpu/rdpmc",
					    "/sys/bus/event_source/devices/cpu_core/rdpmc"};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (sys_read_text(paths[i], value, size) > 0)
			return atoi(value) == 0 ? paths[i] : "";
	return "";
}

static void say_closed(const char *name, struct perfev_error *err)
{
	char value[16] = "";
	const char *path = closed_by(value, sizeof(value));

	if (*path)
		error_set(err, -EOPNOTSUPP, PERFEV_WHY_CAPABILITY, ERROR_NOWHERE,
			  "cannot read %.100s without the kernel: %s is %s, which closes counters to programs; "
			  "write 1 to it",
			  name, path, value);
	else
		error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			  "cannot read %.100s without the kernel: its PMU has no counter that programs may read; "
			  "use perfev_counter_read()",
			  name);
}

bool perfev_counter_can_read_fast(const struct perfev_counter *counter, struct perfev_error *err)
{
	const struct perf_event_mmap_page *page = counter->page;
	const char *name = counter->event->name, *why = NULL;

	if (counter->attr.type == PERF_TYPE_SOFTWARE || counter->attr.type == PERF_TYPE_TRACEPOINT ||
	    counter->attr.type == PERF_TYPE_BREAKPOINT)
		why = "it is counted by the kernel itself, and not by a counter of the CPU; use "
		      "perfev_counter_read()";
	else if (!COUNTERS_READABLE)
		why = "this architecture lets no program read counters; use perfev_counter_read()";
	if (why) {
		error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			  "cannot read %.100s without the kernel: %s", name, why);
		return false;
	}
	if (!page) {
		no_page(counter, "read without the kernel", err);
		return false;
	}
	if (counter->thread != counter_thread())
		why = "it counts another thread than the caller, whose counters are not this CPU's; read it in "
		      "that thread";
	else if (!page->cap_bit0_is_deprecated || !page->cap_user_rdpmc)
		say_closed(name, err);
	else if (!page->cap_user_time)
		why = "the cycle counter of this machine is not its clock, so that times would be old; use "
		      "perfev_counter_read()";
	else if (!((const volatile struct perf_event_mmap_page *)page)->index)
		why = "it has no counter now: it is stopped, or waits for its turn; start it, or try again";
	else
		return true;
	if (why)
		error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			  "cannot read %.100s without the kernel: %s", name, why);
	return false;
}
