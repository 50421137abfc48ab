/* fxcode_part.h - shared by the files of fxcode: tokens, the classes of a text, the parser of one forward().
 *
 *     fxcode.c         fxcode_read
 *     fxcode_scan.c    finds the classes, the start of each forward(), and the attributes in __init__ (struct fxscan)
 *     fxcode_lex.c     tokens                                                                         (struct fxlex)
 *     fxcode_params.c  the signature of one forward()                                                 (struct fxparse)
 *     fxcode_parse.c   its statements
 *     fxcode_expr.c    expressions, with explicit stacks instead of recursion
 *     fxcode_node.c    turns calls, operators and names into nodes or constants
 *     fxcode_meta.c    "f32[8]cpu"
 *     fxcode_value.c   operands as text
 *     fxcode_write.c   forward() as text
 *     fxcode_class.c   classes as text                                                                (struct fxwriter)
 */
#ifndef PT2_FXCODE_PART_H
#define PT2_FXCODE_PART_H
#include "graph/fxcode.h"

/* ---- tokens ---- */

enum fxtok { FXT_END, FXT_NEWLINE, FXT_NAME, FXT_INT, FXT_FLOAT, FXT_IMAG, FXT_STRING, FXT_OP, FXT_BAD };
/* An operator's bytes as one number: FXOP2('*', '*'). */
#define FXOP2(a, b) ((unsigned)(a) | (unsigned)(b) << 8)
#define FXOP3(a, b, c) (FXOP2(a, b) | (unsigned)(c) << 16)

struct fxlex {
	const char *p, *end, *start; /* p: after the current token; start: of the text */
	const char *name;            /* of the text, for errors */
	uint32_t line;               /* of p */
	uint32_t depth;              /* open brackets: newlines are white space */
	enum fxtok kind;             /* the current token */
	unsigned op;
	struct slice text;
	uint32_t tok_line;
};
void fxlex_next(struct fxlex *x);
/* The first byte of the next token (0 at the end, '\n' for the end of a line), without consuming it. */
char fxlex_peek(struct fxlex *x);
/* Goes to the first token of the next logical line; returns its indentation (a tab goes to a multiple of 8), or -1 at the end. Calls
 * `comment` for a comment alone on a line. */
int fxlex_line_start(struct fxlex *x, void (*comment)(void *user, struct slice text), void *user);
/* Returns the end of the logical line that begins at p; *open: the start of a bracket or string that is never closed, else unchanged. */
const char *fxlex_skip_line(const char *p, const char *end, const char **open);
enum { FXC_NAME = 1, FXC_DIGIT = 2, FXC_SPACE = 4 };
extern const uint8_t fx_class[256];
static inline bool fx_name_start(unsigned char c) { return fx_class[c] & FXC_NAME; }
static inline bool fx_name_part(unsigned char c) { return fx_class[c] & (FXC_NAME | FXC_DIGIT); }
bool fx_identifier(struct slice s); /* and not a keyword */
bool fx_keyword(struct slice s);
/* "NAME:LINE:COLUMN: what"; `at` is within the text. Returns -1. */
int fx_error(const struct fxlex *x, const char *at, struct err *err, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* ---- classes ---- */

struct fxclass {
	struct slice name;
	struct slice attr; /* its name in its parent */
	bool bound;        /* attr comes from an assignment in __init__ */
	bool top;          /* not nested in another class */
	uint32_t parent;   /* or NONE */
	uint32_t line, fwd_line;
	int fwd_indent;
	const char *fwd; /* at "def forward("; NULL: it has none */
	size_t n;        /* top: bytes of its text */
	uint32_t module; /* in the graph */
};
struct fxinit {
	uint32_t cls, line;
	struct slice text; /* one logical line of __init__ */
};
struct fxscan {
	struct fxclass *cls; /* [0] is the root; parents come before children */
	struct fxinit *init;
	size_t n_cls, cap_cls, n_init, cap_init;
	struct arena arena;     /* names written with escapes */
	struct intern children; /* (parent, attr) of the classes that are modules */
	const char *open;       /* an unclosed bracket or string */
	size_t budget;          /* a class may be instantiated several times: total bytes allowed */
};
/* False: no class with a forward(), and no standalone forward(), was found. */
bool fxscan_find(struct fxscan *s, struct slice text);
void fxscan_release(struct fxscan *s);
/* "self.x = x_class()" gives a class its name in its parent, whether it is nested in that class or, as in torch 2.15, beside it. cls[] is
 * then the root and its descendants. False: the text exceeds the budget. */
bool fxscan_bind(struct fxscan *s);
/* Reads __init__ of class c into attributes of module m. *next: 0 for the first class, then unchanged between calls; classes in order. */
void fxscan_attrs(struct fxscan *s, size_t *next, uint32_t c, struct graph *g, uint32_t m);
/* Copies text to b without colours and the prefixes of TORCH_LOGS lines; false if it has none. */
bool fxscan_plain(struct slice text, struct buf *b);

/* ---- one forward() ---- */

enum fxenv_state { FXENV_NONE, FXENV_VALUE, FXENV_FREED, FXENV_OUTSIDE };
/* The node or attribute that a name stands for, by the name's id in graph.text; stamp: module + 1, else it belongs to another module. */
struct fxenv {
	uint32_t stamp, line;
	uint32_t used_stamp, counter; /* used_stamp: a node has this name; counter: for generated names */
	uint8_t state;
	bool node;       /* v refers to a node */
	uint32_t weight; /* values in v, including itself */
	struct gvalue v;
	struct slice annotation; /* seen before the name gets its value */
};

/* The operand being read. */
enum fxitem_kind { FXI_VALUE, FXI_PATH, FXI_SELF, FXI_METHOD, FXI_TARGET };
struct fxitem {
	uint8_t kind;
	bool node;       /* a node occurs in v */
	struct gvalue v; /* FXI_VALUE; FXI_METHOD: the receiver */
	uint32_t path;   /* text: FXI_PATH, FXI_SELF ("" is self alone), FXI_METHOD */
	const char *at;
};

enum fxframe_kind { FXF_TOP, FXF_PAREN, FXF_LIST, FXF_BRACE, FXF_CALL, FXF_INDEX };
struct fxframe {
	uint8_t kind;
	bool comma, dict, node, star2;
	uint8_t colons;              /* FXF_INDEX: of the element being read */
	uint32_t kw;                 /* text: keyword whose value is being read, or NONE */
	uint32_t vals, kws, ops;     /* the stacks' heights when it was opened */
	struct fxitem callee, first; /* first: getattr's first argument, unresolved (path NONE: none) */
	const char *at;
};
struct fxoperator {
	unsigned op;
	bool unary;
	uint8_t prec;
	const char *at;
};

struct fxparse {
	struct graph *g;
	struct fxlex lex;
	struct err *err;
	uint32_t module;
	const struct fxscan *scan;
	uint32_t cls;
	struct fxenv *env;
	size_t n_env;
	/* stacks of expressions */
	struct gvalue *val;
	bool *val_node;
	struct gvalue *kw;
	struct fxframe *frame;
	struct fxoperator *ops;
	size_t n_val, cap_val, cap_val_node, n_kw, cap_kw, n_frame, cap_frame, n_ops, cap_ops;
	struct fxitem target;  /* FXI_TARGET: x[i] before "=": n_val - 2 and n_val - 1 */
	uint32_t first_node;   /* of the statement */
	const char *statement; /* its start */
	uint32_t stack;        /* text of the last "# File:" comment, or NONE */
	struct buf tmp;
	uint32_t *names; /* assignment targets */
	size_t n_names, cap_names;
	/* prologue: parameters that are not nodes yet */
	struct fxparam *param;
	size_t n_param, cap_param;
	size_t spent, budget; /* names bound to sequences may be used in other sequences: their sizes are counted */
	size_t n_leaves;      /* names assigned by pytree.tree_leaves */
	bool prologue, boxed, done;
	bool element, target_ok; /* fx_expr: element: a value was read since the last comma; target_ok: its third argument */
	/* metadata read so far, by its text */
	struct intern metas;
	uint32_t *meta_of;
	size_t cap_meta_of;
	struct intern dims;
	struct symsize *dim_of;
	size_t cap_dim_of;
};
struct fxparam {
	uint32_t name, target;
	struct slice annotation, fallback;
	const char *at;
	uint32_t line;
};

struct fxenv *fx_env(struct fxparse *p, uint32_t id);
int fx_parse_forward(struct fxparse *p, uint32_t cls);
int fx_error_at(struct fxparse *p, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* "expected WANTED, found 'x'" at the current token. */
int fx_unexpected(struct fxparse *p, const char *wanted);
static inline bool fx_op_is(const struct fxparse *p, unsigned op) { return p->lex.kind == FXT_OP && p->lex.op == op; }

/* fxcode_params.c: "def forward(self, x, ...) -> T:", with the lexer before it; *returns: text of T, or NONE. */
int fx_signature(struct fxparse *p, uint32_t *returns);
void fx_add_param(struct fxparse *p, struct slice name, struct slice target, const char *at);
/* At the end of the prologue, turns the parameters into nodes. */
int fx_placeholders(struct fxparse *p);
/* The text from the current token up to one of `ends` outside brackets. */
struct slice fx_raw_until(struct fxparse *p, const char *ends);

/* Reads one expression from the current token on; stops at the first token that cannot belong to it. tuple: commas make a tuple. On success
 * the current token is the first after it. target_ok: "x[i]" before "=" or "+=" becomes p->target. */
int fx_expr(struct fxparse *p, bool tuple, bool target_ok, struct gvalue *out);

/* fxcode_node.c: -1 with err set, or 0 and *out. */
int fx_resolve(struct fxparse *p, struct fxitem *i);
int fx_name(struct fxparse *p, struct slice dotted, bool called, struct fxitem *out);
int fx_attribute(struct fxparse *p, struct fxitem *i, struct slice name, bool called);
int fx_call(struct fxparse *p, const struct fxframe *f, bool alone, struct fxitem *out);
int fx_index(struct fxparse *p, struct fxitem *base, struct gvalue index, bool index_node);
int fx_binary(struct fxparse *p, const struct fxoperator *op, bool alone);
int fx_unary(struct fxparse *p, const struct fxoperator *op);
uint32_t fx_new_node(struct fxparse *p, enum graph_op op, uint32_t target, const struct gvalue *args, size_t n);
/* Adds a call of one of Python's operators: "add". */
uint32_t fx_function(struct fxparse *p, const char *name, const struct gvalue *args, size_t n);
/* Names the nodes from first_node on; result (or NONE) gets `name`. */
void fx_name_nodes(struct fxparse *p, uint32_t result, uint32_t name);
/* A name not yet used by any node of the module: "x", "x_1"; marks it as used. */
uint32_t fx_unique(struct fxparse *p, uint32_t name);
/* Sets the annotation of a node: meta or type. */
void fx_annotate(struct fxparse *p, uint32_t node, struct slice annotation);

/* Python's operators, with their names in _operator. */
struct fxop {
	const char *name, *text;
	uint8_t n;    /* length of name */
	uint8_t kind; /* enum fxop_kind */
};
enum fxop_kind { FXOP_UNARY, FXOP_BINARY, FXOP_GETITEM, FXOP_INPLACE, FXOP_SETITEM };
const struct fxop *fxop_by_name(struct slice name); /* "add"; NULL */
/* "add"; NULL. op: FXOP2 and the like. */
const char *fxop_by_text(unsigned op, enum fxop_kind kind);

/* Would this name hide one that the written text uses itself (torch, device, inf ...)? */
bool fx_hides(struct slice s);
/* Is the name unavailable for nodes: one of those, or one of Python's keywords and functions? */
bool fx_reserved(struct slice s);

/* fxcode_value.c. names: by node, or NULL for the nodes' own. */
void fx_add_value(const struct graph *g, const struct slice *names, struct gvalue v, struct buf *b);
void fx_add_float(struct buf *b, double v);
void fx_add_complex(struct buf *b, double re, double im);
bool fx_parse_complex(struct slice text, double *re, double *im);
bool fx_parse_float(struct slice text, double *out);

/* ---- writing ---- */

struct fxwriter {
	const struct graph *g;
	struct buf *b;
	enum fxcode_form form;
	struct slice *names;    /* by node; NULL: every node's name can be written */
	struct intern made;     /* the names in use, for renamed nodes */
	uint32_t *freed;        /* by node: the node after which it was freed, + 1 */
	uint32_t *child, *next; /* modules: first child, next sibling; NONE */
	uint32_t said;          /* text of the last "# File:" comment */
	bool any_said;
	struct {
		uint32_t text; /* + 1 */
		bool plain;
	} seen[64]; /* cache of recent texts: is each a dotted name as is? */
};
/* fxcode_write.c: a forward() with its statements. */
void fx_write_forward(struct fxwriter *w, const struct gmodule *m, unsigned columns);
bool fx_good_name(struct slice s);
void fx_indent(struct fxwriter *w, unsigned columns);

#endif
