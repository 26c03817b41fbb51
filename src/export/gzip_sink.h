/*
 * Packing the bytes of a sink with gzip (RFC 1952), so that a file is the same
 * whenever and wherever it is written.
 */
#ifndef HWTDI_GZIP_SINK_H
#define HWTDI_GZIP_SINK_H

#include "base/library.h"

struct hwtdi_gzip;

/* Takes packed bytes. */
typedef int (*hwtdi_packed_fn)(void *arg, const void *bytes, size_t n,
    struct hwtd_error *err);

/* HWTD_E_NOMEM. */
int hwtdi_gzip_create(struct hwtd_context *ctx, struct hwtdi_gzip **out,
    struct hwtd_error *err);

/* Pack; `last`: with the end of the file, after which another can begin. */
int hwtdi_gzip_put(struct hwtdi_gzip *gzip, const void *bytes, size_t n,
    bool last, hwtdi_packed_fn put, void *arg, struct hwtd_error *err);

void hwtdi_gzip_destroy(struct hwtdi_gzip *gzip);

#endif /* HWTDI_GZIP_SINK_H */
