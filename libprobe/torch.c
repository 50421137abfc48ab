/* torch.c - libtorch's functions, found in a process that may have loaded them with RTLD_LOCAL. */
#include "probe.h"

#include <dlfcn.h>

const char *const probe_torch_name[] = {
#define NAME(name, library) "aoti_torch_" #name,
    PROBE_TORCH_FUNCTIONS(NAME)
#undef NAME
};

static const char *const torch_library[] = {
#define LIBRARY(id, name) name,
    PROBE_TORCH_LIBRARIES(LIBRARY)
#undef LIBRARY
};

static bool find_functions(void *handle, struct torch_functions *t)
{
	const struct {
		enum probe_torch name;
		void *to;
		bool optional;
	} want[] = {
	    {TORCH_get_dtype, &t->get_dtype, false},
	    {TORCH_get_dim, &t->get_dim, false},
	    {TORCH_get_sizes, &t->get_sizes, false},
	    {TORCH_get_strides, &t->get_strides, false},
	    {TORCH_get_device_type, &t->get_device_type, false},
	    {TORCH_get_device_index, &t->get_device_index, true},
	    {TORCH_get_layout, &t->get_layout, true},
	    {TORCH_get_data_ptr, &t->get_data_ptr, false},
	    {TORCH_delete_tensor_object, &t->delete_tensor, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		void *p = dlsym(handle, probe_torch_name[want[i].name]);
		if (!p)
			dlerror(); /* hides our lookup from the process's next dlerror() */
		if (!p && !want[i].optional)
			return false;
		memcpy(want[i].to, &p, sizeof(p));
	}
	return true;
}

/* Looks where the model itself finds them: in the global scope, or among its own dependencies. Those stay as long as it does,
 * so the handle is not kept. */
bool torch_find(const struct object *o, struct torch_functions *t)
{
	if (find_functions(RTLD_DEFAULT, t))
		return true;
	const char *const names[] = {o->name, torch_library[0]};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		void *handle = *names[i] ? dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD) : NULL;
		bool found = handle && find_functions(handle, t);
		if (handle)
			dlclose(handle);
		else
			dlerror();
		if (found)
			return true;
	}
	return false;
}

static void *import_from(const char *library, const char *name)
{
	void *handle = *library ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *p = handle ? dlsym(handle, name) : NULL;
	if (handle)
		dlclose(handle);
	return p;
}

struct import {
	const char *name;
	void *found;
};

static void import_object(void *user, const struct object *o)
{
	struct import *i = user;
	const ElfW(Sym) *s = i->found ? NULL : object_export(o, i->name);
	if (s && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
		i->found = object_address(o, s);
}

/* By name first: the loader knows a library by its path and its SONAME. A build of torch's own may call it otherwise. */
void *torch_import(const struct object *o, const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);
	if (!p && o)
		p = import_from(o->name, name);
	for (size_t i = 0; i < ARRAY_LEN(torch_library) && !p && o; i++)
		p = import_from(torch_library[i], name);
	if (!p)
		dlerror(); /* hides our lookup from the process's next dlerror() */
	if (!p && o) {
		struct import i = {.name = name};
		object_each(import_object, &i);
		p = i.found;
	}
	return p;
}
