/* SPDX-License-Identifier: MIT */
/* addresses HOW [FILE...]: code in all kinds of places, each of which works for a while. What is wrong with it is in tests/cli/addresses.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE   4096
#define ROUNDS 2000000

volatile unsigned long sum;

__attribute__((noinline, section(".text.spin"), aligned(PAGE))) void spin(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sum += (unsigned long)i;
}

/* Until a thread has had @tenths of a second. */
static int has_time(int tenths)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 10 + time.tv_nsec / 100000000 < tenths;
}

__attribute__((noinline, section(".text.behind"), aligned(PAGE))) int work(int tenths)
{
	while (has_time(tenths))
		spin(ROUNDS);
	return (int)sum;
}

/* What the loop of a compiler made at run time is on x86-64: for as many rounds as the first argument says. */
static const unsigned char made[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};

static void *make_code(const char *file, long at)
{
	int fd = file ? open(file, O_RDWR | O_CREAT | O_TRUNC, 0700) : -1;
	unsigned char *page;

	if (file && (ftruncate(fd, PAGE) < 0 || pwrite(fd, made, sizeof(made), at) != sizeof(made)))
		exit(3);
	page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC | (file ? 0 : PROT_WRITE), file ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (page == MAP_FAILED)
		exit(3);
	if (!file)
		memcpy(page + at, made, sizeof(made));
	return page + at;
}

static void write_list(const void *code, size_t size, const char *name)
{
	char path[64];
	FILE *list;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	list = fopen(path, "w");
	if (!list)
		exit(3);
	fprintf(list, "%lx 2 an_older_one\n%lx %zx %s\n%lx 1", (unsigned long)code, (unsigned long)code, size, name, (unsigned long)code);
	fclose(list);
}

static int tenths = 2;

static void *run_made(void *code)
{
	void (*function)(long);

	memcpy(&function, &code, sizeof(function));
	while (has_time(tenths))
		function(ROUNDS);
	return NULL;
}

static int run_code(const char *how, const char *file)
{
	void *code = make_code(!strcmp(how, "image") ? file : NULL, 0x100);
	pthread_t thread;

	if (!strcmp(how, "stay"))
		tenths = 200;
	if (!strcmp(how, "image"))
		make_code(NULL, 0); /* it compiles at run time too */
	if (strcmp(how, "unlisted"))
		write_list(code, sizeof(made), "made_here");
	if (strcmp(how, "thread"))
		run_made(code);
	else if (pthread_create(&thread, NULL, run_made, code) || pthread_join(thread, NULL))
		return 3;
	return 0;
}

/* Its own code is put into other memory, and that in its place. */
static int move_code(int listed)
{
	char *text = (char *)(uintptr_t)spin, *copy = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return 3;
	memcpy(copy, text, PAGE);
	if (mremap(copy, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, text) != text || mprotect(text, PAGE, PROT_READ | PROT_EXEC))
		return 3;
	if (listed)
		write_list(text, PAGE, "made_here");
	return work(2) == 1;
}

static int fork_all(void)
{
	int i;

	for (i = 0; i < 4; i++)
		if (fork() == 0)
			_exit(work(1) == 1);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* Libraries that come and go, mostly to the same place. */
static int load_all(char **files)
{
	int i;

	for (i = 0; i < 6; i++) {
		void *library = dlopen(files[i % 2], RTLD_NOW);
		int (*function)(long) = NULL;
		void *symbol = library ? dlsym(library, i % 2 ? "second" : "first") : NULL;

		memcpy(&function, &symbol, sizeof(function));
		if (!function)
			return 3;
		function(ROUNDS * 20L);
		dlclose(library);
	}
	return 0;
}

static int look_at_clock(void)
{
	struct timespec time;
	int i;

	while (has_time(2))
		for (i = 0; i < 10000; i++)
			sum += (unsigned long)clock_gettime(CLOCK_MONOTONIC, &time) + (unsigned long)time.tv_nsec;
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "work";

	if (!strcmp(how, "fork"))
		return fork_all();
	if (!strcmp(how, "moved") || !strcmp(how, "moved-list"))
		return move_code(!strcmp(how, "moved-list"));
	if (!strcmp(how, "load"))
		return load_all(argv + 2);
	if (!strcmp(how, "clock"))
		return look_at_clock();
	if (!strcmp(how, "work"))
		return work(argc > 2 ? atoi(argv[2]) : 2) == 1;
	return run_code(how, argv[2]);
}
