/* SPDX-License-Identifier: MIT */
/* What every test program includes: cmocka, and skips that say what is missing. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include <perfev/perfev.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test as skipped; the reason names what this machine lacks. */
#define SKIP(...)                              \
	do {                                   \
		print_message("SKIPPED: " __VA_ARGS__); \
		print_message("\n");           \
		skip();                        \
	} while (0)

/* A call that must work: prints the error's text when it does not. */
#define assert_works(call)                                                     \
	do {                                                                   \
		int works_ = (call);                                           \
		if (works_ < 0)                                                \
			fail_msg("%s: %d: %s", #call, works_, err.text);       \
	} while (0)

/* A call that must fail with this errno. */
#define assert_fails(call, errno_) assert_int_equal((call), -(errno_))

/* The error's text has this part. */
#define assert_says(part)                                                      \
	do {                                                                   \
		if (!strstr(err.text, (part)))                                 \
			fail_msg("'%s' is not in: %s", (part), err.text);      \
	} while (0)

#endif
