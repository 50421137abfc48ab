/* srcloc.h - where something is in a source file: the one type for it in all tools.
 *
 *     struct slice rest = slice_of(text, n);
 *     struct srcloc at;
 *     while (srcloc_next(&rest, &at))                      // every location in a log, a traceback, a graph's comments
 *         if (srcloc_is_user(at.file)) {
 *             srcloc_format(&b, &at, SRCLOC_AT, true);     // "app/m.py:19 in g"
 *             ...at.code is the line of source, when the text has it
 *         }
 *
 * The forms that are read, and who writes them:
 *   SRCLOC_PYTHON    File "app/m.py", line 5, in f           traceback.py; the next line is the code, and a line of
 *                                                            only ^ and ~ after that belongs to it (Python >= 3.11);
 *                                                            no ", in f" in a SyntaxError
 *   SRCLOC_FX        # File: app/m.py:5 in f, code: y = x    torch/fx/graph.py, readable graphs; no " in f" before 2.5
 *   SRCLOC_COMPILER  k.cpp:17:57: error: no matching ...     gcc, clang, Triton (MLIR); column is optional; also
 *                                                            note, warning, fatal error, remark
 *   SRCLOC_AT        app/m.py:19 in g                        torch's format_frame, also in brackets inside a line
 *   SRCLOC_PLAIN     app/m.py:5  or  "k.py":18:24            anything else that is clearly a file and a line
 * A plain location is believed only if the file part has a slash, an extension or <...>, so that 12:30:45,
 * localhost:8080 and {1:2} are none. Paths with spaces are understood where the form says where they begin (PYTHON,
 * FX, quoted ones, and COMPILER lines whose path begins with a slash).
 *
 * Ownership: all slices point into the text that was parsed; srcloc_copy moves them into an arena. Nothing is
 * allocated otherwise. Any bytes are accepted; the work is linear in the text. There is no failure but "none here".
 */
#ifndef PT2_SRCLOC_H
#define PT2_SRCLOC_H
#include "base/arena.h"
#include "base/buf.h"

enum srcloc_form { SRCLOC_PLAIN, SRCLOC_AT, SRCLOC_PYTHON, SRCLOC_FX, SRCLOC_COMPILER };

struct srcloc {
	struct slice file;
	struct slice func;     /* empty: not known */
	struct slice code;     /* the line of source, trimmed; empty: not known */
	struct slice severity; /* SRCLOC_COMPILER: "error", "fatal error", "warning", "note", "remark" */
	struct slice message;  /* SRCLOC_COMPILER: what follows it */
	uint32_t line;         /* from 1; 0: not known */
	uint32_t col;          /* from 1; 0: not known */
	enum srcloc_form form; /* how it was written */
};

/* The location in one line of text (the first one that counts), whatever stands before and after it. */
bool srcloc_parse(struct slice line, struct srcloc *out);
/* The next location in a text, with the code line that follows a Python one. *rest moves behind it (one location is
 * taken per line). False at the end. */
bool srcloc_next(struct slice *rest, struct srcloc *out);

/* Write it in one of the forms. short_file: as srcloc_short_file has it. What reads back: srcloc_parse of every form
 * gives the same file, line and, where the form has them, function, column, severity, message and code
 * (SRCLOC_PYTHON: two lines, for srcloc_next). */
void srcloc_format(struct buf *b, const struct srcloc *at, enum srcloc_form form, bool short_file);
struct srcloc srcloc_copy(struct arena *a, const struct srcloc *at);
/* {"file", "line", "function", "code"}; null for NULL and where the file is not known. */
struct json_out;
void srcloc_json(struct json_out *o, const struct srcloc *at);
/* By file, line, column, function: for qsort. */
int srcloc_cmp(const struct srcloc *a, const struct srcloc *b);

/* The file's name as a person wants to see it; a part (the end) of the slice given:
 *   /usr/lib/python3/site-packages/torch/_dynamo/utils.py     torch/_dynamo/utils.py
 *   /home/me/pytorch/torch/_inductor/graph.py                 torch/_inductor/graph.py   (a checkout)
 *   .../dist-packages/transformers/models/x.py                transformers/models/x.py
 *   /dev/shm/uid-0/a#link-tree/app/m.py                       app/m.py
 *   /mnt/xar/1-seed-nspid4026531836_cgpid1/app/m.py           app/m.py
 *   anything else                                             unchanged */
struct slice srcloc_short_file(struct slice file);

enum srcloc_origin {
	SRCLOC_USER,
	SRCLOC_PACKAGE,   /* somebody's installed package, not torch's: user code as far as torch is concerned */
	SRCLOC_TORCH,     /* torch, torchgen, functorch, triton; also a relative torch/x.py or _dynamo/x.py */
	SRCLOC_STDLIB,    /* Python's own library */
	SRCLOC_GENERATED, /* <eval_with_key>.3, <frozen runpy>, files of Inductor's and Triton's caches and debug
			     folders */
};
enum srcloc_origin srcloc_origin(struct slice file);
static inline bool srcloc_is_user(struct slice file) { return srcloc_origin(file) <= SRCLOC_PACKAGE; }
static inline bool srcloc_is_framework(struct slice file) { return srcloc_origin(file) == SRCLOC_TORCH; }

#endif
