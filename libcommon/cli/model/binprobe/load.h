/* load.h - a package and the contract of one of its models, from any source. For tools: it reports on standard error
 * where the contract comes from, unless it is the text.
 *
 *     struct loaded l;
 *     if (load_model(&l, "model.pt2", (struct load_options){.model = name}, &err) < 0) ...
 *     l.contract ...
 *     loaded_release(&l);
 *
 * The text is read if there is one. A library without text, or with one that we do not understand, is probed (binprobe.h) unless
 * no_exec. A damaged package is never run: -1. With .probe both are done and compared.
 */
#ifndef PT2_LOAD_H
#define PT2_LOAD_H
#include "model/contract/contract.h"
#include "model/package/package.h"

struct load_options {
	const char *model; /* which model, when there are several; NULL: the only one */
	bool probe, no_exec;
};

struct loaded {
	struct package pkg;
	struct package_model *model;
	struct contract contract;
	struct comparison compared; /* of .probe: text against binary */
	/* The binary's own contract; only if .probe is set, the text was not fully understood, and the binary was
	 * run to its end. */
	struct contract binary;
	bool probed, has_binary, read; /* read: there is a text that is a wrapper */
};

int load_model(struct loaded *l, const char *path, struct load_options o, struct err *err);
/* Loads the package and, if it has a text, its contract; never the binary's. */
int load_text(struct loaded *l, const char *path, struct load_options o, struct err *err);
void loaded_release(struct loaded *l);

#endif
