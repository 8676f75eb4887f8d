/* SPDX-License-Identifier: MIT */
/* reader.h, feature.h: what is in a recording? */
#include <perfev/reader.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct perfev_reader *reader;
	struct perfev_reader_info info;
	struct perfev_reader_event_info event;
	struct perfev_record record;
	struct perfev_bytes section;
	struct perfev_error err;
	unsigned long samples = 0, others = 0;
	int r;

	if (perfev_reader_open(&reader, argc > 1 ? argv[1] : "perf.data", NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while ((r = perfev_reader_next(reader, &record, &err)) > 0)
		*(record.type == PERF_RECORD_SAMPLE ? &samples : &others) += 1;
	if (r < 0)
		fprintf(stderr, "%s\n", err.text);
	perfev_reader_describe(reader, &info);
	for (size_t i = 0; perfev_reader_event_at(reader, i, &event); i++)
		printf("event %s\n", event.name);
	if (perfev_reader_feature(reader, PERFEV_FEATURE_HOSTNAME, &section))
		printf("recorded on %s\n", perfev_feature_string(section, info.swapped));
	printf("%lu samples, %lu other records\n", samples, others);
	perfev_reader_close(reader);
	return r < 0;
}
