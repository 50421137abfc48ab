#include "graph/repro/graph_json_part.h"

/* ---- errors ---- */

size_t gj_line(const struct json_tape *t, size_t off)
{
	size_t line = 1;
	for (size_t i = 0; i < off && i < t->len; i++)
		line += t->text[i] == '\n';
	return line;
}

int gj_bad(struct gjson *d, uint32_t tok, const char *fmt, ...)
{
	size_t line = gj_line(&d->t, d->t.tok[tok].off);
	char what[512], where[256] = "";
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (d->in)
		snprintf(where, sizeof(where), "%s '%.*s': ", d->in, SLN(d->in_name, 150));
	d->bad = true;
	return err_set(d->err, EXIT_INPUT, "'%s', line %zu: %s%s", d->name, line, where, what);
}

int gj_members(struct gjson *d, uint32_t obj, const char *what, const char *const *key, size_t n)
{
	if (!json_is(&d->t, obj, JSON_OBJECT))
		return gj_bad(d, obj, "%s must be an object", what);
	json_each_pair(&d->t, obj, k) {
		size_t i = 0;
		while (i < n && !slice_is(json_slice(&d->t, k), key[i]))
			i++;
		if (i == n)
			return gj_bad(d, k, "%s cannot have a member '%.*s'", what, SLN(json_slice(&d->t, k), 80));
	}
	return 0;
}

/* ---- values ---- */

void gj_put_str(struct gjson *d, struct slice s)
{
	buf_addc(d->out, '"');
	json_escape(d->out, s, false);
	buf_addc(d->out, '"');
}

void gj_put_size(struct gjson *d, struct symsize s)
{
	if (symsize_is_int(s)) {
		buf_addf(d->out, "%lld", (long long)s.k);
		return;
	}
	LOCAL_BUF text = {0};
	symsize_print(&d->g->tab, s, &text);
	gj_put_str(d, buf_slice(&text));
}

int gj_text(struct gjson *d, uint32_t k, const char *what, struct slice *s)
{
	*s = SLICE("");
	if (k == NONE)
		return 0;
	if (!json_is(&d->t, k, JSON_STRING))
		return gj_bad(d, k, "%s must be a string", what);
	*s = json_text_at(&d->t, k, &d->b);
	return 0;
}

int gj_keep(struct gjson *d, uint32_t k, const char *what, struct slice *s)
{
	if (gj_text(d, k, what, s) < 0)
		return -1;
	*s = repro_keep(d->r, *s);
	return 0;
}

int gj_read_u32(struct gjson *d, uint32_t k, const char *what, uint32_t none, uint32_t *v)
{
	uint64_t wide = none;
	if (k != NONE && (!json_u64(&d->t, k, &wide) || wide >= UINT32_MAX))
		return gj_bad(d, k, "%s must be a non-negative integer", what);
	*v = (uint32_t)wide;
	return 0;
}

int gj_read_size(struct gjson *d, uint32_t k, const char *what, struct symsize *out)
{
	struct slice s;
	int64_t v = 0;
	if (k == NONE || json_is(&d->t, k, JSON_NUMBER)) {
		if (k != NONE && !json_i64(&d->t, k, &v))
			return gj_bad(d, k, "%s is not a 64-bit integer", what);
		*out = symsize_int(v);
		return 0;
	}
	if (gj_text(d, k, what, &s) < 0)
		return -1;
	*out = symsize_parse_any(&d->g->tab, s);
	return 0;
}

int gj_read_word(struct gjson *d, uint32_t k, const char *what, const char *const *word, size_t n, unsigned *v)
{
	struct slice s;
	if (k == NONE)
		return 0;
	if (gj_text(d, k, what, &s) < 0)
		return -1;
	for (*v = 0; *v < n; ++*v)
		if (slice_is(s, word[*v]))
			return 0;
	return gj_bad(d, k, "unknown %s '%.*s'", what, SLN(s, 80));
}

int gj_array(struct gjson *d, uint32_t k, const char *what)
{
	return k == NONE || json_is(&d->t, k, JSON_ARRAY) ? 0 : gj_bad(d, k, "%s must be an array", what);
}

int gj_list(struct gjson *d, uint32_t array, const char *what, int (*read)(struct gjson *d, uint32_t k))
{
	if (gj_array(d, array, what) < 0)
		return -1;
	json_each(&d->t, array, k)
		if (read(d, k) < 0)
			return -1;
	return 0;
}

/* ---- rows ---- */

void gj_write_row(struct gjson *d, gj_row *row, void *of)
{
	buf_addc(d->out, '{');
	d->more = false;
	row(d, of);
	buf_addc(d->out, '}');
	d->more = true;
}

int gj_read_row(struct gjson *d, uint32_t obj, const char *what, gj_row *row, void *of)
{
	const uint32_t outer = d->at;
	d->naming = true;
	d->n_key = 0;
	row(d, of);
	d->naming = false;
	if (gj_members(d, obj, what, d->key, d->n_key) < 0)
		return -1;
	d->at = obj;
	row(d, of);
	d->at = outer;
	return d->bad ? -1 : 0;
}

void gj_write_list(struct gjson *d, const char *indent, const char *key, gj_row *row, void *item, size_t size, size_t n)
{
	buf_addf(d->out, ",\n%s\"%s\": [", indent, key);
	for (size_t i = 0; i < n; i++) {
		buf_addf(d->out, "%s\n%s ", i ? "," : "", indent);
		gj_write_row(d, row, (char *)item + i * size);
	}
	buf_addc(d->out, ']');
}

bool gj_member(struct gjson *d, const char *key, bool there)
{
	d->k = NONE;
	if (d->out) {
		if (there)
			buf_addf(d->out, "%s\"%s\": ", d->more ? ", " : "", key);
		d->more |= there;
		return there;
	}
	if (d->naming) {
		d->key[d->n_key++] = key;
		return false;
	}
	d->k = json_get(&d->t, d->at, key);
	snprintf(d->what, sizeof(d->what), d->bare ? "%s" : "\"%s\"", key);
	return !d->bad;
}

static void text_member(struct gjson *d, const char *key, struct slice *s, bool there)
{
	if (!gj_member(d, key, there))
		return;
	if (d->out)
		gj_put_str(d, *s);
	else
		gj_keep(d, d->k, d->what, s);
}

void gj_str(struct gjson *d, const char *key, struct slice *s) { text_member(d, key, s, true); }
void gj_some(struct gjson *d, const char *key, struct slice *s) { text_member(d, key, s, s->n > 0); }

void gj_name(struct gjson *d, const char *key, uint32_t *id, bool there)
{
	struct slice s;
	if (!gj_member(d, key, there))
		return;
	if (d->out)
		gj_put_str(d, graph_text(d->g, *id));
	else if (d->k == NONE)
		*id = NONE;
	else if (gj_text(d, d->k, d->what, &s) == 0)
		*id = graph_intern(d->g, s);
}

void gj_flag(struct gjson *d, const char *key, bool *v)
{
	if (!gj_member(d, key, *v))
		return;
	if (d->out)
		buf_adds(d->out, "true");
	else if (!(*v = json_is(&d->t, d->k, JSON_TRUE)) && d->k != NONE && !json_is(&d->t, d->k, JSON_FALSE))
		gj_bad(d, d->k, "%s must be true or false", d->what);
}

void gj_number(struct gjson *d, const char *key, uint32_t *v, uint32_t none)
{
	if (!gj_member(d, key, *v != none))
		return;
	if (d->out)
		buf_add_u64(d->out, *v);
	else
		gj_read_u32(d, d->k, d->what, none, v);
}

void gj_size(struct gjson *d, const char *key, struct symsize *v, bool there)
{
	if (!gj_member(d, key, there))
		return;
	if (d->out)
		gj_put_size(d, *v);
	else
		gj_read_size(d, d->k, d->what, v);
}

unsigned gj_word(struct gjson *d, const char *key, unsigned v, const char *const *word, size_t n)
{
	if (!gj_member(d, key, true))
		return v;
	if (d->out)
		gj_put_str(d, slice_str(word[v]));
	else
		gj_read_word(d, d->k, d->what, word, n, &v);
	return v;
}
