/* weights.c - gives a model weights from outside. The entry points (torch 2.13 and 2.15, torch/csrc/inductor/aoti_runtime/interface.h):
 *     AOTInductorModelContainerGetNumConstants, GetConstantName, GetConstantOriginalFQN, GetConstantFromFolded, GetConstantDtype,
 *     GetConstantDataSize (2.8)
 *     AOTInductorModelContainerUpdateUserManagedConstantBufferPairs (2.10): the container uses the tensors themselves; the handles
 *     belong to the caller. (The functions without Pairs take a std::unordered_map, which only C++ can create.)
 * Constants folded at run time are recomputed from these on the next call.
 */
#include "run.h"

#include "base/hash.h"

#include <dlfcn.h>

/* AOTInductorConstantMapEntry */
struct pair {
	const char *name;
	struct opaque *handle;
};

struct functions {
	int32_t (*count)(struct container *c, size_t *n);
	int32_t (*name)(struct container *c, size_t i, const char **name);
	int32_t (*fqn)(struct container *c, size_t i, const char **fqn);
	int32_t (*folded)(struct container *c, size_t i, bool *folded);
	int32_t (*dtype)(struct container *c, size_t i, int32_t *dtype);
	int32_t (*size)(struct container *c, size_t i, size_t *bytes);
	int32_t (*last_error)(const char **text); /* NULL before 2.13 */
	int32_t (*update)(struct container *c, const struct pair *pairs, size_t n, bool inactive, bool full);
};

#define FIND(so, name, into) (*(void **)&(into) = dlsym((so), "AOTInductorModelContainer" name))

static bool find_functions(void *so, struct functions *f)
{
	*(void **)&f->last_error = dlsym(so, "AOTInductorGetLastError");
	FIND(so, "UpdateUserManagedConstantBufferPairs", f->update);
	return FIND(so, "GetNumConstants", f->count) && FIND(so, "GetConstantName", f->name) &&
	       FIND(so, "GetConstantOriginalFQN", f->fqn) && FIND(so, "GetConstantFromFolded", f->folded) &&
	       FIND(so, "GetConstantDtype", f->dtype) && FIND(so, "GetConstantDataSize", f->size);
}

struct giving {
	struct functions f;
	struct container *c;
	const struct constants *k;
	struct intern names; /* of k->v */
	struct pair *pair;
	size_t n, n_missing;
	struct buf missing;
};

struct constant {
	const char *name, *fqn;
	int32_t dtype;
	size_t bytes;
};

/* 1; 0: not one that must be given. */
static int constant_at(const struct giving *g, size_t i, struct constant *k)
{
	bool folded = false;
	*k = (struct constant){0};
	if (g->f.folded(g->c, i, &folded) || g->f.name(g->c, i, &k->name) || g->f.fqn(g->c, i, &k->fqn) || g->f.dtype(g->c, i, &k->dtype) ||
	    g->f.size(g->c, i, &k->bytes))
		return -1;
	return !folded && k->name;
}

static uint32_t find_given(const struct giving *g, const struct constant *k)
{
	uint32_t at = intern_find(&g->names, slice_str(k->name));
	return at == NONE && k->fqn && *k->fqn ? intern_find(&g->names, slice_str(k->fqn)) : at;
}

static void add_missing(struct giving *g, const struct constant *k)
{
	if (g->n_missing++ < 8)
		buf_addf(&g->missing, "%s%.120s (%s, %zu bytes)", g->n_missing > 1 ? ", " : "", k->fqn && *k->fqn ? k->fqn : k->name,
			 dtype_name(k->dtype), k->bytes);
}

static int give_one(struct giving *g, const struct constant *k, const char *model, struct err *err)
{
	const uint32_t at = find_given(g, k);
	int64_t bytes = 0;
	if (at == NONE) {
		if (g->k->none && k->bytes)
			add_missing(g, k);
		return 0;
	}
	const struct tensor_view *v = &g->k->v[at];
	if (v->meta.dtype != k->dtype || !tensor_extent(&v->meta, &bytes) || (size_t)bytes > k->bytes)
		return err_set(err, EXIT_INPUT, "weight '%.120s' of '%s' must be %s with %zu bytes, not %s with %lld", k->name, model,
			       dtype_name(k->dtype), k->bytes, dtype_name(v->meta.dtype), (long long)bytes);
	g->pair[g->n++] = (struct pair){k->name, g->k->handle[at]};
	return 0;
}

static int refuse_old(const char *model, struct err *err)
{
	return err_set(err, EXIT_INPUT, "'%s' was compiled by torch before 2.10, whose models only take weights from C++: recompile it",
		       model);
}

static int give_all(struct giving *g, const char *model, struct err *err)
{
	size_t n;
	if (g->f.count(g->c, &n) || n > 1u << 22)
		return err_set(err, EXIT_INPUT, "'%s' does not list its weights", model);
	g->pair = xcalloc(n + 1, sizeof(*g->pair));
	for (size_t i = 0; i < n; i++) {
		struct constant k;
		int r = constant_at(g, i, &k);
		if (r < 0)
			return err_set(err, EXIT_INPUT, "'%s' does not describe its weight %zu", model, i);
		if (r && give_one(g, &k, model, err) < 0)
			return -1;
	}
	if (g->n_missing)
		return err_set(
		    err, EXIT_INPUT,
		    "'%s' contains no weights (aot_inductor.package_constants_in_so=False): pass them with --weights=FILE; it needs %s%s",
		    model, buf_str(&g->missing), g->n_missing > 8 ? " and more" : "");
	if (g->n && !g->f.update)
		return refuse_old(model, err);
	if (!g->n || !g->f.update(g->c, g->pair, g->n, false, false))
		return 0;
	const char *why = NULL;
	if (g->f.last_error)
		g->f.last_error(&why);
	return err_set(err, EXIT_INPUT, "'%s' rejects its weights: %s", model, why && *why ? why : "no reason given");
}

int constants_give(void *so, struct container *c, const char *model, const struct constants *k, struct err *err)
{
	struct giving g = {.c = c, .k = k};
	size_t n;
	int r = 0;
	if (!k->n && !k->none)
		return 0;
	for (size_t i = 0; i < k->n; i++)
		intern_add(&g.names, k->v[i].name);
	if (g.names.n != k->n)
		r = err_set(err, EXIT_INPUT, "two weights for '%s' have the same name", model);
	else if (find_functions(so, &g.f))
		r = give_all(&g, model, err);
	else if (k->none && g.f.count && !g.f.count(c, &n) && n)
		r = refuse_old(model, err);
	else if (k->n)
		r = err_set(err, EXIT_INPUT, "'%s' lacks the entry points that list its weights", model);
	free(g.pair);
	buf_release(&g.missing);
	intern_release(&g.names);
	return r;
}
