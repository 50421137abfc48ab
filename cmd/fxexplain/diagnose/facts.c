/* facts.c - the tables of the model, and what their readers share. */
#include "diagnose/facts.h"

#include "diagnose/chain.h"

const char *const component_name[COMPONENTS] = {
    [COMPONENT_NONE] = "none",         [COMPONENT_DYNAMO] = "dynamo",   [COMPONENT_AOTAUTOGRAD] = "aotautograd",
    [COMPONENT_INDUCTOR] = "inductor", [COMPONENT_CODEGEN] = "codegen", [COMPONENT_COMPILER] = "compiler",
    [COMPONENT_RUNTIME] = "runtime",   [COMPONENT_BACKEND] = "backend", [COMPONENT_EXPORT] = "export",
    [COMPONENT_LOAD] = "load",         [COMPONENT_EAGER] = "eager",     [COMPONENT_ENVIRONMENT] = "environment",
};
const char *const component_title[COMPONENTS] = {
    [COMPONENT_NONE] = "no component",
    [COMPONENT_DYNAMO] = "TorchDynamo (capturing the graph)",
    [COMPONENT_AOTAUTOGRAD] = "AOTAutograd (tracing forward and backward)",
    [COMPONENT_INDUCTOR] = "Inductor (passes, lowering, scheduling)",
    [COMPONENT_CODEGEN] = "Inductor's code generation",
    [COMPONENT_COMPILER] = "the C++ or Triton compiler",
    [COMPONENT_RUNTIME] = "run time (compiled code and its guards)",
    [COMPONENT_BACKEND] = "the backend",
    [COMPONENT_EXPORT] = "torch.export",
    [COMPONENT_LOAD] = "loading the package",
    [COMPONENT_EAGER] = "the program itself (eager fails too)",
    [COMPONENT_ENVIRONMENT] = "the environment",
};

void facts_init(struct facts *f) { *f = (struct facts){0}; }

void facts_release(struct facts *f)
{
	intern_release(&f->names);
	intern_release(&f->compile_ids);
	intern_release(&f->known_ids);
	free(f->input);
	free(f->compile);
	free(f->metric);
#define X(name, type) free(f->name);
	FACT_TABLES(X)
#undef X
	free(f->damage);
	buf_release(&f->tmp);
	*f = (struct facts){0};
}

uint32_t facts_intern(struct facts *f, struct slice s) { return s.n ? intern_add(&f->names, s) : NONE; }

struct fact_loc facts_loc(struct facts *f, const struct srcloc *at)
{
	return (struct fact_loc){facts_intern(f, at->file), at->line, facts_intern(f, at->func), facts_intern(f, at->code)};
}

uint32_t facts_input(struct facts *f, enum fact_input_kind kind, const char *path)
{
	GROW(f->input, f->n_input, f->cap_input, 1);
	f->input[f->n_input] = (struct fact_input){
	    .kind = kind,
	    .path = facts_intern(f, slice_str(path)),
	    .torch_version = NONE,
	    .python_version = NONE,
	    .cuda_version = NONE,
	    .command = NONE,
	    .rank = -1,
	    .seconds = -1,
	};
	memset(&f->input[f->n_input].config, 255, sizeof(struct fact_config)); /* -1: not known */
	return f->n_input++;
}

/* "0/1", "!2/0/1", "0/1_2": the numbers; the attempt is left out of the id. */
static void parse_id(struct slice *id, struct fact_compile *c)
{
	struct slice s = *id;
	int64_t v[3];
	int n = 0;
	c->autograd = c->frame = c->compile = -1;
	if (!s.n || !strchr("0123456789!-", s.p[0]))
		return; /* a debug folder's own name */
	const char *attempt = slice_chr(s, '_');
	if (attempt)
		s.n = id->n = (size_t)(attempt - s.p);
	if (slice_starts(s, "!"))
		s = slice_of(s.p + 1, s.n - 1);
	while (n < 3 && s.n) {
		const char *slash = slice_chr(s, '/');
		struct slice part = slice_of(s.p, slash ? (size_t)(slash - s.p) : s.n);
		uint64_t number;
		v[n++] = slice_u64(part, &number) && number < INT64_MAX ? (int64_t)number : -1;
		s = slash ? slice_of(slash + 1, s.n - part.n - 1) : slice_of(NULL, 0);
	}
	if (id->n && id->p[0] == '!') {
		c->autograd = n ? v[0] : -1;
		c->frame = n > 1 ? v[1] : -1;
		c->compile = n > 2 ? v[2] : -1;
	} else {
		c->frame = n ? v[0] : -1;
		c->compile = n > 1 ? v[1] : -1;
	}
}

uint32_t facts_compile(struct facts *f, uint32_t input, struct slice id, uint64_t line)
{
	struct fact_compile c = {
	    .src = {input, line},
	    .attempts = 1,
	    .loc = facts_no_loc(),
	    .resume_of = NONE,
	    .start = -1,
	    .seconds = -1,
	    .dynamo = -1,
	    .aot = -1,
	    .inductor = -1,
	    .codegen = -1,
	    .backward = -1,
	    .restarts = -1,
	    .ops = -1,
	    .nodes = -1,
	    .inputs = -1,
	    .guards = -1,
	    .cache_size = -1,
	    .graphs = -1,
	    .fail_type = NONE,
	    .fail_reason = NONE,
	    .backend = NONE,
	    .stack = NONE,
	};
	parse_id(&id, &c);
	c.id = facts_intern(f, id);
	uint32_t key[2] = {input, c.id};
	uint32_t row = intern_add(&f->compile_ids, slice_of((char *)key, sizeof(key)));
	if (row < f->n_compile)
		return row;
	GROW(f->compile, f->n_compile, f->cap_compile, 1);
	f->compile[f->n_compile] = c;
	return f->n_compile++;
}

bool facts_resume_name(struct slice name, struct slice *function, uint32_t *line)
{
	static const char prefix[] = "torch_dynamo_resume_in_";
	uint64_t number;
	if (!slice_starts(name, prefix))
		return false;
	struct slice s = slice_of(name.p + sizeof(prefix) - 1, name.n - sizeof(prefix) + 1);
	for (size_t i = s.n; i-- > 3;) {
		if (memcmp(s.p + i - 3, "_at_", 4))
			continue;
		if (!slice_u64(slice_of(s.p + i + 1, s.n - i - 1), &number) || number > UINT32_MAX)
			return false;
		*function = slice_of(s.p, i - 3);
		*line = (uint32_t)number;
		return true;
	}
	return false;
}

/* ---- new rows: zero but for ids ---- */

#define NO_LOC facts_no_loc()
#define NEW(table, type, ...) \
	struct type *facts_new_##table(struct facts *f, struct fact_src src) \
	{ \
		GROW(f->table, f->n_##table, f->cap_##table, 1); \
		f->table[f->n_##table] = (struct type){.src = src, __VA_ARGS__}; \
		return &f->table[f->n_##table++]; \
	}
NEW(brk, fact_break, .compile = NONE, .loc = NO_LOC, .reason = NONE, .explanation = NONE, .hints = NONE, .context = NONE, .url = NONE,
    .gb = -1)
NEW(recompile, fact_recompile, .compile = NONE, .against = NONE, .loc = NO_LOC, .guard = NONE, .old = NONE, .new = NONE, .type_old = NONE,
    .type_new = NONE, .all = NONE)
NEW(limit, fact_limit, .compile = NONE, .loc = NO_LOC, .reason = NONE)
NEW(failure, fact_failure, .compile = NONE, .type = NONE, .reason = NONE, .user = NO_LOC, .torch = NO_LOC, .frames = NONE, .cause = NONE,
    .stack = NONE)
NEW(marker, fact_marker, .compile = NONE, .what = NONE)
NEW(symbol, fact_symbol, .compile = NONE, .loc = NO_LOC, .symbol = NONE, .value = NONE, .range = NONE, .source = NONE)
NEW(bound, fact_bound, .compile = NONE, .loc = NO_LOC, .torch = NO_LOC, .expr = NONE, .symbol = NONE, .value = NONE, .sources = NONE,
    .reason = NONE)
NEW(fake_kernel, fact_fake_kernel, .compile = NONE, .loc = NO_LOC, .op = NONE, .reason = NONE)
NEW(cache, fact_cache, .compile = NONE, .name = NONE, .reason = NONE)
NEW(cudagraph, fact_cudagraph, .compile = NONE, .loc = NO_LOC, .reason = NONE)
NEW(phase, fact_phase, .compile = NONE, .name = NONE)
NEW(graph, fact_graph, .compile = NONE, .name = NONE, .ops = -1, .text = NONE)
NEW(known, fact_known, .compile = NONE, .pattern = NONE, .quote = NONE, .title = NONE, .cause = NONE, .check = NONE, .fix = NONE,
    .see = NONE)
NEW(path, fact_path, .compile = NONE, .what = NONE, .path = NONE)
NEW(compiler_error, fact_compiler_error, .compile = NONE, .at = NO_LOC, .severity = NONE, .message = NONE, .command = NONE)

/* ---- one function only ---- */

/* Rows of compile ids that stay; moved[old] is the new row, NONE where it goes. */
static void keep_rows(struct facts *f, const uint32_t *moved)
{
	uint32_t *failure = xreallocarray(NULL, f->n_failure + 1, sizeof(*failure)), kept = 0;
	for (uint32_t i = 0; i < f->n_failure; i++)
		failure[i] = f->failure[i].compile != NONE && moved[f->failure[i].compile] != NONE ? kept++ : NONE;
#define X(table, type) \
	{ \
		uint32_t n = 0; \
		for (uint32_t i = 0; i < f->n_##table; i++) { \
			uint32_t c = f->table[i].compile; \
			if (c == NONE || moved[c] == NONE) \
				continue; \
			f->table[n] = f->table[i]; \
			f->table[n++].compile = moved[c]; \
		} \
		f->n_##table = n; \
	}
	FACT_TABLES(X)
#undef X
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE)
			f->failure[i].cause = failure[f->failure[i].cause];
	free(failure);
}

uint32_t facts_only_function(struct facts *f, const char *function)
{
	uint32_t *moved = xreallocarray(NULL, f->n_compile + 1, sizeof(*moved)), kept = 0;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		struct slice name = facts_text(f, c->resume_of == NONE ? c->loc.function : c->resume_of);
		moved[i] = slice_is(name, function) ? kept++ : NONE;
	}
	if (kept) {
		keep_rows(f, moved);
		for (uint32_t i = 0; i < f->n_compile; i++)
			if (moved[i] != NONE)
				f->compile[moved[i]] = f->compile[i];
		f->n_compile = kept;
	}
	free(moved);
	return kept;
}

/* Jumps of older torch (before 2.5) leave no record but the function that goes on behind them. A resume function whose line has no
 * break of its own in the same input was made by one; unless it is the rest of a call that went on after a break inside of what it
 * called: then that break, of a compilation of the same function, is the cause. */
static void infer_breaks(struct facts *f)
{
	struct chain place = {0}, function = {0};
	for (uint32_t i = 0; i < f->n_brk; i++) {
		const struct fact_break *b = &f->brk[i];
		chain_add(&place, i, CHAIN_KEY(b->src.input, b->loc.file, b->loc.line));
		if (b->compile != NONE)
			chain_add(&function, i,
				  CHAIN_KEY(b->src.input, f->compile[b->compile].loc.file, f->compile[b->compile].loc.function));
	}
	for (uint32_t i = 0, n = f->n_compile; i < n; i++) {
		const struct fact_compile *c = &f->compile[i];
		if (c->resume_of == NONE || c->loc.file == NONE ||
		    chain_first(&place, CHAIN_KEY(c->src.input, c->loc.file, c->resume_line)) != NONE ||
		    chain_first(&function, CHAIN_KEY(c->src.input, c->loc.file, c->resume_of)) != NONE)
			continue;
		struct fact_break *b = facts_new_brk(f, c->src);
		b->compile = i;
		b->loc = (struct fact_loc){c->loc.file, c->resume_line, c->resume_of, NONE};
		b->kind = BREAK_INFERRED;
		b->inferred = true;
		chain_add(&place, f->n_brk - 1, CHAIN_KEY(c->src.input, c->loc.file, c->resume_line));
	}
	chain_release(&place);
	chain_release(&function);
}

/* What a message says of violated constraints is told once: an exception that another was raised from says the same, and so do the
 * lines of a text that are in an exception's message. */
static void join_constraints(struct facts *f)
{
	bool *cause = xcalloc(f->n_failure + 1, sizeof(*cause));
	struct intern said = {0};
	uint32_t before = f->n_bound, n = 0;
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE && facts_constraints(facts_text(f, f->failure[i].reason)))
			cause[f->failure[i].cause] = true;
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (!f->failure[i].restart && !cause[i])
			facts_add_constraints(f, f->failure[i].src, f->failure[i].compile, &f->failure[i].user,
					      facts_text(f, f->failure[i].reason));
	for (uint32_t i = before; i < f->n_bound; i++)
		intern_add(&said, CHAIN_KEY(f->bound[i].src.input, f->bound[i].expr));
	for (uint32_t i = 0; i < f->n_bound; i++) {
		const struct fact_bound *b = &f->bound[i];
		if (i < before && b->kind == BOUND_CONSTRAINT && intern_find(&said, CHAIN_KEY(b->src.input, b->expr)) != NONE)
			continue;
		f->bound[n++] = *b;
	}
	f->n_bound = n;
	intern_release(&said);
	free(cause);
}

void facts_finish(struct facts *f)
{
	infer_breaks(f);
	join_constraints(f);
}
