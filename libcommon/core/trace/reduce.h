/* reduce.h - what the files of phase 2 share (model.c, export.c, provset.c); nobody else includes it.
 *
 * Texts go into trace.names and are INTERN_NONE where the log has none; stacks go into a trie of the trace.
 */
#ifndef PT2_TRACE_REDUCE_H
#define PT2_TRACE_REDUCE_H
#include "trace/trace.h"

/* A string, or the text of a number. */
uint32_t reduce_scalar(struct trace *t, const struct json_tape *tape, uint32_t k);
/* A list of strings, one a line. */
uint32_t reduce_lines(struct trace *t, const struct json_tape *tape, uint32_t k);
/* The node of the stack's innermost frame, UINT32_MAX. */
uint32_t reduce_stack(struct trace *t, struct trace_trie *trie, const struct json_tape *tape, uint32_t k);
/* A new artifact of this record. The pointer is good until the next one. */
struct trace_artifact *reduce_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind,
				       struct slice name, enum trace_lang lang, unsigned flags);

/* export.c */
void export_record(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind);

/* provset.c: after a record's artifacts are known; after the last record. */
void provset_record(struct trace *t, const struct trace_scan *s, const struct trace_record *r);
void provset_end(struct trace *t);
void provset_release(struct trace *t);

#endif
