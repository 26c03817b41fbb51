/*
 * The caller ends the reading of symbols and debug information, at every time that it
 * is asked: the call says so, and the next one finds all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/compiled_program.h"

struct asked {
	uint64_t left, n;
};

static int
end_once(void *arg)
{
	struct asked *asked = arg;

	asked->n++;
	return (asked->left-- == 0);
}

static struct hwtd_trace *
open_trace(const struct program *p, struct asked *asked)
{
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = p->path,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = 0x10000000 };
	const struct hwtd_context_options opts = { .size = sizeof(opts),
		.poll = end_once,
		.poll_arg = asked };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	return (trace);
}

static void
what_was_ended_is_read_anew(void **state)
{
	struct asked asked = { .left = UINT64_MAX };
	struct hwtd_trace *trace;
	struct program p;
	uint64_t most = 0;

	(void)state;
	cp_build(&p, HWTDECODE_TEST_CC, "-g");
	/* Symbols that are sorted in parts, and sections that are compressed. */
	cp_run(&p,
	    "awk 'BEGIN { for (i = 0; i < 20000; i++)"
	    " printf \"many%%d: nop\\n\", i }' >many.s &&"
	    " %s -O1 -g -fPIE -pie -Wl,--build-id "
	    "-Wl,--compress-debug-sections=zlib"
	    " -o program program.c many.s",
	    HWTDECODE_TEST_CC);
	cp_ask_nm(&p);
	trace = open_trace(&p, &asked);
	for (uint64_t i = 0; i <= most; i++) {
		const struct hwtd_where where = { .flags = HWTD_WHERE_IMAGE,
			.address = p.outer };
		struct hwtd_symbolizer *s = cp_symbolizer(trace, NULL);
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_symbol symbol;
		int rc;

		/* How often is known after the first time. */
		asked.left = i == 0 ? UINT64_MAX : i - 1;
		asked.n = 0;
		rc = hwtd_symbolize(s, &where, sizeof(where), 1, &symbol,
		    sizeof(symbol), &err);
		if (i == 0)
			most = asked.n;
		assert_int_equal(rc, i == 0 ? HWTD_OK : HWTD_E_CANCELED);
		assert_int_equal(err.code, rc);
		asked.left = UINT64_MAX;
		cp_assert_symbols(s, &p);
		cp_assert_lines(s, &p);
		hwtd_symbolizer_close(s);
	}
	/* A question for some symbols, and some for sections. */
	assert_in_range(most, 20000 / 256, 20000);
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_ended_is_read_anew),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
