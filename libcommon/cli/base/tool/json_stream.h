/* json_stream.h - JSON that goes out while it is made, so that a document of any size takes little memory. For tools.
 *
 *     struct json_stream x;
 *     json_stream(&x, STDOUT_FILENO, "standard output", &err);
 *     json_obj(&x.o);
 *     ...
 *     json_close(&x.o);
 *     buf_addc(&x.b, '\n');                               // what is not JSON is put between by hand
 *     if (json_stream_end(&x) < 0 && err.text[0])         // as screen_flush(): of the first write that failed
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
	bool failed; /* nothing is written any more */
};
/* x stays where it is until its end. */
void json_stream(struct json_stream *x, int fd, const char *what, struct err *err);
/* What there is goes out. 0, or -1: this write failed, or one before it. */
int json_stream_write(struct json_stream *x);
/* The last of it. */
int json_stream_end(struct json_stream *x);

#endif
