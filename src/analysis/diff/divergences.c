/*
 * Divergences: what the public interface says; finding threads, then walking them
 * pair by pair.
 */
#include <string.h>

#include "analysis/diff/flow_threads.h"
#include "analysis/diff/flow_walk.h"
#include "base/fail.h"
#include "event/filter.h"
#include "trace/trace_model.h"

#define MAX_BLOCKS 1024u
#define MAX_WINDOW (UINT32_C(1) << 22)
#define LEAST_WINDOW 64u

enum phase {
	PHASE_SCAN_A,
	PHASE_SCAN_B,
	PHASE_PAIR,
	PHASE_WALK,
	PHASE_END
};

/* The caller's options of rows, with what they point to. */
struct chosen {
	bool is_set;
	struct hwtdi_filter filter;
};

struct hwtd_divergences {
	struct hwtd_context *library;
	struct hwtd_trace *trace[2];
	struct hwtd_divergences_options options;
	struct chosen chosen[2];
	enum phase phase;
	bool failed;
	struct hwtdi_flow_threads threads[2];
	struct hwtdi_flow_couple *couples;
	size_t n_couples, cap_couples;
	/* Of each couple, as far as it is known. */
	struct hwtd_divergence_pair *pairs;
	size_t at;
	bool walking;
	struct hwtdi_flow_walk walk;
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	uint32_t unpaired[2], n_both, n_done;
	/* Of what was decoded and closed; and of the first passes. */
	uint64_t bytes;
	struct hwtd_stats stats[2];
};

/* Opening and closing. */

static int
complete(struct hwtd_divergences_options *o, struct hwtd_error *err)
{
	if ((o->flags & ~(uint32_t)HWTD_DIVERGENCES_KERNEL) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "flags %#x",
		    o->flags));
	if (o->max_rows == 0)
		o->max_rows = 1;
	if (o->n_blocks == 0)
		o->n_blocks = 8;
	if (o->window == 0)
		o->window = 16384;
	if (o->n_blocks > MAX_BLOCKS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u blocks of a row are more than %u", o->n_blocks,
		    MAX_BLOCKS));
	if (o->window > MAX_WINDOW || o->window < LEAST_WINDOW)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a window of %u blocks is not from %u to %u", o->window,
		    LEAST_WINDOW, MAX_WINDOW));
	return (HWTD_OK);
}

static int
begin(struct hwtd_divergences *d, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++) {
		rc = hwtdi_filter_init(&d->chosen[i].filter, d->library,
		    d->options.events[i], err);
		d->chosen[i].filter.o.size = sizeof(d->chosen[i].filter.o);
		d->chosen[i].is_set = true;
	}
	if (rc == HWTD_OK)
		rc = hwtdi_flow_walk_init(&d->walk, d->library, d->trace[0],
		    d->trace[1], &d->options, err);
	if (rc == HWTD_OK)
		rc = hwtdi_flow_threads_begin(&d->threads[0], d->library,
		    d->trace[0], &d->chosen[0].filter.o, err);
	return (rc);
}

int
hwtd_divergences_open(struct hwtd_trace *a, struct hwtd_trace *b,
    const struct hwtd_divergences_options *opts,
    struct hwtd_divergences **divergences_out, struct hwtd_error *err)
{
	struct hwtd_divergences_options o;
	struct hwtd_divergences *d;
	int rc;

	if (a == NULL || b == NULL || divergences_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no traces or no place for what differs"));
	if (!hwtdi_trace_sealed(a) || !hwtdi_trace_sealed(b))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "a trace is not sealed"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = complete(&o, err);
	if (rc != HWTD_OK)
		return (rc);
	d = hwtdi_zalloc(hwtdi_trace_library(a), sizeof(*d));
	if (d == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*d)));
	d->library = hwtdi_context_hold(hwtdi_trace_library(a));
	d->trace[0] = hwtdi_trace_hold(a);
	d->trace[1] = hwtdi_trace_hold(b);
	d->options = o;
	rc = begin(d, err);
	if (rc != HWTD_OK) {
		hwtd_divergences_close(d);
		return (rc);
	}
	*divergences_out = d;
	return (HWTD_OK);
}

void
hwtd_divergences_close(struct hwtd_divergences *divergences)
{
	struct hwtd_divergences *d = divergences;
	struct hwtd_context *library;
	struct hwtd_trace *trace[2];

	if (d == NULL)
		return;
	library = d->library;
	memcpy(trace, d->trace, sizeof(trace));
	if (d->walk.library != NULL)
		hwtdi_flow_walk_fini(&d->walk);
	for (unsigned int i = 0; i < 2; i++) {
		hwtdi_flow_threads_fini(&d->threads[i]);
		if (d->chosen[i].is_set)
			hwtdi_filter_fini(&d->chosen[i].filter);
	}
	hwtdi_free(library, d->pairs,
	    (d->cap_couples + 1) * sizeof(*d->pairs));
	hwtdi_array_free(library, d->couples, d->cap_couples,
	    sizeof(*d->couples));
	hwtdi_free(library, d, sizeof(*d));
	hwtd_trace_close(trace[0]);
	hwtd_trace_close(trace[1]);
	hwtd_context_destroy(library);
}

/* Phases. */

static uint64_t
bytes_of(const struct hwtd_events *events)
{
	struct hwtd_stats stats = { .size = sizeof(stats) };

	return (events != NULL && hwtd_events_stats(events, &stats) == HWTD_OK
		? stats.bytes
		: 0);
}

static void
close_scan(struct hwtd_divergences *d, unsigned int side)
{
	d->stats[side].size = sizeof(d->stats[side]);
	(void)hwtd_events_stats(d->threads[side].events, &d->stats[side]);
	d->bytes += d->stats[side].bytes;
	hwtd_events_close(d->threads[side].events);
	d->threads[side].events = NULL;
}

static int
scan(struct hwtd_divergences *d, unsigned int side, struct hwtd_error *err)
{
	int rc = hwtdi_flow_threads_work(&d->threads[side], err);

	if (rc != HWTD_END)
		return (rc);
	close_scan(d, side);
	d->phase = side == 0 ? PHASE_SCAN_B : PHASE_PAIR;
	return (side != 0
		? HWTD_OK
		: hwtdi_flow_threads_begin(&d->threads[1], d->library,
		      d->trace[1], &d->chosen[1].filter.o, err));
}

/* Only the threads that were asked for. */
static int
choose(struct hwtd_divergences *d, unsigned int side, struct hwtd_error *err)
{
	struct hwtdi_flow_threads *t = &d->threads[side];
	const uint32_t plus_1 = d->options.tid_plus_1[side];
	size_t n = 0;

	if (plus_1 == 0)
		return (HWTD_OK);
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].thread.tid == plus_1 - 1)
			t->at[n++] = t->at[i];
	t->n = n;
	return (n != 0
		? HWTD_OK
		: hwtdi_fail(err, HWTD_E_NOT_FOUND,
		      "%s has no code of thread %u",
		      side == 0 ? "the first trace" : "the second trace",
		      plus_1 - 1));
}

static void
set_pair(struct hwtd_divergences *d, size_t no)
{
	struct hwtd_divergence_pair *pair = &d->pairs[no];

	for (unsigned int i = 0; i < 2; i++) {
		const size_t at = d->couples[no].no[i];
		const struct hwtdi_flow_who *who;

		pair->pid[i] = pair->tid[i] = pair->stream[i] = HWTD_NO_ID;
		if (at == SIZE_MAX)
			continue;
		who = &d->threads[i].at[at];
		pair->pid[i] = who->thread.pid;
		pair->tid[i] = who->thread.tid;
		pair->stream[i] = who->thread.stream;
		pair->name[i] = who->name;
		pair->flags |= i == 0 ? HWTD_DIVERGENCE_PAIRF_A
				      : HWTD_DIVERGENCE_PAIRF_B;
	}
	if (d->couples[no].no[0] == SIZE_MAX)
		d->unpaired[1]++;
	else if (d->couples[no].no[1] == SIZE_MAX)
		d->unpaired[0]++;
	else
		d->n_both++;
}

static int
pair_threads(struct hwtd_divergences *d, struct hwtd_error *err)
{
	int rc = choose(d, 0, err);

	if (rc == HWTD_OK)
		rc = choose(d, 1, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(d->library, &d->couples, &d->cap_couples,
		    d->threads[0].n + d->threads[1].n + 1, sizeof(*d->couples),
		    err);
	if (rc != HWTD_OK)
		return (rc);
	d->pairs = hwtdi_zalloc(d->library,
	    (d->cap_couples + 1) * sizeof(*d->pairs));
	if (d->pairs == NULL)
		return (hwtdi_fail_nomem(err,
		    (d->cap_couples + 1) * sizeof(*d->pairs)));
	rc = hwtdi_flow_threads_pair(&d->threads[0], &d->threads[1],
	    d->couples, &d->n_couples, err);
	for (size_t i = 0; rc == HWTD_OK && i < d->n_couples; i++)
		set_pair(d, i);
	d->phase = PHASE_WALK;
	return (rc);
}

/* What the walk knows of its pair, beside who it is. */
static void
keep_pair(struct hwtd_divergences *d)
{
	struct hwtd_divergence_pair *to = &d->pairs[d->at];
	struct hwtd_divergence_pair now = d->walk.pair;

	memcpy(now.pid, to->pid, sizeof(now.pid));
	memcpy(now.tid, to->tid, sizeof(now.tid));
	memcpy(now.stream, to->stream, sizeof(now.stream));
	memcpy(now.name, to->name, sizeof(now.name));
	now.flags |= to->flags;
	*to = now;
}

static int
walk(struct hwtd_divergences *d, struct hwtd_divergence *row,
    struct hwtd_error *err)
{
	const struct hwtd_events_options *const events[2] = {
		&d->chosen[0].filter.o, &d->chosen[1].filter.o
	};
	const struct hwtdi_flow_couple *c;
	int rc;

	if (d->at == d->n_couples) {
		d->phase = PHASE_END;
		return (HWTD_END);
	}
	c = &d->couples[d->at];
	if (c->no[0] == SIZE_MAX || c->no[1] == SIZE_MAX) {
		d->at++;
		return (HWTD_OK);
	}
	if (!d->walking) {
		d->walking = true;
		return (hwtdi_flow_walk_begin(&d->walk,
		    &d->threads[0].at[c->no[0]].thread,
		    &d->threads[1].at[c->no[1]].thread, events, err));
	}
	rc = hwtdi_flow_walk_step(&d->walk, row, err);
	keep_pair(d);
	row->pair = (uint32_t)d->at;
	if (rc != HWTD_END)
		return (rc);
	d->bytes += bytes_of(d->walk.sides[0].events) +
	    bytes_of(d->walk.sides[1].events);
	hwtdi_flow_walk_end(&d->walk);
	d->walking = false;
	d->n_done++;
	d->at++;
	return (HWTD_OK);
}

int
hwtd_divergences_read(struct hwtd_divergences *divergences,
    struct hwtd_divergence *row, struct hwtd_error *err)
{
	struct hwtd_divergences *d = divergences;
	struct hwtd_divergence out = { .size = sizeof(out) };
	int rc;

	if (d == NULL || row == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no traces or row"));
	if (d->failed)
		return (hwtdi_fail(err, HWTD_E_STATE, "comparing failed"));
	switch (d->phase) {
	case PHASE_SCAN_A:
		rc = scan(d, 0, err);
		break;
	case PHASE_SCAN_B:
		rc = scan(d, 1, err);
		break;
	case PHASE_PAIR:
		rc = pair_threads(d, err);
		break;
	case PHASE_WALK:
		rc = walk(d, &out, err);
		break;
	default:
		rc = HWTD_END;
		break;
	}
	d->failed = rc < 0;
	if (rc != HWTD_OK)
		return (rc);
	d->rows[out.kind] += out.kind != HWTD_DIVERGENCE_UNKNOWN;
	return (hwtdi_result_copy(row, &out, sizeof(out)));
}

/* Asking. */

int
hwtd_divergences_info(const struct hwtd_divergences *divergences,
    struct hwtd_divergences_info *out)
{
	const struct hwtd_divergences *d = divergences;
	struct hwtd_divergences_info info = { .size = sizeof(info) };

	if (d == NULL || out == NULL)
		return (HWTD_E_INVALID);
	info.n_pairs = (uint32_t)d->n_couples;
	info.n_images = (uint32_t)d->walk.images.n;
	info.n_done = d->n_done;
	info.bytes = d->bytes;
	for (unsigned int i = 0; i < 2; i++) {
		struct hwtd_trace_info trace = { .size = sizeof(trace) };

		(void)hwtd_trace_info(d->trace[i], &trace);
		/* Once for the threads, and once for each pair. */
		info.all_bytes += trace.n_bytes *
		    (1 + (d->phase < PHASE_WALK ? 1 : d->n_both));
		info.bytes += bytes_of(d->threads[i].events) +
		    bytes_of(d->walk.sides[i].events);
		info.unpaired[i] = d->unpaired[i];
		info.stream_bytes[i] = d->stats[i].bytes;
		info.gap_bytes[i] = d->stats[i].gap_bytes;
		info.file_gap_bytes[i] = d->stats[i].file_gap_bytes;
		for (size_t k = 0; k < HWTD_GAP_REASONS; k++)
			info.gaps[i] += d->stats[i].gaps[k];
	}
	memcpy(info.rows, d->rows, sizeof(info.rows));
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

int
hwtd_divergences_pair(const struct hwtd_divergences *divergences,
    uint32_t pair, struct hwtd_divergence_pair *out)
{
	struct hwtd_divergence_pair result;

	if (divergences == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (pair >= divergences->n_couples)
		return (HWTD_END);
	result = divergences->pairs[pair];
	result.size = sizeof(result);
	return (hwtdi_result_copy(out, &result, sizeof(result)));
}

int
hwtd_divergences_image(const struct hwtd_divergences *divergences,
    uint32_t image, struct hwtd_divergence_image *out)
{
	struct hwtd_divergence_image result = { .size = sizeof(result) };
	const struct hwtdi_flow_image *at;

	if (divergences == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (image >= divergences->walk.images.n)
		return (HWTD_END);
	at = &divergences->walk.images.at[image];
	result.state = at->state;
	memcpy(result.image, at->image, sizeof(result.image));
	memcpy(result.path, at->path, sizeof(result.path));
	memcpy(result.insns, at->insns, sizeof(result.insns));
	return (hwtdi_result_copy(out, &result, sizeof(result)));
}

/* Names. */

const char *
hwtd_divergence_kind_name(uint32_t kind)
{
	static const char *const names[HWTD_DIVERGENCE_KINDS] = { "unknown",
		"flow", "end", "lost" };

	return (kind < HWTD_DIVERGENCE_KINDS ? names[kind] : "unknown");
}

const char *
hwtd_divergence_image_state_name(uint32_t state)
{
	static const char *const names[HWTD_DIVERGENCE_IMAGE_STATES] = {
		"unknown", "same", "assumed", "different", "only-a", "only-b"
	};

	return (state < HWTD_DIVERGENCE_IMAGE_STATES ? names[state]
						     : "unknown");
}
