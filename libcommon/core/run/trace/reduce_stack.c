/* reduce_stack.c - strings, frames and stacks of a log, each kept once. */
#include "run/trace/reduce.h"

enum { STRING_MAX = 1 << 20 };

void reduce_string(struct trace *t, struct trace_scan *s, struct trace_record *r, uint64_t line)
{
	uint32_t v = trace_value(s, r, KIND_str);
	uint64_t i;
	if (!json_u64(&s->tape, v + 2, &i) || i >= STRING_MAX) {
		trace_damage_add(t->damage, DAMAGE_STRINGS, line);
		return;
	}
	struct trace_process *p = &t->process[t->now];
	GROW(p->string, p->n_string, p->cap_string, i >= p->n_string ? i - p->n_string + 1 : 0);
	while (p->n_string <= i)
		p->string[p->n_string++] = NONE;
	p->string[i] = reduce_token(t, &s->tape, v + 1);
	t->any_string = true;
	t->exports |= p->string[i] != NONE && slice_ends(intern_get(&t->f->names, p->string[i]), "torch/export/_trace.py");
}

static uint32_t frame_of(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	struct trace_frame f = {NONE, NONE, NONE, 0};
	uint32_t file = json_get(tape, k, "uninterned_filename");
	uint64_t i;
	int64_t line;
	if (json_is(tape, file, JSON_STRING))
		f.file = reduce_token(t, tape, file);
	else if (json_u64(tape, json_get(tape, k, "filename"), &i))
		f.file = trace_string(t, i);
	f.name = reduce_token(t, tape, json_get(tape, k, "name"));
	f.code = reduce_token(t, tape, json_get(tape, k, "loc"));
	if (json_i64(tape, json_get(tape, k, "line"), &line))
		f.line = (int32_t)line;
	uint32_t n = intern_add(&t->frames, slice_of((const char *)&f, sizeof(f)));
	if (n == t->n_frame) {
		GROW(t->frame, t->n_frame, t->cap_frame, 1);
		t->frame[t->n_frame++] = f;
	}
	return n;
}

static bool frame_is(const struct trace *t, uint32_t frame, const char *file, const char *name)
{
	return slice_ends(intern_get(&t->f->names, t->frame[frame].file), file) &&
	       slice_is(intern_get(&t->f->names, t->frame[frame].name), name);
}

/* Dynamo's own frames at the end of every dynamo_start stack are irrelevant to the program. */
static uint32_t without_convert_frame(const struct trace *t, const uint32_t *frame, uint32_t n)
{
	static const char file[] = "torch/_dynamo/convert_frame.py";
	static const char *const tails[2][3] = {{"catch_errors", "_convert_frame", "_convert_frame_assert"},
						{"__call__", "__call__", "__call__"}};
	for (unsigned i = 0; i < 2; i++)
		if (n >= 3 && frame_is(t, frame[n - 3], file, tails[i][0]) && frame_is(t, frame[n - 2], file, tails[i][1]) &&
		    frame_is(t, frame[n - 1], file, tails[i][2]))
			n -= 3;
	return n;
}

/* Adds a stack to a trie; returns the node of its last frame, or NONE. */
static uint32_t trie_add(struct trace *t, struct trace_trie *trie, const struct json_tape *tape, uint32_t k, bool dynamo, uint32_t compile)
{
	uint32_t n = 0, parent = NONE;
	buf_reset(&t->tmp2);
	for (uint32_t i = json_first(tape, k); i < json_end(tape, k); i = json_next(tape, i), n++) {
		uint32_t f = frame_of(t, tape, i);
		buf_add(&t->tmp2, &f, sizeof(f));
	}
	const uint32_t *frame = (const uint32_t *)(void *)t->tmp2.p;
	if (dynamo)
		n = without_convert_frame(t, frame, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t edge[2] = {parent, frame[i]};
		uint32_t node = intern_add(&trie->edges, slice_of((const char *)edge, sizeof(edge)));
		if (node == trie->n) {
			GROW(trie->node, trie->n, trie->cap, 1);
			trie->node[trie->n++] = (struct trace_stack){parent, frame[i], NONE, NONE, NONE, NONE, NONE};
			if (parent != NONE) {
				struct trace_stack *up = &trie->node[parent];
				if (up->child == NONE)
					up->child = node;
				else
					trie->node[up->last_child].sibling = node;
				up->last_child = node;
			}
		}
		parent = node;
	}
	if (parent != NONE && compile != NONE) {
		GROW(trie->start, trie->n_start, trie->cap_start, 1);
		trie->start[trie->n_start] = (struct trace_start){compile, NONE};
		struct trace_stack *node = &trie->node[parent];
		if (node->first_start == NONE)
			node->first_start = trie->n_start;
		else
			trie->start[node->last_start].next = trie->n_start;
		node->last_start = trie->n_start++;
	}
	return parent;
}

/* The innermost frame of a user_stack that is in a file: the location in the user's program. */
struct fact_loc reduce_user_loc(struct trace *t, const struct json_tape *tape, uint32_t value)
{
	struct fact_loc loc = {NONE, 0, NONE, NONE};
	uint32_t stack = json_get(tape, value, "user_stack");
	bool in_file = false;
	if (!json_is(tape, stack, JSON_ARRAY))
		return loc;
	json_each(tape, stack, i) {
		if (!json_is(tape, i, JSON_OBJECT))
			continue;
		uint32_t k = frame_of(t, tape, i); /* may move t->frame */
		const struct trace_frame *f = &t->frame[k];
		bool made_up = f->file == NONE || slice_starts(intern_get(&t->f->names, f->file), "<"); /* <string>, <eval_with_key>.0 */
		if (made_up && in_file)
			continue;
		in_file |= !made_up;
		loc = (struct fact_loc){f->file, f->line > 0 ? (uint32_t)f->line : 0, f->name, f->code};
	}
	return loc;
}

uint32_t reduce_stack(struct trace *t, struct trace_trie *trie, const struct json_tape *tape, uint32_t k)
{
	return !json_is(tape, k, JSON_ARRAY) ? NONE : trie_add(t, trie, tape, k, false, NONE);
}

uint32_t reduce_start(struct trace *t, const struct json_tape *tape, uint32_t k, uint32_t compile)
{
	return trie_add(t, &t->starts, tape, k, true, compile);
}
