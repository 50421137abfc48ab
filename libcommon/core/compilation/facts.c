/* facts.c - the tables of the model, and what their readers share. */
#include "compilation/facts.h"

#include "base/chain.h"
#include "base/text.h"

const char *const cache_kind_name[FACT_CACHES] = {"fx_graph", "aotautograd", "fx_graph_bundled", "other"};
const char *const cache_what_name[FACT_CACHE_WHATS] = {"hit", "miss", "bypass"};

void facts_init(struct facts *f) { *f = (struct facts){0}; }

void facts_release(struct facts *f)
{
	intern_release(&f->names);
	intern_release(&f->compile_ids);
	free(f->compile_row);
	intern_release(&f->id_times);
	free(f->times);
	intern_release(&f->known_ids);
	intern_release(&f->string_ids);
	free(f->string_name);
	free(f->input);
	free(f->compile);
	free(f->attempt);
	free(f->metric);
#define X(name, type) free(f->name);
	FACT_TABLES(X)
#undef X
	free(f->damage);
	free(f->unknown);
	free(f->frame);
	free(f->frame_compile);
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
	    .file = strcmp(path, "-") ? facts_intern(f, slice_str(path)) : NONE,
	    .path = facts_intern(f, slice_str(path)),
	    .torch_version = NONE,
	    .python_version = NONE,
	    .cuda_version = NONE,
	    .command = NONE,
	    .rank = -1,
	    .pid = -1,
	    .start = NONE,
	    .span = -1,
	    .seconds = -1,
	    .graphs = -1,
	};
	memset(&f->input[f->n_input].config, 255, sizeof(struct fact_config)); /* -1: not known */
	return f->n_input++;
}

static size_t put_id(char *out, size_t at, int64_t v)
{
	if (v < 0)
		out[at++] = '-';
	else
		at += decimal(out + at, (uint64_t)v);
	out[at] = 0;
	return at;
}

const char *compile_id_text(const struct compile_id *id, char out[COMPILE_ID_TEXT])
{
	size_t n = 0;
	if (id->bad_line) {
		snprintf(out, COMPILE_ID_TEXT, "unknown");
		return out;
	}
	if (id->autograd >= 0)
		n = (size_t)snprintf(out, COMPILE_ID_TEXT, "!%lld/", (long long)id->autograd);
	n = put_id(out, n, id->frame);
	out[n++] = '/';
	n = put_id(out, n, id->compile);
	if (id->attempt > 0)
		snprintf(out + n, COMPILE_ID_TEXT - n, "_%lld", (long long)id->attempt);
	return out;
}

const char *compile_id_dir(const struct compile_id *id, char out[COMPILE_ID_TEXT])
{
	size_t n = put_id(out, 0, id->autograd);
	out[n++] = '_';
	n = put_id(out, n, id->frame);
	out[n++] = '_';
	n = put_id(out, n, id->compile);
	out[n++] = '_';
	put_id(out, n, id->attempt);
	return out;
}

void compile_id_read(struct slice *text, struct compile_id *id)
{
	struct slice s = *text;
	int64_t v[3];
	int n = 0;
	*id = (struct compile_id){.autograd = -1, .frame = -1, .compile = -1};
	if (!s.n || !strchr("0123456789!-", s.p[0]))
		return;
	const char *attempt = slice_chr(s, '_');
	uint64_t number;
	if (attempt) {
		if (slice_u64(slice_of(attempt + 1, (size_t)(s.p + s.n - attempt - 1)), &number) && number < INT32_MAX)
			id->attempt = (int64_t)number;
		s.n = text->n = (size_t)(attempt - s.p);
	}
	bool autograd = slice_starts(s, "!");
	if (autograd)
		s = slice_of(s.p + 1, s.n - 1);
	while (n < 3 && s.n) {
		const char *slash = slice_chr(s, '/');
		struct slice part = slice_of(s.p, slash ? (size_t)(slash - s.p) : s.n);
		v[n++] = slice_u64(part, &number) && number < INT64_MAX ? (int64_t)number : -1;
		s = slash ? slice_of(slash + 1, s.n - part.n - 1) : slice_of(NULL, 0);
	}
	if (autograd)
		id->autograd = n ? v[0] : -1;
	id->frame = n > autograd ? v[autograd] : -1;
	id->compile = n > autograd + 1 ? v[autograd + 1] : -1;
}

uint32_t facts_compile_anew(struct facts *f, uint32_t input, uint32_t process, uint32_t generation, struct slice id, uint64_t line,
			    double start)
{
	struct compile_id number;
	compile_id_read(&id, &number);
	struct fact_compile c = {
	    .src = fact_src(input, line),
	    .autograd = number.autograd,
	    .frame = number.frame,
	    .compile = number.compile,
	    .process = process,
	    .generation = generation,
	    .loc = facts_no_loc(),
	    .resume_of = NONE,
	    .start = start,
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
	    .guard_eval = -1,
	    .fail_type = NONE,
	    .fail_reason = NONE,
	    .backend = NONE,
	    .stack = NONE,
	};
	c.id = facts_intern(f, id);
	uint32_t k = f->id_times.n, same = intern_add(&f->id_times, CHAIN_KEY(input, c.id));
	GROW(f->times, k, f->cap_times, 1);
	f->times[same] = same == k ? 1 : f->times[same] + 1;
	c.nth = f->times[same];
	c.label = c.id;
	if (c.nth > 1) {
		buf_reset(&f->tmp);
		buf_addf(&f->tmp, "%.*s (%u%s)", SL(id), c.nth, ordinal(c.nth));
		c.label = facts_intern(f, buf_slice(&f->tmp));
	}
	GROW(f->compile, f->n_compile, f->cap_compile, 1);
	f->compile[f->n_compile] = c;
	return f->n_compile++;
}

uint32_t facts_compile(struct facts *f, uint32_t input, uint32_t process, uint32_t generation, struct slice id, uint64_t line)
{
	struct compile_id number;
	struct slice name = id;
	compile_id_read(&name, &number);
	uint32_t before = f->compile_ids.n, k = intern_add(&f->compile_ids, CHAIN_KEY(input, process, generation, facts_intern(f, name)));
	GROW(f->compile_row, k, f->cap_compile_row, k == before);
	if (k == before) {
		f->compile_row[k] = facts_compile_anew(f, input, process, generation, id, line, -1);
		f->compile[f->compile_row[k]].attempts = 1;
	}
	return f->compile_row[k];
}

uint32_t facts_attempt(struct facts *f, uint32_t input, const struct compile_id *id, uint64_t line)
{
	GROW(f->attempt, f->n_attempt, f->cap_attempt, 1);
	f->attempt[f->n_attempt] = (struct fact_attempt){
	    .id = *id,
	    .input = input,
	    .compile = NONE,
	    .before = NONE,
	    .line = line,
	    .first_artifact = NONE,
	    .last_artifact = NONE,
	    .loc = facts_no_loc(),
	    .start = -1,
	    .seconds = -1,
	    .backend_seconds = -1,
	    .inductor_seconds = -1,
	    .code_gen_seconds = -1,
	    .ops = -1,
	    .nodes = -1,
	    .inputs = -1,
	    .guards = -1,
	    .cache_size = -1,
	    .stack = NONE,
	    .fail_type = NONE,
	    .fail_reason = NONE,
	};
	return f->n_attempt++;
}

struct fact_rows facts_rows(const struct facts *f)
{
	return (struct fact_rows)
	{
		f->n_input, f->n_compile, f->n_attempt,
#define X(name, type) f->n_##name,
		    FACT_TABLES(X)
#undef X
	};
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
    .stack = NONE, .gb = -1, .time = -1)
NEW(recompile, fact_recompile, .compile = NONE, .reason = NONE, .against = NONE, .loc = NO_LOC, .guard = NONE, .old = NONE, .new = NONE,
    .type_old = NONE, .type_new = NONE, .all = NONE, .time = -1)
NEW(limit, fact_limit, .compile = NONE, .loc = NO_LOC, .reason = NONE)
NEW(failure, fact_failure, .compile = NONE, .type = NONE, .reason = NONE, .user = NO_LOC, .torch = NO_LOC, .frames = NONE, .cause = NONE,
    .stack = NONE, .time = -1)
NEW(marker, fact_marker, .compile = NONE, .what = NONE)
NEW(symbol, fact_symbol, .compile = NONE, .loc = NO_LOC, .symbol = NONE, .value = NONE, .range = NONE, .source = NONE)
NEW(bound, fact_bound, .compile = NONE, .loc = NO_LOC, .torch = NO_LOC, .expr = NONE, .symbol = NONE, .value = NONE, .sources = NONE,
    .reason = NONE)
NEW(fake_kernel, fact_fake_kernel, .compile = NONE, .loc = NO_LOC, .op = NONE, .reason = NONE)
NEW(cache, fact_cache, .compile = NONE, .name = NONE, .reason = NONE, .key = NONE, .guards = NONE, .parts = {NONE, NONE})
NEW(cudagraph, fact_cudagraph, .compile = NONE, .loc = NO_LOC, .reason = NONE)
NEW(native, fact_native, .compile = NONE, .op = NONE, .dsl = NONE, .key = NONE, .outcome = NONE, .seconds = -1)
NEW(vllm_call, fact_vllm_call, .compile = NONE, .model = NONE, .prefix = NONE, .mode = NONE, .backend = NONE, .custom_ops = NONE,
    .splitting_ops = NONE, .cudagraph_mode = NONE, .sizes = NONE, .ranges = NONE, .enabled_passes = NONE, .inductor_passes = NONE,
    .shapes = NONE)
NEW(vllm_piece, fact_vllm_piece, .compile = NONE, .name = NONE, .index = -1, .total = -1, .start = -1, .end = -1)
NEW(vllm_pass, fact_vllm_pass, .compile = NONE, .name = NONE, .index = -1, .added = -1, .removed = -1, .before = NONE, .diff = NONE)
NEW(worker, fact_worker, .compile = NONE, .pid = -1, .code = -1, .job = -1, .phase = NONE, .tail = NONE, .time = -1, .seconds = -1,
    .phase_seconds = -1)
NEW(phase, fact_phase, .compile = NONE, .name = NONE)
NEW(graph, fact_graph, .compile = NONE, .name = NONE, .ops = -1, .text = NONE)
NEW(step, fact_step, .compile = NONE, .what = NONE, .graph = NONE)
NEW(span, fact_span, .compile = NONE)
NEW(list, fact_list, .compile = NONE, .lines = NONE)
NEW(parity, fact_parity, .compile = NONE)
NEW(known, fact_known, .compile = NONE, .pattern = NONE, .quote = NONE, .title = NONE, .cause = NONE, .check = NONE, .fix = NONE,
    .hint = NONE, .see = NONE)
NEW(path, fact_path, .compile = NONE, .what = NONE, .path = NONE)
NEW(compiler_error, fact_compiler_error, .compile = NONE, .at = NO_LOC, .severity = NONE, .message = NONE, .command = NONE)

/* ---- breaks that nothing says ---- */

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
