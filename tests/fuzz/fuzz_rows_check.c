/*
 * What must hold for the rows of a stream, whatever its bytes are.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_rows.h"

bool
fuzz_row_is_code(const struct fuzz_row *row)
{
	return (row->e.kind == HWTD_EV_BLOCK || row->e.kind == HWTD_EV_INSN);
}

static void
check_gap(const struct hwtd_gap *gap, uint64_t bytes, uint64_t *last_end)
{
	FUZZ_CHECK(gap->reason < HWTD_GAP_REASONS, "gap reason %u",
	    gap->reason);
	FUZZ_CHECK(gap->first <= gap->end && gap->end <= bytes,
	    "gap [%" PRIu64 ", %" PRIu64 ") of %" PRIu64, gap->first, gap->end,
	    bytes);
	FUZZ_CHECK(gap->first >= *last_end,
	    "gap at %" PRIu64 " before %" PRIu64, gap->first, *last_end);
	FUZZ_CHECK(memchr(gap->text, '\0', sizeof(gap->text)) != NULL,
	    "text of a gap does not end");
	if (gap->end > gap->first)
		*last_end = gap->end;
}

static void
check_code(const struct hwtd_event *e)
{
	bool taken = (e->flags & HWTD_EVF_TARGET) != 0 &&
	    e->target != e->ip + e->bytes;

	FUZZ_CHECK(e->insns > 0 && e->bytes >= e->insns &&
		e->bytes <= 15 * (uint64_t)e->insns,
	    "%u instructions in %u bytes", e->insns, e->bytes);
	FUZZ_CHECK(e->kind == HWTD_EV_BLOCK || e->insns == 1,
	    "an instruction row of %u", e->insns);
	FUZZ_CHECK((e->flags & (HWTD_EVF_IP | HWTD_EVF_SECTION)) ==
		(HWTD_EVF_IP | HWTD_EVF_SECTION),
	    "code without address: flags %#x", e->flags);
	FUZZ_CHECK(((e->flags & HWTD_EVF_TAKEN) != 0) == taken,
	    "taken or not: flags %#x, %#" PRIx64 " to %#" PRIx64, e->flags,
	    e->ip, e->target);
	FUZZ_CHECK(e->branch <= HWTD_BRANCH_FAR_JUMP, "branch %u", e->branch);
	FUZZ_CHECK((e->flags & HWTD_EVF_ISA_MASK) >> HWTD_EVF_ISA_SHIFT <=
		HWTD_ISA_X86_64,
	    "ISA in %#x", e->flags);
}

static void
check_sums(const struct fuzz_rows *rows, const struct hwtd_stats *sum,
    uint64_t bytes)
{
	const struct hwtd_stats *s = &rows->stats;

	FUZZ_CHECK(s->bytes == bytes, "%" PRIu64 " bytes of %" PRIu64,
	    s->bytes, bytes);
	FUZZ_CHECK(s->insns == sum->insns, "%" PRIu64 " insns, not %" PRIu64,
	    s->insns, sum->insns);
	FUZZ_CHECK(s->gap_bytes == sum->gap_bytes,
	    "%" PRIu64 " bytes in gaps, not %" PRIu64, s->gap_bytes,
	    sum->gap_bytes);
	for (size_t i = 0; i < HWTD_EV_KINDS; i++)
		FUZZ_CHECK(s->kinds[i] == sum->kinds[i],
		    "kind %zu: %" PRIu64 " rows, not %" PRIu64, i, s->kinds[i],
		    sum->kinds[i]);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		FUZZ_CHECK(s->gaps[i] == sum->gaps[i] &&
			s->gap_bytes_by_reason[i] ==
			    sum->gap_bytes_by_reason[i],
		    "gaps of reason %zu", i);
	FUZZ_CHECK(s->has_time == sum->has_time &&
		(!s->has_time ||
		    (s->first_ns == sum->first_ns &&
			s->last_ns == sum->last_ns)),
	    "times: %u %" PRIu64 " %" PRIu64 ", not %u %" PRIu64 " %" PRIu64,
	    s->has_time, s->first_ns, s->last_ns, sum->has_time, sum->first_ns,
	    sum->last_ns);
}

bool
fuzz_rows_ordered(const struct fuzz_rows *rows)
{
	uint64_t last = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if ((rows->at[i].e.flags & HWTD_EVF_TIME) == 0)
			continue;
		if (rows->at[i].e.time_ns < last)
			return (false);
		last = rows->at[i].e.time_ns;
	}
	return (true);
}

static void
add_time(struct hwtd_stats *sum, uint64_t ns)
{
	if (!sum->has_time || ns < sum->first_ns)
		sum->first_ns = ns;
	if (!sum->has_time || ns > sum->last_ns)
		sum->last_ns = ns;
	sum->has_time = 1;
}

static void
add_gap(struct hwtd_stats *sum, const struct hwtd_gap *gap)
{
	sum->gap_bytes += gap->end - gap->first;
	sum->gaps[gap->reason]++;
	sum->gap_bytes_by_reason[gap->reason] += gap->end - gap->first;
}

void
fuzz_rows_check(const struct fuzz_rows *rows, uint64_t bytes, bool one_segment)
{
	struct hwtd_stats sum = { .size = sizeof(sum) };
	uint64_t off = 0, gap_end = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct fuzz_row *row = &rows->at[i];
		const struct hwtd_event *e = &row->e;

		FUZZ_CHECK(e->kind > 0 && e->kind < HWTD_EV_KINDS, "kind %u",
		    e->kind);
		FUZZ_CHECK(e->stream_off >= off && e->stream_off <= bytes,
		    "row %zu: offset %" PRIu64 " after %" PRIu64
		    " of %" PRIu64,
		    i, e->stream_off, off, bytes);
		off = e->stream_off;
		sum.kinds[e->kind]++;
		sum.insns += e->insns;
		if ((e->flags & HWTD_EVF_TIME) != 0)
			add_time(&sum, e->time_ns);
		if (fuzz_row_is_code(row))
			check_code(e);
		if (e->kind == HWTD_EV_GAP) {
			check_gap(&row->detail.gap, bytes, &gap_end);
			add_gap(&sum, &row->detail.gap);
		}
	}
	check_sums(rows, &sum, bytes);
	FUZZ_CHECK(!one_segment || fuzz_rows_ordered(rows), "time goes back");
}

void
fuzz_rows_check_code(const struct hwtd_trace *trace,
    const struct fuzz_rows *rows)
{
	uint8_t buf[15];

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_event *e = &rows->at[i].e;
		uint64_t last = e->ip + (e->bytes - 1);
		size_t n = 0;

		if (!fuzz_row_is_code(&rows->at[i]))
			continue;
		FUZZ_CHECK(hwtd_trace_read_code(trace, e->section, e->ip, buf,
			       sizeof(buf), &n) == HWTD_OK,
		    "no code at %#" PRIx64, e->ip);
		/* The last instruction may reach into the next section. */
		if (e->insns == 1 || e->bytes <= 15)
			continue;
		FUZZ_CHECK(hwtd_trace_read_code(trace, e->section, last - 15,
			       buf, 1, &n) == HWTD_OK,
		    "a block leaves its section before %#" PRIx64, last);
	}
}

/* Nothing in the trace was needed to pass this row. */
static bool
silent(const struct fuzz_row *row)
{
	return (row->e.kind == HWTD_EV_BLOCK &&
	    (row->e.branch == HWTD_BRANCH_NONE ||
		row->e.branch == HWTD_BRANCH_JUMP ||
		row->e.branch == HWTD_BRANCH_CALL));
}

void
fuzz_rows_check_loops(const struct fuzz_rows *rows)
{
	size_t chain = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_event *e = &rows->at[i].e;

		if (!silent(&rows->at[i])) {
			chain = i + 1;
			continue;
		}
		/* Long chains are looked through to a limit only. */
		for (size_t j = i > chain + 512 ? i - 512 : chain; j < i;
		     j++) {
			const struct hwtd_event *o = &rows->at[j].e;

			FUZZ_CHECK(o->ip != e->ip ||
				((o->flags ^ e->flags) & HWTD_EVF_ISA_MASK) !=
				    0,
			    "rows %zu and %zu pass %#" PRIx64
			    " and the trace said nothing between",
			    j, i, e->ip);
		}
	}
}

/* One block and the instruction rows from *at on. */
static void
check_block(const struct hwtd_event *block, const struct fuzz_rows *insns,
    size_t *at)
{
	const struct hwtd_event *e = NULL;
	uint64_t ip = block->ip;

	for (uint32_t i = 0; i < block->insns; i++) {
		FUZZ_CHECK(*at < insns->n, "too few instruction rows");
		e = &insns->at[(*at)++].e;
		FUZZ_CHECK(e->kind == HWTD_EV_INSN && e->ip == ip,
		    "kind %u at %#" PRIx64 " in block %#" PRIx64
		    ", not the instruction at %#" PRIx64,
		    e->kind, e->ip, block->ip, ip);
		FUZZ_CHECK(e->section == block->section &&
			e->context == block->context &&
			((e->flags ^ block->flags) &
			    (HWTD_EVF_ISA_MASK | HWTD_EVF_SPECULATIVE)) == 0,
		    "instruction %#" PRIx64 " is not like its block", e->ip);
		FUZZ_CHECK(i + 1 == block->insns ||
			e->branch == HWTD_BRANCH_NONE,
		    "branch inside of block %#" PRIx64, block->ip);
		ip += e->bytes;
	}
	FUZZ_CHECK(ip == block->ip + block->bytes,
	    "block %#" PRIx64 " of %u bytes ends at %#" PRIx64, block->ip,
	    block->bytes, ip);
	FUZZ_CHECK(e->branch == block->branch && e->target == block->target &&
		((e->flags ^ block->flags) &
		    (HWTD_EVF_TARGET | HWTD_EVF_TAKEN)) == 0,
	    "block %#" PRIx64 " and its last instruction end in two ways",
	    block->ip);
}

/*
 * Who is the first to show a time differs: instructions of a block that has
 * begun can be.
 */
static bool
same_but_estimated(const struct fuzz_row *a, const struct fuzz_row *b)
{
	struct fuzz_row x = *a, y = *b;

	x.e.flags &= (uint16_t)~HWTD_EVF_TIME_ESTIMATED;
	y.e.flags &= (uint16_t)~HWTD_EVF_TIME_ESTIMATED;
	return (memcmp(&x, &y, sizeof(x)) == 0);
}

void
fuzz_rows_check_levels(const struct fuzz_rows *blocks,
    const struct fuzz_rows *insns)
{
	size_t at = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		const struct fuzz_row *row = &blocks->at[i];

		if (row->e.kind == HWTD_EV_BLOCK) {
			check_block(&row->e, insns, &at);
			continue;
		}
		FUZZ_CHECK(at < insns->n &&
			same_but_estimated(row, &insns->at[at]),
		    "row %zu of kind %u differs between the levels", i,
		    row->e.kind);
		at++;
	}
	FUZZ_CHECK(at == insns->n, "%zu rows too many", insns->n - at);
	FUZZ_CHECK(blocks->stats.blocks == blocks->stats.kinds[HWTD_EV_BLOCK],
	    "%" PRIu64 " blocks counted", blocks->stats.blocks);
	FUZZ_CHECK(blocks->stats.blocks == insns->stats.blocks &&
		blocks->stats.insns == insns->stats.insns,
	    "blocks or instructions are counted differently");
}
