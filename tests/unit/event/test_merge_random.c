/*
 * Random streams with records as one, read in many ways; compared with what a
 * plain merge makes of the rows of each stream alone.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "support/random_program.h"
#include "support/record_model.h"
#include "support/slot_size.h"

#define MOST_STREAMS 12
#define MOST_RECORDS 300
#define MOST_ROWS 3000
#define ALL ((1u << HWTD_EV_KINDS) - 1 - (1u << HWTD_EV_TIME))

struct random_merge {
	uint64_t random;
	uint32_t n_streams, n_records, level;
	bool timed[MOST_STREAMS];
	struct hwtd_trace *trace;
	struct hwtd_record records[MOST_RECORDS];
	/* Rows of each stream, read alone. */
	struct mt_rows alone[MOST_STREAMS];
	/* All of them, and all with records. */
	struct mt_rows plain, want;
	/* Of each row that is wanted, where it would be in `plain`. */
	size_t *places;
};

static uint32_t
below(struct random_merge *m, uint32_t n)
{
	return (random_below(&m->random, n));
}

/* Streams of many kinds; times are equal often, or never. */
static void
add_streams(struct random_merge *m)
{
	const uint32_t coarse = below(m, 2) != 0 ? 1 + below(m, 3000) : 1;
	const uint32_t most = below(m, 4) == 0 ? 12000 : 1500;

	(void)long_trace_code(m->trace);
	m->n_streams = 2 + below(m, MOST_STREAMS - 1);
	for (uint32_t i = 0; i < m->n_streams; i++) {
		const struct long_trace_options o = {
			.seed = 1 + below(m, 1000000),
			.insns = 1 + below(m, below(m, 3) != 0 ? most : 40),
			.psb_bytes = 60 + below(m, 400),
			.timed = below(m, 6) != 0,
			.tsc = below(m, 3000),
			.overflow_of = below(m, 2) * (10 + below(m, 40)),
			.interrupt_of = below(m, 2) * (10 + below(m, 40)),
			.pause_of = below(m, 2) * (3 + below(m, 30)),
			.garbage_of = below(m, 4) == 0 ? 40 : 0,
		};
		const struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = i % 4,
			.tid = i,
			.clock = { .counts_per = o.timed ? coarse : 0,
			    .ns_per = 1 },
		};
		struct long_trace t;

		m->timed[i] = o.timed;
		long_trace_make(&t, &o);
		if (below(m, 20) == 0)
			t.packets.n = 0;
		(void)mt_stream(m->trace, &t.packets, &desc);
		long_trace_free(&t);
	}
}

/* Comes before, in the order of rows. */
static bool
comes_before(const struct random_merge *m, const struct hwtd_event *a,
    const struct hwtd_event *b)
{
	const bool a_timed = m->timed[a->stream],
		   b_timed = m->timed[b->stream];
	uint64_t a_ns = (a->flags & HWTD_EVF_TIME) != 0 ? a->time_ns : 0;
	uint64_t b_ns = (b->flags & HWTD_EVF_TIME) != 0 ? b->time_ns : 0;

	if (a_timed != b_timed)
		return (a_timed);
	if (a_timed && a_ns != b_ns)
		return (a_ns < b_ns);
	return (a->stream < b->stream);
}

static void
merge_plain(struct random_merge *m)
{
	size_t at[MOST_STREAMS] = { 0 }, n = 0;

	for (uint32_t s = 0; s < m->n_streams; s++)
		n += m->alone[s].n;
	m->plain.at = calloc(n + 1, sizeof(*m->plain.at));
	assert_non_null(m->plain.at);
	m->plain.cap = n + 1;
	while (m->plain.n < n) {
		uint32_t first = MOST_STREAMS;

		for (uint32_t s = 0; s < m->n_streams; s++)
			if (at[s] < m->alone[s].n &&
			    (first == MOST_STREAMS ||
				comes_before(m, &m->alone[s].at[at[s]].row,
				    &m->alone[first].at[at[first]].row)))
				first = s;
		m->plain.at[m->plain.n++] = m->alone[first].at[at[first]++];
	}
}

static uint64_t
last_off(const struct random_merge *m, uint32_t s)
{
	return (m->alone[s].at[m->alone[s].n - 1].row.stream_off);
}

static void
add_records(struct random_merge *m)
{
	uint64_t last_ns = 1;

	for (size_t i = 0; i < m->plain.n; i++)
		if ((m->plain.at[i].row.flags & HWTD_EVF_TIME) != 0)
			last_ns = m->plain.at[i].row.time_ns;
	m->n_records = below(m, 3) == 0 ? 0 : below(m, MOST_RECORDS);
	for (uint32_t i = 0; i < m->n_records; i++) {
		struct hwtd_record *r = &m->records[i];
		const uint32_t s = below(m, m->n_streams);
		const uint32_t how = below(m, 4);

		*r = mr_record(HWTD_REC_LOST, HWTD_NO_ID, 0, 0);
		r->flags = 0;
		r->tid = below(m, 2) != 0 ? s : HWTD_NO_ID;
		if ((how & 1) != 0 && m->alone[s].n > 0)
			mr_place(r, s, below(m, (uint32_t)last_off(m, s) + 1));
		if ((how & 2) != 0)
			mr_time(r, below(m, (uint32_t)last_ns + 5));
		mr_add(m->trace, r);
	}
}

static void
read_alone(struct random_merge *m)
{
	for (uint32_t s = 0; s < m->n_streams; s++) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.level = m->level,
			.streams = &s,
			.n_streams = 1 };

		mt_rows_free(&m->alone[s]);
		mt_rows(m->trace, &o, &m->alone[s]);
	}
}

static void
make(struct random_merge *m, uint64_t seed)
{
	uint64_t before;

	memset(m, 0, sizeof(*m));
	m->random = seed;
	(void)below(m, 1);
	m->level = below(m, 2);
	slot_bytes = 100 + below(m, 1500);
	before = m->random;
	m->trace = mt_create();
	add_streams(m);
	mt_seal(m->trace);
	read_alone(m);
	merge_plain(m);
	hwtd_trace_close(m->trace);
	/* The same again with records, whose places are known now. */
	m->random = before;
	m->trace = mt_create();
	add_streams(m);
	add_records(m);
	mt_seal(m->trace);
	read_alone(m);
	mt_rows_free(&m->plain);
	merge_plain(m);
	rm_insert(&m->plain, m->timed, m->records, m->n_records, &m->want,
	    &m->places);
}

static void
discard(struct random_merge *m)
{
	for (uint32_t s = 0; s < m->n_streams; s++)
		mt_rows_free(&m->alone[s]);
	mt_rows_free(&m->plain);
	mt_rows_free(&m->want);
	free(m->places);
	hwtd_trace_close(m->trace);
}

/* A row at a place of more bytes than it has. */
struct wide_row {
	struct hwtd_event row;
	uint64_t behind[2];
};

static void
assert_row(const struct random_merge *m, const struct hwtd_batch *b,
    const struct hwtd_event *got, const struct mt_row *want)
{
	struct hwtd_event row = want->row;
	const void *detail = NULL;
	size_t n = 0;

	switch (got->kind) {
	case HWTD_EV_RECORD: {
		struct hwtd_exec_context c = { .size = sizeof(c) };

		assert_int_equal(row.kind, HWTD_EV_RECORD);
		row.context = got->context;
		assert_int_equal(hwtd_trace_exec_context(m->trace,
				     got->context, &c),
		    HWTD_OK);
		assert_int_equal(c.tid, m->records[row.value].tid);
		break;
	}
	case HWTD_EV_GAP:
		assert_true(got->value < b->n_gaps);
		detail = &b->gaps[got->value];
		n = sizeof(b->gaps[0]);
		break;
	case HWTD_EV_MARKER:
		assert_true(got->value < b->n_markers);
		detail = &b->markers[got->value];
		n = sizeof(b->markers[0]);
		break;
	case HWTD_EV_POWER:
		assert_true(got->value < b->n_powers);
		detail = &b->powers[got->value];
		n = sizeof(b->powers[0]);
		break;
	case HWTD_EV_ASYNC:
		if ((got->flags & HWTD_EVF_VALUE) == 0)
			break;
		assert_true(got->value < b->n_asyncs);
		detail = &b->asyncs[got->value];
		n = sizeof(b->asyncs[0]);
		break;
	default:
		break;
	}
	if (detail != NULL) {
		assert_memory_equal(detail, &want->detail, n);
		row.value = got->value;
	}
	assert_memory_equal(got, &row, sizeof(row));
}

/*
 * Read rows of `want` from *at_inout on that are `wanted` (NULL: all), at most
 * about `most`, in batches of random sizes.  True: the end was reached.
 */
static bool
read_rows(struct random_merge *m, struct hwtd_events *ev, const bool *wanted,
    size_t *at_inout, size_t most)
{
	static const uint32_t sizes[] = { 1, 2, 7, 64, 512, 1024, 1100,
		MOST_ROWS };
	const uint32_t size = sizes[below(m, 8)];
	const bool vary = below(m, 3) == 0, wide = below(m, 3) == 0;
	static struct wide_row buf[MOST_ROWS];
	struct hwtd_error err = { .size = sizeof(err) };
	size_t n = 0;

	while (n < most) {
		struct hwtd_batch b = { .size = sizeof(b),
			.events = &buf[0].row,
			.stride = wide ? sizeof(buf[0]) : sizeof(buf[0].row),
			.cap = vary ? 1 + below(m, size) : size };
		int rc;

		for (size_t i = 0; wide && i < b.cap; i++)
			buf[i].behind[0] = buf[i].behind[1] = 0x5a5a;
		rc = hwtd_events_read(ev, &b, &err);
		assert_true(b.n <= b.cap);
		for (size_t i = 0; i < b.n; i++) {
			const struct hwtd_event *row = (const void
				*)((const uint8_t *)b.events + i * b.stride);

			while (wanted != NULL && *at_inout < m->want.n &&
			    !wanted[*at_inout])
				++*at_inout;
			assert_true(*at_inout < m->want.n);
			assert_row(m, &b, row, &m->want.at[(*at_inout)++]);
		}
		for (size_t i = 0; wide && i < b.cap; i++)
			assert_true(buf[i].behind[0] == 0x5a5a &&
			    buf[i].behind[1] == 0x5a5a);
		n += b.n;
		if (rc == HWTD_OK)
			continue;
		if (rc != HWTD_END)
			fail_msg("%d: %s", rc, err.message);
		while (wanted != NULL && *at_inout < m->want.n &&
		    !wanted[*at_inout])
			++*at_inout;
		assert_int_equal(*at_inout, m->want.n);
		return (true);
	}
	return (false);
}

/* Rows from a time on: those of each stream from the first one there. */
static void
want_from_time(const struct random_merge *m, uint64_t ns, bool *wanted)
{
	bool reached[MOST_STREAMS] = { false };
	bool *rows = calloc(m->plain.n + 1, sizeof(*rows));

	assert_non_null(rows);
	for (size_t i = 0; i < m->plain.n; i++) {
		const struct hwtd_event *e = &m->plain.at[i].row;

		if (!m->timed[e->stream] || ns == 0 ||
		    ((e->flags & HWTD_EVF_TIME) != 0 && e->time_ns >= ns))
			reached[e->stream] = true;
		rows[i] = reached[e->stream];
	}
	rows[m->plain.n] = ns == 0;
	for (size_t i = 0; i < m->want.n; i++) {
		const struct hwtd_event *e = &m->want.at[i].row;

		wanted[i] = rows[m->places[i]];
		if (e->kind == HWTD_EV_RECORD &&
		    (e->flags & HWTD_EVF_TIME) != 0)
			wanted[i] = e->time_ns >= ns;
	}
	/* One with neither goes with the record it follows. */
	for (size_t i = 0; i < m->want.n && ns > 0; i++) {
		const struct hwtd_event *e = &m->want.at[i].row;

		if (e->kind == HWTD_EV_RECORD &&
		    (e->flags & HWTD_EVF_TIME) == 0 && e->stream == HWTD_NO_ID)
			wanted[i] = i > 0 &&
			    m->want.at[i - 1].row.kind == HWTD_EV_RECORD &&
			    wanted[i - 1];
	}
	free(rows);
}

static void
want_kinds(const struct random_merge *m, uint32_t kinds, bool *wanted)
{
	for (size_t i = 0; i < m->want.n; i++)
		if ((kinds >> m->want.at[i].row.kind & 1) == 0)
			wanted[i] = false;
}

/* What begins with records that no time or byte places is hard to foresee. */
static bool
has_lost_records(const struct random_merge *m)
{
	for (size_t i = 0; i < m->n_records; i++)
		if (m->records[i].flags == 0)
			return (true);
	return (false);
}

static void
read_in_some_way(struct random_merge *m, bool *wanted)
{
	static const uint32_t kinds[] = { ALL, ALL, ALL,
		ALL - (1u << HWTD_EV_RECORD),
		1u << HWTD_EV_RECORD | 1u << HWTD_EV_GAP,
		1u << HWTD_EV_RECORD | 1u << HWTD_EV_BLOCK |
		    1u << HWTD_EV_INSN,
		ALL - (1u << HWTD_EV_BLOCK) - (1u << HWTD_EV_INSN) };
	const struct hwtd_events_options o = { .size = sizeof(o),
		.level = m->level,
		.kinds = kinds[below(m, 7)],
		.jobs = 1 + below(m, 8) };
	struct hwtd_events *ev = mt_events(m->trace, &o);
	const uint32_t turns = below(m, 4);
	size_t at = 0;
	memset(wanted, 1, m->want.n * sizeof(*wanted));
	want_kinds(m, o.kinds, wanted);
	for (uint32_t i = 0; i < turns; i++) {
		(void)read_rows(m, ev, wanted, &at, below(m, 4000));
		at = 0;
		memset(wanted, 1, m->want.n * sizeof(*wanted));
		if (below(m, 3) == 0 && m->plain.n > 0) {
			const struct hwtd_event
			    *e = &m->plain.at[below(m, (uint32_t)m->plain.n)]
				      .row;
			const uint64_t off = e->stream_off -
			    below(m, 2) * (uint64_t)(e->stream_off > 0);

			for (size_t k = 0; k < m->want.n; k++)
				wanted[k] = m->want.at[k].row.stream ==
					e->stream &&
				    m->want.at[k].row.stream_off >= off &&
				    (m->want.at[k].row.kind !=
					    HWTD_EV_RECORD ||
					(m->records[m->want.at[k].row.value]
						.flags &
					    HWTD_RECF_STREAM_OFF) != 0);
			assert_int_equal(hwtd_events_seek_offset(ev, e->stream,
					     off, NULL),
			    HWTD_OK);
		} else {
			uint64_t ns = 0;

			if (m->plain.n > 0 && !has_lost_records(m))
				ns = m->plain
					 .at[below(m, (uint32_t)m->plain.n)]
					 .row.time_ns;
			assert_int_equal(hwtd_events_seek_ns(ev, ns, NULL),
			    HWTD_OK);
			want_from_time(m, ns, wanted);
		}
		want_kinds(m, o.kinds, wanted);
	}
	if (below(m, 5) != 0)
		assert_true(read_rows(m, ev, wanted, &at, SIZE_MAX));
	hwtd_events_close(ev);
}

/* A strict cursor ends with the first gap. */
static void
read_strictly(struct random_merge *m)
{
	const struct hwtd_events_options o = { .size = sizeof(o),
		.level = m->level,
		.kinds = ALL,
		.flags = HWTD_DECODE_STRICT,
		.jobs = 1 + below(m, 8) };
	struct hwtd_events *ev = mt_events(m->trace, &o);
	struct hwtd_event buf[100];
	struct hwtd_batch b = { .size = sizeof(b),
		.events = buf,
		.stride = sizeof(buf[0]),
		.cap = 1 + below(m, 100) };
	size_t at = 0, n = 0;
	int rc;

	while (n < m->want.n && m->want.at[n].row.kind != HWTD_EV_GAP)
		n++;
	if (n < m->want.n)
		n++;
	else
		n = SIZE_MAX;
	while ((rc = hwtd_events_read(ev, &b, NULL)) == HWTD_OK)
		for (size_t i = 0; i < b.n; i++)
			assert_row(m, &b, &buf[i], &m->want.at[at++]);
	assert_int_equal(rc, n == SIZE_MAX ? HWTD_END : HWTD_E_CORRUPT);
	assert_int_equal(at, n == SIZE_MAX ? m->want.n : n);
	hwtd_events_close(ev);
}

static size_t rounds;
static uint64_t first_seed = 1;

static void
random_streams_come_in_their_order_however_they_are_read(void **state)
{
	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + rounds; seed++) {
		struct random_merge m;
		bool *wanted;

		make(&m, seed);
		print_message("%u: %u streams, %zu rows, %u records\n",
		    (unsigned int)seed, m.n_streams, m.plain.n, m.n_records);
		wanted = calloc(m.want.n + 1, sizeof(*wanted));
		assert_non_null(wanted);
		for (unsigned int i = 0; i < 12; i++)
			read_in_some_way(&m, wanted);
		for (unsigned int i = 0; i < 3; i++)
			read_strictly(&m);
		free(wanted);
		discard(&m);
	}
	slot_bytes = 0;
}

/* Arguments: the first seed, and how many of them. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    random_streams_come_in_their_order_however_they_are_read),
	};

	rounds = getenv("HWTDECODE_TEST_SMALL") != NULL ? 10 : 40;
	if (argc > 2) {
		first_seed = strtoull(argv[1], NULL, 10);
		rounds = strtoul(argv[2], NULL, 10);
	}
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
