/* SPDX-License-Identifier: MIT */
/* raw.h: the system call itself; open a counter, let it run around a piece of code, read it. */
#include <perfev/raw.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct perf_event_attr attr =
		perfev_raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	struct {
		uint64_t count, enabled_ns, running_ns;
	} now = {0, 0, 0};
	char *memory;
	int fd, r;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.disabled = 1;
	attr.exclude_kernel = 1; /* what everybody may count */
	attr.exclude_hv = 1;
	fd = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "perf_event_open: errno %d\n", -fd);
		return 1;
	}
	perfev_raw_enable(fd, 0);
	memory = calloc(1000, 4096);
	for (int i = 0; memory && i < 1000; i++)
		memory[i * 4096] = 1;
	perfev_raw_disable(fd, 0);
	r = perfev_raw_read(fd, &now, sizeof(now));
	printf("%llu page faults, counted %s\n", (unsigned long long)now.count,
	       now.running_ns == now.enabled_ns ? "all the time" : "a part of the time");
	free(memory);
	perfev_raw_close(fd);
	return r == (int)sizeof(now) ? 0 : 1;
}
