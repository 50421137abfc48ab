/* compare_events.c - what happened in one log and not, or otherwise, in the other. */
#include "compare/compare_part.h"

void compare_breaks(struct compare *c)
{
	struct bag bag[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < l->t.f->n_brk; i++) {
			const struct fact_break *x = &l->t.f->brk[i];
			uint64_t reason = normal_plain(compare_name(l, x->reason));
			struct slice code = compare_name(l, x->loc.code);
			/* Moved to another line, but the same code for the same reason: no difference. */
			bag_add(&bag[s], hash_join(compare_loc_key(l, &x->loc, true), reason),
				hash_join(hash_join(compare_loc_key(l, &x->loc, false), reason), hash_slice(code)), i);
		}
	}
	bag_match(c, &bag[0], &bag[1], NULL, NULL);
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < bag[s].n; i++) {
			if (bag[s].v[i].done)
				continue;
			const struct fact_break *x = &l->t.f->brk[bag[s].v[i].row];
			struct compare_change *y = compare_add(c, COMPARE_BREAK, compare_side_how(s), compare_pair_of(l, x->src.attempt),
							       compare_name(l, x->reason));
			y->at = compare_loc_text(l, &x->loc);
			*(s ? &y->after : &y->before) = compare_cut(compare_name(l, x->explanation));
			for (uint32_t k = i + 1; k < bag[s].n; k++)
				if (!bag[s].v[k].done && bag[s].v[k].key == bag[s].v[i].key) {
					bag[s].v[k].done = true;
					y->count++;
				}
		}
	}
	bag_free(bag);
}

static void failure_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct fact_failure *x = &c->a->t.f->failure[a], *y = &c->b->t.f->failure[b];
	struct compare_change *z =
	    compare_add(c, COMPARE_FAILURE, HOW_CHANGED, compare_pair_of(c->b, y->src.attempt), compare_name(c->b, y->type));
	if (x->type != y->type && !slice_eq(compare_name(c->a, x->type), compare_name(c->b, y->type))) {
		z->before = arena_slice(&c->arena, compare_name(c->a, x->type));
		z->after = arena_slice(&c->arena, compare_name(c->b, y->type));
	} else {
		z->before = compare_cut(compare_name(c->a, x->reason));
		z->after = compare_cut(compare_name(c->b, y->reason));
	}
	z->at = compare_loc_text(c->b, &y->user);
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
			/* The reason counts, the line does not: it moves with the program. */
			uint64_t frame = compare_frame_key(c, s, l->unit[l->unit_of[x->src.attempt]].frame);
			bag_add(&bag[s],
				hash_join(hash_join(frame, hash_slice(compare_name(l, x->type))), normal_plain(compare_name(l, x->reason))),
				frame, i);
		}
	}
	bag_match(c, &bag[0], &bag[1], failure_changed, NULL);
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < bag[s].n; i++) {
			const struct fact_failure *x = &l->t.f->failure[bag[s].v[i].row];
			struct compare_change *y = compare_add(c, COMPARE_FAILURE, compare_side_how(s), compare_pair_of(l, x->src.attempt),
							       compare_name(l, x->type));
			*(s ? &y->after : &y->before) = compare_cut(compare_name(l, x->reason));
			if (x->user.file != NONE)
				y->at = compare_loc_text(l, &x->user);
		}
	}
	bag_free(bag);
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
	bag_match(c, &bag[0], &bag[1], NULL, NULL);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; i < bag[s].n; i++) {
			const struct fact_cudagraph *x = &compare_side(c, s)->t.f->cudagraph[bag[s].v[i].row];
			compare_add(c, COMPARE_SKIP, compare_side_how(s), compare_pair_of(compare_side(c, s), x->src.attempt),
				    compare_cut(compare_name(compare_side(c, s), x->reason)));
		}
	bag_free(bag);
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
	struct slice s = arena_slice(&c->arena, buf_slice(&b));
	buf_release(&b);
	return s;
}

static void symbol_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct fact_symbol *x = &c->a->t.f->symbol[a], *y = &c->b->t.f->symbol[b];
	struct compare_change *z = compare_add(c, COMPARE_SYMBOL, HOW_CHANGED, compare_pair_of(c->b, y->src.attempt),
					       compare_name(c->b, y->source != NONE ? y->source : y->symbol));
	z->before = symbol_text(c, c->a, x);
	z->after = symbol_text(c, c->b, y);
	if (y->loc.file != NONE)
		z->at = compare_loc_text(c->b, &y->loc);
}

static void special_changed(struct compare *c, void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	const struct fact_bound *x = &c->a->t.f->bound[a], *y = &c->b->t.f->bound[b];
	struct compare_change *z = compare_add(c, COMPARE_SPECIAL, HOW_CHANGED, compare_pair_of(c->b, y->src.attempt),
					       compare_cut(compare_name(c->b, y->sources)));
	z->before = compare_name(c->a, x->value);
	z->after = compare_name(c->b, y->value);
	if (y->loc.file != NONE)
		z->at = compare_loc_text(c->b, &y->loc);
}

void compare_symbols(struct compare *c)
{
	struct bag sym[2] = {{0}}, spec[2] = {{0}};
	for (unsigned s = 0; s < 2; s++) {
		const struct compare_log *l = compare_side(c, s);
		for (uint32_t i = 0; i < l->t.f->n_symbol; i++) {
			const struct fact_symbol *x = &l->t.f->symbol[i];
			uint32_t pair = compare_pair_of(l, x->src.attempt);
			if (!compare_is_matched(c, pair)) /* a compilation of its own tells that already */
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
	bag_match(c, &sym[0], &sym[1], symbol_changed, NULL);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; i < sym[s].n; i++) {
			const struct compare_log *l = compare_side(c, s);
			const struct fact_symbol *x = &l->t.f->symbol[sym[s].v[i].row];
			struct compare_change *y = compare_add(c, COMPARE_SYMBOL, compare_side_how(s), compare_pair_of(l, x->src.attempt),
							       compare_name(l, x->source != NONE ? x->source : x->symbol));
			*(s ? &y->after : &y->before) = symbol_text(c, l, x);
			if (x->loc.file != NONE)
				y->at = compare_loc_text(l, &x->loc);
		}
	bag_match(c, &spec[0], &spec[1], special_changed, NULL);
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; i < spec[s].n; i++) {
			const struct compare_log *l = compare_side(c, s);
			const struct fact_bound *x = &l->t.f->bound[spec[s].v[i].row];
			struct compare_change *y = compare_add(c, COMPARE_SPECIAL, compare_side_how(s), compare_pair_of(l, x->src.attempt),
							       compare_cut(compare_name(l, x->sources)));
			*(s ? &y->after : &y->before) = compare_name(l, x->value);
			if (x->loc.file != NONE)
				y->at = compare_loc_text(l, &x->loc);
		}
	bag_free(sym);
	bag_free(spec);
}
