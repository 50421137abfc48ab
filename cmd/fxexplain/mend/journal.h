/* journal.h - what was tried, one JSON object a line, so that --resume does not try it again.
 *
 *     struct journal *j = journal_open("mend.jsonl", true, "torch 2.13.0|12 steps|...", &err);
 *     const char *why = journal_refused(j, texts);            // NULL: not tried, or accepted
 *     journal_add(j, texts, verdict, &row);
 *     journal_close(j);
 *
 * A line: {"key": hash of the texts, "program": hash of the first argument, "kind", "title", "finding", "verdict"}. Lines of another program, torch or
 * number of steps are not used. NULL as a journal is allowed everywhere: nothing is known, nothing is kept. An accepted candidate is run again.
 */
#ifndef MEND_JOURNAL_H
#define MEND_JOURNAL_H
#include "mend/search.h"

struct journal;
struct journal *journal_open(const char *path, bool resume, struct slice program, struct err *err);
const char *journal_refused(const struct journal *j, struct slice texts);
void journal_add(struct journal *j, struct slice texts, struct slice verdict, const struct search_try *row);
void journal_close(struct journal *j);
#endif
