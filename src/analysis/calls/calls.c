/*
 * Calls: what the public interface says, of traces and of text.
 */
#include <string.h>

#include "analysis/calls/call_rows.h"
#include "analysis/calls/call_source.h"
#include "analysis/calls/call_text.h"
#include "base/fail.h"
#include "base/users.h"
#include "event/cursor.h"
#include "trace/trace_model.h"

#define ROWS_AT_ONCE 1024
#define DEPTH_DEFAULT 262144u
#define DEPTH_LEAST 16u
#define DEPTH_MOST (UINT32_C(1) << 24)
#define STACKS_DEFAULT 256u
#define STACKS_MOST (UINT32_C(1) << 16)

#define ALL_FLAGS                                                             \
	(HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS | HWTD_CALLS_TIMES |             \
	    HWTD_CALLS_NO_INTERPOLATION | HWTD_CALLS_NO_SYMBOLS)

struct hwtd_calls {
	struct hwtd_context *library;
	struct hwtdi_users users;
	/* NULL: text. */
	struct hwtd_trace *trace;
	struct hwtd_events *events;
	struct hwtd_event *rows;
	uint32_t flags;
	bool done, failed;
	struct hwtdi_call_rules rules;
	struct hwtdi_call_threads threads;
	struct hwtdi_call_functions functions;
	struct hwtdi_call_rows from_rows;
	struct hwtdi_call_text text;
	/* Rows that are made and were not read yet, from `begin` on. */
	struct hwtd_call *out;
	size_t begin, n, cap;
};

/* Opening and closing. */

/* Of traces: rows know where they are. */
static int
extent_of_row(void *arg, const struct hwtdi_step *step, bool called,
    struct hwtdi_extent *out, struct hwtd_error *err)
{
	struct hwtd_calls *calls = arg;

	return (hwtdi_call_functions_find(&calls->functions,
	    calls->threads.at[step->thread].pid, step->to_section, step->to,
	    called, out, err));
}

/* Of text: it names them, or only says where. */
static int
extent_of_text(void *arg, const struct hwtdi_step *step, bool called,
    struct hwtdi_extent *out, struct hwtd_error *err)
{
	struct hwtd_calls *calls = arg;

	int rc;

	if (step->to_function == HWTDI_NO_FUNCTION) {
		rc = hwtdi_call_functions_find(&calls->functions, HWTD_NO_ID,
		    HWTD_NO_ID, step->to, called, out, err);
		if (rc == HWTD_OK)
			hwtdi_call_functions_set_image(&calls->functions,
			    out->function, step->to_image);
		return (rc);
	}
	out->function = step->to_function;
	out->family = calls->functions.at[out->function].family;
	out->is_cold = calls->functions.at[out->function].is_cold;
	out->resumes = calls->functions.at[out->function].resumes;
	out->first = step->to_first;
	out->end = step->to + 1;
	out->at_start = step->to == step->to_first;
	return (HWTD_OK);
}

static int
put_row(void *arg, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct hwtd_calls *calls = arg;
	int rc = HWTD_OK;

	if (row->kind == HWTD_CALL_LEAVE &&
	    (calls->flags & HWTD_CALLS_TIMES) != 0)
		rc = hwtdi_call_functions_add(&calls->functions, row, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(calls->library, &calls->out, &calls->cap,
		    calls->n + 1, sizeof(*calls->out), err);
	if (rc == HWTD_OK)
		calls->out[calls->n++] = *row;
	return (rc);
}

static int
check_options(const struct hwtd_calls_options *o, struct hwtd_error *err)
{
	if ((o->flags & ~(uint32_t)ALL_FLAGS) != 0 || o->reserved != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "flags %#x, %#x",
		    o->flags, o->reserved));
	if (o->max_depth > DEPTH_MOST ||
	    (o->max_depth != 0 && o->max_depth < DEPTH_LEAST))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a depth of %u is not from %u to %u", o->max_depth,
		    DEPTH_LEAST, DEPTH_MOST));
	if (o->max_stacks > STACKS_MOST)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u stacks are more than %u", o->max_stacks, STACKS_MOST));
	return (HWTD_OK);
}

static int
make(struct hwtd_context *library, struct hwtd_trace *trace,
    const struct hwtd_calls_options *o, struct hwtd_calls **out,
    struct hwtd_error *err)
{
	struct hwtd_calls *calls;
	int rc = check_options(o, err);

	if (rc != HWTD_OK)
		return (rc);
	calls = hwtdi_zalloc(library, sizeof(*calls));
	if (calls == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*calls)));
	calls->library = hwtdi_context_hold(library);
	calls->trace = trace != NULL ? hwtdi_trace_hold(trace) : NULL;
	calls->flags = o->flags;
	calls->text.fd = -1;
	calls->rules = (struct hwtdi_call_rules){ .library = library,
		.extent = trace != NULL ? extent_of_row : extent_of_text,
		.put = put_row,
		.arg = calls,
		.enters = (o->flags & HWTD_CALLS_ENTERS) != 0,
		.gaps = (o->flags & HWTD_CALLS_GAPS) != 0,
		.max_frames = o->max_depth != 0 ? o->max_depth : DEPTH_DEFAULT,
		.max_stacks = o->max_stacks != 0 ? o->max_stacks
						 : STACKS_DEFAULT };
	calls->threads.rules = &calls->rules;
	calls->functions.library = library;
	*out = calls;
	return (hwtdi_call_functions_init(&calls->functions, library, trace,
	    (o->flags & HWTD_CALLS_NO_SYMBOLS) == 0, err));
}

/*
 * How long before the times asked for reading starts: a gap that reaches into
 * them is told, too.
 */
#define LOOK_BACK_NS 10000000u

/* Rows of all these are made faster than of fewer kinds. */
#define KINDS (((1u << HWTD_EV_KINDS) - 1) & ~(1u << HWTD_EV_TIME))

/* What comes before the times that are asked for need not be decoded. */
static int
skip_ahead(struct hwtd_events *events, const struct hwtd_events_options *o,
    struct hwtd_error *err)
{
	uint64_t first = o->n_times > 0 ? UINT64_MAX : 0;

	for (size_t i = 0; i < o->n_times; i++) {
		if (o->times_ns[i].start < first)
			first = o->times_ns[i].start;
	}
	return (first <= LOOK_BACK_NS
		? HWTD_OK
		: hwtd_events_seek_ns(events, first - LOOK_BACK_NS, err));
}

static int
open_events(struct hwtd_calls *calls, const struct hwtd_events_options *opts,
    struct hwtd_error *err)
{
	struct hwtd_events_options o;
	int rc = hwtdi_options_copy(&o, sizeof(o), opts, err);

	if (rc != HWTD_OK)
		return (rc);
	if (o.n_addresses != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "calls need all code: addresses cannot be chosen"));
	o.size = sizeof(o);
	o.level = HWTD_LEVEL_BLOCK;
	o.kinds = KINDS;
	calls->rows = hwtdi_alloc(calls->library,
	    ROWS_AT_ONCE * sizeof(*calls->rows));
	if (calls->rows == NULL)
		return (hwtdi_fail_nomem(err,
		    ROWS_AT_ONCE * sizeof(*calls->rows)));
	rc = hwtdi_call_rows_init(&calls->from_rows, calls->trace,
	    &calls->threads, &calls->functions,
	    (calls->flags & HWTD_CALLS_NO_INTERPOLATION) == 0, err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(calls->trace, &o, &calls->events, err);
	return (rc != HWTD_OK ? rc : skip_ahead(calls->events, &o, err));
}

int
hwtd_calls_open(struct hwtd_trace *trace,
    const struct hwtd_calls_options *opts, struct hwtd_calls **calls_out,
    struct hwtd_error *err)
{
	struct hwtd_calls *calls = NULL;
	struct hwtd_calls_options o;
	int rc;

	if (trace == NULL || calls_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no trace or no place for the calls"));
	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = make(hwtdi_trace_library(trace), trace, &o, &calls, err);
	if (rc == HWTD_OK)
		rc = open_events(calls, o.events, err);
	if (rc != HWTD_OK) {
		hwtd_calls_close(calls);
		return (rc);
	}
	*calls_out = calls;
	return (HWTD_OK);
}

int
hwtd_calls_open_text(struct hwtd_context *ctx, const char *path,
    const struct hwtd_calls_options *opts, struct hwtd_calls **calls_out,
    struct hwtd_error *err)
{
	struct hwtd_calls *calls = NULL;
	struct hwtd_calls_options o;
	int rc;

	if (ctx == NULL || path == NULL || calls_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no context, no path, or no place for the calls"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	if (o.events != NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "of text all calls are read: events have to be NULL"));
	rc = make(ctx, NULL, &o, &calls, err);
	if (rc == HWTD_OK)
		rc = hwtdi_call_text_init(&calls->text, path, &calls->threads,
		    &calls->functions,
		    (o.flags & HWTD_CALLS_NO_INTERPOLATION) == 0, err);
	if (rc != HWTD_OK) {
		hwtd_calls_close(calls);
		return (rc);
	}
	*calls_out = calls;
	return (HWTD_OK);
}

struct hwtd_calls *
hwtdi_calls_hold(struct hwtd_calls *calls)
{
	hwtdi_users_add(&calls->users);
	return (calls);
}

void
hwtd_calls_close(struct hwtd_calls *calls)
{
	struct hwtd_context *library;
	struct hwtd_trace *trace;

	if (calls == NULL || !hwtdi_users_drop(&calls->users))
		return;
	library = calls->library;
	trace = calls->trace;
	hwtd_events_close(calls->events);
	hwtdi_call_rows_fini(&calls->from_rows);
	hwtdi_call_text_fini(&calls->text);
	hwtdi_call_threads_fini(&calls->threads);
	hwtdi_call_functions_fini(&calls->functions);
	hwtdi_free(library, calls->rows, ROWS_AT_ONCE * sizeof(*calls->rows));
	hwtdi_array_free(library, calls->out, calls->cap, sizeof(*calls->out));
	hwtdi_free(library, calls, sizeof(*calls));
	hwtd_trace_close(trace);
	hwtd_context_destroy(library);
}

/* Reading. */

static int
work_rows(struct hwtd_calls *calls, struct hwtd_error *err)
{
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = calls->rows,
		.stride = sizeof(*calls->rows),
		.cap = ROWS_AT_ONCE };
	int rc = hwtd_events_read(calls->events, &batch, err);

	if (rc == HWTD_OK)
		return (hwtdi_call_rows_add(&calls->from_rows, &batch, err));
	if (rc != HWTD_END)
		return (rc);
	rc = hwtdi_call_rows_end(&calls->from_rows, err);
	return (rc == HWTD_OK ? HWTD_END : rc);
}

/* Make some more rows; maybe none. */
static int
work(struct hwtd_calls *calls, struct hwtd_error *err)
{
	int rc;

	calls->begin = calls->n = 0;
	rc = calls->trace != NULL ? work_rows(calls, err)
				  : hwtdi_call_text_work(&calls->text, err);
	if (rc == HWTD_END) {
		calls->done = true;
		rc = hwtdi_call_threads_end(&calls->threads, err);
	}
	calls->failed = rc < 0;
	return (rc);
}

int
hwtd_calls_read(struct hwtd_calls *calls, struct hwtd_call_batch *batch,
    struct hwtd_error *err)
{
	size_t n;
	int rc;

	if (calls == NULL || batch == NULL || batch->size < sizeof(*batch) ||
	    batch->calls == NULL || batch->cap == 0 ||
	    batch->stride < sizeof(*batch->calls) || batch->stride % 8 != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no calls, no room, or a bad size"));
	batch->n = 0;
	if (calls->failed)
		return (hwtdi_fail(err, HWTD_E_STATE, "reading failed"));
	if (calls->begin == calls->n && !calls->done) {
		rc = work(calls, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (calls->begin == calls->n)
		return (calls->done ? HWTD_END : HWTD_OK);
	n = calls->n - calls->begin;
	if (n > batch->cap)
		n = batch->cap;
	for (size_t i = 0; i < n; i++)
		memcpy((uint8_t *)batch->calls + i * batch->stride,
		    &calls->out[calls->begin + i], sizeof(*calls->out));
	calls->begin += n;
	batch->n = n;
	return (HWTD_OK);
}

/* Asking. */

int
hwtd_calls_info(const struct hwtd_calls *calls, struct hwtd_calls_info *out)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (calls == NULL || out == NULL)
		return (HWTD_E_INVALID);
	info.calls = calls->rules.next_id;
	info.limited = calls->rules.limited;
	info.n_threads = (uint32_t)calls->threads.n;
	info.n_functions = (uint32_t)calls->functions.n;
	if (calls->trace != NULL) {
		(void)hwtd_events_stats(calls->events, &stats);
		info.bytes = stats.bytes;
		info.insns = stats.insns;
		info.gap_bytes = stats.gap_bytes;
		info.file_gap_bytes = stats.file_gap_bytes;
		memcpy(info.gaps, stats.gaps, sizeof(info.gaps));
	} else {
		info.bytes = calls->text.n_bytes;
		info.gaps[HWTD_GAP_UNKNOWN] = calls->text.gaps;
		info.lines = calls->text.lines;
		info.bad_lines = calls->text.bad_lines;
		info.first_bad_line = calls->text.first_bad_line;
	}
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

int
hwtd_calls_thread(const struct hwtd_calls *calls, uint32_t thread,
    struct hwtd_call_thread *out)
{
	struct hwtd_call_thread t = { .size = sizeof(t) };
	const struct hwtdi_call_who *who;

	if (calls == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (thread >= calls->threads.n)
		return (HWTD_END);
	who = &calls->threads.at[thread];
	t.pid = who->pid;
	t.tid = who->tid;
	t.stream = who->stream;
	t.has_time = who->calls->has_time;
	t.first_ns = who->calls->first_ns;
	t.last_ns = who->calls->last_ns;
	t.idle_ns = who->calls->nobody_ns;
	return (hwtdi_result_copy(out, &t, sizeof(t)));
}

int
hwtd_calls_function(const struct hwtd_calls *calls, uint32_t function,
    struct hwtd_call_function *out)
{
	struct hwtd_call_function f = { .size = sizeof(f) };
	const struct hwtdi_call_function *at;

	if (calls == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (function >= calls->functions.n)
		return (HWTD_END);
	at = &calls->functions.at[function];
	f.section = at->section;
	f.flags = at->has_address ? HWTD_CALL_FUNCTIONF_ADDRESS : 0;
	f.address = at->address;
	f.bytes = at->bytes;
	f.name = hwtdi_text_pool_get(&calls->functions.names, at->name);
	f.image = hwtdi_text_pool_get(&calls->functions.names, at->image);
	return (hwtdi_result_copy(out, &f, sizeof(f)));
}

int
hwtd_calls_times(const struct hwtd_calls *calls, uint32_t function,
    struct hwtd_call_times *out)
{
	struct hwtd_call_times t = { .size = sizeof(t) };
	const struct hwtdi_call_sums *sums;
	bool none;

	if (calls == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if ((calls->flags & HWTD_CALLS_TIMES) == 0)
		return (HWTD_E_STATE);
	if (function >= calls->functions.n)
		return (HWTD_END);
	sums = &calls->functions.at[function].sums;
	t.calls = sums->calls;
	t.whole = sums->whole;
	t.ns = sums->ns;
	t.self_ns = sums->self_ns;
	t.min_ns = sums->min_ns;
	t.max_ns = sums->max_ns;
	t.p50_ns = hwtdi_latency_percentile(&sums->spread, 50, &none);
	t.p90_ns = hwtdi_latency_percentile(&sums->spread, 90, &none);
	t.p99_ns = hwtdi_latency_percentile(&sums->spread, 99, &none);
	t.self_insns = sums->self_insns;
	t.self_cycles = sums->self_cycles;
	t.all_self_ns = sums->all_self_ns;
	return (hwtdi_result_copy(out, &t, sizeof(t)));
}

/* For what is made of calls. */

struct hwtd_context *
hwtdi_calls_library(const struct hwtd_calls *calls)
{
	return (calls->library);
}

struct hwtd_trace *
hwtdi_calls_trace(const struct hwtd_calls *calls)
{
	return (calls->trace);
}

uint32_t
hwtdi_calls_flags(const struct hwtd_calls *calls)
{
	return (calls->flags);
}

struct hwtd_symbolizer *
hwtdi_calls_symbolizer(const struct hwtd_calls *calls)
{
	return (calls->functions.symbolizer);
}

bool
hwtdi_calls_begun(const struct hwtd_calls *calls)
{
	return (calls->rules.next_id != 0 || calls->n != 0 || calls->done);
}

/* Names. */

const char *
hwtd_call_type_name(uint32_t type)
{
	static const char *const names[HWTD_CALL_TYPES] = { "found", "call",
		"tail", "interrupt", "exception", "syscall", "untraced",
		"signal", "sampled" };

	return (type < HWTD_CALL_TYPES ? names[type] : "unknown");
}

const char *
hwtd_call_end_name(uint32_t end)
{
	static const char *const names[HWTD_CALL_ENDS] = { "unknown", "return",
		"tail", "unwound", "far-return", "gap", "open", "limit",
		"exec", "sampled", "exit" };

	return (end < HWTD_CALL_ENDS ? names[end] : "unknown");
}
