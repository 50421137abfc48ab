#include "base/io/distinfo.h"

#include "base/buf.h"
#include "base/hash.h"

#include <dirent.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct intern folders, packages; /* "/opt/site"; "/opt/site/pydantic" */

/* As it is compared. */
static void add_name(struct buf *b, struct slice name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		buf_addc(b, c == '-' || c == '.' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
	}
}

static void list(struct slice folder)
{
	FREED char *path = xstrndup(folder.p, folder.n);
	DIR *d = opendir(path);
	LOCAL_BUF key = {0};
	unsigned n = 0;
	for (struct dirent *e; d && n < DISTINFO_ENTRIES && (e = readdir(d)); n++) {
		struct slice name = slice_str(e->d_name);
		const char *version = slice_ends(name, ".dist-info") ? slice_chr(name, '-') : NULL;
		if (!version)
			continue;
		buf_reset(&key);
		buf_addf(&key, "%s/", path);
		add_name(&key, slice_of(name.p, (size_t)(version - name.p)));
		intern_add(&packages, buf_slice(&key));
	}
	if (d)
		closedir(d);
}

bool distinfo_beside(struct slice folder, struct slice name)
{
	LOCAL_BUF key = {0};
	if (!folder.n || folder.p[0] != '/' || memchr(folder.p, 0, folder.n))
		return false;
	buf_addf(&key, "%.*s/", SL(folder));
	add_name(&key, name);
	pthread_mutex_lock(&lock);
	uint32_t known = folders.n;
	if (known < DISTINFO_FOLDERS && intern_add(&folders, folder) == known)
		list(folder);
	bool found = packages.n && intern_find(&packages, buf_slice(&key)) != NONE;
	pthread_mutex_unlock(&lock);
	return found;
}
