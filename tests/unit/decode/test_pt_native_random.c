/*
 * The native engine: random traces of random programs, against the truth.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/random_trace.h"
#include "support/slot_size.h"

/* Code, in one image or cut into two somewhere. */
static void
add_code(struct hwtd_trace *trace, const struct random_program *p,
    uint64_t seed)
{
	uint64_t random = seed + 1;

	for (uint32_t i = 0; i < p->n_images; i++) {
		const struct random_image *im = &p->images[i];
		size_t cut = random_below(&random, 2) == 0
		    ? im->n_bytes
		    : 1 + random_below(&random, (uint32_t)im->n_bytes);

		if (cut > im->n_bytes)
			cut = im->n_bytes;
		(void)mt_code(trace, im->address, im->bytes, cut);
		if (cut < im->n_bytes)
			(void)mt_code(trace, im->address + cut,
			    im->bytes + cut, im->n_bytes - cut);
	}
}

static void
compare(struct hwtd_trace *trace, const struct random_trace *truth,
    const char *what)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.level = HWTD_LEVEL_INSN,
		.engine = "native" };
	struct random_trace_cursor c;
	struct mt_rows rows;
	bool ok = true;

	mt_rows(trace, &opts, &rows);
	random_trace_start(&c, truth, trace);
	for (size_t i = 0; ok && i < rows.n; i++)
		ok = random_trace_next(&c, &rows.at[i].row,
		    &rows.at[i].detail);
	if (!ok || !random_trace_end(&c))
		fail_msg("%s, slots of %llu: %s", what,
		    (unsigned long long)slot_bytes, c.text);
	mt_rows_free(&rows);
}

static void
try_one(uint64_t seed, unsigned int has, size_t insns)
{
	static const uint64_t slots[] = { 0, 16, 100, 700 };
	struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	struct random_trace truth;
	struct hwtd_trace *trace;
	char what[64];

	random_trace_make(&truth, seed, has, insns);
	desc.pt = &truth.config;
	trace = mt_create();
	add_code(trace, &truth.program, seed);
	(void)mt_stream(trace, &truth.packets, &desc);
	mt_seal(trace);
	(void)snprintf(what, sizeof(what), "seed %llu, %x",
	    (unsigned long long)seed, has);
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		slot_bytes = slots[i];
		/* In too many slots without a PSB a cut is forced. */
		if (slot_bytes != 0 && slot_bytes < truth.packets.n / 60)
			slot_bytes = truth.packets.n / 60;
		compare(trace, &truth, what);
	}
	slot_bytes = 0;
	hwtd_trace_close(trace);
	random_trace_free(&truth);
}

static uint64_t
seeds(void)
{
	const char *more = getenv("HWTDECODE_TEST_SEEDS");

	if (more != NULL)
		return (strtoull(more, NULL, 10));
	return (getenv("HWTDECODE_TEST_SMALL") != NULL ? 30 : 300);
}

static void
what_the_machine_did_is_told(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds(); seed++) {
		uint64_t random = seed;
		unsigned int has = random_below(&random, RANDOM_ALL + 1);

		/* Every second trace has most of all, the others some. */
		try_one(seed,
		    (seed & 1) != 0
			? has
			: has | random_below(&random, RANDOM_ALL + 1),
		    400);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_machine_did_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
