/*
 * The text of AutoFDO: ranges of code, samples, of which there are none, and
 * branches, each with its count.
 *
 * A range is what was executed from where a branch led to up to the next one that
 * was taken.  It is not cut at others: AutoFDO takes of a range each byte up to
 * the first of the last instruction, so that cuts would weigh less.
 *
 * "N", N lines "start-last:count", "0", "M", M lines "from->to:count"; addresses
 * are hexadecimal and counted from the lowest segment.  It knows of no branch from
 * or to elsewhere.
 *
 * Source: AutoFDO 0.19, sample_reader.cc, profile.cc.
 */
#include <inttypes.h>

#include "export/compilers/code_export.h"

static bool
is_line(const struct hwtdi_code_branch *b)
{
	return (b->from_side == HWTDI_CODE_INSIDE &&
	    b->to_side == HWTDI_CODE_INSIDE);
}

static void
begin(struct hwtd_export *ex, struct hwtdi_code_export *s)
{
	(void)ex;
	hwtdi_code_profile_forget_origins(&s->profile, false);
	s->told.info.n_ranges = s->profile.n_flows;
	for (size_t i = 0; i < s->profile.n_branches; i++)
		s->told.info.n_branches += is_line(&s->profile.branches[i]);
}

static void
put_line(struct hwtd_export *ex, struct hwtdi_code_export *s, uint64_t a,
    const char *to, uint64_t b, uint64_t count)
{
	hwtdi_sink_format(&ex->sink, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n",
	    a - s->told.info.base, to, b - s->told.info.base,
	    hwtdi_code_export_count(s, count));
}

static bool
put(struct hwtd_export *ex, struct hwtdi_code_export *s, uint64_t line)
{
	const struct hwtdi_code_profile *p = &s->profile;

	if (line == 0) {
		hwtdi_sink_format(&ex->sink, "%zu\n", p->n_flows);
	} else if (line <= p->n_flows) {
		const struct hwtdi_code_flow *f = &p->flows[line - 1];

		put_line(ex, s, f->to, "-", f->last, f->count);
	} else if (line == p->n_flows + 1) {
		hwtdi_sink_format(&ex->sink, "0\n%" PRIu64 "\n",
		    s->told.info.n_branches);
	} else if (line - p->n_flows - 2 < p->n_branches) {
		const struct hwtdi_code_branch
		    *b = &p->branches[line - p->n_flows - 2];

		if (is_line(b))
			put_line(ex, s, b->from, "->", b->to, b->count);
	} else {
		return (false);
	}
	return (true);
}

static int
step(struct hwtd_export *ex, struct hwtd_error *err)
{
	static const struct hwtdi_code_writer writer = { .with_flows = true,
		.begin = begin,
		.put = put };

	return (hwtdi_code_export_step(ex, &writer, err));
}

const struct hwtdi_exporter_ops hwtdi_autofdo_ops = {
	.format = HWTD_FORMAT_AUTOFDO,
	.source = HWTD_SOURCE_RUNS,
	.name = "autofdo",
	.suffixes = ".afdo.txt",
	.viewer = "create_llvm_prof --profiler=text",
	.state_bytes = sizeof(struct hwtdi_code_export),
	.step = step,
	.close = hwtdi_code_export_close,
};
