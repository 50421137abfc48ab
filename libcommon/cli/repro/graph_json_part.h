/* graph_json_part.h - what the reader and the writer of graph.json share: the words of the format. */
#ifndef PT2_GRAPH_JSON_PART_H
#define PT2_GRAPH_JSON_PART_H
#include "base/json.h"
#include "repro/graph_json.h"

#define GRAPH_JSON_VERSION 1

/* By enum repro_line_kind and enum repro_input_kind. */
extern const char *const graph_json_line_kind[8];
extern const char *const graph_json_input_kind[6];

/* The members of "run", all texts. */
#define GRAPH_JSON_RUN 14
struct graph_json_text {
	const char *key;
	struct slice *at;
};
void graph_json_run(struct repro *r, struct graph_json_text text[GRAPH_JSON_RUN]);

/* ---- reading ---- */

struct gjson {
	struct repro *r;
	struct graph *g;
	struct json_tape t;
	struct buf b;
	const char *name;
	struct err *err;
	/* Where in the document: "node 'add'", "input 2". */
	const char *in;
	struct slice in_name;
	/* Names of the nodes of the module that is being read: text -> node + 1. */
	uint32_t *node_of, cap_node_of;
	uint32_t module;
	/* Children of what is open. */
	struct gvalue *stack;
	size_t n_stack, cap_stack;
};

/* Says where in the document; -1. */
int gj_bad(struct gjson *rd, uint32_t tok, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The value of each key, NONE when it is not there; another key than these is a mistake. */
int gj_members(struct gjson *rd, uint32_t obj, const char *what, const char *const *key, uint32_t *value, size_t n);
/* A string's characters, valid until the next call. NONE: "". */
int gj_text(struct gjson *rd, uint32_t k, const char *what, struct slice *s);
/* The same, as long as the repro lives. */
int gj_keep(struct gjson *rd, uint32_t k, const char *what, struct slice *s);
int gj_bool(struct gjson *rd, uint32_t k, const char *what, bool *v);
int gj_u32(struct gjson *rd, uint32_t k, const char *what, uint32_t none, uint32_t *v);
int gj_word(struct gjson *rd, uint32_t k, const char *what, const char *const *word, size_t n, unsigned *v);
int gj_array(struct gjson *rd, uint32_t k, const char *what);
/* 8, "s77", "2*s0 + 1". */
int gj_size(struct gjson *rd, uint32_t k, const char *what, struct symsize *out);

/* The graph: metadata (null: none), a module of its own and what is in it, the list of "modules". */
int gj_meta(struct gjson *rd, uint32_t k, uint32_t *meta);
int gj_module(struct gjson *rd, uint32_t parent, uint32_t name, uint32_t class_name);
int gj_body(struct gjson *rd, uint32_t attributes, uint32_t nodes);
int gj_modules(struct gjson *rd, uint32_t array);

#endif
