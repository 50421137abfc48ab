/* tlparse - what happened in this compilation? Turns a structured trace (TORCH_TRACE) into a report. */
#include "base/emit/format.h"
#include "base/tool/parts.h"
#include "base/broker/broker.h"
#include "tlparse.h"

#include "base/text.h"
#include "run/diagnose/limits.h"
#include "run/diagnose/locate.h"
#include "run/document.h"
#include "run/diagnose/settled.h"
#include "run/patterns/patterns.h"

#include "base/process/browser.h"
#include "base/tool/diag.h"
#include "base/tool/json_stream.h"
#include "base/tool/opt.h"
#include "base/io/distinfo.h"
#include "base/io/mapfile.h"
#include "base/srcloc.h"
#include "base/tool/output.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct tlparse_options opt = {.port = 8000};

static const struct opt options[] = {
    OPT_HEADING("What to write"),
    OPT_STRING(0, "html", "[=FILE]", &opt.html, "write one self-contained HTML page", .more = "To FILE or standard output."),
    OPT_FLAG(0, "json", &opt.json, "write the facts as one JSON document"),
    OPT_FORMAT,
    OPT_STRING('o', "output", "DIR", &opt.out, "write a directory of files (default: tl_out)",
	       .more = "With --json or --diff: the output file."),
    OPT_FLAG(0, "diff", &opt.diff, "compare BEFORE with AFTER; exit 1 if they differ"),
    OPT_FLAG(0, "serve", &opt.serve, "serve the report to a browser on this machine",
	     .more = "Over HTTP, on 127.0.0.1 alone, until Ctrl-C."),
    OPT_INT(0, "port", "N", &opt.port, 0, 65535, "serve on port N (default: 8000; 0: a free one)", .rare = true),
    OPT_HEADING("The directory, compatible with the Rust tlparse"),
    OPT_FLAG(0, "overwrite", &opt.overwrite, "replace an earlier report"),
    OPT_FLAG('p', "plain-text", &opt.plain_text, "write generated code as text, not as pages"),
    OPT_STRING(0, "custom-header-html", "HTML", &opt.header, "put HTML on top of the index, unchanged", .rare = true),
    OPT_FLAG(0, "no-browser", &opt.no_browser, "do not open a browser"),
    OPT_FLAG('e', "export", &opt.export, "report on an export log: what blocked the export"),
    OPT_FLAG('i', "inductor-provenance", &opt.provenance, "add pages that link graphs and code by line"),
    OPT_FLAG(0, "all-ranks-html", &opt.all_ranks, "compare the logs of all ranks in one report",
	     .more = "Or the documents that --json wrote of them."),
    OPT_HEADING("Other"),
    OPT_FLAG(0, "latest", &opt.latest, "read only the newest log of each directory"),
    OPT_PAIRS(0, "max", "NAME=N", &opt.max, "exit 1 if NAME exceeds N, e.g. graph-breaks=0",
	      .more = "Also recompiles, compile-seconds, ...; may be given again."),
    OPT_FLAG(0, "strict", &opt.strict, "exit 1 if a log could not be read completely"),
    OPT_FLAG(0, "strict-compile-id", &opt.strict_compile_id, "exit 1 if a record has no usable compile id", .rare = true),
    OPT_FLAG('v', "verbose", &opt.verbose, "print the summary and every unknown key"),
    OPT_FLAG('q', "quiet", &opt.quiet, "print no progress and no summary"),
    OPT_END,
};

static const struct opt_rule rules[] = {
    {.of = "all-ranks-html", .with = "json html latest", .text = "--all-ranks-html cannot be combined with --json, --html or --latest"},
    {.of = "serve", .with = "json format diff", .text = "--serve cannot be combined with --json, --format or --diff"},
    {.of = "diff", .with = "all-ranks-html", .text = "--diff and --all-ranks-html cannot be combined"},
    {.of = "max", .with = "diff all-ranks-html", .text = "--max cannot be combined with --diff or --all-ranks-html"},
    {0},
};

static const struct opt_spec spec = {
    .tool = "tlparse",
    .about = "What did torch.compile do in this run?",
    .example = {{"trace.log --html=page.html", "write one HTML page"},
		{"traces -o report", "write a directory of files"},
		{"--diff before.log after.log", "compare two runs"}},
    .footer = "LOG: a trace of TORCH_TRACE=DIR (also .gz, .xz, .zst), a directory, or -.",
    .more = "Without an option: one HTML page on standard output, or tl_out/ if that is a terminal.\n"
	    "--all-ranks-html, --json and --html also read dumps of NCCL's Flight Recorder: which rank keeps the others waiting, and why.\n"
	    "To run a program and see its page at once: fxexplain run --html=page.html -- COMMAND.",
    .options = options,
    .rules = rules,
    .operands = "LOG...",
    .min = 1,
    .max = -1,
};

/* ---- operands ---- */

static int by_version(const void *a, const void *b) { return strverscmp(*(char *const *)a, *(char *const *)b); }

static void add_dump(char *path) { PUSH(&opt, dump) = path; }

/* Flight Recorder dumps: one that cannot be read is skipped with a warning, unless it is the only input. */
static void read_dumps(struct ranks *all, struct report *r)
{
	for (size_t i = 0; i < opt.n_dump; i++) {
		struct flight f;
		struct err err;
		if (flight_load(&f, opt.dump[i], &err) == 0) {
			ranks_flight(all, &f);
			continue;
		}
		if (opt.n_dump == 1 && !r->n)
			die_err(&err);
		warn("%s", err.text);
		r->unread |= f.unread;
		r->lost++;
	}
}

/* The traces in a directory: files with PyTorch's names for them, and files that look like one. For --all-ranks-html, if there are none:
 * the output of --json. */
static int add_dir(const char *dir, char ***path, size_t *n, size_t *cap, struct err *err)
{
	DIR *d = opendir(dir);
	if (!d)
		return err_errno(err, EXIT_INPUT, "cannot read directory '%s'", dir);
	size_t first = *n, documents = 0, cap_documents = 0, first_dump = opt.n_dump;
	char **document = NULL;
	time_t newest = 0;
	long newest_ns = 0;
	for (struct dirent *e; (e = readdir(d));) {
		struct stat st;
		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
			continue;
		char *p = xasprintf("%s/%s", dir, e->d_name);
		if (strncmp(e->d_name, "dedicated_log_torch_trace", 25) && !trace_is_log(p)) {
			if (opt.all_ranks && document_is_there(p)) {
				PUSH_TO(document, documents, cap_documents) = p;
			} else if (flight_is_there(p)) {
				add_dump(p);
			} else {
				free(p);
			}
			continue;
		}
		if (opt.latest && *n > first) {
			if (st.st_mtim.tv_sec < newest || (st.st_mtim.tv_sec == newest && st.st_mtim.tv_nsec <= newest_ns)) {
				free(p);
				continue;
			}
			free((*path)[--*n]);
		}
		newest = st.st_mtim.tv_sec;
		newest_ns = st.st_mtim.tv_nsec;
		PUSH_TO(*path, *n, *cap) = p;
	}
	closedir(d);
	for (size_t i = 0; i < documents; i++) {
		if (*n - first != i) {
			free(document[i]);
			continue;
		}
		PUSH_TO(*path, *n, *cap) = document[i];
	}
	free(document);
	if (opt.n_dump > first_dump)
		qsort(opt.dump + first_dump, opt.n_dump - first_dump, sizeof(*opt.dump), by_version);
	if (*n == first && first_dump < opt.n_dump)
		return 0;
	if (*n == first)
		return err_set(err, EXIT_INPUT, "no trace in directory '%s': run the program with TORCH_TRACE=DIR to write one", dir);
	qsort(*path + first, *n - first, sizeof(**path), by_version);
	return 0;
}

/* lost: counts unreadable operands, if there are others. */
static char **input_paths(const struct operands *in, size_t *n, unsigned *lost)
{
	struct err err;
	char **path = NULL;
	size_t cap = 0;
	*n = 0;
	for (int i = 0; i < in->n; i++) {
		struct stat st;
		if (strcmp(in->v[i], "-") && stat(in->v[i], &st) == 0 && S_ISDIR(st.st_mode)) {
			if (add_dir(in->v[i], &path, n, &cap, &err) < 0) {
				if (in->n == 1)
					die_err(&err);
				warn("%s", err.text);
				++*lost;
			}
			continue;
		}
		if (opt.latest)
			die(EXIT_USAGE, "--latest needs a directory: '%s'", in->v[i]);
		if (flight_is_there(in->v[i])) {
			add_dump(xstrdup(in->v[i]));
			opt.named_dumps++;
			continue;
		}
		PUSH_TO(path, *n, cap) = xstrdup(in->v[i]);
	}
	if (opt.named_dumps && (opt.diff || (!opt.all_ranks && !opt.json && !opt.html)))
		die(EXIT_USAGE, "'%s' is a Flight Recorder dump: it needs --all-ranks-html, --json or --html", opt.dump[0]);
	if (!*n && (!opt.n_dump || (!opt.all_ranks && !opt.json)))
		die(EXIT_INPUT, "no input could be read");
	return path;
}

/* ---- outputs ---- */

/* Reads the logs without an emitter; unreadable logs are skipped with a warning. */
static void read_facts(struct report *r)
{
	struct err err;
	const struct trace_hooks h = {.progress = PROGRESS(&opt), .in_part = true};
	const struct facts_options o = {.ranks = true, .few_metrics = true, .no_graphs = !opt.max.n, .no_phases = !opt.max.n};
	unsigned good = 0;
	for (unsigned i = 0; i < r->n; i++) {
		if (trace_read_facts(&r->log[i], &o, &h, &err) == 0) {
			r->log[good++] = r->log[i];
			continue;
		}
		if (r->n == 1)
			die_err(&err);
		else {
			warn("%s", err.text);
			r->unread |= r->log[i].unread != NULL;
			trace_release(&r->log[i]);
			r->lost++;
		}
	}
	if (!good && !opt.n_dump)
		die(EXIT_INPUT, "no input could be read");
	r->n = good;
}

static void write_json(struct report *r, char *const *path, size_t n)
{
	struct err err = {.text = ""};
	struct json_stream x;
	if (opt.out)
		tlparse_refuse_input(opt.out, path, n);
	read_facts(r);
	report_finish(r);
	struct ranks all = {0};
	read_dumps(&all, r);
	for (uint32_t i = 0; all.n_flight && i < r->facts.n_input && all.n_process < RANK_PROCESSES; i++)
		ranks_add(&all, &r->facts, i, i);
	ranks_finish(&all);
	r->ranks = all.n_flight ? &all : NULL;
	struct output *file = opt.out ? output_file(opt.out, &err) : NULL;
	if (opt.out && !file)
		die_err(&err);
	json_stream(&x, file ? output_fd(file) : STDOUT_FILENO, opt.out ? opt.out : "standard output", &err);
	report_document(&x.o, r, false);
	buf_addc(&x.b, '\n');
	int status = json_stream_end(&x);
	if (file && status == 0)
		status = output_commit(file, &err);
	else
		output_abort(file);
	if (status < 0 && err.text[0])
		die_err(&err);
	r->ranks = NULL;
	ranks_release(&all);
}

/* Writes the logs to a page; unreadable ones are skipped with a warning. */
static int read_page(struct page *p, char *const *path, size_t n, unsigned *lost, struct err *err)
{
	struct patterns *known = patterns_load(NULL, err);
	const struct facts_options o = {.patterns = known, .few_metrics = true};
	int status = known ? 0 : -1;
	size_t good = 0;
	for (size_t i = 0; !status && i < n; i++) {
		if (page_add(p, path[i], &o, PROGRESS(&opt), err) == 0) {
			good++;
		} else if (err->status == EXIT_INPUT && n > 1) {
			warn("%s", err->text);
			++*lost;
		} else {
			status = -1;
		}
	}
	patterns_free(known);
	return status ? -1 : good ? 0 : err_set(err, EXIT_INPUT, "no input could be read");
}

static void write_html(struct report *r, char *const *path, size_t n, const char *to)
{
	struct err err = {.text = ""};
	struct explanation told;
	if (to)
		tlparse_refuse_input(to, path, n);
	struct page *p = page_new(r, to, n > 1, &err);
	if (!p || read_page(p, path, n, &r->lost, &err) < 0)
		die_err(&err);
	if (page_ranks(p))
		read_dumps(page_ranks(p), r);
	report_finish(r);
	explain_located(&told, &r->facts);
	int status = page_write(p, &told, &err);
	explanation_release(&told);
	page_free(p);
	if (status < 0 && err.text[0])
		die_err(&err);
}

static void open_browser(void)
{
	FREED char *page = xasprintf("%s/index.html", opt.out);
	if (!opt.no_browser)
		browser_open(page);
}

/* Prints the most important numbers in a few lines on stderr. */
static void print_summary(const struct report *r, const char *where)
{
	if (opt.quiet || !(opt.verbose || opt.terminal))
		return;
	for (unsigned i = 0; i < r->n; i++) {
		const struct trace *t = &r->log[i];
		struct facts_sums c;
		facts_sums(t->f, t->input, &c);
		struct slice version = t->torch_version == NONE ? SLICE("unknown") : intern_get(&t->f->names, t->torch_version);
		note(
		    "%s: torch %.*s, %llu compiles, %llu graph breaks, %llu recompiles, %llu failures, %llu artifacts, %.1f s compile time",
		    t->path, SLN(version, 100), (unsigned long long)c.compiles, (unsigned long long)c.graph_breaks,
		    (unsigned long long)c.recompiles, (unsigned long long)c.failures, (unsigned long long)c.artifacts, t->compile_seconds);
		if (c.resets)
			note("%s: dynamo was reset %llu time%s: compile ids restart", t->path, (unsigned long long)c.resets,
			     plural(c.resets));
		for (uint32_t k = 0; opt.verbose && k < t->n_unknown; k++) {
			struct slice key = intern_get(&t->f->names, t->unknown[k].key);
			warn("%s: unknown key '%.*s' (%llu record%s, first in line %llu)", t->path, SL(key),
			     (unsigned long long)t->unknown[k].count, plural(t->unknown[k].count), (unsigned long long)t->unknown[k].line);
		}
	}
	if (where)
		note("report: %s", where);
}

/* Warns about each log that could not be read completely, one line each. */
static bool warn_damage(struct report *r)
{
	bool damaged = false;
	for (unsigned i = 0; i < r->n; i++) {
		const struct trace *t = &r->log[i];
		unsigned first = DAMAGE_COUNT, kinds = 0;
		for (unsigned k = 0; k < DAMAGE_COUNT; k++)
			if (t->damage[k].count) {
				kinds++;
				if (first == DAMAGE_COUNT || t->damage[k].line < t->damage[first].line)
					first = k;
			}
		if (!kinds)
			continue;
		damaged = true;
		r->unread |= t->unread != NULL;
		if (t->unread)
			warn("cannot read '%s' to the end: %s: only the part before line %llu is reported", t->path, t->unread,
			     (unsigned long long)t->damage[DAMAGE_INPUT].line + 1);
		else if (kinds == 1)
			warn("%s: line %llu: %s (%llu)", t->path, (unsigned long long)t->damage[first].line, trace_damage_text[first],
			     (unsigned long long)t->damage[first].count);
		else
			warn("%s: line %llu: %s (%llu); and %u other %s of damage, listed in the report", t->path,
			     (unsigned long long)t->damage[first].line, trace_damage_text[first],
			     (unsigned long long)t->damage[first].count, kinds - 1, kinds == 2 ? "kind" : "kinds");
	}
	return damaged;
}

/* --max */
static int limits_status(struct facts *f)
{
	struct explanation x;
	if (!opt.max.n)
		return EXIT_FINE;
	explain(&x, f);
	int status = limits_exceeded(&x, &opt.max) ? EXIT_FOUND : limits_blind(&x, &opt.max) ? EXIT_PARTIAL : EXIT_FINE;
	explanation_release(&x);
	return status;
}

static int write_ranks(struct report *r)
{
	struct ranks_result res;
	struct err err;
	if (!opt.out)
		opt.out = "tl_out";
	if (ranks_write(r, &opt, &res, &err) < 0)
		die_err(&err);
	if (!opt.quiet && (opt.verbose || opt.terminal)) {
		note("%u processes%s%s", res.processes, res.agree ? ", all identical" : ", not all identical",
		     res.lost ? "; some logs could not be read" : "");
		note("report: %s", opt.out);
	}
	open_browser();
	if (opt.strict && (res.damaged || res.lost || r->lost))
		return EXIT_FOUND;
	return r->unread ? EXIT_INPUT : opt.strict_compile_id && res.bad_ids ? EXIT_FOUND : EXIT_FINE;
}

static void free_paths(char **path, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(path[i]);
	free(path);
}

/* together: the rows of all logs are in one model. */
static void init_logs(struct report *r, char *const *path, size_t n, bool together)
{
	r->n = (unsigned)n;
	r->log = xcalloc(n, sizeof(*r->log));
	for (size_t i = 0; i < n; i++)
		trace_init(&r->log[i], path[i], together ? &r->facts : NULL);
}

static int compare_runs(struct operands *in)
{
	const char *name[2] = {in->v[0], in->v[1]};
	char **path[2];
	size_t n[2];
	for (unsigned s = 0; s < 2; s++) {
		const char *one[2] = {name[s], NULL};
		unsigned lost = 0;
		path[s] = input_paths(&(struct operands){.v = one, .n = 1}, &n[s], &lost);
	}
	int status = diff_main(&opt, name, path, n);
	for (unsigned s = 0; s < 2; s++)
		free_paths(path[s], n[s]);
	operands_release(in);
	if (close(STDOUT_FILENO) < 0)
		die_errno(EXIT_ENVIRON, "cannot write 'standard output'");
	return status;
}

/* Findings as SARIF, annotations or Markdown are fxexplain's to write. */
static _Noreturn void become_fxexplain(const struct operands *in)
{
	FREED char *program = tool_find("fxexplain");
	FREED char **v = xcalloc((size_t)in->n + 2 * opt.max.n + 5, sizeof(*v));
	size_t n = 0;
	if (!program)
		die(EXIT_ENVIRON, "--format=%s needs fxexplain, which should lie beside this program", format_name[format_chosen()]);
	v[n++] = program;
	v[n++] = xasprintf("--format=%s", format_name[format_chosen()]);
	if (opt.out)
		v[n++] = xasprintf("--output=%s", opt.out);
	for (size_t i = 0; i < opt.max.n; i++)
		v[n++] = xasprintf("--max=%.*s=%s", SL(opt.max.v[i].name), opt.max.v[i].value);
	v[n++] = xstrdup("--");
	memcpy(v + n, in->v, (size_t)in->n * sizeof(*v));
	execv(program, v);
	die_errno(EXIT_ENVIRON, "cannot run '%s'", program);
}

int main(int argc, char **argv)
{
	struct operands in;
	struct err err;
	opt_parse_or_exit(&spec, argc, argv, &in);
	format_apply(&spec, &in);
	mapfile_watch();
	srcloc_is_installed = distinfo_beside;
	if (format_chosen() > FORM_JSON && !opt.diff)
		become_fxexplain(&in);
	if (opt.diff && in.n != 2)
		die(EXIT_USAGE, "--diff needs two logs or directories, before and after");
	limits_check(&opt.max);
	if (opt.serve) {
		if (opt.html && (!*opt.html || !strcmp(opt.html, "-")))
			die(EXIT_USAGE, "--serve needs a file for --html");
		operands_release(&in);
		return serve_report(&opt, argc, argv);
	}
	opt.terminal = isatty(STDERR_FILENO);
	/* A directory's files are made by many threads, one after the other: that is not worth asking for each (broker.h). */
	const bool one_file = opt.diff || opt.json || (!opt.out && !opt.all_ranks && opt.html);
	if (one_file) { /* before the thread that waits for signals: Landlock holds for threads that are started later */
		output_fail_writes();
		broker_start();
		broker_trust(BROKER_OUTPUT, opt.out);
		broker_trust(BROKER_OUTPUT, opt.html);
		broker_seal(0);
	}
	if (!opt.diff)
		settled(&opt.max, NULL);
	output_watch_signals();

	if (opt.diff)
		return compare_runs(&in);

	struct report r = {0};
	facts_init(&r.facts);
	size_t n;
	char **path = input_paths(&in, &n, &r.lost);

	if (opt.all_ranks) {
		init_logs(&r, path, n, false);
		int status = write_ranks(&r);
		report_release(&r);
		free_paths(path, n);
		free_paths(opt.dump, opt.n_dump);
		operands_release(&in);
		return status;
	}
	bool rust_option = opt.overwrite || opt.no_browser || opt.strict || opt.strict_compile_id || opt.plain_text || opt.header ||
			   opt.export || opt.provenance;
	const char *where = NULL;
	if (opt.json) {
		init_logs(&r, path, n, true);
		write_json(&r, path, n);
	} else if (!opt.out && (opt.html || (!rust_option && !isatty(STDOUT_FILENO)))) {
		where = opt.html && *opt.html && strcmp(opt.html, "-") ? opt.html : NULL;
		write_html(&r, path, n, where);
	} else {
		if (!opt.out)
			opt.out = "tl_out";
		init_logs(&r, path, n, true);
		if (outdir_write(&r, &opt, &err) < 0)
			die_err(&err);
		where = opt.out;
	}
	bool damaged = warn_damage(&r), bad_id = false;
	print_summary(&r, where);
	if (where && where == opt.out)
		open_browser();
	for (uint32_t k = 0; k < r.facts.n_attempt; k++)
		bad_id |= r.facts.attempt[k].id.bad_line != 0;

	int limits = limits_status(&r.facts);
	opt_pairs_release(&opt.max);
	report_release(&r);
	free_paths(path, n);
	free_paths(opt.dump, opt.n_dump);
	operands_release(&in);
	if (close(STDOUT_FILENO) < 0) /* a full disk may be reported here */
		die_errno(EXIT_ENVIRON, "cannot write 'standard output'");
	if (limits)
		return limits;
	if (opt.strict && (damaged || r.lost))
		return EXIT_FOUND;
	return r.unread ? EXIT_INPUT : opt.strict_compile_id && bad_id ? EXIT_FOUND : EXIT_FINE;
}
