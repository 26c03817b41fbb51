/*
 * How much of a trace gave nothing, and what to do about it.
 */
#ifndef HWTDECODE_CLI_LOSS_H
#define HWTDECODE_CLI_LOSS_H

#include <stdbool.h>

#include <hwtdecode/hwtdecode.h>

/* Percent of the bytes that lie in gaps. */
double loss_percent(const struct hwtd_stats *stats);

/* Anything lost at all, also what has no bytes, such as an overflow. */
bool loss_any(const struct hwtd_stats *stats);

/*
 * True when more was lost than `max_loss` percent allows; below 0 allows
 * everything, 0 allows nothing.
 */
bool loss_exceeds(const struct hwtd_stats *stats, double max_loss);

/* EXIT_LOSS after a message when loss_exceeds(); else EXIT_DONE. */
int loss_exit_code(const char *name, const struct hwtd_stats *stats,
    double max_loss);

/* A warning, where anything was lost and the output has no room to say so. */
void loss_warn(const char *name, const struct hwtd_stats *stats);

/* What a user can do about gaps of this reason. */
const char *loss_advice(uint32_t reason);

#endif /* HWTDECODE_CLI_LOSS_H */
