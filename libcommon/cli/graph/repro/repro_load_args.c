/* load_args(reader): as written by torch's InputWriter (torch 2.13, torch/_dynamo/debug_utils.py, InputWriter), and by repro_text. */
#include "graph/repro/repro_part.h"
#include "base/base64.h"

enum { ARGS_MAX = 16, CLIP = 100 /* most bytes of quoted input in one of our lines */ };

struct loading {
	struct reading *s;
	struct repro *r;
	struct slice reader; /* the parameter's name */
	struct intern var;   /* names of storages */
	uint32_t *storage;   /* by variable; NONE */
	uint32_t cap_storage;
	struct pyarg arg[ARGS_MAX];
	int n_args;
	const struct pyline *l;
	uint32_t repeats; /* of a fixup whose second line is still missing; or NONE */
};

#define FAIL(d, ...) bad_line((d)->s, (d)->l->line, __VA_ARGS__)

static const struct pyarg *named(const struct loading *d, const char *name)
{
	for (int i = 0; i < d->n_args; i++)
		if (slice_is(d->arg[i].name, name))
			return &d->arg[i];
	return NULL;
}

static int positional(const struct loading *d)
{
	int n = 0;
	while (n < d->n_args && !d->arg[n].name.n)
		n++;
	return n;
}

/* ---- storages ---- */

static int take_hash(struct loading *d, struct slice text, struct repro_storage *st)
{
	if (slice_is(text, "None"))
		return 0;
	st->hash = take_string(d->r, text, NULL);
	for (size_t i = 0; i < st->hash.n; i++) {
		const char c = st->hash.p[i];
		if (!is_digit(c) && !((c | 32) >= 'a' && (c | 32) <= 'z') && c != '_' && c != '-')
			return FAIL(d, "'%.*s' is not the hash of a storage: expected letters and digits", SLN(st->hash, CLIP));
	}
	return st->hash.n ? 0 : FAIL(d, "the first argument of a storage must be a hash in quotes or None, not '%.*s'", SLN(text, CLIP));
}

static int take_options(struct loading *d, struct repro_storage *st)
{
	const struct pyarg *a = named(d, "device");
	if (a && !slice_is(a->value, "None")) {
		st->device = take_device(d->r, a->value);
		if (!st->device.n)
			return FAIL(d, "'%.*s' is not a device", SLN(a->value, CLIP));
	}
	if ((a = named(d, "dtype_hint")) && !slice_is(a->value, "None")) {
		const int dtype = dtype_by_name(a->value);
		if (dtype == DTYPE_NONE)
			return FAIL(d, "unknown dtype '%.*s'", SLN(a->value, CLIP));
		st->dtype_hint = slice_str(dtype_info(dtype)->name);
	}
	return 0;
}

static int take_bytes(struct loading *d, struct slice text, struct repro_storage *st)
{
	LOCAL_BUF coded = {0}, bytes = {0};
	struct slice rest = text;
	bool ok = true;
	/* Adjacent literals are concatenated. */
	while (ok && (rest = slice_trim(rest)).n) {
		const char *end = memchr(rest.p + 1, rest.p[0], rest.n - 1);
		ok = (rest.p[0] == '\'' || rest.p[0] == '"') && end && pytext_string(slice_of(rest.p, (size_t)(end + 1 - rest.p)), &coded);
		if (ok)
			rest = slice_of(end + 1, (size_t)(rest.p + rest.n - end - 1));
	}
	ok = ok && base64_decode(&bytes, coded.p, coded.len);
	if (ok)
		st->bytes = repro_keep(d->r, buf_slice(&bytes));
	return ok ? 0 : FAIL(d, "the values of a storage are not valid base64");
}

static int name_storage(struct loading *d, struct slice var, uint32_t storage)
{
	if (!pytext_dotted(var))
		return FAIL(d, "a storage must have a name: bufN = reader.storage(...)");
	uint32_t id = intern_add(&d->var, var);
	GROW(d->storage, id, d->cap_storage, 1);
	d->storage[id] = storage;
	return 0;
}

/* given: a call of repro_text's own helper, with the values. */
static int read_storage(struct loading *d, struct slice var, bool given)
{
	struct repro_storage st = {0};
	const int n = positional(d);
	if (n != 2)
		return FAIL(d, "a storage must have a hash and a number of bytes");
	if ((given ? take_bytes(d, d->arg[0].value, &st) : take_hash(d, d->arg[0].value, &st)) < 0)
		return -1;
	if (take_size(d->r, d->arg[1].value, &st.nbytes) < 0)
		return FAIL(d, "'%.*s' is not a number of bytes", SLN(d->arg[1].value, CLIP));
	if (symsize_is_int(st.nbytes) && st.nbytes.k < 0)
		return FAIL(d, "a storage cannot have %lld bytes", (long long)st.nbytes.k);
	if (given && (!symsize_is_int(st.nbytes) || (uint64_t)st.nbytes.k != st.bytes.n))
		return FAIL(d, "the storage has %zu bytes of values but declares %.*s", st.bytes.n, SLN(d->arg[1].value, CLIP));
	if (take_options(d, &st) < 0)
		return -1;
	return name_storage(d, var, repro_add_storage(d->r, &st));
}

/* ---- tensors ---- */

static int take_bool(struct loading *d, const char *name, bool *out)
{
	const struct pyarg *a = named(d, name);
	if (!a || slice_is(a->value, "None"))
		return 0;
	if (!slice_is(a->value, "True") && !slice_is(a->value, "False"))
		return FAIL(d, "%s must be True or False, not '%.*s'", name, SLN(a->value, CLIP));
	*out = a->value.p[0] == 'T';
	return 0;
}

static void take_extra(struct loading *d, struct repro_input *in)
{
	static const char *const known[] = {"stride", "dtype", "storage_offset", "requires_grad", "is_leaf"};
	LOCAL_BUF b = {0};
	for (int i = 0; i < d->n_args; i++) {
		if (!d->arg[i].name.n || slice_any(d->arg[i].name, known, slice_is))
			continue;
		buf_adds(&b, b.len ? ", " : "");
		buf_add_slice(&b, d->arg[i].name);
		buf_addc(&b, '=');
		buf_add_slice(&b, d->arg[i].value);
	}
	in->extra = repro_keep(d->r, buf_slice(&b));
}

static int find_storage(struct loading *d, struct slice var, uint32_t *storage)
{
	uint32_t id = intern_find(&d->var, var);
	if (id == NONE)
		return FAIL(d, "'%.*s' is not defined: a tensor's storage must come before it", SLN(var, CLIP));
	*storage = d->storage[id];
	return 0;
}

static int take_layout(struct loading *d, struct repro_input *in, int dtype)
{
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	struct repro *r = d->r;
	const int n = take_sizes(r, d->arg[1].value, size);
	if (n < 0)
		return FAIL(d, "'%.*s' is not a shape", SLN(d->arg[1].value, CLIP));
	const struct pyarg *a = positional(d) == 3 ? &d->arg[2] : named(d, "stride");
	const bool strided = a && !slice_is(a->value, "None");
	if (strided && take_sizes(r, a->value, stride) != n)
		return FAIL(d, "'%.*s' are not strides of %d dimensions", SLN(a->value, CLIP), n);
	for (int i = 0; i < n; i++)
		if (symsize_is_int(size[i]) && size[i].k < 0)
			return FAIL(d, "negative size");
	const struct slice device = r->storage[in->storage].device;
	in->meta = take_tensor(r, dtype, n, size, strided ? stride : NULL, device.n ? device : SLICE("cpu"));
	return 0;
}

static int read_tensor(struct loading *d)
{
	struct repro_input in = {.kind = REPRO_TENSOR, .line = d->l->line};
	struct repro *r = d->r;
	const struct pyarg *a;
	int dtype = DTYPE_F32;
	if (positional(d) < 2 || positional(d) > 3)
		return FAIL(d, "a tensor must have a storage, a shape and optionally strides");
	if (find_storage(d, d->arg[0].value, &in.storage) < 0)
		return -1;
	if ((a = named(d, "dtype")) && !slice_is(a->value, "None") && (dtype = dtype_by_name(a->value)) == DTYPE_NONE)
		return FAIL(d, "unknown dtype '%.*s'", SLN(a->value, CLIP));
	if ((a = named(d, "storage_offset")) && !slice_is(a->value, "None") && take_size(r, a->value, &in.offset) < 0)
		return FAIL(d, "'%.*s' is not an offset", SLN(a->value, CLIP));
	if (take_bool(d, "requires_grad", &in.requires_grad) < 0 || take_bool(d, "is_leaf", &in.is_leaf) < 0 ||
	    take_layout(d, &in, dtype) < 0)
		return -1;
	r->graph.meta[in.meta].requires_grad = in.requires_grad;
	take_extra(d, &in);
	const struct symsize has = r->storage[in.storage].nbytes;
	int64_t needs;
	if (symsize_is_int(has) && tensor_needs(r, in.meta, in.offset, &needs) && needs > has.k)
		return FAIL(d, "the tensor needs %lld bytes, but its storage has %lld", (long long)needs, (long long)has.k);
	*repro_add_input(r, REPRO_TENSOR) = in;
	return 0;
}

/* ---- the others ---- */

static int read_symint(struct loading *d)
{
	struct repro *r = d->r;
	struct repro_input in = {.kind = REPRO_SYMINT, .storage = NONE, .line = d->l->line};
	const struct pyarg *a = named(d, "expr");
	if (positional(d) != 1 || take_size(r, d->arg[0].value, &in.value) < 0)
		return FAIL(d, "a symint must have an integer");
	struct symsize expr = in.value;
	if (a && !slice_is(a->value, "None")) {
		in.expr = take_string(r, a->value, NULL);
		if (!in.expr.n)
			return FAIL(d, "'%.*s' is not an expression in quotes", SLN(a->value, CLIP));
		expr = symsize_parse_any(&r->graph.tab, in.expr);
	}
	in.meta = graph_add_sym(&r->graph, expr);
	*repro_add_input(r, REPRO_SYMINT) = in;
	return 0;
}

static int read_named(struct loading *d, enum repro_input_kind kind, struct slice inside)
{
	struct repro_input *in = repro_add_input(d->r, kind);
	in->expr = slice_trim(inside);
	in->line = d->l->line;
	return 0;
}

static int read_call(struct loading *d, struct slice var, struct slice verb, struct slice inside)
{
	d->n_args = pytext_args(inside, d->arg, ARGS_MAX);
	if (d->n_args < 0 || d->n_args > ARGS_MAX)
		return FAIL(d, "malformed arguments of %.*s", SLN(verb, CLIP));
	if (slice_is(verb, "storage"))
		return read_storage(d, var, false);
	if (slice_is(verb, "tensor"))
		return read_tensor(d);
	if (slice_is(verb, "symint"))
		return read_symint(d);
	for (enum repro_input_kind k = REPRO_CONST; k < REPRO_INPUT_KINDS; k++)
		if (slice_is(verb, repro_input_word[k]))
			return read_named(d, k, inside);
	return FAIL(d, "unknown method '%.*s' of the reader", SLN(verb, CLIP));
}

/* "reader.args[3]" */
static bool args_index(const struct loading *d, struct slice text, uint32_t *out)
{
	struct slice inside;
	uint64_t v;
	if (text.n < d->reader.n + 5 || memcmp(text.p, d->reader.p, d->reader.n) != 0)
		return false;
	text = slice_of(text.p + d->reader.n, text.n - d->reader.n);
	if (!slice_starts(text, ".args") || !pytext_inside(slice_of(text.p + 5, text.n - 5), '[', &inside) || !slice_u64(inside, &v) ||
	    v >= UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static int read_fixup(struct loading *d)
{
	struct slice name, value;
	uint32_t i;
	if (!pytext_assign(d->l->code, &name, &value) || !args_index(d, value, &i))
		return 0; /* their effect is always the same */
	if (i >= d->r->n_inputs)
		return FAIL(d, "no input %u", i);
	if (slice_is(name, "_repeats")) {
		d->repeats = i;
	} else if (slice_is(name, "_output_size") && d->repeats != NONE) {
		struct repro *r = d->r;
		struct repro_fixup *v = arena_alloc(&r->arena, (r->n_fixups + 1) * sizeof(*v));
		if (r->n_fixups == 1024)
			return FAIL(d, "more than 1024 fixups");
		if (r->n_fixups)
			memcpy(v, r->fixup, r->n_fixups * sizeof(*v));
		v[r->n_fixups++] = (struct repro_fixup){d->repeats, i};
		r->fixup = v;
		d->repeats = NONE;
	}
	return 0;
}

/* _repro_bytes(reader, 'BASE64', NBYTES, ...) and torch.manual_seed(0): written by repro_text itself. */
static int read_ours(struct loading *d, struct slice var, struct slice callee, struct slice inside)
{
	if (slice_is(callee, "torch.manual_seed")) {
		d->r->has_seed = slice_u64(slice_trim(inside), &d->r->seed);
		return d->r->has_seed ? 0 : FAIL(d, "the seed is not a number");
	}
	struct pyarg first;
	if (!slice_is(callee, "_repro_bytes") || pytext_arg(&inside, &first) != 1)
		return FAIL(d, "unknown statement '%.*s' in load_args", SLN(d->l->code, CLIP));
	d->n_args = pytext_args(inside, d->arg, ARGS_MAX);
	if (d->n_args < 0 || d->n_args > ARGS_MAX)
		return FAIL(d, "malformed arguments of _repro_bytes");
	return read_storage(d, var, true);
}

static bool is_quiet(struct slice code)
{
	return !code.n || slice_is(code, "pass") || slice_is(code, "return") || slice_is(code, "import torch") ||
	       slice_starts(code, "if hasattr(");
}

static int read_statement(struct loading *d, uint32_t indent)
{
	struct slice code = d->l->code, var = {0}, callee, inside;
	if (d->l->indent > indent)
		return read_fixup(d);
	if (is_quiet(code))
		return 0;
	if (code.p[0] == '"' || code.p[0] == '\'') {
		struct repro *r = d->r;
		if (r->n_inputs && r->input[r->n_inputs - 1].kind == REPRO_UNSUPPORTED)
			r->input[r->n_inputs - 1].block = code;
		return 0;
	}
	pytext_assign(code, &var, &code);
	if (!pytext_call(code, &callee, &inside))
		return FAIL(d, "unknown statement '%.*s' in load_args", SLN(d->l->code, CLIP));
	if (callee.n > d->reader.n + 1 && callee.p[d->reader.n] == '.' && !memcmp(callee.p, d->reader.p, d->reader.n))
		return read_call(d, var, slice_of(callee.p + d->reader.n + 1, callee.n - d->reader.n - 1), inside);
	return read_ours(d, var, callee, inside);
}

static int read_body(struct loading *d)
{
	const struct item *it = &d->s->args_item;
	struct pytext t = part_text(d->s, it->whole, it->line);
	struct pyline l;
	uint32_t indent = 0;
	int r = pytext_next(&t, &l, d->s->err); /* the def itself */
	while (r == 1 && (r = pytext_next(&t, &l, d->s->err)) == 1) {
		d->l = &l;
		if (!indent)
			indent = l.indent;
		if (read_statement(d, indent) < 0)
			return -1;
	}
	return r;
}

int read_load_args(struct reading *s)
{
	struct loading d = {.s = s, .r = s->r, .repeats = NONE, .l = &s->args_item.first};
	struct slice code = s->args_item.first.code, callee, inside;
	struct pyarg param;
	code.n -= slice_ends(code, ":") ? 1 : 0;
	code = slice_of(code.p + 4, code.n - 4); /* "def " */
	if (!pytext_call(code, &callee, &inside) || pytext_args(inside, &param, 1) != 1)
		return FAIL(&d, "load_args must have one parameter, the reader");
	d.reader = param.value;
	int rc = read_body(&d);
	intern_release(&d.var);
	free(d.storage);
	return rc;
}
