/* SPDX-License-Identifier: MIT */
/* Symbols of a module of the kernel out of its file, for when no kallsyms has them. */
#ifndef SYMBOLS_KERNEL_OBJECT_H
#define SYMBOLS_KERNEL_OBJECT_H

#include "module.h"

/* kernel_object_load() - finds the file of a module, and reads its symbols into the table: addresses count from where the
 * module begins. Once; afterwards the table has some, or why is set. Return: 0, -ENOMEM. */
int kernel_object_load(struct module *module, const struct module_places *places);

#endif
