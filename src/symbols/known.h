/* SPDX-License-Identifier: MIT */
/* Frames that were found before. */
#ifndef SYMBOLS_KNOWN_H
#define SYMBOLS_KNOWN_H

#include <perfev/symbols.h>

/* known_frame() - the one frame that perfev_symbols_find() with room for one gives; false: it has to be looked for. */
bool known_frame(struct perfev_symbols *s, const struct perfev_place *place, struct perfev_frame *ret);

#endif
