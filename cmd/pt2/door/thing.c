#include "door/thing.h"

#include "base/io/mapfile.h"
#include "base/io/window.h"
#include "graph/repro/repro.h"
#include "model/elf/modelso.h"
#include "model/package/package.h"
#include "run/bundle/bundle.h"
#include "run/flight/flight.h"
#include "run/trace/trace.h"
#include "tensor/tensor.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 1 << 16, FOLDER_LOOKS = 4096 };

const char thing_letter[THING_COUNT] = {
#define X(id, letter, name) letter,
    THING_KINDS(X)
#undef X
};
const char *const thing_name[THING_COUNT] = {
#define X(id, letter, name) name,
    THING_KINDS(X)
#undef X
};

const char *const thing_advice[THING_COUNT] = {
    [THING_CHECKPOINT] = "weights without a program: torch.export.save(torch.export.export(model, args), 'model.pt2'), then pt2 model.pt2",
    [THING_ARCHIVE] = "what is in it? unzip -d unpacked {N} && pt2 unpacked",
    [THING_PAGE] = "it is for a browser; the trace that it was made from answers questions: pt2 TRACE",
    [THING_ONNX] = "onnxruntime reads it; here a model comes from torch.export.save or AOTInductor: pt2 MODEL.pt2",
    [THING_SAMPLES] = "it shows where Python was, not what was compiled: pt2 slow -- python app.py; of a process that runs: pt2 top PID",
    [THING_EVENTS] = "they are for Perfetto; the trace that they were made from has more (raw.log beside them): pt2 slow TRACE",
    [THING_KERNEL] = "its nodes and lines are in the code around it: pt2 kernel output_code.py, or pt2 kernel TRACE",
    [THING_PICKLE] = "it is not opened, as that would run it; of a memory snapshot: pytorch.org/memory_viz",
};

/* ---- folders ---- */

static bool has(const char *dir, const char *name)
{
	FREED char *path = xasprintf("%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static bool has_any(const char *dir, const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (has(dir, name[i]))
			return true;
	return false;
}

/* The kind of what lies in a folder, if that says what the folder is. */
static bool tells(const char *path, enum thing_kind *kind)
{
	struct stat st;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (trace_is_log(path))
		*kind = THING_TRACE;
	else if (flight_is_there(path))
		*kind = THING_FLIGHT;
	else
		return false;
	return true;
}

static enum thing_kind look_inside(const char *dir)
{
	static const char *const debug[] = {"torch_compile_debug",  "torchinductor",     "torchdynamo",        "fx_graph_readable.py",
					    "fx_graph_runnable.py", "ir_pre_fusion.txt", "ir_post_fusion.txt", "output_code.py"};
	static const char *const cache[] = {"fxgraph", "aotautograd", "inductor_cache", "torch_compile_cache"};
	struct package pkg;
	enum thing_kind kind = THING_FOLDER;
	if (has(dir, "calls.jsonl"))
		return THING_DUMP;
	if (has(dir, "bundle.json"))
		return THING_RECORD;
	if (has_any(dir, cache, ARRAY_LEN(cache)))
		return THING_CACHE;
	if (has_any(dir, debug, ARRAY_LEN(debug)))
		return THING_DEBUGDIR;
	DIR *d = opendir(dir);
	bool texts = false, debugdir = false;
	int left = FOLDER_LOOKS;
	for (struct dirent *e; d && kind == THING_FOLDER && left-- && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		FREED char *path = xasprintf("%s/%s", dir, e->d_name);
		debugdir |= !strncmp(e->d_name, "run_", 4);
		if (tells(path, &kind))
			break;
		texts |= slice_ends(slice_str(e->d_name), ".log") || slice_ends(slice_str(e->d_name), ".txt");
	}
	if (d)
		closedir(d);
	if (kind != THING_FOLDER)
		return kind;
	if (debugdir)
		return THING_DEBUGDIR;
	if (package_open_exported(&pkg, dir, NULL) == 0 || package_open(&pkg, dir, NULL) == 0) {
		kind = pkg.n ? THING_MODEL : pkg.n_exported ? THING_EXPORTED : THING_FOLDER;
		package_close(&pkg);
	}
	return kind == THING_FOLDER && texts ? THING_TEXT : kind;
}

/* ---- archives and libraries ---- */

static bool holds_tensors(const char *path)
{
	struct tensor_file *f = tensor_file_open(path, NULL);
	if (!f)
		return false;
	tensor_file_close(f);
	return true;
}

/* NAME/data.pkl: torch.save. */
static bool has_pickle(const struct zip *z)
{
	for (size_t i = 0; i < z->n; i++)
		if (slice_ends(z->v[i].name, "/data.pkl"))
			return true;
	return false;
}

static enum thing_kind look_at_archive(const char *path)
{
	struct package pkg;
	struct mapfile map;
	enum thing_kind kind = THING_BYTES, other = THING_BYTES;
	if (mapfile_open(&map, path, NULL) == 0) {
		struct zip z;
		if (zip_open(&z, map.bytes, path, NULL) == 0) {
			if (zip_find(&z, SLICE(BUNDLE_MANIFEST)))
				kind = THING_BUNDLE;
			else
				other = has_pickle(&z) ? THING_CHECKPOINT : THING_ARCHIVE;
			zip_close(&z);
		}
		mapfile_close(&map);
	}
	if (kind == THING_BYTES && package_open_exported(&pkg, path, NULL) == 0) {
		kind = pkg.n ? THING_MODEL : THING_EXPORTED;
		package_close(&pkg);
	}
	if (kind == THING_BYTES && package_open(&pkg, path, NULL) == 0) {
		kind = THING_MODEL;
		package_close(&pkg);
	}
	return kind != THING_BYTES ? kind : holds_tensors(path) ? THING_INPUTS : other;
}

static enum thing_kind look_at_elf(const char *path, uint16_t type)
{
	struct mapfile map;
	struct modelso so;
	enum thing_kind kind = type == ET_EXEC ? THING_EXECUTABLE : THING_LIBRARY;
	if (type == ET_CORE)
		return THING_CORE;
	if (mapfile_open(&map, path, NULL) < 0)
		return kind;
	if (modelso_open(&so, map.bytes, path, NULL) == 0) {
		/* every AOTInductor library since torch 2.1: aoti_runtime/interface.h; of a foreign one only the header is read */
		if (so.header_only || modelso_exports(&so, "AOTInductorModelContainerRun"))
			kind = THING_MODEL;
		modelso_close(&so);
	} else if (type == ET_DYN && slice_has(slice_of(map.bytes.p, map.bytes.n < HEAD ? map.bytes.n : HEAD), "/lib64/ld-linux")) {
		kind = THING_EXECUTABLE;
	}
	mapfile_close(&map);
	return kind;
}

/* ---- texts ---- */

static size_t whole(const char *data, size_t len)
{
	(void)data;
	return len;
}

/* The first 64 KB, decompressed. */
static int head_of(const char *path, struct buf *text, struct err *err)
{
	struct input in;
	struct window w = {0};
	if (input_open(&in, path, err) < 0)
		return -1;
	if (input_next(&in, &w, HEAD, whole) > 0)
		buf_add(text, w.data, w.len < HEAD ? w.len : HEAD);
	int status = in.unread && !text->len ? err_set(err, EXIT_ENVIRON, "cannot read '%s': %s", path, in.lost) : 0;
	window_release(&w);
	input_close(&in);
	return status;
}

/* A word that begins a statement, and what follows it. */
static bool statement(struct slice line, const char *word)
{
	return slice_starts(line, word) && line.n > strlen(word) && (line.p[strlen(word)] == ' ' || line.p[strlen(word)] == '\t');
}

/* The number of triple quotes in a line: an odd number opens or closes a text. */
static unsigned triples(struct slice line)
{
	unsigned n = 0;
	for (size_t i = 0; i + 3 <= line.n; i++)
		if ((line.p[i] == '"' || line.p[i] == '\'') && line.p[i + 1] == line.p[i] && line.p[i + 2] == line.p[i]) {
			n++;
			i += 2;
		}
	return n;
}

/* `name = 1`, `a.b(`, `x: int = 3`, `x[0] += 1`: a name, what belongs to it, and then what makes it a statement. */
static bool assigns_or_calls(struct slice line)
{
	size_t i = 0;
	while (i < line.n && (is_name_char(line.p[i]) || line.p[i] == '.' || line.p[i] == ','))
		i++;
	const struct slice rest = slice_trim(slice_of(line.p + i, line.n - i));
	return i && is_name_start(*line.p) && rest.n && strchr("=([:+-*/|", *rest.p) && (*rest.p != ':' || slice_chr(rest, '='));
}

/* Is it a Python program? It may be run as one, so every line that begins at the left has to be a statement, and one of them an import: a
 * log or a traceback, which quote Python, have others. The last line may be cut. */
static bool is_python(struct slice text)
{
	static const char *const word[] = {"def",   "class",  "if",    "elif",   "for", "with",  "while",
					   "async", "return", "raise", "assert", "del", "print", "global"};
	static const char *const alone[] = {"try:", "else:", "except", "finally:", "pass", "continue", "break", "@",
					    "#",    ")",     "]",      "}",        "\"",   "'",        "r\"",   "\\"};
	struct slice rest = text, line;
	bool imports = false, quoted = false;
	if (slice_starts(text, "#!") && slice_has(slice_first_line(text), "python"))
		return true;
	while (slice_line(&rest, &line)) {
		const bool inside = quoted;
		quoted ^= triples(line) & 1;
		if (inside || !line.n || *line.p == ' ' || *line.p == '\t' || *line.p == '\r')
			continue;
		const bool import = (statement(line, "import") && is_name_start(slice_trim(slice_of(line.p + 6, line.n - 6)).p[0])) ||
				    (statement(line, "from") && slice_has(line, " import "));
		bool known = import || slice_any(line, alone, slice_starts) || assigns_or_calls(line);
		for (size_t i = 0; !known && i < ARRAY_LEN(word); i++)
			known = statement(line, word[i]);
		if ((!known && rest.n) || slice_starts(line, "Traceback (most recent call last)"))
			return false;
		imports |= import;
	}
	return imports;
}

static bool is_graph_json(struct slice s) { return slice_has(s, "\"nodes\"") && (slice_has(s, "\"op\"") || slice_has(s, "\"target\"")); }

static enum thing_kind look_at_json(struct slice s)
{
	if (slice_has(s, "\"traceEvents\"") || slice_has(s, "\"schemaVersion\"") || slice_has(s, "\"deviceProperties\""))
		return THING_PROFILE;
	const struct slice first = slice_of(s.p, s.n < 512 ? s.n : 512); /* a path may come before */
	if (slice_has(first, "\"schema\": \"pt2utils.") || slice_has(first, "\"schema\":\"pt2utils.") || slice_starts(s, "{\"tool\"") ||
	    slice_has(first, "\"version\": \"2.1.0\", \"runs\""))
		return THING_DOCUMENT;
	if (slice_has(s, "\"nbformat\"") || (slice_has(s, "\"cells\"") && slice_has(s, "\"cell_type\"")))
		return THING_NOTEBOOK;
	if (slice_has(s, "speedscope.app/file-format"))
		return THING_SAMPLES;
	return is_graph_json(s) ? THING_GRAPH : THING_TEXT;
}

static enum thing_kind look_at_text(struct slice text)
{
	static const char *const generated[] = {"# AOT ID: [", "from torch._inductor.async_compile import AsyncCompile",
						"async_compile = AsyncCompile()"};
	static const char *const repro[] = {"run_repro(", "torch._dynamo.repro", "load_args._version"};
	struct slice s = slice_trim(text);
	if (slice_starts(s, "{"))
		return look_at_json(s);
	if (slice_starts(s, "[") && slice_has(s, "\"ph\"")) /* torch/_dynamo/utils.py, ChromiumEventLogger */
		return slice_has(s, "\"dynamo_timed\"") ? THING_EVENTS : THING_PROFILE;
	if (slice_starts(s, "<!DOCTYPE html") || slice_starts(s, "<!doctype html") || slice_starts(s, "<html"))
		return THING_PAGE;
	if (slice_has(s, "extern \"C\"") && slice_has(s, " kernel(") && slice_starts(s, "#include") && !slice_has(s, "async_compile"))
		return THING_KERNEL;
	if (slice_any(s, generated, slice_has) && is_python(s))
		return THING_CODE;
	if (slice_any(s, repro, slice_has) && is_python(s))
		return THING_REPRO;
	if (is_python(s)) /* a graph as torch prints it: nothing but a class and its forward() */
		return slice_has(s, "torch.ops.aten.") && slice_has(s, "def forward(self") && !slice_has(s, "torch.compile")
			   ? THING_GRAPH
			   : THING_PROGRAM;
	if (slice_starts(s, "#!/"))
		return THING_SCRIPT;
	if ((slice_starts(s, "class ") || slice_starts(s, "def forward(")) && slice_has(s, "torch.ops.aten.") &&
	    !slice_has(s, "Traceback (most recent"))
		return THING_GRAPH; /* as torch prints it: a class and its forward() */
	return THING_TEXT;
}

/* A pickle is looked into: its name is not to be trusted. */
static bool is_flight(const char *path, struct slice head)
{
	struct flight f;
	if (!slice_starts(head, "\200"))
		return flight_is_there(path);
	const bool is = flight_load(&f, path, NULL) == 0;
	if (is)
		flight_release(&f);
	return is;
}

int thing_look(struct thing *t, const char *path, const char *name, struct err *err)
{
	struct stat st;
	char head[32];
	*t = (struct thing){.path = path, .name = name, .kind = THING_BYTES};
	if (stat(path, &st) < 0)
		return err_errno(err, EXIT_INPUT, "cannot read '%s'", name);
	if (S_ISDIR(st.st_mode)) {
		t->kind = look_inside(path);
		return 0;
	}
	const size_t n = input_head(path, head, sizeof(head));
	const struct slice s = slice_of(head, n);
	if (!n)
		return input_failed_here() ? err_errno(err, EXIT_INPUT, "cannot read '%s'", name)
					   : err_set(err, EXIT_INPUT, "'%s' is empty", name);
	if (n >= EI_NIDENT + 2 && slice_starts(s, ELFMAG)) {
		uint16_t type;
		memcpy(&type, head + EI_NIDENT, sizeof(type));
		t->kind = look_at_elf(path, head[EI_DATA] == ELFDATA2MSB ? (uint16_t)(type >> 8 | type << 8) : type);
	} else if (slice_starts(s, "PK\3\4")) {
		t->kind = look_at_archive(path);
	} else if (is_flight(path, s)) {
		t->kind = THING_FLIGHT;
	} else if (trace_is_log(path)) {
		t->kind = THING_TRACE;
	} else if (holds_tensors(path)) {
		t->kind = THING_INPUTS;
	} else {
		LOCAL_BUF text = {0};
		if (head_of(path, &text, err) < 0)
			return -1;
		if (slice_starts(s, "\200"))
			t->kind = THING_PICKLE;
		else if (slice_starts(s, "\x08") && slice_has(s, "pytorch")) /* ir_version, producer_name */
			t->kind = THING_ONNX;
		else
			t->kind = slice_chr(buf_slice(&text), 0) ? THING_BYTES : look_at_text(buf_slice(&text));
	}
	return 0;
}
