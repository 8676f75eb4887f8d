/* SPDX-License-Identifier: MIT */
/* Readings as JSON, both ways: a table of members, and two words. A status or a reason that this library does not
 * know is a number. */
#include "decode/json.h"

#include <perfev/counter.h>

#include <errno.h>
#include <inttypes.h>

static const struct {
	const char *name;
	size_t offset;
} members[] = {
	{"count", offsetof(struct perfev_reading, count)},
	{"enabled_ns", offsetof(struct perfev_reading, enabled_ns)},
	{"running_ns", offsetof(struct perfev_reading, running_ns)},
	{"lost", offsetof(struct perfev_reading, lost)},
	{"id", offsetof(struct perfev_reading, id)},
};
#define MEMBERS (sizeof(members) / sizeof(members[0]))

static const char *status_name(uint32_t status)
{
	static const char *const names[] = {
		[PERFEV_COUNTED] = "counted",	  [PERFEV_NOT_COUNTED] = "not-counted", [PERFEV_ERROR_STATE] = "error",
		[PERFEV_GONE] = "gone",		  [PERFEV_NOT_SUPPORTED] = "not-supported",
	};

	return status < sizeof(names) / sizeof(names[0]) ? names[status] : NULL;
}

static const char *why_name(uint32_t why)
{
	return why < PERFEV_WHY_COUNT_ ? perfev_why_name((enum perfev_why)why) : NULL;
}

static void put_word(struct out *o, const char *name, uint32_t value, const char *(*name_of)(uint32_t))
{
	const char *word = name_of(value);

	out_name(o, name);
	if (word)
		out_string(o, word);
	else
		out_put(o, "%" PRIu32, value);
}

int perfev_reading_to_json(char *ret, size_t size, const struct perfev_reading *reading, struct perfev_error *err)
{
	struct out o = {.to = ret, .size = size, .json = true};
	size_t i;

	(void)err;
	out_open(&o);
	for (i = 0; i < MEMBERS; i++) {
		uint64_t value;

		memcpy(&value, (const unsigned char *)reading + members[i].offset, sizeof(value));
		out_field(&o, members[i].name, value, 8);
	}
	put_word(&o, "status", (uint32_t)reading->status, status_name);
	put_word(&o, "why", reading->why, why_name);
	out_close(&o);
	return out_end(&o);
}

static uint32_t word(struct input *in, struct scope *s, const char *name, const char *(*name_of)(uint32_t))
{
	uint32_t value;

	if (!in_find(in, s, name))
		return 0;
	for (value = 0; name_of(value); value++)
		if (json_is(in, name_of(value)))
			return value;
	return (uint32_t)json_other(in, 4, "no such word");
}

int perfev_reading_from_json(struct perfev_reading *ret, const char *json, struct perfev_error *err)
{
	struct input in = {.text = json, .json = true, .what = "a reading", .err = err};
	struct perfev_reading reading;
	struct scope s;
	size_t i;

	memset(&reading, 0, sizeof(reading));
	json_check(&in);
	in_open(&in, &s);
	for (i = 0; i < MEMBERS; i++) {
		uint64_t value = in_field(&in, &s, members[i].name, 8);

		memcpy((unsigned char *)&reading + members[i].offset, &value, sizeof(value));
	}
	reading.status = (enum perfev_status)word(&in, &s, "status", status_name);
	reading.why = word(&in, &s, "why", why_name);
	in_close(&in, &s);
	if (in.failed)
		return -EINVAL;
	*ret = reading;
	return 0;
}
