/* show.c - the contract as tables. */
#include "checkinputs.h"
#include "base/text.h"
#include "model/doctor/doctor.h"

#include <inttypes.h>

enum { SOME = 16 }; /* rows of long tables without --all */

static void add_size(struct buf *b, const struct contract *c, struct symsize s)
{
	if (contract_known(c, s))
		symsize_print(&c->tab, s, b);
	else
		buf_addc(b, '?');
}

static void add_range(struct buf *b, struct symrange r)
{
	if (r.lo_inf && r.hi_inf)
		buf_adds(b, "any");
	else if (r.hi_inf || r.hi >= INT64_MAX / 2)
		buf_addf(b, "%" PRId64 " or more", r.lo);
	else if (r.lo_inf)
		buf_addf(b, "at most %" PRId64, r.hi);
	else
		buf_addf(b, "%" PRId64 "..%" PRId64, r.lo, r.hi);
}

/* [s77, 8]; the bounds of a size that is only bounded */
static void add_list(struct buf *b, const struct contract *c, int n, const struct contract_dim *d, bool stride)
{
	if (n < 0) {
		buf_addc(b, '?');
		return;
	}
	buf_addc(b, '[');
	for (int i = 0; i < n; i++) {
		buf_adds(b, i ? ", " : "");
		if (!stride && !contract_known(c, d[i].size) && !(d[i].range.lo_inf && d[i].range.hi_inf))
			add_range(b, d[i].range);
		else
			add_size(b, c, stride ? d[i].stride : d[i].size);
	}
	buf_addc(b, ']');
}

static void add_type(struct buf *b, int dtype, int device)
{
	buf_addf(b, "%s\t%s\t", dtype == DTYPE_NONE ? "?" : dtype_name(dtype), device == DEVICE_NONE ? "?" : device_name(device));
}

static void show_heading(struct screen *s, const char *text)
{
	buf_addc(&s->b, '\n');
	put_bold(s, text);
	buf_addc(&s->b, '\n');
}

static void more(struct screen *s, uint32_t n, bool all)
{
	if (n > SOME && !all)
		buf_addf(&s->b, "  ... and %u more (--all shows them)\n", n - SOME);
}

static void show_head(struct screen *s, const struct loaded *l)
{
	const struct contract *c = &l->contract;
	struct package_metadata md = {0};
	struct doctor_isa isa;
	char *path = xstrdup(l->pkg.path);
	clean_text(path, strlen(path));
	put_bold(s, path);
	free(path);
	if (!l->model) {
		buf_adds(&s->b, ": an exported program, not compiled; from its signature\n");
		return;
	}
	if (l->pkg.kind != PACKAGE_SO)
		buf_addf_clean(&s->b, ": model '%.*s'", SL(l->model->name));
	if (package_metadata((struct package *)&l->pkg, l->model, &md, NULL) < 0)
		md = (struct package_metadata){0};
	if (c->device != DEVICE_NONE)
		buf_addf(&s->b, ", compiled for %s", device_name(c->device));
	doctor_isa_of_model((struct package *)&l->pkg, l->model, &isa);
	if (md.cpu_isa.n ||
	    md.compute_capability.n) /* AOTI_CPU_ISA is of the kernels that Inductor vectorized; the compiler may use more */
		buf_addf_clean(&s->b, " (%.*s%s%s%.*s)", SL(md.cpu_isa),
			       md.cpu_isa.n && isa.allowed & ~isa.named & ISA(AVX512F) ? ", compiled with AVX-512" : "",
			       md.cpu_isa.n && md.compute_capability.n ? ", sm " : "", SL(md.compute_capability));
	buf_adds(&s->b, c->source == CONTRACT_FROM_PROBE ? "; from probing the binary\n" : "; from its generated code\n");
}

static void show_inputs(struct screen *s, const struct contract *c)
{
	struct buf b = {0};
	buf_adds(&b, "#\targument\tname\tdtype\tdevice\tsizes\tstrides\n");
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		const struct contract_input *in = &c->input[i];
		buf_addf(&b, "%u\t", i);
		buf_add_clean(&b, in->path.n ? in->path : SLICE("?"));
		buf_addc(&b, '\t');
		buf_add_clean(&b, in->name);
		buf_addc(&b, '\t');
		add_type(&b, in->dtype, in->device);
		add_list(&b, c, in->n_dim, in->dim, false);
		if (!in->rank_known)
			buf_cut(&b, b.len - 1), buf_adds(&b, in->n_dim ? ", ...]" : "...]");
		buf_addc(&b, '\t');
		add_list(&b, c, in->n_dim, in->dim, true);
		if (!in->used)
			buf_adds(&b, "  unused");
		if (in->alignment)
			buf_addf(&b, "  aligned to %d bytes", in->alignment);
		buf_addc(&b, '\n');
	}
	show_heading(s, "Inputs");
	if (c->n_inputs)
		put_table(s, buf_slice(&b));
	else
		buf_adds(&s->b, "  none\n");
	buf_release(&b);
}

/* Every dim with this symbol, which shows what must agree. */
static void add_places(struct buf *b, const struct contract *c, const struct contract_symbol *sym)
{
	bool first = true;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		for (int d = 0; d < c->input[i].n_dim; d++) {
			const struct contract_dim *dim = &c->input[i].dim[d];
			uint32_t ids[8];
			size_t n = symsize_symbols(&c->tab, dim->size, ids, ARRAY_LEN(ids));
			bool in = false;
			for (size_t k = 0; k < n && k < ARRAY_LEN(ids); k++)
				in |= ids[k] == sym->symbol;
			if (!in)
				continue;
			buf_addf(b, "%sdim %d of ", first ? "" : " = ", d);
			const struct contract_input *input = &c->input[i];
			buf_add_slice(b, input->path.n ? input->path : input->name);
			if (n > 1 || !symsize_eq(dim->size, symsize_symbol((struct symtab *)&c->tab, symtab_name(&c->tab, sym->symbol)))) {
				buf_adds(b, " (");
				symsize_print(&c->tab, dim->size, b);
				buf_adds(b, ")");
			}
			first = false;
		}
	if (first)
		buf_adds(b, "from the data");
}

static void show_symbols(struct screen *s, const struct contract *c)
{
	if (!c->n_symbols)
		return;
	struct buf b = {0};
	buf_adds(&b, "symbol\trange\twhere\n");
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		buf_add_slice(&b, symtab_name(&c->tab, c->symbol[i].symbol));
		buf_addc(&b, '\t');
		add_range(&b, c->symbol[i].range);
		buf_addc(&b, '\t');
		add_places(&b, c, &c->symbol[i]);
		buf_addc(&b, '\n');
	}
	show_heading(s, "Dynamic sizes");
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

static void show_outputs(struct screen *s, const struct contract *c)
{
	struct buf b = {0};
	buf_adds(&b, "#\tresult\tdtype\tdevice\tsizes\tstrides\n");
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		const struct contract_output *o = &c->output[i];
		struct slice name = o->path.n ? o->path : o->name;
		buf_addf(&b, "%u\t", i);
		buf_addf_clean(&b, "%.*s\t", SL(name));
		if (o->none) {
			buf_adds(&b, "None\n");
			continue;
		}
		add_type(&b, o->dtype, o->device);
		add_list(&b, c, o->n_dim, o->dim, false);
		buf_addc(&b, '\t');
		add_list(&b, c, o->n_dim, o->dim, true);
		buf_addc(&b, '\n');
	}
	show_heading(s, "Outputs");
	put_table(s, buf_slice(&b));
	buf_release(&b);
}

static void show_constants(struct screen *s, const struct contract *c, bool all)
{
	static const char *const type[] = {"", "parameter", "buffer", "tensor", "folded"};
	if (!c->n_constants)
		return;
	struct buf b = {0};
	buf_adds(&b, "#\tmodule path\tkind\tdtype\tdevice\tsizes\tbytes\n");
	for (uint32_t i = 0; i < c->n_constants && (all || i < SOME); i++) {
		const struct contract_constant *k = &c->constant[i];
		struct slice name = k->fqn.n ? k->fqn : k->name;
		buf_addf(&b, "%u\t", i);
		buf_addf_clean(&b, "%.*s\t", SL(name));
		buf_addf(&b, "%s\t", type[k->type]);
		add_type(&b, k->dtype, k->device);
		add_list(&b, c, k->n_dim, k->dim, false);
		buf_addf(&b, "\t%" PRIu64 "\n", k->bytes);
	}
	show_heading(s, "Constants");
	put_table(s, buf_slice(&b));
	more(s, c->n_constants, all);
	buf_release(&b);
}

static void show_memory(struct screen *s, const struct contract *c, const struct symbind *at)
{
	uint64_t peak;
	uint32_t lost;
	bool known = contract_peak(c, at, &peak, &lost);
	show_heading(s, "Memory");
	buf_adds(&s->b, "  weights            ");
	put_bytes(&s->b, c->weight_bytes);
	buf_adds(&s->b, "\n  intermediate peak  ");
	if (!known)
		buf_adds(&s->b, lost < c->n_storages ? "at least " : "unknown");
	if (known || lost < c->n_storages)
		put_bytes(&s->b, peak);
	bool first = true;
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		int64_t v;
		if (!symbind_get(at, c->symbol[i].symbol, &v))
			continue;
		struct slice name = symtab_name(&c->tab, c->symbol[i].symbol);
		buf_addf_clean(&s->b, "%s%.*s = %" PRId64, first ? " at " : ", ", SL(name), v);
		first = false;
	}
	uint32_t silent = 0;
	for (uint32_t i = 0; i < c->n_storages; i++)
		silent += !contract_known(c, c->storage[i].bytes);
	if (silent)
		buf_addf(&s->b, "; %u of %u buffers not counted: their sizes are not in the code", silent, c->n_storages);
	if (lost > silent)
		buf_addf(&s->b, "; %u of %u buffers have no maximum size: give one with --shape NAME=N", lost - silent, c->n_storages);
	buf_addc(&s->b, '\n');
}

static void show_calls(struct screen *s, const struct contract *c, bool all)
{
	if (!c->n_calls)
		return;
	struct buf b = {0};
	const bool streams = contract_streams(c);
	buf_addf(&b, "#\tkernel or op\t%swrites\treads\tsource nodes\n", streams ? "stream\t" : "");
	for (uint32_t i = 0; i < c->n_calls && (all || i < SOME); i++) {
		const struct contract_call *k = &c->call[i];
		const char *how = k->kind != CALL_PROXY ? "" : slice_starts(k->name, "aten::") ? " (proxy)" : " (custom op)";
		buf_addf(&b, "%u\t", i);
		buf_addf_clean(&b, "%.*s%s\t", SL(k->name), how);
		if (streams && k->stream)
			buf_addf(&b, "%u\t", k->stream);
		else if (streams)
			buf_adds(&b, "caller's\t");
		for (int out = 1; out >= 0; out--) {
			bool first = true;
			for (uint32_t a = k->arg; a < k->arg + k->n_args; a++) {
				const struct contract_arg *arg = &c->arg[a];
				bool takes =
				    out ? arg->role == ARG_OUT || arg->role == ARG_INOUT : arg->role == ARG_IN || arg->role == ARG_INOUT;
				bool unknown = arg->role == ARG_UNKNOWN && !out;
				if (arg->value == NONE || !(takes || unknown))
					continue;
				buf_adds(&b, first ? "" : ", ");
				buf_add_clean(&b, c->value[arg->value].name);
				buf_adds(&b, unknown ? " (or writes)" : "");
				first = false;
			}
			buf_addc(&b, '\t');
		}
		buf_add_clean(&b, k->nodes);
		buf_addc(&b, '\n');
	}
	show_heading(s, "Calls, in order");
	put_table(s, buf_slice(&b));
	more(s, c->n_calls, all);
	buf_release(&b);
}

static void add_rows(struct buf *b, const char *before, struct slice rows)
{
	for (struct slice row; slice_line(&rows, &row); before = "                ")
		buf_addf(b, "%s%.*s\n", before, SL(row));
}

/* Generated code compared with the binary: the findings, and what they are based on. */
static void show_compared(struct screen *s, const struct loaded *l)
{
	const struct contract *c = &l->contract;
	const struct comparison *k = &l->compared;
	buf_addc(&s->b, '\n');
	if (k->n_differs)
		put_error(s, "The code is not what this binary was built from");
	else if (k->n_open)
		put_bold(s, "The binary could only be compared with its code in part; there it agrees");
	else
		put_bold(s, "The binary agrees with its code in everything that was compared");
	buf_addc(&s->b, '\n');
	add_rows(&s->b, "  differs       ", buf_slice(&k->differs));
	add_rows(&s->b, "  open          ", buf_slice(&k->open));
	buf_addf(&s->b,
		 "  compared      %u inputs and %u outputs (sizes, strides, types, devices, bounds), %u constants (names, types, sizes),\n"
		 "                %u of %u calls (%s)\n"
		 "  not compared  what the kernels compute, and the values of constants\n",
		 c->n_inputs, c->n_outputs, c->n_constants, k->n_calls, c->n_calls,
		 k->branches ? "names, and their order on each path through the branches" : "names, order, tensors");
}

static void show_races(struct screen *s, const struct contract *c)
{
	bool first = true;
	for (uint32_t i = 0; i < c->n_calls; i++) {
		const struct contract_call *k = &c->call[i];
		if (!k->race || k->race > i || k->race_value >= c->n_values)
			continue;
		if (first)
			show_heading(s, "Races between streams");
		first = false;
		const struct contract_call *other = &c->call[k->race - 1];
		struct slice value = c->value[k->race_value].name;
		buf_addf_clean(&s->b, "  call %u (%.*s) and call %u (%.*s) use %.*s on different streams, and no event orders them\n",
			       k->race - 1, SL(other->name), i, SL(k->name), SL(value));
	}
}

static void show_doubts(struct screen *s, const struct loaded *l)
{
	const struct contract *c = &l->contract;
	if (c->n_notes) {
		show_heading(s, "Not understood");
		for (uint32_t i = 0; i < c->n_notes; i++)
			buf_addf(&s->b, "  %.*s\n", SL(c->note[i]));
	}
	if (l->probed && c->source == CONTRACT_FROM_TEXT)
		show_compared(s, l);
}

void show_contract(struct screen *s, const struct loaded *l, const struct symbind *at, bool all)
{
	const struct contract *c = &l->contract;
	show_head(s, l);
	show_inputs(s, c);
	show_symbols(s, c);
	show_outputs(s, c);
	show_constants(s, c, all);
	show_memory(s, c, at);
	show_calls(s, c, all);
	show_races(s, c);
	show_doubts(s, l);
}

/* ---- what is wrong with the inputs ---- */

/* A fix shared by many findings is printed once. */
static void show_finding(struct screen *s, const struct contract *c, const struct check_finding *f, bool same_fix)
{
	struct slice rest = c->source == CONTRACT_FROM_EXPORT ? SLICE("") : f->aoti, row;
	while (slice_line(&rest, &row))
		buf_addf(&s->b, "  %.*s\n", SL(row));
	buf_adds(&s->b, "    ");
	if (f->dim >= 0)
		buf_addf(&s->b, "%s of dim %d", f->what == CHECK_STRIDE ? "stride" : "size", f->dim);
	else
		buf_adds(&s->b, f->what == CHECK_COUNT ? "inputs" : check_what_name(f->what));
	buf_addf_clean(&s->b, ": expected %.*s, given ", SL(f->expected));
	char *given = xstrndup(f->given.p, f->given.n);
	f->advice ? buf_adds(&s->b, given) : put_error(s, given);
	free(given);
	buf_addc(&s->b, '\n');
	if (same_fix)
		return;
	const size_t from = s->b.len;
	if (f->fix.n && f->fix.p[0] == '.') {
		const struct contract_input *in = &c->input[f->input];
		buf_add_slice(&s->b, in->path.n ? in->path : in->name);
	}
	buf_add_clean(&s->b, f->fix);
	FREED char *fix = xstrndup(s->b.p + from, s->b.len - from);
	buf_cut(&s->b, from);
	buf_adds(&s->b, f->advice ? "    note: " : "    fix: ");
	f->advice ? buf_adds(&s->b, fix) : put_style(s, STYLE_FIX, fix);
	buf_addc(&s->b, '\n');
}

void add_unread(struct buf *b, const struct contract *c)
{
	if (!c->n_unread)
		return;
	buf_adds(b, " as far as known: ");
	contract_unread_text(c, b);
	buf_adds(b, " understood");
}

void show_check(struct screen *s, const struct loaded *l, const struct given *g, const struct check *k)
{
	const struct contract *c = &l->contract;
	for (uint32_t i = 0; i <= c->n_inputs; i++) { /* the last iteration: findings that are not about an input */
		uint32_t input = i < c->n_inputs ? i : NONE;
		bool first = true;
		for (size_t f = 0; f < k->n; f++) {
			if (k->v[f].input != input)
				continue;
			if (first && input != NONE) {
				struct buf b = {0};
				add_input_name(&b, c, input);
				put_bold(s, buf_str(&b));
				buf_reset(&b);
				tensor_spec_print(&g->meta[input], &b);
				buf_addf_clean(&s->b, " = %s", g->from[input]);
				if (strcmp(buf_str(&b), g->from[input]))
					buf_addf_clean(&s->b, ", %s", buf_str(&b));
				buf_addc(&s->b, '\n');
				buf_release(&b);
			}
			first = false;
			const struct check_finding *next = f + 1 < k->n ? &k->v[f + 1] : NULL;
			show_finding(s, c, &k->v[f], next && next->input == input && slice_eq(next->fix, k->v[f].fix));
		}
	}
	uint32_t bad = 0, cut = 0;
	for (size_t f = 0; f < k->n; f++)
		cut += k->v[f].what == CHECK_CUT;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		for (size_t f = 0; f < k->n; f++)
			if (k->v[f].input == i && !k->v[f].advice) {
				bad++;
				break;
			}
	if (!k->n_bad) {
		buf_addf_clean(&s->b, "%s: %s%s", l->pkg.path,
			       c->n_inputs == 0   ? "takes no inputs"
			       : c->n_inputs == 1 ? "the input fits"
						  : "all inputs fit",
			       cut ? ", but not all elements are used" : "");
		add_unread(&s->b, c);
		buf_addc(&s->b, '\n');
		if (c->n_unread)
			buf_adds(&s->b, "  they are shown when no inputs are given; --probe runs the binary itself, in a sandbox\n");
	} else if (!bad && k->n && k->v[0].what == CHECK_COUNT)
		buf_addf_clean(&s->b, "%s: expected %.*s, given %.*s\n", l->pkg.path, SL(k->v[0].expected), SL(k->v[0].given));
	else
		buf_addf_clean(&s->b, "%s: %u of %u inputs %s not fit\n", l->pkg.path, bad, c->n_inputs, bad == 1 ? "does" : "do");
}
