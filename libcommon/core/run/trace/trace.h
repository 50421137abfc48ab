/* trace.h - reads structured traces: the logs PyTorch writes with TORCH_TRACE=dir.
 *
 * The format (torch 2.13.0: torch/_logging/_internal.py, TorchLogsFormatter and trace_structured):
 *
 *     V1121 07:59:23.043000 1234 torch/_dynamo/convert_frame.py:915] {"dynamo_start": {...}, "frame_id": 0, ...}
 *     V1121 07:59:23.050000 1234 torch/_dynamo/guards.py:2000] {"artifact": {"name": ...}, "has_payload": "<md5>"}
 *     <TAB>first line of the payload
 *     <TAB>second line
 *
 * A line is a glog prefix and an envelope (one JSON object). If it has has_payload, the following lines that start with a tab are its
 * payload; has_payload is the MD5 of the payload (tabs removed, lines joined by newlines). Anything may precede the glog prefix (a job
 * scheduler's label), and the date may include the year (V20261121). Blank lines are ignored. A carriage return before the newline is
 * dropped. Stack frames refer to files by numbers that earlier `str` records of the same log define.
 *
 * Reading has three phases, run on windows of the file by base/pool, so that memory does not grow with the file:
 *
 *     scan    in parallel    lines -> trace_record: prefix, envelope tokens, kinds, compile id, payload, MD5
 *     reduce  in order       records -> struct trace: numbering, strings, compile ids, artifacts, breaks, symbols, ...
 *     emit    in parallel    an emitter writes what it needs from the records while they are in memory
 *
 * A reader of facts (tlparse --json, fxexplain) needs no emitter:
 *
 *     struct trace t;
 *     trace_init(&t, path, NULL);
 *     if (trace_read(&t, NULL, &err) < 0)
 *         die_err(&err);
 *     const struct fact_attempt *c = trace_find_compile(&t, "0/1");     // the events at compile id 0/1
 *     ... t.artifact[], t.f->brk[], t.f->recompile[], t.f->failure[], t.f->symbol[]: each row has its compile id
 *     trace_release(&t);
 *
 * An emitter passes a struct trace_hooks. Everything in struct trace belongs to it and lives until trace_release;
 * records and windows live only during the hook they are passed to.
 *
 * Errors: trace_read fails only if the log cannot be opened, the system cannot read it to its end (but see in_part), or not a single record
 * in it can be read. Lesser damage is in t.damage, with its first line, and the rest of the log is read.
 */
#ifndef PT2_TRACE_H
#define PT2_TRACE_H
#include "base/hash.h"
#include "base/io/window.h"
#include "base/json.h"
#include "base/md5many.h"
#include "run/facts.h"
#include "run/generation.h"
#include "run/trace/kinds.h"
#include "run/trace/provenance.h"

/* ---- phase 1: records of a window ----------------------------------------------------------------------------- */

enum record_flags {
	REC_PAYLOAD = 1,       /* the envelope has has_payload */
	REC_MD5_BAD = 2,       /* ... and it is not the payload's */
	REC_NO_PREFIX = 4,     /* no glog prefix: not a record at all; text is the line */
	REC_NO_JSON = 8,       /* the envelope is not a JSON object */
	REC_MALFORMED = 16,    /* a field has a wrong type, or a key is duplicated */
	REC_LOOSE = 32,        /* JSON that strict readers refuse (NaN, lone surrogates, nesting of 128 and more) */
	REC_NOT_UTF8 = 64,     /* envelope or payload contains invalid UTF-8 */
	REC_YEAR = 128,        /* the date includes the year */
	REC_OTHER_RANK = 256,  /* belongs to another rank than the log (set by reduce) */
	REC_RESERVED = 512,    /* the envelope has a key that raw.jsonl adds (timestamp, thread, pathname, lineno) */
	REC_GUARDS_BAD = 1024, /* dynamo_guards: the payload is not a list of guards */
	REC_ORPHAN = 2048,     /* a payload line without an envelope (with REC_NO_PREFIX) */
	REC_NO_ATTEMPT = 4096,
	REC_UNKNOWN = 8192, /* has a key unknown to this version */
	REC_LAST = 16384,   /* the last record of a log that ends without a newline, or in an incomplete payload */
};

/* Offsets are bytes in window.data; tokens are in scan.tape. */
struct trace_record {
	uint32_t line;  /* in the window, from 0; scan.first_line + line is the log's, from 1 */
	uint32_t start; /* of the line that the envelope is in */
	uint32_t flags;
	uint64_t kinds; /* bit per enum trace_kind */
	uint32_t envelope, envelope_len;
	uint32_t root;                 /* token of the envelope, NONE if it is not JSON; an event's may have only has_payload */
	uint32_t payload, payload_len; /* tabs removed, contiguous */
	uint32_t payload_lines;
	uint32_t value;          /* token of the value of the one kind named; see trace_value */
	uint32_t has_payload;    /* token of the MD5 text, or NONE */
	uint32_t stack;          /* token of the envelope's own stack, or NONE */
	uint32_t subgraph;       /* token of subgraph_name (torch 2.15: which region Inductor compiles by itself), or NONE */
	int32_t nodes;           /* FX nodes of a graph payload, -1 if it is not one */
	uint32_t first_artifact; /* set by reduce: artifacts [first, first + n) */
	uint16_t artifacts;
	uint16_t month_day; /* month * 100 + day */
	uint16_t year;      /* 0 if not in the prefix */
	int64_t rank;       /* -1: none */
	uint64_t thread;
	uint64_t usec;               /* of the day */
	uint32_t source, source_len; /* the path in the prefix, with the space before it */
	uint32_t source_line;
	uint32_t attempt; /* set by reduce: row of facts.attempt, or NONE */
	struct compile_id id;
	uint8_t md5[16], want[16]; /* of the payload as read, and as in has_payload */
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
	void *emit;   /* the emitter's own, per slot */
	void *events; /* facts_phases.c's */
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

enum trace_lang { LANG_TEXT, LANG_JSON, LANG_PY, LANG_CPP };
enum artifact_flags {
	ART_HTML = 1,      /* shown as a page in the directory */
	ART_JSON = 2,      /* name ends in .json */
	ART_GLOBAL = 4,    /* without a number in its name (dump_file/) */
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
	uint32_t attempt, name; /* attempt: row of facts.attempt; name: without number and extension */
	uint32_t number;        /* in the directory report, counted as in the Rust tlparse */
	uint32_t size;          /* bytes of payload */
	uint64_t line : 40, kind : 8, lang : 4, flags : 12;
	int32_t nodes;
	float seconds;              /* since the log's first record */
	uint32_t next, folder_next; /* next of the same attempt, next in the same folder; or NONE */
	uint32_t block, offset;     /* for the emitter: where the payload is */
	uint32_t extra;             /* link: URL in trace.names */
	uint32_t subgraph;          /* of names: the region of the graph that it belongs to; or NONE */
};

/* The contents of a log for one compile id as torch prints it, whatever its run or process: a folder of the directory report. */
struct trace_folder {
	uint32_t last;                          /* its newest attempt; fact_attempt.before */
	uint32_t first_artifact, last_artifact; /* in log order, by trace_artifact.folder_next; or NONE */
};
/* The compilations of a process with the same id, one in each generation; open: how many have not ended. */
struct trace_same {
	uint32_t newest, open;
};
struct trace_open {
	uint32_t same;         /* of t->same */
	uint32_t before;       /* the previous compilation with the same id, or NONE */
	bool started, closed;  /* dynamo_start, compilation_metrics */
	int64_t graph_attempt; /* of its last dynamo_output_graph, or -1 */
	int32_t backwards;     /* backward graphs not compiled yet */
};
/* A process that wrote to the log. */
struct trace_process {
	uint64_t pid;
	struct generation generation;
	int64_t captured;  /* in this generation: the highest "!N" whose graph was seen; or -1 */
	uint32_t capture;  /* attempt of the last "!N", until something in it is compiled; or NONE */
	uint32_t exported; /* compilation without a dynamo_start, until its metrics, which have no id, are read; or NONE */
	bool table;        /* its string 0 was defined */
	uint32_t *string;  /* the `str` table: number -> names, NONE for a gap */
	uint32_t n_string, cap_string;
};

/* Findings of torch.export and draft_export (records of export.c). loc: the innermost frame of the user's stack. */
enum trace_export_kind {
	EXPORT_GUARD,          /* guard_added, prefix eval: a guard was evaluated while exporting */
	EXPORT_SPECIALIZED,    /* propagate_real_tensors_provenance: data-dependent, went on with the real value */
	EXPORT_DATA_DEPENDENT, /* guard_on_data_dependent_error: data-dependent, export failed */
	EXPORT_MISSING,        /* missing_fake_kernel */
	EXPORT_MISMATCHED,     /* mismatched_fake_kernel */
};
struct trace_export {
	struct fact_src src;
	uint32_t page; /* artifact: in the directory of -e, or NONE */
	uint32_t compile;
	struct fact_loc loc;
	enum trace_export_kind kind;
	uint32_t expr; /* the expression, or the operator without a good fake kernel */
	uint32_t result, reason;
	uint32_t sources, locals;   /* "s77 = L['x'].size()[0]", one per line */
	uint32_t node;              /* row of trace.expr: origin of the expression, or NONE */
	uint32_t user_stack, stack; /* nodes of trace.export_stacks, or NONE */
};
/* A symbolic expression, from expression_created or create_unbacked_symbol. Its arguments are earlier rows, so the rows form a DAG whatever
 * the log contains: an id refers to the latest row with it when the record was written (ids are Python's id() and are reused). At most
 * TRACE_EXPR_MAX rows are kept, with TRACE_ARGS_MAX arguments each. */
enum { TRACE_EXPR_MAX = 1 << 20, TRACE_ARGS_MAX = 64 };
struct trace_expr {
	uint64_t id;
	struct fact_src src;
	struct fact_loc loc;
	uint32_t method, result, args; /* args: texts, one per line; method NONE: an unbacked symbol */
	uint32_t first_arg, n_arg;     /* of trace.expr_arg: rows of trace.expr */
	uint32_t user_stack, stack;
};
/* An expression and its operands: depth first, each once, at most max steps. Returns how many were written. */
struct trace_expr_step {
	uint32_t row, depth;
};
uint32_t trace_expr_history(const struct trace *t, uint32_t row, struct trace_expr_step *step, uint32_t max);

/* One Inductor compilation with node mappings (provenance.h): which artifacts belong together, and the line links between
 * them. A compile id has several: forward, backward, and again after a cache hit. Texts are kept only from the record that contains them to
 * the one that completes the set (the kernel stack traces, the next graph of the same compile id, the compilation metrics, the end), and at
 * most TRACE_TEXTS_MAX bytes of them; the oldest set is then linked with what it has. */
enum { TRACE_TEXTS_MAX = 16 << 20 };
struct trace_provenance {
	uint32_t attempt;
	uint32_t artifact[PROV_TEXTS]; /* NONE: not in the log */
	struct slice links;            /* JSON (provenance_json), "<" written as \u003c; in trace.links */
};
/* Which part of such a set an artifact is; PROV_TEXTS: none. */
enum prov_text trace_provenance_part(const struct trace *t, const struct trace_artifact *a);

/* Damage in a log. One row per kind: how many times, and first where. */
#define TRACE_DAMAGE(X) \
	X(INPUT, "input", "the file could be read only up to here") \
	X(TRUNCATED, "truncated", "the log ends inside a record; its available part is shown") \
	X(PREFIX, "not_a_record", "lines that are not records (no prefix like 'V1121 07:59:23.043000 PID path:LINE]')") \
	X(ORPHAN, "orphan_payload", "payload lines whose record is missing (two writers in one file, or lines lost)") \
	X(JSON, "bad_json", "records whose envelope is not JSON; shown under other records") \
	X(MALFORMED, "malformed", "records with a field of a wrong type, or JSON that strict readers refuse; shown under other records") \
	X(MD5, "bad_md5", "payloads that were changed (MD5 differs); shown as found") \
	X(UTF8, "not_utf8", "records with bytes that are not UTF-8; shown with replacement characters") \
	X(RANK, "other_rank", "records of another rank than the log's first; shown under other records") \
	X(GUARDS, "bad_guards", "dynamo_guards payloads that are not a list of guards; shown as text") \
	X(ENCODING, "bad_encoding", "artifacts with an encoding other than string or json; shown as text") \
	X(STRINGS, "bad_string_table", "str records that cannot be read") \
	X(RESERVED, "reserved_key", "records left out of raw.jsonl: they use a key that raw.jsonl adds") \
	X(NAME, "unsafe_name", "names that would leave the output directory or are not valid file names; made safe")

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

/* Durations from compilation_metrics, summed over the log. */
struct trace_phase {
	uint32_t name;
	double seconds;
};

/* The trie of stacks: a node is a frame below its parent. */
struct trace_frame {
	uint32_t file, name, code;
	int32_t line;
};
struct trace_stack {
	uint32_t parent, frame;  /* NONE: top */
	uint32_t child, sibling; /* first child, next child of the same parent, in order of appearance */
	uint32_t last_child;
	uint32_t first_start; /* of the compile ids that started here: index into starts, or NONE */
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

struct trace {
	const char *path;
	struct facts *f; /* the model being filled: attempts, breaks, recompiles, failures, symbols, bounds, ...; and all names */
	struct facts *own;
	uint32_t input;        /* row of f->input */
	struct fact_rows from; /* rows already in f before this log */
	struct fact_src at;    /* the current record */
	uint64_t elapsed;      /* its microseconds since the log's first record */
	struct row_index ids;  /* by struct compile_id: rows of folder */
	ROWS(struct trace_folder, folder);
	ROWS(struct trace_process, process);
	uint32_t now; /* the process of the current record */
	/* identity.c */
	struct generations generations;
	struct row_index same_ids; /* by process and numbers of the compilation */
	ROWS(struct trace_same, same);
	ROWS(struct trace_open, open);   /* by row of f->compile, minus from.compile */
	uint32_t last_same, last_folder; /* of the previous record: most records have the same id */
	bool any_string, exports;        /* exports: torch/export is in a stack */
	ROWS(struct trace_artifact, artifact);
	ROWS(struct trace_unknown, unknown);
	ROWS(struct trace_phase, phase);
	ROWS(struct trace_frame, frame);
	struct intern frames;     /* struct trace_frame -> frame, the same index */
	struct trace_trie starts; /* stacks of dynamo_start */
	struct trace_trie stacks; /* stacks of records that have their own (leading to an unknown place) */
	ROWS(struct trace_export, export);
	ROWS(struct trace_expr, expr);
	ROWS(uint32_t, expr_arg);
	struct intern expr_ids; /* ids of expressions; expr_row: the newest row of each */
	ROWS(uint32_t, expr_row);
	struct trace_trie export_stacks;
	uint64_t expr_lost;     /* expressions beyond TRACE_EXPR_MAX */
	uint32_t exported;      /* artifact of the first exported_program, or NONE */
	uint64_t exported_line; /* and its line, or 0 */
	ROWS(struct trace_provenance, provenance);
	struct arena links;
	struct prov_set *prov_set; /* sets not yet complete (provset.c) */
	uint32_t n_prov_set, cap_prov_set;
	size_t prov_bytes;
	struct trace_damage damage[DAMAGE_COUNT];
	const char *unread; /* reason for a read error; everything before it was read. Or NULL */
	uint32_t number;    /* next artifact number */
	int64_t rank;       /* -1: no record names one */
	uint64_t bytes, lines, records, graphs, events, payload_bytes;
	uint64_t first_usec, last_usec;
	uint16_t first_day;
	uint64_t pid;
	uint32_t torch_version; /* names, or NONE */
	double compile_seconds;
	struct buf tmp, tmp2;
	struct json_tape tape; /* for payloads that reduce looks into */
	/* Set before reading: */
	bool plain_text;  /* inductor_output_code becomes a text file (-p), not a page */
	bool export_only; /* only torch.export's output becomes artifacts (-e): exported programs, and a page per guard */
	bool unlisted;    /* payloads without a numbered file in the directory become artifacts, too (single file) */
};

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* The functions of an emitter. Any may be NULL. All return 0, or -1 to stop (the emitter then fills trace_read's *err). */
struct trace_hooks {
	void *ctx;
	int (*raw)(void *ctx, struct trace_scan *s);                            /* in parallel, before scan changes the bytes */
	int (*record)(void *ctx, struct trace_scan *s, struct trace_record *r); /* in order, after reduce processed it */
	int (*window)(void *ctx, struct trace_scan *s);                         /* in order, after its last record */
	int (*emit)(void *ctx, struct trace_scan *s);                           /* in parallel */
	int (*commit)(void *ctx, struct trace_scan *s);                         /* in order */
	void (*free_slot)(void *ctx, struct trace_scan *s);
	void (*progress)(void *ctx, uint64_t consumed, uint64_t size); /* in order */
	unsigned threads;                                              /* 0: one per CPU */
	unsigned share;             /* this many logs are read in parallel: windows are that much smaller */
	struct trace_reading *rows; /* for trace_read_facts() */
	bool in_part;               /* keep what was read before a read error: check t->unread, and exit with EXIT_INPUT if it is set */
};

/* Reads into f, as one more input; NULL: into a model of its own. */
void trace_init(struct trace *t, const char *path, struct facts *f);
/* The file name with this number in the current record's process, or NONE. */
uint32_t trace_string(const struct trace *t, uint64_t i);
void trace_keep_strings(struct trace *t); /* for further logs of the same processes */
/* The same over all processes, the last definition wins: the table of raw.jsonl. The number of strings; one of them. */
uint64_t trace_strings(const struct trace *t);
uint32_t trace_string_of_any(const struct trace *t, uint64_t i);
void trace_release(struct trace *t);
int trace_read(struct trace *t, const struct trace_hooks *hooks, struct err *err);
/* Like trace_read, and also fills everything derived once the log has been read: whole compilations, kinds of breaks, tracebacks, metrics,
 * phases. (trace_read alone fills only facts from single records.) o NULL: texts are not searched. */
int trace_read_facts(struct trace *t, const struct facts_options *o, const struct trace_hooks *hooks, struct err *err);
/* A trace as one more input of f. */
int facts_add_trace(struct facts *f, const char *path, const struct facts_options *o, struct err *err);
/* Does this file look like a structured trace? (A record in its first 64 KiB; a .gz is decompressed.) A file that cannot be read at the
 * moment (an I/O error, no descriptor) counts as one: reading it then fails, and says why. (input_failed_here(), window.h.) */
bool trace_is_log(const char *path);
/* "0/1", "[0/1_2]", "!1/0/0", "-_0_1_0"; without an attempt: the attempt with metrics, else the last. NULL: no such id. */
FOR_TESTS const struct fact_attempt *trace_find_compile(const struct trace *t, const char *text);
/* The artifact with this number, or NULL. */
const struct trace_artifact *trace_numbered(const struct trace *t, uint32_t number);
/* This attempt of this generation, or NULL. */
const struct fact_attempt *trace_attempt(const struct trace *t, const struct compile_id *id, uint32_t process, uint32_t generation);
bool trace_damaged(const struct trace *t);

/* The name of an artifact's file in the directory report, relative to it ("-_0_0_0/aot_forward_graph_12.txt").
 * Safe: never absolute, never with "..", no component over 255 bytes. readable: the page beside it (ART_READABLE). */
void trace_artifact_path(const struct trace *t, const struct trace_artifact *a, bool readable, struct buf *out);
/* A name from a log as one or more safe path components. True if it had to be changed. */
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
/* The kind with this key, or KIND_COUNT. */
enum trace_kind trace_kind_of(struct slice key);
/* Is it a context key (frame_id, rank, ...) rather than a kind? */
bool trace_is_context(struct slice key);

#endif
