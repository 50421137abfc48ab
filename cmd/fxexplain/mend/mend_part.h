/* mend_part.h - shared by main.c, show.c, patch.c and json.c. */
#ifndef MEND_PART_H
#define MEND_PART_H
#include "mend/search.h"
#include "base/tool/screen.h"

struct mend_about { /* what was asked, and what the server said */
	const struct mend_program *program;
	char *const *command; /* as it was given */
	int steps, runs, budget;
	bool confined, cuda;
	struct slice torch, python, read_only;
	double start_seconds;
};

/* ---- show.c: what is printed while it runs, and at the end ---- */
/* Before the first run: what will be run, how often, and what is kept from it. On standard error. */
void show_promise(const struct mend_about *about);
/* search.show; arg: a struct screen, flushed at each line. */
void show_event(void *arg, const struct mend_search *s, enum search_event e, const struct search_try *t);
void show_end(struct screen *out, const struct mend_search *s, const struct mend_about *about, const char *patch, bool applied);

/* ---- patch.c: the result as a patch, or in the files ---- */
/* A unified diff of all files, relative to the working directory; how many. */
unsigned patch_text(struct buf *b, const struct mend_search *s);
/* Changes the files, keeps each one as FILE.orig; a line for each of them in b. */
int patch_apply(struct buf *b, const struct mend_search *s, struct err *err);

/* ---- json.c: docs/formats/MEND.md ---- */
void mend_json(struct buf *b, const struct mend_search *s, const struct mend_about *about, struct slice patch);
#endif
