/* fix_part.h - shared by fixing.c (findings -> changes), files.c (the user's files), main.c, json.c and serve/. */
#ifndef FIX_PART_H
#define FIX_PART_H
#include "fix/edit.h"
#include "fix/source.h"
#include "run/diagnose/finding.h"
#include "explain/explain.h"
#include "base/io/mapfile.h"

#include <sys/stat.h>

struct fix_file {
	uint32_t id;      /* of its path in the trace, facts.names */
	char *path;       /* on disk; NULL: see why */
	const char *name; /* part of path: relative to the root, as shown in a diff */
	struct mapfile map;
	struct stat was;
	struct source source;
	struct buf said; /* a line for each fix made in it */
	char *why;
	char *kept; /* --apply: where the original is kept */
};
/* The text of a file open in an editor, valid as long as the files; false: use the one on disk. */
typedef bool fix_text_fn(void *of, const char *path, struct slice *text);
struct fix_files {
	const char *root; /* --root; NULL */
	fix_text_fn *text;
	void *of;
	struct fix_file **v;
	uint32_t n, cap;
};
/* The file for a path in a trace: the longest suffix of it that exists below the root; without --root, first the path itself. */
struct fix_file *fix_file(struct fix_files *files, uint32_t id, struct slice path);
void fix_files_release(struct fix_files *files);
/* Writes the changed file, and keeps the original as f->kept, a new name. */
int fix_write(struct fix_file *f, struct slice text, struct err *err);

/* A fix that was made (file, changes: none if another fix makes the same ones), or why it was not. */
struct fix_row {
	const struct finding *finding;
	struct slice what, fix; /* the problem; the line of the fix, as printed */
	const char *why;        /* NULL: made */
	const struct fix_file *file;
	const struct change *change;
	uint32_t n_change;
};

/* The findings of logs, and the edits of the user's files that fix them. */
struct fixing {
	const struct explain_options *opt;
	const char *only; /* fixes that contain this; NULL: all */
	struct facts facts;
	struct explanation x;
	struct edit_rules rules;
	struct fix_files files;
	struct intern said;
	struct fix_row *row;
	uint32_t n_row, cap_row;
	uint32_t made, refused;
	struct arena arena;
};
/* Reads and explains the logs; nothing needs releasing if it fails. how: its opt, only and files.root. */
int fixing_begin(struct fixing *fix, const struct fixing *how, const char *const *path, int n, unsigned *lost, struct err *err);
/* A row for each fix, made or not; fixing_undo() discards them, to redo them after the files changed. */
void fixing_make(struct fixing *fix);
void fixing_undo(struct fixing *fix);
void fixing_end(struct fixing *fix);
/* Is the line of the file still the one in the log? */
bool fixing_holds(const struct fixing *fix, const struct source *s, const struct fact_loc *loc);

void fix_json(struct buf *b, const struct explanation *x, const struct fix_row *row, uint32_t n, bool applied);
#endif
