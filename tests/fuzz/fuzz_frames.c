/*
 * Fuzz harness of formatter frames: a byte for the framing, one for where the
 * sink is cut into two extents, one for the size of reads; then its bytes.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_sink.h"
#include "trace/sink/framer.h"

#define MAX_INPUT ((size_t)1 << 16)
/* Sources that have streams: the lowest IDs that have bytes. */
#define MAX_SOURCES 6

/* Bytes of each source, as the framer alone finds them, of extents in order. */
struct found {
	uint64_t off;
	uint8_t *bytes[HWTDI_TRACE_IDS];
	size_t n[HWTDI_TRACE_IDS];
};

static void
find(enum hwtdi_framing framing, const uint8_t *bytes, size_t n,
    struct found *out)
{
	uint8_t id = HWTDI_TRACE_ID_UNTOLD;
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	struct hwtdi_framer framer;
	struct hwtdi_frame frame;

	hwtdi_framer_init(&framer, framing, out->off);
	out->off += n;
	while (n > 0) {
		/* From memory of its own, so that reading on is seen. */
		const size_t give = n < 37 ? n : 37;
		uint8_t *copy = malloc(give);
		size_t took;

		FUZZ_CHECK(copy != NULL, "out of memory");
		memcpy(copy, bytes, give);
		took = hwtdi_framer_next(&framer, copy, give, &frame);
		free(copy);
		FUZZ_CHECK(took > 0 && took <= give, "%zu bytes taken", took);
		bytes += took;
		n -= took;
		if (frame.kind == HWTDI_FRAME_LOST ||
		    frame.kind == HWTDI_FRAME_BARRIER)
			id = HWTDI_TRACE_ID_UNTOLD;
		if (frame.kind != HWTDI_FRAME_DATA)
			continue;
		took = hwtdi_frame_split(frame.bytes, &id, parts);
		for (size_t i = 0; i < took; i++) {
			const uint8_t who = parts[i].id;

			if (who == HWTDI_TRACE_ID_UNTOLD)
				continue;
			memcpy(out->bytes[who] + out->n[who], parts[i].bytes,
			    parts[i].n);
			out->n[who] += parts[i].n;
		}
	}
}

/* A source has the bytes that were found, in reads of any size. */
static bool
has_found(const struct hwtd_trace *trace, uint32_t stream, size_t step,
    const struct found *found)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t part[256];
	uint32_t id;

	FUZZ_CHECK(hwtd_trace_stream(trace, stream, &d) == HWTD_OK,
	    "no stream %" PRIu32, stream);
	id = d.coresight->trace_id;
	if (d.n_bytes != found->n[id])
		return (false);
	for (uint64_t off = 0; off < d.n_bytes;) {
		size_t n = 0;

		FUZZ_CHECK(hwtd_trace_read_bytes(trace, stream, off, part,
			       step, &n, &err) == HWTD_OK &&
			n > 0 && n <= step,
		    "ID %" PRIu32 ": no bytes at %" PRIu64, id, off);
		if (memcmp(part, found->bytes[id] + off, n) != 0)
			return (false);
		off += n;
	}
	return (true);
}

/* The sink: two extents, and where their frames begin, before which is nothing. */
struct sink {
	enum hwtdi_framing framing;
	const uint8_t *bytes;
	size_t n, cut;
	size_t phase[2];
};

static void
find_all(const struct sink *sink, struct found *out)
{
	const size_t n[2] = { sink->cut, sink->n - sink->cut };
	const uint8_t *at = sink->bytes;

	memset(out->n, 0, sizeof(out->n));
	for (size_t i = 0; i < 2; i++) {
		const size_t skip = sink->phase[i] < n[i] ? sink->phase[i]
							  : n[i];

		out->off = (uint64_t)(at - sink->bytes) + skip;
		find(sink->framing, at + skip, n[i] - skip, out);
		at += n[i];
	}
}

static bool
all_have_found(const struct hwtd_trace *trace, uint32_t n_sources, size_t step,
    const struct found *found)
{
	for (uint32_t i = 1; i <= n_sources; i++)
		if (!has_found(trace, i, step, found))
			return (false);
	return (true);
}

/*
 * Sources have what the frames alone give them.  Those in memory may begin at any
 * of 16 bytes; memory that was found to be turned is looked at elsewhere.
 */
static void
check_sources(const struct hwtd_trace *trace, uint32_t n_sources, size_t step,
    struct sink *sink, struct found *found)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };
	const size_t phases = sink->framing == HWTDI_FRAMING_MEMORY
	    ? HWTDI_FRAME_BYTES
	    : 1;

	FUZZ_CHECK(hwtd_trace_sink(trace, 0, &info) == HWTD_OK, "no sink");
	if (info.turned_off != 0)
		return;
	for (sink->phase[0] = 0; sink->phase[0] < phases; sink->phase[0]++)
		for (sink->phase[1] = 0; sink->phase[1] < phases;
		     sink->phase[1]++) {
			find_all(sink, found);
			if (all_have_found(trace, n_sources, step, found))
				return;
		}
	FUZZ_CHECK(false, "a source has other bytes than its frames");
}

static void
check_rows(struct hwtd_trace *trace)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_event rows[64];
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 64 };
	struct hwtd_events *events;
	int rc;

	FUZZ_CHECK(hwtd_events_open(trace, NULL, &events, &err) == HWTD_OK,
	    "%s", err.message);
	while ((rc = hwtd_events_read(events, &batch, &err)) == HWTD_OK)
		;
	FUZZ_CHECK(rc == HWTD_END, "read: %d %s", rc, err.message);
	hwtd_events_close(events);
}

/* A sink of two extents, and sources, decoded as ITM. */
static struct hwtd_trace *
make(struct hwtd_context *ctx, uint32_t framing, const uint8_t *bytes,
    size_t n, size_t cut, const struct found *found, uint32_t *n_sources_out)
{
	struct hwtd_coresight_config config = { .size = sizeof(config),
		.protocol = HWTD_CS_ITM };
	struct hwtd_stream_desc d = { .size = sizeof(d),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.framing = framing };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;
	uint32_t sink, id;

	FUZZ_CHECK(hwtd_trace_create(ctx, NULL, &trace, &err) == HWTD_OK &&
		hwtd_trace_add_stream(trace, &d, &sink, &err) == HWTD_OK &&
		hwtd_trace_add_bytes(trace, sink, bytes, cut, &err) ==
		    HWTD_OK &&
		hwtd_trace_start_extent(trace, sink, HWTD_EXTENT_NEW, &err) ==
		    HWTD_OK &&
		hwtd_trace_add_bytes(trace, sink, bytes + cut, n - cut,
		    &err) == HWTD_OK,
	    "%s", err.message);
	d.framing = HWTD_FRAMING_NONE;
	d.sink_plus_1 = sink + 1;
	d.coresight = &config;
	*n_sources_out = 0;
	for (config.trace_id = HWTD_CS_FIRST_ID;
	     config.trace_id <= HWTD_CS_LAST_ID &&
	     *n_sources_out < MAX_SOURCES;
	     config.trace_id++) {
		if (found->n[config.trace_id] == 0)
			continue;
		++*n_sources_out;
		FUZZ_CHECK(hwtd_trace_add_stream(trace, &d, &id, &err) ==
			HWTD_OK,
		    "%s", err.message);
	}
	FUZZ_CHECK(hwtd_trace_seal(trace, &err) == HWTD_OK, "%s", err.message);
	return (trace);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_in in = { data, size };
	const uint32_t framing = (uint32_t)(fuzz_take(&in, 1) % 3) +
	    HWTD_FRAMING_MEMORY;
	const size_t share = (size_t)fuzz_take(&in, 1);
	const size_t step = (size_t)fuzz_take(&in, 1) + 1;
	const size_t cut = in.left * share / 256;
	struct sink sink = { .framing = (enum hwtdi_framing)framing,
		.bytes = in.at,
		.n = in.left,
		.cut = cut };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct found found = { .n = { 0 } };
	uint32_t n_sources;
	uint64_t held = 0;

	if (size > MAX_INPUT)
		return (0);
	for (size_t i = 0; i < HWTDI_TRACE_IDS; i++) {
		found.bytes[i] = malloc(in.left + 1);
		FUZZ_CHECK(found.bytes[i] != NULL, "out of memory");
	}
	find_all(&sink, &found);
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	trace = make(ctx, framing, in.at, in.left, cut, &found, &n_sources);
	fuzz_check_sink_stream(trace, 0);
	for (uint32_t i = 1; i <= n_sources; i++)
		fuzz_check_sink_stream(trace, i);
	check_sources(trace, n_sources, step, &sink, &found);
	check_rows(trace);
	hwtd_trace_close(trace);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	for (size_t i = 0; i < HWTDI_TRACE_IDS; i++)
		free(found.bytes[i]);
	return (0);
}
