/* facts_one_run.c - merges a trace and the texts of one run: what both report is one fact. */
#include "base/chain.h"
#include "run/facts.h"

struct joining {
	struct facts *f;
	struct intern said; /* known from the traces: locations of breaks and failures, exceptions */
	uint32_t *moved;    /* row of compile -> its final index */
	bool *twin;         /* row of compile: from a text, and also in a trace */
	bool *gone;         /* row of failure */
};

static bool is_text(const struct facts *f, uint32_t input) { return f->input[input].kind == FACT_TEXTLOG; }

/* Keys of different kinds never collide: the first word differs. */
enum { KEY_BREAK, KEY_FAILURE, KEY_KNOWN, KEY_COMPILER };
static struct slice key(uint32_t k[4], uint32_t kind, uint32_t a, uint32_t b, uint32_t c)
{
	k[0] = kind, k[1] = a, k[2] = b, k[3] = c;
	return slice_of((const char *)k, 4 * sizeof(*k));
}

/* The type without its module, and the first line of the message. */
static struct slice failure_key(struct facts *f, uint32_t k[4], const struct fact_failure *e)
{
	struct slice type = facts_text(f, e->type), rest = facts_text(f, e->reason), line = {0};
	const char *dot = slice_rchr(type, '.');
	slice_line(&rest, &line);
	line = slice_trim(line);
	if (dot)
		type = slice_of(dot + 1, type.n - (size_t)(dot + 1 - type.p));
	buf_reset(&f->tmp);
	buf_add_slice(&f->tmp, type);
	buf_adds(&f->tmp, ": ");
	buf_add_slice(&f->tmp, line);
	return key(k, KEY_FAILURE, facts_intern(f, buf_slice(&f->tmp)), 0, 0);
}

static void take_traces(struct joining *j)
{
	struct facts *f = j->f;
	uint32_t k[4];
	for (uint32_t i = 0; i < f->n_brk; i++)
		if (!is_text(f, f->brk[i].src.input))
			intern_add(&j->said, key(k, KEY_BREAK, f->brk[i].loc.file, f->brk[i].loc.line, 0));
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (!is_text(f, f->failure[i].src.input))
			intern_add(&j->said, failure_key(f, k, &f->failure[i]));
	for (uint32_t i = 0; i < f->n_known; i++)
		if (!is_text(f, f->known[i].src.input))
			intern_add(&j->said, key(k, KEY_KNOWN, f->known[i].pattern, f->known[i].quote, 0));
	for (uint32_t i = 0; i < f->n_compiler_error; i++)
		if (!is_text(f, f->compiler_error[i].src.input))
			intern_add(&j->said, key(k, KEY_COMPILER, f->compiler_error[i].at.line, f->compiler_error[i].message, 0));
}

static bool has(const struct joining *j, struct slice k) { return intern_find(&j->said, k) != NONE; }

/* Compile ids that are also in a trace are moved to it. */
static void join_compiles(struct joining *j)
{
	struct facts *f = j->f;
	size_t n = f->names.n;
	uint32_t *row = xreallocarray(NULL, n + 1, sizeof(*row)), kept = 0; /* by id: a trace's */
	for (size_t i = 0; i <= n; i++)
		row[i] = NONE;
	for (uint32_t i = f->n_compile; i-- > 0;)
		if (!is_text(f, f->compile[i].src.input) && f->compile[i].id < n)
			row[f->compile[i].id] = i;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		j->twin[i] = is_text(f, f->compile[i].src.input) && f->compile[i].id < n && row[f->compile[i].id] != NONE;
		j->moved[i] = j->twin[i] ? NONE : kept++;
	}
	for (uint32_t i = 0; i < f->n_compile; i++)
		if (j->twin[i])
			j->moved[i] = j->moved[row[f->compile[i].id]];
	free(row);
}

/* An exception that is in a trace is removed together with those it was raised from. */
static struct fact_failure *twin_of(struct joining *j, const struct fact_failure *e)
{
	struct facts *f = j->f;
	uint32_t k[4], other[4];
	failure_key(f, k, e);
	for (uint32_t i = f->n_failure; i-- > 0;)
		if (!is_text(f, f->failure[i].src.input) && !memcmp(failure_key(f, other, &f->failure[i]).p, k, sizeof(k)))
			return &f->failure[i];
	return NULL;
}

/* A text has the exception that ended an export; its trace only has the location. */
static void mark_exports(struct joining *j)
{
	struct facts *f = j->f;
	bool ended = false;
	for (uint32_t i = 0; i < f->n_failure; i++)
		ended |= is_text(f, f->failure[i].src.input) && !f->failure[i].caught;
	for (uint32_t i = 0; i < f->n_failure; i++)
		j->gone[i] |= ended && f->failure[i].inferred && slice_starts(facts_text(f, f->failure[i].reason), FACT_EXPORT_STOPPED);
}

/* For some failures a trace has only compilation_metrics, without a traceback. */
static void take_traceback(struct fact_failure *twin, const struct fact_failure *e)
{
	twin->ended = true;
	if (twin->frames != NONE && twin->stack != NONE)
		return;
	twin->frames = e->frames;
	twin->stack = e->stack;
	if (twin->torch.file == NONE)
		twin->torch = e->torch;
	if (twin->user.file == NONE)
		twin->user = e->user;
}

static void mark_failures(struct joining *j)
{
	struct facts *f = j->f;
	uint32_t k[4];
	for (uint32_t i = f->n_failure; i-- > 0;) {
		const struct fact_failure *e = &f->failure[i];
		if (!is_text(f, e->src.input))
			continue;
		if ((e->compile != NONE && j->twin[e->compile]) || (e->type != NONE && has(j, failure_key(f, k, e))))
			j->gone[i] = true;
		struct fact_failure *twin = j->gone[i] && e->ended ? twin_of(j, e) : NULL;
		if (twin)
			take_traceback(twin, e);
		if (j->gone[i] && e->cause != NONE && e->cause < i)
			j->gone[e->cause] = true;
	}
}

static void drop_failures(struct joining *j)
{
	struct facts *f = j->f;
	uint32_t *moved = xreallocarray(NULL, f->n_failure + 1, sizeof(*moved)), n = 0;
	for (uint32_t i = 0; i < f->n_failure; i++)
		moved[i] = j->gone[i] ? NONE : n++;
	for (uint32_t i = 0; i < f->n_failure; i++) {
		if (j->gone[i])
			continue;
		struct fact_failure e = f->failure[i];
		e.cause = e.cause == NONE ? NONE : moved[e.cause];
		f->failure[moved[i]] = e;
	}
	f->n_failure = n;
	free(moved);
}

#define DROP(table, condition) \
	{ \
		uint32_t n = 0; \
		for (uint32_t i = 0; i < f->n_##table; i++) { \
			bool text = is_text(f, f->table[i].src.input); \
			bool twin __attribute__((unused)) = text && f->table[i].compile != NONE && j->twin[f->table[i].compile]; \
			if (text && (condition)) \
				continue; \
			f->table[n++] = f->table[i]; \
		} \
		f->n_##table = n; \
	}

static void drop_rows(struct joining *j)
{
	struct facts *f = j->f;
	uint32_t k[4];
	DROP(brk, !f->brk[i].explained && (twin || has(j, key(k, KEY_BREAK, f->brk[i].loc.file, f->brk[i].loc.line, 0))))
	DROP(recompile, twin)
	DROP(limit, twin)
	DROP(marker, twin)
	DROP(symbol, twin)
	DROP(bound, twin)
	DROP(cache, twin)
	DROP(cudagraph, twin)
	DROP(phase, true) /* the run's times are the traces' */
	DROP(graph, twin)
	DROP(known, has(j, key(k, KEY_KNOWN, f->known[i].pattern, f->known[i].quote, 0)))
	DROP(compiler_error, has(j, key(k, KEY_COMPILER, f->compiler_error[i].at.line, f->compiler_error[i].message, 0)))
}

/* Do the texts give every compile id to the same function as the traces? */
static bool agree(const struct facts *f)
{
	struct chain trace = {0};
	bool yes = true;
	for (uint32_t i = 0; i < f->n_compile; i++)
		if (!is_text(f, f->compile[i].src.input))
			chain_add(&trace, i, CHAIN_KEY(f->compile[i].id));
	for (uint32_t i = 0; yes && i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		uint32_t k = is_text(f, c->src.input) && c->loc.function != NONE ? chain_first(&trace, CHAIN_KEY(c->id)) : NONE;
		/* With several ranks, any match suffices; if no name is known, nothing contradicts it. */
		bool same = k == NONE;
		for (; k != NONE && !same; k = trace.next[k])
			same = f->compile[k].loc.function == NONE || f->compile[k].loc.function == c->loc.function ||
			       f->compile[k].resume_of == c->loc.function;
		yes = same;
	}
	chain_release(&trace);
	return yes;
}

void facts_one_run(struct facts *f)
{
	struct joining j = {.f = f};
	bool trace = false, text = false;
	for (uint32_t i = 0; i < f->n_input; i++) {
		trace |= f->input[i].kind == FACT_TRACE;
		text |= is_text(f, i);
	}
	if (!trace || !text || !agree(f))
		return;
	j.moved = xreallocarray(NULL, f->n_compile + 1, sizeof(*j.moved));
	j.twin = xcalloc(f->n_compile + 1, sizeof(*j.twin));
	j.gone = xcalloc(f->n_failure + 1, sizeof(*j.gone));
	take_traces(&j);
	join_compiles(&j);
	mark_exports(&j);
	mark_failures(&j);
	drop_failures(&j);
	drop_rows(&j);
	for (uint32_t i = 0; i < f->n_input; i++)
		if (is_text(f, i))
			f->input[i].seconds = -1;
#define X(table, type) \
	for (uint32_t i = 0; i < f->n_##table; i++) \
		if (f->table[i].compile != NONE) \
			f->table[i].compile = j.moved[f->table[i].compile];
	FACT_TABLES(X)
#undef X
	facts_move_attempts(f, j.moved);
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n_compile; i++)
		if (!j.twin[i])
			f->compile[n++] = f->compile[i];
	f->n_compile = n;
	intern_release(&j.said);
	free(j.moved);
	free(j.twin);
	free(j.gone);
}
