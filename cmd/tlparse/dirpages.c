/* dirpages.c - the HTML pages of the directory report: everything on the Rust tlparse's pages, and what it leaves out. */
#include "outdir.h"

#include "base/srcloc.h"

enum { FRAMES_MAX = 512 };

static void put_up(struct buf *b, unsigned depth)
{
	while (depth--)
		html_raw(b, "../");
}

/* depth: folder levels between the page and the report's top. own: the user's HTML; or NULL. */
static void head_of(struct buf *b, struct slice title, unsigned depth, const char *own)
{
	LOCAL_BUF files = {0};
	put_up(&files, depth);
	buf_adds(&files, "assets/tlparse");
	html_head(b, &(struct html_page){.files = buf_str(&files), .own = own}, title);
}

void page_head(struct buf *b, struct slice title, unsigned depth) { head_of(b, title, depth, NULL); }

static unsigned depth_of(struct slice path)
{
	unsigned n = 0;
	for (size_t i = 0; i < path.n; i++)
		n += path.p[i] == '/';
	return n;
}

/* ---- stacks ---- */

void page_frame(struct buf *b, struct slice file, int64_t line, struct slice function, struct slice code, unsigned depth)
{
	const char *key = slice_find(file, "<eval_with_key>.");
	if (!file.n)
		file = SLICE("(unknown)");
	if (key) {
		size_t n = 0;
		key += 16;
		while (key + n < file.p + file.n && is_digit(key[n]))
			n++;
		html_raw(b, "<a href=\"");
		put_up(b, depth);
		html_raw(b, "dump_file/eval_with_key_");
		buf_add(b, key, n);
		buf_addf(b, ".html#L%lld\">", (long long)line);
	}
	html_text(b, srcloc_short_file(file));
	buf_addf(b, ":%lld", (long long)line);
	html_raw(b, key ? "</a> in " : " in ");
	html_text(b, function);
	if (!key && code.n)
		html_put(b, "<br><code class=\"src\">{}</code>", code);
}

static void stack_begin(struct buf *b, const char *caption, bool open)
{
	buf_addf(b, "<details%s><summary>%s</summary><ul class=\"stack\">", open ? " open" : "", caption);
}

void page_stack(struct buf *b, const struct trace *t, const struct trace_trie *trie, uint32_t node, const char *caption, bool open)
{
	uint32_t n = 0, chain[FRAMES_MAX], all = 0;
	for (uint32_t up = node; up != NONE; up = trie->node[up].parent, all++)
		if (n < FRAMES_MAX)
			chain[n++] = up;
	if (!n)
		return;
	stack_begin(b, caption, open);
	if (all > n)
		buf_addf(b, "<li class=\"note\">%u outer frames</li>", all - n);
	while (n--) {
		const struct trace_frame *f = &t->frame[trie->node[chain[n]].frame];
		html_raw(b, "<li>");
		page_frame(b, name(t, f->file), f->line, name(t, f->name), name(t, f->code), 1);
		html_raw(b, "</li>");
	}
	html_raw(b, "</ul></details>\n");
}

/* A stack of an envelope, folded. */
static void stack_html(struct buf *b, const struct trace *t, const struct json_tape *tape, uint32_t stack, const char *caption, bool open)
{
	struct buf tmp = {0};
	stack_begin(b, caption, open);
	json_each(tape, stack, i) {
		uint64_t file;
		int64_t line = 0;
		struct slice text[3] = {{"", 0}, {"", 0}, {"", 0}};
		buf_reset(&tmp);
		static const char *const keys[3] = {"uninterned_filename", "name", "loc"};
		size_t end[3];
		for (unsigned j = 0; j < 3; j++) {
			json_add_text(tape, i, keys[j], &tmp);
			end[j] = tmp.len;
		}
		for (unsigned j = 0; j < 3; j++)
			text[j] = slice_of(tmp.p + (j ? end[j - 1] : 0), end[j] - (j ? end[j - 1] : 0));
		if (!text[0].n && json_u64(tape, json_get(tape, i, "filename"), &file))
			text[0] = name(t, trace_string(t, file));
		json_i64(tape, json_get(tape, i, "line"), &line);
		html_raw(b, "<li>");
		page_frame(b, text[0], line, text[1], text[2], 1);
		html_raw(b, "</li>");
	}
	html_raw(b, "</ul></details>");
	buf_release(&tmp);
}

static const char *const status_class[] = {"missing", "ok", "empty", "break", "error"};

static void trie_frame(struct buf *b, const struct trace *t, const struct trace_trie *trie, uint32_t k)
{
	const struct trace_stack *node = &trie->node[k];
	const struct trace_frame *f = &t->frame[node->frame];
	char id[COMPILE_ID_TEXT];
	for (uint32_t i = node->first_start; i != NONE; i = trie->start[i].next) {
		uint32_t compile = trie->start[i].compile;
		if (compile == NONE)
			continue;
		const struct fact_attempt *c = &t->f->attempt[compile];
		compile_id_text(&c->id, id);
		buf_addf(b, "<a class=\"status-%s\" href=\"#[%s]\">[%s]</a> ", status_class[c->status], id, id);
	}
	page_frame(b, name(t, f->file), f->line, name(t, f->name), name(t, f->code), 0);
}

/* Should the children of frame k be indented? A chain is flat, so that stacks do not run off to the right; but below a frame with
 * siblings the chain must be distinguishable from them. */
static bool indents(const struct trace_trie *trie, uint32_t k, bool one_top)
{
	const struct trace_stack *n = &trie->node[k];
	bool siblings = n->parent == NONE ? !one_top : trie->node[trie->node[n->parent].child].sibling != NONE;
	return n->child != NONE && (siblings || trie->node[n->child].sibling != NONE);
}

/* Depth first without recursion: the log decides how deep a stack is. */
static void trie_html(struct buf *b, const struct trace *t, const struct trace_trie *trie)
{
	uint32_t first = NONE, last = NONE;
	uint32_t *next_top = xcalloc(trie->n + 1u, sizeof(*next_top));
	/* Nodes without a parent, in order of appearance, are siblings. */
	for (uint32_t i = 0; i < trie->n; i++)
		if (trie->node[i].parent == NONE) {
			if (first == NONE)
				first = i;
			else
				next_top[last] = i;
			last = i;
		}
	html_raw(b, "<div class=\"trie\"><ul>\n");
	for (uint32_t k = first; k != NONE;) {
		const struct trace_stack *n = &trie->node[k];
		html_raw(b, "<li>");
		trie_frame(b, t, trie, k);
		html_raw(b, indents(trie, k, first == last) ? "<ul>\n" : "</li>\n");
		if (n->child != NONE) {
			k = n->child;
			continue;
		}
		for (;;) { /* up until there is a sibling */
			uint32_t up = trie->node[k].parent;
			uint32_t next = up == NONE ? (next_top[k] ? next_top[k] : NONE) : trie->node[k].sibling;
			if (next != NONE || up == NONE) {
				k = next;
				break;
			}
			if (indents(trie, up, first == last))
				html_raw(b, "</ul></li>\n");
			k = up;
		}
	}
	html_raw(b, "</ul></div>\n");
	free(next_top);
}

/* ---- payload pages ---- */

void page_code(struct buf *b, struct slice title, struct slice payload)
{
	page_head(b, title, depth_of(title));
	html_put(b, "<pre class=\"code\" data-lang=\"py\">{}</pre>\n", payload);
	html_tail(b);
}

void page_dump_file(struct buf *b, struct slice title, struct slice payload)
{
	struct slice line;
	unsigned n = 0;
	page_head(b, title, depth_of(title));
	html_raw(b, "<pre class=\"lines\">");
	while (slice_line(&payload, &line)) {
		buf_addf(b, "<span id=\"L%u\">", ++n);
		html_put(b, "{}\n</span>", line);
	}
	html_raw(b, "</pre>\n");
	html_tail(b);
}

void page_guards(struct buf *b, const char *id, struct slice payload, struct json_tape *tape)
{
	uint32_t root;
	struct buf tmp = {0};
	page_head(b, SLICE("Guards"), 1);
	html_put(b, "<h1>Guards of {}</h1>\n<ul class=\"guards\">\n", slice_str(id));
	json_tape_text(tape, payload.p, payload.n);
	if (json_parse(tape, 0, payload.n, &root) == 0)
		json_each(tape, root, i) {
			uint32_t code = json_get(tape, i, "code");
			if (code == NONE)
				continue;
			buf_reset(&tmp);
			json_unescape(tape, code, &tmp);
			html_put(b, "<li><code>{}</code></li>\n", buf_slice(&tmp));
		}
	html_raw(b, "</ul>\n");
	html_tail(b);
	buf_release(&tmp);
}

void page_stack_traces(struct buf *b, struct slice payload, struct json_tape *tape)
{
	uint32_t root;
	struct buf tmp = {0};
	page_head(b, SLICE("Stack traces of kernels"), 1);
	json_tape_text(tape, payload.p, payload.n);
	if (json_parse(tape, 0, payload.n, &root) == 0)
		json_each_pair(tape, root, k) {
			html_put(b, "<h3>{}</h3>\n", json_text_at(tape, k, &tmp));
			json_each(tape, k + 1, i) {
				/* The writer escaped newlines twice. */
				struct slice s = json_text_at(tape, i, &tmp);
				if (!s.p)
					continue;
				html_raw(b, "<pre>");
				for (; s.n; s = slice_behind(s, "\\n")) {
					html_text(b, slice_until(s, "\\n"));
					html_raw(b, slice_find(s, "\\n") ? "\n" : "");
				}
				html_raw(b, "</pre>\n");
			}
		}
	html_tail(b);
	buf_release(&tmp);
}

/* ---- metrics ---- */

void page_pending_row(struct buf *b, const struct trace *t, const struct trace_scan *s, const struct trace_record *r, bool guard)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, guard ? KIND_guard_added_fast : KIND_symbolic_shape_specialization);
	static const char *const spec[] = {"symbol", "sources", "value", "reason"}, *const fast[] = {"expr"};
	struct buf tmp = {0};
	html_raw(b, "<tr>");
	for (unsigned i = 0; i < (guard ? 1 : 4); i++) {
		uint32_t k = json_get(tape, v, guard ? fast[i] : spec[i]);
		html_raw(b, "<td>");
		if (json_is(tape, k, JSON_ARRAY)) {
			json_each(tape, k, j) {
				buf_reset(&tmp);
				json_unescape(tape, j, &tmp);
				html_put(b, "{}<br>", buf_slice(&tmp));
			}
		} else {
			html_text(b, json_text_at(tape, k, &tmp));
		}
		html_raw(b, "</td>");
	}
	html_raw(b, "<td>");
	stack_html(b, t, tape, json_get(tape, v, "user_stack"), "User stack", false);
	html_raw(b, "</td><td>");
	stack_html(b, t, tape, json_get(tape, v, "stack"), "Framework stack", false);
	html_raw(b, "</td></tr>\n");
	buf_release(&tmp);
}

/* Every metric of the record: key, value. Lists become lists, long texts are folded. */
static void metrics_table(struct buf *b, const struct json_tape *tape, uint32_t v)
{
	struct buf tmp = {0};
	html_raw(b, "<table class=\"metrics sortable\"><thead><tr><th>Metric</th><th>Value</th></tr></thead><tbody>\n");
	json_each_pair(tape, v, k) {
		struct slice key = json_slice(tape, k);
		html_raw(b, json_is(tape, k + 1, JSON_NULL) ? "<tr class=\"null\"><td>" : "<tr><td>");
		html_put(b, "{}</td><td>", key);
		if (json_is(tape, k + 1, JSON_ARRAY)) {
			json_each(tape, k + 1, i) {
				buf_reset(&tmp);
				json_unescape(tape, i, &tmp);
				html_put(b, "<pre>{}</pre>", buf_slice(&tmp));
			}
		} else {
			buf_reset(&tmp);
			json_unescape(tape, k + 1, &tmp);
			bool large = tmp.len > 300 || memchr(buf_str(&tmp), '\n', tmp.len);
			html_raw(b, large ? "<details><summary>" : "");
			if (large)
				buf_addf(b, "%zu bytes</summary><pre>", tmp.len);
			html_text(b, buf_slice(&tmp));
			html_raw(b, large ? "</pre></details>" : "");
		}
		html_raw(b, "</td></tr>\n");
	}
	html_raw(b, "</tbody></table>\n");
	buf_release(&tmp);
}

static const char *suffix(const struct trace_artifact *a)
{
	return a->flags & ART_HIT ? " \xe2\x9c\x85" : a->flags & ART_MISS ? " \xe2\x9d\x8c" : a->flags & ART_BYPASS ? " \xe2\x9d\x93" : "";
}

/* Adds an artifact to a list. up: the page is in a folder below the top. */
static void artifact_item(struct buf *b, const struct trace *t, const struct trace_artifact *a, bool up)
{
	struct buf path = {0};
	html_raw(b, "<li>");
	if (a->flags & ART_LINK) {
		html_url(b, name(t, a->extra), name(t, a->name));
	} else {
		buf_adds(&path, up ? "../" : "");
		trace_artifact_path(t, a, false, &path);
		html_link(b, buf_slice(&path), slice_of(path.p + (up ? 3 : 0), path.len - (up ? 3 : 0)));
		if (a->flags & ART_READABLE) {
			buf_reset(&path);
			buf_adds(&path, up ? "../" : "");
			trace_artifact_path(t, a, true, &path);
			html_raw(b, " (");
			html_link(b, buf_slice(&path), SLICE("readable_html"));
			html_raw(b, ")");
		}
	}
	html_raw(b, suffix(a));
	buf_addf(b, " <span class=\"note\">(%u)", a->number + (a->flags & ART_READABLE ? 1 : 0));
	if (a->nodes >= 0)
		buf_addf(b, " %d nodes", a->nodes);
	if (!(a->flags & ART_NO_PAYLOAD))
		buf_addf(b, " %u bytes", a->size);
	html_raw(b, "</span></li>\n");
	buf_release(&path);
}

void page_metrics(struct buf *b, const struct trace *t, const struct trace_scan *s, const struct trace_record *r,
		  const struct trace_artifact *a, const struct pending *p)
{
	const struct json_tape *tape = &s->tape;
	uint32_t v = trace_value(s, r, KIND_compilation_metrics);
	const struct fact_attempt *c = &t->f->attempt[r->attempt];
	char id[COMPILE_ID_TEXT];
	page_head(b, SLICE("Compilation metrics"), 1);
	html_put(b, "<h1>Compilation info for {}</h1>\n", slice_str(compile_id_text(&c->id, id)));
	if (c->loc.file != NONE) {
		html_raw(b, "<p>");
		page_frame(b, name(t, c->loc.file), c->loc.line, name(t, c->loc.function), slice_of("", 0), 1);
		html_raw(b, "</p>\n");
	}
	if (c->fail_type != NONE) {
		html_put(b, "<h2>Failure</h2>\n<p class=\"status-error\">{}</p>\n<pre>{}</pre>\n", name(t, c->fail_type),
			 name(t, c->fail_reason));
	} else {
		html_raw(b, "<p>No failure.</p>\n");
	}
	/* The attempts of a compile id share its stack: use the last that has one. */
	struct compile_id attempt = c->id;
	for (unsigned tries = 0; tries < 32 && attempt.attempt >= -1; tries++, attempt.attempt--) {
		const struct fact_attempt *x = trace_attempt(t, &attempt, c->process, c->generation);
		if (!x || x->stack == NONE)
			continue;
		page_stack(b, t, &t->starts, x->stack, "Stack", false);
		break;
	}
	html_raw(b, "<h2>Artifacts so far</h2>\n<ul>\n");
	for (uint32_t k = c->first_artifact; k != NONE && &t->artifact[k] != a; k = t->artifact[k].next)
		artifact_item(b, t, &t->artifact[k], true);
	html_raw(b, "</ul>\n<h2>Symbolic shape specializations</h2>\n");
	if (p->rows.len) {
		html_raw(b, "<table><thead><tr><th>Symbol</th><th>Sources</th><th>Value</th><th>Reason</th><th>User stack</th>"
			    "<th>Framework stack</th></tr></thead><tbody>\n");
		buf_add_slice(b, buf_slice(&p->rows));
		html_raw(b, "</tbody></table>\n");
	} else {
		html_raw(b, "<p>None.</p>\n");
	}
	html_raw(b, "<h2>Guards added fast</h2>\n");
	if (p->guards.len) {
		html_raw(b, "<table><thead><tr><th>Expression</th><th>User stack</th><th>Framework stack</th></tr></thead><tbody>\n");
		buf_add_slice(b, buf_slice(&p->guards));
		html_raw(b, "</tbody></table>\n");
	} else {
		html_raw(b, "<p>None.</p>\n");
	}
	html_raw(b, "<h2>All metrics</h2>\n");
	metrics_table(b, tape, v);
	html_tail(b);
}

void page_bwd_metrics(struct buf *b, const struct trace *t, const struct trace_scan *s, const struct trace_record *r,
		      const struct trace_artifact *a)
{
	char id[COMPILE_ID_TEXT];
	page_head(b, name(t, a->name), 1);
	html_put(b, "<h1>Backward compilation info for {}</h1>\n", slice_str(compile_id_text(&t->f->attempt[r->attempt].id, id)));
	metrics_table(b, &s->tape, trace_value(s, r, (enum trace_kind)a->kind));
	html_tail(b);
}

/* ---- lists ---- */

void page_damage(struct buf *b, const struct trace *t)
{
	if (!trace_damaged(t))
		return;
	html_raw(b, "<div class=\"banner\"><b>This log was not read completely.</b><ul>\n");
	for (unsigned i = 0; i < DAMAGE_COUNT; i++)
		if (t->damage[i].count)
			buf_addf(b, "<li>line %llu%s: %s (%llu)</li>\n", (unsigned long long)t->damage[i].line,
				 t->damage[i].count > 1 ? " and later" : "", trace_damage_text[i], (unsigned long long)t->damage[i].count);
	html_raw(b, "</ul></div>\n");
}

/* The id of a row's attempt; "-/-" if unknown, as for an exception that ended torch.export. */
static const char *attempt_text(const struct trace *t, uint32_t attempt, char id[COMPILE_ID_TEXT])
{
	static const struct compile_id none = {.autograd = -1, .frame = -1, .compile = -1};
	return compile_id_text(attempt == NONE ? &none : &t->f->attempt[attempt].id, id);
}

void page_failures(struct buf *b, const struct trace *t)
{
	char id[COMPILE_ID_TEXT];
	struct buf path = {0};
	page_head(b, SLICE("Failures and restarts"), 0);
	html_raw(b, "<h1>Failures, restarts and graph breaks</h1>\n<table class=\"sortable\"><thead><tr><th>Compile id</th>"
		    "<th>Failure type</th><th>Reason</th><th>User code</th></tr></thead><tbody>\n");
	for (uint32_t i = t->from.failure; i < t->f->n_failure; i++) {
		const struct fact_failure *f = &t->f->failure[i];
		const struct trace_artifact *a = f->src.artifact == NONE ? NULL : trace_numbered(t, f->src.artifact);
		attempt_text(t, f->src.attempt, id);
		html_raw(b, "<tr><td>");
		buf_reset(&path);
		if (a) {
			trace_artifact_path(t, a, false, &path);
			html_link(b, buf_slice(&path), slice_str(id));
		} else {
			html_text(b, slice_str(id));
		}
		html_put(b, "</td><td>{}</td><td><pre>{}</pre></td><td>", f->type == NONE ? SLICE("RestartAnalysis") : name(t, f->type),
			 name(t, f->reason));
		if (f->user.file != NONE) {
			html_text(b, name(t, f->user.file));
			buf_addf(b, ":%u", f->user.line);
		}
		html_raw(b, "</td></tr>\n");
	}
	for (uint32_t i = t->from.brk; i < t->f->n_brk; i++) {
		const struct fact_break *x = &t->f->brk[i];
		const struct trace_artifact *a = x->src.artifact == NONE ? NULL : trace_numbered(t, x->src.artifact);
		if (!a)
			continue; /* its restart reason is listed above */
		attempt_text(t, x->src.attempt, id);
		buf_reset(&path);
		trace_artifact_path(t, a, false, &path);
		html_raw(b, "<tr><td>");
		html_link(b, buf_slice(&path), slice_str(id));
		html_raw(b, "</td><td>graph break");
		if (x->url != NONE) {
			html_raw(b, " ");
			char gb[16];
			snprintf(gb, sizeof(gb), "GB%04d", x->gb);
			html_url(b, name(t, x->url), slice_str(x->gb >= 0 ? gb : "more"));
		}
		html_put(b, "</td><td><pre>{}</pre>", name(t, x->reason));
		struct slice rest = name(t, x->hints), line;
		while (slice_line(&rest, &line))
			html_put(b, "<p>Hint: {}</p>", line);
		html_raw(b, "</td><td>");
		if (x->loc.file != NONE) {
			html_text(b, name(t, x->loc.file));
			buf_addf(b, ":%u", x->loc.line);
			if (x->loc.function != NONE)
				html_put(b, " in {}", name(t, x->loc.function));
			html_put(b, "<br><code class=\"src\">{}</code>", name(t, x->loc.code));
		}
		html_raw(b, "</td></tr>\n");
	}
	html_raw(b, "</tbody></table>\n");
	html_tail(b);
	buf_release(&path);
}

void page_index(struct json_stream *out, const struct trace *t, const struct tlparse_options *opt)
{
	struct buf *b = &out->b;
	char id[COMPILE_ID_TEXT];
	struct buf path = {0};
	head_of(b, SLICE("tlparse report"), 0, opt->header);
	html_raw(b, "<main>\n<h1>What happened in this compilation</h1>\n");
	page_damage(b, t);
	html_raw(b, "<h2>Stack trie</h2>\n<p>Where each compilation started, by the program's stack: "
		    "<span class=\"status-ok\">[ok]</span> <span class=\"status-break\">[graph break or restart]</span> "
		    "<span class=\"status-empty\">[empty graph]</span> <span class=\"status-error\">[error]</span> "
		    "<span class=\"status-missing\">[no metrics]</span></p>\n<details open><summary>Stack</summary>\n");
	trie_html(b, t, &t->starts);
	html_raw(b, "</details>\n<h2>Failures and restarts</h2>\n<p><a href=\"failures_and_restarts.html\">");
	buf_addf(b, "%u failures and restarts, %u graph breaks</a></p>\n", t->f->n_failure - t->from.failure, t->f->n_brk - t->from.brk);
	if (page_has_vllm(t))
		html_raw(b, "<h2>vLLM</h2>\n<p><a href=\"vllm.html\">what its backend compiled, by range and part, and what each pass "
			    "changed</a></p>\n");
	html_raw(b, "<h2>Timeline</h2>\n<p><a href=\"chromium_events.json\">chromium_events.json</a>");
	buf_addf(b, " (%llu events; open it in https://ui.perfetto.dev or chrome://tracing)</p>\n", (unsigned long long)t->events);
	html_raw(b, "<p>Raw data: <a href=\"raw.log\">raw.log</a> <a href=\"raw.jsonl\">raw.jsonl</a> "
		    "<a href=\"compile_directory.json\">compile_directory.json</a></p>\n<h2>Artifacts by compile id</h2>\n"
		    "<p class=\"note\">\xe2\x9c\x85 cache hit, \xe2\x9d\x8c cache miss, \xe2\x9d\x93 cache bypass; the number in "
		    "parentheses is the order in the log.</p>\n<ul class=\"directory\">\n");
	for (uint32_t i = 0; i < t->n_folder; i++) {
		const struct fact_attempt *c = &t->f->attempt[t->folder[i].last];
		compile_id_text(&c->id, id);
		buf_addf(b, "<li id=\"[%s]\"><a class=\"status-%s\" href=\"#[%s]\">[%s]</a>", id, status_class[c->status], id, id);
		if (opt->provenance && c->artifacts) {
			buf_reset(&path);
			prov_page_name(t, t->folder[i].last, &path);
			html_raw(b, " \xc2\xb7 ");
			html_link(b, buf_slice(&path), SLICE("graphs and code side by side"));
		}
		html_raw(b, "\n<ul>\n");
		for (uint32_t k = t->folder[i].first_artifact; k != NONE; k = t->artifact[k].folder_next)
			artifact_item(b, t, &t->artifact[k], false);
		html_raw(b, "</ul></li>\n");
		if (b->len > JSON_OUT_FULL)
			json_stream_write(out);
	}
	html_raw(b, "</ul>\n");
	if (t->stacks.n) {
		html_raw(b, "<h2>Unknown stacks</h2>\n<p>Stacks of records that do not belong to a compilation of a frame.</p>\n"
			    "<details><summary>Stack</summary>\n");
		trie_html(b, t, &t->stacks);
		html_raw(b, "</details>\n");
	}
	if (t->n_unknown) {
		html_raw(b, "<h2>Unknown keys</h2>\n<ul>\n");
		for (uint32_t i = 0; i < t->n_unknown; i++) {
			html_put(b, "<li><code>{}", name(t, t->unknown[i].key));
			buf_addf(b, "</code> %llu times, first in line %llu</li>\n", (unsigned long long)t->unknown[i].count,
				 (unsigned long long)t->unknown[i].line);
		}
		html_raw(b, "</ul>\n");
	}
	html_raw(b, "</main>\n");
	html_tail(b);
	buf_release(&path);
}

void page_logs(struct buf *b, const struct report *r, char *const *folder, const struct tlparse_options *opt)
{
	struct buf path = {0};
	head_of(b, SLICE("tlparse report"), 0, opt->header);
	html_raw(b, "<main>\n<h1>Logs</h1>\n<table class=\"sortable\"><thead><tr><th>Log</th><th>Rank</th><th>Records</th>"
		    "<th>Graph breaks</th><th>Compile seconds</th></tr></thead><tbody>\n");
	for (unsigned i = 0; i < r->n; i++) {
		const struct trace *t = &r->log[i];
		html_raw(b, "<tr><td>");
		if (t->records) {
			buf_reset(&path);
			buf_addf(&path, "%s/index.html", folder[i]);
			html_link(b, buf_slice(&path), slice_str(t->path));
		} else {
			html_put(b, "{} (nothing could be read)", slice_str(t->path));
		}
		html_raw(b, "</td><td>");
		if (t->rank >= 0)
			buf_addf(b, "%lld", (long long)t->rank);
		struct facts_sums sum;
		facts_sums(t->f, t->input, &sum);
		buf_addf(b, "</td><td>%llu</td><td>%llu</td><td>%.3f</td></tr>\n", (unsigned long long)t->records,
			 (unsigned long long)sum.graph_breaks, t->compile_seconds);
	}
	html_raw(b, "</tbody></table>\n</main>\n");
	html_tail(b);
	buf_release(&path);
}

bool page_has_vllm(const struct trace *t)
{
	const struct facts *f = t->f;
	for (uint32_t i = 0; i < f->n_vllm_call; i++)
		if (f->vllm_call[i].src.input == t->input)
			return true;
	for (uint32_t i = 0; i < f->n_vllm_piece; i++)
		if (f->vllm_piece[i].src.input == t->input)
			return true;
	for (uint32_t i = 0; i < f->n_vllm_text; i++)
		if (f->vllm_text[i].src.input == t->input)
			return true;
	return false;
}
