/* compare_match.c - matches frames and compilations of two logs. */
#include "compare/compare_part.h"
#include "base/text.h"

/* torch_dynamo_resume_in_f_at_9: the line number changes when the program is edited. */
static struct slice without_line(struct slice function)
{
	size_t n = function.n;
	while (n && is_digit(function.p[n - 1]))
		n--;
	return n < function.n && slice_ends(slice_of(function.p, n), "_at_") ? slice_of(function.p, n) : function;
}

static uint64_t frame_key(const struct compare_log *l, const struct compare_frame *f, unsigned tier)
{
	struct slice file = compare_name(l, f->loc.file), function = compare_name(l, f->loc.function);
	uint64_t key = f->none ? 1 : 2;
	if (!file.n)
		return key + (tier ? 0 : 2);
	if (tier == 3) /* a renamed script: by function and graph */
		return f->signature ? hash_join(hash_join(3, f->signature), hash_slice(without_line(function)))
				    : hash_join(4, hash_slice(file));
	if (tier == 0)
		return hash_join(hash_join(key, hash_slice(file)), hash_join(hash_slice(function), f->loc.line));
	return hash_join(hash_join(key, hash_slice(tier == 1 ? file : slice_base(file))), hash_slice(without_line(function)));
}

/* Frames of the same code, in order: those that captured the same graph match, those between them by order. */
static void align_frames(struct compare *c, const struct thing *a, uint32_t na, const struct thing *b, uint32_t nb)
{
	uint64_t *key[2];
	compare_keys(key, na, nb);
	for (uint32_t i = 0; i < na; i++)
		key[0][i] = c->a->frame[a[i].row].signature;
	for (uint32_t i = 0; i < nb; i++)
		key[1][i] = c->b->frame[b[i].row].signature;
	const struct linediff *d = compare_align(c, key, na, nb);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct linediff_row *r = &d->row[i];
		if (r->a == NONE || r->b == NONE)
			continue;
		c->a->frame[a[r->a].row].match = b[r->b].row;
		c->b->frame[b[r->b].row].match = a[r->a].row;
	}
}

void compare_match_frames(struct compare *c)
{
	for (unsigned tier = 0; tier < 4; tier++) {
		struct bag bag[2] = {{0}};
		for (unsigned s = 0; s < 2; s++) {
			const struct compare_log *l = compare_side(c, s);
			for (uint32_t i = 0; i < l->n_frame; i++)
				if (l->frame[i].match == NONE)
					bag_add(&bag[s], frame_key(l, &l->frame[i], tier), 0, i);
			bag_sort(&bag[s]);
		}
		for (uint32_t i = 0, j = 0; i < bag[0].n && j < bag[1].n;) {
			uint64_t x = bag[0].v[i].key, y = bag[1].v[j].key;
			if (x != y) {
				*(x < y ? &i : &j) += 1;
				continue;
			}
			uint32_t ei = i, ej = j;
			while (ei < bag[0].n && bag[0].v[ei].key == x)
				ei++;
			while (ej < bag[1].n && bag[1].v[ej].key == x)
				ej++;
			align_frames(c, &bag[0].v[i], ei - i, &bag[1].v[j], ej - j);
			i = ei;
			j = ej;
		}
		bag_end(c, bag, NULL, NULL);
	}
}

struct slice compare_reason(const struct compare_log *l, const struct compare_unit *u)
{
	return u->recompile == NONE ? slice_of("", 0) : compare_name(l, l->t.f->recompile[u->recompile].guard);
}

uint64_t compare_unit_key(const struct compare_log *l, const struct compare_unit *u)
{
	struct slice reason = compare_reason(l, u);
	return reason.n ? normal_guard_hash(reason) : u->compile <= 0 ? 1 : 2;
}

static void add_pair(struct compare *c, uint32_t a, uint32_t b)
{
	GROW(c->pair, c->n_pair, c->cap_pair, 1);
	struct compare_pair *p = &c->pair[c->n_pair];
	*p = (struct compare_pair){.a = a, .b = b, .seconds = {-1, -1}};
	for (unsigned s = 0; s < 2; s++) {
		struct compare_log *l = compare_side(c, s);
		uint32_t u = s ? b : a;
		if (u == NONE)
			continue;
		l->unit[u].pair = c->n_pair;
		p->seconds[s] = l->unit[u].seconds;
		const struct fact_loc *loc = &l->frame[l->unit[u].frame].loc;
		p->at = compare_loc_text(l, loc);
	}
	c->n_pair++;
}

void compare_match_units(struct compare *c)
{
	for (uint32_t fb = 0; fb < c->b->n_frame; fb++) {
		const struct compare_frame *b = &c->b->frame[fb], *a = b->match == NONE ? NULL : &c->a->frame[b->match];
		c->frames[a ? 0 : 2] += !b->none;
		uint32_t na = a ? a->last - a->first : 0, nb = b->last - b->first;
		uint64_t *key[2];
		compare_keys(key, na, nb);
		for (uint32_t i = 0; i < na; i++)
			key[0][i] = compare_unit_key(c->a, &c->a->unit[a->first + i]);
		for (uint32_t i = 0; i < nb; i++)
			key[1][i] = compare_unit_key(c->b, &c->b->unit[b->first + i]);
		const struct linediff *d = compare_align(c, key, na, nb);
		for (uint32_t i = 0; i < d->n; i++) {
			const struct linediff_row *r = &d->row[i];
			add_pair(c, r->a == NONE ? NONE : a->first + r->a, r->b == NONE ? NONE : b->first + r->b);
		}
	}
	for (uint32_t fa = 0; fa < c->a->n_frame; fa++) {
		if (c->a->frame[fa].match != NONE)
			continue;
		c->frames[1] += !c->a->frame[fa].none;
		for (uint32_t u = c->a->frame[fa].first; u < c->a->frame[fa].last; u++)
			add_pair(c, u, NONE);
	}
}

uint64_t compare_loc_key(const struct compare_log *l, const struct fact_loc *loc, bool line)
{
	uint64_t key = hash_slice(slice_base(compare_name(l, loc->file)));
	return line ? hash_join(key, loc->line) : hash_join(key, hash_slice(without_line(compare_name(l, loc->function))));
}

/* The same for both sides of matched frames. */
uint64_t compare_frame_key(struct compare *c, unsigned side, uint32_t frame)
{
	const struct compare_log *l = compare_side(c, side);
	uint32_t row = side ? frame : l->frame[frame].match;
	return l->frame[frame].match == NONE ? compare_loc_key(l, &l->frame[frame].loc, false) : hash_join(7, row);
}
