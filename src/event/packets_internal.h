/*
 * Packets of a stream: what is the same for all technologies, and the interface
 * to what is not.
 */
#ifndef HWTDI_PACKETS_INTERNAL_H
#define HWTDI_PACKETS_INTERNAL_H

#include <hwtdecode/packet.h>

#include "decode/pt/pt_lexer.h"
#include "decode/pt/pt_time.h"
#include "decode/spe/spe_names.h"
#include "event/segment.h"
#include "trace/sink/framer.h"

#define HWTDI_PACKET_ROWS 256

struct hwtdi_cs_lexer;
struct hwtdi_cs_rows;

/* How bytes of a technology are named. */
struct hwtdi_packets_class {
	/* Where segments may begin. */
	const struct hwtdi_engine *(*cuts)(const struct hwtd_packets *p);
	/* On failure, close is called. */
	int (*open)(struct hwtd_packets *p,
	    const struct hwtd_stream_desc *desc, struct hwtd_error *err);
	void (*close)(struct hwtd_packets *p);
	/* What was before these bytes of a segment makes no difference. */
	bool (*begins_sync)(const struct hwtd_packets *p, const uint8_t *bytes,
	    size_t n);
	/* A segment is next; `adjoins` the one before. */
	void (*take)(struct hwtd_packets *p,
	    const struct hwtdi_segment *segment, bool adjoins);
	/* Make rows of what is left: `rows` and `n_rows`, maybe none. */
	void (*make_rows)(struct hwtd_packets *p);
	/* The first `n` rows have all that is asked for. */
	int (*complete)(struct hwtd_packets *p, size_t n,
	    struct hwtd_error *err);
	/* Tell a visitor what is left, or make a few rows.  NULL: by rows. */
	int (*visit)(struct hwtd_packets *p,
	    const struct hwtd_packet_visitor *visitor, void *arg,
	    struct hwtd_error *err);
	void (*stats)(const struct hwtd_packets *p,
	    struct hwtd_packets_stats *out);
};

extern const struct hwtdi_packets_class hwtdi_packets_pt;
extern const struct hwtdi_packets_class hwtdi_packets_cs;
extern const struct hwtdi_packets_class hwtdi_packets_sink;
extern const struct hwtdi_packets_class hwtdi_packets_spe;

struct hwtd_packets {
	struct hwtd_trace *trace;
	struct hwtd_packets_options opts;
	const struct hwtdi_packets_class *class;
	struct hwtdi_segments segments;
	/* What is left of the segment at hand. */
	struct hwtdi_pt_stretch left;
	/* Offset behind the last segment. */
	uint64_t at;
	bool begun, done;
	/* A part that is not there, to be told next. */
	struct hwtd_packet lost;
	bool has_lost;
	uint64_t bytes_lost;
	/* Rows that were made; those of them that were told, that are complete. */
	size_t n_rows, n_told, n_complete;
	struct hwtd_packet *rows;

	/* Intel PT. */
	struct {
		struct hwtdi_pt_lexer lexer;
		/* With HWTD_PACKETS_TIME, and if the stream has a clock. */
		bool timed, warned;
		struct hwtdi_pt_time time;
		struct hwtd_clock clock;
		/* The last count that was turned into ns. */
		uint64_t count, count_ns;
		/* Bytes of the next segment that a packet before it took. */
		size_t taken;
		struct hwtd_packet rows[HWTDI_PACKET_ROWS];
	} pt;

	/* CoreSight, and what sinks write. */
	struct {
		uint32_t protocol;
		struct hwtdi_cs_lexer *lexer;
		struct hwtdi_cs_rows *rows;
		/* With HWTD_PACKETS_SINK, in a sink. */
		struct hwtdi_window *window;
		/* Something was fed since the start, and has not ended. */
		bool open, ends;
		struct hwtdi_framer framer;
	} cs;

	/* Arm SPE. */
	struct {
		struct hwtdi_spe_producer who;
		unsigned int read_flags;
		/* A record has begun; behind bytes that are of no packet. */
		bool in_record, guessed;
		/* With HWTD_PACKETS_TIME: the time of the record, if it has one. */
		bool timed, has_time;
		struct hwtd_clock clock;
		uint64_t time_ns;
		/* Bytes of the next segment that a packet before it took. */
		size_t taken;
		uint64_t bytes, bytes_unknown;
		struct hwtd_packet rows[HWTDI_PACKET_ROWS];
	} spe;
};

/* The stream begins in the middle on purpose, and nothing was read yet. */
static inline bool
hwtdi_packets_at_first(const struct hwtd_packets *p)
{
	return (!p->begun && (p->opts.flags & HWTD_PACKETS_NO_SYNC) != 0);
}

/* Rows of this kind are asked for. */
static inline bool
hwtdi_packets_wants(const struct hwtd_packets *p, uint32_t kind)
{
	return (kind < 64 ? (p->opts.kinds >> kind & 1) != 0
			  : (p->opts.kinds_from_64 >> (kind - 64) & 1) != 0);
}

/* Of engines that are here to say that a stream is cut nowhere. */
size_t hwtdi_packets_cut_nowhere(const uint8_t *bytes, size_t n, size_t seen,
    size_t from);

/*
 * As hwtd_packets_read(), but maybe no rows: where few are wanted, the caller has
 * its turn after a part of the trace.
 */
int hwtdi_packets_read_some(struct hwtd_packets *packets,
    struct hwtd_packet_batch *out, struct hwtd_error *err);

/* packets_cs.c: what both of CoreSight do. */
int hwtdi_packets_open_rows(struct hwtd_packets *p, struct hwtd_error *err);
void hwtdi_packets_close_cs(struct hwtd_packets *p);
void hwtdi_packets_set_left(struct hwtd_packets *p,
    const struct hwtdi_segment *segment);
void hwtdi_packets_passed(struct hwtd_packets *p, size_t n);
void hwtdi_packets_stop_behind(struct hwtd_packets *p);
int hwtdi_packets_set_sink_offs(struct hwtd_packets *p, size_t n,
    struct hwtd_error *err);
void hwtdi_packets_stats_of_cs(const struct hwtd_packets *p,
    struct hwtd_packets_stats *out);

#endif /* HWTDI_PACKETS_INTERNAL_H */
