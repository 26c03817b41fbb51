/*
 * Checking rows of calls.
 */
#include "support/call_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool __attribute__((format(printf, 2, 3)))
wrong(struct call_check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
	return (false);
}

static bool
begin(struct call_check *c, const struct hwtd_call *row)
{
	if (row->id != c->begun)
		return (wrong(c, "call %llu begins as number %llu",
		    (unsigned long long)row->id,
		    (unsigned long long)c->begun));
	c->begun++;
	if (c->n == c->cap) {
		struct open_call *grown;

		c->cap = 2 * c->cap + 64;
		grown = realloc(c->open, c->cap * sizeof(*c->open));
		if (grown == NULL)
			return (wrong(c, "out of memory"));
		c->open = grown;
	}
	/* What was called by it is in it: one level more. */
	for (size_t i = c->n; i > 0; i--) {
		const struct open_call *o = &c->open[i - 1];

		if (o->thread != row->thread || o->stack != row->stack)
			continue;
		if (row->depth != o->depth + 1)
			return (wrong(c, "depth %d in %d", row->depth,
			    o->depth));
		break;
	}
	c->open[c->n++] = (struct open_call){ row->id, row->thread, row->stack,
		row->begin_ns, row->depth };
	return (true);
}

/* The one that began last in its stack ends first. */
static bool
close_call(struct call_check *c, const struct hwtd_call *row)
{
	size_t i = c->n;

	while (i > 0 &&
	    (c->open[i - 1].thread != row->thread ||
		c->open[i - 1].stack != row->stack))
		i--;
	if (i == 0)
		return (wrong(c, "call %llu ends in an empty stack",
		    (unsigned long long)row->id));
	if (c->open[i - 1].id != row->id ||
	    c->open[i - 1].begin_ns != row->begin_ns ||
	    c->open[i - 1].depth != row->depth)
		return (wrong(c, "call %llu ends, %llu is open",
		    (unsigned long long)row->id,
		    (unsigned long long)c->open[i - 1].id));
	for (; i < c->n; i++)
		c->open[i - 1] = c->open[i];
	c->n--;
	c->ended++;
	return (true);
}

static bool
end(struct call_check *c, const struct hwtd_call *row)
{
	const uint32_t both = HWTD_CALLF_BEGIN_TIME | HWTD_CALLF_END_TIME;

	if (!close_call(c, row))
		return (false);
	if (row->end == HWTD_CALL_END_UNKNOWN || row->end >= HWTD_CALL_ENDS ||
	    row->type >= HWTD_CALL_TYPES)
		return (wrong(c, "end %u of type %u", row->end, row->type));
	if (row->self_ns > row->ns || row->self_insns > row->insns ||
	    row->self_cycles > row->cycles || row->self_gap_ns > row->gap_ns ||
	    row->self_off_ns > row->off_ns)
		return (wrong(c, "call %llu has more of itself than in all",
		    (unsigned long long)row->id));
	c->self_ns += row->self_ns;
	c->gap_ns += row->self_gap_ns;
	c->off_ns += row->self_off_ns;
	c->insns += row->self_insns;
	if (row->begin_insns > row->end_insns ||
	    row->insns > row->end_insns - row->begin_insns ||
	    ((row->flags & (HWTD_CALLF_SWITCHED | HWTD_CALLF_BEGAN_BEFORE)) ==
		    0 &&
		row->insns != row->end_insns - row->begin_insns))
		return (wrong(c, "%llu instructions from %llu to %llu",
		    (unsigned long long)row->insns,
		    (unsigned long long)row->begin_insns,
		    (unsigned long long)row->end_insns));
	if ((row->flags & both) != both)
		return (true);
	if (row->begin_ns > row->end_ns)
		return (wrong(c, "call %llu ends before it begins",
		    (unsigned long long)row->id));
	if ((row->flags & HWTD_CALLF_SWITCHED) == 0 &&
	    row->ns + row->gap_ns + row->off_ns != row->end_ns - row->begin_ns)
		return (wrong(c, "%llu + %llu + %llu ns from %llu to %llu",
		    (unsigned long long)row->ns,
		    (unsigned long long)row->gap_ns,
		    (unsigned long long)row->off_ns,
		    (unsigned long long)row->begin_ns,
		    (unsigned long long)row->end_ns));
	return (true);
}

bool
call_check_row(struct call_check *c, const struct hwtd_call *row)
{
	if (row->kind == HWTD_CALL_ENTER)
		return (begin(c, row));
	if (row->kind == HWTD_CALL_LEAVE)
		return (end(c, row));
	return ((row->kind == HWTD_CALL_GAP && row->begin_ns <= row->end_ns) ||
	    wrong(c, "kind %u", row->kind));
}

bool
call_check_end(struct call_check *c, uint64_t span_ns)
{
	bool right = true;

	if (c->n != 0 || c->begun != c->ended)
		right = wrong(c, "%zu calls are open", c->n);
	else if (c->self_ns + c->gap_ns + c->off_ns != span_ns)
		right = wrong(c, "%llu + %llu + %llu ns of %llu",
		    (unsigned long long)c->self_ns,
		    (unsigned long long)c->gap_ns,
		    (unsigned long long)c->off_ns,
		    (unsigned long long)span_ns);
	free(c->open);
	c->open = NULL;
	c->n = c->cap = 0;
	return (right);
}

uint64_t
call_check_span(const struct hwtd_calls *calls)
{
	struct hwtd_call_thread t = { .size = sizeof(t) };
	uint64_t span = 0;

	for (uint32_t i = 0; hwtd_calls_thread(calls, i, &t) == HWTD_OK; i++)
		span += t.last_ns - t.first_ns - t.idle_ns;
	return (span);
}
