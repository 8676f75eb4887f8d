/* SPDX-License-Identifier: MIT */
/*
 * json-again FILE - every record of the kernel in a recording, as JSON and back, by a layout that was saved and loaded
 *
 * Prints how many there are; status 1 when one of them is not the same again, in the form that
 * perfev_record_encode() gives it. Records that cannot be decoded are passed over.
 */
#include <perfev/perfev.h>

#include <stdio.h>
#include <stdlib.h>

static unsigned char first[70000], second[70000];
static char text[1 << 20];

/* The layout again, from bytes. */
static struct perfev_layout *loaded(const struct perfev_layout *layout, unsigned flags, struct perfev_error *err)
{
	struct perfev_bytes bytes = {first, 0};
	struct perfev_layout *ret;
	unsigned got;

	bytes.size = (size_t)perfev_layout_save(first, sizeof(first), layout, flags, err);
	if (perfev_layout_load(&ret, &got, bytes, err) < 0)
		return NULL;
	if (got == flags)
		return ret;
	perfev_layout_free(ret);
	return NULL;
}

static bool same(const struct perfev_record *record, const struct perfev_layout *layout, struct perfev_error *err)
{
	unsigned flags = record->flags & PERFEV_RECORD_SWAPPED;
	struct perfev_any any;
	int size, n;

	if (perfev_any_decode(&any, record, layout, err) < 0)
		return true;
	size = perfev_record_encode(first, sizeof(first), &any, record->misc, layout, flags, err);
	n = perfev_record_to_json(text, sizeof(text), record, layout, err);
	return size >= 8 && n > 0 && n < (int)sizeof(text) &&
	       perfev_record_from_json(second, sizeof(second), text, layout, flags, err) == size &&
	       memcmp(first, second, (size_t)size) == 0;
}

static bool check(const struct perfev_record *record, const struct perfev_layout *known, struct perfev_error *err)
{
	struct perfev_layout *layout = NULL;
	bool ok;

	if (known)
		layout = loaded(known, record->flags & PERFEV_RECORD_SWAPPED, err);
	ok = known && !layout ? false : same(record, layout, err);
	perfev_layout_free(layout);
	if (!ok)
		printf("the record at 0x%llx: %s\n%s\n", (unsigned long long)record->offset, err->text, text);
	return ok;
}

int main(int argc, char **argv)
{
	struct perfev_error err = {0};
	struct perfev_reader *reader;
	struct perfev_record record;
	unsigned long n = 0;
	bool ok = true;

	if (argc != 2 || perfev_reader_open(&reader, argv[1], NULL, &err) < 0) {
		fprintf(stderr, "%s\n", argc == 2 ? err.text : "usage: json-again FILE");
		return 2;
	}
	while (ok && perfev_reader_next(reader, &record, &err) > 0) {
		if (record.type == 0 || record.type >= PERF_RECORD_MAX)
			continue;
		ok = check(&record, perfev_reader_layout(reader, &record), &err);
		if ((++n & 0xfff) == 0)
			perfev_reader_release(reader);
	}
	perfev_reader_close(reader);
	printf("%lu records\n", n);
	return ok ? 0 : 1;
}
