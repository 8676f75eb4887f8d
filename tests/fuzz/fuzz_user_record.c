/* SPDX-License-Identifier: MIT */
/* Records of tools, and feature sections: two bytes say which, one how, the rest is what is in it. */
#include "look.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned number = size > 3 ? data[0] : 0, flags = size > 3 && data[2] & 1 ? PERFEV_RECORD_SWAPPED : 0;
	struct perfev_record record;
	struct perfev_user user;
	static char text[1 << 21];

	if (size < 3 || size > 60000)
		return 0;
	if (data[1] & 1) {
		struct perfev_bytes section = {data + 3, size - 3};

		look_at_section(number, section, flags, data[2] >> 1);
		return 0;
	}
	memset(&record, 0, sizeof(record));
	record.data = data + 3 - 8; /* the header is not looked at */
	record.size = (uint32_t)size - 3 + 8;
	record.type = data[1] & 2 ? 32768 + number % 16 : 64 + number % 32;
	record.flags = (uint16_t)flags;
	record.tail.data = data;
	record.tail.size = size;
	if (record.type == PERFEV_RECORD_HEADER_BUILD_ID) /* but here */
		return 0;
	if (perfev_user_decode(&user, &record, NULL) < 0)
		return 0;
	if (perfev_user_format(text, sizeof(text), &record, NULL) < 0 ||
	    perfev_user_to_json(text, sizeof(text), &record, NULL) < 0)
		abort();
	return 0;
}
