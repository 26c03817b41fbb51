/*
 * Packets of a stream: whatever the segments, wherever reading begins and
 * however it is asked for, they are the same.
 *
 * Linked with --wrap of hwtdi_segments_init, so that slots can be small, and
 * of hwtdi_window_see, so that bytes of a trace in memory can be damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "support/packet_rows.h"
#include "support/random_packets.h"
#include "support/slot_size.h"

static uint64_t damage_first, damage_end;

int __real_hwtdi_window_see(struct hwtdi_window *window, uint64_t off,
    size_t n, const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err);
int __wrap_hwtdi_window_see(struct hwtdi_window *window, uint64_t off,
    size_t n, const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err);

int
__wrap_hwtdi_window_see(struct hwtdi_window *window, uint64_t off, size_t n,
    const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err)
{
	if (off + n <= damage_first || off >= damage_end)
		return (__real_hwtdi_window_see(window, off, n, bytes_out,
		    damage_out, err));
	memset(damage_out, 0, sizeof(*damage_out));
	damage_out->size = sizeof(*damage_out);
	damage_out->first = damage_first;
	damage_out->end = damage_end;
	return (hwtdi_fail(err, HWTD_E_CORRUPT, "chunk"));
}

static int
reset(void **state)
{
	(void)state;
	slot_bytes = 0;
	damage_first = 0;
	damage_end = 0;
	return (0);
}

static const uint64_t sizes[] = { 64, 100, 256, 1000, 4096,
	(uint64_t)1 << 20 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct hwtd_trace *
trace_of(const struct pt_packets *p)
{
	struct hwtd_trace *trace = mt_create();

	(void)mt_stream(trace, p, NULL);
	return (mt_seal(trace));
}

/* Padding that a forced cut divides is one run again. */
static void
join_padding(struct pk_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (n > 0 && rows->at[i].kind == HWTD_PK_PT_PAD &&
		    rows->at[n - 1].kind == HWTD_PK_PT_PAD) {
			rows->at[n - 1].bytes += rows->at[i].bytes;
			rows->at[n - 1].count += rows->at[i].count;
			continue;
		}
		rows->at[n++] = rows->at[i];
	}
	rows->n = n;
}

static void
segments_of_any_size_give_the_same_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++)
		for (size_t i = 0; i < N_SIZES; i++) {
			struct random_packets r = { .n = 0 };
			struct hwtd_trace *trace;
			struct pk_rows rows;

			slot_bytes = sizes[i];
			/* With few PSBs cuts are forced, also in packets. */
			random_packets_make(&r, seed, 8000,
			    seed % 2 != 0 ? 20 : 2000);
			trace = trace_of(&r.packets);
			pk_rows(trace, NULL, &rows);
			join_padding(&rows);
			pk_assert_same(rows.at, rows.n, r.rows, r.n);
			pk_free(&rows);
			hwtd_trace_close(trace);
			random_packets_free(&r);
		}
}

static void
assert_same_in_any_segments(struct hwtd_trace *trace)
{
	struct pk_rows want, rows;

	slot_bytes = 0;
	pk_rows(trace, NULL, &want);
	for (size_t i = 0; i < N_SIZES; i++) {
		slot_bytes = sizes[i];
		pk_rows(trace, NULL, &rows);
		pk_assert_same(rows.at, rows.n, want.at, want.n);
		pk_free(&rows);
	}
	pk_free(&want);
}

/* Random packets with unknown bytes here and there. */
static void
make_dirty(struct pt_packets *p, uint64_t seed, unsigned int psb_of)
{
	struct random_packets r = { .n = 0 };
	size_t from = 0;

	random_packets_make(&r, seed, 600, psb_of);
	for (size_t at = 40; at < r.packets.n; at += 97 + seed) {
		pt_raw(p, r.packets.bytes + from, at - from);
		pt_raw(p, "\xc9\x05\x02", 1 + at % 3);
		from = at;
	}
	pt_raw(p, r.packets.bytes + from, r.packets.n - from);
	random_packets_free(&r);
}

/* Rows that begin in [first, end), as they would be if all were read. */
static void
check_range(struct hwtd_trace *trace, const struct pk_rows *all,
    uint64_t first, uint64_t end, uint64_t kinds)
{
	struct hwtd_packets_options o = {
		.size = sizeof(o),
		.first = first,
		.end = end,
		.kinds = kinds,
	};
	struct pk_rows want = { NULL, 0, 0 }, rows;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].stream_off >= first &&
		    (end == 0 || all->at[i].stream_off < end) &&
		    (kinds == 0 || (kinds >> all->at[i].kind & 1) != 0))
			pk_add(&want, &all->at[i]);
	pk_rows(trace, &o, &rows);
	pk_assert_same(rows.at, rows.n, want.at, want.n);
	pk_free(&rows);
	pk_free(&want);
}

static void
check_ranges(struct hwtd_trace *trace, size_t n)
{
	const uint64_t some = (uint64_t)1 << HWTD_PK_PT_TIP |
	    (uint64_t)1 << HWTD_PK_PT_PSB | (uint64_t)1 << HWTD_PK_UNKNOWN |
	    (uint64_t)1 << HWTD_PK_LOST;
	struct pk_rows all;

	pk_rows(trace, NULL, &all);
	for (uint64_t first = 0; first <= n + 3; first += 7)
		check_range(trace, &all, first, 0, 0);
	for (uint64_t end = 1; end <= n + 3; end += 13)
		check_range(trace, &all, 0, end, 0);
	for (uint64_t first = 0; first < n; first += 31)
		for (uint64_t end = first + 1; end < n; end += 203) {
			check_range(trace, &all, first, end, 0);
			check_range(trace, &all, first, end, some);
		}
	pk_free(&all);
}

static void
a_range_has_the_rows_that_begin_in_it(void **state)
{
	const uint64_t seeds = getenv("HWTDECODE_TEST_SMALL") != NULL ? 1 : 2;

	(void)state;
	for (uint64_t seed = 0; seed < seeds; seed++)
		for (size_t i = 0; i < N_SIZES; i++) {
			struct pt_packets p = { 0 };
			struct hwtd_trace *trace;

			slot_bytes = sizes[i];
			make_dirty(&p, seed, seed == 1 ? 0 : 25);
			trace = trace_of(&p);
			check_ranges(trace, p.n);
			hwtd_trace_close(trace);
			pt_free(&p);
		}
}

static void
dirty_bytes_are_named_the_same_in_segments_of_any_size(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;

		make_dirty(&p, seed, 10);
		trace = trace_of(&p);
		assert_same_in_any_segments(trace);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/* A cut is where a PSB seems to begin, in the bytes of a TIP and a TNT. */
static void
a_cut_in_a_packet_is_none_for_packets(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	slot_bytes = 64;
	for (size_t before = 20; before < 64; before++) {
		pt_clear(&p);
		pt_psb_plus(&p, 0x1000, 64);
		while (p.n < before)
			pt_tnt(&p, "T");
		while (p.n < 130) {
			pt_tip(&p, PT_IP_16, 0x0200);
			pt_tnt(&p, "NNNNNT");
			pt_psb(&p);
		}
		trace = trace_of(&p);
		check_ranges(trace, p.n);
		hwtd_trace_close(trace);
	}
	pt_free(&p);
}

static void
psb_plus_is_status_up_to_its_end(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_tsc(&p, 0x10);
	pt_fup(&p, PT_IP_48_SIGNED, 0xffff800000001000);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_mode_exec_if(&p, 32, 1);
	pt_tnt(&p, "TN");
	pt_psb(&p);
	pt_cbr(&p, 20);
	pt_ovf(&p);
	pt_cbr(&p, 21);
	pk_assert(&p, NULL,
	    "0 psb status\n"
	    "16 tsc 10 status\n"
	    "24 fup 3: ffff800000001000 @ffff800000001000 status\n"
	    "31 mode.exec cs.l status\n"
	    "33 psbend status\n"
	    "35 mode.exec cs.d, if\n"
	    "37 tnt.8 !.\n"
	    "38 psb status\n"
	    "54 cbr 14 status\n"
	    "58 ovf status\n"
	    "60 cbr 15\n");
	pt_free(&p);
}

/* The first PSB of Xen's has no PSBEND. */
static void
tip_pge_inside_psb_plus_ends_it(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_mode_exec(&p, 64);
	pt_fup(&p, PT_IP_48_SIGNED, 0x1000);
	pt_tsc(&p, 1);
	pt_cbr(&p, 20);
	pt_pge(&p, PT_IP_16, 0x2000);
	pt_cbr(&p, 21);
	pk_assert(&p, NULL,
	    "0 psb status\n"
	    "16 mode.exec cs.l status\n"
	    "18 fup 3: 0000000000001000 @1000 status\n"
	    "25 tsc 1 status\n"
	    "33 cbr 14 status\n"
	    "37 tip.pge 1: ????????????2000 @2000\n"
	    "40 cbr 15\n");
	pt_free(&p);
}

/* 04 is an item in a block, and an outcome elsewhere. */
static void
items_are_items_in_blocks_only(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_psbend(&p);
	pt_tnt(&p, "N");
	pt_bbp(&p, 4, 8);
	pt_bip(&p, 0, 0x1122334455667788, 8);
	pt_cyc(&p, 3);
	pt_bip(&p, 31, 0x0404040404040404, 8);
	pt_bep(&p, 1);
	pt_fup(&p, PT_IP_16, 0x1234);
	pt_tnt(&p, "N");
	pt_bbp(&p, 1, 4);
	pt_bip(&p, 1, 5, 4);
	pt_ovf(&p);
	pt_tnt(&p, "N");
	pt_bbp(&p, 1, 4);
	pt_psb(&p);
	pt_tnt(&p, "N");
	pk_assert(&p, NULL,
	    "0 psb status\n"
	    "16 psbend status\n"
	    "18 tnt.8 .\n"
	    "19 bbp 4, 8 bytes\n"
	    "22 bip 0: 1122334455667788\n"
	    "31 cyc 3\n"
	    "32 bip 1f: 404040404040404\n"
	    "41 bep ip\n"
	    "43 fup 1: ????????????1234 @1234\n"
	    "46 tnt.8 .\n"
	    "47 bbp 1, 4 bytes\n"
	    "50 bip 1: 5\n"
	    "55 ovf\n"
	    "57 tnt.8 .\n"
	    "58 bbp 1, 4 bytes\n"
	    "61 psb status\n"
	    "77 tnt.8 .\n");
	pt_free(&p);
}

static void
a_stream_without_psb_is_read_on_request(void **state)
{
	struct hwtd_packets_options o = {
		.size = sizeof(o),
		.flags = HWTD_PACKETS_NO_SYNC,
	};
	struct pt_packets p = { 0 };

	(void)state;
	pt_pge(&p, PT_IP_32, 0x401000);
	pt_tnt(&p, "TN");
	pt_tip(&p, PT_IP_48_SIGNED, 0x401010);
	pt_fup(&p, PT_IP_16, 0x1020);
	pt_pgd(&p, PT_IP_NONE, 0);
	pk_assert(&p, NULL, "0 unsynced 17 bytes\n");
	pk_assert(&p, &o,
	    "0 tip.pge 2: ????????00401000\n"
	    "5 tnt.8 !.\n"
	    "6 tip 3: 0000000000401010 @401010\n"
	    "13 fup 1: ????????????1020 @401020\n"
	    "16 tip.pgd 0: ????????????????\n");
	o.first = 13;
	pk_assert(&p, &o,
	    "13 fup 1: ????????????1020\n"
	    "16 tip.pgd 0: ????????????????\n");
	pt_free(&p);
}

static void
no_sync_begins_where_it_is_told_in_segments_of_any_size(void **state)
{
	struct random_packets r = { .n = 0 };
	struct hwtd_trace *trace;

	(void)state;
	random_packets_make(&r, 5, 500, 30);
	trace = trace_of(&r.packets);
	for (size_t i = 0; i < N_SIZES; i++)
		for (size_t j = 0; j < r.n; j += 3) {
			struct hwtd_packets_options o = {
				.size = sizeof(o),
				.flags = HWTD_PACKETS_NO_SYNC,
				.first = r.rows[j].stream_off,
			};
			struct pk_rows rows;
			size_t k = j;

			slot_bytes = sizes[i];
			/* In a block the state is not that of a start. */
			for (; k > 0; k--)
				if (r.rows[k].kind == HWTD_PK_PT_BBP ||
				    r.rows[k].kind == HWTD_PK_PT_BEP ||
				    r.rows[k].kind == HWTD_PK_PT_PSB ||
				    r.rows[k].kind == HWTD_PK_PT_OVF)
					break;
			if (r.rows[k].kind == HWTD_PK_PT_BBP && k < j)
				continue;
			pk_rows(trace, &o, &rows);
			assert_int_equal(rows.n, r.n - j);
			for (k = 0; k < rows.n; k++) {
				struct hwtd_packet want = r.rows[j + k];

				/* From the next PSB on all is the same. */
				if (want.kind == HWTD_PK_PT_PSB)
					break;
				want.flags &= (uint16_t)~HWTD_PKF_STATUS;
				if ((rows.at[k].flags & HWTD_PKF_IP) == 0) {
					want.flags &= (uint16_t)~HWTD_PKF_IP;
					want.ip = 0;
				}
				pk_assert_same(&rows.at[k], 1, &want, 1);
			}
			pk_assert_same(rows.at + k, rows.n - k, r.rows + j + k,
			    r.n - j - k);
			pk_free(&rows);
		}
	hwtd_trace_close(trace);
	random_packets_free(&r);
}

static void
bytes_never_join_across_extents(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = mt_create();
	uint32_t id;

	(void)state;
	pt_psb_plus(&p, 0x1000, 64);
	pt_tip(&p, PT_IP_32, 0x2000);
	p.n -= 2;
	id = mt_stream(trace, &p, NULL);
	mt_extent(trace, id, HWTD_EXTENT_NEW, "\x00\x00\x06", 3);
	mt_extent(trace, id, HWTD_EXTENT_AFTER_LOSS, p.bytes, 16);
	pk_assert_text(mt_seal(trace), NULL,
	    "0 psb status\n"
	    "16 fup 3: 0000000000001000 @1000 status\n"
	    "23 mode.exec cs.l status\n"
	    "25 psbend status\n"
	    "27 truncated 3 bytes\n"
	    "30 unsynced 3 bytes\n"
	    "33 psb status\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
no_sync_in_a_hole_begins_behind_it(void **state)
{
	struct hwtd_packets_options o = {
		.size = sizeof(o),
		.flags = HWTD_PACKETS_NO_SYNC,
		.first = 3,
	};
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	for (int i = 0; i < 8; i++)
		pt_tnt(&p, "TN");
	trace = trace_of(&p);
	damage_first = 2;
	damage_end = 6;
	pk_assert_text(trace, &o, "6 tnt.8 !.\n7 tnt.8 !.\n");
	o.first = 1;
	pk_assert_text(trace, &o,
	    "1 tnt.8 !.\n"
	    "2 lost 4 bytes, file-damaged\n"
	    "6 unsynced 2 bytes\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
damage_is_a_row_and_what_follows_a_stream_of_its_own(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	pt_psb(&p);
	pt_psbend(&p);
	pt_tsc(&p, 1);
	pt_tnt(&p, "T");
	pt_tnt(&p, "N");
	pt_psb(&p);
	pt_psbend(&p);
	trace = trace_of(&p);
	damage_first = 20;
	damage_end = 26;
	pk_assert_text(trace, NULL,
	    "0 psb status\n"
	    "16 psbend status\n"
	    "18 truncated 2 bytes\n"
	    "20 lost 6 bytes, file-damaged\n"
	    "26 unsynced 2 bytes\n"
	    "28 psb status\n"
	    "44 psbend status\n");
	for (damage_first = 0; damage_first < p.n; damage_first++)
		for (damage_end = damage_first + 1; damage_end <= p.n;
		     damage_end += 5)
			check_ranges(trace, p.n);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
damage_anywhere_leaves_the_rest_the_same_in_any_segments(void **state)
{
	struct random_packets r = { .n = 0 };
	struct hwtd_trace *trace;

	(void)state;
	random_packets_make(&r, 77, 400, 12);
	trace = trace_of(&r.packets);
	for (damage_first = 1; damage_first + 60 < r.packets.n;
	     damage_first += 41) {
		damage_end = damage_first + 1 + damage_first % 50;
		assert_same_in_any_segments(trace);
	}
	hwtd_trace_close(trace);
	random_packets_free(&r);
}

static int
count_packet(void *arg, const struct hwtd_packet *packet)
{
	(void)packet;
	++*(size_t *)arg;
	return (0);
}

static int
count_ip(void *arg, uint64_t off, uint32_t kind, uint64_t ip, int known)
{
	(void)off;
	(void)kind;
	(void)ip;
	(void)known;
	++*(size_t *)arg;
	return (0);
}

static void
functions_that_are_null_are_not_called(void **state)
{
	struct hwtd_packet_visitor v = { .size = sizeof(v) };
	struct random_packets r = { .n = 0 };
	struct hwtd_trace *trace;
	size_t ips = 0;

	(void)state;
	random_packets_make(&r, 4, 3000, 50);
	trace = trace_of(&r.packets);
	for (size_t i = 0; i < r.n; i++)
		ips += r.rows[i].kind >= HWTD_PK_PT_TIP &&
		    r.rows[i].kind <= HWTD_PK_PT_FUP;
	for (int which = 0; which < 3; which++) {
		struct hwtd_packets_stats stats = { .size = sizeof(stats) };
		struct hwtd_packets *packets = pk_open(trace, NULL);
		size_t seen = 0;

		v.packet = which == 1 ? count_packet : NULL;
		v.ip = which == 2 ? count_ip : NULL;
		assert_int_equal(hwtd_packets_visit(packets, &v, &seen, NULL),
		    HWTD_END);
		assert_int_equal(seen,
		    which == 0	     ? 0
			: which == 1 ? r.n
				     : ips);
		assert_int_equal(hwtd_packets_stats(packets, &stats), HWTD_OK);
		assert_int_equal(stats.bytes, r.packets.n);
		assert_int_equal(stats.bytes_named, r.packets.n);
		hwtd_packets_close(packets);
	}
	hwtd_trace_close(trace);
	random_packets_free(&r);
}

/* Stops at each packet, and goes on with rows and visits in turns. */
static int
stop(void *arg, const struct hwtd_packet *packet)
{
	pk_add(arg, packet);
	return (-77);
}

static void
a_visitor_stops_and_goes_on(void **state)
{
	static const struct hwtd_packet_visitor v = {
		.size = sizeof(v),
		.packet = stop,
	};
	struct random_packets r = { .n = 0 };
	struct hwtd_trace *trace;
	struct hwtd_packets *packets;
	struct pk_rows seen = { NULL, 0, 0 };
	int rc;

	(void)state;
	slot_bytes = 100;
	random_packets_make(&r, 6, 3000, 50);
	trace = trace_of(&r.packets);
	packets = pk_open(trace, NULL);
	for (;;) {
		struct hwtd_packet_batch batch = { .size = sizeof(batch) };

		rc = hwtd_packets_visit(packets, &v, &seen, NULL);
		if (rc != -77)
			break;
		if (seen.n % 100 != 0)
			continue;
		rc = hwtd_packets_read(packets, &batch, NULL);
		if (rc != HWTD_OK)
			break;
		for (size_t i = 0; i < batch.n; i++)
			pk_add(&seen, &batch.packets[i]);
	}
	assert_int_equal(rc, HWTD_END);
	pk_assert_same(seen.at, seen.n, r.rows, r.n);
	assert_int_equal(hwtd_packets_visit(packets, &v, &seen, NULL),
	    HWTD_END);
	hwtd_packets_close(packets);
	hwtd_trace_close(trace);
	pk_free(&seen);
	random_packets_free(&r);
}

static void
wrong_arguments_are_refused(void **state)
{
	struct hwtd_packets_options o = { .size = sizeof(o) };
	struct hwtd_packet_visitor v = { .size = 0 };
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets_stats stats = { .size = sizeof(stats) };
	struct hwtd_packets *packets = NULL;
	struct hwtd_trace *trace = mt_create();
	struct hwtd_stream_desc nobody = {
		.size = sizeof(nobody),
		.tech = HWTD_TECH_UNKNOWN,
	};
	struct pt_packets p = { 0 };
	uint32_t id;

	(void)state;
	assert_int_equal(hwtd_packets_open(trace, NULL, &packets, NULL),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_trace_add_stream(trace, &nobody, &id, NULL),
	    HWTD_OK);
	pt_psb(&p);
	(void)mt_stream(trace, &p, NULL);
	(void)mt_seal(trace);
	assert_int_equal(hwtd_packets_open(trace, NULL, &packets, NULL),
	    HWTD_E_UNSUPPORTED);
	assert_int_equal(hwtd_packets_open(NULL, NULL, &packets, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_packets_open(trace, NULL, NULL, NULL),
	    HWTD_E_INVALID);
	o.stream = 2;
	assert_int_equal(hwtd_packets_open(trace, &o, &packets, NULL),
	    HWTD_E_NOT_FOUND);
	o.stream = 1;
	o.flags = 0x80;
	assert_int_equal(hwtd_packets_open(trace, &o, &packets, NULL),
	    HWTD_E_INVALID);
	o.flags = 0;
	/* What is of no kind, nothing is. */
	o.kinds = UINT64_C(0xf0);
	assert_int_equal(hwtd_packets_open(trace, &o, &packets, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_packets_read(packets, &batch, NULL), HWTD_END);
	hwtd_packets_close(packets);
	o.kinds = 0;
	assert_int_equal(hwtd_packets_open(trace, &o, &packets, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_packets_read(packets, NULL, NULL),
	    HWTD_E_INVALID);
	/* It costs no packet. */
	batch.size = 0;
	assert_int_equal(hwtd_packets_read(packets, &batch, NULL),
	    HWTD_E_INVALID);
	batch.size = sizeof(batch);
	assert_int_equal(hwtd_packets_read(NULL, &batch, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_packets_visit(packets, NULL, NULL, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_packets_visit(packets, &v, NULL, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_packets_stats(NULL, &stats), HWTD_E_INVALID);
	assert_int_equal(hwtd_packets_stats(packets, NULL), HWTD_E_INVALID);
	/* Closing order is free. */
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_packets_read(packets, &batch, NULL), HWTD_OK);
	assert_int_equal(batch.n, 1);
	assert_int_equal(hwtd_packets_read(packets, &batch, NULL), HWTD_END);
	hwtd_packets_close(packets);
	hwtd_packets_close(NULL);
	pt_free(&p);
}

static void
an_empty_stream_has_no_packets(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pk_assert(&p, NULL, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
		    segments_of_any_size_give_the_same_packets, reset),
		cmocka_unit_test_setup(a_range_has_the_rows_that_begin_in_it,
		    reset),
		cmocka_unit_test_setup(
		    dirty_bytes_are_named_the_same_in_segments_of_any_size,
		    reset),
		cmocka_unit_test_setup(a_cut_in_a_packet_is_none_for_packets,
		    reset),
		cmocka_unit_test_setup(psb_plus_is_status_up_to_its_end,
		    reset),
		cmocka_unit_test_setup(tip_pge_inside_psb_plus_ends_it, reset),
		cmocka_unit_test_setup(items_are_items_in_blocks_only, reset),
		cmocka_unit_test_setup(a_stream_without_psb_is_read_on_request,
		    reset),
		cmocka_unit_test_setup(
		    no_sync_begins_where_it_is_told_in_segments_of_any_size,
		    reset),
		cmocka_unit_test_setup(no_sync_in_a_hole_begins_behind_it,
		    reset),
		cmocka_unit_test_setup(bytes_never_join_across_extents, reset),
		cmocka_unit_test_setup(
		    damage_is_a_row_and_what_follows_a_stream_of_its_own,
		    reset),
		cmocka_unit_test_setup(
		    damage_anywhere_leaves_the_rest_the_same_in_any_segments,
		    reset),
		cmocka_unit_test_setup(functions_that_are_null_are_not_called,
		    reset),
		cmocka_unit_test_setup(a_visitor_stops_and_goes_on, reset),
		cmocka_unit_test_setup(wrong_arguments_are_refused, reset),
		cmocka_unit_test_setup(an_empty_stream_has_no_packets, reset),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
