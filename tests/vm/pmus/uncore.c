/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A PMU of the whole system, with a cpumask, and events that have scales, units, snapshots. */
#include "pmus.h"

GROUP(unc_format, "format", EVENT("event", "config:0-7"));
GROUP(unc_events, "events",
	EVENT("ticks", "event=0x01"),
	EVENT("energy", "event=0x02"), EVENT("energy.scale", "2.3283064365386962890625e-10"), EVENT("energy.unit", "Joules"),
	EVENT("data", "event=0x03"), EVENT("data.scale", "6.103515625e-5"), EVENT("data.unit", "MiB"),
	EVENT("temp", "event=0x04"), EVENT("temp.snapshot", "1"), EVENT("temp.unit", "C"), EVENT("ticks.per-pkg", "1"));
GROUP(unc_top, NULL, EVENT("cpumask", "0"), EVENT("identifier", "fake-1"));
static const struct attribute_group *unc_groups[] = { &unc_format, &unc_events, &unc_top, NULL };

static int unc_event_init(struct perf_event *e)
{
	if (e->attr.type != unc_pmu.type)
		return -ENOENT;
	if (is_sampling_event(e) || e->cpu < 0 || e->attr.config < 1 || e->attr.config > 4)
		return -EINVAL;
	e->cpu = 0;
	return 0;
}

static void unc_read(struct perf_event *e)
{
	u64 now = ktime_get_mono_fast_ns(), then = local64_xchg(&e->hw.prev_count, now);
	static const u16 per_us[] = { 0, 1, 4000, 16, 0 };

	if (e->attr.config == 4)
		local64_set(&e->count, 40);
	else
		local64_add(div_u64(now, 1000) * per_us[e->attr.config] - div_u64(then, 1000) * per_us[e->attr.config], &e->count);
}

static void unc_start(struct perf_event *e, int flags)
{
	local64_set(&e->hw.prev_count, ktime_get_mono_fast_ns());
	e->hw.state = 0;
}

static void unc_stop(struct perf_event *e, int flags)
{
	if (!e->hw.state)
		unc_read(e);
	e->hw.state = PERF_HES_STOPPED;
}

static int unc_add(struct perf_event *e, int flags)
{
	e->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		unc_start(e, 0);
	return 0;
}

static void unc_del(struct perf_event *e, int flags)
{
	unc_stop(e, PERF_EF_UPDATE);
}

struct pmu unc_pmu = {
	.module = THIS_MODULE, .attr_groups = unc_groups, .task_ctx_nr = perf_invalid_context,
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.event_init = unc_event_init, .add = unc_add, .del = unc_del, .start = unc_start, .stop = unc_stop, .read = unc_read,
};

void unc_prepare(void)
{
	FILL(unc_format);
	FILL(unc_events);
	FILL(unc_top);
}
