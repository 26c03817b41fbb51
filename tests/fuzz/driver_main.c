/*
 * A main() for fuzz harnesses without libFuzzer: replays files, or all files
 * of folders.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned long replayed;

static void
replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	struct stat st;
	size_t n;

	FUZZ_CHECK(f != NULL && fstat(fileno(f), &st) == 0, "%s: %s", path,
	    strerror(errno));
	/* Just as large as the input, so that a read past it is noticed. */
	bytes = malloc(st.st_size > 0 ? (size_t)st.st_size : 1);
	FUZZ_CHECK(bytes != NULL, "%s: no memory", path);
	n = fread(bytes, 1, (size_t)st.st_size, f);
	FUZZ_CHECK(n == (size_t)st.st_size, "%s: cannot read", path);
	(void)fclose(f);
	/* Tells which it was when the next line does not come. */
	(void)printf("%s\n", path);
	(void)fflush(stdout);
	(void)LLVMFuzzerTestOneInput(bytes, n);
	free(bytes);
	replayed++;
}

static void
replay(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	char file[4096];

	if (dir == NULL) {
		replay_file(path);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(file, sizeof(file), "%s/%s", path,
		    entry->d_name);
		replay_file(file);
	}
	(void)closedir(dir);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	(void)printf("%lu inputs\n", replayed);
	return (replayed == 0);
}
