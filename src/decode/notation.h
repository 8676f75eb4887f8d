/* SPDX-License-Identifier: MIT */
/*
 * The marks of text and of JSON, so that one walk over fields writes both, and one reads both.
 *
 * Text has its fields behind blanks (name=1), and parts of a field in braces ({a=1,b=2}), in the order in which
 * they are written. JSON has objects, whose members may come in any order; none may be there twice, and none that
 * nobody asks for. Nothing here allocates, and nothing calls itself.
 */
#ifndef DECODE_NOTATION_H
#define DECODE_NOTATION_H

#include <perfev/record.h>

/* ---- writing ---------------------------------------------------------------------------------------------- */

/* Like snprintf(): counts what has no room. */
struct out {
	char *to;
	size_t size, at;
	bool json;
	unsigned depth; /* of braces */
	bool more;  /* something stands before in the same braces or brackets */
};

void out_char(struct out *o, char c);
void out_put(struct out *o, const char *format, ...) PERFEV_PRINTF(2, 3);
void out_decimal(struct out *o, uint64_t number);
void out_hex(struct out *o, uint64_t number);
/* out_name() - the name of what is written next, and what parts it from what stands before */
void out_name(struct out *o, const char *name);
/* out_field() - a name and a number of @width bytes */
void out_field(struct out *o, const char *name, uint64_t value, unsigned width);
void out_string(struct out *o, const char *text);
void out_bytes(struct out *o, struct perfev_bytes bytes);
void out_words(struct out *o, struct perfev_u64s words);
void out_open(struct out *o);
void out_close(struct out *o);
void out_list(struct out *o);
void out_item(struct out *o);
void out_list_end(struct out *o);
/* out_end() - terminates it
 * Return: the length of the whole, or -E2BIG. */
int out_end(struct out *o);

/* ---- reading ---------------------------------------------------------------------------------------------- */

struct input {
	const char *text;
	size_t at;
	bool json;
	bool failed; /* the first mistake stays */
	const char *what; /* is read: for the error */
	struct perfev_error *err;
};

/* Where fields are looked for: the whole text, or a pair of braces. */
struct scope {
	size_t from;	  /* JSON: where the first member begins */
	uint64_t seen[2]; /* members that were asked for, by their number */
	unsigned index;	  /* of the member behind input.at */
	bool jumped;	  /* they were not asked for in the order in which they stand */
	bool inner;
	bool more;
};

void in_wrong(struct input *in, const char *what);
/* in_expect(), in_comes() - text: a word that has to stand here, or may */
bool in_expect(struct input *in, const char *word);
bool in_comes(struct input *in, const char *word);
void in_skip_blanks(struct input *in);
/* in_find() - go to the value of a field that has to be there
 * Return: false when it is not, which is a mistake, or after one. */
bool in_find(struct input *in, struct scope *s, const char *name);
/* in_maybe() - the same for one that may be missing */
bool in_maybe(struct input *in, struct scope *s, const char *name);
void in_open(struct input *in, struct scope *s);
void in_close(struct input *in, struct scope *s);
/* in_list(), in_next() - begin a list, or go on
 * Return: an item follows; else the list has ended. */
bool in_list(struct input *in);
bool in_next(struct input *in);
/* in_number() - a number of at most @width bytes */
uint64_t in_number(struct input *in, unsigned width);
uint64_t in_field(struct input *in, struct scope *s, const char *name, unsigned width);
/* in_bytes(), in_byte() - begin bytes; take the next one
 * Return: false at their end. */
bool in_bytes(struct input *in);
bool in_byte(struct input *in, unsigned char *ret);
/* in_string(), in_char() - begin a text; take the next character
 * Return: of in_char() how many bytes it has, 0 at the end. */
bool in_string(struct input *in);
size_t in_char(struct input *in, unsigned char ret[4]);

#endif
