/* SPDX-License-Identifier: MIT */
/* The report page: its payload is decoded here, by viewer/FORMAT.md, and is what was put in; and whatever
 * names are in it, they are not part of the page's own text. */
#include "test.h"

static struct perfev_error err;
static struct perfev_profile *profile;

/* The payload, and how far it was read. */
struct payload {
	unsigned char *data;
	size_t size, at;
	char **strings;
	uint64_t string_count;
};

static int collect(void *context, const void *data, size_t size)
{
	struct payload *page = context;

	page->data = realloc(page->data, page->size + size + 1);
	assert_non_null(page->data);
	memcpy(page->data + page->size, data, size);
	page->size += size;
	page->data[page->size] = 0;
	return 0;
}

/* ---- a decoder -------------------------------------------------------------------------------------- */

static int digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	assert_non_null(at);
	return (int)(at - digits);
}

static void decode_base64(struct payload *to, const char *text, size_t size)
{
	size_t i;

	assert_int_equal(size % 4, 0);
	to->data = malloc(size + 1);
	assert_non_null(to->data);
	to->size = to->at = 0;
	for (i = 0; i < size; i += 4) {
		int word = digit(text[i]) << 18 | digit(text[i + 1]) << 12;

		if (text[i + 2] != '=')
			word |= digit(text[i + 2]) << 6;
		if (text[i + 3] != '=')
			word |= digit(text[i + 3]);
		to->data[to->size++] = (unsigned char)(word >> 16);
		if (text[i + 2] != '=')
			to->data[to->size++] = (unsigned char)(word >> 8);
		if (text[i + 3] != '=')
			to->data[to->size++] = (unsigned char)word;
		assert_true((text[i + 2] != '=' && text[i + 3] != '=') || i + 4 == size);
	}
}

static uint64_t number(struct payload *p)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (;; shift += 7) {
		unsigned char byte;

		assert_true(p->at < p->size && shift < 64);
		byte = p->data[p->at++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static const char *string(struct payload *p)
{
	uint64_t index = number(p);

	assert_true(index < p->string_count);
	return p->strings[index];
}

static struct payload open_page(const struct perfev_profile_html_opts *opts)
{
	static const char begin[] = "<script type=\"application/octet-stream\" id=\"profile\">";
	struct payload page = {NULL, 0, 0, NULL, 0}, p = {NULL, 0, 0, NULL, 0};
	struct perfev_sink sink = {collect, &page};
	char *from, *to;
	uint64_t i;

	assert_works(perfev_profile_write_html(profile, opts, &sink, &err));
	assert_int_equal(strlen((char *)page.data), page.size);
	from = strstr((char *)page.data, begin);
	assert_non_null(from);
	from += strlen(begin);
	assert_null(strstr(from, begin));
	to = strstr(from, "</script>");
	assert_non_null(to);
	decode_base64(&p, from, (size_t)(to - from));
	free(page.data);
	assert_memory_equal(p.data, "PEVP", 4);
	p.at = 4;
	assert_int_equal(number(&p), 1);
	p.string_count = number(&p);
	p.strings = calloc(p.string_count + 1, sizeof(*p.strings));
	assert_non_null(p.strings);
	for (i = 0; i < p.string_count; i++) {
		size_t size = number(&p);

		assert_true(size <= p.size - p.at);
		p.strings[i] = calloc(1, size + 1);
		assert_non_null(p.strings[i]);
		memcpy(p.strings[i], p.data + p.at, size);
		p.at += size;
	}
	return p;
}

static void close_page(struct payload *p)
{
	uint64_t i;

	assert_int_equal(p->at, p->size);
	for (i = 0; i < p->string_count; i++)
		free(p->strings[i]);
	free(p->strings);
	free(p->data);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static int setup(void **state)
{
	(void)state;
	return perfev_profile_new(&profile, &err);
}

static int teardown(void **state)
{
	(void)state;
	perfev_profile_free(profile);
	return 0;
}

static uint32_t frame(const char *symbol, const char *module, uint64_t address, uint32_t kind)
{
	struct perfev_profile_frame f = {symbol, module, address, kind, 0};
	uint32_t n;

	assert_works(perfev_profile_intern(profile, &n, &f, &err));
	return n;
}

static void add(uint32_t event, uint32_t comm, uint64_t weight, size_t count, const uint32_t *frames)
{
	struct perfev_profile_stack stack = {frames, count, weight, event, comm};

	assert_works(perfev_profile_add(profile, &stack, &err));
}

static void test_empty(void **state)
{
	struct payload p = open_page(NULL);

	(void)state;
	assert_string_equal(string(&p), "perfev report");
	assert_int_equal(number(&p), 0); /* facts */
	assert_int_equal(number(&p), 0); /* frames */
	assert_int_equal(number(&p), 0); /* events */
	assert_int_equal(number(&p), 0); /* unresolved */
	close_page(&p);
}

static void expect_frames(struct payload *p)
{
	struct perfev_profile_frame f;
	uint64_t count = number(p), i;

	for (i = 0; i < count; i++) {
		assert_true(perfev_profile_frame_at(profile, (uint32_t)i, &f));
		assert_string_equal(string(p), perfev_profile_label(profile, (uint32_t)i));
		assert_string_equal(string(p), f.module);
		assert_int_equal(number(p), f.kind);
		assert_int_equal(number(p), !f.symbol);
	}
	assert_false(perfev_profile_frame_at(profile, (uint32_t)i, &f));
}

/* The nodes of an event, compared with the profile's: there they stand among those of other events. */
static void expect_event(struct payload *p, size_t event, const struct perfev_profile_node *nodes,
			 size_t count)
{
	struct perfev_profile_event_info info;
	size_t number_of[1000], here = 0, i;
	uint64_t self = 0, m;

	assert_true(perfev_profile_event_at(profile, event, &info));
	assert_string_equal(string(p), info.name);
	assert_int_equal(number(p), info.samples);
	assert_true(number(p) == info.weight);
	m = number(p);
	for (i = 0; i < count; i++) {
		if (nodes[i].event != event)
			continue;
		number_of[i] = here++;
		if (nodes[i].parent == i)
			continue;
		assert_int_equal(number(p), number_of[i] - number_of[nodes[i].parent]);
		assert_int_equal(number(p), nodes[i].frame);
		assert_int_equal(number(p), nodes[i].self);
		assert_true(number(p) == nodes[i].self_weight);
		self += nodes[i].self;
	}
	assert_int_equal(m, here - 1);
	assert_int_equal(info.samples - self, nodes[info.root].self);
}

static void test_payload(void **state)
{
	static const struct perfev_profile_fact facts[] = {
		{"command", "a & b"}, {"samples", "11"}, {"x", ""}};
	static const struct perfev_profile_unresolved unresolved[] = {
		{"libx.so", "it is stripped", 300}};
	struct perfev_profile_html_opts opts = {sizeof(opts), "a title", facts, 3, unresolved, 1};
	struct perfev_profile_node *nodes;
	uint32_t stack[3], comm;
	size_t count, i;
	struct payload p;

	(void)state;
	perfev_profile_event(profile, "cycles", &err);
	perfev_profile_event(profile, "cs", &err);
	perfev_profile_event(profile, "nothing", &err);
	comm = frame("prog", "", 0, PERFEV_KIND_COMM);
	stack[2] = frame("main", "/bin/prog", 1, PERFEV_KIND_USER);
	for (i = 0; i < 10; i++) {
		stack[1] = frame("f", "/bin/prog", i % 3, PERFEV_KIND_INLINED);
		stack[0] = frame(i % 2 ? NULL : "g", "[kernel.kallsyms]", i % 4, PERFEV_KIND_KERNEL);
		add(i % 3 == 0, comm, UINT64_MAX / 16, 3, stack);
	}
	add(0, UINT32_MAX, 5, 0, NULL);
	p = open_page(&opts);
	assert_string_equal(string(&p), "a title");
	assert_int_equal(number(&p), 3);
	for (i = 0; i < 3; i++) {
		assert_string_equal(string(&p), facts[i].name);
		assert_string_equal(string(&p), facts[i].value);
	}
	expect_frames(&p);
	assert_works(perfev_profile_nodes(profile, &nodes, &count, &err));
	assert_in_range(count, 10, 999);
	assert_int_equal(number(&p), 3);
	for (i = 0; i < 3; i++)
		expect_event(&p, i, nodes, count);
	free(nodes);
	assert_int_equal(number(&p), 1);
	assert_string_equal(string(&p), "libx.so");
	assert_string_equal(string(&p), "it is stripped");
	assert_int_equal(number(&p), 300);
	close_page(&p);
}

/* Payloads of all lengths, for the ends of base64; names that would end the page's script, or are no text. */
static void test_hostile_names(void **state)
{
	struct perfev_profile_html_opts opts = {sizeof(opts), NULL, NULL, 0, NULL, 0};
	char title[64];
	struct payload p;
	size_t size;

	(void)state;
	frame("</script><script>alert(1)</script>", "<!--", 1, 0);
	frame("\xff\xfe\x80", "\x01\n", 2, 0);
	for (size = 0; size < 60; size++) {
		memset(title, '<', size);
		title[size] = 0;
		opts.title = title;
		p = open_page(&opts);
		assert_string_equal(string(&p), title);
		assert_int_equal(number(&p), 0);
		expect_frames(&p);
		assert_int_equal(number(&p), 0);
		assert_int_equal(number(&p), 0);
		close_page(&p);
	}
}

/* Equal texts are in the table once. */
static void test_strings_once(void **state)
{
	uint64_t i, k;
	struct payload p;
	char name[16];

	(void)state;
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "f%u", (unsigned)(i % 1500));
		frame(name, "module", i, 0);
	}
	p = open_page(NULL);
	assert_int_equal(p.string_count, 1502);
	for (i = 0; i < 50; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(p.strings[i], p.strings[k]);
	string(&p);
	assert_int_equal(number(&p), 0);
	expect_frames(&p);
	assert_int_equal(number(&p), 0);
	assert_int_equal(number(&p), 0);
	close_page(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
	cmocka_unit_test_setup_teardown(test_payload, setup, teardown),
	cmocka_unit_test_setup_teardown(test_hostile_names, setup, teardown),
	cmocka_unit_test_setup_teardown(test_strings_once, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
