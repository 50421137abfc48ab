/* checkinputs.h - the parts of aoti-checkinputs, in the order in which they work:
 * model/binprobe/load.h (a package -> contract) -> model/cppwrapper/operands.h (files and specs -> tensors) -> model/check/check.h ->
 * show.c or document.c. */
#ifndef CHECKINPUTS_H
#define CHECKINPUTS_H
#include "model/check/check.h"
#include "model/binprobe/load.h"
#include "model/cppwrapper/operands.h"
#include "base/tool/opt.h"
#include "base/tool/screen.h"

struct checkinputs_options {
	const char *model, *against, *torch, *log;
	bool json, doctor, probe, no_exec, all, quiet, fail;
	struct opt_pairs shape;
	int error_exitcode;
};

static inline struct load_options load_how(const struct checkinputs_options *o)
{
	return (struct load_options){o->model, o->probe, o->no_exec};
}

/* ---- what is shown ---- */

void show_contract(struct screen *s, const struct loaded *l, const struct symbind *at, bool all);
void show_check(struct screen *s, const struct loaded *l, const struct given *g, const struct check *k);

/* " as far as understood: 5 checks were not", behind a verdict; nothing where all of the text was. */
void add_unread(struct buf *b, const struct contract *c);

/* ---- document.c ---- */

/* The contract and, when they are not NULL, what was given and found, as one JSON document. */
void document_write(struct buf *b, const struct loaded *l, const struct given *g, const struct check *k, const struct symbind *at);
/* Nothing was found: true, or null where not all was understood. */
void document_verdict(struct json_out *o, const char *key, size_t n_bad, bool unread);

/* ---- one mode each: return the exit status ---- */

int run_doctor(const char *path, const struct checkinputs_options *o);
int run_against(const char *path, const struct checkinputs_options *o);
int run_live(char **command, const struct checkinputs_options *o);

#endif
