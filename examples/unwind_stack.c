/* SPDX-License-Identifier: MIT */
/* unwind.h: who called the code that runs? Samples itself, with registers and stack, and shows one stack. */
#include <perfev/sampler.h>
#include <perfev/synth.h>
#include <perfev/unwind.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void work(void)
{
	for (unsigned long i = 0; i < 100000000; i++)
		sink += i;
}

/* What is mapped here, as records. */
static int feed_mappings(struct perfev_symbols *symbols, struct perfev_error *err)
{
	struct perfev_synth *synth = NULL;
	struct perfev_record record;
	int r = perfev_synth_open(&synth, perfev_on_self(), NULL, NULL, err);

	while (r >= 0 && (r = perfev_synth_next(synth, &record, err)) > 0)
		r = perfev_symbols_feed(symbols, &record, NULL, err);
	perfev_synth_close(synth);
	return r;
}

/* Return: whether main was in it. */
static int show(struct perfev_symbols *symbols, const struct perfev_unwound *stack)
{
	struct perfev_frame frame;

	for (unsigned i = 0; i < stack->count; i++) {
		struct perfev_place place = {stack->frames[i].ip - (stack->frames[i].flags & PERFEV_UNWOUND_RETURN ? 1 : 0),
					     getpid(), PERF_RECORD_MISC_USER};

		if (perfev_symbols_find(symbols, &place, &frame, 1, NULL) < 1 || !frame.symbol)
			continue;
		printf("%s\n", frame.symbol);
		if (!strcmp(frame.symbol, "main"))
			return 1;
	}
	return 0;
}

int main(void)
{
	struct perfev_event *event = NULL;
	struct perfev_sampler *sampler = NULL;
	struct perfev_symbols *symbols = NULL;
	struct perfev_unwinder *unwinder = NULL;
	struct perfev_unwound stack;
	struct perfev_record record;
	struct perfev_sample sample;
	struct perfev_error err;
	struct perf_event_attr *attr;
	unsigned abi;
	enum perfev_arch arch = perfev_arch_host(&abi);
	int shown = 0;

	if (perfev_event_parse(&event, "cpu-clock:u", &err) < 0)
		goto failed;
	attr = perfev_event_attr(event);
	attr->sample_period = 1000000;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = perfev_reg_mask(arch, abi);
	attr->sample_stack_user = 8192;
	if (perfev_symbols_new(&symbols, NULL, &err) < 0 || feed_mappings(symbols, &err) < 0 ||
	    perfev_unwinder_new(&unwinder, symbols, NULL, &err) < 0 ||
	    perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL, &err) < 0 ||
	    perfev_sampler_start(sampler, &err) < 0)
		goto failed;
	work();
	perfev_sampler_stop(sampler, NULL);
	while (!shown && perfev_sampler_wait(sampler, 0, &err) > 0) {
		while (!shown && perfev_sampler_next(sampler, &record, &err) > 0) {
			const struct perfev_layout *layout = perfev_sampler_layout(sampler, &record);

			if (record.type == PERF_RECORD_SAMPLE && perfev_sample_decode(&sample, &record, layout, &err) == 0 &&
			    sample.ip >= (unsigned long)work && sample.ip < (unsigned long)work + 4096 &&
			    perfev_unwind_sample(unwinder, &sample, layout, &stack, &err) > 0)
				shown = show(symbols, &stack);
		}
		perfev_sampler_release(sampler);
	}
	perfev_sampler_close(sampler);
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(symbols);
	perfev_event_free(event);
	return !shown;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
