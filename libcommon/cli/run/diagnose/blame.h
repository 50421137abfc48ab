/* blame.h - which component a file or an exception belongs to, by tables of torch 2.0 to 2.15. For component.c. */
#ifndef PT2_BLAME_H
#define PT2_BLAME_H
#include "run/diagnose/finding.h"

/* The innermost frame that belongs to a component; frames are lines, outermost first. user: the very innermost frame is the program's. */
enum component frames_component(struct slice frames, struct slice *at, bool *user);
/* An operation of the program failed: on fake tensors (run_node of torch/_dynamo/utils.py), or while the traced graph ran as it is
 * (backends eager and aot_eager). */
bool frames_operate(struct slice frames);
/* Graph breaks that are errors of the program: of those for which torch says "Your code may result in an error when running in eager"
 * (graph_break_registry.json of 2.13 and 2.15) the ones that are Python's own errors; the others are restrictions of higher-order
 * operators. */
bool number_is_error(int gb);
/* proof: no other component raises it. */
enum component type_component(struct slice type, struct slice reason, bool *proof);

/* Of a C++ message and stack: which part of AOTInductor is in it. */
enum component native_component(struct slice message, struct slice stack);

#endif
