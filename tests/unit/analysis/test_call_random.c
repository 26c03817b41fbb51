/*
 * Random programs at the level of transfers: a model that knows its stacks says
 * which calls there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/calls/call_stack.h"
#include "support/random_program.h"

#define FUNCTIONS 12u
#define FUNCTION_BYTES 0x100000u
#define DEEPEST 200u
#define STACKS 4u
#define LONGJMP (FUNCTIONS + STACKS)

/* A call of the model. */
struct frame {
	uint32_t function;
	/* Where it goes on; and where it went on last. */
	uint64_t back;
	uint64_t point;
	/* Ends by a far return. */
	bool far;
};

struct stack {
	struct frame frames[DEEPEST];
	size_t n;
	bool begun;
};

struct model {
	uint64_t random;
	struct stack stacks[STACKS];
	size_t current;
	/* Call sites of one place are always the same. */
	bool same_sites;
	bool with_gaps;

	struct hwtd_context *ctx;
	struct hwtdi_call_rules rules;
	struct hwtdi_call_thread thread;
	uint64_t now;

	/* Calls that begin (function + 1) and end (less than 0), and sums. */
	int32_t want[65536], got[65536];
	size_t n_want, n_got;
	uint64_t self, gap, insns, self_insns;
	int64_t open;
};

static int
put(void *arg, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct model *m = arg;
	const int32_t f = (int32_t)row->function + 1;

	(void)err;
	if (row->kind == HWTD_CALL_GAP)
		return (HWTD_OK);
	assert_true(m->n_got < sizeof(m->got) / sizeof(m->got[0]));
	m->got[m->n_got++] = row->kind == HWTD_CALL_ENTER ? f : -f;
	if (row->kind == HWTD_CALL_ENTER) {
		m->open++;
		return (HWTD_OK);
	}
	m->open--;
	m->self += row->self_ns;
	m->gap += row->self_gap_ns;
	m->self_insns += row->self_insns;
	assert_true(row->self_insns <= row->insns);
	assert_true(row->self_ns <= row->ns);
	assert_true(row->begin_ns <= row->end_ns);
	/* Without other stacks all time is in it, in what it called, or lost. */
	if ((row->flags & HWTD_CALLF_SWITCHED) == 0)
		assert_int_equal(row->ns + row->gap_ns + row->off_ns,
		    row->end_ns - row->begin_ns);
	return (HWTD_OK);
}

static int
extent(void *arg, const struct hwtdi_step *step, bool called,
    struct hwtdi_extent *out, struct hwtd_error *err)
{
	(void)arg;
	(void)called;
	(void)err;
	out->function = (uint32_t)(step->to / FUNCTION_BYTES) - 1;
	out->first = step->to / FUNCTION_BYTES * FUNCTION_BYTES;
	out->end = out->first + FUNCTION_BYTES;
	out->at_start = step->to == out->first;
	return (HWTD_OK);
}

static uint64_t
start_of(uint32_t function)
{
	return ((uint64_t)(function + 1) * FUNCTION_BYTES);
}

/* Where the call that runs calls; apart for each level and stack, if asked. */
static uint64_t
site(struct model *m)
{
	const struct stack *s = &m->stacks[m->current];
	const struct frame *f = &s->frames[s->n - 1];
	const uint64_t where = m->same_sites
	    ? 64 + 16 * random_below(&m->random, 3)
	    : 64 + 64 * (s->n + DEEPEST * m->current);

	return (start_of(f->function) + where);
}

static void
go(struct model *m, uint32_t what, uint64_t from, uint64_t to, uint64_t back)
{
	struct hwtdi_step step = { .what = what,
		.from = from,
		.to = to,
		.back = back,
		.from_section = HWTD_NO_ID,
		.to_section = HWTD_NO_ID,
		.flags = HWTDI_STEP_TIME | HWTDI_STEP_FROM | HWTDI_STEP_TO |
		    HWTDI_STEP_BACK };

	m->now += random_below(&m->random, 20);
	step.time_ns = m->now;
	step.insns = random_below(&m->random, 9);
	m->insns += step.insns;
	if (what == HWTDI_TRANSFER_GAP) {
		m->now += random_below(&m->random, 30);
		step.until_ns = m->now;
		step.flags |= HWTDI_STEP_UNTIL;
		step.flags &= ~HWTDI_STEP_TO;
	}
	assert_int_equal(hwtdi_call_thread_step(&m->thread, &step, NULL),
	    HWTD_OK);
}

static void
want(struct model *m, uint32_t function, bool begins)
{
	const int32_t f = (int32_t)function + 1;

	assert_true(m->n_want < sizeof(m->want) / sizeof(m->want[0]));
	m->want[m->n_want++] = begins ? f : -f;
}

static void
push(struct model *m, uint32_t function, uint64_t back, bool far)
{
	struct stack *s = &m->stacks[m->current];

	s->frames[s->n++] = (struct frame){ .function = function,
		.back = back,
		.far = far };
	want(m, function, true);
}

static void
pop(struct model *m)
{
	struct stack *s = &m->stacks[m->current];

	want(m, s->frames[--s->n].function, false);
}

static void
call_to(struct model *m, uint32_t to)
{
	const uint64_t from = site(m);

	go(m, HWTDI_TRANSFER_CALL, from, start_of(to), from + 5);
	push(m, to, from + 5, false);
}

static void
call(struct model *m)
{
	call_to(m, random_below(&m->random, FUNCTIONS));
}

static void
interrupt(struct model *m)
{
	const uint32_t to = random_below(&m->random, FUNCTIONS);
	const uint64_t at = site(m) + 9;
	const bool system = random_below(&m->random, 2) == 0;

	go(m, system ? HWTDI_TRANSFER_FAR_CALL : HWTDI_TRANSFER_INTERRUPT, at,
	    start_of(to), system ? at + 2 : at);
	push(m, to, system ? at + 2 : at, true);
}

static void
come_back(struct model *m)
{
	struct stack *s = &m->stacks[m->current];
	const struct frame f = s->frames[s->n - 1];

	go(m, f.far ? HWTDI_TRANSFER_FAR_RETURN : HWTDI_TRANSFER_RETURN,
	    start_of(f.function) + 40, f.back, 0);
	pop(m);
	if (!f.far)
		s->frames[s->n - 1].point = f.back;
}

static void
tail(struct model *m)
{
	struct stack *s = &m->stacks[m->current];
	struct frame *f = &s->frames[s->n - 1];
	const uint32_t to = random_below(&m->random, FUNCTIONS);

	go(m,
	    random_below(&m->random, 2) == 0 ? HWTDI_TRANSFER_JUMP
					     : HWTDI_TRANSFER_INDIRECT,
	    start_of(f->function) + 40, start_of(to), 0);
	/* To itself it is a loop. */
	if (to == f->function)
		return;
	want(m, f->function, false);
	want(m, to, true);
	f->function = to;
	f->point = 0;
}

/* To where some call went on last, by a function that does nothing else. */
static void
jump_down(struct model *m)
{
	struct stack *s = &m->stacks[m->current];
	const size_t at = random_below(&m->random, (uint32_t)s->n);
	const uint64_t to = s->frames[at].point;

	if (to == 0 || at + 1 == s->n || m->same_sites)
		return;
	call_to(m, LONGJMP);
	/* Each address of a return is that of one level alone. */
	go(m,
	    random_below(&m->random, 2) == 0 ? HWTDI_TRANSFER_INDIRECT
					     : HWTDI_TRANSFER_RETURN,
	    start_of(s->frames[s->n - 1].function) + 44, to, 0);
	while (s->n > at + 1)
		pop(m);
}

/* As swapcontext(3): called by one stack, it returns on another one. */
static void
change_stack(struct model *m)
{
	const size_t to = random_below(&m->random, STACKS);
	struct stack *s;

	if (to == m->current || m->same_sites)
		return;
	call(m);
	s = &m->stacks[to];
	if (s->begun) {
		const struct frame f = s->frames[s->n - 1];

		go(m, HWTDI_TRANSFER_RETURN, start_of(0) + 40, f.back, 0);
		m->current = to;
		pop(m);
		s->frames[s->n - 1].point = f.back;
		return;
	}
	s->begun = true;
	m->current = to;
	/* In a function of its own, which no other stack is in. */
	go(m, HWTDI_TRANSFER_RETURN, start_of(0) + 40,
	    start_of(FUNCTIONS + (uint32_t)to) + 0x80, 0);
	push(m, FUNCTIONS + (uint32_t)to, 0, false);
}

static void
walk(struct model *m, size_t steps)
{
	for (size_t i = 0; i < steps; i++) {
		const struct stack *s = &m->stacks[m->current];

		switch (random_below(&m->random, 16)) {
		case 0:
		case 1:
		case 2:
		case 3:
		case 4:
			if (s->n < DEEPEST - 2)
				call(m);
			break;
		case 5:
			if (s->n < DEEPEST - 2)
				interrupt(m);
			break;
		case 6:
			if (s->n > 1)
				tail(m);
			break;
		case 7:
			if (s->n < DEEPEST - 2)
				jump_down(m);
			break;
		case 8:
			if (s->n < DEEPEST - 2)
				change_stack(m);
			break;
		case 9:
			/* What ran in the gap is nothing here. */
			if (m->with_gaps)
				go(m, HWTDI_TRANSFER_GAP, 0, 0, 0);
			break;
		default:
			if (s->n > 1)
				come_back(m);
			break;
		}
	}
}

static void
run_model(uint64_t seed, bool same_sites, bool with_gaps)
{
	struct model *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	assert_int_equal(hwtd_context_create(NULL, &m->ctx, NULL), HWTD_OK);
	m->random = seed;
	m->same_sites = same_sites;
	m->with_gaps = with_gaps;
	m->rules = (struct hwtdi_call_rules){ .library = m->ctx,
		.extent = extent,
		.put = put,
		.arg = m,
		.enters = true,
		.gaps = true,
		.max_frames = 65536,
		.max_stacks = 64 };
	hwtdi_call_thread_init(&m->thread, &m->rules, 0);
	m->now = 1000;
	go(m, HWTDI_TRANSFER_ARRIVE, 0, start_of(0) + 16, 0);
	m->stacks[0].begun = true;
	/* What the first step executed was before the first call. */
	m->insns = 0;
	push(m, 0, 0, false);
	walk(m, 400);
	assert_int_equal(m->n_got, m->n_want);
	for (size_t i = 0; i < m->n_want; i++)
		assert_int_equal(m->got[i], m->want[i]);
	assert_int_equal(hwtdi_call_thread_end(&m->thread, NULL), HWTD_OK);
	assert_int_equal(m->open, 0);
	assert_int_equal(m->self_insns, m->insns);
	assert_int_equal(m->self + m->gap,
	    m->thread.last_ns - m->thread.first_ns);
	hwtdi_call_thread_fini(&m->thread);
	hwtd_context_destroy(m->ctx);
	free(m);
}

static size_t
seeds(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL ? 50 : 500);
}

static void
calls_are_those_of_the_model(void **state)
{
	(void)state;
	for (size_t i = 0; i < seeds(); i++)
		run_model(i + 1, false, false);
}

static void
calls_from_the_same_places_are_those_of_the_model(void **state)
{
	(void)state;
	for (size_t i = 0; i < seeds(); i++)
		run_model(i + 1000, true, false);
}

static void
gaps_in_which_nothing_happened_change_no_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < seeds(); i++)
		run_model(i + 2000, false, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_those_of_the_model),
		cmocka_unit_test(
		    calls_from_the_same_places_are_those_of_the_model),
		cmocka_unit_test(
		    gaps_in_which_nothing_happened_change_no_call),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
