/* oracle_torch_record.c - reads what the torch process recorded about the original: metadata of its nodes, and the values of inputs. */
#include "base/base64.h"
#include "reduce/oracle_torch_part.h"

static int parse(struct json_tape *t, struct slice text, uint32_t *root, struct err *err)
{
	json_tape_text(t, text.p, text.n);
	if (!text.n || json_parse(t, 0, text.n, root) < 0)
		return err_set(err, EXIT_ENVIRON, "the torch process sent invalid JSON (%s)", t->error ? t->error : "nothing");
	return 0;
}

#define MAX_DIMS 64
/* An array of integers; -1 if it is not one. */
static int sizes_of(const struct json_tape *t, uint32_t k, const char *key, struct symsize *out)
{
	int64_t v[MAX_DIMS];
	int n = json_ints(t, k, key, v, MAX_DIMS);
	for (int i = 0; i < n; i++)
		out[i] = symsize_int(v[i]);
	return n;
}

static uint32_t tensor_meta(const struct json_tape *t, uint32_t k, struct graph *g)
{
	struct symsize size[MAX_DIMS], stride[MAX_DIMS];
	int n = sizes_of(t, k, "size", size), m = sizes_of(t, k, "stride", stride);
	enum dtype d = dtype_by_name(json_word(t, k, "dtype"));
	if (n < 0 || d == DTYPE_NONE)
		return NONE;
	uint32_t meta = graph_add_tensor(g, d, (size_t)n, size, m == n ? stride : NULL, json_word(t, k, "device"));
	g->meta[meta].requires_grad = json_get(t, k, "requires_grad") != NONE;
	return meta;
}

static uint32_t meta_of(const struct json_tape *t, uint32_t k, struct graph *g);

/* Parts of a tuple cannot be tuples in a graph (GMETA_TUPLE): deeper ones are unknown. */
static uint32_t tuple_meta(const struct json_tape *t, uint32_t k, struct graph *g)
{
	uint32_t parts = json_get(t, k, "parts");
	FREED struct gmeta *part = NULL;
	size_t n = 0, cap = 0;
	json_each(t, parts, i) {
		uint32_t m = slice_is(json_word(t, i, "kind"), "tuple") ? NONE : meta_of(t, i, g);
		PUSH_TO(part, n, cap) = m == NONE ? (struct gmeta){.kind = GMETA_NONE} : g->meta[m];
	}
	return graph_add_tuple_meta(g, part, n);
}

static uint32_t meta_of(const struct json_tape *t, uint32_t k, struct graph *g)
{
	struct slice kind = json_word(t, k, "kind");
	int64_t v;
	if (slice_is(kind, "tensor"))
		return tensor_meta(t, k, g);
	if (slice_is(kind, "tuple"))
		return tuple_meta(t, k, g);
	if (slice_is(kind, "int") && json_i64(t, json_get(t, k, "value"), &v))
		return graph_add_sym(g, symsize_int(v));
	return NONE;
}

static uint32_t nodes_of(const struct json_tape *t, uint32_t root, struct err *err)
{
	uint32_t nodes = json_get_as(t, root, "nodes", JSON_OBJECT);
	if (nodes == NONE)
		err_set(err, EXIT_ENVIRON, "nothing was recorded for the original: it does not run in eager");
	return nodes;
}

int oracle_torch_annotate(const struct oracle *o, struct graph *g, struct err *err)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root, nodes = NONE;
	if (parse(&t, oracle_torch_record(o), &root, err) == 0)
		nodes = nodes_of(&t, root, err);
	json_each_pair(&t, nodes, k) {
		uint32_t node = graph_find(g, 0, json_slice(&t, k));
		if (node != NONE && g->node[node].meta == NONE) {
			uint32_t meta = meta_of(&t, k + 1, g);
			g->node[node].meta = meta;
		}
	}
	return nodes == NONE ? -1 : 0;
}

void oracle_torch_mark_idle(const struct oracle *o, struct repro *r)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root, idle = NONE;
	struct err err;
	if (parse(&t, oracle_torch_record(o), &root, &err) == 0)
		idle = json_get(&t, root, "idle");
	json_each(&t, idle, k)
		for (size_t i = 0; i < r->n_lines && json_is(&t, k, JSON_STRING); i++)
			r->line[i].idle |= r->line[i].kind == REPRO_CONFIG && slice_eq(r->line[i].name, json_slice(&t, k));
}

size_t oracle_torch_nan_makers(const struct oracle *o, const struct graph *g, uint32_t *node, size_t n)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root, nodes = NONE;
	size_t found = 0;
	struct err err;
	if (parse(&t, oracle_torch_record(o), &root, &err) == 0)
		nodes = nodes_of(&t, root, &err);
	json_each_pair(&t, nodes, k) {
		uint32_t at = graph_find(g, 0, json_slice(&t, k));
		if (!json_flag(&t, k + 1, "makes") || at == NONE || g->node[at].op == GRAPH_PLACEHOLDER)
			continue;
		if (found < n)
			node[found] = at;
		found++;
	}
	return found;
}

/* ---- values ---- */

/* done: the n values before it. */
static int recorded_value(const struct json_tape *t, uint32_t k, struct arena *arena, const struct oracle_value *done, size_t n,
			  struct oracle_value *v, struct err *err)
{
	struct slice kind = json_word(t, k, "kind"), data = json_word(t, k, "data");
	LOCAL_BUF b = {0};
	*v = (struct oracle_value){.kind = ORACLE_OTHER};
	if (slice_is(kind, "int")) {
		v->kind = ORACLE_INT;
		if (!json_i64(t, json_get(t, k, "value"), &v->i))
			return err_set(err, EXIT_ENVIRON, "an input is not a 64-bit integer");
	} else if (slice_is(kind, "tensor")) {
		v->kind = ORACLE_TENSOR;
		v->requires_grad = json_get(t, k, "requires_grad") != NONE;
		const uint64_t same = json_count(t, k, "same", UINT64_MAX);
		const uint32_t offset = json_get(t, k, "offset");
		if (offset != NONE && !json_i64(t, offset, &v->offset))
			return err_set(err, EXIT_ENVIRON, "an input's offset is not a 64-bit integer");
		if (same < n) {
			v->bytes = done[same].bytes;
			return 0;
		}
		if (!base64_decode(&b, data.p, data.n))
			return err_set(err, EXIT_ENVIRON, "the torch process sent invalid base64");
		v->bytes = arena_slice(arena, buf_slice(&b));
	}
	return 0;
}

int oracle_torch_values(struct oracle *o, const struct test *t, struct arena *arena, struct oracle_value *v, struct err *err)
{
	OWNED(json_tape_release) struct json_tape tape = {0};
	struct slice text;
	uint32_t root;
	int status = torch_ask_inputs(o, t, &text, err);
	if (status == 0)
		status = parse(&tape, text, &root, err);
	if (status < 0)
		return -1;
	uint32_t values = json_get(&tape, root, "values");
	size_t n = 0;
	if (values == NONE) {
		struct outcome out;
		OWNED(arena_release) struct arena a = {0};
		talk_outcome(&tape, root, &a, &out);
		status = err_set(err, EXIT_ENVIRON, "cannot get the values of the inputs: %.*s", SL(out.detail));
	} else {
		for (uint32_t k = json_first(&tape, values); k < json_end(&tape, values) && n < t->n_feeds && status == 0;
		     k = json_next(&tape, k), n++)
			status = recorded_value(&tape, k, arena, v, n, &v[n], err);
		if (status == 0 && n != t->n_feeds)
			status = err_set(err, EXIT_ENVIRON, "the torch process sent %zu values for %zu inputs", n, t->n_feeds);
	}
	return status;
}

size_t oracle_torch_generated(const struct oracle *o)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	const struct slice record = oracle_torch_record(o);
	uint32_t root;
	size_t n = 0;
	json_tape_text(&t, record.p, record.n);
	if (record.n && json_parse(&t, 0, record.n, &root) == 0)
		json_each(&t, json_get(&t, root, "random"), k)
			n += json_is(&t, k, JSON_STRING);
	return n;
}
