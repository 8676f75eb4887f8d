/* SPDX-License-Identifier: MIT */
/* Counters on this kernel's software events. */
#include "../unit/test.h"

#include <sys/mman.h>

static struct perfev_error err;

#define PAGES 1000

/* A sanitizer looks at memory of its own for each access, whose first touch would be a fault too. */
__attribute__((no_sanitize("address"))) static void touch_pages(unsigned char *memory)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		memory[i * 4096] = 1;
}

/* Each first touch of a page is one minor fault. */
static void test_page_faults_are_exact(void **state)
{
	struct perfev_event *event;
	struct perfev_counter *counter;
	struct perfev_reading reading;
	unsigned char *memory;

	(void)state;
	memory = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise(memory, PAGES * 4096, MADV_NOHUGEPAGE);
	assert_works(perfev_event_parse(&event, "minor-faults:u", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	assert_works(perfev_counter_start(counter, &err));
	touch_pages(memory);
	assert_works(perfev_counter_stop(counter, &err));
	assert_works(perfev_counter_read(counter, &reading, &err));
	assert_int_equal(reading.status, PERFEV_COUNTED);
	assert_int_equal(reading.count, PAGES);
	perfev_counter_close(counter);
	perfev_event_free(event);
	munmap(memory, PAGES * 4096);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_page_faults_are_exact),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
