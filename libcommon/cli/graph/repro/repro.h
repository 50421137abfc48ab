/* repro.h - programs that run one graph: minifier_launcher.py, repro.py, checkpoints/N.py, fx_graph_runnable.py, graph.json.
 *
 *     struct repro r = {0};
 *     if (repro_open(&r, "minifier_launcher.py", &err) < 0) ...   // any form below, detected by content
 *     for (size_t i = 0; i < r.n_inputs; i++)
 *         r.input[i].name, r.graph.meta[r.input[i].meta] ...      // one per placeholder, in order
 *     repro_save(&r, &(struct repro_program){.style = REPRO_ALONE, .note = &note}, "repro.py", &err);   // one to pass on
 *     repro_release(&r);
 *
 * Accepted forms
 *     after aot      class Repro; load_args(reader) with storages and tensors; run_repro(mod, load_args, accuracy=, command=, ...).
 *                    torch 2.14 writes the subgraphs of Repro as classes before it; 2.13 writes "<lambda>()" instead
 *     after dynamo   the same with backend=, autocast=; modules' constructors in __init__
 *     aot inductor   exported_program = torch.export.load('...'); run_repro(exported_program, config_patches=, ...). The graph is that
 *                    of the exported program, its parameters are placeholders like any other input; values come from the package: weights,
 *                    and the arguments it was exported with. The .pt2 itself is accepted, too
 *     old after aot  args = [((200, 200), (200, 1), torch.float32, 'cpu')]; args = [rand_strided(...) ...]; make_fx;
 *                    compile_fx_inner, or minifier(mod, args, ...), or inductor_fails; 2.0: args.append(rand_strided((4,), (1,), ...))
 *     old after dynamo  the same with a fifth item, requires_grad; opt_mod = torch._dynamo.optimize(...)(mod); run_fwd_maybe_bwd
 *     graph.json     ours (graph_json.h): all of this without Python
 *     bare graph     only FX code (fx_graph_readable.py, a dump of a trace): inputs are generated from the annotations
 *
 * Sources: torch 2.13, torch/_dynamo/repro/{after_aot,after_dynamo,aoti}.py and torch/_dynamo/debug_utils.py (InputWriter,
 * InputReader, generate_config_string, generate_env_vars_string); torch 1.13 and 2.0, torch/_dynamo/debug_utils.py and after_aot.py.
 *
 * Nothing is executed: a line of the head that we do not understand is kept as text (REPRO_OTHER) and written back. Inputs are joined
 * with the graph's placeholders by position, as torch does; a placeholder without metadata gets theirs.
 *
 * Output
 *  - A candidate (REPRO_LAUNCHER) is a file of the same kind as the original: the same head, the original inputs for those
 *    placeholders that were its inputs, the same foot. Others get random values: reader.storage(None, NBYTES).
 *  - A result (REPRO_ALONE) runs with torch 2.13 on another machine: its head lacks what belongs to the original machine (cache
 *    and debug folders), small inputs are in the text, others in a folder beside the program, found relative to the program.
 *    A comment and a line on standard error at run time name the inputs whose values are random. command is 'run'; torch's own
 *    sub-commands (minify, analyze, --tracing-mode ...) keep working.
 *  - REPRO_PLAIN is what a person would put into an issue: required imports, settings, "def f(x): return torch.relu(x)"
 *    (plain.h), inputs as torch.randn, torch.ones, torch.tensor([...]) with their strides, dtypes, shared memory and (after dynamo)
 *    requires_grad, and torch.compile(f)(x), with a comparison (`check`); for AOTInductor torch.export and
 *    aoti_compile_and_package. Not everything can be expressed this way: user's Triton kernels, process groups, inputs that are neither
 *    tensors nor integers, two dtypes in one storage. It is compiled differently from the launcher (starting at Dynamo; with `inner`
 *    by Inductor alone, each call on copies of the inputs), so whoever writes one runs it. Not read back.
 *  - Both launchers define nan, which torch's own header forgets (NameError in torch 2.13).
 *  - Old forms are written as the equivalent new form; pickled config (load_config(b'...')) is then left out, because
 *    torch 2.13 cannot read it, with a comment.
 *  - Aot inductor: an exported program cannot be created without torch. The output has class Repro and load_args as after aot;
 *    its foot exports the module (strict=False, as torch's minifier does) and calls torch's run_repro of aoti with that. It is
 *    read back as REPRO_AOTI with inputs.
 */
#ifndef PT2_GRAPH_REPRO_H
#define PT2_GRAPH_REPRO_H
#include "base/io/mapfile.h"
#include "base/io/zip.h"
#include "graph/graph.h"

enum repro_form { REPRO_AFTER_AOT, REPRO_AFTER_DYNAMO, REPRO_AOTI, REPRO_GRAPH };
const char *repro_form_name(enum repro_form f); /* "aot", "dynamo", "aot_inductor", "graph" */

/* A statement of the head, or a comment. */
enum repro_line_kind {
	REPRO_IMPORT,
	REPRO_ENV_SET, /* os.environ['NAME'] = 'VALUE': name, value (the characters, without quotes) */
	REPRO_ENV_POP, /* os.environ.pop('NAME', None): name */
	REPRO_CONFIG,  /* torch._inductor.config.cpp.x = VALUE: name is the dotted path, value the Python text */
	REPRO_SYMBOL,  /* s77 = 6: name, value */
	REPRO_COMMENT, /* value: without "# " */
	REPRO_TRITON,  /* a user's Triton kernel, decorators and all: name is the function's */
	REPRO_OTHER,   /* name: what is assigned or called, if any; else "" */
};
struct repro_line {
	enum repro_line_kind kind;
	struct slice text; /* unchanged, without the last newline */
	struct slice name, value;
	uint32_t line;
	bool idle; /* REPRO_CONFIG: sets what is the default. Known only by running it: never set by readers */
};

enum repro_input_kind { REPRO_TENSOR, REPRO_SYMINT, REPRO_CONST, REPRO_UNSUPPORTED, REPRO_GENERATOR, REPRO_OPAQUE, REPRO_INPUT_KINDS };
extern const char *const repro_input_word[REPRO_INPUT_KINDS]; /* "tensor": the method of load_args' reader */
/* A statement of load_args; in order, one per placeholder. */
struct repro_input {
	enum repro_input_kind kind;
	struct slice name;     /* the placeholder node's, by position; the comment is not trusted */
	uint32_t meta;         /* in graph.meta: dtype, sizes, strides, device, requires_grad; REPRO_SYMINT: the expression, or the integer.
	                         * NONE for the others */
	uint32_t storage;      /* REPRO_TENSOR: index in storage[] */
	struct symsize offset; /* in elements */
	bool is_leaf, requires_grad;
	struct symsize value; /* REPRO_SYMINT: the integer */
	struct slice expr;    /* REPRO_SYMINT: "s77", "" when none. REPRO_CONST and others: what was in the brackets */
	struct slice extra;   /* REPRO_TENSOR: further arguments, unchanged ("conj=True"); or "" */
	struct slice block;   /* REPRO_UNSUPPORTED: the docstring that follows it, unchanged; or "" */
	uint32_t line;
};
struct repro_storage {
	struct slice hash; /* "": no values were kept (random) */
	struct symsize nbytes;
	struct slice device, dtype_hint; /* "cuda:0", "float32"; "" if not given */
	struct slice bytes;              /* its values if they are in the program itself (REPRO_ALONE); else p is NULL */
	uint32_t users;                  /* inputs in it, counted by repro_join */
};
/* "# Fixup: ensure sum(repeats) == output_size for repeat_interleave": both by their index in input[]. */
struct repro_fixup {
	uint32_t repeats, output_size;
};

struct repro {
	struct arena arena;
	struct mapfile file;    /* opened by repro_open: the texts point there */
	struct mapfile package; /* REPRO_AOTI: the exported program, whose weights are storages' bytes */
	struct zip zip;         /* of the package: compressed weights are decompressed here */
	enum repro_form form;
	bool old;               /* a form of PyTorch 1.13 to 2.0 */
	struct slice path, dir; /* the file, and the base folder of its relative paths ("": the current one) */
	struct graph graph;     /* empty for an AOTI launcher in memory (repro_read): repro_open reads the package */
	struct repro_line *line;
	struct repro_input *input;
	struct repro_storage *storage;
	struct repro_fixup *fixup;
	size_t n_lines, n_inputs, n_storages, n_fixups;
	/* The foot; "" if not given. Python text for accuracy (True, False, 'strict_accuracy', '') and autocast, only_fwd, is_inference
	 * (torch 2.15: whether Inductor knew that there is no backward). */
	struct slice accuracy, command, save_dir, tracing_mode, check_str, autocast, only_fwd, is_inference;
	struct slice backend; /* "inductor"; "toys:toy_compiler" if imported; or any other Python text, with backend_text */
	bool backend_text;
	bool has_seed; /* REPRO_ALONE sets it before load_args makes random values */
	uint64_t seed;
	struct slice exported;        /* REPRO_AOTI: the .pt2 */
	struct slice config_patches;  /* Python text */
	struct slice setup, teardown; /* statements of the foot before and after run_repro (process groups), unchanged, indented by 4 */
	struct slice torch_version;   /* from the comment: "2.13.0+cpu" */
	struct slice foot;            /* everything after the class (and load_args), unchanged */
};

/* Detects the form by content. path: a file, or "-" for standard input. In memory: repro_read; the text must live as long as r, and the
 * package of an AOTI launcher is not opened. After a failure nothing needs to be released (but may be). */
int repro_open(struct repro *r, const char *path, struct err *err);
int repro_read(struct repro *r, struct slice text, const char *path, struct err *err);
void repro_release(struct repro *r);
/* For readers (graph_json.c): texts that live as long as r; arrays that grow by one. */
struct slice repro_keep(struct repro *r, struct slice text);
struct repro_line *repro_add_line(struct repro *r, enum repro_line_kind kind, struct slice text);
struct repro_input *repro_add_input(struct repro *r, enum repro_input_kind kind);
uint32_t repro_add_storage(struct repro *r, const struct repro_storage *s);
/* Counts and joins inputs with placeholders, as above. After this input[] is complete. */
int repro_join(struct repro *r, struct err *err);

/* Generates inputs from the graph's metadata if there are none (a bare graph): random values, as storages without hash. A
 * symbol without a value gets 8, the next 9, ...: no two sizes are equal by accident; REPRO_SYMBOL lines record this. Fails if a
 * placeholder has no metadata. repro_read does it for REPRO_GRAPH. */
int repro_inputs_from_graph(struct repro *r, struct err *err);
/* Bytes of storage that a tensor with this metadata (of g) needs: symbols are looked up, a size may be 0; without strides it is dense. */
int repro_tensor_bytes(const struct graph *g, const struct gmeta *m, const struct symbind *env, int64_t *bytes, struct err *err);
/* An attribute of the graph whose class was lost, because its name is unusable: torch 2.13 writes "self.true_graph_0 = <lambda>()" for a
 * subgraph. NULL: none. */
const struct gattr *repro_lost_module(const struct repro *r);
/* The input of this name, or NONE. */
uint32_t repro_find_input(const struct repro *r, struct slice name);
/* Does input i share its storage with another, or use only part of it (an offset, a larger storage)? */
bool repro_is_view(const struct repro *r, uint32_t i);
/* Values of symbols: from REPRO_SYMBOL lines and from symints whose expression is a symbol. For r->graph.tab. */
void repro_bind(const struct repro *r, struct symbind *env);

/* Appends the path of a storage's bytes (SAVE_DIR/storages/HASH) to b; relative save_dirs start at dir. A missing save_dir
 * (the file was moved) is also searched as dir/checkpoints and dir. -1: it has no hash, or there is no such file. */
int repro_storage_path(const struct repro *r, uint32_t storage, struct buf *b);

/* A file of SAVE_DIR/storages: a torch.save of an untyped storage (torch 2.13, torch/utils/_content_store.py). */
struct repro_bytes {
	struct mapfile file;
	struct zip zip;
	struct slice bytes;
};
int repro_bytes_open(struct repro_bytes *s, const char *path, struct err *err);
FOR_TESTS int repro_bytes_read(struct repro_bytes *s, struct slice zip, const char *path, struct err *err); /* zip must live as long */
void repro_bytes_close(struct repro_bytes *s);

/* The path of r->exported: a bare package's own, or a launcher's, also beside it if it was moved with its folder. False: not found. */
bool repro_exported_path(const struct repro *r, struct buf *b);

/* ---- writing ---- */

/* An environment variable that names a machine's own folders, or an address in a process that is gone, or makes torch write launchers
 * again: REPRO_ALONE omits it. */
bool repro_env_is_private(struct slice name);

enum repro_style { REPRO_LAUNCHER, REPRO_ALONE, REPRO_PLAIN };

/* Where a placeholder of the program gets its value from. */
enum repro_give {
	REPRO_GIVE_INPUT,
	REPRO_GIVE_RANDOM,
	REPRO_GIVE_INT,
	REPRO_GIVE_DATA,
	REPRO_GIVE_GUESS, /* unknown: a float32 number as a tensor, with a comment */
};
struct repro_given {
	enum repro_give how;
	uint32_t
	    input; /* GIVE_INPUT: index in r->input, with all its properties (GIVE_RANDOM and GIVE_DATA use the placeholder's metadata) */
	int64_t value;                    /* GIVE_INT */
	struct slice bytes;               /* GIVE_DATA: of its storage, from the first byte on; the same p means the same storage */
	int64_t offset;                   /* GIVE_DATA: of the first element, in elements */
	bool requires_grad;               /* GIVE_RANDOM, GIVE_DATA: in addition to the meta's */
	bool non_leaf;                    /* the same: it also has a history */
	const struct repro_input *memory; /* GIVE_RANDOM: the input of r in whose storage it is, at its offset; NULL: in its own */
	bool own_memory, leaf;            /* GIVE_INPUT, overrides: its storage is not shared; it is a leaf */
};

/* The comments at the top of a result, about its origin. Each may be empty. */
struct repro_note {
	struct slice tool;      /* "fxminify 1.0" */
	struct slice command;   /* the command line */
	struct slice original;  /* the original file */
	struct slice signature; /* of the failure, any number of lines */
	struct slice verified;  /* "fails the same way in a fresh process", "does NOT fail in a fresh process: ..." */
	struct slice versions;  /* "torch 2.13.0+cpu, Python 3.11.2, gcc 12.2.0", any number of lines */
	struct slice origin;    /* where it starts in the original: "difference starts at relu and leaves through add" */
	struct slice more;      /* further lines */
	struct slice error;     /* REPRO_PLAIN: the original error, any number of lines */
};

/* REPRO_PLAIN: how the values are checked. */
enum repro_check {
	REPRO_CHECK_RUNS,  /* not at all: it is called */
	REPRO_CHECK_SAME,  /* torch._dynamo.utils.same(), with double precision as the reference if possible */
	REPRO_CHECK_EQUAL, /* integers and flags, all of them */
	REPRO_CHECK_SHAPE,
};

#define REPRO_INLINE 4096
struct repro_program {
	enum repro_style style;
	const struct graph *graph;       /* NULL: r's own */
	const struct repro_given *given; /* one per placeholder of graph; NULL: r's inputs unchanged */
	size_t n_given;
	const struct repro_note *note; /* REPRO_ALONE */
	bool no_seed;                  /* otherwise the seed is set before random values are generated */
	uint64_t seed;
	uint32_t inline_max;    /* REPRO_ALONE: maximum bytes of a storage to put into the text; 0: REPRO_INLINE */
	enum repro_check check; /* REPRO_PLAIN */
	bool dynamic;           /* REPRO_PLAIN, for a graph traced with symbols: dynamic=True */
	bool inner;             /* REPRO_PLAIN, after AOT: Inductor alone, compile_fx_inner(make_fx(f)(*copies), copies), for a failure that
				 * needs this very graph: torch.compile starts at Dynamo, and AOTAutograd may change the graph */
	struct slice spellings; /* REPRO_PLAIN: plain.h's table */
	struct slice folder;    /* REPRO_ALONE: folder of larger ones, beside the program; "": its name with .data instead of .py */
};
/* The program's text. Fails (EXIT_INPUT) for a placeholder with unknown metadata (except GIVE_GUESS), a wrong n_given, a
 * size whose symbols have no value. REPRO_ALONE refers to files in `folder` that are not written here: see repro_save. */
int repro_text(const struct repro *r, const struct repro_program *p, struct buf *b, struct err *err);
/* The program as a file, and the folder of its large inputs; each file appears under its name when complete, the program last. */
int repro_save(const struct repro *r, const struct repro_program *p, const char *path, struct err *err);

#endif
