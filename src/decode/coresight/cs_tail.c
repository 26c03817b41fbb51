/*
 * Finding packets that are cut off, or cannot be, at the end of some bytes.
 */
#include "decode/coresight/cs_tail.h"

#include <string.h>

#include "decode/coresight/cs_decoder.h"

/* A synchronisation is looked for so far before the end, and then farther. */
#define LOOK_BACK 4096

/* Synchronisations are as many bytes long, if they are no longer than needed. */
#define SYNC_BYTES 12

static void
note_bad(struct hwtdi_cs_tail *tail, uint64_t off)
{
	if (off < tail->bad_from)
		return;
	if (!tail->bad)
		tail->bad_off = off;
	tail->bad = true;
	tail->last_bad_off = off;
}

static void
see_packet(void *arg, uint64_t off, const void *packet, const uint8_t *bytes,
    size_t n)
{
	struct hwtdi_cs_tail *tail = arg;
	struct hwtd_packet row = { .stream_off = off };

	hwtdi_cs_read_packet(&tail->reader, packet, bytes, n, &row);
	tail->cut = row.kind == HWTD_PK_TRUNCATED;
	tail->off = off;
	if (row.kind == HWTD_PK_CS_ADDRESS && off > tail->bad_from &&
	    (row.flags & HWTD_PKF_IP) != 0) {
		tail->n_addresses++;
		tail->address = row.ip;
	}
	if (off + n > tail->told)
		tail->told = off + n;
	if (row.kind == HWTD_PK_UNKNOWN)
		note_bad(tail, off);
}

void
hwtdi_cs_tail_init(struct hwtdi_cs_tail *tail, struct hwtd_context *library,
    const struct hwtd_coresight_config *config)
{
	memset(tail, 0, sizeof(*tail));
	tail->library = library;
	tail->config = config;
}

void
hwtdi_cs_tail_fini(struct hwtdi_cs_tail *tail)
{
	hwtdi_cs_tree_destroy(tail->tree);
	tail->tree = NULL;
	tail->goes_on = false;
}

/* The last synchronisation that begins before a byte, or that byte. */
static size_t
find_last_sync(uint32_t protocol, const uint8_t *bytes, size_t n,
    size_t before)
{
	const size_t seen = n - before < SYNC_BYTES ? n : before + SYNC_BYTES;
	size_t back = LOOK_BACK, sync = before, next;

	while (sync == before) {
		const size_t from = back < before ? before - back : 0;

		for (next = hwtdi_cs_find_sync(protocol, bytes, seen, from);
		     next < before; next = hwtdi_cs_find_sync(protocol, bytes,
					seen, next + 1))
			sync = next;
		if (from == 0)
			break;
		back = back < before / 2 ? 2 * back : before;
	}
	return (sync);
}

static int
make_tree(struct hwtdi_cs_tail *tail, struct hwtd_error *err)
{
	const struct hwtdi_cs_tree_args args = { .library = tail->library,
		.config = tail->config,
		.see_packet = see_packet,
		.arg = tail };
	int rc;

	if (tail->tree != NULL)
		return (HWTD_OK);
	tail->reader.protocol = tail->config->protocol;
	rc = hwtdi_cs_layout_of(hwtdi_cs_library_version(),
	    &tail->reader.layout, err);
	return (rc == HWTD_OK ? hwtdi_cs_tree_create(&args, &tail->tree, err)
			      : rc);
}

/* Begin to read at a byte of the stream. */
static int
begin(struct hwtdi_cs_tail *tail, uint64_t off, struct hwtd_error *err)
{
	int rc = make_tree(tail, err);

	tail->reader.has_context = false;
	tail->reader.stamp = 0;
	tail->told = off;
	return (rc == HWTD_OK ? hwtdi_cs_tree_reset(tail->tree, off, err)
			      : rc);
}

/*
 * Read bytes from one of them on.  HWTD_E_CORRUPT also at a packet without an end,
 * which is one that cannot be.
 */
static int
read_bytes(struct hwtdi_cs_tail *tail, uint64_t off, const uint8_t *bytes,
    size_t n, size_t at, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && at < n) {
		const size_t part = n - at < HWTDI_CS_FEED_MAX
		    ? n - at
		    : HWTDI_CS_FEED_MAX;

		rc = hwtdi_cs_tree_feed(tail->tree, off + at, bytes + at, part,
		    err);
		at += part;
		if (rc != HWTD_OK || off + at < tail->told + HWTDI_CS_ENDLESS)
			continue;
		note_bad(tail, tail->told);
		return (HWTD_E_CORRUPT);
	}
	return (rc);
}

int
hwtdi_cs_tail_look(struct hwtdi_cs_tail *tail, uint64_t off,
    const uint8_t *bytes, size_t n, size_t before, struct hwtd_error *err)
{
	const size_t at = find_last_sync(tail->config->protocol, bytes, n,
	    before);
	int rc;

	tail->cut = false;
	tail->bad = false;
	tail->bad_from = before < n ? off + before : 0;
	tail->n_addresses = 0;
	tail->goes_on = false;
	if (at == before)
		return (HWTD_OK);
	rc = begin(tail, off + at, err);
	if (rc == HWTD_OK)
		rc = read_bytes(tail, off, bytes, n, at, err);
	tail->cut = false;
	if (rc == HWTD_OK)
		rc = hwtdi_cs_tree_end(tail->tree, err);
	/* What cannot be read as packets was told by the elements. */
	return (rc == HWTD_E_CORRUPT ? HWTD_OK : rc);
}

int
hwtdi_cs_tail_addresses(struct hwtdi_cs_tail *tail, uint64_t off,
    const uint8_t *bytes, size_t n, size_t from, struct hwtd_error *err)
{
	const bool goes_on = tail->goes_on && tail->next >= off &&
	    tail->next <= off + from;
	const size_t at = goes_on
	    ? (size_t)(tail->next - off)
	    : find_last_sync(tail->config->protocol, bytes, n, from);
	int rc = HWTD_OK;

	tail->bad_from = off + from;
	tail->n_addresses = 0;
	tail->goes_on = false;
	if (!goes_on && at == from)
		return (HWTD_OK);
	if (!goes_on)
		rc = begin(tail, off + at, err);
	if (rc == HWTD_OK)
		rc = read_bytes(tail, off, bytes, n, at, err);
	tail->goes_on = rc == HWTD_OK;
	tail->next = off + n;
	return (rc == HWTD_E_CORRUPT ? HWTD_OK : rc);
}
