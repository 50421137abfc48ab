/* roots.h - the folders that `pt2 mcp` was started for: what lies outside of them does not exist for its client.
 *
 *     roots_add(&r, "project", &err);
 *     char *word = roots_word(&r, "x=batch.npy", &err);    // "x=/home/me/project/batch.npy"; NULL: it lies elsewhere, err says so
 *
 * A path is resolved, links and all, before it is compared. That keeps a client from asking; what a file itself names is kept out by
 * Landlock, which the tools that answer are started under (base/process/confine.h).
 */
#ifndef PT2_MCP_ROOTS_H
#define PT2_MCP_ROOTS_H
#include "base/base.h"

struct roots {
	char **v; /* resolved */
	size_t n, cap;
};
int roots_add(struct roots *r, const char *folder, struct err *err);
void roots_release(struct roots *r);

/* A path below one of them, resolved; a relative one is below the first. */
char *roots_path(const struct roots *r, const char *path, struct err *err);
/* An operand of the tools: a path, NAME=PATH, PATH:KEY, or anything but a path (a spec: f32[8,10]; last~1). */
char *roots_word(const struct roots *r, const char *word, struct err *err);

#endif
