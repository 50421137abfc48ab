/* output.h - files and folders that appear under their name only when complete.
 *
 *     struct output *o = output_file("report.html", &err);     // writes report.html.tmp.PID
 *     write_all(output_fd(o), p, n, &err);
 *     if (output_commit(o, &err) < 0) ...                      // closes, renames; fails on a full disk
 *
 *     struct output *o = output_dir("tl_out", true, is_ours, &err);   // tl_out.tmp.PID/, output_fd is the folder
 *     output_commit(o, &err);                                  // renamed once; the replaced one is deleted after that
 *
 * Until commit, output_abort, die() and the signals of output_watch_signals() remove what was created. After a kill -9, the next run that
 * writes the same name removes the leftovers: NAME.tmp.PID of the same user whose process is gone and whose lock is free. Nothing else is
 * ever deleted: an existing folder is replaced only if `replace` is set and `is_ours` allows it.
 * For tools only: it keeps a list of open outputs for die() and the signals.
 */
#ifndef PT2_OUTPUT_H
#define PT2_OUTPUT_H
#include "base/io/write.h"

struct output;

/* A pipe, /dev/stdout and anything else that is not a regular file is written in place. */
struct output *output_file(const char *path, struct err *err);
/* is_ours(dir fd): may this existing folder be replaced? An empty folder always may. */
struct output *output_dir(const char *path, bool replace, bool (*is_ours)(int fd), struct err *err);
int output_fd(const struct output *o);
/* A whole file, of these parts one after another. */
int output_write(const char *path, const struct slice *part, size_t n, struct err *err);
/* Removes a folder that was created in an output directory. */
void output_discard(const struct output *o, const char *name);
/* "FOLDER/NAME": the name of an output folder's file in errors. Valid in this thread until the next call. */
const char *output_inner(const char *folder, const char *name);
/* Frees o even on failure: there is nothing left to abort. */
int output_commit(struct output *o, struct err *err);
void output_abort(struct output *o);
/* SIGPIPE and SIGXFSZ are ignored, so that writes fail and are noticed; closed standard streams fail instead of their number becoming
 * that of a file. For tools without outputs of their own; call before any command is started. */
void output_fail_writes(void);
/* The same, and a thread that on SIGINT, SIGTERM, SIGHUP removes open outputs and then ends the process the same way.
 * Call once, before any thread is started; not in a tool that forks to run code (child.h, .function). */
void output_watch_signals(void);
void output_abort_all(void);

/* Removes a file, or a folder with its contents; what cannot be removed stays. */
void remove_tree(const char *path);

#endif
