/*
 * What a machine can record with, and whom one may trace, on any system.
 */
#ifndef HWTDI_CAPTURE_PROBE_H
#define HWTDI_CAPTURE_PROBE_H

#include <hwtdecode/capture.h>

#include "capture/system.h"

/* hwtd_capture_backend() and hwtd_capture_allowed(). */
int hwtdi_capture_backend(struct hwtd_context *ctx,
    const struct hwtdi_system *sys, size_t index,
    struct hwtd_capture_backend *out, struct hwtd_error *err);
int hwtdi_capture_allowed(struct hwtd_context *ctx,
    const struct hwtdi_system *sys, uint32_t pid, char *text,
    struct hwtd_error *err);

#endif /* HWTDI_CAPTURE_PROBE_H */
