/* SPDX-License-Identifier: MIT */
/* Groups: opened as one, read by one call, whatever became of their members. */
#include "test.h"

#include "fake/kernel.h"

#include <perfev/group.h>
#include <perfev/raw.h>

static struct perfev_error err;
static struct perfev_event *events[PERFEV_GROUP_MAX + 2];
static size_t event_count;
static struct perfev_group *group;

static void parse(const char *const *texts, size_t count)
{
	fake_reset();
	for (event_count = 0; event_count < count; event_count++)
		assert_works(perfev_event_parse(&events[event_count], texts[event_count], &err));
}

static int open_group(const struct perfev_counter_opts *opts)
{
	return perfev_group_open(&group, (const struct perfev_event *const *)events, event_count,
				 perfev_on_self(), opts, &err);
}

static void done(void)
{
	perfev_group_close(group);
	group = NULL;
	while (event_count)
		perfev_event_free(events[--event_count]);
	assert_int_equal(fake_left(), 0);
}

static const char *const three[] = {"cycles", "instructions", "page-faults"};

static void test_opened_as_one(void **state)
{
	size_t i;

	(void)state;
	parse(three, 3);
	perfev_event_attr(events[1])->sample_period = 5; /* each has options of its own */
	assert_works(open_group(NULL));
	assert_int_equal(perfev_group_count(group), 3);
	assert_int_equal(fake.events[0].group_fd, -1);
	assert_true(fake.events[0].attr.read_format & PERF_FORMAT_GROUP);
	assert_false(fake.events[0].enabled);
	for (i = 1; i < 3; i++) {
		assert_int_equal(fake.events[i].group_fd, fake.events[0].fd);
		assert_false(fake.events[i].attr.read_format & PERF_FORMAT_GROUP);
		assert_true(fake.events[i].enabled); /* as soon as the leader is */
		assert_int_equal(perfev_group_find(group, fake.events[i].id), i);
		assert_null(perfev_group_error(group, i));
	}
	assert_int_equal(fake.events[1].attr.sample_period, 5);
	assert_int_equal(fake.events[2].attr.sample_period, 0);
	assert_int_equal(perfev_group_find(group, 1), -1);
	assert_null(perfev_group_at(group, 3));
	assert_null(perfev_group_error(group, 3));
	done();
}

/* Samples go where the first member's go, also of those that are added when the counter whose ring it is was
 * given up. */
static void test_output_of_another(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts)};
	struct perfev_counter *owner;
	struct perf_event_mmap_page *page;
	int i, fd;

	(void)state;
	parse(three, 3);
	for (i = 0; i < 3; i++)
		perfev_event_attr(events[i])->sample_period = 5;
	assert_works(perfev_counter_open(&owner, events[0], perfev_on_self(), NULL, &err));
	assert_works(perfev_raw_mmap(&page, perfev_counter_fd(owner), FAKE_PAGE, true));
	opts.output = owner;
	assert_works(open_group(&opts));
	fd = perfev_counter_release(owner); /* the counter is no more, and its ring is still there */
	assert_int_equal(perfev_group_add(group, events[2], &err), 3);
	assert_int_equal(fake.events[1].output, fake.events[0].fd);
	for (i = 2; i <= 4; i++)
		assert_int_equal(fake.events[i].output, fake.events[1].fd);
	assert_works(perfev_raw_munmap(page, FAKE_PAGE));
	perfev_raw_close(fd);
	done();
}

/* One call through the leader each; a reset needs the flag. */
static void test_controls(void **state)
{
	int i, told;

	(void)state;
	parse(three, 3);
	assert_works(open_group(NULL));
	told = fake.events[0].told;
	for (i = 0; i < 3; i++)
		fake.events[i].count = 9;
	assert_works(perfev_group_start(group, &err));
	assert_true(fake.events[0].enabled);
	assert_works(perfev_group_stop(group, &err));
	assert_false(fake.events[0].enabled);
	assert_works(perfev_group_reset(group, &err));
	for (i = 0; i < 3; i++)
		assert_int_equal(fake.events[i].count, 0);
	assert_int_equal(fake.events[0].told, told + 3);
	assert_int_equal(fake.events[1].told, 1); /* its id */
	assert_works(perfev_counter_stop(perfev_group_at(group, 1), &err));
	assert_false(fake.events[1].enabled);
	assert_works(perfev_group_start(group, &err));
	assert_false(fake.events[1].enabled); /* who was stopped alone stays so */
	done();
}

static void fill(uint64_t enabled, uint64_t running)
{
	int i;

	for (i = 0; i < fake.event_count; i++) {
		fake.events[i].count = 100 + (uint64_t)i;
		fake.events[i].lost = (uint64_t)i;
	}
	fake_event_of(perfev_counter_fd(perfev_group_at(group, 0)))->enabled_ns = enabled;
	fake_event_of(perfev_counter_fd(perfev_group_at(group, 0)))->running_ns = running;
}

static void test_read(void **state)
{
	struct perfev_reading r[3];
	uint64_t formats[] = {0, PERF_FORMAT_LOST};
	size_t k, i;

	(void)state;
	for (k = 0; k < 2; k++) {
		parse(three, 3);
		perfev_event_attr(events[0])->read_format = formats[k];
		assert_works(open_group(NULL));
		fill(50, 60); /* the two are taken at different moments */
		memset(r, 0xa5, sizeof(r));
		assert_works(perfev_group_read(group, r, 3, &err));
		for (i = 0; i < 3; i++) {
			assert_int_equal(r[i].count, 100 + i);
			assert_int_equal(r[i].enabled_ns, 50);
			assert_int_equal(r[i].running_ns, 50);
			assert_int_equal(r[i].id, fake.events[i].id);
			assert_int_equal(r[i].lost, k ? i : 0);
			assert_int_equal(r[i].status, PERFEV_COUNTED);
		}
		assert_works(perfev_counter_read(perfev_group_at(group, 0), r, &err)); /* alone */
		assert_int_equal(r[0].count, 100);
		assert_int_equal(r[0].lost, 0);
		assert_int_equal(r[0].id, fake.events[0].id);
		assert_works(perfev_counter_read(perfev_group_at(group, 1), r, &err));
		assert_int_equal(r[0].count, 101);
		assert_fails(perfev_group_read(group, r, 2, &err), EINVAL);
		assert_says("the group has 3");
		done();
	}
}

static void test_statuses(void **state)
{
	static const char *const texts[] = {"page-faults:u", "context-switches:u"};
	struct perfev_reading r[2];

	(void)state;
	parse(texts, 2);
	assert_works(open_group(NULL));
	fill(50, 0);
	assert_works(perfev_group_read(group, r, 2, &err));
	assert_int_equal(r[0].status, PERFEV_NOT_COUNTED);
	assert_int_equal(r[0].why, PERFEV_WHY_COUNTERS);
	assert_int_equal(r[1].why, PERFEV_WHY_PARANOID);
	fill(50, 50);
	assert_works(perfev_group_read(group, r, 2, &err));
	assert_int_equal(r[0].status, PERFEV_COUNTED);
	assert_int_equal(r[1].status, PERFEV_NOT_COUNTED);
	fake.events[0].read_result = FAKE_EMPTY; /* pinned, and could not stay */
	memset(r, 0xa5, sizeof(r));
	assert_works(perfev_group_read(group, r, 2, &err));
	assert_int_equal(r[0].status, PERFEV_ERROR_STATE);
	assert_int_equal(r[1].status, PERFEV_ERROR_STATE);
	assert_int_equal(r[1].count, 0);
	assert_works(perfev_counter_read(perfev_group_at(group, 0), r, &err));
	assert_int_equal(r[0].status, PERFEV_ERROR_STATE);
	fake.events[0].read_result = -ENODEV;
	assert_works(perfev_group_read(group, r, 2, &err));
	assert_int_equal(r[1].status, PERFEV_GONE);
	fake.events[0].read_result = -ECHILD;
	assert_fails(perfev_group_read(group, r, 2, &err), ECHILD);
	assert_says("after a child inherited it");
	fake.events[0].read_result = -EIO;
	assert_fails(perfev_group_read(group, r, 2, NULL), EIO);
	assert_fails(perfev_counter_read(perfev_group_at(group, 0), r, &err), EIO);
	fake.events[0].read_result = 0;
	fake.events[0].attr.read_format = PERF_FORMAT_GROUP; /* an answer of another form */
	assert_fails(perfev_group_read(group, r, 2, &err), EIO);
	assert_says("another form");
	assert_fails(perfev_counter_read(perfev_group_at(group, 0), r, &err), EIO);
	done();
}

/* ---- members that come, go, and do not come ---------------------------------------------------------------- */

static int no_instructions_code = -ENOENT;

static int no_instructions(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_INSTRUCTIONS ? no_instructions_code : 0;
}

static void test_a_member_that_cannot_be_opened(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_reading r[4];

	(void)state;
	parse(three, 3);
	fake.on_open = no_instructions;
	assert_fails(open_group(NULL), ENOENT);
	assert_int_equal(fake_left(), 0);
	assert_says("instructions");
	assert_works(open_group(&opts));
	assert_int_equal(perfev_group_count(group), 3);
	assert_null(perfev_group_at(group, 1));
	assert_non_null(perfev_group_error(group, 1));
	assert_int_equal(perfev_group_error(group, 1)->code, -ENOENT);
	assert_null(perfev_group_error(group, 2));
	assert_fails(perfev_group_add(group, events[1], &err), ENOENT); /* as it was */
	assert_int_equal(perfev_group_count(group), 3);
	fill(50, 50);
	assert_works(perfev_group_read(group, r, 3, &err));
	assert_int_equal(r[0].status, PERFEV_COUNTED);
	assert_int_equal(r[1].status, PERFEV_NOT_SUPPORTED);
	assert_int_equal(r[1].why, perfev_group_error(group, 1)->why);
	assert_int_equal(r[2].status, PERFEV_COUNTED);
	fake.on_open = NULL;
	assert_int_equal(perfev_group_add(group, events[1], &err), 3);
	fill(50, 50);
	assert_works(perfev_group_read(group, r, 4, &err));
	assert_int_equal(r[3].status, PERFEV_COUNTED);
	assert_int_equal(r[3].id, fake.events[fake.event_count - 1].id);
	done();
	parse(three + 1, 2); /* the leader must */
	fake.on_open = no_instructions;
	assert_fails(open_group(&opts), ENOENT);
	done();
}

/* Whatever the errno is by which one is refused: of a hidden register, of a PMU that is not there. */
static void test_a_member_that_is_refused(void **state)
{
	static const int codes[] = {-ENXIO, -EOPNOTSUPP, -ENODEV, -EINVAL, -EBUSY, -EIO};
	struct perfev_counter_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_reading r[3];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		parse(three, 3);
		fake.on_open = no_instructions;
		no_instructions_code = codes[i];
		assert_works(open_group(&opts));
		assert_int_equal(perfev_group_error(group, 1)->code, codes[i]);
		fill(50, 50);
		assert_works(perfev_group_read(group, r, 3, &err));
		assert_int_equal(r[1].status, PERFEV_NOT_SUPPORTED);
		assert_int_equal(r[2].status, PERFEV_COUNTED);
		done();
	}
	no_instructions_code = -ENOENT;
}

static void test_a_member_that_is_dropped(void **state)
{
	struct perfev_reading r[3];

	(void)state;
	parse(three, 3);
	assert_works(open_group(NULL));
	assert_works(perfev_group_drop(group, 1, &err));
	assert_int_equal(fake.opened - fake.closed, 2);
	fill(50, 50);
	assert_works(perfev_group_read(group, r, 3, &err));
	assert_int_equal(r[0].count, 100);
	assert_int_equal(r[1].status, PERFEV_GONE);
	assert_int_equal(r[1].count, 0);
	assert_int_equal(r[2].count, 102);
	assert_int_equal(r[2].status, PERFEV_COUNTED);
	assert_fails(perfev_group_drop(group, 1, &err), EINVAL);
	assert_says("there is none");
	assert_fails(perfev_group_drop(group, 0, &err), EINVAL);
	assert_says("it leads");
	assert_fails(perfev_group_drop(group, 3, &err), EINVAL);
	done();
}

/* By others who have the descriptors: what is not in the answer is gone, what is too much is passed over. */
static void test_a_group_that_others_change(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_SOFTWARE, 1);
	struct perfev_reading r[3];
	int fd;

	(void)state;
	parse(three, 3);
	assert_works(open_group(NULL));
	fd = perfev_raw_open(&attr, 0, -1, fake.events[0].fd, 0);
	assert_true(fd > 0);
	fill(50, 50);
	fake.events[1].open = false; /* behind our back */
	assert_works(perfev_group_read(group, r, 3, &err));
	assert_int_equal(r[1].status, PERFEV_GONE);
	assert_int_equal(r[2].count, 102);
	fake.events[1].open = true;
	assert_works(perfev_group_read(group, r, 3, &err));
	assert_int_equal(r[1].count, 101);
	perfev_raw_close(fd);
	fake.events[0].read_result = -ENOSPC; /* so many that nobody has room for them */
	assert_fails(perfev_group_read(group, r, 3, &err), ENOSPC);
	assert_says("others have added members to it");
	fake.events[0].read_result = 0;
	done();
}

/* The caller may close the cgroup's directory once the group is open. */
static void test_a_cgroup(void **state)
{
	(void)state;
	parse(three, 2);
	assert_works(perfev_group_open(&group, (const struct perfev_event *const *)events, 2, perfev_on_cgroup(5, 1),
				       NULL, &err));
	assert_int_not_equal(fake.events[0].pid, 5);
	assert_int_equal(fake.events[0].flags, PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
	assert_int_equal(perfev_group_add(group, events[0], &err), 2);
	assert_int_equal(fake.events[2].pid, fake.events[0].pid);
	perfev_group_close(group);
	group = NULL;
	assert_fails(perfev_group_open(&group, (const struct perfev_event *const *)events, 2, perfev_on_cgroup(-1, 1),
				       NULL, &err), EBADF);
	done();
}

static void test_members_stay_the_groups(void **state)
{
	(void)state;
	parse(three, 3);
	assert_works(open_group(NULL));
	perfev_counter_close(perfev_group_at(group, 1));
	assert_true(fake.events[1].open);
	assert_fails(perfev_counter_release(perfev_group_at(group, 1)), EBUSY);
	assert_true(fake.events[1].open);
	done();
}

/* ---- refusals -------------------------------------------------------------------------------------------- */

static void test_what_cannot_be_together(void **state)
{
	(void)state;
	parse(three, 2);
	perfev_event_attr(events[1])->inherit = 1;
	assert_fails(open_group(NULL), EINVAL);
	assert_says("cannot open instructions in the group of cycles: attr.inherit must be the leader's");
	perfev_event_attr(events[0])->inherit = 1;
	assert_works(open_group(NULL));
	perfev_group_close(group);
	group = NULL;
	perfev_event_attr(events[1])->use_clockid = 1;
	assert_fails(open_group(NULL), EINVAL);
	assert_says("its clock must be the leader's");
	perfev_event_attr(events[1])->use_clockid = 0;
	perfev_event_attr(events[1])->pinned = 1;
	assert_fails(open_group(NULL), EINVAL);
	assert_says("only the leader may be pinned or exclusive");
	assert_int_equal(err.why, PERFEV_WHY_COMBINATION);
	perfev_event_attr(events[1])->pinned = 0;
	perfev_event_attr(events[0])->pinned = perfev_event_attr(events[0])->exclusive = 1;
	assert_works(open_group(NULL));
	done();
	parse(three, 0);
	assert_fails(open_group(NULL), EINVAL);
	assert_says("empty group");
	parse(three, 1);
	assert_fails(perfev_group_open(&group, (const struct perfev_event *const *)events, 1,
				       perfev_on_all_cpus(), NULL, &err), EINVAL);
	assert_says("perfev_set_open");
	done();
}

static int before_4_13(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->inherit && attr->read_format & PERF_FORMAT_GROUP ? -EINVAL : 0;
}

/* Kernels that do not inherit groups: both halves of the reason are said. */
static void test_a_group_that_is_not_inherited(void **state)
{
	(void)state;
	parse(three, 2);
	perfev_event_attr(events[0])->inherit = perfev_event_attr(events[1])->inherit = 1;
	fake.on_open = before_4_13;
	assert_fails(open_group(NULL), EINVAL);
	assert_says("inherit");
	assert_says("PERF_FORMAT_GROUP");
	assert_int_equal(fake_left(), 0);
	done();
}

static void test_too_many(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_reading r[PERFEV_GROUP_MAX];
	const char *texts[PERFEV_GROUP_MAX + 1];
	size_t i;

	(void)state;
	for (i = 0; i <= PERFEV_GROUP_MAX; i++)
		texts[i] = "page-faults";
	parse(texts, PERFEV_GROUP_MAX);
	perfev_event_attr(events[0])->read_format = PERF_FORMAT_LOST;
	assert_works(open_group(NULL));
	fill(10, 10);
	assert_works(perfev_group_read(group, r, PERFEV_GROUP_MAX, &err));
	for (i = 0; i < PERFEV_GROUP_MAX; i++)
		assert_int_equal(r[i].count, 100 + i);
	assert_fails(perfev_group_add(group, events[0], &err), E2BIG);
	assert_says("it has 64 members");
	done();
	parse(texts, PERFEV_GROUP_MAX + 1);
	assert_fails(open_group(&opts), E2BIG);
	assert_int_equal(fake_left(), 0);
	done();
}

static int no_id(struct fake_event *event, unsigned request, unsigned long argument)
{
	(void)argument;
	return request == PERF_EVENT_IOC_ID && event != fake.events ? -ENODEV : 0;
}

static void test_a_member_without_an_id(void **state)
{
	(void)state;
	parse(three, 2);
	fake.on_ioctl = no_id;
	assert_fails(open_group(NULL), ENODEV);
	assert_says("cannot tell the id of instructions");
	done();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_opened_as_one),
	cmocka_unit_test(test_output_of_another),
	cmocka_unit_test(test_controls),
	cmocka_unit_test(test_read),
	cmocka_unit_test(test_statuses),
	cmocka_unit_test(test_a_member_that_cannot_be_opened),
	cmocka_unit_test(test_a_member_that_is_refused),
	cmocka_unit_test(test_a_member_that_is_dropped),
	cmocka_unit_test(test_a_group_that_others_change),
	cmocka_unit_test(test_a_cgroup),
	cmocka_unit_test(test_members_stay_the_groups),
	cmocka_unit_test(test_what_cannot_be_together),
	cmocka_unit_test(test_a_group_that_is_not_inherited),
	cmocka_unit_test(test_too_many),
	cmocka_unit_test(test_a_member_without_an_id),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
