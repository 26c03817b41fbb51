/*
 * Filling the caller's error struct.
 */
#ifndef HWTDI_FAIL_H
#define HWTDI_FAIL_H

#include <hwtdecode/error.h>

#include <stdbool.h>

/*
 * An error of our own that is still to be filled, if anything fails.  Its message is
 * not set as a whole: mostly nothing does.
 */
static inline void
hwtdi_error_begin(struct hwtd_error *err)
{
	err->size = sizeof(*err);
	err->code = 0;
	err->sys_errno = 0;
	err->offset = 0;
	err->addr = 0;
	err->message[0] = '\0';
}

/* Fill `err` (may be NULL) and return `code`. */
int hwtdi_fail(struct hwtd_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, naming a byte offset. */
int hwtdi_fail_at(struct hwtd_error *err, int code, uint64_t offset,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* HWTD_E_IO with the errno of the failed call. */
int hwtdi_fail_sys(struct hwtd_error *err, int sys_errno, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

int hwtdi_fail_nomem(struct hwtd_error *err, size_t bytes);

/*
 * It is none of the input, and nothing to remember: memory ran out, or the caller ended
 * the call.
 */
static inline bool
hwtdi_fail_is_final(int code)
{
	return (code == HWTD_E_NOMEM || code == HWTD_E_CANCELED);
}

/* Give an error that was filled below to the caller; its code. */
int hwtdi_fail_pass(struct hwtd_error *err, const struct hwtd_error *inner);

/* The message of an error about `name` without that name, or its cut, ahead. */
const char *hwtdi_fail_cause(const struct hwtd_error *err, const char *name);

/* Put "context: " before the message of an error that was filled below. */
void hwtdi_fail_prefix(struct hwtd_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Check and copy an option struct of the caller into one that this library
 * knows: `user` starts with its size.  A NULL `user` gives all zero.
 * HWTD_E_TOO_NEW if a byte past `known` is not 0.
 */
int hwtdi_options_copy(void *out, size_t known, const void *user,
    struct hwtd_error *err);

/*
 * Copy a result into a caller's struct that may be older (smaller) or newer
 * (the rest becomes 0).  Keeps the caller's size.
 */
int hwtdi_result_copy(void *user, const void *result, size_t known);

#endif /* HWTDI_FAIL_H */
