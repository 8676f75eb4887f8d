/* SPDX-License-Identifier: MIT */
/* Formulas: any text gives a number or an error, the same each time, with a column that is in the text. */
#include "fuzz.h"

#include "base/formula.h"

#include <errno.h>

static int value_of(void *context, size_t index, double *ret)
{
	(void)context;
	if (index == 3)
		return -ENODATA;
	*ret = (double)index * 1.5;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"instructions", "cycles", "L1-dcache-load-misses", "gone", "cpu/event=1/", "a"};
	struct formula f = {.names = names, .count = 6, .value = value_of};
	struct perfev_error err;
	double first = 0, second = 0;
	char *text = malloc(size + 1);
	int r;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	f.text = text;
	r = formula_eval(&first, &f, &err);
	if (r != formula_eval(&second, &f, NULL) || (r && r != -EINVAL && r != -ENODATA && r != -ERANGE))
		abort();
	if (r < 0 && (err.code != r || err.where < 1 || err.where > strlen(text) + 1))
		abort();
	if (r == 0 && memcmp(&first, &second, sizeof(first)))
		abort();
	free(text);
	return 0;
}
