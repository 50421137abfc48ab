/* A module of PTX text: directives, variables, the heads of kernels (PTX ISA 8.x, chapters 4, 5, 11). */
#include <stdlib.h>
#include <string.h>

#include "text.h"

static bool type_word(struct ptx_word w, int *type)
{
	char name[16];
	if (w.n < 2 || w.n >= sizeof(name) || *w.p != '.')
		return false;
	memcpy(name, w.p + 1, w.n - 1);
	name[w.n - 1] = 0;
	*type = ptx_type_of(name);
	return *type != NONE;
}

/* ---- variables ---- */

struct head {
	struct ptx_word name;
	int type;
	uint64_t align, count; /* count: elements; 0: name[] */
	bool array;
};

static bool dimensions(struct ptx_reader *r, struct head *h)
{
	for (uint64_t n; ptx_take(r, '[');) {
		h->array = true;
		if (ptx_take(r, ']')) {
			h->count = 0;
			continue;
		}
		if (!ptx_count(r, MAX_DATA, &n) || !ptx_want(r, ']'))
			return false;
		if (__builtin_mul_overflow(h->count, n, &h->count) || h->count > MAX_DATA)
			return ptx_fail(r, "a variable that is too large");
	}
	return true;
}

/* .align 4 .b8 name[8], .u64 .ptr .global .align 8 name */
static bool head(struct ptx_reader *r, struct head *h)
{
	*h = (struct head){.count = 1};
	for (int type;;) {
		if (!ptx_word(r, &h->name))
			return ptx_fail(r, "a declaration without a name");
		if (ptx_is(h->name, ".align")) {
			if (!ptx_count(r, 1 << 16, &h->align))
				return false;
			if (!h->align || (h->align & (h->align - 1)))
				return ptx_fail(r, "an alignment that is no power of two");
		} else if (type_word(h->name, &type)) {
			h->type = type;
		} else if (*h->name.p != '.') {
			break;
		} else if (!ptx_is(h->name, ".ptr") && !ptx_is(h->name, ".global") && !ptx_is(h->name, ".const") &&
			   !ptx_is(h->name, ".shared") && !ptx_is(h->name, ".local")) {
			return ptx_fail(r, "'%.*s' in a declaration", (int)h->name.n, h->name.p);
		}
	}
	if (h->type == NONE || h->type == PRED)
		return ptx_fail(r, "'%.*s' is declared without a type", (int)h->name.n, h->name.p);
	return dimensions(r, h);
}

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* What has been read of an initializer goes behind the module's data. */
static bool values(struct ptx_reader *r, const struct head *h, uint64_t at)
{
	uint32_t each = ptx_type_bytes(h->type);
	bool list = ptx_take(r, '{'), real;
	uint64_t i = 0, v;
	if (list && ptx_take(r, '}'))
		return true;
	do {
		if (!ptx_literal(r, &v, &real))
			return false;
		if (real && h->type == F32)
			v = ptx_bits(ptx_f64(v), F32);
		if (i >= h->count)
			return ptx_fail(r, "'%.*s' has more values than elements", (int)h->name.n, h->name.p);
		memcpy(r->m->data + at + i++ * each, &v, each);
	} while (list && ptx_take(r, ','));
	return !list || ptx_want(r, '}');
}

static bool data(struct ptx_reader *r, struct symbol *s, const struct head *h)
{
	uint64_t at = round_up(r->m->n_data, s->align);
	if (s->align > 256 || at + s->count > MAX_DATA)
		return ptx_fail(r, "more than %d bytes of variables", MAX_DATA);
	if (at + s->count > r->m->cap_data) {
		r->m->cap_data = 2 * (at + s->count) + 64;
		r->m->data = realloc(r->m->data, r->m->cap_data);
		if (!r->m->data)
			abort();
	}
	memset(r->m->data + r->m->n_data, 0, at + s->count - r->m->n_data);
	r->m->n_data = at + s->count;
	s->offset = at;
	return !ptx_take(r, '=') || values(r, h, at);
}

static bool one_variable(struct ptx_reader *r, enum symbol_kind kind, bool is_extern, struct head *h)
{
	uint32_t each = ptx_type_bytes(h->type);
	if (kind == SYMBOL_SHARED && is_extern) {
		kind = SYMBOL_DYNAMIC;
		h->count = 0;
	} else if (!h->count || is_extern) {
		return ptx_fail(r, "'%.*s' is of another module, or has no size", (int)h->name.n, h->name.p);
	}
	struct symbol *s = ptx_declare(r, h->name, kind);
	if (!s)
		return false;
	s->count = h->count * each;
	s->align = h->align ? (uint32_t)h->align : each;
	if (kind == SYMBOL_DATA)
		return data(r, s, h);
	if (kind == SYMBOL_LOCAL) {
		s->offset = round_up(r->k->code->local, s->align);
		if (s->offset + s->count > MAX_LOCAL)
			return ptx_fail(r, "more than %d bytes of local memory", MAX_LOCAL);
		r->k->code->local = (uint32_t)(s->offset + s->count);
	}
	return true;
}

bool ptx_variable(struct ptx_reader *r, enum symbol_kind kind, bool is_extern)
{
	struct head h;
	if (!head(r, &h) || !one_variable(r, kind, is_extern, &h))
		return false;
	while (ptx_take(r, ',')) {
		h.count = 1;
		if (!ptx_word(r, &h.name) || !dimensions(r, &h) || !one_variable(r, kind, is_extern, &h))
			return ptx_fail(r, "a list of variables");
	}
	return ptx_want(r, ';');
}

/* ---- kernels ---- */

static bool param(struct ptx_reader *r)
{
	struct ptx_word w;
	struct head h;
	struct ptx_kernel *k = r->k;
	if (!ptx_word(r, &w) || !ptx_is(w, ".param"))
		return ptx_fail(r, "a parameter without .param");
	if (!head(r, &h))
		return false;
	/* In .param .u64 .ptr .global .align 16 NAME the alignment is that of what it points to. */
	uint64_t bytes = h.count * ptx_type_bytes(h.type), align = h.array && h.align ? h.align : ptx_type_bytes(h.type);
	uint64_t at = round_up(k->param_bytes, align);
	if (k->n_params == PTX_PARAMS || !bytes || at + bytes > 32764)
		return ptx_fail(r, "too many parameters");
	struct symbol *s = ptx_declare(r, h.name, SYMBOL_PARAM);
	if (!s)
		return false;
	s->offset = at;
	s->count = bytes;
	k->offset[k->n_params] = (uint32_t)at;
	k->size[k->n_params++] = (uint32_t)bytes;
	k->param_bytes = (uint32_t)(at + bytes);
	return true;
}

static bool limits(struct ptx_reader *r, struct ptx_kernel *k)
{
	for (struct ptx_word w; ptx_peek(r) == '.';) {
		uint64_t v[3] = {1, 1, 1};
		ptx_word(r, &w);
		if (ptx_is(w, ".pragma")) {
			if (!ptx_skip_to(r, ';'))
				return false;
			continue;
		}
		bool three = ptx_is(w, ".reqntid") || ptx_is(w, ".maxntid");
		if (!three && !ptx_is(w, ".minnctapersm") && !ptx_is(w, ".maxnctapersm") && !ptx_is(w, ".maxnreg") &&
		    !ptx_is(w, ".noreturn"))
			return ptx_fail(r, "'%.*s' is not known", (int)w.n, w.p);
		if (ptx_is(w, ".noreturn"))
			continue;
		for (int i = 0; i < 3 && (i == 0 || ptx_take(r, ',')); i++)
			if (!ptx_count(r, 1 << 20, &v[i]))
				return false;
		if (ptx_is(w, ".reqntid"))
			for (int i = 0; i < 3; i++)
				k->reqntid[i] = (uint32_t)v[i];
		if (ptx_is(w, ".maxntid"))
			k->maxntid = v[0] * v[1] * v[2] > 1 << 20 ? 1 << 20 : (uint32_t)(v[0] * v[1] * v[2]);
	}
	return true;
}

static bool entry(struct ptx_reader *r)
{
	struct ptx_word name;
	struct ptx_kernel *k = calloc(1, sizeof(*k));
	if (!k || !(k->code = calloc(1, sizeof(*k->code))))
		abort();
	r->m->kernel = ptx_grow(r->m->kernel, r->m->n_kernels, &r->m->cap_kernels, sizeof(struct ptx_kernel *));
	r->m->kernel[r->m->n_kernels++] = r->k = k;
	r->kernel_number++;
	r->shared = 0;
	r->n_fixups = 0;
	while (k->code->n_regs < N_SPECIAL)
		ptx_new_reg(r, 8);
	if (!ptx_word(r, &name))
		return ptx_fail(r, "a kernel without a name");
	k->name = strndup(name.p, name.n);
	if (!k->name)
		abort();
	if (!ptx_enter(r))
		return false;
	if (ptx_take(r, '(') && !ptx_take(r, ')')) {
		do
			if (!param(r))
				return false;
		while (ptx_take(r, ','));
		if (!ptx_want(r, ')'))
			return false;
	}
	if (!limits(r, k) || !ptx_body(r))
		return false;
	k->shared = r->shared;
	k->code->dynamic_at = (r->shared + 127) / 128 * 128;
	ptx_leave(r);
	r->k = NULL;
	return true;
}

/* .extern .func (.param .b32 r) name (...) .noreturn ; only its name could be of interest, and call says it again. */
static bool function(struct ptx_reader *r)
{
	while (ptx_peek(r) && ptx_peek(r) != ';' && ptx_peek(r) != '{')
		r->p++;
	return ptx_peek(r) == '{' ? ptx_fail(r, "a function that is no kernel") : ptx_want(r, ';');
}

static bool target(struct ptx_reader *r)
{
	struct ptx_word w;
	uint64_t sm = 0;
	do {
		if (!ptx_word(r, &w))
			return ptx_fail(r, "no target");
		if (w.n > 3 && !memcmp(w.p, "sm_", 3))
			for (size_t i = 3; i < w.n && i < 7 && w.p[i] >= '0' && w.p[i] <= '9'; i++)
				sm = 10 * sm + (uint64_t)(w.p[i] - '0');
	} while (ptx_take(r, ','));
	r->m->sm = (unsigned)sm;
	return sm || ptx_fail(r, "a target that is no sm_NN");
}

static bool section(struct ptx_reader *r)
{
	int depth = 0;
	if (!ptx_skip_to(r, '{'))
		return false;
	for (depth = 1; depth; r->p++) {
		char c = ptx_peek(r);
		if (!c)
			return ptx_fail(r, "a section that does not end");
		depth += c == '{' ? 1 : c == '}' ? -1 : 0;
	}
	return true;
}

struct seen {
	bool version, address_size;
};

static bool directive(struct ptx_reader *r, struct ptx_word w, struct seen *s)
{
	bool is_extern = false;
	uint64_t v;
	while (ptx_is(w, ".visible") || ptx_is(w, ".extern") || ptx_is(w, ".weak") || ptx_is(w, ".common")) {
		is_extern |= ptx_is(w, ".extern");
		if (!ptx_word(r, &w))
			return ptx_fail(r, "a directive that ends");
	}
	if (ptx_is(w, ".version")) {
		s->version = true;
		ptx_skip_line(r);
		return true;
	}
	if (ptx_is(w, ".file") || ptx_is(w, ".loc"))
		return ptx_skip_line(r), true;
	if (ptx_is(w, ".target"))
		return target(r);
	if (ptx_is(w, ".address_size")) {
		s->address_size = true;
		return ptx_count(r, 64, &v) && (v == 64 || ptx_fail(r, "addresses of %u bits", (unsigned)v));
	}
	if (ptx_is(w, ".section"))
		return section(r);
	if (ptx_is(w, ".global") || ptx_is(w, ".const"))
		return ptx_variable(r, SYMBOL_DATA, is_extern);
	if (ptx_is(w, ".shared"))
		return ptx_variable(r, SYMBOL_SHARED, is_extern);
	if (ptx_is(w, ".entry"))
		return entry(r);
	if (ptx_is(w, ".func"))
		return function(r);
	if (ptx_is(w, ".pragma"))
		return ptx_skip_to(r, ';');
	return ptx_fail(r, "'%.*s' is not known", (int)w.n, w.p);
}

static bool module(struct ptx_reader *r)
{
	struct seen s = {0};
	struct ptx_word w;
	r->parent = ptx_grow(r->parent, 0, &r->cap_scopes, sizeof(*r->parent));
	r->parent[r->n_scopes++] = 0;
	while (ptx_peek(r)) {
		if (!ptx_word(r, &w))
			return ptx_fail(r, "'%c' between directives", *r->p);
		if (!directive(r, w, &s))
			return false;
	}
	return (s.version && s.address_size && r->m->sm) || ptx_fail(r, "no .version, .target or .address_size 64");
}

struct ptx_module *ptx_read(const char *text, size_t n, struct ptx_error *e)
{
	struct ptx_reader r = {.p = text, .end = text + n, .line = 1, .e = e};
	e->text[0] = 0;
	r.m = calloc(1, sizeof(*r.m));
	if (!r.m)
		abort();
	bool ok = n <= MAX_TEXT ? module(&r) : ptx_fail(&r, "more than %d bytes", MAX_TEXT);
	free(r.symbol);
	free(r.bucket);
	free(r.parent);
	free(r.fixup);
	if (ok)
		return r.m;
	ptx_free(r.m);
	return NULL;
}

void ptx_free(struct ptx_module *m)
{
	for (size_t i = 0; m && i < m->n_kernels; i++) {
		struct ptx_kernel *k = m->kernel[i];
		free(k->code->op);
		free(k->code->bytes);
		free(k->code->constant);
		free(k->code->reloc);
		free(k->code);
		free(k->name);
		free(k);
	}
	if (m) {
		free(m->kernel);
		free(m->data);
	}
	free(m);
}

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *m, size_t i) { return i < m->n_kernels ? m->kernel[i] : NULL; }

const struct ptx_kernel *ptx_kernel(const struct ptx_module *m, const char *name)
{
	for (size_t i = 0; i < m->n_kernels; i++)
		if (!strcmp(m->kernel[i]->name, name))
			return m->kernel[i];
	return NULL;
}

unsigned ptx_target(const struct ptx_module *m) { return m->sm; }

const void *ptx_data(const struct ptx_module *m, size_t *bytes)
{
	*bytes = m->n_data;
	return m->data;
}
