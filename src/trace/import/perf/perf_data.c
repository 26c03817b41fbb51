/*
 * perf.data: what Linux perf records, in a file or through a pipe.
 *
 * Source: Linux, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "trace/import/perf/perf_data.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "trace/import/perf/perf_file.h"
#include "trace/import/side_file.h"

/* "PERFILE2" as a number. */
#define MAGIC "PERFILE2"
#define MAGIC_BIG "2ELIFREP"
/* Of the first version, up to Linux 3.4; it has no traces. */
#define MAGIC_FIRST "PERFFILE"
#define MAGIC_BYTES 8u
#define PIPE_HEADER_BYTES 16u
#define FILE_HEADER_BYTES 104u
/* What comes behind perf_event_attr in the list of events. */
#define SECTION_BYTES 16u
#define FEATURE_WORDS 4u

/* A section of the header at the most. */
#define MAX_SECTION ((uint64_t)64 << 20)

struct section {
	uint64_t off;
	uint64_t n;
};

int
hwtdi_perf_data_path(struct hwtd_context *ctx, const char *path, char **out,
    struct hwtd_error *err)
{
	static const char name[] = "/data";
	const size_t n = strlen(path);
	struct stat st;
	char *text;

	*out = NULL;
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return (HWTD_OK);
	text = hwtdi_alloc(ctx, n + sizeof(name));
	if (text == NULL)
		return (hwtdi_fail_nomem(err, n + sizeof(name)));
	memcpy(text, path, n);
	memcpy(text + n, name, sizeof(name));
	if (stat(text, &st) != 0 || !S_ISREG(st.st_mode))
		hwtdi_strfree(ctx, text);
	else
		*out = text;
	return (HWTD_OK);
}

int
hwtdi_perf_data_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err)
{
	uint8_t magic[MAGIC_BYTES];
	int rc;

	*is_out = false;
	if (trace->file.size < PIPE_HEADER_BYTES)
		return (HWTD_OK);
	rc = hwtdi_trace_file_read(&trace->file, 0, magic, sizeof(magic), err);
	*is_out = rc == HWTD_OK &&
	    (memcmp(magic, MAGIC, MAGIC_BYTES) == 0 ||
		memcmp(magic, MAGIC_BIG, MAGIC_BYTES) == 0 ||
		memcmp(magic, MAGIC_FIRST, MAGIC_BYTES) == 0);
	return (rc);
}

int
hwtdi_perf_bad_record(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record, const char *what)
{
	const char *type = hwtdi_perf_record_name(record->type);
	const char *colon = f->name != NULL ? ": " : "";
	const char *name = f->name != NULL ? f->name : "";

	if (f->strict)
		return (hwtdi_fail_at(f->err, HWTD_E_CORRUPT, record->off,
		    "%s at %" PRIu64 ": %s", type, record->off, what));
	return (hwtdi_trace_note_damage(f->trace, record->off,
	    PERF_RECORD_HEADER_BYTES + record->body.rest.left, HWTD_NO_ID, 0,
	    0, f->err, "%.20s%s%s at %#" PRIx64 ": %s", name, colon, type,
	    record->off, what));
}

const char *
hwtdi_perf_record_name(uint32_t type)
{
	static const char *const names[PERF_RECORD_BEYOND] = {
		[PERF_RECORD_MMAP] = "MMAP",
		[PERF_RECORD_LOST] = "LOST",
		[PERF_RECORD_COMM] = "COMM",
		[PERF_RECORD_EXIT] = "EXIT",
		[PERF_RECORD_FORK] = "FORK",
		[PERF_RECORD_SAMPLE] = "SAMPLE",
		[PERF_RECORD_MMAP2] = "MMAP2",
		[PERF_RECORD_AUX] = "AUX",
		[PERF_RECORD_ITRACE_START] = "ITRACE_START",
		[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
		[PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES",
		[PERF_RECORD_KSYMBOL] = "KSYMBOL",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
		[PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
		[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
		[PERF_RECORD_HEADER_ATTR] = "HEADER_ATTR",
		[PERF_RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
		[PERF_RECORD_AUXTRACE] = "AUXTRACE",
		[PERF_RECORD_TIME_CONV] = "TIME_CONV",
		[PERF_RECORD_HEADER_FEATURE] = "HEADER_FEATURE",
	};

	return (type < PERF_RECORD_BEYOND && names[type] != NULL ? names[type]
								 : "record");
}

/* The header of a file. */

static struct hwtdi_perf_bytes
bytes_of(const struct hwtdi_perf_file *f, const uint8_t *at, size_t n)
{
	return ((struct hwtdi_perf_bytes){ { at, n, false }, f->big });
}

static struct section
read_section(struct hwtdi_perf_bytes *b)
{
	struct section s;

	s.off = hwtdi_perf_u64(b);
	s.n = hwtdi_perf_u64(b);
	return (s);
}

/* What the file has of a section, in memory; damage if that is not all. */
static int
load(struct hwtdi_perf_file *f, struct section *s, const char *what,
    uint8_t **out)
{
	const uint64_t size = f->trace->file.size;
	struct hwtd_context *ctx = f->trace->library;
	const struct section told = *s;
	int rc = HWTD_OK;

	*out = NULL;
	if (s->off > size)
		s->n = 0;
	else if (s->n > size - s->off)
		s->n = size - s->off;
	if (s->n > MAX_SECTION)
		s->n = MAX_SECTION;
	if (s->n < told.n)
		rc = hwtdi_trace_note_damage(f->trace, told.off, s->n,
		    HWTD_NO_ID, 0, 0, f->err,
		    "%s: %" PRIu64 " of %" PRIu64 " bytes are there", what,
		    s->n, told.n);
	if (rc != HWTD_OK || s->n == 0)
		return (rc);
	*out = hwtdi_alloc(ctx, (size_t)s->n);
	if (*out == NULL)
		return (hwtdi_trace_no_room(ctx, s->n, f->err));
	rc = hwtdi_trace_file_read(&f->trace->file, s->off, *out, (size_t)s->n,
	    f->err);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, *out, (size_t)s->n);
		*out = NULL;
	}
	return (rc);
}

/* *n_left_inout: no more bytes than the file has are ids of events. */
static int
read_ids(struct hwtdi_perf_file *f, struct section ids, uint32_t event,
    uint64_t *n_left_inout)
{
	struct hwtdi_perf_bytes b;
	uint8_t *bytes;
	int rc;

	if (ids.n > *n_left_inout)
		ids.n = *n_left_inout;
	*n_left_inout -= ids.n;
	rc = load(f, &ids, "ids of an event", &bytes);

	b = bytes_of(f, bytes, bytes != NULL ? (size_t)ids.n : 0);
	while (rc == HWTD_OK && b.rest.left >= 8)
		rc = hwtdi_perf_events_add_id(&f->events, f->trace->library,
		    hwtdi_perf_u64(&b), event, f->err);
	hwtdi_free(f->trace->library, bytes, (size_t)ids.n);
	return (rc);
}

static int
read_events(struct hwtdi_perf_file *f, struct section attrs, uint64_t size)
{
	struct hwtdi_perf_bytes b;
	struct section s = attrs;
	uint64_t n_ids = f->trace->file.size;
	const uint64_t file_size = f->trace->file.size;
	uint8_t *bytes;
	int rc;

	if (size < SECTION_BYTES + 64 || size > UINT16_MAX)
		return (hwtdi_fail_at(f->err, HWTD_E_CORRUPT, 16,
		    "perf.data header: attr_size %" PRIu64 " at 16 is none",
		    size));
	/* Without events nothing of the records can be read. */
	if (attrs.off > file_size || attrs.n > file_size - attrs.off)
		return (hwtdi_fail_at(f->err, HWTD_E_CORRUPT, 24,
		    "perf.data header: attrs at 24 are %" PRIu64
		    " bytes at %" PRIu64 ", the file ends at %" PRIu64,
		    attrs.n, attrs.off, file_size));
	rc = load(f, &s, "list of events", &bytes);
	if (rc != HWTD_OK)
		return (rc);
	b = bytes_of(f, bytes, bytes != NULL ? (size_t)s.n : 0);
	while (rc == HWTD_OK && b.rest.left >= size) {
		const size_t n = (size_t)size - SECTION_BYTES;
		const uint8_t *attr = hwtdi_bytes_take(&b.rest, n);
		const struct section ids = read_section(&b);
		uint32_t event = 0;

		rc = hwtdi_perf_events_add(&f->events, f->trace->library, attr,
		    n, f->big, &event, f->err);
		if (rc == HWTD_OK)
			rc = read_ids(f, ids, event, &n_ids);
	}
	hwtdi_free(f->trace->library, bytes, (size_t)s.n);
	return (rc);
}

/*
 * Which features there are.  The bits are in words of the machine that wrote: 64 bits
 * where the host name, which all files have, is found so.
 */
static void
read_bits(const struct hwtdi_perf_file *f, const uint8_t *at,
    bool bits[PERF_HEADER_FEATURES])
{
	const uint64_t first = hwtdi_uint(f->big, at, 8);
	const size_t word = !f->big || (first >> PERF_HEADER_HOSTNAME & 1) != 0
	    ? 8
	    : 4;

	for (size_t i = 0; i < PERF_HEADER_FEATURES; i++)
		bits[i] = (hwtdi_uint(f->big, at + i / (8 * word) * word,
			       word) >>
				  i % (8 * word) &
			      1) != 0;
}

static int
read_features(struct hwtdi_perf_file *f, const bool *bits, uint64_t off)
{
	struct section table = { off, 0 };
	struct hwtdi_perf_bytes b;
	size_t n_bytes;
	uint8_t *bytes;
	int rc;

	for (size_t i = 0; i < PERF_HEADER_FEATURES; i++)
		table.n += bits[i] ? SECTION_BYTES : 0;
	rc = load(f, &table, "list of header features", &bytes);
	n_bytes = bytes != NULL ? (size_t)table.n : 0;
	b = bytes_of(f, bytes, n_bytes);
	for (unsigned i = 0; i < PERF_HEADER_FEATURES && rc == HWTD_OK; i++) {
		struct section s;
		uint8_t *feature;

		if (!bits[i])
			continue;
		s = read_section(&b);
		if (b.rest.bad)
			break;
		/* Formats of tracepoints can be long, and are not needed. */
		if (i == PERF_HEADER_TRACING_DATA)
			continue;
		rc = load(f, &s, "header feature", &feature);
		if (rc == HWTD_OK && feature != NULL)
			rc = hwtdi_perf_feature(f, i, s.off,
			    bytes_of(f, feature, (size_t)s.n));
		hwtdi_free(f->trace->library, feature, (size_t)s.n);
	}
	hwtdi_free(f->trace->library, bytes, n_bytes);
	return (rc);
}

/* [start, end) of the records. */
static int
read_header(struct hwtdi_perf_file *f, struct section *data)
{
	const uint64_t size = f->trace->file.size;
	uint8_t bytes[FILE_HEADER_BYTES];
	bool bits[PERF_HEADER_FEATURES];
	struct hwtdi_perf_bytes b;
	struct section attrs;
	uint64_t header, attr_size;
	int rc;

	rc = hwtdi_trace_file_read(&f->trace->file, 0, bytes,
	    PIPE_HEADER_BYTES, f->err);
	if (rc != HWTD_OK)
		return (rc);
	if (memcmp(bytes, MAGIC_FIRST, MAGIC_BYTES) == 0)
		return (hwtdi_fail(f->err, HWTD_E_UNSUPPORTED,
		    "perf.data of version 1, which has no traces"));
	f->big = memcmp(bytes, MAGIC, MAGIC_BYTES) != 0;
	b = bytes_of(f, bytes + MAGIC_BYTES, FILE_HEADER_BYTES - MAGIC_BYTES);
	header = hwtdi_perf_u64(&b);
	if (header == PIPE_HEADER_BYTES) {
		data->off = PIPE_HEADER_BYTES;
		data->n = size - PIPE_HEADER_BYTES;
		return (HWTD_OK);
	}
	if (header < FILE_HEADER_BYTES)
		return (hwtdi_fail_at(f->err, HWTD_E_CORRUPT, 8,
		    "perf.data header: size %" PRIu64
		    " at 8; %u of a pipe, %u of a file",
		    header, PIPE_HEADER_BYTES, FILE_HEADER_BYTES));
	if (size < sizeof(bytes))
		return (hwtdi_fail_at(f->err, HWTD_E_CORRUPT, size,
		    "perf.data header: %" PRIu64 " bytes of %zu are there",
		    size, sizeof(bytes)));
	rc = hwtdi_trace_file_read(&f->trace->file, 0, bytes, sizeof(bytes),
	    f->err);
	if (rc != HWTD_OK)
		return (rc);
	attr_size = hwtdi_perf_u64(&b);
	attrs = read_section(&b);
	*data = read_section(&b);
	(void)read_section(&b);
	read_bits(f, b.rest.at, bits);
	rc = read_events(f, attrs, attr_size);
	if (rc != HWTD_OK)
		return (rc);
	if (data->off > size)
		return (hwtdi_fail_at(f->err, HWTD_E_CORRUPT, 40,
		    "perf.data header: records begin at %" PRIu64
		    ", the file ends at %" PRIu64,
		    data->off, size));
	if (data->n == 0 || data->n > size - data->off) {
		rc = hwtdi_trace_note_damage(f->trace, data->off,
		    size - data->off, HWTD_NO_ID, 0, 0, f->err,
		    data->n == 0
			? "perf did not finish the file; read to its end"
			: "the file is cut off; read to its end");
		data->n = size - data->off;
		return (rc);
	}
	return (read_features(f, bits, data->off + data->n));
}

/* Records. */

/* PERF_RECORD_HEADER_ATTR: an event, and then its ids. */
static int
read_attr(struct hwtdi_perf_file *f, const struct hwtdi_perf_record *record)
{
	struct hwtdi_perf_bytes b = record->body;
	const uint8_t *attr = b.rest.at;
	uint32_t event = 0;
	size_t n;
	int rc;

	(void)hwtdi_perf_u32(&b);
	n = hwtdi_perf_u32(&b);
	/* The first version does not tell its size. */
	if (n == 0)
		n = 64;
	if (b.rest.bad || n < 64 || n > record->body.rest.left)
		return (hwtdi_perf_bad_record(f, record, "attr.size"));
	rc = hwtdi_perf_events_add(&f->events, f->trace->library, attr, n,
	    f->big, &event, f->err);
	b = record->body;
	(void)hwtdi_bytes_take(&b.rest, n);
	while (rc == HWTD_OK && b.rest.left >= 8)
		rc = hwtdi_perf_events_add_id(&f->events, f->trace->library,
		    hwtdi_perf_u64(&b), event, f->err);
	return (rc);
}

static int
read_feature(struct hwtdi_perf_file *f, const struct hwtdi_perf_record *record)
{
	struct hwtdi_perf_bytes b = record->body;
	const uint64_t feature = hwtdi_perf_u64(&b);

	if (b.rest.bad)
		return (hwtdi_perf_bad_record(f, record, "size"));
	/* Where trace lies comes too late here: the records are being read. */
	return (feature < PERF_HEADER_FEATURES &&
		    feature != PERF_HEADER_AUXTRACE
		? hwtdi_perf_feature(f, (unsigned)feature, record->off, b)
		: HWTD_OK);
}

/* PERF_RECORD_ID_INDEX: where the event of each id is counted. */
static int
read_id_index(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record)
{
	struct hwtdi_perf_bytes b = record->body;
	const uint64_t n = hwtdi_perf_u64(&b);

	/* Newer ones have a second list behind the first. */
	if (b.rest.bad || n > b.rest.left / 32)
		return (hwtdi_perf_bad_record(f, record, "nr"));
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t id = hwtdi_perf_u64(&b);
		uint64_t cpu, tid;

		(void)hwtdi_perf_u64(&b);
		cpu = hwtdi_perf_u64(&b);
		tid = hwtdi_perf_u64(&b);
		hwtdi_perf_events_place_id(&f->events, f->trace->library, id,
		    cpu < HWTD_NO_ID ? (uint32_t)cpu : HWTD_NO_ID,
		    tid < HWTD_NO_ID ? (uint32_t)tid : HWTD_NO_ID);
	}
	return (HWTD_OK);
}

static int
take_record(struct hwtdi_perf_file *f, const struct hwtdi_perf_record *record)
{
	if (f->switches_only && record->type != PERF_RECORD_SWITCH &&
	    record->type != PERF_RECORD_SWITCH_CPU_WIDE &&
	    record->type != PERF_RECORD_ITRACE_START)
		return (HWTD_OK);
	/* What perf makes of ring buffers is not in one. */
	if (f->opts == NULL && record->type >= PERF_RECORD_USER)
		return (hwtdi_perf_bad_record(f, record,
		    "no kernel writes such a record"));
	switch (record->type) {
	case PERF_RECORD_HEADER_ATTR:
		return (read_attr(f, record));
	case PERF_RECORD_HEADER_FEATURE:
		return (read_feature(f, record));
	case PERF_RECORD_HEADER_BUILD_ID:
		return (hwtdi_perf_build_id(f, record->misc, record->body));
	case PERF_RECORD_ID_INDEX:
		return (read_id_index(f, record));
	case PERF_RECORD_AUXTRACE_INFO:
		return (hwtdi_perf_auxtrace_info(f, record));
	case PERF_RECORD_AUXTRACE:
		return (hwtdi_perf_auxtrace(f, record));
	case PERF_RECORD_TIME_CONV:
		return (hwtdi_perf_time_conv(f, record));
	case PERF_RECORD_SAMPLE:
		return (hwtdi_perf_sample(f, record));
	default:
		return (record->type < PERF_RECORD_USER
			? hwtdi_perf_sideband(f, record)
			: HWTD_OK);
	}
}

static int
read_records(struct hwtdi_perf_file *f, const struct hwtdi_perf_range *range)
{
	struct hwtdi_perf_reader *reader;
	struct hwtdi_perf_record record;
	uint64_t n = 0;
	int rc;

	rc = hwtdi_perf_reader_create(f->trace, range, &reader, f->err);
	if (rc != HWTD_OK)
		return (rc);
	while (rc == HWTD_OK &&
	    (rc = hwtdi_perf_reader_next(reader, &record, f->err)) ==
		HWTD_OK) {
		rc = take_record(f, &record);
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(f->trace->library, n++, f->err);
	}
	hwtdi_perf_reader_destroy(reader);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static void
fini(struct hwtdi_perf_file *f)
{
	struct hwtd_context *ctx = f->trace->library;
	struct hwtdi_perf_texts *t = &f->texts;
	struct hwtdi_perf_aux *aux = &f->aux;

	hwtdi_perf_events_fini(&f->events, ctx);
	hwtdi_strfree(ctx, t->hostname);
	hwtdi_strfree(ctx, t->release);
	hwtdi_strfree(ctx, t->version);
	hwtdi_strfree(ctx, t->arch);
	hwtdi_strfree(ctx, t->cpu_model);
	hwtdi_strfree(ctx, t->cpuid);
	hwtdi_strfree(ctx, t->cpus);
	hwtdi_strfree(ctx, t->sockets);
	hwtdi_strfree(ctx, t->command);
	hwtdi_strfree(ctx, t->clock);
	for (size_t i = 0; i < f->n_build_ids; i++)
		hwtdi_strfree(ctx, f->build_ids[i].name);
	hwtdi_array_free(ctx, f->build_ids, f->cap_build_ids,
	    sizeof(*f->build_ids));
	hwtdi_array_free(ctx, f->stops, f->cap_stops, sizeof(*f->stops));
	hwtdi_array_free(ctx, aux->cpus, aux->cap_cpus, sizeof(*aux->cpus));
	for (size_t i = 0; i < aux->n_buffers; i++)
		hwtdi_free(ctx, aux->buffers[i].bytes,
		    (size_t)aux->buffers[i].n_data);
	hwtdi_array_free(ctx, aux->buffers, aux->cap_buffers,
	    sizeof(*aux->buffers));
	hwtdi_array_free(ctx, aux->pieces, aux->cap_pieces,
	    sizeof(*aux->pieces));
	hwtdi_array_free(ctx, f->bpf.bytes, f->bpf.cap, 1);
	hwtdi_array_free(ctx, f->bpf.functions, f->bpf.cap_functions,
	    sizeof(*f->bpf.functions));
	hwtdi_array_free(ctx, f->pokes.bytes, f->pokes.cap, 1);
	hwtdi_array_free(ctx, f->pokes.records, f->pokes.cap_records,
	    sizeof(*f->pokes.records));
	hwtdi_index_fini(&f->pokes.addresses, ctx);
}

int
hwtdi_perf_data_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	struct hwtdi_perf_file f = { .trace = trace,
		.opts = opts,
		.err = err,
		.cpu = HWTD_NO_ID };
	struct section data = { 0, 0 };
	int rc;

	trace->format = "perf.data";
	trace->sideband_only = opts->sideband_only != 0;
	rc = read_header(&f, &data);
	if (rc == HWTD_OK)
		rc = read_records(&f,
		    &(const struct hwtdi_perf_range){ .start = data.off,
			.end = data.off + data.n,
			.big = f.big,
			.stops = f.stops,
			.n_stops = f.n_stops });
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_texts(&f);
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_pokes(&f);
	if (rc == HWTD_OK && f.has_exits)
		rc = hwtdi_perf_give_exits(&f);
	hwtdi_perf_give_build_ids(&f);
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_bpf(&f);
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_kernel(&f);
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_jitdumps(&f);
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_perf_maps(&f);
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_streams(&f);
	fini(&f);
	return (rc);
}

int
hwtdi_perf_records_add(struct hwtd_trace *trace,
    const struct hwtdi_perf_records *records, struct hwtd_error *err)
{
	struct hwtdi_perf_file f = { .trace = trace,
		.err = err,
		.big = records->big,
		.cpu = records->cpu,
		.strict = records->strict,
		.switches_only = records->switches_only,
		.name = records->name };
	int rc;

	rc = hwtdi_perf_events_add_plain(&f.events, trace->library,
	    records->sample_type, err);
	if (rc == HWTD_OK)
		rc = read_records(&f,
		    &(const struct hwtdi_perf_range){ .bytes = records->bytes,
			.end = records->n,
			.big = records->big,
			.strict = records->strict,
			.name = records->name });
	if (rc == HWTD_OK)
		rc = hwtdi_perf_give_pokes(&f);
	if (rc == HWTD_OK && f.has_exits)
		rc = hwtdi_perf_give_exits(&f);
	fini(&f);
	return (rc);
}

static int
import_records(struct hwtd_trace *trace, const struct hwtd_perf_records *from,
    struct hwtd_error *err)
{
	struct hwtd_perf_records r;
	struct hwtdi_perf_records records = { .name = NULL };
	struct hwtdi_side_file file;
	const char *slash;
	int rc;

	rc = hwtdi_options_copy(&r, sizeof(r), from, err);
	if (rc == HWTD_OK && r.path == NULL)
		rc = hwtdi_fail(err, HWTD_E_INVALID, "records of no file");
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_side_file_read_as(&file, trace, r.path, err);
	if (rc != HWTD_OK)
		return (rc);
	slash = strrchr(r.path, '/');
	records.name = slash != NULL ? slash + 1 : r.path;
	records.bytes = file.bytes;
	records.n = file.n;
	records.sample_type = r.sample_type;
	records.big = r.big_endian != 0;
	records.cpu = r.cpu_plus_1 - 1;
	if (file.n > 0)
		rc = hwtdi_perf_records_add(trace, &records, err);
	hwtdi_side_file_fini(&file, trace->library);
	return (rc);
}

int
hwtdi_perf_records_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	const uint8_t *at = (const uint8_t *)opts->perf_records;
	size_t stride = 0;
	int rc = HWTD_OK;

	/* Of an older or newer size, all alike. */
	if (opts->n_perf_records != 0)
		memcpy(&stride, at, sizeof(stride));
	for (size_t i = 0; rc == HWTD_OK && i < opts->n_perf_records; i++)
		rc = import_records(trace, (const void *)(at + i * stride),
		    err);
	return (rc);
}
