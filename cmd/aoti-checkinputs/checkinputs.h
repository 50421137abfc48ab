/* checkinputs.h - the files of aoti-checkinputs, in the order of the data flow:
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

/* ---- output ---- */

void show_contract(struct screen *s, const struct loaded *l, const struct symbind *at, bool all);
void show_check(struct screen *s, const struct loaded *l, const struct given *g, const struct check *k);

/* " as far as known: 5 checks were not understood", after a verdict; nothing if all of the code was understood. */
void add_unread(struct buf *b, const struct contract *c);

/* ---- values.c ---- */

/* For inputs that fit: a CHECK_VALUE for each input of indices with one that is out of range, by the graph that the package carries (an
 * exported program is one), or that of another file (NULL: none). -1: the graph or the values cannot be read, or it is another model's. */
int check_values(struct check *k, struct loaded *l, const char *against, struct given *g, struct err *err);

/* ---- document.c ---- */

/* The contract and, if not NULL, the given inputs and the findings, as one JSON document. */
void document_write(struct buf *b, const struct loaded *l, const struct given *g, const struct check *k, const struct symbind *at);
/* For no findings: true, or null if not everything was understood. */
void document_verdict(struct json_out *o, const char *key, size_t n_bad, bool unread);

/* ---- one mode each: return the exit status ---- */

int run_doctor(const char *path, const struct checkinputs_options *o);
int run_against(const char *path, const struct checkinputs_options *o);
int run_live(char **command, const struct checkinputs_options *o);

#endif
