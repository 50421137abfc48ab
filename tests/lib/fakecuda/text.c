/* Kernels in PTX: modules that are text, and the text of a cubin's kernels (FAKECUDA_PTX). They are interpreted
 * (../ptx.h). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { MAX_TEXT_FILE = 16 << 20 };

struct text {
	struct text *next;
	struct device *d;
	char *name; /* of the kernel that it was looked for; NULL: a module's */
	struct ptx_module *m;
	uint64_t data_at;
};

/* Variables of the module get memory of the device. */
static struct text *new_text(struct device *d, const char *image, size_t n, const char *where)
{
	struct ptx_error e;
	size_t bytes;
	uint64_t at;
	if (fake_fails("noscan", &at) && strstr(image, "pt2_scan_few"))
		return NULL;
	struct text t = {.d = d, .m = ptx_read(image, n, &e)};
	if (!t.m) {
		fprintf(stderr, "fakecuda: %s: %s\n", where, e.text);
		return NULL;
	}
	const void *data = ptx_data(t.m, &bytes);
	if (bytes && fake_allocate(d, &t.data_at, bytes)) {
		ptx_free(t.m);
		return NULL;
	}
	if (bytes)
		memcpy(fake_data(d, t.data_at, bytes), data, bytes);
	struct text *out = fake_alloc(sizeof(t));
	*out = t;
	return out;
}

struct text *fake_text(struct device *d, const char *image) { return new_text(d, image, strlen(image), "PTX"); }

void fake_text_free(struct text *t)
{
	if (!t)
		return;
	if (t->data_at)
		fake_release(t->data_at);
	ptx_free(t->m);
	free(t->name);
	free(t);
}

unsigned fake_text_sm(const struct text *t) { return ptx_target(t->m); }

int fake_text_function(struct text *t, struct function *f)
{
	const struct ptx_kernel *k = ptx_kernel(t->m, f->name);
	if (!k)
		return CUDA_ERROR_NOT_FOUND;
	f->text = k;
	f->data_at = t->data_at;
	return CUDA_SUCCESS;
}

/* ---- files ---- */

static char *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(MAX_TEXT_FILE + 1) : NULL;
	*n = text ? fread(text, 1, MAX_TEXT_FILE, f) : 0;
	if (f)
		fclose(f);
	if (text)
		text[*n] = 0;
	return text;
}

static bool has_entry(const char *text, const char *name)
{
	for (const char *p = text; (p = strstr(p, ".entry"));) {
		p += 6;
		p += strspn(p, " \t\r\n");
		size_t n = strlen(name);
		if (!strncmp(p, name, n) && strchr(" \t\r\n(", p[n]))
			return true;
	}
	return false;
}

static struct text *in_file(struct device *d, const char *path, const char *name)
{
	size_t n;
	struct text *t = NULL;
	char *text = read_file(path, &n);
	if (text && has_entry(text, name))
		t = new_text(d, text, n, path);
	free(text);
	return t;
}

static struct text *in_folder(struct device *d, const char *folder, const char *name)
{
	struct text *t = NULL;
	char path[4096];
	DIR *dir = opendir(folder);
	for (struct dirent *e; dir && !t && (e = readdir(dir));) {
		size_t n = strlen(e->d_name);
		if (n < 4 || strcmp(e->d_name + n - 4, ".ptx"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		t = in_file(d, path, name);
	}
	if (dir)
		closedir(dir);
	return t;
}

static struct text *named;

/* The same text for all modules that have a kernel of this name. */
int fake_text_named(struct device *d, struct function *f)
{
	const char *folder = getenv("FAKECUDA_PTX");
	char path[4096];
	struct text *t = named;
	while (t && (t->d != d || strcmp(t->name, f->name)))
		t = t->next;
	if (!t && folder) {
		snprintf(path, sizeof(path), "%s/%s.ptx", folder, f->name);
		t = in_file(d, path, f->name);
		t = t ? t : in_folder(d, folder, f->name);
		if (t) {
			t->name = strdup(f->name);
			t->next = named;
			named = t;
		}
	}
	return t ? fake_text_function(t, f) : CUDA_ERROR_NOT_FOUND;
}

/* ---- runs ---- */

static bool find(void *user, uint64_t address, struct ptx_range *r)
{
	struct range *range = fake_range(user, address, 1);
	uint64_t at, bytes;
	char *host = range ? NULL : fake_pinned(address, &at, &bytes);
	if (range)
		*r = (struct ptx_range){range->at, range->room, range->data};
	if (host)
		*r = (struct ptx_range){at, bytes, host};
	return range || host;
}

int fake_text_run(struct device *d, struct work *w)
{
	struct ptx_launch l = {.shared = w->shared, .params = w->data, .data_at = w->data_at, .find = find, .user = d};
	const struct ptx_fault *f = &l.fault;
	memcpy(l.grid, w->grid, sizeof(l.grid));
	memcpy(l.block, w->block, sizeof(l.block));
	int rc = ptx_run(w->text, &l);
	if (*l.said)
		fprintf(stderr, "%s\n", l.said);
	if (rc)
		fake_log("run %s: %s at 0x%llx, block %u,%u,%u, thread %u,%u,%u, line %u of the PTX: %d", w->name, f->text,
			 (unsigned long long)f->address, f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2],
			 f->line, rc);
	else
		fake_log("run %s", w->name);
	return rc;
}
