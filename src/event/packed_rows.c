/*
 * Rows on their way from one thread to another.
 */
#include "event/packed_rows.h"

#include <string.h>

/* Stream and context are copied as one. */
#define STREAM offsetof(struct hwtd_event, stream)
_Static_assert(offsetof(struct hwtd_event, context) == STREAM + 4,
    "they are side by side");

void
hwtdi_packed_rows_init(struct hwtdi_packed_rows *packed)
{
	packed->odd = NULL;
	packed->n_odd = 0;
	packed->cap_odd = 0;
}

void
hwtdi_packed_rows_fini(struct hwtd_context *library,
    struct hwtdi_packed_rows *packed)
{
	hwtdi_array_free(library, packed->odd, packed->cap_odd,
	    sizeof(*packed->odd));
}

static inline uint64_t
place_of(const struct hwtd_event *row)
{
	return (hwtdi_packed_place(row->ip, row->flags));
}

static inline uint64_t
address_of(uint64_t place)
{
	return ((uint64_t)((int64_t)place >> 16));
}

/* What a row with this place has as its target if the next has that one. */
static inline uint64_t
target_of(uint64_t place, uint64_t next)
{
	return ((place & HWTD_EVF_TARGET) != 0 ? address_of(next) : 0);
}

/* All of the row fits, and it is of that kind. */
static inline bool
fits(const struct hwtd_event *row, const struct hwtd_event *before,
    uint8_t section, uint8_t kind, uint64_t place, uint64_t next)
{
	const uint64_t excess = hwtdi_packed_head_excess(row->time_ns -
					before->time_ns,
				    row->stream_off - before->stream_off,
				    section) |
	    hwtdi_packed_code_excess(row->insns, row->bytes);
	const uint64_t other = (row->stream ^ before->stream) |
	    (row->context ^ before->context) | row->value |
	    (row->kind ^ kind) | (row->ip ^ address_of(place)) |
	    (row->target ^ target_of(place, next));

	return ((excess | other) == 0 && row->branch != HWTDI_PACKED_ODD);
}

void
hwtdi_packed_rows_clear(struct hwtdi_packed_rows *packed, uint8_t kind)
{
	packed->n_odd = 0;
	packed->n_sections = 0;
	packed->kind = kind;
	packed->rows[0].place = 0;
}

uint8_t
hwtdi_packed_section(struct hwtdi_packed_rows *packed, uint32_t section)
{
	uint8_t i = 0;

	while (i < packed->n_sections && packed->sections[i] != section)
		i++;
	if (i == packed->n_sections && i < HWTDI_PACKED_SECTIONS)
		packed->sections[packed->n_sections++] = section;
	return (i);
}

int
hwtdi_packed_odd(struct hwtd_context *library,
    struct hwtdi_packed_rows *packed, size_t i, const struct hwtd_event *row)
{
	if (packed->n_odd == packed->cap_odd &&
	    hwtdi_array_grow(library, &packed->odd, &packed->cap_odd,
		packed->n_odd + 1, sizeof(*packed->odd), NULL) != HWTD_OK)
		return (HWTD_E_NOMEM);
	packed->odd[packed->n_odd++] = *row;
	packed->last_context = row->context;
	packed->last_ns = row->time_ns;
	packed->last_off = row->stream_off;
	packed->rows[i].place = hwtdi_packed_place(row->ip, row->flags);
	packed->rows[i].rest = HWTDI_PACKED_ODD << HWTDI_PACKED_BRANCH;
	packed->rows[i + 1].place = 0;
	return (HWTD_OK);
}

int
hwtdi_rows_pack(struct hwtd_context *library, const struct hwtd_event *rows,
    size_t n, struct hwtdi_packed_rows *packed)
{
	/* The first has none before it. */
	const struct hwtd_event *before = NULL;
	uint64_t place = n > 0 ? place_of(&rows[0]) : 0, next;
	struct hwtdi_packed_row *out = packed->rows;
	uint8_t section = 0;

	/* Samples are packed as they are made, or not at all. */
	hwtdi_packed_rows_clear(packed,
	    n > 0 && rows[n - 1].kind != HWTD_EV_SAMPLE ? rows[n - 1].kind
							: HWTD_EV_UNKNOWN);
	for (const struct hwtd_event *row = rows; row < rows + n;
	     before = row++, place = next, out++) {
		next = row + 1 < rows + n ? place_of(&row[1])
					  : row->target << 16;
		out->place = place;
		if (before == NULL || before->section != row->section)
			section = hwtdi_packed_section(packed, row->section);
		if (before == NULL ||
		    !fits(row, before, section, packed->kind, place, next)) {
			if (hwtdi_packed_odd(library, packed,
				(size_t)(row - rows), row) != HWTD_OK)
				return (HWTD_E_NOMEM);
			continue;
		}
		out->rest = hwtdi_packed_head(row->time_ns - before->time_ns,
				row->stream_off - before->stream_off,
				section) |
		    hwtdi_packed_code(row->insns, row->bytes, row->branch);
	}
	out->place = place;
	return (HWTD_OK);
}

static void
unpack_samples(const struct hwtdi_packed_rows *packed, size_t n,
    uint32_t context, struct hwtd_event *rows)
{
	const struct hwtdi_packed_row *from = packed->rows;
	const struct hwtd_event *odd = packed->odd;
	const struct hwtd_event *const end = rows + n;
	uint64_t time_ns = 0, stream_off = 0, who = 0, value = 0;

	for (; rows < end; rows++, from++) {
		const uint64_t rest = from->rest;
		const uint16_t flags = (uint16_t)from->place;
		const uint8_t branch = (uint8_t)(rest >> HWTDI_PACKED_BRANCH);
		const uint32_t far = (uint32_t)(rest << 24) |
		    (uint32_t)(rest >> HWTDI_PACKED_SECTION & 0xffffff);

		if (branch == HWTDI_PACKED_ODD) {
			*rows = *odd++;
			rows->context += context;
			time_ns = rows->time_ns;
			stream_off = rows->stream_off;
			value += rows->kind == HWTD_EV_SAMPLE;
			memcpy(&who, (uint8_t *)rows + STREAM, sizeof(who));
			continue;
		}
		time_ns += rest >> HWTDI_PACKED_TIME;
		stream_off += (uint8_t)(rest >> HWTDI_PACKED_OFF);
		rows->time_ns = time_ns;
		rows->ip = address_of(from->place);
		rows->target = (flags & HWTD_EVF_TARGET) != 0
		    ? rows->ip + (uint64_t)(int32_t)far
		    : 0;
		rows->stream_off = stream_off;
		rows->value = value++;
		rows->insns = 0;
		rows->bytes = 0;
		memcpy((uint8_t *)rows + STREAM, &who, sizeof(who));
		rows->section = 0;
		rows->kind = HWTD_EV_SAMPLE;
		rows->branch = branch;
		rows->flags = flags;
	}
}

void
hwtdi_rows_unpack(const struct hwtdi_packed_rows *packed, size_t n,
    uint32_t context, struct hwtd_event *rows)
{
	const struct hwtdi_packed_row *from = packed->rows;
	const struct hwtd_event *odd = packed->odd;
	const struct hwtd_event *const end = rows + n;
	const uint8_t kind = packed->kind;
	uint64_t ip = address_of(from->place), next, time_ns = 0,
		 stream_off = 0;
	/* Stream and context. */
	uint64_t who = 0;

	if (kind == HWTD_EV_SAMPLE) {
		unpack_samples(packed, n, context, rows);
		return;
	}
	for (; rows < end; rows++, from++, ip = next) {
		const uint64_t rest = from->rest;
		const uint16_t flags = (uint16_t)from->place;
		const uint8_t branch = (uint8_t)(rest >> HWTDI_PACKED_BRANCH);

		next = address_of(from[1].place);
		if (branch == HWTDI_PACKED_ODD) {
			*rows = *odd++;
			rows->flags = flags;
			rows->context += context;
			time_ns = rows->time_ns;
			stream_off = rows->stream_off;
			memcpy(&who, (uint8_t *)rows + STREAM, sizeof(who));
			continue;
		}
		time_ns += rest >> HWTDI_PACKED_TIME;
		stream_off += (uint8_t)(rest >> HWTDI_PACKED_OFF);
		rows->time_ns = time_ns;
		rows->ip = ip;
		rows->target = (flags & HWTD_EVF_TARGET) != 0 ? next : 0;
		rows->stream_off = stream_off;
		rows->value = 0;
		rows->insns = (uint8_t)rest;
		rows->bytes = (uint16_t)(rest >> HWTDI_PACKED_BYTES);
		memcpy((uint8_t *)rows + STREAM, &who, sizeof(who));
		rows->section = packed->sections[(uint8_t)(rest >>
		    HWTDI_PACKED_SECTION)];
		rows->kind = kind;
		rows->branch = branch;
		rows->flags = flags;
	}
}
