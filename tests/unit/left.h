/* SPDX-License-Identifier: MIT */
/* What a test left behind: descriptors and mappings, counted before and after. */
#ifndef TESTS_LEFT_H
#define TESTS_LEFT_H

#include "test.h"

#include <dirent.h>

/* The one of the look itself is among them. */
static inline size_t count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Mappings whose line has @part: "/" those of files, as the heap grows and shrinks as it likes. */
static inline size_t count_mappings(const char *part)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[8192];
	size_t n = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, part) != NULL;
	fclose(maps);
	return n;
}

static size_t left_descriptors, left_mappings;

static inline void left_begin(void)
{
	count_mappings("/"); /* what the C library maps for itself is there from now on */
	left_descriptors = count_descriptors();
	left_mappings = count_mappings("/");
}

/* The same number of each as at left_begin(). */
static inline void left_check(void)
{
	assert_int_equal(count_descriptors(), left_descriptors);
	assert_int_equal(count_mappings("/"), left_mappings);
}

#endif
