#include "base/srcloc.h"
#include "base/json.h"

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* An empty slice's p may be NULL, to which not even 0 may be added. */
static struct slice cut(struct slice s, size_t from) { return from ? slice_of(s.p + from, s.n - from) : s; }

/* Digits at s[i]; *end is behind them. False if there are none or they do not fit. */
static bool number(struct slice s, size_t i, uint32_t *out, size_t *end)
{
	uint64_t v = 0;
	size_t j = i;
	for (; j < s.n && is_digit(s.p[j]); j++)
		if ((v = v * 10 + (uint64_t)(s.p[j] - '0')) > UINT32_MAX)
			return false;
	*out = (uint32_t)v;
	*end = j;
	return j > i;
}

static bool starts_at(struct slice s, size_t i, const char *what) { return i <= s.n && slice_starts(cut(s, i), what); }

static size_t find_from(struct slice s, size_t i, const char *what)
{
	const char *p = i <= s.n ? slice_find(cut(s, i), what) : NULL;
	return p ? (size_t)(p - s.p) : SIZE_MAX;
}

/* File "x", line 5, in f */
static bool parse_python(struct slice s, struct srcloc *out)
{
	size_t q;
	/* A start before a rejected q would find the same q again: the next search starts after it. */
	for (size_t at = find_from(s, 0, "File \""); at != SIZE_MAX; at = find_from(s, q, "File \"")) {
		size_t name = at + strlen("File \""), end;
		q = find_from(s, name, "\", line ");
		if (q == SIZE_MAX)
			return false; /* nor has any later start one */
		uint32_t line;
		if (q == name || !number(s, q + strlen("\", line "), &line, &end))
			continue;
		*out = (struct srcloc){.file = slice_of(s.p + name, q - name), .line = line, .form = SRCLOC_PYTHON};
		if (starts_at(s, end, ", in "))
			out->func = slice_trim(cut(s, end + strlen(", in ")));
		return true;
	}
	return false;
}

/* # File: x:5 in f, code: y */
static bool parse_fx(struct slice s, struct srcloc *out)
{
	size_t at = find_from(s, 0, "# File: ");
	if (at == SIZE_MAX)
		return false;
	s = slice_trim(cut(s, at + strlen("# File: ")));
	for (size_t i = 1; i < s.n; i++) {
		uint32_t line;
		size_t end;
		if (s.p[i] != ':' || !number(s, i + 1, &line, &end))
			continue;
		bool in = starts_at(s, end, " in "), code = starts_at(s, end, ", code:");
		if (!in && !code && end != s.n)
			continue;
		*out = (struct srcloc){.file = slice_of(s.p, i), .line = line, .form = SRCLOC_FX};
		struct slice tail = cut(s, end);
		size_t c = find_from(tail, 0, ", code:");
		if (in)
			out->func = slice_trim(slice_of(tail.p + 4, (c == SIZE_MAX || c < 4 ? tail.n : c) - 4));
		if (c != SIZE_MAX)
			out->code = slice_trim(cut(tail, c + strlen(", code:")));
		return true;
	}
	return false;
}

static const char *const severities[] = {"fatal error", "error", "warning", "note", "remark"};

/* `: error: message` at s[i] */
static bool severity_at(struct slice s, size_t i, struct srcloc *out)
{
	if (!starts_at(s, i, ": "))
		return false;
	for (size_t k = 0; k < ARRAY_LEN(severities); k++) {
		size_t n = strlen(severities[k]);
		if (!starts_at(s, i + 2, severities[k]) || i + 2 + n >= s.n || s.p[i + 2 + n] != ':')
			continue;
		out->severity = slice_of(s.p + i + 2, n);
		out->message = cut(s, i + 3 + n); /* trimmed once selected */
		return true;
	}
	return false;
}

static bool ends_name(char c)
{
	return is_space(c) || c == '(' || c == '[' || c == '{' || c == '\'' || c == '"' || c == '`' || c == ',' || c == ';' || c == '=' ||
	       c == '|';
}

static bool has_letter(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z')
			return true;
	return false;
}

/* Does it look like a file, rather than a clock, a host or a key? */
static bool file_like(struct slice f)
{
	if (!f.n)
		return false;
	if (f.p[0] == '<')
		return f.n > 2 && slice_chr(f, '>');
	bool slash = false;
	for (size_t i = 0; i < f.n; i++) {
		slash |= f.p[i] == '/' || f.p[i] == '\\';
		if (f.p[i] == '/' && i + 1 < f.n && f.p[i + 1] == '/' && i && f.p[i - 1] == ':')
			return false; /* https://host:80 */
	}
	if (!has_letter(f))
		return false;
	if (slash)
		return f.p[f.n - 1] != '/';
	/* A name and an extension of one to four letters: m.py, but neither example.com:80's nor 3.5's. */
	size_t dot = f.n;
	while (dot && f.p[dot - 1] != '.')
		dot--;
	if (dot < 2 || dot == f.n || f.n - dot > 4)
		return false;
	struct slice ext = cut(f, dot);
	static const char *const known[] = {"py",  "pyx", "pyi", "c",   "cc",   "cpp", "cxx", "h", "hh",
					    "hpp", "cu",  "cuh", "inc", "ttir", "ptx", "s",   "S", "hip"};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (slice_is(ext, known[i]))
			return true;
	return false;
}

/* The file whose name ends before s[colon]. A name does not reach back before `from`. */
static struct slice file_before(struct slice s, size_t from, size_t colon)
{
	size_t b = colon;
	if (b > from && s.p[b - 1] == '"') {
		/* "k.py":18:24 */
		size_t q = b - 1;
		while (q > from && s.p[q - 1] != '"')
			q--;
		return q > from ? slice_of(s.p + q, b - 1 - q) : slice_of(s.p, 0);
	}
	if (b > from && s.p[b - 1] == '>') {
		/* <ipython-input-1, cell 2> */
		size_t q = b;
		while (q > from && s.p[q - 1] != '<')
			q--;
		return q > from ? slice_of(s.p + q - 1, b - q + 1) : slice_of(s.p, 0);
	}
	while (b > from && !ends_name(s.p[b - 1]))
		b--;
	return slice_of(s.p + b, colon - b);
}

/* The end of a function's name at s[i]: an identifier with dots and <...>, as Python's co_qualname has it. */
static size_t func_end(struct slice s, size_t i)
{
	size_t j = i;
	while (j < s.n) {
		unsigned char c = (unsigned char)s.p[j];
		if (c == '<') {
			size_t k = j + 1;
			while (k < s.n && s.p[k] != '>' && s.p[k] != ' ')
				k++;
			if (k == s.n || s.p[k] != '>')
				break;
			j = k + 1;
		} else if ((c | 32) >= 'a' && (c | 32) <= 'z') {
			j++;
		} else if (is_digit((char)c) || c == '_' || c == '.' || c >= 0x80) {
			j++;
		} else {
			break;
		}
	}
	while (j > i && s.p[j - 1] == '.')
		j--; /* the end of a sentence */
	return j;
}

/* Everything that is a file, a colon and a number: compiler messages, "x.py:5 in f", "x.py:5". */
static bool parse_colon(struct slice s, struct srcloc *out)
{
	size_t from = 0, lead = 0;
	while (lead < s.n && is_space(s.p[lead]))
		lead++;
	for (size_t i = 0; i < s.n; i++) {
		uint32_t line, col = 0;
		size_t end, after;
		if (s.p[i] != ':' || !number(s, i + 1, &line, &end))
			continue;
		struct srcloc at = {.line = line};
		if (end < s.n && s.p[end] == ':' && number(s, end + 1, &col, &after)) {
			at.col = col;
			end = after;
		}
		bool says = severity_at(s, end, &at);
		at.file = file_before(s, from, i);
		if (says) {
			/* The whole start of the line is the name if it is a path: it may contain spaces. */
			struct slice all = i > lead ? slice_of(s.p + lead, i - lead) : slice_of(s.p, 0);
			if (all.n && (all.p[0] == '/' || (all.n > 2 && all.p[1] == ':' && (all.p[2] == '\\' || all.p[2] == '/'))))
				at.file = all;
			at.form = SRCLOC_COMPILER;
		}
		/* A character that follows a line number is never part of a name: "m.py:5x", "1.2.3:4a". */
		bool stops = end == s.n || !(((s.p[end] | 32) >= 'a' && (s.p[end] | 32) <= 'z') || s.p[end] == '_');
		if (!stops || !(file_like(at.file) || (says && has_letter(at.file)))) {
			/* Names are searched for from here on, so that a long line of colons stays linear. */
			from = i + 1;
			i = end - 1;
			continue;
		}
		if (!says && starts_at(s, end, " in ")) {
			size_t f = end + 4, e = func_end(s, f);
			if (e > f) {
				at.func = slice_of(s.p + f, e - f);
				at.form = SRCLOC_AT;
			}
		}
		at.message = slice_trim(at.message);
		*out = at;
		return true;
	}
	return false;
}

bool srcloc_parse(struct slice line, struct srcloc *out)
{
	while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
		line.n--;
	return parse_python(line, out) || parse_fx(line, out) || parse_colon(line, out);
}

/* A line of only carets and tildes under a line of code. */
static bool is_marker(struct slice s)
{
	s = slice_trim(s);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '^' && s.p[i] != '~' && s.p[i] != ' ')
			return false;
	return s.n > 0;
}

static size_t indent_of(struct slice s)
{
	size_t i = 0;
	while (i < s.n && is_space(s.p[i]))
		i++;
	return i;
}

bool srcloc_next(struct slice *rest, struct srcloc *out)
{
	struct slice line;
	while (slice_line(rest, &line)) {
		if (!srcloc_parse(line, out))
			continue;
		if (out->form != SRCLOC_PYTHON)
			return true;
		/* The code is the next line, if it is indented deeper than this one and is not a frame itself. */
		struct slice after = *rest, code;
		struct srcloc other;
		if (slice_line(&after, &code) && indent_of(code) > indent_of(line) && slice_trim(code).n && !is_marker(code) &&
		    !parse_python(code, &other)) {
			out->code = slice_trim(code);
			*rest = after;
			struct slice mark;
			if (slice_line(&after, &mark) && is_marker(mark))
				*rest = after;
		}
		return true;
	}
	return false;
}

void srcloc_format(struct buf *b, const struct srcloc *at, enum srcloc_form form, bool short_file)
{
	struct slice file = short_file ? srcloc_short_file(at->file) : at->file;
	if (form == SRCLOC_PYTHON) {
		buf_adds(b, "File \"");
		buf_add_slice(b, file);
		buf_addf(b, "\", line %u", at->line);
		if (at->func.n) {
			buf_adds(b, ", in ");
			buf_add_slice(b, at->func);
		}
		if (at->code.n) {
			buf_adds(b, "\n  ");
			buf_add_slice(b, at->code);
		}
		return;
	}
	if (form == SRCLOC_FX)
		buf_adds(b, "# File: ");
	buf_add_slice(b, file);
	if (at->line)
		buf_addf(b, ":%u", at->line);
	if (at->line && at->col && (form == SRCLOC_COMPILER || form == SRCLOC_PLAIN))
		buf_addf(b, ":%u", at->col);
	if (form == SRCLOC_COMPILER && at->severity.n) {
		buf_adds(b, ": ");
		buf_add_slice(b, at->severity);
		buf_adds(b, ": ");
		buf_add_slice(b, at->message);
	}
	if ((form == SRCLOC_AT || form == SRCLOC_FX) && at->func.n) {
		buf_adds(b, " in ");
		buf_add_slice(b, at->func);
	}
	if (form == SRCLOC_FX && at->code.n) {
		buf_adds(b, ", code: ");
		buf_add_slice(b, at->code);
	}
}

void srcloc_json(struct json_out *o, const struct srcloc *at)
{
	if (!at || !at->file.n) {
		json_out_null(o);
		return;
	}
	json_obj(o);
	json_fields(o, *at, file, line);
	json_member(o, "function", at->func);
	json_member(o, "code", at->code);
	json_close(o);
}

struct srcloc srcloc_copy(struct arena *a, const struct srcloc *at)
{
	struct srcloc c = *at;
	struct slice *parts[] = {&c.file, &c.func, &c.code, &c.severity, &c.message};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i]->n)
			*parts[i] = arena_slice(a, *parts[i]);
		else
			*parts[i] = (struct slice){"", 0};
	return c;
}

int srcloc_cmp(const struct srcloc *a, const struct srcloc *b)
{
	int d = slice_cmp(a->file, b->file);
	if (!d)
		d = (a->line > b->line) - (a->line < b->line);
	if (!d)
		d = (a->col > b->col) - (a->col < b->col);
	return d ? d : slice_cmp(a->func, b->func);
}

/* Names of files */

/* The position after the last `what` in s, or SIZE_MAX. */
static size_t behind_last(struct slice s, const char *what)
{
	size_t n = strlen(what);
	for (size_t i = s.n; i >= n && n; i--)
		if (!memcmp(s.p + i - n, what, n))
			return i;
	return SIZE_MAX;
}

/* Paths that are surely torch's own, to distinguish them from a user's directory named torch. */
static bool torch_inside(struct slice s)
{
	static const char *const parts[] = {
	    "_dynamo/",
	    "_inductor/",
	    "_functorch/",
	    "_export/",
	    "_higher_order_ops/",
	    "_subclasses/",
	    "_library/",
	    "_logging/",
	    "_prims/",
	    "_prims_common/",
	    "_refs/",
	    "_decomp/",
	    "_guards.py",
	    "_ops.py",
	    "_tensor.py",
	    "_compile.py",
	    "_utils_internal.py",
	    "_jit_internal.py",
	    "_meta_registrations.py",
	    "_numpy/",
	    "fx/",
	    "nn/modules/",
	    "nn/functional.py",
	    "nn/parallel/",
	    "autograd/",
	    "optim/",
	    "export/",
	    "functional.py",
	    "overrides.py",
	    "distributed/",
	    "utils/_",
	    "utils/checkpoint.py",
	    "testing/_internal/",
	    "ao/quantization/",
	    "csrc/",
	};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (slice_starts(s, parts[i]))
			return true;
	return false;
}

/* The position of "torch/" in a checkout's path, or SIZE_MAX. */
static size_t checkout(struct slice file)
{
	for (size_t i = find_from(file, 0, "/torch/"); i != SIZE_MAX; i = find_from(file, i + 1, "/torch/"))
		if (torch_inside(cut(file, i + strlen("/torch/"))))
			return i + 1;
	return SIZE_MAX;
}

static size_t installed(struct slice file)
{
	size_t i = behind_last(file, "/site-packages/");
	return i == SIZE_MAX ? behind_last(file, "/dist-packages/") : i;
}

/* After the packer's directory: a#link-tree/ or 1-seed-nspid402_cgpid1/. */
static size_t packed(struct slice file)
{
	size_t i = behind_last(file, "#link-tree/");
	if (i != SIZE_MAX)
		return i;
	i = find_from(file, 0, "-seed-nspid");
	if (i == SIZE_MAX)
		return i;
	size_t slash = find_from(file, i, "/");
	return slash == SIZE_MAX ? slash : slash + 1;
}

/* "C:\\app\\Lib\\site-packages\\torch\\x.py" with slashes, of the same length, in room; other names as they are. */
enum { WINDOWS_PATH = 1024 };
static struct slice with_slashes(struct slice file, char room[WINDOWS_PATH])
{
	if (file.n > WINDOWS_PATH || !slice_chr(file, '\\') || slice_chr(file, '/'))
		return file;
	for (size_t i = 0; i < file.n; i++)
		room[i] = file.p[i] == '\\' ? '/' : file.p[i];
	return slice_of(room, file.n);
}

struct slice srcloc_short_file(struct slice file)
{
	char room[WINDOWS_PATH];
	struct slice s = with_slashes(file, room);
	size_t i = packed(s);
	if (i == SIZE_MAX)
		i = installed(s);
	if (i == SIZE_MAX)
		i = checkout(s);
	return i == SIZE_MAX || i == file.n ? file : cut(file, i);
}

bool srcloc_file_ends(struct slice file, struct slice end)
{
	return end.n && file.n >= end.n && !memcmp(file.p + file.n - end.n, end.p, end.n) &&
	       (file.n == end.n || file.p[file.n - end.n - 1] == '/' || slice_chr(end, '/'));
}

static bool is_stdlib(struct slice file)
{
	/* .../lib/python3.11/contextlib.py; a virtual environment's bin or share is not below lib/pythonX. */
	for (size_t i = find_from(file, 0, "/python"); i != SIZE_MAX; i = find_from(file, i + 1, "/python")) {
		size_t j = i + strlen("/python");
		while (j < file.n && (is_digit(file.p[j]) || file.p[j] == '.' || file.p[j] == 't'))
			j++;
		bool lib = i >= 4 && (!memcmp(file.p + i - 4, "/lib", 4) || (i >= 6 && !memcmp(file.p + i - 6, "/lib64", 6)));
		if (lib && j > i + strlen("/python") && j < file.n && file.p[j] == '/')
			return true;
	}
	/* C:/Users/me/AppData/Local/Programs/Python/Python311/Lib/threading.py */
	size_t lib = find_from(file, 0, "/Lib/");
	size_t name = find_from(file, 0, "Python3");
	return file.n > 2 && file.p[1] == ':' && lib != SIZE_MAX && name != SIZE_MAX && name < lib;
}

/* torch._inductor.codecache: CACHE/fl/cfl37fx3g2ziiy5xwbhd33tzz2ivhjmns2ukqxwh6oo2kmvq6jfj.py, "c" and a hash in base 32, in a directory
 * named by the hash's first two characters; wherever TORCHINDUCTOR_CACHE_DIR is. */
static bool is_cached(struct slice file)
{
	const char *slash = slice_rchr(file, '/');
	size_t n = 0;
	if (!slash || slash - file.p < 3 || slash[-3] != '/')
		return false;
	struct slice name = slice_of(slash + 1, (size_t)(file.p + file.n - slash - 1));
	while (n < name.n && ((name.p[n] >= 'a' && name.p[n] <= 'z') || (name.p[n] >= '2' && name.p[n] <= '7')))
		n++;
	return n >= 40 && name.p[0] == 'c' && !memcmp(name.p + 1, slash - 2, 2);
}

bool (*srcloc_is_installed)(struct slice folder, struct slice name);

/* /opt/site/pydantic/main.py: "pydantic" is installed in /opt/site. Also /opt/site/six.py. */
static bool beside_dist_info(struct slice file)
{
	for (size_t i = 1, slash = 0; srcloc_is_installed && file.p[0] == '/' && i <= file.n; i++) {
		if (i < file.n && file.p[i] != '/')
			continue;
		struct slice name = slice_of(file.p + slash + 1, i - slash - 1);
		if (i == file.n && slice_ends(name, ".py"))
			name.n -= 3;
		if (slash && name.n && srcloc_is_installed(slice_of(file.p, slash), name))
			return true;
		slash = i;
	}
	return false;
}

enum srcloc_origin srcloc_origin(struct slice file)
{
	static const char *const ours[] = {"torch/", "torchgen/", "functorch/", "triton/"};
	static const char *const native[] = {"aten/src/ATen/", "torch/csrc/", "c10/core/", "c10/util/", "c10/cuda/"};
	/* Directories written by Inductor, Triton and torch.compile's debug mode. */
	static const char *const written[] = {"/torchinductor_", "/torch_compile_debug/", "/.triton/cache/", "/torchinductor/",
					      "/aotinductor/"};
	if (slice_starts(file, "<ipython-input-") || slice_starts(file, "<command-")) /* cells of older IPython, and of Databricks */
		return SRCLOC_USER;
	if (file.n && file.p[0] == '<')
		return SRCLOC_GENERATED;
	char room[WINDOWS_PATH];
	file = with_slashes(file, room);
	struct slice up = slice_starts(file, "../") ? cut(file, 3) : file;
	if (slice_any(up, native, slice_starts) || slice_find(up, "/aten/src/ATen/"))
		return SRCLOC_TORCH;
	size_t i = packed(file), k = installed(file);
	bool package = k != SIZE_MAX && (i == SIZE_MAX || k > i);
	struct slice inside = package ? cut(file, k) : i != SIZE_MAX ? cut(file, i) : file;
	/* A relative name is torch's only if it starts with torch: short names come back here, and a user's own
	 * triton/ folder is not unusual. */
	for (size_t n = 0; n < (package || i != SIZE_MAX ? ARRAY_LEN(ours) : 1); n++)
		if (slice_starts(inside, ours[n]))
			return SRCLOC_TORCH;
	for (size_t n = 0; n < ARRAY_LEN(written); n++)
		if (slice_find(file, written[n]) || slice_starts(file, written[n] + 1))
			return SRCLOC_GENERATED;
	if (is_cached(file))
		return SRCLOC_GENERATED;
	if (package)
		return SRCLOC_PACKAGE;
	/* torch's own messages shorten names to a directory and a file: _dynamo/utils.py. */
	if (checkout(file) != SIZE_MAX || (file.n && file.p[0] == '_' && torch_inside(file)))
		return SRCLOC_TORCH;
	if (is_stdlib(file))
		return SRCLOC_STDLIB;
	return file.n && beside_dist_info(file) ? SRCLOC_PACKAGE : SRCLOC_USER;
}
