/*
 * Files of raw trace bytes: recognised by a sync pattern or by the user's
 * word, read where they lie.
 */
#include "trace/import/raw.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/import/map_file.h"
#include "trace/import/side_file.h"
#include "trace/sink/ring.h"
#include "trace/sink/sink_ids.h"

/* Source: Intel SDM vol. 3C, "Packet Stream Boundary (PSB) Packet". */
static const uint8_t psb[16] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
	0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

/* How far a pattern is looked for, and how much is looked at in one go. */
#define SEARCH_BYTES ((uint64_t)1 << 20)
#define SEARCH_PART ((size_t)64 << 10)

static bool
holds_psb(const uint8_t *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n - (size_t)(at - bytes) >= sizeof(psb)) {
		size_t left = n - (size_t)(at - bytes) - (sizeof(psb) - 1);

		at = memchr(at, psb[0], left);
		if (at == NULL)
			return (false);
		if (memcmp(at, psb, sizeof(psb)) == 0)
			return (true);
		at++;
	}
	return (false);
}

static int
find_psb(const struct hwtd_trace *trace, bool *found_out,
    struct hwtd_error *err)
{
	const struct hwtdi_trace_file *file = &trace->file;
	const uint64_t end = file->size < SEARCH_BYTES ? file->size
						       : SEARCH_BYTES;
	uint8_t *part;
	uint64_t at = 0;
	int rc = HWTD_OK;

	*found_out = false;
	part = hwtdi_alloc(trace->library, SEARCH_PART);
	if (part == NULL)
		return (hwtdi_fail_nomem(err, SEARCH_PART));
	while (end - at >= sizeof(psb)) {
		size_t n = end - at < SEARCH_PART ? (size_t)(end - at)
						  : SEARCH_PART;

		rc = hwtdi_poll(trace->library, err);
		if (rc == HWTD_OK)
			rc = hwtdi_trace_file_read(file, at, part, n, err);
		if (rc != HWTD_OK)
			break;
		*found_out = holds_psb(part, n);
		if (*found_out || at + n == end)
			break;
		/* The pattern may lie across the joint. */
		at += n - (sizeof(psb) - 1);
	}
	hwtdi_free(trace->library, part, SEARCH_PART);
	return (rc);
}

static uint32_t
minus_1(uint32_t id_plus_1)
{
	return (id_plus_1 != 0 ? id_plus_1 - 1 : HWTD_NO_ID);
}

/* Bytes [start, end) of the file are the next extent of a stream. */
static int
place_buffer(struct hwtd_trace *trace, uint32_t id, uint64_t start,
    uint64_t end, struct hwtd_error *err)
{
	struct hwtdi_stream *s = trace->streams[id];
	const struct hwtdi_stretch stretch = {
		.start = s->end,
		.length = end - start,
		.at.file_off = start,
		.kind = HWTDI_STRETCH_FILE,
	};
	int rc = HWTD_OK;

	if (s->n_extents > 0)
		rc = hwtd_trace_start_extent(trace, id, HWTD_EXTENT_NEW, err);
	if (rc == HWTD_OK)
		rc = hwtdi_stream_place(trace->library, s, &stretch, err);
	return (rc);
}

/* The stream of a buffer's source; of a new one it is made. */
static int
find_stream(struct hwtd_trace *trace, const struct hwtd_buffer *buffer,
    const struct hwtd_stream_desc *desc, uint32_t first, uint32_t *id_out,
    struct hwtd_error *err)
{
	const size_t n_sources = trace->n_streams - first;
	struct hwtd_stream_desc own = *desc;

	*id_out = first + buffer->source;
	if (buffer->source < n_sources)
		return (HWTD_OK);
	/* Others find the bytes of a sink by its id. */
	if (buffer->source > n_sources ||
	    (desc->framing != HWTD_FRAMING_NONE && n_sources > 0))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "the buffer at %" PRIu64 " is of source %" PRIu32
		    ", behind %zu",
		    buffer->off, buffer->source, n_sources));
	if (buffer->cpu != HWTD_NO_ID)
		own.cpu = buffer->cpu;
	return (hwtd_trace_add_stream(trace, &own, id_out, err));
}

/* Make streams of the whole file: its buffers, one after the other. */
static int
place_file(struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    const struct hwtd_stream_desc *desc, uint32_t *id_out,
    struct hwtd_error *err)
{
	static const struct hwtd_buffer whole = { 0, 0, HWTD_NO_ID };
	const bool one = opts->n_buffers <= 1;
	const struct hwtd_buffer *buffers = opts->n_buffers == 0
	    ? &whole
	    : opts->buffers;
	const size_t n = one ? 1 : opts->n_buffers;
	const uint64_t size = trace->file.size;
	const uint32_t first = (uint32_t)trace->n_streams;
	int rc = HWTD_OK;

	trace->format = "raw";
	*id_out = first;
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		const struct hwtd_buffer *b = &buffers[i];
		const uint64_t end = i + 1 < n ? buffers[i + 1].off : size;
		uint32_t id;

		if ((i == 0) != (b->off == 0) || end > size ||
		    (end <= b->off && !one))
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "no buffer can be at %" PRIu64 " to %" PRIu64
			    ": the first begins at 0, and the file has "
			    "%" PRIu64 " bytes",
			    b->off, end, size));
		rc = find_stream(trace, b, desc, first, &id, err);
		if (rc == HWTD_OK)
			rc = place_buffer(trace, id, b->off, end, err);
	}
	return (rc);
}

/* IDs of the file that have a source; those of others are counted in `ids`. */
struct sources {
	/* NULL: it names no threads, or the user says whose all are. */
	const struct hwtdi_map_file *map;
	bool known[HWTDI_TRACE_IDS];
	struct hwtdi_sink_ids ids;
};

/*
 * Where the first frame of a memory begins.  When the sink is read, with the
 * sources that are counted from here on, that finds the same: they have all IDs
 * there, and frames that begin elsewhere can only have more that are of nobody.
 */
static int
find_first_frame(const struct hwtd_trace *trace, uint64_t *at_out,
    struct hwtd_error *err)
{
	const size_t n = trace->file.size < HWTDI_RING_LOOK
	    ? (size_t)trace->file.size
	    : HWTDI_RING_LOOK;
	struct hwtdi_ring ring = { .phase = 0 };
	uint8_t *bytes;
	int rc;

	if (n == 0)
		return (HWTD_OK);
	bytes = hwtdi_alloc(trace->library, n);
	if (bytes == NULL)
		return (hwtdi_fail_nomem(err, n));
	for (uint32_t i = HWTD_CS_FIRST_ID; i <= HWTD_CS_LAST_ID; i++)
		ring.known[i] = true;
	rc = hwtdi_trace_file_read(&trace->file, 0, bytes, n, err);
	if (rc == HWTD_OK)
		hwtdi_ring_find_phase(&ring, bytes, n);
	hwtdi_free(trace->library, bytes, n);
	*at_out = ring.phase;
	return (rc);
}

static int
count_ids(const struct hwtd_trace *trace, uint64_t from,
    struct hwtdi_sink_ids *ids, struct hwtd_error *err)
{
	const uint64_t size = trace->file.size;
	uint8_t *part = hwtdi_alloc(trace->library, SEARCH_PART);
	int rc = HWTD_OK;

	if (part == NULL)
		return (hwtdi_fail_nomem(err, SEARCH_PART));
	for (uint64_t at = from; rc == HWTD_OK && at < size;
	     at += SEARCH_PART) {
		const size_t n = size - at < SEARCH_PART ? (size_t)(size - at)
							 : SEARCH_PART;

		rc = hwtdi_trace_file_read(&trace->file, at, part, n, err);
		if (rc == HWTD_OK)
			hwtdi_sink_ids_add(ids, part, n);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(trace->library, err);
	}
	hwtdi_free(trace->library, part, SEARCH_PART);
	return (rc);
}

/* hwt(4) gives threads the IDs from 1 on. */
static void
name_thread(const struct hwtdi_map_file *map, uint32_t trace_id,
    struct hwtd_stream_desc *desc)
{
	if (map != NULL && trace_id != 0)
		desc->tid = hwtdi_map_file_tid(map, trace_id - 1);
}

/* One stream for each ID of which no source is known. */
static int
add_others(struct hwtd_trace *trace, struct hwtd_stream_desc *desc,
    const struct hwtd_coresight_config *rule, struct sources *sources,
    struct hwtd_error *err)
{
	struct hwtd_coresight_config config = *rule;
	uint64_t from = 0;
	uint32_t id = 0;
	int rc = HWTD_OK;

	if (sources->ids.framer.framing == HWTDI_FRAMING_MEMORY)
		rc = find_first_frame(trace, &from, err);
	if (rc == HWTD_OK)
		rc = count_ids(trace, from, &sources->ids, err);
	desc->coresight = &config;
	config.ids = HWTD_CS_IDS_ONE;
	for (uint32_t i = HWTD_CS_FIRST_ID;
	     rc == HWTD_OK && i <= HWTD_CS_LAST_ID; i++) {
		if (sources->known[i] || sources->ids.bytes[i] == 0)
			continue;
		config.trace_id = i;
		if (rule->ids == HWTD_CS_IDS_CPUS)
			desc->cpu = i - 1;
		else
			name_thread(sources->map, i, desc);
		rc = hwtd_trace_add_stream(trace, desc, &id, err);
	}
	return (rc);
}

/* A source of the sink that `desc` names, or the rule for others. */
static int
add_source(struct hwtd_trace *trace, struct hwtd_stream_desc *desc,
    const struct hwtd_coresight_config *given, struct sources *sources,
    struct hwtd_coresight_config *rule, struct hwtd_error *err)
{
	struct hwtd_coresight_config config = { .size = sizeof(config) };
	uint32_t id = 0;
	int rc = hwtdi_options_copy(&config, sizeof(config), given, err);

	if (rc != HWTD_OK)
		return (rc);
	if (config.ids != HWTD_CS_IDS_ONE) {
		if (config.ids > HWTD_CS_IDS_CPUS)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "no rule for trace IDs has the number %" PRIu32,
			    config.ids));
		if (rule->ids != HWTD_CS_IDS_ONE)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "two configurations are for all other sources"));
		*rule = config;
		return (HWTD_OK);
	}
	if (config.trace_id < HWTDI_TRACE_IDS)
		sources->known[config.trace_id] = true;
	desc->coresight = &config;
	name_thread(sources->map, config.trace_id, desc);
	return (hwtd_trace_add_stream(trace, desc, &id, err));
}

/* Without frames the stream is that of the only source. */
static int
add_coresight(struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    const struct hwtdi_map_file *map, struct hwtd_stream_desc *desc,
    struct hwtd_error *err)
{
	const uint8_t *at = (const uint8_t *)opts->coresight;
	struct hwtd_coresight_config rule = { .ids = HWTD_CS_IDS_ONE };
	struct sources sources = { .map = map->n_threads != 0 &&
			!map->by_cpu && opts->tid_plus_1 == 0
		    ? map
		    : NULL };
	uint32_t sink = 0, id = 0;
	size_t stride = 0;
	int rc;

	if (opts->framing == HWTD_FRAMING_NONE) {
		if (opts->n_coresight > 1)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "%zu sources of bytes without frames",
			    opts->n_coresight));
		if (opts->n_coresight == 1)
			desc->coresight = opts->coresight;
		return (place_file(trace, opts, desc, &id, err));
	}
	desc->framing = opts->framing;
	rc = place_file(trace, opts, desc, &sink, err);
	desc->framing = HWTD_FRAMING_NONE;
	desc->sink_plus_1 = sink + 1;
	desc->name = NULL;
	/* Of an older or newer size, all alike. */
	if (opts->n_coresight != 0)
		memcpy(&stride, at, sizeof(stride));
	for (size_t i = 0; rc == HWTD_OK && i < opts->n_coresight; i++)
		rc = add_source(trace, desc, (const void *)(at + i * stride),
		    &sources, &rule, err);
	if (rc != HWTD_OK || rule.ids == HWTD_CS_IDS_ONE)
		return (rc);
	hwtdi_sink_ids_init(&sources.ids, (enum hwtdi_framing)opts->framing);
	return (add_others(trace, desc, &rule, &sources, err));
}

/* Whose bytes are those of a file that is called by a number of hwt(4). */
static void
name_owner(const struct hwtdi_map_file *map, uint32_t number,
    const struct hwtd_open_options *opts, struct hwtd_stream_desc *desc)
{
	uint32_t tid;

	if (map->by_cpu && opts->cpu_plus_1 == 0) {
		desc->cpu = number;
	} else if (!map->by_cpu && opts->tid_plus_1 == 0) {
		tid = hwtdi_map_file_tid(map, number);
		desc->tid = tid != HWTD_NO_ID ? tid : number;
	}
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

/* A stream of each file of a family; the first one is that of the trace. */
static int
place_family(struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    const struct hwtdi_raw_how *how, const struct hwtdi_map_file *map,
    struct hwtd_stream_desc *desc, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	trace->format = "raw";
	if (opts->n_buffers > 1)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%zu buffers of %zu files; open one of them",
		    opts->n_buffers, how->family->n));
	for (size_t i = 0; rc == HWTD_OK && i < how->family->n; i++) {
		const uint32_t number = how->family->numbers[i];
		uint32_t no = 0, id = 0;
		char *path;

		rc = hwtdi_file_family_path(trace->library, how->prefix,
		    number, "", &path, err);
		if (rc != HWTD_OK)
			return (rc);
		if (i > 0)
			rc = hwtdi_side_bytes_open(trace, path, &no, err);
		desc->name = last_part(path);
		name_owner(map, number, opts, desc);
		if (rc == HWTD_OK)
			rc = hwtd_trace_add_stream(trace, desc, &id, err);
		if (rc == HWTD_OK)
			rc = hwtdi_side_bytes_place(trace, id, no, err);
		hwtdi_strfree(trace->library, path);
	}
	return (rc);
}

/* The technology that the user names, or that a pattern shows. */
static int
find_tech(const struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    const struct hwtdi_raw_how *how, uint32_t *out, struct hwtd_error *err)
{
	bool found;
	int rc;

	*out = opts->tech;
	if (opts->tech != HWTD_TECH_UNKNOWN)
		return (HWTD_OK);
	*out = HWTD_TECH_INTEL_PT;
	/* Only bytes of Intel PT are written to one file for each thread. */
	if (how->family->n > 0)
		return (HWTD_OK);
	rc = find_psb(trace, &found, err);
	if (rc == HWTD_OK && !found)
		return (hwtdi_fail(err, HWTD_E_UNRECOGNIZED,
		    "no .hwt, perf.data, LLDB bundle, snapshot, bsdtrace or "
		    "SPE listing, nor a PSB of Intel PT in the first %" PRIu64
		    " bytes; raw bytes need their technology named",
		    trace->file.size < SEARCH_BYTES ? trace->file.size
						    : SEARCH_BYTES));
	return (rc);
}

static int
place(struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    const struct hwtdi_raw_how *how, const struct hwtdi_map_file *map,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	uint32_t id;
	int rc;

	rc = find_tech(trace, opts, how, &desc.tech, err);
	if (rc != HWTD_OK)
		return (rc);
	desc.cpu = minus_1(opts->cpu_plus_1);
	desc.pid = minus_1(map->pid_plus_1 != 0 ? map->pid_plus_1
						: opts->pid_plus_1);
	desc.tid = minus_1(opts->tid_plus_1);
	desc.pt = opts->pt;
	if (desc.tech == HWTD_TECH_SPE)
		desc.spe = opts->spe;
	desc.clock = opts->clock;
	if (how->family->n > 0)
		return (place_family(trace, opts, how, map, &desc, err));
	desc.name = last_part(trace->file.path);
	if (desc.tech == HWTD_TECH_CORESIGHT &&
	    opts->framing != HWTD_FRAMING_NONE)
		return (add_coresight(trace, opts, map, &desc, err));
	if (opts->thread_plus_1 != 0)
		name_owner(map, opts->thread_plus_1 - 1, opts, &desc);
	return (desc.tech == HWTD_TECH_CORESIGHT
		? add_coresight(trace, opts, map, &desc, err)
		: place_file(trace, opts, &desc, &id, err));
}

int
hwtdi_raw_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, const struct hwtdi_raw_how *how,
    struct hwtd_error *err)
{
	struct hwtdi_map_file map = { .pid_plus_1 = opts->pid_plus_1 };
	int rc = HWTD_OK;

	if (opts->map_file != NULL)
		rc = hwtdi_map_file_read(&map, trace, opts->map_file,
		    opts->pid_plus_1, err);
	if (rc == HWTD_OK)
		rc = place(trace, opts, how, &map, err);
	if (rc == HWTD_OK)
		rc = hwtdi_map_file_add(&map, trace, err);
	hwtdi_map_file_fini(&map, trace->library);
	return (rc);
}
