/*
 * A tree of OpenCSD, for the files that make it and feed it.
 */
#ifndef HWTDI_CS_TREE_H
#define HWTDI_CS_TREE_H

#include <opencsd/c_api/opencsd_c_api.h>

#include "decode/coresight/cs_guard.h"

/* The library reads a little behind what it is given. */
#define HWTDI_CS_TREE_SLACK 64

struct hwtdi_cs_tree {
	struct hwtd_context *library;
	struct hwtdi_cs_layout layout;
	struct hwtdi_cs_queue *queue;
	hwtdi_cs_see_packet see_packet;
	hwtdi_cs_read_code read_code;
	void *arg;
	dcd_tree_handle_t handle;
	uint8_t id;
	/* NULL: packets are told, or need not be looked at. */
	struct hwtdi_cs_guard *guard;
	struct hwtdi_cs_stop stop;
	/* It stops at what cannot be and does not go on by itself. */
	bool halts;
	/* Code that may be read, and the piece that was read last. */
	uint32_t pieces_left;
	uint64_t code_at, code_end, code_run;
	/* The bytes that are fed: the library's offsets are near it. */
	uint64_t off;
	size_t n;
	uint8_t
	    bytes[HWTDI_CS_FEED_MAX + HWTDI_CS_KEPT_MAX + HWTDI_CS_TREE_SLACK];
	/* Where it stopped: told when packets come behind it. */
	struct hwtdi_cs_stop untold;
	/* What it says and asks for is of hwtdi_cs_tree_prime(). */
	bool primes;
	bool is_etmv3, is_ptm;
	/* It is told that there is no more. */
	bool ends;
	/* Zeros in a row. */
	uint64_t zeros;
};

/*
 * Execute an instruction, and forget it: else the library reads what it never set
 * where an exception or code that is not there comes first.
 */
void hwtdi_cs_tree_prime(struct hwtdi_cs_tree *tree,
    const struct hwtd_coresight_config *config);

#endif /* HWTDI_CS_TREE_H */
