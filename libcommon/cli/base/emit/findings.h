/* findings.h - the findings of any tool's JSON document as rows: what they have in common.
 *
 *     struct findings f = {0};
 *     findings_read(&f, &tape, root);                  // docs/formats: arrays "findings", at the top or one level below
 *     for (size_t i = 0; i < f.n; i++) ... f.v[i].level, .id, .title, .file, .line, .more
 *     findings_release(&f);
 *
 * What a member is called in which document is known here alone. A finding of the level "ok" (--doctor) is none.
 */
#ifndef PT2_FINDINGS_H
#define PT2_FINDINGS_H
#include "base/arena.h"
#include "base/json.h"

struct finding_row {
	const char *level;  /* "error", "warning", "note" */
	struct slice id;    /* "dtype", "nan-produced", "memory" */
	struct slice title; /* one line */
	struct slice more;  /* why, fix: lines */
	struct slice fix;   /* the first fix */
	struct slice file;  /* of the program, or the model; empty: unknown */
	uint64_t line;      /* 0: unknown */
};
struct findings {
	struct finding_row *v;
	size_t n, cap;
	struct arena arena;
};
void findings_read(struct findings *f, const struct json_tape *t, uint32_t root);
void findings_release(struct findings *f);

#endif
