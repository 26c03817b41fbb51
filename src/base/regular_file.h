/*
 * Opening regular files whose names come from users and traces.
 */
#ifndef HWTDI_REGULAR_FILE_H
#define HWTDI_REGULAR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <hwtdecode/error.h>

/*
 * Open a file for reading; close(*fd_out).  What is no regular file is not
 * opened at all: opening a device can have effects, and a FIFO waits.
 *
 * HWTD_E_IO: cannot be opened, is no regular file, or claims to be empty and is
 * not, as files of procfs do.  The message is to be given the name by
 * hwtdi_fail_prefix().
 */
int hwtdi_regular_file_open(const char *path, int *fd_out, uint64_t *size_out,
    struct hwtd_error *err);

/* Both names lead to one file, which is there. */
bool hwtdi_regular_file_same(const char *a, const char *b);

#endif /* HWTDI_REGULAR_FILE_H */
