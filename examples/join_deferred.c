/* SPDX-License-Identifier: MIT */
/* deferred.h: samples of the kernel's code whose user stack came later, joined; on any host. */
#include <perfev/deferred.h>
#include <perfev/meaning.h>
#include <stdio.h>

static struct perfev_error err;

static void print(const struct perfev_record *record, const struct perfev_layout *layout)
{
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;
	struct perfev_sample sample;

	if (perfev_sample_decode(&sample, record, layout, &err) < 0)
		return;
	printf("thread %u:", sample.tid);
	perfev_callchain_begin(&chain, sample.callchain, sample.misc);
	while (perfev_callchain_next(&chain, &entry) > 0)
		printf(" %s 0x%llx", perfev_context_name((enum perfev_context)entry.context), (unsigned long long)entry.ip);
	printf("\n");
}

int main(void)
{
	/* as a kernel of 6.19 writes them; 7 is the cookie */
	static const char *const lines[] = {
		"SAMPLE misc=0x1 tid=5/6 callchain=[0xffffffffffffff80,0xffffffff81000010,0xfffffffffffffd80,7]",
		"SAMPLE misc=0x1 tid=5/8 callchain=[0xffffffffffffff80,0xffffffff81000020,0xfffffffffffffd80,9]",
		"CALLCHAIN_DEFERRED misc=0x2 cookie=7 ips=[0x401136,0x4010f0] @ tid=5/6",
	};
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
				       .sample_id_all = 1, .defer_callchain = 1};
	const struct perfev_layout *of;
	struct perfev_deferred_info counts;
	struct perfev_deferred *deferred = NULL;
	struct perfev_layout *layout = NULL;
	struct perfev_record record;
	unsigned char bytes[256];
	int i, size;

	if (perfev_layout_new(&layout, &attr, &err) < 0 || perfev_deferred_new(&deferred, NULL, &err) < 0)
		goto failed;
	for (i = 0; i < 3; i++) {
		size = perfev_record_parse(bytes, sizeof(bytes), lines[i], layout, 0, &err);
		if (size < 0 || perfev_record_from_bytes(&record, (struct perfev_bytes){bytes, (size_t)size}, 0, &err) < 0 ||
		    perfev_deferred_feed(deferred, &record, layout, &err) < 0)
			goto failed;
		while (perfev_deferred_next(deferred, &record, &of) > 0)
			print(&record, of);
	}
	perfev_deferred_end(deferred);
	while (perfev_deferred_next(deferred, &record, &of) > 0)
		print(&record, of);
	perfev_deferred_describe(deferred, &counts);
	printf("%llu joined, %llu without\n", (unsigned long long)counts.joined, (unsigned long long)counts.alone);
	perfev_deferred_free(deferred);
	perfev_layout_free(layout);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
