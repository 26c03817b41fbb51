/*
 * Recordings of bsdtrace: what its texts become, what is damage, and how files of
 * threads are found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/lldb_bundle.h"
#include "support/temp_dir.h"
#include "trace/import/flat_json.h"

#define HEADER "{\"type\":\"header\",\"pid\":1234,\"tid\":0}\n"

/* PSB, PSBEND */
static const char
    psb[] = "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
	    "\x02\x23";

static const char *
in_dir(const struct bundle_fixture *f, const char *name)
{
	static char path[300];

	return (temp_dir_file(&f->dir, name, path));
}

static void
put_text(struct bundle_fixture *f, const char *name, const char *text)
{
	bundle_put(f, name, text, strlen(text));
}

static struct hwtd_trace *
open_text(struct bundle_fixture *f, const char *text)
{
	struct hwtd_trace *trace = NULL;
	int rc;

	put_text(f, "r.meta", text);
	bundle_put(f, "r.pt", psb, sizeof(psb) - 1);
	rc = hwtd_trace_open(f->ctx, in_dir(f, "r.pt"), NULL, &trace, &f->err);
	if (rc != HWTD_OK)
		fail_msg("%d %s", rc, f->err.message);
	return (trace);
}

static struct hwtd_trace_info
info_of(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return (info);
}

static struct hwtd_damage
damage_at(const struct hwtd_trace *trace, uint64_t i)
{
	struct hwtd_damage d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_damage(trace, i, &d), HWTD_OK);
	return (d);
}

static void
lines_become_a_stream_and_records(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = open_text(f,
	    HEADER
	    "{\"type\":\"timing\",\"mtc_freq\":9,\"cyc_thresh\":1}\n"
	    "{\"type\":\"capture_env\",\"family\":6,\"model\":151,"
	    "\"stepping\":2,\"cpuid15_eax\":2,\"cpuid15_ebx\":156,"
	    "\"nom_freq\":30}\n"
	    "{\"type\":\"addr_range\",\"a\":\"0x401000\",\"b\":\"0x401fff\","
	    "\"cfg\":1}\n"
	    "{\"type\":\"addr_range\",\"a\":\"0x1\",\"b\":\"0x1\",\"cfg\":2}\n"
	    "{\"type\":\"kernel\",\"path\":\"kernel\","
	    "\"addr\":\"0xffffffff80200000\",\"base\":\"0x0\"}\n"
	    "{\"type\":\"thread_create\",\"tid\":0}\r\n"
	    "\n"
	    "{\"type\":\"exec\",\"path\":\"/bin/a b\",\"addr\":\"0x0\","
	    "\"base\":\"0x801000000\"}\n"
	    "{\"type\":\"interp\",\"path\":\"/rtld\",\"addr\":\"0x5000\"}\n"
	    "{\"type\":\"mmap\",\"path\":\"/lib/c\",\"addr\":\"0x80200b000\","
	    "\"base\":\"0xdeadbeef\"}\n"
	    "{\"type\":\"mmap\",\"path\":\"/lib/d\",\"addr\":\"0x80300b000\","
	    "\"base\":\"0x0\",\"pgoff\":\"0x3000\",\"len\":\"0x7000\"}\n"
	    "{\"type\":\"munmap\",\"addr\":\"0x80300b000\"}\n"
	    "{\"type\":\"munmap\",\"addr\":\"0x0\"}\n"
	    "{\"type\":\"munmap\"}\n"
	    "{\"type\":\"thread_set_name\",\"tid\":1}");
	struct hwtd_stream_desc d = bundle_stream_at(trace, 0);
	struct hwtd_record r;

	assert_string_equal(info_of(trace).format, "bsdtrace");
	assert_int_equal(info_of(trace).n_streams, 1);
	assert_int_equal(info_of(trace).n_records, 10);
	assert_int_equal(info_of(trace).n_damages, 0);
	assert_int_equal(d.tech, HWTD_TECH_INTEL_PT);
	assert_int_equal(d.pid, 1234);
	assert_int_equal(d.tid, 0);
	assert_int_equal(d.cpu, HWTD_NO_ID);
	assert_int_equal(d.n_bytes, 18);
	assert_string_equal(d.name, "r.pt");
	assert_int_equal(d.pt->cpu_family, 6);
	assert_int_equal(d.pt->cpu_model, 151);
	assert_int_equal(d.pt->cpu_stepping, 2);
	assert_int_equal(d.pt->mtc_freq, 9);
	assert_int_equal(d.pt->nom_freq, 30);
	assert_int_equal(d.pt->cpuid_15h_eax, 2);
	assert_int_equal(d.pt->cpuid_15h_ebx, 156);
	assert_int_equal(d.pt->filters[0].mode, HWTD_PT_FILTER_TRACE);
	assert_int_equal(d.pt->filters[0].start, 0x401000);
	assert_int_equal(d.pt->filters[0].end, 0x401fff);
	assert_int_equal(d.pt->filters[1].mode, HWTD_PT_FILTER_STOP);
	assert_int_equal(d.pt->filters[2].mode, HWTD_PT_FILTER_OFF);
	r = bundle_record_at(trace, 0);
	assert_int_equal(r.type, HWTD_REC_KERNEL);
	assert_int_equal(r.pid, HWTD_NO_ID);
	assert_true(r.addr == 0xffffffff80200000u);
	r = bundle_record_at(trace, 1);
	assert_int_equal(r.type, HWTD_REC_THREAD_CREATE);
	assert_int_equal(r.tid, 0);
	r = bundle_record_at(trace, 2);
	assert_int_equal(r.type, HWTD_REC_EXEC);
	assert_int_equal(r.flags, HWTD_RECF_ADDR | HWTD_RECF_BASE);
	assert_int_equal(r.addr, 0);
	assert_int_equal(r.base, 0x801000000);
	assert_int_equal(r.pid, 1234);
	assert_string_equal(r.name, "/bin/a b");
	r = bundle_record_at(trace, 3);
	assert_int_equal(r.type, HWTD_REC_MODULE_LOAD);
	assert_int_equal(r.addr, 0x5000);
	r = bundle_record_at(trace, 4);
	assert_int_equal(r.type, HWTD_REC_MMAP);
	assert_int_equal(r.flags, HWTD_RECF_ADDR);
	assert_int_equal(r.addr, 0x80200b000);
	r = bundle_record_at(trace, 5);
	assert_int_equal(r.flags,
	    HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_FILE_OFF);
	assert_int_equal(r.len, 0x7000);
	assert_int_equal(r.file_off, 0x3000);
	r = bundle_record_at(trace, 6);
	assert_int_equal(r.type, HWTD_REC_MUNMAP);
	assert_int_equal(r.flags, HWTD_RECF_ADDR);
	assert_int_equal(bundle_record_at(trace, 7).flags, 0);
	assert_int_equal(bundle_record_at(trace, 8).flags, 0);
	r = bundle_record_at(trace, 9);
	assert_int_equal(r.type, HWTD_REC_THREAD_NAME);
	assert_int_equal(r.tid, 1);
	assert_non_null(strstr(hwtd_trace_file(trace, 0), "/r.meta"));
	assert_non_null(strstr(hwtd_trace_file(trace, 1), "/r.pt"));
	assert_null(hwtd_trace_file(trace, 2));
	hwtd_trace_close(trace);
}

static void
wrong_line_is_damage_that_names_its_place(void **state)
{
	static const struct {
		const char *line;
		const char *said;
	} cases[] = {
		{ "no json", "byte 1: no '{' begins" },
		{ "{\"type\":\"exec\"",
		    "byte 15: no ',' or '}' behind a field" },
		{ "{\"type\":\"exec\"}", "path is missing" },
		{ "{\"type\":\"exec\",\"path\":7}", "path is no name" },
		{ "{\"type\":\"exec\",\"path\":\"\"}", "path is no name" },
		{ "{\"type\":\"exec\",\"path\":\"/a\"}", "addr is missing" },
		{ "{\"type\":\"mmap\",\"path\":\"/a\",\"addr\":\"0xzz\"}",
		    "addr is no number" },
		{ "{\"type\":\"mmap\",\"path\":\"/a\","
		  "\"addr\":\"0x10000000000000000\"}",
		    "addr is no number" },
		{ "{\"type\":\"mmap\",\"path\":\"/a\",\"addr\":-1}",
		    "addr is less than 0" },
		{ "{\"type\":\"mmap\",\"path\":\"/a\",\"addr\":1,"
		  "\"len\":\"x\"}",
		    "len is no number" },
		{ "{\"type\":\"munmap\",\"addr\":\"nothex\"}",
		    "addr is no number" },
		{ "{\"type\":\"new\"}", "new is no known type" },
		{ "{\"a\":1}", "type is no text" },
		{ "{}", "type is no text" },
		{ "{\"type\":3}", "type is no text" },
		{ "{\"type\":\"exec\",\"type\":\"exec\"}",
		    "byte 22: a field is there twice" },
		{ "{\"type\":\"exec\"} x", "byte 17: something follows" },
		{ "{\"type\":\"exec\",\"path\":null}",
		    "byte 23: no string or number" },
		{ "{\"type\":\"exec\",\"path\":\"\\q\"}",
		    "byte 25: no such escape" },
		{ "{\"type\":\"exec\",\"path\":\"\\u00g0\"}", "\\u escape" },
		{ "{\"type\":\"exec\",\"path\":\"\\u0000\"}", "\\u escape" },
		{ "{\"type\":\"exec\",\"path\":\"\\ud800\"}", "\\u escape" },
		{ "{\"type\":\"header\",\"pid\":1,\"tid\":1}",
		    "a second header" },
		{ "{\"type\":\"timing\",\"mtc_freq\":16}",
		    "mtc_freq is too large" },
		{ "{\"type\":\"capture_env\",\"family\":65536}",
		    "family is too large" },
		{ "{\"type\":\"capture_env\",\"family\":6}",
		    "model is missing" },
		{ "{\"type\":\"addr_range\",\"a\":2,\"b\":1,\"cfg\":1}",
		    "ends before it begins" },
		{ "{\"type\":\"addr_range\",\"a\":1,\"b\":2,\"cfg\":3}",
		    "cfg is too large" },
		{ "{\"type\":\"thread_create\"}", "tid is missing" },
	};
	struct bundle_fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace;
		struct hwtd_damage d;
		char text[400];

		print_message("case %s\n", cases[i].line);
		(void)snprintf(text, sizeof(text),
		    HEADER "%s\n{\"type\":\"exec\",\"path\":\"/p\","
			   "\"addr\":\"0x0\"}\n",
		    cases[i].line);
		trace = open_text(f, text);
		assert_int_equal(info_of(trace).n_damages, 1);
		d = damage_at(trace, 0);
		assert_non_null(strstr(d.text, "r.meta: line 2: "));
		if (strstr(d.text, cases[i].said) == NULL)
			fail_msg("'%s' does not say '%s'", d.text,
			    cases[i].said);
		assert_int_equal(d.file_off, strlen(HEADER));
		assert_int_equal(d.file_bytes, strlen(cases[i].line));
		/* What is behind it is read. */
		assert_int_equal(info_of(trace).n_records, 1);
		assert_string_equal(bundle_record_at(trace, 0).name, "/p");
		assert_int_equal(bundle_stream_at(trace, 0).pid, 1234);
		hwtd_trace_close(trace);
	}
}

static void
paths_of_all_bytes_are_read(void **state)
{
	static const struct {
		const char *written;
		const char *meant;
	} cases[] = {
		{ "/a\\\"b\\\\c\\/d", "/a\"b\\c/d" },
		{ "/\\b\\f\\n\\r\\t", "/\b\f\n\r\t" },
		/* Bytes, as bsdtrace escapes them, and characters. */
		{ "/\\u00e9\\u0001", "/\xe9\x01" },
		{ "/\\u20ac", "/\xe2\x82\xac" },
		{ "/\\u0100", "/\xc4\x80" },
		{ "/\\ud83d\\ude00", "/\xf0\x9f\x98\x80" },
		/* Of before it escaped anything. */
		{ "/a\"b", "/a\"b" },
		{ "/\"\"", "/\"\"" },
		{ "/a\", b", "/a\", b" },
	};
	struct bundle_fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace;
		char text[200];

		print_message("case %s\n", cases[i].written);
		(void)snprintf(text, sizeof(text),
		    HEADER "{ \"type\" : \"exec\" , \"path\":\"%s\","
			   "\"addr\":\"0x0\"}\n",
		    cases[i].written);
		trace = open_text(f, text);
		assert_int_equal(info_of(trace).n_damages, 0);
		assert_string_equal(bundle_record_at(trace, 0).name,
		    cases[i].meant);
		hwtd_trace_close(trace);
	}
}

static void
ids_that_are_not_known_are_none(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = open_text(f,
	    "{\"type\":\"header\",\"pid\":-1,\"tid\":-1}\n");

	assert_int_equal(bundle_stream_at(trace, 0).pid, HWTD_NO_ID);
	assert_int_equal(bundle_stream_at(trace, 0).tid, HWTD_NO_ID);
	assert_null(bundle_stream_at(trace, 0).pt);
	hwtd_trace_close(trace);
	trace = open_text(f,
	    "{\"type\":\"exec\",\"path\":\"/p\",\"addr\":\"0x0\"}");
	assert_int_equal(bundle_record_at(trace, 0).pid, HWTD_NO_ID);
	hwtd_trace_close(trace);
}

static void
further_threads_have_texts_of_their_own(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_stream_desc d;
	struct hwtd_trace *trace;

	bundle_put(f, "r-tid2.pt", psb, 16);
	put_text(f, "r-tid2.meta",
	    "{\"type\":\"header\",\"pid\":1234,\"tid\":2}\n"
	    "{\"type\":\"timing\",\"mtc_freq\":5,\"cyc_thresh\":0}\n"
	    "{\"type\":\"exec\",\"path\":\"/again\",\"addr\":\"0x0\"}\n"
	    "broken");
	/* Without a text, and in the order of numbers. */
	bundle_put(f, "r-tid10.pt", psb, 17);
	bundle_put(f, "r-tid1.pt", "", 0);
	bundle_put(f, "r-tid02.pt", "", 0);
	bundle_put(f, "r-tid.pt", "", 0);
	bundle_put(f, "r-tid5.pt.old", "", 0);
	bundle_put(f, "xr-tid7.pt", "", 0);
	assert_int_equal(mkdir(in_dir(f, "r-tid3.pt"), 0700), 0);
	trace = open_text(f,
	    HEADER "{\"type\":\"timing\",\"mtc_freq\":3,\"cyc_thresh\":0}\n"
		   "{\"type\":\"exec\",\"path\":\"/p\",\"addr\":\"0x0\"}\n");
	assert_int_equal(info_of(trace).n_streams, 4);
	assert_int_equal(info_of(trace).n_records, 1);
	assert_int_equal(bundle_stream_at(trace, 1).tid, 1);
	assert_int_equal(bundle_stream_at(trace, 1).n_bytes, 0);
	d = bundle_stream_at(trace, 2);
	assert_int_equal(d.tid, 2);
	assert_int_equal(d.pid, 1234);
	assert_int_equal(d.n_bytes, 16);
	assert_int_equal(d.pt->mtc_freq, 5);
	assert_string_equal(d.name, "r-tid2.pt");
	d = bundle_stream_at(trace, 3);
	assert_int_equal(d.tid, 10);
	assert_int_equal(d.pid, 1234);
	assert_int_equal(d.n_bytes, 17);
	assert_int_equal(d.pt->mtc_freq, 3);
	assert_int_equal(info_of(trace).n_damages, 2);
	assert_non_null(strstr(damage_at(trace, 0).text,
	    "r-tid2.meta: line 4: byte 1"));
	assert_int_equal(damage_at(trace, 0).file_bytes, 0);
	assert_non_null(strstr(damage_at(trace, 1).text, "cannot read"));
	hwtd_trace_close(trace);
	assert_int_equal(rmdir(in_dir(f, "r-tid3.pt")), 0);
	/* One of them, alone. */
	assert_int_equal(hwtd_trace_open(f->ctx, in_dir(f, "r-tid2.pt"), NULL,
			     &trace, NULL),
	    HWTD_OK);
	assert_int_equal(info_of(trace).n_streams, 1);
	assert_int_equal(info_of(trace).n_records, 1);
	assert_int_equal(bundle_stream_at(trace, 0).tid, 2);
	hwtd_trace_close(trace);
}

static void
bytes_are_read_where_they_lie(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_context_options opts = { .size = sizeof(opts),
		.max_memory = (uint64_t)1 << 20 };
	const size_t n = (size_t)8 << 20;
	uint8_t *bytes = calloc(1, n);
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	assert_non_null(bytes);
	put_text(f, "r.meta", HEADER);
	put_text(f, "r-tid1.meta", HEADER);
	bundle_put(f, "r.pt", bytes, n);
	bundle_put(f, "r-tid1.pt", bytes, n);
	free(bytes);
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_open(ctx, in_dir(f, "r.pt"), NULL, &trace,
			     NULL),
	    HWTD_OK);
	assert_int_equal(bundle_stream_at(trace, 0).n_bytes, n);
	assert_int_equal(bundle_stream_at(trace, 1).n_bytes, n);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
}

static void
content_tells_a_recording(void **state)
{
	const struct hwtd_open_options raw = { .size = sizeof(raw),
		.tech = HWTD_TECH_INTEL_PT };
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace;

	/* Who names the technology says that the bytes are raw. */
	hwtd_trace_close(open_text(f, HEADER));
	assert_int_equal(hwtd_trace_open(f->ctx, in_dir(f, "r.pt"), &raw,
			     &trace, NULL),
	    HWTD_OK);
	assert_string_equal(info_of(trace).format, "raw");
	assert_int_equal(info_of(trace).n_bytes, 18);
	hwtd_trace_close(trace);
	/* Another text beside the bytes. */
	put_text(f, "r.meta", "{\"type\":\"intel-pt\"}\nheader\n");
	assert_int_equal(hwtd_trace_open(f->ctx, in_dir(f, "r.pt"), NULL,
			     &trace, NULL),
	    HWTD_OK);
	assert_string_equal(info_of(trace).format, "raw");
	hwtd_trace_close(trace);
	/* The first lines are lost. */
	trace = open_text(f, "\xff\xfe\nlost\n { \"type\" : \"exec\"");
	assert_string_equal(info_of(trace).format, "bsdtrace");
	assert_int_equal(info_of(trace).n_damages, 3);
	hwtd_trace_close(trace);
	/* Bytes that are not there. */
	put_text(f, "x.meta", HEADER);
	assert_int_equal(hwtd_trace_open(f->ctx, in_dir(f, "x.meta"), NULL,
			     &trace, &f->err),
	    HWTD_E_IO);
	assert_non_null(strstr(f->err.message, "x.pt"));
}

static void
every_refused_allocation_is_told(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct failing_allocator failing;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	size_t n = 0;
	int rc;

	bundle_put(f, "r-tid1.pt", psb, 16);
	put_text(f, "r-tid1.meta", HEADER "broken");
	hwtd_trace_close(open_text(f,
	    HEADER "{\"type\":\"exec\",\"path\":\"/p\",\"addr\":\"0x0\"}\n"
		   "{\"type\":\"mmap\",\"path\":\"/l\",\"addr\":\"0x0\"}\n"
		   "broken\n"));
	failing_allocator_init(&failing);
	opts.allocator = &failing.allocator;
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	do {
		failing_allocator_arm(&failing, ++n, false);
		rc = hwtd_trace_open(ctx, in_dir(f, "r.pt"), NULL, &trace,
		    NULL);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
	} while (rc != HWTD_OK && n < 1000);
	assert_int_equal(rc, HWTD_OK);
	assert_true(n > 20);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(failing.blocks, 0);
}

static void
more_fields_than_there_are_are_refused(void **state)
{
	struct hwtdi_flat_line line;
	char text[400];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < HWTDI_FLAT_FIELDS + 1; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "%s\"k%d\":%d", i == 0 ? "{" : ",", i, i);
	text[n] = '}';
	assert_false(hwtdi_flat_parse(&line, text, n + 1));
	assert_string_equal(line.why, "too many fields");
	assert_int_equal(line.n, HWTDI_FLAT_FIELDS);
	assert_int_equal(hwtdi_flat_find(&line, "k3")->number, 3);
	assert_null(hwtdi_flat_find(&line, "k16"));
}

int
main(void)
{
#define TEST(name)                                                            \
	cmocka_unit_test_setup_teardown(name, bundle_set_up, bundle_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(lines_become_a_stream_and_records),
		TEST(wrong_line_is_damage_that_names_its_place),
		TEST(paths_of_all_bytes_are_read),
		TEST(ids_that_are_not_known_are_none),
		TEST(further_threads_have_texts_of_their_own),
		TEST(bytes_are_read_where_they_lie),
		TEST(content_tells_a_recording),
		TEST(every_refused_allocation_is_told),
		cmocka_unit_test(more_fields_than_there_are_are_refused),
	};
#undef TEST

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
