/* textlog_part.h - internal to the reader of text logs.
 *
 *     read.c     lines: labels, record prefixes, channels (the texts of one label)      head.c: parses a prefix
 *     scan.c     a channel's text -> the parser of each line                            breaks.c, recompile.c, shapes.c,
 *                                                                                       tables.c, failure.c, native.c, misc.c
 *     identity.c the compilation that a line belongs to                                 facts_text.c: at the end of the text
 *     row.c      texts, places and numbers for rows                                   undress.c: before all of them
 *
 * A channel's text is scanned when a record ends (final), and every SCAN_AT bytes before that. A parser is called at a line that starts
 * with its keyword and returns how many lines it consumed; 0: not its line; BLOCK_MORE: the text may be incomplete. A parser that gets no
 * more lines within BLOCK_MAX bytes is called once more with final set.
 */
#ifndef PT2_TORCHLOG_PART_H
#define PT2_TORCHLOG_PART_H
#include "base/buf.h"
#include "run/textlog/textlog.h"

enum { SCAN_AT = 1 << 16, BLOCK_MAX = 1 << 18, BLOCK_MORE = UINT32_MAX >> 1 };

struct log_line {
	uint64_t no;
	uint32_t off, len; /* in the channel's text */
};

/* The fields of a record's prefix. Slices point into the prefix. */
struct log_head {
	char level;
	bool strict; /* every line of the record has the prefix */
	int32_t rank;
	uint32_t pid;
	struct slice source, compile, artifact;
	size_t len; /* bytes of the prefix, without the space after it */
};
/* Does a record's prefix start at the line's first byte? */
bool log_head_parse(struct slice line, struct log_head *out);
/* A launcher's label at the line's start: its length, 0 if there is none. *own: it says whose line it is. */
size_t log_label(struct slice line, int32_t *rank, bool *own);

enum { LABELS_MAX = 4 };
size_t log_labels(struct slice line); /* bytes of all labels */

/* The module of an exception of torch's that is named without it, "" if with it; NULL: not torch's. failure.c */
const char *log_torch_module(struct slice type);

struct block {
	struct textlog *t;
	const char *text;
	const struct log_line *line;
	uint32_t n;
	bool record, final;          /* record: the block ends where the record ends */
	const struct log_head *head; /* NULL: bare text */
	struct slice compile;        /* "0/0_1", as in the log; or empty */
	int32_t rank;                /* -1: unknown */
	uint32_t pid;                /* 0: unknown */
};
static inline struct slice block_line(const struct block *b, uint32_t i)
{
	return i < b->n ? slice_of(b->text + b->line[i].off, b->line[i].len) : slice_of("", 0);
}
/* Lines [i, j). */
static inline struct slice block_lines(const struct block *b, uint32_t i, uint32_t j)
{
	if (i >= j || i >= b->n)
		return slice_of("", 0);
	const struct log_line *last = &b->line[j <= b->n ? j - 1 : b->n - 1];
	return slice_of(b->text + b->line[i].off, last->off + last->len - b->line[i].off);
}
/* The location of row i, and the row of its compilation (identity.c) or NONE. */
static inline struct fact_src block_src(const struct block *b, uint32_t i) { return fact_src(b->t->input, i < b->n ? b->line[i].no : 0); }
uint32_t block_compile(struct block *b, uint32_t i);
/* Is the compilation of line i a new one of its process? If so, its generation may be new, too. */
void block_begins(struct block *b, bool recompile);
/* Lines of the block before byte `end` (of its text), from line i on. */
uint32_t block_lines_to(const struct block *b, uint32_t i, const char *end);

typedef uint32_t block_parser(struct block *b, uint32_t i);
block_parser parse_traceback, parse_cut_traceback, parse_classless, parse_break, parse_compiling, parse_explain, parse_dynamo_produced,
    parse_recompile, parse_recompile_tuple, parse_limit, parse_step, parse_wont_convert, parse_symbol, parse_unbacked, parse_guard,
    parse_replacement, parse_specializing, parse_violations, parse_metrics, parse_metrics_csv, parse_cache, parse_cudagraph,
    parse_debug_trace, parse_path, parse_cpp_error, parse_compiler_line, parse_signal, parse_faulthandler, parse_version, parse_terminate,
    parse_heap, parse_native_signal, parse_thread, parse_sanitizer;

/* Lines from i of the channel's text; returns how many are finished. */
uint32_t log_scan(struct block *b);
void log_index_init(uint16_t first[257]);

/* A new row of the model for line i, or NULL if there are too many. Its texts and locations are NONE, its compilation is that of the
 * line. */
#define LOG_ADD(b, i, table) \
	((b)->t->f->n_##table - (b)->t->from.table >= TEXTLOG_ROWS_MAX ? ((b)->t->rows_left++, NULL) : log_add_##table(b, i))
#define X(name, type) \
	static inline struct type *log_add_##name(struct block *b, uint32_t i) \
	{ \
		uint32_t compile = block_compile(b, i); \
		struct type *row = facts_new_##name(b->t->f, block_src(b, i)); \
		row->compile = compile; \
		return row; \
	}
FACT_TABLES(X)
#undef X
uint32_t log_text(struct textlog *t, struct slice s);
struct fact_loc log_loc(struct textlog *t, const struct srcloc *at); /* none without a file */
static inline struct slice log_get(const struct textlog *t, uint32_t id) { return facts_text(t->f, id); }
void log_rank(struct textlog *t, int32_t rank);  /* the text mentions this rank */
void log_finish(struct textlog *t);              /* facts that need the whole text */
void log_lone_compiler_error(struct textlog *t); /* failure.c */
void log_place_stacks(struct textlog *t);        /* native.c: known messages in py-spy's stacks get the user's line */

/* Slices. */
static inline struct slice slice_skip(struct slice s, size_t n) { return n < s.n ? slice_of(s.p + n, s.n - n) : slice_of(s.p + s.n, 0); }
static inline struct slice slice_upto(struct slice s, const char *end) { return slice_of(s.p, end ? (size_t)(end - s.p) : s.n); }
static inline struct slice slice_from(struct slice s, const char *p) { return slice_of(p, (size_t)(s.p + s.n - p)); }
struct slice slice_unindent(struct slice s); /* without leading spaces and tabs */
/* Take `word` off the front. */
static inline bool slice_take(struct slice *s, const char *word)
{
	if (!slice_starts(*s, word))
		return false;
	*s = slice_skip(*s, strlen(word));
	return true;
}
static inline bool slice_blank(struct slice s) { return slice_trim(s).n == 0; }
/* "app/m.py:5" -> file and line; the file may contain spaces and colons. */
bool place_parse(struct slice s, struct srcloc *out);
/* "1.25" -> 1.25; "inf" and garbage: false */
bool slice_double(struct slice s, double *out);
int64_t slice_int(struct slice s); /* -1 if it is not a number */

/* A new row for a break, or merges it into an existing one. breaks.c */
struct break_text;
struct fact_break *log_break(struct block *b, uint32_t i, const struct break_text *text, unsigned said);

struct textlog_reader {
	struct buf part; /* a line cut by a window */
	bool cut, utf16;
	struct buf clean;
	struct channel *channel;
	uint32_t n, last;
	uint64_t clock;
	uint16_t first[257]; /* scan.c: the line starts, by first byte */
};
#endif
