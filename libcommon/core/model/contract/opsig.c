#include "model/contract/opsig.h"

#include "base/base.h"

struct signature {
	const char *name, *sig;
};
static const struct signature signatures[] = {
#include "model/contract/opsigs.h"
};

/* The key may follow an '@', which sorts with the rest of the name. */
struct key {
	const char *at, *name;
};

static int compare_signature(const void *a, const void *b)
{
	const struct key *k = a;
	const char *name = ((const struct signature *)b)->name;
	if (*k->at && *name != '@')
		return '@' - (unsigned char)*name;
	return strcmp(k->name, name + (*k->at != 0));
}

static const char *find_signature(const char *at, const char *name)
{
	struct key key = {at, name};
	const struct signature *s = bsearch(&key, signatures, ARRAY_LEN(signatures), sizeof(*signatures), compare_signature);
	return s ? s->sig : NULL;
}

static const char *without_prefix(const char *name)
{
	return strncmp(name, OPSIG_PREFIX, strlen(OPSIG_PREFIX)) ? name : name + strlen(OPSIG_PREFIX);
}

const char *opsig_stem(const char *function)
{
	static const char *const devices[] = {"cpu_", "cuda_", "mps_", "xpu_"};
	const char *name = without_prefix(function);
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		if (!strncmp(name, devices[i], strlen(devices[i])))
			return name + strlen(devices[i]);
	return name;
}

const char *opsig(const char *function)
{
	const char *name = without_prefix(function), *stem = opsig_stem(function);
	const char *sig = find_signature("", name);
	return sig || stem == name ? sig : find_signature("@", stem);
}
