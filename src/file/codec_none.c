/* SPDX-License-Identifier: MIT */
/*
 * The pure half has no library to expand with: compressed recordings are told from damaged ones, and refused
 * with what helps.
 */
#include "codec.h"

#include "base/error.h"

#include <errno.h>

int codec_open(struct codec **ret, int level, struct perfev_error *err)
{
	*ret = NULL;
	return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			 "cannot %s records: this build of the library has no zstd; use one that has",
			 level ? "compress" : "expand");
}

void codec_close(struct codec *codec)
{
	(void)codec;
}

int codec_expand(struct codec *codec, struct perfev_bytes *in, void *to, size_t room, size_t *got, const char **cause)
{
	(void)codec;
	(void)in;
	(void)to;
	(void)room;
	*got = 0;
	*cause = "no zstd";
	return -EINVAL;
}

int codec_compress(struct codec *codec, struct perfev_bytes *in, bool flush, void *to, size_t room, size_t *got,
		   const char **cause)
{
	(void)flush;
	return codec_expand(codec, in, to, room, got, cause);
}
