/*
 * Return codes and the caller-owned error struct that explains them.
 *
 * There are three channels.  Misuse of the API returns HWTD_E_INVALID.  A call
 * that failed returns another negative code.  A damaged trace is neither: it
 * arrives as data, as an event of kind HWTD_EV_GAP.
 */
#ifndef HWTDECODE_ERROR_H
#define HWTDECODE_ERROR_H

#ifndef HWTD_CDEF
#include <hwtdecode/version.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/** Return codes.  The numbers are pinned for ever. */
enum hwtd_code {
	/** Done. */
	HWTD_OK = 0,
	/** Nothing is left to read; not an error. */
	HWTD_END = 1,
	/** Nothing is there now; ask again (live capture). */
	HWTD_AGAIN = 2,

	/** The call breaks a rule of its entry; nothing was changed. */
	HWTD_E_INVALID = -1,
	/** Memory could not be allocated. */
	HWTD_E_NOMEM = -2,
	/** The operating system refused; see sys_errno. */
	HWTD_E_IO = -3,
	/** A limit of the context was reached; the message names it. */
	HWTD_E_LIMIT = -4,
	/** An option struct carries fields that this library is too old for. */
	HWTD_E_TOO_NEW = -5,
	/** There is no such thing; for instance an id that is not in use. */
	HWTD_E_NOT_FOUND = -6,
	/** The object is not in the state that the call needs. */
	HWTD_E_STATE = -7,
	/** The poll function of the context asked for an end. */
	HWTD_E_CANCELED = -8,

	/** The input breaks its format; offset says where. */
	HWTD_E_CORRUPT = -20,
	/** No reader recognises the input. */
	HWTD_E_UNRECOGNIZED = -21,

	/** Valid, but this build or this machine cannot do it. */
	HWTD_E_UNSUPPORTED = -40,
	/** A library underneath failed in a way of its own. */
	HWTD_E_ENGINE = -41
};

/**
 * What went wrong, filled by a failing call.
 *
 * The caller owns it, sets `size` to sizeof(struct hwtd_error) and may pass
 * NULL instead.  It is only written when a call fails.
 */
struct hwtd_error {
	/** sizeof(struct hwtd_error) as the caller knows it. */
	size_t size;
	/** An hwtd_code below 0. */
	int32_t code;
	/** errno of the operating system, or 0. */
	int32_t sys_errno;
	/** Byte offset in the input at fault; UINT64_MAX when there is none. */
	uint64_t offset;
	/** Virtual address at fault; UINT64_MAX when there is none. */
	uint64_t addr;
	/** One line, lower case, newest context first, cut at the tail. */
	char message[224];
};

/**
 * A short constant text for a code, for instance "out of memory".
 *
 * Lives:  static storage; never NULL, also for unknown codes.
 * Since:  0.1
 */
HWTD_API const char *hwtd_code_text(int code);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_ERROR_H */
