/*
 * Exports that are written to the end, into memory; for tests of formats.
 */
#ifndef TEST_WRITTEN_EXPORT_H
#define TEST_WRITTEN_EXPORT_H

#include <hwtdecode/flame.h>

struct written_export {
	char *text;
	size_t n, cap;
	/* write() fails with it once it has so many bytes; 0: never. */
	size_t fail_after;
	struct hwtd_export_info info;
};

/*
 * Write a profile, or a flame if that is not NULL; `how` without what writes.
 * What hwtd_export_open_...() or hwtd_export_write() returned last.
 */
int written_export_make(struct written_export *out,
    struct hwtd_profile *profile, struct hwtd_flame *flame,
    struct hwtd_format_options how);

void written_export_fini(struct written_export *out);

/* What it is when it is unpacked, with a NUL behind it; to be freed.  NULL: no gzip. */
char *written_export_unpack(const struct written_export *out, size_t *n_out);

#endif /* TEST_WRITTEN_EXPORT_H */
