#include "base/tool/json_stream.h"

#include "base/io/write.h"

static void write_part(struct json_out *o) { json_stream_write((struct json_stream *)o); /* its first member */ }

void json_stream(struct json_stream *x, int fd, const char *what, struct err *err)
{
	*x = (struct json_stream){.fd = fd, .what = what, .err = err};
	x->o.b = &x->b;
	x->o.full = write_part;
}

int json_stream_write(struct json_stream *x)
{
	if (!x->failed && write_all(x->fd, x->b.p, x->b.len, x->what, x->err) < 0)
		x->failed = true;
	buf_reset(&x->b);
	return x->failed ? -1 : 0;
}

int json_stream_end(struct json_stream *x)
{
	int status = json_stream_write(x);
	buf_release(&x->b);
	return status;
}
