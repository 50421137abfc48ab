/* journal.h - what was tried, one JSON object a line, so that --resume does not try it again.
 *
 *     struct mend_journal *j = mend_journal_open("mend.jsonl", true, "torch 2.13.0|12 steps|...", &err);
 *     const char *why = mend_journal_refused(j, texts);            // NULL: not tried, or accepted
 *     mend_journal_add(j, texts, verdict, &row);
 *     mend_journal_close(j);
 *
 * A line: {"key": hash of the texts, "program": hash of the first argument, "kind", "title", "finding", "verdict"}. Lines of another
 * program, torch or number of steps are not used. NULL as a journal is allowed everywhere: nothing is known, nothing is kept. An
 * accepted candidate is run again.
 */
#ifndef MEND_JOURNAL_H
#define MEND_JOURNAL_H
#include "mend/search.h"

struct mend_journal;
struct mend_journal *mend_journal_open(const char *path, bool resume, struct slice program, struct err *err);
const char *mend_journal_refused(const struct mend_journal *j, struct slice texts);
void mend_journal_add(struct mend_journal *j, struct slice texts, struct slice verdict, const struct search_try *row);
void mend_journal_close(struct mend_journal *j);
#endif
