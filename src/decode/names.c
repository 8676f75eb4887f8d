/* SPDX-License-Identifier: MIT */
/* Names of record types: the kernel's, those of perf.data files, and simpleperf's. */
#include <perfev/record.h>

#define USER_FIRST	 64
#define SIMPLEPERF_FIRST 32769

static const char *const kernel_names[] = {
	NULL,
	"MMAP",
	"LOST",
	"COMM",
	"EXIT",
	"THROTTLE",
	"UNTHROTTLE",
	"FORK",
	"READ",
	"SAMPLE",
	"MMAP2",
	"AUX",
	"ITRACE_START",
	"LOST_SAMPLES",
	"SWITCH",
	"SWITCH_CPU_WIDE",
	"NAMESPACES",
	"KSYMBOL",
	"BPF_EVENT",
	"CGROUP",
	"TEXT_POKE",
	"AUX_OUTPUT_HW_ID",
	"CALLCHAIN_DEFERRED",
};

static const char *const user_names[] = {
	"HEADER_ATTR",
	"HEADER_EVENT_TYPE",
	"TRACING_DATA",
	"BUILD_ID",
	"FINISHED_ROUND",
	"ID_INDEX",
	"AUXTRACE_INFO",
	"AUXTRACE",
	"AUXTRACE_ERROR",
	"THREAD_MAP",
	"CPU_MAP",
	"STAT_CONFIG",
	"STAT",
	"STAT_ROUND",
	"EVENT_UPDATE",
	"TIME_CONV",
	"HEADER_FEATURE",
	"COMPRESSED",
	"FINISHED_INIT",
	"COMPRESSED2",
	"BPF_METADATA",
};

static const char *const simpleperf_names[] = {
	"SIMPLEPERF_KERNEL_SYMBOL", "SIMPLEPERF_DSO",
	"SIMPLEPERF_SYMBOL",	    "SIMPLEPERF_SPLIT",
	"SIMPLEPERF_SPLIT_END",	    "SIMPLEPERF_EVENT_ID",
	"SIMPLEPERF_CALLCHAIN",	    "SIMPLEPERF_UNWINDING_RESULT",
	"SIMPLEPERF_TRACING_DATA",  "SIMPLEPERF_DEBUG",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *perfev_record_name(uint32_t type)
{
	if (type < COUNT(kernel_names))
		return kernel_names[type];
	if (type >= USER_FIRST && type - USER_FIRST < COUNT(user_names))
		return user_names[type - USER_FIRST];
	if (type >= SIMPLEPERF_FIRST && type - SIMPLEPERF_FIRST < COUNT(simpleperf_names))
		return simpleperf_names[type - SIMPLEPERF_FIRST];
	return NULL;
}
