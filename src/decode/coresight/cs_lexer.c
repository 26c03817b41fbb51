/*
 * CoreSight packets: those of ITM are ours, all others OpenCSD's.
 */
#include "decode/coresight/cs_lexer.h"

#include <string.h>

#include "base/fail.h"
#include "decode/coresight/cs_packet.h"
#include "decode/coresight/itm_packet.h"

/*
 * Before any synchronisation OpenCSD counts half bytes of STM modulo 256, and
 * copies up to 128 bytes from where it began, whether they were fed or not; they
 * have to be there, and go nowhere.
 */
_Static_assert(HWTDI_CS_ROWS_FEED + 128 <= HWTDI_CS_FEED_MAX,
    "bytes that are read behind those that are fed");

struct hwtdi_cs_lexer {
	struct hwtd_context *library;
	struct hwtd_coresight_config config;
	struct hwtdi_cs_rows *rows;
	struct hwtdi_cs_reader reader;
	/* NULL: ITM. */
	struct hwtdi_cs_tree *tree;
	/* The library gave up, and answers no more. */
	bool broken;
	/* Up to where packets were told. */
	uint64_t told;
	/* It is fed what is of no stream. */
	bool priming;

	/* ITM: a synchronisation was seen; zeros, or a packet that is cut. */
	bool synced;
	uint64_t zeros;
	uint8_t n;
	uint8_t bytes[HWTDI_ITM_MAX_BYTES];
};

static void
see_packet(void *arg, uint64_t off, const void *packet, const uint8_t *bytes,
    size_t n)
{
	struct hwtdi_cs_lexer *lexer = arg;
	struct hwtd_packet row = { .stream_off = off, .bytes = (uint32_t)n };

	if (lexer->priming)
		return;
	if (off + n > lexer->told)
		lexer->told = off + n;
	hwtdi_cs_read_packet(&lexer->reader, packet, bytes, n, &row);
	hwtdi_cs_rows_put(lexer->rows, &row);
}

int
hwtdi_cs_lexer_create(struct hwtd_context *library,
    const struct hwtd_coresight_config *config, struct hwtdi_cs_rows *rows,
    struct hwtdi_cs_lexer **out, struct hwtd_error *err)
{
	struct hwtdi_cs_lexer *lexer = hwtdi_zalloc(library, sizeof(*lexer));
	struct hwtdi_cs_tree_args args = { .library = library,
		.see_packet = see_packet,
		.arg = lexer };
	int rc = HWTD_OK;

	if (lexer == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*lexer)));
	lexer->library = library;
	lexer->config = *config;
	lexer->rows = rows;
	lexer->reader.protocol = config->protocol;
	rows->halves = config->protocol == HWTD_CS_STM;
	rows->unsynced_code = hwtdi_cs_unsynced_code(config->protocol);
	args.config = &lexer->config;
	if (config->protocol != HWTD_CS_ITM)
		rc = hwtdi_cs_layout_of(hwtdi_cs_library_version(),
		    &lexer->reader.layout, err);
	if (rc == HWTD_OK && config->protocol != HWTD_CS_ITM)
		rc = hwtdi_cs_tree_create(&args, &lexer->tree, err);
	if (rc != HWTD_OK) {
		hwtdi_cs_lexer_destroy(lexer);
		return (rc);
	}
	*out = lexer;
	return (HWTD_OK);
}

void
hwtdi_cs_lexer_destroy(struct hwtdi_cs_lexer *lexer)
{
	if (lexer == NULL)
		return;
	hwtdi_cs_tree_destroy(lexer->tree);
	hwtdi_free(lexer->library, lexer, sizeof(*lexer));
}

/* ITM. */

static void
put_itm(struct hwtdi_cs_lexer *lexer, unsigned int number, uint64_t off,
    uint64_t n, const struct hwtdi_itm_packet *packet)
{
	struct hwtd_packet row = {
		.stream_off = off,
		.bytes = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
		.code = HWTDI_CS_CODE(HWTD_CS_ITM, number),
	};

	row.kind = hwtdi_cs_packet_kind(row.code);
	if (packet != NULL) {
		row.value = packet->value;
		row.count = packet->bits;
	}
	switch (row.kind) {
	case HWTD_PK_CS_DATA:
		row.aux = packet != NULL ? packet->source : 0;
		break;
	case HWTD_PK_CS_CYCLES:
		row.flags = HWTD_PKF_COUNT;
		row.count = 0;
		break;
	case HWTD_PK_CS_TIMESTAMP:
		row.stamp = row.value;
		row.value = 0;
		row.flags = HWTD_PKF_STAMP;
		break;
	case HWTD_PK_CS_CHANNEL:
		row.count = 0;
		break;
	default:
		break;
	}
	hwtdi_cs_rows_put(lexer->rows, &row);
}

/* Zeros at hand turn out to be no SYNC: nothing that comes has a meaning. */
static void
lose(struct hwtdi_cs_lexer *lexer, uint64_t off)
{
	if (lexer->zeros != 0)
		put_itm(lexer,
		    lexer->synced ? HWTDI_ITM_RESERVED : HWTDI_ITM_NONE,
		    off - lexer->zeros, lexer->zeros, NULL);
	lexer->zeros = 0;
	lexer->synced = false;
}

/* A byte that may belong to a SYNC.  True: it does. */
static bool
take_sync(struct hwtdi_cs_lexer *lexer, uint64_t off, uint8_t byte)
{
	const uint64_t zeros = lexer->zeros;

	if (byte == 0) {
		lexer->zeros++;
		return (true);
	}
	if (byte == 0x80 && zeros >= HWTDI_ITM_SYNC_ZEROS) {
		lexer->zeros = 0;
		lexer->synced = true;
		put_itm(lexer, HWTDI_ITM_SYNC, off - zeros, zeros + 1, NULL);
		return (true);
	}
	if (zeros != 0)
		lose(lexer, off);
	return (false);
}

static void
take_itm_byte(struct hwtdi_cs_lexer *lexer, uint64_t off, uint8_t byte)
{
	struct hwtdi_itm_packet packet;

	if (lexer->n == 0 && take_sync(lexer, off, byte))
		return;
	if (!lexer->synced) {
		put_itm(lexer, HWTDI_ITM_NONE, off, 1, NULL);
		return;
	}
	lexer->bytes[lexer->n++] = byte;
	hwtdi_itm_read(lexer->bytes, lexer->n, &packet);
	if (packet.kind == HWTDI_ITM_NONE)
		return;
	put_itm(lexer, (unsigned int)packet.kind, off + 1 - lexer->n, lexer->n,
	    &packet);
	lexer->n = 0;
	if (packet.kind == HWTDI_ITM_RESERVED)
		lexer->synced = false;
}

/* What is at hand is cut off. */
static void
end_itm(struct hwtdi_cs_lexer *lexer, uint64_t off)
{
	const uint64_t n = lexer->n != 0 ? lexer->n : lexer->zeros;

	if (n != 0)
		put_itm(lexer,
		    lexer->synced ? HWTDI_ITM_RESERVED + 1 : HWTDI_ITM_NONE,
		    off - n, n, NULL);
	lexer->n = 0;
	lexer->zeros = 0;
}

/* All. */

/*
 * A reset leaves the context as it is, and none is made at first: a packet that
 * says that it is as before would give any.  So there is a context before.
 */
static int
prime(struct hwtdi_cs_lexer *lexer, uint64_t off)
{
	static const uint8_t bytes[] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, /* A-sync */
		0x01, 0x00, /* trace info */
		0x81, 0x00, /* a context */
	};
	int rc;

	if (lexer->config.protocol != HWTD_CS_ETMV4 &&
	    lexer->config.protocol != HWTD_CS_ETE)
		return (HWTD_OK);
	rc = hwtdi_cs_tree_reset(lexer->tree, off, NULL);
	lexer->priming = true;
	if (rc == HWTD_OK)
		rc = hwtdi_cs_tree_feed(lexer->tree, off, bytes, sizeof(bytes),
		    NULL);
	lexer->priming = false;
	return (rc);
}

void
hwtdi_cs_lexer_restart(struct hwtdi_cs_lexer *lexer, uint64_t off)
{
	hwtdi_cs_rows_begin(lexer->rows, off);
	lexer->reader.stamp = 0;
	lexer->reader.has_context = false;
	lexer->told = off;
	lexer->synced = false;
	lexer->zeros = 0;
	lexer->n = 0;
	lexer->broken = lexer->tree != NULL &&
	    (prime(lexer, off) != HWTD_OK ||
		hwtdi_cs_tree_reset(lexer->tree, off, NULL) != HWTD_OK);
}

/* What is left of the bytes before has no name; the time begins anew. */
static void
begin_anew(struct hwtdi_cs_lexer *lexer, uint64_t off)
{
	hwtdi_cs_rows_finish(lexer->rows, off);
	lexer->rows->synced = false;
	lexer->told = off;
	lexer->reader.stamp = 0;
	lexer->broken = hwtdi_cs_tree_reset(lexer->tree, off, NULL) != HWTD_OK;
}

void
hwtdi_cs_lexer_feed(struct hwtdi_cs_lexer *lexer, uint64_t off,
    const uint8_t *bytes, size_t n)
{
	if (lexer->tree == NULL) {
		for (size_t i = 0; i < n; i++)
			take_itm_byte(lexer, off + i, bytes[i]);
		return;
	}
	while (n > 0) {
		const uint64_t most = lexer->told + HWTDI_CS_ENDLESS - off;
		const size_t part = n < most ? n : (size_t)most;
		const bool ok = !lexer->broken &&
		    hwtdi_cs_tree_feed(lexer->tree, off, bytes, part, NULL) ==
			HWTD_OK;

		off += part;
		bytes += part;
		n -= part;
		if (!ok || off >= lexer->told + HWTDI_CS_ENDLESS)
			begin_anew(lexer, off);
		/* Of what is before a synchronisation it keeps little. */
		else if (!lexer->rows->synced)
			lexer->told = off;
	}
}

void
hwtdi_cs_lexer_end(struct hwtdi_cs_lexer *lexer, uint64_t off)
{
	if (lexer->tree == NULL)
		end_itm(lexer, off);
	else if (!lexer->broken)
		lexer->broken = hwtdi_cs_tree_end(lexer->tree, NULL) !=
		    HWTD_OK;
	hwtdi_cs_rows_finish(lexer->rows, off);
}
