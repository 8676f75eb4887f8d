/* SPDX-License-Identifier: MIT */
/* region.h: what two pieces of code cost, one within the other, from inside the program. */
#include <perfev/region.h>
#include <stdio.h>
#include <stdlib.h>

static int to_stdout(void *context, const void *data, size_t size)
{
	(void)context;
	return fwrite(data, 1, size, stdout) == size ? 0 : -5;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

int main(void)
{
	static int numbers[100000];
	struct perfev_sink out = {to_stdout, NULL};
	struct perfev_regions *regions;
	struct perfev_error err;
	double per_number;

	if (perfev_regions_open(&regions, NULL, &err) < 0) /* PERFEV_EVENTS may name the events */
		return fprintf(stderr, "%s\n", err.text), 1;
	for (int turn = 0; turn < 5; turn++) {
		perfev_region_begin(regions, "turn");
		for (int i = 0; i < 100000; i++)
			numbers[i] = rand();
		perfev_region_begin(regions, "sort");
		qsort(numbers, 100000, sizeof(numbers[0]), compare);
		perfev_region_end_n(regions, 100000);
		perfev_region_end(regions);
	}
	perfev_regions_text(regions, out);
	if (perfev_region_metric(&per_number, regions, 1, "task-clock / 500000", &err) == 0)
		printf("\n%.1f ns to sort a number\n", per_number);
	perfev_regions_close(regions);
	return 0;
}
