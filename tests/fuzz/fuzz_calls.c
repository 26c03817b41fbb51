/*
 * Checking rows of calls: they nest, each ends once, and times add up.
 */
#include "fuzz_calls.h"

#include <stdlib.h>

#include "fuzz.h"

static void
begin(struct fuzz_calls *calls, const struct hwtd_call *row)
{
	FUZZ_CHECK(row->id == calls->begun, "call %llu begins as number %llu",
	    (unsigned long long)row->id, (unsigned long long)calls->begun);
	calls->begun++;
	if (calls->n == calls->cap) {
		calls->cap = 2 * calls->cap + 64;
		calls->open = realloc(calls->open,
		    calls->cap * sizeof(*calls->open));
		FUZZ_CHECK(calls->open != NULL, "out of memory");
	}
	/* What was called by it is in it: one level more. */
	for (size_t i = calls->n; i > 0; i--) {
		const struct fuzz_open_call *o = &calls->open[i - 1];

		if (o->thread != row->thread || o->stack != row->stack)
			continue;
		FUZZ_CHECK(row->depth == o->depth + 1, "depth %d in %d",
		    row->depth, o->depth);
		break;
	}
	calls->open[calls->n++] = (struct fuzz_open_call){ row->id,
		row->thread, row->stack, row->begin_ns, row->depth };
	if (calls->n > calls->most)
		calls->most = calls->n;
}

static void
end(struct fuzz_calls *calls, const struct hwtd_call *row)
{
	size_t i = calls->n;

	/* The one that began last in its stack ends first. */
	while (i > 0 &&
	    (calls->open[i - 1].thread != row->thread ||
		calls->open[i - 1].stack != row->stack))
		i--;
	FUZZ_CHECK(i > 0, "call %llu ends in an empty stack",
	    (unsigned long long)row->id);
	FUZZ_CHECK(calls->open[i - 1].id == row->id &&
		calls->open[i - 1].begin_ns == row->begin_ns &&
		calls->open[i - 1].depth == row->depth,
	    "call %llu ends, %llu is open", (unsigned long long)row->id,
	    (unsigned long long)calls->open[i - 1].id);
	for (; i < calls->n; i++)
		calls->open[i - 1] = calls->open[i];
	calls->n--;
	calls->ended++;
	FUZZ_CHECK(row->end != HWTD_CALL_END_UNKNOWN &&
		row->end < HWTD_CALL_ENDS && row->type < HWTD_CALL_TYPES,
	    "end %u of type %u", row->end, row->type);
	FUZZ_CHECK(row->self_ns <= row->ns && row->self_insns <= row->insns &&
		row->self_cycles <= row->cycles &&
		row->self_gap_ns <= row->gap_ns &&
		row->self_off_ns <= row->off_ns,
	    "more of itself than of all");
	if ((row->flags & HWTD_CALLF_BEGIN_TIME) != 0 &&
	    (row->flags & HWTD_CALLF_END_TIME) != 0) {
		FUZZ_CHECK(row->begin_ns <= row->end_ns, "ends before it");
		if ((row->flags & HWTD_CALLF_SWITCHED) == 0)
			FUZZ_CHECK(row->ns + row->gap_ns + row->off_ns ==
				row->end_ns - row->begin_ns,
			    "%llu + %llu + %llu ns from %llu to %llu",
			    (unsigned long long)row->ns,
			    (unsigned long long)row->gap_ns,
			    (unsigned long long)row->off_ns,
			    (unsigned long long)row->begin_ns,
			    (unsigned long long)row->end_ns);
	}
	calls->self_ns += row->self_ns;
	calls->gap_ns += row->self_gap_ns;
	calls->off_ns += row->self_off_ns;
}

void
fuzz_calls_row(struct fuzz_calls *calls, const struct hwtd_call *row)
{
	if (row->kind == HWTD_CALL_ENTER)
		begin(calls, row);
	else if (row->kind == HWTD_CALL_LEAVE)
		end(calls, row);
	else
		FUZZ_CHECK(row->kind == HWTD_CALL_GAP &&
			row->begin_ns <= row->end_ns,
		    "kind %u", row->kind);
}

void
fuzz_calls_end(struct fuzz_calls *calls, uint64_t span_ns)
{
	FUZZ_CHECK(calls->n == 0 && calls->begun == calls->ended,
	    "%zu calls are open", calls->n);
	FUZZ_CHECK(calls->self_ns + calls->gap_ns + calls->off_ns == span_ns,
	    "%llu + %llu + %llu ns of %llu",
	    (unsigned long long)calls->self_ns,
	    (unsigned long long)calls->gap_ns,
	    (unsigned long long)calls->off_ns, (unsigned long long)span_ns);
	free(calls->open);
	*calls = (struct fuzz_calls){ 0 };
}
