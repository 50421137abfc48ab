/* compare_config.c - versions and configuration. */
#include "compare/compare_part.h"

static const char *const config_short[COMPARE_CONFIGS] = {"dynamo", "inductor", "functorch", "compiler", "functorch"};

void compare_versions(struct compare *c)
{
	for (unsigned i = 0; i < ARRAY_LEN(compare_version_name); i++) {
		struct buf text[2] = {{0}};
		for (unsigned s = 0; s < 2; s++) {
			const struct compare_log *l = compare_side(c, s);
			for (uint32_t k = 0; k < l->versions.n; k++) {
				struct slice row = intern_get(&l->versions, k);
				size_t n = strlen(compare_version_name[i]);
				if (row.n <= n || memcmp(row.p, compare_version_name[i], n + 1))
					continue;
				if (text[s].len)
					buf_adds(&text[s], ", ");
				buf_add(&text[s], row.p + n + 1, row.n - n - 1);
			}
		}
		/* Known on one side only: logged by one torch version and not by the other, or a truncated log. */
		if (text[0].len && text[1].len && !slice_eq(buf_slice(&text[0]), buf_slice(&text[1])))
			compare_row(c, COMPARE_VERSION, HOW_CHANGED, NONE, slice_str(compare_version_name[i]), buf_slice(&text[0]),
				    buf_slice(&text[1]));
		buf_release(&text[0]);
		buf_release(&text[1]);
	}
}

static bool parse_config(unsigned kind, struct slice text, struct buf *b, struct json_tape *tape, uint32_t *root)
{
	buf_reset(b);
	if (kind != COMPARE_ARTIFACT_CONFIG) { /* a JSON string that contains JSON */
		json_tape_text(tape, text.p, text.n);
		if (json_parse(tape, 0, text.n, root) < 0)
			return false;
		json_unescape(tape, *root, b);
	} else {
		buf_add_slice(b, text);
	}
	json_tape_text(tape, b->p, b->len);
	return json_parse(tape, 0, b->len, root) == 0 && json_is(tape, *root, JSON_OBJECT);
}

static void config_row(struct compare *c, unsigned kind, struct slice key, struct slice before, struct slice after, uint32_t count)
{
	struct buf b = {0};
	buf_adds(&b, config_short[kind]);
	buf_addc(&b, '.');
	buf_add_slice(&b, key);
	for (uint32_t i = 0; i < c->n_change; i++) {
		struct compare_change *x = &c->change[i];
		if (x->kind == COMPARE_CONFIG && slice_eq(x->subject, buf_slice(&b)) && slice_eq(x->before, compare_cut(before)) &&
		    slice_eq(x->after, compare_cut(after))) {
			x->count += count;
			buf_release(&b);
			return;
		}
	}
	compare_row(c, COMPARE_CONFIG, compare_values_how(before, after), NONE, buf_slice(&b), before, after)->count = count;
	buf_release(&b);
}

static void compare_config(struct compare *c, unsigned kind, struct slice a, struct slice b, uint32_t count)
{
	struct slice text[2] = {a, b};
	struct buf buf[2] = {{0}};
	struct json_tape tape[2] = {{0}};
	OWNED(intern_release) struct intern keys = {0};
	uint32_t root[2], *at = NULL, n_at = 0, cap = 0;
	bool ok = true;
	for (unsigned s = 0; s < 2; s++)
		ok = ok && parse_config(kind, text[s], &buf[s], &tape[s], &root[s]);
	if (ok) {
		json_each_pair(&tape[1], root[1], k) {
			uint32_t i = intern_add(&keys, json_slice(&tape[1], k));
			GROW(at, n_at, cap, i >= n_at ? 1 : 0);
			n_at = i >= n_at ? i + 1 : n_at;
			at[i] = k + 1;
		}
		json_each_pair(&tape[0], root[0], k) {
			uint32_t i = intern_find(&keys, json_slice(&tape[0], k));
			struct slice before = json_raw(&tape[0], k + 1),
				     after = i == NONE || at[i] == NONE ? slice_of("", 0) : json_raw(&tape[1], at[i]);
			if (!slice_eq(before, after) && normal_plain(before) != normal_plain(after))
				config_row(c, kind, json_slice(&tape[0], k), before, after, count);
			if (i != NONE)
				at[i] = NONE;
		}
		for (uint32_t i = 0; i < n_at; i++)
			if (at[i] != NONE)
				config_row(c, kind, intern_get(&keys, i), slice_of("", 0), json_raw(&tape[1], at[i]), count);
	}
	for (unsigned s = 0; s < 2; s++) {
		buf_release(&buf[s]);
		json_tape_release(&tape[s]);
	}
	free(at);
}

enum { COMPARE_CONFIG_PAIRS = 64 };

void compare_configs(struct compare *c)
{
	struct {
		uint32_t a, b, count;
		unsigned kind;
	} seen[COMPARE_CONFIG_PAIRS];
	unsigned n = 0;
	for (uint32_t i = 0; i < c->n_pair; i++) {
		const struct compare_pair *p = &c->pair[i];
		if (p->a == NONE || p->b == NONE)
			continue;
		const struct compare_configs *a = &c->a->configs[compare_last(c->a, p->a) - c->a->t.f->attempt];
		const struct compare_configs *b = &c->b->configs[compare_last(c->b, p->b) - c->b->t.f->attempt];
		for (unsigned kind = 0; kind < COMPARE_CONFIGS; kind++) {
			if (a->text[kind] == NONE || b->text[kind] == NONE)
				continue;
			if (kind == COMPARE_ARTIFACT_CONFIG && a->text[COMPARE_FUNCTORCH] != NONE && b->text[COMPARE_FUNCTORCH] != NONE)
				continue;
			unsigned k = 0;
			while (k < n && (seen[k].kind != kind || seen[k].a != a->text[kind] || seen[k].b != b->text[kind]))
				k++;
			if (k == n && n < COMPARE_CONFIG_PAIRS) {
				seen[n].kind = kind;
				seen[n].a = a->text[kind];
				seen[n].b = b->text[kind];
				seen[n++].count = 0;
			}
			if (k < n)
				seen[k].count++;
		}
	}
	for (unsigned k = 0; k < n; k++) {
		struct slice a = intern_get(&c->a->texts, seen[k].a), b = intern_get(&c->b->texts, seen[k].b);
		if (!slice_eq(a, b))
			compare_config(c, seen[k].kind, a, b, seen[k].count);
	}
}
