#include "base/untab.h"

#include <string.h>

void untab_plain(struct untab *u, char *end)
{
	char *from = u->from, *to = u->to;
	while (from < end && *from == '\t') {
		char *nl = memchr(from, '\n', (size_t)(end - from)), *stop = nl ? nl : end;
		size_t n = (size_t)(stop - from) - 1;
		if (u->lines++)
			*to++ = '\n';
		if (nl && stop[-1] == '\r')
			n--;
		memmove(to, from + 1, n);
		to += n;
		from = nl ? nl + 1 : end;
	}
	u->high = true; /* not examined */
	u->from = from;
	u->to = to;
}
