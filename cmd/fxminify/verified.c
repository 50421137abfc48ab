/* verified.c - findings of aoti-verify for the same graph (docs/user/VERIFY.md, pt2utils.verify/1) are tried first. */
#include "base/io/jsonfile.h"
#include "session.h"

enum { FUSED = 8 }; /* operations: a kernel consists of the node where it is wrong and some others, which are tried with it */

struct above {
	const struct graph *g;
	uint32_t node[FUSED], n;
};

void session_suspect(struct session *s, struct slice name)
{
	for (size_t i = 0; i < s->suspects.n; i++)
		if (slice_eq(s->suspects.name[i], name))
			return;
	s->suspects.name = xreallocarray(s->suspects.name, s->suspects.n + 1, sizeof(*s->suspects.name));
	s->suspects.name[s->suspects.n++] = arena_slice(&s->arena, name);
}

static bool add_above(void *user, uint32_t operand)
{
	struct above *a = user;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->node[i] == operand)
			return true;
	if (a->n < FUSED && graph_computes(&a->g->node[operand]))
		a->node[a->n++] = operand;
	return a->n < FUSED;
}

static void add_fused(struct session *s, uint32_t node)
{
	struct above a = {.g = &s->in.repro.graph, .node = {node}, .n = 1};
	for (uint32_t i = 0; i < a.n; i++)
		graph_operands(a.g, a.node[i], add_above, &a);
	for (uint32_t i = 1; i < a.n; i++)
		session_suspect(s, graph_name(a.g, a.node[i]));
}

static int take_findings(struct session *s, const struct json_tape *t, uint32_t root, const char *path, struct err *err)
{
	LOCAL_BUF tmp = {0};
	struct slice unknown = SLICE("");
	if (!slice_is(json_word(t, root, "schema"), "pt2utils.verify/1"))
		return err_set(err, EXIT_INPUT, "'%s' is not output of aoti-verify --json", path);
	json_each(t, json_get(t, root, "runs"), run)
		json_each(t, json_get(t, run, "findings"), f) {
			/* of a loop: "while_loop.2.add" */
			const struct slice name = slice_until(json_text(t, json_get(t, f, "node"), "name", &tmp), ".");
			if (name.n && graph_find(&s->in.repro.graph, 0, name) == NONE)
				unknown = arena_slice(&s->arena, name);
			else if (name.n)
				session_suspect(s, name);
		}
	if (!s->suspects.n && unknown.n)
		return err_set(err, EXIT_INPUT,
			       "'%s': its finding is at node '%.*s', which this graph does not have: is it for another graph?", path,
			       SLN(unknown, 100));
	s->n_likely = s->suspects.n;
	for (size_t i = 0; i < s->n_likely; i++)
		add_fused(s, graph_find(&s->in.repro.graph, 0, s->suspects.name[i]));
	return 0;
}

int verified_read(struct session *s, const char *path, struct err *err)
{
	OWNED(jsonfile_close) struct jsonfile d;
	return jsonfile_read(&d, path, err) < 0 ? -1 : take_findings(s, &d.t, d.root, path, err);
}
