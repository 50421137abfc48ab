/* paths.c - the files that artifacts become: makes names from a log safe. */
#include "run/text.h"
#include "run/trace/trace.h"

enum { COMPONENT_MAX = 200, PATH_LIMIT = 1000 };

/* A directory with such a name could be another record's file. */
static bool like_a_file(struct slice part) { return slice_ends(part, ".txt") || slice_ends(part, ".html") || slice_ends(part, ".json"); }

bool trace_safe_path(struct slice name, struct buf *out)
{
	bool changed = false;
	size_t start = out->len;
	while (name.n) {
		const char *slash = slice_chr(name, '/');
		struct slice part = slice_of(name.p, slash ? (size_t)(slash - name.p) : name.n);
		name = slice_of(name.p + part.n + (slash != NULL), name.n - part.n - (slash != NULL));
		if (!part.n || slice_is(part, ".")) {
			changed |= out->len == start || part.n; /* absolute, or "./" */
			continue;
		}
		if (out->len - start + part.n > PATH_LIMIT && out->len > start) {
			buf_addf(out, "/~%016llx", (unsigned long long)hash_bytes(part.p, (size_t)(name.p + name.n - part.p)));
			return true;
		}
		if (out->len > start)
			buf_addc(out, '/');
		if (slice_is(part, "..")) {
			changed = true;
			buf_addc(out, '_');
			continue;
		}
		size_t n = part.n;
		if (n > COMPONENT_MAX) {
			changed = true;
			for (n = COMPONENT_MAX - 17; n > 1 && ((unsigned char)part.p[n] & 0xc0) == 0x80; n--)
				;
		}
		for (size_t i = 0, len; i < n; i += len) {
			for (len = 0; i + len < n && part.p[i + len] >= ' ' && part.p[i + len] < 0x7f;)
				len++;
			if (len) {
				buf_add(out, part.p + i, len);
				continue;
			}
			size_t drives = text_drives(part.p + i, part.n - i);
			len = drives ? drives : utf8_len(part.p + i, part.n - i);
			len = len && len <= n - i ? len : 1;
			changed |= drives > 0;
			if (drives)
				buf_addc(out, '_');
			else
				buf_add(out, part.p + i, len);
		}
		if (n < part.n)
			buf_addf(out, "~%016llx", (unsigned long long)hash_bytes(part.p, part.n));
		else if (slash && like_a_file(part)) {
			changed = true;
			buf_addc(out, '_');
		}
	}
	if (out->len == start) {
		changed = true;
		buf_addc(out, '_');
	}
	return changed;
}

void trace_artifact_path(const struct trace *t, const struct trace_artifact *a, bool readable, struct buf *out)
{
	struct compile_id id = t->f->attempt[a->attempt].id;
	char dir[COMPILE_ID_TEXT];
	if (a->flags & ART_GLOBAL) {
		buf_adds(out, "dump_file");
	} else if (id.bad_line) {
		buf_addf(out, "unknown_%llu", (unsigned long long)a->line);
	} else {
		if (a->flags & ART_NO_ATTEMPT)
			id.attempt = -1;
		buf_adds(out, compile_id_dir(&id, dir));
	}
	buf_addc(out, '/');
	if (a->subgraph != NONE && !(a->flags & ART_GLOBAL)) {
		trace_safe_path(intern_get(&t->f->names, a->subgraph), out);
		buf_addc(out, '/');
	}
	trace_safe_path(intern_get(&t->f->names, a->name), out);
	if (!(a->flags & (ART_GLOBAL | ART_UNLISTED))) {
		buf_addc(out, '_');
		buf_add_u64(out, a->number);
	}
	if (readable)
		buf_adds(out, "_readable.html");
	else
		buf_adds(out, a->flags & ART_HTML ? ".html" : a->flags & ART_JSON ? ".json" : ".txt");
}
