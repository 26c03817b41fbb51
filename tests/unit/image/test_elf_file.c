/*
 * What ELF files say about their code, whole and spoilt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf_file.h"
#include "support/elf_writer.h"
#include "support/failing_allocator.h"

#define PT_LOAD 1
#define PT_INTERP 3
#define PT_NOTE 4
#define R 4
#define RX 5
#define RW 6

static const uint8_t build_id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
	13, 14, 15, 16, 17, 18, 19, 20 };

static struct hwtd_context *
new_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

/* Two code segments between two others, a note, an interpreter, a link. */
static void
sample(struct elf_writer *w, bool is_64, bool is_big, bool sections)
{
	struct elf_writer_segment s = { .type = PT_LOAD };
	size_t at, link;

	elf_writer_init(w, is_64, is_big, 3, is_64 ? 62 : 3);
	w->entry = 0x1010;
	at = elf_writer_put(w, "/lib/ld.so.1", 13, 1);
	s = (struct elf_writer_segment){ PT_INTERP, R, at, at, 13, 13, 1 };
	(void)elf_writer_segment(w, &s);
	at = elf_writer_put_note(w, 3, build_id, sizeof(build_id));
	s = (struct elf_writer_segment){ PT_NOTE, R, at, at, 36, 36, 4 };
	(void)elf_writer_segment(w, &s);
	s = (struct elf_writer_segment){ PT_LOAD, R, 0, 0, w->n_bytes,
		w->n_bytes, 4096 };
	(void)elf_writer_segment(w, &s);
	at = elf_writer_put(w, NULL, 0x60, 4096);
	s = (struct elf_writer_segment){ PT_LOAD, RX, at, at, 0x60, 0x60,
		4096 };
	(void)elf_writer_segment(w, &s);
	at = elf_writer_put(w, NULL, 0x20, 4096);
	s = (struct elf_writer_segment){ PT_LOAD, RX, at, at + 0x4000, 0x20,
		0x30, 0x10000 };
	(void)elf_writer_segment(w, &s);
	if (sections) {
		link = elf_writer_put(w, "app.debug", 10, 4);
		(void)elf_writer_put(w, NULL, 0, 4);
		(void)elf_writer_put_number(w, 0xdeadbeef, 4);
		(void)elf_writer_section(w,
		    &(struct elf_writer_section){ .name = ".text",
			.type = 1,
			.flags = 6,
			.off = at,
			.size = 0x20,
			.align = 16 });
		(void)elf_writer_section(w,
		    &(struct elf_writer_section){ .name = ".gnu_debuglink",
			.type = 1,
			.off = link,
			.size = 16,
			.align = 4 });
	}
	elf_writer_finish(w);
}

static void
check_sample(const struct hwtdi_elf_file *f, bool sections)
{
	assert_int_equal(f->n_faults, 0);
	assert_int_equal(f->type, HWTDI_ELF_DYN);
	assert_int_equal(f->entry, 0x1010);
	assert_false(f->debug_only);
	assert_true(f->has_load);
	assert_int_equal(f->lowest_vaddr, 0);
	assert_int_equal(f->largest_align, 0x10000);
	assert_int_equal(f->n_segments, 2);
	assert_int_equal(f->segments[0].index, 3);
	assert_int_equal(f->segments[0].vaddr, 0x1000);
	assert_int_equal(f->segments[0].file_off, 0x1000);
	assert_int_equal(f->segments[0].file_bytes, 0x60);
	assert_int_equal(f->segments[0].memory_bytes, 0x60);
	assert_int_equal(f->segments[0].align, 4096);
	assert_false(f->segments[0].cut);
	assert_int_equal(f->segments[1].vaddr, 0x6000);
	assert_int_equal(f->segments[1].file_off, 0x2000);
	assert_int_equal(f->segments[1].file_bytes, 0x20);
	assert_int_equal(f->segments[1].memory_bytes, 0x30);
	assert_string_equal(f->interpreter, "/lib/ld.so.1");
	assert_int_equal(f->build_id.n, sizeof(build_id));
	assert_memory_equal(f->build_id.bytes, build_id, sizeof(build_id));
	assert_string_equal(f->debug_link, sections ? "app.debug" : "");
	assert_int_equal(f->debug_link_crc, sections ? 0xdeadbeef : 0);
}

static void
segments_are_read_of_any_class_and_order_with_and_without_sections(void *
	*state)
{
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (unsigned int how = 0; how < 8; how++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_elf_file f;
		struct elf_writer w;
		uint8_t *odd;

		print_message("%u bit, %s endian, %s sections\n",
		    (how & 1) != 0 ? 64u : 32u,
		    (how & 2) != 0 ? "big" : "little",
		    (how & 4) != 0 ? "with" : "without");
		sample(&w, (how & 1) != 0, (how & 2) != 0, (how & 4) != 0);
		/* At an odd address. */
		odd = malloc(w.n_bytes + 1);
		assert_non_null(odd);
		memcpy(odd + 1, w.bytes, w.n_bytes);
		assert_int_equal(hwtdi_elf_file_init(&f, ctx, "x", odd + 1,
				     w.n_bytes, &err),
		    HWTD_OK);
		check_sample(&f, (how & 4) != 0);
		assert_int_equal(f.is_64, (how & 1) != 0);
		assert_int_equal(f.is_little, (how & 2) == 0);
		hwtdi_elf_file_fini(&f, ctx);
		free(odd);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

/* Exactly `n` bytes, so that a read past the end is noticed by asan. */
static int
read_cut(struct hwtd_context *ctx, const uint8_t *bytes, size_t n,
    struct hwtdi_elf_file *f, struct hwtd_error *err)
{
	uint8_t *copy = malloc(n != 0 ? n : 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	rc = hwtdi_elf_file_init(f, ctx, "cut", copy, n, err);
	free(copy);
	return (rc);
}

static void
a_file_cut_anywhere_keeps_what_is_whole(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct elf_writer w;

	(void)state;
	for (unsigned int how = 0; how < 2; how++) {
		sample(&w, how != 0, false, true);
		for (size_t n = 0; n < w.n_bytes; n++) {
			struct hwtd_error err = { .size = sizeof(err) };
			struct hwtdi_elf_file f;
			int rc = read_cut(ctx, w.bytes, n, &f, &err);
			size_t whole = 0;

			if (n < (how != 0 ? 64 : 52)) {
				assert_int_equal(rc,
				    n < 4 ? HWTD_E_UNRECOGNIZED
					  : HWTD_E_CORRUPT);
				assert_int_equal(err.offset, n < 4 ? 0 : n);
				continue;
			}
			assert_int_equal(rc, HWTD_OK);
			/* The section table is last: something is cut. */
			assert_true(f.n_faults > 0);
			assert_int_equal(f.fault.code, HWTD_E_CORRUPT);
			assert_true(f.fault.offset < w.n_bytes);
			for (size_t i = 0; i < f.n_segments; i++) {
				const struct hwtdi_elf_segment
				    *s = &f.segments[i];

				assert_true(s->file_off + s->file_bytes <= n);
				assert_int_equal(s->cut,
				    s->file_off + s->file_bytes == n &&
					s->file_bytes !=
					    (s->index == 3 ? 0x60u : 0x20u));
				whole++;
			}
			if (n > 0x1000)
				assert_true(whole >= 1);
			if (n > 0x2000)
				assert_int_equal(whole, 2);
			hwtdi_elf_file_fini(&f, ctx);
		}
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

static void
flipped_headers_neither_crash_nor_reach_outside(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct elf_writer w;

	(void)state;
	sample(&w, true, false, true);
	for (size_t at = 0; at < w.n_bytes; at++) {
		/* Code is not looked at. */
		if (at == 0x1000)
			at = 0x2000;
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct hwtdi_elf_file f;
			int rc;

			w.bytes[at] ^= (uint8_t)(1u << bit);
			rc = read_cut(ctx, w.bytes, w.n_bytes, &f, NULL);
			for (size_t i = 0; rc == HWTD_OK && i < f.n_segments;
			     i++) {
				assert_true(f.segments[i].file_bytes > 0);
				assert_true(f.segments[i].file_off <
				    w.n_bytes);
				assert_true(f.segments[i].file_bytes <=
				    w.n_bytes - f.segments[i].file_off);
			}
			if (rc == HWTD_OK)
				hwtdi_elf_file_fini(&f, ctx);
			w.bytes[at] ^= (uint8_t)(1u << bit);
		}
	}
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

/* One field of the 64-bit sample is changed; what must come of it. */
static const struct {
	const char *name;
	size_t at;
	uint64_t v;
	size_t n;
	int rc;
	uint64_t offset; /* Of the error, or of the first fault. */
	size_t n_segments;
	uint32_t n_faults;
} lies[] = {
	{ "class 3", 4, 3, 1, HWTD_E_UNSUPPORTED, 4, 0, 0 },
	{ "byte order 0", 5, 0, 1, HWTD_E_UNSUPPORTED, 5, 0, 0 },
	{ "version 2", 6, 2, 1, HWTD_E_UNSUPPORTED, 6, 0, 0 },
	{ "type 0", 16, 0, 2, HWTD_E_UNSUPPORTED, 16, 0, 0 },
	{ "type of an operating system", 16, 0xfe00, 2, HWTD_E_UNSUPPORTED, 16,
	    0, 0 },
	{ "program headers at 0", 32, 0, 8, HWTD_OK, 0, 0, 0 },
	{ "program headers past the end", 32, UINT64_MAX, 8, HWTD_OK, 32, 0,
	    1 },
	{ "section headers past the end", 40, UINT64_MAX - 3, 8, HWTD_OK, 40,
	    2, 1 },
	{ "program headers of 57 bytes", 54, 57, 2, HWTD_E_CORRUPT, 0, 0, 0 },
	{ "no program headers", 56, 0, 2, HWTD_OK, 0, 0, 0 },
	{ "65534 program headers", 56, 0xfffe, 2, HWTD_OK, 64, 2, 1 },
	{ "number of program headers in section 0, which has 0", 56, 0xffff, 2,
	    HWTD_OK, 56, 0, 1 },
	{ "section headers of 1 byte", 58, 1, 2, HWTD_OK, 0, 2, 0 },
	{ "65535 section headers", 60, 0xffff, 2, HWTD_OK, 0x2050, 2, 1 },
	{ "names in a section that is not there", 62, 0xfff0, 2, HWTD_OK, 0, 2,
	    0 },
	/* Program header 3: the first code segment. */
	{ "code past the end of the file", 64 + 3 * 56 + 8, 0x100000, 8,
	    HWTD_OK, 64 + 3 * 56, 1, 1 },
	{ "code at the end of 64 bits", 64 + 3 * 56 + 8, UINT64_MAX, 8,
	    HWTD_OK, 64 + 3 * 56, 1, 1 },
	{ "code that goes on past the end", 64 + 3 * 56 + 32, UINT64_MAX, 8,
	    HWTD_OK, 64 + 3 * 56, 2, 1 },
	{ "memory that wraps", 64 + 3 * 56 + 16, UINT64_MAX - 0x5e, 8, HWTD_OK,
	    64 + 3 * 56, 1, 1 },
	{ "memory that ends with the address space", 64 + 3 * 56 + 16,
	    UINT64_MAX - 0x5f, 8, HWTD_OK, 0, 2, 0 },
	{ "less memory than file", 64 + 3 * 56 + 40, 0x10, 8, HWTD_OK,
	    64 + 3 * 56, 2, 1 },
	{ "no memory", 64 + 3 * 56 + 40, 0, 8, HWTD_OK, 64 + 3 * 56, 1, 1 },
	{ "code without bytes in the file", 64 + 3 * 56 + 32, 0, 8, HWTD_OK, 0,
	    1, 0 },
	{ "interpreter past the end", 64 + 8, UINT64_MAX - 2, 8, HWTD_OK, 64,
	    2, 1 },
	{ "interpreter without a NUL", 64 + 32, 12, 8, HWTD_OK, 64, 2, 1 },
	{ "interpreter of no bytes", 64 + 32, 0, 8, HWTD_OK, 64, 2, 1 },
	{ "notes past the end", 64 + 56 + 8, UINT64_MAX - 4, 8, HWTD_OK, 0, 2,
	    0 },
};

static void
lies_in_headers_are_told_and_the_rest_is_kept(void **state)
{
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_elf_file f;
		struct elf_writer w;
		int rc;

		sample(&w, true, false, true);
		elf_writer_poke(&w, lies[i].at, lies[i].v, lies[i].n);
		rc = read_cut(ctx, w.bytes, w.n_bytes, &f, &err);
		print_message("%s: %s\n", lies[i].name,
		    rc != HWTD_OK	 ? err.message
			: f.n_faults > 0 ? f.fault.message
					 : "-");
		assert_int_equal(rc, lies[i].rc);
		if (rc == HWTD_OK) {
			assert_int_equal(f.n_segments, lies[i].n_segments);
			assert_int_equal(f.n_faults, lies[i].n_faults);
			hwtdi_elf_file_fini(&f, ctx);
			err = f.fault;
		}
		if (rc != HWTD_OK || lies[i].n_faults > 0) {
			assert_int_equal(err.offset, lies[i].offset);
			assert_memory_equal(err.message, "cut: ", 5);
		}
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

static void
build_ids_of_any_length_to_64_bytes_are_read(void **state)
{
	struct hwtd_context *ctx = new_context();
	uint8_t id[80];

	(void)state;
	for (size_t i = 0; i < sizeof(id); i++)
		id[i] = (uint8_t)(i + 1);
	for (size_t n = 0; n <= sizeof(id); n++) {
		struct hwtdi_elf_file f;
		struct elf_writer w;
		size_t at;

		elf_writer_init(&w, true, (n & 1) != 0, 2, 62);
		/* Another note of the same name comes first. */
		at = elf_writer_put_note(&w, 1, id, 16);
		(void)elf_writer_put_note(&w, 3, id, n);
		(void)elf_writer_section(&w,
		    &(struct elf_writer_section){ .name = ".notes",
			.type = 7,
			.off = at,
			.size = w.n_bytes - at,
			.align = 4 });
		elf_writer_finish(&w);
		assert_int_equal(read_cut(ctx, w.bytes, w.n_bytes, &f, NULL),
		    HWTD_OK);
		assert_int_equal(f.build_id.n, n <= 64 ? n : 0);
		assert_memory_equal(f.build_id.bytes, id, f.build_id.n);
		assert_int_equal(f.n_faults, n == 0 || n > 64);
		hwtdi_elf_file_fini(&f, ctx);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

static void
counts_beyond_16_bits_are_taken_from_section_0(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_file f;
	struct elf_writer w;
	size_t shoff;

	(void)state;
	sample(&w, true, false, true);
	shoff = w.n_bytes - 4 * 64;
	elf_writer_poke(&w, shoff + 32, 4, 8);
	elf_writer_poke(&w, shoff + 40, 3, 4);
	elf_writer_poke(&w, shoff + 44, 5, 4);
	elf_writer_poke(&w, 56, 0xffff, 2);
	elf_writer_poke(&w, 60, 0, 2);
	elf_writer_poke(&w, 62, 0xffff, 2);
	assert_int_equal(read_cut(ctx, w.bytes, w.n_bytes, &f, NULL), HWTD_OK);
	check_sample(&f, true);
	hwtdi_elf_file_fini(&f, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

static void
a_file_whose_code_was_taken_out_has_no_segments(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_file f;
	struct elf_writer w;

	(void)state;
	sample(&w, true, false, true);
	/* Type of section 1, .text: SHT_NOBITS. */
	elf_writer_poke(&w, w.n_bytes - 3 * 64 + 4, 8, 4);
	assert_int_equal(read_cut(ctx, w.bytes, w.n_bytes, &f, NULL), HWTD_OK);
	assert_true(f.debug_only);
	assert_int_equal(f.n_segments, 0);
	assert_int_equal(f.build_id.n, sizeof(build_id));
	hwtdi_elf_file_fini(&f, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

/* `n` program headers, all the same segment of code. */
static uint8_t *
many_segments(uint16_t n, size_t *size_out)
{
	struct elf_writer_segment s = { PT_LOAD, RX, 0x100, 0x100, 0x10, 0x10,
		16 };
	struct elf_writer w;
	uint8_t *bytes;

	elf_writer_init(&w, true, false, 2, 62);
	(void)elf_writer_segment(&w, &s);
	elf_writer_finish(&w);
	elf_writer_poke(&w, 56, n, 2);
	*size_out = 64 + (size_t)n * 56;
	bytes = malloc(*size_out);
	assert_non_null(bytes);
	memcpy(bytes, w.bytes, 64);
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + 64 + i * 56, w.bytes + 64, 56);
	elf_writer_free(&w);
	return (bytes);
}

static void
segments_past_the_limit_are_left_out_and_told(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_file f;
	size_t size;
	uint8_t *bytes = many_segments(60000, &size);

	(void)state;
	assert_int_equal(hwtdi_elf_file_init(&f, ctx, "many", bytes, size,
			     NULL),
	    HWTD_OK);
	assert_int_equal(f.n_segments, HWTDI_ELF_MAX_SEGMENTS);
	assert_int_equal(f.n_faults, 60000 - HWTDI_ELF_MAX_SEGMENTS);
	assert_string_equal(f.fault.message,
	    "many: more than 1024 executable segments");
	hwtdi_elf_file_fini(&f, ctx);
	free(bytes);
	hwtd_context_destroy(ctx);
}

static void
failed_allocations_leave_nothing_behind(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct hwtdi_elf_file file;
	size_t size;
	uint8_t *bytes = many_segments(40, &size);
	int rc = HWTD_E_NOMEM;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		int64_t blocks = f.blocks;

		failing_allocator_arm(&f, n, false);
		rc = hwtdi_elf_file_init(&file, ctx, "x", bytes, size, NULL);
		if (rc == HWTD_OK) {
			assert_true(n > 1);
			hwtdi_elf_file_fini(&file, ctx);
		} else {
			assert_int_equal(rc, HWTD_E_NOMEM);
		}
		assert_int_equal(f.blocks, blocks);
	}
	free(bytes);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    segments_are_read_of_any_class_and_order_with_and_without_sections),
		cmocka_unit_test(a_file_cut_anywhere_keeps_what_is_whole),
		cmocka_unit_test(
		    flipped_headers_neither_crash_nor_reach_outside),
		cmocka_unit_test(
		    lies_in_headers_are_told_and_the_rest_is_kept),
		cmocka_unit_test(build_ids_of_any_length_to_64_bytes_are_read),
		cmocka_unit_test(
		    counts_beyond_16_bits_are_taken_from_section_0),
		cmocka_unit_test(
		    a_file_whose_code_was_taken_out_has_no_segments),
		cmocka_unit_test(
		    segments_past_the_limit_are_left_out_and_told),
		cmocka_unit_test(failed_allocations_leave_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
