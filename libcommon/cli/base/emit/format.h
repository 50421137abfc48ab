/* format.h - the form of an answer, the same option in every tool: text, json, sarif, github or md.
 *
 *     static const struct opt options[] = {OPT_FLAG(0, "json", &opt.json, ...), OPT_FORMAT, ...};
 *     opt_parse_or_exit(&spec, argc, argv, &in);
 *     format_apply(&spec, &in);                        // --format=json and the others set opt.json, with its rules
 *
 * A tool writes text or its JSON document. The other three forms are made of that document here, for all tools alike, when it is
 * written (screen.h): its findings (findings.h) as SARIF 2.1.0, as GitHub annotations or as Markdown; a document without findings has
 * none of these in SARIF and on GitHub, and its figures and lists in Markdown. fxexplain's explanations have emitters of their own,
 * which know more than a document: they ask format_chosen().
 */
#ifndef PT2_FORMAT_H
#define PT2_FORMAT_H
#include "base/tool/opt.h"

enum format { FORM_TEXT, FORM_JSON, FORM_SARIF, FORM_GITHUB, FORM_MD, FORMS };
#define FORMAT_NAMES "text", "json", "sarif", "github", "md"
extern const char *const format_name[FORMS + 1]; /* NULL-terminated */
extern int format_index;                         /* of OPT_FORMAT; -1: not given */
#define OPT_FORMAT OPT_CHOICE(0, "format", "FORMAT", &format_index, format_name, "write text, json, sarif, github or md", .rare = true)

/* Ends as opt_parse_or_exit() does where a rule of --json is broken. */
void format_apply(const struct opt_spec *spec, struct operands *in);
/* For a tool whose --format has other values, too: `names` are those and FORMAT_NAMES; *other is -1 afterwards if it was one of these. */
void format_apply_or(const struct opt_spec *spec, struct operands *in, int *other, const char *const *names);
/* FORM_TEXT: none was. */
enum format format_chosen(void);

/* Text of a workflow command: % and line ends, in a property also : and ,. */
void format_github_escape(struct buf *b, struct slice s, bool property);
/* A document in that form, FORM_SARIF to FORM_MD. -1: it is not JSON. */
FOR_TESTS int format_document(struct buf *out, enum format form, const char *tool, struct slice document);

#endif
