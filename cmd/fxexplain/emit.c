/* emit.c - what the emitters share. */
#include "emit.h"

#include <unistd.h>

const char *const cache_kind_name[4] = {"fx_graph", "aotautograd", "fx_graph_bundled", "other"};
const char *const cache_what_name[3] = {"hit", "miss", "bypass"};

void explain_add_up(const struct explanation *x, struct explain_sums *s)
{
	const struct facts *f = x->facts;
	struct intern frames = {0}, compiles = {0};
	*s = (struct explain_sums){0};
	for (uint32_t i = 0; i < f->n_input; i++) {
		s->bytes += f->input[i].bytes;
		s->lines += f->input[i].lines;
		s->records += f->input[i].records;
	}
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		int64_t key[4] = {c->src.input, c->autograd, c->frame, c->compile};
		if (c->frame < 0 || c->compile < 0)
			continue;
		intern_add(&frames, slice_of((const char *)key, 3 * sizeof(*key)));
		intern_add(&compiles, slice_of((const char *)key, sizeof(key)));
	}
	s->frames = frames.n;
	s->compiles = compiles.n;
	intern_release(&frames);
	intern_release(&compiles);
	for (uint32_t i = 0; i < f->n_bound; i++)
		s->specializations += f->bound[i].kind == BOUND_SPECIALIZED;
	for (uint32_t i = 0; i < f->n_cache; i++)
		s->cache[f->cache[i].kind][f->cache[i].what]++;
	for (uint32_t i = 0; i < x->n_finding; i++)
		s->level[x->finding[i].level]++;
	s->damaged = f->n_damage;
}

void finding_fingerprint(const struct explanation *x, const struct finding *g, char id[FINGERPRINT_TEXT])
{
	struct buf b = {0};
	buf_adds(&b, finding_kind_name[g->kind]);
	buf_addc(&b, '\0');
	buf_add_slice(&b, g->id);
	buf_addc(&b, '\0');
	/* A checkout of CI lies elsewhere than that of a developer: two names of the path are enough. */
	struct slice file = srcloc_short_file(explain_text(x, g->loc.file));
	size_t at = file.n;
	for (int slashes = 0; at > 0; at--)
		if (file.p[at - 1] == '/' && ++slashes == 2)
			break;
	buf_add(&b, file.p ? file.p + at : "", file.n - at);
	buf_addc(&b, '\0');
	buf_add_slice(&b, explain_text(x, g->loc.function));
	snprintf(id, FINGERPRINT_TEXT, "%016llx", (unsigned long long)hash_bytes(b.p, b.len));
	buf_release(&b);
}

/* ---- places ---- */

/* A ".." leads out of the folder. */
static bool leads_out(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

static bool is_here(const char *path) { return *path && !leads_out(path) && access(path, F_OK) == 0; }

static bool below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;
	return n > 1 && !strncmp(path, dir, n) && path[n] == '/' && path[n + 1];
}

static const char *relative(const char *path)
{
	char cwd[4096];
	if (getcwd(cwd, sizeof(cwd)) && below(path, cwd))
		return path + strlen(cwd) + 1;
	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/'))
		if (is_here(p + 1))
			return p + 1;
	return NULL;
}

bool emit_source(const struct explanation *x, uint32_t file, struct buf *b)
{
	struct slice name = explain_text(x, file);
	if (!name.n || name.p[0] == '<' || slice_chr(name, '\0'))
		return false;
	while (slice_starts(name, "./"))
		name = slice_of(name.p + 2, name.n - 2);
	char *path = xstrndup(name.p, name.n);
	const char *here = *path == '/' ? relative(path) : leads_out(path) ? NULL : path;
	if (!here && *path != '/') {
		free(path);
		return false;
	}
	buf_adds(b, here ? here : path);
	free(path);
	return here != NULL;
}

struct slice emit_compile_id(const struct explanation *x, uint32_t compile)
{
	return compile < x->facts->n_compile ? explain_text(x, x->facts->compile[compile].id) : slice_of(NULL, 0);
}

/* ---- texts ---- */

static void put_lines(struct buf *b, const char *what, struct slice text)
{
	struct slice line;
	while (slice_line(&text, &line)) {
		if (b->len && b->p[b->len - 1] != '\n')
			buf_addc(b, '\n');
		buf_adds(b, what);
		buf_add_slice(b, line);
		what = "";
	}
}

void emit_details(const struct finding *g, struct buf *b)
{
	put_lines(b, "Cost: ", g->cost);
	put_lines(b, "Why: ", g->why);
	put_lines(b, "Fix: ", g->fix);
	put_lines(b, "Next: ", g->next);
	put_lines(b, "See ", g->url);
}

uint32_t emit_torch_version(const struct explanation *x)
{
	for (uint32_t i = 0; i < x->facts->n_input; i++)
		if (x->facts->input[i].torch_version != NONE)
			return x->facts->input[i].torch_version;
	return NONE;
}
