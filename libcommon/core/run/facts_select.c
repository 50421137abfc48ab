/* facts_select.c - selects part of a model as a model: one function's compilations, or one input. */
#include "run/facts.h"

/* The selection: moved[old] is the new row, NONE if removed. */
struct kept {
	uint32_t input;          /* its rows, with or without a compilation, become those of input 0; NONE: the rows of kept compilations */
	const uint32_t *compile; /* moved */
	const uint32_t *attempt; /* moved; NULL: all are kept */
};

static bool stays(const struct kept *k, const struct fact_src *src, uint32_t compile)
{
	return k->input != NONE ? src->input == k->input : compile != NONE && k->compile[compile] != NONE;
}

static void move_src(const struct kept *k, struct fact_src *src)
{
	if (k->input != NONE)
		src->input = 0;
	if (k->attempt && src->attempt != NONE)
		src->attempt = k->attempt[src->attempt];
}

void facts_move_attempts(struct facts *f, const uint32_t *moved)
{
	for (uint32_t i = 0; i < f->n_attempt; i++)
		if (f->attempt[i].compile != NONE)
			f->attempt[i].compile = moved[f->attempt[i].compile];
}

/* From `all`, which may be f itself. */
static void keep_rows(struct facts *f, const struct facts *all, const struct kept *k)
{
	uint32_t *failure = xreallocarray(NULL, all->n_failure + 1, sizeof(*failure)), kept = 0;
	for (uint32_t i = 0; i < all->n_failure; i++)
		failure[i] = stays(k, &all->failure[i].src, all->failure[i].compile) ? kept++ : NONE;
#define X(table, type) \
	{ \
		uint32_t n = 0, rows = all->n_##table; \
		for (uint32_t i = 0; i < rows; i++) { \
			struct type row = all->table[i]; \
			if (!stays(k, &row.src, row.compile)) \
				continue; \
			row.compile = row.compile == NONE ? NONE : k->compile[row.compile]; \
			move_src(k, &row.src); \
			GROW(f->table, n, f->cap_##table, 1); \
			f->table[n++] = row; \
		} \
		f->n_##table = n; \
	}
	FACT_TABLES(X)
#undef X
	for (uint32_t i = 0; i < f->n_failure; i++)
		if (f->failure[i].cause != NONE)
			f->failure[i].cause = failure[f->failure[i].cause];
	free(failure);
}

uint32_t facts_only_function(struct facts *f, const char *function)
{
	uint32_t *moved = xreallocarray(NULL, f->n_compile + 1, sizeof(*moved)), kept = 0;
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		struct slice name = facts_text(f, c->resume_of == NONE ? c->loc.function : c->resume_of);
		moved[i] = slice_is(name, function) ? kept++ : NONE;
	}
	if (kept) {
		keep_rows(f, f, &(struct kept){NONE, moved, NULL});
		facts_move_attempts(f, moved);
		for (uint32_t i = 0; i < f->n_compile; i++)
			if (moved[i] != NONE)
				f->compile[moved[i]] = f->compile[i];
		f->n_compile = kept;
	}
	free(moved);
	return kept;
}

/* Rows of a table whose member input is the input's number. */
#define ONLY(table, number) \
	for (uint32_t i = 0; i < all->n_##table; i++) \
		if (all->table[i].number == input) { \
			GROW(f->table, f->n_##table, f->cap_##table, 1); \
			f->table[f->n_##table] = all->table[i]; \
			f->table[f->n_##table++].number = 0; \
		}

void facts_of_input(struct facts *f, const struct facts *all, uint32_t input)
{
	uint32_t *compile = xreallocarray(NULL, all->n_compile + 1, sizeof(*compile)), compiles = 0;
	uint32_t *attempt = xreallocarray(NULL, all->n_attempt + 1, sizeof(*attempt)), attempts = 0;
	for (uint32_t i = 0; i < all->n_compile; i++)
		compile[i] = all->compile[i].src.input == input ? compiles++ : NONE;
	for (uint32_t i = 0; i < all->n_attempt; i++)
		attempt[i] = all->attempt[i].input == input ? attempts++ : NONE;
	const struct kept k = {input, compile, attempt};
	intern_copy(&f->names, &all->names);
	keep_rows(f, all, &k);
	ONLY(compile, src.input)
	ONLY(attempt, input)
	ONLY(damage, input)
	ONLY(unknown, input)
	facts_move_attempts(f, compile);
	for (uint32_t i = 0; i < f->n_compile; i++)
		move_src(&k, &f->compile[i].src);
	GROW(f->input, 0, f->cap_input, 1);
	f->input[0] = all->input[input];
	f->n_input = 1;
	facts_frames(f);
	free(compile);
	free(attempt);
}
