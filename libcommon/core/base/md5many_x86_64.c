#include "base/md5many_part.h"

static void blocks_plain(struct md5_state *st, const uint8_t *at[MD5_LANES], size_t count) { md5_blocks(st, at, count, false); }

__attribute__((target("avx2"))) static void blocks_avx2(struct md5_state *st, const uint8_t *at[MD5_LANES], size_t count)
{
	md5_blocks(st, at, count, false);
}

__attribute__((target("avx512f"))) static void blocks_avx512(struct md5_state *st, const uint8_t *at[MD5_LANES], size_t count)
{
	md5_blocks(st, at, count, true);
}

md5_blocks_fn *md5_blocks_best(void)
{
	return __builtin_cpu_supports("avx512f") ? blocks_avx512 : __builtin_cpu_supports("avx2") ? blocks_avx2 : blocks_plain;
}
