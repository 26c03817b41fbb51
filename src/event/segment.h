/*
 * Cutting a stream into segments that decode on their own.
 *
 * An extent is divided into slots of equal size.  The first sync point in a
 * slot is a cut; so where the cuts are depends on the bytes of the stream
 * alone, not on where reading began.
 */
#ifndef HWTDI_SEGMENT_H
#define HWTDI_SEGMENT_H

#include "decode/decoder.h"
#include "trace/trace_model.h"

#ifndef HWTDI_SLOT_BYTES
/* Rows of a segment can be some hundred times its bytes, and those of
 * segments that others make are kept until their turn comes. */
#define HWTDI_SLOT_BYTES ((uint64_t)1 << 16)
#endif
/* Without any sync point, a cut is forced after so many slots. */
#define HWTDI_MAX_SLOTS 1024

enum hwtdi_part_kind {
	/* `segment` is to be decoded. */
	HWTDI_PART_SEGMENT,
	/* A gap in the stream, for instance a damaged chunk. */
	HWTDI_PART_GAP,
	HWTDI_PART_END
};

struct hwtdi_part {
	enum hwtdi_part_kind kind;
	struct hwtdi_segment segment;
	struct hwtd_gap gap;
};

struct hwtdi_segments {
	const struct hwtd_trace *trace;
	const struct hwtdi_engine *engine;
	uint32_t stream;
	struct hwtdi_window *window;
	uint64_t slot_bytes;

	/* The extent at hand, by number; `known` once it was looked up. */
	size_t extent_no;
	struct hwtd_extent extent;
	bool known;
	/* Where the next part starts. */
	uint64_t at;
	/* Damage that the next part is. */
	struct hwtd_damage damage;
	bool damaged;
};

/* `engine` may be NULL: the whole stream is one part of no use. */
int hwtdi_segments_init(struct hwtdi_segments *s,
    const struct hwtd_trace *trace, const struct hwtdi_engine *engine,
    uint32_t stream, struct hwtd_error *err);
void hwtdi_segments_fini(struct hwtdi_segments *s);

/* The next part; its bytes are borrowed until the next call. */
int hwtdi_segments_next(struct hwtdi_segments *s, struct hwtdi_part *out,
    struct hwtd_error *err);

/* The next part is a segment for sure: this one ended at a cut. */
bool hwtdi_segments_at_cut(const struct hwtdi_segments *s);

/* Go where another one of the same stream stands. */
void hwtdi_segments_go(struct hwtdi_segments *s,
    const struct hwtdi_segments *to);

/*
 * Go on by about so many slots, to a cut or to the end of the extent at hand, as
 * reading on would come there.  False: there is no telling where that is.
 */
bool hwtdi_segments_skip(struct hwtdi_segments *s, uint64_t slots);

/* Go to the start of the stream. */
void hwtdi_segments_rewind(struct hwtdi_segments *s);

/* Go to the last cut at or before `off`, as reading from the start would. */
int hwtdi_segments_seek(struct hwtdi_segments *s, uint64_t off,
    struct hwtd_error *err);

/*
 * Slots of the whole stream, counted through all extents, and going to the
 * cut in one; HWTD_E_NOT_FOUND if it has none.
 */
uint64_t hwtdi_segments_slots(const struct hwtdi_segments *s);
int hwtdi_segments_seek_slot(struct hwtdi_segments *s, uint64_t slot,
    struct hwtd_error *err);

#endif /* HWTDI_SEGMENT_H */
