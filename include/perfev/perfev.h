/* SPDX-License-Identifier: MIT */
/* perfev/perfev.h - everything */
#ifndef PERFEV_PERFEV_H
#define PERFEV_PERFEV_H

#include <perfev/abi.h>
#include <perfev/arm_spe.h>
#include <perfev/auxtrace.h>
#include <perfev/clock.h>
#include <perfev/common.h>
#include <perfev/counter.h>
#include <perfev/deferred.h>
#include <perfev/event.h>
#include <perfev/feature.h>
#include <perfev/flow.h>
#include <perfev/group.h>
#include <perfev/intel_bts.h>
#include <perfev/intel_pt.h>
#include <perfev/jitdump.h>
#include <perfev/json.h>
#include <perfev/meaning.h>
#include <perfev/order.h>
#include <perfev/pmu.h>
#include <perfev/probe.h>
#include <perfev/profile.h>
#include <perfev/raw.h>
#include <perfev/reader.h>
#include <perfev/record.h>
#include <perfev/region.h>
#include <perfev/regs.h>
#include <perfev/sampler.h>
#include <perfev/set.h>
#include <perfev/stacks.h>
#include <perfev/symbols.h>
#include <perfev/synth.h>
#include <perfev/target.h>
#include <perfev/tracepoint.h>
#include <perfev/tracer.h>
#include <perfev/unwind.h>
#include <perfev/user_record.h>
#include <perfev/writer.h>

#endif
