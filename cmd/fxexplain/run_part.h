/* run_part.h - what run.c and bisect.c share: folders, names, time limits. */
#ifndef RUN_PART_H
#define RUN_PART_H
#include "fxexplain.h"

#include <limits.h>

struct run_names {
	char **v;
	size_t n, cap;
};
/* The *.log files of a folder, with its name before them, in no order. */
void run_list(struct run_names *names, const char *dir);
void run_names_release(struct run_names *names);

/* A folder (base/tool/tempfolder.h), removed by run_remove_folder() and by die(). One at a time. */
const char *run_private_folder(void);
void run_remove_folder(void);
/* A new or empty folder that stays; its whole path, to be freed. Ends the tool when it cannot be. */
char *run_kept_folder(const char *path);

/* --timeout for a struct child_spec. */
static inline int run_timeout_ms(const struct explain_options *o) { return o->timeout > INT_MAX / 1000 ? INT_MAX : o->timeout * 1000; }

/* Before the command is executed: what output_fail_writes() has changed for the tool is as it was. */
int run_as_before(void *arg);

/* bisect.c: the exit status. */
int bisect_main(const struct explain_options *opt, const struct operands *in);

#endif
