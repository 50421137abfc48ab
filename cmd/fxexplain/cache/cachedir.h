/* cachedir.h - the contents of a torch.compile cache folder (TORCHINDUCTOR_CACHE_DIR; vLLM's caches contain such folders).
 *
 *     struct cachedir d;
 *     if (cachedir_read(&d, "/tmp/torchinductor_me", &err) < 0) ...
 *     ... d.file[]: every file, its kind, whether it is complete; d.key[]: entries grouped by key
 *     cachedir_release(&d);
 *
 * The layout (torch 2.13.0 and 2.15.0, torch/_inductor/codecache.py, torch/_functorch/_aot_autograd/autograd_cache.py):
 *
 *     fxgraph/y2/fy2joofz...tzq/orc3zyyo...      a pickled CompiledFxGraph; KEY[1:3]/KEY/sha256 of the content, one per set of guards
 *     aotautograd/abmkypbf...jfr/7vxoxnic...     a pickled AOTAutogradResult, which names the fxgraph entries it needs
 *     x6/cx6gntoy...42f.py .cpp .so .main.so     generated and built code; .best_config: autotuning results
 *     locks/cx6gntoy...lock, .PID.TID.tmp        writes in progress or interrupted
 *     triton/0/HASH/...                          Triton's own cache
 *     HASH/rank_0_0/...                          vLLM: computation_graph.py, vllm_compile_cache.py, cache_key_factors.json, and
 *                                                inductor_cache/, triton_cache/ with the above
 *
 * Entries are pickles. Nothing in them is executed or imported: they are read as objects of unknown classes (pickle_read_objects), and
 * only the texts that torch keeps of the key are used (cachekey.h). Up to CACHE_READ_ONE bytes of one entry and CACHE_READ_ALL in total;
 * larger ones are counted but not checked. Symlinks are not followed, mount points are crossed. Rows are sorted by path.
 */
#ifndef FXEXPLAIN_CACHEDIR_H
#define FXEXPLAIN_CACHEDIR_H
#include "base/arena.h"
#include "base/hash.h"
#include "run/cachekey.h"

enum { CACHE_READ_ONE = 64 << 20, CACHE_FILES = 1 << 22, CACHE_DEPTH = 12 };
#define CACHE_READ_ALL (1ull << 30)

#define CACHE_FILE_KINDS(X) \
	X(FX, "fx_graph", "compiled graphs") \
	X(AOT, "aotautograd", "AOTAutograd's results") \
	X(CODE, "code", "generated and built code") \
	X(TRITON, "triton", "Triton's kernels") \
	X(VLLM, "vllm", "vLLM's files") \
	X(LOCK, "lock", "locks") \
	X(TEMP, "temporary", "interrupted writes, or in progress") \
	X(OTHER, "other", "not recognised")
enum cache_file_kind {
#define X(id, name, text) CACHE_##id,
	CACHE_FILE_KINDS(X)
#undef X
	    CACHE_KIND_COUNT
};
extern const char *const cache_file_kind_name[CACHE_KIND_COUNT], *const cache_file_kind_text[CACHE_KIND_COUNT];

enum cache_state {
	STATE_WHOLE,
	STATE_EMPTY,   /* no bytes */
	STATE_CUT,     /* truncated: half-written */
	STATE_DAMAGED, /* not what its place implies */
	STATE_UNREAD,  /* too large or unreadable: not checked */
	CACHE_STATES
};
extern const char *const cache_state_name[CACHE_STATES];
static inline bool state_is_bad(enum cache_state s) { return s == STATE_EMPTY || s == STATE_CUT || s == STATE_DAMAGED; }

struct cache_need { /* an AOTAutograd entry: this fxgraph key is loaded with it */
	uint32_t key, text[KEY_TEXTS];
};
struct cache_file {
	uint32_t path; /* below the folder; names */
	uint8_t kind, state;
	uint64_t bytes;
	int64_t mtime, mtime_ns; /* seconds since 1970 */
	uint64_t dev, ino;
	uint32_t uid;
	uint32_t key;             /* row of key[], NONE */
	uint32_t why;             /* what is wrong with it; names, NONE */
	uint32_t guards;          /* of an entry: its guards; names, NONE */
	uint32_t text[KEY_TEXTS]; /* of an entry: the components of its key (cachekey.h); NONE: unknown */
	uint32_t first_need, n_need;
};
struct cache_key { /* FX or AOT */
	uint32_t name;
	enum cache_file_kind kind;
	uint32_t files, whole, bad; /* entries */
	uint32_t entry;             /* the newest complete one, NONE */
	uint32_t graph, ops, side;  /* of that entry: the graph's hash, the ops it calls, the hash of is_backward; names, NONE if unknown */
	uint64_t bytes;
	int64_t oldest, newest;
};
struct cache_sum {
	uint64_t files, bytes, bad;
};
struct cachedir {
	const char *path;
	int fd;
	struct intern names, keys; /* keys: kind and name -> key[], the same index */
	struct cache_file *file;
	uint32_t n_file, cap_file;
	struct cache_key *key;
	uint32_t n_key, cap_key;
	struct cache_need *need;
	uint32_t n_need, cap_need;
	struct cache_sum sum[CACHE_KIND_COUNT];
	int64_t now;
	uint64_t read, unread; /* bytes of pickles read; entries that were not checked */
	uint32_t closed;       /* folders that could not be opened */
	bool more;             /* there is more, beyond CACHE_FILES or CACHE_DEPTH */
};
int cachedir_read(struct cachedir *d, const char *path, struct err *err);
void cachedir_release(struct cachedir *d);
/* NONE: no entry has this key. */
uint32_t cachedir_key(const struct cachedir *d, enum cache_file_kind kind, struct slice name);
static inline struct slice cachedir_name(const struct cachedir *d, uint32_t name)
{
	return name == NONE ? slice_of("", 0) : intern_get(&d->names, name);
}
static inline void cachedir_texts(const struct cachedir *d, const uint32_t id[KEY_TEXTS], struct slice text[KEY_TEXTS])
{
	for (unsigned i = 0; i < KEY_TEXTS; i++)
		text[i] = cachedir_name(d, id[i]);
}
/* entries.c: reads an entry's pickle: its state, and why. */
void entry_read(struct cachedir *d, struct cache_file *f, struct slice bytes);

/* The complete fxgraph entry whose key is closest to these texts: the same graph first, then the same settings, then the fewest
 * differing components. NONE: no entry shows the components of its key. */
uint32_t cachedir_nearest(const struct cachedir *d, const struct slice text[KEY_TEXTS], struct arena *arena);

#endif
