/* Before a line's text: a launcher's label, a log record's prefix. textlog.h shows them. */
#include "run/textlog/textlog_part.h"

/* Does s look like `form`, where 0 is any digit? */
static bool looks(struct slice s, const char *form)
{
	size_t n = strlen(form);
	if (s.n < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (form[i] == '0' ? !is_digit(s.p[i]) : s.p[i] != form[i])
			return false;
	return true;
}

static size_t digits(struct slice s, size_t i)
{
	size_t n = 0;
	while (i + n < s.n && is_digit(s.p[i + n]))
		n++;
	return n;
}

static uint32_t number(struct slice s, size_t i, size_t n)
{
	uint64_t v = 0;
	return n < 10 && slice_u64(slice_of(s.p + i, n), &v) ? (uint32_t)v : 0;
}

/* "0/0", "!1/2/0_1", "-/-": the text in brackets */
static bool is_compile_id(struct slice s)
{
	if (!s.n || s.n > 64 || !(is_digit(s.p[0]) || s.p[0] == '!' || s.p[0] == '-'))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !strchr("/_!-", s.p[i]))
			return false;
		else if (!s.p[i])
			return false;
	return true;
}

/* "[inside] " at s: the text inside; *used: its length with the brackets. */
static struct slice bracket(struct slice s, size_t max, size_t *used)
{
	*used = 0;
	if (!s.n || s.p[0] != '[')
		return slice_of("", 0);
	const char *end = memchr(s.p, ']', s.n < max ? s.n : max);
	if (!end)
		return slice_of("", 0);
	*used = (size_t)(end - s.p) + 1;
	return slice_of(s.p + 1, *used - 2);
}

static size_t optional_id(struct slice line, size_t i, struct slice *id)
{
	size_t used;
	struct slice in = line.n > i + 1 && line.p[i] == ' ' ? bracket(slice_skip(line, i + 1), 80, &used) : slice_of("", 0);
	if (!in.n || !is_compile_id(in))
		return 0;
	*id = in;
	return used + 1;
}

/* V1121 07:59:23.043000 1234 torch/x.py:915] [0/0] [__artifact] */
static bool glog(struct slice line, struct log_head *h)
{
	size_t i = 1;
	if (looks(slice_skip(line, 1), "00000000 "))
		i += 4;
	if (!looks(slice_skip(line, i), "0000 00:00:00.000000 "))
		return false;
	i += 21;
	size_t n = digits(line, i);
	if (!n || n > 19)
		return false;
	h->pid = number(line, i, n);
	i += n;
	if (i >= line.n || line.p[i] != ' ')
		return false;
	while (i < line.n && line.p[i] == ' ')
		i++;
	struct slice path = slice_skip(line, i);
	const char *end = path.n ? memchr(path.p, ']', path.n > 4096 ? 4096 : path.n) : NULL;
	while (end && !(is_digit(end[-1]) && end > path.p + 2 && (end + 1 == line.p + line.n || end[1] == ' ')))
		end = memchr(end + 1, ']', (size_t)(path.p + path.n - end - 1));
	if (!end)
		return false;
	h->source = slice_upto(path, end);
	h->level = line.p[0];
	h->strict = true;
	i = (size_t)(end + 1 - line.p);
	i += optional_id(line, i, &h->compile);
	size_t used = 0;
	struct slice in = i + 1 < line.n && line.p[i] == ' ' ? bracket(slice_skip(line, i + 1), 80, &used) : slice_of("", 0);
	if (slice_starts(in, "__")) {
		h->artifact = slice_skip(in, 2);
		i += used + 1;
	}
	h->len = i;
	return true;
}

static size_t level_word(struct slice s, char *level)
{
	static const struct {
		const char *word;
		char level;
	} words[] = {{"DEBUG", 'V'}, {"INFO", 'I'}, {"WARNING", 'W'}, {"ERROR", 'E'}, {"CRITICAL", 'C'}};
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (slice_starts(s, words[i].word)) {
			*level = words[i].level;
			return strlen(words[i].word);
		}
	return 0;
}

/* "torch._dynamo.guards.__recompiles: [DEBUG]" at i; its length */
static size_t logger(struct slice line, size_t i, struct log_head *h)
{
	size_t from = i;
	while (i < line.n && (is_name_start(line.p[i]) || is_digit(line.p[i]) || line.p[i] == '.'))
		i++;
	struct slice name = slice_of(line.p + from, i - from);
	if (!slice_chr(name, '.') && !slice_is(name, "torch"))
		return 0;
	size_t n = slice_starts(slice_skip(line, i), ": [") ? level_word(slice_skip(line, i + 3), &h->level) : 0;
	if (!n || i + 3 + n >= line.n || line.p[i + 3 + n] != ']')
		return 0;
	h->source = name;
	const char *last = slice_rchr(name, '.');
	if (last && slice_starts(slice_from(name, last + 1), "__")) {
		h->artifact = slice_from(name, last + 3);
		h->source = slice_upto(name, last);
	}
	return i + 4 + n;
}

/* [2023-11-06 14:54:08,549] [0/0] torch._dynamo.guards: [DEBUG] */
static bool dated(struct slice line, struct log_head *h)
{
	size_t i = 25;
	if (!looks(line, "[0000-00-00 00:00:00,000]"))
		return false;
	i += optional_id(line, i, &h->compile);
	if (i >= line.n || line.p[i] != ' ')
		return false;
	h->len = logger(line, i + 1, h);
	return h->len > 0;
}

/* WARNING:torch._dynamo.convert_frame:text   or   ERROR 06-18 08:08:25 [multiproc_executor.py:522] text */
static bool level_first(struct slice line, struct log_head *h)
{
	size_t i = level_word(line, &h->level), used;
	if (!i || i + 1 >= line.n)
		return false;
	if (line.p[i] == ':') {
		size_t from = ++i;
		while (i < line.n && (is_name_start(line.p[i]) || is_digit(line.p[i]) || line.p[i] == '.'))
			i++;
		if (i == from || i >= line.n || line.p[i] != ':')
			return false;
		h->source = slice_of(line.p + from, i - from);
		h->len = i + 1;
		return true;
	}
	if (!looks(slice_skip(line, i), " 00-00 00:00:00 ["))
		return false;
	struct slice in = bracket(slice_skip(line, i + 16), 200, &used);
	h->source = in;
	h->len = i + 16 + used;
	h->strict = true;
	return used > 0;
}

bool log_head_parse(struct slice line, struct log_head *h)
{
	*h = (struct log_head){.rank = -1};
	if (line.n < 12)
		return false;
	switch (line.p[0]) {
	case 'V': return is_digit(line.p[1]) && glog(line, h);
	case 'I':
	case 'W':
	case 'E':
	case 'C': return is_digit(line.p[1]) ? glog(line, h) : level_first(line, h);
	case 'D': return level_first(line, h);
	case '[': return is_digit(line.p[1]) && dated(line, h);
	case 't': h->len = slice_starts(line, "torch") ? logger(line, 0, h) : 0; return h->len > 0;
	default: return false;
	}
}

/* "[rank0]: ", "[default0]:" */
static size_t label_bracket(struct slice line, int32_t *rank)
{
	size_t used;
	struct slice in = bracket(line, 24, &used);
	size_t n = 0;
	while (n < in.n && is_name_start(in.p[n]))
		n++;
	size_t d = digits(in, n);
	if (!n || !d || d > 6 || n + d != in.n || used >= line.n || line.p[used] != ':')
		return 0;
	*rank = (int32_t)number(in, n, d);
	used++;
	/* torch's exception hook writes a space, torchrun none, before lines that may begin with their own spaces */
	return slice_starts(in, "rank") && used < line.n && line.p[used] == ' ' ? used + 1 : used;
}

/* "2024-01-01T12:34:56.123456789Z " */
static size_t label_time(struct slice line)
{
	size_t i = 19;
	if (!looks(line, "0000-00-00T00:00:00"))
		return 0;
	if (i < line.n && (line.p[i] == '.' || line.p[i] == ','))
		i += 1 + digits(line, i + 1);
	if (i < line.n && line.p[i] == 'Z')
		i++;
	else if (i + 6 <= line.n && (line.p[i] == '+' || line.p[i] == '-') && looks(slice_skip(line, i + 1), "00:00"))
		i += 6;
	return i < line.n && line.p[i] == ' ' ? i + 1 : 0;
}

/* "(RayWorker pid=12) ", "(VllmWorker rank=2 pid=295) " */
static size_t label_ray(struct slice line, int32_t *rank)
{
	const char *end = memchr(line.p, ')', line.n < 80 ? line.n : 80);
	if (!end)
		return 0;
	struct slice in = slice_of(line.p, (size_t)(end - line.p));
	const char *r = slice_find(in, "rank=");
	if (!slice_find(in, "pid=") || end + 1 >= line.p + line.n || end[1] != ' ')
		return 0;
	if (r) {
		size_t i = (size_t)(r + 5 - line.p);
		*rank = (int32_t)number(line, i, digits(line, i));
	}
	return in.n + 2;
}

/* "Nov 21 12:34:56 host prog[123]: " */
static size_t label_journal(struct slice line)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	if (line.n < 20 || line.p[3] != ' ' || !(looks(slice_skip(line, 4), "00 00:00:00 ") || looks(slice_skip(line, 4), " 0 00:00:00 ")))
		return 0;
	unsigned m = 0;
	while (m < 36 && memcmp(months + m, line.p, 3))
		m += 3;
	const char *end = slice_find(slice_of(line.p, line.n < 160 ? line.n : 160), "]: ");
	return m < 36 && end ? (size_t)(end - line.p) + 3 : 0;
}

/* "trainer-1  | " */
static size_t label_compose(struct slice line)
{
	size_t i = 0;
	bool digit = false;
	while (i < line.n && i < 40 && (is_name_start(line.p[i]) || is_digit(line.p[i]) || line.p[i] == '-' || line.p[i] == '.')) {
		digit |= is_digit(line.p[i]) && i && (line.p[i - 1] == '-' || line.p[i - 1] == '_');
		i++;
	}
	size_t name = i;
	while (i < line.n && i < 64 && line.p[i] == ' ')
		i++;
	return digit && i > name && i + 1 < line.n && line.p[i] == '|' && line.p[i + 1] == ' ' ? i + 2 : 0;
}

size_t log_label(struct slice line, int32_t *rank, bool *own)
{
	*own = true;
	if (line.n < 3)
		return 0;
	char c = line.p[0];
	if (c == '[')
		return is_name_start(line.p[1]) ? label_bracket(line, rank) : 0;
	if (c == '(')
		return label_ray(line, rank);
	if (is_digit(c)) {
		size_t n = digits(line, 0);
		if (n <= 5 && n + 2 <= line.n && line.p[n] == ':' && line.p[n + 1] == ' ') {
			*rank = (int32_t)number(line, 0, n);
			return n + 2;
		}
		*own = false;
		return label_time(line);
	}
	if (!is_name_start(c) || c == '_')
		return 0;
	*own = c < 'A' || c > 'Z' || line.p[3 < line.n ? 3 : 0] != ' ';
	size_t n = *own ? 0 : label_journal(line);
	if (n)
		return n;
	*own = true;
	return label_compose(line);
}

size_t log_labels(struct slice line)
{
	int32_t rank;
	bool own;
	size_t at = 0, n;
	for (int i = 0; i < LABELS_MAX && (n = log_label(slice_skip(line, at), &rank, &own)) > 0; i++)
		at += n;
	return at;
}
