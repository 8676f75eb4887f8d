/* SPDX-License-Identifier: MIT */
/*
 * Changed recordings, many of them: bits, cuts, and numbers that say how long something is.
 *
 *	mutate COUNT FIRST FILE...	changes FIRST to FIRST + COUNT - 1 of each file, the same in every run
 *
 * Each file has a process of its own, which ends when a change takes longer than 5 seconds; memory is bounded by the
 * sanitizer's options (tests/fuzz/mutations sets them). What broke it is told by its number.
 */
#include "look.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 5

struct file {
	uint8_t *data, *changed;
	size_t size;
	size_t *records, record_count; /* where they are */
};

static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 11;
}

static int read_file(struct file *f, const char *path)
{
	FILE *file = fopen(path, "rb");

	memset(f, 0, sizeof(*f));
	if (!file || fseek(file, 0, SEEK_END) < 0)
		return -1;
	f->size = (size_t)ftell(file);
	rewind(file);
	f->data = malloc(f->size + 1);
	f->changed = malloc(f->size + 1);
	if (!f->data || !f->changed || fread(f->data, 1, f->size, file) != f->size)
		return -1;
	fclose(file);
	return 0;
}

static void find_records(struct file *f)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_bytes bytes = {f->data, f->size};
	struct perfev_reader *reader;
	struct perfev_record record;

	f->records = calloc(f->size / 8 + 1, sizeof(*f->records));
	if (!f->records || perfev_reader_open_memory(&reader, bytes, "it", &opts, NULL) < 0)
		return;
	while (perfev_reader_next(reader, &record, NULL) > 0)
		if (!(record.flags & PERFEV_RECORD_INNER) && f->record_count < f->size / 8)
			f->records[f->record_count++] = (size_t)record.offset;
	perfev_reader_close(reader);
}

/* A place where a number may be: in the header, in a record, or anywhere. */
static size_t place(const struct file *f)
{
	size_t at;

	switch (next() % 4) {
	case 0:
		at = next() % 128;
		break;
	case 1:
		at = f->record_count ? f->records[next() % f->record_count] + 6 : next();
		break;
	case 2:
		at = f->record_count ? f->records[next() % f->record_count] + 8 + next() % 8 * 8 : next();
		break;
	default:
		at = next();
		break;
	}
	return at % f->size;
}

static void change(const struct file *f, size_t *size)
{
	static const uint64_t lengths[] = {0, 1, 7, 8, 0xffff, 0x7fffffff, UINT32_MAX, UINT64_MAX, UINT64_MAX / 2, UINT64_MAX - 7};
	size_t at = place(f), width = (size_t)2 << next() % 3;
	uint64_t length = lengths[next() % (sizeof(lengths) / sizeof(lengths[0]))];

	switch (next() % 4) {
	case 0:
		f->changed[at] ^= (uint8_t)(1 << next() % 8);
		break;
	case 1:
		*size = at + 1;
		break;
	default:
		if (at + width <= f->size)
			memcpy(f->changed + at, &length, width);
		break;
	}
}

static void try_one(const struct file *f, uint64_t number)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts)};
	struct perfev_reader *reader;
	struct perfev_bytes bytes = {NULL, f->size};
	uint8_t *exact;
	uint64_t i;

	state = number * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252;
	next();
	memcpy(f->changed, f->data, f->size);
	for (i = 0; i <= number % 3; i++)
		change(f, &bytes.size);
	exact = malloc(bytes.size); /* a sanitizer sees its end */
	if (!exact)
		abort();
	memcpy(exact, f->changed, bytes.size);
	bytes.data = exact;
	opts.partial = number & 1;
	if (perfev_reader_open_memory(&reader, bytes, "it", &opts, NULL) == 0) {
		look_at_all(reader);
		perfev_reader_close(reader);
	}
	free(exact);
}

/* Return: whether all of them ended in order. */
static int try_file(const char *path, uint64_t first, uint64_t count)
{
	volatile uint64_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rusage used;
	struct file f;
	pid_t child;
	int status;

	if (at == MAP_FAILED || read_file(&f, path) < 0 || !f.size)
		return 1;
	find_records(&f);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		for (*at = first; *at < first + count; ++*at) {
			alarm(SECONDS);
			try_one(&f, *at);
		}
		_exit(0);
	}
	if (child < 0 || wait4(child, &status, 0, &used) < 0)
		return 0;
	free(f.data);
	free(f.changed);
	free(f.records);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		printf("ok   %s: %llu changes, %.1f s, %ld MiB\n", path, (unsigned long long)count,
		       (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6, used.ru_maxrss / 1024);
		return 1;
	}
	printf("FAIL %s: change %llu: %s %d\n", path, (unsigned long long)*at, WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}

int main(int argc, char **argv)
{
	int i, passed = 0, failed = 0;

	for (i = 3; i < argc; i++)
		if (try_file(argv[i], strtoull(argv[2], NULL, 10), strtoull(argv[1], NULL, 10)))
			passed++;
		else
			failed++;
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
