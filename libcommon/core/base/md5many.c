#include "base/md5many.h"
#include "base/md5many_part.h"

#include <md5.h>

enum { LARGE = 64 << 10, FEW = 3 }; /* sorted by comparing; lanes that are no faster than one text after the other */

/* Texts being processed in the lanes: whole blocks from the text itself, then one or two from its tail. */
struct lanes {
	struct md5_state st;
	const uint8_t *at[MD5_LANES];
	size_t left[MD5_LANES]; /* blocks at `at`; for an idle lane, more than there are */
	struct md5_job *job[MD5_LANES];
	bool in_tail[MD5_LANES];
	unsigned busy;
	uint8_t tail[MD5_LANES][128];
};

static void one(struct md5_job *j)
{
	MD5_CTX ctx;
	MD5Init(&ctx);
	MD5Update(&ctx, j->p, j->n);
	MD5Final(j->digest, &ctx);
}

/* The rest of the text, the terminating bit, and its length in bits. */
static void enter_tail(struct lanes *x, unsigned i)
{
	const struct md5_job *j = x->job[i];
	const size_t rest = j->n % 64, end = rest < 56 ? 64 : 128;
	const uint64_t bits = (uint64_t)j->n * 8;
	uint8_t *tail = x->tail[i];
	if (rest)
		memcpy(tail, (const uint8_t *)j->p + j->n - rest, rest);
	tail[rest] = 0x80;
	memset(tail + rest + 1, 0, end - rest - 1);
	memcpy(tail + end - 8, &bits, 8); /* little endian, like everything torch runs on */
	x->at[i] = tail;
	x->left[i] = end / 64;
	x->in_tail[i] = true;
}

static void start(struct lanes *x, unsigned i, struct md5_job *j)
{
	x->job[i] = j;
	x->at[i] = j->p;
	x->left[i] = j->n / 64;
	x->in_tail[i] = false;
	x->st.a[i] = 0x67452301;
	x->st.b[i] = 0xefcdab89;
	x->st.c[i] = 0x98badcfe;
	x->st.d[i] = 0x10325476;
	if (!x->left[i])
		enter_tail(x, i);
}

/* Sorts jobs by number of blocks, the longest first, so that lanes end at about the same time. */
struct queue {
	struct md5_job *large; /* longest first; a window has few */
	struct md5_job *first[LARGE / 64 + 1];
	size_t blocks, left;
};

static void add(struct queue *q, struct md5_job *j)
{
	struct md5_job **at = &q->first[j->n / 64 < LARGE / 64 ? j->n / 64 : LARGE / 64];
	if (j->n / 64 > LARGE / 64)
		for (at = &q->large; *at && (*at)->n > j->n;)
			at = &(*at)->next;
	j->next = *at;
	*at = j;
	q->left++;
}

static struct md5_job *longest(struct queue *q)
{
	while (!q->large && !q->first[q->blocks])
		q->blocks--;
	struct md5_job **at = q->large ? &q->large : &q->first[q->blocks], *j = *at;
	*at = j->next;
	q->left--;
	return j;
}

/* When its blocks are done: continues with its tail, or the next text. */
static void end_lane(struct lanes *x, unsigned i, struct queue *q)
{
	if (!x->in_tail[i]) {
		enter_tail(x, i);
		return;
	}
	const uint32_t digest[4] = {x->st.a[i], x->st.b[i], x->st.c[i], x->st.d[i]};
	memcpy(x->job[i]->digest, digest, sizeof(digest));
	if (q->left) {
		start(x, i, longest(q));
		return;
	}
	x->job[i] = NULL;
	x->left[i] = SIZE_MAX;
	x->busy--;
}

/* The rest of a lane's text by itself. */
static void finish(struct lanes *x, unsigned i)
{
	uint32_t state[4] = {x->st.a[i], x->st.b[i], x->st.c[i], x->st.d[i]};
	for (;;) {
		for (; x->left[i]; x->left[i]--, x->at[i] += 64)
			MD5Transform(state, x->at[i]);
		if (x->in_tail[i])
			break;
		enter_tail(x, i);
	}
	memcpy(x->job[i]->digest, state, sizeof(state));
	x->job[i] = NULL;
	x->busy--;
}

void md5_many(struct md5_job *job, size_t n)
{
	md5_blocks_fn *run = md5_blocks_best();
	struct queue q = {.blocks = LARGE / 64};
	for (size_t i = 0; i < n; i++)
		add(&q, &job[i]);
	while (q.left && q.left < FEW)
		one(longest(&q));
	struct lanes x;
	memset(&x.st, 0, sizeof(x.st));
	x.busy = 0;
	for (unsigned i = 0; i < MD5_LANES; i++) {
		x.job[i] = NULL;
		x.left[i] = SIZE_MAX;
		if (q.left) {
			start(&x, i, longest(&q));
			x.busy++;
		}
	}
	while (x.busy) {
		size_t count = SIZE_MAX;
		const uint8_t *any = NULL;
		for (unsigned i = 0; i < MD5_LANES; i++) {
			count = x.left[i] < count ? x.left[i] : count;
			any = x.job[i] ? x.at[i] : any;
		}
		for (unsigned i = 0; x.busy < MD5_LANES && i < MD5_LANES; i++)
			if (!x.job[i])
				x.at[i] = any; /* an idle lane reads along */
		run(&x.st, x.at, count);
		for (unsigned i = 0; i < MD5_LANES; i++)
			if (!(x.left[i] -= count))
				end_lane(&x, i, &q);
		if (x.busy > 0 && x.busy < FEW && !q.left) /* alone, libmd is faster */
			for (unsigned i = 0; i < MD5_LANES; i++)
				if (x.job[i])
					finish(&x, i);
	}
}
