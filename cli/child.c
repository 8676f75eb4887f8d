/* SPDX-License-Identifier: MIT */
/*
 * The command that is measured: a child that waits before it executes, so that events can be put on it
 * first; and the signals that end a measurement.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void child_main(char **command, int go, int failed, bool stdout_to_stderr)
{
	sigset_t none;
	char byte;
	ssize_t n;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_FAILED); /* the measurement failed, or its process is gone */
	restore_file_limit();
	execvp(command[0], command);
	error = errno;
	n = write(failed, &error, sizeof(error));
	_exit(n > 0 && error == ENOENT ? EXIT_NO_CMD : EXIT_NO_RUN);
}

/* Whether execvp() finds it: before anything is written that would be of nothing. */
static int can_run(const char *path)
{
	struct stat is;

	if (stat(path, &is) < 0)
		return errno;
	return S_ISDIR(is.st_mode) || access(path, X_OK) < 0 ? EACCES : 0;
}

int child_find(char **command)
{
	const char *at = getenv("PATH"), *end;
	char path[4096];
	int found = ENOENT, error;

	if (strchr(command[0], '/') || !command[0][0])
		return can_run(command[0]);
	for (at = at ? at : "/bin:/usr/bin"; ; at = end + 1) {
		end = strchrnul(at, ':');
		if (snprintf(path, sizeof(path), "%.*s/%s", end > at ? (int)(end - at) : 1, end > at ? at : ".", command[0]) <
		    (int)sizeof(path)) {
			error = can_run(path);
			if (!error)
				return 0;
			found = error == EACCES ? EACCES : found;
		}
		if (!*end)
			return found;
	}
}

static void close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* On failure there is no child: its pid stays 0, so that nobody ever kills -1, which are all processes. */
int child_start(struct child *child, char **command, bool stdout_to_stderr)
{
	int go[2], failed[2], error;
	pid_t pid;

	memset(child, 0, sizeof(*child));
	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		error = errno;
		close_both(go);
		return -error;
	}
	pid = fork();
	if (pid < 0) {
		error = errno;
		close_both(go);
		close_both(failed);
		return -error;
	}
	if (pid == 0) {
		close(go[1]);
		close(failed[0]);
		child_main(command, go[0], failed[1], stdout_to_stderr);
	}
	close(go[0]);
	close(failed[1]);
	child->pid = pid;
	child->go = go[1];
	child->failed = failed[0];
	return 0;
}

int child_go(struct child *child)
{
	int error = 0;
	ssize_t n;

	if (write(child->go, "g", 1) != 1)
		error = errno;
	close(child->go);
	child->go = -1;
	do
		n = read(child->failed, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(child->failed);
	child->failed = -1;
	return n == sizeof(error) ? error : 0;
}

int child_refused(char **command, int error)
{
	bool is_missing = error == ENOENT || error == ENOTDIR;

	if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE) {
		note("cannot start %s: %s; raise ulimit -%c%s", command[0], strerror(error),
		     error == EMFILE || error == ENFILE ? 'n' : error == EAGAIN ? 'u' : 'v',
		     error == EAGAIN || error == ENOMEM ? ", or end other processes" : "");
		return EXIT_FAILED;
	}
	note("cannot run %s: %s; %s", command[0], strerror(error),
	     is_missing ? "give the path of a program, or a name in PATH"
			: "make it executable, or give another program");
	return is_missing ? EXIT_NO_CMD : EXIT_NO_RUN;
}

static uint64_t in_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

void child_look(struct child *child, bool block)
{
	struct rusage used;
	pid_t r;

	if (!child->pid || child->ended)
		return;
	do
		r = wait4(child->pid, &child->status, block ? 0 : WNOHANG, &used);
	while (r < 0 && errno == EINTR);
	if (r == child->pid) {
		child->user_ns = in_ns(used.ru_utime);
		child->system_ns = in_ns(used.ru_stime);
	}
	if (r == child->pid || r < 0)
		child->ended = true;
}

void child_kill(struct child *child)
{
	if (child->pid <= 0 || child->ended)
		return;
	if (child->go > 0)
		close(child->go);
	if (child->failed > 0)
		close(child->failed);
	kill(child->pid, SIGKILL);
	child_look(child, true);
}

int child_exit_code(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}

/* nohup has SIGHUP ignored, and a blocked signal comes out of the descriptor even so. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static sigset_t watched_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	return set;
}

int watch_signals(void)
{
	sigset_t set = watched_signals();

	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void unwatch_signals(int fd)
{
	sigset_t set = watched_signals();

	if (fd < 0)
		return;
	take_signals(fd, NULL);
	close(fd);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* What a terminal sends reaches the command too; what a process sends to us alone is passed on, or a command
 * that goes on would keep us from ending. */
bool take_signals(int fd, const struct child *child)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		stop = true;
		if (child && child->pid > 0 && !child->ended && info.ssi_code <= 0)
			kill(child->pid, (int)info.ssi_signo);
	}
	return stop;
}

void wait_for(int fd, int signals, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	poll(fds, fd >= 0 ? 2 : 1, timeout_ms);
}
