/* SPDX-License-Identifier: MIT */
/*
 * The only file with system calls of perf, and the only one that reads the live /proc and /sys.
 * Everything here is thin: one call, its errno negated, interrupted calls tried again where waiting
 * is not the purpose.
 */
#include "sys.h"
#include "nr.h"

#include "base/plug.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The wrong number is the number of another call, which would then be made. */
#ifdef SYS_perf_event_open
_Static_assert(NR_PERF_EVENT_OPEN == SYS_perf_event_open, "perf_event_open has another number");
#endif
_Static_assert(sizeof(off_t) == 8, "offsets of mappings have 64 bits: -D_FILE_OFFSET_BITS=64");

int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			unsigned long flags)
{
	long fd;

	do
		fd = syscall(NR_PERF_EVENT_OPEN, attr, pid, cpu, group_fd, flags);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

#ifdef SYS_rt_sigprocmask
#define NR_SIGNAL_MASK SYS_rt_sigprocmask
#else /* a C library's header without numbers: that of all newer machines */
#define NR_SIGNAL_MASK 135
#endif

/* A change of the signal mask in a way that there is not: the kernel reads the mask before it says so. */
bool plug_readable(const void *at)
{
	int saved = errno;
	bool readable = syscall(NR_SIGNAL_MASK, -1, at, NULL, 8L) == 0 || errno != EFAULT;

	errno = saved;
	return readable;
}

/* ---- the vdso of tasks of 32 bits ----------------------------------------------------------------------------- */

#if defined(__x86_64__) && !defined(__ILP32__)

/* A process may ask for another vdso, once it has none. So a child takes its own away (the parent says where that is, as a
 * child of a process with threads may not do more than system calls), asks, and writes what it has got into a pipe. It has
 * no signal for its end, and nobody who waits for his own children meets it. */
#define ARCH_MAP_VDSO_32 0x2002
#define VDSO_PLACE	 UINT64_C(0x10000000)
#define VDSO_PAGE	 UINT64_C(4096)
#define VDSO_PARTS	 8

struct vdso_parts {
	uint64_t start[VDSO_PARTS], size[VDSO_PARTS];
	size_t count;
};

static void find_vdso(struct vdso_parts *ret)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];

	ret->count = 0;
	while (maps && ret->count < VDSO_PARTS && fgets(line, sizeof(line), maps))
		if ((strstr(line, "[vdso]") || strstr(line, "[vvar")) && sscanf(line, "%lx-%lx", &start, &end) == 2) {
			ret->start[ret->count] = start;
			ret->size[ret->count++] = end - start;
		}
	if (maps)
		fclose(maps);
}

/* Pages that are there go out in their order. */
static void write_vdso(const struct vdso_parts *own, int to, size_t size)
{
	uint64_t at;
	size_t i;

	for (i = 0; i < own->count; i++)
		syscall(SYS_munmap, own->start[i], own->size[i]);
	if (syscall(SYS_arch_prctl, ARCH_MAP_VDSO_32, VDSO_PLACE) > 0)
		for (at = VDSO_PLACE; at + VDSO_PAGE <= VDSO_PLACE + size; at += VDSO_PAGE)
			syscall(SYS_write, to, at, VDSO_PAGE);
	syscall(SYS_exit, 0);
}

size_t plug_vdso32(unsigned char *to, size_t size)
{
	struct vdso_parts own;
	int ends[2], child;
	size_t used = 0;
	ssize_t n;

	find_vdso(&own);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	child = (int)syscall(SYS_clone, 0L, NULL, NULL, NULL, 0L); /* as fork(2) */
	if (child == 0)
		write_vdso(&own, ends[1], size);
	close(ends[1]);
	while (used < size && (n = sys_read(ends[0], to + used, size - used)) != 0 && (n > 0 || errno == EINTR))
		used += n > 0 ? (size_t)n : 0;
	close(ends[0]);
	while (child > 0 && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	return child > 0 ? used : 0;
}

#else
size_t plug_vdso32(unsigned char *to, size_t size)
{
	(void)to;
	(void)size;
	return 0;
}
#endif

const bool sys_is_real = true;

#if CALL_INLINE
int sys_ioctl(int fd, unsigned request, unsigned long argument)
{
	return (int)call3(SYS_ioctl, fd, (long)request, (long)argument);
}

ssize_t sys_read(int fd, void *buffer, size_t size)
{
	return sys_read_inline(fd, buffer, size);
}
#else
/* The type of a request is int in some C libraries, unsigned long in others. */
int sys_ioctl(int fd, unsigned request, unsigned long argument)
{
#ifdef __GLIBC__
	int r = ioctl(fd, (unsigned long)request, argument);
#else
	int r = ioctl(fd, (int)request, argument);
#endif
	return r < 0 ? -errno : r;
}

ssize_t sys_read(int fd, void *buffer, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buffer, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}
#endif

void sys_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

int sys_dup(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : copy;
}

int sys_mmap(void **ret, size_t size, bool writable, int fd, uint64_t offset)
{
	void *at = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
			(off_t)offset);

	if (at == MAP_FAILED)
		return -errno;
	*ret = at;
	return 0;
}

int sys_pages(void **ret, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	*ret = at;
	return 0;
}

/* One mmap() of the event where it is to be, and no mremap(): riscv's driver takes the counter from programs when
 * any mapping of its event goes, the old place included. Nor MAP_FIXED, by which others' memory could be hit. */
int sys_mmap_over(void *at, size_t size, int fd)
{
	void *got;

	munmap(at, size);
	got = mmap(at, size, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (got == at)
		return 0;
	if (got == MAP_FAILED)
		return -errno;
	munmap(got, size); /* before 4.17 the place is a wish, and another thread was faster */
	return -EEXIST;
}

int sys_munmap(void *at, size_t size)
{
	return at && munmap(at, size) < 0 ? -errno : 0;
}

size_t sys_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int sys_task_events(bool enable)
{
	int option = enable ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE;

	return prctl(option, 0, 0, 0, 0) < 0 ? -errno : 0;
}

int sys_signal_on(int fd, int number, pid_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = number ? flags | O_ASYNC : flags & ~O_ASYNC;
	if (number && (fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, number) < 0))
		return -errno;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int sys_epoll_create(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int sys_epoll_add(int epoll_fd, int fd, uint64_t number)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = number};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void sys_epoll_remove(int epoll_fd, int fd)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

int sys_epoll_wait(int epoll_fd, struct sys_ready *ret, int max, int timeout_ms)
{
	struct epoll_event events[64];
	int n, i;

	n = epoll_wait(epoll_fd, events, max < 64 ? max : 64, timeout_ms);
	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		ret[i].number = events[i].data.u64;
		ret[i].in = events[i].events & EPOLLIN;
		ret[i].hang_up = events[i].events & EPOLLHUP;
		ret[i].error = events[i].events & EPOLLERR;
	}
	return n;
}

int64_t sys_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int sys_append_text(const char *path, const char *text)
{
	size_t size = strlen(text);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	ssize_t n;
	int r;

	if (fd < 0)
		return -errno;
	do
		n = write(fd, text, size);
	while (n < 0 && errno == EINTR);
	r = n < 0 ? -errno : n == (ssize_t)size ? 0 : -EIO;
	close(fd);
	return r;
}

int sys_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

ssize_t sys_read_text(const char *path, char *buffer, size_t size)
{
	int fd = sys_open(path);
	size_t used = 0;
	ssize_t n = 0;

	buffer[0] = 0;
	if (fd < 0)
		return fd;
	while (used + 1 < size && (n = sys_read(fd, buffer + used, size - 1 - used)) > 0)
		used += (size_t)n;
	sys_close(fd);
	if (n < 0)
		return n;
	while (used && buffer[used - 1] == '\n')
		used--;
	buffer[used] = 0;
	return (ssize_t)used;
}

bool sys_can_read(const char *path)
{
	return access(path, R_OK) == 0;
}

struct sys_folder {
	DIR *dir;
};

int sys_folder_open(struct sys_folder **ret, const char *path)
{
	struct sys_folder *folder = malloc(sizeof(*folder));
	int r;

	if (!folder)
		return -ENOMEM;
	folder->dir = opendir(path);
	if (!folder->dir) {
		r = -errno;
		free(folder);
		return r;
	}
	*ret = folder;
	return 0;
}

int sys_folder_next(struct sys_folder *folder, const char **ret)
{
	struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(folder->dir);
		if (!entry)
			return -errno;
	} while (entry->d_name[0] == '.');
	*ret = entry->d_name;
	return 1;
}

void sys_folder_close(struct sys_folder *folder)
{
	if (!folder)
		return;
	closedir(folder->dir);
	free(folder);
}

int sys_owner(const char *path, uint32_t *uid)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	*uid = st.st_uid;
	return 0;
}

int sys_uid(void)
{
	return (int)geteuid();
}

int sys_pid(void)
{
	return (int)getpid();
}

int sys_tid(void)
{
	return (int)syscall(SYS_gettid);
}

int sys_limit(enum sys_limit which, uint64_t *soft, uint64_t *hard)
{
	struct rlimit limit;

	if (getrlimit(which == SYS_LIMIT_FILES ? RLIMIT_NOFILE : RLIMIT_MEMLOCK, &limit) < 0)
		return -errno;
	*soft = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
	*hard = limit.rlim_max == RLIM_INFINITY ? UINT64_MAX : limit.rlim_max;
	return 0;
}

static void copy_name(char *to, const char *from, size_t size)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	to[n] = 0;
}

int sys_names(char *hostname, char *release, char *machine, size_t size)
{
	struct utsname names;

	if (uname(&names) < 0)
		return -errno;
	copy_name(hostname, names.nodename, size);
	copy_name(release, names.release, size);
	copy_name(machine, names.machine, size);
	return 0;
}
