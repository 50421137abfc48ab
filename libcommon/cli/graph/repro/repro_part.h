/* repro_part.h - shared by the readers and writers of repro.h. For repro*.c only. */
#ifndef PT2_REPRO_PART_H
#define PT2_REPRO_PART_H
#include "graph/pytext.h"
#include "graph/repro/repro.h"

/* A statement that starts in the first column, with its block, its decorators and its continuations (else, except). */
struct item {
	struct pyline first; /* its first line; for a decorated one that of "def" */
	struct slice whole;
	uint32_t line; /* of the whole statement */
	bool decorated;
};

struct reading {
	struct repro *r;
	struct slice text;
	const char *path;
	struct err *err;
	struct pytext at;
	struct item class_item, args_item; /* whole.p NULL: none */
	bool has_main, has_repro;
	uint32_t first_args; /* old forms: line of the first "args = ", 0 if none */
};

/* A text that is parsed separately, with the line numbers of the file. */
static inline struct pytext part_text(const struct reading *s, struct slice text, uint32_t line)
{
	return (struct pytext){.text = text, .name = s->path, .line = line - 1};
}
int bad_line(const struct reading *s, uint32_t line, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A copy of a string literal's characters; None and anything else: "", and *ok (or NULL) is false. */
struct slice take_string(struct repro *r, struct slice literal, bool *ok);
/* device(type='cuda', index=0), torch.device('cuda:0'), 'cuda:0' -> "cuda:0"; "" if it is not a device. */
struct slice take_device(struct repro *r, struct slice text);
/* The sizes of "(8, s77)", "[8]", "torch.Size([8])" into dim (GRAPH_MAX_DIMS of them). -1: not sizes. */
int take_sizes(struct repro *r, struct slice text, struct symsize *dim);
int take_size(struct repro *r, struct slice text, struct symsize *out);
/* A tensor's metadata, with strides (contiguous if stride is NULL). */
uint32_t take_tensor(struct repro *r, int dtype, int n_dim, const struct symsize *size, const struct symsize *stride, struct slice device);
/* Bytes from the storage's start to past the last element; false if that is symbolic or overflows. */
bool tensor_needs(const struct repro *r, uint32_t meta, struct symsize offset, int64_t *bytes);

int read_load_args(struct reading *s);
int read_old(struct reading *s);
/* r->exported as a graph with inputs; r->package is mapped here and stays mapped. */
int repro_open_exported(struct repro *r, struct err *err);
int repro_read_package(struct repro *r, const char *path, struct err *err);

/* Does `text` contain the word (not as part of a longer name)? */
bool has_word(struct slice text, const char *word);

#endif
