/* SPDX-License-Identifier: MIT */
/* Making recordings, and comparing what a reader gives with what was put in. */
#include "recording.h"
#include "test.h"

void recording_init(struct recording *r, size_t count)
{
	static const char *const names[] = {"first", "second:u", "the third", "4", "cpu/event=0x1/"};
	size_t i, k;

	memset(r, 0, sizeof(*r));
	r->event_count = count;
	r->attr_size = sizeof(struct perf_event_attr);
	r->features = 1 << PERFEV_FEATURE_HOSTNAME | 1 << PERFEV_FEATURE_ARCH;
	for (i = 0; i < count; i++) {
		struct perf_event_attr *a = &r->events[i].attr;

		a->type = (uint32_t)i;
		a->size = sizeof(*a);
		a->config = 0x1234567890abcdef + i;
		a->sample_period = 4000 + i;
		a->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				 PERF_SAMPLE_TIME;
		a->read_format = PERF_FORMAT_ID;
		a->disabled = a->mmap = a->comm = a->task = a->sample_id_all = a->exclude_guest = 1;
		a->inherit = i & 1;
		a->precise_ip = i & 3;
		a->mmap2 = a->ksymbol = a->build_id = a->sigtrap = a->defer_output = 1;
		a->wakeup_events = 17;
		a->bp_type = 3;
		a->config1 = 0x1111111122222222;
		a->config2 = 0x3333333344444444;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
		a->sample_regs_user = 0xff0fff;
		a->sample_stack_user = 8192;
		a->clockid = -3;
		a->sample_regs_intr = 0xf0;
		a->aux_watermark = 0x10203;
		a->sample_max_stack = 0x102;
		a->aux_sample_size = 0x40506;
		a->aux_pause = 1;
		a->sig_data = 0x5555555566666666;
		a->config3 = 0x7777777788888888;
		a->config4 = 0x99999999aaaaaaaa;
		r->events[i].name = names[i];
		r->events[i].id_count = MADE_IDS;
		for (k = 0; k < MADE_IDS; k++)
			r->events[i].ids[k] = 1000 * (i + 1) + k;
	}
}

/* ---- attrs ----------------------------------------------------------------------------------------- */

/* Each flag has its bit, counted from the end where bit-fields begin on that machine. */
static uint64_t flag_word(const struct perf_event_attr *a, bool big)
{
	const struct {
		unsigned bit, width;
		uint64_t value;
	} flags[] = {
		{0, 1, a->disabled},       {1, 1, a->inherit},        {2, 1, a->pinned},
		{5, 1, a->exclude_kernel}, {8, 1, a->mmap},           {9, 1, a->comm},
		{10, 1, a->freq},          {13, 1, a->task},          {14, 1, a->watermark},
		{15, 2, a->precise_ip},    {18, 1, a->sample_id_all}, {20, 1, a->exclude_guest},
		{23, 1, a->mmap2},         {29, 1, a->ksymbol},       {34, 1, a->build_id},
		{37, 1, a->sigtrap},       {39, 1, a->defer_output},
	};
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		word |= flags[i].value << (big ? 64 - flags[i].bit - flags[i].width : flags[i].bit);
	return word;
}

void put_attr(struct bytes *to, const struct perf_event_attr *a, uint32_t size)
{
	size_t at = to->size, i;

	put_u32(to, a->type);
	put_u32(to, size);
	put_u64(to, a->config);
	put_u64(to, a->sample_period);
	put_u64(to, a->sample_type);
	put_u64(to, a->read_format);
	put_u64(to, flag_word(a, to->big));
	put_u32(to, a->wakeup_events);
	put_u32(to, a->bp_type);
	put_u64(to, a->config1);
	put_u64(to, a->config2);
	put_u64(to, a->branch_sample_type);
	put_u64(to, a->sample_regs_user);
	put_u32(to, a->sample_stack_user);
	put_u32(to, (uint32_t)a->clockid);
	put_u64(to, a->sample_regs_intr);
	put_u32(to, a->aux_watermark);
	put_u16(to, a->sample_max_stack);
	put_u16(to, 0);
	put_u32(to, a->aux_sample_size);
	put_u32(to, to->big ? (uint32_t)a->aux_pause << 30 : (uint32_t)a->aux_pause << 1);
	put_u64(to, a->sig_data);
	put_u64(to, a->config3);
	put_u64(to, a->config4);
	for (i = 0; i < 8; i++)
		put_u64(to, 0xbbbbbbbbbbbbbbbb); /* of a kernel to come */
	to->size = at + size;
}

/* ---- parts of a file ----------------------------------------------------------------------------------- */

static void put_ids(struct bytes *to, const struct made_event *event)
{
	size_t i;

	for (i = 0; i < event->id_count; i++)
		put_u64(to, event->ids[i]);
}

static void put_string(struct bytes *to, const char *text)
{
	size_t at = to->size;

	put_u32(to, 0);
	put_text(to, text, 64);
	set_number(to, at, to->size - at - 4, 4);
}

static void put_names(struct recording *r)
{
	size_t i;

	put_u32(&r->bytes, r->event_count);
	put_u32(&r->bytes, r->attr_size);
	for (i = 0; i < r->event_count; i++) {
		put_attr(&r->bytes, &r->events[i].attr, r->attr_size);
		put_u32(&r->bytes, r->events[i].id_count);
		put_string(&r->bytes, r->events[i].name);
		put_ids(&r->bytes, &r->events[i]);
	}
}

static void begin(struct recording *r, uint32_t type, uint16_t misc)
{
	r->record_at[r->record_count++] = begin_record(&r->bytes, type, misc);
}

static void end(struct recording *r)
{
	end_record(&r->bytes, r->record_at[r->record_count - 1]);
}

/* What the trailer of all events has: TID, TIME, IDENTIFIER. */
static void put_trailer(struct recording *r, uint64_t time, uint64_t id)
{
	put_u32(&r->bytes, 10);
	put_u32(&r->bytes, 11);
	put_u64(&r->bytes, time);
	put_u64(&r->bytes, id);
}

static void put_records(struct recording *r)
{
	size_t i;

	begin(r, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_u32(&r->bytes, 10);
	put_u32(&r->bytes, 11);
	put_text(&r->bytes, "program", 8);
	put_trailer(r, 0, 0);
	end(r);
	for (i = 0; i < r->event_count * 4; i++) {
		const struct made_event *event = &r->events[i % r->event_count];

		begin(r, PERF_RECORD_SAMPLE, 2);
		put_u64(&r->bytes, event->ids[i % MADE_IDS]);
		put_u64(&r->bytes, 0x400000 + i);
		put_u32(&r->bytes, 10);
		put_u32(&r->bytes, 11);
		put_u64(&r->bytes, 1000000 + i);
		end(r);
	}
	begin(r, PERF_RECORD_LOST, 0);
	put_u64(&r->bytes, r->events[0].ids[0]);
	put_u64(&r->bytes, 7);
	put_trailer(r, 2000000, r->events[0].ids[0]);
	end(r);
	begin(r, PERFEV_RECORD_AUXTRACE, 0); /* with 24 bytes behind it that its size does not count */
	put_u64(&r->bytes, 24);
	for (i = 0; i < 4; i++)
		put_u64(&r->bytes, i);
	end(r);
	put_bytes(&r->bytes, "these bytes are trace...", 24);
	begin(r, PERFEV_RECORD_FINISHED_ROUND, 0);
	end(r);
}

/* The table of sections, then what is in them. */
static void put_features(struct recording *r)
{
	struct bytes *to = &r->bytes;
	size_t table = to->size, at;
	unsigned bit;
	char text[32];

	for (bit = 0; bit < 64; bit++)
		if (r->features >> bit & 1)
			to->size += 16;
	for (bit = 0; bit < 64; bit++) {
		if (!(r->features >> bit & 1))
			continue;
		at = to->size;
		snprintf(text, sizeof(text), "feature %u", bit);
		if (bit == PERFEV_FEATURE_EVENT_DESC)
			put_names(r);
		else
			put_string(to, text);
		set_number(to, table, at, 8);
		set_number(to, table + 8, to->size - at, 8);
		table += 16;
	}
}

static void make_file(struct recording *r)
{
	struct bytes *to = &r->bytes;
	size_t ids[MADE_EVENTS], i;

	memset(to->data, 0, 104);
	to->size = 104;
	for (i = 0; i < r->event_count; i++) {
		ids[i] = to->size;
		put_ids(to, &r->events[i]);
	}
	r->attrs_at = to->size;
	for (i = 0; i < r->event_count; i++) {
		put_attr(to, &r->events[i].attr, r->attr_size);
		put_u64(to, ids[i]);
		put_u64(to, r->events[i].id_count * 8);
	}
	r->data_at = to->size;
	put_records(r);
	r->data_end = to->size;
	set_number(to, 0, 0x32454c4946524550, 8);
	if (r->version1)
		memcpy(to->data, "PERFFILE", 8);
	set_number(to, 8, 104, 8);
	set_number(to, 16, r->attr_size + 16, 8);
	set_number(to, 24, r->attrs_at, 8);
	set_number(to, 32, r->data_at - r->attrs_at, 8);
	set_number(to, 40, r->data_at, 8);
	set_number(to, 48, r->cut ? 0 : r->data_end - r->data_at, 8);
	if (r->cut)
		return;
	if (!r->no_names)
		r->features |= 1 << PERFEV_FEATURE_EVENT_DESC;
	set_number(to, 72, r->features, 8);
	put_features(r);
}

static void make_stream(struct recording *r)
{
	struct bytes *to = &r->bytes;
	size_t i;

	put_u64(to, 0x32454c4946524550);
	put_u64(to, 16);
	for (i = 0; i < r->event_count; i++) {
		begin(r, PERFEV_RECORD_HEADER_ATTR, 0);
		put_attr(to, &r->events[i].attr, r->attr_size);
		put_ids(to, &r->events[i]);
		end(r);
	}
	begin(r, PERFEV_RECORD_HEADER_FEATURE, 0);
	put_u64(to, PERFEV_FEATURE_EVENT_DESC);
	put_names(r);
	end(r);
	begin(r, PERFEV_RECORD_HEADER_FEATURE, 0);
	put_u64(to, PERFEV_FEATURE_HOSTNAME);
	put_string(to, "feature 3");
	end(r);
	r->data_at = to->size;
	put_records(r);
	r->data_end = to->size;
}

void recording_make(struct recording *r, bool big)
{
	r->bytes.size = 0;
	r->bytes.big = big;
	r->record_count = 0;
	if (r->stream)
		make_stream(r);
	else
		make_file(r);
}

/* ---- comparing ---------------------------------------------------------------------------------------------- */

/* The attr as it was, with zeros for what its size cut off. */
static void expect_attr(const struct recording *r, const struct perf_event_attr *got,
			const struct perf_event_attr *made)
{
	uint32_t size = r->attr_size < sizeof(*got) ? r->attr_size : (uint32_t)sizeof(*got);
	struct perf_event_attr wanted = *made;

	memset((unsigned char *)&wanted + size, 0, sizeof(wanted) - size);
	wanted.size = size;
	assert_memory_equal(got, &wanted, sizeof(wanted));
}

static void expect_events(const struct recording *r, const struct perfev_reader *reader)
{
	struct perfev_reader_event_info info;
	size_t i;

	assert_int_equal(perfev_reader_event_count(reader), r->event_count);
	for (i = 0; i < r->event_count; i++) {
		assert_true(perfev_reader_event_at(reader, i, &info));
		expect_attr(r, info.attr, &r->events[i].attr);
		if (!r->no_names && !r->cut)
			assert_string_equal(info.name, r->events[i].name);
		assert_int_equal(info.id_count, r->events[i].id_count);
		assert_memory_equal(info.ids, r->events[i].ids, info.id_count * 8);
		assert_non_null(info.layout);
	}
	assert_false(perfev_reader_event_at(reader, i, &info));
}

static void expect_features(const struct recording *r, const struct perfev_reader *reader)
{
	struct perfev_bytes section;
	char text[32];
	unsigned bit;

	for (bit = 0; bit < PERFEV_FEATURE_COUNT; bit++) {
		bool there = bit < 64 && (r->features >> bit & 1) && !r->cut;

		if (r->stream)
			there = bit == PERFEV_FEATURE_HOSTNAME || bit == PERFEV_FEATURE_EVENT_DESC;
		assert_int_equal(perfev_reader_feature(reader, bit, &section), there);
		if (!there || bit == PERFEV_FEATURE_EVENT_DESC)
			continue;
		snprintf(text, sizeof(text), "feature %u", bit);
		assert_string_equal(perfev_feature_string(section, r->bytes.big != host_is_big()),
				    text);
	}
	assert_false(perfev_reader_feature(reader, PERFEV_FEATURE_COUNT, &section));
}

static void expect_record(const struct recording *r, struct perfev_reader *reader,
			  const struct perfev_record *record, size_t samples)
{
	struct perfev_error err;
	struct perfev_any any;

	assert_works(perfev_any_decode(&any, record, perfev_reader_layout(reader, record), &err));
	if (record->type == PERF_RECORD_COMM) {
		assert_string_equal(any.as.comm.comm, "program");
		assert_int_equal(any.as.trailer.pid, 10);
		assert_true(any.as.trailer.present ==
			    (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER));
	} else if (record->type == PERF_RECORD_SAMPLE) {
		assert_int_equal(perfev_reader_event(reader, record), samples % r->event_count);
		assert_int_equal(any.as.sample.ip, 0x400000 + samples);
		assert_int_equal(any.as.sample.time, 1000000 + samples);
		assert_int_equal(any.as.sample.tid, 11);
	} else {
		assert_int_equal(record->type, PERF_RECORD_LOST);
		assert_int_equal(any.as.lost.lost, 7);
		assert_int_equal(perfev_reader_event(reader, record), 0);
	}
}

void recording_expect(const struct recording *r, struct perfev_reader *reader)
{
	struct perfev_error err;
	struct perfev_record record;
	struct perfev_loss loss;
	size_t i, samples = 0;

	for (i = 0; i < r->record_count; i++) {
		if (perfev_reader_next(reader, &record, &err) != 1)
			fail_msg("record %zu: %s", i, err.text);
		assert_int_equal(record.offset, r->record_at[i]);
		assert_memory_equal(record.data, r->bytes.data + r->record_at[i], record.size);
		assert_int_equal(record.tail.size, record.type == PERFEV_RECORD_AUXTRACE ? 24 : 0);
		if (record.tail.size)
			assert_memory_equal(record.tail.data, "these bytes are trace...", 24);
		if (record.type < PERFEV_RECORD_USER_FIRST)
			expect_record(r, reader, &record, samples);
		samples += record.type == PERF_RECORD_SAMPLE;
		perfev_reader_release(reader);
	}
	assert_int_equal(perfev_reader_next(reader, &record, &err), 0);
	assert_int_equal(perfev_reader_next(reader, &record, &err), 0);
	assert_int_equal(perfev_reader_wait(reader, -1, &err), 0);
	assert_null(perfev_reader_damage(reader));
	expect_events(r, reader);
	expect_features(r, reader);
	perfev_reader_loss(reader, &loss);
	assert_int_equal(loss.said, 7);
	assert_int_equal(loss.records, 7);
	assert_false(loss.exact);
}
