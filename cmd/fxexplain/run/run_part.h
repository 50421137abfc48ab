/* run_part.h - shared by main.c, bisect.c and replay/: folders, names, time limits. */
#ifndef RUN_PART_H
#define RUN_PART_H
#include "explain/explain.h"

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

/* The path of a tool: beside this program, or in PATH; to be freed, NULL: it is missing. */
char *run_find_tool(const char *name);

/* --timeout for a struct child_spec. */
static inline int run_timeout_ms(int seconds) { return seconds > INT_MAX / 1000 ? INT_MAX : seconds * 1000; }

/* Before output_fail_writes(), which is for the tool alone; and in the child, before the command is executed: undoes what that changed. */
void run_keep_signal(void);
int run_as_before(void *arg);

#endif
