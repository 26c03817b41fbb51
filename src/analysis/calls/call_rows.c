/*
 * Rows of events to transfers of control: one row late, since the row behind a
 * branch says in which section it went.
 */
#include "analysis/calls/call_rows.h"

#include <string.h>

#include "base/fail.h"
#include "trace/trace_model.h"

int
hwtdi_call_rows_init(struct hwtdi_call_rows *rows, struct hwtd_trace *trace,
    struct hwtdi_call_threads *threads, struct hwtdi_call_functions *functions,
    bool interpolate, struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	(void)hwtd_trace_info(trace, &info);
	memset(rows, 0, sizeof(*rows));
	rows->library = hwtdi_trace_library(trace);
	rows->trace = trace;
	rows->threads = threads;
	rows->functions = functions;
	rows->streams = hwtdi_zalloc(rows->library,
	    info.n_streams * sizeof(*rows->streams));
	rows->jumps = hwtdi_zalloc(rows->library,
	    HWTDI_CALL_JUMPS * sizeof(*rows->jumps));
	if (rows->jumps == NULL ||
	    (rows->streams == NULL && info.n_streams != 0))
		return (hwtdi_fail_nomem(err,
		    info.n_streams * sizeof(*rows->streams)));
	rows->n_streams = rows->streams == NULL ? 0 : info.n_streams;
	for (size_t i = 0; i < rows->n_streams; i++) {
		rows->streams[i].feed.threads = threads;
		rows->streams[i].feed.interpolate = interpolate;
	}
	return (HWTD_OK);
}

void
hwtdi_call_rows_fini(struct hwtdi_call_rows *rows)
{
	for (size_t i = 0; i < rows->n_streams; i++)
		hwtdi_call_feed_fini(&rows->streams[i].feed);
	hwtdi_free(rows->library, rows->streams,
	    rows->n_streams * sizeof(*rows->streams));
	hwtdi_array_free(rows->library, rows->thread_of, rows->cap_thread_of,
	    sizeof(*rows->thread_of));
	hwtdi_free(rows->library, rows->jumps,
	    HWTDI_CALL_JUMPS * sizeof(*rows->jumps));
	rows->streams = NULL;
	rows->jumps = NULL;
	rows->n_streams = 0;
	rows->thread_of = NULL;
}

static struct hwtdi_step
step_of(const struct hwtdi_call_stream *s, const struct hwtd_event *row,
    uint32_t what)
{
	struct hwtdi_step step = { .time_ns = row->time_ns,
		.from_section = HWTD_NO_ID,
		.to_section = HWTD_NO_ID,
		.to_function = HWTDI_NO_FUNCTION,
		.context = row->context,
		.what = what,
		.thread = s->thread };

	if ((row->flags & HWTD_EVF_TIME) != 0)
		step.flags |= HWTDI_STEP_TIME;
	if ((row->flags & HWTD_EVF_TIME_ESTIMATED) != 0)
		step.flags |= HWTDI_STEP_ESTIMATED;
	return (step);
}

static void
go_to(struct hwtdi_step *step, uint64_t address, uint32_t section)
{
	step->flags |= HWTDI_STEP_TO;
	step->to = address;
	step->to_section = section;
}

/* Execution was found at the address of a row. */
static int
find_at(struct hwtdi_call_stream *s, const struct hwtd_event *row,
    uint32_t what, struct hwtd_error *err)
{
	struct hwtdi_step step = step_of(s, row, what);

	go_to(&step, row->ip,
	    (row->flags & HWTD_EVF_SECTION) != 0 ? row->section : HWTD_NO_ID);
	return (hwtdi_call_feed_add(&s->feed, &step, err));
}

/* Threads. */

/* What is the same of one thread at all levels. */
static void
who_of(const struct hwtdi_call_rows *rows, const struct hwtd_event *row,
    struct hwtdi_call_who *who)
{
	struct hwtd_exec_context c = { .size = sizeof(c) };

	memset(who, 0, sizeof(*who));
	who->pid = who->tid = who->stream = HWTD_NO_ID;
	if (hwtd_trace_exec_context(rows->trace, row->context, &c) ==
	    HWTD_OK) {
		who->tid = c.tid;
		/* A thread that is known is one wherever it runs. */
		if (c.tid != HWTD_NO_ID) {
			who->pid = c.pid;
			return;
		}
		who->pid = c.pid;
		/* Page tables of the kernel and of its user are neighbours. */
		if (c.pid == HWTD_NO_ID && (c.flags & HWTD_CTXF_CR3) != 0)
			who->space = c.cr3 >> 13;
	}
	who->stream = row->stream;
}

static int
thread_of(struct hwtdi_call_rows *rows, const struct hwtd_event *row,
    uint32_t *no_out, struct hwtd_error *err)
{
	struct hwtdi_call_who who;
	int rc;

	/* Contexts of streams of several CPUs tell nothing of the stream. */
	if (row->context < rows->n_thread_of &&
	    rows->thread_of[row->context] != 0) {
		*no_out = rows->thread_of[row->context] - 1;
		return (HWTD_OK);
	}
	who_of(rows, row, &who);
	rc = hwtdi_call_threads_find(rows->threads, &who, no_out, err);
	if (rc != HWTD_OK || who.stream != HWTD_NO_ID)
		return (rc);
	if (row->context >= rows->n_thread_of) {
		rc = hwtdi_array_grow(rows->library, &rows->thread_of,
		    &rows->cap_thread_of, (size_t)row->context + 1,
		    sizeof(*rows->thread_of), err);
		if (rc != HWTD_OK)
			return (rc);
		memset(&rows->thread_of[rows->n_thread_of], 0,
		    (row->context + 1 - rows->n_thread_of) *
			sizeof(*rows->thread_of));
		rows->n_thread_of = (size_t)row->context + 1;
	}
	rows->thread_of[row->context] = *no_out + 1;
	return (HWTD_OK);
}

/* A thread leaves the stream, or comes to it. */
static int
go_in_or_out(struct hwtdi_call_stream *s, const struct hwtd_event *row,
    uint32_t what, struct hwtd_error *err)
{
	struct hwtdi_step step = step_of(s, row, what);
	int rc = hwtdi_call_feed_add(&s->feed, &step, err);

	return (rc != HWTD_OK ? rc : hwtdi_call_feed_flush(&s->feed, err));
}

/* The thread of a stream was on another one: what waits there comes first. */
static int
take_over(struct hwtdi_call_rows *rows, struct hwtdi_call_stream *s,
    const struct hwtd_event *row, struct hwtd_error *err)
{
	struct hwtdi_call_who *at = &rows->threads->at[s->thread];
	const uint32_t before = at->owner_plus_1;

	if (before == row->stream + 1)
		return (HWTD_OK);
	at->owner_plus_1 = row->stream + 1;
	if (before == 0)
		return (HWTD_OK);
	s->lost = true;
	s->first = s->end = 0;
	return (hwtdi_call_feed_flush(&rows->streams[before - 1].feed, err));
}

static int
set_context(struct hwtdi_call_rows *rows, struct hwtdi_call_stream *s,
    const struct hwtd_event *row, struct hwtd_error *err)
{
	uint32_t no;
	int rc = HWTD_OK;

	if (s->has_thread && s->context == row->context)
		return (take_over(rows, s, row, err));
	rc = thread_of(rows, row, &no, err);
	if (rc != HWTD_OK)
		return (rc);
	if (!s->has_thread || s->thread != no) {
		/* Where it went on it is not out. */
		if (s->has_thread &&
		    rows->threads->at[s->thread].owner_plus_1 ==
			row->stream + 1)
			rc = go_in_or_out(s, row, HWTDI_TRANSFER_OUT, err);
		s->thread = no;
		if (rc == HWTD_OK)
			rc = take_over(rows, s, row, err);
		if (rc == HWTD_OK && rows->threads->at[no].calls->started)
			rc = go_in_or_out(s, row, HWTDI_TRANSFER_IN, err);
		s->has_thread = true;
		s->lost = true;
		s->first = s->end = 0;
	} else {
		rc = take_over(rows, s, row, err);
	}
	if (rc != HWTD_OK)
		return (rc);
	s->context = row->context;
	return (HWTD_OK);
}

/* Branches. */

/* A jump stays in one function, so that no stack changes. */
static int
stays(struct hwtdi_call_rows *rows, struct hwtdi_call_stream *s, uint32_t what,
    uint64_t to, uint32_t section, bool *stays_out, struct hwtd_error *err)
{
	const uint64_t from = s->branch.ip;
	struct hwtdi_call_jump
	    *jump = &rows->jumps[(from ^ from >> 10) % HWTDI_CALL_JUMPS];
	struct hwtdi_extent at;
	int rc;

	*stays_out = (jump->from == from && jump->to == to &&
			 jump->section == s->branch.section &&
			 jump->n_functions == rows->functions->n) ||
	    (from - s->first < s->end - s->first &&
		to - s->first < s->end - s->first);
	if (*stays_out)
		return (HWTD_OK);
	rc = hwtdi_call_functions_find(rows->functions,
	    rows->threads->at[s->thread].pid, section, to, false, &at, err);
	s->first = at.first;
	s->end = at.end;
	*stays_out = from - s->first < s->end - s->first ||
	    (at.function == HWTDI_NO_FUNCTION && what == HWTDI_TRANSFER_JUMP);
	if (*stays_out)
		*jump = (struct hwtdi_call_jump){ from, to, s->branch.section,
			rows->functions->n };
	return (rc);
}

static uint32_t
what_of(const struct hwtd_event *branch)
{
	switch (branch->branch) {
	case HWTD_BRANCH_CALL:
	case HWTD_BRANCH_INDIRECT_CALL:
		return (HWTDI_TRANSFER_CALL);
	case HWTD_BRANCH_RETURN:
		return (HWTDI_TRANSFER_RETURN);
	case HWTD_BRANCH_INDIRECT_JUMP:
	case HWTD_BRANCH_FAR_JUMP:
		return (HWTDI_TRANSFER_INDIRECT);
	case HWTD_BRANCH_FAR_CALL:
		return (HWTDI_TRANSFER_FAR_CALL);
	case HWTD_BRANCH_FAR_RETURN:
		return (HWTDI_TRANSFER_FAR_RETURN);
	case HWTD_BRANCH_NO_PATH:
		return (HWTDI_TRANSFER_ARRIVE);
	default:
		return (HWTDI_TRANSFER_JUMP);
	}
}

/*
 * In A32 and T32 any branch may have a condition; of others what goes to the next
 * instruction is a transfer to there, for instance to the next function.
 */
static bool
goes_on_behind(const struct hwtd_event *branch)
{
	const uint32_t isa = (branch->flags & HWTD_EVF_ISA_MASK) >>
	    HWTD_EVF_ISA_SHIFT;
	const bool far = branch->branch == HWTD_BRANCH_FAR_CALL ||
	    branch->branch == HWTD_BRANCH_FAR_RETURN ||
	    branch->branch == HWTD_BRANCH_NO_PATH;

	if (branch->branch == HWTD_BRANCH_NONE)
		return (true);
	if (far || (branch->flags & HWTD_EVF_TARGET) == 0 ||
	    (branch->flags & HWTD_EVF_TAKEN) != 0)
		return (false);
	return (branch->branch == HWTD_BRANCH_CONDITIONAL ||
	    isa == HWTD_ISA_A32 || isa == HWTD_ISA_T32 ||
	    isa == HWTD_ISA_T32EE);
}

/* The section of code that was gone to, if the row behind is that; else none. */
static uint32_t
section_of(const struct hwtd_event *next, uint64_t to)
{
	return (next != NULL && next->kind == HWTD_EV_BLOCK &&
		    next->ip == to && (next->flags & HWTD_EVF_SECTION) != 0
		? next->section
		: HWTD_NO_ID);
}

/* It goes on at an address; where that is the next row tells. */
static void
arrive_at(struct hwtdi_call_stream *s, const struct hwtdi_step *step,
    uint64_t address)
{
	s->arriving = true;
	s->arrival = *step;
	go_to(&s->arrival, address, HWTD_NO_ID);
}

/* The branch, or the arrival, before a row, which may be NULL. */
static int
end_branch(struct hwtdi_call_rows *rows, struct hwtdi_call_stream *s,
    const struct hwtd_event *next, struct hwtd_error *err)
{
	const struct hwtd_event *b = &s->branch;
	struct hwtdi_step step;
	uint32_t section;
	bool stay = false;
	int rc = HWTD_OK;

	if (s->arriving) {
		s->arriving = false;
		s->arrival.to_section = section_of(next, s->arrival.to);
		rc = hwtdi_call_feed_add(&s->feed, &s->arrival, err);
	}
	if (rc != HWTD_OK || !s->pending)
		return (rc);
	s->pending = false;
	step = step_of(s, b, what_of(b));
	step.flags |= HWTDI_STEP_FROM | HWTDI_STEP_BACK;
	/* The last instruction is the branch; where it begins is not told. */
	step.from = b->bytes == 0 ? b->ip : b->ip + b->bytes - 1;
	step.back = b->ip + b->bytes;
	step.from_section = (b->flags & HWTD_EVF_SECTION) != 0 ? b->section
							       : HWTD_NO_ID;
	if (step.what == HWTDI_TRANSFER_FAR_CALL &&
	    (b->flags & HWTD_EVF_TARGET) != 0 && b->target == step.back) {
		/* What it called is not traced, but where that goes back to. */
		s->lost = true;
	} else if ((b->flags & HWTD_EVF_TARGET) != 0) {
		section = section_of(next, b->target);
		if (section == HWTD_NO_ID && step.from_section != HWTD_NO_ID &&
		    step.what == HWTDI_TRANSFER_JUMP)
			section = step.from_section;
		go_to(&step, b->target, section);
	} else {
		/* It is not told where execution went on. */
		s->lost = true;
	}
	if ((step.what == HWTDI_TRANSFER_JUMP ||
		step.what == HWTDI_TRANSFER_INDIRECT) &&
	    (step.flags & HWTDI_STEP_TO) != 0)
		rc = stays(rows, s, step.what, b->target, step.to_section,
		    &stay, err);
	return (stay || rc != HWTD_OK
		? rc
		: hwtdi_call_feed_add(&s->feed, &step, err));
}

/* Rows. */

static int
add_code(struct hwtdi_call_rows *rows, struct hwtdi_call_stream *s,
    const struct hwtd_event *row, struct hwtd_error *err)
{
	const uint32_t timed = HWTD_EVF_TIME;
	int rc = end_branch(rows, s, row, err);

	s->was_async = false;

	if (rc == HWTD_OK && (!s->on || s->lost)) {
		rc = hwtdi_call_threads_list(rows->threads, s->thread, err);
		if (rc == HWTD_OK)
			rc = find_at(s, row, HWTDI_TRANSFER_ARRIVE, err);
		s->on = true;
		s->lost = false;
	}
	if ((row->flags & timed) != 0) {
		s->has_time = true;
		s->last_ns = row->time_ns;
	}
	s->feed.insns += row->insns;
	s->feed.executed += row->insns;
	if (rc == HWTD_OK &&
	    (row->flags & (timed | HWTD_EVF_TIME_ESTIMATED)) == timed)
		rc = hwtdi_call_feed_anchor(&s->feed, row->time_ns,
		    s->feed.executed, err);
	s->pending = !goes_on_behind(row);
	if (s->pending)
		s->branch = *row;
	return (rc);
}

static const struct hwtd_async *
async_of(const struct hwtd_batch *batch, const struct hwtd_event *row)
{
	if ((row->flags & HWTD_EVF_VALUE) == 0 ||
	    row->value >= batch->n_asyncs)
		return (NULL);
	return ((const struct hwtd_async *)(const void *)((const uint8_t *)
							      batch->asyncs +
	    (size_t)row->value * batch->async_stride));
}

static void
add_async(struct hwtdi_call_stream *s, const struct hwtd_batch *batch,
    const struct hwtd_event *row)
{
	const struct hwtd_async *async = async_of(batch, row);
	const uint32_t type = async == NULL ? HWTD_ASYNC_UNKNOWN : async->type;
	struct hwtdi_step step = step_of(s, row,
	    type == HWTD_ASYNC_EXCEPTION ? HWTDI_TRANSFER_EXCEPTION
		: type == HWTD_ASYNC_TRANSACTION_ABORT
		? HWTDI_TRANSFER_INDIRECT
		: HWTDI_TRANSFER_INTERRUPT);

	/* Those of instructions are in the rows of these. */
	if (type >= HWTD_ASYNC_RETURN) {
		s->was_async = true;
		return;
	}
	if ((row->flags & HWTD_EVF_IP) != 0) {
		step.flags |= HWTDI_STEP_FROM | HWTDI_STEP_BACK;
		step.from = step.back = row->ip;
	}
	/* It can be another one than where it was. */
	if (async != NULL && (async->flags & HWTD_ASYNCF_RETURN_ADDR) != 0) {
		step.flags |= HWTDI_STEP_BACK;
		step.back = async->return_addr;
	}
	if ((row->flags & HWTD_EVF_TARGET) == 0) {
		/* Rows around it say where it went, or that tracing ended. */
		s->has_told = step.what != HWTDI_TRANSFER_INDIRECT;
		s->told = step;
		return;
	}
	s->was_async = true;
	arrive_at(s, &step, row->target);
}

/*
 * Packets of time that wait for room come out with the word of the overflow, and
 * count what was lost, too: what ran last was before that.
 */
static uint64_t
begin_of_gap(const struct hwtdi_call_stream *s, const struct hwtd_gap *gap)
{
	if (gap->reason == HWTD_GAP_OVERFLOW && s->has_time &&
	    s->last_ns < gap->time_before_ns)
		return (s->last_ns);
	return (gap->time_before_ns);
}

static int
add_gap(struct hwtdi_call_stream *s, const struct hwtd_batch *batch,
    const struct hwtd_event *row, struct hwtd_error *err)
{
	struct hwtdi_step step = step_of(s, row, HWTDI_TRANSFER_GAP);
	const struct hwtd_gap *gap;
	int rc;

	if (row->value >= batch->n_gaps || !s->has_thread)
		return (HWTD_OK);
	gap = (const struct hwtd_gap *)(const void *)((const uint8_t *)
							  batch->gaps +
	    (size_t)row->value * batch->gap_stride);
	step.gap_bytes = gap->end - gap->first;
	step.gap_reason = gap->reason;
	if ((gap->flags & HWTD_GAPF_TIME_BEFORE) != 0) {
		step.flags |= HWTDI_STEP_TIME;
		step.time_ns = begin_of_gap(s, gap);
	}
	if ((gap->flags & HWTD_GAPF_TIME_AFTER) != 0) {
		step.flags |= HWTDI_STEP_UNTIL;
		step.until_ns = gap->time_after_ns;
	}
	s->lost = true;
	rc = hwtdi_call_feed_flush(&s->feed, err);
	if (rc == HWTD_OK)
		rc = hwtdi_call_feed_add(&s->feed, &step, err);
	return (rc != HWTD_OK ? rc : hwtdi_call_feed_flush(&s->feed, err));
}

static int
add_off(struct hwtdi_call_stream *s, const struct hwtd_event *row,
    bool led_out, struct hwtd_error *err)
{
	struct hwtdi_step step = step_of(s, row, HWTDI_TRANSFER_OFF);

	if (!s->on || (row->flags & HWTD_EVF_STATUS) != 0)
		return (HWTD_OK);
	s->on = false;
	if (s->has_told) {
		s->has_told = false;
		/* Of both the one that was executed next. */
		if ((row->flags & HWTD_EVF_IP) != 0 &&
		    (s->told.flags & HWTDI_STEP_BACK) == 0) {
			s->told.flags |= HWTDI_STEP_FROM | HWTDI_STEP_BACK;
			s->told.from = s->told.back = row->ip;
		}
		return (hwtdi_call_feed_add(&s->feed, &s->told, err));
	}
	if ((row->flags & HWTD_EVF_ASYNC) != 0)
		step.flags |= HWTDI_STEP_ASYNC;
	if (led_out)
		step.flags |= HWTDI_STEP_LED_OUT;
	if ((row->flags & HWTD_EVF_IP) != 0) {
		step.flags |= HWTDI_STEP_FROM | HWTDI_STEP_BACK;
		step.from = step.back = row->ip;
		step.from_section = HWTD_NO_ID;
	}
	return (hwtdi_call_feed_add(&s->feed, &step, err));
}

/* All calls of a thread are over. */
static int
end_calls(struct hwtdi_call_rows *rows, const struct hwtd_event *row,
    uint32_t no, uint32_t what, struct hwtd_error *err)
{
	const struct hwtdi_call_who *who = &rows->threads->at[no];
	struct hwtdi_call_stream *s;
	struct hwtdi_step step;
	int rc = HWTD_OK;

	if (who->owner_plus_1 == 0)
		return (HWTD_OK);
	s = &rows->streams[who->owner_plus_1 - 1];
	if (s->thread == no) {
		rc = end_branch(rows, s, NULL, err);
		s->lost = true;
		s->first = s->end = 0;
	}
	step = step_of(s, row, what);
	step.thread = no;
	/* When it ended that was: not when another one began. */
	if (what == HWTDI_TRANSFER_GONE)
		step.flags = 0;
	if (rc == HWTD_OK)
		rc = hwtdi_call_feed_flush(&s->feed, err);
	/* What was executed since is of the thread that is there now. */
	if (rc == HWTD_OK && s->thread == no)
		rc = hwtdi_call_feed_add(&s->feed, &step, err);
	else if (rc == HWTD_OK)
		rc = hwtdi_call_thread_step(who->calls, &step, err);
	return (rc != HWTD_OK ? rc : hwtdi_call_feed_flush(&s->feed, err));
}

/*
 * Threads that end execute some more code of the kernel then.  So the calls of one
 * are over when another one gets its number.
 */
static int
add_thread_record(struct hwtdi_call_rows *rows, const struct hwtd_event *row,
    const struct hwtd_record *r, struct hwtd_error *err)
{
	const struct hwtdi_call_who who = { .pid = r->pid,
		.tid = r->tid,
		.stream = HWTD_NO_ID };
	struct hwtdi_call_who *at;
	uint32_t no;

	if (r->tid == HWTD_NO_ID ||
	    !hwtdi_call_threads_known(rows->threads, &who, &no))
		return (HWTD_OK);
	at = &rows->threads->at[no];
	if (r->type == HWTD_REC_THREAD_EXIT || r->type == HWTD_REC_EXIT) {
		at->ended = true;
		return (HWTD_OK);
	}
	if (!at->ended)
		return (HWTD_OK);
	at->ended = false;
	return (end_calls(rows, row, no, HWTDI_TRANSFER_GONE, err));
}

/* A process executes another program, or a thread begins or ends. */
static int
add_record(struct hwtdi_call_rows *rows, const struct hwtd_event *row,
    struct hwtd_error *err)
{
	struct hwtd_record r = { .size = sizeof(r) };
	int rc = HWTD_OK;

	if (hwtd_trace_record(rows->trace, row->value, &r) != HWTD_OK ||
	    r.pid == HWTD_NO_ID)
		return (HWTD_OK);
	switch (r.type) {
	case HWTD_REC_EXEC:
		for (uint32_t no =
			 hwtdi_call_threads_take(rows->threads, r.pid);
		     no != 0 && rc == HWTD_OK;
		     no = rows->threads->at[no - 1].next_plus_1)
			rc = end_calls(rows, row, no - 1, HWTDI_TRANSFER_EXEC,
			    err);
		return (rc);
	case HWTD_REC_THREAD_EXIT:
	case HWTD_REC_EXIT:
	case HWTD_REC_THREAD_CREATE:
	case HWTD_REC_FORK:
		return (add_thread_record(rows, row, &r, err));
	default:
		return (HWTD_OK);
	}
}

/* Rows of other kinds may stand anywhere, also behind a branch. */
static bool
says_flow(uint32_t kind)
{
	return ((1u << kind &
		    (1u << HWTD_EV_BLOCK | 1u << HWTD_EV_ASYNC |
			1u << HWTD_EV_ENABLE | 1u << HWTD_EV_DISABLE |
			1u << HWTD_EV_GAP | 1u << HWTD_EV_CONTEXT |
			1u << HWTD_EV_CYCLES)) != 0);
}

static int
add_row(struct hwtdi_call_rows *rows, const struct hwtd_batch *batch,
    const struct hwtd_event *row, struct hwtd_error *err)
{
	struct hwtdi_call_stream *s;
	struct hwtdi_step step;
	bool led_out;
	int rc = HWTD_OK;

	if (row->kind == HWTD_EV_RECORD)
		return (add_record(rows, row, err));
	if (row->stream >= rows->n_streams || !says_flow(row->kind))
		return (HWTD_OK);
	s = &rows->streams[row->stream];
	if (row->kind == HWTD_EV_BLOCK) {
		if (s->has_thread && s->context == row->context &&
		    rows->threads->at[s->thread].owner_plus_1 ==
			row->stream + 1)
			return (add_code(rows, s, row, err));
	} else if (row->kind == HWTD_EV_CYCLES) {
		hwtdi_call_feed_cycles(&s->feed, row->value);
		return (HWTD_OK);
	}
	/* An interrupt of what was called is no end of tracing by the call. */
	led_out = s->was_async ||
	    (s->pending &&
		(row->flags & (HWTD_EVF_ASYNC | HWTD_EVF_IP)) !=
		    (HWTD_EVF_ASYNC | HWTD_EVF_IP));
	s->was_async = false;
	if (row->kind != HWTD_EV_DISABLE)
		s->has_told = false;
	rc = end_branch(rows, s, row, err);
	if (rc == HWTD_OK)
		rc = set_context(rows, s, row, err);
	if (rc != HWTD_OK)
		return (rc);
	switch (row->kind) {
	case HWTD_EV_BLOCK:
		return (add_code(rows, s, row, err));
	case HWTD_EV_ASYNC:
		add_async(s, batch, row);
		return (HWTD_OK);
	case HWTD_EV_GAP:
		return (add_gap(s, batch, row, err));
	case HWTD_EV_DISABLE:
		return (add_off(s, row, led_out, err));
	case HWTD_EV_ENABLE:
		if ((row->flags & HWTD_EVF_STATUS) != 0 ||
		    (row->flags & HWTD_EVF_IP) == 0)
			return (HWTD_OK);
		s->on = true;
		s->lost = false;
		step = step_of(s, row, HWTDI_TRANSFER_ON);
		arrive_at(s, &step, row->ip);
		return (hwtdi_call_threads_list(rows->threads, s->thread,
		    err));
	default:
		return (HWTD_OK);
	}
}

int
hwtdi_call_rows_add(struct hwtdi_call_rows *rows,
    const struct hwtd_batch *batch, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < batch->n && rc == HWTD_OK; i++)
		rc = add_row(rows, batch, &batch->events[i], err);
	return (rc);
}

int
hwtdi_call_rows_end(struct hwtdi_call_rows *rows, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < rows->n_streams && rc == HWTD_OK; i++) {
		struct hwtdi_call_stream *s = &rows->streams[i];
		struct hwtdi_step step;

		if (!s->has_thread)
			continue;
		rc = end_branch(rows, s, NULL, err);
		/* What ran last is of the call that is open then. */
		step = step_of(s, &s->branch, HWTDI_TRANSFER_IN);
		step.flags = s->has_time
		    ? HWTDI_STEP_TIME | HWTDI_STEP_ESTIMATED
		    : 0;
		step.time_ns = s->last_ns;
		if (rc == HWTD_OK)
			rc = hwtdi_call_feed_add(&s->feed, &step, err);
		if (rc == HWTD_OK)
			rc = hwtdi_call_feed_flush(&s->feed, err);
	}
	return (rc);
}
