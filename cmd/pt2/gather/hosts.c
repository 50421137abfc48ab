#include "gather/hosts.h"

#include "base/process/child.h"
#include "base/text.h"

#include <stdlib.h>

void hosts_add(struct hosts *h, const char *launcher)
{
	PUSH_TO(h->v, h->n, h->cap) = (struct host){.name = xstrdup(launcher), .launcher = xstrdup(launcher)};
}

void hosts_release(struct hosts *h)
{
	for (size_t i = 0; i < h->n; i++) {
		free(h->v[i].name);
		free(h->v[i].launcher);
	}
	free(h->v);
	*h = (struct hosts){0};
}

char *hosts_why(const struct child_result *r)
{
	LOCAL_BUF said = {0}, how = {0};
	struct slice rest, line, last = {0};
	child_output_text(&r->err, &said);
	child_describe(r, &how);
	for (rest = buf_slice(&said); slice_line(&rest, &line);)
		if (slice_trim(line).n)
			last = slice_trim(line);
	return last.n ? xasprintf("%s: %.*s", buf_str(&how), SL(last)) : xstrdup(buf_str(&how));
}

/* What this piece of shell prints. */
static int ask(const char *shell, const char *program, struct buf *out, struct err *err)
{
	struct child_result r;
	const struct child_spec spec = {
	    .argv = (const char *[]){"/bin/sh", "-c", shell, NULL},
	    .in.how = CHILD_NULL,
	    .out.how = CHILD_PIPE,
	    .err.how = CHILD_PIPE,
	    .keep_head = 64 << 20,
	    .timeout_ms = 60000,
	};
	FREED char *there = child_which(program);
	if (!there)
		return err_set(err, EXIT_ENVIRON, "no program '%s' here", program);
	if (child_run(&spec, &r, err) < 0)
		return -1;
	int status = 0;
	if (r.how != CHILD_EXITED || r.status) {
		FREED char *why = hosts_why(&r);
		status = err_set(err, EXIT_ENVIRON, "%s %s", program, why);
	} else {
		child_output_text(&r.out, out);
	}
	child_result_release(&r);
	return status;
}

/* One name per line; that of a pod follows its namespace. */
static void add_lines(struct hosts *h, struct slice lines, void (*add)(struct hosts *h, struct slice line, const char *with),
		      const char *with)
{
	struct slice line;
	while (slice_line(&lines, &line))
		if ((line = slice_trim(line)).n)
			add(h, line, with);
}

static void add_node(struct hosts *h, struct slice line, const char *options)
{
	LOCAL_BUF b = {0};
	FREED char *name = xstrndup(line.p, line.n);
	buf_addf(&b, "srun %s -N1 -n1 -w ", options);
	buf_add_word(&b, name);
	PUSH_TO(h->v, h->n, h->cap) = (struct host){.name = xstrdup(name), .launcher = xstrdup(buf_str(&b))};
}

/* scontrol knows how "n[1-4]" is meant. */
static int add_nodes(struct hosts *h, struct slice list, const char *options, struct err *err)
{
	LOCAL_BUF shell = {0};
	LOCAL_BUF out = {0};
	FREED char *word = xstrndup(list.p, list.n);
	buf_adds(&shell, "scontrol show hostnames ");
	buf_add_word(&shell, word);
	if (ask(buf_str(&shell), "scontrol", &out, err) < 0)
		return -1;
	const size_t before = h->n;
	add_lines(h, buf_slice(&out), add_node, options);
	return h->n > before ? 0 : err_set(err, EXIT_INPUT, "no node in '%s'", word);
}

int hosts_slurm(struct hosts *h, const char *job, struct err *err)
{
	LOCAL_BUF shell = {0};
	LOCAL_BUF options = {0};
	LOCAL_BUF out = {0};
	if (!*job && !(job = getenv("SLURM_JOB_ID")))
		return err_set(err, EXIT_USAGE,
			       "no SLURM_JOB_ID here: name the job (--slurm=JOB), or its nodes if it is over (--nodes=LIST)");
	buf_adds(&shell, "squeue -h -t RUNNING -o %N -j ");
	buf_add_word(&shell, job);
	if (ask(buf_str(&shell), "squeue", &out, err) < 0)
		return -1;
	const struct slice nodes = slice_trim(buf_slice(&out));
	if (!nodes.n)
		return err_set(err, EXIT_INPUT,
			       "job '%s' is not running: what it wrote on its nodes is reached by their names (--nodes=LIST)", job);
	/* --overlap: the job's own steps hold its processors; --mem=0: and its memory. */
	buf_adds(&options, "--overlap --mem=0 --jobid=");
	buf_add_word(&options, job);
	return add_nodes(h, nodes, buf_str(&options), err);
}

int hosts_nodes(struct hosts *h, const char *list, struct err *err) { return add_nodes(h, slice_str(list), "-Q", err); }

static void add_pod(struct hosts *h, struct slice line, const char *with)
{
	LOCAL_BUF b = {0};
	const struct slice space = slice_until(line, " "), pod = slice_behind(line, " ");
	FREED char *namespace = xstrndup(space.p, space.n), *name = xstrndup(pod.p, pod.n);
	(void)with;
	buf_adds(&b, "kubectl exec -i -n ");
	buf_add_word(&b, namespace);
	buf_addc(&b, ' ');
	buf_add_word(&b, name);
	buf_adds(&b, " --");
	PUSH_TO(h->v, h->n, h->cap) = (struct host){.name = xstrdup(name), .launcher = xstrdup(buf_str(&b))};
}

int hosts_pods(struct hosts *h, const char *args, struct err *err)
{
	LOCAL_BUF out = {0};
	FREED char *shell = xasprintf("kubectl get pods %s --field-selector=status.phase=Running -o "
				      "'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{\"\\n\"}{end}'",
				      args);
	if (ask(shell, "kubectl", &out, err) < 0)
		return -1;
	const size_t before = h->n;
	add_lines(h, buf_slice(&out), add_pod, NULL);
	return h->n > before ? 0 : err_set(err, EXIT_INPUT, "no running pod: kubectl get pods %s", args);
}
