/*
 * What neighbours ask a cursor besides its rows.
 */
#ifndef HWTDI_CURSOR_H
#define HWTDI_CURSOR_H

#include "event/filter.h"

/* Closed once more. */
struct hwtd_events *hwtdi_events_hold(struct hwtd_events *ev);

/* Borrowed while the cursor is open. */
struct hwtd_context *hwtdi_events_library(const struct hwtd_events *ev);
struct hwtd_trace *hwtdi_events_trace(const struct hwtd_events *ev);

/*
 * Damage of the file that belongs to no stream, from number *no_inout on; not
 * where streams are chosen.  False: no more.
 */
bool hwtdi_stray_damage(const struct hwtd_trace *trace,
    const struct hwtdi_filter *filter, size_t *no_inout,
    struct hwtd_damage *out);
/* Where in the file a gap comes from. */
void hwtdi_gap_set_file(struct hwtd_gap *gap,
    const struct hwtd_damage *damage);
/* Such damage as a gap. */
void hwtdi_stray_gap(const struct hwtd_damage *damage, struct hwtd_gap *out);

#endif /* HWTDI_CURSOR_H */
