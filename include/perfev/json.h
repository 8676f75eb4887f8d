/* SPDX-License-Identifier: MIT */
/*
 * perfev/json.h - records, the options of events, and layouts as JSON, both ways; layouts as bytes
 *
 * What one process reads from a ring, another one, elsewhere, can decode: it needs the raw bytes of the records
 * and the layout; or takes the records as JSON. Readings are in counter.h.
 *
 * One thing is one JSON object on one line, always in UTF-8. Members are those of the kernel's structs, in their
 * order. Numbers have to stay what they are where all numbers are doubles, as in JavaScript:
 *
 *  - what has up to 32 bits is a number;
 *  - of 64 bits, addresses and sets of bits are hexadecimal texts, "0x1f"; other values are numbers up to
 *    2^53 - 1 and decimal texts above. BigInt(value) takes all three;
 *  - bytes are texts of hexadecimal digits, "00ff";
 *  - a text whose bytes are no UTF-8 is an object, {"hex":"2f746d702fff"}.
 *
 * When it is read, any of these forms of a number is taken, members may stand in any order, and blanks and line
 * breaks anywhere. A member that is not known, or there twice, is a mistake. Nothing is allocated but a layout.
 * err->where is then the offset of the byte in the JSON, from 0.
 */
#ifndef PERFEV_JSON_H
#define PERFEV_JSON_H

#include <perfev/record.h>

PERFEV_BEGIN

/*
 * perfev_record_to_json() - a record: {"type":"COMM","misc":8192,"pid":3,"tid":3,"comm":"bash","sample_id":{"time":12}}
 * Has in it what perfev_record_format() has. A type that is not the kernel's is its number, with "body", its bytes.
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole JSON; as perfev_any_decode().
 * Since: 0.1
 */
PERFEV_API int perfev_record_to_json(char *ret, size_t size, const struct perfev_record *record,
				     const struct perfev_layout *layout, struct perfev_error *err);

/*
 * perfev_record_from_json() - the bytes of a record from such JSON
 * @to, @size, @layout, @flags: as for perfev_record_encode().
 * Return: the size of the whole record; -EINVAL (why SYNTAX) with err->where.
 * Since: 0.1
 */
PERFEV_API int perfev_record_from_json(void *to, size_t size, const char *json, const struct perfev_layout *layout,
				       unsigned flags, struct perfev_error *err);

PERFEV_END

#endif
