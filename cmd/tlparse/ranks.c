/* ranks.c - --all-ranks-html: a directory per log, and beside them the comparison of all.
 *
 * Logs are read in parallel, each by itself: that needs no order between windows, and is as fast as one log of their size.
 * Only if there are fewer logs than CPUs does each get threads of its own. Documents of tlparse --json replace logs that are
 * elsewhere: the same facts, but no directories.
 *
 * Flight Recorder dumps of the ranks are read with the logs, and collectives.json shows who keeps others waiting.
 *
 * Written: rank_N/ (proc_PID/ for a log without a rank, rank_N_2/ for a second one of a rank), index.html, combined_trace.json.gz,
 * collectives.json if there are dumps, and, named as in the Rust tlparse 0.4.3, chromium_events.json, runtime_estimations.json,
 * chromium_trace_with_runtime.json,
 * collective_schedules.json, rank_N/collectives_parity.json; lists sorted by rank and graph.
 */
#include "base/tool/diag.h"
#include "base/pool.h"
#include "base/text.h"
#include "base/tool/output.h"
#include "tlparse.h"

#include "run/document.h"
#include "run/ranks/rankspage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { SLOTS = 16 };

struct job {
	struct report *r;
	const struct tlparse_options *opt;
	struct ranks_result *res;
	struct ranks all;
	int fd; /* of the report's folder */
	const struct output *out;
	unsigned next, threads, share;
	struct err *err;
	bool failed;
};

/* An operand being read. */
struct item {
	struct job *job;
	unsigned index;
	bool is_document, lost;
	const char *dump; /* the file, of a Flight Recorder's */
	struct flight flight;
	struct facts document;
	struct err err; /* of a lost log, or a fatal one */
};

static char *folder_of(unsigned index) { return xasprintf("log_%u", index); }
static char *events_of(unsigned index) { return xasprintf("events_%u", index); }

/* ---- reading ---- */

static int next_item(void *ctx, void *slot)
{
	struct job *j = ctx;
	struct item *it = slot;
	if (j->next >= j->r->n + j->opt->n_dump)
		return 0;
	*it = (struct item){.job = j, .index = j->next++};
	if (it->index >= j->r->n)
		it->dump = j->opt->dump[it->index - j->r->n];
	return 1;
}

static int read_log(struct item *it, struct trace *t)
{
	struct job *j = it->job;
	char *folder = folder_of(it->index), *name = events_of(it->index);
	int dir = mkdirat(j->fd, folder, 0777) < 0 ? -1 : openat(j->fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = -1;
	int events = dir < 0 ? -1 : openat(j->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (dir < 0 || events < 0) {
		err_errno(&it->err, EXIT_ENVIRON, "cannot create '%s'", output_inner(j->opt->out, dir < 0 ? folder : name));
	} else {
		const struct outdir_extra x = {events, j->threads, j->share};
		FREED char *shown = xstrdup(output_inner(j->opt->out, folder));
		r = outdir_log(t, j->opt, dir, shown, &x, &it->err);
	}
	if (events >= 0 && close(events) < 0 && !r)
		r = err_errno(&it->err, EXIT_ENVIRON, "cannot write '%s'", output_inner(j->opt->out, name));
	if (dir >= 0)
		close(dir);
	free(folder);
	free(name);
	return r;
}

static int read_item(void *ctx, void *slot)
{
	struct job *j = ctx;
	struct item *it = slot;
	if (it->dump) {
		it->lost = flight_load(&it->flight, it->dump, &it->err) < 0;
		return it->lost && it->err.status != EXIT_INPUT ? -1 : 0;
	}
	struct trace *t = &j->r->log[it->index];
	it->is_document = document_is_there(t->path);
	if ((it->is_document ? document_load(&it->document, t->path, "tlparse", "steps", &it->err) : read_log(it, t)) == 0)
		return 0;
	it->lost = true;
	return it->err.status == EXIT_INPUT ? 0 : -1;
}

static void take_process(struct item *it, const struct facts *f, uint32_t input)
{
	struct job *j = it->job;
	bool bad = false;
	uint64_t damaged = 0, line = 0;
	for (uint32_t k = 0; k < f->n_damage; k++)
		if (f->damage[k].input == input) {
			damaged++;
			line = !line || f->damage[k].line < line ? f->damage[k].line : line;
		}
	for (uint32_t k = 0; k < f->n_attempt; k++)
		bad |= f->attempt[k].input == input && f->attempt[k].id.bad_line;
	if (damaged && !j->r->log[it->index].unread)
		warn("%.*s: line %" PRIu64 ": damaged (%" PRIu64 " kind%s, listed in the report)", SL(facts_text(f, f->input[input].path)),
		     line, damaged, plural(damaged));
	j->res->damaged += damaged != 0;
	j->res->bad_ids += bad;
	if (j->all.n_process < RANK_PROCESSES)
		ranks_add(&j->all, f, input, it->is_document ? NONE : it->index);
}

/* In order: the log's warning, then its rows join the others. */
static int take_item(void *ctx, void *slot)
{
	struct job *j = ctx;
	struct item *it = slot;
	struct trace *t = it->dump ? NULL : &j->r->log[it->index];
	if (it->lost) {
		warn("%s", it->err.text);
		const char *why = strstr(it->err.text, "': ");
		ranks_lost(&j->all, t ? t->path : it->dump, why ? why + 3 : it->err.text);
		if (t && !it->is_document) {
			char *folder = folder_of(it->index), *events = events_of(it->index);
			output_discard(j->out, folder);
			unlinkat(j->fd, events, 0);
			free(folder);
			free(events);
		}
		j->res->lost++;
	}
	if (!t) {
		j->r->unread |= it->flight.unread;
		if (!it->lost)
			ranks_flight(&j->all, &it->flight);
		return 0;
	}
	const struct facts *f = it->is_document ? &it->document : t->f;
	for (uint32_t i = 0; i < f->n_input && !it->lost; i++)
		take_process(it, f, i);
	if (t->unread && !it->lost)
		warn("cannot read '%s' to the end: %s", t->path, t->unread);
	j->r->unread |= t->unread != NULL;
	/* Only the log's folder and facts are kept. */
	const char *path = t->path;
	trace_release(t);
	trace_init(t, path, NULL);
	facts_release(&it->document);
	return 0;
}

static int read_all(struct job *j)
{
	unsigned cpus = cpu_count(), n = j->r->n + j->opt->n_dump < cpus ? j->r->n + (unsigned)j->opt->n_dump : cpus;
	if (n > SLOTS)
		n = SLOTS;
	j->share = n;
	j->threads = cpus / n ? cpus / n : 1;
	void *slots[SLOTS];
	for (unsigned i = 0; i < n; i++)
		slots[i] = xcalloc(1, sizeof(struct item));
	const struct pipeline p = {j, next_item, read_item, take_item, NULL, NULL};
	int r = pipeline_run(&p, slots, n, n);
	for (unsigned i = 0; i < n; i++) {
		struct item *it = slots[i];
		if (r < 0 && it->lost && it->err.status != EXIT_INPUT && !j->failed) {
			*j->err = it->err;
			j->failed = true;
		}
		facts_release(&it->document);
		flight_release(&it->flight);
		free(it);
	}
	return r;
}

/* ---- files ---- */

static int create(struct job *j, const char *path)
{
	int fd = openat(j->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		err_errno(j->err, EXIT_ENVIRON, "cannot write '%s'", output_inner(j->opt->out, path));
	return fd;
}

static int log_done(struct job *j, int fd, const char *path, int r)
{
	if (fd >= 0 && close(fd) < 0 && !r)
		r = err_errno(j->err, EXIT_ENVIRON, "cannot write '%s'", output_inner(j->opt->out, path));
	return r;
}

/* Writes the text of b, and releases it. */
static int put_file(struct job *j, const char *path, struct buf *b)
{
	int fd = create(j, path);
	int r = log_done(j, fd, path, fd < 0 ? -1 : write_all(fd, b->p, b->len, output_inner(j->opt->out, path), j->err));
	buf_release(b);
	return r;
}

/* The rank; a log without one, or with a rank already used, gets a number of its own and a name. */
static void put_who(struct json_out *o, const struct rank_process *f)
{
	json_member_u64(o, "rank", f->process);
	if (!rank_is_plain(f))
		json_member_str(o, "process", slice_str(f->name));
}

/* All events, each with the pid of its process, from the files written earlier. */
static int put_events(struct job *j, bool *any)
{
	static const char name[] = "chromium_events.json";
	LOCAL_BUF out = {0};
	char *in = xmalloc(1 << 18);
	int fd = -1, r = 0;
	*any = false;
	for (uint32_t i = 0; i < j->all.n_process && !r; i++) {
		const struct rank_process *f = &j->all.process[i];
		if (f->tag == NONE)
			continue;
		char *path = events_of(f->tag), pid[24];
		int from = openat(j->fd, path, O_RDONLY | O_CLOEXEC);
		bool first = true;
		int len = snprintf(pid, sizeof(pid), "%llu", (unsigned long long)f->process);
		if (from < 0)
			r = err_errno(j->err, EXIT_ENVIRON, "cannot read '%s'", path);
		for (ssize_t n; !r && (n = read(from, in, 1 << 18)) != 0;) {
			if (n < 0) {
				if (errno != EINTR)
					r = err_errno(j->err, EXIT_ENVIRON, "cannot read '%s'", path);
				continue;
			}
			if (fd < 0 && (fd = create(j, name)) < 0) {
				r = -1;
				break;
			}
			if (!*any)
				in[0] = '[';
			*any = true;
			if (first && !rank_is_plain(f)) {
				buf_addf(&out, "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%s,\"args\":{\"name\":\"%s\"}}",
					 in[0] == '[' ? "[" : ",\n", pid, f->name);
				in[0] = ',';
			}
			first = false;
			for (const char *p = in, *end = in + n; p < end;) {
				const char *nul = memchr(p, 0, (size_t)(end - p));
				buf_add(&out, p, (size_t)((nul ? nul : end) - p));
				if (nul)
					buf_add(&out, pid, (size_t)len);
				p = nul ? nul + 1 : end;
			}
			r = write_all(fd, out.p, out.len, output_inner(j->opt->out, name), j->err);
			buf_reset(&out);
		}
		if (from >= 0)
			close(from);
		if (unlinkat(j->fd, path, 0) < 0 && !r)
			r = err_errno(j->err, EXIT_ENVIRON, "cannot remove '%s'", path);
		free(path);
	}
	if (!r && fd >= 0)
		r = write_all(fd, "\n]", 2, output_inner(j->opt->out, name), j->err);
	free(in);
	return log_done(j, fd, name, r);
}

static int put_schedules(struct job *j, bool *any)
{
	const struct ranks *all = &j->all;
	LOCAL_BUF b = {0};
	struct json_out o = {.b = &b};
	*any = false;
	json_arr(&o);
	for (uint32_t i = 0; i < all->n_process; i++) {
		const struct rank_process *f = &all->process[i];
		uint32_t lists;
		struct rank_list *s = rank_lists_of(all, f, LIST_SCHEDULE, &lists);
		for (uint32_t k = 0; k < lists; k++) {
			struct slice lines = rank_text(all, s[k].row->lines);
			struct rank_op op;
			*any = true;
			json_obj(&o);
			put_who(&o, f);
			json_member_str(&o, "graph", s[k].dir);
			json_member_arr(&o, "ops");
			while (rank_next_op(&lines, LIST_SCHEDULE, &op))
				json_out_str(&o, op.name);
			json_close(&o);
			json_close(&o);
		}
		free(s);
	}
	json_close(&o);
	if (*any)
		return put_file(j, "collective_schedules.json", &b);
	return 0;
}

static int put_collectives(struct job *j)
{
	struct buf b = {0};
	struct json_out o = {.b = &b};
	if (!j->all.n_flight)
		return 0;
	json_obj(&o);
	ranks_desync_json(&o, &j->all);
	json_close(&o);
	buf_addc(&b, '\n');
	return put_file(j, "collectives.json", &b);
}

/* The thread id of a graph as computed by the Rust tool: FxHash of (rank as u32, text), the low 32 bits. */
static uint32_t graph_tid(uint32_t rank, struct slice graph)
{
	uint64_t h = 0, w;
#define FX(word) (h = ((h << 5 | h >> 59) ^ (word)) * 0x517cc1b727220a95ull)
	FX(rank);
	const char *p = graph.p;
	size_t n = graph.n;
	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		FX(w);
	}
	if (n >= 4) {
		uint32_t half;
		memcpy(&half, p, 4);
		FX(half);
		p += 4;
		n -= 4;
	}
	for (; n; p++, n--)
		FX((unsigned char)*p);
	FX(0xff);
#undef FX
	return (uint32_t)h;
}

static uint64_t as_u64(double d) { return d >= 1 ? d < 1.8e19 ? (uint64_t)d : UINT64_MAX : 0; }

/* Names a process (tid -1) or one of its threads, and sets its sort order. */
static void put_meta(struct json_out *o, uint64_t pid, int64_t tid, struct slice name, uint64_t place)
{
	for (int sort = 0; sort < 2; sort++) {
		static const char *const what[2][2] = {{"process_name", "process_sort_index"}, {"thread_name", "thread_sort_index"}};
		json_obj(o);
		json_member_str(o, "name", slice_str(what[tid >= 0][sort]));
		json_member_str(o, "ph", SLICE("M"));
		json_member_u64(o, "pid", pid);
		if (tid >= 0)
			json_member_u64(o, "tid", (uint64_t)tid);
		json_member_obj(o, "args");
		if (sort)
			json_member_u64(o, "sort_index", place);
		else
			json_member_str(o, "name", name);
		json_close(o);
		json_close(o);
	}
}

static void put_runtime_op(struct json_out *o, const struct rank_process *f, struct slice graph, uint32_t tid, const struct rank_op *op,
			   uint64_t *at)
{
	double ns = rank_number(op->ns);
	uint64_t us = as_u64(ns / 1000 > 1 ? ns / 1000 : 1);
	if (ns / 1000 > (double)us)
		us++;
	if (us > UINT64_MAX / 4)
		us = UINT64_MAX / 4;
	json_obj(o);
	json_member_str(o, "name", op->name);
	json_member_str(o, "ph", SLICE("X"));
	json_member_u64(o, "ts", *at);
	json_member_u64(o, "dur", us);
	json_member_u64(o, "pid", f->process);
	json_member_u64(o, "tid", tid);
	json_member_str(o, "cat", SLICE("runtime"));
	json_member_obj(o, "args");
	json_member_str(o, "graph", graph);
	put_who(o, f);
	json_member_u64(o, "runtime_ns", as_u64(ns));
	json_close(o);
	json_close(o);
	*at = *at > UINT64_MAX / 2 ? *at : *at + us;
}

static int put_estimates(struct job *j, bool *any)
{
	const struct ranks *all = &j->all;
	struct buf list = {0}, trace = {0}, tail = {0};
	struct json_out o = {.b = &list}, t = {.b = &trace}, m = {.b = &tail};
	*any = false;
	json_arr(&o);
	json_arr(&t);
	json_arr(&m);
	for (uint32_t i = 0; i < all->n_process; i++) {
		const struct rank_process *f = &all->process[i];
		uint32_t lists;
		struct rank_list *s = rank_lists_of(all, f, LIST_ESTIMATES, &lists);
		uint64_t at = 0;
		for (uint32_t k = 0; k < lists; k++) {
			struct slice lines = rank_text(all, s[k].row->lines);
			struct rank_op op;
			uint32_t tid = graph_tid((uint32_t)f->process, s[k].dir);
			if (!k || !slice_eq(s[k].dir, s[k - 1].dir))
				at = 0;
			*any = true;
			json_obj(&o);
			put_who(&o, f);
			json_member_str(&o, "graph", s[k].dir);
			json_member_arr(&o, "ops");
			while (rank_next_op(&lines, LIST_ESTIMATES, &op)) {
				json_obj(&o);
				json_member_str(&o, "name", op.name);
				json_member_raw(&o, "estimated_runtime_ns", op.ns);
				json_close(&o);
				put_runtime_op(&t, f, s[k].dir, tid, &op, &at);
			}
			json_close(&o);
			json_close(&o);
		}
		if (lists) {
			char *name = rank_is_plain(f) ? xasprintf("Rank %lld", (long long)f->rank) : xstrdup(f->name);
			put_meta(&t, f->process, -1, slice_str(name), f->process);
			free(name);
		}
		uint64_t index = 0;
		for (uint32_t k = 0; k < lists; k++) {
			if (k && slice_eq(s[k].dir, s[k - 1].dir))
				continue;
			uint32_t tid = graph_tid((uint32_t)f->process, s[k].dir);
			LOCAL_BUF name = {0};
			buf_addf(&name, "graph %.*s", SL(s[k].dir));
			put_meta(&m, f->process, tid, buf_slice(&name), index++);
		}
		free(s);
	}
	json_close(&o);
	json_close(&t);
	json_close(&m);
	if (*any && tail.len > 2) { /* joins "[...]" and "[...]" into one list */
		trace.p[trace.len - 1] = ',';
		buf_add(&trace, tail.p + 1, tail.len - 1);
	}
	int r = *any && (put_file(j, "runtime_estimations.json", &list) < 0 || put_file(j, "chromium_trace_with_runtime.json", &trace) < 0)
		    ? -1
		    : 0;
	buf_release(&list);
	buf_release(&trace);
	buf_release(&tail);
	return r;
}

static int put_parity(struct job *j, const struct rank_process *f)
{
	const struct ranks *all = &j->all;
	struct buf b = {0};
	struct json_out o = {.b = &b};
	json_obj(&o);
	json_member_str(&o, "description",
			SLICE("Difference of # of collectives in scheduler and inductor output code and missing wait collectives"));
	json_member_arr(&o, "graphs");
	for (uint32_t i = 0; i < f->n_parity; i++) {
		const struct rank_compile *c = &f->compile[f->parity[i].compile];
		LOCAL_BUF id = {0};
		buf_addf(&id, c->unknown ? "%.*s" : "[%.*s]", SL(rank_text(all, c->id)));
		json_obj(&o);
		json_member_str(&o, "graph", intern_get(&all->names, c->dir));
		json_member_str(&o, "compile_id", buf_slice(&id));
		json_member_u64(&o, "offset", f->parity[i].difference);
		json_member_u64(&o, "missing_waits", f->parity[i].missing_waits);
		json_close(&o);
	}
	json_close(&o);
	json_close(&o);
	FREED char *path = xasprintf("%s/collectives_parity.json", f->name);
	return put_file(j, path, &b);
}

/* ---- the combined timeline ---- */

struct gz {
	z_stream z;
	int fd, r;
	struct err *err;
	const char *what;
	char out[1 << 16];
};

static void gz_put(struct gz *g, struct slice s, bool end)
{
	g->z.next_in = (void *)(uintptr_t)s.p;
	g->z.avail_in = (uInt)s.n;
	int status = Z_OK;
	while (!g->r && (g->z.avail_in || (end && status != Z_STREAM_END))) {
		g->z.next_out = (void *)g->out;
		g->z.avail_out = sizeof(g->out);
		status = deflate(&g->z, end ? Z_FINISH : Z_NO_FLUSH);
		g->r = write_all(g->fd, g->out, sizeof(g->out) - g->z.avail_out, g->what, g->err);
	}
}

/* The track of a compile id, shared by its attempts. */
static struct slice track_of(struct slice id) { return slice_until(id, "_"); }

static void add_function(struct buf *b, const struct ranks *all, const struct rank_compile *c)
{
	if (c->loc != NONE)
		buf_addf(b, " %.*s", SL(rank_text(all, c->loc)));
}

static void put_process(struct json_out *o, const struct ranks *all, const struct rank_process *f, uint64_t sort, struct intern *tracks)
{
	LOCAL_BUF b = {0};
	buf_adds(&b, f->name);
	if (f->rank < 0 || f->nth > 1)
		buf_addf(&b, " (pid %llu)", (unsigned long long)f->pid);
	put_meta(o, f->process, -1, buf_slice(&b), sort);
	for (uint32_t i = 0; i < f->n_compile; i++) {
		struct slice id = track_of(intern_get(&all->names, f->compile[i].id));
		uint32_t before = tracks->n, k = intern_add(tracks, id);
		if (k < before || slice_is(id, "-/-"))
			continue;
		buf_reset(&b);
		buf_addf(&b, "[%.*s]", SL(id));
		add_function(&b, all, &f->compile[i]);
		put_meta(o, f->process, k + 1, buf_slice(&b), k);
	}
}

static void put_spans(struct json_out *o, const struct ranks *all, const struct rank_process *f, struct intern *tracks)
{
	static const char *const cache[] = {"", "bypass", "hit", "miss"};
	static const char *const status[] = {"missing", "ok", "empty", "break", "error"};
	const int64_t base = f->start - all->start;
	for (uint32_t i = 0; i < f->n_span; i++) {
		const struct fact_span *s = &f->span[i];
		const struct rank_compile *c = &f->compile[s->compile];
		struct slice id = intern_get(&all->names, c->id);
		LOCAL_BUF b = {0};
		buf_add_slice(&b, id);
		if (s->kind == SPAN_BACKWARD)
			buf_adds(&b, " backward");
		add_function(&b, all, c);
		json_obj(o);
		json_member_str(o, "name", buf_slice(&b));
		json_member_str(o, "ph", SLICE("X"));
		json_member_i64(o, "ts", base + rank_us(s->start));
		json_member_i64(o, "dur", rank_us(s->end) - rank_us(s->start));
		json_member_u64(o, "pid", f->process);
		json_member_u64(o, "tid", intern_add(tracks, track_of(id)) + 1u);
		json_member_str(o, "cat", s->kind == SPAN_BACKWARD ? SLICE("backward") : SLICE("compile"));
		json_member_obj(o, "args");
		json_member_str(o, "compile_id", id);
		json_member_str(o, "status", slice_str(status[c->status]));
		if (c->cache)
			json_member_str(o, "cache", slice_str(cache[c->cache]));
		json_close(o);
		json_close(o);
	}
	for (uint32_t i = 0; i < f->n_event; i++) {
		const struct rank_event *m = &f->event[i];
		static const char *const what[] = {"", "", "graph break", "recompile", "failure", "", ""};
		if (m->at < 0)
			continue;
		json_obj(o);
		json_member_str(o, "name", slice_str(what[m->kind]));
		json_member_str(o, "ph", SLICE("i"));
		json_member_str(o, "s", SLICE("t"));
		json_member_i64(o, "ts", base + m->at);
		json_member_u64(o, "pid", f->process);
		json_member_u64(o, "tid", intern_add(tracks, track_of(intern_get(&all->names, f->compile[m->compile].id))) + 1u);
		json_member_str(o, "cat", slice_str(what[m->kind]));
		json_member_obj(o, "args");
		json_member_str(o, "reason", rank_text(all, m->text));
		json_close(o);
		json_close(o);
	}
}

static int put_timeline(struct job *j)
{
	static const char name[] = "combined_trace.json.gz";
	const struct ranks *all = &j->all;
	struct gz *g = xcalloc(1, sizeof(*g));
	LOCAL_BUF b = {0};
	struct json_out o = {.b = &b};
	g->err = j->err;
	g->what = output_inner(j->opt->out, name);
	if ((g->fd = create(j, name)) < 0) {
		free(g);
		return -1;
	}
	if (deflateInit2(&g->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		g->r = err_set(j->err, EXIT_ENVIRON, "cannot start the compressor");
	json_obj(&o);
	json_member_str(&o, "displayTimeUnit", SLICE("ms"));
	json_member_arr(&o, "traceEvents");
	for (uint32_t i = 0; i < all->n_process; i++) {
		OWNED(intern_release) struct intern tracks = {0};
		put_process(&o, all, &all->process[i], i, &tracks);
		put_spans(&o, all, &all->process[i], &tracks);
		if (!g->r)
			gz_put(g, buf_slice(&b), false);
		buf_reset(&b);
	}
	json_close(&o);
	json_close(&o);
	buf_addc(&b, '\n');
	if (!g->r)
		gz_put(g, buf_slice(&b), true);
	deflateEnd(&g->z);
	int r = log_done(j, g->fd, name, g->r);
	free(g);
	return r;
}

/* ---- putting it together ---- */

static int name_folders(struct job *j, bool *folder)
{
	for (uint32_t i = 0; i < j->all.n_process; i++) {
		const struct rank_process *f = &j->all.process[i];
		if (f->tag == NONE)
			continue;
		char *from = folder_of(f->tag);
		int r = renameat(j->fd, from, j->fd, f->name);
		if (r < 0)
			err_errno(j->err, EXIT_ENVIRON, "cannot rename '%s' to '%s'", from, f->name);
		free(from);
		if (r < 0 || put_parity(j, f) < 0)
			return -1;
		folder[i] = true;
	}
	return 0;
}

static int write_all_files(struct job *j)
{
	struct ranks_page p = {.all = &j->all, .header = j->opt->header};
	bool *folder = xcalloc(j->all.n_process + 1u, sizeof(*folder));
	int r = name_folders(j, folder) < 0 || put_events(j, &p.events) < 0 || put_estimates(j, &p.estimates) < 0 ||
			put_schedules(j, &p.schedules) < 0 || put_collectives(j) < 0 || put_timeline(j) < 0
		    ? -1
		    : 0;
	p.folder = folder;
	if (!r) {
		struct buf b = {0};
		ranks_page(&b, &p);
		r = put_file(j, "index.html", &b);
	}
	free(folder);
	return r;
}

int ranks_write(struct report *r, const struct tlparse_options *opt, struct ranks_result *res, struct err *err)
{
	struct job j = {.r = r, .opt = opt, .res = res, .err = err};
	*res = (struct ranks_result){0};
	struct output *o = outdir_open(r, opt, err);
	if (!o)
		return -1;
	j.out = o;
	j.fd = output_fd(o);
	err->text[0] = 0;
	int status = read_all(&j);
	if (status < 0 && !j.failed)
		err_set(err, EXIT_ENVIRON, "cannot read the logs");
	if (!status && !j.all.n_process && !j.all.n_flight)
		status = err_set(err, EXIT_INPUT, "no input could be read");
	if (!status) {
		ranks_finish(&j.all);
		res->processes = j.all.n_process;
		res->agree = !j.all.n_desync;
		for (unsigned c = 0; c < RANK_CHECK_COUNT; c++)
			res->agree &= j.all.check[c].agree;
		status = write_all_files(&j);
	}
	ranks_release(&j.all);
	if (status < 0) {
		output_abort(o);
		return -1;
	}
	return output_commit(o, err);
}
