/* SPDX-License-Identifier: MIT */
/* What is measured: the options -p -t -a -C and the command, turned into a target. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

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
				return EXIT_FAILED;
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
	int r = 0;

	session->command = line->argc ? line->argv : NULL;
	if (session->pids.count || session->tids.count) {
		if (session->all_cpus)
			return usage_error(line->command, "-a and %s do not go together",
					   session->pids.count ? "-p" : "-t");
		r = choose_tasks(session, line->command);
	} else if (session->all_cpus || session->cpus) {
		session->on = perfev_on_all_cpus();
	} else if (session->command) {
		session->is_command = true;
	} else {
		return usage_error(line->command, "say what to measure: a command, -p PID, -t TID, or -a");
	}
	return r ? r : choose_cpus(session, line->command);
}

void session_close(struct session *session)
{
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
	if (!file)
		return true;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	at = strrchr(text, ')'); /* behind the name, which may hold anything */
	return !at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X';
}

bool session_ended(const struct session *session)
{
	uint32_t i;

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
