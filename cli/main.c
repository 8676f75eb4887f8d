/* SPDX-License-Identifier: MIT */
/*
 * perfev: the command. This file finds the sub-command; each has a file of its own, and all of them use
 * the library as any program would.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv); /* NULL: not built yet */
	const char *summary;
} commands[] = {
	{"stat", cmd_stat, "count events while a command runs"},
	{"record", cmd_record, "sample a command or the system, into perf.data"},
	{"report", cmd_report, "show where the samples are: table, call tree, flame graph"},
	{"dump", cmd_dump, "show what a recording holds"},
	{"list", cmd_list, "list the events of this machine"},
	{"doctor", cmd_doctor, "say what this machine and this user can measure"},
	{"script", cmd_script, "print samples one by one, as text or JSON"},
	{"fix", cmd_fix, "make a whole recording of one whose recorder was killed"},
	{"annotate", NULL, NULL},
	{"top", NULL, NULL},
	{"diff", NULL, NULL},
	{"merge", NULL, NULL},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int print_usage(FILE *out, int code)
{
	size_t i;

	fputs("Usage: perfev COMMAND [OPTIONS]\n\n"
	      "Count, sample and look: Linux performance events.\n\nCommands:\n",
	      out);
	for (i = 0; i < COMMANDS; i++)
		if (commands[i].run)
			fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].summary);
	fputs("\nBegin with:\n"
	      "  perfev record -- ./program      and then\n"
	      "  perfev report                   or, as a page: perfev report --html report.html\n\n"
	      "'perfev COMMAND --help' shows the options of a command; 'perfev --version' the version.\n",
	      out);
	return code;
}

static int unknown_command(const char *word)
{
	const char *names[COMMANDS], *near;
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	near = perfev_nearest(word, names, COMMANDS);
	if (!strcmp(word, "version"))
		near = "--version";
	if (near)
		note("there is no command '%s'; did you mean 'perfev %s'?", word, near);
	else
		note("there is no command '%s'", word);
	fputs("Try 'perfev help'.\n", stderr);
	return EXIT_USAGE;
}

static int run(const char *name, int argc, char **argv)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name))
			continue;
		if (commands[i].run)
			return commands[i].run(argc, argv);
		fprintf(stderr, "perfev: '%s' is not built yet\n", name);
		return EXIT_USAGE;
	}
	return unknown_command(name);
}

static int choose(int argc, char **argv)
{
	char *help[] = {(char *)(uintptr_t) "--help", NULL};

	if (argc < 2)
		return print_usage(stderr, EXIT_USAGE);
	if (!strcmp(argv[1], "--version")) {
		printf("perfev %s\n", perfev_version());
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return argc > 2 ? run(argv[2], 1, help) : print_usage(stdout, EXIT_DONE);
	return run(argv[1], argc - 2, argv + 2);
}

/* A recording that got the number of a closed standard error would get every message too. What takes the
 * number instead cannot be used, as before, and is closed again in commands that are run. */
static void take_standard_numbers(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	int code;

	take_standard_numbers();
	signal(SIGPIPE, SIG_IGN);
	code = choose(argc, argv);
	if (flush_output(stdout))
		return code;
	if (output_error() == EPIPE) /* a closed pipe ends quietly */
		return EXIT_DONE;
	fprintf(stderr, "perfev: cannot write the result: %s; make room, or write elsewhere\n",
		strerror(output_error()));
	return EXIT_FAILED;
}
