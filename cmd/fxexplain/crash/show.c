/* show.c - prints the verdict, the place in the program, the call's tensors, the stack, and what to do next. */
#include "crash/crash_part.h"

#include <ctype.h>

#include "base/srcloc.h"
#include "base/text.h"
#include "tensor/dtype.h"

enum { FRAMES_SHOWN = 10, LINES_SHOWN = 4, TEXT_SHOWN = 300 };

/* "torch::aot_inductor::AOTInductorModel::run_impl" of a mangled name or one with arguments. */
static void crash_function(struct buf *b, struct slice s)
{
	size_t at = slice_starts(s, "_ZNK") ? 4 : slice_starts(s, "_ZN") ? 3 : 0, n, start = b->len;
	/* _ZN 5torch 12aot_inductor ... E: the parts of a nested name; anything else stays mangled */
	for (; at && at < s.n && isdigit((unsigned char)s.p[at]); at += n) {
		for (n = 0; at < s.n && isdigit((unsigned char)s.p[at]) && n < s.n; at++)
			n = n * 10 + (size_t)(s.p[at] - '0');
		if (n > s.n - at)
			break;
		buf_addf(b, "%s%.*s", b->len > start ? "::" : "", (int)n, s.p + at);
	}
	if (b->len > start)
		return;
	size_t depth = 0, end = s.n;
	for (size_t i = 1; i < s.n && end == s.n; i++) { /* not the "(" of "(anonymous namespace)" */
		depth += s.p[i] == '<';
		depth -= s.p[i] == '>' && depth;
		if (s.p[i] == '(' && !depth && s.p[i - 1] != ':')
			end = i;
	}
	buf_add_slice(b, slice_trim(slice_of(s.p, end)));
}

const char *crash_role(enum arg_role role)
{
	static const char *const name[] = {"reads", "writes", "reads and writes", ""};
	return (size_t)role < ARRAY_LEN(name) ? name[role] : "";
}

void crash_value_kind(struct buf *b, const struct contract *c, const struct contract_value *v)
{
	if (v->kind == VALUE_INPUT && v->index < c->n_inputs) {
		struct slice path = c->input[v->index].path;
		buf_adds(b, "input ");
		buf_add_slice(b, path.n ? path : SLICE("?"));
	} else if (v->kind == VALUE_CONSTANT && v->index < c->n_constants) {
		struct slice fqn = c->constant[v->index].fqn;
		buf_addf(b, "constant %.*s", SL(fqn));
	} else {
		buf_adds(b, "buffer");
	}
}

void crash_sizes(struct buf *b, const struct contract *c, const struct contract_value *v, bool strides)
{
	buf_addc(b, '[');
	for (int d = 0; d < v->n_dim; d++) {
		buf_adds(b, d ? ", " : "");
		symsize_print(&c->tab, strides ? v->dim[d].stride : v->dim[d].size, b);
	}
	buf_adds(b, v->n_dim < 0 ? "?]" : "]");
}

static void cell(struct buf *b, struct slice s)
{
	buf_add_clean(b, slice_of(s.p, s.n < TEXT_SHOWN ? s.n : TEXT_SHOWN));
	buf_adds(b, s.n > TEXT_SHOWN ? "..." : "");
}

/* "wrapper.so" without the hash before it, which means nothing to a reader; with several models "ciw25x..wrapper.so". */
static void add_file(struct buf *b, struct slice name, const struct crash_answer *a, bool all)
{
	name = slice_base(name);
	size_t stem = 0;
	while (stem < name.n && isalnum((unsigned char)name.p[stem]))
		stem++;
	if (!all && stem >= 40 && stem + 1 < name.n)
		buf_addf(b, "%.*s%s%.*s", a->map.n > 1 ? 6 : 0, name.p, a->map.n > 1 ? ".." : "", (int)(name.n - stem - 1),
			 name.p + stem + 1);
	else
		buf_add_slice(b, name);
}

/* "AOTInductorModel::run_impl": without the runtime's namespaces. */
static void add_function(struct buf *b, struct slice symbol, bool all)
{
	static const char *const space[] = {"torch::aot_inductor::", "torch::inductor::"};
	LOCAL_BUF name = {0};
	crash_function(&name, symbol);
	struct slice s = buf_slice(&name);
	for (size_t i = 0; i < ARRAY_LEN(space) && !all; i++)
		if (slice_starts(s, space[i]))
			s = slice_of(s.p + strlen(space[i]), s.n - strlen(space[i]));
	cell(b, s);
}

static void row(struct screen *s, const char *what, struct slice text)
{
	size_t from = s->b.len;
	buf_addf(&s->b, "  %-9s ", what);
	cell(&s->b, text);
	buf_addc(&s->b, '\n');
	put_wraps(s, from, 12);
}

/* The user's own line. */
static void own_row(struct screen *s, const char *what, struct slice text)
{
	LOCAL_BUF b = {0};
	size_t from = s->b.len;
	cell(&b, text);
	buf_addf(&s->b, "  %-9s ", what);
	put_style_text(s, STYLE_LINE, buf_slice(&b));
	buf_addc(&s->b, '\n');
	put_wraps(s, from, 12);
}

static void line_row(struct screen *s, const char *what, uint32_t line, struct slice text)
{
	LOCAL_BUF b = {0};
	buf_addf(&b, "line %u: ", line);
	cell(&b, text);
	row(s, what, buf_slice(&b));
}

static void names_row(struct screen *s, const char *what, const struct slice *v, uint32_t n)
{
	LOCAL_BUF b = {0};
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&b, "%s%.*s", i ? ", " : "", SL(v[i]));
	if (n)
		row(s, what, buf_slice(&b));
}

static const char *known_words(const struct crash_place *p)
{
	switch (p->known) {
	case BY_LINE: return "by line information";
	case BY_NAME: return "the program calls it once";
	case BY_ORDER: return "by the order of the calls in the machine code";
	default: return "";
	}
}

static void show_arguments(struct screen *s, const struct contract *c, const struct contract_call *call)
{
	LOCAL_BUF b = {0};
	buf_adds(&b, "#\tname\twhat\trole\tdtype\tsizes\tstrides\n");
	uint32_t shown = 0;
	for (uint32_t i = 0; i < call->n_args; i++) {
		const struct contract_arg *a = &c->arg[call->arg + i];
		if (a->value == NONE || a->value >= c->n_values)
			continue;
		const struct contract_value *v = &c->value[a->value];
		buf_addf(&b, "%u\t%.*s\t", i, SL(v->name));
		crash_value_kind(&b, c, v);
		buf_addf(&b, "\t%s\t%s\t", crash_role(a->role), v->dtype == DTYPE_NONE ? "?" : dtype_name(v->dtype));
		crash_sizes(&b, c, v, false);
		buf_addc(&b, '\t');
		crash_sizes(&b, c, v, true);
		buf_addc(&b, '\n');
		shown++;
	}
	if (shown) {
		put_heading(s, "The call's tensors, as compiled");
		put_table(s, buf_slice(&b));
	}
}

/* The innermost frame that has a line in each text. */
static const struct crash_place *place_in(const struct crash_answer *a, bool kernel)
{
	const struct crash_stack *s = crash_main_stack(&a->crash);
	for (uint32_t i = s ? s->first : 0; s && i < s->first + s->n; i++) {
		const struct crash_place *p = &a->map.place[i];
		if (p->library && p->line && !a->crash.frame[i].handler &&
		    slice_eq(p->file, kernel ? p->library->kernels_name : p->library->wrapper_name))
			return p;
	}
	return NULL;
}

static void show_place(struct screen *s, const struct crash_answer *a)
{
	const struct crash_place *p = a->verdict.call_frame == NONE ? NULL : &a->map.place[a->verdict.call_frame];
	const struct crash_place *kernel = place_in(a, true), *wrapper = place_in(a, false);
	LOCAL_BUF call = {0};
	if (!p && !kernel && !wrapper)
		return;
	put_heading(s, "Where in the model");
	if (p && p->call)
		buf_addf(&call, "%.*s (%s)", SL(p->call->name), known_words(p));
	else if (p && p->candidates)
		buf_addf(&call, "one of the %u calls of %.*s", p->candidates, SL(p->kernel.n ? p->kernel : p->called));
	if (call.len)
		row(s, "call", buf_slice(&call));
	if (kernel)
		line_row(s, "kernel", kernel->line, kernel->text);
	if (wrapper)
		line_row(s, "wrapper", wrapper->line, wrapper->text);
	else if (p && p->call && p->call->line)
		line_row(s, "wrapper", p->call->line, slice_trim(crash_text_line(p->library->wrapper, p->call->line)));
	if (a->operand.n)
		row(s, "operand", a->operand);
	if (!p || !p->call)
		return;
	names_row(s, "nodes", p->source.n_nodes ? p->source.node : &p->call->nodes,
		  p->source.n_nodes ? p->source.n_nodes : p->call->nodes.n > 0);
	names_row(s, "from", p->source.pre, p->source.n_pre);
	for (uint32_t i = 0; i < p->source.n_lines && i < LINES_SHOWN; i++)
		own_row(s, i ? "" : "Python", p->source.line[i]);
	if (p->source.n_lines > LINES_SHOWN)
		row(s, "", SLICE("..."));
	show_arguments(s, &p->library->loaded.contract, p->call);
}

static void frame_row(struct buf *b, const struct crash_answer *a, uint32_t at, uint32_t i, bool all)
{
	const struct crash_frame *f = &a->crash.frame[at];
	const struct crash_place *p = &a->map.place[at];
	buf_addf(b, "%u\t", f->number == NONE ? i : f->number);
	add_file(b, f->module, a, all);
	if (p->has_address)
		buf_addf(b, "+0x%llx", (unsigned long long)p->address);
	else if (f->has & HAS_OFFSET)
		buf_addf(b, "+0x%llx", (unsigned long long)f->offset);
	else if (f->has & HAS_FILE_OFFSET)
		buf_addf(b, " (0x%llx in the file)", (unsigned long long)f->offset);
	else if (!f->module.n && f->has & HAS_ADDRESS)
		buf_addf(b, "0x%llx", (unsigned long long)f->address);
	buf_addc(b, '\t');
	add_function(b, f->symbol.n ? f->symbol : p->symbol, all);
	buf_addc(b, '\t');
	if (p->line || f->line) {
		add_file(b, p->line ? p->file : f->file, a, all);
		buf_addf(b, ":%u", p->line ? p->line : f->line);
	}
	buf_addc(b, '\n');
}

static void show_stack(struct screen *s, const struct crash_answer *a, const struct crash_stack *st, bool all)
{
	LOCAL_BUF b = {0};
	uint32_t shown = 0, left = 0, handlers = 0;
	buf_adds(&b, "#\tmodule\tfunction\tline\n");
	for (uint32_t i = 0; i < st->n; i++) {
		const struct crash_frame *f = &a->crash.frame[st->first + i];
		if (f->handler && !all)
			handlers++;
		else if (shown++ < FRAMES_SHOWN || all)
			frame_row(&b, a, st->first + i, i, all);
		else
			left++;
	}
	put_heading(s, "Stack, innermost first");
	put_table(s, buf_slice(&b));
	if (left)
		buf_addf(&s->b, "  %u more (--all)\n", left);
	if (handlers)
		buf_addf(&s->b, "  %u frames of the signal handler left out (--all)\n", handlers);
}

static void show_python(struct screen *s, const struct crash_answer *a, bool all)
{
	const struct crash_stack *st = crash_python_stack(&a->crash);
	uint32_t shown = 0;
	if (!st)
		return;
	put_heading(s, "Python, innermost first");
	for (uint32_t i = 0; i < st->n; i++) {
		const struct crash_frame *f = &a->crash.frame[st->first + i];
		if (shown++ >= FRAMES_SHOWN && !all)
			break;
		buf_addf(&s->b, "  ");
		cell(&s->b, srcloc_short_file(f->file));
		buf_addf(&s->b, ":%u%s", f->line, f->symbol.n ? " in " : "");
		cell(&s->b, f->symbol);
		buf_addc(&s->b, '\n');
	}
}

static void show_others(struct screen *s, const struct crash_answer *a, bool all)
{
	const struct crash_stack *main = crash_main_stack(&a->crash);
	uint32_t n = 0;
	for (uint32_t i = 0; i < a->crash.n_stacks; i++)
		n += &a->crash.stack[i] != main && !a->crash.stack[i].python && a->crash.stack[i].n > 1;
	for (uint32_t i = 0; all && i < a->crash.n_stacks; i++) {
		const struct crash_stack *st = &a->crash.stack[i];
		if (st == main || st->python || !st->n)
			continue;
		buf_adds(&s->b, "\nAlso: ");
		cell(&s->b, st->name);
		buf_addc(&s->b, '\n');
		show_stack(s, a, st, all);
	}
	if (n && !all)
		buf_addf(&s->b, "  %u other stack%s (--all)\n", n, plural(n));
}

static void lines(struct screen *s, const struct slice *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		size_t from = s->b.len;
		put_text_line(s, "  ", v[i]);
		put_wraps(s, from, 4);
	}
}

void crash_show(struct screen *s, const struct crash_answer *a, bool all)
{
	const struct crash_verdict *v = &a->verdict;
	const struct crash_stack *st = crash_main_stack(&a->crash);
	if (v->kind == KIND_NONE) {
		buf_adds(&s->b, "nothing about a crash found: no backtrace, no signal, no known error\n");
		return;
	}
	LOCAL_BUF title = {0};
	buf_add_clean(&title, v->title);
	put_error(s, buf_str(&title));
	buf_addc(&s->b, '\n');
	lines(s, v->why, v->n_why);
	if (a->crash.said.n && !a->crash.from_core)
		row(s, "message:", a->crash.said);
	show_place(s, a);
	if (st)
		show_stack(s, a, st, all);
	if (a->unwinding.n) {
		buf_adds(&s->b, "  ");
		cell(&s->b, a->unwinding);
		buf_addc(&s->b, '\n');
	}
	if (a->missing.n) {
		buf_adds(&s->b, "  '");
		cell(&s->b, a->missing);
		buf_adds(&s->b, "' differs from the one in the core, or is missing: its callers above may be wrong or missing (give the "
				"model's package)\n");
	}
	show_others(s, a, all);
	show_python(s, a, all);
	if (v->n_steps) {
		put_heading(s, "Next");
		lines(s, v->step, v->n_steps);
	}
}
