/* kernelmaps_text.c - compilations from a text log: TORCH_LOGS=output_code; ir_post_fusion and post_grad_graphs add more. */
#include "graph/inductor/kernelmaps.h"
#include "base/rows.h"

#define COMPILATIONS 4096

enum part { PART_CODE, PART_PRE, PART_POST, PART_GRAPH, PARTS_OF_LOG };

/* Each line of these artifacts has its prefix: "... graph.py:2722] [0/0] [__output_code] import torch". */
struct compilation {
	struct slice id;
	struct buf text[PARTS_OF_LOG];
	bool code;        /* between "Output code:" and "Output code written to:" */
	const char *from; /* where it starts in the log */
};

struct log {
	struct kernelmaps *k;
	struct slice text;
	const char *at; /* the end of the last line read */
	struct compilation *c;
	uint32_t n, cap;
};

struct slice kernelmaps_keep(struct kernelmaps *k, struct slice bytes)
{
	struct buf *own = xcalloc(1, sizeof(*own));
	buf_add_slice(own, bytes);
	PUSH(k, buf) = own;
	return buf_slice(own);
}

bool kernelmaps_add(struct kernelmaps *k, const struct kernelmap_input *in)
{
	if (k->n_input >= KERNELMAPS_MAX)
		return false;
	PUSH(k, input) = *in;
	return true;
}

static bool artifact(struct slice line, struct slice *id, enum part *part, struct slice *text)
{
	static const char *const names[] = {"[__output_code] ", "[__ir_pre_fusion] ", "[__ir_post_fusion] ", "[__post_grad_graphs] "};
	const char *mark = slice_find(line, "] [__");
	if (!mark)
		return false;
	struct slice rest = slice_of(mark + 2, (size_t)(line.p + line.n - mark - 2));
	const char *open = memrchr(line.p, '[', (size_t)(mark - line.p));
	*id = open ? slice_of(open + 1, (size_t)(mark - open - 1)) : SLICE("");
	for (int i = 0; i < PARTS_OF_LOG; i++) {
		size_t n = strlen(names[i]);
		/* an empty line lacks the blank */
		if (slice_starts(rest, names[i]) || (rest.n == n - 1 && !memcmp(rest.p, names[i], n - 1))) {
			*part = (enum part)i;
			*text = rest.n >= n ? slice_of(rest.p + n, rest.n - n) : SLICE("");
			return true;
		}
	}
	return false;
}

static struct compilation *compilation_of(struct log *l, struct slice id)
{
	for (uint32_t i = l->n; i-- > 0;)
		if (slice_eq(l->c[i].id, id))
			return &l->c[i];
	if (l->n == COMPILATIONS)
		return NULL;
	GROW(l->c, l->n, l->cap, 1);
	l->c[l->n] = (struct compilation){.id = id, .from = l->text.p};
	return &l->c[l->n++];
}

/* The forward's texts end where the backward's with the same id start. */
static void done(struct log *l, struct compilation *c)
{
	struct kernelmap_input in = {0};
	struct slice *to[PARTS_OF_LOG] = {&in.code, &in.ir_pre, &in.ir_post, &in.graph};
	uint32_t before = 0;
	bool any = c->text[PART_CODE].len || c->text[PART_PRE].len || c->text[PART_POST].len;
	for (uint32_t i = 0; i < l->k->n_input; i++)
		before += slice_eq(l->k->input[i].folder, c->id);
	for (int i = 0; i < PARTS_OF_LOG; i++) {
		if (any)
			*to[i] = kernelmaps_keep(l->k, buf_slice(&c->text[i]));
		buf_release(&c->text[i]);
	}
	in.log = slice_of(c->from, (size_t)(l->at - c->from));
	c->code = false;
	c->from = l->at;
	if (!any)
		return;
	in.folder = arena_slice(&l->k->arena, c->id);
	in.name = before ? arena_textf(&l->k->arena, "%.*s (%u)", SL(c->id), before + 1) : in.folder;
	kernelmaps_add(l->k, &in);
}

static void take_part(struct log *l, struct compilation *c, enum part part, struct slice text)
{
	if (part == PART_CODE && slice_starts(text, "Output code written to:")) {
		if (c->code)
			done(l, c);
		return;
	}
	if (part == PART_CODE && slice_starts(text, "Output code:")) {
		buf_reset(&c->text[part]);
		c->code = true;
		return;
	}
	if (slice_is(text, "BEFORE FUSION") || slice_is(text, "AFTER FUSION")) {
		buf_reset(&c->text[part]);
		return;
	}
	if (part == PART_CODE && !c->code)
		return;
	if (part == PART_GRAPH) {
		const char *class = slice_find(text, "class ");
		if (slice_starts(text, "TRACED GRAPH"))
			buf_reset(&c->text[part]);
		if (class && slice_find(text, "(torch.nn.Module):")) /* its file precedes it */
			text = slice_of(class, (size_t)(text.p + text.n - class));
		else if (!c->text[part].len)
			return;
	}
	buf_add_slice(&c->text[part], text);
	buf_addc(&c->text[part], '\n');
}

void kernelmaps_from_log(struct kernelmaps *k, struct slice text)
{
	struct log l = {.k = k, .text = text, .at = text.p};
	struct slice line, id, rest;
	enum part part;
	while (slice_line(&text, &line)) {
		l.at = line.p + line.n;
		if (!artifact(line, &id, &part, &rest))
			continue;
		struct compilation *c = compilation_of(&l, id);
		if (c)
			take_part(&l, c, part, rest);
	}
	for (uint32_t i = 0; i < l.n; i++)
		done(&l, &l.c[i]);
	free(l.c);
}
