/* repros.h - what the tests of repro.h share: the recorded programs, and whether two are the same. */
#ifndef PT2_TEST_REPROS_H
#define PT2_TEST_REPROS_H
#include "graph/repro/repro.h"
#include "graph_same.h"
#include "test.h"

static inline void open_sample(struct repro *r, const char *name)
{
	char *path = data_path(name);
	struct err err = {0};
	*r = (struct repro){0};
	if (repro_open(r, path, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

/* The program of its form that torch runs. */
static inline int launcher_text(const struct repro *r, struct buf *b, struct err *err)
{
	return repro_text(r, &(struct repro_program){.style = REPRO_LAUNCHER, .no_seed = !r->has_seed, .seed = r->seed}, b, err);
}

static inline void add_launcher(const struct repro *r, struct buf *b)
{
	struct err err = {0};
	if (launcher_text(r, b, &err) < 0)
		fail_msg("%s", err.text);
}

static inline size_t count_lines(const struct repro *r, enum repro_line_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_lines; i++)
		n += r->line[i].kind == kind;
	return n;
}

static inline void assert_slices(struct slice a, struct slice b)
{
	if (!slice_eq(a, b))
		fail_msg("'%.*s' became '%.*s'", SL(a), SL(b));
}

static inline void size_text(const struct repro *r, struct symsize s, struct buf *b)
{
	symsize_print(&r->graph.tab, s, b);
	buf_addc(b, ' ');
}

/* Everything about an input but its values. */
static inline void input_text(const struct repro *r, size_t i, struct buf *b)
{
	const struct repro_input *in = &r->input[i];
	buf_addf(b, "%d %.*s %d %d '%.*s' '%.*s' ", in->kind, SL(in->name), in->is_leaf, in->requires_grad, SL(in->expr), SL(in->extra));
	size_text(r, in->offset, b);
	size_text(r, in->value, b);
	if (in->kind != REPRO_TENSOR)
		return;
	const struct gmeta *m = &r->graph.meta[in->meta];
	buf_addf(b, "%d/%d ", m->dtype, m->requires_grad);
	for (int k = 0; k < 2 * m->n_dim; k++)
		size_text(r, r->graph.dim[m->dim + (uint32_t)k], b);
	const struct repro_storage *s = &r->storage[in->storage];
	buf_addf(b, "%u '%.*s' '%.*s' ", in->storage, SL(s->device), SL(s->dtype_hint));
	size_text(r, s->nbytes, b);
}

static inline void assert_same_inputs(const struct repro *a, const struct repro *b)
{
	struct buf x = {0}, y = {0};
	assert_int_equal(a->n_inputs, b->n_inputs);
	for (size_t i = 0; i < a->n_inputs; i++) {
		buf_reset(&x);
		buf_reset(&y);
		input_text(a, i, &x);
		input_text(b, i, &y);
		assert_string_equal(buf_str(&x), buf_str(&y));
	}
	buf_release(&x);
	buf_release(&y);
}

static inline void assert_same(const struct repro *a, const struct repro *b)
{
	struct buf why = {0};
	if (!graph_same(&a->graph, &b->graph, &why))
		fail_msg("%s", buf_str(&why));
	buf_release(&why);
	assert_same_inputs(a, b);
	assert_int_equal(a->form, b->form);
	assert_slices(a->accuracy, b->accuracy);
	assert_slices(a->check_str, b->check_str);
	assert_slices(a->backend, b->backend);
	assert_slices(a->tracing_mode, b->tracing_mode);
	assert_slices(a->setup, b->setup);
	assert_slices(a->teardown, b->teardown);
	assert_int_equal(a->n_fixups, b->n_fixups);
	for (int k = REPRO_CONFIG; k <= REPRO_TRITON; k++)
		if (k != REPRO_COMMENT)
			assert_int_equal(count_lines(a, (enum repro_line_kind)k), count_lines(b, (enum repro_line_kind)k));
}

#endif
