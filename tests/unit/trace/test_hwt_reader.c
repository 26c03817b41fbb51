/*
 * Reading .hwt files that were put together by hand: the format as the man
 * page has it, versions, unknown parts, lost parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "support/hand_fixture.h"
#include "trace/trace_model.h"

static void
file_written_by_the_man_page_is_read(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	const char text[] = "compressed compressed compressed compressed";
	const struct hand_chunk meta = { .type = HAND_META, .id = UINT32_MAX };
	const struct hand_chunk packed = {
		.type = HAND_DATA,
		.flags = HAND_ZSTD,
		.position = 5,
	};
	struct hand fields = { 0 };
	struct hwtd_trace *trace;
	char frame[200];
	size_t n;

	hand_number(&fields, 1, 4);
	hand_number(&fields, 4, 4);
	hand_bytes(&fields, "hand", 4);
	hand_chunk(&f->file, &meta, fields.bytes, fields.n, fields.n);
	hand_free(&fields);
	hand_stream(&f->file, 0, 4, "by hand");
	hand_data(&f->file, 0, 0, "hello", 5);
	n = ZSTD_compress(frame, sizeof(frame), text, strlen(text), 1);
	assert_false(ZSTD_isError(n));
	hand_chunk(&f->file, &packed, frame, n, strlen(text));
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 0);
	(void)hwtd_trace_info(trace, &info);
	assert_string_equal(info.origin, "hand");
	assert_string_equal(info.format, "hwt");
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.tech, HWTD_TECH_INTEL_PT);
	assert_int_equal(d.cpu, 4);
	assert_string_equal(d.name, "by hand");
	assert_null(d.pt);
	assert_int_equal(d.n_bytes, 5 + strlen(text));
	assert_stream(trace, 0, 0, "hellocompressed");
	assert_stream(trace, 0, 5, text);
	hwtd_trace_close(trace);
}

static void
newer_minor_version_is_read(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk future = { .type = 900, .id = 17 };
	struct hwtd_trace *trace;

	hand_free(&f->file);
	hand_init(&f->file, 1, 7);
	hand_stream(&f->file, 0, 0, "s");
	hand_chunk(&f->file, &future, "future", 6, 6);
	hand_data(&f->file, 0, 0, "abc", 3);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 0);
	assert_stream(trace, 0, 0, "abc");
	hwtd_trace_close(trace);
}

static void
newer_major_version_is_unsupported(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_error err;

	hand_free(&f->file);
	hand_init(&f->file, 2, 0);
	hand_stream(&f->file, 0, 0, "s");
	hand_finish(&f->file);
	assert_int_equal(hand_open(f, &trace, &err), HWTD_E_UNSUPPORTED);
	assert_int_equal(err.offset, 8);
	assert_non_null(strstr(err.message, "version 2"));
}

static void
unknown_critical_chunk_is_unsupported(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk future = {
		.type = 900,
		.flags = HAND_CRITICAL,
	};
	struct hwtd_trace *trace;
	struct hwtd_error err;

	hand_stream(&f->file, 0, 0, "s");
	hand_chunk(&f->file, &future, "future", 6, 6);
	hand_finish(&f->file);
	assert_int_equal(hand_open(f, &trace, &err), HWTD_E_UNSUPPORTED);
	assert_int_equal(err.offset, f->file.at[1]);
}

static void
unknown_fields_and_longer_values_are_skipped(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_STREAM };
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;
	struct hand p = { 0 };

	hand_number(&p, 4000, 4);
	hand_number(&p, 3, 4);
	hand_bytes(&p, "new", 3);
	hand_number(&p, 1, 4);
	hand_number(&p, 28, 4);
	hand_number(&p, HWTD_TECH_SPE, 4);
	hand_number(&p, 9, 4);
	hand_number(&p, 10, 4);
	hand_number(&p, 11, 4);
	hand_number(&p, 0xfffffff0, 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 12345, 4);
	hand_chunk(&f->file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 0);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.tech, HWTD_TECH_SPE);
	assert_int_equal(d.cpu, 9);
	assert_int_equal(d.pid, 10);
	assert_int_equal(d.tid, 11);
	assert_int_equal(d.flags, 0);
	hwtd_trace_close(trace);
}

static void
lost_description_leaves_the_bytes(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "a");
	hand_stream(&f->file, 1, 1, "b");
	hand_stream(&f->file, 2, 2, "c");
	hand_data(&f->file, 1, 0, "bytes", 5);
	hand_finish(&f->file);
	f->file.bytes[f->file.at[1] + HAND_HEADER + 9] ^= 1;
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).file_off, f->file.at[1]);
	assert_stream(trace, 1, 0, "bytes");
	assert_int_equal(hwtd_trace_stream(trace, 1, &d), HWTD_OK);
	assert_int_equal(d.tech, HWTD_TECH_UNKNOWN);
	assert_int_equal(hwtd_trace_stream(trace, 2, &d), HWTD_OK);
	assert_string_equal(d.name, "c");
	hwtd_trace_close(trace);
}

static void
stream_without_description_is_damage(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;

	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_stream(trace, 0, 0, "bytes");
	hwtd_trace_close(trace);
}

static void
bytes_after_the_end_are_damage(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;
	size_t n;

	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	n = f->file.n;
	hand_bytes(&f->file, "tail", 4);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).file_off, n);
	assert_int_equal(damage_at(trace, 0).file_bytes, 4);
	assert_stream(trace, 0, 0, "bytes");
	hwtd_trace_close(trace);
}

static void
put_image(struct hand *file, uint32_t id, uint32_t flags, uint64_t n_bytes,
    const char *path)
{
	const struct hand_chunk c = { .type = HAND_IMAGE, .id = id };
	struct hand p = { 0 };

	hand_number(&p, 1, 4);
	hand_number(&p, 40, 4);
	hand_number(&p, 0, 8);
	hand_number(&p, n_bytes, 8);
	hand_number(&p, 0x1000, 8);
	hand_number(&p, 0, 8);
	hand_number(&p, flags, 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 2, 4);
	hand_number(&p, strlen(path), 4);
	hand_bytes(&p, path, strlen(path));
	hand_chunk(file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
}

static void
image_that_claims_too_much_has_no_code(void **state)
{
	struct hand_fixture *f = *state;
	static const struct {
		const char *name;
		uint64_t n_bytes;
		uint64_t position;
		int found;
	} cases[] = {
		{ "true", 4, 0, HWTD_OK },
		{ "more than there is", 1000000, 0, HWTD_E_UNSUPPORTED },
		{ "less than there is", 3, 0, HWTD_E_UNSUPPORTED },
		{ "bytes out of place", 8, 4, HWTD_E_UNSUPPORTED },
		{ "none", 0, 0, HWTD_E_NOT_FOUND },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hand_chunk c = {
			.type = HAND_IMAGE_DATA,
			.position = cases[i].position,
		};
		struct hwtdi_span span;
		struct hwtd_trace *trace;
		int rc;

		print_message("case %s\n", cases[i].name);
		hand_again(f);
		put_image(&f->file, 0, 0x3, cases[i].n_bytes, "x");
		hand_chunk(&f->file, &c, "code", 4, 4);
		hand_finish(&f->file);
		trace = hand_must_open(f);
		rc = hwtdi_trace_find_code(trace,
		    &(struct hwtdi_code_place){ 0 }, 0x1000, &span);
		assert_int_equal(rc, cases[i].found);
		assert_int_equal(n_damages(trace),
		    cases[i].found == HWTD_OK ? 0 : 1);
		hwtd_trace_close(trace);
	}
}

static void
image_over_the_limit_is_a_limit(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_error err;

	put_image(&f->file, 0, 0x3, UINT64_MAX / 2, "x");
	hand_finish(&f->file);
	assert_int_equal(hand_open(f, &trace, &err), HWTD_E_LIMIT);
	assert_int_equal(err.offset, 32);
}

/* Without a checksum nothing says that a file is the one that was traced. */
static void
image_of_a_changed_file_has_no_code(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtdi_span span;
	struct hwtd_trace *trace;
	char path[300];

	write_file(temp_dir_file(&f->dir, "program", path), "code", 4);
	put_image(&f->file, 0, 0xd, 4, path);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 0);
	assert_int_equal(hwtdi_trace_find_code(trace,
			     &(struct hwtdi_code_place){ 0 }, 0x1000, &span),
	    HWTD_E_UNSUPPORTED);
	hwtd_trace_close(trace);
}

/* Ids of the file count parts, those of the trace do not. */
static void
records_name_images_behind_parts(void **state)
{
	static const uint32_t ids[] = { 0, 1, 2 };
	static const uint32_t want[] = { HWTD_NO_ID, 0, HWTD_NO_ID };
	struct hand_fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_RECORDS, .id = UINT32_MAX };
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct hwtd_record r = { .size = sizeof(r) };
	struct hwtd_trace *trace;
	struct hand p = { 0 };

	put_image(&f->file, 0, 0x10, 0, "part");
	put_image(&f->file, 1, 0, 0, "image");
	put_image(&f->file, 2, 0x11, 0, "part");
	for (size_t i = 0; i < 3; i++) {
		hand_number(&p, 96, 4);
		hand_number(&p, 96, 2);
		hand_number(&p, 0, 2);
		for (size_t k = 0; k < 6; k++)
			hand_number(&p, k < 2 ? 0 : UINT32_MAX, 4);
		hand_number(&p, ids[i], 4);
		hand_number(&p, 0, 4);
		for (size_t k = 0; k < 7; k++)
			hand_number(&p, 0, 8);
	}
	hand_chunk(&f->file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(hwtd_trace_record(trace, i, &r), HWTD_OK);
		assert_int_equal(r.image, want[i]);
	}
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(hwtd_trace_image(trace, 0, &info), HWTD_OK);
	assert_string_equal(info.path, "image");
	assert_int_equal(hwtd_trace_image(trace, 1, &info), HWTD_E_NOT_FOUND);
	hwtd_trace_close(trace);
}

static void
records_name_only_what_is_there(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_RECORDS, .id = UINT32_MAX };
	struct hwtd_record r = { .size = sizeof(r) };
	struct hwtd_trace *trace;
	struct hand p = { 0 };

	/* Of an older version, with a field that none has had. */
	hand_number(&p, 96 + 8 + 4, 4);
	hand_number(&p, 96 + 8, 2);
	hand_number(&p, 1, 2);
	hand_number(&p, 999, 4);
	hand_number(&p, HWTD_RECF_TIME | HWTD_RECF_VALUE, 4);
	hand_number(&p, 1, 4);
	hand_number(&p, 2, 4);
	hand_number(&p, 3, 4);
	hand_number(&p, 4, 4);
	hand_number(&p, 5, 4);
	hand_number(&p, 0, 4);
	for (uint64_t i = 0; i < 7; i++)
		hand_number(&p, 10 + i, 8);
	hand_number(&p, UINT64_MAX, 8);
	hand_bytes(&p, "name", 4);
	hand_chunk(&f->file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(hwtd_trace_record(trace, 0, &r), HWTD_OK);
	assert_int_equal(r.type, 999);
	assert_string_equal(hwtd_record_type_name(r.type), "unknown");
	assert_int_equal(r.stream, HWTD_NO_ID);
	assert_int_equal(r.image, HWTD_NO_ID);
	assert_int_equal(r.time_ns, 10);
	assert_int_equal(r.value, 16);
	/* The rest is not known, whatever the file says. */
	assert_int_equal(r.stream_off, 0);
	assert_int_equal(r.addr, 0);
	assert_int_equal(r.len, 0);
	assert_int_equal(r.file_off, 0);
	assert_int_equal(r.base, 0);
	assert_string_equal(r.name, "name");
	hwtd_trace_close(trace);
}

static void
damaged_file_header_does_not_hide_the_chunks(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	memset(f->file.bytes, 0, 32);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).file_off, 0);
	assert_int_equal(damage_at(trace, 0).file_bytes, 32);
	assert_stream(trace, 0, 0, "bytes");
	hwtd_trace_close(trace);
}

int
main(void)
{
#define T(name)                                                               \
	cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)
	const struct CMUnitTest tests[] = {
		T(file_written_by_the_man_page_is_read),
		T(newer_minor_version_is_read),
		T(newer_major_version_is_unsupported),
		T(unknown_critical_chunk_is_unsupported),
		T(unknown_fields_and_longer_values_are_skipped),
		T(lost_description_leaves_the_bytes),
		T(stream_without_description_is_damage),
		T(bytes_after_the_end_are_damage),
		T(image_that_claims_too_much_has_no_code),
		T(image_over_the_limit_is_a_limit),
		T(image_of_a_changed_file_has_no_code),
		T(records_name_images_behind_parts),
		T(records_name_only_what_is_there),
		T(damaged_file_header_does_not_hide_the_chunks),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
