/*
 * Streams that OpenCSD cannot take, as rows: what is before the packet is decoded,
 * there is a gap, and decoding goes on at the next synchronisation.
 *
 * Each of those of ETMv4 made 1.3.3 read memory that it had freed or never had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x10000u

/* nop; b.eq +8; nop; ret; nop; b.eq +8; nop; nop. */
static const uint32_t program[] = { 0xd503201f, 0x54000040, 0xd503201f,
	0xd65f03c0, 0xd503201f, 0x54000040, 0xd503201f, 0xd503201f };

/* Of an ETMv4.4: a return stack; 8 elements may wait; Q elements. */
static const struct hwtd_coresight_config returns = {
	.size = sizeof(returns),
	.protocol = HWTD_CS_ETMV4,
	.profile = HWTD_ARM_PROFILE_A,
	.configr = 0x1001,
	.idr = { 0x28000ea1, 0x4100f443, 0x10000488 },
};
static const struct hwtd_coresight_config waits = {
	.size = sizeof(waits),
	.protocol = HWTD_CS_ETMV4,
	.profile = HWTD_ARM_PROFILE_A,
	.configr = 0x1,
	.idr = { 0x28000ea1, 0x4100f443, 0x10000488, 0, 0, 0, 0, 0, 8 },
};
static const struct hwtd_coresight_config q_elements = {
	.size = sizeof(q_elements),
	.protocol = HWTD_CS_ETMV4,
	.profile = HWTD_ARM_PROFILE_A,
	.configr = 0x1,
	.idr = { 0x28018ea1, 0x4100f443, 0x10000488 },
};
static const struct hwtd_coresight_config etmv3 = {
	.size = sizeof(etmv3),
	.protocol = HWTD_CS_ETMV3,
	.etmcr = 0x10001000,
	.etmidr = 0x4114f250,
	.etmccer = 0x344008f2,
};
static const struct hwtd_coresight_config ptm = {
	.size = sizeof(ptm),
	.protocol = HWTD_CS_PTM,
	.etmcr = 0x10000000,
	.etmidr = 0x411cf312,
	.etmccer = 0x34c01ac2,
};

struct stream {
	uint8_t *bytes;
	size_t n;
};

static void
put(struct stream *s, const void *bytes, size_t n)
{
	s->bytes = realloc(s->bytes, s->n + n);
	assert_non_null(s->bytes);
	memcpy(s->bytes + s->n, bytes, n);
	s->n += n;
}

static void
put_zeros(struct stream *s, size_t n)
{
	s->bytes = realloc(s->bytes, s->n + n);
	assert_non_null(s->bytes);
	memset(s->bytes + s->n, 0, n);
	s->n += n;
}

#define PUT(s, ...)                                                           \
	put(s, (const uint8_t[]){ __VA_ARGS__ },                              \
	    sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* A-sync, Trace Info, Trace On, context and the address of the program. */
static void
put_start(struct stream *s)
{
	PUT(s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00, 0x04,
	    0x81, 0x30, 0x9d, 0, 0, 0x01, 0, 0, 0, 0, 0);
}

static struct hwtd_trace *
make_trace(const struct hwtd_coresight_config *config, const void *code,
    size_t n_code, uint64_t base, struct stream *s)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.coresight = config };
	struct hwtd_trace *trace = mt_create();
	uint32_t stream;

	(void)mt_code(trace, base, code, n_code);
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &stream, &err),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, stream, s->bytes, s->n,
			     &err),
	    HWTD_OK);
	free(s->bytes);
	return (mt_seal(trace));
}

/* `n` bytes behind a start and one atom, and then a start and an atom again. */
static void
check(const struct hwtd_coresight_config *config, const uint8_t *bytes,
    size_t n, const char *lines)
{
	struct stream s = { 0 };
	struct hwtd_trace *trace;

	put_start(&s);
	put(&s, bytes, n);
	put_start(&s);
	PUT(&s, 0xf6);
	/* All is committed. */
	if (config == &waits)
		PUT(&s, 0x2d, 0x01);
	trace = make_trace(config, program, sizeof(program), BASE, &s);
	assert_rows(trace, NULL, lines);
	hwtd_trace_close(trace);
}

#define CHECK(config, lines, ...)                                             \
	check(config, (const uint8_t[]){ __VA_ARGS__ },                       \
	    sizeof((const uint8_t[]){ __VA_ARGS__ }), lines)

#define FIRST "context\n" AGAIN
#define ONE_BLOCK                                                             \
	"context\n"                                                           \
	"enable 10000\n"                                                      \
	"block 10000 2/8 conditional ->10008 a64 sec0\n"
#define AGAIN                                                                 \
	"enable 10000\n"                                                      \
	"block 10000 2/8 conditional a64 sec0\n"

static void
a_return_without_a_call_is_a_gap(void **state)
{
	(void)state;
	/* At the ret, and one more atom where no address came. */
	CHECK(&returns,
	    ONE_BLOCK "block 10008 2/8 return a64 sec0\n"
		      "gap bad-packet [1d,1e) before=1000c @2d\n" AGAIN,
	    0xf6, 0xf7, 0xf7);
}

static void
an_exception_without_its_address_is_a_gap(void **state)
{
	(void)state;
	CHECK(&returns,
	    FIRST "gap bad-packet [1c,1f) before=10004 @2e\n" AGAIN, 0xf6,
	    0x06, 0x05, 0xf6);
	CHECK(&waits,
	    "gap bad-packet [1b,20) @2f\n"
	    "context\n" AGAIN,
	    0xf6, 0x06, 0x05, 0x2d, 0x02);
}

static void
what_is_not_there_cannot_be_resolved(void **state)
{
	(void)state;
	CHECK(&waits,
	    "gap bad-packet [1b,1e) @2d\n"
	    "context\n" AGAIN,
	    0xf6, 0x2d, 0x05);
	CHECK(&waits,
	    "gap bad-packet [1b,22) @31\n"
	    "context\n" AGAIN,
	    0xf6, 0x2e, 0xff, 0xff, 0xff, 0xff, 0x0f);
	CHECK(&waits,
	    "gap bad-packet [1d,1e) @2d\n"
	    "context\n" AGAIN,
	    0x95, 0x00, 0x30);
}

static void
a_q_element_takes_the_address_behind_it(void **state)
{
	(void)state;
	CHECK(&q_elements,
	    "context\n"
	    "enable 10000\n"
	    "block 10000 0/0 unknown ->10010 a64\n"
	    "block 10010 2/8 conditional a64 sec0\n"
	    "disable\n" AGAIN,
	    0xaf, 0x9d, 0x04, 0, 0x01, 0, 0, 0, 0, 0, 0xf6);
	CHECK(&q_elements,
	    "gap unsupported [1b,26) @35\n"
	    "context\n" AGAIN,
	    0xaf, 0x9d, 0x04, 0, 0x01, 0, 0, 0x40, 0, 0, 0xf6);
}

static void
a_packet_without_an_end_is_a_gap(void **state)
{
	struct stream s = { 0 };
	uint8_t bytes[500];
	struct hwtd_trace *trace;

	(void)state;
	memset(bytes, 0x81, sizeof(bytes));
	bytes[0] = 0x01;
	check(&returns, bytes, sizeof(bytes),
	    "gap bad-packet [1b,20f) @21e\n"
	    "context\n" AGAIN);
	/* ETMv3: a branch whose address goes on. */
	PUT(&s, 0, 0, 0, 0, 0, 0x80, 0x08, 0x28, 0, 0, 1, 0, 0x84);
	bytes[0] = 0x81;
	put(&s, bytes, sizeof(bytes));
	trace = make_trace(&etmv3, program, sizeof(program), BASE, &s);
	assert_rows(trace, NULL,
	    "context\n"
	    "gap bad-packet [d,201) @d\n");
	hwtd_trace_close(trace);
}

static void
code_at_the_end_of_the_address_space_is_not_read(void **state)
{
	(void)state;
	CHECK(&returns,
	    FIRST "gap no-code [25,35) before=10004 addr=fffffffffffffffc "
		  "@35\n" AGAIN,
	    0xf6, 0x9d, 0x7f, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf7);
}

static void
registers_that_cannot_be_are_a_gap(void **state)
{
	struct hwtd_coresight_config c = returns;
	struct stream s = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	c.idr[8] = UINT32_MAX;
	CHECK(&c, "gap unsupported [0,38) @0\n", 0xf6);
	/* Data trace: OpenCSD refuses it without saying so. */
	c = etmv3;
	c.etmcr = 0x0c;
	PUT(&s, 0, 0, 0, 0, 0, 0x80);
	trace = make_trace(&c, program, sizeof(program), BASE, &s);
	assert_rows(trace, NULL, "gap unsupported [0,6) @0\n");
	hwtd_trace_close(trace);
}

static void
jazelle_code_is_a_gap(void **state)
{
	struct stream s = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	PUT(&s, 0, 0, 0, 0, 0, 0x80, 0x08, 0x38, 0, 0, 1, 0, 0x84);
	trace = make_trace(&etmv3, program, sizeof(program), BASE, &s);
	assert_rows(trace, NULL,
	    "context\n"
	    "gap unsupported [c,d) @c\n");
	hwtd_trace_close(trace);
}

/* 4 MiB of them, and the synchronisation at their end is seen. */
static void
zeros_before_a_synchronisation_take_no_time(void **state)
{
	/* mov r0, r0; bx lr */
	static const uint32_t code[] = { 0xe1a00000, 0xe12fff1e };
	struct stream s = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	put_zeros(&s, (size_t)4 << 20);
	PUT(&s, 0x80, 0x08, 0, 0, 1, 0, 0x28, 0x86);
	trace = make_trace(&ptm, code, sizeof(code), BASE, &s);
	assert_rows(trace, NULL,
	    "gap unsynced [0,3ffffb) @400001\n"
	    "context\n"
	    "enable 10000\n"
	    "block 10000 2/8 return a32 sec0\n");
	hwtd_trace_close(trace);
}

/* 1 MiB of nop: an atom leads over what can be followed. */
static void
code_without_a_branch_has_a_limit(void **state)
{
	const size_t n = (size_t)1 << 18;
	uint32_t *code = calloc(n, sizeof(*code));
	struct stream s = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	assert_non_null(code);
	for (size_t i = 0; i < n; i++)
		code[i] = 0xd503201f;
	put_start(&s);
	PUT(&s, 0xf6, 0xf6);
	trace = make_trace(&returns, code, n * sizeof(*code), BASE, &s);
	free(code);
	assert_rows(trace, NULL,
	    "context\n"
	    "enable 10000\n"
	    "block 10000 65536/262144 a64 sec0\n"
	    "gap limit [1b,1d) before=4fffc addr=50000 @1c\n");
	hwtd_trace_close(trace);
}

static void
what_nothing_commits_is_a_gap(void **state)
{
	struct stream s = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	put_start(&s);
	for (unsigned int i = 0; i < 70000; i++)
		PUT(&s, 0x71);
	trace = make_trace(&returns, program, sizeof(program), BASE, &s);
	assert_rows(trace, NULL, "gap limit [1b,1118b) @10017\n");
	hwtd_trace_close(trace);
}

/* A misprediction and a Cancel packet of too much, again and again. */
static void
what_is_refused_again_and_again_takes_no_memory(void **state)
{
	const unsigned int rounds = getenv("HWTDECODE_TEST_SMALL") != NULL
	    ? 2000
	    : 100000;
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.coresight = &waits };
	const struct hwtd_events_options plain = { .size = sizeof(plain) };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_context *ctx = NULL;
	struct stream s = { 0 };
	struct mt_rows rows = { 0 };
	struct hwtd_events *ev;
	struct hwtd_trace *trace;
	uint64_t before = 0, peak = 0;
	uint32_t stream = 0;

	(void)state;
	put_start(&s);
	/* E, N, the other way, 6 of the two, an address, and no more. */
	PUT(&s, 0xf7, 0xf6, 0x30, 0x2e, 0x06, 0x95, 0x00);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	trace = mt_create_in(ctx);
	(void)mt_code(trace, BASE, program, sizeof(program));
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &stream, NULL),
	    HWTD_OK);
	for (unsigned int i = 0; i < rounds; i++)
		assert_int_equal(hwtd_trace_add_bytes(trace, stream, s.bytes,
				     s.n, NULL),
		    HWTD_OK);
	mt_seal(trace);
	hwtd_context_memory(ctx, &before, NULL);
	ev = mt_events(trace, &plain);
	do {
		mt_rows_free(&rows);
		memset(&rows, 0, sizeof(rows));
		mt_read_some(ev, 1000, &rows);
	} while (rows.n > 0);
	hwtd_events_stats(ev, &stats);
	hwtd_context_memory(ctx, NULL, &peak);
	assert_int_equal(stats.gaps[HWTD_GAP_BAD_PACKET], rounds);
	assert_true(peak < before + ((uint64_t)4 << 20));
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	free(s.bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_without_a_call_is_a_gap),
		cmocka_unit_test(an_exception_without_its_address_is_a_gap),
		cmocka_unit_test(what_is_not_there_cannot_be_resolved),
		cmocka_unit_test(a_q_element_takes_the_address_behind_it),
		cmocka_unit_test(a_packet_without_an_end_is_a_gap),
		cmocka_unit_test(
		    code_at_the_end_of_the_address_space_is_not_read),
		cmocka_unit_test(registers_that_cannot_be_are_a_gap),
		cmocka_unit_test(jazelle_code_is_a_gap),
		cmocka_unit_test(zeros_before_a_synchronisation_take_no_time),
		cmocka_unit_test(code_without_a_branch_has_a_limit),
		cmocka_unit_test(what_nothing_commits_is_a_gap),
		cmocka_unit_test(
		    what_is_refused_again_and_again_takes_no_memory),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
