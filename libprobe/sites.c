/* sites.c - which functions of a model are watched, and its slots. */
#include "guard.h"

#include <errno.h>

#include "model/contract/opsig.h"

#define MARGIN 16  /* words of arguments copied beyond those in the contract */
#define ANY_OP 128 /* words of arguments of an unknown op */
#define MAX_TOLD 8 /* names in an event */

void ops_after_fork(struct ops *ops)
{
	pthread_mutex_init(&ops->lock, NULL);
	cuda_after_fork();
	cuda_graph_after_fork();
	cuda_scan_after_fork();
	cuda_time_after_fork();
}

/* ---- slots ---- */

struct taking {
	struct model *m;
	uint32_t first_free;
	bool no_room;
	bool values, gates;
	void *const *imports; /* our functions, by enum ops_import */
};

/* The function of a slot: bound already, or as the linker would bind it (global scope first, then the model's own). */
static void *target_of(const struct object *o, const uintptr_t *at, const ElfW(Sym) * s, const char *name)
{
	uintptr_t own = s->st_shndx != SHN_UNDEF ? o->base + s->st_value : 0;
	if (*at == own || *at < o->start || *at >= o->end)
		return (void *)*at;
	void *p = torch_import(own ? NULL : o, name);
	return p ? p : (void *)own;
}

static struct ops_site *site_of(struct taking *k, const char *name)
{
	struct ops_site *free_one = NULL;
	for (uint32_t i = 0; i < OPS_SITES; i++) {
		struct ops_site *s = &ops_site[i];
		if (s->model == k->m && s->target && !strcmp(s->name, name))
			return s;
		if (!s->target) {
			free_one = free_one ? free_one : s;
			/* Those in use come first, except for gaps left by unloaded models. */
			if (i >= k->first_free)
				break;
		}
	}
	k->no_room |= !free_one;
	return free_one;
}

static bool starts(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

static bool has_call(const struct model *m, enum call_kind kind, const char *name)
{
	for (uint32_t i = 0; m->has_contract && i < m->contract.n_calls; i++)
		if (m->contract.call[i].kind == kind && slice_is(m->contract.call[i].name, name))
			return true;
	return false;
}

static bool is_kernel(const struct model *m, const char *name)
{
	/* torch/_inductor/codegen/cpp.py, cpp_gemm_template.py, triton.py, cutlass/scheduling.py */
	return starts(name, "cpp_") || starts(name, "triton_") || starts(name, "cutlass_") || has_call(m, CALL_KERNEL, name);
}

/* Ops without a device in their name (aoti_torch_index_put_out) are distinguished from accessors by the contract, or by what they write. */
static bool is_op(const struct model *m, const char *name)
{
	if (starts(name, OPSIG_PREFIX "cpu_") || has_call(m, CALL_OP, name) || (starts(name, OPSIG_PREFIX "cuda_") && opsig(name)))
		return true;
	const char *sig = m->has_contract ? NULL : opsig(name);
	return sig && strpbrk(sig, "OM") && !starts(name, OPSIG_PREFIX "assign");
}

static bool classify(const struct taking *k, const ElfW(Sym) * s, const char *name, enum site_kind *kind)
{
	/* Also if it is defined here: a statically linked runtime with exported functions. */
	if (cuda_form_of(name)) {
		*kind = SITE_LAUNCH;
		return true;
	}
	if (s->st_shndx != SHN_UNDEF) {
		*kind = SITE_KERNEL;
		return is_kernel(k->m, name);
	}
	if (!starts(name, OPSIG_PREFIX))
		return false;
	if (!strcmp(name, OPSIG_PREFIX "proxy_executor_call_function"))
		*kind = SITE_PROXY;
	else if (is_op(k->m, name))
		*kind = SITE_OP;
	else if (k->gates && (starts(name, OPSIG_PREFIX "item_") || starts(name, OPSIG_PREFIX "empty_strided")))
		*kind = SITE_GATE;
	else
		return false;
	return true;
}

static uint32_t kernel_words(const struct model *m, const char *name)
{
	uint32_t words = 0;
	bool known = false;
	if (!m->has_contract || m->contract.source != CONTRACT_FROM_TEXT)
		return NONE;
	for (uint32_t i = 0; i < m->contract.n_calls; i++) {
		const struct contract_call *c = &m->contract.call[i];
		if (c->kind != CALL_KERNEL || !slice_is(c->name, name))
			continue;
		known = true;
		words = c->n_args > words ? c->n_args : words;
	}
	return known ? words + MARGIN : NONE;
}

static uint32_t op_words(const char *sig)
{
	uint32_t n = 0;
	if (!sig)
		return ANY_OP;
	for (; *sig; sig++)
		n += *sig == 'z' ? 2 : 1;
	return n;
}

/* Accessors that reveal which address belongs to which tensor. */
static bool take_accessor(struct taking *k, uintptr_t *at, const ElfW(Sym) * s, const char *name)
{
	static const char *const names[OPS_IMPORTS] = {[OPS_GET_DATA_PTR] = OPSIG_PREFIX "get_data_ptr",
						       [OPS_FROM_BLOB] = OPSIG_PREFIX "create_tensor_from_blob",
						       [OPS_FROM_BLOB_V2] = OPSIG_PREFIX "create_tensor_from_blob_v2",
						       [OPS_EMPTY] = OPSIG_PREFIX "empty_strided",
						       [OPS_REINTERPRET] = OPSIG_PREFIX "_reinterpret_tensor",
						       [OPS_DELETE] = OPSIG_PREFIX "delete_tensor_object"};
	struct ops *ops = k->m->ops;
	const int n = ops_want() & (CALLS_BOUNDS_TWICE | CALLS_BOUNDS_ALLOC) ? OPS_IMPORTS : OPS_EMPTY;
	for (int i = 0; i < n; i++) {
		if (strcmp(name, names[i]))
			continue;
		void *ours = k->imports[i];
		void *target = *at == (uintptr_t)ours ? NULL : target_of(&k->m->object, at, s, name);
		if (!target)
			return true;
		void *to[OPS_IMPORTS] = {&ops->get_data_ptr, &ops->from_blob,   &ops->from_blob_v2,
					 &ops->empty,        &ops->reinterpret, &ops->delete};
		memcpy(to[i], &target, sizeof(target));
		object_write(at, (uintptr_t)ours);
		return true;
	}
	return false;
}

static bool take_driver(struct taking *k, uintptr_t *at, const ElfW(Sym) * s, const char *name)
{
	return s->st_shndx == SHN_UNDEF &&
	       (starts(name, "cuModule") || starts(name, "cuLibrary") || starts(name, "cuKernel") || starts(name, "__cuda")) &&
	       cuda_take_slot(k->m, at, target_of(&k->m->object, at, s, name), name);
}

static void take_slot(void *user, uintptr_t *at, const ElfW(Sym) * sym, const char *name)
{
	struct taking *k = user;
	enum site_kind kind;
	if (ops_want() & CALLS_BOUNDS_TWICE && guard_omp_is(name)) {
		guard_omp_take(k->m, at, name, target_of(&k->m->object, at, sym, name));
		return;
	}
	if ((k->values && take_accessor(k, at, sym, name)) || take_driver(k, at, sym, name) || !classify(k, sym, name, &kind))
		return;
	k->m->ops->cuda |= kind == SITE_LAUNCH || starts(name, OPSIG_PREFIX "cuda_");
	struct ops_site *s = site_of(k, name);
	if (!s)
		return;
	uint32_t i = (uint32_t)(s - ops_site);
	if (!s->target) {
		void *target = target_of(&k->m->object, at, sym, name);
		if (!target)
			return;
		*s = (struct ops_site){.target = target, .model = k->m, .name = name, .kind = kind};
		s->sig = kind == SITE_KERNEL ? NULL : opsig(name);
		s->form = kind == SITE_LAUNCH ? cuda_form_of(name) : NULL;
		s->stack_words = kind == SITE_KERNEL ? kernel_words(k->m, name) : s->form ? s->form->words : op_words(s->sig);
		s->name_id = ops_name(slice_str(name));
		s->passes = ops_filtered(slice_str(name));
		k->first_free = i >= k->first_free ? i + 1 : k->first_free;
	}
	if (object_write(at, (uintptr_t)ops_stub(i)) < 0) {
		char text[256];
		snprintf(text, sizeof(text), "cannot watch %.100s: %s", name, strerror(errno));
		event_aside(k->m->id, text);
	}
}

/* ---- the contract's calls ---- */

static uint32_t site_of_call(const struct model *m, const struct contract_call *c, uint32_t name)
{
	for (uint32_t i = 0; i < OPS_SITES; i++) {
		const struct ops_site *s = &ops_site[i];
		if (!s->target || s->model != m)
			continue;
		if (c->kind == CALL_PROXY ? s->kind == SITE_PROXY
					  : (name ? s->name_id == name : slice_is(c->name, s->name)) && s->kind != SITE_GATE && s->name)
			return i;
	}
	return OPS_SITES;
}

static enum call_role plain_role(const struct contract *c, const struct contract_arg *a)
{
	if (a->role == ARG_IN && a->value < c->n_values && c->value[a->value].kind == VALUE_CONSTANT)
		return CALL_ROLE_CONSTANT;
	/* An unknown buffer is examined before and after. */
	return a->role == ARG_OUT ? CALL_ROLE_OUT : a->role == ARG_INOUT || a->role == ARG_UNKNOWN ? CALL_ROLE_INOUT : CALL_ROLE_IN;
}

static bool same_memory(const struct contract *c, uint32_t a, uint32_t b)
{
	return a == b || (a < c->n_values && b < c->n_values && c->value[a].storage != NONE && c->value[a].storage == c->value[b].storage);
}

/* copy_ writes to its operand without reading it. */
static bool is_copy(struct slice name)
{
	return slice_ends(name, ".copy_.default") || slice_ends(name, ".copy_") || slice_is(name, "aoti_torch_copy_");
}

/* What a region is given: "while_loop_body_graph_0_1_arg1_1". A loop's result is written a turn at a time. */
static bool is_given(struct slice name) { return slice_find(name, "_graph_") && slice_find(name, "_arg"); }

/* The inputs of a call that it overwrites under another name. */
static void mark_twins(const struct contract *c, const struct contract_call *k, uint8_t *role)
{
	for (uint32_t a = k->arg; a < k->arg + k->n_args; a++)
		for (uint32_t b = k->arg; b < k->arg + k->n_args && c->arg[a].role == ARG_IN && c->arg[a].value != NONE; b++)
			if ((c->arg[b].role == ARG_OUT || c->arg[b].role == ARG_INOUT) && same_memory(c, c->arg[a].value, c->arg[b].value))
				role[a] |= OPS_TWIN;
}

/* Two things that a kernel's declaration does not show. An in_out_ptr to a buffer that was not written before only accumulates sums: its
 * earlier contents are not an input. An out_ptr to a buffer that was written before is modified (index_put). */
static bool find_roles(struct model *m)
{
	const struct contract *c = &m->contract;
	const uint32_t n = m->has_contract ? c->n_values : 0, n_storages = m->has_contract ? c->n_storages : 0;
	struct ops *ops = m->ops;
	bool *value = calloc(n + 1, sizeof(*value)), *storage = calloc(n_storages + 1, sizeof(*storage));
	ops->arg_role = calloc((m->has_contract ? c->n_args : 0) + 1, sizeof(*ops->arg_role));
	for (uint32_t i = 0; value && storage && ops->arg_role && m->has_contract && i < c->n_calls; i++) {
		const struct contract_call *k = &c->call[i];
		for (uint32_t a = k->arg; a < k->arg + k->n_args; a++) {
			uint32_t v = c->arg[a].value, s = v < n ? c->value[v].storage : NONE;
			enum call_role role = plain_role(c, &c->arg[a]);
			bool buffer = v < n && c->value[v].kind == VALUE_BUFFER;
			bool before = !buffer || value[v] || (s < n_storages && storage[s]);
			if (role == CALL_ROLE_OUT && v < n && k->kind == CALL_KERNEL && (!buffer || value[v]))
				role = CALL_ROLE_INOUT;
			ops->arg_role[a] = (uint8_t)(role | (role == CALL_ROLE_INOUT && !before ? OPS_FRESH : 0));
			if (v < n && (before || is_given(c->value[v].name)) &&
			    (c->arg[a].role == ARG_OUT || (a == k->arg && is_copy(k->name))))
				ops->arg_role[a] |= OPS_PART;
		}
		mark_twins(c, k, ops->arg_role);
		for (uint32_t a = k->arg; a < k->arg + k->n_args; a++) {
			uint32_t v = c->arg[a].value;
			if (v >= n || (c->arg[a].role != ARG_OUT && c->arg[a].role != ARG_INOUT))
				continue;
			value[v] = true;
			if (c->value[v].storage < n_storages)
				storage[c->value[v].storage] = true;
		}
	}
	bool done = value && storage && ops->arg_role;
	free(value);
	free(storage);
	return done;
}

static bool name_calls(struct model *m)
{
	const struct contract *c = &m->contract;
	struct ops *ops = m->ops;
	uint32_t calls = m->has_contract ? c->n_calls : 0, values = m->has_contract ? c->n_values : 0;
	ops->call_site = calloc(calls + 1, sizeof(*ops->call_site));
	ops->call_name = calloc(calls + 1, sizeof(*ops->call_name));
	ops->call_passes = calloc(calls + 1, sizeof(*ops->call_passes));
	ops->value_name = calloc(values + 1, sizeof(*ops->value_name));
	ops->value_passes = calloc(values + 1, sizeof(*ops->value_passes));
	if (!ops->call_site || !ops->call_name || !ops->call_passes || !ops->value_name || !ops->value_passes)
		return false;
	for (uint32_t i = 0; i < calls; i++) {
		ops->call_name[i] = ops_name(c->call[i].name);
		ops->call_passes[i] = ops_filtered(c->call[i].name);
	}
	for (uint32_t i = 0; i < values; i++) {
		ops->value_name[i] = ops_name(c->value[i].name);
		ops->value_passes[i] = ops_filtered(c->value[i].name);
	}
	for (uint32_t i = 0; i < calls; i++)
		for (uint32_t a = 0; a < c->call[i].n_args; a++) {
			uint32_t v = c->arg[c->call[i].arg + a].value;
			if (v < values && ops->value_passes[v])
				ops->call_passes[i] |= 2;
		}
	return true;
}

/* A launched kernel; NULL: any that is not in the contract. */
static uint32_t launched_site(struct taking *k, const char *name, uint32_t name_id)
{
	for (uint32_t i = 0; i < OPS_SITES; i++) {
		if (ops_site[i].target)
			continue;
		ops_site[i] = (struct ops_site){
		    .target = k->m, .model = k->m, .name = name ? name : "kernel", .kind = SITE_LAUNCHED, .name_id = name_id};
		ops_site[i].passes = name ? ops_filtered(slice_str(name)) : true;
		k->first_free = i >= k->first_free ? i + 1 : k->first_free;
		return i;
	}
	k->no_room = true;
	return OPS_SITES;
}

static bool launches(const struct model *m)
{
	for (uint32_t i = 0; i < OPS_SITES; i++)
		if (ops_site[i].target && ops_site[i].model == m && ops_site[i].kind == SITE_LAUNCH)
			return true;
	return false;
}

void ops_open_device(struct model *m)
{
	struct ops *ops = m->ops;
	static const enum probe_torch names[] = {TORCH_get_current_cuda_stream, TORCH_get_storage_size, TORCH_get_storage_offset,
						 TORCH_get_current_device_index};
	void *to[] = {&ops->current_stream, &ops->get_storage_size, &ops->get_storage_offset, &ops->current_device};
	cuda_open(&m->object);
	cuda_graph_open();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		void *p = torch_import(&m->object, probe_torch_name[names[i]]);
		memcpy(to[i], &p, sizeof(p));
	}
	if (!ops->current_stream)
		event_aside(m->id, "libtorch's current CUDA stream not found: operators and graphs on another stream than the default one "
				   "may be read too early");
}

/* Before looking for the sites of calls. */
static void take_launches(struct taking *k)
{
	struct model *m = k->m;
	struct ops *ops = m->ops;
	ops->launched = OPS_SITES;
	if (!ops->cuda)
		return;
	ops_open_device(m);
	if (!launches(m))
		return;
	ops->launched = launched_site(k, NULL, ops_name(SLICE("(unnamed kernel)")));
	for (uint32_t i = 0; m->has_contract && i < m->contract.n_calls; i++) {
		const struct contract_call *c = &m->contract.call[i];
		if (c->kind == CALL_KERNEL && site_of_call(m, c, ops->call_name[i]) == OPS_SITES)
			launched_site(k, arena_strndup(&m->contract.arena, c->name.p, c->name.n), ops->call_name[i]);
	}
}

/* Are there kernels that cannot be seen? */
static bool missing_launch(const struct model *m)
{
	for (uint32_t i = 0; i < m->contract.n_calls; i++)
		if (m->contract.call[i].kind == CALL_KERNEL && m->ops->call_site[i] == OPS_SITES)
			return true;
	return false;
}

/* Calls of the contract without a slot: the linker bound them permanently. */
static void find_sites(struct model *m)
{
	const struct contract *c = &m->contract;
	struct buf b = {0};
	uint32_t missing = 0;
	for (uint32_t i = 0; m->has_contract && i < c->n_calls; i++) {
		uint32_t site = site_of_call(m, &c->call[i], m->ops->call_name[i]);
		m->ops->call_site[i] = site;
		m->ops->skips |= !m->ops->call_passes[i] && !m->ops->cuda;
		if (site < OPS_SITES || c->call[i].kind != CALL_KERNEL || c->device > DEVICE_CPU)
			continue;
		if (missing++ < MAX_TOLD)
			buf_addf(&b, "%s%.*s", missing > 1 ? ", " : "", SLN(c->call[i].name, 200));
	}
	if (missing) {
		buf_addf(&b, "%s: bound without a slot; calls of %s are not seen", missing > MAX_TOLD ? ", ..." : "",
			 missing > 1 ? "these kernels" : "this kernel");
		event_aside(m->id, buf_str(&b));
	}
	if (c->device > DEVICE_CPU && m->has_contract && m->ops->launched == OPS_SITES && missing_launch(m))
		event_aside(m->id, "a GPU model launches its kernels in an unknown way: only its ops are watched");
	buf_release(&b);
}

bool ops_take_contract(struct model *m) { return name_calls(m) && find_roles(m); }

void ops_take_on(struct model *m, void *const imports[OPS_IMPORTS])
{
	if (!ops_log_open())
		return;
	if (!ops_stub(0)) {
		event_aside(m->id, "kernels and ops are only watched on x86-64 and aarch64");
		return;
	}
	ops_threads_init();
	struct taking k = {.m = m, .values = ops_wants_values(), .gates = ops_config()->want & CALLS_FAIL, .imports = imports};
	m->ops = calloc(1, sizeof(*m->ops));
	if (!m->ops)
		return;
	pthread_mutex_init(&m->ops->lock, NULL);
	void *p = torch_import(&m->object, probe_torch_name[TORCH_is_defined]);
	memcpy(&m->ops->is_defined, &p, sizeof(p));
	for (uint32_t i = 0; i < OPS_SITES; i++)
		if (ops_site[i].target)
			k.first_free = i + 1;
	if (!ops_take_contract(m)) {
		ops_forget(m);
		return;
	}
	object_slots(&m->object, take_slot, &k);
	take_launches(&k);
	find_sites(m);
	if (k.no_room)
		event_aside(m->id, "too many kernels and ops are loaded at once; some of this model's are not watched");
}

void ops_forget(struct model *m)
{
	struct ops *ops = m->ops;
	if (!ops)
		return;
	cuda_forget(m);
	for (uint32_t i = 0; i < OPS_SITES; i++)
		if (ops_site[i].model == m)
			ops_site[i] = (struct ops_site){0};
	ops_forget_constants(ops);
	free(ops->call_site);
	free(ops->call_name);
	free(ops->call_passes);
	free(ops->value_name);
	free(ops->value_passes);
	free(ops->arg_role);
	free(ops->unread);
	pthread_mutex_destroy(&ops->lock);
	free(ops);
	m->ops = NULL;
}
