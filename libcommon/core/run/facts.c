/* facts.c - the tables of the model, and code shared by their readers. */
#include "run/facts.h"

#include "base/chain.h"
#include "base/text.h"

const char *const cache_kind_name[FACT_CACHES] = {"fx_graph", "aotautograd", "fx_graph_bundled", "other"};
const char *const cache_what_name[FACT_CACHE_WHATS] = {"hit", "miss", "bypass"};

void facts_init(struct facts *f) { *f = (struct facts){.eager_error = NONE}; }

void facts_release(struct facts *f)
{
	intern_release(&f->names);
	intern_release(&f->compile_ids);
	free(f->compile_row);
	row_index_release(&f->id_times);
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

void facts_whole_file(const struct facts *f, struct fact_loc *loc, const struct fact_loc *frame)
{
	struct slice cut = facts_text(f, loc->file), whole = facts_text(f, frame->file);
	if (loc->file != NONE && frame->file != NONE && cut.n && cut.n < whole.n && !memcmp(whole.p + whole.n - cut.n, cut.p, cut.n))
		loc->file = frame->file;
}

struct fact_loc facts_loc(struct facts *f, const struct srcloc *at)
{
	return (struct fact_loc){facts_intern(f, at->file), at->line, facts_intern(f, at->func), facts_intern(f, at->code)};
}

uint32_t facts_input(struct facts *f, enum fact_input_kind kind, const char *path)
{
	GROW(f->input, f->n_input, f->cap_input, 1);
	struct fact_input *in = &f->input[f->n_input];
	*in = FACT_NEW(fact_input);
	in->kind = kind;
	in->path = facts_intern(f, slice_str(path));
	in->file = strcmp(path, "-") ? in->path : NONE;
	memset(&in->config, 255, sizeof(in->config)); /* -1: not known */
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

struct wanted_id {
	const struct facts *f;
	uint32_t input, id;
};
static bool is_wanted_id(const void *ctx, uint32_t row)
{
	const struct wanted_id *w = ctx;
	return w->f->times[row].input == w->input && w->f->times[row].id == w->id;
}

static struct fact_id_times *times_of(struct facts *f, uint32_t input, uint32_t id)
{
	const uint32_t key[] = {input, id}, hash = row_hash(key, sizeof(key));
	uint32_t k = row_index_find(&f->id_times, hash, is_wanted_id, &(struct wanted_id){f, input, id});
	if (k == NONE) {
		k = f->n_times;
		PUSH(f, times) = (struct fact_id_times){input, id, 0};
		row_index_add(&f->id_times, hash, k);
	}
	return &f->times[k];
}

uint32_t facts_compile_anew(struct facts *f, uint32_t input, uint32_t process, uint32_t generation, struct slice id, uint64_t line,
			    double start)
{
	struct compile_id number;
	compile_id_read(&id, &number);
	struct fact_compile c = FACT_NEW(fact_compile);
	c.src = fact_src(input, line);
	c.autograd = number.autograd;
	c.frame = number.frame;
	c.compile = number.compile;
	c.process = process;
	c.generation = generation;
	c.start = start;
	c.id = facts_intern(f, id);
	c.nth = ++times_of(f, input, c.id)->n;
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
	f->attempt[f->n_attempt] = FACT_NEW(fact_attempt);
	f->attempt[f->n_attempt].id = *id;
	f->attempt[f->n_attempt].input = input;
	f->attempt[f->n_attempt].line = line;
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

/* ---- new rows ---- */

#define X(table, type) \
	struct type *facts_new_##table(struct facts *f, struct fact_src src) \
	{ \
		GROW(f->table, f->n_##table, f->cap_##table, 1); \
		f->table[f->n_##table] = FACT_NEW(type); \
		f->table[f->n_##table].src = src; \
		return &f->table[f->n_##table++]; \
	}
FACT_TABLES(X)
#undef X

/* ---- breaks without a record ---- */

/* Jumps of older torch (before 2.5) leave no record except the function that resumes after them. A resume function whose line has no break
 * of its own in the same input comes from one, unless it resumes a call after a break inside the callee: then that break, in a compilation
 * of the same function, is the cause. */
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

/* torch/fx/experimental/symbolic_shapes.py produce_guards and torch/_dynamo/eval_frame.py:
 *
 *     Constraints violated (batch)! For more information, run with TORCH_LOGS="+dynamic".
 *       - Not all values of batch = L['x'].size()[0] in the specified range batch <= 64 satisfy the generated guard ...
 *       - You marked batch as dynamic but your code specialized it to be a constant (6). ...
 *     Suggested fixes:
 *       batch = 6
 */
static bool has_constraints(struct slice text) { return slice_find(text, "Constraints violated (") != NULL; }

void facts_add_constraints(struct facts *f, struct fact_src src, uint32_t compile, const struct fact_loc *loc, struct slice text)
{
	const char *at = slice_find(text, "Constraints violated (");
	if (!at)
		return;
	struct slice rest = slice_of(at, (size_t)(text.p + text.n - at)), line;
	const char *fixes = slice_find(rest, "Suggested fixes:\n");
	struct slice fix = slice_of(NULL, 0);
	if (fixes) {
		fix = slice_of(fixes + 17, (size_t)(rest.p + rest.n - fixes - 17));
		const char *blank = slice_find(fix, "\n\n");
		fix = slice_trim(slice_of(fix.p, blank ? (size_t)(blank - fix.p) : fix.n));
		rest.n = (size_t)(fixes - rest.p);
	}
	slice_line(&rest, &line);
	struct slice names = slice_of(line.p + 22, line.n - 22);
	const char *close = slice_chr(names, ')');
	names.n = close ? (size_t)(close - names.p) : 0;
	unsigned n = 0;
	while (slice_line(&rest, &line) && n < 64) {
		if (!slice_starts(line, "  - "))
			continue;
		struct fact_bound *b = facts_new_bound(f, src);
		b->compile = compile;
		b->loc = *loc;
		b->kind = BOUND_CONSTRAINT;
		b->expr = facts_intern(f, slice_of(line.p + 4, line.n - 4));
		b->symbol = facts_intern(f, names);
		b->reason = facts_intern(f, fix);
		n++;
	}
}

/* Violated constraints in a message are recorded once: an exception raised from another repeats them, and so do the lines of a text that
 * are in an exception's message. */
static void join_constraints(struct facts *f)
{
	FREED bool *cause = xcalloc(f->n_failure + 1, sizeof(*cause));
	OWNED(intern_release) struct intern said = {0};
	uint32_t before = f->n_bound, n = 0;
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE && has_constraints(facts_text(f, f->failure[i].reason)))
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
}

void facts_finish(struct facts *f)
{
	infer_breaks(f);
	join_constraints(f);
}
