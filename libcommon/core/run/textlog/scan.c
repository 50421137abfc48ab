/* Chooses the parser of a line by its start, after leading spaces. */
#include "run/textlog/textlog_part.h"

/* Ordered by first byte; of two with the same start the longer one comes first. */
static const struct start {
	const char *text;
	block_parser *parse;
} starts[] = {
    {"# torch ", parse_version},
    {"# CUDA ", parse_version},
    {"('Recompiling function ", parse_recompile_tuple},
    {"(['", parse_metrics_csv},
    {"*** ", parse_native_signal},
    {"+ Exception Group Traceback", parse_traceback},
    {"==", parse_sanitizer},
    {"AOTAutograd cache ", parse_cache},
    {"Aborted", parse_signal},
    {"Break reasons:", parse_explain},
    {"Bypassing ", parse_cache},
    {"Bus error", parse_signal},
    {"CppCompileError: C++ compile error", parse_cpp_error},
    {"CUDA used to build PyTorch: ", parse_version},
    {"COMPILING GRAPH due to ", parse_compiling},
    {"Constraints violated", parse_violations},
    {"C++ compile error", parse_cpp_error},
    {"Dynamo produced ", parse_dynamo_produced},
    {"Exception Group Traceback", parse_traceback},
    {"Explanation:", parse_classless},
    {"Floating point exception", parse_signal},
    {"Fatal Python error: ", parse_faulthandler},
    {"FX cache ", parse_cache},
    {"Fatal glibc error: ", parse_heap},
    {"File \"", parse_cut_traceback},
    {"Function", parse_metrics},
    {"Graph Break Count: ", parse_explain},
    {"Graph Count: ", parse_explain},
    {"Graph break", parse_break},
    {"Illegal instruction", parse_signal},
    {"Killed", parse_signal},
    {"LazyTraceHandler: logging to ", parse_path},
    {"Output code written to: ", parse_path},
    {"Output code: ", parse_path},
    {"PyTorch version: ", parse_version},
    {"Python version: ", parse_version},
    {"Program received signal ", parse_native_signal},
    {"Program terminated with signal ", parse_native_signal},
    {"Recompiling function ", parse_recompile},
    {"Specializations unexpectedly required", parse_violations},
    {"Saved standalone repro to ", parse_path},
    {"Segmentation fault", parse_signal},
    {"Specializing ", parse_specializing},
    {"Step ", parse_step},
    {"Traceback (most recent call last):", parse_traceback},
    {"Thread ", parse_thread},
    {"TorchDynamo compilation metrics:", parse_metrics},
    {"Trace/breakpoint trap", parse_signal},
    {"WON'T CONVERT ", parse_wont_convert},
    {"Writing ", parse_path},
    {"[pip3] torch", parse_version},
    {"_compile.", parse_metrics_csv},
    {"corrupted ", parse_heap},
    {"create_unbacked_sym", parse_unbacked},
    {"create_symbol ", parse_symbol},
    {"double free or corruption", parse_heap},
    {"eval ", parse_guard},
    {"free(): ", parse_heap},
    {"fx graph cache ", parse_cache},
    {"invalid fastbin entry", parse_heap},
    {"libc++abi: terminat", parse_terminate},
    {"malloc", parse_heap},
    {"model_", parse_debug_trace},
    {"mremap_chunk(): ", parse_heap},
    {"munmap_chunk(): ", parse_heap},
    {"realloc(): ", parse_heap},
    {"runtime_assert ", parse_guard},
    {"skipping cudagraphs", parse_cudagraph},
    {"set_replacement ", parse_replacement},
    {"tcache_thread_shutdown(): ", parse_heap},
    {"terminate called ", parse_terminate},
    {"torchdynamo hit recompilation cache limit", parse_limit},
    {"torch._dynamo hit config.", parse_limit},
    {"torchdynamo hit config.", parse_limit},
    {"torch version: ", parse_version},
    {"| Traceback (most recent call last):", parse_traceback},
};

/* starts[first[c] .. first[c + 1]) begin with the byte c. */
void log_index_init(uint16_t first[257])
{
	uint16_t i = 0;
	for (unsigned c = 0; c < 256; c++) {
		first[c] = i;
		while (i < ARRAY_LEN(starts) && (unsigned char)starts[i].text[0] == c)
			i++;
	}
	first[256] = i;
}

static uint32_t parse_at(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i));
	if (!line.n)
		return 0;
	const uint16_t *first = b->t->reader->first;
	unsigned char c = (unsigned char)line.p[0];
	for (unsigned k = first[c]; k < first[c + 1]; k++)
		if (slice_starts(line, starts[k].text)) {
			uint32_t n = starts[k].parse(b, i);
			if (n && n != BLOCK_MORE)
				log_rank(b->t, b->rank);
			if (n)
				return n;
		}
	if (!b->head && is_name_start(block_line(b, i).p[0])) {
		uint32_t n = parse_cut_traceback(b, i);
		if (n)
			return n;
	}
	/* Messages of a shell about its children, and of compilers, start with a path. */
	if (!b->record && slice_find(line, ": line ") && !slice_starts(line, "File "))
		return parse_signal(b, i);
	if (!b->record && (c == '/' || slice_find(line, ": error: ")))
		return parse_compiler_line(b, i);
	if (!b->record && slice_find(line, ": malloc.c:")) /* "python3: malloc.c:2617: sysmalloc: Assertion `..." */
		return parse_heap(b, i);
	return 0;
}

/* The lines from i that fit in BLOCK_MAX. */
static uint32_t lines_max(const struct block *b, uint32_t i)
{
	uint32_t n = i;
	while (n < b->n && b->line[n].off + b->line[n].len - b->line[i].off < BLOCK_MAX)
		n++;
	return n > i ? n : i + 1;
}

uint32_t log_scan(struct block *b)
{
	for (uint32_t i = 0; i < b->n;) {
		uint32_t n = parse_at(b, i);
		if (n == BLOCK_MORE) {
			uint32_t max = lines_max(b, i);
			if (max == b->n && !b->final)
				return i;
			struct block whole = *b;
			whole.n = max;
			whole.final = true;
			b->t->long_blocks += max < b->n;
			n = parse_at(&whole, i);
		}
		i += n && n < BLOCK_MORE ? n : 1;
	}
	return b->n;
}
