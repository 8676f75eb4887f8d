/* SPDX-License-Identifier: MIT */
/* Memory that will be needed soon: by then it is near, where compiler and processor can do that. The address may be any. */
#ifndef BASE_FETCH_H
#define BASE_FETCH_H

static inline void fetch(const void *at)
{
#ifdef __GNUC__
	__builtin_prefetch(at);
#else
	(void)at;
#endif
}

#endif
