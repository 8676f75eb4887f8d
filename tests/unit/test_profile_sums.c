/* SPDX-License-Identifier: MIT */
/* Profiles of many stacks: trees, tables and folded lines agree on every sum, in whatever pieces stacks are added. */
#include "bytes.h"
#include "profiles.h"

#include <errno.h>

static uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

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

		for (k = random_below(&seed, 4) + 1; k; k--)
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
		stacks[i] = (struct perfev_profile_stack){frames[i], random_below(&seed, DEEPEST + 1), random_below(&seed, 100),
							 random_below(&seed, 8) == 0, random_below(&seed, 4) ? comms[random_below(&seed, 4)] : UINT32_MAX};
		for (k = 0; k < stacks[i].count; k++)
			frames[i][k] = numbers[random_below(&seed, i < MANY / 2 ? 4 : 40)];
	}
	for (i = 0; i < MANY; i += n) {
		n = random_below(&seed, 4) ? random_below(&seed, 100) : random_below(&seed, 3);
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
		stacks[i] = (struct perfev_profile_stack){frames[i], random_below(&seed, DEEPEST + 1), random_below(&seed, 100),
							 random_below(&seed, 8) == 0, random_below(&seed, 4) ? comms[random_below(&seed, 4)] : UINT32_MAX};
		for (k = 0; k < stacks[i].count; k++)
			frames[i][k] = numbers[random_below(&seed, i < 50 ? 4 : 40)];
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
		uint32_t event = random_below(&seed, 3), depth = random_below(&seed, 12), k;
		uint64_t weight = random_below(&seed, 1000);

		for (k = 0; k < depth; k++)
			stack[k] = frames[random_below(&seed, 40)];
		add(event, random_below(&seed, 4) ? comm[random_below(&seed, 3)] : UINT32_MAX, weight, depth, stack);
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
		uint32_t depth = 1 + random_below(&seed, 5);
		unsigned seen = 0;

		for (k = 0; k < depth; k++) {
			uint32_t which = random_below(&seed, 10);

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
	cmocka_unit_test_setup_teardown(test_top, setup, teardown),
	cmocka_unit_test_setup_teardown(test_all_together, setup, teardown),
	cmocka_unit_test_setup_teardown(test_flat, setup, teardown),
	cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
	cmocka_unit_test_setup_teardown(test_table, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
