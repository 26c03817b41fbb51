/*
 * Trace sinks: streams of sources out of the frames of another stream, from
 * memory and from a saved file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/frame_writer.h"
#include "support/sample_trace.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"
#include "trace/sink/sink.h"
#include "trace/trace_model.h"

#define SOURCES 3
#define RUN_BYTES 150000

static const uint8_t ids[SOURCES] = { 0x10, 0x11, 0x55 };

/* Two runs with a barrier between, and what sources wrote. */
struct sample {
	uint8_t *frames;
	size_t n;
	uint8_t *bytes[SOURCES];
	size_t n_bytes[SOURCES];
	/* Where the second run of a source begins. */
	size_t second[SOURCES];
};

static void
write_run(struct frame_writer *w, struct sample *s, uint64_t seed)
{
	uint8_t *noise = st_noise(RUN_BYTES, seed);
	size_t who = 0;

	for (size_t i = 0; i < RUN_BYTES; i++) {
		if (noise[i] % 5 == 0)
			who = noise[i] % SOURCES;
		frame_writer_put(w, ids[who], noise[i]);
		s->bytes[who][s->n_bytes[who]++] = noise[i];
	}
	frame_writer_finish(w);
	free(noise);
}

static void
sample_init(struct sample *s)
{
	static const uint8_t fsync[4] = { 0xff, 0xff, 0xff, 0x7f };
	const size_t cap = (size_t)RUN_BYTES * 4;
	struct frame_writer w;

	memset(s, 0, sizeof(*s));
	s->frames = malloc(cap);
	for (size_t i = 0; i < SOURCES; i++)
		s->bytes[i] = malloc(2 * (size_t)RUN_BYTES);
	frame_writer_init(&w, s->frames, cap);
	write_run(&w, s, 1);
	for (size_t i = 0; i < SOURCES; i++)
		s->second[i] = s->n_bytes[i];
	for (size_t i = 0; i < 4; i++)
		frame_writer_raw(&w, fsync, sizeof(fsync));
	w.id = 0xff;
	write_run(&w, s, 2);
	s->n = w.n;
}

static void
sample_fini(struct sample *s)
{
	free(s->frames);
	for (size_t i = 0; i < SOURCES; i++)
		free(s->bytes[i]);
}

static const struct hwtd_stream_desc sink_desc = {
	.size = sizeof(sink_desc),
	.tech = HWTD_TECH_CORESIGHT,
	.cpu = HWTD_NO_ID,
	.pid = HWTD_NO_ID,
	.tid = HWTD_NO_ID,
	.framing = HWTD_FRAMING_MEMORY,
};

static int
add_source(struct hwtd_trace *trace, uint32_t sink, uint32_t trace_id,
    uint32_t *id_out, struct hwtd_error *err)
{
	const struct hwtd_coresight_config config = {
		.size = sizeof(config),
		.protocol = HWTD_CS_ETMV4,
		.arch = HWTD_ARM_ARCH_V8,
		.profile = HWTD_ARM_PROFILE_A,
		.trace_id = trace_id,
		.configr = 0x12,
		.idr = { 0x28000ea1, 0x4100f403, 0x488, [13] = 13 },
		.itmtcr = 99,
	};
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = trace_id,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.coresight = &config,
		.sink_plus_1 = sink + 1,
	};

	return (hwtd_trace_add_stream(trace, &desc, id_out, err));
}

/* HWTD_OK or HWTD_E_NOMEM; the trace is the caller's in any case. */
static int
build(struct hwtd_context *ctx, const struct sample *s,
    struct hwtd_trace **out)
{
	uint32_t id = 0, sink = 0;
	int rc;

	*out = NULL;
	rc = hwtd_trace_create(ctx, NULL, out, NULL);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_stream(*out, &sink_desc, &sink, NULL);
	for (size_t i = 0; rc == HWTD_OK && i < SOURCES; i++)
		rc = add_source(*out, sink, ids[i], &id, NULL);
	/* In parts, the last one of which is no whole frame. */
	for (size_t at = 0; rc == HWTD_OK && at < s->n; at += 99991)
		rc = hwtd_trace_add_bytes(*out, sink, s->frames + at,
		    s->n - at < 99991 ? s->n - at : 99991, NULL);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_bytes(*out, sink, "abc", 3, NULL);
	return (rc == HWTD_OK ? hwtd_trace_seal(*out, NULL) : rc);
}

static void
assert_source(const struct hwtd_trace *trace, const struct sample *s, size_t i)
{
	const uint32_t stream = (uint32_t)i + 1;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_extent e = { .size = sizeof(e) };
	uint8_t *got = malloc(s->n_bytes[i] + 1);
	size_t n = 0;

	assert_int_equal(hwtd_trace_stream(trace, stream, &d), HWTD_OK);
	assert_int_equal(d.n_bytes, s->n_bytes[i]);
	assert_int_equal(d.sink_plus_1, 1);
	assert_int_equal(d.coresight->trace_id, ids[i]);
	assert_int_equal(d.coresight->protocol, HWTD_CS_ETMV4);
	assert_int_equal(d.coresight->idr[13], 13);
	assert_int_equal(d.coresight->itmtcr, 99);
	assert_int_equal(hwtd_trace_read_bytes(trace, stream, 0, got,
			     s->n_bytes[i] + 1, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, s->n_bytes[i]);
	assert_memory_equal(got, s->bytes[i], n);
	for (size_t at = 0; at < s->n_bytes[i]; at += 1013) {
		assert_int_equal(hwtd_trace_read_bytes(trace, stream, at, got,
				     100, &n, NULL),
		    HWTD_OK);
		assert_memory_equal(got, s->bytes[i] + at, n);
	}
	free(got);
	assert_int_equal(hwtd_trace_extent(trace, stream, 0, &e), HWTD_OK);
	assert_int_equal(e.end, s->second[i]);
	assert_int_equal(hwtd_trace_extent(trace, stream, 1, &e), HWTD_OK);
	assert_int_equal(e.start, s->second[i]);
	assert_int_equal(e.end, s->n_bytes[i]);
	assert_int_equal(e.why, HWTD_EXTENT_NEW);
}

static void
assert_sink(const struct hwtd_trace *trace, const struct sample *s)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };
	struct hwtd_trace_info all = { .size = sizeof(all) };
	uint64_t sum;

	assert_int_equal(hwtd_trace_sink(trace, 0, &info), HWTD_OK);
	assert_int_equal(info.framing, HWTD_FRAMING_MEMORY);
	assert_int_equal(info.n_barriers, 1);
	assert_int_equal(info.sync_bytes, 16);
	assert_int_equal(info.lost_bytes, 3);
	assert_int_equal(info.n_frames, (s->n - 16) / 16);
	sum = info.overhead_bytes + info.sync_bytes + info.footer_bytes +
	    info.lost_bytes + info.untold_bytes;
	for (size_t i = 0; i < HWTD_CS_TRACE_IDS; i++)
		sum += info.id_bytes[i];
	assert_int_equal(sum, s->n + 3);
	for (size_t i = 0; i < SOURCES; i++)
		assert_int_equal(info.id_bytes[ids[i]], s->n_bytes[i]);
	assert_int_equal(hwtd_trace_info(trace, &all), HWTD_OK);
	assert_int_equal(all.n_bytes, s->n + 3);
	assert_int_equal(hwtd_trace_sink(trace, 1, &info), HWTD_E_NOT_FOUND);
}

/* Where a byte lies in the sink: the frame there says the same. */
static void
assert_places(const struct hwtd_trace *trace, const struct sample *s)
{
	struct hwtdi_window *window = NULL;
	uint64_t before = 0, off = 0;

	assert_int_equal(hwtdi_window_create(trace, 1, &window, NULL),
	    HWTD_OK);
	for (size_t at = 0; at < s->n_bytes[0]; at += 977) {
		assert_int_equal(hwtdi_window_sink_off(window, at, &off, NULL),
		    HWTD_OK);
		assert_true(off >= before && off < s->n);
		assert_true(off - before < (uint64_t)977 * 16);
		before = off;
	}
	hwtdi_window_destroy(window);
	assert_int_equal(hwtdi_window_create(trace, 0, &window, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_window_sink_off(window, 5, &off, NULL),
	    HWTD_E_NOT_FOUND);
	hwtdi_window_destroy(window);
}

static void
sources_have_the_bytes_of_their_sink(void **state)
{
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace;
	struct sample s;

	(void)state;
	sample_init(&s);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(build(ctx, &s, &trace), HWTD_OK);
	assert_sink(trace, &s);
	for (size_t i = 0; i < SOURCES; i++)
		assert_source(trace, &s, i);
	assert_places(trace, &s);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	sample_fini(&s);
}

static void
a_saved_sink_is_the_same(void **state)
{
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace;
	struct temp_dir dir;
	struct sample s;
	char path[300];

	(void)state;
	sample_init(&s);
	temp_dir_create(&dir);
	(void)temp_dir_file(&dir, "a.hwt", path);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(build(ctx, &s, &trace), HWTD_OK);
	st_save(trace, path, 0);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_trace_open(ctx, path, NULL, &trace, NULL),
	    HWTD_OK);
	assert_sink(trace, &s);
	for (size_t i = 0; i < SOURCES; i++)
		assert_source(trace, &s, i);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
	sample_fini(&s);
}

/*
 * A frame that begins far behind where it ends, as in a large memory that was
 * turned: its first four bytes are at the end.  An ID is a place of its source.
 */
static void
places_may_be_far_from_their_piece(void **state)
{
	const uint64_t size = (UINT64_C(5) << 30) + 4;
	const uint8_t rest[12] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0 };
	struct hwtdi_sink_piece piece = {
		.start = 0,
		.end = sizeof(rest),
		.framer = { .framing = HWTDI_FRAMING_MEMORY,
		    .n = 4,
		    .frame = { 0x21, 7, 8, 9 },
		    .frame_off = size - 4 },
		.id = HWTDI_TRACE_ID_UNTOLD,
	};
	uint64_t places[14];

	(void)state;
	hwtdi_sink_places(&piece, rest, 0x10, places, 14);
	for (uint64_t i = 0; i < 14; i++)
		assert_true(places[i] == (i < 4 ? size - 4 + i : i - 4));
}

static void
what_makes_no_sense_is_refused(void **state)
{
	struct hwtd_stream_desc d = sink_desc;
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	uint32_t sink = 0, id = 0;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	assert_int_equal(add_source(trace, 0, 0x10, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &sink, NULL),
	    HWTD_OK);
	assert_int_equal(add_source(trace, sink, 0x10, &id, NULL), HWTD_OK);
	/* The same again, none, reserved, of a stream that is no sink. */
	assert_int_equal(add_source(trace, sink, 0x10, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(add_source(trace, sink, 0, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(add_source(trace, sink, 0x70, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(add_source(trace, 1, 0x11, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(add_source(trace, 7, 0x11, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_add_bytes(trace, 1, "a", 1, NULL),
	    HWTD_E_INVALID);
	d.framing = HWTD_FRAMING_DSTREAM + 1;
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL),
	    HWTD_E_INVALID);
	d.framing = HWTD_FRAMING_TPIU;
	d.tech = HWTD_TECH_INTEL_PT;
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
}

static void
no_memory_is_no_crash(void **state)
{
	struct failing_allocator f;
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct sample s;
	int rc = HWTD_E_NOMEM;

	(void)state;
	sample_init(&s);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtd_context *ctx = NULL;
		struct hwtd_trace *trace = NULL;

		failing_allocator_init(&f);
		o.allocator = &f.allocator;
		assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
		failing_allocator_arm(&f, n, true);
		rc = build(ctx, &s, &trace);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		/* What failed can be done again. */
		failing_allocator_arm(&f, 0, false);
		if (rc != HWTD_OK && trace != NULL)
			assert_int_equal(hwtd_trace_seal(trace, NULL),
			    HWTD_OK);
		if (rc == HWTD_OK)
			assert_sink(trace, &s);
		hwtd_trace_close(trace);
		hwtd_context_destroy(ctx);
		assert_int_equal(f.blocks, 0);
	}
	sample_fini(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_have_the_bytes_of_their_sink),
		cmocka_unit_test(a_saved_sink_is_the_same),
		cmocka_unit_test(places_may_be_far_from_their_piece),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(no_memory_is_no_crash),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
