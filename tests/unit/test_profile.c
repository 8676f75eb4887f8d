/* SPDX-License-Identifier: MIT */
/* Profiles: trees, recursion counted once, nameless places; folded stacks; sinks that fail. */
#include "profiles.h"

#include <errno.h>

static void expect_folded(int event, const char *wanted)
{
	struct text text = {NULL, 0, 0, 0};
	struct perfev_sink sink = {collect, &text};

	assert_works(perfev_profile_write_folded(profile, event, &sink, &err));
	assert_string_equal(text.data ? text.data : "", wanted);
	free(text.data);
}

/* ---- trees ------------------------------------------------------------------------------------------------- */

static void test_tree(void **state)
{
	struct perfev_profile_node *nodes;
	struct perfev_function *f;
	uint32_t comm, main_, a, b, stack[3];
	size_t count;

	(void)state;
	assert_int_equal(perfev_profile_event(profile, "cycles", &err), 0);
	comm = frame("prog", "", 0, PERFEV_KIND_COMM);
	main_ = frame("main", "/bin/prog", 1, PERFEV_KIND_USER);
	a = frame("a", "/bin/prog", 2, PERFEV_KIND_USER);
	b = frame("b", "[kernel.kallsyms]", 3, PERFEV_KIND_KERNEL);
	stack[0] = a;
	stack[1] = main_;
	add(0, comm, 10, 2, stack);
	add(0, comm, 5, 2, stack);
	stack[0] = b;
	stack[1] = a;
	stack[2] = main_;
	add(0, comm, 100, 3, stack);
	assert_works(perfev_profile_nodes(profile, &nodes, &count, &err));
	assert_int_equal(count, 5); /* root, comm, main, a, b */
	assert_int_equal(nodes[0].frame, UINT32_MAX);
	assert_int_equal(nodes[0].parent, 0);
	assert_int_equal(nodes[0].total, 3);
	assert_int_equal(nodes[0].total_weight, 115);
	assert_int_equal(nodes[3].frame, a);
	assert_int_equal(nodes[3].self, 2);
	assert_int_equal(nodes[3].self_weight, 15);
	assert_int_equal(nodes[3].total, 3);
	assert_int_equal(nodes[4].parent, 3);
	free(nodes);
	expect_folded(0, "prog;main;a 2\nprog;main;a;b 1\n");
	assert_works(perfev_profile_functions(profile, 0, &f, &count, &err));
	assert_int_equal(count, 3); /* the comm is no function */
	assert_string_equal(f[0].symbol, "a");
	assert_int_equal(f[0].self, 2);
	assert_int_equal(f[0].total, 3);
	assert_string_equal(f[1].symbol, "b");
	assert_int_equal(f[1].self_weight, 100);
	assert_int_equal(f[1].kind, PERFEV_KIND_KERNEL);
	assert_string_equal(f[2].symbol, "main");
	assert_int_equal(f[2].total_weight, 115);
	free(f);
}

static void test_recursion(void **state)
{
	struct perfev_function *f;
	uint32_t a, b, stack[6];
	size_t count;

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	a = frame("a", "m", 1, 0);
	b = frame("b", "m", 2, 0);
	stack[0] = stack[2] = stack[4] = stack[5] = a;
	stack[1] = stack[3] = b;
	add(0, UINT32_MAX, 7, 6, stack);
	add(0, UINT32_MAX, 7, 6, stack);
	assert_works(perfev_profile_functions(profile, -1, &f, &count, &err));
	assert_int_equal(count, 2);
	assert_int_equal(f[0].total, 2);
	assert_int_equal(f[0].total_weight, 14);
	assert_int_equal(f[0].self, 2);
	assert_int_equal(f[1].total, 2);
	assert_int_equal(f[1].self, 0);
	free(f);
	expect_folded(-1, "a;a;b;a;b;a 2\n");
}

#define DEEP 60000

/* As many calls in each other as a stack may have: nothing that walks trees calls itself for each. */
static void test_deep(void **state)
{
	struct perfev_profile_html_opts opts = {.size = sizeof(opts)};
	uint32_t *stack = calloc(DEEP, sizeof(*stack)), i;
	struct text text = {NULL, 0, 0, 0}, page = {NULL, 0, 0, 0};
	struct perfev_sink sink = {collect, &text}, to_page = {collect, &page};
	struct perfev_profile_node *nodes;
	size_t count;

	(void)state;
	assert_non_null(stack);
	perfev_profile_event(profile, "cycles", &err);
	for (i = 0; i < DEEP; i++)
		stack[i] = frame(i % 2 ? "a" : "b", "m", i % 2, 0);
	add(0, UINT32_MAX, 1, DEEP, stack);
	add(0, UINT32_MAX, 1, DEEP - 1, stack + 1);
	assert_works(perfev_profile_nodes(profile, &nodes, &count, &err));
	assert_int_equal(count, DEEP + 1);
	assert_int_equal(nodes[DEEP].total, 1);
	assert_int_equal(nodes[1].total, 2);
	free(nodes);
	assert_works(perfev_profile_write_folded(profile, 0, &sink, &err));
	assert_int_equal(text.size, 2 * DEEP + 2 + 2 * (DEEP - 1) + 2);
	assert_works(perfev_profile_write_html(profile, &opts, &to_page, &err));
	assert_true(page.size > DEEP);
	free(page.data);
	free(text.data);
	free(stack);
}

/* Places without a name are one node of their module in trees, and rows of their own in tables. */
static void test_nameless(void **state)
{
	struct perfev_profile_frame back;
	struct perfev_function *f;
	uint32_t one, two, top, other;
	size_t count;

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	one = frame(NULL, "/usr/lib/libx.so", 0x10, 0);
	two = frame(NULL, "/usr/lib/libx.so", 0x20, 0);
	top = frame(NULL, "/usr/lib/libx.so", UINT64_MAX, 0);
	other = frame(NULL, "[kernel.kallsyms]", 0x10, PERFEV_KIND_KERNEL);
	assert_int_not_equal(one, two);
	assert_int_equal(frame(NULL, "/usr/lib/libx.so", 0x10, 0), one);
	assert_string_equal(perfev_profile_label(profile, one), "[libx.so]");
	assert_string_equal(perfev_profile_label(profile, other), "[kernel.kallsyms]");
	assert_string_equal(perfev_profile_label(profile, frame(NULL, "", 1, 0)), "[unknown]");
	assert_string_equal(perfev_profile_label(profile, frame(NULL, "/a/", 1, 0)), "[unknown]");
	assert_true(perfev_profile_frame_at(profile, one, &back));
	assert_null(back.symbol);
	assert_int_equal(back.address, 0x10);
	assert_false(perfev_profile_frame_at(profile, 9999, &back));
	assert_null(perfev_profile_label(profile, 9999));
	add(0, UINT32_MAX, 1, 1, &one);
	add(0, UINT32_MAX, 1, 1, &two);
	add(0, UINT32_MAX, 1, 1, &two);
	add(0, UINT32_MAX, 1, 1, &other);
	expect_folded(0, "[kernel.kallsyms] 1\n[libx.so] 3\n");
	assert_int_equal(perfev_profile_node_count(profile), 3); /* with the root */
	assert_works(perfev_profile_functions(profile, 0, &f, &count, &err));
	assert_int_equal(count, 3);
	assert_string_equal(f[0].symbol, "0x0000000000000020");
	assert_int_equal(f[0].self, 2);
	assert_string_equal(f[1].symbol, "0x0000000000000010");
	assert_string_equal(f[2].symbol, "0x0000000000000010");
	free(f);
	(void)top;
}

/* Frames are the same when all of them is. */
static void test_frames(void **state)
{
	uint32_t a = frame("f", "m", 1, 0), i;
	char name[8] = "f";

	(void)state;
	for (i = 2; i < 5000; i++) /* many that differ in one thing only */
		assert_int_equal(frame("f", "m", i, 0), i - 1);
	for (i = 2; i < 5000; i++)
		assert_int_equal(frame("f", "m", i, 0), i - 1);
	assert_int_equal(frame(name, "m", 1, 0), a);
	name[0] = 'x';
	assert_string_equal(perfev_profile_label(profile, a), "f");
	assert_int_not_equal(frame("f", "m", 2, 0), a);
	assert_int_not_equal(frame("f", "n", 1, 0), a);
	assert_int_not_equal(frame("f", "m", 1, PERFEV_KIND_INLINED), a);
	assert_int_not_equal(frame("g", "m", 1, 0), a);
	assert_int_not_equal(frame(NULL, "m", 1, 0), a);
	assert_int_equal(frame("f", NULL, 1, 0), frame("f", "", 1, 0));
}

static void test_wrong_numbers(void **state)
{
	uint32_t a = frame("a", "m", 1, 0), bad = 77;
	struct perfev_profile_stack stack = {&a, 1, 1, 0, UINT32_MAX};
	struct perfev_function *f = NULL;
	struct text text = {NULL, 0, 0, 0};
	struct perfev_sink sink = {collect, &text};
	size_t count;

	(void)state;
	assert_fails(perfev_profile_add(profile, &stack, &err), EINVAL); /* no event yet */
	perfev_profile_event(profile, "cycles", &err);
	assert_works(perfev_profile_add(profile, &stack, &err));
	stack.event = 1;
	assert_fails(perfev_profile_add(profile, &stack, &err), EINVAL);
	stack.event = 0;
	stack.comm = 77;
	assert_fails(perfev_profile_add(profile, &stack, &err), EINVAL);
	stack.comm = UINT32_MAX;
	stack.frames = &bad;
	assert_fails(perfev_profile_add(profile, &stack, &err), EINVAL);
	assert_fails(perfev_profile_functions(profile, 1, &f, &count, &err), EINVAL);
	assert_fails(perfev_profile_write_folded(profile, 1, &sink, &err), EINVAL);
	assert_null(f);
	assert_null(text.data);
	expect_folded(0, "a 1\n"); /* nothing of those that were refused */
}

/* ---- folded -------------------------------------------------------------------------------------------------- */

static void test_folded_names(void **state)
{
	uint32_t frames[3], comm;

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	expect_folded(0, "");
	comm = frame(" my prog ", "", 0, PERFEV_KIND_COMM);
	frames[2] = frame("operator;()", "m", 1, 0);
	frames[1] = frame("f(int, char)\n\x1b[31m", "m", 2, 0);
	frames[0] = frame(" ", "m", 3, 0);
	add(0, comm, 1, 3, frames);
	frames[0] = frame("", "m", 4, 0);
	add(0, comm, 1, 3, frames);
	add(0, UINT32_MAX, 1, 0, NULL);
	add(0, comm, 1, 0, NULL);
	expect_folded(0, "[no stack] 1\n"
			 "_my prog_ 1\n"
			 "_my prog_;operator:();f(int, char)??[31m; 1\n"
			 "_my prog_;operator:();f(int, char)??[31m;_ 1\n");
}

/* Lines are sorted, and functions of one name in two modules are one line. */
static void test_folded_order(void **state)
{
	uint32_t f;

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	perfev_profile_event(profile, "faults", &err);
	f = frame("z", "m", 1, 0);
	add(0, UINT32_MAX, 1, 1, &f);
	f = frame("same", "m", 1, 0);
	add(0, UINT32_MAX, 1, 1, &f);
	f = frame("same", "n", 9, 0);
	add(0, UINT32_MAX, 1, 1, &f);
	add(1, UINT32_MAX, 1, 1, &f);
	f = frame("B", "n", 9, 0);
	add(1, UINT32_MAX, 1, 1, &f);
	expect_folded(0, "same 2\nz 1\n");
	expect_folded(1, "B 1\nsame 1\n");
	expect_folded(-1, "B 1\nsame 3\nz 1\n");
}

static void test_sinks_that_fail(void **state)
{
	struct text text = {NULL, 0, 0, -ENOSPC};
	struct perfev_sink sink = {collect, &text};
	uint32_t f = frame("f", "m", 1, 0);

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	add(0, UINT32_MAX, 1, 1, &f);
	assert_fails(perfev_profile_write_folded(profile, 0, &sink, &err), ENOSPC);
	assert_says("No space");
	assert_fails(perfev_profile_write_html(profile, NULL, &sink, &err), ENOSPC);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_tree, setup, teardown),
	cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
	cmocka_unit_test_setup_teardown(test_recursion, setup, teardown),
	cmocka_unit_test_setup_teardown(test_nameless, setup, teardown),
	cmocka_unit_test_setup_teardown(test_frames, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wrong_numbers, setup, teardown),
	cmocka_unit_test_setup_teardown(test_folded_names, setup, teardown),
	cmocka_unit_test_setup_teardown(test_folded_order, setup, teardown),
	cmocka_unit_test_setup_teardown(test_sinks_that_fail, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
