/*
 * Values and what is unknown, for rows with any flags, details and contexts,
 * also those that no decoder makes yet.
 *
 * Linked with --wrap of hwtd_events_read: rows come from the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/arrow_rows.h"
#include "support/mapped_trace.h"
#include "support/sample_trace.h"
#include "trace/trace_model.h"

#define MOST_DETAILS 1024
#define ALL_COLUMNS UINT64_MAX
#define EACH_COLUMN 0x3f3fffffffu

/* What reads hand out: these rows, from `at` on. */
static struct {
	const struct mt_rows *rows;
	size_t at;
	/* For the sizes of batches; 0: as large as they may be. */
	uint64_t random;
	struct hwtd_gap gaps[MOST_DETAILS];
	struct hwtd_marker markers[MOST_DETAILS];
	struct hwtd_power powers[MOST_DETAILS];
	struct hwtd_async asyncs[MOST_DETAILS];
	struct hwtd_sample samples[MOST_DETAILS];
} given;

int __wrap_hwtd_events_read(struct hwtd_events *ev, struct hwtd_batch *batch,
    struct hwtd_error *err);

static void
give_detail(struct hwtd_batch *b, const struct mt_row *from,
    struct hwtd_event *row)
{
	switch (row->kind) {
	case HWTD_EV_GAP:
		row->value = b->n_gaps;
		given.gaps[b->n_gaps++] = from->detail.gap;
		break;
	case HWTD_EV_MARKER:
		row->value = b->n_markers;
		given.markers[b->n_markers++] = from->detail.marker;
		break;
	case HWTD_EV_POWER:
		row->value = b->n_powers;
		given.powers[b->n_powers++] = from->detail.power;
		break;
	case HWTD_EV_ASYNC:
		if ((row->flags & HWTD_EVF_VALUE) == 0)
			break;
		row->value = b->n_asyncs;
		given.asyncs[b->n_asyncs++] = from->detail.async;
		break;
	case HWTD_EV_SAMPLE:
		row->value = b->n_samples;
		given.samples[b->n_samples++] = from->detail.sample;
		break;
	default:
		break;
	}
}

int
__wrap_hwtd_events_read(struct hwtd_events *ev, struct hwtd_batch *batch,
    struct hwtd_error *err)
{
	size_t n = batch->cap;

	(void)ev;
	(void)err;
	assert_true(n > 0 && n <= MOST_DETAILS);
	if (given.at == given.rows->n)
		return (HWTD_END);
	if (given.random != 0)
		n = next_random(&given.random) % (n + 1);
	if (n > given.rows->n - given.at)
		n = given.rows->n - given.at;
	batch->gaps = given.gaps;
	batch->gap_stride = sizeof(given.gaps[0]);
	batch->markers = given.markers;
	batch->marker_stride = sizeof(given.markers[0]);
	batch->powers = given.powers;
	batch->power_stride = sizeof(given.powers[0]);
	batch->asyncs = given.asyncs;
	batch->async_stride = sizeof(given.asyncs[0]);
	batch->samples = given.samples;
	batch->sample_stride = sizeof(given.samples[0]);
	batch->n_samples = 0;
	batch->n_gaps = batch->n_markers = batch->n_powers = 0;
	batch->n_asyncs = 0;
	for (batch->n = 0; batch->n < n; batch->n++) {
		const struct mt_row *from = &given.rows->at[given.at++];
		struct hwtd_event *row = &batch->events[batch->n];

		*row = from->row;
		give_detail(batch, from, row);
	}
	return (HWTD_OK);
}

/* Rows. */

#define N_CONTEXTS 100

struct fixture {
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint32_t contexts[N_CONTEXTS];
};

/* A number that is often 0, all ones or small. */
static uint64_t
edge(uint64_t *random)
{
	const uint64_t n = next_random(random);

	switch (n % 8) {
	case 0:
		return (0);
	case 1:
		return (UINT64_MAX);
	case 2:
		return (HWTD_NO_ID);
	case 3:
		return (n >> 8 & 7);
	default:
		return (next_random(random));
	}
}

static uint32_t
edge32(uint64_t *random)
{
	return ((uint32_t)edge(random));
}

static void
make_detail(struct mt_row *r, uint64_t *random)
{
	uint64_t n;

	switch (r->row.kind) {
	case HWTD_EV_GAP:
		random_bytes(next_random(random), &r->detail.gap,
		    sizeof(r->detail.gap));
		r->detail.gap.reason = next_random(random) % 16;
		n = next_random(random) % sizeof(r->detail.gap.text);
		memset(r->detail.gap.text, 'a' + (int)(n % 26), n);
		r->detail.gap.text[n] = '\0';
		break;
	case HWTD_EV_MARKER:
		r->detail.marker.source = next_random(random) % 8;
		r->detail.marker.size = next_random(random) % 9;
		r->detail.marker.payload = edge(random);
		r->detail.marker.master = edge32(random);
		r->detail.marker.channel = edge32(random);
		r->detail.marker.flags = next_random(random) % 4;
		break;
	case HWTD_EV_POWER:
		random_bytes(next_random(random), &r->detail.power,
		    sizeof(r->detail.power));
		r->detail.power.what = next_random(random) % 6;
		r->detail.power.by_hardware = next_random(random) % 2;
		break;
	case HWTD_EV_ASYNC:
		random_bytes(next_random(random), &r->detail.async,
		    sizeof(r->detail.async));
		r->detail.async.type = next_random(random) % 40;
		break;
	case HWTD_EV_SAMPLE:
		random_bytes(next_random(random), &r->detail.sample,
		    sizeof(r->detail.sample));
		r->detail.sample.op_class = next_random(random) % 6;
		r->detail.sample.op = next_random(random) % 40;
		r->detail.sample.pa_checked = next_random(random) % 2;
		break;
	default:
		break;
	}
}

static void
make_row(const struct fixture *f, struct mt_row *r, uint64_t *random)
{
	struct hwtd_record record = { .size = sizeof(record) };
	struct hwtd_event *row = &r->row;

	memset(r, 0, sizeof(*r));
	row->kind = (uint8_t)(1 + next_random(random) % (HWTD_EV_KINDS - 1));
	row->flags = (uint16_t)next_random(random);
	/* 7 instruction sets and unknown have names. */
	row->flags &= 0x7fff;
	row->time_ns = edge(random);
	row->ip = edge(random);
	row->target = edge(random);
	row->stream_off = edge(random);
	row->value = edge(random);
	row->insns = edge32(random);
	row->bytes = edge32(random);
	row->stream = edge32(random);
	row->section = edge32(random);
	row->branch = (uint8_t)(next_random(random) % 10);
	row->context = f->contexts[next_random(random) % N_CONTEXTS];
	if (row->kind == HWTD_EV_RECORD) {
		row->value = next_random(random) % HWTD_REC_TYPES;
		(void)hwtd_trace_record(f->trace, row->value, &record);
		/* Without an offset it is 0, with one it may be. */
		if ((record.flags & HWTD_RECF_STREAM_OFF) == 0 ||
		    next_random(random) % 2 == 0)
			row->stream_off = 0;
	}
	/* They always have a detail. */
	if (row->kind == HWTD_EV_GAP || row->kind == HWTD_EV_MARKER ||
	    row->kind == HWTD_EV_POWER || row->kind == HWTD_EV_SAMPLE)
		row->flags |= HWTD_EVF_VALUE;
	make_detail(r, random);
}

/* `rare`: but for one of so many, rows are plain blocks. */
static void
make_rows(const struct fixture *f, size_t n, unsigned int rare, uint64_t seed,
    struct mt_rows *out)
{
	out->at = calloc(n, sizeof(*out->at));
	out->n = out->cap = n;
	assert_non_null(out->at);
	for (size_t i = 0; i < n; i++) {
		make_row(f, &out->at[i], &seed);
		if (next_random(&seed) % rare == 0)
			continue;
		memset(&out->at[i], 0, sizeof(out->at[i]));
		out->at[i].row.kind = HWTD_EV_BLOCK;
		out->at[i].row.flags = HWTD_EVF_IP;
		out->at[i].row.ip = i;
	}
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint64_t random = 5;

	if (f == NULL || hwtd_context_create(NULL, &f->ctx, NULL) != HWTD_OK ||
	    sample_trace_build(f->ctx, &f->trace, NULL) != HWTD_OK)
		return (-1);
	for (size_t i = 0; i < N_CONTEXTS; i++) {
		struct hwtd_exec_context c = {
			.size = sizeof(c),
			.pid = edge32(&random),
			.tid = edge32(&random),
			.cpu = edge32(&random),
			.flags = next_random(&random) % 128,
			.cr3 = edge(&random),
			.vmcs = edge(&random),
			.contextidr = edge(&random),
			.vmid = edge(&random),
			.level = next_random(&random) % 4,
			.security = next_random(&random) % 4,
		};

		if (hwtdi_trace_intern_context(f->trace, &c, &f->contexts[i],
			NULL) != HWTD_OK)
			return (-1);
	}
	*state = f;
	return (0);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t held = 1;

	hwtd_trace_close(f->trace);
	hwtd_context_memory(f->ctx, &held, NULL);
	hwtd_context_destroy(f->ctx);
	free(f);
	return (held == 0 ? 0 : -1);
}

static void
assert_columns(const struct fixture *f, const struct mt_rows *rows,
    uint64_t columns, uint32_t most, uint64_t random)
{
	struct ArrowArrayStream stream;

	given.rows = rows;
	given.at = 0;
	given.random = random;
	stream = ar_export(mt_events(f->trace, NULL),
	    columns == ALL_COLUMNS ? 0 : columns, most);
	ar_assert_stream(&stream, f->trace, columns, rows, most);
}

static const uint32_t sizes[] = { 1, 7, 63, 64, 65, 1000, 1024, 1025, 65536 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void
every_value_is_that_of_its_row(void **state)
{
	const struct fixture *f = *state;

	for (uint64_t seed = 1; seed <= 2; seed++)
		for (size_t i = 0; i < N_SIZES; i++) {
			struct mt_rows rows;

			make_rows(f, 3000, 1, seed, &rows);
			assert_columns(f, &rows, ALL_COLUMNS, sizes[i],
			    seed - 1);
			mt_rows_free(&rows);
		}
}

/* Columns that get their first value late, or never. */
static void
what_is_rare_stands_at_its_row(void **state)
{
	static const unsigned int rare[] = { 10, 700, 2500, 1000000 };
	const struct fixture *f = *state;

	for (size_t r = 0; r < sizeof(rare) / sizeof(rare[0]); r++)
		for (size_t i = 1; i < N_SIZES; i++) {
			struct mt_rows rows;

			make_rows(f, 5000, rare[r], r + 10, &rows);
			assert_columns(f, &rows, ALL_COLUMNS, sizes[i], r);
			mt_rows_free(&rows);
		}
}

static void
each_column_can_be_had_alone(void **state)
{
	const struct fixture *f = *state;
	struct mt_rows rows;
	uint64_t random = 3;

	make_rows(f, 500, 1, 4, &rows);
	for (uint64_t bit = 1; ar_column(bit, 0) != NULL; bit <<= 1)
		assert_columns(f, &rows, bit, 64, bit);
	for (int i = 0; i < 20; i++) {
		const uint64_t some = next_random(&random) & EACH_COLUMN;

		assert_columns(f, &rows, some | HWTD_COL_IP, 100, 1);
	}
	mt_rows_free(&rows);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_value_is_that_of_its_row),
		TEST(what_is_rare_stands_at_its_row),
		TEST(each_column_can_be_had_alone),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
