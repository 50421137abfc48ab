/* torch.save's files (torch 2.13, torch/serialization.py, caffe2/serialize/inline_container.cc): a zip archive, stored, of
 *     ROOT/data.pkl        the object, pickled; a tensor in it names its storage: ("storage", torch.FloatStorage, KEY, "cuda:0", numel)
 *     ROOT/data/KEY        the bytes of storage KEY, 64-aligned by padding in the local header
 *     ROOT/byteorder       "little" (missing before torch 2.1)
 *     ROOT/version, ROOT/.format_version, ROOT/.storage_alignment, ROOT/.data/serialization_id
 * ROOT is the file's name when it was saved, or "archive". A TorchScript archive has ROOT/constants.pkl and ROOT/code/ too.
 */
#include "tensor/pickle.h"
#include "tensor/reader.h"

/* Far above any real file. A list reached through many paths (10 lists of 10 of 10 ...) has as many names: these are the bounds. */
enum { VISITS_MAX = 1 << 22, TENSORS_MAX = 1 << 17, NAMES_MAX = 64 << 20 };

/* A container on the way from the top to the current value. */
struct frame {
	uint32_t node, at; /* at: the current item */
};

struct walk {
	struct tensor_file *f;
	struct pickle p;
	struct slice root; /* "mlp/" */
	struct frame *frame;
	uint32_t n_frame, cap_frame;
	bool *open; /* per node: it is one of the frames */
	uint64_t visits, names;
	struct buf name;
	struct err *err;
};

static int pt_fail(struct walk *w, const char *what)
{
	if (!w->name.len)
		return err_set(w->err, EXIT_INPUT, "'%s': its tensor %s", w->f->path, what);
	return err_set(w->err, EXIT_INPUT, "'%s': tensor '%.*s' %s", w->f->path, SLN(buf_slice(&w->name), 200), what);
}

/* ---- names ---- */

static void add_key(struct buf *b, const struct pickle_node *k)
{
	if (k->kind == PICKLE_STR) {
		if (b->len)
			buf_addc(b, '.');
		buf_add_slice(b, pickle_text(k));
	} else if (k->kind == PICKLE_INT) {
		buf_addf(b, "[%lld]", (long long)k->i);
	} else if (k->kind == PICKLE_BOOL) {
		buf_adds(b, k->i ? "[True]" : "[False]");
	} else {
		buf_adds(b, k->kind == PICKLE_NONE ? "[None]" : "[?]");
	}
}

/* The path to the current value, into w->name. */
static int make_name(struct walk *w)
{
	buf_reset(&w->name);
	for (uint32_t i = 0; i < w->n_frame; i++) {
		const struct frame *f = &w->frame[i];
		const struct pickle_node *c = pickle_node(&w->p, f->node);
		if (c->kind == PICKLE_DICT)
			add_key(&w->name, pickle_node(&w->p, c->item[f->at - 1]));
		else
			buf_addf(&w->name, "[%u]", f->at);
		if (w->names + w->name.len + i > NAMES_MAX)
			return err_set(w->err, EXIT_INPUT, "'%s': the names of its tensors take more than 64 MiB: the file is damaged",
				       w->f->path);
	}
	w->names += w->name.len + w->n_frame;
	return 0;
}

/* ---- tensors ---- */

/* The storage's member, with the expected number of bytes. */
static int find_storage(struct walk *w, const struct pickle_storage *s, struct zip_member **m, uint64_t *bytes)
{
	struct zip *z = &tensor_state(w->f)->zip;
	LOCAL_BUF name = {0};
	buf_add_slice(&name, w->root);
	buf_adds(&name, "data/");
	buf_add_slice(&name, s->key);
	*m = zip_find(z, buf_slice(&name));
	uint64_t item = s->dtype == DTYPE_NONE ? 1 : (uint64_t)dtype_info(s->dtype)->bytes;
	if (__builtin_mul_overflow((uint64_t)s->numel, item, bytes))
		return pt_fail(w, "has a storage that is larger than any file: the file is damaged");
	if (!*m)
		return *bytes ? pt_fail(w, "has a storage missing from the archive: save the file again") : 0;
	if ((*m)->size < *bytes)
		return pt_fail(w, "has a storage with too few bytes: the file is damaged");
	return 0;
}

static int place_tensor(struct walk *w, const struct pickle_tensor *p, struct tensor *t)
{
	struct tensor_state *s = tensor_state(w->f);
	struct zip_member *m;
	uint64_t bytes, at;
	int64_t extent;
	struct slice data;
	LOCAL_BUF head = {0};
	if (find_storage(w, p->storage, &m, &bytes) < 0)
		return -1;
	if (!tensor_extent(&t->meta, &extent) ||
	    __builtin_mul_overflow((uint64_t)p->offset, (uint64_t)dtype_info(t->meta.dtype)->bytes, &at))
		return pt_fail(w, "is too large: the file is damaged");
	/* Without elements it may begin anywhere. */
	if (!extent)
		at = 0;
	if (at > bytes || (uint64_t)extent > bytes - at)
		return pt_fail(w, "exceeds its storage: the file is damaged");
	if (!m) {
		t->data = SLICE("");
		return 0;
	}
	t->member = (uint32_t)(m - s->zip.v);
	s->at[w->f->n - 1] = at;
	/* Only to check the local header; nothing is inflated. */
	int r = zip_head(&s->zip, m, 0, &head, &data, w->err);
	if (r == 0 && m->method == 0)
		t->data = slice_of(data.p + at, (size_t)extent);
	return r;
}

static int add_tensor(struct walk *w, const struct pickle_tensor *p)
{
	struct tensor_meta m;
	if (make_name(w) < 0)
		return -1;
	if (w->f->n == TENSORS_MAX)
		return err_set(w->err, EXIT_INPUT, "'%s': has more than %d tensors: not read", w->f->path, TENSORS_MAX);
	if (p->lazy)
		return pt_fail(w, "is a lazily conjugated or negated view: save x.resolve_conj().resolve_neg()");
	pickle_tensor_meta(&w->p, p, &m);
	struct tensor *t = tensor_add(w->f, buf_slice(&w->name), &m);
	return p->storage && m.device != DEVICE_META ? place_tensor(w, p, t) : 0;
}

/* ---- the walk ---- */

static bool is_container(const struct pickle_node *n)
{
	return n->kind == PICKLE_TUPLE || n->kind == PICKLE_LIST || n->kind == PICKLE_SET || n->kind == PICKLE_DICT;
}

static int visit(struct walk *w, uint32_t node)
{
	const struct pickle_node *n = pickle_node(&w->p, node);
	if (++w->visits > VISITS_MAX)
		return err_set(w->err, EXIT_INPUT, "'%s': has more than %d values, most of them repeated: not read", w->f->path,
			       VISITS_MAX);
	if (n->kind == PICKLE_TENSOR)
		return add_tensor(w, n->tensor);
	/* A container that contains itself: its items are already named. */
	if (!is_container(n) || !n->n || w->open[node])
		return 0;
	w->open[node] = true;
	GROW(w->frame, w->n_frame, w->cap_frame, 1);
	/* A dict is walked by its values only. */
	w->frame[w->n_frame++] = (struct frame){node, n->kind == PICKLE_DICT};
	return 0;
}

/* The top frame's current item is done. */
static void advance(struct walk *w)
{
	struct frame *f = &w->frame[w->n_frame - 1];
	f->at += pickle_node(&w->p, f->node)->kind == PICKLE_DICT ? 2 : 1;
}

static int walk(struct walk *w)
{
	if (visit(w, w->p.top) < 0)
		return -1;
	while (w->n_frame) {
		struct frame f = w->frame[w->n_frame - 1];
		const struct pickle_node *c = pickle_node(&w->p, f.node);
		uint32_t before = w->n_frame;
		if (f.at < c->n) {
			if (visit(w, c->item[f.at]) < 0)
				return -1;
			if (w->n_frame == before)
				advance(w);
			continue;
		}
		w->open[f.node] = false;
		if (--w->n_frame)
			advance(w);
	}
	return 0;
}

/* ---- keys ---- */

static int by_index(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	return (i > k) - (i < k);
}

static int by_key(const void *a, const void *b, void *v)
{
	const struct pickle *p = v;
	const struct pickle_node *x = pickle_node(p, *(const uint32_t *)a), *y = pickle_node(p, *(const uint32_t *)b);
	if (x->kind != y->kind)
		return (x->kind > y->kind) - (x->kind < y->kind);
	if (x->kind == PICKLE_INT)
		return (x->i > y->i) - (x->i < y->i);
	if (x->kind != PICKLE_STR)
		return by_index(a, b);
	uint32_t n = x->n < y->n ? x->n : y->n;
	int r = n ? memcmp(x->s, y->s, n) : 0;
	return r ? r : (x->n > y->n) - (x->n < y->n);
}

/* torch.load would take the last of two equal keys; files from torch.save never have them. */
static int check_keys(struct walk *w)
{
	struct pickle *p = &w->p;
	uint32_t *key = NULL, cap = 0;
	bool twice = false;
	for (uint32_t i = 0; i < p->n_node && !twice; i++) {
		const struct pickle_node *d = pickle_node(p, i);
		if (d->kind != PICKLE_DICT || d->n < 4)
			continue;
		uint32_t n = 0;
		GROW(key, 0, cap, d->n / 2);
		for (uint32_t k = 0; k < d->n; k += 2)
			key[n++] = d->item[k];
		/* First those that are the same value, so that a long text is not compared with itself repeatedly. */
		qsort(key, n, sizeof(*key), by_index);
		for (uint32_t k = 1; k < n && !twice; k++)
			twice = key[k - 1] == key[k];
		if (!twice)
			qsort_r(key, n, sizeof(*key), by_key, p);
		for (uint32_t k = 1; k < n && !twice; k++)
			twice = by_key(&key[k - 1], &key[k], p) == 0;
	}
	free(key);
	return twice ? err_set(w->err, EXIT_INPUT, "'%s': duplicate key in a dict of its pickle: the file is damaged", w->f->path) : 0;
}

/* ---- the archive ---- */

static struct zip_member *member(struct walk *w, const char *name)
{
	LOCAL_BUF b = {0};
	buf_add_slice(&b, w->root);
	buf_adds(&b, name);
	return zip_find(&tensor_state(w->f)->zip, buf_slice(&b));
}

/* Reads the members needed to interpret the pickle (byte order, format version). */
static int check_archive(struct walk *w)
{
	struct zip *z = &tensor_state(w->f)->zip;
	struct zip_member *m = member(w, "byteorder");
	struct slice order;
	if (member(w, "constants.pkl"))
		return err_set(w->err, EXIT_INPUT,
			       "'%s': is a TorchScript archive (torch.jit.save), which contains a program: save its tensors with "
			       "torch.save(module.state_dict(), path)",
			       w->f->path);
	if (m && zip_text(z, m, &order, w->err) < 0)
		return -1;
	if (m && !slice_is(order, "little"))
		return err_set(w->err, EXIT_INPUT,
			       "'%s': was saved on a big-endian machine: load it with torch and save it again on this one", w->f->path);
	return 0;
}

/* The shortest name with that ending: ROOT/data.pkl, not a data.pkl further down. */
static struct zip_member *find_pickle(struct zip *z)
{
	struct zip_member *best = NULL;
	for (size_t i = 0; i < z->n; i++) {
		struct slice n = z->v[i].name;
		if ((slice_is(n, "data.pkl") || slice_ends(n, "/data.pkl")) && (!best || n.n < best->name.n))
			best = &z->v[i];
	}
	return best ? zip_find(z, best->name) : NULL;
}

static int read_archive(struct walk *w)
{
	struct zip *z = &tensor_state(w->f)->zip;
	struct zip_member *m = find_pickle(z);
	struct slice bytes;
	w->root = slice_of(m->name.p, m->name.n - strlen("data.pkl"));
	if (check_archive(w) < 0 || zip_text(z, m, &bytes, w->err) < 0 || pickle_read(&w->p, bytes, w->f->path, w->err) < 0)
		return -1;
	const struct pickle_node *top = pickle_node(&w->p, w->p.top);
	w->f->top = top->kind == PICKLE_TENSOR ? TENSOR_TOP_ONE : top->kind == PICKLE_DICT ? TENSOR_TOP_MAPPING : TENSOR_TOP_SEQUENCE;
	w->open = xcalloc(w->p.n_node, sizeof(*w->open));
	return check_keys(w) < 0 ? -1 : walk(w);
}

int pt_read(struct tensor_file *f, struct err *err)
{
	struct walk w = {.f = f, .err = err};
	int r = read_archive(&w);
	pickle_release(&w.p);
	free(w.frame);
	free(w.open);
	buf_release(&w.name);
	return r;
}

int pt_refuse(const struct tensor_file *f, struct err *err)
{
	/* The pickled number 0x1950a86a20f9469cfc6c, with which files before torch 1.6 begin (MAGIC_NUMBER of serialization.py). */
	static const char magic[] = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
	struct slice b = tensor_state(f)->bytes;
	const struct zip *z = &tensor_state(f)->zip;
	const char *what = "is not one of .npy, .npz, .safetensors and .pt (torch.save)";
	for (size_t i = 0; i < z->n; i++)
		if (slice_ends(z->v[i].name, "archive_format") || slice_find(z->v[i].name, "data/aotinductor/"))
			what = "is a package with a program (.pt2), not a file of tensors: save the inputs with torch.save";
	if (slice_starts(b, "\x80") && slice_starts(slice_of(b.p + (b.n < 2 ? b.n : 2), b.n < 2 ? 0 : b.n - 2), magic))
		what = "is from torch.save before torch 1.6: save it again with torch.save(torch.load(path, weights_only=True), path)";
	else if (slice_starts(b, "\x80") && b.n > 2 && b.p[1] >= 2 && b.p[1] <= 5)
		what = "is a bare Python pickle: save the tensors with torch.save";
	return err_set(err, EXIT_INPUT, "'%s': %s", f->path, what);
}
