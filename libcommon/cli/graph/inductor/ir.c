/* ir.c - ir_pre_fusion.txt, ir_post_fusion.txt -> nodes. Line by line; unknown lines are skipped. */
#include "graph/inductor/ir.h"
#include "base/rows.h"
#include "graph/inductor/words.h"

struct reader {
	struct irtext *t;
	struct slice rest;
	uint32_t line;   /* of the last result of next_line */
	uint32_t node;   /* being read */
	uint32_t parent; /* of the next header: set by "X.snodes[0] =" */
	bool has_parent;
	bool in_body, in_outputs;
	uint8_t block;
};

static bool next_line(struct reader *r, struct slice *line)
{
	if (!slice_line(&r->rest, line))
		return false;
	r->line++;
	*line = slice_trim(*line);
	return true;
}

/* ---- multi-line values ---- */

static int depth_of(struct slice s, char *quote)
{
	int d = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (*quote) {
			if (c == '\\')
				i++;
			else if (c == *quote)
				*quote = 0;
		} else if (c == '\'' || c == '"') {
			*quote = c;
		} else if (c == '[' || c == '(' || c == '{') {
			d++;
		} else if (c == ']' || c == ')' || c == '}') {
			d--;
		}
	}
	return d;
}

/* The expression after "=", with its continuation lines. */
static struct slice whole_value(struct reader *r, struct slice value)
{
	struct slice line;
	char quote = 0;
	int depth = 0;
	if (!value.n) { /* pprint's long form starts on the next line */
		if (!r->rest.n || (*r->rest.p != ' ' && *r->rest.p != '\t') || !next_line(r, &line))
			return value;
		value = line;
	}
	const char *from = value.p;
	depth = depth_of(value, &quote);
	while (depth > 0 && next_line(r, &line)) {
		depth += depth_of(line, &quote);
		value = slice_of(from, (size_t)(line.p + line.n - from));
	}
	return value;
}

/* ---- lists of names ---- */

static bool add_name(struct irtext *t, struct slice name)
{
	if (t->n_name >= IR_MAX)
		return false;
	PUSH(t, name) = name;
	return true;
}

/* MemoryDep('buf0', c0, {c0: 6}), StarDep(name='buf0', mode=None), WeakDep(...), MemoryDep(name='buf0', index=c0, size=(s0,)):
 * the first quoted name after each "Dep(". */
static uint32_t take_deps(struct irtext *t, struct slice value, uint32_t *n)
{
	uint32_t first = t->n_name;
	for (const char *dep; (dep = slice_find(value, "Dep("));) {
		value = after(value, (size_t)(dep + 4 - value.p));
		struct slice s = slice_starts(value, "name=") ? after(value, 5) : value;
		if (!s.n || (*s.p != '\'' && *s.p != '"'))
			continue;
		const char *end = memchr(s.p + 1, *s.p, s.n - 1);
		if (end && !add_name(t, slice_of(s.p + 1, (size_t)(end - s.p - 1))))
			break;
	}
	*n = t->n_name - first;
	return first;
}

/* NodeUser(node=SchedulerNode(name='op3'), can_inplace=False), NodeUser(node=OUTPUT, ...) */
static uint32_t take_users(struct irtext *t, struct slice value, uint32_t *n)
{
	uint32_t first = t->n_name;
	for (const char *user; (user = slice_find(value, "node="));) {
		value = after(value, (size_t)(user + 5 - value.p));
		struct slice s = value, name = take_name(&s);
		if (slice_starts(s, "(name='")) {
			const char *end = memchr(s.p + 7, '\'', s.n - 7);
			name = end ? slice_of(s.p + 7, (size_t)(end - s.p - 7)) : name;
		}
		if (name.n && !add_name(t, name))
			break;
	}
	*n = t->n_name - first;
	return first;
}

/* ---- nodes ---- */

/* "op0: SchedulerNode(ComputedBuffer)": a name, a kind, brackets to the end. */
static bool header(struct slice line, struct slice *name, struct slice *kind, struct slice *ir)
{
	struct slice s = line;
	*name = take_name(&s);
	if (!name->n || !slice_starts(s, ": "))
		return false;
	s = after(s, 2);
	*kind = take_name(&s);
	if (!slice_ends(*kind, "Node") && !slice_starts(*kind, "Fused") && !slice_starts(*kind, "Foreach") && !slice_ends(*kind, "Kernel"))
		return false;
	if (s.n < 2 || *s.p != '(' || s.p[s.n - 1] != ')')
		return false;
	*ir = slice_of(s.p + 1, s.n - 2);
	return true;
}

static void add_node(struct reader *r, struct slice name, struct slice kind, struct slice ir)
{
	struct irtext *t = r->t;
	r->in_body = r->in_outputs = false;
	if (t->n_node >= IR_MAX)
		return;
	GROW(t->node, t->n_node, t->cap_node, 1);
	uint32_t row = intern_add(&t->names, name);
	GROW(t->by_name, row, t->cap_by_name, 1);
	t->by_name[row] = r->node = t->n_node;
	t->node[t->n_node++] = (struct irnode){
	    .name = name, .kind = kind, .ir = ir, .line = r->line, .last = r->line, .parent = r->has_parent ? r->parent : NONE};
	if (r->has_parent)
		t->node[r->parent].members++;
	r->has_parent = false;
}

static void add_out(struct irtext *t, struct irnode *n, struct slice name, struct slice kind)
{
	if (t->n_out >= IR_MAX)
		return;
	if (!n->n_outs)
		n->out = t->n_out;
	PUSH(t, out) = (struct irout){.name = name, .kind = kind};
	n->n_outs++;
}

/* "op0.writes = ...", "buf0.layout = ..."; false: a different line. */
static bool field(struct reader *r, struct slice line)
{
	struct irtext *t = r->t;
	struct slice s = line, name = take_name(&s);
	if (!name.n || !s.n || *s.p != '.')
		return false;
	const char *eq = slice_find(s, " =");
	if (!eq || eq == s.p + 1)
		return false;
	struct slice key = slice_of(s.p + 1, (size_t)(eq - s.p - 1));
	struct slice value = slice_trim(slice_of(eq + 2, (size_t)(s.p + s.n - eq - 2)));
	if (slice_starts(key, "snodes[")) {
		uint32_t at = irtext_node(t, name);
		r->has_parent = at != NONE;
		r->parent = at;
		r->in_body = r->in_outputs = false;
		return true;
	}
	if (r->node == NONE)
		return true;
	if (slice_is(key, "outputs")) {
		r->in_outputs = true;
		return true;
	}
	value = whole_value(r, value);
	struct irnode *n = &t->node[r->node];
	if (!slice_eq(name, n->name) || (slice_is(key, "users") && !n->n_outs)) { /* a buffer's, or a node's in old torch */
		if (!n->n_outs && slice_eq(name, n->name))
			add_out(t, n, name, n->ir);
		struct irout *o = n->n_outs ? &t->out[n->out + n->n_outs - 1] : NULL;
		if (!o || !slice_eq(o->name, name))
			return true;
		if (slice_is(key, "layout"))
			o->layout = value;
		else if (slice_is(key, "users"))
			o->user = take_users(t, value, &o->n_users);
		return true;
	}
	if (slice_is(key, "writes"))
		n->write = take_deps(t, value, &n->n_writes);
	else if (slice_is(key, "unmet_dependencies"))
		n->unmet = take_deps(t, value, &n->n_unmet);
	else if (slice_is(key, "met_dependencies"))
		n->met = take_deps(t, value, &n->n_met);
	else if (slice_is(key, "group.device"))
		n->device = value;
	else if (slice_is(key, "group.iteration"))
		n->group = value;
	else if (slice_is(key, "sizes"))
		n->sizes = value;
	else if (slice_is(key, "node.kernel"))
		n->kernel = value;
	return true;
}

/* ---- loop bodies ---- */

/* "mul = ops.mul(load, constant)", "ops.store(...)", "set_indirect0 = self.set_indirect0(load_1)" */
static bool operation(struct reader *r, struct slice line)
{
	struct irtext *t = r->t;
	struct irnode *n = &t->node[r->node];
	struct slice s = line, result = take_name(&s);
	if (slice_starts(s, " = ")) {
		s = after(s, 3);
	} else {
		s = line;
		result = SLICE("");
	}
	bool self = slice_starts(s, "self.");
	if (!self && !slice_starts(s, "ops.")) { /* getitem = reduction[0] */
		struct slice of = take_name(&s);
		if (!result.n || !of.n || s.n < 3 || *s.p != '[' || s.p[s.n - 1] != ']' || t->n_op >= IR_MAX)
			return false;
		if (!n->n_ops)
			n->op = t->n_op;
		PUSH(t, op) =
		    (struct irop){.result = result, .name = SLICE("getitem"), .args = of, .line = r->line, .block = r->block, .self = true};
		n->n_ops++;
		return true;
	}
	s = after(s, self ? 5 : 4);
	struct slice name = take_name(&s);
	if (!name.n || s.n < 2 || *s.p != '(' || s.p[s.n - 1] != ')' || t->n_op >= IR_MAX)
		return false;
	if (!n->n_ops)
		n->op = t->n_op;
	PUSH(t, op) = (struct irop){
	    .result = result, .name = name, .args = slice_of(s.p + 1, s.n - 2), .line = r->line, .block = r->block, .self = self};
	n->n_ops++;
	return true;
}

static void body_line(struct reader *r, struct slice line)
{
	struct irtext *t = r->t;
	struct irnode *n = &t->node[r->node];
	struct slice s = line, name = take_name(&s);
	n->body_last = r->line;
	if (slice_is(name, "def")) {
		r->block = slice_starts(s, " body(") ? 0 : r->block < UINT8_MAX ? r->block + 1 : r->block;
	} else if (slice_is(name, "var_ranges") && slice_starts(s, " = ")) {
		n->ranges = after(s, 3);
	} else if (slice_starts(name, "index") && slice_starts(s, " = ") && t->n_index < IR_MAX) {
		if (!n->n_indexes)
			n->index = t->n_index;
		PUSH(t, index) = (struct irindex){name, after(s, 3)};
		n->n_indexes++;
	} else {
		operation(r, line);
	}
}

void irtext_read(struct irtext *t, struct slice text)
{
	struct reader r = {.t = t, .rest = text, .node = NONE};
	struct slice line, name, kind, ir;
	*t = (struct irtext){.text = text};
	while (next_line(&r, &line)) {
		if (!line.n) {
			r.in_body = false;
			continue;
		}
		if (header(line, &name, &kind, &ir)) {
			add_node(&r, name, kind, ir);
			continue;
		}
		if (r.node != NONE && slice_starts(line, "class ") && slice_ends(line, "_loop_body:")) {
			r.in_body = true;
			r.block = 0;
			t->node[r.node].body = t->node[r.node].body_last = r.line;
		} else if (r.in_outputs && slice_is(line, "]")) {
			r.in_outputs = false;
		} else if (slice_find(line, ".snodes[") && field(&r, line)) {
			continue;
		} else if (r.in_body) {
			body_line(&r, line);
		} else if (r.in_outputs && r.node != NONE && !slice_find(line, " = ")) {
			struct slice s = line;
			name = take_name(&s);
			if (name.n && slice_starts(s, ": "))
				add_out(t, &t->node[r.node], name, after(s, 2));
		} else {
			field(&r, line);
		}
		if (r.node != NONE)
			t->node[r.node].last = r.line;
	}
	/* The text of a fused node includes that of its members, which follow it. */
	for (uint32_t i = t->n_node; i-- > 0;) {
		uint32_t p = t->node[i].parent;
		if (p != NONE && t->node[p].last < t->node[i].last)
			t->node[p].last = t->node[i].last;
	}
}

void irtext_release(struct irtext *t)
{
	free(t->node);
	free(t->op);
	free(t->index);
	free(t->out);
	free(t->name);
	free(t->by_name);
	intern_release(&t->names);
	*t = (struct irtext){0};
}

uint32_t irtext_node(const struct irtext *t, struct slice name)
{
	uint32_t i = intern_find(&t->names, name);
	return i == NONE ? NONE : t->by_name[i];
}

/* Parents come before their members, so this terminates. */
uint32_t irtext_outermost(const struct irtext *t, uint32_t node)
{
	while (t->node[node].parent != NONE)
		node = t->node[node].parent;
	return node;
}

bool irop_arg(struct slice *rest, struct slice *arg)
{
	struct slice s = slice_trim(*rest);
	char quote = 0;
	size_t i = 0;
	int depth = 0;
	if (!s.n)
		return false;
	for (; i < s.n; i++) {
		char c = s.p[i];
		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (c == ')' || c == ']' || c == '}') {
			depth--;
		} else if (c == ',' && depth <= 0) {
			break;
		}
	}
	*arg = slice_trim(slice_of(s.p, i));
	*rest = i < s.n ? after(s, i + 1) : SLICE("");
	return true;
}

struct slice ir_unquote(struct slice s)
{
	bool quoted = s.n >= 2 && (*s.p == '\'' || *s.p == '"') && s.p[s.n - 1] == *s.p;
	return quoted ? slice_of(s.p + 1, s.n - 2) : s;
}
