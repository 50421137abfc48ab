/* text.h - formats counts, durations, sizes and parts of paths for people, each in one way.
 *
 *     buf_addf(&b, "%u graph%s", n, plural(n));          "1 graph", "3 graphs"
 *     put_count(&b, n, "graph");                         the same
 *     put_seconds(&b, 0.203);                            "203 ms"
 *
 * put_* append to b, without a space or line end.
 */
#ifndef PT2_BASE_TEXT_H
#define PT2_BASE_TEXT_H
#include "base/buf.h"

/* The ending of a noun counted by n. */
static inline const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }
/* The ending of a verb with n subjects: "1 differs", "2 differ". */
static inline const char *verb_s(uint64_t n) { return n == 1 ? "s" : ""; }
/* The suffix of an ordinal number: "1st", "2nd", "11th". */
const char *ordinal(uint64_t n);
/* "1 call", "3 calls" */
void put_count(struct buf *b, uint64_t n, const char *what);

/* The duration of a compilation or a test: "85 us", "203 ms", "5.20 s", "2 min 5 s". */
void put_seconds(struct buf *b, double seconds);
/* The duration of a call: "9.87 us", "12.3 us", "4.56 ms", "1.25 s". */
void put_duration(struct buf *b, uint64_t ns);
/* The same for a column in microseconds, whose unit must not change: "9.87", "12.3", "4560.0". */
void put_us(struct buf *b, uint64_t ns);
/* Three digits, 1 KB = 1000 bytes: "512 bytes", "66.3 KB". */
void put_bytes(struct buf *b, uint64_t bytes);

/* A text from a log in one line: control bytes become spaces, and more than `most` bytes are cut after a whole
 * character, with " …". */
void put_flat(struct buf *b, struct slice s, size_t most);

/* The number, from 0, of the line that holds byte `at` of a text; *start: where that line begins. */
uint64_t text_line(struct slice text, size_t at, size_t *start);

/* "SIGSEGV"; NULL for a real-time signal, for 0 and for anything else. strsignal() describes it in words. */
const char *signal_name(int signal);

/* The part of a path after the last slash; all of it if there is none. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}
static inline struct slice slice_base(struct slice path)
{
	const char *slash = slice_rchr(path, '/');
	return slash ? slice_of(slash + 1, (size_t)(path.p + path.n - slash - 1)) : path;
}
/* The directory of a file, as opendir() accepts it: the part before the last slash; "/" of "/x", "." of "x". */
struct slice path_folder(const char *path);
/* A path as it is from any directory: a relative one after the current directory. */
void put_absolute(struct buf *b, struct slice path);
/* The rest of path below `top`, "" for top itself; NULL: it is not below. Compared by letters: both without links and without "..". */
static inline const char *path_below(const char *path, const char *top)
{
	const size_t n = strlen(top);
	return strncmp(path, top, n) || (path[n] && path[n] != '/') ? NULL : path[n] ? path + n + 1 : path + n;
}

#endif
