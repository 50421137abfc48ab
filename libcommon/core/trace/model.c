/* model.c - phase 2: records, in order, into struct trace. Also what is asked of it afterwards. */
#include "trace/reduce.h"
#include "trace/text.h"
#include "trace/trace.h"

#define NIL UINT32_MAX

const char *const trace_damage_name[DAMAGE_COUNT] = {
#define X(id, name, text) name,
    TRACE_DAMAGE(X)
#undef X
};
const char *const trace_damage_text[DAMAGE_COUNT] = {
#define X(id, name, text) text,
    TRACE_DAMAGE(X)
#undef X
};
const char *const trace_cache_name[CACHE_COUNT] = {"fx_graph", "aotautograd", "fx_graph_bundled", "other"};

void trace_damage_add(struct trace_damage d[DAMAGE_COUNT], enum trace_damage_kind kind, uint64_t line)
{
	if (!d[kind].count++)
		d[kind].line = line;
}

bool trace_damaged(const struct trace *t)
{
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		if (t->damage[i].count)
			return true;
	return false;
}

void trace_init(struct trace *t, const char *path)
{
	*t = (struct trace){.path = path, .rank = -1, .torch_version = INTERN_NONE, .exported = NIL};
}

static void trie_release(struct trace_trie *trie)
{
	free(trie->node);
	free(trie->start);
	intern_release(&trie->edges);
}

void trace_release(struct trace *t)
{
	intern_release(&t->names);
	intern_release(&t->ids);
	intern_release(&t->frames);
	trie_release(&t->starts);
	trie_release(&t->stacks);
	trie_release(&t->export_stacks);
	intern_release(&t->expr_ids);
	arena_release(&t->links);
	provset_release(t);
	free(t->export);
	free(t->expr);
	free(t->expr_arg);
	free(t->expr_row);
	free(t->provenance);
	free(t->string);
	free(t->compile);
	free(t->artifact);
	free(t->brk);
	free(t->recompile);
	free(t->failure);
	free(t->symbol);
	free(t->special);
	free(t->skip);
	free(t->unknown);
	free(t->phase);
	free(t->frame);
	buf_release(&t->tmp);
	buf_release(&t->tmp2);
	json_tape_release(&t->tape);
	*t = (struct trace){0};
}

/* ---- compile ids ---- */

static size_t put_id(char *out, size_t at, int64_t v)
{
	return at + (size_t)(v < 0 ? snprintf(out + at, COMPILE_ID_TEXT - at, "-")
				   : snprintf(out + at, COMPILE_ID_TEXT - at, "%lld", (long long)v));
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

static uint32_t compile_of(struct trace *t, const struct trace_record *r, uint64_t line)
{
	uint32_t k = intern_add(&t->ids, slice_of((const char *)&r->id, sizeof(r->id)));
	if (k < t->n_compile)
		return k;
	GROW(t->compile, t->n_compile, t->cap_compile, 1);
	t->compile[t->n_compile++] = (struct trace_compile){
	    .id = r->id,
	    .line = line,
	    .first_artifact = NIL,
	    .last_artifact = NIL,
	    .loc = {INTERN_NONE, 0, INTERN_NONE, INTERN_NONE},
	    .seconds = -1,
	    .backend_seconds = -1,
	    .inductor_seconds = -1,
	    .code_gen_seconds = -1,
	    .ops = -1,
	    .nodes = -1,
	    .inputs = -1,
	    .guards = -1,
	    .cache_size = -1,
	    .stack = NIL,
	    .fail_type = INTERN_NONE,
	    .fail_reason = INTERN_NONE,
	};
	return k;
}

static bool same_compile(const struct compile_id *a, const struct compile_id *b)
{
	return a->autograd == b->autograd && a->frame == b->frame && a->compile == b->compile && a->bad_line == b->bad_line;
}

/* A break without a count of ops is one that only a later attempt tells (finish_status in read.c). */
static bool has_metrics(const struct trace_compile *c) { return c->status != STATUS_MISSING && !(c->status == STATUS_BREAK && c->ops < 0); }

const struct trace_compile *trace_find_compile(const struct trace *t, const char *text)
{
	const struct trace_compile *best = NULL;
	char a[COMPILE_ID_TEXT], b[COMPILE_ID_TEXT];
	struct slice want = slice_str(text);
	if (want.n > 2 && want.p[0] == '[' && want.p[want.n - 1] == ']')
		want = slice_of(want.p + 1, want.n - 2);
	for (uint32_t i = 0; i < t->n_compile; i++) {
		const struct trace_compile *c = &t->compile[i];
		if (slice_is(want, compile_id_dir(&c->id, b)) || (c->id.attempt > 0 && slice_is(want, compile_id_text(&c->id, a))))
			return c;
		struct compile_id first = c->id;
		first.attempt = 0;
		if (slice_is(want, compile_id_text(&first, a)) && (!best || has_metrics(c) || !has_metrics(best)))
			best = c;
	}
	return best;
}

/* ---- texts ---- */

static uint32_t name_of(struct trace *t, struct slice s) { return intern_add(&t->names, s); }

static uint32_t name_or_none(struct trace *t, struct slice s) { return s.n ? name_of(t, s) : INTERN_NONE; }

/* The text of a string token, unescaped, in t->tmp. */
static struct slice token_text(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	if (k == JSON_NONE || !json_is(tape, k, JSON_STRING))
		return slice_of("", 0);
	if (!tape->tok[k].escaped)
		return json_slice(tape, k);
	buf_reset(&t->tmp);
	json_unescape(tape, k, &t->tmp);
	return buf_slice(&t->tmp);
}

static uint32_t token_name(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	if (k == JSON_NONE || !json_is(tape, k, JSON_STRING))
		return INTERN_NONE;
	return name_of(t, token_text(t, tape, k));
}

/* A number keeps its text: values of symbols may be ints, floats or strings. */
static uint32_t scalar_name(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	if (k == JSON_NONE || json_is(tape, k, JSON_NULL))
		return INTERN_NONE;
	return json_is(tape, k, JSON_STRING) ? token_name(t, tape, k) : name_of(t, json_slice(tape, k));
}

static struct slice join_list(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	buf_reset(&t->tmp2);
	if (k != JSON_NONE && json_is(tape, k, JSON_ARRAY))
		for (uint32_t i = json_first(tape, k); i < json_end(tape, k); i = json_next(tape, i)) {
			if (t->tmp2.len)
				buf_addc(&t->tmp2, '\n');
			buf_add_slice(&t->tmp2, token_text(t, tape, i));
		}
	return buf_slice(&t->tmp2);
}

/* ---- stacks ---- */

enum { STRING_MAX = 1 << 20 };

static void take_string(struct trace *t, struct trace_scan *s, struct trace_record *r, uint64_t line)
{
	uint32_t v = trace_value(s, r, KIND_str);
	uint64_t i;
	if (!json_u64(&s->tape, v + 2, &i) || i >= STRING_MAX) {
		trace_damage_add(t->damage, DAMAGE_STRINGS, line);
		return;
	}
	GROW(t->string, t->n_string, t->cap_string, i >= t->n_string ? i - t->n_string + 1 : 0);
	while (t->n_string <= i)
		t->string[t->n_string++] = INTERN_NONE;
	t->string[i] = token_name(t, &s->tape, v + 1);
	t->any_string = true;
}

static uint32_t frame_of(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	struct trace_frame f = {INTERN_NONE, INTERN_NONE, INTERN_NONE, 0};
	uint32_t file = json_get(tape, k, "uninterned_filename");
	uint64_t i;
	int64_t line;
	if (file != JSON_NONE && json_is(tape, file, JSON_STRING))
		f.file = token_name(t, tape, file);
	else if (json_u64(tape, json_get(tape, k, "filename"), &i) && i < t->n_string)
		f.file = t->string[i];
	f.name = token_name(t, tape, json_get(tape, k, "name"));
	f.code = token_name(t, tape, json_get(tape, k, "loc"));
	if (json_i64(tape, json_get(tape, k, "line"), &line))
		f.line = (int32_t)line;
	uint32_t n = intern_add(&t->frames, slice_of((const char *)&f, sizeof(f)));
	if (n == t->n_frame) {
		GROW(t->frame, t->n_frame, t->cap_frame, 1);
		t->frame[t->n_frame++] = f;
	}
	return n;
}

static bool frame_is(const struct trace *t, uint32_t frame, const char *file, const char *name)
{
	return slice_ends(intern_get(&t->names, t->frame[frame].file), file) && slice_is(intern_get(&t->names, t->frame[frame].name), name);
}

/* Dynamo's own frames at the end of every dynamo_start stack say nothing about the program. */
static uint32_t without_convert_frame(const struct trace *t, const uint32_t *frame, uint32_t n)
{
	static const char file[] = "torch/_dynamo/convert_frame.py";
	static const char *const tails[2][3] = {{"catch_errors", "_convert_frame", "_convert_frame_assert"},
						{"__call__", "__call__", "__call__"}};
	for (unsigned i = 0; i < 2; i++)
		if (n >= 3 && frame_is(t, frame[n - 3], file, tails[i][0]) && frame_is(t, frame[n - 2], file, tails[i][1]) &&
		    frame_is(t, frame[n - 1], file, tails[i][2]))
			n -= 3;
	return n;
}

/* Put a stack into a trie; the node of its last frame, or NIL. */
static uint32_t trie_add(struct trace *t, struct trace_trie *trie, const struct json_tape *tape, uint32_t k, bool dynamo, uint32_t compile)
{
	uint32_t n = 0, parent = NIL;
	buf_reset(&t->tmp2);
	for (uint32_t i = json_first(tape, k); i < json_end(tape, k); i = json_next(tape, i), n++) {
		uint32_t f = frame_of(t, tape, i);
		buf_add(&t->tmp2, &f, sizeof(f));
	}
	const uint32_t *frame = (const uint32_t *)(void *)t->tmp2.p;
	if (dynamo)
		n = without_convert_frame(t, frame, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t edge[2] = {parent, frame[i]};
		uint32_t node = intern_add(&trie->edges, slice_of((const char *)edge, sizeof(edge)));
		if (node == trie->n) {
			GROW(trie->node, trie->n, trie->cap, 1);
			trie->node[trie->n++] = (struct trace_stack){parent, frame[i], NIL, NIL, NIL, NIL, NIL};
			if (parent != NIL) {
				struct trace_stack *up = &trie->node[parent];
				if (up->child == NIL)
					up->child = node;
				else
					trie->node[up->last_child].sibling = node;
				up->last_child = node;
			}
		}
		parent = node;
	}
	if (parent != NIL && compile != NIL) {
		GROW(trie->start, trie->n_start, trie->cap_start, 1);
		trie->start[trie->n_start] = (struct trace_start){compile, NIL};
		struct trace_stack *node = &trie->node[parent];
		if (node->first_start == NIL)
			node->first_start = trie->n_start;
		else
			trie->start[node->last_start].next = trie->n_start;
		node->last_start = trie->n_start++;
	}
	return parent;
}

/* The innermost frame of a user_stack that is in a file: where in the user's program it happened. */
static struct trace_loc user_loc(struct trace *t, const struct json_tape *tape, uint32_t value)
{
	struct trace_loc loc = {INTERN_NONE, 0, INTERN_NONE, INTERN_NONE};
	uint32_t stack = json_get(tape, value, "user_stack");
	bool in_file = false;
	if (stack == JSON_NONE || !json_is(tape, stack, JSON_ARRAY))
		return loc;
	for (uint32_t i = json_first(tape, stack); i < json_end(tape, stack); i = json_next(tape, i)) {
		if (!json_is(tape, i, JSON_OBJECT))
			continue;
		uint32_t k = frame_of(t, tape, i); /* may move t->frame */
		const struct trace_frame *f = &t->frame[k];
		bool made_up =
		    f->file == INTERN_NONE || slice_starts(intern_get(&t->names, f->file), "<"); /* <string>, <eval_with_key>.0 */
		if (made_up && in_file)
			continue;
		in_file |= !made_up;
		loc = (struct trace_loc){f->file, f->line > 0 ? (uint32_t)f->line : 0, f->name, f->code};
	}
	return loc;
}

/* ---- names of files ---- */

enum { COMPONENT_MAX = 200, PATH_LIMIT = 1000 };

/* A folder of such a name could be another record's file. */
static bool like_a_file(struct slice part) { return slice_ends(part, ".txt") || slice_ends(part, ".html") || slice_ends(part, ".json"); }

bool trace_safe_path(struct slice name, struct buf *out)
{
	bool changed = false;
	size_t start = out->len;
	while (name.n) {
		const char *slash = memchr(name.p, '/', name.n);
		struct slice part = slice_of(name.p, slash ? (size_t)(slash - name.p) : name.n);
		name = slice_of(name.p + part.n + (slash != NULL), name.n - part.n - (slash != NULL));
		if (!part.n || slice_is(part, ".")) {
			changed |= out->len == start || part.n; /* absolute, or "./" */
			continue;
		}
		if (out->len - start + part.n > PATH_LIMIT && out->len > start) {
			buf_addf(out, "/~%016llx", (unsigned long long)hash_bytes(part.p, (size_t)(name.p + name.n - part.p)));
			return true;
		}
		if (out->len > start)
			buf_addc(out, '/');
		if (slice_is(part, "..")) {
			changed = true;
			buf_addc(out, '_');
			continue;
		}
		size_t n = part.n;
		if (n > COMPONENT_MAX) {
			changed = true;
			for (n = COMPONENT_MAX - 17; n > 1 && ((unsigned char)part.p[n] & 0xc0) == 0x80; n--)
				;
		}
		for (size_t i = 0, len; i < n; i += len) {
			size_t drives = text_drives(part.p + i, part.n - i);
			len = drives ? drives : utf8_len(part.p + i, part.n - i);
			len = len && len <= n - i ? len : 1;
			changed |= drives > 0;
			if (drives)
				buf_addc(out, '_');
			else
				buf_add(out, part.p + i, len);
		}
		if (n < part.n)
			buf_addf(out, "~%016llx", (unsigned long long)hash_bytes(part.p, part.n));
		else if (slash && like_a_file(part)) {
			changed = true;
			buf_addc(out, '_');
		}
	}
	if (out->len == start) {
		changed = true;
		buf_addc(out, '_');
	}
	return changed;
}

/* The last component of a path without its last extension (Rust's Path::file_stem). */
static struct slice file_stem(struct slice path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	const char *slash = path.p && path.n ? memrchr(path.p, '/', path.n) : NULL;
	if (slash)
		path = slice_of(slash + 1, (size_t)(path.p + path.n - slash - 1));
	if (slice_is(path, ".."))
		return slice_of("", 0);
	const char *dot = path.p && path.n ? memrchr(path.p, '.', path.n) : NULL;
	return dot && dot > path.p ? slice_of(path.p, (size_t)(dot - path.p)) : path;
}

/* eval_with_key: "<eval_with_key>.12" and whatever is around it is shown as eval_with_key_12. */
static bool eval_with_key(struct slice name, uint64_t *id)
{
	const char *p = slice_find(name, "<eval_with_key>.");
	if (!p)
		return false;
	p += 16;
	size_t n = 0;
	while (p + n < name.p + name.n && p[n] >= '0' && p[n] <= '9')
		n++;
	return slice_u64(slice_of(p, n), id);
}

void trace_artifact_path(const struct trace *t, const struct trace_artifact *a, bool readable, struct buf *out)
{
	struct compile_id id = t->compile[a->compile].id;
	char dir[COMPILE_ID_TEXT];
	if (a->flags & ART_GLOBAL) {
		buf_adds(out, "dump_file");
	} else if (id.bad_line) {
		buf_addf(out, "unknown_%llu", (unsigned long long)a->line);
	} else {
		if (a->flags & ART_NO_ATTEMPT)
			id.attempt = -1;
		buf_adds(out, compile_id_dir(&id, dir));
	}
	buf_addc(out, '/');
	trace_safe_path(intern_get(&t->names, a->name), out);
	if (!(a->flags & (ART_GLOBAL | ART_UNLISTED)))
		buf_addf(out, "_%u", a->number);
	if (readable)
		buf_adds(out, "_readable.html");
	else
		buf_adds(out, a->flags & ART_HTML ? ".html" : a->flags & ART_JSON ? ".json" : ".txt");
}

/* ---- artifacts ---- */

/* Microseconds since the log's first record; 0 where threads wrote in another order. A year has 365 days here. */
static uint64_t since_start(const struct trace *t, const struct trace_record *r)
{
	static const int16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	const unsigned month[2] = {t->first_day / 100u, r->month_day / 100u};
	int days = 0;
	if (month[0] - 1 < 12 && month[1] - 1 < 12)
		days = before[month[1] - 1] + r->month_day % 100 - before[month[0] - 1] - t->first_day % 100;
	if (days < -182)
		days += 365; /* past New Year */
	uint64_t now = r->usec + (days > 0 ? (uint64_t)days * 86400000000ull : 0);
	return days < 0 || now < t->first_usec ? 0 : now - t->first_usec;
}

static struct trace_artifact *add_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind,
					   struct slice name, enum trace_lang lang, unsigned flags)
{
	struct trace_compile *c = &t->compile[r->compile];
	uint64_t line = s->first_line + r->line;
	GROW(t->artifact, t->n_artifact, t->cap_artifact, 1);
	uint32_t k = t->n_artifact++;
	if (!r->artifacts++)
		r->first_artifact = k;
	if (c->first_artifact == NIL)
		c->first_artifact = k;
	else
		t->artifact[c->last_artifact].next = k;
	c->last_artifact = k;
	c->artifacts++;
	if (r->flags & REC_NO_ATTEMPT)
		flags |= ART_NO_ATTEMPT;
	struct trace_artifact *a = &t->artifact[k];
	*a = (struct trace_artifact){
	    .compile = r->compile,
	    .name = name_of(t, name),
	    .number = flags & ART_UNLISTED ? NIL : t->number++,
	    .size = flags & ART_NO_PAYLOAD ? 0 : r->payload_len,
	    .line = line,
	    .kind = kind,
	    .lang = lang,
	    .nodes = r->nodes,
	    .seconds = (float)((double)since_start(t, r) / 1e6),
	    .next = NIL,
	    .block = NIL,
	    .extra = NIL,
	};
	if (!(flags & ART_LINK)) {
		if (slice_find(name, "cache_miss"))
			flags |= ART_MISS;
		else if (slice_find(name, "cache_hit"))
			flags |= ART_HIT;
		else if (slice_find(name, "cache_bypass"))
			flags |= ART_BYPASS;
		buf_reset(&t->tmp2);
		if (trace_safe_path(name, &t->tmp2))
			trace_damage_add(t->damage, DAMAGE_NAME, line);
	}
	a->flags = flags & 0xfff;
	return a;
}

static void count_cache(struct trace *t, const struct trace_artifact *a)
{
	struct slice n = intern_get(&t->names, a->name);
	int what = a->flags & ART_HIT ? 0 : a->flags & ART_MISS ? 1 : a->flags & ART_BYPASS ? 2 : -1;
	if (what < 0)
		return;
	enum trace_cache c = slice_starts(n, "fx_graph_cache_")      ? CACHE_FX_GRAPH
			     : slice_starts(n, "aotautograd_cache_") ? CACHE_AOTAUTOGRAD
			     : slice_starts(n, "fx_graph_bundled_")  ? CACHE_FX_BUNDLED
								     : CACHE_OTHER;
	t->cache[c][what]++;
}

static struct trace_loc loc_of(struct trace *t, const struct srcloc *at)
{
	return (struct trace_loc){name_or_none(t, at->file), at->line, name_or_none(t, at->func), name_or_none(t, at->code)};
}

static void add_break(struct trace *t, const struct break_text *b, uint32_t compile, uint32_t artifact, uint64_t line)
{
	buf_reset(&t->tmp2);
	for (unsigned i = 0; i < b->hints; i++) {
		if (i)
			buf_addc(&t->tmp2, '\n');
		for (size_t j = 0; j < b->hint[i].n; j++)
			buf_addc(&t->tmp2, b->hint[i].p[j] == '\n' ? ' ' : b->hint[i].p[j]);
	}
	GROW(t->brk, t->n_brk, t->cap_brk, 1);
	t->brk[t->n_brk++] = (struct trace_break){
	    .compile = compile,
	    .artifact = artifact,
	    .line = line,
	    .loc = loc_of(t, &b->at),
	    .reason = name_of(t, b->reason),
	    .explanation = name_or_none(t, b->explanation),
	    .hints = name_or_none(t, buf_slice(&t->tmp2)),
	    .context = name_or_none(t, b->context),
	    .url = name_or_none(t, b->url),
	    .gb = b->gb,
	};
	t->compile[compile].breaks++;
}

/* One text, or a JSON list of texts when several compiled versions rejected the call. */
static void add_recompile(struct trace *t, struct slice payload, uint32_t compile, uint32_t artifact, uint64_t line)
{
	struct slice first = payload, all = payload;
	struct json_tape *tape = &t->tape;
	uint32_t root;
	struct buf copy = {0};
	json_tape_text(tape, payload.p, payload.n);
	if (payload.n && payload.p[0] == '[' && !json_parse(tape, 0, payload.n, &root) && json_end(tape, root) > root + 1) {
		buf_add_slice(&copy, token_text(t, tape, root + 1));
		first = buf_slice(&copy);
		all = join_list(t, tape, root);
	} else if (payload.n && payload.p[0] == '"' && !json_parse(tape, 0, payload.n, &root)) {
		buf_add_slice(&copy, token_text(t, tape, root));
		first = all = buf_slice(&copy);
	}
	struct recompile_text x;
	uint32_t all_name = name_of(t, all);
	recompile_text_parse(first, &x);
	GROW(t->recompile, t->n_recompile, t->cap_recompile, 1);
	t->recompile[t->n_recompile++] = (struct trace_recompile){
	    .compile = compile,
	    .artifact = artifact,
	    .line = line,
	    .loc = loc_of(t, &x.at),
	    .reason = name_of(t, first),
	    .guard = name_or_none(t, x.guard),
	    .old = name_or_none(t, x.old),
	    .new = name_or_none(t, x.new),
	    .all = all_name,
	};
	buf_release(&copy);
}

static void take_torch_version(struct trace *t, struct slice payload)
{
	uint32_t root;
	json_tape_text(&t->tape, payload.p, payload.n);
	if (t->torch_version == INTERN_NONE && !json_parse(&t->tape, 0, payload.n, &root))
		t->torch_version = token_name(t, &t->tape, json_get(&t->tape, root, "pytorch_version"));
}

static void take_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	uint32_t v = trace_value(s, r, KIND_artifact);
	uint64_t line = s->first_line + r->line;
	struct slice encoding = json_slice(&s->tape, json_get(&s->tape, v, "encoding")), payload = trace_payload(s, r);
	bool json = slice_is(encoding, "json");
	if (!json && !slice_is(encoding, "string")) {
		trace_damage_add(t->damage, DAMAGE_ENCODING, line);
		return;
	}
	buf_reset(&t->tmp);
	json_unescape(&s->tape, json_get(&s->tape, v, "name"), &t->tmp);
	struct slice name = intern_get(&t->names, name_of(t, buf_slice(&t->tmp)));
	unsigned flags = json ? ART_JSON : 0;
	if (json && slice_starts(name, "inductor_provenance_tracking_kernel_stack_traces")) {
		uint32_t root;
		json_tape_text(&t->tape, payload.p, payload.n);
		if (!json_parse(&t->tape, 0, payload.n, &root) && !t->tape.loose)
			flags |= ART_READABLE;
	}
	enum trace_lang lang = json ? LANG_JSON : slice_is(name, "fx_graph_runnable") ? LANG_PY : LANG_TEXT;
	struct trace_artifact *a = add_artifact(t, s, r, KIND_artifact, name, lang, flags);
	uint32_t index = (uint32_t)(a - t->artifact);
	count_cache(t, a);
	if (flags & ART_READABLE)
		t->number++;
	if (slice_is(name, "dynamo_graph_break_reason")) {
		struct break_text b;
		break_text_parse(payload, &b);
		add_break(t, &b, r->compile, index, line);
	} else if (slice_is(name, "recompile_reasons")) {
		add_recompile(t, payload, r->compile, index, line);
	} else if (slice_is(name, "torch_version")) {
		take_torch_version(t, payload);
	}
}

/* ---- metrics ---- */

static double number_of(const struct json_tape *tape, uint32_t v, const char *key, double scale)
{
	double d;
	return json_double(tape, json_get(tape, v, key), &d) ? d * scale : -1;
}

static int64_t count_of(const struct json_tape *tape, uint32_t v, const char *key)
{
	int64_t n;
	return json_i64(tape, json_get(tape, v, key), &n) ? n : -1;
}

static void add_phase(struct trace *t, struct slice name, double seconds)
{
	uint32_t n = name_of(t, name), i = 0;
	while (i < t->n_phase && t->phase[i].name != n)
		i++;
	if (i == t->n_phase) {
		GROW(t->phase, t->n_phase, t->cap_phase, 1);
		t->phase[t->n_phase++] = (struct trace_phase){n, 0};
	}
	t->phase[i].seconds += seconds;
}

/* Durations: every *_us but the points in time; logs before torch 2.6 have only the *_time_s. */
static void take_phases(struct trace *t, const struct json_tape *tape, uint32_t v)
{
	bool us = json_get(tape, v, "duration_us") != JSON_NONE;
	for (uint32_t k = json_first(tape, v); k < json_end(tape, v); k = json_next_pair(tape, k)) {
		struct slice key = json_slice(tape, k);
		double d;
		if (!(us ? slice_ends(key, "_us") : slice_ends(key, "_time_s")) || slice_is(key, "duration_us") ||
		    slice_starts(key, "start_time") || slice_starts(key, "end_time") || !json_double(tape, k + 1, &d) || d <= 0)
			continue;
		add_phase(t, key, us ? d / 1e6 : d);
	}
}

static void take_version(struct trace *t, const struct json_tape *tape, uint32_t v)
{
	if (t->torch_version == INTERN_NONE)
		t->torch_version = token_name(t, tape, json_get(tape, v, "pytorch_version"));
}

static void add_failure(struct trace *t, uint32_t compile, uint32_t metrics, uint64_t line, struct trace_loc loc, uint32_t type,
			uint32_t reason)
{
	GROW(t->failure, t->n_failure, t->cap_failure, 1);
	t->failure[t->n_failure++] = (struct trace_failure){compile, metrics, line, loc, type, reason};
}

/* A restart reason is a graph break that an artifact of the same compile id has told already, one that nothing else
 * tells, or no graph break at all. */
static void restart_break(struct trace *t, struct slice reason, uint32_t compile, uint64_t line)
{
	struct break_text b;
	break_text_parse(reason, &b);
	if (!break_text_is_break(&b))
		return;
	for (uint32_t i = t->n_brk; i-- > 0;) {
		const struct trace_break *x = &t->brk[i];
		if (!same_compile(&t->compile[x->compile].id, &t->compile[compile].id)) {
			if (t->n_brk - i > 256)
				break;
			continue;
		}
		if (slice_eq(intern_get(&t->names, x->reason), b.reason))
			return;
	}
	add_break(t, &b, compile, NIL, line);
}

static void take_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, KIND_compilation_metrics), k;
	uint64_t line = s->first_line + r->line;
	add_artifact(t, s, r, KIND_compilation_metrics, SLICE("compilation_metrics"), LANG_TEXT, ART_HTML | ART_NO_PAYLOAD);
	uint32_t number = t->number - 1;
	take_version(t, tape, v);
	take_phases(t, tape, v);
	struct trace_compile *c = &t->compile[r->compile];
	c->seconds = number_of(tape, v, "entire_frame_compile_time_s", 1);
	if (c->seconds < 0)
		c->seconds = number_of(tape, v, "duration_us", 1e-6);
	if (c->seconds > 0)
		t->compile_seconds += c->seconds;
	c->backend_seconds = number_of(tape, v, "backend_compile_time_s", 1);
	c->inductor_seconds = number_of(tape, v, "inductor_compile_time_s", 1);
	c->code_gen_seconds = number_of(tape, v, "code_gen_time_s", 1);
	c->ops = count_of(tape, v, "graph_op_count");
	c->nodes = count_of(tape, v, "graph_node_count");
	c->inputs = count_of(tape, v, "graph_input_count");
	c->guards = count_of(tape, v, "guard_count");
	c->cache_size = count_of(tape, v, "cache_size");
	int64_t first = count_of(tape, v, "co_firstlineno");
	c->loc.file = token_name(t, tape, json_get(tape, v, "co_filename"));
	c->loc.function = token_name(t, tape, json_get(tape, v, "co_name"));
	c->loc.line = first > 0 ? (uint32_t)first : 0;
	uint32_t restarts = json_get(tape, v, "restart_reasons");
	bool restarted = restarts == JSON_NONE || !json_is(tape, restarts, JSON_ARRAY) || json_end(tape, restarts) > restarts + 1;
	if (restarts != JSON_NONE && json_is(tape, restarts, JSON_ARRAY))
		for (k = json_first(tape, restarts); k < json_end(tape, restarts); k = json_next(tape, k)) {
			uint32_t reason = token_name(t, tape, k);
			add_failure(t, r->compile, number, line, (struct trace_loc){INTERN_NONE, 0, INTERN_NONE, INTERN_NONE}, INTERN_NONE,
				    reason);
			restart_break(t, intern_get(&t->names, reason), r->compile, line);
		}
	c = &t->compile[r->compile];
	uint32_t type = token_name(t, tape, json_get(tape, v, "fail_type"));
	if (type != INTERN_NONE) {
		int64_t at = count_of(tape, v, "fail_user_frame_lineno");
		struct trace_loc loc = {token_name(t, tape, json_get(tape, v, "fail_user_frame_filename")), at > 0 ? (uint32_t)at : 0,
					INTERN_NONE, INTERN_NONE};
		c->fail_type = type;
		c->fail_reason = token_name(t, tape, json_get(tape, v, "fail_reason"));
		add_failure(t, r->compile, number, line, loc, type, c->fail_reason);
		c->status = STATUS_ERROR;
	} else if (c->ops <= 0) {
		c->status = STATUS_EMPTY;
	} else {
		c->status = restarted || c->breaks ? STATUS_BREAK : STATUS_OK;
	}
	uint32_t skip = token_name(t, tape, json_get(tape, v, "cudagraph_skip_reason"));
	if (skip != INTERN_NONE) {
		GROW(t->skip, t->n_skip, t->cap_skip, 1);
		t->skip[t->n_skip++] = (struct trace_skip){r->compile, skip};
	}
}

static void take_bwd_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind)
{
	uint32_t v = trace_value(s, r, kind);
	add_artifact(t, s, r, kind, slice_of(trace_kind[kind].name, trace_kind[kind].name_len), LANG_TEXT, ART_HTML | ART_NO_PAYLOAD);
	take_version(t, &s->tape, v);
	take_phases(t, &s->tape, v);
	double d = number_of(&s->tape, v, "inductor_compile_time_s", 1);
	if (d > 0)
		t->compile_seconds += d;
}

/* ---- symbols ---- */

static void take_symbol(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, kind);
	if (!json_is(tape, v, JSON_OBJECT))
		return;
	GROW(t->symbol, t->n_symbol, t->cap_symbol, 1);
	t->symbol[t->n_symbol++] = (struct trace_symbol){
	    .compile = r->compile,
	    .line = s->first_line + r->line,
	    .loc = user_loc(t, tape, v),
	    .symbol = scalar_name(t, tape, json_get(tape, v, "symbol")),
	    .value = scalar_name(t, tape, json_get(tape, v, "val")),
	    .range = scalar_name(t, tape, json_get(tape, v, "vr")),
	    .source = scalar_name(t, tape, json_get(tape, v, "source")),
	    .unbacked = kind == KIND_create_unbacked_symbol,
	};
}

static void take_specialization(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, KIND_symbolic_shape_specialization);
	uint32_t sources = name_or_none(t, join_list(t, tape, json_get(tape, v, "sources")));
	GROW(t->special, t->n_special, t->cap_special, 1);
	t->special[t->n_special++] = (struct trace_special){
	    .compile = r->compile,
	    .line = s->first_line + r->line,
	    .loc = user_loc(t, tape, v),
	    .symbol = scalar_name(t, tape, json_get(tape, v, "symbol")),
	    .value = scalar_name(t, tape, json_get(tape, v, "value")),
	    .sources = sources,
	    .reason = scalar_name(t, tape, json_get(tape, v, "reason")),
	};
}

/* ---- records ---- */

static void take_unknown(struct trace *t, struct trace_scan *s, struct trace_record *r, uint64_t line)
{
	for (uint32_t k = json_first(&s->tape, r->root); k < json_end(&s->tape, r->root); k = json_next_pair(&s->tape, k)) {
		struct slice key = json_slice(&s->tape, k);
		if (trace_kind_of(key) != KIND_COUNT || trace_is_context(key))
			continue;
		uint32_t n = name_of(t, key), i = 0;
		while (i < t->n_unknown && t->unknown[i].key != n)
			i++;
		if (i == t->n_unknown) {
			if (t->n_unknown >= 1000) /* a hostile log; the count of records still says how many there are */
				return;
			GROW(t->unknown, t->n_unknown, t->cap_unknown, 1);
			t->unknown[t->n_unknown++] = (struct trace_unknown){n, 0, line};
		}
		t->unknown[i].count++;
	}
}

static void take_kind(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind)
{
	const struct json_tape *tape = &s->tape;
	const struct trace_kind_info *info = &trace_kind[kind];
	struct slice name = slice_of(info->name, info->name_len);
	uint32_t v = trace_value(s, r, kind);

	if (t->export_only && info->form != FORM_NONE)
		return;
	switch ((enum trace_form)info->form) {
	case FORM_PAYLOAD:
		add_artifact(t, s, r, kind, name, LANG_TEXT, 0);
		if (kind == KIND_dynamo_output_graph)
			t->graphs++;
		return;
	case FORM_GRAPH_DUMP:
	case FORM_DDP_CHILD: {
		buf_reset(&t->tmp);
		if (info->form == FORM_DDP_CHILD)
			buf_adds(&t->tmp, "optimize_ddp_split_child_");
		json_unescape(tape, json_get(tape, v, "name"), &t->tmp);
		struct slice type = info->form == FORM_GRAPH_DUMP ? json_slice(tape, json_get(tape, v, "name")) : slice_of("", 0);
		bool cpp = slice_ends(type, "_wrapper_code") || slice_ends(type, "_kernel_code") || slice_ends(type, "_header_code");
		add_artifact(t, s, r, kind, buf_slice(&t->tmp), cpp ? LANG_CPP : LANG_TEXT, 0);
		return;
	}
	case FORM_GUARDS:
		if (r->flags & REC_GUARDS_BAD)
			trace_damage_add(t->damage, DAMAGE_GUARDS, s->first_line + r->line);
		else
			add_artifact(t, s, r, kind, name, LANG_JSON, ART_HTML);
		return;
	case FORM_CODE: {
		uint32_t file = json_get(tape, v, "filename");
		buf_reset(&t->tmp2);
		if (file != JSON_NONE && json_is(tape, file, JSON_STRING)) {
			struct slice stem = file_stem(token_text(t, tape, file));
			if (stem.n) {
				buf_addc(&t->tmp2, '_');
				buf_add_slice(&t->tmp2, stem);
			}
		}
		buf_reset(&t->tmp);
		buf_adds(&t->tmp, "inductor_output_code");
		buf_add_slice(&t->tmp, buf_slice(&t->tmp2));
		add_artifact(t, s, r, kind, buf_slice(&t->tmp), LANG_PY, t->plain_text ? 0 : ART_HTML);
		return;
	}
	case FORM_BWD_PAGE: take_bwd_metrics(t, s, r, kind); return;
	case FORM_LINK: {
		buf_reset(&t->tmp);
		json_unescape(tape, json_get(tape, v, "name"), &t->tmp);
		struct trace_artifact *a = add_artifact(t, s, r, kind, buf_slice(&t->tmp), LANG_TEXT, ART_LINK | ART_NO_PAYLOAD);
		uint32_t index = (uint32_t)(a - t->artifact);
		uint32_t url = token_name(t, tape, json_get(tape, v, "url"));
		t->artifact[index].extra = url;
		return;
	}
	case FORM_ARTIFACT: take_artifact(t, s, r); return;
	case FORM_DUMP_FILE: {
		uint64_t id;
		buf_reset(&t->tmp2);
		json_unescape(tape, json_get(tape, v, "name"), &t->tmp2);
		struct slice raw = buf_slice(&t->tmp2);
		buf_reset(&t->tmp);
		if (eval_with_key(raw, &id))
			buf_addf(&t->tmp, "eval_with_key_%llu", (unsigned long long)id);
		else
			buf_add_slice(&t->tmp, raw);
		add_artifact(t, s, r, kind, buf_slice(&t->tmp), LANG_PY, ART_HTML | ART_GLOBAL);
		return;
	}
	case FORM_METRICS: take_metrics(t, s, r); return;
	case FORM_NONE: break;
	}
	switch (kind) {
	case KIND_dynamo_start: {
		uint32_t stack = json_get(tape, v, "stack");
		if (stack != JSON_NONE && json_is(tape, stack, JSON_ARRAY))
			t->compile[r->compile].stack = trie_add(t, &t->starts, tape, stack, true, r->compile);
		return;
	}
	case KIND_chromium_event: t->events++; return;
	case KIND_create_unbacked_symbol: export_record(t, s, r, kind); /* fall through */
	case KIND_create_symbol: take_symbol(t, s, r, kind); return;
	case KIND_expression_created:
	case KIND_guard_added:
	case KIND_propagate_real_tensors_provenance:
	case KIND_guard_on_data_dependent_error:
	case KIND_missing_fake_kernel:
	case KIND_mismatched_fake_kernel:
	case KIND_exported_program: export_record(t, s, r, kind); return;
	case KIND_symbolic_shape_specialization: take_specialization(t, s, r); return;
	case KIND_compilation_metrics_runtime:
	case KIND_bwd_compilation_metrics_runtime:
		if (json_is(tape, v, JSON_OBJECT))
			take_phases(t, tape, v);
		return;
	default: return;
	}
}

/* ---- for the other files of phase 2 (reduce.h) ---- */

uint32_t reduce_scalar(struct trace *t, const struct json_tape *tape, uint32_t k) { return scalar_name(t, tape, k); }

uint32_t reduce_lines(struct trace *t, const struct json_tape *tape, uint32_t k) { return name_or_none(t, join_list(t, tape, k)); }

uint32_t reduce_stack(struct trace *t, struct trace_trie *trie, const struct json_tape *tape, uint32_t k)
{
	return k == JSON_NONE || !json_is(tape, k, JSON_ARRAY) ? NIL : trie_add(t, trie, tape, k, false, NIL);
}

struct trace_artifact *reduce_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind,
				       struct slice name, enum trace_lang lang, unsigned flags)
{
	return add_artifact(t, s, r, kind, name, lang, flags);
}

/* What a process says of itself before it has a rank may come after records that have one. */
static void take_rankless(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	uint32_t name = json_get(&s->tape, trace_value(s, r, KIND_artifact), "name");
	if (name != JSON_NONE && slice_is(json_slice(&s->tape, name), "torch_version"))
		take_torch_version(t, trace_payload(s, r));
}

static void reduce_record(struct trace *t, struct trace_scan *s, struct trace_record *r)
{
	uint64_t line = s->first_line + r->line;
	r->artifacts = 0;
	r->compile = NIL;
	if (r->flags & REC_NO_PREFIX) {
		struct trace_damage *d = &t->damage[r->flags & REC_ORPHAN ? DAMAGE_ORPHAN : DAMAGE_PREFIX];
		uint32_t n = r->payload_lines - (r->flags & REC_LAST ? 1 : 0); /* only the last line of them is cut short */
		if (n && !d->count)
			d->line = line;
		d->count += n;
		if (r->flags & REC_LAST)
			trace_damage_add(t->damage, DAMAGE_TRUNCATED, line + n);
		return;
	}
	if (r->flags & REC_NOT_UTF8)
		trace_damage_add(t->damage, DAMAGE_UTF8, line);
	if (r->flags & REC_NO_JSON) {
		trace_damage_add(t->damage, r->flags & REC_LAST ? DAMAGE_TRUNCATED : DAMAGE_JSON, line);
		return;
	}
	t->records++;
	t->payload_bytes += r->payload_len;
	if (t->records == 1) {
		t->first_usec = r->usec;
		t->first_day = r->month_day;
		t->pid = r->thread;
	}
	uint64_t now = t->first_usec + since_start(t, r);
	if (now > t->last_usec)
		t->last_usec = now;
	if (r->flags & REC_MD5_BAD)
		trace_damage_add(t->damage, r->flags & REC_LAST ? DAMAGE_TRUNCATED : DAMAGE_MD5, line);
	if (r->flags & REC_UNKNOWN)
		take_unknown(t, s, r, line);
	if (r->flags & REC_RESERVED)
		trace_damage_add(t->damage, DAMAGE_RESERVED, line);
	if (r->flags & (REC_MALFORMED | REC_LOOSE)) {
		trace_damage_add(t->damage, DAMAGE_MALFORMED, line);
		r->compile = intern_find(&t->ids, slice_of((const char *)&r->id, sizeof(r->id)));
		return;
	}
	if (r->kinds >> KIND_str & 1) {
		take_string(t, s, r, line);
		return;
	}
	if (t->rank < 0) {
		t->rank = r->rank;
	} else if (r->rank != t->rank) {
		/* The Rust tlparse numbers no record of another rank or of none, once a rank is known; so do we. */
		r->flags |= REC_OTHER_RANK;
		if (r->rank >= 0)
			trace_damage_add(t->damage, DAMAGE_RANK, line);
		else
			take_rankless(t, s, r);
		return;
	}
	r->compile = compile_of(t, r, line);
	for (uint64_t k = r->kinds; k; k &= k - 1)
		take_kind(t, s, r, (enum trace_kind)__builtin_ctzll(k));
	provset_record(t, s, r);
	if (r->stack != JSON_NONE)
		trie_add(t, &t->stacks, &s->tape, r->stack, false, NIL);
}

int trace_reduce_window(struct trace *t, struct trace_scan *s, const struct trace_hooks *hooks)
{
	s->first_line = t->lines + 1;
	for (uint32_t i = 0; i < s->n; i++) {
		reduce_record(t, s, &s->rec[i]);
		if (hooks && hooks->record && hooks->record(hooks->ctx, s, &s->rec[i]) < 0)
			return -1;
	}
	t->lines += s->lines;
	t->bytes += s->window.len;
	return hooks && hooks->window ? hooks->window(hooks->ctx, s) : 0;
}
