/* Any bytes as the manifest of a bundle to hand over: what it names stays below the folder of its kind, and sets no variable but torch's. */
#include "run/bundle/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(struct slice name)
{
	if (!name.n || name.p[0] == '/' || name.n > BUNDLE_MAX_NAME || slice_chr(name, 0) || slice_chr(name, '\\'))
		abort();
	for (size_t i = 0; i < name.n; i++)
		if ((name.p[i] == '.' || name.p[i] == '/') && (!i || name.p[i - 1] == '/'))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bundle b = {.map.fd = -1};
	struct err err = {0};
	int r = bundle_read(&b, slice_of((const char *)data, size), "x.pt2b", &err);
	if (r < 0 && (err.status != EXIT_INPUT || !err.text[0]))
		abort();
	if (b.n > BUNDLE_MAX_FILES || b.about.n_argument > 4096)
		abort();
	unsigned programs = 0;
	for (size_t i = 0; i < b.n; i++) {
		check_name(b.file[i].name);
		if (!slice_starts(b.file[i].name, bundle_kind_folder[b.file[i].kind]))
			abort();
		programs += b.file[i].kind == BUNDLE_PROGRAM;
	}
	for (size_t i = 0; i < b.about.n_env; i++)
		if (!bundle_env_known(b.about.env[i].name) || slice_is(b.about.env[i].name, "LD_PRELOAD"))
			abort();
	if (programs > 1)
		abort();
	bundle_close(&b);
	return 0;
}
