#include "report/redact.h"

#include "base/srcloc.h"

static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_alpha(c) || is_digit(c) || c == '_' || (c & 0x80); }
static bool is_name(char c) { return is_word(c) || c == '-' || c == '.'; }
static bool is_file(char c) { return is_name(c) || (c && strchr("/+@%~#=,", c)); }

static bool one_of(struct slice s, const char *const *list)
{
	for (; *list; list++)
		if (slice_is(s, *list))
			return true;
	return false;
}

static size_t span(struct slice s, bool (*in)(char))
{
	size_t n = 0;
	while (n < s.n && in(s.p[n]))
		n++;
	return n;
}

static struct slice from(struct slice s, size_t i) { return slice_of(s.p + i, s.n - i); }

void redact_user(struct redact *r, struct slice name)
{
	static const char *const common[] = {"root",   "user",    "users", "runner", "ubuntu", "admin",
					     "nobody", "default", "torch", "python", "home",   NULL};
	if (name.n >= 3 && name.n <= 64 && !one_of(name, common))
		intern_add(&r->user, name);
}

void redact_host(struct redact *r, struct slice name)
{
	static const char *const common[] = {"localhost", "localdomain", "debian", "ubuntu", "host", "cpu", "cuda", "torch", NULL};
	if (name.n >= 3 && name.n <= 255 && !one_of(name, common))
		intern_add(&r->host, name);
}

/* The folder of a path that no scan finds the end of by itself: "/data/my disk/venv". */
static void learn_folder(struct redact *r, struct slice path)
{
	const char *slash = slice_rchr(path, '/');
	struct slice folder = slash ? slice_of(path.p, (size_t)(slash - path.p)) : (struct slice){0};
	if (path.n < 1024 && folder.n > 1 && is_name(folder.p[1]) && !slice_chr(folder, '\n') && span(folder, is_file) < folder.n)
		intern_add(&r->folder, folder);
}

static void learn_folders(struct redact *r, struct slice text)
{
	if (text.n && text.p[0] == '/')
		learn_folder(r, text);
	for (size_t i = 0; i + 1 < text.n; i++) {
		if ((text.p[i] != '"' && text.p[i] != '\'') || text.p[i + 1] != '/')
			continue;
		struct slice rest = from(text, i + 1);
		const char *end = slice_chr(slice_of(rest.p, rest.n < 1024 ? rest.n : 1024), text.p[i]);
		if (end)
			learn_folder(r, slice_of(rest.p, (size_t)(end - rest.p)));
	}
}

void redact_learn(struct redact *r, struct slice text)
{
	static const char *const sign[] = {"/home/", "/Users/", "torchinductor_", "\\Users\\"};
	for (size_t k = 0; k < ARRAY_LEN(sign); k++) {
		struct slice rest = text;
		for (const char *p; (p = slice_find(rest, sign[k]));) {
			rest = from(rest, (size_t)(p - rest.p) + strlen(sign[k]));
			redact_user(r, slice_of(rest.p, span(rest, is_name)));
		}
	}
	learn_folders(r, text);
}

static void put(struct buf *b, const char *what, struct intern *t, struct slice text)
{
	buf_addf(b, "<%s%u>", what, intern_add(t, text) + 1);
}

/* ---- paths ---- */

static bool is_tmp(struct slice s)
{
	return slice_starts(s, "/tmp/") || slice_starts(s, "/var/tmp/") || slice_starts(s, "/dev/shm/") ||
	       slice_starts(s, "/var/folders/") || slice_starts(s, "/private/var/") || slice_starts(s, "/run/user/");
}

static void put_path(struct redact *r, struct buf *b, struct slice path, char slash)
{
	struct slice known = srcloc_short_file(path);
	size_t at = path.n;
	if (known.n < path.n) {
		buf_add_slice(b, known);
		return;
	}
	while (at > 1 && path.p[at - 1] != slash)
		at--;
	struct slice dir = slice_of(path.p, at - 1), name = from(path, at);
	put(b, is_tmp(path) ? "tmp" : "path", is_tmp(path) ? &r->tmp : &r->path, dir);
	if (name.n) {
		buf_addc(b, '/');
		redact_add(r, b, name); /* no slash left: recurses once */
	}
}

/* An absolute path at the start of s; its length, 0: none. quote: it ends at this character, blanks and all; else behind a folder that
 * is known, or at the first character that few paths have. */
static size_t path_length(const struct redact *r, struct slice s, char quote)
{
	const char *end = quote ? slice_chr(slice_of(s.p, s.n < 1024 ? s.n : 1024), quote) : NULL;
	size_t n = span(s, is_file);
	for (uint32_t i = 0; i < r->folder.n; i++) {
		struct slice folder = intern_get(&r->folder, i);
		if (folder.n > n && folder.n < s.n && s.p[folder.n] == '/' && !memcmp(s.p, folder.p, folder.n))
			n = folder.n + span(from(s, folder.n), is_file);
	}
	if (end && !memchr(s.p, '\n', (size_t)(end - s.p)))
		n = (size_t)(end - s.p);
	while (end && n && s.p[n - 1] == '\\') /* the quote is of a text in a text: \" */
		n--;
	while (n && (s.p[n - 1] == '.' || s.p[n - 1] == ',' || s.p[n - 1] == '='))
		n--;
	/* At least a directory and a name: /x alone is a division, or not a secret. */
	return n > 2 && s.p[1] != '/' && memchr(s.p + 1, '/', n - 1) ? n : 0;
}

static size_t windows_length(struct slice s)
{
	size_t n = 2;
	if (s.n < 4 || !is_alpha(s.p[0]) || s.p[1] != ':' || s.p[2] != '\\')
		return 0;
	while (n < s.n && (is_name(s.p[n]) || s.p[n] == '\\'))
		n++;
	return n;
}

/* ---- hosts, addresses, secrets ---- */

static bool is_public(struct slice host)
{
	static const char *const known[] = {"pytorch.org",
					    "github.com",
					    "github.io",
					    "githubusercontent.com",
					    "python.org",
					    "google.com",
					    "nvidia.com",
					    "readthedocs.io",
					    "stackoverflow.com",
					    "gnu.org",
					    "llvm.org",
					    "triton-lang.org",
					    NULL};
	for (const char *const *k = known; *k; k++) {
		size_t n = strlen(*k);
		if (slice_ends(host, *k) && (host.n == n || host.p[host.n - n - 1] == '.'))
			return true;
	}
	return false;
}

/* node7.corp.example.com; torch._inductor.exc is a module. */
static bool is_host(struct slice s)
{
	static const char *const end[] = {".com", ".net", ".org", ".edu", ".gov", ".internal", ".corp", ".lan", ".intra", ".cloud", NULL};
	bool known = false;
	for (const char *const *k = end; *k && !known; k++)
		known = slice_ends(s, *k);
	for (size_t i = 0; known && i < s.n; i++)
		known = s.p[i] != '_' && (s.p[i] != '.' || (i && s.p[i - 1] != '.'));
	return known && s.p[0] != '.';
}

static size_t ip4_length(struct slice s)
{
	size_t i = 0;
	for (int part = 0; part < 4; part++) {
		size_t n = 0;
		unsigned v = 0;
		if (part && (i == s.n || s.p[i++] != '.'))
			return 0;
		for (; i < s.n && is_digit(s.p[i]) && n < 4; i++, n++)
			v = v * 10 + (unsigned)(s.p[i] - '0');
		if (!n || n > 3 || v > 255)
			return 0;
	}
	return i < s.n && (is_word(s.p[i]) || (s.p[i] == '.' && i + 1 < s.n && is_digit(s.p[i + 1]))) ? 0 : i;
}

static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_ip6(char c) { return is_hex(c) || c == ':'; }

static size_t ip6_length(struct slice s)
{
	size_t n = span(s, is_ip6), colons = 0, run = 0;
	bool two = false;
	while (n && s.p[n - 1] == ':')
		n--;
	for (size_t i = 0; i < n; i++) {
		run = s.p[i] == ':' ? 0 : run + 1;
		if (run > 4)
			return 0;
		two |= i && s.p[i] == ':' && s.p[i - 1] == ':';
		colons += s.p[i] == ':';
	}
	if (n < s.n && is_word(s.p[n]))
		return 0;
	/* 10:20:30 is a time, at::kFloat is C++ */
	return colons >= 2 && colons <= 7 && (colons == 7 || (two && is_hex(s.p[0]) && span(s, is_hex) >= 2)) ? n : 0;
}

static bool is_secret_char(char c) { return is_alpha(c) || is_digit(c) || c == '_' || c == '-'; }
static bool is_value(char c) { return (unsigned char)c > ' ' && !strchr("\"'`,;)]}<>", c); }

static size_t secret_length(struct slice s)
{
	static const char *const prefix[] = {"ghp_",  "gho_", "ghu_", "ghs_",   "ghr_", "github_pat_", "hf_",  "sk-",    "xoxb-", "xoxp-",
					     "xoxa-", "AKIA", "ASIA", "glpat-", "eyJ",  "pypi-",       "npm_", "wandb_", NULL};
	size_t n = span(s, is_secret_char), digits = 0, upper = 0, lower = 0;
	for (const char *const *k = prefix; *k; k++)
		if (slice_starts(s, *k) && n >= strlen(*k) + 12) {
			while (!strcmp(*k, "eyJ") && n < s.n && s.p[n] == '.') /* a JSON web token has three parts */
				n += 1 + span(from(s, n + 1), is_secret_char);
			return n;
		}
	for (size_t i = 0; i < n; i++) {
		if (s.p[i] == '_' || s.p[i] == '-')
			return 0;
		digits += is_digit(s.p[i]);
		upper += s.p[i] >= 'A' && s.p[i] <= 'Z';
		lower += s.p[i] >= 'a' && s.p[i] <= 'z';
	}
	return n >= 32 && digits >= 3 && upper >= 3 && lower >= 3 ? n : 0; /* cache hashes have only one case */
}

/* HF_TOKEN=..., "api_key": "...", Bearer ...: the length of what precedes the value. */
static size_t key_length(struct slice word, struct slice s)
{
	static const char *const sign[] = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", NULL};
	char upper[64];
	size_t n = word.n;
	if (slice_is(word, "Bearer") && n < s.n && s.p[n] == ' ')
		return n + 1;
	if (!n || n >= sizeof(upper))
		return 0;
	for (size_t i = 0; i < n; i++)
		upper[i] = word.p[i] >= 'a' && word.p[i] <= 'z' ? (char)(word.p[i] - 32) : word.p[i];
	bool known = false;
	for (const char *const *k = sign; *k && !known; k++)
		known = slice_ends(slice_of(upper, n), *k);
	if (!known)
		return 0;
	while (n < s.n && (s.p[n] == '"' || s.p[n] == '\''))
		n++;
	if (n == s.n || (s.p[n] != '=' && s.p[n] != ':'))
		return 0;
	n++;
	while (n < s.n && (s.p[n] == ' ' || s.p[n] == '"' || s.p[n] == '\''))
		n++;
	return n;
}

/* ---- the scan: at the start of a word, what is it? ---- */

/* scheme://user@host:port/... */
static size_t put_url(struct redact *r, struct buf *b, struct slice s)
{
	const char *at = slice_find(slice_of(s.p, s.n < 24 ? s.n : 24), "://");
	size_t scheme = at ? (size_t)(at - s.p) : 0;
	if (!scheme || span(s, is_alpha) != scheme)
		return 0;
	struct slice rest = from(s, scheme + 3);
	size_t n = span(rest, is_value), host_at = 0, end;
	rest.n = n;
	for (size_t i = 0; i < n && rest.p[i] != '/'; i++)
		if (rest.p[i] == '@')
			host_at = i + 1;
	end = host_at + span(from(rest, host_at), is_name);
	struct slice host = slice_of(rest.p + host_at, end - host_at);
	if (!host.n)
		return 0; /* file:///..: the path is next */
	if (is_public(host) && !host_at) {
		buf_add(b, s.p, scheme + 3 + n);
		return scheme + 3 + n;
	}
	buf_add(b, s.p, scheme + 3);
	if (ip4_length(host) == host.n)
		put(b, "ip", &r->ip, host);
	else
		put(b, "host", &r->host, host);
	/* The rest of the URL is left out, too. */
	return scheme + 3 + n;
}

static size_t put_mail(struct redact *r, struct buf *b, struct slice s)
{
	size_t name = span(s, is_name), n;
	if (!name || name == s.n || s.p[name] != '@')
		return 0;
	n = name + 1 + span(from(s, name + 1), is_name);
	while (n && s.p[n - 1] == '.')
		n--;
	if (!is_host(slice_of(s.p + name + 1, n - name - 1)))
		return 0;
	put(b, "mail", &r->mail, slice_of(s.p, n));
	return n;
}

static size_t put_word(struct redact *r, struct buf *b, struct slice s, char before)
{
	static const char cache[] = "torchinductor_";
	size_t n, word = span(s, is_word), name = span(s, is_name);
	struct slice whole = slice_of(s.p, word);
	while (name && (s.p[name - 1] == '.' || s.p[name - 1] == '-'))
		name--;
	if ((n = put_url(r, b, s)) || (n = put_mail(r, b, s)))
		return n;
	if (before != '=' && before != '-' && before != '+' && before != '.' && (n = ip4_length(s)) &&
	    !slice_is(slice_of(s.p, n), "127.0.0.1") && !slice_is(slice_of(s.p, n), "0.0.0.0")) {
		put(b, "ip", &r->ip, slice_of(s.p, n));
		return n;
	}
	if ((n = ip6_length(s))) {
		put(b, "ip", &r->ip, slice_of(s.p, n));
		return n;
	}
	if ((n = key_length(whole, s))) {
		size_t value = span(from(s, n), is_value);
		buf_add(b, s.p, n);
		if (value)
			put(b, "secret", &r->secret, slice_of(s.p + n, value));
		return n + value;
	}
	if ((n = secret_length(s))) {
		put(b, "secret", &r->secret, slice_of(s.p, n));
		return n;
	}
	if (intern_find(&r->user, whole) != NONE) {
		put(b, "user", &r->user, whole);
		return word;
	}
	if (slice_starts(whole, cache) && intern_find(&r->user, from(whole, strlen(cache))) != NONE) { /* the last part of a path, too */
		buf_adds(b, cache);
		put(b, "user", &r->user, from(whole, strlen(cache)));
		return word;
	}
	if (intern_find(&r->host, slice_of(s.p, name)) != NONE || is_host(slice_of(s.p, name))) {
		if (is_public(slice_of(s.p, name)))
			buf_add(b, s.p, name);
		else
			put(b, "host", &r->host, slice_of(s.p, name));
		return name;
	}
	return 0;
}

/* Does a path follow an option of a compiler: -I/home/ann, -L/opt/x? */
static bool behind_option(struct slice text, size_t at)
{
	size_t n = 0;
	while (n < at && is_alpha(text.p[at - 1 - n]))
		n++;
	struct slice word = slice_of(text.p + at - n, n);
	return n && n < at && text.p[at - n - 1] == '-' && (at - n < 2 || !is_word(text.p[at - n - 2])) &&
	       (n == 1 || slice_is(word, "isystem") || slice_is(word, "iquote") || slice_is(word, "idirafter"));
}

void redact_add(struct redact *r, struct buf *b, struct slice text)
{
	char before = '\n';
	for (size_t i = 0, n; i < text.n; i += n) {
		struct slice s = from(text, i);
		bool start = !is_word(before);
		char quote = before == '"' || before == '\'' ? before : 0;
		n = 0;
		if (s.p[0] == '/' && ((start && !strchr(".<>~)]}*?", before)) || behind_option(text, i)) && (n = path_length(r, s, quote)))
			put_path(r, b, slice_of(s.p, n), '/');
		else if (start && (n = windows_length(s)))
			put_path(r, b, slice_of(s.p, n), '\\');
		else if (start && is_word(s.p[0]))
			n = put_word(r, b, s, before);
		if (!n) { /* nothing: skip to the end of this word */
			n = is_word(s.p[0]) ? span(s, is_word) : 1;
			buf_add(b, s.p, n);
		}
		before = s.p[n - 1];
	}
}

void redact_release(struct redact *r)
{
	struct intern *t[] = {&r->path, &r->tmp, &r->folder, &r->user, &r->host, &r->ip, &r->mail, &r->secret};
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		intern_release(t[i]);
	*r = (struct redact){0};
}
