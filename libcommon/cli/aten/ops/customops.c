#include "aten/ops/customops.h"
#include "base/clock.h"
#include "base/html/html.h"
#include "base/json.h"
#include "base/process/child.h"
#include "base/text.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 600, SOCKET = 3, MOST_DEPTH = 8 };
static const uint64_t MOST_TEXT = 64u << 20, MOST_BYTES = UINT64_C(1) << 40;

struct custom_ops {
	struct childset set;
	struct child *child;
	int fd;
	int64_t timeout_ms;
	char *file; /* the name that the user gave */
	struct interp_more more;
	bool greeted;
	struct err failed; /* .text[0]: it cannot serve any more */
	struct buf ops;    /* "\nmylib.op.default\n..." */
	struct buf text, data;
	struct json_tape tape; /* of .text */
	char **used;
	size_t n_used, cap_used;
};

/* ---- messages ---- */

static int gone(struct custom_ops *c, const char *why)
{
	return err_set(&c->failed, EXIT_ENVIRON, "'%s': the Python that computes its operators %s", c->file, why);
}

/* In at most the time that is left. */
static int ready(struct custom_ops *c, short what, int64_t deadline)
{
	struct pollfd p = {.fd = c->fd, .events = what};
	for (;;) {
		const int64_t left = deadline - clock_ns() / 1000000;
		const int r = poll(&p, 1, left > INT_MAX ? INT_MAX : left > 0 ? (int)left : 0);
		if (r > 0)
			return 0;
		if (r == 0)
			return gone(c, "did not answer in time");
		if (errno != EINTR || child_signalled())
			return gone(c, "was interrupted");
	}
}

static int send_all(struct custom_ops *c, struct slice s, int64_t deadline)
{
	while (s.n) {
		if (ready(c, POLLOUT, deadline) < 0)
			return -1;
		const ssize_t n = send(c->fd, s.p, s.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return gone(c, "has ended");
		if (n > 0)
			s = slice_of(s.p + n, s.n - (size_t)n);
	}
	return 0;
}

static int receive_all(struct custom_ops *c, struct buf *to, size_t n, int64_t deadline)
{
	buf_reset(to);
	buf_room(to, n);
	while (to->len < n) {
		if (ready(c, POLLIN, deadline) < 0)
			return -1;
		const ssize_t got = read(c->fd, buf_room(to, n - to->len), n - to->len);
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return gone(c, "has ended");
		buf_wrote(to, got > 0 ? (size_t)got : 0);
	}
	return 0;
}

static int64_t deadline_of(const struct custom_ops *c) { return clock_ns() / 1000000 + c->timeout_ms; }

/* The next message into .tape and .data. *root: its object; an "error" of it becomes err. */
static int receive(struct custom_ops *c, uint32_t *root, struct err *err)
{
	const int64_t deadline = deadline_of(c);
	uint64_t n[2];
	if (receive_all(c, &c->data, sizeof(n), deadline) < 0)
		return -1;
	memcpy(n, c->data.p, sizeof(n));
	if (n[0] > MOST_TEXT || n[1] > MOST_BYTES)
		return gone(c, "sent something else than an answer");
	if (receive_all(c, &c->text, n[0], deadline) < 0 || receive_all(c, &c->data, n[1], deadline) < 0)
		return -1;
	json_tape_text(&c->tape, c->text.p, c->text.len);
	if (json_parse(&c->tape, 0, c->text.len, root) < 0)
		return gone(c, "sent something else than an answer");
	LOCAL_BUF tmp = {0};
	const struct slice why = json_text(&c->tape, *root, "error", &tmp);
	return why.p ? err_set(err, EXIT_ENVIRON, "'%s': %.*s", c->file, SLN(why, 600)) : 0;
}

static void greet(struct custom_ops *c)
{
	struct err err = {0};
	uint32_t root;
	if (c->greeted)
		return;
	c->greeted = true;
	buf_addc(&c->ops, '\n');
	if (receive(c, &root, &err) < 0) {
		if (err.text[0])
			c->failed = err;
		return;
	}
	json_each(&c->tape, json_get(&c->tape, root, "ops"), k) {
		json_unescape(&c->tape, k, &c->ops);
		buf_addc(&c->ops, '\n');
	}
}

/* ---- a request ---- */

struct request {
	struct json_out o;
	struct buf text, data;
};

static void out_value(struct request *r, const struct aten_value *v);

static void out_tensor(struct request *r, const struct aten_tensor *t)
{
	struct tensor_meta m = {.dtype = t->dtype, .n_dim = t->n_dim};
	int64_t bytes = 0;
	for (int d = 0; d < t->n_dim; d++) {
		m.size[d] = t->size[d];
		m.stride[d] = t->stride[d];
	}
	if (!t->storage || !tensor_extent(&m, &bytes))
		bytes = 0;
	json_obj(&r->o);
	json_member_str(&r->o, "tensor", slice_str(dtype_name(t->dtype)));
	json_member_i64s(&r->o, "size", t->size, t->n_dim);
	json_member_i64s(&r->o, "stride", t->stride, t->n_dim);
	json_member_u64(&r->o, "at", r->data.len);
	json_close(&r->o);
	if (bytes)
		buf_add_slice(&r->data, slice_of(aten_data(t), (size_t)bytes));
	while (r->data.len % 16)
		buf_addc(&r->data, 0);
}

static void out_text_of(struct request *r, const char *key, const char *text)
{
	json_obj(&r->o);
	json_member_str(&r->o, key, slice_str(text));
	json_close(&r->o);
}

static void out_float(struct request *r, double f)
{
	char text[40];
	snprintf(text, sizeof(text), "%.17g", f);
	json_out_str(&r->o, slice_str(text));
}

static void out_value(struct request *r, const struct aten_value *v)
{
	static const char *const layout[] = {"strided", "sparse_coo", "sparse_csr", "_mkldnn"};
	static const char *const format[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
	switch (v->kind) {
	case ATEN_NONE: json_out_null(&r->o); break;
	case ATEN_TENSOR: v->tensor->storage ? out_tensor(r, v->tensor) : json_out_null(&r->o); break;
	case ATEN_INT: json_out_i64(&r->o, v->i); break;
	case ATEN_BOOL: json_out_bool(&r->o, v->i != 0); break;
	case ATEN_STRING: json_out_str(&r->o, v->text); break;
	case ATEN_DTYPE: out_text_of(r, "dtype", dtype_name((int)v->i)); break;
	case ATEN_LAYOUT: out_text_of(r, "layout", layout[v->i >= 0 && v->i < 4 ? v->i : 0]); break;
	case ATEN_FORMAT: out_text_of(r, "memory_format", format[v->i >= 0 && v->i < 4 ? v->i : 0]); break;
	case ATEN_DEVICE: out_text_of(r, "device", "cpu"); break;
	case ATEN_FLOAT:
		json_obj(&r->o);
		json_key(&r->o, "float");
		out_float(r, v->f);
		json_close(&r->o);
		break;
	case ATEN_COMPLEX:
		json_obj(&r->o);
		json_member_arr(&r->o, "complex");
		out_float(r, creal(v->z));
		out_float(r, cimag(v->z));
		json_close(&r->o);
		json_close(&r->o);
		break;
	case ATEN_LIST:
		json_obj(&r->o);
		json_member_arr(&r->o, "list");
		for (uint32_t i = 0; i < v->n; i++)
			out_value(r, &v->item[i]);
		json_close(&r->o);
		json_close(&r->o);
		break;
	}
}

/* Lists in lists, which a hostile graph may nest as it likes. */
static bool is_shallow(const struct aten_value *v, int depth)
{
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		if (depth == MOST_DEPTH || !is_shallow(&v->item[i], depth + 1))
			return false;
	return true;
}

static int send_request(struct custom_ops *c, const struct request *r)
{
	const uint64_t n[2] = {r->text.len, r->data.len};
	const int64_t deadline = deadline_of(c);
	return send_all(c, slice_of((const char *)n, sizeof(n)), deadline) < 0 || send_all(c, buf_slice(&r->text), deadline) < 0 ||
		       send_all(c, buf_slice(&r->data), deadline) < 0
		   ? -1
		   : 0;
}

/* ---- an answer ---- */

static int in_value(struct custom_ops *c, uint32_t k, int depth, struct aten_value *out);

static int in_tensor(struct custom_ops *c, uint32_t k, struct aten_value *out)
{
	const struct json_tape *t = &c->tape;
	struct tensor_meta m = {.dtype = dtype_by_name(json_word(t, k, "tensor"))};
	const uint64_t at = json_count(t, k, "at", UINT64_MAX);
	int64_t bytes;
	m.n_dim = json_ints(t, k, "size", m.size, ATEN_DIMS);
	if (m.dtype == DTYPE_NONE || m.n_dim < 0 || json_ints(t, k, "stride", m.stride, m.n_dim) != m.n_dim)
		return -1;
	for (int d = 0; d < m.n_dim; d++)
		if (m.size[d] < 0 || m.stride[d] < 0)
			return -1;
	if (!tensor_extent(&m, &bytes) || at > c->data.len || (uint64_t)bytes > c->data.len - at)
		return -1;
	ATEN_TRY("result")
	{
		struct aten_tensor *made = aten_new(m.dtype, m.n_dim, m.size, m.stride);
		if (bytes)
			memcpy(aten_data(made), c->data.p + at, (size_t)bytes);
		*out = aten_of(aten_keep(made));
	}
	return ATEN_END ? -1 : 0;
}

static int in_list(struct custom_ops *c, uint32_t list, int depth, struct aten_value *out)
{
	struct aten_value v = {.kind = ATEN_LIST, .item = xcalloc(json_length(&c->tape, list) + 1, sizeof(*v.item))};
	json_each(&c->tape, list, k) {
		if (in_value(c, k, depth + 1, &v.item[v.n]) < 0) {
			aten_value_release(&v);
			return -1;
		}
		v.n++;
	}
	*out = v;
	return 0;
}

static int in_value(struct custom_ops *c, uint32_t k, int depth, struct aten_value *out)
{
	const struct json_tape *t = &c->tape;
	int64_t i;
	double f;
	if (k == NONE || depth > MOST_DEPTH)
		return -1;
	switch ((enum json_type)t->tok[k].type) {
	case JSON_NULL: *out = (struct aten_value){.kind = ATEN_NONE}; return 0;
	case JSON_TRUE:
	case JSON_FALSE: *out = aten_bool(t->tok[k].type == JSON_TRUE); return 0;
	case JSON_NUMBER: return json_i64(t, k, &i) ? *out = aten_int(i), 0 : -1;
	case JSON_OBJECT: break;
	case JSON_STRING:
	case JSON_ARRAY: return -1;
	}
	if (json_get(t, k, "tensor") != NONE)
		return in_tensor(c, k, out);
	if (json_get_as(t, k, "list", JSON_ARRAY) != NONE)
		return in_list(c, json_get(t, k, "list"), depth, out);
	const struct slice number = json_word(t, k, "float");
	char text[64];
	if (!number.n || number.n >= sizeof(text))
		return -1;
	snprintf(text, sizeof(text), "%.*s", SL(number));
	f = strtod(text, NULL);
	*out = aten_float(f);
	return 0;
}

/* ---- struct interp_more ---- */

static bool has(void *user, struct slice op)
{
	struct custom_ops *c = user;
	LOCAL_BUF line = {0};
	greet(c);
	buf_addf(&line, "\n%.*s\n", SLN(op, 300));
	return slice_has(buf_slice(&c->ops), buf_str(&line));
}

static void note_use(struct custom_ops *c, struct slice op)
{
	for (size_t i = 0; i < c->n_used; i++)
		if (slice_is(op, c->used[i]))
			return;
	PUSH_TO(c->used, c->n_used, c->cap_used) = xasprintf("%.*s", SLN(op, 300));
}

static int call(void *user, struct slice op, bool as_double, const struct aten_value *arg, size_t n, const struct aten_named *named,
		size_t n_named, struct aten_value *out, struct err *err)
{
	struct custom_ops *c = user;
	struct request r = {.o.b = NULL};
	uint32_t root;
	bool shallow = true;
	for (size_t i = 0; i < n; i++)
		shallow &= is_shallow(&arg[i], 0);
	for (size_t i = 0; i < n_named; i++)
		shallow &= is_shallow(&named[i].value, 0);
	if (!shallow)
		return err_set(err, EXIT_INPUT, "its lists are nested too deep");
	if (c->failed.text[0])
		return *err = c->failed, -1;
	r.o.b = &r.text;
	json_obj(&r.o);
	json_member_str(&r.o, "op", op);
	json_member_bool(&r.o, "double", as_double);
	json_member_arr(&r.o, "args");
	for (size_t i = 0; i < n; i++)
		out_value(&r, &arg[i]);
	json_close(&r.o);
	json_member_obj(&r.o, "kwargs");
	for (size_t i = 0; i < n_named; i++) {
		json_key_slice(&r.o, named[i].name);
		out_value(&r, &named[i].value);
	}
	json_close(&r.o);
	json_close(&r.o);
	const int sent = send_request(c, &r);
	buf_release(&r.text);
	buf_release(&r.data);
	struct err why = {0};
	if (sent < 0 || receive(c, &root, &why) < 0)
		return *err = c->failed.text[0] ? c->failed : why, -1;
	note_use(c, op);
	return in_value(c, json_get(&c->tape, root, "result"), 0, out) < 0
		   ? err_set(err, EXIT_ENVIRON, "'%s': its result is not one that a graph can use", c->file)
		   : 0;
}

/* ---- the process ---- */

static const char *python_of(const struct custom_ops_spec *spec)
{
	const char *env = getenv("PT2_PYTHON");
	return spec->python && *spec->python ? spec->python : env && *env ? env : "python3";
}

static int start(struct custom_ops *c, const char *python, const char *path, int theirs, struct err *err)
{
	FREED char *code = NULL;
	const struct slice text = share_file("ops/serve.py");
	code = xasprintf("%.*s", SL(text));
	const struct child_spec spec = {
	    .argv = (const char *[]){python, "-c", code, path, NULL},
	    .in.how = CHILD_NULL,
	    .out = {.how = CHILD_FD, .fd = STDERR_FILENO}, /* what it prints is not the tool's output */
	    .fds = &(const struct child_fd){.from = theirs, .to = SOCKET},
	    .n_fds = 1,
	    .die_with_parent = true,
	};
	c->child = child_start(&c->set, &spec, err);
	return c->child ? 0 : -1;
}

struct custom_ops *custom_ops_start(const struct custom_ops_spec *spec, struct err *err)
{
	int pair[2];
	if (!spec->file)
		return NULL;
	FREED char *path = realpath(spec->file, NULL);
	if (!path || access(path, R_OK) < 0)
		return err_errno(err, EXIT_INPUT, "cannot read '%s'", spec->file), NULL;
	FREED char *python = child_which(python_of(spec));
	if (!python)
		return err_set(err, EXIT_ENVIRON,
			       "Python not found ('%s'): pass --python=PATH or set PT2_PYTHON to a Python that has torch", python_of(spec)),
		       NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, EXIT_ENVIRON, "cannot make a socket"), NULL;
	struct custom_ops *c = xcalloc(1, sizeof(*c));
	*c = (struct custom_ops){.fd = pair[0],
				 .timeout_ms = INT64_C(1000) * (spec->timeout_s ? spec->timeout_s : DEFAULT_SECONDS),
				 .file = xstrdup(spec->file)};
	c->more = (struct interp_more){has, call, c};
	const int r = start(c, python, path, pair[1], err);
	close(pair[1]);
	if (r < 0) {
		custom_ops_end(c);
		return NULL;
	}
	return c;
}

const struct interp_more *custom_ops_more(const struct custom_ops *c) { return c ? &c->more : NULL; }

int custom_ops_ready(struct custom_ops *c, struct err *err)
{
	if (!c)
		return 0;
	greet(c);
	if (c->failed.text[0])
		*err = c->failed;
	return c->failed.text[0] ? -1 : 0;
}

const char *custom_ops_used(const struct custom_ops *c, size_t i) { return c && i < c->n_used ? c->used[i] : NULL; }

void custom_ops_end(struct custom_ops *c)
{
	if (!c)
		return;
	close(c->fd); /* it ends by itself, unless it is busy */
	childset_release(&c->set);
	json_tape_release(&c->tape);
	buf_release(&c->ops);
	buf_release(&c->text);
	buf_release(&c->data);
	for (size_t i = 0; i < c->n_used; i++)
		free(c->used[i]);
	free(c->used);
	free(c->file);
	free(c);
}
