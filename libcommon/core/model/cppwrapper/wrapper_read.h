/* wrapper_read.h - shared by the files of the reader of wrapper.cpp (wrapper.h is its interface).
 *
 * wrapper.c        the text line by line: constructor, kernel declarations, where functions start
 * wrapper_check.c  check_input_N
 * wrapper_body.c   run_impl, statement by statement: blocks, declarations, assignments, outputs
 * wrapper_value.c  variables, the tensors and memory they refer to, expressions of tensors
 * wrapper_call.c   calls of kernels and operators, with the roles of their arguments
 * wrapper_stream.c a GPU's streams and events
 * wrapper_expr.c   sizes: symbols, integer arrays, bounds
 * wrapper_text.c   pieces of C++: statements, arguments, names
 */
#ifndef PT2_WRAPPER_READ_H
#define PT2_WRAPPER_READ_H
#include "model/contract/contract.h"

/* ---- wrapper_text.c ---- */

enum stmt_kind { STMT_END, STMT_PLAIN, STMT_OPEN, STMT_CLOSE, STMT_COMMENT };
struct stmt {
	enum stmt_kind kind;
	struct slice text; /* without ; or {, trimmed. STMT_OPEN: the text before the brace */
	uint32_t line;
};
struct stmts {
	const char *p, *end;
	uint32_t line;
};
/* STMT_END also if the text ends within a statement. */
struct stmt stmt_next(struct stmts *s);

bool text_take(struct slice *s, const char *prefix); /* cut it off, with the space after it */
struct slice text_name(struct slice *s);             /* cut a name off (letters, digits, _ and ::); empty if there is none */
/* s.p[i] opens a bracket (or is a template's <): the index after its end; 0 if it is unclosed, or s.p[i] does not open one. */
size_t text_group(struct slice s, size_t i);
/* Cut the next argument off; false when nothing is left (a last comma, as in {4L, }, adds none). */
bool text_arg(struct slice *rest, struct slice *arg);
/* NAME(ARGS) with nothing after it. */
bool text_call(struct slice s, struct slice *name, struct slice *args);
/* The text inside the brackets of {...}. */
bool text_braces(struct slice s, struct slice *inner);
bool text_i64(struct slice s, int64_t *v); /* 12, -1, 12L */
struct slice text_last_name(struct slice s);

/* ---- state ---- */

enum var_kind {
	VAR_NONE,
	VAR_OTHER,  /* declared, ignored */
	VAR_TENSOR, /* RAIIAtenTensorHandle, or a pointer obtained from one */
	VAR_HANDLE, /* AtenTensorHandle: owns nothing */
	VAR_INTS,   /* int_array_0 */
	VAR_SYMBOL, /* an integer whose value is known as an expression */
	VAR_SIZES,  /* arg0_1_size = arg0_1.sizes() */
	VAR_STRIDES,
	VAR_POINTERS, /* void* kernel_args_var_0[] = {&var_0, ...} */
	VAR_STREAM,   /* of a GPU */
};
struct wvar {
	enum var_kind kind;
	bool owns;      /* keeps the storage alive */
	uint32_t value; /* tensor: into values; ints: into w->ints; sizes: the input; stream: contract_call.stream */
	uint32_t depth;
	struct symsize size; /* VAR_SYMBOL */
	struct slice text;   /* VAR_POINTERS */
};
struct wints {
	int n; /* -1: not recognized */
	struct symsize *v;
};
/* State kept for each value. */
struct wvalue {
	bool whole;    /* a complete input: its dims are the input's */
	bool fresh;    /* aoti_torch_new_uninitialized_tensor: waits for a proxy call to fill it */
	uint32_t from; /* value + 1 of which it is a view or reuse, with the same dtype */
	uint32_t like; /* value + 1 whose dims it shares, unless its own are known */
};
struct wstorage {
	uint32_t refs;
	uint32_t owner; /* the value it was created for */
	bool pinned;    /* an output */
};
struct winput {
	struct contract_dim *dim;
	int n_dim, cap; /* highest dim mentioned + 1 */
	int asserted_rank;
	struct symsize *size, *stride; /* from assert_size_stride */
	/* int64_t s77 = arg0_1_size[0] */
	struct wbound {
		int dim;
		bool stride;
		struct symsize symbol;
	} * bound;
	int n_bound, cap_bound;
};
struct wkernel {
	uint8_t *param; /* PARAM_*, for each parameter; NULL if unknown */
	uint32_t n;
	bool triton, noted;
	struct slice function; /* its name in its module; empty: unknown, or the same */
};
enum { PARAM_CONST = 4, PARAM_NAMED = 8, PARAM_ROLE = 3 }; /* const T*; the low bits are the role according to its name */

enum block_kind { BLOCK_SCOPE, BLOCK_SKIP, BLOCK_GUARD, BLOCK_BRANCH };
struct wblock {
	enum block_kind kind;
	struct slice head;
};
#define WRAPPER_MAX_DEPTH 64

struct wrapper {
	struct contract *c;
	struct wsync *sync; /* of a program with several streams (wrapper_stream.c) */
	struct slice kernel_text;
	bool kernel_text_read;
	struct intern names; /* of variables */
	struct wvar *var;
	uint32_t n_var, cap_var;
	uint32_t *declared, n_declared, cap_declared; /* in order, for the end of scopes */
	uint32_t *assigned, n_assigned, cap_assigned; /* in the branches before an else */
	struct wints *ints;
	uint32_t n_ints, cap_ints;
	struct wvalue *wv;
	uint32_t cap_wv;
	struct wstorage *ws;
	uint32_t cap_ws;
	struct intern kernel_names;
	struct wkernel *kernel;
	uint32_t n_kernel, cap_kernel;
	struct winput *in;
	uint32_t cap_in, cap_out, cap_const;
	struct contract_symbol *sym;
	uint32_t n_sym, cap_sym;
	struct symbind sym_at; /* symbol -> index into sym */
	uint32_t n_asserted;
	struct slice nodes, aten; /* of the comment above the next call */
	struct wblock block[WRAPPER_MAX_DEPTH];
	uint32_t depth, branches;
	bool noted_branch;
	uint32_t line, n_unclear, stream; /* stream: torch's current stream, used by operators */
	uint32_t checked;                 /* the input whose check_input is being read */
	bool in_check;                    /* within a function that checks inputs: every line there must be recognized */
	bool checks;                      /* such a function exists */
	bool of_output;                   /* for an output: ignored */
	bool goes_on;                     /* an unrecognized statement continues on the next line */
	struct symsize unknown;
	struct buf tmp;
};

/* "line 12: not understood: ..."; the first few only. */
enum { MAX_UNCLEAR = 20 }; /* of which each has a note */
void wrapper_unclear(struct wrapper *w, struct slice text);

/* ---- wrapper_stream.c ---- */

/* Which stream an expression means (contract_call.stream); false if it is not a stream. */
bool wrapper_stream(struct wrapper *w, struct slice expr, uint32_t *stream);
/* NAME REST is a statement about streams or events; false if it is not. */
bool wrapper_stream_statement(struct wrapper *w, struct slice name, struct slice rest);
/* Called when the last call is complete: does it wait for the calls it must wait for? */
void wrapper_stream_call(struct wrapper *w, struct contract_call *call);
void wrapper_stream_release(struct wrapper *w);

/* ---- wrapper_expr.c ---- */

struct wvar *wrapper_var(struct wrapper *w, struct slice name); /* NULL if never declared */
struct wvar *wrapper_declare(struct wrapper *w, struct slice name, enum var_kind kind);
/* A size in the text's symbols, aliases replaced; unknown ("?") if any part is not recognized. */
struct symsize wrapper_size(struct wrapper *w, struct slice text);
/* {4L, s77}, int_array_3, nullptr: index into ints, whose n is -1 if it is none of these. */
struct wints wrapper_ints(struct wrapper *w, struct slice text);
void wrapper_declare_ints(struct wrapper *w, struct slice name, struct slice init);
/* int64_t NAME = INIT; */
void wrapper_declare_size(struct wrapper *w, struct slice name, struct slice init);
/* if (!(u0 <= 48L)) throw: the condition holds from there on. */
void wrapper_bound(struct wrapper *w, struct slice cond);
/* Dims from sizes and strides; n -1 unless both are known as lists of one length. */
int wrapper_dims(struct wrapper *w, struct wints size, struct wints stride, struct contract_dim **dim);
struct symsize wrapper_extent(struct wrapper *w, int n, const struct contract_dim *dim, int dtype);

/* ---- wrapper_value.c ---- */

uint32_t wrapper_value(struct wrapper *w, struct slice name, enum value_kind kind);
/* A further value in the same memory. */
uint32_t wrapper_same(struct wrapper *w, struct slice name, uint32_t of);
void wrapper_storage(struct wrapper *w, uint32_t value, uint32_t born);
void wrapper_pin(struct wrapper *w, uint32_t value);
void wrapper_own(struct wrapper *w, struct wvar *v, uint32_t value);
void wrapper_drop(struct wrapper *w, struct wvar *v);
void wrapper_leave(struct wrapper *w, uint32_t depth); /* end of a scope */

struct wtensor {
	uint32_t value;
	struct slice var;  /* the variable at the bottom */
	struct slice cast; /* "const float*", the outermost */
	bool moved, view, address;
	int n_dim;
	struct contract_dim *dim;
	int dtype; /* of the cast, DTYPE_NONE */
};
bool wrapper_tensor(struct wrapper *w, struct slice expr, struct wtensor *t);
int wrapper_dtype(struct slice text);     /* cached_torch_dtype_float32, at::kFloat */
int wrapper_device(struct slice text);    /* cached_torch_device_type_cpu */
int wrapper_cpp_dtype(struct slice type); /* const float* */

/* ---- wrapper_call.c ---- */

/* True if it was a call that is recognized or can be ignored. checked: it was inside AOTI_TORCH_ERROR_CODE_CHECK. */
bool wrapper_call(struct wrapper *w, struct slice name, struct slice args, bool checked);
void wrapper_kernel(struct wrapper *w, struct slice name, struct slice params, bool triton);
/* extern "C"  void  cpp_fused_add_0(float* in_out_ptr0, ...); or {: the position after its brackets, p if it is not one, and `end` if they
 * do not close (then nothing after it can be understood). Templates (cpp_gemm_template.py) have a line end after "C". */
const char *wrapper_extern(struct wrapper *w, const char *p, const char *end);

/* ---- wrapper_body.c, wrapper_check.c, wrapper.c ---- */

/* Reads run_impl, from after its brace; the end position and line are then in s. */
void wrapper_body(struct wrapper *w, struct stmts *s);
void wrapper_check_line(struct wrapper *w, struct slice line);
/* A line at the left margin: the head or the end of such a function. */
void wrapper_check_margin(struct wrapper *w, struct slice line);
bool wrapper_input_dim(struct winput *in, int64_t dim);
#endif
