/* SPDX-License-Identifier: MIT */
/* System calls as fast as they go: bench-syscalls SECONDS */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, passed;
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		int i;

		for (i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_MONOTONIC, &now);
		passed = (double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9;
	} while (passed < seconds);
	return 0;
}
