/* recorded.h - a Run of a torch.compile graph that aoti-printer --record kept (watch/kept.h), as a program with its values.
 *
 *     struct repro r = {0};
 *     if (recorded_open(&r, "kept", &err) < 0) ...           // like repro_open; for fxminify
 *     struct recorded_run again;
 *     if (recorded_again(&again, &in, TEMP_PRINTER, no_exec, &err) < 0) ...   // an operand that names one becomes the command PYTHON
 *     repro.py ... in.command ... recorded_release(&again);
 *
 * The program is torch's own (fx_graph_runnable) and is read like any launcher (repro.h); its inputs are those of the Run, sizes, too,
 * if they are symbols. Running it executes whatever it contains.
 */
#ifndef PT2_REPRO_RECORDED_H
#define PT2_REPRO_RECORDED_H
#include "base/tool/opt.h"
#include "base/tool/tempfolder.h"
#include "graph/repro/repro.h"
#include "watch/watch.h"

int recorded_open(struct repro *r, const char *path, struct err *err);

/* Values of inputs that were kept in another way: files of one tensor each, by the placeholder's name. Sizes that are symbols, and inputs
 * that are integers, follow from the tensors' sizes; an input without a file keeps what it has. */
struct recorded_value {
	struct slice name;
	const char *file;
};
int recorded_give(struct repro *r, const struct recorded_value *value, size_t n, struct err *err);

struct recorded_run {
	char *folder, *command[3]; /* Python is $PT2_PYTHON or python3 */
	struct watch_recorded as;  /* for watch_options.recorded; .bundle NULL: no graph is run again */
};
/* If the operand is a folder of a graph's Run, in->command runs it again, and a note says so; for a model's, which needs no torch, nothing
 * is changed. */
int recorded_again(struct recorded_run *x, struct operands *in, enum temp_kind kind, bool no_exec, struct err *err);
void recorded_release(struct recorded_run *x);

#endif
