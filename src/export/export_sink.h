/*
 * A sink: takes the bytes of an export, a few at a time, and gives many to the
 * caller's function; packs them on the way if that is asked for.
 *
 * What fails is kept, and what comes after it is thrown away: who writes asks
 * once in a while, hwtdi_sink_flush() at the latest.
 */
#ifndef HWTDI_EXPORT_SINK_H
#define HWTDI_EXPORT_SINK_H

#include <hwtdecode/format.h>

#include "base/library.h"

struct hwtdi_gzip;

struct hwtdi_sink {
	struct hwtd_context *ctx;
	hwtd_write_fn write;
	hwtd_next_fn next;
	void *arg;
	/* NULL: not packed. */
	struct hwtdi_gzip *gzip;
	uint8_t *buffer;
	size_t n;
	/* Put in all, and into this file; given to `write`. */
	uint64_t put, file_put, written;
	uint64_t largest_file;
	uint32_t files;
	/* HWTD_OK, or what failed first. */
	int rc;
	struct hwtd_error err;
};

/* HWTD_E_NOMEM. */
int hwtdi_sink_init(struct hwtdi_sink *sink, struct hwtd_context *ctx,
    hwtd_write_fn write, hwtd_next_fn next, void *arg, bool packed,
    struct hwtd_error *err);

void hwtdi_sink_put(struct hwtdi_sink *sink, const void *bytes, size_t n);
void hwtdi_sink_text(struct hwtdi_sink *sink, const char *text);
void hwtdi_sink_char(struct hwtdi_sink *sink, char c);
/* As printf(3); up to 255 bytes, the rest is cut. */
void hwtdi_sink_format(struct hwtdi_sink *sink, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* In decimal, as fast as it gets. */
void hwtdi_sink_u64(struct hwtdi_sink *sink, uint64_t v);
/* v / 10^digits, without zeros at the end: 1500 with 3 digits is "1.5". */
void hwtdi_sink_decimal(struct hwtdi_sink *sink, uint64_t v,
    unsigned int digits);

/* Fail by another cause: HWTD_E_NOMEM of who fills it, for instance. */
void hwtdi_sink_fail(struct hwtdi_sink *sink, const struct hwtd_error *err);

/* Give on all there is; what failed, if anything did. */
int hwtdi_sink_flush(struct hwtdi_sink *sink, struct hwtd_error *err);

/* End this file, also that of gzip; nothing can be put then but into the next. */
int hwtdi_sink_end_file(struct hwtdi_sink *sink, struct hwtd_error *err);
/* End this file and begin the next one. */
int hwtdi_sink_next_file(struct hwtdi_sink *sink, struct hwtd_error *err);

void hwtdi_sink_fini(struct hwtdi_sink *sink);

#endif /* HWTDI_EXPORT_SINK_H */
