/*
 * Packets that are found one after the other, as rows that tile a stream.
 */
#ifndef HWTDI_CS_ROWS_H
#define HWTDI_CS_ROWS_H

#include <hwtdecode/packet.h>
#include <stdbool.h>

/* What bytes that are fed at once can make, and what was held back. */
#define HWTDI_CS_ROWS_FEED 128
#define HWTDI_CS_ROWS_MAX (4 * HWTDI_CS_ROWS_FEED + 64)

struct hwtdi_cs_rows {
	/* What is wanted: rows that begin in [first, end), of these kinds. */
	uint32_t stream;
	uint64_t first, end;
	uint64_t kinds;
	/* Packets may begin in the middle of a byte. */
	bool halves;
	/* Of bytes without synchronisation. */
	uint32_t unsynced_code;

	/* Bytes that rows were made of, and those that are of no packet. */
	uint64_t bytes, bytes_unknown;
	/* One began at `end` or behind it. */
	bool past_end;

	/* Offset of the next byte that has no name yet. */
	uint64_t at;
	/* Packets are told: bytes that are of none are none. */
	bool synced;
	/* A packet that goes on up to the next one, but not over its size. */
	bool has_held;
	struct hwtd_packet held;
	/* Bytes of one kind that may go on. */
	bool has_run;
	struct hwtd_packet run;

	size_t n;
	struct hwtd_packet rows[HWTDI_CS_ROWS_MAX];
};

/* What is put next begins here; nothing is held back. */
void hwtdi_cs_rows_begin(struct hwtdi_cs_rows *rows, uint64_t off);

/*
 * A packet: `stream_off` is where it begins and `bytes` what it has, which can be
 * more than there is up to the next.
 */
void hwtdi_cs_rows_put(struct hwtdi_cs_rows *rows,
    const struct hwtd_packet *packet);

/* Nothing begins before `off`: all up to it is told. */
void hwtdi_cs_rows_finish(struct hwtdi_cs_rows *rows, uint64_t off);

#endif /* HWTDI_CS_ROWS_H */
