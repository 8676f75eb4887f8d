/* SPDX-License-Identifier: MIT */
/*
 * Compressed records: one zstd stream over all of them. The library that does it is plugged in when the
 * program is linked: zstd.c, or codec_none.c in the pure half, which has nothing but libc.
 */
#ifndef FILE_CODEC_H
#define FILE_CODEC_H

#include <perfev/common.h>

#define CODEC_ZSTD 1 /* as the section COMPRESSED numbers them */

struct codec;

/* codec_open() - @level 0: to expand; else 1 to 22, to compress.
 * Return: 0; -EOPNOTSUPP (why UNSUPPORTED) without the library; -ENOMEM. */
int codec_open(struct codec **ret, int level, struct perfev_error *err);
void codec_close(struct codec *codec);

/* codec_expand() - bytes of @in, which moves on, to @to; @got of them. None from an empty @in: there are no more.
 * Return: 0; -EINVAL, with @cause a text that lives for ever. */
int codec_expand(struct codec *codec, struct perfev_bytes *in, void *to, size_t room, size_t *got, const char **cause);

/* codec_compress() - the same the other way.
 * @flush: all that was given can be expanded from what comes out until this returns 0.
 * Return: 0; 1 there is more to come out; -EINVAL, with @cause. */
int codec_compress(struct codec *codec, struct perfev_bytes *in, bool flush, void *to, size_t room, size_t *got,
		   const char **cause);

#endif
