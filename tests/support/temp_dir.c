/*
 * A folder for the files of one test, and whole files as bytes.
 */
#include "support/temp_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void
temp_dir_create(struct temp_dir *dir)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(dir->path, sizeof(dir->path), "%.200s/hwtdecode-XXXXXX",
	    base != NULL && base[0] != '\0' ? base : "/tmp");
	assert_non_null(mkdtemp(dir->path));
}

static size_t
each_name(const char *folder, bool remove_them)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	size_t n = 0;
	char path[600];

	if (d == NULL)
		return (0);
	while ((entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		n++;
		if (!remove_them)
			continue;
		(void)snprintf(path, sizeof(path), "%.299s/%.299s", folder,
		    entry->d_name);
		/* A link is not followed: it is removed at once. */
		if (unlink(path) != 0) {
			(void)each_name(path, true);
			(void)rmdir(path);
		}
	}
	(void)closedir(d);
	return (n);
}

void
temp_dir_remove(struct temp_dir *dir)
{
	(void)each_name(dir->path, true);
	(void)rmdir(dir->path);
}

size_t
temp_dir_count(const struct temp_dir *dir)
{
	return (each_name(dir->path, false));
}

const char *
temp_dir_file(const struct temp_dir *dir, const char *name, char out[300])
{
	(void)snprintf(out, 300, "%.255s/%.40s", dir->path, name);
	return (out);
}

void
write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

void
poke_file(const char *path, size_t at, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, (off_t)at), n);
	assert_int_equal(close(fd), 0);
}

void
cut_file(const char *path, size_t n)
{
	assert_int_equal(truncate(path, (off_t)n), 0);
}

uint8_t *
read_file(const char *path, size_t *n_out)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	long n;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	n = ftell(f);
	assert_true(n >= 0);
	rewind(f);
	bytes = malloc((size_t)n + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)n, f), n);
	(void)fclose(f);
	*n_out = (size_t)n;
	return (bytes);
}
