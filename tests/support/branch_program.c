/*
 * A program of branches, and runs of it.
 */
#include "support/branch_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/random_program.h"

enum node {
	COND,
	DETOUR,
	INDIRECT,
	DIRECT
};

static enum node
kind_of(uint32_t node)
{
	if (node == BP_NODES - 1 || node % 7 == 3)
		return (INDIRECT);
	if (node % 7 == 5)
		return (DIRECT);
	return (node % 5 == 0 ? DETOUR : COND);
}

static uint32_t
target_of(uint32_t node)
{
	switch (kind_of(node)) {
	case DETOUR:
		return (BP_DETOURS + node * BP_DETOUR_BYTES);
	case DIRECT:
		return ((node + 3 < BP_NODES ? node + 3 : BP_NODES - 1) *
		    BP_NODE_BYTES);
	default:
		return ((node * 7 + 3) % BP_NODES * BP_NODE_BYTES);
	}
}

static void
put_rel32(uint8_t *code, uint32_t at, uint32_t to)
{
	const uint32_t rel = to - (at + 4);

	for (unsigned int i = 0; i < 4; i++)
		code[at + i] = (uint8_t)(rel >> (8 * i));
}

void
bp_code(uint8_t code[BP_CODE_BYTES])
{
	memset(code, 0x90, BP_CODE_BYTES);
	for (uint32_t node = 0; node < BP_NODES; node++) {
		const uint32_t at = node * BP_NODE_BYTES;
		const uint32_t detour = BP_DETOURS + node * BP_DETOUR_BYTES;

		switch (kind_of(node)) {
		case INDIRECT: /* jmp *%rax */
			code[at] = 0xff;
			code[at + 1] = 0xe0;
			break;
		case DIRECT: /* jmp */
			code[at] = 0xe9;
			put_rel32(code, at + 1, target_of(node));
			break;
		default: /* jnz */
			code[at] = 0x0f;
			code[at + 1] = 0x85;
			put_rel32(code, at + 2, target_of(node));
			break;
		}
		/* jnz .+2; jnz .+2; jmp to behind the branch */
		code[detour] = code[detour + 2] = 0x75;
		code[detour + 1] = code[detour + 3] = 0;
		code[detour + 4] = 0xe9;
		put_rel32(code, detour + 5, at + BP_COND_BYTES);
	}
}

static void
flush(struct branch_run *r)
{
	if (r->n_tnt != 0)
		pt_tnt(&r->packets, r->tnt);
	r->n_tnt = 0;
}

static void
outcome(struct branch_run *r, bool taken)
{
	if (r->dark)
		return;
	r->tnt[r->n_tnt++] = taken ? 'T' : 'N';
	r->tnt[r->n_tnt] = '\0';
	if (r->n_tnt == 6)
		flush(r);
}

static void
executed(struct branch_run *r, uint32_t start, uint32_t end)
{
	assert_true(r->n < BP_MOST_BLOCKS);
	r->blocks[r->n++] = (struct branch_block){ start, end };
}

static uint64_t
choice_of(const struct branch_plan *plan, uint32_t step)
{
	uint64_t random = plan->seed * 1000003 + step;

	(void)random_below(&random, 2);
	return (random_below(&random, UINT32_C(1) << 30));
}

static void
begin(struct branch_run *r, uint64_t ip)
{
	pt_psb(&r->packets);
	pt_tsc(&r->packets, 1000);
	pt_fup(&r->packets, PT_IP_48, ip);
	pt_mode_exec(&r->packets, 64);
	pt_psbend(&r->packets);
}

/* The begin of the gap and its end, where the run is at `ip`. */
static void
set_dark(struct branch_run *r, const struct branch_plan *plan, uint32_t step,
    uint32_t ip)
{
	if (plan->gap == plan->gap_end)
		return;
	if (step == plan->gap) {
		flush(r);
		r->dark = true;
		r->lost = r->n;
	}
	if (step == plan->gap_end) {
		r->dark = false;
		r->lost_end = r->n;
		pt_ovf(&r->packets);
		pt_fup(&r->packets, PT_IP_48, plan->base + ip);
	}
}

void
bp_run(struct branch_run *r, const struct branch_plan *plan)
{
	uint32_t ip = 0, quiet = 0;

	memset(r, 0, sizeof(*r));
	begin(r, plan->base);
	for (uint32_t step = 0; step < plan->steps; step++) {
		const uint64_t choice = choice_of(plan, step);
		const bool flip = step == plan->flip;
		const uint32_t node = (ip + BP_NODE_BYTES - 1) / BP_NODE_BYTES;
		const uint32_t at = node * BP_NODE_BYTES;
		bool taken = (choice & 1) != 0;

		set_dark(r, plan, step, ip);
		switch (kind_of(node)) {
		case INDIRECT:
			executed(r, ip, at + 2);
			ip = (uint32_t)((choice + flip) % BP_NODES) *
			    BP_NODE_BYTES;
			if (r->dark)
				break;
			flush(r);
			pt_tip(&r->packets, PT_IP_48, plan->base + ip);
			break;
		case DIRECT:
			executed(r, ip, at + 5);
			ip = target_of(node);
			break;
		case DETOUR:
			executed(r, ip, at + BP_COND_BYTES);
			taken = flip ||
			    (plan->detour_of != 0 && step >= quiet &&
				choice / 2 % plan->detour_of == 0);
			/* The next one is not too near. */
			if (taken)
				quiet = step + 8;
			outcome(r, taken);
			ip = at + BP_COND_BYTES;
			if (!taken)
				break;
			executed(r, target_of(node), target_of(node) + 2);
			outcome(r, false);
			executed(r, target_of(node) + 2, target_of(node) + 4);
			outcome(r, false);
			executed(r, target_of(node) + 4, target_of(node) + 9);
			break;
		default:
			executed(r, ip, at + BP_COND_BYTES);
			taken = taken != flip;
			outcome(r, taken);
			ip = taken ? target_of(node) : at + BP_COND_BYTES;
			break;
		}
	}
	flush(r);
	pt_leave_at(&r->packets, plan->base + ip);
}

struct hwtd_trace *
bp_trace_in(struct hwtd_context *ctx, const struct branch_run *r,
    uint64_t base, const char *name, const uint8_t code[BP_CODE_BYTES])
{
	const struct hwtd_stream_desc desc = { .cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = name,
		.bytes = code,
		.n_bytes = BP_CODE_BYTES,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = base };
	struct hwtd_trace *trace = ctx != NULL ? mt_create_in(ctx)
					       : mt_create();

	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	(void)mt_stream(trace, &r->packets, &desc);
	return (mt_seal(trace));
}

struct hwtd_trace *
bp_trace(const struct branch_run *r, const struct branch_plan *plan)
{
	uint8_t code[BP_CODE_BYTES];

	bp_code(code);
	return (bp_trace_in(NULL, r, plan->base, "prog", code));
}
