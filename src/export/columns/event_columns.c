/*
 * The columns of events, as a table.
 */
#include "export/columns/columns.h"

/* Values, with the struct that they stand in. */
#define ROW(t, m)                                                             \
	.source = HWTDI_FROM_ROW, .type = (t),                                \
	.field = HWTDI_FIELD(hwtd_event, m)
#define PLACED(t, m)                                                          \
	.source = HWTDI_FROM_PLACED_ROW, .sparse = true, .type = (t),         \
	.field = HWTDI_FIELD(hwtd_event, m)
#define CONTEXT(t, m)                                                         \
	.source = HWTDI_FROM_CONTEXT, .type = (t),                            \
	.field = HWTDI_FIELD(hwtd_exec_context, m)
#define GAP(t, m)                                                             \
	.source = HWTDI_FROM_GAP, .sparse = true, .type = (t),                \
	.field = HWTDI_FIELD(hwtd_gap, m)
#define MARKER(t, m)                                                          \
	.source = HWTDI_FROM_MARKER, .sparse = true, .type = (t),             \
	.field = HWTDI_FIELD(hwtd_marker, m)
#define POWER(t, m)                                                           \
	.source = HWTDI_FROM_POWER, .sparse = true, .type = (t),              \
	.field = HWTDI_FIELD(hwtd_power, m)
#define TRANSFER(t, m)                                                        \
	.source = HWTDI_FROM_ASYNC, .sparse = true, .type = (t),              \
	.field = HWTDI_FIELD(hwtd_async, m)
#define CODE_NAME(t, m)                                                       \
	.source = HWTDI_FROM_NAME, .sparse = true, .type = (t),               \
	.field = HWTDI_FIELD(hwtdi_code_name, m)
#define SAMPLE(t, m)                                                          \
	.source = HWTDI_FROM_SAMPLE, .sparse = true, .type = (t),             \
	.field = HWTDI_FIELD(hwtd_sample, m)

/* Conditions. */
#define IF_FLAGS(type, set)                                                   \
	{                                                                     \
		HWTDI_IF_BITS, HWTDI_FIELD(type, flags), (set)                \
	}
#define IF_ID(type, member)                                                   \
	{                                                                     \
		HWTDI_IF_ID, HWTDI_FIELD(type, member), 0                     \
	}
#define IF_SET(type, member)                                                  \
	{                                                                     \
		HWTDI_IF_SET, HWTDI_FIELD(type, member), 0                    \
	}
#define IF_KIND(set)                                                          \
	{                                                                     \
		HWTDI_IF_ONE_OF, HWTDI_FIELD(hwtd_event, kind), (set)         \
	}
#define IF_MODE(set)                                                          \
	{                                                                     \
		HWTDI_IF_BITS, HWTDI_FIELD(hwtd_event, value), (set)          \
	}
#define IF_SOURCE(set)                                                        \
	{                                                                     \
		HWTDI_IF_ONE_OF, HWTDI_FIELD(hwtd_marker, source), (set)      \
	}
#define IF_POWER(set)                                                         \
	{                                                                     \
		HWTDI_IF_ONE_OF, HWTDI_FIELD(hwtd_power, what), (set)         \
	}
#define IF_PRESENT(set)                                                       \
	{                                                                     \
		HWTDI_IF_BITS, HWTDI_FIELD(hwtd_sample, present), (set)       \
	}
#define IF_CLASS(set)                                                         \
	{                                                                     \
		HWTDI_IF_ONE_OF, HWTDI_FIELD(hwtd_sample, op_class), (set)    \
	}

#define BIT(n) (UINT32_C(1) << (n))
#define CODE (BIT(HWTD_EV_BLOCK) | BIT(HWTD_EV_INSN))
/* Kinds whose `value` is the number of a detail. */
#define WITH_DETAIL                                                           \
	(BIT(HWTD_EV_ASYNC) | BIT(HWTD_EV_GAP) | BIT(HWTD_EV_MARKER) |        \
	    BIT(HWTD_EV_POWER) | BIT(HWTD_EV_SAMPLE))
/* Sources of markers that have channels. */
#define WITH_CHANNEL                                                          \
	(BIT(HWTD_MARKER_STM) | BIT(HWTD_MARKER_ITM) |                        \
	    BIT(HWTD_MARKER_INSTRUMENTATION))

static const struct hwtdi_column columns[] = {
	{ "time_ns", HWTD_COL_TIME_NS, ROW(HWTDI_U64, time_ns),
	    .conditions = { IF_FLAGS(hwtd_event, HWTD_EVF_TIME) },
	    .meaning = "time on the clock of the trace", .unit = "ns" },
	{ "stream", HWTD_COL_STREAM, ROW(HWTDI_U32, stream),
	    .conditions = { IF_ID(hwtd_event, stream) },
	    .meaning = "id of the stream" },
	{ "stream_off", HWTD_COL_STREAM_OFF, PLACED(HWTDI_U64, stream_off),
	    .meaning = "where the decoder stood in the stream when it had the "
		       "row",
	    .unit = "bytes" },
	{ "kind", HWTD_COL_KIND, ROW(HWTDI_NAME, kind),
	    .name_of = hwtd_event_kind_name, .meaning = "what the row says" },
	{ "ip", HWTD_COL_IP, ROW(HWTDI_U64, ip),
	    .conditions = { IF_FLAGS(hwtd_event, HWTD_EVF_IP) },
	    .meaning = "virtual address at which it happened" },
	{ "target", HWTD_COL_TARGET, ROW(HWTDI_U64, target),
	    .conditions = { IF_FLAGS(hwtd_event, HWTD_EVF_TARGET) },
	    .meaning = "virtual address at which execution went on" },
	{ "insns", HWTD_COL_INSNS, ROW(HWTDI_U32, insns),
	    .meaning = "instructions executed", .unit = "instructions" },
	{ "bytes", HWTD_COL_BYTES, ROW(HWTDI_U32, bytes),
	    .meaning = "code executed, from ip on", .unit = "bytes" },
	{ "branch", HWTD_COL_BRANCH, ROW(HWTDI_NAME, branch),
	    .conditions = { IF_KIND(CODE) }, .name_of = hwtd_branch_name,
	    .meaning = "how the code ended" },
	{ "taken", HWTD_COL_TAKEN, ROW(HWTDI_BOOL, flags),
	    .bits = HWTD_EVF_TAKEN,
	    .conditions = { IF_KIND(CODE),
		IF_FLAGS(hwtd_event, HWTD_EVF_TARGET | HWTD_EVF_TAKEN) },
	    .meaning = "execution did not go on at ip + bytes" },
	{ "isa", HWTD_COL_ISA, ROW(HWTDI_NAME, flags),
	    .shift = HWTD_EVF_ISA_SHIFT,
	    .conditions = { IF_FLAGS(hwtd_event, HWTD_EVF_ISA_MASK) },
	    .name_of = hwtd_isa_name, .meaning = "instruction set" },
	{ "value", HWTD_COL_VALUE, ROW(HWTDI_U64, value),
	    .conditions = { IF_FLAGS(hwtd_event, HWTD_EVF_VALUE),
		IF_KIND(~WITH_DETAIL) },
	    .meaning = "by kind: mode bits, raw count of time, cycles, "
		       "frequency ratio, number of the record" },
	{ "section", HWTD_COL_SECTION, ROW(HWTDI_U32, section),
	    .conditions = { IF_FLAGS(hwtd_event, HWTD_EVF_SECTION) },
	    .meaning = "id of the piece of an image that ip lies in" },
	{ "context", HWTD_COL_CONTEXT, ROW(HWTDI_U32, context),
	    .meaning = "id of who executed" },

	{ "time_estimated", HWTD_COL_TIME_ESTIMATED, ROW(HWTDI_BOOL, flags),
	    .bits = HWTD_EVF_TIME_ESTIMATED,
	    .conditions = { IF_FLAGS(hwtd_event, HWTD_EVF_TIME) },
	    .meaning = "no timing packet stands at the row" },
	{ "status", HWTD_COL_STATUS, ROW(HWTDI_BOOL, flags),
	    .bits = HWTD_EVF_STATUS,
	    .meaning = "the row restates what holds; nothing happened" },
	{ "speculative", HWTD_COL_SPECULATIVE, ROW(HWTDI_BOOL, flags),
	    .bits = HWTD_EVF_SPECULATIVE,
	    .meaning = "in a transaction whose outcome is not known here" },
	{ "async", HWTD_COL_ASYNC, ROW(HWTDI_BOOL, flags),
	    .bits = HWTD_EVF_ASYNC,
	    .meaning = "tracing went off by an interrupt or the like" },
	{ "resumed", HWTD_COL_RESUMED, ROW(HWTDI_BOOL, flags),
	    .bits = HWTD_EVF_RESUMED,
	    .meaning = "tracing went on where it had gone off" },
	{ "stopped", HWTD_COL_STOPPED, ROW(HWTDI_BOOL, flags),
	    .bits = HWTD_EVF_STOPPED,
	    .meaning = "the hardware stopped tracing by its own rule" },

	{ "pid", HWTD_COL_PID, CONTEXT(HWTDI_U32, pid),
	    .conditions = { IF_ID(hwtd_exec_context, pid) },
	    .meaning = "process id" },
	{ "tid", HWTD_COL_TID, CONTEXT(HWTDI_U32, tid),
	    .conditions = { IF_ID(hwtd_exec_context, tid) },
	    .meaning = "thread id" },
	{ "cpu", HWTD_COL_CPU, CONTEXT(HWTDI_U32, cpu),
	    .conditions = { IF_ID(hwtd_exec_context, cpu) },
	    .meaning = "CPU" },
	{ "cr3", HWTD_COL_CR3, CONTEXT(HWTDI_U64, cr3),
	    .conditions = { IF_FLAGS(hwtd_exec_context, HWTD_CTXF_CR3) },
	    .meaning = "page table base (x86 CR3) without its low 5 bits" },
	{ "vmcs", HWTD_COL_VMCS, CONTEXT(HWTDI_U64, vmcs),
	    .conditions = { IF_FLAGS(hwtd_exec_context, HWTD_CTXF_VMCS) },
	    .meaning = "VMCS base address" },
	/* What tells CR3 tells whether it is that of a guest. */
	{ "guest", HWTD_COL_GUEST, CONTEXT(HWTDI_BOOL, flags),
	    .bits = HWTD_CTXF_GUEST,
	    .conditions = { IF_FLAGS(hwtd_exec_context,
		HWTD_CTXF_GUEST | HWTD_CTXF_CR3) },
	    .meaning = "runs as a guest (VMX non-root)" },
	{ "level", HWTD_COL_LEVEL, CONTEXT(HWTDI_U8, level),
	    .conditions = { IF_FLAGS(hwtd_exec_context, HWTD_CTXF_LEVEL) },
	    .meaning = "exception level (Arm) or privilege ring (x86)" },
	{ "security", HWTD_COL_SECURITY, CONTEXT(HWTDI_U8, security),
	    .conditions = { IF_FLAGS(hwtd_exec_context, HWTD_CTXF_SECURITY) },
	    .meaning = "security state: 0 secure, 1 non-secure, 2 root, 3 "
		       "realm" },
	{ "contextidr", HWTD_COL_CONTEXTIDR, CONTEXT(HWTDI_U64, contextidr),
	    .conditions = { IF_FLAGS(hwtd_exec_context,
		HWTD_CTXF_CONTEXTIDR) },
	    .meaning = "Arm CONTEXTIDR" },
	{ "vmid", HWTD_COL_VMID, CONTEXT(HWTDI_U64, vmid),
	    .conditions = { IF_FLAGS(hwtd_exec_context, HWTD_CTXF_VMID) },
	    .meaning = "id of the virtual machine" },

	{ "mode_transaction", HWTD_COL_MODES, ROW(HWTDI_BOOL, value),
	    .bits = HWTD_MODE_TRANSACTION,
	    .conditions = { IF_KIND(BIT(HWTD_EV_MODE)),
		IF_MODE(HWTD_MODE_IS_TRANSACTION) },
	    .meaning = "executes in a transaction" },
	{ "mode_aborted", HWTD_COL_MODES, ROW(HWTDI_BOOL, value),
	    .bits = HWTD_MODE_ABORTED,
	    .conditions = { IF_KIND(BIT(HWTD_EV_MODE)),
		IF_MODE(HWTD_MODE_IS_TRANSACTION) },
	    .meaning = "the transaction was aborted" },
	{ "mode_interrupts", HWTD_COL_MODES, ROW(HWTDI_BOOL, value),
	    .bits = HWTD_MODE_INTERRUPTS,
	    .conditions = { IF_KIND(BIT(HWTD_EV_MODE)),
		IF_MODE(HWTD_MODE_HAS_INTERRUPTS) },
	    .meaning = "interrupts are enabled" },

	{ "gap_reason", HWTD_COL_GAPS, GAP(HWTDI_NAME, reason),
	    .name_of = hwtd_gap_reason_name,
	    .meaning = "why bytes gave nothing" },
	{ "gap_first", HWTD_COL_GAPS, GAP(HWTDI_U64, first),
	    .meaning = "first byte of the stream in the gap",
	    .unit = "bytes" },
	{ "gap_end", HWTD_COL_GAPS, GAP(HWTDI_U64, end),
	    .meaning = "first byte of the stream behind the gap",
	    .unit = "bytes" },
	{ "gap_ip_before", HWTD_COL_GAPS, GAP(HWTDI_U64, ip_before),
	    .conditions = { IF_FLAGS(hwtd_gap, HWTD_GAPF_IP_BEFORE) },
	    .meaning = "last virtual address decoded before the gap" },
	{ "gap_ip_after", HWTD_COL_GAPS, GAP(HWTDI_U64, ip_after),
	    .conditions = { IF_FLAGS(hwtd_gap, HWTD_GAPF_IP_AFTER) },
	    .meaning = "virtual address at which decoding goes on" },
	{ "gap_addr", HWTD_COL_GAPS, GAP(HWTDI_U64, addr),
	    .conditions = { IF_FLAGS(hwtd_gap, HWTD_GAPF_ADDR) },
	    .meaning = "virtual address of the code at fault" },
	{ "gap_time_before_ns", HWTD_COL_GAPS, GAP(HWTDI_U64, time_before_ns),
	    .conditions = { IF_FLAGS(hwtd_gap, HWTD_GAPF_TIME_BEFORE) },
	    .meaning = "time at the start of the gap", .unit = "ns" },
	{ "gap_time_after_ns", HWTD_COL_GAPS, GAP(HWTDI_U64, time_after_ns),
	    .conditions = { IF_FLAGS(hwtd_gap, HWTD_GAPF_TIME_AFTER) },
	    .meaning = "time at the end of the gap", .unit = "ns" },
	{ "gap_file_off", HWTD_COL_GAPS, GAP(HWTDI_U64, file_off),
	    .conditions = { IF_FLAGS(hwtd_gap, HWTD_GAPF_FILE) },
	    .meaning = "where the trace file is damaged", .unit = "bytes" },
	{ "gap_file_bytes", HWTD_COL_GAPS, GAP(HWTDI_U64, file_bytes),
	    .conditions = { IF_FLAGS(hwtd_gap, HWTD_GAPF_FILE) },
	    .meaning = "how much of the trace file is damaged",
	    .unit = "bytes" },
	{ "gap_text", HWTD_COL_GAPS, GAP(HWTDI_TEXT, text),
	    .meaning = "the cause of the gap" },

	{ "marker_source", HWTD_COL_MARKERS, MARKER(HWTDI_NAME, source),
	    .name_of = hwtd_marker_source_name,
	    .meaning = "what made the marker" },
	{ "marker_size", HWTD_COL_MARKERS, MARKER(HWTDI_U32, size),
	    .meaning = "payload that counts", .unit = "bytes" },
	{ "marker_payload", HWTD_COL_MARKERS, MARKER(HWTDI_U64, payload),
	    .meaning = "payload of the marker" },
	{ "marker_master", HWTD_COL_MARKERS, MARKER(HWTDI_U32, master),
	    .conditions = { IF_SOURCE(BIT(HWTD_MARKER_STM)) },
	    .meaning = "STM master" },
	{ "marker_channel", HWTD_COL_MARKERS, MARKER(HWTDI_U32, channel),
	    .conditions = { IF_SOURCE(WITH_CHANNEL) },
	    .meaning = "STM channel, ITM port, exception level of an Arm "
		       "ITE" },
	{ "marker_flags", HWTD_COL_MARKERS, MARKER(HWTDI_U32, flags),
	    .meaning = "bits HWTD_MARKERF_*" },
	{ "marker_multiple", HWTD_COL_MARKERS, MARKER(HWTDI_BOOL, flags),
	    .bits = HWTD_MARKERF_MULTIPLE,
	    .conditions = { IF_SOURCE(BIT(HWTD_MARKER_TRIGGER)) },
	    .meaning = "other triggers, which are not told, came with it" },

	{ "power_what", HWTD_COL_POWERS, POWER(HWTDI_NAME, what),
	    .name_of = hwtd_power_what_name,
	    .meaning = "how the power state changed" },
	{ "power_hints", HWTD_COL_POWERS, POWER(HWTDI_U32, hints),
	    .conditions = { IF_POWER(BIT(HWTD_POWER_MWAIT)) },
	    .meaning = "hints of MWAIT (EAX)" },
	{ "power_extensions", HWTD_COL_POWERS, POWER(HWTDI_U32, extensions),
	    .conditions = { IF_POWER(BIT(HWTD_POWER_MWAIT)) },
	    .meaning = "extensions of MWAIT (ECX)" },
	{ "power_state", HWTD_COL_POWERS, POWER(HWTDI_U8, state),
	    .conditions = { IF_POWER(BIT(HWTD_POWER_ENTRY) |
		BIT(HWTD_POWER_EXIT)) },
	    .meaning = "entry: thread C-state; exit: core C-state at the "
		       "wake" },
	{ "power_sub_state", HWTD_COL_POWERS, POWER(HWTDI_U8, sub_state),
	    .conditions = { IF_POWER(BIT(HWTD_POWER_ENTRY) |
		BIT(HWTD_POWER_EXIT)) },
	    .meaning = "entry: sub C-state; exit: deepest core C-state" },
	{ "power_by_hardware", HWTD_COL_POWERS, POWER(HWTDI_BOOL, by_hardware),
	    .bits = 0xff, .conditions = { IF_POWER(BIT(HWTD_POWER_ENTRY)) },
	    .meaning = "the hardware started it" },
	{ "power_wake", HWTD_COL_POWERS, POWER(HWTDI_U8, wake),
	    .conditions = { IF_POWER(BIT(HWTD_POWER_EXIT)) },
	    .meaning = "why it woke: 1 interrupt, 2 store, 4 autonomous" },

	{ "async_type", HWTD_COL_ASYNCS, TRANSFER(HWTDI_NAME, type),
	    .name_of = hwtd_async_type_name,
	    .meaning = "what kind of transfer it is" },
	{ "async_number", HWTD_COL_ASYNCS, TRANSFER(HWTDI_U32, number),
	    .conditions = { IF_FLAGS(hwtd_async, HWTD_ASYNCF_NUMBER) },
	    .meaning = "vector (x86) or exception number (Arm)" },
	{ "async_fault_addr", HWTD_COL_ASYNCS, TRANSFER(HWTDI_U64, fault_addr),
	    .conditions = { IF_FLAGS(hwtd_async, HWTD_ASYNCF_FAULT_ADDR) },
	    .meaning = "virtual address of the fault (CR2)" },
	{ "async_return_addr", HWTD_COL_ASYNCS,
	    TRANSFER(HWTDI_U64, return_addr),
	    .conditions = { IF_FLAGS(hwtd_async, HWTD_ASYNCF_RETURN_ADDR) },
	    .meaning = "virtual address that the handler returns to" },
	{ "async_exit_reason", HWTD_COL_ASYNCS,
	    TRANSFER(HWTDI_U64, exit_reason),
	    .conditions = { IF_FLAGS(hwtd_async, HWTD_ASYNCF_EXIT_REASON) },
	    .meaning = "reason of the VM exit" },
	{ "async_exit_qualification", HWTD_COL_ASYNCS,
	    TRANSFER(HWTDI_U64, exit_qualification),
	    .conditions = { IF_FLAGS(hwtd_async,
		HWTD_ASYNCF_EXIT_QUALIFICATION) },
	    .meaning = "qualification of the VM exit" },

	{ "sample_bytes", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U64, bytes),
	    .meaning = "bytes of the stream that the record has, damaged ones "
		       "too",
	    .unit = "bytes" },
	{ "sample_flags", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U32, flags),
	    .meaning = "bits HWTD_SAMPLEF_*" },
	{ "sample_bad", HWTD_COL_SAMPLES, SAMPLE(HWTDI_BOOL, flags),
	    .bits = HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_DUPLICATE |
		HWTD_SAMPLEF_TRUNCATED | HWTD_SAMPLEF_HEADLESS,
	    .meaning = "damaged, cut off, or of two records: it belongs in no "
		       "statistics" },
	{ "sample_op_class", HWTD_COL_SAMPLES, SAMPLE(HWTDI_NAME, op_class),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_OP) },
	    .name_of = hwtd_op_class_name,
	    .meaning = "class of the operation" },
	{ "sample_op", HWTD_COL_SAMPLES, SAMPLE(HWTDI_NAME, op),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_OP) },
	    .name_of = hwtd_op_name, .meaning = "what the operation is" },
	{ "sample_op_raw", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U8, op_raw),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_OP) },
	    .meaning = "payload of the operation packet" },
	{ "sample_op_flags", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U32, op_flags),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_OP) },
	    .meaning = "bits HWTD_OPF_*" },
	{ "sample_store", HWTD_COL_SAMPLES, SAMPLE(HWTDI_BOOL, op_flags),
	    .bits = HWTD_OPF_STORE,
	    .conditions = { IF_CLASS(BIT(HWTD_OP_CLASS_MEMORY)) },
	    .meaning = "memory is written; else it is read" },
	{ "sample_conditional", HWTD_COL_SAMPLES, SAMPLE(HWTDI_BOOL, op_flags),
	    .bits = HWTD_OPF_CONDITIONAL,
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_OP) },
	    .meaning = "a conditional select, compare or branch" },
	{ "sample_indirect", HWTD_COL_SAMPLES, SAMPLE(HWTDI_BOOL, op_flags),
	    .bits = HWTD_OPF_INDIRECT,
	    .conditions = { IF_CLASS(BIT(HWTD_OP_CLASS_BRANCH)) },
	    .meaning = "a branch to an address in a register" },
	{ "sample_vector_bits", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_U32, vector_bits),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_VECTOR) },
	    .meaning = "length of vectors, or size of a tile",
	    .unit = "bits" },
	{ "sample_events", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U64, events),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_EVENTS) },
	    .meaning = "events as the hardware gives them; what they mean "
		       "depends on it" },
	{ "sample_source", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U64, source),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_SOURCE) },
	    .meaning = "data source; what it means depends on the CPU" },
	{ "sample_lat_total", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U32, lat_total),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_LAT_TOTAL) },
	    .meaning = "from dispatch to completion", .unit = "cycles" },
	{ "sample_lat_total_saturated", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_BOOL, flags), .bits = HWTD_SAMPLEF_TOTAL_SATURATED,
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_LAT_TOTAL) },
	    .meaning = "it was that, or more" },
	{ "sample_lat_issue", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U32, lat_issue),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_LAT_ISSUE) },
	    .meaning = "from dispatch to issue", .unit = "cycles" },
	{ "sample_lat_issue_saturated", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_BOOL, flags), .bits = HWTD_SAMPLEF_ISSUE_SATURATED,
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_LAT_ISSUE) },
	    .meaning = "it was that, or more" },
	{ "sample_lat_xlat", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U32, lat_xlat),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_LAT_XLAT) },
	    .meaning = "of the translation of the data address",
	    .unit = "cycles" },
	{ "sample_lat_xlat_saturated", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_BOOL, flags), .bits = HWTD_SAMPLEF_XLAT_SATURATED,
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_LAT_XLAT) },
	    .meaning = "it was that, or more" },
	{ "sample_pc_el", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U8, pc_el),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PC) },
	    .meaning = "exception level of the instruction" },
	{ "sample_pc_security", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_NAME, pc_security),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PC) },
	    .name_of = hwtd_security_name,
	    .meaning = "security state of the instruction" },
	{ "sample_target", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U64, target),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_TARGET) },
	    .meaning = "virtual address that the branch goes to, taken or "
		       "not" },
	{ "sample_target_el", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U8, target_el),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_TARGET) },
	    .meaning = "exception level of the target" },
	{ "sample_target_security", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_NAME, target_security),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_TARGET) },
	    .name_of = hwtd_security_name,
	    .meaning = "security state of the target" },
	{ "sample_prev_target", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_U64, prev_target),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PREV_TARGET) },
	    .meaning = "target of the last branch that was taken before" },
	{ "sample_prev_target_el", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_U8, prev_target_el),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PREV_TARGET) },
	    .meaning = "exception level of that target" },
	{ "sample_prev_target_security", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_NAME, prev_target_security),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PREV_TARGET) },
	    .name_of = hwtd_security_name,
	    .meaning = "security state of that target" },
	{ "sample_va", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U64, va),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_VA) },
	    .meaning = "virtual address of the data" },
	{ "sample_va_tag", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U8, va_tag),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_VA) },
	    .meaning = "top byte of va as it was" },
	{ "sample_pa", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U64, pa),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PA) },
	    .meaning = "physical address of the data" },
	{ "sample_pa_tag", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U8, pa_tag),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PA) },
	    .meaning = "allocation tag, if the access is checked" },
	{ "sample_pa_security", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_NAME, pa_security),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PA) },
	    .name_of = hwtd_security_name,
	    .meaning = "security state of the physical address" },
	{ "sample_pa_checked", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_BOOL, pa_checked), .bits = 0xff,
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_PA) },
	    .meaning = "the access is checked against the tag" },
	{ "sample_context_el1", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_U32, context_el1),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_CONTEXT_EL1) },
	    .meaning = "CONTEXTIDR_EL1" },
	{ "sample_context_el2", HWTD_COL_SAMPLES,
	    SAMPLE(HWTDI_U32, context_el2),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_CONTEXT_EL2) },
	    .meaning = "CONTEXTIDR_EL2" },
	{ "sample_count", HWTD_COL_SAMPLES, SAMPLE(HWTDI_U64, count),
	    .conditions = { IF_PRESENT(HWTD_SAMPLE_COUNT) },
	    .meaning = "raw count of the timer", .unit = "ticks" },

	{ "function", HWTD_COL_NAMES, CODE_NAME(HWTDI_STRING, function),
	    .conditions = { IF_SET(hwtdi_code_name, function) },
	    .meaning = "function that ip lies in, the innermost if it was "
		       "inlined" },
	{ "image", HWTD_COL_NAMES, CODE_NAME(HWTDI_STRING, image),
	    .conditions = { IF_SET(hwtdi_code_name, image) },
	    .meaning = "file, or part of the kernel, that ip lies in" },
	{ "file", HWTD_COL_NAMES, CODE_NAME(HWTDI_STRING, file),
	    .conditions = { IF_SET(hwtdi_code_name, file) },
	    .meaning = "source file of ip" },
	{ "line", HWTD_COL_NAMES, CODE_NAME(HWTDI_U32, line),
	    .conditions = { IF_SET(hwtdi_code_name, line) },
	    .meaning = "line in the source file" },
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* All that are pinned in the public header. */
#define USUAL ((HWTD_COL_SAMPLES << 1) - 1)

const struct hwtdi_column_table hwtdi_event_columns = { columns, N_COLUMNS,
	USUAL | HWTD_COL_NAMES, USUAL };

bool
hwtdi_column_nullable(const struct hwtdi_column *column)
{
	return (column->sparse || column->conditions[0].type != HWTDI_ALWAYS);
}

bool
hwtdi_column_is_text(const struct hwtdi_column *column)
{
	return (column->type == HWTDI_TEXT || column->type == HWTDI_STRING);
}
