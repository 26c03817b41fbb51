/*
 * Rows of packets for tests.  Every failure fails the test.
 */
#ifndef TEST_PACKET_ROWS_H
#define TEST_PACKET_ROWS_H

#include "support/memory_trace.h"

struct pk_rows {
	struct hwtd_packet *at;
	size_t n;
	size_t cap;
};

void pk_add(struct pk_rows *rows, const struct hwtd_packet *row);
void pk_free(struct pk_rows *rows);

struct hwtd_packets *pk_open(struct hwtd_trace *trace,
    const struct hwtd_packets_options *opts);

/*
 * Open, read all, close.  Checked: the rows tile what they cover, the counts
 * of bytes are theirs, and a visitor is told the same.
 */
void pk_rows(struct hwtd_trace *trace, const struct hwtd_packets_options *opts,
    struct pk_rows *out);

/* A visitor of which a row can be made again of whatever it is told. */
extern const struct hwtd_packet_visitor pk_visitor;

/* Both are the same, field by field. */
void pk_assert_same(const struct hwtd_packet *a, size_t n_a,
    const struct hwtd_packet *b, size_t n_b);

/*
 * The rows of stream 0 as text, one a line: offset, name, `text`, then, where
 * they are so, `@ip`, status, guessed, reserved.
 */
void pk_assert_text(struct hwtd_trace *trace,
    const struct hwtd_packets_options *opts, const char *want);

/* The same of a trace of one stream with these packets. */
void pk_assert(const struct pt_packets *p,
    const struct hwtd_packets_options *opts, const char *want);

#endif /* TEST_PACKET_ROWS_H */
