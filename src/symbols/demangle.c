/* SPDX-License-Identifier: MIT */
/*
 * Demangling, by libiberty behind one function. Names come from files that may be hostile, and the
 * demangler's work can grow fast with their length: long ones are left as they are.
 */
#include "demangle.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBIBERTY

#include <libiberty/demangle.h>

#define NAME_MAX_BYTES 2048

/* A legacy Rust name looks like C++ and ends in a hash of 16 digits, which is left out. */
static void cut_rust_hash(char *name)
{
	size_t size = strlen(name);

	if (size > 19 && !strncmp(name + size - 19, "::h", 3) &&
	    strspn(name + size - 16, "0123456789abcdef") == 16)
		name[size - 19] = 0;
}

static bool is_mangled(const char *name)
{
	return (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D')) ||
	       !strncmp(name, "__Z", 3);
}

bool demangle(const char *name, char *ret, size_t size)
{
	char *text;
	size_t length;

	if (!is_mangled(name) || strlen(name) > NAME_MAX_BYTES)
		return false;
	text = cplus_demangle(name, name[1] == 'D' ? DMGL_DLANG : DMGL_AUTO);
	if (!text)
		return false;
	cut_rust_hash(text);
	length = strlen(text);
	if (length < size)
		memcpy(ret, text, length + 1);
	free(text);
	return length < size;
}

#else

bool demangle(const char *name, char *ret, size_t size)
{
	(void)name;
	(void)ret;
	(void)size;
	return false;
}

#endif
