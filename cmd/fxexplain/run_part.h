/* run_part.h - shared by run.c and bisect.c: folders, names, time limits. */
#ifndef RUN_PART_H
#define RUN_PART_H
#include "fxexplain.h"

#include <limits.h>

struct run_names {
	char **v;
	size_t n, cap;
};
/* The *.log files of a folder, as paths, unsorted. */
void run_list(struct run_names *names, const char *dir);
void run_names_release(struct run_names *names);

/* A folder (base/tool/tempfolder.h), removed by run_remove_folder() and by die(). One at a time. */
const char *run_private_folder(void);
void run_remove_folder(void);
/* A new or empty folder that is kept; its absolute path, to be freed. Exits if it cannot be made. */
char *run_kept_folder(const char *path);

/* --timeout for a struct child_spec. */
static inline int run_timeout_ms(const struct explain_options *o) { return o->timeout > INT_MAX / 1000 ? INT_MAX : o->timeout * 1000; }

/* In the child, before the command is executed: undoes what output_fail_writes() changed for the tool. */
int run_as_before(void *arg);

/* bisect.c: returns the exit status. */
int bisect_main(const struct explain_options *opt, const struct operands *in);

#endif
