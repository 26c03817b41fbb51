/*
 * Rows as text.
 */
#include "support/row_text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct text {
	char *at;
	size_t n;
	size_t cap;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->cap - t->n < 256) {
		t->cap = t->cap * 2 + 1024;
		t->at = realloc(t->at, t->cap);
		assert_non_null(t->at);
	}
	va_start(ap, fmt);
	n = vsnprintf(t->at + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
	assert_true(n >= 0 && (size_t)n < t->cap - t->n);
	t->n += (size_t)n;
}

static void
add_flags(struct text *t, uint16_t flags)
{
	static const struct {
		uint16_t bit;
		const char *name;
	} names[] = {
		{ HWTD_EVF_TAKEN, "taken" },
		{ HWTD_EVF_STATUS, "status" },
		{ HWTD_EVF_ASYNC, "async" },
		{ HWTD_EVF_SPECULATIVE, "speculative" },
		{ HWTD_EVF_RESUMED, "resumed" },
		{ HWTD_EVF_STOPPED, "stopped" },
	};
	static const char *const isas[16] = { "", " 16", " 32", " 64", " a32",
		" t32", " t32ee", " a64" };
	unsigned int isa = flags >> HWTD_EVF_ISA_SHIFT;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((flags & names[i].bit) != 0)
			add(t, " %s", names[i].name);
	add(t, "%s", isas[isa] != NULL ? isas[isa] : " isa?");
}

static void
add_gap(struct text *t, const struct hwtd_gap *gap, const struct hwtd_event *e)
{
	/* The row says the same as its detail. */
	assert_int_equal((e->flags & HWTD_EVF_IP) != 0,
	    (gap->flags & HWTD_GAPF_IP_BEFORE) != 0);
	assert_int_equal((e->flags & HWTD_EVF_TARGET) != 0,
	    (gap->flags & HWTD_GAPF_IP_AFTER) != 0);
	assert_int_equal(e->ip, gap->ip_before);
	assert_int_equal(e->target, gap->ip_after);
	assert_true(memchr(gap->text, '\0', sizeof(gap->text)) != NULL);
	assert_true(gap->text[0] != '\0');
	add(t, " %s [%" PRIx64 ",%" PRIx64 ")",
	    hwtd_gap_reason_name(gap->reason), gap->first, gap->end);
	if ((gap->flags & HWTD_GAPF_IP_BEFORE) != 0)
		add(t, " before=%" PRIx64, gap->ip_before);
	if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0)
		add(t, " after=%" PRIx64, gap->ip_after);
	if ((gap->flags & HWTD_GAPF_ADDR) != 0)
		add(t, " addr=%" PRIx64, gap->addr);
	if ((gap->flags & HWTD_GAPF_TIME_BEFORE) != 0)
		add(t, " from=%" PRIu64, gap->time_before_ns);
	if ((gap->flags & HWTD_GAPF_TIME_AFTER) != 0)
		add(t, " to=%" PRIu64, gap->time_after_ns);
	if ((gap->flags & HWTD_GAPF_FILE) != 0)
		add(t, " file=%" PRIx64 "+%" PRIx64, gap->file_off,
		    gap->file_bytes);
}

static void
add_context(struct text *t, struct hwtd_trace *trace, uint32_t id)
{
	struct hwtd_exec_context c = { .size = sizeof(c) };

	assert_int_equal(hwtd_trace_exec_context(trace, id, &c), HWTD_OK);
	if (c.pid != HWTD_NO_ID)
		add(t, " pid=%" PRIu32, c.pid);
	if (c.tid != HWTD_NO_ID)
		add(t, " tid=%" PRIu32, c.tid);
	if (c.cpu != HWTD_NO_ID)
		add(t, " cpu=%" PRIu32, c.cpu);
	if ((c.flags & HWTD_CTXF_CR3) != 0)
		add(t, " cr3=%" PRIx64, c.cr3);
	if ((c.flags & HWTD_CTXF_VMCS) != 0)
		add(t, " vmcs=%" PRIx64, c.vmcs);
	if ((c.flags & HWTD_CTXF_GUEST) != 0)
		add(t, " guest");
}

static void
add_power(struct text *t, const struct hwtd_power *p)
{
	static const char *const what[] = { "?", "stop", "mwait", "entry",
		"exit" };

	assert_true(p->what < sizeof(what) / sizeof(what[0]));
	add(t, " %s", what[p->what]);
	if (p->what == HWTD_POWER_MWAIT)
		add(t, " hints=%" PRIx32 " extensions=%" PRIx32, p->hints,
		    p->extensions);
	if (p->what == HWTD_POWER_ENTRY || p->what == HWTD_POWER_EXIT)
		add(t, " state=%u sub=%u hw=%u wake=%u", p->state,
		    p->sub_state, p->by_hardware, p->wake);
}

static void
add_async(struct text *t, const struct hwtd_async *a)
{
	static const char *const types[] = { "?", "interrupt", "exception",
		"abort", "vm-exit" };

	add(t, " %s",
	    a->type < sizeof(types) / sizeof(types[0])
		? types[a->type]
		: hwtd_async_type_name(a->type));
	if ((a->flags & HWTD_ASYNCF_NUMBER) != 0)
		add(t, " number=%" PRIu32, a->number);
	if ((a->flags & HWTD_ASYNCF_FAULT_ADDR) != 0)
		add(t, " fault=%" PRIx64, a->fault_addr);
	if ((a->flags & HWTD_ASYNCF_RETURN_ADDR) != 0)
		add(t, " return=%" PRIx64, a->return_addr);
	if ((a->flags & HWTD_ASYNCF_EXIT_QUALIFICATION) != 0)
		add(t, " qualification=%" PRIx64, a->exit_qualification);
	if ((a->flags & HWTD_ASYNCF_EXIT_REASON) != 0)
		add(t, " reason=%" PRIx64, a->exit_reason);
}

static void
add_detail(struct text *t, struct hwtd_trace *trace, const struct mt_row *r)
{
	const struct hwtd_marker *const marker = &r->detail.marker;

	switch (r->row.kind) {
	case HWTD_EV_GAP:
		add_gap(t, &r->detail.gap, &r->row);
		break;
	case HWTD_EV_CONTEXT:
		add_context(t, trace, r->row.context);
		break;
	case HWTD_EV_MARKER:
		add(t, " %s %" PRIu32 ":%" PRIx64,
		    hwtd_marker_source_name(marker->source), marker->size,
		    marker->payload);
		if ((marker->flags & HWTD_MARKERF_MULTIPLE) != 0)
			add(t, " multiple");
		break;
	case HWTD_EV_ASYNC:
		if ((r->row.flags & HWTD_EVF_VALUE) != 0)
			add_async(t, &r->detail.async);
		break;
	case HWTD_EV_POWER:
		add_power(t, &r->detail.power);
		break;
	default:
		if ((r->row.flags & HWTD_EVF_VALUE) != 0)
			add(t, " value=%" PRIx64, r->row.value);
		break;
	}
}

static void
add_row(struct text *t, struct hwtd_trace *trace, const struct mt_row *r)
{
	const struct hwtd_event *e = &r->row;
	bool code = e->kind == HWTD_EV_BLOCK || e->kind == HWTD_EV_INSN;

	if (e->stream != 0)
		add(t, "s%" PRId32 " ", (int32_t)e->stream);
	if ((e->flags & HWTD_EVF_TIME) != 0)
		add(t, "%st=%" PRIu64 " ",
		    (e->flags & HWTD_EVF_TIME_ESTIMATED) != 0 ? "~" : "",
		    e->time_ns);
	add(t, "%s", hwtd_event_kind_name(e->kind));
	add_detail(t, trace, r);
	if ((e->flags & HWTD_EVF_IP) != 0 && e->kind != HWTD_EV_GAP)
		add(t, " %" PRIx64, e->ip);
	if (code)
		add(t, " %" PRIu32 "/%" PRIu32, e->insns, e->bytes);
	if (e->branch != HWTD_BRANCH_NONE)
		add(t, " %s", hwtd_branch_name(e->branch));
	if ((e->flags & HWTD_EVF_TARGET) != 0 && e->kind != HWTD_EV_GAP)
		add(t, " ->%" PRIx64, e->target);
	add_flags(t, e->flags);
	if ((e->flags & HWTD_EVF_SECTION) != 0)
		add(t, " sec%" PRIu32, e->section);
	if (e->kind == HWTD_EV_GAP)
		add(t, " @%" PRIx64, e->stream_off);
	add(t, "\n");
}

char *
row_text(struct hwtd_trace *trace, const struct mt_rows *rows)
{
	struct text t = { 0 };

	add(&t, "%s", "");
	for (size_t i = 0; i < rows->n; i++)
		add_row(&t, trace, &rows->at[i]);
	return (t.at);
}

void
assert_rows(struct hwtd_trace *trace, const struct hwtd_events_options *opts,
    const char *lines)
{
	struct mt_rows rows;
	char *text;

	mt_rows(trace, opts, &rows);
	text = row_text(trace, &rows);
	mt_rows_free(&rows);
	if (strcmp(text, lines) != 0) {
		print_error("got:\n%swant:\n%s", text, lines);
		free(text);
		fail_msg("other rows than expected");
	}
	free(text);
}

void
assert_trace(struct hwtd_trace *trace, const char *lines)
{
	assert_rows(trace, NULL, lines);
	hwtd_trace_close(trace);
}
