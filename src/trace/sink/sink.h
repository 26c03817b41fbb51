/*
 * Trace sinks: which bytes of what one wrote are those of which source.
 *
 * A sink is read once, when the trace is sealed, and cut into pieces.  The bytes
 * of a source in a piece are a stretch of the source's stream; they are taken
 * out of the frames when they are looked at.
 */
#ifndef HWTDI_SINK_H
#define HWTDI_SINK_H

#include <hwtdecode/coresight.h>

#include "base/library.h"
#include "trace/sink/framer.h"

/* Bytes of a sink, and how it stands before them. */
struct hwtdi_sink_piece {
	uint64_t start;
	uint64_t end;
	struct hwtdi_framer framer;
	/* The source whose bytes come next. */
	uint8_t id;
};

struct hwtdi_sink {
	struct hwtdi_sink_piece *pieces;
	size_t n_pieces, cap_pieces;
	struct hwtd_sink_info info;
};

void hwtdi_sink_destroy(struct hwtd_context *library, struct hwtdi_sink *sink);

/* Bytes of a source that are asked for. */
struct hwtdi_sink_ask {
	uint8_t id;
	/* [first, first + n) of those in the piece. */
	uint64_t first;
	uint64_t n;
	uint8_t *to;
};

/* `bytes` are those of the piece, which hold what is asked for. */
void hwtdi_sink_take(const struct hwtdi_sink_piece *piece,
    const uint8_t *bytes, const struct hwtdi_sink_ask *ask);

/* Where in the sink the `n` bytes of a source in a piece are. */
void hwtdi_sink_places(const struct hwtdi_sink_piece *piece,
    const uint8_t *bytes, uint8_t id, uint64_t *places, size_t n);

struct hwtd_trace;

/*
 * Read all sinks of a trace that is being sealed, and give the streams of their
 * sources what they have.  On failure sources are without bytes, as before.
 */
int hwtdi_sinks_read(struct hwtd_trace *trace, struct hwtd_error *err);
/* Take that back. */
void hwtdi_sinks_forget(struct hwtd_trace *trace);

#endif /* HWTDI_SINK_H */
