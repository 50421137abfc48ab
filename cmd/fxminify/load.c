/* load.c - reads the operand: a launcher or repro, graph.json, readable code, a trace log with --graph, an exported .pt2. */
#include "fxminify.h"

#include "graph/repro/recorded.h"
#include "graph/repro/tracegraph.h"
#include "watch/watch.h"
#include "run/trace/trace.h"
#include "base/io/jsonfile.h"
#include "base/text.h"

#include <unistd.h>

/* ---- a graph of a trace ---- */

/* Rejects a program that cannot be reduced since part of it is missing. */
static int check_whole(const struct subject *in, const char *path, struct err *err)
{
	const struct gattr *lost = repro_lost_module(&in->repro);
	if (!lost)
		return 0;
	const struct slice name = graph_text(&in->repro.graph, lost->name), by = in->repro.torch_version;
	return err_set(err, EXIT_INPUT,
		       "'%s' lacks the subgraph '%.*s': launchers of torch before 2.14 have \"<lambda>()\" instead%s%.*s%s. "
		       "A trace contains it: run the failing program with TORCH_TRACE=DIR, then "
		       "fxminify --graph 0/0:aot_inference_graph DIR/FILE.log",
		       path, SL(name), by.n ? " (this is one of " : "", SL(by), by.n ? ")" : "");
}

static int load_trace(struct subject *in, const char *path, const char *graph, struct err *err)
{
	LOCAL_BUF text = {0};
	int status = tracegraph_read(path, graph, TRACEGRAPH_PROGRAM, &text, err);
	if (status == 0) {
		FREED char *shown = xasprintf("%s (%s)", path, graph ? graph : "its graph");
		in->hash = hash_bytes(text.p, text.len);
		const char *name = arena_slice(&in->text, slice_of(shown, strlen(shown) + 1)).p;
		status = repro_read(&in->repro, arena_slice(&in->text, buf_slice(&text)), name, err);
		if (status == 0)
			status = check_whole(in, name, err);
	}
	return status;
}

/* ---- a document of fxexplain run --wrong ---- */

static bool is_wrong_document(const struct jsonfile *d) { return slice_is(json_word(&d->t, d->root, "schema"), "pt2utils.wrong/1"); }

/* The graph with the kernel that is wrong, and what it was called with (docs/formats/EXPLAIN.md). */
static int load_wrong(struct subject *in, const char *path, const struct jsonfile *d, struct err *err)
{
	const uint32_t fault = json_get_as(&d->t, d->root, "fault", JSON_OBJECT), inputs = json_get(&d->t, fault, "inputs");
	FREED char *verdict = json_strdup(&d->t, d->root, "verdict");
	if (fault == NONE)
		return err_set(err, EXIT_INPUT, "'%s' names no graph whose numbers are wrong: %s", path, verdict);
	FREED char *id = json_strdup(&d->t, fault, "compile_id"), *name = json_strdup(&d->t, fault, "graph");
	FREED char *which = xasprintf("%s:%s", id, name), *trace = json_strdup(&d->t, fault, "trace");
	FREED struct recorded_value *value = xcalloc(json_length(&d->t, inputs) + 1, sizeof(*value));
	size_t n = 0;
	json_each(&d->t, inputs, k) {
		const struct slice file = json_dup(&d->t, k, "file", &in->text);
		value[n].name = json_dup(&d->t, k, "name", &in->text);
		value[n++].file = arena_strndup(&in->text, file.p, file.n);
	}
	in->file_name = xstrdup("fx_graph.py");
	if (load_trace(in, trace, which, err) < 0 || recorded_give(&in->repro, value, n, err) < 0)
		return -1;
	in->repro.accuracy = SLICE("True");
	return 0;
}

/* ---- by content ---- */

static enum subject_kind subject_kind_of(const struct repro *r, struct slice bytes)
{
	while (bytes.n && strchr(" \t\r\n", *bytes.p)) {
		bytes.p++;
		bytes.n--;
	}
	if (bytes.n && *bytes.p == '{')
		return SUBJECT_JSON;
	return r->form == REPRO_GRAPH ? SUBJECT_READABLE : SUBJECT_PROGRAM;
}

static char *name_for(const struct subject *in, const char *path)
{
	if (strcmp(path, "-"))
		return xstrdup(path_base(path));
	return xstrdup(in->kind == SUBJECT_JSON ? "graph.json" : "graph.py");
}

/* Most likely the user's own program. */
static int not_a_graph(const char *path, struct err *err)
{
	const struct err why = *err;
	return err_set(err, EXIT_INPUT, "%s; if it is a program, not a graph: fxminify -- python %s", why.text, path);
}

int subject_load(struct subject *in, const char *path, const struct fxminify_options *o, struct err *err)
{
	*in = (struct subject){.path = path, .kind = SUBJECT_OTHER};
	if (strcmp(path, "-") && trace_is_log(path)) {
		in->file_name = xstrdup("fx_graph.py");
		return load_trace(in, path, o->graph, err);
	}
	OWNED(jsonfile_close) struct jsonfile document = {.root = NONE};
	if (slice_ends(slice_str(path), ".json") && jsonfile_open(&document, path) && is_wrong_document(&document))
		return load_wrong(in, path, &document, err);
	struct input log;
	if (o->graph && input_open(&log, path, err) < 0) /* not a trace, because it cannot be read */
		return -1;
	if (o->graph) {
		input_close(&log);
		return err_set(err, EXIT_USAGE, "--graph needs a trace log (TORCH_TRACE), but '%s' is not one", path);
	}
	if ((watch_bundle_like(path) ? recorded_open(&in->repro, path, err) : repro_open(&in->repro, path, err)) < 0)
		return slice_ends(slice_str(path), ".py") && err->status == EXIT_INPUT && access(path, R_OK) == 0 ? not_a_graph(path, err)
														  : -1;
	if (check_whole(in, path, err) < 0)
		return -1;
	/* Candidates of a plain exported program are programs. */
	bool alone = !in->repro.file.bytes.p && in->repro.package.bytes.p;
	struct slice bytes = alone ? in->repro.package.bytes : in->repro.file.bytes;
	in->hash = hash_bytes(bytes.p, bytes.n);
	in->kind = alone ? SUBJECT_OTHER : subject_kind_of(&in->repro, bytes);
	in->file_name = alone ? xstrdup("repro.py") : name_for(in, path);
	return 0;
}

void subject_release(struct subject *in)
{
	repro_release(&in->repro);
	arena_release(&in->text);
	free(in->file_name);
}
