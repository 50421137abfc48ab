/* recorded.h - a Run of a graph of torch.compile that aoti-printer --record kept (watch/kept.h), as a program with its values.
 *
 *     struct repro r = {0};
 *     if (recorded_open(&r, "kept", &err) < 0) ...           // as repro_open: fxminify reduces it
 *     struct recorded_run again;
 *     if (recorded_again(&again, &in, TEMP_PRINTER, no_exec, &err) < 0) ...   // operands that name one become the command PYTHON repro.py
 *     ... in.command ...
 *     recorded_release(&again);
 *
 * The program is torch's own (fx_graph_runnable) and is read as any launcher is (repro.h); its inputs are those of the Run, sizes, too,
 * where they are symbols. Who runs it runs what stands in it.
 */
#ifndef PT2_REPRO_RECORDED_H
#define PT2_REPRO_RECORDED_H
#include "base/tool/opt.h"
#include "base/tool/tempfolder.h"
#include "graph/repro/repro.h"

int recorded_open(struct repro *r, const char *path, struct err *err);

struct recorded_run {
	char *folder, *command[3]; /* Python is $PT2_PYTHON or python3 */
};
/* Where the operand is a folder of a graph's Run, in->command runs it again, which is said; of a model's, which needs no torch, nothing is
 * changed. */
int recorded_again(struct recorded_run *x, struct operands *in, enum temp_kind kind, bool no_exec, struct err *err);
void recorded_release(struct recorded_run *x);

#endif
