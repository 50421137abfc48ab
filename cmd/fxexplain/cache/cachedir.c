/* cachedir.c - reads a cache folder: its files, their kinds by name and place, whether they are complete. See cachedir.h. */
#include "cache/cachedir.h"
#include "base/rows.h"
#include "base/text.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const cache_file_kind_name[CACHE_KIND_COUNT] = {
#define X(id, name, text) name,
    CACHE_FILE_KINDS(X)
#undef X
};
const char *const cache_file_kind_text[CACHE_KIND_COUNT] = {
#define X(id, name, text) text,
    CACHE_FILE_KINDS(X)
#undef X
};
const char *const cache_state_name[CACHE_STATES] = {"whole", "empty", "half-written", "damaged", "not read"};

/* ---- names and places ---- */

/* base32 of a hash, as torch truncates it (codecache.py, sha256_hash): 51 characters of a-z and 2-7, or more if a newer torch truncates
 * less. */
static bool is_hash(struct slice s, size_t least)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '2' && s.p[i] <= '7')))
			return false;
	return s.n >= least;
}

/* .PID.TID.tmp */
static bool is_temp(struct slice s)
{
	if (s.n < 8 || s.p[0] != '.' || !slice_ends(s, ".tmp"))
		return false;
	for (size_t i = 1; i < s.n - 4; i++)
		if (!is_digit(s.p[i]) && s.p[i] != '.')
			return false;
	return true;
}

/* Returns the n-th component of a path, counted from the end; empty if there is none. */
static struct slice part_from_end(struct slice path, unsigned n)
{
	for (;; n--) {
		struct slice base = slice_base(path);
		if (!n)
			return base;
		if (base.n == path.n)
			return slice_of("", 0);
		path.n -= base.n + 1;
	}
}

static bool has_part(struct slice path, const char *part)
{
	for (unsigned n = 1; n < CACHE_DEPTH; n++)
		if (slice_is(part_from_end(path, n), part))
			return true;
	return false;
}

static bool is_vllm(struct slice name)
{
	return slice_is(name, "computation_graph.py") || slice_is(name, "vllm_compile_cache.py") || slice_is(name, "transformed_code.py") ||
	       slice_is(name, "cache_key_factors.json");
}

static enum cache_file_kind kind_of(struct slice path)
{
	struct slice name = part_from_end(path, 0), folder = part_from_end(path, 1), two = part_from_end(path, 2),
		     three = part_from_end(path, 3);
	const char *dot = slice_chr(name, '.');
	struct slice stem = dot ? slice_of(name.p, (size_t)(dot - name.p)) : name;
	if (is_temp(name))
		return CACHE_TEMP;
	if (is_hash(name, 40) && is_hash(folder, 40) && folder.p[0] == 'f' && two.n == 2 && !memcmp(two.p, folder.p + 1, 2) &&
	    slice_is(three, "fxgraph"))
		return CACHE_FX;
	if (is_hash(name, 40) && is_hash(folder, 40) && folder.p[0] == 'a' && slice_is(two, "aotautograd"))
		return CACHE_AOT;
	if (slice_is(folder, "locks") && slice_ends(name, ".lock"))
		return CACHE_LOCK;
	if (is_vllm(name))
		return CACHE_VLLM;
	if (has_part(path, "triton") || has_part(path, "triton_cache"))
		return CACHE_TRITON;
	if (dot && is_hash(stem, 40) && folder.n == 2 && !memcmp(folder.p, stem.p + 1, 2))
		return CACHE_CODE;
	return CACHE_OTHER;
}

/* ---- is it complete? ---- */

static void judge(struct cachedir *d, struct cache_file *f, enum cache_state state, const char *why)
{
	f->state = (uint8_t)state;
	f->why = intern_add(&d->names, slice_str(why));
}

/* A linker writes the section headers last. */
static void judge_library(struct cachedir *d, struct cache_file *f, int fd)
{
	Elf64_Ehdr h;
	ssize_t n = pread(fd, &h, sizeof(h), 0);
	if (n < (ssize_t)sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) {
		judge(d, f, n < (ssize_t)sizeof(h) && n >= 0 ? STATE_CUT : STATE_DAMAGED, "it is not an ELF library");
		return;
	}
	uint64_t end = 0;
	if (h.e_ident[EI_CLASS] == ELFCLASS64 && !__builtin_add_overflow(h.e_shoff, (uint64_t)h.e_shnum * h.e_shentsize, &end) &&
	    end > f->bytes)
		judge(d, f, STATE_CUT, "its section headers are past its end");
}

static void judge_entry(struct cachedir *d, struct cache_file *f, int fd)
{
	if (f->bytes > CACHE_READ_ONE || d->read + f->bytes > CACHE_READ_ALL) {
		d->unread++;
		judge(d, f, STATE_UNREAD, "larger than the limit");
		return;
	}
	/* Read, not mapped: another process may truncate it at any time. */
	FREED char *p = xmalloc(f->bytes + 1);
	size_t got = 0;
	while (got < f->bytes) {
		ssize_t n = pread(fd, p + got, f->bytes - got, (off_t)got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	d->read += got;
	if (got < f->bytes)
		judge(d, f, STATE_UNREAD, "it cannot be read to the end");
	else
		entry_read(d, f, slice_of(p, got));
}

static void judge_file(struct cachedir *d, struct cache_file *f, int dir, const char *name)
{
	struct slice n = slice_str(name);
	bool entry = f->kind == CACHE_FX || f->kind == CACHE_AOT, library = f->kind == CACHE_CODE && slice_ends(n, ".so");
	if (!f->bytes && (entry || (f->kind == CACHE_CODE && (library || slice_ends(n, ".py") || slice_ends(n, ".cpp"))))) {
		judge(d, f, STATE_EMPTY, "it is empty");
		return;
	}
	if (!entry && !library)
		return;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0) {
		judge(d, f, STATE_UNREAD, strerror(errno));
		d->unread += entry;
		return;
	}
	if (entry)
		judge_entry(d, f, fd);
	else
		judge_library(d, f, fd);
	close(fd);
}

/* ---- keys ---- */

uint32_t cachedir_key(const struct cachedir *d, enum cache_file_kind kind, struct slice name)
{
	LOCAL_BUF b = {0};
	buf_addc(&b, (char)('0' + kind));
	buf_add_slice(&b, name);
	return intern_find(&d->keys, buf_slice(&b));
}

static void add_key(struct cachedir *d, uint32_t row)
{
	struct cache_file *f = &d->file[row];
	struct slice name = part_from_end(cachedir_name(d, f->path), 1);
	LOCAL_BUF b = {0};
	buf_addc(&b, (char)('0' + f->kind));
	buf_add_slice(&b, name);
	f->key = intern_add(&d->keys, buf_slice(&b));
	if (f->key == d->n_key) {
		PUSH(d, key) = (struct cache_key){.name = intern_add(&d->names, name),
						  .kind = f->kind,
						  .entry = NONE,
						  .graph = NONE,
						  .ops = NONE,
						  .side = NONE,
						  .oldest = INT64_MAX};
	}
	struct cache_key *k = &d->key[f->key];
	k->files++;
	k->whole += f->state == STATE_WHOLE;
	k->bad += state_is_bad(f->state);
	k->bytes += f->bytes;
	if (f->mtime < k->oldest)
		k->oldest = f->mtime;
	if (f->mtime > k->newest)
		k->newest = f->mtime;
	if (f->state == STATE_WHOLE && (k->entry == NONE || d->file[k->entry].mtime <= f->mtime))
		k->entry = row;
	if (k->graph == NONE && f->text[KEY_GRAPH] != NONE) { /* all entries of a key have the same one */
		struct slice text = cachedir_name(d, f->text[KEY_GRAPH]);
		buf_reset(&b);
		key_graph_ops(text, &b);
		k->graph = intern_add(&d->names, key_part_named(text, "gm").hash);
		k->side = intern_add(&d->names, key_part_named(text, "fx_kwargs[is_backward]").hash);
		k->ops = intern_add(&d->names, buf_slice(&b));
	}
}

/* ---- the walk ---- */

static int order_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void add_file(struct cachedir *d, int dir, const char *name, struct slice path, const struct stat *st)
{
	if (d->n_file >= CACHE_FILES) {
		d->more = true;
		return;
	}
	GROW(d->file, d->n_file, d->cap_file, 1);
	uint32_t row = d->n_file++;
	d->file[row] = (struct cache_file){.path = intern_add(&d->names, path),
					   .kind = (uint8_t)(S_ISREG(st->st_mode) ? kind_of(path) : CACHE_OTHER),
					   .bytes = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0,
					   .mtime = st->st_mtim.tv_sec,
					   .mtime_ns = st->st_mtim.tv_nsec,
					   .dev = st->st_dev,
					   .ino = st->st_ino,
					   .uid = st->st_uid,
					   .key = NONE,
					   .why = NONE,
					   .guards = NONE,
					   .text = {NONE, NONE}};
	struct cache_file *f = &d->file[row];
	if (f->kind != CACHE_OTHER)
		judge_file(d, f, dir, name);
	f = &d->file[row];
	d->sum[f->kind].files++;
	d->sum[f->kind].bytes += f->bytes;
	d->sum[f->kind].bad += state_is_bad(f->state);
	if (f->kind == CACHE_FX || f->kind == CACHE_AOT)
		add_key(d, row);
}

/* fd is closed. */
static void walk(struct cachedir *d, int fd, struct buf *path, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	char **name = NULL;
	size_t n = 0, cap = 0, at = path->len;
	if (!dir) {
		close(fd);
		d->closed++;
		return;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			PUSH_TO(name, n, cap) = xstrdup(e->d_name);
	if (n)
		qsort(name, n, sizeof(*name), order_names);
	for (size_t i = 0; i < n; i++) {
		struct stat st;
		buf_cut(path, at);
		if (at)
			buf_addc(path, '/');
		buf_adds(path, name[i]);
		if (fstatat(dirfd(dir), name[i], &st, AT_SYMLINK_NOFOLLOW) == 0) {
			if (!S_ISDIR(st.st_mode)) {
				add_file(d, dirfd(dir), name[i], buf_slice(path), &st);
			} else if (depth >= CACHE_DEPTH) {
				d->more = true;
			} else {
				int sub = openat(dirfd(dir), name[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
				if (sub >= 0)
					walk(d, sub, path, depth + 1);
				else
					d->closed++;
			}
		}
		free(name[i]);
	}
	buf_cut(path, at);
	free(name);
	closedir(dir);
}

int cachedir_read(struct cachedir *d, const char *path, struct err *err)
{
	LOCAL_BUF rel = {0};
	*d = (struct cachedir){.path = path, .now = (int64_t)time(NULL)};
	d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int walked = d->fd < 0 ? -1 : openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (walked < 0) {
		err_errno(err, EXIT_INPUT, "cannot open cache directory '%s'", path);
		cachedir_release(d);
		return -1;
	}
	walk(d, walked, &rel, 0);
	return 0;
}

void cachedir_release(struct cachedir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	intern_release(&d->names);
	intern_release(&d->keys);
	free(d->file);
	free(d->key);
	free(d->need);
	*d = (struct cachedir){.fd = -1};
}
