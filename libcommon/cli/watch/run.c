/* Run a model in its own process: unpack, check, start pt2-runner, read what it wrote. */
#include "watch/run.h"

#include "base/broker/broker.h"
#include "model/doctor/doctor.h"
#include "model/elf/modelso.h"
#include "tensor/weights/weights.h"
#include "base/process/confine.h"
#include "base/process/elsewhere.h"
#include "base/tool/output.h"
#include "base/tool/parts.h"
#include "base/tool/tempfolder.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- the programs ---- */

static const char *own_file(struct arena *a, const char *variable, const char *name, struct err *err)
{
	char path[PATH_MAX];
	return part_find(variable, name, path, err) < 0 ? NULL : arena_strndup(a, path, strlen(path));
}

/* What run_trust() has found, or why nothing: a sealed tool can ask no Python. */
static const char *trusted_torch;
static struct err no_torch;

static const char *runtime(struct arena *a, const struct run_options *o, struct err *err)
{
	if (o->how.torch && no_torch.text[0])
		return *err = no_torch, NULL;
	if (o->how.torch && trusted_torch)
		return trusted_torch;
	return o->how.torch ? run_find_torch(a, o->how.torch, err) : own_file(a, "PT2_SHIM", "libpt2shim.so", err);
}

/* ---- the folder ---- */

static char *path_in(struct run_job *j, const char *folder, struct slice name)
{
	char path[PATH_MAX + 256];
	int n = snprintf(path, sizeof(path), "%s/%.*s", folder, SLN(name, 240));
	return arena_strndup(&j->arena, path, (size_t)n);
}

static char *in_folder(struct run_job *j, const char *name) { return path_in(j, j->folder, slice_str(name)); }
static char *in_files(struct run_job *j, struct slice name) { return path_in(j, j->files, name); }

/* A name that cannot leave the folder. */
static bool plain_name(struct slice name)
{
	return name.n && name.n <= 240 && name.p[0] != '.' && !slice_chr(name, '/') && !slice_chr(name, 0);
}

static int put_file(struct package *pkg, uint32_t file, const char *path, struct err *err)
{
	int fd = make_file(path, O_WRONLY | O_EXCL, 0600);
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot create '%s'", path);
	int r = package_copy(pkg, file, fd, path, err);
	close(fd);
	return r;
}

/* Everything that belongs to the model. *size: total. */
static int unpack(struct run_job *j, struct package *pkg, const struct package_model *m, uint64_t *size, struct err *err)
{
	*size = 0;
	for (uint32_t i = 0; i < m->n_file; i++) {
		const struct package_file *f = &pkg->file[m->file[i]];
		if (!plain_name(f->name))
			return err_set(err, EXIT_INPUT, "'%s' has a file with an invalid name: '%.*s'", pkg->path, SLN(f->name, 80));
		if (put_file(pkg, m->file[i], in_files(j, f->name), err) < 0)
			return -1;
		*size += f->size;
	}
	return 0;
}

/* Into the job's own folder, or that of all jobs of this model. */
static int place_files(struct run_job *j, struct run_files *shared, struct package *pkg, const struct package_model *m, uint64_t *size,
		       struct err *err)
{
	if (!shared) {
		j->files = j->folder;
		return unpack(j, pkg, m, size, err);
	}
	pthread_mutex_lock(&shared->lock);
	if (!shared->folder && !shared->failed) {
		j->files = shared->folder = temp_folder(TEMP_RUN, &shared->why);
		shared->failed = !j->files || unpack(j, pkg, m, &shared->size, &shared->why) < 0;
	}
	j->files = shared->folder;
	*size = shared->size;
	if (shared->failed)
		*err = shared->why;
	pthread_mutex_unlock(&shared->lock);
	return shared->failed ? -1 : 0;
}

void run_files_release(struct run_files *f)
{
	temp_folder_remove(f->folder);
	f->folder = NULL;
}

/* A library is mapped to be executed, which a folder may forbid. */
static int avoid_noexec(struct run_job *j, struct package *pkg, const struct package_model *m, struct err *err)
{
	struct statvfs fs;
	char path[32];
	j->loaded = j->so;
	if (statvfs(j->files, &fs) < 0 || !(fs.f_flag & ST_NOEXEC))
		return 0;
	j->in_memory = memfd_create("model", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (j->in_memory < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot copy '%s' to memory", j->so);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", j->in_memory);
	j->loaded = arena_strndup(&j->arena, path, strlen(path));
	return package_copy(pkg, m->so, j->in_memory, "a copy of the model in memory", err);
}

static int put_inputs(const char *path, const struct tensor_view *in, size_t n, struct err *err)
{
	int fd = make_file(path, O_WRONLY | O_EXCL, 0600);
	if (fd < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot create '%s'", path);
	int r = runfile_write(fd, in, n, NULL, path, err);
	close(fd);
	return r;
}

/* ---- weights ---- */

/* Does the library have weights, or a file from which it takes them? */
static int has_weights(struct package *pkg, const struct package_model *m, bool *has, struct err *err)
{
	struct modelso so;
	struct slice bytes;
	if (package_data(pkg, m->so, &bytes, err) < 0 || modelso_open(&so, bytes, pkg->path, err) < 0)
		return -1;
	*has = so.constants.form != CONSTANTS_NONE;
	modelso_close(&so);
	return 0;
}

/* Without a contract the child matches them by name. */
static int put_fitted(struct run_job *j, const struct weights *w, const struct contract *c, bool has, const char *path, struct err *err)
{
	struct weights_fit f;
	if (!c)
		return put_inputs(path, w->v, w->n, err);
	if (weights_fit(w, c, !has, &f, err) < 0)
		return -1;
	int r = put_inputs(path, f.v, f.n, err);
	if (f.n_surplus)
		buf_addf(&j->notes, "'%s': %zu weight%s not used by the model (or compiled into its code as values): %s\n", w->path,
			 f.n_surplus, plural(f.n_surplus), buf_str(&f.surplus));
	if (f.n_kept)
		buf_addf(&j->notes, "'%s' lacks %zu of the model's weights, which keep their compiled values: %s\n", w->path, f.n_kept,
			 buf_str(&f.kept));
	weights_fit_release(&f);
	return r;
}

static uint64_t all_bytes(const struct weights *w)
{
	uint64_t sum = 0;
	int64_t bytes;
	for (size_t i = 0; i < w->n; i++)
		sum += tensor_extent(&w->v[i].meta, &bytes) ? (uint64_t)bytes : 0;
	return sum;
}

/* *path: a file for the child; NULL: the library's own are used. */
static int put_weights(struct run_job *j, struct package *pkg, const struct package_model *m, const struct run_options *o,
		       const char **path, uint64_t *size, struct err *err)
{
	struct weights w, carried;
	bool has = false;
	*path = NULL;
	int carries = weights_of_package(&carried, pkg, m, err), r = -1;
	if (carries < 0 || (!carries && !o->how.weights))
		return carries;
	*path = in_folder(j, "weights.run");
	if (!o->how.weights) {
		r = put_fitted(j, &carried, o->contract, false, *path, err);
		*size += all_bytes(&carried);
	} else if (weights_open(&w, o->how.weights, err) == 0) {
		if (carries)
			weights_behind(&w, &carried);
		if (has_weights(pkg, m, &has, err) == 0)
			r = put_fitted(j, &w, o->contract, has, *path, err);
		*size += all_bytes(&w);
		weights_close(&w);
	}
	if (carries)
		weights_close(&carried);
	return r;
}

/* ---- what can be checked before ---- */

static int check_device(struct package *pkg, const struct package_model *m, const struct package_metadata *md, const struct run_options *o,
			bool *gpu, struct err *err)
{
	struct modelso so;
	struct slice bytes;
	struct err unread;
	*gpu = slice_is(md->device, "cuda");
	if (!md->device.n && package_data(pkg, m->so, &bytes, &unread) == 0 && modelso_open(&so, bytes, pkg->path, &unread) == 0) {
		*gpu = so.device_code == DEVICE_CODE_CUDA;
		modelso_close(&so);
	}
	if (md->device.n && !*gpu && !slice_is(md->device, "cpu"))
		return err_set(err, EXIT_INPUT, "'%s' is compiled for %.*s; only models for cpu and cuda can be run", pkg->path,
			       SLN(md->device, 40));
	if (*gpu && !o->how.torch)
		return err_set(
		    err, EXIT_INPUT,
		    "'%s' is compiled for cuda: run it with an installed libtorch for CUDA (--torch), or watch a program that runs "
		    "it (-- COMMAND)",
		    pkg->path);
	return 0;
}

static int check_processor(struct package *pkg, const struct package_model *m, const struct run_options *o, bool *gpu, struct err *err)
{
	struct package_metadata md;
	struct doctor_host host;
	if (package_metadata(pkg, m, &md, err) < 0 || check_device(pkg, m, &md, o, gpu, err) < 0)
		return -1;
	doctor_host_here(&host);
	if (md.machine.n && !slice_eq(md.machine, slice_str(host.machine)))
		return err_set(err, EXIT_INPUT, "'%s' is compiled for %.*s; this machine is %s", pkg->path, SLN(md.machine, 40),
			       host.machine);
	return doctor_can_execute(pkg, m, err);
}

/* ---- the command line ---- */

struct words {
	struct run_job *job;
	char *v[96];
	int n;
};

static void word(struct words *w, const char *text) { w->v[w->n++] = arena_strndup(&w->job->arena, text, strlen(text)); }

static void option(struct words *w, const char *name, const char *value)
{
	if (!value)
		return;
	word(w, name);
	word(w, value);
}

static void option_number(struct words *w, const char *name, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	option(w, name, value ? text : NULL);
}

static void command_line(struct run_job *j, const char *name, const char *runner, const char *torch, const char *inputs,
			 const char *weights, const char *blob, const char *extern_nodes, char *const *load, const struct run_options *o)
{
	struct words w = {.job = j};
	word(&w, runner);
	option(&w, "--torch", torch);
	option(&w, "--model", j->so);
	word(&w, "--own-copy");
	if (j->in_memory >= 0)
		option_number(&w, "--in-memory", RUN_IN_MEMORY);
	option(&w, "--name", name);
	option(&w, "--inputs", inputs);
	option(&w, "--outputs", j->outputs);
	option(&w, "--weights", weights);
	option(&w, "--blob", blob);
	option(&w, "--extern-nodes", extern_nodes);
	for (size_t i = 0; i < o->how.load.n; i++)
		option(&w, "--load", load[i]);
	option_number(&w, "--runs", (uint64_t)o->how.runs);
	option_number(&w, "--threads", o->threads);
	option_number(&w, "--limit-memory", j->max_memory);
	if (j->gpu)
		word(&w, "--gpu");
	option(&w, "--save-dir", o->watched ? o->save_dir : NULL);
	if (o->check_inputs)
		word(&w, "--check-inputs");
	if (o->watched)
		word(&w, "--watched");
	if (o->watched && o->how.bounds)
		word(&w, "--guard");
	if (o->unconfined)
		word(&w, "--unconfined");
	if (o->printed)
		word(&w, "--verbose");
	word(&w, "--quiet");
	j->argv = arena_alloc(&j->arena, ((size_t)w.n + 1) * sizeof(*j->argv));
	memcpy(j->argv, w.v, (size_t)w.n * sizeof(*w.v));
	j->argv[w.n] = NULL;
}

static const char *shown_name(struct run_job *j, struct package *pkg, const struct package_model *m)
{
	char text[PATH_MAX];
	int n = snprintf(text, sizeof(text), "%s%s%.*s", pkg->path, pkg->n > 1 ? ":" : "", SL(pkg->n > 1 ? m->name : SLICE("")));
	return arena_strndup(&j->arena, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* By full path: dlopen() would search other directories for a name without a slash. */
static int find_libraries(struct run_job *j, const struct run_options *o, char **load, struct err *err)
{
	char path[PATH_MAX];
	if (o->how.load.n > RUN_MAX_LOAD || (o->how.load.n && !o->how.torch))
		return err_set(err, EXIT_USAGE, "operator libraries (--load) need an installed libtorch (--torch); at most %d",
			       RUN_MAX_LOAD);
	for (size_t i = 0; i < o->how.load.n; i++) {
		if (!realpath(o->how.load.v[i], path))
			return err_errno(err, EXIT_INPUT, "cannot open '%s'", o->how.load.v[i]);
		load[i] = arena_strndup(&j->arena, path, strlen(path));
	}
	return 0;
}

static bool has_cuda(const char *torch)
{
	char *path = xasprintf("%.*s/libtorch_cuda.so", SL(path_folder(torch)));
	const bool has = access(path, F_OK) == 0;
	free(path);
	return has;
}

void run_trust(const struct run_how *how)
{
	static struct arena arena; /* for as long as the options */
	char path[PATH_MAX];
	if (!how->torch || !(trusted_torch = run_find_torch(&arena, how->torch, &no_torch)))
		return;
	broker_trust(BROKER_PATH, trusted_torch);
	if (has_cuda(trusted_torch))
		broker_trust(BROKER_GPU, NULL);
	for (size_t i = 0; i < how->load.n; i++)
		if (realpath(how->load.v[i], path)) /* a missing one is reported when it is needed */
			broker_trust(BROKER_PATH, path);
}

static int prepare_job(struct run_job *j, struct package *pkg, const struct tensor_view *in, size_t n_in, const struct run_options *o,
		       struct err *err)
{
	uint64_t size;
	char *load[RUN_MAX_LOAD];
	struct package_model *m = package_model(pkg, o->how.model, err);
	if (!m)
		return -1;
	if (!m->so)
		return err_set(err, EXIT_INPUT, "'%s' has no library to run, only source text", pkg->path);
	const char *runner = own_file(&j->arena, "PT2_RUNNER", "pt2-runner", err), *torch = runner ? runtime(&j->arena, o, err) : NULL;
	if (find_libraries(j, o, load, err) < 0)
		return -1;
	if (!torch || check_processor(pkg, m, o, &j->gpu, err) < 0)
		return -1;
	if (j->gpu && !has_cuda(torch)) /* the runner says so, too; a sealed tool may not even start one unconfined */
		return err_set(err, EXIT_ENVIRON, "'%s' is a libtorch without CUDA: no libtorch_cuda.so beside it", torch);
	if (!(j->folder = temp_folder(TEMP_RUN, err)) || place_files(j, o->files, pkg, m, &size, err) < 0)
		return -1;
	const char *inputs = in_folder(j, "inputs.run"), *weights;
	if (put_weights(j, pkg, m, o, &weights, &size, err) < 0)
		return -1;
	j->so = in_files(j, pkg->file[m->so].name);
	j->outputs = in_folder(j, "outputs.run");
	j->max_memory = o->max_memory ? o->max_memory : (16ull << 30) + 4 * size;
	j->timeout_s = o->how.timeout_s ? (unsigned)o->how.timeout_s : 600;
	if (put_inputs(inputs, in, n_in, err) < 0 || avoid_noexec(j, pkg, m, err) < 0)
		return -1;
	command_line(j, shown_name(j, pkg, m), runner, torch, inputs, weights,
		     m->weights_blob ? in_files(j, pkg->file[m->weights_blob].name) : NULL,
		     m->extern_nodes ? in_files(j, pkg->file[m->extern_nodes].name) : NULL, load, o);
	return 0;
}

int run_prepare(struct run_job *j, struct package *pkg, const struct tensor_view *in, size_t n_in, const struct run_options *o,
		struct err *err)
{
	*j = (struct run_job){.in_memory = -1, .guarded = o->how.bounds};
	if (prepare_job(j, pkg, in, n_in, o, err) == 0)
		return 0;
	if (j->folder)
		temp_failed(err);
	run_job_release(j);
	return -1;
}

void run_job_release(struct run_job *j)
{
	temp_folder_remove(j->folder);
	if (j->in_memory >= 0)
		close(j->in_memory);
	buf_release(&j->notes);
	arena_release(&j->arena);
	*j = (struct run_job){.in_memory = -1};
}

/* ---- the result ---- */

int run_outputs(const struct run_job *j, const struct child_result *child, struct run_result *r, struct err *err)
{
	struct err why;
	bool wrote = runfile_open(&r->out, j->outputs, &why) == 0;
	if (child->how == CHILD_EXITED && wrote && r->out.error.status == EXIT_FINE && child->status == 0)
		return 0;
	if (wrote && r->out.error.status != EXIT_FINE) {
		*err = r->out.error;
		runfile_close(&r->out);
		return err->status == EXIT_ENVIRON && strstr(err->text, j->folder) ? temp_failed(err) : -1;
	}
	if (wrote)
		runfile_close(&r->out);
	if (child->how == CHILD_EXITED && child->status == EXIT_ENVIRON) { /* the reason is in that file, if it could be written */
		err_set(err, EXIT_ENVIRON,
			"the model's process exited with status 4 and could not write the reason to '%s': is the disk full?", j->outputs);
		return temp_failed(err);
	}
	struct buf b = {0};
	child_describe(child, &b);
	const bool memory = child->how == CHILD_SIGNALED && (child->sig == SIGSEGV || child->sig == SIGABRT || child->sig == SIGBUS);
	err_set(err, child->how == CHILD_NOT_STARTED ? EXIT_ENVIRON : EXIT_INPUT, "the model's process: %s%s", buf_str(&b),
		memory && !j->guarded ? "; pt2-run --bounds tells whether a kernel wrote out of bounds" : "");
	buf_release(&b);
	return -1;
}

/* Runs it to its end; its output is forwarded as it arrives. */
static int run_shown(const struct child_spec *spec, const struct run_options *o, struct child_result *r, struct err *err)
{
	struct childset set = {0};
	struct child *c = child_start(&set, spec, err);
	struct child_event ev = {.what = CHILD_NOTHING};
	char text[4096];
	while (c && ev.what != CHILD_ENDED) {
		if (childset_wait(&set, -1, -1, &ev) < 0) {
			err_errno(err, EXIT_ENVIRON, "cannot wait for the model's process");
			break;
		}
		ssize_t n = ev.what == CHILD_READABLE ? read(child_fd(c, ev.stream), text, sizeof(text)) : 1;
		if (ev.what == CHILD_READABLE && n > 0)
			o->printed(o->user, slice_of(text, (size_t)n));
		else if (n == 0)
			child_close_stream(c, ev.stream);
	}
	if (ev.what == CHILD_ENDED) {
		*r = *child_result(c);
		r->out = r->err = (struct child_output){0}; /* nothing was collected */
	}
	childset_release(&set);
	return ev.what == CHILD_ENDED ? 0 : -1;
}

int run_model(struct package *pkg, const struct tensor_view *in, size_t n_in, const struct run_options *o, struct run_result *r,
	      struct err *err)
{
	struct run_job j;
	*r = (struct run_result){0};
	if (run_prepare(&j, pkg, in, n_in, o, err) < 0)
		return -1;
	struct child_spec spec = {
	    .argv = (const char *const *)j.argv,
	    .fds = &(const struct child_fd){.from = j.in_memory, .to = RUN_IN_MEMORY},
	    .n_fds = j.in_memory >= 0,
	    .in.how = CHILD_NULL,
	    .out.how = o->printed ? CHILD_RAW : CHILD_NULL,
	    .err.how = o->printed ? CHILD_MERGE : CHILD_INHERIT,
	    .timeout_ms = j.timeout_s > INT_MAX / 1000 ? INT_MAX : (int)j.timeout_s * 1000,
	    .die_with_parent = true,
	};
	struct child_result child;
	const bool was = confine_hide();
	int rc = child_signalled() ? err_set(err, EXIT_ENVIRON, "stopped by a signal before the model was started")
		 : o->printed      ? run_shown(&spec, o, &child, err)
				   : child_run(&spec, &child, err);
	confine_unhide(was);
	if (!rc) {
		rc = run_outputs(&j, &child, r, err);
		child_result_release(&child);
	}
	if (!rc) {
		r->notes = j.notes;
		j.notes = (struct buf){0};
	}
	run_job_release(&j); /* the outputs are mapped: they stay */
	return rc;
}

void run_result_release(struct run_result *r)
{
	runfile_close(&r->out);
	buf_release(&r->notes);
}
