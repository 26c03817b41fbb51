/*
 * Fuzz harness of files of maps beside raw bytes: a byte of choices (technology,
 * number of the thread, process), and the text.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_rows.h"

#define MAX_INPUT ((size_t)1 << 16)
#define MAX_ROWS 2000

/* PSB and PSBEND, a FUP and a TIP.PGE. */
static const uint8_t raw[] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x23, 0x51, 0x00,
	0x10, 0x40, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00 };

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
	switch (r->type) {
	case HWTD_REC_EXEC:
	case HWTD_REC_MMAP:
	case HWTD_REC_KERNEL:
	case HWTD_REC_MODULE_LOAD:
		FUZZ_CHECK(r->name != NULL && r->name[0] != '\0' &&
			(r->flags & HWTD_RECF_ADDR) != 0,
		    "record without file or address");
		break;
	case HWTD_REC_MUNMAP:
		break;
	case HWTD_REC_THREAD_CREATE:
	case HWTD_REC_THREAD_NAME:
		FUZZ_CHECK(r->tid != HWTD_NO_ID, "thread without an id");
		break;
	default:
		fuzz_fail(__FILE__, __LINE__, "record of type %u", r->type);
	}
	FUZZ_CHECK((r->flags & HWTD_RECF_LEN) == 0 ||
		(r->len != 0 && r->len - 1 <= UINT64_MAX - r->addr),
	    "range of %#" PRIx64 " from %#" PRIx64 " on", r->len, r->addr);
	FUZZ_CHECK(r->type != HWTD_REC_KERNEL || r->pid == HWTD_NO_ID,
	    "kernel of a process");
}

static void
check_trace(struct hwtd_trace *trace, uint64_t lines)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = FUZZ_KINDS };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_record r = { .size = sizeof(r) };
	struct fuzz_rows rows;
	struct hwtd_events *ev;
	int rc;

	(void)hwtd_trace_info(trace, &info);
	/* A thread with a name is two. */
	FUZZ_CHECK(info.n_records <= 2 * lines,
	    "%" PRIu64 " records of %" PRIu64 " lines", info.n_records, lines);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &r) == HWTD_OK; i++)
		check_record(&r);
	rc = hwtd_events_open(trace, &opts, &ev, &err);
	FUZZ_CHECK(rc == HWTD_OK, "events: %d %s", rc, err.message);
	fuzz_rows_read(ev, 64, MAX_ROWS, &rows);
	hwtd_events_close(ev);
	fuzz_rows_free(&rows);
}

/* What is refused is refused for a line of the text. */
static void
check_refusal(const struct hwtd_error *err, uint64_t lines)
{
	const char *line = strstr(err->message, ": line ");

	FUZZ_CHECK(line != NULL, "'%s' names no line", err->message);
	FUZZ_CHECK(strtoull(line + 7, NULL, 10) - 1 < lines,
	    "'%s' is no line of %" PRIu64, err->message, lines);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t techs[] = { HWTD_TECH_INTEL_PT,
		HWTD_TECH_CORESIGHT, HWTD_TECH_SPE, HWTD_TECH_UNKNOWN };
	static const struct hwtd_coresight_config config = {
		.size = sizeof(config),
		.protocol = HWTD_CS_ETMV4,
		.ids = HWTD_CS_IDS_OTHERS,
	};
	const struct hwtd_search search = { .size = sizeof(search),
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	struct hwtd_open_options how = { .size = sizeof(how),
		.search = &search };
	struct hwtd_context_options opts = { .size = sizeof(opts),
		.max_memory = (uint64_t)1 << 28 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct fuzz_in in = { data, size };
	struct fuzz_file bytes, text;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t choices, lines, held = 0;
	int rc;

	if (size > MAX_INPUT)
		return (0);
	choices = fuzz_take(&in, 1);
	how.tech = techs[choices & 3];
	how.thread_plus_1 = choices >> 2 & 7;
	how.pid_plus_1 = choices >> 5 & 1;
	if (how.tech == HWTD_TECH_CORESIGHT) {
		how.coresight = &config;
		how.n_coresight = 1;
		how.framing = HWTD_FRAMING_MEMORY;
	}
	lines = count_lines(in.at, in.left);
	FUZZ_CHECK(hwtd_context_create(&opts, &ctx, &err) == HWTD_OK, "%s",
	    err.message);
	fuzz_file_open(&bytes, raw, sizeof(raw));
	fuzz_file_open(&text, in.at, in.left);
	how.map_file = text.path;
	rc = hwtd_trace_open(ctx, bytes.path, &how, &trace, &err);
	fuzz_file_close(&text);
	fuzz_file_close(&bytes);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_CORRUPT || rc == HWTD_E_LIMIT,
	    "open: %d %s", rc, err.message);
	if (rc == HWTD_E_CORRUPT)
		check_refusal(&err, lines);
	if (rc == HWTD_OK) {
		check_trace(trace, lines);
		hwtd_trace_close(trace);
	}
	hwtd_context_memory(ctx, &held, NULL);
	FUZZ_CHECK(held == 0, "%" PRIu64 " bytes are still held", held);
	hwtd_context_destroy(ctx);
	return (0);
}
