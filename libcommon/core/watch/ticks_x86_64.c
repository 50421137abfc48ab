#include "watch/ticks.h"

#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Intel SDM vol. 3B 18.17.1, AMD APM vol. 2 13.2.4: CPUID 80000007h, EDX bit 8, invariant TSC. Whether all cores show the same,
 * Linux has measured: it leaves "tsc" out of its list when they do not. */
bool calls_ticking(void)
{
	unsigned a, b, c, d = 0;
	char text[256];
	bool yes = false;
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1 << 8))
		return false;
	int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	for (char *save, *word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save))
		yes |= !strcmp(word, "tsc");
	return yes;
}
