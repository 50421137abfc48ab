/* journal.c - see journal.h. */
#include "mend/journal.h"

#include "base/io/mapfile.h"
#include "base/io/write.h"
#include "base/tool/diag.h"

#include <fcntl.h>
#include <unistd.h>

struct known {
	uint64_t key;
	char *verdict;
};
struct mend_journal {
	int fd;
	char *path;
	uint64_t program;
	struct known *known;
	size_t n, cap;
};

static void read_lines(struct mend_journal *j, struct slice text)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	struct slice line;
	while (slice_line(&text, &line)) {
		uint32_t root;
		json_tape_text(&t, line.p, line.n);
		if (!line.n || json_parse(&t, 0, line.n, &root) < 0 || json_count(&t, root, "program", 0) != j->program)
			continue;
		char *verdict = json_strdup(&t, root, "verdict");
		if (verdict && *verdict)
			PUSH_TO(j->known, j->n, j->cap) = (struct known){json_count(&t, root, "key", 0), verdict};
		else
			free(verdict);
	}
}

struct mend_journal *mend_journal_open(const char *path, bool resume, struct slice program, struct err *err)
{
	struct mend_journal *j = xcalloc(1, sizeof(*j));
	j->program = hash_bytes(program.p, program.n) >> 1;
	j->path = xstrdup(path);
	if (resume && access(path, F_OK) == 0) {
		struct mapfile m;
		if (mapfile_open(&m, path, err) < 0) {
			j->fd = -1;
			mend_journal_close(j);
			return NULL;
		}
		read_lines(j, m.bytes);
		mapfile_close(&m);
	}
	j->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (resume ? 0 : O_TRUNC), 0666);
	if (j->fd >= 0)
		return j;
	err_errno(err, EXIT_ENVIRON, "cannot write '%s'", path);
	mend_journal_close(j);
	return NULL;
}

const char *mend_journal_refused(const struct mend_journal *j, struct slice texts)
{
	uint64_t key = hash_bytes(texts.p, texts.n) >> 1;
	for (size_t i = 0; j && i < j->n; i++)
		if (j->known[i].key == key)
			return j->known[i].verdict;
	return NULL;
}

void mend_journal_add(struct mend_journal *j, struct slice texts, struct slice verdict, const struct search_try *row)
{
	LOCAL_BUF b = {0};
	struct json_out o = {.b = &b};
	struct err err = {.text = ""};
	if (!j)
		return;
	json_obj(&o);
	json_member_u64(&o, "key", hash_bytes(texts.p, texts.n) >> 1);
	json_member_u64(&o, "program", j->program);
	json_member_str(&o, "kind", row->kind);
	json_member_str(&o, "title", row->title);
	json_member_str(&o, "finding", row->finding);
	json_member_str(&o, "verdict", verdict.n ? verdict : SLICE(""));
	json_close(&o);
	buf_addc(&b, '\n');
	if (write_all(j->fd, b.p, b.len, j->path, &err) < 0)
		warn("%s", err.text);
}

void mend_journal_close(struct mend_journal *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->n; i++)
		free(j->known[i].verdict);
	if (j->fd >= 0)
		close(j->fd);
	free(j->known);
	free(j->path);
	free(j);
}
