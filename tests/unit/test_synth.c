/* SPDX-License-Identifier: MIT */
/* Synthesis: the files of /proc become the records that the kernel would have written, which decode to
 * what stood in the files; tasks that end meanwhile, odd lines and reads in small pieces do no harm. */
#include "test.h"

#include "fake/kernel.h"

#include <perfev/synth.h>

#include <errno.h>

static struct perfev_error err;
static struct perfev_layout *layout;

static int setup(void **state)
{
	struct perf_event_attr attr;

	(void)state;
	fake_reset();
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	attr.sample_id_all = 1;
	return perfev_layout_new(&layout, &attr, &err);
}

static int teardown(void **state)
{
	(void)state;
	perfev_layout_free(layout);
	return fake_left();
}

static void a_process(void)
{
	fake_process(7, 1, "seven", "7 8");
	fake_file("/proc/7/maps",
		  "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/dbus daemon\n"
		  "00651000-00652000 rw-p 00051000 08:02 173521      /usr/bin/dbus daemon\n"
		  "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
		  "7f0000002000-7f0000003000 r-xs 00002000 fd:1a 18446744073709551615   /lib/x.so (deleted)\n"
		  "this is no line of maps\n"
		  "7ffd1000-7ffd2000 r-xp 00000000 00:00 0           [vdso]\n"
		  "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n");
}

static void a_kernel(void)
{
	fake_file("/proc/kallsyms", "ffffffff81000000 T _text\n"
				    "ffffffff81000000 T _stext\n"
				    "ffffffff81000123 t some\n"
				    "ffffffff82000000 T _etext\n"
				    "ffffffffc0000000 t _text\t[mod]\n");
	fake_file("/proc/modules", "snd 40960 2 a,b, Live 0xffffffffc0a00000\n"
				   "hidden 4096 0 - Live 0x0000000000000000\n"
				   "odd line\n"
				   "zram 8192 0 - Live 0xffffffffc0b00000 (E)\n");
}

/* One line for each record, as dump would show it. */
static void describe(char *to, size_t size, const struct perfev_record *record)
{
	struct perfev_any any;

	assert_int_equal(record->size % 8, 0);
	assert_works(perfev_any_decode(&any, record, layout, &err));
	assert_true(any.as.trailer.present ==
		    (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER));
	assert_true(any.as.trailer.time == 0 && any.as.trailer.id == 0 && any.as.trailer.pid == 0);
	if (record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2)
		snprintf(
			to, size,
			"%s misc %u pid %d tid %d %llx+%llx @%llx %x:%x %llu prot %u flags %u %s\n",
			record->type == PERF_RECORD_MMAP ? "MMAP" : "MMAP2", record->misc,
			(int)any.as.mmap.pid, (int)any.as.mmap.tid,
			(unsigned long long)any.as.mmap.addr, (unsigned long long)any.as.mmap.len,
			(unsigned long long)any.as.mmap.pgoff, any.as.mmap.maj, any.as.mmap.min,
			(unsigned long long)any.as.mmap.ino, any.as.mmap.prot, any.as.mmap.flags,
			any.as.mmap.filename);
	else if (record->type == PERF_RECORD_COMM)
		snprintf(to, size, "COMM misc %u %d/%d %s\n", record->misc, (int)any.as.comm.pid,
			 (int)any.as.comm.tid, any.as.comm.comm);
	else if (record->type == PERF_RECORD_FORK)
		snprintf(to, size, "FORK misc %x %d/%d from %d/%d time %llu\n", record->misc,
			 (int)any.as.task.pid, (int)any.as.task.tid, (int)any.as.task.ppid,
			 (int)any.as.task.ptid, (unsigned long long)any.as.task.time);
	else
		fail_msg("a record of type %u", record->type);
}

static void walk(char *to, size_t size, struct perfev_target on, bool no_kernel)
{
	struct perfev_synth_opts opts = {.size = sizeof(opts), .no_kernel = no_kernel};
	struct perfev_record record;
	struct perfev_synth *synth;
	size_t at = 0;
	int r;

	to[0] = 0;
	assert_works(perfev_synth_open(&synth, on, layout, &opts, &err));
	while ((r = perfev_synth_next(synth, &record, &err)) > 0) {
		describe(to + at, size - at, &record);
		at += strlen(to + at);
	}
	assert_int_equal(r, 0);
	assert_int_equal(perfev_synth_next(synth, &record, &err), 0);
	perfev_synth_close(synth);
	assert_int_equal(fake_left(), 0);
}

static const char process_records[] =
	"FORK misc 2000 7/7 from 1/1 time 0\n"
	"COMM misc 0 7/7 seven\n"
	"FORK misc 2000 7/8 from 7/7 time 0\n"
	"COMM misc 0 7/8 seven\n"
	"MMAP2 misc 2 pid 7 tid 7 400000+52000 @1000 8:2 173521 prot 5 flags 2 /usr/bin/dbus daemon\n"
	"MMAP2 misc 2 pid 7 tid 7 7f0000000000+1000 @0 0:0 0 prot 7 flags 2 //anon\n"
	"MMAP2 misc 2 pid 7 tid 7 7f0000002000+1000 @2000 fd:1a 18446744073709551615 prot 5 flags 1 "
	"/lib/x.so (deleted)\n"
	"MMAP2 misc 2 pid 7 tid 7 7ffd1000+1000 @0 0:0 0 prot 5 flags 2 [vdso]\n"
	"MMAP2 misc 2 pid 7 tid 7 ffffffffff600000+1000 @0 0:0 0 prot 4 flags 2 [vsyscall]\n";

static void test_process(void **state)
{
	char text[8192];

	(void)state;
	a_process();
	walk(text, sizeof(text), perfev_on_process(7), true);
	assert_string_equal(text, process_records);
	walk(text, sizeof(text), perfev_on_task(8), true); /* a thread stands for its process */
	assert_string_equal(text, process_records);
	fake.pid = 7;
	walk(text, sizeof(text), perfev_on_self(), true);
	assert_string_equal(text, process_records);
}

static char asked[1024];

/* Links to mapped files may not be followed for one of them; the other has no build-id. */
static int read_build_id(uint8_t ret[20], const char *path, struct perfev_error *why)
{
	(void)why;
	snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s\n", path);
	if (strcmp(path, "/proc/7/root/usr/bin/dbus daemon") != 0)
		return -EACCES;
	memset(ret, 0xab, 20);
	return 16;
}

/* As the kernel does it when attr.build_id is set; each file is read once, one that was deleted not by its name. */
static void test_build_ids(void **state)
{
	struct perfev_synth_opts opts = {.size = sizeof(opts), .no_kernel = 1, .build_id = read_build_id};
	struct perf_event_attr attr = *perfev_layout_attr(layout);
	struct perfev_layout *with;
	struct perfev_record record;
	struct perfev_synth *synth;
	unsigned by_id = 0, by_inode = 0, turn;
	struct perfev_mmap mmap;

	(void)state;
	a_process();
	fake_file("/proc/7/maps", "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/dbus daemon\n"
				  "00500000-00552000 r-xp 00101000 08:02 173521      /usr/bin/dbus daemon\n"
				  "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
				  "7f0000002000-7f0000003000 r-xs 00002000 fd:1a 99   /lib/x.so (deleted)\n"
				  "7f0000012000-7f0000013000 r-xs 00002000 fd:1a 99   /lib/x.so (deleted)\n"
				  "7ffd1000-7ffd2000 r-xp 00000000 00:00 0           [vdso]\n");
	attr.build_id = 1;
	assert_works(perfev_layout_new(&with, &attr, &err));
	for (turn = 0; turn < 2; turn++) { /* an attr that does not ask for them gets none */
		asked[0] = 0;
		assert_works(perfev_synth_open(&synth, perfev_on_process(7), turn ? layout : with, &opts, &err));
		while (perfev_synth_next(synth, &record, &err) > 0) {
			if (record.type != PERF_RECORD_MMAP2)
				continue;
			assert_works(perfev_mmap_decode(&mmap, &record, with, &err));
			by_id += mmap.build_id_size == 16 && mmap.build_id[15] == 0xab && !mmap.build_id[16];
			by_inode += mmap.build_id_size == 0 && mmap.ino && mmap.maj;
			assert_int_equal(!mmap.build_id_size, !(record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID));
			assert_int_equal(mmap.prot & 5, 5);
		}
		perfev_synth_close(synth);
		assert_int_equal(by_id, 2);
		assert_int_equal(by_inode, turn ? 6 : 2);
		assert_string_equal(asked, turn ? ""
						: "/proc/7/map_files/400000-452000\n"
						  "/proc/7/root/usr/bin/dbus daemon\n"
						  "/proc/7/map_files/7f0000002000-7f0000003000\n");
	}
	perfev_layout_free(with);
}

/* However few bytes a read gives, the lines are the same. */
static void test_small_reads(void **state)
{
	char text[8192];
	size_t most;

	(void)state;
	a_process();
	for (most = 1; most < 40; most++) {
		fake.read_most = most;
		walk(text, sizeof(text), perfev_on_process(7), true);
		assert_string_equal(text, process_records);
	}
}

static void test_kernel(void **state)
{
	char text[8192];

	(void)state;
	a_kernel();
	walk(text, sizeof(text), perfev_on_process(99), false);
	assert_string_equal(text,
			    "MMAP misc 1 pid -1 tid 0 ffffffff81000000+1000000 @ffffffff81000000 0:0 0 prot 0 "
			    "flags 0 [kernel.kallsyms]_text\n"
			    "MMAP misc 1 pid -1 tid 0 ffffffffc0a00000+a000 @0 0:0 0 prot 0 flags 0 [snd]\n"
			    "MMAP misc 1 pid -1 tid 0 ffffffffc0b00000+2000 @0 0:0 0 prot 0 flags 0 [zram]\n");
	walk(text, sizeof(text), perfev_on_process(99), true);
	assert_string_equal(text, "");
	fake_file("/proc/kallsyms", "ffffffff81000000 T _stext\nffffffff82000000 T _etext\n");
	fake_remove("/proc/modules");
	walk(text, sizeof(text), perfev_on_process(99), false);
	assert_string_equal(
		text, "MMAP misc 1 pid -1 tid 0 ffffffff81000000+1000000 @ffffffff81000000 0:0 0 "
		      "prot 0 flags 0 [kernel.kallsyms]_stext\n");
}

/* A user who may not see addresses, and kernels without the files: no map, and no harm. */
static void test_hidden_kernel(void **state)
{
	static const char *const files[] = {
		"0000000000000000 T _text\n0000000000000000 T _etext\n",
		"ffffffff81000000 T _text\n",
		"ffffffff82000000 T _text\nffffffff81000000 T _etext\n",
		"\n\ngarbage\n",
		"",
	};
	char text[8192];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fake_file("/proc/kallsyms", files[i]);
		walk(text, sizeof(text), perfev_on_process(99), false);
		assert_string_equal(text, "");
	}
	fake_error("/proc/kallsyms", -EACCES);
	walk(text, sizeof(text), perfev_on_process(99), false);
	assert_string_equal(text, "");
}

static void test_everything(void **state)
{
	char text[8192];

	(void)state;
	fake_process(1, 0, "init", "1");
	fake_process(30, 1, "a b", "30");
	fake_file("/proc/version", "no process");
	fake_file("/proc/30/maps", "1000-2000 r-xp 00000000 01:02 3 /bin/x\n");
	walk(text, sizeof(text), perfev_on_all_cpus(), true);
	assert_string_equal(text, "FORK misc 2000 1/1 from 0/0 time 0\n"
				  "COMM misc 0 1/1 init\n"
				  "FORK misc 2000 30/30 from 1/1 time 0\n"
				  "COMM misc 0 30/30 a b\n"
				  "MMAP2 misc 2 pid 30 tid 30 1000+1000 @0 1:2 3 prot 5 flags 2 /bin/x\n");
}

static void test_tasks_that_end(void **state)
{
	static const int32_t several[] = {99, 7, 98};
	struct perfev_target on = perfev_on_process(0);
	char text[8192];

	(void)state;
	a_process();
	fake_remove("/proc/8/status"); /* a thread that is listed, and gone when it is read */
	fake_remove("/proc/7/maps");
	on.ids = several;
	on.id_count = 3;
	walk(text, sizeof(text), on, true);
	assert_string_equal(text, "FORK misc 2000 7/7 from 1/1 time 0\nCOMM misc 0 7/7 seven\n");
	fake_file("/proc/7/status", "Name:\tx\nPPid:\t1\n"); /* without its Tgid */
	walk(text, sizeof(text), on, true);
	assert_string_equal(text, "");
	fake_remove("/proc/7/comm");
	fake_file("/proc/7/status", "Name:\tx\nTgid:\t7\nPPid:\t1\n");
	walk(text, sizeof(text), on, true);
	assert_string_equal(text, "FORK misc 2000 7/7 from 1/1 time 0\nCOMM misc 0 7/7 \n");
}

/* Names longer than a record can take are cut; a line without an end ends the file. */
static void test_long_names(void **state)
{
	static char text[80000], maps[80000];
	char comm[60];
	size_t size;

	(void)state;
	memset(comm, 'c', sizeof(comm) - 1);
	comm[sizeof(comm) - 1] = 0;
	for (size = 4080; size < 4110; size++) {
		size_t shown = size < 4095 ? size : 4095;

		fake_process(7, 1, comm, "7");
		sprintf(maps, "1000-2000 r-xp 00000000 01:02 3 /");
		memset(maps + strlen(maps), 'n', size);
		strcpy(maps + strlen("1000-2000 r-xp 00000000 01:02 3 ") + size, "\n");
		fake_file("/proc/7/maps", maps);
		walk(text, sizeof(text), perfev_on_process(7), true);
		assert_non_null(strstr(text, " /n"));
		assert_int_equal(strlen(strstr(text, " /n")) - 2, shown);
	}
	memset(maps, 'x', 70000);
	maps[70000] = 0;
	fake_file("/proc/7/maps", maps);
	walk(text, sizeof(text), perfev_on_process(7), true);
	assert_null(strstr(text, "MMAP2"));
}

static void test_without_layout(void **state)
{
	struct perfev_record record;
	struct perfev_synth *synth;
	struct perfev_comm comm;
	int r, n = 0;

	(void)state;
	a_process();
	assert_works(perfev_synth_open(&synth, perfev_on_process(7), NULL, NULL, &err));
	while ((r = perfev_synth_next(synth, &record, &err)) > 0)
		if (record.type == PERF_RECORD_COMM) {
			assert_works(perfev_comm_decode(&comm, &record, NULL, &err));
			assert_string_equal(comm.comm, "seven");
			assert_int_equal(record.size, 24);
			n++;
		}
	assert_int_equal(n, 2);
	perfev_synth_close(synth); /* and once in the middle */
	assert_works(perfev_synth_open(&synth, perfev_on_process(7), NULL, NULL, &err));
	while (perfev_synth_next(synth, &record, &err) > 0 && record.type != PERF_RECORD_MMAP2)
		;
	perfev_synth_close(synth);
	perfev_synth_close(NULL);
}

static void test_no_proc(void **state)
{
	struct perfev_synth *synth = NULL;

	(void)state;
	assert_fails(perfev_synth_open(&synth, perfev_on_all_cpus(), NULL, NULL, &err), ENOENT);
	assert_says("/proc");
	assert_null(synth);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_build_ids, setup, teardown),
	cmocka_unit_test_setup_teardown(test_small_reads, setup, teardown),
	cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
	cmocka_unit_test_setup_teardown(test_hidden_kernel, setup, teardown),
	cmocka_unit_test_setup_teardown(test_everything, setup, teardown),
	cmocka_unit_test_setup_teardown(test_tasks_that_end, setup, teardown),
	cmocka_unit_test_setup_teardown(test_long_names, setup, teardown),
	cmocka_unit_test_setup_teardown(test_without_layout, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_proc, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
