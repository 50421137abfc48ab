/* Any bytes as a document of tlparse --json that is merged: refused, or rows that are written again as they were read, and that can be
 * compared with themselves and with nothing. */
#include "run/document.h"
#include "run/ranks/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static bool take(struct facts *f, struct slice text)
{
	struct json_tape tape = {0};
	struct err err;
	uint32_t root;
	facts_init(f);
	bool ok = utf8_valid(text) && document_open(&tape, text, "b.json", "tlparse", &root, &err) == 0 && !tape.loose &&
		  document_read(f, &tape, root, "b.json", &err) == 0;
	json_tape_release(&tape);
	if (!ok)
		facts_release(f);
	return ok;
}

static void put(const struct facts *f, struct buf *b)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	document_head(&o, "tlparse", f);
	document_rows(&o, f);
	document_ranks(&o, f);
	json_close(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_of((const char *)data, size);
	struct facts f[3];
	struct buf once = {0}, twice = {0};
	struct ranks all = {0};
	if (!take(&f[0], text))
		return 0;
	put(&f[0], &once);
	require(take(&f[1], buf_slice(&once)));
	put(&f[1], &twice);
	require(take(&f[2], buf_slice(&twice)));
	for (unsigned i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < f[i].n_input && k < 1; k++)
			ranks_add(&all, &f[i], k, 0);
		facts_release(&f[i]);
	}
	ranks_lost(&all, "lost", "why");
	ranks_finish(&all);
	require(all.n_process == 3 || !all.n_process);
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
			require(graph == UINT32_MAX || graph < all.n_graph); /* a document may say 0 */
		}
	ranks_release(&all);
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
