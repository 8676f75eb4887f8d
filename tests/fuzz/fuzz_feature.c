/* SPDX-License-Identifier: MIT */
/* Feature sections, and the notes of a file: any bytes, in both orders. */
#include "fuzz.h"

#include <perfev/feature.h>

#include "symbols/elf.h"

static void inside(struct perfev_bytes section, const char *text)
{
	const char *from = section.data;

	if (text < from || (size_t)(text - from) + strlen(text) + 1 > section.size)
		abort();
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
		if (elf_notes_build_id(data, size, swapped, bytes) > 20)
			abort();
	}
	return 0;
}
