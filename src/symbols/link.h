/* SPDX-License-Identifier: MIT */
/* Names of other files that a file has in it: of its debug file, and of one that it shares debug information with. */
#ifndef SYMBOLS_LINK_H
#define SYMBOLS_LINK_H

#include "elf.h"

/* link_debug() - .gnu_debuglink: the debug file's name, without a folder, and its checksum
 * Return: false when there is none, or it is damaged. */
bool link_debug(const struct elf *elf, const char **name, uint32_t *crc);

/* link_supplement() - .gnu_debugaltlink, or .debug_sup of DWARF 5: the shared file's name and its build-id
 * Return: false when there is none, or it is damaged. */
bool link_supplement(const struct elf *elf, const char **name, struct perfev_bytes *id);

/* link_crc() - the checksum of a debug file: the CRC-32 of zip and Ethernet */
uint32_t link_crc(const unsigned char *data, uint64_t size);

#endif
