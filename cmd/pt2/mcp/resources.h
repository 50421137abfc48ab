/* resources.h - what a client of `pt2 mcp` may read besides answers: pages, graphs, kernels.
 *
 *     pt2://page/home/me/trace.log                          the report of a trace, one HTML page
 *     pt2://graphs/home/me/trace.log                        its graphs and generated code: a list of names
 *     pt2://graphs/home/me/trace.log?name=-_0_0_0%2Fx.txt   one of them
 *     pt2://kernels/home/me/model.pt2                       the kernels of a trace or a package: a list
 *     pt2://kernels/home/me/model.pt2?name=cpp_fused_0      the nodes and lines that one was made from
 *     pt2://answer/3                                        an answer of a tool, whole
 *
 * A page and kernels are what tlparse and fxexplain print; graphs are files of tlparse's directory, which is made once for each state of a
 * trace.
 */
#ifndef PT2_MCP_RESOURCES_H
#define PT2_MCP_RESOURCES_H
#include "base/json.h"
#include "door/words.h"
#include "mcp/answers.h"
#include "mcp/roots.h"

enum resource_kind { RESOURCE_PAGE, RESOURCE_GRAPHS, RESOURCE_KERNELS, RESOURCE_ANSWER };
struct resource {
	enum resource_kind kind;
	char *path, *name; /* name: NULL if there is none */
	uint64_t id;       /* of an answer */
};
/* -1: it is none of these, or outside of the roots. */
int resource_read_uri(struct resource *r, const struct roots *roots, struct slice uri, struct err *err);
void resource_release(struct resource *r);
void resource_uri(struct buf *b, const struct resource *r);
extern const char *const resource_type[]; /* MIME, by kind; graphs: of the list */

/* Things that tools were called with: traces and models among them are listed as resources. */
struct seen {
	char **v;
	size_t n, cap;
};
void seen_add(struct seen *s, const char *path);
void seen_release(struct seen *s);
void resources_put(struct json_out *o, const struct seen *s, const struct answers *a);
void resource_templates_put(struct json_out *o);

/* The files of a report's directory that are worth reading, one URI a line. */
void graphs_list(struct buf *b, const char *trace, const char *folder);
/* One of them; -1: there is none of that name. */
int graphs_read(struct buf *b, const char *folder, const char *name, struct err *err);

#endif
