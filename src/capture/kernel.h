/* SPDX-License-Identifier: MIT */
/* What the kernel knows, asked about one part of an attr. */
#ifndef CAPTURE_KERNEL_H
#define CAPTURE_KERNEL_H

/* kernel_lacks() - whether the kernel does not know a part of the attr: "sigtrap", "PERF_SAMPLE_CGROUP"
 * Return: the version that brought it; NULL when this kernel knows it, or nothing is known of it here. */
const char *kernel_lacks(const char *part);

#endif
