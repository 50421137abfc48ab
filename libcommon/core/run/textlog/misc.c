/* Lines with one fact each: caches, cudagraphs, paths, versions. */
#include "run/textlog/textlog_part.h"

/* FX cache hit with key: K / FX cache miss, ... / FX cache bypass reason: R        2.7 to 2.13 (compile_fx.py)
 * fx graph cache hit for key K / miss                                              2.2 to 2.6
 * Bypassing FX Graph Cache because 'R'                                             2.3 to 2.6
 * AOTAutograd cache hit for key K / miss; Bypassing autograd cache due to: R       2.5 to 2.13 */
uint32_t parse_cache(struct block *b, uint32_t i)
{
	static const struct {
		const char *words;
		enum fact_cache_kind cache;
		enum fact_cache_what what;
	} forms[] = {
	    {"FX cache hit", FACT_CACHE_FX, FACT_HIT},
	    {"FX cache miss", FACT_CACHE_FX, FACT_MISS},
	    {"FX cache bypass reason: ", FACT_CACHE_FX, FACT_BYPASS},
	    {"fx graph cache hit", FACT_CACHE_FX, FACT_HIT},
	    {"fx graph cache miss", FACT_CACHE_FX, FACT_MISS},
	    {"fx graph cache unable to load", FACT_CACHE_FX, FACT_MISS},
	    {"Bypassing FX Graph Cache because ", FACT_CACHE_FX, FACT_BYPASS},
	    {"AOTAutograd cache hit", FACT_CACHE_AOT, FACT_HIT},
	    {"AOTAutograd cache miss", FACT_CACHE_AOT, FACT_MISS},
	    {"Bypassing autograd cache due to: ", FACT_CACHE_AOT, FACT_BYPASS},
	};
	struct slice line = slice_trim(block_line(b, i));
	for (unsigned k = 0; k < ARRAY_LEN(forms); k++) {
		struct slice rest = line;
		if (!slice_take(&rest, forms[k].words))
			continue;
		struct fact_cache *row = LOG_ADD(b, i, cache);
		if (!row)
			return 1;
		row->kind = forms[k].cache;
		row->what = forms[k].what;
		row->name = log_text(b->t, row->kind == FACT_CACHE_AOT ? SLICE("AOTAutograd") : SLICE("FX graph"));
		row->reason = row->what == FACT_BYPASS ? log_text(b->t, slice_trim(rest)) : NONE;
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
	struct fact_cudagraph *row = LOG_ADD(b, i, cudagraph);
	if (!row)
		return k - i;
	struct slice rest = block_lines(b, i + 1, k);
	struct srcloc at, last = {0};
	while (srcloc_next(&rest, &at))
		if (at.form == SRCLOC_PYTHON)
			last = at;
	row->reason = log_text(b->t, slice_trim(slice_upto(reason, found)));
	row->loc = last.line ? log_loc(b->t, &last) : facts_no_loc();
	return k - i;
}

static void path_row(struct block *b, uint32_t i, const char *what, struct slice path)
{
	struct textlog *t = b->t;
	uint32_t text = log_text(t, slice_trim(path)), kind = log_text(t, slice_str(what));
	/* Two levels of the same logger repeat it. */
	const struct fact_path *last = t->f->n_path > t->from.path ? &t->f->path[t->f->n_path - 1] : NULL;
	if (text == NONE || (last && last->path == text && last->what == kind && last->compile == block_compile(b, i)))
		return;
	struct fact_path *row = LOG_ADD(b, i, path);
	if (!row)
		return;
	row->what = kind;
	row->path = text;
}

/* model__0_forward_1 debug trace: torch_compile_debug/run_X/torchinductor/model__0_forward_1.0; 2.0: model___20 debug trace: X.debug */
uint32_t parse_debug_trace(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i));
	const char *at = slice_find(line, " debug trace: ");
	if (!at || memchr(line.p, ' ', (size_t)(at - line.p)))
		return 0;
	path_row(b, i, "debug trace", slice_from(line, at + strlen(" debug trace: ")));
	return 1;
}

uint32_t parse_path(struct block *b, uint32_t i)
{
	static const struct {
		const char *words, *what;
	} forms[] = {
	    {"Output code written to: ", "output code"},
	    {"Output code: /", "output code"},
	    {"Saved standalone repro to ", "minifier launcher"},
	    {"Writing repro file to ", "minifier launcher"},
	    {"LazyTraceHandler: logging to ", "trace log"},
	    {"Writing minified repro to ", "minifier launcher"},
	    {"Writing minified repro to:", "minifier launcher"},
	    {"Writing minified repro launcher to ", "minifier launcher"},
	    {"Writing FX code to file: ", "file"},
	    {"Writing checkpoint with ", "checkpoint"},
	};
	struct slice line = slice_trim(block_line(b, i));
	for (unsigned k = 0; k < ARRAY_LEN(forms); k++) {
		struct slice rest = line;
		if (!slice_take(&rest, forms[k].words))
			continue;
		if (slice_ends(slice_str(forms[k].words), "/")) /* the path's own first byte */
			rest = slice_from(line, rest.p - 1);
		if (slice_starts(line, "Writing checkpoint")) {
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
			path_row(b, i, forms[k].what, block_line(b, i + 1));
			return 2;
		}
		path_row(b, i, forms[k].what, rest);
		return 1;
	}
	return 0;
}

/* Comments of repros and graphs: torch/_dynamo/debug_utils.py generate_config_string, generate_env_vars_string; and
 * python -m torch.utils.collect_env. The first one counts: every repro in a log repeats it. */
uint32_t parse_version(struct block *b, uint32_t i)
{
	struct fact_input *in = &b->t->f->input[b->t->input];
	const struct {
		const char *words;
		uint32_t *version;
	} forms[] = {
	    {"# torch version: ", &in->torch_version},     {"torch version: ", &in->torch_version},
	    {"# torch cuda version: ", &in->cuda_version}, {"PyTorch version: ", &in->torch_version},
	    {"Python version: ", &in->python_version},     {"CUDA used to build PyTorch: ", &in->cuda_version},
	    {"[pip3] torch==", &in->torch_version},
	};
	struct slice line = slice_trim(block_line(b, i));
	for (unsigned k = 0; k < ARRAY_LEN(forms); k++) {
		struct slice rest = line;
		if (!slice_take(&rest, forms[k].words))
			continue;
		bool known =
		    !slice_is(rest, "N/A") && !slice_is(rest, "None") && !slice_is(rest, "Could not collect") && !slice_starts(rest, "No ");
		if (known && *forms[k].version == NONE)
			*forms[k].version = log_text(b->t, slice_trim(rest));
		return 1;
	}
	return 0;
}
