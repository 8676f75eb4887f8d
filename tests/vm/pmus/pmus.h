/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Four PMUs made of nothing but timers, so that a virtual machine without counters can test all that
 * perf_event_open(2) offers. For test machines only; Linux 6.1 to 7.3. What each is, its file says.
 */
#ifndef TESTS_VM_PMUS_H
#define TESTS_VM_PMUS_H

#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/version.h>

#define FROM(a, b) (LINUX_VERSION_CODE >= KERNEL_VERSION(a, b, 0))

extern struct pmu cpu_pmu, aux_pmu, pt_pmu, unc_pmu;
extern int counters;

int cpu_prepare(void); /* memory for each CPU, and the files in sysfs */
void cpu_free(void);
void aux_prepare(void);
void unc_prepare(void);

/* functions of the kernel that modules are not given */
extern int (*do_overflow)(struct perf_event *, struct perf_sample_data *, struct pt_regs *);
extern void (*do_disable)(struct perf_event *);
extern void (*do_lost_samples)(struct perf_event *, u64);
extern void (*do_aux_output_id)(struct perf_event *, u64);
extern long (*do_copy_aux)(struct perf_output_handle *, struct perf_output_handle *, unsigned long, unsigned long);

void timer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *));
enum hrtimer_restart again(struct hrtimer *t, ktime_t in); /* that long from now, whatever the callback took */

#define EVENT(nm, val) { { .attr = { .name = nm, .mode = 0444 }, .show = perf_show_str }, val }
struct str_attr { struct device_attribute a; const char *s; };
ssize_t perf_show_str(struct device *d, struct device_attribute *a, char *page);

/* A sysfs group out of a list of (name, text) */
#define GROUP(id, dir, ...)							\
	static struct str_attr id##_s[] = { __VA_ARGS__ };			\
	static struct attribute *id##_a[ARRAY_SIZE(id##_s) + 1];		\
	static struct attribute_group id = { .name = dir, .attrs = id##_a }
#define FILL(id) do { for (int i_ = 0; i_ < ARRAY_SIZE(id##_s); i_++) {	\
	sysfs_attr_init(&id##_s[i_].a.attr); id##_a[i_] = &id##_s[i_].a.attr; } } while (0)

#endif
