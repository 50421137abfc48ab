/* journal.c - see journal.h. */
#include "reduce/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/io/mapfile.h"
#include "base/jsonrow.h"
#include "base/tool/output.h"

struct journal {
	int fd;
	struct buf line;
	struct err failed;
	bool told;
};

static void flush_line(struct journal *j)
{
	buf_addc(&j->line, '\n');
	if (!j->failed.text[0])
		write_all(j->fd, j->line.p, j->line.len, "the journal", &j->failed);
	buf_reset(&j->line);
}

/* ---- the lines, written and read ---- */

static void head_row(struct json_row *r, struct journal_head *h)
{
	row_text(r, "input", &h->input);
	row_hex(r, "hash", &h->hash);
}

static void test_row(struct json_row *r, struct journal_test *t)
{
	row_u64(r, "test", &t->test);
	row_hex(r, "key", &t->key);
	row_word(r, "verdict", (int *)&t->verdict, verdict_words, VERDICTS);
	row_word(r, "outcome", (int *)&t->outcome, outcome_words, OUTCOMES);
	row_text(r, "type", &t->signature.type);
	row_text(r, "message", &t->signature.message);
	row_text(r, "frames", &t->signature.frames);
	row_some(r, "printed", &t->printed);
	row_u64(r, "ops", &t->ops);
	row_seconds(r, "seconds", &t->seconds);
	row_text(r, "phase", &t->phase);
	row_seconds(r, "at", &t->at);
}

static void best_row(struct json_row *r, struct journal_best *b)
{
	row_u64(r, "best", &b->ops);
	row_text(r, "file", &b->file);
	row_seconds(r, "at", &b->at);
}

/* ---- writing ---- */

static void write_head(struct journal *j, const struct journal_head *h)
{
	struct json_out o = {.b = &j->line};
	struct journal_head head = *h;
	json_obj(&o);
	json_member(&o, "journal", SLICE(JOURNAL_SCHEMA));
	json_member(&o, "version", SLICE(PT2_VERSION));
	head_row(&(struct json_row){.o = &o}, &head);
	json_member_arr(&o, "argv");
	for (size_t i = 0; h->argv && h->argv[i]; i++)
		json_out_str(&o, slice_str(h->argv[i]));
	json_close(&o);
	json_member_obj(&o, "environment");
	for (size_t i = 0; h->env && h->env[i]; i++) {
		const char *eq = strchr(h->env[i], '=');
		if (!eq)
			continue;
		json_key_slice(&o, slice_of(h->env[i], (size_t)(eq - h->env[i])));
		eq[1] ? json_out_str(&o, slice_str(eq + 1)) : json_out_null(&o);
	}
	json_close(&o);
	json_member(&o, "torch", h->torch);
	json_close(&o);
	flush_line(j);
}

/* A journal's first line identifies it. */
static int check_ours(int fd, const char *path, struct err *err)
{
	char first[128];
	size_t n = 0;
	ssize_t r;
	while ((r = pread(fd, first + n, sizeof(first) - n, (off_t)n)) > 0 || (r < 0 && errno == EINTR))
		n += r > 0 ? (size_t)r : 0;
	if (r < 0 && errno != ESPIPE)
		return err_errno(err, EXIT_INPUT, "cannot read the journal '%s'", path);
	if (n && !memmem(first, n, JOURNAL_SCHEMA, sizeof(JOURNAL_SCHEMA) - 1))
		return err_set(err, EXIT_USAGE, "'%s' exists and is not an fxminify journal: choose another --journal", path);
	return 0;
}

static struct journal *open_journal(const char *path, int flags, struct err *err)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | flags, 0666);
	if (fd < 0) {
		err_errno(err, EXIT_ENVIRON, "cannot write the journal '%s'", path);
		return NULL;
	}
	if (check_ours(fd, path, err) < 0) {
		close(fd);
		return NULL;
	}
	struct journal *j = xcalloc(1, sizeof(*j));
	j->fd = fd;
	return j;
}

struct journal *journal_create(const char *path, const struct journal_head *head, struct err *err)
{
	struct journal *j = open_journal(path, O_CREAT, err);
	if (!j)
		return NULL;
	if (ftruncate(j->fd, 0) < 0 && errno != EINVAL) {
		err_errno(err, EXIT_ENVIRON, "cannot empty the journal '%s'", path);
		journal_close(j);
		return NULL;
	}
	write_head(j, head);
	return j;
}

struct journal *journal_append(const char *path, struct err *err)
{
	struct journal *j = open_journal(path, 0, err);
	if (!j)
		return NULL;
	/* A truncated last line must not run into the next. */
	char last = '\n';
	off_t end = lseek(j->fd, 0, SEEK_END);
	if (end > 0 && pread(j->fd, &last, 1, end - 1) == 1 && last != '\n')
		flush_line(j);
	buf_adds(&j->line, "{\"resume\":true}");
	flush_line(j);
	return j;
}

/* Does not start in the middle of a character. */
static struct slice end_of(struct slice text)
{
	size_t cut = text.n > JOURNAL_PRINTED ? text.n - JOURNAL_PRINTED : 0;
	while (cut < text.n && ((unsigned char)text.p[cut] & 0xc0) == 0x80)
		cut++;
	return slice_of(text.p + cut, text.n - cut);
}

void journal_test(struct journal *j, const struct journal_test *t)
{
	if (!j)
		return;
	struct json_out o = {.b = &j->line};
	json_obj(&o);
	struct journal_test row = *t;
	row.printed = end_of(t->printed);
	test_row(&(struct json_row){.o = &o}, &row);
	json_close(&o);
	flush_line(j);
}

void journal_best(struct journal *j, uint64_t ops, const char *file, double at)
{
	if (!j)
		return;
	struct json_out o = {.b = &j->line};
	json_obj(&o);
	best_row(&(struct json_row){.o = &o}, &(struct journal_best){.ops = ops, .file = slice_str(file), .at = at});
	json_close(&o);
	flush_line(j);
}

void journal_end(struct journal *j, const char *how, uint64_t tests, double at)
{
	if (!j)
		return;
	struct json_out o = {.b = &j->line};
	json_obj(&o);
	json_member(&o, "end", slice_str(how));
	json_member_u64(&o, "tests", tests);
	json_member_double(&o, "at", at, 3);
	json_close(&o);
	flush_line(j);
}

const char *journal_failed(struct journal *j)
{
	if (!j || !j->failed.text[0] || j->told)
		return NULL;
	j->told = true;
	return j->failed.text;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	close(j->fd);
	buf_release(&j->line);
	free(j);
}

/* ---- reading ---- */

struct reading {
	struct journal_record *r;
	struct json_tape tape;
};

static struct json_row row_of(const struct reading *d, uint32_t o)
{
	return (struct json_row){.t = &d->tape, .at = o, .arena = &d->r->arena};
}

static void read_head(struct reading *d, uint32_t o)
{
	struct journal_record *r = d->r;
	struct json_row row = row_of(d, o);
	head_row(&row, &r->head);
	row_text(&row, "torch", &r->head.torch);
	json_each(&d->tape, json_get(&d->tape, o, "argv"), k) {
		r->argv = xreallocarray(r->argv, r->n_argv + 2, sizeof(*r->argv));
		r->argv[r->n_argv++] = (char *)(uintptr_t)json_dup_at(&d->tape, k, &r->arena).p;
		r->argv[r->n_argv] = NULL;
	}
}

static bool read_test(struct reading *d, uint32_t o)
{
	struct journal_record *r = d->r;
	struct json_row row = row_of(d, o);
	struct journal_test t = {0};
	test_row(&row, &t);
	if (!t.key || !slice_is(json_word(&d->tape, o, "verdict"), verdict_words[t.verdict]))
		return false;
	t.signature.kind = t.outcome;
	PUSH_TO(r->test, r->n_tests, r->cap_tests) = t;
	return true;
}

static bool read_line(struct reading *d, struct slice line)
{
	struct journal_record *r = d->r;
	uint32_t o;
	json_tape_text(&d->tape, line.p, line.n);
	if (json_parse(&d->tape, 0, line.n, &o) < 0 || !json_is(&d->tape, o, JSON_OBJECT))
		return false;
	if (json_get(&d->tape, o, "test") != NONE)
		return read_test(d, o);
	if (json_get(&d->tape, o, "best") != NONE) {
		GROW(r->best, r->n_best, r->cap_best, 1);
		struct json_row row = row_of(d, o);
		best_row(&row, &r->best[r->n_best++]);
		return true;
	}
	if (json_get(&d->tape, o, "end") != NONE) {
		r->end = json_dup(&d->tape, o, "end", &d->r->arena);
		return true;
	}
	if (json_get(&d->tape, o, "resume") != NONE) {
		r->resumed++;
		r->end = SLICE("");
		return true;
	}
	return false;
}

/* Its first line. */
static bool is_ours(struct reading *d, struct slice *rest, uint32_t *o)
{
	struct slice line;
	if (!slice_line(rest, &line) || line.n > UINT32_MAX)
		return false;
	json_tape_text(&d->tape, line.p, line.n);
	return json_parse(&d->tape, 0, line.n, o) == 0 && json_is(&d->tape, *o, JSON_OBJECT) &&
	       slice_is(json_word(&d->tape, *o, "journal"), JOURNAL_SCHEMA);
}

int journal_read_text(struct journal_record *r, struct slice rest, const char *path, struct err *err)
{
	*r = (struct journal_record){0};
	struct reading d = {.r = r};
	struct slice line;
	uint32_t o;
	int status = 0;
	if (is_ours(&d, &rest, &o))
		read_head(&d, o);
	else
		status = err_set(err, EXIT_INPUT,
				 "'%s' is not an fxminify journal (its first line is not {\"journal\":\"" JOURNAL_SCHEMA "\",...})", path);
	while (status == 0 && slice_line(&rest, &line))
		if (line.n && (line.n > UINT32_MAX || !read_line(&d, line)))
			r->bad_lines++;
	json_tape_release(&d.tape);
	if (status < 0)
		journal_record_release(r);
	return status;
}

int journal_read(struct journal_record *r, const char *path, struct err *err)
{
	*r = (struct journal_record){0};
	OWNED(mapfile_close) struct mapfile m = {0};
	if (mapfile_open(&m, path, err) < 0)
		return -1;
	return journal_read_text(r, m.bytes, path, err);
}

void journal_record_release(struct journal_record *r)
{
	arena_release(&r->arena);
	free(r->argv);
	free(r->test);
	free(r->best);
	*r = (struct journal_record){0};
}
