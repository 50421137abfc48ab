#include "base/md5many.h"
#include "base/md5many_part.h"

#include <md5.h>

enum { LARGE = 64 << 10, FEW = 3 };

/* A text on its way through a lane: whole blocks from the text itself, then one or two from tail. */
struct lane {
	struct md5_job *job;
	const uint8_t *at;
	size_t blocks; /* left at `at` */
	bool in_tail;
	uint8_t tail[128];
};

void md5_blocks_plain(struct md5_state *st, const uint8_t *at[MD5_LANES], size_t count) { md5_blocks(st, at, count, false); }

static void one(struct md5_job *j)
{
	MD5_CTX ctx;
	MD5Init(&ctx);
	MD5Update(&ctx, j->p, j->n);
	MD5Final(j->digest, &ctx);
}

static void start(struct lane *l, struct md5_state *st, unsigned i, struct md5_job *j)
{
	l->job = j;
	l->at = j->p;
	l->blocks = j->n / 64;
	l->in_tail = false;
	st->a[i] = 0x67452301;
	st->b[i] = 0xefcdab89;
	st->c[i] = 0x98badcfe;
	st->d[i] = 0x10325476;
}

/* The rest of the text, the bit that ends it, and its length in bits. */
static void go_to_tail(struct lane *l)
{
	size_t rest = l->job->n % 64, bits = l->job->n * 8;
	memset(l->tail, 0, sizeof(l->tail));
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

/* Jobs by their blocks, the longest first, so that lanes end at about the same time. */
struct queue {
	struct md5_job *first[LARGE / 64 + 1];
	size_t blocks, left;
};

static struct md5_job *take(struct queue *q)
{
	while (!q->first[q->blocks])
		q->blocks--;
	struct md5_job *j = q->first[q->blocks];
	q->first[q->blocks] = j->next;
	q->left--;
	return j;
}

void md5_many(struct md5_job *job, size_t n)
{
	md5_blocks_fn *run = md5_blocks_best();
	struct queue q = {.blocks = LARGE / 64};
	for (size_t i = 0; i < n; i++) {
		if (job[i].n > LARGE) {
			one(&job[i]);
			continue;
		}
		job[i].next = q.first[job[i].n / 64];
		q.first[job[i].n / 64] = &job[i];
		q.left++;
	}
	while (q.left && q.left < FEW)
		one(take(&q));
	struct lane lane[MD5_LANES];
	struct md5_state st = {{0}, {0}, {0}, {0}};
	static const uint8_t idle[64];
	unsigned busy = 0;
	for (unsigned i = 0; i < MD5_LANES; i++) {
		lane[i].job = NULL;
		if (q.left) {
			start(&lane[i], &st, i, take(&q));
			busy++;
		}
	}
	while (busy) {
		size_t count = SIZE_MAX;
		const uint8_t *at[MD5_LANES];
		for (unsigned i = 0; i < MD5_LANES; i++) {
			struct lane *l = &lane[i];
			if (l->job && !l->blocks && !l->in_tail)
				go_to_tail(l);
			if (l->job && l->blocks < count)
				count = l->blocks;
		}
		for (unsigned i = 0; i < MD5_LANES; i++)
			if (!lane[i].job)
				count = 1; /* an idle lane has one block to read */
		for (unsigned i = 0; i < MD5_LANES; i++)
			at[i] = lane[i].job ? lane[i].at : idle;
		run(&st, at, count);
		for (unsigned i = 0; i < MD5_LANES; i++) {
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
			if (q.left) {
				start(l, &st, i, take(&q));
				busy++;
			}
		}
		if (busy > 0 && busy < FEW && !q.left) /* alone, libmd is faster */
			for (unsigned i = 0; i < MD5_LANES; i++)
				if (lane[i].job) {
					one(lane[i].job);
					lane[i].job = NULL;
					busy--;
				}
	}
}
