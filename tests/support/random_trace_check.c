/*
 * Random Intel PT traces: rows against the truth.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/random_trace.h"

void
random_trace_start(struct random_trace_cursor *c,
    const struct random_trace *truth, struct hwtd_trace *trace)
{
	memset(c, 0, sizeof(*c));
	c->truth = truth;
	c->trace = trace;
}

static bool __attribute__((format(printf, 2, 3)))
differs(struct random_trace_cursor *c, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(c->text, sizeof(c->text),
	    "instruction %zu, event %zu: ", c->insn, c->event);
	va_start(ap, fmt);
	(void)vsnprintf(c->text + n, sizeof(c->text) - (size_t)n, fmt, ap);
	va_end(ap);
	return (false);
}

/* Where execution goes after an instruction, if the next one says so. */
static bool
next_ip(const struct random_trace_cursor *c, uint64_t *ip)
{
	const struct random_trace *t = c->truth;

	for (size_t i = c->event;
	     i < t->n_events && t->events[i].at <= c->insn + 1; i++) {
		const uint8_t kind = t->events[i].row.kind;

		if (kind == HWTD_EV_GAP || kind == HWTD_EV_DISABLE ||
		    kind == HWTD_EV_ASYNC)
			return (false);
	}
	if (c->insn + 1 >= t->n_insns)
		return (false);
	*ip = t->insns[c->insn + 1].ip;
	return (true);
}

static bool
check_insn(struct random_trace_cursor *c, const struct hwtd_event *row)
{
	const struct random_trace *t = c->truth;
	const uint16_t flags = HWTD_EVF_SPECULATIVE | HWTD_EVF_ISA_MASK;
	const struct random_trace_insn *i = &t->insns[c->insn];
	uint64_t next;

	if (c->insn >= t->n_insns)
		return (differs(c, "%" PRIx64 ": too much", row->ip));
	if (c->event < t->n_events && t->events[c->event].at <= c->insn)
		return (differs(c,
		    "%" PRIx64 " instead of an event of kind %u", row->ip,
		    t->events[c->event].row.kind));
	if (row->ip != i->ip)
		return (differs(c, "%" PRIx64 " instead of %" PRIx64, row->ip,
		    i->ip));
	if (((row->flags ^ i->flags) & flags) != 0)
		return (differs(c, "%" PRIx64 ": flags %x, not %x", row->ip,
		    row->flags & flags, i->flags));
	if (next_ip(c, &next) &&
	    ((row->flags & HWTD_EVF_TARGET) == 0 ? row->branch != 0
						 : row->target != next))
		return (differs(c, "%" PRIx64 ": to %" PRIx64, row->ip,
		    row->target));
	c->insn++;
	return (true);
}

static bool
check_context(struct random_trace_cursor *c,
    const struct random_trace_event *want, uint32_t id)
{
	struct hwtd_exec_context is = { .size = sizeof(is) };

	if (hwtd_trace_exec_context(c->trace, id, &is) != HWTD_OK)
		return (differs(c, "no context %u", id));
	if (is.cr3 != want->cr3 || is.vmcs != want->vmcs ||
	    ((is.flags & HWTD_CTXF_GUEST) != 0) != want->guest)
		return (differs(c,
		    "CR3 %" PRIx64 " VMCS %" PRIx64 ", not %" PRIx64
		    " and %" PRIx64,
		    is.cr3, is.vmcs, want->cr3, want->vmcs));
	return (true);
}

static bool
check_detail(struct random_trace_cursor *c,
    const struct random_trace_event *want, const struct hwtd_event *row,
    const void *detail)
{
	const struct hwtd_async *async = detail;
	const struct hwtd_gap *gap = detail;

	switch (row->kind) {
	case HWTD_EV_CONTEXT:
		return (check_context(c, want, row->context));
	case HWTD_EV_MARKER:
		return (memcmp(detail, &want->marker, sizeof(want->marker)) ==
			0 ||
		    differs(c, "another marker"));
	case HWTD_EV_POWER:
		return (memcmp(detail, &want->power, sizeof(want->power)) ==
			0 ||
		    differs(c, "another power state"));
	case HWTD_EV_ASYNC:
		return (((row->flags & HWTD_EVF_VALUE) != 0 &&
			    async->type == HWTD_ASYNC_TRANSACTION_ABORT) ==
			want->abort ||
		    differs(c, "an abort, or not"));
	case HWTD_EV_GAP:
		return (gap->reason == HWTD_GAP_OVERFLOW ||
		    differs(c, "gap of reason %u: %s", gap->reason,
			gap->text));
	default:
		return (row->value == want->row.value ||
		    differs(c, "value %" PRIx64 ", not %" PRIx64, row->value,
			want->row.value));
	}
}

static bool
check_event(struct random_trace_cursor *c, const struct hwtd_event *row,
    const void *detail)
{
	const struct random_trace *t = c->truth;
	const struct random_trace_event *want = &t->events[c->event];
	uint16_t flags = HWTD_EVF_TARGET | HWTD_EVF_ASYNC | HWTD_EVF_RESUMED |
	    HWTD_EVF_STOPPED;

	if (c->event >= t->n_events)
		return (differs(c, "event of kind %u: too much", row->kind));
	if (want->at != c->insn || want->row.kind != row->kind) {
		if (row->kind == HWTD_EV_GAP)
			return (differs(c, "gap of reason %u: %s",
			    ((const struct hwtd_gap *)detail)->reason,
			    ((const struct hwtd_gap *)detail)->text));
		return (differs(c, "event of kind %u, not %u at %zu",
		    row->kind, want->row.kind, want->at));
	}
	flags &= (uint16_t)~want->open;
	/* A gap tells of what was before it; it restates no ISA. */
	if (row->kind != HWTD_EV_GAP)
		flags |= HWTD_EVF_IP;
	if (row->kind == HWTD_EV_MODE)
		flags |= HWTD_EVF_ISA_MASK;
	if (((row->flags ^ want->row.flags) & flags) != 0)
		return (differs(c, "event of kind %u: flags %x, not %x",
		    row->kind, row->flags & flags, want->row.flags & flags));
	if ((flags & row->flags & HWTD_EVF_IP) != 0 && row->ip != want->row.ip)
		return (differs(c,
		    "event of kind %u: at %" PRIx64 ", not %" PRIx64,
		    row->kind, row->ip, want->row.ip));
	if ((row->flags & HWTD_EVF_TARGET) != 0 &&
	    row->target != want->row.target)
		return (differs(c,
		    "event of kind %u: to %" PRIx64 ", not %" PRIx64,
		    row->kind, row->target, want->row.target));
	if (!check_detail(c, want, row, detail))
		return (false);
	c->event++;
	return (true);
}

bool
random_trace_next(struct random_trace_cursor *c, const struct hwtd_event *row,
    const void *detail)
{
	const struct random_trace *t = c->truth;

	if ((row->flags & HWTD_EVF_STATUS) != 0)
		return (true);
	while (c->event < t->n_events && t->events[c->event].maybe &&
	    (t->events[c->event].row.kind != row->kind ||
		t->events[c->event].row.value != row->value ||
		t->events[c->event].at != c->insn))
		c->event++;
	if (row->kind == HWTD_EV_INSN)
		return (check_insn(c, row));
	return (check_event(c, row, detail));
}

bool
random_trace_end(struct random_trace_cursor *c)
{
	if (c->insn != c->truth->n_insns || c->event != c->truth->n_events)
		return (differs(c, "the end, but %zu and %zu come",
		    c->truth->n_insns, c->truth->n_events));
	return (true);
}
