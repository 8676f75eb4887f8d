/* SPDX-License-Identifier: MIT */
/* probe.h: what can be measured here, and if not, why? */
#include <perfev/probe.h>
#include <stdio.h>

int main(void)
{
	struct perfev_system system;
	struct perfev_error err;

	perfev_system_read(&system);
	printf("kernel %s on %lld CPUs\n", system.release, (long long)system.cpus_online);
	for (int i = 0; i < PERFEV_ABILITY_COUNT; i++)
		if (perfev_probe((enum perfev_ability)i, &err))
			printf("%s: yes\n", perfev_ability_name((enum perfev_ability)i));
		else
			printf("%s: no: %s\n", perfev_ability_name((enum perfev_ability)i), err.text);
	return 0;
}
