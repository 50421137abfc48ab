/* names.h - forward()'s names for the inputs of a compiled model, which knows them by their place only: args[0].
 *
 *     struct given g;
 *     if (names_given(&g, &l, &l.contract, NULL, operands, n, false, &err) < 0) ...   // batch.npz of numpy.savez(ids=..., x=...)
 *     given_release(&g);                                                              // model/cppwrapper/operands.h
 *
 * The names are those of an exported program (torch.export.save) that takes the same inputs: as many, with the same types, ranks and fixed
 * sizes. They are lent only once a name is met that no input has: by the program that the user named, else by the package itself, else
 * by those beside it (.pt2 files of its folder), if all that fit agree; a note says which file that was. Nothing is run.
 *
 * The names are the contract's from then on (contract_input.alias).
 */
#ifndef PT2_NAMES_H
#define PT2_NAMES_H
#include "model/binprobe/load.h"
#include "model/cppwrapper/operands.h"

/* 1: c has its names; 0: nothing lends any; -1: `exported` (may be NULL) cannot be read, or takes other inputs. */
int names_lend(const struct loaded *l, struct contract *c, const char *exported, struct err *err);
/* given_read(), or with `all` given_read_all(), for a contract of l. */
int names_given(struct given *g, const struct loaded *l, struct contract *c, const char *exported, const char *const *operands, int n,
		bool all, struct err *err);

#endif
