#include "graph/repro/graphfile.h"
#include "graph/repro/tracegraph.h"
#include "run/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the kind of file ---- */

/* Reads the beginning of a file. */
static struct slice head_of(const char *path, char *head, size_t room)
{
	struct stat st;
	struct slice b = {head, 0};
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool more = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	while (more && b.n < room) {
		const ssize_t n = read(fd, head + b.n, room - b.n);
		b.n += n > 0 ? (size_t)n : 0;
		more = n > 0 || (n < 0 && errno == EINTR);
	}
	if (fd >= 0)
		close(fd);
	return b;
}

/* Files of code begin differently. */
bool graph_file_is(const char *path)
{
	char room[4096];
	const struct slice head = head_of(path, room, sizeof(room));
	return head.n && !slice_starts(head, "PK\3\4") && !slice_starts(head, "\177ELF") && !slice_chr(head, 0);
}

/* ---- a launcher's stored inputs ---- */

struct kept {
	const struct repro *r;
	const struct program *p;
	struct inputs *in;
	struct repro_bytes *open; /* per storage: its file */
	const struct symbind *env;
	struct err *err;
};

static int storage_of(struct kept *k, const struct repro_input *in, struct slice *bytes)
{
	const struct repro_storage *s = &k->r->storage[in->storage];
	LOCAL_BUF path = {0};
	*bytes = s->bytes;
	if (bytes->p)
		return 0;
	struct repro_bytes *file = &k->open[in->storage];
	int r = 0;
	if (!file->bytes.p) {
		r = repro_storage_path(k->r, in->storage, &path);
		r = r < 0 ? err_set(k->err, EXIT_USAGE,
				    "the values of '%.*s' were not kept: pass a file, or a spec (f32[8]) to generate values",
				    SLN(in->name, 100))
			  : repro_bytes_open(file, buf_str(&path), k->err);
	}
	*bytes = file->bytes;
	return r;
}

static int take_sizes(struct kept *k, const struct gmeta *m, struct tensor_meta *to)
{
	const struct graph *g = &k->p->graph;
	*to = (struct tensor_meta){.dtype = m->dtype, .n_dim = m->n_dim, .device_index = -1};
	for (uint32_t d = 0; d < m->n_dim; d++)
		if (symsize_eval(&g->tab, g->dim[m->dim + d], k->env, &to->size[d], k->err) < 0 ||
		    (m->has_stride && symsize_eval(&g->tab, g->dim[m->dim + m->n_dim + d], k->env, &to->stride[d], k->err) < 0))
			return -1;
	if (!m->has_stride)
		tensor_contiguous(to);
	return 0;
}

static int take_kept_tensor(struct kept *k, const struct repro_input *in, struct tensor_view *v)
{
	struct slice bytes;
	int64_t offset, extent;
	if (take_sizes(k, &k->p->graph.meta[in->meta], &v->meta) < 0 || storage_of(k, in, &bytes) < 0 ||
	    symsize_eval(&k->p->graph.tab, in->offset, k->env, &offset, k->err) < 0)
		return -1;
	const struct dtype_info *d = dtype_info(v->meta.dtype);
	if (!d || !tensor_extent(&v->meta, &extent) || offset < 0 || offset > (int64_t)bytes.n / d->bytes ||
	    extent > (int64_t)bytes.n - offset * d->bytes)
		return err_set(k->err, EXIT_INPUT, "'%.*s' reaches outside its storage of %zu bytes", SLN(in->name, 100), bytes.n);
	char *data = arena_alloc(&k->in->arena, (size_t)extent + 16);
	v->data = memcpy(data, bytes.p + offset * d->bytes, (size_t)extent);
	return 0;
}

static int take_kept(struct kept *k, uint32_t i)
{
	const struct repro_input *in = &k->r->input[i];
	struct tensor_view *v = &k->in->v[k->p->input[i].index];
	v->name = arena_slice(&k->in->arena, in->name);
	if (in->kind == REPRO_TENSOR)
		return take_kept_tensor(k, in, v);
	if (in->kind != REPRO_SYMINT || !symsize_is_int(in->value))
		return err_set(k->err, EXIT_INPUT, "the input '%.*s' is of a kind that cannot be used here", SLN(in->name, 100));
	int64_t *number = arena_alloc(&k->in->arena, sizeof(*number));
	*number = in->value.k;
	v->meta = (struct tensor_meta){.dtype = DTYPE_I64, .device_index = -1};
	v->data = number;
	return 0;
}

/* From a launcher's own storages; they are copied, because its files are closed. */
int graph_kept_inputs(const struct graph_file *f, const struct program *p, struct inputs *in, struct err *err)
{
	struct kept k = {.r = &f->repro, .p = p, .in = in, .env = &f->env, .err = err};
	int r = 0;
	*in = (struct inputs){.n = p->contract.n_inputs};
	in->v = xcalloc(in->n + 1, sizeof(*in->v));
	k.open = xcalloc(f->repro.n_storages + 1, sizeof(*k.open));
	for (uint32_t i = 0; i < p->n_inputs && !r; i++)
		if (p->input[i].from == PROGRAM_INPUT)
			r = i < f->repro.n_inputs ? take_kept(&k, i) : err_set(err, EXIT_INPUT, "it has fewer inputs than its graph");
	for (size_t i = 0; i < f->repro.n_storages; i++)
		if (k.open[i].bytes.p)
			repro_bytes_close(&k.open[i]);
	free(k.open);
	if (r)
		inputs_release(in);
	return r;
}

/* ---- open ---- */

static int read_graph(struct graph_file *f, const char *path, const char *which, struct err *err)
{
	if (!trace_is_log(path)) {
		if (repro_open(&f->repro, path, err) < 0 && (!which || access(path, R_OK) != 0))
			return -1;
		if (!which)
			return 0;
		return err_set(err, EXIT_USAGE, "--graph requires a trace log (TORCH_TRACE), but '%s' is not one", path);
	}
	f->shown = xasprintf("%s (%s)", path, which ? which : "its graph");
	if (tracegraph_read(path, which, TRACEGRAPH_VALUES, &f->text, err) < 0)
		return -1;
	return repro_read(&f->repro, buf_slice(&f->text), f->shown, err);
}

int graph_file_open(struct graph_file *f, struct program *p, const char *path, const char *which, struct err *err)
{
	*f = (struct graph_file){0};
	if (read_graph(f, path, which, err) < 0) {
		graph_file_close(f);
		return -1;
	}
	const struct gattr *lost = repro_lost_module(&f->repro);
	int r = 0;
	if (f->repro.form == REPRO_AOTI)
		r = err_set(err, EXIT_USAGE, "'%s' runs an exported program: pass that file, '%.*s'", path, SLN(f->repro.exported, 200));
	else if (lost)
		r = err_set(err, EXIT_INPUT, "'%s' lacks the subgraph '%.*s', as all launchers of torch before 2.14: use a trace instead",
			    path, SLN(graph_text(&f->repro.graph, lost->name), 100));
	else
		repro_bind(&f->repro, &f->env);
	if (!r)
		r = program_of_graph(p, &f->repro.graph, f->shown ? f->shown : path, err);
	if (r < 0)
		graph_file_close(f);
	return r;
}

void graph_file_close(struct graph_file *f)
{
	repro_release(&f->repro);
	symbind_release(&f->env);
	buf_release(&f->text);
	free(f->shown);
	*f = (struct graph_file){0};
}
