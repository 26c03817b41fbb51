/*
 * Code that a program made at run time, as its runtime wrote it down for perf.
 *
 * Source: Linux, tools/perf/Documentation/jitdump-specification.txt, version 2.
 * All numbers have the byte order of the machine.
 */
#include "trace/import/jitdump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/index.h"
#include "trace/clock.h"
#include "trace/import/side_file.h"

#define VERSION 1u

#define HEAD_BYTES 40u
#define HEAD_FLAG_COUNTS 0x1u

/* Of each record, and of those that are read with their fields. */
#define RECORD_BYTES 16u
#define LOAD_BYTES 56u
#define MOVE_BYTES 64u

enum record_id {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_DEBUG_INFO = 2,
	CODE_CLOSE = 3,
	CODE_UNWINDING_INFO = 4
};

/* Code that was loaded, by its number. */
struct load {
	uint64_t number;
	uint64_t size;
	uint64_t image_off;
	/* In the file; 0: it has no name that can be told. */
	size_t name_off;
};

struct reader {
	struct hwtd_trace *trace;
	const char *name;
	const uint8_t *bytes;
	size_t n;
	bool big;
	bool counts;
	const struct hwtdi_jitdump_how *how;
	struct hwtdi_jitdump_sum *sum;
	struct load *loads;
	size_t n_loads, cap_loads;
	struct hwtdi_index index;
	/* Bytes of code so far. */
	uint64_t used;
	struct hwtd_error *err;
};

static uint64_t
number(const struct reader *r, size_t at, size_t n)
{
	return (hwtdi_uint(r->big, r->bytes + at, n));
}

/* A place that cannot be used: told as long as there are few of them. */
static int note(struct reader *r, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int
note(struct reader *r, size_t at, const char *fmt, ...)
{
	const char *slash = strrchr(r->name, '/');
	char text[128];
	va_list ap;

	if (r->sum->n_bad++ >= HWTDI_JITDUMP_MAX_NOTES ||
	    r->trace->n_damages >= HWTDI_MAX_DAMAGES / 2)
		return (HWTD_OK);
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hwtdi_log(r->trace->library, HWTD_LOG_WARNING, "jitdump",
	    "%.100s: byte %#zx: %s", r->name, at, text);
	return (hwtdi_trace_note_damage(r->trace, 0, 0, HWTD_NO_ID, 0, 0,
	    r->err, "%.30s: byte %#zx: %.50s",
	    slash != NULL ? slash + 1 : r->name, at, text));
}

bool
hwtdi_jitdump_is(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	return (n >= 4 &&
	    (memcmp(p, "DTiJ", 4) == 0 || memcmp(p, "JiTD", 4) == 0));
}

static int
read_head(struct reader *r, size_t *at_out)
{
	uint64_t version, size;

	if (!hwtdi_jitdump_is(r->bytes, r->n))
		return (hwtdi_fail(r->err, HWTD_E_UNRECOGNIZED,
		    "%.120s: no jitdump", r->name));
	r->big = r->bytes[0] == 'J';
	if (r->n < HEAD_BYTES)
		return (hwtdi_fail_at(r->err, HWTD_E_CORRUPT, r->n,
		    "%.120s: head of %zu bytes, not %u", r->name, r->n,
		    HEAD_BYTES));
	version = number(r, 4, 4);
	size = number(r, 8, 4);
	if (version != VERSION)
		return (hwtdi_fail_at(r->err, HWTD_E_UNSUPPORTED, 4,
		    "%.120s: jitdump of version %" PRIu64 ", not %u", r->name,
		    version, VERSION));
	if (size < HEAD_BYTES || size > r->n)
		return (hwtdi_fail_at(r->err, HWTD_E_CORRUPT, 8,
		    "%.120s: head of %" PRIu64 " bytes; %u to %zu can be",
		    r->name, size, HEAD_BYTES, r->n));
	r->sum->machine = (uint32_t)number(r, 12, 4);
	r->sum->pid = (uint32_t)number(r, 20, 4);
	r->counts = (number(r, 32, 8) & HEAD_FLAG_COUNTS) != 0;
	*at_out = (size_t)size;
	return (HWTD_OK);
}

/* Records. */

static struct load *
find_load(struct reader *r, uint64_t no, uint64_t hash)
{
	size_t tries = 0;
	uint32_t i;

	while (hwtdi_index_next(&r->index, hash, &tries, &i))
		if (r->loads[i].number == no)
			return (&r->loads[i]);
	return (NULL);
}

static uint64_t
hash_of(const struct reader *r, uint64_t no)
{
	return (hwtdi_hash(r->trace->library, &no, sizeof(no)));
}

/* A number can come again; then it is that of the newer code. */
static int
keep_load(struct reader *r, const struct load *load)
{
	const uint64_t hash = hash_of(r, load->number);
	struct load *have = find_load(r, load->number, hash);
	int rc;

	if (have != NULL) {
		*have = *load;
		return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&r->index, r->trace->library, r->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(r->trace->library, &r->loads,
		    &r->cap_loads, r->n_loads + 1, sizeof(*load), r->err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&r->index, hash, (uint32_t)r->n_loads);
	r->loads[r->n_loads++] = *load;
	return (HWTD_OK);
}

/* The code lies at an address since the record at `at`. */
static int
add_record(struct reader *r, size_t at, const struct load *load, uint64_t addr)
{
	const struct hwtd_clock *clock = r->how->counts;
	const uint64_t stamp = number(r, at + 8, 8);
	struct hwtd_record rec = {
		.size = sizeof(rec),
		.type = HWTD_REC_CODE,
		.flags = HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_FILE_OFF |
		    HWTD_RECF_JIT,
		.cpu = HWTD_NO_ID,
		.pid = r->how->pid,
		.tid = (uint32_t)number(r, at + 20, 4),
		.stream = HWTD_NO_ID,
		.image = r->sum->image,
		.addr = addr,
		.len = load->size,
		.file_off = load->image_off,
	};

	if (rec.pid == HWTD_NO_ID)
		rec.pid = (uint32_t)number(r, at + 16, 4);
	if (load->name_off != 0)
		rec.name = (const char *)r->bytes + load->name_off;
	if (r->counts && clock != NULL && clock->counts_per != 0) {
		rec.flags |= HWTD_RECF_TIME;
		rec.time_ns = hwtdi_clock_ns(clock, stamp);
	} else if (!r->counts && r->how->same_clock) {
		rec.flags |= HWTD_RECF_TIME;
		rec.time_ns = stamp;
	}
	return (hwtd_trace_add_record(r->trace, &rec, r->err));
}

static int
read_load(struct reader *r, size_t at, size_t size)
{
	const uint8_t *name = r->bytes + at + LOAD_BYTES, *end;
	struct hwtdi_image *image = &r->trace->images[r->sum->image];
	struct load load = { .image_off = r->used };
	uint64_t addr;
	size_t left;
	int rc;

	if (size < LOAD_BYTES)
		return (note(r, at, "code of %zu bytes has no fields", size));
	left = size - LOAD_BYTES;
	addr = number(r, at + 32, 8);
	load.size = number(r, at + 40, 8);
	load.number = number(r, at + 48, 8);
	end = left != 0 ? memchr(name, 0, left) : NULL;
	if (end == NULL)
		return (note(r, at, "name of code does not end"));
	left -= (size_t)(end - name) + 1;
	if (load.size > left)
		return (note(r, at, "%" PRIu64 " bytes of code, there are %zu",
		    load.size, left));
	if (load.size != 0 && load.size - 1 > UINT64_MAX - addr)
		return (note(r, at, "code goes past the last address"));
	if (end != name && end - name <= (ptrdiff_t)HWTDI_TEXT_MAX)
		load.name_off = at + LOAD_BYTES;
	rc = keep_load(r, &load);
	/* Functions without code are allowed; there is nothing to show. */
	if (rc != HWTD_OK || load.size == 0)
		return (rc);
	memcpy(image->bytes + r->used, end + 1, (size_t)load.size);
	r->used += load.size;
	r->sum->n_loads++;
	return (add_record(r, at, &load, addr));
}

static int
read_move(struct reader *r, size_t at, size_t size)
{
	const struct load *load;
	uint64_t addr, no;

	if (size < MOVE_BYTES)
		return (note(r, at, "move of %zu bytes has no fields", size));
	addr = number(r, at + 40, 8);
	no = number(r, at + 56, 8);
	load = find_load(r, no, hash_of(r, no));
	if (load == NULL)
		return (note(r, at,
		    "move of code %" PRIu64 ", which was not loaded", no));
	if (load->size == 0)
		return (HWTD_OK);
	if (load->size - 1 > UINT64_MAX - addr)
		return (note(r, at, "code goes past the last address"));
	r->sum->n_moves++;
	return (add_record(r, at, load, addr));
}

static int
read_all(struct reader *r, size_t at)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && at < r->n) {
		uint64_t id, size;

		if (r->n - at < RECORD_BYTES)
			return (note(r, at, "%zu bytes are no record",
			    r->n - at));
		id = number(r, at, 4);
		size = number(r, at + 4, 4);
		/* Where the next one is, nobody knows. */
		if (size < RECORD_BYTES)
			return (note(r, at, "record of %" PRIu64 " bytes",
			    size));
		if (size > r->n - at)
			return (note(r, at,
			    "record of %" PRIu64 " bytes, there are %zu", size,
			    r->n - at));
		if (id == CODE_LOAD)
			rc = read_load(r, at, (size_t)size);
		else if (id == CODE_MOVE)
			rc = read_move(r, at, (size_t)size);
		else if (id == CODE_CLOSE)
			break;
		if (rc == HWTD_OK)
			rc = hwtdi_poll(r->trace->library, r->err);
		at += (size_t)size;
	}
	return (rc);
}

/* An image with room for all code that there can be. */
static int
add_image(struct reader *r)
{
	struct hwtd_context *ctx = r->trace->library;
	struct hwtdi_image image = { .state = HWTD_IMAGE_FOUND };
	int rc;

	if (r->n > ctx->max_image)
		return (hwtdi_fail(r->err, HWTD_E_LIMIT,
		    "%.120s: %zu bytes; max_image is %" PRIu64, r->name, r->n,
		    ctx->max_image));
	image.bytes = hwtdi_alloc(ctx, r->n);
	image.n_bytes = r->n;
	if (image.bytes == NULL)
		return (hwtdi_trace_no_room(ctx, r->n, r->err));
	rc = hwtdi_trace_put_image(r->trace, &image, r->name, &r->sum->image,
	    r->err);
	if (rc != HWTD_OK)
		hwtdi_free(ctx, image.bytes, r->n);
	return (rc);
}

static int
fit_image(struct reader *r)
{
	struct hwtdi_image *image = &r->trace->images[r->sum->image];
	uint8_t *bytes = hwtdi_resize(r->trace->library, image->bytes,
	    (size_t)image->n_bytes, (size_t)r->used);

	if (bytes == NULL)
		return (hwtdi_fail_nomem(r->err, (size_t)r->used));
	image->bytes = bytes;
	image->n_bytes = r->used;
	return (HWTD_OK);
}

int
hwtdi_jitdump_add(struct hwtd_trace *trace, const char *name,
    const void *bytes, size_t n, const struct hwtdi_jitdump_how *how,
    struct hwtdi_jitdump_sum *sum, struct hwtd_error *err)
{
	struct reader r = { .trace = trace,
		.name = name,
		.bytes = bytes,
		.n = n,
		.how = how,
		.sum = sum,
		.err = err };
	size_t at = 0;
	int rc;

	memset(sum, 0, sizeof(*sum));
	sum->image = HWTD_NO_ID;
	rc = hwtdi_trace_check_text("name of a jitdump", name, err);
	if (rc == HWTD_OK)
		rc = read_head(&r, &at);
	if (rc == HWTD_OK)
		rc = add_image(&r);
	if (rc == HWTD_OK) {
		rc = read_all(&r, at);
		/* What was not filled must not be seen, whatever happened. */
		if (rc != HWTD_OK)
			(void)fit_image(&r);
		else
			rc = fit_image(&r);
	}
	if (sum->n_bad > HWTDI_JITDUMP_MAX_NOTES)
		hwtdi_log(trace->library, HWTD_LOG_WARNING, "jitdump",
		    "%.100s: %" PRIu64 " more damaged records", name,
		    sum->n_bad - HWTDI_JITDUMP_MAX_NOTES);
	hwtdi_array_free(trace->library, r.loads, r.cap_loads,
	    sizeof(*r.loads));
	hwtdi_index_fini(&r.index, trace->library);
	return (rc);
}

int
hwtdi_jitdump_read(struct hwtd_trace *trace, const char *path,
    const struct hwtdi_jitdump_how *how, struct hwtdi_jitdump_sum *sum,
    struct hwtd_error *err)
{
	struct hwtdi_side_file file;
	int rc;

	rc = hwtdi_side_code_read(&file, trace, path, HWTDI_JITDUMP_MAX, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_jitdump_add(trace, path, file.bytes, file.n, how, sum, err);
	hwtdi_side_file_fini(&file, trace->library);
	return (rc);
}
