/* SPDX-License-Identifier: MIT */
/* The build-id of a file: an ELF file has it in its notes; /sys/kernel/notes is such notes, and no more. */
#include "elf.h"

#include "base/error.h"

#include <perfev/symbols.h>

#include <errno.h>

int perfev_build_id_read(uint8_t ret[20], const char *path, struct perfev_error *err)
{
	unsigned char notes[4096];
	struct source source;
	struct elf elf;
	int64_t size;
	int r = elf_open(&elf, path);

	if (r == 0) {
		r = elf_build_id(&elf, ret);
		elf_close(&elf);
		return r;
	}
	if (r != -ENOEXEC)
		return error_errno(err, r, "cannot read the build-id of %.200s", path);
	r = source_open(&source, path, SOURCE_STREAM);
	if (r < 0)
		return error_errno(err, r, "cannot read the build-id of %.200s", path);
	size = source_read(&source, notes, sizeof(notes));
	source_close(&source);
	if (size < 0)
		return error_errno(err, (int)size, "cannot read the build-id of %.200s", path);
	return elf_notes_build_id(notes, (uint64_t)size, false, ret);
}
