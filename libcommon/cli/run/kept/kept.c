#include "run/kept/kept.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/io/jsonfile.h"
#include "base/io/write.h"
#include "base/text.h"
#include "base/tool/output.h"
#include "base/tool/tempfolder.h"
#include "run/bundle/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { NAME_DATE = 15, NAME_PROGRAM = 40, DEEPEST = 16, MOST_TRIES = 1000 };

struct kept {
	char *folder;
	const char *tool;
	char **command;
	double started;
	int lock;
};

/* ---- the place ---- */

/* NULL: neither variable names an absolute path. */
static char *place_of_all(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	if (state && *state == '/') /* the specification: anything else is ignored */
		return xasprintf("%s/pt2utils/runs", state);
	return home && *home == '/' ? xasprintf("%s/.local/state/pt2utils/runs", home) : NULL;
}

static int make_place(const char *path, struct err *err)
{
	FREED char *part = xstrdup(path);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return err_errno(err, EXIT_ENVIRON, "cannot create '%s'", part);
		*p = '/';
	}
	if (mkdir(part, 0700) < 0 && errno != EEXIST)
		return err_errno(err, EXIT_ENVIRON, "cannot create '%s'", part);
	return 0;
}

static bool is_program_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/* The script, else the program: "app.py" of "python -u app.py". */
static void program_name(struct buf *b, const char *const *command)
{
	const char *word = command[0];
	for (const char *const *w = command; *w; w++)
		if (slice_ends(slice_str(*w), ".py")) {
			word = *w;
			break;
		}
	word = path_base(word);
	for (size_t i = 0; word[i] && i < NAME_PROGRAM; i++)
		buf_addc(b, is_program_char(word[i]) ? word[i] : '_');
}

/* "20261126-202405-app.py": only such a folder is a run. */
static bool name_is_ours(const char *name)
{
	for (size_t i = 0; i < NAME_DATE; i++)
		if (i == 8 ? name[i] != '-' : name[i] < '0' || name[i] > '9')
			return false;
	return name[NAME_DATE] == '-' && name[NAME_DATE + 1];
}

/* ---- run.json ---- */

static int write_about(const struct kept *k, const struct kept_result *r, struct err *err)
{
	LOCAL_BUF b = {0};
	struct json_out o = {.b = &b};
	char cwd[PATH_MAX] = "";
	FREED char *path = xasprintf("%s/" KEPT_ABOUT, k->folder);
	json_obj(&o);
	json_member(&o, "schema", SLICE("pt2utils.kept/1"));
	json_member(&o, "tool", slice_str(k->tool));
	json_member(&o, "version", SLICE(PT2_VERSION));
	json_member_arr(&o, "command");
	for (char **w = k->command; *w; w++)
		json_out_str(&o, slice_str(*w));
	json_close(&o);
	json_member(&o, "cwd", slice_str(getcwd(cwd, sizeof(cwd)) ? cwd : ""));
	json_member_double(&o, "started", k->started, 2);
	json_member_seconds(&o, "seconds", r ? r->seconds : -1);
	json_member_count(&o, "status", r && !r->sig ? r->status : -1);
	json_member_count(&o, "signal", r && r->sig ? r->sig : -1);
	json_member_arr(&o, "traces");
	for (size_t i = 0; r && i < r->n_traces; i++)
		json_out_str(&o, slice_str(r->traces[i]));
	json_close(&o);
	json_member_arr(&o, "environment");
	for (char **e = environ; e && *e; e++) {
		struct slice whole = slice_str(*e), name = slice_until(whole, "="), value = slice_behind(whole, "=");
		if (!value.p || !bundle_env_known(name))
			continue;
		json_obj(&o);
		json_member_str(&o, "name", name);
		json_member_str(&o, "value", value);
		json_close(&o);
	}
	json_close(&o);
	json_close(&o);
	buf_addc(&b, '\n');
	struct output *out = output_file(path, err);
	if (!out)
		return -1;
	if (write_all(output_fd(out), b.p, b.len, path, err) < 0) {
		output_abort(out);
		return -1;
	}
	return output_commit(out, err);
}

/* ---- a run ---- */

static int lock_folder(const char *folder, bool make)
{
	FREED char *mark = xasprintf("%s/" TEMP_MARK, folder);
	int fd = open(mark, O_RDWR | O_NOFOLLOW | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0), 0600);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void release(struct kept *k)
{
	if (k->lock >= 0)
		close(k->lock);
	for (char **w = k->command; w && *w; w++)
		free(*w);
	free(k->command);
	free(k->folder);
	free(k);
}

struct kept *kept_begin(const char *tool, const char *const *command, struct err *err)
{
	FREED char *place = place_of_all();
	LOCAL_BUF name = {0};
	struct timespec now;
	struct tm tm;
	char date[32];
	size_t n = 0;
	if (!place) {
		err_set(err, EXIT_ENVIRON, "neither XDG_STATE_HOME nor HOME is set");
		return NULL;
	}
	if (make_place(place, err) < 0)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	buf_addf(&name, "%s/%s-", place, date);
	program_name(&name, command);
	struct kept *k = xcalloc(1, sizeof(*k));
	k->tool = tool;
	k->started = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	k->lock = -1;
	while (command[n])
		n++;
	k->command = xcalloc(n + 1, sizeof(*k->command));
	for (size_t i = 0; i < n; i++)
		k->command[i] = xstrdup(command[i]);
	for (int i = 1; i < MOST_TRIES; i++) { /* two in one second */
		free(k->folder);
		k->folder = i == 1 ? xstrdup(buf_str(&name)) : xasprintf("%s-%d", buf_str(&name), i);
		if (mkdir(k->folder, 0700) == 0) {
			k->lock = lock_folder(k->folder, true);
			if (k->lock < 0)
				err_errno(err, EXIT_ENVIRON, "cannot write in '%s'", k->folder);
			else if (write_about(k, NULL, err) == 0)
				return k;
			remove_tree(k->folder);
			break;
		}
		if (errno != EEXIST) {
			err_errno(err, EXIT_ENVIRON, "cannot create '%s'", k->folder);
			break;
		}
	}
	release(k);
	return NULL;
}

const char *kept_folder(const struct kept *k) { return k->folder; }

void kept_end(struct kept *k, const struct kept_result *r)
{
	struct kept_list l;
	struct kept_pruned pruned;
	struct err err;
	if (!k)
		return;
	if (!r || write_about(k, r, &err) < 0) {
		remove_tree(k->folder);
	} else if (kept_list(&l, &err) == 0) {
		kept_prune(&l, KEPT_RUNS, KEPT_BYTES, &pruned);
		kept_list_release(&l);
	}
	release(k);
}

/* ---- lists ---- */

static uint64_t bytes_of(const char *path, unsigned depth)
{
	uint64_t sum = 0;
	DIR *d = depth < DEEPEST ? opendir(path) : NULL;
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		sum += (uint64_t)st.st_blocks * 512;
		if (S_ISDIR(st.st_mode)) {
			FREED char *below = xasprintf("%s/%s", path, e->d_name);
			sum += bytes_of(below, depth + 1);
		}
	}
	if (d)
		closedir(d);
	return sum;
}

/* What run.json says, if it can be read. */
static void read_about(struct kept_run *r, const char *path)
{
	OWNED(jsonfile_close) struct jsonfile d;
	LOCAL_BUF text = {0};
	if (!jsonfile_open(&d, path) || !json_is(&d.t, d.root, JSON_OBJECT))
		return;
	r->tool = json_strdup(&d.t, d.root, "tool");
	r->cwd = json_strdup(&d.t, d.root, "cwd");
	r->started = json_number(&d.t, d.root, "started", -1);
	r->seconds = json_number(&d.t, d.root, "seconds", -1);
	r->status = json_int(&d.t, d.root, "status", -1);
	r->sig = json_int(&d.t, d.root, "signal", -1);
	json_each(&d.t, json_get(&d.t, d.root, "command"), k) {
		LOCAL_BUF word = {0};
		json_unescape(&d.t, k, &word);
		buf_adds(&text, text.len ? " " : "");
		buf_add_word(&text, buf_str(&word));
	}
	r->command = xstrdup(buf_str(&text));
	const uint32_t traces = json_get_as(&d.t, d.root, "traces", JSON_ARRAY);
	r->trace = xcalloc(json_length(&d.t, traces) + 1, sizeof(*r->trace));
	json_each(&d.t, traces, k) {
		LOCAL_BUF word = {0};
		json_unescape(&d.t, k, &word);
		r->trace[r->n_trace++] = xstrdup(buf_str(&word));
	}
}

static bool is_running(const char *folder)
{
	int fd = lock_folder(folder, false);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EWOULDBLOCK;
}

/* Names begin with the date; of one second, the one with the higher number is newer. */
static int newest_first(const void *a, const void *b)
{
	const struct kept_run *p = a, *q = b;
	if (p->started != q->started && p->started >= 0 && q->started >= 0)
		return p->started < q->started ? 1 : -1;
	return strverscmp(q->name, p->name);
}

int kept_list(struct kept_list *l, struct err *err)
{
	*l = (struct kept_list){.place = place_of_all()};
	if (!l->place)
		return err_set(err, EXIT_ENVIRON, "neither XDG_STATE_HOME nor HOME is set");
	DIR *d = opendir(l->place);
	if (!d && errno != ENOENT) {
		err_errno(err, EXIT_ENVIRON, "cannot read '%s'", l->place);
		kept_list_release(l);
		return -1;
	}
	for (struct dirent *e; d && (e = readdir(d));) {
		struct kept_run r = {.started = -1, .seconds = -1, .status = -1, .sig = -1};
		struct stat st;
		if (!name_is_ours(e->d_name))
			continue;
		r.folder = xasprintf("%s/%s", l->place, e->d_name);
		FREED char *about = xasprintf("%s/" KEPT_ABOUT, r.folder);
		if (lstat(r.folder, &st) < 0 || !S_ISDIR(st.st_mode) || lstat(about, &st) < 0 || !S_ISREG(st.st_mode)) {
			free(r.folder);
			continue;
		}
		r.name = xstrdup(e->d_name);
		r.running = is_running(r.folder);
		r.bytes = bytes_of(r.folder, 0);
		read_about(&r, about);
		PUSH_TO(l->v, l->n, l->cap) = r;
	}
	if (d)
		closedir(d);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), newest_first);
	return 0;
}

void kept_list_release(struct kept_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct kept_run *r = &l->v[i];
		for (size_t k = 0; k < r->n_trace; k++)
			free(r->trace[k]);
		free(r->trace);
		free(r->name);
		free(r->folder);
		free(r->tool);
		free(r->command);
		free(r->cwd);
	}
	free(l->v);
	free(l->place);
	*l = (struct kept_list){0};
}

const struct kept_run *kept_find(const struct kept_list *l, const char *word)
{
	const struct kept_run *found = NULL;
	struct slice s = slice_str(word);
	uint64_t back = 0;
	if (slice_is(s, "last") || (slice_starts(s, "last~") && slice_u64(slice_of(s.p + 5, s.n - 5), &back)))
		return back < l->n ? &l->v[back] : NULL;
	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->v[i].name, word))
			return &l->v[i];
		if (!s.n || !slice_starts(slice_str(l->v[i].name), word))
			continue;
		if (found)
			return NULL;
		found = &l->v[i];
	}
	return found;
}

void kept_prune(const struct kept_list *l, size_t most, uint64_t most_bytes, struct kept_pruned *out)
{
	uint64_t sum = 0;
	*out = (struct kept_pruned){0};
	for (size_t i = 0; i < l->n; i++) {
		const struct kept_run *r = &l->v[i];
		sum += r->bytes;
		if (i == 0 || r->running || (i < most && sum <= most_bytes))
			continue;
		int lock = lock_folder(r->folder, false); /* who would begin to watch in it now */
		if (lock < 0 && errno == EWOULDBLOCK)
			continue;
		remove_tree(r->folder);
		if (lock >= 0)
			close(lock);
		sum -= r->bytes;
		out->runs++;
		out->bytes += r->bytes;
	}
}
