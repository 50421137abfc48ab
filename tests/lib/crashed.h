/* crashed.h - for the tests of crash/: the recorded package that crashes, unpacked into the folder of live.h, and its library. */
#ifndef CRASHED_H
#define CRASHED_H
#include "test.h"

#include "crash/verdict.h"
#include "live.h"

static char package_path[64], so_path[64];

static inline struct crash_library *give(struct crashmap *map, const char *path)
{
	struct err err;
	if (crashmap_package(map, path, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return map->library[map->n - 1];
}

static inline void crashed_begin(void)
{
	free(live_begin());
	snprintf(package_path, sizeof(package_path), "%s/crash.pt2", folder);
	snprintf(so_path, sizeof(so_path), "%s/crash.wrapper.so", folder);
	live_unpack("../crash/crash", "/", so_path, package_path);
}

#endif
