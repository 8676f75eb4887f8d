/* SPDX-License-Identifier: MIT */
#ifndef SYMBOLS_FLOW_PT_H
#define SYMBOLS_FLOW_PT_H

#include "flow_base.h"

extern const struct flow_kind flow_pt; /* Intel PT */

#endif
