/* provenance.c - node mappings -> line links. */
#include "run/trace/provenance.h"

#include "base/hash.h"

const char *const prov_way_name[PROV_WAYS] = {"preToPost", "postToPre", "codeToPost", "postToCode", "aotToPost", "postToAot"};

static bool word_start(char c) { return is_name_start(c) || (unsigned char)c >= 0x80; }
static bool word(char c) { return word_start(c) || is_digit(c); }

static struct slice take_word(struct slice *s)
{
	size_t n = 0;
	if (s->n && word_start(*s->p))
		while (n < s->n && word(s->p[n]))
			n++;
	struct slice w = slice_of(s->p, n);
	*s = slice_of(s->p + n, s->n - n);
	return w;
}

static struct slice skip_blanks(struct slice s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t'))
		s = slice_of(s.p + 1, s.n - 1);
	return s;
}

/* ---- graphs: node -> line ---- */

struct nodes {
	struct intern name;
	uint32_t *line; /* by index of name */
	uint32_t n, cap;
};

/* The first location counts: the outer graph is printed before the graphs inside it. */
static void add_node(struct nodes *x, struct slice name, uint32_t line)
{
	if (intern_add(&x->name, name) < x->n)
		return;
	GROW(x->line, x->n, x->cap, 1);
	x->line[x->n++] = line;
}

static uint32_t node_line(const struct nodes *x, struct slice name)
{
	uint32_t i = intern_find(&x->name, name);
	return i == NONE ? 0 : x->line[i];
}

static void nodes_release(struct nodes *x)
{
	intern_release(&x->name);
	free(x->line);
}

/* def forward(self, x: "f32[3]", y): annotations are quoted. */
static void add_arguments(struct nodes *x, struct slice s, uint32_t line)
{
	const char *open = slice_chr(s, '(');
	bool name = true;
	char quote = 0;
	if (!open)
		return;
	s = slice_of(open + 1, s.n - (size_t)(open + 1 - s.p));
	while (s.n) {
		char c = *s.p;
		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == ',' || c == '(') {
			name = true;
		} else if (word_start(c)) {
			struct slice w = take_word(&s);
			if (name && !slice_is(w, "self"))
				add_node(x, w, line);
			name = false;
			continue;
		} else if (c != ' ' && c != '*') {
			name = false;
		}
		s = slice_of(s.p + 1, s.n - 1);
	}
}

static void add_origin(struct provenance *p, unsigned graph, uint32_t line, uint32_t source)
{
	struct prov_origin *last = p->n_origin[graph] ? &p->origin[graph][p->n_origin[graph] - 1] : NULL;
	if (last ? last->source == source : source == NONE)
		return;
	GROW(p->origin[graph], p->n_origin[graph], p->cap_origin[graph], 1);
	p->origin[graph][p->n_origin[graph]++] = (struct prov_origin){line, source};
}

/* Rows of p->source by content. */
static uint32_t source_of(struct provenance *p, struct intern *seen, struct slice comment, const struct srcloc *at)
{
	uint32_t i = intern_add(seen, comment);
	if (i < p->n_source)
		return i;
	GROW(p->source, p->n_source, p->cap_source, 1);
	p->source[p->n_source++] = srcloc_copy(&p->arena, at);
	return i;
}

static void read_graph(struct provenance *p, unsigned graph, struct slice text, struct nodes *x, struct intern *seen)
{
	struct slice line;
	for (uint32_t n = 1; slice_line(&text, &line); n++) {
		struct slice s = skip_blanks(line);
		struct srcloc at;
		if (s.n && *s.p == '#') {
			/* "# File: m.py:12 in f, code: ..."; annotations may precede it. Sources are distinguished by the part that srcloc
			 * reads, the comment from "File:" on. */
			const char *file = slice_find(s, "File: ");
			struct slice comment = file ? slice_of(file, (size_t)(s.p + s.n - file)) : s;
			if (file && srcloc_parse(s, &at))
				add_origin(p, graph, n, source_of(p, seen, comment, &at));
			else if (slice_find(s, "No stacktrace found"))
				add_origin(p, graph, n, NONE);
			continue;
		}
		if (slice_starts(s, "def ")) {
			add_arguments(x, s, n);
			continue;
		}
		if (slice_starts(s, "class ")) {
			add_origin(p, graph, n, NONE);
			continue;
		}
		/* name: "type" = ...; name = ...; a, b, = ...; name: "type"; */
		struct slice rest = s, w[16];
		unsigned k = 0;
		for (;;) {
			w[k] = take_word(&rest);
			if (!w[k].n)
				break;
			rest = skip_blanks(rest);
			k++;
			if (k == ARRAY_LEN(w) || !rest.n || *rest.p != ',')
				break;
			rest = skip_blanks(slice_of(rest.p + 1, rest.n - 1));
		}
		if (!k || !rest.n || (*rest.p != ':' && *rest.p != '=') || (rest.n > 1 && rest.p[1] == '='))
			continue;
		for (unsigned i = 0; i < k; i++)
			add_node(x, w[i], n);
	}
}

/* ---- kernels: calls and definitions in the generated code ---- */

struct kernels {
	struct intern name; /* with handle; the index is p->kernel's */
	struct intern pure; /* without */
	uint32_t *pure_of;  /* per kernel */
	uint32_t cap_pure_of;
	uint32_t *first; /* per pure name: a kernel of it; next: the next one of the same */
	uint32_t n_first, cap_first;
	uint32_t *next;
	uint32_t cap_next;
	bool *found; /* per kernel: its handle was met */
	uint32_t cap_found;
};

/* "extern_kernels.addmm:2" -> "extern_kernels.addmm"; names may have colons of their own. */
static struct slice pure_name(struct slice name)
{
	const char *colon = slice_rchr(name, ':');
	uint64_t handle;
	if (!colon || !slice_u64(slice_of(colon + 1, (size_t)(name.p + name.n - colon - 1)), &handle))
		return name;
	return slice_of(name.p, (size_t)(colon - name.p));
}

static uint32_t add_kernel(struct provenance *p, struct kernels *x, struct slice name)
{
	uint32_t k = intern_add(&x->name, name);
	if (k < p->n_kernel)
		return k;
	uint32_t pure = intern_add(&x->pure, pure_name(name));
	if (pure == x->n_first) {
		GROW(x->first, x->n_first, x->cap_first, 1);
		x->first[x->n_first++] = NONE;
	}
	GROW(x->pure_of, k, x->cap_pure_of, 1);
	GROW(x->next, k, x->cap_next, 1);
	GROW(x->found, k, x->cap_found, 1);
	GROW(p->kernel, p->n_kernel, p->cap_kernel, 1);
	x->pure_of[k] = pure;
	x->next[k] = x->first[pure];
	x->first[pure] = k;
	p->kernel[p->n_kernel++] = (struct prov_kernel){.name = arena_slice(&p->arena, name)};
	return k;
}

static void kernels_release(struct kernels *x)
{
	intern_release(&x->name);
	intern_release(&x->pure);
	free(x->pure_of);
	free(x->first);
	free(x->next);
	free(x->found);
}

/* Kernel names in a line, as whole words: "triton_poi_fused_0.run(", "extern_kernels.addmm(", "call_triton_poi_fused_0(",
 * "aoti_torch_cpu_addmm_out(". Calls *each with the index of the pure name; false stops. */
struct scanner {
	const struct kernels *x;
	struct slice rest;  /* of the line */
	struct slice chain; /* the a.b.c being searched; from: position in it */
	size_t from, to;
};

static size_t end_of_part(struct slice s, size_t from)
{
	while (from < s.n && s.p[from] != '.' && s.p[from] != ':')
		from++;
	return from;
}

/* The next pure name in the line, or NONE. Chains of many parts are nothing Inductor writes. */
static uint32_t next_name(struct scanner *z)
{
	for (;;) {
		while (z->from < z->chain.n) {
			while (z->to < z->chain.n) {
				z->to = end_of_part(z->chain, z->to + 1);
				struct slice s = slice_of(z->chain.p + z->from, z->to - z->from);
				uint32_t i = intern_find(&z->x->pure, s);
				if (i == NONE && slice_starts(s, "call_"))
					i = intern_find(&z->x->pure, slice_of(s.p + 5, s.n - 5));
				if (i != NONE)
					return i;
			}
			z->from = end_of_part(z->chain, z->from);
			while (z->from < z->chain.n && (z->chain.p[z->from] == '.' || z->chain.p[z->from] == ':'))
				z->from++;
			z->to = z->from;
		}
		struct slice s = z->rest;
		while (s.n && !word_start(*s.p))
			s = slice_of(s.p + 1, s.n - 1);
		if (!s.n)
			return NONE;
		size_t n = 0, parts = 0;
		while (n < s.n && (word(s.p[n]) || s.p[n] == '.' || s.p[n] == ':')) {
			parts += !word(s.p[n]);
			n++;
		}
		z->chain = slice_of(s.p, parts <= 16 && n <= 1024 ? n : 0);
		z->from = z->to = 0;
		z->rest = slice_of(s.p + n, s.n - n);
	}
}

static bool is_comment(struct slice s) { return slice_starts(s, "#") || slice_starts(s, "//"); }

/* Number of opened minus closed brackets, outside quotes. */
static int depth_of(struct slice s)
{
	int d = 0;
	char quote = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (quote) {
			if (c == '\\')
				i++;
			else if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '(' || c == '[') {
			d++;
		} else if (c == ')' || c == ']') {
			d--;
		} else if (c == '#' || (c == '/' && i + 1 < s.n && s.p[i + 1] == '/')) {
			break;
		}
	}
	return d;
}

enum { PENDING_MAX = 64, CALLS_MAX = 1 << 20 };

struct code {
	struct provenance *p;
	struct kernels *x;
	unsigned which; /* 0: PROV_CODE, 1: PROV_AOT */
	struct {
		uint32_t kernel, line;
	} pending[PENDING_MAX]; /* handles met, and the first code line after them */
	unsigned n_pending;
	int depth;          /* of the open call */
	uint32_t open_from; /* the calls whose end is not yet seen: p->call[which][open_from...] */
};

static void add_call(struct code *c, uint32_t kernel, uint32_t line)
{
	struct provenance *p = c->p;
	unsigned w = c->which;
	if (p->n_call[w] >= CALLS_MAX)
		return;
	GROW(p->call[w], p->n_call[w], p->cap_call[w], 1);
	p->call[w][p->n_call[w]++] = (struct prov_call){kernel, line, line};
}

/* For handles whose kernel is called by another name, uses the code after the comment. */
static void give_up(struct code *c)
{
	for (unsigned i = 0; i < c->n_pending; i++)
		if (c->pending[i].line)
			add_call(c, c->pending[i].kernel, c->pending[i].line);
	c->n_pending = 0;
}

static bool handles(struct code *c, struct slice s)
{
	static const char mark[] = "[Provenance debug handles]";
	const char *at = slice_find(s, mark);
	if (!at)
		return false;
	if (c->n_pending && c->pending[0].line)
		give_up(c);
	struct slice rest = slice_trim(slice_of(at + sizeof(mark) - 1, (size_t)(s.p + s.n - at) - (sizeof(mark) - 1)));
	for (bool whole = true; rest.n && c->n_pending < PENDING_MAX; whole = false) {
		/* One handle, whose name may have commas, or a list. */
		uint32_t k = whole ? intern_find(&c->x->name, rest) : NONE;
		const char *comma = k == NONE ? slice_find(rest, ", ") : NULL;
		struct slice one = comma ? slice_trim(slice_of(rest.p, (size_t)(comma - rest.p))) : rest;
		if (k == NONE)
			k = intern_find(&c->x->name, one);
		rest = comma ? slice_of(comma + 2, (size_t)(rest.p + rest.n - comma - 2)) : SLICE("");
		if (k != NONE) {
			c->x->found[k] = true;
			c->pending[c->n_pending].kernel = k;
			c->pending[c->n_pending++].line = 0;
		}
	}
	return true;
}

/* Calls of this line: those announced by a handle; without handles, by name alone (all of them, once each). */
static void find_calls(struct code *c, struct slice s, uint32_t n, bool announced)
{
	struct scanner z = {.x = c->x, .rest = s};
	for (uint32_t pure; (pure = next_name(&z)) != NONE;) {
		if (announced) {
			for (unsigned i = 0; i < c->n_pending; i++)
				if (c->x->pure_of[c->pending[i].kernel] == pure) {
					add_call(c, c->pending[i].kernel, n);
					c->n_pending--;
					memmove(&c->pending[i], &c->pending[i + 1], (c->n_pending - i) * sizeof(*c->pending));
					break; /* the next of the name is the next handle's */
				}
			continue;
		}
		for (uint32_t k = c->x->first[pure]; k != NONE; k = c->x->next[k])
			if (!c->x->found[k] && (!c->p->n_call[c->which] || c->p->call[c->which][c->p->n_call[c->which] - 1].kernel != k ||
						c->p->call[c->which][c->p->n_call[c->which] - 1].first != n))
				add_call(c, k, n);
	}
}

/* Does the part of the wrapper that runs begin here? */
static bool runs_from(struct slice s, unsigned which)
{
	return which ? slice_find(s, "::run_impl(") != NULL : slice_starts(s, "def call(") || slice_starts(s, "def partition_");
}

static void walk_code(struct code *c, struct slice text, bool announced)
{
	struct provenance *p = c->p;
	unsigned w = c->which;
	struct slice rest = text, line;
	bool runs = announced;
	/* Without handles only the wrapper's body counts; all of it if there is no such body. */
	if (!runs) {
		while (!runs && slice_line(&rest, &line))
			runs = runs_from(skip_blanks(line), w);
		runs = !runs;
		rest = text;
	}
	uint32_t n = 1, open_line = 0;
	for (; slice_line(&rest, &line); n++) {
		struct slice s = skip_blanks(line);
		if (open_line) { /* inside a call of several lines */
			c->depth += depth_of(s);
			for (uint32_t i = c->open_from; i < p->n_call[w]; i++)
				p->call[w][i].last = n;
			if (c->depth > 0 && n - open_line < PROV_CALL_LINES)
				continue;
			open_line = 0;
			continue;
		}
		if (!s.n)
			continue;
		if (is_comment(s)) {
			if (announced)
				handles(c, s);
			continue;
		}
		if (!runs) {
			runs = runs_from(s, w);
			continue;
		}
		if (announced && !c->n_pending)
			continue;
		for (unsigned i = 0; i < c->n_pending; i++)
			if (!c->pending[i].line)
				c->pending[i].line = n;
		c->open_from = p->n_call[w];
		find_calls(c, s, n, announced);
		if (p->n_call[w] > c->open_from && (c->depth = depth_of(s)) > 0)
			open_line = n;
	}
	if (announced)
		give_up(c);
}

/* NAME = async_compile.triton('NAME', '''  ...  ''')      Python
 * static inline void call_NAME(  ...  }                    C++, with Triton kernels */
static void find_definitions(struct provenance *p, const struct kernels *x, struct slice text, bool cpp)
{
	struct slice line;
	uint32_t open = NONE, from = 0; /* the pure name being defined */
	for (uint32_t n = 1; slice_line(&text, &line); n++) {
		if (open != NONE) {
			bool end = cpp ? slice_starts(line, "}") : slice_find(line, "'''") != NULL;
			if (!end)
				continue;
			for (uint32_t k = x->first[open]; k != NONE; k = x->next[k])
				if (!p->kernel[k].def_first) {
					p->kernel[k].def_first = from;
					p->kernel[k].def_last = n;
				}
			open = NONE;
			continue;
		}
		struct slice s = line;
		if (cpp) {
			const char *call = slice_find(line, "void call_");
			if (!call || (line.n && line.p[line.n - 1] == ';'))
				continue;
			s = slice_of(call + 10, (size_t)(line.p + line.n - call - 10));
		}
		struct slice name = take_word(&s);
		if (!name.n || (!cpp && (!slice_starts(s, " = async_compile.") || !slice_find(s, "'''"))))
			continue;
		open = intern_find(&x->pure, name);
		from = n;
	}
}

static void read_code(struct provenance *p, struct kernels *x, unsigned which, struct slice text)
{
	struct code c = {.p = p, .x = x, .which = which};
	bool all = true;
	if (!text.n || !p->n_kernel)
		return;
	memset(x->found, 0, p->n_kernel * sizeof(*x->found));
	walk_code(&c, text, true);
	for (uint32_t k = 0; k < p->n_kernel; k++)
		all &= x->found[k];
	if (!all)
		walk_code(&c, text, false);
	find_definitions(p, x, text, which);
}

/* ---- links ---- */

static void add_link(struct provenance *p, enum prov_way way, uint32_t from, uint32_t to)
{
	if (p->n_link[way] >= PROV_LINKS_MAX)
		return;
	GROW(p->link[way], p->n_link[way], p->cap_link[way], 1);
	p->link[way][p->n_link[way]++] = (struct prov_link){from, to};
}

/* {node: [node...]}: ahead, and with `back` also the reverse (if the log has no separate mapping for that). */
static void link_nodes(struct provenance *p, const struct json_tape *t, uint32_t map, enum prov_way ahead, int back,
		       const struct nodes *from, const struct nodes *to)
{
	LOCAL_BUF tmp = {0};
	json_each_pair(t, map, k) {
		uint32_t line = node_line(from, json_text_at(t, k, &tmp));
		if (!line || !json_is(t, k + 1, JSON_ARRAY))
			continue;
		json_each(t, k + 1, i) {
			uint32_t other = node_line(to, json_text_at(t, i, &tmp));
			if (!other)
				continue;
			add_link(p, ahead, line, other);
			if (back >= 0)
				add_link(p, (enum prov_way)back, other, line);
		}
	}
}

/* The calls of each kernel, to walk them by kernel: head per kernel, next per call. */
struct by_kernel {
	uint32_t *head, *next;
};

static struct by_kernel calls_by_kernel(const struct provenance *p, unsigned which)
{
	struct by_kernel x = {xcalloc(p->n_kernel + 1u, 4), xcalloc(p->n_call[which] + 1u, 4)};
	for (uint32_t i = p->n_call[which]; i-- > 0;) {
		x.next[i] = x.head[p->call[which][i].kernel];
		x.head[p->call[which][i].kernel] = i + 1;
	}
	return x;
}

/* {kernel: [node...]} or, inverted, {node: [kernel...]}. */
static void link_kernels(struct provenance *p, const struct json_tape *t, uint32_t map, bool turned, bool to_post, bool to_code,
			 const struct kernels *x, const struct nodes *post)
{
	LOCAL_BUF tmp = {0};
	struct by_kernel calls[2] = {calls_by_kernel(p, 0), calls_by_kernel(p, 1)};
	json_each_pair(t, map, k) {
		if (!json_is(t, k + 1, JSON_ARRAY))
			continue;
		struct slice key = json_text_at(t, k, &tmp);
		uint32_t line = turned ? node_line(post, key) : 0, kernel = turned ? NONE : intern_find(&x->name, key);
		json_each(t, k + 1, i) {
			if (!json_is(t, i, JSON_STRING))
				continue;
			struct slice item = json_text_at(t, i, &tmp);
			if (turned)
				kernel = intern_find(&x->name, item);
			else
				line = node_line(post, item);
			if (!line || kernel == NONE)
				continue;
			for (unsigned w = 0; w < 2; w++)
				for (uint32_t c = calls[w].head[kernel]; c; c = calls[w].next[c - 1]) {
					uint32_t at = p->call[w][c - 1].first;
					if (to_post && p->n_link[w ? AOT_TO_POST : CODE_TO_POST] < PROV_LINKS_MAX)
						add_link(p, w ? AOT_TO_POST : CODE_TO_POST, at, line);
					else if (!to_code || p->n_link[w ? POST_TO_AOT : POST_TO_CODE] >= PROV_LINKS_MAX)
						break;
					if (to_code)
						add_link(p, w ? POST_TO_AOT : POST_TO_CODE, line, at);
				}
		}
	}
	for (unsigned w = 0; w < 2; w++) {
		free(calls[w].head);
		free(calls[w].next);
	}
}

static int by_line(const void *a, const void *b)
{
	const struct prov_link *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from ? 1 : x->to < y->to ? -1 : x->to > y->to;
}

static void sort_links(struct provenance *p, enum prov_way way)
{
	struct prov_link *l = p->link[way];
	uint32_t n = 0;
	if (!p->n_link[way])
		return;
	qsort(l, p->n_link[way], sizeof(*l), by_line);
	for (uint32_t i = 0; i < p->n_link[way]; i++)
		if (!n || by_line(&l[n - 1], &l[i]))
			l[n++] = l[i];
	p->n_link[way] = n;
}

static int by_call(const void *a, const void *b)
{
	const struct prov_call *x = a, *y = b;
	return x->first < y->first ? -1 : x->first > y->first ? 1 : x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

bool provenance_build(struct provenance *p, const struct slice text[PROV_TEXTS])
{
	struct json_tape map = {0}, stacks = {0};
	struct nodes pre = {0}, post = {0};
	struct kernels x = {0};
	OWNED(intern_release) struct intern seen = {0};
	LOCAL_BUF tmp = {0};
	uint32_t root, other;

	json_tape_text(&map, text[PROV_MAP].p, text[PROV_MAP].n);
	if (json_parse(&map, 0, text[PROV_MAP].n, &root) < 0 || !json_is(&map, root, JSON_OBJECT))
		root = NONE;
	json_tape_text(&stacks, text[PROV_STACKS].p, text[PROV_STACKS].n);
	if (json_parse(&stacks, 0, text[PROV_STACKS].n, &other) < 0)
		other = NONE;
	uint32_t kernel_map = json_get_as(&map, root, "cppCodeToPost", JSON_OBJECT);
	uint32_t node_map = json_get_as(&map, root, "postToCppCode", JSON_OBJECT);
	uint32_t ahead = json_get_as(&map, root, "preToPost", JSON_OBJECT), back = json_get_as(&map, root, "postToPre", JSON_OBJECT);

	read_graph(p, 0, text[PROV_PRE], &pre, &seen);
	read_graph(p, 1, text[PROV_POST], &post, &seen);
	json_each_pair(&map, kernel_map, k)
		add_kernel(p, &x, json_text_at(&map, k, &tmp));
	if (kernel_map == NONE)
		json_each_pair(&map, node_map, k)
			json_each(&map, k + 1, i)
				if (json_is(&map, i, JSON_STRING))
					add_kernel(p, &x, json_text_at(&map, i, &tmp));
	json_each_pair(&stacks, other, k)
		add_kernel(p, &x, json_text_at(&stacks, k, &tmp));
	read_code(p, &x, 0, text[PROV_CODE]);
	read_code(p, &x, 1, text[PROV_AOT]);

	link_nodes(p, &map, ahead, PRE_TO_POST, back == NONE ? POST_TO_PRE : -1, &pre, &post);
	link_nodes(p, &map, back, POST_TO_PRE, ahead == NONE ? PRE_TO_POST : -1, &post, &pre);
	link_kernels(p, &map, kernel_map, false, true, node_map == NONE, &x, &post);
	link_kernels(p, &map, node_map, true, kernel_map == NONE, true, &x, &post);
	for (unsigned i = 0; i < PROV_WAYS; i++)
		sort_links(p, i);
	for (unsigned i = 0; i < 2; i++)
		if (p->n_call[i])
			qsort(p->call[i], p->n_call[i], sizeof(*p->call[i]), by_call);
	json_tape_release(&map);
	json_tape_release(&stacks);
	nodes_release(&pre);
	nodes_release(&post);
	kernels_release(&x);
	return root != NONE;
}

void provenance_release(struct provenance *p)
{
	for (unsigned i = 0; i < PROV_WAYS; i++)
		free(p->link[i]);
	for (unsigned i = 0; i < 2; i++) {
		free(p->call[i]);
		free(p->origin[i]);
	}
	free(p->kernel);
	free(p->source);
	arena_release(&p->arena);
	*p = (struct provenance){0};
}

/* ---- queries ---- */

uint32_t provenance_first(const struct provenance *p, enum prov_way way, uint32_t line)
{
	uint32_t lo = 0, hi = p->n_link[way];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->link[way][mid].from < line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct srcloc *provenance_source(const struct provenance *p, unsigned graph, uint32_t line)
{
	uint32_t lo = 0, hi = p->n_origin[graph];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->origin[graph][mid].line <= line)
			lo = mid + 1;
		else
			hi = mid;
	}
	uint32_t source = lo ? p->origin[graph][lo - 1].source : NONE;
	return source == NONE ? NULL : &p->source[source];
}

static void put_text(struct json_out *o, struct slice s)
{
	if (s.n)
		json_out_str(o, s);
	else
		json_out_null(o);
}

static void put_calls(struct json_out *o, const struct provenance *p, unsigned which)
{
	json_member_arr(o, which ? "aotCalls" : "codeCalls");
	for (uint32_t i = 0; i < p->n_call[which]; i++) {
		json_arr(o);
		json_out_u64(o, p->call[which][i].kernel);
		json_out_u64(o, p->call[which][i].first);
		json_out_u64(o, p->call[which][i].last);
		json_close(o);
	}
	json_close(o);
}

void provenance_json(const struct provenance *p, struct json_out *o)
{
	char line[16];
	json_obj(o);
	for (unsigned w = 0; w < PROV_WAYS; w++) {
		json_member_obj(o, prov_way_name[w]);
		for (uint32_t i = 0; i < p->n_link[w];) {
			uint32_t from = p->link[w][i].from;
			snprintf(line, sizeof(line), "%u", from);
			json_member_arr(o, line);
			for (; i < p->n_link[w] && p->link[w][i].from == from; i++)
				json_out_u64(o, p->link[w][i].to);
			json_close(o);
		}
		json_close(o);
	}
	json_member_arr(o, "kernels");
	for (uint32_t k = 0; k < p->n_kernel; k++) {
		json_arr(o);
		json_out_str(o, p->kernel[k].name);
		json_out_u64(o, p->kernel[k].def_first);
		json_out_u64(o, p->kernel[k].def_last);
		json_close(o);
	}
	json_close(o);
	put_calls(o, p, 0);
	put_calls(o, p, 1);
	json_member_arr(o, "sources");
	for (uint32_t i = 0; i < p->n_source; i++) {
		json_arr(o);
		json_out_str(o, p->source[i].file);
		json_out_u64(o, p->source[i].line);
		put_text(o, p->source[i].func);
		put_text(o, p->source[i].code);
		json_close(o);
	}
	json_close(o);
	for (unsigned g = 0; g < 2; g++) {
		json_member_arr(o, g ? "postSource" : "preSource");
		for (uint32_t i = 0; i < p->n_origin[g]; i++) {
			json_arr(o);
			json_out_u64(o, p->origin[g][i].line);
			json_out_i64(o, p->origin[g][i].source == NONE ? -1 : (int64_t)p->origin[g][i].source);
			json_close(o);
		}
		json_close(o);
	}
	json_close(o);
}
