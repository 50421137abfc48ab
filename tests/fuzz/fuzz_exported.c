/* Any bytes as an exported program and as srepr: bounded, no crash; a program that is read fits itself, is the same
 * when it comes back from JSON, and may be held against anything. */
#include "base/sym/srepr.h"
#include "exportdiff/exportdiff.h"
#include "model/contract/exported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* A contract of another kind that the same bytes make: an input less, and nothing asserted. */
static void exportdiff_less(const struct contract *c, struct contract *other)
{
	struct exportdiff a = {0};
	if (other->n_inputs)
		other->n_inputs--;
	other->n_symbols = 0;
	for (uint32_t i = 0; i < other->n_inputs; i++)
		other->input[i].rank_known = i & 1;
	require(exportdiff_compare(c, other, &a) == (a.n_bad > 0));
	require(other->n_inputs + 1 != c->n_inputs || a.n_bad);
	exportdiff_release(&a);
	a = (struct exportdiff){0};
	exportdiff_compare(other, c, &a);
	exportdiff_release(&a);
}

static void whole(const struct contract *c)
{
	struct buf b = {0};
	struct json_out o = {.b = &b};
	struct contract again;
	struct exportdiff a = {0};
	struct err err;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		require(c->input[i].n_dim >= 0 && c->input[i].n_dim <= TENSOR_MAX_DIMS && c->input[i].rank_known);
	/* Strides and unchecked relations aside, which depend on what is asserted. */
	exportdiff_compare(c, c, &a);
	for (size_t i = 0; i < a.n; i++)
		require(a.v[i].advice || a.v[i].what == EXPORTDIFF_CONSTANT || a.v[i].what == EXPORTDIFF_EQUAL);
	exportdiff_release(&a);
	contract_to_json(c, &o);
	if (contract_from_json(&again, buf_slice(&b), &err) == 0) {
		require(again.n_inputs == c->n_inputs && again.n_constants == c->n_constants);
		exportdiff_less(c, &again);
		contract_release(&again);
	}
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_of((const char *)data, size);
	struct contract c;
	struct buf b = {0};
	struct err err;
	if (exported_read(&c, text, &err) == 0) {
		whole(&c);
		contract_release(&c);
	} else {
		require(err.text[0] && err.status == EXIT_INPUT);
	}
	err.text[0] = 0;
	if (srepr_to_infix(text, &b, &err) < 0)
		require(b.len == 0 && err.text[0]);
	else
		require(b.len > 0 && b.len <= SYMSIZE_MAX_TEXT);
	buf_release(&b);
	return 0;
}
