/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A PMU that traces into an AUX area: word w of the trace is MAGIC | w. Truncation, gaps, flags, snapshots, pauses, address
 * filters. The same again is called intel_pt, and writes packets: what tools do with a PMU that they know by its name.
 */
#include "pmus.h"

#define MAGIC 0xfa00000000000000ull

struct trace {
	struct hrtimer timer;
	struct perf_event *event;
	struct perf_output_handle h;
	bool open; /* h is between begin and end */
	unsigned long unsent; /* bytes written since begin */
	ktime_t left; /* of the current tick, while descheduled */
};

struct buf {
	unsigned long size, pos; /* pos: bytes written so far */
	bool overwrite;
	void *page[];
};

GROUP(aux_format, "format",
	EVENT("kb", "config:0-15"),		// KiB a tick, default 4
	EVENT("tick", "config:16-31"),		// a tick in 100 us, default 10
	EVENT("flags", "config1:0-15"),		// PERF_AUX_FLAG_* put on every record
	EVENT("skip", "config1:16-23"),		// words skipped after every record
	EVENT("wrap", "config1:24"));		// overwrite mode: aux_head stays within the buffer
GROUP(aux_events, "events", EVENT("trace", "kb=4"), EVENT("flood", "kb=64,tick=1"));
GROUP(aux_caps, "caps", EVENT("psb_cyc", "1"), EVENT("ip_filtering", "1"), EVENT("num_address_ranges", "2"));
GROUP(pt_format, "format", EVENT("pt", "config:0"), EVENT("cyc", "config:1"), EVENT("mtc", "config:9"), EVENT("tsc", "config:10"),
	EVENT("noretcomp", "config:11"), EVENT("branch", "config:13"), EVENT("mtc_period", "config:14-17"));
GROUP(pt_caps, "caps", EVENT("psb_cyc", "1"), EVENT("max_nonturbo_ratio", "20"));
static const struct attribute_group *pt_groups[] = { &pt_format, &pt_caps, NULL };
static const struct attribute_group *aux_groups[] = { &aux_format, &aux_events, &aux_caps, NULL };

static struct trace *trace_of(struct perf_event *e)
{
	return (void *)e->hw.event_base;
}

static bool aux_begin(struct trace *t)
{
	t->unsent = 0;
	t->open = perf_aux_output_begin(&t->h, t->event) != NULL;
	if (t->open && !((struct buf *)perf_get_aux(&t->h))->overwrite && t->h.size < 8) {
		perf_aux_output_flag(&t->h, PERF_AUX_FLAG_TRUNCATED);
		perf_aux_output_end(&t->h, 0);
		do_disable(t->event);
		t->open = false;
	}
	return t->open;
}

static void aux_end(struct trace *t, u64 flags)
{
	struct buf *b = perf_get_aux(&t->h);
	u64 c1 = t->event->attr.config1;
	unsigned long size = t->unsent;

	if (!t->open)
		return;
	if (size)
		flags |= c1 & 0xffff;
	if (b->overwrite) {
		t->h.head = c1 >> 24 & 1 ? b->pos % b->size : b->pos;
		size = min(b->pos, b->size);
	}
	if (flags)
		perf_aux_output_flag(&t->h, flags);
	perf_aux_output_end(&t->h, size);
	t->open = false;
}

static bool aux_paused(struct perf_event *e)
{
#ifdef PERF_PMU_CAP_AUX_PAUSE
	return READ_ONCE(e->hw.aux_paused);
#else
	return false;
#endif
}

/* A PSB with a time and 64-bit mode in each 4 KiB, and nothing between. */
static u64 pt_word(unsigned long pos)
{
	switch (pos % 4096) {
	case 0:
	case 8:
		return cpu_to_le64(0x8202820282028202ull);
	case 16:
		return cpu_to_le64((u64)(pos + 4096) << 8 | 0x19); /* TSC */
	case 24:
		return cpu_to_le64(0x23020199ull); /* MODE.Exec, PSBEND */
	default:
		return 0;
	}
}

/* The bits of packets are no sizes. */
static u64 config_of(struct perf_event *e)
{
	return e->pmu == &pt_pmu ? 0 : e->attr.config;
}

/* Writes a tick's worth of trace. False once tracing has to stop. */
static bool aux_write(struct trace *t)
{
	u64 c = config_of(t->event), skip = t->event->attr.config1 >> 16 & 255;
	unsigned long want = ((c & 0xffff) ?: 4) << 10;
	struct buf *b = perf_get_aux(&t->h);
	bool pt = t->event->pmu == &pt_pmu, full = false;

	if (!b->overwrite && want > t->h.size - t->unsent) {
		want = round_down(t->h.size - t->unsent, 8);
		full = true;
	}
	for (unsigned long i = 0; i < want; i += 8, b->pos += 8) /* the size is a power of 2 */
		*(u64 *)(b->page[(b->pos & (b->size - 1)) >> PAGE_SHIFT] + (b->pos & (PAGE_SIZE - 1))) =
			pt ? pt_word(b->pos) : MAGIC | b->pos >> 3;
	t->unsent += want;
	if (b->overwrite || (!full && t->h.head + t->unsent < t->h.wakeup && !skip))
		return true;
	aux_end(t, full ? PERF_AUX_FLAG_TRUNCATED : 0);
	if (!aux_begin(t))
		return false;
	if (skip && skip * 8 <= t->h.size) {
		perf_aux_output_skip(&t->h, skip * 8);
		b->pos += skip * 8;
	}
	return true;
}

static ktime_t aux_period(struct perf_event *e)
{
	return ns_to_ktime(100000 * ((config_of(e) >> 16 & 0xffff) ?: 10));
}

static enum hrtimer_restart aux_tick(struct hrtimer *timer)
{
	struct trace *t = container_of(timer, struct trace, timer);

	if (t->event->hw.state & PERF_HES_STOPPED)
		return HRTIMER_NORESTART;
	if (!aux_paused(t->event) && !aux_write(t)) {
		t->event->hw.state = PERF_HES_STOPPED;
		return HRTIMER_NORESTART;
	}
	return again(timer, aux_period(t->event));
}

static void aux_start(struct perf_event *e, int flags)
{
	struct trace *t = trace_of(e);

#ifdef PERF_PMU_CAP_AUX_PAUSE
	if (flags & PERF_EF_RESUME) {
		WRITE_ONCE(e->hw.aux_paused, 0);
		return;
	}
#endif
	perf_event_addr_filters_sync(e);
	if (!t->open && !aux_begin(t)) {
		e->hw.state = PERF_HES_STOPPED;
		return;
	}
	e->hw.state = 0;
	hrtimer_start(&t->timer, t->left > 0 ? t->left : aux_period(e), HRTIMER_MODE_REL_PINNED_HARD);
}

static void aux_stop(struct perf_event *e, int flags)
{
	struct trace *t = trace_of(e);

#ifdef PERF_PMU_CAP_AUX_PAUSE
	if (flags & PERF_EF_PAUSE) {
		WRITE_ONCE(e->hw.aux_paused, 1);
		return;
	}
#endif
	if (!(e->hw.state & PERF_HES_STOPPED))
		t->left = hrtimer_get_remaining(&t->timer);
	e->hw.state = PERF_HES_STOPPED;
	hrtimer_try_to_cancel(&t->timer);
	aux_end(t, 0);
}

static int aux_add(struct perf_event *e, int flags)
{
	e->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START) {
		aux_start(e, 0);
		if (e->hw.state & PERF_HES_STOPPED)
			return -EINVAL;
	}
	return 0;
}

static void aux_del(struct perf_event *e, int flags)
{
	aux_stop(e, PERF_EF_UPDATE);
}

static void *aux_setup_aux(struct perf_event *e, void **pages, int n, bool overwrite)
{
	struct buf *b = kzalloc(sizeof(*b) + n * sizeof(*b->page), GFP_KERNEL);

	if (b) {
		b->size = (unsigned long)n << PAGE_SHIFT;
		b->overwrite = overwrite;
		memcpy(b->page, pages, n * sizeof(*pages));
	}
	return b;
}

static void aux_free_aux(void *b)
{
	kfree(b);
}

static long aux_snapshot(struct perf_event *e, struct perf_output_handle *to, unsigned long size)
{
	struct trace *t = trace_of(e);
	struct buf *b;

	if (!t->open)
		return 0;
	b = perf_get_aux(&t->h);
	size = min(size, b->pos);
	if (!size)
		return 0;
	return do_copy_aux(&t->h, to, b->pos - size, b->pos);
}

static int aux_filters_validate(struct list_head *l)
{
	struct perf_addr_filter *f;
	int n = 0;

	list_for_each_entry(f, l, entry)
		if (++n > 2 || (f->action != PERF_ADDR_FILTER_ACTION_FILTER && f->action != PERF_ADDR_FILTER_ACTION_STOP))
			return -EOPNOTSUPP;
	return 0;
}

static void aux_nop(struct perf_event *e) {}

static void aux_destroy(struct perf_event *e)
{
	hrtimer_cancel(&trace_of(e)->timer);
	kfree(trace_of(e));
}

static int aux_event_init(struct perf_event *e)
{
	struct trace *t;

	if (e->attr.type != e->pmu->type)
		return -ENOENT;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	timer_init(&t->timer, aux_tick);
	t->event = e;
	e->hw.event_base = (unsigned long)t;
	e->destroy = aux_destroy;
	return 0;
}

#ifndef PERF_PMU_CAP_AUX_PAUSE
#define PERF_PMU_CAP_AUX_PAUSE 0
#endif
#define TRACING_PMU(groups)												\
	{														\
		.module = THIS_MODULE, .attr_groups = groups, .task_ctx_nr = perf_sw_context, .nr_addr_filters = 2,	\
		.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_AUX_PAUSE,			\
		.event_init = aux_event_init, .add = aux_add, .del = aux_del, .start = aux_start, .stop = aux_stop,	\
		.read = aux_nop, .setup_aux = aux_setup_aux, .free_aux = aux_free_aux, .snapshot_aux = aux_snapshot,	\
		.addr_filters_validate = aux_filters_validate, .addr_filters_sync = aux_nop,				\
	}

struct pmu aux_pmu = TRACING_PMU(aux_groups);
struct pmu pt_pmu = TRACING_PMU(pt_groups);

void aux_prepare(void)
{
	FILL(aux_format);
	FILL(aux_events);
	FILL(aux_caps);
	FILL(pt_format);
	FILL(pt_caps);
}
