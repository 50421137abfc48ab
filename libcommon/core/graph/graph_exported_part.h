/* graph_exported_part.h - shared by the files of graph_exported_read. For graph_exported*.c only. */
#ifndef PT2_GRAPH_EXPORTED_PART_H
#define PT2_GRAPH_EXPORTED_PART_H
#include "base/json.h"
#include "graph/graph_forms.h"

/* A subgraph that waits until its parent module is complete. */
struct waiting {
	uint32_t parent, name; /* module, text */
	uint32_t graph;        /* token */
};

/* What a name refers to in the module being read. */
struct known {
	uint32_t value_of, value; /* module + 1, node: the value of that name */
	uint32_t node_of, node;   /* the same for node names */
};

/* A node with several results: the nodes after it up to `end` are getitems on it (and on each other). */
struct parts {
	uint32_t node, end, n;
};

struct exported {
	struct graph *g;
	struct json_tape t;
	struct buf b;
	const char *name;
	struct err *err;
	uint32_t module;
	uint32_t node; /* for messages: text of its name, or NONE outside nodes */
	struct known *known;
	uint32_t cap_known;
	struct waiting *waiting;
	struct parts *parts; /* in this module */
	size_t n_waiting, cap_waiting, n_parts, cap_parts;
	struct gvalue *stack;
	size_t n_stack, cap_stack;
};

/* Sets err with the byte and the node; returns -1. */
int gx_bad(struct exported *x, uint32_t tok, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The key of the single member that gives an object's kind, or NONE. */
uint32_t gx_union(const struct exported *x, uint32_t obj);
void gx_device(struct exported *x, uint32_t obj, struct buf *b); /* "cuda:0" */
void gx_push(struct exported *x, struct gvalue v);
/* The node whose value has this name in the file, or NONE. */
uint32_t gx_value_named(const struct exported *x, struct slice name);
void gx_name_value(struct exported *x, uint32_t text, uint32_t node);
/* Adds to the module being read; a name in use gets a number. */
uint32_t gx_add_node(struct exported *x, enum graph_op op, struct slice name, struct slice target);
/* An Argument of the schema as an operand. */
int gx_argument(struct exported *x, uint32_t arg, unsigned depth, struct gvalue *v);

#endif
