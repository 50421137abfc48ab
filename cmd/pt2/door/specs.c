#include "door/specs.h"

#include "base/json.h"
#include "base/sym/symsize.h"
#include "tensor/tensor.h"

enum { USUAL = 8 };

struct reading {
	struct json_tape t;
	struct symtab tab;
	struct symbind env;
};

static void reading_release(struct reading *r)
{
	json_tape_release(&r->t);
	symtab_release(&r->tab);
	symbind_release(&r->env);
}

static void bind_symbols(struct reading *r, uint32_t list)
{
	json_each(&r->t, list, k) {
		const int64_t min = json_int(&r->t, k, "min", 0), max = json_int(&r->t, k, "max", INT64_MAX);
		symbind_set(&r->env, symtab_symbol(&r->tab, json_word(&r->t, k, "name")), min > USUAL ? min : max < USUAL ? max : USUAL);
	}
}

/* A number, or an expression over the symbols. */
static bool number_of(struct reading *r, uint32_t token, int64_t *value)
{
	struct symsize s;
	if (json_is(&r->t, token, JSON_NUMBER))
		return json_i64(&r->t, token, value);
	return json_is(&r->t, token, JSON_STRING) && symsize_parse(&r->tab, json_slice(&r->t, token), &s, NULL) == 0 &&
	       symsize_eval(&r->tab, s, &r->env, value, NULL) == 0;
}

static bool sizes_of(struct reading *r, uint32_t dims, struct tensor_meta *m)
{
	bool strided = true;
	json_each(&r->t, dims, k) {
		if (m->n_dim == TENSOR_MAX_DIMS || !number_of(r, json_get(&r->t, k, "size"), &m->size[m->n_dim]))
			return false;
		strided &= number_of(r, json_get(&r->t, k, "stride"), &m->stride[m->n_dim]);
		m->n_dim++;
	}
	if (!strided)
		tensor_contiguous(m);
	return true;
}

static void put_list(struct buf *b, char open, const int64_t *v, int n, char close)
{
	buf_addc(b, open);
	for (int i = 0; i < n; i++)
		buf_addf(b, "%s%lld", i ? "," : "", (long long)v[i]);
	buf_addc(b, close);
}

static bool add_input(struct specs *s, struct reading *r, uint32_t input)
{
	const enum dtype type = dtype_by_name(json_word(&r->t, input, "dtype"));
	const uint32_t dims = json_get(&r->t, input, "dims");
	struct tensor_meta m = {.dtype = type};
	LOCAL_BUF b = {0};
	if (!dtype_info(type) || !json_is(&r->t, dims, JSON_ARRAY) || !sizes_of(r, dims, &m))
		return false;
	buf_adds(&b, dtype_info(type)->brief);
	put_list(&b, '[', m.size, m.n_dim, ']');
	if (!tensor_is_contiguous(&m)) {
		buf_addc(&b, '/');
		put_list(&b, '(', m.stride, m.n_dim, ')');
	}
	PUSH_TO(s->v, s->n, s->cap) = xstrdup(buf_str(&b));
	return true;
}

bool specs_make(struct specs *s, struct slice document)
{
	OWNED(reading_release) struct reading r = {0};
	uint32_t root;
	bool all = true;
	json_tape_text(&r.t, document.p, document.n);
	if (!document.n || json_parse(&r.t, 0, document.n, &root) < 0)
		return false;
	bind_symbols(&r, json_get(&r.t, root, "symbols"));
	json_each(&r.t, json_get(&r.t, root, "inputs"), k)
		all = all && add_input(s, &r, k);
	return all && s->n;
}

void specs_release(struct specs *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct specs){0};
}
