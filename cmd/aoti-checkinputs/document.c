/* The JSON form: docs/CONTRACT.md. */
#include "base/json.h"
#include "checkinputs.h"

static void out_given(struct json_out *o, const struct given *g)
{
	json_key(o, "given");
	json_arr(o);
	for (size_t i = 0; i < g->n; i++) {
		const struct tensor_meta *m = &g->meta[i];
		if (m->n_dim < 0) {
			json_out_null(o);
			continue;
		}
		json_obj(o);
		json_member(o, "from", slice_str(g->from[i]));
		json_key(o, "dtype");
		json_out_str(o, slice_str(dtype_name(m->dtype)));
		json_key(o, "device");
		json_out_str(o, slice_str(device_name(m->device)));
		json_key(o, "sizes");
		json_arr(o);
		for (int d = 0; d < m->n_dim; d++)
			json_out_i64(o, m->size[d]);
		json_close(o);
		json_key(o, "strides");
		json_arr(o);
		for (int d = 0; d < m->n_dim; d++)
			json_out_i64(o, m->stride[d]);
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

static void out_findings(struct json_out *o, const struct check *k, bool unread)
{
	json_key(o, "fits");
	unread && !k->n_bad ? json_out_null(o) : json_out_bool(o, !k->n_bad);
	json_key(o, "findings");
	json_arr(o);
	for (size_t i = 0; i < k->n; i++) {
		const struct check_finding *f = &k->v[i];
		json_obj(o);
		json_key(o, "what");
		json_out_str(o, slice_str(check_what_name(f->what)));
		json_key(o, "input");
		f->input == CONTRACT_NONE ? json_out_null(o) : json_out_u64(o, f->input);
		json_key(o, "dim");
		f->dim < 0 ? json_out_null(o) : json_out_i64(o, f->dim);
		json_key(o, "advice");
		json_out_bool(o, f->advice);
		json_member(o, "aoti", f->aoti);
		json_key(o, "aoti_exact");
		json_out_bool(o, f->aoti.n && !f->aoti_loose);
		json_member(o, "expected", f->expected);
		json_member(o, "given", f->given);
		json_member(o, "fix", f->fix);
		json_close(o);
	}
	json_close(o);
}

void document_write(struct buf *b, const struct loaded *l, const struct given *g, const struct check *k, const struct symbind *at)
{
	const struct contract *c = &l->contract;
	struct json_out o = {.b = b};
	uint64_t peak;
	json_obj(&o);
	json_key(&o, "file");
	json_out_str(&o, slice_str(l->pkg.path));
	contract_members(c, &o);
	bool known = contract_peak(c, at, &peak, NULL);
	json_key(&o, "peak_bytes");
	known ? json_out_u64(&o, peak) : json_out_null(&o);
	json_key(&o, "peak_at");
	json_obj(&o);
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		int64_t v;
		if (!symbind_get(at, c->symbol[i].symbol, &v))
			continue;
		struct slice name = symtab_name(&c->tab, c->symbol[i].symbol);
		char *key = xstrndup(name.p, name.n);
		json_key(&o, key);
		json_out_i64(&o, v);
		free(key);
	}
	json_close(&o);
	if (l->probed && c->source == CONTRACT_FROM_TEXT) {
		json_member_lines(&o, "differences", buf_slice(&l->compared.differs));
		json_member_lines(&o, "open", buf_slice(&l->compared.open));
		json_key(&o, "calls_compared");
		json_out_u64(&o, l->compared.n_calls);
	}
	if (g)
		out_given(&o, g);
	if (k)
		out_findings(&o, k, c->n_unread);
	json_close(&o);
	buf_addc(b, '\n');
}
