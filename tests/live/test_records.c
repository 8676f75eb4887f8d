/* SPDX-License-Identifier: MIT */
/* Each record that this kernel can be made to write, against what is known otherwise: from stat(2), /proc, or because
 * this program did it. BPF programs are in test_bpf.c, samples and losses in test_samples.c. */
#include "watching.h"

#include <elf.h>
#include <link.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>

/* ---- tasks ----------------------------------------------------------------------------------------------- */

static int comms, execs;

static void look_at_comm(const struct perfev_any *any, uint16_t misc)
{
	if (strcmp(any->as.comm.comm, "perfev named it"))
		return;
	assert_int_equal(any->as.comm.pid, getpid());
	assert_int_equal(any->as.comm.tid, getpid());
	assert_int_equal(any->as.trailer.tid, getpid());
	assert_int_equal(misc & PERF_RECORD_MISC_COMM_EXEC, 0);
	comms++;
}

static void test_comm(void **state)
{
	struct perfev_event *event = event_of("dummy:u");
	char before[16];

	(void)state;
	perfev_event_attr(event)->comm = 1;
	watch(event, perfev_on_self());
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "perfev named it");
	prctl(PR_SET_NAME, before);
	assert_int_equal(look_at(PERF_RECORD_COMM, look_at_comm), 2);
	assert_int_equal(comms, 1);
}

static pid_t child_pid, grandchild_pid;

/* A child that waits, then does @work, and a pipe that lets it go. */
static int start_child(void (*work)(void))
{
	int go[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	child_pid = fork();
	if (child_pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			work();
		_exit(1);
	}
	close(go[0]);
	return go[1];
}

static void let_go(int go)
{
	int status;

	assert_int_equal(write(go, "g", 1), 1);
	close(go);
	assert_int_equal(waitpid(child_pid, &status, 0), child_pid);
	assert_int_equal(status, 0);
}

/* Without what would be written if the target could not be watched. */
static void watch_child(struct perfev_event *event, int go)
{
	int r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_task(child_pid), NULL,
				    &err);

	perfev_event_free(event);
	if (r < 0) {
		close(go);
		waitpid(child_pid, NULL, 0);
	}
	if (r == -EACCES || r == -EPERM)
		SKIP("%s", err.text);
	assert_works(r);
	assert_works(perfev_sampler_start(sampler, &err));
}

static void run_true(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static void look_at_exec(const struct perfev_any *any, uint16_t misc)
{
	if (strcmp(any->as.comm.comm, "true"))
		return;
	assert_int_equal(any->as.comm.pid, child_pid);
	execs += (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
}

static void test_exec(void **state)
{
	struct perfev_event *event = event_of("dummy:u");
	int go = start_child(run_true);

	(void)state;
	perfev_event_attr(event)->comm = perfev_event_attr(event)->comm_exec = 1;
	watch_child(event, go);
	let_go(go);
	assert_true(look_at(PERF_RECORD_COMM, look_at_exec) >= 1); /* a program may rename itself */
	assert_int_equal(execs, 1);
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void look_at_fork(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	assert_int_equal(any->as.task.ppid, child_pid);
	assert_int_equal(any->as.task.ptid, child_pid);
	assert_int_equal(any->as.task.pid, any->as.task.tid);
	assert_int_not_equal(any->as.task.pid, child_pid);
	assert_true(any->as.task.time > 0);
	grandchild_pid = (pid_t)any->as.task.pid;
}

static int exits[2];

static void look_at_exit(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	assert_true((pid_t)any->as.task.pid == child_pid || (pid_t)any->as.task.ppid == child_pid);
	exits[(pid_t)any->as.task.pid == child_pid]++;
}

static void watch_tasks(void)
{
	struct perfev_event *event = event_of("dummy:u");
	int go = start_child(fork_once);

	perfev_event_attr(event)->task = perfev_event_attr(event)->inherit = 1;
	watch_child(event, go);
	let_go(go);
}

static void test_fork(void **state)
{
	(void)state;
	watch_tasks();
	assert_int_equal(look_at(PERF_RECORD_FORK, look_at_fork), 1);
	assert_true(grandchild_pid > 0);
}

static void test_exit(void **state)
{
	(void)state;
	watch_tasks();
	assert_int_equal(look_at(PERF_RECORD_EXIT, look_at_exit), 2);
	assert_int_equal(exits[0], 1);
	assert_int_equal(exits[1], 1);
}

static uint64_t read_count;

static void look_at_read(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_read *read_ = &any->as.read;

	(void)misc;
	assert_true(read_->pid == read_->tid && read_->pid != (uint32_t)getpid());
	assert_true(read_->values.present & PERF_FORMAT_TOTAL_TIME_ENABLED);
	read_count += read_->values.count; /* of a CPU on which it did not run it is 0 */
	assert_true(read_->values.enabled_ns >= read_->values.running_ns);
}

/* The counts of a child, when it ends. */
static void test_read(void **state)
{
	struct perfev_event *event = event_of("minor-faults:u");
	struct perf_event_attr *attr = perfev_event_attr(event);
	int reads;
	pid_t child;

	(void)state;
	if (perfev_probe(PERFEV_CAN_INHERIT_READ, &err) <= 0) {
		perfev_event_free(event);
		SKIP("%s", err.text);
	}
	attr->inherit = attr->inherit_stat = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	attr->sample_type |= PERF_SAMPLE_READ; /* so that the format stays as it is */
	watch(event, perfev_on_self());
	child = fork();
	if (child == 0) {
		touch_pages(100);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	reads = look_at(PERF_RECORD_READ, look_at_read);
	if (!reads)
		SKIP("this kernel writes no READ records: from 5.13 on some look for a task that has gone");
	assert_int_equal(reads, perfev_sampler_ring_count(sampler));
	assert_in_range(read_count, 100, 10000);
}

/* ---- mappings ------------------------------------------------------------------------------------------------ */

static struct stat mapped_file;
static void *mapped_at;
static int mappings;
static unsigned char own_build_id[20];
static size_t own_build_id_size;

static int find_build_id(struct dl_phdr_info *info, size_t size, void *context)
{
	int i;

	(void)size;
	(void)context;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const unsigned char *at = (const unsigned char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const unsigned char *end = at + info->dlpi_phdr[i].p_memsz;

		while (info->dlpi_phdr[i].p_type == PT_NOTE && end - at >= 16) {
			ElfW(Nhdr) note;

			memcpy(&note, at, sizeof(note));
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= 20) {
				memcpy(own_build_id, at + 16, note.n_descsz);
				own_build_id_size = note.n_descsz;
			}
			at += sizeof(note) + ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u);
		}
	}
	return 1; /* the program comes first */
}

static void look_at_mmap(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_mmap *m = &any->as.mmap;

	if (m->addr != (uint64_t)(uintptr_t)mapped_at)
		return;
	mappings++;
	assert_true((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER);
	assert_int_equal(m->pid, getpid());
	assert_int_equal(m->len, sysconf(_SC_PAGESIZE));
	assert_int_equal(m->pgoff, 0);
	assert_non_null(strstr(m->filename, program_invocation_short_name));
	if (any->type == PERF_RECORD_MMAP)
		return;
	assert_int_equal(m->prot, PROT_READ | PROT_EXEC);
	assert_int_equal(m->flags & MAP_TYPE, MAP_PRIVATE); /* older kernels add that it has code */
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		assert_int_equal(m->build_id_size, own_build_id_size);
		assert_memory_equal(m->build_id, own_build_id, own_build_id_size);
		return;
	}
	assert_int_equal(m->build_id_size, 0);
	assert_int_equal(m->ino, mapped_file.st_ino);
	assert_int_equal(m->maj, major(mapped_file.st_dev));
	assert_int_equal(m->min, minor(mapped_file.st_dev));
}

static void map_own_program(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && fstat(fd, &mapped_file) == 0);
	mapped_at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped_at, MAP_FAILED);
	munmap(mapped_at, 4096);
	close(fd);
	mappings = 0;
}

static void watch_mappings(bool newer, bool build_id)
{
	struct perfev_event *event = event_of("dummy:u");
	struct perf_event_attr *attr = perfev_event_attr(event);

	attr->mmap = 1;
	attr->mmap2 = newer;
	attr->build_id = build_id;
	watch(event, perfev_on_self());
	map_own_program();
}

static void test_mmap(void **state)
{
	(void)state;
	watch_mappings(false, false);
	look_at(PERF_RECORD_MMAP, look_at_mmap);
	assert_int_equal(mappings, 1);
}

static void test_mmap2(void **state)
{
	(void)state;
	watch_mappings(true, false);
	look_at(PERF_RECORD_MMAP2, look_at_mmap);
	assert_int_equal(mappings, 1);
}

static int with_build_id;

static void count_build_ids(const struct perfev_any *any, uint16_t misc)
{
	if (any->as.mmap.addr == (uint64_t)(uintptr_t)mapped_at)
		with_build_id += !!(misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
	look_at_mmap(any, misc);
}

static void test_mmap2_with_build_id(void **state)
{
	(void)state;
	dl_iterate_phdr(find_build_id, NULL);
	if (!own_build_id_size)
		SKIP("this program was linked without a build-id");
	watch_mappings(true, true);
	look_at(PERF_RECORD_MMAP2, count_build_ids);
	assert_int_equal(mappings, 1);
	assert_int_equal(with_build_id, 1);
}

/* ---- switches -------------------------------------------------------------------------------------------------- */

static int outs, ins;

static void look_at_switch(const struct perfev_any *any, uint16_t misc)
{
	if (any->type == PERF_RECORD_SWITCH_CPU_WIDE && any->as.trailer.tid != (uint32_t)getpid())
		return;
	assert_int_equal(any->as.trailer.tid, getpid());
	if (misc & PERF_RECORD_MISC_SWITCH_OUT)
		outs++;
	else
		ins++;
}

static void test_switch(void **state)
{
	struct perfev_event *event = event_of("dummy:u");

	(void)state;
	perfev_event_attr(event)->context_switch = 1;
	watch(event, perfev_on_self());
	outs = ins = 0;
	sleep_ten_times();
	look_at(PERF_RECORD_SWITCH, look_at_switch);
	assert_true(outs >= 10 && ins >= 10);
}

static void test_switch_of_cpus(void **state)
{
	struct perfev_event *event = event_of("dummy");

	(void)state;
	need(PERFEV_CAN_COUNT_CPU);
	need(PERFEV_CAN_COUNT_KERNEL);
	perfev_event_attr(event)->context_switch = 1;
	watch(event, perfev_on_all_cpus());
	outs = ins = 0;
	sleep_ten_times();
	look_at(PERF_RECORD_SWITCH_CPU_WIDE, look_at_switch);
	assert_true(outs >= 10 && ins >= 10);
}

/* ---- the system ---------------------------------------------------------------------------------------------------- */

static uint64_t uts_inode;
static int namespaces;

static void look_at_namespaces(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_namespaces *n = &any->as.namespaces;

	(void)misc;
	assert_int_equal(n->pid, getpid());
	assert_true(n->links.count / 2 >= NR_NAMESPACES);
	if (perfev_u64s_at(n->links, 2 * UTS_NS_INDEX + 1) == uts_inode)
		namespaces++;
}

static void test_namespaces(void **state)
{
	struct perfev_event *event = event_of("dummy:u");
	struct stat file;

	(void)state;
	if (!is_root()) {
		perfev_event_free(event);
		SKIP("only root may make a namespace");
	}
	perfev_event_attr(event)->namespaces = 1;
	watch(event, perfev_on_self());
	if (unshare(CLONE_NEWUTS) < 0)
		SKIP("unshare(2): %s", strerror(errno));
	assert_int_equal(stat("/proc/self/ns/uts", &file), 0);
	uts_inode = file.st_ino;
	assert_true(look_at(PERF_RECORD_NAMESPACES, look_at_namespaces) >= 1);
	assert_int_equal(namespaces, 1);
}

static char cgroup_path[64];
static uint64_t cgroup_id;
static int cgroups;

static void look_at_cgroup(const struct perfev_any *any, uint16_t misc)
{
	const char *path = any->as.cgroup.path;
	size_t length = strlen(cgroup_path), whole = strlen(path);

	(void)misc;
	if (whole < length || strcmp(path + whole - length, cgroup_path))
		return;
	assert_true(!cgroup_id || any->as.cgroup.id == cgroup_id);
	cgroups++;
}

static void test_cgroup(void **state)
{
	struct perfev_event *event = event_of("dummy");
	const char *root = cgroup_root();
	char path[128];

	(void)state;
	if (!root || !is_root()) {
		perfev_event_free(event);
		SKIP("there is no cgroup file system that this user may write to");
	}
	/* the kernel looks for such records only at events that want another kind too */
	perfev_event_attr(event)->cgroup = perfev_event_attr(event)->comm = 1;
	watch(event, perfev_on_all_cpus());
	snprintf(cgroup_path, sizeof(cgroup_path), "/perfev-test-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s%s", root, cgroup_path);
	if (mkdir(path, 0755) < 0)
		SKIP("cannot make a cgroup: %s", strerror(errno));
	cgroup_id = number_of_folder(path);
	rmdir(path);
	assert_true(look_at(PERF_RECORD_CGROUP, look_at_cgroup) >= 1);
	assert_int_equal(cgroups, 1);
}

/* ---- code that changes -------------------------------------------------------------------------------------------------- */

static void look_at_poke(const struct perfev_any *any, uint16_t misc)
{
	assert_true((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL);
	assert_true(any->as.text_poke.addr >> (8 * sizeof(long) - 1)); /* in the kernel's half */
	assert_true(any->as.text_poke.old_bytes.size + any->as.text_poke.new_bytes.size > 0);
}

/* The kernel puts calls into its code when a tracepoint is used for the first time. */
static void test_text_poke(void **state)
{
	static const char *const texts[] = {"task:task_rename", "sched:sched_process_wait", "signal:signal_generate"};
	struct perfev_event *event = event_of("dummy");
	size_t i;

	(void)state;
	perfev_event_attr(event)->text_poke = 1;
	watch(event, perfev_on_all_cpus());
	for (i = 0; i < 3; i++) {
		struct perfev_counter *counter = NULL;
		struct perfev_event *point;

		if (perfev_event_parse(&point, texts[i], &err) < 0)
			continue;
		perfev_counter_open(&counter, point, perfev_on_self(), NULL, &err);
		perfev_counter_close(counter);
		perfev_event_free(point);
	}
	if (!look_at(PERF_RECORD_TEXT_POKE, look_at_poke))
		SKIP("nothing changed this kernel's code");
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_comm),
	TEST(test_exec),
	TEST(test_fork),
	TEST(test_exit),
	TEST(test_read),
	TEST(test_mmap),
	TEST(test_mmap2),
	TEST(test_mmap2_with_build_id),
	TEST(test_switch),
	TEST(test_switch_of_cpus),
	TEST(test_namespaces),
	TEST(test_cgroup),
	TEST(test_text_poke),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
