#include "base/md5many_part.h"

static void blocks_plain(struct md5_state *st, const uint8_t *at[MD5_LANES], size_t count) { md5_blocks(st, at, count, false); }

md5_blocks_fn *md5_blocks_best(void) { return blocks_plain; }
