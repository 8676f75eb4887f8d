/* SPDX-License-Identifier: MIT */
/* A parser that computes while it reads, one function a precedence. */
#include "formula.h"

#include "error.h"
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define DEPTH_MAX 64 /* of parentheses and signs */
#define SHOWN	  "%.120s"

struct state {
	const struct formula *f;
	size_t at;
	int depth;
	struct perfev_error *err;
};

static int sum(struct state *s, double *ret);

static void skip_blanks(struct state *s)
{
	while (s->f->text[s->at] == ' ' || s->f->text[s->at] == '\t')
		s->at++;
}

static int syntax(struct state *s, const char *what)
{
	return error_set(s->err, -EINVAL, PERFEV_WHY_SYNTAX, s->at + 1,
			 "cannot compute '" SHOWN "': %s at column %zu", s->f->text, what, s->at + 1);
}

static int missing(struct state *s, const char *what, const char *name)
{
	return error_set(s->err, -ENODATA, PERFEV_WHY_NOT_FOUND, s->at + 1,
			 "cannot compute '" SHOWN "': %.80s%s; take what was counted", s->f->text, name, what);
}

/* What could be meant by a name that is none: up to a blank, a sign or a parenthesis. */
static int unknown(struct state *s)
{
	const char *from = s->f->text + s->at, *near;
	size_t n = strcspn(from, " \t+*()");
	char word[80];

	if (!n)
		return syntax(s, *from ? "a name or a number is missing" : "it ends too early");
	if (n >= sizeof(word))
		n = sizeof(word) - 1;
	memcpy(word, from, n);
	word[n] = 0;
	near = perfev_nearest(word, s->f->names, s->f->count);
	if (near)
		return error_set(s->err, -EINVAL, PERFEV_WHY_UNKNOWN_EVENT, s->at + 1,
				 "cannot compute '" SHOWN "': no event here is called '%s' (column %zu); did you "
				 "mean %.80s?",
				 s->f->text, word, s->at + 1, near);
	return error_set(s->err, -EINVAL, PERFEV_WHY_UNKNOWN_EVENT, s->at + 1,
			 "cannot compute '" SHOWN "': no event here is called '%s' (column %zu); name those that "
			 "are measured",
			 s->f->text, word, s->at + 1);
}

static int name(struct state *s, double *ret)
{
	const char *from = s->f->text + s->at;
	size_t best = 0, index = 0, i;
	int r;

	for (i = 0; i < s->f->count; i++) {
		size_t n = s->f->names[i] ? strlen(s->f->names[i]) : 0;

		if (n > best && !strncmp(from, s->f->names[i], n)) {
			best = n;
			index = i;
		}
	}
	if (!best || isalnum((unsigned char)from[best]) || from[best] == '_')
		return unknown(s);
	r = s->f->value(s->f->context, index, ret);
	if (r == -ENODATA)
		return missing(s, " was not counted", s->f->names[index]);
	s->at += best;
	return r;
}

/* 12, .5, 1e-3 */
static size_t number_size(const char *text)
{
	size_t n = strspn(text, "0123456789."), sign;

	if (n && (text[n] == 'e' || text[n] == 'E')) {
		sign = text[n + 1] == '-' || text[n + 1] == '+';
		if (isdigit((unsigned char)text[n + 1 + sign]))
			n += 1 + sign + strspn(text + n + 1 + sign, "0123456789");
	}
	return n;
}

static int operand(struct state *s, double *ret)
{
	const char *from;
	size_t size;
	int r;

	skip_blanks(s);
	from = s->f->text + s->at;
	if (s->depth >= DEPTH_MAX)
		return syntax(s, "it is nested too deep");
	if (*from == '-' || *from == '(') {
		s->at++;
		s->depth++;
		r = *from == '-' ? operand(s, ret) : sum(s, ret);
		s->depth--;
		if (r < 0)
			return r;
		if (*from == '-') {
			*ret = -*ret;
			return 0;
		}
		skip_blanks(s);
		if (s->f->text[s->at] != ')')
			return syntax(s, "a ) is missing");
		s->at++;
		return 0;
	}
	if (!isdigit((unsigned char)*from) && *from != '.')
		return name(s, ret);
	size = number_size(from);
	if (!number_real(from, size, ret))
		return syntax(s, "a name or a number is missing");
	s->at += size;
	return 0;
}

static int product(struct state *s, double *ret)
{
	int r = operand(s, ret);

	while (r == 0) {
		double right;
		char sign;

		skip_blanks(s);
		sign = s->f->text[s->at];
		if (sign != '*' && sign != '/')
			break;
		s->at++;
		r = operand(s, &right);
		if (r < 0)
			break;
		if (sign == '*')
			*ret *= right;
		else if (right < 0 || right > 0)
			*ret /= right;
		else
			return missing(s, "it is divided by 0", "");
	}
	return r;
}

static int sum(struct state *s, double *ret)
{
	int r = product(s, ret);

	while (r == 0) {
		double right;
		char sign;

		skip_blanks(s);
		sign = s->f->text[s->at];
		if (sign != '+' && sign != '-')
			break;
		s->at++;
		r = product(s, &right);
		if (r == 0)
			*ret += sign == '+' ? right : -right;
	}
	return r;
}

int formula_eval(double *ret, const struct formula *formula, struct perfev_error *err)
{
	struct state s = {formula, 0, 0, err};
	double value = 0;
	int r = sum(&s, &value);

	if (r < 0)
		return r;
	skip_blanks(&s);
	if (formula->text[s.at])
		return syntax(&s, "something is left over");
	if (!(value - value == 0)) /* infinite, or none */
		return error_set(err, -ERANGE, PERFEV_WHY_ARGUMENT, 1,
				 "cannot compute '%.100s': the result is larger than any number", formula->text);
	*ret = value;
	return 0;
}
