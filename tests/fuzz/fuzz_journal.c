/* Any bytes as a journal of a reduction: every text of what is read can be touched. */
#include "reduce/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int touch(struct slice s)
{
	int sink = 0;
	for (size_t i = 0; i < s.n; i++)
		sink += s.p[i];
	return sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal_record r;
	struct err err;
	if (journal_read_text(&r, slice_of((const char *)data, size), "fuzz.journal", &err) < 0)
		return 0;
	int sink = touch(r.head.input) + touch(r.head.torch) + touch(r.end);
	for (size_t i = 0; i < r.n_argv; i++)
		sink += (int)strlen(r.argv[i]);
	if (r.argv && r.argv[r.n_argv])
		abort();
	for (size_t i = 0; i < r.n_tests; i++) {
		const struct journal_test *t = &r.test[i];
		if (!t->key || t->verdict > VERDICT_FLAKY || t->outcome > OUTCOME_INFRA)
			abort();
		sink += touch(t->phase) + touch(t->signature.type) + touch(t->signature.message) + touch(t->signature.frames);
	}
	for (size_t i = 0; i < r.n_best; i++)
		sink += touch(r.best[i].file);
	journal_record_release(&r);
	return sink == INT32_MIN;
}
