/* SPDX-License-Identifier: MIT */
/*
 * The declaration of a field, as C has it: "unsigned short common_type", "char prev_comm[16]",
 * "const char *const * argv", "__data_loc char[] name".
 *
 * The name is the last word, and an array's brackets follow it, or the type; everything else is the type.
 * What a type is called says what its elements are, and no more: sizes of fields stand in the format, and
 * only elements of arrays without a length of their own are as large as their type's name says.
 */
#include "tracepoint.h"

#include "base/number.h"

#include <string.h>

#define LONG 255 /* as large as the machine's word */

struct type {
	const char *word;
	uint8_t bytes;
	bool sign;
};

static const struct type types[] = {
	{"char", 1, false},	{"bool", 1, false},	{"_Bool", 1, false},	{"u8", 1, false},
	{"__u8", 1, false},	{"uint8_t", 1, false},	{"s8", 1, true},	{"__s8", 1, true},
	{"int8_t", 1, true},	{"short", 2, true},	{"u16", 2, false},	{"__u16", 2, false},
	{"uint16_t", 2, false}, {"__le16", 2, false},	{"__be16", 2, false},	{"s16", 2, true},
	{"__s16", 2, true},	{"int16_t", 2, true},	{"umode_t", 2, false},	{"int", 4, true},
	{"u32", 4, false},	{"__u32", 4, false},	{"uint32_t", 4, false}, {"uint", 4, false},
	{"__le32", 4, false},	{"__be32", 4, false},	{"s32", 4, true},	{"__s32", 4, true},
	{"int32_t", 4, true},	{"pid_t", 4, true},	{"uid_t", 4, false},	{"gid_t", 4, false},
	{"dev_t", 4, false},	{"gfp_t", 4, false},	{"u64", 8, false},	{"__u64", 8, false},
	{"uint64_t", 8, false}, {"__le64", 8, false},	{"__be64", 8, false},	{"s64", 8, true},
	{"__s64", 8, true},	{"int64_t", 8, true},	{"loff_t", 8, true},	{"sector_t", 8, false},
	{"long", LONG, true},	{"size_t", LONG, false}, {"ssize_t", LONG, true}, {"uintptr_t", LONG, false},
	{"cpumask_t", LONG, false},
};

/* What the words of a type say. */
struct meaning {
	const struct type *type; /* NULL: its name says nothing */
	bool is_unsigned, is_signed;
	bool is_pointer, is_structure, is_mask;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_word(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && !memcmp(text, word, size);
}

static const struct type *find_type(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (is_word(text, size, types[i].word))
			return &types[i];
	return NULL;
}

/* The first word with a size is it ("short int", "long int"), but for "long long". */
static void take_word(struct meaning *m, const char *text, size_t size)
{
	if (is_word(text, size, "unsigned"))
		m->is_unsigned = true;
	else if (is_word(text, size, "signed"))
		m->is_signed = true;
	else if (is_word(text, size, "struct") || is_word(text, size, "union"))
		m->is_structure = true;
	else if (is_word(text, size, "long") && m->type && m->type->bytes == LONG)
		m->type = find_type("s64", 3);
	else if (!m->type)
		m->type = find_type(text, size);
}

/* The words of a type, without those in parentheses (attributes). */
static struct meaning understand(const char *text, size_t size)
{
	struct meaning m;
	size_t i = 0, n, depth = 0;

	memset(&m, 0, sizeof(m));
	while (i < size) {
		for (n = 0; i + n < size && is_letter(text[i + n]); n++)
			;
		if (n && !depth)
			take_word(&m, text + i, n);
		i += n;
		if (n || i == size)
			continue;
		if (text[i] == '(')
			depth++;
		else if (text[i] == ')')
			depth -= depth > 0;
		else if (text[i] == '*' && !depth)
			m.is_pointer = true;
		i++;
	}
	m.is_mask = !m.is_pointer && m.type && !strcmp(m.type->word, "cpumask_t");
	return m;
}

bool field_type_signed(const char *type)
{
	struct meaning m = understand(type, strlen(type));

	return !m.is_pointer && !m.is_unsigned && (m.is_signed || (m.type && m.type->sign));
}

bool field_type_word(const char *text, size_t size)
{
	struct meaning m = understand(text, size);

	return m.is_pointer || (m.type && m.type->bytes == LONG && !m.is_mask);
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

static size_t trim(const char *text, size_t size)
{
	while (size && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	return size;
}

/* Where the brackets at the end of @text begin; @size when there are none. */
static size_t cut_brackets(const char *text, size_t size)
{
	size_t at = trim(text, size), open;

	while (at && text[at - 1] == ']') {
		for (open = at - 1; open && text[open - 1] != '['; open--)
			;
		if (!open)
			break;
		at = trim(text, open - 1);
		size = at;
	}
	return size;
}

/* The product of the numbers in brackets; 0 when one is none ("[]", or a name in old kernels). */
static uint64_t multiply(const char *text, size_t size)
{
	uint64_t product = 1, number;
	size_t i = 0, n;

	while (i < size) {
		if (text[i++] != '[')
			continue;
		for (n = 0; i + n < size && text[i + n] != ']'; n++)
			;
		if (!number_parse(text + i, n, &number) || number > RAW_BYTES_MAX || !number)
			return 0;
		product *= number;
		if (product > RAW_BYTES_MAX)
			return 0;
		i += n;
	}
	return product;
}

static uint32_t size_of_type(const struct meaning *m, uint32_t long_bytes)
{
	if (m->is_pointer)
		return long_bytes;
	if (m->is_structure || (!m->type && !m->is_unsigned && !m->is_signed))
		return 0;
	if (!m->type) /* "unsigned" alone */
		return 4;
	return m->type->bytes == LONG ? long_bytes : m->type->bytes;
}

static void shape_array(struct perfev_field *field, uint64_t count, uint32_t type_size)
{
	field->is_array = true;
	field->element_size = type_size;
	field->count = 0;
	if (field->place != PERFEV_FIELD_FIXED)
		return;
	if (!field->size) {
		field->place = PERFEV_FIELD_REST;
	} else if (count && field->size % count == 0) {
		field->count = (uint32_t)count;
		field->element_size = field->size / field->count;
	} else if (type_size && field->size % type_size == 0) {
		field->count = field->size / type_size;
	} else {
		field->count = field->size;
		field->element_size = 1;
	}
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static uint8_t kind_of(const struct perfev_field *field, const struct meaning *m)
{
	bool is_char = m->type == &types[0] && !m->is_unsigned && !m->is_signed;

	if (m->is_mask)
		return PERFEV_FIELD_BITMASK;
	if (!is_number_size(field->element_size) || (m->is_structure && !m->is_pointer))
		return PERFEV_FIELD_OTHER;
	if (m->is_pointer)
		return PERFEV_FIELD_POINTER;
	return field->is_array && is_char && field->element_size == 1 ? PERFEV_FIELD_STRING
								      : PERFEV_FIELD_INTEGER;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static const char *put_word(char **words, const char *a, size_t a_size, const char *b, size_t b_size)
{
	char *at = *words;

	memcpy(at, a, a_size);
	memcpy(at + a_size, b, b_size);
	at[a_size + b_size] = 0;
	*words += a_size + b_size + 1;
	return at;
}

static size_t skip_word(const char *text, size_t size, const char *word)
{
	size_t n = strlen(word);

	if (n >= size || memcmp(text, word, n) || (text[n] != ' ' && text[n] != '\t'))
		return 0;
	while (n < size && (text[n] == ' ' || text[n] == '\t'))
		n++;
	return n;
}

const char *field_declare(struct perfev_field *field, const char *text, size_t size, char **words,
			  uint32_t long_bytes)
{
	size_t brackets = cut_brackets(text, size), end = trim(text, brackets), start = end, type, skip;
	const char *type_text = text;
	struct meaning m;
	size_t type_end;

	size = trim(text, size);
	while (start && is_letter(text[start - 1]))
		start--;
	type = trim(text, start);
	if (start == end || !type)
		return "it has no name, or no type";
	field->name = put_word(words, text + start, end - start, "", 0);
	field->type = put_word(words, text, type, text + end, size - end);
	skip = skip_word(text, type, "__data_loc");
	field->place = skip ? PERFEV_FIELD_DATA_LOC : PERFEV_FIELD_FIXED;
	if (!skip && (skip = skip_word(text, type, "__rel_loc")) > 0)
		field->place = PERFEV_FIELD_REL_LOC;
	if (field->place != PERFEV_FIELD_FIXED && field->size != 4)
		return "what says where it is has other than 4 bytes";
	type_text += skip;
	type -= skip;
	type_end = cut_brackets(type_text, type);
	m = understand(type_text, type_end);
	field->count = 1;
	field->element_size = field->size;
	field->is_long = !m.is_pointer && m.type && m.type->bytes == LONG && !m.is_mask;
	if (m.is_mask) /* longs, however many masks there are */
		shape_array(field, 0, long_bytes);
	else if (brackets < size)
		shape_array(field, multiply(text + brackets, size - brackets), size_of_type(&m, long_bytes));
	else if (field->place != PERFEV_FIELD_FIXED || type_end < type)
		shape_array(field, multiply(type_text + type_end, type - type_end),
			    size_of_type(&m, long_bytes));
	field->kind = kind_of(field, &m);
	return NULL;
}
