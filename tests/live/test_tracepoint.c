/* SPDX-License-Identifier: MIT */
/* Tracepoints of the machine that runs this: every format as libtraceevent understands it, look-up by name and
 * number, and samples whose fields are known because the test made them happen. */
#include "live.h"

#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#ifdef HAVE_TRACEEVENT
#include <event-parse.h>
#endif

static struct perfev_error err;

/* ---- tracefs ---------------------------------------------------------------------------------------- */

/* Where it is not mounted, it is for this process alone. */
static void need_tracefs(void)
{
	struct perfev_tracepoint *tp;
	int r = perfev_tracepoint_find(&tp, "sched:sched_switch", NULL, &err);

	if (r == -ENOENT && err.why == PERFEV_WHY_NOT_FOUND && unshare(CLONE_NEWNS) == 0 &&
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) == 0)
		r = perfev_tracepoint_find(&tp, "sched:sched_switch", NULL, &err);
	if (r < 0)
		SKIP("%s", err.text);
	perfev_tracepoint_free(tp);
}

static const char *root(void)
{
	return access("/sys/kernel/tracing/events", R_OK) == 0 ? "/sys/kernel/tracing"
							       : "/sys/kernel/debug/tracing";
}

static struct perfev_bytes read_file(const char *path)
{
	static char text[1 << 20];
	struct perfev_bytes bytes = {text, 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	while ((n = read(fd, text + bytes.size, sizeof(text) - bytes.size)) > 0)
		bytes.size += (size_t)n;
	close(fd);
	return bytes;
}

/* ---- formats ------------------------------------------------------------------------------------------ */

#ifdef HAVE_TRACEEVENT

/* libtraceevent 1.7.1 loses some bytes of texts that it cannot parse; that is no fault of ours. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\n";
}

/* Arrays of bytes are texts to libtraceevent; to perfev only those of char are. */
static bool is_text(const struct tep_format_field *theirs, const struct perfev_field *ours)
{
	if (ours->kind == PERFEV_FIELD_STRING)
		return true;
	return (theirs->flags & TEP_FIELD_IS_STRING) && ours->kind == PERFEV_FIELD_INTEGER &&
	       ours->element_size == 1 && (strstr(ours->type, "8") || strstr(ours->type, "unsigned char"));
}

static void compare_shape(const struct tep_format_field *theirs, const struct perfev_field *ours)
{
	bool array = strchr(ours->type, '[') != NULL;

	assert_int_equal(!!(theirs->flags & TEP_FIELD_IS_ARRAY), array);
	assert_true(ours->is_array == array || ours->kind == PERFEV_FIELD_BITMASK);
	if (array && theirs->arraylen) {
		assert_int_equal(ours->count, theirs->arraylen);
		assert_int_equal(ours->element_size, theirs->elementsize);
	}
	if (!array)
		assert_int_equal(ours->element_size == theirs->elementsize || ours->kind == PERFEV_FIELD_BITMASK, 1);
}

static void compare_field(const struct tep_format_field *theirs, const struct perfev_field *ours)
{
	bool dynamic = ours->place == PERFEV_FIELD_DATA_LOC || ours->place == PERFEV_FIELD_REL_LOC;

	assert_non_null(ours);
	assert_string_equal(ours->name, theirs->name);
	assert_int_equal(ours->offset, theirs->offset);
	assert_int_equal(ours->size, theirs->size);
	assert_int_equal(ours->is_signed, !!(theirs->flags & TEP_FIELD_IS_SIGNED));
	assert_int_equal(dynamic, !!(theirs->flags & TEP_FIELD_IS_DYNAMIC));
	assert_int_equal(ours->place == PERFEV_FIELD_REL_LOC, !!(theirs->flags & TEP_FIELD_IS_RELATIVE));
	assert_int_equal(is_text(theirs, ours), !!(theirs->flags & TEP_FIELD_IS_STRING));
	if (ours->is_long && strstr(ours->type, "long"))
		assert_true(theirs->flags & TEP_FIELD_IS_LONG);
	/* an array of pointers is an array to libtraceevent */
	assert_int_equal(ours->kind == PERFEV_FIELD_POINTER, !!(theirs->flags & TEP_FIELD_IS_POINTER));
	compare_shape(theirs, ours);
}

static void compare_format(struct tep_handle *tep, const char *path)
{
	struct perfev_bytes text = read_file(path);
	const struct tep_format_field *theirs;
	struct perfev_tracepoint_info info;
	struct perfev_tracepoint *tp;
	struct tep_event *event;
	size_t i = 0;

	assert_works(perfev_tracepoint_parse(&tp, text, NULL, &err));
	perfev_tracepoint_describe(tp, &info);
	tep_parse_event(tep, text.data, text.size, "any"); /* which fails for some texts to print */
	event = tep_find_event(tep, (int)info.id);
	assert_non_null(event);
	assert_string_equal(info.name, event->name);
	assert_int_equal(info.id, event->id);
	assert_int_equal(info.long_bytes, sizeof(long));
	assert_int_equal(info.common_count, event->format.nr_common);
	assert_int_equal(info.field_count, event->format.nr_common + event->format.nr_fields);
	for (theirs = event->format.common_fields; theirs; theirs = theirs->next)
		compare_field(theirs, perfev_tracepoint_field_at(tp, i++));
	for (theirs = event->format.fields; theirs; theirs = theirs->next)
		compare_field(theirs, perfev_tracepoint_field_at(tp, i++));
	assert_int_equal(i, info.field_count);
	perfev_tracepoint_free(tp);
}

static void test_all_formats(void **state)
{
	struct tep_handle *tep = tep_alloc();
	char pattern[128];
	glob_t found;
	size_t i;

	(void)state;
	need_tracefs();
	assert_non_null(tep);
	tep_set_loglevel(TEP_LOG_NONE);
	snprintf(pattern, sizeof(pattern), "%s/events/*/*/format", root());
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++)
		compare_format(tep, found.gl_pathv[i]);
	print_message("%zu formats compared with libtraceevent\n", i);
	assert_true(i > 20);
	globfree(&found);
	tep_free(tep);
}

#else

static void test_all_formats(void **state)
{
	(void)state;
	SKIP("this was built without libtraceevent, to compare with (Debian: libtraceevent-dev)");
}

#endif

/* Without another opinion: all of them are understood, and what they have lies in a record. */
static void test_all_formats_are_understood(void **state)
{
	unsigned char zeros[65536] = {0};
	struct perfev_bytes raw = {zeros, sizeof(zeros)}, bytes;
	const struct perfev_field *field;
	struct perfev_tracepoint *tp;
	char pattern[128];
	glob_t found;
	size_t i, k;

	(void)state;
	need_tracefs();
	snprintf(pattern, sizeof(pattern), "%s/events/*/*/format", root());
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		assert_works(perfev_tracepoint_parse(&tp, read_file(found.gl_pathv[i]), NULL, &err));
		assert_ptr_equal(perfev_tracepoint_field(tp, "common_pid"), perfev_tracepoint_field_at(tp, 3));
		for (k = 0; (field = perfev_tracepoint_field_at(tp, k)) != NULL; k++)
			assert_true(perfev_field_bytes(field, raw, &bytes));
		assert_true(perfev_tracepoint_format(NULL, 0, tp, raw) > 0 || k == 4);
		perfev_tracepoint_free(tp);
	}
	globfree(&found);
}

/* ---- finding -------------------------------------------------------------------------------------------- */

static void test_find(void **state)
{
	struct perfev_tracepoint_info by_name, by_id;
	struct perfev_tracepoint *one, *other;
	size_t before;

	(void)state;
	need_tracefs();
	before = count_descriptors();
	assert_works(perfev_tracepoint_find(&one, "sched:sched_switch", NULL, &err));
	perfev_tracepoint_describe(one, &by_name);
	assert_string_equal(by_name.system, "sched");
	assert_string_equal(by_name.name, "sched_switch");
	assert_works(perfev_tracepoint_find_id(&other, by_name.id, NULL, &err));
	perfev_tracepoint_describe(other, &by_id);
	assert_string_equal(by_id.system, "sched");
	assert_string_equal(by_id.name, "sched_switch");
	assert_int_equal(by_id.field_count, by_name.field_count);
	perfev_tracepoint_free(other);
	assert_works(perfev_tracepoint_find(&other, "sched:sched_switch", root(), &err));
	perfev_tracepoint_free(other);
	perfev_tracepoint_free(one);
	assert_fails(perfev_tracepoint_find(&one, "sched:sched_swich", NULL, &err), ENOENT);
	assert_says("did you mean sched:sched_switch?");
	assert_fails(perfev_tracepoint_find(&one, "shced:sched_switch", NULL, &err), ENOENT);
	assert_says("did you mean sched:sched_switch?");
	assert_fails(perfev_tracepoint_find_id(&one, 999999, NULL, &err), ENOENT);
	assert_int_equal(count_descriptors(), before);
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

struct work {
	struct perfev_tracepoint *tp;
	struct perfev_event *event;
	struct perfev_sampler *sampler;
};

static void begin_on(struct work *w, const char *name, struct perfev_target on, bool inherit)
{
	struct perf_event_attr *attr;
	int r;

	need_tracefs();
	assert_works(perfev_tracepoint_find(&w->tp, name, NULL, &err));
	assert_works(perfev_event_parse(&w->event, name, &err));
	attr = perfev_event_attr(w->event);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	attr->inherit = inherit;
	r = perfev_sampler_open(&w->sampler, (const struct perfev_event *const *)&w->event, 1, on, NULL, &err);
	if (r == -EACCES || r == -EPERM) {
		perfev_event_free(w->event);
		perfev_tracepoint_free(w->tp);
		SKIP("%s", err.text);
	}
	assert_works(r);
	assert_works(perfev_sampler_start(w->sampler, &err));
}

static void begin(struct work *w, const char *name)
{
	begin_on(w, name, perfev_on_self(), false);
}

/* The raw bytes of the next sample; data is NULL when there is no more. */
static struct perfev_bytes next_raw(struct work *w)
{
	struct perfev_bytes none = {NULL, 0};
	struct perfev_record record;
	struct perfev_sample sample;

	perfev_sampler_wait(w->sampler, 0, NULL);
	while (perfev_sampler_next(w->sampler, &record, &err) > 0) {
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_works(perfev_sample_decode(&sample, &record, perfev_sampler_layout(w->sampler, &record), &err));
		assert_int_equal(sample.raw.size % 8, 4); /* with its own size it fills words */
		return sample.raw;
	}
	return none;
}

static void end(struct work *w)
{
	perfev_sampler_close(w->sampler);
	perfev_event_free(w->event);
	perfev_tracepoint_free(w->tp);
}

static void assert_text(const struct perfev_tracepoint *tp, const char *name, struct perfev_bytes raw,
			const char *wanted)
{
	struct perfev_bytes text;

	assert_true(perfev_field_string(perfev_tracepoint_field(tp, name), raw, &text));
	assert_int_equal(text.size, strlen(wanted));
	assert_memory_equal(text.data, wanted, text.size);
}

static void test_sample(void **state)
{
	char old[16] = "", text[256], wanted[256];
	struct perfev_printer *printer;
	struct perfev_bytes raw;
	struct work w;
	int64_t pid;
	int r;

	(void)state;
	prctl(PR_GET_NAME, old);
	begin(&w, "task:task_rename");
	prctl(PR_SET_NAME, "first name");
	prctl(PR_SET_NAME, old);
	raw = next_raw(&w);
	assert_non_null(raw.data);
	assert_text(w.tp, "newcomm", raw, "first name");
	assert_text(w.tp, "oldcomm", raw, old);
	assert_true(perfev_field_int(perfev_tracepoint_field(w.tp, "common_pid"), raw, &pid));
	assert_int_equal(pid, getpid());
	perfev_tracepoint_format(text, sizeof(text), w.tp, raw);
	assert_non_null(strstr(text, "newcomm=\"first name\" "));
	r = perfev_printer_new(&printer, w.tp, NULL, &err);
	if (r == 0) {
		r = perfev_printer_format(text, sizeof(text), printer, raw, &err);
		assert_int_equal(r, strlen(text));
		snprintf(wanted, sizeof(wanted), "oldcomm=%s newcomm=first name ", old);
		assert_non_null(strstr(text, wanted));
		assert_int_equal(perfev_printer_format(text, 5, printer, raw, &err), r);
		assert_int_equal(strlen(text), 4);
		raw.size = 20;
		assert_fails(perfev_printer_format(text, sizeof(text), printer, raw, &err), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		perfev_printer_free(printer);
	} else {
		assert_int_equal(r, -EOPNOTSUPP);
		assert_says("use perfev_tracepoint_format()");
	}
	raw = next_raw(&w);
	assert_non_null(raw.data);
	assert_text(w.tp, "oldcomm", raw, "first name");
	end(&w);
}

/* A dynamic text, and numbers with and without a sign. */
static void test_dynamic(void **state)
{
	struct perfev_bytes raw;
	int64_t pid, old_pid;
	struct work w;
	int status;
	pid_t child;

	(void)state;
	begin_on(&w, "sched:sched_process_exec", perfev_on_process(getpid()), true);
	child = fork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	raw = next_raw(&w);
	assert_non_null(raw.data);
	assert_text(w.tp, "filename", raw, "/bin/true");
	assert_true(perfev_field_int(perfev_tracepoint_field(w.tp, "pid"), raw, &pid));
	assert_true(perfev_field_int(perfev_tracepoint_field(w.tp, "old_pid"), raw, &old_pid));
	assert_int_equal(pid, child);
	assert_int_equal(old_pid, child);
	end(&w);
}

static void test_syscall(void **state)
{
	struct perfev_bytes raw;
	uint64_t fd, at;
	struct work w;
	char byte;

	(void)state;
	need_tracefs();
	if (is_compat())
		SKIP("the kernel does not trace system calls of programs of 32 bits");
	if (access(root(), R_OK) || perfev_tracepoint_find(&w.tp, "syscalls:sys_enter_read", NULL, &err) < 0)
		SKIP("this kernel has no tracepoints of system calls");
	perfev_tracepoint_free(w.tp);
	begin(&w, "syscalls:sys_enter_read");
	assert_int_equal(read(-7, &byte, 1), -1);
	perfev_sampler_stop(w.sampler, NULL);
	do {
		raw = next_raw(&w);
		assert_non_null(raw.data);
		assert_true(perfev_field_uint(perfev_tracepoint_field(w.tp, "fd"), raw, &fd));
	} while ((uint32_t)fd != (uint32_t)-7);
	assert_int_equal(perfev_tracepoint_field(w.tp, "buf")->kind, PERFEV_FIELD_POINTER);
	assert_true(perfev_field_uint(perfev_tracepoint_field(w.tp, "buf"), raw, &at));
	assert_int_equal(at, (uintptr_t)&byte);
	end(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_all_formats),
	cmocka_unit_test(test_all_formats_are_understood),
	cmocka_unit_test(test_find),
	cmocka_unit_test(test_sample),
	cmocka_unit_test(test_dynamic),
	cmocka_unit_test(test_syscall),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
