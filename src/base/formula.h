/* SPDX-License-Identifier: MIT */
/* Formulas over named values: + - * / ( ) and numbers. A name may have dashes and slashes in it; of those that
 * begin at a place the longest is meant. */
#ifndef BASE_FORMULA_H
#define BASE_FORMULA_H

#include <perfev/common.h>

struct formula {
	const char *text;
	const char *const *names;
	size_t count;
	/* 0; -ENODATA: the value is not there */
	int (*value)(void *context, size_t index, double *ret);
	void *context;
};

/* formula_eval() - 0; -EINVAL with the column; -ENODATA for a value that is not there, or a division by 0 */
int formula_eval(double *ret, const struct formula *formula, struct perfev_error *err);

#endif
