/*
 * Filling the caller's error struct, and the rule of sized structs.
 */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
set(struct hwtd_error *err, int code, int sys_errno, uint64_t offset,
    const char *fmt, va_list ap)
{
	struct hwtd_error e;

	if (err == NULL || err->size < offsetof(struct hwtd_error, message))
		return;
	memset(&e, 0, sizeof(e));
	e.size = err->size;
	e.code = code;
	e.sys_errno = sys_errno;
	e.offset = offset;
	e.addr = UINT64_MAX;
	(void)vsnprintf(e.message, sizeof(e.message), fmt, ap);
	/* A caller's shorter struct gets a shorter text, with its NUL. */
	if (e.size < sizeof(e) &&
	    e.size > offsetof(struct hwtd_error, message))
		e.message[e.size - offsetof(struct hwtd_error, message) -
		    1] = '\0';
	memcpy(err, &e, e.size < sizeof(e) ? e.size : sizeof(e));
}

int
hwtdi_fail(struct hwtd_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, code, 0, UINT64_MAX, fmt, ap);
	va_end(ap);
	return (code);
}

int
hwtdi_fail_at(struct hwtd_error *err, int code, uint64_t offset,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, code, 0, offset, fmt, ap);
	va_end(ap);
	return (code);
}

int
hwtdi_fail_sys(struct hwtd_error *err, int sys_errno, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, HWTD_E_IO, sys_errno, UINT64_MAX, fmt, ap);
	va_end(ap);
	return (HWTD_E_IO);
}

int
hwtdi_fail_nomem(struct hwtd_error *err, size_t bytes)
{
	return (hwtdi_fail(err, HWTD_E_NOMEM, "no memory for %zu bytes",
	    bytes));
}

void
hwtdi_fail_prefix(struct hwtd_error *err, const char *fmt, ...)
{
	char old[sizeof(err->message)];
	va_list ap;
	int n;

	if (err == NULL || err->size < sizeof(*err))
		return;
	memcpy(old, err->message, sizeof(old));
	old[sizeof(old) - 1] = '\0';
	va_start(ap, fmt);
	n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->message))
		(void)snprintf(err->message + n,
		    sizeof(err->message) - (size_t)n, ": %s", old);
}

const char *
hwtdi_fail_cause(const struct hwtd_error *err, const char *name)
{
	const char *message = err->message;
	size_t n = 0;

	while (message[n] != '\0' && message[n] == name[n])
		n++;
	return (n > 0 && strncmp(message + n, ": ", 2) == 0 ? message + n + 2
							    : message);
}

int
hwtdi_fail_pass(struct hwtd_error *err, const struct hwtd_error *inner)
{
	(void)hwtdi_fail_at(err, inner->code, inner->offset, "%s",
	    inner->message);
	if (err != NULL && err->size >= offsetof(struct hwtd_error, message))
		err->sys_errno = inner->sys_errno;
	return (inner->code);
}

int
hwtdi_options_copy(void *out, size_t known, const void *user,
    struct hwtd_error *err)
{
	const uint8_t *bytes = user;
	size_t size;

	memset(out, 0, known);
	if (user == NULL) {
		memcpy(out, &known, sizeof(known));
		return (HWTD_OK);
	}
	memcpy(&size, user, sizeof(size));
	if (size < sizeof(size))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "option struct of size %zu; set size to sizeof", size));
	for (size_t i = known; i < size; i++)
		if (bytes[i] != 0)
			return (hwtdi_fail(err, HWTD_E_TOO_NEW,
			    "option at byte %zu is newer than this library",
			    i));
	memcpy(out, user, size < known ? size : known);
	memcpy(out, &known, sizeof(known));
	return (HWTD_OK);
}

int
hwtdi_result_copy(void *user, const void *result, size_t known)
{
	size_t size;

	memcpy(&size, user, sizeof(size));
	if (size < sizeof(size))
		return (HWTD_E_INVALID);
	memset(user, 0, size);
	memcpy(user, result, size < known ? size : known);
	memcpy(user, &size, sizeof(size));
	return (HWTD_OK);
}

const char *
hwtd_code_text(int code)
{
	switch (code) {
	case HWTD_OK:
		return ("done");
	case HWTD_END:
		return ("nothing is left");
	case HWTD_AGAIN:
		return ("nothing is there now");
	case HWTD_E_INVALID:
		return ("invalid call");
	case HWTD_E_NOMEM:
		return ("out of memory");
	case HWTD_E_IO:
		return ("input or output failed");
	case HWTD_E_LIMIT:
		return ("a limit was reached");
	case HWTD_E_TOO_NEW:
		return ("options newer than the library");
	case HWTD_E_NOT_FOUND:
		return ("not found");
	case HWTD_E_STATE:
		return ("not possible in this state");
	case HWTD_E_CANCELED:
		return ("canceled");
	case HWTD_E_CORRUPT:
		return ("damaged input");
	case HWTD_E_UNRECOGNIZED:
		return ("input not recognised");
	case HWTD_E_UNSUPPORTED:
		return ("not supported");
	case HWTD_E_ENGINE:
		return ("a library underneath failed");
	default:
		return ("unknown code");
	}
}
