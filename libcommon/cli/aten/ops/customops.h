/* customops.h - operators of the user's own (torch.library) that a graph calls, computed by the user's Python.
 *
 *     struct custom_ops *c = custom_ops_start(&(struct custom_ops_spec){.file = "ops.py"}, &err);  // before broker_seal()
 *     if (custom_ops_ready(c, &err) < 0) ...
 *     program.more = custom_ops_more(c);                                                            // interp.h
 *     custom_ops_end(c);                                                                            // after the last run; NULL is fine
 *
 * FILE is a Python program that defines operators when it is imported, or a library that does when torch.ops.load_library() loads it. It
 * runs as the user's own program, with the user's Python and torch: it is not confined, as no command of the user's is (broker.h). It is
 * started before the tool reads anything untrusted, has no core file, and dies with the tool. What a graph can ask of it are the operators
 * that FILE added to torch's, and no others (torch.ops.aten.from_file opens files).
 *
 * The two talk over a socket, share/ops/serve.py is the other end: a message is the lengths of a JSON text and of the bytes behind it (two
 * little-endian uint64), the text, the bytes. The first one is {"ops": ["mylib.op.default", ...]} or {"error": "..."}; then each
 *     {"op": "mylib.op.default", "double": false, "args": [...], "kwargs": {...}}
 * is answered by {"result": ...} or {"error": "..."}. Values are as in JSON, and
 *     {"float": "1.5"} {"complex": ["0", "1"]} {"list": [...]} {"dtype": "float32"} {"device": "cpu"} {"layout": "strided"}
 *     {"memory_format": "channels_last"} {"tensor": "float32", "size": [2, 3], "stride": [3, 1], "at": 0}
 * a tensor's bytes begin at `at` behind the text, as many as its sizes and strides span.
 */
#ifndef PT2_CUSTOM_OPS_H
#define PT2_CUSTOM_OPS_H
#include "aten/interp/interp.h"
#include "base/tool/opt.h"

struct custom_ops_spec {
	const char *file, *python; /* file NULL: none; python NULL: $PT2_PYTHON, or python3 */
	int timeout_s;             /* for its start, and for each call; 0: 600 */
};
struct custom_ops;
/* NULL and err (EXIT_ENVIRON): no such Python; a file that cannot be read. NULL without .file, with err unchanged. */
struct custom_ops *custom_ops_start(const struct custom_ops_spec *spec, struct err *err);
const struct interp_more *custom_ops_more(const struct custom_ops *c); /* NULL: c is NULL */
/* Waits until it serves; c NULL: nothing to wait for. EXIT_ENVIRON: what FILE raised. */
int custom_ops_ready(struct custom_ops *c, struct err *err);
/* Which of the operators it computed, each once: "mylib.op.default". NULL after the last. */
const char *custom_ops_used(const struct custom_ops *c, size_t i);
void custom_ops_end(struct custom_ops *c);

/* clang-format off */
#define CUSTOM_OPS_OPTIONS(ops_) \
	OPT_STRING(0, "ops", "FILE", &(ops_).file, "compute a graph's custom operators with Python", \
		   .more = "FILE defines them: a .py with torch.library, or a library. Runs as your program."), \
	OPT_STRING(0, "python", "PROGRAM", &(ops_).python, "use this Python with torch for --ops", .rare = true, \
		   .more = "Default: $PT2_PYTHON, or python3.")
#define CUSTOM_OPS_RULE {.of = "python", .without = "ops", .text = "--python requires --ops"}
/* clang-format on */

#endif
