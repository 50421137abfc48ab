/* Any bytes as a structured trace, into facts and through all analyses: rows name only rows and texts that are there, and what is
 * found is inside of what was read. The file is read twice into one model, as two logs. */
#include "run/diagnose/finding.h"
#include "run/trace/trace.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static bool is_text(const struct facts *f, uint32_t id) { return id == NONE || id < f->names.n; }

static void check_facts(const struct facts *f)
{
#define X(table, type) \
	for (uint32_t i = 0; i < f->n_##table; i++) \
		require(f->table[i].src.input < f->n_input && (f->table[i].compile == NONE || f->table[i].compile < f->n_compile));
	FACT_TABLES(X)
#undef X
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		require(is_text(f, c->id) && is_text(f, c->stack) && is_text(f, c->loc.file) && is_text(f, c->resume_of));
		require((uint64_t)c->first_metric + c->n_metric <= f->n_metric);
	}
	for (uint32_t i = 0; i < f->n_metric; i++)
		require(is_text(f, f->metric[i].name) && is_text(f, f->metric[i].value));
	for (uint32_t i = 0; i < f->n_bound; i++)
		require(is_text(f, f->bound[i].expr) && is_text(f, f->bound[i].symbol) && is_text(f, f->bound[i].torch.file));
	for (uint32_t i = 0; i < f->n_phase; i++)
		require(is_text(f, f->phase[i].name) && f->phase[i].seconds >= 0 && f->phase[i].self <= f->phase[i].seconds + 1e-3);
	for (uint32_t i = 0; i < f->n_failure; i++)
		require(is_text(f, f->failure[i].stack) && (f->failure[i].cause == NONE || f->failure[i].cause < f->n_failure));
}

static void check_explained(const struct explanation *x)
{
	const struct facts *f = x->facts;
	for (uint32_t i = 0; i < x->n_symbol; i++) {
		require((uint64_t)x->symbol[i].first_bound + x->symbol[i].n_bound <= x->n_bound_row);
		require(x->symbol[i].row == NONE || x->symbol[i].row < f->n_symbol);
		require(x->symbol[i].finding == NONE || x->symbol[i].finding < x->n_finding);
	}
	for (uint32_t i = 0; i < x->n_bound_row; i++)
		require(x->bound_row[i] < f->n_bound);
	for (uint32_t i = 0; i < x->n_time; i++)
		require((uint64_t)x->time[i].first + x->time[i].n <= x->n_part && x->time[i].seconds > 0);
	for (uint32_t i = 0; i < x->n_finding; i++)
		require(x->finding[i].id.n && x->finding[i].src.input < f->n_input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct facts f;
	struct err err;
	struct explanation x;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	facts_init(&f);
	for (int i = 0; i < 2; i++) {
		struct facts_options o = {.keep_graphs = i, .keep_guards = i};
		uint32_t inputs = f.n_input;
		require((facts_add_trace(&f, path, &o, &err) == 0) == (f.n_input == inputs + 1));
	}
	close(fd);
	if (f.n_input) {
		check_facts(&f);
		facts_finish(&f);
		explain(&x, &f);
		check_explained(&x);
		explanation_release(&x);
	}
	facts_release(&f);
	return 0;
}
