/* md5many_part.h - blocks of MD5 in many lanes at once: one function, compiled for each vector unit. For md5many*.c only. */
#ifndef PT2_BASE_MD5MANY_PART_H
#define PT2_BASE_MD5MANY_PART_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MD5_LANES = 16 };

typedef uint32_t md5_vec __attribute__((vector_size(MD5_LANES * 4)));

struct md5_state {
	md5_vec a, b, c, d;
};

/* `count` blocks of 64 bytes of every lane; advances at[]. */
typedef void md5_blocks_fn(struct md5_state *st, const uint8_t *at[MD5_LANES], size_t count);

/* The fastest that this processor has. */
md5_blocks_fn *md5_blocks_best(void); /* md5many_x86_64.c, md5many_portable.c */

#define MD5_ROTATE(x, s) ((x) << (s) | (x) >> (32 - (s)))
#define MD5_STEP(f, a, b, c, d, k, t, s) \
	do { \
		(a) += (f) + w[k] + (uint32_t)(t); \
		(a) = (b) + MD5_ROTATE(a, s); \
	} while (0)
#define MD5_F(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define MD5_G(b, c, d) ((c) ^ ((d) & ((b) ^ (c))))
#define MD5_H(b, c, d) ((b) ^ (c) ^ (d))
#define MD5_I(b, c, d) ((c) ^ ((b) | ~(d)))
#define MD5_ROUND(f, k0, k1, k2, k3, t0, t1, t2, t3, s0, s1, s2, s3) \
	MD5_STEP(f(b, c, d), a, b, c, d, k0, t0, s0); \
	MD5_STEP(f(a, b, c), d, a, b, c, k1, t1, s1); \
	MD5_STEP(f(d, a, b), c, d, a, b, k2, t2, s2); \
	MD5_STEP(f(c, d, a), b, c, d, a, k3, t3, s3)

/* Interleaves the words of two vectors: their lower halves, their upper halves. */
#ifdef __clang__
#define MD5_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MD5_PICK(a, b, ...) __builtin_shuffle(a, b, (md5_vec){__VA_ARGS__})
#endif
#define MD5_ZIP_LOW(a, b) MD5_PICK(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define MD5_ZIP_HIGH(a, b) MD5_PICK(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define MD5_ZIP(to, from) \
	_Pragma("GCC unroll 8") for (unsigned k = 0; k < 8; k++) \
	{ \
		(to)[2 * k] = MD5_ZIP_LOW((from)[k], (from)[k + 8]); \
		(to)[2 * k + 1] = MD5_ZIP_HIGH((from)[k], (from)[k + 8]); \
	}

/* Inlined into one function per vector unit; wide: one register holds an md5_vec (shuffling parts of one is slower than moving words one by
 * one). */
static inline __attribute__((always_inline)) void md5_blocks(struct md5_state *st, const uint8_t *at[MD5_LANES], size_t count, bool wide)
{
	md5_vec a = st->a, b = st->b, c = st->c, d = st->d, w[16], z[16];
	for (; count; count--) {
		md5_vec a0 = a, b0 = b, c0 = c, d0 = d;
#pragma GCC unroll 16
		for (unsigned l = 0; l < MD5_LANES; l++) {
			uint32_t block[16];
			memcpy(wide ? (void *)&w[l] : block, at[l], 64);
			for (unsigned k = 0; k < 16 && !wide; k++)
				w[k][l] = block[k]; /* little endian, like everything torch runs on */
			at[l] += 64;
		}
		if (wide) { /* transpose: one row per lane becomes one row per word */
			MD5_ZIP(z, w)
			MD5_ZIP(w, z)
			MD5_ZIP(z, w)
			MD5_ZIP(w, z)
		}
		MD5_ROUND(MD5_F, 0, 1, 2, 3, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 7, 12, 17, 22);
		MD5_ROUND(MD5_F, 4, 5, 6, 7, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 7, 12, 17, 22);
		MD5_ROUND(MD5_F, 8, 9, 10, 11, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 7, 12, 17, 22);
		MD5_ROUND(MD5_F, 12, 13, 14, 15, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 7, 12, 17, 22);
		MD5_ROUND(MD5_G, 1, 6, 11, 0, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 5, 9, 14, 20);
		MD5_ROUND(MD5_G, 5, 10, 15, 4, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 5, 9, 14, 20);
		MD5_ROUND(MD5_G, 9, 14, 3, 8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 5, 9, 14, 20);
		MD5_ROUND(MD5_G, 13, 2, 7, 12, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 5, 9, 14, 20);
		MD5_ROUND(MD5_H, 5, 8, 11, 14, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 4, 11, 16, 23);
		MD5_ROUND(MD5_H, 1, 4, 7, 10, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 4, 11, 16, 23);
		MD5_ROUND(MD5_H, 13, 0, 3, 6, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 4, 11, 16, 23);
		MD5_ROUND(MD5_H, 9, 12, 15, 2, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 4, 11, 16, 23);
		MD5_ROUND(MD5_I, 0, 7, 14, 5, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 6, 10, 15, 21);
		MD5_ROUND(MD5_I, 12, 3, 10, 1, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1, 6, 10, 15, 21);
		MD5_ROUND(MD5_I, 8, 15, 6, 13, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 6, 10, 15, 21);
		MD5_ROUND(MD5_I, 4, 11, 2, 9, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391, 6, 10, 15, 21);
		a += a0;
		b += b0;
		c += c0;
		d += d0;
	}
	*st = (struct md5_state){a, b, c, d};
}

#endif
