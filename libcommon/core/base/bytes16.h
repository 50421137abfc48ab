/* bytes16.h - scans sixteen bytes of a text at once for the few that a scanner stops at.
 *
 *     BYTES16_SKIP(p, end, c, (c == '"') | (c == '\\') | (c <= 0x1f))     // c: each of sixteen bytes
 *     while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p > 0x1f)     // the last bytes of a text one by one
 *             p++;
 *
 * A comparison gives 0xff or 0 for each byte (vectors of gcc and clang, of whatever processor).
 */
#ifndef PT2_BASE_BYTES16_H
#define PT2_BASE_BYTES16_H
#include <stdint.h>
#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef char bytes16_yes __attribute__((vector_size(16)));

static inline bytes16 bytes16_load(const char *p)
{
	bytes16 v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline bytes16 bytes16_of(char c) { return (bytes16){0} + (uint8_t)c; }

/* The upper bit of each byte. */
static inline unsigned bytes16_mask(bytes16_yes yes)
{
#ifdef PT2_ARCH_x86_64
	return (unsigned)__builtin_ia32_pmovmskb128(yes);
#else
	uint64_t half[2];
	memcpy(half, &yes, sizeof(half));
	for (int i = 0; i < 2; i++) /* bit 7 of byte k to bit 56 + k, by one product; little endian, like everything torch runs on */
		half[i] = (half[i] >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
	return (unsigned)(half[0] | half[1] << 8);
#endif
}

/* Advances p to the first byte for which `stop` is true, or to where fewer than sixteen bytes are left. */
#define BYTES16_SKIP(p, end, c, stop) \
	for (; (end) - (p) >= 16; (p) += 16) { \
		const bytes16 c = bytes16_load(p); \
		unsigned hit = bytes16_mask(stop); \
		if (hit) { \
			(p) += __builtin_ctz(hit); \
			break; \
		} \
	}

#endif
