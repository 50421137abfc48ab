/* journal.h - records every test of a reduction as a line of JSON, for --resume, --stats, and people.
 *
 *     struct journal *j = journal_create("repro.py.journal", &head, &err);
 *     journal_test(j, &(struct journal_test){.key = ..., .verdict = VERDICT_SAME, ...});
 *     journal_best(j, 9, "repro.py");
 *     journal_close(j);
 *
 *     {"journal":"pt2utils.fxminify/1","version":"0.1.0","input":"launcher.py","hash":"93c1…","argv":["--after","aot",…],
 *      "environment":{"OMP_NUM_THREADS":"1",…},"torch":"2.13.0+cpu"}
 *     {"test":1,"key":"5be0…","verdict":"fails-same","outcome":"raised","type":"CppCompileError","message":"…","frames":"…","ops":147,
 *      "seconds":6.91,"phase":"Original","at":0.2}
 *     {"test":2,…,"outcome":"crashed","type":"SIGSEGV",…,"printed":"the end of what it printed before it died\n",…}
 *     {"best":9,"file":"repro.py","at":12.5}
 *     {"end":"reduced","tests":31,"at":20.1}
 *
 * `key` is candidate_hash, in hexadecimal; `at` is seconds since the start. A line is written with one write(2): a killed process leaves
 * complete lines, and at most one truncated line, which a reader skips. Resuming appends {"resume":…} and continues in the same file.
 *
 * Failure: -1 and err; a full disk is reported once (journal_failed), and the reduction continues without a journal.
 */
#ifndef PT2_REDUCE_JOURNAL_H
#define PT2_REDUCE_JOURNAL_H
#include "reduce/oracle.h"

#define JOURNAL_SCHEMA "pt2utils.fxminify/1"

struct journal_head {
	struct slice input, torch;
	uint64_t hash;           /* of the input's bytes */
	const char *const *argv; /* the command line without the program's name; NULL-terminated */
	const char *const *env;  /* NAME=VALUE, NULL-terminated: the oracle's environment; may be NULL */
};
struct journal_test {
	uint64_t key;
	enum verdict verdict;
	enum outcome_kind outcome;
	struct signature signature;
	uint64_t test, ops;
	double seconds, at;
	struct slice phase;
	struct slice printed; /* its last JOURNAL_PRINTED bytes are kept */
};
#define JOURNAL_PRINTED 2000

struct journal;
/* Refuses to overwrite a file that is not a journal. */
struct journal *journal_create(const char *path, const struct journal_head *head, struct err *err);
struct journal *journal_append(const char *path, struct err *err);
void journal_test(struct journal *j, const struct journal_test *t);
void journal_best(struct journal *j, uint64_t ops, const char *file, double at);
void journal_end(struct journal *j, const char *how, uint64_t tests, double at);
/* Why a line could not be written, once; NULL. */
const char *journal_failed(struct journal *j);
void journal_close(struct journal *j);

/* Reading. Texts are valid as long as the record. */
struct journal_record {
	struct arena arena;
	struct journal_head head;
	char **argv;
	size_t n_argv;
	struct journal_test *test;
	size_t n_tests, cap_tests;
	struct journal_best {
		uint64_t ops;
		double at;
		struct slice file;
	} * best;
	size_t n_best, cap_best;
	size_t bad_lines; /* truncated or foreign */
	size_t resumed;
	struct slice end; /* "" if it has not ended */
};
int journal_read(struct journal_record *r, const char *path, struct err *err);
FOR_TESTS int journal_read_text(struct journal_record *r, struct slice text, const char *path, struct err *err);
void journal_record_release(struct journal_record *r);

#endif
