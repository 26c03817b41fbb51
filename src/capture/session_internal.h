/*
 * What the files of a session share.
 */
#ifndef HWTDI_SESSION_INTERNAL_H
#define HWTDI_SESSION_INTERNAL_H

#include "capture/session.h"

/* Halves of earlier contexts that are passed over. */
#define HWTDI_SPE_STALE_MAX 4096
/* It tells within this that it stopped. */
#define HWTDI_SPE_STOP_NS ((uint64_t)1000000000)
#define HWTDI_SPE_STOP_STEP_NS ((uint64_t)10000000)
/* Halves are taken so long before something else is looked at; and at the end. */
#define HWTDI_SPE_DRAIN_NS ((uint64_t)50000000)
#define HWTDI_SPE_LAST_NS ((uint64_t)2000000000)

/* All of a node was taken: give back what it holds. */
void hwtdi_session_done(struct hwtdi_session *session,
    struct hwtdi_node *node);

/* The stream of a node, made if it has none. */
int hwtdi_session_stream(struct hwtdi_session *session,
    struct hwtdi_node *node, struct hwtd_error *err);

/* CoreSight: streams of sources that have none, behind that of their sink. */
int hwtdi_session_sources(struct hwtdi_session *session,
    struct hwtd_error *err);

/*
 * A record of bytes that were taken of a node: the last `n` of its stream.  `exact`
 * as of hwtdi_session_take(); `flags`: HWTD_BUFFERF_* bits.
 */
int hwtdi_session_mark(struct hwtdi_session *session, uint32_t stream,
    uint64_t n, uint64_t time_ns, bool exact, uint64_t flags,
    struct hwtd_error *err);

/* Take halves of SPE from the queue, as far as there is room. */
int hwtdi_session_pop(struct hwtdi_session *session, struct hwtd_error *err);

/*
 * Stop SPE and take its last halves.  HWTD_E_IO: the kernel had stopped it
 * before; all that could be taken was.
 */
int hwtdi_session_end_halves(struct hwtdi_session *session, uint64_t time_ns,
    struct hwtd_error *err);

#endif /* HWTDI_SESSION_INTERNAL_H */
