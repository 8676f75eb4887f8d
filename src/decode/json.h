/* SPDX-License-Identifier: MIT */
/* JSON that is read: what notation_in.c does for JSON. The text is looked at as a whole first; behind that, all that
 * is asked for is whether the values are the right ones. */
#ifndef DECODE_JSON_H
#define DECODE_JSON_H

#include "notation.h"

/* What a double holds exactly: 2^53 - 1. */
#define JSON_EXACT UINT64_C(9007199254740991)

/* json_check() - the text is one JSON value in UTF-8, not too deep; goes to its beginning */
bool json_check(struct input *in);
void json_open(struct input *in, struct scope *s);
/* json_close() - a member that nobody asked for is a mistake */
void json_close(struct input *in, struct scope *s);
bool json_find(struct input *in, struct scope *s, const char *name, bool must);
bool json_list(struct input *in);
bool json_next(struct input *in);
/* json_number() - as a number, or as text: "12", "0x1f" */
uint64_t json_number(struct input *in, unsigned width);
/* json_other() - a number where a name was looked for and not found: @what is said of a text that is none either */
uint64_t json_other(struct input *in, unsigned width, const char *what);
/* json_is() - take a text when it is this one */
bool json_is(struct input *in, const char *word);
/* json_begins() - the value begins with this character */
bool json_begins(const struct input *in, char c);
bool json_quote(struct input *in);
bool json_byte(struct input *in, unsigned char *ret);
size_t json_char(struct input *in, unsigned char ret[4]);

#endif
