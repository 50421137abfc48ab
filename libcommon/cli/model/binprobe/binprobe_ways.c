/* Programs that branch on data: finds all ways through them.
 *
 * What a program reads from data is our answer (`struct asked`): for a bool first true and then false, so that a branch is taken and
 * a loop ends; for an integer some number. Here other answers are tried, each at least once, together with the earlier answers that
 * led the program there: a bool that is false at once, and for an integer that no size but other calls depend on
 * (torch.switch: if (x == 0) {} else if (x == 1) {} else {}; torch 2.15, cpp_wrapper_cpu.py, codegen_switch) each of its cases. One way is
 * then described in full, of the others only the calls. */
#include "model/binprobe/binprobe_child.h"

enum { MANY = 1 << 20, MAIN_CASE = 1, SAME_AGAIN = 3 };

struct plan {
	struct asked answer[MAX_DECISIONS];
	uint32_t n;
};

struct explorer {
	struct walks *w;
	struct plan *plan;
	uint32_t n_plans, cap_plans;
	uint64_t *place; /* read somewhere, with its other answers planned */
	uint32_t n_places, cap_places;
	struct plan main;
};

static void follow(const struct plan *p)
{
	memcpy(world->decision, p->answer, p->n * sizeof(*p->answer));
	world->n_decisions = p->n;
}

static bool same_numbers(const int64_t *a, uint32_t n, const int64_t *b, uint32_t m) { return n == m && !memcmp(a, b, n * sizeof(*a)); }

static void plan_answer(struct explorer *e, const struct plan *so_far, uint64_t place, int64_t answer)
{
	if (e->n_plans == CONTRACT_MAX_WAYS || so_far->n == MAX_DECISIONS) {
		e->w->n_lost_ways++;
		return;
	}
	struct plan *p = &PUSH_TO(e->plan, e->n_plans, e->cap_plans);
	*p = *so_far;
	p->answer[p->n++] = (struct asked){.place = place, .answer = answer};
}

/* Does the number read at `place` choose between branches? Then all cases are planned. */
static void plan_cases(struct explorer *e, const struct plan *so_far, uint64_t place)
{
	struct plan p = *so_far;
	if (p.n == MAX_DECISIONS)
		return;
	struct asked *a = &p.answer[p.n++];
	uint32_t n, m, same = 0;
	follow(so_far);
	if (!walk_settles(e->w))
		return;
	int64_t *numbers = walk_numbers(&n), *others;
	uint64_t otherwise = walk_hash_calls();
	*a = (struct asked){.place = place, .answer = MANY};
	follow(&p);
	/* It is a size: it has bounds, or others depend on it. */
	bool size = !walk_settles(e->w) || walk_hash_calls() != otherwise;
	others = walk_numbers(&m);
	size = size || !same_numbers(numbers, n, others, m);
	free(numbers);
	free(others);
	bool chooses = false;
	for (int64_t k = 0; !size && k < CONTRACT_MAX_WAYS && same < SAME_AGAIN; k++) {
		a->answer = k;
		follow(&p);
		bool other = walk_settles(e->w) && walk_hash_calls() != otherwise;
		same = other ? 0 : same + 1;
		chooses |= other;
		if (other)
			plan_answer(e, so_far, place, k);
	}
	if (!chooses)
		return;
	plan_answer(e, so_far, place, MANY);
	if (!so_far->n && e->main.n < MAX_DECISIONS)
		e->main.answer[e->main.n++] = (struct asked){.place = place, .answer = MAIN_CASE};
	world_note("the program branches on a number from data (aoti_torch_item): shown is the way for 1");
}

/* Plans the other answers to what was read in the last run, which went as in `so_far`. */
static void plan_others(struct explorer *e, const struct plan *so_far)
{
	uint32_t n = world->run.n_asked;
	struct asked *asked = xcalloc((size_t)n + 1, sizeof(*asked));
	memcpy(asked, world->run.asked, n * sizeof(*asked));
	for (uint32_t i = 0; i < n; i++) {
		bool known = false;
		for (uint32_t k = 0; k < e->n_places && !known; k++)
			known = e->place[k] == asked[i].place;
		if (known)
			continue;
		PUSH_TO(e->place, e->n_places, e->cap_places) = asked[i].place;
		if (asked[i].boolean)
			plan_answer(e, so_far, asked[i].place, !asked[i].answer);
		else
			plan_cases(e, so_far, asked[i].place);
	}
	free(asked);
}

static void add_way(struct walks *w)
{
	const struct run *r = &world->run;
	struct walk_way way = {walk_hash_calls(), arena_alloc(&world->arena, ((size_t)r->n_calls + 1) * sizeof(*way.call)), r->n_calls};
	for (uint32_t i = 0; i < w->n_ways; i++)
		if (w->way[i].hash == way.hash)
			return;
	for (uint32_t i = 0; i < r->n_calls; i++)
		way.call[i] = arena_strndup(&world->arena, r->call[i].name, strlen(r->call[i].name));
	PUSH_TO(w->way, w->n_ways, w->cap_ways) = way;
}

/* From then on the main one is taken. */
static void walk_ways(struct walks *w)
{
	struct explorer e = {.w = w};
	struct plan none = {.n = 0};
	plan_others(&e, &none);
	for (uint32_t i = 0; i < e.n_plans; i++) {
		struct plan p = e.plan[i]; /* the array may move */
		follow(&p);
		if (!walk_settles(w)) {
			w->n_lost_ways++;
			continue;
		}
		add_way(w);
		plan_others(&e, &p);
	}
	follow(&e.main);
	if (walk_settles(w))
		for (uint32_t i = 0; i < w->n_ways; i++)
			if (w->way[i].hash == walk_hash_calls())
				w->way[i--] = w->way[--w->n_ways];
	free(e.plan);
	free(e.place);
}

int walk_model(struct walks *w, struct err *err)
{
	if (walk_sizes(w))
		walk_ways(w);
	return walk_formulas(w, err);
}
