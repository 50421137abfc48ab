/* sarif.c - --sarif: the findings as SARIF 2.1.0 (OASIS, 2020), for code scanning. One rule per finding id, results in the order of the
 * findings. Files below the working directory are relative to %SRCROOT%, which the consumer sets. */
#include "explain/emit.h"

#include "base/emit/sarif.h"
#include "base/html/html.h"

/* The description of each kind's rule, for findings that do not have their own, and the page of PyTorch's manual about it. */
static const struct {
	const char *name, *help, *url;
} about[FINDING_KINDS] = {
#define MANUAL "https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html"
    [FINDING_FAILURE] = {"Failure", "Compilation or the compiled program failed.", MANUAL},
    [FINDING_KNOWN] = {"KnownMessage", "A known error message: the result has its usual cause and fix.", MANUAL},
    [FINDING_LIMIT] = {"RecompileLimit",
		       "A function was recompiled until torch.compile reached its limit: it permanently falls back to eager.", MANUAL},
    [FINDING_RECOMPILE] = {"Recompile",
			   "A guard failed, so the function was recompiled: a size, a value or a type changed "
			   "between calls.",
			   MANUAL},
    [FINDING_BREAK] = {"GraphBreak",
		       "torch.compile could not capture this line: the graph ends before it, Python runs it, and a new graph "
		       "starts after it.",
		       MANUAL},
    [FINDING_SHAPE] = {"DynamicShape", "A size that should be dynamic became a constant, or was bounded.",
		       "https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html"},
    [FINDING_TIME] = {"CompileTime", "Where the compile time went.", MANUAL},
    [FINDING_CACHE] = {"Cache", "A compile cache was missed or bypassed.", MANUAL},
    [FINDING_CUDAGRAPH] = {"CudaGraph", "A graph does not use CUDA graphs: its kernels are launched one by one.", MANUAL},
    [FINDING_DAMAGE] = {"Damage", "The input could not be read completely.", MANUAL},
};

static struct slice rule_id(const struct finding *g) { return g->id.n ? g->id : slice_str(finding_kind_name[g->kind]); }

static bool is_address(struct slice url)
{
	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ' || (unsigned char)url.p[i] >= 127 || strchr("<>\"{}|\\^`", url.p[i]))
			return false;
	return slice_starts(url, "https://") || slice_starts(url, "http://");
}

/* Each id is a rule; its "name" comes from the kind, its help from the first finding. */
static void put_rules(struct json_out *o, const struct explanation *x, struct intern *rules)
{
	json_member_arr(o, "rules");
	for (uint32_t i = 0; i < x->n_finding + x->n_ignored; i++) {
		const struct finding *g = i < x->n_finding ? &x->finding[i] : &x->ignored[i - x->n_finding];
		uint32_t before = rules->n;
		LOCAL_BUF help = {0};
		if (intern_add(rules, rule_id(g)) < before)
			continue;
		struct slice url = is_address(g->url) ? g->url : slice_str(about[g->kind].url);
		bool known = g->kind == FINDING_KNOWN && g->title.n;
		json_obj(o);
		json_member(o, "id", rule_id(g));
		json_member(o, "name", slice_str(about[g->kind].name));
		buf_addf(&help, "%s", about[g->kind].help);
		sarif_text(o, "shortDescription", known ? g->title : buf_slice(&help));
		if (g->kind == FINDING_BREAK && g->why.n) {
			buf_adds(&help, "\n\n");
			buf_add_slice(&help, g->why);
		}
		buf_adds(&help, "\n\nMore: ");
		buf_add_slice(&help, url);
		sarif_text(o, "help", buf_slice(&help));
		json_member(o, "helpUri", url);
		json_member_obj(o, "defaultConfiguration");
		json_member(o, "level", slice_str(finding_level_name[g->level]));
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

/* The user's line; if unknown, the line of the log. */
static void put_locations(struct json_out *o, const struct explanation *x, const struct finding *g)
{
	LOCAL_BUF path = {0}, uri = {0};
	bool user = g->loc.file != NONE && slice_trim(explain_text(x, g->loc.file)).n && explain_text(x, g->loc.file).p[0] != '<';
	uint32_t file = user ? g->loc.file : g->src.input < x->facts->n_input ? x->facts->input[g->src.input].path : NONE;
	uint64_t line = user ? g->loc.line : g->src.line;
	bool here = emit_source(x, file, &path);
	json_member_arr(o, "locations");
	if (path.len && path.p[0] != '(') { /* not (standard input) */
		if (!here)
			buf_adds(&uri, "file://");
		html_href(&uri, buf_slice(&path));
		json_obj(o);
		json_member_obj(o, "physicalLocation");
		json_member_obj(o, "artifactLocation");
		json_member(o, "uri", buf_slice(&uri));
		if (here)
			json_member(o, "uriBaseId", SLICE("%SRCROOT%"));
		json_close(o);
		if (line && line < INT32_MAX) {
			json_member_obj(o, "region");
			json_member_u64(o, "startLine", line);
			if (user && explain_text(x, g->loc.code).n)
				sarif_text(o, "snippet", explain_text(x, g->loc.code));
			json_close(o);
		}
		json_close(o);
		if (user && g->loc.function != NONE) {
			json_member_arr(o, "logicalLocations");
			json_obj(o);
			json_member(o, "name", explain_text(x, g->loc.function));
			json_member(o, "kind", SLICE("function"));
			json_close(o);
			json_close(o);
		}
		json_close(o);
	}
	json_close(o);
}

/* A consumer hides it, and still knows it. */
static void put_suppression(struct json_out *o, const struct finding *g)
{
	json_member_arr(o, "suppressions");
	json_obj(o);
	json_member(o, "kind", g->in_source ? SLICE("inSource") : SLICE("external"));
	json_member(o, "justification", g->ignored);
	json_close(o);
	json_close(o);
}

static void put_result(struct json_out *o, const struct explanation *x, const struct finding *g, const struct intern *rules,
		       struct intern *seen, uint32_t **times)
{
	static const char *const state[] = {[CHANGE_NONE] = "unchanged", [CHANGE_MORE] = "updated", [CHANGE_NEW] = "new"};
	char id[FINGERPRINT_TEXT], mark[48];
	LOCAL_BUF text = {0};
	finding_fingerprint(x, g, id);
	uint32_t before = seen->n, row = intern_add(seen, slice_str(id));
	if (row == before) {
		*times = xreallocarray(*times, seen->n, sizeof(**times));
		(*times)[row] = 0;
	}
	snprintf(mark, sizeof(mark), "%s:%u", id, ++(*times)[row]);
	json_obj(o);
	json_member(o, "ruleId", rule_id(g));
	json_member_index(o, "ruleIndex", intern_find(rules, rule_id(g)));
	json_member(o, "level", slice_str(finding_level_name[g->level]));
	if (g->change != CHANGE_NOT_COMPARED)
		json_member(o, "baselineState", slice_str(state[g->change]));
	if (g->ignored.n)
		put_suppression(o, g);
	buf_add_slice(&text, g->title);
	emit_details(x, g, &text);
	sarif_text(o, "message", text.len ? buf_slice(&text) : rule_id(g));
	put_locations(o, x, g);
	json_member_obj(o, "partialFingerprints");
	json_member(o, "fxexplain/v1", slice_str(mark));
	json_close(o);
	json_member_obj(o, "properties");
	json_member_u64(o, "count", g->count);
	json_member_seconds(o, "seconds", g->seconds);
	json_member(o, "compileIds", g->compiles);
	json_close(o);
	json_close(o);
}

void emit_sarif(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	OWNED(intern_release) struct intern rules = {0}, seen = {0};
	FREED uint32_t *times = NULL;
	struct json_out o = sarif_begin(b, "fxexplain");
	(void)opt;
	put_rules(&o, x, &rules);
	sarif_results(&o, "the directory in which fxexplain ran: the root of the checkout");
	for (uint32_t i = 0; i < x->n_finding; i++)
		put_result(&o, x, &x->finding[i], &rules, &seen, &times);
	for (uint32_t i = 0; i < x->n_ignored; i++)
		put_result(&o, x, &x->ignored[i], &rules, &seen, &times);
	sarif_end(&o);
}
