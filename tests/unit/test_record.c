/* SPDX-License-Identifier: MIT */
/* Records other than samples: each type, with names of every length up to 17, with and without a trailer,
 * in both orders of bytes, comes out as it went in; and cut to every length is never read over. */
#include "record.h"
#include "test.h"

#include <perfev/reader.h>

#include <errno.h>

static struct perfev_error err;
static struct guard guard;
static uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

static int setup(void **state)
{
	(void)state;
	return guard_open(&guard) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

static void check_mmap(const struct made_record *made, const struct perfev_mmap *m)
{
	bool two = made->type == PERF_RECORD_MMAP2, id = made_has_build_id(made);

	assert_true(m->pid == made->halves[0] && m->tid == made->halves[1]);
	assert_true(m->addr == made->words[0] && m->len == made->words[1] &&
		    m->pgoff == made->words[2]);
	assert_string_equal(m->filename, made->name);
	assert_int_equal(m->build_id_size, id ? made->build_id[0] : 0);
	if (id)
		assert_memory_equal(m->build_id, made->build_id + 4, m->build_id_size);
	assert_int_equal(m->maj, two && !id ? made->halves[2] : 0);
	assert_int_equal(m->min, two && !id ? made->halves[3] : 0);
	assert_true(m->ino == (two && !id ? made->words[3] : 0));
	assert_true(m->ino_generation == (two && !id ? made->words[4] : 0));
	assert_int_equal(m->prot, two ? made->halves[4] : 0);
	assert_int_equal(m->flags, two ? made->halves[5] : 0);
}

static void check_read(const struct made_record *made, const struct perfev_read *r)
{
	uint64_t format = made->attr.read_format;
	struct perfev_value value;

	assert_true(r->pid == made->halves[0] && r->tid == made->halves[1]);
	assert_true(r->values.present == format);
	assert_int_equal(r->values.members, 1);
	assert_true(r->values.count == made->words[0]);
	assert_true(!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) ||
		    r->values.enabled_ns == made->words[1]);
	assert_true(!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) ||
		    r->values.running_ns == made->words[2]);
	assert_true(perfev_values_at(&r->values, 0, &value));
	assert_true(value.id == (format & PERF_FORMAT_ID ? made->words[3] : 0));
	assert_true(value.lost == (format & PERF_FORMAT_LOST ? made->words[4] : 0));
}

static void check_words(struct perfev_u64s got, const uint64_t *wanted, uint64_t count)
{
	uint32_t i;

	assert_int_equal(got.count, count);
	for (i = 0; i < count; i++)
		assert_true(perfev_u64s_at(got, i) == wanted[i]);
}

static void check_poke(const struct made_record *made, const struct perfev_text_poke *p)
{
	assert_true(p->addr == made->words[0]);
	assert_int_equal(p->old_bytes.size, made->old_size);
	assert_int_equal(p->new_bytes.size, made->new_size);
	assert_int_equal(memcmp(p->old_bytes.data, made->poke, made->old_size), 0);
	assert_int_equal(memcmp(p->new_bytes.data, made->poke + made->old_size, made->new_size), 0);
}

static void check_small(const struct made_record *made, const struct perfev_any *any)
{
	const uint64_t *w = made->words;
	const uint32_t *h = made->halves;

	switch (made->type) {
	case PERF_RECORD_LOST:
		assert_true(any->as.lost.id == w[0] && any->as.lost.lost == w[1]);
		break;
	case PERF_RECORD_COMM:
		assert_true(any->as.comm.pid == h[0] && any->as.comm.tid == h[1]);
		assert_string_equal(any->as.comm.comm, made->name);
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		assert_true(any->as.task.pid == h[0] && any->as.task.ppid == h[1] &&
			    any->as.task.tid == h[2] && any->as.task.ptid == h[3] &&
			    any->as.task.time == w[0]);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		assert_true(any->as.throttle.time == w[0] && any->as.throttle.id == w[1] &&
			    any->as.throttle.stream_id == w[2]);
		break;
	case PERF_RECORD_AUX:
		assert_true(any->as.aux.aux_offset == w[0] && any->as.aux.aux_size == w[1] &&
			    any->as.aux.flags == w[2]);
		break;
	case PERF_RECORD_ITRACE_START:
		assert_true(any->as.itrace_start.pid == h[0] && any->as.itrace_start.tid == h[1]);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		assert_true(any->as.lost_samples.lost == w[0]);
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		assert_true(any->as.cswitch.next_prev_pid == h[0] &&
			    any->as.cswitch.next_prev_tid == h[1]);
		break;
	default:
		assert_int_equal(made->type, PERF_RECORD_SWITCH);
	}
}

static void check_body(const struct made_record *made, const struct perfev_any *any)
{
	const uint64_t *w = made->words;
	const uint32_t *h = made->halves;

	switch (made->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		check_mmap(made, &any->as.mmap);
		break;
	case PERF_RECORD_READ:
		check_read(made, &any->as.read);
		break;
	case PERF_RECORD_NAMESPACES:
		assert_true(any->as.namespaces.pid == h[0] && any->as.namespaces.tid == h[1]);
		check_words(any->as.namespaces.links, made->links, made->link_count * 2);
		break;
	case PERF_RECORD_KSYMBOL:
		assert_true(any->as.ksymbol.addr == w[0] && any->as.ksymbol.len == h[0]);
		assert_int_equal(any->as.ksymbol.ksym_type, h[1] & 0xffff);
		assert_int_equal(any->as.ksymbol.flags, h[2] & 0xffff);
		assert_string_equal(any->as.ksymbol.name, made->name);
		break;
	case PERF_RECORD_BPF_EVENT:
		assert_int_equal(any->as.bpf_event.type, h[0] & 0xffff);
		assert_int_equal(any->as.bpf_event.flags, h[1] & 0xffff);
		assert_true(any->as.bpf_event.id == h[2]);
		assert_memory_equal(any->as.bpf_event.tag, made->build_id, 8);
		break;
	case PERF_RECORD_CGROUP:
		assert_true(any->as.cgroup.id == w[0]);
		assert_string_equal(any->as.cgroup.path, made->name);
		break;
	case PERF_RECORD_TEXT_POKE:
		check_poke(made, &any->as.text_poke);
		break;
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		assert_true(any->as.aux_output_hw_id.hw_id == w[0]);
		break;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		assert_true(any->as.callchain_deferred.cookie == w[0]);
		check_words(any->as.callchain_deferred.ips, made->ips, made->ip_count);
		break;
	default:
		check_small(made, any);
	}
}

static void check_trailer(const struct made_record *made, const struct perfev_id *id)
{
	uint64_t type = made->attr.sample_type;
	const uint64_t *t = made->trailer;

	if (!made->attr.sample_id_all) {
		assert_true(id->present == 0);
		return;
	}
	assert_true(id->present == type);
	assert_true(!(type & PERF_SAMPLE_TID) || (id->pid | (uint64_t)id->tid << 32) == t[0]);
	assert_true(!(type & PERF_SAMPLE_TIME) || id->time == t[1]);
	assert_true(!(type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)) || id->id == t[2]);
	assert_true(!(type & PERF_SAMPLE_STREAM_ID) || id->stream_id == t[3]);
	assert_true(!(type & PERF_SAMPLE_CPU) || id->cpu == (uint32_t)t[4]);
}

/* ---- whole and cut records --------------------------------------------------------------------------------- */

static void check_whole(const struct made_record *made, const struct perfev_layout *layout)
{
	struct perfev_record record = made_record(
		made, guard_put(&guard, made->bytes.data, made->bytes.size), made->bytes.size);
	bool has_time = made->attr.sample_id_all && (made->attr.sample_type & PERF_SAMPLE_TIME);
	struct perfev_any any;
	struct perfev_id id;
	uint64_t time = 0;

	memset(&any, 0xa5, sizeof(any));
	assert_works(perfev_any_decode(&any, &record, layout, &err));
	assert_int_equal(any.type, made->type);
	check_body(made, &any);
	check_trailer(made, &any.as.trailer);
	assert_works(perfev_id_decode(&id, &record, layout, &err));
	check_trailer(made, &id);
	assert_int_equal(perfev_record_time(&record, layout, &time), has_time);
	assert_true(!has_time || time == made->trailer[1]);
	assert_false(perfev_record_time(&record, NULL, &time));
	if (made->attr.sample_id_all || made->type == PERF_RECORD_READ)
		return;
	memset(&any, 0xa5, sizeof(any));
	assert_works(perfev_any_decode(&any, &record, NULL, &err));
	check_body(made, &any);
	assert_true(any.as.trailer.present == 0);
}

static void check_cut(const struct made_record *made, const struct perfev_layout *layout, size_t size)
{
	struct perfev_record record = made_record(made, guard_put(&guard, made->bytes.data, size),
						  size);
	struct perfev_any any;
	struct perfev_id id;
	uint64_t time;
	int r;

	memset(&any, 0xa5, sizeof(any));
	r = perfev_any_decode(&any, &record, layout, &err);
	assert_true(r == 0 || r == -EINVAL);
	if (r < 0) {
		assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
		assert_true(any.as.trailer.present == 0);
	}
	perfev_id_decode(&id, &record, layout, NULL);
	perfev_record_time(&record, layout, &time);
	perfev_any_decode(&any, &record, NULL, NULL);
}

static void check_encode(const struct made_record *made, const struct perfev_layout *layout, bool big)
{
	unsigned flags = big == host_is_big() ? 0 : PERFEV_RECORD_SWAPPED;
	struct perfev_record record = made_record(made, guard_put(&guard, made->bytes.data, made->bytes.size),
						made->bytes.size);
	static unsigned char bytes[8192], again[8192];
	static char text[32768];
	struct perfev_any any;

	assert_works(perfev_any_decode(&any, &record, layout, &err));
	assert_int_equal(perfev_record_encode(bytes, sizeof(bytes), &any, record.misc, layout, flags, &err),
			 made->bytes.size);
	assert_memory_equal(bytes, made->bytes.data, made->bytes.size);
	any.as.trailer.reserved = 0; /* the other half of CPU, which no text has */
	perfev_record_encode(bytes, sizeof(bytes), &any, record.misc, layout, flags, &err);
	assert_in_range(perfev_record_format(text, sizeof(text), &record, layout, &err), 1, sizeof(text) - 1);
	memset(again, 0xa5, sizeof(again));
	if (perfev_record_parse(again, sizeof(again), text, layout, flags, &err) != (int)made->bytes.size ||
	    memcmp(bytes, again, made->bytes.size))
		fail_msg("%s\n%s", text, err.text);
	assert_in_range(perfev_record_to_json(text, sizeof(text), &record, layout, &err), 1, sizeof(text) - 1);
	memset(again, 0xa5, sizeof(again));
	if (perfev_record_from_json(again, sizeof(again), text, layout, flags, &err) != (int)made->bytes.size ||
	    memcmp(bytes, again, made->bytes.size))
		fail_msg("%s\n%s", text, err.text);
}

static void check_type(uint32_t type, size_t name_size, uint64_t trailer, bool cut)
{
	struct made_record *made = malloc(sizeof(*made));
	struct perfev_layout *layout;
	size_t size;
	int big;

	assert_non_null(made);
	made_fill(made, type, name_size, &seed);
	made->attr.sample_type = trailer;
	made->attr.sample_id_all = trailer != 0;
	assert_works(perfev_layout_new(&layout, &made->attr, &err));
	for (big = 0; big < 2; big++) {
		made_encode(made, big);
		check_whole(made, layout);
		check_encode(made, layout, big);
		for (size = 0; cut && size < made->bytes.size; size++)
			check_cut(made, layout, size);
	}
	perfev_layout_free(layout);
	free(made);
}

static void test_all_types(void **state)
{
	uint32_t type;
	size_t name;
	int set, i;

	(void)state;
	for (type = 1; type < PERF_RECORD_MAX; type++) {
		if (type == PERF_RECORD_SAMPLE)
			continue;
		for (name = 0; name <= 17; name++)
			for (set = 0; set < 1 << ID_BITS; set++) {
				uint64_t trailer = 0;

				for (i = 0; i < ID_BITS; i++)
					if (set >> i & 1)
						trailer |= id_bits[i];
				check_type(type, name, trailer, set % 9 == 0);
			}
	}
}

/* A text without its end in front of the trailer: the trailer cannot be trusted then, nor the wall. */
static void test_texts_without_end(void **state)
{
	struct made_record *made = malloc(sizeof(*made));
	struct perfev_layout *layout;
	struct perfev_record record;
	struct perfev_comm comm;

	(void)state;
	assert_non_null(made);
	made_fill(made, PERF_RECORD_COMM, 7, &seed);
	made->attr.sample_type = PERF_SAMPLE_TIME;
	made->attr.sample_id_all = 1;
	made->trailer[1] = UINT64_C(0x4100000000414141);
	assert_works(perfev_layout_new(&layout, &made->attr, &err));
	made_encode(made, host_is_big());
	made->bytes.data[23] = 'z';
	record = made_record(made, guard_put(&guard, made->bytes.data, 32), 32);
	assert_works(perfev_comm_decode(&comm, &record, layout, &err));
	assert_true(comm.trailer.present == 0);
	made->bytes.data[24] = 0; /* the end is the first byte of what would be the trailer */
	record = made_record(made, guard_put(&guard, made->bytes.data, 32), 32);
	assert_works(perfev_comm_decode(&comm, &record, layout, &err));
	assert_string_equal(comm.comm, "abcdefgz");
	assert_true(comm.trailer.present == 0);
	memset(made->bytes.data + 24, 'y', 8);
	record = made_record(made, guard_put(&guard, made->bytes.data, 32), 32);
	assert_fails(perfev_comm_decode(&comm, &record, layout, &err), EINVAL);
	assert_says("comm");
	perfev_layout_free(layout);
	free(made);
}

/* ---- counts that lie, types that are not there ---------------------------------------------------------------- */

static void test_counts_that_lie(void **state)
{
	static const uint64_t lies[] = {3, UINT64_C(1) << 28, UINT64_C(1) << 59, UINT64_C(1) << 60,
					UINT64_C(1) << 61, UINT64_C(1) << 63, UINT64_MAX};
	static const uint32_t types[] = {PERF_RECORD_NAMESPACES, PERF_RECORD_CALLCHAIN_DEFERRED};
	struct perfev_record record;
	struct perfev_any any;
	struct made_record *made = malloc(sizeof(*made));
	size_t i, k;

	(void)state;
	assert_non_null(made);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		for (k = 0; k < 2; k++) {
			made_fill(made, types[k], 0, &seed);
			made->link_count = 1;
			made->ip_count = 2;
			made_encode(made, host_is_big());
			set_number(&made->bytes, 16, lies[i], 8);
			record = made_record(made,
					     guard_put(&guard, made->bytes.data, made->bytes.size),
					     made->bytes.size);
			assert_fails(perfev_any_decode(&any, &record, NULL, &err), EINVAL);
		}
	made_fill(made, PERF_RECORD_TEXT_POKE, 0, &seed);
	made_encode(made, host_is_big());
	set_number(&made->bytes, 16, 0xffff, 2);
	record = made_record(made, guard_put(&guard, made->bytes.data, made->bytes.size),
			     made->bytes.size);
	assert_fails(perfev_any_decode(&any, &record, NULL, &err), EINVAL);
	free(made);
}

static void test_other_types(void **state)
{
	static const uint32_t others[] = {0, 23, 63, 64, 81, 32769, UINT32_MAX};
	unsigned char bytes[64] = {0};
	struct perfev_record record;
	struct perfev_any any;
	struct perfev_mmap mmap;
	struct perfev_comm comm;
	struct perfev_task task;
	struct perfev_lost lost;
	struct perfev_lost_samples samples;
	size_t i;

	(void)state;
	memset(&record, 0, sizeof(record));
	record.data = bytes;
	record.size = sizeof(bytes);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		record.type = others[i];
		assert_fails(perfev_any_decode(&any, &record, NULL, &err), ENOTSUP);
		assert_int_equal(err.why, PERFEV_WHY_UNSUPPORTED);
	}
	record.type = PERF_RECORD_SWITCH;
	assert_fails(perfev_mmap_decode(&mmap, &record, NULL, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
	assert_fails(perfev_comm_decode(&comm, &record, NULL, &err), EINVAL);
	assert_fails(perfev_task_decode(&task, &record, NULL, &err), EINVAL);
	assert_fails(perfev_lost_decode(&lost, &record, NULL, &err), EINVAL);
	assert_fails(perfev_lost_samples_decode(&samples, &record, NULL, &err), EINVAL);
	record.type = PERF_RECORD_EXIT;
	assert_works(perfev_task_decode(&task, &record, NULL, &err));
	record.type = PERF_RECORD_MMAP2;
	assert_fails(perfev_mmap_decode(&mmap, &record, NULL, &err), EINVAL);
	record.type = PERF_RECORD_MMAP;
	assert_works(perfev_mmap_decode(&mmap, &record, NULL, &err));
	record.type = PERF_RECORD_READ; /* whose layout nothing tells */
	assert_fails(perfev_any_decode(&any, &record, NULL, &err), EINVAL);
}

/* Counts of a format that is newer than the library are not guessed. */
static void test_unknown_read_format(void **state)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout;
	unsigned char bytes[64] = {0};
	struct perfev_record record;
	struct perfev_any any;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_MAX;
	assert_works(perfev_layout_new(&layout, &attr, &err));
	memset(&record, 0, sizeof(record));
	record.data = bytes;
	record.size = sizeof(bytes);
	record.type = PERF_RECORD_READ;
	assert_fails(perfev_any_decode(&any, &record, layout, &err), EINVAL);
	perfev_layout_free(layout);
}

/* A copy stays what it was when the bytes that it was made of are gone. */
static void test_owned_copy(void **state)
{
	unsigned char bytes[24] = {0}, tail[5] = "tail";
	struct perf_event_header header = {PERF_RECORD_FORK, 3, 24};
	struct perfev_record record, *copy;

	(void)state;
	memcpy(bytes, &header, sizeof(header));
	bytes[20] = 77;
	assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes, sizeof(bytes)}, 0, &err));
	record.offset = 99;
	record.tail.data = tail;
	record.tail.size = sizeof(tail);
	assert_works(perfev_record_copy(&copy, &record, &err));
	memset(bytes, 0xff, sizeof(bytes));
	memset(tail, 0xff, sizeof(tail));
	assert_int_equal(copy->type, PERF_RECORD_FORK);
	assert_int_equal(copy->misc, 3);
	assert_int_equal(copy->size, 24);
	assert_int_equal(copy->offset, 99);
	assert_true(copy->flags & PERFEV_RECORD_STABLE);
	assert_memory_equal(copy->data, &header, sizeof(header));
	assert_int_equal(((const unsigned char *)copy->data)[20], 77);
	assert_memory_equal(copy->tail.data, "tail", 5);
	perfev_record_free(copy);
	record.tail.size = 0;
	record.tail.data = NULL;
	assert_works(perfev_record_copy(&copy, &record, &err));
	assert_null(copy->tail.data);
	perfev_record_free(copy);
	perfev_record_free(NULL);
	record.tail.size = SIZE_MAX - 8;
	assert_fails(perfev_record_copy(&copy, &record, &err), ENOMEM);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_owned_copy),
	cmocka_unit_test(test_all_types),
	cmocka_unit_test(test_texts_without_end),
	cmocka_unit_test(test_counts_that_lie),
	cmocka_unit_test(test_other_types),
	cmocka_unit_test(test_unknown_read_format),
};

int main(void)
{
	return cmocka_run_group_tests(tests, setup, teardown);
}
