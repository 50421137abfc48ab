/* notebook.h - what the cells of a Jupyter notebook printed, as one text: tracebacks, output, standard error (nbformat 4).
 *
 *     if (notebook_text(&b, "app.ipynb", &err) < 0) ...    // EXIT_INPUT: it cannot be read, or is not JSON
 *     b.len == 0                                           // nothing was printed
 */
#ifndef PT2_NOTEBOOK_H
#define PT2_NOTEBOOK_H
#include "base/buf.h"

int notebook_text(struct buf *b, const char *path, struct err *err);

#endif
