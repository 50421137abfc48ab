/* probing.h - binaries for the tests of binprobe/: recorded packages, and libraries compiled here; a contract as text. */
#ifndef PROBING_H
#define PROBING_H
#include "test.h"

#include "model/binprobe/binprobe.h"
#include "model/package/package.h"

static char dir[64];

static inline int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_probe.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	char *cmd = xasprintf("rm -rf '%s'", dir);
	int rc = system(cmd);
	free(cmd);
	return rc;
}

static inline char *put(const char *name, struct slice s)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(s.p, 1, s.n, f), s.n);
	fclose(f);
	return path;
}

struct fixture {
	struct package pkg;
	char *path;
};

static inline void fixture_open(struct fixture *f, const char *name)
{
	struct buf b = {0};
	struct err err;
	char *xz = xasprintf("aoti/%s.pt2.xz", name);
	if (!data_load(xz, &b))
		fail_msg("cannot unpack %s", xz);
	f->path = put("model.pt2", buf_slice(&b));
	if (package_open(&f->pkg, f->path, &err) < 0)
		fail_msg("%s", err.text);
	buf_release(&b);
	free(xz);
}

static inline void fixture_close(struct fixture *f)
{
	package_close(&f->pkg);
	free(f->path);
}

/* Everything about inputs as one text: what a reader of a table would see. */
static inline void describe(const struct contract *c, struct buf *b)
{
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		const struct contract_input *in = &c->input[i];
		buf_addf(b, "%.*s %s %s%s", SL(in->name), dtype_name(in->dtype), device_name(in->device), in->rank_known ? "" : " rank?");
		for (int d = 0; d < in->n_dim; d++) {
			buf_addc(b, ' ');
			symsize_print(&c->tab, in->dim[d].size, b);
			if (!in->dim[d].range.lo_inf || !in->dim[d].range.hi_inf)
				symrange_print(in->dim[d].range, b);
			buf_addc(b, '/');
			symsize_print(&c->tab, in->dim[d].stride, b);
		}
		buf_addc(b, '\n');
	}
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		const struct contract_output *o = &c->output[i];
		buf_addf(b, "-> %s", o->dtype == DTYPE_NONE ? "?" : dtype_name(o->dtype));
		for (int d = 0; d < o->n_dim; d++) {
			buf_addc(b, ' ');
			symsize_print(&c->tab, o->dim[d].size, b);
			buf_addc(b, '/');
			symsize_print(&c->tab, o->dim[d].stride, b);
		}
		buf_addc(b, '\n');
	}
}

/* The entries of a model without inputs and outputs, for libraries of C. */
#define ENTRIES \
	"#include <stddef.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <fcntl.h>\n#include <signal.h>\n" \
	"#include <string.h>\n#include <sys/socket.h>\n#include <sys/mman.h>\n#include <sys/prctl.h>\n" \
	"#include <sys/syscall.h>\n" \
	"static int here;\n" \
	"int AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *d, const char *e)" \
	"{ *c = &here; return 0; }\n" \
	"int AOTInductorModelContainerGetNumInputs(void *c, size_t *n) { *n = 0; return 0; }\n" \
	"int AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { *n = 0; return 0; }\n"

#define RUN_NOTHING \
	"int AOTInductorModelContainerRun(void *c, void **i, size_t n, void **o, size_t m, void *s, void *p)" \
	"{ return 0; }\n"

/* Compile a library; its bytes. */
static inline struct buf compile(const char *code, const char *flags)
{
	struct buf b = {0};
	char *c = put("bad.c", slice_str(code));
	char *cmd = xasprintf("gcc -w -O1 -shared -fPIC %s -o '%s/bad.so' '%s' && cat '%s/bad.so'", flags, dir, c, dir);
	FILE *f = popen(cmd, "r");
	size_t n;
	while (f && (n = fread(buf_room(&b, 1 << 16), 1, 1 << 16, f)) > 0)
		buf_wrote(&b, n);
	if (!f || pclose(f))
		fail_msg("cannot compile:\n%s", code);
	free(cmd);
	free(c);
	return b;
}

static inline int binprobe_code(const char *code, int timeout_ms, uint64_t memory, struct contract *c, struct err *err)
{
	struct buf b = compile(code, "");
	struct binprobe_options o = {.timeout_ms = timeout_ms, .max_memory = memory};
	*c = (struct contract){0};
	int rc = binprobe_contract(c, buf_slice(&b), &o, err);
	buf_release(&b);
	return rc;
}

#endif
