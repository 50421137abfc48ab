/* pair.h - a graph and the package, or the dump of a run, to compare with it.
 *
 *     struct pair p;
 *     struct held h;
 *     if (pair_open(&p, "exported.pt2", "model.pt2", (struct pair_options){0}, &err) < 0) ...
 *     if (held_open(&h, &p, &dump, model_id, 0, NULL, 0, &err) == 0)     // Run 0 of a dump (watch/dump.h) of that package
 *         h.verify.finding[0] ...                                        // verify.h
 *     held_close(&h);
 *     pair_close(&p);
 *
 * The graph comes from torch.export.save, a trace, a launcher or graph.json (graph/repro/graphfile.h); the latter have no weights and
 * use the package's. If both have a weight of the same name, the graph is computed with the package's; .weight lists those that
 * differ. The graph is called with the inputs saved with the Run. Texts belong to the caller and must stay alive.
 */
#ifndef PT2_VERIFY_PAIR_H
#define PT2_VERIFY_PAIR_H
#include "aten/verify/verify.h"
#include "graph/repro/graphfile.h"
#include "model/binprobe/load.h"

struct pair_options {
	const char *of, *weights, *model; /* which graph of a trace; a file of weights for both; which model of the package */
	const struct interp_more *more;   /* who computes operators of the graph that are not here; NULL */
};
struct pair {
	const char *graph, *package;
	bool is_dump; /* .package is a folder of saved tensors */
	struct program program;
	struct graph_file alone;
	struct loaded package_of;
	struct weights package_weights;
	bool has_package;
	struct differing {
		struct slice fqn;
		uint64_t bad, n;
		double max_abs;
	} * weight;
	uint32_t n_weights, n_differing, cap_weights; /* n_weights: weights that both have */
};

/* Call pair_close() even after a failure. EXIT_USAGE: weights are missing. */
int pair_open(struct pair *p, const char *graph, const char *package, struct pair_options o, struct err *err);
void pair_close(struct pair *p);
/* The compiler puts weights and buffers of at most so many elements into the code: torch 2.13, torch/_inductor/graph.py,
 * GraphLowering.get_attr. */
enum { PAIR_MOST_INLINED = 8 };
/* Is that placeholder a weight whose numbers are only in the package's code? If they changed since, the package has to be compiled
 * again. */
bool pair_inlined(const struct pair *p, const struct reference *ref, uint32_t node);
/* Chooses among the models or graphs of that name that ran (NULL: any): the first one called with inputs that the graph accepts, else the
 * first. EXIT_USAGE: none of that name ran. */
int pair_choose(const struct pair *p, const struct dump *d, const char *model, uint32_t *model_id, struct err *err);

struct held {
	struct observed observed;
	struct reference ref;
	struct verify verify;
	struct tensor_view *in; /* of the graph */
	size_t n_in;
	struct dump_tensor *file;
	bool borrows;               /* .ref is another's (alone.h) */
	struct tensor_view *expect; /* held_expect() */
	size_t n_expect;
	bool ahead; /* .ref was opened with them */
};
/* before (may be NULL): the previous Run of the same process, which left its buffers. It, p and d must outlive h, and h must not move. */
int held_open(struct held *h, const struct pair *p, const struct dump *d, uint32_t model_id, uint32_t run, const struct held *before,
	      uint64_t max_bytes, struct err *err);
/* The same in three steps, so that the graph runs while the package does: h, zeroed, keeps copies of the inputs that the package is called
 * with; the graph is run with them, in any thread; the rest. Other inputs than those: it is run again. */
bool held_expect(struct held *h, const struct pair *p, const struct tensor_view *in, size_t n);
void held_ahead(struct held *h, const struct pair *p, uint64_t max_bytes);
int held_observe(struct held *h, const struct pair *p, const struct dump *d, uint32_t model_id, uint32_t run, const struct held *before,
		 uint64_t max_bytes, struct err *err);
void held_close(struct held *h);
/* The line of the user's program, or "". */
struct slice held_line(const struct held *h, uint32_t node);
/* "[1, 3]": the index of that element in the node. */
void held_add_place(struct buf *b, const struct held *h, uint32_t node, int64_t at);

#endif
