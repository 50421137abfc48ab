/* Which command lines the broker starts for a sealed tool: those of pt2-runner that watch/run.c writes, and no others. Files must be in
 * folders that the broker has made; libraries are our own runtime and those that the user named. These words tell the process how to
 * confine itself (libshim/run/confine.c), so none may loosen that. */
#include "base/tool/parts.h"
#include "base/tool/tempfolder.h"
#include "base/broker/broker.h"
#include "base/broker/broker_part.h"

#include <string.h>
#include <unistd.h>

struct trusted {
	enum broker_trust what;
	char *path;
};
static struct trusted *trusted;
static size_t n_trusted, cap_trusted;

void broker_trusts(enum broker_trust what, const char *path)
{
	PUSH_TO(trusted, n_trusted, cap_trusted) = (struct trusted){what, path && *path ? xstrdup(path) : NULL};
}

bool broker_is_trusted(enum broker_trust what, const char *path)
{
	for (size_t i = 0; i < n_trusted; i++)
		if (trusted[i].what == what && (!path || (trusted[i].path && !strcmp(trusted[i].path, path))))
			return true;
	return false;
}

static bool is_part(const char *variable, const char *name, const char *path)
{
	char own[PATH_MAX];
	struct err err;
	return part_find(variable, name, own, &err) == 0 && !strcmp(own, path);
}

enum word { WORD_ALONE, WORD_ANY, WORD_NUMBER, WORD_FILE, WORD_RUNTIME, WORD_TRUSTED, WORD_UNCONFINED, WORD_GPU };
/* pt2-runner --help */
static const struct {
	const char *option;
	enum word value;
} words[] = {
    {"--torch", WORD_RUNTIME},
    {"--model", WORD_FILE},
    {"--in-memory", WORD_NUMBER},
    {"--own-copy", WORD_ALONE},
    {"--name", WORD_ANY},
    {"--inputs", WORD_FILE},
    {"--outputs", WORD_FILE},
    {"--weights", WORD_FILE},
    {"--blob", WORD_FILE},
    {"--extern-nodes", WORD_FILE},
    {"--load", WORD_TRUSTED},
    {"--runs", WORD_NUMBER},
    {"--threads", WORD_NUMBER},
    {"--save-dir", WORD_FILE},
    {"--limit-memory", WORD_NUMBER},
    {"--check-inputs", WORD_ALONE},
    {"--watched", WORD_ALONE},
    {"--guard", WORD_ALONE},
    {"--verbose", WORD_ALONE},
    {"--quiet", WORD_ALONE},
    {"--unconfined", WORD_UNCONFINED},
    {"--gpu", WORD_GPU},
};

static bool value_fits(enum word what, const char *value)
{
	uint64_t number;
	switch (what) {
	case WORD_ANY: return true;
	case WORD_NUMBER: return slice_u64(slice_str(value), &number);
	case WORD_FILE: return broker_path_is_ours(value);
	case WORD_RUNTIME: return is_part("PT2_SHIM", "libpt2shim.so", value) || broker_is_trusted(BROKER_PATH, value);
	case WORD_TRUSTED: return broker_is_trusted(BROKER_PATH, value);
	default: return false;
	}
}

static bool fits(enum word what, const char *const **next)
{
	if (what == WORD_ALONE)
		return true;
	if (what == WORD_UNCONFINED || what == WORD_GPU)
		return broker_is_trusted(what == WORD_GPU ? BROKER_GPU : BROKER_UNCONFINED, NULL);
	return **next && value_fits(what, *(*next)++);
}

static bool command_fits(const char *const *argv)
{
	if (!argv[0] || !is_part("PT2_RUNNER", "pt2-runner", argv[0]))
		return false;
	for (const char *const *next = argv + 1; *next;) {
		const char *option = *next++;
		size_t i = 0;
		while (i < ARRAY_LEN(words) && strcmp(words[i].option, option) != 0)
			i++;
		if (i == ARRAY_LEN(words) || !fits(words[i].value, &next))
			return false;
	}
	return true;
}

const char *broker_probe(struct err *err)
{
	static char path[PATH_MAX];
	if (*path || part_probe(NULL, path, err) == 0)
		return path;
	*path = 0;
	return NULL;
}

static bool preload_is(const char *value, const char *libraries)
{
	const char *old = getenv("LD_PRELOAD");
	if (!old || !*old)
		return !strcmp(value, libraries);
	FREED char *before = xasprintf("%s:%s", libraries, old), *behind = xasprintf("%s:%s", old, libraries);
	return !strcmp(value, before) || !strcmp(value, behind);
}

/* Our library, or two, before or after what is preloaded anyway (watch/live.c). */
static bool preload_fits(const char *value)
{
	struct err err;
	const char *probe = broker_probe(&err);
	if (!probe)
		return false;
	FREED char *alloc = part_alloc(probe), *both = xasprintf("%s:%s", probe, alloc);
	return preload_is(value, probe) || preload_is(value, both);
}

static bool variable_fits(const char *variable)
{
	const char *value = strchr(variable, '=');
	const struct slice name = slice_of(variable, value ? (size_t)(value - variable) : 0);
	uint64_t number;
	if (!value++)
		return false;
	if (slice_is(name, "LD_PRELOAD"))
		return preload_fits(value);
	if (slice_is(name, "PT2_PROBE_DIR"))
		return broker_path_is_ours(value);
	return (slice_is(name, "PT2_PROBE_FAIL") || slice_is(name, "PT2_PROBE_NO_CHECK")) && slice_u64(slice_str(value), &number);
}

bool broker_may_start(const struct child_spec *spec)
{
	for (const char *const *e = spec->env_set; e && *e; e++)
		if (!variable_fits(*e))
			return false;
	return command_fits(spec->argv);
}
