/* Maps operands to inputs: files (one tensor or many), specs, by position or by NAME=. */
#include "model/cppwrapper/operands.h"
#include "model/check/check.h"
#include "model/contract/pytree.h"

#include <unistd.h>

enum { EXTRA = 64 }; /* operands beyond the inputs */

/* A tensor that was given, or a spec (no file). */
struct origin {
	struct tensor_meta meta;
	const char *from;
	struct slice key; /* shown after a file with several */
	struct tensor_file *file;
	size_t index;
};

struct reading {
	struct given *g;
	const struct contract *c;
	struct err *err;
	bool all; /* keep those that are too many */
};

static void place_operand(struct reading *r, size_t i, const struct origin *o)
{
	r->g->meta[i] = o->meta;
	r->g->source[i] = (struct given_source){o->file, o->index};
	free(r->g->from[i]);
	r->g->from[i] = o->key.n ? xasprintf("%s:%.*s", o->from, SL(o->key)) : xstrdup(o->from);
}

void add_input_name(struct buf *b, const struct contract *c, uint32_t input)
{
	const struct contract_input *in = &c->input[input];
	if (in->path.n && in->name.n)
		buf_addf(b, "%.*s (%.*s)", SL(in->path), SL(in->name));
	else if (in->path.n || in->name.n)
		buf_add_slice(b, in->path.n ? in->path : in->name);
	else
		buf_addf(b, "input %u", input);
}

static bool is_free(const struct given *g, size_t i) { return g->meta[i].n_dim < 0; }

static void add_names(struct buf *b, const struct contract *c)
{
	for (uint32_t i = 0; i < c->n_inputs && i < 40; i++) {
		buf_adds(b, i ? ", " : "");
		add_input_name(b, c, i);
	}
	if (c->n_inputs > 40)
		buf_addf(b, " and %u more", c->n_inputs - 40);
}

static bool matches(struct slice path, struct slice name) { return path.n && pytree_path_matches(path, name); }

/* The input that NAME refers to: an index, the graph's own name, or a path. -1: none; -2: more than one. */
static int64_t find_input(const struct contract *c, struct slice name)
{
	uint64_t index;
	int64_t at = -1;
	if (slice_u64(name, &index))
		return index < c->n_inputs ? (int64_t)index : -1;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		if (slice_eq(c->input[i].name, name) || slice_eq(c->input[i].path, name))
			return i;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		if (matches(c->input[i].path, name) || matches(c->input[i].alias, name)) {
			if (at >= 0)
				return -2;
			at = i;
		}
	return at;
}

static int no_input(struct reading *r, struct slice name, bool several, const char *where)
{
	LOCAL_BUF b = {0};
	add_names(&b, r->c);
	r->g->unknown |= !several;
	err_set(r->err, EXIT_USAGE, "%s'%.*s' %s: the inputs are %s", where, SL(name),
		several ? "matches more than one input" : "is not an input of this model", buf_str(&b));
	return -1;
}

static int put_next(struct reading *r, const struct origin *o)
{
	struct given *g = r->g;
	for (size_t i = 0; i < r->c->n_inputs; i++)
		if (is_free(g, i)) {
			place_operand(r, i, o);
			return 0;
		}
	if (r->all && g->n_extra < EXTRA) {
		g->meta[g->n + g->n_extra++] = o->meta;
		return 0;
	}
	LOCAL_BUF b = {0};
	add_names(&b, r->c);
	err_set(r->err, EXIT_USAGE, "too many inputs, the first extra one is '%s': the model takes %u: %s", o->from, r->c->n_inputs,
		buf_str(&b));
	return -1;
}

static int put_named(struct reading *r, struct slice name, const struct origin *o)
{
	int64_t i = find_input(r->c, name);
	if (i < 0)
		return no_input(r, name, i == -2, "");
	if (!is_free(r->g, (size_t)i))
		return err_set(r->err, EXIT_USAGE, "duplicate input '%.*s': given as '%s' and as '%s'", SL(name), r->g->from[i], o->from);
	place_operand(r, (size_t)i, o);
	return 0;
}

static bool by_order(const struct tensor_file *f, const struct contract *c)
{
	if (f->n == 1 && find_input(c, f->v[0].name) < 0)
		return true; /* the only one: its key does not matter */
	if (f->format == TENSOR_NPY || f->top == TENSOR_TOP_ONE || f->top == TENSOR_TOP_SEQUENCE)
		return true;
	/* numpy names unnamed arrays arr_0, arr_1, ... */
	for (size_t i = 0; i < f->n; i++) {
		char name[32];
		snprintf(name, sizeof name, "arr_%zu", i);
		if (!slice_is(f->v[i].name, name))
			return false;
	}
	return true;
}

static struct origin origin_of(struct tensor_file *f, const struct tensor *t, int device, int index)
{
	struct origin o = {t->meta, f->path, f->n > 1 ? t->name : (struct slice){0}, f, (size_t)(t - f->v)};
	if (device != DEVICE_NONE)
		o.meta.device = device, o.meta.device_index = index;
	return o;
}

/* ---- keys that do not name inputs ---- */

enum { OFFER_KEYS = 8, OFFER_STEPS = 2000 };

/* Which of a file's tensors each input could take: the first order in which the call is right, and whether there is another. */
struct order {
	const struct tensor_file *f;
	const struct contract *c;
	size_t of[OFFER_KEYS], first[OFFER_KEYS]; /* input -> tensor */
	bool taken[OFFER_KEYS];
	unsigned steps, fits;
};

static bool could_be(const struct contract_input *in, const struct tensor_meta *m)
{
	if (in->dtype != DTYPE_NONE && in->dtype != m->dtype)
		return false;
	return !in->rank_known || in->n_dim == m->n_dim;
}

static void try_order(struct order *o)
{
	static const bool counts[] = {[CHECK_DTYPE] = true, [CHECK_RANK] = true,  [CHECK_SIZE] = true,
				      [CHECK_SMALL] = true, [CHECK_LARGE] = true, [CHECK_EQUAL] = true};
	struct tensor_meta m[OFFER_KEYS];
	struct check k = {0};
	bool fits = true;
	for (uint32_t i = 0; i < o->c->n_inputs; i++)
		m[i] = o->f->v[o->of[i]].meta;
	check_inputs(&k, o->c, m, o->c->n_inputs);
	for (size_t i = 0; i < k.n; i++)
		fits = fits && ((size_t)k.v[i].what >= ARRAY_LEN(counts) || !counts[k.v[i].what]);
	check_release(&k);
	if (fits && !o->fits++)
		memcpy(o->first, o->of, sizeof(o->of));
}

/* At most OFFER_KEYS deep. */
static void place_from(struct order *o, uint32_t input)
{
	if (input == o->c->n_inputs)
		try_order(o);
	for (size_t i = 0; input < o->c->n_inputs && i < o->f->n && o->fits < 2 && o->steps++ < OFFER_STEPS; i++) {
		if (o->taken[i] || !could_be(&o->c->input[input], &o->f->v[i].meta))
			continue;
		o->taken[i] = true;
		o->of[input] = i;
		place_from(o, input + 1);
		o->taken[i] = false;
	}
}

/* Appends to the message what would be taken instead: "; pass batch.npz:ids batch.npz:x ...". */
static void offer_keys(struct reading *r, const struct tensor_file *f)
{
	struct order o = {.f = f, .c = r->c};
	LOCAL_BUF b = {0};
	LOCAL_BUF word = {0};
	if (r->c->n_inputs <= OFFER_KEYS && f->n <= OFFER_KEYS && f->n >= r->c->n_inputs)
		place_from(&o, 0);
	buf_adds(&b, r->err->text);
	buf_adds(&b, o.fits ? "; pass" : "; pass FILE:KEY for each, in the order of forward()'s arguments");
	for (uint32_t i = 0; o.fits && i < r->c->n_inputs; i++) {
		buf_reset(&word);
		buf_addf(&word, "%s:%.*s", f->path, SL(f->v[o.first[i]].name));
		buf_addc(&b, ' ');
		buf_add_word(&b, buf_str(&word));
	}
	if (o.fits)
		buf_adds(&b, o.fits > 1 || o.steps >= OFFER_STEPS ? " (or another order: that of forward()'s arguments)"
								  : " (in no other order do types and sizes fit)");
	err_set(r->err, EXIT_USAGE, "%s, or put the exported program, which has their names, beside the model", buf_str(&b));
}

/* A file without NAME=: its keys are inputs, or its tensors come in order. */
static int put_file(struct reading *r, struct tensor_file *f, int device, int index)
{
	bool order = by_order(f, r->c);
	for (size_t i = 0; i < f->n; i++) {
		struct origin o = origin_of(f, &f->v[i], device, index);
		if (order) {
			if (put_next(r, &o) < 0)
				return -1;
			continue;
		}
		int64_t at = find_input(r->c, f->v[i].name);
		if (at < 0) {
			FREED char *where = xasprintf("'%s': key ", f->path);
			no_input(r, f->v[i].name, at == -2, where);
			if (at == -1)
				offer_keys(r, f);
			return -1;
		}
		if (put_named(r, f->v[i].name, &o) < 0)
			return -1;
	}
	return 0;
}

static const struct tensor *find_key(const struct tensor_file *f, struct slice key)
{
	for (size_t i = 0; i < f->n; i++)
		if (slice_eq(f->v[i].name, key))
			return &f->v[i];
	return NULL;
}

static int no_key(struct reading *r, const struct tensor_file *f, struct slice key)
{
	LOCAL_BUF b = {0};
	for (size_t i = 0; i < f->n && i < 20; i++)
		buf_addf(&b, "%s%.*s", i ? ", " : "", SL(f->v[i].name));
	if (f->n > 20)
		buf_addf(&b, " and %zu more", f->n - 20);
	err_set(r->err, EXIT_USAGE, "'%s' has no tensor '%.*s': write FILE:KEY with one of %s", f->path, SL(key), buf_str(&b));
	return -1;
}

/* Finds the tensor of a file for one input: FILE, FILE with a tensor of the input's name, or FILE:KEY. */
static int put_from_file(struct reading *r, struct slice name, struct tensor_file *f, struct slice key, int device, int index)
{
	struct slice want = key.n ? key : name;
	const struct tensor *t = f->n == 1 && !key.n ? &f->v[0] : find_key(f, want);
	if (!t)
		return no_key(r, f, want);
	struct origin o = origin_of(f, t, device, index);
	return name.n ? put_named(r, name, &o) : put_next(r, &o);
}

static int open_file(struct reading *r, const char *path, struct tensor_file **out)
{
	struct given *g = r->g;
	struct tensor_file *f = tensor_file_open(path, r->err);
	if (!f)
		return -1;
	PUSH_TO(g->file, g->n_file, g->cap_file) = *out = f;
	return 0;
}

static bool exists(const char *path) { return !access(path, F_OK) || !strcmp(path, "-"); }

/* Cut "@device" off a file name, unless a file with that exact name exists. */
static bool cut_device(char *path, int *device, int *index)
{
	char *at = strrchr(path, '@');
	if (!at || exists(path) || device_parse(slice_str(at + 1), device, index) < 0)
		return false;
	*at = 0;
	return true;
}

/* Does NAME in NAME=FILE end here? A path may hold '=' in brackets only: kwargs["a=b"]. */
static const char *name_end(const char *s)
{
	bool quoted = false;
	for (; *s; s++) {
		if (*s == '"')
			quoted = !quoted;
		else if (*s == '=' && !quoted)
			return s;
		else if (*s == '/' && !quoted)
			return NULL;
	}
	return NULL;
}

static int read_operand(struct reading *r, const char *operand)
{
	struct slice name = {0}, key = {0};
	const char *eq = tensor_spec_like(slice_str(operand)) || exists(operand) ? NULL : name_end(operand), *rest = eq ? eq + 1 : operand;
	int device = DEVICE_NONE, index = -1, rc;
	struct tensor_file *f;
	if (eq)
		name = slice_of(operand, (size_t)(eq - operand));
	if (eq && !name.n)
		return err_set(r->err, EXIT_USAGE, "'%s': missing name before '='", operand);
	if (tensor_spec_like(slice_str(rest)) && !exists(rest)) {
		struct origin o = {.from = rest};
		if (tensor_spec_parse(slice_str(rest), &o.meta, r->err) < 0)
			return -1;
		return eq ? put_named(r, name, &o) : put_next(r, &o);
	}
	char *path = xstrdup(rest), *colon;
	cut_device(path, &device, &index);
	if (!exists(path) && (colon = strrchr(path, ':'))) {
		*colon = 0;
		if (exists(path))
			key = slice_str(colon + 1);
		else
			*colon = ':';
	}
	rc = open_file(r, path, &f);
	if (rc == 0)
		rc = eq || key.n ? put_from_file(r, name, f, key, device, index) : put_file(r, f, device, index);
	free(path);
	return rc;
}

static int read_operands(struct given *g, const struct contract *c, const char *const *operands, int n, bool all, struct err *err)
{
	*g = (struct given){.n = c->n_inputs};
	g->meta = xcalloc(g->n + EXTRA, sizeof(*g->meta));
	g->from = xcalloc(g->n + 1, sizeof(*g->from));
	g->source = xcalloc(g->n + 1, sizeof(*g->source));
	for (size_t i = 0; i < g->n; i++)
		g->meta[i].n_dim = -1;
	struct reading r = {g, c, err, all};
	/* Named ones first, so that the others fill the rest. */
	for (int named = 1; named >= 0; named--)
		for (int i = 0; i < n; i++) {
			bool has = !tensor_spec_like(slice_str(operands[i])) && !exists(operands[i]) && name_end(operands[i]);
			if (has == !!named && read_operand(&r, operands[i]) < 0) {
				const bool unknown = g->unknown;
				given_release(g);
				g->unknown = unknown;
				return -1;
			}
		}
	return 0;
}

int given_read(struct given *g, const struct contract *c, const char *const *operands, int n, struct err *err)
{
	return read_operands(g, c, operands, n, false, err);
}

int given_read_all(struct given *g, const struct contract *c, const char *const *operands, int n, struct err *err)
{
	return read_operands(g, c, operands, n, true, err);
}

int given_data(struct given *g, size_t input, struct slice *data, struct err *err)
{
	const struct given_source *s = &g->source[input];
	if (!s->file)
		return err_set(err, EXIT_USAGE, "'%s' has no values: pass a file", g->from[input] ? g->from[input] : "this input");
	return tensor_data(s->file, s->index, data, err);
}

void given_release(struct given *g)
{
	for (size_t i = 0; i < g->n_file; i++)
		tensor_file_close(g->file[i]);
	for (size_t i = 0; i < g->n; i++)
		free(g->from ? g->from[i] : NULL);
	free(g->file);
	free(g->meta);
	free(g->from);
	free(g->source);
	*g = (struct given){0};
}
