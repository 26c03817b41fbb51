/*
 * The engine for CoreSight: rows of traces that were written by hand.
 *
 * Source: Arm Embedded Trace Macrocell Architecture Specification ETMv4 (IHI
 * 0064), "Trace packets"; Arm Architecture Reference Manual (DDI 0487), "The
 * Embedded Trace Extension".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/row_text.h"

#define BASE 0x10000u

/* nop; b.eq +8; nop; svc 0; nop; b.eq +8; nop; nop. */
static const uint32_t program[] = { 0xd503201f, 0x54000040, 0xd503201f,
	0xd4000001, 0xd503201f, 0x54000040, 0xd503201f, 0xd503201f };

/* nop; b +12; nop; nop; svc 0. */
static const uint32_t jumps[] = { 0xd503201f, 0x14000003, 0xd503201f,
	0xd503201f, 0xd4000001 };

/* An ETMv4.4 of 64-bit addresses and time stamps. */
static const struct hwtd_coresight_config etmv4 = {
	.size = sizeof(etmv4),
	.protocol = HWTD_CS_ETMV4,
	.profile = HWTD_ARM_PROFILE_A,
	.trace_id = 0x10,
	.configr = 0x801,
	.idr = { 0x28000ea1, 0x4100f443, 0x10000488 },
};

struct packets {
	uint8_t bytes[16384];
	size_t n;
};

static void
put(struct packets *p, const void *bytes, size_t n)
{
	assert_true(n <= sizeof(p->bytes) - p->n);
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

#define PUT(p, ...)                                                           \
	put(p, (const uint8_t[]){ __VA_ARGS__ },                              \
	    sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* A-sync, and Trace Info of a stream that has nothing open. */
static void
put_sync(struct packets *p)
{
	PUT(p, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00);
}

/* Non-secure EL0, AArch64. */
static void
put_context(struct packets *p)
{
	PUT(p, 0x81, 0x30);
}

static void
put_trace_on(struct packets *p)
{
	PUT(p, 0x04);
}

/* Long, 64 bits, IS0. */
static void
put_address(struct packets *p, uint64_t address)
{
	PUT(p, 0x9d, address >> 2 & 0x7f, address >> 9 & 0x7f,
	    address >> 16 & 0xff, address >> 24 & 0xff, 0, 0, 0, 0);
}

/* Of less than 14 bits. */
static void
put_stamp(struct packets *p, unsigned int stamp)
{
	PUT(p, 0x02, (stamp & 0x7f) | 0x80, stamp >> 7);
}

static void
put_atom(struct packets *p, char atom)
{
	PUT(p, atom == 'E' ? 0xf7 : 0xf6);
}

static void
put_exception(struct packets *p, unsigned int number, uint64_t address)
{
	PUT(p, 0x06, number << 1 | 1);
	put_address(p, address);
}

static void
check(const struct hwtd_coresight_config *config, const uint32_t *code,
    size_t n, const struct packets *p, uint64_t counts_per, const char *lines)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.coresight = config,
		.clock = { .counts_per = counts_per, .ns_per = counts_per } };
	struct hwtd_trace *trace = mt_create();
	uint32_t stream;

	(void)mt_code(trace, BASE, code, n);
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &stream, &err),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, stream, p->bytes, p->n,
			     &err),
	    HWTD_OK);
	mt_seal(trace);
	assert_rows(trace, NULL, lines);
	hwtd_trace_close(trace);
}

/* From the start up to a call, and on behind it. */
static void
put_call(struct packets *p)
{
	put_sync(p);
	put_trace_on(p);
	put_context(p);
	put_address(p, BASE);
	put_stamp(p, 100);
	put_atom(p, 'E');
	put_stamp(p, 200);
	put_exception(p, 2, BASE + 0x10);
	put_trace_on(p);
	put_address(p, BASE + 0x10);
	put_stamp(p, 300);
}

static void
a_stamp_is_the_time_of_what_comes_before(void **state)
{
	struct packets p = { .n = 0 };

	(void)state;
	put_call(&p);
	put_atom(&p, 'N');
	put_context(&p);
	put_stamp(&p, 400);
	check(&etmv4, program, sizeof(program), &p, 1,
	    "context\n"
	    "~t=100 enable 10000\n"
	    "t=200 block 10000 2/8 conditional ->1000c taken a64 sec0\n"
	    "~t=200 block 1000c 1/4 far-call ->10010 a64 sec0\n"
	    "~t=200 async system-call number=2 return=10010 10010\n"
	    "~t=200 disable\n"
	    "~t=300 enable 10010 resumed\n"
	    "t=400 block 10010 2/8 conditional a64 sec0\n");
}

static void
without_a_clock_there_is_no_time(void **state)
{
	struct packets p = { .n = 0 };

	(void)state;
	put_call(&p);
	put_atom(&p, 'N');
	check(&etmv4, program, sizeof(program), &p, 0,
	    "context\n"
	    "enable 10000\n"
	    "block 10000 2/8 conditional ->1000c taken a64 sec0\n"
	    "block 1000c 1/4 far-call ->10010 a64 sec0\n"
	    "async system-call number=2 return=10010 10010\n"
	    "disable\n"
	    "enable 10010 resumed\n"
	    "block 10010 2/8 conditional a64 sec0\n");
}

/* What follows the block is looked for as far as there is room, and no further. */
static void
packets_without_a_row_may_be_many(void **state)
{
	static const struct {
		size_t n;
		bool is_found;
	} cases[] = { { 1, true }, { 100, true }, { 1900, true },
		{ 4200, false }, { 8000, false } };
	/* nop; b.eq +8; nop; svc 0; nop; b.eq +8; nop; b. */
	uint32_t code[8];

	(void)state;
	memcpy(code, program, sizeof(code));
	code[7] = 0x14000000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct packets p = { .n = 0 };

		put_call(&p);
		put_atom(&p, 'N');
		/* Event 0. */
		PUT(&p, 0x71);
		for (size_t k = 0; k < cases[i].n; k++)
			put_context(&p);
		put_atom(&p, 'E');
		check(&etmv4, code, sizeof(code), &p, 0,
		    cases[i].is_found
			? "context\n"
			  "enable 10000\n"
			  "block 10000 2/8 conditional ->1000c taken a64 "
			  "sec0\n"
			  "block 1000c 1/4 far-call ->10010 a64 sec0\n"
			  "async system-call number=2 return=10010 10010\n"
			  "disable\n"
			  "enable 10010 resumed\n"
			  "block 10010 2/8 conditional ->10018 a64 sec0\n"
			  "marker event 4:1\n"
			  "block 10018 2/8 jump ->1001c taken a64 sec0\n"
			: "context\n"
			  "enable 10000\n"
			  "block 10000 2/8 conditional ->1000c taken a64 "
			  "sec0\n"
			  "block 1000c 1/4 far-call ->10010 a64 sec0\n"
			  "async system-call number=2 return=10010 10010\n"
			  "disable\n"
			  "enable 10010 resumed\n"
			  "block 10010 2/8 conditional a64 sec0\n"
			  "marker event 4:1\n"
			  "block 10018 2/8 jump ->1001c taken a64 sec0\n");
	}
}

static void
an_interrupt_ends_tracing_before_an_instruction(void **state)
{
	struct packets p = { .n = 0 };

	(void)state;
	put_call(&p);
	put_atom(&p, 'N');
	put_exception(&p, 0xe, BASE + 0x18);
	put_trace_on(&p);
	put_address(&p, BASE + 0x1c);
	put_exception(&p, 0xe, BASE + 0x20);
	check(&etmv4, program, sizeof(program), &p, 0,
	    "context\n"
	    "enable 10000\n"
	    "block 10000 2/8 conditional ->1000c taken a64 sec0\n"
	    "block 1000c 1/4 far-call ->10010 a64 sec0\n"
	    "async system-call number=2 return=10010 10010\n"
	    "disable\n"
	    "enable 10010 resumed\n"
	    "block 10010 2/8 conditional ->10018 a64 sec0\n"
	    "async interrupt number=14 return=10018 10018\n"
	    "disable 10018 async\n"
	    "enable 1001c\n"
	    "block 1001c 1/4 ->10020 a64 sec0\n"
	    "async interrupt number=14 return=10020 10020\n");
}

static void
an_exception_goes_where_tracing_goes_on(void **state)
{
	struct packets p = { .n = 0 };

	(void)state;
	put_call(&p);
	put_exception(&p, 0xe, BASE + 0x10);
	put_address(&p, BASE);
	put_atom(&p, 'N');
	check(&etmv4, program, sizeof(program), &p, 0,
	    "context\n"
	    "enable 10000\n"
	    "block 10000 2/8 conditional ->1000c taken a64 sec0\n"
	    "block 1000c 1/4 far-call ->10010 a64 sec0\n"
	    "async system-call number=2 return=10010 10010\n"
	    "disable\n"
	    "enable 10010 resumed\n"
	    "async interrupt number=14 return=10010 10010 ->10000\n"
	    "block 10000 2/8 conditional a64 sec0\n");
}

/* The address of a call, from which nothing was taken before it. */
static void
a_range_does_not_follow_a_jump_in_its_middle(void **state)
{
	struct hwtd_coresight_config ete = etmv4;
	struct packets p = { .n = 0 };

	(void)state;
	ete.protocol = HWTD_CS_ETE;
	ete.devarch = 0x47705a13;
	ete.idr[1] = 0x4100fff3;
	put_sync(&p);
	put_trace_on(&p);
	put_context(&p);
	put_address(&p, BASE);
	/* Source Address, short, IS0. */
	PUT(&p, 0xb4, (BASE + 0x10) >> 2 & 0x7f);
	check(&ete, jumps, sizeof(jumps), &p, 0,
	    "context\n"
	    "enable 10000\n"
	    "block 10000 2/8 jump ->10008 a64 sec0\n"
	    "block 10008 3/12 far-call a64 sec0\n");
}

static void
a_protocol_that_is_not_known_is_a_gap(void **state)
{
	const struct hwtd_coresight_config unknown = { .size = sizeof(unknown),
		.protocol = HWTD_CS_UNKNOWN };
	struct packets p = { .n = 0 };

	(void)state;
	PUT(&p, 0, 0, 0, 0, 0, 0x80, 1, 2);
	check(&unknown, program, sizeof(program), &p, 0,
	    "gap unsupported [0,8) @0\n");
}

/*
 * Two images at one address, one after the other: of the first packet with an atom,
 * and of two more behind it.
 */
static void
check_change(const struct hwtd_coresight_config *config, const char *lines)
{
	/* nop; b.ne +8; nop; nop. */
	static const uint32_t newer[] = { 0xd503201f, 0x54000041, 0xd503201f,
		0xd503201f };

	for (uint64_t counts_per = 0; counts_per < 2; counts_per++) {
		struct hwtd_error err = { .size = sizeof(err) };
		const struct hwtd_stream_desc desc = { .size = sizeof(desc),
			.tech = HWTD_TECH_CORESIGHT,
			.cpu = HWTD_NO_ID,
			.pid = 1,
			.tid = 1,
			.coresight = config,
			.clock = { .counts_per = counts_per,
			    .ns_per = counts_per } };
		struct hwtd_trace *trace = mt_create();
		struct packets p = { .n = 0 };
		struct hwtd_record r;
		uint32_t stream;

		put_sync(&p);
		put_trace_on(&p);
		put_context(&p);
		put_address(&p, BASE);
		put_atom(&p, 'N');
		mr_mmap(trace, 1, BASE, 16,
		    mr_image(trace, "a", program, sizeof(program)));
		r = mr_record(HWTD_REC_MMAP, 1, BASE, 16);
		r.flags |= HWTD_RECF_FILE_OFF;
		r.image = mr_image(trace, "b", newer, sizeof(newer));
		assert_int_equal(hwtd_trace_add_stream(trace, &desc, &stream,
				     &err),
		    HWTD_OK);
		mr_place(&r, stream, p.n);
		mr_add(trace, &r);
		for (int i = 0; i < 2; i++) {
			put_address(&p, BASE);
			put_atom(&p, 'N');
		}
		if (config->idr[8] != 0)
			PUT(&p, 0x2d, 3);
		assert_int_equal(hwtd_trace_add_bytes(trace, stream, p.bytes,
				     p.n, &err),
		    HWTD_OK);
		mt_seal(trace);
		assert_rows(trace, NULL, lines);
		hwtd_trace_close(trace);
	}
}

/* Where code changes, a range of before waits for what comes behind it. */
static void
code_changes_between_packets(void **state)
{
	(void)state;
	check_change(&etmv4,
	    "context pid=1 tid=1\n"
	    "enable 10000\n"
	    "block 10000 2/8 conditional ->10000 taken a64 sec0\n"
	    "block 10000 2/8 conditional ->10000 taken a64 sec1\n"
	    "block 10000 2/8 conditional a64 sec1\n");
}

/* It is followed when it is committed, through code that it did not execute. */
static void
code_changes_before_it_is_committed(void **state)
{
	struct hwtd_coresight_config config = etmv4;

	(void)state;
	config.idr[8] = 8;
	check_change(&config,
	    "context pid=1 tid=1\n"
	    "enable 10000\n"
	    "gap bad-flow [1b,25) addr=10000 @25\n"
	    "enable 10000 status\n"
	    "block 10000 2/8 conditional ->10000 taken a64 sec1\n"
	    "block 10000 2/8 conditional a64 sec1\n");
}

/* The code of a machine is the section before its number. */
static void
assert_charged(struct hwtd_trace *trace)
{
	const struct hwtd_events_options plain = { .size = sizeof(plain) };
	struct mt_rows rows = { 0 };
	size_t blocks = 0;

	mt_rows(trace, &plain, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		struct hwtd_exec_context who = { .size = sizeof(who) };
		const struct hwtd_event *e = &rows.at[i].row;

		if (e->kind != HWTD_EV_BLOCK)
			continue;
		blocks++;
		assert_int_equal(hwtd_trace_exec_context(trace, e->context,
				     &who),
		    HWTD_OK);
		assert_int_equal(who.vmid, e->section + 1);
	}
	assert_int_equal(blocks, 4);
	mt_rows_free(&rows);
}

/* Rows of two virtual machines with code of their own at the same address. */
static void
check_machines(const struct hwtd_coresight_config *config, const char *lines,
    const struct packets *p)
{
	/* nop; b.ne +8; nop; nop. */
	static const uint32_t other[] = { 0xd503201f, 0x54000041, 0xd503201f,
		0xd503201f };

	for (uint64_t counts_per = 0; counts_per < 2; counts_per++) {
		const struct hwtd_stream_desc desc = { .size = sizeof(desc),
			.tech = HWTD_TECH_CORESIGHT,
			.cpu = HWTD_NO_ID,
			.pid = HWTD_NO_ID,
			.tid = HWTD_NO_ID,
			.coresight = config,
			.clock = { .counts_per = counts_per,
			    .ns_per = counts_per } };
		struct hwtd_trace *trace = mt_create();
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, HWTD_NO_ID,
		    BASE, 16);
		uint32_t stream;

		r.flags |= HWTD_RECF_FILE_OFF | HWTD_RECF_VMID;
		r.vmid = 1;
		r.image = mr_image(trace, "a", program, sizeof(program));
		mr_add(trace, &r);
		r.vmid = 2;
		r.image = mr_image(trace, "b", other, sizeof(other));
		mr_add(trace, &r);
		assert_int_equal(hwtd_trace_add_stream(trace, &desc, &stream,
				     NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_add_bytes(trace, stream, p->bytes,
				     p->n, NULL),
		    HWTD_OK);
		mt_seal(trace);
		assert_rows(trace, NULL, lines);
		assert_charged(trace);
		hwtd_trace_close(trace);
	}
}

/* Non-secure EL1, AArch64, of a virtual machine. */
static void
put_machine(struct packets *p, uint8_t vmid)
{
	PUT(p, 0x81, 0x71, vmid);
}

/*
 * What is executed before a context is of the old one, also where it is committed
 * only behind it.  (perf, "Fix decoding of context packets", 2026.)
 */
static void
code_is_that_of_the_context_it_ran_in(void **state)
{
	static const char
	    lines[] = "context\n"
		      "enable 10000\n"
		      "block 10000 2/8 conditional ->10000 taken a64 sec0\n"
		      "block 10000 2/8 conditional ->10000 taken a64 sec0\n"
		      "context\n"
		      "block 10000 2/8 conditional ->10000 taken a64 sec1\n"
		      "context\n"
		      "block 10000 2/8 conditional a64 sec0\n";
	struct hwtd_coresight_config config = etmv4;

	(void)state;
	config.configr |= 1u << 7;
	for (uint32_t depth = 0; depth < 9; depth += 8) {
		struct packets p = { .n = 0 };

		config.idr[8] = depth;
		put_sync(&p);
		put_trace_on(&p);
		put_machine(&p, 1);
		put_address(&p, BASE);
		put_atom(&p, 'N');
		put_address(&p, BASE);
		put_atom(&p, 'N');
		put_machine(&p, 2);
		put_address(&p, BASE);
		put_atom(&p, 'N');
		put_machine(&p, 1);
		put_address(&p, BASE);
		put_atom(&p, 'N');
		/* All four at once. */
		if (depth != 0)
			PUT(&p, 0x2d, 4);
		check_machines(&config, lines, &p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stamp_is_the_time_of_what_comes_before),
		cmocka_unit_test(without_a_clock_there_is_no_time),
		cmocka_unit_test(packets_without_a_row_may_be_many),
		cmocka_unit_test(
		    an_interrupt_ends_tracing_before_an_instruction),
		cmocka_unit_test(an_exception_goes_where_tracing_goes_on),
		cmocka_unit_test(a_range_does_not_follow_a_jump_in_its_middle),
		cmocka_unit_test(a_protocol_that_is_not_known_is_a_gap),
		cmocka_unit_test(code_changes_between_packets),
		cmocka_unit_test(code_changes_before_it_is_committed),
		cmocka_unit_test(code_is_that_of_the_context_it_ran_in),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
