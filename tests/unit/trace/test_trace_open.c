/*
 * Opening files: what is recognised, what is refused with which words, and
 * raw bytes as a stream.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/sample_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_model.h"

struct fixture {
	struct temp_dir dir;
	struct hwtd_context *ctx;
	char path[300];
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "trace.bin", f->path);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;
	uint64_t now = 1;

	hwtd_context_memory(f->ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

/* `n` bytes without meaning and a PSB at `at`. */
static uint8_t *
with_psb(size_t n, size_t at)
{
	uint8_t *bytes = calloc(1, n);

	for (size_t i = 0; i < 16; i++)
		bytes[at + i] = i % 2 == 0 ? 0x02 : 0x82;
	return (bytes);
}

static void
sync_pattern_makes_it_intel_pt(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		size_t n;
		size_t at;
		bool found;
	} cases[] = {
		{ "pattern alone", 16, 0, true },
		{ "at the end of a small file", 1000, 984, true },
		{ "across a joint of the search", 200000, 65536 - 8, true },
		{ "one before the joint", 200000, 65536 - 15, true },
		{ "just inside the first MiB", 2000000, (1 << 20) - 16, true },
		{ "just outside", 2000000, (1 << 20) - 15, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_stream_desc d = { .size = sizeof(d) };
		struct hwtd_error err = { .size = sizeof(err) };
		uint8_t *bytes = with_psb(cases[i].n, cases[i].at);
		struct hwtd_trace *trace;
		int rc;

		print_message("case %s\n", cases[i].name);
		write_file(f->path, bytes, cases[i].n);
		free(bytes);
		rc = hwtd_trace_open(f->ctx, f->path, NULL, &trace, &err);
		if (!cases[i].found) {
			assert_int_equal(rc, HWTD_E_UNRECOGNIZED);
			/* Whole, and not cut off behind a long path. */
			assert_non_null(strstr(err.message,
			    "; raw bytes need their "
			    "technology named"));
			continue;
		}
		assert_int_equal(rc, HWTD_OK);
		assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
		assert_int_equal(d.tech, HWTD_TECH_INTEL_PT);
		assert_int_equal(d.n_bytes, cases[i].n);
		assert_int_equal(d.cpu, HWTD_NO_ID);
		assert_int_equal(d.pid, HWTD_NO_ID);
		assert_int_equal(d.tid, HWTD_NO_ID);
		assert_string_equal(d.name, "trace.bin");
		hwtd_trace_close(trace);
	}
}

static void
pattern_that_is_one_byte_short_is_not_enough(void **state)
{
	struct fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t *bytes = with_psb(64, 20);
	struct hwtd_trace *trace;

	bytes[35] = 0;
	write_file(f->path, bytes, 64);
	free(bytes);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &trace, &err),
	    HWTD_E_UNRECOGNIZED);
	assert_non_null(strstr(err.message, f->path));
}

static void
options_say_what_raw_bytes_are(void **state)
{
	struct fixture *f = *state;
	const struct hwtd_pt_config pt = {
		.size = sizeof(pt),
		.cpu_family = 6,
		.nom_freq = 24,
	};
	struct hwtd_open_options o = { .size = sizeof(o), .pt = &pt };
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;

	write_file(f->path, "no pattern", 10);
	o.tech = HWTD_TECH_INTEL_PT;
	o.cpu_plus_1 = 1;
	o.pid_plus_1 = 101;
	o.tid_plus_1 = 201;
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.cpu, 0);
	assert_int_equal(d.pid, 100);
	assert_int_equal(d.tid, 200);
	assert_int_equal(d.pt->nom_freq, 24);
	assert_int_equal(d.flags, HWTD_STREAMF_CLOCK_DERIVED);
	assert_int_equal(d.clock.counts_per, 24);
	assert_int_equal(d.clock.ns_per, 10);
	assert_ptr_equal(hwtdi_trace_pt_config(trace, 0), d.pt);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_string_equal(info.format, "raw");
	assert_string_equal(info.origin, "");
	hwtd_trace_close(trace);
	o.clock.counts_per = 5;
	o.clock.ns_per = 6;
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.flags, 0);
	assert_int_equal(d.clock.counts_per, 5);
	hwtd_trace_close(trace);
}

static void
configuration_of_options_helps_files_that_lack_it(void **state)
{
	struct fixture *f = *state;
	const struct hwtd_pt_config pt = { .size = sizeof(pt), .nom_freq = 9 };
	const struct hwtd_open_options o = { .size = sizeof(o), .pt = &pt };
	struct hwtd_stream_desc d = {
		.size = sizeof(d),
		.tech = HWTD_TECH_INTEL_PT,
	};
	struct hwtd_trace *trace;
	uint32_t id;

	assert_int_equal(hwtd_trace_create(f->ctx, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_save(trace, f->path, NULL, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.pt->nom_freq, 9);
	assert_int_equal(d.flags, HWTD_STREAMF_CLOCK_DERIVED);
	hwtd_trace_close(trace);
}

static void
clock_of_options_helps_files_that_lack_it(void **state)
{
	struct fixture *f = *state;
	const struct hwtd_open_options o = {
		.size = sizeof(o),
		.clock = { .counts_per = 5, .ns_per = 2 },
	};
	const struct hwtd_clock own = { .counts_per = 1, .ns_per = 7 };
	struct hwtd_stream_desc d = {
		.size = sizeof(d),
		.tech = HWTD_TECH_INTEL_PT,
	};
	struct hwtd_trace *trace;
	uint32_t id;

	assert_int_equal(hwtd_trace_create(f->ctx, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL), HWTD_OK);
	d.clock = own;
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_save(trace, f->path, NULL, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.clock.counts_per, 5);
	assert_int_equal(d.clock.ns_per, 2);
	assert_int_equal(hwtd_trace_stream(trace, 1, &d), HWTD_OK);
	assert_int_equal(d.clock.counts_per, 1);
	assert_int_equal(d.clock.ns_per, 7);
	hwtd_trace_close(trace);
}

static void
empty_file_of_a_known_technology_is_a_stream_without_bytes(void **state)
{
	struct fixture *f = *state;
	const struct hwtd_open_options o = {
		.size = sizeof(o),
		.tech = HWTD_TECH_INTEL_PT,
	};
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;

	write_file(f->path, "", 0);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(info.n_streams, 1);
	assert_int_equal(info.n_bytes, 0);
	assert_int_equal(info.n_damages, 0);
	hwtd_trace_close(trace);
}

static void
what_is_no_file_is_refused_without_waiting(void **state)
{
	struct fixture *f = *state;
	char fifo[300], folder[300], missing[300], empty[300];
	const struct {
		const char *path;
		int code;
		int sys_errno;
		const char *word;
	} cases[] = {
		{ temp_dir_file(&f->dir, "fifo", fifo), HWTD_E_IO, ESPIPE,
		    "pipe" },
		{ temp_dir_file(&f->dir, "folder", folder), HWTD_E_IO, EISDIR,
		    "directory" },
		{ temp_dir_file(&f->dir, "missing", missing), HWTD_E_IO,
		    ENOENT, "cannot open" },
		{ temp_dir_file(&f->dir, "empty", empty), HWTD_E_UNRECOGNIZED,
		    0, "empty" },
		{ "/dev/null", HWTD_E_IO, ESPIPE, "not a regular file" },
	};

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	write_file(empty, "", 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_trace *trace;

		print_message("case %s\n", cases[i].path);
		assert_int_equal(hwtd_trace_open(f->ctx, cases[i].path, NULL,
				     &trace, &err),
		    cases[i].code);
		assert_int_equal(err.sys_errno, cases[i].sys_errno);
		assert_non_null(strstr(err.message, cases[i].path));
		assert_non_null(strstr(err.message, cases[i].word));
	}
}

static void
misuse_is_invalid(void **state)
{
	struct fixture *f = *state;
	struct hwtd_open_options o = { .size = sizeof(o), .tech = 4 };
	struct {
		struct hwtd_open_options known;
		uint64_t more;
	} newer = { .known = { .size = sizeof(newer) }, .more = 1 };
	struct hwtd_trace *trace;

	write_file(f->path, "x", 1);
	assert_int_equal(hwtd_trace_open(NULL, f->path, NULL, &trace, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_open(f->ctx, NULL, NULL, &trace, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, NULL, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_E_INVALID);
	o.tech = 0;
	o.clock.counts_per = 1;
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_E_INVALID);
	o.clock.counts_per = 0;
	o.n_images = 1;
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &newer.known, &trace,
			     NULL),
	    HWTD_E_TOO_NEW);
}

static void
images_of_options_are_mapped(void **state)
{
	struct fixture *f = *state;
	struct hwtd_image_desc images[2] = { { .size = sizeof(images[0]) },
		{ .size = sizeof(images[0]) } };
	struct hwtd_open_options o = { .size = sizeof(o) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_span span;
	struct hwtd_trace *trace;
	char code[300];

	write_file(temp_dir_file(&f->dir, "code", code), "0123456789", 10);
	write_file(f->path, "x", 1);
	images[0].path = code;
	images[0].offset = 2;
	images[0].length = 5;
	images[0].flags = HWTD_IMAGEF_ADDRESS;
	images[0].address = 0x100;
	images[1] = images[0];
	images[1].offset = 9;
	images[1].length = 0;
	images[1].address = 0x102;
	o.tech = HWTD_TECH_INTEL_PT;
	o.images = images;
	o.n_images = 2;
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_trace_find_code(trace,
			     &(struct hwtdi_code_place){ 0 }, 0x104, &span),
	    HWTD_OK);
	assert_int_equal(span.address, 0x103);
	assert_int_equal(span.length, 2);
	assert_int_equal(span.section, 0);
	assert_memory_equal(span.bytes, "56", 2);
	assert_int_equal(hwtdi_trace_find_code(trace,
			     &(struct hwtdi_code_place){ 0 }, 0x102, &span),
	    HWTD_OK);
	assert_int_equal(span.section, 1);
	assert_int_equal(span.length, 1);
	assert_memory_equal(span.bytes, "9", 1);
	assert_int_equal(hwtdi_trace_find_code(trace,
			     &(struct hwtdi_code_place){ 0 }, 0x105, &span),
	    HWTD_E_NOT_FOUND);
	hwtd_trace_close(trace);
	images[1].offset = 8;
	images[1].length = 3;
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, &err),
	    HWTD_E_CORRUPT);
	assert_non_null(strstr(err.message, code));
	images[1].path = "/nonexistent/code";
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, &err),
	    HWTD_E_IO);
	assert_int_equal(err.sys_errno, ENOENT);
}

static void
unsealed_trace_takes_more(void **state)
{
	struct fixture *f = *state;
	struct hwtd_open_options o = { .size = sizeof(o), .unsealed = 1 };
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_trace *trace;
	char buf[20];
	size_t n;

	write_file(f->path, "from the file", 13);
	o.tech = HWTD_TECH_INTEL_PT;
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, &o, &trace, NULL),
	    HWTD_OK);
	assert_false(hwtdi_trace_sealed(trace));
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 0, buf, 5, &n, NULL),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_trace_add_bytes(trace, 0, "+more", 5, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 0, buf, 20, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, 18);
	assert_memory_equal(buf, "from the file+more", 18);
	assert_int_equal(hwtd_trace_extent(trace, 0, 0, &e), HWTD_OK);
	assert_int_equal(e.end, 18);
	hwtd_trace_close(trace);
}

/* The file is read while the trace is open; it may shrink. */
static void
file_that_shrinks_is_corrupt_not_a_crash(void **state)
{
	struct fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t *bytes = with_psb(100000, 0);
	struct hwtd_trace *trace;
	uint8_t buf[10];
	size_t n;

	write_file(f->path, bytes, 100000);
	free(bytes);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &trace, NULL),
	    HWTD_OK);
	cut_file(f->path, 100);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 5000, buf, 10, &n,
			     &err),
	    HWTD_E_CORRUPT);
	assert_int_equal(err.offset, 5000);
	hwtd_trace_close(trace);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(sync_pattern_makes_it_intel_pt),
		T(pattern_that_is_one_byte_short_is_not_enough),
		T(options_say_what_raw_bytes_are),
		T(configuration_of_options_helps_files_that_lack_it),
		T(clock_of_options_helps_files_that_lack_it),
		T(empty_file_of_a_known_technology_is_a_stream_without_bytes),
		T(what_is_no_file_is_refused_without_waiting),
		T(misuse_is_invalid),
		T(images_of_options_are_mapped),
		T(unsealed_trace_takes_more),
		T(file_that_shrinks_is_corrupt_not_a_crash),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
