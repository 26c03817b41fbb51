/*
 * Files of one recording that lie beside each other and whose names differ by
 * a number.
 */
#ifndef HWTDI_FILE_FAMILY_H
#define HWTDI_FILE_FAMILY_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* Members of one family; they stay open, and processes may open few files. */
#define HWTDI_FAMILY_MAX 4096u

/* Numbers of the members, rising.  All zero: none. */
struct hwtdi_file_family {
	uint32_t *numbers;
	size_t n, cap;
};

/*
 * Find the files that are called `prefix`, a number without zeros ahead of it,
 * and `suffix`.  A folder that cannot be read has none.  HWTD_E_NOMEM,
 * HWTD_E_LIMIT.
 */
int hwtdi_file_family_find(struct hwtdi_file_family *family,
    struct hwtd_context *ctx, const char *prefix, const char *suffix,
    struct hwtd_error *err);
void hwtdi_file_family_fini(struct hwtdi_file_family *family,
    struct hwtd_context *ctx);

/* The path of a member.  Owned: hwtdi_strfree().  HWTD_E_NOMEM. */
int hwtdi_file_family_path(struct hwtd_context *ctx, const char *prefix,
    uint32_t number, const char *suffix, char **out, struct hwtd_error *err);

#endif /* HWTDI_FILE_FAMILY_H */
