/* othercode.c - a program without a model that goes beyond its memory, or frees much: its words say how (tests/cli/bounds-alloc.t). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int n, char **word)
{
	volatile char sum = 0;
	for (int i = 1; i < n; i++) {
		void *q = NULL;
		if (posix_memalign(&q, 64, 4012))
			return 1;
		volatile char *p = q;
		memset(q, 0, 4012);
		if (!strcmp(word[i], "slack"))
			p[4015] = 1;
		if (!strcmp(word[i], "before"))
			p[-3] = 1;
		if (!strcmp(word[i], "write"))
			p[4040] = 1;
		if (!strcmp(word[i], "read"))
			sum += p[4036];
		if (!strcmp(word[i], "grow")) {
			char *r = realloc(q, 100000), *c = calloc(100000, 1), *m = malloc(20000);
			q = r;
			for (int k = 0; k < 100000; k++)
				sum += r[k < 4012 ? k : 0] | c[k];
			free(c);
			m[19999] = 1;
			if (!(m = realloc(m, 10)))
				return 1;
			free(m);
		}
		free(q);
		if (!strcmp(word[i], "freed"))
			sum += p[8];
	}
	for (int i = 0; i < 80000 && n > 1 && !strcmp(word[1], "grow"); i++) { /* more than there are places for */
		void *q;
		if (posix_memalign(&q, 64, 5000 + i % 3000))
			return 1;
		char *p = q;
		sum += p[0] | p[4999];
		p[0] = p[4999] = 1;
		free(q);
	}
	fputs("done\n", stderr);
	return sum > 126;
}
