/* SPDX-License-Identifier: MIT */
/* Libraries that are used where they are installed, and done without elsewhere. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include <sys/auxv.h>

/* library_open() - as dlopen(3); NULL in a program that is linked statically, into which a second C library
 * would come with it, and crash. Such a program has no dynamic linker: AT_BASE is 0. */
static inline void *library_open(const char *name)
{
	return getauxval(AT_BASE) ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
}

#endif
