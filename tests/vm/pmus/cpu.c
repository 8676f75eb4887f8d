/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The CPU's PMU, type 4: it answers HARDWARE, HW_CACHE and RAW events, has 4 counters (parameter "counters"), multiplexes,
 * samples, and fills branch stacks, data_src, weight, transaction, raw data, XMM registers. Counts are exact functions of
 * running time: 4 instructions to 3 cycles.
 */
#include "pmus.h"

#include <asm/irq_regs.h>
#ifdef CONFIG_X86
#include <asm/perf_event.h>
#endif

struct cnt {
	struct hrtimer timer;
	struct perf_event *event;
	u32 rate; /* events in 1024 ns */
	int slot; /* counter it sits in, or -1 */
};

struct cpu_state {
	unsigned long used; /* counters taken */
	u64 frozen, lost; /* stopped since (0: running); time lost being stopped */
	int depth;
};
static struct cpu_state __percpu *cpu_state;

GROUP(cpu_format, "format",
	EVENT("event", "config:0-7"), EVENT("umask", "config:8-15"), EVENT("edge", "config:18"),
	EVENT("inv", "config:23"), EVENT("cmask", "config:24-31"), EVENT("ldlat", "config1:0-15"),
	EVENT("split", "config1:16-19,config1:60-63"), EVENT("lost", "config2:0-15"));
GROUP(cpu_events, "events",
	EVENT("cpu-cycles", "event=0x3c"), EVENT("instructions", "event=0xc0"),
	EVENT("branch-instructions", "event=0xc4"), EVENT("branch-misses", "event=0xc5"),
	EVENT("mem-loads", "event=0xcd,umask=0x1,ldlat=3"), EVENT("mem-stores", "event=0xd0,umask=0x82"));
GROUP(cpu_caps, "caps",
	EVENT("pmu_name", "fake"), EVENT("max_precise", "3"), EVENT("branches", "8"),
	EVENT("branch_counter_nr", "4"), EVENT("branch_counter_width", "2"));
static const struct attribute_group *cpu_groups[] = { &cpu_format, &cpu_events, &cpu_caps, NULL };

/* Time on the PMU's clock, which stands still while the PMU is disabled, so
 * that all counters of a group cover the very same time. */
static u64 pmu_now(void)
{
	struct cpu_state *s = this_cpu_ptr(cpu_state);

	return (s->frozen ?: ktime_get_mono_fast_ns()) - s->lost;
}

static void cpu_disable(struct pmu *pmu)
{
	struct cpu_state *s = this_cpu_ptr(cpu_state);

	if (!s->depth++)
		s->frozen = ktime_get_mono_fast_ns();
}

static void cpu_enable(struct pmu *pmu)
{
	struct cpu_state *s = this_cpu_ptr(cpu_state);

	if (!--s->depth) {
		s->lost += ktime_get_mono_fast_ns() - s->frozen;
		s->frozen = 0;
	}
}

static struct cnt *cnt_of(struct perf_event *e)
{
	return (void *)e->hw.event_base;
}

static void cpu_read(struct perf_event *e)
{
	u64 now = pmu_now(), then = local64_xchg(&e->hw.prev_count, now), rate = cnt_of(e)->rate;
	s64 d = (now * rate >> 10) - (then * rate >> 10);

	local64_add(d, &e->count);
	if (e->hw.sample_period)
		local64_sub(d, &e->hw.period_left);
}

static ktime_t next_overflow(struct perf_event *e)
{
	s64 left = local64_read(&e->hw.period_left), period = e->hw.sample_period;

	if (left <= -period)
		left = period;
	else if (left <= 0)
		left += period;
	local64_set(&e->hw.period_left, left);
	e->hw.last_period = period;
	return ns_to_ktime(max_t(u64, 10000, div_u64((u64)left << 10, cnt_of(e)->rate) + 1));
}

static void cpu_start(struct perf_event *e, int flags)
{
	if (!(e->hw.state & PERF_HES_STOPPED))
		return;
	e->hw.state = 0;
	local64_set(&e->hw.prev_count, pmu_now());
	if (e->hw.sample_period)
		hrtimer_start(&cnt_of(e)->timer, next_overflow(e), HRTIMER_MODE_REL_PINNED_HARD);
	perf_event_update_userpage(e);
}

static void cpu_stop(struct perf_event *e, int flags)
{
	if (!(e->hw.state & PERF_HES_STOPPED)) {
		cpu_read(e);
		hrtimer_try_to_cancel(&cnt_of(e)->timer);
	}
	e->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int cpu_add(struct perf_event *e, int flags)
{
	struct cpu_state *s = this_cpu_ptr(cpu_state);
	int slot = find_first_zero_bit(&s->used, counters);

	if (slot >= counters)
		return -EAGAIN;
	__set_bit(slot, &s->used);
	cnt_of(e)->slot = slot;
	e->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		cpu_start(e, PERF_EF_RELOAD);
	perf_event_update_userpage(e);
	return 0;
}

static void cpu_del(struct perf_event *e, int flags)
{
	cpu_stop(e, PERF_EF_UPDATE);
	__clear_bit(cnt_of(e)->slot, &this_cpu_ptr(cpu_state)->used);
	cnt_of(e)->slot = -1;
	perf_event_update_userpage(e);
}

/* What a sample carries: every field a known function of the address sampled. */
struct fill {
	struct { u64 nr, hw_idx; struct perf_branch_entry e[8]; } br;
	u64 br_cntr[8], xmm[32], raw_words[3];
	struct perf_raw_record raw;
};
static struct fill __percpu *fill;

static void fill_branches(struct perf_event *e, struct perf_sample_data *d, u64 ip)
{
	struct fill *f = this_cpu_ptr(fill);
	u64 want = e->attr.branch_sample_type;

	memset(&f->br, 0, sizeof(f->br));
	f->br.nr = 8;
	f->br.hw_idx = 5;
	for (int i = 0; i < 8; i++) {
		struct perf_branch_entry *b = &f->br.e[i];

		b->from = ip - 16 * i;
		b->to = ip - 16 * i + 4;
		b->mispred = i & 1;
		b->predicted = !(i & 1);
		b->in_tx = i == 2;
		b->abort = i == 3;
		b->cycles = 100 + i;
		if (want & PERF_SAMPLE_BRANCH_TYPE_SAVE)
			b->type = i == 7 ? PERF_BR_EXTEND_ABI : i + 1;
		b->spec = i & 3;
		b->new_type = i == 7 ? PERF_BR_NEW_FAULT_DATA : 0;
		if (want & PERF_SAMPLE_BRANCH_PRIV_SAVE)
			b->priv = PERF_BR_PRIV_USER;
		f->br_cntr[i] = i | 0x80;
	}
#if FROM(6, 8)
	perf_sample_save_brstack(d, e, (void *)&f->br, want & PERF_SAMPLE_BRANCH_COUNTERS ? f->br_cntr : NULL);
#elif FROM(6, 3)
	perf_sample_save_brstack(d, e, (void *)&f->br);
#else
	d->br_stack = (void *)&f->br;
	d->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
#endif
}

static int cpu_sample(struct perf_event *e, struct pt_regs *at)
{
	struct fill *f = this_cpu_ptr(fill);
	struct perf_sample_data d;
	u64 type = e->attr.sample_type;
	struct pt_regs *regs;
#ifdef CONFIG_X86
	struct x86_perf_regs x = { .regs = *at, .xmm_regs = f->xmm };

	regs = &x.regs;
	if (e->attr.precise_ip)
		regs->flags |= PERF_EFLAGS_EXACT;
	for (int i = 0; i < 32; i++)
		f->xmm[i] = 0x1000 + i;
#else
	regs = at;
#endif
	perf_sample_data_init(&d, 0, e->hw.last_period);
	if (type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE)) {
		d.addr = user_stack_pointer(regs);
		d.sample_flags |= PERF_SAMPLE_ADDR;
	}
	if (type & PERF_SAMPLE_WEIGHT) {
		d.weight.full = 777;
		d.sample_flags |= PERF_SAMPLE_WEIGHT;
	} else if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		d.weight.var1_dw = 0x11111111;
		d.weight.var2_w = 0x2222;
		d.weight.var3_w = 0x3333;
		d.sample_flags |= PERF_SAMPLE_WEIGHT_STRUCT;
	}
	if (type & PERF_SAMPLE_DATA_SRC) {
		d.data_src.val = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(SNOOP, HITM) |
			PERF_MEM_S(LOCK, LOCKED) | PERF_MEM_S(TLB, L2) | PERF_MEM_S(TLB, HIT) | PERF_MEM_S(LVLNUM, L3) |
			PERF_MEM_S(REMOTE, REMOTE) | PERF_MEM_S(SNOOPX, FWD) | PERF_MEM_S(BLK, ADDR) | PERF_MEM_S(HOPS, 1);
		d.sample_flags |= PERF_SAMPLE_DATA_SRC;
	}
	if (type & PERF_SAMPLE_TRANSACTION) {
		d.txn = PERF_TXN_TRANSACTION | PERF_TXN_SYNC | PERF_TXN_CONFLICT | 0xabcdull << PERF_TXN_ABORT_SHIFT;
		d.sample_flags |= PERF_SAMPLE_TRANSACTION;
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		fill_branches(e, &d, instruction_pointer(regs));
	if (type & PERF_SAMPLE_RAW) {
		f->raw_words[0] = 0x0123456789abcdefull;
		f->raw_words[1] = instruction_pointer(regs);
		f->raw_words[2] = e->attr.config;
		f->raw = (struct perf_raw_record){ .frag = { .data = f->raw_words, .size = 20 } };
#if FROM(6, 12)
		perf_sample_save_raw_data(&d, e, &f->raw);
#elif FROM(6, 3)
		perf_sample_save_raw_data(&d, &f->raw);
#else
		d.raw = &f->raw;
		d.sample_flags |= PERF_SAMPLE_RAW;
#endif
	}
	if (e->attr.config2 & 0xffff)
		do_lost_samples(e, e->attr.config2 & 0xffff);
	return do_overflow(e, &d, regs);
}

static enum hrtimer_restart cpu_tick(struct hrtimer *t)
{
	struct perf_event *e = container_of(t, struct cnt, timer)->event;
	struct pt_regs *regs = get_irq_regs();

	if (e->hw.state & PERF_HES_STOPPED)
		return HRTIMER_NORESTART;
	cpu_read(e);
	if (local64_read(&e->hw.period_left) <= 0) {
		ktime_t next = next_overflow(e);

		if (!regs || (user_mode(regs) ? e->attr.exclude_user : e->attr.exclude_kernel))
			return again(t, next);
		if (e->attr.aux_output)
			do_aux_output_id(e, 0x42);
		else if (cpu_sample(e, regs))
			cpu_stop(e, 0);
	}
	if (e->hw.state & PERF_HES_STOPPED)
		return HRTIMER_NORESTART;
	return again(t, next_overflow(e));
}

static int cpu_rate(struct perf_event_attr *a)
{
	static const u16 hw[] = { 3072, 4096, 64, 8, 512, 16, 100, 300, 600, 2048 };

	switch (a->type) {
	case PERF_TYPE_HARDWARE:
		return a->config < ARRAY_SIZE(hw) ? hw[a->config] : -EINVAL;
	case PERF_TYPE_HW_CACHE: {
		unsigned int id = a->config & 255, op = a->config >> 8 & 255, miss = a->config >> 16 & 255;

		if (id > 6 || op > 2 || miss > 1)
			return -EINVAL;
		if (id == PERF_COUNT_HW_CACHE_NODE || (id == PERF_COUNT_HW_CACHE_BPU && op))
			return -ENOENT;
		return (1024 >> id >> op >> (miss ? 4 : 0)) ?: 1;
	}
	default:
		switch (a->config & 255) {
		case 0x3c: return 3072;
		case 0xc0: return 4096;
		case 0xc4: return 512;
		case 0xc5: return 16;
		default: return 1 + (a->config & 0xffff) % 1000;
		}
	}
}

static void cpu_destroy(struct perf_event *e)
{
	hrtimer_cancel(&cnt_of(e)->timer);
	kfree(cnt_of(e));
}

static int cpu_event_init(struct perf_event *e)
{
	struct perf_event *s, *l = e->group_leader;
	int rate, n = 1;
	struct cnt *c;

	if (e->attr.type != cpu_pmu.type && e->attr.type != PERF_TYPE_HARDWARE && e->attr.type != PERF_TYPE_HW_CACHE)
		return -ENOENT;
	rate = cpu_rate(&e->attr);
	if (rate < 0)
		return rate;
#ifdef CONFIG_X86
	if (e->attr.sample_regs_user & PERF_REG_EXTENDED_MASK)
		return -EINVAL;
#endif
	if (e->attr.precise_ip && !is_sampling_event(e))
		return -EINVAL;
	if (l != e) {
		n += l->pmu == &cpu_pmu;
		for_each_sibling_event(s, l)
			n += s->pmu == &cpu_pmu;
	}
	if (n > counters)
		return -EINVAL;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	timer_init(&c->timer, cpu_tick);
	c->event = e;
	c->rate = rate;
	c->slot = -1;
	e->hw.event_base = (unsigned long)c;
	e->destroy = cpu_destroy;
	return 0;
}

static int cpu_aux_output_match(struct perf_event *aux)
{
	return aux->pmu == &aux_pmu;
}

struct pmu cpu_pmu = {
	.module = THIS_MODULE, .attr_groups = cpu_groups, .task_ctx_nr = perf_hw_context,
	.capabilities = PERF_PMU_CAP_EXTENDED_REGS | PERF_PMU_CAP_AUX_OUTPUT | PERF_PMU_CAP_EXTENDED_HW_TYPE,
	.event_init = cpu_event_init, .add = cpu_add, .del = cpu_del, .start = cpu_start, .stop = cpu_stop, .read = cpu_read,
	.pmu_enable = cpu_enable, .pmu_disable = cpu_disable, .aux_output_match = cpu_aux_output_match,
};

int cpu_prepare(void)
{
	FILL(cpu_format);
	FILL(cpu_events);
	FILL(cpu_caps);
	counters = clamp(counters, 1, BITS_PER_LONG);
	cpu_state = alloc_percpu(struct cpu_state); /* not static: s390 modules have no such thing */
	fill = alloc_percpu(struct fill);
	return cpu_state && fill ? 0 : -ENOMEM;
}

void cpu_free(void)
{
	free_percpu(cpu_state);
	free_percpu(fill);
}
