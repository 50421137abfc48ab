/* kept.h - a Run that CALLS_RECORD kept (watch/bundle.h): of a model, or of a graph of torch.compile.
 *
 *     struct watch_bundle b;
 *     if (watch_bundle_open(&b, "kept", &err) < 0) ...      // "kept" or the first kept/bundle.* ; EXIT_INPUT
 *     b.library                                             // a model's; NULL: of a graph
 *     b.program                                             // a graph's, to be run by torch (graph/repro/recorded.h); NULL: of a model
 *     watch_bundle_close(&b);
 */
#ifndef PT2_LIVE_KEPT_H
#define PT2_LIVE_KEPT_H
#include "watch/inputs.h"

struct watch_bundle {
	char *folder, *library, *program; /* paths */
	char *graph, *finding;            /* "3_backward", ""; what was found in the Run, or "" */
	char *table, *text;               /* of a graph: paths of its names (bundle.h) and its generated Python; NULL */
	uint64_t run;                     /* which one it was in its process */
	struct watch_bundle_input {
		char *file; /* NULL: it is `number` */
		int64_t number;
		struct tensor_meta meta;
	} * input;
	size_t n;
};
int watch_bundle_open(struct watch_bundle *b, const char *path, struct err *err);
/* The text of an index (bundle.h), of the bundle in this folder; what: used in messages. */
FOR_TESTS int watch_bundle_read(struct watch_bundle *b, struct slice text, const char *folder, const char *what, struct err *err);
int watch_bundle_inputs(const struct watch_bundle *b, struct inputs *in, const struct contract *c, struct err *err);
/* Copies the elements of one, with these sizes and strides, to `to`, which has room for them. */
int watch_bundle_values(const struct watch_bundle_input *x, const struct tensor_meta *meta, char *to, struct err *err);
void watch_bundle_close(struct watch_bundle *b);

#endif
