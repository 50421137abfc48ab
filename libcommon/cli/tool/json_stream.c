#include "tool/json_stream.h"

static void write_part(struct json_out *o)
{
	struct json_stream *x = (struct json_stream *)o; /* its first member */
	if (x->failed)
		buf_reset(&x->s.b);
	else if (screen_write(&x->s, x->fd, x->what, x->err) < 0)
		x->failed = true;
}

void json_stream(struct json_stream *x, int fd, const char *what, struct err *err)
{
	*x = (struct json_stream){.fd = fd, .what = what, .err = err};
	x->o.b = &x->s.b;
	x->o.full = write_part;
}

int json_stream_end(struct json_stream *x)
{
	buf_addc(&x->s.b, '\n');
	write_part(&x->o);
	buf_release(&x->s.b);
	return x->failed ? -1 : 0;
}
