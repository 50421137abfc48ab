/* Any bytes as the LOG of a document that is merged: refused, or facts that are written again as they were read, and that can be
 * compared with themselves and with nothing. */
#include "ranks/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static bool take(struct rank_facts *f, struct slice text)
{
	struct json_tape tape = {0};
	struct err err;
	uint32_t root;
	json_tape_text(&tape, text.p, text.n);
	bool ok = utf8_valid(text) && !json_parse(&tape, 0, text.n, &root) && !tape.loose && !rank_facts_in(f, &tape, root, &err);
	json_tape_release(&tape);
	return ok;
}

static void put(const struct rank_facts *f, struct buf *b)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_key(&o, "path");
	json_out_str(&o, slice_str(f->path));
	json_key(&o, "ranks");
	rank_facts_out(f, &o);
	json_close(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_of((const char *)data, size);
	struct rank_facts f[3];
	struct buf once = {0}, twice = {0};
	struct ranks all = {0};
	if (!take(&f[0], text))
		return 0;
	put(&f[0], &once);
	require(take(&f[1], buf_slice(&once)));
	put(&f[1], &twice);
	require(take(&f[2], buf_slice(&twice)));
	for (unsigned i = 0; i < 3; i++)
		ranks_add(&all, &f[i]);
	ranks_lost(&all, "lost", "why");
	ranks_finish(&all);
	require(all.n_process == 3);
	for (unsigned c = 0; c < RANK_CHECK_COUNT; c++) {
		uint32_t n = 0;
		require(all.check[c].agree == (all.check[c].n_group < 2));
		for (uint32_t i = 0; i < all.check[c].n_group; i++)
			n += all.check[c].group[i].n_member;
		require(n <= 3);
		/* What was written and read again is the same. */
		require(all.check[c].agree);
	}
	for (uint32_t i = 0; i < all.n_process; i++)
		for (uint32_t k = 0; k < all.process[i].n_compile && k < 20; k++) {
			uint64_t fp;
			uint32_t graph = rank_graph_of(&all, &all.process[i], k, &fp);
			require(graph == UINT32_MAX || (fp && graph < all.n_graph));
		}
	ranks_release(&all);
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
