#include "base/md5many.h"

#include <md5.h>

enum { LANES = 16, LARGE = 64 << 10, FEW = 3 };

typedef uint32_t vec __attribute__((vector_size(LANES * 4)));

/* A text on its way through a lane: whole blocks from the text itself, then one or two from tail. */
struct lane {
	struct md5_job *job;
	const uint8_t *at;
	size_t blocks; /* left at `at` */
	bool in_tail;
	uint8_t tail[128];
};

struct state {
	vec a, b, c, d;
};

#define ROTATE(x, s) ((x) << (s) | (x) >> (32 - (s)))
#define STEP(f, a, b, c, d, k, t, s) \
	do { \
		(a) += (f) + w[k] + (uint32_t)(t); \
		(a) = (b) + ROTATE(a, s); \
	} while (0)
#define F(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define G(b, c, d) ((c) ^ ((d) & ((b) ^ (c))))
#define H(b, c, d) ((b) ^ (c) ^ (d))
#define I(b, c, d) ((c) ^ ((b) | ~(d)))
#define ROUND(f, k0, k1, k2, k3, t0, t1, t2, t3, s0, s1, s2, s3) \
	STEP(f(b, c, d), a, b, c, d, k0, t0, s0); \
	STEP(f(a, b, c), d, a, b, c, k1, t1, s1); \
	STEP(f(d, a, b), c, d, a, b, k2, t2, s2); \
	STEP(f(c, d, a), b, c, d, a, k3, t3, s3)

/* `count` blocks of every lane. Inlined into a function for each kind of vector unit. */
static inline __attribute__((always_inline)) void blocks(struct state *st, const uint8_t *at[LANES], size_t count)
{
	vec a = st->a, b = st->b, c = st->c, d = st->d, w[16];
	for (; count; count--) {
		vec a0 = a, b0 = b, c0 = c, d0 = d;
		for (unsigned l = 0; l < LANES; l++) {
			uint32_t block[16];
			memcpy(block, at[l], 64);
			for (unsigned k = 0; k < 16; k++)
				w[k][l] = block[k]; /* little endian, as is everything that torch runs on */
			at[l] += 64;
		}
		ROUND(F, 0, 1, 2, 3, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 7, 12, 17, 22);
		ROUND(F, 4, 5, 6, 7, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 7, 12, 17, 22);
		ROUND(F, 8, 9, 10, 11, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 7, 12, 17, 22);
		ROUND(F, 12, 13, 14, 15, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 7, 12, 17, 22);
		ROUND(G, 1, 6, 11, 0, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 5, 9, 14, 20);
		ROUND(G, 5, 10, 15, 4, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 5, 9, 14, 20);
		ROUND(G, 9, 14, 3, 8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 5, 9, 14, 20);
		ROUND(G, 13, 2, 7, 12, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 5, 9, 14, 20);
		ROUND(H, 5, 8, 11, 14, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 4, 11, 16, 23);
		ROUND(H, 1, 4, 7, 10, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 4, 11, 16, 23);
		ROUND(H, 13, 0, 3, 6, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 4, 11, 16, 23);
		ROUND(H, 9, 12, 15, 2, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 4, 11, 16, 23);
		ROUND(I, 0, 7, 14, 5, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 6, 10, 15, 21);
		ROUND(I, 12, 3, 10, 1, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1, 6, 10, 15, 21);
		ROUND(I, 8, 15, 6, 13, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 6, 10, 15, 21);
		ROUND(I, 4, 11, 2, 9, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391, 6, 10, 15, 21);
		a += a0;
		b += b0;
		c += c0;
		d += d0;
	}
	*st = (struct state){a, b, c, d};
}

static void blocks_plain(struct state *st, const uint8_t *at[LANES], size_t count) { blocks(st, at, count); }
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void blocks_avx2(struct state *st, const uint8_t *at[LANES], size_t count) { blocks(st, at, count); }
__attribute__((target("avx512f"))) static void blocks_avx512(struct state *st, const uint8_t *at[LANES], size_t count)
{
	blocks(st, at, count);
}
#endif

static void one(struct md5_job *j)
{
	MD5_CTX ctx;
	MD5Init(&ctx);
	MD5Update(&ctx, j->p, j->n);
	MD5Final(j->digest, &ctx);
}

static void start(struct lane *l, struct state *st, unsigned i, struct md5_job *j)
{
	*l = (struct lane){.job = j, .at = j->p, .blocks = j->n / 64};
	st->a[i] = 0x67452301;
	st->b[i] = 0xefcdab89;
	st->c[i] = 0x98badcfe;
	st->d[i] = 0x10325476;
}

/* The rest of the text, the bit that ends it, and its length in bits. */
static void go_to_tail(struct lane *l)
{
	size_t rest = l->job->n % 64, bits = l->job->n * 8;
	if (rest)
		memcpy(l->tail, (const uint8_t *)l->job->p + l->job->n - rest, rest);
	l->tail[rest] = 0x80;
	l->blocks = rest < 56 ? 1 : 2;
	for (unsigned k = 0; k < 8; k++)
		l->tail[l->blocks * 64 - 8 + k] = (uint8_t)((uint64_t)bits >> 8 * k);
	l->at = l->tail;
	l->in_tail = true;
}

static void put(uint8_t *to, uint32_t v)
{
	for (unsigned k = 0; k < 4; k++)
		to[k] = (uint8_t)(v >> 8 * k);
}

static int by_size(const void *a, const void *b)
{
	const struct md5_job *x = a, *y = b;
	return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

void md5_many(struct md5_job *job, size_t n)
{
	void (*run)(struct state *, const uint8_t **, size_t) = blocks_plain;
#if defined(__x86_64__)
	run = __builtin_cpu_supports("avx512f") ? blocks_avx512 : __builtin_cpu_supports("avx2") ? blocks_avx2 : blocks_plain;
#endif
	/* The longest first, so that lanes end at about the same time. */
	if (n > 1)
		qsort(job, n, sizeof(*job), by_size);
	size_t next = 0;
	while (next < n && (job[next].n > LARGE || n - next < FEW))
		one(&job[next++]);
	struct lane lane[LANES];
	struct state st = {{0}, {0}, {0}, {0}};
	static const uint8_t idle[64];
	unsigned busy = 0;
	for (unsigned i = 0; i < LANES; i++) {
		lane[i].job = NULL;
		if (next < n) {
			start(&lane[i], &st, i, &job[next++]);
			busy++;
		}
	}
	while (busy) {
		size_t count = SIZE_MAX;
		const uint8_t *at[LANES];
		for (unsigned i = 0; i < LANES; i++) {
			struct lane *l = &lane[i];
			if (l->job && !l->blocks && !l->in_tail)
				go_to_tail(l);
			if (l->job && l->blocks < count)
				count = l->blocks;
		}
		for (unsigned i = 0; i < LANES; i++)
			if (!lane[i].job)
				count = 1; /* an idle lane has one block to read */
		for (unsigned i = 0; i < LANES; i++)
			at[i] = lane[i].job ? lane[i].at : idle;
		run(&st, at, count);
		for (unsigned i = 0; i < LANES; i++) {
			struct lane *l = &lane[i];
			if (!l->job)
				continue;
			l->at = at[i];
			l->blocks -= count;
			if (l->blocks || !l->in_tail)
				continue;
			put(l->job->digest, st.a[i]);
			put(l->job->digest + 4, st.b[i]);
			put(l->job->digest + 8, st.c[i]);
			put(l->job->digest + 12, st.d[i]);
			l->job = NULL;
			busy--;
			if (next < n) {
				start(l, &st, i, &job[next++]);
				busy++;
			}
		}
		if (busy > 0 && busy < FEW && next == n) /* alone, libmd is faster */
			for (unsigned i = 0; i < LANES; i++)
				if (lane[i].job) {
					one(lane[i].job);
					lane[i].job = NULL;
					busy--;
				}
	}
}
