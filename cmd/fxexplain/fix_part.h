/* fix_part.h - what fix.c (findings -> changes), fix_files.c (the user's files), fix_json.c and serve.c share. */
#ifndef FIX_PART_H
#define FIX_PART_H
#include "fix/edit.h"
#include "fix/source.h"
#include "run/diagnose/finding.h"
#include "fxexplain.h"
#include "base/io/mapfile.h"

#include <sys/stat.h>

struct fix_file {
	uint32_t id;      /* of its path in the trace, facts.names */
	char *path;       /* where it is; NULL: why says what is wrong with it */
	const char *name; /* part of path: below the root, what stands in a diff */
	struct mapfile map;
	struct stat was;
	struct source source;
	struct buf said; /* a line of each fix that is in it */
	char *why;
	char *kept; /* --apply: where it is as it was */
};
/* The text of a file as an editor has it, which lives as long as the files; false: as it is on the disk. */
typedef bool fix_text_fn(void *of, const char *path, struct slice *text);
struct fix_files {
	const char *root; /* --root; NULL */
	fix_text_fn *text;
	void *of;
	struct fix_file **v;
	uint32_t n, cap;
};
/* The file of a trace's path: below the root the longest end of it that is there, without --root that very path before. */
struct fix_file *fix_file(struct fix_files *files, uint32_t id, struct slice path);
void fix_files_release(struct fix_files *files);
/* Writes the file as it is changed, and keeps it as it was under f->kept: a name that was not there. */
int fix_write(struct fix_file *f, struct slice text, struct err *err);

/* A fix that was made (file, its changes: none where another fix makes the same), or why it was not. */
struct fix_row {
	const struct finding *finding;
	struct slice what, fix; /* the problem; the line of the fix, as printed */
	const char *why;        /* NULL: made */
	const struct fix_file *file;
	const struct change *change;
	uint32_t n_change;
};

/* The findings of logs, and the changes of the user's files that their fixes are. */
struct fixing {
	const struct explain_options *opt;
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
/* The logs are read and explained; nothing is left to end when it fails. */
int fixing_begin(struct fixing *fix, const struct explain_options *opt, const char *const *path, int n, unsigned *lost, struct err *err);
/* A row for each fix, made or not; undone, to make them again when the files are others. */
void fixing_make(struct fixing *fix);
void fixing_undo(struct fixing *fix);
void fixing_end(struct fixing *fix);
/* Is the line of the file still what the log says it was? */
bool fixing_holds(const struct fixing *fix, const struct source *s, const struct fact_loc *loc);

void fix_json(struct buf *b, const struct explanation *x, const struct fix_row *row, uint32_t n, bool applied);
#endif
