/* pt2 gather - the report over all ranks of a run whose logs lie on many machines.
 *
 * On each machine `tlparse --json LOG...` runs where the logs are, through Slurm, Kubernetes, Ray or any command that reaches it (hosts.h,
 * share/ranks/on_ray.py); what comes back is a document of kilobytes for each. Where there is no tlparse, the logs come, compressed by tar.
 * `tlparse --all-ranks-html` then makes one report of all. A machine that does not answer is named, the others' ranks are reported.
 */
#include "door/visit.h"
#include "gather/hosts.h"

#include "base/io/mapfile.h"
#include "base/io/write.h"
#include "base/json.h"
#include "base/html/html.h"
#include "base/process/child.h"
#include "base/text.h"
#include "base/tool/diag.h"
#include "base/tool/opt.h"
#include "base/tool/parts.h"
#include "base/tool/tempfolder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	const char *slurm, *nodes, *pods, *ray, *out, *documents, *tlparse;
	struct opt_list launcher;
	int jobs, timeout;
	bool overwrite;
} o = {.jobs = 16, .timeout = 600, .out = "ranks", .tlparse = "tlparse"};

static const struct opt options[] = {
    OPT_HEADING("Where the ranks are"),
    OPT_STRING(0, "slurm", "[=JOB]", &o.slurm, "ask the nodes of a running job"),
    OPT_STRING(0, "nodes", "LIST", &o.nodes, "ask these nodes through Slurm"),
    OPT_STRING(0, "kubernetes", "ARGS", &o.pods, "ask the pods that 'kubectl get pods ARGS' lists"),
    OPT_STRING(0, "ray", "[=ADDRESS]", &o.ray, "ask all nodes of a Ray cluster"),
    OPT_LIST(0, "launcher", "COMMAND", &o.launcher, "ask through COMMAND, e.g. 'ssh n3'"),
    OPT_HEADING("How"),
    OPT_STRING('o', "output", "DIR", &o.out, "write the report into DIR (default: ranks)"),
    OPT_FLAG(0, "overwrite", &o.overwrite, "replace an earlier report"),
    OPT_STRING(0, "documents", "DIR", &o.documents, "keep each machine's answer in DIR", .rare = true),
    OPT_STRING(0, "tlparse", "PATH", &o.tlparse, "where tlparse is on those machines", .rare = true),
    OPT_INT('j', "jobs", "N", &o.jobs, 1, 128, "ask N machines at once", .rare = true, .more = "Default: 16."),
    OPT_INT(0, "timeout", "SECONDS", &o.timeout, 1, 86400, "wait so long for a machine", .rare = true, .more = "Default: 600."),
    OPT_END,
};

/* ---- what a machine answers ---- */

struct answer {
	char *name, *file; /* a document, or the folder in which its logs are unpacked */
	char *why;         /* it did not answer; else NULL */
	bool logs;
	struct child *child;
};
struct answers {
	struct answer *v;
	size_t n, cap, done, bad;
	char *folder;
};

/* Run by a shell there: its standard input is this text. */
static void shell_of(struct buf *b, const struct operands *in)
{
	buf_adds(b, "t=");
	buf_add_word(b, o.tlparse);
	buf_adds(b, "\nset --");
	for (int i = 0; i < in->n; i++) {
		buf_addc(b, ' ');
		buf_add_word(b, in->v[i]);
	}
	buf_adds(b, "\nfor f do [ -e \"$f\" ] || { echo \"no '$f' there\" >&2; exit 3; }; done\n"
		    "if command -v \"$t\" >/dev/null 2>&1; then exec \"$t\" --json -q -- \"$@\" </dev/null; fi\n"
		    "exec tar -czhf - -- \"$@\" </dev/null\n");
}

/* On a terminal, in its last line. */
static void say_progress(const struct answers *a)
{
	if (pt2_opt.quiet || !isatty(STDERR_FILENO))
		return;
	FREED char *text = xasprintf("\r%zu of %zu machines have answered%s", a->done, a->n, a->done == a->n ? "\n" : "");
	write_all(STDERR_FILENO, text, strlen(text), "the terminal", NULL);
}

static void failed(struct answers *a, struct answer *one, char *why)
{
	one->why = why;
	a->bad++;
	note("pt2: %s: %s", one->name, why);
}

/* Logs that came as an archive are unpacked; a document stays as it is. */
static void take(struct answers *a, struct answer *one, size_t index)
{
	struct mapfile f;
	struct err err;
	struct child_result r;
	if (mapfile_open(&f, one->file, &err) < 0) {
		failed(a, one, xstrdup(err.text));
		return;
	}
	const bool packed = slice_starts(f.bytes, "\x1f\x8b"), document = slice_starts(f.bytes, "{"), empty = !f.bytes.n;
	mapfile_close(&f);
	if (!packed && !document)
		failed(a, one, xstrdup(empty ? "it wrote nothing" : "what it wrote is neither a document nor an archive"));
	if (!packed)
		return;
	FREED char *archive = one->file;
	one->logs = true;
	one->file = xasprintf("%s/logs%zu", a->folder, index);
	const struct child_spec spec = {
	    .argv = (const char *[]){"tar", "-xzf", archive, "-C", one->file, "--no-same-owner", "--no-same-permissions", NULL},
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_NULL,
	    .err.how = CHILD_PIPE,
	};
	if (mkdir(one->file, 0700) < 0 || child_run(&spec, &r, &err) < 0) {
		failed(a, one, xasprintf("its logs cannot be unpacked into '%s'", one->file));
		return;
	}
	if (r.how != CHILD_EXITED || r.status)
		failed(a, one, xstrdup("its logs came damaged (tar)"));
	else if (!pt2_opt.quiet)
		note("pt2: %s has no '%s': its logs came instead", one->name, o.tlparse);
	child_result_release(&r);
	unlink(archive);
}

static int start(struct childset *set, struct answer *one, const char *launcher, struct slice shell, struct err *err)
{
	const int fd = open(one->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FREED char *text = xasprintf("exec %s \"$@\"", launcher);
	const struct child_spec spec = {
	    .argv = (const char *[]){"/bin/sh", "-c", text, "pt2", "sh", NULL},
	    .in.how = CHILD_PIPE,
	    .input = shell,
	    .out = {CHILD_FD, fd},
	    .err.how = CHILD_PIPE,
	    .timeout_ms = o.timeout * 1000,
	};
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot write '%s'", one->file);
	one->child = child_start(set, &spec, err);
	close(fd);
	return one->child ? 0 : -1;
}

static void ask_hosts(struct answers *a, const struct hosts *h, struct slice shell)
{
	struct childset set = {0};
	struct child_event ev;
	struct err err;
	const size_t first = a->n;
	GROW(a->v, a->n, a->cap, h->n);
	for (size_t i = 0; i < h->n; i++, a->n++)
		a->v[a->n] = (struct answer){.name = xstrdup(h->v[i].name), .file = xasprintf("%s/%zu", a->folder, a->n)};
	for (size_t next = 0, running = 0; next < h->n || running;) {
		for (; next < h->n && running < (size_t)o.jobs; next++, running++)
			if (start(&set, &a->v[first + next], h->v[next].launcher, shell, &err) < 0)
				die_err(&err);
		say_progress(a);
		if (childset_wait(&set, -1, -1, &ev) < 0)
			die(EXIT_ENVIRON, "cannot wait for the machines: %s", strerror(errno));
		if (ev.what != CHILD_ENDED)
			continue;
		for (size_t i = first; i < a->n; i++)
			if (a->v[i].child == ev.child) {
				const struct child_result *r = child_result(ev.child);
				a->v[i].child = NULL;
				if (r->how == CHILD_EXITED && !r->status)
					take(a, &a->v[i], i);
				else
					failed(a, &a->v[i], hosts_why(r));
			}
		child_free(&set, ev.child);
		running--;
		a->done++;
	}
	say_progress(a);
	childset_release(&set);
}

/* ---- Ray: one Python asks all nodes ---- */

static void take_lines(struct answers *a, struct slice lines)
{
	struct json_tape t = {0};
	struct slice line;
	while (slice_line(&lines, &line)) {
		uint32_t root;
		json_tape_text(&t, line.p, line.n);
		if (!line.n || json_parse(&t, 0, line.n, &root) < 0 || !json_is(&t, root, JSON_OBJECT))
			continue;
		struct answer *one = &PUSH_TO(a->v, a->n, a->cap);
		*one = (struct answer){.name = json_strdup(&t, root, "name"), .file = json_strdup(&t, root, "file")};
		FREED char *why = json_strdup(&t, root, "why");
		a->done++;
		if (why && *why)
			failed(a, one, xstrdup(why));
		else
			take(a, one, a->n - 1);
	}
	json_tape_release(&t);
}

static void ask_ray(struct answers *a, const char *address, struct slice shell)
{
	const char *python = getenv("PT2_PYTHON");
	LOCAL_BUF program = {0}, lines = {0};
	struct child_result r;
	struct err err;
	buf_add_slice(&program, share_file("ranks/on_ray.py"));
	const struct child_spec spec = {
	    .argv = (const char *[]){python && *python ? python : "python3", "-c", buf_str(&program), a->folder, address, NULL},
	    .in.how = CHILD_PIPE,
	    .input = shell,
	    .out.how = CHILD_PIPE,
	    .err.how = CHILD_PIPE,
	    .keep_head = 64 << 20,
	    .timeout_ms = o.timeout * 1000,
	};
	if (child_run(&spec, &r, &err) < 0)
		die_err(&err);
	child_output_text(&r.out, &lines);
	take_lines(a, buf_slice(&lines));
	if (r.how != CHILD_EXITED || r.status) {
		FREED char *why = hosts_why(&r);
		if (!a->n)
			die(EXIT_ENVIRON, "Ray: %s", why);
		note("pt2: Ray: %s", why);
		a->bad++;
	}
	child_result_release(&r);
}

/* ---- the report ---- */

/* As tar names it: without what leads out of its folder. */
static const char *inner(const char *path)
{
	for (const char *up; (up = strstr(path, "../"));)
		path = up + 3;
	while (*path == '/')
		path++;
	return path;
}

static int report(const struct answers *a, const struct operands *in)
{
	struct child_result r;
	struct err err;
	FREED char *tlparse = tool_or_die("tlparse");
	FREED const char **argv = xcalloc(a->n * (size_t)in->n + 8, sizeof(*argv));
	FREED char **path = xcalloc(a->n * (size_t)in->n + 1, sizeof(*path));
	size_t n = 0, n_path = 0;
	argv[n++] = tlparse;
	argv[n++] = "--all-ranks-html";
	argv[n++] = "--no-browser";
	if (pt2_opt.quiet)
		argv[n++] = "-q";
	if (o.overwrite)
		argv[n++] = "--overwrite";
	argv[n++] = "-o";
	argv[n++] = o.out;
	for (size_t i = 0; i < a->n; i++)
		for (int k = 0; !a->v[i].why && k < (a->v[i].logs ? in->n : 1); k++)
			argv[n++] = path[n_path++] =
			    a->v[i].logs ? xasprintf("%s/%s", a->v[i].file, inner(in->v[k])) : xstrdup(a->v[i].file);
	const struct child_spec spec = {.argv = argv, .in.how = CHILD_NULL, .same_group = true};
	if (child_run(&spec, &r, &err) < 0)
		die_err(&err);
	const int status = r.how == CHILD_EXITED ? r.status : EXIT_ENVIRON;
	child_result_release(&r);
	while (n_path)
		free(path[--n_path]);
	return status;
}

static int run_gather(struct operands *in)
{
	struct hosts h = {0};
	struct err err;
	struct stat st;
	struct answers a = {0};
	LOCAL_BUF shell = {0};
	if (!o.slurm + !o.nodes + !o.pods + !o.ray + !o.launcher.n == 5)
		die(EXIT_USAGE, "say where the ranks are: --slurm, --nodes, --kubernetes, --ray or --launcher "
				"(logs that are here: tlparse --all-ranks-html DIR)");
	if (pt2_opt.no_exec)
		die(EXIT_USAGE, "--no-exec prevents that programs are started on other machines, which pt2 gather is for");
	if (!o.overwrite && lstat(o.out, &st) == 0)
		die(EXIT_USAGE, "'%s' exists: -o names another folder, --overwrite replaces an earlier report", o.out);
	child_signals(CHILD_SIGNALS_KILL);
	if ((o.slurm && hosts_slurm(&h, o.slurm, &err) < 0) || (o.nodes && hosts_nodes(&h, o.nodes, &err) < 0) ||
	    (o.pods && hosts_pods(&h, o.pods, &err) < 0))
		die_err(&err);
	for (size_t i = 0; i < o.launcher.n; i++)
		hosts_add(&h, o.launcher.v[i]);
	if (o.documents && mkdir(o.documents, 0777) < 0)
		die(EXIT_ENVIRON, "cannot create '%s': %s", o.documents, strerror(errno));
	char *const temp = o.documents ? NULL : temp_folder(TEMP_FRONT, &err);
	if (!o.documents && !temp)
		die_err(&err);
	a.folder = o.documents ? xstrdup(o.documents) : temp;
	shell_of(&shell, in);
	ask_hosts(&a, &h, buf_slice(&shell));
	if (o.ray)
		ask_ray(&a, o.ray, buf_slice(&shell));
	if (a.bad == a.n)
		die(EXIT_ENVIRON, "no machine has answered");
	const int status = report(&a, in);
	if (a.bad)
		note("pt2: %zu of %zu machines did not answer: their ranks are not in %s", a.bad, a.n, o.out);
	const bool bad = a.bad;
	for (size_t i = 0; i < a.n; i++) {
		free(a.v[i].name);
		free(a.v[i].file);
		free(a.v[i].why);
	}
	free(a.v);
	if (temp)
		temp_folder_remove(temp);
	else
		free(a.folder);
	hosts_release(&h);
	opt_list_release(&o.launcher);
	return status == EXIT_FINE && bad ? EXIT_PARTIAL : status;
}

extern const struct opt_command gather_command;
const struct opt_command gather_command = {
    .name = "gather",
    .summary = "report over ranks on many machines",
    .about = "Do all ranks of this run compile the same, and which one does not?",
    .example = {{"--slurm=4711 /tmp/traces", "on the nodes of a job"},
		{"--kubernetes='-l job-name=llama' /traces", "in pods"},
		{"--launcher='ssh n1' /tmp/traces", "on another machine"}},
    .options = options,
    .operands = "LOG...",
    .footer = "LOG: what TORCH_TRACE=DIR names, or a log in it, as it is called there.",
    .more =
	"Each machine reads its own logs (tlparse --json) and sends a small document; without a tlparse it sends the logs. What a launcher "
	"is given on its standard input is for a shell there.",
    .min = 1,
    .max = -1,
    .run = run_gather,
};
