/* SPDX-License-Identifier: MIT */
/* Work for which memory runs out: it says -ENOMEM, with its error in err, or does without; and it leaves nothing behind. */
#ifndef TESTS_UNIT_RUN_OUT_H
#define TESTS_UNIT_RUN_OUT_H

#include "allocator.h"
#include "test.h"

#include <errno.h>

static struct perfev_error err;

/* Does the work again and again, and lets one allocation more succeed each time, until all do. */
static inline void run_out(const char *name, int (*work)(void))
{
	long n;

	for (n = 0;; n++) {
		long before = live;
		int r;

		assert_in_range(n, 0, 5000);
		memset(&err, 0, sizeof(err));
		has_failed = false;
		fail_in = n;
		r = work();
		fail_in = -1;
		if (!has_failed && r != 0)
			fail_msg("%s: %d: %s", name, r, err.text);
		if (r != 0 && (r != -ENOMEM || err.code != r || err.why != PERFEV_WHY_MEMORY))
			fail_msg("%s, allocation %ld: %d, but the error has %d: %s", name, n, r,
				 err.code, err.text);
		if (live != before)
			fail_msg("%s, allocation %ld: %ld are left", name, n, live - before);
		if (!has_failed)
			break;
	}
	assert_true(n > 0);
}

#endif
