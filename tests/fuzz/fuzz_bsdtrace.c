/*
 * Fuzz harness of recordings of bsdtrace: the text, up to the first NUL, that of a
 * further thread, up to the next one, and behind that the bytes of both.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_rows.h"

#define MAX_INPUT ((size_t)1 << 16)
#define MAX_ROWS 20000

static char dir[] = P_tmpdir "/fuzz_bsdtrace.XXXXXX";
static const char *const names[] = { "r.meta", "r-tid1.meta", "r.pt",
	"r-tid1.pt" };

#define FILES (sizeof(names) / sizeof(names[0]))

static const char *
path_of(size_t i)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
	return (path);
}

static void
clean_up(void)
{
	for (size_t i = 0; i < FILES; i++)
		(void)unlink(path_of(i));
	(void)rmdir(dir);
}

static void
put(size_t i, const uint8_t *bytes, size_t n)
{
	FILE *file = fopen(path_of(i), "wb");

	FUZZ_CHECK(file != NULL && fwrite(bytes, 1, n, file) == n &&
		fclose(file) == 0,
	    "cannot write %s", path_of(i));
}

static uint64_t
count_lines(const uint8_t *text, size_t n)
{
	uint64_t lines = n > 0;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return (lines);
}

static void
check_record(const struct hwtd_record *r)
{
	FUZZ_CHECK((r->flags & (HWTD_RECF_TIME | HWTD_RECF_STREAM_OFF)) == 0,
	    "record with a place that no text tells");
	switch (r->type) {
	case HWTD_REC_EXEC:
	case HWTD_REC_MMAP:
	case HWTD_REC_KERNEL:
	case HWTD_REC_MODULE_LOAD:
		FUZZ_CHECK(r->name != NULL && r->name[0] != '\0',
		    "record of no file");
		FUZZ_CHECK((r->flags & HWTD_RECF_ADDR) != 0,
		    "record without an address");
		break;
	case HWTD_REC_MUNMAP:
		FUZZ_CHECK((r->flags & HWTD_RECF_ADDR) == 0 || r->addr != 0,
		    "nothing is unmapped at 0");
		break;
	case HWTD_REC_THREAD_CREATE:
	case HWTD_REC_THREAD_NAME:
		break;
	default:
		fuzz_fail(__FILE__, __LINE__, "record of type %u", r->type);
	}
}

static void
check_events(struct hwtd_trace *trace)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = FUZZ_KINDS };
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_rows rows;
	struct hwtd_events *ev;
	int rc = hwtd_events_open(trace, &opts, &ev, &err);

	FUZZ_CHECK(rc == HWTD_OK, "events: %d %s", rc, err.message);
	fuzz_rows_read(ev, 1024, MAX_ROWS, &rows);
	hwtd_events_close(ev);
	fuzz_rows_free(&rows);
}

/* `lines` of both texts, of which the first has `n_text` bytes. */
static void
check_trace(struct hwtd_trace *trace, uint64_t lines, size_t n_text,
    size_t n_bytes)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_stream_desc s = { .size = sizeof(s) };
	struct hwtd_damage d = { .size = sizeof(d) };
	struct hwtd_record r = { .size = sizeof(r) };

	(void)hwtd_trace_info(trace, &info);
	if (strcmp(info.format, "bsdtrace") != 0)
		return;
	FUZZ_CHECK(info.n_streams == 2, "%u streams", info.n_streams);
	for (uint32_t i = 0; i < info.n_streams; i++) {
		FUZZ_CHECK(hwtd_trace_stream(trace, i, &s) == HWTD_OK &&
			s.n_bytes == n_bytes,
		    "stream %u has %" PRIu64 " of %zu bytes", i, s.n_bytes,
		    n_bytes);
		FUZZ_CHECK(s.pt == NULL || s.pt->mtc_freq <= 15, "mtc_freq %u",
		    s.pt->mtc_freq);
	}
	/* A line is a record, damage, or about the recording. */
	FUZZ_CHECK(info.n_records + info.n_damages <= lines,
	    "%" PRIu64 " records and %" PRIu32 " damages of %" PRIu64 " lines",
	    info.n_records, info.n_damages, lines);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &r) == HWTD_OK; i++)
		check_record(&r);
	for (uint64_t i = 0; hwtd_trace_damage(trace, i, &d) == HWTD_OK; i++)
		FUZZ_CHECK(strstr(d.text, ".meta: line ") != NULL &&
			d.file_off + d.file_bytes <= n_text,
		    "damage '%s' at %" PRIu64, d.text, d.file_off);
	check_events(trace);
}

static size_t
text_bytes(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;

	return (end != NULL ? (size_t)(end - data) : size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hwtd_search search = { .size = sizeof(search),
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	const struct hwtd_open_options how = { .size = sizeof(how),
		.search = &search };
	struct hwtd_context_options opts = { .size = sizeof(opts),
		.max_memory = (uint64_t)1 << 28 };
	struct hwtd_error err = { .size = sizeof(err) };
	const size_t first = text_bytes(data, size);
	const size_t second_at = first < size ? first + 1 : size;
	const size_t second = text_bytes(data + second_at, size - second_at);
	const size_t at = second_at + second < size ? second_at + second + 1
						    : size;
	static bool ready;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t held = 0;
	int rc;

	if (size > MAX_INPUT)
		return (0);
	if (!ready) {
		FUZZ_CHECK(mkdtemp(dir) != NULL, "no temporary folder");
		(void)atexit(clean_up);
		ready = true;
	}
	put(0, data, first);
	put(1, data + second_at, second);
	put(2, data + at, size - at);
	put(3, data + at, size - at);
	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	rc = hwtd_trace_open(ctx, path_of(2), &how, &trace, &err);
	/* Beside a text that is none, bytes may be of any format. */
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_UNRECOGNIZED ||
		rc == HWTD_E_LIMIT || rc == HWTD_E_CORRUPT ||
		rc == HWTD_E_UNSUPPORTED || rc == HWTD_E_IO,
	    "open: %d %s", rc, err.message);
	if (rc == HWTD_OK) {
		check_trace(trace,
		    count_lines(data, first) +
			count_lines(data + second_at, second),
		    first, size - at);
		hwtd_trace_close(trace);
	}
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
