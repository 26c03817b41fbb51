/*
 * The libipt engine: code bytes for libipt, and its blocks as tokens.
 */
#include <string.h>

#include "decode/code/x86_insn.h"
#include "decode/pt/pt_libipt_internal.h"

uint8_t
hwtdi_ipt_isa(enum pt_exec_mode mode)
{
	switch (mode) {
	case ptem_16bit:
		return (HWTD_ISA_X86_16);
	case ptem_32bit:
		return (HWTD_ISA_X86_32);
	case ptem_64bit:
		return (HWTD_ISA_X86_64);
	default:
		return (HWTD_ISA_UNKNOWN);
	}
}

static bool
is_kernel(uint64_t ip)
{
	return (ip >> 63 != 0);
}

/* Ask the code source; of several answers take the one that fits. */
static int
ask(struct hwtdi_decoder *d, uint64_t ip)
{
	struct hwtdi_code_query query = {
		.context = &d->context,
		.stream_off = d->segment.stream_off + d->asked_off,
		.has_count = (d->asked_flags & HWTDI_ANCHOR_TIME) != 0,
		.count = d->asked_count,
		.moments = d->moments,
		.chosen = d->chosen,
		.n_chosen = d->n_chosen,
	};
	int rc;

	rc = d->code.find(d->code.arg, &query, ip, &d->span);
	if (rc == HWTD_E_STATE && (!d->trial || d->here < d->question)) {
		/* Records can be incomplete; what was known is not sure. */
		d->moments.space = HWTD_NO_ID;
		query.moments = d->moments;
		rc = d->code.find(d->code.arg, &query, ip, &d->span);
	}
	if (rc == HWTD_END) {
		rc = hwtdi_ipt_choose(d, &query, ip);
		if (rc != HWTD_OK)
			return (rc);
		query.n_chosen = d->n_chosen;
		rc = d->code.find(d->code.arg, &query, ip, &d->span);
	}
	if (rc != HWTD_OK && rc != HWTD_END)
		return (rc);
	d->moments = d->span.moments;
	/* The kernel can start another program. */
	if (is_kernel(ip))
		d->moments.until = UINT64_MAX;
	return (HWTD_OK);
}

bool
hwtdi_ipt_find_span(struct hwtdi_decoder *d, uint64_t ip)
{
	int rc;

	if (ip - d->span.address < d->span.length)
		return (true);
	rc = ask(d, ip);
	if (rc == HWTD_OK)
		return (true);
	d->span.length = 0;
	d->ambiguous = rc == HWTD_E_STATE;
	d->unread = rc == HWTD_E_UNSUPPORTED;
	d->missing = true;
	d->missing_ip = ip;
	return (false);
}

size_t
hwtdi_ipt_read_code(struct hwtdi_decoder *d, uint64_t ip, uint8_t *buf,
    size_t n)
{
	size_t have = 0;

	while (have < n && hwtdi_ipt_find_span(d, ip + have)) {
		uint64_t skip = ip + have - d->span.address;
		uint64_t left = d->span.length - skip;
		size_t take = n - have < left ? n - have : (size_t)left;

		memcpy(buf + have, d->span.bytes + skip, take);
		have += take;
	}
	return (have);
}

int
hwtdi_ipt_read_memory(uint8_t *buf, size_t n, const struct pt_asid *asid,
    uint64_t ip, void *context)
{
	struct hwtdi_decoder *d = context;
	uint64_t skip = ip - d->span.address;
	size_t have;

	(void)asid;
	d->read_ip = ip;
	d->missing = false;
	if (skip < d->span.length && d->span.length - skip >= n) {
		const uint8_t *bytes = d->span.bytes + skip;

		/* What libipt asks for most, without a call. */
		if (n == HWTDI_X86_MAX_LENGTH)
			memcpy(buf, bytes, HWTDI_X86_MAX_LENGTH);
		else
			memcpy(buf, bytes, n);
		return ((int)n);
	}
	have = hwtdi_ipt_read_code(d, ip, buf, n);
	return (have == 0 ? -pte_nomap : (int)have);
}

static int
put_run(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtdi_run *run, struct hwtd_error *err)
{
	uint32_t token;
	int rc;

	token = hwtdi_code_table_find(d->table, run->ip, run->last_ip,
	    run->section, run->split, run->isa,
	    run->flags & HWTDI_RUN_SPECULATIVE);
	if (token == UINT32_MAX) {
		rc = hwtdi_code_table_add(d->table, run, d->lengths, &token,
		    err);
		if (rc != HWTD_OK)
			return (rc);
	}
	flow->tokens[flow->n_tokens++] = token;
	return (HWTD_OK);
}

/* A number for bytes that are of several sections; not 0. */
static uint32_t
split_of(const uint8_t *bytes, size_t n)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return (hash | 1);
}

/*
 * Decode instructions of the block at hand from `left_ip` on, up to a branch,
 * the end of the section or of the block.  False if there is none.
 */
static bool
walk_run(struct hwtdi_decoder *d, struct hwtdi_run *run)
{
	uint8_t bytes[HWTDI_X86_MAX_LENGTH];
	struct hwtdi_x86_insn insn;
	uint64_t ip = d->left_ip, before = ip;
	uint64_t room, whole;

	memset(run, 0, sizeof(*run));
	if (!hwtdi_ipt_find_span(d, ip))
		return (false);
	run->ip = ip;
	run->section = d->span.section;
	run->isa = hwtdi_ipt_isa(d->block.mode);
	run->flags = d->block.speculative ? HWTDI_RUN_SPECULATIVE : 0;
	whole = d->span.length - (ip - d->span.address);
	room = whole;
	/* Runs that differ only in their start share what is behind this. */
	if (room > HWTDI_IPT_RUN_BYTES - ip % HWTDI_IPT_RUN_BYTES)
		room = HWTDI_IPT_RUN_BYTES - ip % HWTDI_IPT_RUN_BYTES;
	do {
		size_t n = hwtdi_ipt_read_code(d, ip, bytes, sizeof(bytes));

		if (!hwtdi_x86_decode(bytes, n, run->isa, ip, &insn))
			break;
		d->lengths[run->insns++] = insn.length;
		run->bytes += insn.length;
		before = run->last_ip;
		run->last_ip = ip;
		ip += insn.length;
		d->left--;
	} while (d->left > 0 && insn.branch == HWTD_BRANCH_NONE &&
	    run->bytes < room);
	d->left_ip = ip;
	if (run->insns == 0)
		return (false);
	if (d->unfinished && d->left == 0 &&
	    hwtdi_loop_needs_trace(insn.branch)) {
		run->insns--;
		run->bytes -= insn.length;
		run->last_ip = before;
		return (true);
	}
	if (run->bytes > whole)
		run->split = split_of(bytes, insn.length);
	run->branch = insn.branch;
	if (insn.branch != HWTD_BRANCH_NONE && insn.direct) {
		run->target = insn.target;
		run->flags |= HWTDI_RUN_DIRECT;
		if (insn.branch != HWTD_BRANCH_CONDITIONAL)
			d->left_ip = insn.target;
	}
	return (true);
}

/* The loop rule for the token put last. */
static int
check_loop(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t *reason_out, struct hwtd_error *err)
{
	uint32_t token = flow->tokens[flow->n_tokens - 1];
	const struct hwtdi_run *run = &d->table->runs[token];
	int rc = hwtdi_loop_step(&d->loop, run, err);

	if (rc == HWTD_END || rc == HWTD_E_LIMIT) {
		flow->n_tokens--;
		*reason_out = rc == HWTD_END ? HWTD_GAP_ENDLESS_LOOP
					     : HWTD_GAP_LIMIT;
		rc = HWTD_END;
	} else if (rc == HWTD_OK) {
		d->last_ip = run->last_ip;
		d->has_last_ip = true;
		d->left_ip = (run->flags & HWTDI_RUN_DIRECT) != 0 &&
			run->branch != HWTD_BRANCH_CONDITIONAL
		    ? run->target
		    : run->ip + run->bytes;
	}
	return (rc);
}

/* A block of several runs is remembered as a chain, if it is short. */
#define MAX_CHAIN 16

static uint32_t
find_block(struct hwtdi_decoder *d, uint8_t flags)
{
	const struct pt_block *block = &d->block;

	if (block->speculative)
		flags |= HWTDI_RUN_SPECULATIVE;
	return (hwtdi_code_table_find(d->table, block->ip, block->end_ip,
	    d->span.section, 0, hwtdi_ipt_isa(block->mode), flags));
}

/* The code of runs that were met before is still what lies there. */
static bool
are_there(struct hwtdi_decoder *d, const uint32_t *tokens, size_t n)
{
	if (d->code.fixed)
		return (true);
	for (size_t i = 0; i < n; i++) {
		const struct hwtdi_run *run = &d->table->runs[tokens[i]];

		if (!hwtdi_ipt_find_span(d, run->ip) ||
		    run->section != d->span.section ||
		    run->bytes > d->span.length - (run->ip - d->span.address))
			return (false);
	}
	return (true);
}

/* The block at hand was met before: pass its tokens on.  HWTD_E_NOT_FOUND. */
static int
put_known_block(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t *reason_out, struct hwtd_error *err)
{
	uint32_t tokens[MAX_CHAIN];
	const struct hwtdi_run *chain;
	uint32_t insns = 0;
	size_t n = 1;
	int rc = HWTD_OK;

	if (d->left != d->block.ninsn || d->unfinished ||
	    !hwtdi_ipt_find_span(d, d->block.ip))
		return (HWTD_E_NOT_FOUND);
	tokens[0] = find_block(d, 0);
	if (tokens[0] != UINT32_MAX && !are_there(d, tokens, 1))
		tokens[0] = UINT32_MAX;
	if (tokens[0] == UINT32_MAX) {
		tokens[0] = find_block(d, HWTDI_RUN_CHAIN);
		if (tokens[0] != UINT32_MAX) {
			chain = &d->table->runs[tokens[0]];
			n = chain->insns / sizeof(tokens[0]);
			memcpy(tokens, d->table->lengths + chain->lengths,
			    chain->insns);
		}
	}
	if (tokens[0] == UINT32_MAX || (n > 1 && !are_there(d, tokens, n)))
		return (HWTD_E_NOT_FOUND);
	/* A block that goes round a loop starts and ends at the same places. */
	for (size_t i = 0; i < n; i++)
		insns += d->table->runs[tokens[i]].insns;
	if (insns != d->block.ninsn)
		return (HWTD_E_NOT_FOUND);
	d->left = 0;
	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		flow->tokens[flow->n_tokens++] = tokens[i];
		rc = check_loop(d, flow, reason_out, err);
	}
	return (rc);
}

/* Remember that the block at hand is these tokens. */
static int
add_chain(struct hwtdi_decoder *d, const uint32_t *tokens, size_t n,
    struct hwtd_error *err)
{
	struct hwtdi_run chain = d->table->runs[tokens[0]];
	uint32_t token;

	if (n < 2 || n > MAX_CHAIN)
		return (HWTD_OK);
	chain.last_ip = d->block.end_ip;
	chain.flags = (chain.flags & HWTDI_RUN_SPECULATIVE) | HWTDI_RUN_CHAIN;
	chain.split = 0;
	if (hwtdi_code_table_find(d->table, chain.ip, chain.last_ip,
		chain.section, chain.split, chain.isa,
		chain.flags) != UINT32_MAX)
		return (HWTD_OK);
	chain.insns = (uint32_t)(n * sizeof(tokens[0]));
	return (hwtdi_code_table_add(d->table, &chain, (const uint8_t *)tokens,
	    &token, err));
}

int
hwtdi_ipt_put_block(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    uint32_t *reason_out, struct hwtd_error *err)
{
	const struct pt_block *block = &d->block;
	bool whole = d->left == block->ninsn && !d->unfinished;
	size_t first = flow->n_tokens;
	struct hwtdi_run run;
	int rc;

	rc = put_known_block(d, flow, reason_out, err);
	if (rc != HWTD_E_NOT_FOUND)
		return (rc);
	rc = HWTD_OK;
	while (rc == HWTD_OK && d->left > 0 &&
	    flow->n_tokens < HWTDI_FLOW_TOKENS) {
		if (!walk_run(d, &run)) {
			d->read_ip = d->left_ip;
			*reason_out = d->span.length == 0 ? HWTD_GAP_NO_CODE
							  : HWTD_GAP_BAD_CODE;
			return (HWTD_END);
		}
		if (run.insns == 0)
			break;
		rc = put_run(d, flow, &run, err);
		if (rc == HWTD_OK)
			rc = check_loop(d, flow, reason_out, err);
	}
	if (rc == HWTD_OK && d->left == 0 && !d->unfinished &&
	    d->last_ip != block->end_ip) {
		/* Another length than libipt's: not to be trusted. */
		d->read_ip = block->end_ip;
		*reason_out = HWTD_GAP_BAD_CODE;
		rc = HWTD_END;
	}
	if (rc == HWTD_OK && whole && d->left == 0)
		rc = add_chain(d, flow->tokens + first, flow->n_tokens - first,
		    err);
	return (rc);
}
