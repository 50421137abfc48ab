#include "ops.h"

#include <errno.h>
#include <sys/stat.h>

const char *const entry_name[ENTRIES] = {
    [ENTRY_RUN] = "AOTInductorModelContainerRun",   [ENTRY_RUN_SINGLE] = "AOTInductorModelContainerRunSingleThreaded",
    [ENTRY_MODEL_RUN] = "AOTInductorModelRun",      [ENTRY_INDUCTOR] = "_Z19inductor_entry_implPP16AtenTensorOpaqueS1_",
    [ENTRY_LAST_ERROR] = "AOTInductorGetLastError",
};

struct model models[PROBE_MODELS];

/* Taken while the loader's own lock is held (initialisers run under it), never the other way round. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Another thread of the parent may have held a lock. */
static void after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	for (size_t i = 0; i < PROBE_MODELS; i++)
		if (models[i].used)
			pthread_mutex_init(&models[i].lock, NULL);
	for (size_t i = 0; i < PROBE_MODELS; i++)
		if (models[i].used && models[i].ops)
			ops_after_fork(models[i].ops);
}

static void watch_forks(void)
{
	static bool done;
	if (!done)
		pthread_atfork(NULL, NULL, after_fork);
	done = true;
}

/* Is this object's entry point ours already? */
static bool redirected(const struct object *o, size_t i, const struct probe_entries *ours)
{
	for (int e = 0; e < ENTRIES; e++) {
		ElfW(Sym) *s = models[i].real[e] ? object_export(o, entry_name[e]) : NULL;
		if (s)
			return object_address(o, s) == ours->entry(i, (enum entry)e);
	}
	return false;
}

static bool is_known(const struct object *o, const struct probe_entries *ours)
{
	for (size_t i = 0; i < PROBE_MODELS; i++)
		if (models[i].used && models[i].object.base == o->base && redirected(o, i, ours))
			return true;
	return false;
}

/* An unloaded model took its changed symbols with it; whatever is there now has others. */
static void forget_unloaded(const struct probe_entries *ours)
{
	for (size_t i = 0; i < PROBE_MODELS; i++) {
		struct model *m = &models[i];
		struct object now;
		if (!m->used || (object_at((const void *)m->object.start, &now) && now.base == m->object.base && redirected(&now, i, ours)))
			continue;
		m->used = false;
		ops_forget(m);
		if (m->has_contract) {
			precheck_release(&m->check);
			contract_release(&m->contract);
		}
		free(m->path);
		pthread_mutex_destroy(&m->lock);
	}
}

static struct model *free_place(void)
{
	for (size_t i = 0; i < PROBE_MODELS; i++)
		if (!models[i].used)
			return &models[i];
	return NULL;
}

/* xmalloc exits when memory runs out: we must not do that to the target process. */
static bool roomy(void)
{
	void *p = malloc(LIVE_MAX_CONTRACT / 8);
	free(p);
	return p != NULL;
}

static void tell_seen(const struct model *m, uint64_t dev, uint64_t ino)
{
	struct buf b = {0};
	struct json_out o;
	event_begin(&o, &b, LIVE_MODEL_SEEN, m->id);
	json_member_str(&o, "path", slice_str(m->path));
	char *package = probe_package();
	json_member_some(&o, "package", slice_str(package ? package : ""));
	free(package);
	json_member_u64(&o, "dev", dev);
	json_member_u64(&o, "ino", ino);
	json_member_arr(&o, "entries");
	for (int e = 0; e < ENTRIES; e++)
		if (m->real[e])
			json_out_str(&o, slice_str(entry_name[e]));
	json_close(&o);
	event_end(&o, &b);
}

static uint32_t incomplete(const struct contract *c)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		bool whole = c->input[i].rank_known && c->input[i].dtype != DTYPE_NONE;
		for (int d = 0; d < c->input[i].n_dim; d++)
			whole &= contract_known(c, c->input[i].dim[d].size) && contract_known(c, c->input[i].dim[d].stride);
		n += !whole;
	}
	return n;
}

static void take_contract(struct model *m, uint64_t dev, uint64_t ino)
{
	struct buf json = {0}, b = {0};
	struct json_out o;
	struct err err = {0};
	if (!roomy())
		err_set(&err, EXIT_ENVIRON, "the process is low on memory");
	else if (!talk_contract(m->path, dev, ino, &json, &err) &&
		 !contract_from_json(&m->contract, slice_of(json.p + 1, json.len - 1), &err)) {
		precheck_build(&m->check, &m->contract);
		m->has_contract = true;
	}
	buf_release(&json);
	event_begin(&o, &b, m->has_contract ? LIVE_CONTRACT : LIVE_NO_CONTRACT, m->id);
	if (m->has_contract) {
		json_member_u64(&o, "inputs", m->contract.n_inputs);
		json_member_u64(&o, "unknown", incomplete(&m->contract));
	} else {
		contract_release(&m->contract);
		json_member_str(&o, "text", slice_str(err.text));
	}
	event_end(&o, &b);
}

struct own_slot {
	uintptr_t from, to;
};

static void rebind_own(void *user, uintptr_t *at, const ElfW(Sym) * s, const char *name)
{
	const struct own_slot *own = user;
	(void)s;
	if (*at == own->from && !strcmp(name, entry_name[ENTRY_INDUCTOR]))
		object_write(at, own->to);
}

static void take_on(const struct object *o, ElfW(Sym) *const symbol[ENTRIES], const struct probe_entries *entries)
{
	struct model *m = free_place();
	if (!m) {
		event_aside(LIVE_NO_MODEL, "too many models are loaded at once; this one is not watched");
		return;
	}
	*m = (struct model){.object = *o, .count = &m->own_count, .lock = PTHREAD_MUTEX_INITIALIZER};
	if (!torch_find(o, &m->torch)) {
		event_aside(LIVE_NO_MODEL, "a model was loaded, but libtorch's tensor functions were not found");
		return;
	}
	struct live_count *count = talk_slot(&m->id);
	if (count)
		m->count = count;
	m->path = xstrdup(*o->name ? o->name : "/proc/self/exe");
	struct stat st = {0};
	stat(m->path, &st);
	for (int e = 0; e < ENTRIES; e++)
		m->real[e] = symbol[e] ? object_address(o, symbol[e]) : NULL;
	tell_seen(m, st.st_dev, st.st_ino);
	take_contract(m, st.st_dev, st.st_ino);

	size_t i = (size_t)(m - models);
	void *imports[OPS_IMPORTS];
	for (int k = 0; k < OPS_IMPORTS; k++)
		imports[k] = entries->import(i, (enum ops_import)k);
	ops_take_on(m, imports);

	/* From here on it may be called. */
	m->used = true;
	for (int e = 0; e < ENTRIES; e++) {
		if (!symbol[e])
			continue;
		void *ours = entries->entry(i, (enum entry)e);
		if (object_redirect(o, symbol[e], ours) < 0) {
			char text[128];
			snprintf(text, sizeof(text), "cannot watch %s: %s", entry_name[e], strerror(errno));
			event_aside(m->id, text);
		} else {
			object_rebind(o, entry_name[e], m->real[e], ours);
			/* Python calls it through another function of the same library. */
			struct own_slot own = {(uintptr_t)m->real[e], (uintptr_t)ours};
			if (e == ENTRY_INDUCTOR)
				object_slots(o, rebind_own, &own);
		}
	}
	if (object_export(o, "AOTInductorModelRunMinimalArrayrefInterface") ||
	    object_export(o, "AOTInductorModelRunMinimalArrayrefInterfaceV2"))
		event_aside(m->id, "calls through the minimal arrayref interface are not watched");
}

bool model_like(const struct object *o)
{
	return object_export(o, entry_name[ENTRY_RUN]) || object_export(o, entry_name[ENTRY_RUN_SINGLE]) ||
	       object_export(o, entry_name[ENTRY_MODEL_RUN]) || object_export(o, entry_name[ENTRY_INDUCTOR]);
}

void model_entered(const void *caller)
{
	for (size_t i = 0; i < PROBE_MODELS; i++) {
		struct model *m = &models[i];
		uintptr_t at = (uintptr_t)caller;
		if (!m->used || at < m->object.start || at >= m->object.end)
			continue;
		/* Not during constant folding, which does the same. */
		for (int e = 0; e < ENTRIES; e++) {
			const ElfW(Sym) *s = m->real[e] ? object_export(&m->object, entry_name[e]) : NULL;
			if (s && at - (uintptr_t)m->real[e] < s->st_size)
				atomic_fetch_add_explicit(&m->count->past, 1, memory_order_relaxed);
		}
		return;
	}
}

void model_look(const struct object *o, const struct probe_entries *ours)
{
	ElfW(Sym) * symbol[ENTRIES];
	for (int e = 0; e < ENTRIES; e++)
		symbol[e] = object_export(o, entry_name[e]);
	/* With AOTI_RUNTIME_CHECK_INPUTS a model asks for dtypes in every call: avoid the lock. */
	if (is_known(o, ours))
		return;
	pthread_mutex_lock(&lock);
	watch_forks();
	if (!is_known(o, ours)) {
		forget_unloaded(ours);
		take_on(o, symbol, ours);
	}
	pthread_mutex_unlock(&lock);
}
