/* graph_json_part.h - members of graph.json, told once for both ways: written, and read back (the idiom of base/jsonrow.h).
 *
 *     static void fixup_row(struct gjson *d, void *of)
 *     {
 *             struct repro_fixup *f = of;
 *             gj_number(d, "repeats", &f->repeats, NONE);
 *             gj_number(d, "output_size", &f->output_size, NONE);
 *     }
 *     gj_write_row(d, fixup_row, &f);                                // {"repeats": 0, "output_size": 1}
 *     if (gj_read_row(d, token, "a fixup", fixup_row, &f) < 0) ...   // another member is a mistake, and is said before all others
 *
 * It is not json_row, since mistakes are told to people by line and node, and since operands nest deeper than json_out goes. When a row is
 * read, it is walked over twice: first only its keys are taken, so that nothing but the members that it asks for may happen in it
 * unless gj_reads(). A member that is not there leaves "none" behind: "", false, 0, NONE.
 */
#ifndef PT2_GRAPH_JSON_PART_H
#define PT2_GRAPH_JSON_PART_H
#include "base/json.h"
#include "graph/repro/graph_json.h"

#define GRAPH_JSON_VERSION 1

struct gjson {
	struct repro *r;
	struct graph *g;
	/* Written: the text (NULL: the document is read); a member or item came before. */
	struct buf *out;
	bool more;
	/* Read: the first mistake ends it. */
	struct json_tape t;
	struct buf b;
	const char *name;
	struct err *err;
	bool bad;
	/* Where in the document: "node 'add'", "input 2". */
	const char *in;
	struct slice in_name;
	/* The object whose members are asked for, the token of the last one (NONE: there is none), and its name in messages. */
	uint32_t at, k;
	char what[40];
	bool bare; /* that name has no quotes */
	/* Keys that the row has, while they are taken. */
	const char *key[20];
	unsigned n_key;
	bool naming;
	/* Names of the nodes of the module that is being read: text -> node + 1. */
	uint32_t *node_of, cap_node_of;
	uint32_t module;
	/* Children of what is open. */
	struct gvalue *stack;
	size_t n_stack, cap_stack;
};

typedef void gj_row(struct gjson *d, void *of);
void gj_write_row(struct gjson *d, gj_row *row, void *of);
int gj_read_row(struct gjson *d, uint32_t obj, const char *what, gj_row *row, void *of);
/* ,"key": [one to a line, of n items of `size` bytes]. */
void gj_write_list(struct gjson *d, const char *indent, const char *key, gj_row *row, void *item, size_t size, size_t n);

/* Says where in the document; -1. */
int gj_bad(struct gjson *d, uint32_t tok, const char *fmt, ...) PRINTF_LIKE(3, 4);
size_t gj_line(const struct json_tape *t, size_t off);
/* Members are read now, and nothing was wrong so far. */
static inline bool gj_reads(const struct gjson *d) { return !d->out && !d->naming && !d->bad; }
/* Begins a member; false where there is nothing to write or to read. there: it is not left out. */
bool gj_member(struct gjson *d, const char *key, bool there);

/* Texts, kept in the repro: gj_some() leaves out what is empty. A text of the graph by its id. */
void gj_str(struct gjson *d, const char *key, struct slice *s);
void gj_some(struct gjson *d, const char *key, struct slice *s);
void gj_name(struct gjson *d, const char *key, uint32_t *id, bool there);
/* Left out when false, and when it is `none`. */
void gj_flag(struct gjson *d, const char *key, bool *v);
void gj_number(struct gjson *d, const char *key, uint32_t *v, uint32_t none);
/* 8, "s77", "2*s0 + 1". */
void gj_size(struct gjson *d, const char *key, struct symsize *v, bool there);
/* By its place in a list of words: returns it, v where there is none. */
unsigned gj_word(struct gjson *d, const char *key, unsigned v, const char *const *word, size_t n);
/* "meta" of a node or an input. */
void gj_meta(struct gjson *d, uint32_t *meta);

/* Values that are no members of a row. A string's characters are valid until the next call; of NONE: "". */
void gj_put_str(struct gjson *d, struct slice s);
void gj_put_size(struct gjson *d, struct symsize s);
int gj_text(struct gjson *d, uint32_t k, const char *what, struct slice *s);
int gj_keep(struct gjson *d, uint32_t k, const char *what, struct slice *s);
int gj_read_u32(struct gjson *d, uint32_t k, const char *what, uint32_t none, uint32_t *v);
int gj_read_size(struct gjson *d, uint32_t k, const char *what, struct symsize *out);
int gj_read_word(struct gjson *d, uint32_t k, const char *what, const char *const *word, size_t n, unsigned *v);
int gj_array(struct gjson *d, uint32_t k, const char *what);
int gj_list(struct gjson *d, uint32_t array, const char *what, int (*read)(struct gjson *d, uint32_t k));
/* Other members than these are a mistake. */
int gj_members(struct gjson *d, uint32_t obj, const char *what, const char *const *key, size_t n);

/* The graph: members of the document for the root, the list of "modules". */
void gj_write_module(struct gjson *d, uint32_t module, const char *indent);
void gj_write_modules(struct gjson *d);
int gj_read_module(struct gjson *d, uint32_t obj, uint32_t parent);
int gj_read_modules(struct gjson *d, uint32_t array);

#endif
