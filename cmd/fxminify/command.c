/* command.c - --test COMMAND as the oracle: candidates are files of the same kind as the input. */
#include "session.h"

#include "aten/interp/shapes.h"
#include "base/process/child.h"

#include <unistd.h>

static int write_test(void *user, const struct test *t, struct buf *b, struct err *err)
{
	const struct session *s = user;
	struct candidate c = {.graph = *t->graph,
			      .feed = (struct feed *)(uintptr_t)t->feed,
			      .n_feeds = t->n_feeds,
			      .line = t->repro->line,
			      .n_lines = t->repro->n_lines};
	return result_candidate_text(&s->in, &c, b, err);
}

/* COMMAND "$1", for sh. Each test runs in its own folder, so a relative program path is resolved from where the tool was started. */
static int test_script(const char *command, struct buf *b, struct err *err)
{
	size_t n = strcspn(command, " \t");
	FREED char *word = xstrndup(command, n), *real = NULL;
	int status = 0;
	if (strchr(word, '/') && *word != '/' && !strpbrk(word, "$`'\"\\*?")) {
		real = realpath(word, NULL);
		if (!real)
			status = err_errno(err, EXIT_USAGE, "cannot find the test command '%s'", word);
		else
			buf_add_word(b, real);
	}
	buf_adds(b, real ? command + n : command);
	buf_adds(b, " \"$1\"");
	return status;
}

/* ---- shapes ---- */

static size_t count_unknown(const struct graph *g)
{
	const struct gmodule *root = &g->module[0];
	size_t n = 0;
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		n += graph_computes(&g->node[i]) && g->node[i].meta == NONE;
	return n;
}

void session_shapes(struct session *s, struct err *why)
{
	OWNED(symbind_release) struct symbind env = {0};
	repro_bind(&s->in.repro, &env);
	const size_t n = interp_shapes(&s->in.repro.graph, &env, why);
	if (n)
		report_row(&s->report, "shapes", "%zu values, by operator rules", n);
}

/* A value of known shape can replace what computes it. Files written by torch have no shapes: most operators have rules here, and torch
 * knows the rest. */
static void learn_shapes(struct session *s)
{
	const char *python = getenv("PT2_PYTHON");
	struct err err, why = {0};
	if (!count_unknown(&s->in.repro.graph))
		return;
	session_shapes(s, &why);
	const size_t n = count_unknown(&s->in.repro.graph);
	if (!n)
		return;
	if (python && *python) {
		report_step(&s->report, "shapes");
		if (torch_shapes(s, &err) == 0) {
			report_row(&s->report, "shapes", "%zu values, by torch", n);
			return;
		}
		report_row(&s->report, "note", "torch could not compute the shapes: %s", err.text);
	}
	s->reduction.guess = true;
	if (why.text[0])
		report_row(&s->report, "no shape", "%s", why.text);
	report_row(&s->report, "shapes", "%zu values have unknown shapes; if one becomes an input, its shape is a guess%s", n,
		   python && *python ? "" : " (set PT2_PYTHON to ask torch)");
}

int command_open(struct session *s, struct err *err)
{
	learn_shapes(s);
	if (child_signalled())
		return err_set(err, EXIT_ENVIRON, "interrupted while torch computed shapes");
	if (test_script(s->o->test, &s->test_script, err) < 0)
		return -1;
	s->test_argv[0] = "/bin/sh";
	s->test_argv[1] = "-c";
	s->test_argv[2] = buf_str(&s->test_script);
	s->test_argv[3] = "fxminify";
	s->runner.oracle = oracle_command(&(struct oracle_command_spec){.argv = s->test_argv,
									.file_name = s->in.file_name,
									.jobs = (unsigned)s->o->jobs,
									.timeout_ms = (unsigned)s->o->timeout * 1000u,
									.max_memory = s->o->max_memory,
									.write = write_test,
									.user = s},
					  err);
	return s->runner.oracle ? 0 : -1;
}
