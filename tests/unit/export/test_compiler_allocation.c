/*
 * Every allocation of an export for compilers fails once: it says so, leaks nothing,
 * and the same export works when memory is back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/compiler_case.h"
#include "support/failing_allocator.h"
#include "support/mapped_trace.h"

struct fixture {
	struct failing_allocator memory;
	struct temp_dir dir;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
};

/* 0: nop; dec %eax; jne 0   5: call 0x10   0xa: jmp *%rax   0x10: ret */
static const uint8_t code[] = { 0x90, 0xff, 0xc8, 0x75, 0xfb, 0xe8, 0x06, 0, 0,
	0, 0xff, 0xe0, 0x90, 0x90, 0x90, 0x90, 0xc3 };
static const struct cc_program program = { 3, 0, 0x50000000, code,
	sizeof(code) };

/* Many rounds, so that arrays grow. */
static void
put_packets(struct pt_packets *p)
{
	pt_psb_plus(p, cc_at(&program, 0), 64);
	for (size_t i = 0; i < 40; i++) {
		pt_tnt(p, "TTTN");
		pt_tip(p, PT_IP_32, cc_at(&program, 0xa));
		pt_tip(p, PT_IP_32, cc_at(&program, i % 5));
		pt_tip(p, PT_IP_32, cc_at(&program, 0));
	}
	pt_leave_at(p, cc_at(&program, 0));
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_trace_options t = { .size = sizeof(t) };
	struct hwtd_search search = { .size = sizeof(search),
		.n_dirs = 1,
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	struct pt_packets p = { 0 };
	const char *dir;

	if (f == NULL)
		return (-1);
	temp_dir_create(&f->dir);
	failing_allocator_init(&f->memory);
	o.allocator = &f->memory.allocator;
	dir = f->dir.path;
	search.dirs = &dir;
	t.search = &search;
	if (hwtd_context_create(&o, &f->ctx, NULL) != HWTD_OK ||
	    hwtd_trace_create(f->ctx, &t, &f->trace, NULL) != HWTD_OK)
		return (-1);
	cc_write(&f->dir, "program", &program);
	cc_map(f->trace, 7, "program", &program);
	put_packets(&p);
	(void)cc_stream(f->trace, &p, 7, 7);
	pt_free(&p);
	(void)mt_seal(f->trace);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;
	bool clean;

	hwtd_trace_close(f->trace);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	clean = f->memory.blocks == 0 && f->memory.bytes == 0;
	free(f);
	return (clean ? 0 : -1);
}

/* From opening to closing; what was written, or NULL: out of memory. */
static char *
export_once(struct fixture *f, uint32_t format)
{
	const int64_t blocks = f->memory.blocks;
	char *text = NULL;
	int rc = cc_try(f->trace, format, &text);

	if (rc != HWTD_END) {
		assert_int_equal(rc, HWTD_E_NOMEM);
		free(text);
		text = NULL;
		/* But for what the trace made once for all. */
		assert_true(f->memory.blocks >= blocks);
	}
	return (text);
}

static void
check(struct fixture *f, uint32_t format)
{
	char *want, *got;
	uint64_t n = 1;

	failing_allocator_arm(&f->memory, 0, false);
	want = export_once(f, format);
	assert_non_null(want);
	assert_true(want[0] != '\0');
	for (;; n++) {
		failing_allocator_arm(&f->memory, n, false);
		got = export_once(f, format);
		if (got != NULL)
			break;
		failing_allocator_arm(&f->memory, 0, false);
		got = export_once(f, format);
		assert_string_equal(got, want);
		free(got);
	}
	assert_string_equal(got, want);
	free(got);
	free(want);
	/* It was refused some. */
	assert_true(n > 5);
}

static void
each_allocation_can_fail(void **state)
{
	struct fixture *f = *state;

	for (uint32_t format = HWTD_FORMAT_LLVM_UNSYMBOLIZED;
	     format <= HWTD_FORMAT_BOLT_LEGACY; format++)
		check(f, format);
	check(f, HWTD_FORMAT_PERF_SCRIPT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_allocation_can_fail,
		    set_up, tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
