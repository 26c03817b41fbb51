/*
 * Traces built in memory: what is kept, what is refused, and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/sample_trace.h"
#include "trace/trace_model.h"

struct fixture {
	struct failing_allocator memory;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hwtd_context_options o = { .size = sizeof(o) };

	failing_allocator_init(&f->memory);
	o.allocator = &f->memory.allocator;
	o.max_image = 4096;
	assert_int_equal(hwtd_context_create(&o, &f->ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(f->ctx, NULL, &f->trace, NULL),
	    HWTD_OK);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	/* The trace keeps its context. */
	hwtd_context_destroy(f->ctx);
	hwtd_trace_close(f->trace);
	assert_int_equal(f->memory.blocks, 0);
	assert_int_equal(f->memory.bytes, 0);
	free(f);
	return (0);
}

static uint32_t
add_stream(struct fixture *f, const struct hwtd_stream_desc *desc)
{
	const struct hwtd_stream_desc plain = { .size = sizeof(plain) };
	uint32_t id = HWTD_NO_ID;

	assert_int_equal(hwtd_trace_add_stream(f->trace,
			     desc != NULL ? desc : &plain, &id, NULL),
	    HWTD_OK);
	return (id);
}

static void
assert_extent(struct fixture *f, uint32_t stream, size_t index, uint64_t start,
    uint64_t end, uint32_t why)
{
	struct hwtd_extent e = { .size = sizeof(e) };

	assert_int_equal(hwtd_trace_extent(f->trace, stream, index, &e),
	    HWTD_OK);
	assert_int_equal(e.start, start);
	assert_int_equal(e.end, end);
	assert_int_equal(e.why, why);
}

static void
put(struct fixture *f, uint32_t stream, const char *text)
{
	assert_int_equal(hwtd_trace_add_bytes(f->trace, stream, text,
			     strlen(text), NULL),
	    HWTD_OK);
}

static void
begin(struct fixture *f, uint32_t stream, uint32_t why)
{
	assert_int_equal(hwtd_trace_start_extent(f->trace, stream, why, NULL),
	    HWTD_OK);
}

static void
streams_are_numbered_and_named(void **state)
{
	struct fixture *f = *state;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	char name[] = "mine";

	d.name = name;
	assert_int_equal(add_stream(f, NULL), 0);
	assert_int_equal(add_stream(f, &d), 1);
	name[0] = 'X';
	assert_int_equal(hwtd_trace_stream(f->trace, 0, &d), HWTD_OK);
	assert_string_equal(d.name, "stream 0");
	assert_int_equal(d.n_bytes, 0);
	assert_int_equal(hwtd_trace_stream(f->trace, 1, &d), HWTD_OK);
	assert_string_equal(d.name, "mine");
	assert_int_equal(hwtd_trace_stream(f->trace, 2, &d), HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_stream(f->trace, HWTD_NO_ID, &d),
	    HWTD_E_NOT_FOUND);
}

static void
clock_is_derived_from_the_nominal_frequency(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		uint32_t tech;
		uint8_t nom_freq;
		uint64_t told;
		uint64_t counts_per;
		uint32_t flags;
	} cases[] = {
		{ "3 GHz", HWTD_TECH_INTEL_PT, 30, 0, 30, 1 },
		{ "not known", HWTD_TECH_INTEL_PT, 0, 0, 0, 0 },
		{ "told", HWTD_TECH_INTEL_PT, 30, 7, 7, 0 },
		{ "another technology", HWTD_TECH_SPE, 30, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtd_pt_config pt = {
			.size = sizeof(pt),
			.nom_freq = cases[i].nom_freq,
			.cpuid_15h_eax = 2,
			.cpuid_15h_ebx = 200,
		};
		struct hwtd_stream_desc d = { .size = sizeof(d), .pt = &pt };
		uint32_t id;

		print_message("case %s\n", cases[i].name);
		d.tech = cases[i].tech;
		d.clock.counts_per = cases[i].told;
		d.clock.ns_per = 10;
		id = add_stream(f, &d);
		assert_int_equal(hwtd_trace_stream(f->trace, id, &d), HWTD_OK);
		assert_int_equal(d.clock.counts_per, cases[i].counts_per);
		assert_int_equal(d.clock.ns_per,
		    cases[i].counts_per != 0 ? 10 : 0);
		assert_int_equal(d.flags, cases[i].flags);
	}
}

static void
bytes_adjoin_until_an_extent_starts(void **state)
{
	struct fixture *f = *state;
	struct hwtd_extent e = { .size = sizeof(e) };
	uint32_t a = add_stream(f, NULL);
	uint32_t b = add_stream(f, NULL);
	char buf[20];
	size_t n;

	assert_int_equal(hwtd_trace_extent(f->trace, a, 0, &e), HWTD_END);
	put(f, a, "");
	assert_int_equal(hwtd_trace_extent(f->trace, a, 0, &e), HWTD_END);
	put(f, a, "one");
	put(f, a, "two");
	begin(f, a, HWTD_EXTENT_NEW);
	put(f, b, "other");
	put(f, a, "three");
	assert_extent(f, a, 0, 0, 6, HWTD_EXTENT_NEW);
	assert_extent(f, a, 1, 6, 11, HWTD_EXTENT_NEW);
	assert_int_equal(hwtd_trace_extent(f->trace, a, 2, &e), HWTD_END);
	assert_extent(f, b, 0, 0, 5, HWTD_EXTENT_NEW);
	assert_int_equal(hwtd_trace_extent(f->trace, 2, 0, &e),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_seal(f->trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_read_bytes(f->trace, a, 0, buf,
			     sizeof(buf), &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, 11);
	assert_memory_equal(buf, "onetwothree", 11);
}

static void
loss_is_never_forgotten(void **state)
{
	struct fixture *f = *state;
	struct hwtd_extent e = { .size = sizeof(e) };
	uint32_t s = add_stream(f, NULL);
	uint32_t t = add_stream(f, NULL);

	/* Before the first byte; and a restart that follows it at once. */
	begin(f, s, HWTD_EXTENT_AFTER_LOSS);
	begin(f, s, HWTD_EXTENT_NEW);
	put(f, s, "abc");
	assert_extent(f, s, 0, 0, 3, HWTD_EXTENT_AFTER_LOSS);
	/* After the last byte: an extent without bytes says so. */
	begin(f, s, HWTD_EXTENT_AFTER_LOSS);
	put(f, t, "abc");
	begin(f, t, HWTD_EXTENT_NEW);
	assert_int_equal(hwtd_trace_seal(f->trace, NULL), HWTD_OK);
	assert_extent(f, s, 1, 3, 3, HWTD_EXTENT_AFTER_LOSS);
	assert_int_equal(hwtd_trace_extent(f->trace, s, 2, &e), HWTD_END);
	assert_int_equal(hwtd_trace_extent(f->trace, t, 1, &e), HWTD_END);
}

static void
fields_that_are_not_known_are_0(void **state)
{
	struct fixture *f = *state;
	struct hwtd_record got = { .size = sizeof(got) };
	struct hwtd_record r;

	/* Each flag alone, and none. */
	for (uint32_t i = 0; i <= 13; i++) {
		const uint32_t flags = i == 13 ? 0 : 1u << i;

		memset(&r, 0x11, sizeof(r));
		r.size = sizeof(r);
		r.type = HWTD_REC_MMAP;
		r.flags = flags;
		r.stream = r.image = HWTD_NO_ID;
		r.n_build_id = 4;
		r.name = NULL;
		assert_int_equal(hwtd_trace_add_record(f->trace, &r, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_record(f->trace, i, &got),
		    HWTD_OK);
		assert_int_equal(got.flags, flags);
		assert_int_equal(got.pid, r.pid);
#define KNOWN(flag, field)                                                    \
	assert_int_equal(got.field, (flags & (flag)) != 0 ? r.field : 0)
		KNOWN(HWTD_RECF_TIME, time_ns);
		KNOWN(HWTD_RECF_STREAM_OFF, stream_off);
		KNOWN(HWTD_RECF_ADDR, addr);
		KNOWN(HWTD_RECF_LEN, len);
		KNOWN(HWTD_RECF_FILE_OFF, file_off);
		KNOWN(HWTD_RECF_VALUE, value);
		KNOWN(HWTD_RECF_BASE, base);
		KNOWN(HWTD_RECF_VMID, vmid);
#undef KNOWN
		assert_int_equal(got.build_id[3], 0x11);
		assert_int_equal(got.build_id[4], 0);
		assert_int_equal(got.reserved, 0);
	}
}

static void
records_keep_order_and_names(void **state)
{
	struct fixture *f = *state;
	struct hwtd_record r = { .size = sizeof(r) };
	char name[] = "a";

	r.stream = r.image = r.cpu = r.pid = r.tid = HWTD_NO_ID;
	r.flags = HWTD_RECF_VALUE;
	r.name = name;
	for (uint64_t i = 0; i < 100; i++) {
		name[0] = (char)('a' + i % 26);
		r.type = (uint32_t)(i % HWTD_REC_TYPES);
		r.value = i;
		assert_int_equal(hwtd_trace_add_record(f->trace, &r, NULL),
		    HWTD_OK);
	}
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(hwtd_trace_record(f->trace, i, &r), HWTD_OK);
		assert_int_equal(r.value, i);
		assert_int_equal(r.name[0], 'a' + i % 26);
	}
	assert_int_equal(hwtd_trace_record(f->trace, 100, &r),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_record(f->trace, UINT64_MAX, &r),
	    HWTD_E_NOT_FOUND);
}

static void
record_types_have_names(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < HWTD_REC_TYPES; i++) {
		assert_string_not_equal(hwtd_record_type_name(i), "unknown");
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(hwtd_record_type_name(i),
			    hwtd_record_type_name(k));
	}
	assert_string_equal(hwtd_record_type_name(HWTD_REC_MMAP), "mmap");
	assert_string_equal(hwtd_record_type_name(0), "unknown");
	assert_string_equal(hwtd_record_type_name(HWTD_REC_TYPES), "unknown");
	assert_string_equal(hwtd_record_type_name(UINT32_MAX), "unknown");
}

static void
sections_stand_for_images_in_order(void **state)
{
	struct fixture *f = *state;
	struct hwtd_image_desc d = { .size = sizeof(d) };
	struct hwtd_section s = { .size = sizeof(s) };
	struct hwtdi_span span;
	uint8_t buf[8];
	uint32_t id;
	size_t n;

	d.path = "top";
	d.bytes = "01234567";
	d.n_bytes = 8;
	d.offset = 0x200;
	d.flags = HWTD_IMAGEF_ADDRESS;
	d.address = UINT64_MAX - 7;
	assert_int_equal(hwtd_trace_add_image(f->trace, &d, &id, NULL),
	    HWTD_OK);
	assert_int_equal(id, 0);
	d.path = NULL;
	d.flags = 0;
	assert_int_equal(hwtd_trace_add_image(f->trace, &d, &id, NULL),
	    HWTD_OK);
	assert_int_equal(id, 1);
	assert_int_equal(hwtd_trace_section(f->trace, 0, &s),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_seal(f->trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_section(f->trace, 0, &s), HWTD_OK);
	assert_int_equal(s.image, 0);
	assert_int_equal(s.generation, 0);
	assert_int_equal(s.address, UINT64_MAX - 7);
	assert_int_equal(s.length, 8);
	assert_int_equal(s.file_off, 0x200);
	assert_string_equal(s.path, "top");
	/* What is mapped nowhere has no section. */
	assert_int_equal(hwtd_trace_section(f->trace, 1, &s),
	    HWTD_E_NOT_FOUND);
	/* The last byte of the space. */
	assert_int_equal(hwtdi_trace_find_code(f->trace,
			     &(struct hwtdi_code_place){ 0 }, UINT64_MAX,
			     &span),
	    HWTD_OK);
	assert_int_equal(span.address, UINT64_MAX - 7);
	assert_int_equal(span.length, 8);
	assert_int_equal(hwtdi_trace_find_code(f->trace,
			     &(struct hwtdi_code_place){ 0 }, 0, &span),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_read_code(f->trace, 0, UINT64_MAX - 2, buf,
			     8, &n),
	    HWTD_OK);
	assert_int_equal(n, 3);
	assert_memory_equal(buf, "567", 3);
	assert_int_equal(hwtd_trace_read_code(f->trace, 0, 0, buf, 8, &n),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_read_code(f->trace, 1, 0, buf, 8, &n),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_read_code(f->trace, 2, 0, buf, 8, &n),
	    HWTD_E_NOT_FOUND);
}

static void
what_breaks_the_rules_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *t = f->trace;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_record r = { .size = sizeof(r) };
	struct hwtd_image_desc i = { .size = sizeof(i) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	uint32_t id;

	d.tech = HWTD_TECH_SPE + 1;
	assert_int_equal(hwtd_trace_add_stream(t, &d, &id, NULL),
	    HWTD_E_INVALID);
	d.tech = 0;
	d.flags = 0x80;
	assert_int_equal(hwtd_trace_add_stream(t, &d, &id, NULL),
	    HWTD_E_INVALID);
	d.flags = 0;
	d.clock.counts_per = 1;
	assert_int_equal(hwtd_trace_add_stream(t, &d, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_add_stream(t, NULL, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_add_bytes(t, 0, "x", 1, NULL),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_trace_start_extent(t, 0, 0, NULL),
	    HWTD_E_NOT_FOUND);
	r.image = HWTD_NO_ID;
	assert_int_equal(hwtd_trace_add_record(t, &r, NULL), HWTD_E_NOT_FOUND);
	r.stream = HWTD_NO_ID;
	r.image = 0;
	assert_int_equal(hwtd_trace_add_record(t, &r, NULL), HWTD_E_NOT_FOUND);
	r.image = HWTD_NO_ID;
	r.type = HWTD_REC_TYPES;
	assert_int_equal(hwtd_trace_add_record(t, &r, NULL), HWTD_E_INVALID);
	r.type = 0;
	r.flags = HWTD_RECF_HYPERVISOR_SPACE << 1;
	assert_int_equal(hwtd_trace_add_record(t, &r, NULL), HWTD_E_INVALID);
	r.flags = HWTD_RECF_VMID;
	r.vmid = HWTD_NO_ID;
	assert_int_equal(hwtd_trace_add_record(t, &r, NULL), HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_add_image(t, &i, NULL, NULL),
	    HWTD_E_INVALID);
	i.bytes = "12345678";
	i.n_bytes = 8;
	i.flags = HWTD_IMAGEF_ADDRESS;
	i.address = UINT64_MAX - 6;
	assert_int_equal(hwtd_trace_add_image(t, &i, NULL, NULL),
	    HWTD_E_INVALID);
	i.flags = 0x10;
	assert_int_equal(hwtd_trace_add_image(t, &i, NULL, NULL),
	    HWTD_E_INVALID);
	i.flags = 0;
	i.n_bytes = 4097;
	assert_int_equal(hwtd_trace_add_image(t, &i, NULL, NULL),
	    HWTD_E_LIMIT);
	id = add_stream(f, NULL);
	assert_int_equal(hwtd_trace_add_bytes(t, id, NULL, 1, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_start_extent(t, id, 3, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_info(t, &info), HWTD_OK);
	assert_int_equal(info.n_streams, 1);
	assert_int_equal(info.n_images, 0);
	assert_int_equal(info.n_records, 0);
	assert_int_equal(info.n_bytes, 0);
	assert_string_equal(info.format, "memory");
}

static void
sealed_trace_takes_nothing_more(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *t = f->trace;
	const struct hwtd_stream_desc d = { .size = sizeof(d) };
	const struct hwtd_image_desc i = {
		.size = sizeof(i),
		.bytes = "x",
		.n_bytes = 1,
	};
	struct hwtd_record r = { .size = sizeof(r), .stream = HWTD_NO_ID };
	struct hwtd_error err = { .size = sizeof(err) };
	uint32_t id = add_stream(f, NULL);

	assert_int_equal(hwtd_trace_save(t, "/nonexistent/x", NULL, &err),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_trace_seal(t, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_seal(t, &err), HWTD_E_STATE);
	assert_int_equal(hwtd_trace_add_stream(t, &d, &id, &err),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_trace_add_bytes(t, 0, "x", 1, &err),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_trace_start_extent(t, 0, 0, &err), HWTD_E_STATE);
	assert_int_equal(hwtd_trace_add_record(t, &r, &err), HWTD_E_STATE);
	assert_int_equal(hwtd_trace_add_image(t, &i, NULL, &err),
	    HWTD_E_STATE);
	assert_string_equal(err.message, "the trace is sealed");
}

/* Callers that were built against an older or a newer library. */
static void
structs_of_other_sizes_are_served(void **state)
{
	struct fixture *f = *state;
	struct {
		struct hwtd_stream_desc known;
		uint64_t more;
	} newer = { .known = { .size = sizeof(newer) } };
	struct hwtd_stream_desc older = { .cpu = 5 };
	struct hwtd_stream_desc out = { .size = sizeof(out) };
	uint32_t id;

	assert_int_equal(hwtd_trace_add_stream(f->trace, &newer.known, &id,
			     NULL),
	    HWTD_OK);
	newer.more = 1;
	assert_int_equal(hwtd_trace_add_stream(f->trace, &newer.known, &id,
			     NULL),
	    HWTD_E_TOO_NEW);
	older.size = offsetof(struct hwtd_stream_desc, pid);
	older.pid = 77;
	assert_int_equal(hwtd_trace_add_stream(f->trace, &older, &id, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_stream(f->trace, id, &out), HWTD_OK);
	assert_int_equal(out.cpu, 5);
	assert_int_equal(out.pid, 0);
	older.pid = 99;
	assert_int_equal(hwtd_trace_stream(f->trace, id, &older), HWTD_OK);
	assert_int_equal(older.pid, 99);
	newer.more = 1;
	assert_int_equal(hwtd_trace_stream(f->trace, id, &newer.known),
	    HWTD_OK);
	assert_int_equal(newer.known.size, sizeof(newer));
	assert_int_equal(newer.more, 0);
}

static void
held_trace_lives_until_the_last_close(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_ptr_equal(hwtdi_trace_hold(f->trace), f->trace);
	hwtd_trace_close(f->trace);
	assert_int_equal(hwtd_trace_info(f->trace, &info), HWTD_OK);
	assert_ptr_equal(hwtdi_trace_library(f->trace), f->ctx);
	hwtd_trace_close(NULL);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(streams_are_numbered_and_named),
		T(clock_is_derived_from_the_nominal_frequency),
		T(bytes_adjoin_until_an_extent_starts),
		T(loss_is_never_forgotten),
		T(fields_that_are_not_known_are_0),
		T(records_keep_order_and_names),
		T(record_types_have_names),
		T(sections_stand_for_images_in_order),
		T(what_breaks_the_rules_changes_nothing),
		T(sealed_trace_takes_nothing_more),
		T(structs_of_other_sizes_are_served),
		T(held_trace_lives_until_the_last_close),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
