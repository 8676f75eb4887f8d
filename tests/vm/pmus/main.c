/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The module: what its PMUs share, and their registration. */
#include "pmus.h"

#include <linux/kprobes.h>

int counters = 4;
module_param(counters, int, 0444);

/* perf core functions that modules are not given */
int (*do_overflow)(struct perf_event *, struct perf_sample_data *, struct pt_regs *);
void (*do_disable)(struct perf_event *);
void (*do_lost_samples)(struct perf_event *, u64);
void (*do_aux_output_id)(struct perf_event *, u64);
long (*do_copy_aux)(struct perf_output_handle *, struct perf_output_handle *, unsigned long, unsigned long);

static int find_functions(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long (*lookup)(const char *);
	int e = register_kprobe(&kp);

	if (e)
		return e;
	lookup = (void *)kp.addr;
	unregister_kprobe(&kp);
	do_overflow = (void *)lookup("perf_event_overflow");
	do_disable = (void *)lookup("perf_event_disable_inatomic");
	do_lost_samples = (void *)lookup("perf_log_lost_samples");
	do_aux_output_id = (void *)lookup("perf_report_aux_output_id");
	do_copy_aux = (void *)lookup("perf_output_copy_aux");
	return do_overflow && do_disable && do_lost_samples && do_aux_output_id && do_copy_aux ? 0 : -ENOENT;
}

void timer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
#if FROM(6, 13)
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
#else
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	t->function = fn;
#endif
}

/* Runs it again that long from now, whatever the callback itself took. */
enum hrtimer_restart again(struct hrtimer *t, ktime_t in)
{
	hrtimer_set_expires(t, ktime_add(ktime_get(), in));
	return HRTIMER_RESTART;
}

ssize_t perf_show_str(struct device *d, struct device_attribute *a, char *page)
{
	return sprintf(page, "%s\n", container_of(a, struct str_attr, a)->s);
}

static int __init pmus_init(void)
{
	int e = find_functions();

	if (e)
		return e;
	aux_prepare();
	unc_prepare();
	e = cpu_prepare();
	if (e == 0)
		e = perf_pmu_register(&cpu_pmu, "cpu", PERF_TYPE_RAW);
	if (e)
		goto memory;
	e = perf_pmu_register(&aux_pmu, "aux_fake", -1);
	if (e)
		goto cpu;
	e = perf_pmu_register(&pt_pmu, "intel_pt", -1);
	if (e)
		goto aux;
	e = perf_pmu_register(&unc_pmu, "uncore_fake_0", -1);
	if (e == 0)
		return 0;
	perf_pmu_unregister(&pt_pmu);
aux:
	perf_pmu_unregister(&aux_pmu);
cpu:
	perf_pmu_unregister(&cpu_pmu);
memory:
	cpu_free();
	return e;
}

static void __exit pmus_exit(void)
{
	perf_pmu_unregister(&unc_pmu);
	perf_pmu_unregister(&pt_pmu);
	perf_pmu_unregister(&aux_pmu);
	perf_pmu_unregister(&cpu_pmu);
	cpu_free();
}

module_init(pmus_init);
module_exit(pmus_exit);
MODULE_DESCRIPTION("PMUs made of timers, for testing perf_event_open without hardware");
MODULE_LICENSE("Dual MIT/GPL");
