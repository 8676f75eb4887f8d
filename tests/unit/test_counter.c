/* SPDX-License-Identifier: MIT */
/* What an open counter can be told, on a kernel that remembers what it was told; and every refusal's cause. */
#include "test.h"

#include "fake/kernel.h"

#include <perfev/counter.h>

static struct perfev_error err;
static struct perfev_event *event;
static struct perfev_counter *counter;

static struct fake_event *opened(void)
{
	return &fake.events[fake.event_count - 1];
}

/* A counter of the event that a text means; @period: 0 for counting only. */
static void open_as(const char *text, uint64_t period)
{
	fake_reset();
	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_period = period;
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
}

static void done(void)
{
	perfev_counter_close(counter);
	perfev_event_free(event);
	assert_int_equal(fake_left(), 0);
}

static int answer; /* of the next ioctl that is not ENABLE, DISABLE or ID */
static unsigned answered;

static int answer_once(struct fake_event *e, unsigned request, unsigned long argument)
{
	int r = answer;

	(void)e;
	(void)argument;
	answered = request;
	answer = 0;
	return r;
}

/* The next ioctl is refused with @code. */
static void refuse_next(int code)
{
	fake.on_ioctl = answer_once;
	answer = code;
}

/* ---- on and off ------------------------------------------------------------------------------------------ */

static void test_on_and_off(void **state)
{
	(void)state;
	open_as("page-faults", 0);
	assert_false(opened()->enabled);
	assert_works(perfev_counter_start(counter, &err));
	assert_true(opened()->enabled);
	opened()->count = 5;
	assert_works(perfev_counter_reset(counter, &err));
	assert_int_equal(opened()->count, 0);
	assert_works(perfev_counter_stop(counter, &err));
	assert_false(opened()->enabled);
	assert_int_equal(opened()->periods, 0);
	refuse_next(-ENODEV);
	assert_fails(perfev_counter_start(counter, &err), ENODEV);
	assert_says("cannot start page-faults: its PMU was removed; close it");
	assert_int_equal(err.why, PERFEV_WHY_NO_PMU);
	refuse_next(-EIO);
	assert_fails(perfev_counter_stop(counter, NULL), EIO);
	done();
}

static void test_all_of_the_thread(void **state)
{
	(void)state;
	fake_reset();
	assert_works(perfev_start_all(&err));
	assert_int_equal(fake.all, 1);
	assert_works(perfev_stop_all(&err));
	assert_int_equal(fake.all, -1);
	fake.all_result = -EINVAL;
	assert_fails(perfev_start_all(&err), EINVAL);
	assert_says("cannot start the events of this thread");
	assert_fails(perfev_stop_all(&err), EINVAL);
}

/* Ioctls on one event carry the argument 0 and not what happens to lie around: that would be the group flag. */
static int no_flag(struct fake_event *e, unsigned request, unsigned long argument)
{
	(void)e;
	if (request != PERF_EVENT_IOC_ID && argument)
		fail_msg("request 0x%x has the argument %lu", request, argument);
	return 0;
}

static void test_one_event_only(void **state)
{
	(void)state;
	open_as("page-faults", 0);
	fake.on_ioctl = no_flag;
	assert_works(perfev_counter_start(counter, &err));
	assert_works(perfev_counter_stop(counter, &err));
	assert_works(perfev_counter_reset(counter, &err));
	done();
}

/* ---- refresh --------------------------------------------------------------------------------------------- */

static void test_refresh(void **state)
{
	(void)state;
	open_as("page-faults", 10);
	assert_works(perfev_counter_refresh(counter, 3, &err));
	assert_int_equal(opened()->budget, 3);
	assert_true(opened()->enabled);
	assert_works(perfev_counter_refresh(counter, 2, &err));
	assert_int_equal(opened()->budget, 5);
	assert_int_equal(opened()->periods, 0); /* what is counted by itself comes back by itself */
	assert_fails(perfev_counter_refresh(counter, 0, &err), EINVAL);
	assert_says("for 0 overflows");
	assert_fails(perfev_counter_refresh(counter, -1, &err), EINVAL);
	assert_int_equal(opened()->budget, 5);
	done();
	open_as("page-faults", 0);
	assert_fails(perfev_counter_refresh(counter, 1, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_NOT_SAMPLING);
	assert_says("it has no period");
	done();
	fake_reset();
	open_as("page-faults/inherit/", 10);
	assert_fails(perfev_counter_refresh(counter, 1, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_COMBINATION);
	assert_says("children inherit");
	done();
}

/* Some kernels leave these dead at the limit; a change of the period to the same wakes them. */
static void test_the_dead_are_woken(void **state)
{
	(void)state;
	open_as("mem:0x1000/8:w", 7);
	assert_works(perfev_counter_start(counter, &err));
	assert_works(perfev_counter_refresh(counter, 1, &err));
	assert_int_equal(opened()->periods, 0); /* nothing has run out before the first one */
	assert_works(perfev_counter_refresh(counter, 1, &err));
	assert_int_equal(opened()->periods, 1);
	assert_int_equal(opened()->attr.sample_period, 7);
	assert_works(perfev_counter_start(counter, &err));
	assert_int_equal(opened()->periods, 2);
	assert_works(perfev_counter_set_period(counter, 9, &err));
	assert_works(perfev_counter_refresh(counter, 1, &err));
	assert_int_equal(opened()->attr.sample_period, 9); /* the one that it has now */
	done();
}

/* The only thing that the kernel's name decides. */
static void test_kernels_that_hang(void **state)
{
	static const struct {
		const char *release;
		bool hangs;
	} rows[] = {{"6.16.0", true}, {"6.17", true},	   {"6.17.13-arch1", true}, {"6.15.11", false},
		    {"6.18.1", false}, {"6.160.1", false}, {"16.16.1", false},	    {"", false}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_as(i % 2 ? "cpu-clock" : "task-clock", 10);
		fake.release = rows[i].release;
		if (rows[i].hangs) {
			assert_fails(perfev_counter_refresh(counter, 1, &err), EOPNOTSUPP);
			assert_says("hang");
			assert_int_equal(opened()->budget, 0);
		} else {
			assert_works(perfev_counter_refresh(counter, 1, &err));
		}
		done();
		open_as("page-faults", 10);
		fake.release = rows[i].release;
		assert_works(perfev_counter_refresh(counter, 1, &err));
		done();
	}
}

static void test_signals(void **state)
{
	(void)state;
	open_as("page-faults", 10);
	fake.tid = 77;
	assert_works(perfev_counter_signal(counter, 12, 0, &err));
	assert_int_equal(opened()->signal, 12);
	assert_int_equal(opened()->signal_tid, 77);
	assert_works(perfev_counter_signal(counter, 0, 5, &err));
	assert_int_equal(opened()->signal, 0);
	assert_fails(perfev_counter_signal(counter, 99, 0, &err), EINVAL);
	assert_says("99 is no signal");
	assert_fails(perfev_counter_signal(counter, 12, 200000, &err), ESRCH);
	assert_says("no thread 200000");
	done();
}

/* ---- periods --------------------------------------------------------------------------------------------- */

static void test_periods(void **state)
{
	(void)state;
	open_as("page-faults", 10);
	assert_works(perfev_counter_set_period(counter, (UINT64_C(1) << 40) + 3, &err));
	assert_true(opened()->attr.sample_period == (UINT64_C(1) << 40) + 3); /* by its address, all bits of it */
	assert_true(perfev_counter_attr(counter)->sample_period == (UINT64_C(1) << 40) + 3);
	assert_fails(perfev_counter_set_period(counter, 0, &err), EINVAL);
	assert_says("to 0: it must be from 1 to 2^63 - 1");
	assert_fails(perfev_counter_set_period(counter, UINT64_C(1) << 63, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
	refuse_next(-EINVAL);
	assert_fails(perfev_counter_set_period(counter, 3, &err), EINVAL);
	assert_says("its PMU does not take it");
	assert_true(perfev_counter_attr(counter)->sample_period == (UINT64_C(1) << 40) + 3);
	done();
	open_as("page-faults", 0);
	assert_fails(perfev_counter_set_period(counter, 5, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_NOT_SAMPLING);
	done();
}

static void test_frequencies(void **state)
{
	(void)state;
	fake_reset();
	assert_works(perfev_event_parse(&event, "page-faults/freq=100/", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	fake_file("/proc/sys/kernel/perf_event_max_sample_rate", "1000\n");
	assert_works(perfev_counter_set_period(counter, 1000, &err));
	refuse_next(-EINVAL);
	assert_fails(perfev_counter_set_period(counter, 4000, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_RATE);
	assert_says("to 4000 Hz: kernel.perf_event_max_sample_rate is 1000");
	done();
}

/* ---- filters, programs, rings ---------------------------------------------------------------------------- */

static void test_filters(void **state)
{
	(void)state;
	open_as("2:314", 0);
	assert_works(perfev_counter_set_filter(counter, "pid == 1", &err));
	refuse_next(-EEXIST);
	assert_fails(perfev_counter_set_filter(counter, "pid == 1", &err), EEXIST);
	assert_says("it has a filter, which the kernel does not replace; open it again");
	assert_int_equal(answered, PERF_EVENT_IOC_SET_FILTER);
	refuse_next(-EINVAL);
	assert_fails(perfev_counter_set_filter(counter, "pid ==", &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_SYNTAX);
	refuse_next(-ENODEV);
	assert_fails(perfev_counter_set_filter(counter, "pid == 1", &err), ENODEV);
	done();
}

static void test_programs(void **state)
{
	static const int codes[] = {-EINVAL, -EEXIST, -E2BIG, -EACCES, -EPERM};
	uint32_t ids[4] = {0, 0, 0, 0};
	size_t i;

	(void)state;
	open_as("2:314", 0);
	assert_works(perfev_counter_attach_bpf(counter, 9, &err));
	assert_int_equal(opened()->bpf_fd, 9);
	assert_fails(perfev_counter_attach_bpf(counter, -1, &err), EBADF);
	assert_says("no BPF program");
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		refuse_next(codes[i]);
		assert_int_equal(perfev_counter_attach_bpf(counter, 9, &err), codes[i]);
		assert_says("cannot attach a program to 2:314: ");
		assert_int_not_equal(err.why, PERFEV_WHY_OTHER);
	}
	refuse_next(-EPROTO);
	assert_fails(perfev_counter_attach_bpf(counter, 9, &err), EPROTO);
	assert_int_equal(err.why, PERFEV_WHY_OTHER);
	fake.on_ioctl = NULL;

	assert_int_equal(perfev_counter_bpf_ids(counter, ids, 4, &err), 0);
	fake.bpf_count = 40; /* more than the first try has room for */
	for (i = 0; i < 40; i++)
		fake.bpf_ids[i] = 100 + (uint32_t)i;
	assert_int_equal(perfev_counter_bpf_ids(counter, ids, 3, &err), 40);
	assert_int_equal(ids[2], 102);
	assert_int_equal(ids[3], 0);
	assert_int_equal(perfev_counter_bpf_ids(counter, NULL, 0, &err), 40);
	refuse_next(-EPERM);
	assert_fails(perfev_counter_bpf_ids(counter, ids, 4, &err), EPERM);
	assert_int_equal(err.why, PERFEV_WHY_CAPABILITY);
	done();
	open_as("page-faults", 0);
	assert_fails(perfev_counter_bpf_ids(counter, ids, 4, &err), EINVAL);
	assert_says("only tracepoints");
	done();
}

static void test_rings(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts)};
	struct perf_event_mmap_page *page;
	struct perfev_counter *other;

	(void)state;
	open_as("page-faults", 10);
	assert_fails(perfev_counter_pause_output(counter, &err), EINVAL);
	assert_says("it has no ring");
	assert_works(perfev_raw_mmap(&page, perfev_counter_fd(counter), FAKE_PAGE, true));
	assert_works(perfev_counter_pause_output(counter, &err));
	assert_true(opened()->ring.paused);
	assert_works(perfev_counter_resume_output(counter, &err));
	assert_false(opened()->ring.paused);

	assert_works(perfev_counter_open(&other, event, perfev_on_self(), NULL, &err));
	assert_works(perfev_counter_set_output(other, counter, &err));
	assert_int_equal(opened()->output, perfev_counter_fd(counter));
	assert_works(perfev_counter_set_output(other, NULL, &err));
	assert_int_equal(opened()->output, -1);
	assert_fails(perfev_counter_set_output(counter, other, &err), EINVAL);
	assert_says("the other has no ring, or this one has its own");
	assert_fails(perfev_counter_set_output(counter, counter, &err), EINVAL);
	assert_says("it is the same event");
	refuse_next(-EBADF); /* a 32-bit program on a 64-bit kernel */
	assert_fails(perfev_counter_set_output(other, NULL, &err), EBADF);
	assert_int_equal(err.why, PERFEV_WHY_UNSUPPORTED);
	perfev_counter_close(other);

	opts.output = counter; /* from the first, in no group */
	assert_works(perfev_counter_open(&other, event, perfev_on_self(), &opts, &err));
	assert_int_equal(opened()->output, perfev_counter_fd(counter));
	assert_int_equal(opened()->flags, PERF_FLAG_FD_CLOEXEC | PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	assert_int_equal(opened()->group_fd, -1);
	perfev_counter_close(other);
	assert_fails(perfev_counter_open(&other, event, perfev_on_task(9), &opts, &err), EINVAL);
	assert_says("redirect the output of page-faults: it counts another thread");

	assert_works(perfev_counter_open(&other, event, perfev_on_task(9), NULL, &err));
	assert_fails(perfev_counter_set_output(other, counter, &err), EINVAL);
	assert_says("it counts another thread");
	perfev_counter_close(other);
	assert_works(perfev_counter_open(&other, event, perfev_on_task_cpu(0, 1), NULL, &err));
	assert_fails(perfev_counter_set_output(other, counter, &err), EINVAL);
	assert_says("another CPU");
	perfev_counter_close(other);
	perfev_event_attr(event)->use_clockid = 1;
	assert_works(perfev_counter_open(&other, event, perfev_on_self(), NULL, &err));
	assert_fails(perfev_counter_set_output(other, counter, &err), EINVAL);
	assert_says("another clock");
	perfev_counter_close(other);
	assert_works(perfev_raw_munmap(page, FAKE_PAGE));
	done();
}

/* ---- breakpoints ----------------------------------------------------------------------------------------- */

static void test_a_breakpoint_moves(void **state)
{
	struct perfev_event *to, *other;

	(void)state;
	open_as("mem:0x1000/8:w", 0);
	assert_works(perfev_event_breakpoint(&to, 0x2000, 4, HW_BREAKPOINT_RW, &err));
	perfev_event_attr(to)->sig_data = 33;
	assert_works(perfev_counter_modify(counter, to, &err)); /* stopped: it stays so */
	assert_false(opened()->enabled);
	assert_int_equal(opened()->attr.bp_addr, 0x2000);
	assert_int_equal(opened()->attr.bp_len, 4);
	assert_int_equal(opened()->attr.bp_type, HW_BREAKPOINT_RW);
	assert_int_equal(opened()->attr.sig_data, 33);
	assert_works(perfev_counter_start(counter, &err));
	perfev_event_attr(to)->bp_addr = 0x3000;
	assert_works(perfev_counter_modify(counter, to, &err)); /* running: it goes on */
	assert_true(opened()->enabled);

	perfev_event_attr(to)->bp_len = 64; /* refused: all is as it was */
	perfev_event_attr(to)->bp_addr = 0x4000;
	assert_fails(perfev_counter_modify(counter, to, &err), EINVAL);
	assert_says("kind, length or alignment");
	assert_true(opened()->enabled);
	assert_int_equal(perfev_counter_attr(counter)->bp_addr, 0x3000);
	assert_int_equal(perfev_counter_attr(counter)->bp_len, 4);
	perfev_event_attr(to)->bp_len = 8;
	assert_works(perfev_counter_modify(counter, to, &err)); /* and it can still be moved */
	assert_int_equal(opened()->attr.bp_addr, 0x4000);
	refuse_next(-ENOSPC);
	assert_fails(perfev_counter_modify(counter, to, &err), ENOSPC);
	assert_int_equal(err.why, PERFEV_WHY_COUNTERS);

	assert_works(perfev_event_parse(&other, "page-faults", &err));
	assert_fails(perfev_counter_modify(counter, other, &err), EINVAL);
	assert_says("that is no breakpoint");
	done();
	event = other;
	assert_works(perfev_counter_open(&counter, other, perfev_on_self(), NULL, &err));
	assert_fails(perfev_counter_modify(counter, to, &err), EOPNOTSUPP);
	assert_says("only breakpoints can be");
	perfev_event_free(to);
	done();
}

/* ---- what it is ------------------------------------------------------------------------------------------ */

static void test_id(void **state)
{
	uint64_t id = 0;

	(void)state;
	open_as("page-faults", 0);
	assert_works(perfev_counter_id(counter, &id, &err));
	assert_int_equal(id, opened()->id);
	id = 0;
	refuse_next(-ENOTTY); /* older than 3.12 */
	assert_works(perfev_counter_id(counter, &id, &err));
	assert_int_equal(id, opened()->id);
	refuse_next(-ENODEV);
	assert_fails(perfev_counter_id(counter, &id, &err), ENODEV);
	done();
}

static void test_release(void **state)
{
	int fd;

	(void)state;
	open_as("page-faults", 0);
	fd = perfev_counter_release(counter);
	assert_int_equal(fd, opened()->fd);
	assert_true(opened()->open);
	perfev_raw_close(fd);
	perfev_event_free(event);
	assert_int_equal(fake_left(), 0);
}

static void test_what_is_opened(void **state)
{
	const struct perf_event_attr *attr;

	(void)state;
	fake_reset();
	assert_works(perfev_event_parse(&event, "page-faults", &err));
	perfev_event_attr(event)->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_LOST;
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	attr = perfev_counter_attr(counter);
	assert_int_equal(attr->read_format, PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
						    PERF_FORMAT_ID | PERF_FORMAT_LOST);
	assert_int_equal(opened()->flags, PERF_FLAG_FD_CLOEXEC);
	done();
	fake_reset();
	assert_works(perfev_event_parse(&event, "page-faults", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_cgroup(5, 1), NULL, &err));
	assert_int_equal(opened()->flags, PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
	assert_int_equal(opened()->pid, 5);
	done();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_on_and_off),
	cmocka_unit_test(test_all_of_the_thread),
	cmocka_unit_test(test_one_event_only),
	cmocka_unit_test(test_refresh),
	cmocka_unit_test(test_the_dead_are_woken),
	cmocka_unit_test(test_kernels_that_hang),
	cmocka_unit_test(test_signals),
	cmocka_unit_test(test_periods),
	cmocka_unit_test(test_frequencies),
	cmocka_unit_test(test_filters),
	cmocka_unit_test(test_programs),
	cmocka_unit_test(test_rings),
	cmocka_unit_test(test_a_breakpoint_moves),
	cmocka_unit_test(test_id),
	cmocka_unit_test(test_release),
	cmocka_unit_test(test_what_is_opened),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
