/*
 * Arrow streams of rows: what they have to say, and the comparison.
 */
#include "support/arrow_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a column may look at. */
struct place {
	const struct hwtd_trace *trace;
	const struct mt_row *r;
	const struct hwtd_event *row;
	struct hwtd_exec_context c;
};

static bool
is(const struct place *p, uint32_t kind)
{
	return (p->row->kind == kind);
}

static bool
has(const struct place *p, uint32_t flags)
{
	return ((p->row->flags & flags) != 0);
}

static bool
code(const struct place *p)
{
	return (is(p, HWTD_EV_BLOCK) || is(p, HWTD_EV_INSN));
}

static bool
detailed(const struct place *p)
{
	return (is(p, HWTD_EV_GAP) || is(p, HWTD_EV_MARKER) ||
	    is(p, HWTD_EV_POWER) || is(p, HWTD_EV_ASYNC) ||
	    is(p, HWTD_EV_SAMPLE));
}

static bool
placed(const struct place *p)
{
	struct hwtd_record record = { .size = sizeof(record) };

	if (p->row->stream == HWTD_NO_ID)
		return (false);
	return (!is(p, HWTD_EV_RECORD) ||
	    (hwtd_trace_record(p->trace, p->row->value, &record) == HWTD_OK &&
		(record.flags & HWTD_RECF_STREAM_OFF) != 0));
}

static bool
async(const struct place *p, uint32_t flags)
{
	return (is(p, HWTD_EV_ASYNC) && has(p, HWTD_EVF_VALUE) &&
	    (flags == 0 || (p->r->detail.async.flags & flags) != 0));
}

static bool
gap(const struct place *p, uint32_t flags)
{
	return (is(p, HWTD_EV_GAP) &&
	    (flags == 0 || (p->r->detail.gap.flags & flags) != 0));
}

static bool
of_marker(const struct place *p, uint32_t source)
{
	return (is(p, HWTD_EV_MARKER) && p->r->detail.marker.source == source);
}

static bool
power(const struct place *p, uint32_t a, uint32_t b)
{
	return (is(p, HWTD_EV_POWER) &&
	    (p->r->detail.power.what == a || p->r->detail.power.what == b));
}

static bool
mode(const struct place *p, uint64_t bits)
{
	return (is(p, HWTD_EV_MODE) && (p->row->value & bits) != 0);
}

static bool
who(const struct place *p, uint32_t flags)
{
	return ((p->c.flags & flags) != 0);
}

static bool
sample(const struct place *p, uint32_t present)
{
	return (is(p, HWTD_EV_SAMPLE) && has(p, HWTD_EVF_VALUE) &&
	    (present == 0 || (p->r->detail.sample.present & present) != 0));
}

static bool
of_class(const struct place *p, unsigned int op_class)
{
	return (sample(p, 0) && p->r->detail.sample.op_class == op_class);
}

#define S(field) (p->r->detail.sample.field)

#define U64 "L"
#define U32 "I"
#define U8 "C"
#define YES "b"
#define NAME "c"
#define TEXT "u"

/* Column bit, name, format, unit, may be null, when known, value. */
#define NUMBERS(X)                                                            \
	X(TIME_NS, time_ns, U64, "ns", 1, has(p, HWTD_EVF_TIME),              \
	    p->row->time_ns)                                                  \
	X(STREAM, stream, U32, NULL, 1, p->row->stream != HWTD_NO_ID,         \
	    p->row->stream)                                                   \
	X(STREAM_OFF, stream_off, U64, "bytes", 1, placed(p),                 \
	    p->row->stream_off)                                               \
	T(KIND, kind, NAME, NULL, 0, true,                                    \
	    hwtd_event_kind_name(p->row->kind))                               \
	X(IP, ip, U64, NULL, 1, has(p, HWTD_EVF_IP), p->row->ip)              \
	X(TARGET, target, U64, NULL, 1, has(p, HWTD_EVF_TARGET),              \
	    p->row->target)                                                   \
	X(INSNS, insns, U32, "instructions", 0, true, p->row->insns)          \
	X(BYTES, bytes, U32, "bytes", 0, true, p->row->bytes)                 \
	T(BRANCH, branch, NAME, NULL, 1, code(p),                             \
	    hwtd_branch_name(p->row->branch))                                 \
	X(TAKEN, taken, YES, NULL, 1,                                         \
	    code(p) && has(p, HWTD_EVF_TARGET | HWTD_EVF_TAKEN),              \
	    has(p, HWTD_EVF_TAKEN))                                           \
	T(ISA, isa, NAME, NULL, 1, p->row->flags >> 12 != 0,                  \
	    hwtd_isa_name(p->row->flags >> 12))                               \
	X(VALUE, value, U64, NULL, 1, has(p, HWTD_EVF_VALUE) && !detailed(p), \
	    p->row->value)                                                    \
	X(SECTION, section, U32, NULL, 1, has(p, HWTD_EVF_SECTION),           \
	    p->row->section)                                                  \
	X(CONTEXT, context, U32, NULL, 0, true, p->row->context)              \
	X(TIME_ESTIMATED, time_estimated, YES, NULL, 1,                       \
	    has(p, HWTD_EVF_TIME), has(p, HWTD_EVF_TIME_ESTIMATED))           \
	X(STATUS, status, YES, NULL, 0, true, has(p, HWTD_EVF_STATUS))        \
	X(SPECULATIVE, speculative, YES, NULL, 0, true,                       \
	    has(p, HWTD_EVF_SPECULATIVE))                                     \
	X(ASYNC, async, YES, NULL, 0, true, has(p, HWTD_EVF_ASYNC))           \
	X(RESUMED, resumed, YES, NULL, 0, true, has(p, HWTD_EVF_RESUMED))     \
	X(STOPPED, stopped, YES, NULL, 0, true, has(p, HWTD_EVF_STOPPED))     \
	X(PID, pid, U32, NULL, 1, p->c.pid != HWTD_NO_ID, p->c.pid)           \
	X(TID, tid, U32, NULL, 1, p->c.tid != HWTD_NO_ID, p->c.tid)           \
	X(CPU, cpu, U32, NULL, 1, p->c.cpu != HWTD_NO_ID, p->c.cpu)           \
	X(CR3, cr3, U64, NULL, 1, who(p, HWTD_CTXF_CR3), p->c.cr3)            \
	X(VMCS, vmcs, U64, NULL, 1, who(p, HWTD_CTXF_VMCS), p->c.vmcs)        \
	X(GUEST, guest, YES, NULL, 1,                                         \
	    who(p, HWTD_CTXF_GUEST | HWTD_CTXF_CR3), who(p, HWTD_CTXF_GUEST)) \
	X(LEVEL, level, U8, NULL, 1, who(p, HWTD_CTXF_LEVEL), p->c.level)     \
	X(SECURITY, security, U8, NULL, 1, who(p, HWTD_CTXF_SECURITY),        \
	    p->c.security)                                                    \
	X(CONTEXTIDR, contextidr, U64, NULL, 1, who(p, HWTD_CTXF_CONTEXTIDR), \
	    p->c.contextidr)                                                  \
	X(VMID, vmid, U64, NULL, 1, who(p, HWTD_CTXF_VMID), p->c.vmid)        \
	X(MODES, mode_transaction, YES, NULL, 1,                              \
	    mode(p, HWTD_MODE_IS_TRANSACTION),                                \
	    mode(p, HWTD_MODE_TRANSACTION))                                   \
	X(MODES, mode_aborted, YES, NULL, 1,                                  \
	    mode(p, HWTD_MODE_IS_TRANSACTION), mode(p, HWTD_MODE_ABORTED))    \
	X(MODES, mode_interrupts, YES, NULL, 1,                               \
	    mode(p, HWTD_MODE_HAS_INTERRUPTS), mode(p, HWTD_MODE_INTERRUPTS)) \
	T(GAPS, gap_reason, NAME, NULL, 1, gap(p, 0),                         \
	    hwtd_gap_reason_name(p->r->detail.gap.reason))                    \
	X(GAPS, gap_first, U64, "bytes", 1, gap(p, 0),                        \
	    p->r->detail.gap.first)                                           \
	X(GAPS, gap_end, U64, "bytes", 1, gap(p, 0), p->r->detail.gap.end)    \
	X(GAPS, gap_ip_before, U64, NULL, 1, gap(p, HWTD_GAPF_IP_BEFORE),     \
	    p->r->detail.gap.ip_before)                                       \
	X(GAPS, gap_ip_after, U64, NULL, 1, gap(p, HWTD_GAPF_IP_AFTER),       \
	    p->r->detail.gap.ip_after)                                        \
	X(GAPS, gap_addr, U64, NULL, 1, gap(p, HWTD_GAPF_ADDR),               \
	    p->r->detail.gap.addr)                                            \
	X(GAPS, gap_time_before_ns, U64, "ns", 1,                             \
	    gap(p, HWTD_GAPF_TIME_BEFORE), p->r->detail.gap.time_before_ns)   \
	X(GAPS, gap_time_after_ns, U64, "ns", 1,                              \
	    gap(p, HWTD_GAPF_TIME_AFTER), p->r->detail.gap.time_after_ns)     \
	X(GAPS, gap_file_off, U64, "bytes", 1, gap(p, HWTD_GAPF_FILE),        \
	    p->r->detail.gap.file_off)                                        \
	X(GAPS, gap_file_bytes, U64, "bytes", 1, gap(p, HWTD_GAPF_FILE),      \
	    p->r->detail.gap.file_bytes)                                      \
	T(GAPS, gap_text, TEXT, NULL, 1, gap(p, 0), p->r->detail.gap.text)    \
	T(MARKERS, marker_source, NAME, NULL, 1, is(p, HWTD_EV_MARKER),       \
	    hwtd_marker_source_name(p->r->detail.marker.source))              \
	X(MARKERS, marker_size, U32, "bytes", 1, is(p, HWTD_EV_MARKER),       \
	    p->r->detail.marker.size)                                         \
	X(MARKERS, marker_payload, U64, NULL, 1, is(p, HWTD_EV_MARKER),       \
	    p->r->detail.marker.payload)                                      \
	X(MARKERS, marker_master, U32, NULL, 1,                               \
	    of_marker(p, HWTD_MARKER_STM), p->r->detail.marker.master)        \
	X(MARKERS, marker_channel, U32, NULL, 1,                              \
	    of_marker(p, HWTD_MARKER_STM) || of_marker(p, HWTD_MARKER_ITM) || \
		of_marker(p, HWTD_MARKER_INSTRUMENTATION),                    \
	    p->r->detail.marker.channel)                                      \
	X(MARKERS, marker_flags, U32, NULL, 1, is(p, HWTD_EV_MARKER),         \
	    p->r->detail.marker.flags)                                        \
	X(MARKERS, marker_multiple, YES, NULL, 1,                             \
	    of_marker(p, HWTD_MARKER_TRIGGER),                                \
	    (p->r->detail.marker.flags & HWTD_MARKERF_MULTIPLE) != 0)         \
	T(POWERS, power_what, NAME, NULL, 1, is(p, HWTD_EV_POWER),            \
	    hwtd_power_what_name(p->r->detail.power.what))                    \
	X(POWERS, power_hints, U32, NULL, 1, power(p, HWTD_POWER_MWAIT, 2),   \
	    p->r->detail.power.hints)                                         \
	X(POWERS, power_extensions, U32, NULL, 1,                             \
	    power(p, HWTD_POWER_MWAIT, 2), p->r->detail.power.extensions)     \
	X(POWERS, power_state, U8, NULL, 1,                                   \
	    power(p, HWTD_POWER_ENTRY, HWTD_POWER_EXIT),                      \
	    p->r->detail.power.state)                                         \
	X(POWERS, power_sub_state, U8, NULL, 1,                               \
	    power(p, HWTD_POWER_ENTRY, HWTD_POWER_EXIT),                      \
	    p->r->detail.power.sub_state)                                     \
	X(POWERS, power_by_hardware, YES, NULL, 1,                            \
	    power(p, HWTD_POWER_ENTRY, 3),                                    \
	    p->r->detail.power.by_hardware != 0)                              \
	X(POWERS, power_wake, U8, NULL, 1, power(p, HWTD_POWER_EXIT, 4),      \
	    p->r->detail.power.wake)                                          \
	T(ASYNCS, async_type, NAME, NULL, 1, async(p, 0),                     \
	    hwtd_async_type_name(p->r->detail.async.type))                    \
	X(ASYNCS, async_number, U32, NULL, 1, async(p, HWTD_ASYNCF_NUMBER),   \
	    p->r->detail.async.number)                                        \
	X(ASYNCS, async_fault_addr, U64, NULL, 1,                             \
	    async(p, HWTD_ASYNCF_FAULT_ADDR), p->r->detail.async.fault_addr)  \
	X(ASYNCS, async_return_addr, U64, NULL, 1,                            \
	    async(p, HWTD_ASYNCF_RETURN_ADDR),                                \
	    p->r->detail.async.return_addr)                                   \
	X(ASYNCS, async_exit_reason, U64, NULL, 1,                            \
	    async(p, HWTD_ASYNCF_EXIT_REASON),                                \
	    p->r->detail.async.exit_reason)                                   \
	X(ASYNCS, async_exit_qualification, U64, NULL, 1,                     \
	    async(p, HWTD_ASYNCF_EXIT_QUALIFICATION),                         \
	    p->r->detail.async.exit_qualification)                            \
	X(SAMPLES, sample_bytes, U64, "bytes", 1, sample(p, 0), S(bytes))     \
	X(SAMPLES, sample_flags, U32, NULL, 1, sample(p, 0), S(flags))        \
	X(SAMPLES, sample_bad, YES, NULL, 1, sample(p, 0),                    \
	    (S(flags) &                                                       \
		(HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_DUPLICATE |              \
		    HWTD_SAMPLEF_TRUNCATED | HWTD_SAMPLEF_HEADLESS)) != 0)    \
	T(SAMPLES, sample_op_class, NAME, NULL, 1, sample(p, HWTD_SAMPLE_OP), \
	    hwtd_op_class_name(S(op_class)))                                  \
	T(SAMPLES, sample_op, NAME, NULL, 1, sample(p, HWTD_SAMPLE_OP),       \
	    hwtd_op_name(S(op)))                                              \
	X(SAMPLES, sample_op_raw, U8, NULL, 1, sample(p, HWTD_SAMPLE_OP),     \
	    S(op_raw))                                                        \
	X(SAMPLES, sample_op_flags, U32, NULL, 1, sample(p, HWTD_SAMPLE_OP),  \
	    S(op_flags))                                                      \
	X(SAMPLES, sample_store, YES, NULL, 1,                                \
	    of_class(p, HWTD_OP_CLASS_MEMORY),                                \
	    (S(op_flags) & (HWTD_OPF_STORE)) != 0)                            \
	X(SAMPLES, sample_conditional, YES, NULL, 1,                          \
	    sample(p, HWTD_SAMPLE_OP),                                        \
	    (S(op_flags) & (HWTD_OPF_CONDITIONAL)) != 0)                      \
	X(SAMPLES, sample_indirect, YES, NULL, 1,                             \
	    of_class(p, HWTD_OP_CLASS_BRANCH),                                \
	    (S(op_flags) & (HWTD_OPF_INDIRECT)) != 0)                         \
	X(SAMPLES, sample_vector_bits, U32, "bits", 1,                        \
	    sample(p, HWTD_SAMPLE_VECTOR), S(vector_bits))                    \
	X(SAMPLES, sample_events, U64, NULL, 1,                               \
	    sample(p, HWTD_SAMPLE_EVENTS), S(events))                         \
	X(SAMPLES, sample_source, U64, NULL, 1,                               \
	    sample(p, HWTD_SAMPLE_SOURCE), S(source))                         \
	X(SAMPLES, sample_lat_total, U32, "cycles", 1,                        \
	    sample(p, HWTD_SAMPLE_LAT_TOTAL), S(lat_total))                   \
	X(SAMPLES, sample_lat_total_saturated, YES, NULL, 1,                  \
	    sample(p, HWTD_SAMPLE_LAT_TOTAL),                                 \
	    (S(flags) & (HWTD_SAMPLEF_TOTAL_SATURATED)) != 0)                 \
	X(SAMPLES, sample_lat_issue, U32, "cycles", 1,                        \
	    sample(p, HWTD_SAMPLE_LAT_ISSUE), S(lat_issue))                   \
	X(SAMPLES, sample_lat_issue_saturated, YES, NULL, 1,                  \
	    sample(p, HWTD_SAMPLE_LAT_ISSUE),                                 \
	    (S(flags) & (HWTD_SAMPLEF_ISSUE_SATURATED)) != 0)                 \
	X(SAMPLES, sample_lat_xlat, U32, "cycles", 1,                         \
	    sample(p, HWTD_SAMPLE_LAT_XLAT), S(lat_xlat))                     \
	X(SAMPLES, sample_lat_xlat_saturated, YES, NULL, 1,                   \
	    sample(p, HWTD_SAMPLE_LAT_XLAT),                                  \
	    (S(flags) & (HWTD_SAMPLEF_XLAT_SATURATED)) != 0)                  \
	X(SAMPLES, sample_pc_el, U8, NULL, 1, sample(p, HWTD_SAMPLE_PC),      \
	    S(pc_el))                                                         \
	T(SAMPLES, sample_pc_security, NAME, NULL, 1,                         \
	    sample(p, HWTD_SAMPLE_PC), hwtd_security_name(S(pc_security)))    \
	X(SAMPLES, sample_target, U64, NULL, 1,                               \
	    sample(p, HWTD_SAMPLE_TARGET), S(target))                         \
	X(SAMPLES, sample_target_el, U8, NULL, 1,                             \
	    sample(p, HWTD_SAMPLE_TARGET), S(target_el))                      \
	T(SAMPLES, sample_target_security, NAME, NULL, 1,                     \
	    sample(p, HWTD_SAMPLE_TARGET),                                    \
	    hwtd_security_name(S(target_security)))                           \
	X(SAMPLES, sample_prev_target, U64, NULL, 1,                          \
	    sample(p, HWTD_SAMPLE_PREV_TARGET), S(prev_target))               \
	X(SAMPLES, sample_prev_target_el, U8, NULL, 1,                        \
	    sample(p, HWTD_SAMPLE_PREV_TARGET), S(prev_target_el))            \
	T(SAMPLES, sample_prev_target_security, NAME, NULL, 1,                \
	    sample(p, HWTD_SAMPLE_PREV_TARGET),                               \
	    hwtd_security_name(S(prev_target_security)))                      \
	X(SAMPLES, sample_va, U64, NULL, 1, sample(p, HWTD_SAMPLE_VA), S(va)) \
	X(SAMPLES, sample_va_tag, U8, NULL, 1, sample(p, HWTD_SAMPLE_VA),     \
	    S(va_tag))                                                        \
	X(SAMPLES, sample_pa, U64, NULL, 1, sample(p, HWTD_SAMPLE_PA), S(pa)) \
	X(SAMPLES, sample_pa_tag, U8, NULL, 1, sample(p, HWTD_SAMPLE_PA),     \
	    S(pa_tag))                                                        \
	T(SAMPLES, sample_pa_security, NAME, NULL, 1,                         \
	    sample(p, HWTD_SAMPLE_PA), hwtd_security_name(S(pa_security)))    \
	X(SAMPLES, sample_pa_checked, YES, NULL, 1,                           \
	    sample(p, HWTD_SAMPLE_PA), S(pa_checked) != 0)                    \
	X(SAMPLES, sample_context_el1, U32, NULL, 1,                          \
	    sample(p, HWTD_SAMPLE_CONTEXT_EL1), S(context_el1))               \
	X(SAMPLES, sample_context_el2, U32, NULL, 1,                          \
	    sample(p, HWTD_SAMPLE_CONTEXT_EL2), S(context_el2))               \
	X(SAMPLES, sample_count, U64, "ticks", 1,                             \
	    sample(p, HWTD_SAMPLE_COUNT), S(count))

#define X(bit, name, format, unit, nullable, known_, value)                   \
	static struct ar_value want_##name(const struct place *p)             \
	{                                                                     \
		struct ar_value v = { .known = (known_) };                    \
		if (v.known)                                                  \
			v.number = (value);                                   \
		return (v);                                                   \
	}
#define T(bit, name, format, unit, nullable, known_, value)                   \
	static struct ar_value want_##name(const struct place *p)             \
	{                                                                     \
		struct ar_value v = { .known = (known_) };                    \
		if (v.known)                                                  \
			(void)snprintf(v.text, sizeof(v.text), "%s",          \
			    (value));                                         \
		return (v);                                                   \
	}
NUMBERS(X)
#undef X
#undef T

#define X(bit, name, format, unit, nullable, known_, value)                   \
	{ { #name, (format), (unit), HWTD_COL_##bit, (nullable) != 0 },       \
		want_##name },
#define T X
static const struct {
	struct ar_column column;
	struct ar_value (*want)(const struct place *p);
} all[] = { NUMBERS(X) };
#undef X
#undef T

#define N_ALL (sizeof(all) / sizeof(all[0]))

const struct ar_column *
ar_column(uint64_t columns, size_t index)
{
	for (size_t i = 0; i < N_ALL; i++)
		if ((all[i].column.column & columns) != 0 && index-- == 0)
			return (&all[i].column);
	return (NULL);
}

static void
see(struct place *p, const struct hwtd_trace *trace, const struct mt_row *row)
{
	p->trace = trace;
	p->r = row;
	p->row = &row->row;
	p->c.size = sizeof(p->c);
	assert_int_equal(hwtd_trace_exec_context(trace, row->row.context,
			     &p->c),
	    HWTD_OK);
}

static size_t
find(const char *column)
{
	for (size_t i = 0; i < N_ALL; i++)
		if (strcmp(all[i].column.name, column) == 0)
			return (i);
	fail_msg("no column \"%s\"", column);
	return (0);
}

struct ar_value
ar_wanted(const struct hwtd_trace *trace, const struct mt_row *row,
    const char *column)
{
	struct place p;

	see(&p, trace, row);
	return (all[find(column)].want(&p));
}

/* What a consumer sees. */

static bool
bit_of(const void *bits, int64_t i)
{
	return ((((const uint8_t *)bits)[i / 8] >> i % 8 & 1) != 0);
}

static void
text_of(const struct ArrowArray *array, int64_t i, char out[80])
{
	const int32_t *offsets = array->buffers[1];
	const int32_t at = offsets[i], n = offsets[i + 1] - at;

	assert_true(at >= 0 && n >= 0 && n < 80);
	memcpy(out, (const char *)array->buffers[2] + at, (size_t)n);
	out[n] = '\0';
}

struct ar_value
ar_value(const struct ArrowSchema *field, const struct ArrowArray *column,
    int64_t row)
{
	struct ar_value v = { .known = true };
	int8_t index;

	assert_int_equal(column->offset, 0);
	assert_true(row < column->length);
	if (column->buffers[0] == NULL)
		assert_int_equal(column->null_count, 0);
	else
		v.known = bit_of(column->buffers[0], row);
	if (!v.known)
		return (v);
	switch (field->format[0]) {
	case 'L':
		v.number = ((const uint64_t *)column->buffers[1])[row];
		break;
	case 'i':
	case 'I':
		v.number = ((const uint32_t *)column->buffers[1])[row];
		break;
	case 'C':
		v.number = ((const uint8_t *)column->buffers[1])[row];
		break;
	case 'b':
		v.number = bit_of(column->buffers[1], row);
		break;
	case 'u':
		text_of(column, row, v.text);
		break;
	case 'c':
		index = ((const int8_t *)column->buffers[1])[row];
		assert_true(index >= 0 && index < column->dictionary->length);
		text_of(column->dictionary, index, v.text);
		break;
	default:
		fail_msg("format \"%s\"", field->format);
	}
	return (v);
}

static int32_t
number_at(const char **at)
{
	int32_t n;

	memcpy(&n, *at, sizeof(n));
	*at += sizeof(n);
	return (n);
}

const char *
ar_metadata(const struct ArrowSchema *field, const char *key, char out[200])
{
	const char *at = field->metadata;
	const char *found = NULL;
	int32_t n;

	if (at == NULL)
		return (NULL);
	n = number_at(&at);
	for (int32_t i = 0; i < n; i++) {
		const int32_t n_key = number_at(&at);
		const bool same = (size_t)n_key == strlen(key) &&
		    memcmp(at, key, strlen(key)) == 0;
		int32_t n_value;

		at += n_key;
		n_value = number_at(&at);
		assert_true(n_value >= 0 && n_value < 200);
		if (same) {
			memcpy(out, at, (size_t)n_value);
			out[n_value] = '\0';
			found = out;
		}
		at += n_value;
	}
	return (found);
}

/* Comparison. */

static void
assert_field(const struct ArrowSchema *field, const struct ar_column *want)
{
	char text[200];
	const char *unit = ar_metadata(field, "unit", text);

	assert_string_equal(field->name, want->name);
	assert_string_equal(field->format, want->format);
	assert_int_equal(field->flags,
	    want->nullable ? ARROW_FLAG_NULLABLE : 0);
	assert_int_equal(field->n_children, 0);
	if (want->unit == NULL)
		assert_null(unit);
	else
		assert_string_equal(unit, want->unit);
	assert_non_null(ar_metadata(field, "meaning", text));
	assert_true(text[0] != '\0');
	if (want->format[0] != 'c') {
		assert_null(field->dictionary);
		return;
	}
	assert_non_null(field->dictionary);
	assert_string_equal(field->dictionary->format, "u");
	assert_non_null(field->dictionary->release);
}

void
ar_assert_schema(const struct ArrowSchema *schema, uint64_t columns)
{
	int64_t n = 0;

	assert_string_equal(schema->format, "+s");
	assert_int_equal(schema->flags, 0);
	assert_null(schema->dictionary);
	for (; ar_column(columns, (size_t)n) != NULL; n++) {
		assert_true(n < schema->n_children);
		assert_field(schema->children[n],
		    ar_column(columns, (size_t)n));
	}
	assert_int_equal(schema->n_children, n);
}

/* Each name is there once, as categories have to be. */
static void
assert_dictionary(const struct ArrowArray *names)
{
	char a[80], b[80];

	assert_non_null(names);
	assert_int_equal(names->null_count, 0);
	for (int64_t i = 0; i < names->length; i++)
		for (int64_t j = 0; j < i; j++) {
			text_of(names, i, a);
			text_of(names, j, b);
			assert_string_not_equal(a, b);
		}
}

/* Consumers may look at values that are not known too: they are 0. */
static void
assert_zero(const struct ArrowSchema *field, const struct ArrowArray *column,
    int64_t row)
{
	const int32_t *offsets = column->buffers[1];
	const uint8_t *values = column->buffers[1];
	const size_t n = field->format[0] == 'L' ? 8
	    : field->format[0] == 'I'		 ? 4
						 : 1;

	if (field->format[0] == 'u')
		assert_int_equal(offsets[row], offsets[row + 1]);
	else if (field->format[0] == 'b')
		assert_false(bit_of(values, row));
	else
		for (size_t i = 0; i < n; i++)
			assert_int_equal(values[(size_t)row * n + i], 0);
}

static void
assert_column(const struct ArrowSchema *field, const struct ArrowArray *array,
    size_t want, const struct place *places, size_t n)
{
	int64_t n_unknown = 0;

	assert_int_equal(array->length, n);
	assert_int_equal(array->n_buffers, field->format[0] == 'u' ? 3 : 2);
	assert_non_null(array->buffers[1]);
	for (size_t i = 0; i < n; i++) {
		const struct ar_value v = ar_value(field, array, (int64_t)i);
		const struct ar_value w = all[want].want(&places[i]);

		if (v.known != w.known || v.number != w.number ||
		    strcmp(v.text, w.text) != 0)
			fail_msg("%s of row %zu: %d %llx \"%s\", not "
				 "%d %llx \"%s\"",
			    field->name, i, v.known,
			    (unsigned long long)v.number, v.text, w.known,
			    (unsigned long long)w.number, w.text);
		n_unknown += !v.known;
		if (!v.known)
			assert_zero(field, array, (int64_t)i);
	}
	assert_int_equal(array->null_count, n_unknown);
	if (field->format[0] == 'c')
		assert_dictionary(array->dictionary);
	else
		assert_null(array->dictionary);
}

void
ar_assert_array(const struct hwtd_trace *trace,
    const struct ArrowSchema *schema, const struct ArrowArray *array,
    const struct mt_rows *rows, size_t first)
{
	const size_t n = (size_t)array->length;
	struct place *places = malloc(n * sizeof(*places));

	assert_int_equal(array->n_children, schema->n_children);
	assert_int_equal(array->null_count, 0);
	assert_int_equal(array->n_buffers, 1);
	assert_null(array->buffers[0]);
	assert_true(n > 0 && first + n <= rows->n);
	assert_non_null(places);
	for (size_t i = 0; i < n; i++)
		see(&places[i], trace, &rows->at[first + i]);
	for (int64_t c = 0; c < array->n_children; c++)
		assert_column(schema->children[c], array->children[c],
		    find(schema->children[c]->name), places, n);
	free(places);
}

struct ArrowArrayStream
ar_export(struct hwtd_events *ev, uint64_t columns, uint32_t rows)
{
	const struct hwtd_export_options o = {
		.size = sizeof(o),
		.columns = columns,
		.rows = rows,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct ArrowArrayStream stream;

	if (hwtd_events_export(ev, &o, &stream, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	return (stream);
}

bool
ar_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	if (stream->get_next(stream, out) != 0)
		fail_msg("%s", stream->get_last_error(stream));
	assert_null(stream->get_last_error(stream));
	return (out->release != NULL);
}

void
ar_assert_stream(struct ArrowArrayStream *stream,
    const struct hwtd_trace *trace, uint64_t columns,
    const struct mt_rows *rows, size_t most)
{
	struct ArrowSchema schema;
	struct ArrowArray array;
	size_t n = 0;

	assert_int_equal(stream->get_schema(stream, &schema), 0);
	ar_assert_schema(&schema, columns);
	while (ar_next(stream, &array)) {
		ar_assert_array(trace, &schema, &array, rows, n);
		/* All but the last are full. */
		assert_true((size_t)array.length == most ||
		    ((size_t)array.length < most &&
			n + (size_t)array.length == rows->n));
		n += (size_t)array.length;
		array.release(&array);
		assert_null(array.release);
	}
	assert_int_equal(n, rows->n);
	/* The end stays the end. */
	assert_false(ar_next(stream, &array));
	schema.release(&schema);
	assert_null(schema.release);
	stream->release(stream);
	assert_null(stream->release);
}
