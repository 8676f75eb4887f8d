/* SPDX-License-Identifier: MIT */
/*
 * perfev/order.h - records in the order of time
 *
 * Each ring is written in order, but rings and the rounds of a file are not. A round is one pass over
 * all rings; what is older than the newest record of the round before cannot be overtaken any more,
 * so it may go. Records without a time go at once, ahead of all others that wait: they describe what
 * was there before the recording. Equal times keep the order in which they came.
 */
#ifndef PERFEV_ORDER_H
#define PERFEV_ORDER_H

#include <perfev/record.h>

PERFEV_BEGIN

struct perfev_order_opts {
	size_t size;
	uint64_t max_bytes; /* memory for waiting records; 0: 256 MiB. When it is full, the older
			     * half goes without waiting for the end of its round. */
};

struct perfev_order;

PERFEV_API int perfev_order_new(struct perfev_order **ret, const struct perfev_order_opts *opts,
				struct perfev_error *err);
PERFEV_API void perfev_order_free(struct perfev_order *order);

/*
 * perfev_order_push() - put a record in
 * Its bytes are copied, unless the record is PERFEV_RECORD_STABLE. A FINISHED_ROUND record ends the
 * round, as perfev_order_round() does.
 * @layout: of the record; NULL: it has no time.
 * Return: 0; -ENOMEM. Take out what is ready (perfev_order_next) before the next push.
 * Since: 0.1
 */
PERFEV_API int perfev_order_push(struct perfev_order *order, const struct perfev_record *record,
				 const struct perfev_layout *layout, struct perfev_error *err);

/* perfev_order_round() - one pass over all rings is complete. Return: 0, or a negative errno. */
PERFEV_API int perfev_order_round(struct perfev_order *order, struct perfev_error *err);
/* perfev_order_end() - nothing more will come: all that waits may go. Return: 0, or a negative errno. */
PERFEV_API int perfev_order_end(struct perfev_order *order, struct perfev_error *err);

/*
 * perfev_order_next() - the next record that may go
 * Its bytes live until the next push.
 * Return: 1 a record; 0 none is ready.
 */
PERFEV_API int perfev_order_next(struct perfev_order *order, struct perfev_record *ret);

/* Records that came when a later one had gone already; they go at once. */
PERFEV_API uint64_t perfev_order_late(const struct perfev_order *order);

PERFEV_END

#endif
