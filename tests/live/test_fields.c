/* SPDX-License-Identifier: MIT */
/*
 * Fields of samples that only the hardware fills: branch stacks with every extra, data source, weights, transactions,
 * precise addresses, registers of the interrupt, samples that the hardware lost; and user call chains that come later.
 * The PMU of tests/vm/pmus fills them with functions of the address it interrupted, so that each is checked whole.
 */
#include "live.h"

#include <perfev/deferred.h>
#include <perfev/meaning.h>
#include <perfev/regs.h>
#include <perfev/sampler.h>

static struct perfev_error err;
static struct perfev_sampler *sampler;
static struct perfev_sample sample;
static int samples;

static int teardown(void **state)
{
	(void)state;
	perfev_sampler_close(sampler);
	sampler = NULL;
	return 0;
}

/* An event of the PMU that is made of timers; elsewhere a skip. */
static struct perfev_event *event_of(const char *text, uint64_t sample_type)
{
	struct perfev_event *event;

	need(PERFEV_CAN_HARDWARE);
	if (access("/sys/bus/event_source/devices/aux_fake", F_OK))
		SKIP("the PMUs of tests/vm are not here");
	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_type = sample_type;
	return event;
}

static void watch(struct perfev_event *event)
{
	int r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL, &err);

	perfev_event_free(event);
	if (r < 0 && err.why == PERFEV_WHY_OLD_KERNEL)
		SKIP("%s", err.text);
	assert_works(r);
	assert_works(perfev_sampler_start(sampler, &err));
	burn_ms(60);
	assert_works(perfev_sampler_stop(sampler, &err));
}

static void drain(void (*check)(void))
{
	struct perfev_record record;

	while (perfev_sampler_next(sampler, &record, &err) > 0) {
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_works(perfev_sample_decode(&sample, &record, perfev_sampler_layout(sampler, &record), &err));
		check();
		samples++;
	}
	perfev_sampler_release(sampler);
}

/* Shows each sample; how many there were is in samples. A machine that is busy elsewhere gives few at once. */
static void look(void (*check)(void))
{
	int tries;

	samples = 0;
	drain(check);
	for (tries = 0; samples <= 10 && tries < 50; tries++) {
		assert_works(perfev_sampler_start(sampler, &err));
		burn_ms(60);
		assert_works(perfev_sampler_stop(sampler, &err));
		drain(check);
	}
	assert_true(samples > 10);
}

/* ---- branches ------------------------------------------------------------------------------------------------ */

static bool with_counters;

static void check_branches(void)
{
	uint32_t i;

	assert_int_equal(sample.branches.count, 8);
	assert_true(sample.branches.hw_idx == 5);
	for (i = 0; i < 8; i++) {
		struct perfev_branch b;

		assert_true(perfev_branches_at(&sample.branches, i, &b));
		assert_true(b.from == sample.ip - 16 * i && b.to == b.from + 4);
		assert_true(b.mispredicted == (i & 1) && b.predicted == !(i & 1));
		assert_true(b.in_tx == (i == 2) && b.abort == (i == 3));
		assert_int_equal(b.cycles, 100 + i);
		assert_int_equal(b.spec, i & 3);
		assert_int_equal(b.type, i == 7 ? PERF_BR_EXTEND_ABI : i + 1);
		assert_int_equal(b.new_type, i == 7 ? PERF_BR_NEW_FAULT_DATA : 0);
		assert_int_equal(b.priv, PERF_BR_PRIV_USER);
		assert_true(b.counters == (with_counters ? (i | 0x80) : 0));
		assert_non_null(perfev_branch_type_name(&b, perfev_arch_host(NULL)));
		assert_string_equal(perfev_branch_privilege_name(&b), "user");
	}
	assert_false(perfev_branches_at(&sample.branches, 8, &(struct perfev_branch){0}));
}

static struct perfev_event *branches_of(uint64_t extra)
{
	struct perfev_event *event = event_of("cycles/period=3000000/u", PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK);

	perfev_event_attr(event)->branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
						       PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_TYPE_SAVE |
						       PERF_SAMPLE_BRANCH_PRIV_SAVE | extra;
	return event;
}

static void test_branches(void **state)
{
	(void)state;
	with_counters = false;
	watch(branches_of(0));
	look(check_branches);
}

static void test_branch_counters(void **state)
{
	(void)state;
	with_counters = true;
	watch(branches_of(PERF_SAMPLE_BRANCH_COUNTERS));
	look(check_branches);
}

/* ---- memory, weights, transactions ------------------------------------------------------------------------------ */

static void check_data_source(void)
{
	struct perfev_data_source source;
	char text[160];

	perfev_data_source_decode(&source, sample.data_src);
	assert_int_equal(source.op, PERF_MEM_OP_LOAD);
	assert_true(perfev_data_source_format(text, sizeof(text), sample.data_src) > 0);
	assert_string_equal(text, "load, remote L3 hit in another node of the socket, snoop hit modified|forwarded, TLB L2 hit, locked, "
				  "blocked by address");
	assert_true(sample.transaction == (PERF_TXN_TRANSACTION | PERF_TXN_SYNC | PERF_TXN_CONFLICT |
					   UINT64_C(0xabcd) << PERF_TXN_ABORT_SHIFT));
	assert_true(perfev_transaction_format(text, sizeof(text), sample.transaction) > 0);
	assert_non_null(strstr(text, "conflict"));
	assert_true(sample.addr != 0);
}

static void test_data_source(void **state)
{
	(void)state;
	watch(event_of("cycles/period=3000000/u", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION));
	look(check_data_source);
}

static void check_one_weight(void)
{
	struct perfev_weight weight;

	assert_true(perfev_sample_weight(&sample, &weight));
	assert_true(sample.weight == 777);
}

static void check_three_weights(void)
{
	union perf_sample_weight weight;

	weight.full = sample.weight;
	assert_true(weight.var1_dw == 0x11111111 && weight.var2_w == 0x2222 && weight.var3_w == 0x3333);
}

static void test_weights(void **state)
{
	(void)state;
	watch(event_of("cycles/period=3000000/u", PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT));
	look(check_one_weight);
	teardown(NULL);
	watch(event_of("cycles/period=3000000/u", PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT_STRUCT));
	look(check_three_weights);
}

/* ---- registers, raw data, pages ------------------------------------------------------------------------------------- */

static void check_registers(void)
{
	unsigned abi;
	enum perfev_arch arch = perfev_arch_host(&abi);
	uint64_t pc;

	assert_int_equal(sample.regs_intr.abi, abi);
	assert_true(perfev_registers_get(&sample.regs_intr, (unsigned)perfev_reg_index(arch, abi, "pc"), &pc));
	assert_true(pc == sample.ip);
#ifdef __x86_64__
	{
		unsigned i;

		for (i = 0; i < 32; i++) { /* two words of each XMM register */
			assert_true(perfev_registers_get(&sample.regs_intr, PERF_REG_X86_XMM0 + i, &pc));
			assert_true(pc == 0x1000 + i);
		}
	}
#endif
}

static void test_registers_of_the_interrupt(void **state)
{
	struct perfev_event *event = event_of("cycles/period=3000000/u", PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR);
	unsigned abi;
	enum perfev_arch arch = perfev_arch_host(&abi);

	(void)state;
	if (is_compat()) {
		perfev_event_free(event);
		SKIP("the registers are those of a kernel of 64 bits");
	}
	perfev_event_attr(event)->sample_regs_intr = perfev_reg_mask(arch, abi);
#ifdef __x86_64__
	perfev_event_attr(event)->precise_ip = 2;
	perfev_event_attr(event)->sample_regs_intr |= ~UINT64_C(0) << PERF_REG_X86_XMM0;
#endif
	watch(event);
	look(check_registers);
}

static void check_raw(void)
{
	uint64_t words[2];

	assert_int_equal(sample.raw.size, 20);
	memcpy(words, sample.raw.data, sizeof(words));
	assert_true(words[0] == UINT64_C(0x0123456789abcdef) && words[1] == sample.ip);
	assert_true(sample.phys_addr != 0);
	assert_true(sample.data_page_size == (uint64_t)sysconf(_SC_PAGESIZE));
}

static void test_raw_data_and_addresses(void **state)
{
	(void)state;
	watch(event_of("cycles/period=3000000/u",
		       PERF_SAMPLE_IP | PERF_SAMPLE_RAW | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE));
	look(check_raw);
}

/* ---- precise samples, and lost ones ---------------------------------------------------------------------------- */

static void check_precise(void)
{
	assert_true(sample.misc & PERF_RECORD_MISC_EXACT_IP);
}

static void test_precise(void **state)
{
	(void)state;
#if !defined(__x86_64__) && !defined(__i386__)
	SKIP("this architecture has no precise samples");
#endif
	watch(event_of("cycles/period=3000000/upp", PERF_SAMPLE_IP));
	look(check_precise);
}

static void check_nothing(void)
{
}

/* Each sample of this event says that the hardware lost 7 before it. */
static void test_samples_that_the_hardware_lost(void **state)
{
	struct perfev_loss loss;

	(void)state;
	watch(event_of("cpu/event=0x3c,lost=7,period=3000000/u", PERF_SAMPLE_IP));
	look(check_nothing);
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_int_equal(loss.samples, 7 * samples);
	assert_int_equal(loss.records, 0);
}

/* ---- user call chains that come later ------------------------------------------------------------------------ */

/* The chain of a joined sample: the kernel's part, then the user's, in one. */
static void check_joined(const struct perfev_record *record, const struct perfev_layout *layout, int *both)
{
	struct perfev_callchain chain;
	struct perfev_callchain_entry entry;
	bool kernel = false, user = false;

	assert_works(perfev_sample_decode(&sample, record, layout, &err));
	perfev_callchain_begin(&chain, sample.callchain, sample.misc);
	while (perfev_callchain_next(&chain, &entry) > 0) {
		kernel |= entry.context == PERFEV_CONTEXT_KERNEL;
		user |= entry.context == PERFEV_CONTEXT_USER;
		assert_int_not_equal(entry.context, PERFEV_CONTEXT_USER_DEFERRED);
	}
	*both += kernel && user;
}

static void test_deferred_chains(void **state)
{
	struct perfev_event *event;
	struct perfev_deferred *deferred;
	struct perfev_deferred_info info;
	struct perfev_record record, joined;
	const struct perfev_layout *layout;
	int i, r, both = 0;

	(void)state;
	need(PERFEV_CAN_SAMPLE);
	assert_works(perfev_event_parse(&event, "cpu-clock/period=1000000/", &err));
	perfev_event_attr(event)->sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	perfev_event_attr(event)->defer_callchain = perfev_event_attr(event)->defer_output = 1;
	r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL, &err);
	perfev_event_free(event);
	if (r < 0 && err.why == PERFEV_WHY_OLD_KERNEL)
		SKIP("%s", err.text);
	if (r == -EACCES || r == -EPERM)
		SKIP("%s", err.text);
	assert_works(r);
	assert_works(perfev_deferred_new(&deferred, NULL, &err));
	assert_works(perfev_sampler_start(sampler, &err));
	for (i = 0; i < 40; i++)
		touch_pages(2000); /* most of it in the kernel */
	assert_works(perfev_sampler_stop(sampler, &err));
	while (perfev_sampler_next(sampler, &record, &err) > 0) {
		assert_true(perfev_deferred_feed(deferred, &record, perfev_sampler_layout(sampler, &record), &err) >= 0);
		while (perfev_deferred_next(deferred, &joined, &layout) > 0)
			check_joined(&joined, layout, &both);
	}
	perfev_deferred_describe(deferred, &info);
	perfev_deferred_free(deferred);
	if (!info.joined && !info.waiting)
		SKIP("this kernel takes the bits, and writes no chains later on this architecture");
	assert_true(info.joined > 5);
	assert_in_range(both, info.joined / 10 * 9, info.joined); /* some have nothing of the one or the other */
	assert_int_equal(info.unmatched, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_teardown(test_branches, teardown),
	cmocka_unit_test_teardown(test_branch_counters, teardown),
	cmocka_unit_test_teardown(test_data_source, teardown),
	cmocka_unit_test_teardown(test_weights, teardown),
	cmocka_unit_test_teardown(test_registers_of_the_interrupt, teardown),
	cmocka_unit_test_teardown(test_raw_data_and_addresses, teardown),
	cmocka_unit_test_teardown(test_precise, teardown),
	cmocka_unit_test_teardown(test_samples_that_the_hardware_lost, teardown),
	cmocka_unit_test_teardown(test_deferred_chains, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
