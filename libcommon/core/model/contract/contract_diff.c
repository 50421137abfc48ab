/* Two contracts of one binary, from its text and from the probe. Their symbols have other names (s77 here, s0 there), so
 * expressions are compared by their values: a few choices of the text's symbols determine the inputs' sizes, these the probe's symbols, and
 * then everything else must agree. */
#include "model/contract/contract.h"

enum { TRIALS = 3 };

struct side {
	const struct contract *c;
	struct symbind env[TRIALS];
	bool bound[TRIALS];
};

struct diff {
	struct side text, binary;
	struct comparison *out;
	uint32_t n_vague; /* sizes known to the text but not in the binary */
	bool unchecked;   /* the binary has nothing about its inputs: its sizes are those of one run */
	uint32_t n_one_run;
};

static void add_line(struct buf *b, size_t *n, const char *fmt, va_list ap)
{
	buf_addvf(b, fmt, ap);
	va_end(ap);
	buf_addc(b, '\n');
	++*n;
}

PRINTF_LIKE(2, 3) static void line(struct diff *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_line(&d->out->differs, &d->out->n_differs, fmt, ap);
}

PRINTF_LIKE(2, 3) static void open_line(struct diff *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_line(&d->out->open, &d->out->n_open, fmt, ap);
}

/* Does a differ from b, in any trial where both have a value? */
static bool sizes_differ(const struct diff *d, struct symsize a, struct symsize b)
{
	if (symsize_is_int(a) && symsize_is_int(b))
		return a.k != b.k;
	if (d->binary.c->rigid && symsize_is_int(b))
		return false;
	for (int t = 0; t < TRIALS; t++) {
		int64_t x, y;
		if (d->text.bound[t] && d->binary.bound[t] && symsize_eval(&d->text.c->tab, a, &d->text.env[t], &x, NULL) == 0 &&
		    symsize_eval(&d->binary.c->tab, b, &d->binary.env[t], &y, NULL) == 0 && x != y)
			return true;
	}
	return false;
}

static void sizes_line(struct diff *d, const char *what, uint32_t i, struct slice name, int dim, const char *which, struct symsize a,
		       struct symsize b)
{
	if (contract_known(d->text.c, a) && !contract_known(d->binary.c, b))
		d->n_vague++;
	if (!sizes_differ(d, a, b))
		return;
	if (d->unchecked && symsize_is_int(b) && !symsize_is_int(a)) {
		d->n_one_run++;
		return;
	}
	struct buf x = {0}, y = {0};
	symsize_print(&d->text.c->tab, a, &x);
	symsize_print(&d->binary.c->tab, b, &y);
	line(d, "%s %u (%.*s), dim %d: %s %s in the text, %s in the binary", what, i, SL(name), dim, which, buf_str(&x), buf_str(&y));
	buf_release(&x);
	buf_release(&y);
}

static void shapes(struct diff *d, const char *what, uint32_t i, struct slice name, int n, const struct contract_dim *a, int m,
		   const struct contract_dim *b)
{
	if (n < 0 || m < 0)
		return;
	if (n != m)
		line(d, "%s %u (%.*s): rank %d in the text, %d in the binary", what, i, SL(name), n, m);
	for (int k = 0; k < n && k < m; k++) {
		sizes_line(d, what, i, name, k, "size", a[k].size, b[k].size);
		/* The probe cannot see strides of dims of one element. */
		if (!(symsize_is_int(a[k].size) && a[k].size.k <= 1))
			sizes_line(d, what, i, name, k, "stride", a[k].stride, b[k].stride);
	}
}

static void types(struct diff *d, const char *what, uint32_t i, struct slice name, int ta, int tb, int da, int db)
{
	if (ta != DTYPE_NONE && tb != DTYPE_NONE && ta != tb) {
		char first[32];
		snprintf(first, sizeof first, "%s", dtype_name(ta));
		line(d, "%s %u (%.*s): %s in the text, %s in the binary", what, i, SL(name), first, dtype_name(tb));
	}
	if (da != DEVICE_NONE && db != DEVICE_NONE && da != db) {
		char first[32];
		snprintf(first, sizeof first, "%s", device_name(da));
		line(d, "%s %u (%.*s): on %s in the text, on %s in the binary", what, i, SL(name), first, device_name(db));
	}
}

static void diff_ranges(struct diff *d, uint32_t i)
{
	const struct contract_input *a = &d->text.c->input[i], *b = &d->binary.c->input[i];
	for (int k = 0; k < a->n_dim && k < b->n_dim; k++) {
		if (symrange_eq(a->dim[k].range, b->dim[k].range) || symsize_is_int(a->dim[k].size) || symsize_is_int(b->dim[k].size))
			continue;
		struct buf x = {0}, y = {0};
		symrange_print(a->dim[k].range, &x);
		symrange_print(b->dim[k].range, &y);
		line(d, "input %u (%.*s), dim %d: bounds %s in the text, %s in the binary", i, SL(a->name), k, buf_str(&x), buf_str(&y));
		buf_release(&x);
		buf_release(&y);
	}
}

/* Values for the text's symbols, and the resulting ones for the binary's. Unknown sizes are left at 1: values that depend on them are
 * unknown on that side, too. */
static void bind_trials(struct diff *d)
{
	static const int64_t step[TRIALS] = {5, 11, 1009};
	const struct contract *a = d->text.c, *b = d->binary.c;
	struct tensor_meta *in = xcalloc((size_t)a->n_inputs + 1, sizeof(*in));
	for (int t = 0; t < TRIALS; t++) {
		for (uint32_t i = 0; i < a->n_symbols; i++) {
			const struct contract_symbol *s = &a->symbol[i];
			int64_t v = step[t] + i, lo = s->range.lo_inf ? 0 : s->range.lo;
			if (v < lo)
				v = lo + t;
			if (!s->range.hi_inf && v > s->range.hi)
				v = s->range.hi;
			symbind_set(&d->text.env[t], s->symbol, v);
		}
		for (uint32_t i = 0; i < a->n_inputs; i++) {
			in[i].n_dim = a->input[i].n_dim;
			for (int k = 0; k < in[i].n_dim; k++)
				if (symsize_eval(&a->tab, a->input[i].dim[k].size, &d->text.env[t], &in[i].size[k], NULL) < 0)
					in[i].size[k] = 1;
		}
		d->text.bound[t] = true;
		d->binary.bound[t] = contract_bind(b, in, a->n_inputs, &d->binary.env[t]);
	}
	free(in);
}

static void diff_constants(struct diff *d)
{
	const struct contract *a = d->text.c, *b = d->binary.c;
	if (a->n_constants != b->n_constants)
		line(d, "%u constants in the text, %u in the binary", a->n_constants, b->n_constants);
	for (uint32_t i = 0; i < a->n_constants && i < b->n_constants; i++) {
		const struct contract_constant *x = &a->constant[i], *y = &b->constant[i];
		if (!slice_eq(x->name, y->name))
			line(d, "constant %u: '%.*s' in the text, '%.*s' in the binary", i, SL(x->name), SL(y->name));
		types(d, "constant", i, x->name, x->dtype, y->dtype, x->device, y->device);
		shapes(d, "constant", i, x->name, x->n_dim, x->dim, y->n_dim, y->dim);
		if (x->bytes != y->bytes &&
		    y->bytes) /* before torch 2.8, a binary has the size only of embedded constants (GetConstantDataSize) */
			line(d, "constant %u (%.*s): %llu bytes in the text, %llu in the binary", i, SL(x->name),
			     (unsigned long long)x->bytes, (unsigned long long)y->bytes);
	}
}

/* ---- calls ---- */

/* The binary knows a GPU kernel by its name in its module; custom ops are named in a file next to the text, the binary has only a
 * number. */
static bool calls_it(const struct contract_call *text, struct slice name)
{
	return slice_eq(text->function.n ? text->function : text->name, name) ||
	       (text->kind == CALL_PROXY && slice_starts(name, "proxy_executor["));
}

/* The tensors of a call, in order: the next one's index among the arguments, from *a on. */
static bool next_tensor(const struct contract *c, const struct contract_call *k, uint32_t *a)
{
	while (*a < k->arg + k->n_args && c->arg[*a].value == NONE)
		++*a;
	return *a < k->arg + k->n_args;
}

static uint32_t count_tensors(const struct contract *c, const struct contract_call *k)
{
	uint32_t n = 0;
	for (uint32_t a = k->arg; next_tensor(c, k, &a); a++)
		n++;
	return n;
}

/* A storage in one of the two contracts. */
struct memory {
	uint32_t is;  /* of the text: the binary's storage; NONE: not seen yet */
	bool foreign; /* created by an operator: it may be the same memory as another storage */
	bool mixed;   /* values of several shapes are in it, views and what is reused: each side may report a different one for a call */
	uint32_t value;
};

static bool same_dims(const struct contract_value *a, const struct contract_value *b)
{
	bool same = a->n_dim == b->n_dim;
	for (int i = 0; same && i < a->n_dim; i++)
		same = symsize_eq(a->dim[i].size, b->dim[i].size) && symsize_eq(a->dim[i].stride, b->dim[i].stride);
	return same;
}

/* Does the call create this argument's tensor, rather than write into an existing one? */
static bool is_made(const struct contract *c, const struct contract_call *k, uint32_t arg)
{
	return c->arg[arg].role == ARG_OUT && k->kind != CALL_KERNEL && !slice_ends(k->name, "_out");
}

static struct memory *look_at_memory(const struct contract *c)
{
	struct memory *m = xcalloc((size_t)c->n_storages + 1, sizeof(*m));
	for (uint32_t i = 0; i < c->n_storages; i++)
		m[i] = (struct memory){.is = NONE, .value = NONE};
	for (uint32_t i = 0; i < c->n_values; i++) {
		struct memory *at = &m[c->value[i].storage < c->n_storages ? c->value[i].storage : c->n_storages];
		at->mixed |= at->value != NONE && !same_dims(&c->value[at->value], &c->value[i]);
		at->value = i;
	}
	for (uint32_t i = 0; i < c->n_calls; i++)
		for (uint32_t a = c->call[i].arg; a < c->call[i].arg + c->call[i].n_args; a++) {
			uint32_t storage = c->arg[a].value == NONE ? NONE : c->value[c->arg[a].value].storage;
			if (storage < c->n_storages && is_made(c, &c->call[i], a))
				m[storage].foreign = true;
		}
	return m;
}

static void tensors(struct diff *d, uint32_t i, struct memory *text, const struct memory *binary)
{
	const struct contract *a = d->text.c, *b = d->binary.c;
	const struct contract_call *x = &a->call[i], *y = &b->call[i];
	uint32_t j = x->arg, k = y->arg;
	/* Without text, a kernel's tensors are known only by their addresses: if their number differs, some were not seen. */
	if (count_tensors(a, x) != count_tensors(b, y))
		return;
	for (uint32_t n = 0; next_tensor(a, x, &j) && next_tensor(b, y, &k); n++, j++, k++) {
		const struct contract_value *u = &a->value[a->arg[j].value], *v = &b->value[b->arg[k].value];
		bool other = u->kind != v->kind || (u->kind != VALUE_BUFFER && u->index != v->index), again = true;
		/* A tensor created by an operator may be a view of its argument: one side may know that, the other not. */
		bool foreign =
		    (u->storage < a->n_storages && text[u->storage].foreign) || (v->storage < b->n_storages && binary[v->storage].foreign);
		bool made = is_made(a, x, j) && is_made(b, y, k);
		if (foreign && other && !made)
			continue;
		other = other && !foreign;
		if (!other && u->storage < a->n_storages && v->storage < b->n_storages) {
			struct memory *m = &text[u->storage];
			const struct memory *o = &binary[v->storage];
			again = m->is != NONE || m->mixed || o->mixed;
			other = m->is != NONE && m->is != v->storage && !foreign;
			m->is = v->storage;
		}
		if (other) {
			line(d, "call %u (%.*s), tensor %u: %.*s in the text, %s%.*s in the binary", i, SL(x->name), n, SL(u->name),
			     v->kind == VALUE_BUFFER ? "different " : "", SL(v->name));
		} else if (!again || made) {
			types(d, "tensor", n, u->name, u->dtype, v->dtype, DEVICE_NONE, DEVICE_NONE);
			shapes(d, "tensor", n, u->name, u->n_dim, u->dim, v->n_dim, v->dim);
		}
	}
}

static void straight_calls(struct diff *d)
{
	const struct contract *a = d->text.c, *b = d->binary.c;
	struct memory *text = look_at_memory(a), *binary = look_at_memory(b);
	uint32_t i = 0;
	for (; i < a->n_calls && i < b->n_calls && calls_it(&a->call[i], b->call[i].name); i++) {
		tensors(d, i, text, binary);
		if (a->call[i].stream != b->call[i].stream)
			line(d, "call %u (%.*s): stream %u in the text, %u in the binary", i, SL(a->call[i].name), a->call[i].stream,
			     b->call[i].stream);
	}
	d->out->n_calls = i;
	free(text);
	free(binary);
	bool end = i == a->n_calls || i == b->n_calls;
	if (!end) /* the rest is likely shifted */
		line(d, "call %u: %.*s in the text, %.*s in the binary", i, SL(a->call[i].name), SL(b->call[i].name));
	if (a->n_calls < b->n_calls || (a->n_calls > b->n_calls && !b->stopped.n))
		line(d, "%u kernel and op calls in the text, %u in the binary", a->n_calls, b->n_calls);
}

static bool is_question(struct slice name) { return slice_find(name, "_item_") != NULL; }

static uint32_t find_call(const struct contract *text, uint32_t from, struct slice name)
{
	while (from < text->n_calls && !calls_it(&text->call[from], name))
		from++;
	return from;
}

/* A path through a program that branches on data: its calls are in the text in that order, with others between them. Each branch may be a
 * loop, which starts again. The calls found are marked. */
static void one_way(struct diff *d, struct slice (*name)(const void *of, uint32_t i), const void *of, uint32_t n, bool *seen)
{
	const struct contract *a = d->text.c;
	uint32_t at = 0, loops = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct slice call = name(of, i);
		uint32_t k = find_call(a, at, call);
		if (k == a->n_calls && loops) {
			loops--;
			k = find_call(a, 0, call);
		}
		loops += is_question(call);
		if (k == a->n_calls) {
			bool there = find_call(a, 0, call) < a->n_calls;
			line(d, "call %u: %.*s in the binary, %s in the text", i, SL(call), there ? "not in this order" : "nowhere");
			return; /* the rest is likely shifted */
		}
		seen[k] = true;
		at = k + 1;
	}
}

static struct slice call_name(const void *of, uint32_t i) { return ((const struct contract *)of)->call[i].name; }
static struct slice way_name(const void *of, uint32_t i) { return ((const struct contract_way *)of)->call[i]; }

static void branching_calls(struct diff *d)
{
	const struct contract *a = d->text.c, *b = d->binary.c;
	FREED bool *seen = xcalloc((size_t)a->n_calls + 1, sizeof(*seen));
	one_way(d, call_name, b, b->n_calls, seen);
	for (uint32_t i = 0; i < b->n_ways; i++)
		one_way(d, way_name, &b->way[i], b->way[i].n, seen);
	for (uint32_t i = 0; i < a->n_calls; i++)
		d->out->n_calls += seen[i];
	for (uint32_t i = 0; i < a->n_calls; i++)
		if (!seen[i] && !b->stopped.n) {
			open_line(d, "%u calls in the text, the first being %.*s (call %u): the binary was not seen making them",
				  a->n_calls - d->out->n_calls, SL(a->call[i].name), i);
			break;
		}
}

/* Does a note contain one of the words? */
static bool notes_say(const struct contract *c, const char *const *words, size_t n)
{
	for (uint32_t i = 0; i < c->n_notes; i++)
		for (size_t k = 0; k < n; k++)
			if (slice_find(c->note[i], words[k]))
				return true;
	return false;
}

/* Adds the differences of one part to the rest; if the reader of the text lost some of that part, a difference may be the reader's
 * fault. */
static void take_unless_lost(struct diff *d, struct comparison *part, bool lost, const char *what)
{
	struct comparison *out = d->out;
	if (part->n_differs && lost) {
		open_line(d, "part of the text was not understood; its %s, as read, differ from the binary's", what);
	} else {
		buf_add(&out->differs, part->differs.p, part->differs.len);
		out->n_differs += part->n_differs;
	}
	buf_add(&out->open, part->open.p, part->open.len);
	out->n_open += part->n_open;
	comparison_release(part);
}

static void calls(struct diff *d)
{
	static const char *const branches[] = {"a condition or a loop"}, *const gaps[] = {"not understood", "not read", "the text ends"};
	const struct contract *a = d->text.c, *b = d->binary.c;
	bool questions = b->n_ways > 0;
	for (uint32_t i = 0; i < b->n_calls && !questions; i++)
		questions = slice_is(b->call[i].name, "aoti_torch_item_bool");
	struct comparison *out = d->out, in_calls = {.n_calls = 0};
	d->out = &in_calls;
	out->branches = questions || notes_say(a, branches, ARRAY_LEN(branches));
	out->branches ? branching_calls(d) : straight_calls(d);
	d->out = out;
	out->n_calls = in_calls.n_calls;
	/* If the reader of the text lost a statement, a missing call may be one it did not see. */
	take_unless_lost(d, &in_calls, notes_say(a, gaps, ARRAY_LEN(gaps)), "calls");
}

/* ---- all of it ---- */

static void diff_inputs(struct diff *d)
{
	const struct contract *text = d->text.c, *binary = d->binary.c;
	if (text->n_inputs != binary->n_inputs)
		line(d, "%u inputs in the text, %u in the binary", text->n_inputs, binary->n_inputs);
	else
		bind_trials(d);
	for (uint32_t i = 0; i < text->n_inputs && i < binary->n_inputs; i++) {
		const struct contract_input *a = &text->input[i], *b = &binary->input[i];
		types(d, "input", i, a->name, a->dtype, b->dtype, a->device, b->device);
		bool rank = a->rank_known && b->rank_known;
		int n = a->n_dim < b->n_dim ? a->n_dim : b->n_dim;
		shapes(d, "input", i, a->name, rank ? a->n_dim : n, a->dim, rank ? b->n_dim : n, b->dim);
		diff_ranges(d, i);
	}
	/* The binary was run until neither reported an error. */
	for (uint32_t i = 0; i < text->n_notes && !binary->stopped.n; i++)
		if (slice_find(text->note[i], "check_input and assert_size_stride"))
			line(d, "%.*s in the text, not in the binary", SL(text->note[i]));
}

static void outputs(struct diff *d)
{
	const struct contract *text = d->text.c, *binary = d->binary.c;
	if (text->n_outputs != binary->n_outputs)
		line(d, "%u outputs in the text, %u in the binary", text->n_outputs, binary->n_outputs);
	for (uint32_t i = 0; i < text->n_outputs && i < binary->n_outputs; i++) {
		const struct contract_output *a = &text->output[i], *b = &binary->output[i];
		if (a->none != b->none && !binary->stopped.n)
			line(d, "output %u (%.*s): %s in the text, %s in the binary", i, SL(a->name), a->none ? "None" : "a tensor",
			     b->none ? "None" : "a tensor");
		types(d, "output", i, a->name, a->dtype, b->dtype, a->device, b->device);
		shapes(d, "output", i, a->name, a->n_dim, a->dim, b->n_dim, b->dim);
	}
}

void contract_compare(const struct contract *text, const struct contract *binary, struct comparison *c)
{
	*c = (struct comparison){.n_calls = 0};
	struct diff d = {.text.c = text, .binary.c = binary, .out = c};
	struct comparison in_checks = {.n_calls = 0};
	d.out = &in_checks;
	d.unchecked = binary->n_inputs > 0;
	for (uint32_t i = 0; i < binary->n_inputs; i++)
		d.unchecked &= !binary->input[i].rank_known && !binary->input[i].n_dim;
	diff_inputs(&d);
	d.out = c;
	/* As with calls: a check lost by the reader of the text looks like a missing one. */
	take_unless_lost(&d, &in_checks, text->n_unread_checks > 0, "checks of inputs");
	outputs(&d);
	if (d.n_vague && !binary->stopped.n)
		open_line(&d, "%u sizes and strides of inputs and outputs: not in the binary", d.n_vague);
	diff_constants(&d);
	calls(&d);
	if (d.n_one_run)
		open_line(&d, "%u dynamic sizes: models of torch before 2.7 do not check their inputs, so they are not in the binary",
			  d.n_one_run);
	if (binary->stopped.n)
		open_line(&d, "the binary was followed for %u of %u calls: %.*s", binary->n_calls, text->n_calls, SL(binary->stopped));
	if (binary->n_lost_ways)
		open_line(&d, "%u paths through the program, which branches on data, could not be followed", binary->n_lost_ways);
	if (binary->rigid)
		open_line(&d, "a dynamic size could be run with one value only");
	if (text->n_unread) {
		LOCAL_BUF b = {0};
		contract_unread_text(text, &b);
		open_line(&d, "parts of the text: %s understood", buf_str(&b));
	}
	for (int t = 0; t < TRIALS; t++) {
		symbind_release(&d.text.env[t]);
		symbind_release(&d.binary.env[t]);
	}
}

void comparison_release(struct comparison *c)
{
	buf_release(&c->differs);
	buf_release(&c->open);
	*c = (struct comparison){.n_calls = 0};
}
