/* SPDX-License-Identifier: MIT */
/* What can count here: each PMU, its number, and one of its events. */
#include <perfev/pmu.h>

#include <stdio.h>

int main(void)
{
	struct perfev_error err;
	struct perfev_pmus *pmus;
	size_t i;

	if (perfev_pmus_read(&pmus, NULL, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	for (i = 0; i < perfev_pmus_count(pmus); i++) {
		const struct perfev_pmu *pmu = perfev_pmus_at(pmus, i);

		printf("%-20s type %u, %zu terms, %zu events", pmu->name, pmu->type, pmu->format_count,
		       pmu->event_count);
		if (pmu->event_count)
			printf(", as %s/%s/", pmu->name, pmu->events[0].name);
		printf("%s\n", pmu->flags & PERFEV_PMU_SYSTEM_WIDE ? " (whole system)" : "");
	}
	perfev_pmus_free(pmus);
	return 0;
}
