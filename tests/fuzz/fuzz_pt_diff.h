/*
 * What the harness that compares engines shares: inputs, and the differences
 * that are known.
 */
#ifndef FUZZ_PT_DIFF_H
#define FUZZ_PT_DIFF_H

#include "decode/pt/pt_packet.h"
#include "fuzz.h"
#include "fuzz_rows.h"

#define MAX_IMAGES 4
#define MAX_PACKETS 8192

struct diff_image {
	uint64_t address;
	const uint8_t *bytes;
	size_t n;
};

struct diff_input {
	struct hwtd_pt_config pt;
	struct diff_image images[MAX_IMAGES];
	size_t n_images;
	const uint8_t *packets;
	size_t n_packets;
	/* A random trace: RANDOM_* bits, and that nothing was changed in it. */
	unsigned int has;
	bool consistent;
};

/* Two rows that differ, and what is before them. */
struct diff_pair {
	const struct diff_input *in;
	const uint8_t *packets;
	size_t n;
	const struct fuzz_rows *native, *libipt;
	size_t i;
	/* NULL: no row is left. */
	const struct fuzz_row *a, *b;
};

/* The first gap from the row at hand on that is not an overflow, or NULL. */
const struct fuzz_row *diff_first_gap(const struct diff_pair *p,
    const struct fuzz_rows *rows);

/* The row tells of something beside the code. */
bool diff_is_aside(const struct fuzz_row *row);

/* Kinds of packets, as bits. */
#define KIND(k) ((uint64_t)1 << (k))
#define EVENT_TRACE (KIND(HWTD_PK_PT_CFE) | KIND(HWTD_PK_PT_EVD))

/* Bytes between the places at which both give up, for one fault. */
#define NEAR 128

/* Read the packet at *at and go on behind it; false: there is none. */
bool diff_next_packet(const struct diff_pair *p,
    struct hwtdi_pt_lex_state *state, size_t *at, struct hwtdi_pt_packet *out);

/* Where `gap` begins there are packets of some kinds (bits). */
bool diff_has_packets(const struct diff_pair *p, const struct fuzz_row *gap,
    uint64_t kinds);

/*
 * Not far from `off` is a packet that cannot follow what is before it, and is
 * one of `kinds`.
 */
bool diff_is_strange(const struct diff_pair *p, uint64_t off, uint64_t kinds);

/*
 * Not far from `off` and behind the byte *from: a packet of a kind, behind which
 * *from is then, and the next that is neither status nor PWRE and PWRX.  False:
 * there are none.
 */
bool diff_find_two(const struct diff_pair *p, uint64_t off, uint32_t first,
    size_t *from_inout, struct hwtdi_pt_packet out[2]);

/* Why they differ; NULL: that is not known. */
const char *diff_known(const struct diff_pair *p);

/*
 * Compare rows up to the first gap of either; fail if they differ in a way that
 * is not known.  The offset from which on nothing can be compared, or SIZE_MAX.
 */
size_t diff_rows(const struct diff_input *in, const uint8_t *packets, size_t n,
    struct fuzz_rows *native, struct fuzz_rows *libipt);

#endif /* FUZZ_PT_DIFF_H */
