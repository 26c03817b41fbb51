/*
 * The pre-aggregated profile of BOLT, as perf2bolt -pa reads it: what it is now,
 * and what versions before 20 read.
 *
 *   T from to last count   a branch was taken, and execution went on up to `last`
 *   R from to last count   the same of a return; from 0: it is elsewhere
 *   F start last count     went on so, nobody knows from where
 *   f start last count     the same behind a call that returned, or elsewhere
 *   B from to count 0      a branch, of which it is not known how it went on; the
 *                          last number is how often it was mispredicted
 *
 * Addresses are those of the file, hexadecimal; 0 is elsewhere.
 *
 * Source: LLVM 22 and 16, bolt/lib/Profile/DataAggregator.cpp.
 */
#include <inttypes.h>

#include "export/compilers/code_export.h"

/* Branches. */

static bool
is_return(const struct hwtdi_code_branch *b)
{
	return (b->branch == HWTD_BRANCH_RETURN);
}

static void
put_branch(struct hwtd_export *ex, struct hwtdi_code_export *s, uint64_t from,
    uint64_t to, uint64_t count)
{
	hwtdi_sink_format(&ex->sink,
	    "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", from, to,
	    hwtdi_code_export_count(s, count));
	s->told.info.n_branches++;
}

static void
put_range(struct hwtd_export *ex, struct hwtdi_code_export *s, char type,
    const struct hwtdi_code_flow *f)
{
	hwtdi_sink_format(&ex->sink,
	    "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", type, f->to, f->last,
	    hwtdi_code_export_count(s, f->count));
	s->told.info.n_ranges++;
}

/* What it is now: where branches led and how it went on are one line. */

static void
put_flow(struct hwtd_export *ex, struct hwtdi_code_export *s,
    const struct hwtdi_code_flow *f)
{
	const bool returns = f->origin == HWTDI_FLOW_RETURN ||
	    f->origin == HWTDI_FLOW_RETURN_FROM_ELSEWHERE;

	if (f->bare) {
		/* Of a return only what comes behind it is of use. */
		if (!returns)
			put_branch(ex, s, f->from, f->to, f->count);
		return;
	}
	if (f->origin == HWTDI_FLOW_UNKNOWN) {
		put_range(ex, s, 'F', f);
		return;
	}
	hwtdi_sink_format(&ex->sink,
	    "%c %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
	    returns ? 'R' : 'T', f->from, f->to, f->last,
	    hwtdi_code_export_count(s, f->count));
	s->told.info.n_ranges++;
	s->told.info.n_branches++;
}

static bool
put(struct hwtd_export *ex, struct hwtdi_code_export *s, uint64_t line)
{
	const struct hwtdi_code_profile *p = &s->profile;
	const struct hwtdi_code_branch *b;

	if (line < p->n_flows) {
		put_flow(ex, s, &p->flows[line]);
		return (true);
	}
	line -= p->n_flows;
	if (line >= p->n_branches)
		return (false);
	b = &p->branches[line];
	if (b->to_side != HWTDI_CODE_INSIDE && !is_return(b))
		put_branch(ex, s, b->from, 0, b->count);
	return (true);
}

static int
step(struct hwtd_export *ex, struct hwtd_error *err)
{
	static const struct hwtdi_code_writer writer = { .with_flows = true,
		.put = put };

	return (hwtdi_code_export_step(ex, &writer, err));
}

/* What it was: branches and ranges by themselves. */

static void
begin_legacy(struct hwtd_export *ex, struct hwtdi_code_export *s)
{
	(void)ex;
	hwtdi_code_profile_forget_origins(&s->profile, true);
}

static bool
put_legacy(struct hwtd_export *ex, struct hwtdi_code_export *s, uint64_t line)
{
	const struct hwtdi_code_profile *p = &s->profile;

	if (line < p->n_branches) {
		const struct hwtdi_code_branch *b = &p->branches[line];

		put_branch(ex, s, b->from, b->to, b->count);
		return (true);
	}
	line -= p->n_branches;
	if (line >= p->n_flows)
		return (false);
	put_range(ex, s,
	    p->flows[line].origin == HWTDI_FLOW_UNKNOWN ? 'F' : 'f',
	    &p->flows[line]);
	return (true);
}

static int
step_legacy(struct hwtd_export *ex, struct hwtd_error *err)
{
	static const struct hwtdi_code_writer writer = { .with_flows = true,
		.begin = begin_legacy,
		.put = put_legacy };

	return (hwtdi_code_export_step(ex, &writer, err));
}

const struct hwtdi_exporter_ops hwtdi_bolt_ops = {
	.format = HWTD_FORMAT_BOLT,
	.source = HWTD_SOURCE_RUNS,
	.name = "bolt",
	.suffixes = ".preagg",
	.viewer = "perf2bolt -pa, version 22",
	.state_bytes = sizeof(struct hwtdi_code_export),
	.step = step,
	.close = hwtdi_code_export_close,
};

const struct hwtdi_exporter_ops hwtdi_bolt_legacy_ops = {
	.format = HWTD_FORMAT_BOLT_LEGACY,
	.source = HWTD_SOURCE_RUNS,
	.name = "bolt-legacy",
	.suffixes = ".legacy.preagg",
	.viewer = "perf2bolt -pa, all versions",
	.state_bytes = sizeof(struct hwtdi_code_export),
	.step = step_legacy,
	.close = hwtdi_code_export_close,
};
