/* The knowledge base: each file of share/patterns against its own examples; how patterns are read, looked for and ranked. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/patterns/patterns.h"
#include "../../lib/test.h"

static struct patterns *builtin(void)
{
	struct err err;
	struct patterns *k = patterns_load(NULL, &err);
	if (!k)
		fail_msg("%s", err.text);
	return k;
}

/* What a scan found, as text: "ID LINE OFFSET 'QUOTE' name=value\n". */
static void write_down(void *ctx, const struct pattern_match *m)
{
	struct buf *b = ctx;
	buf_addf(b, "%.*s %llu %llu '%.*s'", SL(m->pattern->id), (unsigned long long)m->line, (unsigned long long)m->offset, SL(m->quote));
	for (uint32_t i = 0; i < m->captures; i++)
		buf_addf(b, " %.*s=%.*s", SL(m->capture[i].name), SL(m->capture[i].value));
	buf_addc(b, '\n');
}

static void scan_all(struct buf *found, const struct patterns *k, struct slice text)
{
	struct pattern_scan s;
	pattern_scan_init(&s, k, write_down, found);
	pattern_scan_feed(&s, text, true);
	pattern_scan_release(&s);
}

static void assert_found(const struct patterns *k, const char *text, const char *want)
{
	struct buf b = {0};
	struct guard g = {0};
	scan_all(&b, k, slice_of(guard_put(&g, text, strlen(text)), strlen(text)));
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	guard_release(&g);
}

/* ---- the files ---- */

struct answer {
	const struct pattern *want;
	bool got, unfilled;
	struct buf others, text;
};

static void no_brace_left(struct answer *a, struct slice text, const struct pattern_match *m)
{
	buf_reset(&a->text);
	pattern_expand(&a->text, text, m);
	for (size_t i = 0; i < a->text.len; i++)
		a->unfilled |= pattern_placeholder(slice_of(a->text.p + i, a->text.len - i)).n != 0;
}

static void take_answer(void *ctx, const struct pattern_match *m)
{
	struct answer *a = ctx;
	if (m->pattern != a->want) {
		buf_addf(&a->others, " %.*s", SL(m->pattern->id));
		return;
	}
	a->got = true;
	no_brace_left(a, m->pattern->title, m);
	no_brace_left(a, m->pattern->cause, m);
	no_brace_left(a, m->pattern->check, m);
	for (uint32_t i = 0; i < m->pattern->fix.n; i++)
		no_brace_left(a, m->pattern->fix.item[i], m);
	for (uint32_t i = 0; i < m->pattern->hint.n; i++)
		no_brace_left(a, m->pattern->hint.item[i], m);
	for (uint32_t i = 0; i < m->captures; i++)
		if (!m->capture[i].value.n)
			a->unfilled = true;
}

static struct answer ask(const struct patterns *k, const struct pattern *p, struct slice text)
{
	struct answer a = {.want = p};
	struct pattern_scan s;
	pattern_scan_init(&s, k, take_answer, &a);
	pattern_scan_feed(&s, text, true);
	pattern_scan_release(&s);
	return a;
}

static void test_every_example(void **state)
{
	(void)state;
	struct patterns *k = builtin();
	unsigned bad = 0;
	for (uint32_t i = 0; i < patterns_count(k); i++) {
		const struct pattern *p = patterns_get(k, i);
		for (uint32_t j = 0; j < p->example.n + p->counter.n; j++) {
			bool counter = j >= p->example.n;
			struct answer a = ask(k, p, counter ? p->counter.item[j - p->example.n] : p->example.item[j]);
			const char *what = counter        ? (a.got ? "matches its no-example" : NULL)
					   : !a.got       ? "does not match its example"
					   : a.unfilled   ? "leaves a {name} or an empty capture"
					   : a.others.len ? "is not the only answer to its example"
							  : NULL;
			if (what) {
				print_message("# %.*s %s %u; others:%s\n", SL(p->id), what, j, buf_str(&a.others));
				bad++;
			}
			buf_release(&a.others);
			buf_release(&a.text);
		}
	}
	assert_int_equal(bad, 0);
	assert_true(patterns_count(k) >= 70);
	patterns_free(k);
}

struct titles {
	struct buf text;
	const struct pattern *want;
	uint32_t example;
};

static void write_title(void *ctx, const struct pattern_match *m)
{
	struct titles *t = ctx;
	if (m->pattern != t->want)
		return;
	buf_addf(&t->text, "%.*s\t%u\t", SL(m->pattern->id), t->example + 1);
	pattern_expand(&t->text, m->pattern->title, m);
	for (uint32_t i = 0; i < m->captures; i++)
		buf_addf(&t->text, "\t%.*s=%.*s", SL(m->capture[i].name), SL(m->capture[i].value));
	buf_addc(&t->text, '\n');
}

/* What each example gives, title and values, was read by somebody: a value cut short shows in no other test. New ones are in
 * build/titles.tsv; read them before they become tests/data/patterns/titles.tsv. */
static void test_every_title(void **state)
{
	(void)state;
	struct patterns *k = builtin();
	struct titles t = {0};
	struct buf want = {0};
	for (uint32_t i = 0; i < patterns_count(k); i++) {
		t.want = patterns_get(k, i);
		for (t.example = 0; t.example < t.want->example.n; t.example++) {
			struct pattern_scan s;
			pattern_scan_init(&s, k, write_title, &t);
			pattern_scan_feed(&s, t.want->example.item[t.example], true);
			pattern_scan_release(&s);
		}
	}
	if (!data_load("patterns/titles.tsv", &want))
		fail_msg("cannot read tests/data/patterns/titles.tsv");
	if (!slice_eq(buf_slice(&t.text), buf_slice(&want))) {
		FILE *f = fopen("build/titles.tsv", "w");
		assert_non_null(f);
		fwrite(t.text.p, 1, t.text.len, f);
		fclose(f);
		fail_msg("tests/data/patterns/titles.tsv has other titles; the new ones are in build/titles.tsv");
	}
	buf_release(&t.text);
	buf_release(&want);
	patterns_free(k);
}

static bool is_sentence(struct slice s) { return s.n > 20 && s.p[s.n - 1] == '.'; }

/* Things that a reader of the file would not notice to be missing. */
static void test_every_file(void **state)
{
	(void)state;
	struct patterns *k = builtin();
	unsigned bad = 0;
	for (uint32_t i = 0; i < patterns_count(k); i++) {
		const struct pattern *p = patterns_get(k, i);
		const char *what = p->title.n > 80                     ? "has a title over 80 bytes"
				   : p->title.p[p->title.n - 1] == '.' ? "has a title with a full stop"
				   : !is_sentence(p->cause)            ? "has a cause that is no sentence"
				   : p->cause.n > 600                  ? "has a cause that nobody will read"
				   : p->component == COMPONENT_NONE    ? "has no component"
				   : p->fix.n + p->hint.n > 5          ? "has too many fixes"
								       : NULL;
		for (uint32_t j = 0; j < p->fix.n && !what; j++)
			what = p->fix.item[j].n > 400 ? "has a fix that nobody will read" : NULL;
		for (uint32_t j = 0; j < p->hint.n && !what; j++)
			what = p->hint.item[j].n > 400 ? "has a hint that nobody will read" : NULL;
		for (uint32_t j = 0; j < i && !what; j++)
			what = slice_eq(p->title, patterns_get(k, j)->title) ? "has another one's title" : NULL;
		if (what) {
			print_message("# %.*s %s\n", SL(p->id), what);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
	patterns_free(k);
}

struct loud {
	const char *file;
	unsigned errors;
};

static void count_errors(void *ctx, const struct pattern_match *m)
{
	struct loud *l = ctx;
	if (m->pattern->level != FINDING_ERROR)
		return;
	print_message("# %s:%llu: %.*s: %.*s\n", l->file, (unsigned long long)m->line, SL(m->pattern->id), SL(m->quote));
	l->errors++;
}

/* Logs of runs in which nothing failed. */
static void test_harmless(void **state)
{
	(void)state;
	static const char *const file[] = {
	    "patterns/harmless/build.txt",
	    "patterns/harmless/inductor.txt",
	    "patterns/harmless/pip.txt",
	    "patterns/harmless/training.txt",
	    "../../CONTRIBUTING.md",
	    "traces/simple.log",
	    "traces/dynamic.log",
	    "traces/training.log",
	    "traces/aoti.log",
	    "traces/big.log",
	    "traces/models.log",
	    "traces/mix.log",
	    "traces/hop.log",
	    "traces/caches_warm.log",
	    "traces/custom_op.log",
	    "traces/compiled_autograd.log",
	    "traces/recompiles.log",
	    "traces/graph_breaks.log",
	    "traces/export.log",
	    "traces/provenance_jit.log",
	    "logs/autotune.log",
	};
	struct patterns *k = builtin();
	struct buf text = {0};
	unsigned errors = 0;
	for (size_t i = 0; i < ARRAY_LEN(file); i++) {
		struct loud l = {file[i], 0};
		struct pattern_scan s;
		char *xz = xasprintf("%s.xz", file[i]);
		if (!data_load(file[i], &text) && !data_load(xz, &text))
			fail_msg("cannot read tests/data/%s", file[i]);
		free(xz);
		pattern_scan_init(&s, k, count_errors, &l);
		pattern_scan_feed(&s, buf_slice(&text), true);
		pattern_scan_release(&s);
		errors += l.errors;
	}
	assert_int_equal(errors, 0);
	buf_release(&text);
	patterns_free(k);
}

static void write_id(void *ctx, const struct pattern_match *m)
{
	struct buf *b = ctx;
	if (!b->len || !memmem(b->p, b->len, m->pattern->id.p, m->pattern->id.n))
		buf_addf(b, "%.*s ", SL(m->pattern->id));
}

/* Recorded logs of failures: what is known in them, each once, in order. */
static void test_recorded(void **state)
{
	(void)state;
	static const struct {
		const char *file, *want;
	} log[] = {
	    {"logs/quiet.log.xz", "dynamo-unsupported backend-failed matmul-reduction cpp-compile-failed recompile-limit eager-suppressed "
				  "constraints-violated dynamic-dim-out-of-range matmul-shapes "},
	    {"traces/compile_error.log.xz", "cpp-compile-failed backend-failed matmul-reduction "},
	    {"crash/checked.txt", "aoti-machine-differs aoti-input-stride "},
	};
	struct patterns *k = builtin();
	struct buf text = {0}, found = {0};
	for (size_t i = 0; i < ARRAY_LEN(log); i++) {
		struct pattern_scan s;
		if (!data_load(log[i].file, &text))
			fail_msg("cannot read tests/data/%s", log[i].file);
		buf_reset(&found);
		pattern_scan_init(&s, k, write_id, &found);
		pattern_scan_feed(&s, buf_slice(&text), true);
		pattern_scan_release(&s);
		assert_string_equal(buf_str(&found), log[i].want);
	}
	buf_release(&text);
	buf_release(&found);
	patterns_free(k);
}

/* ---- how they are read ---- */

#define REST "component: dynamo\nlevel: error\ncause: c\ncheck: k\nfix: f\nsee: https://example.org/\nexample:\n    long enough text\n"

static void add(struct patterns *k, const char *id, const char *lines)
{
	struct err err;
	char *name = xasprintf("%s.pattern", id), *text = xasprintf("id: %s\ntitle: t\n%s\n%s", id, lines, REST);
	struct guard g = {0};
	if (patterns_add_text(k, name, slice_of(guard_put(&g, text, strlen(text)), strlen(text)), &err) < 0)
		fail_msg("%s", err.text);
	guard_release(&g);
	free(name);
	free(text);
}

static void compile(struct patterns *k)
{
	struct err err;
	if (patterns_compile(k, &err) < 0)
		fail_msg("%s", err.text);
}

static void assert_refused(const char *name, const char *text, const char *want)
{
	struct patterns *k = patterns_new();
	struct err err = {0};
	assert_int_equal(patterns_add_text(k, name, slice_str(text), &err), -1);
	assert_string_equal(err.text, want);
	assert_int_equal(err.status, EXIT_INPUT);
	patterns_free(k);
}

static void test_malformed(void **state)
{
	(void)state;
	assert_refused("d/a.pattern", "", "d/a.pattern: has no 'id:'");
	assert_refused("d/a.pattern", "  x\n", "d/a.pattern:1: indented, with no key before it");
	assert_refused("d/a.pattern", "# r\nhello\n", "d/a.pattern:2: neither 'key: value' nor indented");
	assert_refused("d/a.pattern", "id: b\n", "d/a.pattern:1: 'id' is not the file's name without .pattern");
	assert_refused("d/A.pattern", "id: A\n", "d/A.pattern:1: 'id' may contain only lower-case letters, digits and single hyphens");
	assert_refused("a.pattern", "id: a\n\nid: a\n", "a.pattern:3: 'id' is duplicated");
	assert_refused("a.pattern", "id:\n", "a.pattern:1: 'id' has no value");
	assert_refused("a.pattern", "mach: a\n", "a.pattern:1: 'mach' is not a key of a pattern");
	assert_refused("a.pattern", "level: bad\n", "a.pattern:1: 'level' is not one of error, warning, note");
	assert_refused("a.pattern", "see: http://x/\n", "a.pattern:1: 'see' is not an https:// address");
	assert_refused("a.pattern", "match: {a} is long enough\n", "a.pattern:1: 'match' begins with a wildcard; begin with text");
	assert_refused("a.pattern", "match: one{a}*text that is long\n",
		       "a.pattern:1: 'match' has two wildcards with no text between them");
	assert_refused("a.pattern", "match: short*as all\n",
		       "a.pattern:1: 'match' has no 8 characters of text in a row; quote more of the message");
	assert_refused("a.pattern", "id: a\ntitle: t\nmatch: long enough\n" REST "fix: say {it}\n",
		       "a.pattern: fix: {it} is not in every match line, nor in an 'and' line");
	assert_refused("a.pattern", "id: a\ntitle: t\nmatch: long enough\n" REST "hint: say {it}\n",
		       "a.pattern: hint: {it} is not in every match line, nor in an 'and' line");
	assert_refused("a.pattern", "id: a\ntitle: t\n" REST, "a.pattern: has no 'match:'");
	assert_refused("a.pattern", "id: a\nmatch: long enough\n" REST, "a.pattern: has no 'title:'");
}

static void test_reading(void **state)
{
	(void)state;
	struct patterns *k = patterns_new();
	add(k, "a",
	    "match: the value {v} is not\n  allowed here\nfix: first\nfix: second\n   line\nhint: third\nno-example:\n\n      one\n        "
	    "two\n\n    "
	    "three\n\n");
	const struct pattern *p = patterns_find(k, SLICE("a"));
	assert_non_null(p);
	assert_text(p->fix.item[1], "second line");
	assert_text(p->hint.item[0], "third");
	assert_text(p->counter.item[0], "one\n  two\n\nthree");
	compile(k);
	assert_found(k, "x: the value 7 is not allowed here", "a 1 3 'x: the value 7 is not allowed here' v=7\n");
	assert_found(k, "x: the value  is not allowed here", ""); /* a space only */
	add(k, "a", "match: another text");                       /* the same id replaces */
	assert_int_equal(patterns_count(k), 1);
	assert_found(k, "another text", ""); /* not compiled yet */
	compile(k);
	assert_found(k, "the value 7 is not allowed here\nanother text", "a 2 32 'another text'\n");
	patterns_free(k);
}

static void assert_not_joined(const char *a, const char *b, const char *want)
{
	struct patterns *k = patterns_new();
	struct err err = {0};
	add(k, "a", a);
	add(k, "b", b);
	assert_int_equal(patterns_compile(k, &err), -1);
	assert_string_equal(err.text, want);
	patterns_free(k);
}

static void test_over_errors(void **state)
{
	(void)state;
	assert_not_joined("match: long enough", "match: long enough\nover: c", "b.pattern: over: 'c' is not the id of another pattern");
	assert_not_joined("match: long enough", "match: long enough\nover: b", "b.pattern: over: 'b' is not the id of another pattern");
	assert_not_joined("match: long enough\nover: b", "match: long enough\nover: a", "a.pattern: over: is circular; remove one 'over'");
}

static void test_folder(void **state)
{
	(void)state;
	char dir[] = "/tmp/test_patterns.XXXXXX";
	struct err err = {0};
	assert_non_null(mkdtemp(dir));
	char *good = xasprintf("%s/mine.pattern", dir), *other = xasprintf("%s/README", dir), *want;
	FILE *f = fopen(good, "w");
	fputs("id: mine\ntitle: t\nmatch: our own launcher says {what}\n" REST, f);
	fclose(f);
	f = fopen(other, "w");
	fputs("not a pattern\n", f);
	fclose(f);
	struct patterns *k = builtin();
	uint32_t n = patterns_count(k);
	assert_int_equal(patterns_add_dir(k, dir, &err), 0);
	assert_int_equal(patterns_count(k), n + 1);
	compile(k);
	assert_found(k, "our own launcher says no\n", "mine 1 0 'our own launcher says no' what=no\n");
	f = fopen(good, "w");
	fputs("id: mine\ntitel: t\n", f);
	fclose(f);
	assert_int_equal(patterns_add_dir(k, dir, &err), -1);
	want = xasprintf("%s:2: 'titel' is not a key of a pattern", good);
	assert_string_equal(err.text, want);
	free(want);
	unlink(good);
	unlink(other);
	rmdir(dir);
	assert_int_equal(patterns_add_dir(k, dir, &err), -1);
	want = xasprintf("cannot open the pattern directory '%s': No such file or directory", dir);
	assert_string_equal(err.text, want);
	free(want);
	free(good);
	free(other);
	patterns_free(k);
}

/* ---- how they are looked for ---- */

static void test_wildcards(void **state)
{
	(void)state;
	struct patterns *k = patterns_new();
	add(k, "mid", "match: from {a} to {b} in the middle of *, end: {c}!");
	add(k, "tail", "match: everything after this is {rest}");
	add(k, "esc", "match: f(\\*args, \\{x}) \\\\ back");
	compile(k);
	assert_found(k, "from x from 1 to 2 in the middle of nowhere, end: 3! 4!",
		     "mid 1 7 'from x from 1 to 2 in the middle of nowhere, end: 3! 4!' a=1 b=2 c=3\n");
	assert_found(k, "from 1 to 2 in the middle of , end: 3!", "mid 1 0 'from 1 to 2 in the middle of , end: 3!' a=1 b=2 c=3\n");
	assert_found(k, "from 1 to 2 in the middle of , end: !", ""); /* {c} wants a character */
	assert_found(k, "from 1\nto 2 in the middle of , end: 3!", "");
	assert_found(k, "from 1 to 2 in the middle of \n, end: 3!", "");
	assert_found(k, "everything after this is  so \r\n", "tail 1 0 'everything after this is  so' rest=so\n");
	assert_found(k, "everything after this is ", "");
	assert_found(k, "call f(*args, {x}) \\ back", "esc 1 5 'call f(*args, {x}) \\ back'\n");
	assert_found(k, "\n\neverything after this is 1\neverything after this is 2 everything after this is 3\n",
		     "tail 3 2 'everything after this is 1' rest=1\n"
		     "tail 4 29 'everything after this is 2 everything after this is 3' rest=2 everything after this is 3\n");
	patterns_free(k);
}

/* A value is whole, and only that: numbers with their points, calls with brackets in them, what torch adds behind it. */
static void test_values(void **state)
{
	(void)state;
	struct patterns *k = patterns_new();
	add(k, "size", "match: Tried to allocate {size}.");
	add(k, "call", "match: torch_{call}(* API CALL FAILED at {file}, line {line}");
	add(k, "end", "match: the dtype must be bool, got {dtype}");
	add(k, "two",
	    "match: skipping cudagraphs: {why}\nmatch: skipping cudagraphs: {why}. Found from\nmatch: skipping cudagraphs: {why} Found "
	    "from");
	compile(k);
	assert_found(k, "Tried to allocate 2.50 GiB. GPU 0", "size 1 0 'Tried to allocate 2.50 GiB. GPU 0' size=2.50 GiB\n");
	assert_found(k, "Tried to allocate 2.50 GiB.", "size 1 0 'Tried to allocate 2.50 GiB.' size=2.50 GiB\n");
	assert_found(k, "Tried to allocate 2.50 GiB", "");
	assert_found(k, "Tried to allocate 2. GPU 0", "size 1 0 'Tried to allocate 2. GPU 0' size=2\n");
	assert_found(k, "torch_mm(view(a), 0) API CALL FAILED at a.cpp, line 7",
		     "call 1 0 'torch_mm(view(a), 0) API CALL FAILED at a.cpp, line 7' "
		     "call=mm file=a.cpp line=7\n");
	assert_found(k, "E('the dtype must be bool, got Long')", "end 1 3 'E('the dtype must be bool, got Long')' dtype=Long\n");
	assert_found(k, "the dtype must be bool, got (None, 'x')", "end 1 0 'the dtype must be bool, got (None, 'x')' dtype=(None, 'x')\n");
	assert_found(k, "the dtype must be bool, got Long.", "end 1 0 'the dtype must be bool, got Long.' dtype=Long\n");
	assert_found(k, "the dtype must be bool, got x...", "end 1 0 'the dtype must be bool, got x...' dtype=x...\n");
	assert_found(k, "the dtype must be bool, got Long (x) (see https://a/)",
		     "end 1 0 'the dtype must be bool, got Long (x) (see https://a/)' "
		     "dtype=Long (x)\n");
	assert_found(k, "skipping cudagraphs: a b", "two 1 0 'skipping cudagraphs: a b' why=a b\n");
	assert_found(k, "skipping cudagraphs: a b. Found from : x", "two 1 0 'skipping cudagraphs: a b. Found from : x' why=a b\n");
	assert_found(k, "skipping cudagraphs: a b Found from : x", "two 1 0 'skipping cudagraphs: a b Found from : x' why=a b\n");
	patterns_free(k);
}

static void test_reach(void **state)
{
	(void)state;
	struct patterns *k = patterns_new();
	struct buf t = {0};
	add(k, "a", "match: opening*, the closing part");
	compile(k);
	for (int over = 0; over < 2; over++) {
		buf_reset(&t);
		buf_adds(&t, "opening");
		for (int i = 0; i < PATTERN_WILD + over; i++)
			buf_addc(&t, '-');
		buf_adds(&t, ", the closing part");
		struct buf b = {0};
		scan_all(&b, k, buf_slice(&t));
		assert_int_equal(b.len != 0, !over);
		buf_release(&b);
	}
	buf_release(&t);
	patterns_free(k);
}

static void lines(struct buf *b, unsigned n)
{
	while (n--)
		buf_adds(b, "nothing here\n");
}

static void test_near(void **state)
{
	(void)state;
	struct patterns *k = patterns_new();
	add(k, "and", "match: first part of it\nand: reason: the {what} is gone");
	add(k, "not", "match: other message\nnot: but it was caught");
	compile(k);
	assert_found(k, "first part of it\n", "");
	assert_found(k, "first part of it; reason: the disk is gone", "and 1 0 'first part of it; reason: the disk is gone' what=disk\n");
	assert_found(k, "reason: the disk is gone\nfirst part of it", "and 2 25 'first part of it' what=disk\n");
	assert_found(k, "other message", "not 1 0 'other message'\n");
	assert_found(k, "other message\n\nbut it was caught", "");
	assert_found(k, "but it was caught\nother message", "");
	struct buf b = {0};
	for (unsigned gap = PATTERN_NEAR - 1; gap <= PATTERN_NEAR; gap++)
		for (int before = 0; before < 2; before++) {
			buf_reset(&b);
			buf_adds(&b, before ? "reason: the fan is gone, but it was caught\n" : "first part of it, other message\n");
			lines(&b, gap);
			buf_adds(&b, before ? "first part of it, other message\n" : "reason: the fan is gone, but it was caught\n");
			struct buf got = {0};
			scan_all(&got, k, buf_slice(&b));
			assert_true(slice_starts(buf_slice(&got), gap < PATTERN_NEAR ? "and " : "not "));
			buf_release(&got);
		}
	buf_release(&b);
	patterns_free(k);
}

static void test_which_wins(void **state)
{
	(void)state;
	struct patterns *k = patterns_new();
	add(k, "general", "match: RuntimeError: ");
	add(k, "special", "match: RuntimeError: CUDA error");
	add(k, "cause", "match: no kernel image for the device\nover: general special");
	compile(k);
	assert_found(k, "RuntimeError: x\n", "general 1 0 'RuntimeError: x'\n");
	assert_found(k, "RuntimeError: CUDA error\n", "special 1 0 'RuntimeError: CUDA error'\n");
	assert_found(k, "RuntimeError: CUDA error\n\nno kernel image for the device\n", "cause 3 26 'no kernel image for the device'\n");
	assert_found(k, "no kernel image for the device\n\nRuntimeError: x\n", "cause 1 0 'no kernel image for the device'\n");
	struct buf b = {0};
	buf_adds(&b, "RuntimeError: x\n");
	lines(&b, PATTERN_OVER);
	buf_adds(&b, "no kernel image for the device\n");
	struct buf got = {0};
	scan_all(&got, k, buf_slice(&b));
	assert_true(slice_starts(buf_slice(&got), "general 1 0"));
	buf_release(&got);
	buf_release(&b);
	patterns_free(k);
}

static void random_text(struct buf *b, uint64_t *seed, const struct patterns *k)
{
	buf_reset(b);
	for (uint32_t i = 0, n = pick(seed, 40); i < n; i++) {
		const struct pattern *p = patterns_get(k, pick(seed, patterns_count(k)));
		switch (pick(seed, 6)) {
		case 0: lines(b, pick(seed, 70)); break;
		case 1:
			for (uint32_t j = pick(seed, 3) ? 30 : PATTERN_REACH + pick(seed, 999); j--;)
				buf_addc(b, (char)random_u32(seed));
			break;
		case 2: buf_adds(b, "\r\n"); break;
		default: buf_add_slice(b, p->example.item[0]); buf_adds(b, pick(seed, 3) ? "\n" : " ");
		}
	}
}

static void test_pieces(void **state)
{
	(void)state;
	struct patterns *k = builtin();
	struct buf text = {0}, whole = {0}, parts = {0};
	struct guard g = {0};
	uint64_t seed = 7;
	unsigned found = 0;
	for (int round = 0; round < 150; round++) {
		struct pattern_scan s;
		random_text(&text, &seed, k);
		buf_reset(&whole);
		scan_all(&whole, k, buf_slice(&text));
		found += whole.len != 0;
		pattern_scan_init(&s, k, write_down, &parts);
		for (uint32_t size = 1; size <= text.len + 1; size = size < 4 ? size + 1 : size * 3 + pick(&seed, 7)) {
			buf_reset(&parts);
			for (size_t at = 0; at < text.len; at += size) {
				size_t n = text.len - at < size ? text.len - at : size;
				pattern_scan_feed(&s, slice_of(guard_put(&g, text.p + at, n), n), false);
			}
			pattern_scan_feed(&s, (struct slice){0}, true); /* and then once more with the same scan */
			assert_int_equal(parts.len, whole.len);
			assert_memory_equal(buf_str(&parts), buf_str(&whole), whole.len);
		}
		pattern_scan_release(&s);
	}
	assert_true(found > 100);
	guard_release(&g);
	buf_release(&text);
	buf_release(&whole);
	buf_release(&parts);
	patterns_free(k);
}

static void count(void *ctx, const struct pattern_match *m)
{
	uint64_t *n = ctx;
	n[0]++;
	n[1] = m->line;
}

/* A message a million times, one line of 64 MB, and zeros: slow or large would show. */
static void test_much(void **state)
{
	(void)state;
	struct patterns *k = patterns_new();
	struct pattern_scan s;
	uint64_t n[2] = {0};
	struct buf b = {0};
	add(k, "a", "match: the same message\nand: with a reason: {x}");
	add(k, "b", "match: the same * again\nnot: never mind");
	compile(k);
	pattern_scan_init(&s, k, count, n);
	while (b.len < 1 << 20)
		buf_adds(&b, "the same message again\nwith a reason: 7\n");
	for (int i = 0; i < 8; i++)
		pattern_scan_feed(&s, buf_slice(&b), i == 7);
	uint64_t each = b.len / strlen("the same message again\nwith a reason: 7\n") * 8;
	assert_int_equal(n[0], each); /* one answer a line */
	assert_int_equal(n[1], 2 * each - 1);
	assert_true(s.cap <= PATTERN_PENDING);
	buf_reset(&b);
	while (b.len < 1 << 20)
		buf_adds(&b, "the same thing, the same thing ");
	n[0] = 0;
	for (int i = 0; i < 64; i++)
		pattern_scan_feed(&s, buf_slice(&b), false);
	assert_true(s.carry.cap < 1 << 18);
	pattern_scan_feed(&s, SLICE("the same message again\nwith a reason: x"), true);
	assert_int_equal(n[0], 1);
	assert_int_equal(n[1], 1);
	memset(b.p, 0, b.len);
	pattern_scan_feed(&s, buf_slice(&b), true);
	assert_int_equal(n[0], 1);
	pattern_scan_release(&s);
	buf_release(&b);
	patterns_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_example), cmocka_unit_test(test_every_title), cmocka_unit_test(test_every_file),
	    cmocka_unit_test(test_harmless),      cmocka_unit_test(test_recorded),    cmocka_unit_test(test_malformed),
	    cmocka_unit_test(test_reading),       cmocka_unit_test(test_over_errors), cmocka_unit_test(test_folder),
	    cmocka_unit_test(test_wildcards),     cmocka_unit_test(test_values),      cmocka_unit_test(test_reach),
	    cmocka_unit_test(test_near),          cmocka_unit_test(test_which_wins),  cmocka_unit_test(test_pieces),
	    cmocka_unit_test(test_much),
	};
	return RUN(tests);
}
