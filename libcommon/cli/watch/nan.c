#include "watch/nan.h"

#include <fnmatch.h>

#define MAX_PLACES (1u << 16)

/* Where the last bad content of a place came from. */
struct nan_place {
	uint32_t finding; /* NONE: it was not kept, or is ignored */
	bool ignored, inf;
	struct slice inf_kernel, inf_buffer; /* the call that produced infinities there */
	uint32_t inf_call;
};

const char *nan_kind_name(enum nan_kind k)
{
	static const char *const names[] = {"produced", "input", "constant", "unwritten", "passed", "crashed"};
	return names[k];
}

const char *nan_what_name(enum nan_what w)
{
	static const char *const names[] = {"", "nan", "inf", "range"};
	return names[w];
}

static bool reads(const struct dump_value *v) { return v->before && v->role != CALL_ROLE_OUT; }

static bool has_inf(const struct dump_value *v) { return v->stats.known && (v->stats.pos_inf || v->stats.neg_inf); }

static bool is_real(int dtype)
{
	const struct dtype_info *d = dtype_info(dtype);
	return d && (strstr(d->name, "float") || strstr(d->name, "complex"));
}

static enum nan_what nan_bad(const struct nan_options *o, const struct dump_value *v)
{
	const struct tensor_stats *s = &v->stats;
	if (!s->known)
		return NAN_NONE;
	if (s->nan)
		return NAN_NAN;
	if (o->inf && has_inf(v))
		return NAN_INF;
	return o->range && is_real(v->meta.dtype) && (s->min < o->lo || s->max > o->hi) ? NAN_RANGE : NAN_NONE;
}

static bool nan_ignored(const struct nan_options *o, struct slice name)
{
	bool yes = false;
	char *text = name.n && o->n_ignore ? xstrndup(name.p, name.n) : NULL;
	for (size_t i = 0; text && i < o->n_ignore && !yes; i++)
		yes = !fnmatch(o->ignore[i], text, 0);
	free(text);
	return yes;
}

/* ---- places ---- */

/* Kept once, no matter how many times it occurs. */
static struct slice keep_text(struct nan *n, struct slice s) { return intern_get(&n->texts, intern_add(&n->texts, s)); }

static struct nan_place *find_place(struct nan *n, const struct nan_call *c, const struct nan_value *v, bool make)
{
	struct {
		uint32_t pid, model, run, storage;
		char name[48];
	} key = {c->c.pid, c->c.model_id, c->c.run, v->storage, ""};
	if (v->storage == NONE)
		memcpy(key.name, v->v.buffer.p, v->v.buffer.n < sizeof(key.name) ? v->v.buffer.n : sizeof(key.name));
	struct slice k = slice_of((const char *)&key, sizeof(key));
	if (make && n->places.n >= MAX_PLACES) { /* stale: nobody will read them */
		intern_release(&n->places);
		n->places = (struct intern){0};
	}
	uint32_t had = n->places.n, i = make ? intern_add(&n->places, k) : intern_find(&n->places, k);
	if (i == NONE)
		return NULL;
	GROW(n->place, had, n->cap_place, 1);
	if (i == had)
		n->place[i] = (struct nan_place){.finding = NONE};
	return &n->place[i];
}

static bool known_place(const struct nan_value *v) { return v->storage != NONE || v->v.buffer.n; }

/* ---- findings ---- */

#define HELD (UINT32_C(1) << 31) /* an index of .held */

/* Its index; NONE if there are too many. */
static uint32_t add_finding(struct nan *n, const struct nan_finding *f)
{
	uint32_t held;
	if (nan_hold(n, f, &held))
		return held | HELD;
	for (size_t i = 0; i < n->n; i++)
		if (nan_alike(&n->finding[i], f)) {
			n->finding[i].times++;
			return (uint32_t)i;
		}
	if (n->n == NAN_FINDINGS) {
		n->more++;
		return NONE;
	}
	nan_keep(n, &PUSH_TO(n->finding, n->n, n->cap), f);
	return (uint32_t)n->n - 1;
}

static void count_passed(struct nan *n, uint32_t finding)
{
	if (finding == NONE)
		return;
	struct nan_held *h = finding & HELD ? &n->held[finding & ~HELD] : NULL;
	if (h && h->finding == NONE)
		h->passed_on++;
	else
		n->finding[h ? h->finding : finding].passed_on++;
}

/* ---- one call ---- */

/* A NaN made from infinities is new; otherwise an input that is just as bad explains the output. Weights out of range are as they
 * should be, unless they are checked. */
static bool as_bad(const struct nan_options *o, enum nan_what out, const struct dump_value *in)
{
	enum nan_what w = nan_bad(o, in);
	if (w == NAN_RANGE && in->role == CALL_ROLE_CONSTANT)
		return false;
	return out == NAN_NAN ? w == NAN_NAN : w != NAN_NONE;
}

/* The input that explains the bad output: a constant, a model's input, or a buffer. */
static uint32_t cause_of(const struct nan *n, const struct nan_call *c, enum nan_what out)
{
	uint32_t best = NONE;
	int best_rank = 3;
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct nan_value *v = &c->value[i];
		if (!reads(&v->v) || !as_bad(&n->o, out, &v->v))
			continue;
		int rank = v->v.role == CALL_ROLE_CONSTANT ? 0 : v->is_input ? 1 : 2;
		if (rank < best_rank) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

/* Which call produced the infinities that it read? */
static void trace_inf(struct nan *n, const struct nan_call *c, struct nan_finding *f)
{
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct nan_value *v = &c->value[i];
		const struct nan_place *p = reads(&v->v) && has_inf(&v->v) && known_place(v) ? find_place(n, c, v, false) : NULL;
		if (p && p->inf) {
			f->inf_kernel = p->inf_kernel;
			f->inf_buffer = p->inf_buffer;
			f->inf_call = p->inf_call;
			return;
		}
	}
}

/* Marks what the call wrote as part of this finding, or as ignored. */
static void mark(struct nan *n, const struct nan_call *c, uint32_t finding, bool ignored)
{
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct nan_value *v = &c->value[i];
		if (!dump_written(&v->v) || !known_place(v) || nan_bad(&n->o, &v->v) == NAN_NONE)
			continue;
		struct nan_place *p = find_place(n, c, v, true);
		p->finding = finding;
		p->ignored = ignored;
	}
}

/* Where infinities started: at a call that read none. If they came from an input of the model, nothing is recorded. */
static void mark_inf(struct nan *n, const struct nan_call *c)
{
	struct nan_finding from = {0};
	bool had = false;
	for (uint32_t i = 0; i < c->n_values; i++)
		had |= reads(&c->value[i].v) && has_inf(&c->value[i].v);
	trace_inf(n, c, &from);
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct nan_value *v = &c->value[i];
		if (!dump_written(&v->v) || !known_place(v) || !has_inf(&v->v))
			continue;
		struct nan_place *p = find_place(n, c, v, true);
		p->inf = !had || from.inf_kernel.n;
		p->inf_kernel = from.inf_kernel.n ? from.inf_kernel : keep_text(n, c->c.name);
		p->inf_buffer = from.inf_kernel.n ? from.inf_buffer : keep_text(n, v->v.buffer);
		p->inf_call = from.inf_kernel.n ? from.inf_call : c->c.call;
	}
}

/* The first infinities of the program that are not always there. */
static void mark_since(struct nan *n, const struct nan_call *c)
{
	const uint32_t key[2] = {c->c.model_id, c->c.call};
	const struct slice k = slice_of((const char *)key, sizeof(key));
	bool had = false;
	const struct nan_value *out = NULL;
	for (uint32_t i = 0; i < c->n_values; i++) {
		had |= reads(&c->value[i].v) && has_inf(&c->value[i].v);
		if (!out && dump_written(&c->value[i].v) && has_inf(&c->value[i].v))
			out = &c->value[i];
	}
	if (n->since.model.n || had || !out || c->c.run == CALLS_NO_RUN)
		return;
	if (!c->c.run) {
		if (n->usual.n < MAX_PLACES)
			intern_add(&n->usual, k);
	} else if (intern_find(&n->usual, k) == NONE) {
		n->since_seq = c->c.seq;
		n->since_pid = c->c.pid;
		n->since =
		    (struct nan_since){keep_text(n, c->c.model), keep_text(n, c->c.name), keep_text(n, out->v.buffer), c->c.run, c->c.call};
	}
}

/* Did infinities lead to this finding? */
static bool follows_infinities(const struct nan *n, const struct nan_finding *f)
{
	bool inf = f->kind == NAN_INPUT || f->kind == NAN_CONSTANT;
	for (uint32_t i = 0; i < f->call.n_values; i++)
		inf |= reads(&f->call.value[i].v) && has_inf(&f->call.value[i].v);
	return inf && n->since.model.n;
}

static void take_bad(struct nan *n, const struct nan_call *c, uint32_t out, enum nan_what what)
{
	struct nan_finding f = {.what = what, .call = *c, .bad = out, .inf_call = NONE};
	f.cause = cause_of(n, c, what);
	const struct nan_value *in = f.cause != NONE ? &c->value[f.cause] : NULL;
	if (!in) {
		f.kind = NAN_PRODUCED;
		if (what == NAN_NAN)
			trace_inf(n, c, &f);
	} else if (in->v.role == CALL_ROLE_CONSTANT) {
		f.kind = NAN_CONSTANT;
	} else if (in->is_input) {
		f.kind = NAN_INPUT;
	} else {
		const struct nan_place *p = known_place(in) ? find_place(n, c, in, false) : NULL;
		if (p) {
			count_passed(n, p->finding);
			mark(n, c, p->finding, p->ignored);
			return;
		}
		f.kind = in->unwritten ? NAN_UNWRITTEN : NAN_PASSED;
	}
	bool quiet = nan_ignored(&n->o, c->c.name) || nan_ignored(&n->o, c->value[out].v.buffer);
	if (in)
		quiet |= nan_ignored(&n->o, in->v.buffer) || nan_ignored(&n->o, in->v.path);
	if (what == NAN_NAN && follows_infinities(n, &f))
		f.since = n->since;
	mark(n, c, quiet ? NONE : add_finding(n, &f), quiet);
}

/* Constants on their own: each is reported once. */
static void take_constants(struct nan *n, const struct nan_call *c)
{
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct nan_value *v = &c->value[i];
		enum nan_what what = v->v.before && v->v.role == CALL_ROLE_CONSTANT ? nan_bad(&n->o, &v->v) : NAN_NONE;
		if (what == NAN_NONE || nan_ignored(&n->o, v->v.buffer) || nan_ignored(&n->o, v->v.path))
			continue;
		struct nan_finding f = {.kind = NAN_CONSTANT, .what = what, .call = *c, .bad = NONE, .cause = i};
		add_finding(n, &f);
	}
}

/* A Run: the caller's inputs. */
static void take_run(struct nan *n, const struct nan_call *c)
{
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct nan_value *v = &c->value[i];
		enum nan_what what = v->v.role == CALL_ROLE_MODEL_INPUT ? nan_bad(&n->o, &v->v) : NAN_NONE;
		if (what == NAN_NONE || nan_ignored(&n->o, v->v.buffer))
			continue;
		struct nan_finding f = {.kind = NAN_INPUT, .what = what, .call = *c, .bad = NONE, .cause = i};
		add_finding(n, &f);
	}
}

void nan_take(struct nan *n, const struct nan_call *c)
{
	if (c->c.kind == DUMP_RUN) {
		take_run(n, c);
		return;
	}
	n->calls += !c->scanned;
	if (n->o.constants)
		take_constants(n, c);
	if (c->crashed) {
		struct nan_finding f = {.kind = NAN_CRASHED, .call = *c, .bad = NONE, .cause = NONE};
		add_finding(n, &f);
		return;
	}
	uint32_t out = NONE;
	enum nan_what what = NAN_NONE;
	for (uint32_t i = 0; i < c->n_values; i++) {
		enum nan_what w = dump_written(&c->value[i].v) && !c->value[i].unread ? nan_bad(&n->o, &c->value[i].v) : NAN_NONE;
		/* NaN before infinities before the rest; an ignored buffer does not hide another one. */
		bool quiet = w != NAN_NONE && nan_ignored(&n->o, c->value[i].v.buffer);
		bool old_quiet = out != NONE && nan_ignored(&n->o, c->value[out].v.buffer);
		if (w != NAN_NONE && (out == NONE || (old_quiet && !quiet) || (old_quiet == quiet && w < what))) {
			out = i;
			what = w;
		}
	}
	if (out != NONE)
		take_bad(n, c, out, what);
	mark_inf(n, c);
	mark_since(n, c);
}

void nan_release(struct nan *n)
{
	nan_scaler_release(n);
	free(n->finding);
	free(n->place);
	intern_release(&n->places);
	intern_release(&n->texts);
	intern_release(&n->usual);
	arena_release(&n->arena);
	*n = (struct nan){0};
}
