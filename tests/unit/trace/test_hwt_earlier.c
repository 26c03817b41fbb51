/*
 * Damage that a .hwt file tells of the file that it was made from: entries put
 * together by hand, what saving makes of damage, and entries that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/hand_fixture.h"

/* Layout of an entry, from the man page. */
#define ENTRY 40
#define MAX_DAMAGES 65536u

struct entry {
	uint32_t stream;
	uint64_t off;
	uint64_t file_off;
	uint64_t file_bytes;
	const char *text;
	/* Added to size and place of the text. */
	int32_t size_lie;
	int16_t text_lie;
	/* A 0 byte in the text. */
	bool zero;
};

#define ENTRY_OF(where, at, from, n, words)                                   \
	{                                                                     \
		.stream = (where), .off = (at), .file_off = (from),           \
		.file_bytes = (n), .text = (words)                            \
	}

static size_t
put_entry(uint8_t *to, const struct entry *e)
{
	const size_t n = strlen(e->text);

	memset(to, 0, ENTRY);
	hwtdi_put_le(to, (uint64_t)((int64_t)(ENTRY + n) + e->size_lie), 4);
	hwtdi_put_le(to + 4, (uint64_t)(ENTRY + e->text_lie), 2);
	hwtdi_put_le(to + 8, e->stream, 4);
	hwtdi_put_le(to + 16, e->off, 8);
	hwtdi_put_le(to + 24, e->file_off, 8);
	hwtdi_put_le(to + 32, e->file_bytes, 8);
	memcpy(to + ENTRY, e->text, n);
	if (e->zero)
		to[ENTRY] = 0;
	return (ENTRY + n);
}

static void
put_damages(struct hand *file, uint64_t position, const struct entry *e,
    size_t n)
{
	const struct hand_chunk c = {
		.type = HAND_DAMAGE,
		.id = HWTD_NO_ID,
		.position = position,
	};
	uint8_t payload[2048];
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		at += put_entry(payload + at, &e[i]);
	hand_chunk(file, &c, payload, at, at);
}

static const struct entry two[] = {
	ENTRY_OF(HWTD_NO_ID, 0, 1000, 24, "record is shorter than its header"),
	ENTRY_OF(0, 3, 77, 0, "what follows is not there"),
};

/* They are those of `two`, told of an earlier file. */
static void
assert_two(const struct hwtd_trace *trace, size_t from)
{
	for (size_t i = 0; i < 2; i++) {
		const struct hwtd_damage d = damage_at(trace, from + i);

		assert_int_equal(d.flags, HWTD_DAMAGEF_EARLIER_FILE);
		assert_int_equal(d.stream, two[i].stream);
		assert_int_equal(d.first, two[i].off);
		assert_int_equal(d.end, two[i].off);
		assert_int_equal(d.file_off, two[i].file_off);
		assert_int_equal(d.file_bytes, two[i].file_bytes);
		assert_string_equal(d.text, two[i].text);
	}
}

static struct hwtd_trace *
save_and_open(struct hand_fixture *f, struct hwtd_trace *trace, uint32_t flags)
{
	const struct hwtd_save_options o = {
		.size = sizeof(o),
		.flags = flags,
	};
	struct hwtd_trace *again;
	char path[300];

	(void)temp_dir_file(&f->dir, "again.hwt", path);
	assert_int_equal(hwtd_trace_save(trace, path, &o, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_trace_open(f->ctx, path, NULL, &again, NULL),
	    HWTD_OK);
	return (again);
}

static void
damage_of_an_earlier_file_is_told_as_it_was(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;

	for (int finished = 0; finished < 2; finished++) {
		hand_again(f);
		hand_stream(&f->file, 0, 0, "s");
		put_damages(&f->file, 0, two, 2);
		hand_data(&f->file, 0, 0, "bytes", 5);
		if (finished)
			hand_finish(&f->file);
		trace = hand_must_open(f);
		/* Of a file that was not finished, that is told too. */
		assert_int_equal(n_damages(trace), finished ? 2 : 3);
		assert_two(trace, 0);
		if (!finished)
			assert_int_equal(damage_at(trace, 2).flags, 0);
		assert_stream(trace, 0, 0, "bytes");
		hwtd_trace_close(trace);
	}
}

static void
saving_again_keeps_it_once(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "s");
	put_damages(&f->file, 0, two, 2);
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	for (int i = 0; i < 3; i++) {
		trace = save_and_open(f, trace, i == 1 ? HWTD_SAVE_IMAGES : 0);
		assert_int_equal(n_damages(trace), 2);
		assert_two(trace, 0);
		assert_stream(trace, 0, 0, "bytes");
	}
	hwtd_trace_close(trace);
}

/* Damage of this file is that of an earlier one when it was saved. */
static void
damage_that_is_no_hole_is_saved(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_damage before, d;

	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_data(&f->file, 0, 9, "more", 4);
	hand_finish(&f->file);
	hand_bytes(&f->file, "behind", 6);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 2);
	before = damage_at(trace, 1);
	assert_int_equal(before.flags, 0);
	assert_int_equal(before.stream, HWTD_NO_ID);
	assert_int_equal(before.file_off, f->file.n - 6);
	assert_int_equal(before.file_bytes, 6);
	assert_int_equal(damage_at(trace, 0).first, 5);
	for (int i = 0; i < 2; i++) {
		trace = save_and_open(f, trace, 0);
		assert_int_equal(n_damages(trace), 2);
		d = damage_at(trace, 0);
		assert_int_equal(d.flags, HWTD_DAMAGEF_EARLIER_FILE);
		assert_int_equal(d.stream, HWTD_NO_ID);
		assert_int_equal(d.file_off, f->file.n - 6);
		assert_int_equal(d.file_bytes, 6);
		assert_string_equal(d.text, before.text);
		/* The hole is one of this file. */
		d = damage_at(trace, 1);
		assert_int_equal(d.flags, 0);
		assert_int_equal(d.stream, 0);
		assert_int_equal(d.first, 5);
		assert_int_equal(d.end, 9);
	}
	hwtd_trace_close(trace);
}

/* Rows say which file they mean. */
static void
gaps_of_it_name_the_earlier_file(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_events *events;
	struct hwtd_event rows[8];
	struct hwtd_batch batch = {
		.size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 8,
	};
	size_t gaps = 0;

	hand_stream(&f->file, 0, 0, "s");
	put_damages(&f->file, 0, two, 2);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(hwtd_events_open(trace, NULL, &events, NULL),
	    HWTD_OK);
	while (hwtd_events_read(events, &batch, NULL) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++) {
			const struct hwtd_gap *gap;

			if (rows[i].kind != HWTD_EV_GAP)
				continue;
			assert_true(gaps < 2);
			gap = &batch.gaps[rows[i].value];
			assert_int_equal(gap->reason, HWTD_GAP_FILE_DAMAGED);
			assert_int_equal(gap->flags,
			    HWTD_GAPF_FILE | HWTD_GAPF_EARLIER_FILE);
			assert_int_equal(gap->file_off, two[gaps].file_off);
			assert_int_equal(gap->file_bytes,
			    two[gaps].file_bytes);
			assert_string_equal(gap->text, two[gaps].text);
			gaps++;
		}
	assert_int_equal(gaps, 2);
	hwtd_events_close(events);
	hwtd_trace_close(trace);
}

/* It explains nothing that is wrong with this file. */
static void
damage_of_this_file_is_told_beside_it(void **state)
{
	struct hand_fixture *f = *state;
	struct entry at_hole = two[0];
	struct hwtd_trace *trace;
	struct hwtd_damage d;
	size_t hole;

	/* The place that it names in the earlier file is that of a hole here. */
	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	at_hole.file_off = f->file.n;
	put_damages(&f->file, 0, &at_hole, 1);
	hole = f->file.n;
	hand_data(&f->file, 0, 9, "more", 4);
	/* Nothing else says what this stream is. */
	hand_data(&f->file, 1, 0, "other", 5);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 2);
	d = damage_at(trace, 0);
	assert_int_equal(d.flags, HWTD_DAMAGEF_EARLIER_FILE);
	assert_int_equal(d.stream, HWTD_NO_ID);
	d = damage_at(trace, 1);
	assert_int_equal(d.flags, 0);
	assert_int_equal(d.stream, 0);
	assert_int_equal(d.first, 5);
	assert_int_equal(d.end, 9);
	assert_int_equal(d.file_off, hole);
	hwtd_trace_close(trace);

	hand_again(f);
	put_damages(&f->file, 0, two, 1);
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 2);
	assert_string_equal(damage_at(trace, 1).text,
	    "stream 0 is not described");
	hwtd_trace_close(trace);
}

static void
entries_that_lie_cost_their_chunk(void **state)
{
	struct hand_fixture *f = *state;
	static const struct entry lies[] = {
		{ .text = "size past the end", .size_lie = 1 },
		{ .text = "size of 4 GiB", .size_lie = -(ENTRY + 14) },
		{ .text = "", .size_lie = -1 },
		{ .text = "text in the head", .text_lie = -1 },
		{ .text = "text behind the entry", .text_lie = 22 },
		{ .text = "text with a 0 byte", .zero = true },
		{ .text = "stream offset", .off = UINT64_C(1) << 63 },
		{ .text = "file offset", .file_off = UINT64_C(1) << 63 },
		{ .text = "file bytes",
		    .file_off = 1,
		    .file_bytes = INT64_MAX },
		{ .text = "file bytes wrap",
		    .file_off = 1,
		    .file_bytes = UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		const struct entry entries[] = { two[0], lies[i] };
		struct hwtd_trace *trace;
		struct hwtd_damage d;

		print_message("case %zu\n", i);
		hand_again(f);
		hand_stream(&f->file, 0, 0, "s");
		put_damages(&f->file, 0, entries, 2);
		put_damages(&f->file, 2, two, 2);
		hand_data(&f->file, 0, 0, "bytes", 5);
		hand_finish(&f->file);
		trace = hand_must_open(f);
		assert_int_equal(n_damages(trace), 3);
		d = damage_at(trace, 0);
		assert_int_equal(d.flags, 0);
		assert_int_equal(d.stream, HWTD_NO_ID);
		assert_int_equal(d.file_off, f->file.at[1]);
		assert_two(trace, 1);
		assert_stream(trace, 0, 0, "bytes");
		hwtd_trace_close(trace);
	}
}

static void
chunk_that_comes_twice_counts_once(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "s");
	put_damages(&f->file, 0, two, 2);
	put_damages(&f->file, 0, two, 2);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 3);
	assert_two(trace, 0);
	assert_int_equal(damage_at(trace, 2).file_off, f->file.at[2]);
	assert_string_equal(damage_at(trace, 2).text,
	    "damage numbers go back");
	hwtd_trace_close(trace);
}

static void
stream_that_is_not_there_is_none(void **state)
{
	struct hand_fixture *f = *state;
	const struct entry e = ENTRY_OF(1, 3, 5, 6, "of stream 1");
	struct hwtd_trace *trace;
	struct hwtd_damage d;

	hand_stream(&f->file, 0, 0, "s");
	put_damages(&f->file, 0, &e, 1);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 2);
	d = damage_at(trace, 0);
	assert_int_equal(d.stream, HWTD_NO_ID);
	assert_int_equal(d.first, 0);
	assert_int_equal(d.file_off, 5);
	assert_string_equal(d.text, "of stream 1");
	assert_int_equal(damage_at(trace, 1).file_off, f->file.at[1]);
	hwtd_trace_close(trace);
}

/* It is in no extent, so it changes none. */
static void
place_behind_the_stream_makes_no_hole(void **state)
{
	struct hand_fixture *f = *state;
	const struct entry e = ENTRY_OF(0, 1000, 5, 6, "behind");
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "s");
	put_damages(&f->file, 0, &e, 1);
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).first, 1000);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.n_bytes, 5);
	hwtd_trace_close(trace);
}

/* A newer writer has more in front of the text, and longer texts. */
static void
newer_entries_are_read(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_DAMAGE, .id = HWTD_NO_ID };
	uint8_t entry[ENTRY + 8 + 200] = { 0 };
	struct hwtd_trace *trace;
	struct hwtd_damage d;

	hwtdi_put_le(entry, sizeof(entry), 4);
	hwtdi_put_le(entry + 4, ENTRY + 8, 2);
	hwtdi_put_le(entry + 6, 0xffff, 2);
	hwtdi_put_le(entry + 8, HWTD_NO_ID, 4);
	hwtdi_put_le(entry + 12, 0xffffffff, 4);
	hwtdi_put_le(entry + 24, 11, 8);
	memset(entry + ENTRY + 8, 'x', 200);
	hand_chunk(&f->file, &c, entry, sizeof(entry), sizeof(entry));
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	d = damage_at(trace, 0);
	assert_int_equal(d.stream, HWTD_NO_ID);
	assert_int_equal(d.file_off, 11);
	assert_int_equal(strlen(d.text), sizeof(d.text) - 1);
	assert_int_equal(strspn(d.text, "x"), sizeof(d.text) - 1);
	hwtd_trace_close(trace);
}

static void
more_than_is_listed_is_said(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_DAMAGE, .id = HWTD_NO_ID };
	const size_t n = MAX_DAMAGES + 1000;
	uint8_t *payload = malloc(n * (ENTRY + 3));
	struct hwtd_trace *trace;

	for (size_t i = 0; i < n; i++) {
		const struct entry e = ENTRY_OF(HWTD_NO_ID, 0, i, 1, "bad");

		(void)put_entry(payload + i * (ENTRY + 3), &e);
	}
	hand_stream(&f->file, 0, 0, "s");
	hand_chunk(&f->file, &c, payload, n * (ENTRY + 3), n * (ENTRY + 3));
	hand_data(&f->file, 0, 4, "bytes", 5);
	hand_finish(&f->file);
	free(payload);
	trace = hand_must_open(f);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(n_damages(trace), MAX_DAMAGES);
		assert_int_equal(damage_at(trace, MAX_DAMAGES - 2).file_off,
		    MAX_DAMAGES - 2);
		assert_string_equal(damage_at(trace, MAX_DAMAGES - 2).text,
		    "bad");
		assert_string_equal(damage_at(trace, MAX_DAMAGES - 1).text,
		    "more than 65535 damaged places: others are not listed");
		assert_stream(trace, 0, 4, "bytes");
		if (i == 0)
			trace = save_and_open(f, trace, 0);
	}
	hwtd_trace_close(trace);
}

/* That others are not listed is said last, and once. */
static void
list_that_is_not_whole_says_so_last(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_DAMAGE, .id = HWTD_NO_ID };
	const struct entry more = ENTRY_OF(HWTD_NO_ID, 0, 9, 0, "and more");
	uint8_t payload[500];
	struct hwtd_trace *trace;
	size_t n;

	n = put_entry(payload, &more);
	/* Bit 0 of the flags. */
	payload[6] = 1;
	n += put_entry(payload + n, &two[0]);
	n += put_entry(payload + n, &two[1]);
	hand_stream(&f->file, 0, 0, "s");
	hand_chunk(&f->file, &c, payload, n, n);
	hand_data(&f->file, 0, 4, "bytes", 5);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	for (int i = 0; i < 2; i++) {
		const struct hwtd_damage d = damage_at(trace, 3);

		assert_int_equal(n_damages(trace), 4);
		assert_two(trace, 0);
		assert_string_equal(d.text, "and more");
		assert_int_equal(d.file_off, 9);
		assert_int_equal(d.flags,
		    HWTD_DAMAGEF_EARLIER_FILE | HWTD_DAMAGEF_MORE);
		if (i == 0)
			trace = save_and_open(f, trace, 0);
	}
	hwtd_trace_close(trace);
}

int
main(void)
{
#define T(name)                                                               \
	cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)
	const struct CMUnitTest tests[] = {
		T(damage_of_an_earlier_file_is_told_as_it_was),
		T(saving_again_keeps_it_once),
		T(damage_that_is_no_hole_is_saved),
		T(gaps_of_it_name_the_earlier_file),
		T(damage_of_this_file_is_told_beside_it),
		T(entries_that_lie_cost_their_chunk),
		T(chunk_that_comes_twice_counts_once),
		T(stream_that_is_not_there_is_none),
		T(place_behind_the_stream_makes_no_hole),
		T(newer_entries_are_read),
		T(more_than_is_listed_is_said),
		T(list_that_is_not_whole_says_so_last),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
