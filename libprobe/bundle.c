/* bundle.c - copies the inputs of a run when it starts; if the run was bad, they and the model become a folder (watch/bundle.h). */
#include "watch/bundle.h"
#include "ops.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_KEPT 65536
#define MAX_FILES 256 /* next to the library */

struct kept_input {
	struct tensor_meta meta;
	void *data;     /* NULL: could not be copied */
	int64_t number; /* OPS_NO_NUMBER: not a number */
};
struct ops_kept {
	size_t n;
	char why[400];
	struct kept_input input[];
};

struct ops_kept *ops_keep(const struct ops_thread *t, struct model *m, void **in, size_t n)
{
	const uint64_t most = ops_config()->save_max;
	uint64_t sum = 0;
	if (n > MAX_KEPT || (n && !in) || m->ops->bundles >= 16)
		return NULL;
	struct ops_kept *k = calloc(1, sizeof(*k) + n * sizeof(k->input[0]));
	if (!k)
		return NULL;
	k->n = n;
	for (size_t i = 0; i < n; i++) {
		struct kept_input *x = &k->input[i];
		struct ops_view v;
		int64_t bytes;
		x->number = t->number ? t->number[i] : OPS_NO_NUMBER;
		if (!in[i] || !ops_view_of(m, in[i], &v) || !ops_meta_of(&v, &x->meta, &bytes))
			continue;
		sum += (uint64_t)bytes;
		if ((most && sum > most) || !(x->data = malloc(bytes ? (size_t)bytes : 1)))
			continue;
		if (v.device != DEVICE_CPU && !cuda_copy(x->data, v.data, (size_t)bytes)) {
			free(x->data);
			x->data = NULL;
		} else if (bytes && v.device == DEVICE_CPU) {
			memcpy(x->data, v.data, (size_t)bytes);
		}
	}
	return k;
}

void ops_keep_reason(struct ops_kept *k, const char *why)
{
	if (k && !*k->why)
		snprintf(k->why, sizeof(k->why), "%s", why);
}

void ops_drop(struct ops_kept *k)
{
	for (size_t i = 0; k && i < k->n; i++)
		free(k->input[i].data);
	free(k);
}

static bool copy(int from, int to)
{
	char room[16384];
	ssize_t n;
	while ((n = read(from, room, sizeof(room))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && talk_write(to, room, (size_t)n) < 0)
			return false;
	return n == 0;
}

/* A hard link preserves a file that torch deletes with its folder; across file systems it is a copy. */
static bool take_file(const char *from, const char *to)
{
	if (!linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW))
		return true;
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out = -1;
	struct stat st;
	bool ok = in >= 0 && !fstat(in, &st) && S_ISREG(st.st_mode) &&
		  (out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)) >= 0 && copy(in, out);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ok;
}

static bool join_path(char path[PATH_MAX], const char *folder, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", folder, name);
	return n > 0 && n < PATH_MAX;
}

static bool belongs(const char *name)
{
	static const char *const ends[] = {".cpp", ".json", ".blob", ".cubin", ".txt"};
	size_t n = strlen(name);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (n > strlen(ends[i]) && !strcmp(name + n - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* The library's name in the folder model/; "" if it no longer exists. */
static void take_model(const struct model *m, const char *folder, char *library, size_t room)
{
	char to[PATH_MAX], dir[PATH_MAX], from[PATH_MAX], sub[PATH_MAX];
	const char *path = m->path, *name = path_base(path);
	const struct slice in = path_folder(path);
	snprintf(library, room, strchr(name, '.') ? "%s" : "%s.so", name);
	if (!join_path(sub, folder, BUNDLE_MODEL) || mkdir(sub, 0700) < 0 || !join_path(to, sub, library) || !take_file(path, to)) {
		*library = 0;
		return;
	}
	if (m->text || name == path || !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5))
		return;
	snprintf(dir, sizeof(dir), "%.*s", SL(in));
	DIR *d = opendir(dir);
	int n = 0;
	for (struct dirent *e; d && n < MAX_FILES && (e = readdir(d));)
		if (belongs(e->d_name) && join_path(from, dir, e->d_name) && join_path(to, sub, e->d_name))
			n += take_file(from, to);
	if (d)
		closedir(d);
}

/* Writes the program that compiles a graph of torch.compile again. */
static bool write_program(const struct model *m, const char *folder)
{
	char path[PATH_MAX];
	if (!m->program || !join_path(path, folder, BUNDLE_MODEL "/" BUNDLE_RUNNABLE))
		return false;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	bool done = !talk_write(fd, m->program, strlen(m->program));
	return !close(fd) && done;
}

static void out_inputs(struct ops_thread *t, const struct ops_run *run, const char *folder, struct json_out *o)
{
	const struct contract *c = &run->model->contract;
	char path[PATH_MAX], name[32];
	struct buf spec = {0};
	json_member_arr(o, "inputs");
	for (size_t i = 0; i < run->kept->n; i++) {
		const struct kept_input *x = &run->kept->input[i];
		const enum call_saved as = x->data ? ops_saved_as(TENSOR_NPY, &x->meta) : CALL_UNSAVED;
		snprintf(name, sizeof(name), "input%zu%s", i, call_saved_ending[as]);
		bool saved = as != CALL_UNSAVED && join_path(path, folder, name) && ops_save(path, as, &x->meta, x->data, t->scratch);
		json_obj(o);
		if (x->number != OPS_NO_NUMBER)
			json_member_i64(o, "number", x->number);
		if (saved)
			json_member_str(o, "file", slice_str(strrchr(path, '/') + 1));
		else
			json_member_null(o, "file");
		buf_reset(&spec);
		if (x->data)
			tensor_spec_print(&x->meta, &spec);
		json_member_str(o, "spec", buf_slice(&spec));
		if (run->model->has_contract && i < c->n_inputs)
			json_member_str(o, "name", c->input[i].name);
		else
			json_member_null(o, "name");
		json_close(o);
	}
	json_close(o);
	buf_release(&spec);
}

/* What the program called everything: with it, a rerun has its names and lines. */
static bool take_table(const struct model *m, const char *folder)
{
	char to[PATH_MAX];
	return m->table && join_path(to, folder, BUNDLE_MODEL "/" BUNDLE_TABLE) && take_file(m->table, to);
}

static bool write_index(struct ops_thread *t, const struct ops_run *run, const char *folder, const char *library, bool program, bool table)
{
	char path[PATH_MAX];
	struct buf b = {0}, file = {0};
	struct json_out o = {.b = &b};
	json_obj(&o);
	json_member_u64(&o, "bundle", BUNDLE_VERSION);
	json_member_str(&o, "path", slice_str(run->model->path));
	json_key(&o, "library");
	buf_addf(&file, BUNDLE_MODEL "/%s", library);
	if (*library)
		json_out_str(&o, buf_slice(&file));
	else
		json_out_null(&o);
	json_member_u64(&o, "pid", t->pid);
	json_member_u64(&o, "model", run->model->id);
	json_member_u64(&o, "run", run->run);
	json_member_some(&o, "graph", run->model->text ? run->model->contract.model : SLICE(""));
	json_member_some(&o, "program", program ? SLICE(BUNDLE_MODEL "/" BUNDLE_RUNNABLE) : SLICE(""));
	json_member_some(&o, "table", table ? SLICE(BUNDLE_MODEL "/" BUNDLE_TABLE) : SLICE(""));
	json_member_some(&o, "finding", slice_str(run->kept->why));
	out_inputs(t, run, folder, &o);
	json_close(&o);
	buf_addc(&b, '\n');
	int fd = !join_path(path, folder, BUNDLE_INDEX) ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool ok = fd >= 0 && !talk_write(fd, b.p, b.len);
	if (fd >= 0)
		close(fd);
	buf_release(&b);
	buf_release(&file);
	return ok;
}

void ops_write_bundle(struct ops_thread *t, const struct ops_run *run)
{
	const struct calls_config *c = ops_config();
	char folder[PATH_MAX / 2], whole[PATH_MAX / 2], library[NAME_MAX + 1];
	int dir = (int)strnlen(c->save_dir, sizeof(c->save_dir));
	if (!dir || atomic_fetch_add(&run->model->ops->bundles, 1) >= 16)
		return;
	snprintf(whole, sizeof(whole), "%.*s/bundle.m%u.r%06u", dir, c->save_dir, run->model->id, run->run);
	snprintf(folder, sizeof(folder), "%.*s/.bundle.m%u.r%06u.%u", dir, c->save_dir, run->model->id, run->run, t->tid);
	if (mkdir(folder, 0700) < 0) {
		event_aside(run->model->id, "cannot keep the inputs of a bad run: no folder for them");
		return;
	}
	take_model(run->model, folder, library, sizeof(library));
	const bool program = write_program(run->model, folder), table = program && take_table(run->model, folder);
	if (run->model->text)
		*library = 0;
	if (!write_index(t, run, folder, library, program, table) || rename(folder, whole) < 0)
		event_aside(run->model->id, "the inputs of a bad run could only be kept in part");
}
