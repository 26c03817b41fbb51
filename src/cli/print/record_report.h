/*
 * What a capture did, and what it lost, in words.
 */
#ifndef HWTDECODE_CLI_RECORD_REPORT_H
#define HWTDECODE_CLI_RECORD_REPORT_H

#include "cli/options/options.h"

/* One line of progress in text[0..room). */
void record_progress(const struct hwtd_capture_status *status, char *text,
    size_t room);

/* The summary on stderr, of a capture that ended well or not. */
void record_summary(const struct options *options,
    const struct hwtd_capture_status *status);

/* EXIT_LOSS after a message when more was lost than allowed; else EXIT_DONE. */
int record_loss_code(const struct options *options,
    const struct hwtd_capture_status *status);

/* record --list; an exit code. */
int record_list(const struct options *options, struct hwtd_context *library);

#endif /* HWTDECODE_CLI_RECORD_REPORT_H */
