/*
 * What the files of the guarded calls share: errors of the kernel, and checks of a
 * config.
 */
#ifndef HWTDI_HWT_CALLS_INTERNAL_H
#define HWTDI_HWT_CALLS_INTERNAL_H

#include "capture/hwt_calls.h"

/* All take the errno, and return the code that they put into `err`. */
int hwtdi_hwt_fail_device(struct hwtd_error *err, int e);
int hwtdi_hwt_fail_alloc(struct hwtd_error *err, int e,
    const struct hwtdi_hwt_options *o);
int hwtdi_hwt_fail_node(struct hwtd_error *err, int e,
    const struct hwtdi_hwt *hwt, uint32_t index);
int hwtdi_hwt_fail_map(struct hwtd_error *err, int e,
    const struct hwtdi_hwt *hwt);
/* An ioctl of a node, by its name; what is its own is told before. */
int hwtdi_hwt_fail_ioctl(struct hwtd_error *err, int e, const char *name);
/* The errno beside an error that was filled. */
int hwtdi_hwt_with_errno(struct hwtd_error *err, int e, int code);

/* Whether a config can be given to the kernel; of PT, its rtit_ctl. */
int hwtdi_hwt_check_config(const struct hwtdi_hwt *hwt, const void *config,
    size_t size, int version, uint64_t *rtit_ctl, struct hwtd_error *err);

#endif /* HWTDI_HWT_CALLS_INTERNAL_H */
