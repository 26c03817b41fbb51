/*
 * Rows of packets that tile a stream.
 */
#include "decode/coresight/cs_rows.h"

#include <string.h>

/* More is told in pieces. */
#define RUN_MAX (UINT32_C(1) << 30)

static void
tell(struct hwtdi_cs_rows *rows, const struct hwtd_packet *row)
{
	if (row->stream_off >= rows->end) {
		rows->past_end = true;
		return;
	}
	if (row->stream_off < rows->first)
		return;
	rows->bytes += row->bytes;
	if (row->kind < HWTD_PK_LOST)
		rows->bytes_unknown += row->bytes;
	if ((rows->kinds >> row->kind & 1) != 0 && rows->n < HWTDI_CS_ROWS_MAX)
		rows->rows[rows->n++] = *row;
}

static void
end_run(struct hwtdi_cs_rows *rows)
{
	if (rows->has_run)
		tell(rows, &rows->run);
	rows->has_run = false;
}

/* A row that has its bytes; those without synchronisation become one. */
static void
close_row(struct hwtdi_cs_rows *rows, const struct hwtd_packet *row)
{
	const bool joins = row->kind == HWTD_PK_UNSYNCED ||
	    (row->kind == HWTD_PK_UNKNOWN && row->code == 0);

	rows->at = row->stream_off + row->bytes;
	if (joins && rows->has_run && rows->run.kind == row->kind &&
	    rows->run.bytes < RUN_MAX) {
		rows->run.bytes += row->bytes;
		return;
	}
	end_run(rows);
	if (!joins) {
		tell(rows, row);
		return;
	}
	rows->run = *row;
	rows->has_run = true;
}

/* Bytes up to `off` that the library gave no name. */
static void
fill_hole(struct hwtdi_cs_rows *rows, uint64_t off)
{
	while (rows->at < off) {
		const uint64_t n = off - rows->at;
		const struct hwtd_packet hole = {
			.stream_off = rows->at,
			.bytes = n < RUN_MAX ? (uint32_t)n : RUN_MAX,
			.stream = rows->stream,
			.kind = rows->synced ? HWTD_PK_UNKNOWN
					     : HWTD_PK_UNSYNCED,
			.code = rows->synced ? 0 : rows->unsynced_code,
		};

		close_row(rows, &hole);
	}
}

static void
close_held(struct hwtdi_cs_rows *rows, uint64_t off)
{
	const uint64_t room = off > rows->held.stream_off
	    ? off - rows->held.stream_off
	    : 0;

	if (!rows->has_held)
		return;
	rows->has_held = false;
	/* How many halves are of a synchronisation is not told. */
	if (rows->halves && rows->held.kind == HWTD_PK_CS_ASYNC &&
	    rows->held.bytes + 1 == room)
		rows->held.bytes++;
	if (rows->halves && rows->held.kind >= HWTD_PK_CS_ASYNC &&
	    rows->held.bytes == room + 1)
		rows->held.flags |= HWTD_PKF_HALF;
	if (rows->held.bytes > room)
		rows->held.bytes = (uint32_t)room;
	/* A packet can be in half a byte that another one has. */
	if (rows->held.bytes != 0 || (rows->held.flags & HWTD_PKF_HALF) != 0)
		close_row(rows, &rows->held);
}

void
hwtdi_cs_rows_begin(struct hwtdi_cs_rows *rows, uint64_t off)
{
	rows->at = off;
	rows->synced = false;
	rows->has_held = false;
	rows->has_run = false;
}

void
hwtdi_cs_rows_put(struct hwtdi_cs_rows *rows, const struct hwtd_packet *packet)
{
	close_held(rows, packet->stream_off);
	fill_hole(rows, packet->stream_off);
	rows->held = *packet;
	rows->held.stream = rows->stream;
	rows->has_held = true;
	/* What is at hand at the end does not begin a packet for sure. */
	if (packet->kind == HWTD_PK_TRUNCATED && !rows->synced) {
		rows->held.kind = HWTD_PK_UNSYNCED;
		rows->held.code = rows->unsynced_code;
	}
	if (packet->kind == HWTD_PK_UNSYNCED)
		rows->synced = false;
	else if (packet->kind >= HWTD_PK_CS_ASYNC)
		rows->synced = true;
	/* The library never goes back; if it did, no byte has two names. */
	if (packet->stream_off < rows->at) {
		const uint64_t twice = rows->at - packet->stream_off;

		rows->held.stream_off = rows->at;
		rows->held.bytes -= twice < packet->bytes ? (uint32_t)twice
							  : packet->bytes;
	}
}

void
hwtdi_cs_rows_finish(struct hwtdi_cs_rows *rows, uint64_t off)
{
	close_held(rows, off);
	fill_hole(rows, off);
	end_run(rows);
}
