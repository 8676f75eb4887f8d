/* SPDX-License-Identifier: MIT */
/*
 * As much of cmocka as the unit tests use, for targets that have no cmocka package: one header, no
 * library. A failed assertion ends its test, not the program. The last line that a program prints
 * is "N passed, N failed, N skipped".
 */
#ifndef CROSS_CMOCKA_H
#define CROSS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*test)(void **state);
	int (*setup)(void **state);
	int (*teardown)(void **state);
};

#define cmocka_unit_test(test)		       {#test, test, NULL, NULL}
#define cmocka_unit_test_setup(test, setup)    {#test, test, setup, NULL}
#define cmocka_unit_test_teardown(test, teardown) {#test, test, NULL, teardown}
#define cmocka_unit_test_setup_teardown(test, setup, teardown) {#test, test, setup, teardown}

enum cmocka_end { CMOCKA_PASSED, CMOCKA_FAILED, CMOCKA_SKIPPED };

struct cmocka_state {
	jmp_buf end;
	int failed;
};

/* Shared by the files of a program, each of which includes this. */
#if defined(__GNUC__)
__attribute__((weak))
#endif
struct cmocka_state cmocka_state;

#if defined(__GNUC__) && defined(__MINGW32__)
#define CMOCKA_FORMAT __attribute__((format(gnu_printf, 3, 4), unused))
#else
#define CMOCKA_FORMAT __attribute__((format(printf, 3, 4), unused))
#endif

CMOCKA_FORMAT static void cmocka_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("%s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	longjmp(cmocka_state.end, CMOCKA_FAILED);
}

#define fail_msg(...)	   cmocka_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail()		   cmocka_fail(__FILE__, __LINE__, "failed")
#define skip()		   longjmp(cmocka_state.end, CMOCKA_SKIPPED)
#define print_message(...) printf(__VA_ARGS__)

#define CMOCKA_TRUE(condition, text)                                    \
	do {                                                            \
		if (!(condition))                                       \
			cmocka_fail(__FILE__, __LINE__, "%s", text);    \
	} while (0)

static inline void cmocka_numbers(uintmax_t a, uintmax_t b, bool equal, const char *file, int line)
{
	if ((a == b) != equal)
		cmocka_fail(file, line, "0x%llx and 0x%llx", (unsigned long long)a,
			    (unsigned long long)b);
}

static inline void cmocka_range(uintmax_t value, uintmax_t low, uintmax_t high, const char *file,
				int line)
{
	if (value < low || value > high)
		cmocka_fail(file, line, "%llu is not in %llu to %llu", (unsigned long long)value,
			    (unsigned long long)low, (unsigned long long)high);
}

static inline void cmocka_strings(const char *a, const char *b, bool equal, const char *file,
				  int line)
{
	if (!a || !b || !strcmp(a, b) != equal)
		cmocka_fail(file, line, "'%s' and '%s'", a ? a : "NULL", b ? b : "NULL");
}

static inline void cmocka_bytes(const void *a, const void *b, size_t size, bool equal,
				const char *file, int line)
{
	if (!memcmp(a, b, size) != equal)
		cmocka_fail(file, line, "%u bytes differ, or do not", (unsigned)size);
}

#define assert_true(condition)	     CMOCKA_TRUE(condition, #condition)
#define assert_false(condition)	     CMOCKA_TRUE(!(condition), "not " #condition)
#define assert_null(pointer)	     CMOCKA_TRUE(!(pointer), #pointer " is not NULL")
#define assert_non_null(pointer)     CMOCKA_TRUE(pointer, #pointer " is NULL")
#define assert_ptr_equal(a, b) \
	CMOCKA_TRUE((const void *)(a) == (const void *)(b), #a " is not " #b)
#define assert_ptr_not_equal(a, b) \
	CMOCKA_TRUE((const void *)(a) != (const void *)(b), #a " is " #b)
#define assert_int_equal(a, b) \
	cmocka_numbers((uintmax_t)(a), (uintmax_t)(b), true, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) \
	cmocka_numbers((uintmax_t)(a), (uintmax_t)(b), false, __FILE__, __LINE__)
#define assert_in_range(value, low, high) \
	cmocka_range((uintmax_t)(value), (uintmax_t)(low), (uintmax_t)(high), __FILE__, __LINE__)
#define assert_string_equal(a, b)	 cmocka_strings(a, b, true, __FILE__, __LINE__)
#define assert_string_not_equal(a, b)	 cmocka_strings(a, b, false, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size)	 cmocka_bytes(a, b, size, true, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) cmocka_bytes(a, b, size, false, __FILE__, __LINE__)

static inline int cmocka_run_one(const struct CMUnitTest *test)
{
	static void *state;
	volatile int end;

	state = NULL;
	end = setjmp(cmocka_state.end);
	if (end == CMOCKA_PASSED) {
		if (test->setup && test->setup(&state))
			cmocka_fail(__FILE__, __LINE__, "the setup failed");
		test->test(&state);
	}
	if (test->teardown) {
		int after = setjmp(cmocka_state.end);

		if (after)
			end = after;
		else
			test->teardown(&state);
	}
	return end;
}

static inline int cmocka_run(const struct CMUnitTest *tests, size_t count, int (*setup)(void **),
			     int (*teardown)(void **))
{
	static void *state;
	int ends[3] = {0, 0, 0};
	size_t i;

	if (setup && setup(&state)) {
		printf("the setup failed\n0 passed, 1 failed, 0 skipped\n");
		return 1;
	}
	for (i = 0; i < count; i++) {
		int end = cmocka_run_one(&tests[i]);

		ends[end]++;
		if (end == CMOCKA_FAILED)
			printf("FAIL %s\n", tests[i].name);
		fflush(stdout);
	}
	if (teardown)
		teardown(&state);
	printf("%d passed, %d failed, %d skipped\n", ends[CMOCKA_PASSED], ends[CMOCKA_FAILED],
	       ends[CMOCKA_SKIPPED]);
	return ends[CMOCKA_FAILED];
}

#define cmocka_run_group_tests(tests, setup, teardown) \
	cmocka_run(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
	cmocka_run_group_tests(tests, setup, teardown)

#endif
