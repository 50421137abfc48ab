#include "base/io/window.h"

#include "base/io/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_CHUNK = 1 << 18 };

static ssize_t read_some(struct input *in, char *to, size_t n)
{
	ssize_t r;
	do
		r = read(in->fd, to, n);
	while (r < 0 && errno == EINTR);
	if (r < 0) {
		in->lost = strerror(errno);
		in->unread = true;
		return 0;
	}
	__atomic_store_n(&in->consumed, in->consumed + (size_t)r, __ATOMIC_RELAXED); /* another thread shows the progress */
	return r;
}

int input_open(struct input *in, const char *path, struct err *err)
{
	*in = (struct input){.path = path, .fd = -1};
	struct stat st;
	if (!strcmp(path, "-")) {
		in->path = "(standard input)";
		in->fd = STDIN_FILENO;
	} else {
		in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (in->fd < 0)
			return err_errno(err, EXIT_INPUT, "cannot open '%s'", path);
	}
	if (fstat(in->fd, &st) < 0) {
		err_errno(err, EXIT_INPUT, "cannot read '%s'", in->path);
		input_close(in);
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		err_set(err, EXIT_INPUT, "cannot read '%s': is a directory", in->path);
		input_close(in);
		return -1;
	}
	in->seekable = S_ISREG(st.st_mode);
	in->size = in->seekable ? (uint64_t)st.st_size : 0;
	/* The first bytes decide: compressed or plain. A pipe may deliver them one by one; no more are read than are needed to know. */
	char *head = buf_room(&in->tail, 64);
	size_t need;
	while ((need = inflate_magic(head, in->tail.len)) > in->tail.len) {
		size_t left = (in->tail.len < 2 ? 2 : need) - in->tail.len;
		ssize_t r = read_some(in, head + in->tail.len, left);
		if (r <= 0)
			break;
		buf_wrote(&in->tail, (size_t)r);
	}
	if (in->lost) {
		err_set(err, EXIT_INPUT, "cannot read '%s': %s", in->path, in->lost);
		input_close(in);
		errno = EIO;
		return -1;
	}
	if (need && need <= in->tail.len) {
		in->packed = inflate_open(head, in->tail.len, err);
		if (!in->packed) {
			input_close(in);
			return -1;
		}
		in->chunk = xmalloc(PACKED_CHUNK);
		memcpy(in->chunk, head, in->tail.len);
		in->chunk_to = in->tail.len;
		buf_cut(&in->tail, 0);
	}
	return 0;
}

void input_close(struct input *in)
{
	inflate_close(in->packed);
	free(in->chunk);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	buf_release(&in->tail);
	in->fd = -1;
	in->packed = NULL;
	in->chunk = NULL;
}

bool input_failed_here(void) { return errno == EIO || errno == EMFILE || errno == ENFILE || errno == ENOMEM; }

size_t input_head(const char *path, char *head, size_t n)
{
	struct stat st;
	size_t got = 0;
	errno = 0;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	for (ssize_t r = 1; fd >= 0 && r != 0 && got < n;) {
		r = read(fd, head + got, n - got);
		if (r < 0 && errno != EINTR)
			break;
		got += r > 0 ? (size_t)r : 0;
	}
	if (fd >= 0)
		close(fd);
	return got;
}

/* Decompressed bytes, 0 at the end. There may be several members (gzip a b > c; log rotation). */
static size_t inflate_some(struct input *in, char *to, size_t n)
{
	size_t got = 0;
	while (!got) {
		size_t used, made;
		if (in->chunk_at == in->chunk_to && !in->packed_full) {
			ssize_t r = read_some(in, in->chunk, PACKED_CHUNK);
			if (r <= 0) {
				if (!in->packed_ended && !in->lost)
					in->lost = inflate_lost(in->packed, true);
				break;
			}
			in->chunk_at = 0;
			in->chunk_to = (size_t)r;
		}
		enum inflate_result r =
		    inflate_step(in->packed, in->chunk + in->chunk_at, in->chunk_to - in->chunk_at, &used, to, n, &made);
		in->chunk_at += used;
		got += made;
		in->packed_full = made == n; /* there may be more in it without further input */
		in->packed_ended = r == INFLATE_ENDED;
		if (r == INFLATE_CORRUPT || (!used && !made && in->chunk_at < in->chunk_to)) {
			in->lost = inflate_lost(in->packed, false);
			break;
		}
	}
	return got;
}

static size_t read_fully(struct input *in, char *to, size_t n)
{
	size_t got = 0;
	while (got < n && !in->eof) {
		size_t r = in->packed ? inflate_some(in, to + got, n - got) : (size_t)read_some(in, to + got, n - got);
		if (!r || in->lost)
			in->eof = true;
		got += r;
	}
	return got;
}

static void ensure(struct window *w, size_t cap)
{
	if (w->cap < cap) {
		w->cap = cap;
		w->data = xreallocarray(w->data, cap, 1);
	}
}

int input_next(struct input *in, struct window *w, size_t want, window_cut *cut)
{
	if (want < in->tail.len)
		want = in->tail.len;
	if (w->cap / 8 > want) /* after a huge record: free its memory */
		window_release(w);
	ensure(w, want + 1);
	if (in->tail.len)
		memcpy(w->data, in->tail.p, in->tail.len);
	w->len = in->tail.len;
	buf_cut(&in->tail, 0);
	w->offset = in->offset;
	w->continued = in->continued;
	in->continued = false;
	for (size_t good;;) {
		w->len += read_fully(in, w->data + w->len, want - w->len);
		w->last = in->eof;
		if (!w->len)
			return 0;
		good = w->last ? w->len : cut(w->data, w->len);
		if (!good && want >= RECORD_MAX) {
			good = w->len;
			in->continued = true;
		}
		if (good) {
			buf_add(&in->tail, w->data + good, w->len - good);
			w->len = good;
			in->offset += good;
			return 1;
		}
		want = want * 2 > RECORD_MAX ? RECORD_MAX : want * 2;
		ensure(w, want + 1);
	}
}

void window_release(struct window *w)
{
	free(w->data);
	*w = (struct window){0};
}
