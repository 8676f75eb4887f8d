/* SPDX-License-Identifier: MIT */
/*
 * perfev/raw.h - the system call and its ioctls as they are (Linux)
 *
 * One function for each thing that the kernel offers, with the numbers of whatever architecture
 * this is built for; nothing is added, and no error is explained. counter.h, set.h and sampler.h
 * are made of these, and are what most programs want.
 *
 * Each returns a negative errno when it fails, never -1, and leaves errno to the C library. A
 * descriptor is an ordinary one: poll(2), fcntl(2) and close(2) work on it.
 */
#ifndef PERFEV_RAW_H
#define PERFEV_RAW_H

#include <perfev/abi.h>
#include <perfev/common.h>

#include <string.h>

PERFEV_BEGIN

/* ---- the system call ------------------------------------------------------------------------- */

/* perfev_raw_attr() - an attr of the newest size with a type and a config, and zero in all else */
static inline struct perf_event_attr perfev_raw_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = type;
	attr.size = (uint32_t)sizeof(attr);
	attr.config = config;
	return attr;
}

/*
 * perfev_raw_open() - perf_event_open(2)
 * @attr: attr->size bytes are read, 64 when that is 0. Must be writable: when the kernel refuses
 * its size it stores the size that it knows; see perfev_raw_unknown().
 * @pid: a thread; 0 the caller; -1 every task on @cpu; with PERF_FLAG_PID_CGROUP a descriptor of a
 * cgroup.
 * @cpu: -1 any, which @pid = -1 does not allow.
 * @group_fd: the leader of a group, or -1.
 * @flags: PERF_FLAG_*; PERF_FLAG_FD_CLOEXEC is not added.
 * Return: a descriptor; a negative errno, whose many meanings perf_event_open(2) lists. Interrupted
 * calls are tried again.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_open(struct perf_event_attr *attr, int pid, int cpu, int group_fd,
			       unsigned long flags);

/*
 * perfev_raw_unknown() - what -E2BIG was about
 * A kernel takes an attr that is larger than its own as long as the bytes beyond are 0. It says
 * -E2BIG to others, and stores its own size in attr->size. It also says -E2BIG, without touching
 * attr->size, when reading a group with one more member would take more than 16 KiB.
 * @attr: as it came back from perfev_raw_open() or perfev_raw_modify_attributes().
 * @size: what attr->size was before.
 * Return: the name of the first member that is set and that this kernel does not know, as
 * "config3"; "size" when that is under 64 or over a page; NULL when the group is what is too big.
 * The string lives for ever.
 * Since: 0.1
 */
PERFEV_API const char *perfev_raw_unknown(const struct perf_event_attr *attr, uint32_t size);

/*
 * perfev_raw_attr_size() - the size of this kernel's own struct perf_event_attr
 * Return: bytes, as PERF_ATTR_SIZE_VER8; -EOPNOTSUPP when the kernel does not tell; a negative
 * errno when the system call is refused altogether (-ENOSYS, or what a seccomp filter says).
 * Since: 0.1
 */
PERFEV_API int perfev_raw_attr_size(void);

/*
 * perfev_raw_read() - read(2) of counts, in the form that attr.read_format asks for
 * Return: bytes; 0 for a pinned event that could not stay on its PMU; -ENOSPC when @size is too
 * small.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_read(int fd, void *buffer, size_t size);

/* perfev_raw_close() - close(2); does nothing with a negative number */
PERFEV_API void perfev_raw_close(int fd);

/* ---- the ioctls ------------------------------------------------------------------------------ */

/* All of them return 0, or a negative errno: -EBADF for no descriptor, -ENOTTY for one of something
 * else, -ENODEV once the event's PMU is gone. */

/*
 * perfev_raw_enable(), perfev_raw_disable(), perfev_raw_reset() - start, stop, set the count to 0
 * Act on copies that children inherited too. Resetting leaves the times, and what ended children
 * counted.
 * @flags: 0, or PERF_IOC_FLAG_GROUP for the whole group, from any member.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_enable(int fd, unsigned flags);
PERFEV_API int perfev_raw_disable(int fd, unsigned flags);
PERFEV_API int perfev_raw_reset(int fd, unsigned flags);

/*
 * perfev_raw_refresh() - let @count more overflows happen, and enable; then the event is disabled
 * Linux 6.16 to 7.3 stop the event's PMU at the limit: tracepoints, probes and breakpoints never
 * count again, unless perfev_raw_period() follows with the same period.
 * Return: also -EINVAL for an event that does not sample, or is inherited. 0 as @count is
 * undefined.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_refresh(int fd, int count);

/*
 * perfev_raw_period() - set the period, or with attr.freq the frequency
 * @period: the kernel takes the address of 64 bits, not a number.
 * Return: also -EINVAL for an event that does not sample, for 0, for bit 63, and for a frequency
 * above perf_event_max_sample_rate.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_period(int fd, const uint64_t *period);

/*
 * perfev_raw_set_output() - write samples into the ring of another event, or with -1 no longer
 * A 32-bit program on a 64-bit kernel cannot say -1: the kernel sees 4294967295 (-EBADF).
 * Return: also -EINVAL when the two do not fit: another CPU, another task, another clock, a ring of
 * its own.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_set_output(int fd, int output_fd);

/*
 * perfev_raw_set_filter() - drop what does not fit
 * @filter: an expression over the fields of a tracepoint or probe, or address ranges for tracers.
 * Return: also -EINVAL for a wrong one, or for events that have none; -EEXIST for a second one.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_set_filter(int fd, const char *filter);

/*
 * perfev_raw_id() - the number by which records name the event
 * Since: 0.1
 */
PERFEV_API int perfev_raw_id(int fd, uint64_t *ret);

/*
 * perfev_raw_set_bpf() - run a BPF program at each event
 * @prog_fd: from bpf(2).
 * Return: also -EINVAL for a program of another type; -EEXIST for a second one where only one may
 * be.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_set_bpf(int fd, int prog_fd);

/*
 * perfev_raw_pause_output() - keep the ring as it is (1), or go on (0); what comes meanwhile is
 * lost [4.7]
 * Return: also -EINVAL when the event has no ring.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_pause_output(int fd, unsigned pause);

/*
 * perfev_raw_query_bpf() - the programs on a tracepoint, at most query->ids_len of them [4.16]
 * Return: also -ENOSPC when there are more, with their number in query->prog_cnt; -EPERM without
 * CAP_PERFMON; -EINVAL for events that are no tracepoint; -E2BIG for ids_len over 64.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_query_bpf(int fd, struct perf_event_query_bpf *query);

/*
 * perfev_raw_bpf_ids() - the same, however many there are
 * @ret: set to an array, which the caller frees with free(3); NULL when there are none.
 * Return: how many, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_bpf_ids(uint32_t **ret, int fd);

/*
 * perfev_raw_modify_attributes() - give an open event another attr [4.17]
 * Only breakpoints can: to another bp_addr, bp_type, bp_len, disabled or sig_data.
 * @attr: of the size that the event was opened with. Must be writable, as for perfev_raw_open().
 * Return: also -EINVAL for another type or member; -EOPNOTSUPP for events that are no breakpoint.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_modify_attributes(int fd, struct perf_event_attr *attr);

/* ---- mappings -------------------------------------------------------------------------------- */

/*
 * perfev_raw_mmap() - map an event's control page, and its ring
 * @data_bytes: 0 for the page alone; else a power of two of pages. They follow the page, at
 * data_offset.
 * @writable: true when data_tail will be moved; false for a ring that overwrites what is oldest.
 * Return: 0; -EINVAL for another size, or an inherited event of any CPU; -EPERM when the memory
 * that may be locked is used up; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_mmap(struct perf_event_mmap_page **ret, int fd, size_t data_bytes,
			       bool writable);

/*
 * perfev_raw_munmap() - take the mapping away; @data_bytes as it was mapped
 * Return: 0; -EINVAL for another size, on kernels that refuse to split a mapping.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_munmap(struct perf_event_mmap_page *page, size_t data_bytes);

/*
 * perfev_raw_mmap_aux() - map an event's trace area, behind its ring [4.1]
 * Writes aux_offset and aux_size of the page, as the kernel wants it before.
 * @page: of the event's ring, mapped writable.
 * @aux_bytes: a power of two of pages.
 * @writable: true when aux_tail will be moved; false for snapshots of what is newest.
 * Return: 0; -EOPNOTSUPP when the PMU has no such area; -EINVAL when the page has no ring; a
 * negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_mmap_aux(void **ret, int fd, struct perf_event_mmap_page *page,
				   size_t aux_bytes, bool writable);
PERFEV_API int perfev_raw_munmap_aux(void *aux, size_t aux_bytes);

/* ---- all at once ----------------------------------------------------------------------------- */

/*
 * perfev_raw_task_enable(), perfev_raw_task_disable() - prctl(2): every event that this thread
 * opened
 * That is on any task; not those that observe this thread and were opened by others.
 * Return: 0, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_raw_task_enable(void);
PERFEV_API int perfev_raw_task_disable(void);

PERFEV_END

#endif
