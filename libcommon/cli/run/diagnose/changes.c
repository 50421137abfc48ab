/* changes.c - the changes of a recompiled frame, summed up (recompiles.h): in a few words, and whether torch itself handles them from then
 * on. */
#include "run/diagnose/recompiles.h"

enum { CLIP = 200, BOUNDS_MOST = 10000 };

/* L['x'] and G['x'] become x; a closure's cell stays as it is. */
static struct slice plain_name(struct slice s)
{
	s = slice_trim(s);
	if (s.n > 5 && (s.p[0] == 'L' || s.p[0] == 'G') && s.p[1] == '[' && s.p[2] == '\'' && s.p[s.n - 2] == '\'' && s.p[s.n - 1] == ']' &&
	    !memchr(s.p + 3, '\'', s.n - 5))
		return slice_of(s.p + 3, s.n - 5);
	return s;
}

/* The end of "['norm']" that begins at s.p[at]: behind its "]"; 0 if none begins there. */
static size_t quoted_end(struct slice s, size_t at)
{
	const char *quote = at + 3 < s.n && s.p[at] == '[' && s.p[at + 1] == '\'' ? memchr(s.p + at + 2, '\'', s.n - at - 2) : NULL;
	return quote && quote + 1 < s.p + s.n && quote[1] == ']' ? (size_t)(quote + 2 - s.p) : 0;
}

/* The same inside an expression: len(G['SEEN']) == 2 becomes len(SEEN) == 2. Attributes of a module are in dicts of its own. */
struct slice plain_names(struct explanation *x, struct slice s)
{
	static const char *const held[] = {"._modules[", "._parameters[", "._buffers["};
	LOCAL_BUF b = {0};
	while (s.n) {
		size_t from = 0, end = 0;
		if (s.p[0] == 'L' || s.p[0] == 'G')
			end = quoted_end(s, from = 1);
		for (size_t i = 0; i < ARRAY_LEN(held) && !end; i++)
			if (slice_starts(s, held[i]))
				end = quoted_end(s, from = strlen(held[i]) - 1);
		struct slice name = slice_of(s.p + from + 2, end ? end - from - 4 : 0);
		bool digit = name.n && is_digit(name.p[0]); /* a block of a Sequential: self.body[0] */
		if (!end)
			buf_addc(&b, *s.p);
		else if (from == 1)
			buf_add_slice(&b, name);
		else
			buf_addf(&b, digit ? "[%.*s]" : ".%.*s", SL(name));
		end = end ? end : 1;
		s = slice_of(s.p + end, s.n - end);
	}
	return explain_keep(x, buf_slice(&b));
}

/* "STEP is no longer 1", "STEP: 1 -> 2": STEP */
struct slice what_changed(struct slice change)
{
	static const char *const ends[] = {" is no longer ", ": "};
	if (slice_starts(change, "no longer true"))
		return change;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *p = slice_find(change, ends[i]);
		if (p)
			return slice_of(change.p, (size_t)(p - change.p));
	}
	return change;
}

/* ---- what changed, in a few words ---- */

/* "4 -> 6" of "size of x at dim 0: 4 -> 6" */
static bool from_to(struct slice change, struct slice *old, struct slice *new)
{
	struct slice subject = what_changed(change);
	const char *to = slice_find(change, " -> ");
	if (subject.n + 2 >= change.n || change.p[subject.n] != ':' || !to || to < change.p + subject.n + 2)
		return false;
	*old = slice_of(change.p + subject.n + 2, (size_t)(to - change.p) - subject.n - 2);
	*new = slice_of(to + 4, (size_t)(change.p + change.n - to) - 4);
	return true;
}

enum { SUBJECTS = 2, VALUES = 4 };
struct subject {
	struct slice name, last;
	struct buf words;
	unsigned n;
};

/* The values of one subject form one list: "size of x at dim 0: 4 -> 6 -> 8". False: no room for it. */
static bool add_change(struct subject list[SUBJECTS], unsigned *n, struct slice change)
{
	struct slice name = what_changed(change), old, new;
	unsigned i = 0;
	while (i < *n && !slice_eq(list[i].name, name))
		i++;
	bool values = from_to(change, &old, &new);
	if (i == SUBJECTS)
		return false;
	struct subject *s = &list[i];
	if (i == *n) {
		*n += 1;
		*s = (struct subject){.name = name, .last = values ? new : change, .n = 1};
		buf_addf(&s->words, "%.*s", SLN(change, CLIP));
		return true;
	}
	if (slice_eq(s->last, change))
		return true;
	if (!values || !slice_eq(s->last, old) || s->n == VALUES)
		return false;
	buf_addf(&s->words, " -> %.*s", SLN(new, CLIP));
	s->last = new;
	s->n++;
	return true;
}

struct often {
	uint32_t step, subject, times;
};

static int most_often_first(const void *a, const void *b)
{
	const struct often *p = a, *q = b;
	if (p->times != q->times)
		return p->times > q->times ? -1 : 1;
	if (p->subject != q->subject)
		return p->subject < q->subject ? -1 : 1;
	return p->step < q->step ? -1 : p->step > q->step;
}

uint32_t frame_by_often(const struct explanation *x, const struct frame_view *v, uint32_t **step)
{
	OWNED(intern_release) struct intern subjects = {0};
	FREED struct often *list = xreallocarray(NULL, v->n + 1u, sizeof(*list));
	FREED uint32_t *times = xcalloc(v->n + 1u, sizeof(*times));
	uint32_t n = 0;
	for (uint32_t i = v->first; i < v->first + v->n; i++)
		if (x->step[i].change.n) {
			list[n] = (struct often){.step = i, .subject = intern_add(&subjects, what_changed(x->step[i].change))};
			times[list[n++].subject]++;
		}
	for (uint32_t i = 0; i < n; i++)
		list[i].times = times[list[i].subject];
	if (n)
		qsort(list, n, sizeof(*list), most_often_first);
	*step = xreallocarray(NULL, n + 1u, sizeof(**step));
	for (uint32_t i = 0; i < n; i++)
		(*step)[i] = list[i].step;
	return n;
}

struct slice frame_cause(struct explanation *x, const struct frame_view *v)
{
	struct subject list[SUBJECTS] = {0};
	LOCAL_BUF b = {0};
	FREED uint32_t *step = NULL;
	unsigned n = 0;
	uint32_t steps = frame_by_often(x, v, &step);
	bool more = false;
	for (uint32_t i = 0; i < steps; i++)
		more |= !add_change(list, &n, x->step[step[i]].change);
	for (unsigned i = 0; i < n; i++) {
		buf_addf(&b, "%s", i ? ", " : "");
		buf_add_slice(&b, buf_slice(&list[i].words));
		buf_release(&list[i].words);
	}
	buf_adds(&b, more ? ", ..." : "");
	return explain_keep(x, buf_slice(&b));
}

/* ---- the first time ---- */

/* The compilation has a symbol for "n" that is not specialized later. */
static bool made_dynamic(struct explanation *x, const struct chain *symbols, uint32_t compile, struct slice change)
{
	struct slice name = what_changed(change);
	bool number = slice_chr(slice_behind(change, " is no longer "), '.') != NULL; /* a float of an object is worth a tensor */
	const struct facts *f = x->facts;
	if (compile == NONE || f->n_bound > BOUNDS_MOST)
		return false;
	for (uint32_t i = chain_first(symbols, CHAIN_KEY(compile)); i != NONE; i = symbols->next[i]) {
		struct slice source = facts_text(f, f->symbol[i].source);
		bool constant = !slice_eq(number ? plain_name(source) : plain_names(x, source), name);
		for (uint32_t k = 0; !constant && k < f->n_bound; k++)
			constant = f->bound[k].kind == BOUND_SPECIALIZED && f->bound[k].compile == compile &&
				   f->bound[k].symbol == f->symbol[i].symbol;
		if (!constant)
			return true;
	}
	return false;
}

static bool zero_one(struct slice s) { return slice_is(s, "0") || slice_is(s, "1"); }

/* Torch makes a size, and an int argument, dynamic after it has changed once: that is by design. True if each changed only once, and
 * neither from nor to 0 or 1, which get their own graphs. */
bool frame_first_dynamic(struct explanation *x, const struct frame_view *v, const struct chain *symbols)
{
	OWNED(intern_release) struct intern said = {0};
	bool first = true;
	for (uint32_t i = v->first; first && i < v->first + v->n; i++) {
		struct slice change = x->step[i].change, name = what_changed(change), old = {0}, new = {0};
		uint32_t n = said.n;
		bool is_size = slice_starts(name, "size of ") && from_to(change, &old, &new);
		if (change.n)
			first = (is_size || made_dynamic(x, symbols, x->step[i].compile, change)) && !zero_one(old) && !zero_one(new) &&
				intern_add(&said, name) == n;
	}
	first &= said.n > 0;
	for (uint32_t i = 0; i < x->facts->n_input; i++)
		first &= x->facts->input[i].config.automatic_dynamic_shapes != 0;
	return first;
}
