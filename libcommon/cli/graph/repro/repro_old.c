/* The forms of PyTorch 1.13 and 2.0, without load_args (torch/_dynamo/debug_utils.py and after_aot.py of those versions):
 *     args = [((200, 200), (200, 1), torch.float32, 'cpu')]                 a fifth item after dynamo: requires_grad
 *     args = [rand_strided(sh, st, dt, dev) for (sh, st, dt, dev) in args]
 *     args = []                                                             2.0, after aot
 *     args.append(rand_strided((8, 4), (4, 1), torch.float32, 'cpu'))  # shape (s0, 4), stride (4, 1)
 *     args.append(8)  # s0
 *     mod = make_fx(Repro(), tracing_mode='real')(*args)
 */
#include "graph/repro/repro_part.h"

enum { ITEMS_MAX = 6, CLIP = 100 /* most bytes of quoted input in one of our lines */ };

static int add_symint(struct reading *s, uint32_t line, struct slice value, struct slice comment)
{
	struct repro *r = s->r;
	struct symsize v, expr;
	if (take_size(r, value, &v) < 0)
		return bad_line(s, line, "unknown input '%.*s': expected a tensor as (shape, stride, dtype, device)", SLN(value, CLIP));
	expr = v;
	if (comment.n && take_size(r, comment, &expr) < 0)
		expr = v;
	const uint32_t meta = graph_add_sym(&r->graph, expr);
	struct repro_input *in = repro_add_input(r, REPRO_SYMINT);
	in->line = line;
	in->value = v;
	in->meta = meta;
	if (!symsize_is_int(expr))
		in->expr = comment;
	return 0;
}

/* shape, stride, dtype, device and optionally requires_grad */
static int add_tensor(struct reading *s, uint32_t line, const struct pyarg *arg, int n, bool grad)
{
	struct repro *r = s->r;
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	struct repro_storage st = {0};
	int64_t bytes;
	if (n < 4 || n > 5)
		return bad_line(s, line, "a tensor must have a shape, strides, a dtype and a device (and optionally requires_grad)");
	const int dims = take_sizes(r, arg[0].value, size), dtype = dtype_by_name(arg[2].value);
	if (dims < 0 || take_sizes(r, arg[1].value, stride) != dims)
		return bad_line(s, line, "'%.*s' and '%.*s' are not a shape with strides", SLN(arg[0].value, CLIP),
				SLN(arg[1].value, CLIP));
	if (dtype == DTYPE_NONE)
		return bad_line(s, line, "unknown dtype '%.*s'", SLN(arg[2].value, CLIP));
	const struct slice device = take_device(r, arg[3].value);
	if (!device.n)
		return bad_line(s, line, "'%.*s' is not a device", SLN(arg[3].value, CLIP));
	const uint32_t meta = take_tensor(r, dtype, dims, size, stride, device);
	if (!tensor_needs(r, meta, symsize_int(0), &bytes) || bytes == INT64_MAX || bytes < 0)
		return bad_line(s, line, "'%.*s' are invalid sizes", SLN(arg[0].value, CLIP));
	st.nbytes = symsize_int(bytes);
	st.device = slice_is(device, "cpu") ? SLICE("") : device;
	st.dtype_hint = dtype == DTYPE_F32 ? SLICE("") : slice_str(dtype_info(dtype)->name);
	grad |= n == 5 && slice_is(arg[4].value, "True");
	r->graph.meta[meta].requires_grad = grad;
	struct repro_input *in = repro_add_input(r, REPRO_TENSOR);
	in->line = line;
	in->meta = meta;
	in->storage = repro_add_storage(r, &st);
	in->is_leaf = true;
	in->requires_grad = grad;
	return 0;
}

/* rand_strided(...), optionally followed by .requires_grad_(True) */
static int add_strided_call(struct reading *s, uint32_t line, struct slice value, struct slice comment)
{
	static const char grad[] = ".requires_grad_(True)";
	struct slice callee, inside;
	struct pyarg arg[ITEMS_MAX];
	const bool has_grad = slice_ends(value, grad);
	if (has_grad)
		value.n -= sizeof(grad) - 1;
	if (!pytext_call(value, &callee, &inside))
		return add_symint(s, line, value, comment);
	if (!slice_is(callee, "rand_strided"))
		return bad_line(s, line, "unknown input '%.*s': expected rand_strided(shape, stride, dtype, device)", SLN(value, CLIP));
	return add_tensor(s, line, arg, pytext_args(inside, arg, ITEMS_MAX), has_grad);
}

static int add_list(struct reading *s, uint32_t line, struct slice list)
{
	struct pyarg a, arg[ITEMS_MAX];
	struct slice inside;
	int r;
	while ((r = pytext_arg(&list, &a)) == 1) {
		const int rc = pytext_inside(a.value, '(', &inside) ? add_tensor(s, line, arg, pytext_args(inside, arg, ITEMS_MAX), false)
								    : add_strided_call(s, line, a.value, SLICE(""));
		if (rc < 0)
			return -1;
	}
	return r < 0 ? bad_line(s, line, "malformed list of inputs") : 0;
}

static int read_args(struct reading *s, const struct pyline *l)
{
	struct slice name, value, inside, callee;
	if (pytext_call(l->code, &callee, &inside) && slice_is(callee, "args.append"))
		return add_strided_call(s, l->line, slice_trim(inside), l->comment);
	if (!pytext_assign(l->code, &name, &value) || !slice_is(name, "args"))
		return 0;
	if (!pytext_inside(value, '[', &inside))
		return bad_line(s, l->line, "args must be a list, not '%.*s'", SLN(value, CLIP));
	/* The second statement, which turns them into tensors. */
	if (slice_starts(inside, "rand_strided(") && slice_find(inside, " for "))
		return 0;
	return add_list(s, l->line, inside);
}

/* The first text in quotes after `before` in the foot: optimize("inductor"). "": none. */
static struct slice quoted_after(struct repro *r, const char *before)
{
	const char *p = slice_find(r->foot, before), *end = r->foot.p + r->foot.n, *q;
	if (!p)
		return SLICE("");
	p += strlen(before);
	if (p == end || (*p != '"' && *p != '\'') || !(q = memchr(p + 1, *p, (size_t)(end - p) - 1)))
		return SLICE("");
	return slice_of(p + 1, (size_t)(q - p) - 1);
}

static void read_dynamo(struct repro *r)
{
	static const char *const before[] = {"compiler_name=", "optimize(", "backend="};
	r->form = REPRO_AFTER_DYNAMO;
	for (size_t i = 0; i < ARRAY_LEN(before) && !r->backend.n; i++)
		r->backend = quoted_after(r, before[i]);
	if (slice_is(r->backend, "None"))
		r->backend = SLICE("");
	r->autocast = slice_find(r->foot, "autocast(enabled=True)") ? SLICE("True") : SLICE("False");
}

static void read_meaning(struct repro *r)
{
	static const char *const dynamo[] = {"run_fwd_maybe_bwd(", "dynamo.optimize(", "torch.compile(mod", "lookup_backend("};
	r->form = REPRO_AFTER_AOT;
	if (slice_any(r->foot, dynamo, slice_has))
		read_dynamo(r);
	r->accuracy = slice_find(r->foot, "same_two_models(") || slice_find(r->foot, "_accuracy") ? SLICE("True") : SLICE("False");
	r->command = slice_find(r->foot, "minifier(") || slice_find(r->foot, "minifier_backend") ? SLICE("minify") : SLICE("run");
	if (r->form == REPRO_AFTER_AOT) {
		r->tracing_mode = quoted_after(r, "tracing_mode=");
		if (!r->tracing_mode.n)
			r->tracing_mode = SLICE("real");
	}
}

int read_old(struct reading *s)
{
	struct repro *r = s->r;
	struct pytext t = {.text = s->text, .name = s->path, .at = (size_t)(r->foot.p - s->text.p)};
	struct pyline l;
	int more;
	for (const char *p = s->text.p; p < r->foot.p && (p = memchr(p, '\n', (size_t)(r->foot.p - p))); p++)
		t.line++;
	r->old = true;
	while ((more = pytext_next(&t, &l, s->err)) == 1)
		if (!l.indent && read_args(s, &l) < 0)
			return -1;
	if (more == 0)
		read_meaning(r);
	return more;
}
