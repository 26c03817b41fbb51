/*
 * The unsymbolized profile of llvm-profgen: ranges of code, then branches, each
 * with its count.
 *
 * "N", N lines "start-last:count", "M", M lines "from->to:count"; addresses are
 * hexadecimal and counted from the first executable segment, counts decimal.  A
 * branch from elsewhere comes from address 1, of which a place that is counted so
 * is a number below 0.
 *
 * Source: LLVM 22, llvm/tools/llvm-profgen/PerfReader.cpp.
 */
#include <inttypes.h>

#include "export/compilers/code_base.h"
#include "export/compilers/code_export.h"

/* What comes from elsewhere to one place is one line. */
static bool
is_line(const struct hwtdi_code_profile *p, size_t i)
{
	const struct hwtdi_code_branch *b = &p->branches[i];

	return (b->to_side == HWTDI_CODE_INSIDE &&
	    (i == 0 || b->from_side == HWTDI_CODE_INSIDE ||
		p->branches[i - 1].from_side == HWTDI_CODE_INSIDE ||
		p->branches[i - 1].to_side != HWTDI_CODE_INSIDE ||
		p->branches[i - 1].to != b->to));
}

static void
begin(struct hwtd_export *ex, struct hwtdi_code_export *s)
{
	(void)ex;
	s->told.info.n_ranges = s->profile.n_ranges;
	for (size_t i = 0; i < s->profile.n_branches; i++)
		s->told.info.n_branches += is_line(&s->profile, i);
}

static void
put_range(struct hwtd_export *ex, struct hwtdi_code_export *s,
    const struct hwtdi_code_range *r)
{
	const uint64_t base = s->told.info.base;

	hwtdi_sink_format(&ex->sink, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n",
	    r->start - base, r->last - base,
	    hwtdi_code_export_count(s, r->count));
}

static void
put_branch(struct hwtd_export *ex, struct hwtdi_code_export *s, size_t i)
{
	const struct hwtdi_code_profile *p = &s->profile;
	const struct hwtdi_code_branch *b = &p->branches[i];
	const bool inside = b->from_side == HWTDI_CODE_INSIDE;
	uint64_t count = b->count;

	if (!is_line(p, i))
		return;
	for (i++; !inside && i < p->n_branches && !is_line(p, i) &&
	     p->branches[i].to_side == HWTDI_CODE_INSIDE;
	     i++)
		count = hwtdi_sum(count, p->branches[i].count);
	hwtdi_sink_format(&ex->sink, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
	    (inside ? b->from : HWTDI_PROFGEN_EXTERNAL) - s->told.info.base,
	    b->to - s->told.info.base, hwtdi_code_export_count(s, count));
}

static bool
put(struct hwtd_export *ex, struct hwtdi_code_export *s, uint64_t line)
{
	const struct hwtdi_code_profile *p = &s->profile;

	if (line == 0)
		hwtdi_sink_format(&ex->sink, "%zu\n", p->n_ranges);
	else if (line <= p->n_ranges)
		put_range(ex, s, &p->ranges[line - 1]);
	else if (line == p->n_ranges + 1)
		hwtdi_sink_format(&ex->sink, "%" PRIu64 "\n",
		    s->told.info.n_branches);
	else if (line - p->n_ranges - 2 < p->n_branches)
		put_branch(ex, s, (size_t)(line - p->n_ranges - 2));
	else
		return (false);
	return (true);
}

static int
step(struct hwtd_export *ex, struct hwtd_error *err)
{
	static const struct hwtdi_code_writer writer = { .begin = begin,
		.put = put };

	return (hwtdi_code_export_step(ex, &writer, err));
}

const struct hwtdi_exporter_ops hwtdi_llvm_unsymbolized_ops = {
	.format = HWTD_FORMAT_LLVM_UNSYMBOLIZED,
	.source = HWTD_SOURCE_RUNS,
	.name = "llvm-unsymbolized",
	.suffixes = ".profgen.txt",
	.viewer = "llvm-profgen --unsymbolized-profile",
	.state_bytes = sizeof(struct hwtdi_code_export),
	.step = step,
	.close = hwtdi_code_export_close,
};
