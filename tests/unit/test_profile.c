/* SPDX-License-Identifier: MIT */
/* Profiles: trees and tables whose sums agree, recursion counted once, nameless places; folded stacks; and
 * the page, whose payload is decoded here by the description in viewer/FORMAT.md. */
#include "test.h"

#include <errno.h>

static struct perfev_error err;
static struct perfev_profile *profile;
static uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

static uint32_t random_below(uint32_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % limit);
}

static int setup(void **state)
{
	(void)state;
	return perfev_profile_new(&profile, &err);
}

static int teardown(void **state)
{
	(void)state;
	perfev_profile_free(profile);
	return 0;
}

static uint32_t frame(const char *symbol, const char *module, uint64_t address, uint32_t kind)
{
	struct perfev_profile_frame f = {symbol, module, address, kind, 0};
	uint32_t number;

	assert_works(perfev_profile_intern(profile, &number, &f, &err));
	return number;
}

static void add(uint32_t event, uint32_t comm, uint64_t weight, size_t count, const uint32_t *frames)
{
	struct perfev_profile_stack stack = {frames, count, weight, event, comm};

	assert_works(perfev_profile_add(profile, &stack, &err));
}

/* ---- what is written ------------------------------------------------------------------------------------ */

struct text {
	char *data;
	size_t size, room;
	int result;
};

static int collect(void *context, const void *data, size_t size)
{
	struct text *text = context;

	if (text->result < 0)
		return text->result;
	if (text->size + size + 1 > text->room) {
		text->room = (text->size + size + 1) * 2;
		text->data = realloc(text->data, text->room);
		assert_non_null(text->data);
	}
	memcpy(text->data + text->size, data, size);
	text->size += size;
	text->data[text->size] = 0;
	return 0;
}

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

/* ---- many at once -------------------------------------------------------------------------------------------- */

#define MANY	1000
#define DEEPEST 12

/* Frames and events have the same numbers in both. */
static void same_numbers(struct perfev_profile *other, uint32_t *frames, uint32_t *comms)
{
	struct perfev_profile_frame f = {NULL, "m", 0, PERFEV_KIND_USER, 0};
	struct perfev_profile *both[2] = {profile, other};
	char name[8];
	uint32_t i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < 40; i++) {
			snprintf(name, sizeof(name), "f%u", i);
			f = (struct perfev_profile_frame){i % 5 ? name : NULL, i % 3 ? "m" : "/lib/n.so", i, PERFEV_KIND_USER, 0};
			assert_works(perfev_profile_intern(both[k], &frames[i], &f, &err));
		}
		for (i = 0; i < 4; i++) {
			f = (struct perfev_profile_frame){name, "", 0, PERFEV_KIND_COMM, 0};
			snprintf(name, sizeof(name), "c%u", i);
			assert_works(perfev_profile_intern(both[k], &comms[i], &f, &err));
		}
		assert_int_equal(perfev_profile_event(both[k], "a", &err), 0);
		assert_int_equal(perfev_profile_event(both[k], "b", &err), 1);
	}
}

static void expect_same_functions(const struct perfev_profile *other)
{
	struct perfev_function *mine, *its;
	size_t count, other_count, i;

	assert_works(perfev_profile_functions(profile, -1, &mine, &count, &err));
	assert_works(perfev_profile_functions(other, -1, &its, &other_count, &err));
	assert_int_equal(count, other_count);
	for (i = 0; i < count; i++) {
		assert_int_equal(mine[i].frame, its[i].frame);
		assert_int_equal(mine[i].self, its[i].self);
		assert_int_equal(mine[i].total, its[i].total);
		assert_int_equal(mine[i].self_weight, its[i].self_weight);
		assert_int_equal(mine[i].total_weight, its[i].total_weight);
	}
	free(mine);
	free(its);
}

static void expect_same(const struct perfev_profile *other)
{
	struct perfev_profile_node *a, *b;
	size_t a_count, b_count;

	assert_works(perfev_profile_nodes(profile, &a, &a_count, &err));
	assert_works(perfev_profile_nodes(other, &b, &b_count, &err));
	assert_int_equal(a_count, b_count);
	assert_memory_equal(a, b, a_count * sizeof(*a)); /* their numbers too */
	free(a);
	free(b);
	expect_same_functions(other);
}

/* The first ones are those of all, with equal numbers, equal names, and none, among them. */
static void test_top(void **state)
{
	static const size_t limits[] = {0, 1, 2, 7, 40, 255, 256, 257, 299, 300, 301, 5000};
	static const char *const names[] = {"x", "y", "z", NULL};
	struct perfev_function *all, *some;
	size_t count, n, total, i, k;

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	for (i = 0; i < 300; i++) {
		uint32_t f = frame(names[i % 4], i % 8 < 4 ? "m" : "n", i, (uint32_t)(i % 3 == 0));

		for (k = random_below(4) + 1; k; k--)
			add(0, UINT32_MAX, 1, 1, &f);
	}
	assert_works(perfev_profile_functions(profile, 0, &all, &count, &err));
	assert_int_equal(count, 300);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		assert_works(perfev_profile_top(profile, 0, limits[i], &some, &n, &total, &err));
		assert_int_equal(total, count);
		assert_int_equal(n, limits[i] < count ? limits[i] : count);
		for (k = 0; k < n; k++) {
			assert_int_equal(some[k].frame, all[k].frame);
			assert_int_equal(some[k].total, all[k].total);
			assert_string_equal(some[k].symbol, all[k].symbol);
		}
		free(some);
	}
	free(all);
	assert_fails(perfev_profile_top(profile, 1, 5, &some, &n, &total, &err), EINVAL);
}

/* Samples that come together are the same as one by one, to the numbers of nodes; and all or none of them are added. */
static void test_all_together(void **state)
{
	static struct perfev_profile_stack stacks[MANY];
	static uint32_t frames[MANY][DEEPEST];
	uint32_t numbers[40], comms[4], bad = 7777;
	struct perfev_profile *other;
	size_t i, k, n;

	(void)state;
	assert_works(perfev_profile_new(&other, &err));
	same_numbers(other, numbers, comms);
	for (i = 0; i < MANY; i++) {
		stacks[i] = (struct perfev_profile_stack){frames[i], random_below(DEEPEST + 1), random_below(100),
							 random_below(8) == 0, random_below(4) ? comms[random_below(4)] : UINT32_MAX};
		for (k = 0; k < stacks[i].count; k++)
			frames[i][k] = numbers[random_below(i < MANY / 2 ? 4 : 40)];
	}
	for (i = 0; i < MANY; i += n) {
		n = random_below(4) ? random_below(100) : random_below(3);
		n = n < MANY - i ? n : MANY - i;
		for (k = 0; k < n; k++)
			assert_works(perfev_profile_add(profile, &stacks[i + k], &err));
		assert_works(perfev_profile_add_all(other, stacks + i, n, &err));
		expect_same(other);
	}
	stacks[50].count = 1;
	stacks[50].frames = &bad;
	assert_fails(perfev_profile_add_all(other, stacks, 100, &err), EINVAL);
	expect_same(other);
	perfev_profile_free(other);
}

/* Without trees functions are the same, recursion included, and there are no nodes but the roots. */
static void test_flat(void **state)
{
	struct perfev_profile_stack stacks[100];
	uint32_t frames[100][DEEPEST], numbers[40], comms[4];
	struct perfev_profile_event_info info;
	struct perfev_profile *other;
	size_t i, k;

	(void)state;
	assert_works(perfev_profile_new(&other, &err));
	same_numbers(other, numbers, comms);
	perfev_profile_set_flat(other);
	for (i = 0; i < 100; i++) {
		stacks[i] = (struct perfev_profile_stack){frames[i], random_below(DEEPEST + 1), random_below(100),
							 random_below(8) == 0, random_below(4) ? comms[random_below(4)] : UINT32_MAX};
		for (k = 0; k < stacks[i].count; k++)
			frames[i][k] = numbers[random_below(i < 50 ? 4 : 40)];
	}
	assert_works(perfev_profile_add_all(profile, stacks, 100, &err));
	assert_works(perfev_profile_add_all(other, stacks, 100, &err));
	assert_true(perfev_profile_node_count(profile) > 100);
	assert_int_equal(perfev_profile_node_count(other), perfev_profile_event_count(other));
	assert_true(perfev_profile_event_at(other, 0, &info));
	assert_true(info.samples > 50);
	expect_same_functions(other);
	perfev_profile_free(other);
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

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static uint64_t folded_sum(int event)
{
	struct text text = {NULL, 0, 0, 0};
	struct perfev_sink sink = {collect, &text};
	uint64_t sum = 0;
	char *line, *before = NULL;

	assert_works(perfev_profile_write_folded(profile, event, &sink, &err));
	for (line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(!before || strcmp(before, line) < 0);
		sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
		before = line;
	}
	free(text.data);
	return sum;
}

/* Random stacks: trees, tables, folded lines and events agree on every sum. */
static void test_sums(void **state)
{
	uint64_t samples[3] = {0}, weights[3] = {0}, self[3] = {0}, self_weight[3] = {0};
	struct perfev_profile_event_info info;
	struct perfev_profile_node *nodes;
	uint32_t frames[40], stack[12], comm[3];
	size_t count, i;
	char name[16];

	(void)state;
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "event %zu", i);
		assert_int_equal(perfev_profile_event(profile, name, &err), i);
		comm[i] = frame(name, "", 0, PERFEV_KIND_COMM);
	}
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "f%zu", i % 30);
		frames[i] = frame(i % 7 ? name : NULL, i % 3 ? "m" : "n", i, i % 2);
	}
	for (i = 0; i < 20000; i++) {
		uint32_t event = random_below(3), depth = random_below(12), k;
		uint64_t weight = random_below(1000);

		for (k = 0; k < depth; k++)
			stack[k] = frames[random_below(40)];
		add(event, random_below(4) ? comm[random_below(3)] : UINT32_MAX, weight, depth, stack);
		samples[event]++;
		weights[event] += weight;
	}
	assert_works(perfev_profile_nodes(profile, &nodes, &count, &err));
	assert_int_equal(count, perfev_profile_node_count(profile));
	for (i = 0; i < count; i++) {
		assert_true(nodes[i].parent < i || nodes[i].frame == UINT32_MAX);
		assert_int_equal(nodes[i].event, nodes[nodes[i].parent].event);
		self[nodes[i].event] += nodes[i].self;
		self_weight[nodes[i].event] += nodes[i].self_weight;
	}
	for (i = 0; i < 3; i++) {
		assert_true(perfev_profile_event_at(profile, i, &info));
		assert_int_equal(info.samples, samples[i]);
		assert_int_equal(info.weight, weights[i]);
		assert_int_equal(nodes[info.root].total, samples[i]);
		assert_int_equal(nodes[info.root].total_weight, weights[i]);
		assert_int_equal(self[i], samples[i]);
		assert_int_equal(self_weight[i], weights[i]);
		assert_int_equal(folded_sum((int)i), samples[i]);
	}
	assert_int_equal(folded_sum(-1), 20000);
	assert_false(perfev_profile_event_at(profile, 3, &info));
	free(nodes);
}

/* The table, against counting by hand. */
static void test_table(void **state)
{
	uint64_t self[10] = {0}, total[10] = {0}, total_weight[10] = {0};
	struct perfev_function *f;
	uint32_t frames[10], stack[6], i, k;
	size_t count, n;
	char name[8];

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		frames[i] = frame(name, "m", i, 0);
	}
	for (i = 0; i < 5000; i++) {
		uint32_t depth = 1 + random_below(5);
		unsigned seen = 0;

		for (k = 0; k < depth; k++) {
			uint32_t which = random_below(10);

			stack[k] = frames[which];
			if (!(seen >> which & 1)) {
				total[which]++;
				total_weight[which] += i;
			}
			seen |= 1u << which;
			self[which] += k == 0;
		}
		add(0, UINT32_MAX, i, depth, stack);
	}
	assert_works(perfev_profile_functions(profile, 0, &f, &count, &err));
	assert_int_equal(count, 10);
	for (n = 0; n < count; n++) {
		i = (uint32_t)(f[n].symbol[1] - '0');
		assert_int_equal(f[n].frame, frames[i]);
		assert_int_equal(f[n].self, self[i]);
		assert_int_equal(f[n].total, total[i]);
		assert_int_equal(f[n].total_weight, total_weight[i]);
		assert_true(n == 0 || f[n].self <= f[n - 1].self);
	}
	free(f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_tree, setup, teardown),
	cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
	cmocka_unit_test_setup_teardown(test_recursion, setup, teardown),
	cmocka_unit_test_setup_teardown(test_nameless, setup, teardown),
	cmocka_unit_test_setup_teardown(test_frames, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wrong_numbers, setup, teardown),
	cmocka_unit_test_setup_teardown(test_top, setup, teardown),
	cmocka_unit_test_setup_teardown(test_all_together, setup, teardown),
	cmocka_unit_test_setup_teardown(test_flat, setup, teardown),
	cmocka_unit_test_setup_teardown(test_folded_names, setup, teardown),
	cmocka_unit_test_setup_teardown(test_folded_order, setup, teardown),
	cmocka_unit_test_setup_teardown(test_sinks_that_fail, setup, teardown),
	cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
	cmocka_unit_test_setup_teardown(test_table, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
