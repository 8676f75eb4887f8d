/* SPDX-License-Identifier: MIT */
/* meaning.h: words of samples in plain language, and a call chain by privilege; on any host. */
#include <perfev/meaning.h>
#include <stdio.h>

int main(void)
{
	static const uint64_t words[] = {PERF_CONTEXT_KERNEL, UINT64_C(0xffffffff81000010), PERF_CONTEXT_USER, 0x401136};
	struct perfev_u64s ips = {words, 4, false};
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;
	char text[200];

	perfev_data_source_format(text, sizeof(text), UINT64_C(0x68100142));
	printf("%s\n", text);
	perfev_transaction_format(text, sizeof(text), PERF_TXN_TRANSACTION | PERF_TXN_CONFLICT);
	printf("%s\n", text);
	perfev_callchain_begin(&chain, ips, PERF_RECORD_MISC_KERNEL);
	while (perfev_callchain_next(&chain, &entry) > 0)
		printf("%s 0x%llx\n", perfev_context_name((enum perfev_context)entry.context), (unsigned long long)entry.ip);
	return 0;
}
