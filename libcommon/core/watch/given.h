/* given.h - numbers that libpt2probe.so puts into a kernel's tensors and takes from them.
 *
 * A tool calls a kernel with them in place of what the model computed.
 *
 *     struct buf file = {0}, taken = {0};
 *     given_begin(&file, n);                                   // room for n entries, in order of run and call
 *     struct given_entry e = {.run = 0, .call = 3, .arg = 1, .when = GIVEN_BEFORE};
 *     struct given_entry t = {.run = 0, .call = 3, .arg = 0, .when = GIVEN_TAKE};
 *     given_add(&file, &e, data, bytes);
 *     given_add(&file, &t, NULL, bytes);
 *     struct watch_options o = {.given = buf_slice(&file), ...};
 *     given_run(&o, &taken, &err);                             // watch/dump.h: the same file, with what was taken
 *
 * A file `given` in the private folder of event.h. GIVEN_AFTER is put there when the call has returned and its results were taken: with
 * what an earlier run computed, the model goes on as it did then. Elements are row-major, whatever the strides. What does not fit the
 * tensor is left alone. The process may write anything into the file: only its own copy tells a tool where things are.
 */
#ifndef PT2_LIVE_GIVEN_H
#define PT2_LIVE_GIVEN_H
#include "base/buf.h"

#define GIVEN_FILE "given"
#define GIVEN_MAGIC "PT2GIVE1"

enum given_when { GIVEN_BEFORE, GIVEN_TAKE, GIVEN_AFTER };
struct given_entry {
	uint32_t run, call, arg;
	uint16_t when, done;    /* done: set by the library after GIVEN_TAKE */
	uint64_t offset, bytes; /* in the file; set by given_add */
};
struct given_file {
	char magic[8];
	uint64_t n, used; /* entries there is room for; of those .used */
	struct given_entry entry[];
};

static inline void given_begin(struct buf *b, uint64_t n)
{
	struct given_file g = {.n = n};
	memcpy(g.magic, GIVEN_MAGIC, sizeof(g.magic));
	buf_add(b, &g, sizeof(g));
	memset(buf_room(b, n * sizeof(struct given_entry)), 0, n * sizeof(struct given_entry));
	buf_wrote(b, n * sizeof(struct given_entry));
}

static inline void given_add(struct buf *b, const struct given_entry *e, const void *data, uint64_t bytes)
{
	struct given_file g;
	struct given_entry own = *e;
	memcpy(&g, b->p, sizeof(g));
	if (g.used >= g.n)
		return;
	const size_t pad = -b->len % 16; /* as aligned as any element */
	memset(buf_room(b, pad), 0, pad);
	buf_wrote(b, pad);
	own.offset = b->len;
	own.bytes = bytes;
	memcpy(b->p + sizeof(g) + g.used++ * sizeof(own), &own, sizeof(own));
	memcpy(b->p, &g, sizeof(g));
	if (data)
		buf_add(b, data, bytes);
	else
		memset(buf_room(b, bytes), 0, bytes), buf_wrote(b, bytes);
}

/* Is it one, and does it hold what its entries name? */
static inline bool given_fits(const struct given_file *g, size_t size)
{
	if (size < sizeof(*g) || memcmp(g->magic, GIVEN_MAGIC, sizeof(g->magic)) != 0 || g->used > g->n ||
	    g->n > (size - sizeof(*g)) / sizeof(g->entry[0]))
		return false;
	for (uint64_t i = 0; i < g->used; i++)
		if (g->entry[i].offset > size || g->entry[i].bytes > size - g->entry[i].offset)
			return false;
	return true;
}

/* The first entry of that call. */
static inline uint64_t given_find(const struct given_file *g, uint32_t run, uint32_t call)
{
	uint64_t lo = 0, hi = g->used;
	while (lo < hi) {
		const uint64_t mid = (lo + hi) / 2;
		const struct given_entry *e = &g->entry[mid];
		if (e->run < run || (e->run == run && e->call < call))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

#endif
