/* imashow.c - the findings of --ima as text: faults first, then problems found before a launch, then what to try next. */
#include "fault.h"
#include "base/text.h"
#include "watch/show.h"

#include <inttypes.h>

enum { INDENT = 12, FAULTS = 8, FINDINGS = 8, LINES = 4 };

static void label(struct screen *s, const char *text) { buf_addf(&s->b, "  %-10s", text); }

static void add_three(struct buf *b, uint64_t x, uint64_t y, uint64_t z)
{
	buf_addf(b, "(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", x, y, z);
}

static void add_size(struct buf *b, uint64_t n)
{
	if (n != IMA_NONE)
		buf_addf(b, "%" PRIu64, n);
	buf_addc(b, '\t');
}

/* ---- arguments ---- */

static void add_shape(struct buf *b, const struct ima_param *p)
{
	buf_add_slice(b, p->dtype);
	if (p->n_dim < 0)
		return;
	buf_addc(b, '[');
	show_numbers(b, p->dim, p->n_dim);
	buf_adds(b, "] strides (");
	show_numbers(b, p->stride, p->n_dim);
	buf_addc(b, ')');
}

static void add_head(struct buf *b, const struct fault_case *c, uint32_t i)
{
	buf_addf(b, "%u\t", c->e->fault ? i : c->e->param);
	buf_add_slice(b, fault_name(c, i));
	buf_addc(b, '\t');
}

static void add_argument(struct buf *b, const struct fault_case *c, uint32_t i)
{
	const struct ima_param *p = &c->e->p[i];
	add_head(b, c, i);
	buf_add_slice(b, p->role);
	buf_addc(b, '\t');
	if (p->tensor)
		add_shape(b, p);
	else if (p->value != IMA_NONE && p->allocation)
		buf_adds(b, "a pointer");
	else if (p->value != IMA_NONE)
		buf_addf(b, "%" PRId64, fault_number(p));
	buf_addc(b, '\n');
}

static void add_memory(struct buf *b, const struct fault_case *c, uint32_t i)
{
	const struct ima_param *p = &c->e->p[i];
	if ((!p->tensor && !p->allocation) || p->address == IMA_NONE)
		return;
	add_head(b, c, i);
	buf_addf(b, "0x%" PRIx64 "\t", p->address);
	add_size(b, p->extent);
	add_size(b, p->storage);
	add_size(b, ima_room(p));
	if (p->allocation)
		buf_addf(b, "0x%" PRIx64 " + %" PRIu64, p->base, p->allocation);
	buf_addc(b, '\n');
}

static void show_arguments(struct screen *s, const struct fault_case *c)
{
	struct buf b = {0};
	if (!c->e->n)
		return;
	buf_adds(&b, "#\targument\trole\twhat\n");
	for (uint32_t i = 0; i < c->e->n; i++)
		add_argument(&b, c, i);
	buf_addc(&s->b, '\n');
	put_table(s, buf_slice(&b));
	buf_reset(&b);
	/* Bytes spanned by its sizes and strides; from its address to the end of its storage, and of the driver's allocation. */
	buf_adds(&b, "#\targument\taddress\tspans\tstorage\troom\tallocation\n");
	size_t head = b.len;
	for (uint32_t i = 0; i < c->e->n; i++)
		add_memory(&b, c, i);
	if (b.len > head) {
		buf_addc(&s->b, '\n');
		put_table(s, buf_slice(&b));
	}
	buf_release(&b);
}

/* ---- the call ---- */

static void show_list(struct screen *s, const char *name, const struct slice *v, uint32_t n)
{
	if (!n)
		return;
	label(s, name);
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(&s->b, i ? ", " : "");
		buf_add_clean(&s->b, v[i]);
	}
	buf_addc(&s->b, '\n');
}

static void show_source(struct screen *s, const struct fault_case *c)
{
	const struct contract_call *k = c->call;
	if (k && k->line) {
		label(s, "from");
		buf_addf_clean(&s->b, "%s", c->model && c->model->text ? path_base(c->model->text) : "wrapper.cpp");
		buf_addf(&s->b, ":%u\n", k->line);
	}
	if (c->from.n_pre || c->from.n_nodes)
		show_list(s, "nodes", c->from.n_pre ? c->from.pre : c->from.node, c->from.n_pre ? c->from.n_pre : c->from.n_nodes);
	else if (k && k->nodes.n)
		show_list(s, "nodes", &k->nodes, 1);
	if (k && k->aten.n)
		show_list(s, "ATen", &k->aten, 1);
	for (uint32_t i = c->from.n_lines > LINES ? c->from.n_lines - LINES : 0, n = 0; i < c->from.n_lines; i++) {
		label(s, n++ ? "" : "Python");
		put_style_text(s, STYLE_LINE, c->from.line[i]);
		buf_addc(&s->b, '\n');
	}
}

static void show_call(struct screen *s, const struct fault_case *c)
{
	const struct ima_event *e = c->e;
	label(s, "in");
	live_process_text(&s->b, e->pid, e->rank);
	buf_addf(&s->b, ", call %u", e->call);
	if (e->run != NONE)
		buf_addf(&s->b, " of run %u", e->run);
	if (c->contract && c->contract->model.n) {
		buf_adds(&s->b, " of ");
		buf_add_clean(&s->b, c->contract->model);
	}
	buf_addc(&s->b, '\n');
	show_source(s, c);
	if (e->graph) {
		label(s, "replay");
		buf_addf(&s->b, "%" PRIu64 " of CUDA graph %" PRIu64 ", with %" PRIu64 " model calls in it\n", e->replay, e->graph,
			 e->captured);
		show_list(s, "kernels", e->in_graph, e->n_in_graph);
	}
	if (!e->launch)
		return;
	label(s, "launch");
	if (e->function.n) {
		buf_add_clean(&s->b, e->function);
		buf_adds(&s->b, ", ");
	}
	buf_adds(&s->b, "grid ");
	add_three(&s->b, e->grid[0], e->grid[1], e->grid[2]);
	buf_adds(&s->b, ", block ");
	add_three(&s->b, e->block[0], e->block[1], e->block[2]);
	buf_addf(&s->b, ", %" PRIu64 " bytes of shared memory", e->shared);
	if (e->stream != IMA_NONE)
		buf_addf(&s->b, ", stream 0x%" PRIx64, e->stream);
	if (e->device >= 0)
		buf_addf(&s->b, ", cuda:%d", e->device);
	buf_addc(&s->b, '\n');
}

static void show_symbols(struct screen *s, const struct fault_case *c)
{
	if (!c->n_symbols)
		return;
	label(s, "sizes");
	for (uint32_t k = 0; k < c->n_symbols; k++) {
		buf_adds(&s->b, k ? ", " : "");
		buf_add_clean(&s->b, c->symbol[k].name);
		buf_addf(&s->b, " = %" PRId64, c->symbol[k].value);
	}
	buf_addc(&s->b, '\n');
}

static void show_suspects(struct screen *s, const struct fault_case *c)
{
	const struct ima_event *e = c->e;
	for (uint32_t i = 0; i < e->n_suspects; i++) {
		label(s, ima_certain(&e->suspect[i]) ? "suspect" : "possible");
		buf_add_clean(&s->b, e->suspect[i].text);
		buf_addc(&s->b, '\n');
	}
	if (e->n_suspects || !e->launch || slice_is(e->when, "before") || slice_is(e->when, "launch"))
		return;
	label(s, "suspect");
	if (e->code == 710)
		buf_adds(&s->b, "a check in the kernel itself failed (an index out of range): see standard error for which one\n");
	else if (e->code == 719 || e->code == 702)
		buf_adds(&s->b, "no tensor: the error is not about memory. A trap or an endless loop in the kernel itself\n");
	else
		buf_adds(&s->b, "no tensor: all are inside their memory, and no number is larger than what is written. So the kernel's own "
				"addressing: a missing mask, a wrong stride, or a grid that is too large\n");
}

static void add_past(struct buf *b, const struct fault_call *p)
{
	if (p->run == CALLS_NO_RUN)
		buf_addf(b, "-\t%u\t%s", p->call, p->name);
	else
		buf_addf(b, "%u\t%u\t%s", p->run, p->call, p->name);
	buf_addc(b, '\t');
	if (p->line)
		buf_addf(b, "%u", p->line);
	buf_addc(b, '\t');
	if (p->launched)
		add_three(b, p->launch.grid[0], p->launch.grid[1], p->launch.grid[2]);
	buf_addc(b, '\t');
	if (p->launched)
		add_three(b, p->launch.block[0], p->launch.block[1], p->launch.block[2]);
	buf_addf(b, "\t%s\n", p->launched && p->launch.captured ? "captured" : p->returned ? "" : "did not return");
}

static void show_past(struct screen *s, const struct fault_case *c)
{
	struct buf b = {0};
	if (!c->n_last)
		return;
	buf_adds(&b, "run\tcall\tlast calls, up to this one\tline\tgrid\tblock\t\n");
	for (size_t i = 0; i < c->n_last; i++)
		add_past(&b, c->last[i]);
	buf_addc(&s->b, '\n');
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

/* ---- all ---- */

static void show_title(struct screen *s, const struct fault_case *c)
{
	const struct ima_event *e = c->e;
	struct buf b = {0};
	buf_add_clean(&b, e->kernel);
	buf_adds(&b, ": ");
	if (e->fault) {
		buf_add_clean(&b, e->code == 700 ? SLICE("illegal memory access") : e->text.n ? e->text : SLICE("the GPU failed"));
		buf_adds(&b, " (");
		buf_add_clean(&b, e->error.n ? e->error : SLICE("error"));
		buf_addf(&b, ", %" PRIu64 ")", e->code);
	} else {
		struct buf name = {0};
		ima_param_name(e, 0, &name);
		buf_add_clean(&b, buf_slice(&name));
		buf_addf(&b, " %s", ima_what(e->what));
		buf_release(&name);
	}
	put_error(s, buf_str(&b));
	buf_addc(&s->b, '\n');
	buf_release(&b);
}

static void show_case(struct screen *s, const struct fault_case *c)
{
	const size_t from = s->b.len;
	show_title(s, c);
	if (c->e->fault) {
		show_suspects(s, c);
		label(s, "seen");
		buf_addf(&s->b, "%s\n", fault_when(c->e->when));
	}
	show_call(s, c);
	show_symbols(s, c);
	put_wraps(s, from, INDENT);
	show_arguments(s, c);
	show_past(s, c);
	buf_addc(&s->b, '\n');
}

static void show_more(struct screen *s, size_t n, const char *what)
{
	if (n)
		buf_addf(&s->b, "%zu more %s%s (--json shows all)\n\n", n, what,
			 slice_ends(slice_str(what), "s") && n > 1 ? "es" : plural(n));
}

static void show_steps(struct screen *s, const struct fault_report *r)
{
	for (size_t i = 0; i < r->n_steps; i++) {
		const size_t from = s->b.len;
		buf_addf(&s->b, "%s %s\n", i ? "     " : "next:", r->step[i].text);
		put_wraps(s, from, 6);
		if (!r->step[i].command.n)
			continue;
		buf_adds(&s->b, "        ");
		buf_add_clean(&s->b, r->step[i].command);
		buf_addc(&s->b, '\n');
	}
}

static void show_sanitizer(struct screen *s, const struct sanitize *z)
{
	for (size_t i = 0; i < z->found.n && i < FINDINGS; i++) {
		const size_t from = s->b.len;
		struct buf b = {0};
		sanitize_sentence(&z->row[i], &b);
		put_error(s, buf_str(&b));
		buf_addc(&s->b, '\n');
		buf_reset(&b);
		sanitize_place(&z->row[i], &b);
		label(s, "in");
		put_text(s, buf_slice(&b));
		buf_adds(&s->b, "\n\n");
		put_wraps(s, from, INDENT);
		buf_release(&b);
	}
}

void fault_show(struct screen *s, const struct fault_report *r)
{
	size_t shown = 0;
	for (size_t i = 0; i < r->n_faults && i < FAULTS; i++)
		show_case(s, &r->v[i]);
	show_more(s, r->n_faults > FAULTS ? r->n_faults - FAULTS : 0, "fault");
	for (size_t i = r->n_faults; i < r->n && shown < FINDINGS; i++, shown++)
		show_case(s, &r->v[i]);
	show_more(s, r->n - r->n_faults - shown, "finding");
	if (r->sanitize) {
		show_sanitizer(s, r->sanitize);
		show_more(s, r->sanitize->found.n > FINDINGS ? r->sanitize->found.n - FINDINGS : 0, "access");
	}
	for (size_t i = 0; i < r->n_deaths; i++) {
		const size_t from = s->b.len;
		struct buf b = {0};
		buf_add_clean(&b, r->death[i]);
		put_error(s, buf_str(&b));
		buf_addc(&s->b, '\n');
		put_wraps(s, from, INDENT);
		buf_release(&b);
	}
	show_steps(s, r);
}

const char *fault_when(struct slice when)
{
	if (slice_is(when, "before"))
		return "the error existed before this call: something that ran earlier, and is not a call of a model, caused it";
	if (slice_is(when, "launch"))
		return "the driver rejected the launch";
	if (slice_is(when, "values"))
		return "while copying its values";
	if (slice_is(when, "later"))
		return "after the calls, none of which was waited for";
	return "this call caused it: the one before succeeded";
}

struct slice fault_name(const struct fault_case *c, uint32_t param)
{
	const struct ima_param *p = &c->e->p[param];
	if (p->buffer.n)
		return p->buffer;
	if (p->tensor && c->call && p->arg < c->call->n_args)
		return c->contract->arg[c->call->arg + p->arg].text;
	return p->text;
}

const struct ima_suspect *fault_suspect(const struct fault_case *c, uint32_t param)
{
	for (uint32_t i = 0; i < c->e->n_suspects; i++)
		if (c->e->suspect[i].param == param)
			return &c->e->suspect[i];
	return NULL;
}

int64_t fault_number(const struct ima_param *p) { return p->size == 4 ? (int64_t)(int32_t)p->value : (int64_t)p->value; }
