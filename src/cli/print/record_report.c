/*
 * What a capture did, and what it lost, in words and with what to do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/message.h"
#include "cli/print/record_report.h"

/* What was lost, of one and of several, and what helps. */
static const struct {
	const char *one;
	const char *several;
	const char *help;
} losses[HWTD_CAPTURE_LOSSES] = {
	[HWTD_CAPTURE_LOST_BYTES] = { "byte was written over before it was "
				      "read, at least",
	    "bytes were written over before they were read, at least",
	    "look more often (--every), record less (--filter, --user), or "
	    "take a larger --buffer" },
	[HWTD_CAPTURE_LOST_SLICES] = { "time that a thread ran is missing as "
				       "a whole",
	    "times that a thread ran are missing as a whole",
	    "look more often: --every" },
	[HWTD_CAPTURE_LOST_UNKNOWN] = { "buffer may lack bytes, nobody knows "
					"how many",
	    "buffers may lack bytes, nobody knows how many",
	    "look more often (--every), record less (--filter, --user), or "
	    "take a larger --buffer" },
	[HWTD_CAPTURE_LOST_STALLS] = { "time sampling stood still for want "
				       "of room",
	    "times sampling stood still for want of room",
	    "take a larger --buffer or --interval" },
	[HWTD_CAPTURE_LOST_SAMPLES] = { "buffer lacks samples, says the "
					"kernel",
	    "buffers lack samples, says the kernel",
	    "take a larger --interval, so that samples do not collide" },
	[HWTD_CAPTURE_LOST_RECORDS] = { "record of the kernel was lost or "
					"not understood",
	    "records of the kernel were lost or not understood",
	    "some code may be missing; 'hwtdecode maps' shows what is known" },
	[HWTD_CAPTURE_LOST_THREADS] = { "thread was not traced",
	    "threads were not traced",
	    "take a smaller --buffer, so that the kernel has memory for all "
	    "threads" },
	[HWTD_CAPTURE_DOUBTED] = { "position was told wrong by the kernel, "
				   "and found otherwise",
	    "positions were told wrong by the kernel, and found otherwise",
	    NULL },
};

static bool
any_loss(const struct hwtd_capture_status *status)
{
	for (size_t i = 0; i < HWTD_CAPTURE_LOSSES; i++)
		if (i != HWTD_CAPTURE_DOUBTED && status->losses[i] != 0)
			return (true);
	return (false);
}

static double
lost_percent(const struct hwtd_capture_status *status)
{
	const double lost = (double)status->losses[HWTD_CAPTURE_LOST_BYTES];
	const double all = lost + (double)status->n_bytes;

	return (all > 0 ? 100.0 * lost / all : 0);
}

void
record_progress(const struct hwtd_capture_status *status, char *text,
    size_t room)
{
	int n = snprintf(text, room, "%.1f MB, %" PRIu32 " %s, %.1f s",
	    (double)status->n_bytes / 1e6, status->n_streams,
	    status->n_streams == 1 ? "stream" : "streams",
	    (double)status->time_ns / 1e9);
	const char *before = "; lost: ";

	for (uint32_t i = 0; i < HWTD_CAPTURE_LOSSES; i++) {
		if (i == HWTD_CAPTURE_DOUBTED || status->losses[i] == 0)
			continue;
		if (n < 0 || (size_t)n >= room)
			return;
		n += snprintf(text + n, room - (size_t)n, "%s%" PRIu64 " %s",
		    before, status->losses[i], hwtd_capture_loss_name(i));
		before = ", ";
	}
}

static void
say_program(const struct options *options,
    const struct hwtd_capture_status *status)
{
	const char *name = options->n_operands > 0 ? options->operands[0]
						   : "the process";

	if (status->pid == HWTD_NO_ID)
		return;
	if (status->program_ended == 0)
		say_note("%s (%" PRIu32 ") runs on", name, status->pid);
	else if (status->exit_signal != 0)
		say_note("%s (%" PRIu32 ") was ended by signal %" PRIu32
			 ": %s",
		    name, status->pid, status->exit_signal,
		    strsignal((int)status->exit_signal));
	else if (options->n_operands > 0)
		say_note("%s (%" PRIu32 ") ended with status %" PRIu32, name,
		    status->pid, status->exit_status);
	else
		say_note("%s (%" PRIu32 ") ended", name, status->pid);
	/* As sh(1) and env(1) have it. */
	if (status->exit_status == 127 && options->n_operands > 0)
		say_hint("127 is also what is told when a program cannot be "
			 "run");
}

void
record_summary(const struct options *options,
    const struct hwtd_capture_status *status)
{
	say_note("%s: %" PRIu64 " bytes of %" PRIu32 " %s, %" PRIu64
		 " records, in %.3f s",
	    options->output, status->n_bytes, status->n_streams,
	    status->n_streams == 1 ? "stream" : "streams", status->n_records,
	    (double)status->time_ns / 1e9);
	say_program(options, status);
	for (size_t i = 0; i < HWTD_CAPTURE_LOSSES; i++) {
		const uint64_t n = status->losses[i];

		if (n == 0)
			continue;
		say_note("%s%" PRIu64 " %s",
		    i == HWTD_CAPTURE_DOUBTED ? "" : "lost: ", n,
		    n == 1 ? losses[i].one : losses[i].several);
		if (losses[i].help != NULL)
			say_hint("%s", losses[i].help);
	}
	if (status->n_bytes == 0 && !any_loss(status))
		say_hint("nothing was traced: perhaps nothing ran of what was "
			 "asked for (--filter, --user, --kernel)");
	say_hint("'hwtdecode info %s' shows what is in it", options->output);
}

int
record_loss_code(const struct options *options,
    const struct hwtd_capture_status *status)
{
	if (options->max_loss < 0 ||
	    (options->max_loss == 0
		    ? !any_loss(status)
		    : lost_percent(status) <= options->max_loss))
		return (EXIT_DONE);
	say_error("%s: %.4g%% of the bytes%s were lost; --max-loss is %.4g%%",
	    options->output, lost_percent(status),
	    options->max_loss == 0 ? ", or what has no bytes," : "",
	    options->max_loss);
	return (EXIT_LOSS);
}
