/*
 * Arm SPE out of the text of perf: bytes, buffers, whose they are, and what is not
 * in the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/temp_dir.h"

#include <hwtdecode/hwtdecode.h>

#define HEAD(n) ". ... ARM SPE data: size " n " bytes\n"

struct fixture {
	struct temp_dir dir;
	char path[300];
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct hwtd_error err;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "a.txt", f->path);
	f->err.size = sizeof(f->err);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtd_trace_close(f->trace);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

static int
open_text(struct fixture *f, const char *text,
    const struct hwtd_open_options *o)
{
	hwtd_trace_close(f->trace);
	f->trace = NULL;
	write_file(f->path, text, strlen(text));
	return (hwtd_trace_open(f->ctx, f->path, o, &f->trace, &f->err));
}

static void
open_fine(struct fixture *f, const char *text)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	if (open_text(f, text, NULL) != HWTD_OK)
		fail_msg("%s", f->err.message);
	assert_int_equal(hwtd_trace_info(f->trace, &info), HWTD_OK);
	assert_string_equal(info.format, "perf-text");
}

static uint32_t
count_damages(const struct fixture *f)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(f->trace, &info), HWTD_OK);
	return (info.n_damages);
}

static struct hwtd_stream_desc
stream_at(const struct fixture *f, uint32_t id)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	assert_int_equal(hwtd_trace_stream(f->trace, id, &desc), HWTD_OK);
	assert_int_equal(desc.tech, HWTD_TECH_SPE);
	return (desc);
}

/* Extents of a stream, as "start:bytes in hexadecimal" with blanks between. */
static void
assert_extents(const struct fixture *f, uint32_t id, const char *want)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	char have[1024];
	size_t n = 0;

	have[0] = '\0';
	for (size_t i = 0; hwtd_trace_extent(f->trace, id, i, &e) == HWTD_OK;
	     i++) {
		uint8_t bytes[64];
		size_t got = 0;

		n += (size_t)snprintf(have + n, sizeof(have) - n,
		    "%s%u:", n > 0 ? " " : "", (unsigned int)e.start);
		if (e.end > e.start)
			assert_int_equal(hwtd_trace_read_bytes(f->trace, id,
					     e.start, bytes,
					     (size_t)(e.end - e.start), &got,
					     NULL),
			    HWTD_OK);
		assert_int_equal(got, e.end - e.start);
		for (size_t k = 0; k < got; k++)
			n += (size_t)snprintf(have + n, sizeof(have) - n,
			    "%02x", bytes[k]);
	}
	assert_string_equal(have, want);
}

static void
assert_damage(const struct fixture *f, size_t i, uint64_t first, uint64_t end,
    const char *text)
{
	struct hwtd_damage d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_damage(f->trace, i, &d), HWTD_OK);
	assert_int_equal(d.first, first);
	assert_int_equal(d.end, end);
	if (strstr(d.text, text) == NULL)
		fail_msg("says: %s", d.text);
}

static void
a_dump_is_its_bytes(void **state)
{
	struct fixture *f = *state;

	/* A line of 16 bytes has one blank before its words. */
	open_fine(f,
	    HEAD(
		"0x1c") ".  00000000:  b0 d0 c2 a1 ed 66 ba ff c0"
			"                      PC 0xffba66eda1c2d0 el2 ns=1\n"
			".  00000009:  00 00 00 00 00 00 00 00 00 00 00 00 00 "
			"00 00 00 PAD\n"
			".  00000019:  49 00"
			"                                           "
			"LD GP-REG\n"
			".  0000001b:  01   END\n");
	assert_extents(f, 0,
	    "0:b0d0c2a1ed66baffc0000000000000000000000000000000"
	    "00490001");
	assert_int_equal(count_damages(f), 0);
	assert_int_equal(stream_at(f, 0).cpu, HWTD_NO_ID);
}

static void
old_heads_and_mails_are_read(void **state)
{
	struct fixture *f = *state;

	/* The size in decimal, quoted twice, with colours and CR LF. */
	open_fine(f,
	    "Hello,\r\n> > . ... ARM SPE data: size 5 bytes\r\n"
	    "> > \033[34m.\033[0m\033[34m  00000000: \033[0m 49 01   ST\r\n"
	    "> and I said:\r\n"
	    ">\t.  00000002:  98 0a\r\n"
	    "> > .  00000004:  01  END");
	assert_extents(f, 0, "0:4901980a01");
	assert_int_equal(count_damages(f), 0);
	/* An excerpt without a head, from somewhere on. */
	open_fine(f,
	    "    .  00000040:  52 16 00    EV RETIRED\n"
	    "    .  00000043:  01          END\n"
	    "and\n"
	    "    .  00000000:  49 00       LD\n");
	assert_extents(f, 0, "0:52160001 4:4900");
	assert_int_equal(count_damages(f), 0);
}

static void
buffers_are_those_of_cpus_and_threads(void **state)
{
	struct fixture *f = *state;

	open_fine(f,
	    "0 0 0x1 [0x30]: PERF_RECORD_AUXTRACE size: 0x2  offset: 0  "
	    "ref: 0x1  idx: 0  tid: -1  cpu: 3\n\n" HEAD(
		"0x2") ".  00000000:  49 00   LD\n\n"
		       "0 0 0x2 [0x30]: PERF_RECORD_MMAP 1/1: [0x1(0x1)]\n"
		       ".\n. ... raw event: size 40 bytes\n"
		       ".  0000:  46 00 00 00 00 00 30 00 08 00  F.....0.\n"
		       ".  00000000:  77 77 not of SPE\n"
		       "0 0 0x3 [0x30]: PERF_RECORD_AUXTRACE size: 0x1  "
		       "offset: 0  ref: 0x1  idx: 0  tid: 17  cpu: "
		       "4294967295\n"
		       "\n" HEAD("0x1") ".  00000000:  01   END\n"
					"0 0 0x4 [0x30]: PERF_RECORD_AUXTRACE "
					"size: 0x2  offset: 0  ref: 0x1  idx: "
					"0  tid: -1  cpu: 3\n" HEAD(
					    "0x2") ".  00000000:  49 01   "
						   "ST\n");
	assert_extents(f, 0, "0:4900 2:4901");
	assert_extents(f, 1, "0:01");
	assert_int_equal(stream_at(f, 0).cpu, 3);
	assert_int_equal(stream_at(f, 0).tid, HWTD_NO_ID);
	assert_int_equal(stream_at(f, 1).cpu, HWTD_NO_ID);
	assert_int_equal(stream_at(f, 1).tid, 17);
	assert_int_equal(count_damages(f), 0);
}

static void
cpus_and_clocks_are_told(void **state)
{
	static const char text[] =
	    "  CPU number         :2\n"
	    "    Magic            :0x1010101010101010\n"
	    "    CPU #            :0\n    MIDR             :0x413fd0c1\n"
	    "    CPU #            :7\n    MIDR             :0x480fd010\n"
	    "0 0 0x1 [0x30]: PERF_RECORD_AUXTRACE size: 0x1  offset: 0  "
	    "ref: 0x1  idx: 0  tid: -1  cpu: 7\n" HEAD(
		"0x1") ".  00000000:  01   END\n"
		       "0 0 0x9 [0x38]: PERF_RECORD_TIME_CONV: unhandled!\n"
		       "... Time Shift      5\n... Time Muliplier  321\n"
		       "... Time Zero       18446744073709551615\n";
	const struct hwtd_spe_config spe = { .size = sizeof(spe),
		.midr = 1,
		.version = 2 };
	struct hwtd_open_options o = { .size = sizeof(o), .spe = &spe };
	struct fixture *f = *state;
	struct hwtd_stream_desc desc;

	open_fine(f, text);
	desc = stream_at(f, 0);
	assert_non_null(desc.spe);
	assert_int_equal(desc.spe->midr, 0x480fd010);
	assert_int_equal(desc.clock.counts_per, 32);
	assert_int_equal(desc.clock.ns_per, 321);
	assert_int_equal(desc.clock.base_ns, UINT64_MAX);
	/* Options say what the text does not. */
	assert_int_equal(open_text(f, text, &o), HWTD_OK);
	desc = stream_at(f, 0);
	assert_int_equal(desc.spe->midr, 0x480fd010);
	assert_int_equal(desc.spe->version, 2);
	o.clock = (struct hwtd_clock){ .counts_per = 1, .ns_per = 40 };
	o.cpu_plus_1 = 6;
	assert_int_equal(open_text(f, HEAD("1") ".  00000000:  01  END\n", &o),
	    HWTD_OK);
	desc = stream_at(f, 0);
	assert_int_equal(desc.spe->midr, 1);
	assert_int_equal(desc.clock.ns_per, 40);
	assert_int_equal(desc.cpu, 5);
}

/* A TIME_CONV of an arm64 machine, as its listing was sent to a mailing list. */
#define TIME_CONV(is_short)                                                   \
	"0 0 0x978 [0x38]: PERF_RECORD_TIME_CONV\n"                           \
	"... Time Shift      21\n"                                            \
	"... Time Muliplier  20971520\n"                                      \
	"... Time Zero       18446743935180835206\n"                          \
	"... Time Cycles     13852918225\n"                                   \
	"... Time Mask       0xffffffffffffff\n"                              \
	"... Cap Time Zero   1\n"                                             \
	"... Cap Time Short  " is_short "\n: unhandled!\n"

static void
assert_wraps(const struct fixture *f, uint64_t base, uint64_t mask)
{
	const struct hwtd_clock clock = stream_at(f, 0).clock;

	assert_int_equal(clock.counts_per, 1 << 21);
	assert_int_equal(clock.ns_per, 20971520);
	assert_int_equal(clock.base_count, 0);
	assert_int_equal(clock.base_ns, UINT64_C(18446743935180835206));
	assert_int_equal(clock.wrap_base, base);
	assert_int_equal(clock.wrap_mask, mask);
}

static void
short_counters_are_told_where_perf_has_them(void **state)
{
	static const char bytes[] = HEAD("0x1") ".  00000000:  01   END\n";
	char text[2048];
	struct fixture *f = *state;

	(void)snprintf(text, sizeof(text), "%s%s", TIME_CONV("1"), bytes);
	open_fine(f, text);
	assert_wraps(f, UINT64_C(13852918225), UINT64_C(0xffffffffffffff));
	assert_int_equal(count_damages(f), 0);
	(void)snprintf(text, sizeof(text), "%s%s", TIME_CONV("0"), bytes);
	open_fine(f, text);
	assert_wraps(f, 0, 0);
	/* Of two the last one counts, as a whole. */
	(void)snprintf(text, sizeof(text), "%s%s%s", TIME_CONV("1"), bytes,
	    TIME_CONV("0"));
	open_fine(f, text);
	assert_wraps(f, 0, 0);
	/* One without a multiplier is none. */
	(void)snprintf(text, sizeof(text), "%s%s", bytes,
	    "... Time Shift      21\n... Cap Time Short  1\n");
	open_fine(f, text);
	assert_int_equal(stream_at(f, 0).clock.counts_per, 0);
}

#define HOLES 70000

/* Each line has two bytes of four; the file is closed again. */
static void
write_holes(struct fixture *f)
{
	char *text = malloc((size_t)HOLES * 32 + 100);
	size_t n;

	assert_non_null(text);
	n = (size_t)sprintf(text, HEAD("%#x"), 4u * HOLES);
	for (unsigned int i = 0; i < HOLES; i++)
		n += (size_t)sprintf(text + n, ".  %08x:  49 00  LD\n", 4 * i);
	open_fine(f, text);
	free(text);
}

/* All that is good is there; of what is not, so much is listed as can be. */
static void
assert_holes(const struct fixture *f)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_damage d = { .size = sizeof(d) };
	uint8_t bytes[2];
	size_t got;

	assert_int_equal(count_damages(f), 65536);
	assert_int_equal(hwtd_trace_damage(f->trace, 65534, &d), HWTD_OK);
	assert_int_equal(d.stream, 0);
	assert_int_equal(d.first, 4 * 65534 + 2);
	assert_int_equal(d.end, 4 * 65534 + 4);
	assert_int_equal(hwtd_trace_damage(f->trace, 65535, &d), HWTD_OK);
	assert_int_equal(d.stream, HWTD_NO_ID);
	assert_string_equal(d.text,
	    "more than 65535 damaged places: others are not listed");
	assert_int_equal(hwtd_trace_damage(f->trace, 65536, &d), HWTD_END);
	for (unsigned int i = 0; i < HOLES; i++) {
		assert_int_equal(hwtd_trace_extent(f->trace, 0, i, &e),
		    HWTD_OK);
		assert_int_equal(e.start, 4 * i);
		assert_int_equal(e.end, 4 * i + 2);
	}
	assert_int_equal(hwtd_trace_read_bytes(f->trace, 0, e.start, bytes, 2,
			     &got, NULL),
	    HWTD_OK);
	assert_int_equal(bytes[0], 0x49);
	assert_int_equal(stream_at(f, 0).n_bytes, 4 * HOLES);
}

/* Each hole is a gap in rows, listed or not; the last place is one of its own. */
static void
assert_gaps(const struct fixture *f)
{
	struct hwtd_batch batch = { .size = sizeof(batch) };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_event rows[256];
	struct hwtd_events *events;
	int rc;

	batch.events = rows;
	batch.stride = sizeof(rows[0]);
	batch.cap = 256;
	assert_int_equal(hwtd_events_open(f->trace, NULL, &events, NULL),
	    HWTD_OK);
	while ((rc = hwtd_events_read(events, &batch, NULL)) == HWTD_OK)
		;
	assert_int_equal(rc, HWTD_END);
	assert_int_equal(hwtd_events_stats(events, &stats), HWTD_OK);
	assert_int_equal(stats.gaps[HWTD_GAP_FILE_DAMAGED], HOLES + 1);
	hwtd_events_close(events);
}

static void
more_damage_than_is_listed_hides_nothing_good(void **state)
{
	struct fixture *f = *state;
	char path[300];

	write_holes(f);
	assert_holes(f);
	assert_gaps(f);
	/* Saved, it is the same. */
	(void)temp_dir_file(&f->dir, "a.hwt", path);
	assert_int_equal(hwtd_trace_save(f->trace, path, NULL, NULL), HWTD_OK);
	hwtd_trace_close(f->trace);
	f->trace = NULL;
	assert_int_equal(hwtd_trace_open(f->ctx, path, NULL, &f->trace,
			     &f->err),
	    HWTD_OK);
	assert_holes(f);
	assert_gaps(f);
}

static void
what_is_not_in_the_text_is_damage(void **state)
{
	struct fixture *f = *state;

	/* A line is missing, and the end of the buffer. */
	open_fine(f,
	    HEAD("0x10") ".  00000000:  49 00  LD\n"
			 ".  00000005:  98 01 00  LAT 1 TOT\n");
	assert_extents(f, 0, "0:4900 5:980100 16:");
	assert_int_equal(count_damages(f), 2);
	assert_damage(f, 0, 2, 5,
	    "line 3: 0x3 bytes of the buffer missing before it");
	assert_damage(f, 1, 8, 16,
	    "0x8 bytes of the buffer missing at its end");
	assert_int_equal(stream_at(f, 0).n_bytes, 16);
	/* A line that is no line of bytes, and more of them than there were. */
	open_fine(f,
	    HEAD("0x2") ".  00000000:  49 00  LD\n.  0000000x:  99\n"
			".  00000002:  01  END\n");
	assert_extents(f, 0, "0:490001");
	assert_damage(f, 0, 2, 2, "line 3: no bytes can be read of it");
	assert_damage(f, 1, 3, 3, "0x3 bytes of a buffer of 0x2");
	/* A line again: another buffer, which is not glued. */
	open_fine(f,
	    HEAD("0x4") ".  00000000:  49 00  LD\n.  00000002:  01 00  END\n"
			".  00000002:  01 00  END\n");
	assert_extents(f, 0, "0:49000100 4:0100");
	assert_damage(f, 0, 4, 4,
	    "line 4: offset 0x2 after 0x4: a new buffer");
	/* An offset out of this world. */
	open_fine(f,
	    HEAD("0x4") ".  00000000:  49 00  LD\n"
			".  ffffffffffffff00:  01  END\n"
			".  00000004:  01  END\n.  00000002:  00 01  END\n");
	assert_extents(f, 0, "0:49000001");
	assert_int_equal(count_damages(f), 2);
	assert_damage(f, 0, 2, 2,
	    "line 3: its offset is beyond the buffer; it is left out");
	assert_damage(f, 1, 2, 2, "line 4: its offset is beyond");
}

/* Gaps tell what is wrong in 63 bytes: large numbers must not cut it off. */
static void
what_is_wrong_fits_where_it_is_told(void **state)
{
	/* The last words of each. */
	static const char *const ends[] = {
		" missing before it",
		" missing at its end",
		"; it is left out",
		": a new buffer",
	};
	struct fixture *f = *state;
	struct hwtd_damage d = { .size = sizeof(d) };
	const size_t lines = 1000000;
	char *text = calloc(1, lines + 1000);

	assert_non_null(text);
	memcpy(text, HEAD("0x100000200"), strlen(HEAD("0x100000200")));
	memset(text + strlen(text), '\n', lines);
	(void)strcat(text,
	    ".  00000000:  49 00  LD\n.  ffffffff:  01  END\n"
	    ".  100000001:  01  END\n" HEAD(
		"0x4") ".  00000000:  01  END\n"
		       ".  ffffffffff:  01  END\n"
		       ".  00000001:  01 00 00  END\n");
	open_fine(f, text);
	free(text);
	assert_true(count_damages(f) >= 3);
	for (size_t i = 0; i < count_damages(f); i++) {
		bool found = false;

		assert_int_equal(hwtd_trace_damage(f->trace, i, &d), HWTD_OK);
		assert_true(strlen(d.text) <
		    sizeof(((struct hwtd_gap *)0)->text));
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
			found |= strlen(d.text) > strlen(ends[k]) &&
			    strcmp(d.text + strlen(d.text) - strlen(ends[k]),
				ends[k]) == 0;
		if (!found)
			fail_msg("says: %s", d.text);
	}
}

static void
bytes_before_a_tab_are_read(void **state)
{
	struct fixture *f = *state;

	open_fine(f,
	    HEAD("0x3") ".\t00000000:\t49 00\t\tLD\n"
			".\t00000002:\t01\tEND\n");
	assert_extents(f, 0, "0:490001");
	assert_int_equal(count_damages(f), 0);
}

/* More than anybody has: what is there is read all the same. */
static void
buffers_of_too_many_threads_are_of_none(void **state)
{
	enum {
		THREADS = 4100,
		LINE = 160
	};
	struct fixture *f = *state;
	char *text = calloc(THREADS, LINE);
	struct hwtd_trace_info info = { .size = sizeof(info) };
	size_t n = 0;

	assert_non_null(text);
	for (int i = 0; i < THREADS; i++)
		n += (size_t)snprintf(text + n, LINE,
		    "0 0 0x1 [0x30]: PERF_RECORD_AUXTRACE size: 0x1  idx: 0  "
		    "tid: %d  cpu: -1\n" HEAD("0x1") ".  00000000:  01  END\n",
		    i + 1);
	open_fine(f, text);
	free(text);
	assert_int_equal(hwtd_trace_info(f->trace, &info), HWTD_OK);
	assert_int_equal(info.n_streams, 4097);
	assert_int_equal(stream_at(f, 4095).tid, 4096);
	assert_int_equal(stream_at(f, 4096).tid, HWTD_NO_ID);
	assert_extents(f, 4096, "0:01 1:01 2:01 3:01");
	assert_int_equal(count_damages(f), 1);
	assert_damage(f, 0, 0, 0, ": over 4096 CPUs and threads");
}

static void
other_texts_are_not_of_spe(void **state)
{
	static const char *const texts[] = {
		"hello\n",
		(". ... Intel Processor Trace data: size 8 bytes\n"
		 ".  00000000:  02 82 02 82  PSB\n"),
		/* Words that are also of others. */
		".  00000000:  00 00  PAD\n",
		".  0000:  49 00  LD\n",
		". ... ARM SPE data: size none bytes\n",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		print_message("case %zu\n", i);
		assert_int_equal(open_text(f, texts[i], NULL),
		    HWTD_E_UNRECOGNIZED);
	}
	/* Who names the technology says that the bytes are raw. */
	const struct hwtd_open_options raw = { .size = sizeof(raw),
		.tech = HWTD_TECH_SPE };
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(open_text(f, HEAD("0"), &raw), HWTD_OK);
	assert_int_equal(hwtd_trace_info(f->trace, &info), HWTD_OK);
	assert_string_equal(info.format, "raw");
}

/* Lines across the parts in which a file is read, and long ones. */
static void
long_texts_are_read_whole(void **state)
{
	struct fixture *f = *state;
	const size_t n_lines = 20000;
	char *text = malloc(n_lines * 64 + 3000);
	size_t n = 0;

	assert_non_null(text);
	n += (size_t)sprintf(text, HEAD("%zu"), n_lines * 3);
	memset(text + n, 'x', 2000);
	n += 2000;
	text[n++] = '\n';
	for (size_t i = 0; i < n_lines; i++)
		n += (size_t)sprintf(text + n,
		    ".  %08zx:  98 %02x %02x                      LAT 1 TOT\n",
		    3 * i, (unsigned int)(i & 255),
		    (unsigned int)(i >> 8 & 255));
	open_fine(f, text);
	free(text);
	assert_int_equal(count_damages(f), 0);
	assert_int_equal(stream_at(f, 0).n_bytes, n_lines * 3);
	for (size_t i = 0; i < n_lines; i += 977) {
		uint8_t b[3];
		size_t got;

		assert_int_equal(hwtd_trace_read_bytes(f->trace, 0, 3 * i, b,
				     3, &got, NULL),
		    HWTD_OK);
		assert_int_equal(got, 3);
		assert_int_equal(b[0], 0x98);
		assert_int_equal(b[1] | b[2] << 8, i);
	}
}

/* Any request for memory can fail: then opening does, and gives all back. */
static void
memory_that_is_not_there_is_an_error(void **state)
{
	static const char text
	    [] = "    CPU #            :3\n    MIDR             :0x413fd0c1\n"
		 "0 0 0x1 [0x30]: PERF_RECORD_AUXTRACE size: 0x1  offset: 0  "
		 "ref: 0x1  idx: 0  tid: -1  cpu: 3\n" HEAD(
		     "0x8") ".  00000000:  49 00  LD\n.  00000004:  01  END\n";
	struct fixture *f = *state;
	struct failing_allocator a;
	const struct hwtd_context_options o = { .size = sizeof(o),
		.allocator = &a.allocator };
	struct hwtd_context *ctx;
	uint64_t n = 1;
	int rc;

	write_file(f->path, text, strlen(text));
	failing_allocator_init(&a);
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	do {
		const int64_t blocks = a.blocks;
		struct hwtd_trace *trace = NULL;

		failing_allocator_arm(&a, n++, true);
		rc = hwtd_trace_open(ctx, f->path, NULL, &trace, &f->err);
		failing_allocator_arm(&a, 0, false);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		hwtd_trace_close(trace);
		assert_int_equal(a.blocks, blocks);
	} while (rc != HWTD_OK);
	assert_true(n > 10);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_dump_is_its_bytes),
		TEST(old_heads_and_mails_are_read),
		TEST(buffers_are_those_of_cpus_and_threads),
		TEST(cpus_and_clocks_are_told),
		TEST(short_counters_are_told_where_perf_has_them),
		TEST(what_is_not_in_the_text_is_damage),
		TEST(more_damage_than_is_listed_hides_nothing_good),
		TEST(what_is_wrong_fits_where_it_is_told),
		TEST(bytes_before_a_tab_are_read),
		TEST(buffers_of_too_many_threads_are_of_none),
		TEST(other_texts_are_not_of_spe),
		TEST(long_texts_are_read_whole),
		TEST(memory_that_is_not_there_is_an_error),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
