/* graph_json_part.h - members of graph.json, described once for both directions: writing and reading (the idiom of base/jsonrow.h).
 *
 *     static void fixup_row(struct gjson *d, void *of)
 *     {
 *             struct repro_fixup *f = of;
 *             gj_number(d, "repeats", &f->repeats, NONE);
 *             gj_number(d, "output_size", &f->output_size, NONE);
 *     }
 *     gj_write_row(d, fixup_row, &f);                                // {"repeats": 0, "output_size": 1}
 *     if (gj_read_row(d, token, "a fixup", fixup_row, &f) < 0) ...   // an unknown member is an error, reported before all others
 *
 * It is not json_row, because errors are reported by line and node, and operands nest deeper than json_out allows. When a row is
 * read, it is run twice: the first time only keys are collected, so that nothing except queries for members may happen in it
 * unless gj_reads(). A missing member gives its "none": "", false, 0, NONE.
 */
#ifndef PT2_GRAPH_JSON_PART_H
#define PT2_GRAPH_JSON_PART_H
#include "base/json.h"
#include "graph/repro/graph_json.h"

#define GRAPH_JSON_VERSION 1

struct gjson {
	struct repro *r;
	struct graph *g;
	/* Writing: the text (NULL when reading); whether a member or item came before. */
	struct buf *out;
	bool more;
	/* Reading: it stops at the first error. */
	struct json_tape t;
	struct buf b;
	const char *name;
	struct err *err;
	bool bad;
	/* Where in the document: "node 'add'", "input 2". */
	const char *in;
	struct slice in_name;
	/* The object whose members are queried, the token of the last one (NONE: missing), and its name in messages. */
	uint32_t at, k;
	char what[40];
	bool bare; /* that name has no quotes */
	/* Keys of the row, while they are collected. */
	const char *key[20];
	unsigned n_key;
	bool naming;
	/* Names of the nodes of the module being read: text -> node + 1. */
	uint32_t *node_of, cap_node_of;
	uint32_t module;
	/* Children of what is open. */
	struct gvalue *stack;
	size_t n_stack, cap_stack;
};

typedef void gj_row(struct gjson *d, void *of);
void gj_write_row(struct gjson *d, gj_row *row, void *of);
int gj_read_row(struct gjson *d, uint32_t obj, const char *what, gj_row *row, void *of);
/* ,"key": [n items of `size` bytes, one per line]. */
void gj_write_list(struct gjson *d, const char *indent, const char *key, gj_row *row, void *item, size_t size, size_t n);

/* Reports an error with its place in the document; -1. */
int gj_bad(struct gjson *d, uint32_t tok, const char *fmt, ...) PRINTF_LIKE(3, 4);
size_t gj_line(const struct json_tape *t, size_t off);
/* Members are being read, without an error so far. */
static inline bool gj_reads(const struct gjson *d) { return !d->out && !d->naming && !d->bad; }
/* Starts a member; false if there is nothing to write or to read. there: it is not omitted. */
bool gj_member(struct gjson *d, const char *key, bool there);

/* Texts, copied into the repro: gj_some() omits empty ones. A text of the graph is given by its id. */
void gj_str(struct gjson *d, const char *key, struct slice *s);
void gj_some(struct gjson *d, const char *key, struct slice *s);
void gj_name(struct gjson *d, const char *key, uint32_t *id, bool there);
/* Omitted if false, or if equal to `none`. */
void gj_flag(struct gjson *d, const char *key, bool *v);
void gj_number(struct gjson *d, const char *key, uint32_t *v, uint32_t none);
/* 8, "s77", "2*s0 + 1". */
void gj_size(struct gjson *d, const char *key, struct symsize *v, bool there);
/* A word of a list: returns its index, v if missing. */
unsigned gj_word(struct gjson *d, const char *key, unsigned v, const char *const *word, size_t n);
/* "meta" of a node or an input. */
void gj_meta(struct gjson *d, uint32_t *meta);

/* Values outside of rows. A string's characters are valid until the next call; of NONE: "". */
void gj_put_str(struct gjson *d, struct slice s);
void gj_put_size(struct gjson *d, struct symsize s);
int gj_text(struct gjson *d, uint32_t k, const char *what, struct slice *s);
int gj_keep(struct gjson *d, uint32_t k, const char *what, struct slice *s);
int gj_read_u32(struct gjson *d, uint32_t k, const char *what, uint32_t none, uint32_t *v);
int gj_read_size(struct gjson *d, uint32_t k, const char *what, struct symsize *out);
int gj_read_word(struct gjson *d, uint32_t k, const char *what, const char *const *word, size_t n, unsigned *v);
int gj_array(struct gjson *d, uint32_t k, const char *what);
int gj_list(struct gjson *d, uint32_t array, const char *what, int (*read)(struct gjson *d, uint32_t k));
/* Any other member is an error. */
int gj_members(struct gjson *d, uint32_t obj, const char *what, const char *const *key, size_t n);

/* The graph: members of the document for the root, the list of "modules". */
void gj_write_module(struct gjson *d, uint32_t module, const char *indent);
void gj_write_modules(struct gjson *d);
int gj_read_module(struct gjson *d, uint32_t obj, uint32_t parent);
int gj_read_modules(struct gjson *d, uint32_t array);

#endif
