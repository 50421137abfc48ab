/* The writer's side of dump.h. */
#include "watch/dump.h"
#include "watch/watch.h"

#include <math.h>

void dump_meta(const struct call_record *r, struct tensor_meta *m)
{
	*m = (struct tensor_meta){
	    .dtype = r->v.dtype, .device = r->v.device, .device_index = r->v.device_index, .has_address = true, .address = r->v.address};
	m->n_dim = r->v.n_dim < CALL_DIMS ? r->v.n_dim : CALL_DIMS;
	for (int d = 0; d < m->n_dim; d++) {
		m->size[d] = r->v.size[d];
		m->stride[d] = r->v.stride[d];
	}
}

void dump_stats(struct json_out *o, const struct tensor_stats *s)
{
	if (!s->known)
		return;
	const struct {
		const char *key;
		double v;
	} number[] = {{"min", s->min}, {"max", s->max}, {"mean", s->mean}};
	json_member_u64(o, "elements", s->n);
	json_member_u64(o, "nan", s->nan);
	json_member_u64(o, "inf", s->pos_inf);
	json_member_u64(o, "neg_inf", s->neg_inf);
	json_member_u64(o, "zeros", s->zero);
	for (size_t i = 0; i < ARRAY_LEN(number); i++) {
		if (s->n && !isnan(s->min))
			json_member_float(o, number[i].key, number[i].v);
		else
			json_member_null(o, number[i].key);
	}
}

static void out_value(struct json_out *o, const struct watch_call *c, const struct watch_value *v, const char *file)
{
	struct tensor_meta m;
	dump_meta(&v->rec, &m);
	json_obj(o);
	json_member_some(o, "buffer", slice_str(v->name));
	json_member_some(o, "path", watch_path(c, v));
	json_member_u64(o, "arg", v->rec.v.arg);
	json_member_some(o, "role", slice_str(call_role_name(v->rec.v.role)));
	json_member_some(o, "when", v->rec.v.before ? SLICE("before") : SLICE("after"));
	json_member_some(o, "dtype", slice_str(dtype_name(m.dtype)));
	struct buf device = {0};
	buf_adds(&device, device_name(m.device));
	if (m.device_index >= 0 && m.device != DEVICE_CPU)
		buf_addf(&device, ":%d", m.device_index);
	json_member_some(o, "device", buf_slice(&device));
	buf_release(&device);
	if (v->rec.v.n_dim <= CALL_DIMS) {
		json_member_i64s(o, "sizes", m.size, m.n_dim);
		json_member_i64s(o, "strides", m.stride, m.n_dim);
	}
	json_member_u64(o, "address", m.address);
	dump_stats(o, &v->rec.v.stats);
	if (v->rec.v.stats.known && v->rec.v.stats.first_bad >= 0)
		json_member_u64(o, "first_bad", (uint64_t)v->rec.v.stats.first_bad);
	json_member_some(o, "file", slice_str(file));
	if (*file && v->rec.v.saved == CALL_SAVED_ARENA)
		json_member_u64(o, "place", v->rec.v.place);
	json_close(o);
}

enum dump_kind dump_kind_of(const struct watch_call *c)
{
	if (c->begin.what == CALL_RUN_BEGIN)
		return DUMP_RUN;
	if (c->replay)
		return DUMP_REPLAY;
	if (c->contract)
		return c->contract->kind == CALL_PROXY ? DUMP_PROXY : c->contract->kind == CALL_OP ? DUMP_OP : DUMP_KERNEL;
	return slice_starts(slice_str(c->name), "aoti_torch_") ? DUMP_OP : DUMP_KERNEL;
}

static void out_launch(struct json_out *o, const struct watch_call *c)
{
	const struct call_launch *l = c->launch;
	const int64_t grid[3] = {l->grid[0], l->grid[1], l->grid[2]}, block[3] = {l->block[0], l->block[1], l->block[2]};
	json_member_obj(o, "launch");
	json_member_i64s(o, "grid", grid, 3);
	json_member_i64s(o, "block", block, 3);
	json_fields(o, *l, shared, stream);
	json_member_bool(o, "captured", l->captured != 0);
	if (l->captured && l->graph)
		json_member_u64(o, "graph", l->graph);
	json_member_some(o, "function", slice_str(c->function));
	if (c->n_launches > 1)
		json_member_u64(o, "launches", c->n_launches);
	json_close(o);
}

static void out_replay(struct json_out *o, const struct call_replay *r)
{
	json_member_obj(o, "replay");
	json_fields(o, *r, graph, captured, times, stream);
	json_close(o);
}

void dump_members(struct json_out *o, const struct watch_call *c, bool (*value)(void *user, uint32_t i, const char **file), void *user)
{
	bool returned = c->end.what != CALL_NONE;
	if (c->model) {
		json_member_some(o, "model", c->model->contract.model);
		json_member_u64(o, "model_id", c->model->id);
		json_member_some(o, "source", slice_str(c->model->text ? c->model->text : ""));
	}
	json_member_u64(o, "pid", c->begin.pid);
	if (watch_rank(c->model) != NONE)
		json_member_u64(o, "rank", c->model->rank);
	json_fields(o, c->begin, tid, seq);
	if (c->begin.run != CALLS_NO_RUN)
		json_member_u64(o, "run", c->begin.run);
	json_member_u64(o, "call", c->begin.call);
	json_member_some(o, "kernel", slice_str(c->name));
	json_member_some(o, "kind", slice_str(dump_kind_name(dump_kind_of(c))));
	json_member_some(o, "precision", slice_str(c->precision ? c->precision : ""));
	if (c->contract) {
		if (c->contract->line)
			json_member_u64(o, "line", c->contract->line);
		json_member_some(o, "nodes", c->contract->nodes);
		json_member_some(o, "aten", c->contract->aten);
	}
	if (c->launch)
		out_launch(o, c);
	if (c->replay)
		out_replay(o, c->replay);
	json_member_u64(o, "time_ns", c->begin.time);
	if (returned)
		json_member_u64(o, "took_ns", c->begin.what == CALL_RUN_BEGIN ? c->end.time - c->begin.time : c->end.took);
	json_member_bool(o, "returned", returned && c->end.result != CALLS_NOT_RETURNED);
	if (returned && c->end.result != CALLS_NOT_RETURNED)
		json_member_i64(o, "result", c->end.result);
	json_member_arr(o, "values");
	for (uint32_t i = 0; i < c->n_values; i++) {
		const char *file = c->value[i].saved;
		if (!value || value(user, i, &file))
			out_value(o, c, &c->value[i], file ? file : "");
	}
	json_close(o);
}

void dump_head(struct buf *b, const char *tool)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member_u64(&o, "dump", DUMP_VERSION);
	json_member_some(&o, "writer", slice_str(tool));
	json_close(&o);
	buf_addc(b, '\n');
}

void dump_line(struct buf *b, const struct watch_call *c, bool (*value)(void *user, uint32_t i, const char **file), void *user)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	dump_members(&o, c, value, user);
	json_close(&o);
	buf_addc(b, '\n');
}

void dump_end(struct buf *b, uint64_t calls, uint64_t lost, struct slice failed)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member_bool(&o, "ended", true);
	json_member_u64(&o, "calls", calls);
	json_member_u64(&o, "lost", lost);
	json_member_some(&o, "failed", failed);
	json_close(&o);
	buf_addc(b, '\n');
}
