/* SPDX-License-Identifier: MIT */
/* The library that the helper calls. */
#include <stdio.h>

int lib_work(int n);
void lib_report(void);

__attribute__((noinline)) static int lib_hidden(int n)
{
	return n * 7 + 3;
}

__attribute__((noinline)) int lib_work(int n)
{
	return lib_hidden(n) * 11;
}

void lib_report(void)
{
	printf("lib_hidden %p\n", (void *)(size_t)lib_hidden);
	printf("lib_report %p\n", (void *)(size_t)lib_report);
	fflush(stdout);
}
