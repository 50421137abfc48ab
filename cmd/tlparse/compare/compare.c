/* compare.c - compares two traces of one program: runs all steps in order, and records findings. See compare_part.h. */
#include "compare/compare_part.h"

const char *const compare_kind_name[COMPARE_KIND_COUNT] = {
#define X(id, name, title) name,
    COMPARE_KINDS(X)
#undef X
};
const char *const compare_kind_title[COMPARE_KIND_COUNT] = {
#define X(id, name, title) title,
    COMPARE_KINDS(X)
#undef X
};
const char *const compare_how_name[5] = {"new", "gone", "changed", "slower", "faster"};

/* ---- the whole comparison ---- */

void compare_run(struct compare *c, struct compare_log *a, struct compare_log *b)
{
	*c = (struct compare){.a = a ? a : &c->none, .b = b ? b : &c->none, .none = {.fd = -1, .t.f = &c->no_facts}};
	compare_match_frames(c);
	compare_match_units(c);
	bool rows = c->a->document || c->b->document; /* what only a log has is not compared */
	compare_versions(c);
	if (!rows)
		compare_configs(c);
	compare_failures(c);
	compare_breaks(c);
	compare_compiles(c, true);
	compare_compiles(c, false);
	compare_times(c);
	if (!rows) {
		compare_caches(c);
		compare_keys_of_caches(c);
		compare_guards(c);
	}
	compare_symbols(c);
	compare_skips(c);
	if (!rows) {
		compare_metrics(c);
		compare_artifacts(c);
		compare_texts(c);
		compare_fusions(c);
	}
}

void compare_release(struct compare *c)
{
	arena_release(&c->arena);
	free(c->pair);
	free(c->change);
	free(c->text);
	free(c->graph);
	free(c->node);
	free(c->code);
	free(c->fusion);
	free(c->kernel);
	normal_release(&c->normal);
	*c = (struct compare){0};
}
