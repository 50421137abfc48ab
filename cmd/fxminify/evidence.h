/* evidence.h - what an issue says beside the program: how many runs fail, what eager does, which settings and passes of Inductor matter,
 * what other releases do, and torch's description of the machine.
 *
 *     evidence.c   runs share/fxminify/evidence.py on the delivered program, and adds what it found to it, as comments
 *     issue.c      --form issue: the text for PyTorch's tracker
 *     script.c     runs a program of share/fxminify in the user's Python
 */
#ifndef FXMINIFY_EVIDENCE_H
#define FXMINIFY_EVIDENCE_H
#include "fxminify.h"

/* The program that was delivered. */
struct evidence_of {
	const char *path;
	const char *python;   /* NULL: $PT2_PYTHON, or python3 */
	const char *modules;  /* where it finds modules: a PYTHONPATH */
	bool reads_files;     /* of the current directory */
	double spent;         /* seconds of --max-time */
	bool inductor;        /* Inductor compiles it: its settings matter */
	bool compiles;        /* by torch.compile: otherwise torch's bisector cannot change what happens */
	bool hangs;           /* a run that does not end is the failure */
	struct slice command; /* that made it */
	struct slice from;    /* what it was made of: "100 operations"; "" */
	struct slice error;   /* the error's text, any number of lines; "": what the runs showed */
	struct slice versions;
};

/* After the result was written, and verified. Nothing is lost if it fails: then the program stays as it is, and a warning was printed. */
void evidence_add(const struct fxminify_options *o, const struct evidence_of *of);

/* --with-torch: the Pythons of these environments; die()s if there is none. */
void evidence_check(const struct fxminify_options *o);

struct evidence {
	struct buf lines;   /* "fails in 3 of 3 runs", ... */
	struct buf failure; /* "NotImplementedError: no lowering", any number of lines */
	struct buf eager;   /* what eager does: "passes" */
	struct buf machine; /* the name of the file with torch.utils.collect_env; "" */
	bool fails;
};

/* path.md beside path.py */
int issue_write(const struct fxminify_options *o, const struct evidence_of *of, const struct evidence *e, struct err *err);

/* text: parts of the script. document: its argument. env: "NAME=value", NULL at the end. 0, and the exit status; -1: err. */
int script_run(const char *python, const char *folder, const struct slice *text, size_t n, struct slice document, const char *const *env,
	       int *status, struct err *err);
const char *script_python(const struct fxminify_options *o);
#endif
