/*
 * Stacks of calls of one thread: what transfers of control make of them.
 *
 * A call is matched by the address behind it.  What ran unseen (before the trace,
 * in gaps, while nothing was traced) leaves calls whose return address is not
 * known: they are open, and a return out of one is looked up among the calls
 * below.
 */
#ifndef HWTDI_CALL_STACK_H
#define HWTDI_CALL_STACK_H

#include <hwtdecode/calls.h>

#include "base/library.h"

#define HWTDI_NO_FUNCTION HWTD_NO_ID

enum hwtdi_transfer {
	/* Execution is found at `to`: at the start, behind a gap. */
	HWTDI_TRANSFER_ARRIVE,
	HWTDI_TRANSFER_CALL,
	HWTDI_TRANSFER_RETURN,
	/* Direct or, where any address can come, indirect. */
	HWTDI_TRANSFER_JUMP,
	HWTDI_TRANSFER_INDIRECT,
	/* To and from a higher level, by an instruction. */
	HWTDI_TRANSFER_FAR_CALL,
	HWTDI_TRANSFER_FAR_RETURN,
	/* Not by an instruction; `back` is where it goes on, if that is known. */
	HWTDI_TRANSFER_INTERRUPT,
	HWTDI_TRANSFER_EXCEPTION,
	/* Tracing went off and on. */
	HWTDI_TRANSFER_OFF,
	HWTDI_TRANSFER_ON,
	/* What ran until `until_ns` is not known. */
	HWTDI_TRANSFER_GAP,
	/* The thread stopped to run, or runs again. */
	HWTDI_TRANSFER_OUT,
	HWTDI_TRANSFER_IN,
	/* Another program; all calls end. */
	HWTDI_TRANSFER_EXEC,
	/* The thread has ended, and another one has its number; the same. */
	HWTDI_TRANSFER_GONE
};

/* `time_ns`, `from`, `to`, `back` are known. */
#define HWTDI_STEP_TIME 0x1u
#define HWTDI_STEP_ESTIMATED 0x2u
#define HWTDI_STEP_INTERPOLATED 0x4u
#define HWTDI_STEP_FROM 0x8u
#define HWTDI_STEP_TO 0x10u
#define HWTDI_STEP_BACK 0x20u
/*
 * Lengths of instructions are not known: `back` is the call instruction, and
 * execution goes on up to HWTDI_INSN_MAX bytes behind its first.
 */
#define HWTDI_STEP_LOOSE 0x40u
#define HWTDI_STEP_CYCLES 0x80u
/* GAP: when it was over is known. */
#define HWTDI_STEP_UNTIL 0x100u
/* OFF: by an interrupt or the like at `back`; by the transfer before. */
#define HWTDI_STEP_ASYNC 0x200u
#define HWTDI_STEP_LED_OUT 0x400u

/* Source: Intel SDM vol. 2, "Instruction Format"; those of Arm have 2 or 4. */
#define HWTDI_INSN_MAX 15u

/* One transfer. */
struct hwtdi_step {
	uint64_t time_ns;
	/* GAP: its end. */
	uint64_t until_ns;
	/* Executed since the step before, with the instruction itself. */
	uint64_t insns;
	uint64_t cycles;
	/* In the branch instruction, where it went, where it returns. */
	uint64_t from;
	uint64_t to;
	uint64_t back;
	/* GAP; an hwtd_gap_reason. */
	uint64_t gap_bytes;
	uint32_t gap_reason;
	uint32_t from_section;
	uint32_t to_section;
	uint32_t context;
	/* Text: the function that it goes to, if the text names it. */
	uint32_t to_function;
	/* Number of the name of its image; 0: none. */
	uint32_t to_image;
	/* Where that begins. */
	uint64_t to_first;
	uint32_t flags;
	/* An hwtdi_transfer. */
	uint32_t what;
	/* Index of the thread. */
	uint32_t thread;
};

/* What is known of the function that an address is in. */
struct hwtdi_extent {
	uint32_t function;
	/* Of its code, [first, end), where that is known; else 0. */
	uint64_t first;
	uint64_t end;
	/* The address is its first one. */
	bool at_start;
	/*
	 * Compilers move code that is seldom executed away from its function, as
	 * a symbol of its own.  Both have the same number here; 0: none.
	 */
	uint32_t family;
	bool is_cold;
	/* It goes on with unwinding: never in the function that calls it. */
	bool resumes;
};

/* Parts of one function. */
static inline bool
hwtdi_same_function(uint32_t function, uint32_t family, bool is_cold,
    const struct hwtdi_extent *at)
{
	return (at->function != HWTDI_NO_FUNCTION &&
	    (function == at->function ||
		(family != 0 && family == at->family &&
		    (is_cold || at->is_cold))));
}

/*
 * The function that the place a step goes to is in; `called`: it is its first
 * instruction.  Not known: HWTDI_NO_FUNCTION.
 */
typedef int hwtdi_extent_fn(void *arg, const struct hwtdi_step *step,
    bool called, struct hwtdi_extent *out, struct hwtd_error *err);

/* A call that is not over. */
struct hwtdi_frame {
	uint64_t id;
	uint64_t begin_ns;
	uint64_t begin_insns;
	uint64_t address;
	uint64_t site;
	/* Where it returns to, see HWTDI_FRAME_BACK. */
	uint64_t back;
	/* Where it went on last behind a call of its own; 0: nowhere yet. */
	uint64_t point;
	/* Code of its function, if known. */
	uint64_t first;
	uint64_t end;
	/* Of itself; and of what it called, which is over. */
	uint64_t self_ns, ns;
	uint64_t self_insns, insns;
	uint64_t self_cycles, cycles;
	uint64_t self_gap_ns, gap_ns;
	uint64_t self_off_ns, off_ns;
	uint64_t gap_bytes;
	uint32_t gaps;
	uint32_t function;
	uint32_t family;
	bool is_cold;
	uint32_t section;
	uint32_t site_section;
	uint32_t context;
	/* HWTD_CALLF_* bits so far. */
	uint32_t flags;
	/* HWTDI_FRAME_* bits. */
	uint32_t state;
	/* Index + 1 of the next one below that a far return ends; 0: none. */
	uint32_t far;
	uint8_t type;
};

/* `back` is known.  Without it the frame is open. */
#define HWTDI_FRAME_BACK 0x1u
/* Ended by a far return. */
#define HWTDI_FRAME_FAR 0x2u
/* Its return address was used up by a return that was a jump. */
#define HWTDI_FRAME_SPENT 0x4u
/* `back` is the call instruction, see HWTDI_STEP_LOOSE. */
#define HWTDI_FRAME_LOOSE 0x10u
/* It stands for what is not traced. */
#define HWTDI_FRAME_AWAY 0x20u
/* See struct hwtdi_extent. */
#define HWTDI_FRAME_RESUMES 0x40u

/* Where a frame went on behind a call: setjmp(3) returns there once more. */
struct hwtdi_return_point {
	uint64_t address;
	/* Of the frame, and its index + 1; 0: free. */
	uint64_t id;
	uint32_t frame;
	uint32_t stack;
};

#define HWTDI_RETURN_POINTS 256u

struct hwtdi_stack {
	struct hwtdi_frame *frames;
	size_t n, cap;
	uint32_t id;
	/* Of the frame at the bottom. */
	int32_t depth;
	/* Index + 1 of the highest far frame. */
	uint32_t far;
	/* So many at the bottom may have ended in a gap: nothing tells yet. */
	size_t unproven;
	/* Between so many there may be calls that a gap hid. */
	size_t doubtful;
	/* When it began, or the thread did. */
	uint64_t begin_ns;
	uint64_t begin_insns;
	uint32_t begin_flags;
	/* All that was so far, for callers that become known later. */
	struct hwtdi_frame all;
	/* Of those that wait: neighbours by when they were left, + 1. */
	uint32_t older, newer;
	bool used;
};

/* Where rows go: borrowed only while the call lasts. */
typedef int hwtdi_call_fn(void *arg, const struct hwtd_call *row,
    struct hwtd_error *err);

/* What all threads share. */
struct hwtdi_call_rules {
	struct hwtd_context *library;
	hwtdi_extent_fn *extent;
	hwtdi_call_fn *put;
	void *arg;
	bool enters, gaps;
	size_t max_frames, max_stacks;
	/* The next number, and those that a limit ended. */
	uint64_t next_id;
	uint64_t limited;
};

struct hwtdi_call_thread {
	struct hwtdi_call_rules *rules;
	uint32_t no;
	struct hwtdi_stack *stacks;
	size_t n_stacks, cap_stacks;
	/* Index of the one that runs. */
	uint32_t current;
	/* Those that wait: the one left first, and the last; + 1. */
	uint32_t oldest, newest;
	size_t n_waiting;
	uint32_t next_stack;
	/* Frames of all of them. */
	size_t n_frames;
	/*
	 * What searches that find nothing may still cost: each call pays in, so
	 * that a trace cannot make every return a search through a deep stack.
	 */
	uint32_t credit;

	bool started, has_time;
	uint64_t first_ns, last_ns;
	/* Executed so far. */
	uint64_t insns;
	/* The quality of `last_ns`: HWTDI_STEP_* bits. */
	uint32_t last_flags;
	/* It does not run. */
	bool out;
	/* A gap of which the end is not known yet; what is to be told of it. */
	bool in_gap;
	/* Time in no call. */
	uint64_t nobody_ns;
	uint64_t gap_ns, gap_bytes, gap_insns;
	uint32_t gap_context;
	uint32_t gap_reason;
	struct hwtdi_return_point points[HWTDI_RETURN_POINTS];
};

void hwtdi_call_thread_init(struct hwtdi_call_thread *t,
    struct hwtdi_call_rules *rules, uint32_t no);

/* HWTD_E_NOMEM, HWTD_E_LIMIT, or what a callback says. */
int hwtdi_call_thread_step(struct hwtdi_call_thread *t,
    const struct hwtdi_step *step, struct hwtd_error *err);

/* A place in a list of callers. */
struct hwtdi_caller {
	uint64_t address;
	uint32_t function;
};

/* Text: all calls there are, outermost first, at a sample. */
int hwtdi_call_thread_sample(struct hwtdi_call_thread *t,
    const struct hwtdi_step *step, const struct hwtdi_caller *callers,
    size_t n, struct hwtd_error *err);

/* The end: rows of all calls that are open, deepest first. */
int hwtdi_call_thread_end(struct hwtdi_call_thread *t, struct hwtd_error *err);

void hwtdi_call_thread_fini(struct hwtdi_call_thread *t);

#endif /* HWTDI_CALL_STACK_H */
