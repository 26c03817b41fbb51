/*
 * Trace-and-debug snapshots: what their texts and files become, and what is
 * refused with which words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/snapshot_folder.h"

static void
sinks_and_sources_become_streams(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace = snapshot_must_open(f);
	char path[300];

	snapshot_assert_all(trace);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_string_equal(info.format, "snapshot");
	assert_string_equal(info.origin, "made by a test");
	assert_string_equal(hwtd_trace_file(trace, 0),
	    temp_dir_file(&f->dir, "snapshot.ini", path));
	/* Four devices, the trace, its buffer. */
	assert_non_null(hwtd_trace_file(trace, 6));
	assert_null(hwtd_trace_file(trace, 7));
	assert_string_equal(f->log, "");
	hwtd_trace_close(trace);
	assert_int_equal(snapshot_try_open(f, "snapshot.ini", &trace),
	    HWTD_OK);
	snapshot_assert_all(trace);
	hwtd_trace_close(trace);
	/* Any name: the content counts. */
	snapshot_put(f, "other", SNAPSHOT_ROOT);
	assert_int_equal(snapshot_try_open(f, "other", &trace), HWTD_OK);
	hwtd_trace_close(trace);
	assert_int_equal(snapshot_try_open(f, "trace.ini", &trace),
	    HWTD_E_UNRECOGNIZED);
}

static void
a_folder_without_a_snapshot_is_a_folder(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;
	char path[300];

	assert_int_equal(remove(temp_dir_file(&f->dir, "snapshot.ini", path)),
	    0);
	assert_int_equal(snapshot_try_open(f, NULL, &trace), HWTD_E_IO);
	assert_non_null(strstr(f->err.message, "directory"));
}

#define SINGLE(name, file)                                                    \
	"[" name "]\nname=" name "\nfile=" file "\nformat=source_data\n"

static void
buffers_without_frames_are_of_one_source(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_trace *trace;
	struct hwtd_stream_desc d;

	snapshot_put(f, "a.bin", "first");
	snapshot_put(f, "b.bin", "second");
	snapshot_put(f, "trace.ini",
	    "[trace_buffers]\nbuffers= x , y,\n" SINGLE("x", "a.bin, b.bin")
		SINGLE("y", "b.bin") "[source_buffers]\nSTM_0=x\nETM_1=x,y\n"
				     "none=x\n");
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 2, 0);
	d = snapshot_stream_at(trace, 0);
	assert_string_equal(d.name, "STM_0");
	assert_int_equal(d.framing, HWTD_FRAMING_NONE);
	assert_int_equal(d.sink_plus_1, 0);
	assert_int_equal(d.coresight->protocol, HWTD_CS_STM);
	snapshot_assert_bytes(trace, 0, "firstsecond");
	assert_int_equal(hwtd_trace_extent(trace, 0, 1, &e), HWTD_OK);
	assert_int_equal(e.start, 5);
	assert_int_equal(e.why, HWTD_EXTENT_NEW);
	/* Nobody is left for the second. */
	d = snapshot_stream_at(trace, 1);
	assert_string_equal(d.name, "y");
	assert_null(d.coresight);
	snapshot_assert_bytes(trace, 1, "second");
	assert_non_null(strstr(f->log,
	    "ETM_1: buffer x has no frames, its bytes are those of STM_0"));
	assert_non_null(strstr(f->log,
	    "trace.ini: line 14: there is no trace source 'none'"));
	assert_non_null(strstr(f->log, "y: no source of its bytes"));
	hwtd_trace_close(trace);
}

static void
one_buffer_is_that_of_all_sources(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;

	snapshot_put(f, "trace.ini",
	    "[trace_buffers]\nbuffers=b\n[b]\nfile=etb.bin\n"
	    "format=coresight\n[core_trace_sources]\ncpu_1=ETM_1\n");
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 3, 0);
	assert_string_equal(snapshot_stream_at(trace, 0).name, "b");
	snapshot_assert_bytes(trace, 1, SNAPSHOT_ETM_BYTES);
	snapshot_assert_bytes(trace, 2, SNAPSHOT_STM_BYTES);
	hwtd_trace_close(trace);
	snapshot_put(f, "trace.ini",
	    "[trace_buffers]\nbuffers=b,c\n[b]\nfile=etb.bin\n"
	    "format=coresight\n[c]\nfile=etb.bin\nformat=dstream_coresight\n"
	    "[source_buffers]\nETM_1=c\nSTM_0=d\n");
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 3, 0);
	assert_int_equal(snapshot_stream_at(trace, 1).framing,
	    HWTD_FRAMING_DSTREAM);
	assert_int_equal(snapshot_stream_at(trace, 2).sink_plus_1, 2);
	assert_non_null(strstr(f->log,
	    "trace.ini: line 11: there is no buffer 'd' of STM_0"));
	assert_non_null(strstr(f->log,
	    "STM_0: nothing says in which buffer its trace is"));
	assert_non_null(strstr(f->log,
	    "ETM_1: nothing says which core it traces"));
	hwtd_trace_close(trace);
}

static void
one_core_may_have_several_sources(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;

	snapshot_put(f, "cpu_0.ini",
	    "[device]\nname=cpu_0\nclass=core\ntype=Own-1\n");
	snapshot_put(f, "cpu_1.ini",
	    "[device]\nname=ETM_0\nclass=trace_source\ntype=PTM1.1\n"
	    "[regs]\nETMTRACEIDR=0x10\nETMCR=1\nETMIDR=2\nETMCCER=3\n");
	snapshot_put(f, "trace.ini",
	    "[trace_buffers]\nbuffers=b\n[b]\nfile=etb.bin\n"
	    "format=coresight\n[core_trace_sources]\ncpu_0=ETM_1\n"
	    "cpu_0=ETM_0\ncpu_9=ETM_0\n");
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 4, 0);
	assert_string_equal(snapshot_stream_at(trace, 1).name, "ETM_0");
	assert_int_equal(snapshot_stream_at(trace, 1).cpu, 0);
	assert_int_equal(snapshot_stream_at(trace, 2).cpu, 0);
	/* The source is kept. */
	assert_int_equal(snapshot_stream_at(trace, 1).coresight->protocol,
	    HWTD_CS_PTM);
	assert_int_equal(snapshot_stream_at(trace, 1).coresight->arch,
	    HWTD_ARM_ARCH_UNKNOWN);
	assert_int_equal(snapshot_stream_at(trace, 1).coresight->etmcr, 1);
	assert_int_equal(snapshot_stream_at(trace, 1).coresight->etmidr, 2);
	assert_int_equal(snapshot_stream_at(trace, 1).coresight->etmccer, 3);
	assert_non_null(strstr(f->log,
	    "cpu_0: core of type 'Own-1' is not known"));
	assert_non_null(strstr(f->log, "there is no core 'cpu_9'"));
	hwtd_trace_close(trace);
}

static void
what_cannot_be_told_apart_stays_in_the_sink(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;

	snapshot_put(f, "stm.ini",
	    "[device]\nname=STM_0\nclass=trace_source\ntype=ETM4\n"
	    "[regs]\nTRCTRACEIDR=0x12\n");
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 2, 0);
	assert_non_null(strstr(f->log,
	    "STM_0: trace ID 0x12 in buffer ETB_0 is another source's"));
	hwtd_trace_close(trace);
	snapshot_put(f, "stm.ini",
	    "[device]\nname=STM_0\nclass=trace_source\ntype=FOO.1\n"
	    "[regs]\nTRCTRACEIDR=0x7d\n");
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 2, 0);
	assert_non_null(strstr(f->log, "type 'FOO.1' is not known"));
	assert_non_null(strstr(f->log, "trace ID 0x7d is none of a source"));
	hwtd_trace_close(trace);
}

static void
what_is_missing_is_named_and_the_rest_is_used(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_damage damage = { .size = sizeof(damage) };
	struct hwtd_trace *trace;
	char path[300];

	snapshot_put(f, "a.bin", "first");
	snapshot_put(f, "b.bin", "second");
	(void)remove(temp_dir_file(&f->dir, "etm.ini", path));
	snapshot_put(f, "trace.ini",
	    "[trace_buffers]\nbuffers=x\n" SINGLE("x",
		"a.bin,gone.bin,b.bin"));
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 1, 2);
	snapshot_assert_bytes(trace, 0, "firstsecond");
	assert_int_equal(hwtd_trace_extent(trace, 0, 1, &e), HWTD_OK);
	assert_int_equal(e.start, 5);
	assert_int_equal(e.why, HWTD_EXTENT_AFTER_LOSS);
	assert_int_equal(hwtd_trace_damage(trace, 1, &damage), HWTD_OK);
	assert_int_equal(damage.stream, 0);
	assert_non_null(strstr(f->log, "etm.ini: No such file"));
	assert_non_null(strstr(f->log, "gone.bin: No such file"));
	hwtd_trace_close(trace);
	(void)remove(temp_dir_file(&f->dir, "trace.ini", path));
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 0, 2);
	assert_non_null(strstr(f->log, "trace.ini: No such file"));
	hwtd_trace_close(trace);
	snapshot_put(f, "snapshot.ini", "[snapshot]\nversion=1.0\n");
	trace = snapshot_must_open(f);
	snapshot_assert_counts(trace, 0, 0);
	assert_non_null(strstr(f->log, "names no trace"));
	hwtd_trace_close(trace);
}

static void
a_register_that_is_told_twice_is_named(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;

	/* The same again says nothing new. */
	snapshot_put(f, "etm.ini", SNAPSHOT_ETM "TRCIDR2(again)=0x488\n");
	trace = snapshot_must_open(f);
	assert_string_equal(f->log, "");
	hwtd_trace_close(trace);
	snapshot_put(f, "etm.ini",
	    SNAPSHOT_ETM "[other]\n[regs]\ntrcidr2=0x484\n");
	trace = snapshot_must_open(f);
	assert_int_equal(snapshot_stream_at(trace, 1).coresight->idr[2],
	    0x484);
	assert_non_null(strstr(f->log,
	    "etm.ini: line 13: trcidr2 again, with another value; this one "
	    "counts"));
	hwtd_trace_close(trace);
}

/*
 * However much there is of what describes a source: it is refused with the place, or
 * what is not told is seen.  (Of perf's own: OpenCSD issues 35 and 44.)
 */
static void
of_a_text_that_is_cut_what_is_missing_is_told(void **state)
{
	struct snapshot_folder *f = *state;
	const size_t whole = strlen(SNAPSHOT_ETM);

	for (size_t n = 0; n < whole; n++) {
		struct hwtd_trace *trace = NULL;
		const struct hwtd_coresight_config *c;
		struct hwtd_trace_info info = { .size = sizeof(info) };
		const char *name = "";
		const char *text = "";
		int rc;

		snapshot_put_bytes(f, "etm.ini", SNAPSHOT_ETM, n);
		rc = snapshot_try_open(f, NULL, &trace);
		if (rc != HWTD_OK) {
			assert_int_equal(rc, HWTD_E_CORRUPT);
			assert_non_null(strstr(f->err.message, "etm.ini: "));
			continue;
		}
		assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
		c = info.n_streams > 1 ? snapshot_stream_at(trace, 1).coresight
				       : NULL;
		/* Another source, none, or registers that cannot be. */
		if (f->log[0] == '\0' && c != NULL && c->trace_id == 0x12 &&
		    n + 20 < whole)
			assert_int_equal(hwtd_coresight_doubt(c, 0, &name,
					     &text),
			    HWTD_OK);
		hwtd_trace_close(trace);
	}
}

static void
of_many_warnings_some_are_told(void **state)
{
	struct snapshot_folder *f = *state;
	static char text[8192];
	struct hwtd_trace *trace;
	size_t told = 0;

	(void)snprintf(text, sizeof(text),
	    SNAPSHOT_TRACE "[source_buffers]\n");
	for (int i = 0; i < 100; i++)
		strcat(text, "a=ETB_0\n");
	snapshot_put(f, "trace.ini", text);
	trace = snapshot_must_open(f);
	for (const char *at = f->log;
	     (at = strstr(at, "no trace source")) != NULL; at++)
		told++;
	assert_int_equal(told, 32);
	assert_non_null(strstr(f->log, "68 more warnings"));
	hwtd_trace_close(trace);
}

static void
bytes_of_an_unknown_format_are_kept(void **state)
{
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;

	snapshot_put(f, "trace.ini",
	    "[trace_buffers]\nbuffers=x\n[x]\nfile=mem.bin\nformat=huh\n");
	trace = snapshot_must_open(f);
	snapshot_assert_bytes(trace, 0, SNAPSHOT_MEMORY);
	assert_non_null(strstr(f->log, "buffer of format 'huh' is not known"));
	hwtd_trace_close(trace);
}

#define DEVICE "[device]\nname=z\n"

static void
what_is_not_understood_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *file, *text;
		int rc;
		const char *want;
	} cases[] = {
		{ "snapshot.ini", "[snapshot]\nversion=2.0\n",
		    HWTD_E_UNSUPPORTED,
		    "snapshot.ini: line 2: snapshot of version '2.0'" },
		{ "snapshot.ini", "[snapshot]\nx\n", HWTD_E_CORRUPT,
		    "snapshot.ini: line 2: neither [section] nor key=value" },
		{ "snapshot.ini", "[snapshot]\n\n=3\n", HWTD_E_CORRUPT,
		    "snapshot.ini: line 3: value without a key" },
		{ "snapshot.ini", "[snapshot]\n[x\n", HWTD_E_CORRUPT,
		    "snapshot.ini: line 2: section without ']'" },
		{ "snapshot.ini", "[snapshot]\nVersion=1\nversion=1.0\n",
		    HWTD_E_CORRUPT,
		    "line 3: version again; the first is in line 2" },
		{ "snapshot.ini", "[snapshot]\n[trace]\n[trace]\n",
		    HWTD_E_CORRUPT,
		    "line 3: [trace] again; the first is in line 2" },
		{ "snapshot.ini",
		    "[snapshot]\n[device_list]\na=etm.ini\nb=etm.ini\n",
		    HWTD_E_CORRUPT,
		    "etm.ini: line 1: there is a device 'ETM_1' already" },
		{ "snapshot.ini",
		    "[snapshot]\n[device_list]\na=snapshot.ini\n",
		    HWTD_E_CORRUPT, "snapshot.ini: has no [device]" },
		{ "snapshot.ini",
		    "[snapshot]\n[trace]\nmetadata=snapshot.ini\n",
		    HWTD_E_CORRUPT, "snapshot.ini: has no buffers=" },
		{ "snapshot.ini", "[snapshot]\n[device_list]\na=\n",
		    HWTD_E_CORRUPT, "no file name" },
		{ "cpu_0.ini", "", HWTD_E_CORRUPT,
		    "cpu_0.ini: has no [device]" },
		{ "cpu_0.ini", "[device]\nclass=core\n", HWTD_E_CORRUPT,
		    "cpu_0.ini: line 1: device without a name" },
		{ "cpu_0.ini", "a=1\n", HWTD_E_CORRUPT,
		    "cpu_0.ini: line 1: value before the first section" },
		{ "cpu_0.ini", DEVICE "[dump]\nfile=mem.bin\n", HWTD_E_CORRUPT,
		    "cpu_0.ini: line 3: [dump] has no address" },
		{ "cpu_0.ini", DEVICE "[dump]\naddress=1\n", HWTD_E_CORRUPT,
		    "cpu_0.ini: line 3: [dump] names no file" },
		{ "cpu_0.ini", DEVICE "[dump]\nfile=a\naddress=0x\n",
		    HWTD_E_CORRUPT,
		    "cpu_0.ini: line 5: address: '0x' is no number" },
		{ "cpu_0.ini",
		    DEVICE "[dump]\nfile=a\naddress=2\nlength="
			   "0xffffffffffffffff\n",
		    HWTD_E_CORRUPT,
		    "cpu_0.ini: line 3: [dump] goes past the end" },
		{ "etm.ini",
		    "[device]\nname=e\nclass=trace_source\ntype=ETE\n[regs]\n"
		    "TRCIDR0(9)=0x100000000\n",
		    HWTD_E_CORRUPT,
		    "etm.ini: line 6: TRCIDR0: '0x100000000' has more than" },
		{ "etm.ini",
		    "[device]\nname=e\nclass=trace_source\ntype=ETE\n[regs]\n"
		    "TRCIDR0=09\n",
		    HWTD_E_CORRUPT,
		    "etm.ini: line 6: TRCIDR0: '09' is no number" },
		{ "trace.ini", "[trace_buffers]\nbuffers=x\n", HWTD_E_CORRUPT,
		    "trace.ini: line 2: there is no section [x]" },
		{ "trace.ini",
		    "[trace_buffers]\nbuffers=x,x\n[x]\nfile=etb.bin\n",
		    HWTD_E_CORRUPT,
		    "trace.ini: line 3: there is a buffer 'x' already" },
	};
	struct snapshot_folder *f = *state;
	struct hwtd_trace *trace;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("case %s\n", cases[i].want);
		snapshot_put(f, cases[i].file, cases[i].text);
		assert_int_equal(snapshot_try_open(f, NULL, &trace),
		    cases[i].rc);
		if (strstr(f->err.message, cases[i].want) == NULL)
			fail_msg("says: %s", f->err.message);
		snapshot_put(f, "snapshot.ini", SNAPSHOT_ROOT);
		snapshot_put(f, "cpu_0.ini", SNAPSHOT_CORE0);
		snapshot_put(f, "etm.ini", SNAPSHOT_ETM);
		snapshot_put(f, "trace.ini", SNAPSHOT_TRACE);
	}
	snapshot_put_bytes(f, "etm.ini", DEVICE "a\0b=1\n", 23);
	assert_int_equal(snapshot_try_open(f, NULL, &trace), HWTD_E_CORRUPT);
	assert_non_null(strstr(f->err.message, "line 3: NUL byte"));
}

static void
too_much_is_refused(void **state)
{
	struct snapshot_folder *f = *state;
	const size_t n = ((size_t)1 << 20) + 1;
	struct hwtd_trace *trace;
	char *text = malloc(n);

	memset(text, '\n', n);
	snapshot_put_bytes(f, "etm.ini", text, n);
	assert_int_equal(snapshot_try_open(f, NULL, &trace), HWTD_E_LIMIT);
	assert_non_null(strstr(f->err.message, "etm.ini has 1048577 bytes"));
	snapshot_put_bytes(f, "etm.ini", text, n - 1);
	assert_int_equal(snapshot_try_open(f, NULL, &trace), HWTD_E_CORRUPT);
	free(text);
	text = malloc(200000);
	strcpy(text,
	    "[trace_buffers]\nbuffers=b\n[b]\nformat=coresight\n"
	    "file=a");
	for (size_t i = strlen(text), k = 0; k < 4096; k++, i += 2)
		memcpy(text + i, ",a", 3);
	snapshot_put(f, "etm.ini", SNAPSHOT_ETM);
	snapshot_put(f, "trace.ini", text);
	assert_int_equal(snapshot_try_open(f, NULL, &trace), HWTD_E_LIMIT);
	assert_non_null(strstr(f->err.message, "more than 4096 files"));
	free(text);
}

int
main(void)
{
#define T(name)                                                               \
	cmocka_unit_test_setup_teardown(name, snapshot_set_up,                \
	    snapshot_tear_down)
	const struct CMUnitTest tests[] = {
		T(sinks_and_sources_become_streams),
		T(a_folder_without_a_snapshot_is_a_folder),
		T(buffers_without_frames_are_of_one_source),
		T(one_buffer_is_that_of_all_sources),
		T(one_core_may_have_several_sources),
		T(what_cannot_be_told_apart_stays_in_the_sink),
		T(what_is_missing_is_named_and_the_rest_is_used),
		T(a_register_that_is_told_twice_is_named),
		T(of_a_text_that_is_cut_what_is_missing_is_told),
		T(of_many_warnings_some_are_told),
		T(bytes_of_an_unknown_format_are_kept),
		T(what_is_not_understood_is_refused_with_its_place),
		T(too_much_is_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
