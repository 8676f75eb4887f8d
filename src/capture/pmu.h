/* SPDX-License-Identifier: MIT */
/* PMUs, read when they are asked for: a server has hundreds, and most texts mean none of them. */
#ifndef CAPTURE_PMU_H
#define CAPTURE_PMU_H

#include <perfev/pmu.h>

/* pmus_list() - their names; each is read when pmus_get() first wants it */
int pmus_list(struct perfev_pmus **ret, const char *sysfs, struct perfev_error *err);
const char *pmus_name(const struct perfev_pmus *pmus, size_t index);
/* pmus_type() - its type alone; false: it has none */
bool pmus_type(const struct perfev_pmus *pmus, size_t index, uint32_t *ret);
/* NULL: it has no type, or there is no memory. */
const struct perfev_pmu *pmus_get(struct perfev_pmus *pmus, size_t index);

/* pmu_format() - the term @name, or NULL */
const struct perfev_pmu_format *pmu_format(const struct perfev_pmu *pmu, const char *name, size_t size);
const struct perfev_pmu_event *pmu_event(const struct perfev_pmu *pmu, const char *name, size_t size);

/* pmu_sink() - the number of a sink of a tracer, in its folder "sinks". False: it has none of that name. */
bool pmu_sink(const char *sysfs, const struct perfev_pmu *pmu, const char *name, uint64_t *ret);

/* pmus_no_memory() - has a PMU not been read because memory ran out? */
bool pmus_no_memory(const struct perfev_pmus *pmus);

/* Where a term's value goes: word 0 is config, 1 to 4 are config1 to config4. */
struct pmu_bits {
	unsigned word;
	uint64_t mask;
};

/* pmu_bits() - read a format's text. False: it cannot be read. */
bool pmu_bits(struct pmu_bits *ret, const char *text);
/* pmu_scatter() - @value over the bits of @mask, lowest first. False: it has more bits than that. */
bool pmu_scatter(uint64_t *ret, uint64_t mask, uint64_t value);
/* pmu_gather() - the other way */
uint64_t pmu_gather(uint64_t mask, uint64_t word);

#endif
