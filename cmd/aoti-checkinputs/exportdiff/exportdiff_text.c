/* exportdiff_text.c - findings and their texts. */
#include "exportdiff/exportdiff_part.h"

static struct slice shortened(struct slice s) { return slice_of(s.p, s.n < 200 ? s.n : 200); }

/* "s77", "2*s77"; "?" */
struct slice exportdiff_size(struct compare *k, const struct contract *c, struct symsize s)
{
	struct buf b = {0};
	if (contract_known(c, s))
		symsize_print(&c->tab, s, &b);
	else
		buf_addc(&b, '?');
	return arena_take(&k->out->arena, &b);
}

struct slice exportdiff_sizes(struct compare *k, const struct contract *c, const struct contract_dim *d, int n, bool stride)
{
	struct buf b = {0};
	buf_addc(&b, '(');
	for (int i = 0; i < n; i++) {
		buf_adds(&b, i ? ", " : "");
		buf_add_slice(&b, exportdiff_size(k, c, stride ? d[i].stride : d[i].size));
	}
	buf_adds(&b, n == 1 ? ",)" : ")");
	return arena_take(&k->out->arena, &b);
}

/* "x", or the path, for messages; at most 200 bytes. */
struct slice exportdiff_label(const struct compare *k, uint32_t i)
{
	if (i < k->e->n_inputs && k->e->input[i].path.n)
		return shortened(k->e->input[i].path);
	if (i < k->e->n_inputs && k->e->input[i].name.n)
		return shortened(k->e->input[i].name);
	return i < k->c->n_inputs && k->c->input[i].name.n ? shortened(k->c->input[i].name) : SLICE("?");
}

static struct slice subject(struct compare *k, enum exportdiff_part part, uint32_t index, int dim)
{
	struct slice name = {0};
	const char *what = part == EXPORTDIFF_INPUT ? "input" : part == EXPORTDIFF_OUTPUT ? "output" : "weight";
	if (part == EXPORTDIFF_WHOLE || index == NONE)
		return part == EXPORTDIFF_WHOLE ? SLICE("the model") : SLICE("the weights");
	if (part == EXPORTDIFF_INPUT)
		name = exportdiff_label(k, index);
	else if (part == EXPORTDIFF_OUTPUT && index < k->e->n_outputs)
		name = shortened(k->e->output[index].path.n ? k->e->output[index].path : k->e->output[index].name);
	else if (part == EXPORTDIFF_WEIGHT)
		return exportdiff_text(k, "weight '%.*s'", SL(shortened(k->c->constant[index].fqn)));
	struct slice of = name.n ? exportdiff_text(k, " (%.*s)", SL(name)) : SLICE("");
	if (dim < 0)
		return exportdiff_text(k, "%s %u%.*s", what, index, SL(of));
	return exportdiff_text(k, "%s %u%.*s, dim %d", what, index, SL(of), dim);
}

struct exportdiff_finding *exportdiff_found(struct compare *k, enum exportdiff_what what, enum exportdiff_part part, uint32_t index,
					    int dim, bool advice)
{
	struct exportdiff *a = k->out;
	struct slice of = subject(k, part, index, dim);
	struct exportdiff_finding *f = &PUSH_TO(a->v, a->n, a->cap);
	*f = (struct exportdiff_finding){.what = what, .part = part, .index = index, .dim = dim, .advice = advice, .subject = of};
	a->n_bad += !advice;
	return f;
}
