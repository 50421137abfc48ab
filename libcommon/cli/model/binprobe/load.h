/* load.h - a package and the contract of one of its models, wherever it comes from. For tools: it says on standard error
 * where a contract was found if that is not the text.
 *
 *     struct loaded l;
 *     if (load_model(&l, "model.pt2", (struct load_options){.model = name}, &err) < 0) ...
 *     l.contract ...
 *     loaded_release(&l);
 *
 * The text is read if there is one. A library without text, or with one that is not understood, is probed (binprobe.h) unless
 * no_exec. A package that is damaged is never run: -1. With .probe both are done and compared.
 */
#ifndef PT2_LOAD_H
#define PT2_LOAD_H
#include "model/contract/contract.h"
#include "model/package/package.h"

struct load_options {
	const char *model; /* one of several; NULL: the only one */
	bool probe, no_exec;
};

struct loaded {
	struct package pkg;
	struct package_model *model;
	struct contract contract;
	struct comparison compared; /* of .probe: text against binary */
	/* The binary's own contract; only where .probe was asked for, the text was not understood everywhere, and the binary was
	 * followed to its end. */
	struct contract binary;
	bool probed, has_binary, read; /* read: there is a text, and it is a wrapper */
};

int load_model(struct loaded *l, const char *path, struct load_options o, struct err *err);
/* The package and, if it has a text, its contract; never the binary's. */
int load_text(struct loaded *l, const char *path, struct load_options o, struct err *err);
void loaded_release(struct loaded *l);

#endif
