/* sarif.h - the frame of a SARIF 2.1.0 log (OASIS, 2020), the same whatever its findings are made of: one run of one tool.
 *
 *     struct json_out o = sarif_begin(&b, "fxexplain");
 *     json_member_arr(&o, "rules"); ... json_close(&o);
 *     sarif_results(&o);                               // the tool's part ends, the array of results begins
 *     json_obj(&o); ... sarif_text(&o, "message", title); json_close(&o);
 *     sarif_end(&o);
 */
#ifndef PT2_SARIF_H
#define PT2_SARIF_H
#include "base/json.h"

/* Members of the tool's driver may follow. */
struct json_out sarif_begin(struct buf *b, const char *tool);
/* `root` is what %SRCROOT% stands for; NULL: no file is relative to it. */
void sarif_results(struct json_out *o, const char *root);
void sarif_end(struct json_out *o);

/* A text is an object: "message": {"text": ...}. */
void sarif_text(struct json_out *o, const char *key, struct slice text);

#endif
