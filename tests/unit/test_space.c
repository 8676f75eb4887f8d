/* SPDX-License-Identifier: MIT */
/* Address spaces: a new mapping cuts what it overlaps, wherever it lies; children share their parent's
 * until one of them changes; exec begins anew. Compared with a map of single bytes. */
#include "bytes.h"
#include "test.h"

#include "symbols/space.h"

#define SPACE 64

static uint64_t seed = 88172645463325252u;

/* Modules are told apart by number here. */
static uint32_t number_of(const struct mapping *mapping)
{
	return (uint32_t)(uintptr_t)mapping->module;
}

static void map(struct spaces *spaces, struct space_process *process, uint64_t start, uint64_t end,
		uint64_t offset, uint32_t module)
{
	struct mapping mapping = {start, end, offset, (struct module *)(uintptr_t)module, false};

	assert_int_equal(space_map(spaces, process, &mapping), 0);
}

/* All mappings as text: "start-end@offset:module ...". */
static void expect(const struct space_process *process, const char *wanted)
{
	char text[512] = "";
	size_t i, at = 0;

	for (i = 0; process->view.mappings && i < process->view.mappings->count; i++) {
		const struct mapping *m = &process->view.mappings->items[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%llu-%llu@%llu:%u",
				       i ? " " : "", (unsigned long long)m->start,
				       (unsigned long long)m->end, (unsigned long long)m->offset,
				       number_of(m));
	}
	assert_string_equal(text, wanted);
}

static void test_overlaps(void **state)
{
	static const struct {
		uint64_t start, end;
		const char *wanted;
	} rows[] = {
		{120, 180, "100-120@1000:1 120-180@0:9 180-200@1080:1 300-400@2000:2"},	   /* inside */
		{100, 200, "100-200@0:9 300-400@2000:2"},				   /* exact */
		{50, 250, "50-250@0:9 300-400@2000:2"},					   /* over */
		{50, 150, "50-150@0:9 150-200@1050:1 300-400@2000:2"},			   /* left */
		{150, 250, "100-150@1000:1 150-250@0:9 300-400@2000:2"},		   /* right */
		{100, 150, "100-150@0:9 150-200@1050:1 300-400@2000:2"},		   /* its beginning */
		{150, 200, "100-150@1000:1 150-200@0:9 300-400@2000:2"},		   /* its end */
		{150, 350, "100-150@1000:1 150-350@0:9 350-400@2050:2"},		   /* of two */
		{50, 450, "50-450@0:9"},						   /* both */
		{200, 300, "100-200@1000:1 200-300@0:9 300-400@2000:2"},		   /* between */
		{0, 100, "0-100@0:9 100-200@1000:1 300-400@2000:2"},			   /* in front */
		{400, 500, "100-200@1000:1 300-400@2000:2 400-500@0:9"},		   /* behind */
		{150, 150, "100-200@1000:1 300-400@2000:2"},				   /* empty */
		{180, 120, "100-200@1000:1 300-400@2000:2"},				   /* the wrong way round */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spaces spaces;
		struct space_process *process;
		uint32_t generation;

		memset(&spaces, 0, sizeof(spaces));
		process = spaces_get(&spaces, 7);
		map(&spaces, process, 300, 400, 2000, 2);
		map(&spaces, process, 100, 200, 1000, 1);
		generation = process->view.generation;
		map(&spaces, process, rows[i].start, rows[i].end, 0, 9);
		expect(process, rows[i].wanted);
		assert_int_equal(process->view.generation != generation, rows[i].start < rows[i].end);
		spaces_free(&spaces);
	}
}

static void test_find(void **state)
{
	struct spaces spaces;
	struct space_process *process;

	(void)state;
	memset(&spaces, 0, sizeof(spaces));
	process = spaces_get(&spaces, 7);
	assert_null(space_find(&process->view, 0));
	map(&spaces, process, 100, 200, 0, 1);
	map(&spaces, process, UINT64_MAX - 9, UINT64_MAX, 0, 2);
	assert_null(space_find(&process->view, 99));
	assert_int_equal(number_of(space_find(&process->view, 100)), 1);
	assert_int_equal(number_of(space_find(&process->view, 199)), 1);
	assert_null(space_find(&process->view, 200));
	assert_int_equal(number_of(space_find(&process->view, UINT64_MAX - 1)), 2);
	assert_null(space_find(&process->view, UINT64_MAX));
	spaces_free(&spaces);
}

/* Thousands of mappings on few bytes, against what each byte should say. */
static void test_against_single_bytes(void **state)
{
	struct {
		uint32_t module;
		uint64_t offset;
	} bytes[SPACE];
	struct spaces spaces;
	struct space_process *process;
	uint32_t i, k;

	(void)state;
	memset(&spaces, 0, sizeof(spaces));
	memset(bytes, 0, sizeof(bytes));
	process = spaces_get(&spaces, 1);
	for (i = 1; i < 5000; i++) {
		uint32_t start = random_below(&seed, SPACE), end = start + 1 + random_below(&seed, SPACE - start);
		uint64_t offset = random_below(&seed, 1000);

		if (i % 500 == 0) {
			space_exec(&spaces, process);
			space_run(&spaces, process);
			memset(bytes, 0, sizeof(bytes));
		}
		map(&spaces, process, start, end, offset, i);
		for (k = start; k < end; k++) {
			bytes[k].module = i;
			bytes[k].offset = offset + k - start;
		}
		for (k = 0; k < SPACE; k++) {
			const struct mapping *m = space_find(&process->view, k);

			assert_int_equal(m ? number_of(m) : 0, bytes[k].module);
			assert_true(!m || m->offset + k - m->start == bytes[k].offset);
		}
	}
	spaces_free(&spaces);
}

/* ---- processes --------------------------------------------------------------------------------------- */

static void test_fork(void **state)
{
	struct spaces spaces;
	struct space_process *parent, *child, *second;
	uint32_t generation;

	(void)state;
	memset(&spaces, 0, sizeof(spaces));
	parent = spaces_get(&spaces, 1);
	child = spaces_get(&spaces, 2);
	second = spaces_get(&spaces, 3);
	map(&spaces, child, 7, 9, 0, 5); /* of an earlier process of that number */
	map(&spaces, parent, 100, 200, 0, 1);
	generation = child->view.generation;
	assert_int_equal(space_fork(&spaces, parent, child), 0);
	assert_int_equal(space_fork(&spaces, child, second), 0);
	assert_true(child->view.generation != generation);
	assert_ptr_equal(parent->view.mappings, child->view.mappings); /* shared, until one changes */
	assert_ptr_equal(parent->view.mappings, second->view.mappings);
	map(&spaces, child, 150, 160, 0, 2);
	expect(parent, "100-200@0:1");
	expect(child, "100-150@0:1 150-160@0:2 160-200@60:1");
	expect(second, "100-200@0:1");
	map(&spaces, parent, 300, 400, 0, 3);
	expect(parent, "100-200@0:1 300-400@0:3");
	expect(second, "100-200@0:1");
	space_exec(&spaces, second);
	expect(second, "");
	map(&spaces, second, 1, 2, 0, 4);
	expect(second, "1-2@0:4");
	assert_int_equal(space_fork(&spaces, parent, parent), 0); /* changes nothing */
	expect(parent, "100-200@0:1 300-400@0:3");
	space_exec(&spaces, parent);
	assert_int_equal(number_of(space_find(&parent->view, 350)), 3); /* of the program that called exec */
	map(&spaces, parent, 300, 360, 0, 6);
	assert_int_equal(number_of(space_find(&parent->view, 350)), 6);
	assert_int_equal(number_of(space_find(&parent->view, 370)), 3);
	space_run(&spaces, parent);
	assert_null(space_find(&parent->view, 370));
	space_exec(&spaces, parent);
	assert_int_equal(space_fork(&spaces, parent, child), 0); /* of one that has nothing */
	expect(child, "");
	spaces_free(&spaces);
}

static void test_names_of_threads(void **state)
{
	struct spaces spaces;
	struct space_process *parent, *child;

	(void)state;
	memset(&spaces, 0, sizeof(spaces));
	parent = spaces_get(&spaces, 1);
	assert_null(space_comm(parent, 1));
	assert_int_equal(space_set_comm(parent, 1, "one"), 0);
	assert_int_equal(space_set_comm(parent, 5, "five"), 0);
	assert_int_equal(space_set_comm(parent, 1, "first"), 0);
	assert_string_equal(space_comm(parent, 1), "first");
	assert_string_equal(space_comm(parent, 5), "five");
	assert_null(space_comm(parent, 6));
	child = spaces_get(&spaces, 2);
	assert_int_equal(space_set_comm(child, 2, "old"), 0);
	assert_int_equal(space_fork(&spaces, parent, child), 0);
	assert_null(space_comm(child, 2)); /* of an earlier process of that number */
	spaces_free(&spaces);
}

static void test_many_processes(void **state)
{
	struct spaces spaces;
	int32_t i;

	(void)state;
	memset(&spaces, 0, sizeof(spaces));
	assert_null(spaces_find(&spaces, 1));
	for (i = -5; i < 5000; i++)
		map(&spaces, spaces_get(&spaces, i), 1, 2, 0, (uint32_t)(i + 10));
	for (i = -5; i < 5000; i++) {
		struct space_process *process = spaces_find(&spaces, i);

		assert_non_null(process);
		assert_int_equal(process->pid, i);
		assert_ptr_equal(spaces_get(&spaces, i), process);
		assert_int_equal(number_of(space_find(&process->view, 1)), i + 10);
	}
	assert_null(spaces_find(&spaces, 5000));
	assert_int_equal(spaces.process_count, 5005);
	spaces_free(&spaces);
	spaces_free(&spaces);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_overlaps),
	cmocka_unit_test(test_find),
	cmocka_unit_test(test_against_single_bytes),
	cmocka_unit_test(test_fork),
	cmocka_unit_test(test_names_of_threads),
	cmocka_unit_test(test_many_processes),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
