#include "base/untab.h"

void untab(struct untab *u, char *end) { untab_plain(u, end); }
