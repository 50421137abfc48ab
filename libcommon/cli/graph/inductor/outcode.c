/* outcode.c - Inductor's Python wrappers, line by line. */
#include "graph/inductor/outcode.h"
#include "base/rows.h"
#include "graph/inductor/words.h"

/* "extern_kernels.addmm" */
static struct slice take_chain(struct slice *s)
{
	size_t n = 0;
	if (s->n && is_name_start(*s->p))
		while (n < s->n && (is_name_char(s->p[n]) || s->p[n] == '.'))
			n++;
	struct slice w = slice_of(s->p, n);
	*s = after(*s, n);
	return w;
}

bool outcode_add_name(struct outcode *o, struct slice name)
{
	if (o->n_name >= OUTCODE_MAX)
		return false;
	PUSH(o, name) = name;
	return true;
}

static void index_add(struct outindex *x, struct slice name, uint32_t row)
{
	if (intern_add(&x->name, name) < x->n)
		return;
	PUSH_TO(x->row, x->n, x->cap) = row;
}

static uint32_t index_find(const struct outindex *x, struct slice name)
{
	uint32_t i = intern_find(&x->name, name);
	return i == NONE ? NONE : x->row[i];
}

void outcode_add_alias(struct outcode *o, struct outalias a)
{
	if (o->n_alias >= OUTCODE_MAX)
		return;
	if (!a.item) {
		a.before = index_find(&o->alias_index, a.name);
		index_add(&o->alias_index, a.name, o->n_alias);
		o->alias_index.row[intern_find(&o->alias_index.name, a.name)] = o->n_alias;
	}
	PUSH(o, alias) = a;
}

static void index_release(struct outindex *x)
{
	intern_release(&x->name);
	free(x->row);
}

/* ---- comments ---- */

struct outlist outcode_add_names(struct outcode *o, struct slice s)
{
	struct outlist l = {o->n_name, 0};
	while (s.n) {
		const char *comma = slice_chr(s, ',');
		struct slice one = slice_trim(slice_of(s.p, comma ? (size_t)(comma - s.p) : s.n));
		if (one.n && outcode_add_name(o, one))
			l.n++;
		s = comma ? slice_of(comma + 1, (size_t)(s.p + s.n - comma - 1)) : SLICE("");
	}
	return l;
}

/* "[y, z], Original ..." from the bracket on */
static struct outlist take_list(struct outcode *o, struct slice s)
{
	const char *end = s.n && *s.p == '[' ? slice_chr(s, ']') : NULL;
	return outcode_add_names(o, end ? slice_of(s.p + 1, (size_t)(end - s.p - 1)) : SLICE(""));
}

struct comments {
	struct outnotes notes;
	bool mapping, fragment;
};

/* A line of a list started above may come after other names: then the list is copied to the end and continued. */
static void append(struct outcode *o, struct outlist *l, struct slice name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (slice_eq(o->name[l->first + i], name))
			return;
	if (l->first + l->n != o->n_name) {
		if (o->n_name > OUTCODE_MAX - l->n)
			return;
		GROW(o->name, o->n_name, o->cap_name, l->n + 1);
		memmove(&o->name[o->n_name], &o->name[l->first], l->n * sizeof(*o->name));
		l->first = o->n_name;
		o->n_name += l->n;
	}
	if (l->n < 8192 && outcode_add_name(o, name))
		l->n++;
}

static void comment(struct outcode *o, struct comments *c, struct slice line)
{
	struct slice s = line, rest;
	while (s.n && (*s.p == '#' || *s.p == ' ' || *s.p == '/'))
		s = after(s, 1);
	if ((rest = behind(s, "Source Nodes: ")).p) {
		c->notes.source = take_list(o, rest);
		if ((rest = behind(s, "Original ATen: ")).p)
			c->notes.aten = take_list(o, rest);
		c->mapping = c->fragment = false;
	} else if ((rest = behind(s, "[Provenance debug handles] ")).p) {
		c->notes.handle = slice_trim(rest);
	} else if (slice_starts(s, "kernel path: ")) {
		c->notes.path = after(s, 13);
	} else if (slice_starts(s, "Source node to ATen node mapping")) {
		c->mapping = true;
	} else if (slice_starts(s, "Graph fragment")) {
		c->fragment = true;
		c->mapping = false;
	} else if (c->mapping && (rest = behind(s, " => ")).p) {
		while (rest.n) {
			const char *comma = slice_chr(rest, ',');
			struct slice one = slice_trim(slice_of(rest.p, comma ? (size_t)(comma - rest.p) : rest.n));
			if (one.n)
				append(o, &c->notes.node, one);
			rest = comma ? slice_of(comma + 1, (size_t)(rest.p + rest.n - comma - 1)) : SLICE("");
		}
	} else if (c->fragment && slice_starts(s, "%") && slice_find(s, "call_function[")) {
		s = after(s, 1);
		struct slice name = take_chain(&s);
		if (name.n)
			append(o, &c->notes.node, name);
	}
}

/* ---- kernels ---- */

uint32_t outcode_add_kernel(struct outcode *o, struct slice name, enum outlang lang, struct slice text, uint32_t line)
{
	if (o->n_kernel >= OUTCODE_MAX)
		return NONE;
	GROW(o->kernel, o->n_kernel, o->cap_kernel, 1);
	struct outkernel *k = &o->kernel[o->n_kernel];
	*k = (struct outkernel){.name = name, .lang = lang, .text = text, .line = line, .param = {o->n_name, 0}};
	/* Its parameters: the brackets after the function's name. */
	const char *at = lang == OUT_TRITON ? slice_find(text, "\ndef ") : slice_find(text, "extern \"C\"");
	struct slice s = at ? slice_of(at, (size_t)(text.p + text.n - at)) : SLICE("");
	const char *open = slice_chr(s, '(');
	for (const char *p = open ? open + 1 : NULL, *end = text.p + text.n; p && p < end;) {
		const char *from = p, *word = NULL, *word_end = NULL;
		bool typed = false;
		while (p < end && *p != ',' && *p != ')') {
			if (*p == ':' && lang == OUT_TRITON)
				typed = true; /* Triton: XBLOCK : tl.constexpr */
			if (!is_name_char(*p) || typed) {
				p++;
				continue;
			}
			word = p;
			while (p < end && is_name_char(*p))
				p++;
			word_end = p;
		}
		if (word && word > from - 1 && outcode_add_name(o, slice_of(word, (size_t)(word_end - word))))
			k->param.n++;
		if (p >= end || *p == ')')
			break;
		p++;
	}
	index_add(&o->kernel_index, name, o->n_kernel);
	return o->n_kernel++;
}

uint32_t outcode_kernel(const struct outcode *o, struct slice name) { return index_find(&o->kernel_index, name); }

struct lines {
	struct slice rest;
	uint32_t n; /* of the last line returned */
};

static bool next(struct lines *l, struct slice *line)
{
	if (!slice_line(&l->rest, line))
		return false;
	l->n++;
	return true;
}

static enum outlang language(struct slice method)
{
#define METHOD(id, method, word) method,
	static const char *const begins[] = {OUTLANGS(METHOD)};
	unsigned i = 0;
	while (!slice_starts(method, begins[i]))
		i++;
	return (enum outlang)i; /* OTHER's is empty */
}

/* "NAME = async_compile.KIND(... '''": the lines to the next '''. */
static bool kernel(struct outcode *o, struct lines *l, struct slice line, const struct comments *c)
{
	struct slice s = line, name = take_chain(&s), text;
	if (!name.n || !slice_starts(s, " = async_compile."))
		return false;
	s = after(s, strlen(" = async_compile."));
	enum outlang lang = language(s);
	if (!behind(s, "'''").p)
		return true; /* without its own text: multi_kernel, user-defined */
	uint32_t first = l->n + 1;
	const char *from = l->rest.p, *to = from;
	while (next(l, &line)) {
		to = line.p;
		if (behind(line, "'''").p)
			break;
		to = line.p + line.n;
	}
	text = slice_of(from, (size_t)(to - from));
	uint32_t k = outcode_add_kernel(o, name, lang, text, first);
	if (k != NONE)
		o->kernel[k].notes = c->notes;
	return true;
}

/* ---- calls ---- */

/* The first name in an argument that is not a function's: "reinterpret_tensor(buf4, ...)", "c_void_p(buf4.data_ptr())" -> buf4. */
static struct slice base_name(struct slice s)
{
	while (s.n) {
		if (*s.p == '\'' || *s.p == '"')
			return SLICE("");
		if (!is_name_start(*s.p)) {
			bool digit = is_digit(*s.p);
			do
				s = after(s, 1);
			while (digit && s.n && (is_name_char(*s.p) || *s.p == '.'));
			continue;
		}
		struct slice chain = take_chain(&s);
		const char *dot = slice_chr(chain, '.');
		struct slice word = dot ? slice_of(chain.p, (size_t)(dot - chain.p)) : chain;
		bool called = s.n && *s.p == '(';
		if ((!called || (dot && !slice_is(word, "torch") && !slice_is(word, "aten"))) && !slice_is(word, "None") &&
		    !slice_is(word, "True") && !slice_is(word, "False"))
			return word;
	}
	return SLICE("");
}

static bool next_arg(struct slice *rest, struct slice *arg)
{
	char quote = 0;
	int depth = 0;
	size_t i = 0;
	if (!slice_trim(*rest).n)
		return false;
	for (; i < rest->n; i++) {
		char c = rest->p[i];
		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (c == ')' || c == ']' || c == '}') {
			if (--depth < 0)
				break;
		} else if (c == ',' && !depth) {
			break;
		}
	}
	*arg = slice_trim(slice_of(rest->p, i));
	bool more = i < rest->n && rest->p[i] == ',';
	*rest = more ? after(*rest, i + 1) : SLICE("");
	return true;
}

static struct outlist take_args(struct outcode *o, struct slice rest, struct slice *out)
{
	struct outlist l = {o->n_name, 0};
	struct slice arg;
	*out = SLICE("");
	while (next_arg(&rest, &arg)) {
		struct slice s = arg, key = take_chain(&s);
		if (key.n && s.n > 1 && *s.p == '=' && s.p[1] != '=') {
			if (slice_is(key, "out"))
				*out = base_name(after(s, 1));
			continue;
		}
		if (arg.n && outcode_add_name(o, base_name(arg)))
			l.n++;
	}
	return l;
}

static bool is_operator(struct slice chain)
{
	static const char *const roots[] = {"extern_kernels.", "torch.ops.", "aten.", "inductor_ops.", "_quantized.", "inductor_prims."};
	return slice_any(chain, roots, slice_starts);
}

/* def NAME(*args, **kwargs): */
static struct slice passes_all(struct slice line)
{
	struct slice s = line, name = SLICE("");
	if (slice_starts(s, "def "))
		s = after(s, 4), name = take_chain(&s);
	return slice_is(s, "(*args, **kwargs):") ? name : SLICE("");
}

/* return X(*args, **kwargs), in the function of that name */
static void wrapped(struct outcode *o, struct slice name, struct slice line)
{
	struct slice s = after(line, strlen("return ")), of = take_chain(&s);
	if (!of.n || !slice_is(s, "(*args, **kwargs)") || o->n_wrapped >= OUTCODE_MAX)
		return;
	GROW(o->wrapped, o->n_wrapped, o->cap_wrapped, 1);
	index_add(&o->wrapped_index, name, o->n_wrapped);
	o->wrapped[o->n_wrapped++] = (struct outalias){.name = name, .of = of};
}

static struct slice unwrapped(const struct outcode *o, struct slice name)
{
	uint32_t i = index_find(&o->wrapped_index, name);
	return i == NONE ? name : o->wrapped[i].of;
}

static int depth_of(struct slice s)
{
	int d = 0;
	char quote = 0;
	for (size_t i = 0; i < s.n && (quote || s.p[i] != '#'); i++) {
		char c = s.p[i];
		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if (c == '(' || c == '[')
			d++;
		else if (c == ')' || c == ']')
			d--;
	}
	return d;
}

static void statement(struct outcode *o, struct lines *l, struct slice line, struct comments *c)
{
	struct slice s = line, made = SLICE(""), chain = take_chain(&s);
	uint32_t first = l->n;
	if (slice_starts(s, " = ")) {
		made = chain;
		s = after(s, 3);
		chain = take_chain(&s);
	}
	if (made.n && chain.n && s.n > 2 && *s.p == '[') { /* buf8 = buf7[0] */
		const char *close = slice_chr(s, ']');
		uint64_t index;
		if (close && slice_u64(slice_of(s.p + 1, (size_t)(close - s.p - 1)), &index) && index < 4096)
			outcode_add_alias(o, (struct outalias){made, chain, true, (uint32_t)index, NONE});
		return;
	}
	bool plain = made.n && chain.n && !slice_chr(chain, '.') && (!s.n || *s.p == ';' || *s.p == ' ');
	if (plain || slice_is(chain, "reinterpret_tensor")) {
		struct slice of = plain ? chain : base_name(s);
		if (made.n && of.n)
			outcode_add_alias(o, (struct outalias){.name = made, .of = of});
		return;
	}
	if (!s.n || *s.p != '(' || !chain.n)
		return;
	struct slice name = unwrapped(o, chain);
	if (slice_ends(name, ".run"))
		name.n -= 4;
	uint32_t k = outcode_kernel(o, name);
	if ((k == NONE && !is_operator(name)) || o->n_call >= OUTCODE_MAX)
		return;
	const char *from = s.p + 1, *end = s.p + s.n;
	for (int depth = depth_of(s); depth > 0 && l->n - first < OUTCODE_CALL_LINES && next(l, &line); end = line.p + line.n)
		depth += depth_of(line);
	struct outcall *call = &PUSH(o, call);
	struct slice out;
	*call = (struct outcall){.name = name, .kernel = k, .line = first, .last = l->n, .notes = c->notes};
	call->arg = take_args(o, slice_of(from, (size_t)(end - from)), &out);
	call->made = (struct outlist){o->n_name, 0};
	if ((made.n && outcode_add_name(o, made)) || (out.n && outcode_add_name(o, out)))
		call->made.n = 1;
	*c = (struct comments){0};
}

static void results(struct outcode *o, struct lines *l, struct slice line)
{
	struct slice s = after(line, strlen("return"));
	const char *open = slice_chr(s, '('), *end = s.p + s.n;
	uint32_t first = l->n;
	if (!open)
		return;
	for (int depth = depth_of(s); depth > 0 && l->n - first < OUTCODE_CALL_LINES && next(l, &line); end = line.p + line.n)
		depth += depth_of(line);
	struct slice out;
	o->result = take_args(o, slice_of(open + 1, (size_t)(end - open - 1)), &out);
}

static void inputs(struct outcode *o, struct slice line)
{
	struct slice s = line, name;
	o->input = (struct outlist){o->n_name, 0};
	while ((name = take_chain(&s)).n) {
		if (outcode_add_name(o, name))
			o->input.n++;
		while (s.n && (*s.p == ',' || *s.p == ' '))
			s = after(s, 1);
	}
}

void outcode_read(struct outcode *o, struct slice text)
{
	struct lines l = {.rest = text};
	struct comments c = {0};
	struct slice raw, passing = SLICE("");
	bool runs = false;
	*o = (struct outcode){0};
	while (next(&l, &raw)) {
		struct slice line = slice_trim(raw);
		bool indented = raw.n && (*raw.p == ' ' || *raw.p == '\t');
		if (slice_starts(line, "#")) {
			comment(o, &c, line);
		} else if (!line.n) {
			c = (struct comments){0};
		} else if (!indented && kernel(o, &l, line, &c)) {
			c = (struct comments){0};
		} else if (slice_starts(line, "def ")) {
			runs = slice_starts(line, "def call(") || slice_starts(line, "def partition_");
			passing = passes_all(line);
			c = (struct comments){0};
		} else if (passing.n && slice_starts(line, "return ")) {
			wrapped(o, passing, line);
		} else if (runs && slice_starts(line, "return ")) {
			results(o, &l, line);
		} else if (runs && slice_ends(line, " = args")) {
			inputs(o, line);
		} else if (runs) {
			statement(o, &l, line, &c);
		}
	}
}

uint32_t outcode_alias(const struct outcode *o, struct slice name, uint32_t end)
{
	uint32_t a = index_find(&o->alias_index, name);
	while (a != NONE && a >= end)
		a = o->alias[a].before;
	return a;
}

struct slice outcode_storage(const struct outcode *o, struct slice name)
{
	for (uint32_t a = o->n_alias; (a = outcode_alias(o, name, a)) != NONE;)
		name = o->alias[a].of;
	return name;
}

void outcode_release(struct outcode *o)
{
	free(o->kernel);
	free(o->call);
	free(o->alias);
	free(o->wrapped);
	free(o->name);
	index_release(&o->kernel_index);
	index_release(&o->wrapped_index);
	index_release(&o->alias_index);
	arena_release(&o->arena);
	*o = (struct outcode){0};
}
