/* locate.h - explain(), with failures traced back to the program: compiler errors get lines of evidence, failures that name a node of a
 * graph its line.
 *
 *     struct explanation x;
 *     explain_located(&x, &facts);    // reads traces and debug folders again only if there is such an error
 *     explanation_release(&x);
 */
#ifndef PT2_DIAGNOSE_LOCATE_H
#define PT2_DIAGNOSE_LOCATE_H
#include "run/diagnose/finding.h"

void explain_located(struct explanation *x, struct facts *f);
/* nodes.c: the part of it for graphs, before explain(): failure[i].user */
void locate_nodes(struct facts *f);

#endif
