/* SPDX-License-Identifier: MIT */
/*
 * The raw layer on this kernel: rings, of one event and of several, paused, mapped and counted as locked memory. Whatever this
 * user or machine lacks is a skip that names it.
 */
#include "raw.h"

#include <sys/utsname.h>

/* ---- SET_OUTPUT, PAUSE_OUTPUT ---------------------------------------------------------------- */

/* 32 bits on a kernel of 64. */
static bool narrow_program(void)
{
	struct utsname names;
	unsigned abi;

	assert_int_equal(uname(&names), 0);
	perfev_arch_of(names.machine, &abi);
	return sizeof(long) == 4 && abi == PERF_SAMPLE_REGS_ABI_64;
}

static void test_one_ring_for_two(void **state)
{
	struct perf_event_mmap_page *page;
	int ring = open_on_self(faults(1), -1), other = open_on_self(faults(1), -1);

	(void)state;
	assert_fails(perfev_raw_set_output(other, ring), EINVAL); /* it has no ring yet */
	assert_int_equal(perfev_raw_mmap(&page, ring, 8 * PAGE, true), 0);
	assert_int_equal(perfev_raw_set_output(other, ring), 0);
	perfev_raw_enable(other, 0);
	touch_pages(10);
	assert_in_range(drain(page).samples, 10, SOME);
	if (narrow_program()) {
		assert_fails(perfev_raw_set_output(other, -1), EBADF);
	} else {
		assert_int_equal(perfev_raw_set_output(other, -1), 0);
		drain(page);
		touch_pages(10);
		assert_int_equal(drain(page).samples, 0);
	}
	perfev_raw_disable(other, 0);
	assert_fails(perfev_raw_set_output(ring, ring), EINVAL);
	assert_fails(perfev_raw_set_output(other, STDIN_FILENO), EBADF);
	assert_fails(perfev_raw_set_output(other, 1000000), EBADF);
	assert_int_equal(perfev_raw_set_output(other, ring), 0);
	assert_fails(perfev_raw_set_output(ring, other), EINVAL); /* it has a ring of its own */
	perfev_raw_munmap(page, 8 * PAGE);
	perfev_raw_close(other);
	perfev_raw_close(ring);
}

static void test_pause(void **state)
{
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr = faults(1);
	struct tally tally;
	int fd = open_on_self(attr, -1), bare = open_on_self(attr, -1);

	(void)state;
	assert_fails(perfev_raw_pause_output(bare, 1), EINVAL); /* no ring */
	assert_int_equal(perfev_raw_mmap(&page, fd, 8 * PAGE, true), 0);
	perfev_raw_enable(fd, 0);
	touch_pages(10);
	assert_int_equal(perfev_raw_pause_output(fd, 1), 0);
	touch_pages(20);
	assert_int_equal(perfev_raw_pause_output(fd, 0), 0);
	touch_pages(5);
	perfev_raw_disable(fd, 0);
	tally = drain(page);
	assert_in_range(tally.samples, 15, SOME);
	assert_int_equal(tally.lost, 1);
	assert_true(count_of(fd) >= tally.samples + 20);
	perfev_raw_munmap(page, 8 * PAGE);
	perfev_raw_close(fd);
	perfev_raw_close(bare);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void test_mappings(void **state)
{
	struct perf_event_attr attr = faults(1);
	struct perf_event_mmap_page *page, *same;
	size_t before = count_mappings("perf_event");
	void *aux;
	int fd = open_on_self(attr, -1);

	(void)state;
	assert_fails(perfev_raw_mmap(&page, fd, 3 * PAGE, true), EINVAL);
	assert_fails(perfev_raw_mmap(&page, fd, SIZE_MAX, true), EINVAL);
	assert_int_equal(perfev_raw_mmap(&page, fd, 4 * PAGE, true), 0);
	assert_int_equal(page->data_offset, PAGE);
	assert_int_equal(page->data_size, 4 * PAGE);
	assert_int_equal(page->version, 0);
	assert_fails(perfev_raw_mmap(&same, fd, 8 * PAGE, true), EINVAL); /* of another size */
	assert_int_equal(perfev_raw_mmap(&same, fd, 4 * PAGE, true), 0);
	assert_int_equal(perfev_raw_munmap(same, 4 * PAGE), 0);
	assert_int_equal(perfev_raw_mmap_aux(&aux, fd, page, PAGE, true), -EOPNOTSUPP);
	assert_int_equal(page->aux_offset, 5 * PAGE);
	assert_int_equal(perfev_raw_munmap(page, 4 * PAGE), 0);
	perfev_raw_close(fd);
	fd = open_on_self(attr, -1);
	assert_int_equal(perfev_raw_mmap(&page, fd, 0, true), 0); /* the page alone */
	assert_fails(perfev_raw_mmap_aux(&aux, fd, page, PAGE, true), EINVAL);
	assert_int_equal(perfev_raw_munmap(page, 0), 0);
	perfev_raw_close(fd);
	attr.inherit = 1;
	fd = open_on_self(attr, -1);
	assert_fails(perfev_raw_mmap(&page, fd, PAGE, true), EINVAL);
	perfev_raw_close(fd);
	assert_int_equal(count_mappings("perf_event"), before);
}

static int map_much(int fd)
{
	struct perf_event_mmap_page *page;

	return perfev_raw_mmap(&page, fd, (size_t)64 << 20, true);
}

static void test_locked_memory(void **state)
{
	int fd = open_on_self(faults(1), -1);
	struct perfev_system system;

	(void)state;
	perfev_system_read(&system);
	if (system.paranoid == -1)
		SKIP("perf_event_paranoid is -1: rings have no limit");
	assert_int_equal(as_nobody(map_much, fd), -EPERM);
	perfev_raw_close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_ring_for_two),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_locked_memory),
	};

	alarm(60); /* a kernel that hangs ends the program, not the run */
	return cmocka_run_group_tests_name("raw_rings", tests, NULL, NULL);
}
