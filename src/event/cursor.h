/*
 * What neighbours ask a cursor besides its rows.
 */
#ifndef HWTDI_CURSOR_H
#define HWTDI_CURSOR_H

#include <hwtdecode/event.h>

/* Borrowed while the cursor is open. */
struct hwtd_context *hwtdi_events_library(const struct hwtd_events *ev);
struct hwtd_trace *hwtdi_events_trace(const struct hwtd_events *ev);

#endif /* HWTDI_CURSOR_H */
