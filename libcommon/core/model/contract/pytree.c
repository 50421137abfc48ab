#include "model/contract/pytree.h"
#include "base/json.h"

#define MAX_PATH_BYTES 16384
#define MAX_ALL_BYTES (64u << 20)
#define MAX_SPEC_BYTES (256u << 20)

/* An inner node on the way to the current leaf. */
struct node {
	uint32_t child, end; /* tokens of children_spec */
	uint32_t index, n;
	size_t path;  /* length of the node's own path */
	size_t *part; /* n + 1 offsets into `parts`: "[0]", ".x"; NULL: by position */
	char *parts;
};

struct walk {
	struct json_tape tape, context;
	struct buf text, path, parts;
	struct node *stack;
	uint32_t depth, cap_depth;
	struct arena *arena;
	struct slice *paths;
	uint32_t n, cap;
	size_t bytes;
	bool call;
	struct err *err;
};

static int bad(struct walk *w, const char *what) { return err_set(w->err, EXIT_INPUT, "pytree spec: %s", what); }

/* ---- names of a node's children ---- */

static void add_key(struct buf *b, const struct json_tape *t, uint32_t k)
{
	buf_addc(b, '[');
	if (json_is(t, k, JSON_TRUE))
		buf_adds(b, "True");
	else if (json_is(t, k, JSON_FALSE))
		buf_adds(b, "False");
	else if (json_is(t, k, JSON_NULL))
		buf_adds(b, "None");
	else
		buf_add_slice(b, json_raw(t, k));
	buf_addc(b, ']');
}

static uint32_t count(const struct json_tape *t, uint32_t list) { return json_is(t, list, JSON_ARRAY) ? json_length(t, list) : NONE; }

static bool all_strings(const struct json_tape *t, uint32_t list)
{
	json_each(t, list, k)
		if (!json_is(t, k, JSON_STRING))
			return false;
	return true;
}

/* The list of keys in a context: itself, or a defaultdict's. The context is JSON in a string (most types), or JSON. */
static uint32_t context_root(struct walk *w, uint32_t context, const struct json_tape **t)
{
	uint32_t root;
	if (context == NONE)
		return NONE;
	if (!json_is(&w->tape, context, JSON_STRING)) {
		*t = &w->tape;
		return context;
	}
	struct slice text = json_text_at(&w->tape, context, &w->text);
	json_tape_text(&w->context, text.p, text.n);
	*t = &w->context;
	return json_parse(&w->context, 0, text.n, &root) < 0 ? NONE : root;
}

/* torch/utils/_pytree.py: keys of a dict, an OrderedDict, a defaultdict ({"dict_context": keys}) and of
 * torch.fx's immutable_dict; register_dataclass has [[names of fields], [fields that are None]]. */
static bool child_names(struct walk *w, uint32_t obj, uint32_t n)
{
	static const char *const dicts[] = {"builtins.dict", "collections.OrderedDict", "torch.fx.immutable_collections.immutable_dict"};
	static const char *const lists[] = {"builtins.tuple", "builtins.list", "collections.deque", "collections.namedtuple",
					    "torch.fx.immutable_collections.immutable_list"};
	const struct json_tape *t = NULL;
	uint32_t type = json_get(&w->tape, obj, "type");
	struct slice name = json_slice(&w->tape, type);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (slice_is(name, lists[i]))
			return false;
	uint32_t keys = context_root(w, json_get(&w->tape, obj, "context"), &t);
	bool dict = slice_is(name, "collections.defaultdict"), fields = false;
	if (keys == NONE)
		return false;
	if (dict)
		keys = json_get(t, keys, "dict_context");
	for (size_t i = 0; i < ARRAY_LEN(dicts); i++)
		dict |= slice_is(name, dicts[i]);
	if (!dict) {
		uint32_t names = json_first(t, keys);
		fields = count(t, keys) == 2 && count(t, names) == n && all_strings(t, names) && count(t, json_next(t, names)) != NONE &&
			 all_strings(t, json_next(t, names));
		keys = names;
	}
	if ((!dict && !fields) || count(t, keys) != n)
		return false;
	struct node *top = &w->stack[w->depth - 1];
	buf_reset(&w->parts);
	top->part = xreallocarray(NULL, (size_t)n + 1, sizeof(*top->part));
	uint32_t i = 0;
	json_each(t, keys, k) {
		top->part[i++] = w->parts.len;
		if (fields) {
			buf_addc(&w->parts, '.');
			buf_add_slice(&w->parts, json_slice(t, k));
		} else {
			add_key(&w->parts, t, k);
		}
	}
	top->part[n] = w->parts.len;
	top->parts = xstrndup(buf_str(&w->parts), w->parts.len);
	return true;
}

/* ---- the walk ---- */

static int add_leaf(struct walk *w)
{
	if (w->n == PYTREE_MAX_LEAVES)
		return bad(w, "too many leaves");
	if ((w->bytes += w->path.len) > MAX_ALL_BYTES)
		return bad(w, "keys are too long");
	PUSH_TO(w->paths, w->n, w->cap) = arena_slice(w->arena, buf_slice(&w->path));
	return 0;
}

/* The spec at token obj: a leaf is recorded, an inner node is pushed onto the stack. */
static int walk_visit(struct walk *w, uint32_t obj)
{
	uint32_t type = json_get(&w->tape, obj, "type"), children = json_get(&w->tape, obj, "children_spec");
	if (type == NONE || !json_is(&w->tape, children, JSON_ARRAY))
		return bad(w, "a node lacks its type or its children_spec");
	if (w->path.len > MAX_PATH_BYTES)
		return bad(w, "keys are too long");
	uint32_t n = count(&w->tape, children);
	if (json_is(&w->tape, type, JSON_NULL))
		return n ? bad(w, "a leaf has children") : add_leaf(w);
	if (!json_is(&w->tape, type, JSON_STRING))
		return bad(w, "a type is not a name");
	if (w->call && w->depth == 0 && n != 2)
		return bad(w, "not the spec of a call: a tuple of args and kwargs");
	PUSH_TO(w->stack, w->depth, w->cap_depth) =
	    (struct node){.child = json_first(&w->tape, children), .end = json_end(&w->tape, children), .n = n, .path = w->path.len};
	if (n && !(w->call && w->depth == 1))
		child_names(w, obj, n);
	return 0;
}

static void pop(struct walk *w)
{
	struct node *top = &w->stack[--w->depth];
	free(top->part);
	free(top->parts);
}

static int walk_step(struct walk *w)
{
	struct node *top = &w->stack[w->depth - 1];
	if (top->child >= top->end) {
		pop(w);
		return 0;
	}
	uint32_t child = top->child, i = top->index++;
	top->child = json_next(&w->tape, child);
	buf_cut(&w->path, top->path);
	if (w->call && w->depth == 1)
		buf_adds(&w->path, i ? "kwargs" : "args");
	else if (top->part)
		buf_add(&w->path, top->parts + top->part[i], top->part[i + 1] - top->part[i]);
	else
		buf_addf(&w->path, "[%u]", i);
	return walk_visit(w, child);
}

static int walk_spec(struct walk *w, struct slice spec)
{
	uint32_t root;
	if (spec.n > MAX_SPEC_BYTES)
		return bad(w, "too long");
	json_tape_text(&w->tape, spec.p, spec.n);
	if (json_parse(&w->tape, 0, spec.n, &root) < 0)
		return err_set(w->err, EXIT_INPUT, "pytree spec: %s at offset %zu", w->tape.error, w->tape.error_at);
	uint32_t version = json_first(&w->tape, root);
	uint64_t v;
	if (count(&w->tape, root) != 2 || !json_u64(&w->tape, version, &v))
		return bad(w, "not a list of a protocol number and a tree");
	if (v != 1)
		return err_set(w->err, EXIT_INPUT, "pytree spec: unknown protocol %llu", (unsigned long long)v);
	int r = walk_visit(w, json_next(&w->tape, version));
	while (r == 0 && w->depth)
		r = walk_step(w);
	return r;
}

int pytree_paths(struct arena *a, struct slice spec, bool call, struct slice **paths, uint32_t *n, struct err *err)
{
	struct walk w = {.arena = a, .call = call, .err = err};
	int r = walk_spec(&w, spec);
	if (r == 0) {
		*paths = arena_alloc(a, ((size_t)w.n + 1) * sizeof(**paths));
		if (w.n)
			memcpy(*paths, w.paths, w.n * sizeof(**paths));
		*n = w.n;
	}
	while (w.depth)
		pop(&w);
	json_tape_release(&w.tape);
	json_tape_release(&w.context);
	buf_release(&w.text);
	buf_release(&w.path);
	buf_release(&w.parts);
	free(w.stack);
	free(w.paths);
	return r;
}

/* ---- paths written by the user ---- */

/* Cut the next part off: args, [0], ["x"], .x, x. False if there is none, or the rest is not a path. */
static bool next_part(struct slice *s, struct slice *part)
{
	size_t i = 0, n = 0;
	if (!s->n)
		return false;
	if (*s->p == '[') {
		bool quote = s->n > 1 && (s->p[1] == '"' || s->p[1] == '\'');
		char q = quote ? s->p[1] : ']';
		for (i = 1 + quote; i < s->n && s->p[i] != q; i++)
			if (s->p[i] == '\\' && quote && i + 1 < s->n)
				i++;
		size_t from = 1 + (size_t)quote;
		if (i >= s->n || (quote && (i + 1 >= s->n || s->p[i + 1] != ']')))
			return false;
		*part = slice_of(s->p + from, i - from);
		i += 1 + quote;
	} else {
		i = *s->p == '.';
		while (i + n < s->n && s->p[i + n] != '.' && s->p[i + n] != '[')
			n++;
		if (!n)
			return false;
		*part = slice_of(s->p + i, n);
		i += n;
	}
	s->p += i;
	s->n -= i;
	return true;
}

static bool same_parts(struct slice a, struct slice b)
{
	struct slice x, y;
	while (a.n && b.n)
		if (!next_part(&a, &x) || !next_part(&b, &y) || !slice_eq(x, y))
			return false;
	return !a.n && !b.n;
}

bool pytree_path_matches(struct slice path, struct slice asked)
{
	if (slice_eq(path, asked))
		return true;
	if (!asked.n)
		return false;
	/* From the start, or from any key on: args[0].pair[1], pair[1]. A position alone does not match. */
	struct slice part, last = {0};
	for (struct slice rest = path; rest.n;) {
		bool key = rest.p[0] != '[' || (rest.n > 1 && rest.p[1] == '"');
		if (key && asked.p[0] != '[' && same_parts(rest, asked))
			return true;
		if (!next_part(&rest, &part))
			return false;
		if (!rest.n && key)
			last = part;
	}
	return last.n && slice_eq(last, asked); /* a key that contains dots */
}
