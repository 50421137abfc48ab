/* json_stream.h - JSON that is written while it is built, so that a document of any size takes little memory. For tools.
 *
 *     struct json_stream x;
 *     json_stream(&x, STDOUT_FILENO, "standard output", &err);
 *     json_obj(&x.o);
 *     ...
 *     json_close(&x.o);
 *     buf_addc(&x.b, '\n');                               // text between documents is added by hand
 *     if (json_stream_end(&x) < 0 && err.text[0])         // as for screen_flush(): the first failed write
 *         die_err(&err);
 */
#ifndef PT2_JSON_STREAM_H
#define PT2_JSON_STREAM_H
#include "base/json.h"

struct json_stream {
	struct json_out o;
	struct buf b;
	int fd;
	const char *what;
	struct err *err;
	bool failed; /* nothing more is written */
};
/* x must not move until json_stream_end(). */
void json_stream(struct json_stream *x, int fd, const char *what, struct err *err);
/* Writes what there is. 0, or -1: this write failed, or an earlier one. */
int json_stream_write(struct json_stream *x);
/* Writes the rest. */
int json_stream_end(struct json_stream *x);

#endif
