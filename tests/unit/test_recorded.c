/* SPDX-License-Identifier: MIT */
/* Files and symbols that simpleperf writes into its recordings, in both forms: what they say, cut to every length; and names of
 * places by them, where no such file is on this machine. */
#include "feeding.h"

#include <perfev/user_record.h>

static struct guard guard;
static struct bytes section;

static int begin(void **state)
{
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .foreign = 1};

	(void)state;
	memset(&section, 0, sizeof(section));
	return perfev_symbols_new(&symbols, &opts, &err) < 0 || !guard_open(&guard) ? -1 : 0;
}

static int finish(void **state)
{
	(void)state;
	perfev_symbols_free(symbols);
	guard_close(&guard);
	return 0;
}

/* ---- sections ------------------------------------------------------------------------------------------------------- */

struct named {
	uint64_t address;
	uint32_t size;
	const char *name;
};

static void put_name(const char *name)
{
	put_bytes(&section, name, strlen(name) + 1);
}

static void put_plain(const char *path, uint32_t kind, uint64_t min_address, const struct named *named, size_t count,
		      const uint64_t *offset)
{
	size_t at = section.size, i;

	put_u32(&section, 0);
	put_name(path);
	put_u32(&section, kind);
	put_u64(&section, min_address);
	put_u32(&section, count);
	for (i = 0; i < count; i++) {
		put_u64(&section, named[i].address);
		put_u32(&section, named[i].size);
		put_name(named[i].name);
	}
	if (offset)
		put_u64(&section, *offset);
	set_number(&section, at, section.size - at - 4, 4);
}

static void put_varint(struct bytes *to, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_u8(to, value | 0x80);
	put_u8(to, value);
}

static void put_key(struct bytes *to, unsigned field, unsigned kind)
{
	put_varint(to, field << 3 | kind);
}

static void put_message(struct bytes *to, unsigned field, const void *data, size_t size)
{
	put_key(to, field, 2);
	put_varint(to, size);
	put_bytes(to, data, size);
}

static void put_value(struct bytes *to, unsigned field, uint64_t value)
{
	put_key(to, field, 0);
	put_varint(to, value);
}

static void put_packed(const char *path, uint32_t kind, uint64_t min_address, const struct named *named, size_t count,
		       uint64_t offset)
{
	static struct bytes message, inner;
	size_t i;

	message.size = inner.size = 0;
	put_message(&message, 1, path, strlen(path));
	put_value(&message, 2, kind);
	put_value(&message, 3, min_address);
	put_key(&message, 90, 5); /* fields that are not known, of each kind */
	put_u32(&message, 7);
	put_key(&message, 91, 1);
	put_u64(&message, 7);
	put_message(&message, 92, "more", 4);
	for (i = 0; i < count; i++) {
		inner.size = 0;
		put_value(&inner, 1, named[i].address);
		put_value(&inner, 2, named[i].size);
		put_message(&inner, 3, named[i].name, strlen(named[i].name));
		put_message(&message, 4, inner.data, inner.size);
	}
	inner.size = 0;
	put_value(&inner, 1, offset);
	put_message(&message, kind == PERFEV_RECORDED_KERNEL_MODULE ? 7 : 6, inner.data, inner.size);
	put_u32(&section, message.size);
	put_bytes(&section, message.data, message.size);
}

static const struct named functions_of_libc[] = {{0x1b4d4, 0x44, "netdClientInit"}, {0x1b518, 0xd4, "_ZL4netdv"},
						 {0xffffffff12345678, 0, "far"}};

static struct perfev_bytes whole(void)
{
	return (struct perfev_bytes){guard_put(&guard, section.data, section.size), section.size};
}

static bool is_text(struct perfev_bytes bytes_, const char *text)
{
	return bytes_.size == strlen(text) && !memcmp(bytes_.data, text, bytes_.size);
}

static void expect_file(struct perfev_bytes all, unsigned feature, size_t *position, const char *path, uint64_t offset)
{
	struct perfev_recorded_symbol symbol;
	struct perfev_recorded_file file;
	size_t at = 0, i;

	assert_int_equal(perfev_feature_file(&file, all, feature, section.big != host_is_big(), position, &err), 1);
	assert_true(is_text(file.path, path));
	assert_int_equal(file.kind, PERFEV_RECORDED_ELF);
	assert_int_equal(file.min_address, 0x1000);
	assert_true(file.offset == offset);
	assert_int_equal(file.symbol_count, 3);
	for (i = 0; i < 3; i++) {
		assert_true(perfev_recorded_file_next(&file, &at, &symbol));
		assert_true(symbol.address == functions_of_libc[i].address);
		assert_int_equal(symbol.size, functions_of_libc[i].size);
		assert_true(is_text(symbol.name, functions_of_libc[i].name));
	}
	assert_false(perfev_recorded_file_next(&file, &at, &symbol));
}

static void put_two(unsigned feature)
{
	uint64_t offset = 0x730;

	if (feature == PERFEV_FEATURE_SIMPLEPERF_FILE) {
		put_plain("/system/lib64/libc.so", PERFEV_RECORDED_ELF, 0x1000, functions_of_libc, 3, &offset);
		put_plain("/b", PERFEV_RECORDED_ELF, 0x1000, functions_of_libc, 3, NULL);
	} else {
		put_packed("/system/lib64/libc.so", PERFEV_RECORDED_ELF, 0x1000, functions_of_libc, 3, offset);
		put_packed("/b", PERFEV_RECORDED_ELF, 0x1000, functions_of_libc, 3, UINT64_MAX);
	}
}

static const unsigned features[] = {PERFEV_FEATURE_SIMPLEPERF_FILE, PERFEV_FEATURE_SIMPLEPERF_FILE2};

static void test_files(void **state)
{
	struct perfev_recorded_file file;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		unsigned feature = features[i & 1];
		size_t position = 0, size;

		memset(&section, 0, sizeof(section));
		section.big = i >= 2 && !(i & 1); /* messages are little-endian, and their sizes are as the file */
		put_two(feature);
		expect_file(whole(), feature, &position, "/system/lib64/libc.so", 0x730);
		expect_file(whole(), feature, &position, "/b", UINT64_MAX);
		assert_int_equal(perfev_feature_file(&file, whole(), feature, section.big != host_is_big(), &position, &err), 0);
		for (size = 0; size < section.size; size++) {
			struct perfev_bytes part = {guard_put(&guard, section.data, size), size};
			int r;

			position = 0;
			while ((r = perfev_feature_file(&file, part, feature, section.big != host_is_big(), &position, &err)) > 0)
				;
			assert_true(r == -EINVAL || position == size);
		}
	}
}

static void test_each_byte_changed(void **state)
{
	size_t i, at;

	(void)state;
	for (i = 0; i < 2; i++) {
		memset(&section, 0, sizeof(section));
		put_two(features[i]);
		for (at = 0; at < section.size; at++) {
			unsigned char good = section.data[at];
			unsigned value;

			for (value = 0; value < 256; value++) {
				struct perfev_recorded_symbol symbol;
				struct perfev_recorded_file file;
				size_t position = 0;

				section.data[at] = (unsigned char)value;
				while (perfev_feature_file(&file, whole(), features[i], section.big != host_is_big(), &position,
							   NULL) > 0) {
					size_t next = 0;
					uint32_t count = 0;

					while (perfev_recorded_file_next(&file, &next, &symbol))
						count++;
					assert_int_equal(count, file.symbol_count);
				}
			}
			section.data[at] = good;
		}
	}
}

/* ---- names ---------------------------------------------------------------------------------------------------------- */

static void feed_section(unsigned feature)
{
	struct perfev_recorded_file file;
	size_t position = 0;

	while (perfev_feature_file(&file, whole(), feature, section.big != host_is_big(), &position, &err) > 0)
		assert_works(perfev_symbols_recorded(symbols, &file, &err));
}

static void expect_name(int32_t pid, uint64_t ip, uint32_t mode, const char *name)
{
	struct perfev_frame frame = find(pid, ip, mode);

	if (!name)
		assert_null(frame.symbol);
	else if (!frame.symbol || strcmp(frame.symbol, name) != 0)
		fail_msg("0x%llx is %s, not %s", (unsigned long long)ip, frame.symbol ? frame.symbol : "nothing", name);
}

/* A file at an offset, in an older form, of Java, and code of a process. */
static void test_names(void **state)
{
	const struct named map[] = {{0x70000100, 0x20, "jitted"}}, dex[] = {{0x240, 0x10, "void a.b.c()"}};

	(void)state;
	put_packed("/system/lib64/libc.so", PERFEV_RECORDED_ELF, 0x1b000, functions_of_libc, 2, 0xb000);
	put_packed("/data/a.vdex", PERFEV_RECORDED_DEX, 0, dex, 1, 0);
	put_packed("/jit", PERFEV_RECORDED_MAP, 0, map, 1, 0);
	feed_section(PERFEV_FEATURE_SIMPLEPERF_FILE2);
	section.size = 0;
	put_plain("/old", PERFEV_RECORDED_ELF, 0x1b000, functions_of_libc, 2, NULL);
	feed_section(PERFEV_FEATURE_SIMPLEPERF_FILE);
	feed_mmap2(7, 0x10000, 0x20000, 0xb000, "/system/lib64/libc.so", NULL);
	feed_mmap2(7, 0x20000, 0x30000, 0, "/old", NULL);
	feed_mmap2(7, 0x30000, 0x31000, 0x200, "/data/a.vdex", NULL);
	feed_mmap2(7, 0x70000000, 0x70001000, 0, "/jit", NULL);
	expect_name(7, 0x104d4, USER, "netdClientInit");
	expect_name(7, 0x10517, USER, "netdClientInit");
	expect_name(7, 0x10518, USER, "netd");
	expect_name(7, 0x104d3, USER, NULL);
	expect_name(7, 0x105ec, USER, NULL);
	expect_name(7, 0x204d4, USER, "netdClientInit");
	expect_name(7, 0x30045, USER, "void a.b.c()");
	expect_name(7, 0x7000011f, USER, "jitted");
	expect_nameless(7, 0x70000120, "/jit");
}

static void test_kernel(void **state)
{
	const struct named kernel[] = {{0xffffff8008080000, 0x100, "do_idle"}, {0xffffff8008081000, 0x100, "el1_irq"}};

	(void)state;
	put_packed("[kernel.kallsyms]", PERFEV_RECORDED_KERNEL, 0, kernel, 2, 0);
	feed_section(PERFEV_FEATURE_SIMPLEPERF_FILE2);
	expect_name(7, 0xffffff8008080004, KERNEL, "do_idle");
	expect_name(7, 0xffffff8008081004, KERNEL, "el1_irq");
	expect_name(7, 0xffffff8008082004, KERNEL, NULL);
}

/* All symbols, in the form of /proc/kallsyms. */
static void test_kallsyms(void **state)
{
	static const char text[] = "ffffff8008080000 T _text\nffffff8008081000 t cpu_startup\nffffff8008082000 T do_idle\n";
	struct perfev_bytes view;
	struct perfev_record record;
	size_t at;

	(void)state;
	at = begin_record(&section, PERFEV_RECORD_SIMPLEPERF_KERNEL_SYMBOL, 0);
	put_u32(&section, sizeof(text) - 1);
	put_bytes(&section, text, sizeof(text) - 1);
	section.size = (section.size + 7) & ~(size_t)7;
	end_record(&section, at);
	section.big = host_is_big();
	view = whole();
	assert_works(perfev_record_from_bytes(&record, view, 0, &err));
	assert_works(perfev_symbols_feed(symbols, &record, NULL, &err));
	expect_name(7, 0xffffff8008081004, KERNEL, "cpu_startup");
	expect_name(7, 0xffffff8008082004, KERNEL, "do_idle");
}

/* Where all files are to be in a folder, and where the recording says which build-id the file has. */
static void test_others_first(void **state)
{
	static const uint8_t id[20] = {1, 2, 3};
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .symfs = "/nonexistent"};
	struct perfev_symbols *first = symbols;

	(void)state;
	put_packed("/bin/sh", PERFEV_RECORDED_ELF, 0, functions_of_libc, 2, 0);
	feed_section(PERFEV_FEATURE_SIMPLEPERF_FILE2);
	feed_mmap2(7, 0x100000, 0x200000, 0, "/bin/sh", NULL); /* not the one of this machine */
	expect_name(7, 0x11b4d4, USER, "netdClientInit");
	feed_mmap2(8, 0x100000, 0x200000, 0, "/bin/sh", id); /* which has another build-id */
	expect_name(8, 0x11b4d4, USER, "netdClientInit");
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	feed_section(PERFEV_FEATURE_SIMPLEPERF_FILE2);
	feed_mmap2(7, 0x100000, 0x200000, 0, "/bin/sh", NULL);
	expect_name(7, 0x11b4d4, USER, NULL);
	perfev_symbols_free(symbols);
	symbols = first;
}

/* ---- records in pieces ------------------------------------------------------------------------------------------------ */

#define DATA_AT 184

static void begin_file(bool big)
{
	memset(&section, 0, sizeof(section));
	section.big = big;
	put_bytes(&section, big ? "2ELIFREP" : "PERFILE2", 8);
	put_u64(&section, 104);
	put_u64(&section, 80); /* an attr of the first size, and where its ids are */
	put_u64(&section, 104);
	put_u64(&section, 80);
	put_u64(&section, DATA_AT);
	put_u64(&section, 0);
	set_number(&section, 72, 1u << PERFEV_FEATURE_HOSTNAME, 8);
	section.size = 104;
	put_u32(&section, PERF_TYPE_SOFTWARE);
	put_u32(&section, PERF_ATTR_SIZE_VER0);
	put_u64(&section, 0);
	put_u64(&section, 1);
	put_u64(&section, PERF_SAMPLE_TID);
	section.size = DATA_AT;
}

static size_t begin_large(uint32_t type)
{
	put_u32(&section, type);
	put_u32(&section, 0);
	return section.size - 8;
}

static void end_large(size_t at)
{
	set_number(&section, at + 4, (section.size - at) >> 16, 2);
	set_number(&section, at + 6, (section.size - at) & 0xffff, 2);
}

static void put_pieces(const unsigned char *data, size_t size, size_t each)
{
	size_t at, n;

	for (; size; size -= n, data += n) {
		n = size < each ? size : each;
		at = begin_large(PERFEV_RECORD_SIMPLEPERF_SPLIT);
		put_bytes(&section, data, n);
		end_large(at);
	}
	at = begin_large(PERFEV_RECORD_SIMPLEPERF_SPLIT_END);
	end_large(at);
}

static void end_file(void)
{
	set_number(&section, 48, section.size - DATA_AT, 8);
	put_u64(&section, 0); /* where the host's name is: nowhere */
	put_u64(&section, 0);
}

/* What is read, as names; a joined record's has a + before it. */
static void expect_records(const char *expected, struct perfev_reader_event_info *event, uint64_t *id)
{
	struct perfev_bytes all = whole();
	struct perfev_reader *reader;
	struct perfev_record record;
	char text[512] = "";
	int r;

	assert_works(perfev_reader_open_memory(&reader, all, "memory", NULL, &err));
	while ((r = perfev_reader_next(reader, &record, &err)) > 0) {
		bool joined = record.flags & PERFEV_RECORD_JOINED;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", text[0] ? " " : "", joined ? "+" : "",
			 perfev_record_name(record.type));
		if (joined)
			assert_int_equal(record.offset, DATA_AT);
	}
	assert_int_equal(r, 0);
	assert_string_equal(text, expected);
	if (event) {
		assert_true(perfev_reader_event_at(reader, 0, event));
		*id = event->id_count ? event->ids[0] : 0;
	}
	perfev_reader_close(reader);
}

static void test_pieces(void **state)
{
	static struct bytes large;
	int big;

	(void)state;
	for (big = 0; big < 2; big++) {
		large.size = 0;
		large.big = big;
		put_u32(&large, PERFEV_RECORD_SIMPLEPERF_KERNEL_SYMBOL);
		put_u16(&large, 0);
		put_u16(&large, 40);
		put_u32(&large, 28);
		put_bytes(&large, "ffffff8008080000 T do_idle\n\0", 28);
		begin_file(big);
		put_pieces(large.data, large.size, 16);
		end_file();
		expect_records("SIMPLEPERF_SPLIT SIMPLEPERF_SPLIT SIMPLEPERF_SPLIT SIMPLEPERF_SPLIT_END +SIMPLEPERF_KERNEL_SYMBOL",
			       NULL, NULL);
		begin_file(big); /* too few bytes for what it says */
		put_pieces(large.data, large.size - 4, 64);
		put_pieces(large.data, 4, 64);
		put_pieces(large.data, 0, 64);
		put_pieces(large.data, large.size, 64);
		end_file();
		{
			struct perfev_bytes all = whole();
			struct perfev_reader *reader;
			struct perfev_record record;
			unsigned joined = 0, records = 0;

			assert_works(perfev_reader_open_memory(&reader, all, "memory", NULL, &err));
			while (perfev_reader_next(reader, &record, &err) > 0) {
				joined += (record.flags & PERFEV_RECORD_JOINED) != 0;
				records++;
			}
			perfev_reader_close(reader);
			assert_int_equal(joined, 1);
			assert_int_equal(records, 2 + 2 + 1 + 2 + 1);
		}
	}
}

/* Which event an id is of may be said while it goes on. */
static void test_event_ids(void **state)
{
	struct perfev_reader_event_info event;
	uint64_t id = 0;
	size_t at;
	int big;

	(void)state;
	for (big = 0; big < 2; big++) {
		begin_file(big);
		at = begin_large(PERFEV_RECORD_SIMPLEPERF_EVENT_ID);
		put_u64(&section, 3); /* more than there are */
		put_u64(&section, 0);
		put_u64(&section, 77);
		put_u64(&section, 9); /* an event that there is not */
		put_u64(&section, 78);
		end_large(at);
		end_file();
		expect_records("SIMPLEPERF_EVENT_ID", &event, &id);
		assert_int_equal(event.id_count, 1);
		assert_int_equal(id, 77);
	}
}

/* ---- formats of tracepoints ------------------------------------------------------------------------------------------ */

static const unsigned char formats[] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g', '0', '.', '5', 0, 0, 8, 0, 16, 0, 0}, zeros[64];

/* In a record of perf's type, or as perf has them, behind it; then another record. */
static void put_formats(bool inside)
{
	put_u32(&section, PERFEV_RECORD_HEADER_TRACING_DATA);
	put_u16(&section, 0);
	put_u16(&section, inside ? 12 + 64 : 12);
	put_u32(&section, sizeof(formats));
	put_bytes(&section, formats, sizeof(formats));
	put_bytes(&section, zeros, (inside ? 64 : 24) - sizeof(formats));
	put_u32(&section, PERF_RECORD_EXIT);
	put_u16(&section, 0);
	put_u16(&section, 8 + 24);
	put_bytes(&section, zeros, 24);
}

static void expect_formats(bool inside, bool known)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1, .tracing_inside = known};
	struct perfev_bytes all = whole(), found;
	struct perfev_reader *reader;
	struct perfev_record record;

	assert_works(perfev_reader_open_memory(&reader, all, "memory", &opts, &err));
	assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_int_equal(record.type, PERFEV_RECORD_HEADER_TRACING_DATA);
	assert_int_equal(record.tail.size, inside && known ? 0 : 24);
	assert_int_equal(perfev_reader_feature(reader, PERFEV_FEATURE_TRACING_DATA, &found), known || !inside);
	if (known || !inside) {
		assert_memory_equal(found.data, formats, sizeof(formats));
		assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
		assert_int_equal(record.type, PERF_RECORD_EXIT);
		assert_int_equal(perfev_reader_next(reader, &record, &err), 0);
	}
	perfev_reader_close(reader);
}

static void test_tracing_inside(void **state)
{
	unsigned each;

	(void)state;
	for (each = 0; each < 8; each++) {
		begin_file(each & 1);
		put_formats(each & 2);
		end_file();
		expect_formats(each & 2, each & 4);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_files, begin, finish),
	cmocka_unit_test_setup_teardown(test_each_byte_changed, begin, finish),
	cmocka_unit_test_setup_teardown(test_names, begin, finish),
	cmocka_unit_test_setup_teardown(test_kernel, begin, finish),
	cmocka_unit_test_setup_teardown(test_kallsyms, begin, finish),
	cmocka_unit_test_setup_teardown(test_others_first, begin, finish),
	cmocka_unit_test_setup_teardown(test_pieces, begin, finish),
	cmocka_unit_test_setup_teardown(test_event_ids, begin, finish),
	cmocka_unit_test_setup_teardown(test_tracing_inside, begin, finish),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
