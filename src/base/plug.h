/* SPDX-License-Identifier: MIT */
/* What a lower part needs of a higher one, which is plugged in when the library is linked: no folder may
 * include one above it, and a test can put its own here. */
#ifndef BASE_PLUG_H
#define BASE_PLUG_H

#include <perfev/common.h>

/* symbols: the offset of a function in a program's file, for capture, whose probes are set there */
int plug_function_offset(const char *path, const char *function, uint64_t *offset,
			 struct perfev_error *err);

/* kernel: whether 8 bytes of this process's memory can be read; asks the kernel, and can be called from signal handlers */
bool plug_readable(const void *at);

/* kernel: the pages of the vdso that tasks of 32 bits have on this kernel of 64, and of its data before it: how many bytes;
 * 0 when it cannot be had */
size_t plug_vdso32(unsigned char *to, size_t size);

#endif
