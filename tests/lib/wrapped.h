/* wrapped.h - what a wrapper's generated text says, as lines: inputs(), outputs(), calls(), ... of the contract `c` that was read of `text`. */
#ifndef PT2_TEST_WRAPPED_H
#define PT2_TEST_WRAPPED_H
#include "test.h"

#include "model/cppwrapper/wrapper.h"

static struct err err;
static struct contract c;
static struct buf text;

/* ---- a contract as lines ---- */

static inline void put(const char *fmt, ...) PRINTF_LIKE(1, 2);
static inline void put(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&text, fmt, ap);
	va_end(ap);
}

static inline void put_type(int dtype, int device)
{
	const struct dtype_info *d = dtype_info(dtype);
	put("%s@%s", d ? d->brief : "?", device == DEVICE_NONE ? "?" : device_name(device));
}

/* [s17!2..64,8]/(8,1!): ! was checked as an integer */
static inline void put_dims(int n, const struct contract_dim *d)
{
	if (n < 0) {
		put("[?]");
		return;
	}
	for (int k = 0; k < 2; k++) {
		put(k ? "/(" : "[");
		for (int i = 0; i < n; i++) {
			const struct symrange *r = &d[i].range;
			put(i ? "," : "");
			symsize_print(&c.tab, k ? d[i].stride : d[i].size, &text);
			put((k ? d[i].stride_checked : d[i].size_checked) ? "!" : "");
			if (!k && (!r->lo_inf || !r->hi_inf)) {
				put(":");
				if (!r->lo_inf)
					put("%lld", (long long)r->lo);
				put("..");
				if (!r->hi_inf)
					put("%lld", (long long)r->hi);
			}
		}
		put(k ? ")" : "]");
	}
}

static const char *inputs(void)
{
	buf_reset(&text);
	for (uint32_t i = 0; i < c.n_inputs; i++) {
		const struct contract_input *in = &c.input[i];
		put("%.*s ", SL(in->name));
		put_type(in->dtype, in->device);
		put_dims(in->n_dim, in->dim);
		put(" %s%u%s", in->rank_known ? "#" : "rank? #", in->asserted, in->used ? "" : " unused");
		put(in->alignment ? " align %d\n" : "\n", in->alignment);
	}
	return buf_str(&text);
}

static const char *outputs(void)
{
	buf_reset(&text);
	for (uint32_t i = 0; i < c.n_outputs; i++) {
		const struct contract_output *o = &c.output[i];
		struct slice v = o->value == NONE ? SLICE("nothing") : c.value[o->value].name;
		if (o->none) {
			put("%.*s = None\n", SL(o->name));
			continue;
		}
		put("%.*s = %.*s ", SL(o->name), SL(v));
		put_type(o->dtype, o->device);
		put_dims(o->n_dim, o->dim);
		put("\n");
	}
	return buf_str(&text);
}

/* kernel(<in, >out, =inout, scalar) */
static const char *calls(void)
{
	buf_reset(&text);
	for (uint32_t i = 0; i < c.n_calls; i++) {
		const struct contract_call *k = &c.call[i];
		put("%s%.*s(", k->kind == CALL_PROXY ? "proxy " : "", SL(k->name));
		for (uint32_t j = 0; j < k->n_args; j++) {
			const struct contract_arg *a = &c.arg[k->arg + j];
			put(j ? ", " : "");
			if (a->role == ARG_SCALAR)
				put("%.*s", SL(a->text));
			else
				put("%s%.*s", a->role == ARG_IN ? "<" : a->role == ARG_OUT ? ">" : "=", SL(c.value[a->value].name));
		}
		put(")\n");
	}
	return buf_str(&text);
}

/* name bytes born-dies */
static const char *storages(void)
{
	buf_reset(&text);
	for (uint32_t i = 0; i < c.n_storages; i++) {
		for (uint32_t v = 0; v < c.n_values; v++)
			if (c.value[v].storage == i)
				put("%.*s ", SL(c.value[v].name));
		symsize_print(&c.tab, c.storage[i].bytes, &text);
		put(" %u-%u\n", c.storage[i].born, c.storage[i].dies);
	}
	return buf_str(&text);
}

static const char *symbols(void)
{
	buf_reset(&text);
	for (uint32_t i = 0; i < c.n_symbols; i++) {
		const struct contract_symbol *s = &c.symbol[i];
		struct slice name = symtab_name(&c.tab, s->symbol);
		put("%.*s ", SL(name));
		symrange_print(s->range, &text);
		put(s->input == NONE ? " data\n" : " %u.%u\n", s->input, s->dim);
	}
	return buf_str(&text);
}

static const char *notes(void)
{
	buf_reset(&text);
	for (uint32_t i = 0; i < c.n_notes; i++)
		put("%.*s\n", SL(c.note[i]));
	return buf_str(&text);
}

static inline void is(const char *got, const char *want) { assert_string_equal(got, want); }

static inline int read_raw(const char *s)
{
	contract_release(&c);
	return wrapper_read(&c, slice_str(s), (struct slice){0}, &err);
}

#endif
