/* SPDX-License-Identifier: MIT */
/*
 * The first process of a guest: mounts what a system has, loads the modules that /modules lists (a path and
 * parameters a line), runs the commands of /run (words a line), says how each ended, and turns the machine off.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 32

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void mount_on(const char *type, const char *path)
{
	mkdir(path, 0755);
	if (mount(type, path, type, 0, NULL) < 0 && errno != EBUSY)
		printf("init: cannot mount %s on %s: %s\n", type, path, strerror(errno));
}

static int load(char *line)
{
	char *parameters = strchr(line, ' ');
	int fd, bad;

	if (parameters)
		*parameters++ = 0;
	fd = open(line, O_RDONLY | O_CLOEXEC);
	bad = fd < 0 || syscall(SYS_finit_module, fd, parameters ? parameters : "", 0) < 0;
	if (bad)
		printf("init: cannot load %s: %s\n", line, strerror(errno));
	if (fd >= 0)
		close(fd);
	return bad;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(char *line)
{
	char *words[WORDS_MAX + 1], *environment[] = {"PATH=/bin:/t", "HOME=/", "TMPDIR=/tmp", NULL}, *word;
	double start = now();
	int count = 0, status;
	pid_t pid;

	printf("=== %s\n", line);
	for (word = strtok(line, " "); word && count < WORDS_MAX; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	pid = fork();
	if (pid == 0) {
		execve(words[0], words, environment);
		printf("init: cannot run %s: %s\n", words[0], strerror(errno));
		_exit(127);
	}
	status = pid < 0 ? 127 : wait_for(pid);
	printf("--- %s status=%d seconds=%.2f\n", words[0], status, now() - start);
	return status;
}

static int each_line(const char *path, int (*use)(char *line))
{
	char line[1024];
	FILE *file = fopen(path, "re");
	int bad = 0;

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (*line)
			bad += use(line) != 0;
	}
	if (file)
		fclose(file);
	return bad;
}

/* Cgroups without any controller are none to perf events. */
static void give_controllers(void)
{
	static const char *const names[] = {"+pids", "+memory", "+cpu"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = open("/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			return;
		if (write(fd, names[i], strlen(names[i])) < 0) {
			; /* not every kernel has each */
		}
		close(fd);
	}
}

static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR);

	if (fd < 0)
		return;
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);
}

int main(void)
{
	int bad;

	mount_on("devtmpfs", "/dev");
	open_console();
	setvbuf(stdout, NULL, _IONBF, 0);
	mount_on("proc", "/proc");
	mount_on("sysfs", "/sys");
	mount_on("tmpfs", "/tmp");
	mount_on("debugfs", "/sys/kernel/debug");
	mount_on("tracefs", "/sys/kernel/tracing");
	mount_on("cgroup2", "/sys/fs/cgroup");
	give_controllers();
	printf("init: up after %.2f s\n", now());
	bad = each_line("/modules", load);
	bad += each_line("/run", run);
	printf("init: done, %d failed, %.2f s\n", bad, now());
	sync();
	usleep(100000);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
