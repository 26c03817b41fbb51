/*
 * OpenCSD: feeding trees.
 */
#include "decode/coresight/cs_tree.h"

#include <string.h>

#include "base/fail.h"

/* Answers to OCSD_OP_FLUSH until the library can go on. */
#define MAX_FLUSHES 16

/*
 * Zeros in a row that PTM is fed, and the last ones of a longer run.  The library
 * counts up to 16 of them: it stands at its start behind the first.
 */
#define ZEROS 64u
#define LAST_ZEROS 10u

/* Pieces of code that may be read for the bytes that are fed at once. */
#define CODE_PIECES 16384u

static bool
has_failed(const struct hwtdi_cs_tree *tree)
{
	return (tree->queue != NULL && tree->queue->failed);
}

static int
give_up(ocsd_datapath_resp_t answer, uint64_t off, struct hwtd_error *err)
{
	return (hwtdi_fail_at(err, HWTD_E_CORRUPT, off,
	    "OpenCSD gives up (answer %d)", (int)answer));
}

/* An operation without data, and flushes until the library can go on. */
static int
operate(struct hwtdi_cs_tree *tree, ocsd_datapath_op_t op,
    struct hwtd_error *err)
{
	ocsd_datapath_resp_t answer;

	answer = ocsd_dt_process_data(tree->handle, op,
	    (ocsd_trc_index_t)tree->off, 0, NULL, NULL);
	for (int i = 0; OCSD_DATA_RESP_IS_WAIT(answer) && i < MAX_FLUSHES; i++)
		answer = ocsd_dt_process_data(tree->handle, OCSD_OP_FLUSH, 0,
		    0, NULL, NULL);
	if (has_failed(tree))
		return (hwtdi_fail_nomem(err,
		    sizeof(struct hwtdi_cs_element)));
	return (OCSD_DATA_RESP_IS_CONT(answer)
		? HWTD_OK
		: give_up(answer, tree->off, err));
}

void
hwtdi_cs_tree_prime(struct hwtdi_cs_tree *tree,
    const struct hwtd_coresight_config *config)
{
	/* Synchronisation, Trace Info, context, address, atom, commit. */
	static const uint8_t etmv4[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80,
		0x01, 0x01, 0x00, 0x81, 0x30, 0x9d, 0, 0, 1, 0, 0, 0, 0, 0,
		0xf7, 0x2d, 0x01 };
	/* Synchronisation, I-sync with a context of 4 bytes, atom. */
	static const uint8_t etmv3[] = { 0, 0, 0, 0, 0, 0x80, 0x08, 0, 0, 0, 0,
		0x28, 0, 0, 1, 0, 0x84 };
	static const uint8_t context_bytes[] = { 0, 1, 2, 4 };
	uint8_t bytes[sizeof(etmv4)];
	size_t n = sizeof(etmv4);
	uint32_t used;

	memcpy(bytes, etmv4, sizeof(etmv4));
	if (config->protocol == HWTD_CS_ETMV3) {
		const size_t context = context_bytes[config->etmcr >> 14 & 3];

		n = sizeof(etmv3) - 4 + context;
		memcpy(bytes, etmv3, 7 + context);
		memcpy(bytes + 7 + context, etmv3 + 11, sizeof(etmv3) - 11);
	} else if (config->protocol != HWTD_CS_ETMV4 &&
	    config->protocol != HWTD_CS_ETE)
		return;
	else if (config->idr[8] == 0)
		n -= 2;
	tree->primes = true;
	(void)ocsd_dt_process_data(tree->handle, OCSD_OP_DATA, 0, (uint32_t)n,
	    bytes, &used);
	(void)ocsd_dt_process_data(tree->handle, OCSD_OP_RESET, 0, 0, NULL,
	    NULL);
	tree->primes = false;
}

int
hwtdi_cs_tree_reset(struct hwtdi_cs_tree *tree, uint64_t off,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	tree->off = off;
	tree->n = 0;
	tree->zeros = 0;
	tree->untold.is_known = false;
	if (tree->guard != NULL)
		rc = hwtdi_cs_guard_reset(tree->guard, off, err);
	return (rc == HWTD_OK ? operate(tree, OCSD_OP_RESET, err) : rc);
}

int
hwtdi_cs_tree_end(struct hwtdi_cs_tree *tree, struct hwtd_error *err)
{
	int rc;

	tree->off += tree->n;
	tree->n = 0;
	tree->stop.is_known = false;
	tree->ends = true;
	rc = operate(tree, OCSD_OP_EOT, err);
	tree->ends = false;
	/* That is how it answers to a packet that is cut off. */
	return (tree->halts && rc == HWTD_E_CORRUPT ? HWTD_OK : rc);
}

const struct hwtdi_cs_stop *
hwtdi_cs_tree_stop(const struct hwtdi_cs_tree *tree)
{
	return (&tree->stop);
}

void
hwtdi_cs_tree_tell(struct hwtdi_cs_tree *tree,
    const struct hwtdi_cs_stop *stop)
{
	tree->untold = *stop;
}

const struct hwtdi_cs_stop *
hwtdi_cs_tree_untold(const struct hwtdi_cs_tree *tree)
{
	return (&tree->untold);
}

bool
hwtdi_cs_tree_is_whole(const struct hwtdi_cs_tree *tree, uint64_t end)
{
	return (tree->guard != NULL &&
	    hwtdi_cs_guard_is_whole(tree->guard, end));
}

static void
stop_at(struct hwtdi_cs_tree *tree, uint8_t why, uint64_t off, uint64_t next,
    uint64_t end)
{
	tree->stop = (struct hwtdi_cs_stop){ .is_known = true,
		.why = why,
		.off = off,
		.next = next,
		.end = end };
}

/* Bytes that are behind those that were fed, or stand for some of them. */
static int
feed_bytes(struct hwtdi_cs_tree *tree, const uint8_t *bytes, size_t n,
    uint64_t off, struct hwtd_error *err)
{
	unsigned int idle = 0;
	size_t at = 0;
	int rc = HWTD_OK;

	memcpy(tree->bytes, bytes, n);
	memset(tree->bytes + n, 0, HWTDI_CS_TREE_SLACK);
	while (at < n && rc == HWTD_OK) {
		ocsd_datapath_resp_t answer;
		uint32_t used = 0;

		answer = ocsd_dt_process_data(tree->handle, OCSD_OP_DATA,
		    (ocsd_trc_index_t)(off + at), (uint32_t)(n - at),
		    tree->bytes + at, &used);
		if (used > n - at || OCSD_DATA_RESP_IS_FATAL(answer)) {
			const uint64_t end = off + at +
			    (used > n - at ? n - at : used);

			if (has_failed(tree))
				return (hwtdi_fail_nomem(err, n));
			/* Without the flag the place is all that is known. */
			stop_at(tree, HWTDI_CS_WHY_BAD_PACKET,
			    tree->guard != NULL
				? hwtdi_cs_guard_begin_of(tree->guard, end)
				: end,
			    end, end);
			tree->stop.is_known = tree->halts;
			return (give_up(answer, off + at, err));
		}
		at += used;
		idle = used == 0 ? idle + 1 : 0;
		if (idle == 2)
			return (give_up(answer, off + at, err));
		if (OCSD_DATA_RESP_IS_WAIT(answer))
			rc = operate(tree, OCSD_OP_FLUSH, err);
	}
	if (rc == HWTD_OK && has_failed(tree))
		rc = hwtdi_fail_nomem(err, sizeof(struct hwtdi_cs_element));
	return (rc);
}

/*
 * The library's reader of PTM keeps some of every 16 zeros that come before a
 * synchronisation, and moves them all each time.  A long run is fed as a short
 * one that it takes for the same.
 */
static int
feed_ptm(struct hwtdi_cs_tree *tree, const uint8_t *bytes, size_t n,
    uint64_t off, struct hwtd_error *err)
{
	size_t from = 0;
	int rc = HWTD_OK;

	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		const uint64_t left_out = tree->zeros - ZEROS;

		if (bytes[i] == 0) {
			tree->zeros++;
			if (tree->zeros <= ZEROS)
				continue;
			/* Those before it are fed, and no more of them. */
			if (i > from)
				rc = feed_bytes(tree, bytes + from, i - from,
				    off + from, err);
			from = i + 1;
			continue;
		}
		if (tree->zeros > ZEROS) {
			static const uint8_t last[LAST_ZEROS];
			const size_t again = left_out < LAST_ZEROS
			    ? (size_t)left_out
			    : LAST_ZEROS;

			rc = feed_bytes(tree, last, again, off + i - again,
			    err);
		}
		tree->zeros = 0;
	}
	return (rc == HWTD_OK && n > from
		? feed_bytes(tree, bytes + from, n - from, off + from, err)
		: rc);
}

static int
feed_part(struct hwtdi_cs_tree *tree, const uint8_t *bytes, size_t n,
    uint64_t off, struct hwtd_error *err)
{
	return (tree->is_ptm ? feed_ptm(tree, bytes, n, off, err)
			     : feed_bytes(tree, bytes, n, off, err));
}

int
hwtdi_cs_tree_feed(struct hwtdi_cs_tree *tree, uint64_t off,
    const uint8_t *bytes, size_t n, struct hwtd_error *err)
{
	struct hwtdi_cs_plan plan = { .n_feeds = 0 };
	int rc = HWTD_OK;

	tree->off = off;
	tree->n = n;
	tree->stop = (struct hwtdi_cs_stop){ .is_known = false };
	tree->pieces_left = CODE_PIECES;
	if (tree->guard == NULL)
		return (feed_part(tree, bytes, n, off, err));
	rc = hwtdi_cs_guard_look(tree->guard, off, bytes, n, &plan, err);
	for (size_t i = 0; rc == HWTD_OK && i < plan.n_feeds; i++) {
		const struct hwtdi_cs_feed *feed = &plan.feeds[i];

		rc = feed_part(tree,
		    feed->bytes != NULL ? feed->bytes : feed->own, feed->n,
		    feed->off, err);
	}
	if (rc != HWTD_OK || plan.why == HWTDI_CS_WHY_NOTHING)
		return (rc);
	stop_at(tree, plan.why, plan.lost, plan.bad + 1, plan.bad_end);
	return (HWTD_E_CORRUPT);
}
