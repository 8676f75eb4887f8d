/* SPDX-License-Identifier: MIT */
/*
 * zstd, by libzstd, which is loaded when a compressed record is read or written and is not needed otherwise.
 *
 * A window is as large as the frame says, up to 128 MiB: what level 22 writes. Frames may follow each other:
 * a recorder whose compressor failed begins a new one.
 */
#include "codec.h"

#include "base/error.h"
#include "base/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY	       "libzstd.so.1"
#define WINDOW_LOG_MAX 27
#define SET_WINDOW     100 /* ZSTD_d_windowLogMax */
#define SET_LEVEL      100 /* ZSTD_c_compressionLevel */
#define GO_ON	       0   /* ZSTD_e_continue, ZSTD_e_flush */
#define FLUSH	       1

/* Their ZSTD_inBuffer and ZSTD_outBuffer. */
struct input {
	const void *data;
	size_t size, at;
};

struct output_room {
	void *data;
	size_t size, at;
};

struct codec {
	void *library, *stream;
	bool compresses;
	void *(*make)(void);
	size_t (*free)(void *stream);
	size_t (*set)(void *stream, int what, int value);
	size_t (*expand)(void *stream, struct output_room *out, struct input *in);
	size_t (*compress)(void *stream, struct output_room *out, struct input *in, int how);
	unsigned (*is_error)(size_t code);
	const char *(*error_name)(size_t code);
};

/* A function is no object: its address is copied. */
static bool find(const struct codec *codec, const char *name, void *to)
{
	void *address = dlsym(codec->library, name);

	memcpy(to, &address, sizeof(address));
	return address != NULL;
}

static bool load(struct codec *codec)
{
	codec->library = library_open(LIBRARY);
	if (!codec->library || !find(codec, "ZSTD_isError", &codec->is_error) ||
	    !find(codec, "ZSTD_getErrorName", &codec->error_name))
		return false;
	if (codec->compresses)
		return find(codec, "ZSTD_createCCtx", &codec->make) && find(codec, "ZSTD_freeCCtx", &codec->free) &&
		       find(codec, "ZSTD_CCtx_setParameter", &codec->set) &&
		       find(codec, "ZSTD_compressStream2", &codec->compress);
	return find(codec, "ZSTD_createDCtx", &codec->make) && find(codec, "ZSTD_freeDCtx", &codec->free) &&
	       find(codec, "ZSTD_DCtx_setParameter", &codec->set) &&
	       find(codec, "ZSTD_decompressStream", &codec->expand);
}

int codec_open(struct codec **ret, int level, struct perfev_error *err)
{
	struct codec *codec = calloc(1, sizeof(*codec));
	size_t r;

	*ret = NULL;
	if (!codec)
		return error_memory(err);
	codec->compresses = level != 0;
	if (!load(codec)) {
		codec_close(codec);
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot %s records: %s (1.4 or later) cannot be loaded; install it",
				 level ? "compress" : "expand", LIBRARY);
	}
	codec->stream = codec->make();
	if (!codec->stream) {
		codec_close(codec);
		return error_memory(err);
	}
	r = level ? codec->set(codec->stream, SET_LEVEL, level) : codec->set(codec->stream, SET_WINDOW, WINDOW_LOG_MAX);
	if (codec->is_error(r)) {
		codec_close(codec);
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot compress records: level %d is none; take 1 to 22", level);
	}
	*ret = codec;
	return 0;
}

void codec_close(struct codec *codec)
{
	if (!codec)
		return;
	if (codec->stream)
		codec->free(codec->stream);
	if (codec->library)
		dlclose(codec->library);
	free(codec);
}

/* What both ways have in common: @in moves on. */
static int take(const struct codec *codec, size_t code, const struct input *from, struct perfev_bytes *in,
		const char **cause)
{
	if (codec->is_error(code)) {
		*cause = codec->error_name(code);
		return -EINVAL;
	}
	in->data = (const char *)in->data + from->at;
	in->size -= from->at;
	return 0;
}

int codec_expand(struct codec *codec, struct perfev_bytes *in, void *to, size_t room, size_t *got, const char **cause)
{
	struct input from = {in->data, in->size, 0};
	struct output_room out = {to, room, 0};
	size_t code = codec->expand(codec->stream, &out, &from);

	*got = out.at;
	return take(codec, code, &from, in, cause);
}

int codec_compress(struct codec *codec, struct perfev_bytes *in, bool flush, void *to, size_t room, size_t *got,
		   const char **cause)
{
	struct input from = {in->data, in->size, 0};
	struct output_room out = {to, room, 0};
	size_t code = codec->compress(codec->stream, &out, &from, flush ? FLUSH : GO_ON);
	int r;

	*got = out.at;
	r = take(codec, code, &from, in, cause);
	if (r < 0)
		return r;
	return in->size || (flush && code) ? 1 : 0;
}
