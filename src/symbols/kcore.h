/* SPDX-License-Identifier: MIT */
/* The kernel's memory, as /proc/kcore has it, and the copy of its code that perf record --kcore makes. */
#ifndef SYMBOLS_KCORE_H
#define SYMBOLS_KCORE_H

#include "elf.h"

struct kcore {
	struct source source;
	struct elf_segment *segments;
	uint32_t count;
};

/* kcore_open() - Return: 0; -ENOEXEC when it is no such file; another negative errno. To be closed then. */
int kcore_open(struct kcore *ret, const char *path);
void kcore_close(struct kcore *kcore);
/* kcore_read() - the bytes at an address, at most @size of them: as many as there are; <= 0: none */
int kcore_read(const struct kcore *kcore, uint64_t address, void *to, size_t size);

#endif
