#include "run/debugdir/debugdir.h"
#include "base/rows.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const debug_file_name[DEBUG_FILE_COUNT] = {
#define X(id, name) name,
    DEBUG_FILES(X)
#undef X
};

const char *debug_phase_name(enum debug_phase p)
{
	static const char *const names[] = {"lowering", "scheduler", "code generation", "compiler or run time"};
	return names[p];
}

enum debug_phase debugdir_phase(const struct debug_comp *c)
{
	if (c->has[DEBUG_OUTPUT_CODE] || c->has[DEBUG_OUTPUT_CPP])
		return DEBUG_HAS_CODE;
	if (c->has[DEBUG_IR_POST])
		return DEBUG_IN_CODEGEN;
	return c->has[DEBUG_IR_PRE] ? DEBUG_IN_SCHEDULER : DEBUG_IN_LOWERING;
}

/* ---- names ---- */

/* The number that ends just before `end`, or -1. */
static uint64_t number_before(struct slice s, const char *end)
{
	const char *p = end;
	uint64_t v;
	while (p > s.p && is_digit(p[-1]))
		p--;
	return slice_u64(slice_of(p, (size_t)(end - p)), &v) ? v : UINT64_MAX;
}

/* model__0_forward_1.0 */
static void name_comp(struct debug_comp *c)
{
	static const char *const kinds[] = {"", "_forward_", "_backward_", "_inference_"};
	struct slice s = c->name;
	c->graph = c->nth = UINT64_MAX;
	for (int k = DEBUG_FORWARD; k <= DEBUG_INFERENCE; k++) {
		const char *at = slice_find(s, kinds[k]);
		if (!at)
			continue;
		c->kind = (enum debug_kind)k;
		c->graph = number_before(s, at);
		c->nth = number_before(s, s.p + s.n);
		return;
	}
}

/* run_2026_11_21_10_26_22_225703-pid_16333 */
static bool name_run(struct debugdir *d, struct debug_run *r, struct slice name)
{
	const char *pid = slice_find(name, "-pid_");
	unsigned part[6];
	char text[128];
	LOCAL_BUF b = {0};
	if (!slice_starts(name, "run_") || name.n >= sizeof(text))
		return false;
	*r = (struct debug_run){.name = name};
	memcpy(text, name.p, name.n);
	text[name.n] = 0;
	if (sscanf(text, "run_%4u_%2u_%2u_%2u_%2u_%2u", &part[0], &part[1], &part[2], &part[3], &part[4], &part[5]) == 6)
		buf_addf(&b, "%04u-%02u-%02u %02u:%02u:%02u", part[0], part[1], part[2], part[3], part[4], part[5]);
	r->time = arena_slice(&d->arena, buf_slice(&b));
	if (pid && !slice_u64(slice_of(pid + 5, (size_t)(name.p + name.n - pid - 5)), &r->pid))
		r->pid = 0;
	return true;
}

/* ---- the walk ---- */

struct walk {
	struct debugdir *d;
	struct {
		struct slice path;
		uint32_t depth, run;
	} * todo;
	uint32_t n, cap, entries;
};

static void push(struct walk *w, struct slice path, uint32_t depth, uint32_t run)
{
	GROW(w->todo, w->n, w->cap, 1);
	w->todo[w->n].path = path;
	w->todo[w->n].depth = depth;
	w->todo[w->n++].run = run;
}

static struct slice joined(struct debugdir *d, struct slice path, const char *name)
{
	FREED char *s = xasprintf("%.*s%s%s", SL(path), slice_ends(path, "/") ? "" : "/", name);
	struct slice r = arena_slice(&d->arena, slice_of(s, strlen(s) + 1));
	r.n--; /* the NUL stays after it */
	return r;
}

static uint32_t run_of(struct debugdir *d, struct slice path, uint32_t run)
{
	struct debug_run r;
	if (run != NONE || !name_run(d, &r, slice_base(path)))
		return run;
	GROW(d->run, d->n_run, d->cap_run, 1);
	d->run[d->n_run] = r;
	return d->n_run++;
}

static void keep(struct debugdir *d, struct slice **list, uint32_t *n, uint32_t *cap, struct slice path)
{
	GROW(*list, *n, *cap, 1);
	(*list)[(*n)++] = arena_slice(&d->arena, path);
}

static void file(struct debugdir *d, struct debug_comp *c, struct slice folder, const char *name, uint64_t size)
{
	struct slice s = slice_str(name);
	for (int i = 0; i < DEBUG_FILE_COUNT; i++)
		if (slice_is(s, debug_file_name[i])) {
			c->has[i] = true;
			c->size[i] = size;
		}
	bool dynamo = slice_is(slice_base(folder), "torchdynamo") && slice_is(s, "debug.log");
	if (dynamo || (slice_starts(s, "aot_") && slice_ends(s, "_debug.log")))
		keep(d, &d->log, &d->n_log, &d->cap_log, joined(d, folder, name));
	else if (slice_starts(s, "dedicated_log_torch_trace"))
		keep(d, &d->trace, &d->n_trace, &d->cap_trace, joined(d, folder, name));
}

static void folder(struct walk *w, struct slice path, uint32_t depth, uint32_t run)
{
	struct debugdir *d = w->d;
	struct debug_comp c = {.path = path, .name = slice_base(path)};
	int fd = open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	run = run_of(d, path, run);
	for (struct dirent *e; (e = readdir(dir)) && w->entries < DEBUGDIR_MAX; w->entries++) {
		struct stat st;
		if (e->d_name[0] == '.' || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEBUGDIR_DEPTH)
			push(w, joined(d, path, e->d_name), depth + 1, run);
		else if (S_ISREG(st.st_mode))
			file(d, &c, path, e->d_name, (uint64_t)st.st_size);
	}
	closedir(dir);
	bool any = false;
	for (int i = 0; i < DEBUG_FILE_COUNT; i++)
		any |= c.has[i] && i != DEBUG_LOG;
	if (!any)
		return;
	c.run = run;
	name_comp(&c);
	PUSH(d, comp) = c;
}

static int by_order(const void *a, const void *b, void *user)
{
	const struct debug_comp *x = a, *y = b;
	const struct debugdir *d = user;
	if (x->run != y->run && x->run < d->n_run && y->run < d->n_run) {
		struct slice m = d->run[x->run].name, n = d->run[y->run].name;
		int r = memcmp(m.p, n.p, m.n < n.n ? m.n : n.n);
		if (r)
			return r;
	}
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->nth != y->nth)
		return x->nth < y->nth ? -1 : 1;
	return slice_cmp(x->path, y->path);
}

int debugdir_open(struct debugdir *d, const char *path, struct err *err)
{
	struct stat st;
	struct walk w = {.d = d};
	*d = (struct debugdir){.path = path};
	if (stat(path, &st) < 0)
		return err_errno(err, EXIT_INPUT, "'%s'", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, EXIT_INPUT, "'%s' is not a directory", path);
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	push(&w, slice_of(arena_strndup(&d->arena, path, n), n), 0, UINT32_MAX);
	while (w.n) {
		uint32_t i = --w.n;
		folder(&w, w.todo[i].path, w.todo[i].depth, w.todo[i].run);
	}
	free(w.todo);
	if (d->n_comp)
		qsort_r(d->comp, d->n_comp, sizeof(*d->comp), by_order, d);
	if (!d->n_comp && !d->n_log && !d->n_trace) {
		debugdir_close(d);
		return err_set(err, EXIT_INPUT,
			       "'%s': no debug directory found: TORCH_COMPILE_DEBUG=1 writes one, named torch_compile_debug", path);
	}
	return 0;
}

void debugdir_close(struct debugdir *d)
{
	free(d->run);
	free(d->comp);
	free(d->log);
	free(d->trace);
	arena_release(&d->arena);
	*d = (struct debugdir){0};
}

bool debugdir_probe(const char *path)
{
	struct debugdir d;
	if (debugdir_open(&d, path, NULL) < 0)
		return false;
	bool r = d.n_comp > 0;
	debugdir_close(&d);
	return r;
}

int debugdir_file(const struct debugdir *d, uint32_t comp, enum debug_file which, struct mapfile *f, struct err *err)
{
	const struct debug_comp *c = &d->comp[comp];
	struct stat st;
	FREED char *path = xasprintf("%.*s/%s", SL(c->path), debug_file_name[which]);
	int r = -1;
	if (!c->has[which] || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		err_set(err, EXIT_INPUT, "'%s' is missing", path);
	else
		r = mapfile_open(f, path, err);
	return r;
}
