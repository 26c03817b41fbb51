/*
 * Trace bundles of LLDB: what their texts and files become, and what is
 * refused with which words.
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

static void
threads_and_modules_become_streams_and_records(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace = bundle_must_open(f,
	    " \n{ \"more\": {}, \"kernel\": null, \"cpus\": null," CPU_INFO
	    ",\"processes\":[{\"pid\":10,\"triple\":\"x86_64-*-linux\","
	    "\"threads\":[{\"tid\":11,\"iptTrace\":\"t\"},{\"tid\":12},"
	    "{\"tid\":4294967294,\"iptTrace\":\"none\"}],"
	    "\"modules\":[{\"systemPath\":\"/usr/lib/away\","
	    "\"file\":\"away\",\"loadAddress\":\"0xFFFFFFFFFFFF0000\","
	    "\"uuid\":\"00112233-4455-6677-8899-AABBCCDDEEFF-01020304\"},"
	    "{\"systemPath\":\"/usr/lib/gone\",\"loadAddress\":4096}]}],"
	    "\"type\":\"intel-pt\"}\n");
	struct hwtd_stream_desc d = bundle_stream_at(trace, 0);
	struct hwtd_record r;
	char path[300];

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_string_equal(info.format, "lldb");
	assert_int_equal(info.n_streams, 2);
	assert_int_equal(info.n_records, 5);
	assert_string_equal(hwtd_trace_file(trace, 0), f->path);
	assert_non_null(strstr(hwtd_trace_file(trace, 1), "/t"));
	assert_non_null(strstr(hwtd_trace_file(trace, 2), "/none"));
	assert_null(hwtd_trace_file(trace, 3));
	assert_null(hwtd_trace_file(NULL, 0));
	assert_int_equal(d.tech, HWTD_TECH_INTEL_PT);
	assert_int_equal(d.cpu, HWTD_NO_ID);
	assert_int_equal(d.pid, 10);
	assert_int_equal(d.tid, 11);
	assert_int_equal(d.n_bytes, 5);
	assert_int_equal(d.clock.counts_per, 0);
	assert_string_equal(d.name, "t");
	assert_int_equal(d.pt->cpu_family, 6);
	assert_int_equal(d.pt->cpu_model, 79);
	assert_int_equal(d.pt->cpu_stepping, 1);
	assert_int_equal(bundle_stream_at(trace, 1).tid, 4294967294u);
	assert_int_equal(bundle_stream_at(trace, 1).n_bytes, 0);
	r = bundle_record_at(trace, 1);
	assert_int_equal(r.type, HWTD_REC_THREAD_CREATE);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 12);
	r = bundle_record_at(trace, 3);
	assert_int_equal(r.type, HWTD_REC_MODULE_LOAD);
	assert_int_equal(r.flags, HWTD_RECF_TIME | HWTD_RECF_ADDR);
	assert_int_equal(r.time_ns, 0);
	assert_int_equal(r.pid, 10);
	assert_true(r.addr == 0xffffffffffff0000u);
	assert_string_equal(r.name, temp_dir_file(&f->dir, "away", path));
	assert_int_equal(r.n_build_id, 20);
	assert_memory_equal(r.build_id, "\x00\x11\x22\x33\x44", 5);
	assert_int_equal(r.build_id[19], 4);
	r = bundle_record_at(trace, 4);
	assert_string_equal(r.name, "/usr/lib/gone");
	assert_int_equal(r.addr, 4096);
	assert_int_equal(r.n_build_id, 0);
	hwtd_trace_close(trace);
}

static void
uuid_is_a_build_id_or_is_not_checked(void **state)
{
	static const struct {
		const char *uuid;
		uint32_t n;
	} cases[] = {
		{ "", 0 },
		{ "no uuid", 0 },
		{ "0", 0 },
		{ "0-1", 0 },
		{ "01020304", 0 },
		{ "0102030405", 5 },
		{ "00112233-4455-6677-8899-aaBBccDDeeFF", 16 },
		{ "0102030405-", 5 },
		{ "01020304056", 0 },
		{ "0001020304050607080910111213141516171819202122232425262728"
		  "293031",
		    32 },
		{ "0001020304050607080910111213141516171819202122232425262728"
		  "29303132",
		    0 },
	};
	static const uint8_t zero[HWTD_MAX_BUILD_ID];
	struct bundle_fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace;
		struct hwtd_record r;
		char text[600];

		print_message("case '%s'\n", cases[i].uuid);
		(void)snprintf(text, sizeof(text),
		    PROCESS("\"threads\":[],\"modules\":[{\"systemPath\":"
			    "\"gone\",\"loadAddress\":0,\"uuid\":\"%s\"}]"),
		    cases[i].uuid);
		trace = bundle_must_open(f, text);
		r = bundle_record_at(trace, 0);
		assert_int_equal(r.n_build_id, cases[i].n);
		if (cases[i].n == 0)
			assert_memory_equal(r.build_id, zero, sizeof(zero));
		hwtd_trace_close(trace);
	}
}

static void
module_that_is_not_there_is_a_missing_image(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_image_info image = { .size = sizeof(image) };
	struct hwtd_trace *trace;

	bundle_put_module(f, "mod", "\x90", 1);
	trace = bundle_must_open(f,
	    PROCESS("\"threads\":[],\"modules\":[{\"systemPath\":\"gone\","
		    "\"loadAddress\":4096},{\"systemPath\":\"/x/mod\","
		    "\"file\":\"mod\",\"loadAddress\":8192},"
		    "{\"systemPath\":\"mod\",\"loadAddress\":65536,"
		    "\"uuid\":\"\"}]"));
	assert_int_equal(hwtd_trace_image(trace, 0, &image), HWTD_OK);
	assert_int_equal(image.state, HWTD_IMAGE_MISSING);
	assert_int_equal(hwtd_trace_image(trace, 1, &image), HWTD_OK);
	assert_int_equal(image.state, HWTD_IMAGE_FOUND);
	/* The third is the same file as the second. */
	assert_int_equal(hwtd_trace_image(trace, 2, &image), HWTD_E_NOT_FOUND);
	hwtd_trace_close(trace);
}

static void
clock_is_that_of_perf(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = bundle_must_open(f,
	    BUNDLE("\"tscPerfZeroConversion\":{\"timeMult\":1076264588,"
		   "\"timeShift\":31,\"timeZero\":18433473881008870804},"
		   "\"processes\":[{\"pid\":1,\"threads\":[{\"tid\":1,"
		   "\"iptTrace\":\"t\"}],\"modules\":[]}]"));
	struct hwtd_clock clock = bundle_stream_at(trace, 0).clock;

	assert_true(clock.counts_per == (uint64_t)1 << 31);
	assert_true(clock.ns_per == 1076264588);
	assert_true(clock.base_count == 0);
	assert_true(clock.base_ns == 18433473881008870804u);
	hwtd_trace_close(trace);
}

static void
kernel_is_a_record_of_its_own(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = bundle_must_open(f,
	    BUNDLE(CLOCK ",\"kernel\":{\"file\":\"vmlinux\"},"
			 "\"cpus\":[{\"id\":0,\"iptTrace\":\"t\","
			 "\"contextSwitchTrace\":\"none\"}]"));
	struct hwtd_record r = bundle_record_at(trace, 0);

	assert_int_equal(r.type, HWTD_REC_KERNEL);
	assert_int_equal(r.pid, HWTD_NO_ID);
	assert_true(r.addr == 0xffffffff81000000u);
	hwtd_trace_close(trace);
	trace = bundle_must_open(f,
	    BUNDLE(CLOCK ",\"kernel\":{\"file\":\"vmlinux\","
			 "\"loadAddress\":\"18446744071600000000\"},"
			 "\"cpus\":[],\"processes\":[]"));
	assert_true(bundle_record_at(trace, 0).addr == 18446744071600000000u);
	hwtd_trace_close(trace);
}

static void
processor_of_another_vendor_is_what_the_user_says(void **state)
{
	const struct hwtd_pt_config pt = { .size = sizeof(pt),
		.cpu_family = 6,
		.cpu_model = 1,
		.mtc_freq = 3 };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.pt = &pt,
		.clock = { 3, 1, 0, 0 } };
	static const char text
	    [] = "{\"type\":\"intel-pt\",\"cpuInfo\":{\"vendor\":\"Unknown\","
		 "\"family\":0,\"model\":0,\"stepping\":0},\"processes\":["
		 "{\"pid\":1,\"threads\":[{\"tid\":1,\"iptTrace\":\"t\"}],"
		 "\"modules\":[]}]}";
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = bundle_must_open(f, text);

	assert_null(bundle_stream_at(trace, 0).pt);
	hwtd_trace_close(trace);
	assert_int_equal(bundle_try_open(f, text, &opts, &trace), HWTD_OK);
	assert_int_equal(bundle_stream_at(trace, 0).pt->cpu_model, 1);
	assert_int_equal(bundle_stream_at(trace, 0).pt->mtc_freq, 3);
	assert_int_equal(bundle_stream_at(trace, 0).clock.counts_per, 3);
	hwtd_trace_close(trace);
	assert_int_equal(bundle_try_open(f,
			     PROCESS("\"threads\":[{\"tid\":1,\"iptTrace\":"
				     "\"t\"}],\"modules\":[]"),
			     &opts, &trace),
	    HWTD_OK);
	assert_int_equal(bundle_stream_at(trace, 0).pt->cpu_model, 79);
	assert_int_equal(bundle_stream_at(trace, 0).pt->mtc_freq, 3);
	hwtd_trace_close(trace);
}

static void
refusals_name_the_place(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *message;
	} cases[] = {
		{ "{}", HWTD_E_UNRECOGNIZED, "it has no \"type\"" },
		{ "{\"type\":1}", HWTD_E_CORRUPT,
		    "type: expected a string, found 1" },
		{ "{\"type\":\"arm-etm\"}", HWTD_E_UNRECOGNIZED,
		    "type \"arm-etm\"; \"intel-pt\" is known" },
		{ "{\"type\":\"intel-pt\"", HWTD_E_CORRUPT,
		    "ends too early, in line 1" },
		{ "{\"type\":\n\"intel-pt\",,}", HWTD_E_CORRUPT,
		    "no JSON in line 2, column 12" },
		{ "{\"type\":\"intel-pt\"} {}", HWTD_E_CORRUPT,
		    "follows the JSON text, from byte 20" },
		{ "{\"type\":\"intel-pt\",\"a\":[[[[[[[[[[[[[[[[[[]]]]]]]]]]"
		  "]]]]]]]]}",
		    HWTD_E_LIMIT, "nested deeper than 16" },
		{ "{\"type\":\"intel-pt\",\"processes\":[]}", HWTD_E_CORRUPT,
		    ": cpuInfo: is missing; expected an object" },
		{ "{\"type\":\"intel-pt\"," CPU_INFO "}", HWTD_E_CORRUPT,
		    ": processes: is missing; expected an array" },
		{ BUNDLE("\"processes\":{}"), HWTD_E_CORRUPT,
		    ": processes: expected an array, found { }" },
		{ BUNDLE("\"processes\":[123]"), HWTD_E_CORRUPT,
		    ": processes[0]: expected an object, found 123" },
		{ BUNDLE("\"processes\":[{}]"), HWTD_E_CORRUPT,
		    ": processes[0].pid: is missing; expected a whole" },
		{ BUNDLE("\"processes\":[{\"pid\":-1}]"), HWTD_E_CORRUPT,
		    ": processes[0].pid: expected a whole number from 0 on, "
		    "found -1" },
		{ BUNDLE("\"processes\":[{\"pid\":4294967295}]"),
		    HWTD_E_CORRUPT, "4294967295 is too large" },
		{ BUNDLE("\"processes\":[{\"pid\":99999999999999999999}]"),
		    HWTD_E_CORRUPT,
		    "18446744073709551615 or more is too large" },
		{ PROCESS("\"triple\":3"), HWTD_E_CORRUPT,
		    ": processes[0].triple: expected a string, found 3" },
		{ PROCESS("\"modules\":[]"), HWTD_E_CORRUPT,
		    ": processes[0].threads: is missing; expected an array" },
		{ PROCESS("\"threads\":[]"), HWTD_E_CORRUPT,
		    ": processes[0].modules: is missing; expected an array" },
		{ PROCESS("\"threads\":[{\"tid\":1},{\"tid\":\"2\"}]"),
		    HWTD_E_CORRUPT,
		    ": processes[0].threads[1].tid: expected a whole" },
		{ PROCESS("\"threads\":[{\"tid\":1,\"iptTrace\":{}}]"),
		    HWTD_E_CORRUPT,
		    ": processes[0].threads[0].iptTrace: expected a string" },
		{ PROCESS("\"threads\":[{\"tid\":1,\"iptTrace\":\"\"}]"),
		    HWTD_E_CORRUPT, "iptTrace: is no file name" },
		{ PROCESS("\"threads\":[{\"tid\":1,\"iptTrace\":\"a\\u0000\""
			  "}]"),
		    HWTD_E_CORRUPT, "iptTrace: holds a NUL" },
		{ PROCESS("\"threads\":[{\"tid\":1,\"iptTrace\":\"gone\"}]"),
		    HWTD_E_IO, "threads[0].iptTrace: cannot read " },
		{ PROCESS("\"threads\":[{\"tid\":1,\"iptTrace\":\".\"}]"),
		    HWTD_E_IO, "is not a regular file" },
		{ PROCESS("\"threads\":[{\"tid\":1,\"iptTrace\":\"fifo\"}]"),
		    HWTD_E_IO, "is not a regular file" },
		{ PROCESS("\"threads\":[],\"modules\":[{}]"), HWTD_E_CORRUPT,
		    ": processes[0].modules[0].systemPath: is missing" },
		{ PROCESS("\"threads\":[],\"modules\":[{\"systemPath\":\"\","
			  "\"loadAddress\":0}]"),
		    HWTD_E_CORRUPT, "modules[0]: is no file name" },
		{ PROCESS("\"threads\":[],\"modules\":[{\"systemPath\":\"a\""
			  "}]"),
		    HWTD_E_CORRUPT, "modules[0].loadAddress: is missing" },
		{ PROCESS("\"threads\":[],\"modules\":[{\"systemPath\":\"a\","
			  "\"loadAddress\":1,\"uuid\":1}]"),
		    HWTD_E_CORRUPT, "modules[0].uuid: expected a string" },
		{ "{\"type\":\"intel-pt\",\"processes\":[],\"cpuInfo\":{"
		  "\"vendor\":\"GenuineIntel\",\"family\":\"6\"}}",
		    HWTD_E_CORRUPT, ": cpuInfo.family: expected a whole" },
		{ "{\"type\":\"intel-pt\",\"processes\":[],\"cpuInfo\":{"
		  "\"vendor\":\"GenuineIntel\",\"family\":65536}}",
		    HWTD_E_CORRUPT,
		    ": cpuInfo.family: 65536 is too large; at most 65535" },
		{ "{\"type\":\"intel-pt\",\"processes\":[],\"cpuInfo\":{"
		  "\"vendor\":null}}",
		    HWTD_E_CORRUPT, ": cpuInfo.vendor: expected a string" },
		{ BUNDLE("\"processes\":[],\"cpus\":[]"), HWTD_E_CORRUPT,
		    ": tscPerfZeroConversion: is missing; cpus need it" },
		{ BUNDLE(CLOCK ",\"cpus\":[]"), HWTD_E_CORRUPT,
		    ": processes: is missing" },
		{ CPU_TRACE("\"cpus\":[{\"id\":0}]"), HWTD_E_CORRUPT,
		    ": cpus[0].iptTrace: is missing" },
		{ CPU_TRACE("\"cpus\":[{\"id\":0,\"iptTrace\":\"t\"}]"),
		    HWTD_E_CORRUPT,
		    ": cpus[0].contextSwitchTrace: is missing" },
		{ CPU_TRACE("\"cpus\":[{\"id\":0,\"iptTrace\":\"t\","
			    "\"contextSwitchTrace\":\"gone\"}]"),
		    HWTD_E_IO, ": cpus[0].contextSwitchTrace: cannot read" },
		{ BUNDLE("\"processes\":[],\"kernel\":{\"file\":\"k\"}"),
		    HWTD_E_CORRUPT, ": cpus: is missing; a kernel needs it" },
		{ BUNDLE(CLOCK ",\"cpus\":[],\"kernel\":{}"), HWTD_E_CORRUPT,
		    ": kernel.file: is missing" },
		{ BUNDLE(CLOCK ",\"cpus\":[],\"kernel\":{\"file\":\"k\"},"
			       "\"processes\":[{}]"),
		    HWTD_E_CORRUPT,
		    ": processes: expected nothing beside a kernel" },
		{ BUNDLE("\"processes\":[],\"tscPerfZeroConversion\":{"
			 "\"timeMult\":0,\"timeShift\":0,\"timeZero\":0}"),
		    HWTD_E_CORRUPT,
		    ": tscPerfZeroConversion.timeMult: 0 would stop" },
		{ BUNDLE("\"processes\":[],\"tscPerfZeroConversion\":{"
			 "\"timeMult\":1,\"timeShift\":64,\"timeZero\":0}"),
		    HWTD_E_CORRUPT, ".timeShift: 64 is too large" },
		{ BUNDLE("\"processes\":[],\"tscPerfZeroConversion\":{"
			 "\"timeMult\":1,\"timeShift\":0}"),
		    HWTD_E_CORRUPT, ".timeZero: is missing" },
	};
	struct bundle_fixture *f = *state;
	char fifo[300];

	assert_int_equal(mkfifo(temp_dir_file(&f->dir, "fifo", fifo), 0600),
	    0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace = NULL;
		int rc;

		print_message("case %s\n", cases[i].text);
		rc = bundle_try_open(f, cases[i].text, NULL, &trace);
		if (rc != cases[i].rc ||
		    strstr(f->err.message, cases[i].message) == NULL ||
		    strncmp(f->err.message, f->path, strlen(f->path)) != 0)
			fail_msg("%d %s", rc, f->err.message);
	}
}

/* What procfs says about sizes is not true. */
static void
streams_that_claim_to_be_empty_are_refused(void **state)
{
	struct bundle_fixture *f = *state;
	struct hwtd_trace *trace = NULL;

	if (access("/proc/self/maps", R_OK) != 0)
		skip();
	assert_int_equal(bundle_try_open(f,
			     PROCESS("\"modules\":[],\"threads\":[{\"tid\":1,"
				     "\"iptTrace\":\"/proc/self/maps\"}]"),
			     NULL, &trace),
	    HWTD_E_IO);
	assert_non_null(strstr(f->err.message,
	    ".iptTrace: cannot read /proc/self/maps: claims to be empty"));
	bundle_put(f, "t", "", 0);
	trace = bundle_must_open(f,
	    PROCESS("\"modules\":[],\"threads\":[{\"tid\":1,"
		    "\"iptTrace\":\"t\"}]"));
	assert_int_equal(bundle_stream_at(trace, 0).n_bytes, 0);
	hwtd_trace_close(trace);
}

static void
addresses_are_numbers_or_texts(void **state)
{
	static const struct {
		const char *value;
		int rc;
		uint64_t address;
	} cases[] = {
		{ "0", HWTD_OK, 0 },
		{ "18446744073709551614", HWTD_OK, UINT64_MAX - 1 },
		{ "\"18446744073709551615\"", HWTD_OK, UINT64_MAX },
		{ "\"0x1F\"", HWTD_OK, 31 },
		{ "\"010\"", HWTD_OK, 10 },
		{ "\"18446744073709551616\"", HWTD_E_CORRUPT, 0 },
		{ "18446744073709551616", HWTD_E_CORRUPT, 0 },
		{ "-1", HWTD_E_CORRUPT, 0 },
		{ "1.5", HWTD_E_CORRUPT, 0 },
		{ "NaN", HWTD_E_CORRUPT, 0 },
		{ "null", HWTD_E_CORRUPT, 0 },
		{ "\"\"", HWTD_E_CORRUPT, 0 },
		{ "\"0x\"", HWTD_E_CORRUPT, 0 },
		{ "\"0x0x1\"", HWTD_E_CORRUPT, 0 },
		{ "\"-1\"", HWTD_E_CORRUPT, 0 },
		{ "\" 1\"", HWTD_E_CORRUPT, 0 },
		{ "\"1f\"", HWTD_E_CORRUPT, 0 },
		{ "\"1 \"", HWTD_E_CORRUPT, 0 },
	};
	struct bundle_fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace = NULL;
		char text[400];

		print_message("case %s\n", cases[i].value);
		(void)snprintf(text, sizeof(text),
		    PROCESS("\"threads\":[],\"modules\":[{\"systemPath\":"
			    "\"gone\",\"loadAddress\":%s}]"),
		    cases[i].value);
		assert_int_equal(bundle_try_open(f, text, NULL, &trace),
		    cases[i].rc);
		if (cases[i].rc != HWTD_OK) {
			assert_non_null(strstr(f->err.message,
			    "modules[0].loadAddress: "));
			continue;
		}
		assert_true(bundle_record_at(trace, 0).addr ==
		    cases[i].address);
		hwtd_trace_close(trace);
	}
}

static void
text_that_needs_more_memory_than_allowed_is_refused(void **state)
{
	struct bundle_fixture *f = *state;
	const struct hwtd_context_options small = { .size = sizeof(small),
		.max_memory = (uint64_t)1 << 20 };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace = NULL;
	const size_t n = 16384;
	char *text = calloc(1, 100 + n * 3);

	(void)strcpy(text, "{\"type\":\"intel-pt\",\"a\":[{}");
	for (size_t i = 0; i < n; i++)
		(void)strcpy(text + 25 + i * 3, ",{}");
	(void)strcpy(text + 25 + n * 3, "]}");
	assert_int_equal(bundle_try_open(f, text, NULL, &trace),
	    HWTD_E_CORRUPT);
	assert_int_equal(hwtd_context_create(&small, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_open(ctx, f->path, NULL, &trace, &f->err),
	    HWTD_E_LIMIT);
	assert_non_null(strstr(f->err.message, "max_memory is 1048576"));
	hwtd_context_destroy(ctx);
	free(text);
}

/* json-c takes its own memory; all else can be refused. */
static void
every_refused_allocation_is_told(void **state)
{
	struct bundle_fixture *f = *state;
	struct failing_allocator failing;
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace = NULL;
	uint8_t bytes[32];
	uint64_t n = 0;
	int rc;

	bundle_put(f, "s", bytes, bundle_put_switch(bytes, 15, 0, 1, 1, 1));
	hwtd_trace_close(bundle_must_open(f,
	    BUNDLE(CLOCK ",\"cpus\":[{\"id\":0,\"iptTrace\":\"t\","
			 "\"contextSwitchTrace\":\"s\"}],\"processes\":[{"
			 "\"pid\":1,\"triple\":\"x\",\"threads\":[{\"tid\":"
			 "1}],\"modules\":[{\"systemPath\":\"t\","
			 "\"loadAddress\":0}]}]")));
	failing_allocator_init(&failing);
	opts.allocator = &failing.allocator;
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	do {
		failing_allocator_arm(&failing, ++n, false);
		rc = hwtd_trace_open(ctx, f->path, NULL, &trace, NULL);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
	} while (rc != HWTD_OK && n < 1000);
	assert_int_equal(rc, HWTD_OK);
	assert_true(n > 20);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(failing.blocks, 0);
}

static void
content_tells_a_bundle_unless_the_user_does(void **state)
{
	const struct hwtd_open_options raw = { .size = sizeof(raw),
		.tech = HWTD_TECH_INTEL_PT };
	static const char text[] = PROCESS("\"threads\":[],\"modules\":[]");
	struct bundle_fixture *f = *state;
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;

	assert_int_equal(bundle_try_open(f, text, &raw, &trace), HWTD_OK);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_string_equal(info.format, "raw");
	assert_int_equal(info.n_bytes, sizeof(text) - 1);
	hwtd_trace_close(trace);
	/* Bytes of a trace can start like JSON, but are no text. */
	write_file(f->path,
	    "{\"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02"
	    "\x82\x02\x82\x02\x82",
	    18);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_string_equal(info.format, "raw");
	hwtd_trace_close(trace);
	assert_int_equal(bundle_try_open(f, "[1, 2]", NULL, &trace),
	    HWTD_E_UNRECOGNIZED);
	assert_int_equal(bundle_try_open(f, "{ a", NULL, &trace),
	    HWTD_E_UNRECOGNIZED);
}

int
main(void)
{
#define TEST(name)                                                            \
	cmocka_unit_test_setup_teardown(name, bundle_set_up, bundle_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(threads_and_modules_become_streams_and_records),
		TEST(uuid_is_a_build_id_or_is_not_checked),
		TEST(module_that_is_not_there_is_a_missing_image),
		TEST(clock_is_that_of_perf),
		TEST(kernel_is_a_record_of_its_own),
		TEST(processor_of_another_vendor_is_what_the_user_says),
		TEST(refusals_name_the_place),
		TEST(streams_that_claim_to_be_empty_are_refused),
		TEST(addresses_are_numbers_or_texts),
		TEST(text_that_needs_more_memory_than_allowed_is_refused),
		TEST(every_refused_allocation_is_told),
		TEST(content_tells_a_bundle_unless_the_user_does),
	};
#undef TEST

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
