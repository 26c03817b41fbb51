/*
 * Bytes of trace in a perf.data: records say where each piece was written, buffers
 * hold the bytes; what of that becomes which extent.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/perf_writer.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"

#define ANY HWTD_NO_ID
#define N_STEPS 10

/* What is written to a file, one after the other. */
struct step {
	enum {
		END,
		AUX,
		BUFFER
	} what;
	uint64_t off;
	uint64_t n;
	/* AUX: its flags.  BUFFER: how many bytes less are there. */
	uint64_t detail;
	uint32_t cpu;
	uint32_t tid;
};

struct layout {
	const char *name;
	struct step steps[N_STEPS];
	/*
	 * For each stream its extents: bytes, as what the event wrote, and why each
	 * begins; ranges in brackets are missing.
	 */
	const char *pt;
	/* The same of Arm SPE; NULL: as Intel PT. */
	const char *spe;
};

static const struct layout layouts[] = {
	{ "no pieces, adjoining buffers",
	    { { BUFFER, 0, 64, 0, 0, ANY }, { BUFFER, 64, 64, 0, 0, ANY } },
	    "cpu 0: new 0-128", NULL },
	{ "a piece for each buffer",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 64, 64, 0, 0, 7 },
		{ BUFFER, 0, 64, 0, 0, ANY }, { BUFFER, 64, 64, 0, 0, ANY } },
	    "cpu 0: new 0-128", "cpu 0: new 0-64 new 64-128" },
	{ "pieces of a buffer",
	    { { AUX, 0, 40, 0, 0, 7 }, { AUX, 40, 48, 0, 0, 7 },
		{ AUX, 88, 40, 0, 0, 7 }, { BUFFER, 0, 128, 0, 0, ANY } },
	    "cpu 0: new 0-128", "cpu 0: new 0-40 new 40-88 new 88-128" },
	{ "a piece in two buffers",
	    { { AUX, 0, 128, 0, 0, 7 }, { BUFFER, 0, 48, 0, 0, ANY },
		{ BUFFER, 48, 80, 0, 0, ANY } },
	    "cpu 0: new 0-128", NULL },
	{ "bytes before, between and behind pieces",
	    { { AUX, 16, 32, 0, 0, 7 }, { AUX, 64, 32, 0, 0, 7 },
		{ BUFFER, 0, 128, 0, 0, ANY } },
	    "cpu 0: new 0-128",
	    "cpu 0: new 0-16 new 16-48 new 48-64 new 64-96 new 96-128" },
	{ "bytes behind the last piece in a buffer of their own",
	    { { AUX, 0, 64, 0, 0, 7 }, { BUFFER, 0, 64, 0, 0, ANY },
		{ BUFFER, 64, 64, 0, 0, ANY },
		{ BUFFER, 128, 64, 0, 0, ANY } },
	    "cpu 0: new 0-192", "cpu 0: new 0-64 new 64-192" },
	{ "a piece that was truncated",
	    { { AUX, 0, 64, PW_TRUNCATED, 0, 7 }, { AUX, 64, 64, 0, 0, 7 },
		{ BUFFER, 0, 128, 0, 0, ANY } },
	    "cpu 0: new 0-64 loss 64-128", NULL },
	{ "a piece that is not all",
	    { { AUX, 0, 64, PW_PARTIAL, 0, 7 }, { AUX, 64, 64, 0, 0, 7 },
		{ BUFFER, 0, 64, 0, 0, ANY }, { BUFFER, 64, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64 loss 64-128", NULL },
	{ "a truncated piece without bytes",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 64, 0, PW_TRUNCATED, 0, 7 },
		{ AUX, 64, 64, 0, 0, 7 }, { BUFFER, 0, 64, 0, 0, ANY },
		{ BUFFER, 64, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64 loss 64-128", NULL },
	{ "a truncated piece without bytes at the end",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 64, 0, PW_TRUNCATED, 0, 7 },
		{ BUFFER, 0, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64", NULL },
	{ "a hole that nothing tells of",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 160, 64, 0, 0, 7 },
		{ BUFFER, 0, 64, 0, 0, ANY }, { BUFFER, 160, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64 loss 160-224", NULL },
	{ "a hole that a piece tells of",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 64, 96, 0, 0, 7 },
		{ AUX, 160, 64, 0, 0, 7 }, { BUFFER, 0, 64, 0, 0, ANY },
		{ BUFFER, 160, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64 [96] damage 160-224", NULL },
	{ "pieces without bytes at the end",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 64, 100, 0, 0, 7 },
		{ AUX, 164, 36, 0, 0, 7 }, { BUFFER, 0, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64 [136] damage", NULL },
	{ "pieces before the first buffer",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 64, 64, 0, 0, 7 },
		{ BUFFER, 64, 64, 0, 0, ANY } },
	    "cpu 0: [64] damage 64-128", NULL },
	{ "a piece that goes on where the buffer ends",
	    { { AUX, 0, 100, 0, 0, 7 }, { BUFFER, 0, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64 [36] damage", NULL },
	{ "a piece with a hole between its buffers",
	    { { AUX, 0, 128, 0, 0, 7 }, { BUFFER, 0, 48, 0, 0, ANY },
		{ BUFFER, 80, 48, 0, 0, ANY } },
	    "cpu 0: new 0-48 [32] damage 80-128", NULL },
	{ "a buffer that is cut off", { { BUFFER, 0, 128, 50, 0, ANY } },
	    "cpu 0: new 0-78 [50] damage", NULL },
	{ "no buffer at all",
	    { { AUX, 0, 64, 0, 3, 7 }, { AUX, 64, 64, 0, 3, 7 } },
	    "cpu 3: [128] damage", NULL },
	{ "no buffer of a CPU",
	    { { AUX, 0, 64, 0, 3, 7 }, { AUX, 0, 64, 0, 1, 7 },
		{ BUFFER, 0, 64, 0, 1, ANY } },
	    "cpu 1: new 0-64; cpu 3: [64] damage", NULL },
	{ "pieces of nothing are nothing",
	    { { AUX, 0, 0, PW_TRUNCATED, 3, 7 },
		{ BUFFER, 0, 64, 0, 1, ANY } },
	    "cpu 1: new 0-64", NULL },
	{ "two CPUs",
	    { { AUX, 0, 64, PW_TRUNCATED, 0, 7 }, { AUX, 0, 32, 0, 1, 7 },
		{ AUX, 32, 32, 0, 1, 7 }, { BUFFER, 0, 64, 0, 0, ANY },
		{ BUFFER, 0, 64, 0, 1, ANY }, { BUFFER, 64, 64, 0, 0, ANY } },
	    "cpu 0: new 0-64 loss 64-128; cpu 1: new 0-64",
	    "cpu 0: new 0-64 loss 64-128; cpu 1: new 0-32 new 32-64" },
	{ "threads, on any CPU",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 0, 64, PW_PARTIAL, 1, 8 },
		{ AUX, 64, 64, 0, 5, 8 }, { BUFFER, 0, 64, 0, ANY, 7 },
		{ BUFFER, 0, 128, 0, ANY, 8 } },
	    "thread 7: new 0-64; thread 8: new 0-64 loss 64-128", NULL },
	{ "no buffer of a thread",
	    { { AUX, 0, 64, 0, 0, 7 }, { AUX, 0, 32, 0, 1, 8 },
		{ BUFFER, 0, 64, 0, ANY, 7 } },
	    "thread 7: new 0-64; thread 8: [32] damage", NULL },
	{ "a buffer that goes back",
	    { { AUX, 0, 128, 0, 0, 7 }, { BUFFER, 0, 128, 0, 0, ANY },
		{ BUFFER, 32, 32, 0, 0, ANY } },
	    "cpu 0: new 0-128 new 32-64", NULL },
	{ "a buffer that goes back before a piece is complete",
	    { { AUX, 5, 195, 0, 0, 7 }, { BUFFER, 0, 100, 0, 0, ANY },
		{ BUFFER, 8, 16, 0, 0, ANY } },
	    "cpu 0: new 0-100 new 8-24 [176] damage",
	    "cpu 0: new 0-5 new 5-100 new 8-24 [176] damage" },
	{ "pieces over one another",
	    { { AUX, 0, 96, 0, 0, 7 }, { AUX, 32, 96, 0, 0, 7 },
		{ BUFFER, 0, 128, 0, 0, ANY } },
	    "cpu 0: new 0-128", NULL },
	{ "a piece in another",
	    { { AUX, 0, 128, 0, 0, 7 }, { AUX, 32, 16, PW_PARTIAL, 0, 7 },
		{ BUFFER, 0, 128, 0, 0, ANY },
		{ BUFFER, 128, 64, 0, 0, ANY } },
	    "cpu 0: new 0-128 loss 128-192", NULL },
	{ "a buffer that perf filled up",
	    { { AUX, 0, 61, 0, 0, 7 }, { AUX, 61, 60, 0, 0, 7 },
		{ BUFFER, 0, 64, 0, 0, ANY }, { BUFFER, 61, 64, 0, 0, ANY } },
	    "cpu 0: new 0-121", "cpu 0: new 0-61 new 61-121" },
	{ "a buffer that perf filled up, of which no record tells",
	    { { BUFFER, 0, 64, 0, 0, ANY }, { BUFFER, 61, 64, 0, 0, ANY } },
	    "cpu 0: new 0-125", NULL },
	{ "a buffer of few bytes",
	    { { AUX, 0, 62, 0, 0, 7 }, { BUFFER, 64, 4, 0, 0, ANY } },
	    "cpu 0: [62] damage loss 64-68", NULL },
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

static void
put_steps(struct pw *w, const struct layout *l)
{
	uint8_t bytes[512];

	for (size_t i = 0; i < N_STEPS && l->steps[i].what != END; i++) {
		const struct step *s = &l->steps[i];
		const struct pw_who who = { s->tid, s->tid, 1000 + i, 1,
			s->cpu };

		/* Each byte tells its place. */
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(s->off + k);
		if (s->what == AUX)
			pw_aux(w, &who, s->off, s->n, s->detail);
		else
			pw_auxtrace(w, s->n, s->off,
			    s->cpu != ANY ? s->cpu : s->tid, s->cpu, s->tid,
			    bytes, (size_t)(s->n - s->detail));
	}
}

/* The extents of a stream, as the table has them. */
static void
tell_stream(const struct hwtd_trace *trace, uint32_t stream, char *text,
    size_t n)
{
	static const char *const why[] = { "new", "loss", "damage" };
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_extent e = { .size = sizeof(e) };
	uint64_t end = 0;
	size_t used;

	assert_int_equal(hwtd_trace_stream(trace, stream, &d), HWTD_OK);
	used = (size_t)snprintf(text, n, "%s%s:", stream > 0 ? "; " : "",
	    d.name);
	for (size_t i = 0; hwtd_trace_extent(trace, stream, i, &e) == HWTD_OK;
	     i++) {
		uint8_t bytes[512];
		size_t got;

		assert_in_range(e.why, HWTD_EXTENT_NEW,
		    HWTD_EXTENT_AFTER_DAMAGE);
		if (e.start > end)
			used += (size_t)snprintf(text + used, n - used,
			    " [%" PRIu64 "]", e.start - end);
		used += (size_t)snprintf(text + used, n - used, " %s",
		    why[e.why]);
		end = e.end;
		if (e.end == e.start)
			continue;
		assert_int_equal(hwtd_trace_read_bytes(trace, stream, e.start,
				     bytes, (size_t)(e.end - e.start), &got,
				     NULL),
		    HWTD_OK);
		for (size_t k = 1; k < got; k++)
			assert_int_equal(bytes[k], (uint8_t)(bytes[0] + k));
		used += (size_t)snprintf(text + used, n - used, " %u-%zu",
		    bytes[0], bytes[0] + got);
	}
}

static struct hwtd_trace *
open_layout(const struct layout *l, bool is_spe)
{
	struct hwtd_trace *trace;
	struct pw w;

	pw_file(&w, false, PW_USUAL);
	if (is_spe)
		pw_info_spe(&w);
	else
		pw_info_pt(&w, false);
	put_steps(&w, l);
	pw_finish(&w);
	/* What a step does not have is not in the file. */
	trace = pw_open(&w, NULL);
	pw_fini(&w);
	return (trace);
}

static void
tell_trace(const struct hwtd_trace *trace, char *text, size_t n)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	text[0] = '\0';
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	for (uint32_t i = 0; i < info.n_streams; i++)
		tell_stream(trace, i, text + strlen(text), n - strlen(text));
}

/* A saved trace has the same extents, those without bytes too. */
static void
check_saved(struct hwtd_trace *trace, const char *want)
{
	struct hwtd_trace *saved;
	struct temp_dir dir;
	char path[300], got[1024];

	temp_dir_create(&dir);
	st_save(trace, temp_dir_file(&dir, "x.hwt", path), 0);
	saved = st_open(path, dir.path);
	tell_trace(saved, got, sizeof(got));
	assert_string_equal(got, want);
	hwtd_trace_close(saved);
	temp_dir_remove(&dir);
}

static void
check_layouts(bool is_spe)
{
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		const struct layout *l = &layouts[i];
		const char *want = is_spe && l->spe != NULL ? l->spe : l->pt;
		struct hwtd_trace *trace = open_layout(l, is_spe);
		char got[1024];

		print_message("case %s\n", l->name);
		tell_trace(trace, got, sizeof(got));
		assert_string_equal(got, want);
		check_saved(trace, want);
		hwtd_trace_close(trace);
	}
}

static void
intel_pt_goes_on_across_pieces(void **state)
{
	(void)state;
	check_layouts(false);
}

static void
others_begin_anew_with_each_piece(void **state)
{
	(void)state;
	check_layouts(true);
}

static const struct layout *
layout_of(const char *name)
{
	for (size_t i = 0; i < N_LAYOUTS; i++)
		if (strcmp(layouts[i].name, name) == 0)
			return (&layouts[i]);
	fail_msg("no layout %s", name);
	return (NULL);
}

/* The n-th record of a buffer. */
static struct hwtd_record
buffer_record(const struct hwtd_trace *trace, size_t no)
{
	for (uint64_t i = 0;; i++) {
		const struct hwtd_record r = pw_record(trace, i);

		if (r.type == HWTD_REC_BUFFER && no-- == 0)
			return (r);
	}
}

static void
records_of_pieces_tell_where_they_end(void **state)
{
	static const struct {
		const char *name;
		uint64_t ends[4];
	} cases[] = {
		{ "pieces of a buffer", { 40, 88, 128 } },
		{ "a piece in two buffers", { 128 } },
		{ "bytes before, between and behind pieces", { 48, 96 } },
		/* Bytes that nothing tells of are not in the stream. */
		{ "a hole that nothing tells of", { 64, 128 } },
		{ "a hole that a piece tells of", { 64, 160, 224 } },
		{ "pieces without bytes at the end", { 64, 164, 200 } },
		{ "pieces before the first buffer", { 64, 128 } },
		{ "a truncated piece without bytes", { 64, 64, 128 } },
		{ "a buffer that perf filled up", { 61, 121 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct layout *l = layout_of(cases[i].name);
		struct hwtd_trace *trace = open_layout(l, false);

		print_message("case %s\n", cases[i].name);
		for (size_t k = 0; k < 4 && cases[i].ends[k] != 0; k++) {
			const struct hwtd_record r = buffer_record(trace, k);

			assert_int_equal(r.stream, 0);
			assert_true((r.flags & HWTD_RECF_STREAM_OFF) != 0);
			assert_int_equal(r.stream_off, cases[i].ends[k]);
			assert_int_equal(r.len, l->steps[k].n);
			assert_int_equal(r.value, l->steps[k].detail);
			assert_int_equal(r.cpu, l->steps[k].cpu);
		}
		hwtd_trace_close(trace);
	}
}

static void
streams_know_their_cpu_or_thread(void **state)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;
	struct pw_who who = { 70, 71, 1000, 1, 0 };
	struct pw w;

	(void)state;
	trace = open_layout(layout_of("two CPUs"), false);
	assert_int_equal(hwtd_trace_stream(trace, 1, &d), HWTD_OK);
	assert_int_equal(d.cpu, 1);
	assert_int_equal(d.pid, HWTD_NO_ID);
	assert_int_equal(d.tid, HWTD_NO_ID);
	hwtd_trace_close(trace);

	/* The process of a thread is what records say. */
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	pw_comm(&w, &who, 0, 70, 71, "second");
	pw_auxtrace(&w, 8, 0, 0, ANY, 71, "12345678", 8);
	pw_auxtrace(&w, 8, 0, 1, ANY, 72, "12345678", 8);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.cpu, HWTD_NO_ID);
	assert_int_equal(d.pid, 70);
	assert_int_equal(d.tid, 71);
	assert_int_equal(hwtd_trace_stream(trace, 1, &d), HWTD_OK);
	assert_int_equal(d.pid, HWTD_NO_ID);
	assert_int_equal(d.tid, 72);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
pieces_without_sample_ids_are_of_the_only_buffer(void **state)
{
	struct hwtd_trace *trace;
	char text[256];
	struct pw w;

	(void)state;
	pw_file(&w, false, 0);
	pw_info_pt(&w, false);
	pw_aux(&w, NULL, 0, 8, PW_TRUNCATED);
	pw_aux(&w, NULL, 8, 8, 0);
	pw_auxtrace(&w, 16, 0, 0, 5, ANY,
	    "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	tell_stream(trace, 0, text, sizeof(text));
	assert_string_equal(text, "cpu 5: new 0-8 loss 8-16");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
pieces_that_can_be_of_several_buffers_are_of_none(void **state)
{
	static const uint32_t cpus[] = { 5, ANY }, tids[] = { ANY, 5 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hwtd_trace *trace;
		char text[256];
		struct pw w;

		pw_file(&w, false, 0);
		pw_info_pt(&w, false);
		pw_aux(&w, NULL, 0, 2, PW_TRUNCATED);
		pw_auxtrace(&w, 4, 0, 0, cpus[i], tids[i], "\0\1\2\3", 4);
		pw_auxtrace(&w, 4, 0, 1, cpus[i] + 1, tids[i] + 1, "\0\1\2\3",
		    4);
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		/* What is there is not called missing. */
		pw_assert_no_damage(trace);
		tell_stream(trace, 0, text, sizeof(text));
		assert_string_equal(text,
		    i == 0 ? "cpu 5: new 0-4" : "thread 5: new 0-4");
		assert_int_equal(buffer_record(trace, 0).stream, HWTD_NO_ID);
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static void
sizes_that_cannot_be_are_damage(void **state)
{
	static const struct pw_who who = { 7, 7, 1000, 1, 0 };
	struct hwtd_trace *trace;
	struct pw w;
	size_t at;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	at = w.n;
	pw_aux(&w, &who, UINT64_MAX - 7, 9, 0);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "AUX at");
	hwtd_trace_close(trace);
	pw_fini(&w);

	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	at = w.n;
	pw_auxtrace(&w, UINT64_MAX - 7, 9, 0, 0, ANY, "", 0);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "AUXTRACE at");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
holes_of_any_size_are_told(void **state)
{
	static const struct pw_who who = { 7, 7, 1000, 1, 0 };
	const uint64_t n = (UINT64_C(1) << 48) - 1;
	struct hwtd_damage d = { .size = sizeof(d) };
	struct hwtd_trace *trace;
	struct pw w;
	size_t at;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	pw_aux(&w, &who, 0, n, 0);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	assert_int_equal(hwtd_trace_damage(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.first, 0);
	assert_true(d.end == n);
	hwtd_trace_close(trace);
	pw_fini(&w);

	/* No buffer was ever so large: the record is wrong. */
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	at = w.n;
	pw_aux(&w, &who, 0, n + 1, 0);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "aux_size");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
trace_of_no_known_kind_is_told(void **state)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;
	struct pw w;
	size_t at;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_auxtrace(&w, 8, 0, 0, 0, ANY, "12345678", 8);
	at = w.n - 8;
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "no AUXTRACE_INFO");
	(void)hwtd_trace_info(trace, &info);
	assert_int_equal(info.n_streams, 0);
	hwtd_trace_close(trace);
	pw_fini(&w);

	pw_file(&w, false, PW_USUAL);
	at = pw_begin(&w, PW_AUXTRACE_INFO, 0);
	pw_put(&w, 2, 4);
	pw_put(&w, 0, 4);
	pw_end(&w, NULL);
	pw_auxtrace(&w, 8, 0, 0, 0, ANY, "12345678", 8);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "traces of Intel BTS (2) are not decoded");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

/* Snapshots: what is in memory at a time, of which old bytes come again. */

static uint8_t
byte_of(uint64_t at)
{
	/* As little alike as can be. */
	uint64_t v = (at + 1) * 0x9e3779b97f4a7c15;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
	return ((uint8_t)(v ^ v >> 31));
}

static void
put_snapshot(struct pw *w, uint64_t start, uint64_t end, size_t filler)
{
	uint8_t bytes[20000];

	for (uint64_t i = start; i < end; i++)
		bytes[i - start] = byte_of(i);
	memset(bytes + (end - start), 0, filler);
	pw_auxtrace(w, end - start + filler, start, 0, 0, ANY, bytes,
	    (size_t)(end - start) + filler);
}

static bool
goes_on(const uint8_t *bytes, size_t n, uint64_t first)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != byte_of(first + i))
			return (false);
	return (true);
}

/* The extents of the only stream, with bytes that go on in each. */
static void
assert_snapshots(const struct pw *w, const char *want)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_trace *trace = pw_open(w, NULL);
	char got[256] = "";

	pw_assert_no_damage(trace);
	for (size_t i = 0; hwtd_trace_extent(trace, 0, i, &e) == HWTD_OK;
	     i++) {
		const size_t n = (size_t)(e.end - e.start);
		uint8_t *bytes = malloc(n + 1);
		uint64_t first = 0;
		size_t read;

		assert_non_null(bytes);
		assert_int_equal(hwtd_trace_read_bytes(trace, 0, e.start,
				     bytes, n, &read, NULL),
		    HWTD_OK);
		while (!goes_on(bytes, 8, first))
			first++;
		assert_true(goes_on(bytes, n, first));
		(void)snprintf(got + strlen(got), sizeof(got) - strlen(got),
		    "%" PRIu64 "-%" PRIu64 " ", first, first + n);
		free(bytes);
	}
	assert_string_equal(got, want);
	hwtd_trace_close(trace);
}

static void
snapshots_that_overlap_are_read_once(void **state)
{
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, true);
	put_snapshot(&w, 0, 10000, 0);
	put_snapshot(&w, 5000, 15000, 0);
	/* Of what was written meanwhile nothing is old. */
	put_snapshot(&w, 40000, 50000, 0);
	put_snapshot(&w, 45904, 50001, 0);
	pw_finish(&w);
	assert_snapshots(&w, "0-15000 40000-50001 ");
	pw_fini(&w);
}

static void
few_bytes_that_are_alike_are_no_overlap(void **state)
{
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, true);
	put_snapshot(&w, 0, 10000, 0);
	put_snapshot(&w, 9000, 15000, 0);
	pw_finish(&w);
	assert_snapshots(&w, "0-10000 9000-15000 ");
	pw_fini(&w);

	/* Samples of Arm SPE have a time each. */
	pw_file(&w, false, PW_USUAL);
	pw_info_spe(&w);
	{
		static const struct pw_who who = { 7, 7, 1000, 1, 0 };

		pw_aux(&w, &who, 0, 100, PW_OVERWRITE);
	}
	put_snapshot(&w, 0, 10000, 0);
	put_snapshot(&w, 9000, 15000, 0);
	pw_finish(&w);
	assert_snapshots(&w, "0-15000 ");
	pw_fini(&w);
}

static void
filler_between_snapshots_is_left_out(void **state)
{
	struct pw w;

	(void)state;
	for (size_t filler = 0; filler < 8; filler++) {
		pw_file(&w, false, PW_USUAL);
		pw_info_pt(&w, true);
		put_snapshot(&w, 0, 10000 - filler, filler);
		put_snapshot(&w, 5000, 15000, 0);
		pw_finish(&w);
		assert_snapshots(&w, "0-15000 ");
		pw_fini(&w);
	}
}

static void
snapshot_that_is_the_one_before_again_adds_nothing(void **state)
{
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, true);
	for (int i = 0; i < 5; i++)
		put_snapshot(&w, 0, 10000, 0);
	put_snapshot(&w, 1000, 12000, 0);
	pw_finish(&w);
	assert_snapshots(&w, "0-12000 ");
	pw_fini(&w);
}

/* Two ids of one event, counted on CPUs 3 and 5: pieces tell their id alone. */
static void
pieces_are_of_the_cpu_that_the_index_of_ids_tells(void **state)
{
	static const struct {
		uint64_t id, cpu;
	} ids[] = { { 31, 3 }, { 32, 5 } };
	const uint8_t bytes[16] = { 0 };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_init(&w, false, PW_TIME | PW_IDENTIFIER);
	pw_put(&w, UINT64_C(0x32454c4946524550), 8);
	pw_put(&w, 16, 8);
	pw_begin(&w, PW_HEADER_ATTR, 0);
	pw_attr(&w, 112, 8, 0, PW_TIME | PW_IDENTIFIER);
	pw_put(&w, 31, 8);
	pw_put(&w, 32, 8);
	pw_end(&w, NULL);
	pw_begin(&w, PW_ID_INDEX, 0);
	pw_put(&w, 2, 8);
	for (size_t i = 0; i < 2; i++) {
		pw_put(&w, ids[i].id, 8);
		pw_put(&w, i, 8);
		pw_put(&w, ids[i].cpu, 8);
		pw_put(&w, UINT64_MAX, 8);
	}
	pw_end(&w, NULL);
	pw_info_spe(&w);
	for (size_t i = 0; i < 2; i++) {
		const struct pw_who who = { .time = 100 + i,
			.id = ids[1 - i].id };

		pw_aux(&w, &who, 0, 8 + 8 * i, 0);
	}
	for (size_t i = 0; i < 2; i++)
		pw_auxtrace(&w, 16, 0, (uint32_t)i, (uint32_t)ids[i].cpu,
		    HWTD_NO_ID, bytes, sizeof(bytes));
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	for (uint64_t i = 0; i < 2; i++) {
		const struct hwtd_record r = pw_record(trace, i);

		assert_int_equal(r.type, HWTD_REC_BUFFER);
		assert_int_equal(r.cpu, ids[1 - i].cpu);
		assert_int_equal(r.stream, 1 - i);
		assert_int_equal(r.stream_off, 8 + 8 * i);
	}
	hwtd_trace_close(trace);
	pw_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intel_pt_goes_on_across_pieces),
		cmocka_unit_test(others_begin_anew_with_each_piece),
		cmocka_unit_test(records_of_pieces_tell_where_they_end),
		cmocka_unit_test(streams_know_their_cpu_or_thread),
		cmocka_unit_test(
		    pieces_without_sample_ids_are_of_the_only_buffer),
		cmocka_unit_test(
		    pieces_that_can_be_of_several_buffers_are_of_none),
		cmocka_unit_test(
		    pieces_are_of_the_cpu_that_the_index_of_ids_tells),
		cmocka_unit_test(sizes_that_cannot_be_are_damage),
		cmocka_unit_test(holes_of_any_size_are_told),
		cmocka_unit_test(trace_of_no_known_kind_is_told),
		cmocka_unit_test(snapshots_that_overlap_are_read_once),
		cmocka_unit_test(few_bytes_that_are_alike_are_no_overlap),
		cmocka_unit_test(filler_between_snapshots_is_left_out),
		cmocka_unit_test(
		    snapshot_that_is_the_one_before_again_adds_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
