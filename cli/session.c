/* SPDX-License-Identifier: MIT */
/* What is measured: the options -p -t -a -C and the command, turned into a target. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* "12,34" and more of them. */
static int parse_ids(const char *command, const char *option, const struct texts *texts, int32_t **ids,
		     uint32_t *count)
{
	size_t i;

	for (i = 0; i < texts->count; i++) {
		const char *at = texts->items[i];

		for (;;) {
			char *end;
			long id = strtol(at, &end, 10);
			int32_t *more;

			if (end == at || id <= 0 || id > INT32_MAX || (*end && *end != ','))
				return usage_error(command, "%s takes numbers, as in %s 812,813, and '%s' is none",
						   option, option, at);
			more = realloc(*ids, (*count + 1) * sizeof(**ids));
			if (!more)
				return out_of_memory();
			*ids = more;
			more[(*count)++] = (int32_t)id;
			if (!*end)
				break;
			at = end + 1;
		}
	}
	return 0;
}

static int choose_tasks(struct session *s, const char *command)
{
	bool threads = s->tids.count > 0;
	int r;

	if (threads && s->pids.count)
		return usage_error(command, "-p and -t do not go together");
	s->on = perfev_target_of(threads ? PERFEV_TARGET_TASK : PERFEV_TARGET_PROCESS, 0, -1);
	r = parse_ids(command, threads ? "-t" : "-p", threads ? &s->tids : &s->pids, &s->ids,
		      &s->on.id_count);
	s->on.ids = s->ids;
	return r;
}

/* /proc/mounts writes a blank as \040, and so on. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = 0;
}

/* The root of the hierarchy with the controller of perf: one of version 1, or version 2. */
static bool cgroup_root(char *to, size_t size)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[1024], where[512], type[64], options[256];
	bool found = false;

	while (mounts && !found && fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*s %511s %63s %255s", where, type, options) != 3)
			continue;
		found = !strcmp(type, "cgroup") && strstr(options, "perf_event");
		if (found || (!to[0] && !strcmp(type, "cgroup2")))
			snprintf(to, size, "%s", where);
	}
	if (mounts)
		fclose(mounts);
	unescape(to);
	return to[0];
}

static bool is_cgroup(int fd)
{
	struct statfs is;

	return fstatfs(fd, &is) == 0 && ((unsigned long)is.f_type == CGROUP_SUPER_MAGIC ||
					 (unsigned long)is.f_type == CGROUP2_SUPER_MAGIC);
}

/* A name as perf takes it, from the root of the hierarchy, where "/" is the root; or the path of a folder. */
static int open_cgroup(const char *name, int *fd)
{
	char root[512] = "", path[1024];

	if (name[0] == '/') {
		*fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*fd >= 0 && is_cgroup(*fd))
			return 0;
		if (*fd >= 0)
			close(*fd);
	}
	if (!cgroup_root(root, sizeof(root))) {
		note("cannot find cgroup %s: no hierarchy of cgroups is mounted; mount cgroup2", name);
		return EXIT_FAILED;
	}
	snprintf(path, sizeof(path), "%s/%s", root, name);
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0)
		return 0;
	note("cannot open cgroup %s: %s: %s; give its folder, or its path below %s", name, path,
	     strerror(errno), root);
	return EXIT_FAILED;
}

static int choose_cgroups(struct session *s)
{
	size_t i;
	int r = 0;

	s->ids = calloc(s->cgroups.count, sizeof(*s->ids));
	if (!s->ids)
		return out_of_memory();
	s->on = perfev_on_cgroup(-1, -1);
	for (i = 0; r == 0 && i < s->cgroups.count; i++) {
		r = open_cgroup(s->cgroups.items[i], &s->ids[i]);
		if (r == 0)
			s->on.id_count = (uint32_t)i + 1;
	}
	s->on.ids = s->ids;
	return r;
}

static int choose_cpus(struct session *s, const char *command)
{
	struct perfev_error err;
	size_t count;

	if (!s->cpus)
		return 0;
	if (perfev_cpus_parse(&s->cpu_list, &count, s->cpus, &err) < 0)
		return usage_error(command, "%s", err.text);
	if (!count)
		return usage_error(command, "-C needs at least one CPU");
	s->on.cpus = s->cpu_list;
	s->on.cpu_count = (uint32_t)count;
	return 0;
}

int session_open(struct session *session, const struct command_line *line)
{
	bool tasks = session->pids.count || session->tids.count;
	int r = 0;

	session->command = line->argc ? line->argv : NULL;
	if (session->cgroups.count && (tasks || session->all_cpus))
		return usage_error(line->command, "-G and %s do not go together",
				   session->all_cpus ? "-a" : session->pids.count ? "-p" : "-t");
	if (session->pids.count || session->tids.count) {
		if (session->all_cpus)
			return usage_error(line->command, "-a and %s do not go together",
					   session->pids.count ? "-p" : "-t");
		r = choose_tasks(session, line->command);
	} else if (session->cgroups.count) {
		r = choose_cgroups(session);
	} else if (session->all_cpus || session->cpus) {
		session->on = perfev_on_all_cpus();
	} else if (session->command) {
		session->is_command = true;
	} else {
		return usage_error(line->command, "say what to measure: a command, -p PID, -t TID, -G CGROUP, or -a");
	}
	return r ? r : choose_cpus(session, line->command);
}

void session_close(struct session *session)
{
	uint32_t i;

	for (i = 0; session->cgroups.count && i < session->on.id_count; i++)
		close(session->ids[i]);
	free(session->cgroups.items);
	free(session->ids);
	free(session->cpu_list);
	free(session->pids.items);
	free(session->tids.items);
}

/* A task that nobody waited for is still there, but does nothing any more: state Z or X. */
static bool task_ended(int32_t id)
{
	char path[40], text[512], *at;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", id);
	file = fopen(path, "re");
	if (!file) /* it has ended; or /proc is hidden */
		return kill(id, 0) < 0 && errno == ESRCH;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	at = strrchr(text, ')'); /* behind the name, which may hold anything */
	return !at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X';
}

bool session_ended(const struct session *session)
{
	uint32_t i;

	if (session->cgroups.count)
		return false;
	for (i = 0; i < session->on.id_count; i++)
		if (!task_ended(session->on.ids[i]))
			return false;
	return session->on.id_count > 0;
}

void session_name(const struct session *session, char *to, size_t size)
{
	size_t used = 0;
	char **word;

	if (session->pids.count || session->tids.count) {
		snprintf(to, size, "%s %s", session->pids.count ? "process" : "thread",
			 session->pids.count ? session->pids.items[0] : session->tids.items[0]);
	} else if (session->cgroups.count) {
		snprintf(to, size, "cgroup %s", session->cgroups.items[0]);
	} else if (!session->is_command) {
		snprintf(to, size, session->cpus ? "CPUs %s" : "all CPUs%s",
			 session->cpus ? session->cpus : "");
	} else {
		to[0] = 0;
		for (word = session->command; *word && used < size; word++) {
			int n = snprintf(to + used, size - used, "%s%s", used ? " " : "", *word);

			used += n > 0 ? (size_t)n : 0;
		}
	}
}
