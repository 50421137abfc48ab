/* result.c - writes the best result so far, and candidates for --test. */
#include "fxminify.h"

#include "graph/fxcode.h"
#include "graph/graph_forms.h"
#include "graph/repro/graph_json.h"
#include "base/html/html.h"

#include <unistd.h>

static struct repro with_lines(const struct subject *in, const struct candidate *c)
{
	struct repro r = in->repro;
	r.line = c->line;
	r.n_lines = c->n_lines;
	return r;
}

static void json_text(const struct subject *in, const struct candidate *c, struct buf *b)
{
	struct repro r;
	candidate_repro(c, &in->repro, &r);
	graph_json_write(&r, b);
	candidate_repro_release(&r);
}

static int program_text(const struct subject *in, const struct candidate *c, struct buf *b, struct err *err)
{
	struct repro head = with_lines(in, c);
	struct repro_given *given = candidate_given(c, &in->repro);
	struct repro_program p = {.style = REPRO_LAUNCHER, .graph = &c->graph, .given = given, .n_given = c->n_feeds};
	int status = repro_text(&head, &p, b, err);
	free(given);
	return status;
}

int result_candidate_text(const struct subject *in, const struct candidate *c, struct buf *b, struct err *err)
{
	switch (in->kind) {
	case SUBJECT_JSON: json_text(in, c, b); return 0;
	case SUBJECT_READABLE: fxcode_write(&c->graph, FXCODE_READABLE, b); return 0;
	default: return program_text(in, c, b, err);
	}
}

/* ---- the result ---- */

enum format { FORMAT_PROGRAM, FORMAT_JSON, FORMAT_READABLE, FORMAT_DOT };

static bool ends(const char *path, const char *with)
{
	size_t n = strlen(path), m = strlen(with);
	return n > m && !strcmp(path + n - m, with);
}

static enum format format_of(const char *path)
{
	return ends(path, ".json") ? FORMAT_JSON : ends(path, ".dot") ? FORMAT_DOT : ends(path, ".txt") ? FORMAT_READABLE : FORMAT_PROGRAM;
}

bool result_is_program(const char *path) { return strcmp(path, "-") != 0 && format_of(path) == FORMAT_PROGRAM; }

char *result_data(const char *path) { return xasprintf("%.*s.data", (int)(ends(path, ".py") ? strlen(path) - 3 : strlen(path)), path); }

static struct repro_note note_of(const struct result *r)
{
	return (struct repro_note){
	    .tool = SLICE("fxminify " PT2_VERSION),
	    .command = buf_slice(&r->command),
	    .original = slice_str(r->in->path),
	    .signature = buf_slice(&r->signature),
	    .verified = buf_slice(&r->verified),
	    .versions = buf_slice(&r->versions),
	    .error = buf_slice(&r->error),
	    .more = buf_slice(&r->more),
	    .origin = buf_slice(&r->origin),
	};
}

enum repro_check result_check(const struct signature *want)
{
	static const char *const exact[] = {"integer", "bool", "number"};
	if (want->kind != OUTCOME_ACCURACY)
		return REPRO_CHECK_RUNS;
	if (slice_any(want->message, exact, slice_is))
		return REPRO_CHECK_EQUAL;
	return slice_is(want->message, "shape") ? REPRO_CHECK_SHAPE : REPRO_CHECK_SAME;
}

/* path NULL: its text as a program into text. */
static int write_result(const struct result *r, const char *path, struct buf *text, const struct candidate *c,
			const struct repro_given *given, struct err *err)
{
	struct repro head = with_lines(r->in, c);
	struct repro_note note = note_of(r);
	FREED struct repro_given *own = given ? NULL : candidate_given(c, &r->in->repro);
	struct repro_program p = {.style = r->form == FORM_PLAIN ? REPRO_PLAIN : REPRO_ALONE,
				  .graph = &c->graph,
				  .given = given ? given : own,
				  .n_given = c->n_feeds,
				  .note = &note,
				  .seed = r->seed,
				  .check = r->check,
				  .dynamic = r->dynamic,
				  .inner = r->inner,
				  .spellings = share_file("fxminify/spellings.txt")};
	struct screen s = {0};
	struct buf *b = &s.b;
	int status = 0;
	if (!path)
		return repro_text(&head, &p, text, err);
	enum format format = format_of(path);
	if (format == FORMAT_JSON)
		json_text(r->in, c, b);
	else if (format == FORMAT_DOT)
		graph_dot(&c->graph, b);
	else if (format == FORMAT_READABLE)
		fxcode_write(&c->graph, FXCODE_READABLE, b);
	else if (!strcmp(path, "-"))
		status = repro_text(&head, &p, b, err);
	else
		status = repro_save(&head, &p, path, err);
	if (status == 0 && b->len)
		status = strcmp(path, "-") ? screen_save(&s, path, err) : screen_flush(&s, err);
	buf_release(b);
	return status;
}

int result_write(const struct result *r, const struct candidate *c, const struct repro_given *given, struct err *err)
{
	return write_result(r, r->path, NULL, c, given, err);
}

int result_write_to(const struct result *r, const char *path, const struct candidate *c, const struct repro_given *given, struct err *err)
{
	return write_result(r, path, NULL, c, given, err);
}

int result_text(const struct result *r, const struct candidate *c, const struct repro_given *given, struct buf *b, struct err *err)
{
	return write_result(r, NULL, b, c, given, err);
}
