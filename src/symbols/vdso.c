/* SPDX-License-Identifier: MIT */
/*
 * Images of the vdso.
 *
 * That of the own kind is in the memory of every process. A kernel of 64 bits has another one for tasks of 32 bits, which no
 * process of 64 bits has: on x86 the kernel gives it all the same; elsewhere it may be a file beside the kernel's modules.
 */
#include "vdso.h"

#include "base/plug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/auxv.h>
#include <sys/utsname.h>
#endif

#define VDSO_MAX (64 * 1024)
#define PAGE	 4096

/* Its image ends where its section table does. Return: -ENOEXEC. */
static int open_image(struct elf *ret, const unsigned char *at, size_t size)
{
	struct perfev_bytes bytes = {at, size < 64 ? size : 64};
	uint64_t end;
	int r = elf_open_memory(ret, bytes);

	if (r < 0)
		return r;
	end = ret->section_table + (uint64_t)ret->section_count * ret->section_size;
	if (end > size || end < 52)
		return -ENOEXEC;
	bytes.size = (size_t)end;
	return elf_open_memory(ret, bytes);
}

static bool is_recorded(const struct module *module, const struct elf *elf)
{
	uint8_t id[20];
	int size = elf_build_id(elf, id);

	return !module->recorded_id || (size == module->build_id_size && !memcmp(id, module->build_id, (size_t)size));
}

static void take(struct module *module, const struct elf *elf)
{
	module->elf = *elf;
	module->has_elf = true;
}

static void take_own(struct module *module)
{
#ifdef __linux__
	const unsigned char *at = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	struct elf elf;

	if (at && open_image(&elf, at, VDSO_MAX) == 0 && is_recorded(module, &elf))
		take(module, &elf);
#else
	(void)module;
#endif
}

/* ---- of 32 bits ------------------------------------------------------------------------------------------------------ */

/* Where in pages the image begins: before it are the pages of its data. */
static bool made_image(struct elf *ret)
{
	unsigned char *pages = malloc(VDSO_MAX);
	size_t size = pages ? plug_vdso32(pages, VDSO_MAX) : 0, at;

	for (at = 0; at + 64 < size; at += PAGE)
		if (!memcmp(pages + at, "\177ELF", 4) && open_image(ret, pages + at, size - at) == 0) {
			ret->foreign = false;
			ret->source.owned = pages;
			return true;
		}
	free(pages);
	return false;
}

static bool file_image(struct elf *ret)
{
#ifdef __linux__
	struct utsname name;
	char path[128];

	if (uname(&name) < 0)
		return false;
	snprintf(path, sizeof(path), "/lib/modules/%s/vdso/vdso32.so", name.release);
	return elf_open(ret, path) == 0;
#else
	(void)ret;
	return false;
#endif
}

static void take_other(struct module *module)
{
	struct elf elf;

	if (sizeof(void *) == 4 || (!made_image(&elf) && !file_image(&elf)))
		return;
	if (!elf.wide && is_recorded(module, &elf))
		take(module, &elf);
	else
		elf_close(&elf);
}

bool vdso_is(const char *name)
{
	return !strcmp(name, VDSO) || !strcmp(name, VDSO32);
}

void vdso_take(struct module *module)
{
	if (!strcmp(module->name, VDSO))
		take_own(module);
	else if (!strcmp(module->name, VDSO32))
		take_other(module);
}
