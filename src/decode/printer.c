/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own text of a tracepoint, by libtraceevent, which is loaded when a printer is made and is
 * not needed otherwise.
 *
 * It trusts what it is given. So it gets only formats that our own parser took, of a bounded size and
 * depth (it recurses), and only samples whose fields are all inside their bytes (it does not look). It
 * writes to the standard error unless it is told not to, which is for the whole process.
 */
#include "tracepoint.h"

#include "base/error.h"
#include "base/library.h"
#include "base/number.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY	  "libtraceevent.so.1"
#define PRINT_MAX 32768 /* bytes of a print fmt */
#define DEPTH_MAX 64	/* of its parentheses */
#define STRING_MAX 1024
#define QUIET	  0	/* TEP_LOG_NONE */

struct tep_handle;

/* Their struct trace_seq; room behind it, should it grow. */
struct sequence {
	char *buffer;
	unsigned buffer_size, used, position;
	int state;
	uint64_t room[8];
};

/* Their struct tep_record; the same. */
struct sample {
	unsigned long long time, offset;
	long long missed;
	int record_size, size;
	void *data;
	int cpu, references, locked;
	void *context;
	uint64_t room[8];
};

struct tep {
	void *library;
	struct tep_handle *(*alloc)(void);
	void (*free)(struct tep_handle *tep);
	void (*set_long_size)(struct tep_handle *tep, int size);
	void (*set_file_order)(struct tep_handle *tep, int big);
	int (*parse_event)(struct tep_handle *tep, const char *text, unsigned long size, const char *system);
	void (*print_event)(struct tep_handle *tep, struct sequence *to, struct sample *sample,
			    const char *format, ...);
	int (*add_string)(struct tep_handle *tep, const char *text, unsigned long long address);
	void (*begin)(struct sequence *sequence);
	void (*end)(struct sequence *sequence);
	void (*set_level)(int level); /* [1.3] */
	int (*set_functions)(struct tep_handle *tep, char *(*find)(void *context, unsigned long long *address, char **module),
			     void *context);
};

struct perfev_printer {
	const struct perfev_tracepoint *tracepoint;
	struct tep tep;
	struct tep_handle *handle;
	const char *(*function)(void *context, uint64_t address, uint64_t *start);
	void *context;
};

/* A function is no object: its address is copied. */
static bool find(const struct tep *tep, const char *name, void *to)
{
	void *address = dlsym(tep->library, name);

	memcpy(to, &address, sizeof(address));
	return address != NULL;
}

static bool load(struct tep *tep)
{
	tep->library = library_open(LIBRARY);
	if (!tep->library || !find(tep, "tep_alloc", &tep->alloc) || !find(tep, "tep_free", &tep->free) ||
	    !find(tep, "tep_set_long_size", &tep->set_long_size) ||
	    !find(tep, "tep_set_file_bigendian", &tep->set_file_order) ||
	    !find(tep, "tep_parse_event", &tep->parse_event) ||
	    !find(tep, "tep_print_event", &tep->print_event) ||
	    !find(tep, "tep_register_print_string", &tep->add_string) ||
	    !find(tep, "tep_set_function_resolver", &tep->set_functions) ||
	    !find(tep, "trace_seq_init", &tep->begin) || !find(tep, "trace_seq_destroy", &tep->end))
		return false;
	if (find(tep, "tep_set_loglevel", &tep->set_level))
		tep->set_level(QUIET);
	return true;
}

static bool too_deep(const char *text)
{
	size_t depth = 0, i;

	for (i = 0; text[i] && depth <= DEPTH_MAX; i++) {
		if (text[i] == '(')
			depth++;
		else if (text[i] == ')')
			depth -= depth > 0;
	}
	return depth > DEPTH_MAX || i > PRINT_MAX;
}

static int give_format(struct perfev_printer *printer, struct perfev_error *err)
{
	const struct perfev_tracepoint *tp = printer->tracepoint;
	bool big = tp->info.swapped ? !PERFEV_BIG_ENDIAN : PERFEV_BIG_ENDIAN;

	printer->handle = printer->tep.alloc();
	if (!printer->handle)
		return error_memory(err);
	printer->tep.set_long_size(printer->handle, (int)tp->info.long_bytes);
	printer->tep.set_file_order(printer->handle, big);
	if (printer->tep.parse_event(printer->handle, tp->text, tp->text_size, tp->info.system) != 0)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot print tracepoint %.100s:%.100s: libtraceevent does not understand its "
				 "format; use perfev_tracepoint_format()",
				 tp->info.system, tp->info.name);
	return 0;
}

/* 0xffffffff8281a424 : "Start context switch" */
static int add_string(const struct perfev_printer *printer, const char *line, size_t size)
{
	const char *colon = memchr(line, ':', size);
	char text[STRING_MAX];
	uint64_t address;
	size_t n = colon ? (size_t)(colon - line) : 0;

	while (n && line[n - 1] == ' ')
		n--;
	if (!number_hex(line, n, &address))
		return 0;
	line += size;
	colon += colon + 1 < line && colon[1] == ' ' ? 2 : 1;
	n = (size_t)(line - colon);
	if (!n || n >= sizeof(text) || memchr(colon, 0, n))
		return 0;
	memcpy(text, colon, n);
	text[n] = 0;
	return printer->tep.add_string(printer->handle, text, address) < 0 ? -ENOMEM : 0;
}

static int add_strings(const struct perfev_printer *printer, struct perfev_bytes text, struct perfev_error *err)
{
	const char *at = text.data, *end;
	size_t left, size;

	for (left = text.size; left; left -= size + (end != NULL), at += size + (end != NULL)) {
		end = memchr(at, '\n', left);
		size = end ? (size_t)(end - at) : left;
		if (add_string(printer, at, size) < 0)
			return error_memory(err);
	}
	return 0;
}

/* It only reads what it is given. */
static char *find_function(void *context, unsigned long long *address, char **module)
{
	const struct perfev_printer *printer = context;
	uint64_t start = *address;
	const char *name = printer->function(printer->context, *address, &start);

	*module = NULL;
	*address = start;
	return (char *)(uintptr_t)name;
}

static int add_functions(struct perfev_printer *printer, const struct perfev_printer_opts *opts, struct perfev_error *err)
{
	printer->function = opts->function;
	printer->context = opts->context;
	return opts->function && printer->tep.set_functions(printer->handle, find_function, printer) < 0 ? error_memory(err) : 0;
}

int perfev_printer_new(struct perfev_printer **ret, const struct perfev_tracepoint *tracepoint,
		       const struct perfev_printer_opts *opts, struct perfev_error *err)
{
	struct perfev_printer_opts full;
	struct perfev_printer *printer;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	if (too_deep(tracepoint->info.print_format))
		return error_set(err, -EINVAL, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot print tracepoint %.100s: its print fmt has more than %d bytes, or "
				 "parentheses deeper than %d; use perfev_tracepoint_format()",
				 tracepoint->info.name, PRINT_MAX, DEPTH_MAX);
	printer = calloc(1, sizeof(*printer));
	if (!printer)
		return error_memory(err);
	printer->tracepoint = tracepoint;
	if (load(&printer->tep)) {
		r = give_format(printer, err);
		if (r == 0)
			r = add_strings(printer, full.printk_formats, err);
		if (r == 0)
			r = add_functions(printer, &full, err);
	} else {
		r = error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			      "cannot print tracepoint %.100s: libtraceevent is not installed (%s), or this "
			      "program is linked statically; install it (Debian: libtraceevent1), or use perfev_tracepoint_format()",
			      tracepoint->info.name, LIBRARY);
	}
	if (r < 0)
		perfev_printer_free(printer);
	else
		*ret = printer;
	return r;
}

void perfev_printer_free(struct perfev_printer *printer)
{
	if (!printer)
		return;
	if (printer->handle)
		printer->tep.free(printer->handle);
	if (printer->tep.library)
		dlclose(printer->tep.library);
	free(printer);
}

/* libtraceevent reads where the fields say; so they must say places that there are. */
static int check_fields(const struct perfev_tracepoint *tp, struct perfev_bytes raw, struct perfev_error *err)
{
	struct perfev_bytes bytes;
	size_t i;

	for (i = 0; i < tp->info.field_count; i++)
		if (!perfev_field_bytes(&tp->fields[i], raw, &bytes))
			return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, tp->fields[i].offset,
					 "cannot print tracepoint %.100s: its field %.100s is not inside the %zu "
					 "bytes of the sample; use perfev_tracepoint_format()",
					 tp->info.name, tp->fields[i].name, raw.size);
	return 0;
}

int perfev_printer_format(char *ret, size_t size, struct perfev_printer *printer, struct perfev_bytes raw,
			  struct perfev_error *err)
{
	struct sequence sequence;
	struct sample sample;
	size_t fits;
	int r = check_fields(printer->tracepoint, raw, err);

	if (r < 0)
		return r;
	memset(&sequence, 0, sizeof(sequence));
	memset(&sample, 0, sizeof(sample));
	sample.record_size = sample.size = (int)(raw.size < RAW_BYTES_MAX ? raw.size : RAW_BYTES_MAX);
	sample.data = (void *)(uintptr_t)raw.data;
	printer->tep.begin(&sequence);
	printer->tep.print_event(printer->handle, &sequence, &sample, "%s", "INFO");
	if (size) {
		fits = sequence.used < size ? sequence.used : size - 1;
		if (fits)
			memcpy(ret, sequence.buffer, fits);
		ret[fits] = 0;
	}
	r = (int)sequence.used;
	printer->tep.end(&sequence);
	return r;
}
