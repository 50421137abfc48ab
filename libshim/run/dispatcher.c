/* dispatcher.c - asks libtorch's dispatcher for an operator's schema. The C interface has no function for it; C++ has
 *
 *     c10::Dispatcher &c10::Dispatcher::realSingleton();
 *     std::optional<c10::OperatorHandle> c10::Dispatcher::findSchema(const c10::OperatorName &);
 *     std::string c10::impl::OperatorEntry::dumpState() const;        // "name: ...\nschema: ...\n..."
 *
 * (torch 2.13, aten/src/ATen/core/dispatch; the same since 1.8), which are called here by their ABI: results that are not plain values are
 * returned through a pointer to the caller's memory, like large C structs. An OperatorHandle starts with the address of its entry, and that
 * with its name: unless it is the requested name, nothing is called.
 */
#include "proxy.h"

#include <dlfcn.h>

/* libstdc++'s std::string */
struct cxx_string {
	char *p;
	size_t n;
	union {
		char local[16];
		size_t capacity;
	};
};
struct operator_name {
	struct cxx_string name, overload;
};
struct optional_handle {
	const struct operator_name *entry;
	void *list_node;
	bool engaged;
};

struct functions {
	void *(*dispatcher)(void);
	struct optional_handle (*find)(void *dispatcher, const struct operator_name *name);
	struct cxx_string (*dump)(const void *entry);
};

#define FIND(so, name, into) (*(void **)&(into) = dlsym((so), (name)))

static bool find_functions(void *so, struct functions *f)
{
	return FIND(so, "_ZN3c1010Dispatcher13realSingletonEv", f->dispatcher) &&
	       FIND(so, "_ZN3c1010Dispatcher10findSchemaERKNS_12OperatorNameE", f->find) &&
	       FIND(so, "_ZNK3c104impl13OperatorEntry9dumpStateB5cxx11Ev", f->dump);
}

/* A string view over constant text: never changed or freed. */
static void cxx(struct cxx_string *s, const char *text)
{
	*s = (struct cxx_string){.n = strlen(text)};
	if (s->n < sizeof(s->local)) {
		memcpy(s->local, text, s->n);
		s->p = s->local;
	} else {
		s->p = (char *)(uintptr_t)text;
		s->capacity = s->n;
	}
}

static bool same(const struct cxx_string *s, const char *text) { return s->n == strlen(text) && !memcmp(s->p, text, s->n); }

const char *dispatcher_schema(void *so, struct arena *a, const char *op, const char *overload, bool *untold)
{
	struct functions f;
	struct operator_name name;
	*untold = !find_functions(so, &f);
	if (*untold)
		return NULL;
	cxx(&name.name, op);
	cxx(&name.overload, overload);
	struct optional_handle h = f.find(f.dispatcher(), &name);
	if (!h.engaged)
		return NULL;
	*untold = !h.entry || !same(&h.entry->name, op) || !same(&h.entry->overload, overload);
	if (*untold)
		return NULL;
	struct cxx_string text = f.dump(h.entry);
	/* A text of less than 16 bytes would be inside the string object, which was moved here. It is not a schema either. */
	*untold = text.n < sizeof(text.local);
	if (*untold)
		return NULL;
	struct slice rest = slice_of(text.p, text.n), line;
	char *schema = NULL;
	while (!schema && slice_line(&rest, &line))
		if (slice_starts(line, "schema: ") && slice_chr(line, '(') && !slice_is(line, "schema: (none)"))
			schema = arena_strndup(a, line.p + 8, line.n - 8);
	free(text.p);
	*untold = !schema;
	return schema;
}
