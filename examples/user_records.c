/* SPDX-License-Identifier: MIT */
/* user_record.h: what a recorder wrote beside the records of the kernel. */
#include <perfev/reader.h>
#include <perfev/user_record.h>
#include <stdio.h>

static void show_ids(const struct perfev_id_index *map)
{
	struct perfev_id_index_entry entry;
	uint32_t i;

	for (i = 0; perfev_id_index_at(map, i, &entry); i++)
		printf("id %llu is of CPU %lld\n", (unsigned long long)entry.id, (long long)entry.cpu);
}

int main(int argc, char **argv)
{
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_user user;
	struct perfev_error err;
	char line[512];
	int r;

	if (argc != 2 || perfev_reader_open(&reader, argv[1], NULL, &err) < 0)
		return 1;
	while ((r = perfev_reader_next(reader, &record, &err)) > 0) {
		if (record.type < PERFEV_RECORD_USER_FIRST || perfev_user_decode(&user, &record, &err) < 0)
			continue;
		if (user.type == PERFEV_RECORD_ID_INDEX)
			show_ids(&user.as.id_index);
		else if (perfev_user_format(line, sizeof(line), &record, &err) > 0)
			printf("%s\n", line);
	}
	perfev_reader_close(reader);
	return r < 0 ? 1 : 0;
}
