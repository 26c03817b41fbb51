/*
 * Which of several mappings is taken, by what trials with each of them say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_choice.h"

#define MAX 3

/* What comes out of a trial with a section. */
struct outcome {
	bool lost, doubted;
	size_t lost_at, doubt_at;
	uint32_t reason;
	int rc;
};

/* Sections 10, 11, ... could lie there, in this order. */
struct hwtdi_decoder {
	struct hwtd_context *library;
	size_t n;
	struct outcome outcomes[MAX];
	/* What is behind the last one. */
	int end;
	/* So many times what is asked contradicts what was known. */
	unsigned int contradictions;

	/* What was tried. */
	size_t n_tried;
	uint32_t tried[MAX];
	size_t until;
	struct hwtdi_pt_choice choice;
};

static int
setup(void **state)
{
	struct hwtdi_decoder *d = calloc(1, sizeof(*d));

	if (d == NULL || hwtd_context_create(NULL, &d->library, NULL) != 0)
		return (-1);
	d->end = HWTD_E_NOT_FOUND;
	*state = d;
	return (0);
}

static int
teardown(void **state)
{
	struct hwtdi_decoder *d = *state;
	uint64_t now = 1;

	hwtd_context_memory(d->library, &now, NULL);
	hwtd_context_destroy(d->library);
	free(d);
	return (now == 0 ? 0 : -1);
}

static int
find(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	struct hwtdi_decoder *d = arg;
	uint32_t no = query->choice;

	if (d->contradictions != 0 && query->moments.space != HWTD_NO_ID) {
		d->contradictions--;
		return (HWTD_E_STATE);
	}
	memset(out, 0, sizeof(*out));
	out->address = address;
	out->length = 1;
	out->moments.space = 5;
	out->moments.until = 77;
	for (size_t i = 0; i < query->n_chosen; i++)
		if (query->chosen[i] >= 10 && query->chosen[i] - 10 < d->n) {
			out->section = query->chosen[i];
			return (HWTD_OK);
		}
	if (no >= d->n)
		return (d->end);
	out->section = 10 + no;
	return (d->n == 1 ? HWTD_OK : HWTD_END);
}

static int
try_out(struct hwtdi_decoder *d, size_t until, struct hwtdi_flow *flow,
    struct hwtdi_pt_choice *choice)
{
	const uint32_t section = choice->chosen[choice->n_chosen - 1];
	const struct outcome *o = &d->outcomes[section - 10];

	assert_true(choice->trial);
	assert_int_equal(choice->question, 100);
	assert_int_equal(choice->n_chosen, d->choice.n_chosen + 1);
	assert_int_equal(flow->n_tokens, 0);
	d->until = until;
	d->tried[d->n_tried++] = section;
	if (o->lost)
		hwtdi_pt_choice_lost(choice, o->lost_at, o->reason);
	choice->doubted = o->doubted;
	choice->doubt_at = o->doubt_at;
	return (o->rc);
}

static int
ask(struct hwtdi_decoder *d, uint64_t ip, struct hwtdi_code_span *span)
{
	const struct hwtdi_code_source code = { .find = find, .arg = d };
	const struct hwtdi_pt_asker asker = { .library = d->library,
		.code = &code,
		.choice = &d->choice,
		.at = 100,
		.try_out = try_out,
		.decoder = d };
	struct hwtdi_code_query query = { .moments = d->choice.moments,
		.chosen = d->choice.chosen,
		.n_chosen = d->choice.n_chosen };

	return (hwtdi_pt_find_code(&asker, &query, ip, span));
}

static void
what_alone_lies_there_is_not_tried(void **state)
{
	struct hwtdi_decoder *d = *state;
	struct hwtdi_code_span span;

	d->n = 1;
	assert_int_equal(ask(d, 0x1000, &span), HWTD_OK);
	assert_int_equal(span.section, 10);
	assert_int_equal(d->n_tried, 0);
	assert_int_equal(d->choice.n_chosen, 0);
	assert_int_equal(d->choice.moments.space, 5);
	assert_int_equal(d->choice.moments.until, 77);
	/* The kernel can start another program. */
	assert_int_equal(ask(d, (uint64_t)1 << 63, &span), HWTD_OK);
	assert_true(d->choice.moments.until == UINT64_MAX);
}

static void
the_first_that_fits_is_taken_and_remembered(void **state)
{
	struct hwtdi_decoder *d = *state;
	struct hwtdi_code_span span;

	d->n = 3;
	d->outcomes[0] = (struct outcome){ .lost = true,
		.lost_at = 120,
		.reason = HWTD_GAP_BAD_FLOW };
	/* Far enough behind the place that it is about. */
	d->outcomes[1] = (struct outcome){ .lost = true,
		.lost_at = 164,
		.reason = HWTD_GAP_BAD_FLOW };
	assert_int_equal(ask(d, 0x1000, &span), HWTD_OK);
	assert_int_equal(span.section, 11);
	assert_int_equal(d->n_tried, 2);
	assert_int_equal(d->until, 164);
	assert_int_equal(d->choice.n_chosen, 1);
	assert_int_equal(d->choice.chosen[0], 11);
	assert_false(d->choice.trial);
	assert_int_equal(ask(d, 0x2000, &span), HWTD_OK);
	assert_int_equal(span.section, 11);
	assert_int_equal(d->n_tried, 2);
	hwtdi_pt_choice_begin(&d->choice);
	assert_int_equal(d->choice.n_chosen, 0);
	assert_int_equal(d->choice.moments.space, HWTD_NO_ID);
}

static void
else_it_is_the_one_that_got_furthest(void **state)
{
	struct hwtdi_decoder *d = *state;
	struct hwtdi_code_span span;

	d->n = 3;
	d->outcomes[0] = (struct outcome){ .lost = true,
		.lost_at = 110,
		.reason = HWTD_GAP_NO_CODE };
	d->outcomes[1] = (struct outcome){ .lost = true,
		.lost_at = 163,
		.reason = HWTD_GAP_BAD_FLOW,
		.doubted = true,
		.doubt_at = 130 };
	d->outcomes[2] = (struct outcome){ .lost = true,
		.lost_at = 120,
		.reason = HWTD_GAP_TRUNCATED };
	assert_int_equal(ask(d, 0x1000, &span), HWTD_OK);
	assert_int_equal(span.section, 11);
	assert_int_equal(d->n_tried, 3);
}

static void
none_is_taken_that_contradicts_packets(void **state)
{
	struct hwtdi_decoder *d = *state;
	struct hwtdi_code_span span;

	d->n = 2;
	d->outcomes[0] = (struct outcome){ .lost = true,
		.lost_at = 163,
		.reason = HWTD_GAP_BAD_CODE };
	d->outcomes[1] = (struct outcome){ .rc = HWTD_E_NOMEM };
	assert_int_equal(ask(d, 0x1000, &span), HWTD_E_STATE);
	assert_int_equal(d->n_tried, 2);
	assert_int_equal(d->choice.n_chosen, 0);
	/* Behind them is one whose bytes are missing. */
	d->n_tried = 0;
	d->end = HWTD_E_UNSUPPORTED;
	assert_int_equal(ask(d, 0x1000, &span), HWTD_E_UNSUPPORTED);
}

static void
only_so_many_are_remembered(void **state)
{
	struct hwtdi_decoder *d = *state;
	struct hwtdi_code_span span;

	d->n = 2;
	d->choice.n_chosen = HWTDI_PT_CHOICES;
	assert_int_equal(ask(d, 0x1000, &span), HWTD_E_STATE);
	assert_int_equal(d->n_tried, 0);
}

static void
a_trial_takes_the_newest_and_notes_the_doubt(void **state)
{
	struct hwtdi_decoder *d = *state;
	struct hwtdi_code_span span;

	d->n = 2;
	d->choice.trial = true;
	assert_int_equal(ask(d, 0x1000, &span), HWTD_OK);
	assert_int_equal(span.section, 10);
	assert_int_equal(d->n_tried, 0);
	assert_true(d->choice.doubted);
	assert_int_equal(d->choice.doubt_at, 100);
	/* What is lost first counts. */
	hwtdi_pt_choice_lost(&d->choice, 110, HWTD_GAP_NO_CODE);
	hwtdi_pt_choice_lost(&d->choice, 120, HWTD_GAP_BAD_FLOW);
	assert_int_equal(d->choice.lost_at, 110);
	assert_int_equal(d->choice.lost_reason, HWTD_GAP_NO_CODE);
	/* It keeps what it tries out. */
	d->choice.n_chosen = 1;
	hwtdi_pt_choice_begin(&d->choice);
	assert_int_equal(d->choice.n_chosen, 1);
}

static void
what_contradicts_is_asked_again_with_less(void **state)
{
	struct hwtdi_decoder *d = *state;
	struct hwtdi_code_span span;

	d->n = 1;
	d->contradictions = 1;
	d->choice.moments.space = 3;
	assert_int_equal(ask(d, 0x1000, &span), HWTD_OK);
	/* A trial is not, at the place that it is about. */
	d->choice.trial = true;
	d->choice.question = 100;
	d->choice.moments.space = 3;
	d->contradictions = 1;
	assert_int_equal(ask(d, 0x1000, &span), HWTD_E_STATE);
	d->choice.question = 101;
	d->contradictions = 1;
	assert_int_equal(ask(d, 0x1000, &span), HWTD_OK);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_alone_lies_there_is_not_tried),
		TEST(the_first_that_fits_is_taken_and_remembered),
		TEST(else_it_is_the_one_that_got_furthest),
		TEST(none_is_taken_that_contradicts_packets),
		TEST(only_so_many_are_remembered),
		TEST(a_trial_takes_the_newest_and_notes_the_doubt),
		TEST(what_contradicts_is_asked_again_with_less),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
