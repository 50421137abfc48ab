/* reduce.h - shared by the files of phase 2, which turns records, in order, into the rows of struct trace. Nothing else includes it.
 *
 *     reduce.c          a window's records one by one: compile ids, artifacts, symbols, the content of each kind of record
 *     reduce_text.c     breaks and recompiles from their texts, restarts, compilation metrics
 *     reduce_stack.c    interned strings, frames, stacks as tries
 *     identity.c        whose record it is: process, generation, compilation, attempt
 *     export.c          torch.export's records
 *     provset.c         provenance sets
 *
 *     model.c           struct trace itself: setup and release, compile ids as text, queries after reading
 *     paths.c           the files that artifacts become
 *
 * Texts go into trace.names and are NONE if the log has none; stacks go into a trie of the trace. trace.tmp and tmp2 hold the current text:
 * calling one of these functions overwrites it. Rows may move when one is added: keep indices. Code needed for every record or frame is in
 * this header or next to its caller: a call across files is measurable on a large log.
 */
#ifndef PT2_TRACE_REDUCE_H
#define PT2_TRACE_REDUCE_H
#include "run/trace/trace.h"

static inline uint32_t reduce_name(struct trace *t, struct slice s) { return intern_add(&t->f->names, s); }
static inline uint32_t reduce_name_or_none(struct trace *t, struct slice s) { return s.n ? reduce_name(t, s) : NONE; }

static inline uint32_t reduce_token(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	return json_is(tape, k, JSON_STRING) ? reduce_name(t, json_text_at(tape, k, &t->tmp)) : NONE;
}
/* A string, or the text of a number: values of symbols may be ints, floats or strings. */
static inline uint32_t reduce_scalar(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	if (k == NONE || json_is(tape, k, JSON_NULL))
		return NONE;
	return json_is(tape, k, JSON_STRING) ? reduce_token(t, tape, k) : reduce_name(t, json_slice(tape, k));
}

/* ---- reduce_text.c ---- */
/* A list of strings, one per line: in t->tmp2, or as a name. */
struct slice reduce_list_text(struct trace *t, const struct json_tape *tape, uint32_t k);
static inline uint32_t reduce_lines(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	return reduce_name_or_none(t, reduce_list_text(t, tape, k));
}
/* A new artifact of this record. The pointer is valid until the next one. */
struct trace_artifact *reduce_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind,
				       struct slice name, enum trace_lang lang, unsigned flags);

/* For the current record (t->at), and its artifact. */
void reduce_break(struct trace *t, struct slice payload);
void reduce_recompile(struct trace *t, struct slice payload);
/* {"pytorch_version": ...}: the first one counts. */
void reduce_version(struct trace *t, const struct json_tape *tape, uint32_t v);
/* Adds up the durations in a metrics record. */
void reduce_phases(struct trace *t, const struct json_tape *tape, uint32_t v);
void reduce_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r);
void reduce_bwd_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind);

/* ---- reduce_stack.c ---- */
/* {"str": ["file.py", 3]}: file names that frames refer to by number. */
void reduce_string(struct trace *t, struct trace_scan *s, struct trace_record *r, uint64_t line);
/* The node of the stack's innermost frame, NONE if k is not a list, or is empty. */
uint32_t reduce_stack(struct trace *t, struct trace_trie *trie, const struct json_tape *tape, uint32_t k);
/* The same for a compile id's dynamo_start, which is recorded at that node, without Dynamo's own frames. */
uint32_t reduce_start(struct trace *t, const struct json_tape *tape, uint32_t k, uint32_t compile);
/* The innermost frame of value's user_stack that is in a file: the location in the user's program. */
struct fact_loc reduce_user_loc(struct trace *t, const struct json_tape *tape, uint32_t value);

/* ---- identity.c ---- */
/* t->now: the process that wrote this record, new or known. */
void identity_process(struct trace *t, const struct trace_scan *s, const struct trace_record *r);
/* The attempt it belongs to, new or known; seconds: since the log's first record. */
uint32_t identity_attempt(struct trace *t, const struct trace_scan *s, const struct trace_record *r, double seconds);
/* After the last record: what only finding owners needs is freed. */
void identity_end(struct trace *t);
/* The newest attempt with these numbers, or NONE. */
uint32_t identity_newest(const struct trace *t, const struct compile_id *id);

/* export.c */
void export_record(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind);

/* provset.c: call the first once a record's artifacts are known, the second after the last record. */
void provset_record(struct trace *t, const struct trace_scan *s, const struct trace_record *r);
void provset_end(struct trace *t);
void provset_release(struct trace *t);

#endif
