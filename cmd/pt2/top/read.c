/* read.c - the traces of a folder, each read again when it has grown. */
#include "top/top.h"

#include "base/clock.h"
#include "base/text.h"
#include "run/trace/trace.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

static void log_release(struct top_log *l)
{
	facts_release(&l->facts);
	proc_list_release(&l->compilers);
}

static struct top_log *log_named(struct top *t, const char *path)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->log[i].path, path))
			return &t->log[i];
	struct top_log *l = &PUSH_TO(t->log, t->n, t->cap);
	*l = (struct top_log){.path = xstrdup(path), .rank = -1};
	facts_init(&l->facts);
	return l;
}

static bool read_log(struct top_log *l, const struct stat *st)
{
	struct facts f;
	struct err err;
	struct timespec now;
	const struct facts_options o = {0};
	clock_gettime(CLOCK_REALTIME, &now);
	l->quiet = (double)(now.tv_sec - st->st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - st->st_mtim.tv_nsec);
	if (l->size == st->st_size)
		return false;
	l->size = st->st_size;
	facts_init(&f);
	l->unread = facts_add_trace(&f, l->path, &o, &err) < 0;
	if (l->unread) { /* one that has not a whole record yet */
		facts_release(&f);
		return false;
	}
	facts_finish(&f);
	facts_release(&l->facts);
	l->facts = f;
	l->pid = f.n_input ? f.input[0].pid : -1;
	l->rank = f.n_input ? f.input[0].rank : -1;
	return true;
}

static bool wanted(const struct top *t, const struct top_log *l)
{
	return !t->only_pid || l->pid == t->only_pid || proc_descends((pid_t)l->pid, (pid_t)t->only_pid);
}

/* Those of other processes; ended: also of those that have ended, which may have been descendants. */
static void drop_logs(struct top *t, bool ended)
{
	for (size_t i = 0; t->only_pid && i < t->n; i++)
		if (!wanted(t, &t->log[i]) && (ended || t->log[i].alive)) {
			log_release(&t->log[i]);
			free(t->log[i].path);
			t->log[i--] = t->log[--t->n];
		}
}

void top_only(struct top *t) { drop_logs(t, true); }

static int by_path(const void *a, const void *b)
{
	return strverscmp(((const struct top_log *)a)->path, ((const struct top_log *)b)->path);
}

int top_read(struct top *t, struct err *err)
{
	const int64_t began = clock_ns();
	DIR *d = opendir(t->dir);
	bool new = false;
	if (!d)
		return err_errno(err, EXIT_INPUT, "cannot read directory '%s'", t->dir);
	for (struct dirent *e; (e = readdir(d));) {
		struct stat st;
		FREED char *path = xasprintf("%s/%s", t->dir, e->d_name);
		if (e->d_name[0] == '.' || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !trace_is_log(path))
			continue;
		struct top_log *l = log_named(t, path);
		new |= read_log(l, &st);
		l->alive = l->pid > 0 && proc_alive((pid_t)l->pid) && proc_holds((pid_t)l->pid, path); /* a pid is used again */
		proc_list_release(&l->compilers);
		if (l->alive)
			proc_compilers((pid_t)l->pid, &l->compilers);
	}
	closedir(d);
	drop_logs(t, false);
	if (t->n)
		qsort(t->log, t->n, sizeof(*t->log), by_path);
	t->cost = 1e-9 * (double)(clock_ns() - began);
	return new;
}

bool top_alive(const struct top *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->log[i].alive)
			return true;
	return false;
}

void top_release(struct top *t)
{
	for (size_t i = 0; i < t->n; i++) {
		log_release(&t->log[i]);
		free(t->log[i].path);
	}
	free(t->log);
	free(t->environ_dir);
	*t = (struct top){0};
}
