/* SPDX-License-Identifier: MIT */
/* Each record that this kernel can be made to write, and each field of a sample, against what is known otherwise:
 * from stat(2), /proc, bpf(2), or because this program did it. */
#include "live.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

static struct perfev_error err;
static struct perfev_sampler *sampler;

#define ID_FIELDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* An event whose attr a test changes before it is watched. */
static struct perfev_event *event_of(const char *text)
{
	struct perfev_event *event = NULL;

	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_type = ID_FIELDS;
	return event;
}

/* Opens and starts. Only what this user may not, or this kernel does not know, is a reason to skip. */
static void watch(struct perfev_event *event, struct perfev_target on)
{
	int r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, on, NULL, &err);

	perfev_event_free(event);
	if (r == -EACCES || r == -EPERM || (r < 0 && err.why == PERFEV_WHY_OLD_KERNEL))
		SKIP("%s", err.text);
	assert_works(r);
	assert_works(perfev_sampler_start(sampler, &err));
}

/* Stops, and shows @look each record of @type; the number of these. What there is beside is decoded. */
static int look_at(uint32_t type, void (*look)(const struct perfev_any *any, uint16_t misc))
{
	struct perfev_record record;
	struct perfev_any any;
	int n = 0;

	assert_works(perfev_sampler_stop(sampler, &err));
	while (perfev_sampler_wait(sampler, 0, &err) > 0) {
		while (perfev_sampler_next(sampler, &record, &err) > 0) {
			assert_works(perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err));
			if (record.type != type)
				continue;
			n++;
			if (look)
				look(&any, record.misc);
		}
		perfev_sampler_release(sampler);
	}
	return n;
}

static int teardown(void **state)
{
	(void)state;
	perfev_sampler_close(sampler);
	sampler = NULL;
	return 0;
}

static bool is_root(void)
{
	return geteuid() == 0;
}

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

static void sleep_ten_times(void)
{
	const struct timespec short_time = {0, 2000000}; /* long enough for a slow machine to fall asleep */
	int i;

	for (i = 0; i < 10; i++)
		nanosleep(&short_time, NULL);
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

/* The file handle of the folder is its number. */
static uint64_t number_of_folder(const char *path)
{
	uint64_t room[8] = {0}, number;
	struct file_handle *handle = (struct file_handle *)(void *)room;
	int mount;

	handle->handle_bytes = 8;
	if (name_to_handle_at(AT_FDCWD, path, handle, &mount, 0) < 0 || handle->handle_bytes != 8)
		return 0;
	memcpy(&number, (unsigned char *)room + sizeof(*handle), 8);
	return number;
}

static const char *cgroup_root(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char file[80];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(file, sizeof(file), "%s/cgroup.procs", roots[i]);
		if (access(file, W_OK) == 0)
			return roots[i];
	}
	return NULL;
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

/* ---- BPF ------------------------------------------------------------------------------------------------------------ */

/* bpf(2), as much of it as these tests need; written down, since headers may be older than kernels. */
struct instruction {
	uint8_t code, registers; /* from << 4 | to */
	int16_t offset;
	int32_t value;
};

union bpf_arguments {
	struct {
		uint32_t type, count;
		uint64_t instructions, license;
		uint32_t log_level, log_size;
		uint64_t log;
		uint32_t kernel, flags;
		char name[16];
	} load;
	struct {
		uint32_t type, key_size, value_size, entries;
	} map;
	struct {
		uint32_t fd, padding;
		uint64_t key, value, flags;
	} set;
	struct {
		uint32_t fd, size;
		uint64_t info;
	} info;
	uint64_t room[16];
};

struct program_info {
	uint32_t type, id;
	uint8_t tag[8];
	uint32_t jited_size, rest[49];
};

enum { BPF_MAKE_MAP = 0, BPF_SET_ELEMENT = 2, BPF_LOAD_PROGRAM = 5, BPF_INFO = 15 };

static int call_bpf(int command, union bpf_arguments *arguments)
{
#ifdef __NR_bpf
	return (int)syscall(__NR_bpf, command, arguments, sizeof(*arguments));
#else
	(void)command;
	(void)arguments;
	errno = ENOSYS;
	return -1;
#endif
}

static int load_program(uint32_t type, const struct instruction *code, size_t count)
{
	union bpf_arguments a;

	memset(&a, 0, sizeof(a));
	a.load.type = type;
	a.load.count = (uint32_t)count;
	a.load.instructions = (uint64_t)(uintptr_t)code;
	a.load.license = (uint64_t)(uintptr_t)"Dual MIT/GPL";
	strcpy(a.load.name, "perfev_test");
	return call_bpf(BPF_LOAD_PROGRAM, &a);
}

static struct program_info program;
static int loads, unloads, symbols, unregistered;

static void look_at_bpf_event(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	if (any->as.bpf_event.id != program.id)
		return;
	assert_memory_equal(any->as.bpf_event.tag, program.tag, 8);
	loads += any->as.bpf_event.type == PERF_BPF_EVENT_PROG_LOAD;
	unloads += any->as.bpf_event.type == PERF_BPF_EVENT_PROG_UNLOAD;
}

static void look_at_ksymbol(const struct perfev_any *any, uint16_t misc)
{
	char name[64];
	int i, used = snprintf(name, sizeof(name), "bpf_prog_");

	(void)misc;
	for (i = 0; i < 8; i++)
		used += snprintf(name + used, sizeof(name) - (size_t)used, "%02x", program.tag[i]);
	if (strncmp(any->as.ksymbol.name, name, (size_t)used))
		return;
	assert_int_equal(any->as.ksymbol.ksym_type, PERF_RECORD_KSYMBOL_TYPE_BPF);
	assert_true(any->as.ksymbol.addr >> 63 && any->as.ksymbol.len >= program.jited_size);
	symbols++;
	unregistered += !!(any->as.ksymbol.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
}

/* A program that comes and goes while all CPUs are watched. */
static void watch_a_program(void)
{
	static const struct instruction code[] = {{0xb7, 0, 0, 0}, {0x95, 0, 0, 0}};
	struct perfev_event *event = event_of("dummy");
	union bpf_arguments a;
	int fd;

	perfev_event_attr(event)->ksymbol = perfev_event_attr(event)->bpf_event = 1;
	watch(event, perfev_on_all_cpus());
	fd = load_program(1, code, 2);
	if (fd < 0)
		SKIP("bpf(2): %s", strerror(errno));
	memset(&a, 0, sizeof(a));
	memset(&program, 0, sizeof(program));
	a.info.fd = (uint32_t)fd;
	a.info.size = sizeof(program);
	a.info.info = (uint64_t)(uintptr_t)&program;
	assert_int_equal(call_bpf(BPF_INFO, &a), 0);
	close(fd);
}

static void test_bpf_event(void **state)
{
	(void)state;
	watch_a_program();
	look_at(PERF_RECORD_BPF_EVENT, look_at_bpf_event);
	assert_int_equal(loads, 1);
	assert_int_equal(unloads, 1);
}

static void test_ksymbol(void **state)
{
	(void)state;
	watch_a_program();
	if (!program.jited_size)
		SKIP("this kernel interprets BPF: there is no code that could have a name");
	look_at(PERF_RECORD_KSYMBOL, look_at_ksymbol);
	assert_in_range(symbols, 1, 2); /* it goes later, when nobody can be in it */
	assert_true(unregistered < symbols);
}

static int outputs;

static void look_at_output(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_sample *sample = &any->as.sample;
	uint64_t word;

	(void)misc;
	assert_true(sample->raw.size >= 8 && (sample->raw.size + 4) % 8 == 0);
	memcpy(&word, sample->raw.data, 8);
	assert_true(word == 0x5eed);
	outputs++;
}

/* A program at each page fault, which writes a word into the ring of an event of the kind bpf-output. */
static int load_writer(int map)
{
	const struct instruction code[] = {
		{0x7a, 0x0a, -8, 0x5eed},	 /* *(u64 *)(r10 - 8) = 0x5eed */
		{0x18, 0x12, 0, map}, {0, 0, 0, 0}, /* r2 = the map */
		{0xb4, 0x03, 0, -1},		 /* r3 = this CPU */
		{0xbf, 0xa4, 0, 0},		 /* r4 = r10 */
		{0x07, 0x04, 0, -8},		 /* r4 += -8 */
		{0xb7, 0x05, 0, 8},		 /* r5 = 8 bytes */
		{0x85, 0, 0, 25},		 /* perf_event_output(ctx, map, cpu, data, size) */
		{0xb7, 0, 0, 0}, {0x95, 0, 0, 0},
	};

	return load_program(7, code, sizeof(code) / sizeof(code[0]));
}

/* The loop is written out: the events are opened one a CPU, as the map of the program wants them. */
static void test_bpf_output(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .sample_period = 1, .exclude_kernel = 1, .exclude_hv = 1};
	struct perf_event_attr output = {.size = sizeof(output), .type = PERF_TYPE_SOFTWARE,
					 .config = PERF_COUNT_SW_BPF_OUTPUT, .sample_period = 1, .wakeup_events = 1,
					 .sample_type = PERF_SAMPLE_RAW};
	struct perf_event_mmap_page *page = NULL;
	struct perfev_layout *layout;
	struct perfev_record record;
	struct perfev_any any;
	union bpf_arguments a;
	cpu_set_t before, one;
	uint32_t key;
	uint64_t at;
	int map, writer, ring, faults;

	(void)state;
	memset(&a, 0, sizeof(a));
	a.map.type = 4; /* an array of events */
	a.map.key_size = a.map.value_size = 4;
	a.map.entries = 1024;
	map = call_bpf(BPF_MAKE_MAP, &a);
	if (map < 0)
		SKIP("bpf(2): %s", strerror(errno));
	sched_getaffinity(0, sizeof(before), &before);
	for (key = 0; !CPU_ISSET(key, &before); key++)
		;
	CPU_ZERO(&one);
	CPU_SET(key, &one);
	sched_setaffinity(0, sizeof(one), &one);
	writer = load_writer(map);
	ring = perfev_raw_open(&output, -1, (int)key, -1, PERF_FLAG_FD_CLOEXEC);
	faults = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (writer < 0)
		SKIP("this user may load no program that writes: %s", strerror(errno));
	assert_true(ring >= 0 && faults >= 0);
	assert_int_equal(perfev_raw_mmap(&page, ring, 65536, true), 0);
	memset(&a, 0, sizeof(a));
	a.set.fd = (uint32_t)map;
	a.set.key = (uint64_t)(uintptr_t)&key;
	a.set.value = (uint64_t)(uintptr_t)&ring;
	assert_int_equal(call_bpf(BPF_SET_ELEMENT, &a), 0);
	assert_int_equal(perfev_raw_set_bpf(faults, writer), 0);
	touch_pages(100);
	perfev_raw_disable(faults, 0);
	sched_setaffinity(0, sizeof(before), &before);
	assert_works(perfev_layout_new(&layout, &output, &err));
	for (at = 0; at < page->data_head; at += record.size) {
		struct perfev_bytes bytes = {(unsigned char *)page + page->data_offset + at, (size_t)(page->data_head - at)};

		assert_works(perfev_record_from_bytes(&record, bytes, 0, &err));
		assert_works(perfev_any_decode(&any, &record, layout, &err));
		look_at_output(&any, record.misc);
	}
	assert_in_range(outputs, 100, 150);
	perfev_layout_free(layout);
	perfev_raw_munmap(page, 65536);
	close(faults);
	close(ring);
	close(writer);
	close(map);
}

/* ---- code that changes; too many samples ---------------------------------------------------------------------------- */

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

static int throttles;

static void look_at_throttle(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	assert_true(any->as.throttle.time > 0 && any->as.throttle.id > 0);
	throttles++;
}

/* Its count is nanoseconds: thousands of overflows at once. */
static void test_throttle(void **state)
{
	struct perfev_event *event = NULL;

	(void)state;
	if (!is_root() || perfev_event_parse(&event, "sched:sched_stat_runtime", &err) < 0)
		SKIP("%s", is_root() ? err.text : "only root may see the scheduler's tracepoints");
	perfev_event_attr(event)->sample_period = 1000;
	perfev_event_attr(event)->sample_type = ID_FIELDS | PERF_SAMPLE_ID;
	watch(event, perfev_on_self());
	burn_ms(30);
	sleep_ten_times();
	look_at(PERF_RECORD_THROTTLE, look_at_throttle);
	if (!throttles)
		SKIP("perf_event_max_sample_rate is so high that nothing was throttled");
}

/* ---- fields of samples ------------------------------------------------------------------------------------------------- */

static volatile unsigned long watched __attribute__((aligned(4096)));
static struct perfev_sample seen;
static unsigned char seen_stack[4096];
static uint64_t seen_chain[64], seen_sp, seen_ip;
static int samples;

static void look_at_sample(const struct perfev_any *any, uint16_t misc)
{
	uint32_t i;

	assert_true((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER);
	seen = any->as.sample;
	if (seen.present & PERF_SAMPLE_STACK_USER)
		memcpy(seen_stack, seen.stack_user.data, seen.stack_user.size);
	if (seen.present & PERF_SAMPLE_CALLCHAIN)
		for (i = 0; i < seen.callchain.count && i < 64; i++)
			seen_chain[i] = perfev_u64s_at(seen.callchain, i);
	if (seen.present & PERF_SAMPLE_REGS_USER) {
		unsigned abi;
		enum perfev_arch arch = perfev_arch_host(&abi);

		assert_int_equal(seen.regs_user.abi, abi);
		assert_true(perfev_registers_get(&seen.regs_user, (unsigned)perfev_reg_index(arch, abi, "sp"), &seen_sp));
		assert_true(perfev_registers_get(&seen.regs_user, (unsigned)perfev_reg_index(arch, abi, "pc"), &seen_ip));
	}
	samples++;
}

static uint64_t local_at;

/* A write that a breakpoint sees, by a function whose stack has a word that is known. */
PLAIN static void write_watched(void)
{
	volatile uint64_t local = UINT64_C(0x5ca1ab1e0ddba11);

	local_at = (uint64_t)(uintptr_t)&local;
	watched++;
	(void)local;
}

static struct perfev_event *breakpoint(uint64_t sample_type)
{
	char text[64];
	struct perfev_event *event = NULL;

	snprintf(text, sizeof(text), "mem:0x%llx/%zu:w:u", (unsigned long long)(uintptr_t)&watched, sizeof(watched));
	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_type = sample_type;
	perfev_event_attr(event)->sample_period = 1;
	return event;
}

static void watch_a_write(struct perfev_event *event)
{
	int r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL, &err);

	perfev_event_free(event);
	if (r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENOSPC || r == -EOPNOTSUPP || r == -ENODEV ||
	    (r == -EINVAL && strstr(err.text, "does not tell writes from reads")) ||
	    (r < 0 && err.why == PERFEV_WHY_OLD_KERNEL))
		SKIP("%s", err.text);
	assert_works(r);
	samples = 0;
	assert_works(perfev_sampler_start(sampler, &err));
	write_watched();
	look_at(PERF_RECORD_SAMPLE, look_at_sample);
	if (!samples)
		SKIP("this machine's breakpoints do not hit");
	assert_int_equal(samples, 1);
}

static void test_callchain(void **state)
{
	struct perfev_event *event = breakpoint(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;

	(void)state;
	perfev_event_attr(event)->exclude_callchain_kernel = 1;
	watch_a_write(event);
	assert_true(seen.callchain.count >= 3);
	perfev_callchain_begin(&chain, (struct perfev_u64s){seen_chain, seen.callchain.count < 64 ? seen.callchain.count : 64, false},
			       seen.misc);
	assert_int_equal(perfev_callchain_next(&chain, &entry), 1);
	assert_int_equal(entry.context, PERFEV_CONTEXT_USER);
	assert_true(entry.first && entry.ip == seen.ip);
	assert_int_equal(perfev_callchain_next(&chain, &entry), 1);
	assert_false(entry.first);
}

static void test_registers_and_stack(void **state)
{
	struct perfev_event *event = breakpoint(PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	struct perf_event_attr *attr = perfev_event_attr(event);
	unsigned abi;
	enum perfev_arch arch = perfev_arch_host(&abi);
	uint64_t word;

	(void)state;
#ifdef __arm__
	if (is_compat()) {
		perfev_event_free(event);
		SKIP("a 64-bit kernel has the registers of this program at other places");
	}
#endif
	attr->sample_regs_user = perfev_reg_mask(arch, abi) & (is_compat() ? 0x1ff : ~UINT64_C(0)); /* the kernel's are fewer */
	attr->sample_stack_user = sizeof(seen_stack);
	watch_a_write(event);
	assert_true(seen_ip == seen.ip);
	assert_true(seen.stack_user_size == sizeof(seen_stack) && seen.stack_user.size > 0);
	assert_true(local_at >= seen_sp - 128 && local_at < seen_sp + seen.stack_user.size); /* a red zone below */
	if (local_at >= seen_sp) {
		memcpy(&word, seen_stack + (local_at - seen_sp), 8);
		assert_true(word == UINT64_C(0x5ca1ab1e0ddba11));
	}
}

static void test_page_sizes(void **state)
{
	(void)state;
	watch_a_write(breakpoint(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE));
	assert_true(seen.addr == (uint64_t)(uintptr_t)&watched);
	assert_int_equal(seen.data_page_size, sysconf(_SC_PAGESIZE));
	assert_true(seen.code_page_size >= (uint64_t)sysconf(_SC_PAGESIZE));
	assert_true((seen.code_page_size & (seen.code_page_size - 1)) == 0);
}

/* Where the page is, as root reads it in /proc/self/pagemap; 0 when that is not shown. */
static uint64_t physical(uint64_t address)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, 8, (off_t)(address / page * 8)) != 8)
		entry = 0;
	close(fd);
	entry &= (UINT64_C(1) << 55) - 1;
	return entry ? entry * page + address % page : 0;
}

static void test_physical_address(void **state)
{
	uint64_t expected;

	(void)state;
	watched = 1;
	watch_a_write(breakpoint(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR));
	expected = physical((uint64_t)(uintptr_t)&watched);
	if (!expected)
		SKIP("this user does not see where pages are");
	assert_true(seen.phys_addr == expected);
}

/* The folder of the own cgroup, in the hierarchy of version 2. */
static bool find_own_cgroup(const char *root, char *path, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool found = false;
	char line[256];

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		found = !strncmp(line, "0::/", 4);
	}
	if (file)
		fclose(file);
	return found && snprintf(path, size, "%s%s", root, line + 3) > 0;
}

/* The cgroup of a sample is that of /proc/self/cgroup, whose folder has its number. */
static void test_cgroup_of_a_sample(void **state)
{
	const char *root = cgroup_root();
	char path[400];

	(void)state;
	watch_a_write(breakpoint(PERF_SAMPLE_IP | PERF_SAMPLE_CGROUP));
	assert_true(seen.cgroup > 0);
	if (!root || !strcmp(root, "/sys/fs/cgroup/perf_event") || !find_own_cgroup(root, path, sizeof(path)))
		SKIP("there is no cgroup file system of version 2 to compare with");
	assert_true(seen.cgroup == number_of_folder(path));
}

static char raw_text[256];

static void look_at_raw(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_sample *sample = &any->as.sample;
	size_t i;

	(void)misc;
	assert_true(sample->raw.size > 8 && sample->raw.size < sizeof(raw_text));
	for (i = 0; i < sample->raw.size; i++)
		if (!strncmp((const char *)sample->raw.data + i, "perfev raw", sample->raw.size - i < 10 ? 1 : 10))
			strcpy(raw_text, "found");
}

static void test_raw_of_a_tracepoint(void **state)
{
	struct perfev_event *event = NULL;
	char before[16];

	(void)state;
	if (perfev_event_parse(&event, "task:task_rename", &err) < 0)
		SKIP("%s", err.text);
	perfev_event_attr(event)->sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME;
	perfev_event_attr(event)->sample_period = 1;
	watch(event, perfev_on_self());
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "perfev raw");
	prctl(PR_SET_NAME, before);
	assert_int_equal(look_at(PERF_RECORD_SAMPLE, look_at_raw), 2);
	assert_string_equal(raw_text, "found");
}

static void look_at_group(const struct perfev_any *any, uint16_t misc)
{
	const struct perfev_values *values = &any->as.sample.read;
	struct perfev_value first, second;

	(void)misc;
	assert_int_equal(values->members, 2);
	assert_true(perfev_values_at(values, 0, &first) && perfev_values_at(values, 1, &second));
	assert_false(perfev_values_at(values, 2, &first));
	assert_int_equal(first.count, ++samples);
	assert_true(first.id && second.id && first.id != second.id);
	assert_true(second.count + 1 >= first.count && second.count <= first.count + 10); /* of the same faults */
}

static void test_counts_of_a_group(void **state)
{
	struct perfev_event *events[2] = {event_of("minor-faults:u"), event_of("page-faults:u")};
	static const size_t leaders[2] = {0, 0};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .leaders = leaders};
	struct perf_event_attr *attr = perfev_event_attr(events[0]);

	(void)state;
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_READ;
	attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
	perfev_event_attr(events[1])->read_format = attr->read_format;
	assert_works(perfev_sampler_open(&sampler, (const struct perfev_event *const *)events, 2, perfev_on_self(), &opts, &err));
	perfev_event_free(events[0]);
	perfev_event_free(events[1]);
	samples = 0;
	assert_works(perfev_sampler_start(sampler, &err));
	touch_pages(50);
	assert_in_range(look_at(PERF_RECORD_SAMPLE, look_at_group), 50, 60);
}

/* ---- loss ------------------------------------------------------------------------------------------------------------------ */

static uint64_t lost_told;

static void look_at_lost(const struct perfev_any *any, uint16_t misc)
{
	(void)misc;
	lost_told += any->as.lost.lost;
}

/* What a full ring lost stands before the next record that has room. */
static void test_lost(void **state)
{
	struct perfev_event *event = event_of("minor-faults:u");
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 4096};
	struct perfev_record record;
	uint64_t faults, first = 0;

	(void)state;
	perfev_event_attr(event)->sample_period = 1;
	assert_works(perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), &opts, &err));
	perfev_event_free(event);
	assert_works(perfev_sampler_start(sampler, &err));
	faults = 1000 + perfev_sampler_ring_bytes(sampler) / 16; /* more than it can hold */
	touch_pages((size_t)faults);
	while (perfev_sampler_next(sampler, &record, &err) > 0)
		first += record.type == PERF_RECORD_SAMPLE;
	perfev_sampler_release(sampler);
	touch_pages(50);
	assert_int_equal(look_at(PERF_RECORD_LOST, look_at_lost), 1);
	assert_true(first > 0);
	assert_in_range(first + lost_told, faults, faults + 10);
}

/* Whether records that come while the output is paused are lost, is the kernel's to say: it counts them. */
static void test_paused(void **state)
{
	struct perfev_event *event = event_of("minor-faults:u");
	struct perfev_loss loss;

	(void)state;
	perfev_event_attr(event)->sample_period = 1;
	watch(event, perfev_on_self());
	touch_pages(10);
	if (perfev_sampler_pause(sampler, &err) < 0)
		SKIP("%s", err.text);
	touch_pages(1000);
	assert_works(perfev_sampler_resume(sampler, &err));
	touch_pages(10);
	assert_works(perfev_sampler_stop(sampler, &err));
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	lost_told = 0;
	assert_in_range(look_at(PERF_RECORD_LOST, look_at_lost), 0, 1);
	if (!loss.exact)
		SKIP("this kernel has no PERF_FORMAT_LOST");
	assert_in_range(lost_told, 1000, 1010);
	assert_in_range(loss.records, 1000, 1010);
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
	TEST(test_bpf_event),
	TEST(test_ksymbol),
	TEST(test_bpf_output),
	TEST(test_text_poke),
	TEST(test_throttle),
	TEST(test_callchain),
	TEST(test_registers_and_stack),
	TEST(test_page_sizes),
	TEST(test_physical_address),
	TEST(test_cgroup_of_a_sample),
	TEST(test_raw_of_a_tracepoint),
	TEST(test_counts_of_a_group),
	TEST(test_lost),
	TEST(test_paused),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
