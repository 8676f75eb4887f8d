/* SPDX-License-Identifier: MIT */
/* What writing and reading the text of records share. */
#ifndef DECODE_TEXT_H
#define DECODE_TEXT_H

#include <stdbool.h>

/* text_is_hex() - numbers of this name are addresses or sets of bits, and written in hexadecimal */
bool text_is_hex(const char *name);

#endif
