/*
 * Stacks of calls: what transfers of control make of them, case by case, as a
 * person says it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/calls/call_stack.h"
#include "support/failing_allocator.h"

/*
 * Functions with symbols: 0x1000 bytes each, "a" at 0x1000, "b" at 0x2000.  From
 * 0x100000 on there are none: what is called there is a function, "?".
 */
#define A 0x1000u
#define B 0x2000u
#define C 0x3000u
#define D 0x4000u
#define E 0x5000u
#define K 0xb000u
#define L 0xc000u
/* What unwinding goes on with, "u". */
#define RESUME 0x15000u
/* The part of a that is seldom executed. */
#define A_COLD 0x20000u
#define BARE 0x100000u
#define MORE 0x110000u

enum {
	FOUND = HWTDI_TRANSFER_ARRIVE,
	CALL = HWTDI_TRANSFER_CALL,
	RET = HWTDI_TRANSFER_RETURN,
	JMP = HWTDI_TRANSFER_JUMP,
	IJMP = HWTDI_TRANSFER_INDIRECT,
	FARCALL = HWTDI_TRANSFER_FAR_CALL,
	FARRET = HWTDI_TRANSFER_FAR_RETURN,
	IRQ = HWTDI_TRANSFER_INTERRUPT,
	FAULT = HWTDI_TRANSFER_EXCEPTION,
	OFF = HWTDI_TRANSFER_OFF,
	ON = HWTDI_TRANSFER_ON,
	GAP = HWTDI_TRANSFER_GAP,
	OUT = HWTDI_TRANSFER_OUT,
	IN = HWTDI_TRANSFER_IN,
	EXEC = HWTDI_TRANSFER_EXEC,
	/* OFF is where the step before led; this one is by an interrupt. */
	STOP = 100
};

/* A call instruction has 5 bytes, another one that calls 2. */
struct go {
	int what;
	/* 0: not known. */
	uint64_t from, to;
};

#define STEPS 24

struct recorder {
	char text[1u << 16];
	size_t n;
	uint64_t called[64];
	size_t n_called;
	/* Sums over rows, and what the last one of each kind was. */
	uint64_t self, gap, off;
	uint64_t open_rows;
	struct hwtd_call last;
	bool quiet;
};

static const char *
name_of(const struct hwtd_call *row, char *to)
{
	if (row->function == HWTDI_NO_FUNCTION)
		return ((row->flags & HWTD_CALLF_UNTRACED) != 0 ? "off" : "-");
	if (row->function >= 100)
		return ("?");
	to[0] = (char)('a' + row->function);
	to[1] = '\0';
	return (to);
}

static int
put(void *arg, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct recorder *r = arg;
	char name[2], end[32] = "";
	const char *type = "";

	(void)err;
	r->last = *row;
	if (row->kind == HWTD_CALL_LEAVE) {
		r->self += row->self_ns;
		r->gap += row->self_gap_ns;
		r->off += row->self_off_ns;
		if (row->end != HWTD_CALL_END_RETURN)
			(void)snprintf(end, sizeof(end), ".%s%s",
			    hwtd_call_end_name(row->end),
			    (row->flags & HWTD_CALLF_UNPROVEN) != 0 ? "?"
								    : "");
		r->open_rows--;
	} else if (row->kind == HWTD_CALL_ENTER) {
		r->open_rows++;
		if (row->type != HWTD_CALL_TYPE_CALL)
			type = hwtd_call_type_name(row->type);
	}
	if (r->quiet)
		return (HWTD_OK);
	if (row->kind == HWTD_CALL_GAP)
		assert_int_equal(row->end, HWTD_GAP_OVERFLOW);
	if (row->kind == HWTD_CALL_GAP)
		r->n += (size_t)snprintf(r->text + r->n,
		    sizeof(r->text) - r->n, "%sgap", r->n != 0 ? " " : "");
	else
		r->n += (size_t)snprintf(r->text + r->n,
		    sizeof(r->text) - r->n, "%s%c%s%s%s%s",
		    r->n != 0 ? " " : "",
		    row->kind == HWTD_CALL_ENTER ? '+' : '-',
		    name_of(row, name), type[0] != '\0' ? ":" : "", type, end);
	assert_true(r->n < sizeof(r->text));
	return (HWTD_OK);
}

static int
extent(void *arg, const struct hwtdi_step *step, bool called,
    struct hwtdi_extent *out, struct hwtd_error *err)
{
	struct recorder *r = arg;

	(void)err;
	if (step->to < BARE && step->to >= A) {
		out->function = (uint32_t)(step->to / 0x1000 - 1);
		out->first = step->to & ~(uint64_t)0xfff;
		out->end = out->first + 0x1000;
		out->at_start = step->to == out->first;
		out->is_cold = out->first == A_COLD;
		out->resumes = out->first == RESUME;
		out->family = out->is_cold ? 1 : out->function + 1;
		return (HWTD_OK);
	}
	for (size_t i = 0; i < r->n_called; i++) {
		if (r->called[i] == step->to) {
			out->function = 100 + (uint32_t)i;
			out->at_start = true;
			return (HWTD_OK);
		}
	}
	if (called && r->n_called < 64) {
		out->function = 100 + (uint32_t)r->n_called;
		out->at_start = true;
		r->called[r->n_called++] = step->to;
	}
	return (HWTD_OK);
}

static struct hwtdi_call_rules
rules_of(struct hwtd_context *ctx, struct recorder *r)
{
	return ((struct hwtdi_call_rules){ .library = ctx,
	    .extent = extent,
	    .put = put,
	    .arg = r,
	    .enters = true,
	    .gaps = true,
	    .max_frames = 1000,
	    .max_stacks = 8 });
}

/* Each takes 10 ns; a gap another 5. */
static struct hwtdi_step
step_of(const struct go *go, size_t no)
{
	struct hwtdi_step step = {
		.what = (uint32_t)(go->what == STOP ? OFF : go->what),
		.time_ns = 1000 + 10 * no,
		.insns = no == 0 ? 0 : 3,
		.from = go->from,
		.to = go->to,
		.from_section = HWTD_NO_ID,
		.to_section = HWTD_NO_ID,
		.flags = HWTDI_STEP_TIME
	};

	if (go->from != 0)
		step.flags |= HWTDI_STEP_FROM;
	if (go->to != 0)
		step.flags |= HWTDI_STEP_TO;
	if (go->what == CALL || go->what == FARCALL) {
		step.back = go->from + (go->what == CALL ? 5 : 2);
		step.flags |= HWTDI_STEP_BACK;
	}
	if (go->what == IRQ || go->what == FAULT || go->what == STOP) {
		step.back = go->from;
		step.flags |= HWTDI_STEP_BACK;
	}
	if (go->what == STOP)
		step.flags |= HWTDI_STEP_ASYNC;
	if (go->what == OFF)
		step.flags |= HWTDI_STEP_LED_OUT;
	if (go->what == GAP) {
		step.until_ns = step.time_ns + 5;
		step.flags |= HWTDI_STEP_UNTIL;
		step.gap_bytes = 7;
		step.gap_reason = HWTD_GAP_OVERFLOW;
	}
	return (step);
}

struct run {
	struct hwtd_context *ctx;
	struct recorder r;
	struct hwtdi_call_rules rules;
	struct hwtdi_call_thread thread;
};

static struct run *
new_run(void)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	assert_int_equal(hwtd_context_create(NULL, &run->ctx, NULL), HWTD_OK);
	run->rules = rules_of(run->ctx, &run->r);
	hwtdi_call_thread_init(&run->thread, &run->rules, 0);
	return (run);
}

static void
end_run(struct run *run)
{
	hwtdi_call_thread_fini(&run->thread);
	hwtd_context_destroy(run->ctx);
	free(run);
}

static void
take(struct run *run, const struct go *steps, size_t n, size_t first)
{
	for (size_t i = 0; i < n; i++) {
		const struct hwtdi_step step = step_of(&steps[i], first + i);

		assert_int_equal(hwtdi_call_thread_step(&run->thread, &step,
				     NULL),
		    HWTD_OK);
	}
}

static const struct {
	const char *name;
	struct go steps[STEPS];
	const char *want;
} cases[] = {
	{ "calls and returns",
	    { { FOUND, 0, A }, { CALL, A + 8, B }, { CALL, B + 4, C },
		{ RET, C + 9, B + 9 }, { RET, B + 10, A + 13 } },
	    "+a:found +b +c -c -b -a.open" },
	{ "the same call again is another one",
	    { { FOUND, 0, A }, { CALL, A + 8, B }, { RET, B, A + 13 },
		{ CALL, A + 8, B }, { RET, B, A + 13 } },
	    "+a:found +b -b +b -b -a.open" },
	{ "recursion ends level by level",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B + 1, B },
		{ CALL, B + 1, B }, { RET, B, B + 6 }, { RET, B, B + 6 },
		{ RET, B, A + 5 } },
	    "+a:found +b +b +b -b -b -b -a.open" },
	{ "a jump to a function is a tail call: it returns to the caller",
	    { { FOUND, 0, A }, { CALL, A, B }, { JMP, B + 3, C },
		{ RET, C + 1, A + 5 } },
	    "+a:found +b -b.tail +c:tail -c -a.open" },
	{ "f tail-calls g, g calls f: no recursion is made up",
	    { { FOUND, 0, A }, { CALL, A, B }, { JMP, B + 3, C },
		{ CALL, C + 1, B }, { JMP, B + 3, C }, { RET, C, C + 6 },
		{ RET, C, A + 5 } },
	    "+a:found +b -b.tail +c:tail +b -b.tail +c:tail -c -c -a.open" },
	{ "jumps within a function are none",
	    { { FOUND, 0, A }, { CALL, A, B }, { JMP, B + 3, B + 9 },
		{ JMP, B + 12, B }, { IJMP, B + 12, B + 40 },
		{ RET, B, A + 5 } },
	    "+a:found +b -b -a.open" },
	{ "code of a function that lies elsewhere is no other one",
	    { { FOUND, 0, A }, { CALL, A, B }, { RET, B, A + 5 },
		{ JMP, A + 8, A_COLD }, { CALL, A_COLD + 4, B },
		{ RET, B, A_COLD + 9 }, { JMP, A_COLD + 12, A + 16 } },
	    "+a:found +b -b +b -b -a.open" },
	{ "an exception goes on in such a part of a caller",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B, K },
		{ IJMP, K + 4, A_COLD + 0x10 }, { CALL, A_COLD + 0x20, D },
		{ RET, D, A_COLD + 0x25 }, { JMP, A_COLD + 0x28, A + 0x40 } },
	    "+a:found +b +k -k.unwound -b.unwound +d -d -a.open" },
	{ "a stub of the PLT jumps to the function and is left by its return",
	    { { FOUND, 0, A }, { CALL, A, D }, { IJMP, D, B },
		{ RET, B, A + 5 } },
	    "+a:found +d -d.tail +b:tail -b -a.open" },
	{ "code that asks for its own address calls nothing",
	    { { FOUND, 0, A }, { CALL, A, A + 5 }, { CALL, A + 6, B },
		{ RET, B, A + 11 } },
	    "+a:found +b -b -a.open" },
	{ "a return that jumps to a function, as retpolines do",
	    { { FOUND, 0, A }, { CALL, A, D }, { CALL, D + 1, D + 16 },
		{ RET, D + 20, B }, { RET, B + 2, A + 5 } },
	    "+a:found +d +d -d -d.tail +b:tail -b -a.open" },
	{ "retpolines without symbols",
	    { { FOUND, 0, BARE }, { CALL, BARE, MORE },
		{ CALL, MORE + 1, MORE + 16 }, { RET, MORE + 20, MORE + 512 },
		{ CALL, MORE + 530, MORE + 256 },
		{ RET, MORE + 260, MORE + 535 },
		{ RET, MORE + 540, BARE + 5 } },
	    "+-:found +? +? -? +? -? -? --.open" },
	{ "a jump within a function by a retpoline",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B + 8, D },
		{ CALL, D + 1, D + 16 }, { RET, D + 20, B + 0x80 },
		{ CALL, B + 0x90, C }, { RET, C, B + 0x95 },
		{ RET, B + 0x99, A + 5 } },
	    "+a:found +b +d +d -d -d.unwound +c -c -b -a.open" },
	{ "a thunk that returns for a function",
	    { { FOUND, 0, A }, { CALL, A, B }, { JMP, B + 4, D },
		{ CALL, D, D + 16 }, { RET, D + 20, A + 5 } },
	    "+a:found +b -b.tail +d:tail +d -d -d -a.open" },
	{ "such a thunk in a trace that starts deep",
	    { { FOUND, 0, B + 8 }, { JMP, B + 9, D }, { CALL, D, D + 16 },
		{ RET, D + 20, A + 5 } },
	    "+b:found -b.tail +d:tail +d -d -d +a:found -a.open" },
	{ "a function close behind that calls others is no such thunk",
	    { { FOUND, 0, BARE }, { CALL, BARE, BARE + 24 },
		{ CALL, BARE + 26, MORE }, { RET, MORE, BARE + 31 },
		{ RET, BARE + 33, MORE + 640 } },
	    "+-:found +? +? -? +-:found --.open -?.open --.open" },
	{ "push and ret to a function that returns to the caller",
	    { { FOUND, 0, A }, { CALL, A, D }, { RET, D + 4, B },
		{ RET, B, A + 5 } },
	    "+a:found +d -d.tail +b:tail -b -a.open" },
	{ "longjmp to where setjmp had returned",
	    { { FOUND, 0, A }, { CALL, A, K }, { RET, K, A + 5 },
		{ CALL, A + 9, B }, { CALL, B, C }, { CALL, C, L },
		{ IJMP, L + 8, A + 5 }, { CALL, A + 9, D },
		{ RET, D, A + 14 } },
	    "+a:found +k -k +b +c +l -l.unwound -c.unwound -b.unwound +d -d "
	    "-a.open" },
	{ "longjmp by a return",
	    { { FOUND, 0, A }, { CALL, A, K }, { RET, K, A + 5 },
		{ CALL, A + 9, B }, { CALL, B, L }, { RET, L + 8, A + 5 } },
	    "+a:found +k -k +b +l -l.unwound -b.unwound -a.open" },
	{ "longjmp in code without symbols",
	    { { FOUND, 0, BARE }, { CALL, BARE, MORE },
		{ RET, MORE, BARE + 5 }, { CALL, BARE + 9, MORE + 64 },
		{ CALL, MORE + 70, MORE + 128 },
		{ IJMP, MORE + 130, BARE + 5 } },
	    "+-:found +? -? +? +? -?.unwound -?.unwound --.open" },
	{ "an exception goes on in a handler of a caller",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B, C }, { CALL, C, K },
		{ IJMP, K + 4, A + 0x80 }, { CALL, A + 0x90, D },
		{ RET, D, A + 0x95 } },
	    "+a:found +b +c +k -k.unwound -c.unwound -b.unwound +d -d "
	    "-a.open" },
	{ "unwinding goes on in the next one of a function that calls itself",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B + 4, B },
		{ CALL, B + 4, B }, { CALL, B + 8, K },
		/* The first handler is in the one that throws. */
		{ IJMP, K + 4, B + 0x40 }, { CALL, B + 0x48, RESUME },
		{ RET, RESUME + 9, B + 0x40 }, { CALL, B + 0x48, RESUME },
		{ IJMP, RESUME + 9, B + 0x40 }, { CALL, B + 0x48, RESUME },
		{ RET, RESUME + 9, A + 0x80 } },
	    "+a:found +b +b +b +k -k.unwound +u -u.unwound -b.unwound "
	    "+u -u.unwound -b.unwound +u -u.unwound -b.unwound -a.open" },
	{ "unwinding goes on right behind where it was called",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B + 4, B },
		{ CALL, B + 0x48, RESUME }, { RET, RESUME + 9, B + 0x4d } },
	    "+a:found +b +b +u -u.unwound -b.unwound -b.open -a.open" },
	{ "an interrupt is a call of its own, over with its return",
	    { { FOUND, 0, A }, { CALL, A, B }, { IRQ, B + 7, K },
		{ CALL, K, L }, { RET, L, K + 5 }, { FARRET, K + 9, B + 7 },
		{ RET, B + 9, A + 5 } },
	    "+a:found +b +k:interrupt +l -l -k.far-return -b "
	    "-a.open" },
	{ "an exception in an interrupt",
	    { { FOUND, 0, A }, { IRQ, A + 7, K }, { FAULT, K + 3, L },
		{ FARRET, L, K + 3 }, { FARRET, K + 9, A + 7 } },
	    "+a:found +k:interrupt +l:exception -l.far-return "
	    "-k.far-return -a.open" },
	{ "the handler of an interrupt does not return by itself",
	    { { FOUND, 0, A }, { IRQ, A + 7, K }, { CALL, K, L },
		{ FARRET, L + 4, A + 7 } },
	    "+a:found +k:interrupt +l -l.unwound -k.far-return "
	    "-a.open" },
	{ "a system call and its return",
	    { { FOUND, 0, A }, { FARCALL, A + 4, K }, { CALL, K, L },
		{ RET, L, K + 5 }, { FARRET, K + 8, A + 6 } },
	    "+a:found +k:syscall +l -l -k.far-return -a.open" },
	{ "a system call that is started again goes on at itself",
	    { { FOUND, 0, A }, { FARCALL, A + 4, K }, { FARRET, K + 8, A + 4 },
		{ FARCALL, A + 4, K }, { FARRET, K + 8, A + 6 } },
	    "+a:found +k:syscall -k.far-return +k:syscall "
	    "-k.far-return -a.open" },
	{ "a signal: the kernel goes to a handler, and back by sigreturn",
	    { { FOUND, 0, A }, { IRQ, A + 7, K }, { FARRET, K + 8, B },
		{ CALL, B, C }, { RET, C, B + 5 }, { RET, B + 9, D + 0x10 },
		{ FARCALL, D + 0x17, K }, { FARRET, K + 8, A + 7 } },
	    "+a:found +k:interrupt -k.far-return +b:signal +c -c "
	    "+k:syscall -k.unwound -b.far-return -a.open" },
	{ "a signal in a system call that is not traced",
	    { { FOUND, 0, A }, { FARCALL, A + 4, 0 }, { OFF, 0, 0 },
		{ ON, 0, B }, { RET, B + 9, D + 0x10 },
		{ FARCALL, D + 0x17, 0 }, { OFF, 0, 0 }, { ON, 0, A + 6 } },
	    "+a:found +off:syscall -off.far-return +b:signal "
	    "+off:syscall -off.unwound -b.far-return "
	    "-a.open" },
	{ "a system call of a trace without the kernel",
	    { { FOUND, 0, A }, { FARCALL, A + 4, 0 }, { OFF, 0, 0 },
		{ ON, 0, A + 6 }, { CALL, A + 9, B } },
	    "+a:found +off:syscall -off.far-return +b -b.open "
	    "-a.open" },
	{ "an interrupt of a trace without the kernel",
	    { { FOUND, 0, A }, { CALL, A, B }, { STOP, B + 7, 0 },
		{ ON, 0, B + 7 }, { RET, B + 9, A + 5 } },
	    "+a:found +b +off:interrupt -off.far-return -b "
	    "-a.open" },
	{ "a call out of what is traced",
	    { { FOUND, 0, A }, { CALL, A, MORE }, { OFF, 0, 0 },
		{ ON, 0, A + 5 }, { CALL, A + 9, B }, { RET, B, A + 14 } },
	    "+a:found +? -? +b -b -a.open" },
	{ "code that is not traced calls back",
	    { { FOUND, 0, A }, { CALL, A, MORE }, { OFF, 0, 0 }, { ON, 0, B },
		{ RET, B + 3, MORE + 77 }, { OFF, 0, 0 }, { ON, 0, A + 5 } },
	    "+a:found +? +b:found -b -? -a.open" },
	{ "a trace that starts deep finds its callers by returns",
	    { { FOUND, 0, C + 7 }, { RET, C + 9, B + 0x20 },
		{ RET, B + 0x29, A + 0x30 }, { CALL, A + 0x30, D } },
	    "+c:found -c +b:found -b +a:found +d -d.open "
	    "-a.open" },
	{ "calls outlive a gap if their returns come",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B, C }, { GAP, 0, 0 },
		{ FOUND, 0, C + 0x20 }, { RET, C + 0x29, B + 5 },
		{ RET, B + 9, A + 5 } },
	    "+a:found +b +c gap -c -b -a.open" },
	{ "what a gap ended is told when a return is to a caller of it",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B, C }, { GAP, 0, 0 },
		{ FOUND, 0, D + 0x20 }, { RET, D + 0x29, A + 5 } },
	    "+a:found +b +c gap +d:found -d -c.gap -b -a.open" },
	{ "a gap ends in a caller: what was above has ended",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B, C }, { GAP, 0, 0 },
		{ FOUND, 0, A + 0x20 }, { CALL, A + 0x20, D } },
	    "+a:found +b +c gap -c.gap -b.gap +d -d.open -a.open" },
	{ "nothing shows that calls outlived a gap",
	    { { FOUND, 0, A }, { CALL, A, B }, { GAP, 0, 0 },
		{ FOUND, 0, D + 0x20 } },
	    "+a:found +b gap +d:found -d.open -b.open? -a.open?" },
	{ "nor do returns of calls that began behind it",
	    { { FOUND, 0, A }, { CALL, A, B }, { GAP, 0, 0 },
		{ FOUND, 0, D + 0x20 }, { CALL, D + 0x20, C },
		{ RET, C, D + 0x25 } },
	    "+a:found +b gap +d:found +c -c -d.open -b.open? -a.open?" },
	{ "a call of code that is not there is over behind it",
	    { { FOUND, 0, BARE }, { CALL, BARE, MORE }, { GAP, 0, 0 },
		{ FOUND, 0, MORE + 0x40 }, { GAP, 0, 0 },
		{ FOUND, 0, BARE + 5 }, { CALL, BARE + 9, MORE + 0x80 },
		{ GAP, 0, 0 }, { FOUND, 0, BARE + 14 } },
	    "+-:found +? gap +-:found gap --.gap -?.gap +? gap -?.gap "
	    "--.open" },
	{ "so is a system call, and what called code that is not there",
	    { { FOUND, 0, BARE }, { FARCALL, BARE + 4, K }, { GAP, 0, 0 },
		{ FOUND, 0, BARE + 6 }, { CALL, BARE + 9, MORE },
		{ CALL, MORE + 4, MORE + 0x80 }, { GAP, 0, 0 },
		{ FOUND, 0, BARE + 14 } },
	    "+-:found +k:syscall gap -k.gap +? +? gap -?.gap -?.gap "
	    "--.open" },
	{ "a gap may have ended calls of stacks that waited, too",
	    { { FOUND, 0, A }, { CALL, A, K }, { RET, K + 9, B + 0x40 },
		{ GAP, 0, 0 }, { FOUND, 0, B + 0x50 } },
	    "+a:found +k +b:found gap -b.open -k.open? -a.open?" },
	{ "a gap in a system call that is not traced: it may be over",
	    { { FOUND, 0, A }, { CALL, A, B }, { FARCALL, B + 4, 0 },
		{ OFF, 0, 0 }, { GAP, 0, 0 }, { ON, 0, D + 0x40 },
		{ CALL, D + 0x40, C } },
	    "+a:found +b +off:syscall gap -off.gap +d:found +c -c.open "
	    "-d.open -b.open? -a.open?" },
	{ "a gap in an interrupt: it may be over",
	    { { FOUND, 0, A }, { CALL, A, B }, { IRQ, B + 7, K },
		{ GAP, 0, 0 }, { FOUND, 0, K + 9 },
		{ FARRET, K + 10, A + 0x60 }, { CALL, A + 0x60, C } },
	    "+a:found +b +k:interrupt gap -k.gap -b.gap +c -c.open "
	    "-a.open" },
	{ "returns behind a gap that fit no call find new callers",
	    { { FOUND, 0, A }, { CALL, A, B }, { GAP, 0, 0 },
		{ FOUND, 0, D + 0x20 }, { RET, D + 0x21, E + 0x30 },
		{ RET, E + 0x33, A + 5 } },
	    "+a:found +b gap +d:found -d +e:found -e -b "
	    "-a.open" },
	{ "calls that a gap hid are found when execution comes back to them",
	    /* In the gap b called itself at b + 0x40, and that c as before. */
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B, C }, { GAP, 0, 0 },
		{ FOUND, 0, C + 0x20 }, { RET, C + 0x29, B + 5 },
		{ RET, B + 0x90, B + 0x45 }, { CALL, B + 0x50, D },
		{ RET, D, B + 0x55 }, { RET, B + 0x90, A + 5 } },
	    "+a:found +b +c gap -c -b +b:found +d -d -b -a.open" },
	{ "two stacks that take turns: each return finds its own",
	    { { FOUND, 0, A }, { CALL, A, K },
		/* The first time the other one is not known. */
		{ RET, K + 9, B + 0x40 }, { CALL, B + 0x40, K },
		{ RET, K + 9, A + 5 }, { CALL, A + 5, K },
		{ RET, K + 9, B + 0x45 }, { CALL, B + 0x45, C },
		{ RET, C, B + 0x4a } },
	    "+a:found +k +b:found +k -k +k -k +c -c -b.open -k.open "
	    "-a.open" },
	{ "Go: a jump back to behind the call of mcall",
	    { { FOUND, 0, A }, { CALL, A, B }, { CALL, B, K }, { CALL, K, C },
		{ CALL, C, D }, { IJMP, D + 9, B + 5 },
		{ RET, B + 9, A + 5 } },
	    "+a:found +b +k +c +d -d.unwound -c.unwound -k -b -a.open" },
	{ "exec ends all",
	    { { FOUND, 0, A }, { CALL, A, B }, { FARCALL, B, 0 },
		{ EXEC, 0, 0 }, { FOUND, 0, C } },
	    "+a:found +b +off:syscall -off.exec -b.exec "
	    "-a.exec +c:found -c.open" },
	{ "the kernel was found running: its end is the end of the system "
	  "call",
	    { { FOUND, 0, L + 4 }, { CALL, L + 8, K }, { RET, K, L + 13 },
		{ FARRET, L + 20, A + 6 }, { CALL, A + 8, B } },
	    "+l:found +k -k -l +a:found +b -b.open -a.open" },
};

static void
steps_make_the_stacks_that_a_person_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run *run = new_run();
		size_t n = 0;

		print_message("case %s\n", cases[i].name);
		while (n < STEPS &&
		    (n == 0 || cases[i].steps[n].what != 0 ||
			cases[i].steps[n].to != 0))
			n++;
		take(run, cases[i].steps, n, 0);
		assert_int_equal(hwtdi_call_thread_end(&run->thread, NULL),
		    HWTD_OK);
		assert_string_equal(run->r.text, cases[i].want);
		assert_int_equal(run->r.open_rows, 0);
		/* All time is of one call, or in a gap. */
		assert_int_equal(run->r.self + run->r.gap + run->r.off,
		    run->thread.last_ns - run->thread.first_ns -
			run->thread.nobody_ns);
		end_run(run);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_make_the_stacks_that_a_person_says),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
