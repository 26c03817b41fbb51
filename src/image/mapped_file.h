/*
 * Files that are looked into at a few places, and too large to be read whole.
 */
#ifndef HWTDI_MAPPED_FILE_H
#define HWTDI_MAPPED_FILE_H

#include <hwtdecode/error.h>

/* All zero: none. */
struct hwtdi_mapped_file {
	/* NULL: an empty file. */
	const uint8_t *bytes;
	uint64_t n;
};

/*
 * Map a regular file for reading.  It must not become shorter while it is
 * mapped: debuggers and packages replace files, they do not cut them.
 *
 * HWTD_E_IO; the message is to be given the name by hwtdi_fail_prefix().
 */
int hwtdi_mapped_file_open(struct hwtdi_mapped_file *file, const char *path,
    struct hwtd_error *err);

void hwtdi_mapped_file_close(struct hwtdi_mapped_file *file);

#endif /* HWTDI_MAPPED_FILE_H */
