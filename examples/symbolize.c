/* SPDX-License-Identifier: MIT */
/* symbols.h, synth.h: what is at an address of this process? Its mappings come as records from /proc. */
#include <perfev/symbols.h>
#include <perfev/synth.h>
#include <stdio.h>
#include <unistd.h>

void a_function_to_find(void);
void a_function_to_find(void)
{
}

int main(void)
{
	struct perfev_symbols *symbols = NULL;
	struct perfev_synth *synth = NULL;
	struct perfev_record record;
	struct perfev_frame frame;
	struct perfev_error err;
	struct perfev_place place = {(uint64_t)(uintptr_t)a_function_to_find, getpid(), PERF_RECORD_MISC_USER};

	if (perfev_symbols_new(&symbols, NULL, &err) < 0 ||
	    perfev_synth_open(&synth, perfev_on_self(), NULL, NULL, &err) < 0)
		goto failed;
	while (perfev_synth_next(synth, &record, &err) > 0)
		if (perfev_symbols_feed(symbols, &record, NULL, &err) < 0)
			goto failed;
	if (perfev_symbols_find(symbols, &place, &frame, 1, &err) < 0)
		goto failed;
	printf("%s+%u in %s, a thread called %s\n", frame.symbol ? frame.symbol : "?", frame.offset, frame.module,
	       perfev_symbols_comm(symbols, getpid(), getpid()));
	perfev_synth_close(synth);
	perfev_symbols_free(symbols);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
