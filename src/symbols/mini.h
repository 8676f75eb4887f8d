/* SPDX-License-Identifier: MIT */
/* The small debug file that some systems put into a stripped one: .gnu_debugdata, an ELF file with a symbol table, packed
 * by xz. */
#ifndef SYMBOLS_MINI_H
#define SYMBOLS_MINI_H

#include "elf.h"

#define MINI_MAX (64u << 20) /* bytes that it may become */

/* mini_open() - unpacks it
 * Return: 0, and @ret, which elf_close() frees; -ENOENT: there is none; -ENOSYS: liblzma is not installed; -EBADMSG: it is
 * damaged, or becomes more than MINI_MAX; -ENOMEM. */
int mini_open(struct elf *ret, const struct elf *elf);

/* mini_unpack() - the same of bytes that are one file of xz. */
int mini_unpack(struct elf *ret, const unsigned char *data, uint64_t size);

/* mini_size() - how many bytes a file of xz becomes, as its index says; 0: it is none, or more than MINI_MAX. */
uint64_t mini_size(const unsigned char *data, uint64_t size);

#endif
