/* SPDX-License-Identifier: MIT */
/* A program whose symbols tests look up: it prints where its functions are, and what is mapped. */
#include <stdio.h>

int lib_work(int n);
void lib_report(void);

__attribute__((noinline)) int work_one(int n)
{
	return lib_work(n) * 3 + 1;
}

__attribute__((noinline)) static int work_hidden(int n)
{
	return work_one(n) * 5 + 2;
}

int main(int argc, char **argv)
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");

	(void)argv;
	work_hidden(argc);
	printf("work_one %p\n", (void *)(size_t)work_one);
	printf("work_hidden %p\n", (void *)(size_t)work_hidden);
	printf("main %p\n", (void *)(size_t)main);
	printf("lib_work %p\n", (void *)(size_t)lib_work); /* a stub, where code has fixed addresses */
	fflush(stdout);
	lib_report();
	while (maps && fgets(line, sizeof(line), maps))
		fputs(line, stdout);
	return 0;
}
