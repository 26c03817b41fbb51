/*
 * Sinks that write: runs, hash, gaps and events of a decode as text.
 */
#include "flow.h"

#include <inttypes.h>
#include <stdlib.h>

#define FNV_START UINT64_C(1469598103934665603)
#define FNV_PRIME UINT64_C(1099511628211)
#define HASH_EVERY 65536

const char *
flow_mode_of(const struct hwtd_event *row)
{
	static const char *const modes[] = { [HWTD_ISA_X86_16] = "16",
		[HWTD_ISA_X86_32] = "32",
		[HWTD_ISA_X86_64] = "64",
		[HWTD_ISA_A32] = "a32",
		[HWTD_ISA_T32] = "t32",
		[HWTD_ISA_T32EE] = "t32ee",
		[HWTD_ISA_A64] = "a64" };
	const unsigned int isa = (row->flags & HWTD_EVF_ISA_MASK) >>
	    HWTD_EVF_ISA_SHIFT;

	if (isa >= sizeof(modes) / sizeof(modes[0]) || modes[isa] == NULL)
		return ("0");
	return (modes[isa]);
}

static bool
close_out(FILE *out)
{
	bool good = fflush(out) == 0 && ferror(out) == 0;

	if (out != stdout)
		good = fclose(out) == 0 && good;
	return (good);
}

const struct hwtd_gap *
flow_gap_of(const struct hwtd_batch *batch, const struct hwtd_event *row)
{
	if (row->value >= batch->n_gaps)
		return (NULL);
	return ((const struct hwtd_gap *)(const void *)((const char *)
							    batch->gaps +
	    row->value * batch->gap_stride));
}

/*
 * Runs.  A run ends only where the next executed address is not the end of
 * the instruction before, at an error and at the sync after it.
 */
struct runs {
	struct flow_sink sink;
	FILE *out;
	uint64_t first;
	uint64_t last;
	uint64_t next;
	uint64_t n;
	const char *mode;
	/* An s line is due before the next run. */
	bool unsynced;
};

static void
runs_flush(struct runs *runs)
{
	if (runs->n != 0)
		fprintf(runs->out,
		    "b %" PRIx64 " %" PRIu64 " %s %" PRIx64 "\n", runs->first,
		    runs->n, runs->mode, runs->last);
	runs->n = 0;
}

static void
runs_sync(struct runs *runs, const struct hwtd_event *row)
{
	if (!runs->unsynced)
		return;
	runs->unsynced = false;
	fprintf(runs->out, "s %" PRIx64 "\n", row->stream_off);
}

static void
runs_gap(struct runs *runs, const struct hwtd_gap *gap)
{
	if (gap == NULL || gap->reason == HWTD_GAP_OVERFLOW)
		return;
	runs_flush(runs);
	/* Bytes before the first sync point are no error. */
	if (gap->reason != HWTD_GAP_UNSYNCED)
		fprintf(runs->out, "x %s @%" PRIx64 "\n",
		    hwtd_gap_reason_name(gap->reason), gap->first);
	runs->unsynced = true;
}

static void
runs_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct runs *runs = (struct runs *)(void *)sink;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];

		if (row->kind == HWTD_EV_GAP) {
			runs_gap(runs, flow_gap_of(batch, row));
			continue;
		}
		if (row->kind != HWTD_EV_INSN)
			continue;
		runs_sync(runs, row);
		if (runs->n == 0 || row->ip != runs->next ||
		    flow_mode_of(row) != runs->mode) {
			runs_flush(runs);
			runs->first = row->ip;
			runs->mode = flow_mode_of(row);
		}
		runs->n++;
		runs->last = row->ip;
		runs->next = row->ip + row->bytes;
	}
}

static bool
runs_end(struct flow_sink *sink)
{
	struct runs *runs = (struct runs *)(void *)sink;
	bool good;

	runs_flush(runs);
	good = close_out(runs->out);
	free(runs);
	return (good);
}

struct flow_sink *
flow_runs(FILE *out)
{
	struct runs *runs = flow_alloc(sizeof(*runs));

	*runs = (struct runs){
		.sink = { .rows = runs_rows, .end = runs_end },
		.out = out,
		.unsynced = true,
	};
	return (&runs->sink);
}

struct hash {
	struct flow_sink sink;
	FILE *out;
	uint64_t h;
	uint64_t n;
};

static void
hash_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct hash *hash = (struct hash *)(void *)sink;
	uint64_t h = hash->h;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];

		if (row->kind != HWTD_EV_INSN)
			continue;
		for (unsigned int byte = 0; byte < 64; byte += 8)
			h = (h ^ (row->ip >> byte & 0xff)) * FNV_PRIME;
		if (++hash->n % HASH_EVERY == 0)
			fprintf(hash->out, "h %" PRIu64 " %016" PRIx64 "\n",
			    hash->n, h);
	}
	hash->h = h;
}

static bool
hash_end(struct flow_sink *sink)
{
	struct hash *hash = (struct hash *)(void *)sink;
	bool good;

	fprintf(hash->out, "h %" PRIu64 " %016" PRIx64 " end\n", hash->n,
	    hash->h);
	good = close_out(hash->out);
	free(hash);
	return (good);
}

struct flow_sink *
flow_hash(FILE *out)
{
	struct hash *hash = flow_alloc(sizeof(*hash));

	*hash = (struct hash){
		.sink = { .rows = hash_rows, .end = hash_end },
		.out = out,
		.h = FNV_START,
	};
	return (&hash->sink);
}

struct gaps {
	struct flow_sink sink;
	FILE *out;
};

static void
gaps_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct gaps *gaps = (struct gaps *)(void *)sink;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];
		const struct hwtd_gap *gap;

		if (row->kind != HWTD_EV_GAP)
			continue;
		gap = flow_gap_of(batch, row);
		if (gap == NULL)
			fprintf(gaps->out, "no-detail 0 0\n");
		else
			fprintf(gaps->out, "%s %" PRIx64 " %" PRIx64 "\n",
			    hwtd_gap_reason_name(gap->reason), gap->first,
			    gap->end);
	}
}

static bool
gaps_end(struct flow_sink *sink)
{
	struct gaps *gaps = (struct gaps *)(void *)sink;
	bool good = close_out(gaps->out);

	free(gaps);
	return (good);
}

struct flow_sink *
flow_gaps(FILE *out)
{
	struct gaps *gaps = flow_alloc(sizeof(*gaps));

	*gaps = (struct gaps){
		.sink = { .rows = gaps_rows, .end = gaps_end },
		.out = out,
	};
	return (&gaps->sink);
}

struct insns {
	struct flow_sink sink;
	FILE *out;
};

static void
insns_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct insns *insns = (struct insns *)(void *)sink;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];

		if (row->kind != HWTD_EV_INSN)
			continue;
		fprintf(insns->out, "%" PRIx64 " %" PRIu32 " %s", row->ip,
		    row->bytes, flow_mode_of(row));
		if ((row->flags & HWTD_EVF_TIME) != 0)
			fprintf(insns->out, " %" PRIu64, row->time_ns);
		fputc('\n', insns->out);
	}
}

static bool
insns_end(struct flow_sink *sink)
{
	struct insns *insns = (struct insns *)(void *)sink;
	bool good = close_out(insns->out);

	free(insns);
	return (good);
}

struct flow_sink *
flow_insns(FILE *out)
{
	struct insns *insns = flow_alloc(sizeof(*insns));

	*insns = (struct insns){
		.sink = { .rows = insns_rows, .end = insns_end },
		.out = out,
	};
	return (&insns->sink);
}
