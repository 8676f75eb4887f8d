/* SPDX-License-Identifier: MIT */
#ifndef FILE_COPY_SECTIONS_H
#define FILE_COPY_SECTIONS_H

#include "copy_base.h"

/* What a record tells; a payload has ended; the table of sections, and them */
int copy_learn(struct copy *c, const struct perfev_record *record);
void copy_note_payload(struct copy *c);
int copy_sections(struct copy *c, struct buffer *tail);

#endif
