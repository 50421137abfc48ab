/* A dump (watch/dump.h) of what is run: the library under the probe saves .npy files, which become other formats here. */
#include "base/tool/diag.h"
#include "base/tool/output.h"
#include "watch/ima.h"
#include "printer.h"
#include "base/process/elsewhere.h"
#include "tensor/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static enum tensor_format format_of(int choice)
{
	static const enum tensor_format formats[] = {TENSOR_NPY, TENSOR_PT, TENSOR_SAFETENSORS};
	return formats[choice < 0 || choice > 2 ? 0 : choice];
}

struct saving {
	struct session s;
	enum tensor_format format;
	int index;
	struct buf line;
	const struct watch_call *c;
	char file[512]; /* of the value that is being written */
	bool shows;
	const char *note; /* the folder's name, printed when it is complete; NULL: not printed */
};

static int make_inside(const struct saving *k, const char *name)
{
	char *path = xasprintf("%s/%s", k->s.folder, name);
	int fd = make_file(path, O_WRONLY | O_EXCL, 0666), why = errno;
	free(path);
	errno = why;
	return fd;
}

/* ---- another format ---- */

/* The tensor of a file, in the other format under the same stem; v->saved is removed. */
static int convert_file(struct saving *k, const struct watch_value *v, struct err *err)
{
	static const char *const ending[] = {[TENSOR_NPY] = "npy", [TENSOR_SAFETENSORS] = "safetensors", [TENSOR_PT] = "pt"};
	struct dump d = {.path = k->s.folder, .written_to = true};
	struct dump_value dv = {.buffer = slice_str(v->name), .file = slice_str(v->saved)};
	struct dump_tensor t;
	dump_meta(&v->rec, &dv.meta);
	const char *dot = strrchr(v->saved, '.');
	int stem = (int)(dot ? (size_t)(dot - v->saved) : strlen(v->saved));
	if ((size_t)snprintf(k->file, sizeof(k->file), "%.*s.%s", stem, v->saved, ending[k->format]) >= sizeof(k->file) ||
	    !strcmp(k->file, v->saved))
		return snprintf(k->file, sizeof(k->file), "%s", v->saved), 0;
	if (dump_tensor_open(&t, &d, &dv, err) < 0)
		return -1;
	if (!tensor_writable(k->format, t.meta.dtype)) { /* stays what it is; the index has its name */
		dump_tensor_close(&t);
		return snprintf(k->file, sizeof(k->file), "%s", v->saved), 0;
	}
	struct tensor_view view = {.meta = t.meta, .data = t.data};
	if (k->format == TENSOR_SAFETENSORS)
		view.name = *v->name ? slice_str(v->name) : SLICE("tensor");
	int fd = make_inside(k, k->file);
	const char *what = output_inner(k->s.called, k->file);
	int r = fd < 0 ? err_errno(err, EXIT_ENVIRON, "cannot write '%s'", what) : tensor_write(fd, k->format, &view, 1, what, err);
	if (fd >= 0 && close(fd) < 0 && r == 0)
		r = err_errno(err, EXIT_ENVIRON, "cannot write '%s'", what);
	dump_tensor_close(&t);
	if (r == 0)
		session_forget(&k->s, v->saved);
	return r;
}

/* A call that the filters leave out is in neither the index nor the folder. */
static bool take_value(void *user, uint32_t i, const char **file)
{
	struct saving *k = user;
	const struct watch_value *v = &k->c->value[i];
	const bool named = *v->saved;
	if (!filter_value(&k->s.filter, k->c, i)) {
		if (named)
			session_forget(&k->s, v->saved);
		return false;
	}
	*file = named ? v->saved : "";
	if (!named)
		return true;
	struct err err = {0};
	if (convert_file(k, v, &err) < 0) {
		if (!k->s.err.text[0])
			k->s.err = err;
		*file = "";
	} else {
		*file = k->file;
	}
	return true;
}

static void write_line(struct saving *k)
{
	struct err err = {0};
	if (write_all(k->index, k->line.p, k->line.len, output_inner(k->s.called, DUMP_INDEX), &err) < 0 && !k->s.err.text[0])
		k->s.err = err;
	buf_reset(&k->line);
}

static void save_call(struct session *s, const struct watch_call *c)
{
	struct saving *k = s->user;
	k->c = c;
	if (k->shows)
		print_call(s, c);
	dump_line(&k->line, c, take_value, k);
	if (k->line.len > 1u << 16)
		write_line(k);
}

static void save_end(struct session *s, struct watch *w)
{
	struct saving *k = s->user;
	struct buf failed = {0};
	ima_failure(buf_slice(&w->device), &failed);
	dump_end(&k->line, s->shown, w->calls.lost, buf_slice(&failed));
	buf_release(&failed);
	write_line(k);
	if (close(k->index) < 0 && !s->err.text[0])
		err_errno(&s->err, EXIT_ENVIRON, "cannot write '%s'", output_inner(k->s.called, DUMP_INDEX));
	k->index = -1;
	if (s->commit && !s->err.text[0]) {
		output_commit(s->commit, &s->err);
		s->commit = NULL;
	}
	if (k->note && !s->err.text[0] && !s->o->quiet)
		note("%s: %llu calls are saved in %s (index: %s/%s)", diag_tool, (unsigned long long)s->shown, k->note, k->note,
		     DUMP_INDEX);
}

static int save(const struct printer_options *o, const struct operands *in, int first, const char *folder, bool shows, struct output *out,
		const char *note_name, struct err *err)
{
	struct saving k = {.format = format_of(o->format), .index = -1, .shows = shows, .note = note_name};
	session_begin(&k.s, o, save_call, save_end, &k);
	k.s.keep = true;
	k.s.folder = folder;
	k.s.called = note_name ? note_name : folder;
	k.s.commit = out;
	k.s.stay = !note_name;
	if ((k.index = make_inside(&k, DUMP_INDEX)) < 0)
		die_errno(EXIT_ENVIRON, "cannot write '%s'", output_inner(k.s.called, DUMP_INDEX));
	dump_head(&k.line, "aoti-printer " PT2_VERSION);
	write_line(&k);
	int status = session_run(&k.s, in, first, CALLS_NAMES | CALLS_STATS | CALLS_SAVE);
	*err = k.s.err;
	if (k.index >= 0)
		close(k.index);
	if (k.s.commit)
		output_abort(k.s.commit);
	buf_release(&k.line);
	session_release(&k.s);
	return status;
}

int save_into(const struct printer_options *o, const struct operands *in, int first, const char *folder, bool shows, struct err *err)
{
	return save(o, in, first, folder, shows, NULL, NULL, err);
}

/* Only a dump is ever replaced. */
static bool is_dump(int fd)
{
	struct stat st;
	return fstatat(fd, DUMP_INDEX, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

int run_save(const struct printer_options *o, const struct operands *in)
{
	struct err err = {0};
	const char *path = o->output ? o->output : "aoti-dump";
	struct output *out = output_dir(path, o->overwrite, is_dump, &err);
	if (!out)
		die_err(&err);
	char folder[512]; /* as in calls_config */
	if (output_path(out, folder, sizeof(folder), &err) < 0)
		die_err(&err);
	int status = save(o, in, 0, folder, o->level == LEVEL_PRINT, out, path, &err);
	if (err.text[0])
		die_err(&err);
	return status;
}
