/*
 * Rows on their way from one thread to another: most take 16 bytes instead of
 * 64, because memory that another CPU wrote takes long to read.
 */
#ifndef HWTDI_PACKED_ROWS_H
#define HWTDI_PACKED_ROWS_H

#include "event/rows.h"

struct hwtdi_packed_row {
	/* The address, of which 48 bits are enough, and the flags. */
	uint64_t place;
	/*
	 * From the lowest byte on: instructions; branch; how much greater the
	 * stream_off is than in the row before; index of the section among
	 * those of the rows; two of bytes; two of how much later it is.
	 */
	uint64_t rest;
};

#define HWTDI_PACKED_BRANCH 8
#define HWTDI_PACKED_OFF 16
#define HWTDI_PACKED_SECTION 24
#define HWTDI_PACKED_BYTES 32
#define HWTDI_PACKED_TIME 48

/* In place of a branch: the row is the next of those that do not fit. */
#define HWTDI_PACKED_ODD 0xffu
#define HWTDI_PACKED_SECTIONS 32

struct hwtdi_packed_rows {
	/* Rows that do not fit, in order. */
	struct hwtd_event *odd;
	size_t n_odd, cap_odd;
	/* While they are made one by one: those of the last row. */
	uint64_t last_ns, last_off;
	/* The context of the last one that does not fit. */
	uint32_t last_context;
	/* Of the other ones. */
	uint8_t kind;
	uint8_t n_sections;
	uint32_t sections[HWTDI_PACKED_SECTIONS];
	/* The target of a row is the address of the next: one more than rows. */
	struct hwtdi_packed_row rows[HWTDI_ROWS + 1];
};

void hwtdi_packed_rows_init(struct hwtdi_packed_rows *packed);
void hwtdi_packed_rows_fini(struct hwtd_context *library,
    struct hwtdi_packed_rows *packed);

/* No row is in it; those that fit will be of that kind: blocks, or samples, of
 * which each has the next detail. */
void hwtdi_packed_rows_clear(struct hwtdi_packed_rows *packed, uint8_t kind);

/* The index of a section, or HWTDI_PACKED_SECTIONS: there are too many. */
uint8_t hwtdi_packed_section(struct hwtdi_packed_rows *packed,
    uint32_t section);

/* Add row number `i` as one that does not fit.  HWTD_OK, HWTD_E_NOMEM. */
int hwtdi_packed_odd(struct hwtd_context *library,
    struct hwtdi_packed_rows *packed, size_t i, const struct hwtd_event *row);

static inline uint64_t
hwtdi_packed_place(uint64_t ip, unsigned int flags)
{
	return (ip << 16 | flags);
}

/* What a row has of the one before it, and of its section. */
static inline uint64_t
hwtdi_packed_head(uint64_t more_ns, uint64_t more_off, uint8_t section)
{
	return (more_ns << HWTDI_PACKED_TIME | more_off << HWTDI_PACKED_OFF |
	    (uint64_t)section << HWTDI_PACKED_SECTION);
}

/* Not 0: that does not fit. */
static inline uint64_t
hwtdi_packed_head_excess(uint64_t more_ns, uint64_t more_off, uint8_t section)
{
	return (more_ns >> 16 | more_off >> 8 |
	    (section == HWTDI_PACKED_SECTIONS));
}

/* What it has of its own; `branch` is not HWTDI_PACKED_ODD. */
static inline uint64_t
hwtdi_packed_code(uint32_t insns, uint32_t bytes, unsigned int branch)
{
	return ((uint64_t)bytes << HWTDI_PACKED_BYTES |
	    (uint64_t)branch << HWTDI_PACKED_BRANCH | insns);
}

/* Not 0: that does not fit. */
static inline uint32_t
hwtdi_packed_code_excess(uint32_t insns, uint32_t bytes)
{
	return (insns >> 8 | bytes >> 16);
}

/* Not 0: the address does not fit. */
static inline uint64_t
hwtdi_packed_excess(uint64_t ip)
{
	return ((ip + ((uint64_t)1 << 47)) >> 48);
}

/*
 * Add row number `i`, the next sample, of the stream of the one before.  False: it
 * does not fit.
 */
static inline bool
hwtdi_packed_sample(struct hwtdi_packed_rows *packed, size_t i,
    const struct hwtd_event *row)
{
	const uint64_t more_ns = row->time_ns - packed->last_ns;
	const uint64_t more_off = row->stream_off - packed->last_off;
	/* How far it goes is where blocks have instructions, section and bytes. */
	const uint64_t far = (row->flags & HWTD_EVF_TARGET) != 0
	    ? row->target - row->ip
	    : 0;
	struct hwtdi_packed_row *to = &packed->rows[i];

	if ((hwtdi_packed_head_excess(more_ns, more_off, 0) |
		hwtdi_packed_excess(row->ip) | (packed->n_odd == 0) |
		((far + ((uint64_t)1 << 31)) >> 32) |
		(packed->last_context ^ row->context)) != 0 ||
	    packed->kind != HWTD_EV_SAMPLE)
		return (false);
	packed->last_ns = row->time_ns;
	packed->last_off = row->stream_off;
	to->place = hwtdi_packed_place(row->ip, row->flags);
	to->rest = hwtdi_packed_head(more_ns, more_off, 0) |
	    hwtdi_packed_code(0, 0, row->branch) |
	    (far & 0xffffff) << HWTDI_PACKED_SECTION | (far >> 24 & 0xff);
	to[1].place = 0;
	return (true);
}

/* At most HWTDI_ROWS; those of before are gone.  HWTD_OK, HWTD_E_NOMEM. */
int hwtdi_rows_pack(struct hwtd_context *library,
    const struct hwtd_event *rows, size_t n, struct hwtdi_packed_rows *packed);

/* The same `n` again, but for `context`, to which so much is added. */
void hwtdi_rows_unpack(const struct hwtdi_packed_rows *packed, size_t n,
    uint32_t context, struct hwtd_event *rows);

#endif /* HWTDI_PACKED_ROWS_H */
