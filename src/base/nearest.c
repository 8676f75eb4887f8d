/* SPDX-License-Identifier: MIT */
/*
 * The nearest name: what a mistyped word most likely means.
 *
 * The distance counts one for each letter that is missing, extra or different, and for each pair of
 * neighbours that changed places. A candidate is worth naming when at most a third of the word would
 * have to change, or when the word begins it.
 */
#include <perfev/common.h>

#include <string.h>

#define LONGEST 64

static int min3(int a, int b, int c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	int rows[3][LONGEST + 1];
	size_t i, j;

	for (j = 0; j <= b_size; j++)
		rows[0][j] = (int)j;
	for (i = 1; i <= a_size; i++) {
		int *now = rows[i % 3], *before = rows[(i + 2) % 3];

		now[0] = (int)i;
		for (j = 1; j <= b_size; j++) {
			int same = lower(a[i - 1]) == lower(b[j - 1]);

			now[j] = min3(now[j - 1] + 1, before[j] + 1, before[j - 1] + !same);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && rows[(i + 1) % 3][j - 2] + 1 < now[j])
				now[j] = rows[(i + 1) % 3][j - 2] + 1;
		}
	}
	return rows[a_size % 3][b_size];
}

const char *perfev_nearest(const char *word, const char *const *names, size_t count)
{
	size_t size = strlen(word), i;
	int best = (int)(size / 3) + 1;
	const char *found = NULL;

	if (size == 0 || size > LONGEST)
		return NULL;
	for (i = 0; i < count; i++) {
		size_t name_size = names[i] ? strlen(names[i]) : 0;
		int d;

		if (name_size == 0 || name_size > LONGEST)
			continue;
		d = distance(word, size, names[i], name_size);
		if (d < best) {
			best = d;
			found = names[i];
		}
	}
	for (i = 0; !found && size >= 3 && i < count; i++)
		if (names[i] && !strncmp(word, names[i], size))
			found = names[i];
	return found;
}
