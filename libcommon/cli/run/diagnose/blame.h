/* blame.h - whose a file is, whose an exception: tables of torch 2.0 to 2.15. For component.c. */
#ifndef PT2_BLAME_H
#define PT2_BLAME_H
#include "run/diagnose/finding.h"

/* The innermost frame of a part; frames are lines, outermost first. user: the innermost frame of all is the program's. */
enum component frames_component(struct slice frames, struct slice *at, bool *user);
/* An operation of the program is what failed: on fake tensors (run_node of torch/_dynamo/utils.py), or when the graph as it was traced ran
 * (backends eager and aot_eager). */
bool frames_operate(struct slice frames);
/* Breaks that are errors of the program: of those to which torch says "Your code may result in an error when running in eager"
 * (graph_break_registry.json of 2.13 and 2.15) the ones that are Python's; the others are wishes of higher-order operators. */
bool number_is_error(int gb);
/* proof: no other part raises it. */
enum component type_component(struct slice type, struct slice reason, bool *proof);

#endif
