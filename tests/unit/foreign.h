/* SPDX-License-Identifier: MIT */
/* A folder that stands for the root of another machine, in which a test works, and the symbols of what was recorded there. */
#ifndef TESTS_UNIT_FOREIGN_H
#define TESTS_UNIT_FOREIGN_H

#include "feeding.h"
#include "shell.h"

static char root[64], old[4096];

static inline int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/perfev-test-XXXXXX");
	return mkdtemp(root) && getcwd(old, sizeof(old)) && chdir(root) == 0 ? 0 : -1;
}

static inline int tear_down(void **state)
{
	char line[128];

	(void)state;
	perfev_symbols_free(symbols);
	symbols = NULL;
	bytes.size = 0;
	snprintf(line, sizeof(line), "rm -rf '%s'", root);
	return chdir(old) || system(line) ? -1 : 0;
}

#endif
