/*
 * Fuzz harness of Arm SPE.  An input is: 4 bytes of choices, then the bytes of
 * buffers.
 *
 *	0 bits of counters: 12, 16, else not known
 *	1 bytes that are added at a time, in parts of 64 and one more
 *	2 records that are read at a time, less one
 *	3 where the second buffer begins, in parts of 256; 0: there is none
 *
 * Packets tile the bytes; records and what is between them do; reading in pieces
 * gives the same records; sync points do not depend on what is far from them.
 */
#include "fuzz.h"

#include <stdlib.h>

#include "decode/spe/spe_names.h"
#include "decode/spe/spe_packet.h"
#include "decode/spe/spe_record.h"

#define MOST 8192

static void
check_packets(const uint8_t *bytes, size_t n, unsigned int flags)
{
	struct hwtdi_spe_packet p;

	for (size_t off = 0; off < n; off += p.bytes) {
		hwtdi_spe_packet_read(bytes + off, n - off, off, flags, &p);
		FUZZ_CHECK(p.bytes > 0 && p.bytes <= n - off,
		    "a packet of %zu bytes", p.bytes);
		FUZZ_CHECK(p.kind <= HWTDI_SPE_BAD, "kind %u", p.kind);
		FUZZ_CHECK(p.kind != HWTDI_SPE_NONE || p.bytes == n - off,
		    "cut off before the end");
		FUZZ_CHECK(p.payload_bytes <= 8 &&
			(p.payload_bytes == 8 ||
			    p.payload >> 8 * p.payload_bytes == 0),
		    "a payload of more than its bytes");
	}
}

static void
check_record(const struct hwtd_sample *s, uint64_t before, uint64_t end)
{
	const struct hwtdi_spe_producer who = { UINT32_C(0x413fd0c1), 5 };
	struct hwtdi_spe_origin origin;

	FUZZ_CHECK(s->stream_off >= before && s->bytes > 0 &&
		s->stream_off + s->bytes <= end,
	    "a record of %llu bytes at %llu", (unsigned long long)s->bytes,
	    (unsigned long long)s->stream_off);
	FUZZ_CHECK(s->end != HWTD_SAMPLE_END_NONE ||
		(s->flags & (HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_TRUNCATED)) !=
		    0,
	    "no end, and nothing is wrong");
	FUZZ_CHECK(s->n_extras <= HWTD_SAMPLE_EXTRAS, "too many extras");
	(void)hwtdi_spe_origin(&who, s, &origin);
	FUZZ_CHECK(strcmp(hwtd_op_name(s->op), "unknown") != 0 ||
		(s->present & HWTD_SAMPLE_OP) == 0,
	    "an operation without a name");
}

/* The records of one buffer at an offset of the stream. */
static size_t
read_buffer(struct hwtdi_spe_reader *r, const uint8_t *bytes, uint64_t off,
    size_t n, size_t piece, size_t room, struct hwtd_sample *out)
{
	const uint64_t done = r->record_bytes + r->pad_bytes;
	size_t k = 0, seen = piece < n ? piece : n;

	hwtdi_spe_reader_begin(r, off);
	for (;;) {
		const size_t at = (size_t)(r->off - off);
		const size_t got = hwtdi_spe_read(r, bytes + at, seen - at,
		    seen == n, out + k, room);

		FUZZ_CHECK(got <= room, "more records than there is room for");
		k += got;
		FUZZ_CHECK(k <= n, "more records than bytes");
		if (got == room)
			continue;
		if (seen == n)
			break;
		seen += piece < n - seen ? piece : n - seen;
	}
	FUZZ_CHECK(r->off == off + n, "not all is read");
	FUZZ_CHECK(r->record_bytes + r->pad_bytes - done == n,
	    "%llu bytes of %zu",
	    (unsigned long long)(r->record_bytes + r->pad_bytes - done), n);
	return (k);
}

/* Where a segment may start does not depend on what is behind that. */
static void
check_sync(const uint8_t *bytes, size_t n, size_t from)
{
	const size_t at = hwtdi_spe_find_sync(bytes, n, n, from);
	const size_t end = at + HWTDI_SPE_SYNC_LOOK;

	FUZZ_CHECK(at >= from && at <= n, "a sync point at %zu", at);
	if (at == n)
		return;
	FUZZ_CHECK(hwtdi_spe_find_sync(bytes, at + 1, end < n ? end : n,
		       from) == at,
	    "no sync point with fewer bytes at hand");
	FUZZ_CHECK(hwtdi_spe_find_sync(bytes, at, n, from) == at,
	    "another one before it");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	const unsigned int bits = (unsigned int)fuzz_take(&in, 1);
	const size_t piece = 64 * (size_t)fuzz_take(&in, 1) + 1;
	const size_t room = (size_t)fuzz_take(&in, 1) + 1;
	const size_t part = (size_t)fuzz_take(&in, 1);
	const size_t n = in.left < MOST ? in.left : MOST;
	const size_t cut = n * part / 256;
	const size_t cap = n + 256 + 1;
	struct hwtd_sample *a = calloc(cap, sizeof(*a));
	struct hwtd_sample *b = calloc(cap, sizeof(*b));
	struct hwtdi_spe_reader one, two;
	size_t n_a = 0, n_b = 0;
	uint64_t before = 0;

	FUZZ_CHECK(a != NULL && b != NULL, "no memory");
	check_packets(in.at, n, 0);
	check_packets(in.at, n, HWTDI_SPE_ONE_BYTE_UNKNOWN);
	check_packets(in.at, n, HWTDI_SPE_WIDE_ALIGNMENT);
	check_sync(in.at, n, cut);
	hwtdi_spe_reader_init(&one, bits);
	hwtdi_spe_reader_init(&two, bits);
	if (cut > 0) {
		n_a = read_buffer(&one, in.at, 0, cut, cut, 256, a);
		n_b = read_buffer(&two, in.at, 0, cut, piece, room, b);
	}
	n_a += read_buffer(&one, in.at + cut, cut, n - cut, n - cut, 256,
	    a + n_a);
	n_b += read_buffer(&two, in.at + cut, cut, n - cut, piece, room,
	    b + n_b);
	FUZZ_CHECK(n_a == n_b, "%zu records, %zu in pieces", n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		check_record(&a[i], before, n);
		before = a[i].stream_off + a[i].bytes;
		FUZZ_CHECK(memcmp(&a[i], &b[i], sizeof(a[i])) == 0,
		    "record %zu at %llu, in pieces at %llu", i,
		    (unsigned long long)a[i].stream_off,
		    (unsigned long long)b[i].stream_off);
	}
	free(a);
	free(b);
	return (0);
}
