/* output.h - files and folders that appear under their name only when they are whole.
 *
 *     struct output *o = output_file("report.html", &err);     // writes report.html.tmp.PID
 *     write_all(output_fd(o), p, n, &err);
 *     if (output_commit(o, &err) < 0) ...                      // closes, renames; fails on a full disk
 *
 *     struct output *o = output_dir("tl_out", true, is_ours, &err);   // tl_out.tmp.PID/, output_fd is the folder
 *     output_commit(o, &err);                                  // renamed once; what it replaces is deleted after that
 *
 * Until commit, output_abort, die() and the signals of output_watch_signals() remove what was made. What a kill -9 left is removed by the
 * next that writes under the same name: NAME.tmp.PID of the same user whose process is gone and whose lock is free. Nothing else is ever
 * deleted: an existing folder is replaced only when `replace` is asked for and `is_ours` says it may be.
 * Belongs to the tools: it keeps a list of open outputs for die() and the signals.
 */
#ifndef PT2_OUTPUT_H
#define PT2_OUTPUT_H
#include "io/write.h"

struct output;

/* A pipe, /dev/stdout and whatever else is no regular file is written in place. */
struct output *output_file(const char *path, struct err *err);
/* is_ours(dir fd): may this existing folder be replaced? An empty folder always may. */
struct output *output_dir(const char *path, bool replace, bool (*is_ours)(int fd), struct err *err);
int output_fd(const struct output *o);
/* Remove a folder that was made in an output directory. */
void output_discard(const struct output *o, const char *name);
/* "FOLDER/NAME": a file of an output folder as errors name it. Of this thread, until the next call. */
const char *output_inner(const char *folder, const char *name);
/* Frees o, also when it fails: there is nothing left to abort then. */
int output_commit(struct output *o, struct err *err);
void output_abort(struct output *o);
/* SIGPIPE and SIGXFSZ are ignored, so that writes fail and are seen; standard streams that are closed fail instead of becoming
 * the number of a file. For tools without outputs of their own; before any command is started. */
void output_fail_writes(void);
/* The same, and a thread that on SIGINT, SIGTERM, SIGHUP removes open outputs and then ends the process as they would have.
 * Call once, before any thread is started; not in a tool that forks to run code (child.h, .function). */
void output_watch_signals(void);
void output_abort_all(void);

/* A file or folder with all in it; what cannot be removed stays. */
void remove_tree(const char *path);

#endif
