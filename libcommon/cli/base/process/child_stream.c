/* child_stream.c - data to and from a child. */
#include "base/process/child_part.h"
#include "base/text.h"

#include <signal.h>
#include <time.h>

/* Collected output: the head, then a ring of the last bytes. */

static void output_add(struct child_output *o, const char *p, size_t n)
{
	o->total += n;
	size_t room = o->keep_head - o->head.len;
	size_t head = n < room ? n : room;
	buf_add(&o->head, p, head);
	p += head;
	n -= head;
	if (!n || !o->keep_tail)
		return;
	if (!o->ring)
		o->ring = xmalloc(o->ring_cap = o->keep_tail);
	if (n > o->ring_cap) {
		p += n - o->ring_cap;
		n = o->ring_cap;
	}
	size_t first = o->ring_cap - o->ring_at;
	if (first > n)
		first = n;
	memcpy(o->ring + o->ring_at, p, first);
	if (n > first)
		memcpy(o->ring, p + first, n - first);
	o->ring_at = (o->ring_at + n) % o->ring_cap;
}

void child_output_text(const struct child_output *o, struct buf *b)
{
	buf_add(b, o->head.p, o->head.len);
	uint64_t after = o->total - o->head.len;
	if (after > o->ring_cap) {
		uint64_t lost = after - o->ring_cap;
		buf_addf(b, "\n[... %llu bytes left out ...]\n", (unsigned long long)lost);
		if (o->ring_cap) {
			buf_add(b, o->ring + o->ring_at, o->ring_cap - o->ring_at);
			buf_add(b, o->ring, o->ring_at);
		}
	} else if (after) {
		/* Not wrapped: the ring holds exactly what followed the head. */
		buf_add(b, o->ring, (size_t)after);
	}
}

static void output_release(struct child_output *o)
{
	buf_release(&o->head);
	free(o->ring);
	*o = (struct child_output){0};
}

void child_result_release(struct child_result *r)
{
	output_release(&r->out);
	output_release(&r->err);
}

void child_describe(const struct child_result *r, struct buf *b)
{
	if (r->how == CHILD_RUNNING) {
		buf_adds(b, "still running");
		return;
	}
	if (r->how == CHILD_NOT_STARTED) {
		buf_addf(b, "could not start: %s", strerror(r->start_errno));
		return;
	}
	if (r->how == CHILD_TIMED_OUT)
		buf_adds(b, "timed out (");
	else if (r->how == CHILD_STOPPED)
		buf_adds(b, "stopped (");
	if (r->sig) {
		const char *name = signal_name(r->sig);
		if (name && r->how == CHILD_SIGNALED)
			buf_addf(b, "killed by %s (%s)", name, strsignal(r->sig));
		else if (name)
			buf_addf(b, "killed by %s", name);
		else
			buf_addf(b, "killed by signal %d", r->sig);
	} else {
		buf_addf(b, "exited with status %d", r->status);
	}
	if (r->how == CHILD_TIMED_OUT || r->how == CHILD_STOPPED)
		buf_addc(b, ')');
}

void child_collect(struct child *c, int i, size_t most)
{
	char chunk[16384];
	while (c->fd[i] >= 0 && most) {
		ssize_t n = read(c->fd[i], chunk, sizeof(chunk));
		if (n > 0) {
			output_add(i == 1 ? &c->r.out : &c->r.err, chunk, (size_t)n);
			most -= (size_t)n < most ? (size_t)n : most;
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else if (n < 0 && errno == EAGAIN) {
			return;
		} else {
			child_close_fd(&c->fd[i]);
		}
	}
}

/* A write whose SIGPIPE, if any, is swallowed: the tool does not die because the reader has gone. */
static ssize_t quiet_write(int fd, const void *p, size_t n)
{
	sigset_t pipe_set, old, pending;
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	ssize_t r = write(fd, p, n);
	int saved = errno;
	if (r < 0 && saved == EPIPE && !sigismember(&pending, SIGPIPE)) {
		struct timespec zero = {0, 0};
		while (sigtimedwait(&pipe_set, NULL, &zero) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return r;
}

void child_feed(struct child *c)
{
	while (c->fd[0] >= 0 && c->input_at < c->input.len) {
		ssize_t n = quiet_write(c->fd[0], c->input.p + c->input_at, c->input.len - c->input_at);
		if (n >= 0) {
			c->input_at += (size_t)n;
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != EINTR) {
			child_close_fd(&c->fd[0]);
		}
	}
	buf_reset(&c->input);
	c->input_at = 0;
	if (c->input_end)
		child_close_fd(&c->fd[0]);
}

void child_send(struct child *c, struct slice bytes)
{
	if (c->fd[0] < 0)
		return;
	buf_add_slice(&c->input, bytes);
	child_feed(c);
}

void child_send_end(struct child *c)
{
	c->input_end = true;
	child_feed(c);
}

int child_fd(const struct child *c, int stream) { return stream >= 1 && stream <= 2 && c->how[stream] == CHILD_RAW ? c->fd[stream] : -1; }

void child_close_stream(struct child *c, int stream)
{
	if (stream >= 0 && stream <= 2)
		child_close_fd(&c->fd[stream]);
}
