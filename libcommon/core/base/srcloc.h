/* srcloc.h - a location in a source file: the one type for it in all tools.
 *
 *     struct slice rest = slice_of(text, n);
 *     struct srcloc at;
 *     while (srcloc_next(&rest, &at))                      // every location in a log, a traceback, a graph's comments
 *         if (srcloc_is_user(at.file)) {
 *             srcloc_format(&b, &at, SRCLOC_AT, true);     // "app/m.py:19 in g"
 *             ...at.code is the line of source, when the text has it
 *         }
 *
 * The forms it reads, and who writes them:
 *   SRCLOC_PYTHON    File "app/m.py", line 5, in f           traceback.py; the next line is the code, and a line of
 *                                                            only ^ and ~ after that belongs to it (Python >= 3.11);
 *                                                            no ", in f" in a SyntaxError
 *   SRCLOC_FX        # File: app/m.py:5 in f, code: y = x    torch/fx/graph.py, readable graphs; no " in f" before 2.5
 *   SRCLOC_COMPILER  k.cpp:17:57: error: no matching ...     gcc, clang, Triton (MLIR); column is optional; also
 *                                                            note, warning, fatal error, remark
 *   SRCLOC_AT        app/m.py:19 in g                        torch's format_frame, also in brackets inside a line
 *   SRCLOC_PLAIN     app/m.py:5  or  "k.py":18:24            anything else that is clearly a file and a line
 * A plain location counts only if the file part has a slash, an extension or <...>, so that 12:30:45,
 * localhost:8080 and {1:2} are not locations. Paths with spaces are accepted if the form shows where they begin (PYTHON,
 * FX, quoted ones, and COMPILER lines whose path begins with a slash).
 *
 * Ownership: all slices point into the text that was parsed; srcloc_copy moves them into an arena. Nothing is
 * allocated otherwise. Any bytes are accepted; the work is linear in the text. The only failure is "no location here".
 */
#ifndef PT2_SRCLOC_H
#define PT2_SRCLOC_H
#include "base/arena.h"
#include "base/buf.h"

enum srcloc_form { SRCLOC_PLAIN, SRCLOC_AT, SRCLOC_PYTHON, SRCLOC_FX, SRCLOC_COMPILER };

struct srcloc {
	struct slice file;
	struct slice func;     /* empty: unknown */
	struct slice code;     /* the line of source, trimmed; empty: unknown */
	struct slice severity; /* SRCLOC_COMPILER: "error", "fatal error", "warning", "note", "remark" */
	struct slice message;  /* SRCLOC_COMPILER: what follows it */
	uint32_t line;         /* from 1; 0: unknown */
	uint32_t col;          /* from 1; 0: unknown */
	enum srcloc_form form; /* how it was written */
};

/* The location in one line of text (the first that counts), whatever precedes and follows it. */
bool srcloc_parse(struct slice line, struct srcloc *out);
/* The next location in a text, with the code line that follows a Python one. Advances *rest past it (one location per line). False at the
 * end. */
bool srcloc_next(struct slice *rest, struct srcloc *out);

/* Write it in one of the forms. short_file: shortened by srcloc_short_file. It reads back: srcloc_parse of every form gives the same file,
 * line and, where the form has them, function, column, severity, message and code (SRCLOC_PYTHON: two lines, for srcloc_next). */
void srcloc_format(struct buf *b, const struct srcloc *at, enum srcloc_form form, bool short_file);
struct srcloc srcloc_copy(struct arena *a, const struct srcloc *at);
/* {"file", "line", "function", "code"}; null for NULL and if the file is unknown. */
struct json_out;
void srcloc_json(struct json_out *o, const struct srcloc *at);
/* By file, line, column, function: for qsort. */
int srcloc_cmp(const struct srcloc *a, const struct srcloc *b);

/* The file's name as shown to people: the end of the given slice:
 *   /usr/lib/python3/site-packages/torch/_dynamo/utils.py     torch/_dynamo/utils.py
 *   /home/me/pytorch/torch/_inductor/graph.py                 torch/_inductor/graph.py   (a checkout)
 *   .../dist-packages/transformers/models/x.py                transformers/models/x.py
 *   /dev/shm/uid-0/a#link-tree/app/m.py                       app/m.py
 *   /mnt/xar/1-seed-nspid4026531836_cgpid1/app/m.py           app/m.py
 *   anything else                                             unchanged */
struct slice srcloc_short_file(struct slice file);

/* Is `end` the end of the path, "app/m.py" of "/home/me/app/m.py"? torch cuts some paths inside a name: "ome/me/app/m.py". */
bool srcloc_file_ends(struct slice file, struct slice end);

enum srcloc_origin {
	SRCLOC_USER,
	SRCLOC_PACKAGE,   /* an installed package other than torch: user code as far as torch is concerned */
	SRCLOC_TORCH,     /* torch, torchgen, functorch, triton; also a relative torch/x.py or _dynamo/x.py */
	SRCLOC_STDLIB,    /* Python's own library */
	SRCLOC_GENERATED, /* <eval_with_key>.3, <frozen runpy>, files of Inductor's and Triton's caches and debug
			     folders */
};
enum srcloc_origin srcloc_origin(struct slice file);
/* Is there a package of this name in this folder? For packages outside site-packages; base/io/distinfo.h has one that looks. NULL: none
 * are known. Set before threads start. */
extern bool (*srcloc_is_installed)(struct slice folder, struct slice name);
static inline bool srcloc_is_user(struct slice file) { return srcloc_origin(file) <= SRCLOC_PACKAGE; }
static inline bool srcloc_is_framework(struct slice file) { return srcloc_origin(file) == SRCLOC_TORCH; }

#endif
