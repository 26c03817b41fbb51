/*
 * A tally crew: several makers that count the code of all streams at the same
 * time, a segment each.  Counts are sums, so nobody waits for anybody's turn.
 */
#ifndef HWTDI_TALLY_CREW_H
#define HWTDI_TALLY_CREW_H

#include "analysis/runs/code_counts.h"
#include "event/filter.h"

struct hwtdi_tally_crew;

/* `filter` outlives the crew; its `jobs` are how many makers there are. */
int hwtdi_tally_crew_create(struct hwtd_trace *trace,
    const struct hwtdi_filter *filter, bool with_edges,
    struct hwtdi_tally_crew **out, struct hwtd_error *err);
void hwtdi_tally_crew_destroy(struct hwtdi_tally_crew *crew);

/*
 * Count some more here, while others do elsewhere.  HWTD_OK; HWTD_END: all was
 * counted; or an error.
 */
int hwtdi_tally_crew_work(struct hwtdi_tally_crew *crew,
    struct hwtd_error *err);

/* Bytes and gaps of what was decoded. */
void hwtdi_tally_crew_stats(struct hwtdi_tally_crew *crew,
    struct hwtd_stats *out);

/* After HWTD_END: the counts; the caller gives them up. */
int hwtdi_tally_crew_take(struct hwtdi_tally_crew *crew,
    struct hwtdi_code_counts *out, struct hwtd_error *err);

#endif /* HWTDI_TALLY_CREW_H */
