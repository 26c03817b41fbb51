/*
 * A maker: cuts one stream into segments, has them decoded, expands the flows
 * to rows.  All of the stream, or one segment after another that it is given.
 */
#ifndef HWTDI_MAKER_H
#define HWTDI_MAKER_H

#include "event/expand.h"
#include "event/segment.h"

struct hwtdi_maker;

/* Who takes flows, so that they do not become rows. */
struct hwtdi_flow_sink {
	/*
	 * All of the flow of the maker is to be used; gaps in it are added to
	 * the statistics of the rows.
	 */
	int (*take)(void *arg, const struct hwtdi_maker *maker,
	    struct hwtdi_rows *rows);
	/* Tokens and places that were told are void from now on. */
	int (*leave)(void *arg, struct hwtd_error *err);
	void *arg;
};

struct hwtdi_maker {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	uint32_t stream;
	bool timed;
	const struct hwtdi_filter *filter;
	/* No row is asked for, only where records come among them. */
	bool places_only;
	/* NULL: flows become rows. */
	const struct hwtdi_flow_sink *sink;

	const struct hwtdi_engine *engine;
	struct hwtdi_decoder *decoder;
	struct hwtdi_code_graph *graph;
	struct hwtdi_segments segments;
	struct hwtdi_flow *flow;
	/* Code that was found before. */
	struct hwtdi_code_answers *answers;
	/* What is needed to make rows is there. */
	bool ready;

	enum {
		HWTDI_MAKER_BETWEEN,
		HWTDI_MAKER_IN_SEGMENT,
		/* Of a single segment: all rows were made. */
		HWTDI_MAKER_PAUSED,
		HWTDI_MAKER_DONE
	} state;
	/*
	 * Where the next segment begins it pauses; not before this byte, if it
	 * goes on behind the first one.
	 */
	bool single;
	uint64_t until;
	/* Rows end with each segment. */
	bool by_segment;
	/* The last part was a gap. */
	bool behind_gap;
	/* Where who makes what is behind that begins. */
	struct hwtdi_segments next;
	/* The decoder has said all of the segment. */
	bool last_flow;

	/* At the end, because it is not set as a whole. */
	struct hwtdi_expander expander;
};

/* `records` outlive the maker. */
void hwtdi_maker_init(struct hwtdi_maker *maker, struct hwtd_trace *trace,
    uint32_t stream, const struct hwtd_stream_desc *desc,
    const struct hwtdi_filter *filter,
    const struct hwtdi_record_lane *records);

/* Get and give up what is only needed while rows are made. */
int hwtdi_maker_ready(struct hwtdi_maker *maker, struct hwtd_error *err);
void hwtdi_maker_rest(struct hwtdi_maker *maker);

/* Begin at the start of the stream. */
void hwtdi_maker_rewind(struct hwtdi_maker *maker);

/*
 * Make the next rows; `rc` of them says if more will come.  What is not full
 * ends with a segment, or before too many rows that filters leave out.
 */
void hwtdi_maker_make(struct hwtdi_maker *maker, struct hwtdi_rows *rows);

/*
 * Of a single segment, or of several that make few rows: go to the first one at or
 * behind `from`.  Gaps before it are left out, or become rows if they are `first` in
 * what is read.
 *
 * HWTD_OK: it has begun.  Else `rc` of the rows says why not: HWTD_OK if they
 * are full, HWTD_END, or an error.
 */
int hwtdi_maker_begin(struct hwtdi_maker *maker,
    const struct hwtdi_segments *from, bool first, struct hwtdi_rows *rows);

/* The time of the first row with time in the segment at hand, if any. */
int hwtdi_maker_first_time(struct hwtdi_maker *maker, struct hwtdi_rows *rows,
    bool *has_out, uint64_t *ns_out, struct hwtd_error *err);

#endif /* HWTDI_MAKER_H */
