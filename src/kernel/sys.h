/* SPDX-License-Identifier: MIT */
/*
 * The border to the kernel: every system call of perf, and every read of the live /proc and /sys.
 * A test puts its own kernel behind these functions when it links. All return a negative errno.
 */
#ifndef KERNEL_SYS_H
#define KERNEL_SYS_H

#include "kernel/arch/call.h"

#include <perfev/abi.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* perf_event_open(2): a descriptor. EINTR is tried again. On E2BIG the kernel may write attr->size. */
int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			unsigned long flags);
int sys_ioctl(int fd, unsigned request, unsigned long argument);
ssize_t sys_read(int fd, void *buffer, size_t size);
void sys_close(int fd);

/* Is this the real border? One that a test puts here says no. */
extern const bool sys_is_real;

/* sys_read(), inline where that can be: see arch/call.h */
static inline ssize_t sys_read_inline(int fd, void *buffer, size_t size)
{
#if CALL_INLINE
	long n;

	if (!sys_is_real)
		return sys_read(fd, buffer, size);
	do
		n = call3(SYS_read, fd, (long)buffer, (long)size);
	while (n == -EINTR);
	return n;
#else
	return sys_read(fd, buffer, size);
#endif
}

/* A second descriptor of the same, close-on-exec. */
int sys_dup(int fd);

/* A shared mapping of a descriptor. */
int sys_mmap(void **ret, size_t size, bool writable, int fd, uint64_t offset);
int sys_munmap(void *at, size_t size);
/* Whole pages of memory, all 0; and a shared mapping, read only, in the place of some, which go even when there is
 * none: the place is nobody's then. Both go by sys_munmap(). */
int sys_pages(void **ret, size_t size);
int sys_mmap_over(void *at, size_t size, int fd);
size_t sys_page_size(void);

/* prctl(2): start or stop every event that this thread opened. */
int sys_task_events(bool enable);

/* A signal for each overflow of a descriptor, with siginfo, to one thread; number 0: no more. */
int sys_signal_on(int fd, int number, pid_t tid);

/* An epoll set; each descriptor stands under a number. */
struct sys_ready {
	uint64_t number;
	bool in, hang_up, error;
};
int sys_epoll_create(void);
int sys_epoll_add(int epoll_fd, int fd, uint64_t number);
void sys_epoll_remove(int epoll_fd, int fd);
/* Returns how many of @ret are set; 0 when the time is over; -EINTR. At most 64 at a time. */
int sys_epoll_wait(int epoll_fd, struct sys_ready *ret, int max, int timeout_ms);

/* A clock that goes on steadily, in ms. */
int64_t sys_now_ms(void);

/* The beginning of a small file of /proc or /sys, terminated and without a newline at the end.
 * Returns its length. */
ssize_t sys_read_text(const char *path, char *buffer, size_t size);
/* Writes a line to the end of a control file of tracefs. */
int sys_append_text(const char *path, const char *text);
/* A file to be read in pieces with sys_read(). */
int sys_open(const char *path);
bool sys_can_read(const char *path);

/* The names in a folder, one a call: 1 a name, 0 the end. They live until the next call. */
struct sys_folder;
int sys_folder_open(struct sys_folder **ret, const char *path);
int sys_folder_next(struct sys_folder *folder, const char **ret);
void sys_folder_close(struct sys_folder *folder);

/* The owner of a file: for /proc/PID, of the task. */
int sys_owner(const char *path, uint32_t *uid);
int sys_uid(void);
int sys_pid(void);
int sys_tid(void);
/* A resource limit of this process; UINT64_MAX is none. */
enum sys_limit { SYS_LIMIT_FILES, SYS_LIMIT_LOCKED_MEMORY };
int sys_limit(enum sys_limit which, uint64_t *soft, uint64_t *hard);
int sys_names(char *hostname, char *release, char *machine, size_t size);

#endif
