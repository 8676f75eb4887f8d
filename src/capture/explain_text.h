/* SPDX-License-Identifier: MIT */
#ifndef CAPTURE_EXPLAIN_TEXT_H
#define CAPTURE_EXPLAIN_TEXT_H

#include "explain.h"

/* explain_expand() - @from with the facts that it names in braces; cut when there is no room */
void explain_expand(const struct facts *f, const char *from, char *to, size_t size);
/* explain_target() - on what it was to be opened: "task 812 on CPU 3" */
void explain_target(const struct facts *f, char *to, size_t size);

#endif
