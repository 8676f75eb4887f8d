/* SPDX-License-Identifier: MIT */
/* profile.h: stacks from anywhere to folded lines and a table; here from a simulation. */
#include <perfev/profile.h>
#include <stdio.h>
#include <stdlib.h>

static int print(void *context, const void *data, size_t size)
{
	return fwrite(data, 1, size, context) == size ? 0 : -5;
}

int main(void)
{
	static const char *const names[] = {"main", "parse", "render"};
	struct perfev_sink sink = {print, stdout};
	struct perfev_profile *profile;
	struct perfev_function *functions;
	struct perfev_error err;
	uint32_t frames[3], stack[2];
	size_t count;
	int event;

	if (perfev_profile_new(&profile, &err) < 0)
		return 1;
	event = perfev_profile_event(profile, "steps", &err);
	for (int i = 0; i < 3; i++) {
		struct perfev_profile_frame frame = {names[i], "simulation", 0, PERFEV_KIND_USER, 0};

		perfev_profile_intern(profile, &frames[i], &frame, &err);
	}
	stack[1] = frames[0]; /* main, outermost, is last */
	for (int i = 0; i < 10; i++) {
		struct perfev_profile_stack sample = {stack, 2, 1, (uint32_t)event, UINT32_MAX};

		stack[0] = frames[i < 7 ? 1 : 2];
		if (perfev_profile_add(profile, &sample, &err) < 0)
			return 1;
	}
	perfev_profile_write_folded(profile, event, &sink, &err);
	if (perfev_profile_functions(profile, event, &functions, &count, &err) == 0) {
		for (size_t i = 0; i < count; i++)
			printf("%-8s self %llu total %llu\n", functions[i].symbol, (unsigned long long)functions[i].self,
			       (unsigned long long)functions[i].total);
		free(functions);
	}
	perfev_profile_free(profile);
	return 0;
}
