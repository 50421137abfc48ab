/* kernelmaps.h - the kernel maps of all inputs: debug folders, traces, packages, generated code, texts.
 *
 *     struct kernelmaps k = {0};
 *     if (kernelmaps_add_debugdir(&k, "torch_compile_debug", &err) < 0) ...   // or _trace, _package, _code, _text; any number
 *     kernelmaps_build(&k);
 *     for (uint32_t i = 0; i < k.n; i++) k.map[i]->use ...
 *     kernelmaps_release(&k);
 *
 * A debug folder gives one map per compilation with code; a trace one per inductor_output_code (with the post-grad graph
 * and the node mappings of its compile id) and each C++ wrapper; a package one per model; a text one per piece of code
 * that TORCH_LOGS=output_code wrote to it (with ir_post_fusion and post_grad_graphs if these are logged, too). Fusion decisions in a
 * text (fusionlog.h) apply to all maps of a folder of that name, and kernelmap_locate finds compiler errors in it (k.text).
 * Failure: -1 and err if an input cannot be read or has no generated code; earlier inputs are kept.
 */
#ifndef PT2_INDUCTOR_KERNELMAPS_H
#define PT2_INDUCTOR_KERNELMAPS_H
#include "graph/inductor/kernelmap.h"
#include "run/debugdir/debugdir.h"

#define KERNELMAPS_MAX 16384

struct kernelmaps {
	struct kernelmap **map;
	struct kernelmap_input *input;
	struct slice *text;
	uint32_t n, n_input, n_text, cap_input, cap_text;
	struct fusionlog fusion;
	/* what the slices point to */
	struct mapfile **file;
	struct buf **buf;
	uint32_t n_file, n_buf, cap_file, cap_buf;
	struct arena arena;
};

int kernelmaps_add_debugdir(struct kernelmaps *k, const char *path, struct err *err);
int kernelmaps_add_trace(struct kernelmaps *k, const char *path, struct err *err);
void kernelmaps_add_traces(struct kernelmaps *k, const char *folder); /* sorted by name; other files add nothing */
int kernelmaps_add_package(struct kernelmaps *k, const char *path, const char *model, struct err *err); /* model NULL: all */
int kernelmaps_add_code(struct kernelmaps *k, const char *path, struct err *err);
int kernelmaps_add_text(struct kernelmaps *k, const char *path, struct err *err);
void kernelmaps_build(struct kernelmaps *k);
void kernelmaps_release(struct kernelmaps *k);
/* Is the text generated code ("async_compile = AsyncCompile()" on its own line)? */
bool kernelmaps_is_code(struct slice text);

/* For the parts: */
bool kernelmaps_add(struct kernelmaps *k, const struct kernelmap_input *in); /* false: there are already KERNELMAPS_MAX */
struct slice kernelmaps_keep(struct kernelmaps *k, struct slice bytes);      /* a copy that lives as long as k */
void kernelmaps_from_log(struct kernelmaps *k, struct slice text);

#endif
