/* document.c - rows as JSON, by tables of their members. See document.h. */
#include "run/document.h"
#include "base/text.h"
#include "run/columns.h"
#include "base/io/mapfile.h"
#include "base/io/window.h"

#include <inttypes.h>

/* ---- what a member is ---- */

/* The kinds of facts.h, and their form in --json. */
#define FIELD_KINDS(X) \
	X(TEXT, "text or null") \
	X(LINES, "list of texts") \
	X(LOC, "LOCATION or null") /* {file, line, function, code} */ \
	X(SRC, "")                 /* the members input, attempt, line, offset, artifact */ \
	X(INDEX, "index or null") \
	X(U32, "number") \
	X(U64, "number") \
	X(POSITIVE, "number or null") /* null for 0 */ \
	X(COUNT, "number or null")    /* null below 0, and so on */ \
	X(SECONDS, "seconds or null") \
	X(BOOL, "bool") \
	X(GB, "\"GB0025\" or null") \
	X(SIGNAL, "number or null") \
	X(DIR, "text") /* the members dir and attempt */ \
	X(HEX, "16 hex digits") \
	X(INPUT_KIND, "word") \
	X(STATUS, "word") \
	X(BREAK_KIND, "word") \
	X(BOUND_KIND, "word") \
	X(CACHE_KIND, "word") \
	X(CACHE_WHAT, "word") \
	X(WORKER_WHAT, "word") \
	X(STEP_KIND, "word") \
	X(SPAN_KIND, "word") \
	X(LIST_KIND, "word") \
	X(LINE, NULL)      /* of SRC */ \
	X(KEY_PARTS, NULL) /* in no document */
enum field_type {
#define X(kind, words) FIELD_##kind,
	FIELD_KINDS(X)
#undef X
};
static const char *const type_words[] = {
#define X(kind, words) words,
    FIELD_KINDS(X)
#undef X
};
struct field {
	const char *name; /* NULL: not in the document */
	enum field_type type;
	size_t offset;
	const char *meaning;
};
struct table {
	const char *name, *meaning;
	size_t size, rows, count; /* of a row; of struct facts: the pointer, the number of rows */
	const void *unknown;      /* an empty row */
	const struct field *field;
	unsigned fields;
};

/* The names of an enum's values. */
struct words {
	const char *const *word;
	unsigned n;
};
#define WORDS(...) \
	{ \
		(const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *) \
	}
static const struct words words_of[] = {
    [FIELD_INPUT_KIND] = WORDS("trace", "text", "debug-folder"),
    [FIELD_STATUS] = WORDS("missing", "ok", "empty", "break", "error", "skipped"),
    [FIELD_BREAK_KIND] = WORDS("call", "jump", "asked", "skipped", "inferred"),
    [FIELD_BOUND_KIND] = WORDS("guard", "specialized", "replaced", "assert", "data-dependent", "constraint"),
    [FIELD_CACHE_KIND] = {cache_kind_name, FACT_CACHES},
    [FIELD_CACHE_WHAT] = {cache_what_name, FACT_CACHE_WHATS},
    [FIELD_WORKER_WHAT] = WORDS("died", "status"),
    [FIELD_STEP_KIND] = WORDS("start", "graph", "made"),
    [FIELD_SPAN_KIND] = WORDS("compile", "backward", "open"),
    [FIELD_LIST_KIND] = WORDS("schedule", "tensors", "estimates", "order"),
};

#define FIELD(of, kind, member, name, meaning) {name, FIELD_##kind, offsetof(struct of, member), meaning},
#define FIELDS(row) ((const struct field[]){ROW_##row(FIELD, row)})
#define ROWS_OF(name, row, rows, meaning) \
	{ \
		name, meaning, sizeof(struct row), offsetof(struct facts, rows), offsetof(struct facts, n_##rows), &FACT_NEW(row), \
		    FIELDS(row), sizeof(FIELDS(row)) / sizeof(struct field) \
	}
static const struct table inputs_table = ROWS_OF("inputs", fact_input, input, "the inputs read");
static const struct table tables[] = {
    ROWS_OF("compiles", fact_compile, compile, "Dynamo's compilations: a frame's n-th compilation, with all its attempts"),
    ROWS_OF("attempts", fact_attempt, attempt, "of a structured trace: the attempts of a compilation; and records outside any compilation"),
    ROWS_OF("frames", fact_frame, frame, "code objects of one generation, with their compilations"),
    ROWS_OF("graph_breaks", fact_break, brk, NULL),
    ROWS_OF("recompiles", fact_recompile, recompile, "why a frame was compiled again"),
    ROWS_OF("recompile_limits", fact_limit, limit, NULL),
    ROWS_OF("failures", fact_failure, failure, "exceptions and signals; and restarts"),
    ROWS_OF("symbols", fact_symbol, symbol, "symbolic sizes"),
    ROWS_OF("bounds", fact_bound, bound, "constraints on symbols"),
    ROWS_OF("caches", fact_cache, cache, NULL),
    ROWS_OF("cudagraph_skips", fact_cudagraph, cudagraph, NULL),
    ROWS_OF("native_kernels", fact_native, native,
	    "kernels of torch's own operators requested from their DSL (torch 2.15, TORCH_LOGS=+native_dsl_compile)"),
    ROWS_OF("vllm_calls", fact_vllm_call, vllm_call, "calls of vLLM's backend, with its configuration"),
    ROWS_OF("vllm_pieces", fact_vllm_piece, vllm_piece, "compilations in such a call: a piece of the graph for a range of sizes"),
    ROWS_OF("vllm_passes", fact_vllm_pass, vllm_pass, "passes over a piece, with their changes"),
    ROWS_OF("vllm_texts", fact_vllm_text, vllm_text,
	    "what else belongs to a call: how its graph is split, what its passes look for, the code that calls the pieces"),
    ROWS_OF("workers", fact_worker, worker, "processes that compile kernels: those that died, slow jobs (torch 2.15)"),
    ROWS_OF("compiler_errors", fact_compiler_error, compiler_error, "errors of g++, nvcc or Triton's compiler"),
    ROWS_OF("paths", fact_path, path, "paths mentioned in a log: debug traces, output code, launchers"),
    ROWS_OF("unknown_keys", fact_unknown, unknown, "keys of a structured trace unknown to this version"),
    ROWS_OF("damage", fact_damage, damage, "parts that could not be read"),
};

/* Used to compare ranks: in tlparse --json. */
static const struct table rank_tables[] = {
    ROWS_OF("steps", fact_step, step, "events in log order, beside the rows above"),
    ROWS_OF("spans", fact_span, span, "when something was compiled"),
    ROWS_OF("lists", fact_list, list, "lists in artifacts"),
    ROWS_OF("parities", fact_parity, parity, "collective schedules that differ from the generated code"),
};

/* ---- written ---- */

void document_loc(struct json_out *o, const char *key, const struct facts *f, const struct fact_loc *loc)
{
	if (!json_member_obj_if(o, key, loc->file != NONE))
		return;
	json_member_name(o, "file", &f->names, loc->file);
	json_member_count(o, "line", loc->line ? (int64_t)loc->line : -1);
	json_member_name(o, "function", &f->names, loc->function);
	json_member_name(o, "code", &f->names, loc->code);
	json_close(o);
}

static void put_src(struct json_out *o, const struct fact_src *src)
{
	json_member_u64(o, "input", src->input);
	json_member_index(o, "attempt", src->attempt);
	json_member_count(o, "line", src->line ? (int64_t)src->line : -1);
	json_member_count(o, "offset", src->offset == UINT64_MAX ? -1 : (int64_t)src->offset);
	json_member_index(o, "artifact", src->artifact);
}

void document_src(struct json_out *o, const struct fact_src *src, uint32_t compile)
{
	put_src(o, src);
	json_member_index(o, "compile", compile);
}

static void put_dir(struct json_out *o, const char *key, const struct compile_id *id)
{
	char text[COMPILE_ID_TEXT];
	json_member(o, key, slice_str(id->bad_line ? "unknown" : compile_id_dir(id, text)));
	json_member_count(o, "attempt", id->attempt);
}

static void put_gb(struct json_out *o, const char *key, int32_t gb)
{
	char text[16];
	snprintf(text, sizeof(text), "GB%04d", gb);
	json_member(o, key, gb < 0 ? slice_of(NULL, 0) : slice_str(text));
}

static void put_hex(struct json_out *o, const char *key, uint64_t v)
{
	char text[17];
	snprintf(text, sizeof(text), "%016" PRIx64, v);
	json_member(o, key, slice_str(text));
}

static uint32_t u32_at(const void *at) { return *(const uint32_t *)at; }

static void put_field(struct json_out *o, const struct facts *f, const struct field *x, const char *row)
{
	const void *at = row + x->offset;
	switch (x->type) {
	case FIELD_TEXT: json_member_name(o, x->name, &f->names, u32_at(at)); return;
	case FIELD_LINES: json_member_lines(o, x->name, facts_text(f, u32_at(at))); return;
	case FIELD_LOC: document_loc(o, x->name, f, at); return;
	case FIELD_SRC: put_src(o, at); return;
	case FIELD_INDEX: json_member_index(o, x->name, u32_at(at)); return;
	case FIELD_U32: json_member_u64(o, x->name, u32_at(at)); return;
	case FIELD_U64: json_member_u64(o, x->name, *(const uint64_t *)at); return;
	case FIELD_POSITIVE:
	case FIELD_SIGNAL: json_member_count(o, x->name, u32_at(at) ? (int64_t)u32_at(at) : -1); return;
	case FIELD_COUNT: json_member_count(o, x->name, *(const int64_t *)at); return;
	case FIELD_SECONDS: json_member_seconds(o, x->name, *(const double *)at); return;
	case FIELD_BOOL: json_member_bool(o, x->name, *(const bool *)at); return;
	case FIELD_GB: put_gb(o, x->name, (int32_t)u32_at(at)); return;
	case FIELD_DIR: put_dir(o, x->name, at); return;
	case FIELD_HEX: put_hex(o, x->name, *(const uint64_t *)at); return;
	default: json_member_str(o, x->name, slice_str(words_of[x->type].word[u32_at(at)])); return;
	}
}

static void put_table(struct json_out *o, const struct facts *f, const struct table *t)
{
	const char *row = *(const char *const *)(const void *)((const char *)f + t->rows);
	uint32_t n = *(const uint32_t *)(const void *)((const char *)f + t->count);
	json_member_arr(o, t->name);
	for (uint32_t i = 0; i < n; i++, row += t->size) {
		json_obj(o);
		for (unsigned k = 0; k < t->fields; k++)
			if (t->field[k].name)
				put_field(o, f, &t->field[k], row);
		json_close(o);
	}
	json_close(o);
}

void document_rows(struct json_out *o, const struct facts *f)
{
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		put_table(o, f, &tables[i]);
}

void document_ranks(struct json_out *o, const struct facts *f)
{
	for (unsigned i = 0; i < ARRAY_LEN(rank_tables); i++)
		put_table(o, f, &rank_tables[i]);
}

/* ---- written as columns ---- */

/* The number of a member's value, for its kind of column. */
static int64_t number_of(const struct field *x, const char *at, struct columns *c)
{
	switch (x->type) {
	case FIELD_TEXT:
	case FIELD_LINES: return columns_text(c, u32_at(at));
	case FIELD_INDEX: return u32_at(at) == NONE ? 0 : (int64_t)u32_at(at) + 1;
	case FIELD_U32: return u32_at(at);
	case FIELD_U64: return (int64_t)(*(const uint64_t *)(const void *)at);
	case FIELD_POSITIVE:
	case FIELD_SIGNAL: return u32_at(at) ? (int64_t)u32_at(at) + 1 : 0;
	case FIELD_LINE: return *(const uint64_t *)(const void *)at ? (int64_t) * (const uint64_t *)(const void *)at + 1 : 0;
	case FIELD_COUNT: return *(const int64_t *)(const void *)at < 0 ? 0 : *(const int64_t *)(const void *)at + 1;
	case FIELD_SECONDS: {
		const double v = *(const double *)(const void *)at;
		return v < 0 ? 0 : v < 9e9 ? (int64_t)(v * 1e6 + 0.5) + 1 : 0;
	}
	case FIELD_BOOL: return *(const bool *)at;
	case FIELD_GB: return (int32_t)u32_at(at) < 0 ? 0 : (int64_t)u32_at(at) + 1;
	default: return u32_at(at);
	}
}

static const char *column_kind(enum field_type type)
{
	switch (type) {
	case FIELD_TEXT: return "t";
	case FIELD_LINES: return "l";
	case FIELD_INDEX:
	case FIELD_POSITIVE:
	case FIELD_SIGNAL:
	case FIELD_LINE:
	case FIELD_COUNT: return "i";
	case FIELD_U32:
	case FIELD_U64: return "n";
	case FIELD_SECONDS: return "s";
	case FIELD_BOOL: return "b";
	case FIELD_GB: return "g";
	default: return "w";
	}
}

/* The rows of a table in memory. */
struct rows {
	const char *first;
	size_t size;
	uint32_t n;
};
#define ROW_AT(rows, i, offset) ((rows)->first + (size_t)(i) * (rows)->size + (offset))

static void put_numbers(struct json_out *o, const struct rows *rows, const struct field *x, struct columns *c)
{
	struct column col = {0};
	for (uint32_t i = 0; i < rows->n; i++)
		column_add(&col, number_of(x, ROW_AT(rows, i, x->offset), c));
	column_out(&col, o);
	buf_release(&col.b);
}

/* Members of the struct at this offset of a row, as columns of their own. */
#define PART(of, kind, member) \
	{ \
#member, FIELD_##kind, offsetof(struct of, member), NULL \
	}
static const struct field src_parts[] = {
    PART(fact_src, U32, input),    PART(fact_src, INDEX, attempt),  PART(fact_src, LINE, line),
    PART(fact_src, COUNT, offset), PART(fact_src, INDEX, artifact),
};
static const struct field loc_parts[] = {
    PART(fact_loc, TEXT, file),
    PART(fact_loc, POSITIVE, line),
    PART(fact_loc, TEXT, function),
    PART(fact_loc, TEXT, code),
};

static void put_column(struct json_out *o, const struct rows *rows, const struct field *x, struct columns *c)
{
	json_member_arr(o, x->name);
	json_out_str(o, slice_str(column_kind(x->type)));
	put_numbers(o, rows, x, c);
	if (*column_kind(x->type) == 'w') {
		json_arr(o);
		for (unsigned i = 0; i < words_of[x->type].n; i++)
			json_out_str(o, slice_str(words_of[x->type].word[i]));
		json_close(o);
	}
	json_close(o);
}

static void put_loc_column(struct json_out *o, const struct rows *rows, const struct field *x, struct columns *c)
{
	json_member_arr(o, x->name);
	json_out_str(o, SLICE("o"));
	for (unsigned i = 0; i < ARRAY_LEN(loc_parts); i++) {
		struct field part = loc_parts[i];
		part.offset += x->offset;
		put_numbers(o, rows, &part, c);
	}
	json_close(o);
}

static void put_src_columns(struct json_out *o, const struct rows *rows, const struct field *x, struct columns *c)
{
	for (unsigned i = 0; i < ARRAY_LEN(src_parts); i++) {
		struct field part = src_parts[i];
		part.offset += x->offset;
		put_column(o, rows, &part, c);
	}
}

/* The members dir and attempt. */
static void put_dir_columns(struct json_out *o, const struct rows *rows, const struct field *x)
{
	char text[COMPILE_ID_TEXT];
	struct column attempt = {0};
	json_member_arr(o, x->name);
	json_out_str(o, SLICE("x"));
	json_arr(o);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct compile_id *id = (const void *)ROW_AT(rows, i, x->offset);
		json_out_str(o, slice_str(id->bad_line ? "unknown" : compile_id_dir(id, text)));
		column_add(&attempt, id->attempt < 0 ? 0 : (int64_t)id->attempt + 1);
	}
	json_close(o);
	json_close(o);
	json_member_arr(o, "attempt");
	json_out_str(o, SLICE("i"));
	column_out(&attempt, o);
	json_close(o);
	buf_release(&attempt.b);
}

static void put_columns(struct json_out *o, const struct facts *f, const struct table *t, struct columns *c)
{
	const struct rows rows = {*(const char *const *)(const void *)((const char *)f + t->rows), t->size,
				  *(const uint32_t *)(const void *)((const char *)f + t->count)};
	json_member_obj(o, t->name);
	json_member_u64(o, "rows", rows.n);
	json_member_obj(o, "columns");
	for (unsigned k = 0; k < t->fields; k++) {
		const struct field *x = &t->field[k];
		if (!x->name)
			continue;
		if (x->type == FIELD_LOC)
			put_loc_column(o, &rows, x, c);
		else if (x->type == FIELD_SRC)
			put_src_columns(o, &rows, x, c);
		else if (x->type == FIELD_DIR)
			put_dir_columns(o, &rows, x);
		else
			put_column(o, &rows, x, c);
	}
	json_close(o);
	json_close(o);
}

void document_columns(struct json_out *o, const struct facts *f, struct columns *c)
{
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		put_columns(o, f, &tables[i], c);
}

/* ---- the head ---- */

static void put_ranks(struct json_out *o, const struct facts *f, uint32_t input)
{
	int64_t *rank;
	uint32_t n = facts_ranks(f, input, &rank);
	json_member_arr(o, "ranks");
	for (uint32_t i = 0; i < n; i++)
		json_out_i64(o, rank[i]);
	json_close(o);
	free(rank);
}

void document_sums(struct json_out *o, const struct facts_sums *s)
{
#define X(name, words) json_member_u64(o, #name, s->name);
	FACTS_SUMS(X)
#undef X
	json_member_obj(o, "cache");
	for (unsigned i = 0; i < FACT_CACHES; i++) {
		json_member_obj(o, cache_kind_name[i]);
		for (unsigned k = 0; k < FACT_CACHE_WHATS; k++)
			json_member_u64(o, cache_what_name[k], s->cache[i][k]);
		json_close(o);
	}
	json_close(o);
	json_member_seconds(o, "compile_seconds", s->compile_seconds);
}

void document_summary(struct json_out *o, const struct facts *f, uint32_t input)
{
	struct facts_sums s;
	facts_sums(f, input, &s);
	json_member_obj(o, "summary");
	json_member_name(o, "torch_version", &f->names, s.torch_version);
	json_member_u64(o, "logs", input == NONE ? f->n_input : 1);
	put_ranks(o, f, input);
	document_sums(o, &s);
}

void document_head(struct json_out *o, const char *tool, const struct facts *f)
{
	json_member(o, "tool", slice_str(tool));
	json_member(o, "version", slice_str(PT2_VERSION));
	json_member_u64(o, "schema", DOCUMENT_SCHEMA);
	put_table(o, f, &inputs_table);
}

/* ---- in words ---- */

static void table_manual(struct buf *b, const struct table *t)
{
	buf_addf(b, "### %s\n\n", t->name);
	if (t->meaning)
		buf_addf(b, "%c%s.\n\n", t->meaning[0] >= 'a' && t->meaning[0] <= 'z' ? t->meaning[0] - 32 : t->meaning[0], t->meaning + 1);
	buf_adds(b, "| member | is | meaning |\n|---|---|---|\n");
	for (unsigned k = 0; k < t->fields; k++) {
		const struct field *x = &t->field[k];
		if (!x->name)
			continue;
		if (x->type == FIELD_SRC)
			buf_adds(b, "| input, attempt, line, offset, artifact | SOURCE | source location |\n");
		else
			buf_addf(b, "| %s | %s | %s |\n", x->name, type_words[x->type], x->meaning ? x->meaning : "");
		if (x->type == FIELD_DIR)
			buf_adds(b, "| attempt | number or null | 0 for the first |\n");
	}
	buf_addc(b, '\n');
}

void document_manual(struct buf *b)
{
	table_manual(b, &inputs_table);
	buf_adds(b, "### summary\n\n| member | is |\n|---|---|\n| torch_version | text or null: the first one found in an input |\n"
		    "| logs | number of inputs |\n| ranks | list of numbers |\n");
#define X(name, words) buf_adds(b, "| " #name " | " words " |\n");
	FACTS_SUMS(X)
#undef X
	buf_adds(b, "| cache | {\"fx_graph\": {\"hit\": 0, \"miss\": 7, \"bypass\": 0}, \"aotautograd\": ..., \"fx_graph_bundled\": ..., "
		    "\"other\": ...} |\n| compile_seconds | seconds or null |\n\n");
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		table_manual(b, &tables[i]);
	for (unsigned i = 0; i < ARRAY_LEN(rank_tables); i++)
		table_manual(b, &rank_tables[i]);
}

/* ---- read back ---- */

int document_open(struct json_tape *t, struct slice text, const char *name, const char *tool, uint32_t *root, struct err *err)
{
	const char *by = tool ? tool : "tlparse or fxexplain";
	if (text.n >= UINT32_MAX)
		return err_set(err, EXIT_INPUT, "'%s' is not a document from %s --json: too large", name, by);
	json_tape_text(t, text.p, text.n);
	if (json_parse(t, 0, text.n, root) < 0)
		return err_set(err, EXIT_INPUT, "'%s' is not a document from %s --json: %s at byte %zu", name, by, t->error, t->error_at);
	LOCAL_BUF tmp = {0};
	struct slice said = json_text(t, *root, "tool", &tmp);
	bool fits = tool ? slice_is(said, tool) : slice_is(said, "tlparse") || slice_is(said, "fxexplain");
	if (!fits)
		return err_set(err, EXIT_INPUT, "'%s' is not a document from %s --json", name, by);
	if (json_count(t, *root, "schema", 0) != DOCUMENT_SCHEMA)
		return err_set(err, EXIT_INPUT, "'%s' is from another version: recreate it with --json of this release", name);
	return 0;
}

/* "-_0_1_0" */
static void read_dir(struct slice dir, struct compile_id *id)
{
	int64_t *part[] = {&id->autograd, &id->frame, &id->compile, &id->attempt};
	id->bad_line = !dir.n || slice_is(dir, "unknown");
	for (unsigned i = 0; i < ARRAY_LEN(part); i++) {
		const char *end = slice_chr(dir, '_');
		struct slice number = slice_of(dir.p, end ? (size_t)(end - dir.p) : dir.n);
		uint64_t v;
		*part[i] = slice_u64(number, &v) && v <= INT64_MAX ? (int64_t)v : -1;
		dir = end ? slice_of(end + 1, dir.n - number.n - 1) : slice_of(NULL, 0);
	}
}

static struct fact_loc read_loc(struct facts *f, const struct json_tape *t, uint32_t k)
{
	struct fact_loc loc = facts_no_loc();
	loc.file = facts_intern(f, json_text(t, k, "file", &f->tmp));
	loc.line = json_index(t, k, "line", 0);
	loc.function = facts_intern(f, json_text(t, k, "function", &f->tmp));
	loc.code = facts_intern(f, json_text(t, k, "code", &f->tmp));
	return loc;
}

static uint32_t read_lines(struct facts *f, const struct json_tape *t, uint32_t list)
{
	LOCAL_BUF all = {0};
	json_each(t, list, k) {
		if (all.len)
			buf_addc(&all, '\n');
		buf_add_slice(&all, json_text_at(t, k, &f->tmp));
	}
	return facts_intern(f, buf_slice(&all));
}

static uint32_t read_word(const struct json_tape *t, uint32_t row, const struct field *x)
{
	struct slice word = json_word(t, row, x->name);
	const struct words *w = &words_of[x->type];
	for (uint32_t i = 0; i < w->n; i++)
		if (slice_is(word, w->word[i]))
			return i;
	return 0;
}

static uint64_t read_hex(struct slice s)
{
	uint64_t v = 0;
	for (size_t i = 0; i < s.n && i < 16; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, s.p[i]);
		v = v << 4 | (at && *at ? (uint64_t)(at - digits) : 0);
	}
	return v;
}

static void read_field(struct facts *f, const struct json_tape *t, uint32_t row, const struct field *x, char *to)
{
	void *at = to + x->offset;
	uint32_t *u32 = at;
	switch (x->type) {
	case FIELD_TEXT: *u32 = facts_intern(f, json_text(t, row, x->name, &f->tmp)); return;
	case FIELD_LINES: *u32 = read_lines(f, t, json_get(t, row, x->name)); return;
	case FIELD_LOC: *(struct fact_loc *)at = read_loc(f, t, json_get(t, row, x->name)); return;
	case FIELD_SRC:
		*(struct fact_src *)at = (struct fact_src){
		    json_index(t, row, "input", 0), json_index(t, row, "attempt", NONE),      json_index(t, row, "artifact", NONE),
		    json_count(t, row, "line", 0),  json_count(t, row, "offset", UINT64_MAX),
		};
		return;
	case FIELD_INDEX: *u32 = json_index(t, row, x->name, NONE); return;
	case FIELD_U32:
	case FIELD_SIGNAL:
	case FIELD_POSITIVE: *u32 = json_index(t, row, x->name, 0); return;
	case FIELD_U64: *(uint64_t *)at = json_count(t, row, x->name, 0); return;
	case FIELD_COUNT: *(int64_t *)at = json_int(t, row, x->name, -1); return;
	case FIELD_SECONDS: *(double *)at = json_number(t, row, x->name, -1); return;
	case FIELD_BOOL: *(bool *)at = json_flag(t, row, x->name); return;
	case FIELD_GB: {
		struct slice gb = json_word(t, row, x->name);
		uint64_t v;
		*(int32_t *)at = gb.n > 2 && slice_u64(slice_of(gb.p + 2, gb.n - 2), &v) && v < 1000000 ? (int32_t)v : -1;
		return;
	}
	case FIELD_DIR: read_dir(json_word(t, row, x->name), at); return;
	case FIELD_HEX: *(uint64_t *)at = read_hex(json_word(t, row, x->name)); return;
	default: *u32 = read_word(t, row, x); return;
	}
}

/* Reads rows into an empty table; members missing in the document are unknown. */
static void read_table(struct facts *f, const struct json_tape *t, uint32_t root, const struct table *x)
{
	uint32_t list = json_get(t, root, x->name), n = json_length(t, list), *count = (uint32_t *)(void *)((char *)f + x->count);
	char **rows = (char **)(void *)((char *)f + x->rows), *to = xcalloc(n + 1u, x->size);
	free(*rows);
	*rows = to;
	count[0] = n;
	count[1] = n + 1; /* the table's cap follows its n */
	json_each(t, list, k) {
		memcpy(to, x->unknown, x->size);
		for (unsigned i = 0; i < x->fields; i++)
			if (x->field[i].name)
				read_field(f, t, k, &x->field[i], to);
		to += x->size;
	}
}

/* Every row that a row refers to must exist. */
static bool leads_somewhere(const struct facts *f)
{
	bool good = true;
#define X(table, type) \
	for (uint32_t i = 0; i < f->n_##table; i++) { \
		const struct type *x = &f->table[i]; \
		good &= x->src.input < f->n_input && (x->src.attempt == NONE || x->src.attempt < f->n_attempt) && \
			(x->compile == NONE || x->compile < f->n_compile); \
	}
	FACT_TABLES(X)
#undef X
	for (uint32_t i = 0; i < f->n_failure; i++)
		good &= f->failure[i].cause == NONE || f->failure[i].cause < f->n_failure;
	for (uint32_t i = 0; i < f->n_compile; i++)
		good &= f->compile[i].src.input < f->n_input;
	for (uint32_t i = 0; i < f->n_attempt; i++)
		good &= f->attempt[i].input < f->n_input && (f->attempt[i].compile == NONE || f->attempt[i].compile < f->n_compile);
	for (uint32_t i = 0; i < f->n_damage; i++)
		good &= f->damage[i].input < f->n_input;
	for (uint32_t i = 0; i < f->n_unknown; i++)
		good &= f->unknown[i].input < f->n_input;
	return good;
}

int document_read(struct facts *f, const struct json_tape *t, uint32_t root, const char *name, struct err *err)
{
	read_table(f, t, root, &inputs_table);
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		read_table(f, t, root, &tables[i]);
	for (unsigned i = 0; i < ARRAY_LEN(rank_tables); i++)
		read_table(f, t, root, &rank_tables[i]);
	uint32_t summary = json_get(t, root, "summary");
	if (f->n_input == 1) {
		f->input[0].graphs = json_int(t, summary, "graphs", -1);
		f->input[0].artifacts = json_count(t, summary, "artifacts", 0);
		f->input[0].events = json_count(t, summary, "chromium_events", 0);
		f->input[0].unknown = json_count(t, summary, "unknown_keys", 0);
	}
	if (!leads_somewhere(f))
		return err_set(err, EXIT_INPUT, "'%s' was not written by --json: a row refers to a missing row", name);
	facts_frames(f);
	return 0;
}

int document_load(struct facts *f, const char *path, const char *tool, const char *list, struct err *err)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	struct mapfile m;
	uint32_t root;
	facts_init(f);
	if (mapfile_open(&m, path, err) < 0)
		return -1;
	int status = document_open(&t, m.bytes, path, tool, &root, err);
	if (status == 0 && (t.loose || !utf8_valid(m.bytes)))
		status = err_set(err, EXIT_INPUT, "'%s' is not strict JSON in UTF-8", path);
	if (status == 0 && list && !json_is(&t, json_get(&t, root, list), JSON_ARRAY))
		status = err_set(err, EXIT_INPUT, "'%s' is from another version, without \"%s\": recreate it with --json of this release",
				 path, list);
	if (status == 0)
		status = document_read(f, &t, root, path, err);
	if (status == 0 && !f->n_input)
		status = err_set(err, EXIT_INPUT, "'%s' has no inputs", path);
	if (status < 0)
		facts_release(f);
	mapfile_close(&m);
	return status;
}

bool document_is_there(const char *path)
{
	char head[64];
	struct slice s = strcmp(path, "-") ? slice_trim(slice_of(head, input_head(path, head, sizeof(head)))) : slice_of(NULL, 0);
	return slice_starts(s, "{") && slice_find(s, "\"schema\"");
}
