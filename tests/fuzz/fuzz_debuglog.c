/* Any bytes as a log (fusion decisions, compilers' errors) and as all the texts of a compilation at once. The bytes are cut at "\n----\n":
 * code, IR, graph, node mappings, kernel stacks, log. */
#include "graph/inductor/kernelmaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct slice next_part(struct slice *rest)
{
	const char *at = slice_find(*rest, "\n----\n");
	struct slice part = at ? slice_of(rest->p, (size_t)(at + 1 - rest->p)) : *rest;
	*rest = at ? slice_of(at + 6, (size_t)(rest->p + rest->n - at - 6)) : slice_of(rest->p, 0);
	return part;
}

static void check(struct kernelmap *m)
{
	struct kmfusion row[16];
	struct kmhit hit[8];
	for (uint32_t u = 0; u < m->n_use; u++) {
		const struct kmuse *x = &m->use[u];
		if (x->fx.first + x->fx.n > m->n_item || x->ir.first + x->ir.n > m->n_item || x->source.first + x->source.n > m->n_item ||
		    x->line + x->n_lines > m->n_line)
			abort();
		for (uint32_t i = 0; i < x->n_lines; i++) {
			const struct kmline *l = &m->line[x->line + i];
			if ((l->node != NONE && l->node >= m->n_node) || (l->ir_node != NONE && l->ir_node >= m->ir->n_node))
				abort();
		}
		kernelmap_fusion(m, u, row, 16);
		kernelmap_find(m, x->name, hit, 8);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = slice_of((const char *)data, size);
	struct kernelmap_input in = {.name = SLICE("fuzz")};
	struct kernelmap m, *one = &m;
	struct kmlocation at;
	struct fusionlog f = {0};
	in.code = next_part(&rest);
	in.ir_post = next_part(&rest);
	in.graph = next_part(&rest);
	in.mappings = next_part(&rest);
	in.stacks = next_part(&rest);
	struct slice log = next_part(&rest);
	fusionlog_read(&f, log);
	in.fusion = &f;
	kernelmap_build(&m, &in);
	check(&m);
	if (kernelmap_locate(&one, 1, log, &at) && at.line != NONE && (at.use >= m.n_use || at.line > m.use[at.use].n_lines))
		abort();
	kernelmap_release(&m);
	fusionlog_release(&f);
	struct kernelmaps k = {0};
	kernelmaps_from_log(&k, log);
	kernelmaps_build(&k);
	kernelmaps_release(&k);
	return 0;
}
