/* One line, one fact: caches, cudagraphs, paths, versions. */
#include "torchlog/torchlog_part.h"

/* FX cache hit with key: K / FX cache miss, ... / FX cache bypass reason: R        2.7 to 2.13 (compile_fx.py)
 * fx graph cache hit for key K / miss                                              2.2 to 2.6
 * Bypassing FX Graph Cache because 'R'                                             2.3 to 2.6
 * AOTAutograd cache hit for key K / miss; Bypassing autograd cache due to: R       2.5 to 2.13 */
uint32_t parse_cache(struct block *b, uint32_t i)
{
	static const struct {
		const char *words, *cache;
		enum textlog_cache_kind kind;
	} forms[] = {
	    {"FX cache hit", "FX graph", TEXTLOG_CACHE_HIT},
	    {"FX cache miss", "FX graph", TEXTLOG_CACHE_MISS},
	    {"FX cache bypass reason: ", "FX graph", TEXTLOG_CACHE_BYPASS},
	    {"fx graph cache hit", "FX graph", TEXTLOG_CACHE_HIT},
	    {"fx graph cache miss", "FX graph", TEXTLOG_CACHE_MISS},
	    {"fx graph cache unable to load", "FX graph", TEXTLOG_CACHE_MISS},
	    {"Bypassing FX Graph Cache because ", "FX graph", TEXTLOG_CACHE_BYPASS},
	    {"AOTAutograd cache hit", "AOTAutograd", TEXTLOG_CACHE_HIT},
	    {"AOTAutograd cache miss", "AOTAutograd", TEXTLOG_CACHE_MISS},
	    {"Bypassing autograd cache due to: ", "AOTAutograd", TEXTLOG_CACHE_BYPASS},
	};
	struct slice line = slice_trim(block_line(b, i));
	for (unsigned k = 0; k < ARRAY_LEN(forms); k++) {
		struct slice rest = line;
		if (!slice_take(&rest, forms[k].words))
			continue;
		struct textlog_cache *row = LOG_ADD(b->t, cache);
		if (!row)
			return 1;
		if (!slice_take(&rest, " with key: ") && !slice_take(&rest, " for key ") && forms[k].kind != TEXTLOG_CACHE_BYPASS)
			rest.n = 0;
		row->at = block_at(b, i);
		row->kind = forms[k].kind;
		row->cache = log_text(b->t, slice_str(forms[k].cache));
		row->reason = log_text(b->t, slice_trim(rest));
		return 1;
	}
	return 0;
}

/* skipping cudagraphs due to mutated inputs (1 instances). Found from :
 *    File "app.py", line 5, in f           (torch/_inductor/cudagraph_utils.py) */
uint32_t parse_cudagraph(struct block *b, uint32_t i)
{
	struct slice reason = slice_trim(block_line(b, i));
	uint32_t k = i + 1;
	while (k < b->n && !slice_blank(block_line(b, k)) && block_line(b, k).p[0] == ' ')
		k++;
	if (k == b->n && !b->final)
		return BLOCK_MORE;
	slice_take(&reason, "skipping cudagraphs");
	if (!slice_take(&reason, " due to "))
		slice_take(&reason, " for ");
	const char *found = slice_find(reason, ". Found from");
	struct textlog_skip *row = LOG_ADD(b->t, skip);
	if (!row)
		return k - i;
	struct slice rest = block_lines(b, i + 1, k);
	struct srcloc at, last = {0};
	while (srcloc_next(&rest, &at))
		if (at.form == SRCLOC_PYTHON)
			last = at;
	row->at = block_at(b, i);
	row->reason = log_text(b->t, slice_trim(slice_upto(reason, found)));
	row->loc = last.line ? log_loc(b->t, &last) : LOG_NO_LOC;
	return k - i;
}

static void path_row(struct block *b, uint32_t i, enum textlog_path_kind kind, struct slice path, struct slice name)
{
	struct textlog *t = b->t;
	uint32_t text = log_text(t, slice_trim(path));
	/* Two levels of the same logger say it one after the other. */
	const struct textlog_path *last = t->path.n ? &t->path.row[t->path.n - 1] : NULL;
	if (text == NONE || (last && last->path == text && last->kind == kind && last->at.compile == b->at.compile))
		return;
	struct textlog_path *row = LOG_ADD(t, path);
	if (!row)
		return;
	row->at = block_at(b, i);
	row->kind = kind;
	row->path = text;
	row->name = log_text(b->t, name);
}

/* model__0_forward_1 debug trace: torch_compile_debug/run_X/torchinductor/model__0_forward_1.0; 2.0: model___20 debug trace: X.debug */
uint32_t parse_debug_trace(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i));
	const char *at = slice_find(line, " debug trace: ");
	if (!at || memchr(line.p, ' ', (size_t)(at - line.p)))
		return 0;
	path_row(b, i, PATH_DEBUG_TRACE, slice_from(line, at + strlen(" debug trace: ")), slice_upto(line, at));
	return 1;
}

uint32_t parse_path(struct block *b, uint32_t i)
{
	static const struct {
		const char *words;
		enum textlog_path_kind kind;
	} forms[] = {
	    {"Output code written to: ", PATH_OUTPUT_CODE},    {"Output code: /", PATH_OUTPUT_CODE},
	    {"Saved standalone repro to ", PATH_REPRO},        {"Writing repro file to ", PATH_REPRO},
	    {"LazyTraceHandler: logging to ", PATH_TRACE_LOG}, {"Writing minified repro to ", PATH_REPRO},
	    {"Writing minified repro to:", PATH_REPRO},        {"Writing minified repro launcher to ", PATH_REPRO},
	    {"Writing FX code to file: ", PATH_OTHER},         {"Writing checkpoint with ", PATH_CHECKPOINT},
	};
	struct slice line = slice_trim(block_line(b, i)), none = slice_of("", 0);
	for (unsigned k = 0; k < ARRAY_LEN(forms); k++) {
		struct slice rest = line;
		if (!slice_take(&rest, forms[k].words))
			continue;
		if (slice_ends(slice_str(forms[k].words), "/")) /* the path's own first byte */
			rest = slice_from(line, rest.p - 1);
		if (forms[k].kind == PATH_CHECKPOINT) {
			const char *to = slice_find(rest, " nodes to ");
			if (!to)
				return 0;
			rest = slice_from(rest, to + strlen(" nodes to "));
		}
		if (slice_blank(rest)) { /* 2.1 and newer: below it */
			if (!b->final && i + 2 > b->n)
				return BLOCK_MORE;
			if (i + 1 >= b->n)
				return 1;
			path_row(b, i, forms[k].kind, block_line(b, i + 1), none);
			return 2;
		}
		path_row(b, i, forms[k].kind, rest, none);
		return 1;
	}
	return 0;
}

static void version_row(struct block *b, uint32_t i, const char *what, struct slice version)
{
	version = slice_trim(version);
	if (!version.n)
		return;
	struct textlog *t = b->t;
	uint32_t name = log_text(t, slice_str(what)), text = log_text(t, version);
	for (uint32_t k = t->version.n; k > 0 && t->version.n - k < 256; k--)
		if (t->version.row[k - 1].what == name && t->version.row[k - 1].version == text)
			return; /* every repro of a log says it again */
	struct textlog_version *row = LOG_ADD(t, version);
	if (!row)
		return;
	row->at = block_at(b, i);
	row->what = name;
	row->version = text;
}

struct version_form {
	const char *words, *what;
};

static uint32_t version_line(struct block *b, uint32_t i, const struct version_form *form, unsigned n)
{
	struct slice line = slice_trim(block_line(b, i));
	for (unsigned k = 0; k < n; k++) {
		struct slice rest = line;
		if (!slice_take(&rest, form[k].words))
			continue;
		if (!slice_is(rest, "N/A") && !slice_is(rest, "None") && !slice_is(rest, "Could not collect") && !slice_starts(rest, "No "))
			version_row(b, i, form[k].what, rest);
		return 1;
	}
	return 0;
}

/* Comments of repros and graphs: torch/_dynamo/debug_utils.py generate_config_string, generate_env_vars_string */
uint32_t parse_version(struct block *b, uint32_t i)
{
	static const struct version_form forms[] = {{"# torch version: ", "torch"},
						    {"torch version: ", "torch"},
						    {"# torch cuda version: ", "cuda"},
						    {"# torch git version: ", "torch git"}};
	return version_line(b, i, forms, ARRAY_LEN(forms));
}

/* python -m torch.utils.collect_env */
uint32_t parse_env(struct block *b, uint32_t i)
{
	static const struct version_form forms[] = {{"PyTorch version: ", "torch"},
						    {"Python version: ", "python"},
						    {"CUDA used to build PyTorch: ", "cuda"},
						    {"ROCM used to build PyTorch: ", "rocm"},
						    {"CUDA runtime version: ", "cuda runtime"},
						    {"HIP runtime version: ", "hip runtime"},
						    {"Nvidia driver version: ", "nvidia driver"},
						    {"cuDNN version: ", "cudnn"},
						    {"OS: ", "os"},
						    {"GCC version: ", "gcc"},
						    {"Clang version: ", "clang"},
						    {"CMake version: version ", "cmake"},
						    {"CMake version: ", "cmake"},
						    {"Libc version: ", "libc"},
						    {"[pip3] torch==", "torch"},
						    {"[pip3] triton==", "triton"}};
	return version_line(b, i, forms, ARRAY_LEN(forms));
}
