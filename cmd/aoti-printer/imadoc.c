/* imadoc.c - the findings of --ima as JSON (docs/formats/DUMP.md); null if unknown. */
#include "fault.h"
#include "base/text.h"

static void out_u64(struct json_out *o, const char *key, uint64_t v, bool known)
{
	known ? json_member_u64(o, key, v) : json_member_null(o, key);
}

static void out_three(struct json_out *o, const char *key, uint64_t x, uint64_t y, uint64_t z)
{
	json_member_arr(o, key);
	json_out_u64(o, x);
	json_out_u64(o, y);
	json_out_u64(o, z);
	json_close(o);
}

static void out_device(struct json_out *o, const struct ima_param *p)
{
	struct buf b = {0};
	buf_add_slice(&b, p->on);
	if (p->on.n && p->on_index >= 0)
		buf_addf(&b, ":%d", p->on_index);
	json_member(o, "device", buf_slice(&b));
	buf_release(&b);
}

static void out_argument(struct json_out *o, const struct fault_case *c, uint32_t i)
{
	const struct ima_param *p = &c->e->p[i];
	const struct ima_suspect *why = fault_suspect(c, i);
	const bool known = p->value != IMA_NONE, pointer = !p->tensor && known && p->allocation;
	json_member_index(o, "index", c->e->fault ? i : c->e->param);
	json_member(o, "name", fault_name(c, i));
	json_member(o, "kind", p->tensor ? SLICE("tensor") : pointer ? SLICE("pointer") : known ? SLICE("number") : SLICE(""));
	json_member(o, "role", p->role);
	json_member_positive(o, "bytes", p->size);
	!p->tensor &&known && !pointer ? json_member_i64(o, "value", fault_number(p)) : json_member_null(o, "value");
	json_member(o, "dtype", p->dtype);
	out_device(o, p);
	p->n_dim < 0 ? json_member_null(o, "sizes") : json_member_i64s(o, "sizes", p->dim, p->n_dim);
	p->n_dim < 0 ? json_member_null(o, "strides") : json_member_i64s(o, "strides", p->stride, p->n_dim);
	out_u64(o, "address", p->address, (p->tensor || pointer) && p->address != IMA_NONE);
	out_u64(o, "extent", p->extent, p->extent != IMA_NONE);
	out_u64(o, "storage", p->storage, p->storage != IMA_NONE);
	out_u64(o, "room", ima_room(p), ima_room(p) != IMA_NONE);
	if (json_member_obj_if(o, "allocation", p->allocation)) {
		json_member_u64(o, "base", p->base);
		json_member_u64(o, "bytes", p->allocation);
		json_close(o);
	}
	json_member_bool(o, "could_leave", why && ima_certain(why));
}

static void out_suspects(struct json_out *o, const struct ima_event *e)
{
	json_rows(o, "suspects", i, e->n_suspects) {
		json_member_index(o, "argument", e->fault ? e->suspect[i].param : e->param);
		json_member(o, "why", slice_str(ima_why_name(e->suspect[i].why)));
		json_member_bool(o, "certain", ima_certain(&e->suspect[i]));
		json_member(o, "text", e->suspect[i].text);
	}
}

static void out_symbols(struct json_out *o, const struct fault_case *c)
{
	json_member_obj(o, "sizes");
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		json_key_slice(o, c->symbol[i].name);
		json_out_i64(o, c->symbol[i].value);
	}
	json_close(o);
}

static void out_source(struct json_out *o, const struct fault_case *c)
{
	const struct contract_call *k = c->call;
	const struct slice none = SLICE("");
	json_member_positive(o, "line", k ? k->line : 0);
	json_member(o, "source_nodes", k ? k->nodes : none);
	json_member(o, "original_aten", k ? k->aten : none);
	json_member_texts(o, "pre_grad_nodes", c->from.pre, c->from.n_pre);
	json_member_texts(o, "post_grad_nodes", c->from.node, c->from.n_nodes);
	json_member_texts(o, "python", c->from.line, c->from.n_lines);
}

static void out_accesses(struct json_out *o, const struct sanitize *z)
{
	json_rows(o, "accesses", i, z->found.n) {
		const struct sanitize_row *row = &z->row[i];
		const struct sanitizer_error *e = row->e;
		struct buf b = {0};
		sanitize_sentence(row, &b);
		json_member(o, "text", buf_slice(&b));
		buf_release(&b);
		json_member(o, "what", e->what);
		json_member(o, "kernel", e->kernel);
		json_member_bool(o, "writes", e->writes);
		json_member_bool(o, "misaligned", e->misaligned);
		json_member_u64(o, "bytes", e->bytes);
		out_u64(o, "address", e->address, e->has_address);
		out_three(o, "thread", e->thread[0], e->thread[1], e->thread[2]);
		out_three(o, "block", e->block[0], e->block[1], e->block[2]);
		json_member_u64(o, "threads", e->times);
		json_member_u64(o, "offset", e->offset);
		json_member(o, "file", e->file);
		json_member_positive(o, "file_line", e->line);
		json_member_index(o, "argument", row->param);
		json_member(o, "buffer", row->param != NONE ? fault_name(row->of, row->param) : SLICE(""));
		json_member_i64(o, "beyond", sanitize_beyond(row));
		out_source(o, &row->at);
	}
}

static void out_past(struct json_out *o, const struct fault_call *p)
{
	const struct call_launch *l = &p->launch;
	json_member_index(o, "run", p->run);
	json_fields(o, *p, call, tid);
	json_member(o, "kernel", slice_str(p->name));
	json_member_positive(o, "line", p->line);
	json_member_bool(o, "returned", p->returned);
	if (json_member_obj_if(o, "launch", p->launched)) {
		out_three(o, "grid", l->grid[0], l->grid[1], l->grid[2]);
		out_three(o, "block", l->block[0], l->block[1], l->block[2]);
		json_fields(o, *l, shared, stream);
		json_member_bool(o, "captured", l->captured != 0);
		json_close(o);
	}
}

static void out_launch(struct json_out *o, const struct ima_event *e)
{
	if (!json_member_obj_if(o, "launch", e->launch))
		return;
	out_three(o, "grid", e->grid[0], e->grid[1], e->grid[2]);
	out_three(o, "block", e->block[0], e->block[1], e->block[2]);
	json_member_u64(o, "shared", e->shared);
	json_close(o);
}

static void out_graph(struct json_out *o, const struct ima_event *e)
{
	if (!json_member_obj_if(o, "replay", e->graph))
		return;
	json_member_u64(o, "graph", e->graph);
	json_member_u64(o, "times", e->replay);
	json_member_u64(o, "captured", e->captured);
	json_member_texts(o, "kernels", e->in_graph, e->n_in_graph);
	json_close(o);
}

static void out_fault(struct json_out *o, const struct ima_event *e)
{
	json_fields(o, *e, code, error, text, when);
	json_member(o, "seen", slice_str(fault_when(e->when)));
}

static void out_finding(struct json_out *o, const struct ima_event *e)
{
	json_member(o, "what", e->what);
	json_member(o, "text", slice_str(ima_what(e->what)));
}

static void out_case(struct json_out *o, const struct fault_case *c)
{
	const struct ima_event *e = c->e;
	json_obj(o);
	e->fault ? out_fault(o, e) : out_finding(o, e);
	json_member(o, "kernel", e->kernel);
	json_member(o, "model", c->contract ? c->contract->model : SLICE(""));
	json_member_index(o, "model_id", e->model);
	json_fields(o, *e, pid, tid);
	if (e->rank != NONE)
		json_member_u64(o, "rank", e->rank);
	json_member_index(o, "run", e->run);
	json_member_index(o, "call", e->call);
	json_member_count(o, "device", e->device);
	out_u64(o, "stream", e->stream, e->stream != IMA_NONE);
	out_source(o, c);
	if (e->fault) {
		out_launch(o, e);
		json_member(o, "function", e->function);
		out_graph(o, e);
	}
	out_symbols(o, c);
	json_rows(o, "arguments", i, e->n)
		out_argument(o, c, i);
	out_suspects(o, e);
	if (e->fault) {
		json_rows(o, "last_calls", i, c->n_last)
			out_past(o, c->last[i]);
	}
	json_close(o);
}

static void out_command(struct json_out *o, const struct fault_report *r)
{
	const struct child_result *c = &r->w->live.command;
	struct buf b = {0};
	child_describe(c, &b);
	json_member_arr(o, "command");
	for (char *const *word = r->command; *word; word++)
		json_out_str(o, slice_str(*word));
	json_close(o);
	json_member_obj(o, "ended");
	out_u64(o, "status", (uint64_t)c->status, !c->sig);
	const char *name = signal_name(c->sig);
	json_member(o, "signal", slice_str(name ? name + strlen("SIG") : ""));
	json_member(o, "text", buf_slice(&b));
	json_close(o);
	buf_release(&b);
}

static void out_steps(struct json_out *o, const struct fault_report *r)
{
	json_rows(o, "next", i, r->n_steps) {
		json_fields(o, r->step[i], text, command);
	}
}

static void out_models(struct json_out *o, const struct watch *w)
{
	json_rows(o, "models", i, w->n_models) {
		const struct watch_model *m = &w->model[i];
		json_fields(o, *m, id, path);
		json_member(o, "device", m->has_contract ? slice_str(device_name(m->contract.device)) : SLICE(""));
		json_member(o, "why", slice_str(m->why ? m->why : ""));
	}
}

void fault_document(struct buf *b, const struct fault_report *r)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.printer.ima/1"));
	out_command(&o, r);
	json_fields(&o, *r, alloc, calls, captured);
	json_member_u64(&o, "lost", r->w->calls.lost);
	json_member_arr(&o, "faults");
	for (size_t i = 0; i < r->n_faults; i++)
		out_case(&o, &r->v[i]);
	json_close(&o);
	json_member_arr(&o, "findings");
	for (size_t i = r->n_faults; i < r->n; i++)
		out_case(&o, &r->v[i]);
	json_close(&o);
	if (r->sanitize)
		out_accesses(&o, r->sanitize);
	json_member_texts(&o, "deaths", r->death, r->n_deaths);
	out_models(&o, r->w);
	json_member_lines(&o, "asides", buf_slice(&r->w->asides));
	json_member(&o, "note", r->note);
	out_steps(&o, r);
	json_close(&o);
	buf_addc(b, '\n');
}
