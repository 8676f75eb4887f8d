/* SPDX-License-Identifier: MIT */
/* ELF files that are packed as a whole, as modules of the kernel are. */
#ifndef SYMBOLS_PACKED_H
#define SYMBOLS_PACKED_H

#include "elf.h"

/* packed_open() - the same as elf_open(), of a file that may be packed (xz, zstd, gzip)
 * Return: also -ENOSYS: what unpacks it is not installed; -EBADMSG: it is damaged, or becomes more than MINI_MAX. */
int packed_open(struct elf *ret, const char *path);

#endif
