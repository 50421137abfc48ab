/* fix_part.h - what fix.c (findings -> changes), fix_files.c (the user's files) and fix_json.c share. */
#ifndef FIX_PART_H
#define FIX_PART_H
#include "diagnose/finding.h"
#include "fix/source.h"
#include "fxexplain.h"
#include "io/mapfile.h"

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
struct fix_files {
	const char *root; /* --root; NULL */
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
void fix_json(struct buf *b, const struct explanation *x, const struct fix_row *row, uint32_t n, bool applied);
#endif
