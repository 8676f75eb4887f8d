/* SPDX-License-Identifier: MIT */
/*
 * The kernel's interface as this compiler lays it out: sizes, offsets, and for each bit-field the
 * bytes that change when it is set. What is expected is written down here, for both byte orders;
 * that it is right is shown by the same test with the kernel's own header in place of ours
 * (-DWITH_SYSTEM_HEADER), which tests/cross does for each target that has one.
 */
#ifdef WITH_SYSTEM_HEADER
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include <stdio.h>
#include <string.h>
#else
#include "test.h"
#endif

/* What a kernel's header has, as far as this test needs to know. */
#ifdef PERF_ATTR_SIZE_VER8
#define HAVE_CONFIG3 1
#endif
#ifdef PERF_ATTR_SIZE_VER9
#define HAVE_CONFIG4 1
#endif
#ifdef PERF_MEM_REGION_NA
#define HAVE_REGION 1
#endif

static int big_endian(void)
{
	const uint16_t one = 1;

	return !*(const unsigned char *)&one;
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* How a word's bits are counted: by C's bit-fields, which begin at the first byte's low end or, on
 * big-endian machines, at its high end; or as a number, whose bits are where the machine has it. */
enum counted { AS_FIELDS, AS_NUMBER };

static void set_expected(unsigned char *bytes, size_t word_bytes, unsigned bit, enum counted how)
{
	if (!big_endian())
		bytes[bit / 8] |= (unsigned char)(1 << bit % 8);
	else if (how == AS_FIELDS)
		bytes[bit / 8] |= (unsigned char)(0x80 >> bit % 8);
	else
		bytes[word_bytes - 1 - bit / 8] |= (unsigned char)(1 << bit % 8);
}

static void check_bits(const char *name, const void *object, size_t size, size_t at,
		       size_t word_bytes, unsigned bit, unsigned width, enum counted how)
{
	unsigned char expected[2048];
	unsigned i;

	assert_true(size <= sizeof(expected));
	memset(expected, 0, size);
	for (i = bit; i < bit + width; i++)
		set_expected(expected + at, word_bytes, i, how);
	if (memcmp(object, expected, size))
		fail_msg("%s is not at bit %u of the word at %u", name, bit, (unsigned)at);
}

/* Sets a field to all ones, and looks at every byte of the object. */
#define FIELD(type, field, at, word_bytes, bit, width, how)                                \
	do {                                                                               \
		type object;                                                               \
		memset(&object, 0, sizeof(object));                                        \
		object.field = (1U << (width)) - 1U;                                  \
		check_bits(#field, &object, sizeof(object), at, word_bytes, bit, width, how); \
	} while (0)

#define ATTR(field, bit)       FIELD(struct perf_event_attr, field, 40, 8, bit, 1, AS_FIELDS)
#define PAGE(field, bit)       FIELD(struct perf_event_mmap_page, field, 40, 8, bit, 1, AS_FIELDS)
#define BRANCH(field, bit, width) \
	FIELD(struct perf_branch_entry, field, 16, 8, bit, width, AS_FIELDS)
#define SOURCE(field, bit, width) FIELD(union perf_mem_data_src, field, 0, 8, bit, width, AS_NUMBER)

static void test_bits_of_attr(void **state)
{
	(void)state;
	ATTR(disabled, 0);
	ATTR(inherit, 1);
	ATTR(pinned, 2);
	ATTR(exclusive, 3);
	ATTR(exclude_user, 4);
	ATTR(exclude_kernel, 5);
	ATTR(exclude_hv, 6);
	ATTR(exclude_idle, 7);
	ATTR(mmap, 8);
	ATTR(comm, 9);
	ATTR(freq, 10);
	ATTR(inherit_stat, 11);
	ATTR(enable_on_exec, 12);
	ATTR(task, 13);
	ATTR(watermark, 14);
	FIELD(struct perf_event_attr, precise_ip, 40, 8, 15, 2, AS_FIELDS);
	ATTR(mmap_data, 17);
	ATTR(sample_id_all, 18);
	ATTR(exclude_host, 19);
	ATTR(exclude_guest, 20);
	ATTR(exclude_callchain_kernel, 21);
	ATTR(exclude_callchain_user, 22);
	ATTR(mmap2, 23);
	ATTR(comm_exec, 24);
	ATTR(use_clockid, 25);
	ATTR(context_switch, 26);
	ATTR(write_backward, 27);
	ATTR(namespaces, 28);
	ATTR(ksymbol, 29);
	ATTR(bpf_event, 30);
	ATTR(aux_output, 31);
	ATTR(cgroup, 32);
	ATTR(text_poke, 33);
	ATTR(build_id, 34);
	ATTR(inherit_thread, 35);
	ATTR(remove_on_exec, 36);
	ATTR(sigtrap, 37);
#ifdef HAVE_CONFIG4
	ATTR(defer_callchain, 38);
	ATTR(defer_output, 39);
	FIELD(struct perf_event_attr, __reserved_1, 40, 8, 40, 24, AS_FIELDS);
	FIELD(struct perf_event_attr, aux_start_paused, 116, 4, 0, 1, AS_FIELDS);
	FIELD(struct perf_event_attr, aux_pause, 116, 4, 1, 1, AS_FIELDS);
	FIELD(struct perf_event_attr, aux_resume, 116, 4, 2, 1, AS_FIELDS);
	FIELD(struct perf_event_attr, __reserved_3, 116, 4, 3, 29, AS_FIELDS);
#endif
}

static void test_bits_of_the_page(void **state)
{
	(void)state;
	PAGE(cap_bit0, 0);
	PAGE(cap_bit0_is_deprecated, 1);
	PAGE(cap_user_rdpmc, 2);
	PAGE(cap_user_time, 3);
	PAGE(cap_user_time_zero, 4);
	PAGE(cap_user_time_short, 5);
}

static void test_bits_of_a_branch(void **state)
{
	(void)state;
	BRANCH(mispred, 0, 1);
	BRANCH(predicted, 1, 1);
	BRANCH(in_tx, 2, 1);
	BRANCH(abort, 3, 1);
	BRANCH(cycles, 4, 16);
	BRANCH(type, 20, 4);
	BRANCH(spec, 24, 2);
	BRANCH(new_type, 26, 4);
	BRANCH(priv, 30, 3);
	BRANCH(reserved, 33, 31);
}

static void test_bits_of_a_data_source(void **state)
{
	(void)state;
	SOURCE(mem_op, 0, 5);
	SOURCE(mem_lvl, 5, 14);
	SOURCE(mem_snoop, 19, 5);
	SOURCE(mem_lock, 24, 2);
	SOURCE(mem_dtlb, 26, 7);
	SOURCE(mem_lvl_num, 33, 4);
	SOURCE(mem_remote, 37, 1);
	SOURCE(mem_snoopx, 38, 2);
	SOURCE(mem_blk, 40, 3);
	SOURCE(mem_hops, 43, 3);
#ifdef HAVE_REGION
	SOURCE(mem_region, 46, 5);
	SOURCE(mem_rsvd, 51, 13);
#endif
}

static void test_parts_of_a_weight(void **state)
{
	union perf_sample_weight weight;

	(void)state;
	weight.full = UINT64_C(0x4444333322221111);
	assert_int_equal(weight.var1_dw, 0x22221111);
	assert_int_equal(weight.var2_w, 0x3333);
	assert_int_equal(weight.var3_w, 0x4444);
}

/* One number, the same on both byte orders, through the fields and through shifts. */
static void test_a_data_source_is_a_number(void **state)
{
	union perf_mem_data_src source;

	(void)state;
	source.val = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L1) |
		     PERF_MEM_S(SNOOP, HITM) | PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, HIT) |
		     PERF_MEM_S(LVLNUM, RAM) | PERF_MEM_S(REMOTE, REMOTE) |
		     PERF_MEM_S(SNOOPX, FWD) | PERF_MEM_S(BLK, DATA) | PERF_MEM_S(HOPS, 0);
	assert_true(source.val == UINT64_C(0xa7a09800142));
	assert_int_equal(source.mem_op, PERF_MEM_OP_LOAD);
	assert_int_equal(source.mem_lvl, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1);
	assert_int_equal(source.mem_snoop, PERF_MEM_SNOOP_HITM);
	assert_int_equal(source.mem_lock, PERF_MEM_LOCK_NA);
	assert_int_equal(source.mem_dtlb, PERF_MEM_TLB_HIT);
	assert_int_equal(source.mem_lvl_num, PERF_MEM_LVLNUM_RAM);
	assert_int_equal(source.mem_remote, 1);
	assert_int_equal(source.mem_snoopx, PERF_MEM_SNOOPX_FWD);
	assert_int_equal(source.mem_blk, PERF_MEM_BLK_DATA);
	assert_int_equal(source.mem_hops, PERF_MEM_HOPS_0);
}

/* ---- sizes and offsets ----------------------------------------------------------------------- */

#define AT(type, member, offset, bytes)                                         \
	do {                                                                    \
		assert_int_equal(offsetof(type, member), offset);               \
		assert_int_equal(sizeof(((type *)0)->member), bytes);           \
	} while (0)

static void test_members_of_attr(void **state)
{
	(void)state;
	AT(struct perf_event_attr, type, 0, 4);
	AT(struct perf_event_attr, size, 4, 4);
	AT(struct perf_event_attr, config, 8, 8);
	AT(struct perf_event_attr, sample_period, 16, 8);
	AT(struct perf_event_attr, sample_freq, 16, 8);
	AT(struct perf_event_attr, sample_type, 24, 8);
	AT(struct perf_event_attr, read_format, 32, 8);
	AT(struct perf_event_attr, wakeup_events, 48, 4);
	AT(struct perf_event_attr, wakeup_watermark, 48, 4);
	AT(struct perf_event_attr, bp_type, 52, 4);
	AT(struct perf_event_attr, bp_addr, 56, 8);
	AT(struct perf_event_attr, kprobe_func, 56, 8);
	AT(struct perf_event_attr, uprobe_path, 56, 8);
	AT(struct perf_event_attr, config1, 56, 8);
	AT(struct perf_event_attr, bp_len, 64, 8);
	AT(struct perf_event_attr, kprobe_addr, 64, 8);
	AT(struct perf_event_attr, probe_offset, 64, 8);
	AT(struct perf_event_attr, config2, 64, 8);
	AT(struct perf_event_attr, branch_sample_type, 72, 8);
	AT(struct perf_event_attr, sample_regs_user, 80, 8);
	AT(struct perf_event_attr, sample_stack_user, 88, 4);
	AT(struct perf_event_attr, clockid, 92, 4);
	AT(struct perf_event_attr, sample_regs_intr, 96, 8);
	AT(struct perf_event_attr, aux_watermark, 104, 4);
	AT(struct perf_event_attr, sample_max_stack, 108, 2);
	AT(struct perf_event_attr, __reserved_2, 110, 2);
	AT(struct perf_event_attr, aux_sample_size, 112, 4);
	AT(struct perf_event_attr, sig_data, 120, 8);
#ifdef HAVE_CONFIG3
	AT(struct perf_event_attr, config3, 128, 8);
#endif
#ifdef HAVE_CONFIG4
	AT(struct perf_event_attr, aux_action, 116, 4);
	AT(struct perf_event_attr, config4, 136, 8);
	assert_int_equal(sizeof(struct perf_event_attr), PERF_ATTR_SIZE_VER9);
#endif
}

static void test_members_of_the_page(void **state)
{
	(void)state;
	AT(struct perf_event_mmap_page, version, 0, 4);
	AT(struct perf_event_mmap_page, compat_version, 4, 4);
	AT(struct perf_event_mmap_page, lock, 8, 4);
	AT(struct perf_event_mmap_page, index, 12, 4);
	AT(struct perf_event_mmap_page, offset, 16, 8);
	AT(struct perf_event_mmap_page, time_enabled, 24, 8);
	AT(struct perf_event_mmap_page, time_running, 32, 8);
	AT(struct perf_event_mmap_page, capabilities, 40, 8);
	AT(struct perf_event_mmap_page, pmc_width, 48, 2);
	AT(struct perf_event_mmap_page, time_shift, 50, 2);
	AT(struct perf_event_mmap_page, time_mult, 52, 4);
	AT(struct perf_event_mmap_page, time_offset, 56, 8);
	AT(struct perf_event_mmap_page, time_zero, 64, 8);
	AT(struct perf_event_mmap_page, size, 72, 4);
	AT(struct perf_event_mmap_page, __reserved_1, 76, 4);
	AT(struct perf_event_mmap_page, time_cycles, 80, 8);
	AT(struct perf_event_mmap_page, time_mask, 88, 8);
	AT(struct perf_event_mmap_page, __reserved, 96, 928);
	AT(struct perf_event_mmap_page, data_head, 1024, 8);
	AT(struct perf_event_mmap_page, data_tail, 1032, 8);
	AT(struct perf_event_mmap_page, data_offset, 1040, 8);
	AT(struct perf_event_mmap_page, data_size, 1048, 8);
	AT(struct perf_event_mmap_page, aux_head, 1056, 8);
	AT(struct perf_event_mmap_page, aux_tail, 1064, 8);
	AT(struct perf_event_mmap_page, aux_offset, 1072, 8);
	AT(struct perf_event_mmap_page, aux_size, 1080, 8);
	assert_int_equal(sizeof(struct perf_event_mmap_page), 1088);
}

static void test_members_of_the_rest(void **state)
{
	(void)state;
	AT(struct perf_event_header, type, 0, 4);
	AT(struct perf_event_header, misc, 4, 2);
	AT(struct perf_event_header, size, 6, 2);
	assert_int_equal(sizeof(struct perf_event_header), 8);
	AT(struct perf_ns_link_info, dev, 0, 8);
	AT(struct perf_ns_link_info, ino, 8, 8);
	assert_int_equal(sizeof(struct perf_ns_link_info), 16);
	AT(struct perf_branch_entry, from, 0, 8);
	AT(struct perf_branch_entry, to, 8, 8);
	assert_int_equal(sizeof(struct perf_branch_entry), 24);
	assert_int_equal(sizeof(union perf_mem_data_src), 8);
	assert_int_equal(sizeof(union perf_sample_weight), 8);
	AT(struct perf_event_query_bpf, ids_len, 0, 4);
	AT(struct perf_event_query_bpf, prog_cnt, 4, 4);
	assert_int_equal(offsetof(struct perf_event_query_bpf, ids), 8);
}

/* ---- constants ------------------------------------------------------------------------------- */

/* 64 bits where long has 32 too: on Windows, and on every 32-bit machine. */
static void test_wide_constants(void **state)
{
	(void)state;
	assert_true((PERF_TXN_ABORT_MASK >> 32) == 0xffffffff);
	assert_int_equal(sizeof(PERF_MEM_S(LVLNUM, NA)), 8);
	assert_true(PERF_MEM_S(LVLNUM, NA) == UINT64_C(0xf) << 33);
	assert_true((uint64_t)PERF_CONTEXT_MAX == UINT64_C(0xfffffffffffff001));
	assert_true((uint64_t)PERF_CONTEXT_USER == (uint64_t)-512);
#ifndef WITH_SYSTEM_HEADER
	assert_int_equal(sizeof(PERF_TXN_ABORT_MASK), 8);
	assert_int_equal(sizeof(PERF_CONTEXT_MAX), 8);
	assert_int_equal(PERFEV_BIG_ENDIAN, big_endian());
#endif
}

#if defined(__powerpc__) || defined(__mips__) || defined(__sparc__) || defined(__alpha__)
#define NONE	 0x20000000UL
#define WRITES	 0x80000000UL
#define READS	 0x40000000UL
#elif defined(__hppa__)
#define NONE	 0x00000000UL
#define WRITES	 0x80000000UL
#define READS	 0x40000000UL
#else
#define NONE	 0x00000000UL
#define WRITES	 0x40000000UL
#define READS	 0x80000000UL
#endif
#define POINTER ((unsigned long)sizeof(void *) << 16)

#define NUMBER(name) ((unsigned long)PERF_EVENT_IOC_##name)

static void test_numbers_of_requests(void **state)
{
	(void)state;
	assert_int_equal(NUMBER(ENABLE), NONE | 0x2400);
	assert_int_equal(NUMBER(DISABLE), NONE | 0x2401);
	assert_int_equal(NUMBER(REFRESH), NONE | 0x2402);
	assert_int_equal(NUMBER(RESET), NONE | 0x2403);
	assert_int_equal(NUMBER(PERIOD), WRITES | 0x82404);
	assert_int_equal(NUMBER(SET_OUTPUT), NONE | 0x2405);
	assert_int_equal(NUMBER(SET_FILTER), WRITES | POINTER | 0x2406);
	assert_int_equal(NUMBER(ID), READS | POINTER | 0x2407);
	assert_int_equal(NUMBER(SET_BPF), WRITES | 0x42408);
	assert_int_equal(NUMBER(PAUSE_OUTPUT), WRITES | 0x42409);
	assert_int_equal(NUMBER(QUERY_BPF), WRITES | READS | POINTER | 0x240a);
	assert_int_equal(NUMBER(MODIFY_ATTRIBUTES), WRITES | POINTER | 0x240b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_of_attr),
		cmocka_unit_test(test_bits_of_the_page),
		cmocka_unit_test(test_bits_of_a_branch),
		cmocka_unit_test(test_bits_of_a_data_source),
		cmocka_unit_test(test_parts_of_a_weight),
		cmocka_unit_test(test_a_data_source_is_a_number),
		cmocka_unit_test(test_members_of_attr),
		cmocka_unit_test(test_members_of_the_page),
		cmocka_unit_test(test_members_of_the_rest),
		cmocka_unit_test(test_wide_constants),
		cmocka_unit_test(test_numbers_of_requests),
	};

	return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
