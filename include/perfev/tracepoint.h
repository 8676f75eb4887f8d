/* SPDX-License-Identifier: MIT */
/*
 * perfev/tracepoint.h - tracepoints: what their samples hold, by name
 *
 * The kernel describes the bytes that a tracepoint puts into a sample (PERF_SAMPLE_RAW) by a text, its
 * format. A tracepoint is that text, understood: it comes from tracefs (perfev_tracepoint_find), from a
 * recording, which carries the formats of the machine where it was made (perfev_reader_tracepoint), or
 * from anywhere else (perfev_tracepoint_parse).
 *
 * A field is looked up once, by name; its values are then read from the raw bytes of any number of
 * samples. Every read is checked against the size of those bytes: what is not inside is not there. The
 * bytes end with up to 7 that pad them, which no field but one without an end of its own reaches.
 */
#ifndef PERFEV_TRACEPOINT_H
#define PERFEV_TRACEPOINT_H

#include <perfev/common.h>

PERFEV_BEGIN

struct perfev_tracepoint;

/* ---- getting one ------------------------------------------------------------------------------------ */

/*
 * perfev_tracepoint_find() - a tracepoint of this machine
 * @name: "SYSTEM:NAME", as in the text of an event.
 * @tracefs: NULL: where it is mounted; or the root of a copy.
 * Return: 0; -ENOENT (why UNKNOWN_EVENT, with the nearest name; or NOT_FOUND: tracefs is not mounted);
 * -EACCES when it may not be read; -EINVAL for a name that is none, or a format that cannot be
 * understood; -ENOMEM. Free it with perfev_tracepoint_free().
 * Since: 0.1
 */
PERFEV_API int perfev_tracepoint_find(struct perfev_tracepoint **ret, const char *name,
				      const char *tracefs, struct perfev_error *err);

/*
 * perfev_tracepoint_find_id() - the same by its number, which is attr.config of its event
 * Slower by far: the numbers of all tracepoints are read, until it is found.
 */
PERFEV_API int perfev_tracepoint_find_id(struct perfev_tracepoint **ret, uint64_t id,
					 const char *tracefs, struct perfev_error *err);

/*
 * perfev_tracing_read() - the formats of tracepoints of this machine, as recordings carry them
 * @ret: a TRACING_DATA section, for perfev_writer_put_feature(); free() its data.
 * @ids: which, by their numbers (attr.config); those that are not there are left out.
 * Return: 0; -ENOENT or -EACCES when tracefs is not there or may not be read; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_tracing_read(struct perfev_bytes *ret, const uint64_t *ids, size_t count,
				   const char *tracefs, struct perfev_error *err);

struct perfev_tracepoint_opts {
	size_t size;
	const char *system;  /* what the text does not say; NULL: "" */
	uint32_t swapped;    /* not 0: raw bytes are of the other byte order than this host's */
	uint32_t long_bytes; /* 4 or 8: a long of the kernel; 0: as the fields tell, else 8 */
};

/*
 * perfev_tracepoint_parse() - a tracepoint from the text of its format
 * @text: copied; up to 1 MiB.
 * Return: 0; -EINVAL (why SYNTAX) with err->where = the offset in the text; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_tracepoint_parse(struct perfev_tracepoint **ret, struct perfev_bytes text,
				       const struct perfev_tracepoint_opts *opts,
				       struct perfev_error *err);
PERFEV_API void perfev_tracepoint_free(struct perfev_tracepoint *tracepoint);

/* ---- what it has ------------------------------------------------------------------------------------ */

/* Pointers live as long as the tracepoint. */
struct perfev_tracepoint_info {
	const char *system;
	const char *name;
	const char *print_format; /* what follows "print fmt: "; "" when there is nothing */
	uint64_t id;
	size_t field_count;  /* the common ones included, which come first */
	size_t common_count; /* fields that every tracepoint has */
	uint32_t long_bytes;
	bool swapped;
};

/* perfev_tracepoint_describe() - its names, its id, how many fields */
PERFEV_API void perfev_tracepoint_describe(const struct perfev_tracepoint *tracepoint,
					   struct perfev_tracepoint_info *ret);

enum perfev_field_kind {
	PERFEV_FIELD_INTEGER = 0, /* numbers, truth values and enums */
	PERFEV_FIELD_POINTER,
	PERFEV_FIELD_STRING,  /* char[]: text up to a zero, or to the end */
	PERFEV_FIELD_BITMASK, /* a set of CPUs or the like: longs, bit 0 is the lowest of the first */
	PERFEV_FIELD_OTHER    /* a structure: bytes */
};

enum perfev_field_place {
	PERFEV_FIELD_FIXED = 0, /* size bytes at offset */
	PERFEV_FIELD_DATA_LOC,	/* there are 32 bits that say where, from the start of the raw bytes */
	PERFEV_FIELD_REL_LOC,	/* the same, from the end of those 32 bits [5.17] */
	PERFEV_FIELD_REST	/* from offset to the end of the raw bytes, padding included */
};

/* A field. Lives as long as its tracepoint. */
struct perfev_field {
	const char *name;
	const char *type;      /* as the kernel writes it, without the name: "char[16]" */
	uint32_t offset, size; /* in the raw bytes; of a dynamic field, of what says where it is */
	uint32_t element_size; /* of an array; else size; 0: not known */
	uint32_t count;	       /* of a fixed array; 1 for what is none; 0: each sample has its own */
	uint8_t kind;	       /* enum perfev_field_kind; of an array, of its elements */
	uint8_t place;	       /* enum perfev_field_place */
	bool is_signed;
	bool is_array;
	bool is_long;	       /* its type is long, or a name for it: size_t */
	bool swapped;	       /* of the other byte order */
};

/*
 * perfev_tracepoint_field() - a field by its name
 * Of several with one name the first, and common ones come first. Return: NULL when there is none.
 * Since: 0.1
 */
PERFEV_API const struct perfev_field *perfev_tracepoint_field(const struct perfev_tracepoint *tracepoint,
							      const char *name);

/* perfev_tracepoint_field_at() - field @index, in the order of the format; NULL when there is none */
PERFEV_API const struct perfev_field *perfev_tracepoint_field_at(const struct perfev_tracepoint *tracepoint,
								 size_t index);

/* ---- values ------------------------------------------------------------------------------------------ */

/*
 * perfev_field_int() - an integer or pointer
 * perfev_field_uint() - the same bits, as an unsigned number
 * A field that is signed is extended with its sign, others with zeros.
 * Return: true, or false when the field is something else, or not inside @raw.
 */
PERFEV_API bool perfev_field_int(const struct perfev_field *field, struct perfev_bytes raw,
				 int64_t *ret);
PERFEV_API bool perfev_field_uint(const struct perfev_field *field, struct perfev_bytes raw,
				  uint64_t *ret);

/*
 * perfev_field_string() - a text
 * @ret: its bytes, without the zero that may end it; inside @raw, and not terminated.
 * Return: true, or false when the field is no string, or not inside @raw.
 */
PERFEV_API bool perfev_field_string(const struct perfev_field *field, struct perfev_bytes raw,
				    struct perfev_bytes *ret);

/* perfev_field_bytes() - the bytes of any field, wherever they are; false when they are not inside @raw */
PERFEV_API bool perfev_field_bytes(const struct perfev_field *field, struct perfev_bytes raw,
				   struct perfev_bytes *ret);

/* perfev_field_count() - how many elements an array has, 1 for what is none; 0 when it is not inside @raw */
PERFEV_API size_t perfev_field_count(const struct perfev_field *field, struct perfev_bytes raw);

/*
 * perfev_field_int_at(), perfev_field_uint_at() - element @index of an array of numbers, of characters, or
 * of the longs of a bitmask; a field that is no array has one
 * Return: true, or false when there is none.
 */
PERFEV_API bool perfev_field_int_at(const struct perfev_field *field, struct perfev_bytes raw,
				    size_t index, int64_t *ret);
PERFEV_API bool perfev_field_uint_at(const struct perfev_field *field, struct perfev_bytes raw,
				     size_t index, uint64_t *ret);

/* perfev_field_bit() - is bit @bit of a bitmask set? False also when there is no such bit. */
PERFEV_API bool perfev_field_bit(const struct perfev_field *field, struct perfev_bytes raw, size_t bit);

/* ---- text --------------------------------------------------------------------------------------------- */

/*
 * perfev_tracepoint_format() - all own fields as "name=value name=value"
 * Numbers are decimal, pointers hexadecimal, arrays {1,2,3}, bitmasks lists as 0-3,8, structures the digits
 * of their bytes. A string with other than plain characters stands in quotes, with \xHH for controls. A
 * field that is not inside @raw is "?". Of arrays the first 256 elements are shown.
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text.
 */
PERFEV_API size_t perfev_tracepoint_format(char *ret, size_t size,
					   const struct perfev_tracepoint *tracepoint,
					   struct perfev_bytes raw);

/*
 * A printer gives the text that the kernel's own "print fmt" makes, by libtraceevent, which is
 * loaded when the first printer is made. It is no match for hostile formats: give it those of machines
 * that you trust, and use perfev_tracepoint_format() for others.
 */
struct perfev_printer;

struct perfev_printer_opts {
	size_t size;
	/* the file printk_formats of tracefs, or perfev_tracing.printk_formats of a recording: texts that some
	 * samples have the address of. Without it the address is printed. Read by perfev_printer_new() only. */
	struct perfev_bytes printk_formats;
	/* what the kernel's function is called that has an address, and where it begins; NULL: not known. The text lives
	 * until the next call. NULL in its place: addresses are printed. Since: 0.1 */
	const char *(*function)(void *context, uint64_t address, uint64_t *start);
	void *context;
};

/*
 * perfev_printer_new() - a printer for samples of one tracepoint, which must live as long
 * Return: 0; -EOPNOTSUPP (why UNSUPPORTED) where libtraceevent is not installed, or cannot understand
 * the format; -EINVAL when the format is too large or too deep to be given to it; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_printer_new(struct perfev_printer **ret,
				  const struct perfev_tracepoint *tracepoint,
				  const struct perfev_printer_opts *opts, struct perfev_error *err);
PERFEV_API void perfev_printer_free(struct perfev_printer *printer);

/*
 * perfev_printer_format() - the text of one sample
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text; -EINVAL (why TRUNCATED) when a field is not inside @raw.
 */
PERFEV_API int perfev_printer_format(char *ret, size_t size, struct perfev_printer *printer,
				     struct perfev_bytes raw, struct perfev_error *err);

PERFEV_END

#endif
