/* patterns.c - a set of patterns: adding, joining, and the index of where a match can begin. */
#include "run/patterns/patterns_part.h"

void patterns_forget_index(struct patterns *k)
{
	free(k->atom);
	k->atom = NULL;
	k->atoms = 0;
	memset(k->shift, ATOM_KEY - 2, sizeof(k->shift));
	memset(k->bucket, 0xff, sizeof(k->bucket));
}

struct patterns *patterns_new(void)
{
	struct patterns *k = xcalloc(1, sizeof(*k));
	patterns_forget_index(k);
	return k;
}

void pattern_release(struct pattern *p)
{
	free(p->fix.item);
	free(p->hint.item);
	free(p->see.item);
	free(p->example.item);
	free(p->counter.item);
	free(p->over.item);
	if (p->own) {
		free(p->own->file);
		free(p->own->atom);
		free(p->own->over);
		free(p->own);
	}
	*p = (struct pattern){0};
}

void patterns_free(struct patterns *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->n; i++)
		pattern_release(&k->item[i]);
	free(k->item);
	free(k->atom);
	intern_release(&k->names);
	arena_release(&k->arena);
	free(k);
}

uint32_t patterns_count(const struct patterns *k) { return k->n; }

const struct pattern *patterns_get(const struct patterns *k, uint32_t i) { return i < k->n ? &k->item[i] : NULL; }

const struct pattern *patterns_find(const struct patterns *k, struct slice id)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (slice_eq(k->item[i].id, id))
			return &k->item[i];
	return NULL;
}

/* ---- joining ---- */

static int find_over(struct patterns *k, struct pattern *p, struct err *err)
{
	free(p->own->over);
	p->own->over = xreallocarray(NULL, p->over.n + !p->over.n, sizeof(*p->own->over));
	for (uint32_t i = 0; i < p->over.n; i++) {
		const struct pattern *q = patterns_find(k, p->over.item[i]);
		if (!q || q == p)
			return err_set(err, EXIT_INPUT, "%s: over: '%.*s' is not the id of another pattern", p->own->file,
				       SL(p->over.item[i]));
		p->own->over[i] = (uint32_t)(q - k->item);
	}
	return 0;
}

/* A cycle of `over` would silence all its patterns: remove patterns that are over no remaining one until none is left. */
static int no_ring(struct patterns *k, struct err *err)
{
	bool *gone = xcalloc((size_t)k->n + 1, sizeof(*gone)), more = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < k->n; i++) {
			bool free_of = !gone[i];
			for (uint32_t j = 0; free_of && j < k->item[i].over.n; j++)
				free_of = gone[k->item[i].own->over[j]];
			more |= free_of;
			gone[i] |= free_of;
		}
	}
	int r = 0;
	for (uint32_t i = 0; !r && i < k->n; i++)
		if (!gone[i])
			r = err_set(err, EXIT_INPUT, "%s: over: is circular; remove one 'over'", k->item[i].own->file);
	free(gone);
	return r;
}

static void index_atom(struct patterns *k, uint32_t row)
{
	struct atom *a = &k->atom[row];
	char key[ATOM_KEY + 1] = {0};
	memcpy(key + 1, a->text[a->anchor].p + a->at, ATOM_KEY);
	memcpy(&a->key, key + 1, ATOM_KEY);
	for (uint32_t end = 3; end <= ATOM_KEY; end++) {
		uint8_t *shift = &k->shift[shift_hash(key + 1 + end)];
		if (*shift > ATOM_KEY - end)
			*shift = (uint8_t)(ATOM_KEY - end);
	}
	uint32_t *first = &k->bucket[shift_hash(key + 1 + ATOM_KEY)];
	a->next = *first;
	*first = row;
}

static void index_all(struct patterns *k)
{
	size_t n = 0;
	for (uint32_t i = 0; i < k->n; i++)
		n += k->item[i].own->n;
	patterns_forget_index(k);
	k->atom = xreallocarray(NULL, n + !n, sizeof(*k->atom));
	for (uint32_t i = 0; i < k->n; i++)
		for (uint32_t j = 0; j < k->item[i].own->n; j++) {
			k->atom[k->atoms] = k->item[i].own->atom[j];
			k->atom[k->atoms].pattern = i;
			index_atom(k, k->atoms++);
		}
}

int patterns_compile(struct patterns *k, struct err *err)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (find_over(k, &k->item[i], err) < 0)
			return -1;
	if (no_ring(k, err) < 0)
		return -1;
	index_all(k);
	return 0;
}

/* ---- matches ---- */

struct slice pattern_placeholder(struct slice text)
{
	size_t n = 1;
	if (text.n < 3 || text.p[0] != '{' || text.p[1] < 'a' || text.p[1] > 'z')
		return (struct slice){"", 0};
	while (n < text.n && ((text.p[n] >= 'a' && text.p[n] <= 'z') || (text.p[n] >= '0' && text.p[n] <= '9') || text.p[n] == '_'))
		n++;
	return n < text.n && text.p[n] == '}' ? slice_of(text.p + 1, n - 1) : (struct slice){"", 0};
}

static const struct slice *value_of(const struct pattern_match *m, struct slice name)
{
	for (uint32_t i = 0; i < m->captures; i++)
		if (slice_eq(m->capture[i].name, name))
			return &m->capture[i].value;
	return NULL;
}

void pattern_expand(struct buf *b, struct slice text, const struct pattern_match *m)
{
	size_t from = 0;
	for (size_t i = 0; i < text.n; i++) {
		struct slice name = pattern_placeholder(slice_of(text.p + i, text.n - i));
		const struct slice *value = name.n ? value_of(m, name) : NULL;
		if (!value)
			continue;
		buf_add(b, text.p + from, i - from);
		buf_add_slice(b, *value);
		from = i + name.n + 2;
		i = from - 1;
	}
	buf_add(b, text.p + from, text.n - from);
}
