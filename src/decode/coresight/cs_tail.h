/*
 * Packets at the end of some bytes: the one that is cut off there, and the first
 * one that cannot be.
 *
 * The library says nothing of them with its elements, or not where they are, so
 * that the bytes behind the last synchronisation are read again, as packets.
 */
#ifndef HWTDI_CS_TAIL_H
#define HWTDI_CS_TAIL_H

#include "decode/coresight/cs_packet.h"

struct hwtdi_cs_tail {
	struct hwtd_context *library;
	const struct hwtd_coresight_config *config;
	/* Made when it is needed for the first time. */
	struct hwtdi_cs_tree *tree;
	struct hwtdi_cs_reader reader;
	/* A packet is cut off, and where it begins. */
	bool cut;
	uint64_t off;
	/* The same of the first and the last one that cannot be. */
	bool bad;
	uint64_t bad_off, last_bad_off;
	/* Before it they do not count. */
	uint64_t bad_from;
	/* Up to where packets were told. */
	uint64_t told;
	/* Addresses behind that byte, and the last of them. */
	size_t n_addresses;
	uint64_t address;
	/* Reading can go on at a byte, where it ended when it was for them. */
	bool goes_on;
	uint64_t next;
};

/* `config` is to stay where it is. */
void hwtdi_cs_tail_init(struct hwtdi_cs_tail *tail,
    struct hwtd_context *library, const struct hwtd_coresight_config *config);
void hwtdi_cs_tail_fini(struct hwtdi_cs_tail *tail);

/*
 * Look at `n` bytes of a stream, the first of which is at `off`, from the last
 * synchronisation on that begins before the byte `before` of them; packets that
 * cannot be count from that byte on, or if it is `n` all.  HWTD_OK,
 * HWTD_E_NOMEM, HWTD_E_UNSUPPORTED.
 */
int hwtdi_cs_tail_look(struct hwtdi_cs_tail *tail, uint64_t off,
    const uint8_t *bytes, size_t n, size_t before, struct hwtd_error *err);

/*
 * The same for the addresses alone of packets behind the byte `from`.  However
 * often that is asked for places that come one behind the other, all bytes are
 * read once.
 */
int hwtdi_cs_tail_addresses(struct hwtdi_cs_tail *tail, uint64_t off,
    const uint8_t *bytes, size_t n, size_t from, struct hwtd_error *err);

#endif /* HWTDI_CS_TAIL_H */
