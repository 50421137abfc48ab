/* release.c - lines of tables that apply to some releases only, and fixes that this torch does not know. */
#include "run/diagnose/release.h"

#include "base/json.h"
#include "base/html/html.h"
#include "base/text.h"

#include <ctype.h>

const char *const release_module[CONFIG_TEXTS] = {"torch._dynamo.config", "torch._inductor.config", "torch._functorch.config",
						  "torch.compiler.config"};

/* 15 of "2.15" and "2.15.0+cu132"; 0 if it is not a version. */
static unsigned minor_of(struct slice version)
{
	unsigned minor = 0;
	if (slice_starts(version, "2."))
		for (size_t i = 2; i < version.n && version.p[i] >= '0' && version.p[i] <= '9' && minor < 1000; i++)
			minor = minor * 10 + (unsigned)(version.p[i] - '0');
	return minor;
}

static struct slice take_word(struct slice *line)
{
	const char *end = slice_chr(*line, ' ');
	size_t n = end ? (size_t)(end - line->p) : line->n, skip = n + (n < line->n);
	struct slice w = slice_of(line->p, n);
	*line = slice_of(line->p + skip, line->n - skip);
	return w;
}

unsigned release_known(struct slice head, unsigned minor)
{
	unsigned best = 0;
	while (head.n) {
		unsigned m = minor_of(take_word(&head));
		if (m && (!best || m <= minor))
			best = m;
	}
	return best;
}

/* The oldest newer release that the first line names, else this one. */
static unsigned next_release(struct slice head, unsigned minor)
{
	unsigned m = 0;
	while (head.n && m <= minor)
		m = minor_of(take_word(&head));
	return m > minor ? m : minor;
}

bool release_has(struct slice *line, unsigned release)
{
	bool all = !minor_of(*line), found = all;
	while (minor_of(*line)) {
		struct slice word = take_word(line);
		const char *colon = slice_chr(word, ':');
		unsigned from = minor_of(word), to = colon ? minor_of(slice_of(colon + 1, (size_t)(word.p + word.n - colon) - 1)) : from;
		found = found || (from <= release && release <= to);
	}
	return found;
}

/* ---- the release of a log ---- */

enum { RELEASES = 64 };

/* The settings of a log: name "torch._dynamo.config.x" and value, as it has them. */
static void read_settings(const struct facts *f, struct intern *settings)
{
	OWNED(json_tape_release) struct json_tape tape = {0};
	LOCAL_BUF row = {0};
	for (uint32_t i = 0; i < f->n_input; i++)
		for (unsigned k = 0; k < CONFIG_TEXTS; k++) {
			struct slice text = facts_text(f, f->input[i].config.text[k]);
			uint32_t root;
			json_tape_text(&tape, text.p, text.n);
			if (!text.n || json_parse(&tape, 0, text.n, &root) || !json_is(&tape, root, JSON_OBJECT))
				continue;
			json_each_pair(&tape, root, at) {
				struct slice name = json_slice(&tape, at), value = json_raw(&tape, at + 1);
				buf_reset(&row);
				buf_addf(&row, "%s.%.*s = %.*s", release_module[k], SL(name), SL(value));
				intern_add(settings, buf_slice(&row));
			}
		}
}

/* Logs of torch 2.9 and older do not name their release: the one whose defaults match most of their settings; 0: no settings. */
static unsigned release_by_settings(const struct facts *f)
{
	struct slice rest = share_file("explain/defaults.txt"), head, line;
	OWNED(intern_release) struct intern settings = {0};
	uint32_t hits[RELEASES] = {0};
	unsigned best = 0;
	slice_line(&rest, &head);
	read_settings(f, &settings);
	while (settings.n && slice_line(&rest, &line)) {
		struct slice row = line;
		release_has(&row, 0);
		if (intern_find(&settings, row) == NONE)
			continue;
		for (unsigned m = next_release(head, 0), last = 0; m != last && m < RELEASES; last = m, m = next_release(head, m)) {
			struct slice same = line;
			hits[m] += release_has(&same, m);
		}
	}
	for (unsigned m = 1; m < RELEASES; m++)
		best = hits[m] > hits[best] ? m : best;
	return best;
}

unsigned release_of(const struct facts *f)
{
	uint32_t torch = facts_torch_version(f);
	return torch == NONE ? release_by_settings(f) : minor_of(facts_text(f, torch));
}

/* ---- names that this torch does not have ---- */

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The whole name: torch.compiler.x does not match "torch.compiler.xy". */
static bool names(struct slice line, struct slice name)
{
	for (struct slice rest = line;;) {
		const char *p = memmem(rest.p, rest.n, name.p, name.n), *end = line.p + line.n;
		if (!p)
			return false;
		p += name.n;
		if (p == end || !is_name(*p))
			return true;
		rest = slice_of(p, (size_t)(end - p));
	}
}

static bool names_any(struct slice line, struct slice missing)
{
	struct slice name;
	while (slice_line(&missing, &name))
		if (names(line, name))
			return true;
	return false;
}

void release_missing(struct slice table, unsigned minor, struct buf *out)
{
	struct slice line;
	slice_line(&table, &line);
	unsigned release = release_known(line, minor), next = release < minor ? next_release(line, minor) : release;
	while (slice_line(&table, &line)) {
		struct slice same = line;
		if (!release_has(&line, release) && !release_has(&same, next) && line.n) {
			buf_add_slice(out, line);
			buf_addc(out, '\n');
		}
	}
}

struct slice release_lines(struct slice text, struct slice missing, struct buf *tmp)
{
	struct slice rest = text, line;
	buf_reset(tmp);
	while (slice_line(&rest, &line))
		if (!names_any(line, missing)) {
			buf_adds(tmp, tmp->len ? "\n" : "");
			buf_add_slice(tmp, line);
		}
	return tmp->len + 1 >= text.n ? text : buf_slice(tmp); /* only a final newline less: the same */
}

static void keep_lines(struct explanation *x, struct slice *text, struct slice missing)
{
	struct slice kept = release_lines(*text, missing, &x->tmp);
	if (kept.n != text->n)
		*text = explain_keep(x, kept);
}

void explain_release(struct explanation *x)
{
	LOCAL_BUF missing = {0};
	unsigned minor = release_of(x->facts);
	if (minor)
		release_missing(share_file("breaks/names.txt"), minor, &missing);
	for (uint32_t i = 0; missing.len && i < x->n_finding; i++) {
		keep_lines(x, &x->finding[i].fix, buf_slice(&missing));
		keep_lines(x, &x->finding[i].hint, buf_slice(&missing));
	}
	for (uint32_t i = 0; missing.len && i < x->n_step; i++) {
		keep_lines(x, &x->step[i].fix, buf_slice(&missing));
		keep_lines(x, &x->step[i].hint, buf_slice(&missing));
	}
}
