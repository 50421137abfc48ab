/* settle.c - exported: a process of our own is about to lose the right to open files for writing (watch/keeper.h). */
#include "watch/keeper.h"
#include "ops.h"

#include <unistd.h>

__attribute__((visibility("default"))) keeper_settle_fn pt2_probe_settle;
void pt2_probe_settle(int keeper, const char *keeps, int *fd)
{
	char path[256];
	const int events = talk_keep();
	*fd = -1;
	if (events < 0 || (!ops_log_open() && talk_path(path, sizeof(path), CALLS_FILE) && access(path, F_OK) == 0))
		return;
	*fd = events;
	if (keeper >= 0)
		files_keep(keeper, keeps);
}
