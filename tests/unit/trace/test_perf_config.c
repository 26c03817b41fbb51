/*
 * How traces in a perf.data were recorded: what its header and AUXTRACE_INFO say
 * becomes the configuration of streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/frame_writer.h"
#include "support/perf_writer.h"

#define ANY HWTD_NO_ID
#define ETMV3 UINT64_C(0x3030303030303030)
#define ETMV4 UINT64_C(0x4040404040404040)
#define ETE UINT64_C(0x5050505050505050)
#define SPE UINT64_C(0x1010101010101010)

static struct hwtd_stream_desc
stream(const struct hwtd_trace *trace, uint32_t no)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_stream(trace, no, &d), HWTD_OK);
	return (d);
}

static uint32_t
n_streams(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return (info.n_streams);
}

/* AUXTRACE_INFO of a kind, with 64-bit words. */
static size_t
put_info(struct pw *w, uint32_t kind, const uint64_t *words, size_t n)
{
	const size_t at = pw_begin(w, PW_AUXTRACE_INFO, 0);

	pw_put(w, kind, 4);
	pw_put(w, 0, 4);
	for (size_t i = 0; i < n; i++)
		pw_put(w, words[i], 8);
	pw_end(w, NULL);
	return (at);
}

/* Intel PT. */

static void
words_of_intel_pt_are_its_configuration(void **state)
{
	/* The config of the event: MTC is bits 14 to 17. */
	static const uint64_t words[] = { 8, 5, 1000, 777, 1, 0x400, 0x800, 1,
		0, 0, 0x200, 0x3c000, 84, 2, 0, 28 };

	(void)state;
	/* Versions that were shorter. */
	for (size_t n = 0; n <= 16; n++) {
		struct hwtd_trace *trace;
		struct hwtd_stream_desc d;
		struct pw w;

		pw_file(&w, n % 2 != 0, PW_USUAL);
		put_info(&w, 1, words, n);
		pw_auxtrace(&w, 8, 0, 0, 2, ANY, "12345678", 8);
		/* MTC every 2^9. */
		pw_set(&w, 112 + 8, (uint64_t)9 << 14, 8);
		/* It tells of which size words of the list of features are. */
		pw_text_feature(&w, 3, "box");
		pw_text_feature(&w, 9, "GenuineIntel,6,158,10");
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_no_damage(trace);
		d = stream(trace, 0);
		assert_int_equal(d.tech, HWTD_TECH_INTEL_PT);
		assert_int_equal(d.cpu, 2);
		assert_int_equal(d.pt->cpu_family, 6);
		assert_int_equal(d.pt->cpu_model, 158);
		assert_int_equal(d.pt->cpu_stepping, 10);
		assert_int_equal(d.pt->mtc_freq, n > 11 ? 9 : 0);
		assert_int_equal(d.pt->cpuid_15h_ebx, n > 12 ? 84 : 0);
		assert_int_equal(d.pt->cpuid_15h_eax, n > 13 ? 2 : 0);
		assert_int_equal(d.pt->nom_freq, n > 15 ? 28 : 0);
		/* ns = 777 + count * 1000 / 2^5. */
		assert_int_equal(d.clock.counts_per, n > 4 ? 32 : 0);
		assert_int_equal(d.clock.ns_per, n > 4 ? 1000 : 0);
		assert_int_equal(d.clock.base_ns, n > 4 ? 777 : 0);
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static void
processors_that_are_no_intel_are_not_known(void **state)
{
	static const char *const ids[] = { "AuthenticAMD,23,1,2",
		"GenuineIntel", "GenuineIntel,6,158", "GenuineIntel,6,300,1",
		"GenuineIntel,99999,1,1" };
	static const uint64_t words[] = { 8 };

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct hwtd_trace *trace;
		struct pw w;

		pw_file(&w, false, PW_USUAL);
		put_info(&w, 1, words, 1);
		pw_auxtrace(&w, 8, 0, 0, 2, ANY, "12345678", 8);
		pw_text_feature(&w, 9, ids[i]);
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		assert_int_equal(stream(trace, 0).pt->cpu_family, 0);
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static void
second_auxtrace_info_is_damage(void **state)
{
	static const uint64_t words[] = { 8 };
	struct hwtd_trace *trace;
	struct pw w;
	size_t at;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	put_info(&w, 1, words, 1);
	at = put_info(&w, 4, words, 1);
	pw_auxtrace(&w, 8, 0, 0, 2, ANY, "12345678", 8);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "AUXTRACE_INFO at");
	assert_int_equal(stream(trace, 0).tech, HWTD_TECH_INTEL_PT);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

/* Arm SPE. */

static struct hwtd_trace *
open_spe(const uint64_t *words, size_t n, const char *cpuid)
{
	struct hwtd_trace *trace;
	struct pw w;

	pw_file(&w, false, PW_USUAL);
	put_info(&w, 4, words, n);
	pw_auxtrace(&w, 8, 0, 0, 2, ANY, "\0\0\0\0\0\0\0\0", 8);
	pw_auxtrace(&w, 8, 0, 1, 5, ANY, "\0\0\0\0\0\0\0\0", 8);
	if (cpuid != NULL)
		pw_text_feature(&w, 9, cpuid);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_fini(&w);
	return (trace);
}

static void
first_version_of_spe_takes_the_processor_of_the_header(void **state)
{
	static const uint64_t words[] = { 8, 0 };
	struct hwtd_trace *trace;

	(void)state;
	trace = open_spe(words, 2, "0x00000000413fd0c1");
	pw_assert_no_damage(trace);
	assert_int_equal(stream(trace, 0).tech, HWTD_TECH_SPE);
	assert_int_equal(stream(trace, 0).spe->midr, 0x413fd0c1);
	assert_int_equal(stream(trace, 1).spe->midr, 0x413fd0c1);
	assert_int_equal(stream(trace, 0).spe->owner, HWTD_SPE_OWNER_THREAD);
	hwtd_trace_close(trace);
	trace = open_spe(words, 2, NULL);
	assert_int_equal(stream(trace, 0).spe->midr, 0);
	hwtd_trace_close(trace);
}

static void
second_version_of_spe_tells_each_processor(void **state)
{
	/* Words of the header and of CPUs may be more than are known. */
	static const uint64_t words[] = { 2, 6, 8, 2, 0xdead, 0xdead, SPE, 5,
		4, 0x410fd490, 1, 2, 3, SPE, 2, 1, 0x413fd0c1 };
	struct hwtd_trace *trace;

	(void)state;
	trace = open_spe(words, sizeof(words) / sizeof(words[0]),
	    "0x00000000deadbeef");
	pw_assert_no_damage(trace);
	assert_int_equal(stream(trace, 0).cpu, 2);
	assert_int_equal(stream(trace, 0).spe->midr, 0x413fd0c1);
	assert_int_equal(stream(trace, 1).cpu, 5);
	assert_int_equal(stream(trace, 1).spe->midr, 0x410fd490);
	hwtd_trace_close(trace);
}

static void
spe_that_is_cut_tells_which_processor(void **state)
{
	static const uint64_t words[] = { 2, 4, 8, 2, SPE, 2, 2, 0x413fd0c1, 1,
		SPE, 5, 2, 0x410fd490, 1 };
	const size_t all = sizeof(words) / sizeof(words[0]);
	uint64_t wrong[14];
	struct hwtd_trace *trace;

	(void)state;
	for (size_t n = 4; n < all; n++) {
		trace = open_spe(words, n, NULL);
		pw_assert_damage(trace, 112 + 112 + 16,
		    n < 9 ? "block 0 of a CPU" : "block 1 of a CPU");
		/* What was there before is used. */
		assert_int_equal(stream(trace, 0).spe->midr,
		    n < 9 ? 0 : 0x413fd0c1);
		hwtd_trace_close(trace);
	}
	memcpy(wrong, words, sizeof(words));
	wrong[9]++;
	trace = open_spe(wrong, all, NULL);
	pw_assert_damage(trace, 112 + 112 + 16,
	    "block 1 of a CPU: its magic number is not known");
	hwtd_trace_close(trace);
}

/* CoreSight. */

static struct hwtd_trace *
open_words(const uint64_t *words, size_t n, size_t *at_out)
{
	struct hwtd_trace *trace;
	struct pw w;

	pw_file(&w, false, PW_USUAL);
	*at_out = put_info(&w, 3, words, n);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_fini(&w);
	return (trace);
}

static void
coresight_that_is_cut_tells_which_processor(void **state)
{
	static const uint64_t words[] = { 1, (uint64_t)8 << 32 | 3, 0, ETMV4,
		0, 7, 1, 0x10, 2, 3, 4, 5, 6, ETE, 1, 9, 1, 0x12, 2, 3, 4, 5,
		6, 7, 1, ETMV3, 2, 4, 1, 0x14, 2, 0x4100f300 };
	static const size_t blocks[] = { 13, 25, 32 };
	struct hwtd_trace *trace;
	size_t at;

	(void)state;
	for (size_t n = 3; n <= 32; n++) {
		trace = open_words(words, n, &at);
		if (n == 32) {
			pw_assert_no_damage(trace);
		} else {
			const unsigned block = n < blocks[0] ? 0
			    : n < blocks[1]		     ? 1
							     : 2;
			char text[32];

			(void)snprintf(text, sizeof(text),
			    "block %u of a CPU: it ends", block);
			pw_assert_damage(trace, at, text);
		}
		hwtd_trace_close(trace);
	}
	for (size_t n = 0; n < 3; n++) {
		trace = open_words(words, n, &at);
		pw_assert_damage(trace, at, "size");
		hwtd_trace_close(trace);
	}
}

static void
coresight_of_a_version_to_come_is_told(void **state)
{
	static const uint64_t words[] = { 3, (uint64_t)8 << 32 | 1, 0, ETMV4 };
	static const uint64_t magic[] = { 1, (uint64_t)8 << 32 | 1, 0,
		ETMV4 + 1, 0, 0 };
	static const uint64_t few[] = { 1, (uint64_t)8 << 32 | 1, 0, ETMV4, 0,
		6, 1, 2, 3, 4, 5, 6 };
	struct hwtd_trace *trace;
	size_t at;

	(void)state;
	trace = open_words(words, 4, &at);
	pw_assert_damage(trace, at, "the version of the CoreSight header");
	hwtd_trace_close(trace);
	trace = open_words(magic, 6, &at);
	pw_assert_damage(trace, at,
	    "block 0 of a CPU: its magic number is not known");
	hwtd_trace_close(trace);
	trace = open_words(few, 12, &at);
	pw_assert_damage(trace, at,
	    "block 0 of a CPU: it has too few registers");
	hwtd_trace_close(trace);
}

/* Frames with four bytes of each of the trace IDs. */
static size_t
make_frames(uint8_t *out, size_t room, const uint8_t *ids, size_t n_ids)
{
	struct frame_writer frames;

	frame_writer_init(&frames, out, room);
	for (size_t i = 0; i < n_ids; i++)
		for (uint8_t k = 0; k < 4; k++)
			frame_writer_put(&frames, ids[i], k);
	frame_writer_finish(&frames);
	return (frames.n);
}

static void
put_frames(struct pw *w, uint32_t cpu, const uint8_t *ids, size_t n_ids)
{
	uint8_t frames[256];
	const size_t n = make_frames(frames, sizeof(frames), ids, n_ids);

	pw_auxtrace(w, n, 0, cpu, cpu, ANY, frames, n);
}

/* A source of CPU `cpu` with an ID, and as many bytes as frames have. */
static void
assert_source(const struct hwtd_trace *trace, uint32_t no, uint32_t sink,
    uint32_t cpu, uint32_t id)
{
	const struct hwtd_stream_desc d = stream(trace, no);

	assert_int_equal(d.tech, HWTD_TECH_CORESIGHT);
	assert_int_equal(d.framing, HWTD_FRAMING_NONE);
	assert_int_equal(d.sink_plus_1, sink + 1);
	assert_int_equal(d.cpu, cpu);
	assert_int_equal(d.coresight->trace_id, id);
	assert_int_equal(d.n_bytes, 4);
}

static void
registers_of_all_versions_are_read(void **state)
{
	/* The first version does not say how many registers there are. */
	static const uint64_t v0[] = { 0, (uint64_t)8 << 32 | 2, 0, ETMV4, 0,
		0x11, 0x10, 0x12, 0x13, 0x14, 0x15, 0x16, ETMV3, 1, 0x21, 0x12,
		0x23, 0x4100f300 };
	static const uint64_t v1[] = { 1, (uint64_t)8 << 32 | 3, 0, ETE, 7, 9,
		0x31, 0x1e, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 1, ETMV4, 0, 8,
		0x11, 0x10, 0x12, 0x13, 0x14, 0x15, 0x16, 0, ETMV3, 1, 4, 0x21,
		0x12, 0x23, 0x4100f250 };
	static const uint8_t ids[] = { 0x10, 0x12, 0x1e };
	const struct hwtd_coresight_config *c;
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_file(&w, true, PW_USUAL);
	put_info(&w, 3, v0, sizeof(v0) / sizeof(v0[0]));
	put_frames(&w, 0, ids, 2);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(n_streams(trace), 3);
	assert_int_equal(stream(trace, 0).framing, HWTD_FRAMING_MEMORY);
	assert_source(trace, 1, 0, 0, 0x10);
	c = stream(trace, 1).coresight;
	assert_int_equal(c->protocol, HWTD_CS_ETMV4);
	assert_int_equal(c->configr, 0x11);
	assert_int_equal(c->idr[0], 0x12);
	assert_int_equal(c->idr[1], 0x13);
	assert_int_equal(c->idr[2], 0x14);
	assert_int_equal(c->idr[8], 0x15);
	assert_source(trace, 2, 0, 1, 0x12);
	c = stream(trace, 2).coresight;
	assert_int_equal(c->protocol, HWTD_CS_PTM);
	assert_int_equal(c->etmcr, 0x21);
	assert_int_equal(c->etmccer, 0x23);
	assert_int_equal(c->etmidr, 0x4100f300);
	hwtd_trace_close(trace);
	pw_fini(&w);

	pw_file(&w, false, PW_USUAL);
	put_info(&w, 3, v1, sizeof(v1) / sizeof(v1[0]));
	/* Counts of ETE are those of the kernel's clock, as TIME_CONV tells. */
	pw_begin(&w, PW_TIME_CONV, 0);
	pw_put(&w, 10, 8);
	pw_put(&w, 40960, 8);
	pw_put(&w, 1234, 8);
	pw_end(&w, NULL);
	put_frames(&w, 0, ids, 3);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(n_streams(trace), 4);
	assert_source(trace, 1, 0, 0, 0x10);
	assert_int_equal(stream(trace, 1).clock.counts_per, 0);
	assert_source(trace, 2, 0, 1, 0x12);
	assert_int_equal(stream(trace, 2).coresight->protocol, HWTD_CS_ETMV3);
	assert_source(trace, 3, 0, 7, 0x1e);
	c = stream(trace, 3).coresight;
	assert_int_equal(c->protocol, HWTD_CS_ETE);
	assert_int_equal(c->configr, 0x31);
	assert_int_equal(c->devarch, 0x37);
	assert_int_equal(stream(trace, 3).clock.ns_per, 40960);
	assert_int_equal(stream(trace, 3).clock.counts_per, 1024);
	assert_int_equal(stream(trace, 3).clock.base_ns, 1234);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

/* Four CPUs, whose registers say that IDs are not known. */
static void
put_four(struct pw *w, bool known)
{
	uint64_t words[3 + 4 * 10] = { 1, (uint64_t)8 << 32 | 4, 0 };

	for (size_t i = 0; i < 4; i++) {
		uint64_t *block = words + 3 + 10 * i;

		block[0] = ETMV4;
		block[1] = i;
		block[2] = 7;
		block[4] = known ? 0x10 + 2 * i : 0x80000000;
		block[5] = 0x28000ea1;
	}
	put_info(w, 3, words, sizeof(words) / sizeof(words[0]));
}

static void
put_hw_id(struct pw *w, uint32_t cpu, uint64_t value)
{
	const struct pw_who on = { 7, 7, 1000, 1, cpu };

	pw_begin(w, PW_HW_ID, 0);
	pw_put(w, value, 8);
	pw_end(w, &on);
}

static void
ids_of_records_come_before_those_of_registers(void **state)
{
	static const uint8_t ids[] = { 0x10, 0x21 };

	(void)state;
	for (int known = 0; known < 2; known++) {
		struct hwtd_trace *trace;
		struct pw w;

		pw_file(&w, false, PW_USUAL);
		put_four(&w, known != 0);
		put_hw_id(&w, 3, 0x10);
		put_hw_id(&w, 1, 0x21);
		/* Of a CPU the first counts. */
		put_hw_id(&w, 3, 0x21);
		put_frames(&w, 0, ids, 2);
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_no_damage(trace);
		assert_int_equal(n_streams(trace), 3);
		assert_source(trace, 1, 0, 3, 0x10);
		assert_source(trace, 2, 0, 1, 0x21);
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static void
ids_of_records_are_those_of_their_sink(void **state)
{
	static const uint8_t ids[] = { 0x10, 0x11 };
	const uint64_t minor_1 = (uint64_t)1 << 56;
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	/* CPUs 0 and 1 write to sink 0xabcdef01, 2 and 3 to another. */
	pw_file(&w, false, PW_USUAL);
	put_four(&w, false);
	put_hw_id(&w, 0, minor_1 | (uint64_t)0xabcdef01 << 8 | 0x10);
	put_hw_id(&w, 1, minor_1 | (uint64_t)0xabcdef01 << 8 | 0x11);
	put_hw_id(&w, 2, minor_1 | (uint64_t)0xabcdef02 << 8 | 0x10);
	put_hw_id(&w, 3, minor_1 | (uint64_t)0xabcdef02 << 8 | 0x11);
	put_frames(&w, 1, ids, 2);
	put_frames(&w, 3, ids, 2);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(n_streams(trace), 6);
	assert_source(trace, 2, 0, 0, 0x10);
	assert_source(trace, 3, 0, 1, 0x11);
	assert_source(trace, 4, 1, 2, 0x10);
	assert_source(trace, 5, 1, 3, 0x11);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
ids_that_cannot_be_are_damage(void **state)
{
	static const struct {
		uint64_t value;
		uint32_t cpu;
		const char *why;
	} cases[] = {
		{ UINT64_C(1) << 60 | 0x10, 0, "its version is not known" },
		{ 0, 0, "no source has such a trace ID" },
		{ 0x70, 0, "no source has such a trace ID" },
		{ 0x10, 9, "the registers of its CPU are missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace;
		struct pw w;
		size_t at;

		pw_file(&w, false, PW_USUAL);
		put_four(&w, false);
		at = w.n;
		put_hw_id(&w, cases[i].cpu, cases[i].value);
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_damage(trace, at, "AUX_OUTPUT_HW_ID at");
		pw_assert_damage(trace, at, cases[i].why);
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static void
bytes_without_frames_are_of_the_cpu_of_their_piece(void **state)
{
	static const struct pw_who on[] = { { 7, 7, 1000, 1, 2 },
		{ 7, 7, 1001, 1, 1 }, { 7, 7, 1002, 1, 2 } };
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	/* A thread that went from one CPU to another, and back. */
	pw_file(&w, false, PW_USUAL);
	put_four(&w, false);
	pw_aux(&w, &on[0], 0, 16, PW_RAW);
	pw_aux(&w, &on[1], 16, 8, PW_RAW);
	pw_aux(&w, &on[2], 24, 8, PW_RAW);
	pw_auxtrace(&w, 32, 0, 0, ANY, 7, "aaaaaaaaaaaaaaaabbbbbbbbcccccccc",
	    32);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(n_streams(trace), 2);
	assert_int_equal(stream(trace, 0).cpu, 1);
	assert_int_equal(stream(trace, 0).n_bytes, 8);
	assert_int_equal(stream(trace, 0).tid, 7);
	assert_int_equal(stream(trace, 1).cpu, 2);
	assert_int_equal(stream(trace, 1).n_bytes, 24);
	assert_int_equal(hwtd_trace_extent(trace, 1, 1, &e), HWTD_OK);
	assert_int_equal(e.start, 16);
	assert_int_equal(e.end, 24);
	/* Such records are of several streams. */
	assert_int_equal(pw_record(trace, 0).stream, HWTD_NO_ID);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
sideband_only_reads_no_bytes_of_trace(void **state)
{
	static const uint8_t ids[] = { 0x10 };
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.sideband_only = 1 };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	put_four(&w, true);
	put_frames(&w, 0, ids, 1);
	pw_finish(&w);
	trace = pw_open(&w, &opts);
	pw_assert_no_damage(trace);
	/* The sink alone: what is in it only its bytes tell. */
	assert_int_equal(n_streams(trace), 1);
	/* A file would have them so, too. */
	assert_int_equal(hwtd_trace_save(trace, "/nowhere/x.hwt", NULL, &err),
	    HWTD_E_STATE);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
sideband_of_many_sinks_is_read(void **state)
{
	static const uint8_t ids[] = { 0x10 };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.sideband_only = 1 };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	put_four(&w, true);
	for (uint32_t sink = 0; sink < 16000; sink++)
		put_frames(&w, sink, ids, 1);
	pw_finish(&w);
	trace = pw_open(&w, &opts);
	pw_assert_no_damage(trace);
	assert_int_equal(n_streams(trace), 16000);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_intel_pt_are_its_configuration),
		cmocka_unit_test(processors_that_are_no_intel_are_not_known),
		cmocka_unit_test(second_auxtrace_info_is_damage),
		cmocka_unit_test(
		    first_version_of_spe_takes_the_processor_of_the_header),
		cmocka_unit_test(second_version_of_spe_tells_each_processor),
		cmocka_unit_test(spe_that_is_cut_tells_which_processor),
		cmocka_unit_test(coresight_that_is_cut_tells_which_processor),
		cmocka_unit_test(coresight_of_a_version_to_come_is_told),
		cmocka_unit_test(registers_of_all_versions_are_read),
		cmocka_unit_test(
		    ids_of_records_come_before_those_of_registers),
		cmocka_unit_test(ids_of_records_are_those_of_their_sink),
		cmocka_unit_test(ids_that_cannot_be_are_damage),
		cmocka_unit_test(
		    bytes_without_frames_are_of_the_cpu_of_their_piece),
		cmocka_unit_test(sideband_only_reads_no_bytes_of_trace),
		cmocka_unit_test(sideband_of_many_sinks_is_read),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
