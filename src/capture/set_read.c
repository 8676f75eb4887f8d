/* SPDX-License-Identifier: MIT */
/* What a set counted: groups are read at once, other rows one by one, and summed for each event. */
#include "reading.h"
#include "set.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <errno.h>
#include <string.h>

/* An event of a cgroup that is running when it is opened counts right, but its times begin when the machine
 * did (Linux 6.18): what is more than can be is taken off both. */
static void check_times(const struct perfev_set *set, struct perfev_reading *reading)
{
	uint64_t since = (uint64_t)(sys_now_ms() - set->opened_ms) * 1000000, excess;

	if (reading->enabled_ns < since + 1000000000)
		return;
	excess = reading->enabled_ns - since;
	reading->enabled_ns -= excess;
	reading->running_ns -= excess < reading->running_ns ? excess : reading->running_ns;
}

/* Of a task that is bound to a CPU and has been there @ran_ns: the kernel's time goes on elsewhere too. */
static void bind(struct perfev_reading *ret, uint64_t ran_ns)
{
	if (ret->running_ns || ran_ns)
		ret->enabled_ns = ran_ns > ret->running_ns ? ran_ns : ret->running_ns;
}

/* What the kernel's times mean where a row is, and what was counted there before. */
static void settle(const struct perfev_set *set, size_t row, uint64_t ran_ns, struct perfev_reading *ret)
{
	const struct plan *plan = &set->members.plan;
	const struct perfev_reading *earlier = &set->rows[row].earlier;

	if (plan->cgroup)
		check_times(set, ret);
	else if (plan->rows[row].pid >= 0 && plan->rows[row].cpu >= 0)
		bind(ret, ran_ns);
	if (earlier->enabled_ns)
		perfev_reading_add(ret, earlier);
}

int perfev_set_row_read(const struct perfev_set *set, size_t index, struct perfev_reading *ret,
			struct perfev_error *err)
{
	const struct members *members = &set->members;
	const struct member *member;
	uint64_t ran_ns;
	int r;

	if (index >= members->plan.count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, index,
				 "cannot read row %zu: the set has %zu", index, members->plan.count);
	member = &members->items[members->plan.rows[index].event];
	if (members->fds[index] < 0) {
		memset(ret, 0, sizeof(*ret));
		ret->status = PERFEV_NOT_SUPPORTED;
		return 0;
	}
	ran_ns = set_ran_ns(set, index);
	r = member->attr.read_format & PERF_FORMAT_GROUP
		    ? reading_take_leader(ret, members->fds[index], &member->attr)
		    : reading_take(ret, members->fds[index], &member->attr);
	if (r < 0)
		return error_errno(err, r, "cannot read %s", member->name);
	settle(set, index, ran_ns, ret);
	return 0;
}

/* One row out of its leader's answer. One that is not in it has left the group, as on a CPU that went offline. */
static int take_out_of(const struct perfev_set *set, size_t row, const uint64_t *words, unsigned stride,
		       struct perfev_reading *ret)
{
	const struct members *members = &set->members;
	const struct perf_event_attr *attr = &members->items[members->plan.rows[row].event].attr;
	const uint64_t *entry = words + READING_GROUP_HEAD, *end = entry + words[0] * stride;

	while (entry < end && entry[1] != set->rows[row].id)
		entry += stride;
	if (entry == end)
		return reading_take(ret, members->fds[row], attr);
	ret->count = entry[0];
	ret->enabled_ns = words[1];
	ret->running_ns = words[2];
	ret->id = entry[1];
	ret->lost = stride > 2 ? entry[2] : 0;
	reading_judge(ret, reading_is_hidden(attr));
	return 0;
}

/* A leader and its group, in one system call: readings in the order of set_row.next. */
static int read_group(const struct perfev_set *set, size_t leader, struct perfev_reading *ret,
		      struct perfev_error *err)
{
	const struct members *members = &set->members;
	const struct member *member = &members->items[members->plan.rows[leader].event];
	const unsigned stride = reading_stride(&member->attr);
	uint64_t words[READING_GROUP_WORDS], ran_ns = set_ran_ns(set, leader);
	ssize_t n = sys_read_inline(members->fds[leader], words, sizeof(words));
	int32_t row;

	if (n > 0 && !reading_is_group(words, n, stride))
		n = -EIO;
	if (n < 0 && n != -ENODEV)
		return reading_refuse_group(member->name, (int)n, err);
	for (row = (int32_t)leader; row >= 0; row = set->rows[row].next, ret++) {
		int r = n > 0 ? take_out_of(set, (size_t)row, words, stride, ret) : reading_without(ret, n);

		if (r < 0)
			return error_errno(err, r, "cannot read %s",
					   members->items[members->plan.rows[row].event].name);
		settle(set, (size_t)row, ran_ns, ret);
	}
	return 0;
}

/* A row, and those that its answer tells. */
static int read_from(const struct perfev_set *set, size_t row, struct perfev_reading *ret,
		     struct perfev_error *err)
{
	return set->rows[row].next < 0 ? perfev_set_row_read(set, row, ret, err)
				       : read_group(set, row, ret, err);
}

/* An event of which nothing was read yet. */
static void begin_sum(const struct member *member, struct perfev_reading *ret)
{
	bool failed = member->error.code != 0;

	memset(ret, 0, sizeof(*ret));
	ret->status = failed ? PERFEV_NOT_SUPPORTED : PERFEV_NOT_COUNTED;
	ret->why = failed	    ? (uint32_t)member->error.why
		   : member->opened ? PERFEV_WHY_COUNTERS
				    : PERFEV_WHY_NONE;
}

static void add_row(struct perfev_reading *sum, const struct perfev_reading *one)
{
	if (sum->status == PERFEV_NOT_COUNTED && one->status == PERFEV_NOT_COUNTED)
		sum->why = one->why;
	perfev_reading_add(sum, one);
}

static int check_count(const char *what, size_t count, size_t wanted, struct perfev_error *err)
{
	if (count == wanted)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot read %zu %s: the set has %zu", count, what, wanted);
}

int perfev_set_read(const struct perfev_set *set, struct perfev_reading *ret, size_t count,
		    struct perfev_error *err)
{
	const struct members *members = &set->members;
	struct perfev_reading got[PERFEV_GROUP_MAX];
	size_t i;
	int r = check_count("events", count, members->count, err);

	for (i = 0; r == 0 && i < count; i++)
		begin_sum(&members->items[i], &ret[i]);
	for (i = 0; r == 0 && i < members->plan.count; i++) {
		const struct perfev_reading *one = got;
		int32_t row;

		if (members->fds[i] < 0 || set->rows[i].told)
			continue;
		r = read_from(set, i, got, err);
		for (row = (int32_t)i; r == 0 && row >= 0; row = set->rows[row].next)
			add_row(&ret[members->plan.rows[row].event], one++);
	}
	return r;
}

int perfev_set_read_rows(const struct perfev_set *set, struct perfev_reading *ret, size_t count,
			 struct perfev_error *err)
{
	struct perfev_reading got[PERFEV_GROUP_MAX];
	size_t i;
	int r = check_count("rows", count, set->members.plan.count, err);

	for (i = 0; r == 0 && i < count; i++) {
		const struct perfev_reading *one = got;
		int32_t row;

		if (set->rows[i].told)
			continue;
		r = read_from(set, i, got, err);
		for (row = (int32_t)i; r == 0 && row >= 0; row = set->rows[row].next)
			ret[row] = *one++;
	}
	return r;
}

void perfev_set_sum(const struct perfev_set *set, const struct perfev_reading *rows, int32_t tid,
		    int32_t cpu, struct perfev_reading *ret)
{
	const struct members *members = &set->members;
	size_t i;

	for (i = 0; i < members->count; i++)
		begin_sum(&members->items[i], &ret[i]);
	for (i = 0; i < members->plan.count; i++) {
		const struct plan_row *row = &members->plan.rows[i];

		if (members->fds[i] >= 0 && (tid < 0 || row->pid == tid) && (cpu < 0 || row->cpu == cpu))
			add_row(&ret[row->event], &rows[i]);
	}
}
