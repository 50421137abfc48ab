#include "graph/fxcode_part.h"
#include "graph/pytext.h"

/* The beginning of a line's text, and its column; NULL for a blank line or a comment. */
static const char *line_text(const char *p, const char *end, int *column)
{
	int c = 0;
	for (; p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\f'); p++)
		c = *p == '\t' ? (c | 7) + 1 : c + (c < INT32_MAX / 2);
	*column = c;
	return p == end || *p == '\n' || *p == '#' ? NULL : p;
}

static bool word_at(const char *p, const char *end, const char *word)
{
	const size_t n = strlen(word);
	return (size_t)(end - p) >= n && !memcmp(p, word, n);
}

/* "def forward(" with any white space; "async def" does not count. */
static bool is_def(const char *p, const char *end, const char *name)
{
	if (!word_at(p, end, "def ") && !word_at(p, end, "def\t"))
		return false;
	for (p += 4; p < end && (*p == ' ' || *p == '\t'); p++)
		;
	if (!word_at(p, end, name))
		return false;
	for (p += strlen(name); p < end && (*p == ' ' || *p == '\t'); p++)
		;
	return p < end && *p == '(';
}

/* The name in "class NAME(...):"; p is at "class". "" if it is not a class. */
static struct slice class_name(const char *p, const char *end)
{
	if (!word_at(p, end, "class ") && !word_at(p, end, "class\t"))
		return slice_of(p, 0);
	const char *nl = memchr(p, '\n', (size_t)(end - p)), *q = p += 6;
	end = nl ? nl : end;
	while (q < end && *q != '(' && *q != ':' && *q != '#')
		q++;
	if (q == end || *q == '#')
		return slice_of(p, 0);
	return slice_trim(slice_of(p, (size_t)(q - p)));
}

enum context_kind { CONTEXT_CLASS, CONTEXT_INIT, CONTEXT_FUNCTION };
struct context {
	enum context_kind kind;
	int indent;
	uint32_t cls;
};
enum { MAX_CONTEXTS = 2 * GRAPH_MAX_DEPTH };

static uint32_t add_class(struct fxscan *s, struct slice name, uint32_t parent, uint32_t line)
{
	GROW(s->cls, s->n_cls, s->cap_cls, 1);
	s->cls[s->n_cls] = (struct fxclass){.name = name, .attr = name, .parent = parent, .line = line, .module = NONE};
	return (uint32_t)s->n_cls++;
}

static void add_init(struct fxscan *s, uint32_t cls, const char *p, const char *stop, uint32_t line)
{
	PUSH_TO(s->init, s->n_init, s->cap_init) =
	    (struct fxinit){.cls = cls, .line = line, .text = slice_trim(slice_of(p, (size_t)(stop - p)))};
}

/* Processes a logical line inside a class. False if nothing more can be nested. */
static bool class_line(struct fxscan *s, struct context *stack, size_t *depth, const char *p, const char *end, const char *stop, int column,
		       uint32_t line)
{
	const struct context top = stack[*depth - 1];
	struct slice name = top.kind == CONTEXT_FUNCTION ? slice_of(p, 0) : class_name(p, end);
	enum context_kind kind = CONTEXT_FUNCTION;
	uint32_t cls = top.cls;
	if (name.n) {
		cls = add_class(s, name, top.cls, line);
		kind = CONTEXT_CLASS;
	} else if (top.kind == CONTEXT_CLASS && is_def(p, end, "forward")) {
		if (!s->cls[cls].fwd) {
			s->cls[cls].fwd = p;
			s->cls[cls].fwd_line = line;
			s->cls[cls].fwd_indent = column;
		}
	} else if (top.kind == CONTEXT_CLASS && is_def(p, end, "__init__")) {
		kind = CONTEXT_INIT;
	} else if (top.kind != CONTEXT_CLASS || !word_at(p, end, "def ")) {
		if (top.kind == CONTEXT_INIT)
			add_init(s, top.cls, p, stop, line);
		return true;
	}
	if (*depth == MAX_CONTEXTS)
		return false;
	stack[(*depth)++] = (struct context){kind, column, cls};
	return true;
}

/* The class whose header is at p (column `column`), with everything in it. Returns its end. */
static const char *scan_class(struct fxscan *s, const char *p, const char *end, int column, uint32_t *line)
{
	struct context stack[MAX_CONTEXTS];
	size_t depth = 1;
	const char *stop = fxlex_skip_line(p, end, &s->open), *text;
	stack[0] = (struct context){CONTEXT_CLASS, column, add_class(s, class_name(p, end), NONE, *line)};
	for (; p < stop; p++)
		*line += *p == '\n';
	for (; p < end; p = stop) {
		text = line_text(p, end, &column);
		if (!text) {
			stop = memchr(p, '\n', (size_t)(end - p));
			stop = stop ? stop + 1 : end;
			(*line)++;
			continue;
		}
		while (depth && column <= stack[depth - 1].indent)
			depth--;
		if (!depth)
			return p;
		stop = fxlex_skip_line(text, end, &s->open);
		if (!class_line(s, stack, &depth, text, end, stop, column, *line))
			return end;
		for (const char *q = text; (q = memchr(q, '\n', (size_t)(stop - q))) != NULL; q++)
			(*line)++;
	}
	return end;
}

/* Among the classes from `first` on, whose lines of __init__ begin at `init`, moves the outermost with a forward() to the front: those
 * around it are dropped. False, and all are dropped, if there is none. */
static bool choose_root_class(struct fxscan *s, size_t first, size_t init, size_t bytes)
{
	size_t root = first, n = init;
	while (root < s->n_cls && !s->cls[root].fwd)
		root++;
	const uint32_t gone = (uint32_t)(root - first);
	if (root == s->n_cls) {
		s->n_cls = first;
		s->n_init = init;
		return false;
	}
	/* Classes below it keep their order; all others lose their parent and are dropped. */
	for (size_t i = first; i < s->n_cls; i++)
		s->cls[i].parent = s->cls[i].parent == NONE || s->cls[i].parent < root || i <= root ? NONE : s->cls[i].parent - gone;
	memmove(s->cls + first, s->cls + root, (s->n_cls - root) * sizeof(*s->cls));
	s->n_cls -= gone;
	for (size_t i = init; i < s->n_init; i++)
		if (s->init[i].cls >= root) {
			s->init[n] = s->init[i];
			s->init[n++].cls -= gone;
		}
	s->n_init = n;
	s->cls[first].top = true;
	s->cls[first].n = bytes;
	return true;
}

/* A forward() outside any class is the graph, if no class came before it. */
static bool forward_alone(struct fxscan *s, const char *at, int column, uint32_t line)
{
	if (s->n_cls)
		return false;
	const uint32_t c = add_class(s, slice_of(at, 0), NONE, line);
	s->cls[c].top = true;
	s->cls[c].fwd = at;
	s->cls[c].fwd_line = line;
	s->cls[c].fwd_indent = column;
	return true;
}

bool fxscan_find(struct fxscan *s, struct slice text)
{
	const char *p = text.p, *end = p + text.n, *nl;
	int column;
	uint32_t line = 1;
	s->budget = 4 * text.n + (1u << 20);
	for (; p < end; p = nl) {
		const char *at = line_text(p, end, &column);
		nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end, *word;
		nl = nl ? nl + 1 : end;
		if (at && is_def(at, end, "forward") && forward_alone(s, at, column, line))
			return true;
		/* TORCH_LOGS has "FILE class GraphModule(torch.nn.Module):" in one line. */
		if (at && *at != 'c' && (*at == '/' || *at == '<' || *at == '=') &&
		    (word = memmem(at, (size_t)(stop - at), " class ", 7)) != NULL)
			at = word + 1;
		if (at && class_name(at, end).n) {
			const size_t first = s->n_cls, init = s->n_init;
			nl = scan_class(s, at, end, column, &line);
			choose_root_class(s, first, init, (size_t)(nl - at));
			continue;
		}
		line++;
	}
	return s->n_cls > 0;
}

void fxscan_release(struct fxscan *s)
{
	free(s->cls);
	free(s->init);
	intern_release(&s->children);
	arena_release(&s->arena);
	*s = (struct fxscan){0};
}

/* ---- __init__ ---- */

/* Skips white space. */
static const char *blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* A line of __init__ that makes an attribute: `prefix` is the dotted path of the module below this one that gets it, or
 * "". */
struct init_line {
	struct slice prefix, name, expr;
	enum gattr_kind kind;
};

/* A string literal off the beginning of *rest, its characters: in the text, or in the arena if it has escapes. */
static bool literal(struct slice *rest, struct slice *out, struct arena *arena)
{
	const char *from = blank(rest->p, rest->p + rest->n), *end = rest->p + rest->n, *p = from;
	if (p == end || (*p != '\'' && *p != '"'))
		return false;
	for (p++; p < end && *p != *from; p++)
		p += *p == '\\' && end - p >= 2;
	if (p >= end)
		return false;
	*out = slice_of(from + 1, (size_t)(p - from - 1));
	*rest = slice_of(p + 1, (size_t)(end - p - 1));
	if (!out->n || !slice_chr(*out, '\\'))
		return true;
	LOCAL_BUF b = {0};
	const bool ok = pytext_string(slice_of(from, (size_t)(p + 1 - from)), &b);
	if (ok)
		*out = arena_slice(arena, b.len ? buf_slice(&b) : SLICE(""));
	return ok;
}

/* "'name', REST" */
static bool quoted(struct slice *rest, struct slice *out, struct arena *arena)
{
	if (!literal(rest, out, arena))
		return false;
	const char *end = rest->p + rest->n, *p = blank(rest->p, end);
	if (p == end || *p != ',')
		return false;
	*rest = slice_trim(slice_of(p + 1, (size_t)(end - p - 1)));
	return true;
}

static bool call_of(struct slice s, const char *callee, struct slice *inside)
{
	const size_t n = strlen(callee);
	if (!slice_starts(s, callee) || s.n < n + 2 || s.p[n] != '(' || s.p[s.n - 1] != ')')
		return false;
	*inside = slice_of(s.p + n + 1, s.n - n - 2);
	return true;
}

static bool is_parameter(struct slice expr, struct slice *inside)
{
	return call_of(expr, "torch.nn.Parameter", inside) || call_of(expr, "torch.nn.parameter.Parameter", inside) ||
	       call_of(expr, "nn.Parameter", inside) || call_of(expr, "Parameter", inside);
}

/* Reads the kind of an assigned expression. */
static void classify(struct init_line *l)
{
	struct slice inside, callee = l->expr;
	const char *open = slice_chr(callee, '('), *last;
	l->kind = GATTR_OTHER;
	if (is_parameter(l->expr, &inside)) {
		l->kind = GATTR_PARAMETER;
		l->expr = slice_trim(inside);
	} else if (open) {
		callee.n = (size_t)(open - callee.p);
		last = slice_rchr(callee, '.');
		last = last ? last + 1 : callee.p;
		if (last < open &&
		    ((*last >= 'A' && *last <= 'Z' && !slice_is(slice_of(last, (size_t)(open - last)), "Tensor")) || *last == '<'))
			l->kind = GATTR_MODULE;
	}
}

/* "self" or "self.get_submodule('a.0')" off the beginning of s. */
static bool init_base(struct slice *s, struct slice *prefix, struct arena *arena)
{
	struct slice rest = *s, word = SLICE("self.get_submodule(");
	if (!slice_starts(rest, "self"))
		return false;
	*prefix = slice_of(rest.p, 0);
	*s = slice_of(rest.p + 4, rest.n - 4);
	if (!slice_starts(rest, word.p))
		return true;
	rest = slice_of(rest.p + word.n, rest.n - word.n);
	if (!literal(&rest, prefix, arena) || !rest.n || *rest.p != ')')
		return false;
	*s = slice_of(rest.p + 1, rest.n - 1);
	return true;
}

/* "BASE.register_buffer('x', EXPR)" etc.: s begins after the base. */
static bool init_register(struct slice s, struct init_line *l, struct arena *arena)
{
	static const char *const methods[] = {".register_buffer", ".register_parameter", ".add_module", ".register_module"};
	for (unsigned i = 0; i < ARRAY_LEN(methods); i++) {
		struct slice inside;
		if (!call_of(s, methods[i], &inside))
			continue;
		if (!quoted(&inside, &l->name, arena))
			return false;
		l->expr = inside;
		classify(l);
		l->kind = i == 0 ? GATTR_BUFFER : i == 1 ? l->kind : GATTR_MODULE;
		return true;
	}
	return false;
}

/* "self.a.b = EXPR", "setattr(self, '0', EXPR)", "self.register_buffer('x', EXPR)"; false: it is something else. */
static bool init_line(struct slice s, struct init_line *l, struct arena *arena)
{
	struct slice inside;
	if (call_of(s, "setattr", &inside)) {
		if (!init_base(&inside, &l->prefix, arena) || !inside.n || *inside.p != ',')
			return false;
		inside = slice_of(inside.p + 1, inside.n - 1);
		if (!quoted(&inside, &l->name, arena))
			return false;
		l->expr = inside;
		classify(l);
		return true;
	}
	if (!init_base(&s, &l->prefix, arena) || !s.n || *s.p != '.')
		return false;
	if (init_register(s, l, arena))
		return true;
	const char *end = s.p + s.n, *p = s.p + 1, *q = p;
	while (q < end && (fx_name_part((unsigned char)*q) || *q == '.'))
		q++;
	l->name = slice_of(p, (size_t)(q - p));
	q = blank(q, end);
	if (q == end || *q != '=' || (q + 1 < end && q[1] == '='))
		return false;
	l->expr = slice_trim(slice_of(q + 1, (size_t)(end - q - 1)));
	if (!l->expr.n || !l->name.n || slice_is(l->expr, "torch.nn.Module()")) /* what fxcode_write puts dotted names under */
		return false;
	classify(l);
	return true;
}

static int by_class(const void *a, const void *b)
{
	const struct fxinit *x = a, *y = b;
	return x->cls != y->cls ? (x->cls > y->cls) - (x->cls < y->cls) : (x->line > y->line) - (x->line < y->line);
}

/* Children by (parent, name) in a table: the key's bytes are both. */
static struct slice child_key(struct buf *b, uint32_t parent, struct slice name)
{
	buf_reset(b);
	buf_add(b, &parent, sizeof(parent));
	buf_add_slice(b, name);
	return buf_slice(b);
}

/* The class that "NAME()" makes: of those directly below c, or of the top-level ones (c: NONE). */
static uint32_t made_class(const struct intern *t, const uint32_t *of, uint32_t c, const struct init_line *l, struct buf *key)
{
	if (l->expr.n < 3 || l->prefix.n || !slice_ends(l->expr, "()"))
		return NONE;
	const uint32_t id = intern_find(t, child_key(key, c, slice_of(l->expr.p, l->expr.n - 2)));
	return id == NONE ? NONE : of[id];
}

/* Applies the instantiations in __init__ lines: a nested class gets its name, once; a class beside it is noted, since it must come
 * first. */
static void bind_lines(struct fxscan *s, uint32_t *beside)
{
	struct init_line l = {0};
	OWNED(intern_release) struct intern t = {0};
	LOCAL_BUF key = {0};
	uint32_t *of = xcalloc(s->n_cls + 1, sizeof(*of)), top = 0;
	for (uint32_t i = 0; i < s->n_cls; i++)
		if (s->cls[i].fwd && (s->cls[i].top || s->cls[i].parent != NONE))
			of[intern_add(&t, child_key(&key, s->cls[i].parent, s->cls[i].name))] = i;
	for (size_t i = 0; i < s->n_init; i++) {
		const uint32_t c = s->init[i].cls;
		beside[i] = NONE;
		for (uint32_t k = top + 1; k <= c; k++)
			top = s->cls[k].top ? k : top;
		if (!init_line(s->init[i].text, &l, &s->arena))
			continue;
		const uint32_t in = made_class(&t, of, c, &l, &key), out = made_class(&t, of, NONE, &l, &key);
		if (in != NONE && !s->cls[in].bound) {
			s->cls[in].attr = l.name;
			s->cls[in].bound = true;
		} else if (in == NONE && out != NONE && out < top) {
			beside[i] = out;
		}
	}
	free(of);
}

/* The classes below the root, nested in each other; a class instantiated twice appears twice. */
struct family {
	struct fxscan *from, to;
	const uint32_t *beside; /* for each line of __init__ */
	uint32_t *child, *next; /* by class of `from`: classes in it, up to NONE */
	uint32_t *line;         /* its first line of __init__ */
	uint32_t *of;           /* by class of `to`: its class in `from` */
	size_t cap_of, bytes;
};

static void family_add(struct family *f, uint32_t c, uint32_t parent)
{
	GROW(f->to.cls, f->to.n_cls, f->to.cap_cls, 1);
	GROW(f->of, f->to.n_cls, f->cap_of, 1);
	f->bytes += f->from->cls[c].top ? f->from->cls[c].n : 0;
	f->of[f->to.n_cls] = c;
	f->to.cls[f->to.n_cls] = f->from->cls[c];
	f->to.cls[f->to.n_cls++].parent = parent;
}

/* The lines of __init__ of class i, and the classes in it and those instantiated by its lines. */
static void family_of(struct family *f, uint32_t i)
{
	struct init_line l = {0};
	const struct fxscan *s = f->from;
	const uint32_t c = f->of[i];
	for (uint32_t k = f->child[c]; k != NONE; k = f->next[k])
		family_add(f, k, i);
	for (uint32_t k = f->line[c]; k < s->n_init && s->init[k].cls == c; k++) {
		GROW(f->to.init, f->to.n_init, f->to.cap_init, 1);
		f->to.init[f->to.n_init] = s->init[k];
		f->to.init[f->to.n_init++].cls = i;
		if (f->beside[k] == NONE || !init_line(s->init[k].text, &l, &f->from->arena))
			continue;
		family_add(f, f->beside[k], i);
		f->to.cls[f->to.n_cls - 1].attr = l.name;
	}
}

static void family_links(struct family *f)
{
	const struct fxscan *s = f->from;
	memset(f->child, 0xff, 2 * s->n_cls * sizeof(*f->child));
	for (uint32_t i = (uint32_t)s->n_cls; i-- > 0;) {
		const uint32_t parent = s->cls[i].parent;
		f->line[i] = (uint32_t)s->n_init;
		if (parent == NONE)
			continue;
		f->next[i] = f->child[parent];
		f->child[parent] = i;
	}
	for (size_t i = s->n_init; i-- > 0;)
		f->line[s->init[i].cls] = (uint32_t)i;
}

/* The first class that no other instantiates: torch 2.14 writes subgraphs before the class they belong to (debug_utils.py,
 * NNModuleToString.convert), and pasted texts have one graph after another. */
static uint32_t root_class(const struct fxscan *s, const uint32_t *beside)
{
	uint32_t root = 0;
	FREED bool *made = xcalloc(s->n_cls + 1, sizeof(*made));
	for (size_t i = 0; i < s->n_init; i++)
		if (beside[i] != NONE)
			made[beside[i]] = true;
	while (!s->cls[root].top || made[root])
		root++;
	return root;
}

static bool gather(struct fxscan *s, const uint32_t *beside)
{
	struct family f = {.from = s, .beside = beside};
	f.child = xcalloc(3 * s->n_cls, sizeof(*f.child));
	f.next = f.child + s->n_cls;
	f.line = f.next + s->n_cls;
	family_links(&f);
	family_add(&f, root_class(s, beside), NONE);
	for (uint32_t i = 0; i < f.to.n_cls && f.bytes <= s->budget; i++)
		family_of(&f, i);
	free(s->cls);
	free(s->init);
	s->cls = f.to.cls, s->n_cls = f.to.n_cls, s->cap_cls = f.to.cap_cls;
	s->init = f.to.init, s->n_init = f.to.n_init, s->cap_init = f.to.cap_init;
	free(f.child);
	free(f.of);
	return f.bytes <= s->budget;
}

bool fxscan_bind(struct fxscan *s)
{
	LOCAL_BUF key = {0};
	FREED uint32_t *beside = xcalloc(s->n_init + 1, sizeof(*beside));
	if (s->n_init) /* those of a class are apart if classes are defined between them */
		qsort(s->init, s->n_init, sizeof(*s->init), by_class);
	bind_lines(s, beside);
	const bool ok = gather(s, beside);
	for (uint32_t i = 1; i < s->n_cls; i++)
		if (s->cls[i].fwd && s->cls[i].parent != NONE)
			intern_add(&s->children, child_key(&key, s->cls[i].parent, s->cls[i].attr));
	return ok;
}

void fxscan_attrs(struct fxscan *s, size_t *next, uint32_t c, struct graph *g, uint32_t m)
{
	struct init_line l = {0};
	LOCAL_BUF key = {0};
	for (; *next < s->n_init && s->init[*next].cls <= c; (*next)++) {
		const struct fxinit *i = &s->init[*next];
		if (i->cls != c || !init_line(i->text, &l, &s->arena))
			continue;
		if (l.prefix.n) {
			buf_reset(&key);
			buf_add_slice(&key, l.prefix);
			buf_addc(&key, '.');
			buf_add_slice(&key, l.name);
			graph_add_attr(g, m, l.kind, buf_slice(&key), l.expr);
		} else if (intern_find(&s->children, child_key(&key, c, l.name)) == NONE) {
			graph_add_attr(g, m, l.kind, l.name, l.expr);
		}
	}
}

/* ---- logs ---- */

/* "[rank0]:V1121 10:00:00.000000 123 torch/x.py:1] [0/0] [__graph_code] REST": the start of REST, or p. */
static const char *log_prefix(const char *p, const char *stop)
{
	const char *q = p, *tag;
	if (word_at(q, stop, "[rank")) {
		q = memmem(q, (size_t)(stop - q), "]:", 2);
		q = q ? q + 2 : p;
	}
	if (stop - q < 6 || !strchr("VDIWEC", *q) || !*q)
		return p;
	for (int i = 1; i < 5; i++)
		if (q[i] < '0' || q[i] > '9')
			return p;
	tag = memmem(q, (size_t)(stop - q), "] [__", 5);
	tag = tag ? memchr(tag + 2, ']', (size_t)(stop - tag - 2)) : NULL;
	if (!tag)
		return p;
	return tag + 1 < stop && tag[1] == ' ' ? tag + 2 : tag + 1;
}

/* Removes ESC [ ... m. */
static void add_plain(struct buf *b, const char *p, const char *stop)
{
	while (p < stop) {
		const char *esc = memchr(p, 27, (size_t)(stop - p));
		buf_add(b, p, (size_t)((esc ? esc : stop) - p));
		if (!esc)
			return;
		for (p = esc + 1; p < stop && (*p == '[' || *p == ';' || is_digit(*p)); p++)
			;
		p += p < stop;
	}
}

bool fxscan_plain(struct slice text, struct buf *b)
{
	if (!text.n || (!slice_chr(text, 27) && !memmem(text.p, text.n, "] [__", 5)))
		return false;
	struct slice line;
	while (slice_line(&text, &line)) {
		const char *stop = line.p + line.n;
		add_plain(b, log_prefix(line.p, stop), stop);
		buf_addc(b, '\n');
	}
	return true;
}
