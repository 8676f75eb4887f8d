/* SPDX-License-Identifier: MIT */
/* A program whose every branch tests step through, between two INT3: calls, indirect ones, through the linkage table and
 * back out of the C library; recursion, loops, a table of jumps, system calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

NOINLINE static int leaf(int n)
{
	return n + sink;
}

NOINLINE static int twice(int n)
{
	return leaf(n) + leaf(n + 1);
}

NOINLINE static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static int pick(int n)
{
	switch (n) {
	case 0:
		return leaf(3);
	case 1:
		return twice(4) - 1;
	case 2:
		sink++;
		return 7;
	case 3:
		return leaf(9) * 3;
	case 4:
		return n + sink * 2;
	case 5:
		return twice(n) / 3;
	case 6:
		return fib(4);
	case 7:
		return leaf(leaf(n));
	default:
		return -1;
	}
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

NOINLINE static int work(int (*volatile *functions)(int))
{
	int numbers[40], sum = 0, i;
	char text[64];

	for (i = 0; i < 40; i++)
		numbers[i] = i * 7919 % 101;
	qsort(numbers, 40, sizeof(numbers[0]), compare);
	for (i = 0; i < 12; i++)
		sum += pick(i % 9) + functions[i % 3](i);
	for (i = 0; i < 3; i++)
		sum += (int)getppid() & 1;
	snprintf(text, sizeof(text), "%d %s", sum, "text");
	return fib(9) + (int)strlen(text);
}

int main(void)
{
	static int (*volatile functions[3])(int) = {leaf, twice, fib};
	int r;

#if defined(__x86_64__)
	__asm__ volatile("int3" ::: "memory");
	r = work(functions);
	__asm__ volatile("int3" ::: "memory");
#else
	r = work(functions);
#endif
	return r == 0;
}
