/* Prints as PyTorch's own debug printer does (watch/show.h, and torch/_inductor/codegen/debug_utils.py), with where a call comes from
 * before it. Otherwise than there: only what a call reads is shown before it, and only what it wrote after it. */
#include "watch/show.h"
#include "printer.h"
#include "tensor/tensor.h"
#include "tensor/write.h"
#include "base/text.h"

#include <inttypes.h>

static void add_cleans(struct buf *b, const char *text) { buf_add_clean(b, slice_str(text)); }

void add_call_name(struct buf *b, struct slice name, struct slice text, uint32_t line, struct slice nodes)
{
	buf_add_clean(b, name);
	if (!line && !nodes.n)
		return;
	buf_adds(b, " (");
	if (line)
		buf_addf(b, "%.*s:%u", SL(text.n ? slice_base(text) : SLICE("wrapper.cpp")), line);
	if (nodes.n) {
		buf_adds(b, line ? "; from " : "from ");
		buf_add_clean(b, nodes);
	}
	buf_addc(b, ')');
}

void add_watched_name(struct buf *b, const struct watch_call *c)
{
	const struct contract_call *k = c->contract;
	add_call_name(b, slice_str(c->name), watch_text(c), k ? k->line : 0, k ? k->nodes : SLICE(""));
}

static void add_launch(struct buf *b, const struct watch_call *c)
{
	const struct call_launch *l = c->launch;
	if (c->replay) {
		buf_addf(b, "%u captured call%s, replay %" PRIu64 ", stream 0x%" PRIx64, c->replay->captured, plural(c->replay->captured),
			 c->replay->times, c->replay->stream);
		return;
	}
	if (*c->function) {
		buf_adds(b, "kernel ");
		add_cleans(b, c->function);
		buf_adds(b, ", ");
	}
	buf_addf(b, "grid (%u, %u, %u), block (%u, %u, %u), shared %u, stream 0x%" PRIx64 "%s", l->grid[0], l->grid[1], l->grid[2],
		 l->block[0], l->block[1], l->block[2], l->shared, l->stream, l->captured ? ", captured" : "");
	if (l->captured && l->graph)
		buf_addf(b, " into graph %u", l->graph);
	if (c->n_launches > 1)
		buf_addf(b, ", the first of %u", c->n_launches);
}

/* "# model, run 0, call 3: cpp_fused_relu_0 (wrapper.cpp:977), 12.3 us" */
static void show_heading(struct session *s, const struct watch_call *c)
{
	struct buf b = {0};
	buf_adds(&b, "# ");
	if (c->model && c->model->contract.model.n)
		buf_add_clean(&b, c->model->contract.model);
	else if (c->model)
		buf_addf(&b, "model %u", c->model->id);
	if (c->begin.run == CALLS_NO_RUN)
		buf_adds(&b, ", outside of any run");
	else
		buf_addf(&b, ", run %u", c->begin.run);
	if (c->begin.what == CALL_RUN_BEGIN) {
		buf_adds(&b, ": inputs and outputs");
	} else {
		buf_addf(&b, ", call %u: ", c->begin.call);
		add_watched_name(&b, c);
		if (c->end.what != CALL_NONE) {
			buf_adds(&b, ", ");
			put_duration(&b, c->end.took);
		}
		if (c->launch || c->replay) {
			buf_adds(&b, ", ");
			add_launch(&b, c);
		}
	}
	put_dim(&s->screen, buf_str(&b));
	buf_addc(&s->screen.b, '\n');
	buf_release(&b);
}

/* The values, out of the file that the library saved. */
static void add_values(struct session *s, const struct watch_value *v, const struct tensor_meta *m)
{
	struct dump d = {.path = s->folder, .written_to = true};
	struct dump_value dv = {.buffer = slice_str(v->name), .file = slice_str(v->saved), .meta = *m};
	struct dump_tensor t;
	struct err err;
	if (!s->folder || !*v->saved)
		return;
	if (dump_tensor_open(&t, &d, &dv, &err) < 0) {
		buf_adds(&s->screen.b, "(its values cannot be shown: ");
		add_cleans(&s->screen.b, err.text);
		buf_adds(&s->screen.b, ")\n");
		return;
	}
	struct tensor_print how = {.width = s->screen.width, .full = s->o->full};
	tensor_print(&s->screen.b, &t.meta, t.data, how);
	buf_addc(&s->screen.b, '\n');
	dump_tensor_close(&t);
}

static void print_value(struct session *s, const struct watch_call *c, const struct watch_value *v)
{
	struct buf *b = &s->screen.b, head = {0};
	struct tensor_meta m;
	bool cut = v->rec.v.n_dim > CALL_DIMS;
	dump_meta(&v->rec, &m);
	buf_adds(&head, "[  ");
	if (v->rec.v.role == CALL_ROLE_MODEL_INPUT)
		buf_adds(&head, "aoti_model_inputs - ");
	else if (v->rec.v.role == CALL_ROLE_MODEL_OUTPUT)
		buf_adds(&head, "aoti_model_outputs - ");
	else
		buf_adds(&head, v->rec.v.before ? "before_launch - " : "after_launch - ");
	if (c->begin.what != CALL_RUN_BEGIN) {
		add_cleans(&head, c->name);
		buf_adds(&head, " - ");
	}
	if (*v->name)
		add_cleans(&head, v->name);
	else
		buf_addf(&head, "argument %u", v->rec.v.arg);
	buf_adds(&head, "  ]:");
	put_bold(&s->screen, buf_str(&head));
	buf_addc(b, '\n');
	buf_release(&head);
	add_values(s, v, &m);
	show_tensor_facts(&s->screen, &m, cut, &v->rec.v.stats);
}

static void print_crash(struct session *s, const struct watch_call *c)
{
	struct buf b = {0};
	if (c->end.what == CALL_NONE && c->begin.what != CALL_RUN_BEGIN) {
		buf_adds(&b, "# ");
		add_cleans(&b, c->name);
		buf_adds(&b, " did not return: the process ended in it");
	} else if (c->end.what != CALL_NONE && c->end.result == CALLS_NOT_RETURNED) {
		buf_adds(&b, "# ");
		add_cleans(&b, c->begin.what == CALL_RUN_BEGIN ? "the run" : c->name);
		buf_adds(&b, " was left by a C++ exception");
	}
	if (b.len) {
		put_error(&s->screen, buf_str(&b));
		buf_addc(&s->screen.b, '\n');
	}
	buf_release(&b);
}

void print_call(struct session *s, const struct watch_call *c)
{
	bool any = c->begin.what != CALL_RUN_BEGIN;
	for (uint32_t i = 0; i < c->n_values && !any; i++)
		any = filter_value(&s->filter, c, i);
	if (!any)
		return;
	show_heading(s, c);
	for (uint32_t i = 0; i < c->n_values; i++)
		if (filter_value(&s->filter, c, i))
			print_value(s, c, &c->value[i]);
	print_crash(s, c);
}

void print_names(struct session *s, const struct watch_call *c)
{
	if (c->begin.what == CALL_RUN_BEGIN)
		return;
	for (int after = 0; after < 2; after++) {
		if (after && (c->end.what == CALL_NONE || c->end.result == CALLS_NOT_RETURNED))
			break;
		buf_adds(&s->screen.b, after ? "[ after_launch: " : "[ before_launch: ");
		add_cleans(&s->screen.b, c->name);
		buf_adds(&s->screen.b, " ]");
		if (!after && (c->launch || c->replay)) {
			buf_addc(&s->screen.b, ' ');
			add_launch(&s->screen.b, c);
		}
		buf_addc(&s->screen.b, '\n');
	}
	print_crash(s, c);
}
