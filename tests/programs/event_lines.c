/* SPDX-License-Identifier: MIT */
/* Each line of the input is parsed as events of this machine; what they are is written, a line each, then an
 * empty line. A mistake is a line that begins with an exclamation mark. */
#include "machine.h"

#include <string.h>

int main(void)
{
	static char text[65536], line[65536 + 1024];
	struct perfev_events *events;
	struct perfev_error err;
	size_t i;

	while (fgets(text, sizeof(text), stdin)) {
		text[strcspn(text, "\n")] = 0;
		if (perfev_events_parse(&events, text, &err) < 0) {
			printf("! %s\n\n", err.text);
			continue;
		}
		for (i = 0; i < perfev_events_count(events); i++) {
			event_line(line, sizeof(line), events, i);
			puts(line);
		}
		puts("");
		perfev_events_free(events);
	}
	return 0;
}
