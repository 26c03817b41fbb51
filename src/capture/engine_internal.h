/*
 * What the files of the engine share.
 */
#ifndef HWTDI_ENGINE_INTERNAL_H
#define HWTDI_ENGINE_INTERNAL_H

#include "capture/engine.h"

/* A step leaves time for bytes; and at the end nobody waits for ever. */
#define HWTDI_DRAIN_NS ((uint64_t)50000000)
#define HWTDI_DRAIN_LAST_NS ((uint64_t)2000000000)

/*
 * Handle the entries that there are, for about `ns`: a program can make them faster
 * than they are handled.  *more_out: some may be left.
 */
int hwtdi_engine_drain(struct hwtdi_engine *engine, uint64_t ns,
    bool *more_out, struct hwtd_error *err);

/* Entries of a session that were fetched and are not handled yet. */
struct hwtdi_fetched {
	const uint8_t *entries;
	size_t n;
};

/* Fetch some, and tell nodes of positions in them. */
int hwtdi_engine_fetch(struct hwtdi_engine *engine,
    struct hwtdi_session *session, struct hwtdi_fetched *out,
    struct hwtd_error *err);
int hwtdi_engine_handle(struct hwtdi_engine *engine,
    struct hwtdi_session *session, const struct hwtdi_fetched *fetched,
    struct hwtd_error *err);

/* Files of the kernel, of which no entries come. */
int hwtdi_engine_kernel(struct hwtdi_engine *engine, struct hwtd_error *err);

/* What is mapped in a process that runs already. */
int hwtdi_engine_snapshot(struct hwtdi_engine *engine, struct hwtd_error *err);

/*
 * Pair numbers with the threads of a list, and tell sessions; `newer` as of
 * hwtdi_thread_table_pair().
 */
int hwtdi_engine_pair(struct hwtdi_engine *engine,
    const struct hwtdi_thread_list *list, bool newer, struct hwtd_error *err);
/* Write names of threads that are new, or were changed. */
int hwtdi_engine_name(struct hwtdi_engine *engine,
    const struct hwtdi_thread_list *list, struct hwtd_error *err);

/* Write the texts of the file: once at the start, and again at the end. */
int hwtdi_engine_describe(struct hwtdi_engine *engine, bool ended,
    struct hwtd_error *err);

#endif /* HWTDI_ENGINE_INTERNAL_H */
