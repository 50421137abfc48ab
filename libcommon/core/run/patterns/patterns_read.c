/* patterns_read.c - reads files ID.pattern. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "run/patterns/patterns_part.h"
#include "base/io/mapfile.h"
#include "base/text.h"

/* ---- match lines ---- */

static bool wild_here(struct slice s, struct slice *name, size_t *len)
{
	*name = pattern_placeholder(s);
	*len = name->n ? name->n + 2 : 1;
	return name->n || (s.n && s.p[0] == '*');
}

/* Bytes that are rare in logs are worth more: a key of rare bytes is rarely checked in vain. */
static unsigned rarity(char c)
{
	if (strchr(" etaoinsrhl._/", c))
		return 1;
	if (c >= 'a' && c <= 'z')
		return 3;
	return c >= '0' && c <= '9' ? 2 : 4;
}

static void choose_key(struct atom *a)
{
	unsigned best = 0;
	for (uint32_t t = 0; t < a->texts; t++)
		for (size_t at = 0; at + ATOM_KEY <= a->text[t].n; at++) {
			unsigned score = 0;
			for (size_t i = 0; i < ATOM_KEY; i++)
				score += rarity(a->text[t].p[at + i]);
			if (score > best) {
				best = score;
				a->anchor = (uint8_t)t;
				a->at = (uint16_t)at;
			}
		}
}

static void take_text(struct patterns *k, struct atom *a, struct buf *b)
{
	a->text[a->texts++] = arena_slice(&k->arena, buf_slice(b));
	a->weight += (uint32_t)b->len;
	buf_reset(b);
}

static const char *parse_pieces(struct patterns *k, struct atom *a, struct slice s, struct buf *b)
{
	struct slice name;
	size_t len;
	for (size_t i = 0; i < s.n; i += len) {
		if (s.p[i] == '\\' && i + 1 < s.n && strchr("{*\\", s.p[i + 1])) {
			buf_addc(b, s.p[i + 1]);
			len = 2;
		} else if (!wild_here(slice_of(s.p + i, s.n - i), &name, &len)) {
			buf_addc(b, s.p[i]);
		} else if (!b->len) {
			return a->texts ? "has two wildcards with no text between them" : "begins with a wildcard; begin with text";
		} else if (a->texts == ATOM_WILDS) {
			return "has too many wildcards; 6 are allowed";
		} else {
			a->name[a->texts] = name.n ? intern_add(&k->names, name) : NONE;
			take_text(k, a, b);
		}
	}
	take_text(k, a, b);
	return NULL;
}

static int atom_parse(struct patterns *k, struct atom *a, struct slice line, const char **why)
{
	LOCAL_BUF b = {0};
	if (line.n > ATOM_TEXT) {
		*why = "is over 1000 bytes long";
		return -1;
	}
	*why = parse_pieces(k, a, line, &b);
	if (*why)
		return -1;
	a->at = UINT16_MAX;
	choose_key(a);
	if (a->at == UINT16_MAX)
		*why = "has no 8 characters of text in a row; quote more of the message";
	return *why ? -1 : 0;
}

/* ---- the file ---- */

struct reader {
	struct patterns *k;
	struct pattern *p;
	const char *file;
	struct slice key; /* empty before the first */
	uint64_t line, key_line;
	struct buf value;
	size_t indent;  /* of an example's first line; SIZE_MAX before it */
	uint32_t blank; /* blank lines of an example that may be its end */
	struct err *err;
};

static int bad_line(struct reader *r, const char *what)
{
	return err_set(r->err, EXIT_INPUT, "%s:%llu: %s", r->file, (unsigned long long)r->key_line, what);
}

static int bad_key(struct reader *r, const char *what)
{
	return err_set(r->err, EXIT_INPUT, "%s:%llu: '%.*s' %s", r->file, (unsigned long long)r->key_line, SLN(r->key, 40), what);
}

static bool is_example(struct slice key) { return slice_is(key, "example") || slice_is(key, "no-example"); }

static void add_slice(struct slices *l, struct slice s) { PUSH_TO(l->item, l->n, l->cap) = s; }

static int take_atom(struct reader *r, enum atom_role role, struct slice value)
{
	struct pattern_private *own = r->p->own;
	struct atom a = {.role = (uint8_t)role};
	const char *why;
	if (atom_parse(r->k, &a, value, &why) < 0)
		return bad_key(r, why);
	if (role == ATOM_AND) {
		if (own->ands == PATTERN_ANDS)
			return bad_key(r, "occurs more than 8 times");
		a.bit = (uint8_t)own->ands++;
		own->weight += a.weight;
	}
	PUSH_TO(own->atom, own->n, own->cap) = a;
	return 0;
}

static int take_component(struct reader *r, struct slice value)
{
	for (int i = COMPONENT_NONE + 1; i < COMPONENTS; i++)
		if (slice_is(value, component_name[i])) {
			r->p->component = (enum component)i;
			return 0;
		}
	return bad_key(
	    r, "is not one of dynamo, aotautograd, inductor, codegen, compiler, runtime, backend, export, load, eager, environment");
}

static int take_level(struct reader *r, struct slice value)
{
	r->p->level = slice_is(value, "error") ? FINDING_ERROR : slice_is(value, "warning") ? FINDING_WARNING : FINDING_NOTE;
	return r->p->level == FINDING_NOTE && !slice_is(value, "note") ? bad_key(r, "is not one of error, warning, note") : 0;
}

static int take_see(struct reader *r, struct slice value)
{
	if (!slice_starts(value, "https://") || slice_chr(value, ' '))
		return bad_key(r, "is not an https:// address");
	add_slice(&r->p->see, value);
	return 0;
}

static int take_over(struct reader *r, struct slice value)
{
	for (size_t i = 0; i < value.n;) {
		size_t end = i;
		while (end < value.n && value.p[end] != ' ' && value.p[end] != ',')
			end++;
		if (end > i)
			add_slice(&r->p->over, slice_of(value.p + i, end - i));
		i = end + 1;
	}
	return 0;
}

static bool kebab(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool word = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9');
		if (!word && (s.p[i] != '-' || !i || i + 1 == s.n || s.p[i - 1] == '-'))
			return false;
	}
	return s.n;
}

static int take_id(struct reader *r, struct slice value)
{
	struct slice name = slice_str(path_base(r->file));
	if (!kebab(value))
		return bad_key(r, "may contain only lower-case letters, digits and single hyphens");
	if (name.n != value.n + strlen(".pattern") || !slice_starts(name, value.p) || !slice_ends(name, ".pattern"))
		return bad_key(r, "is not the file's name without .pattern");
	r->p->id = value;
	return 0;
}

static const struct {
	const char *key;
	size_t at;
	bool list;
} texts[] = {
    {"title", offsetof(struct pattern, title), false},    {"cause", offsetof(struct pattern, cause), false},
    {"check", offsetof(struct pattern, check), false},    {"versions", offsetof(struct pattern, versions), false},
    {"fix", offsetof(struct pattern, fix), true},         {"hint", offsetof(struct pattern, hint), true},
    {"example", offsetof(struct pattern, example), true}, {"no-example", offsetof(struct pattern, counter), true},
};

/* The key's value is complete. */
static int take_value(struct reader *r)
{
	struct slice value = arena_slice(&r->k->arena, slice_of(r->value.p, r->value.len));
	if (!r->key.n)
		return 0;
	if (!value.n)
		return bad_key(r, "has no value");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (slice_is(r->key, texts[i].key)) {
			void *to = (char *)r->p + texts[i].at;
			if (texts[i].list)
				add_slice(to, value);
			else if (((struct slice *)to)->n)
				return bad_key(r, "is duplicated");
			else
				*(struct slice *)to = value;
			return 0;
		}
	if (slice_is(r->key, "id"))
		return r->p->id.n ? bad_key(r, "is duplicated") : take_id(r, value);
	if (slice_is(r->key, "component"))
		return take_component(r, value);
	if (slice_is(r->key, "level"))
		return take_level(r, value);
	if (slice_is(r->key, "match"))
		return take_atom(r, ATOM_MATCH, value);
	if (slice_is(r->key, "and"))
		return take_atom(r, ATOM_AND, value);
	if (slice_is(r->key, "not"))
		return take_atom(r, ATOM_NOT, value);
	if (slice_is(r->key, "see"))
		return take_see(r, value);
	if (slice_is(r->key, "over"))
		return take_over(r, value);
	return bad_key(r, "is not a key of a pattern");
}

static int begin_key(struct reader *r, struct slice line)
{
	const char *colon = slice_chr(line, ':');
	if (take_value(r) < 0)
		return -1;
	r->key_line = r->line;
	if (!colon)
		return bad_line(r, "neither 'key: value' nor indented");
	r->key = slice_of(line.p, (size_t)(colon - line.p));
	struct slice value = slice_trim(slice_of(colon + 1, line.n - r->key.n - 1));
	buf_reset(&r->value);
	buf_add_slice(&r->value, value);
	r->indent = SIZE_MAX;
	r->blank = 0;
	return 0;
}

static void example_line(struct reader *r, struct slice line)
{
	size_t indent = 0;
	while (indent < line.n && (line.p[indent] == ' ' || line.p[indent] == '\t') && indent < r->indent)
		indent++;
	if (r->indent == SIZE_MAX)
		r->indent = indent;
	for (; r->blank && r->value.len; r->blank--)
		buf_addc(&r->value, '\n');
	r->blank = 0;
	if (r->value.len)
		buf_addc(&r->value, '\n');
	buf_add(&r->value, line.p + indent, line.n - indent);
}

static int take_line(struct reader *r, struct slice line)
{
	struct slice text = slice_trim(line);
	if (!text.n) {
		r->blank++;
		return 0;
	}
	if (line.p[0] != ' ' && line.p[0] != '\t')
		return line.p[0] == '#' ? 0 : begin_key(r, line);
	if (!r->key.n) {
		r->key_line = r->line;
		return bad_line(r, "indented, with no key before it");
	}
	if (is_example(r->key)) {
		example_line(r, line);
	} else {
		if (r->value.len)
			buf_addc(&r->value, ' ');
		buf_add_slice(&r->value, text);
	}
	return 0;
}

/* ---- the whole ---- */

static bool has_name(const struct atom *a, uint32_t name)
{
	for (uint32_t i = 0; i + 1 < a->texts; i++)
		if (a->name[i] == name)
			return true;
	return false;
}

static bool is_captured(const struct reader *r, struct slice name)
{
	const struct pattern_private *own = r->p->own;
	uint32_t id = intern_find(&r->k->names, name);
	bool every = true;
	for (uint32_t i = 0; i < own->n; i++) {
		bool has = id != NONE && has_name(&own->atom[i], id);
		if (has && own->atom[i].role == ATOM_AND)
			return true;
		every &= has || own->atom[i].role != ATOM_MATCH;
	}
	return every;
}

static int check_names(struct reader *r, const char *key, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		struct slice name = pattern_placeholder(slice_of(text.p + i, text.n - i));
		if (name.n && !is_captured(r, name))
			return err_set(r->err, EXIT_INPUT, "%s: %s: {%.*s} is not in every match line, nor in an 'and' line", r->file, key,
				       SL(name));
	}
	return 0;
}

static int check_captures(struct reader *r)
{
	const struct pattern_private *own = r->p->own;
	uint32_t most = 0, ands = 0;
	for (uint32_t i = 0; i < own->n; i++) {
		uint32_t n = 0;
		for (uint32_t j = 0; j + 1 < own->atom[i].texts; j++)
			n += own->atom[i].name[j] != NONE;
		if (own->atom[i].role == ATOM_AND)
			ands += n;
		else if (own->atom[i].role == ATOM_MATCH && n > most)
			most = n;
	}
	if (most + ands > PATTERN_CAPTURES)
		return err_set(r->err, EXIT_INPUT, "%s: over %d captures; write * for unused ones", r->file, PATTERN_CAPTURES);
	return 0;
}

static int check_whole(struct reader *r)
{
	const struct pattern *p = r->p;
	bool match = false;
	for (uint32_t i = 0; i < p->own->n; i++)
		match |= p->own->atom[i].role == ATOM_MATCH;
	const char *lacks = !p->id.n                  ? "id"
			    : !p->title.n             ? "title"
			    : !p->component           ? "component"
			    : (int)p->level < 0       ? "level"
			    : !match                  ? "match"
			    : !p->cause.n             ? "cause"
			    : !p->check.n             ? "check"
			    : !(p->fix.n + p->hint.n) ? "fix:' or 'hint"
			    : !p->see.n               ? "see"
			    : !p->example.n           ? "example"
						      : NULL;
	if (lacks)
		return err_set(r->err, EXIT_INPUT, "%s: has no '%s:'", r->file, lacks);
	if (check_captures(r) < 0 || check_names(r, "title", p->title) < 0 || check_names(r, "cause", p->cause) < 0 ||
	    check_names(r, "check", p->check) < 0)
		return -1;
	for (uint32_t i = 0; i < p->fix.n; i++)
		if (check_names(r, "fix", p->fix.item[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < p->hint.n; i++)
		if (check_names(r, "hint", p->hint.item[i]) < 0)
			return -1;
	return 0;
}

static int read_pattern(struct reader *r, struct slice text)
{
	struct slice line;
	if (text.n > PATTERN_FILE_MAX)
		return err_set(r->err, EXIT_INPUT, "%s: over %d KiB, too large for a pattern", r->file, PATTERN_FILE_MAX >> 10);
	while (slice_line(&text, &line)) {
		r->line++;
		if (take_line(r, line) < 0)
			return -1;
	}
	return take_value(r) < 0 ? -1 : check_whole(r);
}

int patterns_add_text(struct patterns *k, const char *name, struct slice text, struct err *err)
{
	struct pattern p = {.level = (enum finding_level) - 1, .own = xcalloc(1, sizeof(*p.own))};
	struct reader r = {.k = k, .p = &p, .file = name, .err = err};
	p.own->file = xstrdup(name);
	int e = read_pattern(&r, text);
	buf_release(&r.value);
	if (!e && k->n == PATTERN_MAX)
		e = err_set(err, EXIT_INPUT, "%s: over %d patterns", name, PATTERN_MAX);
	if (e) {
		pattern_release(&p);
		return -1;
	}
	patterns_forget_index(k);
	struct pattern *same = (struct pattern *)patterns_find(k, p.id);
	if (same) {
		pattern_release(same);
	} else {
		same = &PUSH_TO(k->item, k->n, k->cap);
	}
	*same = p;
	return 0;
}

/* ---- a folder of them ---- */

static int visible(const struct dirent *e) { return e->d_name[0] != '.' && slice_ends(slice_str(e->d_name), ".pattern"); }

static int add_file(struct patterns *k, int fd, const char *dir, const char *name, struct err *err)
{
	FREED char *shown = xasprintf("%s/%s", dir, name);
	OWNED(mapfile_close) struct mapfile f = {0};
	int r = mapfile_openat(&f, fd, name, shown, err);
	if (!r)
		r = patterns_add_text(k, shown, f.bytes, err);
	return r;
}

int patterns_add_dir(struct patterns *k, const char *dir, struct err *err)
{
	struct dirent **name;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, EXIT_INPUT, "cannot open the pattern directory '%s'", dir);
	int n = scandirat(fd, ".", &name, visible, alphasort), r = 0;
	if (n < 0)
		r = err_errno(err, EXIT_INPUT, "cannot read the pattern directory '%s'", dir);
	for (int i = 0; i < n; i++) {
		if (!r)
			r = add_file(k, fd, dir, name[i]->d_name, err);
		free(name[i]);
	}
	if (n >= 0)
		free(name);
	close(fd);
	return r;
}
