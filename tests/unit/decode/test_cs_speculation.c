/*
 * What of an ETMv4 stream is not committed: packets that take back, commit or
 * correct what is not there are told from those that are right.
 *
 * Source: Arm Embedded Trace Macrocell Architecture Specification ETMv4 (IHI
 * 0064), "Speculation resolution".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "decode/coresight/cs_speculation.h"

/*
 * Packets, one letter each: e for one atom, E for three of them, x for an
 * exception, c for a context, a for an address, v for an event, o for Trace On,
 * s for a source address, q for a Q element; +N commits, -N cancels, ! corrects.
 */
static const struct {
	const char *name;
	uint32_t max_depth;
	const char *packets;
	uint8_t why;
	/* Elements that wait then. */
	size_t left;
} cases[] = {
	{ "atoms are committed at once", 0, "oaeEe", 0, 0 },
	{ "atoms wait", 8, "oaeEe", 0, 5 },
	{ "those above the depth are committed", 3, "oaeEe", 0, 2 },
	{ "an exception is whole with its address", 0, "oaxa", 0, 0 },
	{ "an exception is whole with a context and its address", 0, "oaxca",
	    0, 0 },
	{ "an exception without an address", 0, "oaxe",
	    HWTDI_CS_WHY_NO_ADDRESS, 0 },
	{ "an exception that is committed before its address", 8, "oax+1",
	    HWTDI_CS_WHY_NO_ADDRESS, 0 },
	{ "an event between an exception and its address", 0, "oaxva",
	    HWTDI_CS_WHY_NO_ADDRESS, 0 },
	{ "commit what there is", 8, "oaE+3", 0, 0 },
	{ "commit a part", 8, "oaE+2", 0, 1 },
	{ "commit too much", 8, "oaE+4", HWTDI_CS_WHY_COMMIT, 0 },
	{ "commit as much as a number can be", 8, "oaE+4294967295",
	    HWTDI_CS_WHY_COMMIT, 0 },
	{ "cancel what there is", 8, "oaEe-4", 0, 2 },
	{ "cancel too much", 8, "oaEe-5", HWTDI_CS_WHY_CANCEL, 0 },
	{ "cancel as much as a number can be", 8, "oae-4294967295",
	    HWTDI_CS_WHY_CANCEL, 0 },
	{ "events stay when atoms before them are cancelled", 8, "oaevave-3",
	    HWTDI_CS_WHY_CANCEL, 0 },
	{ "events stay, addresses do not", 8, "oaevave-2", 0, 4 },
	{ "source addresses are not cancelled", 8, "oase-2",
	    HWTDI_CS_WHY_CANCEL, 0 },
	{ "source addresses are committed", 8, "oase+2", 0, 0 },
	{ "a Q element takes the element behind it along", 8, "qve+1", 0, 1 },
	{ "correct the newest atom", 8, "oae!", 0, 3 },
	{ "nothing to correct", 8, "oa!", HWTDI_CS_WHY_MISPREDICT, 0 },
	{ "addresses behind the atom go", 8, "oaea!", 0, 3 },
	{ "addresses in the older half are not found again", 8, "aovvv!",
	    HWTDI_CS_WHY_MISPREDICT, 0 },
	{ "an address before other elements", 8, "eavvv!",
	    HWTDI_CS_WHY_MISPREDICT, 0 },
};

static struct hwtd_context *
make_context(void)
{
	struct hwtd_context *ctx = NULL;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

static uint8_t
see(struct hwtdi_cs_speculation *s, const char **at)
{
	static const char letters[] = "eExcavosq";
	static const uint8_t kinds[] = { HWTDI_CS_PENDING_ATOM,
		HWTDI_CS_PENDING_ATOM, HWTDI_CS_PENDING_EXCEPTION,
		HWTDI_CS_PENDING_CONTEXT, HWTDI_CS_PENDING_ADDRESS,
		HWTDI_CS_PENDING_KEPT, HWTDI_CS_PENDING_OTHER,
		HWTDI_CS_PENDING_SOURCE, HWTDI_CS_PENDING_Q };
	struct hwtdi_cs_resolution what = { 0 };
	const char letter = *(*at)++;
	const char *known = strchr(letters, letter);
	char *end = NULL;

	if (known != NULL) {
		hwtdi_cs_speculation_put(s, kinds[known - letters],
		    letter == 'E' ? 3 : 1);
	} else if (letter == '!') {
		what.mispredict = true;
	} else {
		const uint32_t n = (uint32_t)strtoul(*at, &end, 10);

		*at = end;
		if (letter == '+')
			what.commit = n;
		else
			what.cancel = n;
	}
	return (hwtdi_cs_speculation_resolve(s, &what));
}

static void
packets_that_library_cannot_take_are_told(void **state)
{
	struct hwtd_context *library = make_context();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_cs_speculation s;
		const char *at = cases[i].packets;
		uint8_t why = HWTDI_CS_WHY_NOTHING;

		print_message("case %s\n", cases[i].name);
		hwtdi_cs_speculation_init(&s, library, cases[i].max_depth);
		hwtdi_cs_speculation_begin(&s, 0);
		while (*at != '\0' && why == HWTDI_CS_WHY_NOTHING)
			why = see(&s, &at);
		assert_int_equal(why, cases[i].why);
		if (why == HWTDI_CS_WHY_NOTHING)
			assert_int_equal(s.n - s.first, cases[i].left);
		assert_false(s.failed);
		hwtdi_cs_speculation_fini(&s);
	}
	hwtd_context_destroy(library);
}

/* Packets as above, and which one of them is the first that is lost. */
static void
what_waits_is_lost_with_a_packet_that_is_not_seen(void **state)
{
	static const struct {
		const char *packets;
		uint32_t max_depth;
		uint64_t lost;
	} lost[] = {
		/* Addresses alone make no rows. */
		{ "oa!", 8, 2 },
		{ "oaE+4", 8, 2 },
		{ "oavE+4", 8, 2 },
		{ "oaE+3a-1", 8, 5 },
		/* Of a packet some atoms are committed. */
		{ "oaE+2-2", 8, 4 },
		{ "oaE+2e-3", 8, 4 },
		{ "oaE+2+2", 8, 4 },
		/* Events stay where they were. */
		{ "oaevev-1-9", 8, 2 },
		{ "oaevev-2-9", 8, 3 },
		/* An exception whose address does not come. */
		{ "oaxe", 0, 2 },
		{ "oaexee", 1, 3 },
	};
	struct hwtd_context *library = make_context();

	(void)state;
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		struct hwtdi_cs_speculation s;
		const char *at = lost[i].packets;
		uint8_t why = HWTDI_CS_WHY_NOTHING;

		print_message("case %s\n", at);
		hwtdi_cs_speculation_init(&s, library, 8);
		hwtdi_cs_speculation_begin(&s, 0);
		/* More than is kept in one piece, all committed. */
		for (int k = 0; k < 1000; k++) {
			const char *before = "Eave+4";

			hwtdi_cs_speculation_packet(&s, 0);
			while (*before != '\0')
				assert_int_equal(see(&s, &before),
				    HWTDI_CS_WHY_NOTHING);
		}
		s.max_depth = lost[i].max_depth;
		for (uint64_t n = 0; why == HWTDI_CS_WHY_NOTHING; n++) {
			assert_true(*at != '\0');
			hwtdi_cs_speculation_packet(&s, n);
			why = see(&s, &at);
		}
		assert_true(*at == '\0');
		assert_int_equal(hwtdi_cs_speculation_lost(&s), lost[i].lost);
		hwtdi_cs_speculation_fini(&s);
	}
	hwtd_context_destroy(library);
}

/* Many elements through a list that stays short. */
static void
what_is_committed_takes_no_memory(void **state)
{
	struct hwtd_context *library = make_context();
	struct hwtdi_cs_speculation s;
	const struct hwtdi_cs_resolution none = { 0 };

	(void)state;
	hwtdi_cs_speculation_init(&s, library, 4);
	hwtdi_cs_speculation_begin(&s, 0);
	for (unsigned int i = 0; i < 100000; i++) {
		hwtdi_cs_speculation_put(&s,
		    i % 3 == 0 ? HWTDI_CS_PENDING_KEPT : HWTDI_CS_PENDING_ATOM,
		    1);
		assert_int_equal(hwtdi_cs_speculation_resolve(&s, &none),
		    HWTDI_CS_WHY_NOTHING);
	}
	assert_in_range(s.cap, 1, 1024);
	hwtdi_cs_speculation_fini(&s);
	hwtd_context_destroy(library);
}

static void
what_nothing_commits_has_a_limit(void **state)
{
	struct hwtd_context *library = make_context();
	struct hwtdi_cs_speculation s;
	const struct hwtdi_cs_resolution none = { 0 };
	uint8_t why = HWTDI_CS_WHY_NOTHING;
	unsigned int n = 0;

	(void)state;
	hwtdi_cs_speculation_init(&s, library, 4);
	hwtdi_cs_speculation_begin(&s, 0);
	for (; why == HWTDI_CS_WHY_NOTHING; n++) {
		hwtdi_cs_speculation_put(&s, HWTDI_CS_PENDING_KEPT, 0);
		why = hwtdi_cs_speculation_resolve(&s, &none);
	}
	assert_int_equal(why, HWTDI_CS_WHY_LIMIT);
	assert_int_equal(n, HWTDI_CS_PENDING_MAX + 1);
	hwtdi_cs_speculation_fini(&s);
	hwtd_context_destroy(library);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_that_library_cannot_take_are_told),
		cmocka_unit_test(
		    what_waits_is_lost_with_a_packet_that_is_not_seen),
		cmocka_unit_test(what_is_committed_takes_no_memory),
		cmocka_unit_test(what_nothing_commits_has_a_limit),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
