/* SPDX-License-Identifier: MIT */
/* json.h: raw records decoded elsewhere: what goes over is the saved layout, and the bytes as they are. */
#include <perfev/json.h>
#include <stdio.h>

/* The other side, of which nothing is known here: it prints the records as JSON. */
static int receive(struct perfev_bytes saved, struct perfev_bytes bytes, struct perfev_error *err)
{
	struct perfev_layout *layout;
	struct perfev_record record;
	unsigned flags;
	char json[512];
	int r = perfev_layout_load(&layout, &flags, saved, err);

	if (r < 0)
		return r;
	r = perfev_record_from_bytes(&record, bytes, flags, err);
	if (r == 0)
		r = perfev_record_to_json(json, sizeof(json), &record, layout, err);
	if (r >= 0 && r < (int)sizeof(json))
		printf("%s\n", json);
	perfev_layout_free(layout);
	return r;
}

int main(void)
{
	/* what a sampler would have: perfev_sampler_layout(), and record.data */
	static const char options[] = "{\"sample_type\":[\"PERF_SAMPLE_IP\",\"PERF_SAMPLE_TID\"],\"sample_period\":4000}";
	static const char sample[] = "SAMPLE misc=0x2 ip=0x401136 tid=300/301";
	struct perf_event_attr attr;
	struct perfev_layout *layout;
	struct perfev_error err;
	unsigned char saved[256], bytes[64];
	char json[512];
	int r, n;

	if (perfev_attr_from_json(&attr, sizeof(attr), options, &err) < 0 || perfev_layout_new(&layout, &attr, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	r = perfev_layout_save(saved, sizeof(saved), layout, 0, &err);
	perfev_layout_to_json(json, sizeof(json), layout, 0, &err);
	printf("%s\n", json);
	n = perfev_record_parse(bytes, sizeof(bytes), sample, layout, 0, &err);
	perfev_layout_free(layout);
	if (n >= 0)
		n = receive((struct perfev_bytes){saved, (size_t)r}, (struct perfev_bytes){bytes, (size_t)n}, &err);
	if (n < 0)
		fprintf(stderr, "%s\n", err.text);
	return n < 0;
}
