/* report.c - logs as the JSON document of docs/formats/REPORT.md: the rows shared with fxexplain, and what only tlparse reads from a log.
 * */
#include "run/page/page.h"

#include "run/columns.h"
#include "run/document.h"

static void put_lines(struct json_out *o, const struct trace *t, const char *key, uint32_t name)
{
	json_member_lines(o, key, facts_text(t->f, name));
}

static void put_artifact(struct json_out *o, const struct trace *t, const char *key, uint32_t index, bool page)
{
	if (index == NONE)
		json_member_null(o, key);
	else
		json_member_u64(o, key, page ? index : t->artifact[index].number);
}

static void put_phases(struct json_out *o, const struct trace *t)
{
	json_member_arr(o, "phases");
	for (uint32_t i = 0; t && i < t->n_phase; i++) {
		json_obj(o);
		json_member_name(o, "name", &t->f->names, t->phase[i].name);
		json_member_seconds(o, "seconds", t->phase[i].seconds);
		json_close(o);
	}
	json_close(o);
}

/* ---- export ---- */

/* Expressions that a finding is built from: only these are written, arguments before their users. number: the index in
 * the list, UINT32_MAX for those left out. Arguments are earlier rows, so one pass from the end finds all. */
static uint32_t *expressions_told(const struct trace *t)
{
	uint32_t *number = xcalloc(t->n_expr + 1u, sizeof(*number)), n = 0;
	for (uint32_t i = 0; i < t->n_export; i++)
		if (t->export[i].node != NONE)
			number[t->export[i].node] = 1;
	for (uint32_t i = t->n_expr; i-- > 0;)
		for (uint32_t k = 0; number[i] && k < t->expr[i].n_arg; k++)
			number[t->expr_arg[t->expr[i].first_arg + k]] = 1;
	for (uint32_t i = 0; i < t->n_expr; i++)
		number[i] = number[i] ? n++ : NONE;
	return number;
}

static void put_where(struct json_out *o, const struct fact_src *src) { json_fields(o, *src, attempt, line); }

static void put_expressions(struct json_out *o, const struct trace *t, const uint32_t *number)
{
	json_member_arr(o, "expressions");
	for (uint32_t i = 0; i < t->n_expr; i++) {
		const struct trace_expr *e = &t->expr[i];
		if (number[i] == NONE)
			continue;
		json_obj(o);
		put_where(o, &e->src);
		json_member_name(o, "result", &t->f->names, e->result);
		json_member_name(o, "method", &t->f->names, e->method);
		put_lines(o, t, "arguments", e->args);
		json_member_arr(o, "made_of");
		for (uint32_t k = 0; k < e->n_arg; k++)
			json_out_u64(o, number[t->expr_arg[e->first_arg + k]]);
		json_close(o);
		document_loc(o, "location", t->f, &e->loc);
		json_close(o);
	}
	json_close(o);
}

static void put_export(struct json_out *o, const struct trace *t, bool page)
{
	static const char *const kind[] = {"guard", "specialized", "data_dependent", "missing_fake_kernel", "mismatched_fake_kernel"};
	json_key(o, "export");
	if (!t || (!t->n_export && !t->exported_line)) {
		json_out_null(o);
		return;
	}
	uint32_t *number = expressions_told(t);
	json_obj(o);
	json_rows(o, "failures", i, t->n_export) {
		const struct trace_export *x = &t->export[i];
		bool kernel = x->kind == EXPORT_MISSING || x->kind == EXPORT_MISMATCHED;
		put_where(o, &x->src);
		json_member_str(o, "kind", slice_str(kind[x->kind]));
		json_member_name(o, "expr", &t->f->names, kernel ? NONE : x->expr);
		json_member_name(o, "op", &t->f->names, kernel ? x->expr : NONE);
		json_member_name(o, "result", &t->f->names, x->result);
		json_member_name(o, "reason", &t->f->names, x->reason);
		document_loc(o, "location", t->f, &x->loc);
		put_lines(o, t, "locals", x->locals);
		put_lines(o, t, "symbols", x->sources);
		json_member_count(o, "expression", x->node == NONE ? -1 : (int64_t)number[x->node]);
	}
	put_expressions(o, t, number);
	json_member_u64(o, "expressions_lost", t->expr_lost);
	put_artifact(o, t, "exported_program", page ? t->exported : NONE, page);
	json_member_count(o, "exported_program_line", t->exported_line ? (int64_t)t->exported_line : -1);
	json_close(o);
	free(number);
}

static void put_provenance(struct json_out *o, const struct trace *t, bool page)
{
	static const char *const part[PROV_TEXTS] = {"pre", "post", "code", "aot", "map", "stacks"};
	json_member_arr(o, "provenance");
	for (uint32_t i = 0; t && i < t->n_provenance; i++) {
		const struct trace_provenance *p = &t->provenance[i];
		json_obj(o);
		json_member_u64(o, "attempt", p->attempt);
		for (unsigned k = 0; k < PROV_TEXTS; k++)
			put_artifact(o, t, part[k], p->artifact[k], page);
		json_member_raw(o, "links", p->links);
		json_close(o);
	}
	json_close(o);
}

/* ---- the page's own arrays ---- */

/* A column of the artifacts: numbers as columns.h writes them. */
#define COLUMN(o, t, key, kind, number) \
	do { \
		struct column col_ = {0}; \
		for (uint32_t i_ = 0; i_ < (t)->n_artifact; i_++) { \
			const struct trace_artifact *a = &(t)->artifact[i_]; \
			column_add(&col_, (int64_t)(number)); \
		} \
		json_member_arr(o, key); \
		json_out_str(o, SLICE(kind)); \
		column_out(&col_, o); \
		json_close(o); \
		buf_release(&col_.b); \
	} while (0)

static void put_artifacts(struct json_out *o, const struct trace *t, struct columns *c)
{
	bool regions = false;
	for (uint32_t i = 0; i < t->n_artifact; i++)
		regions |= t->artifact[i].subgraph != NONE;
	json_member_obj(o, "artifacts");
	json_member_u64(o, "rows", t->n_artifact);
	json_member_obj(o, "columns");
	COLUMN(o, t, "attempt", "n", a->attempt);
	COLUMN(o, t, "key", "n", a->kind);
	COLUMN(o, t, "name", "t", columns_text(c, a->name));
	COLUMN(o, t, "line", "n", a->line);
	COLUMN(o, t, "size", "n", a->size);
	COLUMN(o, t, "nodes", "n", a->nodes);
	COLUMN(o, t, "t", "s", (double)a->seconds * 1e6 + 1.5);
	COLUMN(o, t, "block", "n", a->block == NONE ? -1 : (int64_t)a->block);
	COLUMN(o, t, "offset", "n", a->offset);
	COLUMN(o, t, "number", "n", a->flags & ART_UNLISTED ? -1 : (int64_t)a->number);
	COLUMN(o, t, "lang", "n", a->lang);
	if (regions)
		COLUMN(o, t, "subgraph", "t", columns_text(c, a->subgraph));
	json_close(o);
	json_close(o);
	json_member_arr(o, "keys");
	for (unsigned i = 0; i < KIND_COUNT; i++)
		json_out_str(o, slice_of(trace_kind[i].name, trace_kind[i].name_len));
	json_close(o);
	json_member_raw(o, "langs", SLICE("[\"text\",\"json\",\"py\",\"cpp\"]"));
}

static void put_stacks(struct json_out *o, const struct trace *t, struct columns *c)
{
	json_member_arr(o, "frames");
	for (uint32_t i = 0; i < t->n_frame; i++) {
		const struct trace_frame *f = &t->frame[i];
		json_arr(o);
		json_out_i64(o, columns_text(c, f->file) - 1);
		json_out_i64(o, f->line);
		json_out_str(o, f->name == NONE ? slice_of("", 0) : intern_get(&t->f->names, f->name));
		json_out_str(o, f->code == NONE ? slice_of("", 0) : intern_get(&t->f->names, f->code));
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "stacks");
	for (uint32_t i = 0; i < t->starts.n; i++) {
		const struct trace_stack *s = &t->starts.node[i];
		json_arr(o);
		json_out_i64(o, s->parent == NONE ? -1 : (int64_t)s->parent);
		json_out_u64(o, s->frame);
		json_arr(o);
		for (uint32_t k = s->first_start; k != NONE; k = t->starts.start[k].next)
			json_out_u64(o, t->starts.start[k].compile);
		json_close(o);
		json_close(o);
	}
	json_close(o);
	struct column of = {0};
	json_member_arr(o, "compile_stacks");
	json_out_str(o, SLICE("i"));
	for (uint32_t i = t->from.attempt; i < t->f->n_attempt && t->f->attempt[i].input == t->input; i++)
		column_add(&of, t->f->attempt[i].stack == NONE ? 0 : (int64_t)t->f->attempt[i].stack + 1);
	column_out(&of, o);
	json_close(o);
	buf_release(&of.b);
}

static void put_page_arrays(struct json_out *o, const struct trace *t, struct columns *c)
{
	json_member_arr(o, "strings");
	for (uint64_t i = 0, n = trace_strings(t); i < n; i++) {
		uint32_t string = trace_string_of_any(t, i);
		if (string == NONE)
			json_out_null(o);
		else
			json_out_str(o, intern_get(&t->f->names, string));
	}
	json_close(o);
	put_stacks(o, t, c);
	put_artifacts(o, t, c);
}

/* t: NULL for an input that is not a structured trace. c: of a page, or NULL. */
static void put_log(struct json_out *o, const struct facts *f, uint32_t input, const struct trace *t, struct columns *c)
{
	json_obj(o);
	json_member_u64(o, "input", input);
	document_summary(o, f, input);
	put_phases(o, t);
	json_close(o);
	put_export(o, t, c != NULL);
	put_provenance(o, t, c != NULL);
	if (t && c)
		put_page_arrays(o, t, c);
	json_close(o);
}

void report_release(struct report *r)
{
	for (unsigned i = 0; i < r->n; i++)
		trace_release(&r->log[i]);
	free(r->log);
	facts_release(&r->facts);
}

void report_document(struct json_out *o, const struct report *r, bool page)
{
	json_obj(o);
	document_head(o, "tlparse", &r->facts);
	document_summary(o, &r->facts, NONE);
	json_close(o);
	if (r->told)
		explain_out(r->told, o, page);
	struct columns c;
	if (page) {
		columns_begin(&c, &r->facts.names);
		document_columns(o, &r->facts, &c);
	} else {
		document_rows(o, &r->facts);
		document_ranks(o, &r->facts);
	}
	if (r->ranks)
		ranks_desync_json(o, r->ranks);
	json_member_arr(o, "logs");
	for (uint32_t i = 0, k = 0; i < r->facts.n_input; i++) {
		const struct trace *t = k < r->n && r->log[k].input == i ? &r->log[k] : NULL;
		put_log(o, &r->facts, i, t, page ? &c : NULL);
		k += t != NULL;
	}
	json_close(o);
	if (page) {
		columns_end(&c, o);
		json_member_obj(o, "blocks");
		json_fields(o, r->blocks, p, m, e, r);
		json_close(o);
	}
	json_close(o);
}
