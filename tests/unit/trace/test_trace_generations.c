/*
 * Generations of code: memory that shows other bytes from a moment on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/library_calls.h"
#include "support/temp_dir.h"

#define KERNEL 0xffffffff80000000u

/* Two instructions, a place of 5 bytes, a branch that needs a TNT packet. */
static const uint8_t kernel[] = { 0x90, 0x66, 0x90, 0x0f, 0x1f, 0x44, 0x00,
	0x00, 0x75, 0x00, 0xff, 0xe0 };
/* What the place becomes: jmp .+7, over the branch. */
static const uint8_t poke[] = { 0xe9, 0x02, 0x00, 0x00, 0x00 };
#define POKED (KERNEL + 3)

/* Into the kernel and back; `tnt` before the way back. */
static void
enter_kernel(struct pt_packets *p, uint64_t tsc, const char *tnt)
{
	pt_psb(p);
	pt_tsc(p, tsc);
	pt_fup(p, PT_IP_64, LC_MAIN);
	pt_mode_exec(p, 64);
	pt_psbend(p);
	pt_tip(p, PT_IP_64, KERNEL);
	if (tnt != NULL)
		pt_tnt(p, tnt);
	pt_tip(p, PT_IP_64, LC_MAIN);
}

static struct hwtd_record
in_kernel(uint32_t type, uint64_t addr, uint64_t len, uint32_t image,
    uint64_t file_off)
{
	struct hwtd_record r = mr_record(type, HWTD_NO_ID, addr, len);

	r.flags |= HWTD_RECF_KERNEL_SPACE | HWTD_RECF_FILE_OFF;
	r.image = image;
	r.file_off = file_off;
	return (r);
}

/* "first+length path@file_off flags" of all that a process sees. */
static void
assert_maps(struct hwtd_trace *trace, uint64_t time_ns, const char *want)
{
	const struct hwtd_position at = mr_at_time(time_ns);
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_maps *maps = NULL;
	char got[512] = "";
	size_t n = 0;

	assert_int_equal(hwtd_maps_open(trace, 5, &at, &maps, NULL), HWTD_OK);
	while (hwtd_maps_read(maps, &m) == HWTD_OK) {
		if (m.address == LC_MAIN)
			continue;
		assert_true(sizeof(got) - n > 100);
		n += (size_t)snprintf(got + n, sizeof(got) - n,
		    "%llx+%llx %s@%llx %x\n", (unsigned long long)m.address,
		    (unsigned long long)m.length, m.path,
		    (unsigned long long)m.file_off, m.flags);
	}
	hwtd_maps_close(maps);
	assert_string_equal(got, want);
}

/* The same of a saved trace. */
static void
assert_saved_images(struct hwtd_trace *trace, const char *want)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *saved = NULL;
	struct temp_dir dir;
	char path[300];

	lc_assert_images(trace, want);
	temp_dir_create(&dir);
	(void)temp_dir_file(&dir, "t.hwt", path);
	if (hwtd_trace_save(trace, path, NULL, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	assert_int_equal(hwtd_context_create(NULL, &ctx, &err), HWTD_OK);
	if (hwtd_trace_open(ctx, path, NULL, &saved, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	hwtd_context_destroy(ctx);
	lc_assert_images(saved, want);
	hwtd_trace_close(saved);
	temp_dir_remove(&dir);
}

static const struct {
	const char *name;
	uint32_t type;
	uint32_t flags;
	uint32_t pid;
	/* HWTD_MAPPINGF_* of what lies there then. */
	uint32_t shown;
} memories[] = {
	{ "mapping", HWTD_REC_MMAP, 0, 5, 0 },
	{ "anonymous mapping", HWTD_REC_MMAP, HWTD_RECF_ANONYMOUS, 5,
	    HWTD_MAPPINGF_ANONYMOUS },
	{ "mapping of made code", HWTD_REC_MMAP, HWTD_RECF_JIT, 5,
	    HWTD_MAPPINGF_JIT },
	{ "made code", HWTD_REC_CODE, 0, 5, HWTD_MAPPINGF_JIT },
	{ "code of all processes", HWTD_REC_CODE, 0, HWTD_NO_ID,
	    HWTD_MAPPINGF_JIT | HWTD_MAPPINGF_EVERYWHERE },
};

/* A vdso of the kernel before and after an update, for instance. */
static void
memory_shows_its_bytes_of_the_time(void **state)
{
	const struct hwtd_position before = mr_at_time(1499);
	const struct hwtd_position after = mr_at_time(1500);

	(void)state;
	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
		struct hwtd_record r = mr_record(memories[i].type,
		    memories[i].pid, LC_LIBRARY, 0x1000);
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		char want[100];

		print_message("%s\n", memories[i].name);
		lc_timed_calls(&p, 1000, "T");
		lc_timed_calls(&p, 2000, NULL);
		trace = lc_program(&p, 5);
		r.flags |= memories[i].flags;
		r.image = mr_image(trace, "old", lc_branches,
		    sizeof(lc_branches));
		mr_time(&r, 0);
		mr_add(trace, &r);
		r.image = mr_image(trace, "new", lc_straight,
		    sizeof(lc_straight));
		mr_time(&r, 1500);
		mr_add(trace, &r);
		(void)mt_seal(trace);
		assert_saved_images(trace, "code old old code new");
		mr_assert(trace, 5, &before, LC_LIBRARY + 2, "old", 2);
		mr_assert(trace, 5, &after, LC_LIBRARY + 2, "new", 2);
		(void)snprintf(want, sizeof(want), "800000+1000 old@0 %x\n",
		    memories[i].shown);
		assert_maps(trace, 1499, want);
		(void)snprintf(want, sizeof(want), "800000+1000 new@0 %x\n",
		    memories[i].shown);
		assert_maps(trace, 1500, want);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/* The kernel changes 5 bytes of itself, and later changes them back. */
static void
pokes_of_the_kernel_count_from_their_time(void **state)
{
	static const char *const whole = "ffffffff80000000+1000 kernel@0 1\n";
	const struct hwtd_position then = mr_at_time(1500);
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_record r;
	uint32_t image;

	(void)state;
	enter_kernel(&p, 1000, "N");
	enter_kernel(&p, 2000, NULL);
	enter_kernel(&p, 3000, "N");
	trace = lc_program(&p, 5);
	image = mr_image(trace, "kernel", kernel, sizeof(kernel));
	r = in_kernel(HWTD_REC_MMAP, KERNEL, 0x1000, image, 0);
	mr_time(&r, 0);
	mr_add(trace, &r);
	r = in_kernel(HWTD_REC_CODE, POKED, sizeof(poke),
	    mr_image(trace, "poke", poke, sizeof(poke)), 0);
	mr_time(&r, 1500);
	mr_add(trace, &r);
	r = in_kernel(HWTD_REC_CODE, POKED, sizeof(poke), image, 3);
	mr_time(&r, 2500);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	assert_saved_images(trace,
	    "code kernel kernel code kernel poke kernel "
	    "code kernel kernel kernel kernel");
	mr_assert(trace, 5, &then, POKED - 1, "kernel", 2);
	mr_assert(trace, 5, &then, POKED, "poke", 0);
	mr_assert(trace, 77, &then, POKED + 4, "poke", 4);
	mr_assert(trace, HWTD_NO_ID, &then, POKED + 5, "kernel", 8);
	assert_maps(trace, 1499, whole);
	assert_maps(trace, 1500,
	    "ffffffff80000000+3 kernel@0 1\n"
	    "ffffffff80000003+5 poke@0 5\n"
	    "ffffffff80000008+ff8 kernel@8 1\n");
	assert_maps(trace, 2500,
	    "ffffffff80000000+3 kernel@0 1\n"
	    "ffffffff80000003+5 kernel@3 5\n"
	    "ffffffff80000008+ff8 kernel@8 1\n");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/*
 * Code that was met before is not taken for what lies there now, even where the
 * change is in the midst of a block or of an instruction.
 */
static void
pokes_change_as_little_as_a_byte(void **state)
{
	static const struct {
		const char *name;
		uint8_t before[16];
		/* Packets before, and after. */
		const char *tnt[2];
		uint64_t at, len;
		uint8_t poke[8];
		const char *want;
	} cases[] = {
		{ "as many instructions, no branch",
		    { 0x90, 0x66, 0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xff,
			0xe0 },
		    { NULL, NULL }, 3, 5, { 0xb8, 0x01, 0x02, 0x03, 0x04 },
		    "code kernel code kernel poke kernel code kernel" },
		{ "the target of a jump",
		    { 0xe9, 0x02, 0x00, 0x00, 0x00, 0x75, 0x00, 0xff, 0xe0 },
		    { NULL, "N" }, 1, 4, { 0x00 },
		    "code kernel kernel code kernel kernel kernel "
		    "code kernel kernel" },
		{ "a byte of the target of a jump",
		    { 0xe9, 0x02, 0x00, 0x00, 0x00, 0x75, 0x00, 0xff, 0xe0 },
		    { NULL, "N" }, 1, 1, { 0x00 },
		    "code kernel kernel code kernel kernel kernel "
		    "code kernel kernel" },
		{ "the first byte of a branch",
		    { 0x90, 0x75, 0x00, 0xff, 0xe0 }, { "N", NULL }, 1, 1,
		    { 0xeb },
		    "code kernel kernel code kernel poke kernel "
		    "code kernel kernel" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		struct hwtd_record kernel_map, r;

		print_message("%s\n", cases[i].name);
		enter_kernel(&p, 1000, cases[i].tnt[0]);
		enter_kernel(&p, 2000, cases[i].tnt[1]);
		enter_kernel(&p, 3000, cases[i].tnt[0]);
		trace = lc_program(&p, 5);
		kernel_map = in_kernel(HWTD_REC_MMAP, KERNEL, 0x1000,
		    mr_image(trace, "kernel", cases[i].before, 16), 0);
		mr_time(&kernel_map, 0);
		mr_add(trace, &kernel_map);
		r = in_kernel(HWTD_REC_CODE, KERNEL + cases[i].at,
		    cases[i].len,
		    mr_image(trace, "poke", cases[i].poke, cases[i].len), 0);
		mr_time(&r, 1500);
		mr_add(trace, &r);
		/* The whole is mapped again, as it was. */
		mr_time(&kernel_map, 2500);
		mr_add(trace, &kernel_map);
		(void)mt_seal(trace);
		lc_assert_images(trace, cases[i].want);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/* The first byte stays: the instruction is a branch, then none. */
static void
instructions_of_two_sections_are_told_apart(void **state)
{
	static const uint8_t before[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x90,
		0xff, 0xe0 };
	static const uint8_t branch[] = { 0x85, 0x00, 0x00, 0x00, 0x00 };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_record r;

	(void)state;
	enter_kernel(&p, 1000, "N");
	enter_kernel(&p, 2000, NULL);
	trace = lc_program(&p, 5);
	r = in_kernel(HWTD_REC_MMAP, KERNEL, 0x1000,
	    mr_image(trace, "kernel", before, sizeof(before)), 0);
	mr_time(&r, 0);
	mr_add(trace, &r);
	r = in_kernel(HWTD_REC_CODE, KERNEL + 1, 5,
	    mr_image(trace, "branch", branch, 5), 0);
	mr_time(&r, 500);
	mr_add(trace, &r);
	r.image = mr_image(trace, "none", before + 1, 5);
	mr_time(&r, 1500);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	lc_assert_images(trace, "code kernel kernel code kernel none kernel");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* New code is written over two functions and the gap between them. */
static void
code_may_overlap_what_lay_there_in_any_way(void **state)
{
	static const struct {
		uint64_t addr, len;
		const char *want;
	} cases[] = {
		{ 0x7ff800, 0x1000,
		    "7ff800+1000 new@0 4\n800800+800 a@800 0\n"
		    "801000+1000 b@0 0\n" },
		{ 0x800800, 0x100,
		    "800000+800 a@0 0\n800800+100 new@0 4\n"
		    "800900+700 a@900 0\n801000+1000 b@0 0\n" },
		{ 0x800800, 0x1000,
		    "800000+800 a@0 0\n800800+1000 new@0 4\n"
		    "801800+800 b@800 0\n" },
		{ 0x801800, 0x1000,
		    "800000+1000 a@0 0\n801000+800 b@0 0\n"
		    "801800+1000 new@0 4\n" },
		{ 0x7ff000, 0x4000, "7ff000+4000 new@0 4\n" },
	};
	static const uint8_t bytes[0x4000];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace = lc_program(&p, 5);
		struct hwtd_record r = mr_record(HWTD_REC_CODE, 5,
		    cases[i].addr, cases[i].len);

		mr_mmap_at(trace, 0, 5, LC_LIBRARY, 0x1000,
		    mr_image(trace, "a", bytes, 0x1000));
		mr_mmap_at(trace, 0, 5, LC_LIBRARY + 0x1000, 0x1000,
		    mr_image(trace, "b", bytes, 0x1000));
		r.image = mr_image(trace, "new", bytes, sizeof(bytes));
		mr_time(&r, 10);
		mr_add(trace, &r);
		(void)mt_seal(trace);
		assert_maps(trace, 9,
		    "800000+1000 a@0 0\n801000+1000 b@0 0\n");
		assert_maps(trace, 10, cases[i].want);
		hwtd_trace_close(trace);
	}
}

/* Without a time, the packets say which bytes were there. */
static void
pokes_without_time_are_found_by_the_packets(void **state)
{
	(void)state;
	for (int poked = 0; poked < 2; poked++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		struct hwtd_record r;

		enter_kernel(&p, 1000, poked ? NULL : "N");
		pt_fup(&p, PT_IP_64, LC_MAIN);
		pt_pgd(&p, PT_IP_NONE, 0);
		trace = lc_program(&p, 5);
		r = in_kernel(HWTD_REC_MMAP, KERNEL, 0x1000,
		    mr_image(trace, "kernel", kernel, sizeof(kernel)), 0);
		mr_add(trace, &r);
		r = in_kernel(HWTD_REC_CODE, POKED, sizeof(poke),
		    mr_image(trace, "poke", poke, sizeof(poke)), 0);
		mr_add(trace, &r);
		(void)mt_seal(trace);
		lc_assert_images(trace,
		    poked ? "code kernel poke kernel" : "code kernel kernel");
		mr_assert_in_doubt(trace, 5,
		    &(struct hwtd_position){
			.size = sizeof(struct hwtd_position),
			.flags = HWTD_POSITION_OFFSET },
		    POKED, "poke");
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_shows_its_bytes_of_the_time),
		cmocka_unit_test(pokes_of_the_kernel_count_from_their_time),
		cmocka_unit_test(pokes_change_as_little_as_a_byte),
		cmocka_unit_test(instructions_of_two_sections_are_told_apart),
		cmocka_unit_test(code_may_overlap_what_lay_there_in_any_way),
		cmocka_unit_test(pokes_without_time_are_found_by_the_packets),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
