/*
 * Records that look like one before: the same packets at the same places.
 */
#include "decode/spe/spe_shape.h"

#include <string.h>

#include "decode/spe/spe_fields.h"

/*
 * Behind a record that has no shape, and when there are enough of them, so many
 * others are not looked at.
 */
#define MANY 32

/* Where the payload of a packet of a field is to be noted. */
static uint8_t *
place_of(struct hwtdi_spe_shape *shape, const struct hwtdi_spe_packet *p)
{
	switch (p->kind) {
	case HWTDI_SPE_ADDRESS: {
		uint8_t *const places[] = { &shape->pc, &shape->target,
			&shape->va, &shape->pa, &shape->prev_target };

		return (places[p->index]);
	}
	case HWTDI_SPE_COUNTER: {
		uint8_t *const places[] = { &shape->total, &shape->issue,
			&shape->xlat };

		return (places[p->index]);
	}
	case HWTDI_SPE_CONTEXT:
		return (p->index == 0 ? &shape->el1 : &shape->el2);
	case HWTDI_SPE_OPERATION:
		shape->op_class = p->index;
		return (&shape->op);
	case HWTDI_SPE_EVENTS:
		shape->event_bytes = p->payload_bytes;
		shape->event_bits = UINT64_MAX >> (64 - 8 * p->payload_bytes);
		return (&shape->events);
	case HWTDI_SPE_SOURCE:
		shape->source_bytes = p->payload_bytes;
		shape->source_bits = UINT64_MAX >> (64 - 8 * p->payload_bytes);
		return (&shape->source);
	default:
		shape->end = HWTD_SAMPLE_END_TIMESTAMP;
		return (&shape->count);
	}
}

/* Add the packet at bytes[at] to a shape.  False: it can be in none. */
static bool
add_packet(struct hwtdi_spe_shape *shape, size_t at,
    const struct hwtdi_spe_packet *p)
{
	const uint32_t field = hwtdi_spe_field(p);

	if (p->kind == HWTDI_SPE_PAD)
		return (true);
	if (p->kind == HWTDI_SPE_END) {
		shape->end = HWTD_SAMPLE_END_END;
		return (true);
	}
	if (field == 0 || p->extended || (shape->present & field) != 0)
		return (false);
	shape->present |= field;
	*place_of(shape, p) = (uint8_t)(at + 1);
	return (true);
}

/* The shape of a record of n bytes, if it has one. */
static bool
make(struct hwtdi_spe_shape *shape, const uint8_t *bytes, size_t n)
{
	const uint32_t whole = HWTD_SAMPLE_PC | HWTD_SAMPLE_OP;
	uint8_t mask[HWTDI_SPE_SHAPE_BYTES] = { 0 };
	uint8_t want[HWTDI_SPE_SHAPE_BYTES] = { 0 };
	struct hwtdi_spe_packet p;
	size_t at = 0;

	memset(shape, 0, sizeof(*shape));
	for (; at < n && shape->end == HWTD_SAMPLE_END_NONE; at += p.bytes) {
		hwtdi_spe_packet_read(bytes + at, n - at, 0, 0, &p);
		if (!add_packet(shape, at, &p))
			return (false);
		memset(mask + at, 0xff, p.kind == HWTDI_SPE_PAD ? p.bytes : 1);
		want[at] = bytes[at];
	}
	if (at != n || shape->end == HWTD_SAMPLE_END_NONE ||
	    (shape->present & whole) != whole)
		return (false);
	shape->bytes = (uint8_t)n;
	shape->all_bytes = (uint8_t)n;
	if (hwtdi_spe_zeros(bytes + n, sizeof(mask) - n) == sizeof(mask) - n) {
		memset(mask + n, 0xff, sizeof(mask) - n);
		shape->all_bytes = sizeof(mask);
	}
	memcpy(shape->mask, mask, sizeof(mask));
	memcpy(shape->want, want, sizeof(want));
	return (true);
}

void
hwtdi_spe_shape_swap(struct hwtdi_spe_shape *shape)
{
	const struct hwtdi_spe_shape copy = *shape;

	*shape = shape[-1];
	shape[-1] = copy;
}

void
hwtdi_spe_shape_learn(struct hwtdi_spe_shapes *shapes, const uint8_t *bytes,
    size_t n)
{
	struct hwtdi_spe_shape shape;
	uint8_t no = shapes->n;

	if (n > HWTDI_SPE_SHAPE_BYTES)
		return;
	if (shapes->rest > 0) {
		shapes->rest--;
		return;
	}
	if (hwtdi_spe_shape_find(shapes, bytes) != NULL)
		return;
	if (!make(&shape, bytes, n)) {
		shapes->rest = MANY;
		return;
	}
	if (no < HWTDI_SPE_SHAPES) {
		shapes->n++;
	} else {
		shapes->rest = MANY;
		no = shapes->next++ % HWTDI_SPE_SHAPES;
	}
	shapes->at[no] = shape;
}
