#include "base/rpc/rpc.h"

#include "base/text.h"
#include "base/tool/output.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { HEAD_MAX = 4096 };

/* ---- in ---- */

/* 1: more bytes. 0: none in time. -1: error or end. */
static int more(struct rpc *r, int timeout_ms, struct err *err)
{
	struct pollfd p = {.fd = r->in, .events = POLLIN};
	int ready = poll(&p, 1, timeout_ms);
	if (ready <= 0)
		return ready == 0 || errno == EINTR ? 0 : err_errno(err, EXIT_ENVIRON, "cannot wait for standard input");
	ssize_t n = read(r->in, buf_room(&r->got, 1 << 16), 1 << 16);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : err_errno(err, EXIT_INPUT, "cannot read standard input");
	if (n == 0)
		return r->got.len ? err_set(err, EXIT_INPUT, "standard input ends within a message") : -1;
	buf_wrote(&r->got, (size_t)n);
	return 1;
}

/* Finds where the message's JSON begins and how long it is: 1. 0: its header is incomplete. */
static int head(const struct rpc *r, size_t *from, uint64_t *n, struct err *err)
{
	struct slice rest = buf_slice(&r->got), line;
	const char *end = slice_find(rest, "\r\n\r\n");
	if (!end)
		return rest.n < HEAD_MAX ? 0 : err_set(err, EXIT_INPUT, "standard input is not a Language Server Protocol message");
	*from = (size_t)(end - rest.p) + 4;
	rest = slice_of(rest.p, (size_t)(end - rest.p));
	while (slice_line(&rest, &line))
		if (line.n > 15 && !strncasecmp(line.p, "Content-Length:", 15) &&
		    slice_u64(slice_trim(slice_of(line.p + 15, line.n - 15)), n))
			return *n <= RPC_MAX ? 1 : err_set(err, EXIT_INPUT, "a message of %llu bytes", (unsigned long long)*n);
	return err_set(err, EXIT_INPUT, "a message without Content-Length: serve speaks the Language Server Protocol with an editor");
}

/* Is the message complete? 1: it is; 0: not yet. `searched` bytes have no end of a line. */
static int framed(const struct rpc *r, size_t *searched, size_t *from, uint64_t *n, size_t *used, struct err *err)
{
	if (r->frame == RPC_HEADER) {
		int status = head(r, from, n, err);
		*used = *from + (size_t)*n;
		return status < 0 ? -1 : status && r->got.len >= *used;
	}
	const char *end = r->got.len > *searched ? memchr(r->got.p + *searched, '\n', r->got.len - *searched) : NULL;
	*searched = r->got.len;
	*from = 0;
	*n = end ? (uint64_t)(end - r->got.p) : 0;
	*used = (size_t)*n + 1;
	return end ? 1 : r->got.len <= RPC_MAX ? 0 : err_set(err, EXIT_INPUT, "a line of more than %u bytes", RPC_MAX);
}

int rpc_read(struct rpc *r, int timeout_ms, struct err *err)
{
	size_t from = 0, used = 0, searched = 0;
	uint64_t n = 0;
	*err = (struct err){0};
	if (r->used) {
		memmove(r->got.p, r->got.p + r->used, r->got.len - r->used);
		buf_cut(&r->got, r->got.len - r->used);
		r->used = 0;
	}
	for (int status; (status = framed(r, &searched, &from, &n, &used, err)) <= 0;)
		if (status < 0 || (status = more(r, timeout_ms, err)) <= 0)
			return status;
	r->used = used;
	json_tape_text(&r->tape, r->got.p + from, (size_t)n);
	if (json_parse(&r->tape, 0, (size_t)n, &r->root) < 0)
		r->root = NONE;
	return 1;
}

void rpc_release(struct rpc *r)
{
	json_tape_release(&r->tape);
	buf_release(&r->got);
	buf_release(&r->body);
}

/* ---- out ---- */

bool rpc_asked(const struct rpc *r) { return r->root != NONE && json_get(&r->tape, r->root, "id") != NONE; }

struct json_out rpc_begin(struct rpc *r)
{
	buf_reset(&r->body);
	struct json_out o = {.b = &r->body};
	json_obj(&o);
	json_member_str(&o, "jsonrpc", SLICE("2.0"));
	return o;
}

struct json_out rpc_answer_to(struct rpc *r, struct slice id)
{
	struct json_out o = rpc_begin(r);
	json_member_raw(&o, "id", id);
	return o;
}

struct json_out rpc_answer(struct rpc *r)
{
	return rpc_answer_to(r, rpc_asked(r) ? json_raw(&r->tape, json_get(&r->tape, r->root, "id")) : SLICE("null"));
}

struct json_out rpc_error(struct rpc *r, int code, const char *text)
{
	struct json_out o = rpc_answer(r);
	json_member_obj(&o, "error");
	json_member_i64(&o, "code", code);
	json_member_str(&o, "message", slice_str(text));
	return o;
}

int rpc_send(struct rpc *r, struct json_out *o, struct err *err)
{
	char text[64];
	while (o->depth)
		json_close(o);
	int n = snprintf(text, sizeof(text), "Content-Length: %zu\r\n\r\n", r->body.len);
	if (r->frame == RPC_HEADER && write_all(r->out, text, (size_t)n, "standard output", err) < 0)
		return -1;
	if (r->frame == RPC_LINES)
		buf_addc(&r->body, '\n');
	return write_all(r->out, r->body.p, r->body.len, "standard output", err);
}
