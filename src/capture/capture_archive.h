/*
 * Completing the file of a capture with the code of what was mapped.
 */
#ifndef HWTDI_CAPTURE_ARCHIVE_H
#define HWTDI_CAPTURE_ARCHIVE_H

#include <hwtdecode/capture.h>

/* Make the file anew; that of before stays until the new one is whole. */
int hwtdi_capture_archive(struct hwtd_context *library,
    const struct hwtd_capture_options *options, struct hwtd_error *err);

#endif /* HWTDI_CAPTURE_ARCHIVE_H */
