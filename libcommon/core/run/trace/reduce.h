/* reduce.h - what the files of phase 2 share: records, in order, into the rows of struct trace. Nobody else includes it.
 *
 *     reduce.c          a window's records one by one: compile ids, artifacts, symbols, what each kind of record says
 *     reduce_text.c     breaks and recompiles out of their texts, restarts, compilation metrics
 *     reduce_stack.c    interned strings, frames, stacks in tries
 *     identity.c        whose record it is: process, generation, compilation, attempt
 *     export.c          what torch.export logs
 *     provset.c         provenance sets
 *
 *     model.c           struct trace itself: begin and end, compile ids in words, what is asked of it afterwards
 *     paths.c           the files that artifacts become
 *
 * Texts go into trace.names and are NONE where the log has none; stacks go into a trie of the trace. trace.tmp and tmp2 hold
 * the text at hand: who calls one of these loses what is there. Rows may move when one is added: keep indices.
 * What every record or frame needs is in this header or beside its caller: a call across files shows in the time of a large log.
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

/* ---- reduce.c ---- */
/* A list of strings, one a line: in t->tmp2, or as a name. */
struct slice reduce_list_text(struct trace *t, const struct json_tape *tape, uint32_t k);
static inline uint32_t reduce_lines(struct trace *t, const struct json_tape *tape, uint32_t k)
{
	return reduce_name_or_none(t, reduce_list_text(t, tape, k));
}
/* A new artifact of this record. The pointer is good until the next one. */
struct trace_artifact *reduce_artifact(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind,
				       struct slice name, enum trace_lang lang, unsigned flags);

/* ---- reduce_text.c ---- */
/* Of the record at hand (t->at), and its artifact. */
void reduce_break(struct trace *t, struct slice payload);
void reduce_recompile(struct trace *t, struct slice payload);
/* {"pytorch_version": ...}: the first one counts. */
void reduce_version(struct trace *t, const struct json_tape *tape, uint32_t v);
/* The durations of a record of metrics, added up. */
void reduce_phases(struct trace *t, const struct json_tape *tape, uint32_t v);
void reduce_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r);
void reduce_bwd_metrics(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind);

/* ---- reduce_stack.c ---- */
/* {"str": ["file.py", 3]}: file names that frames name by number. */
void reduce_string(struct trace *t, struct trace_scan *s, struct trace_record *r, uint64_t line);
/* The node of the stack's innermost frame, NONE when k is no list or empty. */
uint32_t reduce_stack(struct trace *t, struct trace_trie *trie, const struct json_tape *tape, uint32_t k);
/* The same of a compile id's dynamo_start, which is noted at that node, without Dynamo's own frames. */
uint32_t reduce_start(struct trace *t, const struct json_tape *tape, uint32_t k, uint32_t compile);
/* The innermost frame of value's user_stack that is in a file: where in the user's program it happened. */
struct fact_loc reduce_user_loc(struct trace *t, const struct json_tape *tape, uint32_t value);

/* ---- identity.c ---- */
/* t->now: the process that wrote this record; a new one, or one that is known. */
void identity_process(struct trace *t, const struct trace_scan *s, const struct trace_record *r);
/* The attempt that it is of, a new one or one that is known; seconds: since the log's first record. */
uint32_t identity_attempt(struct trace *t, const struct trace_scan *s, const struct trace_record *r, double seconds);
/* The newest attempt with these numbers; NONE. */
uint32_t identity_newest(const struct trace *t, const struct compile_id *id);

/* export.c */
void export_record(struct trace *t, struct trace_scan *s, struct trace_record *r, enum trace_kind kind);

/* provset.c: after a record's artifacts are known; after the last record. */
void provset_record(struct trace *t, const struct trace_scan *s, const struct trace_record *r);
void provset_end(struct trace *t);
void provset_release(struct trace *t);

#endif
