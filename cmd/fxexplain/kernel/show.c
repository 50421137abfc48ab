/* show.c - prints `fxexplain kernel`. */
#include "kernel/kernel_part.h"

#include "base/text.h"

#define CACHED "  from the cache: the Python lines are those of the program that filled it"
enum { NARROW = 120 };

const char *language_of(const struct kernelmap *m, const struct kmuse *u)
{
	if (u->kernel == NONE)
		return "torch";
#define WORD(id, method, word) word,
	static const char *const words[] = {OUTLANGS(WORD)};
	return words[m->code.kernel[u->kernel].lang];
}

static void cell(struct buf *b, struct slice s)
{
	buf_add_clean(b, s);
	buf_addc(b, '\t');
}

static void nodes(struct buf *b, const struct kernelmap *m, struct kmlist l, bool computed)
{
	bool any = false;
	for (uint32_t i = 0; i < l.n; i++) {
		const struct kmnode *n = &m->node[m->item[l.first + i]];
		if (computed && !n->compute)
			continue;
		buf_adds(b, any ? ", " : "");
		buf_add_clean(b, n->name);
		any = true;
	}
}

/* In a table that must fit a terminal: without directories. */
static void places(struct buf *b, const struct kernelmap *m, struct kmlist l, bool narrow)
{
	for (uint32_t i = 0; i < l.n; i++) {
		const struct srcloc *at = &m->source[m->item[l.first + i]];
		struct slice file = narrow ? slice_base(at->file) : srcloc_short_file(at->file);
		buf_adds(b, i ? ", " : "");
		buf_add_clean(b, file);
		buf_addf(b, ":%u", at->line);
	}
}

void show_table(struct screen *s, const struct kernelmaps *k)
{
	LOCAL_BUF b = {0};
	bool any = false;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct kernelmap *m = k->map[i];
		buf_reset(&b);
		if (any)
			buf_addc(&s->b, '\n');
		any = true;
		buf_add_clean(&b, m->in.name);
		put_bold(s, buf_str(&b));
		buf_reset(&b);
		char note[sizeof(m->note)];
		memcpy(note, m->note, sizeof(note));
		clean_text(note, strlen(note));
		if (m->ir && !m->n_use)
			buf_adds(&b, m->post.n_node ? "  no code: code generation failed" : "  no code: the scheduler failed");
		else if (m->note[0])
			buf_addf(&b, "  (%s)", note);
		if (m->in.cached)
			buf_adds(&b, CACHED);
		put_dim(s, buf_str(&b));
		buf_addc(&s->b, '\n');
		buf_reset(&b);
		buf_adds(&b, "line\tkernel\t\tFX nodes\tPython\n");
		for (uint32_t u = 0; u < m->n_use; u++) {
			const struct kmuse *x = &m->use[u];
			buf_addf(&b, "%u\t", m->code.call[x->call].line);
			buf_add_clean(&b, x->name);
			buf_addf(&b, "\t%s\t", language_of(m, x));
			nodes(&b, m, x->fx, true);
			buf_addc(&b, '\t');
			places(&b, m, x->source, s->width && s->width < NARROW);
			buf_addc(&b, '\n');
		}
		if (m->n_use)
			put_table(s, buf_slice(&b));
	}
}

/* ---- a kernel's code ---- */

static size_t indent_of(struct slice line)
{
	size_t n = 0;
	while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	return n;
}

/* Does the line compute something, or only load it? */
static bool says(const struct kmline *l) { return l->node != NONE && l->how != MATCH_NONE && l->kind != OP_LOAD && l->kind != OP_ALIAS; }

static void comment(struct buf *b, const struct kernelmap *m, const struct kmuse *u, const struct kmline *l, struct slice line)
{
	const struct kmnode *n = &m->node[l->node];
	bool cpp = m->code.kernel[u->kernel].lang != OUT_TRITON;
	buf_addf(b, "%*s%s FX%s: ", (int)indent_of(line), "", cpp ? "//" : "#", l->how == MATCH_GUESS ? ", possibly" : "");
	if (l->how == MATCH_PART)
		buf_adds(b, "part of ");
	kernelmap_node(b, n);
	if (n->source != NONE) {
		buf_adds(b, "   ");
		kernelmap_source(b, m, n->source);
	}
	buf_addc(b, '\n');
}

/* A kernel's code, with nodes as comments above the lines that they belong to. */
static void annotate(struct screen *screen, const struct kernelmap *m, const struct kmuse *u)
{
	struct buf *b = &screen->b;
	struct slice rest = kernelmap_text(m, u), line;
	uint32_t last = NONE;
	for (uint32_t n = 0; slice_line(&rest, &line); n++) {
		const struct kmline *l = n < u->n_lines ? &m->line[u->line + n] : NULL;
		struct slice s = slice_trim(line);
		const size_t from = b->len;
		if (!s.n || *s.p == '}' || *s.p == '{')
			last = NONE; /* another copy of the body */
		if (l && says(l) && l->node != last) {
			comment(b, m, u, l, line);
			last = l->node;
		}
		buf_add_clean(b, line);
		buf_addc(b, '\n');
		int indent = (int)indent_of(line) + 8; /* continuation lines are indented further */
		put_wraps(screen, from, indent < screen->width / 2 ? indent : screen->width / 2);
	}
}

/* ---- sections about a kernel ---- */

/* A place in the program, and the code there. */
static void source_line(struct screen *s, const char *before, const struct kernelmap *m, uint32_t at)
{
	buf_adds(&s->b, before);
	LOCAL_BUF place = {0};
	kernelmap_source(&place, m, at);
	put_style_text(s, STYLE_LINE, buf_slice(&place));
	put_text_line(s, m->source[at].code.n ? "   " : "", m->source[at].code);
}

static void show_sources(struct screen *s, const struct kernelmap *m, struct kmlist l)
{
	if (!l.n)
		return;
	put_heading(s, "Python");
	for (uint32_t i = 0; i < l.n; i++)
		source_line(s, "  ", m, m->item[l.first + i]);
}

static void node_row(struct buf *b, const struct kernelmap *m, const struct kmnode *n)
{
	cell(b, n->name);
	cell(b, n->shape);
	cell(b, n->text);
	kernelmap_source(b, m, n->source);
	buf_addc(b, '\n');
}

static void show_nodes(struct screen *s, const struct kernelmap *m, const struct kmuse *u)
{
	static const struct {
		unsigned bit;
		const char *text;
	} from[] = {
	    {KM_FROM_MAP, "torch's node mappings"}, {KM_FROM_COMMENT, "comments in the code"},
	    {KM_FROM_LOG, "the fusion log"},        {KM_FROM_FLOW, "data flow"},
	    {KM_FROM_NAME, "the kernel's name"},    {KM_FROM_SOURCE, "the comment above the call: nodes before AOTAutograd"},
	};
	LOCAL_BUF b = {0};
	bool any = false, more = false;
	if (!u->fx.n)
		return;
	put_heading(s, "FX nodes");
	for (uint32_t i = 0; i < u->fx.n && !more; i++) {
		const struct kmnode *n = &m->node[m->item[u->fx.first + i]];
		more = n->shape.n || n->text.n || n->source != NONE;
	}
	if (more) {
		buf_adds(&b, "node\tshape\tcall\tPython\n");
		for (uint32_t i = 0; i < u->fx.n; i++)
			node_row(&b, m, &m->node[m->item[u->fx.first + i]]);
		put_table(s, buf_slice(&b));
	} else { /* from a package: only their names are known */
		buf_adds(&s->b, "  ");
		nodes(&s->b, m, u->fx, false);
		buf_addc(&s->b, '\n');
	}
	buf_reset(&b);
	buf_adds(&b, "  from ");
	for (size_t i = 0; i < ARRAY_LEN(from); i++)
		if (u->from & from[i].bit) {
			buf_addf(&b, "%s%s", any ? ", " : "", from[i].text);
			any = true;
		}
	put_dim(s, buf_str(&b));
	buf_addc(&s->b, '\n');
}

static void names(struct buf *b, const struct irtext *ir, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(b, i ? ", " : "");
		buf_add_clean(b, ir->name[first + i]);
	}
}

static void show_ir(struct screen *s, const struct kernelmap *m, const struct kmuse *u)
{
	LOCAL_BUF b = {0};
	if (!u->ir.n)
		return;
	put_heading(s, "IR");
	buf_adds(&b, "node\tkind\tloops\treads\twrites\tFX nodes\n");
	for (uint32_t i = 0; i < u->ir.n; i++) {
		uint32_t row = m->item[u->ir.first + i];
		const struct irnode *n = &m->ir->node[row];
		cell(&b, n->name);
		cell(&b, n->kind);
		cell(&b, n->group.n ? n->group : n->kernel);
		names(&b, m->ir, n->unmet, n->n_unmet);
		buf_adds(&b, n->n_unmet && n->n_met ? ", " : "");
		names(&b, m->ir, n->met, n->n_met);
		buf_addc(&b, '\t');
		names(&b, m->ir, n->write, n->n_writes);
		buf_addc(&b, '\t');
		nodes(&b, m, m->ir_fx[row], true);
		buf_addc(&b, '\n');
	}
	put_table(s, buf_slice(&b));
}

static void show_fusion(struct screen *s, struct kernelmap *m, uint32_t use)
{
	struct kmfusion row[24];
	uint32_t n = kernelmap_fusion(m, use, row, ARRAY_LEN(row));
	const struct kmuse *u = &m->use[use];
	uint32_t outer = u->ir.n ? irtext_outermost(m->ir, m->item[u->ir.first]) : NONE;
	bool fused = outer != NONE && m->ir->node[outer].members;
	if (!n && !fused)
		return;
	put_heading(s, "Fusion");
	if (fused) {
		buf_adds(&s->b, "  ");
		buf_add_clean(&s->b, m->ir->node[outer].name);
		buf_adds(&s->b, " is a ");
		buf_add_clean(&s->b, m->ir->node[outer].kind);
		buf_addf(&s->b, " of %u nodes\n", m->ir->node[outer].members);
	}
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(&s->b, row[i].done ? "  fused " : "  not fused ");
		buf_add_clean(&s->b, row[i].a);
		buf_adds(&s->b, " with ");
		buf_add_clean(&s->b, row[i].b);
		if (row[i].reason.n) {
			buf_adds(&s->b, ": ");
			buf_add_clean(&s->b, row[i].reason);
		}
		if (row[i].derived)
			put_dim(s, "   (seen in the IR; TORCH_LOGS=fusion logs torch's reason)");
		buf_addc(&s->b, '\n');
	}
}

static void show_kernel(struct screen *s, struct kernelmap *m, uint32_t use)
{
	const struct kmuse *u = &m->use[use];
	const struct outcall *c = &m->code.call[u->call];
	LOCAL_BUF b = {0};
	buf_add_clean(&b, u->name);
	put_bold(s, buf_str(&b));
	buf_addf(&s->b, "   %s, ", u->kernel == NONE ? "a torch operator" : language_of(m, u));
	buf_add_clean(&s->b, m->in.name);
	buf_addf(&s->b, ", called in line %u", c->line);
	if (u->kernel != NONE)
		buf_addf(&s->b, ", defined in line %u%s", m->code.kernel[u->kernel].line,
			 m->code.kernel[u->kernel].in_kernel_file && m->in.kernels.p != m->in.wrapper.p ? " of kernel.cpp" : "");
	if (m->in.cached)
		put_dim(s, CACHED);
	buf_addc(&s->b, '\n');
	if (u->types.n) {
		put_heading(s, "Types");
		put_text_line(s, "  ", u->types);
	}
	show_sources(s, m, u->source);
	show_nodes(s, m, u);
	show_ir(s, m, u);
	show_fusion(s, m, use);
	if (u->kernel != NONE) {
		put_heading(s, language_of(m, u));
		annotate(s, m, u);
	}
}

/* ---- from a node or line to kernels ---- */

/* Lines of a kernel call that come from an FX or IR node. */
static void show_lines(struct screen *s, const struct kernelmap *m, const struct kmuse *u, struct kmhit hit)
{
	struct slice rest = kernelmap_text(m, u), line;
	for (uint32_t n = 0; slice_line(&rest, &line); n++) {
		const struct kmline *l = n < u->n_lines ? &m->line[u->line + n] : NULL;
		bool mine = l && says(l);
		if (hit.what == KM_FX)
			mine &= mine && l->node == hit.row;
		else if (hit.what == KM_IR)
			mine &= mine && l->ir_node == hit.row;
		else
			mine &= mine && m->node[l->node].source == hit.row;
		if (!mine)
			continue;
		buf_addf(&s->b, "%6u  ", m->code.kernel[u->kernel].line + n);
		buf_add_clean(&s->b, slice_trim(line));
		if (l->how == MATCH_GUESS)
			put_dim(s, "   (possibly)");
		buf_addc(&s->b, '\n');
	}
}

static void show_uses(struct screen *s, const struct kernelmap *m, struct kmhit hit)
{
	bool any = false;
	for (uint32_t u = 0; u < m->n_use; u++) {
		if (!kernelmap_use_has(m, u, hit))
			continue;
		if (!any)
			put_heading(s, "Kernels");
		any = true;
		buf_adds(&s->b, "  ");
		buf_add_clean(&s->b, m->use[u].name);
		buf_addf(&s->b, "   called in line %u\n", m->code.call[m->use[u].call].line);
		if (m->use[u].kernel != NONE)
			show_lines(s, m, &m->use[u], hit);
	}
	if (!any)
		buf_adds(&s->b, "\n  not in any kernel: views, arguments and nodes optimised away have none\n");
}

static void show_ir_text(struct screen *s, const struct irtext *ir, uint32_t row)
{
	struct slice rest = ir->text, line;
	for (uint32_t n = 1; slice_line(&rest, &line) && n <= ir->node[row].last; n++)
		if (n >= ir->node[row].line)
			put_text_line(s, "  ", line);
}

void show_hit(struct screen *s, const struct kernelmaps *k, struct kernel_hit hit)
{
	struct kernelmap *m = k->map[hit.map];
	LOCAL_BUF b = {0};
	if (s->b.len)
		buf_addc(&s->b, '\n');
	if (hit.at.what == KM_KERNEL) {
		show_kernel(s, m, hit.at.row);
		return;
	}
	if (hit.at.what == KM_SOURCE)
		kernelmap_source(&b, m, hit.at.row);
	else
		buf_add_clean(&b, hit.at.what == KM_FX ? m->node[hit.at.row].name : m->ir->node[hit.at.row].name);
	put_bold(s, buf_str(&b));
	static const char *const kinds[] = {"kernel", "FX node", "IR node", "Python line"};
	buf_addf(&s->b, "   %s of ", kinds[hit.at.what]);
	put_text_line(s, "", m->in.name);
	buf_reset(&b);
	if (hit.at.what == KM_FX) {
		buf_adds(&b, "node\tshape\tcall\tPython\n");
		node_row(&b, m, &m->node[hit.at.row]);
		put_table(s, buf_slice(&b));
	} else if (hit.at.what == KM_SOURCE) {
		buf_adds(&b, "node\tshape\tcall\tPython\n");
		for (uint32_t i = 0; i < m->n_node; i++)
			if (m->node[i].source == hit.at.row && m->node[i].compute)
				node_row(&b, m, &m->node[i]);
		put_table(s, buf_slice(&b));
	} else {
		show_ir_text(s, m->ir, hit.at.row);
		nodes(&b, m, m->ir_fx[hit.at.row], true);
		if (b.len)
			buf_addf(&s->b, "\n  FX nodes: %s\n", buf_str(&b));
	}
	show_uses(s, m, hit.at);
}

/* ---- compiler errors ---- */

void show_error(struct screen *s, const struct kernelmaps *k, const struct kmlocation *at)
{
	put_error(s, "Compile error");
	put_text_line(s, "   ", at->error.message);
	if (at->line == NONE) {
		buf_adds(&s->b, "  ");
		buf_add_clean(&s->b, at->error.file);
		buf_addf(&s->b, ":%u: ", at->error.line);
		buf_add_clean(&s->b, at->quoted);
		buf_adds(&s->b, "\n  no kernel in the inputs has this line\n\n");
		return;
	}
	const struct kernelmap *m = k->map[at->map];
	const struct kmuse *u = &m->use[at->use];
	const struct kmline *l = &m->line[u->line + at->line - 1];
	buf_adds(&s->b, "  kernel    ");
	buf_add_clean(&s->b, u->name);
	buf_addf(&s->b, ", line %u of ", m->code.kernel[u->kernel].line + at->line - 1);
	buf_add_clean(&s->b, m->in.name);
	buf_addf(&s->b, "%s\n", at->several ? " (several lines match; this one is closest)" : "");
	put_text_line(s, "  line      ", at->quoted);
	if (l->ir_node != NONE) {
		struct slice rest = m->ir->text, line;
		buf_adds(&s->b, "  IR        ");
		buf_add_clean(&s->b, m->ir->node[l->ir_node].name);
		for (uint32_t n = 1; slice_line(&rest, &line); n++)
			if (n == l->ir_line) {
				buf_adds(&s->b, ": ");
				buf_add_clean(&s->b, slice_trim(line));
			}
		buf_addc(&s->b, '\n');
	}
	if (l->node != NONE) {
		const struct kmnode *n = &m->node[l->node];
		buf_addf(&s->b, "  FX        %s", l->how == MATCH_GUESS ? "possibly " : l->how == MATCH_PART ? "part of " : "");
		kernelmap_node(&s->b, n);
		buf_addc(&s->b, '\n');
		if (n->source != NONE)
			source_line(s, "  Python    ", m, n->source);
	}
	buf_addc(&s->b, '\n');
}
