/* kernels.c - joins the kernels of a profile with the nodes they were made from (graph/inductor/kernelmap.h), or with the lines that the
 * profiler wrote beside them. */
#include "profile/profile_view.h"

/* Each once: several graphs may have a kernel of the same name. */
static void add_once(struct intern *seen, struct buf *b, struct slice s)
{
	if (!s.n || intern_find(seen, s) != NONE)
		return;
	intern_add(seen, s);
	if (b->len)
		buf_adds(b, ", ");
	buf_add_slice(b, s);
}

static void add_use(const struct kernelmap *m, const struct kmuse *u, struct intern *seen, struct buf *nodes, struct buf *lines)
{
	LOCAL_BUF at = {0};
	for (uint32_t i = 0; i < u->fx.n; i++) {
		const struct kmnode *n = &m->node[m->item[u->fx.first + i]];
		if (n->compute)
			add_once(seen, nodes, n->name);
	}
	for (uint32_t i = 0; i < u->source.n; i++) {
		const struct srcloc *s = &m->source[m->item[u->source.first + i]];
		if (!srcloc_is_user(s->file))
			continue;
		buf_reset(&at);
		srcloc_format(&at, s, SRCLOC_PLAIN, true);
		add_once(seen, lines, buf_slice(&at));
	}
}

/* Of each text the innermost frame that is the user's. */
static bool add_stack(const char *stack, struct intern *seen, struct buf *lines)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	LOCAL_BUF at = {0};
	uint32_t root;
	const size_t before = lines->len;
	json_tape_text(&t, stack, strlen(stack));
	if (json_parse(&t, 0, strlen(stack), &root) < 0)
		return false;
	json_each(&t, root, k) {
		LOCAL_BUF text = {0};
		struct srcloc one, user = {0};
		json_unescape(&t, k, &text);
		for (struct slice rest = buf_slice(&text); srcloc_next(&rest, &one);)
			if (srcloc_is_user(one.file))
				user = one;
		if (!user.file.n)
			continue;
		buf_reset(&at);
		srcloc_format(&at, &user, SRCLOC_PLAIN, true);
		add_once(seen, lines, buf_slice(&at));
	}
	return lines->len > before;
}

bool view_kernel(const struct profile_view *v, const struct profile_op *o, struct buf *nodes, struct buf *lines)
{
	OWNED(intern_release) struct intern seen = {0};
	bool found = false;
	for (uint32_t i = 0; o->family == FAMILY_KERNEL && i < v->maps.n; i++) {
		const struct kernelmap *m = v->maps.map[i];
		for (uint32_t u = 0; u < m->n_use; u++) {
			if (!slice_eq(m->use[u].name, o->name))
				continue;
			found = true;
			add_use(m, &m->use[u], &seen, nodes, lines);
		}
	}
	const uint32_t row = o->row[1];
	const struct profile *p = v->c.side[1];
	return found || (row != NONE && p->row[row].stack && add_stack(p->row[row].stack, &seen, lines));
}

struct slice view_function(struct profile_view *v, struct slice id, struct buf *tmp)
{
	buf_reset(tmp);
	for (uint32_t i = 0; v->has_facts && id.n && i < v->facts.n_compile; i++) {
		const struct fact_compile *c = &v->facts.compile[i];
		if (!slice_eq(facts_text(&v->facts, c->id), id))
			continue;
		const struct slice file = facts_text(&v->facts, c->loc.file), function = facts_text(&v->facts, c->loc.function);
		const struct slice of = facts_text(&v->facts, c->resume_of);
		if (file.n)
			buf_addf(tmp, "%.*s:%u", SL(file), c->loc.line);
		if (of.n)
			buf_addf(tmp, "%sthe rest of %.*s from line %u", file.n ? " " : "", SL(of), c->resume_line);
		else if (function.n)
			buf_addf(tmp, "%sin %.*s", file.n ? " " : "", SL(function));
		break;
	}
	return buf_slice(tmp);
}
