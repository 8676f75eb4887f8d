/* SPDX-License-Identifier: MIT */
/*
 * The inputs of a target as an ordinary test: those in tests/fuzz/corpus/TARGET, and a few hundred changes
 * of each, the same in every run.
 *
 *	fuzz-TARGET [FILE...]	(in the root of the sources; FILE: only these, unchanged)
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>

#define INPUT_MAX (1 << 20)
#define CHANGES	  300

static uint64_t seed = UINT64_C(88172645463325252);

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 8;
}

/* An exact copy: a sanitizer sees its end. */
static void give(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		abort();
	memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static void change(uint8_t *data, size_t *size)
{
	static const uint64_t odd[] = {0, 1, 7, 8, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0xffffffff,
				       UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
	size_t at = next() % *size, n;

	switch (next() % 5) {
	case 0:
		data[at] = (uint8_t)next();
		break;
	case 1:
		data[at] ^= (uint8_t)(1u << next() % 8);
		break;
	case 2:
		n = (size_t)1 << next() % 4;
		if (at + n <= *size)
			memcpy(data + at, &odd[next() % (sizeof(odd) / sizeof(odd[0]))], n);
		break;
	case 3:
		*size = at + 1;
		break;
	default:
		n = next() % *size;
		n = n < *size - at ? n : *size - at;
		memmove(data + next() % (*size - n + 1), data + at, n);
		break;
	}
}

static int replay(const char *path, int changes)
{
	static uint8_t data[INPUT_MAX], changed[INPUT_MAX];
	FILE *file = fopen(path, "rb");
	size_t size, n;
	int i, k;

	if (!file) {
		printf("FAILED: %s cannot be read\n", path);
		return 0;
	}
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	give(data, size);
	for (i = 0; size && i < changes; i++) {
		memcpy(changed, data, size);
		n = size;
		for (k = 0; k <= i % 4; k++)
			change(changed, &n);
		give(changed, n);
	}
	return 1;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	char folder[256], path[600];
	struct dirent *entry;
	int i, passed = 0, failed = 0;
	DIR *dir;

	for (i = 1; i < argc; i++)
		passed += replay(argv[i], 0);
	if (argc > 1)
		return passed == argc - 1 ? 0 : 1;
	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s",
		 strchr(name, '-') ? strchr(name, '-') + 1 : name);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (replay(path, CHANGES))
			passed++;
		else
			failed++;
	}
	if (dir)
		closedir(dir);
	if (passed == 0) {
		printf("FAILED: there is no input in %s\n", folder);
		failed++;
	}
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
