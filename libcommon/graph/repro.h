/* repro.h - programs that run one graph: minifier_launcher.py, repro.py, checkpoints/N.py, fx_graph_runnable.py, graph.json.
 *
 *     struct repro r = {0};
 *     if (repro_open(&r, "minifier_launcher.py", &err) < 0) ...   // any of the forms below, by content
 *     repro_write(&r, &b);                                        // a repro.py that torch runs
 *     repro_release(&r);
 *
 * Forms (torch 2.13: torch/_dynamo/repro/{after_aot,after_dynamo,aoti}.py; older ones as in PyTorch 1.13 to 2.3):
 *     after aot      class Repro; load_args(reader) with storages and tensors; run_repro(mod, load_args, accuracy=, command=, ...)
 *     after dynamo   the same with backend=, autocast=; modules' constructors in __init__
 *     aot inductor   exported_program = torch.export.load('...'); run_repro(exported_program, config_patches=, ...)
 *     old after aot  args = [((200, 200), (200, 1), torch.float32, 'cpu')]; args = [rand_strided(...) ...]; make_fx; compile_fx_inner
 *     old after dynamo  the same with opt_mod = torch._dynamo.optimize(...)(mod); run_fwd_maybe_bwd
 *     graph.json     ours (json.h of this folder): all of this without Python
 *     bare graph     fx code alone (fx_graph_readable.py, a dump of a trace): inputs are made of the annotations
 *
 * Nothing is executed: a line of the head that is not understood is kept as text (REPRO_OTHER), and written back.
 */
#ifndef PT2_GRAPH_REPRO_H
#define PT2_GRAPH_REPRO_H
#include "graph/graph.h"

enum repro_form { REPRO_AFTER_AOT, REPRO_AFTER_DYNAMO, REPRO_AOTI, REPRO_GRAPH };
const char *repro_form_name(enum repro_form f); /* "aot", "dynamo", "aot_inductor", "graph" */

/* A line of the head (or several that belong together). */
enum repro_line_kind {
	REPRO_IMPORT,
	REPRO_ENV_SET,  /* os.environ['NAME'] = 'VALUE': name, value */
	REPRO_ENV_POP,  /* os.environ.pop('NAME', None): name */
	REPRO_CONFIG,   /* torch._inductor.config.cpp.x = VALUE: name is the dotted path, value the Python text */
	REPRO_SYMBOL,   /* s77 = 6: name, value */
	REPRO_COMMENT,
	REPRO_TRITON,   /* a user's Triton kernel, decorators and all: name is the function's */
	REPRO_OTHER,
};
struct repro_line {
	enum repro_line_kind kind;
	struct slice text; /* as it was, without the last newline */
	struct slice name, value;
	uint32_t line;
};

enum repro_input_kind { REPRO_TENSOR, REPRO_SYMINT, REPRO_CONST, REPRO_UNSUPPORTED, REPRO_GENERATOR, REPRO_OPAQUE };
#define REPRO_NO_STORAGE UINT32_MAX
/* One statement of load_args, in order: a placeholder each. */
struct repro_input {
	enum repro_input_kind kind;
	struct slice name;      /* the placeholder's (the comment behind it, or by position) */
	uint32_t meta;          /* in graph.meta: dtype, sizes, strides, device, requires_grad */
	uint32_t storage;       /* REPRO_TENSOR; index, or REPRO_NO_STORAGE: values are random */
	struct symsize offset;  /* in elements */
	bool is_leaf, requires_grad;
	struct symsize value;   /* REPRO_SYMINT: the integer */
	struct slice expr;      /* REPRO_SYMINT: "s77", "" when none. REPRO_CONST and others: what was in the brackets */
};
struct repro_storage {
	struct slice hash;      /* "": no values were kept (random) */
	struct symsize nbytes;
	struct slice device, dtype_hint; /* as written; "" when not */
};

struct repro {
	struct arena arena;
	enum repro_form form;
	bool old;               /* a form of PyTorch 1.13 to 2.3 */
	struct slice path, dir; /* the file, and the folder its relative paths start at */
	struct graph graph;     /* empty for REPRO_AOTI until the package is read */
	struct repro_line *line;
	struct repro_input *input;
	struct repro_storage *storage;
	size_t n_lines, n_inputs, n_storages;
	/* The foot; "" where not given. Python text for accuracy (True, False, 'strict_accuracy', ''). */
	struct slice accuracy, command, save_dir, tracing_mode, check_str, backend, autocast, only_fwd;
	struct slice exported;  /* REPRO_AOTI: the .pt2 */
	struct slice config_patches;
	struct slice torch_version; /* of the comment: "2.13.0+cpu" */
	struct slice foot;      /* what stands after load_args, as it was */
};

/* By content: a file, or "-" for standard input. In memory: repro_read (dir "" for no folder). */
int repro_open(struct repro *r, const char *path, struct err *err);
int repro_read(struct repro *r, struct slice text, const char *path, struct err *err);
void repro_release(struct repro *r);
/* Inputs made of the graph's metadata where there are none (a bare graph): random values, all said by a storage without hash. */
int repro_inputs_from_graph(struct repro *r, struct err *err);

/* As the Python program of its form that torch 2.13 runs; nan, inf and device are defined where torch's own header forgets
 * them. save_dir: where storages lie, as written into the text. */
void repro_write(const struct repro *r, struct buf *b);
/* Where the bytes of a storage are (SAVE_DIR/storages/HASH), into b; relative save_dirs start at dir. */
int repro_storage_path(const struct repro *r, uint32_t storage, struct buf *b);

#endif
