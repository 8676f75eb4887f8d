/* SPDX-License-Identifier: MIT */
/* tracer.h: what the hardware traces of this program, where it has a PMU for that. */
#include <perfev/event.h>
#include <perfev/pmu.h>
#include <perfev/tracer.h>
#include <stdio.h>

static const char *find_pmu(const struct perfev_pmus *pmus)
{
	static const char *const names[] = {"intel_pt", "arm_spe_0", "cs_etm", "aux_fake"};

	for (int i = 0; i < 4; i++)
		if (perfev_pmus_find(pmus, names[i]))
			return names[i];
	return NULL;
}

int main(void)
{
	const struct perfev_event *events[1];
	struct perfev_pmus *pmus;
	struct perfev_event *event;
	struct perfev_tracer *tracer;
	struct perfev_chunk chunk;
	struct perfev_trace_info info;
	struct perfev_error err;
	const char *pmu;

	if (perfev_pmus_read(&pmus, NULL, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	pmu = find_pmu(pmus);
	perfev_pmus_free(pmus);
	if (!pmu)
		return puts("no PMU of this machine writes traces"), 0;
	if (perfev_event_pmu(&event, pmu, "", &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	events[0] = event;
	perfev_event_attr(event)->exclude_kernel = 1;
	if (perfev_tracer_open(&tracer, events, 1, perfev_on_self(), NULL, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	perfev_event_free(event);
	perfev_tracer_start(tracer, NULL);
	for (volatile int i = 0; i < 100000000; i++)
		;
	perfev_tracer_stop(tracer, NULL);
	while (perfev_tracer_next(tracer, &chunk, &err) > 0)
		if (chunk.record.type == PERF_RECORD_AUX)
			printf("%zu bytes\n", chunk.part[0].size + chunk.part[1].size);
	perfev_tracer_release(tracer);
	perfev_tracer_describe(tracer, &info);
	printf("%llu bytes of trace by %s\n", (unsigned long long)info.bytes, pmu);
	perfev_tracer_close(tracer);
	return 0;
}
