/*
 * Rows of profiles and flames whose numbers are looked up one by one, as arrays.
 */
#include <string.h>

#include "profile_rows.h"

int
hwtpy_profile_functions(struct hwtd_profile *profile,
    struct hwtd_profile_function *out, size_t cap)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < cap && rc == HWTD_OK; i++) {
		out[i].size = sizeof(out[i]);
		rc = hwtd_profile_function(profile, (uint32_t)i, &out[i]);
	}
	return (rc);
}

int
hwtpy_profile_images(struct hwtd_profile *profile,
    struct hwtd_profile_image *out, size_t cap)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < cap && rc == HWTD_OK; i++) {
		out[i].size = sizeof(out[i]);
		rc = hwtd_profile_image(profile, (uint32_t)i, &out[i]);
	}
	return (rc);
}

int
hwtpy_profile_threads(struct hwtd_profile *profile,
    struct hwtd_profile_thread *out, size_t cap)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < cap && rc == HWTD_OK; i++) {
		out[i].size = sizeof(out[i]);
		rc = hwtd_profile_thread(profile, (uint32_t)i, &out[i]);
	}
	return (rc);
}

int
hwtpy_flame_frames(const struct hwtd_flame *flame,
    struct hwtd_flame_frame *out, size_t cap)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < cap && rc == HWTD_OK; i++) {
		out[i].size = sizeof(out[i]);
		rc = hwtd_flame_frame(flame, (uint32_t)i, &out[i]);
	}
	return (rc);
}

static uint32_t
without(uint32_t flags, uint32_t type)
{
	if (flags == 0)
		return (HWTD_NO_ID);
	if ((flags & HWTD_PROFILE_NODEF_ROOT) != 0)
		return (HWTPY_WITHOUT_CALL);
	if ((flags & HWTD_PROFILE_NODEF_OTHERS) != 0)
		return (HWTPY_WITHOUT_OTHERS);
	if ((flags & HWTD_PROFILE_NODEF_UNTRACED) == 0)
		return (HWTPY_WITHOUT_UNKNOWN);
	switch (type) {
	case HWTD_CALL_TYPE_SYSCALL:
		return (HWTPY_WITHOUT_SYSCALL);
	case HWTD_CALL_TYPE_INTERRUPT:
		return (HWTPY_WITHOUT_INTERRUPT);
	case HWTD_CALL_TYPE_EXCEPTION:
		return (HWTPY_WITHOUT_EXCEPTION);
	default:
		return (HWTPY_WITHOUT_UNTRACED);
	}
}

void
hwtpy_profile_without(const uint32_t *flags, const uint32_t *type,
    size_t stride, size_t n, uint32_t *out)
{
	const uint8_t *flag = (const uint8_t *)flags;
	const uint8_t *kind = (const uint8_t *)type;

	for (size_t i = 0; i < n; i++) {
		uint32_t f, t;

		memcpy(&f, flag + i * stride, sizeof(f));
		memcpy(&t, kind + i * stride, sizeof(t));
		out[i] = without(f, t);
	}
}
