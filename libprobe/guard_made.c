/* guard_made.c - memory that the model made and nobody has written to yet. */
#include "guard_call.h"

struct made *guard_made_at(struct guard_call *c, uintptr_t address)
{
	for (uint32_t i = c->n_made; i-- > 0;)
		if (address >= c->made[i].low && address < c->made[i].high)
			return &c->made[i];
	return NULL;
}

void guard_forget_made(struct guard_call *c, struct made *m)
{
	free(m->unwritten);
	*m = c->made[--c->n_made];
}

bool guard_keep_bytes(struct guard_call *c, struct made *m)
{
	if (m->unwritten)
		return true;
	m->unwritten = malloc(m->high - m->low);
	if (m->unwritten)
		memset(m->unwritten, 1, m->high - m->low);
	else
		guard_forget_made(c, m);
	return m->unwritten != NULL;
}

void guard_wrote(struct guard_call *c, uintptr_t low, uintptr_t high)
{
	struct made *m = guard_made_at(c, low);
	if (!m)
		return;
	high = high < m->high ? high : m->high;
	if (low <= m->low && high >= m->high)
		guard_forget_made(c, m);
	else if (guard_keep_bytes(c, m))
		memset(m->unwritten + (low - m->low), 0, high - low);
}

bool guard_has_unwritten(const struct made *m, uintptr_t low, uintptr_t high)
{
	if (!m)
		return false;
	low = low > m->low ? low : m->low;
	high = high < m->high ? high : m->high;
	return low < high && (!m->unwritten || memchr(m->unwritten + (low - m->low), 1, high - low));
}

static pthread_key_t key;
static bool key_made;

static void end_thread(void *p)
{
	struct guard_call *c = p;
	while (c->n_made)
		guard_forget_made(c, &c->made[c->n_made - 1]);
	free(c);
}

static void make_key(void) { key_made = pthread_key_create(&key, end_thread) == 0; }

struct guard_call *guard_state_of(struct ops_thread *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_key);
	if (!t->guard && key_made && (t->guard = calloc(1, sizeof(*t->guard))) && pthread_setspecific(key, t->guard)) {
		free(t->guard);
		t->guard = NULL;
	}
	return t->guard;
}

static bool view_here(const struct model *m, void *tensor, struct ops_view *v, int64_t *bytes)
{
	struct tensor_meta meta;
	return tensor && ops_view_of(m, tensor, v) && v->device == DEVICE_CPU && v->data && ops_meta_of(v, &meta, bytes) && *bytes > 0;
}

void guard_made(const struct model *m, void *tensor)
{
	struct ops_thread *t = ops_thread_if_any();
	struct guard_call *c = t && t->depth ? guard_state_of(t) : NULL;
	struct ops_view v;
	int64_t bytes;
	if (!c || !guard_runs_twice(&t->run[t->depth]) || !view_here(m, tensor, &v, &bytes))
		return;
	const uintptr_t low = (uintptr_t)v.data, high = low + (uintptr_t)bytes;
	for (uint32_t i = c->n_made; i-- > 0;) /* memory that was freed without our knowing */
		if (c->made[i].low < high && low < c->made[i].high)
			guard_forget_made(c, &c->made[i]);
	if (c->n_made < MADE)
		c->made[c->n_made++] = (struct made){.low = low, .high = high, .handles = 1};
}

void guard_viewed(const struct model *m, void *tensor)
{
	struct ops_thread *t = ops_thread_if_any();
	struct ops_view v;
	int64_t bytes;
	struct made *at =
	    t && t->guard && t->guard->n_made && view_here(m, tensor, &v, &bytes) ? guard_made_at(t->guard, (uintptr_t)v.data) : NULL;
	if (at)
		at->handles++;
}

void guard_dropped(const struct model *m, void *tensor)
{
	struct ops_thread *t = ops_thread_if_any();
	for (uint32_t i = 0; t && i < t->n_fetched; i++) /* whoever passes its address nevertheless passes no tensor */
		if (t->fetched[i].handle == tensor)
			t->fetched[i].handle = NULL;
	struct ops_view v;
	int64_t bytes;
	struct made *at =
	    t && t->guard && t->guard->n_made && view_here(m, tensor, &v, &bytes) ? guard_made_at(t->guard, (uintptr_t)v.data) : NULL;
	if (at && !--at->handles)
		guard_forget_made(t->guard, at);
}
