/*
 * Formatter frames: taken apart, found among synchronisation packets, damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "support/frame_writer.h"
#include "trace/sink/framer.h"

/* What came of a sink: bytes by ID, and what was counted. */
struct seen {
	uint8_t bytes[HWTDI_TRACE_ID_UNTOLD + 1][8192];
	size_t n[HWTDI_TRACE_ID_UNTOLD + 1];
	uint64_t frames, barriers, lost, overhead;
};

static void
see_frame(struct seen *s, const struct hwtdi_frame *frame, uint8_t *id)
{
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	size_t n, data = 0;

	s->barriers += frame->kind == HWTDI_FRAME_BARRIER;
	if (frame->kind == HWTDI_FRAME_LOST) {
		s->lost += frame->lost;
		*id = HWTDI_TRACE_ID_UNTOLD;
	}
	if (frame->kind != HWTDI_FRAME_DATA)
		return;
	n = hwtdi_frame_split(frame->bytes, id, parts);
	assert_true(n <= HWTDI_FRAME_PARTS);
	for (size_t i = 0; i < n; i++) {
		const uint8_t who = parts[i].id;

		assert_true(parts[i].n > 0 && parts[i].n < HWTDI_FRAME_BYTES);
		memcpy(s->bytes[who] + s->n[who], parts[i].bytes, parts[i].n);
		s->n[who] += parts[i].n;
		data += parts[i].n;
	}
	s->frames++;
	s->overhead += HWTDI_FRAME_BYTES - data;
}

#define GUARDED ((size_t)1 << 20)

/* A copy of bytes, at most GUARDED, behind which nothing may be read. */
static const uint8_t *
put_before_guard(const uint8_t *bytes, size_t n)
{
	static uint8_t *memory;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	assert_true(n <= GUARDED);
	if (memory == NULL) {
		memory = mmap(NULL, GUARDED + page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANON, -1, 0);
		assert_ptr_not_equal(memory, MAP_FAILED);
		assert_int_equal(mprotect(memory + GUARDED, page, PROT_NONE),
		    0);
	}
	memcpy(memory + GUARDED - n, bytes, n);
	return (memory + GUARDED - n);
}

/* Read a sink in pieces of `step` bytes, each with nothing behind it. */
static void
read_sink(enum hwtdi_framing framing, const uint8_t *bytes, size_t n,
    size_t step, struct seen *out)
{
	uint8_t id = HWTDI_TRACE_ID_UNTOLD;
	struct hwtdi_framer framer;
	struct hwtdi_frame frame;
	uint64_t sum;

	memset(out, 0, sizeof(*out));
	hwtdi_framer_init(&framer, framing, 0);
	for (size_t at = 0; at < n; at += step) {
		const size_t size = n - at < step ? n - at : step;
		const uint8_t *piece = put_before_guard(bytes + at, size);

		for (size_t k = 0; k < size;) {
			k += hwtdi_framer_next(&framer, piece + k, size - k,
			    &frame);
			see_frame(out, &frame, &id);
		}
	}
	hwtdi_framer_end(&framer, &frame);
	see_frame(out, &frame, &id);
	sum = out->lost + framer.sync_bytes + framer.footer_bytes +
	    out->overhead;
	for (size_t i = 0; i <= HWTDI_TRACE_ID_UNTOLD; i++)
		sum += out->n[i];
	if (framing == HWTDI_FRAMING_MEMORY)
		assert_true(framer.sync_bytes ==
			out->barriers * HWTDI_FRAME_BYTES ||
		    out->barriers == 0);
	assert_int_equal(sum, n);
}

static void
an_id_counts_at_once_or_behind_the_next_byte(void **state)
{
	static const struct {
		uint8_t frame[16];
		uint8_t id;
		size_t n;
		struct hwtdi_frame_part parts[3];
	} cases[] = {
		/* Data only: low bits are in the last byte. */
		{ { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99,
		      0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0x81 },
		    0x10, 1,
		    { { 0x10, 15, 0,
			{ 0x01, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
			    0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xef } } } },
		/* A new source at once. */
		{ { 0x21, 0x01, 0x02, 0x03, 0x04, 0x05, 0x23, 0x07, 0x08, 0x09,
		      0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x00 },
		    HWTDI_TRACE_ID_UNTOLD, 2,
		    { { 0x10, 5, 0, { 1, 2, 3, 4, 5 } },
			{ 0x11, 8, 6, { 7, 8, 9, 10, 11, 12, 13, 14 } } } },
		/* The byte behind it is still of the one before. */
		{ { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x23, 0x07, 0x08, 0x09,
		      0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x08 },
		    0x10, 2,
		    { { 0x10, 7, 0, { 0, 1, 2, 3, 4, 5, 7 } },
			{ 0x11, 7, 6, { 8, 9, 10, 11, 12, 13, 14 } } } },
		/* At the end it counts for the next frame, whatever the flag. */
		{ { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
		      0x0a, 0x0b, 0x0c, 0x0d, 0x23, 0x80 },
		    0x10, 1,
		    { { 0x10, 14, 0,
			{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 } } } },
	};
	static const uint8_t next[] = { 0x10, 0x11, 0x11, 0x11 };
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t id = cases[i].id;

		assert_int_equal(hwtdi_frame_split(cases[i].frame, &id, parts),
		    cases[i].n);
		assert_int_equal(id, next[i]);
		for (size_t k = 0; k < cases[i].n; k++) {
			const struct hwtdi_frame_part *want = &cases[i]
								   .parts[k];

			assert_int_equal(parts[k].id, want->id);
			assert_int_equal(parts[k].at, want->at);
			assert_int_equal(parts[k].n, want->n);
			assert_memory_equal(parts[k].bytes, want->bytes,
			    want->n);
		}
	}
}

static void
every_place_may_hold_an_id(void **state)
{
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	uint8_t frame[16], id = 1;

	(void)state;
	memset(frame, 0xff, sizeof(frame));
	for (unsigned int flags = 0; flags < 256; flags++) {
		size_t bytes = 0, n;

		frame[15] = (uint8_t)flags;
		n = hwtdi_frame_split(frame, &id, parts);
		for (size_t i = 0; i < n; i++)
			bytes += parts[i].n;
		assert_int_equal(bytes, 7);
		assert_int_equal(id, 0x7f);
	}
}

static uint32_t
roll(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8);
}

/* Write runs of a few sources; what each wrote is in `want`. */
static void
write_runs(struct frame_writer *w, uint32_t seed, unsigned int runs,
    struct seen *want)
{
	static const uint8_t ids[] = { 0x01, 0x10, 0x11, 0x6f, 0x7d };

	memset(want, 0, sizeof(*want));
	for (unsigned int i = 0; i < runs; i++) {
		const uint8_t id = ids[roll(&seed) % sizeof(ids)];
		const unsigned int n = 1 +
		    roll(&seed) % (roll(&seed) % 4 ? 3 : 40);

		for (unsigned int k = 0; k < n; k++) {
			const uint8_t byte = (uint8_t)roll(&seed);

			frame_writer_put(w, id, byte);
			want->bytes[id][want->n[id]++] = byte;
		}
	}
	frame_writer_finish(w);
}

static void
assert_sources(const struct seen *got, const struct seen *want)
{
	for (size_t id = 1; id <= HWTDI_TRACE_ID_UNTOLD; id++) {
		assert_int_equal(got->n[id], want->n[id]);
		assert_memory_equal(got->bytes[id], want->bytes[id],
		    want->n[id]);
	}
}

/* Blocks of 504 bytes with 8 more behind each. */
static size_t
add_footers(const uint8_t *bytes, size_t n, uint8_t *out)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (at % HWTDI_DSTREAM_BLOCK == HWTDI_DSTREAM_TRACE) {
			memset(out + at, 0xff, 8);
			at += 8;
		}
		out[at++] = bytes[i];
	}
	return (at);
}

static struct seen got, want;
static uint8_t bytes[32768], blocks[65536];

static void
sources_are_told_apart_in_any_pieces(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 40; seed++) {
		enum hwtdi_framing framing = seed % 2 != 0
		    ? HWTDI_FRAMING_MEMORY
		    : HWTDI_FRAMING_TPIU;
		const uint8_t *sink = bytes;
		struct frame_writer w;
		size_t n;

		frame_writer_init(&w, bytes, sizeof(bytes));
		if (framing == HWTDI_FRAMING_TPIU) {
			w.fsync_every = 1 + seed % 5;
			w.hsync_every = seed % 3 != 0 ? 1 + seed % 7 : 0;
		}
		write_runs(&w, seed, 300, &want);
		n = w.n;
		if (framing == HWTDI_FRAMING_TPIU && seed % 4 == 0) {
			framing = HWTDI_FRAMING_DSTREAM;
			n = add_footers(bytes, n, blocks);
			sink = blocks;
		}
		for (size_t step = 1; step <= 64; step += 1 + step / 8) {
			read_sink(framing, sink, n, step, &got);
			assert_sources(&got, &want);
			assert_int_equal(got.lost, 0);
		}
		read_sink(framing, sink, n, n, &got);
		assert_sources(&got, &want);
	}
}

static void
a_barrier_is_told(void **state)
{
	static const uint8_t barrier[16] = { 0xff, 0xff, 0xff, 0x7f, 0xff,
		0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff,
		0x7f };
	struct frame_writer w;

	(void)state;
	frame_writer_init(&w, bytes, sizeof(bytes));
	frame_writer_raw(&w, barrier, sizeof(barrier));
	frame_writer_put(&w, 0x10, 1);
	frame_writer_finish(&w);
	frame_writer_raw(&w, barrier, sizeof(barrier));
	for (size_t step = 1; step < 40; step++) {
		read_sink(HWTDI_FRAMING_MEMORY, bytes, w.n, step, &got);
		assert_int_equal(got.barriers, 2);
		assert_int_equal(got.frames, 1);
		assert_int_equal(got.n[0x10], 1);
	}
}

static void
what_is_no_frame_is_lost_and_counted(void **state)
{
	static const uint8_t junk[] = { 0x12, 0xff, 0xff, 0x00, 0xff, 0x7f,
		0xff };
	struct frame_writer w;
	size_t whole;

	(void)state;
	/* Before the first FSYNC, and in the midst of a frame. */
	frame_writer_init(&w, bytes, sizeof(bytes));
	w.fsync_every = 1;
	frame_writer_raw(&w, junk, sizeof(junk));
	write_runs(&w, 3, 40, &want);
	whole = w.n;
	for (size_t step = 1; step < 40; step++) {
		read_sink(HWTDI_FRAMING_TPIU, bytes, whole, step, &got);
		assert_sources(&got, &want);
		assert_int_equal(got.lost, sizeof(junk));
	}
	/* A byte that is missing costs its frame. */
	memmove(bytes + 60, bytes + 61, whole - 61);
	for (size_t step = 1; step < 40; step++) {
		read_sink(HWTDI_FRAMING_TPIU, bytes, whole - 1, step, &got);
		assert_in_range(got.lost, sizeof(junk) + 1, sizeof(junk) + 19);
	}
	/* Memory ends in the midst of a frame. */
	frame_writer_init(&w, bytes, sizeof(bytes));
	write_runs(&w, 5, 40, &want);
	for (size_t cut = 1; cut < 16; cut++) {
		read_sink(HWTDI_FRAMING_MEMORY, bytes, w.n - cut, 7, &got);
		assert_int_equal(got.lost, 16 - cut);
	}
}

static void
noise_is_accounted_for(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		const size_t n = roll(&seed) % 600;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)(roll(&seed) % 3 == 0
				? 0xff
				: (roll(&seed) % 2 ? 0x7f : roll(&seed)));
		for (int framing = HWTDI_FRAMING_MEMORY;
		     framing <= HWTDI_FRAMING_DSTREAM; framing++) {
			struct seen one;

			read_sink((enum hwtdi_framing)framing, bytes, n, 1,
			    &got);
			one = got;
			read_sink((enum hwtdi_framing)framing, bytes, n,
			    1 + roll(&seed) % 64, &got);
			assert_memory_equal(&one, &got, sizeof(got));
		}
	}
}

/*
 * However little there is of a sink: of its start, and of its middle.  (OpenCSD
 * issues 49, 50 and 83.)
 */
static void
short_pieces_are_read_as_far_as_they_go(void **state)
{
	static const size_t steps[] = { 1, 2, 3, 5, 12, 64 };
	struct frame_writer w;
	struct seen one;

	(void)state;
	frame_writer_init(&w, bytes, sizeof(bytes));
	w.fsync_every = 2;
	w.hsync_every = 5;
	write_runs(&w, 11, 60, &want);
	assert_true(w.n > 264);
	for (int framing = HWTDI_FRAMING_MEMORY;
	     framing <= HWTDI_FRAMING_DSTREAM; framing++)
		for (size_t first = 0; first < 100; first += 67)
			for (size_t n = 0; n <= 64; n++) {
				read_sink((enum hwtdi_framing)framing,
				    bytes + first, n, 1, &one);
				for (size_t i = 0; i < 6; i++) {
					read_sink((enum hwtdi_framing)framing,
					    bytes + first, n, steps[i], &got);
					assert_memory_equal(&one, &got,
					    sizeof(got));
				}
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_counts_at_once_or_behind_the_next_byte),
		cmocka_unit_test(every_place_may_hold_an_id),
		cmocka_unit_test(sources_are_told_apart_in_any_pieces),
		cmocka_unit_test(a_barrier_is_told),
		cmocka_unit_test(what_is_no_frame_is_lost_and_counted),
		cmocka_unit_test(noise_is_accounted_for),
		cmocka_unit_test(short_pieces_are_read_as_far_as_they_go),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
