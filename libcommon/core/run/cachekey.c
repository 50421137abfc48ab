/* cachekey.c - see cachekey.h. */
#include "run/cachekey.h"
#include "base/hash.h"
#include "base/text.h"

/* ---- lines as torch writes them ---- */

static bool split_line(struct slice line, struct key_part *part)
{
	const char *end = line.n && line.p[0] == '[' ? slice_chr(line, ']') : NULL;
	if (!end || end - line.p < 9 || (size_t)(end - line.p) + 2 >= line.n || end[1] != ' ')
		return false;
	part->hash = slice_of(line.p + 1, (size_t)(end - line.p) - 1);
	struct slice rest = slice_of(end + 2, line.n - (size_t)(end - line.p) - 2);
	const char *colon = slice_find(rest, ": ");
	if (!colon && rest.n && rest.p[rest.n - 1] == ':') /* an empty value */
		colon = rest.p + rest.n - 1;
	if (!colon || colon == rest.p)
		return false;
	part->name = slice_of(rest.p, (size_t)(colon - rest.p));
	size_t skip = part->name.n + 2 < rest.n ? part->name.n + 2 : rest.n;
	part->value = slice_of(rest.p + skip, rest.n - skip);
	return !slice_chr(part->name, '\n') && !slice_chr(part->hash, ' ') && !slice_chr(part->hash, '\n');
}

static bool is_setting(struct slice name)
{
	return slice_starts(name, "inductor_config") || slice_starts(name, "custom_backend_codegen_configs");
}

void key_add(struct key_lines *k, struct slice line)
{
	struct key_part p;
	if (k->n >= KEY_COMPONENTS || !split_line(line, &p))
		return;
	k->n++;
	struct buf *b = &k->text[is_setting(p.name) ? KEY_SETTINGS : KEY_GRAPH];
	size_t most = slice_is(p.name, "gm") ? KEY_GRAPH_TEXT : KEY_VALUE;
	buf_add_slice(b, p.hash);
	buf_addc(b, ' ');
	buf_add_slice(b, p.name);
	buf_adds(b, ": ");
	size_t at = b->len;
	buf_add(b, p.value.p, p.value.n < most ? p.value.n : most);
	for (char *c = b->p + at; c < b->p + b->len; c++)
		if (*c == '\n')
			*c = '\r';
	buf_addc(b, '\n');
}

void key_release(struct key_lines *k)
{
	for (unsigned i = 0; i < KEY_TEXTS; i++)
		buf_release(&k->text[i]);
	k->n = 0;
}

/* ---- kept texts ---- */

/* Cut the next component off; false: that was all. */
static bool next_part(struct slice *text, struct key_part *part)
{
	struct slice line;
	while (slice_line(text, &line)) {
		const char *blank = slice_chr(line, ' ');
		if (!blank)
			continue;
		part->hash = slice_of(line.p, (size_t)(blank - line.p));
		struct slice rest = slice_of(blank + 1, line.n - part->hash.n - 1);
		const char *colon = slice_find(rest, ": ");
		if (!colon)
			continue;
		part->name = slice_of(rest.p, (size_t)(colon - rest.p));
		part->value = slice_of(colon + 2, rest.n - part->name.n - 2);
		return true;
	}
	return false;
}

struct key_part key_part_named(struct slice text, const char *name)
{
	struct key_part p;
	while (next_part(&text, &p))
		if (slice_is(p.name, name))
			return p;
	return (struct key_part){{0}, {0}, {0}};
}

/* ---- two of them ---- */

/* The most telling first. Another release also has other settings, and other inputs give another graph. */
static uint32_t order_of(struct slice name)
{
	static const char *const first[] = {
	    "torch_version",
	    "system_info",
	    "cache_key_tag",
	    "cpp_runtime_thread_count",
	    "default_dtype",
	    "deterministic_algorithms_settings",
	    "cuda_matmul_settings",
	    "provenance_tracking_level",
	    "precompile_enabled",
	    "inductor_config[",
	    "inductor_config",
	    "custom_backend_codegen_configs",
	    "user_defined_triton_source",
	    "default_cuda_device_index",
	    "cudagraph_",
	};
	static const char *const last[] = {"fx_kwargs", "var_to_hint_override", "example_inputs", "inputs_to_check", "gm"};
	for (uint32_t i = 0; i < ARRAY_LEN(first); i++)
		if (slice_starts(name, first[i]))
			return i;
	for (uint32_t i = 0; i < ARRAY_LEN(last); i++)
		if (slice_starts(name, last[i]))
			return 200 + i;
	return 100;
}

static bool value_line(struct slice *rest, struct slice *line)
{
	if (!rest->n)
		return false;
	const char *cr = slice_chr(*rest, '\r');
	*line = slice_of(rest->p, cr ? (size_t)(cr - rest->p) : rest->n);
	size_t skip = line->n + (cr ? 1 : 0);
	*rest = slice_of(rest->p + skip, rest->n - skip);
	return true;
}

/* Two values for display. A version is a binary hash without a text form. */
static void show(struct key_change *c, const struct key_part *a, const struct key_part *b, struct arena *arena)
{
	struct slice x = a ? a->value : slice_of("", 0), y = b ? b->value : slice_of("", 0), l = {0}, m = {0};
	const struct slice rest_x = x, rest_y = y;
	struct buf t[2] = {{0}};
	if (slice_is(c->name, "torch_version")) {
		if (a)
			buf_addf(&t[0], "torch's sources %.*s", SLN(a->hash, 8));
		if (b)
			buf_addf(&t[1], "torch's sources %.*s", SLN(b->hash, 8));
	} else {
		bool more = true;
		while (more && slice_eq(l, m)) {
			bool p = value_line(&x, &l), q = value_line(&y, &m);
			if (!p)
				l = slice_of("", 0);
			if (!q)
				m = slice_of("", 0);
			more = p || q;
		}
		if (slice_eq(l, m)) { /* beyond the kept part, or the text has less detail than its hash */
			x = rest_x, y = rest_y;
			value_line(&x, &l);
			value_line(&y, &m);
			if (a)
				buf_addf(&t[0], "%.*s (%.*s)", SLN(l, 400), SLN(a->hash, 8));
			if (b)
				buf_addf(&t[1], "%.*s (%.*s)", SLN(m, 400), SLN(b->hash, 8));
		} else {
			buf_addf(&t[0], "%.*s", SLN(slice_trim(l), 500));
			buf_addf(&t[1], "%.*s", SLN(slice_trim(m), 500));
		}
		if (a && !t[0].len)
			buf_adds(&t[0], "(empty)");
		if (b && !t[1].len)
			buf_adds(&t[1], "(empty)");
	}
	c->before = arena_take(arena, &t[0]);
	c->after = arena_take(arena, &t[1]);
}

static void add_change(struct key_change *out, uint32_t *n, uint32_t most, struct slice name, const struct key_part *a,
		       const struct key_part *b, struct arena *arena)
{
	struct key_change c = {.name = arena_slice(arena, name), .order = order_of(name)};
	uint32_t at = *n < most ? *n : most;
	(*n)++;
	while (at && out[at - 1].order > c.order)
		at--;
	if (at >= most)
		return;
	show(&c, a, b, arena);
	uint32_t have = *n - 1 < most ? *n - 1 : most, move = have < most ? have - at : most - 1 - at;
	memmove(out + at + 1, out + at, move * sizeof(*out));
	out[at] = c;
}

static void compare_text(struct slice a, struct slice b, struct key_change *out, uint32_t *n, uint32_t most, struct arena *arena)
{
	OWNED(intern_release) struct intern names = {0};
	struct key_part p, *part = NULL;
	bool *seen = NULL;
	uint32_t n_part = 0, cap = 0;
	struct slice rest = a;
	while (next_part(&rest, &p)) {
		uint32_t k = intern_add(&names, p.name);
		if (k < n_part)
			continue;
		GROW(part, n_part, cap, 1);
		part[n_part++] = p;
	}
	seen = xcalloc(n_part + 1u, sizeof(*seen));
	rest = b;
	while (next_part(&rest, &p)) {
		uint32_t k = intern_find(&names, p.name);
		if (k == NONE) {
			add_change(out, n, most, p.name, NULL, &p, arena);
			continue;
		}
		if (!seen[k] && !slice_eq(part[k].hash, p.hash))
			add_change(out, n, most, p.name, &part[k], &p, arena);
		seen[k] = true;
	}
	for (uint32_t k = 0; k < n_part; k++)
		if (!seen[k])
			add_change(out, n, most, part[k].name, &part[k], NULL, arena);
	free(part);
	free(seen);
}

uint32_t key_compare(const struct slice *a, const struct slice *b, struct key_change *out, uint32_t most, struct arena *arena)
{
	uint32_t n = 0;
	for (unsigned i = 0; i < KEY_TEXTS; i++)
		if (!slice_eq(a[i], b[i]))
			compare_text(a[i], b[i], out, &n, most, arena);
	return n;
}

/* "relu = torch.ops.aten.relu.default(mm)" */
void key_graph_ops(struct slice graph_text, struct buf *b)
{
	struct slice gm = key_part_named(graph_text, "gm").value;
	OWNED(intern_release) struct intern seen = {0};
	const char *p;
	while (seen.n < 12 && (p = slice_find(gm, "torch.ops."))) {
		struct slice rest = slice_of(p + 10, gm.n - (size_t)(p + 10 - gm.p)), path = rest;
		size_t n = 0;
		while (n < rest.n && (is_name_char(rest.p[n]) || rest.p[n] == '.'))
			n++;
		path.n = n;
		gm = slice_of(rest.p + n, rest.n - n);
		const char *dot = slice_chr(path, '.');
		if (!dot)
			continue;
		struct slice op = slice_of(dot + 1, path.n - (size_t)(dot + 1 - path.p));
		const char *overload = slice_chr(op, '.');
		if (overload)
			op.n = (size_t)(overload - op.p);
		uint32_t before = seen.n;
		if (op.n && intern_add(&seen, op) == before)
			buf_addf(b, "%s%.*s", before ? ", " : "", SLN(op, 60));
	}
}
