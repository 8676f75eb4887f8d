/* SPDX-License-Identifier: MIT */
/* order.h: the records of a file in the order of time; prints when the first and the last sample were. */
#include <perfev/order.h>
#include <perfev/reader.h>
#include <stdio.h>

static unsigned long count, backwards;
static uint64_t first, last;

static void take(struct perfev_order *order, const struct perfev_reader *reader)
{
	struct perfev_record record;
	uint64_t time;

	while (perfev_order_next(order, &record) > 0) {
		if (record.type != PERF_RECORD_SAMPLE ||
		    !perfev_record_time(&record, perfev_reader_layout(reader, &record), &time))
			continue;
		backwards += time < last;
		first = count++ ? first : time;
		last = time;
	}
}

int main(int argc, char **argv)
{
	struct perfev_reader *reader;
	struct perfev_order *order;
	struct perfev_record record;
	struct perfev_error err;

	if (perfev_reader_open(&reader, argc > 1 ? argv[1] : "perf.data", NULL, &err) < 0 ||
	    perfev_order_new(&order, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while (perfev_reader_next(reader, &record, &err) > 0) {
		if (perfev_order_push(order, &record, perfev_reader_layout(reader, &record), &err) < 0)
			break;
		take(order, reader);
	}
	perfev_order_end(order, &err);
	take(order, reader);
	printf("%lu samples over %.3f s, %lu backwards\n", count, (double)(last - first) / 1e9, backwards);
	perfev_order_free(order);
	perfev_reader_close(reader);
	return 0;
}
