/* json.c - `fxexplain profile --json`: everything read and compared.
 *
 *     {"profiles": [{"path": ..., "compiled": true, "events": 645, "wall": 16155020, "gaps": ..., "parts": {"fused
 * kernels": ...}, "steps": [...], "longest_gaps": [...], "regions": [...], "compilations": [...], "rows": [...],
 * "damage": [...]}, ...], "comparison": {"eager": PATH, "compiled": PATH, "wall": [eager, compiled], "speedup": 0.78,
 * "families": {NAME: [eager, compiled]}, "ops": [{"name": ..., "fate": "gone", "count": [2, 0], "self": [241000, 0],
 * ...}], "device": [...]}, "advice": [{"kind": "graph-breaks", "title": ..., "evidence": ..., "next": ..., "ns":
 * 116800, "share": 0.0289}, ...]}
 *
 * Times are nanoseconds: of the whole profile in "profiles", per step in "comparison" (null with one profile alone) and
 * "advice". The fields are those of profile/profile.h, compare.h and advice.h. */
#include "base/json.h"
#include "profile/profile_view.h"

static void member_ns(struct json_out *o, const char *key, double v) { json_member_double(o, key, v, 1); }

static const char *const class_name[PROFILE_CLASSES] = {[CLASS_OP] = "op",
							[CLASS_ANNOTATION] = "annotation",
							[CLASS_RUNTIME] = "runtime",
							[CLASS_PYTHON] = "python",
							[CLASS_KERNEL] = "kernel",
							[CLASS_COPY] = "copy",
							[CLASS_DEVICE_ANNOTATION] = "device_annotation",
							[CLASS_OTHER] = "other"};

static void rows(struct json_out *o, const struct profile *p)
{
	json_member_arr(o, "rows");
	for (uint32_t i = 0; i < p->n_row; i++) {
		const struct profile_row *r = &p->row[i];
		if (!r->count && !r->folded)
			continue;
		json_obj(o);
		json_member(o, "name", profile_name(p, i));
		json_member(o, "class", slice_str(class_name[r->class]));
		json_fields(o, *r, count, total, self, overlap, min, max, step_count, step_self, graph_self, compile_count, compile_self);
		if (r->shape)
			json_member(o, "slowest_dims", slice_str(r->shape));
		json_close(o);
	}
	json_close(o);
}

static void regions(struct json_out *o, struct profile_view *v, const struct profile *p)
{
	LOCAL_BUF tmp = {0};
	json_rows(o, "regions", i, p->n_region) {
		const struct profile_region *r = &p->region[i];
		json_member(o, "id", intern_get(&p->names, r->id));
		json_fields(o, *r, calls, total, lookup);
		json_member_u64(o, "after_break", r->nested);
		json_member_u64(o, "break_wait", r->wait);
		json_member(o, "after", r->after < p->n_region ? intern_get(&p->names, p->region[r->after].id) : slice_of("", 0));
		json_member(o, "function", view_function(v, intern_get(&p->names, r->id), &tmp));
	}
}

static void compiles(struct json_out *o, const struct profile *p)
{
	json_rows(o, "compilations", i, p->n_compile) {
		const struct profile_compile *c = &p->compile[i];
		json_member(o, "id", intern_get(&p->names, c->id));
		json_member(o, "event", intern_get(&p->names, c->what));
		json_fields(o, *c, ts, dur);
		json_member_index(o, "step", c->step);
		json_fields(o, *c, backward, again);
	}
}

static void steps_and_gaps(struct json_out *o, const struct profile *p)
{
	json_rows(o, "steps", i, p->n_step) {
		json_fields(o, p->step[i], number, ts, dur);
		json_member_u64(o, "compiling", p->step[i].compile);
	}
	json_rows(o, "longest_gaps", i, p->n_gap) {
		json_fields(o, p->gap[i], ts, dur);
		json_member_index(o, "step", p->gap[i].step);
		json_member(o, "after", profile_name(p, p->gap[i].before));
		json_member(o, "before", profile_name(p, p->gap[i].after));
		json_member(o, "python", profile_name(p, p->gap[i].python));
	}
}

static void one_profile(struct json_out *o, struct profile_view *v, unsigned i)
{
	const struct profile *p = &v->profile[i];
	json_obj(o);
	json_member(o, "path", slice_str(v->path[i]));
	json_fields(o, *p, compiled, events, bytes);
	json_member_u64(o, "threads", p->n_busy_thread);
	json_fields(o, *p, wall, gaps);
	json_member_u64(o, "graph_breaks", p->breaks);
	json_fields(o, *p, break_wait, devices, device_busy, device_span);
	json_member_obj(o, "parts");
	for (unsigned k = 0; k < SPENT_PARTS; k++)
		json_member_u64(o, profile_spent_name[k], p->spent[k]);
	json_close(o);
	steps_and_gaps(o, p);
	regions(o, v, p);
	compiles(o, p);
	rows(o, p);
	json_member_arr(o, "damage");
	struct slice rest = buf_slice(&p->damage), line;
	while (slice_line(&rest, &line))
		json_out_str(o, line);
	json_close(o);
	json_close(o);
}

static void pair(struct json_out *o, const char *key, double a, double b)
{
	json_member_arr(o, key);
	json_out_double(o, a, 1);
	json_out_double(o, b, 1);
	json_close(o);
}

static void origin(struct json_out *o, const struct profile_view *v, const struct profile_op *op)
{
	LOCAL_BUF nodes = {0}, lines = {0};
	if (view_kernel(v, op, &nodes, &lines)) {
		json_member(o, "nodes", buf_slice(&nodes));
		json_member(o, "lines", buf_slice(&lines));
	}
}

static void ops(struct json_out *o, const struct profile_view *v, const char *key, const struct profile_op *op, uint32_t n)
{
	json_rows(o, key, i, n) {
		json_member(o, "name", op[i].name);
		json_member(o, "family", slice_str(profile_family_name[op[i].family]));
		json_member(o, "fate", slice_str(profile_fate_name[op[i].fate]));
		pair(o, "count", op[i].count[0], op[i].count[1]);
		pair(o, "self", op[i].self[0], op[i].self[1]);
		member_ns(o, "in_graph", op[i].in_graph);
		origin(o, v, &op[i]);
	}
}

static void comparison(struct json_out *o, const struct profile_view *v)
{
	const struct profile_compare *c = &v->c;
	if (!json_member_obj_if(o, "comparison", !c->one))
		return;
	json_member(o, "eager", slice_str(v->side_path[0]));
	json_member(o, "compiled", slice_str(v->side_path[1]));
	json_fields(o, *c, swapped, same_kind, per_step);
	pair(o, "wall", c->wall[0], c->wall[1]);
	json_member_double(o, "speedup", c->wall[1] > 0 ? c->wall[0] / c->wall[1] : 0, 4);
	json_member_obj(o, "families");
	for (unsigned f = 0; f < FAMILIES; f++)
		pair(o, profile_family_name[f], c->family[0][f], c->family[1][f]);
	json_close(o);
	pair(o, "beside", c->beside[0], c->beside[1]);
	ops(o, v, "ops", c->op, c->n_op);
	ops(o, v, "device", c->device, c->n_device);
	json_close(o);
}

void profile_json(struct buf *b, struct profile_view *v)
{
	struct json_out o = {.b = b};
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.profile/1"));
	json_member_arr(&o, "profiles");
	for (unsigned i = 0; i < v->n; i++)
		one_profile(&o, v, i);
	json_close(&o);
	comparison(&o, v);
	json_rows(&o, "advice", i, v->advice.n) {
		const struct profile_advice *a = &v->advice.v[i];
		json_member(&o, "kind", slice_str(profile_advice_name[a->kind]));
		json_fields(&o, *a, title, evidence, next);
		member_ns(&o, "ns", a->ns);
		json_member_double(&o, "share", a->share, 4);
	}
	json_close(&o);
	buf_addc(b, '\n');
}
