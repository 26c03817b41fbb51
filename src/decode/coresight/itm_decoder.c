/*
 * ITM sources: packets of the protocol as elements.
 */
#include "decode/coresight/itm_decoder.h"

#include <string.h>

/* Ports of a page. */
#define PAGE_PORTS 32

static struct hwtdi_cs_element *
put(struct hwtdi_itm *itm, uint8_t kind)
{
	struct hwtdi_cs_element *e = hwtdi_cs_queue_put(itm->queue);

	if (e == NULL)
		return (NULL);
	e->kind = kind;
	e->off = itm->off;
	return (e);
}

static void
put_no_sync(struct hwtdi_itm *itm, uint8_t reason)
{
	struct hwtdi_cs_element *e = put(itm, HWTDI_CS_NO_SYNC);

	if (e != NULL)
		e->reason = reason;
	itm->told = true;
}

/* Bytes that cannot be: look for the next synchronisation. */
static void
lose(struct hwtdi_itm *itm)
{
	put_no_sync(itm, HWTDI_CS_UNSYNCED_BAD_PACKET);
	itm->synced = false;
	itm->has_high = false;
	itm->awaits_high = false;
	itm->page = 0;
}

static void
put_data(struct hwtdi_itm *itm, const struct hwtdi_itm_packet *p)
{
	const bool hardware = p->kind == HWTDI_ITM_HARDWARE;
	struct hwtdi_cs_element *e = put(itm, HWTDI_CS_ITM);

	if (e == NULL)
		return;
	e->software.channel = (uint16_t)(p->source +
	    (hardware ? 0 : itm->page * PAGE_PORTS));
	e->software.bits = p->bits;
	e->software.payload = p->value;
	e->software.flags = hardware ? HWTD_MARKERF_HARDWARE : 0;
}

static void
put_local(struct hwtdi_itm *itm, const struct hwtdi_itm_packet *p)
{
	struct hwtdi_cs_element *e = put(itm, HWTDI_CS_CYCLES);

	if (e == NULL)
		return;
	e->cycles = (uint32_t)p->value;
	e->flags |= HWTDI_CS_HAS_CYCLES;
	e->reason = p->flags;
}

/* A global timestamp is told when all of its bits are. */
static void
take_global(struct hwtdi_itm *itm, const struct hwtdi_itm_packet *p)
{
	const bool high = p->kind == HWTDI_ITM_GLOBAL_2;
	const uint64_t low = (UINT64_C(1) << (high ? 26 : p->bits)) - 1;
	struct hwtdi_cs_element *e;

	if (high) {
		itm->global = (itm->global & low) | p->value << 26;
		itm->has_high = true;
		itm->awaits_high = false;
	} else {
		itm->global = (itm->global & ~low) | p->value;
		if (p->flags != 0)
			itm->awaits_high = true;
	}
	if (!itm->has_high || itm->awaits_high)
		return;
	e = put(itm, HWTDI_CS_TIMESTAMP);
	if (e == NULL)
		return;
	e->timestamp = itm->global;
	e->flags |= HWTDI_CS_HAS_TIMESTAMP;
}

static void
take_packet(struct hwtdi_itm *itm, const struct hwtdi_itm_packet *p)
{
	switch (p->kind) {
	case HWTDI_ITM_OVERFLOW:
		put_no_sync(itm, HWTDI_CS_UNSYNCED_OVERFLOW);
		break;
	case HWTDI_ITM_LOCAL:
		put_local(itm, p);
		break;
	case HWTDI_ITM_GLOBAL_1:
	case HWTDI_ITM_GLOBAL_2:
		take_global(itm, p);
		break;
	case HWTDI_ITM_PAGE:
		itm->page = (uint32_t)p->value;
		break;
	case HWTDI_ITM_SOFTWARE:
	case HWTDI_ITM_HARDWARE:
		put_data(itm, p);
		break;
	default:
		lose(itm);
		break;
	}
}

/* A byte that may belong to a SYNC.  True: it does. */
static bool
take_sync(struct hwtdi_itm *itm, uint64_t off, uint8_t byte)
{
	if (byte == 0) {
		if (itm->zeros++ == 0)
			itm->off = off;
		return (true);
	}
	if (itm->zeros == 0)
		return (false);
	if (byte == 0x80 && itm->zeros >= HWTDI_ITM_SYNC_ZEROS) {
		itm->zeros = 0;
		itm->synced = true;
		return (true);
	}
	/* Zeros are no packet else. */
	itm->zeros = 0;
	if (itm->synced)
		lose(itm);
	return (false);
}

static void
take_byte(struct hwtdi_itm *itm, uint64_t off, uint8_t byte)
{
	struct hwtdi_itm_packet packet;

	if (itm->n == 0 && take_sync(itm, off, byte))
		return;
	if (!itm->synced) {
		itm->off = off;
		if (!itm->told)
			put_no_sync(itm, HWTDI_CS_UNSYNCED_START);
		return;
	}
	if (itm->n == 0)
		itm->off = off;
	itm->bytes[itm->n++] = byte;
	hwtdi_itm_read(itm->bytes, itm->n, &packet);
	if (packet.kind == HWTDI_ITM_NONE)
		return;
	itm->n = 0;
	take_packet(itm, &packet);
}

void
hwtdi_itm_reset(struct hwtdi_itm *itm, struct hwtdi_cs_queue *queue,
    uint64_t off)
{
	memset(itm, 0, sizeof(*itm));
	itm->queue = queue;
	itm->off = off;
}

void
hwtdi_itm_feed(struct hwtdi_itm *itm, uint64_t off, const uint8_t *bytes,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		take_byte(itm, off + i, bytes[i]);
}

void
hwtdi_itm_end(struct hwtdi_itm *itm, uint64_t off)
{
	/* What is cut off is lost. */
	if (itm->n != 0 || (itm->synced && itm->zeros != 0)) {
		struct hwtdi_cs_element *e = put(itm, HWTDI_CS_NO_SYNC);

		if (e != NULL)
			e->reason = HWTDI_CS_UNSYNCED_END;
	}
	itm->off = off;
	(void)put(itm, HWTDI_CS_END);
}
