/* report.h - shared by the files of `fxexplain report`.
 *
 *     main.c          options; the text or the bundle
 *     report.c        the text, section by section
 *     repro.c         reads the comments of the --repro program
 *     facts.c         versions, settings, the environment; shortens tracebacks; finds names to redact
 */
#ifndef FXEXPLAIN_REPORT_H
#define FXEXPLAIN_REPORT_H
#include "explain/emit.h"
#include "base/emit/markdown.h"
#include "report/redact.h"

#include "base/io/mapfile.h"

enum { REPORT_MAX = 60000 };

struct report_options {
	bool redact;
	const char *repro;    /* --repro FILE */
	const char *bundle;   /* --bundle FILE */
	struct opt_list with; /* --with FILE */
};
void report_write(struct buf *b, const struct explanation *x, const struct report_options *opt);

/* The program of --repro; texts point into the file. Exits if it cannot be read. */
struct report_repro {
	struct mapfile file;
	struct buf error;                /* the original error, any number of lines; "" */
	struct slice versions, verified; /* "torch 2.13.0, ...", "fails the same way ..."; "" */
};
void report_repro_open(struct report_repro *r, const char *path);
void report_repro_close(struct report_repro *r);

struct report_text {
	struct buf *b;
	struct report_repro repro; /* all empty without one */
	const struct explanation *x;
	bool redact;
	struct redact r;
	struct buf tmp, line;
};
/* Text from the log, redacted if requested: as Markdown, as inline code, as a block of at most `most` bytes. */
void report_add_text(struct report_text *t, struct slice s);
void report_add_code(struct report_text *t, const char *before, struct slice s);
void report_add_block(struct report_text *t, const char *lang, struct slice s, size_t most);
/* Collects the names that must not appear from all facts, the environment and this machine's name. */
void report_learn(struct report_text *t);
/* The section "Versions": those of the log, settings that differ from torch's defaults, collect_env's text if an input has it. */
void report_versions(struct report_text *t);
/* A Python traceback without most of torch's own frames: of each run of them the first and last few are kept. */
void traceback_shorten(struct buf *b, struct slice stack);
/* A text without a C++ compiler's warnings and notes. */
void compiler_shorten(struct buf *b, struct slice text);

#endif
