/*
 * A folder for the files of one test, and whole files as bytes.
 */
#ifndef TEST_TEMP_DIR_H
#define TEST_TEMP_DIR_H

#include <stddef.h>
#include <stdint.h>

struct temp_dir {
	char path[256];
};

/* Create; ends the test if that fails. */
void temp_dir_create(struct temp_dir *dir);

/* Remove with everything in it. */
void temp_dir_remove(struct temp_dir *dir);

/* Names in it. */
size_t temp_dir_count(const struct temp_dir *dir);

/* "DIR/name" in `out`, which is returned. */
const char *temp_dir_file(const struct temp_dir *dir, const char *name,
    char out[300]);

void write_file(const char *path, const void *bytes, size_t n);

/* Change bytes of a file in place; cut it to a size. */
void poke_file(const char *path, size_t at, const void *bytes, size_t n);
void cut_file(const char *path, size_t n);

/* Owned: free(). */
uint8_t *read_file(const char *path, size_t *n_out);

#endif /* TEST_TEMP_DIR_H */
