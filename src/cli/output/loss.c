/*
 * How much of a trace gave nothing, and what to do about it: one sentence of
 * advice per reason.
 */
#include "cli/output/loss.h"
#include "cli/output/message.h"

double
loss_percent(const struct hwtd_stats *stats)
{
	if (stats->bytes == 0)
		return (0);
	return (100.0 * (double)stats->gap_bytes / (double)stats->bytes);
}

bool
loss_any(const struct hwtd_stats *stats)
{
	if (stats->gap_bytes > 0 || stats->file_gap_bytes > 0)
		return (true);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++) {
		if (stats->gaps[i] > 0)
			return (true);
	}
	return (false);
}

bool
loss_exceeds(const struct hwtd_stats *stats, double max_loss)
{
	if (max_loss < 0)
		return (false);
	if (max_loss == 0)
		return (loss_any(stats));
	return (loss_percent(stats) > max_loss);
}

int
loss_exit_code(const char *name, const struct hwtd_stats *stats,
    double max_loss)
{
	if (!loss_exceeds(stats, max_loss))
		return (EXIT_DONE);
	say_error("%s: %.4g%% of the bytes gave nothing; --max-loss is %.4g%%",
	    name, loss_percent(stats), max_loss);
	say_hint("'hwtdecode check' says why and what to do");
	return (EXIT_LOSS);
}

void
loss_warn(const char *name, const struct hwtd_stats *stats)
{
	unsigned long long gaps = 0;

	if (!loss_any(stats))
		return;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += stats->gaps[i];
	say_warning("%s: %llu of %llu bytes (%.2f%%) in %llu gap%s gave "
		    "nothing",
	    name, (unsigned long long)stats->gap_bytes,
	    (unsigned long long)stats->bytes, loss_percent(stats), gaps,
	    gaps == 1 ? "" : "s");
}

const char *
loss_advice(uint32_t reason)
{
	static const char *const advice[HWTD_GAP_REASONS] = {
		[HWTD_GAP_UNKNOWN] = "The decoder did not say why; try "
				     "another --engine.",
		[HWTD_GAP_UNSYNCED] =
		    "Decoding starts at the first synchronisation packet.  A "
		    "ring buffer that wrapped starts in the middle; ask for "
		    "synchronisation packets more often when recording (Intel "
		    "PT: psb_period; CoreSight: TRCSYNCPR, ETMSYNCFR).  If "
		    "the whole stream is lost, it may not be of this "
		    "technology, or of CoreSight not of this protocol or "
		    "--framing.",
		[HWTD_GAP_OVERFLOW] =
		    "The hardware could not write fast enough.  Record less: "
		    "filter by address, leave out timing packets or user or "
		    "kernel code.",
		[HWTD_GAP_BAD_PACKET] =
		    "The bytes are no packets.  Check that the raw bytes were "
		    "copied unchanged, in order, and without bytes of another "
		    "stream.  Intel PT: name the processor with --pt-cpu.  "
		    "CoreSight: compare the registers that 'hwtdecode info' "
		    "shows with those of the source: TRCIDR8, where --gaps "
		    "says that more is committed than was traced.  Arm SPE: "
		    "each costs one sample; files of several buffers need "
		    "--split-at.",
		[HWTD_GAP_BAD_FLOW] =
		    "The code is not what ran.  Give the very files that were "
		    "loaded, at the addresses where they were; code that "
		    "changes itself needs its bytes from the time of the "
		    "trace.  Filters that were set need --pt-filter.",
		[HWTD_GAP_NO_CODE] = "Give the code that lay there: --image "
				     "FILE@ADDRESS, or "
				     "all of it with --images.",
		[HWTD_GAP_BAD_CODE] =
		    "The bytes there are no instructions: the image is of "
		    "another version, lies elsewhere, or --image has a wrong "
		    "offset.",
		[HWTD_GAP_ENDLESS_LOOP] =
		    "The code as given never leaves a loop, so it is not what "
		    "ran; give the code as it was at that time.",
		[HWTD_GAP_AMBIGUOUS_MAPPING] =
		    "Several files could lie there; leave out the images that "
		    "do not belong to this trace, or record mappings with "
		    "times.",
		[HWTD_GAP_TRUNCATED] = "The collector lost bytes: record with "
				       "a larger buffer, or "
				       "let it be read more often.",
		[HWTD_GAP_FILE_DAMAGED] = "The file is damaged: copy it again "
					  "from where it was "
					  "recorded.",
		[HWTD_GAP_UNSUPPORTED] =
		    "This build cannot decode that, or was not told how: "
		    "'hwtdecode version' shows what it has.  Of CoreSight the "
		    "protocol and registers of the source of each trace ID "
		    "are needed: --etm-config, or the files of a snapshot; "
		    "--gaps shows what is missing.",
		[HWTD_GAP_ENGINE] = "The decoding library failed; try another "
				    "--engine, and "
				    "report it with the trace.",
		[HWTD_GAP_LIMIT] =
		    "A limit that protects against hostile input was reached; "
		    "decode the streams one by one with --stream.",
	};

	if (reason >= HWTD_GAP_REASONS || advice[reason] == NULL)
		return (advice[HWTD_GAP_UNKNOWN]);
	return (advice[reason]);
}
