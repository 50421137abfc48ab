/* base/opt: the command line as a user writes it, and what the table says about itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/process/child.h"
#include "base/tool/opt.h"

#include <unistd.h>

static struct {
	bool quiet, all, json;
	int verbose, jobs, mode;
	uint64_t limit, size;
	double rate;
	const char *out, *html, *secret;
	struct opt_list with;
	struct opt_pairs max;
	int called;
	bool bisect;
	const char *kernel_dir;
} o;

static int call(void *target, const char *value, struct err *err)
{
	if (!strcmp(value, "bad"))
		return err_set(err, EXIT_USAGE, "no such thing: '%s'", value);
	++*(int *)target;
	return 0;
}

static const char *const modes[] = {"fast", "exact", NULL};
static const struct opt options[] = {
    OPT_HEADING("Output"),
    OPT_STRING('o', "output", "DIR", &o.out, "write into this directory",
	       .more = "It is made when it is not there and replaced when it is an older report."),
    OPT_STRING(0, "html", "[=FILE]", &o.html, "write one page"),
    OPT_FLAG('q', "quiet", &o.quiet, "print nothing"),
    OPT_FLAG('A', "all", &o.all, "print everything"),
    OPT_FLAG(0, "json", &o.json, "write for scripts", .rare = true),
    OPT_COUNT('v', "verbose", &o.verbose, "print more; may be given again"),
    OPT_HEADING("Search"),
    OPT_INT('j', "jobs", "N", &o.jobs, 1, 256, "run N at once"),
    OPT_U64(0, "limit", "N", &o.limit, 0, 0, "stop after N"),
    OPT_SIZE(0, "memory", "BYTES", &o.size, 1, 1ull << 40, "limit the memory of each"),
    OPT_DOUBLE(0, "rate", "R", &o.rate, -1.0, 1.0, "set the rate", .rare = true),
    OPT_CHOICE('m', "mode", "MODE", &o.mode, modes, "choose how to search"),
    OPT_LIST(0, "with", "FILE", &o.with, "add FILE; may be given again"),
    OPT_PAIRS(0, "max", "NAME=N", &o.max, "fail if NAME exceeds N"),
    OPT_CALL(0, "call", "WORD", call, &o.called, "ask a function"),
    OPT_STRING(0, "secret", "WORD", &o.secret, NULL),
    OPT_END,
};
static const struct opt run_options[] = {
    OPT_FLAG('b', "bisect", &o.bisect, "try each backend"),
    OPT_END,
};
static const struct opt kernel_options[] = {
    OPT_STRING('d', "dir", "DIR", &o.kernel_dir, "where the code lies"),
    OPT_END,
};
static const struct opt_command run_command = {
    .name = "run", .summary = "run a command", .options = run_options, .command = true, .need_command = true};
static const struct opt_command kernel_command = {
    .name = "kernel",
    .summary = "show a kernel",
    .about = "What is in this kernel?",
    .example = {{"k0", "show one"}, {"k0 folder", "of a folder"}, {"--dir=x k0", "of another"}},
    .footer = "NAME: a kernel.",
    .options = kernel_options,
    .operands = "NAME [DIR]",
    .min = 1,
    .max = 2,
};
static const struct opt_command *const commands[] = {&run_command, &kernel_command, NULL};
static const struct opt_spec plain = {
    .tool = "demo",
    .about = "What can a table do?",
    .example = {{"a.log", "read a log"}, {"-j4 a.log b.log", "read two at once"}, {"--html a.log", "write a page"}},
    .options = options,
    .operands = "FILE...",
    .min = 1,
    .max = 3,
    .footer = "FILE: a log.",
    .more = "See demo(1).",
};
static const struct opt_spec with_commands = {
    .tool = "demo",
    .about = "What can a table do?",
    .options = options,
    .operands = "[FILE...]",
    .min = 0,
    .max = -1,
    .commands = commands,
};
static const struct opt_spec wrapper = {
    .tool = "wrap",
    .about = "Watch a command.",
    .options = options,
    .operands = "[FILE...]",
    .min = 1,
    .max = 2,
    .command = true,
};

static struct operands in;
static struct buf text;
static struct err err;

static enum opt_result parse_argv(const struct opt_spec *spec, char **argv)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	operands_release(&in);
	opt_list_release(&o.with);
	opt_pairs_release(&o.max);
	memset(&o, 0, sizeof(o));
	buf_reset(&text);
	err.text[0] = 0;
	return opt_parse(spec, argc, argv, 80, &in, &text, &err);
}
#define PARSE(spec, ...) parse_argv((spec), (char *[]){"demo", __VA_ARGS__, NULL})
#define OK(spec, ...) assert_int_equal(PARSE(spec, __VA_ARGS__), OPT_OK)
#define BAD(spec, message, ...) \
	do { \
		assert_int_equal(PARSE(spec, __VA_ARGS__), OPT_BAD); \
		assert_string_equal(err.text, message); \
	} while (0)

static void short_options(void **state)
{
	(void)state;
	OK(&plain, "-qvAv", "x");
	assert_true(o.quiet && o.all);
	assert_int_equal(o.verbose, 2);
	OK(&plain, "-vofile", "x");
	assert_string_equal(o.out, "file");
	OK(&plain, "-vo", "-", "x");
	assert_string_equal(o.out, "-");
	OK(&plain, "-j4", "x");
	assert_int_equal(o.jobs, 4);
	OK(&plain, "-o", "", "x");
	assert_string_equal(o.out, "");
	BAD(&plain, "unknown option '-x'", "-x");
	BAD(&plain, "unknown option '-5' in '-q5'", "-q5");
	BAD(&plain, "option '-o' needs a value: DIR", "-o");
	BAD(&plain, "option '-o' needs a value: DIR", "-o", "--", "x");
}

static void long_options(void **state)
{
	(void)state;
	OK(&plain, "--output=a=b", "--quiet", "x");
	assert_string_equal(o.out, "a=b");
	OK(&plain, "--output", "-q", "x");
	assert_string_equal(o.out, "-q");
	assert_false(o.quiet);
	OK(&plain, "--output=", "x");
	assert_string_equal(o.out, "");
	OK(&plain, "--output=--", "x");
	assert_string_equal(o.out, "--");
	OK(&plain, "--quiet", "--no-quiet", "--json", "x");
	assert_false(o.quiet);
	assert_true(o.json);
	OK(&plain, "--no-quiet", "-q", "x");
	assert_true(o.quiet);
	OK(&plain, "--secret=1", "x");
	assert_string_equal(o.secret, "1");
	BAD(&plain, "unknown option '--outpu' (did you mean '--output'?)", "--outpu=x", "x");
	BAD(&plain, "unknown option '--verb' (did you mean '--verbose'?)", "--verb", "x");
	BAD(&plain, "unknown option '--zzz'", "--zzz", "x");
	BAD(&plain, "option '--quiet' takes no value", "--quiet=1", "x");
	BAD(&plain, "option '--no-quiet' takes no value", "--no-quiet=1", "x");
	BAD(&plain, "unknown option '--no-output'", "--no-output", "x");
	BAD(&plain, "unknown option '--no-help'", "--no-help", "x");
	BAD(&plain, "option '--quiet' takes no value", "--quiet=", "x");
	BAD(&plain, "option '--output' needs a value: DIR", "x", "--output");
}

static void optional_argument(void **state)
{
	(void)state;
	OK(&plain, "x");
	assert_null(o.html);
	OK(&plain, "--html", "x");
	assert_string_equal(o.html, "");
	assert_int_equal(in.n, 1);
	OK(&plain, "--html=page", "x");
	assert_string_equal(o.html, "page");
}

static void values(void **state)
{
	(void)state;
	OK(&plain, "--limit=18446744073709551615", "--memory", "2g", "--rate=-0.5", "-m", "exact", "x");
	assert_true(o.limit == UINT64_MAX);
	assert_true(o.size == 2ull << 30);
	assert_true(o.rate == -0.5);
	assert_int_equal(o.mode, 1);
	OK(&plain, "-m", "exact", "-m", "fast", "x");
	assert_int_equal(o.mode, 0);
	BAD(&plain, "option '-j' needs a number from 1 to 256, not '0'", "-j0", "x");
	BAD(&plain, "option '--jobs' needs a whole number, not '4x'", "--jobs=4x", "x");
	BAD(&plain, "option '--jobs' needs a whole number, not ''", "--jobs=", "x");
	BAD(&plain, "option '--jobs' needs a whole number, not '99999999999999999999'", "--jobs=99999999999999999999", "x");
	BAD(&plain, "option '--limit' needs a whole number, not '-1'", "--limit=-1", "x");
	BAD(&plain, "option '--memory' needs a whole number, optionally with K, M, G or T, not '99999999999T'", "--memory=99999999999T",
	    "x");
	BAD(&plain, "option '--memory' needs a whole number, optionally with K, M, G or T, not 'K'", "--memory=K", "x");
	BAD(&plain, "option '--memory' needs a number from 1 to 1099511627776, not '0'", "--memory=0", "x");
	BAD(&plain, "option '--rate' needs a number, not 'nan'", "--rate=nan", "x");
	BAD(&plain, "option '--rate' needs a number, not '1e999'", "--rate=1e999", "x");
	BAD(&plain, "option '--rate' needs a number, not ' 1'", "--rate= 1", "x");
	BAD(&plain, "option '--rate' needs a number from -1 to 1, not '2'", "--rate=2", "x");
	BAD(&plain, "option '-m' must be one of fast, exact, not 'fas' (did you mean 'fast'?)", "-m", "fas", "x");
	BAD(&plain, "option '--call': no such thing: 'bad'", "--call=bad", "x");
	OK(&plain, "--call=a", "--call", "b", "x");
	assert_int_equal(o.called, 2);
}

static void lists(void **state)
{
	(void)state;
	OK(&plain, "--with=a", "x", "--with", "b", "--max", "breaks=0", "--max=breaks=2=3", "--max=a=");
	assert_int_equal(o.with.n, 2);
	assert_string_equal(o.with.v[1], "b");
	assert_int_equal(o.max.n, 3);
	assert_true(slice_is(o.max.v[1].name, "breaks"));
	assert_string_equal(o.max.v[0].value, "0");
	assert_string_equal(o.max.v[1].value, "2=3");
	assert_string_equal(o.max.v[2].value, "");
	BAD(&plain, "option '--max' needs NAME=N, not 'breaks'", "--max=breaks", "x");
	BAD(&plain, "option '--max' needs NAME=N, not '=1'", "--max==1", "x");
}

static void operands(void **state)
{
	(void)state;
	OK(&plain, "a", "-q", "-", "--", "-v");
	assert_int_equal(in.n, 3);
	assert_string_equal(in.v[0], "a");
	assert_string_equal(in.v[1], "-");
	assert_string_equal(in.v[2], "-v");
	assert_null(in.v[3]);
	assert_null(in.command);
	assert_true(o.quiet);
	assert_int_equal(o.verbose, 0);
	BAD(&plain, "missing operand: FILE...", "-q");
	BAD(&plain, "unexpected operand 'd'", "a", "b", "c", "d");
}

static void command_after_dashes(void **state)
{
	(void)state;
	OK(&wrapper, "-q", "--", "python", "-v", "--", "x");
	assert_int_equal(in.n, 0);
	assert_int_equal(in.n_command, 4);
	assert_string_equal(in.command[1], "-v");
	assert_null(in.command[4]);
	assert_int_equal(o.verbose, 0);
	OK(&wrapper, "a");
	assert_null(in.command);
	OK(&wrapper, "a", "--", "b");
	assert_int_equal(in.n, 1);
	BAD(&wrapper, "missing command after '--'", "a", "--");
	BAD(&wrapper, "missing operand: [FILE...]", "-q");
	BAD(&wrapper, "option '--with' needs a value: FILE", "--with", "--", "b");
}

static void subcommands(void **state)
{
	(void)state;
	OK(&with_commands, "-q", "kernel", "-d", "x", "-A", "name");
	assert_ptr_equal(in.sub, &kernel_command);
	assert_string_equal(in.v[0], "name");
	assert_string_equal(o.kernel_dir, "x");
	assert_true(o.quiet && o.all);
	OK(&with_commands, "./kernel");
	assert_null(in.sub);
	OK(&with_commands, "--", "kernel", "run");
	assert_null(in.sub);
	assert_int_equal(in.n, 2);
	OK(&with_commands, "log", "kernel"); /* only the first operand */
	assert_null(in.sub);
	OK(&with_commands, "run", "-b", "--", "kernel", "-b");
	assert_ptr_equal(in.sub, &run_command);
	assert_string_equal(in.command[0], "kernel");
	OK(&with_commands, "kernel", "--", "-name");
	assert_string_equal(in.v[0], "-name");
	BAD(&with_commands, "unknown option '-d'", "-d", "x", "kernel", "n"); /* not before the name */
	BAD(&with_commands, "missing command: put it after '--'", "run");
	BAD(&with_commands, "unexpected operand 'x'", "run", "x", "--", "y");
	BAD(&with_commands, "missing operand: NAME [DIR]", "kernel");
}

static void starts(const char *want)
{
	if (!slice_starts(buf_slice(&text), want))
		assert_string_equal(buf_str(&text), want);
}

static void synopsis(void **state)
{
	(void)state;
	assert_int_equal(PARSE(&with_commands, "--help-synopsis"), OPT_SHOW);
	assert_string_equal(buf_str(&text),
			    "demo [-AhqvV] [-o DIR] [--html[=FILE]] [--json] [-j N] [--limit=N] [--memory=BYTES] [--rate=R] [-m MODE] "
			    "[--with=FILE]... [--max=NAME=N]... [--call=WORD] [FILE...]\n"
			    "demo run [-bh] -- COMMAND [ARG...]\n"
			    "demo kernel [-h] [-d DIR] NAME [DIR]\n");
	buf_reset(&text);
	opt_synopsis(&wrapper, NULL, &text);
	assert_non_null(strstr(buf_str(&text), " [FILE...] [-- COMMAND [ARG...]]"));
}

static void help(void **state)
{
	(void)state;
	assert_int_equal(PARSE(&plain, "-qh", "--zzz"), OPT_SHOW);
	const char *t = buf_str(&text);
	static const char want[] = "What can a table do?\n"
				   "\n"
				   "Examples:\n"
				   "  demo a.log            # read a log\n"
				   "  demo -j4 a.log b.log  # read two at once\n"
				   "  demo --html a.log     # write a page\n"
				   "\n"
				   "Usage: demo [OPTION]... FILE...\n"
				   "FILE: a log.\n"
				   "\n"
				   "Output:\n"
				   "  -o, --output=DIR    write into this directory\n"
				   "      --html[=FILE]   write one page\n"
				   "  -q, --quiet         print nothing\n"
				   "  -A, --all           print everything\n"
				   "  -v, --verbose       print more; may be given again\n"
				   "\n"
				   "Search:\n"
				   "  -j, --jobs=N        run N at once\n"
				   "      --limit=N       stop after N\n"
				   "      --memory=BYTES  limit the memory of each\n"
				   "  -m, --mode=MODE     choose how to search (fast, exact)\n"
				   "      --with=FILE     add FILE; may be given again\n"
				   "      --max=NAME=N    fail if NAME exceeds N\n"
				   "      --call=WORD     ask a function\n"
				   "\n"
				   "  -h, --help          show this help\n"
				   "      --help-all      show all options and which of them conflict\n"
				   "  -V, --version       show the version\n";
	assert_string_equal(t, want);
	assert_null(strstr(t, "secret"));
	for (int width = 1; width < 400; width += 13) {
		buf_reset(&text);
		opt_help(&with_commands, commands[1], width > 200, width % 200, &text);
		struct slice rest = buf_slice(&text), line;
		while (slice_line(&rest, &line))
			assert_true(line.n <= (size_t)(width % 200 < 40 ? 40 : width % 200) || !slice_chr(line, ' ') ||
				    slice_find(line, "  # "));
	}
	assert_int_equal(PARSE(&with_commands, "kernel", "-h"), OPT_SHOW);
	starts("What is in this kernel?\n\nExamples:\n  demo kernel k0          # show one\n");
	assert_non_null(
	    strstr(buf_str(&text), "\nUsage: demo kernel [OPTION]... NAME [DIR]\nNAME: a kernel.\n\nOptions:\n  -d, --dir=DIR "));
	assert_non_null(strstr(buf_str(&text), "\nOptions of demo itself:\n  -o, --output=DIR"));
	assert_int_equal(PARSE(&with_commands, "-h"), OPT_SHOW);
	assert_non_null(strstr(buf_str(&text), "\n  kernel        show a kernel\n"));
}

static void help_all(void **state)
{
	(void)state;
	assert_int_equal(PARSE(&plain, "--help-all"), OPT_SHOW);
	const char *t = buf_str(&text);
	starts("What can a table do?\n\nExamples:\n");
	static const char *const wanted[] = {"\nUsage: demo [-AhqvV] [-o DIR] [--html[=FILE]] [--json] [-j N] [--limit=N]\n"
					     "            [--memory=BYTES] [--rate=R] [-m MODE] [--with=FILE]...\n"
					     "            [--max=NAME=N]... [--call=WORD] FILE...\nFILE: a log.\n",
					     "\n  -o, --output=DIR        write into this directory\n"
					     "                          It is made when it is not there and replaced when it\n"
					     "                          is an older report.\n",
					     "\n      --json              write for scripts\n",
					     "\n      --rate=R            set the rate\n",
					     "\n      --color=WHEN        colour the output (auto, always, never)\n\nSee demo(1).\n"};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if (!strstr(t, wanted[i]))
			assert_string_equal(t, wanted[i]);
	assert_null(strstr(t, "secret"));
}

/* What is in -h of choices that fit no line: nothing; --help-all has them. */
static void many_choices(void **state)
{
	(void)state;
	static const char *const names[] = {"one choice with a long name", "another one of the kind", "and a third one", NULL};
	const struct opt table[] = {OPT_CHOICE(0, "pick", "ONE", &o.mode, names, "choose one"), OPT_END};
	const struct opt_spec spec = {.tool = "demo", .about = "?", .options = table};
	buf_reset(&text);
	opt_help(&spec, NULL, false, 80, &text);
	assert_non_null(strstr(buf_str(&text), "--pick=ONE  choose one\n"));
	buf_reset(&text);
	opt_help(&spec, NULL, true, 80, &text);
	assert_non_null(strstr(buf_str(&text), "choose one (one choice with a long name, another one"));
}

static void what_was_meant(void **state)
{
	(void)state;
	static const char *const names[] = {"graph-breaks", "graphs", "recompiles", "errors"};
	static const struct {
		const char *word, *text;
	} cases[] = {
	    {"graph_breaks", " (did you mean 'graph-breaks'?)"},
	    {"Graph-Break", " (did you mean 'graph-breaks'?)"},
	    {"recompile", " (did you mean 'recompiles'?)"},
	    {"err", " (did you mean 'errors'?)"},
	    {"seconds", ""},
	    {"", ""},
	    {"a name that is longer than all rows of the distance are", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct opt_guess g = {.word = slice_str(cases[i].word)};
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			opt_guess(&g, names[k]);
		FREED char *meant = opt_guess_text(&g);
		assert_string_equal(meant, cases[i].text);
	}
	BAD(&plain, "unknown option '--html_' (did you mean '--html'?)", "--html_", "x");
	BAD(&plain, "unknown option '--help-al' (did you mean '--help-all'?)", "--help-al");
	BAD(&plain, "option '--mode' must be one of fast, exact, not 'Exact' (did you mean 'exact'?)", "--mode=Exact", "x");
	BAD(&plain, "option '--color' must be one of auto, always, never, not 'alway' (did you mean 'always'?)", "--color=alway", "x");
	BAD(&with_commands, "option '--bisect' belongs after 'demo run'", "--bisect", "x");
	BAD(&with_commands, "'kernle' is neither a file nor a command (did you mean 'kernel'?)", "kernle", "x");
	BAD(&with_commands, "'runn' is neither a file nor a command (did you mean 'run'?)", "-q", "runn");
	OK(&with_commands, "kernel.txt"); /* a file, though it is not there */
	OK(&with_commands, "log", "runn");
}

static void forgotten_dashes(void **state)
{
	(void)state;
	BAD(&with_commands, "missing '--' before the command; type: demo run -- ls -l 'a b'", "run", "ls", "-l", "a b");
	BAD(&with_commands, "missing '--' before the command; type: demo -q run -b -- ls", "-q", "run", "-b", "ls");
	BAD(&with_commands, "unexpected operand 'ls'", "run", "ls", "--", "x");
	BAD(&with_commands, "'ls' is not a file; to run it as a command, type: demo -q run -- ls --color", "-q", "ls", "--color");
	BAD(&wrapper, "'ls' is not a file; to run it as a command, type: wrap -q -- ls x", "-q", "ls", "x");
	OK(&wrapper, "no-such-program", "x");
	OK(&wrapper, "/bin/ls", "x"); /* a file */
	OK(&plain, "ls");             /* takes no command */
	OK(&with_commands, "kernel", "ls");
}

static void version_and_table(void **state)
{
	(void)state;
	assert_int_equal(PARSE(&plain, "-V"), OPT_SHOW);
	assert_string_equal(buf_str(&text), "demo (pt2utils) " PT2_VERSION "\n");
	assert_int_equal(PARSE(&with_commands, "run", "--help-options"), OPT_SHOW);
	starts("b\tbisect\t\ttry each backend\no\toutput\tDIR\twrite");
	assert_non_null(strstr(buf_str(&text), "\n\thtml\t[=FILE]\twrite one page\n"));
	assert_non_null(strstr(buf_str(&text), "\nh\thelp\t\tshow this help\n"));
	BAD(&plain, "option '--completion' must be one of bash, zsh, fish, not 'csh'", "--completion=csh");
}

/* What bash offers after these words; the last one is being written. */
static char *offers(const char *words)
{
	buf_reset(&text);
	buf_adds(&text, "compopt() { :; }\n");
	opt_completion(&with_commands, "bash", &text);
	buf_addf(&text, "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _demo; echo \"${COMPREPLY[*]}\"\n", words);
	char *script = xstrndup(text.p, text.len);
	struct child_spec spec = {
	    .argv = (const char *[]){"bash", "-uc", script, NULL}, .cwd = "/dev", .out.how = CHILD_PIPE, .timeout_ms = 20000};
	struct child_result r;
	assert_int_equal(child_run(&spec, &r, &err), 0);
	assert_int_equal(r.how, CHILD_EXITED);
	buf_reset(&text);
	child_output_text(&r.out, &text);
	child_result_release(&r);
	free(script);
	if (!slice_trim(buf_slice(&text)).n)
		return "";
	buf_cut(&text, text.len - 1);
	return text.p;
}

static void completion(void **state)
{
	(void)state;
	char *bash = child_which("bash");
	if (!bash)
		skip();
	free(bash);
	assert_string_equal(offers("demo --ver"), "--version --verbose");
	assert_string_equal(offers("demo --mo"), "--mode=");
	assert_string_equal(offers("demo --mode = e"), "exact");
	assert_string_equal(offers("demo --mode = ''"), "fast exact");
	assert_string_equal(offers("demo --mode ="), "fast exact");
	assert_string_equal(offers("demo -m f"), "fast");
	assert_string_equal(offers("demo nul"), "null");
	assert_string_equal(offers("demo --with nul"), "null");
	assert_string_equal(offers("demo --output nul"), "");
	assert_string_equal(offers("demo --html = nul"), "null");
	assert_string_equal(offers("demo -j n"), "");
	assert_string_equal(offers("demo ke"), "kernel");
	assert_string_equal(offers("demo -q --with x ke"), "kernel");
	assert_string_equal(offers("demo x ke"), "");
	assert_string_equal(offers("demo --bi"), "");
	assert_string_equal(offers("demo run --bi"), "--bisect");
	assert_string_equal(offers("demo kernel --dir nul"), "");
	assert_string_equal(offers("demo run -- nul"), "");
	assert_string_equal(offers("demo run -- bash nul"), "null");
}

static void check_finds(const struct opt *table, const char *message)
{
	struct opt_spec s = plain;
	s.options = table;
	assert_int_equal(opt_check(&s, &err), -1);
	assert_string_equal(err.text, message);
}
#define CHECK_FINDS(message, ...) check_finds((const struct opt[]){__VA_ARGS__, OPT_END}, message)

static void table_check(void **state)
{
	(void)state;
	assert_int_equal(opt_check(&plain, &err), 0);
	assert_int_equal(opt_check(&with_commands, &err), 0);
	assert_int_equal(opt_check(&wrapper, &err), 0);
	CHECK_FINDS("demo: two options are called -x", OPT_FLAG('x', "a", &o.all, "a"), OPT_FLAG('x', "b", &o.all, "b"));
	CHECK_FINDS("demo: two options are called --a", OPT_FLAG('x', "a", &o.all, "a"), OPT_FLAG('y', "a", &o.all, "b"));
	CHECK_FINDS("demo: two options are called -h", OPT_FLAG('h', "host", &o.all, "a"));
	CHECK_FINDS("demo: two options are called --help", OPT_FLAG(0, "help", &o.all, "a"));
	CHECK_FINDS("demo: --a: help is empty or has a tab or newline", OPT_FLAG(0, "a", &o.all, "a\tb"));
	CHECK_FINDS("demo: --a: no target", OPT_FLAG(0, "a", NULL, "a"));
	CHECK_FINDS("demo: --a: the argument does not fit the type", OPT_STRING(0, "a", NULL, &o.out, "a"));
	CHECK_FINDS("demo: --a: an optional argument is written \"[=NAME]\", long only", OPT_STRING('a', "a", "[=FILE]", &o.out, "a"));
	CHECK_FINDS("demo: --a: this type's argument cannot be optional", OPT_INT(0, "a", "[=N]", &o.jobs, 0, 0, "a"));
	const struct opt_command second = run_command;
	struct opt_spec s = with_commands;
	s.commands = (const struct opt_command *const[]){&run_command, &second, NULL};
	assert_int_equal(opt_check(&s, &err), -1);
	const struct opt_command clash = {.name = "a", .summary = "a", .options = options};
	s.commands = (const struct opt_command *const[]){&clash, NULL};
	assert_int_equal(opt_check(&s, &err), -1);
	assert_string_equal(err.text, "demo a: two options are called --output");
	s = plain;
	s.operands = NULL;
	assert_int_equal(opt_check(&s, &err), -1);
}

/* The one call of a main, in processes of their own. */
static char *main_argv[4] = {"demo"};
static int as_main(void *arg)
{
	(void)arg;
	int argc = 0;
	while (main_argv[argc])
		argc++;
	opt_parse_or_exit(&with_commands, argc, main_argv, &in);
	operands_release(&in);
	return 42;
}

static void run_main(int status, const char *out, const char *complaint, char *a, char *b)
{
	main_argv[1] = a;
	main_argv[2] = b;
	struct child_spec spec = {.function = as_main, .out.how = CHILD_PIPE, .err.how = CHILD_PIPE};
	struct child_result r;
	assert_int_equal(child_run(&spec, &r, &err), 0);
	assert_int_equal(r.how, CHILD_EXITED);
	assert_int_equal(r.status, status);
	assert_string_equal(buf_str(&r.out.head), out);
	assert_string_equal(buf_str(&r.err.head), complaint);
	child_result_release(&r);
}

static void one_call(void **state)
{
	(void)state;
	buf_release(&text);
	operands_release(&in);
	opt_list_release(&o.with);
	opt_pairs_release(&o.max);
	run_main(0, "demo (pt2utils) " PT2_VERSION "\n", "", "-V", NULL);
	run_main(42, "", "", "x", NULL);
	main_argv[0] = "/usr/bin/pt2-demo";
	run_main(0, "pt2-demo (pt2utils) " PT2_VERSION "\n", "", "-V", NULL);
	run_main(2, "", "pt2-demo: unknown option '-x'\nTry 'pt2-demo kernel -h'\n", "kernel", "-x");
	main_argv[0] = "pt2-other";
	run_main(0, "demo (pt2utils) " PT2_VERSION "\n", "", "-V", NULL);
	main_argv[0] = "demo";
	run_main(2, "", "demo: unknown option '--zz?[31m'\nTry 'demo -h'\n", "--zz\033[31m", NULL);
	run_main(2, "", "demo: unknown option '-x'\nTry 'demo kernel -h'\n", "kernel", "-x");
}

static void rules(void **state)
{
	(void)state;
	static const struct opt_rule together[] = {
	    {.one_of = "json quiet", .text = "one of two"},
	    {.of = "jobs", .with = "mode rate", .text = "no jobs with these"},
	    {.of = "limit", .without = "all " OPT_OPERANDS, .text = "a limit of something"},
	    {.of = "with", .with = "max", .without = "json", .text = "only as JSON"},
	    {0},
	};
	struct opt_spec spec = {.tool = "demo", .about = "x", .options = options, .operands = "[FILE...]", .max = -1, .rules = together};
	static const struct {
		const char *words[6], *text;
	} cases[] = {
	    {{"--json", "--json"}, NULL},
	    {{"--json", "-q"}, "one of two"},
	    {{"--json", "-q", "--no-quiet"}, NULL},
	    {{"-j2"}, NULL},
	    {{"-j2", "--rate=0"}, "no jobs with these"},
	    {{"-m", "fast", "--jobs", "1"}, "no jobs with these"},
	    {{"--limit=1"}, "a limit of something"},
	    {{"--limit=1", "-A"}, NULL},
	    {{"--limit=1", "file"}, NULL},
	    {{"--with=a", "--max=b=1"}, "only as JSON"},
	    {{"--with=a", "--max=b=1", "--json"}, NULL},
	};
	assert_int_equal(opt_check(&spec, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *argv[8] = {"demo"};
		for (size_t k = 0; cases[i].words[k]; k++)
			argv[k + 1] = (char *)cases[i].words[k];
		assert_int_equal(parse_argv(&spec, argv), OPT_OK);
		assert_int_equal(opt_rules(&spec, &in, &err), cases[i].text ? -1 : 0);
		if (cases[i].text)
			assert_string_equal(err.text, cases[i].text);
	}
	static const struct opt_rule wrong[] = {{.of = "jobs", .with = "nothing", .text = "t"}, {0}};
	spec.rules = wrong;
	assert_int_equal(opt_check(&spec, &err), -1);
	assert_non_null(strstr(err.text, "names --nothing"));
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(short_options),
	    cmocka_unit_test(long_options),
	    cmocka_unit_test(optional_argument),
	    cmocka_unit_test(values),
	    cmocka_unit_test(lists),
	    cmocka_unit_test(operands),
	    cmocka_unit_test(command_after_dashes),
	    cmocka_unit_test(subcommands),
	    cmocka_unit_test(synopsis),
	    cmocka_unit_test(help),
	    cmocka_unit_test(help_all),
	    cmocka_unit_test(many_choices),
	    cmocka_unit_test(what_was_meant),
	    cmocka_unit_test(forgotten_dashes),
	    cmocka_unit_test(version_and_table),
	    cmocka_unit_test(completion),
	    cmocka_unit_test(table_check),
	    cmocka_unit_test(one_call),
	    cmocka_unit_test(rules),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&text);
	operands_release(&in);
	opt_list_release(&o.with);
	opt_pairs_release(&o.max);
	return failed;
}
