/*
 * Fuzz harness of names of code: 4 bytes of choices, then an ELF file with
 * symbols and debug information, which is asked about all over.
 */
#include <hwtdecode/hwtdecode.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define MAX_INPUT ((size_t)1 << 17)
#define CHOICES 4
/* Offsets that are asked for. */
#define PLACES 512

static bool
same_text(const char *a, const char *b)
{
	return (a == b || (a != NULL && b != NULL && strcmp(a, b) == 0));
}

static void
check_same(const struct hwtd_symbol *a, const struct hwtd_symbol *b)
{
	FUZZ_CHECK(a->flags == b->flags && a->offset == b->offset &&
		same_text(a->name, b->name) && same_text(a->text, b->text) &&
		a->n_frames == b->n_frames,
	    "%#" PRIx64 ": %s, and %s", a->file_off,
	    a->name != NULL ? a->name : "", b->name != NULL ? b->name : "");
	for (uint32_t i = 0; i < a->n_frames; i++)
		FUZZ_CHECK(a->frames[i].line == b->frames[i].line &&
			a->frames[i].column == b->frames[i].column &&
			same_text(a->frames[i].function,
			    b->frames[i].function) &&
			same_text(a->frames[i].file, b->frames[i].file),
		    "%#" PRIx64 ": frame %" PRIu32 " differs", a->file_off, i);
}

static void
check_one(const struct hwtd_symbol *s)
{
	FUZZ_CHECK((s->name == NULL) == (s->text == NULL),
	    "%#" PRIx64 ": a name without a text", s->file_off);
	FUZZ_CHECK(s->n_frames == 0 || s->frames != NULL,
	    "%#" PRIx64 ": frames are nowhere", s->file_off);
	FUZZ_CHECK(s->fault == NULL || strchr(s->fault, '\n') == NULL,
	    "%#" PRIx64 ": a fault of two lines", s->file_off);
	for (uint32_t i = 0; i < s->n_frames; i++)
		FUZZ_CHECK(((s->frames[i].flags & HWTD_FRAMEF_INLINED) != 0) ==
			(i + 1 < s->n_frames),
		    "%#" PRIx64 ": the last frame is inlined", s->file_off);
}

/* All places at once; `max_cache` 1: nothing is kept. */
static void
ask(struct hwtd_trace *trace, uint64_t max_cache, uint32_t flags,
    const struct hwtd_where *where, size_t n, struct hwtd_symbol *out,
    struct hwtd_symbolizer **symbolizer_out)
{
	static const struct hwtd_search nowhere = { .size = sizeof(nowhere),
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.flags = flags,
		.search = &nowhere,
		.max_cache = max_cache };
	struct hwtd_error err = { .size = sizeof(err) };
	int rc;

	rc = hwtd_symbolizer_open(trace, &opts, symbolizer_out, &err);
	FUZZ_CHECK(rc == HWTD_OK, "open: %d %s", rc, err.message);
	rc = hwtd_symbolize(*symbolizer_out, where, sizeof(*where), n, out,
	    sizeof(*out), &err);
	FUZZ_CHECK(rc == HWTD_OK || rc == HWTD_E_NOMEM || rc == HWTD_E_LIMIT,
	    "%d %s", rc, err.message);
	if (rc != HWTD_OK)
		memset(out, 0, n * sizeof(*out));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hwtd_context_options limits = { .size = sizeof(limits),
		.max_memory = (uint64_t)512 << 20 };
	struct hwtd_image_desc image = { .size = sizeof(image),
		.path = "image" };
	static struct hwtd_symbol a[PLACES], b[PLACES];
	struct hwtd_symbolizer *first, *second;
	struct hwtd_where where[PLACES];
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t now = 0, step;
	size_t n = 0;

	if (size < CHOICES + 64 || size > MAX_INPUT)
		return (0);
	if (hwtd_context_create(&limits, &ctx, NULL) != HWTD_OK)
		return (0);
	FUZZ_CHECK(hwtd_trace_create(ctx, NULL, &trace, NULL) == HWTD_OK,
	    "create");
	image.bytes = data + CHOICES;
	image.n_bytes = size - CHOICES;
	FUZZ_CHECK(hwtd_trace_add_image(trace, &image, NULL, NULL) == HWTD_OK,
	    "add");
	FUZZ_CHECK(hwtd_trace_seal(trace, NULL) == HWTD_OK, "seal");
	memset(where, 0, sizeof(where));
	step = image.n_bytes / PLACES + 1;
	for (uint64_t off = data[0] % step; off < image.n_bytes && n < PLACES;
	     off += step, n++) {
		where[n].flags = HWTD_WHERE_IMAGE;
		where[n].address = off;
	}
	ask(trace, 0, data[1] & 7, where, n, a, &first);
	ask(trace, 1, data[1] & 7, where, n, b, &second);
	for (size_t i = 0; i < n; i++) {
		check_one(&a[i]);
		check_same(&a[i], &b[i]);
	}
	hwtd_symbolizer_close(first);
	hwtd_symbolizer_close(second);
	hwtd_trace_close(trace);
	hwtd_context_memory(ctx, &now, NULL);
	FUZZ_CHECK(now == 0, "%" PRIu64 " bytes were not given back", now);
	hwtd_context_destroy(ctx);
	return (0);
}
