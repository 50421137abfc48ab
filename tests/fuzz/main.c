/* Runs a fuzz entry on files: for compilers without libFuzzer, and to repeat a finding. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned files;

static int run(const char *path)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		struct dirent **name;
		int n = scandir(path, &name, NULL, alphasort), bad = n < 0;
		for (int i = 0; i < n; i++) {
			char *sub = NULL;
			if (name[i]->d_name[0] != '.' && asprintf(&sub, "%s/%s", path, name[i]->d_name) >= 0)
				bad |= run(sub);
			free(sub);
			free(name[i]);
		}
		if (n >= 0)
			free(name);
		return bad;
	}
	FILE *f = fopen(path, "rb");
	/* Exactly as large as the file, so that a sanitizer sees a read past its end. */
	uint8_t *data = f ? malloc((size_t)st.st_size + !st.st_size) : NULL;
	size_t n = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
	if (!data || n != (size_t)st.st_size) {
		fprintf(stderr, "cannot read '%s'\n", path);
		return 1;
	}
	fclose(f);
	printf("%s\n", path); /* the last line names the culprit */
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	files++;
	return 0;
}

int main(int argc, char **argv)
{
	int bad = 0;
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		bad |= run(argv[i]);
	printf("%u inputs\n", files);
	return bad;
}
