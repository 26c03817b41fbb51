/*
 * Rows of profiles and flames whose numbers are looked up one by one, as arrays.
 */
#ifndef HWTPY_PROFILE_ROWS_H
#define HWTPY_PROFILE_ROWS_H

#ifndef HWTD_CDEF
#include <hwtdecode/hwtdecode.h>
#endif

/*
 * All functions, images, threads from number 0 on, frames of a flame; `cap` has to
 * be their number.
 *
 * @return HWTD_OK, or what looking one up returned.
 */
int hwtpy_profile_functions(struct hwtd_profile *profile,
    struct hwtd_profile_function *out, size_t cap);
int hwtpy_profile_images(struct hwtd_profile *profile,
    struct hwtd_profile_image *out, size_t cap);
int hwtpy_profile_threads(struct hwtd_profile *profile,
    struct hwtd_profile_thread *out, size_t cap);
int hwtpy_flame_frames(const struct hwtd_flame *flame,
    struct hwtd_flame_frame *out, size_t cap);

/** What rows without a function are. */
enum hwtpy_without {
	HWTPY_WITHOUT_UNKNOWN = 0,
	HWTPY_WITHOUT_CALL = 1,
	HWTPY_WITHOUT_OTHERS = 2,
	HWTPY_WITHOUT_UNTRACED = 3,
	HWTPY_WITHOUT_SYSCALL = 4,
	HWTPY_WITHOUT_INTERRUPT = 5,
	HWTPY_WITHOUT_EXCEPTION = 6
};

/*
 * What rows are instead of a function: an hwtpy_without, or HWTD_NO_ID where a row
 * has no flags.
 *
 * @param[in]  flags  Of the first row: HWTD_PROFILE_NODEF_* bits.
 * @param[in]  type   Of the first row: an hwtd_call_type.
 * @param[out] out    Shape [n].
 */
void hwtpy_profile_without(const uint32_t *flags, const uint32_t *type,
    size_t stride, size_t n, uint32_t *out);

#endif /* HWTPY_PROFILE_ROWS_H */
