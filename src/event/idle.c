/*
 * The code graph of a trace, and decoders that nobody uses.
 */
#include "event/idle.h"

#include <string.h>

#include "base/fail.h"

struct waiting {
	const struct hwtdi_engine *engine;
	struct hwtdi_decoder *decoder;
	size_t bytes;
	uint32_t stream;
	bool runs;
};

/* The object that a trace has for us; with the lock held. */
struct idle {
	struct hwtd_context *library;
	struct hwtdi_code_graph *graph;
	/* In the order in which they came; they are of this graph. */
	struct waiting waiting[HWTDI_IDLE_MOST];
	unsigned int n;
	uint64_t bytes;
};

static struct waiting
take_out(struct idle *idle, unsigned int i)
{
	const struct waiting w = idle->waiting[i];

	idle->n--;
	memmove(&idle->waiting[i], &idle->waiting[i + 1],
	    (idle->n - i) * sizeof(w));
	idle->bytes -= w.bytes;
	return (w);
}

static void
close_first(struct idle *idle)
{
	const struct waiting w = take_out(idle, 0);

	w.engine->close(w.decoder);
}

static void
drop_graph(struct idle *idle)
{
	while (idle->n > 0)
		close_first(idle);
	hwtdi_graph_drop(idle->graph);
	idle->graph = NULL;
}

static void
drop(void *object)
{
	struct idle *idle = object;

	drop_graph(idle);
	hwtdi_free(idle->library, idle, sizeof(*idle));
}

static int
need_graph(struct hwtdi_shared *shared, struct hwtd_context *library,
    struct hwtd_error *err)
{
	struct idle *idle = shared->object;

	if (idle == NULL) {
		idle = hwtdi_zalloc(library, sizeof(*idle));
		if (idle == NULL)
			return (hwtdi_fail_nomem(err, sizeof(*idle)));
		idle->library = library;
		shared->object = idle;
		shared->drop = drop;
	}
	if (idle->graph != NULL && hwtdi_graph_is_full(idle->graph))
		drop_graph(idle);
	return (idle->graph != NULL
		? HWTD_OK
		: hwtdi_graph_create(library, &idle->graph, err));
}

/* One that suits: best of the same stream, and the one that came last. */
static struct hwtdi_decoder *
find(struct idle *idle, const struct hwtdi_decoder_args *args,
    const struct hwtdi_decoder_use *use)
{
	for (unsigned int any = 0; any < 2; any++)
		for (unsigned int i = idle->n; i-- > 0;) {
			const struct waiting *w = &idle->waiting[i];

			if (w->engine == use->engine && w->runs == use->runs &&
			    (w->stream == use->stream) == (any == 0) &&
			    w->engine->rebind(w->decoder, args))
				return (take_out(idle, i).decoder);
		}
	return (NULL);
}

int
hwtdi_idle_take(struct hwtd_trace *trace, struct hwtdi_decoder_args *args,
    struct hwtdi_decoder_use *use, struct hwtd_error *err)
{
	struct hwtdi_shared *shared = hwtdi_trace_shared(trace);
	struct idle *idle;
	int rc;

	use->runs = args->runs;
	use->decoder = NULL;
	use->graph = NULL;
	pthread_mutex_lock(&shared->lock);
	rc = need_graph(shared, args->library, err);
	if (rc == HWTD_OK) {
		idle = shared->object;
		use->graph = hwtdi_graph_hold(idle->graph);
		args->graph = use->graph;
		use->decoder = find(idle, args, use);
	}
	pthread_mutex_unlock(&shared->lock);
	if (rc == HWTD_OK && use->decoder == NULL)
		rc = use->engine->open(args, &use->decoder, err);
	if (rc != HWTD_OK) {
		hwtdi_graph_drop(use->graph);
		use->graph = NULL;
	}
	return (rc);
}

/* Bytes of all that may wait. */
static uint64_t
room(const struct hwtd_context *library)
{
	const uint64_t share = library->max_memory / HWTDI_IDLE_SHARE;

	return (share < HWTDI_IDLE_BYTES ? share : HWTDI_IDLE_BYTES);
}

/* What waits in all traces could be what others need. */
static bool
is_short(const struct hwtd_context *library)
{
	return (atomic_load_explicit(&library->memory, memory_order_relaxed) >
	    library->max_memory / 2);
}

/* Have it wait, if it is worth it; else NULL becomes of it what it was. */
static struct hwtdi_decoder *
keep(struct idle *idle, const struct hwtdi_decoder_use *use, size_t bytes)
{
	const uint64_t most = idle != NULL ? room(idle->library) : 0;

	/* Of another graph, or of one that makes way, it is of no use. */
	if (idle == NULL || idle->graph != use->graph || bytes > most ||
	    hwtdi_graph_is_full(use->graph))
		return (use->decoder);
	if (is_short(idle->library)) {
		while (idle->n > 0)
			close_first(idle);
		return (use->decoder);
	}
	while (idle->n == HWTDI_IDLE_MOST || idle->bytes > most - bytes)
		close_first(idle);
	idle->waiting[idle->n++] = (struct waiting){ .engine = use->engine,
		.decoder = use->decoder,
		.bytes = bytes,
		.stream = use->stream,
		.runs = use->runs };
	idle->bytes += bytes;
	return (NULL);
}

void
hwtdi_idle_give(struct hwtd_trace *trace, struct hwtdi_decoder_use *use)
{
	struct hwtdi_shared *shared = hwtdi_trace_shared(trace);
	struct hwtdi_decoder *decoder = use->decoder;

	if (decoder != NULL && use->engine->rebind != NULL) {
		const size_t bytes = use->engine->rest(decoder);

		pthread_mutex_lock(&shared->lock);
		decoder = keep(shared->object, use, bytes);
		pthread_mutex_unlock(&shared->lock);
	}
	if (decoder != NULL)
		use->engine->close(decoder);
	hwtdi_graph_drop(use->graph);
	use->decoder = NULL;
	use->graph = NULL;
}
