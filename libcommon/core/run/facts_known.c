/* facts_known.c - searches texts for messages of the knowledge base. */
#include "run/facts.h"
#include "run/patterns/patterns.h"

struct taker {
	struct facts *f;
	struct fact_src src;
	uint32_t compile;
	struct buf text;
};

static uint32_t expanded(struct taker *t, const struct slice *line, uint32_t n, const struct pattern_match *m)
{
	buf_reset(&t->text);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			buf_addc(&t->text, '\n');
		pattern_expand(&t->text, line[i], m);
	}
	return facts_intern(t->f, buf_slice(&t->text));
}

/* Without colors (ESC [ ... letter): a failure's own text, which the quote is compared with, has none. */
static struct slice plain(struct taker *t, struct slice s)
{
	if (!slice_chr(s, '\x1b'))
		return s;
	buf_reset(&t->text);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\x1b')
			buf_addc(&t->text, s.p[i]);
		else if (i + 1 < s.n && s.p[i + 1] == '[')
			for (i += 2; i < s.n && !(s.p[i] >= '@' && s.p[i] <= '~');)
				i++;
	return buf_slice(&t->text);
}

void facts_take_known(struct facts *f, struct fact_src src, uint32_t compile, const struct pattern_match *m)
{
	struct taker t = {.f = f, .src = src, .compile = compile};
	const struct pattern *p = m->pattern;
	uint32_t id = facts_intern(f, p->id), title = expanded(&t, &p->title, 1, m);
	/* One row per input and title: a message that occurs a thousand times is one row with a count. */
	const uint32_t key[] = {src.input, id, title};
	uint32_t row = intern_add(&f->known_ids, slice_of((const char *)key, sizeof(key)));
	if (row < f->n_known) {
		f->known[row].count++;
		buf_release(&t.text);
		return;
	}
	struct fact_known *k = facts_new_known(f, src);
	k->compile = compile;
	k->pattern = id;
	k->title = title;
	k->component = p->component;
	k->level = p->level;
	k->count = 1;
	uint32_t quote = facts_intern(f, slice_trim(plain(&t, m->quote))), cause = expanded(&t, &p->cause, 1, m),
		 check = expanded(&t, &p->check, 1, m);
	uint32_t fix = expanded(&t, p->fix.item, p->fix.n, m), hint = expanded(&t, p->hint.item, p->hint.n, m),
		 see = expanded(&t, p->see.item, p->see.n, m);
	k = &f->known[f->n_known - 1];
	k->quote = quote;
	k->cause = cause;
	k->check = check;
	k->fix = fix;
	k->hint = hint;
	k->see = see;
	buf_release(&t.text);
}

static void take(void *ctx, const struct pattern_match *m)
{
	struct taker *t = ctx;
	facts_take_known(t->f, t->src, t->compile, m);
}

void facts_add_known(struct facts *f, const struct facts_options *o, struct fact_src src, uint32_t compile, struct slice text)
{
	struct pattern_scan s;
	struct taker t = {.f = f, .src = src, .compile = compile};
	if (!o->patterns || !text.n)
		return;
	pattern_scan_init(&s, o->patterns, take, &t);
	pattern_scan_feed(&s, text, true);
	pattern_scan_release(&s);
	buf_release(&t.text);
}
