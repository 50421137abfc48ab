/* trace.h - structured traces: what TORCH_TRACE=dir makes PyTorch write, read and understood.
 *
 * The format (torch 2.13.0: torch/_logging/_internal.py, TorchLogsFormatter and trace_structured):
 *
 *     V1121 07:59:23.043000 1234 torch/_dynamo/convert_frame.py:915] {"dynamo_start": {...}, "frame_id": 0, ...}
 *     V1121 07:59:23.050000 1234 torch/_dynamo/guards.py:2000] {"artifact": {"name": ...}, "has_payload": "<md5>"}
 *     <TAB>first line of the payload
 *     <TAB>second line
 *
 * A line is a glog prefix and an envelope (one JSON object). When it has has_payload, the lines that follow and start
 * with a tab are its payload; has_payload is the MD5 of the payload (tabs removed, lines joined by newlines). Anything
 * may stand before the glog prefix (a job scheduler's), and the date may carry its year (V20261121). Blank lines are
 * nothing. A carriage return before the newline is dropped. Stack frames name files by numbers that earlier `str`
 * records of the same log define.
 *
 * Reading has three phases, run on windows of the file by base/pool, so that memory does not grow with the file:
 *
 *     scan    side by side   lines -> trace_record: prefix, envelope tokens, kinds, compile id, payload, MD5
 *     reduce  in order       records -> struct trace: numbering, strings, compile ids, artifacts, breaks, symbols, ...
 *     emit    side by side   an emitter writes what it wants of the records while they are in memory
 *
 * A reader of facts (tlparse --json, fxexplain) needs no emitter:
 *
 *     struct trace t;
 *     trace_init(&t, path);
 *     if (trace_read(&t, NULL, &err) < 0)
 *         die_err(&err);
 *     const struct trace_compile *c = trace_find_compile(&t, "0/1");     // what happened at compile id 0/1
 *     ... t.artifact[], t.brk[], t.recompile[], t.failure[], t.symbol[]: each row names its compile id
 *     trace_release(&t);
 *
 * An emitter passes a struct trace_hooks. Everything in struct trace belongs to it and lives until trace_release;
 * records and windows live only during the hook they are passed to.
 *
 * Errors: trace_read fails only when the log cannot be opened, the system fails to read it to its end (but see in_part), or not one
 * record can be read in it. All lesser damage is in t.damage, with the line where it is first seen, and the rest of the log is read.
 */
#ifndef PT2_TRACE_H
#define PT2_TRACE_H
#include "base/hash.h"
#include "base/json.h"
#include "base/md5many.h"
#include "io/window.h"
#include "trace/kinds.h"
#include "trace/provenance.h"

/* ---- compile ids ---------------------------------------------------------------------------------------------- */

/* Printed as [!AUTOGRAD/FRAME/COMPILE_ATTEMPT]; torch._guards.CompileId. -1 where the envelope does not say.
 * No padding: compared and hashed as bytes. */
struct compile_id {
	int64_t autograd, frame, compile, attempt;
	int64_t bad_line; /* 0, or the line of a record whose ids are no small numbers ("unknown_LINE" in the directory) */
};
enum { COMPILE_ID_TEXT = 96 };
/* "0/1", "!2/0/1_1", "-/-", "unknown": the way people and PyTorch write it. */
const char *compile_id_text(const struct compile_id *id, char out[COMPILE_ID_TEXT]);
/* "-_0_1_0": the folder of the directory report. */
const char *compile_id_dir(const struct compile_id *id, char out[COMPILE_ID_TEXT]);

/* ---- phase 1: records of a window ----------------------------------------------------------------------------- */

enum record_flags {
	REC_PAYLOAD = 1,       /* the envelope has has_payload */
	REC_MD5_BAD = 2,       /* ... and it is not the payload's */
	REC_NO_PREFIX = 4,     /* no glog prefix: not a record at all; text is the line */
	REC_NO_JSON = 8,       /* the envelope is no JSON object */
	REC_MALFORMED = 16,    /* a field has a type that it cannot have, or a key stands twice */
	REC_LOOSE = 32,        /* JSON that strict readers refuse (NaN, lone surrogates, nesting of 128 and more) */
	REC_NOT_UTF8 = 64,     /* envelope or payload holds bytes that are no UTF-8 */
	REC_YEAR = 128,        /* the date carries its year */
	REC_OTHER_RANK = 256,  /* belongs to another rank than the log (set by reduce) */
	REC_RESERVED = 512,    /* the envelope has a key that raw.jsonl adds (timestamp, thread, pathname, lineno) */
	REC_GUARDS_BAD = 1024, /* dynamo_guards: the payload is no list of guards */
	REC_ORPHAN = 2048,     /* a payload line without an envelope (with REC_NO_PREFIX) */
	REC_NO_ATTEMPT = 4096,
	REC_UNKNOWN = 8192, /* has a key that this version does not know */
	REC_LAST = 16384,   /* the last record of a log that ends without a newline, or in a payload that is not whole */
};

/* Offsets are bytes in window.data; tokens are in scan.tape. */
struct trace_record {
	uint32_t line; /* in the window, from 0; scan.first_line + line is the log's, from 1 */
	uint32_t flags;
	uint64_t kinds; /* bit per enum trace_kind */
	uint32_t envelope, envelope_len;
	uint32_t root;                 /* token of the envelope, NONE when it is no JSON */
	uint32_t payload, payload_len; /* tabs removed, contiguous */
	uint32_t payload_lines;
	uint32_t value;          /* token of the value of the one kind named; see trace_value */
	uint32_t has_payload;    /* token of the MD5 text, or NONE */
	uint32_t stack;          /* token of the envelope's own stack, or NONE */
	int32_t nodes;           /* FX nodes of a graph payload, -1 when it is none */
	uint32_t first_artifact; /* set by reduce: artifacts [first, first + n) */
	uint16_t artifacts;
	uint16_t month_day; /* month * 100 + day */
	uint16_t year;      /* 0 when the prefix has none */
	int64_t rank;       /* -1: none */
	uint64_t thread;
	uint64_t usec;               /* of the day */
	uint32_t source, source_len; /* the path in the prefix, with the blank before it */
	uint32_t source_line;
	uint32_t compile; /* set by reduce: index into trace.compile */
	struct compile_id id;
	uint8_t md5[16], want[16]; /* of the payload as read, and as has_payload has it */
};

struct trace_scan {
	struct window window;
	struct json_tape tape;
	struct trace_record *rec;
	uint32_t n, cap;
	uint32_t lines;
	struct md5_job *md5; /* payloads to hash */
	uint32_t n_md5, cap_md5;
	uint64_t first_line; /* set before reduce */
	struct json_tape payload_tape;
	void *emit; /* the emitter's own, per slot */
};

/* The value token of kind k in record r, or NONE. */
uint32_t trace_value(const struct trace_scan *s, const struct trace_record *r, enum trace_kind k);
static inline struct slice trace_payload(const struct trace_scan *s, const struct trace_record *r)
{
	return slice_of(s->window.data + r->payload, r->payload_len);
}
static inline struct slice trace_envelope(const struct trace_scan *s, const struct trace_record *r)
{
	return slice_of(s->window.data + r->envelope, r->envelope_len);
}

struct trace;

/* ---- phase 2: the model --------------------------------------------------------------------------------------- */

/* A struct srcloc (base/srcloc.h) as rows keep it. file, function, code: texts of trace.names; NONE: not known. */
struct trace_loc {
	uint32_t file, line, function, code;
};

enum trace_lang { LANG_TEXT, LANG_JSON, LANG_PY, LANG_CPP };
enum artifact_flags {
	ART_HTML = 1,      /* the directory shows it as a page */
	ART_JSON = 2,      /* name ends in .json */
	ART_GLOBAL = 4,    /* no number in its name (dump_file/) */
	ART_LINK = 8,      /* no file; name is the text, extra the URL */
	ART_READABLE = 16, /* a second page beside it: STEM_readable.html, counted too */
	ART_NO_ATTEMPT = 32,
	ART_HIT = 64,
	ART_MISS = 128,
	ART_BYPASS = 256,     /* cache artifacts */
	ART_NO_PAYLOAD = 512, /* made from the envelope: metrics pages */
	ART_UNLISTED = 1024,  /* not numbered: the Rust tlparse has no such file */
};

struct trace_artifact {
	uint32_t compile, name; /* name: without number and extension */
	uint32_t number;        /* the directory report's, as the Rust tlparse counts */
	uint32_t size;          /* bytes of payload */
	uint64_t line : 40, kind : 8, lang : 4, flags : 12;
	int32_t nodes;
	float seconds;          /* since the log's first record */
	uint32_t next;          /* of the same compile id, UINT32_MAX at the end */
	uint32_t block, offset; /* for the emitter's use: where the payload went */
	uint32_t extra;         /* link: URL in trace.names */
};

enum compile_status { STATUS_MISSING, STATUS_OK, STATUS_EMPTY, STATUS_BREAK, STATUS_ERROR };

struct trace_compile {
	struct compile_id id;
	uint64_t line;
	uint32_t first_artifact, last_artifact, artifacts;
	enum compile_status status;
	struct trace_loc loc;
	double seconds, backend_seconds, inductor_seconds, code_gen_seconds; /* < 0: not known */
	int64_t ops, nodes, inputs, guards, cache_size;                      /* -1: not known */
	uint32_t breaks;
	uint32_t stack; /* node of trace.stack, NONE */
	uint32_t fail_type, fail_reason;
};

struct trace_break {
	uint32_t compile, artifact; /* artifact: NONE when only a restart reason tells */
	uint64_t line;
	struct trace_loc loc;
	uint32_t reason, explanation, hints, context, url; /* trace.names; hints: one a line */
	int32_t gb;                                        /* 25 of gb0025.html, -1 */
};
struct trace_recompile {
	uint32_t compile, artifact;
	uint64_t line;
	struct trace_loc loc;
	uint32_t reason, guard, old, new; /* reason: the first; all: one a line */
	uint32_t all;
};
struct trace_failure {             /* also restarts */
	uint32_t compile, metrics; /* metrics: number of the compilation_metrics page */
	uint64_t line;
	struct trace_loc loc;
	uint32_t type, reason; /* type NONE: a restart */
};
struct trace_symbol {
	uint32_t compile;
	uint64_t line;
	struct trace_loc loc;
	uint32_t symbol, value, range, source;
	bool unbacked;
};
struct trace_special {
	uint32_t compile;
	uint64_t line;
	struct trace_loc loc;
	uint32_t symbol, value, sources, reason; /* sources: one a line */
};
struct trace_skip {
	uint32_t compile, reason;
};

/* What torch.export and draft_export found (records of export.c). loc: the innermost frame of the user's stack. */
enum trace_export_kind {
	EXPORT_GUARD,          /* guard_added, prefix eval: a guard was evaluated while exporting */
	EXPORT_SPECIALIZED,    /* propagate_real_tensors_provenance: data-dependent, went on with the real value */
	EXPORT_DATA_DEPENDENT, /* guard_on_data_dependent_error: data-dependent, export failed */
	EXPORT_MISSING,        /* missing_fake_kernel */
	EXPORT_MISMATCHED,     /* mismatched_fake_kernel */
};
struct trace_export {
	uint32_t compile, artifact; /* artifact: its page in the directory of -e, NONE */
	uint64_t line;
	struct trace_loc loc;
	enum trace_export_kind kind;
	uint32_t expr; /* the expression, or the operator that has no good fake kernel */
	uint32_t result, reason;
	uint32_t sources, locals;   /* "s77 = L['x'].size()[0]", one a line */
	uint32_t node;              /* row of trace.expr: how the expression came about, NONE */
	uint32_t user_stack, stack; /* nodes of trace.export_stacks, NONE */
};
/* A symbolic expression, by expression_created or create_unbacked_symbol. Its arguments are rows before it, so that the
 * rows are a DAG whatever the log says: an id means what it meant last when the record was written (ids are Python's
 * id() and come again). At most TRACE_EXPR_MAX rows are kept, with TRACE_ARGS_MAX arguments each. */
enum { TRACE_EXPR_MAX = 1 << 20, TRACE_ARGS_MAX = 64 };
struct trace_expr {
	uint64_t id, line;
	struct trace_loc loc;
	uint32_t compile;
	uint32_t method, result, args; /* args: texts, one a line; method NONE: an unbacked symbol */
	uint32_t first_arg, n_arg;     /* of trace.expr_arg: rows of trace.expr */
	uint32_t user_stack, stack;
};
/* An expression and what it was made of: depth first, each once, at most max steps. How many were written. */
struct trace_expr_step {
	uint32_t row, depth;
};
uint32_t trace_expr_history(const struct trace *t, uint32_t row, struct trace_expr_step *step, uint32_t max);

/* One Inductor compilation with node mappings (provenance.h): which artifacts belong together, and the line links between
 * them. A compile id has several: forward, backward, and again after a cache hit. Texts are kept only from the record
 * that brings them to the one that completes the set (the kernel stack traces, the next graph of the same compile id, the
 * compilation metrics, the end), and at most TRACE_TEXTS_MAX bytes of them; the oldest set is linked with what is there. */
enum { TRACE_TEXTS_MAX = 16 << 20 };
struct trace_provenance {
	uint32_t compile;
	uint32_t artifact[PROV_TEXTS]; /* NONE: the log has none */
	struct slice links;            /* JSON (provenance_json), "<" written as \u003c; in trace.links */
};
/* Which part of such a set an artifact is; PROV_TEXTS: none. */
enum prov_text trace_provenance_part(const struct trace *t, const struct trace_artifact *a);

/* What is wrong with a log. One row per kind: how often, where first. */
#define TRACE_DAMAGE(X) \
	X(INPUT, "input", "the file could be read only up to here") \
	X(TRUNCATED, "truncated", "the log ends inside a record; what is there of it is shown") \
	X(PREFIX, "not_a_record", "lines that are no record (no prefix like 'V1121 07:59:23.043000 PID path:LINE]')") \
	X(ORPHAN, "orphan_payload", "payload lines whose record is missing (two writers in one file, or lines lost)") \
	X(JSON, "bad_json", "records whose envelope is not JSON; shown under other records") \
	X(MALFORMED, "malformed", "records with a field of a wrong type, or JSON that strict readers refuse; shown under other records") \
	X(MD5, "bad_md5", "payloads that are not what was written (MD5 differs); shown as found") \
	X(UTF8, "not_utf8", "records with bytes that are not UTF-8; shown with replacement characters") \
	X(RANK, "other_rank", "records of another rank than the log's first; shown under other records") \
	X(GUARDS, "bad_guards", "dynamo_guards payloads that are no list of guards; shown as text") \
	X(ENCODING, "bad_encoding", "artifacts of an encoding other than string or json; shown as text") \
	X(STRINGS, "bad_string_table", "str records that cannot be understood") \
	X(RESERVED, "reserved_key", "records left out of raw.jsonl: they use a key that it adds") \
	X(NAME, "unsafe_name", "names that would leave the output folder or that no file can have; made safe")

enum trace_damage_kind {
#define X(id, name, text) DAMAGE_##id,
	TRACE_DAMAGE(X)
#undef X
	    DAMAGE_COUNT
};
extern const char *const trace_damage_name[DAMAGE_COUNT], *const trace_damage_text[DAMAGE_COUNT];
struct trace_damage {
	uint64_t count, line;
};
void trace_damage_add(struct trace_damage d[DAMAGE_COUNT], enum trace_damage_kind kind, uint64_t line);

struct trace_unknown {
	uint32_t key;
	uint64_t count, line;
};

/* Durations that compilation_metrics report, summed over the log. */
struct trace_phase {
	uint32_t name;
	double seconds;
};

enum trace_cache { CACHE_FX_GRAPH, CACHE_AOTAUTOGRAD, CACHE_FX_BUNDLED, CACHE_OTHER, CACHE_COUNT };
extern const char *const trace_cache_name[CACHE_COUNT];

/* The trie of stacks: a node is a frame below its parent. */
struct trace_frame {
	uint32_t file, name, code;
	int32_t line;
};
struct trace_stack {
	uint32_t parent, frame;  /* NONE: top */
	uint32_t child, sibling; /* first child, next child of the same parent, in order of appearance */
	uint32_t last_child;
	uint32_t first_start; /* of the compile ids that started here: index into starts, NONE */
	uint32_t last_start;
};
struct trace_start {
	uint32_t compile, next;
};
struct trace_trie {
	struct trace_stack *node;
	uint32_t n, cap;
	struct trace_start *start;
	uint32_t n_start, cap_start;
	struct intern edges; /* {parent, frame} -> node */
};

#define ROWS(type, name) \
	type *name; \
	uint32_t n_##name, cap_##name

struct trace {
	const char *path;
	struct intern names; /* every text that rows refer to */
	struct intern ids;   /* struct compile_id -> compile, the same index */
	uint32_t *string;    /* the `str` table: number -> names, NONE for a hole */
	uint32_t n_string, cap_string;
	bool any_string;
	ROWS(struct trace_compile, compile);
	ROWS(struct trace_artifact, artifact);
	ROWS(struct trace_break, brk);
	ROWS(struct trace_recompile, recompile);
	ROWS(struct trace_failure, failure);
	ROWS(struct trace_symbol, symbol);
	ROWS(struct trace_special, special);
	ROWS(struct trace_skip, skip);
	ROWS(struct trace_unknown, unknown);
	ROWS(struct trace_phase, phase);
	ROWS(struct trace_frame, frame);
	struct intern frames;     /* struct trace_frame -> frame, the same index */
	struct trace_trie starts; /* stacks of dynamo_start */
	struct trace_trie stacks; /* stacks of records that carry one of their own (unknown where it led) */
	ROWS(struct trace_export, export);
	ROWS(struct trace_expr, expr);
	ROWS(uint32_t, expr_arg);
	struct intern expr_ids; /* ids of expressions; expr_row: the newest row of each */
	ROWS(uint32_t, expr_row);
	struct trace_trie export_stacks;
	uint64_t expr_lost;     /* expressions beyond TRACE_EXPR_MAX */
	uint32_t exported;      /* artifact of the first exported_program, NONE */
	uint64_t exported_line; /* and its line, 0 */
	ROWS(struct trace_provenance, provenance);
	struct arena links;
	struct prov_set *prov_set; /* sets not yet complete (provset.c) */
	uint32_t n_prov_set, cap_prov_set;
	size_t prov_bytes;
	struct trace_damage damage[DAMAGE_COUNT];
	const char *unread; /* a read error: why; what came before it is here. NULL */
	uint32_t number;    /* next artifact number */
	int64_t rank;       /* -1: no record names one */
	uint64_t bytes, lines, records, graphs, events, payload_bytes;
	uint64_t cache[CACHE_COUNT][3]; /* hit, miss, bypass */
	uint64_t first_usec, last_usec;
	uint16_t first_day;
	uint64_t pid;
	uint32_t torch_version; /* names, NONE */
	double compile_seconds;
	struct buf tmp, tmp2;
	struct json_tape tape; /* for payloads that reduce looks into */
	/* Set before reading: */
	bool plain_text;  /* inductor_output_code becomes a text file (-p), not a page */
	bool export_only; /* only what export makes is an artifact (-e): exported programs, and a page per guard */
	bool unlisted;    /* payloads that the directory has no numbered file for become artifacts, too (the single file) */
};

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* What an emitter adds. Any may be NULL. All return 0, or -1 to stop (with *err of trace_read filled by the emitter). */
struct trace_hooks {
	void *ctx;
	int (*raw)(void *ctx, struct trace_scan *s);                            /* side by side, before scan changes the bytes */
	int (*record)(void *ctx, struct trace_scan *s, struct trace_record *r); /* in order, after reduce took it */
	int (*window)(void *ctx, struct trace_scan *s);                         /* in order, after its last record */
	int (*emit)(void *ctx, struct trace_scan *s);                           /* side by side */
	int (*commit)(void *ctx, struct trace_scan *s);                         /* in order */
	void (*free_slot)(void *ctx, struct trace_scan *s);
	void (*progress)(void *ctx, uint64_t consumed, uint64_t size); /* in order */
	unsigned threads;                                              /* 0: as many as there are CPUs */
	unsigned share; /* this many logs are read side by side: windows are that much smaller */
	bool in_part;   /* what came before a read error is wanted, too: t->unread tells, and with it the exit status must (EXIT_INPUT) */
};

void trace_init(struct trace *t, const char *path);
void trace_release(struct trace *t);
int trace_read(struct trace *t, const struct trace_hooks *hooks, struct err *err);
/* Does this file look like a structured trace? (A record in its first 64 KiB; a .gz is looked into.) */
bool trace_is_log(const char *path);
/* "0/1", "[0/1_2]", "!1/0/0", "-_0_1_0"; without an attempt: the attempt with metrics, else the last. NULL: no such id. */
const struct trace_compile *trace_find_compile(const struct trace *t, const char *text);
bool trace_damaged(const struct trace *t);

/* The name of an artifact's file in the directory report, relative to it ("-_0_0_0/aot_forward_graph_12.txt").
 * Safe: never absolute, never with "..", no component over 255 bytes. readable: the page beside it (ART_READABLE). */
void trace_artifact_path(const struct trace *t, const struct trace_artifact *a, bool readable, struct buf *out);
/* A name from a log as one or more safe path components. True when it had to be changed. */
bool trace_safe_path(struct slice name, struct buf *out);
bool trace_guards_valid(const struct json_tape *tape, uint32_t root);

/* For tests and the fuzzer: phase 1 and 2 on bytes in memory (they are changed). */
void trace_scan_window(struct trace_scan *s);
void trace_scan_release(struct trace_scan *s);
int trace_reduce_window(struct trace *t, struct trace_scan *s, const struct trace_hooks *hooks);
size_t trace_cut(const char *data, size_t len);

/* schema.c: does value k have the fields of this kind? */
bool schema_fits(const struct json_tape *t, enum trace_kind kind, uint32_t k);
bool schema_stack(const struct json_tape *t, uint32_t k);

extern const struct trace_kind_info {
	const char *name;
	uint8_t name_len, form, flags;
} trace_kind[KIND_COUNT];
/* The kind a key names, or KIND_COUNT. */
enum trace_kind trace_kind_of(struct slice key);
/* Does a key say whose record it is (frame_id, rank, ...), and not what it is? */
bool trace_is_context(struct slice key);

#endif
