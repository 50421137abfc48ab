/* sanitize.c - --ima --sanitizer: the command runs under NVIDIA's compute-sanitizer, and its report (watch/sanitizer.h) gets the names that
 * --ima knows: the kernel's argument beside the address, its call, nodes and line. */
#include "base/io/mapfile.h"
#include "base/text.h"
#include "base/process/child.h"
#include "base/tool/tempfolder.h"
#include "fault.h"

#include <dirent.h>
#include <unistd.h>

static char *find_sanitizer(void)
{
	static const char name[] = "compute-sanitizer";
	const char *home = getenv("CUDA_HOME");
	const char *const folder[] = {home && *home ? home : "/usr/local/cuda", "/usr/local/cuda", "/opt/cuda"};
	char *found = child_which(name);
	for (size_t i = 0; i < ARRAY_LEN(folder) && !found; i++) {
		FREED char *path = xasprintf("%s/bin/%s", folder[i], name);
		found = child_which(path);
		if (found && access(found, X_OK) < 0) {
			free(found);
			found = NULL;
		}
	}
	return found;
}

int sanitize_begin(struct sanitize *z, const struct operands *in, struct err *err)
{
	if (!(z->program = find_sanitizer()))
		return err_set(err, EXIT_ENVIRON,
			       "--sanitizer: compute-sanitizer not found in PATH or CUDA_HOME; it is part of the CUDA toolkit");
	if (!(z->folder = temp_folder(TEMP_PRINTER, err)))
		return -1;
	z->log = xasprintf("%s/report.%%p", z->folder); /* %p: a process's own file */
	const char *const words[] = {z->program, "--tool", "memcheck", "--target-processes", "all", "--log-file", z->log};
	size_t n = 0;
	while (in->command[n])
		n++;
	z->command = xcalloc(ARRAY_LEN(words) + n + 1, sizeof(*z->command));
	memcpy(z->command, words, sizeof(words));
	memcpy(z->command + ARRAY_LEN(words), in->command, n * sizeof(*z->command));
	return 0;
}

static void read_reports(struct sanitize *z)
{
	DIR *d = opendir(z->folder);
	for (const struct dirent *e; d && (e = readdir(d));) {
		struct mapfile f;
		struct err err;
		if (strncmp(e->d_name, "report.", 7) != 0)
			continue;
		FREED char *path = xasprintf("%s/%s", z->folder, e->d_name);
		if (mapfile_open(&f, path, &err) < 0)
			continue;
		z->reports++;
		sanitizer_read(&z->found, f.bytes);
		mapfile_close(&f);
	}
	if (d)
		closedir(d);
}

/* Bytes from the tensor to the address: 0 inside. */
static uint64_t away(const struct ima_param *p, uint64_t address)
{
	if (!p->tensor || p->address == IMA_NONE || !p->address)
		return UINT64_MAX;
	const uint64_t end = p->address + (p->extent == IMA_NONE ? 0 : p->extent);
	return address < p->address ? p->address - address : address >= end ? address - end + 1 : 0;
}

/* The argument that the access belongs to: that of the allocation that compute-sanitizer names, else the closest. */
static uint32_t nearest(const struct fault_case *c, const struct sanitizer_error *e)
{
	uint32_t best = NONE;
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < c->e->n; i++) {
		const struct ima_param *p = &c->e->p[i];
		const uint64_t gap = away(p, e->address);
		if (gap == UINT64_MAX)
			continue;
		if (e->allocation && p->address == e->base)
			return i;
		if (gap < least) {
			least = gap;
			best = i;
		}
	}
	return best;
}

static void find_call(const struct watch *w, struct sanitize_row *row)
{
	for (size_t i = 0; i < w->n_models; i++) {
		const struct watch_model *m = &w->model[i];
		for (uint32_t k = 0; m->has_contract && k < m->contract.n_calls; k++)
			if (sanitizer_is_kernel(row->e->kernel, m->contract.call[k].name)) {
				row->at.model = m;
				row->at.contract = &m->contract;
				row->at.call = &m->contract.call[k];
				return;
			}
	}
}

void sanitize_end(struct sanitize *z, struct fault_report *r)
{
	if (!z->folder)
		return;
	read_reports(z);
	z->row = xcalloc(z->found.n + 1, sizeof(*z->row));
	for (size_t i = 0; i < z->found.n; i++) {
		struct sanitize_row *row = &z->row[i];
		*row = (struct sanitize_row){.e = &z->found.v[i], .param = NONE};
		for (size_t k = 0; k < r->n && !row->of; k++)
			if (sanitizer_is_kernel(row->e->kernel, r->v[k].e->kernel) ||
			    sanitizer_is_kernel(row->e->kernel, r->v[k].e->function))
				row->of = &r->v[k];
		if (row->of && row->e->has_address)
			row->param = nearest(row->of, row->e);
		if (row->of)
			row->at = *row->of;
		else
			find_call(r->w, row);
	}
	r->sanitize = z;
}

void sanitize_release(struct sanitize *z)
{
	sanitizer_release(&z->found);
	temp_folder_remove(z->folder);
	free(z->row);
	free(z->command);
	free(z->log);
	free(z->program);
	*z = (struct sanitize){0};
}

int64_t sanitize_beyond(const struct sanitize_row *row)
{
	const struct ima_param *p = row->param == NONE ? NULL : &row->of->e->p[row->param];
	if (!p || p->extent == IMA_NONE || !away(p, row->e->address))
		return 0;
	return row->e->address < p->address ? -(int64_t)(p->address - row->e->address)
					    : (int64_t)(row->e->address - (p->address + p->extent) + row->e->bytes);
}

/* ---- text ---- */

static void add_place(struct buf *b, const char *what, const uint64_t v[3])
{
	buf_addf(b, "%s (%llu,%llu,%llu)", what, (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)v[2]);
}

void sanitize_sentence(const struct sanitize_row *row, struct buf *b)
{
	const struct sanitizer_error *e = row->e;
	const int64_t beyond = sanitize_beyond(row);
	buf_add_clean(b, e->kernel.n ? e->kernel : SLICE("a kernel"));
	buf_addf(b, " %s %llu byte%s", e->writes ? "writes" : "reads", (unsigned long long)e->bytes, plural(e->bytes));
	if (e->has_address)
		buf_addf(b, " at 0x%llx%s", (unsigned long long)e->address, e->misaligned ? " (misaligned)" : "");
	if (row->param != NONE) {
		struct buf name = {0};
		ima_param_name(row->of->e, row->param, &name);
		if (beyond)
			buf_addf(b, ", %lld byte%s %s ", (long long)(beyond < 0 ? -beyond : beyond),
				 plural((uint64_t)(beyond < 0 ? -beyond : beyond)), beyond < 0 ? "before the start of" : "past the end of");
		else
			buf_adds(b, ", in ");
		buf_add_clean(b, buf_slice(&name));
		buf_release(&name);
	} else if (e->relation.n) {
		buf_addf(b, ", %llu bytes %.*s an allocation of %llu", (unsigned long long)e->distance, SL(e->relation),
			 (unsigned long long)e->allocation);
	}
}

/* Where it was: thread, instruction, lines. */
void sanitize_place(const struct sanitize_row *row, struct buf *b)
{
	const struct sanitizer_error *e = row->e;
	add_place(b, "thread", e->thread);
	add_place(b, " of block", e->block);
	if (e->times > 1)
		buf_addf(b, " and %llu more", (unsigned long long)(e->times - 1));
	if (e->offset)
		buf_addf(b, ", +0x%llx", (unsigned long long)e->offset);
	if (e->file.n) {
		buf_adds(b, ", ");
		buf_add_clean(b, e->file);
		buf_addf(b, ":%u", e->line);
	}
	if (row->at.call) {
		buf_adds(b, ", called at ");
		buf_add_clean(b, row->at.model->text ? slice_str(path_base(row->at.model->text)) : SLICE("wrapper.cpp"));
		buf_addf(b, ":%u", row->at.call->line);
	}
	if (row->at.from.n_lines) {
		buf_adds(b, ", ");
		buf_add_clean(b, row->at.from.line[row->at.from.n_lines - 1]);
	}
}
