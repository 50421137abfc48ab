/* jsonskim.h - finds the members of a large JSON text without tokenizing it, when only a few parts of 100 MB are needed. Those are then
 * read with json.h.
 *
 *     struct json_skim s;
 *     struct slice key, value;
 *     int rc = json_skim_open(&s, text);
 *     while (rc == 0 && (rc = json_skim_next(&s, &key, &value)) > 0) {
 *         ... key is raw, without its quotes (empty in an array); value is whole: "text", 12, {...}
 *         rc = 0;
 *     }
 *     if (rc < 0) ... s.error, s.at (offset in text)
 *
 * One pass, no recursion, no memory, about 1 GB/s. Skipped values are not checked: only strings and the number of brackets count. A value
 * that is used must be parsed; one that is not may be anything with balanced brackets.
 */
#ifndef PT2_JSONSKIM_H
#define PT2_JSONSKIM_H
#include "base/base.h"

struct json_skim {
	struct slice text;
	size_t at;
	bool object, begun;
	const char *error;
};

/* text: one object or array, white space around it. -1 if it starts with neither. */
int json_skim_open(struct json_skim *s, struct slice text);
/* 1: a member; 0: that was the last; -1: damaged. */
int json_skim_next(struct json_skim *s, struct slice *key, struct slice *value);
/* The values of n keys of an object (the last one if a key is duplicated); p is NULL for missing ones. */
int json_skim_members(struct json_skim *s, struct slice text, const char *const *keys, struct slice *values, size_t n);

#endif
