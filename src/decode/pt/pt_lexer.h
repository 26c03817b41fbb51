/*
 * Intel PT packets of a stretch of a stream: every byte of it is named.
 */
#ifndef HWTDI_PT_LEXER_H
#define HWTDI_PT_LEXER_H

#include "decode/pt/pt_packet.h"

struct hwtd_pt_config;

struct hwtdi_pt_lexer {
	struct hwtdi_pt_lex_state state;
	/*
	 * Offset of the next PSB, or UINT64_MAX; found in the bytes up to
	 * `psb_end`.  Packets do not reach into it.
	 */
	uint64_t psb;
	uint64_t psb_end;
	/* Bytes, and those of them that are of no packet. */
	uint64_t bytes;
	uint64_t bytes_unknown;
};

/* `config` may be NULL.  The first byte given is not known to begin a packet. */
void hwtdi_pt_lexer_init(struct hwtdi_pt_lexer *lexer,
    const struct hwtd_pt_config *config);

/* Forget what was before, but what was counted. */
void hwtdi_pt_lexer_restart(struct hwtdi_pt_lexer *lexer, bool synced);

/*
 * HWTDI_PT_TNT, HWTDI_PT_IP and HWTDI_PT_CYC are the packets that have a
 * function of their own in a visitor.
 */
enum hwtdi_pt_class hwtdi_pt_class_of(unsigned int kind);

/* What is to be named, and who is told. */
struct hwtdi_pt_stretch {
	/*
	 * [bytes, bytes + n), up to the end of the segment; `tail` more bytes
	 * adjoin, to look at.
	 */
	const uint8_t *bytes;
	size_t n;
	size_t tail;
	/* Nothing that begins in the last so many of them is named. */
	size_t beyond;
	/* Offset of the first byte in its stream, and the stream. */
	uint64_t stream_off;
	uint32_t stream;
	/* Bits of kinds that are wanted; the others are only counted. */
	uint64_t kinds;
	/* Not for rows. */
	const struct hwtd_packet_visitor *visitor;
	/*
	 * Passes packets on its own, from `p` on and at most those that begin
	 * before `end`; HWTDI_PT_PACKET_MAX bytes are readable there.  Returns
	 * where it stopped: the visitor is told what is there.  It is called
	 * again and again, where packets are as in hwtdi_pt_classes.  NULL:
	 * the visitor sees all.  With it, IPs are not followed.
	 */
	const uint8_t *(*skim)(void *arg, const uint8_t *p,
	    const uint8_t *end);
	void *arg;
};

/*
 * Name the bytes of a stretch in order.  *used_out is how many were named:
 * with the last packet these can be more than there are.  With a tail of less
 * than HWTDI_PT_PACKET_MAX bytes nothing adjoins it, and what it cuts off is
 * told.
 *
 * HWTD_OK, or what the visitor returned.
 */
int hwtdi_pt_lexer_visit(struct hwtdi_pt_lexer *lexer,
    const struct hwtdi_pt_stretch *stretch, size_t *used_out);

/*
 * The same as rows: up to `max` of them at `rows`; how many there are.  It goes
 * on where it stopped, after *used_out bytes.
 */
size_t hwtdi_pt_lexer_rows(struct hwtdi_pt_lexer *lexer,
    const struct hwtdi_pt_stretch *stretch, struct hwtd_packet *rows,
    size_t max, size_t *used_out);

/* Bytes that are no packet, but with others behind them could be one. */
bool hwtdi_pt_is_cut(const uint8_t *p, size_t n);

#endif /* HWTDI_PT_LEXER_H */
