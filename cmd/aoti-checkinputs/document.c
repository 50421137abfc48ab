/* document.c - the JSON form: docs/formats/CONTRACT.md. */
#include "base/json.h"
#include "checkinputs.h"

static void out_given(struct json_out *o, const struct given *g)
{
	json_member_arr(o, "given");
	for (size_t i = 0; i < g->n; i++) {
		const struct tensor_meta *m = &g->meta[i];
		if (m->n_dim < 0) {
			json_out_null(o);
			continue;
		}
		json_obj(o);
		json_member(o, "from", slice_str(g->from[i]));
		json_member_str(o, "dtype", slice_str(dtype_name(m->dtype)));
		json_member_str(o, "device", slice_str(device_name(m->device)));
		json_member_i64s(o, "sizes", m->size, m->n_dim);
		json_member_i64s(o, "strides", m->stride, m->n_dim);
		json_close(o);
	}
	json_close(o);
}

void document_verdict(struct json_out *o, const char *key, size_t n_bad, bool unread)
{
	unread && !n_bad ? json_member_null(o, key) : json_member_bool(o, key, !n_bad);
}

static void out_findings(struct json_out *o, const struct check *k, bool unread)
{
	document_verdict(o, "fits", k->n_bad, unread);
	json_rows(o, "findings", i, k->n) {
		const struct check_finding *f = &k->v[i];
		json_member_str(o, "what", slice_str(check_what_name(f->what)));
		json_member_index(o, "input", f->input);
		json_member_count(o, "dim", f->dim);
		json_fields(o, *f, advice, aoti);
		json_member_bool(o, "aoti_exact", f->aoti.n && !f->aoti_loose);
		json_fields(o, *f, expected, given, fix);
	}
}

void document_write(struct buf *b, const struct loaded *l, const struct given *g, const struct check *k, const struct symbind *at)
{
	const struct contract *c = &l->contract;
	struct json_out o = {.b = b};
	uint64_t peak;
	json_obj(&o);
	json_member_str(&o, "file", slice_str(l->pkg.path));
	contract_members(c, &o);
	bool known = contract_peak(c, at, &peak, NULL);
	known ? json_member_u64(&o, "peak_bytes", peak) : json_member_null(&o, "peak_bytes");
	json_member_obj(&o, "peak_at");
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		int64_t v;
		if (!symbind_get(at, c->symbol[i].symbol, &v))
			continue;
		json_key_slice(&o, symtab_name(&c->tab, c->symbol[i].symbol));
		json_out_i64(&o, v);
	}
	json_close(&o);
	if (l->probed && c->source == CONTRACT_FROM_TEXT) {
		json_member_lines(&o, "differences", buf_slice(&l->compared.differs));
		json_member_lines(&o, "open", buf_slice(&l->compared.open));
		json_member_u64(&o, "calls_compared", l->compared.n_calls);
	}
	if (g)
		out_given(&o, g);
	if (k)
		out_findings(&o, k, c->n_unread);
	json_close(&o);
	buf_addc(b, '\n');
}
