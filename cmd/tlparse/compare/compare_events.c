/* compare_events.c - events in one log that are missing, or different, in the other. */
#include "compare/compare_part.h"

/* A row with its place in log l. */
static struct compare_change *row_at(struct compare *c, const struct compare_log *l, enum compare_kind kind, enum compare_how how,
				     const struct fact_src *src, const struct fact_loc *loc, struct slice subject, struct slice before,
				     struct slice after)
{
	struct compare_change *x = compare_row(c, kind, how, compare_pair_of(l, src->attempt), subject, before, after);
	if (loc && loc->file != NONE)
		x->at = compare_loc_text(l, loc);
	return x;
}
static const struct slice nothing = {"", 0};

void compare_breaks(struct compare *c)
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < l->t.f->n_brk; i++) {
			const struct fact_break *x = &l->t.f->brk[i];
			uint64_t reason = normal_plain(compare_name(l, x->reason));
			struct slice code = compare_name(l, x->loc.code);
			/* Moved to another line, but same code and same reason: not a difference. */
			bag_add(&bag[s], hash_join(compare_loc_key(l, &x->loc, true), reason),
				hash_join(hash_join(compare_loc_key(l, &x->loc, false), reason), hash_slice(code)), i);
		}
	}
	bag_match(c, bag, NULL, NULL);
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < bag[s].n; i++) {
			if (bag[s].v[i].done)
				continue;
			const struct fact_break *x = &l->t.f->brk[bag[s].v[i].row];
			struct slice text = compare_name(l, x->explanation);
			struct compare_change *y = row_at(c, l, COMPARE_BREAK, compare_side_how(s), &x->src, &x->loc,
							  compare_name(l, x->reason), s ? nothing : text, s ? text : nothing);
			for (uint32_t k = i + 1; k < bag[s].n; k++)
				if (!bag[s].v[k].done && bag[s].v[k].key == bag[s].v[i].key) {
					bag[s].v[k].done = true;
					y->count++;
				}
		}
	}
	bag_end(c, bag, NULL, NULL);
}

static void failure_row(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct fact_failure *x = a == NONE ? NULL : &c->a->t.f->failure[a], *y = b == NONE ? NULL : &c->b->t.f->failure[b];
	const struct compare_log *l = y ? c->b : c->a;
	const struct fact_failure *of = y ? y : x;
	bool types = x && y && !slice_eq(compare_name(c->a, x->type), compare_name(c->b, y->type));
	row_at(c, l, COMPARE_FAILURE, bag_how(a, b), &of->src, &of->user, compare_name(l, of->type),
	       x ? compare_name(c->a, types ? x->type : x->reason) : nothing,
	       y ? compare_name(c->b, types ? y->type : y->reason) : nothing);
}

void compare_failures(struct compare *c)
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < l->t.f->n_failure; i++) {
			const struct fact_failure *x = &l->t.f->failure[i];
			if (x->restart || x->inferred)
				continue;
			/* The reason counts, not the line: lines move when the program is edited. */
			uint64_t frame = compare_frame_key(c, s, l->unit[l->unit_of[x->src.attempt]].frame);
			bag_add(&bag[s],
				hash_join(hash_join(frame, hash_slice(compare_name(l, x->type))), normal_plain(compare_name(l, x->reason))),
				frame, i);
		}
	}
	bag_match(c, bag, failure_row, NULL);
	bag_end(c, bag, failure_row, NULL);
}

static void skip_row(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct compare_log *l = b == NONE ? c->a : c->b;
	const struct fact_cudagraph *x = &l->t.f->cudagraph[b == NONE ? a : b];
	row_at(c, l, COMPARE_SKIP, bag_how(a, b), &x->src, NULL, compare_cut(compare_name(l, x->reason)), nothing, nothing);
}

void compare_skips(struct compare *c)
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < l->t.f->n_cudagraph; i++) {
			uint64_t frame = compare_frame_key(c, s, l->unit[l->unit_of[l->t.f->cudagraph[i].src.attempt]].frame);
			bag_add(&bag[s], hash_join(frame, normal_plain(compare_name(l, l->t.f->cudagraph[i].reason))), 0, i);
		}
	}
	bag_match(c, bag, NULL, NULL);
	bag_end(c, bag, skip_row, NULL);
}

/* ---- symbols ---- */

static struct slice symbol_text(struct compare *c, const struct compare_log *l, const struct fact_symbol *x)
{
	struct buf b = {0};
	buf_add_slice(&b, compare_name(l, x->symbol));
	if (x->value != NONE)
		buf_addf(&b, " = %.*s", SL(compare_cut(compare_name(l, x->value))));
	if (x->range != NONE)
		buf_addf(&b, " in %.*s", SL(compare_cut(compare_name(l, x->range))));
	return arena_take(&c->arena, &b);
}

static void symbol_row(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct fact_symbol *x = a == NONE ? NULL : &c->a->t.f->symbol[a], *y = b == NONE ? NULL : &c->b->t.f->symbol[b];
	const struct compare_log *l = y ? c->b : c->a;
	const struct fact_symbol *of = y ? y : x;
	row_at(c, l, COMPARE_SYMBOL, bag_how(a, b), &of->src, &of->loc, compare_name(l, of->source != NONE ? of->source : of->symbol),
	       x ? symbol_text(c, c->a, x) : nothing, y ? symbol_text(c, c->b, y) : nothing);
}

static void special_row(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct fact_bound *x = a == NONE ? NULL : &c->a->t.f->bound[a], *y = b == NONE ? NULL : &c->b->t.f->bound[b];
	const struct compare_log *l = y ? c->b : c->a;
	const struct fact_bound *of = y ? y : x;
	row_at(c, l, COMPARE_SPECIAL, bag_how(a, b), &of->src, &of->loc, compare_cut(compare_name(l, of->sources)),
	       x ? compare_name(c->a, x->value) : nothing, y ? compare_name(c->b, y->value) : nothing);
}

void compare_symbols(struct compare *c)
{
	struct bag sym[2] = {{0}}, spec[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < l->t.f->n_symbol; i++) {
			const struct fact_symbol *x = &l->t.f->symbol[i];
			uint32_t pair = compare_pair_of(l, x->src.attempt);
			if (!compare_is_matched(c, pair)) /* the new compilation already shows that */
				continue;
			uint64_t source = x->source != NONE ? hash_slice(compare_name(l, x->source))
							    : hash_join(compare_loc_key(l, &x->loc, false), x->unbacked);
			uint64_t alt = hash_join(hash_join(pair, source), 1);
			bag_add(&sym[s],
				hash_join(alt, hash_join(normal_plain(compare_name(l, x->value)), hash_slice(compare_name(l, x->range)))),
				alt, i);
		}
		for (uint32_t i = 0; i < l->t.f->n_bound; i++) {
			const struct fact_bound *x = &l->t.f->bound[i];
			uint32_t pair = compare_pair_of(l, x->src.attempt);
			if (x->kind != BOUND_SPECIALIZED || !compare_is_matched(c, pair))
				continue;
			uint64_t alt = hash_join(hash_join(pair, hash_slice(compare_name(l, x->sources))), 2);
			bag_add(&spec[s], hash_join(alt, hash_slice(compare_name(l, x->value))), alt, i);
		}
	}
	bag_match(c, sym, symbol_row, NULL);
	bag_end(c, sym, symbol_row, NULL);
	bag_match(c, spec, special_row, NULL);
	bag_end(c, spec, special_row, NULL);
}
