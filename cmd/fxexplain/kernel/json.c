/* json.c - `fxexplain kernel --json`. */
#include "kernel/kernel_part.h"

static void write_place(struct json_out *o, const struct kernelmap *m, uint32_t source)
{
	srcloc_json(o, source == NONE ? NULL : &m->source[source]);
}

static void write_nodes(struct json_out *o, const struct kernelmap *m, struct kmlist l)
{
	json_member_arr(o, "fx");
	for (uint32_t i = 0; i < l.n; i++)
		json_out_str(o, m->node[m->item[l.first + i]].name);
	json_close(o);
}

static void write_lines(struct json_out *o, const struct kernelmap *m, const struct kmuse *u)
{
	static const char *const how[] = {"", "same", "part", "guess"};
	struct slice rest = kernelmap_text(m, u), line;
	json_member_arr(o, "lines");
	for (uint32_t n = 0; slice_line(&rest, &line); n++) {
		const struct kmline *l = n < u->n_lines ? &m->line[u->line + n] : NULL;
		json_obj(o);
		json_member_str(o, "text", line);
		if (l && l->value.n)
			json_member(o, "value", l->value);
		if (l && l->node != NONE && l->how != MATCH_NONE) {
			json_member(o, "fx", m->node[l->node].name);
			json_member(o, "how", slice_str(how[l->how]));
		}
		if (l && l->ir_node != NONE) {
			json_member(o, "ir", m->ir->node[l->ir_node].name);
			json_member_u64(o, "ir_line", l->ir_line);
		}
		json_close(o);
	}
	json_close(o);
}

static void write_fusion(struct json_out *o, struct kernelmap *m, uint32_t use)
{
	struct kmfusion row[64];
	const uint32_t n = kernelmap_fusion(m, use, row, ARRAY_LEN(row));
	json_rows(o, "fusion", i, n) {
		json_fields(o, row[i], a, b);
		json_member_bool(o, "fused", row[i].done);
		json_fields(o, row[i], reason, derived);
	}
}

static void write_use(struct json_out *o, struct kernelmap *m, uint32_t use)
{
	static const char *const from[] = {"mappings", "comments", "fusion_log", "flow", "name"};
	const struct kmuse *u = &m->use[use];
	const struct outcall *c = &m->code.call[u->call];
	json_obj(o);
	json_member(o, "name", u->name);
	json_member(o, "language", slice_str(language_of(m, u)));
	json_member(o, "handle", c->notes.handle);
	json_member_u64(o, "call_line", c->line);
	if (u->kernel == NONE)
		json_member_null(o, "defined_line");
	else
		json_member_u64(o, "defined_line", m->code.kernel[u->kernel].line);
	json_member(o, "types", u->types);
	write_nodes(o, m, u->fx);
	json_member_arr(o, "from");
	for (unsigned i = 0; i < ARRAY_LEN(from); i++)
		if (u->from >> i & 1)
			json_out_str(o, slice_str(from[i]));
	json_close(o);
	json_member_arr(o, "ir");
	for (uint32_t i = 0; i < u->ir.n; i++)
		json_out_str(o, m->ir->node[m->item[u->ir.first + i]].name);
	json_close(o);
	json_member_arr(o, "python");
	for (uint32_t i = 0; i < u->source.n; i++)
		write_place(o, m, m->item[u->source.first + i]);
	json_close(o);
	write_fusion(o, m, use);
	write_lines(o, m, u);
	json_close(o);
}

static void write_map(struct json_out *o, struct kernelmap *m, uint32_t map, const struct kernel_hit *hit, uint32_t n)
{
	json_obj(o);
	json_fields(o, m->in, name, cached);
	json_member_arr(o, "kernels");
	for (uint32_t u = 0; u < m->n_use; u++) {
		bool wanted = !hit;
		for (uint32_t i = 0; i < n; i++)
			wanted |= hit[i].map == map && kernelmap_use_has(m, u, hit[i].at);
		if (wanted)
			write_use(o, m, u);
	}
	json_close(o);
	json_rows(o, "nodes", i, m->n_node) {
		const struct kmnode *x = &m->node[i];
		json_member(o, "name", x->name);
		json_member(o, "call", x->text);
		json_member(o, "shape", x->shape);
		json_key(o, "python");
		write_place(o, m, x->source);
	}
	json_rows(o, "ir", i, m->ir ? m->ir->n_node : 0) {
		const struct irnode *x = &m->ir->node[i];
		json_fields(o, *x, name, kind);
		json_member(o, "loops", x->group);
		json_member(o, "fused_in", x->parent == NONE ? SLICE("") : m->ir->node[x->parent].name);
		write_nodes(o, m, m->ir_fx[i]);
	}
	json_close(o);
}

static void write_error(struct json_out *o, const struct kernelmaps *k, const struct kmlocation *at)
{
	json_obj(o);
	json_fields(o, at->error, file, line);
	json_member_u64(o, "column", at->error.col);
	json_member(o, "message", at->error.message);
	json_member(o, "code", at->quoted);
	if (at->line != NONE) {
		const struct kernelmap *m = k->map[at->map];
		const struct kmuse *u = &m->use[at->use];
		const struct kmline *l = &m->line[u->line + at->line - 1];
		json_member(o, "compilation", m->in.name);
		json_member(o, "kernel", u->name);
		json_member_u64(o, "kernel_line", at->line);
		json_member(o, "value", l->value);
		json_member(o, "ir", l->ir_node == NONE ? SLICE("") : m->ir->node[l->ir_node].name);
		json_member(o, "fx", l->node == NONE ? SLICE("") : m->node[l->node].name);
		json_key(o, "python");
		write_place(o, m, l->node == NONE ? NONE : m->node[l->node].source);
	}
	json_close(o);
}

void kernel_json(struct buf *b, const struct kernelmaps *k, const struct kernel_hit *hit, uint32_t n, const struct kmlocation *error,
		 uint32_t n_errors)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.kernel/1"));
	json_member_arr(&o, "compilations");
	for (uint32_t i = 0; i < k->n; i++) {
		bool wanted = !hit;
		for (uint32_t j = 0; j < n; j++)
			wanted |= hit[j].map == i;
		if (wanted)
			write_map(&o, k->map[i], i, hit, n);
	}
	json_close(&o);
	json_member_arr(&o, "errors");
	for (uint32_t i = 0; i < n_errors; i++)
		write_error(&o, k, &error[i]);
	json_close(&o);
	json_close(&o);
	buf_addc(b, '\n');
}
