/*
 * What the rules of the harness that compares engines share: what rows are.
 */
#ifndef FUZZ_PT_DIFF_RULES_H
#define FUZZ_PT_DIFF_RULES_H

#include <string.h>

#include "fuzz_pt_diff.h"

struct diff_rule {
	const char *why;
	bool (*holds)(const struct diff_pair *p);
};

/* Row `i` of those of one engine, or NULL. */
static inline const struct fuzz_row *
row_at(const struct fuzz_rows *rows, size_t i)
{
	return (i < rows->n ? &rows->at[i] : NULL);
}

static inline bool
is_kind(const struct fuzz_row *row, unsigned int kind)
{
	return (row != NULL && row->e.kind == kind);
}

static inline bool
ends_with(const struct fuzz_row *row, unsigned int branch)
{
	return (is_kind(row, HWTD_EV_BLOCK) && row->e.branch == branch);
}

static inline bool
is_gap(const struct fuzz_row *row, const char *text)
{
	return (is_kind(row, HWTD_EV_GAP) &&
	    strcmp(row->detail.gap.text, text) == 0);
}

static inline bool
has_reason(const struct fuzz_row *gap, uint32_t reason)
{
	return (gap != NULL && gap->detail.gap.reason == reason);
}

/* The rows at hand, either, are told right before where decoding gives up. */
static inline bool
is_at(const struct diff_pair *p, const struct fuzz_row *gap)
{
	uint64_t off = p->a != NULL ? p->a->e.stream_off : 0;

	if (p->b != NULL && p->b->e.stream_off > off)
		off = p->b->e.stream_off;
	return (gap != NULL && gap->detail.gap.first <= off + NEAR);
}

/* libipt gives up here, or behind a block that it tells without its end. */
static inline bool
gives_up(const struct diff_pair *p, const char *text)
{
	return (is_gap(p->b, text) ||
	    (p->a != NULL && is_kind(p->b, HWTD_EV_BLOCK) &&
		p->a->e.ip == p->b->e.ip &&
		is_gap(row_at(p->libipt, p->i + 1), text)));
}

/* No CPU makes such a trace, for this reason; NULL: that is not known. */
const char *diff_wrong(const struct diff_pair *p);

#endif /* FUZZ_PT_DIFF_RULES_H */
