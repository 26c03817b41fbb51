/*
 * Short stable names of what rows hold.
 */
#include <hwtdecode/event.h>

static const char *
name_of(const char *const *names, size_t n, uint32_t i)
{
	return (i < n && names[i] != NULL ? names[i] : "unknown");
}

const char *
hwtd_event_kind_name(uint32_t kind)
{
	static const char *const names[HWTD_EV_KINDS] = {
		[HWTD_EV_BLOCK] = "block",
		[HWTD_EV_INSN] = "insn",
		[HWTD_EV_ASYNC] = "async",
		[HWTD_EV_ENABLE] = "enable",
		[HWTD_EV_DISABLE] = "disable",
		[HWTD_EV_GAP] = "gap",
		[HWTD_EV_CONTEXT] = "context",
		[HWTD_EV_MODE] = "mode",
		[HWTD_EV_TIME] = "time",
		[HWTD_EV_CYCLES] = "cycles",
		[HWTD_EV_FREQUENCY] = "frequency",
		[HWTD_EV_MARKER] = "marker",
		[HWTD_EV_POWER] = "power",
		[HWTD_EV_SAMPLE] = "sample",
		[HWTD_EV_RECORD] = "record",
	};

	return (name_of(names, HWTD_EV_KINDS, kind));
}

const char *
hwtd_branch_name(uint32_t branch)
{
	static const char *const names[] = {
		[HWTD_BRANCH_NONE] = "none",
		[HWTD_BRANCH_CONDITIONAL] = "conditional",
		[HWTD_BRANCH_JUMP] = "jump",
		[HWTD_BRANCH_INDIRECT_JUMP] = "indirect-jump",
		[HWTD_BRANCH_CALL] = "call",
		[HWTD_BRANCH_INDIRECT_CALL] = "indirect-call",
		[HWTD_BRANCH_RETURN] = "return",
		[HWTD_BRANCH_FAR_CALL] = "far-call",
		[HWTD_BRANCH_FAR_RETURN] = "far-return",
		[HWTD_BRANCH_FAR_JUMP] = "far-jump",
	};

	return (name_of(names, sizeof(names) / sizeof(names[0]), branch));
}

const char *
hwtd_isa_name(uint32_t isa)
{
	static const char *const names[] = {
		[HWTD_ISA_X86_16] = "x86-16",
		[HWTD_ISA_X86_32] = "x86-32",
		[HWTD_ISA_X86_64] = "x86-64",
		[HWTD_ISA_A32] = "a32",
		[HWTD_ISA_T32] = "t32",
		[HWTD_ISA_T32EE] = "t32ee",
		[HWTD_ISA_A64] = "a64",
	};

	return (name_of(names, sizeof(names) / sizeof(names[0]), isa));
}

const char *
hwtd_gap_reason_name(uint32_t reason)
{
	static const char *const names[HWTD_GAP_REASONS] = {
		[HWTD_GAP_UNSYNCED] = "unsynced",
		[HWTD_GAP_OVERFLOW] = "overflow",
		[HWTD_GAP_BAD_PACKET] = "bad-packet",
		[HWTD_GAP_BAD_FLOW] = "bad-flow",
		[HWTD_GAP_NO_CODE] = "no-code",
		[HWTD_GAP_BAD_CODE] = "bad-code",
		[HWTD_GAP_ENDLESS_LOOP] = "endless-loop",
		[HWTD_GAP_AMBIGUOUS_MAPPING] = "ambiguous-mapping",
		[HWTD_GAP_TRUNCATED] = "truncated",
		[HWTD_GAP_FILE_DAMAGED] = "file-damaged",
		[HWTD_GAP_UNSUPPORTED] = "unsupported",
		[HWTD_GAP_ENGINE] = "engine",
		[HWTD_GAP_LIMIT] = "limit",
	};

	return (name_of(names, HWTD_GAP_REASONS, reason));
}

const char *
hwtd_marker_source_name(uint32_t source)
{
	static const char *const names[] = {
		[HWTD_MARKER_PTWRITE] = "ptwrite",
		[HWTD_MARKER_MNT] = "mnt",
		[HWTD_MARKER_STM] = "stm",
		[HWTD_MARKER_ITM] = "itm",
		[HWTD_MARKER_EVENT] = "event",
		[HWTD_MARKER_TRIGGER] = "trigger",
		[HWTD_MARKER_INSTRUMENTATION] = "instrumentation",
	};

	return (name_of(names, sizeof(names) / sizeof(names[0]), source));
}

const char *
hwtd_power_what_name(uint32_t what)
{
	static const char *const names[] = {
		[HWTD_POWER_STOP] = "stop",
		[HWTD_POWER_MWAIT] = "mwait",
		[HWTD_POWER_ENTRY] = "entry",
		[HWTD_POWER_EXIT] = "exit",
	};

	return (name_of(names, sizeof(names) / sizeof(names[0]), what));
}

const char *
hwtd_async_type_name(uint32_t type)
{
	static const char *const names[] = {
		[HWTD_ASYNC_INTERRUPT] = "interrupt",
		[HWTD_ASYNC_EXCEPTION] = "exception",
		[HWTD_ASYNC_TRANSACTION_ABORT] = "transaction-abort",
		[HWTD_ASYNC_VM_EXIT] = "vm-exit",
		[HWTD_ASYNC_SYSTEM_MANAGEMENT] = "system-management",
		[HWTD_ASYNC_STARTUP] = "startup",
		[HWTD_ASYNC_INIT] = "init",
		[HWTD_ASYNC_SHUTDOWN] = "shutdown",
		[HWTD_ASYNC_USER_INTERRUPT] = "user-interrupt",
		[HWTD_ASYNC_RETURN] = "return",
		[HWTD_ASYNC_USER_RETURN] = "user-return",
		[HWTD_ASYNC_SYSTEM_MANAGEMENT_RETURN] = "management-return",
		[HWTD_ASYNC_VM_ENTRY] = "vm-entry",
		[HWTD_ASYNC_SOFTWARE_INTERRUPT] = "software-interrupt",
		[HWTD_ASYNC_SYSTEM_CALL] = "system-call",
	};

	return (name_of(names, sizeof(names) / sizeof(names[0]), type));
}
