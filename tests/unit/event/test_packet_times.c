/*
 * Times of packets, through the interface.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/memory_trace.h"
#include "support/slot_size.h"

/* One tick of the crystal clock is 100 counts; a count is 1/2 ns. */
static const struct hwtd_pt_config config = {
	.size = sizeof(config),
	.cpu_family = 6,
	.cpu_model = 0x97,
	.mtc_freq = 3,
	.nom_freq = 20,
	.cpuid_15h_eax = 1,
	.cpuid_15h_ebx = 100,
};
static const struct hwtd_clock two_in_a_ns = {
	.counts_per = 2,
	.ns_per = 1,
	.base_count = 1000,
	.base_ns = 7,
};

static void
put_psb(struct pt_packets *p, uint64_t tsc)
{
	pt_psb(p);
	pt_tsc(p, tsc);
	pt_tma(p, (unsigned int)(tsc / 100 & 0xffff),
	    (unsigned int)(tsc % 100));
	pt_cbr(p, 20);
	pt_psbend(p);
}

/* Packets of a core of 1 cycle a count, `n` blocks of about 1 KiB. */
static void
put_blocks(struct pt_packets *p, unsigned int n)
{
	uint64_t now = 1000, told = 1000;

	for (unsigned int i = 0; i < n; i++) {
		put_psb(p, now);
		for (unsigned int k = 0; k < 200; k++) {
			const uint64_t before = now / 800;

			now += 13 + (i * 7 + k * 11) % 90;
			if (now / 800 != before) {
				const uint64_t edge = now / 800 * 800;

				if (edge > told)
					pt_cyc(p, edge - told);
				told = edge;
				pt_mtc(p, (unsigned int)(edge / 800) & 0xff);
			}
			if (k % 3 != 0) {
				pt_cyc(p, now - told);
				told = now;
			}
			pt_tnt(p, "TNT");
		}
	}
	put_psb(p, now);
}

static struct hwtd_trace *
trace_of(const struct pt_packets *p, const struct hwtd_clock *clock,
    const struct hwtd_pt_config *pt)
{
	struct hwtd_stream_desc desc = {
		.cpu = 0,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.pt = pt,
	};
	struct hwtd_trace *trace = mt_create();

	if (clock != NULL)
		desc.clock = *clock;
	mt_stream(trace, p, &desc);
	return (mt_seal(trace));
}

struct rows {
	struct hwtd_packet *at;
	size_t n;
};

static void
add_row(struct rows *rows, const struct hwtd_packet *packet)
{
	if ((rows->n & (rows->n - 1)) == 0) {
		rows->at = realloc(rows->at,
		    (rows->n == 0 ? 1 : rows->n * 2) * sizeof(*rows->at));
		assert_non_null(rows->at);
	}
	rows->at[rows->n++] = *packet;
}

static struct hwtd_packets *
open_packets(struct hwtd_trace *trace, uint64_t first, uint32_t flags,
    uint64_t kinds)
{
	const struct hwtd_packets_options opts = {
		.size = sizeof(opts),
		.flags = flags,
		.first = first,
		.kinds = kinds,
	};
	struct hwtd_packets *packets = NULL;
	struct hwtd_error err = { .size = sizeof(err) };

	assert_int_equal(hwtd_packets_open(trace, &opts, &packets, &err),
	    HWTD_OK);
	return (packets);
}

static struct rows
read_rows(struct hwtd_trace *trace, uint64_t first, uint32_t flags,
    uint64_t kinds)
{
	struct hwtd_packets *packets = open_packets(trace, first, flags,
	    kinds);
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct rows rows = { 0 };
	int rc;

	while ((rc = hwtd_packets_read(packets, &batch, &err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++)
			add_row(&rows, &batch.packets[i]);
	assert_int_equal(rc, HWTD_END);
	hwtd_packets_close(packets);
	return (rows);
}

#define TIME HWTD_PACKETS_TIME

static void
times_are_those_of_the_clock_of_the_stream(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct rows rows;

	(void)state;
	put_psb(&p, 1100);
	pt_tnt(&p, "T");
	pt_tsc(&p, 1151);
	pt_tnt(&p, "T");
	trace = trace_of(&p, &two_in_a_ns, &config);
	rows = read_rows(trace, 0, TIME, 0);
	assert_int_equal(rows.n, 8);
	for (size_t i = 0; i < rows.n; i++) {
		assert_true((rows.at[i].flags & HWTD_PKF_TIME) != 0);
		assert_int_equal((rows.at[i].flags &
				     HWTD_PKF_TIME_ESTIMATED) != 0,
		    rows.at[i].kind != HWTD_PK_PT_TSC &&
			rows.at[i].kind != HWTD_PK_PT_PSB);
	}
	assert_int_equal(rows.at[0].time_ns, 57);
	assert_int_equal(rows.at[1].time_ns, 57);
	assert_int_equal(rows.at[1].time_error_ns, 0);
	assert_in_range(rows.at[5].time_ns, 57, 82);
	assert_in_range(rows.at[5].time_error_ns, 13, 27);
	assert_int_equal(rows.at[6].time_ns, 82);
	assert_int_equal(rows.at[7].time_ns, 82);
	assert_int_equal(rows.at[7].time_error_ns, UINT64_MAX);
	free(rows.at);

	/* None is asked for. */
	rows = read_rows(trace, 0, 0, 0);
	for (size_t i = 0; i < rows.n; i++)
		assert_int_equal(rows.at[i].flags & HWTD_PKF_TIME, 0);
	free(rows.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
wherever_reading_begins_times_are_the_same(void **state)
{
	static const uint64_t slots[] = { 1 << 20, 1 << 16, 5000, 700 };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct rows all;

	(void)state;
	put_blocks(&p, 300);
	trace = trace_of(&p, &two_in_a_ns, &config);
	all = read_rows(trace, 0, TIME, 0);
	assert_true(all.n > 100000);
	for (size_t i = 0; i < all.n; i++) {
		assert_true((all.at[i].flags & HWTD_PKF_TIME) != 0);
		assert_true(i == 0 ||
		    all.at[i].time_ns >= all.at[i - 1].time_ns);
	}
	for (size_t s = 0; s < sizeof(slots) / sizeof(slots[0]); s++) {
		slot_bytes = slots[s];
		for (size_t k = 0; k < all.n; k += all.n / 7) {
			struct rows rows = read_rows(trace,
			    all.at[k].stream_off, TIME, 0);

			assert_int_equal(rows.n, all.n - k);
			assert_memory_equal(rows.at, all.at + k,
			    rows.n * sizeof(*rows.at));
			free(rows.at);
		}
	}
	slot_bytes = HWTDI_SLOT_BYTES;
	free(all.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
packets_left_out_change_no_time(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct rows all, some;
	size_t at = 0;

	(void)state;
	put_blocks(&p, 20);
	trace = trace_of(&p, &two_in_a_ns, &config);
	all = read_rows(trace, 0, TIME, 0);
	some = read_rows(trace, 0, TIME, (uint64_t)1 << HWTD_PK_PT_TNT_8);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i].kind != HWTD_PK_PT_TNT_8)
			continue;
		assert_true(at < some.n);
		assert_memory_equal(&some.at[at++], &all.at[i],
		    sizeof(all.at[i]));
	}
	assert_int_equal(at, some.n);
	free(all.at);
	free(some.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

struct visit {
	const struct rows *all;
	size_t at;
	size_t tnts, cycs;
	unsigned int stop_after;
};

static int
stop(struct visit *v)
{
	return (v->stop_after != 0 && v->at % v->stop_after == 0 ? 77 : 0);
}

static int
see_tnt(void *arg, uint64_t off, uint64_t outcomes, uint32_t n)
{
	struct visit *v = arg;

	(void)outcomes;
	(void)n;
	assert_int_equal(v->all->at[v->at++].stream_off, off);
	v->tnts++;
	return (stop(v));
}

static int
see_cyc(void *arg, uint64_t off, uint64_t cycles)
{
	struct visit *v = arg;

	assert_int_equal(v->all->at[v->at].stream_off, off);
	assert_int_equal(v->all->at[v->at++].value, cycles);
	v->cycs++;
	return (stop(v));
}

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	struct visit *v = arg;

	assert_memory_equal(packet, &v->all->at[v->at++], sizeof(*packet));
	return (stop(v));
}

static void
a_visitor_is_told_the_same_times(void **state)
{
	static const struct hwtd_packet_visitor some = {
		.size = sizeof(some),
		.tnt = see_tnt,
		.cyc = see_cyc,
		.packet = see_packet,
	};
	static const struct hwtd_packet_visitor one = {
		.size = sizeof(one),
		.packet = see_packet,
	};
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct rows all;

	(void)state;
	put_blocks(&p, 20);
	trace = trace_of(&p, &two_in_a_ns, &config);
	all = read_rows(trace, 0, TIME, 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct hwtd_packets *packets = open_packets(trace, 0, TIME, 0);
		struct hwtd_error err = { .size = sizeof(err) };
		struct visit v = { .all = &all };
		int rc;

		v.stop_after = i / 2 * 5;
		while ((rc = hwtd_packets_visit(packets,
			    i % 2 == 0 ? &some : &one, &v, &err)) == 77)
			;
		assert_int_equal(rc, HWTD_END);
		assert_int_equal(v.at, all.n);
		assert_int_equal(v.tnts, i % 2 == 0 ? 20 * 200 : 0);
		hwtd_packets_close(packets);
	}
	free(all.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* Read and visited by turns, each packet is told once. */
static void
a_failed_allocation_loses_no_packet(void **state)
{
	static const struct hwtd_packet_visitor visitors[] = {
		{ .size = sizeof(visitors[0]), .packet = see_packet },
		{ .size = sizeof(visitors[0]),
		    .tnt = see_tnt,
		    .cyc = see_cyc,
		    .packet = see_packet },
	};
	struct hwtd_context_options how = { .size = sizeof(how) };
	struct hwtd_stream_desc desc = { .clock = two_in_a_ns, .pt = &config };
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *context = NULL;
	struct failing_allocator f;
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	unsigned int failed = 0;
	struct rows all;

	(void)state;
	put_blocks(&p, 20);
	failing_allocator_init(&f);
	how.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&how, &context, &err), HWTD_OK);
	trace = mt_create_in(context);
	hwtd_context_destroy(context);
	mt_stream(trace, &p, &desc);
	trace = mt_seal(trace);
	all = read_rows(trace, 0, TIME, 0);
	for (unsigned int i = 0; i < 160; i++) {
		struct hwtd_packets *packets = open_packets(trace, 0, TIME, 0);
		struct visit v = { .all = &all, .stop_after = 300 };
		int rc = HWTD_OK;

		failing_allocator_arm(&f, i / 16 + 1, false);
		for (unsigned int k = i; rc != HWTD_END; k++) {
			if (k >> (k / 7 % 4) & 1) {
				rc = hwtd_packets_visit(packets,
				    &visitors[k & 1], &v, &err);
			} else {
				rc = hwtd_packets_read(packets, &batch, &err);
				for (size_t r = 0;
				     rc == HWTD_OK && r < batch.n; r++)
					assert_memory_equal(&batch.packets[r],
					    &all.at[v.at++], sizeof(*all.at));
			}
			failed += rc == HWTD_E_NOMEM;
			assert_true(rc == HWTD_OK || rc == HWTD_END ||
			    rc == 77 || rc == HWTD_E_NOMEM);
		}
		assert_int_equal(v.at, all.n);
		failing_allocator_arm(&f, 0, false);
		hwtd_packets_close(packets);
	}
	assert_true(failed > 30);
	free(all.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
without_a_clock_there_is_no_time(void **state)
{
	struct hwtd_pt_config unknown = config;
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct rows rows;

	(void)state;
	put_blocks(&p, 2);
	unknown.nom_freq = 0;
	trace = trace_of(&p, NULL, &unknown);
	rows = read_rows(trace, 0, TIME, 0);
	for (size_t i = 0; i < rows.n; i++)
		assert_int_equal(rows.at[i].flags & HWTD_PKF_TIME, 0);
	free(rows.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
packets_before_the_first_psb_have_times_if_they_are_read(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct rows rows;

	(void)state;
	pt_tnt(&p, "T");
	pt_tsc(&p, 1100);
	pt_tnt(&p, "T");
	put_psb(&p, 1200);
	trace = trace_of(&p, &two_in_a_ns, &config);
	rows = read_rows(trace, 0, TIME | HWTD_PACKETS_NO_SYNC, 0);
	assert_int_equal(rows.n, 8);
	assert_int_equal(rows.at[0].flags & HWTD_PKF_TIME, 0);
	assert_int_equal(rows.at[1].time_ns, 57);
	assert_in_range(rows.at[2].time_ns, 57, 107);
	assert_int_equal(rows.at[3].time_ns, 107);
	free(rows.at);
	rows = read_rows(trace, 0, TIME, 0);
	assert_int_equal(rows.at[0].kind, HWTD_PK_UNSYNCED);
	assert_int_equal(rows.at[0].flags & HWTD_PKF_TIME, 0);
	free(rows.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static unsigned int warnings;

static void
log_line(void *arg, const struct hwtd_log_record *record)
{
	(void)arg;
	if (record->level == HWTD_LOG_WARNING &&
	    strstr(record->message, "MTC") != NULL)
		warnings++;
}

static void
one_warning_says_that_mtc_tell_nothing(void **state)
{
	struct hwtd_context_options how = { .size = sizeof(how),
		.log = log_line,
		.log_level = HWTD_LOG_WARNING };
	struct hwtd_stream_desc desc = { .clock = two_in_a_ns };
	struct hwtd_pt_config unknown = config;
	struct hwtd_context *context = NULL;
	struct hwtd_error err = { .size = sizeof(err) };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct rows rows;

	(void)state;
	unknown.cpuid_15h_eax = 0;
	desc.pt = &unknown;
	put_blocks(&p, 20);
	assert_int_equal(hwtd_context_create(&how, &context, &err), HWTD_OK);
	trace = mt_create_in(context);
	hwtd_context_destroy(context);
	mt_stream(trace, &p, &desc);
	trace = mt_seal(trace);
	warnings = 0;
	rows = read_rows(trace, 0, TIME, 0);
	assert_int_equal(warnings, 1);
	for (size_t i = 1; i < rows.n; i++)
		assert_true(rows.at[i].time_ns >= rows.at[i - 1].time_ns);
	free(rows.at);
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_those_of_the_clock_of_the_stream),
		cmocka_unit_test(wherever_reading_begins_times_are_the_same),
		cmocka_unit_test(packets_left_out_change_no_time),
		cmocka_unit_test(a_visitor_is_told_the_same_times),
		cmocka_unit_test(a_failed_allocation_loses_no_packet),
		cmocka_unit_test(without_a_clock_there_is_no_time),
		cmocka_unit_test(
		    packets_before_the_first_psb_have_times_if_they_are_read),
		cmocka_unit_test(one_warning_says_that_mtc_tell_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
