/*
 * Fuzz harness of .hwt files: opens bytes as a file and reads all there is.
 *
 * The first byte of an input says what to try, the rest is the file.  Most
 * inputs have their checksums put right first, so that what lies behind the
 * checksums is reached.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "fuzz.h"
#include "fuzz_columns.h"
#include "fuzz_rows.h"
#include "hwt_layout.h"

/* What to try, by bits of the first byte. */
#define TRY_AS_IT_IS 0x01
#define TRY_SAVE 0x02
#define TRY_EVENTS 0x04

#define MAX_FILE ((size_t)1 << 16)
#define MAX_READ ((uint64_t)1 << 17)
#define MAX_ROWS 20000
#define MAX_UNPACKED ((size_t)1 << 20)
#define MAX_CHUNKS 256

/* A chunk of raw bytes that the file holds, found without the library. */
struct chunk {
	uint32_t id;
	uint64_t position;
	size_t n;
	uint8_t *unpacked;
	const uint8_t *bytes;
};

struct file {
	uint8_t *bytes;
	size_t n;
	struct chunk chunks[MAX_CHUNKS];
	size_t n_chunks;
	/* Some chunk was not taken into `chunks`. */
	bool more;
	/* Some bytes could not be read: only then is damage of them known. */
	bool damaged;
};

/* Give header and chunks the offset and checksums that they should have. */
static void
seal(uint8_t *bytes, size_t n)
{
	size_t at = HWT_FILE_HEADER;

	if (n < HWT_FILE_HEADER)
		return;
	hwt_put(bytes + 24, XXH3_64bits(bytes, 24), 8);
	while ((at = hwt_next(bytes, n, at)) < n) {
		uint8_t *h = bytes + at;
		size_t size = hwt_size(bytes, n, at);

		hwt_put(h + 40, at, 8);
		hwt_put(h + 48, XXH3_64bits(h + HWT_HEADER, size - HWT_HEADER),
		    8);
		hwt_put(h + 56, XXH3_64bits(h, 56), 8);
		at += size;
	}
}

static void
take_chunk(struct file *f, const uint8_t *h)
{
	struct chunk *c = &f->chunks[f->n_chunks];
	size_t raw = (size_t)hwt_le(h + 12, 4);
	size_t stored = (size_t)hwt_le(h + 16, 4);
	size_t got;

	memset(c, 0, sizeof(*c));
	c->id = (uint32_t)hwt_le(h + 8, 4);
	c->position = hwt_le(h + 32, 8);
	c->n = raw;
	c->bytes = h + HWT_HEADER;
	if ((hwt_le(h + 6, 2) & 1) != 0) {
		if (raw > MAX_UNPACKED) {
			f->more = true;
			return;
		}
		c->unpacked = malloc(raw + 1);
		FUZZ_CHECK(c->unpacked != NULL, "no memory");
		got = ZSTD_decompress(c->unpacked, raw, h + HWT_HEADER,
		    stored);
		if (ZSTD_isError(got) || got != raw) {
			free(c->unpacked);
			return;
		}
		c->bytes = c->unpacked;
	} else if (raw != stored)
		return;
	f->n_chunks++;
}

/* All DATA chunks with right checksums, wherever they lie. */
static void
find_chunks(struct file *f)
{
	size_t at = 0;

	while ((at = hwt_next(f->bytes, f->n, at)) < f->n) {
		const uint8_t *h = f->bytes + at;
		uint64_t stored = hwt_le(h + 16, 4);

		at++;
		if (hwt_le(h + 4, 2) != 3 || hwt_le(h + 40, 8) != at - 1 ||
		    hwt_le(h + 56, 8) != XXH3_64bits(h, 56) ||
		    stored > f->n - (at - 1) - HWT_HEADER ||
		    hwt_le(h + 48, 8) !=
			XXH3_64bits(h + HWT_HEADER, (size_t)stored))
			continue;
		if (f->n_chunks == MAX_CHUNKS)
			f->more = true;
		else
			take_chunk(f, h);
	}
}

/* Some chunk says that this is the byte there. */
static bool
told(const struct file *f, uint32_t stream, uint64_t off, uint8_t byte)
{
	for (size_t i = 0; i < f->n_chunks; i++) {
		const struct chunk *c = &f->chunks[i];

		if (c->id == stream && off >= c->position &&
		    off - c->position < c->n &&
		    c->bytes[off - c->position] == byte)
			return (true);
	}
	return (f->more);
}

static void
check_extent(const struct hwtd_trace *trace, uint32_t stream,
    const struct hwtd_extent *e, struct file *f)
{
	static uint8_t buf[4096];
	struct hwtd_error err = { .size = sizeof(err) };
	uint64_t left = e->end - e->start < MAX_READ ? e->end - e->start
						     : MAX_READ;
	/* Every call may unpack a whole chunk. */
	size_t step = 512 + (size_t)(f->n % (sizeof(buf) - 512));
	uint64_t off = e->start;

	while (left > 0) {
		size_t got = 0, want = left < step ? (size_t)left : step;
		int rc = hwtd_trace_read_bytes(trace, stream, off, buf, want,
		    &got, &err);

		FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_CORRUPT,
		    "read_bytes: %d %s", rc, err.message);
		FUZZ_CHECK(got <= want, "read_bytes: %zu of %zu", got, want);
		if (rc != HWTD_OK)
			f->damaged = true;
		else
			FUZZ_CHECK(got > 0, "no byte at %" PRIu64, off);
		for (size_t i = 0; rc == HWTD_OK && i < got; i++)
			FUZZ_CHECK(told(f, stream, off + i, buf[i]),
			    "stream %u byte %" PRIu64 " is %#x in no chunk",
			    stream, off + i, buf[i]);
		if (rc != HWTD_OK)
			got = want;
		off += got;
		left -= got;
	}
}

static void
check_stream(const struct hwtd_trace *trace, uint32_t stream, struct file *f)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_extent e = { .size = sizeof(e) };
	uint64_t end = 0;
	size_t i;

	FUZZ_CHECK(hwtd_trace_stream(trace, stream, &desc) == HWTD_OK,
	    "no stream %u", stream);
	FUZZ_CHECK(desc.name != NULL && strlen(desc.name) < MAX_FILE,
	    "stream without a name");
	for (i = 0; hwtd_trace_extent(trace, stream, i, &e) == HWTD_OK; i++) {
		FUZZ_CHECK(e.start >= end && e.end >= e.start &&
			e.end <= desc.n_bytes,
		    "extent [%" PRIu64 ", %" PRIu64 ") after %" PRIu64
		    " of %" PRIu64,
		    e.start, e.end, end, desc.n_bytes);
		FUZZ_CHECK(e.why <= HWTD_EXTENT_AFTER_DAMAGE, "why %u", e.why);
		end = e.end;
		if (i < 64)
			check_extent(trace, stream, &e, f);
	}
	FUZZ_CHECK(end == desc.n_bytes,
	    "extents end at %" PRIu64 " of %" PRIu64, end, desc.n_bytes);
}

static void
check_tables(const struct hwtd_trace *trace,
    const struct hwtd_trace_info *info, const struct file *f)
{
	struct hwtd_record record = { .size = sizeof(record) };
	struct hwtd_section section = { .size = sizeof(section) };
	struct hwtd_damage damage = { .size = sizeof(damage) };
	uint8_t buf[16];
	size_t n, i;

	for (uint64_t r = 0; r < info->n_records; r++)
		FUZZ_CHECK(hwtd_trace_record(trace, r, &record) == HWTD_OK &&
			(record.name == NULL || strlen(record.name) < 65536),
		    "record %" PRIu64, r);
	FUZZ_CHECK(hwtd_trace_record(trace, info->n_records, &record) ==
		HWTD_E_NOT_FOUND,
	    "one record too many");
	for (uint32_t s = 0; s < info->n_sections; s++) {
		FUZZ_CHECK(hwtd_trace_section(trace, s, &section) == HWTD_OK &&
			section.path != NULL,
		    "section %u", s);
		(void)hwtd_trace_read_code(trace, s, section.address, buf,
		    sizeof(buf), &n);
	}
	for (i = 0; hwtd_trace_damage(trace, i, &damage) == HWTD_OK; i++) {
		/* How long an earlier file was, nobody knows. */
		const uint64_t size = (damage.flags &
					  HWTD_DAMAGEF_EARLIER_FILE) != 0
		    ? INT64_MAX
		    : f->n;

		FUZZ_CHECK(damage.file_off <= size &&
			damage.file_bytes <= size - damage.file_off &&
			memchr(damage.text, 0, sizeof(damage.text)) != NULL,
		    "damage [%" PRIu64 ", +%" PRIu64 ") of %zu",
		    damage.file_off, damage.file_bytes, f->n);
	}
	FUZZ_CHECK(i == info->n_damages, "%zu damages, not %u", i,
	    info->n_damages);
}

/* All columns, with names of what is run there, have the same rows. */
static void
check_event_columns(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, size_t n)
{
	const struct hwtd_export_options o = { .size = sizeof(o),
		.columns = ((uint64_t)HWTD_COL_SAMPLES << 1) - 1 +
		    HWTD_COL_NAMES,
		.rows = 1000 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct ArrowArrayStream stream;
	struct hwtd_events *ev;
	uint64_t rows;
	int rc = hwtd_events_open(trace, opts, &ev, &err);

	FUZZ_CHECK(rc == HWTD_OK, "events: %d %s", rc, err.message);
	rc = hwtd_events_export(ev, &o, &stream, &err);
	FUZZ_CHECK(rc == HWTD_OK, "columns: %d %s", rc, err.message);
	rows = fuzz_columns_read(&stream);
	FUZZ_CHECK(rows == n, "%" PRIu64 " rows in columns, not %zu", rows, n);
}

static void
check_events(struct hwtd_trace *trace, uint32_t stream)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options opts = { .size = sizeof(opts) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct fuzz_rows rows, only;
	struct hwtd_events *ev;
	int rc;

	FUZZ_CHECK(hwtd_trace_stream(trace, stream, &desc) == HWTD_OK,
	    "no stream %u", stream);
	opts.streams = &stream;
	opts.n_streams = 1;
	opts.kinds = FUZZ_KINDS;
	rc = hwtd_events_open(trace, &opts, &ev, &err);
	FUZZ_CHECK(rc == HWTD_OK, "events: %d %s", rc, err.message);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rows);
	hwtd_events_close(ev);
	if (!rows.cut) {
		fuzz_rows_of(&rows, stream, &only);
		FUZZ_CHECK(only.n == rows.n, "rows of other streams");
		only.stats = rows.stats;
		fuzz_rows_check(&only, desc.n_bytes, false);
		fuzz_rows_free(&only);
		check_event_columns(trace, &opts, rows.n);
	}
	fuzz_rows_free(&rows);
}

/* As rows, alone: each once. */
static void
check_records(struct hwtd_trace *trace, const struct hwtd_trace_info *info)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = 1u << HWTD_EV_RECORD };
	struct fuzz_rows rows;
	struct hwtd_events *ev;
	bool *seen;
	int rc;

	/* Much can be missing in few bytes; nobody waits for that here. */
	if (info->n_bytes > MAX_READ || info->n_records > MAX_ROWS)
		return;
	rc = hwtd_events_open(trace, &opts, &ev, &err);
	FUZZ_CHECK(rc == HWTD_OK, "events: %d %s", rc, err.message);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rows);
	hwtd_events_close(ev);
	FUZZ_CHECK(rows.n == info->n_records &&
		rows.stats.kinds[HWTD_EV_RECORD] == rows.n,
	    "%zu rows of %" PRIu64 " records", rows.n, info->n_records);
	seen = calloc(rows.n + 1, sizeof(*seen));
	FUZZ_CHECK(seen != NULL, "no memory");
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_event *e = &rows.at[i].e;

		FUZZ_CHECK(e->kind == HWTD_EV_RECORD && e->value < rows.n &&
			!seen[e->value],
		    "row %zu is record %" PRIu64, i, e->value);
		seen[e->value] = true;
	}
	free(seen);
	fuzz_rows_free(&rows);
}

static void
same_bytes(const struct hwtd_trace *a, const struct hwtd_trace *b,
    uint32_t stream, uint64_t n)
{
	static uint8_t x[4096], y[4096];
	struct hwtd_error err = { .size = sizeof(err) };
	size_t got_x, got_y;

	for (uint64_t off = 0; off < n && off < MAX_READ; off += sizeof(x)) {
		if (hwtd_trace_read_bytes(a, stream, off, x, sizeof(x), &got_x,
			&err) != HWTD_OK)
			return;
		FUZZ_CHECK(hwtd_trace_read_bytes(b, stream, off, y, sizeof(y),
			       &got_y, &err) == HWTD_OK &&
			got_x == got_y && memcmp(x, y, got_x) == 0,
		    "saved bytes of stream %u differ: %s", stream,
		    err.message);
	}
}

/* Damages that are not of an earlier file. */
static size_t
count_own_damages(const struct hwtd_trace *trace)
{
	struct hwtd_damage d = { .size = sizeof(d) };
	size_t n = 0;

	for (size_t i = 0; hwtd_trace_damage(trace, i, &d) == HWTD_OK; i++)
		n += (d.flags & HWTD_DAMAGEF_EARLIER_FILE) == 0;
	return (n);
}

static void
same_damages(const struct hwtd_trace *a, const struct hwtd_trace *b)
{
	struct hwtd_damage x = { .size = sizeof(x) }, y = x;

	for (size_t i = 0; hwtd_trace_damage(a, i, &x) == HWTD_OK; i++)
		FUZZ_CHECK(hwtd_trace_damage(b, i, &y) == HWTD_OK &&
			memcmp(&x, &y, sizeof(x)) == 0,
		    "saved damage %zu differs", i);
}

static void
same_trace(const struct hwtd_trace *a, const struct hwtd_trace *b)
{
	struct hwtd_trace_info x = { .size = sizeof(x) }, y = x;
	struct hwtd_record r = { .size = sizeof(r) }, s = r;

	(void)hwtd_trace_info(a, &x);
	(void)hwtd_trace_info(b, &y);
	FUZZ_CHECK(x.n_streams == y.n_streams && x.n_images == y.n_images &&
		x.n_records == y.n_records && x.n_bytes == y.n_bytes &&
		x.n_damages == y.n_damages,
	    "saved: %u %u streams, %u %u images, %" PRIu64 " %" PRIu64
	    " records, %" PRIu64 " %" PRIu64 " bytes, %u damages",
	    x.n_streams, y.n_streams, x.n_images, y.n_images, x.n_records,
	    y.n_records, x.n_bytes, y.n_bytes, y.n_damages);
	same_damages(a, b);
	for (uint64_t i = 0; i < x.n_records; i++) {
		(void)hwtd_trace_record(a, i, &r);
		(void)hwtd_trace_record(b, i, &s);
		FUZZ_CHECK((r.name == NULL) == (s.name == NULL) &&
			(r.name == NULL || strcmp(r.name, s.name) == 0),
		    "saved record %" PRIu64 ": name", i);
		r.name = s.name = NULL;
		FUZZ_CHECK(memcmp(&r, &s, sizeof(r)) == 0,
		    "saved record %" PRIu64 " differs", i);
	}
	for (uint32_t i = 0; i < x.n_streams; i++) {
		struct hwtd_stream_desc d = { .size = sizeof(d) }, e = d;

		(void)hwtd_trace_stream(a, i, &d);
		(void)hwtd_trace_stream(b, i, &e);
		FUZZ_CHECK(d.tech == e.tech && d.cpu == e.cpu &&
			d.pid == e.pid && d.tid == e.tid &&
			d.n_bytes == e.n_bytes &&
			memcmp(&d.clock, &e.clock, sizeof(d.clock)) == 0 &&
			(d.pt == NULL) == (e.pt == NULL) &&
			strcmp(d.name, e.name) == 0,
		    "saved stream %u differs", i);
		same_bytes(a, b, i, d.n_bytes);
	}
}

/* Save, open again, compare. */
static void
check_save(struct hwtd_context *ctx, struct hwtd_trace *trace,
    const struct file *f)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_save_options opts = { .size = sizeof(opts) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *again;
	char dir[] = P_tmpdir "/fuzz_hwt.XXXXXX", path[64];
	int rc;

	(void)hwtd_trace_info(trace, &info);
	/* Much can be missing in few bytes; nobody waits for that here. */
	if (info.n_bytes > MAX_READ)
		return;
	FUZZ_CHECK(mkdtemp(dir) != NULL, "no temporary folder");
	(void)snprintf(path, sizeof(path), "%s/a.hwt", dir);
	opts.level = (f->n & 1) != 0 ? -1 : 1;
	opts.chunk_bytes = (f->n & 6) == 6 ? 16 : 0;
	opts.flags = (f->n & 8) != 0 ? HWTD_SAVE_IMAGES : 0;
	rc = hwtd_trace_save(trace, path, &opts, &err);
	if (rc == HWTD_OK) {
		rc = hwtd_trace_open(ctx, path, NULL, &again, &err);
		FUZZ_CHECK(rc == HWTD_OK, "saved, but not read: %d %s", rc,
		    err.message);
		(void)hwtd_trace_info(trace, &info);
		if (count_own_damages(trace) == 0 && !f->damaged)
			same_trace(trace, again);
		hwtd_trace_close(again);
		(void)unlink(path);
	} else {
		FUZZ_CHECK(info.n_damages != 0 || f->damaged, "save: %d %s",
		    rc, err.message);
		FUZZ_CHECK(access(path, F_OK) != 0, "a file that failed");
	}
	FUZZ_CHECK(rmdir(dir) == 0, "files left beside the saved one");
}

static void
check_columns(struct hwtd_trace *trace, uint64_t n)
{
	struct ArrowArrayStream stream;
	uint64_t rows;

	FUZZ_CHECK(hwtd_records_export(trace, NULL, &stream, NULL) == HWTD_OK,
	    "no columns of records");
	rows = fuzz_columns_read(&stream);
	FUZZ_CHECK(rows == n, "%" PRIu64 " records in columns, not %" PRIu64,
	    rows, n);
}

static void
run(struct hwtd_context *ctx, uint8_t tries, struct file *f)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;
	struct fuzz_file on_disk;
	int rc;

	fuzz_file_open(&on_disk, f->bytes, f->n);
	rc = hwtd_trace_open(ctx, on_disk.path, NULL, &trace, &err);
	fuzz_file_close(&on_disk);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED ||
		rc == HWTD_E_CORRUPT || rc == HWTD_E_UNSUPPORTED ||
		rc == HWTD_E_LIMIT,
	    "open: %d %s", rc, err.message);
	if (rc != HWTD_OK)
		return;
	(void)hwtd_trace_info(trace, &info);
	if (strcmp(info.format, "hwt") == 0) {
		find_chunks(f);
		check_tables(trace, &info, f);
		for (uint32_t i = 0; i < info.n_streams && i < 16; i++)
			check_stream(trace, i, f);
		if ((tries & TRY_SAVE) != 0)
			check_save(ctx, trace, f);
	}
	if ((tries & TRY_EVENTS) != 0) {
		for (uint32_t i = 0; i < info.n_streams && i < 4; i++)
			check_events(trace, i);
		check_records(trace, &info);
		check_columns(trace, info.n_records);
	}
	hwtd_trace_close(trace);
	for (size_t i = 0; i < f->n_chunks; i++)
		free(f->chunks[i].unpacked);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	static struct file f;
	struct hwtd_context *ctx;
	uint64_t held = 0;
	uint8_t tries;

	if (size == 0 || size > MAX_FILE)
		return (0);
	tries = data[0];
	memset(&f, 0, sizeof(f));
	f.n = size - 1;
	f.bytes = malloc(size);
	FUZZ_CHECK(f.bytes != NULL, "no memory");
	memcpy(f.bytes, data + 1, f.n);
	if ((tries & TRY_AS_IT_IS) == 0)
		seal(f.bytes, f.n);
	/* No input of this size needs more. */
	opts.max_memory = (uint64_t)1 << 28;
	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	run(ctx, tries, &f);
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	free(f.bytes);
	return (0);
}
