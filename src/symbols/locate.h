/* SPDX-License-Identifier: MIT */
/*
 * What is at an address, before it has a name. Locating changes nothing that names are made of: several locators can do it
 * at once, each in a thread of its own, while another thread makes names of what they found (naming.h).
 */
#ifndef SYMBOLS_LOCATE_H
#define SYMBOLS_LOCATE_H

#include "space.h"

#include <perfev/symbols.h>

struct dwarf_function;
struct dwarf_unit;
struct function;
struct module;

struct located {
	struct module *module;
	uint64_t address;   /* in the addresses of the module's symbols */
	uint64_t in_file;   /* of kernel code and what has no file, the place itself */
	uint32_t symbol;    /* in the module's table (of the kernel: in kallsyms), + 1; 0: none */
	uint8_t flags;	    /* enum perfev_frame_flag */
	bool kernel;	    /* the symbol is one of kallsyms */
	bool nowhere;	    /* nothing is known to be there */
	bool later;	    /* only address and cpumode are set: it has to be located again */
	uint8_t cpumode;    /* set only then */
	struct function *function; /* that came at run time; NULL: none */
	struct dwarf_function *inlined; /* the innermost; NULL: nothing was inlined */
	struct dwarf_unit *unit;	/* that it is in; set only then */
};

static inline void located_begin(struct located *at)
{
	at->symbol = 0;
	at->flags = 0;
	at->kernel = at->nowhere = at->later = false;
	at->function = NULL;
	at->inlined = NULL;
}

struct locator;

struct locator *locator_new(struct perfev_symbols *symbols);
void locator_free(struct locator *locator);

enum locate_how {
	LOCATE_PLAIN = 0,
	LOCATE_INLINED = 1 << 0, /* calls that were inlined are asked for */
	LOCATE_NO_WAIT = 1 << 1	 /* what another thread is reading now is left for later */
};

/* locate() - a place of a program in @view, or of what runs below programs
 * @how: enum locate_how. Return: 0, -ENOMEM. */
int locate(struct locator *locator, struct located *ret, struct space_view *view, uint64_t ip, uint32_t cpumode, unsigned how);

#endif
