/* SPDX-License-Identifier: MIT */
/* Making records other than samples. */
#include "record.h"

const uint64_t id_bits[ID_BITS] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

bool made_has_build_id(const struct made_record *made)
{
	return made->type == PERF_RECORD_MMAP2 && (made->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
	       made->build_id[0] >= 1 && made->build_id[0] <= 20;
}

void made_fill(struct made_record *made, uint32_t type, size_t name_size, uint64_t *seed)
{
	size_t i;

	memset(made, 0, sizeof(*made));
	made->type = type;
	made->misc = (uint16_t)next_random(seed);
	made->attr.size = sizeof(made->attr);
	made->attr.read_format = random_below(seed, PERF_FORMAT_MAX) & ~(uint32_t)PERF_FORMAT_GROUP;
	for (i = 0; i < 8; i++) {
		made->words[i] = next_random(seed);
		made->halves[i] = (uint32_t)next_random(seed);
	}
	for (i = 0; i < ID_BITS; i++)
		made->trailer[i] = next_random(seed);
	made->trailer[2] = made->trailer[5]; /* ID and IDENTIFIER are the same */
	for (i = 0; i < name_size; i++)
		made->name[i] = (char)('a' + i);
	made->build_id[0] = (uint8_t)random_below(seed, 23);
	for (i = 0; i < made->build_id[0] && i < 20; i++)
		made->build_id[4 + i] = (uint8_t)next_random(seed);
	made->halves[2] = random_below(seed, 300); /* the major number of a device */
	made->words[4] |= 1;			   /* the generation of an inode */
	made->link_count = random_below(seed, 8);
	for (i = 0; i < 14; i++)
		made->links[i] = next_random(seed);
	made->ip_count = random_below(seed, 10);
	for (i = 0; i < 9; i++)
		made->ips[i] = next_random(seed);
	for (i = 0; i < 40; i++)
		made->poke[i] = (uint8_t)next_random(seed);
	made->old_size = (uint16_t)random_below(seed, 20);
	made->new_size = (uint16_t)random_below(seed, 20);
}

static void put_halves(struct made_record *made, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		put_u32(&made->bytes, made->halves[i]);
}

static void put_words(struct made_record *made, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		put_u64(&made->bytes, made->words[i]);
}

static void put_mmap2(struct made_record *made)
{
	struct bytes *to = &made->bytes;

	put_halves(made, 2);
	put_words(made, 3);
	if (made_has_build_id(made)) {
		put_bytes(to, made->build_id, 24);
	} else {
		put_u32(to, made->halves[2]);
		put_u32(to, made->halves[3]);
		put_u64(to, made->words[3]);
		put_u64(to, made->words[4]);
	}
	put_u32(to, made->halves[4]);
	put_u32(to, made->halves[5]);
	put_text(to, made->name, 8);
}

static void put_read(struct made_record *made)
{
	put_halves(made, 2);
	put_u64(&made->bytes, made->words[0]);
	if (made->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(&made->bytes, made->words[1]);
	if (made->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(&made->bytes, made->words[2]);
	if (made->attr.read_format & PERF_FORMAT_ID)
		put_u64(&made->bytes, made->words[3]);
	if (made->attr.read_format & PERF_FORMAT_LOST)
		put_u64(&made->bytes, made->words[4]);
}

static void put_links(struct made_record *made)
{
	uint64_t i;

	put_halves(made, 2);
	put_u64(&made->bytes, made->link_count);
	for (i = 0; i < made->link_count * 2; i++)
		put_u64(&made->bytes, made->links[i]);
}

static void put_ips(struct made_record *made)
{
	uint64_t i;

	put_u64(&made->bytes, made->words[0]);
	put_u64(&made->bytes, made->ip_count);
	for (i = 0; i < made->ip_count; i++)
		put_u64(&made->bytes, made->ips[i]);
}

static void put_poke(struct made_record *made)
{
	struct bytes *to = &made->bytes;

	put_u64(to, made->words[0]);
	put_u16(to, made->old_size);
	put_u16(to, made->new_size);
	put_bytes(to, made->poke, (size_t)made->old_size + made->new_size);
	while (to->size % 8)
		put_u8(to, 0);
}

static void put_body(struct made_record *made)
{
	struct bytes *to = &made->bytes;

	switch (made->type) {
	case PERF_RECORD_MMAP:
		put_halves(made, 2);
		put_words(made, 3);
		put_text(to, made->name, 8);
		break;
	case PERF_RECORD_LOST:
		put_words(made, 2);
		break;
	case PERF_RECORD_COMM:
		put_halves(made, 2);
		put_text(to, made->name, 8);
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		put_halves(made, 4);
		put_words(made, 1);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_AUX:
		put_words(made, 3);
		break;
	case PERF_RECORD_READ:
		put_read(made);
		break;
	case PERF_RECORD_MMAP2:
		put_mmap2(made);
		break;
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		put_halves(made, 2);
		break;
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		put_words(made, 1);
		break;
	case PERF_RECORD_NAMESPACES:
		put_links(made);
		break;
	case PERF_RECORD_KSYMBOL:
		put_u64(to, made->words[0]);
		put_u32(to, made->halves[0]);
		put_u16(to, made->halves[1] & 0xffff);
		put_u16(to, made->halves[2] & 0xffff);
		put_text(to, made->name, 8);
		break;
	case PERF_RECORD_BPF_EVENT:
		put_u16(to, made->halves[0] & 0xffff);
		put_u16(to, made->halves[1] & 0xffff);
		put_u32(to, made->halves[2]);
		put_bytes(to, made->build_id, 8);
		break;
	case PERF_RECORD_CGROUP:
		put_u64(to, made->words[0]);
		put_text(to, made->name, 8);
		break;
	case PERF_RECORD_TEXT_POKE:
		put_poke(made);
		break;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		put_ips(made);
		break;
	default: /* SWITCH has only a trailer */
		break;
	}
}

void made_encode(struct made_record *made, bool big)
{
	int i;

	made->bytes.size = 0;
	made->bytes.big = big;
	begin_record(&made->bytes, made->type, made->misc);
	put_body(made);
	for (i = 0; made->attr.sample_id_all && i < ID_BITS; i++) {
		if (!(made->attr.sample_type & id_bits[i]))
			continue;
		if (i == 0 || i == 4) {
			put_u32(&made->bytes, made->trailer[i] & UINT32_MAX);
			put_u32(&made->bytes, made->trailer[i] >> 32);
		} else {
			put_u64(&made->bytes, made->trailer[i]);
		}
	}
	end_record(&made->bytes, 0);
}

struct perfev_record made_record(const struct made_record *made, const void *data, size_t size)
{
	struct perfev_record record;

	memset(&record, 0, sizeof(record));
	record.data = data;
	record.type = made->type;
	record.misc = made->misc;
	record.size = (uint32_t)size;
	record.flags = made->bytes.big == host_is_big() ? 0 : PERFEV_RECORD_SWAPPED;
	return record;
}
