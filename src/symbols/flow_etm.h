/* SPDX-License-Identifier: MIT */
#ifndef SYMBOLS_FLOW_ETM_H
#define SYMBOLS_FLOW_ETM_H

#include "flow_base.h"

extern const struct flow_kind flow_etm; /* Arm CoreSight */

#endif
