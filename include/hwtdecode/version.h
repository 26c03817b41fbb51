/*
 * The version of the library and of what it was built with.
 */
#ifndef HWTDECODE_VERSION_H
#define HWTDECODE_VERSION_H

#ifndef HWTD_CDEF
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Visible outside the library; under HWTD_CDEF all markers vanish. */
#if defined(__GNUC__)
#define HWTD_API __attribute__((visibility("default")))
#define HWTD_MUST HWTD_API __attribute__((warn_unused_result))
#else
#define HWTD_API
#define HWTD_MUST HWTD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif
#else
#define HWTD_API
#define HWTD_MUST
#endif

#define HWTD_VERSION_MAJOR 0
#define HWTD_VERSION_MINOR 1
#define HWTD_VERSION_PATCH 0

/** A component of the running library. */
struct hwtd_component {
	/** Name, for instance "libipt". */
	char name[32];
	/** Version at run time, for instance "2.0.5". */
	char version[32];
	/** Version of the headers it was compiled with. */
	char built_with[32];
};

/**
 * The version of the running library, for instance "0.1.0".
 *
 * Lives:  static storage; never NULL.
 * Since:  0.1
 */
HWTD_API const char *hwtd_version(void);

/**
 * The libraries that this build decodes, reads and prints with.
 *
 * @param[in]  index  Counts from 0.
 * @param[out] out    Filled on success.
 *
 * @return HWTD_OK, HWTD_END when `index` is past the last one, or
 *         HWTD_E_INVALID  `out` is NULL.
 *
 * Since:  0.1
 */
HWTD_API int hwtd_version_component(size_t index, struct hwtd_component *out);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_VERSION_H */
