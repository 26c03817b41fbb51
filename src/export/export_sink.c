/*
 * The sink of an export: a buffer, packing, and the end of files.
 */
#include "export/export_sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "export/gzip_sink.h"

#define BUFFER_BYTES 65536u
#define FORMAT_BYTES 256
/* Digits of 2^64 - 1. */
#define U64_DIGITS 20

int
hwtdi_sink_init(struct hwtdi_sink *sink, struct hwtd_context *ctx,
    hwtd_write_fn write, hwtd_next_fn next, void *arg, bool packed,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	memset(sink, 0, sizeof(*sink));
	sink->ctx = ctx;
	sink->write = write;
	sink->next = next;
	sink->arg = arg;
	sink->files = 1;
	hwtdi_error_begin(&sink->err);
	sink->buffer = hwtdi_alloc(ctx, BUFFER_BYTES);
	if (sink->buffer == NULL)
		return (hwtdi_fail_nomem(err, BUFFER_BYTES));
	if (packed)
		rc = hwtdi_gzip_create(ctx, &sink->gzip, err);
	if (rc != HWTD_OK)
		hwtdi_sink_fini(sink);
	return (rc);
}

void
hwtdi_sink_fini(struct hwtdi_sink *sink)
{
	hwtdi_gzip_destroy(sink->gzip);
	sink->gzip = NULL;
	if (sink->buffer != NULL)
		hwtdi_free(sink->ctx, sink->buffer, BUFFER_BYTES);
	sink->buffer = NULL;
}

void
hwtdi_sink_fail(struct hwtdi_sink *sink, const struct hwtd_error *err)
{
	if (sink->rc != HWTD_OK)
		return;
	sink->err = *err;
	sink->rc = err->code;
}

/* To the caller's function. */
static int
give(void *arg, const void *bytes, size_t n, struct hwtd_error *err)
{
	struct hwtdi_sink *sink = arg;
	int error, rc;

	if (n == 0)
		return (HWTD_OK);
	rc = hwtdi_poll(sink->ctx, err);
	if (rc != HWTD_OK)
		return (rc);
	error = sink->write(sink->arg, bytes, n);
	if (error != 0)
		return (hwtdi_fail_sys(err, error,
		    "cannot write after %llu bytes: %s",
		    (unsigned long long)sink->written, strerror(error)));
	sink->written += n;
	return (HWTD_OK);
}

static void
empty_buffer(struct hwtdi_sink *sink, const void *bytes, size_t n, bool last)
{
	if (sink->rc != HWTD_OK)
		return;
	sink->rc = sink->gzip != NULL ? hwtdi_gzip_put(sink->gzip, bytes, n,
					    last, give, sink, &sink->err)
				      : give(sink, bytes, n, &sink->err);
}

void
hwtdi_sink_put(struct hwtdi_sink *sink, const void *bytes, size_t n)
{
	sink->put += n;
	sink->file_put += n;
	if (sink->n + n > BUFFER_BYTES) {
		empty_buffer(sink, sink->buffer, sink->n, false);
		sink->n = 0;
	}
	if (n > BUFFER_BYTES) {
		empty_buffer(sink, bytes, n, false);
		return;
	}
	memcpy(sink->buffer + sink->n, bytes, n);
	sink->n += n;
}

void
hwtdi_sink_text(struct hwtdi_sink *sink, const char *text)
{
	hwtdi_sink_put(sink, text, strlen(text));
}

void
hwtdi_sink_char(struct hwtdi_sink *sink, char c)
{
	hwtdi_sink_put(sink, &c, 1);
}

void
hwtdi_sink_format(struct hwtdi_sink *sink, const char *fmt, ...)
{
	char text[FORMAT_BYTES];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		hwtdi_sink_put(sink, text,
		    (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* The digits end at `end`; where they begin. */
static char *
digits_of(char *end, uint64_t v)
{
	do {
		*--end = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	return (end);
}

void
hwtdi_sink_u64(struct hwtdi_sink *sink, uint64_t v)
{
	char text[U64_DIGITS];
	char *const end = text + sizeof(text);
	const char *begin = digits_of(end, v);

	hwtdi_sink_put(sink, begin, (size_t)(end - begin));
}

void
hwtdi_sink_decimal(struct hwtdi_sink *sink, uint64_t v, unsigned int digits)
{
	char text[2 * U64_DIGITS + 1];
	char *end = text + sizeof(text), *begin = end;
	uint64_t whole = v, rest = 0, unit = 1;

	for (unsigned int i = 0; i < digits; i++)
		unit *= 10;
	whole = v / unit;
	rest = v % unit;
	if (rest != 0) {
		for (; digits > 0; digits--) {
			const char c = (char)('0' + rest % 10);

			rest /= 10;
			/* Zeros at the end say nothing. */
			if (begin != end || c != '0')
				*--begin = c;
		}
		*--begin = '.';
	}
	begin = digits_of(begin, whole);
	hwtdi_sink_put(sink, begin, (size_t)(end - begin));
}

int
hwtdi_sink_flush(struct hwtdi_sink *sink, struct hwtd_error *err)
{
	empty_buffer(sink, sink->buffer, sink->n, false);
	sink->n = 0;
	return (sink->rc == HWTD_OK ? HWTD_OK
				    : hwtdi_fail_pass(err, &sink->err));
}

int
hwtdi_sink_end_file(struct hwtdi_sink *sink, struct hwtd_error *err)
{
	empty_buffer(sink, sink->buffer, sink->n, true);
	sink->n = 0;
	if (sink->file_put > sink->largest_file)
		sink->largest_file = sink->file_put;
	return (sink->rc == HWTD_OK ? HWTD_OK
				    : hwtdi_fail_pass(err, &sink->err));
}

int
hwtdi_sink_next_file(struct hwtdi_sink *sink, struct hwtd_error *err)
{
	int rc = hwtdi_sink_end_file(sink, err);
	int error;

	if (rc != HWTD_OK)
		return (rc);
	error = sink->next(sink->arg);
	if (error != 0) {
		sink->rc = hwtdi_fail_sys(&sink->err, error,
		    "cannot begin file %u: %s", sink->files + 1,
		    strerror(error));
		return (hwtdi_fail_pass(err, &sink->err));
	}
	sink->files++;
	sink->file_put = 0;
	return (HWTD_OK);
}
