/*
 * Where records come among rows, by a plain model.
 */
#include "support/record_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A record, and by what it is sorted among those before one row. */
struct spot {
	size_t record, row;
	bool by_byte;
	uint64_t key;
};

static bool
comes_after(const struct spot *a, const struct spot *b)
{
	if (a->row != b->row)
		return (a->row > b->row);
	if (a->by_byte != b->by_byte)
		return (a->by_byte);
	return (a->key > b->key);
}

/* Stable, by insertion. */
static void
sort_spots(struct spot *spots, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct spot s = spots[i];
		size_t k = i;

		for (; k > 0 && comes_after(&spots[k - 1], &s); k--)
			spots[k] = spots[k - 1];
		spots[k] = s;
	}
}

struct model {
	const struct mt_rows *plain;
	const bool *timed;
	const struct hwtd_record *records;
	size_t n;
};

/* Row before which a record with time comes. */
static size_t
row_at_time(const struct model *m, uint64_t ns)
{
	const struct mt_rows *rows = m->plain;
	size_t i = 0;

	while (ns > 0 && i < rows->n && m->timed[rows->at[i].row.stream] &&
	    ((rows->at[i].row.flags & HWTD_EVF_TIME) == 0 ||
		rows->at[i].row.time_ns < ns))
		i++;
	return (i);
}

static size_t
row_at_byte(const struct mt_rows *rows, uint32_t stream, uint64_t off)
{
	size_t i = 0;

	while (i < rows->n &&
	    (rows->at[i].row.stream != stream ||
		rows->at[i].row.stream_off < off))
		i++;
	assert_true(i < rows->n);
	return (i);
}

/* Records by time; one without stays with the one before it. */
static void
sort_by_time(const struct model *m, struct spot *spots)
{
	uint64_t key = UINT64_MAX;

	for (size_t i = 0; i < m->n; i++) {
		if ((m->records[i].flags & HWTD_RECF_TIME) != 0)
			key = m->records[i].time_ns;
		spots[i] = (struct spot){ .record = i, .key = key };
	}
	/* The first ones stay before the first one that has time. */
	for (size_t i = m->n; i-- > 1;)
		if (spots[i - 1].key == UINT64_MAX)
			spots[i - 1].key = spots[i].key;
	sort_spots(spots, m->n);
}

static void
find_spots(const struct model *m, struct spot *spots)
{
	struct spot here = { 0 };

	sort_by_time(m, spots);
	for (size_t i = 0; i < m->n; i++) {
		const struct hwtd_record *r = &m->records[spots[i].record];

		if ((r->flags & HWTD_RECF_TIME) != 0) {
			here.by_byte = false;
			here.key = r->time_ns;
			here.row = row_at_time(m, r->time_ns);
		} else if ((r->flags & HWTD_RECF_STREAM_OFF) != 0) {
			here.by_byte = true;
			here.key = r->stream_off;
			here.row = row_at_byte(m->plain, r->stream,
			    r->stream_off);
		}
		here.record = spots[i].record;
		spots[i] = here;
	}
	sort_spots(spots, m->n);
}

static void
set_record(const struct hwtd_record *r, size_t index, struct hwtd_event *row)
{
	row->kind = HWTD_EV_RECORD;
	row->value = index;
	row->flags = HWTD_EVF_VALUE;
	row->stream = r->stream;
	if ((r->flags & HWTD_RECF_STREAM_OFF) != 0)
		row->stream_off = r->stream_off;
	if ((r->flags & HWTD_RECF_TIME) != 0) {
		row->flags |= HWTD_EVF_TIME;
		row->time_ns = r->time_ns;
	}
}

void
rm_insert(const struct mt_rows *plain, const bool *timed,
    const struct hwtd_record *records, size_t n, struct mt_rows *want,
    size_t **places_out)
{
	const struct model m = { plain, timed, records, n };
	struct spot *spots = calloc(n + 1, sizeof(*spots));
	size_t *places = calloc(plain->n + n + 1, sizeof(*places)), s = 0;

	want->n = 0;
	want->cap = plain->n + n;
	want->at = calloc(want->cap + 1, sizeof(*want->at));
	assert_non_null(spots);
	assert_non_null(places);
	assert_non_null(want->at);
	find_spots(&m, spots);
	for (size_t i = 0; i <= plain->n; i++) {
		for (; s < n && spots[s].row == i; s++) {
			set_record(&records[spots[s].record], spots[s].record,
			    &want->at[want->n].row);
			places[want->n++] = i;
		}
		if (i == plain->n)
			break;
		want->at[want->n] = plain->at[i];
		places[want->n++] = i;
	}
	assert_int_equal(want->n, want->cap);
	free(spots);
	*places_out = places;
}
