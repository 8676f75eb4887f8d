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

/*
 * perfev_attr_to_json() - the options of an event: {"type":0,"size":144,"config":"0x0","sample_period":4000,
 * "sample_type":["PERF_SAMPLE_IP","PERF_SAMPLE_TID"],"inherit":1}
 * Each member and each bit by the kernel's name; what is 0 is left out, but for type, size and config. Bits without
 * a name are a number among the names of sample_type, read_format and branch_sample_type, or have their reserved
 * member's name; "unknown" are the words behind what this library knows. Members that are addresses of texts
 * (kprobe_func, uprobe_path: config1) mean nothing elsewhere.
 * @attr: read by its size (0 means 64), in this host's byte order.
 * @ret, @size: as for perfev_record_to_json().
 * Return: the length of the whole JSON; -EINVAL for a size that cannot be.
 * Since: 0.1
 */
PERFEV_API int perfev_attr_to_json(char *ret, size_t size, const struct perf_event_attr *attr,
				   struct perfev_error *err);

/*
 * perfev_attr_from_json() - an attr from such JSON
 * What is not said becomes 0, and attr.size this library's. Of a member with two names either is taken.
 * @size: bytes at @ret, sizeof(*ret) or more for attrs that are newer; all of them are written, also after a mistake.
 * Return: 0; -EINVAL (why SYNTAX) with err->where, also for what is set behind @size or behind attr.size.
 * Since: 0.1
 */
PERFEV_API int perfev_attr_from_json(struct perf_event_attr *ret, size_t size, const char *json,
				     struct perfev_error *err);

/* ---- layouts: so that another process or machine decodes raw records --------------------------------------- */

/*
 * perfev_layout_to_json() - a layout, and the byte order of its records: {"byte_order":"little","attr":{...}}
 * @flags: PERFEV_RECORD_SWAPPED when the records are not in this host's byte order.
 * @ret, @size: as for perfev_record_to_json().
 * Return: the length of the whole JSON.
 * Since: 0.1
 */
PERFEV_API int perfev_layout_to_json(char *ret, size_t size, const struct perfev_layout *layout, unsigned flags,
				     struct perfev_error *err);

/*
 * perfev_layout_from_json() - a layout from such JSON
 * @flags: gets PERFEV_RECORD_SWAPPED, for perfev_record_from_bytes(), when the records are not in this host's byte
 *	order, and else 0; may be NULL.
 * Return: 0; -EINVAL (why SYNTAX) with err->where; as perfev_layout_new().
 * Since: 0.1
 */
PERFEV_API int perfev_layout_from_json(struct perfev_layout **ret, unsigned *flags, const char *json,
				       struct perfev_error *err);

/* perfev_layout_save() - the same as bytes, which are alike on every machine
 * @to: gets at most @size bytes; may be NULL with size 0.
 * @flags: as for perfev_layout_to_json().
 * Return: how many bytes there are.
 * Since: 0.1 */
PERFEV_API int perfev_layout_save(void *to, size_t size, const struct perfev_layout *layout, unsigned flags,
				  struct perfev_error *err);

/*
 * perfev_layout_load() - a layout from such bytes, of any machine
 * @bytes: exactly those that were saved; may come from anywhere. Members of an attr that this library does not
 *	know are left out, as by perfev_layout_new().
 * @flags: as for perfev_layout_from_json().
 * Return: 0; -EINVAL (why FORMAT, TRUNCATED, CORRUPT) with err->where, the offset; -ENOTSUP for a newer version;
 * as perfev_layout_new().
 * Since: 0.1
 */
PERFEV_API int perfev_layout_load(struct perfev_layout **ret, unsigned *flags, struct perfev_bytes bytes,
				  struct perfev_error *err);

PERFEV_END

#endif
