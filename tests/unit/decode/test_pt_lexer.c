/*
 * Packets of a stretch: random ones of all kinds, cut ones, unknown bytes and
 * what comes behind them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "decode/pt/pt_lexer.h"
#include "support/packet_rows.h"
#include "support/random_packets.h"

struct look {
	/* Bytes that adjoin, of those given. */
	size_t tail;
	/* Rows at once; 0: many. */
	size_t max;
	bool synced;
	const struct hwtd_pt_config *config;
};

static void
check_count(const struct hwtdi_pt_lexer *lexer, const struct pk_rows *rows)
{
	uint64_t bytes = 0, unknown = 0;

	for (size_t i = 0; i < rows->n; i++) {
		assert_int_equal(rows->at[i].stream_off, bytes);
		bytes += rows->at[i].bytes;
		if (rows->at[i].kind < HWTD_PK_PT_PAD)
			unknown += rows->at[i].bytes;
	}
	assert_int_equal(lexer->bytes, bytes);
	assert_int_equal(lexer->bytes_unknown, unknown);
}

/* Rows of bytes that are exactly as large, so that sanitizers see more. */
static void
rows_of(const uint8_t *bytes, size_t n, const struct look *look,
    struct pk_rows *out)
{
	static struct hwtd_packet rows[4096];
	static const struct look plain;
	const struct look *const l = look != NULL ? look : &plain;
	uint8_t *copy = malloc(n);
	struct hwtdi_pt_stretch s = {
		.bytes = copy,
		.n = n - l->tail,
		.tail = l->tail,
		.kinds = UINT64_MAX,
	};
	struct hwtdi_pt_lexer lexer;

	memset(out, 0, sizeof(*out));
	assert_non_null(copy);
	memcpy(copy, bytes, n);
	hwtdi_pt_lexer_init(&lexer, l->config);
	hwtdi_pt_lexer_restart(&lexer, l->synced);
	while (s.n > 0) {
		size_t used, got;

		got = hwtdi_pt_lexer_rows(&lexer, &s, rows,
		    l->max != 0 ? l->max : 4096, &used);
		for (size_t i = 0; i < got; i++)
			pk_add(out, &rows[i]);
		assert_true(used > 0);
		s.bytes += used < s.n ? used : s.n;
		s.stream_off += used;
		s.n -= used < s.n ? used : s.n;
	}
	check_count(&lexer, out);
	free(copy);
}

static void
expect(const uint8_t *bytes, size_t n, const struct look *look,
    const struct hwtd_packet *want, size_t n_want)
{
	struct pk_rows rows;

	rows_of(bytes, n, look, &rows);
	pk_assert_same(rows.at, rows.n, want, n_want);
	pk_free(&rows);
}

static bool
is_small(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL);
}

static void
a_million_random_packets_are_what_was_written(void **state)
{
	const size_t n = is_small() ? 20000 : 1000000;

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct look look = { .max = seed == 1 ? 0 : 5 + seed };
		struct random_packets r = { .n = 0 };

		random_packets_make(&r, seed, n, seed == 2 ? 30 : 2000);
		expect(r.packets.bytes, r.packets.n, &look, r.rows, r.n);
		random_packets_free(&r);
	}
}

/* The rows before a cut stay, and one tells what is left of a packet. */
static void
expect_cut(const struct random_packets *r, size_t cut)
{
	struct hwtd_packet want[64];
	size_t n = 0;

	while (n < r->n && r->rows[n].stream_off + r->rows[n].bytes <= cut) {
		assert_true(n < 63);
		want[n] = r->rows[n];
		n++;
	}
	if (n < r->n && r->rows[n].stream_off < cut) {
		want[n] = r->rows[n];
		want[n].bytes = (uint32_t)(cut - want[n].stream_off);
		if (want[n].kind == HWTD_PK_PT_PAD) {
			want[n].count = want[n].bytes;
		} else {
			want[n].kind = HWTD_PK_TRUNCATED;
			want[n].flags = 0;
			want[n].value = 0;
			want[n].count = 0;
			want[n].ip = 0;
		}
		n++;
	}
	expect(r->packets.bytes, cut, NULL, want, n);
}

static void
a_stream_cut_at_any_byte_ends_with_one_truncated_row(void **state)
{
	const uint64_t seeds = is_small() ? 60 : 1500;

	(void)state;
	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct random_packets r = { .n = 0 };

		random_packets_make(&r, seed, 40, 12);
		/* Less than a PSB is no synchronisation. */
		for (size_t cut = 16; cut < r.packets.n; cut++)
			expect_cut(&r, cut);
		random_packets_free(&r);
	}
}

/* With bytes behind it the last packet is whole. */
static void
what_adjoins_completes_the_last_packet(void **state)
{
	struct random_packets r = { .n = 0 };

	(void)state;
	random_packets_make(&r, 9, 40, 0);
	for (size_t tail = 16; tail + 16 < r.packets.n; tail++) {
		const size_t end = r.packets.n - tail;
		struct look look = { .tail = tail };
		struct hwtd_packet last;
		size_t n = 0;

		while (n < r.n && r.rows[n].stream_off < end)
			n++;
		last = r.rows[n - 1];
		/* A run of padding belongs to the stretch that it is in. */
		if (last.kind == HWTD_PK_PT_PAD &&
		    last.stream_off + last.bytes > end) {
			r.rows[n - 1].bytes = (uint32_t)(end -
			    last.stream_off);
			r.rows[n - 1].count = r.rows[n - 1].bytes;
		}
		expect(r.packets.bytes, r.packets.n, &look, r.rows, n);
		r.rows[n - 1] = last;
	}
	random_packets_free(&r);
}

/* The packets of a visit, stopped after each of them. */
static int
stop_always(void *arg, const struct hwtd_packet *packet)
{
	pk_add(arg, packet);
	return (7);
}

static void
a_visit_goes_on_where_it_was_stopped(void **state)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.packet = stop_always,
	};
	struct random_packets r = { .n = 0 };
	struct pk_rows seen = { NULL, 0, 0 };
	struct hwtdi_pt_lexer lexer;
	struct hwtdi_pt_stretch s = {
		.kinds = UINT64_MAX,
		.visitor = &visitor,
		.arg = &seen,
	};

	(void)state;
	random_packets_make(&r, 21, 2000, 100);
	s.bytes = r.packets.bytes;
	s.n = r.packets.n;
	hwtdi_pt_lexer_init(&lexer, NULL);
	while (s.n > 0) {
		size_t used;

		assert_int_equal(hwtdi_pt_lexer_visit(&lexer, &s, &used), 7);
		s.bytes += used;
		s.n -= used;
		s.stream_off += used;
	}
	pk_assert_same(seen.at, seen.n, r.rows, r.n);
	pk_free(&seen);
	random_packets_free(&r);
}

/* Packets that are passed unseen, one byte each, and all others. */
struct skimmed {
	const uint8_t *bytes;
	size_t n_skimmed;
	struct pk_rows rows;
};

static const uint8_t *
skim_tnt(void *arg, const uint8_t *p, const uint8_t *end)
{
	struct skimmed *seen = arg;

	/* The bytes are there, and TNT can be told from items of a block. */
	assert_true(p < end);
	for (; p < end && hwtdi_pt_classes[*p] == HWTDI_PT_TNT; p++)
		seen->n_skimmed++;
	return (p);
}

static int
see_rest(void *arg, const struct hwtd_packet *packet)
{
	struct skimmed *seen = arg;

	pk_add(&seen->rows, packet);
	return (0);
}

static void
what_is_skimmed_is_not_told(void **state)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.packet = see_rest,
	};

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct random_packets r = { .n = 0 };
		struct skimmed seen = { .n_skimmed = 0 };
		struct hwtdi_pt_lexer lexer;
		struct hwtdi_pt_stretch s = {
			.kinds = UINT64_MAX,
			.visitor = &visitor,
			.skim = skim_tnt,
			.arg = &seen,
		};
		size_t used, k = 0, skipped = 0;

		random_packets_make(&r, seed, 2000, 100);
		s.bytes = r.packets.bytes;
		s.n = r.packets.n;
		hwtdi_pt_lexer_init(&lexer, NULL);
		assert_int_equal(hwtdi_pt_lexer_visit(&lexer, &s, &used), 0);
		assert_int_equal(used, r.packets.n);
		/* Nothing but short TNT is missing, and IPs are not known. */
		for (size_t i = 0; i < r.n; i++) {
			const struct hwtd_packet *want = &r.rows[i];
			const struct hwtd_packet *got = &seen.rows.at[k];

			if (k == seen.rows.n ||
			    got->stream_off != want->stream_off) {
				assert_int_equal(want->kind, HWTD_PK_PT_TNT_8);
				skipped++;
				continue;
			}
			assert_int_equal(got->kind, want->kind);
			assert_int_equal(got->bytes, want->bytes);
			k++;
		}
		assert_int_equal(k, seen.rows.n);
		assert_int_equal(skipped, seen.n_skimmed);
		assert_true(skipped > 10);
		pk_free(&seen.rows);
		random_packets_free(&r);
	}
}

static void
nothing_that_begins_beyond_is_named(void **state)
{
	static struct hwtd_packet rows[512];
	struct random_packets r = { .n = 0 };

	(void)state;
	random_packets_make(&r, 33, 200, 20);
	for (size_t beyond = 0; beyond <= r.packets.n; beyond++) {
		const size_t until = r.packets.n - beyond;
		struct hwtdi_pt_lexer lexer;
		struct hwtdi_pt_stretch s = {
			.bytes = r.packets.bytes,
			.n = r.packets.n,
			.beyond = beyond,
			.kinds = UINT64_MAX,
		};
		size_t used, n = 0, end = 0;

		while (n < r.n && r.rows[n].stream_off < until) {
			end = (size_t)r.rows[n].stream_off + r.rows[n].bytes;
			n++;
		}
		hwtdi_pt_lexer_init(&lexer, NULL);
		assert_int_equal(hwtdi_pt_lexer_rows(&lexer, &s, rows, 512,
				     &used),
		    n);
		assert_int_equal(used, end);
		pk_assert_same(rows, n, r.rows, n);
	}
	random_packets_free(&r);
}

static struct hwtd_packet
plain(unsigned int kind, uint64_t off, uint32_t bytes)
{
	struct hwtd_packet row = {
		.stream_off = off,
		.bytes = bytes,
		.kind = (uint16_t)kind,
	};

	return (row);
}

static struct hwtd_packet
psb_at(uint64_t off)
{
	struct hwtd_packet row = plain(HWTD_PK_PT_PSB, off, 16);

	row.flags = HWTD_PKF_STATUS;
	return (row);
}

/* No byte of a PSB is taken for one of what is cut off before it. */
static void
a_packet_cut_off_by_a_psb_leaves_it_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct random_packets r = { .n = 0 };

		random_packets_make(&r, seed, 30, 0);
		for (size_t i = 1; i + 2 < r.n; i++) {
			const struct hwtd_packet *last = &r.rows[i];
			size_t at = (size_t)last->stream_off;

			if (last->kind == HWTD_PK_PT_PAD)
				continue;
			for (uint32_t cut = 1; cut < last->bytes; cut++) {
				struct hwtd_packet saved = *last;
				struct hwtd_packet next[2] = { r.rows[i + 1],
					r.rows[i + 2] };
				struct pt_packets p = { 0 };

				pt_raw(&p, r.packets.bytes, at + cut);
				pt_psb(&p);
				pt_psbend(&p);
				r.rows[i] = plain(HWTD_PK_TRUNCATED, at, cut);
				r.rows[i + 1] = psb_at(at + cut);
				r.rows[i + 2] = plain(HWTD_PK_PT_PSBEND,
				    at + cut + 16, 2);
				r.rows[i + 2].flags = HWTD_PKF_STATUS;
				expect(p.bytes, p.n, NULL, r.rows, i + 3);
				r.rows[i] = saved;
				r.rows[i + 1] = next[0];
				r.rows[i + 2] = next[1];
				pt_free(&p);
			}
		}
		random_packets_free(&r);
	}
}

/* Of several pairs of 02 82 the last ones are the PSB. */
static void
what_looks_like_a_psb_before_one_is_none(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_packet want[] = { psb_at(0), plain(HWTD_PK_PT_PTW, 16, 10),
		psb_at(26), psb_at(42), plain(HWTD_PK_PT_TIP, 58, 3),
		plain(HWTD_PK_PT_TNT_8, 61, 1), psb_at(62) };

	(void)state;
	pt_psb(&p);
	pt_ptw(&p, 8, 0x8202820282028202, 0);
	pt_psb(&p);
	pt_psb(&p);
	pt_tip(&p, PT_IP_16, 0x0200);
	pt_tnt(&p, "NNNNNT");
	pt_psb(&p);
	want[1].value = 0x8202820282028202;
	want[1].count = 8;
	want[1].flags = HWTD_PKF_STATUS;
	want[4].value = 0x0200;
	want[4].count = 1;
	want[4].ip = 0x0200;
	want[4].flags = HWTD_PKF_IP;
	want[5].value = 1;
	want[5].count = 6;
	expect(p.bytes, p.n, NULL, want, 7);
	pt_free(&p);
}

static void
without_psb_all_is_unsynced(void **state)
{
	struct random_packets r = { .n = 0 };
	struct hwtd_packet want;

	(void)state;
	random_packets_make(&r, 3, 300, 0);
	for (size_t i = 1; i < 40; i++) {
		want = plain(HWTD_PK_UNSYNCED, 0, (uint32_t)(r.packets.n - i));
		expect(r.packets.bytes + i, r.packets.n - i, NULL, &want, 1);
	}
	random_packets_free(&r);
}

static void
bytes_before_the_first_psb_are_unsynced(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 70; n++) {
		struct hwtd_packet want[] = { plain(HWTD_PK_UNSYNCED, 0, n),
			psb_at(n) };
		struct pt_packets p = { 0 };

		while (p.n < n)
			pt_raw(&p, "\x06", 1);
		pt_psb(&p);
		expect(p.bytes, p.n, NULL, want, 2);
		pt_free(&p);
	}
}

static void
a_synced_start_needs_no_psb(void **state)
{
	static const struct look synced = { .synced = true };
	struct hwtd_packet want[] = { plain(HWTD_PK_PT_TIP_PGE, 0, 9),
		plain(HWTD_PK_PT_TNT_8, 9, 1), plain(HWTD_PK_PT_FUP, 10, 3),
		plain(HWTD_PK_PT_TIP_PGD, 13, 1) };
	struct pt_packets p = { 0 };

	(void)state;
	pt_pge(&p, PT_IP_64, 0x401000);
	pt_tnt(&p, "TN");
	pt_fup(&p, PT_IP_16, 0x1010);
	pt_pgd(&p, PT_IP_NONE, 0);
	want[0].value = 0x401000;
	want[0].count = 6;
	want[0].ip = 0x401000;
	want[0].flags = HWTD_PKF_IP;
	want[1].value = 2;
	want[1].count = 2;
	want[2].value = 0x1010;
	want[2].count = 1;
	want[2].ip = 0x401010;
	want[2].flags = HWTD_PKF_IP;
	expect(p.bytes, p.n, &synced, want, 4);
	/* Of a start with a few bits, the address is not known. */
	pt_clear(&p);
	pt_pge(&p, PT_IP_32, 0x401000);
	want[0] = plain(HWTD_PK_PT_TIP_PGE, 0, 5);
	want[0].value = 0x401000;
	want[0].count = 2;
	expect(p.bytes, p.n, &synced, want, 1);
	pt_free(&p);
}

/* c9 begins no packet. */
static void
a_psb_right_behind_an_unknown_byte_is_found(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 40; n++) {
		struct hwtd_packet want[] = { psb_at(0),
			plain(HWTD_PK_UNKNOWN, 16, n), psb_at(16 + n) };
		struct pt_packets p = { 0 };

		pt_psb(&p);
		for (uint32_t i = 0; i < n; i++)
			pt_raw(&p, "\xc9", 1);
		pt_psb(&p);
		expect(p.bytes, p.n, NULL, want, 3);
		pt_free(&p);
	}
}

/* Rows of a stream with unknown bytes in its middle, at `at`. */
static void
rows_behind(const struct random_packets *r, size_t at, const void *junk,
    size_t n_junk, struct pk_rows *out)
{
	struct pt_packets p = { 0 };

	pt_raw(&p, r->packets.bytes, at);
	pt_raw(&p, junk, n_junk);
	pt_raw(&p, r->packets.bytes + at, r->packets.n - at);
	rows_of(p.bytes, p.n, NULL, out);
	pt_free(&p);
}

static void
packets_behind_unknown_bytes_are_guessed_up_to_a_psb(void **state)
{
	static const uint8_t junk[] = { 0xc9, 0x05, 0xc9 };
	size_t guessed = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct random_packets r = { .n = 0 };
		const struct hwtd_packet *split;
		struct pk_rows rows;
		size_t i, first;

		random_packets_make(&r, seed, 1000, 0);
		first = 20;
		while (first < r.n && r.rows[first].kind != HWTD_PK_PT_TIP)
			first++;
		assert_true(first < r.n);
		random_packets_make(&r, seed + 1, 300, 20);
		split = &r.rows[first];
		rows_behind(&r, (size_t)split->stream_off, junk, 3, &rows);
		pk_assert_same(rows.at, first, r.rows, first);
		assert_int_equal(rows.at[first].kind, HWTD_PK_UNKNOWN);
		assert_int_equal(rows.at[first].flags, 0);
		/* Up to the next PSB all is unknown or guessed. */
		for (i = first + 1;
		     i < rows.n && rows.at[i].kind != HWTD_PK_PT_PSB; i++) {
			if (rows.at[i].kind < HWTD_PK_PT_PAD)
				continue;
			assert_true(rows.at[i].flags & HWTD_PKF_GUESSED);
			guessed++;
		}
		for (; i < rows.n; i++)
			assert_int_equal(rows.at[i].flags & HWTD_PKF_GUESSED,
			    0);
		/* From there on the rest is right again. */
		assert_true(rows.n > 150 && r.n > 150);
		for (i = 1; i <= 150; i++) {
			struct hwtd_packet want = r.rows[r.n - i];

			want.stream_off += 3;
			pk_assert_same(&rows.at[rows.n - i], 1, &want, 1);
		}
		pk_free(&rows);
		random_packets_free(&r);
	}
	assert_true(guessed > 0);
}

static void
addresses_behind_unknown_bytes_are_known_once_told(void **state)
{
	struct pt_packets p = { 0 };
	struct pk_rows rows;
	size_t known = 0;

	(void)state;
	pt_psb_plus(&p, 0x401000, 64);
	pt_raw(&p, "\xc9", 1);
	for (int i = 0; i < 10; i++) {
		pt_tip(&p, PT_IP_32, 0x500000u + (unsigned int)i);
		pt_tnt(&p, "TNT");
	}
	pt_tip(&p, PT_IP_48_SIGNED, 0x7fff00000000);
	pt_tip(&p, PT_IP_16, 0x1234);
	rows_of(p.bytes, p.n, NULL, &rows);
	for (size_t i = 5; i < rows.n; i++) {
		if (rows.at[i].kind != HWTD_PK_PT_TIP)
			continue;
		assert_true(rows.at[i].flags & HWTD_PKF_GUESSED);
		if ((rows.at[i].flags & HWTD_PKF_IP) != 0)
			known++;
	}
	assert_int_equal(rows.at[4].kind, HWTD_PK_UNKNOWN);
	assert_int_equal(rows.at[4].bytes, 1);
	assert_int_equal(known, 2);
	assert_int_equal(rows.at[rows.n - 1].ip, 0x7fff00001234);
	pk_free(&rows);
	pt_free(&p);
}

/* Erratum SKZ84: reserved bits of TMA are set, and one byte follows. */
static void
a_corrupt_tma_costs_itself_and_one_byte(void **state)
{
	static const uint8_t tma[] = { 0x02, 0x73, 1, 2, 3, 4, 0, 0xaa };
	struct hwtd_packet want[] = { psb_at(0), plain(HWTD_PK_UNKNOWN, 16, 8),
		plain(HWTD_PK_PT_CBR, 24, 4), plain(HWTD_PK_PT_PSBEND, 28, 2),
		plain(HWTD_PK_PT_MTC, 30, 2) };
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_raw(&p, tma, sizeof(tma));
	pt_cbr(&p, 20);
	pt_psbend(&p);
	pt_mtc(&p, 5);
	want[2].value = 20;
	want[2].flags = HWTD_PKF_STATUS | HWTD_PKF_GUESSED;
	want[3].flags = HWTD_PKF_STATUS | HWTD_PKF_GUESSED;
	want[4].value = 5;
	want[4].flags = HWTD_PKF_GUESSED;
	expect(p.bytes, p.n, NULL, want, 5);
	/* A PSB is none of its bytes. */
	p.n = 23;
	pt_psb(&p);
	want[1].bytes = 7;
	want[2] = psb_at(23);
	expect(p.bytes, p.n, NULL, want, 3);
	pt_free(&p);
}

static void
skd007_needs_a_cpu_that_has_it(void **state)
{
	static const uint8_t models[] = { 0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6 };
	struct hwtd_pt_config config = { .size = sizeof(config) };
	struct pt_packets p = { 0 };
	struct look look = { .config = &config };

	(void)state;
	pt_psb(&p);
	pt_raw(&p, "\xaf\x02\xf3", 3);
	for (unsigned int family = 5; family <= 7; family++)
		for (unsigned int model = 0; model < 256; model++) {
			struct pk_rows rows;
			bool has = family == 6 &&
			    memchr(models, (int)model, sizeof(models)) != NULL;

			config.cpu_family = (uint16_t)family;
			config.cpu_model = (uint8_t)model;
			rows_of(p.bytes, p.n, &look, &rows);
			assert_int_equal(rows.at[1].kind,
			    has ? HWTD_PK_PT_OVF : HWTD_PK_PT_CYC);
			assert_int_equal(rows.at[1].bytes, has ? 3 : 2);
			pk_free(&rows);
		}
	pt_free(&p);
}

static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}

/* Byte `i` of bytes that make guesses cost the most, in several ways. */
static uint8_t
hostile_byte(int how, size_t i)
{
	static const uint8_t tips[28] = { 0x6d, 0, 0, 0, 0, 0, 0, 0x6d, 0, 0,
		0, 0, 0, 0, 0x6d, 0, 0, 0, 0, 0, 0, 0x6d };
	const size_t at = i % 4200;

	switch (how) {
	case 0:
		return (0xc9);
	case 1:
		return (i % 100 == 0 ? 0xc9 : 0x00);
	case 2:
		return (i == 0 ? 0xc9 : 0x00);
	case 3:
		return (i % 70 == 0 ? 0xc9 : 0x06);
	case 4:
		return (i % 11 == 0 ? 0xc9 : i % 5 == 0 ? 0x4d : 0x06);
	case 5:
		/* A guess is right, but only the last one that is made. */
		return (at == 0			       ? 0xc9
			: at >= 4060 && at < 4060 + 28 ? tips[at - 4060]
						       : 0x06);
	default:
		return (i % 2 == 0 ? 0x02 : 0x82);
	}
}

static void
hostile_bytes_take_time_in_proportion(void **state)
{
	const size_t n = is_small() ? (size_t)1 << 17 : (size_t)1 << 20;
	static const struct look synced = { .synced = true };
	uint8_t *bytes = malloc(n);

	(void)state;
	assert_non_null(bytes);
	for (int how = 0; how <= 6; how++) {
		const double start = seconds();
		struct pk_rows rows;

		for (size_t i = 0; i < n; i++)
			bytes[i] = hostile_byte(how, i);
		rows_of(bytes, n, &synced, &rows);
		pk_free(&rows);
		print_message("%d: %.3f s\n", how, seconds() - start);
		/* Far above what it takes, and below what a square would. */
		assert_true(seconds() - start < 20);
	}
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_million_random_packets_are_what_was_written),
		cmocka_unit_test(
		    a_stream_cut_at_any_byte_ends_with_one_truncated_row),
		cmocka_unit_test(what_adjoins_completes_the_last_packet),
		cmocka_unit_test(a_visit_goes_on_where_it_was_stopped),
		cmocka_unit_test(what_is_skimmed_is_not_told),
		cmocka_unit_test(nothing_that_begins_beyond_is_named),
		cmocka_unit_test(a_packet_cut_off_by_a_psb_leaves_it_whole),
		cmocka_unit_test(what_looks_like_a_psb_before_one_is_none),
		cmocka_unit_test(without_psb_all_is_unsynced),
		cmocka_unit_test(bytes_before_the_first_psb_are_unsynced),
		cmocka_unit_test(a_synced_start_needs_no_psb),
		cmocka_unit_test(a_psb_right_behind_an_unknown_byte_is_found),
		cmocka_unit_test(
		    packets_behind_unknown_bytes_are_guessed_up_to_a_psb),
		cmocka_unit_test(
		    addresses_behind_unknown_bytes_are_known_once_told),
		cmocka_unit_test(a_corrupt_tma_costs_itself_and_one_byte),
		cmocka_unit_test(skd007_needs_a_cpu_that_has_it),
		cmocka_unit_test(hostile_bytes_take_time_in_proportion),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
