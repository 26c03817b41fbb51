/*
 * Captures with a process of their own on the simulated kernel.
 */
#ifndef TEST_CAPTURE_RUN_H
#define TEST_CAPTURE_RUN_H

#include "pt_run.h"

/* The process of the capture that was started last. */
extern volatile pid_t capture_run_keeper;
/* Another child is made first, which has open what there is then. */
extern bool capture_run_with_sibling;
extern pid_t capture_run_sibling;

/* The system that captures use, to be changed; and what stands behind it. */
extern struct hwtdi_system capture_run_host;
const struct hwtdi_system *capture_run_kernel(void);

pid_t capture_run_fork_sibling(void);
void capture_run_end_sibling(pid_t pid);

/* hwtd_capture_start() is on that kernel until the next one. */
void capture_run_begin(struct pt_run *r, const struct sim_options *options);
void capture_run_end(struct pt_run *r);

/*
 * A program that goes through its code three times, and then ends with status 3 or
 * does not end; the bytes that it traces.
 */
size_t capture_run_program(struct pt_run *r, bool ends);

struct hwtd_capture *capture_run_start(struct pt_run *r);
int capture_run_wait(struct pt_run *r, struct hwtd_capture *c);
/* Until so many bytes are in the file, by what the capture says. */
void capture_run_until(struct pt_run *r, struct hwtd_capture *c, uint64_t n);

/* The rows of that program, and no others. */
void capture_run_assert_flow(const struct pt_run *r);
void capture_run_assert_gone(pid_t pid);
/* Whether a capture ended as it should, by what the file says of it. */
void capture_run_assert_complete(const struct pt_run *r, bool complete);

#endif /* TEST_CAPTURE_RUN_H */
