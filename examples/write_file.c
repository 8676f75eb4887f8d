/* SPDX-License-Identifier: MIT */
/* writer.h: make a recording by hand, which perf and perfev read. */
#include <perfev/writer.h>
#include <stdio.h>
#include <string.h>

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
};

int main(int argc, char **argv)
{
	struct perf_event_attr attr;
	struct sample samples[3];
	struct perfev_writer *writer;
	struct perfev_record record;
	struct perfev_error err;
	uint64_t id = 1;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.size = sizeof(attr);
	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_id_all = 1;
	if (perfev_writer_open(&writer, argc > 1 ? argv[1] : "made.data", NULL, &err) < 0 ||
	    perfev_writer_add_event(writer, "cpu-clock", &attr, &id, 1, &err) < 0 ||
	    perfev_writer_start(writer, &err) < 0)
		goto failed;
	for (unsigned i = 0; i < 3; i++) {
		struct perfev_bytes bytes = {&samples[i], sizeof(samples[i])};

		samples[i] = (struct sample){{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(samples[i])},
					     0x401000 + i, 42, 42, 1000 + i};
		perfev_record_from_bytes(&record, bytes, 0, NULL);
		if (perfev_writer_append(writer, &record, &err) < 0)
			goto failed;
	}
	if (perfev_writer_round(writer, &err) < 0 ||
	    perfev_writer_put_string(writer, PERFEV_FEATURE_HOSTNAME, "example", &err) < 0 ||
	    perfev_writer_finish(writer, &err) < 0)
		goto failed;
	printf("%llu bytes written\n", (unsigned long long)perfev_writer_bytes(writer));
	perfev_writer_close(writer);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
