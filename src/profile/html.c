/* SPDX-License-Identifier: MIT */
/*
 * The report page: the viewer's page with the profile in it, in the format of viewer/FORMAT.md, as
 * base64. So no name, however hostile, is ever part of the page's own text.
 */
#include "page.h"
#include "profile.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct numbered {
	const char *text;
	size_t number;
};

/* Texts are numbered as they are first used. */
struct page {
	const struct perfev_profile *profile;
	struct buffer body;    /* what follows the table of texts */
	struct buffer strings; /* the table: each with its length */
	struct interner interned;
	struct numbered *texts; /* open addressing, by the address of the interned text */
	size_t text_count, room;
	bool failed;
};

static void put_number(struct page *page, struct buffer *to, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (unsigned char)(value & 0x7f);
		value >>= 7;
		if (value)
			bytes[n] |= 0x80;
		n++;
	} while (value);
	if (buffer_append(to, bytes, n) < 0)
		page->failed = true;
}

static size_t place_of(const struct page *page, const char *text)
{
	size_t mask = page->room - 1, at = (size_t)hash_u64((uintptr_t)text) & mask;

	while (page->texts[at].text && page->texts[at].text != text)
		at = (at + 1) & mask;
	return at;
}

static bool grow_texts(struct page *page)
{
	struct numbered *old = page->texts;
	size_t old_room = page->room, i;

	page->room = old_room ? old_room * 2 : 1024;
	page->texts = calloc(page->room, sizeof(*old));
	if (!page->texts) {
		page->texts = old;
		page->room = old_room;
		return false;
	}
	for (i = 0; i < old_room; i++)
		if (old[i].text)
			page->texts[place_of(page, old[i].text)] = old[i];
	free(old);
	return true;
}

static void put_text(struct page *page, const char *text)
{
	const char *interned = intern(&page->interned, text ? text : "");
	size_t at;

	if (!interned || (page->text_count * 2 >= page->room && !grow_texts(page))) {
		page->failed = true;
		return;
	}
	at = place_of(page, interned);
	if (!page->texts[at].text) {
		page->texts[at].text = interned;
		page->texts[at].number = page->text_count++;
		put_number(page, &page->strings, strlen(interned));
		if (buffer_append(&page->strings, interned, strlen(interned)) < 0)
			page->failed = true;
	}
	put_number(page, &page->body, page->texts[at].number);
}

static void put_facts(struct page *page, const struct perfev_profile_html_opts *opts)
{
	size_t i;

	put_text(page, opts->title ? opts->title : "perfev report");
	put_number(page, &page->body, opts->fact_count);
	for (i = 0; i < opts->fact_count; i++) {
		put_text(page, opts->facts[i].name);
		put_text(page, opts->facts[i].value);
	}
}

static void put_frames(struct page *page)
{
	const struct perfev_profile *p = page->profile;
	size_t i;

	put_number(page, &page->body, p->frame_count);
	for (i = 0; i < p->frame_count; i++) {
		put_text(page, p->frames[i].label);
		put_text(page, p->frames[i].module);
		put_number(page, &page->body, p->frames[i].kind);
		put_number(page, &page->body, p->frames[i].symbol == NULL);
	}
}

/* The nodes of one event; @numbers gives each node its number there. */
static void put_tree(struct page *page, uint32_t event, uint32_t *numbers)
{
	const struct perfev_profile *p = page->profile;
	uint32_t count = 0, i;

	for (i = 0; i < p->node_count; i++)
		if (p->nodes[i].event == event)
			numbers[i] = count++;
	put_number(page, &page->body, count - 1);
	for (i = 0; i < p->node_count; i++) {
		const struct node *n = &p->nodes[i];

		if (n->event != event || n->parent == i)
			continue;
		put_number(page, &page->body, numbers[i] - numbers[n->parent]);
		put_number(page, &page->body, n->frame);
		put_number(page, &page->body, n->self);
		put_number(page, &page->body, n->self_weight);
	}
}

static void put_events(struct page *page)
{
	const struct perfev_profile *p = page->profile;
	uint32_t *numbers = malloc((p->node_count + 1) * sizeof(*numbers)), i;

	if (!numbers) {
		page->failed = true;
		return;
	}
	put_number(page, &page->body, p->event_count);
	for (i = 0; i < p->event_count; i++) {
		put_text(page, p->events[i].name);
		put_number(page, &page->body, p->events[i].samples);
		put_number(page, &page->body, p->events[i].weight);
		put_tree(page, i, numbers);
	}
	free(numbers);
}

static void put_unresolved(struct page *page, const struct perfev_profile_html_opts *opts)
{
	size_t i;

	put_number(page, &page->body, opts->unresolved_count);
	for (i = 0; i < opts->unresolved_count; i++) {
		put_text(page, opts->unresolved[i].module);
		put_text(page, opts->unresolved[i].why);
		put_number(page, &page->body, opts->unresolved[i].samples);
	}
}

static int write_base64(const unsigned char *data, size_t size, const struct perfev_sink *sink)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4096];
	size_t i, used = 0;
	int r;

	for (i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t word = (uint32_t)data[i] << 16;

		if (left > 1)
			word |= (uint32_t)data[i + 1] << 8;
		if (left > 2)
			word |= data[i + 2];
		text[used++] = digits[word >> 18];
		text[used++] = digits[word >> 12 & 63];
		text[used++] = left > 1 ? digits[word >> 6 & 63] : '=';
		text[used++] = left > 2 ? digits[word & 63] : '=';
		if (used < sizeof(text))
			continue;
		r = sink->write(sink->context, text, used);
		if (r < 0)
			return r;
		used = 0;
	}
	return used ? sink->write(sink->context, text, used) : 0;
}

/* "PEVP", the version, the texts, then what refers to them. */
static int build_profile(struct page *page, const struct perfev_profile_html_opts *opts,
			 struct buffer *ret)
{
	put_facts(page, opts);
	put_frames(page);
	put_events(page);
	put_unresolved(page, opts);
	if (buffer_append(ret, "PEVP", 4) < 0)
		return -ENOMEM;
	put_number(page, ret, 1);
	put_number(page, ret, page->text_count);
	if (page->failed || buffer_append(ret, page->strings.data, page->strings.size) < 0 ||
	    buffer_append(ret, page->body.data, page->body.size) < 0)
		return -ENOMEM;
	return 0;
}

int perfev_profile_write_html(const struct perfev_profile *profile,
			      const struct perfev_profile_html_opts *opts,
			      const struct perfev_sink *sink, struct perfev_error *err)
{
	struct perfev_profile_html_opts full;
	struct buffer data = {NULL, 0, 0, 0};
	struct page page;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	memset(&page, 0, sizeof(page));
	page.profile = profile;
	r = build_profile(&page, &full, &data);
	buffer_free(&page.body);
	buffer_free(&page.strings);
	interner_free(&page.interned);
	free(page.texts);
	if (r == 0)
		r = sink->write(sink->context, viewer_head, viewer_head_size);
	if (r == 0)
		r = write_base64(data.data, data.size, sink);
	if (r == 0)
		r = sink->write(sink->context, viewer_tail, viewer_tail_size);
	buffer_free(&data);
	if (r == -ENOMEM)
		return error_memory(err);
	return r < 0 ? error_errno(err, r, "cannot write the page") : 0;
}
