/* json_stream.h - a JSON document that goes out while it is made, so that one of any size takes little memory. For tools.
 *
 *     struct json_stream x;
 *     json_stream(&x, STDOUT_FILENO, "standard output", &err);
 *     json_obj(&x.o);
 *     ...
 *     json_close(&x.o);
 *     if (json_stream_end(&x) < 0 && err.text[0])         // as screen_flush(): of the first write that failed
 *         die_err(&err);
 */
#ifndef PT2_JSON_STREAM_H
#define PT2_JSON_STREAM_H
#include "base/json.h"
#include "tool/screen.h"

struct json_stream {
	struct json_out o;
	struct screen s;
	int fd;
	const char *what;
	struct err *err;
	bool failed; /* nothing is written any more */
};
/* x stays where it is until its end. */
void json_stream(struct json_stream *x, int fd, const char *what, struct err *err);
/* A newline, and what is left. */
int json_stream_end(struct json_stream *x);

#endif
