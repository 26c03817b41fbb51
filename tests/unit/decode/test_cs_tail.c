/*
 * The packet that the end of a stream cuts off: streams whose packets are known,
 * cut behind every byte.
 *
 * Source: ETMv4 (IHI 0064), "Trace packets"; STM (IHI 0054), "STPv2 packets";
 * PFT (IHI 0035), "Program flow packets".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/coresight/cs_tail.h"

#define OFF 0x100000000u

/* Where packets begin, in halves of bytes; the last is the end. */
struct stream {
	struct hwtd_coresight_config config;
	uint8_t bytes[64];
	size_t n;
	uint8_t starts[16];
	size_t n_starts;
};

static const struct stream streams[] = {
	/* A-Sync, Trace Info, Trace On, address with context, atoms, stamp. */
	{ { .size = sizeof(struct hwtd_coresight_config),
	      .protocol = HWTD_CS_ETMV4,
	      .profile = HWTD_ARM_PROFILE_A,
	      .trace_id = 0x10,
	      .configr = 0x801,
	      .idr = { 0x28000ea1, 0x4100f443, 0x10000488 } },
	    { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00, 0x04,
		0x85, 0x00, 0x08, 0, 0x80, 0, 0, 0, 0, 0x30, 0xf7, 0x02, 0x83,
		0x01, 0xf7 },
	    31, { 0, 24, 30, 32, 52, 54, 60, 62 }, 8 },
	/* The same of ETE. */
	{ { .size = sizeof(struct hwtd_coresight_config),
	      .protocol = HWTD_CS_ETE,
	      .profile = HWTD_ARM_PROFILE_A,
	      .trace_id = 0x10,
	      .configr = 0x801,
	      .devarch = 0x47715a13,
	      .idr = { 0x28000ea1, 0x4100fff3, 0x10000488 } },
	    { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00, 0x04,
		0x85, 0x00, 0x08, 0, 0x80, 0, 0, 0, 0, 0x30, 0xf7, 0x02, 0x83,
		0x01, 0xf7 },
	    31, { 0, 24, 30, 32, 52, 54, 60, 62 }, 8 },
	/* ASYNC, VERSION 3, M8 1, D8 of 41, D16 of 1234, NULL. */
	{ { .size = sizeof(struct hwtd_coresight_config),
	      .protocol = HWTD_CS_STM,
	      .trace_id = 0x20,
	      .stmtcsr = 1 },
	    { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f,
		0x0f, 0x30, 0x01, 0x41, 0x14, 0x15, 0x32, 0x04 },
	    19, { 0, 22, 26, 29, 32, 37, 38 }, 7 },
	/* A-Sync, I-Sync, branch of two bytes. */
	{ { .size = sizeof(struct hwtd_coresight_config),
	      .protocol = HWTD_CS_PTM,
	      .trace_id = 0x10,
	      .etmcr = 0,
	      .etmidr = 0x411cf312,
	      .etmccer = 0x34c01ac2 },
	    { 0, 0, 0, 0, 0, 0x80, 0x08, 0x00, 0x80, 0x00, 0x00, 0x21 }, 12,
	    { 0, 12, 24 }, 3 },
};

/* The packet that a cut behind so many bytes goes through, or n_starts. */
static size_t
find_cut(const struct stream *s, size_t n)
{
	for (size_t i = 0; i + 1 < s->n_starts; i++)
		if (2 * n > s->starts[i] && 2 * n < s->starts[i + 1])
			return (i);
	return (s->n_starts);
}

static void
every_cut_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		const struct stream *s = &streams[i];
		struct hwtdi_cs_tail tail;
		struct hwtd_context *ctx;

		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		hwtdi_cs_tail_init(&tail, ctx, &s->config);
		for (size_t n = 0; n <= s->n; n++) {
			struct hwtd_error err = { .size = sizeof(err) };
			const size_t cut = find_cut(s, n);

			print_message("stream %zu, %zu bytes\n", i, n);
			if (hwtdi_cs_tail_look(&tail, OFF, s->bytes, n, n,
				&err) != HWTD_OK)
				fail_msg("%s", err.message);
			/* Without a synchronisation nothing is cut off. */
			assert_int_equal(tail.cut,
			    cut != s->n_starts && cut != 0);
			/* A byte that it shares is that of the one before. */
			if (tail.cut)
				assert_int_equal(tail.off,
				    OFF + (s->starts[cut] + 1) / 2);
		}
		hwtdi_cs_tail_fini(&tail);
		hwtd_context_destroy(ctx);
	}
}

/* Far more than is looked at at first, with its only synchronisation in front. */
static void
synchronisation_may_be_far_away(void **state)
{
	const struct stream *s = &streams[0];
	const size_t n = 100000;
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t *bytes = malloc(n + 2);
	struct hwtdi_cs_tail tail;
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	memset(bytes, 0xf7, n);
	memcpy(bytes, s->bytes, s->n);
	bytes[n] = 0x9d;
	bytes[n + 1] = 0x01;
	hwtdi_cs_tail_init(&tail, ctx, &s->config);
	assert_int_equal(hwtdi_cs_tail_look(&tail, 0, bytes, n, n, &err),
	    HWTD_OK);
	assert_false(tail.cut);
	assert_int_equal(hwtdi_cs_tail_look(&tail, 0, bytes, n + 2, n + 2,
			     &err),
	    HWTD_OK);
	assert_true(tail.cut);
	assert_int_equal(tail.off, n);
	hwtdi_cs_tail_fini(&tail);
	hwtd_context_destroy(ctx);
	free(bytes);
}

/* An exception with where it returns to, and where its handler is. */
static size_t
put_exception(uint8_t *to, uint32_t handler)
{
	const uint8_t bytes[] = { 0x06, 0x05, 0x9d, 0x00, 0x00, 0x01, 0, 0, 0,
		0, 0, 0x9d, handler >> 2 & 0x7f, handler >> 9 & 0x7f,
		handler >> 16 & 0xff, handler >> 24 & 0xff, 0, 0, 0, 0 };

	memcpy(to, bytes, sizeof(bytes));
	return (sizeof(bytes));
}

/* With one synchronisation in front each of them is read but once. */
static void
addresses_of_many_places_are_found(void **state)
{
	enum {
		MANY = 100000,
		EACH = 20
	};
	const struct stream *s = &streams[0];
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t *bytes = malloc(64 + (size_t)MANY * EACH);
	size_t n = 16;
	struct hwtdi_cs_tail tail;
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	memcpy(bytes, s->bytes, n);
	for (uint32_t i = 0; i < MANY; i++)
		n += put_exception(bytes + n, 0x20000 + 4 * i);
	hwtdi_cs_tail_init(&tail, ctx, &s->config);
	for (uint32_t i = 0; i < MANY; i++) {
		const size_t from = 16 + (size_t)EACH * i;

		assert_int_equal(hwtdi_cs_tail_addresses(&tail, OFF, bytes,
				     from + EACH, from, &err),
		    HWTD_OK);
		assert_int_equal(tail.n_addresses, 2);
		assert_int_equal(tail.address, 0x20000 + 4 * i);
	}
	/* Also behind other looks, and when it is asked for again. */
	assert_int_equal(hwtdi_cs_tail_look(&tail, OFF, bytes, n, n, &err),
	    HWTD_OK);
	assert_false(tail.cut || tail.bad);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hwtdi_cs_tail_addresses(&tail, OFF, bytes,
				     16 + 3 * EACH, 16 + 2 * EACH, &err),
		    HWTD_OK);
		assert_int_equal(tail.n_addresses, 2);
		assert_int_equal(tail.address, 0x20008);
	}
	hwtdi_cs_tail_fini(&tail);
	hwtd_context_destroy(ctx);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cut_is_found),
		cmocka_unit_test(synchronisation_may_be_far_away),
		cmocka_unit_test(addresses_of_many_places_are_found),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
