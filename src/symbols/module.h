/* SPDX-License-Identifier: MIT */
/* Modules: files that are mapped, the kernel, the vdso; each with its symbols, loaded when first asked. */
#ifndef SYMBOLS_MODULE_H
#define SYMBOLS_MODULE_H

#include "dwarf.h"
#include "elf.h"
#include "search.h"
#include "table.h"
#include "unwind_table.h"

#include "base/buffer.h"

#include <pthread.h>

/* Bytes of a file, and where its symbols say they are. */
struct module_part {
	uint64_t offset, size, address;
};

struct module {
	uint32_t number; /* among the modules of the symbols */
	char *name; /* as recorded; of a module of the kernel as kallsyms has it: "[ext4]" */
	const char *path; /* of one of the kernel: what the recording says; NULL: the name */
	char *file; /* where symbols were read; NULL: nowhere */
	char why[1024]; /* why there are none */
	char *debug_file; /* where debug information was read; NULL: nowhere, or not asked for yet */
	_Atomic int32_t pid; /* of the last process that mapped it; 0: not known */
	uint8_t build_id[20];
	uint8_t build_id_size; /* as recorded, or of the file; 0: not known */
	bool recorded_id;      /* the recording says it */
	uint64_t bare_inode;   /* the kernel looked for one in this file, and found none; 0: not known */
	bool kernel;
	bool no_file; /* memory that was never a file: its addresses are those of the process */
	_Atomic bool loaded; /* afterwards the table and the parts stay as they are */
	struct elf elf;	      /* open while symbols point into it */
	struct elf plain;     /* the mapped file itself, when symbols come from a debug file */
	bool has_elf, has_plain;
	struct dwarf *dwarf;  /* debug information; NULL: none, or not asked for yet */
	struct elf debug;     /* a file that only has that */
	bool has_debug, debug_tried;
	_Atomic bool dwarf_tried;
	struct elf mini;      /* symbols that the file has packed in it */
	bool has_mini;
	int mini_error;	      /* why it has not, though there are some: -ENOSYS, -EBADMSG */
	struct search search; /* what was looked for, and where */
	struct module_part *parts; /* what is loaded of it */
	uint32_t part_count;
	bool object_tried;    /* a module of the kernel: its file was looked for */
	bool is_image;	      /* the kernel itself: elf and debug are its image, or a debug file of that */
	bool image_ref_stext; /* the next is the address of _stext, and not of _text */
	uint64_t image_ref;   /* where one of the image's symbols was; 0: not known */
	uint64_t shift;	      /* addresses of places minus those of debug information */
	bool debug_only;      /* elf is a debug file, and the mapped one is not there */
	struct table table;
	struct buffer text; /* that names of a list of functions are in */
	uint32_t nameless_key[2]; /* of all places without a name, + 1, where they are one; the kernel's second */
	uint32_t *keys;	      /* for each symbol, its frame's key + 1; 0: none yet */
	struct unwind_table *unwind; /* NULL: nothing is known, or was asked for yet */
	_Atomic bool unwind_tried;
	pthread_mutex_t lock; /* of whoever loads something of it, or reads a unit of its debug information */
};

/* module_load() - find the file and read its symbols; afterwards either the table has some, or why is
 * set. Return: 0, -ENOMEM; -EAGAIN: another thread is at it, and it was not to be waited for. */
int module_load(struct module *module, const struct module_places *places, bool wait);
/* module_debug_file() - the separate file that goes with it, beside the one that symbols are from; NULL: none. */
const struct elf *module_debug_file(struct module *module, const struct module_places *places);
/* module_dwarf() - its debug information; NULL: none.
 * @address: a place; becomes its address there. */
struct dwarf *module_dwarf(struct module *module, const struct module_places *places, uint64_t *address);
/* module_set_file() - where its symbols were read. */
void module_set_file(struct module *module, const char *path);
/* module_set_image() - makes it the kernel's image, of the build-id that it has. module_open_image() - one with symbols, in elf.
 * Return: 1, 0 there is none. */
void module_set_image(struct module *module, const struct module_places *places);
int module_open_image(struct module *module);
/* module_may_inline() - whether there can be calls that were inlined: false when it has no debug information. */
static inline bool module_may_inline(const struct module *module)
{
	return !module->dwarf_tried || module->dwarf;
}

/* module_inlined() - the innermost function that was inlined at an address, and its unit; NULL: none.
 * Return: 0; -EAGAIN as above. */
int module_inlined(struct module *module, const struct module_places *places, uint64_t address, bool wait,
		   struct dwarf_function **function, struct dwarf_unit **unit);
/* module_inlined_name() - what such a function is called, as in the file; NULL: nothing says it. */
const char *module_inlined_name(struct module *module, const struct dwarf_unit *unit, const struct dwarf_function *function);
/* module_address() - a byte of the mapped file, in the addresses of its symbols. near: of one that no part has. */
uint64_t module_address_near(const struct module *module, uint64_t offset);

static inline uint64_t module_address(const struct module *module, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < module->part_count; i++)
		if (offset - module->parts[i].offset < module->parts[i].size)
			return offset - module->parts[i].offset + module->parts[i].address;
	return module_address_near(module, offset);
}

/* module_is_jit_map() - whether it is the list of functions that a process made at run time. */
bool module_is_jit_map(const char *name);
/* module_is_file() - whether a mapping of that name is of a file. */
bool module_is_file(const char *name);
void module_free(struct module *module);

#endif
