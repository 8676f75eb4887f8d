/* SPDX-License-Identifier: MIT */
/* Where in a program's file a function is, for probes: as the kernel's mappings of that program say, whether code has
 * fixed addresses or not; and what is said of files without symbols. */
#include "feeding.h"

#include "base/plug.h"

/* The offset in the file of an address in a program that ran. */
static uint64_t expected(const char *function, char **file)
{
	size_t i, k;

	for (i = 0; i < function_count; i++)
		for (k = 0; !strcmp(functions[i].name, function) && k < map_count; k++)
			if (functions[i].address >= maps[k].start && functions[i].address < maps[k].end) {
				*file = maps[k].name;
				return functions[i].address - maps[k].start + maps[k].offset;
			}
	fail_msg("%s is not mapped", function);
	return 0;
}

static void test_offsets(void **state)
{
	static const char *const programs[] = {"helperpie", "helpernopie"};
	static const char *const names[] = {"work_one", "work_hidden", "main"};
	uint64_t offset;
	char *file;
	size_t i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		run_helper(programs[i]);
		for (k = 0; k < 3; k++) {
			uint64_t wanted = expected(names[k], &file);

			assert_works(plug_function_offset(file, names[k], &offset, &err));
			assert_int_equal(offset, wanted);
		}
	}
	run_helper("helperpie"); /* where this is the function, and not a stub */
	assert_works(plug_function_offset(helper("libhelper.so"), "lib_work", &offset, &err));
	assert_int_equal(offset, expected("lib_work", &file));
}

static void test_refusals(void **state)
{
	uint64_t offset = 7;

	(void)state;
	left_begin();
	assert_fails(plug_function_offset(helper("helperstripped"), "work_one", &offset, &err), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_NOT_FOUND);
	assert_fails(plug_function_offset(helper("helperpie"), "work_on", &offset, &err), ENOENT);
	assert_says("did you mean work_one?");
	assert_fails(plug_function_offset(helper("helperpie"), "", &offset, &err), ENOENT);
	assert_fails(plug_function_offset(helper("helperpie"), "lib_work", &offset, &err), ENOENT); /* it only calls it */
	assert_fails(plug_function_offset("/nonexistent", "f", &offset, &err), ENOENT);
	assert_says("cannot find function f in /nonexistent");
	assert_fails(plug_function_offset("tests/checks", "f", &offset, &err), ENOEXEC);
	assert_int_equal(err.why, PERFEV_WHY_FORMAT);
	assert_true(plug_function_offset("/proc", "f", &offset, &err) < 0);
	assert_int_equal(offset, 7);
	left_check();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_offsets),
	cmocka_unit_test(test_refusals),
};

int main(void)
{
	(void)setup;
	(void)teardown;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
