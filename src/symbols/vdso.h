/* SPDX-License-Identifier: MIT */
/* The vdso, which has no file: its image as this kernel has it. */
#ifndef SYMBOLS_VDSO_H
#define SYMBOLS_VDSO_H

#include "module.h"

#define VDSO   "[vdso]"
#define VDSO32 "[vdso32]" /* of tasks of 32 bits on a kernel of 64 */

bool vdso_is(const char *name);
/* vdso_take() - if the module is one, and its build-id, if one was recorded, is that of this kernel's. */
void vdso_take(struct module *module);

#endif
