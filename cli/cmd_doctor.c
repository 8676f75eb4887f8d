/* SPDX-License-Identifier: MIT */
/* perfev doctor: what this machine and this user can measure, and what is in the way. */
#include "cli.h"

int cmd_doctor(int argc, char **argv)
{
	bool json = false;
	const struct option_row rows[] = {
		{0, "json", NULL, "one JSON document on standard output", OPTION_FLAG, &json},
	};
	struct command_line line = {
		.command = "doctor",
		.synopsis = "[--json]",
		.description = "Tries in a small way all that perf events can do here, and says for each 'no' "
			       "the\ncause and the remedy.",
		.options = rows,
		.option_count = 1,
	};
	int r = parse_options(&line, argc, argv);

	if (r >= 0)
		return r;
	if (line.argc)
		return usage_error("doctor", "it takes no argument, and '%s' was given", line.argv[0]);
	if (json)
		json_doctor(stdout);
	else
		text_doctor(stdout);
	return EXIT_DONE;
}
