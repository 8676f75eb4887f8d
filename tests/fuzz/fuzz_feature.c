/* SPDX-License-Identifier: MIT */
/* Feature sections, the notes of a file, and files with their symbols: any bytes, in both orders. */
#include "fuzz.h"

#include <perfev/feature.h>

#include "symbols/elf.h"

static void inside(struct perfev_bytes section, const char *text)
{
	const char *from = section.data;

	if (text < from || (size_t)(text - from) + strlen(text) + 1 > section.size)
		abort();
}

static void look_at(struct perfev_bytes part, struct perfev_bytes whole)
{
	const char *from = whole.data, *at = part.data;

	if (part.size && (at < from || part.size > whole.size || (size_t)(at - from) > whole.size - part.size))
		abort();
}

static void files(struct perfev_bytes section, unsigned feature, bool swapped)
{
	struct perfev_recorded_symbol symbol;
	struct perfev_feature_field field;
	struct perfev_recorded_file file;
	struct perfev_feature_walk walk;
	size_t position = 0;

	while (perfev_feature_file(&file, section, feature, swapped, &position, NULL) > 0) {
		size_t at = 0, count = 0;

		look_at(file.path, section);
		for (; perfev_recorded_file_next(&file, &at, &symbol); count++)
			look_at(symbol.name, section);
		if (count != file.symbol_count || position > section.size)
			abort();
	}
	perfev_feature_begin(&walk, feature, section, swapped, 0);
	while (perfev_feature_next(&walk, &field, NULL) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes section = {data, size};
	struct perfev_build_id id;
	const char *text;
	uint8_t bytes[20];
	int swapped;

	for (swapped = 0; swapped < 2; swapped++) {
		size_t position = 0, before;

		text = perfev_feature_string(section, swapped);
		if (text)
			inside(section, text);
		while ((text = perfev_feature_strings(section, swapped, &position)))
			inside(section, text);
		for (position = before = 0;; before = position) {
			if (perfev_feature_build_id(&id, section, swapped, &position, NULL) <= 0)
				break;
			inside(section, id.filename);
			if (position <= before || id.size > 20)
				abort();
		}
		files(section, PERFEV_FEATURE_SIMPLEPERF_FILE, swapped);
		files(section, PERFEV_FEATURE_SIMPLEPERF_FILE2, swapped);
		if (elf_notes_build_id(data, size, swapped, bytes) > 20)
			abort();
	}
	return 0;
}
